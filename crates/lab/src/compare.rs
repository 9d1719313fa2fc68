//! Several schemes on one device and workload, side by side over the cores.
//!
//! Parallelism is across runs, never within one, so that results do not depend on it.

use std::num::NonZero;
use std::path::{Path, PathBuf};

use ftlab_report::result::RunResult;
use ftlab_trace::Description;
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::kept::KeptRuns;
use crate::memory::available_bytes;
use crate::observer::{Observer, Silent};
use crate::plan::plan::{Plan, planned};
use crate::plan::scheme_plan::SchemePlan;
use crate::run::execute::execute;
use crate::run::recording::Recording;
use crate::run::requests_file::{CompleteRequests, RequestsFile, path_for_scheme};

impl Experiment {
    /// Plans a comparison of the schemes; as [`Experiment::plan`] otherwise.
    ///
    /// # Errors
    /// [`Error::Usage`]: what cannot be run, and why.
    pub fn compare(&self) -> Result<Comparison> {
        self.compare_with(None, &Silent)
    }

    /// The same, watched. Where runs are `kept`, each is as soon as it is done, and those that are
    /// there are not made again; files of requests must not lie in the folder of the results, which
    /// holds nothing else.
    ///
    /// # Errors
    /// As [`Experiment::compare`], and [`Error::Cancelled`].
    pub fn compare_with(
        &self,
        kept: Option<&KeptRuns>,
        observer: &dyn Observer,
    ) -> Result<Comparison> {
        Comparison::plan_of(self, None, kept, observer)
    }
}

/// Whether a file of requests can lie where it is wanted, whatever the scheme will add to its name:
/// beside the folder of results `out`, in a folder that is there.
///
/// # Errors
/// [`Error::Usage`] where it cannot.
pub fn check_requests_out(path: &Path, out: Option<&Path>) -> Result<()> {
    RequestsFile::check_place(path, out)
}

/// A comparison that can begin.
pub struct Comparison {
    plan: Plan,
    /// Where a row per request goes, by scheme; empty where that was not asked for.
    requests: Vec<PathBuf>,
    /// Where runs are kept, if they are.
    kept: Option<KeptRuns>,
    /// What is there of each scheme: its name among those that are kept, and the run if it was.
    there: Vec<There>,
}

/// What is kept of a scheme.
#[derive(Clone, Default)]
struct There {
    name: Option<String>,
    run: Option<RunResult>,
}

impl Comparison {
    /// Refuses what can be refused beforehand; `described` is what was said of the same files
    /// before.
    pub(crate) fn plan_of(
        experiment: &Experiment,
        described: Option<&Description>,
        kept: Option<&KeptRuns>,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let plan = planned(experiment, described, observer)?;
        if let Some(path) = &plan.save_snapshot {
            return Err(Error::usage(format!(
                "--save-snapshot {} is of one run; legal: with one scheme, which is not compared",
                path.display()
            )));
        }
        let path_of = |path: &PathBuf| {
            let one = |name| path_for_scheme(path, name);
            plan.schemes().map(one).collect()
        };
        let requests: Vec<PathBuf> = plan.requests_out.as_ref().map_or_else(Vec::new, path_of);
        let there = |(index, run)| There::of(kept, &plan, run, requests.get(index));
        let there: Vec<There> = plan.runs.iter().enumerate().map(there).collect();
        let out = kept.map(KeptRuns::out);
        let new = requests.iter().zip(&there).filter(|(_, there)| there.run.is_none());
        new.map(|(path, _)| path).try_for_each(|path| RequestsFile::check(path, out))?;
        Ok(Comparison { plan, requests, kept: kept.cloned(), there })
    }

    /// What will be run.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// A file that can be read again need not stay open until it is.
    pub(crate) fn close(&mut self) {
        if self.plan.description.is_some() {
            self.plan.opened = None;
        }
    }

    /// Runs all schemes, `jobs` at a time; as many as cores and memory allow where nothing is
    /// stated. Results are the same for any number.
    ///
    /// # Errors
    /// Threads that cannot be started and files that cannot be written. What becomes of each scheme
    /// is in [`Compared::results`].
    pub fn run(&self, jobs: Option<NonZero<usize>>, observer: &dyn Observer) -> Result<Compared> {
        let unfinished = observer.unfinished();
        let begin = |(path, there): (&PathBuf, &There)| match there.run {
            None => RequestsFile::begin(path, &unfinished).map(Some),
            // They got their name when the run was kept.
            Some(_) => Ok(None),
        };
        let mut requests: Vec<Option<RequestsFile>> =
            self.requests.iter().zip(&self.there).map(begin).collect::<Result<_>>()?;
        let runs = &self.plan.runs;
        requests.resize_with(runs.len(), || None);
        let jobs = jobs.unwrap_or_else(|| self.jobs());
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(jobs.get())
            .build()
            .map_err(|error| Error::Run(format!("threads cannot be started: {error}")))?;
        let one = |((run, there), file)| self.run_and_keep(run, there, file, observer);
        let results: Vec<Result<RunResult>> =
            pool.install(|| runs.par_iter().zip(&self.there).zip(&mut requests).map(one).collect());
        let kept = self.kept.clone();
        let names = self.there.iter().map(|there| there.name.clone()).collect();
        Ok(Compared { results, requests, kept, names })
    }

