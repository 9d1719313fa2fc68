//! Schemes whose map and data share the controller's RAM.

use super::{PAGE, PAGES, UNIT, Variant, durable};

/// Eight frames: what can be evicted is evicted all the time.
const FRAMES: (&str, &str) = ("device.ram_bytes", "4KiB");
/// A translation page and a data page.
const TWO_FRAMES: (&str, &str) = ("device.ram_bytes", "1KiB");
/// Requests of more pages are sequential.
const SEQUENTIAL: (&str, &str) = ("treeftl.seq_pages", "3");
const KEPT: (&str, &str) = ("device.ram_nonvolatile", "true");
/// The tree over a map of blocks.
const BLOCKS: (&str, &str) = ("treeftl.map", "block");
const CHAINS: (&str, &str) = ("replacement_block.spare_pct", "30");

/// With these settings beside the defaults. What is volatile keeps what was flushed.
pub const VARIANTS: &[Variant] = &[
    durable("treeftl", &[FRAMES, SEQUENTIAL, ("gc.mode", "both"), ("gc.idle_pages", "1")]),
    durable(
        "treeftl",
        &[
            FRAMES,
            SEQUENTIAL,
            ("treeftl.load_on_full_write", "false"),
            ("treeftl.bypass_invalidate", "update"),
            ("io.partial_write", "rmw"),
        ],
    ),
    durable(
        "treeftl",
        &[
            TWO_FRAMES,
            SEQUENTIAL,
            ("treeftl.bypass_map", "flash"),
            ("treeftl.load_unwritten", "true"),
            ("treeftl.lru_cost_us", "0.5"),
        ],
    ),
    durable(
        "treeftl",
        &[
            FRAMES,
            SEQUENTIAL,
            ("treeftl.flush_clean_ctp", "true"),
            ("treeftl.touch_on_ctp_only", "false"),
            ("treeftl.hit_scope", "random_writes"),
            ("treeftl.gtd_in_budget", "true"),
        ],
    ),
    durable(
        "treeftl:gc",
        &[
            FRAMES,
            SEQUENTIAL,
            ("treeftl.hit_scope", "all"),
            ("gc.mode", "both"),
            ("gc.idle_pages", "1"),
        ],
    ),
    durable("treeftl:gc", advanced!(FRAMES, ("treeftl.idle_flush", "true"))),
    durable("treeftl", &[TWO_FRAMES, ("wear.policy", "static"), ("wear.spread", "2")]),
    durable("treeftl:gc", &[FRAMES, ("wear.policy", "dynamic"), ("gc.separate_frontiers", "true")]),
    durable("treeftl", &[PAGE, UNIT, PAGES, FRAMES, ("nand.enforce_order", "strict")]),
    durable(
        "treeftl",
        &[FRAMES, SEQUENTIAL, KEPT, ("treeftl.bypass_map", "flash"), ("io.partial_write", "rmw")],
    ),
    durable("treeftl:gc", &[FRAMES, SEQUENTIAL, KEPT, ("treeftl.bypass_invalidate", "update")]),
    durable("treeftl_page_lru", &[FRAMES, SEQUENTIAL, ("treeftl.idle_flush", "true")]),
    durable("treeftl_page_lru", &[FRAMES, ("treeftl_page_lru.ctp_needs_no_cdp", "false"), KEPT]),
    durable(
        "treeftl_page_lru",
        advanced!(
            FRAMES,
            ("treeftl_page_lru.touch_parent", "false"),
            ("treeftl_page_lru.ctp_needs_no_cdp", "false")
        ),
    ),
    durable("treeftl_page_lru", &[TWO_FRAMES, ("treeftl_page_lru.touch_parent", "false")]),
    durable("treeftl", &[BLOCKS, CHAINS, FRAMES, SEQUENTIAL, ("wear.policy", "dynamic")]),
    durable(
        "treeftl",
        &[
            BLOCKS,
            CHAINS,
            FRAMES,
            SEQUENTIAL,
            ("treeftl.load_on_full_write", "false"),
            ("io.partial_write", "rmw"),
        ],
    ),
    durable(
        "treeftl",
        &[
            BLOCKS,
            TWO_FRAMES,
            SEQUENTIAL,
            ("treeftl.bypass_map", "flash"),
            ("treeftl.load_unwritten", "true"),
            ("nand.enforce_order", "strict"),
        ],
    ),
    durable("treeftl", advanced!(BLOCKS, CHAINS, FRAMES, ("treeftl.idle_flush", "true"))),
    durable(
        "treeftl",
        &[
            BLOCKS,
            CHAINS,
            FRAMES,
            SEQUENTIAL,
            KEPT,
            ("replacement_block.mode", "append"),
            ("treeftl.bypass_invalidate", "update"),
            ("io.partial_write", "rmw"),
        ],
    ),
    durable(
        "treeftl_page_lru",
        &[
            BLOCKS,
            CHAINS,
            FRAMES,
            ("treeftl_page_lru.ctp_needs_no_cdp", "false"),
            ("wear.policy", "static"),
            ("wear.spread", "2"),
        ],
    ),
];
