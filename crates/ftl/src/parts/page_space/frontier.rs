//! Frontiers: the next page of a stream, its next block, and a program that goes elsewhere when it
//! fails.

use super::{Frontier, PageSpace, Place, Plane, Stream};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::Nand;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{Cause, Event};
use ftlab_flash::request::PageIo;
use ftlab_flash::units::{BlockId, PlaneId, Ppn};

impl PageSpace {
    /// Programs the next page of a stream; a failed program closes its block (its other pages
    /// stay readable until it is collected and retired) and the next block is tried when the
    /// failure is known. `program` is told the page and from when on it may start.
    #[inline(always)]
    pub fn program(
        &mut self,
        board: &mut Board,
        (plane, stream): (PlaneId, Stream),
        after: When,
        mut program: impl FnMut(&mut Board, Ppn, When) -> Result<When, Fault>,
    ) -> Result<(Ppn, When), Fault> {
        let next = self.next_page(board, plane, stream);
        let ppn = next.map_err(|fault| fault.not_before(after))?;
        match program(board, ppn, after) {
            Ok(done) => {
                self.planes[plane.index()].valid += 1;
                if self.lines.is_some() {
                    self.slot_programmed(board, ppn)?;
                }
                Ok((ppn, done))
            }
            Err(fault) => {
                self.program_elsewhere(board, (plane, stream), (ppn, fault), &mut program)
            }
        }
    }

    /// The same of a page of the host that supersedes `old`.
    #[inline(never)]
    pub fn write(
        &mut self,
        board: &mut Board,
        place: (PlaneId, Stream),
        (io, kind, old): (&PageIo, PageKind, Option<Ppn>),
        after: When,
    ) -> Result<(Ppn, When), Fault> {
        if place.1 == Stream::Slc {
            return self.write_cached(board, place.0, (io, kind, old), after);
        }
        let by_host = self.zones.is_some();
        let written = self.program(board, place, after, |board, new, ready| match by_host {
            true => board.update_by_host(new, old, io, kind, ready),
            false => board.program_update(new, old, io, kind, ready),
        })?;
        if self.tells_of_pages() {
            self.note_placed(board.nand(), io.lpn, written.0);
        }
        Ok(written)
    }

    /// The short way of [`PageSpace::write`], which nearly every page can take: its frontier has a
    /// page left, nobody hears where pages are put, and the program can only work. None where it is
    /// not so.
    #[inline(always)]
    pub fn write_shortly(
        &mut self,
        board: &mut Board,
        place: Place,
        (io, kind): (&PageIo, PageKind),
        after: When,
    ) -> Option<(Ppn, When)> {
        if !board.writes_plainly() {
            return None;
        }
        let new = self.write_untimed(board, place, (io, kind))?;
        Some((new, board.time_plainly(new, io.cause, after)))
    }

    /// The same without its time ([`Board::program_untimed`]).
    #[inline(always)]
    pub fn write_untimed(
        &mut self,
        board: &mut Board,
        place: Place,
        (io, kind): (&PageIo, PageKind),
    ) -> Option<Ppn> {
        let (known, new) = self.short_page(board, place)?;
        board.program_untimed(new, io, kind);
        known.page_written(place.1);
        Some(new)
    }

    /// The page to which a map page of `plane` can be written anew the short way
    /// ([`PageSpace::update_map_untimed`]): its frontier has a page left, and the program can only
    /// work. None where it is not so.
    #[inline(always)]
    pub fn short_map_page(&mut self, board: &Board, plane: PlaneId) -> Option<Ppn> {
        let (_, new) = self.short_page(board, (plane, Stream::Map))?;
        board.programs_plainly().then_some(new)
    }

