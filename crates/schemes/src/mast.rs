//! # Idea
//! A hybrid scheme whose log blocks are shared by all and written over every bank of the device at
//! once. Merging a logical block pays when many of its log pages go with it and none is expected
//! soon: when the log is full, pages of such blocks are merged, the others move on in the log.
//!
//! # Paper
//! Shim, Park, Park, "A hybrid flash translation layer with adaptive merge for SSDs", ACM TOS 6(4),
//! 2011. Not read for this file: what is here is ADAPT 2012's description (section III.C) and the
//! abstract; `docs/papers/others.md#mast`.
//!
//! # Structures
//! P: pages per block. Nlog: log blocks. Block table; log page table of Nlog * P entries; for each
//! logical block the number of its live log pages and the time of its last write, in page writes
//! of the host (both 4 bytes). The log blocks of each stripe in the order of their opening.
//!
//! # Read
//! The log page if the log page table says so, else the data page.
//!
//! # Write
//! As FAST without a sequential block: the first write of a page goes to its place in the data
//! block, any other to the log. Successive log pages go to successive stripes.
//!
//! # Reclaim
//! When the stripe whose turn it is is full, its oldest block is the victim. For each of its valid
//! pages: if the logical block is cold and has more live log pages than `merge_min_pages`, it is
//! merged; otherwise the page moves to another log block of the stripe. Before pages move, as long
//! as the victim would give fewer than `min_gain` free pages, that logical block of the victim is
//! merged which has most live log pages, cold or not: every reclaim ends with more free pages than
//! it began with, so that none follows another for ever.
//!
//! # Recovery
//! As FAST. Live log pages are counted anew. Times of last writes are lost: every logical block
//! counts as written at the cut.
//!
//! # Deviations
//! Data blocks are not joined to units that are striped themselves: each lies in its plane, as in
//! every log-block scheme here. Moved pages stay in their stripe, so that all stripes are filled
//! alike. The time of the last write is 32 bits wide: a logical block that nobody wrote for 2^32
//! page writes counts as warm once more.
//!
//! # Settings
//! Group `mast`. There is one rule of what is cold, so that the setting is its length,
//! `cold_window`, where a choice of rules could stand.

use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::settings::TimingProfile;
use ftlab_flash::board::when::When;
use ftlab_flash::memory::RamUse;
use ftlab_flash::meter::{Cause, Event, Level};
use ftlab_flash::request::PageIo;
use ftlab_flash::settings;
use ftlab_flash::settings::Optional;
use ftlab_flash::units::{BlockId, Ppn, zeroed};
use ftlab_ftl::forward;
use ftlab_ftl::parts::block_mapped::{self, BlockMapped, FirstWrite};
use ftlab_ftl::parts::data_blocks::Lbn;
use ftlab_ftl::parts::log_index::LogIndex;
use ftlab_ftl::parts::merge_engine::{MergeEngine, lbn_of_page, lpn_of_page};
use ftlab_ftl::parts::random_log::{LogVictim, RandomLog};
use ftlab_ftl::parts::striped_log::StripedLog;
use ftlab_ftl::scheme::SchemeConfig;
use ftlab_ftl::scheme::{Classification, Family, Paper, Scheme};

/// What this scheme sees of the settings.
pub(crate) type Config = SchemeConfig<MastSettings>;

settings! {
    /// Settings of `mast`.
    pub struct MastSettings in "mast" {
        /// Log blocks in percent of the logical capacity, rounded up to at least one per stripe; a
        /// plain number, 3 for 3 %.
        log_pct: f64 = 3.0, legal("1..=100", |v| (1.0..=100.0).contains(v)),
            source("ADAPT 2012, II");
        /// Log blocks as a number, at least one per stripe; auto: by mast.log_pct.
        log_blocks: Optional<u32> = Optional(None),
            legal("auto, or 1..=16777216", |v| v.0.is_none_or(|n| (1..=1 << 24).contains(&n))),
            source("ftlab");
        /// Log blocks written side by side; auto: one per die (channels times ways), 1 on a serial
        /// device.
        stripe: Optional<u32> = Optional(None),
            legal("auto, or 1..=4096", |v| v.0.is_none_or(|n| (1..=4096).contains(&n))),
            source("docs/papers/others.md#mast");
        /// Which block of the stripe is reclaimed.
        victim: LogVictim = LogVictim::Fifo, legal("", |_| true),
            source("docs/papers/others.md#mast");
        /// Live log pages: a logical block with more is merged if it is cold; auto: an eighth of a
        /// block.
        merge_min_pages: Optional<u32> = Optional(None),
            legal("auto, or 0..=65536", |v| v.0.is_none_or(|n| n <= 1 << 16)),
            source("docs/papers/others.md#mast");
        /// Page writes of the host without one to a logical block after which it is cold; auto: as
        /// many as the log has pages.
        cold_window: Optional<u32> = Optional(None), legal("", |_| true),
            source("docs/papers/others.md#mast");
        /// Free pages that a reclaim must give, at most all of a block; auto: an eighth of a block.
        min_gain: Optional<u32> = Optional(None),
            legal("auto, or 1..=65536", |v| v.0.is_none_or(|n| (1..=1 << 16).contains(&n))),
            source("docs/papers/others.md#mast: 8 of 64");
        /// Where the first write of a page goes.
        first_write: FirstWrite = FirstWrite::DataBlock, legal("", |_| true),
            source("docs/papers/others.md#mast");
    }
}

