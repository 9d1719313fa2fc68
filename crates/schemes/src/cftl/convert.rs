//! Conversion: a logical block is gathered into a block of its own, a few pages at a time.

use super::Cftl;
use super::candidates::Job;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{Cause, Event};
use ftlab_flash::units::{BlockId, Lpn};
use ftlab_ftl::parts::data_blocks::Lbn;
use ftlab_ftl::parts::demand_mapped::DemandMapped;

impl Cftl {
    /// Goes on with the conversion under way, or begins one; `None` when there is nothing to do.
    pub(super) fn convert_step(
        &mut self,
        board: &mut Board,
        after: When,
    ) -> Result<Option<When>, Fault> {
        if self.outgrown {
            // Nothing can leave memory: nothing more is taken in.
            return Ok(None);
        }
        let begun = match self.job {
            Some(job) => Begun::Job(job, after),
            None => self.begin(board, after)?,
        };
        let (job, known) = match begun {
            Begun::Nothing => return Ok(None),
            Begun::Done(done) => return Ok(Some(done)),
            Begun::Job(job, known) => (job, known),
        };
        let (job, done) = self.gather(board, job, known)?;
        self.job = job;
        match job {
            Some(job) if job.next == board.geometry().pages_per_block => {
                self.job = None;
                let written = board.finish_flash_page(job.block, Cause::Convert, done);
                let mapped = self.map_as_block(board, job.lbn, written);
                self.release(board, job.block);
                mapped.map(Some)
            }
            _ => Ok(Some(done)),
        }
    }

    /// The first logical block in the queue that is still worth it and can be converted.
    fn begin(&mut self, board: &mut Board, after: When) -> Result<Begun, Fault> {
        while let Some(lbn) = self.candidates.first() {
            if self.base.map.cache.blocks.is_mapped(lbn) || !self.candidates.is_worth_it(lbn) {
                self.candidates.drop_first();
                continue;
            }
            // Before anything is paid for: where every plane needs its room for other data, it
            // waits, unless it lies like that already, as it may if it was written in sequence.
            let home = lbn.plane(board.geometry());
            let plane = self.base.space.plane_with_block(home);
            let in_place = self.block_of(board, lbn).is_some();
            if plane.is_none() && !in_place {
                break;
            }
            self.candidates.drop_first();
            let pages = self.base.map.cache.pages_of(lbn);
            let mut read = after;
            for part in self.parts_of(lbn) {
                read = self.base.map.translation.read(board, part, Cause::Convert, read)?;
            }
            let is_there = |lpn: u32| self.base.map.current(board, Lpn(lpn)).is_some();
            if !pages.clone().any(is_there) {
                return Ok(Begun::Done(read));
            }
            let Some(plane) = plane.filter(|_| !in_place) else {
                return self.map_as_block(board, lbn, read).map(Begun::Done);
            };
            let DemandMapped { space, map, .. } = &mut self.base;
            let (block, ready) = space.take_withheld(board, map, plane, read)?;
            self.base.map.cache.converting = Some(lbn);
            return Ok(Begun::Job(Job { lbn, block, next: 0 }, ready));
        }
        Ok(Begun::Nothing)
    }

    /// Copies the next pages of a logical block to their places. Gives up, and keeps what was
    /// copied as pages, if one of its pages changed or got hot, or the block takes no more.
    fn gather(
        &mut self,
        board: &mut Board,
        mut job: Job,
        after: When,
    ) -> Result<(Option<Job>, When), Fault> {
        let (mut done, mut copied) = (after, 0);
        let pages = self.base.map.cache.pages_of(job.lbn);
        let count = pages.end - pages.start;
        // Levelling may have taken the block away.
        let wanted = self.base.map.cache.converting == Some(job.lbn)
            && self.base.space.is_withheld(job.block);
        if !wanted || self.candidates.is_hot(job.lbn) {
            return Ok((None, self.give_up(board, job.block, done)));
        }
        while job.next < count && copied < self.settings.convert_pages {
            let lpn = Lpn(pages.start + job.next);
            let offset = job.next;
            let new = board.geometry().page(job.block, offset);
            job.next += 1;
            let Some(old) = self.base.map.current(board, lpn) else { continue };
            let padded = self.base.space.pad_withheld(board, job.block, offset, after);
            let space = &mut self.base.space;
            let result = padded
                .and_then(|ready| space.copy_withheld(board, (old, new), Cause::Convert, ready));
            match result {
                Ok(moved) => done = done.join(moved),
                Err(Fault::ProgramFailed { known, .. }) => {
                    return Ok((None, self.give_up(board, job.block, done.join(known))));
                }
                Err(fault) => return Err(fault),
            }
            self.base.map.cache.converted(lpn, new);
            copied += 1;
        }
        if job.next == count {
            job.next = board.geometry().pages_per_block;
        }
        Ok((Some(job), done))
    }

    fn give_up(&mut self, board: &mut Board, block: BlockId, after: When) -> When {
        self.base.map.cache.converting = None;
        board.event(Event::AbortedConversions, 1);
        if !self.base.space.is_withheld(block) {
            return after;
        }
        let done = board.finish_flash_page(block, Cause::Convert, after);
        self.release(board, block);
        done
    }

    /// A block takes no more pages and is a block like any other from now on.
    fn release(&mut self, board: &Board, block: BlockId) {
        if self.base.space.is_withheld(block) {
            self.base.space.release_candidate(board.nand(), block);
        }
    }

    /// Every page is at its place: the page map on flash learns of it, and the logical block is
    /// block-mapped, unless levelling took it apart while the map was written.
    fn map_as_block(&mut self, board: &mut Board, lbn: Lbn, after: When) -> Result<When, Fault> {
        self.base.map.cache.converting = None;
        let mut done = after;
        for part in self.parts_of(lbn) {
            if self.has_changed(lbn, Some(part)) {
                (done, _) = self.base.write_back_part(board, part, Cause::Convert, done)?;
            }
        }
        match self.known_block(board, lbn) {
            Some(block) => {
                board.event(Event::Conversions, 1);
                self.base.map.cache.blocks.map(lbn);
                self.cache_block(board, (lbn, block), done);
                self.base.map.cache.drop_runs_within(lbn);
            }
            None => board.event(Event::AbortedConversions, 1),
        }
        Ok(done)
    }

    /// The block of a logical block whose pages lie there at their places, if the page map on flash
    /// says so: what memory alone knows a block-mapped one would lose.
    pub(super) fn known_block(&self, board: &Board, lbn: Lbn) -> Option<BlockId> {
        self.block_of(board, lbn).filter(|_| !self.has_changed(lbn, None))
    }

    /// Whether memory alone knows where a page of a logical block is, in one of its translation
    /// pages or in any.
    fn has_changed(&self, lbn: Lbn, part: Option<u32>) -> bool {
        let map = &self.base.map;
        let mut pages = map.cache.pages_of(lbn).filter(|&lpn| map.cache.runs.is_dirty(lpn));
        pages.any(|lpn| part.is_none_or(|part| map.translation.part_of(Lpn(lpn)).0 == part))
    }
}

/// What became of the queue.
enum Begun {
    /// Nothing is worth it.
    Nothing,
    /// A step without a copy: pages that lie like that already, or are nowhere.
    Done(When),
    /// Pages to copy.
    Job(Job, When),
}
