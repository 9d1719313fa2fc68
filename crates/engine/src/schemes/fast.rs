//! # Idea
//! Data is mapped by whole blocks; all updates share a small log that is mapped by pages. One log
//! block takes sequential writes, so that it can become a data block without copies.
//!
//! # Paper
//! Lee, Park, Chung et al., "A log buffer-based flash translation layer using fully-associative
//! sector translation", ACM TECS 6(3), 2007; merges as in DFTL 2014, section 2, Figs 5 and 6.
//! Spec 2.5; rows are those of its decision table.
//!
//! # Structures
//! P: pages per block. Nl: logical blocks. Nlog: log blocks, one of them (SW) sequential, the
//! others (RW) random. Block table of Nl entries; log page table of Nlog * P entries; owner and
//! next offset of SW; the RW blocks in the order in which they were opened.
//!
//! # Read
//! The newest copy: in the log if the log page table says so, else in the data block if the data
//! page is valid (page states come from the spare area, as in the public code), else nothing.
//!
//! # Write
//! The decision table, from row 0: see [`Fast::row`] and [`Fast::perform`].
//!
//! # Reclaim
//! When a random write finds the RW log full: the victim's valid pages in page order; for each, its
//! logical block is rebuilt from the newest copies wherever they lie (or SW merged, if it is the
//! owner), its old data block erased; last the victim is erased.
//!
//! # Recovery
//! Every out-of-band area is read; the newest sequence number of a page wins. Blocks get roles by
//! where their pages lie (`parts::block_survey`). What an interrupted merge left of an old data
//! block moves to the free places of the new one, or to the log; nothing is rebuilt, so that
//! recovery takes at most a log block and may be cut again and again.
//!
//! # Deviations
//! Trims and their records are ours (a small area of blocks, taken at the first flushed trim).
//! Where the flash demands ascending programs, writes to a data block that would go backwards go to
//! the log, and holes of a rebuilt block are padded if no page may be left out. An invalid data
//! page without a newer copy costs nothing, unlike in the public code (spec 2.5, corner case d;
//! `fast.bug_compat` charges its program); SW merges look for newer copies in RW (corner case c: not to
//! look loses data, so no setting does that). A sequential log block in which nothing is valid is
//! erased, not merged.
//!
//! # Settings
//! Group `fast`.

use crate::board::Board;
use crate::board::nand::fault::Fault;
use crate::board::nand::geometry::Geometry;
use crate::board::when::When;
use crate::choices;
use crate::config::{Config, Optional, SettingError};
use crate::meter::Event;
use crate::parts::block_supply::BlockSupply;
use crate::parts::block_survey::{Roles, Survey, Survivor};
use crate::parts::data_blocks::{DataBlocks, Lbn};
use crate::parts::log_index::LogIndex;
use crate::parts::log_recovery;
use crate::parts::merge_engine::{Absorb, MergeEngine};
use crate::parts::random_log::{LogVictim, RandomLog};
use crate::parts::record_area::RecordArea;
use crate::parts::sequential_log::{OpenLog, SequentialLog, SequentialRule};
use crate::parts::trim_records::TrimRecords;
use crate::request::PageIo;
use crate::schemes::{
    Classification, Family, Location, Memory, Paper, RamUse, Room, Scheme, Unsettled,
};
use crate::settings;
use crate::units::{Lpn, Tag};

choices! {
    /// Row 7: what a gap in the sequential block's stream does.
    pub enum GapRule {
        /// Partial merge, with the page put at its own place on the way.
        PartialWithRequest = "partial_with_request",
        /// Full merge, with the page inside.
        FullMerge = "full_merge",
        /// The page goes to the random log; the block stays open.
        ToRandom = "to_rw",
    }
}

choices! {
    /// Row 6: what a rewrite of a page of the sequential block does.
    pub enum RewriteRule {
        /// Full merge, with the page inside.
        FullMerge = "full_merge",
        /// The page goes to the random log; the block must be merged in full later.
        ToRandom = "to_rw",
    }
}

