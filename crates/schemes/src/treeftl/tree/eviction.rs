//! Who leaves for a page that needs a frame, and how.

use super::base::TreeBase;
use super::{Leaf, PageTree, Pruning};
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::board::{Board, Search};
use ftlab_flash::meter::Event;
use ftlab_ftl::parts::slots::Slot;

impl<P: Pruning, B: TreeBase> PageTree<P, B> {
    /// Sees to it that a frame is free; from when on.
    #[inline]
    pub(super) fn take_frame(
        &mut self,
        board: &mut Board,
        pinned: Option<Slot>,
        after: When,
    ) -> Result<When, Fault> {
        match (self.used() + 1).saturating_sub(self.frames) {
            0 => Ok(after),
            1 => self.evict(board, pinned, after),
            _ => self.take_one_of_many(board, pinned, after),
        }
    }

    /// The same where more than one page must leave, as after a recovery.
    #[cold]
    fn take_one_of_many(
        &mut self,
        board: &mut Board,
        pinned: Option<Slot>,
        after: When,
    ) -> Result<When, Fault> {
        let mut when = after;
        while self.used() >= self.frames {
            when = self.evict(board, pinned, when)?;
        }
        Ok(when)
    }

    /// One page leaves, by the scheme's order.
    #[inline(never)]
    pub(super) fn evict(
        &mut self,
        board: &mut Board,
        pinned: Option<Slot>,
        after: When,
    ) -> Result<When, Fault> {
        let (leaf, compared) = self.order.next(self.base.frames(), pinned);
        let mut when = board.search_at(Search::Cached, compared, self.step_time, after);
        match leaf {
            Leaf::Data(map, offset) => self.evict_data(board, (map, offset), when),
            Leaf::Map(map) => {
                // A branch is only pruned without leaves.
                if self.held().children(map) > 0 {
                    when = self.evict_leaves(board, map, when)?;
                }
                self.evict_map(board, map, when)
            }
        }
    }

    /// Every data page of a branch leaves.
    #[cold]
    fn evict_leaves(&mut self, board: &mut Board, map: Slot, after: When) -> Result<When, Fault> {
        let mut when = after;
        while let Some(offset) = self.held().first_child(map, None) {
            when = self.evict_data(board, (map, offset), when)?;
        }
        Ok(when)
    }

    #[inline(always)]
    fn evict_data(
        &mut self,
        board: &mut Board,
        place: (Slot, u32),
        after: When,
    ) -> Result<When, Fault> {
        let lpn = self.held().lpn(place.0, place.1);
        let data = self.held().find(lpn).expect("the victim is cached");
        let done = if self.held().get(data).dirty {
            self.program(board, place, data, after)?
        } else {
            board.event(Event::BufferCleanDrops, 1);
            after
        };
        self.held_mut().leave_place(data, place, done);
        self.order.data_left(place.0, data);
        self.levels.note();
        Ok(done)
    }

    /// A data page leaves as it is.
    pub(super) fn drop_data(&mut self, data: Slot, free: When) {
        let map = self.held_mut().leave(data, free);
        self.order.data_left(map, data);
        self.levels.note();
    }

    #[inline(always)]
    fn evict_map(&mut self, board: &mut Board, map: Slot, after: When) -> Result<When, Fault> {
        let changed = self.held().maps.dirty_entries(map) > 0;
        let done = if changed || self.settings.flush_clean_ctp {
            self.write_map(board, map, after)?
        } else {
            after
        };
        board.event(if changed { Event::EvictDirty } else { Event::EvictClean }, 1);
        self.held_mut().maps.remove(map);
        self.order.map_left(board, map);
        self.levels.note();
        Ok(done)
    }
}
