//! What was typed, turned into runs: schemes with their settings, sized devices, the workload and
//! where it lies on the device. Everything that can be refused before a run is refused here.

use std::borrow::Cow;

use ftlab_engine::config::{Bytes, Optional, UnwrittenRead};
use ftlab_engine::occupancy;
use ftlab_trace::{AddressMap, AddressMode, Description, UnitSpans, Workload};

use crate::arguments::{MeetingArguments, SimulationArguments, Until};
use crate::devices;
use crate::failure::{Failure, Outcome};
use crate::first_pass::{FirstPass, footprint, needs_footprint};
use crate::footprint::Footprint;
use crate::precondition::{Mode, Modes};
use crate::selection::{self, Chosen};
use crate::sizing::{self, Capacity};
use crate::snapshot::Snapshot;
use crate::timing::Timing;
use crate::workloads::WorkloadChoice;

/// One scheme's run.
pub struct SchemePlan {
    /// Scheme and settings.
    pub chosen: Chosen,
    /// How its device is prepared.
    pub mode: Mode,
    /// What its device starts from, where that is a file.
    pub snapshot: Option<Snapshot>,
}

impl SchemePlan {
    fn new(chosen: Chosen, modes: &Modes, seed: u64) -> Outcome<Self> {
        let mode = modes.of(&chosen.name);
        let snapshot = match &mode {
            Mode::Snapshot(path) => Some(Snapshot::open(path)?),
            _ => None,
        };
        if let Some(snapshot) = &snapshot {
            snapshot.check(&chosen, seed)?;
        }
        Ok(SchemePlan { chosen, mode, snapshot })
    }
}

/// How often the workload is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// Once.
    Once,
    /// So many times, or until the device is worn out.
    Times(u64),
    /// Until the device is worn out.
    UntilWornOut,
}

impl Repeat {
    fn of(typed: &MeetingArguments) -> Self {
        match (typed.until, typed.passes) {
            (Some(Until::WornOut), _) => Repeat::UntilWornOut,
            (None, Some(passes)) => Repeat::Times(passes),
            (None, None) => Repeat::Once,
        }
    }

    /// The option that asked for it.
    pub fn option(self) -> &'static str {
        if self == Repeat::UntilWornOut { "--until worn-out" } else { "--loop" }
    }

    /// Whether another pass follows after so many.
    pub fn goes_on(self, passes: u64) -> bool {
        match self {
            Repeat::Once => false,
            Repeat::Times(wanted) => passes < wanted,
            Repeat::UntilWornOut => true,
        }
    }
}

/// Where the workload lies on the device; the same for every scheme.
pub struct Layout {
    /// How addresses are turned.
    pub mode: AddressMode,
    /// Exported bytes.
    pub capacity_bytes: u64,
    /// One erase block.
    pub extent_bytes: u64,
    /// Bytes of a page.
    pub page_bytes: u64,
    spans: Option<UnitSpans>,
}

impl Layout {
    /// A map at its start.
    pub fn map(&self) -> Outcome<AddressMap> {
        let spans = self.spans.as_ref();
        Ok(AddressMap::new(self.mode, self.capacity_bytes, self.extent_bytes, spans)?)
    }

    /// Bytes that the workload reaches, where a first pass found out.
    pub fn needed_bytes(&self) -> Option<u64> {
        self.spans.as_ref().map(UnitSpans::capacity_bytes)
    }
}

/// Everything about the runs but their device state.
pub struct Plan {
    /// The runs, in the order asked for.
    pub runs: Vec<SchemePlan>,
    /// The workload.
    pub workload: WorkloadChoice,
    /// Its name, digest and kind; none for standard input, which must be read first.
    pub description: Option<Description>,
    /// Where it lies.
    pub layout: Layout,
    /// When requests arrive.
    pub timing: Timing,
    /// What preparing must know; none where nothing asks for it.
    pub footprint: Option<Footprint>,
    /// Requests, where they were counted or the workload says how many it has.
    pub requests_known: Option<u64>,
    /// Seed of the devices.
    pub seed: u64,
    /// Compare reads with what was written.
    pub verify: bool,
    /// How often the workload is run.
    pub repeat: Repeat,
    /// Sentences for every result.
    pub warnings: Vec<String>,
}