choices! {
    /// Where the first write of a page goes.
    pub enum FirstWrite {
        /// To its place in the data block.
        DataBlock = "data_block",
        /// To the log like any other.
        Log = "log",
    }
}

choices! {
    /// What is taken for the beginning of a sequential stream.
    pub enum Detector {
        /// Any write of offset 0.
        OffsetZero = "offset_zero",
        /// A write of offset 0 in a request of at least `fast.detector_pages` pages.
        RequestSize = "request_size",
    }
}

settings! {
    /// Settings of `fast`.
    pub struct FastSettings in "fast" {
        /// Log blocks (SW and RW together) in percent of the logical capacity, rounded up to at
        /// least 2; a plain number, 3 for 3 %.
        log_pct: f64 = 3.0, legal("1..=100", |v| (1.0..=100.0).contains(v)),
            source("DFTL 2014, 2; ADAPT 2012, II");
        /// Log blocks as a number; auto: by fast.log_pct.
        log_blocks: Optional<u32> = Optional(None),
            legal("auto, or 2..=16777216", |v| v.0.is_none_or(|n| (2..=1 << 24).contains(&n))),
            source("ftlab");
        /// Which RW block is merged when the log is full.
        victim: LogVictim = LogVictim::Fifo, legal("", |_| true), source("ADAPT 2012, II");
        /// Row 7: a write of SW's owner beyond the next page.
        sw_gap: GapRule = GapRule::PartialWithRequest, legal("", |_| true),
            source("spec 2.5: FlashSim");
        /// Row 6: a write of a page that SW holds.
        sw_rewrite: RewriteRule = RewriteRule::FullMerge, legal("", |_| true),
            source("spec 2.5: FlashSim");
        /// Rows 0 and 1: where the first write of a page goes.
        first_write: FirstWrite = FirstWrite::DataBlock, legal("", |_| true),
            source("DFTL 2014, 2");
        /// Whether an RW victim that holds one logical block in order is switched, not merged.
        rw_switch_check: bool = false, legal("", |_| true), source("spec 2.5: FlashSim has none");
        /// Rows 2 to 4: which write of offset 0 begins a sequential stream.
        detector: Detector = Detector::OffsetZero, legal("", |_| true), source("FAST 2007");
        /// Whether merges of RW blocks also program the places of invalid data pages of which there
        /// is no newer copy, as the public code does by mistake. As no copy is ever overlooked
        /// here, only trimmed pages are such: without trims it changes nothing.
        bug_compat: bool = false, legal("", |_| true), source("spec 2.5, corner case d");
        /// Pages of a request that is sequential under fast.detector = request_size.
        detector_pages: u32 = 2, legal("1..=4096", |v| (1..=4096).contains(v)),
            source("LAST 2008");
    }
}

/// Free blocks beyond data, log and records. A merge needs one; power cuts can leave a second one
/// with a record area that was being emptied, a third with pages that a torn place kept from home,
/// a fourth when cuts in recovery have torn the rest of that log block (`tests/faults_fast.rs`
/// needs all four). This is no bound: a third merge cut like that, its recovery cut once for every
/// page of another log block, ends with `DeviceFull` on a device without a spare block.
const RESERVE: u64 = 4;

/// The name under which the scheme table finds this file's scheme.
pub type Rostered = Fast;

/// What the decision table says about one write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Row {
    /// Rows 0 and 1: straight to its place in the data block.
    InPlace,
    /// Rows 2 to 7.
    Sequential(SequentialRule),
    /// Row 8.
    Random,
}

/// FAST.
pub struct Fast {
    engine: MergeEngine,
    sequential: SequentialLog,
    random: RandomLog,
    trims: TrimRecords,
    records: RecordArea,
    settings: FastSettings,
}

