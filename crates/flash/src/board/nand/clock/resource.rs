//! One thing that does one operation at a time: a die, a plane, a channel.
//!
//! Operations are booked in call order, which is not the order of time, so a resource keeps the
//! idle gaps between what is booked. How many it keeps decides what two-step requests (map read,
//! data read) lose against an event-driven device: at queue depth 64 eight gaps lose 8.3 % of the
//! throughput, sixteen 6.0 %, sixty-four 5.8 %. At depth 16 the loss is 6.7 % with any number: it
//! comes from serving in call order. Without gaps it was 13 to 57 %. Channels keep more, four per
//! page of a block, because a collection books two transfers for each page of its victim: with
//! sixteen, 4 channels x 2 dies x 2 planes lost 25 % under random writes.

use std::collections::VecDeque;

use crate::units::Nanos;

/// Idle gaps that a resource remembers unless it is told otherwise; with fewer, cached-map schemes
/// lose throughput that a real device would give them.
const GAPS: usize = 16;

/// One thing that does one operation at a time.
#[derive(Clone, Debug)]
pub struct Resource {
    /// Free from here on.
    pub tail: Nanos,
    /// When the oldest gap ends; never while there is none.
    oldest_ends: Nanos,
    /// When the newest gap ends: what would be done later comes behind the tail. 0 while there is
    /// none.
    newest_ends: Nanos,
    /// Gaps below this length, which is not 0, serve nobody.
    shortest: Nanos,
    /// Idle spans before the tail, oldest first.
    gaps: VecDeque<(Nanos, Nanos)>,
    /// Gaps that are kept at most; the oldest is forgotten first.
    limit: usize,
}

impl Resource {
    /// Idle; no operation on it is shorter than `shortest`.
    pub fn new(shortest: Nanos) -> Self {
        Resource::with_gaps(shortest, GAPS)
    }

    /// The same, with up to `limit` gaps remembered, at least as many as others remember.
    pub fn with_gaps(shortest: Nanos, limit: usize) -> Self {
        let limit = limit.max(GAPS);
        Resource {
            tail: 0,
            oldest_ends: Nanos::MAX,
            newest_ends: 0,
            shortest: shortest.max(1),
            gaps: VecDeque::with_capacity(limit + 1),
            limit,
        }
    }

    /// Books `length` as early as possible at or after `after`; returns the start.
    #[inline(always)]
    pub fn book(&mut self, after: Nanos, length: Nanos) -> Nanos {
        if after >= self.tail {
            self.skip_to(after);
        } else if after + length <= self.newest_ends
            && let Some(start) = self.book_in_gap(after, length)
        {
            return start;
        }
        let start = self.tail;
        self.tail = start + length;
        start
    }

    /// The same where nobody needs room before `now` any more.
    #[inline(always)]
    pub fn book_from(&mut self, now: Nanos, after: Nanos, length: Nanos) -> Nanos {
        self.forget(now);
        if after <= now {
            // What begins now leaves no room in front of it that anybody needs.
            let end = after + length;
            if after >= self.tail {
                self.tail = end;
                return after;
            }
            if end + self.shortest <= self.oldest_ends
                && let Some(gap) = self.gaps.front_mut()
                && gap.0 <= after
            {
                gap.0 = end;
                return after;
            }
        }
        self.book(after, length)
    }

    /// Whether work of this length that could begin at any moment between these two begins at the
    /// tail: no gap has room for it, and it leaves none.
    #[inline(always)]
    pub fn comes_last(&self, (earliest, latest): (Nanos, Nanos), length: Nanos) -> bool {
        latest <= self.tail && earliest + length > self.newest_ends
    }

    /// Books so many times `length`, the first at `start`, which is no earlier than the tail, the
    /// next `step` behind the one before.
    pub fn book_row(&mut self, start: Nanos, (step, count): (Nanos, usize), length: Nanos) {
        self.skip_to(start);
        let others = count as u64 - 1;
        if others > 0 && !self.wastes(step - length) {
            let kept = others.min(self.limit as u64);
            let too_many = (self.gaps.len() + kept as usize).saturating_sub(self.limit);
            self.gaps.drain(..too_many);
            let gap = |number| (start + number * step + length, start + (number + 1) * step);
            self.gaps.extend((others - kept..others).map(gap));
            self.note_ends();
        }
        self.tail = start + others * step + length;
    }

