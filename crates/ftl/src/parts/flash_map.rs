//! A map on flash with whole map pages in memory: the pages used last, each written when it leaves
//! or at once.
//!
//! The map of blocks: Kim et al. 2002 (`docs/papers/others.md#bast`) keep it on flash and write
//! what a merge changes with one map page. Here the map page of a logical block is written whenever
//! its data block changes: the rest is copied from the old map page, which is read first unless the
//! controller holds it. Counted as: look-ups and map pages of first data blocks `Translate`,
//! updates by merges and levelling `GcMapUpdate`, cleaning of the area `GcMapBlock`.
//!
//! The map of page-mapped blocks (`docs/papers/others.md#waftl`): a map page is changed in memory
//! and written when it leaves, all of it, so that nothing is read for that.
//!
//! Recovery reads the map pages and writes those anew that differ from what it found. A map page
//! for which there is no block then, or at the end of a merge, is kept ([`MapArea::keep`]). What
//! this is not: the map pages on flash, which are [`MapArea`]'s, nor the table; `self_check`
//! compares the two.

use crate::parts::block_supply::BlockSupply;
use crate::parts::map_area::{Backing, FoundMapPages, MapArea};
use crate::parts::slots::Slot;
use crate::parts::slots::slot_list::SlotLists;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{Cause, Event};
use ftlab_flash::units::{pack, unpack, zeroed};

/// How long a map page stays in memory that was not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stay {
    /// As the one used last. So does one that was there.
    Newest,
    /// Until the next one comes; one that was there stays as long as it would have.
    Oldest,
}

/// Directory, cached map pages, and the area with all of them.
#[derive(Clone, Debug)]
pub struct FlashMap {
    area: MapArea,
    /// Place of each map page in memory, plus one.
    places: Vec<u32>,
    /// The map page at each place.
    cached: Vec<u32>,
    /// When what was read for a place was there.
    ready: Vec<When>,
    /// Whether the map page at a place says something else than flash.
    changed: Vec<bool>,
    order: SlotLists<1>,
}

impl FlashMap {
    /// Nothing of so many entries mapped; memory holds `most` map pages.
    pub fn new(geometry: &Geometry, entries: u32, most: u32) -> Self {
        Self::over(MapArea::new(geometry, entries), most)
    }

    /// Memory without a map page yet.
    fn over(area: MapArea, most: u32) -> Self {
        let pages = area.parts().end;
        let most = most.min(pages);
        FlashMap {
            area,
            places: zeroed(pages as usize),
            cached: Vec::with_capacity(most as usize),
            ready: vec![When::START; most as usize],
            changed: vec![false; most as usize],
            order: SlotLists::new(most),
        }
    }

