//! `ftlab compare`: several schemes on one device and workload, side by side over the cores.
//!
//! Parallelism is across runs, never within one, so that results do not depend on it.

use std::num::NonZero;
use std::path::{Path, PathBuf};

use ftlab_report::probe::ProbeWindow;
use ftlab_report::result::RunResult;
use ftlab_report::writers::Document;
use ftlab_trace::{Description, Workload};
use rayon::prelude::*;

use crate::arguments::{CompareArguments, SimulationArguments};
use crate::execute::execute;
use crate::failure::{Failure, Outcome};
use crate::memory::available_bytes;
use crate::output::{COMPARISON, ClosedFile, ResultFolder, written};
use crate::plan::{Plan, SchemePlan, plan};
use crate::print;
use crate::progress::{Progress, watch_for_interruption};
use crate::recording::{Recording, RequestsFile, path_for_scheme, probe_window};
use crate::units;
use crate::workloads::is_each;

/// Plans, runs, writes, prints.
pub fn compare(typed: &CompareArguments) -> Outcome<()> {
    let rows = typed.recording.requests_out.as_deref();
    rows.map(|path| RequestsFile::check_place(path, &typed.out)).transpose()?;
    // Before anything is claimed that would have to be given up.
    watch_for_interruption()?;
    let folder = ResultFolder::claim(&typed.out)?;
    if is_each(&typed.simulation.reading) {
        return units::compare_each(typed, folder);
    }
    let (comparison, workload) = Comparison::plan(typed, &typed.simulation, rows, None)?;
    let progress = Progress::new(typed.simulation.meeting.quiet);
    let Compared { runs, rows } = comparison.run(Some(workload), typed.jobs, &progress)?;
    drop(progress);
    let title = title(&runs);
    let text = written("text", &Document { title: &title, runs: &runs, comparison: true })?;
    let mut written = format!("{}/results.json, results.csv, report.html", typed.out.display());
    for (path, _) in &rows {
        written.push_str(&format!(", {}", path.display()));
    }
    folder.write("", COMPARISON, &title, &runs)?;
    publish(typed, folder, rows)?;
    print::bytes(&text)?;
    print::text(&format!("\nWritten: {written}"))
}

/// Gives all files their names: the results first, which are never lost for a file of requests that
/// cannot get its own.
pub fn publish(
    typed: &CompareArguments,
    folder: ResultFolder,
    rows: Vec<(PathBuf, ClosedFile)>,
) -> Outcome<()> {
    folder.publish()?;
    let publish = |(_, file): (PathBuf, ClosedFile)| file.publish().err();
    let failures: Vec<Failure> = rows.into_iter().filter_map(publish).collect();
    match failures.is_empty() {
        true => Ok(()),
        false => Err(Failure::Run(format!(
            "{}; the results in {} are complete",
            Failure::together(&failures),
            typed.out.display()
        ))),
    }
}

/// The schemes and the device: the heading of a report.
fn title(runs: &[RunResult]) -> String {
    let names: Vec<&str> = runs.iter().map(|run| run.scheme.as_str()).collect();
    let device = runs.first().map_or("", |run| run.device.as_str());
    format!("{} on {device}", names.join(", "))
}

/// A comparison that can begin.
pub struct Comparison {
    plan: Plan,
    probe: Option<ProbeWindow>,
    /// Where a row per request goes, by scheme; empty where that was not asked for.
    rows: Vec<PathBuf>,
}

/// A comparison that is done.
pub struct Compared {
    /// A result per scheme, in the order asked for.
    pub runs: Vec<RunResult>,
    /// Files of requests that are complete, with the names that they are to have.
    pub rows: Vec<(PathBuf, ClosedFile)>,
}

impl Comparison {
    /// Refuses what can be refused beforehand; `rows` is the name from which those of the files of
    /// requests follow; `described` is what was said of the same files before. The workload comes
    /// opened, because standard input opens but once.
    pub fn plan(
        typed: &CompareArguments,
        simulation: &SimulationArguments,
        rows: Option<&Path>,
        described: Option<&Description>,
    ) -> Outcome<(Self, Workload)> {
        let (plan, workload) = plan(&typed.schemes, simulation, described)?;
        let one = |path| move |run: &SchemePlan| path_for_scheme(path, &run.chosen.name);
        let rows = rows.map_or_else(Vec::new, |path| plan.runs.iter().map(one(path)).collect());
        for path in &rows {
            RequestsFile::check(path, &typed.out)?;
        }
        let probe = probe_window(typed.recording.probe.as_deref(), plan.requests_known)?;
        Ok((Comparison { plan, probe, rows }, workload))
    }

