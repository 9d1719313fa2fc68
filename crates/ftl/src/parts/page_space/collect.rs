//! Collecting garbage: which victim fits, what moves where, and when it is enough. Only victims
//! that fit are taken.

use super::{PageOwner, PageSpace, Stream};
use crate::parts::victim::{Census, Heats};
use ftlab_flash::board::nand::Nand;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::board::{Board, Search};
use ftlab_flash::meter::{BlockRole, Cause, Event};
use ftlab_flash::units::{BlockId, PlaneId};

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
        let mut when = self.finish_paused(board, owner, plane, after)?;
        self.close_full(board.nand(), plane);
        when = self.shrink_cache(board, owner, (plane, limit), when)?;
        if self.by_die && self.planes[plane.index()].free.len() < limit {
            // After this plane's own victim in call order, from the same moment in time.
            let own = self.collect_one(board, owner, plane, when)?;
            let own = own.unwrap_or(when);
            self.collect_siblings(board, owner, plane, limit, when)
                .map_err(|fault| fault.not_before(own))?;
            when = own;
        }
        // Every collection gains at least one page; this many gain a whole plane.
        let most = self.blocks_per_plane.saturating_mul(self.pages_per_block);
        for _ in 0..most {
            if self.planes[plane.index()].free.len() >= limit {
                break;
            }
            match self.collect_one(board, owner, plane, when)? {
                Some(collected) => when = collected,
                None if self.planes[plane.index()].free.is_empty() => {
                    return Err(self.out_of_blocks(board, plane).not_before(when));
                }
                None => break,
            }
        }
        Ok(when)
    }

    /// Collects the best victim of a plane, and levels its wear; `None` when no victim fits.
    fn collect_one<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        plane: PlaneId,
        after: When,
    ) -> Result<Option<When>, Fault> {
        let after = self.regroup(board, after)?;
        let (victim, found) = self.choose_that_fits(board, owner, plane, after);
        let Some(victim) = victim else { return Ok(None) };
        self.collect_and_level(board, owner, victim, found).map(Some)
    }

    /// Collects this victim, and levels the wear of its plane.
    pub(super) fn collect_and_level<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        victim: BlockId,
        after: When,
    ) -> Result<When, Fault> {
        let plane = self.plane_of_unit(board.nand(), victim);
        let collected = self.collect(board, owner, victim, after)?;
        self.level(board, owner, plane, collected)
    }

    /// Collects a victim in every other plane of the die that is within a block of its own
    /// collection, so that multi-plane commands can serve them together. Nobody waits for these.
    fn collect_siblings<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        plane: PlaneId,
        limit: u32,
        after: When,
    ) -> Result<(), Fault> {
        for sibling in board.geometry().siblings(plane) {
            if self.planes[sibling.index()].free.len() <= limit {
                self.close_full(board.nand(), sibling);
                let _ = self.collect_one(board, owner, sibling, after)?;
            }
        }
        Ok(())
    }

    pub(super) fn choose(
        &mut self,
        board: &mut Board,
        plane: PlaneId,
        after: When,
    ) -> (Option<BlockId>, When) {
        if let Some(victim) = self.victim_of_queues(board, plane) {
            return (Some(victim), board.search(Search::Block, 1, after));
        }
        let (choice, found) = self.choose_beside_queues(board, plane, after);
        (choice.or_else(|| self.any_in_queues(board.nand(), plane)), found)
    }

    /// The victim of `gc.victim`, among those that wait in no queue.
    pub(super) fn choose_beside_queues(
        &mut self,
        board: &mut Board,
        plane: PlaneId,
        after: When,
    ) -> (Option<BlockId>, When) {
        let heats = self.placing.as_deref().map(|placing| placing as &dyn Heats);
        let lines = self.lines.as_ref().map(|lines| &lines.book);
        let census = Census::new(board.nand(), lines).with_heats(heats);
        let choice = self.planes[plane.index()].victims.choose(&census, &mut self.rng);
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
        let Some(victim) = choice else { return (None, found) };
        if self.fits(board, owner, victim) {
            let (lightest, found) = self.choose_lightest(board, owner, victim, found);
            return (Some(lightest), found);
        }
        // What a block writes is counted only where it would be the best: there are many of them.
        let mut best: Option<((u32, bool), BlockId)> = None;
        for block in self.closed_blocks(board, plane) {
            let key = (self.census(board.nand()).valid_pages(block), !self.is_map(block));
            let is_better = block != victim && best.is_none_or(|(least, _)| key < least);
            if is_better && self.fits(board, owner, block) {
                best = Some((key, block));
            }
        }
        let fitting = best.map(|(_, block)| block);
        (fitting, found)
    }

    /// Among the data blocks that the policy finds as good as its victim, the first few of them,
    /// the one that its owner finds lightest. The policy's choice is never overruled otherwise.
    pub(super) fn choose_lightest<O: PageOwner>(
        &self,
        board: &mut Board,
        owner: &mut O,
        victim: BlockId,
        found: When,
    ) -> (BlockId, When) {
        let Some(weight) = owner.weight(self, board, victim) else { return (victim, found) };
        if self.is_map(victim) || weight == 0 || self.is_queued(victim) {
            return (victim, found);
        }
        let plane = self.plane_of_unit(board.nand(), victim);
        let census = self.census(board.nand());
        let equals = self.planes[plane.index()].victims.equals(&census, victim);
        let (mut best, mut looked_at) = ((weight, victim), 0);
        for &block in equals.blocks().iter().filter(|&&block| !self.is_map(block)) {
            looked_at += 1;
            let weight = owner.weight(self, board, block).unwrap_or(u32::MAX);
            if weight < best.0 && self.fits(board, owner, block) {
                best = (weight, block);
            }
        }
        (best.1, board.search(Search::Block, looked_at, found))
    }

    pub(super) fn is_map(&self, block: BlockId) -> bool {
        self.stream_of[block.index()] == Stream::Map.mark()
    }

    /// Whether the free blocks hold all that collecting `victim` writes.
    pub(super) fn fits<O: PageOwner>(&self, board: &Board, owner: &mut O, victim: BlockId) -> bool {
        let valid = self.valid_in(board.nand(), victim);
        // Most owners write at most a map page per page moved; only when that is too much are they
        // counted.
        let most = owner.most_map_writes(self, victim, valid);
        self.holds_moved(board, victim, most) || {
            let writes = owner.map_writes(self, board, victim);
            self.holds_moved(board, victim, writes)
        }
    }

    /// Whether a piece of a victim can move: the rest must fit even when the host has filled up all
    /// that is open by then, and what one piece writes of the map the next may write again.
    pub(super) fn fits_in_pieces<O: PageOwner>(
        &self,
        board: &Board,
        owner: &mut O,
        victim: BlockId,
    ) -> bool {
        if self.idle_pages == u32::MAX {
            return self.fits(board, owner, victim);
        }
        let plane = self.plane_of_unit(board.nand(), victim);
        let valid = self.valid_in(board.nand(), victim);
        let piece = valid.min(self.idle_pages);
        let at_once = owner.map_writes(self, board, victim);
        let map_pages = match at_once {
            0 => 0,
            _ => owner.most_map_writes(self, victim, valid).max(at_once),
        };
        let opens = |stream: Stream, pages: u32| self.opens((plane, stream), pages);
        let (moved, rest) = match self.is_map(victim) {
            true => (opens(Stream::Map, piece), self.units_for(valid - piece)),
            false => {
                let map_piece = map_pages.min(piece);
                let moved = opens(self.moved_data, piece) + opens(Stream::Map, map_piece);
                (moved, self.units_for(valid - piece) + self.units_for(map_pages - map_piece))
            }
        };
        let free = self.planes[plane.index()].free.len();
        moved + rest <= free && self.fits(board, owner, victim)
    }

    /// Whether the free blocks hold the valid pages of a victim and so many map pages.
    fn holds_moved(&self, board: &Board, victim: BlockId, map_pages: u32) -> bool {
        let plane = self.plane_of_unit(board.nand(), victim);
        let valid = self.valid_in(board.nand(), victim);
        let valid = valid + self.skipped_for(valid);
        let free = self.planes[plane.index()].free.len();
        if self.is_map(victim) {
            return self.opens((plane, Stream::Map), valid) <= free;
        }
        self.opens_moved(plane, valid) + self.opens((plane, Stream::Map), map_pages) <= free
    }

    /// Where the pages of a victim go that is collected or refreshed (none: each is asked for by
    /// itself), and why they do when it is collected.
    pub(super) fn destination(
        &mut self,
        nand: &Nand,
        victim: BlockId,
        why: Cause,
    ) -> (Option<Stream>, Cause) {
        if self.is_map(victim) {
            return (Some(Stream::Map), Cause::GcMapBlock);
        }
        (self.data_goes(nand, victim, why), Cause::Gc)
    }

    /// Moves every valid page of a victim, lets the owner finish, and erases it.
    pub(super) fn collect<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        victim: BlockId,
        after: When,
    ) -> Result<When, Fault> {
        let role = self.role(victim);
        let (stream, cause) = self.destination(board.nand(), victim, Cause::Gc);
        let (copied, done) = self.empty(board, owner, (victim, stream), cause, after)?;
        self.reclaimed(board, (victim, role), copied, done)
    }

    /// A block was emptied: counts the victim and erases it.
    pub(super) fn reclaimed(
        &mut self,
        board: &mut Board,
        (victim, role): (BlockId, BlockRole),
        copied: u32,
        after: When,
    ) -> Result<When, Fault> {
        board.victim(copied);
        self.reclaimed += 1;
        self.adapt(self.plane_of_unit(board.nand(), victim), copied);
        let cause = if role == BlockRole::Map { Cause::GcMapBlock } else { Cause::Gc };
        let after = self.parity_before_erase(board, copied, after)?;
        self.release(board, victim, role, cause, after)
    }

    /// What was flushed once keeps its parity, where no capacitor saves that of its copies, or of
    /// what the owner wrote instead.
    pub(super) fn parity_before_erase(
        &mut self,
        board: &mut Board,
        copied: u32,
        after: When,
    ) -> Result<When, Fault> {
        let wrote = std::mem::take(&mut self.wrote_for_erase);
        if copied > 0 || wrote { self.flush_parity(board, after) } else { Ok(after) }
    }

    pub(super) fn role(&self, block: BlockId) -> BlockRole {
        if self.is_map(block) { BlockRole::Map } else { BlockRole::Data }
    }

    /// Moves every valid page of a block to a stream and lets the owner finish; returns how many
    /// pages that were. The block is no candidate any more and can be erased; where a fault left
    /// pages in it, it is one again.
    pub(super) fn empty<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        (victim, stream): (BlockId, Option<Stream>),
        cause: Cause,
        after: When,
    ) -> Result<(u32, When), Fault> {
        self.is_candidate_no_more(board.nand(), victim);
        let moved = self.move_some(board, owner, (victim, stream, u32::MAX), cause, after);
        let Ok((copied, _)) = moved else {
            self.put_up(board.nand(), victim);
            self.is_in_use(board.nand(), victim);
            return moved;
        };
        if cause == Cause::Gc {
            self.note_collected(board, victim, copied);
        }
        self.stream_of[victim.index()] = 0;
        moved
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
        self.note_released(block);
        if let Some(lines) = &mut self.lines {
            lines.not_in_use(block);
            self.line_of_group_freed(block);
            return self.release_line(board, block, (role, cause), after);
        }
        let plane = self.plane_of_unit(board.nand(), block);
        match board.erase(block, role, cause, after) {
            Ok(done) => {
                let is_levelled = self.put_back(board.nand(), block, plane);
                if let Some(levelling) = self.levelling.as_mut().filter(|_| is_levelled) {
                    levelling.erased(plane, board.nand().state().block(block).erases);
                }
                Ok(done)
            }
            Err(Fault::EraseFailed { known, .. }) => {
                board.event(Event::EraseFailures, 1);
                self.note_retired(block, plane);
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
}
