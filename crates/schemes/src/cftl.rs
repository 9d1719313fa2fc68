//! # Idea
//! What is written often is mapped by pages, what is read often and not written by blocks, and what
//! changes its ways changes its map. Block-mapped data takes one entry of memory per block, and an
//! entry of the page map can cover a run of pages.
//!
//! # Paper
//! Park, Debnath, Du: CFTL: A Convertible Flash Translation Layer Adaptive to Data Access Patterns,
//! SIGMETRICS 2010; A Workload-Aware Adaptive Hybrid Flash Translation Layer with an Efficient
//! Caching Strategy, MASCOTS 2011; by their abstracts and `docs/papers/others.md#cftl`. Its parts
//! by file: the caching strategy here and in `cache`; what is worth a conversion in `candidates`,
//! conversions in `convert`.
//!
//! # Structures
//! Page map of everything on flash, with GTD and data blocks: DFTL's. Cached page table: entries
//! with a run length, each for up to 2^`cftl.run_len_bits` pages (`parts::page_runs`). Cached block
//! table: block and the pages that are there, by logical block (`parts::cached_blocks`). Both in
//! order of use, `cftl.cache_split` of the bytes for pages. Hot data detector: Bloom filters. Reads
//! and writes per logical block.
//!
//! # Read
//! Cached page table, cached block table, else the translation page is read: a block-mapped logical
//! block enters the block table, any other page the page table, with what goes on behind it.
//!
//! # Write
//! Always page-mapped, as under DFTL. A block-mapped logical block reverts: a change of tables
//! alone. A run broken in the middle becomes three.
//!
//! # Reclaim
//! DFTL's. A moved page of a block-mapped logical block reverts it too. Conversion: a logical block
//! with `cftl.read_thr` reads per write and no hot page is copied into a block of its own, each
//! page at its offset (`Cause::Convert`, at most P copies, none where they lie like that; pads
//! between them for pages that are nowhere), `cftl.convert_pages` at a time, behind writes that
//! collected and in gaps (`gc.mode = idle` or `both`). The block is taken like that of any write,
//! after collection where it is due, and withheld from collection while it is filled; where no
//! plane has room for a block, nothing is begun. The conversion is given up if the host changes one
//! of the pages or one gets hot before the end. Then the page map is written, and the logical block
//! is block-mapped. A page whose plane such blocks have filled goes to the plane with most room.
//!
//! # Recovery
//! Nothing but the flash: the out-of-band areas of all blocks are read, and nothing that completed
//! is lost. The page map on flash knows the pages of block-mapped logical blocks too, so that these
//! are merely forgotten to be. Under `device.ram_nonvolatile` both tables survive as they are;
//! counts, filters and a conversion under way do not. What a cut left outgrown leaves with the
//! first request. On a worn-out device nothing may be able to leave: then nothing comes in, and a
//! page that memory does not know is read by its translation page alone.
//!
//! # Deviations
//! The papers were not at hand: thresholds, window, steps and what the tables take are settings;
//! the tables' shares are fixed for a run. Which logical blocks are block-mapped is a bit each in
//! memory; where they are is derived from the page map on flash when their entry is not cached, and
//! checked then: levelling of wear may have moved them. A run begins with the page that was asked
//! for. A changed run that leaves takes every changed entry of its translation page along. Pads for
//! missing pages are ours, since a scan after a power cut looks no further than the first erased
//! page; a block with some can be collected like one with garbage. Recovery and trims are ours.
//! More memory does not always mean fewer misses: what an entry covers depends on collection.
//!
//! # Settings
//! `cftl.*`, and the groups `gc` and `alloc`.

mod cache;
mod candidates;
mod convert;
mod settings;
mod sizes;

pub use settings::{CftlSettings, ConvertWhen};

use cache::Cache;
use candidates::{Candidates, Job};
use sizes::{Sizes, minimum_blocks, ram_use, sizes};

use std::ops::RangeInclusive;

use crate::cftl::settings::Config;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::when::When;
use ftlab_flash::board::{Board, Search};
use ftlab_flash::memory::RamUse;
use ftlab_flash::meter::{Event, Level};
use ftlab_flash::request::PageIo;
use ftlab_flash::settings::SettingError;
use ftlab_flash::units::{BlockId, Lpn, Tag, pack};
use ftlab_ftl::forward;
use ftlab_ftl::parts::data_blocks::{Lbn, home_of};
use ftlab_ftl::parts::demand_mapped::{self, DemandMapped, Kept, Needs};
use ftlab_ftl::parts::map_cache::MapCache;
use ftlab_ftl::parts::told::Told;
use ftlab_ftl::scheme::{Classification, Family, Paper, Preset, Scheme};