    /// Whether nobody would use a gap of this length.
    #[inline(always)]
    pub fn wastes(&self, length: Nanos) -> bool {
        length < self.shortest
    }

    /// Nothing is done up to `after`, which is no earlier than the tail.
    #[inline(always)]
    pub fn skip_to(&mut self, after: Nanos) {
        if !self.wastes(after - self.tail) {
            self.leave_gap(after);
        }
        self.tail = after;
    }

    /// A gap behind all others, from the tail on.
    #[inline(never)]
    fn leave_gap(&mut self, end: Nanos) {
        if self.gaps.len() == self.limit {
            self.gaps.pop_front();
            self.note_oldest();
        }
        self.gaps.push_back((self.tail, end));
        self.oldest_ends = self.oldest_ends.min(end);
        self.newest_ends = end;
    }

    /// Forgets the gaps that are over at `now`: fewer to search.
    #[inline(always)]
    pub fn forget(&mut self, now: Nanos) {
        if self.oldest_ends <= now {
            self.forget_oldest(now);
        }
    }

    #[inline(never)]
    fn forget_oldest(&mut self, now: Nanos) {
        loop {
            self.gaps.pop_front();
            match self.gaps.front() {
                Some(gap) if gap.1 <= now => {}
                Some(gap) => return self.oldest_ends = gap.1,
                None => {
                    // The next ones come where the first ones were: memory that is at hand.
                    self.gaps.clear();
                    return (self.oldest_ends, self.newest_ends) = (Nanos::MAX, 0);
                }
            }
        }
    }

    #[inline(always)]
    fn note_oldest(&mut self) {
        self.oldest_ends = self.gaps.front().map_or(Nanos::MAX, |gap| gap.1);
    }

    fn note_ends(&mut self) {
        self.note_oldest();
        self.newest_ends = self.gaps.back().map_or(0, |gap| gap.1);
    }

    #[inline(never)]
    fn book_in_gap(&mut self, after: Nanos, length: Nanos) -> Option<Nanos> {
        // Those that are over are forgotten: nearly always the oldest that is left ends late
        // enough.
        let first = match self.oldest_ends >= after + length {
            true => 0,
            false => self.gaps.partition_point(|gap| gap.1 < after + length),
        };
        let fits = |gap: &(Nanos, Nanos)| gap.0.max(after) + length <= gap.1;
        let index = first + self.gaps.range(first..).position(fits)?;
        let gap = &mut self.gaps[index];
        let (gap_start, gap_end) = *gap;
        let start = gap_start.max(after);
        let (before, behind) = ((gap_start, start), (start + length, gap_end));
        match (self.is_useful(before), self.is_useful(behind)) {
            (true, true) => {
                self.gaps[index] = behind;
                self.gaps.insert(index, before);
                if self.gaps.len() > self.limit {
                    self.gaps.pop_front();
                }
            }
            (true, false) => self.gaps[index] = before,
            (false, true) => self.gaps[index] = behind,
            (false, false) => {
                self.gaps.remove(index);
            }
        }
        self.note_ends();
        Some(start)
    }

