//! A map on flash: map pages of E entries each (E = page bytes / 4) in an area of their own, and what
//! the controller keeps of them: a directory, and the pages used last.
//!
//! The map of blocks: Kim et al. 2002 (spec 2.4) keep it like that and write what a merge changes with
//! one map page. Here the map page of a logical block is written whenever its data block changes: the
//! rest is copied from the old map page, which is read first unless the controller holds it. Counted
//! as: look-ups and map pages of first data blocks `Translate`, updates by merges and levelling
//! `GcMapUpdate`, cleaning of the area `GcMapBlock`.
//!
//! The map of page-mapped blocks (WAFTL, spec 3.7): a map page is changed in memory and written when
//! it leaves, all of it, so that nothing is read for that.
//!
//! A map page that was never written says that nothing is mapped; the directory tells that, without a
//! read. Nobody needs the map on flash after a power cut: out-of-band areas say more. Recovery reads
//! the map pages and writes those anew that differ from what it found. Levelling does not move map
//! pages. What this is not: the table itself, which the owner has, and hands over as a function
//! ([`Backing`]); `self_check` compares the two.

use crate::board::Board;
use crate::board::nand::fault::Fault;
use crate::board::nand::geometry::Geometry;
use crate::board::nand::state::PageKind;
use crate::board::nand::{Nand, Payload};
use crate::board::when::When;
use crate::meter::{Cause, Event};
use crate::parts::block_supply::BlockSupply;
use crate::parts::cmt::Slot;
use crate::parts::cmt::slot_list::SlotLists;
use crate::parts::data_blocks::{DataBlocks, Lbn};
use crate::parts::merge_engine::MergeEngine;
use crate::parts::numbered_area::NumberedArea;
use crate::units::{BlockId, Lpn, Ppn, pack, unpack, zeroed};

/// Map pages found after a power cut.
#[derive(Clone, Debug, Default)]
pub struct FoundMapPages {
    /// The newest map page of each number, plus one.
    pub newest: Vec<u32>,
    /// The blocks that hold them.
    pub blocks: Vec<BlockId>,
}

/// What a map page is written with: the words of the table that the map is a copy of, by number of
/// the entry, and where blocks come from.
pub struct Backing<'a, T: Fn(u32) -> u32> {
    /// Erased blocks.
    pub supply: &'a mut BlockSupply,
    /// The word of an entry; 0: not mapped.
    pub table: T,
}

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
    /// Physical page of each map page, plus one.
    directory: Vec<u32>,
    area: NumberedArea,
    /// Place of each map page in memory, plus one.
    places: Vec<u32>,
    /// The map page at each place.
    cached: Vec<u32>,
    /// When what was read for a place was there.
    ready: Vec<When>,
    /// Whether the map page at a place says something else than flash.
    changed: Vec<bool>,
    order: SlotLists<1>,
    /// Place and word of what a map page is written with.
    edits: Vec<(u32, u32)>,
    entries: u32,
    entries_per_page: u32,
}

impl FlashMap {
    /// Nothing of so many entries mapped; memory holds `most` map pages.
    pub fn new(geometry: &Geometry, entries: u32, most: u32) -> Self {
        let pages = Self::pages(geometry, entries);
        let most = most.min(pages);
        FlashMap {
            directory: zeroed(pages as usize),
            area: NumberedArea::new(geometry, PageKind::Map, pages),
            places: zeroed(pages as usize),
            cached: Vec::with_capacity(most as usize),
            ready: vec![When::START; most as usize],
            changed: vec![false; most as usize],
            order: SlotLists::new(most),
            edits: Vec::with_capacity(geometry.entries_per_page() as usize),
            entries,
            entries_per_page: geometry.entries_per_page(),
        }
    }

    /// Map pages of so many entries.
    pub fn pages(geometry: &Geometry, entries: u32) -> u32 {
        entries.div_ceil(geometry.entries_per_page())
    }

    /// Blocks that a device needs for it: the area, and one that a power cut during the emptying of
    /// a block leaves until the next merge.
    pub fn blocks(geometry: &Geometry, entries: u32) -> u32 {
        NumberedArea::blocks(geometry, Self::pages(geometry, entries)) + 1
    }

    /// Most map pages alive at once, as records are counted: one and its successor per number.
    pub fn payload_pages(geometry: &Geometry, entries: u32) -> u64 {
        2 * u64::from(Self::pages(geometry, entries))
    }

    /// RAM: 4 bytes per map page and per block of the area.
    pub fn directory_bytes(geometry: &Geometry, entries: u32) -> u64 {
        let pages = Self::pages(geometry, entries);
        u64::from(pages) * 4 + NumberedArea::ram_bytes(geometry, pages)
    }