/// The name under which the scheme table finds this file's scheme.
pub type Rostered = Cftl;

/// Page map on flash with a block map beside it.
#[derive(Clone)]
pub struct Cftl {
    base: DemandMapped<Cache>,
    candidates: Candidates,
    job: Option<Job>,
    settings: CftlSettings,
    sizes: Sizes,
    /// Block-mapped and page-mapped pages.
    told: Told<2>,
    /// More entries are in memory than shall be: a power cut came before they could leave, or a
    /// worn-out device has no room for what they say.
    outgrown: bool,
}

impl Scheme for Cftl {
    const PAPER: Paper = Paper {
        name: "cftl",
        title: "A workload-aware adaptive hybrid flash translation layer with an efficient caching \
                strategy",
        authors: "Park, Debnath, Du",
        venue: "SIGMETRICS 2010; MASCOTS 2011",
        year: 2010,
        sections: "as told by the abstracts",
        deviations: &[
            "the papers were not at hand; what their abstracts leave open is a setting",
            "where an uncached block-mapped block lies is derived from the page map on flash",
            "which logical blocks are block-mapped is forgotten at a power cut",
            "recovery and trims are added",
        ],
        family: Family::CachedMap,
        class: Classification {
            kind: "hybrid",
            granularity: "page or block, by workload",
            update_blocks: "all data blocks",
            associativity: "N:N",
            full_merge: false,
        },
    };
    const PRESETS: &'static [Preset] = &[("pages_only", &[("cftl.convert", "off")])];
    type Settings = CftlSettings;
    type Survivor = Kept<Cache>;

    fn check(config: &Config) -> Result<(), SettingError> {
        demand_mapped::check(config)?;
        sizes::check(config)
    }

    fn minimum_blocks(config: &Config) -> u64 {
        minimum_blocks(config)
    }

    fn payload_pages(config: &Config) -> u64 {
        // A pad is alive for a moment.
        Needs::plain(config).payload_pages(config) + 1
    }

    fn ram_use(config: &Config) -> Vec<RamUse> {
        Needs::plain(config).ram_use(config, &ram_use(config))
    }

    fn format(board: &mut Board, config: &Config, seed: u64) -> Result<Self, Fault> {
        let cache = new_cache(board.geometry(), config);
        let base = DemandMapped::new(board, config, &Needs::plain(config), cache, seed);
        Ok(Self::on(board, base, config))
    }

    #[inline]
    fn read(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<(When, Tag), Fault> {
        let fitted = self.fit_again(board, after);
        let fitted = fitted.or_else(|fault| Ok(fault.unless_worn_out()?.unwrap_or(after)))?;
        let known = self.translate(board, io.lpn, fitted)?;
        let cache = &self.base.map.cache;
        let lbn = cache.lbn(io.lpn);
        self.candidates.read(lbn, cache.blocks.is_mapped(lbn));
        // What memory has no place for, the translation page that was read has told.
        match self.base.map.current(board, io.lpn) {
            Some(ppn) => board.read(ppn, io.cause, known),
            None => board.read_unwritten(io.lpn, known),
        }
    }

    #[inline]
    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let fitted = self.fit_again(board, after)?;
        let known = self.translate(board, io.lpn, fitted)?;
        self.candidates.written(io.lpn);
        let reclaimed = self.base.space.reclaimed_blocks();
        let mut done = self.base.write(board, io, known)?;
        self.base.map.cache.host_changed(io.lpn);
        let collected = self.base.space.reclaimed_blocks() > reclaimed;
        if collected && self.settings.convert.behind_collection() {
            // The page is written, whether or not a worn-out device has room for this.
            let step = self.convert_step(board, done).or_else(Fault::unless_worn_out)?;
            done = step.unwrap_or(done);
        }
        self.settle(board, Some(io.lpn), done)
    }

    fn trim(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let fitted = self.fit_again(board, after)?;
        let known = self.translate(board, io.lpn, fitted)?;
        if self.base.map.current(board, io.lpn).is_some() {
            self.base.map.cache.host_changed(io.lpn);
        }
        let done = self.base.trim(board, io.lpn, known)?;
        self.settle(board, Some(io.lpn), done)
    }

