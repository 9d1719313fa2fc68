//! Bytes in, a run out: what fuzzers feed to every scheme. Nothing here is part of the interface.

use crate::config::{Config, GcMode, GcTrigger};
use crate::future::Future;
use crate::schemes::{self, Row};
use ftlab_flash::board::settings::{RainFlush, RainSettings, RefreshSettings, WearPolicy};
use ftlab_flash::request::{Content, Op, Request};
use ftlab_flash::settings::Optional;
use ftlab_ftl::parts::alloc::AllocUnit;
use ftlab_ftl::parts::page_space::settings::GcSettings;
use ftlab_ftl::parts::placement::PlacementKind;
use ftlab_ftl::parts::victim::VictimKind;
use ftlab_ssd::buffer::BufferKind;

/// Settings that a fuzzer's first bytes choose among.
const CHOICES: &[(&str, &[&str])] = &[
    (
        "gc.victim",
        &[
            "greedy",
            "cost_benefit_age",
            "cat",
            "cost_hotness",
            "cost_benefit_host",
            "fifo",
            "random",
            "lru",
            "windowed_greedy",
        ],
    ),
    ("gc.mode", &["foreground", "idle", "both"]),
    ("gc.separate_frontiers", &["false", "true"]),
    ("io.partial_write", &["whole_page", "rmw"]),
    ("io.unwritten_read", &["charge_read", "zero_free"]),
    ("nand.enforce_order", &["off", "ascending_gaps_ok", "strict"]),
    ("timing.profile", &["serial", "parallel"]),
    ("device.planes", &["1", "2", "3"]),
    ("wear.policy", &["implicit", "none", "dynamic", "static"]),
    ("wear.spread", &["2", "5"]),
    ("dftl.cmt_entries", &["2", "5", "40"]),
    ("dftl.cmt_policy", &["psu_real_ghost", "slru", "lru", "lfu"]),
    ("dftl.batch_evict", &["false", "true"]),
    ("dftl.lazy_copying", &["true", "false"]),
    ("dftl.write_miss_fetch", &["true", "false"]),
    ("dftl.prefetch", &["0", "3"]),
    ("dftl.checkpoint_interval", &["0", "64"]),
    ("dftl.writeback", &["in_request", "after_completion"]),
    ("dftl.writeback_entries", &["1", "3"]),
    ("hat.qmt_entries", &["1", "7"]),
    ("hmb.cache_entries", &["2", "9"]),
    ("hmb.mode", &["hint", "dma"]),
    ("buffer.name", &["none", "lru", "cflru", "bplru", "fab", "l_buffer", "map_aware"]),
    ("buffer.bytes", &["4KiB", "9KiB"]),
    ("buffer.cache_reads", &["auto", "true", "false"]),
    ("buffer.idle_flush", &["false", "true"]),
    ("buffer.pad_unwritten", &["true", "false"]),
    ("device.ram_nonvolatile", &["false", "true"]),
    ("gc.trigger", &["free_blocks", "garbage_share"]),
    (
        "gc.placement",
        &[
            "none", "sepbit", "dac", "multilog", "mida", "eti", "sep_gc", "hint", "fadac",
            "auto_sfr", "auto_mq", "sfs", "warcip", "fk", "midas",
        ],
    ),
    ("host.hints", &["none", "unit", "column"]),
    ("placement.handles", &["8", "2"]),
    ("device.bits_per_cell", &["1", "2"]),
    ("slc.static_blocks", &["0", "2"]),
    ("slc.dynamic_share", &["0", "0.7"]),
    ("slc.full", &["direct", "fold_first"]),
    ("device.channels", &["1", "2", "4"]),
    ("alloc.unit", &["plane", "line"]),
    ("rain.stripe", &["0", "2", "4"]),
    ("rain.flush", &["capacitor", "partial", "pad"]),
    ("rain.rotate", &["true", "false"]),
    ("tpftl.cache_bytes", &["20B", "70B", "1KiB"]),
    ("learnedftl.group_lines", &["true", "false"]),
    ("learnedftl.train_min", &["2", "30"]),
    ("learnedftl.gc_lines", &["2", "5"]),
    ("learnedftl.borrow", &["true", "false"]),
    ("learnedftl.map_after_gc", &["rewrite", "update"]),
    ("ca_ssd.values", &["65536", "3", "0"]),
    ("ca_ssd.hash_us", &["0", "20us"]),
    ("caftl.store_bytes", &["1MiB", "100B", "0"]),
    ("caftl.store_hot", &["0.75", "0", "1"]),
    ("caftl.unit", &["1", "8", "2"]),
    ("caftl.prehash", &["true", "false"]),
    ("caftl.new_values", &["behind", "idle"]),
    ("caftl.out_of_line", &["true", "false"]),
    ("caftl.shared_pages", &["65536", "1", "3"]),
    ("caftl.references", &["255", "2", "3"]),
    ("caftl.unreclaimed", &["64", "0", "2"]),
    ("caftl.flush", &["0", "3"]),
    ("leaftl.gamma", &["0", "4"]),
    ("leaftl.group_pages", &["16", "256"]),
    ("leaftl.map_bytes", &["1B", "4KiB"]),
    ("leaftl.buffer_bytes", &["1B", "3KiB"]),
    ("leaftl.flush", &["all", "fullest"]),
    ("leaftl.drain", &["background", "at_once"]),
    ("leaftl.compact_every", &["1000000", "7"]),
    ("timing.copyback", &["false", "true"]),
    ("timing.copyback_same_parity", &["true", "false"]),
    ("gc.skip_for_parity", &["true", "false"]),
    ("refresh.reads", &["0", "5", "40"]),
    ("refresh.wear_slope", &["0", "0.9"]),
    ("refresh.days", &["0", "0.000004"]),
    ("refresh.patrol", &["1s", "3ms"]),
    ("refresh.off_days", &["0", "1"]),
    ("refresh.p0", &["0", "0.1"]),
    ("refresh.moves", &["true", "false"]),
    ("device.endurance_cycles", &["100000", "7"]),
    ("nand.failing_die", &["auto", "0", "1", "3"]),
    ("nand.die_fails_after", &["0", "5", "40", "150"]),
    ("zns.width", &["auto", "1"]),
    ("zns.zone_capacity", &["100%", "50%"]),
    ("zns.max_open", &["14", "1"]),
    ("zns.copy_in_device", &["false", "true"]),
];

