//! What a scheme runs on: the flash behind its gate, the other memories, the counts, and the
//! settings that every scheme shares.
//!
//! A scheme asks the board for operations and names what the gate cannot see; it never counts and
//! never computes time.

mod counts;
pub mod energy;
#[cfg(test)]
mod for_tests;
pub mod link;
pub mod nand;
pub mod pcm;
mod pending;
pub mod ram;
mod search;
pub mod settings;
pub mod when;

use crate::board::settings::{BoardSettings, PartialWrite, SearchSettings, UnwrittenRead};
use crate::meter::{BlockRole, Cause, Event, Meter};
use crate::request::PageIo;
use crate::units::{BlockId, Lpn, Nanos, Ppn, Tag};
use link::Link;
use nand::fault::Fault;
use nand::geometry::Geometry;
use nand::run::Mover;
use nand::state::{OobRead, PageKind};
use nand::{Nand, PageWrite, Payload};
use pcm::Pcm;
use ram::Ram;
pub use search::Search;
use when::{Moment, When};

/// What a scheme runs on.
#[derive(Clone, Debug)]
pub struct Board {
    nand: Nand,
    meter: Meter,
    rmw: bool,
    charge_unwritten: bool,
    search: SearchSettings,
    ram: Ram,
    pcm: Pcm,
    link: Link,
}

impl Board {
    /// An erased device that keeps the payload of up to `payload_pages` live pages.
    pub fn new(config: &BoardSettings, seed: u64, payload_pages: u64) -> Self {
        let nand = Nand::new(config, seed, payload_pages);
        Board {
            meter: Meter::new(nand.geometry().pages_per_block),
            nand,
            rmw: config.io.partial_write == PartialWrite::Rmw,
            charge_unwritten: config.io.unwritten_read != UnwrittenRead::ZeroFree,
            search: config.search.clone(),
            ram: Ram::new(config),
            pcm: Pcm::new(config),
            link: Link::new(false, 0, 0, (1, 0)),
        }
    }

    /// Sizes of the device.
    #[inline]
    pub fn geometry(&self) -> &Geometry {
        self.nand.geometry()
    }

    /// The flash, for looking.
    #[inline]
    pub fn nand(&self) -> &Nand {
        &self.nand
    }

    /// The flash, for marks and faults.
    #[inline]
    pub fn nand_mut(&mut self) -> &mut Nand {
        &mut self.nand
    }

    /// The counts.
    #[inline]
    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    /// The counts, for the device around a scheme, which tells them of requests. Operations are
    /// counted where they are done, and nowhere else.
    #[inline]
    pub fn meter_mut(&mut self) -> &mut Meter {
        &mut self.meter
    }

    /// Reads a page; the tag is the version that it holds, or [`Tag::UNREADABLE`].
    #[inline(always)]
    pub fn read(&mut self, ppn: Ppn, cause: Cause, after: When) -> Result<(When, Tag), Fault> {
        let done = self.nand.read(&mut self.meter, ppn, cause, after)?;
        Ok((done, self.nand.state().version(ppn)))
    }

    /// Reads a page of words, whose tag tells nobody anything.
    #[inline(always)]
    pub fn read_words(&mut self, ppn: Ppn, cause: Cause, after: When) -> Result<When, Fault> {
        self.nand.read(&mut self.meter, ppn, cause, after)
    }

    /// A read of a host page that was never written: charged as a page read, or free.
    #[inline]
    pub fn read_unwritten(&mut self, lpn: Lpn, after: When) -> Result<(When, Tag), Fault> {
        self.meter.event(Event::UnwrittenReads, 1);
        if !self.charge_unwritten {
            return Ok((after, Tag(0)));
        }
        let plane = self.geometry().home_plane(lpn);
        let done = self.nand.read_nothing(&mut self.meter, plane, Cause::Host, after)?;
        Ok((done, Tag(0)))
    }

    /// A page that was never written is fetched all the same before it is overwritten: charged as a
    /// page read, or free.
    pub fn fetch_unwritten(&mut self, lpn: Lpn, after: When) -> Result<When, Fault> {
        if !self.charge_unwritten {
            return Ok(after);
        }
        let plane = self.geometry().home_plane(lpn);
        self.nand.read_nothing(&mut self.meter, plane, Cause::ReadModifyWrite, after)
    }

