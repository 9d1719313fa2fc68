//! The buffer in front of a scheme: what every buffer does, whatever its policy.
//!
//! A write goes into a frame; where none is free, pages are written out first, and the write waits
//! for that. A read is answered from a frame that has all its sectors, else from flash, and merged
//! where a part is newer here. A page's way into RAM or out of it to the host is charged
//! (`timing.ram_page`); its way to flash is the flash's transfer.
//!
//! Pages that follow each other leave as one request of their own, under `Cause::Host`; what
//! padding reads and programs is under `Cause::Pad`. A page stays in its frame until it is
//! programmed, so that a power cut finds it in one place at least.

use super::{BufferSettings, Chosen, Leaving, PolicySettings, Why};
use crate::any_scheme::AnyScheme;
use crate::ledger::Ledger;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::ram::RamWork;
use ftlab_flash::board::when::{Moment, When};
use ftlab_flash::board::{Board, Search};
use ftlab_flash::meter::{Cause, Event, Level};
use ftlab_flash::request::{PageIo, RequestShape};
use ftlab_flash::units::{Lpn, Tag};
use ftlab_ftl::answers::Location;
use ftlab_ftl::parts::held_pages::{Held, HeldPages};
use ftlab_ftl::parts::slots::Slot;

#[cfg(test)]
mod tests;

/// What is below the buffer, whichever the scheme is where nothing else is said.
pub(crate) struct Below<'a, S: ?Sized = dyn AnyScheme> {
    /// The scheme.
    pub scheme: &'a mut S,
    /// What it runs on.
    pub board: &'a mut Board,
    /// What the host wrote.
    pub ledger: &'a mut Ledger,
}

impl<S: AnyScheme + 'static> Below<'_, S> {
    /// The same for a buffer, which is compiled once for all schemes.
    pub fn any(&mut self) -> Below<'_> {
        Below { scheme: self.scheme, board: self.board, ledger: self.ledger }
    }
}

/// Dirty pages, for the audit.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Buffered {
    /// Pages whose newest version is in the buffer.
    pub dirty: u64,
    /// Those of them that the scheme holds in an older version.
    pub superseded: u64,
}

/// A page of a range that is written as a whole.
#[derive(Clone, Copy, Debug)]
enum Fill {
    /// It is in this frame.
    Here(Slot),
    /// It was read from flash.
    Read(Tag, u64, When),
    /// It was never written.
    Unwritten,
}

/// A buffer in front of a scheme.
#[derive(Clone)]
pub(crate) struct Front {
    pages: HeldPages,
    policy: Chosen,
    leaving: Leaving,
    fills: Vec<Fill>,
    all_sectors: u64,
    keeps_reads: bool,
    idle_flush: bool,
    pad_unwritten: bool,
    nonvolatile: bool,
    /// When everything is on flash that was written out behind the host's back: in idle time, and
    /// to make room for what was read.
    written_behind: When,
}

impl Front {
    /// An empty buffer; none where the settings ask for none.
    pub fn new(
        board: &Board,
        settings: &BufferSettings,
        policies: &PolicySettings,
        nonvolatile: bool,
    ) -> Option<Self> {
        let geometry = board.geometry();
        let frames = settings.frames(geometry);
        let policy = Chosen::new(settings.name, frames, geometry, policies)?;
        Some(Front {
            pages: HeldPages::new(frames, geometry.logical_pages),
            policy,
            leaving: Leaving { slots: Vec::with_capacity(frames as usize), ..Leaving::default() },
            fills: Vec::with_capacity(geometry.pages_per_block as usize),
            all_sectors: geometry.all_sectors(),
            keeps_reads: settings.keeps_reads(),
            idle_flush: settings.idle_flush,
            pad_unwritten: settings.pad_unwritten,
            nonvolatile,
            written_behind: When::START,
        })
    }

    /// Takes a page that the host writes.
    pub fn write(
        &mut self,
        below: &mut Below<'_>,
        io: &PageIo,
        after: When,
    ) -> Result<When, Fault> {
        below.board.event(Event::BufferLookups, 1);
        let (slot, ready) = match self.pages.find(io.lpn) {
            Some(slot) => {
                below.board.event(Event::BufferHits, 1);
                self.policy.used(slot, io.lpn, true);
                (slot, after.waits_for_buffer(self.pages.get(slot).ready))
            }
            None => self.take_frame(below, io.lpn, after)?,
        };
        let done = below.board.ram_pages(RamWork::Data, 1, ready);
        self.pages.write(slot, io.data, io.sectors, done);
        below.board.level(Level::BufferedPages, u64::from(self.pages.dirty()));
        Ok(done)
    }

