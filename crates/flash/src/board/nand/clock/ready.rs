//! What the flash demands across requests: since when pages can be read, blocks programmed and
//! erased.

use super::timeline::Work;
use crate::board::nand::geometry::Geometry;
use crate::units::{BlockId, Divisor, Nanos, Ppn, zeroed};
use zerocopy::FromZeros;

/// When pages and blocks are ready for what.
#[derive(Clone, Debug)]
pub(super) struct Ready {
    /// When each page's program ends, at its last mapping unit, which is no later than its block's
    /// last write; empty in the serial profile.
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

    /// When a read of a page can begin that could at `from`. Where all of its block is written by
    /// then, nothing else is looked at.
    #[inline]
    pub fn read_from(&self, ppn: Ppn, block: BlockId, from: Nanos) -> Nanos {
        match self.to_program(block) <= from {
            true => from,
            false => from.max(self.to_read(ppn)),
        }
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
        let page = &mut self.page[ppn.index()];
        *page = end.max(*page);
        self.erases(block, end);
    }

    /// The same where `end` is behind all that was written to the block.
    #[inline]
    pub fn programs_next(&mut self, ppn: Ppn, block: BlockId, end: Nanos) {
        self.page[ppn.index()] = end;
        self.writes_last(block, end);
    }

    /// The same of consecutive pages: one is programmed until `end`, each of the others `step`
    /// later than the one before. Says of each when that is.
    #[inline(always)]
    pub fn programs_row<T>(
        &mut self,
        (first, block): (Ppn, BlockId),
        (end, step): (Nanos, Nanos),
        pages: impl ExactSizeIterator<Item = T>,
        mut tell: impl FnMut(T, Nanos),
    ) {
        let mut ends = end;
        let count = pages.len();
        let places = &mut self.page[first.index()..first.index() + count];
        for (place, page) in places.iter_mut().zip(pages) {
            *place = ends;
            tell(page, ends);
            ends += step;
        }
        self.writes_last(block, ends - step);
    }

    #[inline]
    fn writes_last(&mut self, block: BlockId, end: Nanos) {
        let known = &mut self.blocks[block.index()];
        debug_assert!(end >= known.written, "block {block}: {end} is before {}", known.written);
        *known = BlockReady { written: end, used: end.max(known.used) };
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

#[cfg(test)]
mod tests {
    use super::super::suspend_tests::clock;
    use super::*;

    /// Four mapping units share a flash page, which is programmed with the last of them.
    #[test]
    fn every_unit_of_a_flash_page_can_be_read_when_the_last_one_is_programmed() {
        let (_, geometry) = clock(&[("device.mapping_unit", "512")]);
        let mut ready = Ready::new(geometry.pages(), geometry.blocks(), &geometry);
        ready.programs(Ppn(3), BlockId(0), 500);
        ready.programs(Ppn(7), BlockId(0), 800);
        let units = (0..9).map(|unit| ready.to_read(Ppn(unit)));
        assert!(units.eq([500, 500, 500, 500, 800, 800, 800, 800, 0]));
    }
}