/// The name under which the scheme table finds this file's scheme.
pub type Rostered = Mast;

/// MAST.
#[derive(Clone)]
pub struct Mast {
    base: BlockMapped,
    log: StripedLog,
    choice: Choice,
    first_write: FirstWrite,
}

/// Who is merged and who moves on.
#[derive(Clone)]
struct Choice {
    /// Page writes of the host.
    now: u32,
    /// The same at the last write of each logical block.
    written: Vec<u32>,
    merge_min_pages: u32,
    cold_window: u32,
    min_gain: u32,
}

/// Log blocks open at a time.
fn stripes(config: &Config) -> u32 {
    let device = &config.device;
    config.own.stripe.0.unwrap_or(match config.timing.profile {
        TimingProfile::Serial => 1,
        _ => Geometry::new(device).dies(),
    })
}

/// Nlog.
fn log_blocks(config: &Config) -> u64 {
    let MastSettings { log_pct, log_blocks, .. } = &config.own;
    block_mapped::log_blocks(&config.device, *log_pct, log_blocks.0, u64::from(stripes(config)))
}

impl Scheme for Mast {
    const PAPER: Paper = Paper {
        name: "mast",
        title: "A hybrid flash translation layer with adaptive merge for SSDs",
        authors: "Shim, Park, Park",
        venue: "ACM TOS 6(4)",
        year: 2011,
        sections: "striped shared log blocks; adaptive merge, as described by ADAPT 2012",
        deviations: &[
            "data blocks are not joined to striped units",
            "a moved page stays in its stripe",
            "a reclaim that would gain too little merges the logical blocks with most log pages \
             whatever their temperature",
            "after a power cut every logical block counts as just written",
            "trims and their record pages are added",
        ],
        family: Family::LogBlock,
        class: Classification::with_log("shared by all, one open per bank", "N:M"),
    };
    type Settings = MastSettings;
    type Survivor = ();

    fn minimum_blocks(config: &Config) -> u64 {
        // A victim and the block that takes its pages exist side by side.
        BlockMapped::minimum_blocks(config, log_blocks(config) + 1)
    }

    fn ram_use(config: &Config) -> Vec<RamUse> {
        let geometry = Geometry::new(&config.device);
        let logs = log_blocks(config);
        let own = [
            ("log_page_table", LogIndex::ram_bytes(&geometry, logs)),
            ("log_lists", logs * 4),
            ("live_log_pages", LogIndex::live_ram_bytes(&geometry)),
            ("last_writes", u64::from(geometry.logical_blocks()) * 4),
        ];
        BlockMapped::ram_use(config, &own)
    }

    fn format(board: &mut Board, config: &Config, _: u64) -> Result<Self, Fault> {
        Ok(Mast::on(BlockMapped::new(board, config), board, config))
    }

    #[inline]
    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let mut when = self.base.merge_strays(board, &mut (), after)?;
        self.choice.wrote(Lbn::of(board.geometry(), io.lpn).0);
        let in_place = self.first_write == FirstWrite::DataBlock;
        let done = loop {
            if in_place && self.base.takes_in_place(board, io.lpn) {
                break self.base.write_in_place(board, io, when)?;
            }
            let engine = &mut self.base.engine;
            if let Some(stripe) = self.log.exhausted() {
                // The merge may give the page a free place: it is looked for again.
                when = self.choice.reclaim(board, engine, stripe, when)?;
                continue;
            }
            match self.log.append(board, engine, io, when) {
                // The log block is closed; another may need a merge first.
                Err(Fault::ProgramFailed { known, .. }) => when = known,
                other => break other?,
            }
        };
        board.level(Level::RandomLogBlocks, u64::from(self.log.len()));
        self.base.written(io.lpn);
        Ok(done)
    }

    fn self_check(&self, board: &Board) -> Result<(), String> {
        self.base.engine.logs.self_check()?;
        self.base.self_check(board, self.log.len())
    }

    forward!(base: payload_pages, read, trim, flush, locate);
    forward!(log: room);

    fn power_off(self) -> Self::Survivor {}

    fn recover(
        board: &mut Board,
        config: &Config,
        _: u64,
        (): (),
        after: When,
    ) -> Result<(Self, When), Fault> {
        let (base, found, erased) = BlockMapped::recover(board, config, after)?;
        let mut mast = Mast::on(base, board, config);
        let free = mast.log.free_blocks();
        mast.base.hand_over_youngest(board, &found.logs, free, |board, log| {
            let taken = mast.log.resume(board.nand(), log.block);
            assert!(taken, "{} log blocks found room for", found.logs.len().min(free as usize));
            taken
        });
        let done = mast.base.evacuate(board, &found.leftovers, erased)?;
        Ok((mast, done))
    }
}

