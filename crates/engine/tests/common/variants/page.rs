//! Page-mapped schemes, the map in memory.

use super::{PAGE, PAGES, UNIT, Variant, durable};

/// So that CAFTL's device is as small as others.
const ONE: (&str, &str) = ("caftl.unreclaimed", "1");

/// With these settings beside the defaults.
pub const VARIANTS: &[Variant] = &[
    durable("ideal_page", &[]),
    durable("ideal_page", &[("gc.separate_frontiers", "true")]),
    durable("ideal_page", &[("gc.mode", "both"), ("io.partial_write", "rmw")]),
    durable("ideal_page", &[("gc.mode", "idle")]),
    durable("ideal_page", &[("gc.mode", "both"), ("gc.idle_pages", "1"), ("gc.idle_factor", "4")]),
    durable(
        "ideal_page",
        advanced!(("gc.unit", "die"), ("gc.mode", "both"), ("gc.idle_pages", "2")),
    ),
    durable("ideal_page", &[("gc.threshold_mode", "adaptive"), ("gc.threshold_max", "5")]),
    durable("ideal_page", &[("gc.victim", "cost_benefit")]),
    durable("ideal_page", &[("gc.victim", "cost_benefit_age")]),
    durable("ideal_page", &[("gc.victim", "fifo"), ("wear.policy", "none")]),
    durable(
        "ideal_page",
        &[("gc.victim", "random"), ("wear.policy", "none"), ("alloc.policy", "lifo")],
    ),
    durable("ideal_page", &[("wear.policy", "dynamic")]),
    durable("ideal_page", &[("wear.policy", "static"), ("wear.spread", "2")]),
    durable("ideal_page", &[("gc.victim", "lru")]),
    durable("ideal_page", &[("gc.victim", "d_choices"), ("gc.choices", "2")]),
    durable("ideal_page", &[("gc.victim", "windowed_greedy"), ("gc.window", "3")]),
    durable("ideal_page", &[("gc.victim", "windowed_greedy"), ("gc.window", "50%")]),
    durable("ideal_page", &[("gc.victim", "cat"), ("wear.policy", "dynamic")]),
    durable("ideal_page", &[("nand.enforce_order", "strict")]),
    durable("ideal_page", advanced!()),
    durable("ideal_page", advanced!(("timing.die_interleave", "false"), ("gc.mode", "both"))),
    durable("ideal_page", &[PAGE, UNIT, PAGES, ("gc.separate_frontiers", "true")]),
    durable("ca_ssd", &[("ca_ssd.values", "2"), ("gc.mode", "both"), ("gc.idle_pages", "1")]),
    durable(
        "ca_ssd",
        &[("io.partial_write", "rmw"), ("wear.policy", "static"), ("wear.spread", "2")],
    ),
    durable("ca_ssd", &[("gc.placement", "sep_gc"), ("ca_ssd.hash_us", "30us")]),
    durable("ca_ssd", &[PAGE, UNIT, PAGES, ("gc.separate_frontiers", "true")]),
    durable("ca_ssd", advanced!(("gc.unit", "die"))),
    durable(
        "ca_ssd",
        &[
            ("alloc.unit", "line"),
            ("alloc.order", "channel_die_plane"),
            ("device.channels", "4"),
            ("rain.stripe", "4"),
        ],
    ),
    durable("caftl", &[("gc.mode", "both"), ("gc.idle_pages", "1"), ONE]),
    durable(
        "caftl",
        &[
            ("caftl.references", "2"),
            ("caftl.unreclaimed", "1"),
            ("caftl.shared_pages", "3"),
            ("caftl.unit", "1"),
            ("wear.policy", "static"),
            ("wear.spread", "2"),
        ],
    ),
    durable(
        "caftl",
        &[
            ("io.partial_write", "rmw"),
            ("caftl.store_bytes", "80B"),
            ("caftl.flush", "3"),
            ("caftl.new_values", "idle"),
            ONE,
        ],
    ),
    durable("caftl", &[("gc.placement", "sep_gc"), ("caftl.prehash", "false"), ONE]),
    durable("caftl", &[PAGE, UNIT, PAGES, ("gc.separate_frontiers", "true"), ONE]),
    durable("caftl", advanced!(("gc.unit", "die"), ONE, ("caftl.unit", "1"))),
    durable(
        "caftl",
        &[
            ("alloc.unit", "line"),
            ("alloc.order", "channel_die_plane"),
            ("device.channels", "4"),
            ("rain.stripe", "4"),
            ONE,
            ("caftl.unit", "1"),
        ],
    ),
];
