//! # Idea
//! A log-block scheme that watches its workload: it moves blocks between a sequential and a random
//! part of the log and changes its notion of a large request, keeps log pages that were written
//! recently instead of merging them, puts log blocks full of valid pages back as they are, and
//! reuses empty ones at once.
//!
//! # Paper
//! Wang, Wong, "ADAPT: Efficient workload-sensitive flash management based on adaptation,
//! prediction and aggregation", MSST 2012. Its parts by file: adaptive partitioning
//! (III.B, Algorithm 1) in `partition`, by what `interval` measures; predictive transfer (III.C)
//! and aggregated movement, Algorithm 2, in `reclaim`, by what `predictor` expects; early reuse
//! (III.D) at the end of `reclaim`; which area takes a write is here. Rule by rule:
//! `docs/papers/adapt2012.md`.
//!
//! # Structures
//! P: pages per block. Block table; log page table of the random area; a queue of random log blocks
//! with the number of valid pages of each; owner and next page of each sequential log block; HAT,
//! the historical access table of recent write requests. delta: switch and partial merges per
//! allocation of a sequential log block; phi: pages per full merge in the random area; both of one
//! interval. theta: pages from which a request is large. tau: valid pages from which a block is
//! moved as a whole.
//!
//! # Read
//! The newest copy: in the log if the log page table says so, else in the data block.
//!
//! # Write
//! A request enters HAT, and every interval ends with [`Adapt::adjust`] (Algorithm 1). A page whose
//! data page is clean goes there; else [`Adapt::merged_first`] says what must be merged before it,
//! and [`Adapt::place`] where it goes: a page of a large request to the sequential area, of a small
//! one to the random area.
//!
//! # Streams
//! A sequential log block is a stream of one logical block. It *begins* with a page of a large
//! request whose logical block has none: the first page, or any (`adapt.seq_begin`); a full area
//! merges another stream for it (`adapt.seq_victim`). It *continues* with the next page, of a large
//! request or, if `adapt.seq_small` says so, of a small one. It *breaks* when a large request
//! writes the first page again, or another but the next that may begin a stream (`adapt.seq_miss`):
//! it is merged, and another begins. Other pages go to the random area, so that its merge is a full
//! one, or are merged with it at once (`with_request`). When a complete one is switched:
//! `adapt.seq_complete`.
//!
//! # Reclaim
//! When a random page finds no room: [`Adapt::merge_or_move`] (Algorithm 2). A log block that
//! becomes empty is erased at once (early reuse).
//!
//! # Recovery
//! As in `fast`; several runs of pages at their own places can go on as sequential log blocks. HAT,
//! the areas' sizes and theta start anew: the paper does not store them.
//!
//! # Deviations
//! A block that its area does not use goes to the other one without a merge. At a bound of the
//! sequential area nothing is transferred. A block that goes to the sequential area is merged with
//! its data blocks whatever HAT says, as Algorithm 1 has no prediction. The block at the rear that
//! takes second chances is opened with the first of them. Of what the paper leaves open, every
//! choice is a setting. Where the flash demands ascending programs or complete blocks, as in
//! `fast`.
//!
//! # Settings
//! Group `adapt`: `adapt/settings.rs`. Measurements: `adapt/interval.rs`; HAT:
//! `adapt/predictor.rs`.

pub mod interval;
mod partition;
pub mod predictor;
mod reclaim;
pub mod settings;