    /// RAM of the directory, and of the pages in memory.
    pub fn ram_use(geometry: &Geometry, entries: u32, most: u32) -> [(&'static str, u64); 2] {
        let held = u64::from(most.min(MapArea::pages(geometry, entries)));
        let cached = held * u64::from(geometry.entries_per_page()) * 4;
        [("map_directory", MapArea::directory_bytes(geometry, entries)), ("map_cache", cached)]
    }

    /// The map page of an entry.
    #[inline]
    pub fn part_of(&self, entry: u32) -> u32 {
        self.area.part_of(entry)
    }

    fn place(&self, part: u32) -> Option<usize> {
        unpack(self.places[part as usize]).map(|place| place as usize)
    }

    /// Whether memory holds a map page.
    #[inline]
    pub fn holds(&self, part: u32) -> bool {
        self.places[part as usize] != 0
    }

    /// Whether a map page in memory says something else than flash.
    fn is_changed(&self, part: u32) -> bool {
        self.area.is_kept(part) || self.place(part).is_some_and(|place| self.changed[place])
    }

    /// What a request asks of the map: answered from memory, or by a read, even if nothing can
    /// leave memory for it.
    pub fn look_up(
        &mut self,
        board: &mut Board,
        backing: &mut Backing<'_, impl Fn(u32) -> u32>,
        entry: u32,
        after: When,
    ) -> Result<When, Fault> {
        let part = self.part_of(entry);
        let (held, written) = (self.holds(part), self.area.location(part).is_some());
        let known = !written || self.area.is_kept(part);
        board.event(Event::MapLookups, 1);
        board.event(Event::MapHits, u64::from(held || known));
        board.event(Event::DirectoryHits, u64::from(!held && !written));
        if !held && known {
            return Ok(after);
        }
        let how = (Stay::Newest, Cause::Translate);
        self.bring(board, backing, part, how, after).or_else(|fault| {
            fault.unless_worn_out::<When>()?;
            self.pass(board, part, after)
        })
    }

    /// Answers a look-up from flash and keeps nothing.
    #[cold]
    fn pass(&self, board: &mut Board, part: u32, after: When) -> Result<When, Fault> {
        match self.area.location(part) {
            Some(page) => Ok(board.read(page, Cause::Translate, after)?.0),
            None => Ok(after),
        }
    }

    /// Sees to it that memory holds a map page: another leaves if there is no room, and this one is
    /// read, unless it was never written.
    pub fn bring(
        &mut self,
        board: &mut Board,
        backing: &mut Backing<'_, impl Fn(u32) -> u32>,
        part: u32,
        (stay, cause): (Stay, Cause),
        after: When,
    ) -> Result<When, Fault> {
        if let Some(place) = self.place(part) {
            if stay == Stay::Newest {
                self.order.renew(Slot(place as u32));
            }
            return Ok(after.waits_for_map(self.ready[place]));
        }
        let (place, mut done) = self.vacate(board, backing, cause, after)?;
        self.ready[place] = When::START;
        let kept = self.area.is_kept(part);
        if let Some(page) = self.area.location(part).filter(|_| !kept) {
            (done, _) = board.read(page, cause, done)?;
            self.ready[place] = done;
        }
        if place == self.cached.len() {
            self.cached.push(part);
        } else {
            self.cached[place] = part;
        }
        self.places[part as usize] = pack(Some(place as u32));
        match stay {
            Stay::Newest => self.order.push(0, Slot(place as u32)),
            Stay::Oldest => self.order.push_oldest(0, Slot(place as u32)),
        }
        Ok(done)
    }

    /// A place in memory without a map page: the one used longest ago leaves, written first if it
    /// was changed.
    fn vacate(
        &mut self,
        board: &mut Board,
        backing: &mut Backing<'_, impl Fn(u32) -> u32>,
        cause: Cause,
        after: When,
    ) -> Result<(usize, When), Fault> {
        if self.cached.len() < self.ready.len() {
            return Ok((self.cached.len(), after));
        }
        let oldest = self.order.oldest(0).expect("memory holds a map page");
        let part = self.cached[oldest.index()];
        let mut when = after;
        if self.changed[oldest.index()] {
            let known = after.waits_for_map(self.ready[oldest.index()]);
            when = self.make_room(board, backing.supply, Cause::GcMapBlock, known)?;
            when = self.write(board, backing, part, cause, when)?;
            board.event(Event::EvictDirty, 1);
        } else {
            board.event(Event::EvictClean, 1);
        }
        self.order.remove(oldest);
        self.places[part as usize] = 0;
        Ok((oldest.index(), when))
    }

    /// An entry of a map page in memory changes: the page is written when it leaves.
    pub fn change(&mut self, part: u32) {
        let place = self.place(part).expect("a map page is in memory when it changes");
        self.changed[place] = true;
    }

    /// Sees to it that the area takes another page.
    pub(super) fn make_room(
        &mut self,
        board: &mut Board,
        supply: &mut BlockSupply,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        self.area.make_room(board, supply, cause, after)
    }

    /// Writes a map page that memory holds; the old one becomes invalid.
    pub(super) fn write(
        &mut self,
        board: &mut Board,
        backing: &mut Backing<'_, impl Fn(u32) -> u32>,
        part: u32,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let place = self.place(part);
        let place = place.unwrap_or_else(|| panic!("map page {part} is written but not in memory"));
        let done = self.area.write(board, backing, (part, |_| true), cause, after)?;
        self.changed[place] = false;
        Ok(done)
    }

    /// The same for what must not fail, room having been made for it: if the programs fail until
    /// there is no block, the page is kept.
    pub(super) fn write_or_keep(
        &mut self,
        board: &mut Board,
        backing: &mut Backing<'_, impl Fn(u32) -> u32>,
        part: u32,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        self.write(board, backing, part, cause, after).or_else(|fault| {
            fault.unless_worn_out::<When>()?;
            self.area.keep(part);
            Ok(after)
        })
    }

    /// Map pages that were kept are written, if there is room by now.
    pub(super) fn write_kept(
        &mut self,
        board: &mut Board,
        backing: &mut Backing<'_, impl Fn(u32) -> u32>,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        self.area.write_kept(board, backing, cause, after)
    }

    /// Blocks of the area.
    pub fn area_blocks(&self) -> u32 {
        self.area.blocks_in_use()
    }

    /// What the map pages say is what the table says, but for those changed in memory.
    pub fn self_check(&self, board: &Board, table: impl Fn(u32) -> u32) -> Result<(), String> {
        self.area.self_check(board, table, |entry| self.is_changed(self.part_of(entry)))
    }

    /// The table was changed behind the map's back: map pages that say something else are brought
    /// into memory, to be written when they leave. Those that were kept are written first, if there
    /// is room by now.
    pub fn catch_up(
        &mut self,
        board: &mut Board,
        backing: &mut Backing<'_, impl Fn(u32) -> u32>,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let mut when = self.write_kept(board, backing, cause, after)?;
        for part in self.area.parts() {
            let differs = self.area.differs(board.nand(), &backing.table, part);
            if differs && !self.is_changed(part) {
                when = self.bring(board, backing, part, (Stay::Oldest, cause), when)?;
                self.change(part);
            }
        }
        Ok(when)
    }

    /// After a power cut, the table being known: reads every map page that was found and writes
    /// those anew that say something else than the table, or keeps them.
    pub fn recover(
        board: &mut Board,
        backing: &mut Backing<'_, impl Fn(u32) -> u32>,
        found: &FoundMapPages,
        (entries, most): (u32, u32),
        after: When,
    ) -> Result<(Self, When), Fault> {
        let mut map = FlashMap::over(MapArea::resume(board, found, entries), most);
        let mut when = after;
        for part in map.area.parts() {
            let differs = map.area.differs(board.nand(), &backing.table, part);
            if differs || map.area.location(part).is_some() {
                let how = (Stay::Newest, Cause::Recover);
                when = map.bring(board, backing, part, how, when)?;
            }
            if differs {
                when = map.area.write_or_keep(board, backing, part, Cause::Recover, when)?;
            }
        }
        Ok((map, when))
    }
}

#[cfg(test)]
mod memory_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::block_supply::Need;
    use crate::settings::SharedSettings;
    use ftlab_flash::settings::Groups as _;
    use ftlab_flash::units::{PlaneId, Ppn};

