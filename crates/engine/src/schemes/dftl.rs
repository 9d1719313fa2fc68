//! # Idea
//! Pure page mapping with the whole table on flash, in translation pages, and only the entries in
//! use cached in SRAM.
//!
//! # Paper
//! Gupta, Kim, Urgaonkar: DFTL, ASPLOS 2009; journal version J. Comput. Sci. Technol. 29(2), 2014,
//! sections 3.1 to 3.3; spec 3.1.
//!
//! # Structures
//! CMT: cached map entries, `dftl.cmt_entries`. GTD: where each translation page is. On flash:
//! translation pages of E entries, in blocks of their own; data blocks; one write frontier for each
//! ("current data block", "current translation block").
//!
//! # Read
//! Translate (Algorithm 1), then one page read.
//!
//! # Write
//! Translate, program the next page of the data frontier, invalidate the old page, change the CMT.
//!
//! # Reclaim
//! Algorithm 2: fewer than `dftl.gc_threshold_blocks` free and a frontier full. A map victim's
//! pages move and the GTD follows. A data victim's pages move; entries that are cached change in
//! the CMT alone (lazy copying), the others are written to their translation pages, each page once
//! (batch update).
//!
//! # Recovery
//! `dftl.consistency`: `gtd` (the paper: the directory is in non-volatile memory, or with
//! `dftl.gtd_sync_every` copied to flash; changed entries that only the CMT held are lost and
//! counted), `replay` (checkpoints, and the out-of-band areas of blocks programmed since: nothing
//! that completed is lost), `battery` (directory and CMT survive).
//!
//! # Deviations
//! Checkpoints, replay and trims are ours: the paper leaves consistency open. The translation pages
//! of a new device are implicit (`dftl.init_map`). Under `replay` the directory is found by scanning
//! translation blocks, 0.2 % of the device. The copy of the directory under `gtd` lies among the map
//! pages, and where it lies is taken as known after a power cut (the paper: a fixed place); map
//! blocks programmed since are scanned, so that it loses no more than memory would. Cache
//! policy and victim policy default to what the authors' public code does, not to the text's
//! segmented LRU and cost-benefit. On several planes map pages go to a home plane by their number and
//! the threshold is two blocks higher.
//!
//! # Settings
//! The table below, and the groups `gc` and `alloc`.

mod settings;
mod sizes;

pub use settings::{DftlSettings, InitialMap, MapTransfer};

use sizes::{entries, floor, gtd_bytes, saved_words, threshold};

use crate::board::nand::fault::Fault;
use crate::board::nand::state::PageKind;
use crate::board::when::When;
use crate::board::{Board, Search};
use crate::config::{Config, PartialWrite, SettingError};
use crate::meter::{Cause, Event};
use crate::parts::cached_map::CachedMap;
use crate::parts::checkpoint::Checkpoints;
use crate::parts::cmt::{Cmt, Slot};
use crate::parts::map_recovery::{Consistency, FoundMap, Survivor};
use crate::parts::page_space::{PageSpace, Stream, Threshold};
use crate::parts::translation::{MapWrite, Translation};
use crate::parts::trim_records::TrimRecords;
use crate::request::PageIo;
use crate::schemes::{
    Classification, Family, Location, Paper, Preset, RamUse, Room, Scheme, Unsettled,
};
use crate::units::{Lpn, Tag};

/// The name under which the scheme table finds this file's scheme.
pub type Rostered = Dftl;

/// Demand-based page-mapped FTL.
pub struct Dftl {
    space: PageSpace,
    map: CachedMap,
    settings: DftlSettings,
    /// Partial writes read the old page, so a write miss must know it.
    rmw: bool,
    all_sectors: u64,
}

