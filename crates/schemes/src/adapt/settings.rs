//! What ADAPT leaves to be set, and what follows from it for a device.

use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::choices;
use ftlab_flash::settings;
use ftlab_flash::settings::{Bytes, Optional, SettingError};
use ftlab_ftl::parts::block_mapped;
use ftlab_ftl::parts::history_table::{HistoryLookup, HistoryTable};
use ftlab_ftl::parts::request_size::SizeUnit;
use ftlab_ftl::parts::self_sizing::{HitRate, SizingRule, SizingRules};
use ftlab_ftl::parts::sequential_area::SequentialVictim;
use ftlab_ftl::scheme::SchemeConfig;

choices! {
    /// Which requests are sequential, theta being the threshold.
    pub enum ThresholdRule {
        /// More than theta pages while theta is at its lower value, theta or more otherwise.
        GtLowGeHigh = "gt_low_ge_high",
        /// More than theta pages.
        Gt = "gt",
        /// Theta pages or more.
        Ge = "ge",
    }
}

choices! {
    /// At which page a sequential log block may begin.
    pub enum BeginRule {
        /// At any. Flash that demands every page in order (`nand.enforce_order = strict`) permits
        /// the first alone.
        Any = "any",
        /// At the first of a logical block.
        OffsetZero = "offset_zero",
    }
}

choices! {
    /// Which sequential log blocks a partial merge is for, and so which count for delta as a stream
    /// that was found.
    pub enum PartialRule {
        /// Those that lack no page before their first; others are merged in full. Flash that
        /// demands ascending programs permits no other.
        Prefix = "prefix",
        /// Those that lack pages before their first too: these are copied in like the rest.
        Any = "any",
    }
}

choices! {
    /// What a page of a large request does that is not the next one of its logical block's
    /// sequential log block, nor the first of the logical block: that one always merges the block
    /// and begins another.
    pub enum MissRule {
        /// Merges the block and begins another, if it may begin there; else it goes to the random
        /// area.
        BeginAnew = "begin_anew",
        /// Merges the block with the page inside: rows 6 and 7 of FAST's table.
        WithRequest = "with_request",
        /// Goes to the random area.
        ToRandom = "to_random",
    }
}

choices! {
    /// What a page of a small request does whose logical block has a sequential log block.
    pub enum SmallRule {
        /// Goes to the random area.
        ToRandom = "to_random",
        /// Is appended if it is the next one, else goes to the random area.
        Append = "append",
        /// The same as a page of a large request, but it begins no block.
        AsLarge = "as_large",
    }
}

choices! {
    /// When a complete sequential log block becomes the data block.
    pub enum CompleteRule {
        /// When its place is needed, or its logical block is written again.
        Wait = "wait",
        /// At once.
        AtOnce = "at_once",
    }
}

choices! {
    /// Delta of an interval in which no sequential log block was allocated.
    pub enum EmptyDelta {
        /// Unknown: neither high nor low.
        Undefined = "undefined",
        /// Zero: low.
        Zero = "zero",
        /// As in the interval before.
        Last = "last",
    }
}

choices! {
    /// How phi becomes an integer.
    pub enum PhiRound {
        /// Downwards.
        Floor = "floor",
        /// To the nearest one, halves upwards.
        Nearest = "nearest",
        /// Upwards.
        Ceil = "ceil",
    }
}

choices! {
    /// How the block behind a moved one is merged.
    pub enum MoveMerge {
        /// Every valid page with its data block.
        BlockAll = "block_all",
        /// Pages that are expected to be rewritten stay in the log.
        PerPage = "per_page",
    }
}

choices! {
    /// From when on write requests count.
    pub enum ObserveFrom {
        /// From the device's first request on, whatever prepares it among them.
        Format = "format",
        /// From the first measured request on.
        Measuring = "measuring",
    }
}

choices! {
    /// How many blocks the sequential area has at the start.
    pub enum InitialArea {
        /// As few as it may have.
        Least = "least",
        /// As many as it may have.
        Most = "most",
    }
}

/// What this scheme sees of the settings.
pub(crate) type Config = SchemeConfig<AdaptSettings>;

