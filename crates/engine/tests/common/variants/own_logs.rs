//! Schemes whose log blocks belong to logical blocks, or to groups of them.

use super::{Variant, durable};

/// Update blocks enough for several of each kind.
const UPDATES: (&str, &str) = ("kast.log_blocks", "5");

/// Log blocks of their own for a few logical blocks.
const BAST_LOGS: (&str, &str) = ("bast.log_blocks", "3");
const FLASH_MAP: (&str, &str) = ("bast.map_on_flash", "on");
const NK_LOGS: (&str, &str) = ("nk.log_blocks", "4");

/// With these settings beside the defaults.
pub const VARIANTS: &[Variant] = &[
    durable("bast", &[]),
    durable("bast", &[BAST_LOGS, ("bast.victim", "fifo"), ("wear.policy", "dynamic")]),
    durable("bast", &[BAST_LOGS, ("bast.victim", "random"), ("bast.partial", "off")]),
    durable("bast", &[BAST_LOGS, ("bast.victim", "round_robin"), ("bast.seq_check", "none")]),
    durable("bast", &[BAST_LOGS, ("bast.victim", "cheapest"), ("io.partial_write", "rmw")]),
    durable("bast", &[BAST_LOGS, ("bast.seq_check", "valid_pages"), ("timing.oob_write", "3us")]),
    durable("bast", &[BAST_LOGS, ("nand.enforce_order", "ascending_gaps_ok")]),
    durable("bast", &[BAST_LOGS, ("nand.enforce_order", "strict")]),
    durable(
        "bast",
        &[
            BAST_LOGS,
            ("wear.policy", "static"),
            ("nand.enforce_order", "strict"),
            ("wear.spread", "2"),
        ],
    ),
    durable("bast", &[("wear.policy", "static"), ("wear.spread", "2")]),
    durable(
        "bast",
        &[("device.channels", "2"), ("device.planes", "2"), ("timing.profile", "parallel")],
    ),
    durable("bast", advanced!(("bast.log_blocks", "6"))),
    durable("bast", &[("bast.log_blocks", "4"), ("device.pages_per_block", "8")]),
    durable("bast", &[FLASH_MAP]),
    durable("bast", &[FLASH_MAP, BAST_LOGS, ("bast.map_cache_pages", "3")]),
    durable("bast", &[FLASH_MAP, BAST_LOGS, ("nand.enforce_order", "strict")]),
    durable("bast", &[FLASH_MAP, BAST_LOGS, ("wear.policy", "static"), ("wear.spread", "2")]),
    durable(
        "bast",
        &[FLASH_MAP, BAST_LOGS, ("wear.policy", "dynamic"), ("io.partial_write", "rmw")],
    ),
    durable(
        "bast",
        &[
            FLASH_MAP,
            ("device.channels", "2"),
            ("device.planes", "2"),
            ("timing.profile", "parallel"),
        ],
    ),
    durable("bast", advanced!(FLASH_MAP, ("bast.log_blocks", "6"))),
    durable("superblock", &[]),
    durable("superblock", &[("nand.enforce_order", "ascending_gaps_ok")]),
    durable("superblock", &[("nand.enforce_order", "strict"), ("superblock.S", "2")]),
    durable(
        "superblock",
        &[("superblock.S", "4"), ("superblock.K_max", "1"), ("superblock.pool_pct", "20")],
    ),
    durable(
        "superblock",
        &[("superblock.S", "1"), ("superblock.K_max", "2"), ("superblock.pool_pct", "30")],
    ),
    durable(
        "superblock",
        &[
            ("superblock.victim", "fewest_valid"),
            ("superblock.S", "3"),
            ("superblock.pool_pct", "25"),
            ("superblock.map_cache_superblocks", "1"),
        ],
    ),
    durable(
        "superblock:mixed",
        &[("superblock.S", "4"), ("superblock.pool_pct", "30"), ("io.partial_write", "rmw")],
    ),
    durable(
        "superblock",
        &[
            ("superblock.S", "2"),
            ("superblock.map_cache_superblocks", "1"),
            ("superblock.oob_read", "20us"),
        ],
    ),
    durable("superblock", &[("wear.policy", "dynamic"), ("superblock.pool_pct", "20")]),
    durable(
        "superblock",
        &[("wear.policy", "static"), ("wear.spread", "2"), ("superblock.pool_pct", "20")],
    ),
    durable(
        "superblock",
        &[
            ("device.channels", "2"),
            ("device.planes", "2"),
            ("timing.profile", "parallel"),
            ("superblock.S", "2"),
            ("superblock.pool_pct", "20"),
        ],
    ),
    durable(
        "superblock",
        advanced!(
            ("superblock.S", "2"),
            ("superblock.map_cache_superblocks", "2"),
            ("superblock.oob_read", "60us")
        ),
    ),
    durable("kast", &[]),
    durable("kast", &[UPDATES]),
    durable("kast", &[UPDATES, ("nand.enforce_order", "ascending_gaps_ok")]),
    durable("kast", &[UPDATES, ("nand.enforce_order", "strict"), ("kast.pad_sub_pct", "50")]),
    durable("kast", &[UPDATES, ("wear.policy", "dynamic"), ("kast.victim", "lru")]),
    durable("kast", &[UPDATES, ("wear.policy", "static"), ("wear.spread", "2")]),
    durable(
        "kast",
        &[
            UPDATES,
            ("wear.policy", "static"),
            ("nand.enforce_order", "strict"),
            ("wear.spread", "2"),
        ],
    ),
    durable("kast:k1", &[UPDATES, ("kast.sub_max_pct", "0"), ("kast.victim", "lru")]),
    durable("kast:k4", &[UPDATES, ("kast.sub_max_pct", "60"), ("io.partial_write", "rmw")]),
    durable("kast", &[UPDATES, ("kast.merge_rub_start_sub_pct", "0"), ("kast.reserve", "0")]),
    durable("kast", &[UPDATES, ("kast.sub_max_pct", "100"), ("kast.convert_sub_pct", "100")]),
    durable(
        "kast",
        &[
            UPDATES,
            ("kast.sub_max_pct", "60"),
            ("kast.convert_sub_pct", "0"),
            ("kast.sub_min_idle", "0"),
            ("kast.seq_check", "valid_pages"),
        ],
    ),
    durable(
        "kast",
        &[
            UPDATES,
            ("kast.pad_sub_pct", "99"),
            ("kast.merge_sub_pct", "100"),
            ("kast.sub_max_pct", "80"),
            ("device.pages_per_block", "8"),
        ],
    ),
    durable(
        "kast",
        &[
            UPDATES,
            ("device.channels", "2"),
            ("device.planes", "2"),
            ("timing.profile", "parallel"),
        ],
    ),
    durable("kast", advanced!(UPDATES, ("timing.copyback_same_parity", "true"))),
    durable("nk", &[]),
    durable("nk", &[NK_LOGS, ("nk.K", "2"), ("wear.policy", "dynamic")]),
    durable("nk", &[NK_LOGS, ("nk.N", "64"), ("nk.K", "4"), ("nk.victim", "fifo")]),
    durable("nk", &[NK_LOGS, ("nk.N", "1"), ("nk.K", "1"), ("nk.victim", "lru")]),
    durable("nk", &[NK_LOGS, ("nk.N", "1"), ("nk.K", "2"), ("nk.victim", "random")]),
    durable(
        "nk",
        &[NK_LOGS, ("nk.K", "3"), ("nk.victim", "round_robin"), ("nk.erase_emptied", "off")],
    ),
    durable("nk", &[NK_LOGS, ("nk.K", "3"), ("nk.start_pct", "80"), ("nk.stop_pct", "50")]),
    durable("nk", &[NK_LOGS, ("nk.K", "2"), ("nk.partial", "off"), ("io.partial_write", "rmw")]),
    durable("nk", &[NK_LOGS, ("nk.K", "2"), ("nk.seq_check", "none"), ("timing.oob_write", "3us")]),
    durable("nk", &[NK_LOGS, ("nk.seq_check", "valid_pages"), ("nk.N", "2")]),
    durable("nk", &[NK_LOGS, ("nk.K", "2"), ("nand.enforce_order", "ascending_gaps_ok")]),
    durable("nk", &[NK_LOGS, ("nk.K", "2"), ("nand.enforce_order", "strict")]),
    durable(
        "nk",
        &[
            NK_LOGS,
            ("nk.K", "2"),
            ("wear.policy", "static"),
            ("nand.enforce_order", "strict"),
            ("wear.spread", "2"),
        ],
    ),
    durable(
        "nk",
        &[("device.channels", "2"), ("device.planes", "2"), ("timing.profile", "parallel")],
    ),
    durable("nk", advanced!(NK_LOGS, ("nk.K", "2"))),
    durable("nk", &[NK_LOGS, ("nk.K", "2"), ("device.pages_per_block", "8")]),
    durable("nk:adaptive", &[NK_LOGS, ("nk.window", "2")]),
    durable(
        "nk:adaptive",
        &[
            NK_LOGS,
            ("nk.window", "1"),
            ("nk.K", "2"),
            ("nk.k_min", "2"),
            ("nk.k_max", "3"),
            ("nk.grow_below_pct", "60"),
            ("nk.shrink_from_pct", "60"),
        ],
    ),
];
