//! # Idea
//! TPFTL plus a small model of each translation page that says where pages lie, so that a miss of
//! the cache needs no map read where the model is known to be exact. Collection keeps it exact: it
//! writes the pages of a group in their order, and trains the models with them.
//!
//! # Paper
//! Wang, Lin, Wu, Jiang, Zhang, Mao: LearnedFTL: A Learning-based Page-level FTL for Reducing
//! Double Reads in Flash-based SSDs, HPCA 2024; as its abstract and its public code show it
//! (`docs/papers/learnedftl2024.md`).
//!
//! # Structures
//! TPFTL's cache (`tpftl.*`). For each translation page: eight pieces (last place, slope,
//! intercept) and a bit for each of its E pages, "the model is exact here". A place is a VPPN, the
//! number of a page in the order in which a line is filled. Blocks are lines over all planes; a
//! group of `learnedftl.trans_per_group` translation pages, as many as a line holds the pages of,
//! has one open line.
//!
//! # Read
//! Entry cached: one read. Bit set: the model says the page, one read, and the cache stays as it
//! is. Else TPFTL's miss: the map, then the page.
//!
//! # Write
//! Translate as TPFTL; program the next page of the group's line; clear the page's bit. Pages of a
//! request that lie in a row and are more than a piece knows replace it (slope 1).
//!
//! # Reclaim
//! When a group's line is full: (a) the group holds `learnedftl.gc_lines` lines or more: all are
//! collected together; (b) else the map's lines, if those are as many; (c) else, below
//! `learnedftl.free_lines` free lines, the group writes into the open line with most room
//! (`learnedftl.borrow`), and where none has any, the line that was closed first of a group with
//! more than one is collected: alone if the group's open line has room for it, else with its group.
//! Collecting: valid pages are written in the order of their numbers; translation pages with more
//! than `learnedftl.train_min` of them are trained: eight runs of equal size, least squares each,
//! bits where that is exact; then the translation page is written.
//!
//! # Recovery
//! As TPFTL. Models and bits are lost, also under `device.ram_nonvolatile`; collection trains them
//! again. A line belongs to the group of its first valid page.
//!
//! # Deviations
//! The paper was not at hand. Lines are the scheme's own (`alloc.unit = line` is refused), and
//! `alloc.order = dynamic` is the order of channels. Where no group gains a line, the closed line
//! with fewest valid pages is collected, its pages to any line that has room. Where no more than
//! one line is free, the map pages that a line needs are counted before it is said not to fit, and
//! the map's open line is collected for its superseded pages; behind a power cut that left no line
//! free, before anything else. Of a translation page cached entries are changed in memory alone
//! (lazy copying). Groups may be larger than a line.
//!
//! # Settings
//! Group `learnedftl`, and `tpftl`.

mod cache;
mod models;
mod settings;
#[cfg(test)]
mod tests;

pub use settings::{LearnedOwn, LearnedftlSettings, MapAfterGc};

use crate::learnedftl::cache::LearnedCache;
use crate::learnedftl::models::Models;
use crate::learnedftl::settings::Config;
use crate::tpftl::Tpftl;
use crate::tpftl::nodes::Nodes;
use crate::tpftl::sizes::entries_that_fit;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::memory::RamUse;
use ftlab_flash::meter::{Event, Level};
use ftlab_flash::request::PageIo;
use ftlab_flash::settings::SettingError;
use ftlab_flash::units::{Lpn, Tag};
use ftlab_ftl::answers::{Location, Room};
use ftlab_ftl::parts::demand_mapped::{DemandMapped, Kept};
use ftlab_ftl::scheme::{Classification, Family, Paper, Preset, Scheme};

/// The name under which the scheme table finds this file's scheme.
pub type Rostered = LearnedFtl;

/// TPFTL with models of where pages lie.
#[derive(Clone)]
pub struct LearnedFtl {
    tpftl: Tpftl<LearnedCache>,
    settings: LearnedftlSettings,
    /// Pages that models were last said to know.
    told: u64,
}

