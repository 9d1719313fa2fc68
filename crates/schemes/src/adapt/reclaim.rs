//! Algorithm 2: what becomes of the block at the head of the random area, page by page or as a
//! whole; and the early reuse of empty blocks.

#[cfg(test)]
mod tests;

use crate::adapt::Adapt;
use crate::adapt::settings::MoveMerge;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{Cause, Event};
use ftlab_flash::units::BlockId;
use ftlab_ftl::parts::merge_engine::lpn_of_page;

impl Adapt {
    /// Algorithm 2: one block of the random area is merged, page by page or as a whole.
    #[cold]
    pub(super) fn merge_or_move(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        // Lines 2 to 6: the block at the head and the one behind it.
        let (_, after) = self.random.choose(board, after);
        let mut predicts = self.settings.predictive_transfer;
        // Line 7: the head is nearly all valid, the one behind it is not.
        if self.random.len() >= 2 {
            let valid = |place| board.nand().valid_pages(self.random.block(place));
            let tau = self.limits.tau_pages;
            if valid(0) >= tau && valid(1) < tau {
                // Lines 8 to 10: the head goes to the rear, just ahead of the block opened next.
                self.random.requeue(0);
                board.event(Event::AggregatedMoves, 1);
                // Line 11: the one behind it is merged.
                predicts &= self.settings.agmov_merge == MoveMerge::PerPage;
            }
        }
        self.merge_victim(board, predicts, after)
    }

    /// Algorithm 2, lines 15 to 30, for the block at the head; the erase follows them all.
    pub(super) fn merge_victim(
        &mut self,
        board: &mut Board,
        predicts: bool,
        after: When,
    ) -> Result<When, Fault> {
        let victim = self.random.block(0);
        let valid = board.nand().valid_pages(victim);
        if valid == 0 {
            let done = self.base.engine.reclaim(board, victim, &mut self.sequential, after)?;
            self.random.remove(0);
            return Ok(done);
        }
        let (mut kept, mut rebuilt, mut offset) = (0, 0, 0);
        let mut done = after;
        while let Some(page) = board.nand().state().next_valid(victim, offset) {
            offset = board.geometry().offset_of(page) + 1;
            let lpn = lpn_of_page(board, page);
            let engine = &mut self.base.engine;
            // Lines 19 to 22: written recently, so it stays.
            let expected = predicts && self.predictor.expects(board, lpn);
            if expected && kept < self.limits.kept_pages {
                let from = (lpn, page);
                let copied = self.random.append_copy(board, engine, from, Cause::Merge, after)?;
                self.predictor.kept(board, lpn);
                kept += 1;
                done = done.join(copied);
                continue;
            }
            // Line 25: merged, with every other page of its logical block.
            let (blocks, merged) = engine.merge_page(board, page, &mut self.sequential, after)?;
            rebuilt += blocks;
            done = done.join(merged);
            if predicts && !expected {
                self.predictor.merged(board, lpn);
            }
        }
        if kept < valid {
            board.merge_full(rebuilt);
            self.interval.full_merge(valid - kept);
        }
        let done = self.base.engine.release_log(board, victim, done)?;
        self.random.remove(0);
        Ok(done)
    }

    /// What merges left behind: predictions proved wrong, and empty log blocks, which are erased
    /// at once (early reuse, III.D). Nobody waits for that.
    #[inline]
    pub(super) fn settle(&mut self, board: &mut Board, after: When) -> Result<(), Fault> {
        while let Some(lbn) = self.base.engine.journal.take_rebuilt() {
            self.predictor.rebuilt(board, &self.base.engine, lbn);
        }
        while let Some(block) = self.base.engine.journal.take_emptied() {
            self.reuse(board, block, after)?;
        }
        Ok(())
    }

    #[cold]
    pub(super) fn reuse(
        &mut self,
        board: &mut Board,
        block: BlockId,
        after: When,
    ) -> Result<(), Fault> {
        // It may be a sequential one, or reclaimed in the meantime and written anew.
        let Some(place) = self.random.position(block) else { return Ok(()) };
        let open = self.random.open_block() == Some(block);
        let known = board.nand().state().block(block);
        if known.valid > 0 || known.programmed == 0 || (open && self.settings.erl_skip_open) {
            return Ok(());
        }
        board.event(Event::EarlyReuses, 1);
        board.event(Event::DeadLogBlocks, 1);
        self.random.remove(place);
        // Nobody waits for it but whoever takes the block.
        let _ = self.base.engine.release_log(board, block, after)?;
        Ok(())
    }
}
