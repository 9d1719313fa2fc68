//! # Idea
//! Pure page mapping with the whole table on flash, in translation pages, and only the entries in
//! use cached in SRAM.
//!
//! # Paper
//! Gupta, Kim, Urgaonkar: DFTL, ASPLOS 2009; journal version J. Comput. Sci. Technol. 29(2), 2014,
//! sections 3.1 to 3.3; `docs/papers/dftl2014.md`.
//!
//! # Structures
//! CMT: cached map entries, `dftl.cmt_entries`. GTD: where each translation page is. On flash:
//! translation pages of E entries, in blocks of their own; data blocks; one write frontier for each
//! ("current data block", "current translation block").
//!
//! # Read
//! Translate (Algorithm 1), then one page read. `dftl.writeback = after_completion` (HAT 2010,
//! IV.B.2, on DFTL): changed entries that had to leave wait in `dftl.writeback_entries` places
//! until the request is done, and are written then; later requests may find the flash busy with
//! that. A request that needs more places writes the entry that has waited longest first. An entry
//! that a later page of the request wants while it waits is taken back: a miss that reads nothing.
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
//! that completed is lost), `battery` (directory and CMT survive; `device.ram_nonvolatile` makes it
//! so).
//!
//! # Deviations
//! Checkpoints, replay and trims are ours: the paper leaves consistency open. The translation pages
//! of a new device are implicit (`dftl.init_map`). Under `replay` the directory is found by
//! scanning translation blocks, 0.2 % of the device. The copy of the directory under `gtd` lies
//! among the map pages, and where it lies is taken as known after a power cut (the paper: a fixed
//! place); map blocks programmed since are scanned, so that it loses no more than memory would.
//! Cache policy and victim policy default to what the authors' public code does, not to the text's
//! segmented LRU and cost-benefit. On several planes map pages go to a home plane by their number
//! and the threshold is two blocks higher.
//!
//! # Settings
//! The table below, and the groups `gc` and `alloc`.

mod settings;
mod sizes;

pub use settings::{DftlSettings, InitialMap, MapTransfer, WriteBack};

use sizes::{effective, entries, leaving, leaving_bytes, needs};

use crate::dftl::settings::Config;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::board::{Board, Search};
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::meter::{Cause, Event};
use ftlab_flash::request::PageIo;
use ftlab_flash::settings::SettingError;
use ftlab_flash::units::{Lpn, Tag};
use ftlab_ftl::forward;
use ftlab_ftl::parts::cmt::{CacheContext, CachePolicyKind, Cmt};
use ftlab_ftl::parts::demand_mapped::{self, DemandMapped, gtd_bytes};
use ftlab_ftl::parts::map_recovery::{Consistency, Survivor};
use ftlab_ftl::parts::slots::Slot;
use ftlab_ftl::scheme::{Classification, Family, Paper, Preset, Scheme};
use ftlab_ftl::settings::check_own;

/// The name under which the scheme table finds this file's scheme.
pub type Rostered = Dftl;

