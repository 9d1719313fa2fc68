//! Settings of FASTer.

use ftlab_flash::choices;
use ftlab_flash::settings;
use ftlab_flash::settings::Optional;
use ftlab_ftl::parts::block_mapped::{self, FirstWrite};
use ftlab_ftl::parts::fast_rules::{GapRule, RewriteRule};
use ftlab_ftl::scheme::SchemeConfig;

choices! {
    /// Whose FASTer: what `auto` means in the other settings.
    pub enum Mode {
        /// The scheme with isolation area, as its author's board has it.
        Full = "full",
        /// The comparison of ADAPT 2012: second chances alone.
        Seed1Simple = "seed1_simple",
    }
}

choices! {
    /// What opens the sequential log block.
    pub enum SequentialStart {
        /// A write of offset 0, as in FAST.
        FastRule = "fast_rule",
        /// A run of more than faster.seq_threshold consecutive pages, wherever it begins.
        LongRun = "corref4",
    }
}

/// What this scheme sees of the settings.
pub(crate) type Config = SchemeConfig<FasterSettings>;

settings! {
    /// Settings of `faster`.
    pub struct FasterSettings in "faster" {
        /// Log blocks (SW and RW together) in percent of the logical capacity, rounded up to at
        /// least 2; a plain number, 3 for 3 %. The isolation area comes on top.
        log_pct: f64 = 3.0, legal("1..=100", |v| (1.0..=100.0).contains(v)),
            source("ADAPT 2012, IV");
        /// Log blocks as a number; auto: by faster.log_pct.
        log_blocks: Optional<u32> = Optional(None),
            legal("auto, or 2..=16777216", |v| v.0.is_none_or(|n| (2..=1 << 24).contains(&n))),
            source("ftlab");
        /// Log blocks that host writes leave free for the copies of a reclaim: the log is as much
        /// smaller. 0: those copies take a block beyond the log.
        free_reserve: u32 = 0, legal("0..=65535, less than RW has", |v| *v < 1 << 16),
            source("docs/papers/others.md#faster: OpenSSD, 2 of all its spare blocks");
        /// Which of the published variants auto means in faster.skip_full, faster.copy_all_below
        /// and faster.isolation.
        mode: Mode = Mode::Seed1Simple, legal("", |_| true), source("docs/papers/others.md#faster");
        /// What opens the sequential log block.
        seq: SequentialStart = SequentialStart::FastRule, legal("", |_| true),
            source("docs/papers/others.md#faster");
        /// Under faster.seq = corref4: consecutive pages, the run must be longer than that.
        seq_threshold: u32 = 4, legal("1..=4096", |v| (1..=4096).contains(v)),
            source("docs/papers/others.md#faster: OpenSSD");
        /// Under faster.seq = fast_rule, row 7: a write of SW's owner beyond the next page.
        sw_gap: GapRule = GapRule::PartialWithRequest, legal("", |_| true),
            source("docs/papers/others.md#fast");
        /// Under faster.seq = fast_rule, row 6: a write of a page that SW holds.
        sw_rewrite: RewriteRule = RewriteRule::FullMerge, legal("", |_| true),
            source("docs/papers/others.md#fast");
        /// Rows 0 and 1: where the first write of a page goes.
        first_write: FirstWrite = FirstWrite::DataBlock, legal("", |_| true),
            source("DFTL 2014, 2");
        /// How often a page is kept in the log; 0: FAST.
        max_chances: u32 = 1, legal("0..=15", |v| *v <= 15), source("docs/papers/others.md#faster");
        /// Rule 1: whether a victim full of valid pages with a chance left goes back to the end of
        /// the log as it is; else its pages are copied. auto: true under full, false under
        /// seed1_simple.
        skip_full: Optional<bool> = Optional(None), legal("", |_| true),
            source("docs/papers/others.md#faster: OpenSSD");
        /// Rule 3: valid pages, of a victim with fewer every one is kept in the log whatever its
        /// chances; a full victim never is one. auto: half a block under full, 0 under
        /// seed1_simple.
        copy_all_below: Optional<u32> = Optional(None),
            legal("auto, or 0..=65536", |v| v.0.is_none_or(|n| n <= 1 << 16)),
            source("docs/papers/others.md#faster: OpenSSD");
        /// Rule 4: whether pages without a chance left go to an isolation area; else their data
        /// blocks are merged at once. auto: true under full, false under seed1_simple.
        isolation: Optional<bool> = Optional(None), legal("", |_| true),
            source("docs/papers/others.md#faster: OpenSSD");
        /// Isolation blocks in percent of the log blocks, rounded up; a plain number.
        isolation_pct: f64 = 20.0, legal("1..=100", |v| (1.0..=100.0).contains(v)),
            source("docs/papers/others.md#faster: OpenSSD");
        /// Fewest isolation blocks.
        isolation_min: u32 = 8, legal("2..=65536", |v| (2..=1 << 16).contains(v)),
            source("docs/papers/others.md#faster: OpenSSD");
        /// Isolation blocks that must be free before a victim's pages are isolated: until they are,
        /// merges are forced.
        isolation_reserve: u32 = 2, legal("1..=65535", |v| (1..1 << 16).contains(v)),
            source("docs/papers/others.md#faster: OpenSSD");
        /// Log writes between two progressive merges; auto: a quarter of a block's pages at first,
        /// then tuned.
        progressive_interval: Optional<u32> = Optional(None),
            legal("auto, or 1..=16777216", |v| v.0.is_none_or(|n| (1..=1 << 24).contains(&n))),
            source("docs/papers/others.md#faster: OpenSSD");
    }
}

impl FasterSettings {
    /// What a setting means that is left to the mode.
    fn auto<T>(&self, given: &Optional<T>, full: T, simple: T) -> T
    where
        T: Copy,
    {
        given.0.unwrap_or(match self.mode {
            Mode::Full => full,
            Mode::Seed1Simple => simple,
        })
    }

    /// Rule 1.
    pub(super) fn skips_full(&self) -> bool {
        self.auto(&self.skip_full, true, false)
    }

    /// Rule 3, for blocks of so many pages.
    pub(super) fn copies_all_below(&self, pages_per_block: u32) -> u32 {
        // A full block would be copied for ever.
        self.auto(&self.copy_all_below, pages_per_block / 2, 0).min(pages_per_block)
    }

    /// Nlog: log blocks, the sequential one among them, the isolation area not.
    pub(super) fn logs(config: &Config) -> u64 {
        let FasterSettings { log_pct, log_blocks, .. } = &config.own;
        block_mapped::log_blocks(&config.device, *log_pct, log_blocks.0, 2)
    }

    /// Random log blocks that host writes fill; 0 where the reserve leaves none.
    pub(super) fn random(config: &Config) -> u64 {
        (Self::logs(config) - 1).saturating_sub(u64::from(config.own.free_reserve))
    }

    /// Blocks of the isolation area; 0: there is none.
    pub(super) fn isolation_blocks(config: &Config) -> u64 {
        let settings = &config.own;
        if !settings.auto(&settings.isolation, true, false) {
            return 0;
        }
        let share = (Self::logs(config) as f64 * settings.isolation_pct / 100.0).ceil() as u64;
        share.max(u64::from(settings.isolation_min))
    }
}
