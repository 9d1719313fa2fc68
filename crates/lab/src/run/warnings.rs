//! Sentences that a reader must see beside the numbers.

use ftlab_engine::config::{
    Config, Described, GcSettings, GcTrigger, Groups, Isolation, MidasSettings, PlacementKind,
    PlacementSettings, Times, TimingProfile, UnwrittenRead,
};
use ftlab_engine::host::{Arbitration, Hints, SchedulerKind};
use ftlab_engine::meter::{Cause, Event, Level};
use ftlab_engine::request::Op;
use ftlab_engine::ssd::Device;
use ftlab_report::derive::json;
use ftlab_report::format::{Quantity, count};
use ftlab_report::result::SteadyState;
use ftlab_trace::{AddressMode, Description, DropReason};

use crate::options::precondition::Mode;
use crate::plan::budget::directory_key;
use crate::plan::plan::Plan;
use crate::plan::repeat::Repeat;
use crate::plan::scheme_plan::SchemePlan;
use crate::run::driving::Driven;
use crate::run::stream::RequestStream;
use crate::selection::Chosen;
use crate::sizing::sram;

/// Everything to say about a run that passed its audit.
pub fn of_run(
    plan: &Plan,
    run: &SchemePlan,
    device: &dyn Device,
    stream: &RequestStream,
    description: &Description,
) -> Vec<String> {
    let mut all = plan.warnings.clone();
    all.extend(about_workload(plan, stream, description));
    all.extend(about_addresses(plan, stream));
    all.extend(unheard(&run.chosen.config));
    all.extend(over_budget(run));
    all.extend(spare_unused(plan, run));
    all.extend(nothing_waits(plan, &run.chosen.config));
    all.extend(of_device_in_use(run, device));
    all
}

/// Everything to say about a device that no plan of a run knows.
pub fn of_device(run: &SchemePlan, device: &dyn Device) -> Vec<String> {
    let mut all: Vec<String> = over_budget(run).into_iter().collect();
    all.extend(of_device_in_use(run, device));
    all
}

/// Settings of placement that were set and that nobody asks for under the policy in force.
fn unheard(config: &Config) -> Option<String> {
    let (now, default) = (&config.placement, PlacementSettings::default());
    let (kind, trigger) = (config.gc.placement, config.gc.trigger);
    let hint = kind == PlacementKind::Hint;
    let initially = hint && now.isolation == Isolation::Initially;
    let sepbit = kind == PlacementKind::Sepbit;
    let measures = sepbit && now.sepbit_lifespan.0.is_none();
    let asks_when_moved = kind.times(now) == Times::WhenMoved;
    let dac = kind == PlacementKind::Dac;
    let told = [
        ("host.hints", config.host.hints != Hints::None, hint),
        ("placement.times", now.times != default.times, asks_when_moved),
        ("placement.handles", now.handles != default.handles, hint),
        ("placement.isolation", now.isolation != default.isolation, hint),
        ("placement.collection", now.collection != default.collection, initially),
        ("placement.sepbit_window", now.sepbit_window != default.sepbit_window, sepbit),
        ("placement.sepbit_victims", now.sepbit_victims != default.sepbit_victims, measures),
        ("placement.sepbit_lifespan", now.sepbit_lifespan != default.sepbit_lifespan, sepbit),
        ("placement.dac_max_update_age", now.dac_max_update_age > 0, dac),
        ("placement.dac_min_move_age", now.dac_min_move_age > 0, dac),
        ("midas.*", config.midas != MidasSettings::default(), kind == PlacementKind::Midas),
        (
            "gc.garbage_share",
            config.gc.garbage_share != GcSettings::default().garbage_share,
            trigger == GcTrigger::GarbageShare,
        ),
    ];
    let unheard: Vec<&str> =
        told.into_iter().filter(|(_, set, heard)| *set && !heard).map(|(key, ..)| key).collect();
    (!unheard.is_empty()).then(|| {
        format!(
            "Set without effect under gc.placement = {} and gc.trigger = {}: {}.",
            kind.name(),
            trigger.name(),
            unheard.join(", ")
        )
    })
}