    /// Two dies. The map page that leaves was read in the first one, behind all its programs; it
    /// goes to the second one, where nothing else is done, and nothing is read for the page that
    /// comes.
    #[test]
    fn a_changed_map_page_is_written_when_it_has_been_read() {
        let mut config = SharedSettings::default();
        for (key, value) in [
            ("device.page_bytes", "512"),
            ("device.pages_per_block", "4"),
            ("device.dies", "2"),
            ("timing.profile", "parallel"),
        ] {
            config.set(key, value).expect("legal");
        }
        let mut board = Board::new(&config, 1, 16);
        let mut supply = BlockSupply::new(&board, &config);
        let mut map = FlashMap::new(board.geometry(), 300, 1);
        let mut backing = Backing { supply: &mut supply, table: |entry| entry + 1 };
        let mut bring = |map: &mut FlashMap, part| {
            let how = (Stay::Newest, Cause::Merge);
            map.bring(&mut board, &mut backing, part, how, When::START).expect("there is room")
        };
        let _ = bring(&mut map, 0);
        // Four times, so that the block that the area has open is full.
        for _ in 0..4 {
            map.change(0);
            let _ = bring(&mut map, 1);
            let _ = bring(&mut map, 0);
        }
        let (read, old) = (bring(&mut map, 0), map.area.location(0));
        map.change(0);
        let written = bring(&mut map, 2);
        assert!(written != read && written.join(read) == written);
        let die = |page: Option<Ppn>| page.map(|page| board.geometry().plane_of(page));
        assert_ne!(die(old), die(map.area.location(0)), "nothing else makes the second wait");
    }

    /// Memory has room for one map page, which was changed and finds no block on flash: another one
    /// is read whenever it is asked for, and memory keeps what it has.
    #[test]
    fn where_nothing_can_leave_memory_a_look_up_is_answered_from_flash() {
        let mut config = SharedSettings::default();
        for (key, value) in [("device.page_bytes", "512"), ("device.pages_per_block", "4")] {
            config.set(key, value).expect("legal");
        }
        let mut board = Board::new(&config, 1, 16);
        let mut supply = BlockSupply::new(&board, &config);
        let mut map = FlashMap::new(board.geometry(), 300, 1);
        let mut backing = Backing { supply: &mut supply, table: |entry| entry + 1 };
        let how = (Stay::Newest, Cause::Merge);
        assert!(map.bring(&mut board, &mut backing, 1, how, When::START).is_ok());
        // Four times, so that the block that the area has open is full.
        for _ in 0..4 {
            let done = map.write(&mut board, &mut backing, 1, Cause::Merge, When::START);
            assert!(done.is_ok());
        }
        while backing.supply.take(&board, PlaneId(0), Need::Merge, When::START).is_ok() {}
        assert!(map.bring(&mut board, &mut backing, 0, how, When::START).is_ok());
        map.change(0);
        for reads in 1..=2 {
            let found =
                map.look_up(&mut board, &mut backing, 128, When::START).expect("it is read");
            assert!(found != When::START, "what is read takes time");
            assert_eq!(board.meter().reads(Cause::Translate), reads);
            assert!(map.holds(0) && !map.holds(1));
        }
    }
}
