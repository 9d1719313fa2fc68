//! # Idea
//! Map entries lie in levels of 1, 2, 4, 8 ... by how recently they were used, and the upper
//! levels' pages are in RAM too: what is used is near, and nothing is ever searched for.
//!
//! # Paper
//! Huang, Chang, Kuo: Joint management of RAM and flash memory with access pattern considerations,
//! DAC 2012, as TreeFTL 2013 (Wang, Wong), sections II.B and III, describes it and compares with
//! it; `docs/papers/others.md#jtl`. The paper itself was not at hand.
//!
//! # Structures
//! Level n has 2^n entries. Levels 0 to m, group 0: entries whose page is in RAM, as many as its
//! data half has frames (the last of them may be cut short). The levels below, group 1: entries
//! whose page is on flash (`parts::doubling_levels`). On flash: DFTL's data and translation pages.
//!
//! # Read
//! In group 0 from RAM, else from flash. The entry goes up: to level 0 if its page is in RAM, else
//! to level m + 1 (`jtl.cache_reads` keeps the page, so that it goes to level 0 too).
//!
//! # Write
//! Into RAM; the entry goes to level 0. A partial write of a page that is on flash loads it first.
//! A request of more than `jtl.seq_pages` pages is written to flash and read from there, past the
//! RAM; pages of it that are in RAM are read from there, and superseded there.
//!
//! # Reclaim
//! An entry that goes up displaces another, which goes a level down and displaces one there at
//! random, and so on until a level has room. From m to m + 1 its page is written to flash; from the
//! last level the entry leaves, and is written to its translation page if it has changed. Garbage
//! collection is DFTL's.
//!
//! # Recovery
//! From flash alone: dirty pages and changed entries in RAM are lost, but every page that was
//! programmed is found in its newest version, and a flush of the host writes all dirty pages. Under
//! `device.ram_nonvolatile` nothing is lost, and pages keep their order.
//!
//! # Deviations
//! What is known of the paper does not say what a read of a page on flash does to the levels. Group
//! 0 has pages in RAM and reads are not cached, so its entry goes to the top of group 1; so do
//! entries that sequential writes change or load (one map read per translation page and request).
//! Hole, write-back of single entries, partial writes, collection, trims and recovery are ours.
//!
//! # Settings
//! The table of `settings`; `device.ram_bytes` is the RAM of both halves, by
//! default 1/512 of the capacity (64 MiB of TreeFTL 2013's device; 32 KiB to 64 MiB).

mod bypass;
mod settings;

pub use settings::{JtlSettings, Sizes};

use crate::jtl::settings::Config;
use bypass::Loaded;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::meter::{Event, Level};
use ftlab_flash::request::PageIo;
use ftlab_flash::rng::{Purpose, Rng};
use ftlab_flash::settings::SettingError;
use ftlab_flash::units::{Lpn, Tag};
use ftlab_ftl::forward;
use ftlab_ftl::parts::cmt::{CachePolicyKind, Cmt};
use ftlab_ftl::parts::demand_mapped::{self, DemandMapped, Needs};
use ftlab_ftl::parts::doubling_levels::{Cascade, Levels};
use ftlab_ftl::parts::map_recovery::Survivor;
use ftlab_ftl::parts::ram_data::{KeptPages, RamData};
use ftlab_ftl::parts::request_size::{RequestSize, SizeRule};
use ftlab_ftl::parts::slots::Slot;
use ftlab_ftl::scheme::{Classification, Family, Paper, Scheme};

/// The name under which the scheme table finds this file's scheme.
pub type Rostered = Jtl;

/// Joint management of map and data by levels of 2^n.
#[derive(Clone)]
pub struct Jtl {
    /// The cache holds the entries; their order is the levels'.
    base: DemandMapped<Cmt>,
    data: RamData,
    levels: Levels,
    rng: Rng,
    sequential: RequestSize,
    loaded: Option<Loaded>,
    settings: JtlSettings,
}

impl Scheme for Jtl {
    const PAPER: Paper = Paper {
        name: "jtl",
        title: "Joint management of RAM and flash memory with access pattern considerations",
        authors: "Huang, Chang, Kuo",
        venue: "DAC 2012; TreeFTL, 2013, II.B",
        year: 2012,
        sections: "as TreeFTL 2013 describes it",
        deviations: &[
            "an access that leaves no page in RAM moves its entry to the top of group 1, not to \
             level 0",
            "the hole that an accessed entry leaves ends the cascade (jtl.hole_stops_cascade)",
            "trims and their record pages are added",
        ],
        family: Family::RamManaging,
        class: Classification::PAGES,
    };
    const BUFFERS_DATA: bool = true;
    const DIVIDES_DATA: bool = true;
    type Settings = JtlSettings;
    type Survivor = (Survivor, KeptPages);

