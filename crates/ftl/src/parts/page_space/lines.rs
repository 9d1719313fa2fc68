//! Lines: the blocks with one number of all planes, filled side by side, collected and erased as
//! one (superblocks of drives), and the parity of their stripes.
//!
//! The space has one plane of lines then: pools, victims, frontiers and classes are of lines, named
//! by their numbers, and what is said in pages of a block is said in pages of data of a line. Pages
//! go to a line channel by channel, die by die, plane by plane, then to the next flash page of each
//! block. A block that is bad or fails makes its line shorter; a line in which no page of data can
//! be written is never opened. Collection, placement and gaps are the same code, and what a victim
//! policy compares comes from a census of blocks or lines. Nothing of a line is written the short
//! way.
//!
//! With `rain.stripe` = n the blocks of n dies in this order form a stripe at every flash page: one
//! of them takes the parity of the others when these are programmed. A stripe of which one block
//! works takes no data. What parity is, and what is read from it, the gate knows
//! (`flash/board/nand/rain.rs`). Rules and open points: `docs/papers/lines.md`.

#[cfg(test)]
pub(super) mod bench_tests;
mod check;
mod parity;
#[cfg(test)]
mod parity_tests;
mod repair;
#[cfg(test)]
mod repair_tests;
mod restart;
#[cfg(test)]
mod restart_tests;
mod slots;
#[cfg(test)]
mod slots_tests;

use super::{Frontier, PageSpace, Stream};
use crate::parts::alloc::AllocUnit;
use crate::parts::free_pool::FreePool;
use crate::parts::line_book::LineBook;
use crate::parts::wear::FreeRule;
use crate::settings::SharedSettings;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::nand::{FAILING_MAX, Nand};
use ftlab_flash::board::settings::RainFlush;
use ftlab_flash::board::when::When;
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::meter::{BlockRole, Cause, Event, Level};
use ftlab_flash::units::{BlockId, PlaneId, Ppn};

/// The only plane of a space of lines.
pub(super) const ALL: PlaneId = PlaneId(0);

/// Where an open line is written on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Open {
    /// Flash page of each block.
    row: u32,
    /// The first column of the present stripe.
    first: u32,
    /// Place of the next slot among the columns; the first one behind the stripe when that is full.
    column: u32,
    /// Mapping unit in the flash page.
    unit: u32,
    /// The column that takes the parity of the present stripe; none without parity.
    parity: Option<u32>,
    /// Pages of the present stripe that no parity page covers.
    loose: u32,
    /// When the data of them all had reached the controller: from then on it has their parity.
    ready: When,
}

/// The lines of a device.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    pub(super) book: LineBook,
    /// Planes in the order in which they take pages, set by set.
    columns: Vec<PlaneId>,
    /// Those of a line.
    per_line: u32,
    /// Columns of a stripe: without parity all of them.
    width: u32,
    has_parity: bool,
    rotate: bool,
    flush: RainFlush,
    /// Mapping units of a flash page.
    units: u32,
    /// Flash pages of a block that are written.
    rows: u32,
    /// By stream; of those without a line it says nothing.
    pub(super) open: Vec<Open>,
    /// Room of all lines in use.
    used_room: u64,
    /// The line whose pages are moved in pieces, and the first slot that may hold one still.
    resume: (BlockId, u32),
    /// The die that is known to have failed.
    failed: Option<u32>,
    /// The first line that may hold valid pages of it.
    rebuilding: Option<u32>,
    rebuild_pages: u32,
}

/// Bytes by structure: 12 for each line, the parity of every stripe that is being filled, and the
/// list of pages that failed.
pub fn ram_use(config: &SharedSettings) -> Vec<RamUse> {
    if config.alloc.unit == AllocUnit::Plane {
        return Vec::new();
    }
    let entry = |structure, bytes| RamUse { structure, bytes, memory: Memory::Dram };
    let mut found = vec![entry("lines", 12 * u64::from(config.units()))];
    if config.rain.stripe > 0 {
        let bytes = u64::from(config.frontiers()) * config.device.page_bytes.0;
        found.push(entry("parity_of_open_stripes", bytes));
        found.push(entry("failing_pages", 4 * FAILING_MAX as u64));
    }
    found
}

/// The planes of each set, in the order in which they take pages.
fn columns(config: &SharedSettings, geometry: &Geometry, sets: u32) -> Vec<PlaneId> {
    let (planes, units) = (geometry.planes(), geometry.units_per_flash_page);
    let in_turn = |turn| geometry.static_plane(config.alloc.order, turn * units);
    let of_set =
        |set: u32| (0..planes).map(in_turn).filter(move |plane| plane.0 / (planes / sets) == set);
    (0..sets).flat_map(of_set).collect()
}

