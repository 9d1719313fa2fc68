//! The operations of the clock: what each takes, of which resource, after what.
//!
//! A copyback's read and program are one booking, so that nothing overwrites the register between
//! them. Limit: where commands can be joined, overtaken or suspended they are booked one by one, so
//! that copybacks of several planes can join, and another command of the plane may come between (as
//! on parts with a cache register). A copy whose read needs retries goes over the channel.

use super::schedule::Job;
use super::timeline::{Span, Unit, Work};
use super::{Clock, Site};
use crate::board::nand::geometry::Geometry;
use crate::board::when::When;
use crate::meter::Cause;
use crate::units::{BlockId, Nanos, PlaneId, Ppn};

/// Where an operation takes place.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The plane at work.
    pub plane: PlaneId,
    /// The page and its block; none for reads that find nothing.
    pub page: Option<(Ppn, BlockId)>,
}

impl Place {
    /// Where a page is.
    #[inline]
    pub fn of(geometry: &Geometry, ppn: Ppn) -> Self {
        let block = geometry.block_of(ppn);
        Place { plane: geometry.plane_of_block(block), page: Some((ppn, block)) }
    }

    /// A plane, with no page in it that matters.
    pub fn plane(plane: PlaneId) -> Self {
        Place { plane, page: None }
    }
}

/// Where the data of a program comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// From the controller, over the channel.
    Channel,
    /// From the plane's own register, which a read of the cells has filled: a copyback.
    Register,
}

/// Later, after cells worked for `cause`.
#[inline]
fn passed(after: When, cause: Cause, done: Nanos) -> When {
    if cause.is_map() { after.until_by_map(done) } else { after.until(done) }
}

/// Later, after waiting for the channel or using it for `cause`.
#[inline]
pub(super) fn transferred(after: When, cause: Cause, done: Nanos) -> When {
    if cause.is_map() { after.until_by_map(done) } else { after.until_by_channel(done) }
}

impl Clock {
    /// The server works for `cause`: cells for `length`, the channel for `transfer`.
    fn serve(&mut self, at: (PlaneId, Work), cause: Cause, length: Nanos, transfer: Nanos) -> When {
        if self.timeline.is_on() {
            self.draw_served(at, cause, length, transfer);
        }
        self.serve_flat(cause, length, transfer)
    }

    #[cold]
    fn draw_served(&mut self, at: (PlaneId, Work), cause: Cause, length: Nanos, transfer: Nanos) {
        let (plane, work) = at;
        let site = self.sites[plane.index()];
        // Data goes in before a program and comes out after a read.
        let loading = if work == Work::Program { transfer } else { 0 };
        let cells = self.server + loading;
        let channel = if work == Work::Program { self.server } else { cells + length };
        let mut draw = |unit, start, length, work| {
            if length > 0 {
                let end = start + length;
                self.timeline.add(Span { unit, start, end, work, cause, planes: 1 });
            }
        };
        draw(site.unit, cells, length, work);
        draw(Unit::Channel(site.channel), channel, transfer, Work::Transfer);
    }

    /// Controller time for one page of host data.
    #[inline]
    pub fn host_page(&mut self, after: When) -> When {
        self.compute(self.controller_page, after)
    }

    /// Whether that is none.
    #[inline]
    pub fn host_pages_are_free(&self) -> bool {
        self.controller_page == 0
    }

    /// Controller time that a page of host data takes for itself.
    #[inline]
    pub fn compute(&mut self, length: Nanos, after: When) -> When {
        if length == 0 {
            return after;
        }
        self.busy.controller += length;
        self.control(length, Cause::Host, after)
    }

    /// Controller time of a search.
    pub fn search(&mut self, length: Nanos, after: When) -> When {
        self.busy.search += length;
        self.control(length, Cause::Gc, after)
    }

    #[inline]
    fn control(&mut self, length: Nanos, cause: Cause, after: When) -> When {
        if self.is_event_driven() {
            return self.control_later(length, cause, after);
        }
        let start = if self.serial {
            self.spent.controller += length;
            self.server += length;
            self.server - length
        } else {
            self.controller.book(after.time(), length)
        };
        let end = start + length;
        if self.timeline.is_on() {
            let (unit, work) = (Unit::Controller, Work::Control);
            self.timeline.add(Span { unit, start, end, work, cause, planes: 1 });
        }
        if self.serial { When::at(end) } else { after.until_by_controller(end) }
    }

