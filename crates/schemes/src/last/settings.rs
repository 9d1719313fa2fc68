//! Settings of `last`, and how they divide the log.

use ftlab_flash::choices;
use ftlab_flash::settings;
use ftlab_flash::settings::{Optional, SettingError};
use ftlab_ftl::parts::block_mapped::{self, FirstWrite, LogBase};
use ftlab_ftl::parts::random_log::LogVictim;
use ftlab_ftl::parts::request_size::SizeRule;
use ftlab_ftl::scheme::SchemeConfig;

choices! {
    /// What a sequential page does that is not the next of its block's sequential log block.
    pub enum MissRule {
        /// The log block is merged as cheaply as is right, then another begins with the page.
        MergeThenNew = "partial_merge_then_new",
        /// The page goes to the random log; the log block stays open.
        ToRandom = "to_random",
    }
}

choices! {
    /// What a sequential page does that would begin a log block, but not at offset 0.
    pub enum UnalignedRule {
        /// The log block begins at that offset; its merge copies the pages before it.
        FillPrefix = "fill_prefix_on_merge",
        /// The page goes to the random log.
        ToRandom = "to_random",
    }
}

choices! {
    /// What becomes of the hot partition's blocks while it does not fill them.
    pub enum HotReserve {
        /// They are kept for it.
        Fixed = "fixed",
        /// The cold partition has them. The hot one takes one back whenever it needs another, up to
        /// its share, and gives up one in which nothing is valid when the cold one is full.
        AsUsed = "as_used",
    }
}

/// What this scheme sees of the settings.
pub(crate) type Config = SchemeConfig<LastSettings>;

settings! {
    /// Settings of `last`.
    pub struct LastSettings in "last" {
        /// Log blocks (sequential, hot and cold together) in percent of last.log_base, rounded up
        /// to at least 3; a plain number, 3 for 3 %.
        log_pct: f64 = 3.0, legal("1..=100", |v| (1.0..=100.0).contains(v)),
            source("DFTL 2014, 2; ADAPT 2012, II");
        /// What last.log_pct is a share of.
        log_base: LogBase = LogBase::Capacity, legal("", |_| true),
            source("DFTL 2014, 4: the active region; 2: of total flash size");
        /// Log blocks as a number; auto: by last.log_pct.
        log_blocks: Optional<u32> = Optional(None),
            legal("auto, or 3..=16777216", |v| v.0.is_none_or(|n| (3..=1 << 24).contains(&n))),
            source("ftlab");
        /// Most sequential log blocks as a share of the log blocks (0.0625 is 1/16), rounded down;
        /// at least 1, and at least 2 log blocks stay random.
        seq_share: f64 = 0.0625, legal("above 0, up to 1", |v| *v > 0.0 && *v <= 1.0),
            source("ADAPT 2012, IV");
        /// Threshold of the detector: pages of a write request.
        seq_pages: u32 = 2, legal("1..=4096", |v| (1..=4096).contains(v)),
            source("ADAPT 2012, III.B; VSSIM: 4");
        /// Whether a request of exactly last.seq_pages pages is sequential (ge) or not (gt).
        seq_cmp: SizeRule = SizeRule::Above, legal("", |_| true),
            source("ADAPT 2012, II.A calls such requests small");
        /// Whether a write request that begins where the one before it ended is sequential too.
        seq_continuation: bool = false, legal("", |_| true),
            source("VSSIM does so, ADAPT 2012's account does not");
        /// A sequential page that is not the next of its block's sequential log block.
        sw_miss: MissRule = MissRule::MergeThenNew, legal("", |_| true),
            source("open: docs/papers/others.md#last");
        /// A sequential page that would begin a log block in the middle.
        sw_unaligned: UnalignedRule = UnalignedRule::FillPrefix, legal("", |_| true),
            source("open: docs/papers/others.md#last");
        /// Hot log blocks as a share of the random ones, rounded down, at least 1 and all but 1 at
        /// most; 0: no hot partition.
        hot_share: f64 = 0.5, legal("0..=1", |v| (0.0..=1.0).contains(v)),
            source("docs/papers/others.md#last: VSSIM");
        /// Which blocks of that share the hot partition has when it does not fill them.
        hot_reserve: HotReserve = HotReserve::Fixed, legal("", |_| true),
            source("open: docs/papers/others.md#last; LAST 2008 adapts");
        /// Random page writes that a page counts as hot for after its own; 0: none is hot.
        hot_window: u32 = 256, legal("0..=65535", |v| *v <= 65_535),
            source("docs/papers/others.md#last: VSSIM");
        /// Whether the hot partition grows and shrinks with the blocks that die in it.
        adapt: bool = false, legal("", |_| true),
            source("open: docs/papers/others.md#last; LAST 2008 adapts; the rule is ours");
        /// Which closed cold block is merged when none is dead.
        cold_victim: LogVictim = LogVictim::FewestDataBlocks, legal("", |_| true),
            source("LAST 2008, by docs/papers/others.md#last");
        /// Where the first write of a page goes.
        first_write: FirstWrite = FirstWrite::DataBlock, legal("", |_| true),
            source("DFTL 2014, 2");
    }
}

