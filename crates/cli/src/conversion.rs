//! What was typed, as the library takes it. A value that is not legal is refused here, by the type
//! that it is to have.

use std::num::NonZero;
use std::str::FromStr;

use ftlab_lab::{Counting, Experiment, Inspection, Reading, Result, TwinOf, Until, WorkloadPair};

use crate::arguments;
use crate::arguments::{
    CompareWorkloadsArguments, CountingArguments, DeviceArguments, FitArguments, InspectArguments,
    MeetingArguments, ReadingArguments, RecordingArguments, SimulationArguments,
};

/// The experiment of `run` and `compare`, whose schemes are one option or the other.
pub fn experiment(
    schemes: &str,
    typed: &SimulationArguments,
    recording: &RecordingArguments,
) -> Result<Experiment> {
    let MeetingArguments { ram_strict, verify, passes, seed, .. } = typed.meeting;
    let meeting = &typed.meeting;
    // In the order in which a run comes to need them.
    let device = device(schemes, &typed.device)?;
    let address = meeting.address.parse()?;
    let precondition = meeting.precondition.parse()?;
    let reading = reading(&typed.reading)?;
    let timing = parsed(meeting.timing.as_deref())?;
    let ram = parsed(meeting.ram.as_deref())?;
    let experiment = Experiment {
        workload: typed.workload.clone(),
        address,
        precondition,
        timing,
        ram,
        ram_strict,
        verify,
        until: meeting.until.map(|arguments::Until::WornOut| Until::WornOut),
        passes,
        seed,
        probe: parsed(recording.probe.as_deref())?,
        tail: recording.tail,
        requests_out: recording.requests_out.clone(),
        trace_out: recording.trace_out.clone(),
        ..device
    };
    Ok(experiment.with_reading(reading))
}

/// An experiment as far as `ftlab ram` knows one: schemes, a device and its settings.
pub fn device(schemes: &str, typed: &DeviceArguments) -> Result<Experiment> {
    Ok(Experiment {
        schemes: schemes.into(),
        device: typed.device.clone(),
        capacity: parsed(typed.capacity.as_deref())?,
        buffer: typed.buffer.clone(),
        set: typed.set.iter().map(String::as_str).collect(),
        ..Experiment::default()
    })
}

/// How a trace is read.
pub fn reading(typed: &ReadingArguments) -> Result<Reading> {
    Ok(Reading {
        trace_dir: typed.trace_dir.clone(),
        find_subset: typed.find_subset,
        format: typed.format.clone(),
        time_unit: parsed(typed.time_unit.as_deref())?,
        size_unit: parsed(typed.size_unit.as_deref())?,
        parts: parsed(typed.parts.as_deref())?,
        unit: typed.unit.parse()?,
        filter: parsed(typed.filter.as_deref())?,
        head: typed.head,
        reorder_window: typed.reorder_window.parse()?,
        skip_bad: typed.skip_bad,
    })
}

/// What is looked into.
pub fn inspection(typed: &InspectArguments) -> Result<Inspection> {
    let counting = counting(&typed.counting)?;
    let reading = reading(&typed.reading)?;
    Ok(Inspection { workload: typed.file.clone(), reading, counting })
}

/// What a generator is learned from.
pub fn twin(typed: &FitArguments) -> Result<TwinOf> {
    let options = stated(&typed.reading).join(" ");
    Ok(TwinOf { workload: typed.file.clone(), reading: reading(&typed.reading)?, options })
}

/// The options of reading that were stated, as they were.
fn stated(typed: &ReadingArguments) -> Vec<String> {
    let defaults = [("unit", &typed.unit, "all"), ("reorder-window", &typed.reorder_window, "1s")];
    let texts = [
        ("format", typed.format.clone()),
        ("time-unit", typed.time_unit.clone()),
        ("size-unit", typed.size_unit.clone()),
        ("parts", typed.parts.clone()),
        ("filter", typed.filter.clone()),
        ("skip-bad", (typed.skip_bad > 0).then(|| typed.skip_bad.to_string())),
        ("head", typed.head.map(|head| head.to_string())),
        ("trace-dir", typed.trace_dir.as_ref().map(|folder| folder.display().to_string())),
    ];
    let texts = texts.into_iter().filter_map(|(name, text)| Some((name, text?)));
    let changed = defaults.into_iter().filter(|(_, text, default)| text != default);
    let changed = changed.map(|(name, text, _)| (name, text.clone()));
    let mut all: Vec<String> =
        texts.chain(changed).map(|(name, text)| format!("--{name} {text}")).collect();
    all.extend(typed.find_subset.then(|| "--find-subset".to_owned()));
    all
}

/// The two workloads that are compared.
pub fn pair(typed: &CompareWorkloadsArguments) -> Result<WorkloadPair> {
    Ok(WorkloadPair {
        a: typed.a.clone(),
        b: typed.b.clone(),
        reading: reading(&typed.reading)?,
        page_size: parsed(typed.page_size.as_deref())?,
    })
}

fn counting(typed: &CountingArguments) -> Result<Counting> {
    Ok(Counting {
        device: typed.device.clone(),
        page_size: parsed(typed.page_size.as_deref())?,
        map_entries: typed.map_entries.and_then(NonZero::new),
        cache_entries: typed.cache_entries.iter().copied().filter_map(NonZero::new).collect(),
        cache_pages: typed.cache_pages.iter().copied().filter_map(NonZero::new).collect(),
    })
}

/// The value of an option that may be absent.
fn parsed<T: FromStr>(text: Option<&str>) -> Result<Option<T>, T::Err> {
    text.map(str::parse).transpose()
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use ftlab_lab::reproduce::{Request, Work};

    use super::*;
    use crate::arguments::{Arguments, Command, TraceCommand};

    /// The report gives a command line for every run: whoever types it gets that run.
    #[test]
    fn command_lines_of_reproduced_runs_mean_these_runs() {
        for quick in [false, true] {
            let request = Request { names: vec!["all".to_owned()], quick, ..Request::default() };
            let studies = request.plan().unwrap();
            for (name, job) in studies.jobs() {
                let words = std::iter::once("ftlab").chain(job.words.iter().map(String::as_str));
                let typed = match Arguments::try_parse_from(words).unwrap().command {
                    Command::Run(typed) => {
                        let (simulation, recording) = (&typed.simulation, &typed.recording);
                        let run = experiment(&typed.scheme, simulation, recording).unwrap();
                        Work::Run(Box::new(run))
                    }
                    Command::Trace(TraceCommand::Inspect(typed)) => {
                        Work::Inspection(Box::new(inspection(&typed).unwrap()))
                    }
                    other => panic!("{name}: {} is {other:?}", job.id),
                };
                assert_eq!(typed, job.work, "{name}: {}", job.id);
            }
        }
    }
}