    /// The place of a flash page in its block.
    #[inline]
    pub(super) fn offset(&self, (ppn, block): (Ppn, BlockId)) -> u32 {
        (ppn.0 - block.0 * self.pages_per_block) >> self.unit_shift
    }

    #[inline]
    fn read_time(&self, at: Place) -> Nanos {
        match at.page {
            Some((_, block)) if self.slc.has(block) => self.slc.read,
            Some(page) => self.read.at(|| self.offset(page)),
            None => self.read.one,
        }
    }

    #[inline]
    fn program_time(&self, (ppn, block): (Ppn, BlockId)) -> Nanos {
        match self.slc.has(block) {
            true => self.slc.program,
            false => self.program.at(|| self.offset((ppn, block))),
        }
    }

    #[inline]
    fn erase_time(&self, block: BlockId) -> Nanos {
        if self.slc.has(block) { self.slc.erase } else { self.erase }
    }

    /// One page from the cells to the controller.
    #[inline(always)]
    pub fn read_page(&mut self, at: Place, cause: Cause, after: When) -> When {
        match self.read_shortly(at, cause, after) {
            Some(done) => done,
            None => self.read_page_at(at, cause, after),
        }
    }

    fn read_page_at(&mut self, at: Place, cause: Cause, after: When) -> When {
        let length = self.read_time(at);
        self.busy.read += length;
        self.busy.transfer += self.unit_transfer;
        self.done.reads += 1;
        if self.serial {
            return self.serve((at.plane, Work::Read), cause, length, self.unit_transfer);
        }
        let sensed = self.sense(at, cause, after, length);
        self.over_channel((at.plane, self.unit_transfer), cause, sensed)
    }

    /// One mapping unit from its plane's register to the controller.
    pub fn transfer_unit(&mut self, at: Place, cause: Cause, after: When) -> When {
        self.busy.transfer += self.unit_transfer;
        if self.serial {
            return self.serve((at.plane, Work::Read), cause, 0, self.unit_transfer);
        }
        if self.is_event_driven() {
            let sensed = self.behind_register(at.plane, cause, after);
            return self.over_channel((at.plane, self.unit_transfer), cause, sensed);
        }
        let sensed = self.register_ready[at.plane.index()];
        let from = passed(after, cause, sensed.max(after.time()));
        self.over_channel((at.plane, self.unit_transfer), cause, from)
    }

    /// One page from the cells to the register, no further.
    pub fn read_cells(&mut self, at: Place, cause: Cause, after: When) -> When {
        let length = self.read_time(at);
        self.busy.read += length;
        self.done.reads += 1;
        if self.serial {
            return self.serve((at.plane, Work::Read), cause, length, 0);
        }
        self.sense(at, cause, after, length)
    }

    /// One page from the cells to the register, to be programmed into `target`, of the same plane,
    /// from there; what follows must be this program. The cells are booked for both at once, so
    /// that nothing comes between and overwrites the register; where commands can be joined,
    /// overtaken or suspended, one by one.
    pub fn read_for_program(
        &mut self,
        at: Place,
        target: (Ppn, BlockId),
        cause: Cause,
        after: When,
    ) -> When {
        let one_by_one = !self.schedules.is_empty() && !self.is_event_driven();
        let (Some((ppn, block)), false) = (at.page, self.serial || one_by_one) else {
            return self.read_cells(at, cause, after);
        };
        let read = self.read_time(at);
        let program = self.program_time(target);
        self.busy.read += read;
        self.done.reads += 1;
        if self.is_event_driven() {
            let source = (at.plane, (ppn, block));
            return self.copy_later(source, target, cause, after, read + program);
        }
        let loaded = after.time().max(self.ready.to_read(ppn));
        let from = loaded.max(self.ready.to_program(target.1).saturating_sub(read));
        let Site { cells, unit, .. } = self.sites[at.plane.index()];
        let start = self.cells[cells as usize].book(from, read + program);
        let (sensed, end) = (start + read, start + read + program);
        if self.timeline.is_on() {
            let span = Span { unit, start, end: sensed, work: Work::Read, cause, planes: 1 };
            self.timeline.add(span);
            self.timeline.add(Span { start: sensed, end, work: Work::Program, ..span });
        }
        self.ready.uses(block, sensed);
        self.booked_copy = Some(end);
        passed(after, cause, sensed)
    }