/// What was typed about schemes and devices.
pub struct Asked {
    chosen: Vec<Chosen>,
    /// Settings of the workload.
    changes: Vec<(String, String)>,
    capacity: Capacity,
    mode: AddressMode,
    modes: Modes,
}

/// Reads what can be read without the workload.
pub fn asked(schemes: &str, typed: &SimulationArguments) -> Outcome<Asked> {
    let device = devices::find(&typed.device.device)?;
    let mut overrides = selection::overrides(&typed.device)?;
    let changes = selection::workload_changes(&mut overrides)?;
    let mut chosen = selection::choose(schemes, &device.config, &overrides)?;
    let capacity = Capacity::parse(typed.device.capacity.as_deref())?;
    for one in chosen.iter_mut().filter(|_| Repeat::of(&typed.meeting) == Repeat::UntilWornOut) {
        one.config.wear.blocks_die = true;
    }
    let mode: AddressMode = typed.meeting.address.parse()?;
    let modes = Modes::parse(&typed.meeting.precondition)?;
    Ok(Asked { chosen, changes, capacity, mode, modes })
}

impl Asked {
    /// The schemes, in the order asked for.
    pub fn schemes(&self) -> impl Iterator<Item = &str> {
        self.chosen.iter().map(|one| one.name.as_str())
    }

    /// Settings of the workload.
    pub fn changes(&self) -> &[(String, String)] {
        &self.changes
    }
}

/// Plans the runs of `schemes`; the workload comes opened, because standard input opens but once.
/// Where the same files were `described` before, their digest is not computed again.
pub fn plan(
    schemes: &str,
    typed: &SimulationArguments,
    described: Option<&Description>,
) -> Outcome<(Plan, Workload)> {
    let meeting = &typed.meeting;
    let Asked { mut chosen, changes, capacity, mode, modes } = asked(schemes, typed)?;
    let repeat = Repeat::of(meeting);
    let choice = WorkloadChoice::new(&typed.workload, &typed.reading, &changes)?;
    if repeat.goes_on(1) {
        refuse_to_repeat(repeat, &choice, &modes, &chosen)?;
    }
    refuse_second_passes(&choice, capacity, mode, &modes, &chosen)?;

    let mut first_pass = FirstPass::default();
    let exported = match capacity {
        Capacity::Device => None,
        Capacity::Bytes(bytes) => Some(bytes),
        Capacity::Auto => Some(first_pass.needed_bytes(&choice, mode, extent_bytes(&chosen[0]))?),
    };
    exported.map(|bytes| sizing::resize(&mut chosen, bytes)).transpose()?;
    let left_out = apply_budget(&mut chosen, typed, capacity)?;
    let mut warnings = choice.notes.clone();
    warnings.extend(left_out.iter().map(|reason| format!("Left out: {reason}.")));
    warnings.extend(enlarged(&chosen[0], capacity));

    let device = chosen[0].config.device.clone();
    let page_bytes = device.unit_bytes();
    let capacity_bytes = device.logical_pages() * page_bytes;
    let workload = choice.open(capacity_bytes)?;
    let timing = Timing::parse(meeting.timing.as_deref(), workload.closed_loop_depth())?;
    apply_timing(&mut chosen, timing, &typed.device.set);
    if workload.needs_survey() && workload.can_be_read_again() {
        first_pass.survey(&workload, extent_bytes(&chosen[0]))?;
    }
    let counted = choice.whole.as_ref().zip(first_pass.requests_read);
    warnings.extend(counted.map(|(whole, requests)| whole.verdict(requests)));
    let requests_known = first_pass.requests.or(workload.requests_known());
    let kept = first_pass.kept(&choice, requests_known);
    let layout = Layout {
        mode,
        capacity_bytes,
        extent_bytes: extent_bytes(&chosen[0]),
        page_bytes,
        spans: first_pass.spans,
    };
    refuse_prefix_of_all(&chosen, &modes, requests_known)?;
    let footprint = match needs_footprint(&chosen, &modes) {
        true => Some(footprint(&workload, &layout)?),
        false => None,
    };
    let description = description(&choice, &workload, described, kept)?;
    let runs = runs(chosen, &modes, meeting.seed)?;
    let plan = Plan {
        requests_known,
        workload: choice,
        description,
        layout,
        timing,
        footprint,
        seed: meeting.seed,
        verify: meeting.verify,
        repeat,
        runs,
        warnings,
    };
    Ok((plan, workload))
}