impl Scheme for Dftl {
    const PAPER: Paper = Paper {
        name: "dftl",
        title: "DFTL: a flash translation layer employing demand-based selective caching of \
                page-level address mappings",
        authors: "Gupta, Kim, Urgaonkar",
        venue: "ASPLOS 2009; J. Comput. Sci. Technol. 29(2) 2014",
        year: 2009,
        sections: "3.1-3.3",
        deviations: &[
            "checkpoints and replay make completed writes durable by default; \
             dftl.consistency = gtd is the paper",
            "trims and their record pages are added",
            "the copy of the directory under dftl.gtd_sync_every lies among the map pages; its place \
             is taken as known after a power cut (the paper: a fixed place)",
            "translation pages of a new device are implicit unless dftl.init_map = written",
            "cache and victim policy default to the authors' public code (psu_real_ghost, greedy); \
             the text says segmented LRU and cost-benefit",
            "the adaptive threshold's rule is ours",
            "while most of the device is untouched, erased blocks are taken before untouched ones",
        ],
        family: Family::CachedMap,
        class: Classification {
            kind: "page",
            granularity: "page",
            update_blocks: "all data blocks",
            associativity: "N:N",
            full_merge: false,
        },
    };
    const PRESETS: &'static [Preset] = &[
        ("gtd", &[("dftl.consistency", "gtd")]),
        ("battery", &[("dftl.consistency", "battery")]),
        ("batch", &[("dftl.batch_evict", "true")]),
    ];
    type Survivor = Survivor;

    fn check(config: &Config) -> Result<(), SettingError> {
        Threshold::check(config, floor(config))?;
        let dftl = &config.scheme.dftl;
        if dftl.gtd_sync_every > 0 && dftl.consistency != Consistency::Gtd {
            return Err(SettingError::Conflict(format!(
                "dftl.gtd_sync_every = {} needs dftl.consistency = gtd; under {} the directory is \
                 never copied",
                dftl.gtd_sync_every,
                dftl.consistency.name()
            )));
        }
        let Some(budget) = config.device.ram_bytes.0 else {
            return Ok(());
        };
        let gtd = if dftl.gtd_in_budget { gtd_bytes(config) } else { 0 };
        let entries = u64::from(entries(config));
        let wanted = entries * u64::from(dftl.entry_bytes) + gtd;
        if dftl.cmt_entries.0.is_some() && wanted > budget.0 {
            return Err(SettingError::Conflict(format!(
                "dftl.cmt_entries = {entries} takes {wanted} bytes, device.ram_bytes allows {}",
                budget.0
            )));
        }
        Ok(())
    }

    fn minimum_blocks(config: &Config) -> u64 {
        sizes::minimum_blocks(config)
    }

    fn payload_pages(config: &Config) -> u64 {
        sizes::payload_pages(config)
    }

    fn ram_use(config: &Config) -> Vec<RamUse> {
        sizes::ram_use(config)
    }

    fn format(board: &mut Board, config: &Config, seed: u64) -> Result<Self, Fault> {
        let geometry = board.geometry().clone();
        let mut dftl = Dftl::assemble(
            board,
            config,
            PageSpace::new(board, config, threshold(config), seed),
            (Translation::new(&geometry), TrimRecords::new(&geometry)),
            entries(config),
        );
        if config.scheme.dftl.init_map == InitialMap::Written {
            for part in 0..Translation::pages(&geometry) {
                let plane = dftl.space.home(board.nand(), part);
                let how = MapWrite { plane, cause: Cause::Translate };
                let (space, translation) = (&mut dftl.space, &mut dftl.map.translation);
                let _ = translation.write(space, board, part, &[], how, When::START)?;
            }
        }
        Ok(dftl)
    }

    #[inline]
    fn read(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<(When, Tag), Fault> {
        let (slot, known) = self.translate(board, io.lpn, after)?;
        match self.map.cmt.ppn(slot) {
            Some(ppn) => board.read(ppn, io.cause, known),
            None => board.read_unwritten(io.lpn, known),
        }
    }

    #[inline]
    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let after = self.checkpoint_if_due(board, after)?;
        let needs_old = self.rmw && io.sectors != self.all_sectors;
        let (slot, known) = if self.settings.write_miss_fetch || needs_old {
            self.translate(board, io.lpn, after)?
        } else {
            self.translate_blindly(board, io.lpn, after)?
        };
        let plane = self.space.place_host(board, io);
        let ready = self.space.make_room(board, &mut self.map, (plane, Stream::Data), known)?;
        // Looked up after collection, which may have moved the old version.
        let old = self.map.cmt.ppn(slot);
        let place = (plane, Stream::Data);
        let (new, done) = self.space.program(board, place, ready, |board, new, ready| {
            board.program_update(new, old, io, PageKind::Data, ready)
        })?;
        if let Some(old) = old {
            self.space.invalidate(board, old);
        }
        self.map.cmt.change(slot, Some(new));
        self.map.trims.written(io.lpn);
        Ok(done)
    }

    fn trim(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let (slot, mut known) = self.translate(board, io.lpn, after)?;
        if self.map.cmt.is_unresolved(slot) {
            // A blind write left an older version valid on flash: look it up before forgetting.
            let (part, _) = self.map.translation.part_of(io.lpn);
            let plane = self.space.home(board.nand(), part);
            let place = MapWrite { plane, cause: Cause::Translate };
            let (space, map) = (&mut self.space, &mut self.map);
            (known, _) = map.write_back_part(space, board, part, place, known)?;
        }
        if let Some(old) = self.map.cmt.ppn(slot) {
            self.space.invalidate(board, old);
            self.map.cmt.change(slot, None);
            self.map.trims.trim(io.lpn);
        }
        Ok(known)
    }

    fn flush(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        if self.settings.consistency != Consistency::Replay {
            return Ok(after);
        }
        let mut when = after;
        while self.map.trims.next_pending().is_some() {
            when = self.map.record_trims(&mut self.space, board, when)?;
        }
        Ok(when)
    }

    fn idle(&mut self, board: &mut Board, after: When) -> Result<Option<When>, Fault> {
        self.space.collect_idle(board, &mut self.map, after)
    }

    fn self_check(&self, board: &Board) -> Result<(), String> {
        self.space.self_check(board)
    }

    fn locate(&self, board: &Board, lpn: Lpn) -> Location {
        let entry = match self.map.cmt.find(lpn) {
            Some(slot) => self.map.cmt.ppn(slot),
            None => self.map.translation.entry(board, lpn),
        };
        entry.map_or(Location::Nowhere, Location::Flash)
    }

    fn unsettled(&self, board: &Board) -> Unsettled {
        let map = &self.map;
        let stale = |slot: &Slot| {
            map.cmt.is_unresolved(*slot)
                && map.translation.entry(board, map.cmt.lpn(*slot)).is_some()
        };
        let stale_pages = match map.cmt.unresolved() {
            0 => 0,
            _ => map.cmt.slots().filter(stale).count() as u64,
        };
        Unsettled { stale_pages, ram_pages: 0 }
    }

    fn room(&self) -> Room {
        let (free_blocks, threshold) = self.space.room();
        Room { free_blocks, threshold }
    }

    fn power_off(self) -> Survivor {
        Survivor::of(self.settings.consistency, self.settings.gtd_sync_every > 0, &self.map)
    }

    fn recover(
        board: &mut Board,
        config: &Config,
        seed: u64,
        survivor: Survivor,
        after: When,
    ) -> Result<(Self, When), Fault> {
        let lost = survivor.lost_entries();
        let found = survivor.find_map(board, after)?;
        let resumed = Dftl::resume(board, config, seed, found)?;
        // Counted once, by the recovery that gets through.
        board.event(Event::LostMapEntries, lost);
        Ok(resumed)
    }
}

