//! Blocks that are read often and data that is old, moved in gaps and at once, under every sort of
//! map, over planes and lines.

use super::{PAGE, PAGES, UNIT, Variant, durable};

/// Less than what a recovery and a few requests read of a block of four pages.
const READS: (&str, &str) = ("refresh.reads", "7");
const WORN: [(&str, &str); 2] = [("refresh.wear_slope", "0.9"), ("device.endurance_cycles", "9")];
/// A dozen gaps, and longer than it takes to move all data.
const DAYS: (&str, &str) = ("refresh.days", "0.000004");
const PATROL: (&str, &str) = ("refresh.patrol", "1ms");
const OFF: (&str, &str) = ("refresh.off_days", "1");
const RETRIES: (&str, &str) = ("refresh.p0", "0.05");
const NO_MOVES: (&str, &str) = ("refresh.moves", "false");
const GAPS: (&str, &str) = ("gc.mode", "both");
const PIECES: (&str, &str) = ("gc.idle_pages", "1");
const ROOM: (&str, &str) = ("device.over_provisioning", "1.5x");
const QUICK: (&str, &str) = ("timing.erase", "100us");
const LINE: (&str, &str) = ("alloc.unit", "line");
const ORDER: (&str, &str) = ("alloc.order", "channel_die_plane");
const CHANNELS: (&str, &str) = ("device.channels", "2");
const DIES: (&str, &str) = ("device.dies", "2");
const FOUR: (&str, &str) = ("rain.stripe", "4");
const PARTIAL: (&str, &str) = ("rain.flush", "partial");
const TWO: (&str, &str) = ("device.bits_per_cell", "2");
const STATIC: (&str, &str) = ("slc.static_blocks", "3");
const STRICT: (&str, &str) = ("nand.enforce_order", "strict");
const PARALLEL: (&str, &str) = ("timing.profile", "parallel");
const SMALL: (&str, &str) = ("dftl.cmt_entries", "8");

/// With these settings beside the defaults.
pub const VARIANTS: &[Variant] = &[
    durable("ideal_page", &[READS, STRICT]),
    durable("ideal_page", &[DAYS, PATROL, OFF]),
    durable("ideal_page", &[READS, WORN[0], WORN[1], DAYS, PATROL, RETRIES, GAPS, PIECES]),
    durable("ideal_page", &[READS, RETRIES, NO_MOVES]),
    durable("ideal_page", &[READS, DAYS, PATROL, PAGE, UNIT, PAGES, PARALLEL]),
    durable("ideal_page", &[READS, ("wear.policy", "static"), ("wear.spread", "2")]),
    durable("ideal_page", &[READS, DAYS, PATROL, ("gc.placement", "sepbit"), ROOM]),
    durable("ideal_page", midas!(READS, DAYS, PATROL, ROOM)),
    durable("ideal_page", &[READS, ("gc.placement", "sfs"), ("gc.victim", "cost_hotness"), ROOM]),
    durable("ideal_page", &[READS, DAYS, PATROL, ("gc.separate_frontiers", "true")]),
    durable("ideal_page", &[READS, DAYS, PATROL, ("gc.trigger", "garbage_share"), ROOM]),
    durable("ideal_page", &[READS, DAYS, PATROL, TWO, STATIC, GAPS, ROOM]),
    durable("ideal_page", &[READS, DAYS, PATROL, QUICK, LINE, ORDER, CHANNELS, DIES, GAPS, PIECES]),
    durable("ideal_page", &[READS, DAYS, PATROL, QUICK, LINE, ORDER, CHANNELS, DIES, FOUR, ROOM]),
    durable("ideal_page", &[READS, DAYS, QUICK, LINE, ORDER, CHANNELS, DIES, FOUR, PARTIAL, ROOM]),
    durable("ideal_page", &[READS, DAYS, PATROL, PIECES, ("wear.policy", "static")]),
    durable("ideal_page", advanced!(READS, DAYS, PATROL)),
    durable("ca_ssd", &[READS, DAYS, PATROL]),
    durable("caftl", &[READS, DAYS, PATROL, ("caftl.unreclaimed", "1")]),
    durable("caftl", &[READS, GAPS, PIECES, ("caftl.unreclaimed", "1"), ("caftl.unit", "1")]),
    durable("hat", &[READS, DAYS, PATROL, ("hat.qmt_entries", "8")]),
    durable("dftl", &[READS, DAYS, PATROL, SMALL]),
    durable("dftl", &[READS, SMALL, ("dftl.checkpoint_interval", "64"), GAPS, PIECES]),
    durable("dftl", &[READS, DAYS, PATROL, OFF, SMALL, PIECES, PARALLEL]),
    durable("dftl", &[READS, SMALL, ("dftl.lazy_copying", "true"), ("dftl.batch_evict", "true")]),
    durable("dftl", &[READS, DAYS, PATROL, SMALL, LINE, ORDER, CHANNELS]),
    durable("cdftl", &[READS, DAYS, PATROL]),
    durable("tpftl", &[READS, DAYS, PATROL]),
    durable("sftl", &[READS, DAYS, PATROL]),
    durable("leaftl", &[READS, DAYS, PATROL]),
    durable("hmb", &[READS, DAYS, PATROL]),
    durable("aps", &[READS, DAYS, PATROL]),
    durable("jtl", &[READS, DAYS, PATROL]),
];
