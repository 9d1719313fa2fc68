//! The block map on flash: map pages of E entries each (E = page bytes / 4) in an area of their own,
//! and what the controller keeps of them: a directory, and the pages used last.
//!
//! Kim et al. 2002 (spec 2.4) keep the block map like that and write what a merge changes with one
//! map page. Here the map page of a logical block is written whenever its data block changes: the
//! rest is copied from the old map page, which is read first unless the controller holds it. A map
//! page that was never written says that nothing is mapped; the directory tells that, without a read.
//!
//! The map on flash is written before the old data block is erased, but nobody needs it after a power
//! cut: out-of-band areas say more. Recovery reads the map pages and writes those anew that differ
//! from what it found. Levelling does not move map pages.
//!
//! Counted as: look-ups and map pages of first data blocks `Translate`, updates by merges and
//! levelling `GcMapUpdate`, cleaning of the area `GcMapBlock`. What this is not: the table itself,
//! which `data_blocks` has; `self_check` compares the two.

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
use crate::schemes::{Memory, RamUse};
use crate::units::{BlockId, Lpn, Ppn, pack, unpack, zeroed};

/// Map pages found after a power cut.
#[derive(Clone, Debug, Default)]
pub struct FoundMapPages {
    /// The newest map page of each number, plus one.
    pub newest: Vec<u32>,
    /// The blocks that hold them.
    pub blocks: Vec<BlockId>,
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
    order: SlotLists<1>,
    entries_per_page: u32,
}

impl FlashMap {
    /// Nothing mapped; memory holds `most` map pages.
    pub fn new(geometry: &Geometry, most: u32) -> Self {
        let pages = Self::pages(geometry);
        let most = most.min(pages);
        FlashMap {
            directory: zeroed(pages as usize),
            area: NumberedArea::new(geometry, PageKind::Map, pages),
            places: zeroed(pages as usize),
            cached: Vec::with_capacity(most as usize),
            ready: vec![When::START; most as usize],
            order: SlotLists::new(most),
            entries_per_page: geometry.entries_per_page(),
        }
    }

    /// Map pages of the device.
    pub fn pages(geometry: &Geometry) -> u32 {
        geometry.logical_blocks().div_ceil(geometry.entries_per_page())
    }

    /// Blocks that a device needs for it: the area, and one that a power cut during the emptying of
    /// a block leaves until the next merge.
    pub fn blocks(geometry: &Geometry) -> u32 {
        NumberedArea::blocks(geometry, Self::pages(geometry)) + 1
    }

    /// Most map pages alive at once, as records are counted: one and its successor per number.
    pub fn payload_pages(geometry: &Geometry) -> u64 {
        2 * u64::from(Self::pages(geometry))
    }

    /// RAM: 4 bytes per map page and per block of the area, and the pages in memory.
    pub fn ram_use(geometry: &Geometry, most: u32) -> [RamUse; 2] {
        let pages = Self::pages(geometry);
        let directory = u64::from(pages) * 4 + NumberedArea::ram_bytes(geometry, pages);
        let cached = u64::from(most.min(pages)) * u64::from(geometry.entries_per_page()) * 4;
        let entry = |structure, bytes| RamUse { structure, bytes, memory: Memory::Sram };
        [entry("map_directory", directory), entry("map_cache", cached)]
    }

    /// The map page of a logical block, and the place of its entry there.
    #[inline]
    fn part_of(&self, lbn: Lbn) -> (u32, u32) {
        (lbn.0 / self.entries_per_page, lbn.0 % self.entries_per_page)
    }

    fn location(&self, part: u32) -> Option<Ppn> {
        unpack(self.directory[part as usize]).map(Ppn)
    }

    /// Reads a map page unless memory holds it, or it was never written.
    fn load(
        &mut self,
        board: &mut Board,
        part: u32,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let Some(page) = self.location(part) else { return Ok(after) };
        if let Some(place) = unpack(self.places[part as usize]) {
            self.enter(part);
            return Ok(after.waits_for_map(self.ready[place as usize]));
        }
        let (done, _) = board.read(page, cause, after)?;
        let place = self.enter(part);
        self.ready[place] = done;
        Ok(done)
    }