    /// A run that is there, or one that is made and then kept.
    fn run_and_keep(
        &self,
        run: &SchemePlan,
        there: &There,
        requests: &mut Option<RequestsFile>,
        observer: &dyn Observer,
    ) -> Result<RunResult> {
        if let Some(run) = &there.run {
            return Ok(run.clone());
        }
        let result = self.run_one(run, requests, observer)?;
        if let (Some(kept), Some(name)) = (&self.kept, &there.name) {
            kept.keep(name, &result)?;
        }
        Ok(result)
    }

    fn run_one(
        &self,
        run: &SchemePlan,
        requests: &mut Option<RequestsFile>,
        observer: &dyn Observer,
    ) -> Result<RunResult> {
        let plan = &self.plan;
        let recording = Recording { requests: requests.as_mut(), probe: plan.probe };
        let done = match &plan.opened {
            // It has one scheme, and opens but once.
            Some(workload) if plan.workload.is_standard_input() => {
                execute(plan, run, workload, observer, recording)?
            }
            // Every run reads the workload for itself, from its start.
            _ => {
                let workload = plan.workload.open(plan.layout.capacity_bytes)?;
                execute(plan, run, &workload, observer, recording)?
            }
        };
        Ok(done.0)
    }

    /// As many runs as cores, fewer when their devices might not fit the memory together.
    fn jobs(&self) -> NonZero<usize> {
        /// State of one page, its map entries and its share of its block, rounded up.
        const BYTES_PER_PAGE: u64 = 48;
        let cores = std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        let Some(available) = available_bytes() else {
            return cores;
        };
        let plan = &self.plan;
        let device = &plan.runs[0].chosen.config.device;
        let pages = device.physical_blocks() * u64::from(device.units_per_block());
        // Untouched parts of a device cost nothing, so a known footprint bounds it too.
        let used = plan
            .layout
            .needed_bytes()
            .map_or(pages, |bytes| pages.min(4 * (bytes / plan.layout.page_bytes)));
        let fitting = available / (used * BYTES_PER_PAGE).max(1);
        let fitting = usize::try_from(fitting).ok().and_then(NonZero::new);
        fitting.map_or(NonZero::<usize>::MIN, |fitting| cores.min(fitting))
    }
}

impl There {
    /// A run is there with its rows or not at all.
    fn of(
        kept: Option<&KeptRuns>,
        plan: &Plan,
        run: &SchemePlan,
        requests: Option<&PathBuf>,
    ) -> Self {
        let name = kept.and_then(|kept| kept.name(plan, run));
        let has_rows = requests.is_none_or(|path| path.exists());
        let run = kept.zip(name.as_ref()).filter(|_| has_rows);
        There { run: run.and_then(|(kept, name)| kept.take(name, plan)), name }
    }
}

/// A comparison that is done.
pub struct Compared {
    /// What became of each scheme, in the order asked for.
    pub results: Vec<Result<RunResult>>,
    requests: Vec<Option<RequestsFile>>,
    kept: Option<KeptRuns>,
    /// What runs are kept as.
    names: Vec<Option<String>>,
}

/// The results of a comparison of which no run failed.
pub struct Complete {
    /// A result per scheme, in the order asked for.
    pub runs: Vec<RunResult>,
    /// Files of requests, in the same order, where they were asked for; they go away if they are
    /// dropped before they have their names.
    pub requests: Vec<CompleteRequests>,
}

impl Compared {
    /// All or none: a comparison with a scheme missing would be taken for a complete one.
    ///
    /// # Errors
    /// The errors of all runs that failed, in one; those of bad input once, because it concerns
    /// every scheme alike.
    pub fn complete(self) -> Result<Complete> {
        let Compared { results, requests, kept, names } = self;
        let done: Vec<bool> = results.iter().map(Result::is_ok).collect();
        match all_or_none(results, kept.is_some()) {
            Ok(runs) => {
                let requests = requests.into_iter().flatten().map(RequestsFile::complete);
                Ok(Complete { runs, requests: requests.collect::<Result<_>>()? })
            }
            Err(error) => {
                let parts = done.into_iter().zip(requests).zip(names);
                for ((_, requests), name) in parts.filter(|((done, _), _)| *done) {
                    keep_rows(requests, kept.as_ref().zip(name));
                }
                Err(error)
            }
        }
    }
}

/// Rows of a run that is kept get their name now; without them it is made again.
fn keep_rows(requests: Option<RequestsFile>, kept: Option<(&KeptRuns, String)>) {
    let (Some(requests), Some((kept, name))) = (requests, kept) else { return };
    if requests.complete().and_then(CompleteRequests::publish).is_err() {
        kept.forget(&name);
    }
}

fn all_or_none(results: Vec<Result<RunResult>>, kept: bool) -> Result<Vec<RunResult>> {
    let mut runs = Vec::with_capacity(results.len());
    let mut errors = Vec::new();
    for result in results {
        match result {
            Ok(run) => runs.push(run),
            Err(error) => errors.push(error),
        }
    }
    let first = |is: fn(&Error) -> bool| errors.iter().find(|error| is(error)).cloned();
    let cancelled = first(|error| matches!(error, Error::Cancelled(_)));
    if let Some(error) = cancelled.or(first(|error| matches!(error, Error::Usage(_)))) {
        return Err(error);
    }
    if errors.is_empty() {
        return Ok(runs);
    }
    let done: Vec<&str> = runs.iter().map(|run| run.scheme.as_str()).collect();
    let others = match (done.is_empty(), kept) {
        (true, _) => String::new(),
        (false, true) => format!("; {} succeeded", done.join(", ")),
        (false, false) => format!("; {} succeeded, but nothing was written", done.join(", ")),
    };
    Err(Error::Run(format!("{}{others}", Error::together(&errors))))
}