impl Absorb for SequentialLog {
    fn absorb(
        &mut self,
        engine: &mut MergeEngine,
        board: &mut Board,
        lbn: Lbn,
        after: When,
    ) -> Result<(bool, When), Fault> {
        if self.open_log().is_none_or(|open| open.owner != lbn) {
            return Ok((false, after));
        }
        // Nothing valid in it: erased, and the data block is rebuilt from the rest.
        if let Some(done) = self.release_dead(board, engine, after)? {
            return Ok((false, done));
        }
        Ok((true, self.merge(board, engine, None, after)?))
    }
}

/// Nlog: log blocks, the sequential one among them.
fn log_blocks(config: &Config) -> u64 {
    let settings = &config.scheme.fast;
    let pages = u64::from(config.device.units_per_block());
    let logical = config.device.logical_pages().div_ceil(pages);
    match settings.log_blocks.0 {
        Some(blocks) => u64::from(blocks),
        None => ((logical as f64 * settings.log_pct / 100.0).ceil() as u64).max(2),
    }
}

impl Scheme for Fast {
    const PAPER: Paper = Paper {
        name: "fast",
        title: "A log buffer-based flash translation layer using fully-associative sector \
                translation",
        authors: "Lee, Park, Chung, Lee, Park, Song",
        venue: "ACM TECS 6(3)",
        year: 2007,
        sections: "one sequential and several random log blocks; switch, partial and full merge",
        deviations: &[
            "trims and their record pages are added",
            "under nand.enforce_order, data-block writes that go backwards go to the log, and \
             holes of rebuilt blocks are padded if strict",
            "invalid data pages without a newer copy cost nothing in a merge; fast.bug_compat charges \
             a program as the public code does",
            "merges of the sequential log block look for newer copies in every log block; the \
             public code does not, and loses them",
            "a sequential log block without a valid page is erased, not merged",
        ],
        family: Family::LogBlock,
        class: Classification {
            kind: "hybrid",
            granularity: "block",
            update_blocks: "one sequential, the others shared by all",
            associativity: "N:M",
            full_merge: true,
        },
    };
    type Survivor = ();

    fn check(_: &Config) -> Result<(), SettingError> {
        Ok(())
    }

    fn minimum_blocks(config: &Config) -> u64 {
        let geometry = Geometry::new(&config.device);
        let planes = u64::from(geometry.planes());
        let used = u64::from(geometry.logical_blocks()) + log_blocks(config);
        // Planes are filled in turn: each holds its share, rounded up.
        used.div_ceil(planes) * planes + u64::from(RecordArea::blocks(&geometry)) + RESERVE
    }

    fn payload_pages(config: &Config) -> u64 {
        // A record and the one that replaces it, per segment.
        2 * u64::from(TrimRecords::segments(&Geometry::new(&config.device)))
    }

    fn ram_use(config: &Config) -> Vec<RamUse> {
        let geometry = Geometry::new(&config.device);
        let logs = log_blocks(config);
        let entry = |structure, bytes, memory| RamUse { structure, bytes, memory };
        vec![
            entry("block_table", DataBlocks::ram_bytes(&geometry), Memory::Sram),
            entry("log_page_table", LogIndex::ram_bytes(&geometry, logs), Memory::Sram),
            entry("random_log_list", (logs - 1) * 4, Memory::Sram),
            entry("sequential_block", SequentialLog::RAM_BYTES, Memory::Sram),
            entry(
                "trim_records",
                TrimRecords::ram_bytes(&geometry) + RecordArea::ram_bytes(&geometry),
                Memory::Dram,
            ),
        ]
    }

    fn format(board: &mut Board, config: &Config, _: u64) -> Result<Self, Fault> {
        let mut engine = MergeEngine::new(board, config);
        engine.copies_invalid = config.scheme.fast.bug_compat;
        Ok(Fast {
            engine,
            sequential: SequentialLog::default(),
            random: random_log(board, config),
            trims: TrimRecords::new(board.geometry()),
            records: RecordArea::new(board.geometry()),
            settings: config.scheme.fast.clone(),
        })
    }

