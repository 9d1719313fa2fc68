//! Schemes with the page map on flash and a part of it cached.

use super::{PAGE, PAGES, UNIT, Variant, durable};

/// As few blocks as there can be in UBA and CBA, and one GMT page: everything happens all the time.
const LEAST: (&str, &str) = ("lazyftl.uba_cba_blocks", "2");
const ONE_PAGE: (&str, &str) = ("lazyftl.gmt_cache_pages", "1");

/// Four cached entries: everything that a cache can do happens all the time.
const SMALL: (&str, &str) = ("dftl.cmt_entries", "4");

/// Three cached entries over one cached translation page.
const CMT: (&str, &str) = ("cdftl.cmt_entries", "3");
const CTP: (&str, &str) = ("cdftl.ctp_pages", "1");
/// Two translation pages of 128 entries on devices of 24 blocks; ten blocks still have one.
const LARGE_BLOCKS: (&str, &str) = ("device.pages_per_block", "8");

/// Two nodes and three entries.
const FEW: (&str, &str) = ("tpftl.cache_bytes", "34B");
/// Up to five nodes, or ten entries.
const SOME: (&str, &str) = ("tpftl.cache_bytes", "70B");
const MEAN: (&str, &str) = ("tpftl.node_order", "mean_hotness");
const HOT_END: (&str, &str) = ("tpftl.prefetch_place", "hot_end");

/// Everything in memory survives a power cut.
const NONVOLATILE: (&str, &str) = ("device.ram_nonvolatile", "true");
/// Four entries of HAT's QMT.
const QMT: (&str, &str) = ("hat.qmt_entries", "4");
/// Neighbours of four entries are one write of the phase-change memory.
const HAT_UNIT: (&str, &str) = ("hat.pcm_entries_per_write", "4");

/// Two entries of the device's cache, so that the host's memory is asked.
const HMB: (&str, &str) = ("hmb.cache_entries", "2");
/// Room for two chunks of eight entries.
const CHUNK: (&str, &str) = ("hmb.chunk_entries", "8");
const HOST: (&str, &str) = ("hmb.bytes", "64B");

/// A page and a few entries: pages of 512 bytes where everything is compressed and grows again.
const TIGHT: (&str, &str) = ("device.ram_bytes", "600B");
/// Two entries of DAC's first level; what its second level does without; and its bases.
const L1: (&str, &str) = ("dac.l1_entries", "2");
const NO_SPATIAL: (&str, &str) = ("dac.spatial_pages", "0");
const NO_FREQ: (&str, &str) = ("dac.freq_pages", "0");
const BATCH: (&str, &str) = ("dac.batch_evict", "true");
const CHAINS: (&str, &str) = ("replacement_block.spare_pct", "30");
const LOGS: (&str, &str) = ("bast.log_blocks", "3");
const ASCENDING: &str = "ascending_gaps_ok";

/// Six entries of the page table and one of the block table; conversions all the time.
const TABLES: (&str, &str) = ("cftl.cache_bytes", "64B");
const EAGER: (&str, &str) = ("cftl.read_thr", "1");
const GAPS: (&str, &str) = ("gc.mode", "both");