use crate::adapt::settings::Config;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::settings::ProgramOrder;
use ftlab_flash::board::when::When;
use ftlab_flash::memory::RamUse;
use ftlab_flash::meter::Level;
use ftlab_flash::request::PageIo;
use ftlab_flash::settings::SettingError;
use ftlab_ftl::forward;
use ftlab_ftl::parts::block_mapped::BlockMapped;
use ftlab_ftl::parts::block_survey::Survivor;
use ftlab_ftl::parts::data_blocks::Lbn;
use ftlab_ftl::parts::history_table::HistoryTable;
use ftlab_ftl::parts::log_index::LogIndex;
use ftlab_ftl::parts::log_recovery;
use ftlab_ftl::parts::merge_journal::MergeJournal;
use ftlab_ftl::parts::prediction_record::PredictionRecord;
use ftlab_ftl::parts::random_log::{LogVictim, RandomLog};
use ftlab_ftl::parts::sequential_area::SequentialArea;
use ftlab_ftl::parts::sequential_log::{Merge, SequentialLog, SequentialRule};
use ftlab_ftl::parts::slots::Slot;
use ftlab_ftl::parts::told::Told;
use ftlab_ftl::scheme::{Classification, Family, Paper, Preset, Scheme};
use interval::{Interval, Marks, Threshold};
use predictor::Predictor;
use settings::{
    AdaptSettings, AreaSizes, BeginRule, CompleteRule, Limits, MissRule, ObserveFrom, PartialRule,
    SmallRule,
};

/// The name under which the scheme table finds this file's scheme.
pub type Rostered = Adapt;

/// What must be merged before a write has a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum First {
    /// The stream of its logical block, which it breaks.
    Stream(Slot),
    /// Any stream: the area is full.
    Any,
}

/// Where one write goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The data page is clean: to its place in the data block.
    Home,
    /// To the end of a sequential log block.
    Append(Slot),
    /// To a new sequential log block.
    Begin,
    /// A sequential log block is merged with the page inside; in full, or as cheaply as is right.
    MergeWith(Slot, Merge),
    /// To the end of the random area.
    Random,
}

/// ADAPT.
#[derive(Clone)]
pub struct Adapt {
    base: BlockMapped,
    sequential: SequentialArea,
    random: RandomLog,
    predictor: Predictor,
    threshold: Threshold,
    interval: Interval,
    /// Delta of the last interval that had one, thousandths.
    last_delta: Option<u64>,
    sizes: AreaSizes,
    limits: Limits,
    /// Blocks of both areas.
    told: Told<2>,
    settings: AdaptSettings,
}

