//! Sums over requests that took about as long, and of them those over the slowest.
//!
//! Times are told apart to three digits, as in the histograms of response times: every time below
//! 2048 ns by itself, above that 1024 parts of every power of two. A part gets its sums when the
//! first request falls into it; room for all (42,000 parts, 40 MiB of addresses) is there from the
//! start, and memory only where it is used.

use ftlab_engine::meter::{Cause, Counts};
use ftlab_engine::request::Stages;
use ftlab_engine::units::{Nanos, zeroed};

use super::in_front::Share;

/// Longest time that is told apart: 11 days, in ns. Longer ones count as this.
const LONGEST: Nanos = 1_000_000_000_000_000;

/// Parts that times are told apart by.
const PARTS: usize = part_of(LONGEST) + 1;

/// What is known of one request.
#[derive(Debug)]
pub(crate) struct Seen {
    /// System response time.
    pub response: Nanos,
    /// They sum to it.
    pub stages: Stages,
    /// Operations for it and in the idle gap before it.
    pub counts: Counts,
    /// Time that the flash worked likewise, by cause.
    pub work: [Nanos; Cause::COUNT],
    /// What was in front of it.
    pub ahead: Share,
}

/// Sums over some requests.
#[derive(Debug)]
pub(crate) struct Sums {
    /// How many.
    pub requests: u64,
    /// The shortest response of them; the largest number where there is none.
    pub shortest: Nanos,
    /// In the order of [`Stages::all`]; together the sum of all responses.
    pub stages: [u128; Stages::COUNT],
    /// Time that the flash worked, by cause.
    pub work: [u128; Cause::COUNT],
    /// Pages read, by cause.
    pub reads: [u64; Cause::COUNT],
    /// Pages programmed, by cause.
    pub programs: [u64; Cause::COUNT],
    /// Blocks erased, by cause.
    pub erases: [u64; Cause::COUNT],
    /// Look-ups of the cached map that missed.
    pub map_misses: u64,
    /// Full merges.
    pub full_merges: u64,
    /// Data blocks that they rebuilt.
    pub merged_data_blocks: u64,
    /// Requests in front, of each request.
    pub ahead_requests: u128,
    /// Time that the flash worked for those, by cause.
    pub ahead_work: [u128; Cause::COUNT],
}

fn add<A: Copy + Into<B>, B: std::ops::AddAssign, const N: usize>(
    sums: &mut [B; N],
    more: &[A; N],
) {
    sums.iter_mut().zip(more).for_each(|(sum, &one)| *sum += one.into());
}

impl Sums {
    /// Over none.
    pub fn new() -> Self {
        Sums {
            requests: 0,
            shortest: Nanos::MAX,
            stages: [0; Stages::COUNT],
            work: [0; Cause::COUNT],
            reads: [0; Cause::COUNT],
            programs: [0; Cause::COUNT],
            erases: [0; Cause::COUNT],
            map_misses: 0,
            full_merges: 0,
            merged_data_blocks: 0,
            ahead_requests: 0,
            ahead_work: [0; Cause::COUNT],
        }
    }

    fn take(&mut self, one: &Seen) {
        self.requests += 1;
        self.shortest = self.shortest.min(one.response);
        add(&mut self.stages, &one.stages.all());
        add(&mut self.work, &one.work);
        add(&mut self.reads, &one.counts.reads);
        add(&mut self.programs, &one.counts.programs);
        add(&mut self.erases, &one.counts.erases_by_cause);
        self.map_misses += one.counts.map_misses;
        self.full_merges += one.counts.full_merges;
        self.merged_data_blocks += one.counts.full_data_blocks;
        self.ahead_requests += u128::from(one.ahead.requests);
        add(&mut self.ahead_work, &one.ahead.work);
    }

    fn join(&mut self, other: &Sums) {
        self.requests += other.requests;
        self.shortest = self.shortest.min(other.shortest);
        add(&mut self.stages, &other.stages);
        add(&mut self.work, &other.work);
        add(&mut self.reads, &other.reads);
        add(&mut self.programs, &other.programs);
        add(&mut self.erases, &other.erases);
        self.map_misses += other.map_misses;
        self.full_merges += other.full_merges;
        self.merged_data_blocks += other.merged_data_blocks;
        self.ahead_requests += other.ahead_requests;
        add(&mut self.ahead_work, &other.ahead_work);
    }

    /// Sum of all responses.
    pub fn response(&self) -> u128 {
        self.stages.iter().sum()
    }
}

