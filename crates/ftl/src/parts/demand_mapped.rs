//! Page-mapped data whose map lies on flash: blocks, map and collection of DFTL and its heirs, with
//! everything but the cache.
//!
//! A scheme says what memory keeps of the map (its [`MapCache`]), what it loads when, and what
//! leaves; here a page is written, trimmed and found again after a power cut. The order of a write
//! is always the same: the scheme makes sure that the cache holds the entry (it *translates*), then
//! [`DemandMapped::write`] collects garbage where it is due, programs the page, marks the old one
//! and changes the cached entry.

mod entries;
mod kept;
mod sizes;
#[cfg(test)]
mod tests;

pub use entries::Along;
pub use kept::Kept;
pub use sizes::{
    CACHE_BYTES, Needs, cache_budget, check, check_cache, floor, gtd_bytes, threshold,
};

use crate::answers::{Location, Room, Unsettled};
use crate::parts::cached_map::CachedMap;
use crate::parts::checkpoint::Checkpoints;
use crate::parts::cmt::Cmt;
use crate::parts::map_cache::MapCache;
use crate::parts::map_recovery::{Consistency, FoundMap, Survivor};
use crate::parts::page_space::{PageSpace, Stream};
use crate::parts::translation::{MapWrite, Translation};
use crate::parts::trim_records::TrimRecords;
use crate::settings::SharedSettings;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::board::settings::PartialWrite;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{Cause, Event};
use ftlab_flash::request::PageIo;
use ftlab_flash::units::{Lpn, PlaneId, Ppn, Tag};

/// What became of a page that was to be written the short way ([`DemandMapped::write_shortly`]).
pub enum Written {
    /// It was programmed here, but for its time.
    Shortly(Ppn),
    /// Nothing: this plane takes it, with care.
    Not(PlaneId),
}

/// Page-mapped data whose map lies on flash.
#[derive(Clone)]
pub struct DemandMapped<C> {
    /// The blocks.
    pub space: PageSpace,
    /// The map, and what memory knows of it.
    pub map: CachedMap<C>,
    /// Trims are recorded on flash, because memory does not survive a power cut.
    pub records_trims: bool,
    /// Partial writes read the old page.
    rmw: bool,
    all_sectors: u64,
}

impl<C: MapCache> DemandMapped<C> {
    /// Nothing mapped, every block erased.
    pub fn new(board: &Board, config: &SharedSettings, needs: &Needs, cache: C, seed: u64) -> Self {
        let geometry = board.geometry();
        let space = PageSpace::new(board, config, needs.threshold, seed);
        let parts = (Translation::new(geometry), TrimRecords::new(geometry));
        Self::assemble(
            board,
            config,
            (space, cache),
            parts,
            Self::checkpoints(board, config, needs),
        )
    }

    fn checkpoints(board: &Board, config: &SharedSettings, needs: &Needs) -> Checkpoints {
        let open = config.frontiers() * board.geometry().planes();
        Checkpoints::new(board.nand(), needs.checkpoint_words as u32, open)
    }

    fn assemble(
        board: &Board,
        config: &SharedSettings,
        (space, cache): (PageSpace, C),
        (translation, trims): (Translation, TrimRecords),
        checkpoints: Checkpoints,
    ) -> Self {
        let geometry = board.geometry();
        let map = CachedMap::new(geometry, cache, translation, trims, checkpoints);
        DemandMapped {
            space,
            map,
            records_trims: !config.device.ram_nonvolatile,
            rmw: config.io.partial_write == PartialWrite::Rmw,
            all_sectors: geometry.all_sectors(),
        }
    }

    /// Whether a write must know the page that it supersedes, because it keeps some of its sectors.
    #[inline]
    pub fn needs_old(&self, io: &PageIo) -> bool {
        self.rmw && io.sectors != self.all_sectors
    }

    /// Reads a page whose entry the cache holds.
    #[inline]
    pub fn read(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        known: When,
    ) -> Result<(When, Tag), Fault> {
        match self.map.cached(board, io.lpn).expect("the entry was translated") {
            Some(ppn) => board.read(ppn, io.cause, known),
            None => board.read_unwritten(io.lpn, known),
        }
    }

    /// Reads a page whose entry the cache holds or whose translation page was just read.
    pub fn read_mapped(
        &self,
        board: &mut Board,
        io: &PageIo,
        known: When,
    ) -> Result<(When, Tag), Fault> {
        match self.map.current(board, io.lpn) {
            Some(ppn) => board.read(ppn, io.cause, known),
            None => board.read_unwritten(io.lpn, known),
        }
    }