    fn check(config: &Config) -> Result<(), SettingError> {
        demand_mapped::check(config)?;
        Sizes::new(config).check()
    }

    forward!(Needs::plain => minimum_blocks, payload_pages);

    fn ram_use(config: &Config) -> Vec<RamUse> {
        let Sizes { map_bytes, data_bytes, .. } = Sizes::new(config);
        let sram = |structure, bytes| RamUse { structure, bytes, memory: Memory::Sram };
        let own = [sram("map_levels", map_bytes), sram("data_pages", data_bytes)];
        Needs::plain(config).ram_use(config, &own)
    }

    fn format(board: &mut Board, config: &Config, seed: u64) -> Result<Self, Fault> {
        let base = DemandMapped::new(board, config, &Needs::plain(config), cmt(config), seed);
        Ok(Self::assemble(board, config, base, seed))
    }

    fn read(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<(When, Tag), Fault> {
        if self.sequential.is_long(&io.request) {
            return self.read_through(board, io, after);
        }
        let (known, hit) = match self.look_up(board, io.lpn, after) {
            Ok(found) => found,
            Err(fault) => return self.read_without_place(board, io, (fault, after)),
        };
        board.event(Event::BufferLookups, 1);
        if let Some(slot) = self.data.pages().find(io.lpn) {
            board.event(Event::BufferHits, 1);
            let read = self.data.get_merged(&mut self.base, board, (slot, io), known)?;
            self.after_read(board, (io.lpn, hit), 0, after)?;
            return Ok(read);
        }
        let (done, tag) = self.base.read(board, io, known)?;
        if self.settings.cache_reads && RamData::is_worth_a_frame(tag) {
            if let Some(ready) = self.after_read(board, (io.lpn, hit), 0, after)? {
                let (slot, free) = self.data.enter(io.lpn, ready);
                let _ = self.data.fill(board, slot, tag, done.waits_for_buffer(free));
            }
        } else {
            self.after_read(board, (io.lpn, hit), self.levels.below(), after)?;
        }
        Ok((done, tag))
    }

    fn write(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        if self.sequential.judge(board, io) {
            return self.write_through(board, io, after);
        }
        let (known, hit) = self.look_up(board, io.lpn, after)?;
        board.event(Event::BufferLookups, 1);
        if let Some(slot) = self.data.pages().find(io.lpn) {
            board.event(Event::BufferHits, 1);
            // The entry moves first: should the device have no room for that, nothing was written.
            let moved = self.move_up(board, (io.lpn, hit), 0, known)?;
            return Ok(self.data.put(board, slot, io, known).join(moved));
        }
        let mut old = None;
        if self.data.is_partial(io) {
            old = self.data.load_old(&self.base, board, io.lpn, known)?;
        }
        let ready = self.move_up(board, (io.lpn, hit), 0, known)?;
        let (slot, free) = self.data.enter(io.lpn, ready);
        Ok(self.data.put_over(board, (slot, io), old, free))
    }

    fn trim(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let (known, hit) = self.look_up(board, io.lpn, after)?;
        let known = self.move_up(board, (io.lpn, hit), self.levels.below(), known)?;
        if let Some(slot) = self.data.pages().find(io.lpn) {
            let free = self.data.pages().get(slot).ready;
            self.data.leave(board, slot, free);
        }
        self.base.trim(board, io.lpn, known)
    }

    /// Every dirty page is written and stays in RAM, clean.
    fn flush(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let mut done = after;
        let slots = self.data.to_flush();
        for &slot in &slots {
            let lpn = self.data.pages().get(slot).lpn;
            let mut ready = after;
            if self.data.may_be_lost(&self.base, slot) {
                // Its entry may have to leave group 0, and gets its place below before anything is
                // written: a page that is lost must not stay as a clean one.
                ready = self.make_place(board, after)?;
            }
            let (written, whole) = self.data.write_out(&mut self.base, board, slot, ready)?;
            done = done.join(written);
            if !whole {
                // Flash lost sectors of it: it is no page to be kept.
                self.sink_alone(board, lpn, slot, written);
            }
        }
        self.data.flushed(slots);
        self.base.flush(board, done)
    }

    forward!(base: clean_map, changed_entries, idle, room);
    forward!(base: refresh_at_once);
    forward!(data over base: locate, unsettled);

    fn self_check(&self, board: &Board) -> Result<(), String> {
        self.data.self_check(&self.base, board)?;
        let cache = &self.base.map.cache;
        let mut entries = 0;
        for level in 0..self.levels.count() {
            entries += self.levels.filled(level).0;
            for slot in self.levels.members(level) {
                let lpn = cache.lpn(slot);
                let held = self.data.pages().find(lpn).is_some();
                if cache.find(lpn) != Some(slot) || held != (level < self.levels.below()) {
                    return Err(format!(
                        "level {level} holds page {lpn}, whose page is {}in RAM and whose entry is \
                         in {:?}",
                        if held { "" } else { "not " },
                        cache.find(lpn)
                    ));
                }
            }
        }
        if entries != cache.len() {
            return Err(format!("{entries} entries in levels, {} in memory", cache.len()));
        }
        Ok(())
    }

    fn power_off(self) -> Self::Survivor {
        let (levels, cache) = (&self.levels, &self.base.map.cache);
        let upper = (0..levels.below()).flat_map(|level| levels.members(level));
        let frames = upper.filter_map(|slot| self.data.pages().find(cache.lpn(slot)));
        self.data.power_off(&self.base, frames)
    }

    fn recover(
        board: &mut Board,
        config: &Config,
        seed: u64,
        (map, data): Self::Survivor,
        after: When,
    ) -> Result<(Self, When), Fault> {
        let Sizes { entries, frames, .. } = Sizes::new(config);
        // Pages that survived have their entries in group 0; all others go to group 1.
        let room = entries - frames + data.pages.len() as u32;
        let (needs, empty) = (Needs::plain(config), cmt(config));
        let (base, mut when) =
            DemandMapped::recover(board, config, (&needs, seed), (map, room), empty, after)?;
        let mut jtl = Self::assemble(board, config, base, seed);
        for held in &data.pages {
            let known = jtl.base.map.cache.find(held.lpn);
            let slot = known.unwrap_or_else(|| {
                let ppn = jtl.base.map.translation.entry(board, held.lpn);
                jtl.base.map.cache.insert(held.lpn, ppn, When::START)
            });
            let level = jtl.levels.room(0, jtl.levels.below()).expect("no more pages than before");
            jtl.levels.put(slot, level);
            let _ = jtl.data.restore(held);
        }
        let mut left: Vec<Slot> = jtl.base.map.cache.slots().collect();
        left.retain(|&slot| jtl.levels.level_of(slot).is_none());
        for slot in left {
            match jtl.levels.room(jtl.levels.below(), jtl.levels.count()) {
                Some(level) => jtl.levels.put(slot, level),
                // The request that was cut had one more on its way.
                None => when = jtl.base.evict(board, slot, false, when)?,
            }
        }
        // Counted once, by the recovery that gets through.
        board.event(Event::LostBufferedPages, data.lost);
        Ok((jtl, when))
    }
}

/// The entries, none yet.
fn cmt(config: &Config) -> Cmt {
    let pages = config.device.logical_pages() as u32;
    Cmt::new(CachePolicyKind::Lru, pages, Sizes::new(config).entries, 0.0)
}

impl Jtl {
    fn assemble(board: &Board, config: &Config, base: DemandMapped<Cmt>, seed: u64) -> Self {
        let Sizes { entries, frames, .. } = Sizes::new(config);
        let settings = config.own.clone();
        Jtl {
            base,
            data: RamData::new(board, frames),
            levels: Levels::new(entries, frames),
            rng: Rng::new(seed, Purpose::Demotion),
            sequential: RequestSize::new(settings.seq_pages, SizeRule::Above, false),
            loaded: None,
            settings,
        }
    }

