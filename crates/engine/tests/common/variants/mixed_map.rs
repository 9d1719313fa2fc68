//! Schemes that map some blocks by page and the others whole.

use super::{Variant, durable};

/// The map of page-mapped blocks is on flash, and memory holds one or two of its pages.
const ONE_MAP_PAGE: (&str, &str) = ("waftl.pmb_cache_bytes", "1KiB");
/// BMB rewrites leave page-mapped pages where they are.
const PULL_NOTHING: (&str, &str) = ("waftl.pull_pmb", "false");

/// The boundary moves all the time.
const OFTEN: (&str, &str) = ("janus.eval_every", "20");
/// A third of the logical blocks is page-mapped.
const FIXED: (&str, &str) = ("janus.target", "fixed");
const ALL_BLOCK: (&str, &str) = ("janus.target", "all_block");
const RMW: (&str, &str) = ("io.partial_write", "rmw");

/// With these settings beside the defaults.
pub const VARIANTS: &[Variant] = &[
    durable("waftl", &[]),
    durable(
        "waftl",
        &[
            ("waftl.buffer_blocks", "3"),
            ("waftl.pmb_blocks", "4"),
            ("waftl.pmb_convert_pct", "100"),
        ],
    ),
    durable("waftl", &[("nand.enforce_order", "ascending_gaps_ok"), ("waftl.buffer_pct", "20")]),
    durable("waftl", &[("nand.enforce_order", "strict"), ("waftl.pmb_pct", "20")]),
    durable("waftl", &[("wear.policy", "dynamic"), ("waftl.buffer_blocks", "4")]),
    durable(
        "waftl",
        &[("wear.policy", "static"), ("wear.spread", "2"), ("waftl.buffer_blocks", "4")],
    ),
    durable("waftl:frequency", &[("waftl.buffer_blocks", "5"), ("waftl.hot_updates", "1")]),
    durable(
        "waftl",
        &[("waftl.thr_kind", "pages_in_buffer"), ("waftl.buffer_blocks", "5"), PULL_NOTHING],
    ),
    durable(
        "waftl",
        &[PULL_NOTHING, ("nand.enforce_order", "strict"), ("waftl.buffer_blocks", "4")],
    ),
    durable(
        "waftl:dynamic",
        &[("waftl.buffer_blocks", "4"), ("waftl.pmb_blocks", "3"), ("waftl.bmb_min_pages", "3")],
    ),
    durable(
        "waftl",
        &[
            ("waftl.bmb_min_pages", "4"),
            ("waftl.pmb_convert_pct", "0"),
            ("io.partial_write", "rmw"),
        ],
    ),
    durable(
        "waftl",
        &[("waftl.bmb_min_pages", "4"), ("waftl.pmb_convert_pct", "75"), ("waftl.pmb_blocks", "3")],
    ),
    durable("waftl:background", &[("waftl.buffer_blocks", "4")]),
    durable(
        "waftl",
        &[
            ("waftl.migrate", "background"),
            ("gc.mode", "idle"),
            ("waftl.buffer_blocks", "4"),
            ("waftl.idle_start_pct", "25"),
        ],
    ),
    durable(
        "waftl",
        &[
            ("device.channels", "2"),
            ("device.planes", "2"),
            ("timing.profile", "parallel"),
            ("waftl.buffer_blocks", "4"),
            ("waftl.pmb_blocks", "4"),
        ],
    ),
    durable("waftl", advanced!(("waftl.buffer_blocks", "4"), ("waftl.pmb_blocks", "4"))),
    durable("waftl", &[("waftl.buffer_blocks", "3"), ("device.pages_per_block", "8")]),
    durable("janus", &[OFTEN]),
    durable("janus", &[("janus.target", "all_page"), ("gc.mode", "both")]),
    durable("janus", &[ALL_BLOCK]),
    durable("janus", &[ALL_BLOCK, ("nand.enforce_order", "strict")]),
    durable("janus", &[ALL_BLOCK, ("nand.enforce_order", "ascending_gaps_ok"), RMW]),
    durable("janus", &[FIXED, ("janus.defuse_rule", "sequential"), RMW]),
    durable("janus", &[FIXED, ("janus.defuse_rule", "coldest"), ("nand.enforce_order", "strict")]),
    durable("janus", &[FIXED, ("janus.fixed_pct", "60"), ("gc.separate_frontiers", "true")]),
    durable("janus", &[OFTEN, ("janus.block_cost", "0"), ("wear.policy", "dynamic")]),
    durable("janus", &[FIXED, ("wear.policy", "static"), ("wear.spread", "2")]),
    durable("janus", &[ALL_BLOCK, ("wear.policy", "static"), ("wear.spread", "2")]),
    durable("janus", advanced!(FIXED, ("gc.unit", "die"), ("gc.mode", "idle"))),
    durable(
        "janus",
        &[
            OFTEN,
            ("device.channels", "2"),
            ("timing.profile", "parallel"),
            ("alloc.order", "dynamic"),
        ],
    ),
    // Their page maps on flash: one or two map pages in memory, all of them, what a budget leaves;
    // under every order of programs, and where a logical block spreads over map pages.
    durable("waftl", &[ONE_MAP_PAGE, ("waftl.buffer_blocks", "3"), ("waftl.pmb_blocks", "4")]),
    durable(
        "waftl",
        &[
            ONE_MAP_PAGE,
            ("waftl.buffer_blocks", "4"),
            ("waftl.pmb_blocks", "3"),
            ("waftl.pmb_convert_pct", "100"),
            ("nand.enforce_order", "strict"),
        ],
    ),
    durable(
        "waftl",
        &[
            ("waftl.pmb_cache_bytes", "1KiB"),
            PULL_NOTHING,
            ("waftl.buffer_blocks", "4"),
            ("nand.enforce_order", "ascending_gaps_ok"),
            ("io.partial_write", "rmw"),
        ],
    ),
    durable(
        "waftl",
        &[
            ("waftl.pmb_cache_bytes", "1MiB"),
            ("waftl.pmb_blocks", "4"),
            ("wear.policy", "static"),
            ("wear.spread", "2"),
        ],
    ),
    durable(
        "waftl:background",
        &[
            ("device.ram_bytes", "1KiB"),
            ("waftl.pmb_blocks", "48"),
            ("waftl.buffer_blocks", "4"),
            ("waftl.pmb_convert_pct", "75"),
        ],
    ),
    durable(
        "waftl:frequency",
        &[
            ("waftl.pmb_cache_bytes", "2KiB"),
            ("device.pages_per_block", "6"),
            ("waftl.buffer_blocks", "3"),
            ("waftl.pmb_blocks", "3"),
        ],
    ),
    durable(
        "waftl",
        advanced!(ONE_MAP_PAGE, ("waftl.buffer_blocks", "4"), ("waftl.pmb_blocks", "4")),
    ),
];