impl Dftl {
    fn assemble(
        board: &Board,
        config: &Config,
        space: PageSpace,
        (translation, trims): (Translation, TrimRecords),
        capacity: u32,
    ) -> Self {
        let settings = config.scheme.dftl.clone();
        let geometry = board.geometry();
        let saved = saved_words(config, u64::from(capacity)) as u32;
        let cmt = Cmt::new(
            settings.cmt_policy,
            geometry.logical_pages,
            capacity,
            settings.slru_protected,
        );
        let checkpoints = Checkpoints::new(board.nand(), saved, 3 * geometry.planes());
        let mut map = CachedMap::new(geometry, cmt, translation, trims, checkpoints);
        map.lazy_copying = settings.lazy_copying;
        Dftl {
            space,
            map,
            rmw: config.io.partial_write == PartialWrite::Rmw,
            all_sectors: geometry.all_sectors(),
            settings,
        }
    }

    /// Algorithm 1: the entry of a page, loaded when it is not cached.
    #[inline]
    fn translate(
        &mut self,
        board: &mut Board,
        lpn: Lpn,
        after: When,
    ) -> Result<(Slot, When), Fault> {
        board.event(Event::MapLookups, 1);
        if let Some(slot) = self.map.cmt.find(lpn) {
            board.event(Event::MapHits, 1);
            self.map.cmt.touch(slot);
            return Ok((slot, after.waits_for_map(self.map.cmt.ready(slot))));
        }
        // Miss: make room, then load the entry from its translation page.
        let mut when = self.checkpoint_if_due(board, after)?;
        if self.map.cmt.is_full() {
            when = self.evict(board, when)?;
        }
        let (part, _) = self.map.translation.part_of(lpn);
        let loaded = self.load(board, part, when)?;
        let ppn = self.map.translation.entry(board, lpn);
        let slot = self.map.cmt.insert(lpn, ppn, loaded);
        if self.settings.prefetch > 0 {
            self.prefetch(board, slot, loaded);
        }
        Ok((slot, loaded))
    }

    fn load(&mut self, board: &mut Board, part: u32, after: When) -> Result<When, Fault> {
        match self.settings.map_read_xfer {
            MapTransfer::Page => self.map.translation.read(board, part, Cause::Translate, after),
            MapTransfer::Entry => {
                let location = self.map.translation.location(part);
                board.read_entry(location, part, Cause::Translate, after)
            }
        }
    }

