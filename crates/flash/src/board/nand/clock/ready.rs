//! What the flash demands across requests: since when pages can be read, blocks programmed and
//! erased.

use super::timeline::Work;
use crate::board::nand::geometry::Geometry;
use crate::units::{BlockId, Divisor, Nanos, Ppn, zeroed};
use zerocopy::FromZeros;

/// When pages and blocks are ready for what.
#[derive(Clone, Debug)]
pub(super) struct Ready {
    /// When each page's program ends, at its last mapping unit; empty in the serial profile.
    page: Vec<Nanos>,
    blocks: Vec<BlockReady>,
    by_block: Divisor,
    /// Bits of a page number that are set in the last mapping unit of a flash page.
    last_unit: u32,
}

/// When a block is ready for what.
#[derive(Clone, Copy, Debug, Default, FromZeros)]
struct BlockReady {
    /// When its last program or erase ends.
    written: Nanos,
    /// When the last operation on it ends.
    used: Nanos,
}

impl Ready {
    pub fn new(pages: u32, blocks: u32, geometry: &Geometry) -> Self {
        Ready {
            page: zeroed(pages as usize),
            blocks: zeroed(blocks as usize),
            by_block: Divisor::new(geometry.pages_per_block),
            last_unit: geometry.units_per_flash_page - 1,
        }
    }

    /// A page can be read from here.
    #[inline]
    pub fn to_read(&self, ppn: Ppn) -> Nanos {
        self.page[(ppn.0 | self.last_unit) as usize]
    }

    /// A block can take its next program from here.
    #[inline]
    pub fn to_program(&self, block: BlockId) -> Nanos {
        self.blocks[block.index()].written
    }

    /// A block can be erased from here.
    #[inline]
    pub fn to_erase(&self, block: BlockId) -> Nanos {
        self.blocks[block.index()].used
    }

    /// Cells of a block are at work until `end`.
    #[inline]
    pub fn uses(&mut self, block: BlockId, end: Nanos) {
        let used = &mut self.blocks[block.index()].used;
        *used = end.max(*used);
    }

    /// A page is programmed until `end`.
    #[inline]
    pub fn programs(&mut self, ppn: Ppn, block: BlockId, end: Nanos) {
        self.programs_page(ppn, end);
        self.programs_block(block, end);
    }

    /// The same as far as the page knows of it.
    #[inline]
    pub fn programs_page(&mut self, ppn: Ppn, end: Nanos) {
        let page = &mut self.page[ppn.index()];
        *page = end.max(*page);
    }

    /// The same as far as its block knows of it.
    #[inline]
    pub fn programs_block(&mut self, block: BlockId, end: Nanos) {
        let written = &mut self.blocks[block.index()].written;
        *written = end.max(*written);
        self.uses(block, end);
    }

    /// A block is erased until `end`.
    #[inline]
    pub fn erases(&mut self, block: BlockId, end: Nanos) {
        let written = &mut self.blocks[block.index()].written;
        *written = end.max(*written);
        self.uses(block, end);
    }

    /// Work that was booked before now ends at `end`; `number` is the page of a read or program,
    /// the block of anything else.
    pub fn moved(&mut self, work: Work, number: u32, end: Nanos) {
        let block_of = |ppn| BlockId(self.by_block.quotient(ppn));
        match work {
            Work::Read => self.uses(block_of(number), end),
            Work::Program => self.programs(Ppn(number), block_of(number), end),
            Work::Erase => self.erases(BlockId(number), end),
            Work::Mark => self.uses(BlockId(number), end),
            Work::Suspend | Work::Transfer | Work::Control | Work::Move | Work::Write => {
                unreachable!("{work:?} is no work of a block")
            }
        }
    }
}
