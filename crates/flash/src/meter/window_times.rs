//! Response times of reads and of writes in every window, counted in buckets: enough to tell a
//! window's percentiles, in memory that does not grow.
//!
//! A bucket is a sixteenth of an octave, as in hdrhistogram with five bits; below 32 ns a time is a
//! bucket of its own. Sixteen counts lie in one line of a cache; all windows of an octave lie
//! together, and whoever joins windows, or duplicates them, touches only octaves in which something
//! was counted: the others never become resident.

use std::ops::Range;

use crate::units::{Nanos, zeroed};

/// Most windows that are kept; when time runs past them, neighbours are joined in pairs.
pub(super) const WINDOWS: usize = 256;

/// Buckets of an octave, and how many bits tell them apart.
const FINE: usize = 1 << FINE_BITS;
const FINE_BITS: u32 = 4;

/// Groups of [`FINE`] buckets; the last one ends at 2^50 ns, which is 13 days, and takes what is longer.
const GROUPS: usize = 47;

/// Buckets of a direction in a window.
const BUCKETS: usize = FINE * GROUPS;

/// Counts of a direction and a group.
const OF_GROUP: usize = WINDOWS * FINE;

/// Reads and writes.
const DIRECTIONS: usize = 2;

/// Counts by direction, group of buckets, window and bucket in its group.
#[derive(Debug)]
pub(super) struct WindowTimes {
    counts: Vec<u32>,
    /// A bit per group of buckets in which a direction has counted anything.
    used: [u64; DIRECTIONS],
}

impl WindowTimes {
    pub(super) fn new() -> Self {
        WindowTimes { counts: zeroed(DIRECTIONS * GROUPS * OF_GROUP), used: [0; DIRECTIONS] }
    }

    #[inline]
    pub(super) fn record(&mut self, direction: usize, window: usize, time: Nanos, count: u32) {
        let bucket = bucket(time);
        self.used[direction] |= 1 << (bucket / FINE);
        let group = (direction * GROUPS + bucket / FINE) * OF_GROUP;
        self.counts[group + window * FINE + bucket % FINE] += count;
    }

    pub(super) fn reset(&mut self) {
        self.clear(0);
        self.used = [0; DIRECTIONS];
    }

    /// Joins neighbours in pairs; the second half of the windows is empty then.
    pub(super) fn widen(&mut self) {
        for (direction, group) in self.groups() {
            let counts = &mut self.counts[all_windows(direction, group)];
            for pair in 0..WINDOWS / 2 {
                for fine in 0..FINE {
                    let [to, one] = [pair * FINE + fine, 2 * pair * FINE + fine];
                    counts[to] = counts[one] + counts[one + FINE];
                }
            }
        }
        self.clear(WINDOWS / 2);
    }

    /// Empties all windows from that one on.
    fn clear(&mut self, first: usize) {
        for (direction, group) in self.groups() {
            self.counts[all_windows(direction, group)][first * FINE..].fill(0);
        }
    }

    /// Where something was counted, whatever the window.
    fn groups(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let used = self.used;
        let all = (0..DIRECTIONS).flat_map(|direction| (0..GROUPS).map(move |at| (direction, at)));
        all.filter(move |&(direction, group)| used[direction] >> group & 1 == 1)
    }

    /// The buckets of a window that hold something: shortest and longest time, and how many.
    pub(super) fn buckets(
        &self,
        direction: usize,
        window: usize,
    ) -> impl Iterator<Item = (Nanos, Nanos, u64)> {
        let groups = self.groups().filter(move |&(of, _)| of == direction);
        let of_group = move |(_, group)| {
            let from = all_windows(direction, group).start + window * FINE;
            let counts = self.counts[from..from + FINE].iter().enumerate();
            counts.map(move |(fine, &count)| (group * FINE + fine, count))
        };
        let counts = groups.flat_map(of_group);
        counts.filter(|&(_, count)| count > 0).map(|(bucket, count)| {
            let (shortest, longest) = bounds(bucket);
            (shortest, longest, u64::from(count))
        })
    }
}

impl Clone for WindowTimes {
    fn clone(&self) -> Self {
        let mut own = WindowTimes { used: self.used, ..WindowTimes::new() };
        for (direction, group) in self.groups() {
            let all = all_windows(direction, group);
            own.counts[all.clone()].copy_from_slice(&self.counts[all]);
        }
        own
    }
}

/// Where the counts of a direction and a group stand.
fn all_windows(direction: usize, group: usize) -> Range<usize> {
    let start = (direction * GROUPS + group) * OF_GROUP;
    start..start + OF_GROUP
}

/// The bucket of a time: its leading bit says how far the others are shifted.
#[inline]
fn bucket(time: Nanos) -> usize {
    let shift = (time | FINE as u64).ilog2() - FINE_BITS;
    (((shift as usize) << FINE_BITS) + (time >> shift) as usize).min(BUCKETS - 1)
}

/// Shortest and longest time of a bucket, ns.
fn bounds(bucket: usize) -> (Nanos, Nanos) {
    let shift = (bucket / FINE).saturating_sub(1);
    let shortest = ((bucket - shift * FINE) as Nanos) << shift;
    (shortest, shortest + (1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_follow_each_other_and_hold_their_times() {
        let mut next = 0;
        for index in 0..BUCKETS {
            let (shortest, longest) = bounds(index);
            assert_eq!(shortest, next, "bucket {index} begins where the one before ended");
            assert_eq!((bucket(shortest), bucket(longest)), (index, index));
            assert!(longest - shortest <= shortest / FINE as u64, "{shortest}..={longest}");
            next = longest + 1;
        }
        assert_eq!(next, 1 << 50);
        assert_eq!(bucket(Nanos::MAX), BUCKETS - 1);
    }

    #[test]
    fn joined_windows_hold_the_times_of_both() {
        let mut times = WindowTimes::new();
        for (window, time) in [(0, 5), (1, 5), (2, 1_000), (3, 70), (WINDOWS - 1, 9)] {
            times.record(1, window, time, 1);
        }
        times.widen();
        let found = |times: &WindowTimes, window| -> Vec<_> { times.buckets(1, window).collect() };
        assert_eq!(found(&times, 0), [(5, 5, 2)]);
        assert_eq!(found(&times, 1), [(68, 71, 1), (992, 1_023, 1)]);
        assert_eq!(found(&times, WINDOWS / 2 - 1), [(9, 9, 1)]);
        assert_eq!(found(&times, 2), []);
        assert_eq!(times.buckets(0, 0).count(), 0, "reads are apart");
        let duplicate = times.clone();
        assert_eq!(found(&duplicate, 1), found(&times, 1));
        assert_eq!(duplicate.counts, times.counts);
        times.reset();
        assert!(times.counts.iter().all(|&count| count == 0));
    }
}
