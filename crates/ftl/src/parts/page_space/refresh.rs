//! Refresh: a block that was read often, or whose data is old, is moved before its cells lose it
//! (`refresh`).
//!
//! Which blocks are due the gate knows, in the order in which they came to be. Each is collected as
//! a victim would be, by itself, in an idle gap, a piece at a time where `gc.idle_pages` says so;
//! its pages go where collection would put them. What is due twice over is moved behind the present
//! request, as a whole, and nothing else is done then. An open block takes no more pages then; with
//! lines it is its line that moves. Where free blocks are short garbage is collected first, as
//! before a write of the host; what does not fit in pieces moves as a whole if that fits, and else
//! waits behind the others, which move as a whole where gaps have begun with one.
//!
//! What this is not: collection (no victim is counted, and no threshold adapts), nor who says what
//! is due. Rules and open points: `docs/papers/refresh.md`.

use super::idle::Paused;
use super::{PageOwner, PageSpace, Stream};
use crate::settings::SharedSettings;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::DueFor;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::meter::{BlockRole, Cause, Event, Level};
use ftlab_flash::units::BlockId;

/// Bytes by structure: for each block 4 for its reads, 4 for the time of its first program, and its
/// place in the list of those that are due. More is not needed: what the gate keeps beside that
/// saves a look at the list (`nand/aging.rs`).
pub fn ram_use(config: &SharedSettings) -> Vec<RamUse> {
    let blocks = config.device.physical_blocks();
    let settings = &config.refresh;
    let entry = |structure, on: bool| {
        on.then_some(RamUse { structure, bytes: 4 * blocks, memory: Memory::Dram })
    };
    let moves = settings.moves_data();
    let all = [
        entry("block_reads", moves && settings.reads > 0),
        entry("block_ages", moves && settings.days > 0.0),
        entry("blocks_to_refresh", moves),
    ];
    all.into_iter().flatten().collect()
}