settings! {
    /// Settings of `adapt`.
    pub struct AdaptSettings in "adapt" {
        /// Log blocks of both areas in percent of the logical capacity, rounded up to at least 2; a
        /// plain number, 3 for 3 %.
        log_pct: f64 = 3.0, legal("1..=100", |v| (1.0..=100.0).contains(v)),
            source("ADAPT 2012, IV.A");
        /// Log blocks as a number; auto: by adapt.log_pct.
        log_blocks: Optional<u32> = Optional(None),
            legal("auto, or 2..=16777216", |v| v.0.is_none_or(|n| (2..=1 << 24).contains(&n))),
            source("ftlab");
        /// Write requests between two adjustments.
        interval: u32 = 4000, legal("1..=1000000000", |v| (1..=1_000_000_000).contains(v)),
            source("ADAPT 2012, IV.A");
        /// From when on requests count for the interval, for delta and phi, theta and the
        /// historical access table: with measuring all of them begin anew there, whatever the
        /// requests before were; the areas keep the blocks that they have.
        observe_from: ObserveFrom = ObserveFrom::Format, legal("", |_| true),
            source("ADAPT 2012, III.B: open; IV runs traces, and no preparation is told of");
        /// Delta above which a block goes to the sequential area; thousandths are kept.
        delta_high: f64 = 0.4, legal("0..=1", |v| (0.0..=1.0).contains(v)),
            source("ADAPT 2012, III.B");
        /// Delta below which the threshold flips; thousandths are kept.
        delta_low: f64 = 0.1, legal("0..=1", |v| (0.0..=1.0).contains(v)),
            source("ADAPT 2012, III.B");
        /// Delta of an interval without an allocation.
        delta_if_no_alloc: EmptyDelta = EmptyDelta::Undefined, legal("", |_| true),
            source("open: docs/papers/adapt2012.md");
        /// Pages per full merge from which on a block goes to the random area; auto: half a block.
        phi_limit: Optional<u32> = Optional(None),
            legal("auto, or 0..=4097", |v| v.0.is_none_or(|n| n <= 4097)),
            source("ADAPT 2012, III.B");
        /// How phi is rounded.
        phi_round: PhiRound = PhiRound::Floor, legal("", |_| true),
            source("ADAPT 2012, III.B: an integer; docs/papers/adapt2012.md#left-open");
        /// Theta at the start, pages.
        theta0: u32 = 2, legal("1..=65535", |v| (1..=65_535).contains(v)),
            source("open: docs/papers/adapt2012.md; LAST's value");
        /// Lower value of theta, pages.
        theta_low: u32 = 2, legal("1..=65535", |v| (1..=65_535).contains(v)),
            source("ADAPT 2012, IV.D");
        /// Higher value of theta, pages.
        theta_high: u32 = 32, legal("1..=65535", |v| (1..=65_535).contains(v)),
            source("ADAPT 2012, IV.D");
        /// Whether theta flips between its two values; if not it stays at adapt.theta0.
        theta_adaptive: bool = true, legal("", |_| true), source("ADAPT 2012, IV.D");
        /// Which requests are sequential, given theta.
        seq_cmp: ThresholdRule = ThresholdRule::GtLowGeHigh, legal("", |_| true),
            source("open: docs/papers/adapt2012.md");
        /// What the size of a request is that theta is compared with.
        size_unit: SizeUnit = SizeUnit::TouchedPages, legal("", |_| true),
            source("ADAPT 2012, III.B: open; the threshold is 4KB (2 pages)");
        /// Fewest blocks of the sequential area.
        seq_min: u32 = 1, legal("0..=16777215", |v| *v < 1 << 24), source("ADAPT 2012, IV.A");
        /// Most blocks of the sequential area; auto: by adapt.seq_max_share.
        seq_max: Optional<u32> = Optional(None),
            legal("auto, or 0..=16777215", |v| v.0.is_none_or(|n| n < 1 << 24)),
            source("ADAPT 2012, IV.A");
        /// Most blocks of the sequential area as a share of the log blocks, rounded down, at least
        /// adapt.seq_min; one block always stays random.
        seq_max_share: f64 = 0.0625, legal("0..=1", |v| (0.0..=1.0).contains(v)),
            source("ADAPT 2012, IV.A");
        /// Blocks of the sequential area at the start; auto: by adapt.seq_init_auto.
        seq_init: Optional<u32> = Optional(None),
            legal("auto, or 0..=16777215", |v| v.0.is_none_or(|n| n < 1 << 24)),
            source("open: docs/papers/adapt2012.md");
        /// What adapt.seq_init = auto means: its least, or its most blocks.
        seq_init_auto: InitialArea = InitialArea::Least, legal("", |_| true),
            source("ADAPT 2012, III.B: open");
        /// At which page a sequential log block may begin.
        seq_begin: BeginRule = BeginRule::Any, legal("", |_| true),
            source("open: docs/papers/adapt2012.md#write");
        /// Which sequential log blocks are completed by a partial merge. With any, nearly every
        /// block is, however few pages it holds, so that delta is high and theta never moves.
        seq_partial: PartialRule = PartialRule::Prefix, legal("", |_| true),
            source("open: docs/papers/adapt2012.md");
        /// What a page of a large request does that its block's stream does not continue with.
        seq_miss: MissRule = MissRule::BeginAnew, legal("", |_| true),
            source("open: docs/papers/adapt2012.md");
        /// What a page of a small request does whose block has a stream.
        seq_small: SmallRule = SmallRule::ToRandom, legal("", |_| true),
            source("open: docs/papers/adapt2012.md");
        /// When a complete sequential log block is switched.
        seq_complete: CompleteRule = CompleteRule::Wait, legal("", |_| true),
            source("ADAPT 2012, II: as FAST");
        /// Which sequential log block is merged when the area is full. One that goes to the random
        /// area is found by the same rule, among those that a switch would not do for.
        seq_victim: SequentialVictim = SequentialVictim::Lru, legal("", |_| true),
            source("open: docs/papers/adapt2012.md");
        /// Valid pages from which on a block is moved as a whole; auto: 7/8 of a block (56 of 64);
        /// more than a block has: never.
        tau: Optional<u32> = Optional(None),
            legal("auto, or 0..=4097", |v| v.0.is_none_or(|n| n <= 4097)),
            source("ADAPT 2012, IV.A");
        /// How the block behind a moved one is merged.
        agmov_merge: MoveMerge = MoveMerge::BlockAll, legal("", |_| true),
            source("ADAPT 2012, Algorithm 2: open");
        /// Whether valid pages that are expected to be rewritten are copied to the rear of the log.
        predictive_transfer: bool = true, legal("", |_| true), source("ADAPT 2012, III.C");
        /// Pages that the reclaim of a block must gain: so many of its pages are never copied.
        min_gain_pages: u32 = 1, legal("1..=4096", |v| (1..=4096).contains(v)),
            source("open: docs/papers/adapt2012.md");
        /// Size of the historical access table, 6 bytes an entry; where it sizes itself, at the
        /// start.
        history_bytes: Bytes = Bytes(1024), legal("0..=16MiB", |v| v.0 <= 1 << 24),
            source("ADAPT 2012, IV.A");
        /// Which pages an entry of the table speaks for.
        hat_lookup: HistoryLookup = HistoryLookup::CoversRange, legal("", |_| true),
            source("open: docs/papers/adapt2012.md#prediction");
        /// What the prediction hit rate counts: the level history_hit_permille, and the hill that
        /// adapt.history_rule = hill_climb climbs.
        hit_rate_def: HitRate = HitRate::CorrectPredictions, legal("", |_| true),
            source("open: docs/papers/adapt2012.md");
        /// Whether the table sizes itself, once per interval.
        history_auto: bool = false, legal("", |_| true), source("ftlab, after ADAPT 2012, IV.F");
        /// Least size of a table that sizes itself.
        history_min: Bytes = Bytes(96), legal("6..=16MiB", |v| (6..=1 << 24).contains(&v.0)),
            source("ftlab");
        /// Most size of a table that sizes itself; that is reserved.
        history_max: Bytes = Bytes(65_536), legal("6..=16MiB", |v| (6..=1 << 24).contains(&v.0)),
            source("ftlab");
        /// Step of a table that sizes itself, percent of its size, at least one entry.
        history_step_pct: u32 = 50, legal("1..=1000", |v| (1..=1000).contains(v)), source("ftlab");
        /// How a table that sizes itself decides.
        history_rule: SizingRule = SizingRule::Balance, legal("", |_| true), source("ftlab");
        /// Verdicts (with hit_rate_def = table_hits: questions) without which an interval decides
        /// nothing.
        history_verdicts: u32 = 16, legal("1..=1000000", |v| (1..=1_000_000).contains(v)),
            source("ftlab");
        /// What a wrong merge costs, in wrong copies: five programs outweigh an erase.
        history_weight: u32 = 5, legal("1..=1000", |v| (1..=1000).contains(v)),
            source("ADAPT 2012, III.C");
        /// Whether a random log block is erased as soon as nothing in it is valid.
        early_reuse: bool = true, legal("", |_| true), source("ADAPT 2012, III.D");
        /// Whether the block that takes the next random page is left out of that.
        erl_skip_open: bool = true, legal("", |_| true), source("open: docs/papers/adapt2012.md");
    }
}

