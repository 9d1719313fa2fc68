//! The runs of a reproduction: each is made once, and kept at once.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use ftlab_report::result::RunResult;
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::observer::{Counts, Observer, Task, Work as Watched, going_on};
use crate::reproduce::evaluate::Found;
use crate::reproduce::folder::{self, Folder};
use crate::reproduce::jobs::{Job, Work};
use crate::reproduce::study::{Done, Study};

/// Makes runs into a folder, several at a time.
pub struct Maker<'a> {
    /// Where runs are kept.
    pub folder: &'a Folder,
    pool: rayon::ThreadPool,
    observer: &'a dyn Observer,
}

impl<'a> Maker<'a> {
    /// With so many threads, or as many as there are cores.
    pub fn new(
        folder: &'a Folder,
        threads: Option<NonZero<usize>>,
        observer: &'a dyn Observer,
    ) -> Result<Self> {
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads.map_or(cores, NonZero::get))
            .build()
            .map_err(|error| Error::Run(format!("threads cannot be started: {error}")))?;
        Ok(Maker { folder, pool, observer })
    }

    /// Makes every job once, or takes it from the folder, and `keeps` what is wanted of each; by
    /// the key of its job.
    pub fn make<'j, T: Send>(
        &self,
        jobs: impl Iterator<Item = &'j Job>,
        label: &'static str,
        keeps: impl Fn(Done) -> T + Sync,
    ) -> Result<BTreeMap<String, T>> {
        let mut unique: BTreeMap<String, &Job> = BTreeMap::new();
        // Keys are digests: long runs and short ones come mixed, so that the time left can be told
        // from those that are made.
        jobs.for_each(|job| {
            // What one experiment leaves out another one may run.
            let first = unique.entry(job.key()).or_insert(job);
            if first.missing.is_some() {
                *first = job;
            }
        });
        let order: Vec<(String, &Job)> = unique.into_iter().collect();
        let to_make =
            |(key, job): &&(String, &Job)| job.missing.is_none() && !self.folder.keeps(key);
        let counts = Counts::Parts { to_make: order.iter().filter(to_make).count() as u64 };
        let length = Some(order.len() as u64);
        let whole = self.observer.begins(&Watched { label, length, counts });
        let one = |(key, job): &(String, &Job)| {
            let done = run_one(job, key, self.folder, (self.observer, whole.as_ref()));
            done.map(&keeps)
        };
        // One job at a time by each thread.
        let results: Vec<Result<T>> =
            self.pool.install(|| order.par_iter().with_max_len(1).map(one).collect());
        if results.iter().any(|result| matches!(result, Err(Error::Cancelled(_)))) {
            return Err(Error::Cancelled(format!(
                "interrupted; what was done is kept: the same command with --resume goes on in {}",
                self.folder.path().display()
            )));
        }
        order.into_iter().zip(results).map(|((key, _), result)| Ok((key, result?))).collect()
    }
}

/// Makes every run once, or takes it from the folder; by the key of its job.
pub fn run_all<'a>(
    studies: impl Iterator<Item = &'a Study>,
    maker: &Maker<'_>,
) -> Result<BTreeMap<String, Done>> {
    maker.make(studies.flat_map(|study| &study.jobs), "runs", |done| done)
}

/// What is kept of a job that was made, without making it.
pub fn kept(job: &Job, folder: &Folder) -> Option<Done> {
    let bytes = folder.kept(&job.key())?;
    match &job.work {
        Work::Run(_) => {
            let run = ftlab_report::read_json(&bytes).ok()?.pop()?;
            Some(Done::Run(Found::Done(Arc::new(run))))
        }
        Work::Inspection(_) => {
            let found = serde_json::from_slice(&bytes).ok()?;
            Some(Done::Inspection(Found::Done(Arc::new(found))))
        }
    }
}

/// One job; its failure is a finding, unless it was cancelled or cannot be kept.
fn run_one(
    job: &Job,
    key: &str,
    folder: &Folder,
    (observer, whole): (&dyn Observer, &dyn Task),
) -> Result<Done> {
    // Whoever has cancelled waits for what is under way, not for what was still to begin.
    going_on(whole.pass_over(0))?;
    if let Some(reason) = &job.missing {
        going_on(whole.pass_over(1))?;
        return Ok(match &job.work {
            Work::Run(_) => Done::Run(Found::Missing(reason.clone())),
            Work::Inspection(_) => Done::Inspection(Found::Missing(reason.clone())),
        });
    }
    let kept = kept(job, folder);
    let made = kept.is_none();
    let done = match (kept, &job.work) {
        (Some(done), _) => done,
        (None, Work::Run(experiment)) => {
            Done::Run(once(folder, key, || simulate(experiment, observer))?)
        }
        (None, Work::Inspection(inspection)) => {
            let look = || inspection.run(observer).map(|(_, value)| value);
            Done::Inspection(once(folder, key, look)?)
        }
    };
    going_on(if made { whole.advance(1) } else { whole.pass_over(1) })?;
    Ok(done)
}

/// What `make` makes, which is kept; its failure is a finding.
fn once<T: serde::Serialize>(
    folder: &Folder,
    key: &str,
    make: impl FnOnce() -> Result<T>,
) -> Result<Found<T>> {
    match make() {
        Ok(result) => {
            folder.keep(key, &folder::json(&result)?)?;
            Ok(Found::Done(Arc::new(result)))
        }
        Err(error @ Error::Cancelled(_)) => Err(error),
        Err(error) => Ok(Found::Failed(error.to_string())),
    }
}

/// A run of our own; a broken promise of the engine is the finding of this run alone.
fn simulate(experiment: &Experiment, observer: &dyn Observer) -> Result<RunResult> {
    let run = || experiment.plan_with(observer)?.run(observer);
    catch_unwind(AssertUnwindSafe(run))
        .unwrap_or_else(|_| Err(Error::Run("the engine broke a promise (panic)".to_owned())))
}
