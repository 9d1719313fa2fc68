//! How old the data of each block is, and when a patrol finds that it is too old. Where the patrol
//! finds nothing it costs nothing, so that it is enough to know when it next finds something.
//!
//! The patrol goes by the clock of the device, and stands still while that is off; data ages by the
//! same and by the time off.

use super::patrol::Patrol;
use super::queue::Queue;
use crate::indexed_heap::{IndexedHeap, Slot};
use crate::units::{BlockId, Nanos, zeroed};

/// Ages of the blocks of a device.
#[derive(Clone, Debug)]
pub(super) struct Ages {
    /// Age at which data is too old; 0: never.
    limit: Nanos,
    patrol: Patrol,
    /// When each block was programmed first since its erase, plus one; 0: not yet.
    written: Vec<Nanos>,
    /// How long the device was off.
    off: Nanos,
    /// What the patrol has seen, by the clock.
    looked: Nanos,
    /// When the patrol finds each block too old, by the clock: those that held something when it
    /// came by last, or took a page since, and wait for no move.
    finds: IndexedHeap,
}

impl Ages {
    /// Nothing is written.
    pub(super) fn new(limit: Nanos, patrol: Patrol, blocks: u32) -> Self {
        let blocks = if limit > 0 { blocks } else { 0 };
        let (written, finds) = (zeroed(blocks as usize), IndexedHeap::new(blocks));
        Ages { limit, patrol, written, off: 0, looked: 0, finds }
    }

    /// Age at which data is too old; 0: never.
    pub(super) fn limit(&self) -> Nanos {
        self.limit
    }

    /// When it next finds something by the clock, at the earliest; never is `Nanos::MAX`.
    #[inline]
    pub(super) fn next_find(&self) -> Nanos {
        self.finds.min().map_or(Nanos::MAX, |slot| self.finds.key(slot).0)
    }

    fn written(&self, block: BlockId) -> Option<Nanos> {
        self.written.get(block.index())?.checked_sub(1)
    }

    /// A moment of the clock, and what the device was off until then.
    pub(super) fn time(&self, clock: Nanos) -> Nanos {
        clock.saturating_add(self.off)
    }

    /// Age of a block's data at a moment.
    pub(super) fn of(&self, block: BlockId, now: Nanos) -> Nanos {
        self.written(block).map_or(0, |written| now.saturating_sub(written))
    }

    /// When it is so many times as old as it may be; never is `Nanos::MAX`.
    pub(super) fn old_at(&self, block: BlockId, times: u64) -> Nanos {
        let age = self.limit.saturating_mul(times);
        self.written(block).map_or(Nanos::MAX, |written| written.saturating_add(age))
    }

    /// When the patrol finds a block too old, behind `clock` and behind what it has seen.
    fn found_at(&self, block: BlockId, clock: Nanos) -> (Nanos, u64) {
        let old_at = self.old_at(block, 1).saturating_sub(self.off);
        let behind = self.looked.max(clock) + 1;
        (self.patrol.visit(block, old_at.max(behind)), block.0.into())
    }

    /// A page of a block is programmed at this moment of the clock. The patrol looks for the block,
    /// unless it `waits` already: it may have held nothing when the patrol came by.
    pub(super) fn programmed(&mut self, block: BlockId, clock: Nanos, waits: bool) {
        let now = self.time(clock);
        let Some(written) = self.written.get_mut(block.index()) else { return };
        if *written == 0 {
            *written = now + 1;
        }
        if !waits {
            self.look_for(block, clock);
        }
    }

    /// The patrol looks for a block from this moment of the clock on, if anything was written to
    /// it.
    pub(super) fn look_for(&mut self, block: BlockId, clock: Nanos) {
        if self.written(block).is_some() && !self.finds.contains(Slot(block.0)) {
            self.finds.push(Slot(block.0), self.found_at(block, clock));
        }
    }

    /// The patrol need not look for a block: it waits for its move, or is empty.
    pub(super) fn look_no_more(&mut self, block: BlockId) {
        if block.index() < self.written.len() && self.finds.contains(Slot(block.0)) {
            self.finds.remove(Slot(block.0));
        }
    }

    /// A block is empty.
    pub(super) fn erased(&mut self, block: BlockId) {
        if let Some(written) = self.written.get_mut(block.index()) {
            *written = 0;
        }
        self.look_no_more(block);
    }

    /// The device was off for so long at this moment of the clock: data is the older for it, and
    /// the patrol goes on where it stood.
    pub(super) fn was_off(&mut self, time: Nanos, clock: Nanos) {
        self.off = self.off.saturating_add(time);
        self.looked = self.looked.max(clock);
        for block in (0..self.written.len() as u32).map(BlockId) {
            if self.finds.contains(Slot(block.0)) {
                self.finds.change(Slot(block.0), self.found_at(block, clock));
            }
        }
    }

    /// The patrol has come as far as `clock`: what it found is due, if it holds anything. What
    /// holds nothing is not looked for, until more is written to it.
    #[cold]
    pub(super) fn look(&mut self, clock: Nanos, due: &mut Queue, holds: impl Fn(BlockId) -> bool) {
        while self.next_find() <= clock
            && let Some(Slot(number)) = self.finds.min()
        {
            let block = BlockId(number);
            self.finds.remove(Slot(number));
            if holds(block) {
                due.push(block, self.old_at(block, 2));
            }
        }
        self.looked = self.looked.max(clock);
    }
}
