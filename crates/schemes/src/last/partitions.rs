//! The hot and the cold partition of LAST's random log: which blocks they may have, and how one is
//! freed.

use crate::last::Last;
use crate::last::settings::HotReserve;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::board::{Board, Search};
use ftlab_flash::meter::{Cause, Event};
use ftlab_ftl::parts::merge_engine::lpn_of_page;

impl Last {
    /// The hot partition takes back a block that it does not have for want of use, or else one of
    /// its own is reclaimed.
    pub(super) fn make_hot_room(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let as_used = self.settings.hot_reserve == HotReserve::AsUsed;
        if !as_used || self.hot.limit() == self.hot_most {
            return self.reclaim_hot(board, after);
        }
        self.hot.set_limit(self.hot.limit() + 1);
        self.cold.set_limit(self.cold.limit() - 1);
        self.keep_limits(board, after)
    }

    /// The cold partition gets a block that the hot one has not opened, or in which nothing is
    /// valid, if it may; or else one of its own is reclaimed.
    pub(super) fn make_cold_room(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        if self.settings.hot_reserve == HotReserve::AsUsed {
            if self.hot.free_blocks() > 0 {
                self.lend();
                return Ok(after);
            }
            let closed = self.hot.len() as usize - usize::from(self.hot.open_block().is_some());
            let dead = |&place: &usize| board.nand().valid_pages(self.hot.block(place)) == 0;
            if let Some(place) = (0..closed).find(dead) {
                let found = board.search(Search::Block, place as u32 + 1, after);
                board.event(Event::DeadLogBlocks, 1);
                board.event(Event::DeadHotBlocks, 1);
                let block = self.hot.block(place);
                let done = self.base.engine.release_log(board, block, found)?;
                self.hot.remove(place);
                self.lend();
                return Ok(done);
            }
        }
        self.reclaim_cold(board, after)
    }

    /// A block that the hot partition does not use is the cold one's.
    fn lend(&mut self) {
        self.hot.set_limit(self.hot.limit() - 1);
        self.cold.set_limit(self.cold.limit() + 1);
    }

    /// Reclaims what recovery, failed programs or a shift of the partitions left beyond the limits.
    #[inline]
    pub(super) fn keep_limits(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let mut when = after;
        while self.cold.is_over_limit() {
            when = self.reclaim_cold(board, when)?;
        }
        while self.hot.is_over_limit() {
            when = self.reclaim_hot(board, when)?;
        }
        Ok(when)
    }

    /// Frees a hot block: a dead one, or the oldest, whose valid pages are not hot after all.
    #[cold]
    fn reclaim_hot(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let (place, after) = self.hot.choose_dead_first(board, after);
        let victim = self.hot.block(place);
        let dead = board.nand().valid_pages(victim) == 0;
        let done = match dead {
            true => {
                board.event(Event::DeadLogBlocks, 1);
                board.event(Event::DeadHotBlocks, 1);
                after
            }
            false => {
                board.event(Event::DemotedBlocks, 1);
                self.demote(board, place, after)?
            }
        };
        let done = self.base.engine.release_log(board, victim, done)?;
        self.hot.remove(place);
        if self.settings.adapt {
            self.shift(board, dead);
        }
        Ok(done)
    }

    /// Moves the valid pages of a hot block to the cold partition, making room there as needed.
    fn demote(&mut self, board: &mut Board, place: usize, after: When) -> Result<When, Fault> {
        let victim = self.hot.block(place);
        let mut start = after;
        let mut done = after;
        let mut offset = 0;
        while let Some(page) = board.nand().state().next_valid(victim, offset) {
            // Beyond the limit: a copy failed and opened another block.
            if self.cold.is_exhausted() || self.cold.is_over_limit() {
                // This may merge pages of the hot block away: the next valid one is sought anew.
                start = self.reclaim_cold(board, done)?;
                done = start;
                continue;
            }
            let moved = (lpn_of_page(board, page), page);
            let engine = &mut self.base.engine;
            done = done.join(self.cold.append_copy(board, engine, moved, Cause::Migrate, start)?);
            board.event(Event::DemotedPages, 1);
            offset = board.geometry().offset_of(page) + 1;
        }
        Ok(done)
    }

    /// Frees a cold block: a dead one, or the one that the policy merges in full.
    #[cold]
    fn reclaim_cold(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let (place, after) = self.cold.choose_dead_first(board, after);
        let victim = self.cold.block(place);
        let done = self.base.engine.reclaim(board, victim, &mut self.sequential, after)?;
        self.cold.remove(place);
        Ok(done)
    }

    /// `last.adapt`: blocks that die say that the hot partition should have more, demoted ones that
    /// it should have fewer.
    fn shift(&mut self, board: &mut Board, dead: bool) {
        self.balance += if dead { 1 } else { -1 };
        let (hot, cold) = (self.hot.limit(), self.cold.limit());
        if self.balance.unsigned_abs() < u64::from(hot) {
            return;
        }
        let limits = match self.balance > 0 {
            true if cold > 1 => (hot + 1, cold - 1),
            false if hot > 1 => (hot - 1, cold + 1),
            _ => (hot, cold),
        };
        self.balance = 0;
        if limits != (hot, cold) {
            board.event(Event::AreaTransfers, 1);
            self.hot.set_limit(limits.0);
            self.cold.set_limit(limits.1);
        }
    }
}
