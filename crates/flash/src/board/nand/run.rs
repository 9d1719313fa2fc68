//! Pages of one block that move to consecutive pages of another: what collection does most.
//!
//! Page by page this is a read, a program and a mark that is cleared, in this order and with the
//! same results as of [`Nand::copy`] and [`Nand::discard`]; what is the same for all of them is
//! looked at once.

use super::clock::Place;
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

    /// Lists the valid pages of a block, the first `most` of them. Returns whether they can move
    /// together: all hold host data, or all hold words.
    pub fn list_movers(&self, block: BlockId, most: u32, movers: &mut Vec<Mover>) -> bool {
        movers.clear();
        self.state.each_valid(block, most, |old, logical, kind| {
            movers.push(Mover { old, logical, kind, done: When::START });
            kind.holds_words() == movers[0].kind.holds_words() && kind != PageKind::Pad
        })
    }

    /// Moves pages of `victim` to the pages from `to` on, which must be of one block, and says of
    /// each when that is done. Every copy could begin at `after`.
    pub(in crate::board) fn move_run(
        &mut self,
        meter: &mut Meter,
        (victim, movers): (BlockId, &mut [Mover]),
        to: Ppn,
        cause: Cause,
        after: When,
    ) {
        assert!(
            self.moves_runs(),
            "pages of block {victim} move in runs only where nothing can happen"
        );
        let (count, words) = (movers.len() as u32, movers[0].kind.holds_words());
        let at = law::program_run(&self.geometry, &self.state, self.order, (to, count));
        for (place, mover) in (to.0..).zip(movers.iter()) {
            self.sequence += 1;
            assert!(
                self.geometry.block_of(mover.old) == victim && mover.kind.holds_words() == words,
                "page {} moves with others that are not of its block and kind",
                mover.old
            );
            if !self.state.move_record((mover.old, Ppn(place)), words, self.sequence) {
                law::refuse_move(&self.geometry, &self.state, mover.old);
            }
        }
        self.state.count_run((victim, at), count, words, self.sequence);
        meter.copies(cause, count);
        let (source, target) =
            (self.geometry.plane_of_block(victim), self.geometry.plane_of_block(at.0));
        if self.clock.copy_run((source, victim), (target, at.0, to), cause, movers, after) {
            return;
        }
        for (place, mover) in (to.0..).zip(movers) {
            let from = Place { plane: source, page: Some((mover.old, victim)) };
            let read = self.clock.read_page(from, cause, after);
            let program = (target, at.0, Ppn(place));
            mover.done = self.clock.program_page(program, self.load, cause, read);
        }
    }
}