    /// Reads a page for the host.
    pub fn read(
        &mut self,
        below: &mut Below<'_>,
        io: &PageIo,
        after: When,
    ) -> Result<(When, Tag), Fault> {
        below.board.event(Event::BufferLookups, 1);
        let Some(slot) = self.pages.find(io.lpn) else {
            let (done, tag) = below.scheme.read(below.board, io, after)?;
            if self.keeps_reads && tag != Tag(0) && tag != Tag::UNREADABLE {
                self.keep_read(below, io.lpn, tag, (after, done))?;
            }
            return Ok((done, tag));
        };
        let held = *self.pages.get(slot);
        self.policy.used(slot, io.lpn, false);
        if io.sectors & !held.sectors == 0 {
            below.board.event(Event::BufferHits, 1);
            let ready = after.waits_for_buffer(held.ready);
            return Ok((below.board.ram_pages(RamWork::Data, 1, ready), held.tag));
        }
        // Some sectors are only on flash: merged on their way to the host.
        let (read, found) = below.scheme.read(below.board, io, after)?;
        let merged = read.waits_for_buffer(held.ready);
        let done = below.board.ram_pages(RamWork::Data, 1, merged);
        if found == Tag::UNREADABLE {
            return Ok((done, Tag::UNREADABLE));
        }
        if self.keeps_reads {
            self.pages.fill(slot, held.tag, done);
        }
        Ok((done, held.tag))
    }

    /// Keeps a page that was read; the host does not wait for the frame.
    fn keep_read(
        &mut self,
        below: &mut Below<'_>,
        lpn: Lpn,
        tag: Tag,
        (after, read): (When, When),
    ) -> Result<(), Fault> {
        let (slot, free) = self.take_frame(below, lpn, after)?;
        self.written_behind = self.written_behind.waits_for_buffer(free);
        let here = below.board.ram_pages(RamWork::Data, 1, read.waits_for_buffer(free));
        self.pages.fill(slot, tag, here);
        Ok(())
    }

    /// A page is forgotten: what the buffer holds of it need not be written.
    pub fn trim(&mut self, board: &mut Board, lpn: Lpn) {
        if let Some(slot) = self.pages.find(lpn) {
            let free = self.pages.get(slot).ready;
            self.leave(slot, free);
            board.level(Level::BufferedPages, u64::from(self.pages.dirty()));
        }
    }

    /// Writes everything out; the scheme's own flush comes next. What idle time wrote may still be
    /// on its way.
    pub fn flush(&mut self, below: &mut Below<'_>, after: When) -> Result<When, Fault> {
        let mut done = after.waits_for_buffer(self.written_behind);
        while self.pages.dirty() > 0 {
            done = done.join(self.write_out(below, Why::Flush, after)?);
        }
        Ok(done)
    }

    /// Writes a little out in an idle gap; none when there is nothing to do.
    pub fn idle(&mut self, below: &mut Below<'_>, after: When) -> Result<Option<When>, Fault> {
        match self.idle_flush && self.pages.dirty() > 0 {
            true => {
                let written = self.write_out(below, Why::Idle, after)?;
                self.written_behind = self.written_behind.waits_for_buffer(written);
                Ok(Some(written))
            }
            false => Ok(None),
        }
    }

    /// A frame for a page, and when it can be filled.
    fn take_frame(
        &mut self,
        below: &mut Below<'_>,
        lpn: Lpn,
        after: When,
    ) -> Result<(Slot, When), Fault> {
        let mut ready = after;
        while self.pages.is_full() {
            ready = self.write_out(below, Why::Space, ready)?;
        }
        let (slot, free) = self.pages.enter(lpn);
        self.policy.entered(slot, lpn);
        Ok((slot, ready.waits_for_buffer(free)))
    }

