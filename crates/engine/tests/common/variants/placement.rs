//! Placement policies, over a map in memory and over maps on flash.

use super::{PAGE, PAGES, UNIT, Variant, durable};

const SEP_GC: (&str, &str) = ("gc.placement", "sep_gc");
const DAC: (&str, &str) = ("gc.placement", "dac");
const SEPBIT: (&str, &str) = ("gc.placement", "sepbit");
const MULTILOG: (&str, &str) = ("gc.placement", "multilog");
const SFS: (&str, &str) = ("gc.placement", "sfs");
const HOTNESS: (&str, &str) = ("gc.victim", "cost_hotness");
const WARCIP: (&str, &str) = ("gc.placement", "warcip");
const AUTO_MQ: (&str, &str) = ("gc.placement", "auto_mq");
const HINT: (&str, &str) = ("gc.placement", "hint");
const UNITS: (&str, &str) = ("host.hints", "unit");
const MIDA: (&str, &str) = ("gc.placement", "mida");
const MIDAS: (&str, &str) = ("gc.placement", "midas");
/// Few victims to a lifespan, so that there is one on a tiny device.
const SOON: (&str, &str) = ("placement.sepbit_victims", "2");
const SHARE: (&str, &str) = ("gc.trigger", "garbage_share");
const EXACT: (&str, &str) = ("placement.sepbit_window", "exact");
const SMALL: (&str, &str) = ("dftl.cmt_entries", "8");

/// With these settings beside the defaults.
pub const VARIANTS: &[Variant] = &[
    durable("ideal_page", &[SEP_GC]),
    durable("ideal_page", &[DAC]),
    durable("ideal_page", &[SEPBIT, SOON]),
    durable("ideal_page", &[SEPBIT, SOON, EXACT, ("placement.classes", "16")]),
    durable("ideal_page", &[SEPBIT, ("placement.classes", "1"), ("placement.times", "dram")]),
    durable("ideal_page", &[MIDA, ("gc.victim", "cost_benefit_age")]),
    durable("ideal_page", &[DAC, ("gc.mode", "both"), ("gc.idle_pages", "1")]),
    durable("ideal_page", &[SEPBIT, SOON, ("wear.policy", "static"), ("wear.spread", "2")]),
    durable("ideal_page", &[MIDA, ("wear.policy", "dynamic")]),
    durable("ideal_page", &[SEPBIT, SOON, PAGE, UNIT, PAGES]),
    durable("ideal_page", advanced!(SEPBIT, SOON, ("gc.unit", "die"), ("gc.mode", "both"))),
    durable("ideal_page", &[SEPBIT, SOON, SHARE, ("gc.garbage_share", "0.2")]),
    durable("ideal_page", &[HINT, UNITS]),
    durable("ideal_page", &[HINT, UNITS, ("placement.isolation", "persistently")]),
    durable("ideal_page", &[MULTILOG]),
    durable(
        "ideal_page",
        &[MULTILOG, ("gc.victim", "cost_benefit_age"), ("wear.policy", "dynamic")],
    ),
    durable("ideal_page", &[("gc.placement", "fadac")]),
    durable("ideal_page", &[("gc.placement", "auto_sfr"), ("placement.classes", "2")]),
    durable("ideal_page", &[("gc.placement", "eti"), ("gc.mode", "idle")]),
    durable("ideal_page", &[SFS]),
    durable("ideal_page", &[SFS, HOTNESS, ("gc.mode", "both"), ("gc.least_invalid", "0.125")]),
    durable(
        "ideal_page",
        &[SFS, ("wear.policy", "static"), ("wear.spread", "2"), PAGE, UNIT, PAGES],
    ),
    durable("ideal_page", &[WARCIP]),
    durable("ideal_page", &[WARCIP, ("placement.classes", "3"), ("gc.victim", "cost_benefit_age")]),
    durable("ideal_page", &[AUTO_MQ, ("gc.mode", "both"), ("gc.idle_pages", "1")]),
    durable("dftl", &[SMALL, SFS]),
    durable("dftl", &[SMALL, SFS, HOTNESS]),
    durable("dftl", &[SMALL, WARCIP]),
    durable("tpftl", &[AUTO_MQ]),
    durable("dftl", &[SMALL, MULTILOG]),
    durable("dftl", &[SMALL, SEPBIT, SOON, SHARE]),
    durable("dftl", &[SMALL, SEPBIT, SOON]),
    durable("dftl", &[SMALL, DAC, ("wear.policy", "static"), ("wear.spread", "2")]),
    durable("dftl", advanced!(SMALL, MIDA)),
    durable("hat", &[("hat.qmt_entries", "8"), SEPBIT, SOON]),
    durable("tpftl", &[SEPBIT, SOON]),
    durable("ideal_page", &[MIDAS]),
    durable("ideal_page", midas!()),
    durable("ideal_page", midas!(("placement.classes", "10"), ("midas.victims_in_a_row", "1"))),
    durable(
        "ideal_page",
        midas!(
            ("gc.victim", "cost_benefit_sqrt"),
            ("midas.sampling", "3"),
            ("midas.hot_data", "all")
        ),
    ),
    durable("ideal_page", midas!(("wear.policy", "static"), ("wear.spread", "2"))),
    durable("ideal_page", midas!(("wear.policy", "dynamic"), PAGE, UNIT, PAGES)),
    durable("ideal_page", midas!(("gc.mode", "both"), ("gc.idle_pages", "1"))),
    durable("ideal_page", advanced!(MIDAS, ("gc.unit", "die"), ("gc.mode", "both"))),
    durable("dftl", midas!(SMALL)),
    durable("dftl", advanced!(SMALL, MIDAS)),
    durable("hat", midas!(("hat.qmt_entries", "8"))),
    durable("tpftl", midas!()),
    durable("leaftl", midas!()),
];