    /// Cells at work for a read, after the page was programmed.
    #[inline]
    fn sense(&mut self, at: Place, cause: Cause, after: When, length: Nanos) -> When {
        if self.is_event_driven() {
            return self.sense_later(at, cause, after, length);
        }
        let mut from = after.time();
        if let Some((ppn, _)) = at.page {
            from = from.max(self.ready.to_read(ppn));
        }
        let number = at.page.map(|(ppn, _)| ppn.0);
        let offset = at.page.map_or(0, |page| self.offset(page));
        let slc = at.page.is_some_and(|(_, block)| self.slc.has(block));
        let work = (Work::Read, cause, slc);
        let sensed = self.book_cells(at.plane, work, (number, offset), from, length);
        if let Some((_, block)) = at.page {
            self.ready.uses(block, sensed);
        }
        if let Some(register) = self.register_ready.get_mut(at.plane.index()) {
            *register = sensed;
        }
        passed(after, cause, sensed)
    }

    /// Books the cells of a plane; returns when they are done. Commands of one mode join. `number`
    /// is the page of a read or program, the block of anything else.
    #[inline]
    fn book_cells(
        &mut self,
        plane: PlaneId,
        (work, cause, slc): (Work, Cause, bool),
        (number, offset): (Option<u32>, u32),
        from: Nanos,
        length: Nanos,
    ) -> Nanos {
        let Site { cells, die, plane, unit, .. } = self.sites[plane.index()];
        if !self.schedules.is_empty() {
            let job = Job { unit, work, cause, slc, die, plane, number, offset, from, length };
            let schedule = &mut self.schedules[cells as usize];
            let known = (&self.rules, self.server);
            return schedule.book(known, &job, &mut self.ready, &mut self.timeline);
        }
        let start = self.cells[cells as usize].book(from, length);
        let end = start + length;
        if self.timeline.is_on() {
            self.timeline.add(Span { unit, start, end, work, cause, planes: 1 });
        }
        end
    }

    #[inline]
    pub(super) fn over_channel(
        &mut self,
        (plane, length): (PlaneId, Nanos),
        cause: Cause,
        after: When,
    ) -> When {
        if length == 0 {
            return after;
        }
        if self.is_event_driven() {
            return self.cross_later((plane, length), cause, after);
        }
        let start = self.book_channel((plane, length), cause, after.time());
        self.busy.bus_wait += start - after.time();
        transferred(after, cause, start + length)
    }

    /// Books one transfer; returns its start.
    #[inline]
    pub(super) fn book_channel(
        &mut self,
        (plane, length): (PlaneId, Nanos),
        cause: Cause,
        from: Nanos,
    ) -> Nanos {
        let channel = self.sites[plane.index()].channel;
        let resource = &mut self.channels[channel as usize];
        let start = resource.book_from(self.server, from, length);
        if self.timeline.is_on() {
            let (unit, work) = (Unit::Channel(channel), Work::Transfer);
            let end = start + length;
            self.timeline.add(Span { unit, start, end, work, cause, planes: 1 });
        }
        start
    }

    /// Whether any copy stays in its plane.
    #[inline]
    pub fn copies_back_at_all(&self) -> bool {
        self.copyback
    }

    /// Whether a copy between these pages stays in their plane; mapping units cannot, because
    /// others share their flash page.
    pub fn copies_back(&self, geometry: &Geometry, from: Ppn, to: Ppn) -> bool {
        let odd = |ppn| geometry.offset_of(ppn) % 2;
        self.copyback
            && self.unit_shift == 0
            && geometry.plane_of(from) == geometry.plane_of(to)
            && (!self.copyback_same_parity || odd(from) == odd(to))
    }

    /// One flash page to the cells, after the pages below it and the block's erase; `ppn` is its
    /// last mapping unit.
    #[inline(always)]
    pub fn program_page(
        &mut self,
        (plane, block, ppn): (PlaneId, BlockId, Ppn),
        load: Load,
        cause: Cause,
        after: When,
    ) -> When {
        match self.program_shortly((plane, block, ppn), load, cause, after) {
            Some(done) => done,
            None => self.program_page_at((plane, block, ppn), load, cause, after),
        }
    }