/// Demand-based page-mapped FTL.
#[derive(Clone)]
pub struct Dftl {
    base: DemandMapped<Cmt>,
    settings: DftlSettings,
    /// Whether changed entries that leave are written when the request is done.
    writes_behind: bool,
    /// Pages programmed from one checkpoint to the next; the largest number where none is taken.
    checkpoint_interval: u64,
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
        class: Classification::PAGES,
    };
    const PRESETS: &'static [Preset] = &[
        ("gtd", &[("dftl.consistency", "gtd")]),
        ("battery", &[("dftl.consistency", "battery")]),
        ("batch", &[("dftl.batch_evict", "true")]),
        // DLOOP (IPDPS 2013): what is moved stays in its plane, by copies at pages of one parity.
        (
            "dloop",
            &[
                ("timing.copyback", "true"),
                ("timing.copyback_same_parity", "true"),
                ("gc.skip_for_parity", "true"),
            ],
        ),
        // As HAT 2010 compares itself with it: no fetch on a write miss, a map read of tR alone,
        // write-back behind the request, entries with LPN and PPN, nothing for power cuts.
        (
            "hat",
            &[
                ("dftl.cmt_policy", "lru"),
                ("dftl.write_miss_fetch", "false"),
                ("dftl.writeback", "after_completion"),
                ("dftl.map_read_xfer", "entry"),
                ("dftl.entry_bytes", "8"),
                ("dftl.auto_entries", "16384"),
                ("dftl.checkpoint_interval", "0"),
            ],
        ),
    ];
    const DIVIDES_DATA: bool = true;
    /// A request touches some thirty lines of the cache: with more of them the first would find
    /// theirs displaced.
    const AHEAD: usize = 4;
    type Settings = DftlSettings;
    type Survivor = Survivor;

    fn check(config: &Config) -> Result<(), SettingError> {
        demand_mapped::check(config)?;
        let dftl = effective(config);
        let own = config.shared.own.cache.is_some();
        check_own("dftl.cmt_policy", "cache", dftl.cmt_policy == CachePolicyKind::Own, own)?;
        if dftl.gtd_sync_every > 0 && dftl.consistency != Consistency::Gtd {
            return Err(SettingError::Conflict(format!(
                "dftl.gtd_sync_every = {} needs dftl.consistency = gtd; under {} the directory is \
                 never copied",
                dftl.gtd_sync_every,
                dftl.consistency.name()
            )));
        }
        let Some(budget) = config.map_budget() else {
            return Ok(());
        };
        let gtd = if dftl.gtd_in_budget { gtd_bytes(config) } else { 0 };
        let entries = u64::from(entries(config));
        let wanted = entries * u64::from(dftl.entry_bytes) + leaving_bytes(config) + gtd;
        if dftl.cmt_entries.0.is_some() && wanted > budget {
            return Err(SettingError::Conflict(format!(
                "dftl.cmt_entries = {entries} takes {wanted} bytes, device.ram_bytes allows {budget} for maps",
            )));
        }
        Ok(())
    }

    forward!(needs => minimum_blocks, payload_pages);

    fn ram_use(config: &Config) -> Vec<RamUse> {
        let bytes = u64::from(entries(config)) * u64::from(config.own.entry_bytes);
        let cmt = RamUse { structure: "cmt", bytes, memory: Memory::Sram };
        let leaving = RamUse {
            structure: "leaving_entries",
            bytes: leaving_bytes(config),
            memory: Memory::Sram,
        };
        let own = [cmt, leaving];
        needs(config).ram_use(config, if leaving.bytes > 0 { &own } else { &own[..1] })
    }

    fn format(board: &mut Board, config: &Config, seed: u64) -> Result<Self, Fault> {
        let settings = effective(config);
        let cmt = cmt(config, board.geometry().logical_pages);
        let mut base = DemandMapped::new(board, config, &needs(config), cmt, seed);
        settings.apply(&mut base);
        if settings.init_map == InitialMap::Written {
            base.write_initial_map(board)?;
        }
        Ok(Self::over(base, settings))
    }

    #[inline]
    fn read(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<(When, Tag), Fault> {
        match self.translate(board, io.lpn, after) {
            Ok(known) => self.base.read(board, io, known),
            Err(fault) => {
                let after = fault.goes_on_without(after)?;
                let (part, _) = self.base.map.translation.part_of(io.lpn);
                let known = self.load(board, part, after)?;
                self.base.read_mapped(board, io, known)
            }
        }
    }

    #[inline]
    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let after = self.checkpoint_if_due(board, after)?;
        let known = if self.settings.write_miss_fetch || self.base.needs_old(io) {
            self.translate(board, io.lpn, after)?
        } else {
            self.translate_blindly(board, io.lpn, after)?
        };
        let written = self.base.write(board, io, known);
        if written.is_err() {
            // Nothing superseded the page that nobody looked up: the map on flash names it again.
            self.base.map.cache.drop_unresolved(io.lpn);
        }
        written
    }

    fn trim(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let known = self.translate(board, io.lpn, after)?;
        self.base.trim(board, io.lpn, known)
    }

    /// The entries that had to leave are written, each as if it were alone. The request is done:
    /// what cannot be written waits on, until want of a place refuses another.
    #[inline]
    fn behind_request(&mut self, board: &mut Board, done: When) -> Result<(), Fault> {
        while let Some(slot) = self.base.map.cache.first_leaving() {
            let left = self.base.evict(board, slot, self.settings.batch_evict, done).map(Some);
            if left.or_else(Fault::unless_worn_out)?.is_none() {
                break;
            }
        }
        Ok(())
    }

    forward!(base: flush, clean_map, changed_entries, idle, locate, unsettled, room, self_check);
    forward!(base: refresh_at_once);
    forward!(base.space: glance_at, measuring_begins);

    #[inline]
    fn glance_ahead(&self, board: &Board, requests: usize) -> u32 {
        self.base.glance_at_next(board, requests)
    }

    fn power_off(self) -> Survivor {
        let copied = self.settings.gtd_sync_every > 0;
        Survivor::of(self.settings.consistency, copied, &self.base.map)
    }

    fn recover(
        board: &mut Board,
        config: &Config,
        seed: u64,
        survivor: Survivor,
        after: When,
    ) -> Result<(Self, When), Fault> {
        let lost = survivor.lost_entries();
        let settings = effective(config);
        let empty = cmt(config, board.geometry().logical_pages);
        let (needs, known) = (needs(config), (survivor, entries(config)));
        let (mut base, when) =
            DemandMapped::recover(board, config, (&needs, seed), known, empty, after)?;
        settings.apply(&mut base);
        // Counted once, by the recovery that gets through.
        board.event(Event::LostMapEntries, lost);
        Ok((Self::over(base, settings), when))
    }
}

