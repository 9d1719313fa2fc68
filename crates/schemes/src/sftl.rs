//! # Idea
//! Whole translation pages are cached, but compressed: where consecutive logical pages lie in
//! consecutive physical pages, one physical page number stands for all of them. Sequential writes
//! make small pages, so that a cache of few pages holds the map of much data.
//!
//! # Paper
//! Jiang, Zhang, Yuan, Hu, Chen: S-FTL: An Efficient Address Translation for Flash Memory by
//! Exploiting Spatial Locality, MSST 2011; `docs/papers/others.md#s-ftl`, from the abstract and the
//! public simulator wiscsee.
//!
//! # Structures
//! Cached translation pages: per page a bitmap of where runs begin, and the physical page of each
//! run's head; least recently used order (`parts::compressed_pages`). Dirty-entry buffer: changed
//! entries whose translation page is not cached, `sftl.dirty_buf_share` of the bytes
//! (`parts::entry_buffer`). No entry is in both. GTD, translation pages, data blocks: DFTL's.
//!
//! # Read
//! The cached page, by the rank of the bit; else the dirty-entry buffer; else the translation page
//! is read, compressed, and cached. Pages used longest ago leave until the bytes fit.
//!
//! # Write
//! Page cached: its entry changes and its size with it; what it grows by may push other pages out,
//! when the write is done. Page not cached: the entry goes to the dirty-entry buffer, without a map
//! read. A full buffer first writes back every entry of the page that has most of them there, by
//! one read and one program.
//!
//! # Reclaim
//! DFTL's. Moved pages change the cached page or the buffered entry in memory alone (lazy copying);
//! others are written to their translation pages, each page once (batch update). Cached pages grow
//! by that too.
//!
//! # Recovery
//! Nothing but the flash: the out-of-band areas of all blocks are read, and nothing that completed
//! is lost; what the buffer has no room for is written out. Under `device.ram_nonvolatile` pages
//! and buffer survive as they are.
//!
//! # Deviations
//! The paper was not at hand: the bytes of a page and the share of the buffer are settings. What a
//! buffered write supersedes is not looked up: the old page counts as valid until the entry meets
//! its translation page (when either is loaded or written back, or when collection finds it). Only
//! a trim of such a page, and a partial write that must keep sectors of one, read the map. A page
//! that is loaded takes its entries from the buffer. A changed page that leaves is written without
//! a read, all its entries being known. Sizes are only known when a page has been read: it is held
//! beside the others until room is made. Entries that have no physical page form runs too. More
//! memory does not always mean fewer misses: a page's size depends on where collection puts data,
//! and that on what is cached. Runs are of neighbours in one plane: where the order of placement
//! (`alloc.order`) gives consecutive pages to several planes, hardly any form, nothing is
//! compressed, and the cache is one of whole pages; a bitmap per plane would be another scheme. A
//! load of writes alone never caches a page while there is a buffer (`sftl.dirty_buf_share`, on by
//! default): only reads, trims and partial writes load one, as in `docs/papers/others.md#s-ftl`.
//!
//! # Settings
//! `sftl.*`, and the groups `gc` and `alloc`.

mod cache;
mod settings;
mod sizes;
#[cfg(test)]
mod tests;

pub use settings::SftlSettings;

use cache::Cache;
use sizes::{Sizes, needs, ram_use, sizes};

use crate::sftl::settings::Config;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::board::{Board, Search};
use ftlab_flash::memory::RamUse;
use ftlab_flash::meter::{Cause, Event, Level};
use ftlab_flash::request::PageIo;
use ftlab_flash::settings::SettingError;
use ftlab_flash::units::{Lpn, Tag};
use ftlab_ftl::forward;
use ftlab_ftl::parts::demand_mapped::{self, DemandMapped, Kept};
use ftlab_ftl::parts::map_cache::MapCache;
use ftlab_ftl::scheme::{Classification, Family, Paper, Preset, Scheme};

/// The name under which the scheme table finds this file's scheme.
pub type Rostered = Sftl;

/// Page-mapped FTL with compressed translation pages in memory.
#[derive(Clone)]
pub struct Sftl {
    base: DemandMapped<Cache>,
    sizes: Sizes,
    /// A power cut or a fault came between a page's growth and what makes room for it.
    outgrown: bool,
}

