//! From counts to a result: everything that is a ratio, a percentile, a mean or a joule.
//!
//! The engine counts and derives nothing; this file is the only place where its counts become the
//! numbers of a result file. What the device cannot know (workload, preparation, wall clock) comes
//! in as [`RunFacts`].

mod by_cause;
mod curves;
mod energy;
mod series;
mod stages;
mod tail;
mod wear;

pub(crate) use energy::total_picojoules;
pub(crate) use tail::{shares, slowest, total, worst};

use std::collections::BTreeMap;

use ftlab_engine::board::nand::Nand;
use ftlab_engine::config::{Config, Described, Groups, PlacementKind, Shown};
use ftlab_engine::meter::{BlockRole, Cause, ClassCounts, Event, LatencyStatistics, Meter};
use ftlab_engine::schemes::{Memory, RamUse as StructureUse, Row, TABLE};
use ftlab_engine::ssd::Device;
use ftlab_engine::units::{Nanos, SECTOR_BYTES};
use serde_json::{Map, Value};

use self::by_cause::by_cause;
use crate::result::{
    Buffer, ByDirection, DataClass, DataGroup, Erases, ErasesByMode, Flash, FlashTime, Host,
    LatencyParts, LatencySummary, MapCache, Merges, OwnPolicy, Percentiles, Precondition,
    RamStructure, RamUse, RunResult, ServiceTime, Split, SteadyState, Wall, Workload, WornOut,
};

/// What is known of a run besides its device.
pub struct RunFacts<'a> {
    /// The scheme.
    pub row: &'a Row,
    /// The settings under which its device was opened.
    pub config: Config,
    /// Name of the scheme as the user wrote it, with its preset.
    pub scheme: String,
    /// Version of ftlab.
    pub version: String,
    /// What was run.
    pub workload: Workload,
    /// Seed of every random stream.
    pub seed: u64,
    /// How the device was prepared.
    pub precondition: Precondition,
    /// Whether it had settled by then; whether anything was reclaimed is told from the counts.
    pub steady_state: SteadyState,
    /// Sentences that a reader must see.
    pub warnings: Vec<String>,
    /// From the first arrival to the last completion, ns.
    pub simulated_ns: Nanos,
    /// Most requests that waited for the device at once.
    pub longest_queue: u64,
    /// Seconds that the measured part took to simulate.
    pub wall_seconds: f64,
    /// How the device ended, where it was driven to its end.
    pub worn_out: Option<WornOut>,
}

/// The result of a run whose audit passed.
///
/// # Panics
/// When the settings are not those of the device.
#[must_use]
pub fn derive(device: &dyn Device, facts: RunFacts<'_>) -> RunResult {
    assert_eq!(device.config(), &facts.config.ssd, "the device runs under the settings told");
    let board = device.board();
    let meter = board.meter();
    let host = host(meter, facts.longest_queue);
    let flash = flash(meter, board.nand());
    let seconds = facts.simulated_ns as f64 / 1e9;
    let per_second = |amount: f64| if seconds > 0.0 { amount / seconds } else { 0.0 };
    let waf = |programs: u64| ratio(programs, host.write_pages);
    RunResult {
        version: facts.version,
        scheme: facts.scheme,
        device: device.config().device.name.clone(),
        workload: facts.workload,
        config: configuration(device, facts.row, &facts.config),
        seed: facts.seed,
        precondition: facts.precondition,
        steady_state: SteadyState { gc_ran: flash.total_erases > 0, ..facts.steady_state },
        warnings: facts.warnings,
        waf: waf(flash.total_programs),
        waf_by_cause: by_cause(|causes| {
            waf(causes.iter().map(|&cause| meter.programs(cause)).sum())
        }),
        merges: merges(meter),
        map_cache: map_cache(meter),
        buffer: buffer(meter),
        latency_ns: ByDirection {
            all: latency(&meter.latency().all()),
            read: latency(meter.latency().read()),
            write: latency(meter.latency().write()),
        },
        service_time_ns: service_time(device),
        stages_ns: stages::stages(meter),
        streams: stages::streams(device),
        iops: per_second(meter.host().completed as f64),
        bandwidth_bytes_per_s: per_second((host.bytes_read + host.bytes_written) as f64),
        simulated_s: seconds,
        energy_uj: energy::energy(device, facts.simulated_ns),
        ram_bytes: ram_use(&(facts.row.ram_use)(&facts.config), device),
        wear: wear::wear(device, host.bytes_written, facts.worn_out),
        events: events(meter),
        audit: "passed".to_owned(),
        verified_reads: device.verified_reads(),
        wall: wall(facts.wall_seconds, &host, &flash),
        cdf: curves::of_system_times(meter, curves::cumulative),
        ccdf: curves::of_system_times(meter, curves::slower),
        series: series::series(meter),
        series_latency_ns: series::latency(meter),
        host,
        flash,
        own_policies: own_policies(&facts.config),
        classes: classes(device),
        ..RunResult::default()
    }
}

