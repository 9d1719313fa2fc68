//! # Idea
//! FAST for several programs at once: long writes are streams, and each stream gets a sequential
//! log block of its own, to be switched without copies. Short writes are random; pages rewritten
//! soon are kept apart from the others, so that whole log blocks of them die and cost one erase.
//!
//! # Paper
//! Lee, Shin, Kim, Kim, "LAST: locality-aware sector translation for NAND flash memory-based
//! storage systems", SIGOPS OSR 42(6), 2008, by what DFTL 2014 (2, 4, 6), ADAPT 2012 (II, III) and
//! `docs/papers/others.md#last` tell of it; the paper itself was not at hand.
//!
//! # Structures
//! P: pages per block. M: log blocks, m of them sequential at most, the others random: hot and
//! cold. Block table; owner and offsets of each sequential log block (no page map); page map of the
//! M - m random ones; the last random page writes (`hot_window`).
//!
//! # Read
//! The newest copy, as in FAST: in a log block, else in the data block.
//!
//! # Write
//! First writes go to the data block. Else the locality detector decides by the size of the
//! request: see [`Last::place`].
//!
//! # Reclaim
//! Sequential area full: the block written longest ago is switched, completed, or merged in full if
//! newer copies lie elsewhere. Hot partition full: a dead block is erased; if none is dead, what is
//! still valid in the oldest was taken for hot by mistake and moves to the cold partition. Cold
//! partition full: a dead block is erased, or else the block with fewest logical blocks is merged
//! in full. Demotion ends: it moves at most P pages, and each cold merge makes room for P.
//! With `adapt`, each dead hot block counts for the hot partition and each demoted one against it;
//! when the sum reaches as many as the partition may have blocks, it gets one of the cold
//! partition's, or gives it one, and the sum begins anew. Neither goes below one block.
//!
//! # Recovery
//! As in FAST: roles by where pages lie. Log blocks with a run of one logical block's pages at
//! their own places go on as sequential ones, the youngest if there are too many; of the others
//! the older are cold, the younger hot, for the list of recent writes is gone. What an interrupted
//! merge or demotion left moves to free places of the data block, or to the cold partition.
//!
//! # Deviations
//! Trims, program orders, pads and dead sequential blocks as in `fast`. The partitions have limits
//! of their own; neither borrows from the other, unless `last.hot_reserve` says so. Where every
//! page of a block must be programmed in order (`nand.enforce_order = strict`) no sequential log
//! block begins in the middle: `sw_unaligned = to_random` whatever is set. The rule of `adapt` is
//! ours.
//!
//! # Settings
//! Group `last`, in [`settings`].

mod partitions;
pub mod settings;

use crate::last::settings::Config;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::settings::ProgramOrder;
use ftlab_flash::board::when::When;
use ftlab_flash::memory::RamUse;
use ftlab_flash::meter::{Event, Level};
use ftlab_flash::request::PageIo;
use ftlab_flash::settings::SettingError;
use ftlab_flash::units::Lpn;
use ftlab_ftl::answers::Room;
use ftlab_ftl::forward;
use ftlab_ftl::parts::block_mapped::{BlockMapped, FirstWrite};
use ftlab_ftl::parts::block_survey::Survivor;
use ftlab_ftl::parts::data_blocks::Lbn;
use ftlab_ftl::parts::log_index::LogIndex;
use ftlab_ftl::parts::log_recovery;
use ftlab_ftl::parts::random_log::{LogVictim, RandomLog};
use ftlab_ftl::parts::recent_pages::RecentPages;
use ftlab_ftl::parts::request_size::RequestSize;
use ftlab_ftl::parts::sequential_area::SequentialArea;
use ftlab_ftl::parts::sequential_log::{SequentialLog, SequentialRule};
use ftlab_ftl::parts::slots::Slot;
use ftlab_ftl::parts::told::Told;
use ftlab_ftl::scheme::{Classification, Family, Paper, Scheme};
pub use settings::{HotReserve, LastSettings, MissRule, Shares, UnalignedRule};

/// The name under which the scheme table finds this file's scheme.
pub type Rostered = Last;

/// Where a page goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// To its place in the data block.
    Home,
    /// To the next page of a sequential log block.
    Append(Slot),
    /// To a new sequential log block.
    Open,
    /// Nowhere before this sequential log block is merged.
    AfterMerge(Slot),
    /// To the hot partition.
    Hot,
    /// To the cold partition.
    Cold,
}

/// LAST.
#[derive(Clone)]
pub struct Last {
    base: BlockMapped,
    detector: RequestSize,
    sequential: SequentialArea,
    hot: RandomLog,
    /// Its share of the log.
    hot_most: u32,
    cold: RandomLog,
    recent: RecentPages,
    /// Dead less demoted hot blocks since the partitions were last shifted (`last.adapt`).
    balance: i64,
    /// Blocks of the three areas.
    told: Told<3>,
    order: ProgramOrder,
    settings: LastSettings,
}