    /// Reads a page whose entry gets no place in the cache: its translation page is read for this
    /// page alone.
    #[cold]
    pub fn read_alone(
        &self,
        board: &mut Board,
        io: &PageIo,
        after: When,
    ) -> Result<(When, Tag), Fault> {
        let (part, _) = self.map.translation.part_of(io.lpn);
        let known = self.load(board, part, after)?;
        self.read_mapped(board, io, known)
    }

    /// Reads a page whose entry found no place in the cache, because nothing that has changed can
    /// be written any more (`fault`; any other one is the answer): when that is known, and what
    /// memory may know of the page is there (`after`).
    #[cold]
    pub fn read_placeless(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        fault: Fault,
        after: When,
    ) -> Result<(When, Tag), Fault> {
        let after = fault.goes_on_without(after)?;
        match self.map.cached(board, io.lpn) {
            Some(_) => self.read(board, io, after),
            None => self.read_alone(board, io, after),
        }
    }

    /// Writes a page whose entry the cache holds.
    #[inline(always)]
    pub fn write(&mut self, board: &mut Board, io: &PageIo, known: When) -> Result<When, Fault> {
        match self.write_shortly(board, io) {
            Written::Shortly(new) => {
                let old = self.map.exchange(board, io.lpn, Some(new));
                Ok(self.finish_write(board, io, (old, new), known))
            }
            Written::Not(plane) => self.write_with_care(board, *io, plane, known),
        }
    }

    /// The short way of [`DemandMapped::write`], to where the page is programmed: whoever changes the
    /// cached entry then goes on with [`DemandMapped::finish_write`]. The plane that takes it where it
    /// must be written with care, nothing being done.
    #[inline(always)]
    pub fn write_shortly(&mut self, board: &mut Board, io: &PageIo) -> Written {
        let plane = self.space.place_beside_withheld(board, io);
        let place = (plane, Stream::Data);
        // A space whose data a policy divides is never taken for one that has room.
        if self.space.has_room(place)
            && board.writes_plainly()
            && let Some(new) = self.space.write_untimed(board, place, (io, PageKind::Data))
        {
            return Written::Shortly(new);
        }
        Written::Not(plane)
    }

    /// The cached entry of a page that was written the short way names the new copy in place of the
    /// old one: when it is programmed.
    #[inline(always)]
    pub fn finish_write(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        (old, new): (Option<Ppn>, Ppn),
        known: When,
    ) -> When {
        let done = board.time_plainly(new, io.cause, known);
        self.written(board, io.lpn, old);
        done
    }

    /// The long way of [`DemandMapped::write`]. Its page comes as a copy: what has its address taken
    /// must be in memory, and the short way needs it nowhere.
    #[inline(never)]
    pub fn write_with_care(
        &mut self,
        board: &mut Board,
        io: PageIo,
        plane: PlaneId,
        known: When,
    ) -> Result<When, Fault> {
        let io = &io;
        let place = (plane, self.space.host_stream(board, io));
        let ready = self.space.make_room(board, &mut self.map, place, known)?;
        // Looked up after collection, which may have moved the old version.
        let old = self.map.cached(board, io.lpn).expect("the entry was translated");
        let (new, done) = self.space.write(board, place, (io, PageKind::Data, old), ready)?;
        self.map.cache.change(io.lpn, Some(new));
        self.written(board, io.lpn, old);
        Ok(done)
    }

    /// The host's page was programmed, and the cached entry says so: the old one is invalid.
    #[inline(always)]
    fn written(&mut self, board: &mut Board, lpn: Lpn, old: Option<Ppn>) {
        if let Some(old) = old {
            self.space.invalidate(board, old);
        }
        self.map.trims.written(lpn);
    }

    /// Forgets a page whose entry the cache holds.
    pub fn trim(&mut self, board: &mut Board, lpn: Lpn, known: When) -> Result<When, Fault> {
        let mut known = known;
        if self.map.cache.is_unresolved(lpn) {
            // A blind write left an older version valid on flash: look it up before forgetting.
            let (part, _) = self.map.translation.part_of(lpn);
            (known, _) = self.write_back_part(board, part, Cause::Translate, known)?;
        }
        if let Some(old) = self.map.cached(board, lpn).expect("the entry was translated") {
            self.space.invalidate(board, old);
            self.map.cache.change(lpn, None);
            self.map.trims.trim(lpn);
            self.space.trimmed(lpn);
        }
        Ok(known)
    }