    /// The levels, for tests that look inside.
    pub fn levels(&self) -> &Levels {
        &self.levels
    }

    /// The level of a page's entry, if it is in memory.
    pub fn level_of(&self, lpn: Lpn) -> Option<u32> {
        let slot = self.base.map.cache.find(lpn)?;
        self.levels.level_of(slot)
    }

    /// Makes sure that a page's entry is in memory; a new one begins at the top of group 1. When it
    /// is known, and whether it was there.
    #[inline]
    fn look_up(&mut self, board: &mut Board, lpn: Lpn, after: When) -> Result<(When, bool), Fault> {
        board.event(Event::MapLookups, 1);
        let cache = &self.base.map.cache;
        if let Some(slot) = cache.find(lpn) {
            board.event(Event::MapHits, 1);
            return Ok((after.waits_for_map(cache.ready(slot)), true));
        }
        let (part, _) = self.base.map.translation.part_of(lpn);
        let ready = self.make_place(board, after)?;
        let read = self.base.load(board, part, ready)?;
        self.begin(board, lpn, read);
        Ok((read, false))
    }

    /// Sees to it that the top of group 1 has room, for an entry that is not in memory yet.
    fn make_place(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let top = self.levels.below();
        let nobody = (Slot(0), None);
        let cascade = self.levels.plan(nobody, top, true, &mut self.rng);
        let when = self.leave_last(board, &cascade, after)?;
        self.count(board, cascade.demoted().len());
        self.levels.sink(&cascade);
        Ok(when)
    }