/// The first byte chooses the scheme, the next ones its settings, the rest is a stream of requests;
/// every read is compared, and the device is audited at the end. Panics when a promise is broken.
pub fn operations(data: &[u8]) {
    let Some((&first, rest)) = data.split_first() else { return };
    let row = &schemes::TABLE[usize::from(first) % schemes::TABLE.len()];
    let (chosen, stream) = rest.split_at(rest.len().min(CHOICES.len()));
    let mut config = Config::default();
    let mut set = |key: &str, value: &str| config.set(key, value).expect("legal settings");
    set("device.pages_per_block", "4");
    set("device.page_bytes", "1024");
    let bytes = 20 * 4 * 1024;
    for ((key, values), &byte) in CHOICES.iter().zip(chosen) {
        set(key, values[usize::from(byte) % values.len()]);
    }
    // Nobody knows what comes: an oracle thinks that nothing is overwritten.
    config.future = Some(Future::pass(bytes as u32 / 512).done());
    fit(row, &mut config);
    config.device.set_capacity(bytes, 0);
    let minimum = (row.minimum_blocks)(&config);
    config.device.set_capacity(bytes, minimum);
    let mut device = (row.open)(&config, 1).expect("sized for the scheme");
    device.verify_reads();
    if config.nand.failing_die.0.is_some() {
        // Programs count from here on.
        device.start_measuring();
    }
    let sectors = config.device.logical_pages() * 2;
    let mut arrival = 0;
    for bytes in stream.chunks_exact(4) {
        let op = match bytes[0] % 16 {
            0..8 => Op::Write,
            8..12 => Op::Read,
            12..14 => Op::Trim,
            14 => Op::Flush,
            _ => {
                if let Err(error) = device.power_cycle() {
                    panic!("recovery failed: {error}");
                }
                continue;
            }
        };
        let first_sector = u64::from(bytes[1]) % sectors;
        let wanted = 1 + u64::from(bytes[2]) % 12;
        arrival += u64::from(bytes[3]) * 100_000;
        let count = if op == Op::Flush { 0 } else { wanted.min(sectors - first_sector) };
        let (unit, stream) = (u32::from(bytes[2] / 12), (bytes[3] % 5).checked_sub(1));
        // Four contents, or what nobody wrote before.
        let content = (bytes[3] / 5 % 5).checked_sub(1).map(|number| Content::new(number.into()));
        let sectors = count as u32;
        let request = Request { arrival, op, first_sector, sectors, unit, stream, content };
        if let Err(error) = device.submit(&request) {
            panic!("{request:?} failed: {error}");
        }
    }
    if let Err(error) = device.audit() {
        panic!("the audit failed: {error}");
    }
}