/// Sizes of the log and of its sequential area, in blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AreaSizes {
    /// Log blocks of both areas.
    pub logs: u32,
    /// Fewest sequential ones.
    pub least: u32,
    /// Most sequential ones.
    pub most: u32,
    /// Sequential ones at the start.
    pub initial: u32,
}

impl AreaSizes {
    /// Those of a device: at least one block stays random.
    pub fn of(config: &Config) -> Self {
        let settings = &config.own;
        let blocks = settings.log_blocks.0;
        let logs = block_mapped::log_blocks(&config.device, settings.log_pct, blocks, 2) as u32;
        let least = settings.seq_min.min(logs - 1);
        let share = (f64::from(logs) * settings.seq_max_share) as u32;
        let most = settings.seq_max.0.unwrap_or(share).clamp(least, logs - 1);
        let auto = if settings.seq_init_auto == InitialArea::Most { most } else { least };
        let initial = settings.seq_init.0.unwrap_or(auto).clamp(least, most);
        AreaSizes { logs, least, most, initial }
    }
}

/// Settings in the units of their comparisons.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Delta above which a block goes to the sequential area, thousandths.
    pub delta_high_permille: u64,
    /// Delta below which theta flips, thousandths.
    pub delta_low_permille: u64,
    /// Phi from which on a block goes to the random area.
    pub phi_pages: u64,
    /// Tau.
    pub tau_pages: u32,
    /// Most pages of a victim that are copied to the rear.
    pub kept_pages: u32,
}

