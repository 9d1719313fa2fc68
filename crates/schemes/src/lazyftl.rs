//! # Idea
//! Page mapping whose map on flash is told late: pages that were written or moved lately lie in
//! blocks of their own, with their entries in memory. When there are too many such blocks one of
//! them is *converted*: its entries go to the map, many of a map page at once, and the block
//! becomes an ordinary data block without a copy. Neither a write nor a collection waits for the
//! map.
//!
//! # Paper
//! Ma, Feng, Li: LazyFTL, SIGMOD 2011; `docs/papers/others.md#lazyftl`.
//!
//! # Structures
//! Data blocks (DBA), mapping blocks (MBA), cold blocks (CBA: what collection moved), update blocks
//! (UBA: what the host wrote); in each plane one CUB and one CCB that are being filled. GMT: the
//! whole map, in GMT pages in the MBA; GMD: where each GMT page is. UMT in memory: logical to
//! physical page for what lies in UBA and CBA, with two flags: *update* (the GMT does not say this
//! yet) and *invalidate* (the page that the GMT names is superseded and still counts as valid). An
//! LRU cache of GMT pages for reads.
//!
//! # Read
//! UMT, else the GMT page, from the cache or with one map read; then the page.
//!
//! # Write
//! If the CUB is full and UBA and CBA are too, Convert. Program the next page of the CUB. A page
//! that the UMT has inherits its invalidate flag, and the page it had becomes invalid at once; any
//! other gets invalidate = 1. No map read.
//!
//! # Reclaim
//! Convert: the closed block of UBA and CBA whose entries touch the fewest GMT pages. Each of those
//! is read (unless it is cached), changed and written once, with all other entries that the UMT has
//! for it; the pages that it named become invalid where the flag says so. The block's entries leave
//! the UMT and it is a DBA block. Collection: the victim of least cost, (read + program) times its
//! valid pages plus an erase, which is `gc.victim = greedy`; UBA and CBA are left alone. A page of
//! a DBA block that the UMT has is the superseded one: only the flag clears. The others move to the
//! CCB with update = 1 and invalidate = 0.
//!
//! # Recovery
//! The first page of every block tells its kind and age; the entries that differ from the GMT enter
//! the UMT again, and the blocks that they lie in are UBA and CBA again, those beyond its size
//! being converted before the next write. Under `device.ram_nonvolatile` UMT and GMD survive, and
//! trims need no records; the cached GMT pages are copies of what flash holds, and are read again.
//!
//! # Deviations
//! Recovery scans all data blocks: conversion follows no order of age, so that the age of a block
//! does not tell whether it was converted. The GMD is found by scanning the MBA. Trims are ours: a
//! trimmed page waits in the UMT, a block's worth of them at most, then the GMT is told of all. A
//! conversion that a collection makes necessary happens before its victim is erased and counts as
//! `gc_map_update`, any other as `translate`. On several planes the area is shared out evenly and
//! each plane converts its own. Under `io.partial_write = rmw` a partial write looks its page up,
//! as it must read it, before anything else. Memory has places for trimmed pages and for blocks
//! that are written while a conversion is due (`umt_reserve`). Wear levelling moves DBA blocks to
//! the CBA.
//!
//! # Settings
//! The table in `settings`, and the groups `gc` and `alloc`; `gc.separate_frontiers` is always on.

mod settings;
mod umt;
mod untold;

pub use settings::{Convert, LazyFtlSettings};

use settings::Sizes;
use umt::LazyMap;

use crate::lazyftl::settings::Config;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::meter::{Cause, Event};
use ftlab_flash::request::PageIo;
use ftlab_flash::settings::SettingError;
use ftlab_flash::units::{Lpn, PlaneId, Tag};
use ftlab_ftl::forward;
use ftlab_ftl::parts::demand_mapped::{self, DemandMapped};
use ftlab_ftl::parts::map_cache::MapCache;
use ftlab_ftl::parts::map_recovery::Survivor;
use ftlab_ftl::parts::page_space::Stream;
use ftlab_ftl::scheme::{Classification, Family, Paper, Preset, Scheme};

/// The name under which the scheme table finds this file's scheme.
pub type Rostered = LazyFtl;

/// Page mapping that tells its map late.
#[derive(Clone)]
pub struct LazyFtl {
    base: DemandMapped<LazyMap>,
    background: bool,
}

