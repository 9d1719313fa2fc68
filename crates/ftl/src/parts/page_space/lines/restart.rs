//! Lines after a power cut: which are free, which hold something, and where open ones are written
//! on, told by the flash alone.

use std::cmp::Reverse;

use super::super::{Frontier, PageSpace, Stream};
use super::{ALL, Lines, Open};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::Nand;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::state::OobRead;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::Cause;
use ftlab_flash::units::BlockId;

/// A line that can be written on.
struct Unfinished {
    line: BlockId,
    stream: Stream,
    open: Open,
    /// Whether all that its present stripe lacks is parity.
    is_full: bool,
}

impl Lines {
    /// Flash pages of a block that are written.
    fn top(&self, nand: &Nand, line: BlockId, column: u32) -> u32 {
        nand.state().block(self.block(line, column)).top.div_ceil(self.units)
    }

    /// Whether an interrupted erase has left a part of a line: it is not as it was filled.
    pub(super) fn is_torn(&self, nand: &Nand, line: BlockId) -> bool {
        if self.book.blocks(line).any(|block| nand.state().block(block).undefined) {
            return true;
        }
        let columns = 0..self.per_line;
        let top = |column| self.top(nand, line, column);
        let rows = columns.clone().map(top).max().unwrap_or(0);
        let Some(last) = columns.clone().rfind(|&column| top(column) == rows) else { return false };
        let stripe = last - last % self.width;
        // A stripe of which one block works takes no data any more: it stays behind.
        let works = |column: &u32| {
            let room = self.stripe_room(nand, line, column - column % self.width);
            room > 0 && self.works(nand, line, *column)
        };
        // Of the stripe that was written last a block may have been passed over for the parity.
        let may_lack = |column: u32| column >= stripe && self.has_parity;
        let lacking =
            columns.clone().filter(works).filter(|&column| column < last && top(column) < rows);
        lacking.clone().any(|column| !may_lack(column))
            || lacking.count() > 1
            || columns.filter(works).any(|column| top(column) + 1 < rows)
    }

    /// Where a line is written on: in the stripe that was written last, or behind it.
    pub(super) fn find_end(&self, nand: &Nand, line: BlockId) -> (Open, bool) {
        let top = |column| self.top(nand, line, column);
        let columns = || 0..self.per_line;
        let rows = columns().map(top).max().unwrap_or(0);
        let Some(row) = rows.checked_sub(1) else { return (Open::default(), false) };
        let last =
            columns().rfind(|&column| top(column) > row).expect("a block has the most pages");
        let first = last - last % self.width;
        let mut open = Open::default();
        let is_full = self.stand_in(nand, line, (row, first), &mut open);
        if is_full && open.parity.is_none() && !(self.has_parity && open.loose > 0) {
            // Nothing of it is left to be written.
            open.column = first + self.width;
            self.enter_stripe(nand, line, &mut open);
            return (open, false);
        }
        (open, is_full)
    }
}

impl PageSpace {
    /// Sorts lines into free ones, candidates and frontiers, as [`PageSpace::recover`] does blocks.
    pub(in super::super) fn recover_lines(
        &mut self,
        board: &mut Board,
        after: When,
    ) -> Result<When, Fault> {
        let Some(lines) = &mut self.lines else { return Ok(after) };
        let count = lines.book.lines();
        lines.failed = board.nand().known_failed_die();
        lines.rebuilding = lines.failed.filter(|_| lines.has_parity).map(|_| 0);
        let mut when = after;
        let mut untouched = count;
        let (mut full, mut unfinished) = (Vec::new(), Vec::new());
        self.planes[ALL.index()].retired = 0;
        for line in (0..count).rev().map(BlockId) {
            let lines = self.lines.as_mut().expect("a space of lines");
            lines.measure(board.nand(), line);
            let touched = |block: BlockId| board.nand().state().block(block).touched;
            let is_untouched = !lines.book.blocks(line).any(touched);
            if is_untouched && untouched == line.0 + 1 {
                untouched = line.0;
                self.planes[ALL.index()].retired += u32::from(lines.book.room(line) == 0);
                continue;
            }
            when = self.sort_line(board, line, (&mut full, &mut unfinished), when)?;
        }
        let bad = self.lines.as_ref().map(|lines| lines.without_room().collect::<Vec<_>>());
        let bad = bad.unwrap_or_default();
        self.planes[ALL.index()].free.untouched_but(bad.into_iter(), untouched);
        self.open_again(board, unfinished, &mut full, when)?;
        when = self.finish_found_zones(board, &mut full, when)?;
        let now = self.census(board.nand());
        full.sort_unstable_by_key(|&line| (Reverse(now.age(line)), line.0));
        for &line in &full {
            self.put_up(board.nand(), line);
        }
        self.tell_lines(board);
        self.tell_repair(board);
        Ok(when)
    }

