//! What does not go together, whatever the workload and the devices are.

use std::borrow::Cow;

use ftlab_engine::config::{ClockKind, UnwrittenRead};
use ftlab_engine::occupancy;
use ftlab_trace::AddressMode;

use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::options::capacity::Capacity;
use crate::options::precondition::{Cache, Mode, Modes};
use crate::options::timing::Timing;
use crate::plan::first_pass::log_of_footprint;
use crate::plan::repeat::Repeat;
use crate::plan::scheme_plan::SchemePlan;
use crate::selection::Chosen;
use crate::workload::choice::WorkloadChoice;

/// Standard input is read once; whatever must know the workload beforehand cannot take it.
pub fn refuse_second_passes(
    choice: &WorkloadChoice,
    capacity: Option<Capacity>,
    mode: AddressMode,
    modes: &Modes,
    chosen: &[Chosen],
) -> Result<()> {
    if !choice.is_standard_input() {
        return Ok(());
    }
    let preload = |one: &Chosen| one.config.io.unwritten_read == UnwrittenRead::Preload;
    let touch = |one: &Chosen| modes.of(&one.name) == Mode::Touch;
    let warmup = |one: &Chosen| matches!(modes.of(&one.name), Mode::Warmup(_));
    let reason: Cow<'static, str> = if chosen.len() > 1 {
        "every scheme reads the workload from its start".into()
    } else if capacity == Some(Capacity::Auto) {
        "--capacity auto needs a first pass over the workload to know what it touches".into()
    } else if mode == AddressMode::Dense {
        "--address dense needs a first pass over the workload to know its footprint".into()
    } else if chosen.iter().any(touch) {
        "--precondition touch needs a first pass over the workload to know its pages".into()
    } else if chosen.iter().any(warmup) {
        "--precondition warmup:N reads the workload before the run does".into()
    } else if chosen.iter().any(log_of_footprint) {
        "the log is a share of what the workload touches (log_base = active_region), which needs a \
         first pass over it; --set device.active_region=BYTES does not"
            .into()
    } else if chosen.iter().any(preload) {
        "io.unwritten_read = preload needs a first pass over the workload to know which pages it \
         reads before it writes them (--set io.unwritten_read=charge_read does not)"
            .into()
    } else {
        return Ok(());
    };
    Err(Error::usage(format!(
        "--workload - (standard input) can be read only once, but {reason}; legal: a file"
    )))
}

/// What is repeated must be there from its start each time.
pub fn refuse_to_repeat(
    repeat: Repeat,
    choice: &WorkloadChoice,
    modes: &Modes,
    chosen: &[Chosen],
) -> Result<()> {
    let prefix = |one: &Chosen| matches!(modes.of(&one.name), Mode::Prefix(_));
    let reason = if choice.is_standard_input() {
        "--workload - (standard input) can be read only once"
    } else if chosen.iter().any(prefix) {
        "--precondition prefix:N takes requests away that every repetition would have"
    } else {
        return Ok(());
    };
    Err(Error::usage(format!("{} repeats the workload, but {reason}", repeat.option())))
}

/// Whoever wants to hear of requests one by one needs their completions at once, and an
/// event-driven clock knows them when simulated time reaches them.
pub fn refuse_moments(
    experiment: &Experiment,
    repeat: Repeat,
    is_combined: bool,
    timing: Timing,
    chosen: &[Chosen],
) -> Result<()> {
    let event = |one: &&Chosen| one.config.timing.clock == ClockKind::Event;
    if !chosen.iter().any(|one| event(&one)) {
        return Ok(());
    }
    let other_depth = chosen.iter().filter(event).find_map(|one| {
        let depth = one.config.queue_depth();
        let in_flight = timing.in_flight(&one.config).unwrap_or(depth);
        (in_flight != depth).then_some((in_flight, depth))
    });
    let reason = if experiment.requests_out.is_some() {
        "--requests-out writes a row as each request is served".to_owned()
    } else if experiment.trace_out.is_some() {
        "--trace-out draws requests as they are served".to_owned()
    } else if experiment.probe.is_some() {
        "--probe looks at requests as they are served".to_owned()
    } else if experiment.tail {
        "--tail looks at requests as they are served".to_owned()
    } else if repeat != Repeat::Once {
        format!("{} looks at the device after each request", repeat.option())
    } else if is_combined {
        "a combined workload shows its parts request by request".to_owned()
    } else if let Some((in_flight, depth)) = other_depth {
        format!(
            "a closed loop of {in_flight} requests in front of a device that holds {depth} \
             (host.queue_depth) chooses by completions"
        )
    } else {
        return Ok(());
    };
    Err(Error::usage(format!(
        "timing.clock = event knows completions when simulated time reaches them, and {reason}; \
         legal: timing.clock = call_order, or leave the other out"
    )))
}

