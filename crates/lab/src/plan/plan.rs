//! An experiment, turned into runs: schemes with their settings, sized devices, the workload and
//! where it lies on the device. Everything that can be refused before a run is refused here.

use std::path::PathBuf;

use ftlab_engine::config::{Bytes, Config, Optional};
use ftlab_report::probe::ProbeWindow;
use ftlab_trace::{AddressMode, Description, Workload};

use crate::error::Result;
use crate::experiment::Experiment;
use crate::observer::Observer;
use crate::options::capacity::Capacity;
use crate::options::precondition::{Mode, Modes};
use crate::options::timing::Timing;
use crate::plan::asked::Asked;
use crate::plan::budget::{apply_budget, apply_timing, enlarged};
use crate::plan::first_pass::{
    FirstPass, active_region, description, footprint, log_of_footprint, needs_footprint,
};
use crate::plan::footprint::Footprint;
use crate::plan::future;
use crate::plan::layout::Layout;
use crate::plan::refusals::{
    refuse_moments, refuse_other_caches, refuse_prefix_of_all, refuse_second_passes,
    refuse_to_fill_windows, refuse_to_repeat, refuse_unequal_prefixes, refuse_what_has_no_model,
};
use crate::plan::repeat::Repeat;
use crate::plan::scheme_plan::SchemePlan;
use crate::selection::Chosen;
use crate::sizing;
use crate::workload::choice::WorkloadChoice;
use crate::workload::traces::Traces;

/// Runs that can begin: everything about them but the state of their devices. Nothing that can be
/// refused beforehand is wrong with them.
pub struct Plan {
    /// What it was made from.
    pub(crate) experiment: Experiment,
    /// The runs, in the order asked for.
    pub(crate) runs: Vec<SchemePlan>,
    /// The workload.
    pub(crate) workload: WorkloadChoice,
    /// The same, opened: standard input opens but once.
    pub(crate) opened: Option<Workload>,
    /// Its name, digest and kind; none for standard input, which must be read first.
    pub(crate) description: Option<Description>,
    /// Where it lies.
    pub(crate) layout: Layout,
    /// When requests arrive.
    pub(crate) timing: Timing,
    /// What preparing must know; none where nothing asks for it.
    pub(crate) footprint: Option<Footprint>,
    /// Requests, where they were counted or the workload says how many it has.
    pub(crate) requests_known: Option<u64>,
    /// Seed of the devices.
    pub(crate) seed: u64,
    /// Compare reads with what was written.
    pub(crate) verify: bool,
    /// How often the workload is run.
    pub(crate) repeat: Repeat,
    /// Sentences for every result.
    pub(crate) warnings: Vec<String>,
    /// Those of them that say who was left out, and why.
    pub(crate) left_out: Vec<String>,
    /// Which requests are looked at closely.
    pub(crate) probe: Option<ProbeWindow>,
    /// Whether the slowest requests are looked into.
    pub(crate) tail: bool,
    /// Where a row per request goes.
    pub(crate) requests_out: Option<PathBuf>,
    /// Where the events of a trace go.
    pub(crate) trace_out: Option<PathBuf>,
    /// Where flash and phase-change memory go after the run.
    pub(crate) save_snapshot: Option<PathBuf>,
}

impl Plan {
    /// The schemes that will run, in the order asked for, with their presets.
    pub fn schemes(&self) -> impl ExactSizeIterator<Item = &str> {
        self.runs.iter().map(|run| run.chosen.name.as_str())
    }

    /// The effective settings of every scheme, in the same order.
    pub fn configs(&self) -> impl ExactSizeIterator<Item = &Config> {
        self.runs.iter().map(|run| &run.chosen.config)
    }

    /// What is done to each device before the measurement, in the same order.
    pub fn preconditions(&self) -> impl ExactSizeIterator<Item = &Mode> {
        self.runs.iter().map(|run| &run.mode)
    }

    /// Bytes that the device exports, which are the same for every scheme.
    #[must_use]
    pub fn capacity_bytes(&self) -> u64 {
        self.layout.capacity_bytes
    }

