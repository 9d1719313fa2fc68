//! What a failed die, and single pages of which reads failed, leave to do: their pages are read
//! from the rest of their stripes and move to where they can be read, a few before every page that
//! is written, and at a time in idle gaps. Without parity there is nothing to move.
//!
//! A die that failed takes no pages any more: every line is shorter by its blocks, which are
//! retired when the line is erased next.

use std::cmp::Reverse;

use super::super::{PageOwner, PageSpace, Stream};
use super::{ALL, Lines};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::Nand;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{Cause, Level};
use ftlab_flash::units::{BlockId, Ppn};

impl Lines {
    /// Whether something is to be repaired, or a die failed that nobody knows of.
    fn need_repair(&self, nand: &Nand) -> bool {
        self.rebuilding.is_some() || nand.has_failing() || nand.known_failed_die() != self.failed
    }

    /// The first valid page of a line on the die that failed.
    fn next_on_failed(&self, nand: &Nand, line: BlockId) -> Option<Ppn> {
        let blocks = self.columns.iter().filter(|&&plane| nand.has_failed(plane));
        let mut blocks = blocks.map(|&plane| self.book.block(line, plane));
        blocks.find_map(|block| nand.state().next_valid(block, 0))
    }

    fn all(&self) -> impl Iterator<Item = BlockId> + use<> {
        (0..self.book.lines()).map(BlockId)
    }
}