fn over_budget(run: &SchemePlan) -> Option<String> {
    let config = &run.chosen.config;
    let budget = config.device.ram_bytes.0?;
    let used = sram(&(run.chosen.row.ram_use)(config));
    (used > budget.0).then(|| {
        format!(
            "Over the memory budget: {used} bytes of SRAM, {} are allowed, {} too many.{}",
            budget.0,
            used - budget.0,
            directory_on_top(run)
        )
    })
}

/// What the event-driven clock made wait longer than it had to: its own limit, in words and
/// numbers.
fn waited_for_others(device: &dyn Device) -> Option<String> {
    let (all, inexact) = device.board().nand().clock().operations_and_inexact();
    (inexact > 0).then(|| {
        format!(
            "timing.clock = event: {} of {} operations may have waited for operations of other requests, \
             too, because a token names three rows of operations at most.",
            count(inexact),
            count(all)
        )
    })
}

fn of_device_in_use(run: &SchemePlan, device: &dyn Device) -> Vec<String> {
    let config = &run.chosen.config;
    let mut all = Vec::new();
    all.extend(one_server(config));
    all.extend(empty_streams(device, config));
    all.extend(own_policies(config));
    all.extend(no_hints(device, config));
    all.extend(nothing_equal(device, config));
    all.extend(nothing_aged(device, config));
    all.extend(waited_for_others(device));
    let meter = device.board().meter();
    let lost = meter.events(Event::LostMapEntries);
    if lost > 0 {
        all.push(format!("{lost} changed map entries were lost in power cuts."));
    }
    if let Some(pages) = meter.level_now(Level::BufferedPages).filter(|&pages| pages > 0) {
        all.push(format!(
            "{pages} pages were still in the write buffer at the end: writing them out is not in \
             these numbers."
        ));
    }
    all.extend(read_without_data(run, device));
    let died = meter.events(Event::WornOutBlocks);
    if died > 0 {
        let in_slc = match device.board().nand().modes().are_there() {
            true => format!(", or {} in SLC mode", config.device.slc_endurance_cycles),
            false => String::new(),
        };
        all.push(format!(
            "{died} blocks died of age, by the erase that completed {} cycles{in_slc}.",
            config.device.endurance_cycles
        ));
    }
    let erases = meter.events(Event::EraseFailures).saturating_sub(died);
    let failures = meter.events(Event::ProgramFailures) + erases;
    if failures > 0 {
        all.push(format!("{failures} programs and erases failed, as nand.* asks for."));
    }
    all.extend(failed_die(device, config));
    let host = meter.host();
    if host.failed > 0 {
        let why = match config.nand.failing_die.0 {
            Some(_) if config.nand.read_error_rate > 0.0 => {
                "nand.read_error_rate and nand.failing_die ask"
            }
            Some(_) => "nand.failing_die asks",
            None => "nand.read_error_rate asks",
        };
        all.push(format!(
            "{} requests completed with an error: {} of their pages could not be read, as {why} for.",
            host.failed, host.unreadable_pages
        ));
    }
    all
}