    /// A read of part of the initial map, which is on flash by assumption and nowhere in memory.
    #[inline]
    pub fn read_implicit(&mut self, part: u32, cause: Cause, after: When) -> Result<When, Fault> {
        let plane = self.geometry().home_plane(Lpn(part));
        self.nand.read_nothing(&mut self.meter, plane, cause, after)
    }

    /// Reads one entry of a map page: cell time without the page's transfer.
    pub fn read_entry(
        &mut self,
        page: Option<Ppn>,
        part: u32,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let plane = match page {
            Some(ppn) => self.geometry().plane_of(ppn),
            None => self.geometry().home_plane(Lpn(part)),
        };
        self.nand.read_cells(&mut self.meter, (plane, page), cause, after)
    }

    /// Whether a write may keep sectors of the page that it supersedes, which is read first then.
    #[inline]
    pub fn keeps_sectors(&self, io: &PageIo) -> bool {
        self.rmw && io.sectors != self.geometry().all_sectors()
    }

    /// Programs a page with host data, reading the superseded page first where a partial write
    /// needs its other sectors (`io.partial_write = rmw`). The old page stays valid. If it cannot
    /// be read, the new page is unreadable as a whole: errors have the size of a page.
    pub fn program_update(
        &mut self,
        new: Ppn,
        old: Option<Ppn>,
        io: &PageIo,
        kind: PageKind,
        after: When,
    ) -> Result<When, Fault> {
        if let Some((old, held)) = self.kept_of(old, io) {
            let read = self.nand.read(&mut self.meter, old, Cause::ReadModifyWrite, after)?;
            return self.program_modified(new, (old, held), io, kind, read);
        }
        let page = Self::whole_page(io, kind);
        self.nand.program(&mut self.meter, new, page, io.cause, after)
    }

    /// The old page and its sectors, where a write keeps some of them.
    #[inline]
    fn kept_of(&self, old: Option<Ppn>, io: &PageIo) -> Option<(Ppn, u64)> {
        let old = old.filter(|_| self.rmw)?;
        let held = self.nand.state().mask(old);
        (held & !io.sectors != 0).then_some((old, held))
    }

    /// Whether a page that the host writes can only work, and reads nothing first.
    #[inline]
    pub fn writes_plainly(&self) -> bool {
        !self.rmw && self.nand.is_plain()
    }

    /// Whether writes that do the same take the same time, so that the time of one can be booked
    /// for others: nothing can fail, nothing is read first, and pages take equal times.
    #[inline]
    pub fn writes_alike(&self) -> bool {
        self.writes_plainly() && self.nand.clock().takes_equal_times()
    }

    /// Whether a request that enters is with the scheme at that moment: the controller takes no time
    /// for it.
    #[inline]
    pub fn serves_at_once(&self) -> bool {
        self.nand.clock().host_pages_are_free()
    }

    /// When the one server is free: a request that waits for nothing else is admitted then, and with
    /// the scheme where [`Board::serves_at_once`].
    #[inline]
    pub fn present(&self) -> Moment {
        Moment::at(self.nand.clock().now())
    }

    /// Whether a page that the host writes and that can only work takes the time of cells and
    /// channel alone, so that it can be told without a token: nothing can fail, nothing is read
    /// first, and neither controller nor DRAM takes time.
    #[inline]
    pub fn writes_by_cells(&self) -> bool {
        let clock = self.nand.clock();
        let is_bare = clock.programs_in_parallel() && clock.host_pages_are_free();
        is_bare && self.writes_plainly() && self.ram.is_free()
    }

    /// The time of a page that was programmed without it ([`Board::program_untimed`]) and could
    /// come from the controller at this moment: when it was in the register, and when it is
    /// programmed. Only where [`Board::writes_by_cells`].
    #[inline(always)]
    pub fn time_program(&mut self, ppn: Ppn, from: Nanos) -> (Nanos, Nanos) {
        self.nand.time_program(ppn, from)
    }

    /// Programs a page with host data without its time, which whoever calls books together with
    /// that of others or behind it. Only where [`Board::writes_plainly`].
    #[inline(always)]
    pub fn program_untimed(&mut self, new: Ppn, io: &PageIo, kind: PageKind) {
        let page = Self::whole_page(io, kind);
        self.nand.program_untimed(&mut self.meter, new, page, io.cause);
    }

    /// A page that keeps nothing of what it supersedes.
    #[inline(always)]
    fn whole_page(io: &PageIo, kind: PageKind) -> PageWrite {
        let (logical, tag, sectors) = (io.lpn.0, io.data, io.sectors);
        PageWrite { logical, kind, tag, sectors, unreadable: io.data == Tag::UNREADABLE }
    }

