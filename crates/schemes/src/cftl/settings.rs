//! The settings of `cftl`.

use ftlab_flash::settings::{Bytes, Optional};
use ftlab_flash::{choices, settings};
use ftlab_ftl::scheme::SchemeConfig;

choices! {
    /// When logical blocks are made block-mapped.
    pub enum ConvertWhen {
        /// A step behind each write that collected garbage, and in idle gaps (`gc.mode = idle` or
        /// `both`).
        Both = "both",
        /// Behind writes that collected.
        Gc = "gc",
        /// In idle gaps (`gc.mode = idle` or `both`).
        Idle = "idle",
        /// Never.
        Off = "off",
    }
}

impl ConvertWhen {
    pub(super) fn behind_collection(self) -> bool {
        matches!(self, ConvertWhen::Both | ConvertWhen::Gc)
    }

    pub(super) fn in_gaps(self) -> bool {
        matches!(self, ConvertWhen::Both | ConvertWhen::Idle)
    }
}

/// `cftl.hot_thr` that no page reaches, whatever the filters.
pub(super) const NEVER_HOT: f64 = 16.0;

/// What this scheme sees of the settings.
pub(crate) type Config = SchemeConfig<CftlSettings>;

settings! {
    /// Settings of `cftl`.
    pub struct CftlSettings in "cftl" {
        /// Bytes of both cached tables; auto: what device.ram_bytes leaves, else 32 KiB.
        cache_bytes: Optional<Bytes> = Optional(None), legal("auto, or 16 and more",
            |v| v.0.is_none_or(|bytes| bytes.0 >= 16)), source("DFTL 2014, 5.3: 32 KB");
        /// Share of them that the cached page table gets.
        cache_split: f64 = 0.75, legal("0 to 1", |v| (0.0..=1.0).contains(v)),
            source("open: docs/papers/others.md#cftl; 3:1");
        /// Bits of an entry that say how many pages it covers: 2 to that power at most.
        run_len_bits: u32 = 6, legal("0..=9", |v| *v <= 9),
            source("open: docs/papers/others.md#cftl");
        /// Bloom filters of the hot data detector.
        hot_bf: u32 = 4, legal("1..=16", |v| (1..=16).contains(v)),
            source("open: docs/papers/others.md#cftl; the authors' hot data paper");
        /// Bits of a filter.
        bf_bits: u32 = 2048, legal("64..=16777216", |v| (64..=1 << 24).contains(v)),
            source("open: docs/papers/others.md#cftl");
        /// Bits that a written page sets in a filter.
        bf_hashes: u32 = 2, legal("1..=8", |v| (1..=8).contains(v)),
            source("open: docs/papers/others.md#cftl");
        /// Page writes after which the oldest filter is emptied and becomes the newest.
        decay_writes: u32 = 512, legal("1 or more", |v| *v >= 1),
            source("open: docs/papers/others.md#cftl");
        /// A page is hot if the weights of the filters that know it reach this; the newest weighs
        /// 2, the others less in equal steps, all together cftl.hot_bf + 1. 16: none is ever hot.
        hot_thr: f64 = 4.0, legal("0 to 16", |v| (0.0..=16.0).contains(v)),
            source("Park, Du 2011, by memory");
        /// Reads of a logical block per write of it that make it read-intensive.
        read_thr: u32 = 4, legal("1..=65535", |v| (1..=65535).contains(v)),
            source("open: docs/papers/others.md#cftl");
        /// Host page writes after which reads and writes of a logical block are counted anew.
        window_writes: u32 = 4096, legal("1 or more", |v| *v >= 1), source("ftlab");
        /// When logical blocks are made block-mapped.
        convert: ConvertWhen = ConvertWhen::Both, legal("", |_| true),
            source("docs/papers/others.md#cftl");
        /// Pages that a step of a conversion copies at most.
        convert_pages: u32 = 8, legal("1 or more", |v| *v >= 1), source("ftlab");
        /// Whether the directory takes room from the tables under device.ram_bytes.
        gtd_in_budget: bool = false, legal("", |_| true), source("ftlab: as dftl.gtd_in_budget");
    }
}
