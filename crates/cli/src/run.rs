//! `ftlab run`: one scheme, its table, and its JSON and a row per request if wanted.

use ftlab_report::writers::Document;

use crate::arguments::RunArguments;
use crate::execute::execute_and_keep;
use crate::failure::{Failure, Outcome};
use crate::output::{ResultFile, written};
use crate::plan::plan;
use crate::print;
use crate::progress::{Progress, watch_for_interruption};
use crate::recording::{Recording, RequestsFile, probe_window};
use crate::snapshot;

/// Plans, runs and writes.
pub fn run(typed: &RunArguments) -> Outcome<()> {
    let (plan, workload) = plan(&typed.scheme, &typed.simulation, None)?;
    let [one] = plan.runs.as_slice() else {
        return Err(Failure::usage("--scheme takes one scheme; `ftlab compare` takes several"));
    };
    if typed.recording.probe.is_some() && typed.json.is_none() {
        return Err(Failure::usage(
            "--probe shows in the JSON of a run: give --json FILE, or use `ftlab compare`, which \
             draws it",
        ));
    }
    let probe = probe_window(typed.recording.probe.as_deref(), plan.requests_known)?;
    // Before anything is claimed that would have to be given up.
    watch_for_interruption()?;
    let file = typed.json.as_deref().map(ResultFile::claim).transpose()?;
    let requests_out = typed.recording.requests_out.as_deref();
    let mut requests = requests_out.map(RequestsFile::claim).transpose()?;
    let kept = typed.save_snapshot.as_deref().map(|path| snapshot::claim(path, &one.chosen));
    let kept = kept.transpose()?;
    let progress = Progress::new(typed.simulation.meeting.quiet);
    let recording = Recording { requests: requests.as_mut(), probe };
    let (result, mut device) = execute_and_keep(&plan, one, &workload, &progress, recording)?;
    drop(progress);
    let title = format!("{} on {}", result.scheme, result.device);
    let document =
        Document { title: &title, runs: std::slice::from_ref(&result), comparison: false };
    if let Some(requests) = requests {
        requests.complete()?.1.publish()?;
    }
    if let Some(file) = file {
        file.publish(&written("json", &document)?)?;
    }
    print::bytes(&written("text", &document)?)?;
    // Last: the run is done, whatever becomes of its snapshot.
    kept.map_or(Ok(()), |kept| {
        snapshot::save(kept, device.as_mut(), &one.chosen, plan.seed).map_err(|failure| {
            Failure::Run(format!(
                "no snapshot was saved: {failure}; the result above is complete{}",
                if typed.json.is_some() { ", and so is --json" } else { "" }
            ))
        })
    })
}
