//! `ftlab compare`: several schemes on one device and workload, side by side over the cores.
//!
//! Parallelism is across runs, never within one, so that results do not depend on it.

use std::num::NonZero;
use std::path::Path;

use ftlab_report::result::RunResult;
use ftlab_report::writers::Document;
use ftlab_trace::Workload;
use rayon::prelude::*;

use crate::arguments::CompareArguments;
use crate::execute::execute;
use crate::failure::{Failure, Outcome};
use crate::memory::available_bytes;
use crate::output::{ResultFolder, written};
use crate::plan::{Plan, SchemePlan, plan};
use crate::print;
use crate::progress::{Progress, watch_for_interruption};
use crate::recording::{Recording, RequestsFile, path_for_scheme, probe_window};

/// Plans, runs, writes, prints.
pub fn compare(typed: &CompareArguments) -> Outcome<()> {
    let folder = ResultFolder::claim(&typed.out)?;
    let (plan, workload) = plan(&typed.schemes, &typed.simulation)?;
    let mut requests = requests_files(&plan, typed.recording.requests_out.as_deref())?;
    let probe = probe_window(typed.recording.probe.as_deref(), plan.requests_known)?;
    let recordings: Vec<Recording<'_>> =
        requests.iter_mut().map(|file| Recording { requests: file.as_mut(), probe }).collect();
    watch_for_interruption()?;
    let progress = Progress::new(typed.simulation.meeting.quiet);
    let results = if plan.workload.is_standard_input() {
        let only = recordings.into_iter().map(|recording| {
            // Standard input has one scheme.
            execute(&plan, &plan.runs[0], &workload, &progress, recording)
        });
        only.collect()
    } else {
        drop(workload);
        side_by_side(&plan, typed.jobs, &progress, recordings)?
    };
    drop(progress);
    let runs = all_or_none(results)?;
    let names: Vec<&str> = runs.iter().map(|run| run.scheme.as_str()).collect();
    let device = &plan.runs[0].chosen.config.device.name;
    let title = format!("{} on {device}", names.join(", "));
    let text = written("text", &Document { title: &title, runs: &runs, comparison: true })?;
    let mut written = format!("{}/results.json, results.csv, report.html", typed.out.display());
    for file in requests.into_iter().flatten() {
        written.push_str(&format!(", {}", file.publish()?.display()));
    }
    folder.publish(&title, &runs)?;
    print::bytes(&text)?;
    print::text(&format!("\nWritten: {written}"))
}

/// A file of requests per scheme, or none for any.
fn requests_files(plan: &Plan, path: Option<&Path>) -> Outcome<Vec<Option<RequestsFile>>> {
    let one = |run: &SchemePlan| {
        path.map(|path| RequestsFile::claim(&path_for_scheme(path, &run.chosen.name))).transpose()
    };
    plan.runs.iter().map(one).collect()
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
    let said: Vec<String> = failures.iter().map(ToString::to_string).collect();
    let done: Vec<&str> = runs.iter().map(|run| run.scheme.as_str()).collect();
    let others = match done.is_empty() {
        true => String::new(),
        false => format!("; {} succeeded, but nothing was written", done.join(", ")),
    };
    Err(Failure::Run(format!("{}{others}", said.join("\nftlab: "))))
}