impl Lines {
    /// Lines of an erased device; none where planes go their own ways.
    pub(super) fn new(config: &SharedSettings, nand: &Nand) -> Option<Box<Self>> {
        if config.alloc.unit == AllocUnit::Plane {
            return None;
        }
        let geometry = nand.geometry();
        let planes = geometry.planes();
        let units = geometry.units_per_flash_page;
        let stripe = config.rain.stripe;
        let sets = config.line_sets();
        let per_line = planes / sets;
        let all_rows = geometry.pages_per_block / units;
        let mut lines = Lines {
            book: LineBook::new(nand, config.full_line(), sets),
            columns: columns(config, geometry, sets),
            per_line,
            width: if stripe == 0 { per_line } else { stripe },
            has_parity: stripe > 0,
            rotate: config.rain.rotate,
            flush: config.rain.flush,
            units,
            rows: config.zones.as_ref().map_or(all_rows, |zones| zones.rows(all_rows)),
            open: vec![Open::default(); Stream::COUNT],
            used_room: 0,
            resume: (BlockId(0), 0),
            failed: None,
            rebuilding: None,
            rebuild_pages: config.rain.rebuild_pages,
        };
        for block in nand.factory_bad() {
            let line = lines.book.line_of(*block);
            lines.measure(nand, line);
        }
        Some(Box::new(lines))
    }

    /// Lines in which no page of data can be written, in ascending order.
    fn without_room(&self) -> impl DoubleEndedIterator<Item = u32> + '_ {
        (0..self.book.lines()).filter(|&line| self.book.room(BlockId(line)) == 0)
    }

    /// How many such lines there are.
    pub(super) fn useless(&self) -> u32 {
        self.without_room().count() as u32
    }

    /// A pool without a line yet.
    pub(super) fn empty_pool(&self, rule: FreeRule) -> FreePool {
        FreePool::of(0..self.book.lines(), self.useless(), rule)
    }

    /// A pool of every line that has room.
    pub(super) fn untouched_pool(&self, rule: FreeRule) -> FreePool {
        let mut pool = self.empty_pool(rule);
        pool.untouched_but(self.without_room(), 0);
        pool
    }

    /// The slot from which on a line may hold valid pages that is emptied in pieces.
    pub(super) fn first_slot(&self, line: BlockId) -> u32 {
        if self.resume.0 == line { self.resume.1 } else { 0 }
    }

    /// The pages of a line before this slot were moved; with 0, none were.
    pub(super) fn resume_at(&mut self, line: BlockId, slot: u32) {
        self.resume = (line, slot);
    }

    /// A line was emptied.
    pub(super) fn not_in_use(&mut self, line: BlockId) {
        self.used_room -= u64::from(self.book.room(line));
        if self.resume.0 == line {
            self.resume.1 = 0;
        }
    }

    /// Room of all lines in use.
    pub(super) fn used_room(&self) -> u64 {
        self.used_room
    }
}

impl PageSpace {
    /// The line of a block, or the block itself where there are no lines: what pools, victims and
    /// classes know.
    #[inline]
    pub(super) fn unit_of(&self, block: BlockId) -> BlockId {
        self.lines.as_ref().map_or(block, |lines| lines.book.line_of(block))
    }

    /// Blocks of such a unit.
    pub(super) fn blocks_of_unit(&self, unit: BlockId) -> impl Iterator<Item = BlockId> + use<> {
        let lines = self.lines.as_ref().map(|lines| lines.book.blocks(unit));
        let alone = lines.is_none().then_some(unit);
        lines.into_iter().flatten().chain(alone)
    }

    /// Units that so many pages take.
    pub(super) fn units_for(&self, pages: u32) -> u32 {
        match &self.lines {
            None => pages.div_ceil(self.pages_per_block),
            Some(lines) => lines.book.lines_for(pages),
        }
    }

    /// The stream that has a line open.
    fn stream_of_line(&self, line: BlockId) -> Stream {
        let frontiers = &self.planes[ALL.index()].frontiers;
        let place = frontiers.iter().position(|frontier| frontier.block == Some(line));
        Stream::at(place.expect("a page that was just given is of an open line"))
    }

