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
use crate::parts::block_mapped::{self, BlockMapped, FirstWrite};
use crate::parts::block_survey::Survivor;
use crate::parts::data_blocks::Lbn;
use crate::parts::log_index::LogIndex;
use crate::parts::log_recovery;
use crate::parts::random_log::{LogVictim, RandomLog};
use crate::parts::request_size::{RequestSize, SizeRule};
use crate::parts::sequential_log::{SequentialLog, SequentialRule};
use crate::request::PageIo;
use crate::schemes::{Classification, Family, Location, Paper, RamUse, Room, Scheme, Unsettled};
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
    base: BlockMapped,
    sequential: SequentialLog,
    random: RandomLog,
    long: RequestSize,
    settings: FastSettings,
}

/// Nlog: log blocks, the sequential one among them.
fn log_blocks(config: &Config) -> u64 {
    let FastSettings { log_pct, log_blocks, .. } = &config.scheme.fast;
    block_mapped::log_blocks(&config.device, *log_pct, log_blocks.0, 2)
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
        BlockMapped::minimum_blocks(config, log_blocks(config))
    }

    fn payload_pages(config: &Config) -> u64 {
        BlockMapped::payload_pages(config)
    }

    fn ram_use(config: &Config) -> Vec<RamUse> {
        let geometry = Geometry::new(&config.device);
        let logs = log_blocks(config);
        let own = [
            ("log_page_table", LogIndex::ram_bytes(&geometry, logs)),
            ("random_log_list", (logs - 1) * 4),
            ("sequential_block", SequentialLog::RAM_BYTES),
        ];
        BlockMapped::ram_use(config, &own)
    }

    fn format(board: &mut Board, config: &Config, _: u64) -> Result<Self, Fault> {
        Ok(Fast::on(BlockMapped::new(board, config), board, config))
    }

    #[inline]
    fn read(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<(When, Tag), Fault> {
        self.base.read(board, io, after)
    }

    #[inline]
    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let mut when = self.base.merge_strays(board, &mut self.sequential, after)?;
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
                when = self.sequential.merge(board, &mut self.base.engine, None, when)?;
                continue;
            }
            match self.perform(board, row, io, when) {
                // The RW block is closed; another may need a merge first.
                Err(Fault::ProgramFailed { known, .. }) if row == Row::Random => when = known,
                other => break other?,
            }
        };
        self.base.written(io.lpn);
        Ok(done)
    }

    fn trim(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        self.base.trim(board, io);
        Ok(after)
    }

    fn flush(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        self.base.flush(board, after)
    }

    fn idle(&mut self, _: &mut Board, _: When) -> Result<Option<When>, Fault> {
        Ok(None)
    }

    fn self_check(&self, board: &Board) -> Result<(), String> {
        let sequential = u32::from(self.sequential.open_log().is_some());
        self.base.self_check(board, sequential + self.random.len())
    }

    fn locate(&self, board: &Board, lpn: Lpn) -> Location {
        self.base.locate(board, lpn)
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
        let (base, found, erased) = BlockMapped::recover(board, config, after)?;
        let mut fast = Fast::on(base, board, config);
        fast.resume(board, found.logs);
        // Interrupted merges are finished.
        let mut done = erased;
        for block in &found.leftovers {
            let (engine, log) = (&mut fast.base.engine, &mut fast.random);
            done = log_recovery::evacuate(board, engine, log, block, done)?;
        }
        Ok((fast, done))
    }
}

impl Fast {
    /// Without a log block yet.
    fn on(mut base: BlockMapped, board: &Board, config: &Config) -> Self {
        let settings = config.scheme.fast.clone();
        base.engine.copies_invalid = settings.bug_compat;
        let random = RandomLog::new(board.nand(), log_blocks(config) as u32 - 1, settings.victim);
        let long = RequestSize::new(settings.detector_pages, SizeRule::AtLeast, false);
        Fast { base, sequential: SequentialLog::default(), random, long, settings }
    }

    /// Asks the decision table.
    #[inline]
    fn row(&self, board: &Board, io: &PageIo) -> Row {
        // Row 0, no data block, and row 1, the data page is erased. Before anything sequential:
        // spec 5.4, point 32.
        if self.settings.first_write == FirstWrite::DataBlock
            && self.base.takes_in_place(board, io.lpn)
        {
            return Row::InPlace;
        }
        let may_open = match self.settings.detector {
            Detector::OffsetZero => true,
            Detector::RequestSize => self.long.is_long(io.request.pages),
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
        let engine = &mut self.base.engine;
        match row {
            // Rows 0 and 1: a data block if there is none; the page goes to its place, no log.
            Row::InPlace => self.base.write_in_place(board, io, after),
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
            && let Some(done) = self.base.engine.try_switch(board, victim, after)?
        {
            self.random.remove(place);
            return Ok(done);
        }
        let done = self.base.engine.reclaim(board, victim, &mut self.sequential, after)?;
        self.random.remove(place);
        Ok(done)
    }

    /// Takes over the log blocks found after a power cut.
    fn resume(&mut self, board: &Board, mut logs: Vec<Survivor>) {
        // The youngest one that is the beginning of a logical block goes on as SW.
        let sequential = |log: &Survivor| SequentialLog::found(log).filter(|open| open.first == 0);
        if let Some(place) = logs.iter().rposition(|log| sequential(log).is_some()) {
            self.sequential = SequentialLog::resumed(sequential(&logs.remove(place)));
        }
        let free = self.random.free_blocks() as usize;
        let surplus = logs.len().saturating_sub(free);
        for (number, log) in logs.iter().enumerate() {
            // Too many for the log, after a merge that was cut: the oldest are merged first.
            match number < surplus {
                true => self.base.stray(board, log),
                false => self.random.resume(board.nand(), log.block),
            }
        }
    }
}