    /// The entry of a translation page that was read takes its place.
    fn begin(&mut self, board: &mut Board, lpn: Lpn, read: When) {
        let ppn = self.base.map.translation.entry(board, lpn);
        let slot = self.base.map.cache.insert(lpn, ppn, read);
        self.levels.put(slot, self.levels.below());
        board.level(Level::CachedEntries, u64::from(self.base.map.cache.len()));
    }

    /// Moves an entry that is in memory to a level; what it displaces goes down. A page that leaves
    /// group 0 with its entry is written to flash. The hole of an entry that was not `there` before
    /// the request is none: it always ends the cascade.
    fn move_up(
        &mut self,
        board: &mut Board,
        (lpn, there): (Lpn, bool),
        target: u32,
        after: When,
    ) -> Result<When, Fault> {
        let accessed = self.base.map.cache.find(lpn).expect("the entry was looked up");
        let from = self.levels.level_of(accessed);
        let hole_stops = self.settings.hole_stops_cascade || !there;
        let cascade = self.levels.plan((accessed, from), target, hole_stops, &mut self.rng);
        let mut when = self.leave_last(board, &cascade, after)?;
        let crosses = |&&(slot, level): &&(Slot, u32)| {
            level >= self.levels.below() && self.levels.is_upper(slot)
        };
        if let Some(&(slot, _)) = cascade.demoted().iter().find(crosses) {
            // From m to m + 1. The page is written last of all: nothing can fail after it.
            let page = self.data.pages().find(self.base.map.cache.lpn(slot));
            let page = page.expect("pages of group 0 are in RAM");
            if self.data.pages().get(page).dirty {
                (when, _) = self.data.write_out(&mut self.base, board, page, when)?;
            } else {
                board.event(Event::BufferCleanDrops, 1);
            }
            self.data.leave(board, page, when);
        }
        self.count(board, cascade.demoted().len());
        self.levels.apply(&cascade, accessed);
        Ok(when)
    }

    /// Moves the entry of a page that was read. The host does not wait for it; a worn-out device
    /// can move none, and is read all the same.
    fn after_read(
        &mut self,
        board: &mut Board,
        entry: (Lpn, bool),
        target: u32,
        after: When,
    ) -> Result<Option<When>, Fault> {
        self.move_up(board, entry, target, after).map(Some).or_else(Fault::unless_worn_out)
    }

    fn count(&self, board: &mut Board, demoted: usize) {
        board.event(Event::Cascades, u64::from(demoted > 0));
        board.event(Event::CascadeSteps, demoted as u64);
    }

    /// The entry that a cascade pushes out of the last level leaves, if there is one.
    fn leave_last(
        &mut self,
        board: &mut Board,
        cascade: &Cascade,
        after: When,
    ) -> Result<When, Fault> {
        match cascade.demoted().last() {
            Some(&(slot, level)) if level == self.levels.count() => {
                let done = self.base.evict(board, slot, false, after)?;
                self.levels.take_out(slot);
                Ok(done)
            }
            _ => Ok(after),
        }
    }

    /// The page of an entry of group 0 leaves RAM; the entry goes to the top of group 1, where
    /// [`Jtl::make_place`] made room.
    fn sink_alone(&mut self, board: &mut Board, lpn: Lpn, page: Slot, free: When) {
        let entry = self.base.map.cache.find(lpn).expect("pages of group 0 have entries");
        self.levels.take_out(entry);
        self.levels.put(entry, self.levels.below());
        self.data.leave(board, page, free);
    }
}
