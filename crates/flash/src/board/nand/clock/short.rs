//! The short way of reads, programs and copies, where nothing can be joined, overtaken, suspended,
//! kept in a register or drawn, and every page takes the same time: the same bookings as of
//! `operations.rs`, in the same order, with nothing decided between them. A test books the same on
//! both ways.

use super::{Clock, Load, Place, Site, Way};
use crate::board::nand::mover::Mover;
use crate::board::when::{Moment, When};
use crate::meter::Cause;
use crate::units::{BlockId, Nanos, PlaneId, Ppn};

/// Later, after a page was sensed and crossed the channel.
#[inline(always)]
fn fetched(after: When, cause: Cause, (sensed, done): (Nanos, Nanos)) -> When {
    match cause.is_map() {
        true => after.until_by_map(done),
        false => after.until(sensed).until_by_channel(done),
    }
}

/// Later, after a page crossed the channel and was programmed.
#[inline(always)]
fn loaded_and_programmed(after: When, cause: Cause, (loaded, done): (Nanos, Nanos)) -> When {
    match cause.is_map() {
        true => after.until_by_map(done),
        false => after.until_by_channel(loaded).until(done),
    }
}

/// Later, after a page was sensed, crossed the channel to the controller and back, and was
/// programmed.
#[inline(always)]
fn copied(after: When, map: bool, (sensed, loaded, done): (Nanos, Nanos, Nanos)) -> When {
    match map {
        true => after.until_by_map(done),
        false => after.until(sensed).until_by_channel(loaded).until(done),
    }
}

impl Clock {
    /// How operations are booked just now.
    #[inline]
    pub(super) fn way(&self) -> Way {
        if self.timeline.is_on() { Way::Long } else { self.way }
    }

    /// The server works for `cause`, wherever that is.
    #[inline]
    pub(super) fn serve_flat(&mut self, cause: Cause, length: Nanos, transfer: Nanos) -> When {
        match cause.is_map() {
            true => self.spent.map += length + transfer,
            false => self.spent.channel += transfer,
        }
        self.server += length + transfer;
        When::at(self.server)
    }

    /// Books one transfer; returns its end.
    #[inline(always)]
    fn cross(&mut self, channel: u32, length: Nanos, from: Nanos) -> Nanos {
        let resource = &mut self.channels[channel as usize];
        let start = resource.book_from(self.server, from, length);
        self.busy.bus_wait += start - from;
        start + length
    }

    /// One page from cells to controller: when it was sensed, and when it is there.
    #[inline(always)]
    fn fetch(&mut self, site: Site, (ppn, block): (Ppn, BlockId), from: Nanos) -> (Nanos, Nanos) {
        let from = self.ready.read_from(ppn, block, from);
        let sensed = self.cells[site.cells as usize].book(from, self.read.one) + self.read.one;
        self.ready.uses(block, sensed);
        (sensed, self.cross(site.channel, self.unit_transfer, sensed))
    }

    /// One page from controller to cells: when it was in the register, and when it is programmed.
    #[inline(always)]
    fn put(&mut self, site: Site, (ppn, block): (Ppn, BlockId), from: Nanos) -> (Nanos, Nanos) {
        let loaded = self.cross(site.channel, self.transfer, from);
        let from = loaded.max(self.ready.to_program(block));
        let length = self.program.one;
        let done = self.cells[site.cells as usize].book(from, length) + length;
        self.ready.programs_next(ppn, block, done);
        (loaded, done)
    }

    #[inline]
    fn count(&mut self, reads: u64, programs: u64) {
        self.shortly.reads += reads;
        self.shortly.programs += programs;
    }

    /// One page from the cells to the controller; none where it must be booked with care.
    #[inline(always)]
    pub(super) fn read_shortly(&mut self, at: Place, cause: Cause, after: When) -> Option<When> {
        match (self.way(), at.page) {
            (Way::OneServer, _) => {
                self.count(1, 0);
                Some(self.serve_flat(cause, self.read.one, self.unit_transfer))
            }
            (Way::CellsAndChannel, Some(page)) => {
                let (sensed, done) = self.read_in_parallel(at.plane, page, after.time());
                Some(fetched(after, cause, (sensed, done)))
            }
            _ => None,
        }
    }