    /// Writes out what the policy chooses.
    fn write_out(&mut self, below: &mut Below<'_>, why: Why, after: When) -> Result<When, Fault> {
        let Leaving { slots, padded, compared } = &mut self.leaving;
        (*padded, *compared) = (None, 0);
        slots.clear();
        self.policy.choose(&self.pages, why, below.board, &mut self.leaving);
        assert!(!self.leaving.slots.is_empty(), "a write-out ({why:?}) must write something");
        let start = match self.leaving.compared {
            0 => after,
            compared => below.board.search(Search::Cached, compared, after),
        };
        let keep = why != Why::Space && self.keeps_reads;
        let done = match self.leaving.padded {
            Some(range) => self.write_range(below, range, start)?,
            None => self.write_runs(below, keep, start)?,
        };
        below.board.level(Level::BufferedPages, u64::from(self.pages.dirty()));
        Ok(done)
    }

    /// Writes the pages that leave, those that follow each other as one request.
    fn write_runs(
        &mut self,
        below: &mut Below<'_>,
        keep: bool,
        start: When,
    ) -> Result<When, Fault> {
        let mut done = start;
        let mut from = 0;
        while from < self.leaving.slots.len() {
            let page = |index: usize| self.pages.get(self.leaving.slots[index]);
            if !page(from).dirty {
                self.drop_clean(below.board, self.leaving.slots[from]);
                from += 1;
                continue;
            }
            let first_lpn = page(from).lpn;
            let follows = |&index: &usize| {
                let held = page(index);
                held.dirty && held.lpn.index() == first_lpn.index() + (index - from)
            };
            let pages = (from..self.leaving.slots.len()).take_while(follows).count();
            below.board.event(Event::BufferRuns, 1);
            for index in 0..pages {
                let slot = self.leaving.slots[from + index];
                let shape = self.shape(first_lpn, pages as u32, index as u32);
                done = done.join(self.write_held(below, slot, shape, keep, start)?);
            }
            from += pages;
        }
        Ok(done)
    }

    /// Writes a range as one request of whole pages, whatever of it is in the buffer.
    fn write_range(
        &mut self,
        below: &mut Below<'_>,
        (first_lpn, pages): (Lpn, u32),
        start: When,
    ) -> Result<When, Fault> {
        below.board.event(Event::BufferRuns, 1);
        below.board.event(Event::BufferPaddedBlocks, 1);
        let range = (first_lpn, pages);
        // Step 1: pages that are missing are read, unless they were never written.
        self.fills.clear();
        for index in 0..pages {
            let io = self.filler(range, index, Tag(0), self.all_sectors);
            let fill = match (self.pages.find(io.lpn), below.scheme.locate(below.board, io.lpn)) {
                (Some(slot), _) => Fill::Here(slot),
                (None, Location::Nowhere) => Fill::Unwritten,
                (None, place) => {
                    let sectors = match place {
                        Location::Flash(ppn) => below.board.nand().state().mask(ppn),
                        _ => u64::MAX,
                    };
                    let (read, tag) = below.scheme.read(below.board, &io, start)?;
                    Fill::Read(tag, sectors & self.all_sectors, read)
                }
            };
            self.fills.push(fill);
        }
        // Step 2: the block arrives in order.
        let mut done = start;
        for index in 0..pages {
            let programmed = match self.fills[index as usize] {
                Fill::Here(slot) => {
                    let shape = self.shape(first_lpn, pages, index);
                    self.write_held(below, slot, shape, false, start)?
                }
                Fill::Read(tag, sectors, read) => {
                    let io = self.filler(range, index, tag, sectors);
                    below.scheme.write(below.board, &io, read)?
                }
                Fill::Unwritten if self.pad_unwritten => {
                    let io = self.filler(range, index, Tag(0), self.all_sectors);
                    let programmed = below.scheme.write(below.board, &io, start)?;
                    below.ledger.wrote(io.lpn, Tag(0));
                    programmed
                }
                Fill::Unwritten => start,
            };
            done = done.join(programmed);
        }
        Ok(done)
    }

    /// A page of a range that is written as a whole, of which the buffer has nothing.
    fn filler(
        &self,
        (first_lpn, pages): (Lpn, u32),
        index: u32,
        data: Tag,
        sectors: u64,
    ) -> PageIo {
        let request = self.shape(first_lpn, pages, index);
        PageIo { lpn: Lpn(first_lpn.0 + index), sectors, cause: Cause::Pad, data, request }
    }

