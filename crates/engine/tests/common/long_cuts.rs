//! Cuts at chosen operations of a long run. The run is made once, to learn to which request every
//! operation belongs, and a second time, in which a duplicate of the device is cut at each of them:
//! what comes before a cut is run twice, however many cuts there are.

use super::cuts::{Bench, Case, Cuts, Keeps};
use ftlab_engine::board::nand::fault::CutOutcome;
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::config::Config;
use ftlab_engine::ssd::Device;

/// Requests behind a cut, so that two gaps and their work come.
const BEHIND: usize = 18;

/// A run that is cut.
pub struct Long<'a> {
    /// Scheme, and what it keeps.
    pub variant: (&'a str, Keeps),
    /// What failures are called.
    pub name: &'a str,
    pub config: &'a Config,
    pub seed: u64,
    /// Its length.
    pub requests: usize,
}

impl Long<'_> {
    fn bench(&self) -> Bench<'_> {
        let lengths = (self.requests, BEHIND);
        Bench::long(self.variant, self.config, self.seed, lengths, self.name)
    }

    /// How many programs and erases there were when each request was done. `seen` is told of the
    /// flash operations of each request.
    pub fn ends(&self, mut seen: impl FnMut(&dyn Device, &[Operation])) -> Vec<u64> {
        let mut bench = self.bench();
        bench.device.board_mut().nand_mut().record_mut().start();
        let mut ends = Vec::with_capacity(self.requests);
        let mut operations = 0;
        for _ in 0..self.requests {
            assert!(!bench.is_cut_in_next_request(), "{}: nobody asked for a cut", self.name);
            let record = bench.device.board_mut().nand_mut().record_mut();
            let done = record.take();
            record.start();
            let is_one = |one: &&Operation| !matches!(one, Operation::Read(..));
            operations += done.iter().filter(is_one).count() as u64;
            seen(bench.device.as_ref(), &done);
            ends.push(operations);
        }
        ends
    }

    /// Cuts once, and then once more at each of so many programs and erases that follow. How many
    /// blocks were free behind the first cut.
    pub fn cut_twice(&self, case: Case, behind: usize, again: u64) -> u32 {
        let lengths = (self.requests, behind);
        let mut bench = Bench::long(self.variant, self.config, self.seed, lengths, self.name);
        for _ in 0..case.warm_up {
            assert!(!bench.is_cut_in_next_request(), "{}: nobody asked for a cut", self.name);
        }
        bench.cut_after(case.cut, case.outcome);
        assert!(bench.is_cut_in_next_request(), "{}: no such operation: {case:?}", self.name);
        let _ = bench.duplicate().go_on(case);
        let free = bench.recover_and_adopt();
        for operations in 0..again {
            let mut one = bench.duplicate();
            one.cut_after(operations, case.outcome);
            while !one.is_cut_in_next_request() {}
            let _ = one.go_on(Case { cut: operations, ..case });
        }
        free
    }

    /// Cuts at each of `points`, ascending numbers of programs and erases from 0 on, with an
    /// outcome each in turns. Of every seventh the recovery is cut as well, at its first operations
    /// and at ever rarer ones. `ends` as [`Long::ends`] tells.
    pub fn cut_at(&self, points: &[u64], ends: &[u64]) -> Cuts {
        let mut bench = self.bench();
        let mut points = points.iter().copied().enumerate().peekable();
        let (mut all, mut begun) = (Cuts::default(), 0);
        for (request, &end) in ends.iter().enumerate() {
            while let Some((turn, cut)) = points.next_if(|&(_, point)| point < end) {
                let outcome = CutOutcome::ALL[turn % 3];
                let (seed, within) = (self.seed, cut - begun);
                let case = Case { seed, warm_up: request, cut: within, outcome, recut: None };
                let mut one = bench.duplicate();
                one.cut_after(within, outcome);
                let name = self.name;
                assert!(one.is_cut_in_next_request(), "{name}: no operation {cut} in {request}");
                if turn.is_multiple_of(7) {
                    let points = (0..).map(|power: u32| (1u64 << power) - 1);
                    let recuts = points.map(|again| Case { recut: Some(again), ..case });
                    let recuts = recuts.take_while(|&again| one.duplicate().go_on(again)).count();
                    all.recuts += recuts as u64;
                }
                all += one.cuts;
                let _ = one.go_on(case);
            }
            assert!(!bench.is_cut_in_next_request(), "{}: nobody asked for a cut", self.name);
            begun = end;
        }
        all
    }
}

/// `count` different numbers from 0 to below `length` (all of them where there are not so many),
/// each by about the same factor larger than the one before it.
pub fn log_spaced(count: u64, length: u64) -> Vec<u64> {
    let mut points: Vec<u64> = Vec::with_capacity(count as usize);
    for number in 0..count.min(length) {
        let left = (count.min(length) - 1).max(1);
        let point = (length as f64).powf(number as f64 / left as f64).round() as u64 - 1;
        // Where whole numbers are further apart than the factor says, all of them are taken.
        let next = points.last().map_or(0, |last| last + 1);
        points.push(point.max(next).min(length - 1 - (left - number.min(left))));
    }
    points
}

#[test]
fn points_are_different_ascend_and_end_with_the_run() {
    let points = log_spaced(10, 1_000_000);
    assert_eq!(points, [0, 4, 21, 99, 463, 2153, 9999, 46415, 215442, 999_999]);
    assert_eq!(log_spaced(7, 7), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(log_spaced(9, 3), [0, 1, 2]);
    let dense = log_spaced(1000, 5000);
    assert_eq!(dense.len(), 1000);
    assert!(dense.is_sorted_by(|one, other| one < other) && dense[999] < 5000);
}