impl Scheme for LazyFtl {
    const PAPER: Paper = Paper {
        name: "lazyftl",
        title: "LazyFTL: a page-level flash translation layer optimized for NAND flash memory",
        authors: "Ma, Feng, Li",
        venue: "SIGMOD 2011",
        year: 2011,
        sections: "all, by notes on it (docs/papers/others.md#lazyftl)",
        deviations: &[
            "recovery scans all data blocks, as conversion follows no order of age",
            "trims and their record pages are added",
            "the area is shared out evenly over the planes",
            "sizes of areas and cache, their ratio and the time of conversion are settings: the \
             paper leaves them open",
        ],
        family: Family::CachedMap,
        class: Classification {
            update_blocks: "blocks not converted yet",
            ..Classification::PAGES
        },
    };
    const PRESETS: &'static [Preset] =
        &[("background", &[("lazyftl.convert", "background"), ("gc.mode", "both")])];
    type Settings = LazyFtlSettings;
    type Survivor = Survivor;

    fn check(config: &Config) -> Result<(), SettingError> {
        demand_mapped::check(config)?;
        if config.own.convert == Convert::Background {
            config.gc.check_gaps("lazyftl.convert = background")?;
        }
        Sizes::check(config)
    }

    forward!(Sizes::needs => minimum_blocks, payload_pages);

    fn ram_use(config: &Config) -> Vec<RamUse> {
        let sizes = Sizes::of(config);
        let sram = |structure, bytes| RamUse { structure, bytes, memory: Memory::Sram };
        let gmt = u64::from(sizes.gmt_pages) * config.device.unit_bytes();
        let own = [
            sram("umt", sizes.umt_bytes(config)),
            sram("umt_reserve", sizes.reserve_bytes(config)),
            sram("gmt_cache", gmt),
        ];
        Sizes::needs(config).ram_use(config, &own)
    }

    fn format(board: &mut Board, config: &Config, seed: u64) -> Result<Self, Fault> {
        let sizes = Sizes::of(config);
        let map = LazyMap::new(board.geometry(), sizes);
        let mut base = DemandMapped::new(board, config, &Sizes::needs(config), map, seed);
        base.space.withhold(board.nand());
        Ok(Self::with(config, base))
    }

    #[inline]
    fn read(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<(When, Tag), Fault> {
        let known = self.look_up(board, io.lpn, after)?;
        self.base.read(board, io, known)
    }

    #[inline]
    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let written = self.write_page(board, io, after);
        self.base.map.cache.unpin();
        if written.is_err() {
            self.base.map.cache.drop_unwritten(io.lpn);
        }
        written
    }

    fn trim(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let mut when = after;
        if self.base.map.cache.is_unresolved(io.lpn) {
            (when, _) = self.tell_gmt(board, self.base.map.translation.part_of(io.lpn).0, when)?;
        }
        when = self.look_up(board, io.lpn, when)?;
        when = self.base.trim(board, io.lpn, when)?;
        if self.base.map.cache.trims_are_full() {
            while let Some(lpn) = self.base.map.cache.next_trimmed() {
                (when, _) = self.tell_gmt(board, self.base.map.translation.part_of(lpn).0, when)?;
            }
        }
        Ok(when)
    }

    fn uncleanable(_: &Config) -> Option<&'static str> {
        Some("its changed entries are those of blocks that are not converted yet")
    }

    forward!(base: flush, changed_entries, locate, unsettled, room);

    fn idle(&mut self, board: &mut Board, after: When) -> Result<Option<When>, Fault> {
        if self.background
            && let Some(converted) = self.convert_idle(board, after)?
        {
            return Ok(Some(converted));
        }
        let step = self.base.idle(board, after)?;
        if step.is_some() {
            self.base.map.cache.tell_level(&self.base.space, board);
        }
        Ok(step)
    }

    fn self_check(&self, board: &Board) -> Result<(), String> {
        self.base.space.self_check(board)?;
        self.base.map.cache.self_check(&self.base.space, board)
    }

    fn power_off(self) -> Survivor {
        self.base.power_off(!self.base.records_trims)
    }

    fn recover(
        board: &mut Board,
        config: &Config,
        seed: u64,
        survivor: Survivor,
        after: When,
    ) -> Result<(Self, When), Fault> {
        let sizes = Sizes::of(config);
        let (needs, empty) = (Sizes::needs(config), LazyMap::new(board.geometry(), sizes));
        let known = (survivor, sizes.recovered(config));
        let (base, when) =
            DemandMapped::recover(board, config, (&needs, seed), known, empty, after)?;
        let mut scheme = Self::with(config, base);
        let DemandMapped { space, map, .. } = &mut scheme.base;
        space.withhold(board.nand());
        space.withhold_again(board.nand(), map.cache.blocks());
        Ok((scheme, when))
    }
}

