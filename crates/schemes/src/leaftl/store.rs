//! Pages on flash, their map, and the buffer before them; how it is emptied: pages upwards by
//! logical number, block by block, learned behind that.

use crate::leaftl::buffer::Buffer;
use crate::leaftl::map::Map;
use crate::leaftl::settings::Config;
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
            record: zeroed(board.geometry().entries_per_page() as usize),
        }
    }

    /// Before anything is changed: what a fault or a power cut left is learned, and has to fit.
    #[inline]
    pub(super) fn begin(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        self.map.learn_moved(board);
        if self.outgrown { self.fit(board, after) } else { Ok(after) }
    }

    /// Writes pages of the buffer out: those that its rule chooses, or `all`. What they supersede is
    /// looked up, and marked; then they are learned.
    pub(super) fn write_out(
        &mut self,
        board: &mut Board,
        all: bool,
        after: When,
    ) -> Result<When, Fault> {
        let slots = self.buffer.choose(all, self.map.sizes.group_pages);
        let written = self.write_these(board, &slots, after);
        self.outgrown = true;
        // Frames that are free first are taken first.
        for &slot in slots.iter().rev() {
            let held = *self.buffer.pages.get(slot);
            if !held.dirty && self.buffer.pages.holds(slot) {
                self.buffer.leave(board, slot, held.ready);
            }
        }
        self.buffer.leaving = slots;
        // Whatever became of the others, these are on flash.
        self.map.learn_fresh(board);
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
        let (mut done, mut plane) = (after, None);
        for &slot in slots {
            let held = *self.buffer.pages.get(slot);
            let io = write_of(&held, self.buffer.all_sectors);
            let known = self.look_up(board, io.lpn, after.waits_for_buffer(held.ready))?;
            let (written, next) = self.write_page(board, &io, plane, known)?;
            plane = next;
            board.event(Event::BufferFlushes, 1);
            self.buffer.pages.clean_from(slot, written);
            done = done.join(written);
        }
        Ok(done)
    }

    /// Programs a page in this plane while its block has room, else in the one that is free first;
    /// returns the plane that goes on with the block.
    fn write_page(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        plane: Option<PlaneId>,
        known: When,
    ) -> Result<(When, Option<PlaneId>), Fault> {
        let Store { space, map, .. } = self;
        let plane = plane.filter(|&plane| !space.is_full(plane));
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
        Ok((done, goes_on.then(|| board.geometry().plane_of(new))))
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
