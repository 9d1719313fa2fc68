//! # Idea
//! DFTL with a second level of cache: whole translation pages below the single entries. Neighbours
//! of a loaded entry are found there, and changed entries that leave the first level are absorbed
//! there instead of being written one by one.
//!
//! # Paper
//! Qin, Wang, Liu, Shao: A Two-Level Caching Mechanism for Demand-Based Page-Level Address Mapping
//! in NAND Flash Memory Storage Systems, RTAS 2011; as TreeFTL 2013 (II.B, III.A) and
//! `docs/papers/others.md#cdftl` tell it.
//!
//! # Structures
//! CMT (level 1): n1 single entries, least recently used order, `cdftl.cmt_entries`. CTP (level 2):
//! n2 translation pages, least recently used order, `cdftl.ctp_pages`. An entry may be in both: the
//! CMT is newer. GTD, translation pages, data blocks: DFTL's. Memory: n1 * 8 + n2 * S + GTD bytes.
//!
//! # Read
//! Translate: the CMT has the entry; or the CTP has its page, and the entry is copied to the CMT;
//! or the page is read into the CTP and the entry goes to the CMT. Then one page read.
//!
//! # Write
//! Translate, program the next page of the data frontier, invalidate the old page, change the entry
//! in the CMT; the CTP learns of it when the entry leaves.
//!
//! # Reclaim
//! DFTL's. An entry that is in either level changes in memory alone (lazy copying).
//! Entries leave the CMT in the order of `cdftl.cmt_evict_order`: a changed one whose page is in
//! the CTP is absorbed without flash access, any other changed one is written to its translation
//! page. Resident ones first (the default, as we read TreeFTL 2013, II.B): entries of other pages
//! stay while there is a resident one, that is nearly always, and fill the CMT; under random writes
//! `lru`, which absorbs too, misses far less. A changed page that leaves the CTP takes the changed
//! entries of the CMT with it (they become clean) and is written without a read, every entry being
//! known.
//!
//! # Recovery
//! Nothing but the flash: the out-of-band areas of all blocks are read, and nothing that completed
//! is lost; more changed entries than the CMT has room for are written out. Under
//! `device.ram_nonvolatile` both levels survive as they are, and trims need no records.
//!
//! # Deviations
//! The paper was not at hand: what TreeFTL 2013 and the published abstract leave open is a setting.
//! What counts as a use of a page in the CTP is ours: its load, and a hit in it; neither a hit in
//! the CMT nor an absorption. Room is made in the CMT first, then in the CTP. A page leaves the CTP
//! without a write if nothing was changed in the CTP, whatever the CMT holds of it. Recovery and
//! trims are ours.
//!
//! # Settings
//! `cdftl.*`, and the groups `gc` and `alloc`.

mod levels;
mod settings;
mod sizes;

pub use settings::{CdftlSettings, EvictOrder, LoadPolicy};

use levels::Levels;
use sizes::{Sizes, ram_use, sizes};

use crate::cdftl::settings::Config;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::board::{Board, Search};
use ftlab_flash::memory::RamUse;
use ftlab_flash::meter::{Cause, Event};
use ftlab_flash::request::PageIo;
use ftlab_flash::settings::SettingError;
use ftlab_flash::units::{Lpn, Tag};
use ftlab_ftl::forward;
use ftlab_ftl::parts::demand_mapped::{self, DemandMapped, Kept, Needs};
use ftlab_ftl::scheme::{Classification, Family, Paper, Preset, Scheme};

/// The name under which the scheme table finds this file's scheme.
pub type Rostered = Cdftl;

/// Demand-based page-mapped FTL with two levels of cache.
#[derive(Clone)]
pub struct Cdftl {
    base: DemandMapped<Levels>,
    settings: CdftlSettings,
}

impl Scheme for Cdftl {
    const PAPER: Paper = Paper {
        name: "cdftl",
        title: "A two-level caching mechanism for demand-based page-level address mapping in NAND \
                flash memory storage systems",
        authors: "Qin, Wang, Liu, Shao",
        venue: "RTAS 2011",
        year: 2011,
        sections: "as told by TreeFTL 2013, II.B and III.A",
        deviations: &[
            "the paper was not at hand; what its citations leave open is a setting",
            "a page of the second level is used when it is loaded or hit there",
            "recovery and trims are added",
        ],
        family: Family::CachedMap,
        class: Classification::PAGES,
    };
    const PRESETS: &'static [Preset] = &[
        ("one_level", &[("cdftl.ctp_pages", "0"), ("cdftl.cmt_evict_order", "lru")]),
        ("selective", &[("cdftl.load_policy", "selective")]),
    ];
    const DIVIDES_DATA: bool = true;
    type Settings = CdftlSettings;
    type Survivor = Kept<Levels>;

    fn check(config: &Config) -> Result<(), SettingError> {
        demand_mapped::check(config)?;
        sizes::check(config)
    }

    forward!(Needs::plain => minimum_blocks, payload_pages);

    fn ram_use(config: &Config) -> Vec<RamUse> {
        Needs::plain(config).ram_use(config, &ram_use(config))
    }

    fn format(board: &mut Board, config: &Config, seed: u64) -> Result<Self, Fault> {
        let cache = levels(board, config);
        let base = DemandMapped::new(board, config, &Needs::plain(config), cache, seed);
        Ok(Self::on(base, config))
    }

    #[inline]
    fn read(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<(When, Tag), Fault> {
        match self.translate(board, io, after) {
            Ok(known) => self.base.read(board, io, known),
            Err(fault) => {
                let after = after.waits_for_map(self.base.map.cache.ready(io.lpn));
                self.base.read_placeless(board, io, fault, after)
            }
        }
    }

    forward!(base after translate: write, trim);
    forward!(base: flush, clean_map, changed_entries, idle, locate, room, self_check, power_off);
    forward!(base: refresh_at_once);
    forward!(base.space: measuring_begins);

    fn recover(
        board: &mut Board,
        config: &Config,
        seed: u64,
        survivor: Kept<Levels>,
        after: When,
    ) -> Result<(Self, When), Fault> {
        let (needs, empty) = (Needs::plain(config), levels(board, config));
        let cache = (sizes(config).entries, empty);
        let (base, when) = survivor.recover(board, config, (&needs, seed), cache, after)?;
        Ok((Self::on(base, config), when))
    }
}

