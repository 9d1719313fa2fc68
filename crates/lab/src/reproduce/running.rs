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

/// Makes every run once, or takes it from the folder; by the key of its job.
pub fn run_all(
    studies: &[Study],
    folder: &Folder,
    threads: Option<NonZero<usize>>,
    observer: &dyn Observer,
) -> Result<BTreeMap<String, Done>> {
    let mut unique: BTreeMap<String, &Job> = BTreeMap::new();
    let mut order: Vec<String> = Vec::new();
    for job in studies.iter().flat_map(|study| &study.jobs) {
        let key = job.key();
        if unique.insert(key.clone(), job).is_none() {
            order.push(key);
        }
    }
    // Keys are digests: long runs and short ones come mixed, so that the time left can be told from
    // those that are made.
    order.sort_unstable();
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads.map_or(cores, NonZero::get))
        .build()
        .map_err(|error| Error::Run(format!("threads cannot be started: {error}")))?;
    let to_make = |key: &&String| unique[*key].missing.is_none() && !folder.keeps(key);
    let counts = Counts::Parts { to_make: order.iter().filter(to_make).count() as u64 };
    let length = Some(order.len() as u64);
    let whole = observer.begins(&Watched { label: "runs", length, counts });
    let one = |key: &String| run_one(unique[key], key, folder, (observer, whole.as_ref()));
    // One job at a time by each thread.
    let results: Vec<Result<Done>> =
        pool.install(|| order.par_iter().with_max_len(1).map(one).collect());
    if results.iter().any(|result| matches!(result, Err(Error::Cancelled(_)))) {
        return Err(Error::Cancelled(format!(
            "interrupted; what was done is kept: the same command with --resume goes on in {}",
            folder.path().display()
        )));
    }
    order.into_iter().zip(results).map(|(key, result)| Ok((key, result?))).collect()
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
    let kept = folder.kept(key);
    let made = kept.is_none();
    let done = match &job.work {
        Work::Run(experiment) => {
            let again = kept.and_then(|bytes| ftlab_report::read_json(&bytes).ok()?.pop());
            Done::Run(once(folder, key, again, || simulate(experiment, observer))?)
        }
        Work::Inspection(inspection) => {
            let again = kept.and_then(|bytes| serde_json::from_slice(&bytes).ok());
            let look = || inspection.run(observer).map(|(_, value)| value);
            Done::Inspection(once(folder, key, again, look)?)
        }
    };
    going_on(if made { whole.advance(1) } else { whole.pass_over(1) })?;
    Ok(done)
}

/// What was kept, or what `make` makes, which is kept.
fn once<T: serde::Serialize>(
    folder: &Folder,
    key: &str,
    kept: Option<T>,
    make: impl FnOnce() -> Result<T>,
) -> Result<Found<T>> {
    if let Some(result) = kept {
        return Ok(Found::Done(Arc::new(result)));
    }
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
