//! Schemes whose log blocks take pages of any logical block.

use super::{Variant, durable};

/// A log that has room for every rule of LAST.
const LAST: (&str, &str) = ("last.log_blocks", "8");
/// Most of what is in use, so that the log has three blocks and more.
const LAST_PCT: (&str, &str) = ("last.log_pct", "60");

/// A log with room for several sequential blocks, and intervals that are soon over.
const ADAPT_LOGS: (&str, &str) = ("adapt.log_blocks", "6");
const ADAPT_SOON: (&str, &str) = ("adapt.interval", "16");
const ADAPT_AREA: (&str, &str) = ("adapt.seq_max", "4");

/// Every page of a FASTer victim is copied, unless it is full.
const COPY_ALL: (&str, &str) = ("faster.copy_all_below", "4");

/// The smallest isolation area, so that merges are forced.
const TIGHT: &[(&str, &str)] = &[
    ("faster.log_blocks", "4"),
    ("faster.isolation_min", "2"),
    ("faster.isolation_reserve", "1"),
    ("faster.progressive_interval", "1000"),
];

/// With these settings beside the defaults.
pub const VARIANTS: &[Variant] = &[
    durable("fast", &[]),
    durable("fast", &[("nand.enforce_order", "ascending_gaps_ok")]),
    durable("fast", &[("wear.policy", "dynamic")]),
    durable("fast", &[("wear.policy", "static"), ("wear.spread", "2")]),
    durable(
        "fast",
        &[("wear.policy", "static"), ("nand.enforce_order", "strict"), ("wear.spread", "2")],
    ),
    durable("fast", &[("nand.enforce_order", "strict")]),
    durable("fast", &[("fast.log_blocks", "4"), ("fast.victim", "greedy")]),
    durable(
        "fast",
        &[("fast.log_blocks", "4"), ("fast.sw_gap", "to_rw"), ("fast.sw_rewrite", "to_rw")],
    ),
    durable(
        "fast",
        &[
            ("fast.log_base", "active_region"),
            ("fast.log_pct", "50"),
            ("device.active_region", "6KiB"),
        ],
    ),
    durable("fast", &[("fast.first_write", "log"), ("fast.rw_switch_check", "true")]),
    durable(
        "fast",
        &[
            ("fast.first_write", "log"),
            ("nand.enforce_order", "strict"),
            ("fast.sw_gap", "full_merge"),
        ],
    ),
    durable(
        "fast",
        &[("fast.detector", "request_size"), ("fast.log_blocks", "3"), ("io.partial_write", "rmw")],
    ),
    durable(
        "fast",
        &[("device.channels", "2"), ("device.planes", "2"), ("timing.profile", "parallel")],
    ),
    durable("fast", advanced!(("timing.copyback_same_parity", "true"))),
    durable("fast", &[("fast.log_blocks", "3"), ("device.pages_per_block", "8")]),
    durable("fast", &[("fast.bug_compat", "true"), ("timing.oob_write", "3us")]),
    durable("fast", &[("fast.bug_compat", "true"), ("nand.enforce_order", "strict")]),
    durable("fast", &[("fast.log_blocks", "4"), ("fast.victim", "fewest_data_blocks")]),
    durable("faster", &[("faster.log_blocks", "4")]),
    durable("faster", &[("faster.log_blocks", "4"), ("faster.max_chances", "0")]),
    durable("faster", &[("faster.log_blocks", "4"), ("faster.max_chances", "3"), COPY_ALL]),
    durable("faster", &[("faster.log_blocks", "4"), ("faster.skip_full", "true")]),
    durable("faster", &[("faster.log_blocks", "4"), ("faster.free_reserve", "2")]),
    durable("faster:isolation", &[("faster.log_blocks", "6"), ("faster.free_reserve", "2")]),
    durable(
        "faster",
        &[("faster.log_blocks", "4"), ("faster.sw_gap", "to_rw"), ("faster.sw_rewrite", "to_rw")],
    ),
    durable("faster", &[("faster.seq", "corref4"), ("faster.log_blocks", "3")]),
    durable(
        "faster",
        &[
            ("faster.seq", "corref4"),
            ("faster.seq_threshold", "2"),
            ("nand.enforce_order", "strict"),
        ],
    ),
    durable(
        "faster",
        &[
            ("faster.seq", "corref4"),
            ("faster.seq_threshold", "1"),
            ("nand.enforce_order", "ascending_gaps_ok"),
            ("faster.first_write", "log"),
        ],
    ),
    durable("faster:isolation", &[]),
    durable("faster:isolation", TIGHT),
    durable(
        "faster:isolation",
        &[
            ("faster.log_blocks", "6"),
            ("faster.isolation_pct", "50"),
            ("faster.isolation_min", "2"),
            ("faster.isolation_reserve", "1"),
            ("faster.progressive_interval", "7"),
            ("faster.copy_all_below", "0"),
            ("nand.enforce_order", "strict"),
        ],
    ),
    durable(
        "faster:isolation",
        &[
            ("faster.isolation", "false"),
            ("faster.log_blocks", "3"),
            ("wear.policy", "static"),
            ("wear.spread", "2"),
        ],
    ),
    durable("faster:isolation", &[("faster.isolation_min", "3"), ("wear.policy", "dynamic")]),
    durable(
        "faster:isolation",
        &[("device.channels", "2"), ("device.planes", "2"), ("timing.profile", "parallel")],
    ),
    durable(
        "faster:isolation",
        advanced!(("faster.log_blocks", "4"), ("faster.isolation_min", "3")),
    ),
    durable("faster", &[("faster.log_blocks", "3"), ("device.pages_per_block", "8")]),
    durable("last", &[]),
    durable("last", &[LAST, ("last.hot_window", "4"), ("last.seq_share", "0.25")]),
    durable("last", &[LAST, ("last.seq_cmp", "ge"), ("last.sw_miss", "to_random")]),
    durable("last", &[LAST, ("last.sw_unaligned", "to_random"), ("last.seq_share", "0.5")]),
    durable("last", &[LAST, ("last.seq_pages", "4"), ("last.seq_continuation", "true")]),
    durable("last", &[LAST, ("last.adapt", "true"), ("last.cold_victim", "fifo")]),
    durable("last", &[LAST, ("last.adapt", "true"), ("last.hot_window", "6")]),
    durable("last", &[LAST, ("last.hot_reserve", "as_used")]),
    durable("last", &[LAST, ("last.hot_reserve", "as_used"), ("last.cold_victim", "greedy")]),
    durable(
        "last",
        &[("last.log_base", "active_region"), ("device.active_region", "4KiB"), LAST_PCT],
    ),
    durable("last", &[LAST, ("last.hot_share", "0"), ("last.cold_victim", "greedy")]),
    durable("last", &[LAST, ("last.hot_share", "1"), ("io.partial_write", "rmw")]),
    durable("last", &[LAST, ("last.first_write", "log"), ("timing.oob_write", "3us")]),
    durable("last", &[LAST, ("nand.enforce_order", "ascending_gaps_ok")]),
    durable("last", &[LAST, ("nand.enforce_order", "strict"), ("last.seq_share", "0.25")]),
    durable("last", &[LAST, ("last.first_write", "log"), ("nand.enforce_order", "strict")]),
    durable("last", &[LAST, ("wear.policy", "dynamic")]),
    durable("last", &[LAST, ("wear.policy", "static"), ("wear.spread", "2")]),
    durable("last", &[("last.log_blocks", "3"), ("device.pages_per_block", "8")]),
    durable(
        "last",
        &[LAST, ("device.channels", "2"), ("device.planes", "2"), ("timing.profile", "parallel")],
    ),
    durable("last", advanced!(LAST, ("timing.copyback_same_parity", "true"))),
    durable("mast", &[]),
    durable("mast", &[("mast.log_blocks", "4"), ("mast.victim", "greedy")]),
    durable("mast", &[("mast.log_blocks", "4"), ("mast.stripe", "3"), ("mast.cold_window", "0")]),
    durable(
        "mast",
        &[("mast.log_blocks", "3"), ("mast.min_gain", "4"), ("mast.merge_min_pages", "1")],
    ),
    durable(
        "mast",
        &[
            ("mast.log_blocks", "3"),
            ("mast.merge_min_pages", "2"),
            ("mast.cold_window", "4"),
            ("io.partial_write", "rmw"),
        ],
    ),
    durable("mast", &[("mast.log_blocks", "3"), ("nand.enforce_order", "ascending_gaps_ok")]),
    durable(
        "mast",
        &[
            ("mast.first_write", "log"),
            ("nand.enforce_order", "strict"),
            ("mast.log_blocks", "4"),
            ("mast.stripe", "2"),
        ],
    ),
    durable("mast", &[("mast.log_blocks", "3"), ("wear.policy", "dynamic")]),
    durable("mast", &[("mast.log_blocks", "3"), ("wear.policy", "static"), ("wear.spread", "2")]),
    durable(
        "mast",
        &[
            ("mast.log_blocks", "5"),
            ("device.channels", "2"),
            ("device.planes", "2"),
            ("timing.profile", "parallel"),
        ],
    ),
    durable("mast", advanced!(("mast.log_blocks", "4"))),
    durable("mast", &[("mast.log_blocks", "3"), ("device.pages_per_block", "8")]),
    durable("adapt", &[]),
    durable("adapt", &[ADAPT_LOGS, ADAPT_AREA, ADAPT_SOON]),
    durable(
        "adapt",
        &[ADAPT_LOGS, ADAPT_AREA, ADAPT_SOON, ("nand.enforce_order", "ascending_gaps_ok")],
    ),
    durable("adapt", &[ADAPT_LOGS, ADAPT_AREA, ADAPT_SOON, ("nand.enforce_order", "strict")]),
    durable("adapt", &[ADAPT_LOGS, ADAPT_AREA, ADAPT_SOON, ("adapt.seq_partial", "any")]),
    durable(
        "adapt",
        &[ADAPT_LOGS, ADAPT_AREA, ("wear.policy", "dynamic"), ("adapt.seq_init", "2")],
    ),
    durable(
        "adapt",
        &[ADAPT_LOGS, ADAPT_AREA, ADAPT_SOON, ("wear.policy", "static"), ("wear.spread", "2")],
    ),
    durable(
        "adapt",
        &[
            ADAPT_LOGS,
            ADAPT_AREA,
            ADAPT_SOON,
            ("adapt.tau", "2"),
            ("adapt.agmov_merge", "per_page"),
        ],
    ),
    durable(
        "adapt",
        &[
            ADAPT_LOGS,
            ("adapt.history_bytes", "600"),
            ("adapt.hat_lookup", "same_logical_block"),
            ("adapt.min_gain_pages", "2"),
            ("adapt.erl_skip_open", "false"),
        ],
    ),
    durable(
        "adapt",
        &[
            ADAPT_LOGS,
            ADAPT_AREA,
            ADAPT_SOON,
            ("adapt.seq_begin", "offset_zero"),
            ("adapt.seq_miss", "with_request"),
            ("adapt.seq_small", "as_large"),
            ("adapt.seq_complete", "at_once"),
            ("adapt.seq_victim", "cheapest"),
        ],
    ),
    durable(
        "adapt",
        &[
            ADAPT_LOGS,
            ADAPT_AREA,
            ADAPT_SOON,
            ("adapt.seq_miss", "to_random"),
            ("adapt.seq_small", "append"),
            ("adapt.hat_lookup", "exact_base"),
            ("adapt.delta_if_no_alloc", "zero"),
            ("adapt.phi_round", "ceil"),
            ("adapt.phi_limit", "1"),
            ("io.partial_write", "rmw"),
        ],
    ),
    durable(
        "adapt",
        &[
            ADAPT_LOGS,
            ADAPT_AREA,
            ADAPT_SOON,
            ("adapt.size_unit", "bytes"),
            ("adapt.observe_from", "measuring"),
            ("adapt.seq_init_auto", "most"),
        ],
    ),
    durable("adapt:sw", &[("adapt.seq_cmp", "ge"), ("device.pages_per_block", "8")]),
    durable("adapt:t32", &[ADAPT_LOGS, ("adapt.delta_if_no_alloc", "last")]),
    durable("adapt:nd", &[ADAPT_LOGS, ("adapt.predictive_transfer", "false")]),
    durable(
        "adapt:auto",
        &[
            ADAPT_LOGS,
            ADAPT_AREA,
            ADAPT_SOON,
            ("adapt.history_verdicts", "2"),
            ("adapt.history_min", "6"),
        ],
    ),
    durable(
        "adapt:auto",
        &[
            ADAPT_LOGS,
            ADAPT_AREA,
            ADAPT_SOON,
            ("adapt.history_rule", "hill_climb"),
            ("adapt.hit_rate_def", "table_hits"),
            ("adapt.history_verdicts", "2"),
        ],
    ),
    durable(
        "adapt",
        &[
            ADAPT_LOGS,
            ("device.channels", "2"),
            ("device.planes", "2"),
            ("timing.profile", "parallel"),
        ],
    ),
    durable("adapt", advanced!(ADAPT_LOGS, ADAPT_AREA, ADAPT_SOON)),
];