    #[inline]
    fn read(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<(When, Tag), Fault> {
        match self.engine.newest(board.nand(), io.lpn) {
            Some(ppn) => board.read(ppn, io.cause, after),
            None => board.read_unwritten(io.lpn, after),
        }
    }

    #[inline]
    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let mut when = after;
        while self.random.is_over_limit() {
            when = self.reclaim(board, when)?;
        }
        let done = loop {
            let row = self.row(board, io);
            if row == Row::Random && self.random.is_exhausted() {
                // The merge may give the page a free place: the table is asked again.
                when = self.reclaim(board, when)?;
                continue;
            }
            if row == Row::Sequential(SequentialRule::MergeThenOpen) {
                // Row 3, SW full and in order: switch merge. Row 4, SW partly full: partial merge
                // (full, if RW holds newer copies of SW's pages). Then row 2, as SW is empty.
                when = self.sequential.merge(board, &mut self.engine, None, when)?;
                continue;
            }
            match self.perform(board, row, io, when) {
                // The RW block is closed; another may need a merge first.
                Err(Fault::ProgramFailed { known, .. }) if row == Row::Random => when = known,
                other => break other?,
            }
        };
        self.trims.written(io.lpn);
        Ok(done)
    }

    fn trim(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        if self.engine.forget(board, io.lpn) {
            self.trims.trim(io.lpn);
        }
        Ok(after)
    }

    fn flush(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        self.records.flush(board, &mut self.engine.supply, &mut self.trims, after)
    }

    fn idle(&mut self, _: &mut Board, _: When) -> Result<Option<When>, Fault> {
        Ok(None)
    }

    fn self_check(&self, board: &Board) -> Result<(), String> {
        let sequential = u32::from(self.sequential.open_log().is_some());
        self.engine.self_check(board, sequential + self.random.len() + self.records.len())
    }

    fn locate(&self, board: &Board, lpn: Lpn) -> Location {
        self.engine.newest(board.nand(), lpn).map_or(Location::Nowhere, Location::Flash)
    }

    fn unsettled(&self, _: &Board) -> Unsettled {
        Unsettled::default()
    }

    fn room(&self) -> Room {
        Room { free_blocks: self.random.free_blocks(), threshold: 1 }
    }

    fn power_off(self) -> Self::Survivor {}

    fn recover(
        board: &mut Board,
        config: &Config,
        _: u64,
        (): (),
        after: When,
    ) -> Result<(Self, When), Fault> {
        // Step 1: the newest copies, by sequence number and flushed trims.
        let (survey, trims, scanned) = Survey::take(board, after)?;
        // Step 2: what holds none of them is erased; the rest gets roles.
        let (supply, erased) = BlockSupply::recover(board, config, Survey::role, scanned)?;
        let roles = Survey::roles(board);
        let mut fast = Fast::format(board, config, 0)?;
        fast.trims = trims;
        fast.engine.supply = supply;
        log_recovery::fill(board, &mut fast.engine, &survey, &roles);
        let leftovers = fast.resume(board, roles);
        // Step 3: interrupted merges are finished.
        let mut done = erased;
        for block in &leftovers {
            let (engine, log) = (&mut fast.engine, &mut fast.random);
            done = log_recovery::evacuate(board, engine, log, block, done)?;
        }
        Ok((fast, done))
    }
}

fn random_log(board: &Board, config: &Config) -> RandomLog {
    let blocks = log_blocks(config) as u32 - 1;
    RandomLog::new(board.nand(), blocks, config.scheme.fast.victim)
}

