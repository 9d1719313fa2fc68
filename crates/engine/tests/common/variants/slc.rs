//! SLC caches: static, dynamic and both, full, folded and cut, over every sort of map.

use super::{PAGE, UNIT, Variant, durable};

/// Blocks of four pages hold two with one bit a cell.
const TWO: (&str, &str) = ("device.bits_per_cell", "2");
const STATIC: (&str, &str) = ("slc.static_blocks", "3");
const DYNAMIC: (&str, &str) = ("slc.dynamic_share", "0.8");
const WHOLE: (&str, &str) = ("slc.dynamic_share", "1");
const FOLD: (&str, &str) = ("slc.full", "fold_first");
const GREEDY: (&str, &str) = ("slc.victim", "greedy");
const BENEFIT: (&str, &str) = ("slc.victim", "cost_benefit");
const GAPS: (&str, &str) = ("gc.mode", "both");
const PIECES: (&str, &str) = ("gc.idle_pages", "1");
const ROOM: (&str, &str) = ("device.over_provisioning", "1.5x");
const PAGES: (&str, &str) = ("device.pages_per_block", "4");
const SMALL: (&str, &str) = ("dftl.cmt_entries", "8");

/// With these settings beside the defaults.
pub const VARIANTS: &[Variant] = &[
    durable("ideal_page", &[TWO, STATIC]),
    durable("ideal_page", &[TWO, STATIC, FOLD]),
    durable("ideal_page", &[TWO, DYNAMIC, ROOM]),
    durable("ideal_page", &[TWO, WHOLE, ("device.over_provisioning", "0.6")]),
    durable("ideal_page", &[TWO, WHOLE, FOLD, ("device.over_provisioning", "0.6")]),
    durable("ideal_page", &[TWO, DYNAMIC, FOLD, GREEDY, ROOM, GAPS]),
    durable("ideal_page", &[TWO, STATIC, DYNAMIC, FOLD, BENEFIT, ROOM, GAPS, PIECES]),
    durable("ideal_page", &[TWO, STATIC, FOLD, PAGE, UNIT, PAGES]),
    durable("ideal_page", &[TWO, STATIC, ("slc.path", "small"), ("slc.small_pages", "2"), GAPS]),
    durable(
        "ideal_page",
        &[TWO, STATIC, FOLD, ("gc.separate_frontiers", "true"), ("wear.policy", "dynamic")],
    ),
    durable(
        "ideal_page",
        &[TWO, STATIC, DYNAMIC, ROOM, ("wear.policy", "static"), ("wear.spread", "2")],
    ),
    durable("ideal_page", &[TWO, STATIC, FOLD, ("nand.enforce_order", "strict")]),
    durable("ideal_page", advanced!(TWO, STATIC, DYNAMIC, FOLD, ROOM, GAPS)),
    durable("hat", &[TWO, ("hat.qmt_entries", "8"), STATIC, FOLD]),
    durable("caftl", &[TWO, STATIC, FOLD, ("caftl.unreclaimed", "1"), ("caftl.unit", "1")]),
    durable("caftl", &[TWO, STATIC, DYNAMIC, ROOM, GAPS, PIECES, ("caftl.unreclaimed", "1")]),
    durable("dftl", &[TWO, SMALL, STATIC, FOLD]),
    durable("dftl", &[TWO, SMALL, DYNAMIC, FOLD, ROOM, GAPS, PIECES]),
    durable("dftl", &[TWO, SMALL, STATIC, ("dftl.checkpoint_interval", "64")]),
    durable("dftl", advanced!(TWO, SMALL, STATIC, DYNAMIC, FOLD, ROOM)),
    durable("cdftl", &[TWO, STATIC, FOLD]),
    durable("tpftl", &[TWO, STATIC, FOLD, GREEDY]),
    durable("sftl", &[TWO, DYNAMIC, ROOM]),
    durable("hmb", &[TWO, STATIC, FOLD]),
    durable("aps", &[TWO, STATIC, FOLD]),
    durable("jtl", &[TWO, STATIC, FOLD]),
];
