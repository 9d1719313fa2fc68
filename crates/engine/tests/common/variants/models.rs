//! Schemes whose map is learned in place.

use super::{PAGE, PAGES, UNIT, Variant, durable};

/// Longer lines.
const LONG: (&str, &str) = ("device.pages_per_block", "8");
const FOUR: (&str, &str) = ("device.planes", "4");
const FEW: (&str, &str) = ("tpftl.cache_bytes", "70B");
const SMALL: (&str, &str) = ("learnedftl.train_min", "2");
const LINES: (&str, &str) = ("learnedftl.gc_lines", "2");
const UPDATE: (&str, &str) = ("learnedftl.map_after_gc", "update");
const ALONE: (&str, &str) = ("learnedftl.borrow", "false");
const TWO: (&str, &str) = ("learnedftl.trans_per_group", "2");
const KEPT: (&str, &str) = ("device.ram_nonvolatile", "true");
const ROOM: (&str, &str) = ("device.over_provisioning", "2x");

/// With these settings beside the defaults.
pub const VARIANTS: &[Variant] = &[
    durable("learnedftl", &[FEW, SMALL]),
    durable("learnedftl", &[FEW, SMALL, LINES, ROOM, LONG]),
    durable("learnedftl", &[FEW, SMALL, LINES, FOUR, UPDATE, ("io.partial_write", "rmw")]),
    durable("learnedftl", &[FEW, SMALL, FOUR, LONG, ALONE]),
    durable("learnedftl", &[FEW, LONG, TWO, KEPT]),
    durable("learnedftl", advanced!(FEW, SMALL, LINES, LONG)),
    durable("learnedftl", &[FEW, PAGE, UNIT, PAGES, SMALL, ("nand.enforce_order", "strict")]),
    durable("learnedftl", &[FEW, SMALL, ("wear.policy", "dynamic"), ROOM, LINES]),
    durable("learnedftl:unlearned", &[FEW]),
    durable("learnedftl:shared_lines", &[FEW, FOUR, ("gc.mode", "both"), ("gc.idle_pages", "1")]),
];
