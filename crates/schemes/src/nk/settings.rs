//! Settings of N-K mapping.

use ftlab_flash::settings;
use ftlab_flash::settings::Optional;
use ftlab_ftl::parts::owned_logs::{OwnedVictim, SequenceCheck};
use ftlab_ftl::scheme::SchemeConfig;

/// What this scheme sees of the settings.
pub(crate) type Config = SchemeConfig<NkSettings>;

settings! {
    /// Settings of `nk`.
    #[expect(non_snake_case, reason = "N and K are the names of the scheme")]
    pub struct NkSettings in "nk" {
        /// N: logical blocks to a group; at least as many as there are: one group.
        N: u32 = 4, legal("1..=16777216", |v| (1..=1 << 24).contains(v)),
            source("docs/papers/others.md#n-k-mapping: wiscsee");
        /// K: log blocks that a group may have; at least as many as there are: all. Where
        /// nk.dynamic is on, what each group begins with, within nk.k_min and nk.k_max.
        K: u32 = 1, legal("1..=16777216", |v| (1..=1 << 24).contains(v)),
            source("docs/papers/others.md#n-k-mapping: wiscsee");
        /// Log blocks in percent of the logical capacity, rounded up; a plain number, 3 for 3 %.
        log_pct: f64 = 3.0, legal("1..=100", |v| (1.0..=100.0).contains(v)),
            source("DFTL 2014, 2");
        /// Log blocks as a number; auto: by nk.log_pct.
        log_blocks: Optional<u32> = Optional(None),
            legal("auto, or 1..=16777216", |v| v.0.is_none_or(|n| (1..=1 << 24).contains(&n))),
            source("ftlab");
        /// Which log block is merged, of the group that has its K, or of all when too many are in
        /// use. A group's own blocks stand in the order in which they were opened.
        victim: OwnedVictim = OwnedVictim::Cheapest, legal("", |_| true),
            source("docs/papers/others.md#n-k-mapping: wiscsee");
        /// Log blocks in use, percent of all, beyond which none is opened before others are merged;
        /// wiscsee begins at 80.
        start_pct: u32 = 100, legal("1..=100", |v| (1..=100).contains(v)),
            source("docs/papers/others.md#n-k-mapping: wiscsee");
        /// Log blocks in use, percent of all, at which that merging stops, the one to be opened
        /// among them; at most nk.start_pct. wiscsee stops at 70.
        stop_pct: u32 = 100, legal("1..=100", |v| (1..=100).contains(v)),
            source("docs/papers/others.md#n-k-mapping: wiscsee");
        /// Whether a merge also erases full log blocks of the victim's group that are left without
        /// a valid page.
        erase_emptied: bool = true, legal("", |_| true),
            source("docs/papers/others.md#n-k-mapping: wiscsee");
        /// When a log block is in order, so that it can be switched or completed.
        seq_check: SequenceCheck = SequenceCheck::AllPages, legal("", |_| true),
            source("docs/papers/others.md#n-k-mapping, as BAST");
        /// Whether a log block that holds the beginning of a logical block is completed; off: it
        /// is merged in full.
        partial: bool = true, legal("", |_| true), source("docs/papers/others.md#n-k-mapping");
        /// Whether each group's K changes at run time.
        dynamic: bool = false, legal("", |_| true), source("Koo and Shin 2009");
        /// Dynamic: least K of a group.
        k_min: u32 = 1, legal("1..=16777216", |v| (1..=1 << 24).contains(v)), source("ftlab");
        /// Dynamic: most K of a group; auto: all log blocks.
        k_max: Optional<u32> = Optional(None),
            legal("auto, or 1..=16777216", |v| v.0.is_none_or(|n| (1..=1 << 24).contains(&n))),
            source("ftlab");
        /// Dynamic: merges of a group's log blocks between two decisions about its K.
        window: u32 = 8, legal("1..=65536", |v| (1..=65536).contains(v)), source("ftlab");
        /// Dynamic: K grows where the group's merges reclaimed fewer log pages than this for every
        /// data block that they rebuilt, percent of a block.
        grow_below_pct: u32 = 50, legal("0..=10000", |v| *v <= 10_000), source("ftlab");
        /// Dynamic: K shrinks where they reclaimed at least so many, percent of a block; more than
        /// nk.grow_below_pct, or as many.
        shrink_from_pct: u32 = 100, legal("0..=10000", |v| *v <= 10_000), source("ftlab");
    }
}