    /// RAM of the directory, and of the pages in memory.
    pub fn ram_use(geometry: &Geometry, entries: u32, most: u32) -> [(&'static str, u64); 2] {
        let held = u64::from(most.min(Self::pages(geometry, entries)));
        let cached = held * u64::from(geometry.entries_per_page()) * 4;
        [("map_directory", Self::directory_bytes(geometry, entries)), ("map_cache", cached)]
    }

    /// The map page of an entry.
    #[inline]
    pub fn part_of(&self, entry: u32) -> u32 {
        entry / self.entries_per_page
    }

    fn location(&self, part: u32) -> Option<Ppn> {
        unpack(self.directory[part as usize]).map(Ppn)
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
        self.place(part).is_some_and(|place| self.changed[place])
    }

    /// What a request asks of the map: answered from memory, or by a read.
    pub fn look_up(
        &mut self,
        board: &mut Board,
        backing: &mut Backing<'_, impl Fn(u32) -> u32>,
        entry: u32,
        after: When,
    ) -> Result<When, Fault> {
        let part = self.part_of(entry);
        let (held, written) = (self.holds(part), self.location(part).is_some());
        board.event(Event::MapLookups, 1);
        board.event(Event::MapHits, u64::from(held || !written));
        if !held && !written {
            return Ok(after);
        }
        self.bring(board, backing, part, (Stay::Newest, Cause::Translate), after)
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
                self.order.remove(Slot(place as u32));
                self.order.push(0, Slot(place as u32));
            }
            return Ok(after.waits_for_map(self.ready[place]));
        }
        let (place, mut done) = self.vacate(board, backing, cause, after)?;
        self.ready[place] = When::START;
        if let Some(page) = self.location(part) {
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
    fn make_room(
        &mut self,
        board: &mut Board,
        supply: &mut BlockSupply,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let directory = &mut self.directory;
        let moved = |part: u32, ppn: Ppn| directory[part as usize] = pack(Some(ppn.0));
        let ready = self.area.make_room(board, supply, cause, moved, after)?;
        self.area.open(board, supply, ready)
    }

    /// Writes a map page that memory holds; the old one becomes invalid.
    fn write(
        &mut self,
        board: &mut Board,
        backing: &mut Backing<'_, impl Fn(u32) -> u32>,
        part: u32,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let place = self.place(part);
        let place = place.unwrap_or_else(|| panic!("map page {part} is written but not in memory"));
        let old = self.location(part);
        let mut edits = std::mem::take(&mut self.edits);
        edits.clear();
        edits.extend(self.differences(board.nand(), &backing.table, part));
        let written = self.area.program(board, backing.supply, after, |board, new, ready| {
            let payload = Payload::Update { old, edits: &edits };
            board.program_payload(new, (PageKind::Map, part), payload, cause, ready)
        });
        self.edits = edits;
        let (new, done) = written?;
        self.directory[part as usize] = pack(Some(new.0));
        self.changed[place] = false;
        Ok(done)
    }

    /// Blocks of the area.
    pub fn area_blocks(&self) -> u32 {
        self.area.len()
    }

    /// What the map pages say is what the table says, but for those changed in memory, and no other
    /// page of the area is alive.
    pub fn self_check(&self, board: &Board, table: impl Fn(u32) -> u32) -> Result<(), String> {
        let mut written = 0;
        for part in 0..self.directory.len() as u32 {
            let page = self.location(part);
            written += u32::from(page.is_some());
            if let Some(page) = page.filter(|&page| !board.nand().state().is_valid(page)) {
                return Err(format!("map page {part} is said to be at {page}, which is not valid"));
            }
            if self.is_changed(part) {
                continue;
            }
            if let Some((place, word)) = self.differences(board.nand(), &table, part).next() {
                return Err(format!(
                    "map page {part} at {page:?} has another word for entry {} than {word}",
                    part * self.entries_per_page + place
                ));
            }
        }
        match self.area.valid_pages(board.nand()) {
            valid if valid == written => Ok(()),
            valid => Err(format!("{written} map pages were written, {valid} are valid")),
        }
    }

    /// The entries of a map page that are not on flash what the table says: their places, and that.
    fn differences(
        &self,
        nand: &Nand,
        table: &impl Fn(u32) -> u32,
        part: u32,
    ) -> impl Iterator<Item = (u32, u32)> {
        let words = self.location(part).map(|page| nand.payload(page));
        let first = part * self.entries_per_page;
        let last = (first + self.entries_per_page).min(self.entries);
        (first..last)
            .map(move |entry| (entry - first, table(entry)))
            .filter(move |&(place, word)| word != words.map_or(0, |words| words[place as usize]))
    }

    /// The table was changed behind the map's back: map pages that say something else are brought
    /// into memory, to be written when they leave.
    pub fn catch_up(
        &mut self,
        board: &mut Board,
        backing: &mut Backing<'_, impl Fn(u32) -> u32>,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let mut when = after;
        for part in 0..self.directory.len() as u32 {
            let differs =
                |map: &Self| map.differences(board.nand(), &backing.table, part).next().is_some();
            if !self.is_changed(part) && differs(self) {
                when = self.bring(board, backing, part, (Stay::Oldest, cause), when)?;
                self.change(part);
            }
        }
        Ok(when)
    }

    /// After a power cut, the table being known: reads every map page that was found and writes
    /// those anew that say something else than the table.
    pub fn recover(
        board: &mut Board,
        backing: &mut Backing<'_, impl Fn(u32) -> u32>,
        found: &FoundMapPages,
        (entries, most): (u32, u32),
        after: When,
    ) -> Result<(Self, When), Fault> {
        let mut map = FlashMap::new(board.geometry(), entries, most);
        let parts = map.directory.len();
        map.directory.copy_from_slice(&found.newest[..parts]);
        found.blocks.iter().for_each(|&block| map.area.resume(board.nand(), block));
        let mut when = after;
        for part in 0..parts as u32 {
            let differs = map.differences(board.nand(), &backing.table, part).next().is_some();
            if differs || map.location(part).is_some() {
                let how = (Stay::Newest, Cause::Recover);
                when = map.bring(board, backing, part, how, when)?;
            }
            if differs {
                when = map.make_room(board, backing.supply, Cause::Recover, when)?;
                when = map.write(board, backing, part, Cause::Recover, when)?;
            }
        }
        Ok((map, when))
    }
}

/// What merges and look-ups do with a block map on flash; nothing where it is in memory.
impl MergeEngine {
    /// Finds out where a logical page is: nothing to look up if it is in a log block.
    #[inline]
    pub fn look_up_page(
        &mut self,
        board: &mut Board,
        lpn: Lpn,
        after: When,
    ) -> Result<When, Fault> {
        if self.flash_map.is_none() || self.logs.get(lpn).is_some() {
            return Ok(after);
        }
        self.look_up(board, lpn, after)
    }