impl Mast {
    /// Without a log block yet.
    fn on(mut base: BlockMapped, board: &Board, config: &Config) -> Self {
        base.engine.logs.count_live();
        let settings = &config.own;
        let pages = board.geometry().pages_per_block;
        let logs = log_blocks(config) as u32;
        let choice = Choice {
            now: 0,
            written: zeroed(board.geometry().logical_blocks() as usize),
            merge_min_pages: settings.merge_min_pages.0.unwrap_or(pages / 8),
            cold_window: settings.cold_window.0.unwrap_or(logs.saturating_mul(pages)),
            min_gain: settings.min_gain.0.unwrap_or((pages / 8).max(1)).min(pages),
        };
        let log = StripedLog::new(board.nand(), logs, settings.victim, stripes(config));
        Mast { base, log, choice, first_write: settings.first_write }
    }
}

impl Choice {
    /// The host writes a page of a logical block.
    #[inline]
    fn wrote(&mut self, lbn: Lbn) {
        self.now = self.now.wrapping_add(1);
        self.written[lbn.index()] = self.now;
    }

    /// Not written for the length of the window.
    fn is_cold(&self, lbn: Lbn) -> bool {
        self.now.wrapping_sub(self.written[lbn.index()]) >= self.cold_window
    }

    /// Reclaims a log block of a stripe.
    #[cold]
    fn reclaim(
        &self,
        board: &mut Board,
        engine: &mut MergeEngine,
        stripe: &mut RandomLog,
        after: When,
    ) -> Result<When, Fault> {
        let (place, when) = stripe.choose(board, after);
        let victim = stripe.block(place);
        if board.nand().valid_pages(victim) == 0 {
            board.event(Event::DeadLogBlocks, 1);
        }
        let (rebuilt, merged) = self.merge(board, engine, victim, when)?;
        // The other pages move on.
        let (mut done, mut offset) = (merged, 0);
        while let Some(page) = board.nand().state().next_valid(victim, offset) {
            offset = board.geometry().offset_of(page) + 1;
            let moved = (lpn_of_page(board, page), page);
            let copied = stripe.append_copy(board, engine, moved, Cause::Migrate, merged)?;
            done = done.join(copied);
            board.event(Event::MigratedPages, 1);
        }
        if rebuilt > 0 {
            board.merge_full(rebuilt);
        }
        let erased = engine.release_log(board, victim, done)?;
        stripe.remove(place);
        Ok(erased)
    }

    /// Merges the logical blocks of a victim whose merge pays, and those that must be: how many.
    fn merge(
        &self,
        board: &mut Board,
        engine: &mut MergeEngine,
        victim: BlockId,
        after: When,
    ) -> Result<(u32, When), Fault> {
        let (mut rebuilt, mut done, mut offset) = (0, after, 0);
        // Cold, and enough live log pages.
        while let Some(page) = board.nand().state().next_valid(victim, offset) {
            offset = board.geometry().offset_of(page) + 1;
            let lbn = lbn_of_page(board, page);
            if self.is_cold(lbn) && engine.logs.live(lbn) > self.merge_min_pages {
                let (blocks, merged) = Self::merge_block(board, engine, page, after)?;
                (rebuilt, done) = (rebuilt + blocks, done.join(merged));
            }
        }
        // The gain guard.
        let pages = board.geometry().pages_per_block;
        while pages - board.nand().valid_pages(victim) < self.min_gain {
            let most = self.most_live(board, engine, victim).expect("a full block has valid pages");
            let (blocks, merged) = Self::merge_block(board, engine, most, after)?;
            (rebuilt, done) = (rebuilt + blocks, done.join(merged));
        }
        Ok((rebuilt, done))
    }

    /// Merges the logical block of one log page.
    fn merge_block(
        board: &mut Board,
        engine: &mut MergeEngine,
        page: Ppn,
        after: When,
    ) -> Result<(u32, When), Fault> {
        let live = engine.logs.live(lbn_of_page(board, page));
        let merged = engine.merge_page(board, page, &mut (), after)?;
        board.event(Event::MergedLogPages, u64::from(live));
        Ok(merged)
    }

    /// A victim's first page of the logical block with most live log pages.
    fn most_live(&self, board: &Board, engine: &MergeEngine, victim: BlockId) -> Option<Ppn> {
        let (mut best, mut most, mut offset) = (None, 0, 0);
        while let Some(page) = board.nand().state().next_valid(victim, offset) {
            offset = board.geometry().offset_of(page) + 1;
            let live = engine.logs.live(lbn_of_page(board, page));
            if live > most {
                (best, most) = (Some(page), live);
            }
        }
        best
    }
}