    #[inline(always)]
    fn is_useful(&self, gap: (Nanos, Nanos)) -> bool {
        !self.wastes(gap.1 - gap.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_booking_leaves_a_gap_that_an_earlier_token_fills() {
        let mut die = Resource::new(0);
        assert_eq!(die.book(100, 10), 100);
        assert_eq!(die.book(0, 40), 0, "the gap before 100 is used");
        assert_eq!(die.book(0, 70), 110, "what does not fit goes to the end");
        assert_eq!(die.book(0, 60), 40, "the rest of the gap is exactly 60 long");
        assert_eq!(die.book(0, 1), 180);
    }

    #[test]
    fn bookings_never_overlap() {
        let mut rng = crate::rng::Rng::new(3, crate::rng::Purpose::Workload);
        let mut die = Resource::new(0);
        let mut spans: Vec<(Nanos, Nanos)> = Vec::new();
        for round in 0..2_000u64 {
            let after = round * 5 + u64::from(rng.below(200));
            let length = 1 + u64::from(rng.below(20));
            let start = die.book(after, length);
            assert!(start >= after);
            spans.push((start, start + length));
        }
        spans.sort_unstable();
        assert!(spans.windows(2).all(|w| w[0].1 <= w[1].0), "two operations at once");
    }

    /// The cells were idle until 100 and work until 110; what takes 40 has room if it can begin by
    /// 60.
    #[test]
    fn work_comes_last_when_no_gap_has_room_for_it() {
        let mut die = Resource::new(10);
        assert_eq!(die.book(100, 10), 100);
        assert!(!die.comes_last((60, 110), 40), "it fills the gap to its end");
        assert!(die.comes_last((61, 110), 40));
        assert!(!die.comes_last((61, 111), 40), "it may begin behind the tail");
    }

    /// Moments are below 2^63 ns. The channel is idle until 100 ns behind the half of that.
    #[test]
    fn gaps_are_found_however_late_it_is() {
        let now = 1 << 62;
        let mut channel = Resource::new(10);
        assert_eq!(channel.book_from(now, now + 100, 10), now + 100);
        assert_eq!(channel.book_from(now, now, 10), now);
        assert_eq!(channel.book_from(now, now + 20, 10), now + 20);
        assert_eq!(channel.book_from(now, now, 10), now + 10, "the gap between them");
    }

    /// The same as plainly as can be: every gap is looked at, and rows are booked one by one.
    struct Plain {
        tail: Nanos,
        gaps: Vec<(Nanos, Nanos)>,
        limit: usize,
        shortest: Nanos,
    }

    impl Plain {
        fn book(&mut self, now: Option<Nanos>, after: Nanos, length: Nanos) -> Nanos {
            self.gaps.retain(|gap| now.is_none_or(|now| gap.1 > now));
            let fits = |gap: &(Nanos, Nanos)| gap.0.max(after) + length <= gap.1;
            let found = self.gaps.iter().position(fits);
            let place = found.unwrap_or(self.gaps.len());
            let (from, to) = match found {
                Some(index) => self.gaps.remove(index),
                None => (self.tail, self.tail.max(after) + length),
            };
            let start = from.max(after);
            for gap in [(start + length, to), (from, start)] {
                if gap.1 - gap.0 >= self.shortest.max(1) {
                    self.gaps.insert(place, gap);
                }
            }
            let too_many = self.gaps.len().saturating_sub(self.limit);
            self.gaps.drain(..too_many);
            self.tail = self.tail.max(to);
            start
        }
    }

    /// Cells, which forget nothing that there is room for, and channels, which forget what is over.
    #[test]
    fn gaps_and_rows_are_those_of_a_plain_list() {
        for (forgets, shortest) in [(false, 0), (false, 9), (true, 0), (true, 7)] {
            let mut rng = crate::rng::Rng::new(11, crate::rng::Purpose::Workload);
            let mut below = |limit| Nanos::from(rng.below(limit));
            let mut one = Resource::new(shortest);
            let mut plain = Plain { tail: 0, gaps: Vec::new(), limit: GAPS, shortest };
            let (mut now, mut most, mut rows, mut between) = (0, 0, 0, 0);
            for turn in 0..30_000 {
                now += below(25);
                let known = forgets.then_some(now);
                // Some begin at once, a few are late.
                let after =
                    (now + [0, 0, below(400), 5][below(4) as usize]).saturating_sub(below(6));
                let length = shortest + 1 + below(20);
                if below(20) == 0 {
                    let (start, step) = (one.tail + below(60), length + below(30));
                    let count = 1 + below(24);
                    if forgets {
                        one.forget(now);
                    }
                    one.book_row(start, (step, count as usize), length);
                    for number in 0..count {
                        let start = start + number * step;
                        assert_eq!(plain.book(known, start, length), start);
                    }
                    rows += 1;
                } else {
                    let booked = match known {
                        Some(now) => one.book_from(now, after, length),
                        None => one.book(after, length),
                    };
                    between += u32::from(booked < one.tail - length);
                    assert_eq!(booked, plain.book(known, after, length), "{turn}: from {after}");
                }
                assert_eq!(one.tail, plain.tail, "{turn}");
                now = now.max(one.tail.saturating_sub(600));
                most = most.max(plain.gaps.len());
            }
            assert_eq!(most, GAPS, "some were forgotten for want of room");
            assert!(rows > 1_000 && between > 5_000, "{rows} rows, {between} in gaps");
        }
    }
}