    /// The next pages of the map's open block, in the only plane of a device on which map pages are
    /// read and written anew in runs ([`PageSpace::update_map_in_run`]): the first, and how many
    /// there are.
    #[inline]
    pub fn map_run(&self, board: &Board) -> Option<(Ppn, u32)> {
        let [plane] = &self.planes[..] else { return None };
        let Frontier { block, next } = plane.frontiers[Stream::Map as usize];
        let left = self.short_pages.saturating_sub(next);
        let block = block.filter(|_| left > 0 && board.nand().updates_runs())?;
        Some((board.geometry().page(block, next), left))
    }

    /// [`PageSpace::update_map_untimed`] of a page of such a run, which is counted and booked as a
    /// whole ([`Board::book_updates`]).
    #[inline(always)]
    pub fn update_map_in_run(
        &mut self,
        board: &mut Board,
        (old, new): (Ppn, Ppn),
        part: u32,
        edit: impl FnOnce(&mut [u32]) -> bool,
    ) {
        let lost = board.update_uncounted((old, new), (PageKind::Map, part), edit);
        self.planes[0].page_written(Stream::Map);
        self.note_lost(board.nand(), lost);
    }

    /// Writes a map page anew there, with some entries changed (packed physical pages; `edit` says
    /// whether any is), which makes the old one invalid; its time was told before.
    #[inline(always)]
    pub fn update_map_untimed(
        &mut self,
        board: &mut Board,
        plane: PlaneId,
        (old, new): (Ppn, Ppn),
        (part, cause): (u32, Cause),
        edit: impl FnOnce(&mut [u32]) -> bool,
    ) {
        let lost = board.update_untimed((old, new), (PageKind::Map, part), edit, cause);
        self.planes[plane.index()].page_written(Stream::Map);
        self.note_lost(board.nand(), lost);
    }

    /// The page that a stream writes next, where it can be written the short way, with its plane;
    /// it is taken once that has happened ([`Plane::page_written`]).
    #[inline(always)]
    fn short_page(&mut self, board: &Board, (plane, stream): Place) -> Option<(&mut Plane, Ppn)> {
        let known = &mut self.planes[plane.index()];
        let Frontier { block, next } = known.frontiers[stream as usize];
        let block = block.filter(|_| next < self.short_pages)?;
        Some((known, board.geometry().page(block, next)))
    }

    /// After a program that failed, for whatever reason.
    #[cold]
    fn program_elsewhere(
        &mut self,
        board: &mut Board,
        (plane, stream): (PlaneId, Stream),
        (mut ppn, mut fault): (Ppn, Fault),
        program: &mut dyn FnMut(&mut Board, Ppn, When) -> Result<When, Fault>,
    ) -> Result<(Ppn, When), Fault> {
        while let Fault::ProgramFailed { known, .. } = fault {
            board.event(Event::ProgramFailures, 1);
            if self.lines.is_some() {
                self.slot_failed(board, ppn, known)?;
            } else {
                // A class that borrows has the failed page in another one's block.
                let failed = self.frontier_of(board.geometry().block_of(ppn), (plane, stream));
                self.close(board.nand(), plane, failed);
            }
            let next = self.next_page(board, plane, stream);
            ppn = next.map_err(|fault| fault.not_before(known))?;
            match program(board, ppn, known) {
                Ok(done) => {
                    self.planes[plane.index()].valid += 1;
                    if self.lines.is_some() {
                        self.slot_programmed(board, ppn)?;
                    }
                    return Ok((ppn, done));
                }
                Err(again) => fault = again,
            }
        }
        Err(fault)
    }

    /// Consecutive pages of a stream, as many as are wanted and its block has, at least one.
    pub(super) fn next_pages(
        &mut self,
        board: &mut Board,
        (plane, stream): (PlaneId, Stream),
        wanted: u32,
    ) -> Result<(Ppn, u32), Fault> {
        let first = self.next_page(board, plane, stream)?;
        let stream = self.frontier_of(board.geometry().block_of(first), (plane, stream));
        let frontier = &mut self.planes[plane.index()].frontiers[stream.index()];
        let more = (wanted - 1).min(self.pages_per_block - frontier.next);
        frontier.next += more;
        Ok((first, more + 1))
    }