/// What became of a die that was to fail, and of what it held.
fn failed_die(device: &dyn Device, config: &Config) -> Option<String> {
    let die = config.nand.failing_die.0?;
    let (after, meter) = (config.nand.die_fails_after, device.board().meter());
    if device.board().nand().failed_die().is_none() {
        return Some(format!(
            "nand.failing_die = {die}: it did not fail, since fewer than {after} pages were \
             programmed (nand.die_fails_after)."
        ));
    }
    let lost = meter.events(Event::LostPages);
    let left = meter.level_now(Level::LinesToRebuild).unwrap_or(0);
    let still = match left {
        0 => String::new(),
        lines => format!(" Up to {lines} lines may hold pages of it still."),
    };
    if config.rain.stripe == 0 {
        return Some(format!(
            "Die {die} failed after {after} programs, and nothing has what it held: without parity \
             (rain.stripe = 0) {lost} pages are known to be lost, and every other one that is not \
             written anew is lost when it is read.{still}"
        ));
    }
    let moved = meter.programs(Cause::Rebuild);
    Some(format!(
        "Die {die} failed after {after} programs: {} reads of its pages were answered by their \
         stripes, {moved} pages were moved elsewhere, {lost} were lost.{still}",
        meter.events(Event::RebuiltPages)
    ))
}

/// A device whose time was too short for its data to grow old.
fn nothing_aged(device: &dyn Device, config: &Config) -> Option<String> {
    let refresh = &config.refresh;
    let ns = device.measured_from() + device.idle_from();
    let days = ns as f64 / 86_400e9 + refresh.off_days;
    (refresh.days > 0.0 && days < refresh.days).then(|| {
        format!(
            "refresh.days = {}: the device's time, what it was off among it, was {days:.3} days, so \
             that none of its data grew old. Gaps of the workload, --timing trace:SCALE, --loop and \
             refresh.off_days make it longer.",
            refresh.days
        )
    })
}

/// A scheme that looks for equal contents, and found none.
fn nothing_equal(device: &dyn Device, config: &Config) -> Option<String> {
    let events = |event| device.board().meter().events(event);
    // Where a short hash comes first, what a longer one follows is counted under both.
    let hashed = events(Event::HashedPages).max(events(Event::PrehashedPages));
    let written = hashed + events(Event::SampledOut);
    let found = events(Event::ValueHits) + events(Event::JoinedPages);
    (written > 0 && found == 0).then(|| {
        format!(
            "None of the {} pages written was found on flash already. What is written says fiu's hash, \
             the column content of a CSV whose header names it, or dedupe_percentage of a generated \
             workload; a page of {} bytes that a request covers in part counts as never written before.",
            count(written),
            count(config.device.unit_bytes())
        )
    })
}

/// A column of hints that no write had.
fn no_hints(device: &dyn Device, config: &Config) -> Option<String> {
    let asked = config.gc.placement == PlacementKind::Hint && config.host.hints == Hints::Column;
    let meter = device.board().meter();
    let written = meter.classes().iter().map(|class| class.host_pages).sum::<u64>();
    let without = meter.events(Event::PagesWithoutHint);
    (asked && written > 0 && without == written).then(|| {
        format!(
            "host.hints = column: none of the {} pages written came with a hint, so that all went \
             to handle 0. Hints stand in the column stream of a CSV, whose header names it, or \
             come from hint=N of a generated workload.",
            count(written)
        )
    })
}

/// Who decided, where a program decides itself.
fn own_policies(config: &Config) -> impl Iterator<Item = String> {
    config.own.told().map(|(place, name, asked)| match asked {
        0 => format!(
            "The {place} policy {name} of the calling program was never asked: this scheme asks none \
             of that kind, or nothing came to it."
        ),
        _ => format!(
            "The {place} policy is {name}, of the calling program, which was asked {} times; these \
             numbers hold for it alone.",
            count(asked)
        ),
    })
}

/// Why a cache that fills the budget is over it, and what makes room.
fn directory_on_top(run: &SchemePlan) -> String {
    match directory_key(&run.chosen) {
        Some((key, false)) => format!(
            " The map's directory comes on top of a cache that may fill the budget; --ram-strict or \
             --set {key}=true makes room for it."
        ),
        _ => String::new(),
    }
}

