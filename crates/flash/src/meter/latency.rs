//! Response times: exact sums, and histograms of three significant digits.

use super::buckets::{bounds, bucket};
use super::groups::Groups;
use crate::request::{Completion, Op, Stages};
use crate::units::Nanos;

/// Longest time that a histogram tells apart: 11 days, in ns. Longer ones count as this.
const LONGEST: Nanos = 1_000_000_000_000_000;

/// An octave has 1024 buckets: three significant digits.
const FINE_BITS: u32 = 10;

/// Groups of an octave: times of one kind differ little, and what is not used need not be
/// duplicated.
const GROUPS_OF_OCTAVE: usize = 4;

/// Buckets of a group.
const OF_GROUP: usize = (1 << FINE_BITS) / GROUPS_OF_OCTAVE;

/// Groups up to that of the longest time.
const GROUPS: usize = (LONGEST.ilog2() as usize - FINE_BITS as usize + 2) * GROUPS_OF_OCTAVE;

/// Times of one kind.
#[derive(Clone, Debug)]
pub struct LatencyStatistics {
    histogram: Groups<OF_GROUP, GROUPS>,
    /// How many are in the histogram.
    count: u64,
    sum: u128,
    sum_of_squares: u128,
    min: Nanos,
    max: Nanos,
}

impl Default for LatencyStatistics {
    /// Nothing recorded.
    fn default() -> Self {
        LatencyStatistics::new()
    }
}

impl LatencyStatistics {
    fn new() -> Self {
        LatencyStatistics {
            histogram: Groups::new(),
            count: 0,
            sum: 0,
            sum_of_squares: 0,
            min: Nanos::MAX,
            max: 0,
        }
    }

    /// Takes one time, ns.
    #[inline]
    pub fn record(&mut self, time: Nanos) {
        self.record_often(time, 1);
    }

    /// Takes one time, ns, so often.
    #[inline]
    fn record_often(&mut self, time: Nanos, count: u64) {
        let bucket = bucket(FINE_BITS, time.min(LONGEST));
        self.histogram.group_mut(bucket / OF_GROUP)[bucket % OF_GROUP] += count;
        self.count += count;
        let (wide, many) = (u128::from(time), u128::from(count));
        self.sum += wide * many;
        self.sum_of_squares += wide * wide * many;
        self.min = self.min.min(time);
        self.max = self.max.max(time);
    }

    fn reset(&mut self) {
        self.histogram.clear();
        self.count = 0;
        (self.sum, self.sum_of_squares, self.min, self.max) = (0, 0, Nanos::MAX, 0);
    }

    /// Both together.
    pub fn plus(&self, other: &LatencyStatistics) -> LatencyStatistics {
        let mut sum = self.clone();
        for (group, counts) in other.histogram.used() {
            let sums = sum.histogram.group_mut(group).iter_mut();
            sums.zip(counts).for_each(|(sum, count)| *sum += count);
        }
        sum.count += other.count;
        sum.sum += other.sum;
        sum.sum_of_squares += other.sum_of_squares;
        sum.min = sum.min.min(other.min);
        sum.max = sum.max.max(other.max);
        sum
    }

    /// How many times were recorded.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Shortest and longest, ns; zero when there is none.
    pub fn range(&self) -> (Nanos, Nanos) {
        if self.count == 0 { (0, 0) } else { (self.min, self.max) }
    }

    /// Sum of all, ns.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Sum of the squares, ns squared.
    pub fn sum_of_squares(&self) -> u128 {
        self.sum_of_squares
    }