    #[inline(always)]
    pub(super) fn next_page(
        &mut self,
        board: &mut Board,
        plane: PlaneId,
        stream: Stream,
    ) -> Result<Ppn, Fault> {
        let frontier = &mut self.planes[plane.index()].frontiers[stream.index()];
        match frontier.block {
            Some(block) if frontier.next < self.pages_in_a_row => {
                let ppn = board.geometry().page(block, frontier.next);
                frontier.next += 1;
                Ok(ppn)
            }
            _ => self.next_page_elsewhere(board, plane, stream),
        }
    }

    /// The first page of another block.
    #[cold]
    fn next_page_elsewhere(
        &mut self,
        board: &mut Board,
        plane: PlaneId,
        stream: Stream,
    ) -> Result<Ppn, Fault> {
        if self.lines.is_some() {
            return self.next_slot(board, stream);
        }
        let lender = self.lender(board, (plane, stream));
        if lender != stream {
            return self.next_page(board, plane, lender);
        }
        self.close(board.nand(), plane, stream);
        self.open(board, plane, stream)?;
        let frontier = &mut self.planes[plane.index()].frontiers[stream.index()];
        frontier.next = 1;
        Ok(board.geometry().page(frontier.block.expect("opened above"), 0))
    }

    /// The stream that has a block open: the one given, unless that borrowed from another.
    fn frontier_of(&self, block: BlockId, (plane, stream): (PlaneId, Stream)) -> Stream {
        let frontiers = &self.planes[plane.index()].frontiers;
        let has_it = |stream: &Stream| frontiers[stream.index()].block == Some(block);
        if has_it(&stream) {
            return stream;
        }
        self.data_streams().find(has_it).expect("a page that was just given is of an open block")
    }

    pub(super) fn open(
        &mut self,
        board: &mut Board,
        plane: PlaneId,
        stream: Stream,
    ) -> Result<(), Fault> {
        let pool = &mut self.planes[plane.index()].free;
        // Under `dynamic` who opens a block decides: a write of the host or a moved page. Where
        // they share a frontier (`gc.separate_frontiers = false`), what the other puts in goes
        // along.
        let worn = stream == Stream::Worn || (self.dynamic && self.moving);
        let Some(block) = (if worn { pool.take_worn() } else { pool.take() }) else {
            return Err(self.out_of_blocks(board, plane));
        };
        let holds = if stream == Stream::Worn { self.levelled } else { stream };
        self.stream_of[block.index()] = holds.mark();
        self.note_opened(block);
        self.line_of_group_opened(block);
        if !self.holds_back(block) {
            self.is_in_use(board.nand(), block);
        }
        self.planes[plane.index()].frontiers[stream.index()] =
            Frontier { block: Some(block), next: 0 };
        if self.lines.is_some() {
            self.begin_line(board, stream);
        }
        self.tell_cache(board);
        Ok(())
    }

    /// Pages that the open block of a stream has left; 0 where it has none.
    #[inline]
    pub(super) fn left_open(&self, (plane, stream): Place) -> u32 {
        self.room_at(&self.planes[plane.index()].frontiers[stream.index()])
    }

    #[inline]
    pub(super) fn room_at(&self, frontier: &Frontier) -> u32 {
        frontier.block.map_or(0, |_| self.pages_per_block - frontier.next)
    }

    /// Free blocks that so many pages of a stream take, behind what its open block has left.
    #[inline]
    pub(super) fn opens(&self, place: Place, pages: u32) -> u32 {
        self.units_for(pages.saturating_sub(self.left_open(place)))
    }

    /// Full blocks of every stream become candidates.
    pub(super) fn close_full(&mut self, nand: &Nand, plane: PlaneId) {
        for stream in self.data_streams().chain([Stream::Map]) {
            let frontier = self.planes[plane.index()].frontiers[stream.index()];
            if frontier.block.is_some() && frontier.next == self.pages_per_block {
                self.close(nand, plane, stream);
            }
        }
    }
}