    /// Moments and not tokens go over the border of a function: they fit into registers.
    #[inline(never)]
    fn read_in_parallel(
        &mut self,
        plane: PlaneId,
        page: (Ppn, BlockId),
        from: Nanos,
    ) -> (Nanos, Nanos) {
        self.count(1, 0);
        self.fetch(self.sites[plane.index()], page, from)
    }

    /// One page from the controller to the cells; none where it must be booked with care.
    #[inline(always)]
    pub(super) fn program_shortly(
        &mut self,
        (plane, block, ppn): (PlaneId, BlockId, Ppn),
        load: Load,
        cause: Cause,
        after: When,
    ) -> Option<When> {
        match (self.way(), load) {
            (Way::OneServer, Load::Channel) => {
                self.count(0, 1);
                Some(self.serve_flat(cause, self.program.one, self.transfer))
            }
            (Way::CellsAndChannel, Load::Channel) => {
                let put = self.program_in_parallel(plane, (ppn, block), after.time());
                Some(loaded_and_programmed(after, cause, put))
            }
            _ => None,
        }
    }

    /// One page from the cells to the controller on the one server, wherever it lies: when it is
    /// there. None, and nothing booked, where there are more.
    #[inline(always)]
    pub fn read_on_server(&mut self, cause: Cause) -> Option<Moment> {
        if self.way() != Way::OneServer {
            return None;
        }
        self.count(1, 0);
        let _ = self.serve_flat(cause, self.read.one, self.unit_transfer);
        Some(Moment::at(self.server))
    }

    /// One page over the channel to the cells, which is never that of a copyback, on the one server:
    /// when it is programmed. None, and nothing booked, where there are more.
    #[inline(always)]
    pub fn program_on_server(&mut self, cause: Cause) -> Option<Moment> {
        if self.way() != Way::OneServer {
            return None;
        }
        self.count(0, 1);
        let _ = self.serve_flat(cause, self.program.one, self.transfer);
        Some(Moment::at(self.server))
    }

    /// Whether a page that is programmed takes the time of cells and channel alone: nobody draws,
    /// and what it supersedes is marked in none.
    #[inline]
    pub fn programs_in_parallel(&self) -> bool {
        self.way() == Way::CellsAndChannel && !self.marks_take_time()
    }

    /// One page from the controller to the cells, where [`Clock::programs_in_parallel`] and from
    /// which moment on it could begin is known: when it was in the register, and when it is
    /// programmed.
    #[inline(always)]
    pub(in crate::board::nand) fn program_from(
        &mut self,
        (plane, block, ppn): (PlaneId, BlockId, Ppn),
        from: Nanos,
    ) -> (Nanos, Nanos) {
        self.count(0, 1);
        let put = self.put(self.sites[plane.index()], (ppn, block), from);
        self.newest_program = put.1;
        put
    }

    #[inline(never)]
    fn program_in_parallel(
        &mut self,
        plane: PlaneId,
        page: (Ppn, BlockId),
        from: Nanos,
    ) -> (Nanos, Nanos) {
        let (ppn, block) = page;
        self.program_from((plane, block, ppn), from)
    }

    /// Copies of pages of one block to the pages of another from `first` on, one after another,
    /// each of which could begin at `after`. Says of each when it is done, and when all are; none
    /// where each must be booked with care.
    pub fn copy_run(
        &mut self,
        ((source, victim), (target, block, first)): ((PlaneId, BlockId), (PlaneId, BlockId, Ppn)),
        cause: Cause,
        movers: &mut [Mover],
        after: When,
    ) -> Option<When> {
        let count = movers.len() as u64;
        match self.way() {
            Way::Long => None,
            Way::OneServer => {
                let (start, step) = self.serve_copies(cause, count);
                for (number, mover) in (1..).zip(movers) {
                    mover.done = Moment::at(start + number * step);
                }
                Some(after.join(When::at(self.server)))
            }
            Way::CellsAndChannel => {
                self.count(count, count);
                let sites = (self.sites[source.index()], self.sites[target.index()]);
                Some(self.copy_on_cells(
                    sites,
                    (victim, block, first),
                    cause.is_map(),
                    movers,
                    after,
                ))
            }
        }
    }

