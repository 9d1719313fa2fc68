//! One thing that does one operation at a time: a die, a plane, a channel.
//!
//! Operations are booked in call order, which is not the order of time, so a resource keeps its last
//! few idle gaps.

use crate::units::Nanos;

/// Idle gaps that a resource remembers; with fewer, cached-map schemes lose throughput that a real
/// device would give them.
const GAPS: usize = 16;

/// One thing that does one operation at a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Resource {
    /// Free from here on.
    pub tail: Nanos,
    /// Idle spans before the tail, oldest first, `gap_count` of them.
    gaps: [(Nanos, Nanos); GAPS],
    gap_count: usize,
    /// Gaps below this length serve nobody.
    shortest: Nanos,
}

impl Resource {
    /// Idle; no operation on it is shorter than `shortest`.
    pub fn new(shortest: Nanos) -> Self {
        Resource { shortest, ..Resource::default() }
    }

    /// Books `length` as early as possible at or after `after`; returns the start.
    #[inline]
    pub fn book(&mut self, after: Nanos, length: Nanos) -> Nanos {
        if after < self.tail
            && self.gap_count > 0
            && let Some(start) = self.book_in_gap(after, length)
        {
            return start;
        }
        let start = self.tail.max(after);
        if start > self.tail {
            self.remember(self.gap_count, (self.tail, start));
        }
        self.tail = start + length;
        start
    }

    fn book_in_gap(&mut self, after: Nanos, length: Nanos) -> Option<Nanos> {
        let index =
            (0..self.gap_count).find(|&i| self.gaps[i].0.max(after) + length <= self.gaps[i].1)?;
        let (gap_start, gap_end) = self.gaps[index];
        let start = gap_start.max(after);
        self.gaps.copy_within(index + 1..self.gap_count, index);
        self.gap_count -= 1;
        // What is left behind the operation first, so that `index` stays right for what is left
        // before it.
        self.remember(index, (start + length, gap_end));
        self.remember(index, (gap_start, start));
        Some(start)
    }

    /// Inserts a gap in time order; the oldest is forgotten when there is no room.
    fn remember(&mut self, mut place: usize, gap: (Nanos, Nanos)) {
        if gap.1 - gap.0 < self.shortest.max(1) {
            return;
        }
        if self.gap_count == GAPS {
            if place == 0 {
                return;
            }
            self.gaps.copy_within(1..GAPS, 0);
            self.gap_count -= 1;
            place -= 1;
        }
        self.gaps.copy_within(place..self.gap_count, place + 1);
        self.gaps[place] = gap;
        self.gap_count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_booking_leaves_a_gap_that_an_earlier_token_fills() {
        let mut die = Resource::default();
        assert_eq!(die.book(100, 10), 100);
        assert_eq!(die.book(0, 40), 0, "the gap before 100 is used");
        assert_eq!(die.book(0, 70), 110, "what does not fit goes to the end");
        assert_eq!(die.book(0, 60), 40, "the rest of the gap is exactly 60 long");
        assert_eq!(die.book(0, 1), 180);
    }

    #[test]
    fn bookings_never_overlap() {
        let mut rng = crate::rng::Rng::new(3, crate::rng::Purpose::Workload);
        let mut die = Resource::default();
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
