//! Host pages that a scheme keeps in the controller's RAM, above a page-mapped space whose map is
//! on flash: how they are read, written, merged with what flash holds of them, written out, and
//! what a power cut leaves of them.
//!
//! Which page enters, which leaves, and what the map must hold for that is the scheme's business:
//! wherever flash is touched, the scheme has made sure that the cache holds the page's entry. A
//! page's way into RAM and out of it to the host is charged (`timing.ram_page`); its way to flash
//! is the flash's transfer.

use crate::answers::{Location, Unsettled};
use crate::parts::demand_mapped::DemandMapped;
use crate::parts::held_pages::{Held, HeldPages, default_ram};
use crate::parts::map_cache::MapCache;
use crate::parts::map_recovery::Survivor;
use crate::parts::slots::Slot;
use crate::settings::SharedSettings;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::ram::RamWork;
use ftlab_flash::board::when::{Moment, When};
use ftlab_flash::meter::{Cause, Event, Level};
use ftlab_flash::request::{PageIo, RequestShape};
use ftlab_flash::units::{Lpn, Tag};

/// RAM that map entries and pages share.
pub fn budget(config: &SharedSettings) -> u64 {
    config.map_budget().unwrap_or_else(|| default_ram(config))
}

/// Host pages in RAM.
#[derive(Clone)]
pub struct RamData {
    pages: HeldPages,
    all_sectors: u64,
    /// Dirty pages, upwards, while all are written out.
    flushing: Vec<Slot>,
}

/// What a power cut left of the pages, and what it did not.
#[derive(Clone, Debug, Default)]
pub struct KeptPages {
    /// Pages in memory that keeps its content, in the scheme's order.
    pub pages: Vec<Held>,
    /// Dirty pages that were lost.
    pub lost: u64,
}

impl RamData {
    /// Empty frames.
    pub fn new(board: &Board, frames: u32) -> Self {
        RamData {
            pages: HeldPages::new(frames, board.geometry().logical_pages),
            all_sectors: board.geometry().all_sectors(),
            flushing: Vec::with_capacity(frames as usize),
        }
    }

    /// The pages, for looking.
    #[inline]
    pub fn pages(&self) -> &HeldPages {
        &self.pages
    }

    /// Whether a request leaves out sectors of its page.
    #[inline]
    pub fn is_partial(&self, io: &PageIo) -> bool {
        io.sectors != self.all_sectors
    }

    /// A free frame takes a page; when it can be filled.
    pub fn enter(&mut self, lpn: Lpn, after: When) -> (Slot, When) {
        let (slot, free) = self.pages.enter(lpn);
        (slot, after.waits_for_buffer(free))
    }

    /// The host writes a page that a frame holds or was given.
    #[inline]
    pub fn put(&mut self, board: &mut Board, slot: Slot, io: &PageIo, ready: When) -> When {
        let held = *self.pages.get(slot);
        let done = board.ram_pages(RamWork::Data, 1, ready.waits_for_buffer(held.ready));
        // What cannot be read any more is lost with its page: errors have the size of a page.
        let lost = held.tag == Tag::UNREADABLE && self.is_partial(io);
        let tag = if lost { Tag::UNREADABLE } else { io.data };
        self.pages.write(slot, tag, io.sectors, done);
        board.level(Level::BufferedPages, u64::from(self.pages.dirty()));
        done
    }

    /// The same with a page that has just got its frame, where it may be put over the version that
    /// was loaded from flash ([`RamData::load_old`]).
    pub fn put_over(
        &mut self,
        board: &mut Board,
        (slot, io): (Slot, &PageIo),
        old: Option<(Tag, When)>,
        free: When,
    ) -> When {
        let fill =
            |(tag, read): (Tag, When)| self.fill(board, slot, tag, read.waits_for_buffer(free));
        let ready = old.map_or(free, fill);
        self.put(board, slot, io, ready)
    }

    /// Whether a version that was read from flash is worth a frame: there is one, and it is whole.
    pub fn is_worth_a_frame(tag: Tag) -> bool {
        tag != Tag(0) && tag != Tag::UNREADABLE
    }

    /// Puts a page that was read from flash into a frame; it is there at the returned moment.
    pub fn fill(&mut self, board: &mut Board, slot: Slot, tag: Tag, read: When) -> When {
        let here = board.ram_pages(RamWork::Data, 1, read);
        self.pages.fill(slot, tag, here);
        here
    }

