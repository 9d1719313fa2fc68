//! Response times: exact sums, and histograms of three significant digits.

use std::borrow::Cow;

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
    /// The time recorded last and how often it came in a row, which is in none of the above yet:
    /// many are as long as the one before.
    repeated: (Nanos, u64),
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
            repeated: (0, 0),
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
        if time != self.repeated.0 {
            self.settle();
            self.repeated.0 = time;
        }
        self.repeated.1 += count;
    }

    fn settle(&mut self) {
        let (time, count) = std::mem::take(&mut self.repeated);
        if count == 0 {
            return;
        }
        self.histogram.saturating_record_n(time, count);
        let (wide, many) = (u128::from(time), u128::from(count));
        self.sum += wide * many;
        self.sum_of_squares += wide * wide * many;
        self.min = self.min.min(time);
        self.max = self.max.max(time);
    }

    /// With everything in its place.
    fn settled(&self) -> Cow<'_, Self> {
        if self.repeated.1 == 0 {
            return Cow::Borrowed(self);
        }
        let mut settled = self.clone();
        settled.settle();
        Cow::Owned(settled)
    }

    fn reset(&mut self) {
        self.histogram.reset();
        (self.sum, self.sum_of_squares, self.min, self.max) = (0, 0, Nanos::MAX, 0);
        self.repeated = (0, 0);
    }

    /// Both together.
    pub fn plus(&self, other: &LatencyStatistics) -> LatencyStatistics {
        let (mut sum, other) = (self.settled().into_owned(), other.settled());
        sum.histogram += &other.histogram;
        sum.sum += other.sum;
        sum.sum_of_squares += other.sum_of_squares;
        sum.min = sum.min.min(other.min);
        sum.max = sum.max.max(other.max);
        sum
    }

    /// How many times were recorded.
    pub fn count(&self) -> u64 {
        self.histogram.len() + self.repeated.1
    }

    /// Shortest and longest, ns; zero when there is none.
    pub fn range(&self) -> (Nanos, Nanos) {
        match (self.count(), self.repeated) {
            (0, _) => (0, 0),
            (_, (_, 0)) => (self.min, self.max),
            (_, (time, _)) => (self.min.min(time), self.max.max(time)),
        }
    }

    /// Sum of all, ns.
    pub fn sum(&self) -> u128 {
        let (time, count) = self.repeated;
        self.sum + u128::from(time) * u128::from(count)
    }

    /// Sum of the squares, ns squared.
    pub fn sum_of_squares(&self) -> u128 {
        let (time, count) = self.repeated;
        self.sum_of_squares + u128::from(time) * u128::from(time) * u128::from(count)
    }

    /// The time that `percent` of all do not exceed, ns, to three digits.
    pub fn percentile(&self, percent: f64) -> Nanos {
        if self.count() == 0 {
            return 0;
        }
        let all = self.settled();
        all.histogram.value_at_percentile(percent).min(all.max)
    }

    /// Time and how many were at most that long, ascending, one point a bucket.
    pub fn cumulative(&self) -> Vec<(Nanos, u64)> {
        let all = self.settled();
        let mut seen = 0;
        all.histogram
            .iter_recorded()
            .map(|bucket| {
                seen += bucket.count_since_last_iteration();
                (bucket.value_iterated_to().min(all.max), seen)
            })
            .collect()
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
