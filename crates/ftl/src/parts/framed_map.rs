//! A map of blocks on flash whose map pages in memory share frames with the data pages that they
//! lead to (TreeFTL over blocks): which of them are there is the business of the tree that owns the
//! frames.
//!
//! A map page in memory is changed there, and written when the tree says so, without a read. The
//! map page of a logical block that a fold or levelling moves need not be there; then it is read
//! and written at once, as collection does with the map of pages.
//!
//! What this is not: the table, which the owner has ([`Backing`]); the entries in memory say what
//! it says.

use crate::parts::map_area::{Backing, FoundMapPages, MapArea};
use crate::parts::map_cache::MapCache;
use crate::parts::slots::Slot;
use crate::parts::tree_frames::Frames;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::Cause;
use ftlab_flash::units::{Lpn, Ppn, unpack};

/// Most map pages and data pages in memory.
#[derive(Clone, Copy, Debug)]
pub struct FrameSizes {
    /// Map pages.
    pub maps: u32,
    /// Data pages.
    pub data: u32,
}

/// Directory and area of the map pages, and the frames.
#[derive(Clone, Debug)]
pub struct FramedMap {
    area: MapArea,
    /// The tree's frames.
    pub frames: Frames,
    /// The map page without a frame that was read last, to be written with a change, and when it
    /// was there: in a working page of the controller.
    working: Option<(u32, When)>,
}

/// The frames call the number of an entry a page, and its word a place.
fn key(entry: u32) -> Lpn {
    Lpn(entry)
}

impl FramedMap {
    /// Nothing mapped, nothing in memory.
    pub fn new(geometry: &Geometry, sizes: FrameSizes) -> Self {
        Self::over(MapArea::new(geometry, geometry.logical_blocks()), geometry, sizes)
    }

    fn over(area: MapArea, geometry: &Geometry, sizes: FrameSizes) -> Self {
        let frames = Frames::of_blocks(geometry, sizes.maps, sizes.data);
        FramedMap { area, frames, working: None }
    }

    /// Reads a map page, if it was ever written and is not kept for want of a block.
    pub fn read(
        &self,
        board: &mut Board,
        part: u32,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        match self.area.location(part) {
            Some(page) if !self.area.is_kept(part) => Ok(board.read(page, cause, after)?.0),
            _ => Ok(after),
        }
    }

    /// Takes over a map page that was just read; there must be room.
    pub fn admit(
        &mut self,
        board: &Board,
        backing: &Backing<'_, impl Fn(u32) -> u32>,
        part: u32,
        ready: When,
    ) -> Slot {
        self.working = self.working.filter(|&(held, _)| held != part);
        let page = self.area.location(part).map(|page| board.nand().payload(page));
        let slot = self.frames.maps.insert_words(part, page, ready);
        if self.area.is_kept(part) {
            for (place, word) in self.area.differences(board.nand(), &backing.table, part) {
                let entry = self.area.entries_of(part).start + place;
                self.frames.maps.change(key(entry), unpack(word).map(Ppn));
            }
        }
        slot
    }

    /// Writes a map page of which memory holds every entry.
    pub fn write(
        &mut self,
        board: &mut Board,
        backing: &mut Backing<'_, impl Fn(u32) -> u32>,
        part: u32,
        after: When,
    ) -> Result<When, Fault> {
        let ready = self.area.make_room(board, backing.supply, Cause::GcMapBlock, after)?;
        let whole = |_| true;
        let done = self.area.write(board, backing, (part, whole), Cause::Translate, ready)?;
        self.area.entries_of(part).for_each(|entry| self.frames.maps.clean(key(entry)));
        Ok(done)
    }

    /// An entry will change: where its map page is not in memory there is room for a new one on
    /// flash, and the old one has been read.
    pub fn announce(
        &mut self,
        board: &mut Board,
        backing: &mut Backing<'_, impl Fn(u32) -> u32>,
        entry: u32,
        after: When,
    ) -> Result<When, Fault> {
        let part = self.area.part_of(entry);
        let kept = self.area.write_kept(board, backing, Cause::GcMapUpdate, after)?;
        if let Some(map) = self.frames.maps.find(part) {
            return Ok(kept.waits_for_map(self.frames.maps.ready(map)));
        }
        let ready = self.area.make_room(board, backing.supply, Cause::GcMapBlock, kept)?;
        let known = match self.working {
            Some((held, known)) if held == part => ready.waits_for_map(known),
            _ => self.read(board, part, Cause::GcMapUpdate, ready)?,
        };
        self.working = Some((part, known));
        Ok(known)
    }

    /// The table has another word for an entry that was announced last. This does not fail for want
    /// of a block.
    pub fn change(
        &mut self,
        board: &mut Board,
        backing: &mut Backing<'_, impl Fn(u32) -> u32>,
        entry: u32,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let part = self.area.part_of(entry);
        if self.frames.maps.find(part).is_none() {
            self.working = None;
            return self.area.write_or_keep(board, backing, part, cause, after);
        }
        let word = (backing.table)(entry);
        self.frames.maps.change(key(entry), unpack(word).map(Ppn));
        Ok(after)
    }

    /// Blocks of the area.
    pub fn area_blocks(&self) -> u32 {
        self.area.blocks_in_use()
    }

    /// Entries in memory say what the table says, and so do map pages but for what was changed in
    /// memory.
    pub fn self_check(&self, board: &Board, table: impl Fn(u32) -> u32) -> Result<(), String> {
        let maps = &self.frames.maps;
        for part in maps.slots().map(|slot| maps.part(slot)) {
            for entry in self.area.entries_of(part) {
                let cached = maps.entry(key(entry)).flatten();
                if cached != unpack(table(entry)).map(Ppn) {
                    return Err(format!("memory says {cached:?} of logical block {entry}"));
                }
            }
        }
        let may_differ = |entry| maps.is_dirty(key(entry));
        self.area.self_check(board, &table, may_differ)
    }

    /// After a power cut, the table being known: map pages that say something else are written.
    /// No frame is in use.
    pub fn recover(
        board: &mut Board,
        backing: &mut Backing<'_, impl Fn(u32) -> u32>,
        found: &FoundMapPages,
        sizes: FrameSizes,
        after: When,
    ) -> Result<(Self, When), Fault> {
        let entries = board.geometry().logical_blocks();
        let (area, when) = MapArea::recover(board, backing, found, entries, after)?;
        Ok((Self::over(area, board.geometry(), sizes), when))
    }
}

#[cfg(test)]
mod tests;
