//! `ftlab trace`: what is in a trace, and converting it.

use ftlab_trace::{InspectionOptions, convert, inspect};

use crate::arguments::{ConvertArguments, InspectArguments, TraceCommand};
use crate::devices;
use crate::failure::{Failure, Outcome};
use crate::find_subset::print_subset;
use crate::print;
use crate::workloads::WorkloadChoice;

/// Runs one of the three.
pub fn trace(command: &TraceCommand) -> Outcome<()> {
    match command {
        TraceCommand::Inspect(typed) => inspect_trace(typed),
        TraceCommand::Convert(typed) => convert_trace(typed),
        TraceCommand::FindSubset(typed) => print_subset(typed),
    }
}

fn inspect_trace(typed: &InspectArguments) -> Outcome<()> {
    let mut counting = InspectionOptions::default();
    let mut logical_bytes = 0;
    if let Some(name) = &typed.device {
        let device = devices::find(name)?.config.device;
        counting.page_bytes = device.unit_bytes();
        counting.extent_bytes = device.unit_bytes() * u64::from(device.units_per_block());
        logical_bytes = device.logical_pages() * device.unit_bytes();
    }
    let choice = WorkloadChoice::new(&typed.file, &typed.reading, &[])?;
    let mut found = inspect(&choice.text, &choice.options, logical_bytes, &counting)?;
    found.name = choice.name;
    if typed.json {
        let value = serde_json::to_value(&found)
            .map_err(|error| Failure::Run(format!("the inspection has no JSON form: {error}")))?;
        return print::json(&value);
    }
    print::text(&found.to_string())
}

fn convert_trace(typed: &ConvertArguments) -> Outcome<()> {
    let workload = WorkloadChoice::new(&typed.input, &typed.reading, &[])?.open(0)?;
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
