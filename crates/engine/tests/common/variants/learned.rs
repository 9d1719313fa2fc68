//! Schemes whose map is learned segments.

use super::{PAGE, PAGES, UNIT, Variant, durable};

/// Groups of 16 pages, of which one fits into memory for sure.
const SMALL: (&str, &str) = ("leaftl.group_pages", "16");
const TIGHT: (&str, &str) = ("leaftl.map_bytes", "1B");
const NEAR: (&str, &str) = ("leaftl.gamma", "4");
const FAR: (&str, &str) = ("leaftl.gamma", "16");
/// What that takes of the out-of-band area.
const ROOM: (&str, &str) = ("device.oob_bytes", "132");
/// Two pages, and one.
const SHORT: (&str, &str) = ("leaftl.buffer_bytes", "1KiB");
const LONE: (&str, &str) = ("leaftl.buffer_bytes", "1B");
const LONG: (&str, &str) = ("leaftl.buffer_bytes", "3KiB");
const KEPT: (&str, &str) = ("device.ram_nonvolatile", "true");
/// Blocks of four pages hold two with one bit a cell.
const TWO: (&str, &str) = ("device.bits_per_cell", "2");
const STATIC: (&str, &str) = ("slc.static_blocks", "3");

/// With these settings beside the defaults. What is volatile keeps what was flushed.
pub const VARIANTS: &[Variant] = &[
    durable("leaftl", &[SMALL, TIGHT]),
    durable("leaftl", &[SMALL, TIGHT, NEAR, ("leaftl.compact_every", "7")]),
    durable(
        "leaftl",
        &[SMALL, TIGHT, FAR, ROOM, LONG, ("gc.mode", "both"), ("gc.idle_pages", "1")],
    ),
    durable(
        "leaftl",
        &[SMALL, TIGHT, SHORT, NEAR, ("io.partial_write", "rmw"), ("leaftl.drain", "foreground")],
    ),
    durable(
        "leaftl",
        &[TIGHT, FAR, ROOM, LONG, ("leaftl.flush", "fullest"), ("leaftl.drain", "at_once")],
    ),
    durable(
        "leaftl:gamma4",
        &[
            LONG,
            ("leaftl.gc_sorts", "false"),
            ("leaftl.charge_lookup", "true"),
            ("leaftl.drain", "at_once"),
        ],
    ),
    durable("leaftl:code", &[SMALL, TIGHT, NEAR, LONG, ("leaftl.flush_share", "0.5")]),
    durable(
        "leaftl:memory",
        &[FAR, ROOM, LONG, ("leaftl.compact_every", "0"), ("gc.victim", "fifo")],
    ),
    durable("leaftl", advanced!(SMALL, TIGHT, NEAR)),
    durable("leaftl", advanced!(SMALL, TIGHT, FAR, ROOM, LONG, ("alloc.order", "dynamic"))),
    durable("leaftl", &[SMALL, TIGHT, NEAR, ("gc.separate_frontiers", "true")]),
    durable("leaftl", &[SMALL, TIGHT, FAR, ROOM, ("wear.policy", "static"), ("wear.spread", "2")]),
    durable("leaftl", &[SMALL, TIGHT, NEAR, ("wear.policy", "dynamic"), LONE]),
    durable("leaftl", &[SMALL, TIGHT, NEAR, PAGE, UNIT, PAGES, ("nand.enforce_order", "strict")]),
    durable("leaftl", &[SMALL, TIGHT, NEAR, KEPT, ("io.partial_write", "rmw")]),
    durable("leaftl", &[FAR, ROOM, KEPT, LONG, ("gc.placement", "sepbit")]),
    durable("leaftl", &[TWO, STATIC, SMALL, TIGHT, NEAR, ("slc.full", "fold_first")]),
    durable(
        "leaftl",
        &[TWO, FAR, ROOM, LONG, ("slc.dynamic_share", "0.8"), ("device.over_provisioning", "1.5x")],
    ),
    durable("leaftl", &[SMALL, TIGHT, NEAR, ("gc.placement", "dac"), ("gc.mode", "idle")]),
];