    /// A write that does not load its entry (HAT's reading of DFTL): the superseded page stays valid
    /// until the entry meets its translation page.
    fn translate_blindly(
        &mut self,
        board: &mut Board,
        lpn: Lpn,
        after: When,
    ) -> Result<(Slot, When), Fault> {
        if self.map.cmt.find(lpn).is_some() {
            return self.translate(board, lpn, after);
        }
        board.event(Event::MapLookups, 1);
        let mut when = after;
        if self.map.cmt.is_full() {
            when = self.evict(board, when)?;
        }
        let slot = self.map.cmt.insert(lpn, None, when);
        self.map.cmt.set_unresolved(slot, true);
        Ok((slot, when))
    }

    /// Removes the policy's victim; a changed one is written to its translation page first.
    fn evict(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let victim = self.map.cmt.victim();
        let after = board.search(Search::Cached, self.map.cmt.len(), after);
        if !self.map.cmt.is_dirty(victim) {
            board.event(Event::EvictClean, 1);
            self.map.cmt.remove(victim);
            return Ok(after);
        }
        board.event(Event::EvictDirty, 1);
        let lpn = self.map.cmt.lpn(victim);
        let (part, _) = self.map.translation.part_of(lpn);
        let plane = self.space.home(board.nand(), part);
        let place = MapWrite { plane, cause: Cause::Translate };
        let (space, map) = (&mut self.space, &mut self.map);
        let done = if self.settings.batch_evict {
            let (written, along) = map.write_back_part(space, board, part, place, after)?;
            board.event(Event::BatchedEvictions, u64::from(along.saturating_sub(1)));
            written
        } else {
            map.write_back(space, board, victim, place, after)?
        };
        self.map.cmt.remove(victim);
        Ok(done)
    }

    /// Loads neighbours of an entry from the page that was just read, as long as that takes no map
    /// write.
    fn prefetch(&mut self, board: &mut Board, slot: Slot, loaded: When) {
        let first = self.map.cmt.lpn(slot).0;
        let (part, _) = self.map.translation.part_of(Lpn(first));
        let mut ready = loaded;
        let end = self.map.translation.lpns_of(part).end;
        for lpn in (first + 1..end).take(self.settings.prefetch as usize).map(Lpn) {
            if self.map.cmt.find(lpn).is_some() {
                continue;
            }
            if self.map.cmt.is_full() {
                let victim = self.map.cmt.victim();
                ready = board.search(Search::Cached, self.map.cmt.len(), ready);
                if victim == slot || self.map.cmt.is_dirty(victim) {
                    return;
                }
                board.event(Event::EvictClean, 1);
                self.map.cmt.remove(victim);
            }
            let ppn = self.map.translation.entry(board, lpn);
            let _ = self.map.cmt.insert(lpn, ppn, ready);
            board.event(Event::PrefetchedEntries, 1);
        }
    }

    #[inline]
    fn checkpoint_if_due(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let settings = &self.settings;
        let interval = match settings.consistency {
            Consistency::Replay => settings.checkpoint_interval,
            Consistency::Gtd => settings.gtd_sync_every,
            Consistency::Battery => 0,
        };
        let age = board.nand().sequence() - self.map.checkpoints.sequence();
        if interval == 0 || age < interval {
            return Ok(after);
        }
        match settings.consistency {
            Consistency::Replay => self.map.save_changed_entries(&mut self.space, board, after),
            _ => self.map.save_directory(&mut self.space, board, after),
        }
    }

    /// Goes on with a map found after a power cut. Changed entries that fit the CMT stay there; more
    /// of them are written to their translation pages, all of a page at once.
    fn resume(
        board: &mut Board,
        config: &Config,
        seed: u64,
        found: FoundMap,
    ) -> Result<(Self, When), Fault> {
        let (space, mut when) =
            PageSpace::recover(board, config, threshold(config), seed, found.when)?;
        let capacity = entries(config);
        let needed = found.changed.len() as u32;
        let parts = (found.translation, found.trims);
        let mut dftl = Dftl::assemble(board, config, space, parts, capacity.max(needed));
        dftl.map.checkpoints.restore(&found.checkpoint);
        for &(lpn, ppn) in &found.changed {
            let slot = dftl.map.cmt.insert(lpn, ppn, When::START);
            dftl.map.cmt.change(slot, ppn);
        }
        let (cmt, translation) = (&dftl.map.cmt, &dftl.map.translation);
        dftl.map.trims.forget_living(|lpn| match cmt.find(lpn) {
            Some(slot) => cmt.ppn(slot).is_some(),
            None => translation.entry(board, lpn).is_some(),
        });
        if needed <= capacity {
            return Ok((dftl, when));
        }
        let Dftl { mut space, mut map, .. } = dftl;
        when = map.write_back_all(&mut space, board, Cause::Recover, when)?;
        let parts = (map.translation, map.trims);
        let mut dftl = Dftl::assemble(board, config, space, parts, capacity);
        dftl.map.checkpoints = map.checkpoints;
        Ok((dftl, when))
    }
}
