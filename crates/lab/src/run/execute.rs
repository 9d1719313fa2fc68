//! One run: prepare the device, drive the workload through it, audit, derive the result.

use std::num::NonZero;
use std::time::Instant;

use chrono::{SecondsFormat, Utc};

use ftlab_engine::ssd::Device;
use ftlab_report::derive::{RunFacts, derive};
use ftlab_report::result::{Made, RunResult, Workload as WorkloadFacts};
use ftlab_trace::{Description, Workload};

use crate::error::{Error, Result};
use crate::memory::peak_rss_bytes;
use crate::observer::{Counts, Observer, Steps};
use crate::plan::first_pass;
use crate::plan::plan::Plan;
use crate::plan::repeat::Repeat;
use crate::plan::scheme_plan::SchemePlan;
use crate::run::driving::{Driven, drive};
use crate::run::filling::{Own, Prepared};
use crate::run::preparing::{Preparation, Ready};
use crate::run::reclaiming::nothing_reclaimed;
use crate::run::recording::Recording;
use crate::run::stream::RequestStream;
use crate::run::{overload, rest, warnings};

/// Runs one scheme; its result, and the device as the run left it.
pub fn execute(
    plan: &Plan,
    run: &SchemePlan,
    workload: &Workload,
    observer: &dyn Observer,
    recording: Recording<'_>,
) -> Result<(RunResult, Box<dyn Device>)> {
    let made = made(plan);
    let mut stream = RequestStream::new(workload.requests(plan.layout.map()?)?);
    let own = Own { workload, layout: &plan.layout, requests: &mut stream };
    let ready = Preparation::of(plan, run).make(Some(own), observer)?;
    let (result, device) = measure((plan, run), ready, (workload, stream), observer, recording)?;
    Ok((RunResult { made, ..result }, device))
}

/// The same of a device that was prepared already, from the like of what the plan says.
pub fn execute_from(
    ready: Ready,
    plan: &Plan,
    run: &SchemePlan,
    workload: &Workload,
    observer: &dyn Observer,
    recording: Recording<'_>,
) -> Result<RunResult> {
    let made = made(plan);
    let stream = RequestStream::new(workload.requests(plan.layout.map()?)?);
    let (result, _) = measure((plan, run), ready, (workload, stream), observer, recording)?;
    Ok(RunResult { made, ..result })
}

/// Drives the workload through a device, audits, derives.
fn measure(
    (plan, run): (&Plan, &SchemePlan),
    Ready { mut device, prepared }: Ready,
    (workload, mut stream): (&Workload, RequestStream),
    observer: &dyn Observer,
    recording: Recording<'_>,
) -> Result<(RunResult, Box<dyn Device>)> {
    let name = &run.chosen.name;
    let Prepared { precondition, steady_state, warning } = prepared;
    let times = if let Repeat::Times(passes) = plan.repeat { passes } else { 1 };
    let length = plan.requests_known.map(|requests| requests.saturating_mul(times));
    let steps = Steps::requests(observer, name, length);
    let began = Instant::now();
    let workload_and_rest = (workload, &mut stream);
    let driven = drive((plan, name), device.as_mut(), workload_and_rest, &steps, recording)
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
    warnings.extend(driven.recorded.warning.clone());
    let facts = RunFacts {
        row: run.chosen.row,
        config: run.chosen.config.clone(),
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
    (result.probe, result.tail) = (driven.recorded.probe, driven.recorded.tail);
    result.phases = driven.phases;
    let steady = &mut result.steady_state;
    (steady.response, steady.extra_programs) = rest::trends(&result.series);
    let overloaded = overload::overloaded(&result, driven.arriving, plan.timing.scale());
    let restless = rest::not_at_rest(&result, overloaded.is_some(), plan.repeat, &run.mode);
    result.warnings.extend(overloaded);
    result.warnings.extend(restless);
    // Of the whole process: runs side by side share it.
    result.wall.peak_rss_bytes = peak_rss_bytes();
    Ok((result, device))
}

/// What makes the run again, with those that it was planned with; the program adds its commit.
fn made(plan: &Plan) -> Made {
    let own = &plan.experiment;
    let now = Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true);
    let filter = own.filter.as_ref().map(ToString::to_string);
    Made { filter, ..made_by(own.command(), plan.timing.to_string(), now) }
}

/// What the machine adds to a command, an option and a moment.
pub fn made_by(command: String, timing: String, started: String) -> Made {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname");
    let name = name.unwrap_or_else(|_| "a machine without a name".to_owned());
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let build = if cfg!(debug_assertions) { "with debug assertions" } else { "optimised" };
    Made {
        command,
        timing,
        filter: None,
        commit: String::new(),
        build: build.to_owned(),
        host: format!("{}, {cores} cores", name.trim()),
        started,
    }
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