/// Spare blocks that a scheme makes no use of, where a run states how many there are and nothing
/// about the log: that does not grow with them.
fn spare_unused(plan: &Plan, run: &SchemePlan) -> Option<String> {
    let set = &plan.experiment.set;
    let Chosen { name, row, config, .. } = &run.chosen;
    if !set.state("device.over_provisioning") {
        return None;
    }
    let groups = config.groups().into_iter().filter(|group| row.reads(config, group.name()));
    let settings: Vec<Described> = groups.flat_map(|group| group.describe()).collect();
    let (log, number) = settings.iter().find_map(|one| {
        let group = one.key.strip_suffix(".log_pct")?;
        Some((one, format!("{group}.log_blocks")))
    })?;
    let by_number = settings.iter().any(|one| one.key == number && one.value != one.default);
    if log.value != log.default || by_number || set.state(&log.key) {
        return None;
    }
    let device = &config.device;
    let data = device.logical_pages().div_ceil(u64::from(device.units_per_block()));
    let spare = config.usable_blocks().saturating_sub(data);
    let needed = (row.minimum_blocks)(config).saturating_sub(data);
    (spare >= 2 * needed).then(|| {
        format!(
            "{name} has a log of a fixed size ({} = {}), which does not grow with \
             device.over_provisioning: of {} spare blocks it needs {}, and the others are not used \
             as a log. --set {}=PERCENT makes it larger.",
            log.key,
            json(&log.value),
            count(spare),
            count(needed),
            log.key
        )
    })
}

/// Share of the pages read above which it is said that they held no data.
const NO_DATA_MIN: f64 = 0.01;

/// Reads of pages that hold no data cost other than those that do.
fn read_without_data(run: &SchemePlan, device: &dyn Device) -> Option<String> {
    let meter = device.board().meter();
    let found_none = meter.events(Event::UnwrittenReads);
    let share = found_none as f64 / meter.host().pages[Op::Read as usize].max(1) as f64;
    let unwritten = run.chosen.config.io.unwritten_read;
    let cost = match unwritten {
        UnwrittenRead::ZeroFree => "nothing",
        UnwrittenRead::ChargeRead | UnwrittenRead::Preload => "one page read",
    };
    let advice = match run.mode == Mode::Touch || unwritten == UnwrittenRead::Preload {
        true => "",
        false => " --precondition touch writes what the workload reads before it writes it.",
    };
    (share > NO_DATA_MIN).then(|| {
        format!(
            "{} of the pages read ({}) held no data (never written, or trimmed): beside the \
             look-up in the map each cost {cost} (io.unwritten_read).{advice}",
            count(found_none),
            Quantity::Fraction.format(share)
        )
    })
}

/// A closed loop that the device takes whole leaves nothing to choose from.
fn nothing_waits(plan: &Plan, config: &Config) -> Option<String> {
    let host = &config.host;
    let chooses = host.scheduler != SchedulerKind::Fcfs || host.arbitration != Arbitration::Fifo;
    let depth = plan.timing.in_flight(config).filter(|&depth| depth <= config.queue_depth())?;
    chooses.then(|| {
        format!(
            "host.scheduler = {} and host.arbitration = {} had nothing to choose from: the device \
             takes all {depth} requests in flight. --timing closed:DEPTH with a smaller \
             host.queue_depth leaves the others in the driver's queue.",
            host.scheduler.name(),
            host.arbitration.name()
        )
    })
}

/// A serial device has one server, which is idle for every request or for none.
fn one_server(config: &Config) -> Option<String> {
    let serial = config.timing.profile == TimingProfile::Serial;
    (serial && config.host.scheduler == SchedulerKind::OutOfOrder).then(|| {
        "host.scheduler = out_of_order is fcfs on a serial device: one server is idle for every \
         request or for none."
            .to_owned()
    })
}