    /// The next slot of a stream's line, of another line where that is full.
    #[cold]
    pub(super) fn next_slot(&mut self, board: &mut Board, stream: Stream) -> Result<Ppn, Fault> {
        let known = &self.planes[ALL.index()].frontiers[stream.index()];
        if known.block.is_none() || known.next >= self.pages_per_block {
            let lender = self.lender(board, (ALL, stream));
            if lender != stream {
                return self.next_slot(board, lender);
            }
            self.close(board.nand(), ALL, stream);
            self.open(board, ALL, stream)?;
        }
        let frontier = &mut self.planes[ALL.index()].frontiers[stream.index()];
        frontier.next += 1;
        let line = frontier.block.expect("opened above");
        let lines = self.lines.as_ref().expect("a space of lines");
        let open = lines.open[stream.index()];
        Ok(lines.page(board.nand(), line, (open.row, open.column, open.unit)))
    }

    /// A line was opened for a stream: where its first page goes.
    pub(super) fn begin_line(&mut self, board: &mut Board, stream: Stream) {
        let frontier = &mut self.planes[ALL.index()].frontiers[stream.index()];
        let (Some(lines), Some(line)) = (&mut self.lines, frontier.block) else { return };
        let mut open = Open::default();
        lines.enter_stripe(board.nand(), line, &mut open);
        let left = lines.left(board.nand(), line, &open);
        assert!(left > 0 && left == lines.book.room(line), "line {line} has room for {left} pages");
        lines.open[stream.index()] = open;
        lines.used_room += u64::from(left);
        frontier.next = self.pages_per_block - left;
        self.hold_parity(board, (line, stream));
        self.tell_lines(board);
        self.tell_zones(board);
    }

    fn tell_lines(&self, board: &mut Board) {
        board.level(Level::FreeLines, u64::from(self.planes[ALL.index()].free.len()));
    }

    /// A page of data or of a map was programmed; the parity of its stripe follows when that is
    /// full.
    #[cold]
    pub(super) fn slot_programmed(&mut self, board: &mut Board, page: Ppn) -> Result<(), Fault> {
        let line = self.unit_of(board.geometry().block_of(page));
        let stream = self.stream_of_line(line);
        let Some(lines) = &mut self.lines else { return Ok(()) };
        lines.book.gains(line);
        let open = &mut lines.open[stream.index()];
        open.loose += 1;
        open.ready = open.ready.join(board.nand().data_ready());
        let ready = open.ready;
        self.zone_written(board, stream);
        self.leave_slot(board, (line, stream), ready)
    }

    /// The next slot of an open line, which is taken.
    pub(super) fn stand(&mut self, board: &Board, (line, stream): (BlockId, Stream)) -> Ppn {
        self.planes[ALL.index()].frontiers[stream.index()].next += 1;
        let lines = self.lines.as_ref().expect("a space of lines");
        let open = lines.open[stream.index()];
        lines.page(board.nand(), line, (open.row, open.column, open.unit))
    }

    /// Programs the next slot of an open line with nothing; when that was done or known to have
    /// failed, and whether it was done.
    pub(super) fn pad_slot(
        &mut self,
        board: &mut Board,
        (line, stream): (BlockId, Stream),
        after: When,
    ) -> Result<(When, bool), Fault> {
        let page = self.stand(board, (line, stream));
        match board.program_nothing(page, after) {
            Ok(padded) => {
                self.leave_slot(board, (line, stream), after)?;
                Ok((padded, true))
            }
            Err(Fault::ProgramFailed { known, .. }) => {
                board.event(Event::ProgramFailures, 1);
                self.slot_failed(board, page, known)?;
                Ok((known, false))
            }
            Err(fault) => Err(fault),
        }
    }

    /// A program of a slot failed at this moment: its block takes no more pages, its line is
    /// shorter. The rest of the stripe goes on.
    #[cold]
    pub(super) fn slot_failed(
        &mut self,
        board: &mut Board,
        page: Ppn,
        known: When,
    ) -> Result<(), Fault> {
        let line = self.unit_of(board.geometry().block_of(page));
        let stream = self.stream_of_line(line);
        self.shorten(board.nand(), line);
        let known =
            self.lines.as_ref().map_or(known, |all| all.open[stream.index()].ready.join(known));
        self.leave_slot(board, (line, stream), known)?;
        self.count_slots(board.nand(), (line, stream));
        Ok(())
    }

    /// On from the slot that an open line stands at, whose data was there at this moment, or whose
    /// program was known to have failed.
    pub(super) fn leave_slot(
        &mut self,
        board: &mut Board,
        (line, stream): (BlockId, Stream),
        ready: When,
    ) -> Result<(), Fault> {
        let Some(lines) = &mut self.lines else { return Ok(()) };
        let mut open = lines.open[stream.index()];
        let is_full = lines.pass_slot(board.nand(), line, &mut open);
        lines.open[stream.index()] = open;
        if is_full { self.complete_stripe(board, (line, stream), ready) } else { Ok(()) }
    }

