//! The valid pages of a block that move to consecutive pages of another, all at once: records and
//! marks are walked side by side, and blocks are looked at once.

use super::{PageKind, PageRecord, STAMP_BITS, State, mask_within};
use crate::board::nand::mover::Mover;
use crate::units::{BlockId, Ppn};

impl State {
    /// Hands over the valid pages of a block with what they hold, the first `most` of them, as long
    /// as the answer is true; whether it always was.
    #[inline]
    pub(in crate::board::nand) fn each_valid(
        &self,
        block: BlockId,
        most: u32,
        mut page: impl FnMut(Ppn, u32, PageKind) -> bool,
    ) -> bool {
        let first = block.0 * self.pages_per_block;
        let end = first + self.pages_per_block;
        let records = &self.pages[first as usize..end as usize];
        let mut left = most;
        for index in first / 64..end.div_ceil(64) {
            let mut word = self.valid[index as usize] & mask_within(index, first, end);
            while word != 0 {
                if left == 0 {
                    return true;
                }
                left -= 1;
                let ppn = index * 64 + word.trailing_zeros();
                word &= word - 1;
                let record = &records[(ppn - first) as usize];
                let logical = record.logical_plus_one.wrapping_sub(1);
                if !page(Ppn(ppn), logical, record.kind()) {
                    return false;
                }
            }
        }
        true
    }

    /// Pages of `victim` move to the pages from `to` on: records and the marks of where they were,
    /// not yet what [`State::count_programs`] and [`State::count_moved`] do for all; the first of
    /// them gets the sequence number `sequence`. The words of pages that hold `words` go with them.
    ///
    /// # Errors
    /// The first page that is none of the victim's, not valid, or of the other sort.
    #[inline]
    pub(in crate::board::nand) fn move_records(
        &mut self,
        (victim, movers): (BlockId, &[Mover]),
        to: Ppn,
        words: bool,
        mut sequence: u64,
    ) -> Result<(), Ppn> {
        let first = victim.0 * self.pages_per_block;
        let (from, to) = (first as usize, to.index());
        let ranges = [from..from + self.pages_per_block as usize, to..to + movers.len()];
        let known = self.pages.get_disjoint_mut(ranges);
        let [source, target] = known.expect("pages of a block move to another block");
        let valid = &mut self.valid[..];
        for (mover, new) in movers.iter().zip(target) {
            let old = mover.old;
            let (word, bit) = (old.index() / 64, 1 << (old.0 % 64));
            let Some(record) = source.get_mut(old.0.wrapping_sub(first) as usize) else {
                return Err(old);
            };
            let is_valid = record.is_written() && valid[word] & bit != 0;
            if !is_valid || record.kind().holds_words() != words {
                return Err(old);
            }
            valid[word] &= !bit;
            let kept = record.stamp & ((1 << STAMP_BITS) - 1);
            *new = PageRecord { stamp: sequence << STAMP_BITS | kept, ..*record };
            sequence += 1;
            if words {
                assert!(record.tag > 0, "page {old} holds no payload");
                record.tag = 0;
            }
        }
        if !words && !self.masks.is_empty() {
            for (mover, to) in movers.iter().zip(to..) {
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
        let state = &mut self.blocks[from.index()];
        state.valid -= count;
        state.payloads -= payloads;
        self.blocks[to.index()].payloads += payloads;
    }
}
