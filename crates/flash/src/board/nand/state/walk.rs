//! The valid pages of a block, one after another: a word of marks at a time.

use super::{PageKind, State, mask_within};
use crate::units::{BlockId, Ppn};

impl State {
    /// Every valid page of a block that can be read, in order: the page, its logical number, and
    /// what it is.
    #[inline]
    pub fn each_valid(&self, block: BlockId, mut each: impl FnMut(Ppn, u32, PageKind)) {
        let (first, end) = (block.0 * self.pages_per_block, (block.0 + 1) * self.pages_per_block);
        let records = &self.pages[first as usize..end as usize];
        for index in first / 64..end.div_ceil(64) {
            let mut left = self.valid[index as usize] & mask_within(index, first, end);
            while left != 0 {
                let page = index * 64 + left.trailing_zeros();
                left &= left - 1;
                let record = &records[(page - first) as usize];
                if record.is_written() {
                    each(Ppn(page), record.logical_plus_one - 1, record.kind());
                }
            }
        }
    }
}