    /// The time that `percent` of all do not exceed, ns, to three digits.
    pub fn percentile(&self, percent: f64) -> Nanos {
        let wanted = (percent / 100.0 * self.count as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        let reaches = |&(_, count): &(Nanos, u64)| {
            seen += count;
            seen >= wanted
        };
        self.recorded().find(reaches).map_or(0, |(time, _)| time)
    }

    /// Time and how many were at most that long, ascending, one point a bucket.
    pub fn cumulative(&self) -> Vec<(Nanos, u64)> {
        let mut seen = 0;
        let sum_up = |(time, count)| {
            seen += count;
            (time, seen)
        };
        self.recorded().map(sum_up).collect()
    }

    /// Of each bucket that is not empty, ascending: its longest time, and how many are in it.
    fn recorded(&self) -> impl Iterator<Item = (Nanos, u64)> {
        let counts = self.histogram.used().flat_map(|(group, counts)| {
            counts.iter().enumerate().map(move |(fine, &count)| (group * OF_GROUP + fine, count))
        });
        let longest = |bucket| bounds(FINE_BITS, bucket).1.min(self.max);
        counts.filter(|&(_, count)| count > 0).map(move |(bucket, count)| (longest(bucket), count))
    }
}

/// Times of reads and of writes: in the system, in the device, in the queue.
#[derive(Clone, Debug)]
pub struct LatencyMeter {
    read: [LatencyStatistics; 3],
    write: [LatencyStatistics; 3],
    /// Sums of the stages, without those of the last requests.
    stages: [u128; Stages::COUNT],
    /// Sums of the last requests, and how many those are.
    recent: ([Nanos; Stages::COUNT], u32),
}

/// Requests whose stages are summed in 64 bits, and how long they may be for that.
const RECENT: u32 = 1 << 16;
const SHORT: Nanos = 1 << 47;

impl LatencyMeter {
    pub(super) fn new() -> Self {
        let three = || std::array::from_fn(|_| LatencyStatistics::new());
        LatencyMeter {
            read: three(),
            write: three(),
            stages: [0; Stages::COUNT],
            recent: Default::default(),
        }
    }

    /// So many requests that went alike.
    #[inline]
    pub(super) fn record(&mut self, op: Op, completion: &Completion, count: u32) {
        let group = match op {
            Op::Read => &mut self.read,
            Op::Write => &mut self.write,
            // Trims and flushes have no place in the papers' response times.
            Op::Trim | Op::Flush => return,
        };
        let [system, device, queue] = group;
        let many = u64::from(count);
        system.record_often(completion.system(), many);
        device.record_often(completion.device(), many);
        queue.record_often(completion.queue(), many);
        if completion.system() < SHORT && self.recent.1 + count <= RECENT {
            for (sum, time) in self.recent.0.iter_mut().zip(completion.stages.all()) {
                *sum += many * time;
            }
            self.recent.1 += count;
        } else {
            self.sum_up(&completion.stages, count);
        }
    }

    #[cold]
    fn sum_up(&mut self, stages: &Stages, count: u32) {
        for (sum, time) in self.stages.iter_mut().zip(stages.all()) {
            *sum += u128::from(count) * u128::from(time);
        }
        for (sum, recent) in self.stages.iter_mut().zip(self.recent.0) {
            *sum += u128::from(recent);
        }
        self.recent = Default::default();
    }

    pub(super) fn reset(&mut self) {
        self.read.iter_mut().chain(&mut self.write).for_each(LatencyStatistics::reset);
        self.stages.fill(0);
        self.recent = Default::default();
    }

    /// Sum of each stage over reads and writes, ns, in the order of [`Stages::all`].
    pub fn stages(&self) -> [u128; Stages::COUNT] {
        std::array::from_fn(|stage| self.stages[stage] + u128::from(self.recent.0[stage]))
    }

    /// Of reads: system, device, queue.
    pub fn read(&self) -> &[LatencyStatistics; 3] {
        &self.read
    }

    /// Of writes: system, device, queue.
    pub fn write(&self) -> &[LatencyStatistics; 3] {
        &self.write
    }