    /// Records pending trims.
    pub fn flush(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let mut when = after;
        while self.records_trims && self.map.trims.next_pending().is_some() {
            when = self.map.record_trims(&mut self.space, board, when)?;
        }
        self.space.flush_parity(board, when)
    }

    /// Cached entries that their translation pages do not say.
    pub fn changed_entries(&self) -> u64 {
        self.map.cache.changed().count() as u64
    }

    /// Writes them, a translation page at a time.
    pub fn clean_map(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        self.map.write_back_all(&mut self.space, board, Cause::Translate, after)
    }

    /// Collects in an idle gap.
    pub fn idle(&mut self, board: &mut Board, after: When) -> Result<Option<When>, Fault> {
        self.space.collect_idle(board, &mut self.map, after)
    }

    /// Moves a block whose data cannot wait.
    pub fn refresh_at_once(
        &mut self,
        board: &mut Board,
        after: When,
    ) -> Result<Option<When>, Fault> {
        self.space.refresh_at_once(board, &mut self.map, after)
    }

    /// Reads the translation page of an entry.
    #[inline]
    pub fn load(&self, board: &mut Board, part: u32, after: When) -> Result<When, Fault> {
        self.map.translation.read(board, part, Cause::Translate, after)
    }

    #[inline]
    fn map_write(&self, board: &Board, part: u32, cause: Cause) -> MapWrite {
        MapWrite { plane: self.space.home(board.nand(), part), cause }
    }

    /// Writes one changed entry to its translation page: a read and a program.
    pub fn write_back(
        &mut self,
        board: &mut Board,
        lpn: Lpn,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let how = self.map_write(board, self.map.translation.part_of(lpn).0, cause);
        self.map.write_back(&mut self.space, board, lpn, how, after)
    }

    /// Writes every changed entry of a translation page, with one read and one program; returns how
    /// many there were.
    pub fn write_back_part(
        &mut self,
        board: &mut Board,
        part: u32,
        cause: Cause,
        after: When,
    ) -> Result<(When, u32), Fault> {
        let how = self.map_write(board, part, cause);
        self.map.write_back_part(&mut self.space, board, part, how, after)
    }

    /// Writes the changed ones of some entries of a translation page, with one read and one
    /// program; returns how many there were.
    pub fn write_back_these(
        &mut self,
        board: &mut Board,
        (part, lpns): (u32, &[Lpn]),
        cause: Cause,
        after: When,
    ) -> Result<(When, u32), Fault> {
        let how = self.map_write(board, part, cause);
        self.map.write_back_these(&mut self.space, board, (part, lpns), how, after)
    }

    /// Writes a translation page of which memory holds every entry: a program alone; nothing when
    /// none has changed. Returns how many entries had.
    pub fn write_whole_part(
        &mut self,
        board: &mut Board,
        part: u32,
        cause: Cause,
        after: When,
    ) -> Result<(When, u32), Fault> {
        let how = self.map_write(board, part, cause);
        self.map.write_whole_part(&mut self.space, board, part, how, after)
    }

    /// The same, even when none has changed.
    #[inline(always)]
    pub fn rewrite_whole_part(
        &mut self,
        board: &mut Board,
        part: u32,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let how = self.map_write(board, part, cause);
        self.map.rewrite_whole_part(&mut self.space, board, part, how, after)
    }

    /// A translation page leaves a cache that holds all of it; a changed one is written first.
    pub fn leave_whole_part(
        &mut self,
        board: &mut Board,
        (part, is_changed): (u32, bool),
        after: When,
    ) -> Result<When, Fault> {
        if !is_changed {
            board.event(Event::EvictClean, 1);
            return Ok(after);
        }
        let (done, entries) = self.write_whole_part(board, part, Cause::Translate, after)?;
        board.event(Event::EvictDirty, 1);
        board.event(Event::BatchedEvictions, u64::from(entries - 1));
        Ok(done)
    }

    /// A changed entry leaves its cache: every changed one of its translation page is written.
    pub fn leave_with_part(
        &mut self,
        board: &mut Board,
        lpn: Lpn,
        after: When,
    ) -> Result<When, Fault> {
        let (part, _) = self.map.translation.part_of(lpn);
        let (done, entries) = self.write_back_part(board, part, Cause::Translate, after)?;
        board.event(Event::EvictDirty, 1);
        board.event(Event::BatchedEvictions, u64::from(entries.saturating_sub(1)));
        Ok(done)
    }

