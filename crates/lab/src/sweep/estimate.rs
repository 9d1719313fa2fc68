//! How long a sweep will take: the first run of each scheme is begun and timed for a moment.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::observer::{Counts, Observer, Silent, Task, Work};
use crate::sweep::plan::Run;
use crate::sweep::running::{Asked, simulate};

/// All schemes together are timed for so long.
const IN_ALL: Duration = Duration::from_secs(6);
/// A scheme at most for so long.
const EACH: Duration = Duration::from_secs(2);
/// Requests, pages and records of a scheme at most: far more than are made in that time, for clocks
/// that stand still. Bytes are none: a file has an end.
const STEPS_MAX: u64 = 1 << 25;

/// What a sweep will take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Seconds of one core.
    pub seconds: f64,
    /// Whether it may well be more: something that was begun did not say how long it is.
    pub at_least: bool,
}

impl Asked<'_> {
    /// Times the first run of each scheme for a moment, and takes it for all runs of that scheme;
    /// what they share is counted as often as it is made. It is a guess: runs of other sizes take
    /// other times.
    #[must_use]
    pub fn estimate(&self) -> Estimate {
        let mut schemes: BTreeMap<String, Vec<&Run>> = BTreeMap::new();
        for one in &self.wanted {
            schemes.entry(one.run.experiment.schemes.to_string()).or_default().push(one.run);
        }
        let limit = EACH.min(IN_ALL / schemes.len().max(1) as u32);
        let mut all = Estimate { seconds: 0.0, at_least: false };
        for runs in schemes.values() {
            let (preparing, one) = timed(runs[0], limit);
            let devices: BTreeSet<&str> =
                runs.iter().filter_map(|run| run.device.as_deref()).collect();
            let alone = runs.iter().filter(|run| run.device.is_none()).count();
            all.seconds += preparing * (devices.len() + alone) as f64;
            all.seconds += (one.seconds - preparing) * runs.len() as f64;
            all.at_least |= one.at_least;
        }
        all
    }
}

/// What one run takes, and how much of that passes before it is measured; one that fails takes as
/// long as it took to fail.
fn timed(run: &Run, limit: Duration) -> (f64, Estimate) {
    let watch = Stopwatch::new(limit);
    let finished = simulate(run, &watch);
    let took = watch.began.elapsed().as_secs_f64();
    let all = match finished {
        Err(crate::error::Error::Cancelled(_)) => watch.extrapolated(took),
        _ => Estimate { seconds: took, at_least: false },
    };
    let last = *watch.last();
    let preparing =
        last.filter(|_| run.device.is_some()).map_or(0.0, |piece| match piece.prepares {
            true => all.seconds,
            false => (piece.began - watch.began).as_secs_f64(),
        });
    (preparing, all)
}

/// Ends a run after some time, and knows how far it was.
struct Stopwatch {
    began: Instant,
    limit: Duration,
    /// All steps of all work so far.
    steps: AtomicU64,
    /// The last piece of work that counts requests.
    last: Mutex<Option<Piece>>,
}

#[derive(Clone, Copy)]
struct Piece {
    began: Instant,
    length: Option<u64>,
    done: u64,
    prepares: bool,
}

impl Stopwatch {
    fn new(limit: Duration) -> Self {
        let (began, steps) = (Instant::now(), AtomicU64::new(0));
        Stopwatch { began, limit, steps, last: Mutex::new(None) }
    }

    fn last(&self) -> MutexGuard<'_, Option<Piece>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the whole run would take: what was done by now, and the rest of what was begun.
    fn extrapolated(&self, took: f64) -> Estimate {
        let Some(piece) = *self.last() else { return Estimate { seconds: took, at_least: true } };
        let own = piece.began.elapsed().as_secs_f64();
        match piece.length.filter(|_| piece.done > 0) {
            Some(length) => Estimate {
                seconds: took - own + own * (length.max(piece.done) as f64 / piece.done as f64),
                // No time passed: the clock stands still, or is too coarse.
                at_least: piece.prepares || own == 0.0,
            },
            None => Estimate { seconds: took, at_least: true },
        }
    }
}