impl LazyFtl {
    fn with(config: &Config, base: DemandMapped<LazyMap>) -> Self {
        let background = config.own.convert == Convert::Background;
        LazyFtl { base, background }
    }

    /// Looks up what must be looked up, makes room, and programs the page.
    #[inline]
    fn write_page(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let mut ready = after;
        let keeps_sectors = self.base.needs_old(io);
        if keeps_sectors {
            // Before its place is chosen: which plane is least busy may be another after a read.
            ready = self.look_up(board, io.lpn, ready)?;
            self.base.map.cache.pin(io.lpn);
        }
        let (opening, ready) = self.make_place(board, io.lpn, ready)?;
        let cache = &mut self.base.map.cache;
        if !keeps_sectors && !cache.has(io.lpn) {
            // Not in the UMT: what the GMT names is invalidated later.
            cache.enter_blindly(io.lpn);
        }
        // In the UMT: the page it had is invalidated now, the invalidate flag is inherited.
        cache.pin(io.lpn);
        let done = self.base.write(board, io, ready)?;
        if opening {
            self.base.map.cache.tell_level(&self.base.space, board);
        }
        Ok(done)
    }

    /// UMT, else the GMT page in memory, else the one on flash.
    #[inline]
    fn look_up(&mut self, board: &mut Board, lpn: Lpn, after: When) -> Result<When, Fault> {
        board.event(Event::MapLookups, 1);
        let (part, _) = self.base.map.translation.part_of(lpn);
        let cache = &mut self.base.map.cache;
        let known = if cache.has(lpn) { Some(after) } else { cache.use_gmt(part) };
        if let Some(known) = known {
            board.event(Event::MapHits, 1);
            return Ok(after.waits_for_map(known));
        }
        let ready = cache.make_gmt_room(board, after);
        let loaded = self.base.load(board, part, ready)?;
        let map = &mut self.base.map;
        map.cache.load_gmt(board, &map.translation, part, loaded);
        Ok(loaded)
    }

    /// Sees to it that UBA and CBA can take the block that a write is about to open, if it is;
    /// whether it is.
    #[inline]
    fn make_place(
        &mut self,
        board: &mut Board,
        lpn: Lpn,
        after: When,
    ) -> Result<(bool, When), Fault> {
        let mut when = after;
        loop {
            let DemandMapped { space, map, .. } = &mut self.base;
            let plane = space.place(board.nand(), lpn);
            let opening = space.needs_block(board.nand(), plane, Stream::Data);
            let place = (plane, Some(u32::from(opening)));
            let (part, found) = map.cache.overdue(space, board, place, when);
            let Some(part) = part else { return Ok((opening, found)) };
            when = self.convert_part(board, part, found)?;
        }
    }

    /// A GMT page of a conversion.
    fn convert_part(&mut self, board: &mut Board, part: u32, after: When) -> Result<When, Fault> {
        let (done, entries) = self.tell_gmt(board, part, after)?;
        board.event(Event::ConvertedMapPages, u64::from(entries > 0));
        Ok(done)
    }

    /// Writes all that the UMT knows of a GMT page, and invalidates what the flags say. Its old
    /// version is read unless it is cached. Returns how many entries there were: none if a
    /// collection in the middle told the GMT of them.
    fn tell_gmt(
        &mut self,
        board: &mut Board,
        part: u32,
        after: When,
    ) -> Result<(When, u32), Fault> {
        match self.base.map.cache.held(part) {
            Some(loaded) => {
                let known = after.waits_for_map(loaded);
                self.base.write_whole_part(board, part, Cause::Translate, known)
            }
            None => self.base.write_back_part(board, part, Cause::Translate, after),
        }
    }

    /// A GMT page of a conversion in an idle gap, in the first plane that has one to do.
    fn convert_idle(&mut self, board: &mut Board, after: When) -> Result<Option<When>, Fault> {
        for plane in (0..board.geometry().planes()).map(PlaneId) {
            let DemandMapped { space, map, .. } = &mut self.base;
            let (part, found) = map.cache.convert_idle(space, board, plane, after);
            if let Some(part) = part {
                return self.convert_part(board, part, found).map(Some);
            }
        }
        Ok(None)
    }
}
