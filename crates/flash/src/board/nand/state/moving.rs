//! The valid pages of a block that move to consecutive pages of another, all at once: records and
//! marks are walked side by side, and blocks are looked at once.

use super::{PageRecord, STAMP_BITS, State};
use crate::board::nand::mover::Mover;
use crate::board::when::Moment;
use crate::units::{BlockId, Ppn};

/// Records of pages that a line of a cache holds, where lines have 64 bytes.
const RECORDS_OF_A_LINE: usize = 64 / size_of::<PageRecord>();

impl State {
    /// The first `count` valid pages of `victim` move to the pages from `to` on: records and the
    /// marks of where they were, not yet what [`State::count_programs`] and [`State::count_moved`]
    /// do for all; the first of them gets the sequence number `sequence`. The words of pages that
    /// hold `words` go with them. Lists what moved.
    ///
    /// # Errors
    /// The first page that cannot be read or is of the other sort.
    ///
    /// # Panics
    /// When there are not so many, or when they are of the block that they move to.
    #[inline]
    pub(in crate::board::nand) fn move_valid(
        &mut self,
        (victim, words): (BlockId, bool),
        (to, count): (Ppn, u32),
        mut sequence: u64,
        moved: &mut Vec<Mover>,
    ) -> Result<(), Ppn> {
        let (first, end) = (victim.0 * self.pages_per_block, (victim.0 + 1) * self.pages_per_block);
        let ranges = [first as usize..end as usize, to.index()..(to.0 + count) as usize];
        let [source, target] = self.pages.get_disjoint_mut(ranges).unwrap_or_else(|_| {
            panic!("pages of block {victim} move to pages from {to} on, which are its own")
        });
        // Where each line holds a page that moves, or nearly, all are fetched together: record by
        // record each would be waited for.
        if count as usize * RECORDS_OF_A_LINE >= source.len() {
            let lines = source.iter().step_by(RECORDS_OF_A_LINE);
            std::hint::black_box(lines.fold(0, |seen, page| seen ^ page.tag));
        }
        // What is listed has its places: a list that might have to grow would be asked for each.
        let listed = moved.len();
        moved.resize(listed + count as usize, Mover::NONE);
        let mut target = target.iter_mut().zip(&mut moved[listed..]);
        for word in 0..self.blocks.words() {
            let marks = self.blocks.marks_mut(victim, word);
            let mut left = *marks;
            while left != 0
                && let Some((new, mover)) = target.next()
            {
                let offset = word as u32 * 64 + left.trailing_zeros();
                let old = first + offset;
                left &= left - 1;
                let place = &mut source[offset as usize];
                let record = *place;
                if !record.is_written() || record.holds_words() != words {
                    return Err(Ppn(old));
                }
                let kept = record.stamp & ((1 << STAMP_BITS) - 1);
                *new = PageRecord { stamp: sequence << STAMP_BITS | kept, ..record };
                sequence += 1;
                if words {
                    assert!(record.tag > 0, "page {old} holds no payload");
                    place.tag = 0;
                }
                let (logical, kind) = (record.logical_plus_one - 1, record.kind());
                *mover = Mover { old: Ppn(old), logical, kind, done: Moment::START };
            }
            *marks = left;
        }
        let missing = target.len();
        assert!(missing == 0, "block {victim} has {missing} pages fewer than move to {to}");
        if !words && !self.masks.is_empty() {
            for (mover, to) in moved[listed..].iter().zip(to.index()..) {
                self.masks[to] = self.masks[mover.old.index()];
            }
        }
        Ok(())
    }

    /// So many pages left a block for another one, with words or without.
    #[inline]
    pub(in crate::board::nand) fn count_moved(
        &mut self,
        (from, to): (BlockId, BlockId),
        count: u32,
        words: bool,
    ) {
        let payloads = if words { count } else { 0 };
        let state = self.blocks.state_mut(from);
        state.valid -= count;
        state.payloads -= payloads;
        self.blocks.state_mut(to).payloads += payloads;
    }
}