    fn sort_line(
        &mut self,
        board: &mut Board,
        line: BlockId,
        (full, unfinished): (&mut Vec<BlockId>, &mut Vec<Unfinished>),
        after: When,
    ) -> Result<When, Fault> {
        let lines = self.lines.as_mut().expect("a space of lines");
        let (mut valid, mut is_used) = (0, false);
        for block in lines.book.blocks(line) {
            let known = board.nand().state().block(block);
            valid += known.valid;
            is_used |= !known.retired && (known.programmed > 0 || known.read_only);
        }
        lines.book.found(line, valid);
        if !is_used {
            self.line_is_free(board.nand(), line);
            return Ok(after);
        }
        let stream = self.line_on_flash(board.nand(), line);
        if valid == 0 {
            return self.release_line(board, line, (stream.role(), Cause::Recover), after);
        }
        if stream == Stream::Data {
            for block in self.blocks_of_unit(line) {
                self.note_found(board.nand(), block);
            }
        }
        self.planes[ALL.index()].valid += valid;
        let lines = self.lines.as_mut().expect("a space of lines");
        let is_torn = lines.is_torn(board.nand(), line);
        let (open, is_full) = lines.find_end(board.nand(), line);
        lines.used_room += u64::from(lines.book.room(line));
        self.stream_of[line.index()] = stream.mark();
        if is_torn || open.row >= lines.rows {
            let found = self.found_stream(ALL, stream, false);
            self.stream_of[line.index()] = found.mark();
            full.push(line);
        } else {
            unfinished.push(Unfinished { line, stream, open, is_full });
        }
        Ok(after)
    }

    /// Stripes that lack nothing but parity get it. Of the lines of a stream the one with most room
    /// goes on being written; of the others the present stripe gets its parity as it is.
    fn open_again(
        &mut self,
        board: &mut Board,
        mut unfinished: Vec<Unfinished>,
        full: &mut Vec<BlockId>,
        after: When,
    ) -> Result<(), Fault> {
        unfinished.sort_by_key(|one| {
            (
                Reverse(self.lines.as_ref().map_or(0, |lines| {
                    if one.is_full { 0 } else { lines.left(board.nand(), one.line, &one.open) }
                })),
                Reverse(one.line.0),
            )
        });
        for Unfinished { line, stream, open, is_full } in unfinished {
            let found = self.found_stream(ALL, stream, true);
            self.stream_of[line.index()] = found.mark();
            let place = found.index();
            let taken = self.planes[ALL.index()].frontiers[place];
            let lines = self.lines.as_mut().expect("a space of lines");
            let kept = std::mem::replace(&mut lines.open[place], open);
            self.planes[ALL.index()].frontiers[place] =
                Frontier { block: Some(line), next: self.pages_per_block };
            let is_first = taken.block.is_none();
            self.hold_parity(board, (line, found));
            // Without parity a stripe of another open line is left as it is.
            let is_bare = open.loose > 0 && self.lines.as_ref().is_some_and(|all| all.has_parity);
            if is_full || !is_first && is_bare {
                self.complete_stripe(board, (line, found), after)?;
            }
            let lines = self.lines.as_mut().expect("a space of lines");
            let left = lines.left(board.nand(), line, &lines.open[place]);
            if is_first && left > 0 {
                self.count_slots(board.nand(), (line, found));
            } else {
                lines.open[place] = kept;
                self.planes[ALL.index()].frontiers[place] = taken;
                self.hold_again(board, found);
                full.push(line);
            }
        }
        Ok(())
    }

    /// Where a line that was found is written on, unless it is torn or full; without parity.
    pub(in super::super) fn end_of_line(
        &self,
        nand: &Nand,
        line: BlockId,
    ) -> Option<(Frontier, Open)> {
        let lines = self.lines.as_ref()?;
        let (open, is_full) = lines.find_end(nand, line);
        if lines.is_torn(nand, line) || is_full {
            return None;
        }
        let left = lines.left(nand, line, &open);
        let frontier = Frontier { block: Some(line), next: self.pages_per_block - left };
        (left > 0).then_some((frontier, open))
    }

    /// Memory has the parity of what a stream has open, or of nothing.
    pub(in super::super) fn hold_again(&self, board: &mut Board, stream: Stream) {
        match self.planes[ALL.index()].frontiers[stream.index()].block {
            Some(line) => self.hold_parity(board, (line, stream)),
            None => board.nand_mut().hold_parity(stream.index(), None),
        }
    }

    /// What a line was written with, from the first page that says so.
    fn line_on_flash(&self, nand: &Nand, line: BlockId) -> Stream {
        let pages = self.census(nand).pages_in(line);
        let kinds = pages.filter_map(|page| match nand.state().oob(page) {
            OobRead::Written(oob) => Some(oob.kind),
            OobRead::Free | OobRead::Torn => None,
        });
        let mut kinds = kinds.filter(|kind| kind.is_host_data() || kind.holds_words());
        let is_map = kinds.next().is_some_and(|kind| kind.holds_words());
        if is_map { Stream::Map } else { Stream::Data }
    }
}