    /// One by one, until the rest can be booked as a row.
    fn copy_on_cells(
        &mut self,
        (source, target): (Site, Site),
        (victim, block, first): (BlockId, BlockId, Ppn),
        map: bool,
        movers: &mut [Mover],
        after: When,
    ) -> When {
        // Cells have one channel.
        let stays = source.cells == target.cells;
        let mut all = after;
        for (index, place) in (0..movers.len()).zip((first.0..).map(Ppn)) {
            if stays && self.copies_in_row(source, victim, after.time()) {
                let pages = (victim, block, place);
                return all.join(self.copy_row(source, pages, map, &mut movers[index..], after));
            }
            let mover = &mut movers[index];
            let (sensed, read) = self.fetch(source, (mover.old, victim), after.time());
            let (loaded, done) = self.put(target, (place, block), read);
            self.newest_program = done;
            let copied = copied(after, map, (sensed, loaded, done));
            mover.done = copied.into();
            all = all.join(copied);
        }
        all
    }

    /// Whether copies that could begin at `from` follow one another without a gap on the cells that
    /// anybody could use, and without waiting for the channel. Whatever was written to their target
    /// was on the same cells, and is over by their tail.
    #[inline]
    pub(super) fn copies_in_row(&self, site: Site, victim: BlockId, from: Nanos) -> bool {
        let cells = &self.cells[site.cells as usize];
        let sensed = cells.tail + self.read.one;
        let transfers = self.unit_transfer + self.transfer;
        let readable = from.max(self.ready.to_program(victim));
        cells.comes_last((from, readable), self.read.one)
            && cells.wastes(transfers)
            && self.channels[site.channel as usize].tail <= sensed
    }

    /// Such copies: each is as long behind the one before as it takes by itself.
    fn copy_row(
        &mut self,
        site: Site,
        (victim, block, first): (BlockId, BlockId, Ppn),
        map: bool,
        movers: &mut [Mover],
        after: When,
    ) -> When {
        let transfers = self.unit_transfer + self.transfer;
        let step = self.read.one + transfers + self.program.one;
        let others = movers.len() as u64 - 1;
        let cells = &mut self.cells[site.cells as usize];
        let sensed = cells.tail + self.read.one;
        cells.tail += (others + 1) * step;
        self.newest_program = cells.tail;
        let channel = &mut self.channels[site.channel as usize];
        channel.forget(self.server);
        channel.book_row(sensed, (step, movers.len()), transfers);
        self.ready.uses(victim, sensed + others * step);
        let done = sensed + transfers + self.program.one;
        let tell = |mover: &mut Mover, done| mover.done = Moment::at(done);
        self.ready.programs_row((first, block), (done, step), movers.iter_mut(), tell);
        // The last has waited for the others.
        copied(after, map, (sensed, sensed + transfers, done + others * step))
    }

    /// So many copies one after another on the one server, where it makes no difference which pages
    /// they are of: when the first begins, and what each takes.
    #[inline]
    pub fn copies_on_server(&mut self, cause: Cause, count: u64) -> Option<(Nanos, Nanos)> {
        matches!(self.way(), Way::OneServer).then(|| self.serve_copies(cause, count))
    }

    /// What a copy takes on the one server, where it makes no difference which page it is of.
    #[inline]
    pub fn copy_on_server(&self) -> Option<Nanos> {
        let transfers = self.unit_transfer + self.transfer;
        let is_one = matches!(self.way(), Way::OneServer);
        is_one.then_some(self.read.one + self.program.one + transfers)
    }

    #[inline]
    fn serve_copies(&mut self, cause: Cause, count: u64) -> (Nanos, Nanos) {
        let cells = self.read.one + self.program.one;
        let transfers = self.unit_transfer + self.transfer;
        let start = self.server;
        let _ = self.serve_flat(cause, count * cells, count * transfers);
        self.count(count, count);
        (start, cells + transfers)
    }
}
