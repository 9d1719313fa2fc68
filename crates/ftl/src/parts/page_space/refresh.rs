//! Refresh: a block that was read often, or whose data is old, is moved before its cells lose it
//! (`refresh`).
//!
//! Which blocks are due the gate knows, in the order in which they came to be. Each is collected as a
//! victim would be, by itself, in an idle gap, a piece at a time where gaps collect in pieces; its
//! pages go where collection would put them. An open block takes no more pages then; with lines it is
//! its line that moves. Where free blocks are short garbage is collected first, as before a write of
//! the host; what does not fit all the same waits behind the others.
//!
//! What this is not: collection (no victim is counted, and no threshold adapts), nor who says what is
//! due. Rules and open points: `docs/papers/refresh.md`.

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
/// place in the list of those that are due.
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
    /// One step of refreshing; none: nothing is due that could be moved.
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
        match self.refresh_one(board, owner, after) {
            Err(fault) => fault.unless_worn_out(),
            step => step,
        }
    }

    #[cold]
    fn refresh_one<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        after: When,
    ) -> Result<Option<When>, Fault> {
        for _ in 0..board.nand_mut().blocks_to_refresh(after) {
            let Some(block) = board.nand_mut().next_to_refresh(after) else { break };
            let step = self.refresh(board, owner, block, after)?;
            let waiting = board.nand_mut().blocks_to_refresh(after);
            board.level(Level::BlocksToRefresh, waiting as u64);
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
        if self.stream_of[unit.index()] == 0 || self.is_paused(unit) {
            board.nand_mut().needs_no_refresh(block);
            return Ok(None);
        }
        let at_once = board.nand_mut().must_refresh(after);
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
        let moved = if self.is_cached(unit) {
            self.refresh_cached(board, owner, unit, ready)?
        } else {
            match self.fits_when_closed(board, owner, (unit, at_once)) {
                true => {
                    self.close_early(board, unit, ready)?;
                    Some(self.move_out(board, owner, (unit, at_once), ready)?)
                }
                false => None,
            }
        };
        if moved.is_none() {
            board.nand_mut().put_refresh_off(block);
            return Ok(step);
        }
        let reason = match due {
            DueFor::Reads => Event::RefreshedForReads,
            DueFor::Age => Event::RefreshedForAge,
        };
        board.event(reason, 1);
        Ok(moved)
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

    /// Moves a closed block, or the first pages of it.
    fn move_out<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        (unit, at_once): (BlockId, bool),
        after: When,
    ) -> Result<When, Fault> {
        let (stream, _) = self.destination(board.nand(), unit);
        self.is_candidate_no_more(board.nand(), unit);
        let most = if at_once { u32::MAX } else { self.idle_pages };
        self.go_on(board, owner, (Paused::new(unit, stream, Cause::Refresh), most), after)
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
        let after = if copied > 0 { self.flush_parity(board, after)? } else { after };
        let erased = self.release(board, unit, role, Cause::Refresh, after)?;
        let waiting = board.nand_mut().blocks_to_refresh(erased);
        board.level(Level::BlocksToRefresh, waiting as u64);
        Ok(erased)
    }
}
