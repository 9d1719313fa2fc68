//! Algorithm 1's measurements: what delta and phi are made of, and the threshold theta.

use crate::adapt::settings::{AdaptSettings, EmptyDelta, PhiRound, ThresholdRule};
use ftlab_flash::board::Board;
use ftlab_flash::meter::Event;
use ftlab_flash::request::PageIo;
use ftlab_ftl::parts::request_size::{RequestSize, SizeRule};

/// Merges and allocations up to a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    cheap_merges: u64,
    allocations: u64,
}

impl Marks {
    /// Now.
    #[inline]
    pub fn of(board: &Board) -> Self {
        let merges = board.meter().merges();
        Marks {
            cheap_merges: merges.switch + merges.partial,
            allocations: board.meter().events(Event::SequentialLogOpens),
        }
    }
}

/// Counts of the present interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    /// Write requests.
    pub requests: u32,
    cheap_merges: u64,
    allocations: u64,
    full_merges: u64,
    merged_pages: u64,
}

impl Interval {
    /// What was merged and allocated since `before`; no measuring began in between.
    #[inline]
    pub fn add(&mut self, before: Marks, now: Marks) {
        self.cheap_merges += now.cheap_merges - before.cheap_merges;
        self.allocations += now.allocations - before.allocations;
    }

    /// A random log block was merged in full, with so many of its pages.
    pub fn full_merge(&mut self, pages: u32) {
        self.full_merges += 1;
        self.merged_pages += u64::from(pages);
    }

    /// Delta: switch and partial merges per allocation of a sequential log block, thousandths,
    /// rounded down; none if it is not defined. Merges of blocks that an earlier interval allocated
    /// count, so that it can exceed 1.
    pub fn delta_permille(&self, empty: EmptyDelta, last: Option<u64>) -> Option<u64> {
        match (self.allocations, empty) {
            (0, EmptyDelta::Undefined) => None,
            (0, EmptyDelta::Zero) => Some(0),
            (0, EmptyDelta::Last) => last,
            (allocations, _) => Some(self.cheap_merges * 1000 / allocations),
        }
    }

    /// Phi: pages merged per full merge of a random log block; none without one.
    pub fn phi_pages(&self, rounding: PhiRound) -> Option<u64> {
        let merges = self.full_merges;
        let whole = match rounding {
            PhiRound::Floor => self.merged_pages.checked_div(merges)?,
            PhiRound::Nearest => (2 * self.merged_pages + merges).checked_div(2 * merges)?,
            PhiRound::Ceil if merges == 0 => return None,
            PhiRound::Ceil => self.merged_pages.div_ceil(merges),
        };
        Some(whole)
    }
}

/// Theta: how large a request must be to be taken for sequential.
#[derive(Clone, Debug)]
pub struct Threshold {
    detector: RequestSize,
    low: u32,
    high: u32,
    rule: ThresholdRule,
}

impl Threshold {
    /// RAM: the threshold.
    pub const RAM_BYTES: u64 = RequestSize::RAM_BYTES;

    /// At its start.
    pub fn new(settings: &AdaptSettings, sectors_per_page: u32) -> Self {
        let AdaptSettings { theta0, theta_low, theta_high, seq_cmp, size_unit, .. } = *settings;
        let detector = RequestSize::new(theta0, seq_cmp.at(theta0, theta_low), false)
            .measured(size_unit, sectors_per_page);
        Threshold { detector, low: theta_low, high: theta_high, rule: seq_cmp }
    }

    /// Where it stands, pages.
    pub fn pages(&self) -> u32 {
        self.detector.threshold()
    }

    /// Whether the request of this page is sequential; asked once for every page written.
    #[inline]
    pub fn judge(&mut self, board: &mut Board, io: &PageIo) -> bool {
        self.detector.judge(board, io)
    }

    /// At its start again.
    pub fn forget(&mut self, settings: &AdaptSettings) {
        self.detector.forget();
        self.detector
            .set_threshold(settings.theta0, settings.seq_cmp.at(settings.theta0, self.low));
    }

    /// From its lower value to the higher one, from any other to the lower: from the next request
    /// on.
    pub fn flip(&mut self) {
        let theta = if self.pages() <= self.low { self.high } else { self.low };
        self.detector.set_threshold(theta, self.rule.at(theta, self.low));
    }
}

impl ThresholdRule {
    /// The comparison at a value of theta.
    fn at(self, theta: u32, low: u32) -> SizeRule {
        match self {
            ThresholdRule::Gt => SizeRule::Above,
            ThresholdRule::GtLowGeHigh if theta <= low => SizeRule::Above,
            ThresholdRule::GtLowGeHigh | ThresholdRule::Ge => SizeRule::AtLeast,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_flash::request::RequestShape;
    use ftlab_flash::units::Lpn;

    fn interval(cheap: u64, allocated: u64, victims: &[u32]) -> Interval {
        let mut interval = Interval::default();
        let now = Marks { cheap_merges: cheap + 7, allocations: allocated + 9 };
        interval.add(Marks { cheap_merges: 7, allocations: 9 }, now);
        victims.iter().for_each(|&pages| interval.full_merge(pages));
        interval
    }

    #[test]
    fn delta_is_merges_per_allocation_and_open_without_one() {
        let delta = |interval: Interval, empty| interval.delta_permille(empty, Some(77));
        assert_eq!(delta(interval(2, 5, &[]), EmptyDelta::Undefined), Some(400));
        assert_eq!(delta(interval(1, 3, &[]), EmptyDelta::Undefined), Some(333));
        assert_eq!(delta(interval(3, 0, &[]), EmptyDelta::Undefined), None);
        assert_eq!(delta(interval(3, 0, &[]), EmptyDelta::Zero), Some(0));
        assert_eq!(delta(interval(3, 0, &[]), EmptyDelta::Last), Some(77));
    }

    #[test]
    fn phi_is_pages_per_full_merge_by_every_rounding() {
        let phi = |victims: &[u32]| {
            [PhiRound::Floor, PhiRound::Nearest, PhiRound::Ceil]
                .map(|rounding| interval(0, 0, victims).phi_pages(rounding))
        };
        assert_eq!(phi(&[]), [None; 3]);
        assert_eq!(phi(&[3, 4]), [Some(3), Some(4), Some(4)]);
        assert_eq!(phi(&[3, 3, 4]), [Some(3), Some(3), Some(4)]);
        assert_eq!(phi(&[2, 2]), [Some(2); 3]);
    }

    #[test]
    fn theta_flips_between_its_values_and_compares_as_set() {
        let with = |seq_cmp| Threshold::new(&AdaptSettings { seq_cmp, ..Default::default() }, 4);
        let least = |threshold: &Threshold| {
            let is_long = |&pages: &u32| {
                let sectors = 4 * pages;
                threshold.detector.is_long(&RequestShape {
                    first_lpn: Lpn(0),
                    pages,
                    index: 0,
                    sectors,
                    hint: None,
                })
            };
            (1..99).find(is_long).expect("some are sequential")
        };
        for (rule, low, high) in [
            (ThresholdRule::GtLowGeHigh, 3, 32),
            (ThresholdRule::Gt, 3, 33),
            (ThresholdRule::Ge, 2, 32),
        ] {
            let mut threshold = with(rule);
            assert_eq!((threshold.pages(), least(&threshold)), (2, low));
            threshold.flip();
            assert_eq!((threshold.pages(), least(&threshold)), (32, high));
            threshold.flip();
            assert_eq!(threshold.pages(), 2);
        }
    }
}