    /// A write of part of a page whose other sectors are kept, and were read.
    fn program_modified(
        &mut self,
        new: Ppn,
        (old, held): (Ppn, u64),
        io: &PageIo,
        kind: PageKind,
        read: When,
    ) -> Result<When, Fault> {
        let unreadable = io.data == Tag::UNREADABLE || self.nand.state().is_unreadable(old);
        let (logical, tag, sectors) = (io.lpn.0, io.data, io.sectors | held);
        let page = PageWrite { logical, kind, tag, sectors, unreadable };
        self.nand.program(&mut self.meter, new, page, io.cause, read)
    }

    /// Programs a map, checkpoint or trim-record page.
    #[inline]
    pub fn program_payload(
        &mut self,
        ppn: Ppn,
        what: (PageKind, u32),
        payload: Payload<'_>,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        self.nand.program_payload(&mut self.meter, ppn, what, payload, cause, after)
    }

    /// Whether a program can only work, and nobody writes it down.
    #[inline]
    pub fn programs_plainly(&self) -> bool {
        self.nand.is_plain()
    }

    /// The short way of [`Board::program_payload`] for a page that replaces an older one with
    /// words of it changed, where [`Board::programs_plainly`]; `edit` says whether it changes any
    /// ([`replace_words`]). Its time was told before ([`Board::program_on_server`],
    /// [`Board::time_page`]). How many valid pages the older one's block keeps.
    ///
    /// [`replace_words`]: nand::replace_words
    #[inline(always)]
    pub fn update_untimed(
        &mut self,
        old_new: (Ppn, Ppn),
        what: (PageKind, u32),
        edit: impl FnOnce(&mut [u32]) -> bool,
        cause: Cause,
    ) -> (BlockId, u32) {
        self.nand.update_untimed(&mut self.meter, old_new, what, edit, cause)
    }

    /// The same of one of several pages that are read and written together, where
    /// [`Nand::updates_runs`]: [`Board::book_updates`] counts and books that of all.
    #[inline(always)]
    pub fn update_uncounted(
        &mut self,
        old_new: (Ppn, Ppn),
        what: (PageKind, u32),
        edit: impl FnOnce(&mut [u32]) -> bool,
    ) -> (BlockId, u32) {
        self.nand.update_uncounted(old_new, what, edit)
    }

    /// So many pages were read and written anew: when the last of them is written.
    pub fn book_updates(&mut self, cause: Cause, count: u32) -> When {
        self.nand.book_updates(&mut self.meter, cause, count)
    }

    /// When a page is programmed, on one server that works for it now; none elsewhere.
    ///
    /// A moment is one number, a token is three: where they are put together in memory, whoever
    /// reads them as a whole waits for every store before.
    #[inline(always)]
    pub fn program_on_server(&mut self, cause: Cause) -> Option<Moment> {
        self.nand.clock_mut().program_on_server(cause)
    }

    /// The same wherever: when a page is programmed that could be from `after` on.
    #[inline(always)]
    pub fn time_plainly(&mut self, ppn: Ppn, cause: Cause, after: When) -> When {
        match self.program_on_server(cause) {
            Some(done) => done.token(),
            None => self.time_page(ppn, cause, after),
        }
    }

    /// When a page is programmed that could be from `after` on.
    #[inline(never)]
    pub fn time_page(&mut self, ppn: Ppn, cause: Cause, after: When) -> When {
        self.nand.time_page(ppn, cause, after)
    }

    /// Programs the parity of what is written of a page's stripe (`rain`); it counts as no valid
    /// page.
    pub fn program_parity(&mut self, ppn: Ppn, after: When) -> Result<When, Fault> {
        self.nand.program_parity(&mut self.meter, ppn, after)
    }

    /// Programs a page that completes a stripe and holds nothing; it counts as no valid page.
    pub fn program_nothing(&mut self, ppn: Ppn, after: When) -> Result<When, Fault> {
        self.nand.program_nothing(&mut self.meter, ppn, after)
    }

    /// Reads a page and programs it elsewhere. The source of host data stays valid (the caller
    /// invalidates it); the source of a payload page becomes invalid at once.
    #[inline]
    pub fn copy(
        &mut self,
        from: Ppn,
        to: Ppn,
        kind: PageKind,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        self.nand.copy(&mut self.meter, (from, to), kind, cause, after)
    }