impl Scheme for Sftl {
    const PAPER: Paper = Paper {
        name: "sftl",
        title: "S-FTL: an efficient address translation for flash memory by exploiting spatial \
                locality",
        authors: "Jiang, Zhang, Yuan, Hu, Chen",
        venue: "MSST 2011",
        year: 2011,
        sections: "as told by the abstract and wiscsee",
        deviations: &[
            "the paper was not at hand; what its abstract leaves open is a setting",
            "a write whose page is not cached reads no map: the superseded page counts as valid \
             until the entry meets its translation page",
            "recovery and trims are added",
        ],
        family: Family::CachedMap,
        class: Classification::PAGES,
    };
    const PRESETS: &'static [Preset] = &[
        ("wiscsee", &[("sftl.size_formula", "wiscsee")]),
        ("raw", &[("sftl.size_formula", "raw"), ("sftl.dirty_buf_share", "0")]),
    ];
    const DIVIDES_DATA: bool = true;
    type Settings = SftlSettings;
    type Survivor = Kept<Cache>;

    fn check(config: &Config) -> Result<(), SettingError> {
        demand_mapped::check(config)?;
        sizes::check(config)
    }

    forward!(needs => minimum_blocks, payload_pages);

    fn ram_use(config: &Config) -> Vec<RamUse> {
        needs(config).ram_use(config, &ram_use(config))
    }

    fn format(board: &mut Board, config: &Config, seed: u64) -> Result<Self, Fault> {
        let cache = Cache::new(board.geometry(), &sizes(config));
        Ok(Self::on(DemandMapped::new(board, config, &needs(config), cache, seed), config))
    }

    #[inline]
    fn read(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<(When, Tag), Fault> {
        let fitted = self.fit_again(board, after);
        match fitted.and_then(|after| self.translate(board, io.lpn, after)) {
            Ok(known) => self.base.read(board, io, known),
            Err(fault) => {
                let after = after.waits_for_map(self.base.map.cache.ready(io.lpn));
                self.base.read_placeless(board, io, fault, after)
            }
        }
    }

    #[inline]
    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let after = self.fit_again(board, after)?;
        let in_memory = self.base.map.cache.entry(io.lpn).is_some();
        let known = if in_memory || self.sizes.buffered == 0 || self.base.needs_old(io) {
            self.translate(board, io.lpn, after)?
        } else {
            self.put_in_buffer(board, io.lpn, after)?
        };
        let written = self.base.write(board, io, known);
        if written.is_err() {
            self.base.map.cache.buffer.drop_unwritten(io.lpn);
            self.outgrown = true;
        }
        self.fit_behind(board, written?)
    }

    fn trim(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let after = self.fit_again(board, after)?;
        let known = if self.base.map.cache.is_unresolved(io.lpn) {
            // What the buffered write superseded must be found before it is forgotten.
            board.event(Event::MapLookups, 1);
            self.load(board, io.lpn, after)?
        } else {
            self.translate(board, io.lpn, after)?
        };
        let done = self.base.trim(board, io.lpn, known)?;
        self.fit_behind(board, done)
    }

    fn flush(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let after = self.fit_again(board, after)?;
        // Collection, which a fault may end, changes cached pages.
        self.outgrown = true;
        let done = self.base.flush(board, after)?;
        self.fit_behind(board, done)
    }

    fn idle(&mut self, board: &mut Board, after: When) -> Result<Option<When>, Fault> {
        let after = match self.fit_again(board, after) {
            Ok(after) => after,
            Err(fault) => return fault.unless_worn_out(),
        };
        let step = self.base.idle(board, after)?;
        step.map(|done| self.fit_behind(board, done)).transpose()
    }

    fn refresh_at_once(&mut self, board: &mut Board, after: When) -> Result<Option<When>, Fault> {
        let after = match self.fit_again(board, after) {
            Ok(after) => after,
            Err(fault) => return fault.unless_worn_out(),
        };
        let step = self.base.refresh_at_once(board, after)?;
        step.map(|done| self.fit_behind(board, done)).transpose()
    }

    fn self_check(&self, board: &Board) -> Result<(), String> {
        self.base.self_check(board)?;
        let (bytes, allowed) = (self.base.map.cache.pages.bytes(), self.sizes.page_bytes);
        if bytes > allowed && !self.outgrown {
            return Err(format!("cached pages take {bytes} bytes, {allowed} are allowed"));
        }
        Ok(())
    }

    fn clean_map(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let after = self.fit_again(board, after)?;
        self.outgrown = true;
        let done = self.base.clean_map(board, after)?;
        self.fit_behind(board, done)
    }

    forward!(base: changed_entries, locate, unsettled, room);
    forward!(base.space: measuring_begins);

    fn power_off(mut self) -> Kept<Cache> {
        self.base.map.cache.buffer.outlive_power();
        self.base.keep()
    }

    fn recover(
        board: &mut Board,
        config: &Config,
        seed: u64,
        survivor: Kept<Cache>,
        after: When,
    ) -> Result<(Self, When), Fault> {
        let (sizes, needs) = (sizes(config), needs(config));
        let cache = (sizes.buffered, Cache::new(board.geometry(), &sizes));
        let (base, when) = survivor.recover(board, config, (&needs, seed), cache, after)?;
        let mut sftl = Self::on(base, config);
        sftl.outgrown = sftl.base.map.cache.pages.bytes() > sftl.sizes.page_bytes;
        Ok((sftl, when))
    }
}

