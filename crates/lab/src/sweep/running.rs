//! The runs of a sweep, several at a time: each is kept as soon as it is done.

use std::collections::BTreeSet;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use ftlab_report::result::RunResult;

use crate::error::{Error, Result};
use crate::memory::available_bytes;
use crate::observer::{Counts, Observer, Task, Work, going_on};
use crate::plan::plan::{Known, Plan, planned};
use crate::plan::scheme_plan::SchemePlan;
use crate::run::beside::Files;
use crate::run::execute::{execute, execute_from};
use crate::run::preparing::{Preparation, Ready};
use crate::run::recording::Recording;
use crate::sizing;
use crate::sweep::folder::{Contents, Failure, Folder};
use crate::sweep::plan::{Run, Sweep};
use crate::sweep::points::Shard;
use crate::sweep::turns::{Turn, Turns, Wanted};
use crate::workload::traces::Traces;

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
    /// Begun with a device that was prepared for another one of them.
    pub shared: usize,
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
        let Asked { wanted, kept } = self.asked(&folder.contents()?, how.shard);
        let length = wanted.len() as u64;
        let counts = Counts::Parts { to_make: length };
        let whole = observer.begins(&Work { label: "runs", length: Some(length), counts });
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        let jobs = how.jobs.map_or(cores, NonZero::get).min(wanted.len().max(1));
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(jobs)
            .build()
            .map_err(|error| Error::Run(format!("threads cannot be started: {error}")))?;
        let turns = Turns::new(&wanted, |run| run.device.as_deref());
        let worker = Worker {
            folder,
            commit: &how.commit,
            turns: &turns,
            traces: &Traces::default(),
            jobs: jobs as u64,
            observer,
            whole: whole.as_ref(),
        };
        let mut swept = Swept { kept, ..Swept::default() };
        for done in pool.broadcast(|_| worker.work()) {
            let done = done.map_err(|error| match error {
                Error::Cancelled(_) => Error::Cancelled(format!(
                    "interrupted; what was done is kept: the same command with --resume goes on \
                     in {}",
                    folder.path().display()
                )),
                error => error,
            })?;
            swept.made += done.made;
            swept.failed += done.failed;
            swept.shared += done.shared;
        }
        Ok(swept)
    }

    /// Which runs are wanted of a part, each once, in the order of their points; and how many
    /// points of it were made before.
    pub fn asked(&self, there: &Contents, shard: Option<Shard>) -> Asked<'_> {
        let mut asked = Asked::default();
        let mut seen = BTreeSet::new();
        for (place, point) in self.manifest.points.iter().enumerate() {
            let ours = shard.is_none_or(|shard| shard.has(place));
            let Some(run) = self.runs.get(&point.key).filter(|_| ours) else { continue };
            if there.has(&point.key) {
                asked.kept += 1;
            } else if seen.insert(&point.key) {
                asked.wanted.push(Wanted { key: &point.key, run });
            }
        }
        asked
    }
}

/// What is asked for.
#[derive(Default)]
pub struct Asked<'a> {
    /// Runs to be made.
    pub wanted: Vec<Wanted<'a>>,
    /// Points that are there.
    pub kept: usize,
}

/// What several runs share: how many runs, and how often it is made for all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shared {
    /// Runs.
    pub runs: usize,
    /// What is made for them.
    pub made: usize,
}

impl Asked<'_> {
    /// Devices that are prepared for several runs, as far as it is known beforehand.
    #[must_use]
    pub fn devices(&self) -> Shared {
        self.shared(|run| run.device.as_ref())
    }

    /// Traces that are decoded for several runs, where there is memory to hold them.
    #[must_use]
    pub fn traces(&self) -> Shared {
        self.shared(|run| run.trace.as_ref())
    }

    fn shared(&self, what: impl Fn(&Run) -> Option<&String>) -> Shared {
        let all: Vec<&String> = self.wanted.iter().filter_map(|one| what(one.run)).collect();
        Shared { runs: all.len(), made: all.into_iter().collect::<BTreeSet<_>>().len() }
    }
}

/// A device that the runs of a group begin with, or why it could not be prepared; and the plan that
/// says what it was prepared from.
struct Held {
    plan: Arc<Plan>,
    ready: Result<Ready>,
}

impl Held {
    /// The device for one of them: the last to ask gets this one, the others a duplicate.
    fn taken(self: Arc<Self>) -> Result<Ready> {
        match Arc::try_unwrap(self) {
            Ok(own) => own.ready,
            Err(shared) => shared.ready.as_ref().map(Ready::duplicate).map_err(Error::clone),
        }
    }
}

