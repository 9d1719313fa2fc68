//! Response times of reads and of writes in every window, counted in buckets: enough to tell a
//! window's percentiles, in memory that does not grow.
//!
//! A bucket is a sixteenth of an octave, as in hdrhistogram with five bits; below 32 ns a time is a
//! bucket of its own. The times of one window are counted in a table, sixteen counts in a line of a
//! cache, until another window begins. What was counted in it then goes to a list of only those
//! buckets that hold something: whoever joins windows, or duplicates them, touches little.

use super::buckets::{bounds, bucket};
use crate::units::Nanos;

/// Most windows that are kept; when time runs past them, neighbours are joined in pairs.
pub(super) const WINDOWS: usize = 256;

/// Buckets of an octave, and how many bits tell them apart.
const FINE: usize = 1 << FINE_BITS;
const FINE_BITS: u32 = 4;

/// Groups of [`FINE`] buckets; the last one ends at 2^50 ns, which is 13 days, and takes what is
/// longer.
const GROUPS: usize = 47;

/// Reads and writes.
const DIRECTIONS: usize = 2;

/// Counts of one window by direction and bucket: of that which is counted in, or of two that are
/// being joined.
#[derive(Clone, Debug)]
struct Table {
    counts: Box<[[[u32; FINE]; GROUPS]; DIRECTIONS]>,
    /// Groups in which something was counted, one a bit.
    used: [u64; DIRECTIONS],
}

impl Table {
    #[inline]
    fn add(&mut self, direction: usize, bucket: usize, count: u32) {
        self.counts[direction][bucket / FINE][bucket % FINE] += count;
        self.used[direction] |= 1 << (bucket / FINE);
    }

    /// What was counted, ascending by direction and bucket; nothing is afterwards.
    #[inline]
    fn drain(&mut self, mut each: impl FnMut(usize, usize, u32)) {
        for (direction, counts) in self.counts.iter_mut().enumerate() {
            let mut used = std::mem::take(&mut self.used[direction]);
            while used != 0 {
                let group = used.trailing_zeros() as usize;
                used &= used - 1;
                for (fine, count) in counts[group].iter_mut().enumerate() {
                    if *count > 0 {
                        each(direction, group * FINE + fine, std::mem::take(count));
                    }
                }
            }
        }
    }
}

/// A bucket of a window. Ordered by window, direction and bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    window: u8,
    direction: u8,
    bucket: u16,
}

impl Place {
    fn new(window: usize, direction: usize, bucket: usize) -> Self {
        assert!(window < WINDOWS, "window {window} of {WINDOWS}");
        Place { window: window as u8, direction: direction as u8, bucket: bucket as u16 }
    }
}

/// The times of all windows.
#[derive(Debug)]
pub(super) struct WindowTimes {
    window: usize,
    table: Table,
    /// Of all windows, in ascending order. There is room for all buckets, so that counting never
    /// allocates.
    list: Vec<(Place, u32)>,
}

impl WindowTimes {
    pub(super) fn new() -> Self {
        const { assert!(GROUPS <= u64::BITS as usize && FINE * GROUPS <= u16::MAX as usize) };
        WindowTimes {
            window: 0,
            table: Table {
                counts: Box::new([[[0; FINE]; GROUPS]; DIRECTIONS]),
                used: [0; DIRECTIONS],
            },
            list: Vec::with_capacity(WINDOWS * DIRECTIONS * GROUPS * FINE),
        }
    }

    /// Counts in this window from now on.
    pub(super) fn turn_to(&mut self, window: usize) {
        self.put_away();
        self.window = window;
    }

    #[inline]
    pub(super) fn record(&mut self, direction: usize, time: Nanos, count: u32) {
        let bucket = bucket(FINE_BITS, time).min(FINE * GROUPS - 1);
        self.table.add(direction, bucket, count);
    }

    pub(super) fn reset(&mut self) {
        self.table.drain(|_, _, _| {});
        self.list.clear();
    }

    /// Joins neighbours in pairs.
    pub(super) fn widen(&mut self) {
        self.put_away();
        let WindowTimes { table, list, .. } = self;
        let (mut read, mut written) = (0, 0);
        while let Some(&(Place { window, .. }, _)) = list.get(read) {
            let pair = usize::from(window) / 2;
            while let Some(&(place, count)) = list.get(read)
                && usize::from(place.window) / 2 == pair
            {
                table.add(place.direction.into(), place.bucket.into(), count);
                read += 1;
            }
            // A pair has no more buckets than its windows had.
            table.drain(|direction, bucket, count| {
                list[written] = (Place::new(pair, direction, bucket), count);
                written += 1;
            });
        }
        list.truncate(written);
        self.window /= 2;
    }