impl PageSpace {
    /// Repairs what is to be repaired, a few pages; before a page of the host is written.
    #[inline]
    pub(in super::super) fn repair<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        after: When,
    ) -> Result<When, Fault> {
        match &self.lines {
            Some(lines) if lines.need_repair(board.nand()) => {
                let pages = lines.rebuild_pages;
                let repaired = self.repair_some(board, owner, pages, after)?;
                Ok(repaired.unwrap_or(after))
            }
            _ => Ok(after),
        }
    }

    /// The same in an idle gap; none where there is nothing to repair.
    pub(in super::super) fn repair_idle<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        after: When,
    ) -> Result<Option<When>, Fault> {
        match &self.lines {
            Some(lines) if lines.need_repair(board.nand()) => {
                let pages = lines.rebuild_pages;
                match self.repair_some(board, owner, pages, after) {
                    Err(fault) => fault.unless_worn_out(),
                    repaired => repaired,
                }
            }
            _ => Ok(None),
        }
    }

    /// Up to so many pages; none where nothing could be done.
    #[cold]
    fn repair_some<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        most: u32,
        after: When,
    ) -> Result<Option<When>, Fault> {
        self.notice_failed_die(board, after)?;
        let mut when = after;
        let mut repaired = 0;
        while repaired < most {
            let Some((page, line)) = self.next_to_repair(board) else { break };
            when = self.collect_if_short(board, owner, ALL, when)?;
            // Collection may have moved it.
            if !board.nand().state().is_valid(page) {
                continue;
            }
            let is_failing = !board.nand().has_failed(board.geometry().plane_of(page));
            let many = if is_failing { 1 } else { most - repaired };
            let many = many.min(board.geometry().pages_per_block);
            if !self.repair_fits(owner, (line, many)) {
                break;
            }
            let single = is_failing.then_some(page);
            let (moved, done) = self.rebuild(board, owner, (line, single, many), when)?;
            (repaired, when) = (repaired + moved, done);
        }
        self.tell_repair(board);
        Ok((repaired > 0).then_some(when))
    }

    /// The next page that is to be moved, and its line.
    fn next_to_repair(&mut self, board: &mut Board) -> Option<(Ppn, BlockId)> {
        if let Some(page) = board.nand_mut().next_failing() {
            return Some((page, self.unit_of(board.geometry().block_of(page))));
        }
        let lines = self.lines.as_mut()?;
        while let Some(number) = lines.rebuilding {
            let line = BlockId(number);
            if let Some(page) = lines.next_on_failed(board.nand(), line) {
                return Some((page, line));
            }
            lines.rebuilding = Some(number + 1).filter(|&next| next < lines.book.lines());
        }
        None
    }

    /// Whether the free lines hold what moving so many pages of a line writes.
    fn repair_fits<O: PageOwner>(&self, owner: &mut O, (line, pages): (BlockId, u32)) -> bool {
        let free = self.planes[ALL.index()].free.len();
        if self.is_map(line) {
            return self.opens((ALL, Stream::Map), pages) <= free;
        }
        let map_pages = owner.most_map_writes(self, line, pages);
        self.opens_moved(ALL, pages) + self.opens((ALL, Stream::Map), map_pages) <= free
    }

    /// Moves one page of a line, or some that are on the die that failed, and lets the owner update
    /// the map; how many that were.
    fn rebuild<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        (line, single, most): (BlockId, Option<Ppn>, u32),
        after: When,
    ) -> Result<(u32, When), Fault> {
        let is_map = self.is_map(line);
        let stream = if is_map { Stream::Map } else { self.levelled_data(line) };
        let (mut moved, mut done) = (0, after);
        let mut end = Ok(());
        self.moving = true;
        while moved < most {
            let lines = self.lines.as_ref().expect("a space of lines");
            let next = match single {
                // Until it has left its place, moved or dropped.
                Some(page) => Some(page).filter(|&page| board.nand().state().is_valid(page)),
                None => lines.next_on_failed(board.nand(), line),
            };
            let Some(page) = next else { break };
            let from = (line, Some(stream), page);
            match self.move_page(board, owner, from, Cause::Rebuild, after) {
                Ok(Some(ready)) => (moved, done) = (moved + 1, done.join(ready)),
                // It was superseded.
                Ok(None) => {}
                Err(fault) => {
                    end = Err(fault);
                    break;
                }
            }
        }
        self.moving = false;
        // The map is told of what was moved, whatever ended it.
        if !is_map && moved > 0 {
            self.collecting = Some(line);
            let finished = owner.before_erase(self, board, done);
            self.collecting = None;
            done = finished?;
        }
        end.map(|()| (moved, done))
    }

    /// A die failed: every line is shorter, the free ones too, and what lies on it is to be moved.
    fn notice_failed_die(&mut self, board: &mut Board, after: When) -> Result<(), Fault> {
        let failed = board.nand().known_failed_die();
        match &mut self.lines {
            Some(lines) if lines.failed != failed => {
                lines.failed = failed;
                // Without parity there is nothing that could be moved.
                lines.rebuilding = lines.has_parity.then_some(0);
            }
            _ => return Ok(()),
        }
        self.measure_free_lines(board.nand());
        self.measure_used_lines(board.nand());
        for stream in Stream::all() {
            if let Some(line) = self.planes[ALL.index()].frontiers[stream.index()].block {
                self.reconsider(board, (line, stream), after)?;
            }
        }
        // What memory has of open stripes is the only copy of what lies on that die.
        let _ = self.flush_parity(board, after)?;
        Ok(())
    }

    /// Free lines without room are none any more.
    pub(super) fn measure_free_lines(&mut self, nand: &Nand) {
        let Some(lines) = &mut self.lines else { return };
        let plane = &mut self.planes[ALL.index()];
        let mut kept = Vec::new();
        while let Some(line) = plane.free.take() {
            lines.measure(nand, line);
            match lines.book.room(line) {
                0 => plane.retired += 1,
                _ => kept.push(line),
            }
        }
        if plane.free.takes_last_first() {
            kept.reverse();
        }
        for line in kept {
            let erases = self.census(nand).erases(line);
            self.planes[ALL.index()].free.put_worn(line, erases);
        }
    }

    /// Lines in use: candidates change their places, the one that was filled first coming first.
    fn measure_used_lines(&mut self, nand: &Nand) {
        let Some(lines) = &self.lines else { return };
        let mut used: Vec<BlockId> =
            lines.all().filter(|line| self.stream_of[line.index()] != 0).collect();
        used.sort_by_key(|&line| Reverse(self.census(nand).age(line)));
        let frontiers = self.planes[ALL.index()].frontiers;
        for line in used {
            let is_open = frontiers.iter().any(|frontier| frontier.block == Some(line));
            let is_candidate = !is_open && !self.is_paused(line) && self.collecting != Some(line);
            if is_candidate {
                self.leaves_candidates(ALL, line);
            }
            self.shorten(nand, line);
            if is_candidate {
                self.put_up(nand, line);
            }
        }
    }

    /// An open line whose blocks may have failed where it stands: its stripe takes its parity in
    /// another block if that for it is gone, and goes on behind blocks that are.
    fn reconsider(
        &mut self,
        board: &mut Board,
        (line, stream): (BlockId, Stream),
        after: When,
    ) -> Result<(), Fault> {
        let Some(lines) = &mut self.lines else { return Ok(()) };
        let mut open = lines.open[stream.index()];
        let is_full = lines.stand_again(board.nand(), line, &mut open);
        lines.open[stream.index()] = open;
        // A stripe that nothing was written to may have become too short, and another one is next.
        self.hold_parity(board, (line, stream));
        if is_full {
            self.complete_stripe(board, (line, stream), after)?;
        }
        self.count_slots(board.nand(), (line, stream));
        Ok(())
    }

    pub(super) fn tell_repair(&self, board: &mut Board) {
        let Some(lines) = self.lines.as_ref().filter(|lines| lines.failed.is_some()) else {
            return;
        };
        let left = lines.rebuilding.map_or(0, |next| lines.book.lines() - next);
        board.level(Level::LinesToRebuild, u64::from(left));
    }
}