    fn flush(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let done = self.base.flush(board, after)?;
        self.settle(board, None, done)
    }

    fn idle(&mut self, board: &mut Board, after: When) -> Result<Option<When>, Fault> {
        let mut step = self.base.idle(board, after)?;
        if step.is_none() && self.settings.convert.in_gaps() {
            step = self.convert_step(board, after).or_else(Fault::unless_worn_out)?;
        }
        step.map(|done| self.settle(board, None, done)).transpose()
    }

    fn self_check(&self, board: &Board) -> Result<(), String> {
        self.base.self_check(board)?;
        let cache = &self.base.map.cache;
        if cache.runs.len() > self.sizes.pages && !self.outgrown {
            let (there, room) = (cache.runs.len(), self.sizes.pages);
            return Err(format!("the cached page table has {there} entries, {room} are allowed"));
        }
        for lpn in (0..board.geometry().logical_pages).map(Lpn) {
            let flash = self.base.map.translation.entry(board, lpn);
            let wrong = cache.entry(lpn).filter(|&known| known != flash && !cache.is_dirty(lpn));
            if let Some(known) = wrong {
                return Err(format!("page {lpn}: {known:?} in memory, {flash:?} on flash"));
            }
            if cache.blocks.entry(lpn).is_some_and(|at| cache.entry(lpn) != Some(at)) {
                return Err(format!("page {lpn}: the tables in memory disagree"));
            }
        }
        Ok(())
    }

    fn clean_map(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let done = self.base.clean_map(board, after)?;
        self.settle(board, None, done)
    }

    forward!(base: changed_entries, locate, room);

    fn power_off(mut self) -> Kept<Cache> {
        self.base.map.cache.converting = None;
        self.base.keep()
    }

    fn recover(
        board: &mut Board,
        config: &Config,
        seed: u64,
        survivor: Kept<Cache>,
        after: When,
    ) -> Result<(Self, When), Fault> {
        let (needs, empty) = (Needs::plain(config), new_cache(board.geometry(), config));
        let cache = (sizes(config).pages, empty);
        let (base, when) = survivor.recover(board, config, (&needs, seed), cache, after)?;
        let mut cftl = Self::on(board, base, config);
        // A cut may have come between what split runs and what makes room for them.
        cftl.outgrown = cftl.base.map.cache.runs.len() > cftl.sizes.pages;
        Ok((cftl, when))
    }
}

/// Both tables, empty.
fn new_cache(geometry: &Geometry, config: &Config) -> Cache {
    Cache::new(geometry, &sizes(config), 1 << config.own.run_len_bits)
}

impl Cftl {
    fn on(board: &mut Board, mut base: DemandMapped<Cache>, config: &Config) -> Self {
        let settings = config.own.clone();
        base.space.withhold_taken(board.nand());
        let mut cftl = Cftl {
            candidates: Candidates::new(board.geometry(), &settings),
            base,
            job: None,
            settings,
            sizes: sizes(config),
            told: Told::new([Level::BlockMappedPages, Level::PageMappedPages]),
            outgrown: false,
        };
        cftl.tell(board);
        cftl
    }

    /// What has outgrown memory leaves before anything else happens; not while recovering, which
    /// writes nothing that memory knows better: cut again, it begins from the same memory.
    #[inline]
    fn fit_again(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        if self.outgrown { self.fit(board, None, after) } else { Ok(after) }
    }

    /// Makes room behind what is done, and cannot be reported as failed: where a worn-out device
    /// has none for what must leave, that stays, and nothing else comes in.
    fn settle(&mut self, board: &mut Board, keep: Option<Lpn>, after: When) -> Result<When, Fault> {
        let fitted = self.fit(board, keep, after);
        self.tell(board);
        match fitted {
            Ok(done) => Ok(done),
            Err(fault) => fault.unless_worn_out().map(|done| done.unwrap_or(after)),
        }
    }

    /// Makes sure that memory holds the entry of a page, if it has a place for it; when it is
    /// known.
    #[inline]
    fn translate(&mut self, board: &mut Board, lpn: Lpn, after: When) -> Result<When, Fault> {
        board.event(Event::MapLookups, 1);
        let cache = &mut self.base.map.cache;
        if let Some(slot) = cache.runs.find(lpn.0) {
            cache.runs.touch(slot);
            let run = cache.runs.run(slot);
            board.event(Event::MapHits, 1);
            board.event(Event::RunHits, u64::from(run.count > 1));
            return Ok(after.waits_for_map(run.ready));
        }
        if let Some(ready) = cache.blocks.use_block(cache.lbn(lpn)) {
            board.event(Event::MapHits, 1);
            board.event(Event::BlockTableHits, 1);
            return Ok(after.waits_for_map(ready));
        }
        self.load(board, lpn, after)
    }

