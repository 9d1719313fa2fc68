//! Response times: exact sums, and histograms of three significant digits.

use hdrhistogram::Histogram;

use crate::request::{Completion, Op, Stages};
use crate::units::Nanos;

/// Longest time that a histogram tells apart: 11 days, in ns. Longer ones count as this.
const LONGEST: Nanos = 1_000_000_000_000_000;

/// Times of one kind.
#[derive(Clone, Debug)]
pub struct LatencyStatistics {
    histogram: Histogram<u64>,
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
            histogram: Histogram::new_with_bounds(1, LONGEST, 3)
                .expect("1 ns to 11 days in three digits is a legal histogram"),
            sum: 0,
            sum_of_squares: 0,
            min: Nanos::MAX,
            max: 0,
        }
    }

    /// Takes one time, ns.
    #[inline]
    pub fn record(&mut self, time: Nanos) {
        self.histogram.saturating_record(time);
        self.sum += u128::from(time);
        self.sum_of_squares += u128::from(time) * u128::from(time);
        self.min = self.min.min(time);
        self.max = self.max.max(time);
    }

    fn reset(&mut self) {
        self.histogram.reset();
        (self.sum, self.sum_of_squares, self.min, self.max) = (0, 0, Nanos::MAX, 0);
    }

    /// Both together.
    pub fn plus(&self, other: &LatencyStatistics) -> LatencyStatistics {
        let mut sum = self.clone();
        sum.histogram += &other.histogram;
        sum.sum += other.sum;
        sum.sum_of_squares += other.sum_of_squares;
        sum.min = sum.min.min(other.min);
        sum.max = sum.max.max(other.max);
        sum
    }

    /// How many times were recorded.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Shortest and longest, ns; zero when there is none.
    pub fn range(&self) -> (Nanos, Nanos) {
        if self.count() == 0 { (0, 0) } else { (self.min, self.max) }
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
        if self.count() == 0 {
            0
        } else {
            self.histogram.value_at_percentile(percent).min(self.max)
        }
    }

    /// Time and how many were at most that long, ascending, one point a bucket.
    pub fn cumulative(&self) -> Vec<(Nanos, u64)> {
        let mut seen = 0;
        self.histogram
            .iter_recorded()
            .map(|bucket| {
                seen += bucket.count_since_last_iteration();
                (bucket.value_iterated_to().min(self.max), seen)
            })
            .collect()
    }
}

/// Times of reads and of writes: in the system, in the device, in the queue.
#[derive(Clone, Debug)]
pub struct LatencyMeter {
    read: [LatencyStatistics; 3],
    write: [LatencyStatistics; 3],
    stages: [u128; Stages::COUNT],
}

impl LatencyMeter {
    pub(super) fn new() -> Self {
        let three = || std::array::from_fn(|_| LatencyStatistics::new());
        LatencyMeter { read: three(), write: three(), stages: [0; Stages::COUNT] }
    }

    #[inline]
    pub(super) fn record(&mut self, op: Op, completion: &Completion) {
        let group = match op {
            Op::Read => &mut self.read,
            Op::Write => &mut self.write,
            // Trims and flushes have no place in the papers' response times.
            Op::Trim | Op::Flush => return,
        };
        let [system, device, queue] = group;
        system.record(completion.system());
        device.record(completion.device());
        queue.record(completion.queue());
        for (sum, time) in self.stages.iter_mut().zip(completion.stages.all()) {
            *sum += u128::from(time);
        }
    }

    pub(super) fn reset(&mut self) {
        self.read.iter_mut().chain(&mut self.write).for_each(LatencyStatistics::reset);
        self.stages.fill(0);
    }

    /// Sum of each stage over reads and writes, ns, in the order of [`Stages::all`].
    pub fn stages(&self) -> &[u128; Stages::COUNT] {
        &self.stages
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