    /// What was counted in the present window goes to the list.
    fn put_away(&mut self) {
        let WindowTimes { window, table, list } = self;
        table.drain(|direction, bucket, count| {
            let place = Place::new(*window, direction, bucket);
            // Windows follow each other, but for the few to which a late completion belongs.
            if list.last().is_none_or(|&(last, _)| last < place) {
                list.push((place, count));
                return;
            }
            match list.binary_search_by_key(&place, |&(place, _)| place) {
                Ok(at) => list[at].1 += count,
                Err(at) => list.insert(at, (place, count)),
            }
        });
    }

    /// The buckets of a window that hold something, ascending: shortest and longest time, and how
    /// many.
    pub(super) fn buckets(&self, direction: usize, window: usize) -> Vec<(Nanos, Nanos, u64)> {
        let first = Place::new(window, direction, 0);
        let end = Place::new(window, direction, FINE * GROUPS);
        let begins = self.list.partition_point(|&(place, _)| place < first);
        let listed = self.list[begins..].iter().take_while(|&&(place, _)| place < end);
        let mut counts: Vec<_> =
            listed.map(|&(place, count)| (usize::from(place.bucket), count)).collect();
        if window == self.window {
            let table = self.table.counts[direction].as_flattened().iter().enumerate();
            for (bucket, &count) in table.filter(|&(_, &count)| count > 0) {
                match counts.binary_search_by_key(&bucket, |&(bucket, _)| bucket) {
                    Ok(at) => counts[at].1 += count,
                    Err(at) => counts.insert(at, (bucket, count)),
                }
            }
        }
        let with_bounds = |(bucket, count)| {
            let (shortest, longest) = bounds(FINE_BITS, bucket);
            (shortest, longest, u64::from(count))
        };
        counts.into_iter().map(with_bounds).collect()
    }
}