impl Sftl {
    fn on(base: DemandMapped<Cache>, config: &Config) -> Self {
        Sftl { base, sizes: sizes(config), outgrown: false }
    }

    /// What a cut left outgrown, or what nothing could be written for, makes room before anything
    /// else happens; not while recovering, which writes nothing: cut again, it begins from the same
    /// memory.
    #[inline]
    fn fit_again(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        if !self.outgrown {
            return Ok(after);
        }
        self.fit(board, after)
    }

    /// Behind what is done, which nothing can undo: pages that a device at its end cannot write
    /// stay.
    #[inline]
    fn fit_behind(&mut self, board: &mut Board, done: When) -> Result<When, Fault> {
        let fitted = self.fit(board, done).map(Some).or_else(Fault::unless_worn_out)?;
        Ok(fitted.unwrap_or(done))
    }

    /// Makes sure that memory holds the entry of a page; when it is known.
    #[inline]
    fn translate(&mut self, board: &mut Board, lpn: Lpn, after: When) -> Result<When, Fault> {
        board.event(Event::MapLookups, 1);
        let (part, _) = self.base.map.translation.part_of(lpn);
        let cache = &mut self.base.map.cache;
        if let Some(ready) = cache.pages.use_page(part) {
            board.event(Event::MapHits, 1);
            return Ok(after.waits_for_map(ready));
        }
        if cache.entry(lpn).is_some() {
            board.event(Event::MapHits, 1);
            return Ok(after);
        }
        self.load(board, lpn, after)
    }

    /// Reads the translation page of an entry, compresses and caches it. What the buffer holds of
    /// it goes into it, and what those entries superseded is known now.
    fn load(&mut self, board: &mut Board, lpn: Lpn, after: When) -> Result<When, Fault> {
        let (part, _) = self.base.map.translation.part_of(lpn);
        let loaded = self.base.load(board, part, after)?;
        let DemandMapped { space, map, .. } = &mut self.base;
        let Cache { pages, buffer } = &mut map.cache;
        let _ = pages.insert(board, &map.translation, part, loaded);
        for lpn in map.translation.lpns_of(part).map(Lpn) {
            if buffer.count(part) == 0 {
                break;
            }
            let Some((ppn, unresolved)) = buffer.take(lpn) else { continue };
            if unresolved && let Some(old) = map.translation.entry(board, lpn) {
                space.invalidate(board, old);
            }
            pages.change(lpn, ppn);
        }
        self.fit(board, loaded)
    }

    /// A write whose page is not cached: its entry goes to the dirty-entry buffer. A full buffer
    /// writes back the entries of the page that has most of them, in one read and one program.
    fn put_in_buffer(&mut self, board: &mut Board, lpn: Lpn, after: When) -> Result<When, Fault> {
        board.event(Event::MapLookups, 1);
        board.event(Event::MapBufferedEntries, 1);
        let mut when = after;
        let buffer = &self.base.map.cache.buffer;
        if buffer.is_full() {
            let part = buffer.fullest_part();
            let written = self.base.write_back_part(board, part, Cause::Translate, when);
            self.outgrown |= written.is_err();
            let (written, entries) = written?;
            board.event(Event::MapBufferFlushes, 1);
            board.event(Event::BatchedEvictions, u64::from(entries - 1));
            when = written;
        }
        self.base.map.cache.buffer.insert_unresolved(lpn, when);
        Ok(when)
    }

    /// Pages used longest ago leave until the bytes fit; the one used last always does.
    #[inline]
    fn fit(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let mut when = after;
        self.outgrown = true;
        while self.base.map.cache.pages.bytes() > self.sizes.page_bytes {
            when = self.evict(board, when)?;
        }
        self.outgrown = false;
        let pages = &mut self.base.map.cache.pages;
        let compressed = pages.take_compressed();
        if compressed > 0 {
            board.event(Event::Recompressions, compressed);
            let (bytes, count) = (pages.bytes(), u64::from(pages.pages().len()));
            board.level(Level::MapPageBytes, bytes / count);
            board.level(Level::MapCompressionPermille, 1000 * bytes / pages.raw_bytes());
        }
        Ok(when)
    }

    /// The page used longest ago leaves; a changed one is written first, as a whole.
    fn evict(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let pages = self.base.map.cache.pages.pages();
        let victim = pages.oldest();
        let leaving = (pages.part(victim), pages.dirty_entries(victim) > 0);
        let found = board.search(Search::Cached, pages.len(), after);
        let done = self.base.leave_whole_part(board, leaving, found)?;
        self.base.map.cache.pages.remove(victim);
        Ok(done)
    }
}
