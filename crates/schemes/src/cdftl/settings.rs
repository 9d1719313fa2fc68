//! The settings of `cdftl`.

use ftlab_flash::settings::Optional;
use ftlab_flash::{choices, settings};
use ftlab_ftl::scheme::SchemeConfig;

choices! {
    /// Which entry leaves the first level; among equals the least recently used.
    pub enum EvictOrder {
        /// One whose translation page is in the second level, then an unchanged one, then a changed
        /// one.
        CtpResidentCleanDirty = "ctp_resident_clean_dirty",
        /// One whose translation page is in the second level, then a changed one, then an unchanged
        /// one.
        CtpResidentDirtyClean = "ctp_resident_dirty_clean",
        /// One whose translation page is in the second level, then any.
        CtpResidentLru = "ctp_resident_lru",
        /// Any.
        Lru = "lru",
    }
}

choices! {
    /// When a translation page that is read enters the second level.
    pub enum LoadPolicy {
        /// Always.
        Always = "always",
        /// When the first level holds entries of it (`cdftl.selective_entries`): neighbours are in
        /// use.
        Selective = "selective",
    }
}

/// What this scheme sees of the settings.
pub(crate) type Config = SchemeConfig<CdftlSettings>;

settings! {
    /// Settings of `cdftl`.
    pub struct CdftlSettings in "cdftl" {
        /// Entries of the first level (CMT); auto: what device.ram_bytes leaves, by
        /// cdftl.cmt_share, else that share of 32 KiB.
        cmt_entries: Optional<u32> = Optional(None),
            legal("auto, or 2..=536870912", |v| v.0.is_none_or(|n| (2..=1 << 29).contains(&n))),
            source("DFTL 2014, 5.3: 32 KB");
        /// Translation pages of the second level (CTP), 0 for none; auto: what device.ram_bytes
        /// leaves, else the other share of 32 KiB; none where the memory holds less than two pages.
        ctp_pages: Optional<u32> = Optional(None),
            legal("auto, or 0..=4194304", |v| v.0.is_none_or(|n| n <= 1 << 22)),
            source("docs/papers/others.md#cdftl");
        /// Share of the memory that goes to the first level where neither size is given.
        cmt_share: f64 = 0.5, legal("0 to 1", |v| (0.0..=1.0).contains(v)),
            source("open: docs/papers/others.md#cdftl; half of the bytes each");
        /// Bytes that an entry of the first level is counted with: logical and physical page.
        entry_bytes: u32 = 8, legal("1..=64", |v| (1..=64).contains(v)),
            source("docs/papers/others.md#cdftl");
        /// Whether the directory takes room from both levels under device.ram_bytes.
        gtd_in_budget: bool = true, legal("", |_| true),
            source("docs/papers/others.md#cdftl: n1 * 8 + n2 * S + GTD");
        /// Which entry leaves the first level; among equals the least recently used.
        cmt_evict_order: EvictOrder = EvictOrder::CtpResidentCleanDirty, legal("", |_| true),
            source("TreeFTL 2013, II.B: absorbed first; the order of the rest is open");
        /// When a translation page that is read enters the second level.
        load_policy: LoadPolicy = LoadPolicy::Always, legal("", |_| true),
            source("TreeFTL 2013, III.A: always; selective is open");
        /// Entries of a translation page that the first level holds before a miss brings the page
        /// to the second level (selective).
        selective_entries: u32 = 1, legal("1..=8192", |v| (1..=8192).contains(v)),
            source("ftlab");
    }
}
