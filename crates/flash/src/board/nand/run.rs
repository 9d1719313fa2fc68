//! Pages of one block that move to consecutive pages of another: what collection does most.
//!
//! Page by page this is a read, a program and a mark that is cleared, in this order and with the
//! same results as of [`Nand::copy`] and [`Nand::discard`]; what is the same for all of them is
//! looked at once. Merges copy from many blocks to consecutive pages, and clear no marks.

pub use super::mover::Mover;
use super::state::PageKind;
use super::{Nand, law};
use crate::board::when::When;
use crate::meter::{Cause, Meter};
use crate::units::{BlockId, Ppn};

impl Nand {
    /// Whether pages can move in runs: nothing can fail, nobody writes operations down, and copies
    /// go through the controller.
    #[inline]
    pub fn moves_runs(&self) -> bool {
        self.plain && !self.clock.copies_back_at_all()
    }

    /// Whether the valid pages of a block hold words of the scheme; none where they cannot move
    /// together, because some do and some do not.
    pub fn hold_words(&self, block: BlockId) -> Option<bool> {
        let known = self.state.block(block);
        // Outside a recovery a page that is not valid has given its words back.
        match !self.recovering && known.payloads == known.valid && known.valid > 0 {
            true => Some(true),
            false => self.state.hold_words(block),
        }
    }

    /// Moves the first `count` valid pages of `victim` to the pages from `to` on, which must be of
    /// one block, and lists them. When each is copied is not said ([`Nand::time_moves`]).
    pub(in crate::board) fn move_valid(
        &mut self,
        meter: &mut Meter,
        (victim, words): (BlockId, bool),
        (to, count): (Ppn, u32),
        cause: Cause,
        moved: &mut Vec<Mover>,
    ) {
        assert!(
            self.moves_runs(),
            "pages of block {victim} move in runs only where nothing can happen"
        );
        let at = law::program_run(&self.geometry, &self.state, self.order, (to, count));
        let next = self.sequence + 1;
        if let Err(page) = self.state.move_valid((victim, words), (to, count), next, moved) {
            law::refuse_move(&self.geometry, &self.state, page);
        }
        self.sequence += u64::from(count);
        self.state.count_programs(at, count, self.sequence);
        self.state.count_moved((victim, at.0), count, words);
        meter.copies(cause, count);
    }

    /// Says of each page of a run when it is copied, where every copy could begin at `after`; when
    /// all are.
    pub(in crate::board) fn time_moves(
        &mut self,
        (victim, moved): (BlockId, &mut [Mover]),
        to: Ppn,
        cause: Cause,
        after: When,
    ) -> When {
        let block = self.geometry.block_of(to);
        let [source, target] = [victim, block].map(|block| self.geometry.plane_of_block(block));
        let pages = ((source, victim), (target, block, to));
        if let Some(done) = self.clock.copy_run(pages, cause, moved, after) {
            return done;
        }
        let mut done = after;
        for (new, mover) in (to.0..).map(Ppn).zip(moved) {
            let copied = self.time_move((mover.old, new), cause, after);
            mover.done = copied.into();
            done = done.join(copied);
        }
        done
    }

    /// Copies pages of host data to the pages from `to` on, which must be of one block; the sources
    /// stay valid. Every copy could begin at `after`; when all are done.
    pub(in crate::board) fn copy_run(
        &mut self,
        meter: &mut Meter,
        (from, to): (&[Ppn], Ppn),
        kind: PageKind,
        cause: Cause,
        after: When,
    ) -> When {
        assert!(self.moves_runs(), "pages are copied in runs only where nothing can happen");
        let count = from.len() as u32;
        let at = law::program_run(&self.geometry, &self.state, self.order, (to, count));
        for (&from, to) in from.iter().zip((to.0..).map(Ppn)) {
            law::read(&self.geometry, &self.state, from);
            assert!(self.state.holds_host_data(from), "page {from} holds words: it moves alone");
            self.sequence += 1;
            self.state.copy_record((from, to), kind, self.sequence);
        }
        self.state.count_programs(at, count, self.sequence);
        meter.copies(cause, count);
        if let Some((start, step)) = self.clock.copies_on_server(cause, u64::from(count)) {
            return after.join(When::at(start + u64::from(count) * step));
        }
        let pairs = from.iter().zip((to.0..).map(Ppn));
        pairs.fold(after, |done, (&from, to)| done.join(self.time_move((from, to), cause, after)))
    }

    /// Whether pages can be read and written anew together: nothing can fail, nobody writes
    /// operations down, and each takes the same time on the one server.
    #[inline]
    pub fn updates_runs(&self) -> bool {
        self.plain && self.clock.takes_equal_times()
    }

    /// Counts and books so many pages that were read and written anew ([`Nand::updates_runs`]); when
    /// the last of them is written.
    pub(in crate::board) fn book_updates(
        &mut self,
        meter: &mut Meter,
        cause: Cause,
        count: u32,
    ) -> When {
        meter.copies(cause, count);
        let count = u64::from(count);
        let booked = self.clock.copies_on_server(cause, count);
        let (start, step) = booked.expect("pages are updated together only on one server");
        When::at(start + count * step)
    }

    /// The time of one copy of a run.
    #[inline]
    pub(in crate::board) fn time_move(
        &mut self,
        (from, to): (Ppn, Ppn),
        cause: Cause,
        after: When,
    ) -> When {
        if let Some((start, length)) = self.clock.copies_on_server(cause, 1) {
            return When::at(start + length);
        }
        self.time_move_on_cells((from, to), cause, after)
    }

    fn time_move_on_cells(&mut self, (from, to): (Ppn, Ppn), cause: Cause, after: When) -> When {
        let read = self.clock.read_page(self.place(from), cause, after);
        let block = self.geometry.block_of(to);
        let program = (self.geometry.plane_of_block(block), block, to);
        self.clock.program_page(program, self.load, cause, read)
    }
}