/// Not every scheme has lines, and they have neither a cache nor static levelling; stripes divide
/// the dies.
fn fit_lines(row: &Row, config: &mut Config) {
    let mut lines = Config::default();
    lines.alloc.unit = AllocUnit::Line;
    if config.slc.is_on()
        || config.wear.policy == WearPolicy::Static
        || (row.check)(&lines).is_err()
    {
        config.alloc.unit = AllocUnit::Plane;
    }
    let divides =
        config.rain.stripe == 0 || config.device.channels.is_multiple_of(config.rain.stripe);
    if config.alloc.unit == AllocUnit::Plane || !divides {
        config.rain.stripe = 0;
    }
    if config.rain.stripe == 0 {
        config.rain = RainSettings::default();
    }
    if config.device.ram_nonvolatile {
        config.rain.flush = RainFlush::Capacitor;
    }
    // What is to fail has to leave room.
    if config.alloc.unit == AllocUnit::Plane || config.check().is_err() {
        config.nand.failing_die = Optional(None);
    }
    if config.nand.failing_die.0.is_none() {
        config.nand.die_fails_after = 0;
    }
}

/// Copies that stay in their plane go neither with stripes, nor do pages that are passed over for
/// them with most other things.
fn fit_copies(row: &Row, config: &mut Config) {
    let mut alone = Config::default();
    alone.gc.skip_for_parity = true;
    config.timing.copyback &= config.rain.stripe == 0;
    config.timing.copyback_same_parity &= config.timing.copyback;
    config.gc.skip_for_parity &= config.timing.copyback_same_parity
        && config.alloc.unit == AllocUnit::Plane
        && !config.slc.is_on()
        && config.gc.idle_pages == 0
        && config.device.units_per_page() == 1
        && (row.check)(&alone).is_ok();
}

/// Not every scheme refreshes, and what says how says nothing alone.
fn fit_refresh(row: &Row, config: &mut Config) {
    let mut alone = Config::default();
    alone.refresh.reads = 1;
    let refresh = &mut config.refresh;
    if (row.check)(&alone).is_err() || !refresh.is_on() {
        *refresh = RefreshSettings::default();
    }
    if refresh.reads == 0 {
        refresh.wear_slope = 0.0;
    }
    refresh.moves |= refresh.p0 == 0.0;
    if refresh.days == 0.0 {
        refresh.off_days = 0.0;
    }
    if refresh.days == 0.0 || !refresh.moves {
        refresh.patrol = RefreshSettings::default().patrol;
    }
}

/// Hotness is what one policy of placement knows, the host's pages what any does.
fn fit_hotness(config: &mut Config) {
    let is_known = match config.gc.victim {
        VictimKind::CostHotness => config.gc.placement == PlacementKind::Sfs,
        VictimKind::CostBenefitHost => config.gc.placement != PlacementKind::None,
        _ => true,
    };
    if !is_known {
        config.gc.victim = VictimKind::Greedy;
    }
}

/// Where the host has the map the drive moves nothing by itself.
fn fit_zones(row: &Row, config: &mut Config) {
    if row.maps_in_host {
        (config.rain, config.nand.failing_die) = (RainSettings::default(), Optional(None));
        config.alloc.unit = AllocUnit::Plane;
        config.timing.copyback &= config.scheme.zns.copy_in_device;
    }
}

/// Leaves out of a choice what does not go with the rest of it.
fn fit(row: &Row, config: &mut Config) {
    fit_zones(row, config);
    fit_copies(row, config);
    fit_lines(row, config);
    fit_refresh(row, config);
    // A scheme that holds data itself takes no buffer, and most buffers keep no pages that were
    // read.
    if row.buffers_data || row.maps_in_host {
        config.buffer.name = BufferKind::None;
    }
    if config.buffer.name.reads().is_none() {
        config.buffer.cache_reads = Optional(None);
    }
    // Who collects as the host writes does not wait for gaps alone.
    if config.gc.mode == GcMode::Idle {
        config.gc.trigger = GcTrigger::FreeBlocks;
    }
    // A cell of one bit has no cache of such cells.
    if config.device.bits_per_cell == 1 {
        (config.slc.static_blocks, config.slc.dynamic_share) = (0, 0.0);
    }
    fit_hotness(config);
    // Some schemes divide data themselves, and say when blocks are collected.
    let fits = |config: &Config| (row.check)(config).is_ok() && config.check().is_ok();
    if config.gc.separate_frontiers || !fits(config) {
        config.gc.placement = PlacementKind::None;
        fit_hotness(config);
    }
    if !fits(config) {
        config.gc.trigger = GcTrigger::FreeBlocks;
    }
    // And not every scheme has an SLC cache, nor any part.
    if !fits(config) {
        (config.slc.static_blocks, config.slc.dynamic_share) = (0, 0.0);
    }
    // Lines of groups are collected by rules of their own, and no line is levelled block by block.
    if !fits(config) {
        let usual = GcSettings::default();
        (config.gc.mode, config.gc.victim) = (usual.mode, usual.victim);
        config.gc.separate_frontiers = usual.separate_frontiers;
    }
    if !fits(config) {
        config.wear.policy = WearPolicy::Implicit;
    }
}
