//! One memory for map and data, as a tree: the directory (GTD) at its root, cached translation
//! pages (CTP) below it, cached data pages (CDP) below these. TreeFTL 2013, section III, without
//! the order in which pages leave, which is the scheme's ([`Pruning`]).
//!
//! The map lies on flash, of pages (`demand_mapped`) or of blocks (`over_blocks`); a frame takes a
//! page of either kind. The settings are `treeftl.*`, whichever scheme prunes.
//!
//! A data page that is changed here keeps its entry for the older version on flash, which stays
//! valid until the newer one is programmed: a power cut of a volatile memory falls back to it.

mod base;
mod block_sizes;
mod bypass;
mod eviction;
mod gaps;
mod levels;
mod over_blocks;
mod over_pages;
mod pruning;
mod recovery;
mod scheme;
mod sizes;
#[cfg(test)]
mod tests;

pub use ftlab_ftl::parts::tree_frames::Frames;
pub use pruning::{Leaf, Pruning};
pub use recovery::TreeSurvivor;
pub use scheme::Tree;
pub use sizes::{frames, latte_bytes};

use base::TreeBase;
use levels::Levels;

use crate::treeftl::settings::Config;
use crate::treeftl::settings::{BypassMap, HitScope, TreeftlSettings};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::ram::RamWork;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{Cause, Event};
use ftlab_flash::request::{PageIo, RequestShape};
use ftlab_flash::units::{Lpn, Nanos, Ppn, Tag};
use ftlab_ftl::answers::{Location, Room, Unsettled};
use ftlab_ftl::parts::held_pages::Held;
use ftlab_ftl::parts::request_size::{RequestSize, SizeRule};
use ftlab_ftl::parts::slots::Slot;

/// The tree.
#[derive(Clone)]
pub struct PageTree<P, B> {
    base: B,
    order: P,
    settings: TreeftlSettings,
    /// Pages of both kinds that the memory holds.
    frames: u32,
    step_time: Nanos,
    all_sectors: u64,
    sectors_per_page: u32,
    /// Memory outlives a power cut.
    nonvolatile: bool,
    sequential: RequestSize,
    /// The translation page that a sequential request works with and that has no frame.
    working: Option<u32>,
    /// Where the search for a changed translation page in idle gaps goes on.
    idle_turn: u32,
    /// When everything is on flash that has left memory, or that idle time has written.
    written: When,
    levels: Levels,
}

impl<P: Pruning, B: TreeBase> PageTree<P, B> {
    fn above(board: &Board, config: &Config<P::Settings>, base: B) -> Self {
        let settings = config.own.treeftl.clone();
        let (maps, data) = sizes::slots::<P>(config);
        PageTree {
            base,
            order: P::new(&config.own.order, maps, data),
            frames: frames::<P>(config),
            step_time: (settings.lru_cost_us * 1000.0).round() as Nanos,
            all_sectors: board.geometry().all_sectors(),
            sectors_per_page: board.geometry().all_sectors().count_ones(),
            nonvolatile: config.device.ram_nonvolatile,
            sequential: RequestSize::new(settings.seq_pages, SizeRule::Above, false),
            working: None,
            idle_turn: 0,
            written: When::START,
            levels: Levels::default(),
            settings,
        }
    }

    fn changed_entries(&self) -> u64 {
        self.base.changed_entries()
    }

    fn clean_map(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        self.base.clean_map(board, after)
    }

    fn held(&self) -> &Frames {
        self.base.frames()
    }

    fn held_mut(&mut self) -> &mut Frames {
        self.base.frames_mut()
    }

    /// Frames in use.
    fn used(&self) -> u32 {
        self.held().pages() - u32::from(self.working.is_some())
    }

    /// Tells of frames of each kind where they have changed: once for all that a page did.
    #[inline]
    fn tell_levels(&mut self, board: &mut Board) {
        self.levels.tell(board, self.base.frames());
    }

    /// Serves a page, and tells of the frames then.
    #[inline]
    fn serve<T>(&mut self, board: &mut Board, page: impl FnOnce(&mut Self, &mut Board) -> T) -> T {
        let served = page(self, board);
        self.tell_levels(board);
        served
    }