impl Scheme for Adapt {
    const PAPER: Paper = Paper {
        name: "adapt",
        title: "ADAPT: Efficient workload-sensitive flash management based on adaptation, \
                prediction and aggregation",
        authors: "Wang, Wong",
        venue: "MSST",
        year: 2012,
        sections: "III: adaptive partitioning, predictive transfer, aggregated movement, early \
                   reuse",
        deviations: &[
            "trims and their record pages are added",
            "a log block that its area does not use goes to the other area without a merge",
            "at a bound of the sequential area nothing is transferred",
            "of a victim so many pages are never copied that its reclaim gains \
             adapt.min_gain_pages",
            "what the paper leaves open is a setting each: which pages HAT speaks for, equality \
             with theta, delta without allocations, where a sequential log block may begin and \
             when it is completed",
            "adapt:auto, a table that sizes itself, is ours",
        ],
        family: Family::LogBlock,
        class: Classification::with_log(
            "m sequential + (M-m) random, m adapted",
            "random N:(M-m), sequential 1:1",
        ),
    };
    const PRESETS: &'static [Preset] = &[
        ("sw", &[("adapt.seq_max", "1")]),
        ("t2", &[("adapt.theta_adaptive", "false"), ("adapt.theta0", "2")]),
        ("t32", &[("adapt.theta_adaptive", "false"), ("adapt.theta0", "32")]),
        ("nd", &[("adapt.early_reuse", "false")]),
        ("log5", &[("adapt.log_pct", "5")]),
        ("log10", &[("adapt.log_pct", "10")]),
        ("int2k", &[("adapt.interval", "2000")]),
        ("int3k", &[("adapt.interval", "3000")]),
        ("int5k", &[("adapt.interval", "5000")]),
        ("int6k", &[("adapt.interval", "6000")]),
        ("hat512", &[("adapt.history_bytes", "512")]),
        ("hat1536", &[("adapt.history_bytes", "1536")]),
        ("hat2k", &[("adapt.history_bytes", "2048")]),
        ("tau32", &[("adapt.tau", "32")]),
        ("tau40", &[("adapt.tau", "40")]),
        ("tau48", &[("adapt.tau", "48")]),
        ("tau64", &[("adapt.tau", "64")]),
        ("auto", &[("adapt.history_auto", "true")]),
    ];
    type Settings = AdaptSettings;
    type Survivor = ();

    fn check(config: &Config) -> Result<(), SettingError> {
        config.own.check(config)
    }

    fn minimum_blocks(config: &Config) -> u64 {
        // Second chances may need a block of the log before the victim is erased.
        BlockMapped::minimum_blocks(config, u64::from(AreaSizes::of(config).logs) + 1)
    }

    fn ram_use(config: &Config) -> Vec<RamUse> {
        let geometry = Geometry::new(&config.device);
        let settings = &config.own;
        let sizes = AreaSizes::of(config);
        let logs = u64::from(sizes.logs);
        let random = u64::from(sizes.logs - sizes.least);
        let history = u64::from(settings.history_entries().1) * HistoryTable::ENTRY_BYTES;
        let mut own = vec![
            ("log_page_table", LogIndex::ram_bytes(&geometry, random)),
            ("random_log_list", random * 4),
            // One byte is enough for the valid pages of a block of 64.
            ("valid_page_counts", logs * u64::from(geometry.pages_per_block.ilog2() / 8 + 1)),
            ("sequential_blocks", SequentialArea::ram_bytes(sizes.most.into())),
            ("historical_access_table", history),
            ("threshold", Threshold::RAM_BYTES),
        ];
        if settings.history_auto && settings.predictive_transfer {
            let log_pages = random * u64::from(geometry.pages_per_block);
            let span = settings.interval.into();
            own.push(("prediction_record", PredictionRecord::ram_bytes(log_pages, span)));
        }
        BlockMapped::ram_use(config, &own)
    }

    fn format(board: &mut Board, config: &Config, _: u64) -> Result<Self, Fault> {
        Ok(Adapt::on(BlockMapped::new(board, config), board, config))
    }

    #[inline]
    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let before = Marks::of(board);
        let mut when = self.base.merge_strays(board, &mut self.sequential, after)?;
        let large = self.threshold.judge(board, io);
        if io.request.index == 0 {
            when = self.begin_request(board, io, when)?;
        }
        while self.random.is_over_limit() {
            when = self.merge_victim(board, false, when)?;
        }
        let done = loop {
            // A merge may give the page a free place: it is looked at anew after each.
            if let Some(first) = self.merged_first(board, io, large) {
                when = self.merge_stream(board, first, when)?;
                continue;
            }
            let place = self.place(board, io, large);
            if place == Place::Random && self.random.is_exhausted() {
                when = self.merge_or_move(board, when)?;
                self.settle(board, when)?;
                continue;
            }
            match self.perform(board, place, io, when) {
                // The block at the rear is closed; another may need a merge first.
                Err(Fault::ProgramFailed { known, .. }) if place == Place::Random => when = known,
                other => break other?,
            }
        };
        self.base.written(io.lpn);
        self.predictor.written(board, io.lpn);
        self.settle(board, done)?;
        self.interval.add(before, Marks::of(board));
        self.tell_areas(board);
        Ok(done)
    }

    fn trim(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        self.base.trim(board, io);
        self.predictor.forgotten(io.lpn);
        self.settle(board, after)?;
        self.tell_areas(board);
        Ok(after)
    }

    fn self_check(&self, board: &Board) -> Result<(), String> {
        let limits = self.sequential.limit() + self.random.limit();
        if limits != self.sizes.logs || self.sequential.len() > self.sequential.limit() {
            return Err(format!(
                "{} sequential blocks of {}, {} random ones at most, of {} log blocks",
                self.sequential.len(),
                self.sequential.limit(),
                self.random.limit(),
                self.sizes.logs
            ));
        }
        self.base.self_check(board, self.sequential.len() + self.random.len())
    }

    fn measuring_begins(&mut self, board: &mut Board) {
        if self.settings.observe_from == ObserveFrom::Measuring {
            self.interval = Interval::default();
            self.last_delta = None;
            self.threshold.forget(&self.settings);
            self.predictor.forget(&self.settings);
            board.level(Level::ThetaPages, self.threshold.pages().into());
            board.level(Level::HistoryBytes, self.predictor.table_bytes());
        }
    }

    forward!(base: payload_pages, read, flush, locate);
    forward!(random: room);

    fn power_off(self) -> Self::Survivor {}

    fn recover(
        board: &mut Board,
        config: &Config,
        _: u64,
        (): (),
        after: When,
    ) -> Result<(Self, When), Fault> {
        let (base, found, erased) = BlockMapped::recover(board, config, after)?;
        let mut adapt = Adapt::on(base, board, config);
        adapt.resume(board, found.logs);
        let (engine, log) = (&mut adapt.base.engine, &mut adapt.random);
        let done = log_recovery::evacuate(board, engine, log, &found.leftovers, erased)?;
        adapt.tell_areas(board);
        Ok((adapt, done))
    }
}

