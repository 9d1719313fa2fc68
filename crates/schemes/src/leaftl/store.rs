//! Pages on flash, their map, and the buffer before them; how it is emptied: pages upwards by
//! logical number, block by block, learned behind that.

use crate::leaftl::buffer::Buffer;
use crate::leaftl::map::Map;
use crate::leaftl::settings::{Config, Drain};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::Payload;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{Cause, Event};
use ftlab_flash::request::{PageIo, RequestShape};
use ftlab_flash::units::{Lpn, PlaneId, zeroed};
use ftlab_ftl::parts::held_pages::Held;
use ftlab_ftl::parts::page_space::{PageSpace, Stream};
use ftlab_ftl::parts::slots::Slot;

/// What a request changes.
#[derive(Clone)]
pub(super) struct Store {
    pub(super) space: PageSpace,
    pub(super) map: Map,
    pub(super) buffer: Buffer,
    /// Pages written since groups were compacted, and after how many they are.
    written: u64,
    compact_every: u64,
    /// Groups have to leave before anything else is changed: a fault or a power cut came first, or
    /// the device has no room for what they say.
    pub(super) outgrown: bool,
    /// The plane whose block the pages of a flush go on to fill.
    plane: Option<PlaneId>,
    /// When everything is on flash that has left the buffer.
    pub(super) left: When,
    /// A page has entered the buffer, and the next one needs a frame.
    pub(super) entered: bool,
    record: Vec<u32>,
}

/// The write of a buffered page.
fn write_of(held: &Held, all_sectors: u64) -> PageIo {
    let sectors = held.sectors & all_sectors;
    let request = RequestShape {
        first_lpn: held.lpn,
        pages: 1,
        index: 0,
        sectors: sectors.count_ones(),
        hint: None,
    };
    PageIo { lpn: held.lpn, sectors, cause: Cause::Host, data: held.tag, request }
}

impl Store {
    pub(super) fn new(board: &Board, config: &Config, space: PageSpace, map: Map) -> Self {
        Store {
            space,
            buffer: Buffer::new(board, config, map.sizes.frames),
            map,
            written: 0,
            compact_every: config.own.compact_every,
            outgrown: false,
            plane: None,
            left: When::START,
            entered: false,
            record: zeroed(board.geometry().entries_per_page() as usize),
        }
    }

    /// Before anything is changed: what a fault or a power cut left is learned, and has to fit.
    #[inline]
    pub(super) fn begin(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        self.map.learn_moved(board);
        if self.outgrown { self.fit(board, after) } else { Ok(after) }
    }

    /// Frees a frame of a full buffer.
    pub(super) fn free_frame(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        match self.buffer.drain {
            Drain::Background | Drain::Foreground => self.drain(board, after),
            Drain::AtOnce => self.write_out(board, false, after),
        }
    }

    /// Frees the frame that the host's next page needs, where the last one took the last.
    pub(super) fn drain_behind(&mut self, board: &mut Board, done: When) -> Result<(), Fault> {
        let is_due = std::mem::take(&mut self.entered) && self.buffer.pages.is_full();
        if is_due && self.buffer.drain == Drain::Background {
            let drained = self.begin(board, done).and_then(|after| self.drain(board, after));
            let _ = drained.map(Some).or_else(Fault::unless_worn_out)?;
        }
        Ok(())
    }

    /// Writes the next page out of those that leave; the last one closes their run.
    pub(super) fn drain(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        if !self.buffer.is_draining() {
            // The last of those before may have been trimmed.
            self.close_run(board);
        }
        let slot = self.buffer.next_leaving(self.map.sizes.group_pages);
        let written = self.write_held(board, slot, after)?;
        self.buffer.next_is_written(board, written);
        if !self.buffer.is_draining() {
            self.close_run(board);
            self.compact_if_due(board);
        }
        self.settle(board, written)
    }

    /// Writes pages of the buffer out: those that its rule chooses, or `all`.
    pub(super) fn write_out(
        &mut self,
        board: &mut Board,
        all: bool,
        after: When,
    ) -> Result<When, Fault> {
        // Out-of-band areas name pages that were to come next, if nearby ones are ever looked for
        // there.
        let is_planned = self.map.gamma == 0 || self.buffer.is_leaving_as_a_whole();
        let slots = self.buffer.choose(all, self.map.sizes.group_pages);
        // What leaves may go on with a run that is not full yet.
        let first = slots.first().map(|&slot| self.buffer.pages.get(slot).lpn.0);
        let goes_on = first.zip(self.map.fresh.last()).is_some_and(|(first, last)| first > last.0);
        if !goes_on || !is_planned {
            self.close_run(board);
        }
        let written = self.write_these(board, &slots, after);
        // Frames that are free first are taken first.
        for &slot in slots.iter().rev() {
            let held = *self.buffer.pages.get(slot);
            if !held.dirty && self.buffer.pages.holds(slot) {
                self.buffer.leave(board, slot, held.ready);
            }
        }
        self.buffer.leaving = slots;
        self.buffer.leaving.clear();
        // Whatever became of the others, these are on flash.
        self.close_run(board);
        let done = written?;
        self.compact_if_due(board);
        self.settle(board, done)
    }

