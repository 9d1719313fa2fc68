//! Collection in the gaps between requests: a victim at a time, or in pieces that a request can
//! come between (`gc.idle_pages`; 1 is preemption between page copies).
//!
//! After each piece the map knows where the moved pages are, so that requests in between find them:
//! pieces trade the batching of map updates for shorter waits. A victim that is left half moved is
//! nobody's candidate; the next gap, or a collection in its plane, goes on with it. Levelling of
//! wear, which moves a block at a time, is a step of its own then. Pieces are of one plane,
//! whatever `gc.unit` says.

use super::{PageOwner, PageSpace, Stream};
use crate::parts::page_space::settings::GcMode;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{Cause, Event};
use ftlab_flash::units::{BlockId, PlaneId};

/// A victim that was left half moved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paused {
    victim: BlockId,
    copied: u32,
    /// Where its pages go, and why: decided when it was begun.
    destination: (Option<Stream>, Cause),
}

impl Paused {
    /// Nothing of it is moved yet.
    pub(super) fn new(victim: BlockId, stream: Option<Stream>, cause: Cause) -> Self {
        Paused { victim, copied: 0, destination: (stream, cause) }
    }

    fn is_refreshed(&self) -> bool {
        self.destination.1 == Cause::Refresh
    }
}

impl PageSpace {
    /// Does one step of collection while the device is idle; `None` when there is nothing worth
    /// doing.
    pub fn collect_idle<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        after: When,
    ) -> Result<Option<When>, Fault> {
        if let Some(repaired) = self.repair_idle(board, owner, after)? {
            return Ok(Some(repaired));
        }
        if let Some(paused) = self.paused {
            let step = match self.go_on_in_gap(board, owner, paused, after) {
                // As of a whole one: a device that is worn out goes on without.
                Err(fault) if paused.is_refreshed() => fault.unless_worn_out()?,
                step => step?,
            };
            return match step {
                // Others that are due may fit as a whole.
                None => self.refresh_idle(board, owner, after),
                step => Ok(step),
            };
        }
        if let Some(refreshed) = self.refresh_idle(board, owner, after)? {
            return Ok(Some(refreshed));
        }
        if self.mode == GcMode::Foreground {
            return self.level_if_due(board, owner, after);
        }
        if let Some(folded) = self.fold_idle(board, owner, after)? {
            return Ok(Some(folded));
        }
        if let Some(levelled) = self.level_if_due(board, owner, after)? {
            return Ok(Some(levelled));
        }
        let after = self.regroup(board, after)?;
        for _ in 0..self.planes.len() {
            let plane = PlaneId(self.idle_turn);
            self.idle_turn = (self.idle_turn + 1) % self.planes.len() as u32;
            let Some((victim, found)) = self.idle_victim(board, owner, plane, after) else {
                continue;
            };
            let begun = self.begun(board, victim);
            let done = self.go_on(board, owner, (begun, self.idle_pages), found)?;
            if self.by_die && self.idle_pages == u32::MAX {
                return self.idle_siblings(board, owner, (plane, after), done).map(Some);
            }
            return Ok(Some(done));
        }
        Ok(None)
    }

    /// The next piece of a victim. Where the host took what that needs, it is the host that
    /// collects next; but it may never write, and what is due is not to wait for that: all of it
    /// moves where that fits, and else garbage is collected, as before a write.
    fn go_on_in_gap<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        paused: Paused,
        after: When,
    ) -> Result<Option<When>, Fault> {
        if self.fits_in_pieces(board, owner, paused.victim) {
            return self.go_on(board, owner, (paused, self.idle_pages), after).map(Some);
        }
        if !board.nand().refreshes() {
            return Ok(None);
        }
        if self.fits(board, owner, paused.victim) {
            return self.go_on(board, owner, (paused, u32::MAX), after).map(Some);
        }
        let (plane, before) = (self.plane_of_unit(board.nand(), paused.victim), self.reclaimed);
        let ready = self.collect_if_short(board, owner, plane, after)?;
        Ok((self.reclaimed > before).then_some(ready))
    }

    /// Levelling that victims in pieces have left, a plane at a time.
    fn level_if_due<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        after: When,
    ) -> Result<Option<When>, Fault> {
        let Some(plane) = self.level_due.iter().position(|&due| due) else { return Ok(None) };
        self.level_due[plane] = false;
        self.level(board, owner, PlaneId(plane as u32), after).map(Some)
    }

    /// A victim of a plane that is short enough of blocks to work for nobody, with enough garbage
    /// for an erase (`gc.least_invalid`). It is no candidate any more.
    fn idle_victim<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        plane: PlaneId,
        after: When,
    ) -> Option<(BlockId, When)> {
        let known = &self.planes[plane.index()];
        let wanted = known.threshold.saturating_mul(self.idle_factor);
        // What the cache has of them it gives back before a dense block is worth a copy.
        let free = known.free.len() + self.lent_to_cache(plane);
        if free >= wanted || known.free.len() < 2 {
            return None;
        }
        let (mut victim, mut found) = self.choose(board, plane, after);
        let is_worth = |space: &Self, block: BlockId| {
            space.census(board.nand()).valid_pages(block) <= space.idle_valid
        };
        // A group that is too large may wait for the host with a dense block.
        if victim.is_some_and(|block| self.is_queued(block) && !is_worth(self, block)) {
            (victim, found) = self.choose_beside_queues(board, plane, found);
        }
        let victim = victim
            .filter(|&block| self.census(board.nand()).valid_pages(block) <= self.idle_valid)
            .filter(|&block| self.fits_in_pieces(board, owner, block))?;
        let (victim, found) = self.choose_lightest(board, owner, victim, found);
        board.event(Event::IdleVictims, 1);
        self.is_candidate_no_more(board.nand(), victim);
        Some((victim, found))
    }

    /// Whole victims of the other planes of a die, from the same moment.
    fn idle_siblings<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        (plane, after): (PlaneId, When),
        done: When,
    ) -> Result<When, Fault> {
        let mut all = done;
        for sibling in board.geometry().siblings(plane) {
            if let Some((victim, found)) = self.idle_victim(board, owner, sibling, after) {
                let begun = self.begun(board, victim);
                all = all.join(self.go_on(board, owner, (begun, u32::MAX), found)?);
            }
        }
        Ok(all)
    }

    fn begun(&mut self, board: &Board, victim: BlockId) -> Paused {
        let (stream, cause) = self.destination(board.nand(), victim, Cause::Gc);
        Paused::new(victim, stream, cause)
    }

    pub(super) fn is_paused(&self, block: BlockId) -> bool {
        self.paused.is_some_and(|paused| paused.victim == block)
    }

    /// Moves up to `most` pages of a victim, and erases it when none is left.
    pub(super) fn go_on<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        (paused, most): (Paused, u32),
        after: When,
    ) -> Result<When, Fault> {
        let Paused { victim, copied, destination: (stream, cause) } = paused;
        self.paused = Some(paused);
        let (moved, done) = self.move_some(board, owner, (victim, stream, most), cause, after)?;
        let copied = copied + moved;
        if self.valid_in(board.nand(), victim) > 0 {
            self.paused = Some(Paused { copied, ..paused });
            return Ok(done);
        }
        self.paused = None;
        let role = self.role(victim);
        if cause == Cause::Gc {
            self.note_collected(board, victim, copied);
        }
        self.stream_of[victim.index()] = 0;
        let erased = match cause {
            Cause::Refresh => self.refreshed(board, (victim, role), copied, done)?,
            _ => self.reclaimed(board, (victim, role), copied, done)?,
        };
        let plane = self.plane_of_unit(board.nand(), victim);
        self.level_behind(board, owner, plane, erased)
    }

    /// Levels the wear of a plane behind a victim; a step of its own where gaps move pieces, since
    /// a request may come before it.
    pub(super) fn level_behind<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        plane: PlaneId,
        after: When,
    ) -> Result<When, Fault> {
        if self.idle_pages < u32::MAX {
            self.level_due[plane.index()] = true;
            return Ok(after);
        }
        self.level(board, owner, plane, after)
    }

    /// Before a plane collects in the foreground: the rest of a victim that idle time began there,
    /// if the free blocks hold it.
    pub(super) fn finish_paused<O: PageOwner>(
        &mut self,
        board: &mut Board,
        owner: &mut O,
        plane: PlaneId,
        after: When,
    ) -> Result<When, Fault> {
        let Some(paused) = self.paused else { return Ok(after) };
        if self.plane_of_unit(board.nand(), paused.victim) != plane
            || !self.fits(board, owner, paused.victim)
        {
            return Ok(after);
        }
        self.go_on(board, owner, (paused, u32::MAX), after)
    }
}
