//! # Idea
//! FAST for transaction processing: what is written often dies in the log. A valid page of the
//! oldest log block is therefore not merged at once but given a second chance at the log's end.
//!
//! # Paper
//! Lim, Lee, Moon, "FASTer FTL for enterprise-class flash memory SSDs", IEEE SNAPI 2010. Not read
//! for this file: what is here is from the author's board code (mode `full`) and from
//! ADAPT 2012, which compares itself with a FASTer of second chances alone (mode `seed1_simple`);
//! `docs/papers/others.md#faster`.
//!
//! # Structures
//! P, Nlog, SW, RW, block table and log page table as in FAST. A second-chance (SC) bit per log
//! page (a small count where pages may have several chances). In mode `full` an isolation area: a
//! FIFO of log blocks beside the log.
//!
//! # Read
//! As FAST: log or isolation page if the log page table says so, else the data block.
//!
//! # Write
//! As FAST (`parts::fast_rules`). With `faster.seq = corref4` a run of more than four consecutive
//! pages opens SW wherever it is, the pages before it copied in first; the owner's next page goes
//! to SW, its other pages to RW, until another run closes SW.
//!
//! # Reclaim
//! When a random write finds the RW log full, round robin; v: valid pages of the victim.
//! 1. v = P, a chance left for every page: all take it, the block goes to the end untouched.
//! 2. v = 0: the block is erased.
//! 3. v < P/2: every page is copied to the end of the log and has its SC bit set.
//! 4. Otherwise pages with SC bit go to the isolation area, or, without one, their data blocks are
//!    merged as in FAST; pages without are copied to the end and have it set.
//!
//! Of the isolation area one data block is merged every few log writes, that of the oldest page;
//! more are merged by force where the area would not hold a victim's pages.
//!
//! Progress: rule 1 and copies of a full victim use up chances that only host writes give back, so
//! that a log full of valid pages comes to merges after at most `max_chances` rounds; every other
//! reclaim ends with more free pages than it began with.
//!
//! # Recovery
//! As FAST. The SC bits are lost and begin at zero: at worst a page is copied once more. A log
//! block does not say whether it was isolated: where there are more log blocks than the log may
//! hold, the oldest ones make up the isolation area, as far as that takes them.
//!
//! # Deviations
//! Those of FAST. The isolation area comes on top of Nlog. In rule 4 data blocks are merged before
//! pages are copied, so that no page is copied that the merge takes up. How the interval between
//! progressive merges is tuned is ours: halved where a merge was forced or the area grew, doubled
//! where it shrank. Log blocks keep no page for a list of their contents. The board
//! keeps two of its spare blocks free for reclaiming; here a reclaim takes a block beyond the log,
//! as in every log-block scheme, and `faster.free_reserve` keeps blocks of the log free.
//!
//! # Settings
//! Group `faster`.

mod isolation;
mod settings;

use crate::faster::settings::Config;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::when::When;
use ftlab_flash::memory::RamUse;
use ftlab_flash::meter::{Event, Level};
use ftlab_flash::request::PageIo;
use ftlab_flash::settings::SettingError;
use ftlab_flash::units::{BlockId, Lpn, Ppn};
use ftlab_ftl::forward;
use ftlab_ftl::parts::block_mapped::BlockMapped;
use ftlab_ftl::parts::fast_rules::{FastLog, FastRules, Row, Stream};
use ftlab_ftl::parts::log_index::LogIndex;
use ftlab_ftl::parts::random_log::{LogVictim, RandomLog};
use ftlab_ftl::parts::second_chance::SecondChances;
use ftlab_ftl::parts::sequential_log::SequentialLog;
use ftlab_ftl::scheme::{Classification, Family, Paper, Preset, Scheme};
use isolation::Isolation;
pub use settings::{FasterSettings, Mode, SequentialStart};

/// The name under which the scheme table finds this file's scheme.
pub type Rostered = Faster;

/// FASTer.
#[derive(Clone)]
pub struct Faster {
    log: FastLog,
    kept: Kept,
    run: Run,
    settings: FasterSettings,
}

/// Pages that are not merged the first time, and the rules by which.
#[derive(Clone)]
struct Kept {
    chances: SecondChances,
    isolation: Option<Isolation>,
    max_chances: u32,
    skip_full: bool,
    copy_all_below: u32,
}

/// Consecutive pages written.
#[derive(Clone, Default)]
struct Run {
    next: u32,
    length: u32,
}

