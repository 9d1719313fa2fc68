//! The valid pages of a block, one after another: a word of marks at a time.

use super::{BlockState, PageKind, PageRecord, State};
use crate::units::{BlockId, Ppn};

impl State {
    /// Every valid page of a block that can be read, in order: the page, its logical number, and
    /// what it is.
    #[inline]
    pub fn each_valid(&self, block: BlockId, mut each: impl FnMut(Ppn, u32, PageKind)) {
        let first = block.0 * self.pages_per_block;
        self.each_valid_record(block, |offset, record| {
            if record.is_written() {
                each(Ppn(first + offset), record.logical_plus_one - 1, record.kind());
            }
        });
    }

    /// Whether the valid pages of a block hold words; none where some do and some do not.
    #[inline]
    pub(in crate::board::nand) fn hold_words(&self, block: BlockId) -> Option<bool> {
        let BlockState { valid, payloads, .. } = *self.block(block);
        if payloads == 0 || valid == 0 {
            return Some(false);
        }
        let mut words = 0;
        self.each_valid_record(block, |_, record| words += u32::from(record.kind().holds_words()));
        (words == valid || words == 0).then_some(words > 0)
    }

    #[inline(always)]
    fn each_valid_record(&self, block: BlockId, mut each: impl FnMut(u32, &PageRecord)) {
        let (first, end) = (block.0 * self.pages_per_block, (block.0 + 1) * self.pages_per_block);
        let records = &self.pages[first as usize..end as usize];
        for word in 0..self.blocks.words() {
            let mut left = self.blocks.marks(block, word);
            while left != 0 {
                let offset = word as u32 * 64 + left.trailing_zeros();
                left &= left - 1;
                each(offset, &records[offset as usize]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Oob, OobRead};
    use super::*;
    use crate::board::nand::geometry::Geometry;
    use crate::board::settings::DeviceSettings;
    use crate::rng::{Purpose, Rng};

    /// Against the pages one by one, in blocks that begin and end anywhere in a word; some pages
    /// are invalid, some torn, some erased.
    #[test]
    fn a_walk_meets_every_valid_page_that_can_be_read() {
        for pages_per_block in [4, 48, 64, 100, 192] {
            let device = DeviceSettings {
                blocks_per_plane: 8,
                pages_per_block,
                ..DeviceSettings::default()
            };
            let geometry = Geometry::new(&device);
            let mut state = State::new(&geometry, false);
            let mut rng = Rng::new(5, Purpose::Workload);
            for page in 0..geometry.pages() {
                let ppn = Ppn(page);
                match rng.below(8) {
                    0 => {}
                    1 => {
                        state.store_torn(ppn);
                        state.set_valid(ppn);
                    }
                    other => {
                        let kind = if other == 2 { PageKind::Map } else { PageKind::Data };
                        state.store(ppn, Oob { logical: page / 3, kind, sequence: 1 }, 1);
                        if other > 5 {
                            let _ = state.clear_valid(geometry.block_of(ppn), ppn);
                        }
                    }
                }
            }
            let mut walked = 0;
            for block in (0..geometry.blocks()).map(BlockId) {
                let pages = (0..pages_per_block).map(|offset| geometry.page(block, offset));
                let read = |ppn: Ppn| match state.oob(ppn) {
                    OobRead::Written(oob) if state.is_valid(ppn) => {
                        Some((ppn, oob.logical, oob.kind))
                    }
                    _ => None,
                };
                let mut met = Vec::new();
                state.each_valid(block, |ppn, logical, kind| met.push((ppn, logical, kind)));
                assert!(pages.filter_map(read).eq(met.iter().copied()), "block {block}");
                walked += met.len();
            }
            assert!(walked > 0, "blocks of {pages_per_block} pages");
        }
    }
}