    fn write_these(
        &mut self,
        board: &mut Board,
        slots: &[Slot],
        after: When,
    ) -> Result<When, Fault> {
        let mut done = after;
        for &slot in slots {
            let written = self.write_held(board, slot, after)?;
            self.buffer.pages.clean_from(slot, written);
            done = done.join(written);
        }
        Ok(done)
    }

    /// Writes the page of a frame. What it supersedes is looked up, and marked; where it is
    /// is learned at the end of its block.
    fn write_held(&mut self, board: &mut Board, slot: Slot, after: When) -> Result<When, Fault> {
        let held = *self.buffer.pages.get(slot);
        let io = write_of(&held, self.buffer.all_sectors);
        let known = self.look_up(board, io.lpn, after.waits_for_buffer(held.ready))?;
        self.outgrown = true;
        let written = self.write_page(board, &io, known)?;
        self.left = self.left.join(written);
        board.event(Event::BufferFlushes, 1);
        if self.plane.is_none() || self.map.fresh.len() == self.map.sizes.run() as usize {
            self.close_run(board);
        }
        Ok(written)
    }

    /// Programs a page in the plane of the one before while its block has room, else in the one
    /// that is free first.
    fn write_page(&mut self, board: &mut Board, io: &PageIo, known: When) -> Result<When, Fault> {
        let Store { space, map, .. } = self;
        let plane = self.plane.filter(|&plane| !space.is_full(plane));
        let plane = plane.unwrap_or_else(|| space.place_anywhere(board.nand()));
        let place = (plane, space.host_stream(board, io));
        let ready = space.make_room(board, map, place, known)?;
        // Looked up after collection, which may have moved the old version.
        let (old, ready) = map.exact(board, io.lpn, ready)?;
        let (new, done) = space.write(board, place, (io, PageKind::Data, old), ready)?;
        if let Some(old) = old {
            space.invalidate(board, old);
        }
        map.fresh.push((io.lpn.0, new.0));
        map.trims.written(io.lpn);
        self.written += 1;
        let last = board.geometry().pages_per_block - 1;
        let goes_on = board.geometry().offset_of(new) < last;
        self.plane = goes_on.then(|| board.geometry().plane_of(new));
        Ok(done)
    }

    /// The pages that a flush has programmed so far are learned; those behind them begin a new run.
    pub(super) fn close_run(&mut self, board: &mut Board) {
        self.plane = None;
        if !self.map.fresh.is_empty() {
            self.outgrown = true;
            self.map.learn_fresh(board);
        }
    }

    /// Makes sure that memory can tell where a page is, and that groups fit beside it.
    pub(super) fn look_up(
        &mut self,
        board: &mut Board,
        lpn: Lpn,
        after: When,
    ) -> Result<When, Fault> {
        let known = self.map.look_up(board, lpn, after)?;
        self.fit(board, known)
    }

    /// Groups leave until the bytes fit. Whoever may learn or load before it, and fail in between,
    /// says that memory is outgrown; nobody else than this says that it is not.
    #[inline]
    pub(super) fn fit(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        self.outgrown = true;
        let Store { space, map, .. } = self;
        let done = map.fit(space, board, after)?;
        self.outgrown = false;
        Ok(done)
    }

    /// The same behind what is done, which nothing can undo: what a device at its end has no room
    /// for stays, and has to leave before anything else is changed.
    #[inline]
    pub(super) fn settle(&mut self, board: &mut Board, done: When) -> Result<When, Fault> {
        let left = self.fit(board, done).map(Some).or_else(Fault::unless_worn_out)?;
        Ok(left.unwrap_or(done))
    }

    fn compact_if_due(&mut self, board: &mut Board) {
        if self.compact_every > 0 && self.written >= self.compact_every {
            self.written = 0;
            self.map.compact(board);
        }
    }

    /// Writes the record of one segment of pending trims.
    pub(super) fn record_trims(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let place = (PlaneId(0), Stream::Map);
        let Store { space, map, record, .. } = self;
        let ready = space.make_room(board, map, place, after)?;
        let (segment, old) = map.trims.next_pending().expect("the caller looked");
        map.trims.fill(segment, board.nand().sequence(), record);
        let (new, done) = space.program(board, place, ready, |board, new, ready| {
            let what = (PageKind::TrimRecord, segment);
            board.program_payload(new, what, Payload::Words(record), Cause::Trim, ready)
        })?;
        if let Some(old) = old {
            space.invalidate(board, old);
        }
        map.trims.recorded(segment, new);
        Ok(done)
    }

    /// Pages of the buffer whose older versions flash holds as well.
    pub(super) fn stale_pages(&self, board: &Board) -> u64 {
        let pages = self.buffer.pages.all().map(|slot| self.buffer.pages.get(slot).lpn);
        pages.filter(|&lpn| self.map.locate(board, lpn).is_some()).count() as u64
    }
}