    /// What is said of its files; none for standard input, which must be read first.
    pub fn description(&self) -> Option<&Description> {
        self.plan.description.as_ref()
    }

    /// Bytes that its devices export.
    pub fn capacity_bytes(&self) -> u64 {
        self.plan.layout.capacity_bytes
    }

    /// Runs all schemes, `jobs` at a time; the workload is opened anew where none is given.
    pub fn run(
        self,
        workload: Option<Workload>,
        jobs: Option<u16>,
        progress: &Progress,
    ) -> Outcome<Compared> {
        let plan = &self.plan;
        let claim = |path: &PathBuf| RequestsFile::begin(path).map(Some);
        let mut requests: Vec<Option<RequestsFile>> =
            self.rows.iter().map(claim).collect::<Outcome<_>>()?;
        requests.resize_with(plan.runs.len(), || None);
        let probe = self.probe;
        let recordings: Vec<Recording<'_>> =
            requests.iter_mut().map(|file| Recording { requests: file.as_mut(), probe }).collect();
        let results = match workload {
            Some(workload) if plan.workload.is_standard_input() => {
                let only = recordings.into_iter().map(|recording| {
                    // Standard input has one scheme.
                    execute(plan, &plan.runs[0], &workload, progress, recording)
                });
                only.collect()
            }
            _ => side_by_side(plan, jobs, progress, recordings)?,
        };
        let runs = all_or_none(results)?;
        let complete = requests.into_iter().flatten().map(RequestsFile::complete);
        Ok(Compared { runs, rows: complete.collect::<Outcome<_>>()? })
    }
}

fn side_by_side(
    plan: &Plan,
    jobs: Option<u16>,
    progress: &Progress,
    recordings: Vec<Recording<'_>>,
) -> Outcome<Vec<Outcome<RunResult>>> {
    let jobs = jobs.map_or_else(|| default_jobs(plan), usize::from);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(jobs)
        .build()
        .map_err(|error| Failure::Run(format!("threads cannot be started: {error}")))?;
    let one = |(run, recording): (&SchemePlan, Recording<'_>)| {
        // Every run reads the workload for itself, from its start.
        let workload: Workload = plan.workload.open(plan.layout.capacity_bytes)?;
        execute(plan, run, &workload, progress, recording)
    };
    Ok(pool.install(|| plan.runs.par_iter().zip(recordings).map(one).collect()))
}

/// As many runs as cores, fewer when their devices might not fit the memory together.
fn default_jobs(plan: &Plan) -> usize {
    /// State of one page, its map entries and its share of its block, rounded up.
    const BYTES_PER_PAGE: u64 = 48;
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let Some(available) = available_bytes() else {
        return cores;
    };
    let device = &plan.runs[0].chosen.config.device;
    let pages = device.physical_blocks() * u64::from(device.units_per_block());
    // Untouched parts of a device cost nothing, so a known footprint bounds it too.
    let used = plan
        .layout
        .needed_bytes()
        .map_or(pages, |bytes| pages.min(4 * (bytes / plan.layout.page_bytes)));
    let fitting = available / (used * BYTES_PER_PAGE).max(1);
    cores.min(usize::try_from(fitting).unwrap_or(cores)).max(1)
}

/// A comparison with a scheme missing would be taken for a complete one.
fn all_or_none(results: Vec<Outcome<RunResult>>) -> Outcome<Vec<RunResult>> {
    let mut runs = Vec::with_capacity(results.len());
    let mut failures = Vec::new();
    for result in results {
        match result {
            Ok(run) => runs.push(run),
            Err(failure) => failures.push(failure),
        }
    }
    if failures.iter().any(|failure| matches!(failure, Failure::Interrupted)) {
        return Err(Failure::Interrupted);
    }
    // Bad input concerns every scheme alike and is said once.
    if let Some(index) = failures.iter().position(|failure| matches!(failure, Failure::Usage(_))) {
        return Err(failures.swap_remove(index));
    }
    if failures.is_empty() {
        return Ok(runs);
    }
    let done: Vec<&str> = runs.iter().map(|run| run.scheme.as_str()).collect();
    let others = match done.is_empty() {
        true => String::new(),
        false => format!("; {} succeeded, but nothing was written", done.join(", ")),
    };
    Err(Failure::Run(format!("{}{others}", Failure::together(&failures))))
}