impl Fast {
    /// Asks the decision table.
    #[inline]
    fn row(&self, board: &Board, io: &PageIo) -> Row {
        // Row 0, no data block, and row 1, the data page is erased. Before anything sequential:
        // spec 5.4, point 32.
        if self.settings.first_write == FirstWrite::DataBlock
            && self.engine.data.takes_in_place(board.nand(), io.lpn)
        {
            return Row::InPlace;
        }
        let may_open = match self.settings.detector {
            Detector::OffsetZero => true,
            Detector::RequestSize => io.request.pages >= self.settings.detector_pages,
        };
        let place = Lbn::of(board.geometry(), io.lpn);
        match self.sequential.judge(place, may_open) {
            Some(SequentialRule::Rewrite) if self.settings.sw_rewrite == RewriteRule::ToRandom => {
                Row::Random
            }
            Some(SequentialRule::Gap) if self.settings.sw_gap == GapRule::ToRandom => Row::Random,
            Some(rule) => Row::Sequential(rule),
            // Row 8, anything else.
            None => Row::Random,
        }
    }

    fn perform(
        &mut self,
        board: &mut Board,
        row: Row,
        io: &PageIo,
        after: When,
    ) -> Result<When, Fault> {
        let engine = &mut self.engine;
        match row {
            // Rows 0 and 1: a data block if there is none; the page goes to its place, no log.
            Row::InPlace => {
                board.event(Event::InPlaceWrites, 1);
                engine.write_in_place(board, io, after)
            }
            // Row 2: SW is empty; it is opened for this logical block with this page.
            Row::Sequential(SequentialRule::Open) => self.sequential.open(board, engine, io, after),
            Row::Sequential(SequentialRule::MergeThenOpen) => {
                unreachable!("rows 3 and 4 end in row 2, which is asked for anew")
            }
            // Row 5: the owner's next page; the older copy becomes invalid.
            Row::Sequential(SequentialRule::Append) => {
                self.sequential.append(board, engine, io, after)
            }
            // Row 6: SW and data block are merged into a new block, the page inside.
            Row::Sequential(SequentialRule::Rewrite) => {
                self.sequential.merge_in_full(board, engine, Some(io), after)
            }
            // Row 7: SW is completed, the page put at its own place on the way.
            Row::Sequential(SequentialRule::Gap) => match self.settings.sw_gap {
                GapRule::FullMerge => self.sequential.merge_in_full(board, engine, Some(io), after),
                _ => self.sequential.merge(board, engine, Some(io), after),
            },
            // Row 8: the next page of the current RW block; the older copy becomes invalid.
            Row::Random => self.random.append(board, engine, io, after),
        }
    }

    /// Merges one RW block and erases it.
    #[cold]
    fn reclaim(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let (place, after) = self.random.choose(board, after);
        let victim = self.random.block(place);
        if self.settings.rw_switch_check
            && let Some(done) = self.engine.try_switch(board, victim, after)?
        {
            self.random.remove(place);
            return Ok(done);
        }
        let done = self.engine.reclaim(board, victim, &mut self.sequential, after)?;
        self.random.remove(place);
        Ok(done)
    }

    /// Takes over the log and record blocks found after a power cut; returns those that hold the
    /// rest of a data block whose successor is there, or are too many for the log.
    fn resume(&mut self, board: &Board, roles: Roles) -> Vec<Survivor> {
        for block in roles.records {
            self.records.resume(board.nand(), block);
        }
        let succeeded = |log: &Survivor| log_recovery::is_succeeded(board, &self.engine, log);
        let (mut leftovers, mut logs): (Vec<_>, Vec<_>) =
            roles.logs.into_iter().partition(succeeded);
        // The youngest log block that is the beginning of a logical block goes on as SW.
        let sequential = |log: &Survivor| log.home.is_some() && log.prefix.is_some();
        if let Some(place) = logs.iter().rposition(sequential) {
            let log = logs.remove(place);
            let open = log.home.zip(log.prefix).map(|(owner, next)| OpenLog {
                block: log.block,
                owner,
                next,
            });
            self.sequential = SequentialLog::resumed(open);
        }
        let limit = self.random.free_blocks() as usize;
        while logs.len() > limit {
            let Some(place) = logs.iter().position(|log| log.home.is_some()) else {
                break;
            };
            leftovers.push(logs.remove(place));
        }
        for log in logs {
            self.random.resume(board.nand(), log.block);
        }
        leftovers
    }
}