/// What results say about the workload, of which the first `kept` requests are there where it has
/// more; none for standard input, which must be read first.
fn description(
    choice: &WorkloadChoice,
    workload: &Workload,
    described: Option<&Description>,
    kept: Option<u64>,
) -> Outcome<Option<Description>> {
    if !workload.can_be_read_again() {
        return Ok(None);
    }
    let described = described.map_or_else(|| workload.describe(), |known| Ok(known.clone()))?;
    let (name, stand_in) = (choice.name.clone(), choice.stands_for());
    Ok(Some(Description { name, stand_in, head: kept, ..described }))
}

/// The runs with their preparation, as far as it can be judged before it begins.
fn runs(chosen: Vec<Chosen>, modes: &Modes, seed: u64) -> Outcome<Vec<SchemePlan>> {
    let with_mode = |chosen| SchemePlan::new(chosen, modes, seed);
    let runs: Vec<SchemePlan> = chosen.into_iter().map(with_mode).collect::<Outcome<_>>()?;
    refuse_unequal_prefixes(&runs)?;
    refuse_what_has_no_model(&runs)?;
    Ok(runs)
}

fn extent_bytes(chosen: &Chosen) -> u64 {
    let device = &chosen.config.device;
    device.unit_bytes() * u64::from(device.units_per_block())
}

/// Standard input is read once; whatever must know the workload beforehand cannot take it.
fn refuse_second_passes(
    choice: &WorkloadChoice,
    capacity: Capacity,
    mode: AddressMode,
    modes: &Modes,
    chosen: &[Chosen],
) -> Outcome<()> {
    if !choice.is_standard_input() {
        return Ok(());
    }
    let preload = |one: &Chosen| one.config.io.unwritten_read == UnwrittenRead::Preload;
    let touch = |one: &Chosen| modes.of(&one.name) == Mode::Touch;
    let reason: Cow<'static, str> = if chosen.len() > 1 {
        "every scheme reads the workload from its start".into()
    } else if capacity == Capacity::Auto {
        "--capacity auto needs a first pass over the workload to know what it touches".into()
    } else if mode == AddressMode::Dense {
        "--address dense needs a first pass over the workload to know its footprint".into()
    } else if chosen.iter().any(touch) {
        "--precondition touch needs a first pass over the workload to know its pages".into()
    } else if chosen.iter().any(preload) {
        "io.unwritten_read = preload needs a first pass over the workload to know which pages it \
         reads before it writes them (--set io.unwritten_read=charge_read does not)"
            .into()
    } else {
        return Ok(());
    };
    Err(Failure::usage(format!(
        "--workload - (standard input) can be read only once, but {reason}; legal: a file"
    )))
}

/// What is repeated must be there from its start each time.
fn refuse_to_repeat(
    repeat: Repeat,
    choice: &WorkloadChoice,
    modes: &Modes,
    chosen: &[Chosen],
) -> Outcome<()> {
    let prefix = |one: &Chosen| matches!(modes.of(&one.name), Mode::Prefix(_));
    let reason = if choice.is_standard_input() {
        "--workload - (standard input) can be read only once"
    } else if chosen.iter().any(prefix) {
        "--precondition prefix:N takes requests away that every repetition would have"
    } else {
        return Ok(());
    };
    Err(Failure::usage(format!("{} repeats the workload, but {reason}", repeat.option())))
}

/// A prefix is taken from the workload: schemes with different ones would measure different runs.
fn refuse_unequal_prefixes(runs: &[SchemePlan]) -> Outcome<()> {
    let prefix = |run: &SchemePlan| match run.mode {
        Mode::Prefix(count) => count,
        _ => 0,
    };
    match runs.iter().all(|run| prefix(run) == prefix(&runs[0])) {
        true => Ok(()),
        false => Err(Failure::usage(
            "--precondition prefix:N must be the same for all schemes, otherwise they would \
             measure different requests",
        )),
    }
}