impl DftlSettings {
    fn apply(&self, base: &mut DemandMapped<Cmt>) {
        base.map.lazy_copying = self.lazy_copying;
        base.records_trims = self.consistency == Consistency::Replay;
    }
}

/// The cache, empty.
fn cmt(config: &Config, pages: u32) -> Cmt {
    let DftlSettings { cmt_policy, slru_protected, .. } = config.own;
    let capacity = entries(config);
    let context = CacheContext {
        slots: capacity + leaving(config),
        capacity,
        protected: slru_protected,
        own: config.shared.own.cache.as_ref(),
    };
    Cmt::with_policy(cmt_policy, pages, &context)
}

impl Dftl {
    fn over(base: DemandMapped<Cmt>, settings: DftlSettings) -> Self {
        let writes_behind = settings.writeback == WriteBack::AfterCompletion;
        let interval = match settings.consistency {
            Consistency::Replay => settings.checkpoint_interval,
            Consistency::Gtd => settings.gtd_sync_every,
            Consistency::Battery => 0,
        };
        let checkpoint_interval = if interval == 0 { u64::MAX } else { interval };
        Dftl { base, settings, writes_behind, checkpoint_interval }
    }

    /// Algorithm 1: makes sure that the entry of a page is cached; when it is known.
    #[inline]
    fn translate(&mut self, board: &mut Board, lpn: Lpn, after: When) -> Result<When, Fault> {
        board.event(Event::MapLookups, 1);
        let cmt = &mut self.base.map.cache;
        match cmt.find(lpn) {
            Some(slot) if cmt.is_leaving(slot) => return Ok(self.take_back(board, slot, after)),
            Some(slot) => {
                board.event(Event::MapHits, 1);
                cmt.touch(slot);
                return Ok(after.waits_for_map(cmt.ready(slot)));
            }
            None => {}
        }
        // Miss: make room, then load the entry from its translation page.
        let when = self.checkpoint_if_due(board, after)?;
        let when = self.make_room(board, when)?;
        let (part, _) = self.base.map.translation.part_of(lpn);
        let loaded = self.load(board, part, when)?;
        let map = &mut self.base.map;
        let ppn = map.translation.entry(board, lpn);
        let slot = map.cache.insert(lpn, ppn, loaded);
        if self.settings.prefetch > 0 {
            self.prefetch(board, slot, loaded);
        }
        Ok(loaded)
    }