impl Scheme for LearnedFtl {
    const PAPER: Paper = Paper {
        name: "learnedftl",
        title: "LearnedFTL: A learning-based page-level FTL for reducing double reads in flash-based \
                SSDs",
        authors: "Wang, Lin, Wu, Jiang, Zhang, Mao",
        venue: "HPCA 2024",
        year: 2024,
        sections: "as its abstract and its public code show it",
        deviations: &[
            "the paper was not at hand; what its code leaves open is a setting",
            "where no group gains a line, the emptiest closed line is collected",
            "groups may be larger than a line",
            "recovery and trims are added",
        ],
        family: Family::CachedMap,
        class: Classification::PAGES,
    };
    const PRESETS: &'static [Preset] = &[
        ("unlearned", &[NEVER, ("learnedftl.sequential_init", "false")]),
        ("shared_lines", &[("learnedftl.group_lines", "false")]),
    ];
    type Settings = LearnedOwn;
    type Survivor = Kept<LearnedCache>;

    fn stands_on(_config: &Config) -> Option<&'static str> {
        Some("tpftl")
    }

    fn check(config: &Config) -> Result<(), SettingError> {
        settings::check(config)
    }

    fn minimum_blocks(config: &Config) -> u64 {
        settings::minimum_blocks(config)
    }

    fn payload_pages(config: &Config) -> u64 {
        settings::needs(config).payload_pages(&settings::on_lines(config))
    }

    fn ram_use(config: &Config) -> Vec<RamUse> {
        settings::ram_use(config)
    }

    fn format(board: &mut Board, config: &Config, seed: u64) -> Result<Self, Fault> {
        let (lines, needs) = (settings::on_lines(config), settings::needs(config));
        let base = DemandMapped::new(board, &lines, &needs, cache(board, config), seed);
        Ok(Self::on(base, board, config))
    }

    fn read(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<(When, Tag), Fault> {
        let map = &self.tpftl.base.map;
        let is_cached = map.cache.nodes.cmt().find(io.lpn).is_some();
        if !is_cached && let Some(ppn) = map.cache.models.predict(io.lpn) {
            board.event(Event::ModelReads, 1);
            // Its bit and its piece.
            let known = board.dram(2, after);
            return board.read(ppn, io.cause, known);
        }
        let answer = self.tpftl.read_page(board, io, after)?;
        self.tell(board);
        Ok(answer)
    }

    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let known = self.tpftl.translate(board, io, after)?;
        let base = &mut self.tpftl.base;
        base.space.write_for(io.lpn);
        let done = base.write(board, io, known)?;
        let new = base.map.cached(board, io.lpn).expect("the entry was translated");
        let groups = self.settings.group_lines;
        let home = new.filter(|&new| !groups || !base.space.is_guest(board, io.lpn, new));
        board.event(Event::BorrowedPages, u64::from(home.is_none()));
        if self.settings.sequential_init {
            let of_request = (io.request.index, io.request.pages);
            let learned = base.map.cache.models.page_written(io.lpn, home, of_request);
            cache::count(board, Event::ModelInitialisations, learned);
        }
        self.tell(board);
        Ok(done)
    }

    fn trim(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let known = self.tpftl.translate(board, io, after)?;
        self.tpftl.base.trim(board, io.lpn, known)
    }

    fn flush(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        self.tpftl.base.flush(board, after)
    }

    fn clean_map(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        self.tpftl.base.clean_map(board, after)
    }

    fn changed_entries(&self) -> u64 {
        self.tpftl.base.changed_entries()
    }

    fn idle(&mut self, board: &mut Board, after: When) -> Result<Option<When>, Fault> {
        self.tpftl.base.idle(board, after)
    }

    fn locate(&self, board: &Board, lpn: Lpn) -> Location {
        self.tpftl.base.locate(board, lpn)
    }

    fn room(&self) -> Room {
        self.tpftl.base.space.group_room().unwrap_or_else(|| self.tpftl.base.room())
    }

    fn self_check(&self, board: &Board) -> Result<(), String> {
        self.tpftl.base.self_check(board)?;
        let map = &self.tpftl.base.map;
        map.cache.models.check(|lpn| map.current(board, lpn))
    }

    fn power_off(mut self) -> Kept<LearnedCache> {
        self.tpftl.base.map.cache.models.forget();
        self.tpftl.base.keep()
    }

    fn recover(
        board: &mut Board,
        config: &Config,
        seed: u64,
        survivor: Kept<LearnedCache>,
        after: When,
    ) -> Result<(Self, When), Fault> {
        let (lines, needs) = (settings::on_lines(config), settings::needs(config));
        let empty = (entries_that_fit(&settings::cache(config)), cache(board, config));
        let (mut base, when) = survivor.recover(board, &lines, (&needs, seed), empty, after)?;
        let entries = base.map.cache.entries;
        let mut mapped = std::mem::take(&mut base.map.cache.models.mapped);
        mapped.fill(0);
        // The scan has seen every valid page.
        for lpn in 0..base.map.cache.logical_pages {
            let is_there = base.map.current(board, Lpn(lpn)).is_some();
            mapped[(lpn / entries) as usize] += u32::from(is_there);
        }
        base.map.cache.models.mapped = mapped;
        base.map.cache.models.forget();
        Ok((Self::on(base, board, config), when))
    }
}

/// No model is ever trained.
const NEVER: (&str, &str) = ("learnedftl.train_min", "4294967295");

/// An empty cache, and models that know nothing.
fn cache(board: &Board, config: &Config) -> LearnedCache {
    let own = &config.own.learnedftl;
    let geometry = board.geometry();
    let order = settings::on_lines(config).alloc.order;
    LearnedCache {
        nodes: Nodes::new(geometry, &settings::cache(config)),
        models: Models::new(geometry, order, own.train_min),
        entries: geometry.entries_per_page(),
        logical_pages: geometry.logical_pages,
        rewrites: own.map_after_gc == MapAfterGc::Rewrite && own.group_lines,
    }
}

impl LearnedFtl {
    fn on(mut base: DemandMapped<LearnedCache>, board: &mut Board, config: &Config) -> Self {
        let settings = config.own.learnedftl.clone();
        if settings.group_lines {
            base.space.divide_in_groups(board, settings::rules(config));
        }
        let tpftl = Tpftl::on(base, board, &settings::cache(config));
        LearnedFtl { tpftl, settings, told: 0 }
    }

    /// How many pages models know the place of, where that has changed.
    fn tell(&mut self, board: &mut Board) {
        let count = self.tpftl.base.map.cache.models.count();
        if self.told != count {
            self.told = count;
            board.level(Level::ModelledPages, count);
        }
    }
}
