//! Settings under which every scheme is tested, beside its defaults.

/// A scheme of the table with settings that change what it does.
pub struct Variant {
    /// `name` or `name:preset`.
    pub scheme: &'static str,
    /// Settings beside those of the tiny device.
    pub pairs: &'static [(&'static str, &'static str)],
    /// Whether completed writes outlive a power cut.
    pub durable: bool,
}

const fn durable(scheme: &'static str, pairs: &'static [(&'static str, &'static str)]) -> Variant {
    Variant { scheme, pairs, durable: true }
}

/// Four cached entries: everything that a cache can do happens all the time.
const SMALL: (&str, &str) = ("dftl.cmt_entries", "4");

/// A log that has room for every rule of LAST.
const LAST: (&str, &str) = ("last.log_blocks", "8");
/// A log with room for several sequential blocks, and intervals that are soon over.
const ADAPT_LOGS: (&str, &str) = ("adapt.log_blocks", "6");
const ADAPT_SOON: (&str, &str) = ("adapt.interval", "16");
const ADAPT_AREA: (&str, &str) = ("adapt.seq_max", "4");

/// Two dies of two planes, and every advanced command that they can have together.
macro_rules! advanced {
    ($($more:expr),*) => {
        &[
            ("device.dies", "2"),
            ("device.planes", "2"),
            ("alloc.order", "plane_die_channel"),
            ("timing.profile", "parallel"),
            ("timing.page_transfer", "40us"),
            ("timing.read_pages", "100us,140us"),
            ("timing.program_pages", "300us,700us"),
            ("timing.copyback", "true"),
            ("timing.multi_plane_read", "true"),
            ("timing.multi_plane_program", "true"),
            ("timing.multi_plane_erase", "true"),
            ("timing.suspend", "program_erase"),
            ("timing.read_priority", "true"),
            ("timing.oob_write", "3us"),
            $($more),*
        ]
    };
}
/// Update blocks enough for several of each kind.
const UPDATES: (&str, &str) = ("kast.log_blocks", "5");
/// Four mapping units to a flash page.
const PAGE: (&str, &str) = ("device.page_bytes", "2048");
const UNIT: (&str, &str) = ("device.mapping_unit", "512");
const PAGES: (&str, &str) = ("device.pages_per_block", "2");
/// BMB rewrites leave page-mapped pages where they are.
const PULL_NOTHING: (&str, &str) = ("waftl.pull_pmb", "false");

/// Every page of a FASTer victim is copied, unless it is full.
const COPY_ALL: (&str, &str) = ("faster.copy_all_below", "4");
/// The smallest isolation area, so that merges are forced.
const TIGHT: &[(&str, &str)] = &[
    ("faster.log_blocks", "4"),
    ("faster.isolation_min", "2"),
    ("faster.isolation_reserve", "1"),
    ("faster.progressive_interval", "1000"),
];
/// Log blocks of their own for a few logical blocks.
const BAST_LOGS: (&str, &str) = ("bast.log_blocks", "3");
const FLASH_MAP: (&str, &str) = ("bast.map_on_flash", "on");

const NK_LOGS: (&str, &str) = ("nk.log_blocks", "4");

/// The variants. Schemes without one are tested with their defaults.
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
    durable("dftl", &[SMALL, ("gc.mode", "both"), ("gc.idle_pages", "1"), ("gc.idle_factor", "4")]),
    durable(
        "dftl",
        advanced!(SMALL, ("gc.unit", "die"), ("gc.mode", "idle"), ("gc.idle_pages", "1")),
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
    durable("ideal_page", &[("nand.enforce_order", "strict")]),
    durable("ideal_page", advanced!()),
    durable("ideal_page", advanced!(("timing.die_interleave", "false"), ("gc.mode", "both"))),
    durable("dftl", &[SMALL, ("dftl.checkpoint_interval", "64")]),
    durable("dftl", &[SMALL, ("dftl.checkpoint_interval", "0")]),
    durable("dftl", &[("dftl.cmt_entries", "24"), ("dftl.checkpoint_interval", "64")]),
    durable("dftl", &[SMALL, ("dftl.batch_evict", "true"), ("dftl.cmt_policy", "slru")]),
    durable("dftl", &[SMALL, ("dftl.prefetch", "2"), ("dftl.cmt_policy", "lru")]),
    durable("dftl", &[SMALL, ("dftl.lazy_copying", "false"), ("dftl.cmt_policy", "lfu")]),
    durable("dftl", &[SMALL, ("dftl.write_miss_fetch", "false")]),
    durable("dftl", &[SMALL, ("dftl.write_miss_fetch", "false"), ("dftl.lazy_copying", "false")]),
    durable("dftl", &[SMALL, ("dftl.write_miss_fetch", "false"), ("io.partial_write", "rmw")]),
    durable("dftl", &[SMALL, ("gc.mode", "both"), ("dftl.init_map", "written")]),
    durable("dftl", &[SMALL, ("gc.separate_frontiers", "true"), ("gc.victim", "fifo")]),
    durable("dftl", &[SMALL, ("nand.enforce_order", "strict"), ("dftl.map_read_xfer", "entry")]),
    durable("dftl", advanced!(SMALL, ("timing.multi_plane_same_offset", "false"))),
    durable("ideal_page", &[PAGE, UNIT, PAGES, ("gc.separate_frontiers", "true")]),
    durable("dftl", &[PAGE, UNIT, PAGES, SMALL, ("nand.enforce_order", "strict")]),
    durable("dftl", &[SMALL, ("wear.policy", "dynamic"), ("gc.separate_frontiers", "true")]),
    durable("dftl", &[SMALL, ("wear.policy", "static"), ("wear.spread", "2")]),
    durable("dftl:battery", &[SMALL]),
    durable("dftl:battery", &[SMALL, ("dftl.write_miss_fetch", "false")]),
    Variant { scheme: "dftl:gtd", pairs: &[SMALL], durable: false },
    Variant { scheme: "dftl:gtd", pairs: &[SMALL, ("dftl.gtd_sync_every", "64")], durable: false },
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
    durable("faster", &[("faster.log_blocks", "4")]),
    durable("faster", &[("faster.log_blocks", "4"), ("faster.max_chances", "0")]),
    durable("faster", &[("faster.log_blocks", "4"), ("faster.max_chances", "3"), COPY_ALL]),
    durable("faster", &[("faster.log_blocks", "4"), ("faster.skip_full", "true")]),
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
    durable("fast", &[("fast.log_blocks", "4"), ("fast.victim", "fewest_data_blocks")]),
    durable("last", &[]),
    durable("last", &[LAST, ("last.hot_window", "4"), ("last.seq_share", "0.25")]),
    durable("last", &[LAST, ("last.seq_cmp", "ge"), ("last.sw_miss", "to_random")]),
    durable("last", &[LAST, ("last.sw_unaligned", "to_random"), ("last.seq_share", "0.5")]),
    durable("last", &[LAST, ("last.seq_pages", "4"), ("last.seq_continuation", "true")]),
    durable("last", &[LAST, ("last.adapt", "true"), ("last.cold_victim", "fifo")]),
    durable("last", &[LAST, ("last.adapt", "true"), ("last.hot_window", "6")]),
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