impl Scheme for Last {
    const PAPER: Paper = Paper {
        name: "last",
        title: "LAST: locality-aware sector translation for NAND flash memory-based storage systems",
        authors: "Lee, Shin, Kim, Kim",
        venue: "ACM SIGOPS Operating Systems Review 42(6)",
        year: 2008,
        sections: "locality detector by request size, several sequential log blocks, hot and cold \
                   random log blocks",
        deviations: &[
            "written from other papers' accounts of it; what they leave open is a setting",
            "trims and their record pages are added",
            "hot and cold partitions have limits of their own; the rule of last.adapt is ours",
            "under nand.enforce_order, data-block writes that go backwards go to the log, and \
             holes of rebuilt blocks are padded if strict",
            "under nand.enforce_order = strict no sequential log block begins in the middle",
            "a sequential log block without a valid page is erased, not merged",
        ],
        family: Family::LogBlock,
        class: Classification {
            kind: "hybrid",
            granularity: "data and sequential log blocks by block, random log blocks by page",
            update_blocks: "m sequential + (M-m) random, hot and cold",
            associativity: "random N:(M-m), sequential 1:1",
            full_merge: true,
        },
    };
    type Settings = LastSettings;
    type Survivor = ();

    fn check(config: &Config) -> Result<(), SettingError> {
        LastSettings::check(config)
    }

    fn minimum_blocks(config: &Config) -> u64 {
        BlockMapped::minimum_blocks(config, Shares::of(config).all())
    }

    fn ram_use(config: &Config) -> Vec<RamUse> {
        let geometry = Geometry::new(&config.device);
        let Shares { sequential, hot, cold } = Shares::of(config);
        let random = u64::from(hot + cold);
        let own = [
            ("log_page_table", LogIndex::ram_bytes(&geometry, random)),
            ("random_log_lists", random * 4),
            ("sequential_blocks", SequentialArea::ram_bytes(u64::from(sequential))),
            ("recent_writes", RecentPages::ram_bytes(config.own.hot_window)),
            ("detector", RequestSize::RAM_BYTES),
        ];
        BlockMapped::ram_use(config, &own)
    }

    fn format(board: &mut Board, config: &Config, _: u64) -> Result<Self, Fault> {
        Ok(Last::on(BlockMapped::new(board, config), board, config))
    }

    #[inline]
    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let stream = self.detector.judge(board, io);
        let mut when = self.base.merge_strays(board, &mut self.sequential, after)?;
        when = self.keep_limits(board, when)?;
        let done = loop {
            // A merge may give the page a free place: the question is asked again after each.
            let place = self.place(board, io.lpn, stream);
            let engine = &mut self.base.engine;
            match place {
                Place::Home => break self.base.write_in_place(board, io, when)?,
                Place::Append(log) => {
                    break self.sequential.append(log, board, engine, io, when)?;
                }
                Place::Open => break self.sequential.open(board, engine, io, when)?,
                Place::AfterMerge(log) => {
                    when = self.sequential.merge(log, board, engine, None, when)?;
                }
                Place::Hot if self.hot.is_exhausted() => when = self.make_hot_room(board, when)?,
                Place::Cold if self.cold.is_exhausted() => {
                    when = self.make_cold_room(board, when)?
                }
                Place::Hot | Place::Cold => match self.log(board, io, place, when) {
                    // The log block is closed; another may need a reclaim first.
                    Err(Fault::ProgramFailed { known, .. }) => when = known,
                    other => break other?,
                },
            }
        };
        self.base.written(io.lpn);
        self.tell(board);
        Ok(done)
    }

    fn self_check(&self, board: &Board) -> Result<(), String> {
        self.base.self_check(board, self.areas().iter().sum())
    }

    forward!(base: payload_pages, read, trim, flush, locate);

    fn room(&self) -> Room {
        let cold = self.cold.free_blocks();
        let reserved = self.hot_most > 0 && self.settings.hot_reserve == HotReserve::Fixed;
        let free = if reserved { cold.min(self.hot.free_blocks()) } else { cold };
        Room { free_blocks: free, threshold: 1 }
    }

    fn power_off(self) -> Self::Survivor {}

    fn recover(
        board: &mut Board,
        config: &Config,
        _: u64,
        (): (),
        after: When,
    ) -> Result<(Self, When), Fault> {
        let (base, found, erased) = BlockMapped::recover(board, config, after)?;
        let mut last = Last::on(base, board, config);
        last.resume(board, &found.logs);
        let (engine, log) = (&mut last.base.engine, &mut last.cold);
        let done = log_recovery::evacuate(board, engine, log, &found.leftovers, erased)?;
        last.tell(board);
        Ok((last, done))
    }
}

