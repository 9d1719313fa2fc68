//! Block-mapped schemes without log blocks.

use super::{Variant, durable};

/// With these settings beside the defaults.
pub const VARIANTS: &[Variant] = &[
    durable("block", &[("block.coalesce_request", "false")]),
    durable("block:page_by_page", &[("block.erase_now", "false"), ("gc.mode", "both")]),
    durable("block", &[("block.erase_now", "false")]),
    durable(
        "block",
        &[("block.erase_now", "false"), ("wear.policy", "static"), ("wear.spread", "2")],
    ),
    durable("block", &[("block.order", "ascending"), ("io.partial_write", "rmw")]),
    durable("block", &[("nand.enforce_order", "ascending_gaps_ok"), ("block.erase_now", "false")]),
    durable("block", &[("nand.enforce_order", "strict")]),
    durable("block", &[("nand.enforce_order", "strict"), ("block.coalesce_request", "false")]),
    durable("block", &[("wear.policy", "dynamic"), ("device.pages_per_block", "8")]),
    durable("block", &[("wear.policy", "static"), ("wear.spread", "2")]),
    durable(
        "block",
        &[("device.channels", "2"), ("device.planes", "2"), ("timing.profile", "parallel")],
    ),
    durable("block", advanced!(("timing.copyback_same_parity", "true"))),
    durable("replacement_block", &[("replacement_block.spare_pct", "20")]),
    durable(
        "replacement_block",
        &[("replacement_block.spare_pct", "30"), ("replacement_block.max_chain", "1")],
    ),
    durable(
        "replacement_block",
        &[
            ("replacement_block.spare_pct", "30"),
            ("replacement_block.max_chain", "2"),
            ("replacement_block.victim", "lru"),
            ("replacement_block.own_fold", "retry"),
            ("replacement_block.reserve", "2"),
            ("timing.oob_read", "25us"),
        ],
    ),
    durable("replacement_block:nftl_n", &[("replacement_block.own_fold", "retry")]),
    durable(
        "replacement_block:nftl_n",
        &[("replacement_block.spare_pct", "40"), ("timing.oob_read", "25us")],
    ),
    durable(
        "replacement_block:nftl_n",
        &[("replacement_block.spare_pct", "40"), ("nand.enforce_order", "strict")],
    ),
    durable(
        "replacement_block",
        &[("replacement_block.spare_pct", "40"), ("nand.enforce_order", "strict")],
    ),
    durable(
        "replacement_block",
        &[("replacement_block.spare_pct", "40"), ("nand.enforce_order", "ascending_gaps_ok")],
    ),
    durable(
        "replacement_block",
        &[("io.partial_write", "rmw"), ("device.pages_per_block", "8"), ("wear.policy", "dynamic")],
    ),
    durable(
        "replacement_block",
        &[("replacement_block.spare_pct", "40"), ("wear.policy", "static"), ("wear.spread", "2")],
    ),
    durable(
        "replacement_block:nftl_n",
        &[("replacement_block.spare_pct", "40"), ("wear.policy", "static"), ("wear.spread", "2")],
    ),
    durable(
        "replacement_block",
        &[("device.channels", "2"), ("device.planes", "2"), ("timing.profile", "parallel")],
    ),
    durable("replacement_block", advanced!(("timing.copyback_same_parity", "true"))),
];