/// A prefix that takes every request leaves nothing to measure; where their number is not known
/// beforehand, the run finds out.
fn refuse_prefix_of_all(
    chosen: &[Chosen],
    modes: &Modes,
    requests_known: Option<u64>,
) -> Outcome<()> {
    let Some(known) = requests_known else { return Ok(()) };
    let all = |one: &Chosen| matches!(modes.of(&one.name), Mode::Prefix(count) if count >= known);
    match chosen.iter().any(all) {
        false => Ok(()),
        true => Err(Failure::usage(format!(
            "nothing is left to measure: --precondition takes all {known} requests of the workload"
        ))),
    }
}

/// `model` knows some schemes and victim policies only.
fn refuse_what_has_no_model(runs: &[SchemePlan]) -> Outcome<()> {
    for run in runs.iter().filter(|run| run.mode == Mode::Model) {
        let Chosen { row, config, .. } = &run.chosen;
        occupancy::check(row.paper.name, config).map_err(|error| {
            Failure::usage(format!(
                "--precondition model: {error}; legal: another mode for it, such as \
                 model,{}=steady",
                run.chosen.name
            ))
        })?;
    }
    Ok(())
}

/// Bounds the SRAM; returns what was left out and why.
fn apply_budget(
    chosen: &mut Vec<Chosen>,
    typed: &SimulationArguments,
    capacity: Capacity,
) -> Outcome<Vec<String>> {
    let meeting = &typed.meeting;
    let stated = typed.device.set.iter().any(|text| text.trim().starts_with("device.ram_bytes"));
    if let Some(text) = &meeting.ram {
        if stated {
            return Err(Failure::usage("--ram and --set device.ram_bytes exclude each other"));
        }
        let budget = sizing::budget(text, chosen, &typed.device.set)?;
        for one in chosen.iter_mut() {
            one.config.device.ram_bytes = Optional(Some(Bytes(budget)));
        }
    }
    for one in chosen.iter() {
        one.config.check()?;
        (one.row.check)(&one.config).map_err(|error| Failure::unsuited(&one.name, &error))?;
    }
    let Some(Bytes(budget)) = chosen[0].config.device.ram_bytes.0 else {
        if meeting.ram_strict {
            return Err(Failure::usage("--ram-strict needs a budget: --ram BYTES"));
        }
        return Ok(Vec::new());
    };
    let mut left_out = Vec::new();
    if meeting.ram_strict {
        chosen.retain(|one| {
            let sram = sizing::sram(&(one.row.ram_use)(&one.config));
            if sram > budget {
                let name = &one.name;
                left_out.push(format!(
                    "{name} takes {sram} bytes of SRAM, --ram allows {budget} (--ram-strict)"
                ));
            }
            sram <= budget
        });
        if chosen.is_empty() {
            return Err(Failure::usage(format!("no scheme is left: {}", left_out.join("; "))));
        }
    }
    // What a scheme needs on flash can follow from its memory.
    if capacity != Capacity::Device {
        let device = &chosen[0].config.device;
        let bytes = device.logical_pages() * device.unit_bytes();
        sizing::resize(chosen, bytes)?;
    }
    Ok(left_out)
}

/// Says so when the schemes' needs made a device larger than its over-provisioning.
fn enlarged(one: &Chosen, capacity: Capacity) -> Option<String> {
    if capacity == Capacity::Device {
        return None;
    }
    let device = &one.config.device;
    let mut plain = device.clone();
    plain.set_capacity(device.logical_pages() * device.unit_bytes(), 0);
    let (given, asked) = (device.physical_blocks(), plain.physical_blocks());
    (given > asked).then(|| {
        let share = (given * u64::from(device.units_per_block())) as f64
            / device.logical_pages() as f64
            - 1.0;
        format!(
            "The device has {given} blocks instead of {asked}, because a scheme needs that many: \
             {:.1} % of spare space instead of the {:.1} % of device.over_provisioning.",
            100.0 * share,
            100.0 * device.over_provisioning
        )
    })
}

/// The device takes all requests of a closed loop, unless its own queue depth is asked for; then
/// the others wait in the driver's queue.
fn apply_timing(chosen: &mut [Chosen], timing: Timing, overrides: &[String]) {
    let own = overrides.iter().any(|text| text.trim().starts_with("host.queue_depth"));
    if let (Timing::ClosedLoop { depth: Some(depth) }, false) = (timing, own) {
        for one in chosen {
            one.config.host.queue_depth = Optional(Some(depth));
        }
    }
}