impl Adapt {
    /// Without a log block yet.
    fn on(mut base: BlockMapped, board: &mut Board, config: &Config) -> Self {
        let settings = config.own.clone();
        let sizes = AreaSizes::of(config);
        let geometry = board.geometry();
        let emptied = if settings.early_reuse { 2 * sizes.logs as usize } else { 0 };
        // A victim's logical blocks, and what levelling moves on the way.
        let rebuilt = 4 * geometry.pages_per_block as usize + 16;
        let rebuilt = if settings.predictive_transfer { rebuilt } else { 0 };
        base.engine.completes_upwards = settings.seq_partial == PartialRule::Prefix;
        base.engine.journal = MergeJournal::listening(emptied, rebuilt);
        let most_random = sizes.logs - sizes.least;
        let mut random = RandomLog::new(board.nand(), most_random, LogVictim::Fifo);
        random.set_limit(sizes.logs - sizes.initial);
        let mut adapt = Adapt {
            sequential: SequentialArea::new(geometry, sizes.initial, sizes.most),
            random,
            predictor: Predictor::new(geometry, &settings),
            threshold: Threshold::new(&settings, geometry.sectors_per_page()),
            interval: Interval::default(),
            last_delta: None,
            sizes,
            limits: Limits::new(&settings, geometry),
            told: Told::new([Level::SequentialLogBlocks, Level::RandomLogBlocks]),
            settings,
            base,
        };
        adapt.tell_areas(board);
        board.level(Level::ThetaPages, adapt.threshold.pages().into());
        board.level(Level::HistoryBytes, adapt.predictor.table_bytes());
        adapt.tell_limits(board);
        adapt
    }

    /// What must be merged before a page has a place.
    #[inline]
    fn merged_first(&self, board: &Board, io: &PageIo, large: bool) -> Option<First> {
        if self.base.takes_in_place(board, io.lpn) {
            return None;
        }
        let (lbn, offset) = Lbn::of(board.geometry(), io.lpn);
        if !large || !self.may_begin(offset) {
            return None;
        }
        let Some(place) = self.sequential.of(lbn) else {
            let full = self.sequential.is_exhausted() && self.sequential.limit() > 0;
            return full.then_some(First::Any);
        };
        match self.sequential.log(place).judge((lbn, offset), large)? {
            SequentialRule::MergeThenOpen => Some(First::Stream(place)),
            SequentialRule::Rewrite | SequentialRule::Gap
                if self.settings.seq_miss == MissRule::BeginAnew =>
            {
                Some(First::Stream(place))
            }
            _ => None,
        }
    }

