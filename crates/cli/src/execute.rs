//! One run: prepare the device, drive the workload through it, audit, derive the result.

use std::cell::RefCell;
use std::time::Instant;

use ftlab_engine::host::Driver;
use ftlab_engine::request::{Completion, Op, Request};
use ftlab_engine::ssd::Device;
use ftlab_engine::units::Nanos;
use ftlab_report::derive::{RunFacts, derive};
use ftlab_report::result::{Probe, RunResult, Workload as WorkloadFacts};
use ftlab_trace::{Description, Workload};

use crate::failure::{Failure, Outcome};
use crate::footprint::{PageBits, pages};
use crate::memory::peak_rss_bytes;
use crate::plan::{Plan, SchemePlan};
use crate::precondition::Filler;
use crate::progress::{Bar, Progress};
use crate::recording::{Observer, Recording};
use crate::stream::RequestStream;
use crate::warnings;

/// What driving the workload through the device showed.
struct Driven {
    records: u64,
    footprint_pages: u64,
    last_completion: Nanos,
    probe: Option<Probe>,
}

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
    let driven = drive(plan, device.as_mut(), &mut stream, &bar, recording)
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
    };
    let mut result = derive(device.as_ref(), facts);
    result.probe = driven.probe;
    // Of the whole process: runs side by side share it.
    result.wall.peak_rss_bytes = peak_rss_bytes();
    Ok(result)
}

fn drive(
    plan: &Plan,
    device: &mut dyn Device,
    stream: &mut RequestStream,
    bar: &Bar,
    recording: Recording<'_>,
) -> Outcome<Driven> {
    let page_bytes = plan.layout.page_bytes;
    let records_before = stream.records_taken();
    let mut touched = PageBits::new(plan.layout.capacity_bytes / page_bytes);
    // Asked at every arrival and at every service, which the driver decides.
    let observer = RefCell::new(Observer::new(recording, device));
    let in_flight = plan.timing.in_flight(device.config());
    let mut driver = Driver::new(device.config(), in_flight);
    let (mut origin, mut last_completion, mut measured) = (None, 0, 0u64);
    let mut served = |device: &mut dyn Device, request: &Request, completion: &Completion| {
        last_completion = last_completion.max(completion.completed);
        observer.borrow_mut().served(device, request, completion)?;
        bar.advance()
    };
    while let Some(request) = stream.next_request() {
        let request = request?;
        // After a prefix the clock starts with the first measured request.
        let time = request.arrival - *origin.get_or_insert(request.arrival);
        let arrival = match plan.timing.arrival(time) {
            Some(arrival) => arrival,
            None => driver.next_arrival(device, &mut served)?,
        };
        let request = Request { arrival, ..request };
        observer.borrow_mut().arrives(device, &request);
        if matches!(request.op, Op::Read | Op::Write) {
            for page in pages(&request, page_bytes) {
                touched.insert(page);
            }
        }
        measured += 1;
        driver.submit(device, &request, &mut served)?;
    }
    driver.finish(device, &mut served)?;
    if measured == 0 {
        return Err(Failure::usage(format!(
            "nothing is left to measure: --precondition takes all {records_before} requests of \
             the workload"
        )));
    }
    Ok(Driven {
        records: stream.records_taken() - records_before,
        footprint_pages: touched.len(),
        last_completion,
        probe: observer.into_inner().finish(device),
    })
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
        prefix: description.head,
        address: plan.layout.mode.name().to_owned(),
    }
}
