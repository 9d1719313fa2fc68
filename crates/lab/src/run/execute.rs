//! One run: prepare the device, drive the workload through it, audit, derive the result.

use std::time::Instant;

use ftlab_engine::ssd::Device;
use ftlab_report::derive::{RunFacts, derive};
use ftlab_report::result::{RunResult, Workload as WorkloadFacts};
use ftlab_trace::{Description, Workload};

use crate::error::{Error, Result};
use crate::memory::peak_rss_bytes;
use crate::observer::{Counts, Observer, Steps};
use crate::plan::first_pass;
use crate::plan::plan::Plan;
use crate::plan::repeat::Repeat;
use crate::plan::scheme_plan::SchemePlan;
use crate::run::driving::{Driven, drive};
use crate::run::filling::{Filler, Prepared, counts, length};
use crate::run::reclaiming::nothing_reclaimed;
use crate::run::recording::Recording;
use crate::run::stream::RequestStream;
use crate::run::warnings;

/// Runs one scheme; its result, and the device as the run left it.
pub fn execute(
    plan: &Plan,
    run: &SchemePlan,
    workload: &Workload,
    observer: &dyn Observer,
    recording: Recording<'_>,
) -> Result<(RunResult, Box<dyn Device>)> {
    let name = &run.chosen.name;
    let config = &run.chosen.config;
    let mut device =
        (run.chosen.row.open)(config, plan.seed).map_err(|error| Error::unsuited(name, &error))?;
    if plan.verify {
        device.verify_reads();
    }
    let mut stream = RequestStream::new(workload.requests(plan.layout.map()?)?);
    let label = format!("{name} (preparing)");
    let expected = length(&run.mode, &plan.layout);
    let steps = Steps::of(observer, counts(&run.mode), &label, expected);
    let source = (workload, &plan.layout, &mut stream);
    let Prepared { precondition, steady_state, warning } = Filler::new(device.as_mut(), &steps)
        .prepare(run, plan.seed, plan.footprint.as_ref(), source)
        .map_err(|error| error.of(name))?;
    drop(steps);
    let times = if let Repeat::Times(passes) = plan.repeat { passes } else { 1 };
    let length = plan.requests_known.map(|requests| requests.saturating_mul(times));
    let steps = Steps::requests(observer, name, length);
    let began = Instant::now();
    let workload_and_rest = (workload, &mut stream);
    let driven = drive(plan, device.as_mut(), workload_and_rest, &steps, recording)
        .map_err(|error| error.of(name))?;
    let wall_seconds = began.elapsed().as_secs_f64();
    let steps = Steps::of(observer, Counts::Pages, &format!("{name} (auditing)"), None);
    let audited = device.audit_while(&mut |pages| steps.answer(pages));
    drop(steps);
    if audited
        .map_err(|broken| Error::Run(format!("{name}: the audit did not pass: {broken}")))?
        .is_break()
    {
        return Err(Error::cancelled());
    }
    let description = match &plan.description {
        Some(description) => description.clone(),
        // Standard input: whether it came to `--head` is known only now.
        None => {
            let described = first_pass::description(workload, observer)?;
            let head = described.head.filter(|&head| stream.records_taken() >= head);
            Description { head, ..described }
        }
    };
    let mut warnings = warnings::of_run(plan, run, device.as_ref(), &stream, &description);
    warnings.extend(warning);
    warnings.extend(warnings::never_settled(&steady_state));
    warnings.extend(nothing_reclaimed(plan, run, device.as_ref(), driven.reach_bytes));
    warnings.extend(warnings::ended_early(plan, &driven));
    let facts = RunFacts {
        row: run.chosen.row,
        config: config.clone(),
        scheme: name.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        workload: workload_facts(plan, device.as_ref(), &driven, description),
        seed: plan.seed,
        precondition,
        steady_state,
        warnings,
        simulated_ns: driven.last_completion,
        longest_queue: driven.longest_queue,
        wall_seconds,
        worn_out: driven.worn_out,
    };
    let mut result = derive(device.as_ref(), facts);
    result.probe = driven.probe;
    result.phases = driven.phases;
    // Of the whole process: runs side by side share it.
    result.wall.peak_rss_bytes = peak_rss_bytes();
    Ok((result, device))
}

fn workload_facts(
    plan: &Plan,
    device: &dyn Device,
    driven: &Driven,
    description: Description,
) -> WorkloadFacts {
    let [reads, writes, ..] = device.board().meter().host().requests;
    let accesses = reads + writes;
    let (time, size) = (description.time_guess, description.size_guess);
    let (time_unit, time_unit_why) = time.map(|guess| (guess.unit, guess.why)).unzip();
    let (size_unit, size_unit_why) = size.map(|guess| (guess.unit, guess.why)).unzip();
    WorkloadFacts {
        name: description.name,
        sha256: description.sha256,
        requests: driven.records,
        passes: (plan.repeat != Repeat::Once).then_some(driven.passes),
        read_ratio: if accesses == 0 { 0.0 } else { reads as f64 / accesses as f64 },
        footprint_pages: driven.footprint_pages,
        synthetic: description.synthetic,
        stand_in: description.stand_in,
        prefix: description.head,
        units: plan.workload.options.units.list(),
        time_unit,
        time_unit_why,
        size_unit,
        size_unit_why,
        address: plan.layout.mode.name().to_owned(),
    }
}