    /// Where a page goes for which nothing must be merged.
    #[inline]
    fn place(&self, board: &Board, io: &PageIo, large: bool) -> Place {
        // The data page is clean, or there is no data block yet.
        if self.base.takes_in_place(board, io.lpn) {
            return Place::Home;
        }
        let (lbn, offset) = Lbn::of(board.geometry(), io.lpn);
        let Some(place) = self.sequential.of(lbn) else {
            let begins = large && self.may_begin(offset) && self.sequential.limit() > 0;
            return if begins { Place::Begin } else { Place::Random };
        };
        let small = self.settings.seq_small;
        let breaks = self.settings.seq_miss == MissRule::WithRequest
            && (large || small == SmallRule::AsLarge);
        match self.sequential.log(place).judge((lbn, offset), large) {
            // The matching next page.
            Some(SequentialRule::Append) if large || small != SmallRule::ToRandom => {
                Place::Append(place)
            }
            Some(SequentialRule::Rewrite) if breaks => Place::MergeWith(place, Merge::Full),
            Some(SequentialRule::Gap) if breaks => Place::MergeWith(place, Merge::Partial),
            _ => Place::Random,
        }
    }

    fn may_begin(&self, offset: u32) -> bool {
        let anywhere = self.settings.seq_begin == BeginRule::Any
            && self.base.engine.data.order() != ProgramOrder::Strict;
        offset == 0 || anywhere
    }

    fn perform(
        &mut self,
        board: &mut Board,
        place: Place,
        io: &PageIo,
        after: When,
    ) -> Result<When, Fault> {
        let engine = &mut self.base.engine;
        let area = &mut self.sequential;
        match place {
            Place::Home => self.base.write_in_place(board, io, after),
            Place::Append(place) => {
                let done = area.append(place, board, engine, io, after)?;
                self.switch_if_complete(board, io, done)
            }
            Place::Begin => {
                let done = area.open(board, engine, io, after)?;
                self.switch_if_complete(board, io, done)
            }
            Place::MergeWith(place, Merge::Full) => {
                area.merge_in_full(place, board, engine, Some(io), after)
            }
            Place::MergeWith(place, _) => area.merge(place, board, engine, Some(io), after),
            Place::Random => self.random.append(board, engine, io, after),
        }
    }

    /// Merges a stream; no page is inside.
    fn merge_stream(
        &mut self,
        board: &mut Board,
        first: First,
        after: When,
    ) -> Result<When, Fault> {
        let (rule, engine) = ((self.settings.seq_victim, false), &mut self.base.engine);
        let (victim, found) = match first {
            First::Stream(place) => (place, after),
            First::Any => self.sequential.choose(board, engine, rule, after),
        };
        self.sequential.merge(victim, board, engine, None, found)
    }

    /// `adapt.seq_complete = at_once`.
    fn switch_if_complete(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        written: When,
    ) -> Result<When, Fault> {
        let (lbn, _) = Lbn::of(board.geometry(), io.lpn);
        if self.settings.seq_complete == CompleteRule::AtOnce
            && let Some(place) = self.sequential.of(lbn)
            && let Some(open) = self.sequential.log(place).open_log()
            && (open.first, open.next) == (0, board.geometry().pages_per_block)
        {
            let engine = &mut self.base.engine;
            // The erase follows; the write does not wait for it.
            let _ = self.sequential.merge(place, board, engine, None, written)?;
        }
        Ok(written)
    }

    #[inline]
    fn tell_areas(&mut self, board: &mut Board) {
        self.told.tell(board, [self.sequential.len(), self.random.len()].map(u64::from));
    }

    /// Takes over the log blocks found after a power cut.
    fn resume(&mut self, board: &Board, mut logs: Vec<Survivor>) {
        // The youngest ones that a sequential log block can have left go on as such.
        for number in (0..logs.len()).rev() {
            let open = SequentialLog::found(&logs[number]);
            if let Some(open) = open.filter(|open| self.may_begin(open.first))
                && self.sequential.resume(open)
            {
                logs.remove(number);
            }
        }
        let free = self.random.free_blocks();
        self.base.hand_over_youngest(board, &logs, free, |board, log| {
            self.random.resume(board.nand(), log.block);
            true
        });
    }
}