fn own_policies(config: &Config) -> Vec<OwnPolicy> {
    let told = config.own.told();
    told.map(|(place, name, asked)| OwnPolicy {
        place: place.to_owned(),
        name: name.to_owned(),
        asked,
    })
    .collect()
}

/// Of each class of data; none where no policy divides it.
fn classes(device: &dyn Device) -> Vec<DataClass> {
    let config = device.config();
    if config.gc.placement == PlacementKind::None {
        return Vec::new();
    }
    let bytes = config.device.unit_bytes();
    let class = |counts: &ClassCounts| DataClass {
        host_pages: counts.host_pages,
        moved_pages: counts.moved_pages,
        host_bytes: counts.host_pages * bytes,
        media_bytes: (counts.host_pages + counts.moved_pages) * bytes,
        victims: counts.victims,
        victim_valid_share: ratio(counts.copied_pages, counts.victim_pages),
        lifespan_pages_mean: ratio(counts.lifespans, counts.timed_victims),
        group: counts.group.map(|group| DataGroup {
            segments: group.segments,
            expected_valid_share: group.expected_valid_ppm.map(millionths),
            valid_share: group.valid_ppm.map(millionths),
        }),
    };
    let counts = &device.board().meter().classes()[..config.data_classes() as usize];
    counts.iter().map(class).collect()
}