    /// Whether a frame holds every sector of a request.
    #[inline]
    pub fn covers(&self, slot: Slot, io: &PageIo) -> bool {
        io.sectors & !self.pages.get(slot).sectors == 0
    }

    /// Reads a page from its frame, which holds every sector that is asked for.
    #[inline]
    pub fn get(&self, board: &mut Board, slot: Slot, after: When) -> (When, Tag) {
        let held = self.pages.get(slot);
        let done = board.ram_pages(RamWork::Data, 1, after.waits_for_buffer(held.ready));
        (done, held.tag)
    }

    /// Reads a page of which flash may hold some sectors and the frame the others; those that are
    /// read from flash are in the frame afterwards.
    pub fn get_merged<C: MapCache>(
        &mut self,
        base: &mut DemandMapped<C>,
        board: &mut Board,
        (slot, io): (Slot, &PageIo),
        known: When,
    ) -> Result<(When, Tag), Fault> {
        if self.covers(slot, io) || base.map.current(board, io.lpn).is_none() {
            // Or the other sectors were never written.
            return Ok(self.get(board, slot, known));
        }
        let (read, found) = base.read_mapped(board, io, known)?;
        let (done, tag) = self.get(board, slot, read);
        if found == Tag::UNREADABLE {
            return Ok((done, Tag::UNREADABLE));
        }
        self.pages.fill(slot, tag, done);
        Ok((done, tag))
    }

    /// The page of a partial write as flash has it, if it has it; the entry is known.
    pub fn load_old<C: MapCache>(
        &self,
        base: &DemandMapped<C>,
        board: &mut Board,
        lpn: Lpn,
        known: When,
    ) -> Result<Option<(Tag, When)>, Fault> {
        let Some(old) = base.map.cache.entry(lpn).flatten() else { return Ok(None) };
        let (read, tag) = board.read(old, Cause::ReadModifyWrite, known)?;
        Ok(Some((tag, read)))
    }

    /// Writes a dirty page to flash; the frame still holds it, clean, unless it is lost there.
    /// Whether it still does.
    pub fn write_out<C: MapCache>(
        &mut self,
        base: &mut DemandMapped<C>,
        board: &mut Board,
        slot: Slot,
        known: When,
    ) -> Result<(When, bool), Fault> {
        let Held { lpn, tag, sectors, ready, .. } = *self.pages.get(slot);
        let request = RequestShape { first_lpn: lpn, pages: 1, index: 0, sectors: 4, hint: None };
        let sectors = sectors & self.all_sectors;
        let io = PageIo { lpn, sectors, cause: Cause::Host, data: tag, request };
        let done = base.write(board, &io, known.waits_for_buffer(ready))?;
        board.event(Event::BufferFlushes, 1);
        // A partial page whose other sectors are lost is lost on flash; here it would look whole.
        let lost = match base.locate(board, lpn) {
            Location::Flash(ppn) => board.nand().state().is_unreadable(ppn),
            _ => false,
        };
        self.pages.clean(slot);
        board.level(Level::BufferedPages, u64::from(self.pages.dirty()));
        Ok((done, !lost))
    }

    /// Whether flash might have lost a page once it is written out: it is lost already, or has
    /// sectors on flash alone. Its entry is cached.
    pub fn may_be_lost<C: MapCache>(&self, base: &DemandMapped<C>, slot: Slot) -> bool {
        let Held { lpn, tag, sectors, .. } = *self.pages.get(slot);
        let partly = !sectors & self.all_sectors != 0;
        tag == Tag::UNREADABLE || (partly && base.map.cache.entry(lpn).flatten().is_some())
    }

    /// A write of a page that goes past its frame, with the sectors of the frame's version that it
    /// does not supersede.
    pub fn merged(&self, slot: Slot, io: &PageIo) -> PageIo {
        let held = self.pages.get(slot);
        let kept = held.sectors & !io.sectors & self.all_sectors;
        let lost = kept != 0 && held.tag == Tag::UNREADABLE;
        let data = if lost { Tag::UNREADABLE } else { io.data };
        PageIo { sectors: io.sectors | kept, data, ..*io }
    }