    /// Writes a page: random ones into the tree.
    #[inline]
    fn write_page(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        if self.sequential.judge(board, io) {
            return self.write_through(board, io, after);
        }
        // Steps; in case C (neither page is cached) the translation page is loaded.
        // In two steps: `translate` would put the token that it answers together in memory.
        let found = self.find_map(board, io.lpn, true, after)?;
        let (map, known) = (found.0, self.known_from(found, after));
        board.event(Event::BufferLookups, 1);
        // Cases B and C: the data page takes a frame, and is loaded first.
        let Some(data) = self.held().find(io.lpn) else {
            return self.write_loaded(board, io, map, known);
        };
        // Case A: it is cached too.
        board.event(Event::BufferHits, 1);
        let ready = known.waits_for_buffer(self.held().get(data).ready);
        let place = (map, self.held().offset_below(io.lpn, map));
        self.order.used_data(board, place, data);
        // Step A-3: the data goes to the data page.
        let done = board.ram_pages(RamWork::Data, 1, ready);
        self.held_mut().write(data, io.data, io.sectors, done);
        Ok(done)
    }

    /// Reads a page; what is not cached is not cached for it.
    #[inline]
    fn read_page(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        after: When,
    ) -> Result<(When, Tag), Fault> {
        if self.sequential.is_long(&io.request) {
            return self.read_through(board, io, after);
        }
        let counted = self.settings.hit_scope != HitScope::RandomWrites;
        board.event(Event::BufferLookups, u64::from(counted));
        let (map, known) = match self.translate(board, io.lpn, true, after) {
            Ok(translated) => translated,
            Err(fault) => return self.read_without_frame(board, io, (fault, after)),
        };
        if let Some(data) = self.held().find(io.lpn) {
            board.event(Event::BufferHits, u64::from(counted));
            return Ok(self.read_held(board, data, known));
        }
        self.use_map(board, map);
        self.base.read(board, io, known)
    }

    /// Reads a page whose translation page finds no frame, because what would have to leave cannot
    /// be written any more: the translation page is read for this page alone.
    #[cold]
    fn read_without_frame(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        (fault, after): (Fault, When),
    ) -> Result<(When, Tag), Fault> {
        let after = fault.goes_on_without(after)?;
        let known = self.base.load(board, self.held().part_of(io.lpn), after)?;
        self.base.read(board, io, known)
    }

    /// Reads a cached data page.
    fn read_held(&mut self, board: &mut Board, data: Slot, known: When) -> (When, Tag) {
        let parent = self.held().parent(data);
        self.order.used_data(board, parent, data);
        let Held { tag, ready, .. } = *self.held().get(data);
        (board.ram_pages(RamWork::Data, 1, known.waits_for_buffer(ready)), tag)
    }

    /// Forgets a page; a cached version of it is forgotten unwritten.
    fn trim_page(&mut self, board: &mut Board, io: &PageIo, after: When) -> Result<When, Fault> {
        let (map, known) = self.translate(board, io.lpn, true, after)?;
        match self.held().find(io.lpn) {
            Some(data) => self.drop_data(data, known),
            None => self.use_map(board, map),
        }
        self.base.trim(board, io, known)
    }

    fn use_map(&mut self, board: &mut Board, map: Slot) {
        if self.settings.touch_on_ctp_only {
            self.order.used_map(board, map);
        }
    }

    /// Makes sure that the translation page of an entry is cached: where, and when it is there.
    #[inline(always)]
    fn translate(
        &mut self,
        board: &mut Board,
        lpn: Lpn,
        counted: bool,
        after: When,
    ) -> Result<(Slot, When), Fault> {
        let found = self.find_map(board, lpn, counted, after)?;
        Ok((found.0, self.known_from(found, after)))
    }

    /// The same without the time: where, and whether it was cached.
    #[inline(always)]
    fn find_map(
        &mut self,
        board: &mut Board,
        lpn: Lpn,
        counted: bool,
        after: When,
    ) -> Result<(Slot, bool), Fault> {
        let part = self.held().part_of(lpn);
        board.event(Event::MapLookups, u64::from(counted));
        match self.held().maps.find(part) {
            Some(map) => {
                board.event(Event::MapHits, u64::from(counted));
                Ok((map, true))
            }
            None => Ok((self.bring_map(board, part, after)?, false)),
        }
    }