/// Streams that no request of the workload belongs to.
fn empty_streams(device: &dyn Device, config: &Config) -> Option<String> {
    let streams = config.host.streams as usize;
    let counted = &device.board().meter().streams()[..streams];
    let empty = counted.iter().filter(|stream| stream.reads + stream.writes == 0).count();
    (streams > 1 && empty > 0).then(|| {
        format!(
            "{empty} of the {streams} streams got no read or write: the units (ASU, volume, disk) \
             of the workload are dealt out over host.streams by number."
        )
    })
}

/// Rounds of preconditioning that were not enough.
pub fn never_settled(state: &SteadyState) -> Option<String> {
    (state.reached == Some(false)).then(|| {
        format!(
            "The device did not settle in {} rounds of preconditioning ({}); it was measured all \
             the same.",
            state.rounds, state.explanation
        )
    })
}

/// A device that was worn out before the last pass over the workload.
pub fn ended_early(plan: &Plan, driven: &Driven) -> Option<String> {
    let (Repeat::Times(passes), Some(end)) = (plan.repeat, &driven.worn_out) else {
        return None;
    };
    Some(format!(
        "The device was worn out in pass {} of {passes}, after the host had written {} bytes: {} \
         blocks were out of use. The run ended there.",
        end.loops + 1,
        count(end.bytes_to_end),
        count(end.dead_blocks)
    ))
}

fn about_workload(plan: &Plan, stream: &RequestStream, description: &Description) -> Vec<String> {
    let mut all = Vec::new();
    if let Some(source) = &description.stand_in {
        all.push(format!(
            "The workload is a synthetic stand-in: generated to published statistics, not recorded \
             ({source})."
        ));
    } else if description.synthetic {
        all.push("The workload is synthetic: generated, not recorded.".to_owned());
    }
    let records = stream.requests().records();
    let summary = records.summary();
    if let Some(head) = description.head
        && summary.requests >= head
    {
        let of = match plan.workload.options.units.list() {
            None => "the workload".to_owned(),
            Some(list) if list.contains(',') => format!("units {}", list.replace(',', ", ")),
            Some(unit) => format!("unit {unit}"),
        };
        let through = match &plan.experiment.filter {
            Some(filter) => format!(", of those that --filter {filter} lets through,"),
            None => String::new(),
        };
        all.push(format!("Only the first {head} requests of {of}{through} were run (a prefix)."));
    }
    for dropped in summary.drops(records.names()) {
        if matches!(dropped.reason, DropReason::StrayTime | DropReason::ZeroSizeFlush) {
            all.push(format!(
                "{} lines of the trace were dropped ({}), the first of them {}:{}.",
                dropped.lines, dropped.reason, dropped.first_file, dropped.first_line
            ));
        }
    }
    all.extend(summary.skipped());
    // Whoever has the host wait for the device has no use for the trace's times.
    all.extend(summary.clock_stands().filter(|_| plan.timing.arrival(0).is_some()));
    if summary.out_of_order_lines > 0 {
        all.push(format!(
            "{} lines of the trace were out of order and were sorted by time.",
            summary.out_of_order_lines
        ));
    }
    all
}

fn about_addresses(plan: &Plan, stream: &RequestStream) -> Vec<String> {
    let mut all = Vec::new();
    let layout = &plan.layout;
    let counts = stream.requests().map_used().counts();
    match layout.needed_bytes() {
        Some(needed) if layout.mode == AddressMode::Modulo && needed > layout.capacity_bytes => {
            all.push(format!(
                "Addresses were folded: the workload reaches {needed} bytes, the device has {}; \
                 different data share pages.",
                layout.capacity_bytes
            ));
        }
        _ => {}
    }
    if counts.split > 0 {
        let of_what = if plan.repeat == Repeat::Once { "" } else { " of every pass" };
        all.push(format!(
            "{} requests{of_what} were split, because their parts are not adjacent on the device \
             (--address {}): they reached it in {} pieces. Each counts as one request, from its \
             arrival until its last piece was done.",
            counts.split,
            layout.mode.name(),
            counts.requests - (counts.records - counts.split)
        ));
    }
    all
}