    /// Writes every translation page anew, as FlashSim begins.
    pub fn write_initial_map(&mut self, board: &mut Board) -> Result<(), Fault> {
        for part in 0..Translation::pages(board.geometry()) {
            let how = self.map_write(board, part, Cause::Translate);
            let (space, translation) = (&mut self.space, &mut self.map.translation);
            let _ = translation.write(space, board, part, &[], how, When::START)?;
        }
        Ok(())
    }

    /// Where the newest version of a page is on flash.
    #[inline]
    pub fn locate(&self, board: &Board, lpn: Lpn) -> Location {
        self.map.current(board, lpn).map_or(Location::Nowhere, Location::Flash)
    }

    /// Superseded pages that still count as valid: those of writes without look-up.
    pub fn unsettled(&self, board: &Board) -> Unsettled {
        let map = &self.map;
        if map.cache.unresolved() == 0 {
            return Unsettled::default();
        }
        let stale = |lpn: &Lpn| {
            map.cache.is_unresolved(*lpn) && map.translation.entry(board, *lpn).is_some()
        };
        let stale_pages = map.cache.changed().filter(|(lpn, _)| stale(lpn)).count() as u64;
        Unsettled { stale_pages, ..Unsettled::default() }
    }

    /// Whether blocks, map and cache agree with themselves.
    ///
    /// # Errors
    /// Says what does not, with its numbers.
    pub fn self_check(&self, board: &Board) -> Result<(), String> {
        self.space.self_check(board)?;
        self.map.cache.self_check()
    }

    /// Free blocks of the emptiest plane, and where collection begins.
    pub fn room(&self) -> Room {
        self.space.room()
    }

    /// What is left of the map when the power goes: under `device.ram_nonvolatile` all of it, else
    /// what flash tells.
    pub fn power_off(&self, nonvolatile: bool) -> Survivor {
        let kept = if nonvolatile { Consistency::Battery } else { Consistency::Replay };
        Survivor::of(kept, false, &self.map)
    }

    /// Goes on with the map that flash and `survivor` tell. Changed entries that `room` has place
    /// for go to the `empty` cache; more of them are written to their translation pages, all of a
    /// page at once, and the cache begins without any.
    pub fn recover(
        board: &mut Board,
        config: &SharedSettings,
        needs: (&Needs, u64),
        survivor: (Survivor, u32),
        mut empty: C,
        after: When,
    ) -> Result<(Self, When), Fault> {
        let fill = |changed: &[(Lpn, Option<Ppn>)]| {
            empty.fill(changed);
            empty
        };
        Self::recover_with(board, config, needs, survivor, fill, after)
    }

    /// The same with a cache that is made of these entries.
    pub fn recover_with(
        board: &mut Board,
        config: &SharedSettings,
        (needs, seed): (&Needs, u64),
        (survivor, room): (Survivor, u32),
        cache: impl FnOnce(&[(Lpn, Option<Ppn>)]) -> C,
        after: When,
    ) -> Result<(Self, When), Fault> {
        let found = survivor.find_map(board, after)?;
        let FoundMap { translation, mut trims, changed, checkpoint, when } = found;
        translation.tell_astray_after_recovery(board);
        let (space, mut when) = PageSpace::recover(board, config, needs.threshold, seed, when)?;
        let mut checkpoints = Self::checkpoints(board, config, needs);
        checkpoints.restore(&checkpoint);
        let living = |lpn: Lpn| match changed.binary_search_by_key(&lpn, |&(lpn, _)| lpn) {
            Ok(found) => changed[found].1.is_some(),
            Err(_) => translation.entry(board, lpn).is_some(),
        };
        trims.forget_living(living);
        if changed.len() as u32 <= room {
            let with = (space, cache(&changed));
            let parts = (translation, trims);
            return Ok((Self::assemble(board, config, with, parts, checkpoints), when));
        }
        let geometry = board.geometry();
        let most = changed.len() as u32;
        let mut cmt = Cmt::unordered(geometry.logical_pages, most);
        cmt.fill(&changed);
        let mut map = CachedMap::new(geometry, cmt, translation, trims, checkpoints);
        let mut space = space;
        when = map.write_back_all(&mut space, board, Cause::Recover, when)?;
        let CachedMap { translation, trims, checkpoints, .. } = map;
        let with = (space, cache(&[]));
        Ok((Self::assemble(board, config, with, (translation, trims), checkpoints), when))
    }
}