impl Scheme for Faster {
    const PAPER: Paper = Paper {
        name: "faster",
        title: "FASTer FTL for enterprise-class flash memory SSDs",
        authors: "Lim, Lee, Moon",
        venue: "IEEE SNAPI",
        year: 2010,
        sections: "second chances, isolation area, progressive and forced merges; the variant that \
                   ADAPT 2012 compares with",
        deviations: &[
            "those of fast, whose sequential and first-write rules it has",
            "the isolation area comes on top of the log's share",
            "data blocks of a victim are merged before its other pages are copied",
            "the interval between progressive merges is halved where a merge was forced or the \
             area grew, doubled where it shrank",
            "after a power cut the second-chance bits are zero and the oldest surplus log blocks \
             are the isolation area",
        ],
        family: Family::LogBlock,
        class: Classification::with_log(
            "1 sequential + (M-1) random",
            "random N:(M-1), sequential 1:1",
        ),
    };
    const PRESETS: &'static [Preset] = &[
        ("isolation", &[("faster.mode", "full")]),
        ("simple", &[("faster.mode", "seed1_simple")]),
    ];
    type Settings = FasterSettings;
    type Survivor = ();

    fn check(config: &Config) -> Result<(), SettingError> {
        if FasterSettings::random(config) == 0 {
            return Err(SettingError::Conflict(format!(
                "faster.free_reserve = {} leaves no random one of {} log blocks (faster.log_pct, \
                 faster.log_blocks)",
                config.own.free_reserve,
                FasterSettings::logs(config)
            )));
        }
        let reserve = u64::from(config.own.isolation_reserve);
        match FasterSettings::isolation_blocks(config) {
            blocks if blocks == 0 || reserve < blocks => Ok(()),
            blocks => Err(SettingError::Conflict(format!(
                "faster.isolation_reserve = {reserve} must be smaller than the isolation area of \
                 {blocks} blocks (faster.isolation_pct, faster.isolation_min)"
            ))),
        }
    }

    fn minimum_blocks(config: &Config) -> u64 {
        // A victim and the block that takes its pages exist side by side.
        let own = FasterSettings::logs(config) + FasterSettings::isolation_blocks(config) + 1;
        BlockMapped::minimum_blocks(config, own)
    }

    fn ram_use(config: &Config) -> Vec<RamUse> {
        let geometry = Geometry::new(&config.device);
        let random = FasterSettings::random(config);
        let isolated = FasterSettings::isolation_blocks(config);
        let most = config.own.max_chances;
        let chances = SecondChances::ram_bytes(&geometry, random + isolated, most);
        let own = [
            ("log_page_table", LogIndex::ram_bytes(&geometry, random + isolated + 1)),
            ("random_log_list", random * 4),
            ("isolation_list", isolated * 4),
            ("second_chances", chances),
            ("sequential_block", SequentialLog::RAM_BYTES),
        ];
        BlockMapped::ram_use(config, &own)
    }

    fn format(board: &mut Board, config: &Config, _: u64) -> Result<Self, Fault> {
        Ok(Faster::on(BlockMapped::new(board, config), board, config))
    }

    #[inline]
    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let Faster { log, kept, .. } = self;
        let mut when = after;
        if let Some(isolation) = &mut kept.isolation {
            when = isolation.progress(log, board, &mut kept.chances, when)?;
        }
        let stream = match self.settings.seq {
            SequentialStart::FastRule => Stream::AtOffsetZero(true),
            SequentialStart::LongRun => {
                Stream::ByRun(self.run.goes_on(io.lpn) > self.settings.seq_threshold)
            }
        };
        let mut lived_on = kept.holds(log, io.lpn);
        let reclaim = |log: &mut FastLog, board: &mut Board, when| {
            let done = kept.reclaim(log, board, when)?;
            // It may have kept the page just now, or merged it.
            lived_on = kept.holds(log, io.lpn);
            Ok(done)
        };
        let (row, done) = log.write(board, io, stream, reclaim, when)?;
        if lived_on {
            board.event(Event::SecondChancesRewritten, 1);
        }
        board.level(Level::RandomLogBlocks, u64::from(log.random.len()));
        if let Some(isolation) = &mut kept.isolation {
            if row == Row::Random {
                isolation.log_written();
            }
            board.level(Level::IsolationBlocks, u64::from(isolation.len()));
        }
        Ok(done)
    }

    fn self_check(&self, board: &Board) -> Result<(), String> {
        self.log.self_check(board, self.kept.isolation.as_ref().map_or(0, Isolation::len))
    }

    forward!(log.base: payload_pages, read, trim, flush, locate);
    forward!(log.random: room);

    fn power_off(self) -> Self::Survivor {}

    fn recover(
        board: &mut Board,
        config: &Config,
        _: u64,
        (): (),
        after: When,
    ) -> Result<(Self, When), Fault> {
        let (base, found, erased) = BlockMapped::recover(board, config, after)?;
        let mut faster = Faster::on(base, board, config);
        let isolation = &mut faster.kept.isolation;
        let surplus = |board: &Board, found: &_| {
            isolation.as_mut().is_some_and(|isolation| isolation.adopt(board, found))
        };
        let done = faster.log.resume(board, found, surplus, erased)?;
        Ok((faster, done))
    }
}