/// How the log is divided, blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shares {
    /// Most sequential log blocks.
    pub sequential: u32,
    /// Most hot ones, to begin with.
    pub hot: u32,
    /// Most cold ones, to begin with.
    pub cold: u32,
}

impl LastSettings {
    /// Legality beyond what each key checks.
    pub fn check(config: &Config) -> Result<(), SettingError> {
        let LastSettings { log_base, hot_reserve, adapt, .. } = config.own;
        if adapt && hot_reserve == HotReserve::AsUsed {
            return Err(SettingError::Conflict(
                "last.adapt moves the limits between the partitions, which last.hot_reserve = \
                 as_used has not; legal: one of them"
                    .to_owned(),
            ));
        }
        log_base.check(&config.device, "last.log_base")
    }
}

impl Shares {
    /// By the settings.
    pub fn of(config: &Config) -> Shares {
        let LastSettings { log_pct, log_base, log_blocks, seq_share, hot_share, .. } = &config.own;
        let share = (*log_pct, log_blocks.0);
        let all = block_mapped::log_blocks_of(&config.device, *log_base, share, 3) as u32;
        let part = |whole: u32, share: f64| (f64::from(whole) * share) as u32;
        let sequential = part(all, *seq_share).clamp(1, all - 2);
        let random = all - sequential;
        let hot = if *hot_share > 0.0 { part(random, *hot_share).clamp(1, random - 1) } else { 0 };
        Shares { sequential, hot, cold: random - hot }
    }

    /// All log blocks.
    pub fn all(self) -> u64 {
        u64::from(self.sequential) + u64::from(self.hot) + u64::from(self.cold)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_flash::settings::Groups as _;

    /// Of ten log blocks; either partition has one at least, unless none are to be hot.
    #[test]
    fn hot_and_cold_partitions_share_what_is_not_sequential() {
        for (share, hot, cold) in [("1", 8, 1), ("0.5", 4, 5), ("0.01", 1, 8), ("0", 0, 9)] {
            let mut config = Config::default();
            for (key, value) in [("last.log_blocks", "10"), ("last.hot_share", share)] {
                config.set(key, value).expect("legal");
            }
            assert_eq!(Shares::of(&config), Shares { sequential: 1, hot, cold }, "{share}");
        }
    }

    /// However many are to be sequential, two are random: a hot and a cold one.
    #[test]
    fn two_log_blocks_are_not_sequential() {
        let mut config = Config::default();
        for (key, value) in [("last.log_blocks", "10"), ("last.seq_share", "1")] {
            config.set(key, value).expect("legal");
        }
        assert_eq!(Shares::of(&config), Shares { sequential: 8, hot: 1, cold: 1 });
    }
}