    /// A map page is in memory, and the one used last; another leaves if there is no room.
    fn enter(&mut self, part: u32) -> usize {
        let place = match unpack(self.places[part as usize]) {
            Some(place) => {
                self.order.remove(Slot(place));
                place
            }
            None if self.cached.len() < self.ready.len() => {
                self.cached.push(part);
                self.cached.len() as u32 - 1
            }
            None => {
                let oldest = self.order.oldest(0).expect("memory holds a map page");
                self.order.remove(oldest);
                self.places[self.cached[oldest.index()] as usize] = 0;
                self.cached[oldest.index()] = part;
                self.ready[oldest.index()] = When::START;
                oldest.0
            }
        };
        self.places[part as usize] = pack(Some(place));
        self.order.push(0, Slot(place));
        place as usize
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

    /// Writes a map page anew with some entries changed (place, packed block). The old one, which
    /// memory holds, becomes invalid.
    fn write(
        &mut self,
        board: &mut Board,
        supply: &mut BlockSupply,
        (part, edits): (u32, &[(u32, u32)]),
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let old = self.location(part);
        let (new, done) = self.area.program(board, supply, after, |board, new, ready| {
            let payload = Payload::Update { old, edits };
            board.program_payload(new, (PageKind::Map, part), payload, cause, ready)
        })?;
        self.directory[part as usize] = pack(Some(new.0));
        self.enter(part);
        Ok(done)
    }

    /// Blocks of the area.
    pub fn area_blocks(&self) -> u32 {
        self.area.len()
    }

    /// What the map pages say is what the table says, and no other page of the area is alive.
    pub fn self_check(&self, board: &Board, data: &DataBlocks) -> Result<(), String> {
        let mut written = 0;
        for (part, &page) in (0u32..).zip(&self.directory) {
            let page = unpack(page).map(Ppn);
            written += u32::from(page.is_some());
            if let Some(page) = page.filter(|&page| !board.nand().state().is_valid(page)) {
                return Err(format!("map page {part} is said to be at {page}, which is not valid"));
            }
            if let Some((lbn, known)) = self.differences(board.nand(), data, part).next() {
                return Err(format!(
                    "map page {part} at {page:?} has another block for logical block {} than \
                     {known:?}",
                    lbn.0
                ));
            }
        }
        match self.area.valid_pages(board.nand()) {
            valid if valid == written => Ok(()),
            valid => Err(format!("{written} map pages were written, {valid} are valid")),
        }
    }

    /// The logical blocks of a map page whose entries there are not what the table says, and that.
    fn differences<'a>(
        &self,
        nand: &'a Nand,
        data: &'a DataBlocks,
        part: u32,
    ) -> impl Iterator<Item = (Lbn, Option<BlockId>)> + 'a {
        let words = self.location(part).map(|page| nand.payload(page));
        let first = part * self.entries_per_page;
        let last = (first + self.entries_per_page).min(nand.geometry().logical_blocks());
        (first..last).map(move |lbn| (Lbn(lbn), data.block(Lbn(lbn)))).filter(
            move |(lbn, known)| {
                let entry = words.map_or(0, |words| words[(lbn.0 - first) as usize]);
                entry != pack(known.map(|block| block.0))
            },
        )
    }

    /// After a power cut, the table being known: reads every map page that was found and writes
    /// those anew that say something else than the table.
    pub fn recover(
        board: &mut Board,
        engine: &mut MergeEngine,
        found: &FoundMapPages,
        most: u32,
        after: When,
    ) -> Result<(Self, When), Fault> {
        let mut map = FlashMap::new(board.geometry(), most);
        map.directory.copy_from_slice(&found.newest);
        found.blocks.iter().for_each(|&block| map.area.resume(board.nand(), block));
        let mut when = after;
        for part in 0..map.directory.len() as u32 {
            when = map.load(board, part, Cause::Recover, when)?;
            let changed = map.differences(board.nand(), &engine.data, part);
            let edit = |(lbn, known): (Lbn, Option<BlockId>)| {
                (map.part_of(lbn).1, pack(known.map(|block| block.0)))
            };
            let edits: Vec<(u32, u32)> = changed.map(edit).collect();
            if !edits.is_empty() {
                let supply = &mut engine.supply;
                when = map.make_room(board, supply, Cause::Recover, when)?;
                when = map.write(board, supply, (part, &edits), Cause::Recover, when)?;
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
        let Some(map) = &mut self.flash_map else { return Ok(after) };
        let (part, _) = map.part_of(Lbn::of(board.geometry(), lpn).0);
        board.event(Event::MapLookups, 1);
        let hit = map.location(part).is_none() || map.places[part as usize] != 0;
        board.event(Event::MapHits, u64::from(hit));
        map.load(board, part, Cause::Translate, after)
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
        let Some(map) = &mut self.flash_map else { return Ok(after) };
        let ready = map.make_room(board, &mut self.supply, Cause::GcMapBlock, after)?;
        map.load(board, map.part_of(lbn).0, Cause::GcMapUpdate, ready)
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
        let Some(map) = &mut self.flash_map else { return Ok(after) };
        let (part, place) = map.part_of(lbn);
        let edits = [(place, pack(self.data.block(lbn).map(|block| block.0)))];
        let held = map.location(part).is_none() || map.places[part as usize] != 0;
        assert!(held, "map page {part} left memory before it was written anew");
        map.write(board, &mut self.supply, (part, &edits), cause, after)
    }
}
