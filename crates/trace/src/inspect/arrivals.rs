//! Time between requests: mean, variation and a histogram with logarithmic bins.

use serde::Serialize;

/// Bins of an octave, as a power of two.
const BINS_LOG2: u32 = 2;

/// Time from each request to the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Interarrival {
    /// Requests but the first.
    pub gaps: u64,
    /// Gaps of 0: the request came together with the one before.
    pub zero_gaps: u64,
    /// Longest, in nanoseconds.
    pub max_ns: u64,
    /// Standard deviation, in nanoseconds.
    pub stddev_ns: f64,
    /// Coefficient of variation: standard deviation by mean. 0 where requests come evenly, 1 for a
    /// Poisson process, more where they come in bursts; 0 where all come at once.
    pub cv: f64,
    /// Gaps above 0 by length: bins that are not empty, four an octave.
    pub bins: Vec<GapBin>,
}

/// One bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct GapBin {
    /// Shortest gap of the bin, in nanoseconds.
    pub from_ns: u64,
    /// Longest gap of the bin, in nanoseconds.
    pub to_ns: u64,
    /// Gaps in it.
    pub gaps: u64,
}

/// What is counted while requests go by.
pub(super) struct Arrivals {
    latest_ns: Option<u64>,
    gaps: u64,
    zero_gaps: u64,
    max_ns: u64,
    mean: f64,
    /// Sum of squared deviations from the mean (Welford).
    squares: f64,
    bins: [u64; 64 << BINS_LOG2],
}

impl Arrivals {
    /// Before the first request.
    pub fn new() -> Self {
        Self {
            latest_ns: None,
            gaps: 0,
            zero_gaps: 0,
            max_ns: 0,
            mean: 0.0,
            squares: 0.0,
            bins: [0; 64 << BINS_LOG2],
        }
    }

    /// A request comes; never before the one before.
    #[inline]
    pub fn note(&mut self, time_ns: u64) {
        let Some(latest) = self.latest_ns.replace(time_ns) else {
            return;
        };
        let gap = time_ns - latest;
        self.gaps += 1;
        self.max_ns = self.max_ns.max(gap);
        let off = gap as f64 - self.mean;
        self.mean += off / self.gaps as f64;
        self.squares += off * (gap as f64 - self.mean);
        match gap {
            0 => self.zero_gaps += 1,
            _ => self.bins[bin_of(gap)] += 1,
        }
    }

    /// What was found.
    pub fn report(&self) -> Interarrival {
        let stddev_ns = (self.squares / self.gaps.max(1) as f64).sqrt();
        let bins = (0..self.bins.len()).filter(|bin| self.bins[*bin] > 0).map(|bin| GapBin {
            from_ns: start_of(bin),
            to_ns: end_of(bin),
            gaps: self.bins[bin],
        });
        Interarrival {
            gaps: self.gaps,
            zero_gaps: self.zero_gaps,
            max_ns: self.max_ns,
            stddev_ns,
            cv: if self.mean > 0.0 { stddev_ns / self.mean } else { 0.0 },
            bins: bins.collect(),
        }
    }
}

/// The octave, then its quarter; octaves below 4 have a bin per number.
fn bin_of(gap: u64) -> usize {
    let octave = gap.ilog2();
    let part = (gap << (63 - octave) >> (63 - BINS_LOG2)) & ((1 << BINS_LOG2) - 1);
    ((octave << BINS_LOG2) + part as u32) as usize
}

/// Smallest number of a bin; of bins of no number, that of the next one that has some.
fn start_of(bin: usize) -> u64 {
    let (octave, part) = (bin as u32 >> BINS_LOG2, bin as u64 & ((1 << BINS_LOG2) - 1));
    let whole = u128::from((1 << BINS_LOG2) + part) << octave;
    u64::try_from(whole.div_ceil(1 << BINS_LOG2)).unwrap_or(u64::MAX)
}

fn end_of(bin: usize) -> u64 {
    let next = start_of(bin + 1);
    if bin + 1 == 64 << BINS_LOG2 { u64::MAX } else { next - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_cover_every_number_once() {
        let mut known: Vec<(u64, u64)> = Vec::new();
        let near = |bit: u32| (0..3).flat_map(move |n| [(1u64 << bit) + n, (1u64 << bit) - n]);
        let numbers = (1..2000).chain((3..64).flat_map(near)).chain([u64::MAX - 1, u64::MAX]);
        for number in numbers {
            let bin = bin_of(number);
            let (from, to) = (start_of(bin), end_of(bin));
            assert!((from..=to).contains(&number), "{number} in {from} to {to}");
            assert!(number < 16 || to - from <= from / 4, "{from} to {to} is wide");
            known.push((from, to));
        }
        known.sort_unstable();
        known.dedup();
        for pair in known.windows(2) {
            assert!(pair[0].1 < pair[1].0, "{pair:?}");
        }
    }

    #[test]
    fn a_few_gaps_by_hand() {
        let mut arrivals = Arrivals::new();
        for time in [0, 10, 20, 20, 60] {
            arrivals.note(time);
        }
        let found = arrivals.report();
        assert_eq!((found.gaps, found.zero_gaps, found.max_ns), (4, 1, 40));
        // Mean 15, deviations -5 -5 -15 25: variance 900 / 4.
        assert_eq!((found.stddev_ns, found.cv), (15.0, 1.0));
        let bin = |from_ns, to_ns, gaps| GapBin { from_ns, to_ns, gaps };
        assert_eq!(found.bins, [bin(10, 11, 2), bin(40, 47, 1)]);
    }

    #[test]
    fn even_arrivals_do_not_vary_and_one_request_has_no_gap() {
        let mut even = Arrivals::new();
        (0..1000).for_each(|n| even.note(n * 7));
        assert_eq!(even.report().cv, 0.0);
        let mut one = Arrivals::new();
        one.note(5);
        assert_eq!(one.report(), Interarrival::default());
    }
}