    /// When requests arrive.
    #[must_use]
    pub fn timing(&self) -> Timing {
        self.timing
    }

    /// Requests of one pass over the workload, where they were counted or the workload says how
    /// many it has.
    #[must_use]
    pub fn requests_known(&self) -> Option<u64> {
        self.requests_known
    }

    /// Name, digest and kind of the workload; none for standard input, which must be read first.
    #[must_use]
    pub fn description(&self) -> Option<&Description> {
        self.description.as_ref()
    }

    /// Sentences that every result of this plan will carry, among them which schemes were left out.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Those of them that say which schemes were left out, and why.
    #[must_use]
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }
}

/// What other runs found out about files, so that it need not be done again.
#[derive(Clone, Copy, Default)]
pub(crate) struct Known<'a> {
    /// Name and digest of the workload.
    pub described: Option<&'a Description>,
    /// Traces that are held.
    pub traces: Option<&'a Traces>,
}

/// Plans the runs of an experiment.
pub(crate) fn planned(
    experiment: &Experiment,
    known: Known<'_>,
    observer: &dyn Observer,
) -> Result<Plan> {
    let asked = Asked::of(experiment)?;
    let mut choice = asked.workload(experiment, Some(observer))?;
    let Asked { mut chosen, repeat, .. } = asked;
    let (capacity, mode) = (experiment.capacity, *experiment.address);
    let modes = &experiment.precondition;
    choice.lead_in(warmup(&chosen, modes));
    if repeat.goes_on(1) {
        refuse_to_repeat(repeat, &choice, modes, &chosen)?;
    }
    refuse_second_passes(&choice, capacity, mode, modes, &chosen)?;
    future::refuse(&chosen, &choice, modes, repeat)?;
    // A device that wears out in mid-trace tells how far it was read; what is held was read whole.
    if let Some(traces) = known.traces.filter(|_| repeat == Repeat::Once) {
        choice.decoded = traces.of(&choice, observer)?;
    }

    let mut first_pass = FirstPass::new(observer, choice.lead);
    let exported = match capacity {
        None => None,
        Some(Capacity::Bytes(bytes)) => Some(bytes),
        Some(Capacity::Auto) => {
            Some(first_pass.needed_bytes(&choice, mode, extent_bytes(&chosen[0]))?)
        }
    };
    let too_far = |first_pass: &FirstPass<'_>, error| match capacity {
        Some(Capacity::Auto) => first_pass.too_far(error, mode),
        _ => error,
    };
    let sized = exported.map(|bytes| sizing::resize(&mut chosen, bytes)).transpose();
    sized.map_err(|error| too_far(&first_pass, error))?;
    if chosen.iter().any(log_of_footprint) {
        know_active_region(&mut chosen, (&choice, mode), exported, &mut first_pass)?;
    }
    let left_out = apply_budget(&mut chosen, experiment)?;
    sizing::check_memory(&chosen[0]).map_err(|error| too_far(&first_pass, error))?;
    let left_out: Vec<String> =
        left_out.iter().map(|reason| format!("Left out: {reason}.")).collect();
    let mut warnings = choice.notes.clone();
    warnings.extend_from_slice(&left_out);
    warnings.extend(enlarged(&chosen[0], capacity));

    let device = &chosen[0].config.device;
    let (page_bytes, extent_bytes) = (device.unit_bytes(), extent_bytes(&chosen[0]));
    let capacity_bytes = device.logical_pages() * page_bytes;
    let workload = choice.open(capacity_bytes)?;
    let timing = Timing::of(experiment.timing, workload.closed_loop_depth())?;
    apply_timing(&mut chosen, timing, &experiment.set);
    refuse_moments(experiment, repeat, workload.parts().is_some(), timing, &chosen)?;
    // A trace is read before the run even where its capacity is stated and its units are not laid
    // side by side: that it has one unit, that its last line is legal and how many requests results
    // speak of is known of none that was not read. What `--capacity auto` found holds, though.
    let is_known = first_pass.spans.is_some() && !workload.depends_on_capacity();
    if workload.needs_survey() && workload.can_be_read_again() && !is_known {
        first_pass.survey(&workload, None)?;
    }
    first_pass.largest.as_ref().map(|largest| largest.check(capacity_bytes)).transpose()?;
    let counted = choice.whole.as_ref().zip(first_pass.requests_read);
    warnings.extend(counted.map(|(whole, requests)| whole.verdict(requests)));
    let own = workload.requests_known().map(|requests| requests - choice.lead);
    let requests_known = first_pass.requests.or(own);
    let kept = first_pass.kept(&choice, requests_known);
    let spans = first_pass.spans;
    let layout = Layout { mode, capacity_bytes, extent_bytes, page_bytes, spans };
    refuse_prefix_of_all(&chosen, modes, requests_known)?;
    future::know(&mut chosen, (&workload, &layout), observer)?;
    let footprint = match needs_footprint(&chosen, modes) {
        true => Some(footprint(&workload, &layout, observer)?),
        false => None,
    };
    let description = match (workload.can_be_read_again(), known.described) {
        (false, _) => None,
        (true, Some(known)) => Some(of_part(known.clone(), &choice, kept)),
        (true, None) => {
            let own = description(&choice.open_own(capacity_bytes)?, observer)?;
            Some(of_part(own, &choice, kept))
        }
    };
    Ok(Plan {
        experiment: experiment.clone(),
        runs: runs(chosen, modes, experiment.seed, observer)?,
        workload: choice,
        opened: Some(workload),
        description,
        layout,
        timing,
        footprint,
        requests_known,
        seed: experiment.seed,
        verify: experiment.verify,
        repeat,
        warnings,
        left_out,
        probe: experiment.probe.map(|probe| probe.window(requests_known)).transpose()?,
        tail: experiment.tail,
        requests_out: experiment.requests_out.clone(),
        trace_out: experiment.trace_out.clone(),
        save_snapshot: experiment.save_snapshot.clone(),
    })
}

