//! The write buffer, and how it is emptied: pages upwards by logical number, block by block, learned
//! behind that.

use crate::leaftl::Leaftl;
use crate::leaftl::map::Map;
use crate::leaftl::settings::{Config, Leaving};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::board::ram::RamWork;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{Cause, Event, Level};
use ftlab_flash::request::{PageIo, RequestShape};
use ftlab_flash::units::{Lpn, PlaneId, Tag};
use ftlab_ftl::parts::held_pages::{Held, HeldPages};
use ftlab_ftl::parts::slots::Slot;

/// Pages that the host wrote and flash does not hold yet.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    pub(super) pages: HeldPages,
    pub(super) all_sectors: u64,
    /// Frames on their way to flash.
    leaving: Vec<Slot>,
    /// Groups with pages here under `fullest`: how many, and which.
    groups: Vec<(u32, u32)>,
    rule: Leaving,
    /// Most pages that leave at once, unless all must.
    most: usize,
}

impl Buffer {
    pub(super) fn new(board: &Board, config: &Config, frames: u32) -> Self {
        let most = match config.own.flush {
            Leaving::All => f64::from(frames),
            Leaving::Fullest => f64::from(frames) * config.own.flush_share,
        };
        Buffer {
            pages: HeldPages::new(frames, board.geometry().logical_pages),
            all_sectors: board.geometry().all_sectors(),
            leaving: Vec::with_capacity(frames as usize),
            groups: Vec::with_capacity(frames as usize),
            rule: config.own.flush,
            most: (most as usize).max(1),
        }
    }

    /// The host writes a page that a frame holds or was given.
    pub(super) fn put(&mut self, board: &mut Board, slot: Slot, io: &PageIo, ready: When) -> When {
        let held = *self.pages.get(slot);
        let done = board.ram_pages(RamWork::Data, 1, ready.waits_for_buffer(held.ready));
        let partial = io.sectors != self.all_sectors;
        let lost = held.tag == Tag::UNREADABLE && partial;
        let tag = if lost { Tag::UNREADABLE } else { io.data };
        self.pages.write(slot, tag, io.sectors, done);
        board.level(Level::BufferedPages, u64::from(self.pages.dirty()));
        done
    }

    /// Reads a page from its frame.
    pub(super) fn get(&self, board: &mut Board, slot: Slot, after: When) -> (When, Tag) {
        let held = self.pages.get(slot);
        let done = board.ram_pages(RamWork::Data, 1, after.waits_for_buffer(held.ready));
        (done, held.tag)
    }

    /// A page leaves; its frame is free from `ready`.
    pub(super) fn leave(&mut self, board: &mut Board, slot: Slot, ready: When) {
        self.pages.leave(slot, ready);
        board.level(Level::BufferedPages, u64::from(self.pages.dirty()));
    }

    /// The pages that leave, upwards by logical number.
    fn choose(&mut self, all: bool, group_pages: u32) -> Vec<Slot> {
        let mut slots = std::mem::take(&mut self.leaving);
        slots.clear();
        slots.extend(self.pages.all());
        let lpn = |slot: &Slot| self.pages.get(*slot).lpn;
        slots.sort_unstable_by_key(lpn);
        if all || self.rule == Leaving::All {
            return slots;
        }
        // The groups with most pages here, whole while they fit.
        let group = |slot: &Slot| lpn(slot).0 / group_pages;
        self.groups.clear();
        self.groups.extend(
            slots
                .chunk_by(|a, b| group(a) == group(b))
                .map(|pages| (pages.len() as u32, group(&pages[0]))),
        );
        self.groups.sort_unstable_by_key(|&(count, group)| (std::cmp::Reverse(count), group));
        let mut left = self.most;
        self.groups.retain(|&(count, _)| {
            let fits = count as usize <= left;
            left -= if fits { count as usize } else { 0 };
            fits
        });
        if self.groups.is_empty() {
            // One group has more: as many of its pages as may leave, and they are most of the buffer.
            slots.truncate(self.most);
            return slots;
        }
        self.groups.sort_unstable_by_key(|&(_, group)| group);
        slots.retain(|slot| self.groups.binary_search_by_key(&group(slot), |&(_, of)| of).is_ok());
        slots
    }
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

impl Leaftl {
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
        self.fit(board, done)
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
        let Leaftl { space, map, .. } = self;
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

    /// Groups leave until the bytes fit.
    #[inline]
    pub(super) fn fit(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let Leaftl { space, map, .. } = self;
        let done = map.fit(space, board, after)?;
        self.outgrown = false;
        Ok(done)
    }

    fn compact_if_due(&mut self, board: &mut Board) {
        if self.compact_every > 0 && self.written >= self.compact_every {
            self.written = 0;
            self.map.compact(board);
        }
    }
}

/// Pages of the buffer whose older versions flash holds as well.
pub(super) fn stale_pages(buffer: &Buffer, map: &Map, board: &Board) -> u64 {
    let pages = buffer.pages.all().map(|slot| buffer.pages.get(slot).lpn);
    pages.filter(|&lpn| map.locate(board, lpn).is_some()).count() as u64
}
