//! Schemes that split the controller's RAM between map entries and data pages.

use super::{PAGE, PAGES, UNIT, Variant, durable};

/// RAM that keeps its content.
const KEEPS: (&str, &str) = ("device.ram_nonvolatile", "true");

/// Room for about 47 entries and 5 pages of 512 bytes, in halves.
const SMALL: (&str, &str) = ("device.ram_bytes", "6144");
const ENTRIES: (&str, &str) = ("aps.entry_bytes", "64");
const LEVELS: (&str, &str) = ("jtl.entry_bytes", "64");
/// Requests of more pages go past the RAM.
const SEQUENTIAL: (&str, &str) = ("jtl.seq_pages", "3");
/// Adjusted often, in large steps.
const OFTEN: (&str, &str) = ("aps.interval", "7");
const STEP: (&str, &str) = ("aps.step", "0.2");

/// With these settings beside the defaults. What is volatile keeps what was flushed.
pub const VARIANTS: &[Variant] = &[
    durable("aps", &[SMALL, ENTRIES, OFTEN, STEP]),
    durable("aps", &[SMALL, ENTRIES, OFTEN, STEP, KEEPS]),
    durable(
        "aps",
        &[SMALL, ENTRIES, OFTEN, ("aps.cache_reads", "false"), ("aps.batch_evict", "true")],
    ),
    durable(
        "aps",
        &[SMALL, ENTRIES, OFTEN, ("aps.lookup", "on_demand"), ("aps.ghost", "4"), KEEPS],
    ),
    durable("aps", &[SMALL, ENTRIES, OFTEN, ("io.partial_write", "rmw"), ("aps.min_share", "0.4")]),
    durable(
        "aps",
        &[
            SMALL,
            ENTRIES,
            OFTEN,
            STEP,
            ("io.partial_write", "rmw"),
            ("device.page_bytes", "1024"),
            ("aps.min_share", "0"),
            ("aps.rmw", "false"),
            KEEPS,
        ],
    ),
    durable("aps", advanced!(SMALL, ENTRIES, OFTEN, STEP, ("timing.ram_page", "2us"))),
    durable(
        "aps",
        &[
            PAGE,
            UNIT,
            PAGES,
            SMALL,
            ENTRIES,
            OFTEN,
            STEP,
            ("nand.enforce_order", "strict"),
            ("gc.mode", "both"),
            ("gc.idle_pages", "1"),
        ],
    ),
    durable("aps", &[SMALL, ENTRIES, OFTEN, STEP, ("wear.policy", "static"), ("wear.spread", "2")]),
    durable(
        "aps",
        &[SMALL, ENTRIES, ("wear.policy", "dynamic"), ("gc.separate_frontiers", "true"), KEEPS],
    ),
    durable("jtl", &[SMALL, LEVELS, SEQUENTIAL]),
    durable("jtl", &[SMALL, LEVELS, SEQUENTIAL, KEEPS]),
    durable(
        "jtl",
        &[SMALL, LEVELS, ("jtl.hole_stops_cascade", "false"), ("jtl.cache_reads", "true"), KEEPS],
    ),
    durable("jtl", &[SMALL, LEVELS, SEQUENTIAL, ("io.partial_write", "rmw")]),
    durable(
        "jtl",
        &[
            SMALL,
            LEVELS,
            SEQUENTIAL,
            ("io.partial_write", "rmw"),
            ("device.page_bytes", "1024"),
            ("jtl.hole_stops_cascade", "false"),
            KEEPS,
        ],
    ),
    durable("jtl", &[SMALL, LEVELS, ("jtl.map_share", "0.2"), ("jtl.cache_reads", "true")]),
    durable("jtl", advanced!(SMALL, LEVELS, SEQUENTIAL, ("timing.ram_page", "2us"))),
    durable(
        "jtl",
        &[
            PAGE,
            UNIT,
            PAGES,
            SMALL,
            LEVELS,
            SEQUENTIAL,
            ("nand.enforce_order", "strict"),
            ("gc.mode", "both"),
            ("gc.idle_pages", "1"),
        ],
    ),
    durable("jtl", &[SMALL, LEVELS, ("wear.policy", "static"), ("wear.spread", "2")]),
    durable(
        "jtl",
        &[SMALL, LEVELS, ("wear.policy", "dynamic"), ("gc.separate_frontiers", "true"), KEEPS],
    ),
];