/// A prefix is taken from the workload, and a warm-up comes before it: schemes with different ones
/// would measure different runs.
pub fn refuse_unequal_prefixes(runs: &[SchemePlan]) -> Result<()> {
    let prefix = |run: &SchemePlan| match run.mode {
        Mode::Prefix(count) => (count, 0),
        Mode::Warmup(count) => (0, count),
        _ => (0, 0),
    };
    match runs.iter().all(|run| prefix(run) == prefix(&runs[0])) {
        true => Ok(()),
        false => Err(Error::usage(
            "--precondition prefix:N and warmup:N must be the same for all schemes, otherwise they \
             would measure different requests",
        )),
    }
}

/// Caches that cannot be cleaned, memory that a power cut does not empty, and caches kept where
/// there were none.
pub fn refuse_other_caches(runs: &[SchemePlan], asked: Option<Cache>) -> Result<()> {
    let Some(cache) = asked else { return Ok(()) };
    for SchemePlan { chosen: Chosen { row, config, name, .. }, mode, .. } in runs {
        let why = match cache {
            Cache::Clean => (row.uncleanable)(config),
            Cache::Cold if config.device.ram_nonvolatile => {
                Some("device.ram_nonvolatile = true keeps its memory over a power cut")
            }
            Cache::Warm if mode.begins_by_recovery() => {
                Some("its memory begins with what recovery finds on the flash")
            }
            Cache::Warm | Cache::Cold => None,
        };
        if let Some(why) = why {
            let others = match cache {
                Cache::Warm => "clean or cold",
                Cache::Clean if mode.begins_by_recovery() => "cold",
                Cache::Clean => "cold or warm",
                Cache::Cold => "clean or warm",
            };
            return Err(Error::usage(format!(
                "--precondition cache={} cannot be had of {name}: {why}; legal: cache={others}, or \
                 other schemes",
                cache.name()
            )));
        }
    }
    Ok(())
}

/// A prefix that takes every request leaves nothing to measure; where their number is not known
/// beforehand, the run finds out.
pub fn refuse_prefix_of_all(
    chosen: &[Chosen],
    modes: &Modes,
    requests_known: Option<u64>,
) -> Result<()> {
    let Some(known) = requests_known else { return Ok(()) };
    let all = |one: &Chosen| matches!(modes.of(&one.name), Mode::Prefix(count) if count >= known);
    match chosen.iter().any(all) {
        false => Ok(()),
        true => Err(Error::usage(format!(
            "nothing is left to measure: --precondition takes all {known} requests of the workload"
        ))),
    }
}

/// `model` knows some schemes and victim policies only.
pub fn refuse_what_has_no_model(runs: &[SchemePlan]) -> Result<()> {
    for run in runs.iter().filter(|run| run.mode == Mode::Model) {
        let Chosen { row, config, .. } = &run.chosen;
        occupancy::check(row.paper.name, config).map_err(|error| {
            Error::usage(format!(
                "--precondition model: {error}; legal: another mode for it, such as \
                 model,{}=steady",
                run.chosen.name
            ))
        })?;
    }
    Ok(())
}

/// Preparing writes and never flushes, and the last window of a zone moves to flash by a flush
/// alone.
pub fn refuse_to_fill_windows(runs: &[SchemePlan]) -> Result<()> {
    let writes = |mode: &Mode| !matches!(mode, Mode::None | Mode::Snapshot(_));
    for SchemePlan { chosen: Chosen { config, name, row, .. }, mode, .. } in runs {
        let pages = config.scheme.zns.zrwa;
        if row.maps_in_host && pages > 0 && writes(mode) {
            return Err(Error::usage(format!(
                "--precondition {mode} does not go with the windows of {name} (zns.zrwa = {pages}): it \
                 flushes nothing, and zones would stay active; legal: none, or zns.zrwa = 0"
            )));
        }
    }
    Ok(())
}
