//! The runs of a sweep, several at a time: each is kept as soon as it is done.

use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Instant;

use ftlab_report::result::RunResult;
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::observer::{Counts, Observer, Task, Work, going_on};
use crate::plan::plan::planned;
use crate::run::beside::Files;
use crate::run::execute::execute;
use crate::run::recording::Recording;
use crate::sweep::folder::{Failure, Folder};
use crate::sweep::plan::{Run, Sweep};
use crate::sweep::points::Shard;

/// How a sweep is run.
#[derive(Clone, Debug, Default)]
pub struct Running {
    /// Runs at a time; as many as there are cores where nothing is stated.
    pub jobs: Option<NonZero<usize>>,
    /// Go on in a folder that holds a sweep.
    pub resume: bool,
    /// Only this part of the points.
    pub shard: Option<Shard>,
    /// Commit of the program, which results tell.
    pub commit: String,
}

/// What became of the runs of a part, or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Made now.
    pub made: usize,
    /// Made before.
    pub kept: usize,
    /// Tried, without a result; each says why in the folder.
    pub failed: usize,
}

impl Sweep {
    /// Opens the folder of results, which may hold some of them.
    ///
    /// # Errors
    /// A folder that cannot be written, or holds something else than what may be gone on with.
    pub fn open(&self, out: &Path, how: &Running) -> Result<Folder> {
        Folder::open(out, &self.manifest, how.resume, how.shard.is_some())
    }

    /// Makes what is not in the folder yet. Results are the same bytes for any number of jobs and
    /// shards and any order.
    ///
    /// # Errors
    /// A folder that cannot be written, and [`Error::Cancelled`]: what was done is kept.
    pub fn run(&self, folder: &Folder, how: &Running, observer: &dyn Observer) -> Result<Swept> {
        let mut wanted: Vec<(&str, &Run)> = Vec::new();
        let mut kept = 0;
        for (place, point) in self.manifest.points.iter().enumerate() {
            let ours = how.shard.is_none_or(|shard| shard.has(place));
            let Some(run) = self.runs.get(&point.key).filter(|_| ours) else { continue };
            if folder.has(&point.key) {
                kept += 1;
            } else {
                wanted.push((&point.key, run));
            }
        }
        // Two points may be one run.
        wanted.sort_by_key(|(key, _)| *key);
        wanted.dedup_by_key(|(key, _)| *key);
        let length = wanted.len() as u64;
        let counts = Counts::Parts { to_make: length };
        let whole = observer.begins(&Work { label: "runs", length: Some(length), counts });
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(how.jobs.map_or(cores, NonZero::get))
            .build()
            .map_err(|error| Error::Run(format!("threads cannot be started: {error}")))?;
        let one = |(key, run): &(&str, &Run)| {
            make(key, run, (folder, &how.commit), (observer, whole.as_ref()))
        };
        let done: Vec<Result<bool>> =
            pool.install(|| wanted.par_iter().with_max_len(1).map(one).collect());
        if done.iter().any(|one| matches!(one, Err(Error::Cancelled(_)))) {
            return Err(Error::Cancelled(format!(
                "interrupted; what was done is kept: the same command with --resume goes on in {}",
                folder.path().display()
            )));
        }
        let mut swept = Swept { kept, ..Swept::default() };
        for one in done {
            match one? {
                true => swept.made += 1,
                false => swept.failed += 1,
            }
        }
        Ok(swept)
    }
}

/// Makes one run; whether it has a result. An error is the folder's, or that of who cancelled.
fn make(
    key: &str,
    run: &Run,
    (folder, commit): (&Folder, &str),
    (observer, whole): (&dyn Observer, &dyn Task),
) -> Result<bool> {
    going_on(whole.pass_over(0))?;
    // Another process may have made it meanwhile.
    if folder.has(key) {
        going_on(whole.pass_over(1))?;
        return Ok(true);
    }
    let began = Instant::now();
    let simulated = catch_unwind(AssertUnwindSafe(|| simulate(run, observer)))
        .unwrap_or_else(|_| Err(Error::Run("the engine broke a promise (panic)".to_owned())));
    let has_result = match simulated {
        Ok(mut result) => {
            // What differs between equal runs is not theirs.
            commit.clone_into(&mut result.made.commit);
            result.wall = Default::default();
            (result.made.host, result.made.started) = Default::default();
            let bytes = serde_json::to_vec(&result)
                .map_err(|error| Error::Run(format!("the result has no JSON form: {error}")))?;
            folder.keep(key, &bytes)?;
            folder.note_time(key, began.elapsed().as_secs_f64())?;
            true
        }
        Err(error @ Error::Cancelled(_)) => return Err(error),
        Err(error) => {
            folder.keep_failure(key, &Failure { reason: error.to_string() })?;
            false
        }
    };
    going_on(whole.advance(1))?;
    Ok(has_result)
}

/// The run itself.
pub fn simulate(run: &Run, observer: &dyn Observer) -> Result<RunResult> {
    let plan = planned(&run.experiment, run.described.as_ref(), observer)?;
    let scheme = plan.runs.first().ok_or_else(|| Error::usage("no scheme is left"))?;
    let workload = plan.workload.open(plan.layout.capacity_bytes)?;
    let mut beside = Files::default();
    let recording = Recording::of(&plan, &mut beside);
    Ok(execute(&plan, scheme, &workload, observer, recording)?.0)
}
