//! Settings of `superblock`.

use ftlab_flash::choices;
use ftlab_flash::settings;
use ftlab_flash::settings::{Duration, Optional, SettingError};
use ftlab_ftl::parts::block_mapped;
use ftlab_ftl::parts::spare_map::Layout;
use ftlab_ftl::parts::superblocks::Limits;
use ftlab_ftl::scheme::SchemeConfig;

choices! {
    /// Which pages a collection takes for hot.
    pub enum HotRule {
        /// Those that were rewritten since pages of their superblock were last gathered.
        UpdatedSinceLastGc = "updated_since_last_gc",
        /// None: whatever is gathered lies in one block with what is written next.
        None = "none",
    }
}

choices! {
    /// Which superblock gives up an update block when the pool is exhausted.
    pub enum SuperblockVictim {
        /// The one that was written longest ago.
        Lru = "lru",
        /// The one whose least valid block has fewest valid pages; among equals, the one that was
        /// written longest ago.
        FewestValid = "fewest_valid",
    }
}

/// What this scheme sees of the settings.
pub(crate) type Config = SchemeConfig<SuperblockSettings>;

settings! {
    /// Settings of `superblock`.
    #[expect(non_snake_case, reason = "S and K as in docs/papers/others.md#superblock")]
    pub struct SuperblockSettings in "superblock" {
        /// S: adjacent logical blocks of a superblock. What fits is bounded by the spare area,
        /// which must hold a piece of each level of the map (device.oob_bytes): 8 with 64 bytes,
        /// pages of 2 KiB and 64 pages to a block.
        S: u32 = 8, legal("1..=1024", |v| (1..=1024).contains(v)),
            source("DFTL 2014, 6: fixed, and to be tuned");
        /// K: update blocks that one superblock may have beyond its S data blocks; auto: S.
        K_max: Optional<u32> = Optional(None),
            legal("auto, or 1..=1024", |v| v.0.is_none_or(|k| (1..=1024).contains(&k))),
            source("docs/papers/others.md#superblock");
        /// Update blocks of all superblocks together, in percent of the logical blocks, rounded up
        /// to at least 1; a plain number, 3 for 3 %.
        pool_pct: f64 = 3.0, legal("0.01..=100", |v| (0.01..=100.0).contains(v)),
            source("DFTL 2014, 4: log blocks of 3 %");
        /// Superblocks whose map stays in memory, as far as it was read or written; the one that
        /// was used longest ago leaves.
        map_cache_superblocks: u32 = 128, legal("1..=16777216", |v| (1..=1 << 24).contains(v)),
            source("docs/papers/others.md#superblock");
        /// Which gathered pages share blocks with what is written next.
        hot_rule: HotRule = HotRule::UpdatedSinceLastGc, legal("", |_| true),
            source("docs/papers/others.md#superblock");
        /// Which superblock gives up an update block when the pool is exhausted.
        victim: SuperblockVictim = SuperblockVictim::Lru, legal("", |_| true),
            source("docs/papers/others.md#superblock");
        /// How long reading a spare area for its pieces of the map takes (`20us`), whatever
        /// timing.oob_read says; auto: as a page read, with its transfer.
        oob_read: Optional<Duration> = Optional(None),
            legal("auto, or above 0us", |v| v.0.is_none_or(|length| length.0 > 0)),
            source("docs/papers/others.md#superblock: the scheme's main cost");
    }
}

/// Least update blocks of all superblocks.
const LEAST_POOL: u64 = 1;

/// The sizes that the settings ask for.
pub fn limits(config: &Config) -> Limits {
    let SuperblockSettings { S: logical, K_max, pool_pct, .. } = &config.own;
    let pool = block_mapped::log_blocks(&config.device, *pool_pct, None, LEAST_POOL);
    Limits { logical: *logical, updates: K_max.0.unwrap_or(*logical), pool: pool as u32 }
}

/// Blocks of one superblock between which its map must tell: two more while pages are gathered.
const GATHERING: u32 = 2;

/// How the map of a superblock is cut into pieces.
pub fn layout(config: &Config) -> Layout {
    let Limits { logical, updates, .. } = limits(config);
    let pages = config.device.units_per_block();
    Layout::new(logical * pages, (logical + updates + GATHERING) * pages)
}

/// Whether a spare area holds a piece of each level.
pub fn check(config: &Config) -> Result<(), SettingError> {
    let needed = layout(config).spare_bytes(&config.device);
    let there = config.device.oob_bytes.0;
    if needed <= there {
        return Ok(());
    }
    Err(SettingError::Conflict(format!(
        "superblock.S = {} needs spare areas of {needed} bytes for the map, but device.oob_bytes = \
         {there}: make superblock.S or superblock.K_max smaller",
        config.own.S
    )))
}