/// Makes runs, one after another, until none is left.
struct Worker<'a> {
    folder: &'a Folder,
    commit: &'a str,
    turns: &'a Turns<'a, Held>,
    traces: &'a Traces,
    /// Workers in all.
    jobs: u64,
    observer: &'a dyn Observer,
    whole: &'a dyn Task,
}

impl Worker<'_> {
    /// An error is the folder's, or that of who cancelled; it ends the work of all.
    fn work(&self) -> Result<Swept> {
        let mut done = Swept::default();
        while let Some(turn) = self.turns.next() {
            if let Err(error) = self.make(turn, &mut done) {
                self.turns.stop();
                return Err(error);
            }
        }
        Ok(done)
    }

    /// Makes one run, and keeps what came of it.
    fn make(&self, turn: Turn<'_, '_, Held>, done: &mut Swept) -> Result<()> {
        going_on(self.whole.pass_over(0))?;
        let Wanted { key, run } = turn.wanted();
        // Another process may have made it meanwhile.
        if self.folder.has(key) {
            done.made += 1;
            return going_on(self.whole.pass_over(1));
        }
        let began = Instant::now();
        match caught(|| self.simulate(run, turn, done)) {
            Ok(mut result) => {
                // What differs between equal runs is not theirs.
                self.commit.clone_into(&mut result.made.commit);
                result.wall = Default::default();
                (result.made.host, result.made.started) = Default::default();
                let bytes = serde_json::to_vec(&result)
                    .map_err(|error| Error::Run(format!("the result has no JSON form: {error}")))?;
                self.folder.keep(key, &bytes)?;
                self.folder.note_time(key, began.elapsed().as_secs_f64())?;
                done.made += 1;
            }
            Err(error @ Error::Cancelled(_)) => return Err(error),
            Err(error) => {
                self.folder.keep_failure(key, &Failure { reason: error.to_string() })?;
                done.failed += 1;
            }
        }
        going_on(self.whole.advance(1))
    }

    /// The run itself, with what it shares.
    fn simulate(&self, run: &Run, turn: Turn<'_, '_, Held>, done: &mut Swept) -> Result<RunResult> {
        let known = Known { described: run.described.as_ref(), traces: Some(self.traces) };
        let plan = Arc::new(planned(&run.experiment, known, self.observer)?);
        let scheme = only(&plan)?;
        let preparation = Preparation::of(&plan, scheme);
        let held = match turn {
            Turn::First(_, promise) if self.can_share(&plan, &preparation) => {
                let ready = caught(|| preparation.make(None, self.observer));
                if let Err(error @ Error::Cancelled(_)) = ready {
                    return Err(error);
                }
                Some(promise.keep(Held { plan: Arc::clone(&plan), ready }))
            }
            Turn::Next(_, held) => {
                let is_ours = preparation.is_like(&Preparation::of(&held.plan, only(&held.plan)?));
                done.shared += usize::from(is_ours);
                Some(held).filter(|_| is_ours)
            }
            // The others need not wait for what will not come.
            Turn::First(_, promise) => {
                drop(promise);
                None
            }
            Turn::Alone(_) => None,
        };
        let workload = plan.workload.open(plan.layout.capacity_bytes)?;
        let mut beside = Files::default();
        let recording = Recording::of(&plan, &mut beside);
        match held {
            Some(held) => {
                execute_from(held.taken()?, &plan, scheme, &workload, self.observer, recording)
            }
            None => Ok(execute(&plan, scheme, &workload, self.observer, recording)?.0),
        }
    }

    /// Whether others may begin with duplicates of the device: with these there are two for each
    /// worker.
    fn can_share(&self, plan: &Plan, preparation: &Preparation<'_>) -> bool {
        let device = &plan.runs[0].chosen.config.device;
        let pages = device.physical_blocks() * u64::from(device.units_per_block());
        let bytes = 2 * self.jobs * pages * sizing::BYTES_PER_PAGE;
        preparation.can_be_shared() && available_bytes().is_none_or(|there| bytes <= there)
    }
}

/// The run of a plan of a point.
fn only(plan: &Plan) -> Result<&SchemePlan> {
    plan.runs.first().ok_or_else(|| Error::usage("no scheme is left"))
}

/// A panic of the engine as an error.
fn caught<T>(make: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(make))
        .unwrap_or_else(|_| Err(Error::Run("the engine broke a promise (panic)".to_owned())))
}

/// A run that shares nothing.
pub fn simulate(run: &Run, observer: &dyn Observer) -> Result<RunResult> {
    let known = Known { described: run.described.as_ref(), ..Known::default() };
    let plan = planned(&run.experiment, known, observer)?;
    let workload = plan.workload.open(plan.layout.capacity_bytes)?;
    let mut beside = Files::default();
    let recording = Recording::of(&plan, &mut beside);
    Ok(execute(&plan, only(&plan)?, &workload, observer, recording)?.0)
}
