//! # Idea
//! Data is mapped by whole blocks; all updates share a small log that is mapped by pages. One log
//! block takes sequential writes, so that it can become a data block without copies.
//!
//! # Paper
//! Lee, Park, Chung et al., "A log buffer-based flash translation layer using fully-associative
//! sector translation", ACM TECS 6(3), 2007; merges as in DFTL 2014, section 2, Figs 5 and 6.
//! Rows are those of the decision table in `docs/papers/others.md#fast`.
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
//! The decision table, from row 0: `parts::fast_rules`, which FASTer shares.
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
//! page without a newer copy costs nothing, unlike in the public code (corner case d there;
//! `fast.bug_compat` charges its program); SW merges look for newer copies in RW (corner case c:
//! not to look loses data, so no setting does that). A sequential log block in which nothing is
//! valid is erased, not merged.
//!
//! # Settings
//! Group `fast`.

use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::when::When;
use ftlab_flash::choices;
use ftlab_flash::memory::RamUse;
use ftlab_flash::request::PageIo;
use ftlab_flash::settings;
use ftlab_flash::settings::{Optional, SettingError};
use ftlab_ftl::forward;
use ftlab_ftl::parts::block_mapped::{self, BlockMapped, FirstWrite, LogBase};
use ftlab_ftl::parts::fast_rules::{FastLog, FastRules, GapRule, RewriteRule, Stream};
use ftlab_ftl::parts::log_index::LogIndex;
use ftlab_ftl::parts::random_log::{LogVictim, RandomLog};
use ftlab_ftl::parts::request_size::{RequestSize, SizeRule};
use ftlab_ftl::parts::sequential_log::SequentialLog;
use ftlab_ftl::scheme::SchemeConfig;
use ftlab_ftl::scheme::{Classification, Family, Paper, Scheme};

choices! {
    /// What is taken for the beginning of a sequential stream.
    pub enum Detector {
        /// Any write of offset 0.
        OffsetZero = "offset_zero",
        /// A write of offset 0 in a request of at least `fast.detector_pages` pages.
        RequestSize = "request_size",
    }
}

/// What this scheme sees of the settings.
pub(crate) type Config = SchemeConfig<FastSettings>;

settings! {
    /// Settings of `fast`.
    pub struct FastSettings in "fast" {
        /// Log blocks (SW and RW together) in percent of fast.log_base, rounded up to at least 2; a
        /// plain number, 3 for 3 %.
        log_pct: f64 = 3.0, legal("1..=100", |v| (1.0..=100.0).contains(v)),
            source("DFTL 2014, 2; ADAPT 2012, II");
        /// What fast.log_pct is a share of.
        log_base: LogBase = LogBase::Capacity, legal("", |_| true),
            source("DFTL 2014, 4: the active region; 2: of total flash size");
        /// Log blocks as a number; auto: by fast.log_pct.
        log_blocks: Optional<u32> = Optional(None),
            legal("auto, or 2..=16777216", |v| v.0.is_none_or(|n| (2..=1 << 24).contains(&n))),
            source("ftlab");
        /// Which RW block is merged when the log is full.
        victim: LogVictim = LogVictim::Fifo, legal("", |_| true), source("ADAPT 2012, II");
        /// Row 7: a write of SW's owner beyond the next page.
        sw_gap: GapRule = GapRule::PartialWithRequest, legal("", |_| true),
            source("docs/papers/others.md#fast: FlashSim");
        /// Row 6: a write of a page that SW holds.
        sw_rewrite: RewriteRule = RewriteRule::FullMerge, legal("", |_| true),
            source("docs/papers/others.md#fast: FlashSim");
        /// Rows 0 and 1: where the first write of a page goes.
        first_write: FirstWrite = FirstWrite::DataBlock, legal("", |_| true),
            source("DFTL 2014, 2");
        /// Whether an RW victim that holds one logical block in order is switched, not merged.
        rw_switch_check: bool = false, legal("", |_| true),
            source("docs/papers/others.md#fast: FlashSim has none");
        /// Rows 2 to 4: which write of offset 0 begins a sequential stream.
        detector: Detector = Detector::OffsetZero, legal("", |_| true), source("FAST 2007");
        /// Whether merges of RW blocks also program the places of invalid data pages of which there
        /// is no newer copy, as the public code does by mistake. As no copy is ever overlooked
        /// here, only trimmed pages are such: without trims it changes nothing.
        bug_compat: bool = false, legal("", |_| true),
            source("docs/papers/others.md#fast, corner case d");
        /// Pages of a request that is sequential under fast.detector = request_size.
        detector_pages: u32 = 2, legal("1..=4096", |v| (1..=4096).contains(v)),
            source("LAST 2008");
    }
}

/// The name under which the scheme table finds this file's scheme.
pub type Rostered = Fast;

/// FAST.
#[derive(Clone)]
pub struct Fast {
    log: FastLog,
    long: RequestSize,
    settings: FastSettings,
}

/// Nlog: log blocks, the sequential one among them.
fn log_blocks(config: &Config) -> u64 {
    let FastSettings { log_pct, log_base, log_blocks, .. } = &config.own;
    block_mapped::log_blocks_of(&config.device, *log_base, (*log_pct, log_blocks.0), 2)
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
        class: Classification::with_log(
            "1 sequential + (M-1) random",
            "random N:(M-1), sequential 1:1",
        ),
    };
    type Settings = FastSettings;
    type Survivor = ();

    fn check(config: &Config) -> Result<(), SettingError> {
        config.own.log_base.check(&config.device, "fast.log_base")
    }

    fn minimum_blocks(config: &Config) -> u64 {
        BlockMapped::minimum_blocks(config, log_blocks(config))
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
    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let stream = Stream::AtOffsetZero(match self.settings.detector {
            Detector::OffsetZero => true,
            Detector::RequestSize => self.long.is_long(&io.request),
        });
        let switch = self.settings.rw_switch_check;
        let reclaim =
            |log: &mut FastLog, board: &mut Board, when| reclaim(log, board, switch, when);
        let (_, done) = self.log.write(board, io, stream, reclaim, after)?;
        Ok(done)
    }

    fn self_check(&self, board: &Board) -> Result<(), String> {
        self.log.self_check(board, 0)
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
        let mut fast = Fast::on(base, board, config);
        let done = fast.log.resume(board, found, |_, _| false, erased)?;
        Ok((fast, done))
    }
}

impl Fast {
    /// Without a log block yet.
    fn on(mut base: BlockMapped, board: &Board, config: &Config) -> Self {
        let settings = config.own.clone();
        base.engine.copies_invalid = settings.bug_compat;
        let random = RandomLog::new(board.nand(), log_blocks(config) as u32 - 1, settings.victim);
        let long = RequestSize::new(settings.detector_pages, SizeRule::AtLeast, false);
        let rules = FastRules {
            first_write: settings.first_write,
            rewrite: settings.sw_rewrite,
            gap: settings.sw_gap,
        };
        Fast { log: FastLog::new(base, random, rules), long, settings }
    }
}

/// Merges one RW block and erases it.
#[cold]
fn reclaim(
    log: &mut FastLog,
    board: &mut Board,
    switch_check: bool,
    after: When,
) -> Result<When, Fault> {
    let (place, after) = log.random.choose(board, after);
    let victim = log.random.block(place);
    if switch_check && let Some(done) = log.base.engine.try_switch(board, victim, after)? {
        log.random.remove(place);
        return Ok(done);
    }
    let done = log.base.engine.reclaim(board, victim, &mut log.sequential, after)?;
    log.random.remove(place);
    Ok(done)
}