    /// Parity where there is some, then the next stripe.
    fn complete_stripe(
        &mut self,
        board: &mut Board,
        (line, stream): (BlockId, Stream),
        after: When,
    ) -> Result<(), Fault> {
        let failed = self.write_parity(board, (line, stream), after)?;
        let Some(lines) = &mut self.lines else { return Ok(()) };
        let mut open = lines.open[stream.index()];
        // It may be completed before it is full.
        (open.column, open.unit) = (open.first + lines.width, 0);
        lines.enter_stripe(board.nand(), line, &mut open);
        lines.open[stream.index()] = open;
        self.hold_parity(board, (line, stream));
        if failed {
            self.shorten(board.nand(), line);
            self.count_slots(board.nand(), (line, stream));
        }
        Ok(())
    }

    /// An open line takes no more pages; what its present stripe holds gets its parity.
    pub(super) fn close_line_early(
        &mut self,
        board: &mut Board,
        (line, stream): (BlockId, Stream),
        after: When,
    ) -> Result<(), Fault> {
        let lines = self.lines.as_ref().expect("a space of lines");
        if lines.has_parity && lines.open[stream.index()].loose > 0 {
            self.complete_stripe(board, (line, stream), after)?;
        }
        self.close(board.nand(), ALL, stream);
        self.hold_again(board, stream);
        Ok(())
    }

    /// A block of a line in use failed: what the line has room for when it is written anew.
    fn shorten(&mut self, nand: &Nand, line: BlockId) {
        let Some(lines) = &mut self.lines else { return };
        let before = lines.book.room(line);
        lines.measure(nand, line);
        lines.used_room -= u64::from(before - lines.book.room(line));
    }

    /// How many slots an open line has left, counted anew.
    fn count_slots(&mut self, nand: &Nand, (line, stream): (BlockId, Stream)) {
        let Some(lines) = &self.lines else { return };
        let left = lines.left(nand, line, &lines.open[stream.index()]);
        let next = self.pages_per_block - left;
        self.planes[ALL.index()].frontiers[stream.index()] = Frontier { block: Some(line), next };
    }

    /// A valid page of a line is not any more.
    #[cold]
    pub(super) fn lost_in_line(&mut self, block: BlockId) {
        let Some(lines) = &mut self.lines else { return };
        let line = lines.book.line_of(block);
        let taken = lines.book.loses(line);
        let plane = &mut self.planes[ALL.index()];
        plane.valid -= 1;
        plane.victims.invalidated(line, taken);
    }

    /// Erases the blocks of a line side by side, and puts it back among the free ones as long as it
    /// has room.
    pub(super) fn release_line(
        &mut self,
        board: &mut Board,
        line: BlockId,
        (role, cause): (BlockRole, Cause),
        after: When,
    ) -> Result<When, Fault> {
        let after = self.zone_reset(board, after);
        let mut done = after;
        for block in self.blocks_of_unit(line) {
            let is_given_up = self.is_given_up(board, block);
            let known = board.nand().state().block(block);
            if known.retired || known.programmed == 0 && !known.read_only && !known.undefined {
                continue;
            }
            done = done.join(match board.erase(block, role, cause, after) {
                Ok(erased) => erased,
                Err(Fault::EraseFailed { known, .. }) => {
                    board.event(Event::EraseFailures, u64::from(!is_given_up));
                    known
                }
                Err(fault) => return Err(fault),
            });
        }
        self.line_is_free(board.nand(), line);
        self.tell_lines(board);
        Ok(done)
    }

    /// Whether nobody tries to erase a block: its die is known to have failed.
    fn is_given_up(&self, board: &Board, block: BlockId) -> bool {
        let die = board.geometry().die_of(board.geometry().plane_of_block(block));
        board.nand().known_failed_die() == Some(die)
    }

    /// A line holds nothing: it is free, or of no use where nothing can be written in it.
    fn line_is_free(&mut self, nand: &Nand, line: BlockId) {
        let known = &self.planes[ALL.index()];
        let rule_erases = self.census(nand).erases(line);
        debug_assert!(known.frontiers.iter().all(|frontier| frontier.block != Some(line)));
        let Some(lines) = &mut self.lines else { return };
        lines.measure(nand, line);
        let plane = &mut self.planes[ALL.index()];
        match lines.book.room(line) {
            0 => plane.retired += 1,
            _ => plane.free.put_worn(line, rule_erases),
        }
    }
}