    /// Reads the translation page of an entry. A block-mapped logical block enters the block table;
    /// else the page enters the page table, with the pages behind it that go on with it.
    fn load(&mut self, board: &mut Board, lpn: Lpn, after: When) -> Result<When, Fault> {
        let (part, _) = self.base.map.translation.part_of(lpn);
        let mut loaded = self.base.load(board, part, after)?;
        let lbn = self.base.map.cache.lbn(lpn);
        if self.outgrown {
            return Ok(loaded);
        }
        if self.base.map.cache.blocks.is_mapped(lbn) {
            for other in self.parts_of(lbn).filter(|&other| other != part) {
                loaded = self.base.load(board, other, loaded)?;
            }
            if let Some(block) = self.block_of(board, lbn) {
                self.cache_block(board, (lbn, block), loaded);
                return Ok(loaded);
            }
            // Levelling has moved it.
            self.base.map.cache.revert(lbn);
        }
        let map = &mut self.base.map;
        let word = |lpn| pack(map.translation.entry(board, Lpn(lpn)).map(|ppn| ppn.0));
        map.cache.runs.add(lpn.0, map.translation.lpns_of(part).end, word, loaded);
        self.settle(board, Some(lpn), loaded)
    }

    /// The translation pages that know a logical block.
    fn parts_of(&self, lbn: Lbn) -> RangeInclusive<u32> {
        let pages = self.base.map.cache.pages_of(lbn);
        let part = |lpn: u32| self.base.map.translation.part_of(Lpn(lpn)).0;
        part(pages.start)..=part(pages.end - 1)
    }

    /// The block in which every page of a logical block lies that is anywhere, each at its offset.
    fn block_of(&self, board: &Board, lbn: Lbn) -> Option<BlockId> {
        home_of(board.geometry(), lbn, |lpn| self.base.map.current(board, lpn))
    }

    fn cache_block(&mut self, board: &Board, (lbn, block): (Lbn, BlockId), ready: When) {
        let (translation, cache) = (&self.base.map.translation, &mut self.base.map.cache);
        let there = cache.pages_of(lbn).map(|lpn| translation.entry(board, Lpn(lpn)).is_some());
        cache.blocks.insert((lbn, block), there, ready);
    }

    /// Entries used longest ago leave the page table until it fits; that of `keep` is not among
    /// them. A changed one is written first, with every changed entry of its translation page.
    fn fit(&mut self, board: &mut Board, keep: Option<Lpn>, after: When) -> Result<When, Fault> {
        let mut when = after;
        // Until it is done.
        self.outgrown = true;
        while self.base.map.cache.runs.len() > self.sizes.pages {
            let runs = &mut self.base.map.cache.runs;
            if let Some(slot) = keep.and_then(|lpn| runs.find(lpn.0)) {
                runs.touch(slot);
            }
            let victim = runs.oldest();
            let first = runs.run(victim).first;
            when = board.search(Search::Cached, runs.len(), when);
            if runs.is_changed(victim) {
                when = self.base.leave_with_part(board, Lpn(first), when)?;
            } else {
                board.event(Event::EvictClean, 1);
            }
            // Collection may have split the run meanwhile: what is left at its beginning leaves.
            let runs = &mut self.base.map.cache.runs;
            let left = runs.find(first).expect("collection changes entries, and drops none");
            // Or it has joined the run that is in use, which stays.
            if keep.and_then(|lpn| runs.find(lpn.0)) != Some(left) {
                runs.remove(left);
            }
        }
        self.outgrown = false;
        Ok(when)
    }

    fn tell(&mut self, board: &mut Board) {
        let cache = &mut self.base.map.cache;
        let reverted = cache.take_reverted();
        if reverted > 0 {
            board.event(Event::Reversions, reverted);
        }
        let by_block = cache.blocks.pages();
        let pages = u64::from(board.geometry().logical_pages);
        self.told.tell(board, [by_block, pages - by_block]);
    }
}

#[cfg(test)]
mod tests;