    /// The same of a page of host data that gets another kind and number, so that it comes over the
    /// channel: an out-of-band area that changes is not copied back.
    pub fn copy_renamed(
        &mut self,
        from_to: (Ppn, Ppn),
        name: (PageKind, u32),
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        self.nand.copy_renamed(&mut self.meter, from_to, name, cause, after)
    }

    /// Copies pages of host data to the pages from `to` on, which are of one block, as
    /// [`Board::copy`] does each of them; every copy could begin at `after`. When all are done.
    pub fn copy_run(
        &mut self,
        (from, to): (&[Ppn], Ppn),
        kind: PageKind,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        if self.nand.moves_runs() {
            return Ok(self.nand.copy_run(&mut self.meter, (from, to), kind, cause, after));
        }
        let mut done = after;
        for (&from, to) in from.iter().zip((to.0..).map(Ppn)) {
            done = done.join(self.copy(from, to, kind, cause, after)?);
        }
        Ok(done)
    }

    /// Moves the first `count` valid pages of `victim`, all of which hold `words` or none, to the
    /// pages from `to` on, which are of one block: a copy each, after which the page is not valid
    /// any more. Lists them; [`Board::time_moves`] or [`Board::time_move`] follows and says when.
    /// Only where [`Nand::moves_runs`].
    pub fn move_valid(
        &mut self,
        victim: (BlockId, bool),
        to: (Ppn, u32),
        cause: Cause,
        moved: &mut Vec<Mover>,
    ) {
        self.nand.move_valid(&mut self.meter, victim, to, cause, moved);
    }

    /// Says of each page of such a run when it is copied, where every copy could begin at `after`;
    /// when all are.
    pub fn time_moves(
        &mut self,
        victim: (BlockId, &mut [Mover]),
        to: Ppn,
        cause: Cause,
        after: When,
    ) -> When {
        self.nand.time_moves(victim, to, cause, after)
    }

    /// When a page of such a run is copied, which is the next one of it.
    #[inline]
    pub fn time_move(&mut self, from_to: (Ppn, Ppn), cause: Cause, after: When) -> When {
        self.nand.time_move(from_to, cause, after)
    }

    /// Erases a block. A failed erase, and any erase of a block whose program failed, retires it.
    #[inline]
    pub fn erase(
        &mut self,
        block: BlockId,
        role: BlockRole,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        self.nand.erase(&mut self.meter, block, role, cause, after)
    }

    /// A block takes no more pages: what still gathers to its last flash page is programmed.
    pub fn finish_flash_page(&mut self, block: BlockId, cause: Cause, after: When) -> When {
        self.nand.finish_flash_page(block, cause, after)
    }

    /// Reads a page's out-of-band area.
    pub fn read_oob(&mut self, ppn: Ppn, after: When) -> Result<(When, OobRead), Fault> {
        self.nand.read_oob(&mut self.meter, ppn, after)
    }

    /// Reads the part of a map that lies in a page's spare area: counted as a page read under
    /// `Cause::Translate` and as a spare area read. It takes `length`, or as long as a page read.
    pub fn read_spare(
        &mut self,
        ppn: Ppn,
        length: Option<Nanos>,
        after: When,
    ) -> Result<When, Fault> {
        self.nand.read_spare(&mut self.meter, ppn, length, after)
    }

    /// Hashes what a page of the host holds, which takes the controller `length`.
    #[inline]
    pub fn hash(&mut self, length: Nanos, after: When) -> When {
        self.meter.event(Event::HashedPages, 1);
        self.nand.clock_mut().compute(length, after)
    }

    /// Computes a short hash of it first, which takes the controller `length`.
    #[inline]
    pub fn prehash(&mut self, length: Nanos, after: When) -> When {
        self.meter.event(Event::PrehashedPages, 1);
        self.nand.clock_mut().compute(length, after)
    }

    /// Power is back after a cut: validity marks are gone and recovery begins.
    pub fn power_on(&mut self) {
        self.nand.power_on(&mut self.meter);
    }

    /// Recovery is over; normal charging again.
    pub fn end_recovery(&mut self) {
        self.nand.end_recovery();
    }

    /// Everything counted so far is forgotten; flash and clock stay as they are.
    pub fn start_measuring(&mut self) {
        self.nand.start_measuring();
        self.meter.reset();
    }
}

#[cfg(test)]
mod tests;
