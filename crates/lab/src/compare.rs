//! Several schemes on one device and workload, side by side over the cores.
//!
//! Parallelism is across runs, never within one, so that results do not depend on it.

use std::num::NonZero;
use std::path::Path;

use ftlab_report::result::RunResult;
use ftlab_trace::Description;
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::files::CompleteFile;
use crate::memory::available_bytes;
use crate::observer::{Observer, Silent};
use crate::plan::plan::{Plan, planned};
use crate::plan::scheme_plan::SchemePlan;
use crate::run::beside::{Files, Paths};
use crate::run::execute::execute;
use crate::run::recording::Recording;
use crate::run::requests_file::RequestsFile;
use crate::run::trace_file::TraceFile;

impl Experiment {
    /// Plans a comparison of the schemes; as [`Experiment::plan`] otherwise.
    ///
    /// # Errors
    /// [`Error::Usage`]: what cannot be run, and why.
    pub fn compare(&self) -> Result<Comparison> {
        self.compare_with(None, &Silent)
    }

    /// The same, watched. Where the results are to go into the folder `out`, which holds nothing
    /// else, files of requests must not lie there.
    ///
    /// # Errors
    /// As [`Experiment::compare`], and [`Error::Cancelled`].
    pub fn compare_with(&self, out: Option<&Path>, observer: &dyn Observer) -> Result<Comparison> {
        Comparison::plan_of(self, None, out, observer)
    }
}

/// Whether files of requests and of trace events can lie where they are wanted, whatever the scheme
/// will add to their names: beside the folder of results `out`, in a folder that is there.
///
/// # Errors
/// [`Error::Usage`] where they cannot.
pub fn check_beside(requests: Option<&Path>, trace: Option<&Path>, out: &Path) -> Result<()> {
    requests.map_or(Ok(()), |path| RequestsFile::check_place(path, Some(out)))?;
    trace.map_or(Ok(()), |path| TraceFile::check_place(path, Some(out)))
}

/// A comparison that can begin.
pub struct Comparison {
    plan: Plan,
    /// Where rows of requests and trace events go, by scheme.
    beside: Vec<Paths>,
}

impl Comparison {
    /// Refuses what can be refused beforehand; `described` is what was said of the same files
    /// before.
    pub(crate) fn plan_of(
        experiment: &Experiment,
        described: Option<&Description>,
        out: Option<&Path>,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let plan = planned(experiment, described, observer)?;
        if let Some(path) = &plan.save_snapshot {
            return Err(Error::usage(format!(
                "--save-snapshot {} is of one run; legal: with one scheme, which is not compared",
                path.display()
            )));
        }
        let beside: Vec<Paths> = plan.schemes().map(|name| Paths::of_scheme(&plan, name)).collect();
        beside.iter().try_for_each(|paths| paths.check(out))?;
        Ok(Comparison { plan, beside })
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
        let begin = |paths: &Paths| paths.begin(&unfinished);
        let mut beside: Vec<Files> = self.beside.iter().map(begin).collect::<Result<_>>()?;
        let runs = &self.plan.runs;
        let jobs = jobs.unwrap_or_else(|| self.jobs());
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(jobs.get())
            .build()
            .map_err(|error| Error::Run(format!("threads cannot be started: {error}")))?;
        let one = |(run, files)| self.run_one(run, files, observer);
        let results: Vec<Result<RunResult>> =
            pool.install(|| runs.par_iter().zip(&mut beside).map(one).collect());
        Ok(Compared { results, beside })
    }

    fn run_one(
        &self,
        run: &SchemePlan,
        files: &mut Files,
        observer: &dyn Observer,
    ) -> Result<RunResult> {
        let plan = &self.plan;
        let recording = Recording::of(plan, files);
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

/// A comparison that is done.
pub struct Compared {
    /// What became of each scheme, in the order asked for.
    pub results: Vec<Result<RunResult>>,
    beside: Vec<Files>,
}

/// The results of a comparison of which no run failed.
pub struct Complete {
    /// A result per scheme, in the order asked for.
    pub runs: Vec<RunResult>,
    /// Files of requests and of trace events, in the same order, where they were asked for; they go
    /// away if they are dropped before they have their names.
    pub beside: Vec<CompleteFile>,
}

impl Compared {
    /// All or none: a comparison with a scheme missing would be taken for a complete one.
    ///
    /// # Errors
    /// The errors of all runs that failed, in one; those of bad input once, because it concerns
    /// every scheme alike.
    pub fn complete(self) -> Result<Complete> {
        let runs = all_or_none(self.results)?;
        let files: Vec<Vec<CompleteFile>> =
            self.beside.into_iter().map(Files::complete).collect::<Result<_>>()?;
        Ok(Complete { runs, beside: files.into_iter().flatten().collect() })
    }
}

fn all_or_none(results: Vec<Result<RunResult>>) -> Result<Vec<RunResult>> {
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
    let others = match done.is_empty() {
        true => String::new(),
        false => format!("; {} succeeded, but nothing was written", done.join(", ")),
    };
    Err(Error::Run(format!("{}{others}", Error::together(&errors))))
}