impl Observer for Stopwatch {
    fn begins<'a>(&'a self, work: &Work<'_>) -> Box<dyn Task + 'a> {
        match work.counts {
            Counts::Requests => {
                let prepares = work.label.ends_with("(preparing)");
                let length = work.length;
                *self.last() = Some(Piece { began: Instant::now(), length, done: 0, prepares });
                Box::new(Requests(self))
            }
            Counts::Bytes => Box::new(Bytes(self)),
            _ => Box::new(Other(self)),
        }
    }
}

struct Requests<'a>(&'a Stopwatch);

impl Task for Requests<'_> {
    fn advance(&self, count: u64) -> ControlFlow<()> {
        if let Some(piece) = self.0.last().as_mut() {
            piece.done += count;
        }
        Other(self.0).advance(count)
    }
}

struct Bytes<'a>(&'a Stopwatch);

impl Task for Bytes<'_> {
    fn advance(&self, _: u64) -> ControlFlow<()> {
        Other(self.0).advance(0)
    }
}

struct Other<'a>(&'a Stopwatch);

impl Task for Other<'_> {
    fn advance(&self, count: u64) -> ControlFlow<()> {
        let steps = self.0.steps.fetch_add(count, Ordering::Relaxed) + count;
        match steps > STEPS_MAX || self.0.began.elapsed() > self.0.limit {
            true => ControlFlow::Break(()),
            false => Silent.advance(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;
    use crate::sweep::definition::Definition;
    use crate::sweep::folder::Contents;

    /// A watch on which no time passes ends a run nevertheless, and claims nothing.
    #[test]
    fn a_clock_that_stands_still_ends_an_estimate() {
        let watch = Stopwatch::new(Duration::MAX);
        let work = Work { label: "dftl", length: Some(1 << 40), counts: Counts::Requests };
        let task = watch.begins(&work);
        let ended = (0..=STEPS_MAX).step_by(1 << 20).find(|_| task.advance(1 << 20).is_break());
        assert_eq!(ended, Some(STEPS_MAX));
        drop(task);
        let mut last = watch.last().expect("work had begun");
        // It began just now, whenever that is.
        last.began = Instant::now() + Duration::from_secs(60);
        *watch.last() = Some(last);
        assert_eq!(watch.extrapolated(0.0), Estimate { seconds: 0.0, at_least: true });
    }

    /// A large file that is read ends no estimate.
    #[test]
    fn bytes_are_no_steps() {
        let watch = Stopwatch::new(Duration::MAX);
        let work = Work { label: "digest", length: None, counts: Counts::Bytes };
        assert!(watch.begins(&work).advance(4 * STEPS_MAX).is_continue());
        let work = Work { label: "first pass", length: None, counts: Counts::FirstPass };
        assert!(watch.begins(&work).advance(4 * STEPS_MAX).is_break());
    }

    /// A run that is far too long to be waited for is told to be long.
    #[test]
    fn a_long_run_is_told_to_be_long_in_a_moment() {
        let base = Experiment {
            device: "slc_small".to_owned(),
            workload: "randwrite:bs=4k,span=16MiB,count=2000000000".to_owned(),
            capacity: Some(crate::Capacity::Bytes(32 << 20)),
            ..Experiment::default()
        };
        let sweep = Definition::new(base, "scheme=dftl op=20%,30%").unwrap();
        let sweep = sweep.plan(None, &Silent).unwrap();
        let began = Instant::now();
        let estimate = sweep.asked(&Contents::default(), None).estimate();
        assert!(began.elapsed() < Duration::from_secs(60));
        assert!(!estimate.at_least && estimate.seconds > 120.0, "{estimate:?}");
        assert_eq!(Asked::default().estimate().seconds, 0.0);
    }
}