impl Last {
    /// Without a log block yet.
    fn on(base: BlockMapped, board: &mut Board, config: &Config) -> Self {
        let settings = config.own.clone();
        let shares = Shares::of(config);
        let geometry = board.geometry();
        // Adapting moves blocks from one partition to the other: either has room for both.
        let random = shares.hot + shares.cold;
        let mut hot = RandomLog::new(board.nand(), random, LogVictim::Fifo);
        let mut cold = RandomLog::new(board.nand(), random, settings.cold_victim);
        let reserved = if settings.hot_reserve == HotReserve::Fixed { shares.hot } else { 0 };
        hot.set_limit(reserved);
        cold.set_limit(random - reserved);
        let mut last = Last {
            detector: RequestSize::new(
                settings.seq_pages,
                settings.seq_cmp,
                settings.seq_continuation,
            ),
            sequential: SequentialArea::new(geometry, shares.sequential, shares.sequential),
            hot,
            hot_most: shares.hot,
            cold,
            recent: RecentPages::new(geometry, settings.hot_window),
            balance: 0,
            told: Told::new([
                Level::SequentialLogBlocks,
                Level::HotLogBlocks,
                Level::ColdLogBlocks,
            ]),
            order: base.engine.data.order(),
            base,
            settings,
        };
        last.tell(board);
        last
    }

    /// Where a page goes; `stream`: the detector takes its request for sequential.
    #[inline]
    fn place(&self, board: &Board, lpn: Lpn, stream: bool) -> Place {
        // A free place in the data block comes first, as in FAST.
        if self.settings.first_write == FirstWrite::DataBlock
            && self.base.takes_in_place(board, lpn)
        {
            return Place::Home;
        }
        // A short request: hot if the page is among the last random writes.
        let random = match self.hot_most > 0 && self.recent.contains(lpn) {
            true => Place::Hot,
            false => Place::Cold,
        };
        if !stream {
            return random;
        }
        // A long request: a log block of its logical block alone.
        let (lbn, offset) = Lbn::of(board.geometry(), lpn);
        let aligned = offset == 0
            || (self.settings.sw_unaligned == UnalignedRule::FillPrefix
                && self.order != ProgramOrder::Strict);
        match self.sequential.of(lbn) {
            Some(log) => match self.sequential.log(log).judge((lbn, offset), false) {
                Some(SequentialRule::Append) => Place::Append(log),
                _ if aligned && self.settings.sw_miss == MissRule::MergeThenNew => {
                    Place::AfterMerge(log)
                }
                _ => random,
            },
            None if !aligned => random,
            None if self.sequential.is_exhausted() => {
                // The stream that stands still for longest has ended.
                Place::AfterMerge(self.sequential.oldest().expect("a full area holds a block"))
            }
            None => Place::Open,
        }
    }

    /// Appends a page to its partition, which has room, and remembers the write.
    fn log(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        place: Place,
        after: When,
    ) -> Result<When, Fault> {
        let (log, event) = match place {
            Place::Hot => (&mut self.hot, Event::HotLogWrites),
            _ => (&mut self.cold, Event::ColdLogWrites),
        };
        let done = log.append(board, &mut self.base.engine, io, after)?;
        board.event(event, 1);
        self.recent.insert(io.lpn);
        Ok(done)
    }

    /// Blocks of the three areas.
    fn areas(&self) -> [u32; 3] {
        [self.sequential.len(), self.hot.len(), self.cold.len()]
    }

    /// Tells how large the areas are, where that changed.
    #[inline]
    fn tell(&mut self, board: &mut Board) {
        self.told.tell(board, self.areas().map(u64::from));
    }

    /// Takes over the log blocks found after a power cut, the oldest first.
    fn resume(&mut self, board: &Board, logs: &[Survivor]) {
        let stream = |log: &Survivor| {
            let begins =
                |first| first == 0 || self.settings.sw_unaligned != UnalignedRule::ToRandom;
            SequentialLog::found(log).filter(|open| begins(open.first))
        };
        let streams: Vec<_> = logs.iter().filter_map(stream).collect();
        let ended = streams.len().saturating_sub(self.sequential.limit() as usize);
        let going_on: Vec<_> =
            streams.into_iter().skip(ended).filter(|&open| self.sequential.resume(open)).collect();
        let mut others = logs.to_vec();
        others.retain(|log| going_on.iter().all(|open| open.block != log.block));
        let free = self.hot.free_blocks() + self.cold.free_blocks();
        self.base.hand_over_youngest(board, &others, free, |board, log| {
            let is_cold = self.cold.free_blocks() > 0;
            let partition = if is_cold { &mut self.cold } else { &mut self.hot };
            partition.resume(board.nand(), log.block);
            true
        });
    }
}
