//! The settings of `dac`.

use ftlab_flash::settings::Optional;
use ftlab_flash::{choices, settings};
use ftlab_ftl::scheme::SchemeConfig;

use crate::bast::{self, BastSettings};
use crate::replacement_block::{self, ReplacementBlockSettings};

choices! {
    /// The block-mapped scheme whose block table is on flash.
    pub enum DacBase {
        /// Chains of replacement blocks (`replacement_block.*`).
        BlockWithReplacement = "block_with_replacement",
        /// A log block per logical block (`bast.*`).
        Bast = "bast",
    }
}

/// Its own settings, and those of what it can stand on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DacOwn {
    /// Its own.
    pub dac: DacSettings,
    /// Those of log blocks.
    pub bast: BastSettings,
    /// Those of chains of replacement blocks.
    pub replacement_block: ReplacementBlockSettings,
}

/// What this scheme sees of the settings.
pub(crate) type Config = SchemeConfig<DacOwn>;

/// What chains of replacement blocks below it see.
pub(super) fn chains(config: &Config) -> replacement_block::Config {
    config.part(|own| &own.replacement_block)
}

/// What log blocks below it see.
pub(super) fn logs(config: &Config) -> bast::Config {
    config.part(|own| &own.bast)
}

settings! {
    /// Settings of `dac`.
    pub struct DacSettings in "dac" {
        /// The block-mapped scheme whose block table is on flash.
        base: DacBase = DacBase::BlockWithReplacement, legal("", |_| true),
            source("open: docs/papers/others.md#dac");
        /// Single entries of level 1; auto: what map pages leave of the memory.
        l1_entries: Optional<u32> = Optional(None),
            legal("auto, or 1..=16777216", |v| v.0.is_none_or(|n| (1..=1 << 24).contains(&n))),
            source("open: docs/papers/others.md#dac");
        /// Map pages of the cache for spatial locality, 0 for none; auto: dac.spatial_share.
        spatial_pages: Optional<u32> = Optional(None),
            legal("auto, or 0..=65536", |v| v.0.is_none_or(|n| n <= 1 << 16)),
            source("open: docs/papers/others.md#dac");
        /// Map pages of the cache for frequency, 0 for none; auto: dac.freq_share.
        freq_pages: Optional<u32> = Optional(None),
            legal("auto, or 0..=65536", |v| v.0.is_none_or(|n| n <= 1 << 16)),
            source("open: docs/papers/others.md#dac");
        /// Share of the memory for the spatial cache. The memory is what device.ram_bytes leaves,
        /// else 32 KiB.
        spatial_share: f64 = 0.25, legal("0 to 1", |v| (0.0..=1.0).contains(v)),
            source("open: docs/papers/others.md#dac; 50/25/25 %");
        /// Share of the memory for the frequency cache.
        freq_share: f64 = 0.25, legal("0 to 1", |v| (0.0..=1.0).contains(v)),
            source("open: docs/papers/others.md#dac; 50/25/25 %");
        /// Bytes that an entry of level 1 is counted with: logical and physical block.
        entry_bytes: u32 = 8, legal("1..=64", |v| (1..=64).contains(v)),
            source("as cdftl.entry_bytes");
        /// Hits in the spatial cache after which a map page moves to the one for frequency.
        promote_hits: u32 = 4, legal("1..=1000000", |v| (1..=1_000_000).contains(v)),
            source("open: docs/papers/others.md#dac");
        /// Whether a changed entry that is written takes the other changed ones of its map page
        /// along.
        batch_evict: bool = false, legal("", |_| true),
            source("as dftl.batch_evict");
    }
}