impl PageSpace {
    /// One step of refreshing in a gap; none: nothing is due that could be moved.
    #[inline]
    pub(super) fn refresh_idle<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        after: When,
    ) -> Result<Option<When>, Fault> {
        if !board.nand().refreshes() {
            return Ok(None);
        }
        let (waiting, hasty) = waiting(board, after);
        match self.refresh_some(board, owner, (waiting, hasty), after) {
            Err(fault) => fault.unless_worn_out(),
            step => step,
        }
    }

    /// One step of refreshing what cannot wait for a gap, and nothing else: none where nothing is
    /// due twice over that could be moved.
    #[cold]
    pub fn refresh_at_once<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        after: When,
    ) -> Result<Option<When>, Fault> {
        let (_, hasty) = waiting(board, after);
        match self.refresh_some(board, owner, (hasty, hasty), after) {
            Err(fault) => fault.unless_worn_out(),
            step => step,
        }
    }

    /// Tries so many of the blocks that are due, first those that are so twice over.
    fn refresh_some<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        (most, hasty): (usize, usize),
        after: When,
    ) -> Result<Option<When>, Fault> {
        for turn in 0..most {
            let next = board.nand().next_to_refresh(turn < hasty);
            let Some(block) = next else { continue };
            let step = self.refresh(board, owner, block, after)?;
            tell_waiting(board, after);
            if step.is_some() {
                return Ok(step);
            }
        }
        Ok(None)
    }

    /// Moves a block that is due; none where that cannot be.
    fn refresh<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        block: BlockId,
        after: When,
    ) -> Result<Option<When>, Fault> {
        let unit = self.unit_of(block);
        if self.stream_of[unit.index()] == 0 {
            board.nand_mut().needs_no_refresh(block);
            return Ok(None);
        }
        let plane = board.geometry().plane_of_block(unit);
        let ready = match self.collect_if_short(board, owner, plane, after) {
            Ok(ready) => ready,
            // Another plane may have room.
            Err(fault) => {
                board.nand_mut().put_refresh_off(block);
                return fault.unless_worn_out();
            }
        };
        // Only what was done is a step.
        let step = (ready != after).then_some(ready);
        let Some(due) = board.nand().is_due_for(block) else { return Ok(step) };
        let begun = self.paused.filter(|_| self.is_paused(unit));
        let moved = match begun {
            // Gaps have begun with it, and it was counted then.
            Some(paused) if self.fits(board, owner, unit) => {
                Some(self.go_on(board, owner, (paused, u32::MAX), ready)?)
            }
            Some(_) => None,
            None => self.refresh_where_it_fits(board, owner, (block, unit), ready)?,
        };
        if moved.is_none() {
            board.nand_mut().put_refresh_off(block);
            return Ok(step);
        }
        if begun.is_none() {
            let reason = match due {
                DueFor::Reads => Event::RefreshedForReads,
                DueFor::Age => Event::RefreshedForAge,
            };
            board.event(reason, 1);
        }
        Ok(moved)
    }

    /// Moves a block, or a piece of it, where the free blocks hold that: pieces may write a page of
    /// the map each, and what has no room for them may have room as a whole, however long the host
    /// only reads.
    fn refresh_where_it_fits<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        (block, unit): (BlockId, BlockId),
        after: When,
    ) -> Result<Option<When>, Fault> {
        if self.is_cached(unit) {
            return self.refresh_cached(board, owner, unit, after);
        }
        let in_pieces = !board.nand().must_refresh_this(block) && self.paused.is_none();
        let at_once = !in_pieces || !self.fits_when_closed(board, owner, (unit, false));
        if at_once && !self.fits_when_closed(board, owner, (unit, true)) {
            return Ok(None);
        }
        self.close_early(board, unit, after)?;
        self.move_out(board, owner, (unit, at_once), after).map(Some)
    }

    /// Whether the free blocks hold what a block holds, or a piece of it, without what it has left
    /// itself where it is open.
    fn fits_when_closed<O: PageOwner>(
        &mut self,
        board: &Board,
        owner: &mut O,
        (unit, at_once): (BlockId, bool),
    ) -> bool {
        let plane = board.geometry().plane_of_block(unit).index();
        let open = self.planes[plane].frontiers.iter().position(|one| one.block == Some(unit));
        if let Some(stream) = open {
            self.planes[plane].frontiers[stream].block = None;
        }
        let fits = match at_once {
            true => self.fits(board, owner, unit),
            false => self.fits_in_pieces(board, owner, unit),
        };
        if let Some(stream) = open {
            self.planes[plane].frontiers[stream].block = Some(unit);
        }
        fits
    }

    /// Moves a closed block, or the first pages of it: all of one that cannot wait, or where gaps
    /// have begun with another.
    fn move_out<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        (unit, at_once): (BlockId, bool),
        after: When,
    ) -> Result<When, Fault> {
        let (stream, _) = self.destination(board.nand(), unit, Cause::Refresh);
        if !at_once {
            self.is_candidate_no_more(board.nand(), unit);
            let begun = Paused::new(unit, stream, Cause::Refresh);
            return self.go_on(board, owner, (begun, self.idle_pages), after);
        }
        let role = self.role(unit);
        let emptied = self.empty(board, owner, (unit, stream), Cause::Refresh, after)?;
        let erased = self.refreshed(board, (unit, role), emptied.0, emptied.1)?;
        let plane = board.geometry().plane_of_block(unit);
        self.level_behind(board, owner, plane, erased)
    }

    /// An open block, or line, takes no more pages.
    pub(super) fn close_early(
        &mut self,
        board: &mut Board,
        unit: BlockId,
        after: When,
    ) -> Result<(), Fault> {
        let plane = board.geometry().plane_of_block(unit);
        let open = |stream: &Stream| {
            self.planes[plane.index()].frontiers[stream.index()].block == Some(unit)
        };
        let Some(stream) = self.data_streams().chain([Stream::Map]).find(open) else {
            return Ok(());
        };
        match self.lines.is_some() {
            true => self.close_line_early(board, (unit, stream), after),
            false => {
                self.close(board.nand(), plane, stream);
                Ok(())
            }
        }
    }

    /// A block was emptied: erases it. No victim of collection, and nothing that its threshold
    /// learns from.
    pub(super) fn refreshed(
        &mut self,
        board: &mut Board,
        (unit, role): (BlockId, BlockRole),
        copied: u32,
        after: When,
    ) -> Result<When, Fault> {
        let after = self.parity_before_erase(board, copied, after)?;
        let erased = self.release(board, unit, role, Cause::Refresh, after)?;
        tell_waiting(board, erased);
        Ok(erased)
    }
}

/// Blocks that are due at this moment, and those of them that are so twice over.
fn waiting(board: &mut Board, after: When) -> (usize, usize) {
    let hasty = board.nand_mut().blocks_to_refresh_at_once(after);
    (board.nand_mut().blocks_to_refresh(after), hasty)
}

fn tell_waiting(board: &mut Board, after: When) {
    let waiting = board.nand_mut().blocks_to_refresh(after);
    board.level(Level::BlocksToRefresh, waiting as u64);
}
