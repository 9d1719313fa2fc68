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
use crate::kept::KeptRuns;
use crate::memory::available_bytes;
use crate::observer::{Observer, Silent};
use crate::plan::plan::{Known, Plan, planned};
use crate::plan::scheme_plan::SchemePlan;
use crate::run::beside::{Files, Paths};
use crate::run::execute::execute;
use crate::run::recording::Recording;
use crate::run::requests_file::RequestsFile;
use crate::run::trace_file::TraceFile;
use crate::sizing;

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
        let known = Known { described, ..Known::default() };
        let plan = planned(experiment, known, observer)?;
        if let Some(path) = &plan.save_snapshot {
            return Err(Error::usage(format!(
                "--save-snapshot {} is of one run; legal: with one scheme, which is not compared",
                path.display()
            )));
        }
        let beside: Vec<Paths> = plan.schemes().map(|name| Paths::of_scheme(&plan, name)).collect();
        let there = |(run, paths)| There::of(kept, &plan, run, paths);
        let there: Vec<There> = plan.runs.iter().zip(&beside).map(there).collect();
        let out = kept.map(KeptRuns::out);
        let new = beside.iter().zip(&there).filter(|(_, there)| there.run.is_none());
        new.map(|(paths, _)| paths).try_for_each(|paths| paths.check(out))?;
        Ok(Comparison { plan, beside, kept: kept.cloned(), there })
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
        let begin = |(paths, there): (&Paths, &There)| match there.run {
            None => paths.begin(&unfinished),
            // They got their names when the run was kept.
            Some(_) => Ok(Files::default()),
        };
        let mut beside: Vec<Files> =
            self.beside.iter().zip(&self.there).map(begin).collect::<Result<_>>()?;
        let runs = &self.plan.runs;
        let jobs = jobs.unwrap_or_else(|| self.jobs());
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(jobs.get())
            .build()
            .map_err(|error| Error::Run(format!("threads cannot be started: {error}")))?;
        let one = |(place, ((run, there), files))| {
            (place, self.run_and_keep(run, there, files, observer))
        };
        // In their order, the next one by whoever is free: some take ten times as long as others.
        let wanted = runs.iter().zip(&self.there).zip(&mut beside).enumerate();
        let mut results: Vec<(usize, Result<RunResult>)> =
            pool.install(|| wanted.par_bridge().map(one).collect());
        results.sort_by_key(|&(place, _)| place);
        let results = results.into_iter().map(|(_, result)| result).collect();
        let kept = self.kept.clone();
        let names = self.there.iter().map(|there| there.name.clone()).collect();
        Ok(Compared { results, beside, kept, names })
    }

    /// A run that is there, or one that is made and then kept.
    fn run_and_keep(
        &self,
        run: &SchemePlan,
        there: &There,
        files: &mut Files,
        observer: &dyn Observer,
    ) -> Result<RunResult> {
        if let Some(run) = &there.run {
            return Ok(run.clone());
        }
        let result = self.run_one(run, files, observer)?;
        if let (Some(kept), Some(name)) = (&self.kept, &there.name) {
            kept.keep(name, &result)?;
        }
        Ok(result)
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
        let fitting = available / (used * sizing::BYTES_PER_PAGE).max(1);
        let fitting = usize::try_from(fitting).ok().and_then(NonZero::new);
        fitting.map_or(NonZero::<usize>::MIN, |fitting| cores.min(fitting))
    }
}

impl There {
    /// A run is there with its files or not at all.
    fn of(kept: Option<&KeptRuns>, plan: &Plan, run: &SchemePlan, beside: &Paths) -> Self {
        let name = kept.and_then(|kept| kept.name(plan, run));
        let run = kept.zip(name.as_ref()).filter(|_| beside.are_there());
        There { run: run.and_then(|(kept, name)| kept.take(name, plan)), name }
    }
}

/// A comparison that is done.
pub struct Compared {
    /// What became of each scheme, in the order asked for.
    pub results: Vec<Result<RunResult>>,
    beside: Vec<Files>,
    kept: Option<KeptRuns>,
    /// What runs are kept as.
    names: Vec<Option<String>>,
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
        let Compared { results, beside, kept, names } = self;
        let done: Vec<bool> = results.iter().map(Result::is_ok).collect();
        match all_or_none(results, kept.is_some()) {
            Ok(runs) => {
                let files: Vec<Vec<CompleteFile>> =
                    beside.into_iter().map(Files::complete).collect::<Result<_>>()?;
                Ok(Complete { runs, beside: files.into_iter().flatten().collect() })
            }
            Err(error) => {
                let parts = done.into_iter().zip(beside).zip(names);
                for ((_, files), name) in parts.filter(|((done, _), _)| *done) {
                    keep_files(files, kept.as_ref().zip(name));
                }
                Err(error)
            }
        }
    }
}

/// Files of a run that is kept get their names now; without them it is made again.
fn keep_files(files: Files, kept: Option<(&KeptRuns, String)>) {
    let Some((kept, name)) = kept else { return };
    let publish = |files: Vec<CompleteFile>| files.into_iter().try_for_each(CompleteFile::publish);
    if files.complete().and_then(publish).is_err() {
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