    #[inline(always)]
    fn load(&mut self, board: &mut Board, part: u32, after: When) -> Result<When, Fault> {
        match self.settings.map_read_xfer {
            MapTransfer::Page => self.base.load(board, part, after),
            MapTransfer::Entry => {
                let location = self.base.map.translation.location(part);
                board.read_entry(location, part, Cause::Translate, after)
            }
        }
    }

    /// A write that does not load its entry (HAT's reading of DFTL): the superseded page stays
    /// valid until the entry meets its translation page.
    fn translate_blindly(
        &mut self,
        board: &mut Board,
        lpn: Lpn,
        after: When,
    ) -> Result<When, Fault> {
        if self.base.map.cache.find(lpn).is_some() {
            return self.translate(board, lpn, after);
        }
        board.event(Event::MapLookups, 1);
        let when = self.make_room(board, after)?;
        let cmt = &mut self.base.map.cache;
        let slot = cmt.insert(lpn, None, when);
        cmt.set_unresolved(slot, true);
        Ok(when)
    }

    /// The policy's victim leaves before the new entry comes; under `dftl.writeback =
    /// after_completion` a changed one waits to be written, and the request waits for a write only
    /// for want of a place.
    #[inline(always)]
    fn make_room(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let cmt = &self.base.map.cache;
        if !cmt.is_full() {
            return Ok(after);
        }
        let victim = cmt.victim();
        let found = board.search(Search::Cached, cmt.len(), after);
        if !self.writes_behind || !cmt.is_dirty(victim) {
            return self.base.evict(board, victim, self.settings.batch_evict, found);
        }
        let ready = match cmt.first_leaving() {
            Some(first) if cmt.is_crowded() => {
                self.base.evict(board, first, self.settings.batch_evict, found)?
            }
            _ => found,
        };
        self.base.map.cache.leave(victim);
        Ok(ready)
    }

    /// A page's entry has left in the same request and is not written yet. That is a miss, as in a
    /// cache without places for leaving entries, but neither writes nor reads: the entry is here.
    #[cold]
    fn take_back(&mut self, board: &mut Board, slot: Slot, after: When) -> When {
        let cmt = &mut self.base.map.cache;
        let mut ready = after.waits_for_map(cmt.ready(slot));
        let mut changed = None;
        if cmt.is_full() {
            let victim = cmt.victim();
            ready = board.search(Search::Cached, cmt.len(), ready);
            if cmt.is_dirty(victim) {
                changed = Some(victim);
            } else {
                board.event(Event::EvictClean, 1);
                cmt.remove(victim);
            }
        }
        board.event(Event::ReturnedEvictions, 1);
        cmt.take_back(slot, changed);
        ready
    }

    /// Loads neighbours of an entry from the page that was just read, as long as that takes no map
    /// write.
    fn prefetch(&mut self, board: &mut Board, slot: Slot, loaded: When) {
        let map = &mut self.base.map;
        let first = map.cache.lpn(slot).0;
        let (part, _) = map.translation.part_of(Lpn(first));
        let mut ready = loaded;
        let end = map.translation.lpns_of(part).end;
        for lpn in (first + 1..end).take(self.settings.prefetch as usize).map(Lpn) {
            if map.cache.find(lpn).is_some() {
                continue;
            }
            if map.cache.is_full() {
                let victim = map.cache.victim();
                ready = board.search(Search::Cached, map.cache.len(), ready);
                if victim == slot || map.cache.is_dirty(victim) {
                    return;
                }
                board.event(Event::EvictClean, 1);
                map.cache.remove(victim);
            }
            let ppn = map.translation.entry(board, lpn);
            let _ = map.cache.insert(lpn, ppn, ready);
            board.event(Event::PrefetchedEntries, 1);
        }
    }

    #[inline]
    fn checkpoint_if_due(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let DemandMapped { space, map, .. } = &mut self.base;
        let age = board.nand().sequence() - map.checkpoints.sequence();
        if age < self.checkpoint_interval {
            return Ok(after);
        }
        match self.settings.consistency {
            Consistency::Replay => map.save_changed_entries(space, board, after),
            _ => map.save_directory(space, board, after),
        }
    }
}
