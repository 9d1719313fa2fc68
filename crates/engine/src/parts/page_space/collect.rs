//! Collecting garbage: which victim fits, what moves where, and when it is enough.

use super::{Moved, PageOwner, PageSpace, Stream};
use crate::board::nand::Nand;
use crate::board::nand::fault::Fault;
use crate::board::nand::state::OobRead;
use crate::board::when::When;
use crate::board::{Board, Search};
use crate::config::GcMode;
use crate::meter::{BlockRole, Cause, Event};
use crate::units::{BlockId, PlaneId};

impl PageSpace {
    #[cold]
    pub(super) fn collect_until<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        plane: PlaneId,
        limit: u32,
        after: When,
    ) -> Result<When, Fault> {
        let mut when = after;
        self.close_full(board.nand(), plane);
        // Every collection gains at least one page; this many gain a whole plane.
        let most = self.blocks_per_plane.saturating_mul(self.pages_per_block);
        for _ in 0..most {
            if self.planes[plane.index()].free.len() >= limit {
                break;
            }
            let (victim, found) = self.choose_that_fits(board, owner, plane, when);
            let Some(victim) = victim else {
                if self.planes[plane.index()].free.is_empty() {
                    return Err(self.out_of_blocks(board, plane));
                }
                break;
            };
            when = self.collect(board, owner, victim, found)?;
            when = self.level(board, owner, plane, when)?;
        }
        Ok(when)
    }

    /// Collects one victim while the device is idle; `None` when there is nothing worth doing.
    pub fn collect_idle<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        after: When,
    ) -> Result<Option<When>, Fault> {
        if self.mode == GcMode::Foreground {
            return Ok(None);
        }
        for _ in 0..self.planes.len() {
            let plane = PlaneId(self.idle_turn % self.planes.len() as u32);
            self.idle_turn = (self.idle_turn + 1) % self.planes.len() as u32;
            let known = &self.planes[plane.index()];
            if known.free.len() >= known.threshold.saturating_mul(self.idle_factor)
                || known.free.len() < 2
            {
                continue;
            }
            // Idle time is free, erase cycles are not: a victim must be at least half garbage.
            let (victim, found) = self.choose(board, plane, after);
            let victim = victim
                .filter(|&block| board.nand().valid_pages(block) * 2 <= self.pages_per_block)
                .filter(|&block| self.fits(board, owner, block));
            if let Some(victim) = victim {
                board.event(Event::IdleVictims, 1);
                let collected = self.collect(board, owner, victim, found)?;
                return self.level(board, owner, plane, collected).map(Some);
            }
        }
        Ok(None)
    }

    fn choose(
        &mut self,
        board: &mut Board,
        plane: PlaneId,
        after: When,
    ) -> (Option<BlockId>, When) {
        let choice = self.planes[plane.index()].victims.choose(board.nand(), &mut self.rng);
        (choice.victim, board.search(Search::Block, choice.steps, after))
    }

    /// The policy's victim, unless moving it would use up the last free blocks: then the candidate
    /// with the fewest valid pages that fits.
    fn choose_that_fits<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        plane: PlaneId,
        after: When,
    ) -> (Option<BlockId>, When) {
        let (choice, found) = self.choose(board, plane, after);
        let victim = choice.and_then(|victim| {
            if self.fits(board, owner, victim) {
                return Some(victim);
            }
            self.closed_blocks(board, plane)
                .filter(|&block| self.fits(board, owner, block))
                .min_by_key(|&block| (board.nand().valid_pages(block), !self.is_map(block)))
        });
        (victim, found)
    }

    pub(super) fn is_map(&self, block: BlockId) -> bool {
        self.stream_of[block.index()] == Stream::Map as u8 + 1
    }

    /// Whether the free blocks hold all that collecting `victim` writes.
    fn fits<O: PageOwner>(&self, board: &Board, owner: &mut O, victim: BlockId) -> bool {
        let plane = &self.planes[board.geometry().plane_of_block(victim).index()];
        let valid = board.nand().valid_pages(victim);
        let blocks = |stream: Stream, pages: u32| {
            let frontier = plane.frontiers[stream as usize];
            let left = frontier.block.map_or(0, |_| self.pages_per_block - frontier.next);
            pages.saturating_sub(left).div_ceil(self.pages_per_block)
        };
        let free = plane.free.len();
        if self.is_map(victim) {
            return blocks(Stream::Map, valid) <= free;
        }
        let moved = blocks(self.moved_data, valid);
        // At most one map page per page moved; only when that is too much are they counted.
        moved + blocks(Stream::Map, valid) <= free
            || moved + blocks(Stream::Map, owner.map_writes(self, board, victim)) <= free
    }

    /// Moves every valid page of a victim, lets the owner finish, and erases it.
    fn collect<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        victim: BlockId,
        after: When,
    ) -> Result<When, Fault> {
        let plane = board.geometry().plane_of_block(victim);
        let is_map = self.is_map(victim);
        let (stream, cause) =
            if is_map { (Stream::Map, Cause::GcMapBlock) } else { (self.moved_data, Cause::Gc) };
        let (copied, done) = self.empty(board, owner, (victim, stream), cause, after)?;
        board.victim(copied);
        self.adapt(plane, copied);
        let role = if is_map { BlockRole::Map } else { BlockRole::Data };
        self.release(board, victim, role, cause, done)
    }

    /// Moves every valid page of a block to a stream and lets the owner finish; returns how many
    /// pages that were. The block is no candidate any more and can be erased.
    pub(super) fn empty<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        (victim, stream): (BlockId, Stream),
        cause: Cause,
        after: When,
    ) -> Result<(u32, When), Fault> {
        self.is_candidate_no_more(board.nand(), victim);
        self.moving = true;
        let moved = self.move_pages(board, owner, (victim, stream), cause, after);
        self.moving = false;
        let (copied, mut done) = moved?;
        if !self.is_map(victim) && copied > 0 {
            self.collecting = Some(victim);
            let finished = owner.before_erase(self, board, done);
            self.collecting = None;
            done = finished?;
        }
        self.stream_of[victim.index()] = 0;
        Ok((copied, done))
    }

    fn move_pages<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        (victim, stream): (BlockId, Stream),
        cause: Cause,
        after: When,
    ) -> Result<(u32, When), Fault> {
        let plane = board.geometry().plane_of_block(victim);
        let mut copied = 0;
        let mut done = after;
        let mut offset = 0;
        while let Some(old) = board.nand().state().next_valid(victim, offset) {
            offset = board.geometry().offset_of(old) + 1;
            let OobRead::Written(oob) = board.nand().state().oob(old) else {
                unreachable!("a valid page is readable");
            };
            if !owner.wants(oob.kind, oob.logical, old) {
                board.nand_mut().discard(old);
                self.planes[plane.index()].valid -= 1;
                continue;
            }
            let (new, moved) =
                self.program(board, (plane, stream), after, |board, new, ready| {
                    board.copy(old, new, oob.kind, cause, ready)
                })?;
            done = done.join(moved);
            if oob.kind.is_host_data() {
                board.nand_mut().discard(old);
            }
            self.planes[plane.index()].valid -= 1;
            owner.moved(board, Moved { logical: oob.logical, kind: oob.kind, old, new });
            copied += 1;
        }
        Ok((copied, done))
    }

    /// Erases a block that holds nothing valid and puts it back into the free pool, or retires it.
    pub(super) fn release(
        &mut self,
        board: &mut Board,
        block: BlockId,
        role: BlockRole,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let plane = board.geometry().plane_of_block(block);
        match board.erase(block, role, cause, after) {
            Ok(done) => {
                self.planes[plane.index()].free.put(board.nand(), block);
                if let Some(levelling) = &mut self.levelling {
                    levelling.erased(plane, board.nand().state().block(block).erases);
                }
                Ok(done)
            }
            Err(Fault::EraseFailed { known, .. }) => {
                board.event(Event::EraseFailures, 1);
                self.planes[plane.index()].retired += 1;
                Ok(known)
            }
            Err(fault) => Err(fault),
        }
    }

    /// The threshold follows what victims cost: a block lower after one that was mostly valid (wait
    /// for more pages to die), a block higher after one that was mostly garbage (keep a reserve for
    /// bursts). DFTL 2014, 3.3 says that it can be adjusted, not how; the rule is ours.
    fn adapt(&mut self, plane: PlaneId, copied: u32) {
        if !self.adaptive {
            return;
        }
        let (lowest, highest) = self.threshold;
        let threshold = &mut self.planes[plane.index()].threshold;
        if copied * 2 >= self.pages_per_block {
            *threshold = (*threshold - 1).max(lowest);
        } else if copied * 4 <= self.pages_per_block {
            *threshold = (*threshold + 1).min(highest);
        }
    }

    /// Sees to it, in the middle of a collection, that a plane can take a map page without its last
    /// free block, by collecting map blocks there: their pages need no map update, so this never
    /// calls itself. A plane whose map blocks hold no garbage is left as it is.
    pub fn make_map_room<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        plane: PlaneId,
        after: When,
    ) -> Result<When, Fault> {
        // The only plane has room: the victim was chosen so that it fits.
        if self.planes.len() == 1 {
            return Ok(after);
        }
        let mut when = after;
        self.close_full(board.nand(), plane);
        for _ in 0..self.blocks_per_plane {
            let known = &self.planes[plane.index()];
            let frontier = known.frontiers[Stream::Map as usize];
            let has_page = frontier.block.is_some() && frontier.next < self.pages_per_block;
            if has_page || known.free.len() > 2 {
                break;
            }
            let garbage = self
                .closed_blocks(board, plane)
                .filter(|&block| self.is_map(block))
                .min_by_key(|&block| board.nand().valid_pages(block));
            let Some(victim) = garbage.filter(|&block| self.fits(board, owner, block)) else {
                break;
            };
            when = self.collect(board, owner, victim, when)?;
        }
        Ok(when)
    }

    /// Closed blocks of a plane that hold an invalid page.
    fn closed_blocks<'a>(
        &'a self,
        board: &'a Board,
        plane: PlaneId,
    ) -> impl Iterator<Item = BlockId> + 'a {
        let known = &self.planes[plane.index()];
        let open = |block| known.frontiers.iter().any(|frontier| frontier.block == Some(block));
        board
            .geometry()
            .blocks_of(plane)
            .map(BlockId)
            .filter(|&block| self.stream_of[block.index()] != 0 && Some(block) != self.collecting)
            .filter(move |&block| !open(block))
            .filter(|&block| board.nand().valid_pages(block) < self.pages_per_block)
    }

    /// Full blocks of every stream become candidates.
    fn close_full(&mut self, nand: &Nand, plane: PlaneId) {
        for stream in [Stream::Data, Stream::MovedData, Stream::Map] {
            let frontier = self.planes[plane.index()].frontiers[stream as usize];
            if frontier.block.is_some() && frontier.next == self.pages_per_block {
                self.close(nand, plane, stream);
            }
        }
    }
}