fn millionths(count: u64) -> f64 {
    count as f64 / 1e6
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn host(meter: &Meter, longest_queue: u64) -> Host {
    let counts = meter.host();
    Host {
        read_requests: counts.requests[0],
        write_requests: counts.requests[1],
        trim_requests: counts.requests[2],
        read_pages: counts.pages[0],
        write_pages: counts.pages[1],
        bytes_read: counts.sectors[0] * SECTOR_BYTES,
        bytes_written: counts.sectors[1] * SECTOR_BYTES,
        failed_requests: counts.failed,
        unreadable_pages: counts.unreadable_pages,
        longest_queue,
        split: (counts.split > 0)
            .then_some(Split { requests: counts.split, pieces: counts.pieces }),
    }
}

fn flash(meter: &Meter, nand: &Nand) -> Flash {
    let sum = |count: fn(&Meter, Cause) -> u64| {
        by_cause(|causes| causes.iter().map(|&cause| count(meter, cause)).sum())
    };
    Flash {
        reads: sum(Meter::reads),
        programs: sum(Meter::programs),
        erases: Erases {
            data: meter.erases(BlockRole::Data),
            map: meter.erases(BlockRole::Map),
            log: meter.erases(BlockRole::Log),
        },
        erases_by_mode: nand.modes().are_there().then(|| {
            let slc = meter.events(Event::SlcErases);
            ErasesByMode { dense: meter.total_erases() - slc, slc }
        }),
        oob_reads: meter.oob_reads(),
        oob_writes: nand.oob_writes(),
        cell_reads: nand.clock().cell_operations().reads,
        cell_programs: nand.clock().cell_operations().programs,
        total_reads: meter.total_reads(),
        total_programs: meter.total_programs(),
        total_erases: meter.total_erases(),
    }
}

fn merges(meter: &Meter) -> Merges {
    let counted = meter.merges();
    let used = counted.associativity.iter().rposition(|&merges| merges > 0);
    Merges {
        switch: counted.switch,
        partial: counted.partial,
        full: counted.full,
        full_data_blocks: counted.full_data_blocks,
        associativity_histogram: counted.associativity[..used.map_or(0, |last| last + 1)].to_vec(),
    }
}

fn map_cache(meter: &Meter) -> MapCache {
    let lookups = meter.events(Event::MapLookups);
    let hits = meter.events(Event::MapHits);
    MapCache {
        lookups,
        hits,
        misses: lookups - hits,
        hit_ratio: ratio(hits, lookups),
        evict_clean: meter.events(Event::EvictClean),
        evict_dirty: meter.events(Event::EvictDirty),
    }
}

fn buffer(meter: &Meter) -> Buffer {
    let lookups = meter.events(Event::BufferLookups);
    let hits = meter.events(Event::BufferHits);
    let flushes = meter.events(Event::BufferFlushes);
    Buffer { lookups, hits, hit_ratio: ratio(hits, lookups), flushes }
}

/// What happened and has no number of its own elsewhere in the result.
fn events(meter: &Meter) -> BTreeMap<String, u64> {
    const ELSEWHERE: [Event; 8] = [
        Event::SlcErases,
        Event::MapLookups,
        Event::MapHits,
        Event::EvictClean,
        Event::EvictDirty,
        Event::BufferLookups,
        Event::BufferHits,
        Event::BufferFlushes,
    ];
    let named = Event::ALL.iter().filter(|event| !ELSEWHERE.contains(event));
    let counted = named.map(|&event| (event.name().to_owned(), meter.events(event)));
    counted.filter(|(_, count)| *count > 0).collect()
}

fn latency(parts: &[LatencyStatistics; 3]) -> LatencyParts {
    let [system, device, queue] = parts;
    LatencyParts { system: summary(system), device: summary(device), queue: summary(queue) }
}

/// The summary of some times.
pub(crate) fn summary(times: &LatencyStatistics) -> LatencySummary {
    let count = times.count();
    if count == 0 {
        return LatencySummary::default();
    }
    let (min, max) = times.range();
    let mean = times.sum() as f64 / count as f64;
    let variance = times.sum_of_squares() as f64 / count as f64 - mean * mean;
    LatencySummary {
        count,
        min,
        max,
        mean,
        // Equal times can leave a variance just below zero.
        stddev: if min == max { 0.0 } else { variance.max(0.0).sqrt() },
        percentile: Percentiles {
            p50: times.percentile(50.0),
            p90: times.percentile(90.0),
            p95: times.percentile(95.0),
            p99: times.percentile(99.0),
            p99_9: times.percentile(99.9),
            p99_99: times.percentile(99.99),
        },
    }
}

fn service_time(device: &dyn Device) -> ServiceTime {
    let busy = device.board().nand().clock().service_time();
    let flash = FlashTime { read: busy.read, program: busy.program, erase: busy.erase };
    let cells = busy.read + busy.program + busy.erase;
    let memories = busy.ram + busy.pcm_read + busy.host_memory;
    let others = busy.transfer + busy.controller + busy.search + memories;
    ServiceTime {
        // Waiting for a channel or for a port is no part of it: it depends on arrivals. Nor are
        // posted writes of PCM, which lie beside all else.
        total: cells + others,
        flash,
        transfer: busy.transfer,
        bus_wait: busy.bus_wait,
        ram: busy.ram,
        pcm_wait: busy.pcm_wait,
        search: busy.search,
        controller: busy.controller,
        pcm_read: busy.pcm_read,
        pcm_write: busy.pcm_write,
        host_memory: busy.host_memory,
    }
}

fn ram_use(structures: &[StructureUse], device: &dyn Device) -> RamUse {
    ram_bytes(structures, device.config().device.ram_bytes.0.map(|bytes| bytes.0))
}

/// Memory by structure and kind; `budget` bounds the controller's SRAM.
#[must_use]
pub fn ram_bytes(structures: &[StructureUse], budget: Option<u64>) -> RamUse {
    let sum = |memory: Memory| {
        structures.iter().filter(|used| used.memory == memory).map(|used| used.bytes).sum()
    };
    let sram: u64 = sum(Memory::Sram);
    let named = structures.iter().map(|used| {
        let memory = used.memory.name().to_owned();
        (used.structure.to_owned(), RamStructure { bytes: used.bytes, memory })
    });
    RamUse {
        structures: named.collect(),
        sram,
        dram: sum(Memory::Dram),
        pcm: sum(Memory::Pcm),
        host: sum(Memory::Host),
        total: structures.iter().map(|used| used.bytes).sum(),
        over_budget: budget.map_or(0, |budget| sram.saturating_sub(budget)),
    }
}

/// The caller adds the memory of its process when all is done.
fn wall(seconds: f64, host: &Host, flash: &Flash) -> Wall {
    let per_second = |amount: u64| if seconds > 0.0 { amount as f64 / seconds } else { 0.0 };
    Wall {
        seconds,
        host_pages_per_second: per_second(host.read_pages + host.write_pages),
        flash_operations_per_second: per_second(
            flash.total_reads + flash.total_programs + flash.total_erases,
        ),
        peak_rss_bytes: 0,
    }
}

/// Every shared setting and the scheme's own, with those of the scheme that it stands on, nested by
/// group; other schemes' are left out. Sizes
/// that follow from settings stand beside those of the device.
fn configuration(device: &dyn Device, row: &Row, config: &Config) -> Map<String, Value> {
    let mut groups = Map::new();
    for group in config.groups() {
        let is_scheme = TABLE.iter().any(|row| row.paper.name == group.name());
        if is_scheme && !row.reads(config, group.name()) {
            continue;
        }
        let settings = group.describe().into_iter().map(|Described { key, value, .. }| {
            let (_, name) = key.split_once('.').expect("a key is group.key");
            (name.to_owned(), json(&value))
        });
        let settings: Map<_, _> = settings.collect();
        if !settings.is_empty() {
            groups.insert(group.name().to_owned(), settings.into());
        }
    }
    let sizes = device.board().geometry();
    if let Some(Value::Object(settings)) = groups.get_mut("device") {
        settings.insert("physical_blocks".to_owned(), sizes.blocks().into());
        settings.insert("physical_pages".to_owned(), sizes.pages().into());
        settings.insert("logical_pages".to_owned(), sizes.logical_pages.into());
    }
    groups
}

/// A setting's value as JSON: numbers stay numbers, units stay in the text.
#[must_use]
pub fn json(value: &Shown) -> Value {
    match value {
        Shown::Integer(number) => (*number).into(),
        Shown::Real(number) => (*number).into(),
        Shown::Bool(yes) => (*yes).into(),
        Shown::Text(text) => text.as_str().into(),
    }
}

#[cfg(test)]
mod tests;
