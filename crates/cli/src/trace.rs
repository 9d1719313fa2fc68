//! `ftlab trace`: what is in a trace, and converting it.

use ftlab_report::inspection;
use ftlab_trace::{Inspection, InspectionOptions, convert, inspect_workload, parse_bytes};
use serde_json::Value;

use crate::arguments::{ConvertArguments, CountingArguments, InspectArguments, TraceCommand};
use crate::devices;
use crate::failure::{Failure, Outcome};
use crate::find_subset::print_subset;
use crate::output::ResultFile;
use crate::print;
use crate::progress::{Progress, watch_for_interruption};
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
    let page = typed.html.as_deref().map(ResultFile::claim).transpose()?;
    watch_for_interruption()?;
    let (found, value) = inspected(typed, &Progress::new(false))?;
    if let Some(page) = page {
        page.publish(&inspection::write(&format!("Workload {}", found.name), &value))?;
    }
    if typed.json { print::json(&value) } else { print::text(&found.to_string()) }
}

/// What an inspection finds, and the same as JSON.
pub fn inspected(typed: &InspectArguments, progress: &Progress) -> Outcome<(Inspection, Value)> {
    let (counting, logical_bytes) = counting(&typed.counting)?;
    let choice = WorkloadChoice::new(&typed.file, &typed.reading, &[])?;
    let workload = choice.open(logical_bytes)?;
    let bar = progress.bar(&choice.name, workload.requests_known());
    let mut found = inspect_workload(&workload, &counting, |requests| bar.advance_by(requests))?;
    drop(bar);
    found.stand_in = choice.stands_for();
    found.name = choice.name;
    let value = serde_json::to_value(&found)
        .map_err(|error| Failure::Run(format!("the inspection has no JSON form: {error}")))?;
    Ok((found, value))
}

/// What to count in, and the capacity that shares in a spec refer to; 0 without a device.
fn counting(typed: &CountingArguments) -> Outcome<(InspectionOptions, u64)> {
    let defaults = InspectionOptions::default();
    let (mut page_bytes, mut extent_bytes) = (defaults.page_bytes, defaults.extent_bytes);
    let mut logical_bytes = 0;
    if let Some(name) = &typed.device {
        let device = devices::find(name)?.config.device.clone();
        page_bytes = device.unit_bytes();
        extent_bytes = page_bytes * u64::from(device.units_per_block());
        logical_bytes = device.logical_pages() * page_bytes;
    }
    if let Some(text) = &typed.page_size {
        page_bytes = page_size(text)?;
    }
    let mut counting = InspectionOptions::of_pages(page_bytes, extent_bytes);
    if let Some(entries) = typed.map_entries {
        counting.map_entries = entries.into();
    }
    counting.cache_entries.clone_from(&typed.cache_entries);
    counting.cache_pages.clone_from(&typed.cache_pages);
    Ok((counting, logical_bytes))
}

fn page_size(text: &str) -> Outcome<u64> {
    let legal = |bytes: &u64| bytes.is_multiple_of(512) && (512..=16 << 20).contains(bytes);
    parse_bytes(text).ok().filter(legal).ok_or_else(|| {
        Failure::usage(format!(
            "--page-size '{text}' is not legal; legal: a multiple of 512 bytes up to 16 MiB, such \
             as 2k or 4KiB"
        ))
    })
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