/// Both levels, empty.
fn levels(board: &Board, config: &Config) -> Levels {
    let Sizes { entries, pages } = sizes(config);
    Levels::new(board.geometry(), entries, pages, config.own.cmt_evict_order)
}

impl Cdftl {
    fn on(base: DemandMapped<Levels>, config: &Config) -> Self {
        Cdftl { base, settings: config.own.clone() }
    }

    /// Makes sure that the CMT holds the entry of a page; when it is known.
    #[inline]
    fn translate(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let lpn = io.lpn;
        board.event(Event::MapLookups, 1);
        if let Some(ready) = self.base.map.cache.use_entry(lpn) {
            board.event(Event::MapHits, 1);
            return Ok(after.waits_for_map(ready));
        }
        // The CTP has its page: the entry is copied, at no cost but that of the entry that leaves.
        if let Some(ready) = self.base.map.cache.use_page(lpn) {
            board.event(Event::MapHits, 1);
            board.event(Event::SecondLevelHits, 1);
            let known = self.make_entry_room(board, after)?.waits_for_map(ready);
            self.copy_to_cmt(board, lpn, known);
            return Ok(known);
        }
        // Neither has: the translation page is read, and kept in the CTP.
        let (part, _) = self.base.map.translation.part_of(lpn);
        let keep = self.keeps(part);
        let mut when = self.make_entry_room(board, after)?;
        if keep {
            when = self.make_page_room(board, when)?;
        }
        let loaded = self.base.load(board, part, when)?;
        if keep {
            let map = &mut self.base.map;
            map.cache.insert_page(board, &map.translation, part, loaded);
        }
        self.copy_to_cmt(board, lpn, loaded);
        Ok(loaded)
    }

    fn copy_to_cmt(&mut self, board: &Board, lpn: Lpn, ready: When) {
        let ppn = self.base.map.current(board, lpn);
        self.base.map.cache.insert(lpn, ppn, ready);
    }

    /// Whether the CTP is to hold a translation page that is about to be read.
    fn keeps(&self, part: u32) -> bool {
        let cache = &self.base.map.cache;
        let wanted = match self.settings.load_policy {
            LoadPolicy::Always => true,
            LoadPolicy::Selective => cache.entries_of(part) >= self.settings.selective_entries,
        };
        wanted && cache.ctp().capacity() > 0
    }

    /// Makes room in the CMT: a changed entry is absorbed by the CTP if that holds its page, else
    /// written to its translation page.
    fn make_entry_room(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let cache = &mut self.base.map.cache;
        if !cache.cmt().is_full() {
            return Ok(after);
        }
        let victim = cache.leaving_entry();
        let after = board.search(Search::Cached, cache.cmt().len(), after);
        if !cache.cmt().is_dirty(victim) {
            board.event(Event::EvictClean, 1);
            cache.remove(victim);
            return Ok(after);
        }
        let lpn = cache.cmt().lpn(victim);
        if cache.absorb(victim) {
            board.event(Event::AbsorbedEvictions, 1);
            return Ok(after);
        }
        let done = self.base.write_back(board, lpn, Cause::Translate, after)?;
        board.event(Event::EvictDirty, 1);
        self.base.map.cache.remove(victim);
        Ok(done)
    }

    /// Makes room in the CTP: a changed page is written as a whole, with what the CMT knows better.
    fn make_page_room(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let cache = &self.base.map.cache;
        if !cache.ctp().is_full() {
            return Ok(after);
        }
        let victim = cache.ctp().oldest();
        let found = board.search(Search::Cached, cache.ctp().len(), after);
        let leaving = (cache.ctp().part(victim), cache.ctp().dirty_entries(victim) > 0);
        let done = self.base.leave_whole_part(board, leaving, found)?;
        board.event(Event::SecondLevelEvictions, 1);
        self.base.map.cache.remove_page(victim);
        Ok(done)
    }
}
