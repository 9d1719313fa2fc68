//! Folding: a block of the cache is emptied into dense blocks and erased; one in which nothing is
//! valid is only erased.

use super::super::{PageOwner, PageSpace, Stream};
use super::{SlcVictim, part};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::Nand;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{BlockRole, Cause, Event};
use ftlab_flash::units::{BlockId, PlaneId};

impl PageSpace {
    /// Sees to it that a write of the host finds a page in the cache, or, where that is full, in a
    /// dense block.
    pub(in super::super) fn make_room_in_cache<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        plane: PlaneId,
        after: When,
    ) -> Result<When, Fault> {
        let mut when = self.collect_after_cut(board, owner, plane, after)?;
        if self.has_page((plane, Stream::Slc)) {
            return Ok(when);
        }
        self.close_cache(board.nand(), plane);
        when = match self.slc.as_ref().and_then(|slc| slc.fold_high) {
            Some(high) => self.fold_first(board, owner, (plane, high), when)?,
            None => self.drop_dead(board, owner, plane, when)?,
        };
        if self.cache_can_open(plane) {
            return Ok(when);
        }
        self.make_room(board, owner, (plane, Stream::Data), when)
    }

    /// Folds until another block may be opened.
    fn fold_first<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        (plane, high): (PlaneId, u64),
        after: When,
    ) -> Result<When, Fault> {
        let mut when = after;
        for _ in 0..self.blocks_per_plane {
            let (limit, used) = self.cache_blocks(plane);
            if used == 0 || used < part(limit, high) && self.cache_can_open(plane) {
                break;
            }
            when = self.make_fold_room(board, owner, plane, when)?;
            let Some(victim) = self.fitting_victim(board, owner, (plane, false)) else { break };
            when = self.fold(board, owner, (victim, u32::MAX), Cause::Fold, when)?;
        }
        Ok(when)
    }

    /// Where no block may be opened: erases one in which nothing is valid.
    fn drop_dead<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        plane: PlaneId,
        after: When,
    ) -> Result<When, Fault> {
        if self.cache_can_open(plane) || !self.cache_has_dead(plane) {
            return Ok(after);
        }
        // Where a block is dead, the victim is a dead one.
        match self.cache_victim(board.nand(), plane, false) {
            Some(dead) => self.fold(board, owner, (dead, u32::MAX), Cause::Fold, after),
            None => Ok(after),
        }
    }

    fn cache_has_dead(&self, plane: PlaneId) -> bool {
        self.slc.as_ref().is_some_and(|slc| slc.planes[plane.index()].dead > 0)
    }

    /// Folds take dense pages as the host does: where free blocks are short, garbage is collected
    /// first.
    fn make_fold_room<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        plane: PlaneId,
        after: When,
    ) -> Result<When, Fault> {
        if self.cache_has_dead(plane) {
            return Ok(after);
        }
        self.collect_if_short(board, owner, plane, after)
    }

    /// Before a dense block is collected the cache gives back what it took of the free blocks.
    pub(in super::super) fn shrink_cache<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        (plane, limit): (PlaneId, u32),
        after: When,
    ) -> Result<When, Fault> {
        let mut when = after;
        for _ in 0..self.blocks_per_plane {
            if self.slc.is_none() || self.planes[plane.index()].free.len() >= limit {
                break;
            }
            let Some(victim) = self.dynamic_victim(board, owner, plane) else { break };
            when = board.finish_flash_page(victim, Cause::Fold, when);
            when = self.fold(board, owner, (victim, u32::MAX), Cause::Fold, when)?;
        }
        Ok(when)
    }

    /// A block that came from the free ones: a closed one, else the open one, which is closed.
    fn dynamic_victim<O: PageOwner>(
        &mut self,
        board: &Board,
        owner: &mut O,
        plane: PlaneId,
    ) -> Option<BlockId> {
        let victim = self.fitting_victim(board, owner, (plane, true));
        if victim.is_some() {
            return victim;
        }
        let open = self.planes[plane.index()].frontiers[Stream::Slc.index()].block?;
        let is_static = self.slc.as_ref()?.is_static(open, plane);
        if is_static || !self.fold_fits(board, owner, open) {
            return None;
        }
        self.close_cache(board.nand(), plane);
        Some(open)
    }

    /// The block that is folded next, unless the free blocks do not hold what that writes: then the
    /// one with the fewest valid pages, if they hold those.
    pub(super) fn fitting_victim<O: PageOwner>(
        &self,
        board: &Board,
        owner: &mut O,
        (plane, dynamic): (PlaneId, bool),
    ) -> Option<BlockId> {
        let victim = self.cache_victim(board.nand(), plane, dynamic)?;
        if self.fold_fits(board, owner, victim) {
            return Some(victim);
        }
        let slc = self.slc.as_ref()?;
        let blocks = slc.planes[plane.index()].closed.iter().copied();
        blocks
            .filter(|&block| !dynamic || !slc.is_static(block, plane))
            .min_by_key(|&block| board.nand().valid_pages(block))
            .filter(|&block| self.fold_fits(board, owner, block))
    }

    /// The block that is folded next, by policy: one without a valid page, which costs an erase
    /// alone, then one that was begun.
    pub(super) fn cache_victim(
        &self,
        nand: &Nand,
        plane: PlaneId,
        dynamic: bool,
    ) -> Option<BlockId> {
        let slc = self.slc.as_ref()?;
        let cache = &slc.planes[plane.index()];
        let is_wanted = |block: &BlockId| !dynamic || !slc.is_static(*block, plane);
        let mut blocks = cache.closed.iter().copied().filter(is_wanted);
        if cache.dead > 0
            && let Some(dead) = blocks.clone().find(|&block| nand.valid_pages(block) == 0)
        {
            return Some(dead);
        }
        if let Some((begun, _)) = cache.begun.filter(|(block, _)| is_wanted(block)) {
            return Some(begun);
        }
        let valid = |block: BlockId| u64::from(nand.valid_pages(block));
        match slc.victim {
            SlcVictim::Fifo => blocks.next(),
            SlcVictim::Greedy => blocks.min_by_key(|&block| valid(block)),
            SlcVictim::CostBenefit => {
                let pages = u64::from(slc.pages);
                let benefit = |block: BlockId| {
                    let age = nand.state().block(block).age(nand.sequence());
                    u128::from(age) * u128::from(pages.saturating_sub(valid(block)))
                };
                // Compared without division; the first of equals.
                blocks.reduce(|best, block| {
                    let better = benefit(block) * u128::from(valid(best))
                        > benefit(best) * u128::from(valid(block));
                    if better { block } else { best }
                })
            }
        }
    }

    /// Whether the free blocks hold what folding a block writes.
    pub(super) fn fold_fits<O: PageOwner>(
        &self,
        board: &Board,
        owner: &mut O,
        victim: BlockId,
    ) -> bool {
        let valid = board.nand().valid_pages(victim);
        if valid == 0 && !owner.waits_for_every_erase() {
            return true;
        }
        let plane = board.geometry().plane_of_block(victim);
        let free = self.planes[plane.index()].free.len();
        let data = self.opens((plane, Stream::Data), valid);
        let fits = |pages: u32| data + self.opens((plane, Stream::Map), pages) <= free;
        fits(owner.most_map_writes(self, victim, valid))
            || fits(owner.map_writes(self, board, victim))
    }

    /// Moves up to `most` pages of a closed block of the cache to the dense frontier of the host's
    /// data; erases it when none is left.
    fn fold<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        (victim, most): (BlockId, u32),
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let plane = board.geometry().plane_of_block(victim);
        let was_dead = board.nand().valid_pages(victim) == 0;
        let target = (victim, Some(Stream::Data), most);
        let moved = self.move_some(board, owner, target, cause, after);
        let slc = self.slc.as_mut().expect("a block of the cache");
        let cache = &mut slc.planes[plane.index()];
        let (copied, done) = match moved {
            Ok(moved) => moved,
            Err(fault) => {
                // All that it held may have moved before.
                let is_dead = board.nand().valid_pages(victim) == 0;
                cache.dead += u32::from(is_dead && !was_dead);
                return Err(fault);
            }
        };
        let before =
            cache.begun.filter(|&(block, _)| block == victim).map_or(0, |(_, pages)| pages);
        let folded = before + copied;
        if board.nand().valid_pages(victim) > 0 {
            cache.begun = Some((victim, folded));
            return Ok(done);
        }
        cache.begun = cache.begun.filter(|&(block, _)| block != victim);
        cache.closed.retain(|&block| block != victim);
        cache.dead -= u32::from(was_dead);
        cache.dynamic -= u32::from(victim.0 >= cache.static_end);
        let written = board.nand().state().block(victim).programmed;
        board.event(Event::SlcDeadPages, u64::from(written - folded));
        board.event(if folded > 0 { Event::SlcFolds } else { Event::SlcDeadBlocks }, 1);
        self.stream_of[victim.index()] = 0;
        let erased = self.release(board, victim, BlockRole::Data, cause, done)?;
        self.tell_cache(board);
        Ok(erased)
    }

    /// Folds a block that is due to be refreshed, as a whole; none where the free blocks do not
    /// hold it.
    pub(in super::super) fn refresh_cached<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        victim: BlockId,
        after: When,
    ) -> Result<Option<When>, Fault> {
        let plane = board.geometry().plane_of_block(victim);
        if !self.fold_fits(board, owner, victim) {
            return Ok(None);
        }
        if self.planes[plane.index()].frontiers[Stream::Slc.index()].block == Some(victim) {
            self.close_cache(board.nand(), plane);
        }
        let ready = board.finish_flash_page(victim, Cause::Refresh, after);
        self.fold(board, owner, (victim, u32::MAX), Cause::Refresh, ready).map(Some)
    }

    /// One step of folding in an idle gap, in the first plane whose cache is fuller than it should
    /// be then; none: there is nothing to do.
    pub(in super::super) fn fold_idle<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        after: When,
    ) -> Result<Option<When>, Fault> {
        let Some(low) = self.slc.as_ref().map(|slc| slc.fold_low) else { return Ok(None) };
        for turn in 0..self.planes.len() as u32 {
            let plane = PlaneId((self.idle_turn + turn) % self.planes.len() as u32);
            let (limit, used) = self.cache_blocks(plane);
            let begun =
                self.slc.as_ref().is_some_and(|it| it.planes[plane.index()].begun.is_some());
            if !begun && !self.cache_has_dead(plane) && used <= part(limit, low) {
                continue;
            }
            let ready = match self.make_fold_room(board, owner, plane, after) {
                Ok(ready) => ready,
                Err(fault) => return fault.unless_worn_out(),
            };
            let Some(victim) = self.fitting_victim(board, owner, (plane, false)) else { continue };
            self.idle_turn = (plane.0 + 1) % self.planes.len() as u32;
            let target = (victim, self.idle_pages);
            return self.fold(board, owner, target, Cause::Fold, ready).map(Some);
        }
        Ok(None)
    }
}