/// Which part a time belongs to; longer times to later parts.
const fn part_of(time: Nanos) -> usize {
    let time = if time < LONGEST { time } else { LONGEST };
    if time < 2048 {
        return time as usize;
    }
    let shift = 53 - time.leading_zeros() as usize;
    1024 * shift + (time >> shift) as usize
}

/// Sums by response time.
#[derive(Debug)]
pub(crate) struct ByTime {
    /// Of each part the place of its sums plus one; 0 where nothing fell into it.
    places: Vec<u32>,
    sums: Vec<Sums>,
    requests: u64,
}

impl ByTime {
    /// Over no request.
    pub fn new() -> Self {
        ByTime { places: zeroed(PARTS), sums: Vec::with_capacity(PARTS), requests: 0 }
    }

    /// Takes one request.
    pub fn take(&mut self, one: &Seen) {
        let place = &mut self.places[part_of(one.response)];
        if *place == 0 {
            self.sums.push(Sums::new());
            *place = self.sums.len() as u32;
        }
        self.sums[*place as usize - 1].take(one);
        self.requests += 1;
    }

    /// Sums over the slowest requests, at least `share` in a thousand of all, and with them all
    /// that took as long as the fastest of them.
    pub fn slowest(&self, share: u64) -> Sums {
        let wanted = (u128::from(self.requests) * u128::from(share)).div_ceil(1000);
        let mut sums = Sums::new();
        let used = self.places.iter().rev().filter_map(|place| place.checked_sub(1));
        for place in used {
            if u128::from(sums.requests) >= wanted {
                break;
            }
            sums.join(&self.sums[place as usize]);
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(response: Nanos) -> Seen {
        let stages = Stages { driver_queue: response / 3, ..Stages::default() };
        let stages = Stages { flash: response - response / 3, ..stages };
        let counts = Counts { map_misses: 1, ..Counts::default() };
        let (work, ahead) = ([2; Cause::COUNT], Share { requests: 3, work: [4; Cause::COUNT] });
        Seen { response, stages, counts, work, ahead }
    }

    #[test]
    fn times_fall_into_parts_of_a_thousandth() {
        assert_eq!((0..5000).map(part_of).filter(|&part| part < 2048).count(), 2048);
        let mut last = 0;
        for time in (0..200).map(|step| 1.17f64.powi(step) as Nanos) {
            let part = part_of(time);
            assert!(part >= last, "later parts are longer times");
            last = part;
            let same = (time..).take_while(|&more| more < 10_000 && part_of(more) == part).count();
            assert!(same as u64 <= time / 1000 + 1, "{time}: {same} times in a part");
        }
        // Neighbours across a power of two.
        let parts = [2047, 2048, 2049, 2050, 4095, 4096].map(part_of);
        assert_eq!(parts, [2047, 2048, 2048, 2049, 3071, 3072]);
        assert_eq!((part_of(LONGEST), part_of(Nanos::MAX)), (PARTS - 1, PARTS - 1));
    }

    /// A naive list beside it.
    #[test]
    fn the_slowest_are_those_of_a_sorted_list() {
        let mut by_time = ByTime::new();
        let room = by_time.sums.capacity();
        let mut times: Vec<Nanos> = (1..=1000).map(|number| number * 7919 % 1009 * 4000).collect();
        times.iter().for_each(|&time| by_time.take(&seen(time)));
        assert_eq!(by_time.sums.capacity(), room, "nothing is allocated");
        times.sort_unstable_by(|a, b| b.cmp(a));
        for (share, count) in [(1, 1), (10, 10), (1000, 1000)] {
            let sums = by_time.slowest(share);
            let slowest = &times[..count];
            assert_eq!((sums.requests, sums.shortest), (count as u64, slowest[count - 1]));
            assert_eq!(sums.response(), slowest.iter().map(|&time| u128::from(time)).sum());
            let queued = slowest.iter().map(|time| u128::from(time / 3)).sum::<u128>();
            assert_eq!((sums.stages[0], sums.map_misses), (queued, count as u64));
            assert_eq!((sums.ahead_requests, sums.work[5]), (3 * count as u128, 2 * count as u128));
        }
    }

    #[test]
    fn what_took_as_long_is_as_slow() {
        let mut by_time = ByTime::new();
        (0..1000).for_each(|_| by_time.take(&seen(700)));
        by_time.take(&seen(900));
        assert_eq!((by_time.slowest(1).requests, by_time.slowest(1).shortest), (1001, 700));
        by_time.take(&seen(800));
        assert_eq!((by_time.slowest(1).requests, by_time.slowest(1).shortest), (2, 800));
        assert_eq!(ByTime::new().slowest(10).requests, 0);
    }
}