    /// Whole pages that leave together are a request.
    fn shape(&self, first_lpn: Lpn, pages: u32, index: u32) -> RequestShape {
        RequestShape {
            first_lpn,
            pages,
            index,
            sectors: pages * self.all_sectors.count_ones(),
            hint: None,
        }
    }

    /// Writes one page of the buffer to flash.
    fn write_held(
        &mut self,
        below: &mut Below<'_>,
        slot: Slot,
        request: RequestShape,
        keep: bool,
        start: When,
    ) -> Result<When, Fault> {
        let Held { lpn, tag, sectors, ready, .. } = *self.pages.get(slot);
        let sectors = sectors & self.all_sectors;
        let io = PageIo { lpn, sectors, cause: Cause::Host, data: tag, request };
        let done = below.scheme.write(below.board, &io, start.waits_for_buffer(ready))?;
        below.board.event(Event::BufferFlushes, 1);
        // A partial page whose other sectors are lost is lost on flash; here it would look whole.
        if keep && !is_lost(below, lpn) {
            self.pages.clean(slot);
        } else {
            self.leave(slot, done);
        }
        Ok(done)
    }

    fn drop_clean(&mut self, board: &mut Board, slot: Slot) {
        board.event(Event::BufferCleanDrops, 1);
        let free = self.pages.get(slot).ready;
        self.leave(slot, free);
    }

    fn leave(&mut self, slot: Slot, free: impl Into<Moment>) {
        self.policy.left(slot, self.pages.get(slot).lpn);
        self.pages.leave(slot, free);
    }

    /// Where a page is, if its newest version is here.
    pub fn locate(&self, lpn: Lpn) -> Option<Location> {
        let held = self.pages.get(self.pages.find(lpn)?);
        held.dirty.then_some(Location::Ram(held.tag))
    }

    /// Whether some sectors of a buffered page are only on flash.
    pub fn needs_flash(&self, lpn: Lpn) -> bool {
        let held = self.pages.find(lpn).map(|slot| self.pages.get(slot).sectors);
        held.is_some_and(|sectors| !sectors & self.all_sectors != 0)
    }

    /// Whether idle gaps are used.
    pub fn works_in_gaps(&self) -> bool {
        self.idle_flush
    }

    /// The power goes: what is clean is on flash, and what is dirty is lost unless the RAM keeps
    /// it.
    pub fn power_off(&mut self, board: &mut Board) {
        for slot in (0..self.pages.frames()).map(Slot) {
            if !self.pages.holds(slot) || (self.pages.get(slot).dirty && self.nonvolatile) {
                continue;
            }
            let lost = u64::from(self.pages.get(slot).dirty);
            board.event(Event::LostBufferedPages, lost);
            self.leave(slot, When::START);
        }
    }

    /// What the audit must allow for.
    pub fn buffered(&self, scheme: &dyn AnyScheme, board: &Board) -> Buffered {
        let mut buffered = Buffered::default();
        for slot in self.pages.all().filter(|&slot| self.pages.get(slot).dirty) {
            buffered.dirty += 1;
            let below = scheme.locate(board, self.pages.get(slot).lpn);
            buffered.superseded += u64::from(below != Location::Nowhere);
        }
        buffered
    }

    /// Whether the buffer's own tables agree, and clean pages are what flash holds.
    pub fn self_check(&self, scheme: &dyn AnyScheme, board: &Board) -> Result<(), String> {
        self.pages.self_check()?;
        self.policy.self_check(&self.pages)?;
        for slot in self.pages.all().filter(|&slot| !self.pages.get(slot).dirty) {
            let Held { lpn, tag, .. } = *self.pages.get(slot);
            let Location::Flash(ppn) = scheme.locate(board, lpn) else {
                return Err(format!("page {lpn} is clean in the buffer, but not on flash"));
            };
            let state = board.nand().state();
            if state.tag(ppn) != tag && !state.is_unreadable(ppn) {
                return Err(format!(
                    "page {lpn} is clean in the buffer as version {tag}, on flash as {}",
                    state.tag(ppn)
                ));
            }
        }
        Ok(())
    }
}

/// Whether flash holds a page and cannot read it.
fn is_lost(below: &Below<'_>, lpn: Lpn) -> bool {
    match below.scheme.locate(below.board, lpn) {
        Location::Flash(ppn) => below.board.nand().state().is_unreadable(ppn),
        _ => false,
    }
}