impl Clone for WindowTimes {
    /// With room for all buckets, as counting in the copy must not allocate either.
    fn clone(&self) -> Self {
        let mut list = Vec::with_capacity(self.list.capacity());
        list.extend_from_slice(&self.list);
        WindowTimes { window: self.window, table: self.table.clone(), list }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::rng::{Purpose, Rng};

    fn found(times: &WindowTimes, window: usize) -> Vec<(Nanos, Nanos, u64)> {
        times.buckets(1, window)
    }

    #[test]
    fn joined_windows_hold_the_times_of_both() {
        let mut times = WindowTimes::new();
        for (window, time) in [(0, 5), (1, 5), (2, 1_000), (3, 70), (WINDOWS - 1, 9)] {
            times.turn_to(window);
            times.record(1, time, 1);
        }
        times.widen();
        assert_eq!(found(&times, 0), [(5, 5, 2)]);
        assert_eq!(found(&times, 1), [(68, 71, 1), (992, 1_023, 1)]);
        assert_eq!(found(&times, WINDOWS / 2 - 1), [(9, 9, 1)]);
        assert_eq!(found(&times, 2), []);
        assert_eq!(times.buckets(0, 0), [], "reads are apart");
        assert_eq!(found(&times.clone(), 1), found(&times, 1));
        times.reset();
        assert!((0..WINDOWS).all(|window| found(&times, window).is_empty()));
    }

    #[test]
    fn a_window_that_is_counted_in_again_keeps_what_it_had() {
        let mut times = WindowTimes::new();
        for (window, time, count) in [(3, 40, 1), (4, 40, 2), (3, 40, 4), (3, 6, 8)] {
            times.turn_to(window);
            times.record(1, time, count);
        }
        times.record(0, 40, 16);
        assert_eq!(
            found(&times, 3),
            [(6, 6, 8), (40, 41, 5)],
            "the list, and what is not in it yet"
        );
        assert_eq!(found(&times, 4), [(40, 41, 2)]);
        assert_eq!(times.buckets(0, 3), [(40, 41, 16)]);
        assert_eq!(times.buckets(0, 4), []);
        times.turn_to(4);
        times.record(1, 40, 32);
        times.turn_to(7);
        assert_eq!(found(&times, 4), [(40, 41, 34)], "the last of the list is counted again");
        assert_eq!(found(&times, 3), [(6, 6, 8), (40, 41, 5)]);
    }

    /// As the windows, but counted in a map: in any order, joined and reset at any time.
    #[test]
    fn times_are_those_of_a_map_of_all_buckets() {
        let mut model: BTreeMap<_, u32> = BTreeMap::new();
        let mut rng = Rng::new(7, Purpose::Workload);
        let mut times = WindowTimes::new();
        let mut window = 0;
        for step in 0..20_000 {
            match rng.below(64) {
                0..16 => {
                    window = match rng.below(8) {
                        0 => rng.below(WINDOWS as u32) as usize,
                        1..3 => window.saturating_sub(2),
                        _ => (window + 1).min(WINDOWS - 1),
                    };
                    times.turn_to(window);
                }
                16 if rng.below(8) == 0 => {
                    times.widen();
                    window /= 2;
                    let mut joined = BTreeMap::new();
                    for ((direction, window, bucket), count) in model {
                        *joined.entry((direction, window / 2, bucket)).or_default() += count;
                    }
                    model = joined;
                }
                17 if rng.below(64) == 0 => {
                    times.reset();
                    model.clear();
                }
                18 => times = times.clone(),
                _ => {}
            }
            let (direction, count) = (rng.below(2) as usize, rng.below(3) + 1);
            let time = rng.next_u64() >> (15 + rng.below(40));
            times.record(direction, time, count);
            *model.entry((direction, window, bucket(FINE_BITS, time))).or_default() += count;
            if step % 400 == 0 {
                (0..WINDOWS * DIRECTIONS).for_each(|index| {
                    let (direction, window) = (index % DIRECTIONS, index / DIRECTIONS);
                    let of_window = model.range((direction, window, 0)..(direction, window + 1, 0));
                    let with_bounds = of_window.map(|(&(_, _, bucket), &count)| {
                        let (shortest, longest) = bounds(FINE_BITS, bucket);
                        (shortest, longest, u64::from(count))
                    });
                    let expected: Vec<_> = with_bounds.collect();
                    assert_eq!(times.buckets(direction, window), expected, "step {step}");
                });
            }
        }
    }

    #[test]
    fn there_is_room_for_all_buckets_of_all_windows() {
        let mut times = WindowTimes::new();
        let room = times.list.capacity();
        for window in (0..WINDOWS).step_by(2).chain((1..WINDOWS).step_by(2)) {
            times.turn_to(window);
            for bucket in 0..FINE * GROUPS {
                (0..DIRECTIONS).for_each(|direction| times.table.add(direction, bucket, 1));
            }
        }
        let mut times = times.clone();
        times.turn_to(0);
        assert_eq!(times.list.len(), WINDOWS * DIRECTIONS * FINE * GROUPS);
        assert_eq!(times.list.capacity(), room, "nothing was allocated");
        times.widen();
        assert_eq!(times.list.len(), WINDOWS / 2 * DIRECTIONS * FINE * GROUPS);
    }

    #[test]
    #[should_panic(expected = "window 256 of 256")]
    fn a_window_that_there_is_not_has_no_times() {
        WindowTimes::new().buckets(0, WINDOWS);
    }

    #[test]
    fn a_duplicate_counts_for_itself() {
        let mut times = WindowTimes::new();
        for window in [0, 9] {
            times.turn_to(window);
            times.record(1, 70, 1);
        }
        let mut duplicate = times.clone();
        duplicate.record(1, 70, 1);
        duplicate.turn_to(0);
        duplicate.record(1, 5, 1);
        assert_eq!((found(&times, 0), found(&times, 9)), (vec![(68, 71, 1)], vec![(68, 71, 1)]));
        assert_eq!(found(&duplicate, 0), [(5, 5, 1), (68, 71, 1)]);
        assert_eq!(found(&duplicate, 9), [(68, 71, 2)]);
    }

    #[test]
    fn times_longer_than_all_buckets_are_in_the_last() {
        let mut times = WindowTimes::new();
        times.turn_to(WINDOWS - 1);
        times.record(1, Nanos::MAX, 1);
        times.turn_to(0);
        assert_eq!(found(&times, WINDOWS - 1), [((1 << 50) - (1 << 45), (1 << 50) - 1, 1)]);
    }
}
