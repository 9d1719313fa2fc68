//! The settings of `aps`.

use ftlab_flash::{choices, settings};
use ftlab_ftl::scheme::SchemeConfig;

choices! {
    /// When the map is looked up.
    pub enum MapLookup {
        /// For every page, before the buffer is: a hit in the buffer needs its entry too.
        First = "first",
        /// Where flash is read or written: a hit in the buffer needs no entry.
        OnDemand = "on_demand",
    }
}

/// What this scheme sees of the settings.
pub(crate) type Config = SchemeConfig<ApsSettings>;

settings! {
    /// Settings of `aps`.
    pub struct ApsSettings in "aps" {
        /// Bytes that a cached map entry is counted with: LPN and PPN.
        entry_bytes: u32 = 8, legal("1..=64", |v| (1..=64).contains(v)),
            source("TreeFTL 2013, II.B: single entries; bytes open");
        /// Requests (reads and writes) between two adjustments of the partitions.
        interval: u32 = 1000, legal("1..=1000000000", |v| (1..=1_000_000_000).contains(v)),
            source("TreeFTL 2013, IV; Shim et al. 2010");
        /// Share of the RAM that an adjustment moves from one partition to the other; a page at
        /// least.
        step: f64 = 0.015625, legal("above 0 to 0.5", |v| *v > 0.0 && *v <= 0.5),
            source("ftlab: 1/64; open: docs/papers/others.md#aps");
        /// Least share of the RAM that a partition keeps; two entries or pages at least.
        min_share: f64 = 0.015625, legal("0 to 0.5", |v| (0.0..=0.5).contains(v)),
            source("ftlab: 1/64; open: docs/papers/others.md#aps");
        /// Length of the ghost lists: as many entries and pages as the partitions would gain by so
        /// many steps.
        ghost: u32 = 1, legal("1..=64", |v| (1..=64).contains(v)),
            source("ftlab; open: docs/papers/others.md#aps");
        /// Whether a partial write of a page that is on flash loads it at once; otherwise the page
        /// is completed when it leaves the buffer, or when it is read.
        rmw: bool = true, legal("", |_| true), source("ftlab; open: docs/papers/others.md#aps");
        /// Whether pages that were read are buffered too.
        cache_reads: bool = true, legal("", |_| true),
            source("Shim et al. 2010: the cache absorbs reads and writes; TreeFTL 2013, II.B");
        /// When the map is looked up.
        lookup: MapLookup = MapLookup::First, legal("", |_| true),
            source("docs/papers/others.md#aps: map, then buffer, then flash");
        /// Whether a changed entry that leaves takes along the other changed entries of its
        /// translation page; those that an adjustment pushes out are written together anyway.
        batch_evict: bool = false, legal("", |_| true),
            source("ftlab; open: docs/papers/others.md#aps");
    }
}
