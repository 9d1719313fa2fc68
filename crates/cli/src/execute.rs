//! One run: prepare the device, drive the workload through it, audit, derive the result.

use std::time::Instant;

use ftlab_engine::ssd::Device;
use ftlab_report::derive::{RunFacts, derive};
use ftlab_report::result::{RunResult, Workload as WorkloadFacts};
use ftlab_trace::{Description, Workload};

use crate::driving::{Driven, drive};
use crate::failure::{Failure, Outcome};
use crate::memory::peak_rss_bytes;
use crate::plan::{Plan, SchemePlan};
use crate::precondition::Filler;
use crate::progress::Progress;
use crate::recording::Recording;
use crate::stream::RequestStream;
use crate::warnings;

/// Runs one scheme.
pub fn execute(
    plan: &Plan,
    run: &SchemePlan,
    workload: &Workload,
    progress: &Progress,
    recording: Recording<'_>,
) -> Outcome<RunResult> {
    let name = &run.chosen.name;
    let config = &run.chosen.config;
    let mut device = (run.chosen.row.open)(config, plan.seed)
        .map_err(|error| Failure::unsuited(name, &error))?;
    if plan.verify {
        device.verify_reads();
    }
    let mut stream = RequestStream::new(workload.requests(plan.layout.map()?)?);
    let pages = plan.layout.capacity_bytes / plan.layout.page_bytes;
    let length = run.mode.requests(pages, u64::from(config.device.units_per_block()));
    let bar = progress.bar(&format!("{name} (preparing)"), length);
    let precondition = Filler::new(device.as_mut(), &bar)
        .prepare(run.mode, plan.seed, plan.footprint.as_ref(), &mut stream)
        .map_err(|failure| failure.of(name))?;
    drop(bar);
    let bar = progress.bar(name, plan.requests_known);
    let began = Instant::now();
    let workload_and_rest = (workload, &mut stream);
    let driven = drive(plan, device.as_mut(), workload_and_rest, &bar, recording)
        .map_err(|failure| failure.of(name))?;
    let wall_seconds = began.elapsed().as_secs_f64();
    device
        .audit()
        .map_err(|broken| Failure::Run(format!("{name}: the audit did not pass: {broken}")))?;
    let description = match &plan.description {
        Some(description) => description.clone(),
        None => workload.describe()?,
    };
    let warnings = warnings::of_run(plan, run, device.as_ref(), &stream, &description);
    let facts = RunFacts {
        row: run.chosen.row,
        scheme: name.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        workload: workload_facts(plan, device.as_ref(), &driven, description),
        seed: plan.seed,
        precondition,
        warnings,
        simulated_ns: driven.last_completion,
        wall_seconds,
        worn_out: driven.worn_out,
    };
    let mut result = derive(device.as_ref(), facts);
    result.probe = driven.probe;
    result.phases = driven.phases;
    // Of the whole process: runs side by side share it.
    result.wall.peak_rss_bytes = peak_rss_bytes();
    Ok(result)
}

fn workload_facts(
    plan: &Plan,
    device: &dyn Device,
    driven: &Driven,
    description: Description,
) -> WorkloadFacts {
    let [reads, writes, ..] = device.board().meter().host().requests;
    let accesses = reads + writes;
    WorkloadFacts {
        name: description.name,
        sha256: description.sha256,
        requests: driven.records,
        read_ratio: if accesses == 0 { 0.0 } else { reads as f64 / accesses as f64 },
        footprint_pages: driven.footprint_pages,
        synthetic: description.synthetic,
        stand_in: description.stand_in,
        prefix: description.head,
        address: plan.layout.mode.name().to_owned(),
    }
}