impl Faster {
    /// Without a log block yet, every SC bit zero.
    fn on(base: BlockMapped, board: &Board, config: &Config) -> Self {
        let settings = config.own.clone();
        let rules = FastRules {
            first_write: settings.first_write,
            rewrite: settings.sw_rewrite,
            gap: settings.sw_gap,
        };
        let limit = FasterSettings::random(config) as u32;
        let random = RandomLog::new(board.nand(), limit, LogVictim::Fifo);
        let kept = Kept {
            chances: SecondChances::new(board.geometry()),
            isolation: Isolation::new(board, config),
            max_chances: settings.max_chances,
            skip_full: settings.skips_full(),
            copy_all_below: settings.copies_all_below(board.geometry().pages_per_block),
        };
        Faster { log: FastLog::new(base, random, rules), kept, run: Run::default(), settings }
    }
}

impl Run {
    /// A page is written: how long the run is that it ends.
    #[inline]
    fn goes_on(&mut self, lpn: Lpn) -> u32 {
        self.length = if lpn.0 == self.next { self.length.saturating_add(1) } else { 1 };
        self.next = lpn.0 + 1;
        self.length
    }
}

impl Kept {
    /// Whether the newest copy of a page is in the log thanks to a chance.
    #[inline]
    fn holds(&self, log: &FastLog, lpn: Lpn) -> bool {
        log.base.engine.logs.get(lpn).is_some_and(|page| self.chances.given(page) > 0)
    }

    /// Reclaims the oldest RW block, or puts it back.
    #[cold]
    fn reclaim(
        &mut self,
        log: &mut FastLog,
        board: &mut Board,
        after: When,
    ) -> Result<When, Fault> {
        let (place, mut when) = log.random.choose(board, after);
        let victim = log.random.block(place);
        let valid = board.nand().valid_pages(victim);
        // Rule 1.
        let full = valid == board.geometry().pages_per_block;
        if self.skip_full && full && self.next_expired(board, victim, 0).is_none() {
            let geometry = board.geometry();
            let pages = (0..geometry.pages_per_block).map(|offset| geometry.page(victim, offset));
            pages.for_each(|page| self.chances.give(page));
            board.event(Event::AggregatedMoves, 1);
            log.random.requeue(place);
            return Ok(when);
        }
        // Rule 4, pages with the SC bit. Rule 3 makes no difference between pages.
        let mut merged = None;
        if valid >= self.copy_all_below {
            (merged, when) = self.part_with_expired(log, board, victim, when)?;
        }
        // Rules 3 and 4, the other pages.
        let kept = self.keep(log, board, victim, when)?;
        match merged {
            Some(rebuilt) => board.merge_full(rebuilt),
            // Rule 2.
            None if valid == 0 => board.event(Event::DeadLogBlocks, 1),
            None => {}
        }
        let done = log.base.engine.release_log(board, victim, kept)?;
        self.chances.forget(board.geometry(), victim);
        log.random.remove(place);
        Ok(done)
    }

    /// The first valid page from an offset on that has no chance left.
    fn next_expired(&self, board: &Board, block: BlockId, from: u32) -> Option<Ppn> {
        let mut offset = from;
        while let Some(page) = board.nand().state().next_valid(block, offset) {
            if self.chances.given(page) >= self.max_chances {
                return Some(page);
            }
            offset = board.geometry().offset_of(page) + 1;
        }
        None
    }

    /// Pages of a victim without a chance left go to the isolation area; without one their data
    /// blocks are merged: how many were rebuilt, if any page had to be.
    fn part_with_expired(
        &mut self,
        log: &mut FastLog,
        board: &mut Board,
        victim: BlockId,
        after: When,
    ) -> Result<(Option<u32>, When), Fault> {
        let (mut merged, mut start, mut offset) = (None, after, 0);
        let expired = self.next_expired(board, victim, 0).is_some();
        if let (Some(isolation), true) = (&mut self.isolation, expired) {
            start = isolation.make_room(log, board, &mut self.chances, after)?;
        }
        let mut done = start;
        while let Some(page) = self.next_expired(board, victim, offset) {
            offset = board.geometry().offset_of(page) + 1;
            let parted = match &mut self.isolation {
                Some(isolation) => isolation.take(log, board, &mut self.chances, page, start)?,
                None => {
                    let engine = &mut log.base.engine;
                    let absorb = &mut log.sequential;
                    let (rebuilt, done) = engine.merge_page(board, page, absorb, start)?;
                    *merged.get_or_insert(0) += rebuilt;
                    done
                }
            };
            done = done.join(parted);
        }
        Ok((merged, done))
    }

    /// Copies what is valid in a victim to the end of the log, one chance more for each: how many.
    fn keep(
        &mut self,
        log: &mut FastLog,
        board: &mut Board,
        victim: BlockId,
        after: When,
    ) -> Result<When, Fault> {
        let (mut done, mut offset) = (after, 0);
        while let Some(page) = board.nand().state().next_valid(victim, offset) {
            offset = board.geometry().offset_of(page) + 1;
            let more = u8::from(self.chances.given(page) < self.max_chances);
            let (to, engine) = (&mut log.random, &mut log.base.engine);
            done = done.join(self.chances.carry(to, board, engine, (page, more), after)?);
            board.event(Event::SecondChanceCopies, 1);
        }
        Ok(done)
    }
}

#[cfg(test)]
mod tests;
