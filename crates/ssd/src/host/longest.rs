//! How long the queue in front of the device became: requests that had arrived and were not
//! admitted yet, wherever the host kept them.
//!
//! How many wait does not depend on who goes first: the first admission is set against the first
//! arrival, the second against the second, and so on. The number grows at arrivals alone, and is
//! known there: all before whose admissions come later. Admissions are kept in groups whose size
//! doubles when there are too many, so that memory is constant: below [`GROUPS`] waiting requests
//! the number is exact, from there on it is too high by one in two thousand at most.

use std::collections::VecDeque;

use ftlab_flash::units::Nanos;

/// Groups that are kept.
const GROUPS: usize = 4096;

/// Waiting requests that were admitted one after another.
#[derive(Clone, Copy, Debug)]
struct Group {
    /// When the last of them was admitted.
    last: Nanos,
    requests: u64,
}

/// The most that waited so far, and what still waits at the last arrival.
#[derive(Clone, Debug)]
pub(crate) struct LongestQueue {
    groups: VecDeque<Group>,
    /// Requests of all groups.
    waiting: u64,
    /// Requests of a group, at most.
    group_size: u64,
    longest: u64,
}

impl LongestQueue {
    /// Nothing waited yet.
    pub fn new() -> Self {
        let groups = VecDeque::with_capacity(GROUPS);
        LongestQueue { groups, waiting: 0, group_size: 1, longest: 0 }
    }

    /// The most requests that waited at once.
    pub fn longest(&self) -> u64 {
        self.longest
    }

    /// The next arrival and the next admission; neither may go backwards.
    #[inline]
    pub fn passes(&mut self, arrival: Nanos, admitted: Nanos) {
        if admitted > arrival {
            self.joins(arrival, admitted);
        }
    }

    fn joins(&mut self, arrival: Nanos, admitted: Nanos) {
        while let Some(group) = self.groups.front().filter(|group| group.last <= arrival) {
            self.waiting -= group.requests;
            self.groups.pop_front();
        }
        if self.groups.is_empty() {
            self.group_size = 1;
        }
        let open = self.groups.back_mut().filter(|group| group.requests < self.group_size);
        match open {
            Some(group) => *group = Group { last: admitted, requests: group.requests + 1 },
            None => self.groups.push_back(Group { last: admitted, requests: 1 }),
        }
        self.waiting += 1;
        self.longest = self.longest.max(self.waiting);
        if self.groups.len() == GROUPS {
            self.join_pairs();
        }
    }

    #[cold]
    fn join_pairs(&mut self) {
        for pair in 0..GROUPS / 2 {
            let (first, second) = (self.groups[2 * pair], self.groups[2 * pair + 1]);
            let requests = first.requests + second.requests;
            self.groups[pair] = Group { last: second.last, requests };
        }
        self.groups.truncate(GROUPS / 2);
        self.group_size *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_flash::rng::{Purpose, Rng};

    /// Served one at a time, 10 ns each: of four that arrive at 0 three wait; at 12 one of them has
    /// gone and another comes, which is admitted at 40; who comes then waits alone.
    #[test]
    fn a_request_waits_from_its_arrival_until_its_admission() {
        let mut queue = LongestQueue::new();
        queue.passes(0, 0);
        assert_eq!(queue.longest(), 0, "the first does not wait");
        for admitted in [10, 20, 30] {
            queue.passes(0, admitted);
        }
        assert_eq!(queue.longest(), 3);
        queue.passes(12, 40);
        assert_eq!((queue.longest(), queue.waiting), (3, 3));
        queue.passes(40, 50);
        assert_eq!((queue.longest(), queue.waiting), (3, 1), "who is admitted now waits no more");
    }

    /// Against a count of all, with loads that let the queue grow and drain again.
    #[test]
    fn the_number_is_exact_for_short_queues_and_nearly_so_for_long_ones() {
        for (requests, service, exact) in [(3_000, 120, true), (200_000, 160, false)] {
            let mut rng = Rng::new(7, Purpose::Workload);
            let (mut queue, mut all) = (LongestQueue::new(), VecDeque::new());
            let (mut now, mut free, mut longest) = (0, 0, 0);
            for index in 0..requests {
                let pause = if index % 50_000 == 49_999 { 20_000_000 } else { 0 };
                now += Nanos::from(rng.below(200)) + pause;
                let admitted: Nanos = free.max(now);
                free = admitted + service;
                queue.passes(now, admitted);
                while all.front().is_some_and(|&before| before <= now) {
                    all.pop_front();
                }
                if admitted > now {
                    all.push_back(admitted);
                }
                longest = longest.max(all.len() as u64);
                assert!(queue.groups.len() < GROUPS);
            }
            assert!(longest > 100 && exact == (longest < GROUPS as u64), "{longest}");
            let excess = queue.longest() - longest;
            assert!(excess <= if exact { 0 } else { longest / 2_000 }, "{excess} of {longest}");
        }
    }

    /// As many groups as there may be, of a request each: they are joined in pairs, in their order,
    /// and those to come have as many.
    #[test]
    fn groups_are_joined_in_pairs() {
        let mut queue = LongestQueue::new();
        (1..=GROUPS as Nanos).for_each(|admitted| queue.passes(0, admitted));
        assert_eq!(
            (queue.longest(), queue.waiting, queue.group_size),
            (GROUPS as u64, GROUPS as u64, 2)
        );
        let groups = queue.groups.iter().map(|group| (group.last, group.requests));
        assert!(groups.eq((1..=GROUPS as Nanos / 2).map(|pair| (2 * pair, 2))));
    }
}
