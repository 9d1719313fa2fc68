//! Collecting garbage: which victim fits, what moves where, and when it is enough.

use super::{Moved, PageOwner, PageSpace, Stream};
use ftlab_flash::board::nand::Nand;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::run::Mover;
use ftlab_flash::board::nand::state::OobRead;
use ftlab_flash::board::when::When;
use ftlab_flash::board::{Board, Search};
use ftlab_flash::meter::{BlockRole, Cause, Event};
use ftlab_flash::units::{BlockId, Lpn, PlaneId, Ppn};

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
            self.collect_siblings(board, owner, plane, limit, when)?;
            when = own.unwrap_or(when);
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
                    return Err(self.out_of_blocks(board, plane));
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
        let plane = board.geometry().plane_of_block(victim);
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
        let Some(victim) = choice else { return (None, found) };
        if self.fits(board, owner, victim) {
            let (lightest, found) = self.choose_lightest(board, owner, victim, found);
            return (Some(lightest), found);
        }
        let fitting = self
            .closed_blocks(board, plane)
            .filter(|&block| self.fits(board, owner, block))
            .min_by_key(|&block| (board.nand().valid_pages(block), !self.is_map(block)));
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
        let Some(weight) = owner.weight(board, victim) else { return (victim, found) };
        if self.is_map(victim) || weight == 0 {
            return (victim, found);
        }
        let plane = board.geometry().plane_of_block(victim);
        let equals = self.planes[plane.index()].victims.equals(board.nand(), victim);
        let (mut best, mut looked_at) = ((weight, victim), 0);
        for &block in equals.blocks().iter().filter(|&&block| !self.is_map(block)) {
            looked_at += 1;
            let weight = owner.weight(board, block).unwrap_or(u32::MAX);
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
        let plane = &self.planes[board.geometry().plane_of_block(victim).index()];
        let valid = board.nand().valid_pages(victim);
        let blocks = |stream: Stream, pages: u32| {
            let frontier = plane.frontiers[stream.index()];
            let left = frontier.block.map_or(0, |_| self.pages_per_block - frontier.next);
            pages.saturating_sub(left).div_ceil(self.pages_per_block)
        };
        let free = plane.free.len();
        if self.is_map(victim) {
            return blocks(Stream::Map, valid) <= free;
        }
        let lent = self.blocks_with_loans(board.geometry().plane_of_block(victim), valid);
        let moved = lent.unwrap_or_else(|| blocks(self.moved_data, valid));
        // Most owners write at most a map page per page moved; only when that is too much are they
        // counted.
        moved + blocks(Stream::Map, owner.most_map_writes(self, victim, valid)) <= free
            || moved + blocks(Stream::Map, owner.map_writes(self, board, victim)) <= free
    }

    /// Where the pages of a victim go (none: each is asked for by itself), and why.
    pub(super) fn destination(&mut self, nand: &Nand, victim: BlockId) -> (Option<Stream>, Cause) {
        if self.is_map(victim) {
            return (Some(Stream::Map), Cause::GcMapBlock);
        }
        (self.data_goes(nand, victim), Cause::Gc)
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
        let (stream, cause) = self.destination(board.nand(), victim);
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
        self.adapt(board.geometry().plane_of_block(victim), copied);
        let cause = if role == BlockRole::Map { Cause::GcMapBlock } else { Cause::Gc };
        self.release(board, victim, role, cause, after)
    }

    pub(super) fn role(&self, block: BlockId) -> BlockRole {
        if self.is_map(block) { BlockRole::Map } else { BlockRole::Data }
    }

    /// Moves every valid page of a block to a stream and lets the owner finish; returns how many
    /// pages that were. The block is no candidate any more and can be erased.
    pub(super) fn empty<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        (victim, stream): (BlockId, Option<Stream>),
        cause: Cause,
        after: When,
    ) -> Result<(u32, When), Fault> {
        self.is_candidate_no_more(board.nand(), victim);
        let moved = self.move_some(board, owner, (victim, stream, u32::MAX), cause, after)?;
        if cause == Cause::Gc {
            self.note_collected(board, victim, moved.0);
        }
        self.stream_of[victim.index()] = 0;
        Ok(moved)
    }

    /// Moves up to `most` valid pages of a block and lets the owner update the map; returns how
    /// many pages that were.
    pub(super) fn move_some<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        (victim, stream, most): (BlockId, Option<Stream>, u32),
        cause: Cause,
        after: When,
    ) -> Result<(u32, When), Fault> {
        self.moving = true;
        let moved = self.move_valid(board, owner, (victim, stream, most), cause, after);
        self.moving = false;
        let (copied, mut done) = moved?;
        if !self.is_map(victim) && copied > 0 {
            self.collecting = Some(victim);
            let finished = owner.before_erase(self, board, done);
            self.collecting = None;
            done = finished?;
        }
        Ok((copied, done))
    }

    /// In runs as long as all pages can move together, the rest one by one.
    fn move_valid<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        (victim, stream, most): (BlockId, Option<Stream>, u32),
        cause: Cause,
        after: When,
    ) -> Result<(u32, When), Fault> {
        if owner.sorts() && !self.is_map(victim) {
            return self.move_sorted(board, owner, (victim, stream, most), cause, after);
        }
        let (mut copied, mut done) = (0, after);
        // Pages that are asked for one by one move one by one.
        while let (Some(stream), Some(words)) = (stream, Self::moves_together(board, owner, victim))
        {
            let mut count = board.nand().valid_pages(victim).min(most - copied);
            if count == 0 {
                return Ok((copied, done));
            }
            if !owner.wants_all() {
                count -= self.drop_unwanted(board, owner, victim, count);
            }
            let moved =
                self.move_run(board, owner, (victim, words, stream, count), cause, after)?;
            done = done.join(moved);
            copied += count;
        }
        let left = (victim, stream, most - copied);
        let (others, moved) = self.move_pages(board, owner, left, cause, after)?;
        Ok((copied + others, done.join(moved)))
    }

    /// Whether the valid pages of a block can move together, and hold words.
    fn moves_together<O: PageOwner>(board: &Board, owner: &O, victim: BlockId) -> Option<bool> {
        let can = board.nand().moves_runs() && !owner.holds_newer();
        if can { board.nand().hold_words(victim) } else { None }
    }

    /// Of the first `count` valid pages of a block those that the owner knows to be superseded die
    /// where they are: how many.
    fn drop_unwanted<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        victim: BlockId,
        count: u32,
    ) -> u32 {
        let (unwanted, mut seen) = (&mut self.unwanted, 0);
        unwanted.clear();
        board.nand().state().each_valid(victim, |old, logical, kind| {
            seen += 1;
            if seen <= count && !owner.wants(kind, logical, old) {
                unwanted.push(old);
            }
        });
        assert!(seen >= count, "{count} of the valid pages of block {victim} can be read");
        for &old in unwanted.iter() {
            board.nand_mut().discard(old);
        }
        let dropped = unwanted.len() as u32;
        self.planes[board.geometry().plane_of_block(victim).index()].valid -= dropped;
        dropped
    }

    /// The same as [`PageSpace::move_pages`] of the first `count` valid pages of a block.
    fn move_run<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        (victim, words, stream, count): (BlockId, bool, Stream, u32),
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let plane = board.geometry().plane_of_block(victim);
        let at_once = owner.at_once();
        let mut done = after;
        let mut left = count;
        while left > 0 {
            let (first, count) = self.next_pages(board, (plane, stream), left)?;
            self.count_moved(board, stream, count);
            let movers = &mut self.movers;
            movers.clear();
            board.move_valid((victim, words), (first, count), cause, movers);
            if at_once {
                done = done.join(board.time_moves((victim, movers), first, cause, after));
            }
            for (new, mover) in (first.0..).map(Ppn).zip(movers) {
                if !at_once {
                    mover.done = board.time_move((mover.old, new), cause, owner.may_move(after));
                    done = done.join(mover.done);
                }
                let Mover { old, logical, kind, done: moved } = *mover;
                owner.moved(board, Moved { logical, kind, old, new, done: moved, newer: false });
            }
            if self.tells_of_pages() {
                self.note_run_placed(board.nand(), first);
            }
            left -= count;
        }
        Ok(done)
    }

    fn move_pages<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        (victim, stream, most): (BlockId, Option<Stream>, u32),
        cause: Cause,
        after: When,
    ) -> Result<(u32, When), Fault> {
        let mut copied = 0;
        let mut done = after;
        let mut offset = 0;
        while copied < most
            && let Some(old) = board.nand().state().next_valid(victim, offset)
        {
            offset = board.geometry().offset_of(old) + 1;
            let moved = self.move_page(board, owner, (victim, stream, old), cause, after)?;
            copied += u32::from(moved.is_some());
            done = moved.map_or(done, |moved| done.join(moved));
        }
        Ok((copied, done))
    }

    /// Moves a valid page of a victim and tells its owner; none if it dies where it is.
    #[inline]
    pub(super) fn move_page<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        (victim, stream, old): (BlockId, Option<Stream>, Ppn),
        cause: Cause,
        after: When,
    ) -> Result<Option<When>, Fault> {
        let plane = board.geometry().plane_of_block(victim);
        let OobRead::Written(oob) = board.nand().state().oob(old) else {
            unreachable!("a valid page is readable");
        };
        if !owner.wants(oob.kind, oob.logical, old) {
            board.nand_mut().discard(old);
            self.planes[plane.index()].valid -= 1;
            return Ok(None);
        }
        let newer = if oob.kind.is_host_data() { owner.newer(oob.logical) } else { None };
        let stream = stream.unwrap_or_else(|| self.moved_stream(victim, Lpn(oob.logical)));
        self.count_moved(board, stream, 1);
        let ready = owner.may_move(after);
        let (new, moved) = match newer {
            Some(newer) => {
                let io = newer.page(Lpn(oob.logical), cause);
                let from = ready.waits_for_buffer(newer.ready);
                self.program(board, (plane, stream), from, |board, new, ready| {
                    board.program_update(new, None, &io, oob.kind, ready)
                })?
            }
            None => self.program(board, (plane, stream), ready, |board, new, ready| {
                board.copy(old, new, oob.kind, cause, ready)
            })?,
        };
        if oob.kind.is_host_data() {
            board.nand_mut().discard(old);
        }
        self.planes[plane.index()].valid -= 1;
        let (logical, kind, newer) = (oob.logical, oob.kind, newer.is_some());
        if self.tells_of_pages() && kind.is_host_data() {
            self.note_placed(board.nand(), Lpn(logical), new);
        }
        owner.moved(board, Moved { logical, kind, old, new, done: moved, newer });
        Ok(Some(moved))
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