    /// When what [`PageTree::find_map`] found is there.
    #[inline(always)]
    fn known_from(&self, (map, was_cached): (Slot, bool), after: When) -> When {
        let ready = self.held().maps.ready(map);
        if was_cached { after.waits_for_map(ready) } else { ready }
    }

    /// Caches a translation page: where.
    #[inline(never)]
    fn bring_map(&mut self, board: &mut Board, part: u32, after: When) -> Result<Slot, Fault> {
        // Step C-2: the directory tells where the translation page is on flash.
        let free = self.take_frame(board, None, after)?;
        let map = self.load_map(board, part, free)?;
        self.order.loaded(board, map);
        self.levels.note();
        Ok(map)
    }

    #[inline(always)]
    fn load_map(&mut self, board: &mut Board, part: u32, after: When) -> Result<Slot, Fault> {
        let read = self.base.load(board, part, after)?;
        let loaded = board.ram_pages(RamWork::Map, 1, read);
        Ok(self.base.admit(board, part, loaded))
    }

    /// Steps B-3 and C-4: a data page takes a frame, with the version on flash. Then it is written.
    #[inline]
    fn write_loaded(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        map: Slot,
        known: When,
    ) -> Result<When, Fault> {
        let free = self.take_frame(board, Some(map), known)?;
        let place = (map, self.held().offset_below(io.lpn, map));
        let wanted = self.settings.load_on_full_write || self.base.needs_old(io);
        let unwritten = self.settings.load_unwritten;
        // Looked up after the eviction: a collection may have moved the page.
        let (free, old) = match wanted || unwritten {
            true => self.base.search_at(board, place, io.lpn, free)?,
            false => (free, None),
        };
        if let Some(ppn) = old.filter(|_| wanted) {
            let (read, tag) = board.read(ppn, Cause::ReadModifyWrite, free)?;
            let ready = read.waits_for_buffer(self.held().free_from());
            let loaded = board.ram_pages(RamWork::Data, 1, ready);
            return Ok(self.enter_written(board, io, place, Some(tag), loaded));
        }
        self.write_unloaded(board, io, (place, old.is_none() && unwritten), free)
    }

    /// The same of a page of which flash has nothing, which may be fetched all the same, or of which
    /// nothing is wanted.
    #[inline(never)]
    fn write_unloaded(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        (place, fetched): ((Slot, u32), bool),
        free: When,
    ) -> Result<When, Fault> {
        let free_from = self.held().free_from();
        let (ready, old) = match fetched {
            true => {
                let ready = board.fetch_unwritten(io.lpn, free)?.waits_for_buffer(free_from);
                (board.ram_pages(RamWork::Data, 1, ready), Some(Tag(0)))
            }
            false => (free.waits_for_buffer(free_from), None),
        };
        Ok(self.enter_written(board, io, place, old, ready))
    }

    /// A page takes a frame and is written there; `old` is what flash has of it, if that was read.
    #[inline(always)]
    fn enter_written(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        place: (Slot, u32),
        old: Option<Tag>,
        ready: When,
    ) -> When {
        let done = board.ram_pages(RamWork::Data, 1, ready);
        let new = (io.data, io.sectors);
        let data = self.held_mut().enter_written(io.lpn, place, old, new, done);
        self.order.used_data(board, place, data);
        self.levels.note();
        done
    }

    /// Writes a cached data page, which stays.
    fn write_out(&mut self, board: &mut Board, data: Slot, after: When) -> Result<When, Fault> {
        let done = self.program(board, self.held().parent(data), data, after)?;
        self.held_mut().written_out(data);
        Ok(done)
    }

    /// Programs a cached data page; its entry, which is cached, follows.
    #[inline(always)]
    fn program(
        &mut self,
        board: &mut Board,
        place: (Slot, u32),
        data: Slot,
        after: When,
    ) -> Result<When, Fault> {
        debug_assert_eq!(self.held().parent(data), place);
        let Held { lpn, tag, sectors, ready, .. } = *self.held().get(data);
        let sectors = sectors & self.all_sectors;
        let request = RequestShape {
            first_lpn: lpn,
            pages: 1,
            index: 0,
            sectors: self.count(sectors),
            hint: None,
        };
        let io = PageIo { lpn, sectors, cause: Cause::Host, data: tag, request };
        let done = self.base.write_at(board, place, &io, after.waits_for_buffer(ready))?;
        board.event(Event::BufferFlushes, 1);
        self.written = self.written.join(done);
        Ok(done)
    }