impl Limits {
    /// For a device.
    pub fn new(settings: &AdaptSettings, geometry: &Geometry) -> Self {
        let pages = geometry.pages_per_block;
        let permille = |share: f64| (share * 1000.0).round() as u64;
        Limits {
            delta_high_permille: permille(settings.delta_high),
            delta_low_permille: permille(settings.delta_low),
            phi_pages: u64::from(settings.phi_limit.0.unwrap_or(pages / 2)),
            tau_pages: settings.tau.0.unwrap_or((pages * 7).div_ceil(8)),
            kept_pages: pages.saturating_sub(settings.min_gain_pages),
        }
    }
}

impl AdaptSettings {
    /// Legality beyond what each key checks.
    pub fn check(&self, config: &Config) -> Result<(), SettingError> {
        let refuse = |text: String| Err(SettingError::Conflict(text));
        let AdaptSettings { delta_low, delta_high, theta_low, theta_high, .. } = self;
        if delta_low > delta_high {
            return refuse(format!(
                "adapt.delta_low = {delta_low} lies above adapt.delta_high = {delta_high}"
            ));
        }
        if theta_low > theta_high {
            return refuse(format!(
                "adapt.theta_low = {theta_low} lies above adapt.theta_high = {theta_high}"
            ));
        }
        if self.history_auto && self.history_min > self.history_max {
            return refuse(format!(
                "adapt.history_min = {} lies above adapt.history_max = {}",
                self.history_min.0, self.history_max.0
            ));
        }
        let sizes = AreaSizes::of(config);
        if self.seq_min != sizes.least {
            return refuse(format!(
                "adapt.seq_min = {} leaves none of the log's {} blocks to the random area",
                self.seq_min, sizes.logs
            ));
        }
        if let Some(most) = self.seq_max.0
            && most != sizes.most
        {
            return refuse(format!(
                "adapt.seq_max = {most} is not between adapt.seq_min = {} and the log's {} blocks \
                 without one",
                self.seq_min, sizes.logs
            ));
        }
        match self.seq_init.0 {
            Some(initial) if initial != sizes.initial => refuse(format!(
                "adapt.seq_init = {initial} is not within the area's bounds, {}..={}",
                sizes.least, sizes.most
            )),
            _ => Ok(()),
        }
    }

    /// By what the historical access table sizes itself, if it does.
    pub fn history_sizing(&self) -> Option<SizingRules> {
        let rules = SizingRules {
            rule: self.history_rule,
            least: HistoryTable::entries(self.history_min.0),
            most: self.history_entries().1,
            step_pct: self.history_step_pct,
            verdicts: u64::from(self.history_verdicts),
            weight: u64::from(self.history_weight),
        };
        (self.history_auto && self.predictive_transfer).then_some(rules)
    }

    /// Entries of the historical access table at the start, and at most.
    pub fn history_entries(&self) -> (u32, u32) {
        let entries = |bytes: Bytes| HistoryTable::entries(bytes.0);
        match (self.predictive_transfer, self.history_auto) {
            (false, _) => (0, 0),
            (true, false) => (entries(self.history_bytes), entries(self.history_bytes)),
            (true, true) => {
                let (least, most) = (entries(self.history_min), entries(self.history_max));
                (entries(self.history_bytes).clamp(least, most), most)
            }
        }
    }
}