    /// Finds out which data block a logical page has.
    #[inline]
    pub fn look_up(&mut self, board: &mut Board, lpn: Lpn, after: When) -> Result<When, Fault> {
        let (lbn, _) = Lbn::of(board.geometry(), lpn);
        let Some((map, mut backing)) = self.map_and_backing() else { return Ok(after) };
        map.look_up(board, &mut backing, lbn.0, after)
    }

    /// Before a logical block gets another data block: its map page is in memory, and the area takes
    /// another page, so that the merge does not fail for want of a block when it has done its work.
    #[inline]
    pub(super) fn before_map_update(
        &mut self,
        board: &mut Board,
        lbn: Lbn,
        after: When,
    ) -> Result<When, Fault> {
        let Some((map, mut backing)) = self.map_and_backing() else { return Ok(after) };
        let ready = map.make_room(board, backing.supply, Cause::GcMapBlock, after)?;
        let how = (Stay::Newest, Cause::GcMapUpdate);
        map.bring(board, &mut backing, map.part_of(lbn.0), how, ready)
    }

    /// A logical block has another data block: its map page is written.
    #[inline]
    pub(super) fn update_map(
        &mut self,
        board: &mut Board,
        lbn: Lbn,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let Some((map, mut backing)) = self.map_and_backing() else { return Ok(after) };
        map.write(board, &mut backing, map.part_of(lbn.0), cause, after)
    }

    /// The map of blocks on flash, if that is where it is, and the block table.
    fn map_and_backing(&mut self) -> Option<(&mut FlashMap, Backing<'_, impl Fn(u32) -> u32>)> {
        let map = self.flash_map.as_mut()?;
        Some((map, Backing { supply: &mut self.supply, table: words(&self.data) }))
    }

    /// The same after a power cut, with the map pages that were found; memory holds `most`.
    pub fn recover_map(
        &mut self,
        board: &mut Board,
        found: &FoundMapPages,
        most: u32,
        after: When,
    ) -> Result<When, Fault> {
        let size = (board.geometry().logical_blocks(), most);
        let mut backing = Backing { supply: &mut self.supply, table: words(&self.data) };
        let (map, done) = FlashMap::recover(board, &mut backing, found, size, after)?;
        self.flash_map = Some(map);
        Ok(done)
    }
}

/// The block table as words of map pages.
pub fn words(data: &DataBlocks) -> impl Fn(u32) -> u32 {
    |lbn| pack(data.block(Lbn(lbn)).map(|block| block.0))
}
