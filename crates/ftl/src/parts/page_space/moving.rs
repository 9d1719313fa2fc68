//! Moving the valid pages of a block or a line: in runs where all can move together, else one by
//! one.

use super::{Moved, PageOwner, PageSpace, Stream};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::Nand;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::state::OobRead;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{Cause, Event};
use ftlab_flash::units::{BlockId, Lpn, PlaneId, Ppn};

impl PageSpace {
    /// Moves up to `most` valid pages of a block and lets the owner update the map; returns how
    /// many pages that were. The map is told of what was moved, whatever ended it.
    pub(super) fn move_some<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        (victim, stream, most): (BlockId, Option<Stream>, u32),
        cause: Cause,
        after: When,
    ) -> Result<(u32, When), Fault> {
        self.moving = true;
        self.skips = self.skips.map(|_| self.skipped_for(self.valid_in(board.nand(), victim)));
        let moved = self.move_valid(board, owner, (victim, stream, most), cause, after);
        self.skips = self.skips.map(|_| 0);
        self.moving = false;
        let (copied, done) = match moved {
            Ok(moved) => moved,
            Err(fault) => {
                // What was moved before it is on its way.
                let moved = self.moves_end(board, victim, after);
                let told = match self.is_map(victim) {
                    true => Ok(moved),
                    false => self.tell_moved(board, owner, victim, moved),
                };
                let told = told.or_else(|second| second.goes_on_without(moved));
                return Err(fault.not_before(told.unwrap_or(moved)));
            }
        };
        if self.is_map(victim) || (copied == 0 && !owner.waits_for_every_erase()) {
            return Ok((copied, done));
        }
        self.tell_moved(board, owner, victim, done).map(|done| (copied, done))
    }

    /// When all is on flash that was moved out of a block from `after` on: copies stay in its
    /// plane, those of a line go anywhere.
    #[cold]
    fn moves_end(&self, board: &mut Board, victim: BlockId, after: When) -> When {
        let geometry = board.geometry();
        let plane = geometry.plane_of_block(victim).0;
        let planes = if self.lines.is_some() { 0..geometry.planes() } else { plane..plane + 1 };
        planes.map(PlaneId).fold(after, |when, plane| board.nand_mut().behind_plane(plane, when))
    }

    /// Pages of a data victim were moved: lets the owner write what flash must know.
    fn tell_moved<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        victim: BlockId,
        after: When,
    ) -> Result<When, Fault> {
        self.collecting = Some(victim);
        let before = board.nand().sequence();
        let finished = owner.before_erase(self, board, after);
        self.wrote_for_erase |= board.nand().sequence() > before;
        self.collecting = None;
        finished
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
        while let (Some(stream), Some(words)) = (stream, self.moves_together(board, owner, victim))
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
    fn moves_together<O: PageOwner>(
        &self,
        board: &Board,
        owner: &O,
        victim: BlockId,
    ) -> Option<bool> {
        // Neighbours in a line are in blocks of their own.
        let can = board.nand().moves_runs()
            && !(owner.holds_newer() || owner.renames())
            && self.lines.is_none();
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
        let plane = self.plane_of_unit(board.nand(), victim);
        let mut done = after;
        let mut left = count;
        while left > 0 {
            let (first, count) = self.next_pages(board, (plane, stream), left)?;
            self.count_moved(board, stream, count);
            let movers = &mut self.movers;
            movers.clear();
            board.move_valid((victim, words), (first, count), cause, movers);
            let at_once = owner.at_once(board);
            if at_once {
                done = done.join(board.time_moves((victim, movers), first, cause, after));
            }
            // What holds words has the number of something else than a page of the host.
            if !words {
                owner.glance_at(movers);
            }
            match (at_once, words) {
                (true, false) => owner.run_moved(board, first, movers),
                (true, true) => owner.words_moved(board, first, movers),
                (false, _) => {
                    for (new, mover) in (first.0..).map(Ppn).zip(movers) {
                        let moved = board.time_move((mover.old, new), cause, owner.may_move(after));
                        mover.done = moved.into();
                        done = done.join(moved);
                        owner.moved(board, Moved::of(mover, new));
                    }
                }
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
        if self.lines.is_some() {
            return self.move_pages_of_line(board, owner, (victim, stream, most), cause, after);
        }
        let mut copied = 0;
        let mut done = after;
        let mut offset = 0;
        while copied < most
            && let Some(old) = board.nand().state().next_valid(victim, offset)
        {
            offset = board.geometry().offset_of(old) + 1;
            if let Some(moved) =
                self.move_page(board, owner, (victim, stream, old), cause, after)?
            {
                done = done.join(moved);
                copied += 1;
            }
        }
        Ok((copied, done))
    }

    /// Moves one valid page, unless the owner knows that it is superseded: then it dies where it
    /// is.
    #[inline(always)]
    pub(super) fn move_page<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        (victim, stream, old): (BlockId, Option<Stream>, Ppn),
        cause: Cause,
        after: When,
    ) -> Result<Option<When>, Fault> {
        let plane = self.plane_of_unit(board.nand(), victim);
        let OobRead::Written(oob) = board.nand().state().oob(old) else {
            unreachable!("a valid page is readable");
        };
        if !owner.wants(oob.kind, oob.logical, old) {
            board.nand_mut().discard(old);
            self.moved_out(board.nand(), plane, old);
            return Ok(None);
        }
        let newer = if oob.kind.is_host_data() { owner.newer(oob.logical) } else { None };
        let stream = stream.unwrap_or_else(|| self.moved_stream(victim, Lpn(oob.logical)));
        self.count_moved(board, stream, 1);
        let is_host_data = oob.kind.is_host_data();
        let name = if is_host_data { owner.new_name(old, (oob.kind, oob.logical)) } else { None };
        // Neither of these is copied back.
        if newer.is_none() && name.is_none() {
            self.skip_for_parity(board, (plane, stream), old);
        }
        let ready = owner.may_move(after);
        let (new, moved) = match newer {
            Some(newer) => {
                let io = newer.page(Lpn(oob.logical), cause);
                let from = ready.waits_for_buffer(newer.ready);
                self.program(board, (plane, stream), from, |board, new, ready| {
                    board.program_update(new, None, &io, oob.kind, ready)
                })?
            }
            None => match name {
                Some(name) => {
                    self.program(board, (plane, stream), ready, |board, new, ready| {
                        board.copy_renamed((old, new), name, cause, ready)
                    })?
                }
                None => self.move_copy(board, (plane, stream), (old, oob.kind), cause, ready)?,
            },
        };
        if oob.kind.is_host_data() {
            board.nand_mut().discard(old);
        }
        self.moved_out(board.nand(), plane, old);
        let (logical, kind, newer) = (oob.logical, oob.kind, newer.is_some());
        if self.tells_of_pages() && kind.is_host_data() {
            self.note_placed(board.nand(), Lpn(logical), new);
        }
        owner.moved(board, Moved { logical, kind, old, new, done: moved.into(), newer });
        Ok(Some(moved))
    }

    /// Most pages that are passed over while a victim with so many valid pages is collected: half
    /// of what collecting it gains, so that it gains something.
    pub(super) fn skipped_for(&self, valid: u32) -> u32 {
        self.skips.map_or(0, |_| (self.pages_per_block - valid) / 2)
    }

    /// Passes over the next page of an open block where a copy of `old` has to go to the one behind
    /// it, to stay in its plane.
    #[inline]
    fn skip_for_parity(&mut self, board: &mut Board, (plane, stream): (PlaneId, Stream), old: Ppn) {
        let Some(left) = self.skips.filter(|&left| left > 0) else { return };
        let frontier = &mut self.planes[plane.index()].frontiers[stream.index()];
        let is_other = (frontier.next ^ board.geometry().offset_of(old)) & 1 == 1;
        if let Some(block) = frontier.block.filter(|_| is_other)
            && frontier.next < self.pages_per_block
        {
            let page = board.geometry().page(block, frontier.next);
            board.nand_mut().pass_over(page);
            frontier.next += 1;
            self.skips = Some(left - 1);
            board.event(Event::SkippedPages, 1);
        }
    }

    /// A page is not valid any more where it was.
    #[inline(always)]
    fn moved_out(&mut self, nand: &Nand, plane: PlaneId, old: Ppn) {
        match self.lines.is_some() {
            true => self.lost_in_line(nand.geometry().block_of(old)),
            false => self.planes[plane.index()].valid -= 1,
        }
    }

    /// The pages of a line move in the order of its slots.
    #[cold]
    fn move_pages_of_line<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        (line, stream, most): (BlockId, Option<Stream>, u32),
        cause: Cause,
        after: When,
    ) -> Result<(u32, When), Fault> {
        let (mut copied, mut done) = (0, after);
        let mut slot = self.lines.as_ref().map_or(0, |lines| lines.first_slot(line));
        while copied < most
            && let Some(lines) = &self.lines
            && let Some(old) = lines.next_valid(board.nand(), line, &mut slot)
        {
            if let Some(moved) = self.move_page(board, owner, (line, stream, old), cause, after)? {
                done = done.join(moved);
                copied += 1;
            }
        }
        if let Some(lines) = &mut self.lines {
            lines.resume_at(line, slot);
        }
        Ok((copied, done))
    }
}
