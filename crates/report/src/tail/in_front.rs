//! What is in front of a request that arrives: the requests that the device took before it and is
//! not done with, and what they make the flash do.
//!
//! A request is in front until it and all the work that was booked for it are over, the work behind
//! its completion included. Requests are kept in order of that moment, and forgotten when nobody
//! can arrive before it any more. When there are too many, neighbours are put together in groups
//! whose size doubles, so that memory is constant: below [`GROUPS`] requests in front all is exact,
//! from there on a group counts as a whole until the last of it is over, so that at most one in two
//! thousand is told too much.

use std::collections::VecDeque;

use ftlab_engine::meter::Cause;
use ftlab_engine::units::Nanos;

/// Groups that are kept.
const GROUPS: usize = 4096;

/// Requests, and time that the flash works for them, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Share {
    /// How many.
    pub requests: u64,
    /// In the order of [`Cause::ALL`].
    pub work: [Nanos; Cause::COUNT],
}

impl Share {
    fn add(&mut self, other: &Share) {
        self.requests += other.requests;
        self.work.iter_mut().zip(other.work).for_each(|(sum, work)| *sum += work);
    }

    fn remove(&mut self, other: &Share) {
        self.requests -= other.requests;
        self.work.iter_mut().zip(other.work).for_each(|(sum, work)| *sum -= work);
    }
}

/// Requests that are over at about the same time.
#[derive(Clone, Copy, Debug)]
struct Group {
    /// When the last of them is.
    until: Nanos,
    share: Share,
}

/// The requests that may be in front of one that is still to be served.
#[derive(Debug)]
pub(crate) struct InFront {
    /// By `until`.
    groups: VecDeque<Group>,
    /// Of all groups.
    total: Share,
    /// Requests of a group, at most.
    group_size: u64,
}

impl InFront {
    /// Nobody is in front.
    pub fn new() -> Self {
        let groups = VecDeque::with_capacity(GROUPS);
        InFront { groups, total: Share::default(), group_size: 1 }
    }

    /// Nobody who arrived before `oldest` will be asked about any more.
    pub fn forget(&mut self, oldest: Nanos) {
        while let Some(first) = self.groups.front().filter(|first| first.until <= oldest) {
            self.total.remove(&first.share);
            self.groups.pop_front();
        }
        if self.groups.is_empty() {
            self.group_size = 1;
        }
    }

    /// What was in front of somebody who arrived at `arrival`.
    pub fn of(&self, arrival: Nanos) -> Share {
        let mut share = self.total;
        let over = self.groups.iter().take_while(|group| group.until <= arrival);
        over.for_each(|group| share.remove(&group.share));
        share
    }

    /// A request was served, all of whose work is over at `until`.
    pub fn add(&mut self, until: Nanos, work: [Nanos; Cause::COUNT]) {
        let share = Share { requests: 1, work };
        self.total.add(&share);
        if let Some(last) = self.groups.back_mut().filter(|_| self.group_size > 1)
            && last.share.requests < self.group_size
        {
            last.share.add(&share);
            last.until = last.until.max(until);
            return;
        }
        if self.groups.len() == GROUPS {
            self.put_together();
        }
        let place = self.groups.partition_point(|group| group.until <= until);
        self.groups.insert(place, Group { until, share });
    }

    fn put_together(&mut self) {
        for pair in 0..GROUPS / 2 {
            let Group { until, mut share } = self.groups[2 * pair + 1];
            share.add(&self.groups[2 * pair].share);
            self.groups[pair] = Group { until, share };
        }
        self.groups.truncate(GROUPS / 2);
        self.group_size *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(host: Nanos, merge: Nanos) -> [Nanos; Cause::COUNT] {
        let mut work = [0; Cause::COUNT];
        (work[Cause::Host as usize], work[Cause::Merge as usize]) = (host, merge);
        work
    }

    /// Whoever is over when somebody arrives is not in front, in whatever order they were served.
    #[test]
    fn only_what_is_not_over_is_in_front() {
        let mut front = InFront::new();
        front.add(100, work(3, 0));
        front.add(400, work(3, 90));
        front.add(200, work(5, 0));
        assert_eq!(front.of(0), Share { requests: 3, work: work(11, 90) });
        assert_eq!(front.of(100), Share { requests: 2, work: work(8, 90) });
        assert_eq!(front.of(399), Share { requests: 1, work: work(3, 90) });
        assert_eq!(front.of(400), Share::default());
        front.forget(150);
        assert_eq!(front.of(150), Share { requests: 2, work: work(8, 90) }, "forgotten in vain");
        front.forget(400);
        assert_eq!(front.groups.len(), 0);
        assert_eq!(front.total, Share::default());
    }

    /// A naive list beside it: 40,000 requests that all wait at once, and then end one by one.
    #[test]
    fn a_long_queue_is_told_with_one_part_in_two_thousand() {
        const REQUESTS: u64 = 40_000;
        let mut front = InFront::new();
        let room = front.groups.capacity();
        for number in 1..=REQUESTS {
            front.add(10 * number, work(number % 7, number % 5));
        }
        assert_eq!(front.of(0).requests, REQUESTS);
        assert_eq!(front.groups.capacity(), room, "nothing is allocated");
        for done in [1, 1_000, 20_001, 33_333] {
            front.forget(10 * done);
            let left = REQUESTS - done;
            let told = front.of(10 * done);
            assert!((left..=left + REQUESTS / 2000).contains(&told.requests), "{told:?}");
            let merge: u64 = (done + 1..=REQUESTS).map(|number| number % 5).sum();
            let found = told.work[Cause::Merge as usize];
            assert!((merge..=merge + 2 * REQUESTS / 2000).contains(&found), "{found} of {merge}");
        }
        front.forget(10 * REQUESTS);
        front.add(500_000, work(1, 0));
        assert_eq!((front.group_size, front.of(0).requests), (1, 1), "exact again");
    }
}
