//! Settings of the replacement-block FTL.

use ftlab_flash::choices;
use ftlab_flash::settings;
use ftlab_flash::settings::Optional;
use ftlab_ftl::parts::replacement_chains::ChainVictim;
use ftlab_ftl::scheme::SchemeConfig;

choices! {
    /// Where pages lie in replacement blocks.
    pub enum ReplacementMode {
        /// At their own offsets (NFTL, for small-block parts).
        OffsetFixed = "offset_fixed",
        /// One after the other (NFTL-N, for large-block parts).
        Append = "append",
    }
}

choices! {
    /// What becomes of a page whose own chain is folded to make room for it.
    pub enum OwnFold {
        /// It is written at its place on the way; its older copy is not copied.
        WithPage = "with_page",
        /// The chain is folded as any other, in place if that can be, and the write tried again.
        Retry = "retry",
    }
}

/// What this scheme sees of the settings.
pub(crate) type Config = SchemeConfig<ReplacementBlockSettings>;

settings! {
    /// Settings of `replacement_block`.
    pub struct ReplacementBlockSettings in "replacement_block" {
        /// Where pages lie in replacement blocks.
        mode: ReplacementMode = ReplacementMode::OffsetFixed, legal("", |_| true),
            source("open: docs/papers/others.md#replacement-blocks");
        /// K: most replacement blocks of a logical block; auto: as many as there are.
        max_chain: Optional<u32> = Optional(None),
            legal("auto, or 1..=16777216", |v| v.0.is_none_or(|n| (1..=1 << 24).contains(&n))),
            source("open: docs/papers/others.md#replacement-blocks");
        /// Which chain is folded when spare blocks run out.
        victim: ChainVictim = ChainVictim::Longest, legal("", |_| true),
            source("docs/papers/others.md#replacement-blocks: Linux NFTL");
        /// What becomes of a page whose own chain is folded to make room for it.
        own_fold: OwnFold = OwnFold::WithPage, legal("", |_| true),
            source("Linux NFTL; retry: docs/papers/others.md#replacement-blocks");
        /// Spare blocks that no chain gets, for folds into a fresh block.
        reserve: u32 = 1, legal("1..=65536", |v| (1..=65536).contains(v)),
            source("docs/papers/others.md#replacement-blocks: Linux NFTL");
        /// Spare blocks (of all chains, and the reserve) in percent of the logical capacity,
        /// rounded up to at least one more than the reserve; a plain number, 3 for 3 %.
        spare_pct: f64 = 3.0, legal("0.1..=100", |v| (0.1..=100.0).contains(v)),
            source("open: docs/papers/others.md#replacement-blocks; as the log of the others");
    }
}