/// With these settings beside the defaults.
pub const VARIANTS: &[Variant] = &[
    durable("dftl", &[SMALL, ("gc.mode", "both"), ("gc.idle_pages", "1"), ("gc.idle_factor", "4")]),
    durable(
        "dftl",
        advanced!(SMALL, ("gc.unit", "die"), ("gc.mode", "idle"), ("gc.idle_pages", "1")),
    ),
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
    durable("dftl", &[SMALL, ("dftl.writeback", "after_completion")]),
    durable(
        "dftl",
        advanced!(
            SMALL,
            ("dftl.writeback", "after_completion"),
            ("dftl.write_miss_fetch", "false")
        ),
    ),
    durable("dftl", &[SMALL, ("gc.separate_frontiers", "true"), ("gc.victim", "fifo")]),
    durable("dftl", &[SMALL, ("nand.enforce_order", "strict"), ("dftl.map_read_xfer", "entry")]),
    durable("dftl", advanced!(SMALL, ("timing.multi_plane_same_offset", "false"))),
    durable("dftl", &[PAGE, UNIT, PAGES, SMALL, ("nand.enforce_order", "strict")]),
    durable("dftl", &[SMALL, ("wear.policy", "dynamic"), ("gc.separate_frontiers", "true")]),
    durable("dftl", &[SMALL, ("wear.policy", "static"), ("wear.spread", "2")]),
    durable("dftl:battery", &[SMALL]),
    durable("dftl:battery", &[SMALL, ("dftl.write_miss_fetch", "false")]),
    durable("dftl:hat", &[SMALL]),
    durable("dftl:dloop", &[SMALL, ("nand.enforce_order", "strict")]),
    durable("dftl:dloop", advanced!(SMALL, ("gc.mode", "both"), ("device.pages_per_block", "8"))),
    Variant { scheme: "dftl:gtd", pairs: &[SMALL], durable: false },
    Variant { scheme: "dftl:gtd", pairs: &[SMALL, ("dftl.gtd_sync_every", "64")], durable: false },
    durable("cdftl", &[CMT, CTP]),
    durable("cdftl", &[CMT, CTP, LARGE_BLOCKS]),
    durable("cdftl", &[CMT, ("cdftl.ctp_pages", "2"), LARGE_BLOCKS, NONVOLATILE]),
    durable("cdftl:one_level", &[CMT]),
    durable("cdftl:selective", &[("cdftl.cmt_entries", "8"), CTP, LARGE_BLOCKS]),
    durable(
        "cdftl:selective",
        &[("cdftl.cmt_entries", "6"), CTP, ("cdftl.selective_entries", "2"), NONVOLATILE],
    ),
    durable(
        "cdftl",
        &[CMT, CTP, ("cdftl.cmt_evict_order", "lru"), ("nand.enforce_order", "strict")],
    ),
    durable(
        "cdftl",
        &[CMT, CTP, ("cdftl.cmt_evict_order", "ctp_resident_lru"), ("io.partial_write", "rmw")],
    ),
    durable(
        "cdftl",
        advanced!(CMT, CTP, LARGE_BLOCKS, ("cdftl.cmt_evict_order", "ctp_resident_dirty_clean")),
    ),
    durable(
        "cdftl",
        &[CMT, CTP, ("nand.enforce_order", "ascending_gaps_ok"), ("wear.policy", "dynamic")],
    ),
    durable("cdftl", &[CMT, CTP, LARGE_BLOCKS, ("wear.policy", "static"), ("wear.spread", "2")]),
    durable("cdftl", &[PAGE, UNIT, PAGES, CMT, CTP, ("gc.mode", "both"), ("gc.idle_pages", "1")]),
    durable("dac", &[L1, NO_SPATIAL, NO_FREQ]),
    durable("dac", &[L1, ("dac.freq_pages", "1"), CHAINS, ("dac.promote_hits", "1")]),
    durable("dac", &[L1, NO_SPATIAL, CHAINS, ("replacement_block.mode", "append")]),
    durable("dac", &[L1, NO_FREQ, CHAINS, ("nand.enforce_order", "strict")]),
    durable("dac", &[L1, NO_SPATIAL, NO_FREQ, CHAINS, ("io.partial_write", "rmw")]),
    durable("dac", &[L1, NO_SPATIAL, NO_FREQ, CHAINS, BATCH, ("nand.enforce_order", ASCENDING)]),
    durable("dac", &[L1, NO_SPATIAL, CHAINS, ("wear.policy", "static"), ("wear.spread", "2")]),
    durable("dac", advanced!(L1, NO_SPATIAL, NO_FREQ, CHAINS)),
    durable("dac:bast", &[L1, NO_SPATIAL, NO_FREQ, LOGS]),
    durable("dac:bast", &[L1, LOGS, ("dac.promote_hits", "2")]),
    durable("dac:bast", &[L1, NO_SPATIAL, NO_FREQ, LOGS, BATCH, ("nand.enforce_order", "strict")]),
    durable("dac:bast", &[L1, NO_SPATIAL, LOGS, ("wear.policy", "dynamic")]),
    durable(
        "dac:bast",
        &[L1, NO_SPATIAL, NO_FREQ, ("wear.policy", "static"), ("wear.spread", "2")],
    ),
    durable("dac:bast", advanced!(L1, NO_FREQ, ("bast.log_blocks", "6"))),
    durable("tpftl", &[FEW]),
    durable("tpftl", &[SOME, LARGE_BLOCKS]),
    durable("tpftl", &[FEW, LARGE_BLOCKS, NONVOLATILE]),
    durable("tpftl:none", &[FEW, ("tpftl.node_bytes", "0"), ("tpftl.entry_bytes", "8")]),
    durable("tpftl:rs", &[SOME, LARGE_BLOCKS, ("tpftl.thr", "1"), HOT_END]),
    durable("tpftl:bc", &[FEW, LARGE_BLOCKS, MEAN, ("nand.enforce_order", "strict")]),
    durable("tpftl", &[SOME, MEAN, HOT_END, ("tpftl.thr", "1"), ("io.partial_write", "rmw")]),
    durable("tpftl:one_level", &[FEW, NONVOLATILE]),
    durable("tpftl", advanced!(FEW, LARGE_BLOCKS)),
    durable(
        "tpftl",
        &[FEW, ("nand.enforce_order", "ascending_gaps_ok"), ("wear.policy", "dynamic")],
    ),
    durable("tpftl", &[SOME, LARGE_BLOCKS, ("wear.policy", "static"), ("wear.spread", "2")]),
    durable("tpftl", &[PAGE, UNIT, PAGES, FEW, ("gc.mode", "both"), ("gc.idle_pages", "1")]),
    durable("hat", &[QMT, ("gc.mode", "both"), ("gc.idle_pages", "1"), ("gc.idle_factor", "4")]),
    durable("hat", &[("hat.qmt_entries", "1"), ("hat.alg1_literal", "true")]),
    durable("hat", &[QMT, ("hat.alg1_literal", "true"), ("io.partial_write", "rmw")]),
    durable("hat", &[QMT, ("hat.write_miss_smt_read", "false"), ("gc.separate_frontiers", "true")]),
    durable(
        "hat",
        &[QMT, ("hat.gc_smt_update", "foreground"), ("hat.pcm_queue", "4"), ("gc.victim", "fifo")],
    ),
    durable("hat", &[QMT, HAT_UNIT, ("hat.gc_smt_update", "foreground"), ("hat.pcm_queue", "4")]),
    durable("hat", &[QMT, HAT_UNIT, ("timing.profile", "parallel"), ("hat.pcm_queue", "16")]),
    durable("hat", &[QMT, ("device.ram_nonvolatile", "true"), ("gc.mode", "both")]),
    durable("hat", advanced!(QMT, ("device.ram_nonvolatile", "true"), ("gc.unit", "die"))),
    durable("hat", advanced!(QMT, ("hat.gc_smt_update", "foreground"), ("gc.mode", "idle"))),
    durable("hat", &[PAGE, UNIT, PAGES, QMT, ("nand.enforce_order", "strict")]),
    durable("hat", &[QMT, ("wear.policy", "dynamic"), ("gc.separate_frontiers", "true")]),
    durable("hat", &[QMT, ("wear.policy", "static"), ("wear.spread", "2")]),
    durable("hmb", &[HMB, ("gc.mode", "both"), ("gc.idle_pages", "1"), ("gc.idle_factor", "4")]),
    durable("hmb", &[HMB, ("hmb.upload", "on_miss"), ("hmb.host_memory", "kept")]),
    durable("hmb", &[HMB, CHUNK, HOST, ("hmb.host_memory", "kept"), ("io.partial_write", "rmw")]),
    durable("hmb", &[HMB, CHUNK, HOST, ("hmb.upload", "on_miss"), ("hmb.mode", "dma")]),
    durable("hmb", &[HMB, ("hmb.bytes", "0"), ("device.ram_nonvolatile", "true")]),
    durable("hmb", advanced!(HMB, ("hmb.mode", "dma"), ("gc.unit", "die"))),
    durable("hmb", &[PAGE, UNIT, PAGES, HMB, ("nand.enforce_order", "strict")]),
    durable("hmb", &[HMB, ("wear.policy", "dynamic"), ("gc.separate_frontiers", "true")]),
    durable("hmb", &[HMB, ("wear.policy", "static"), ("hmb.upload", "on_miss")]),
    durable("sftl", &[TIGHT, ("gc.mode", "both"), ("gc.idle_pages", "1"), ("gc.idle_factor", "4")]),
    durable("sftl", advanced!(("device.ram_bytes", "2400B"))),
    durable("sftl", &[TIGHT, ("sftl.size_formula", "wiscsee"), ("sftl.dirty_buf_share", "0.02")]),
    durable("sftl", &[TIGHT, ("io.partial_write", "rmw"), ("sftl.entry_bytes", "4")]),
    durable("sftl", &[TIGHT, ("gc.separate_frontiers", "true"), ("gc.victim", "fifo")]),
    durable("sftl", &[("device.ram_bytes", "2400B"), PAGE, UNIT, PAGES]),
    durable("sftl", &[TIGHT, ("nand.enforce_order", "strict"), ("wear.policy", "dynamic")]),
    durable(
        "sftl",
        &[
            TIGHT,
            ("nand.enforce_order", "ascending_gaps_ok"),
            ("wear.policy", "static"),
            ("wear.spread", "2"),
        ],
    ),
    durable("sftl", &[TIGHT, NONVOLATILE]),
    durable("sftl:raw", &[("device.ram_bytes", "1KiB"), ("sftl.gtd_in_budget", "true")]),
    durable("lazyftl", &[LEAST, ONE_PAGE]),
    durable("lazyftl", &[("lazyftl.uba_cba_blocks", "4"), ("device.ram_nonvolatile", "true")]),
    durable("lazyftl", &[("lazyftl.uba_cba_blocks", "5"), ("gc.victim", "fifo")]),
    durable("lazyftl", &[("lazyftl.uba_cba_blocks", "4"), ("lazyftl.cba_percent", "50")]),
    durable(
        "lazyftl:background",
        &[("lazyftl.uba_cba_blocks", "4"), ("gc.mode", "both"), ("gc.idle_pages", "1")],
    ),
    durable("lazyftl", &[LEAST, ("io.partial_write", "rmw"), ("nand.enforce_order", "strict")]),
    durable("lazyftl", &[PAGE, UNIT, PAGES, LEAST]),
    durable("lazyftl", &[LEAST, ("wear.policy", "dynamic"), ("gc.separate_frontiers", "true")]),
    durable(
        "lazyftl",
        &[("lazyftl.uba_cba_blocks", "3"), ("wear.policy", "static"), ("wear.spread", "2")],
    ),
    durable(
        "lazyftl",
        advanced!(("lazyftl.uba_cba_blocks", "8"), ("gc.unit", "die"), ("gc.mode", "idle")),
    ),
    durable(
        "lazyftl",
        &[
            ("device.channels", "2"),
            ("timing.profile", "parallel"),
            ("alloc.order", "dynamic"),
            ("lazyftl.uba_cba_blocks", "6"),
            ("lazyftl.cba_percent", "34"),
        ],
    ),
    durable("cftl", &[TABLES, EAGER, GAPS, ("cftl.convert_pages", "1"), ("gc.idle_pages", "1")]),
    durable(
        "cftl",
        &[("device.ram_bytes", "1100B"), EAGER, ("cftl.convert", "gc"), ("cftl.hot_thr", "16")],
    ),
    durable("cftl", advanced!(TABLES, EAGER, GAPS, ("cftl.hot_thr", "16"))),
    durable(
        "cftl",
        &[TABLES, EAGER, GAPS, ("cftl.run_len_bits", "1"), ("cftl.cache_split", "0.3")],
    ),
    durable("cftl", &[TABLES, EAGER, GAPS, ("io.partial_write", "rmw"), ("cftl.hot_thr", "16")]),
    durable(
        "cftl",
        &[TABLES, EAGER, GAPS, ("nand.enforce_order", "strict"), ("wear.policy", "dynamic")],
    ),
    durable(
        "cftl",
        &[
            TABLES,
            EAGER,
            GAPS,
            ("nand.enforce_order", "ascending_gaps_ok"),
            ("cftl.hot_bf", "1"),
            ("cftl.hot_thr", "16"),
            ("wear.policy", "static"),
            ("wear.spread", "2"),
        ],
    ),
    durable("cftl", &[PAGE, UNIT, PAGES, TABLES, EAGER, GAPS, ("cftl.bf_bits", "64")]),
    durable("cftl", &[TABLES, EAGER, GAPS, NONVOLATILE, ("cftl.convert_pages", "3")]),
    durable("cftl:pages_only", &[TABLES, ("gc.separate_frontiers", "true"), ("gc.victim", "fifo")]),
];