    fn program_page_at(
        &mut self,
        (plane, block, ppn): (PlaneId, BlockId, Ppn),
        load: Load,
        cause: Cause,
        after: When,
    ) -> When {
        let offset = self.offset((ppn, block));
        let length = self.program_time((ppn, block));
        let transfer = if load == Load::Channel { self.transfer } else { 0 };
        self.busy.program += length;
        self.busy.transfer += transfer;
        self.busy.transfer_in += transfer;
        self.done.programs += 1;
        if self.serial {
            return self.serve((plane, Work::Program), cause, length, transfer);
        }
        if self.is_event_driven() {
            return self.program_later((plane, block, ppn), load, (cause, length), after);
        }
        let loaded = match load {
            Load::Register => after,
            Load::Channel if self.takes_announcements() => {
                self.load_with_companions(plane, cause, after)
            }
            Load::Channel => self.over_channel((plane, self.transfer), cause, after),
        };
        let slc = self.slc.has(block);
        let booked = match load {
            Load::Register => self.booked_copy.take(),
            Load::Channel => None,
        };
        let done = booked.unwrap_or_else(|| {
            let from = loaded.time().max(self.ready.to_program(block));
            let page = (Some(ppn.0), offset);
            self.book_cells(plane, (Work::Program, cause, slc), page, from, length)
        });
        self.ready.programs(ppn, block, done);
        self.newest_program = done;
        passed(loaded, cause, done)
    }

    /// One block erased, after everything that touched it.
    #[inline]
    pub fn erase_block(
        &mut self,
        plane: PlaneId,
        block: BlockId,
        cause: Cause,
        after: When,
    ) -> When {
        let length = self.erase_time(block);
        self.busy.erase += length;
        self.done.erases += 1;
        if self.serial {
            return self.serve((plane, Work::Erase), cause, length, 0);
        }
        if self.is_event_driven() {
            return self.erase_later((plane, block), (cause, length), after);
        }
        let from = after.time().max(self.ready.to_erase(block));
        let number = (Some(block.0), 0);
        let slc = self.slc.has(block);
        let done = self.book_cells(plane, (Work::Erase, cause, slc), number, from, length);
        self.ready.erases(block, done);
        passed(after, cause, done)
    }

    /// One out-of-band area read in normal operation.
    pub fn read_oob(&mut self, at: Place, cause: Cause, after: When) -> When {
        if self.oob_read == 0 {
            return after;
        }
        self.busy.read += self.oob_read;
        if self.serial {
            return self.serve((at.plane, Work::Read), cause, self.oob_read, 0);
        }
        self.sense(at, cause, after, self.oob_read)
    }

    /// One spare area read that holds a part of the map: `length` without a transfer to speak of.
    pub fn read_spare(&mut self, at: Place, cause: Cause, length: Nanos, after: When) -> When {
        self.busy.read += length;
        if self.serial {
            return self.serve((at.plane, Work::Read), cause, length, 0);
        }
        self.sense(at, cause, after, length)
    }

    /// Whether [`Clock::write_oob`] books anything.
    #[inline]
    pub fn marks_take_time(&self) -> bool {
        self.oob_write > 0
    }

    /// One page marked as superseded in its out-of-band area. Nothing waits for the mark, but the
    /// cells are busy with it, and the block is not erased before.
    #[inline]
    pub fn write_oob(&mut self, plane: PlaneId, block: BlockId) {
        if self.marks_take_time() {
            self.book_mark(plane, block);
        }
    }

    #[cold]
    fn book_mark(&mut self, plane: PlaneId, block: BlockId) {
        let length = self.oob_write;
        let cause = Cause::Host;
        self.busy.program += length;
        if self.serial {
            let _ = self.serve((plane, Work::Mark), cause, length, 0);
            return;
        }
        if self.is_event_driven() {
            return self.mark_later(plane, block, length);
        }
        // A mark follows the program of the newer version, which was booked last.
        let from = self.newest_program.max(self.ready.to_program(block));
        let number = (Some(block.0), 0);
        let done = self.book_cells(plane, (Work::Mark, cause, false), number, from, length);
        self.ready.uses(block, done);
    }
}
