//! `ftlab compare`: several schemes on one device and workload, side by side over the cores.

use std::num::NonZero;

use ftlab_lab::{Result, RunResult, Units, check_beside};
use ftlab_report::writers::Document;

use crate::arguments::{CompareArguments, RecordingArguments};
use crate::conversion;
use crate::output::{COMPARISON, ResultFolder, identify, publish, written};
use crate::print;
use crate::progress::Progress;
use crate::units::compare_each;
use crate::watch::Watch;

/// Plans, runs, writes, prints.
pub fn compare(typed: &CompareArguments) -> Result<()> {
    let RecordingArguments { requests_out, trace_out, .. } = &typed.recording;
    check_beside(requests_out.as_deref(), trace_out.as_deref(), &typed.out)?;
    // Before anything is claimed that would have to be given up.
    let watch = Watch::begin()?;
    let folder = ResultFolder::claim(&typed.out, &watch.unfinished)?;
    let experiment = conversion::experiment(&typed.schemes, &typed.simulation, &typed.recording)?;
    let progress = Progress::new(typed.simulation.meeting.quiet, &watch);
    let jobs = typed.jobs.and_then(|jobs| NonZero::new(usize::from(jobs)));
    if experiment.unit == Units::Each {
        let reproducible = typed.simulation.meeting.reproducible;
        return compare_each(&experiment, jobs, folder, (progress, reproducible));
    }
    let comparison = experiment.compare_with(Some(&typed.out), &progress)?;
    let mut complete = comparison.run(jobs, &progress)?.complete()?;
    let reproducible = typed.simulation.meeting.reproducible;
    complete.runs.iter_mut().for_each(|run| identify(run, reproducible));
    drop(progress);
    let runs = &complete.runs;
    let title = title(runs);
    let text = written("text", &Document { title: &title, runs, comparison: true })?;
    let mut written = format!("{}/results.json, results.csv, report.html", typed.out.display());
    for file in &complete.beside {
        written.push_str(&format!(", {}", file.path().display()));
    }
    folder.write("", COMPARISON, &title, runs)?;
    publish(folder, complete.beside)?;
    print::bytes(&text)?;
    print::text(&format!("\nWritten: {written}"))
}

/// The schemes and the device: the heading of a report.
fn title(runs: &[RunResult]) -> String {
    let names: Vec<&str> = runs.iter().map(|run| run.scheme.as_str()).collect();
    let device = runs.first().map_or("", |run| run.device.as_str());
    format!("{} on {device}", names.join(", "))
}
