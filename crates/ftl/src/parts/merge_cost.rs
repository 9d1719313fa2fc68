//! What the full merge of a shared log block costs: a rebuilt data block for every logical block
//! with a valid page in it.
//!
//! A closed log block only loses valid pages, and each that it loses takes at most one logical
//! block along. So a count stays right while the number of valid pages stays what it was, and
//! bounds the cost from below when it does not: a search over all log blocks counts few of them
//! again, and finds what counting all of them would.

use crate::parts::merge_engine::lbn_of_page;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::units::{BlockId, zeroed};

/// Counts the logical blocks of closed log blocks.
#[derive(Clone, Debug)]
pub struct MergeCost {
    /// The count that each logical block was seen by last.
    seen: Vec<u32>,
    counts: u32,
    /// Of each block when it was counted last: distinct logical blocks with valid pages, and those
    /// pages; no pages: not counted since it came into use.
    known: Vec<[u32; 2]>,
}

impl MergeCost {
    /// For all blocks.
    pub fn new(geometry: &Geometry) -> Self {
        MergeCost {
            seen: zeroed(geometry.logical_blocks() as usize),
            counts: 0,
            known: zeroed(geometry.blocks() as usize),
        }
    }

    /// Distinct logical blocks with valid pages in a closed block, and those pages, if that is less
    /// than `bound`: what is dearer to merge is greater.
    #[inline]
    pub fn below(
        &mut self,
        board: &Board,
        block: BlockId,
        bound: (u32, u32),
    ) -> Option<(u32, u32)> {
        let valid = board.nand().valid_pages(block);
        let [distinct, valid_then] = self.known[block.index()];
        let lost = valid_then.saturating_sub(valid);
        let least = distinct.saturating_sub(lost).max(u32::from(valid > 0));
        if (least, valid) >= bound {
            return None;
        }
        let distinct = if valid == valid_then { distinct } else { self.count(board, block) };
        Some((distinct, valid)).filter(|&cost| cost < bound)
    }

    /// The block is about to be filled anew.
    pub fn forget(&mut self, block: BlockId) {
        self.known[block.index()] = [0, 0];
    }

    fn count(&mut self, board: &Board, block: BlockId) -> u32 {
        if self.counts == u32::MAX {
            self.seen.fill(0);
            self.counts = 0;
        }
        self.counts += 1;
        let (mut distinct, mut offset) = (0, 0);
        while let Some(page) = board.nand().state().next_valid(block, offset) {
            let seen = &mut self.seen[lbn_of_page(board, page).index()];
            distinct += u32::from(*seen != self.counts);
            *seen = self.counts;
            offset = board.geometry().offset_of(page) + 1;
        }
        self.known[block.index()] = [distinct, board.nand().valid_pages(block)];
        distinct
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SharedSettings;
    use ftlab_flash::board::nand::state::PageKind;
    use ftlab_flash::board::when::When;
    use ftlab_flash::meter::Cause;
    use ftlab_flash::request::{PageIo, RequestShape};
    use ftlab_flash::settings::Groups as _;
    use ftlab_flash::units::{Lpn, Tag};

    const ANY: (u32, u32) = (u32::MAX, u32::MAX);

    #[test]
    fn a_block_is_counted_again_only_if_it_lost_pages_and_may_have_become_cheap_enough() {
        let mut config = SharedSettings::default();
        config.set("device.pages_per_block", "4").expect("legal");
        let mut board = Board::new(&config, 1, 64);
        let block = BlockId(3);
        let page = |board: &Board, offset| board.geometry().page(block, offset);
        // Four pages of three logical blocks.
        for (offset, lpn) in (0..).zip([0, 4, 5, 8].map(Lpn)) {
            let request =
                RequestShape { first_lpn: lpn, pages: 1, index: 0, sectors: 4, hint: None };
            let io = PageIo { lpn, sectors: u64::MAX, cause: Cause::Host, data: Tag(1), request };
            let slot = page(&board, offset);
            let written = board.program_update(slot, None, &io, PageKind::Log, When::START);
            assert!(written.is_ok());
        }
        let mut cost = MergeCost::new(board.geometry());
        let mut asked = |board: &Board, bound| (cost.below(board, block, bound), cost.counts);
        assert_eq!(asked(&board, ANY), (Some((3, 4)), 1));
        assert_eq!(asked(&board, ANY), (Some((3, 4)), 1), "nothing was lost: known");
        assert_eq!(asked(&board, (3, 4)), (None, 1), "not less");
        let lost = page(&board, 1);
        board.nand_mut().discard(lost);
        assert_eq!(asked(&board, (2, 3)), (None, 1), "2 and 3 at least: not counted");
        assert_eq!(asked(&board, (3, 4)), (Some((3, 3)), 2), "counted: page 5 is still there");
        let lost = page(&board, 0);
        board.nand_mut().discard(lost);
        assert_eq!(asked(&board, ANY), (Some((2, 2)), 3));
        for offset in [2, 3] {
            let lost = page(&board, offset);
            board.nand_mut().discard(lost);
        }
        assert_eq!(asked(&board, (1, 1)).0, Some((0, 0)), "dead: nothing is cheaper");
        cost.forget(block);
        assert_eq!(cost.known[block.index()], [0, 0]);
    }
}
