//! How old the data of each block is, and when a patrol finds that it is too old. Where the patrol
//! finds nothing it costs nothing, so that it is enough to know when it next finds something.

use super::patrol::Patrol;
use super::queue::Queue;
use crate::units::{BlockId, Nanos, zeroed};

/// Ages of the blocks of a device.
#[derive(Clone, Debug)]
pub(super) struct Ages {
    /// Age at which data is too old; 0: never.
    limit: Nanos,
    patrol: Patrol,
    /// When each block was programmed first since its erase, plus one; 0: not yet.
    written: Vec<Nanos>,
    /// What the patrol has seen.
    looked: Nanos,
    /// When it next finds something, at the earliest.
    next_find: Nanos,
}

impl Ages {
    /// Nothing is written.
    pub(super) fn new(limit: Nanos, patrol: Patrol, blocks: u32) -> Self {
        let written = zeroed(if limit > 0 { blocks as usize } else { 0 });
        Ages { limit, patrol, written, looked: 0, next_find: Nanos::MAX }
    }

    /// Age at which data is too old; 0: never.
    pub(super) fn limit(&self) -> Nanos {
        self.limit
    }

    /// When it next finds something, at the earliest; never is `Nanos::MAX`.
    pub(super) fn next_find(&self) -> Nanos {
        self.next_find
    }

    fn written(&self, block: BlockId) -> Option<Nanos> {
        self.written.get(block.index())?.checked_sub(1)
    }

    /// Age of a block's data at a moment.
    pub(super) fn of(&self, block: BlockId, now: Nanos) -> Nanos {
        self.written(block).map_or(0, |written| now.saturating_sub(written))
    }

    /// Whether a block's data is so many times as old as it may be.
    pub(super) fn is_old(&self, block: BlockId, times: u64, now: Nanos) -> bool {
        self.limit > 0 && self.of(block, now) / times >= self.limit
    }

    /// When it will be; never is `Nanos::MAX`.
    pub(super) fn old_at(&self, block: BlockId, times: u64) -> Nanos {
        let age = self.limit.saturating_mul(times);
        self.written(block).map_or(Nanos::MAX, |written| written.saturating_add(age))
    }

    /// When the patrol finds a block too old, behind what it has seen.
    fn found_at(&self, block: BlockId) -> Nanos {
        self.patrol.visit(block, self.old_at(block, 1).max(self.looked + 1))
    }

    /// A page of a block is programmed.
    pub(super) fn programmed(&mut self, block: BlockId, now: Nanos) {
        let Some(written) = self.written.get_mut(block.index()) else { return };
        if *written == 0 {
            *written = now + 1;
        }
        // It may have held nothing when the patrol came by.
        self.next_find = self.next_find.min(self.found_at(block));
    }

    /// A block is empty.
    pub(super) fn erased(&mut self, block: BlockId) {
        if let Some(written) = self.written.get_mut(block.index()) {
            *written = 0;
        }
    }

    /// The patrol has come as far as `now`: what it found is due, if it holds anything.
    #[cold]
    pub(super) fn look(&mut self, now: Nanos, due: &mut Queue, holds: impl Fn(BlockId) -> bool) {
        let before = due.len();
        let found = |block: &BlockId| self.found_at(*block) <= now && holds(*block);
        for block in (0..self.written.len() as u32).map(BlockId).filter(found) {
            if !due.has(block) {
                due.push(block);
            }
        }
        due.sort_behind(before, |block| self.found_at(block));
        self.looked = now;
        let others = (0..self.written.len() as u32).map(BlockId);
        // What holds nothing is never found, until more is written to it.
        let others = others.filter(|&block| !due.has(block) && holds(block));
        self.next_find = others.map(|block| self.found_at(block)).min().unwrap_or(Nanos::MAX);
    }
}