    /// A page was written past its frame: the frame holds the version that flash holds.
    pub fn supersede(&mut self, slot: Slot, tag: Tag, ready: When) {
        self.pages.write(slot, tag, u64::MAX, ready);
        self.pages.clean(slot);
    }

    /// A page leaves; its frame is free from `ready`.
    pub fn leave(&mut self, board: &mut Board, slot: Slot, ready: impl Into<Moment>) {
        self.pages.leave(slot, ready);
        board.level(Level::BufferedPages, u64::from(self.pages.dirty()));
    }

    /// The dirty pages, upwards, to be written out one by one; given back by [`RamData::flushed`].
    pub fn to_flush(&mut self) -> Vec<Slot> {
        let mut slots = std::mem::take(&mut self.flushing);
        slots.clear();
        slots.extend(self.pages.all().filter(|&slot| self.pages.get(slot).dirty));
        slots.sort_unstable_by_key(|&slot| self.pages.get(slot).lpn);
        slots
    }

    /// Takes the list of [`RamData::to_flush`] back.
    pub fn flushed(&mut self, slots: Vec<Slot>) {
        self.flushing = slots;
    }

    /// Where a page is: here if the newest version is, else on flash.
    pub fn locate<C: MapCache>(&self, base: &DemandMapped<C>, board: &Board, lpn: Lpn) -> Location {
        let below = base.locate(board, lpn);
        let Some(slot) = self.pages.find(lpn) else { return below };
        let held = self.pages.get(slot);
        if !held.dirty {
            return below;
        }
        // Sectors that only flash holds may be lost there.
        let whole = !held.sectors & self.all_sectors == 0;
        match below {
            Location::Flash(ppn) if !whole && board.nand().state().is_unreadable(ppn) => {
                Location::Ram(Tag::UNREADABLE)
            }
            _ => Location::Ram(held.tag),
        }
    }

    /// What the audit must allow for: dirty pages, and their older versions on flash.
    pub fn unsettled<C: MapCache>(&self, base: &DemandMapped<C>, board: &Board) -> Unsettled {
        let mut unsettled = base.unsettled(board);
        for slot in self.pages.all().filter(|&slot| self.pages.get(slot).dirty) {
            unsettled.ram_pages += 1;
            let below = base.locate(board, self.pages.get(slot).lpn);
            unsettled.stale_pages += u64::from(below != Location::Nowhere);
        }
        unsettled
    }

    /// Whether all below agrees with itself and the frames with their counts, and clean pages are
    /// what flash holds.
    pub fn self_check<C: MapCache>(
        &self,
        base: &DemandMapped<C>,
        board: &Board,
    ) -> Result<(), String> {
        base.self_check(board)?;
        self.pages.self_check()?;
        for slot in self.pages.all().filter(|&slot| !self.pages.get(slot).dirty) {
            let Held { lpn, tag, .. } = *self.pages.get(slot);
            let Location::Flash(ppn) = base.locate(board, lpn) else {
                return Err(format!("page {lpn} is clean in memory, but not on flash"));
            };
            let state = board.nand().state();
            if state.tag(ppn) != tag && !state.is_unreadable(ppn) {
                return Err(format!(
                    "page {lpn} is clean in memory as version {tag}, on flash as {}",
                    state.tag(ppn)
                ));
            }
        }
        Ok(())
    }

    /// What is left of map and pages when the power goes, pages in the order of `slots`.
    pub fn power_off<C: MapCache>(
        &self,
        base: &DemandMapped<C>,
        slots: impl Iterator<Item = Slot>,
    ) -> (Survivor, KeptPages) {
        let nonvolatile = !base.records_trims;
        let data = match nonvolatile {
            true => KeptPages { pages: slots.map(|slot| *self.pages.get(slot)).collect(), lost: 0 },
            false => KeptPages { pages: Vec::new(), lost: u64::from(self.pages.dirty()) },
        };
        (base.power_off(nonvolatile), data)
    }

    /// A page that a power cut left is in a frame again.
    pub fn restore(&mut self, held: &Held) -> Slot {
        let (slot, _) = self.pages.enter(held.lpn);
        match held.dirty {
            true => self.pages.write(slot, held.tag, held.sectors, When::START),
            false => self.pages.fill(slot, held.tag, When::START),
        }
        slot
    }
}

#[cfg(test)]
mod flash_tests;
#[cfg(test)]
mod tests;