    /// How many sectors of a page these are; nearly always all of them.
    #[inline(always)]
    fn count(&self, sectors: u64) -> u32 {
        if sectors == self.all_sectors { self.sectors_per_page } else { sectors.count_ones() }
    }

    /// Programs a cached translation page, whose entries are all here.
    #[inline(always)]
    fn write_map(&mut self, board: &mut Board, map: Slot, after: When) -> Result<When, Fault> {
        let part = self.held().maps.part(map);
        let after = after.waits_for_map(self.held().maps.ready(map));
        let done = self.base.write_map(board, part, after)?;
        board.event(Event::MapPageFlushes, 1);
        Ok(done)
    }

    /// The data page that is written next while it stays: the one that changed longest ago, or the
    /// first changed one of its group.
    fn next_to_write(&self) -> Option<Slot> {
        let oldest = self.held().oldest_dirty()?;
        if !B::IN_ORDER {
            return Some(oldest);
        }
        let (map, _) = self.held().parent(oldest);
        let offset = self.held().next_dirty(map, 0).expect("a page of the group has changed");
        self.held().find(self.held().lpn(map, offset))
    }

    /// Writes what is newer here than on flash, and records trims. The map on flash may stay
    /// behind, whoever has begun to write it: a scan finds what it does not say. Data that left
    /// before, or that a gap began to write, may still be on its way.
    fn write_all(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let mut done = after;
        while let Some(data) = self.next_to_write() {
            done = done.join(self.write_out(board, data, after)?);
        }
        Ok(done.join(self.base.flush(board, after)?).waits_for_buffer(self.written))
    }

    /// Where a page probably is on flash; a page in a frame needs no look at it.
    #[inline]
    fn find_ahead(&self, board: &Board, lpn: Lpn) -> Option<Ppn> {
        match self.held().find(lpn) {
            Some(_) => None,
            None => self.base.find_ahead(board, lpn),
        }
    }

    /// Where the newest version of a page is.
    #[inline]
    fn find(&self, board: &Board, lpn: Lpn) -> Location {
        let held = self.held().find(lpn).map(|data| self.held().get(data));
        match held.filter(|held| held.dirty) {
            Some(held) => Location::Ram(held.tag),
            None => self.base.locate(board, lpn),
        }
    }

    /// Free blocks and what they are compared with.
    fn room(&self) -> Room {
        self.base.room()
    }

    /// Pages whose newest version is here, and their older versions on flash.
    fn count_unsettled(&self, board: &Board) -> Unsettled {
        let on_flash = |held: &&Held| self.base.current(board, held.lpn).is_some();
        Unsettled {
            stale_pages: self.held().dirty().filter(on_flash).count() as u64,
            ram_pages: u64::from(self.held().dirty_data()),
            ..Unsettled::default()
        }
    }

    /// Whether blocks, frames and flash agree.
    fn examine(&self, board: &Board) -> Result<(), String> {
        self.base.self_check(board)?;
        self.held().self_check()?;
        if self.working.is_some() {
            return Err("a sequential request left its working page behind".to_string());
        }
        // The working page of a request that was cut takes a frame after recovery, until one is
        // needed.
        let most = self.frames + u32::from(self.settings.bypass_map == BypassMap::Flash);
        if self.used() > most {
            return Err(format!("{} pages are in {} frames", self.used(), self.frames));
        }
        for held in self.held().data().filter(|held| !held.dirty) {
            let Location::Flash(ppn) = self.base.locate(board, held.lpn) else {
                return Err(format!("page {} is unchanged in memory, not on flash", held.lpn));
            };
            let state = board.nand().state();
            if state.tag(ppn) != held.tag && !state.is_unreadable(ppn) {
                return Err(format!("page {} differs from flash, unnoticed", held.lpn));
            }
        }
        Ok(())
    }
}
