//! `ftlab trace`: what is in a trace, and converting it.

use ftlab_lab::{Result, ResultFile, workloads};
use ftlab_report::inspection;
use ftlab_trace::convert;

use crate::arguments::{ConvertArguments, InspectArguments, TraceCommand};
use crate::conversion;
use crate::find_subset::print_subset;
use crate::print;
use crate::progress::Progress;
use crate::watch::Watch;

/// Runs one of the three.
pub fn trace(command: &TraceCommand) -> Result<()> {
    match command {
        TraceCommand::Inspect(typed) => inspect_trace(typed),
        TraceCommand::Convert(typed) => convert_trace(typed),
        TraceCommand::FindSubset(typed) => print_subset(typed),
    }
}

fn inspect_trace(typed: &InspectArguments) -> Result<()> {
    let watch = Watch::begin()?;
    let claim = |path| ResultFile::claim(path, &watch.unfinished);
    let page = typed.html.as_deref().map(claim).transpose()?;
    let inspection = conversion::inspection(typed)?;
    let (found, value) = inspection.run(&Progress::new(false, &watch))?;
    if let Some(page) = page {
        page.publish(&inspection::write(&format!("Workload {}", found.name), &value))?;
    }
    if typed.json { print::json(&value) } else { print::text(&found.to_string()) }
}

fn convert_trace(typed: &ConvertArguments) -> Result<()> {
    let workload = workloads::open(&typed.input, &conversion::reading(&typed.reading)?)?;
    let done = convert(&workload, &typed.output)?;
    let side_by_side = match done.units {
        0 | 1 => String::new(),
        units => format!("; {units} units laid side by side"),
    };
    print::text(&format!(
        "{}: {} requests written{side_by_side}",
        typed.output.display(),
        done.requests
    ))
}