    /// Of reads and writes together: system, device, queue.
    pub fn all(&self) -> [LatencyStatistics; 3] {
        std::array::from_fn(|i| self.read[i].plus(&self.write[i]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times of all sizes, many of them equal, and some beyond what is told apart.
    fn times() -> Vec<Nanos> {
        let mut state = 7_u64;
        let next = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 15) >> (state % 48)
        };
        (0..5_000).map(next).chain([0, 0, 1, 5, 5, 5, LONGEST, LONGEST + 1, 1 << 60]).collect()
    }

    #[test]
    fn percentiles_are_those_of_the_sorted_times_to_three_digits() {
        let mut statistics = LatencyStatistics::new();
        let mut sorted = times();
        sorted.iter().for_each(|&time| statistics.record(time));
        sorted.sort_unstable();
        for percent in [0.0, 0.01, 1.0, 10.0, 50.0, 90.0, 99.0, 99.9] {
            let rank = (percent / 100.0 * sorted.len() as f64).ceil().max(1.0) as usize;
            let (exact, told) = (sorted[rank - 1], statistics.percentile(percent));
            assert!(exact <= told && told - exact <= exact / 1024, "{percent}: {exact}, {told}");
        }
        let (longest, _) = bounds(FINE_BITS, bucket(FINE_BITS, LONGEST));
        assert!(statistics.percentile(100.0) >= longest, "longer ones count as the longest");
        let (last, all) = *statistics.cumulative().last().unwrap();
        assert_eq!((last, all), (statistics.percentile(100.0), sorted.len() as u64));
        assert_eq!(statistics.sum(), sorted.iter().map(|&time| u128::from(time)).sum());
    }

    #[test]
    fn both_together_are_as_if_one_had_taken_all() {
        let mut parts = [LatencyStatistics::new(), LatencyStatistics::new()];
        let mut whole = LatencyStatistics::new();
        for (number, time) in times().into_iter().enumerate() {
            parts[number % 2].record(time);
            whole.record(time);
        }
        let both = parts[0].plus(&parts[1]);
        assert_eq!(both.cumulative(), whole.cumulative());
        assert_eq!((both.count(), both.range()), (whole.count(), whole.range()));
        whole.reset();
        assert_eq!((whole.count(), whole.percentile(50.0), whole.cumulative()), (0, 0, vec![]));
    }

    #[test]
    fn sums_and_the_range_are_of_all_times() {
        let mut statistics = LatencyStatistics::new();
        assert_eq!((statistics.range(), statistics.sum_of_squares()), ((0, 0), 0));
        [7, 7].into_iter().for_each(|time| statistics.record(time));
        assert_eq!((statistics.range(), statistics.sum_of_squares()), ((7, 7), 98));
        [3, 3, 3, 5, 5].into_iter().for_each(|time| statistics.record(time));
        let squares = 2 * 49 + 3 * 9 + 2 * 25;
        assert_eq!((statistics.range(), statistics.sum_of_squares()), ((3, 7), squares));
        assert_eq!((statistics.count(), statistics.sum()), (7, 33));
        let both = statistics.plus(&LatencyStatistics::new());
        assert_eq!((both.range(), both.sum_of_squares()), ((3, 7), squares));
    }

    /// So many requests that spent so long in the flash and nothing elsewhere; the sum of each
    /// stage behind every one of them.
    fn stages(requests: &[(Nanos, u32)]) -> Vec<u128> {
        let mut meter = LatencyMeter::new();
        let summed = |&(flash, count): &(Nanos, u32)| {
            let stages = Stages { flash, ..Stages::default() };
            let done =
                Completion { arrival: 0, admitted: 0, completed: flash, stages, unreadable: None };
            meter.record(Op::Read, &done, count);
            let [.., sum, channel] = meter.stages();
            assert_eq!(channel, 0);
            sum
        };
        requests.iter().map(summed).collect()
    }

    /// Short ones are summed in 64 bits, as many as these hold, long ones and what has been summed
    /// so far in more.
    #[test]
    fn stages_are_summed_whatever_their_sum_is() {
        assert_eq!(
            stages(&[(3, 2), (5, 4), (1 << 50, 3), (7, 1)]),
            [6, 26, 26 + (3 << 50), 33 + (3 << 50)]
        );
        assert_eq!(stages(&[(1 << 62, 4)]), [1 << 64], "one is too long");
        assert_eq!(stages(&[(1 << 46, 1 << 18)]), [1 << 64], "they are too many");
        let full = [((1_u64 << 46), 1 << 16); 5];
        let sums: Vec<u128> = (1..=5).map(|times| times << 62).collect();
        assert_eq!(stages(&full), sums, "they become too many");
    }
}
