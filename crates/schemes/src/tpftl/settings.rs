//! The settings of `tpftl`.

use ftlab_flash::settings::{Bytes, Optional};
use ftlab_flash::{choices, settings};
use ftlab_ftl::scheme::SchemeConfig;

choices! {
    /// How cold a node is.
    pub enum NodeOrder {
        /// By the last time that it was looked up.
        Lru = "lru",
        /// By the mean of the last times that its entries were used.
        MeanHotness = "mean_hotness",
    }
}

choices! {
    /// Where prefetched entries go in the list of their node.
    pub enum PrefetchPlace {
        /// Where the entry used longest ago is; the farthest from the missed one leaves first.
        ColdEnd = "cold_end",
        /// Behind the missed entry, as if used just before it.
        HotEnd = "hot_end",
    }
}

choices! {
    /// The lists that cached entries are in.
    pub enum Levels {
        /// A list of nodes, and one of entries in each.
        Two = "two",
        /// One list of all entries, without nodes: DFTL's.
        One = "one",
    }
}

/// What this scheme sees of the settings.
pub(crate) type Config = SchemeConfig<TpftlSettings>;

settings! {
    /// Settings of `tpftl`.
    pub struct TpftlSettings in "tpftl" {
        /// Bytes of cached entries and nodes; auto: device.ram_bytes, else DFTL's 32 KiB.
        cache_bytes: Optional<Bytes> = Optional(None), legal("", |_| true),
            source("DFTL 2014, 5.3: 32 KB");
        /// Whether the directory takes room from the cache under device.ram_bytes.
        gtd_in_budget: bool = false, legal("", |_| true), source("as for dftl");
        /// Bytes of a cached entry: its place in the translation page, and the physical page.
        entry_bytes: u32 = 6, legal("1..=64", |v| (1..=64).contains(v)),
            source("docs/papers/others.md#tpftl");
        /// Bytes of a node's header (two levels).
        node_bytes: u32 = 8, legal("0..=64", |v| *v <= 64),
            source("open: docs/papers/others.md#tpftl");
        /// r: a miss also loads the entries of the request's remaining pages.
        request_prefetch: bool = true, legal("", |_| true),
            source("TPFTL 2015, by docs/papers/others.md#tpftl");
        /// s: while the number of nodes falls, a miss also loads as many successors as there are
        /// cached predecessors in a row.
        selective_prefetch: bool = true, legal("", |_| true),
            source("TPFTL 2015, by docs/papers/others.md#tpftl");
        /// b: a changed entry that leaves takes the other changed entries of its node along in one
        /// map write; they stay, unchanged.
        batch: bool = true, legal("", |_| true),
            source("TPFTL 2015, by docs/papers/others.md#tpftl");
        /// c: unchanged entries of a node leave before changed ones.
        clean_first: bool = true, legal("", |_| true),
            source("TPFTL 2015, by docs/papers/others.md#tpftl");
        /// Nodes gained, less nodes lost, that switch selective prefetching off; as many lost
        /// switch it on.
        thr: u32 = 3, legal("1..=65535", |v| (1..=65535).contains(v)),
            source("docs/papers/others.md#tpftl");
        /// How cold a node is.
        node_order: NodeOrder = NodeOrder::Lru, legal("", |_| true),
            source("open: docs/papers/others.md#tpftl; public code lru, paper mean hotness");
        /// Where prefetched entries go in the list of their node.
        prefetch_place: PrefetchPlace = PrefetchPlace::ColdEnd, legal("", |_| true),
            source("open: docs/papers/others.md#tpftl; public code");
        /// The lists that cached entries are in.
        levels: Levels = Levels::Two, legal("", |_| true), source("ftlab, to compare with dftl");
    }
}
