//! Response times of reads and of writes in every window, counted in buckets: enough to tell a
//! window's percentiles, in memory that does not grow.
//!
//! A bucket is a sixteenth of an octave, as in hdrhistogram with five bits; below 32 ns a time is a
//! bucket of its own. Sixteen counts lie in one line of a cache; all windows of an octave lie
//! together, and whoever joins windows, or duplicates them, touches only octaves in which something
//! was counted: the others never become resident.

use super::buckets::{bounds, bucket};
use super::groups::Groups;
use crate::units::Nanos;

/// Most windows that are kept; when time runs past them, neighbours are joined in pairs.
pub(super) const WINDOWS: usize = 256;

/// Buckets of an octave, and how many bits tell them apart.
const FINE: usize = 1 << FINE_BITS;
const FINE_BITS: u32 = 4;

/// Groups of [`FINE`] buckets; the last one ends at 2^50 ns, which is 13 days, and takes what is
/// longer.
const GROUPS: usize = 47;

/// Counts of a group: those of all windows.
const OF_GROUP: usize = WINDOWS * FINE;

/// Reads and writes: for each, counts by group of buckets, window and bucket in its group.
#[derive(Clone, Debug)]
pub(super) struct WindowTimes([Groups<u32, OF_GROUP, GROUPS>; 2]);

impl WindowTimes {
    pub(super) fn new() -> Self {
        WindowTimes(std::array::from_fn(|_| Groups::new()))
    }

    #[inline]
    pub(super) fn record(&mut self, direction: usize, window: usize, time: Nanos, count: u32) {
        let bucket = bucket(FINE_BITS, time).min(FINE * GROUPS - 1);
        let counts = self.0[direction].group_mut(bucket / FINE);
        counts[window * FINE + bucket % FINE] += count;
    }

    pub(super) fn reset(&mut self) {
        self.0.iter_mut().for_each(Groups::clear);
    }

    /// Joins neighbours in pairs; behind the first `used` windows all are empty, before and after.
    pub(super) fn widen(&mut self, used: usize) {
        let pairs = used.div_ceil(2);
        for counts in self.0.iter_mut().flat_map(Groups::used_mut) {
            let (windows, _) = counts.as_chunks_mut::<FINE>();
            for pair in 0..pairs {
                let (mut both, second) = (windows[2 * pair], windows[2 * pair + 1]);
                // Few windows have times of a group.
                if second != [0; FINE] {
                    both.iter_mut().zip(second).for_each(|(count, more)| *count += more);
                }
                windows[pair] = both;
            }
            windows[pairs..used].fill([0; FINE]);
        }
    }

    /// The buckets of a window that hold something: shortest and longest time, and how many.
    pub(super) fn buckets(
        &self,
        direction: usize,
        window: usize,
    ) -> impl Iterator<Item = (Nanos, Nanos, u64)> {
        let counts = self.0[direction].used().flat_map(move |(group, counts)| {
            let counts = counts[window * FINE..][..FINE].iter().enumerate();
            counts.map(move |(fine, &count)| (group * FINE + fine, count))
        });
        counts.filter(|&(_, count)| count > 0).map(|(bucket, count)| {
            let (shortest, longest) = bounds(FINE_BITS, bucket);
            (shortest, longest, u64::from(count))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_windows_hold_the_times_of_both() {
        let mut times = WindowTimes::new();
        for (window, time) in [(0, 5), (1, 5), (2, 1_000), (3, 70), (WINDOWS - 1, 9)] {
            times.record(1, window, time, 1);
        }
        times.widen(WINDOWS);
        let found = |times: &WindowTimes, window| -> Vec<_> { times.buckets(1, window).collect() };
        assert_eq!(found(&times, 0), [(5, 5, 2)]);
        assert_eq!(found(&times, 1), [(68, 71, 1), (992, 1_023, 1)]);
        assert_eq!(found(&times, WINDOWS / 2 - 1), [(9, 9, 1)]);
        assert_eq!(found(&times, 2), []);
        assert_eq!(times.buckets(0, 0).count(), 0, "reads are apart");
        assert_eq!(found(&times.clone(), 1), found(&times, 1));
        times.reset();
        assert!((0..WINDOWS).all(|window| found(&times, window).is_empty()));
    }
}
