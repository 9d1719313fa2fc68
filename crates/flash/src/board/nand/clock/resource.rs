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
    /// Idle spans before the tail, oldest first.
    gaps: VecDeque<(Nanos, Nanos)>,
    /// Gaps that are kept at most; the oldest is forgotten first.
    limit: usize,
    /// Gaps below this length serve nobody.
    shortest: Nanos,
    /// When the oldest gap ends; never while there is none.
    oldest_ends: Nanos,
}

impl Resource {
    /// Idle; no operation on it is shorter than `shortest`.
    pub fn new(shortest: Nanos) -> Self {
        Resource::with_gaps(shortest, GAPS)
    }

    /// The same, with up to `limit` gaps remembered, at least as many as others remember.
    pub fn with_gaps(shortest: Nanos, limit: usize) -> Self {
        let limit = limit.max(GAPS);
        let gaps = VecDeque::with_capacity(limit + 1);
        Resource { tail: 0, gaps, limit, shortest, oldest_ends: Nanos::MAX }
    }

    /// Forgets the gaps that are over at `now`: fewer to search.
    #[inline(always)]
    pub fn forget(&mut self, now: Nanos) {
        if self.oldest_ends <= now {
            self.forget_oldest(now);
        }
    }

    fn forget_oldest(&mut self, now: Nanos) {
        while self.gaps.front().is_some_and(|gap| gap.1 <= now) {
            self.gaps.pop_front();
        }
        self.note_oldest();
    }

    #[inline(always)]
    fn note_oldest(&mut self) {
        self.oldest_ends = self.gaps.front().map_or(Nanos::MAX, |gap| gap.1);
    }

    /// Books `length` as early as possible at or after `after`; returns the start.
    #[inline(always)]
    pub fn book(&mut self, after: Nanos, length: Nanos) -> Nanos {
        if after < self.tail {
            if self.oldest_ends < Nanos::MAX
                && let Some(start) = self.book_in_gap(after, length)
            {
                return start;
            }
        } else if self.is_useful((self.tail, after)) {
            self.leave_gap((self.tail, after));
        }
        let start = self.tail.max(after);
        self.tail = start + length;
        start
    }

    /// A gap behind all others.
    #[inline(never)]
    fn leave_gap(&mut self, gap: (Nanos, Nanos)) {
        self.remember(self.gaps.len(), gap);
        self.note_oldest();
    }

    #[inline(never)]
    fn book_in_gap(&mut self, after: Nanos, length: Nanos) -> Option<Nanos> {
        // Those that are over are forgotten: nearly always the oldest that is left ends late enough.
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
                self.remember(index, before);
            }
            (true, false) => self.gaps[index] = before,
            (false, true) => self.gaps[index] = behind,
            (false, false) => {
                self.gaps.remove(index);
            }
        }
        self.note_oldest();
        Some(start)
    }

    #[inline(always)]
    fn is_useful(&self, gap: (Nanos, Nanos)) -> bool {
        gap.1 - gap.0 >= self.shortest.max(1)
    }

    /// Inserts a gap in time order; the oldest is forgotten when there is no room.
    #[inline]
    fn remember(&mut self, place: usize, gap: (Nanos, Nanos)) {
        if !self.is_useful(gap) {
            return;
        }
        match place == self.gaps.len() {
            true => self.gaps.push_back(gap),
            false => self.gaps.insert(place, gap),
        }
        if self.gaps.len() > self.limit {
            self.gaps.pop_front();
        }
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
}
