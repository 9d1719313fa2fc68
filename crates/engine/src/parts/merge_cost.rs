//! What the full merge of a shared log block costs: a rebuilt data block for every logical block
//! with a valid page in it.

use crate::board::Board;
use crate::board::nand::geometry::Geometry;
use crate::parts::merge_engine::lbn_of_page;
use crate::units::{BlockId, zeroed};

/// Counts the logical blocks of a log block.
#[derive(Clone, Debug)]
pub struct MergeCost {
    /// The count that each logical block was seen by last.
    seen: Vec<u32>,
    counts: u32,
}

impl MergeCost {
    /// For all logical blocks.
    pub fn new(geometry: &Geometry) -> Self {
        MergeCost { seen: zeroed(geometry.logical_blocks() as usize), counts: 0 }
    }

    /// Distinct logical blocks with valid pages in a block, and those pages: what is dearer to merge
    /// is greater. Stops counting at more logical blocks than `bound`.
    pub fn of(&mut self, board: &Board, block: BlockId, bound: u32) -> (u32, u32) {
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
            if distinct > bound {
                break;
            }
        }
        (distinct, board.nand().valid_pages(block))
    }
}
