//! `ftlab run`: one scheme, its table, and its JSON and a row per request if wanted.

use ftlab_lab::{Error, Experiment, Result, ResultFile};
use ftlab_report::writers::Document;

use crate::arguments::RunArguments;
use crate::conversion;
use crate::output::{identify, written};
use crate::print;
use crate::progress::Progress;
use crate::watch::Watch;

/// Plans, runs and writes.
pub fn run(typed: &RunArguments, watch: &Watch) -> Result<()> {
    let experiment = conversion::experiment(&typed.scheme, &typed.simulation, &typed.recording)?;
    let experiment = Experiment { save_snapshot: typed.save_snapshot.clone(), ..experiment };
    watch.begin()?;
    let progress = Progress::new(typed.simulation.meeting.quiet, watch);
    // Nothing is claimed yet that would have to be given up.
    let plan = experiment.plan_with(&progress)?;
    if plan.schemes().len() > 1 {
        return Err(Error::usage("--scheme takes one scheme; `ftlab compare` takes several"));
    }
    if typed.recording.probe.is_some() && typed.json.is_none() {
        return Err(Error::usage(
            "--probe shows in the JSON of a run: give --json FILE, or use `ftlab compare`, which \
             draws it",
        ));
    }
    if let Some(path) =
        typed.json.as_ref().filter(|path| typed.recording.trace_out.as_ref() == Some(path))
    {
        return Err(Error::usage(format!(
            "--json and --trace-out are both {}; legal: a name for each",
            path.display()
        )));
    }
    let claim = |path| ResultFile::claim(path, &watch.unfinished);
    let file = typed.json.as_deref().map(claim).transpose()?;
    let mut finished = plan.run_and_keep(&progress)?;
    identify(&mut finished.result, typed.simulation.meeting.reproducible);
    let result = &finished.result;
    let title = format!("{} on {}", result.scheme, result.device);
    let document =
        Document { title: &title, runs: std::slice::from_ref(result), comparison: false };
    if let Some(file) = file {
        file.publish(&written("json", &document)?)?;
    }
    print::bytes(&written("text", &document)?)?;
    // Last: the run is done, whatever becomes of its snapshot.
    let json = if typed.json.is_some() { ", and so is --json" } else { "" };
    let complete = format!("the result above is complete{json}");
    finished.save_snapshot(&progress).map(|_| ()).map_err(|error| match error {
        Error::Cancelled(_) => {
            Error::Cancelled(format!("interrupted; no snapshot was saved; {complete}"))
        }
        error => Error::Run(format!("no snapshot was saved: {error}; {complete}")),
    })
}
