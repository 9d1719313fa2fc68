//! `ftlab compare`: several schemes on one device and workload, side by side over the cores.

use ftlab_lab::{Experiment, Result, RunResult, Units, check_beside};
use ftlab_report::writers::Document;

use crate::arguments::{CompareArguments, RecordingArguments};
use crate::conversion;
use crate::output::{COMPARISON, identify, written};
use crate::print;
use crate::progress::Progress;
use crate::result_folder::{ResultFolder, publish};
use crate::units::compare_each;
use crate::watch::Watch;

/// Plans, runs, writes, prints.
pub fn compare(typed: &CompareArguments, watch: &Watch) -> Result<()> {
    let RecordingArguments { requests_out, trace_out, .. } = &typed.recording;
    check_beside(requests_out.as_deref(), trace_out.as_deref(), &typed.out)?;
    // Before anything is claimed that would have to be given up.
    watch.begin()?;
    let mut folder = ResultFolder::claim(&typed.out, typed.resume, &watch.unfinished)?;
    let experiment = conversion::experiment(&typed.schemes, &typed.simulation, &typed.recording)?;
    let progress = Progress::new(typed.simulation.meeting.quiet, watch);
    let done = match experiment.unit == Units::Each {
        true => compare_each(&experiment, typed, &mut folder, progress),
        false => compare_together(&experiment, typed, &mut folder, progress),
    };
    done.map_err(|error| folder.given_up(error))
}

fn compare_together(
    experiment: &Experiment,
    typed: &CompareArguments,
    folder: &mut ResultFolder,
    progress: Progress,
) -> Result<()> {
    let comparison = experiment.compare_with(Some(folder.kept()), &progress)?;
    folder.check_resumed()?;
    progress.tell(comparison.plan().left_out());
    let mut complete = comparison.run(typed.jobs(), &progress)?.complete()?;
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