/// What results say about a workload, of which the first `kept` requests are there where it has
/// more.
fn of_part(described: Description, choice: &WorkloadChoice, kept: Option<u64>) -> Description {
    let (name, stand_in) = (choice.name.clone(), choice.stands_for());
    Description { name, stand_in, head: kept, ..described }
}

/// The runs with their preparation, as far as it can be judged before it begins.
fn runs(
    chosen: Vec<Chosen>,
    modes: &Modes,
    seed: u64,
    observer: &dyn Observer,
) -> Result<Vec<SchemePlan>> {
    let with_mode = |chosen| SchemePlan::new(chosen, modes, seed, observer);
    let runs: Vec<SchemePlan> = chosen.into_iter().map(with_mode).collect::<Result<_>>()?;
    refuse_unequal_prefixes(&runs)?;
    refuse_other_caches(&runs, modes.cache())?;
    refuse_to_fill_windows(&runs)?;
    refuse_what_has_no_model(&runs)?;
    Ok(runs)
}

/// Logs that are a share of what the workload touches are known once that is.
fn know_active_region(
    chosen: &mut [Chosen],
    workload: (&WorkloadChoice, AddressMode),
    exported: Option<u64>,
    first_pass: &mut FirstPass<'_>,
) -> Result<()> {
    let region = active_region(&chosen[0], workload, first_pass)?;
    for one in chosen.iter_mut() {
        one.config.device.active_region = Optional(Some(Bytes(region)));
    }
    exported.map_or(Ok(()), |bytes| sizing::resize(chosen, bytes))
}

/// Requests of the warm-up, which is the same for all.
fn warmup(chosen: &[Chosen], modes: &Modes) -> u64 {
    let of = |one: &Chosen| match modes.of(&one.name) {
        Mode::Warmup(requests) => requests,
        _ => 0,
    };
    chosen.iter().map(of).max().unwrap_or(0)
}

fn extent_bytes(chosen: &Chosen) -> u64 {
    let device = &chosen.config.device;
    device.unit_bytes() * u64::from(device.units_per_block())
}
