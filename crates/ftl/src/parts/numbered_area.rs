//! A few blocks of their own for numbered pages, of each number of which at most one is alive: trim
//! records by segment, map pages by part of the map. For schemes whose other blocks are data and
//! log blocks.
//!
//! Pages are appended. When all blocks of the area are full, the one with fewest live pages is
//! emptied into the next. The area is twice as large as its live pages, and one block, so that
//! block is at most half alive. Blocks are taken when the first page is written, never before. What
//! a power cut during that leaves, a block too many, is emptied before the next page is written.
//!
//! What this is not: a directory. Where the live page of a number is, the owner knows.

use crate::parts::block_supply::{BlockSupply, Need};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::Nand;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::nand::state::{OobRead, PageKind};
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{BlockRole, Cause, Event};
use ftlab_flash::units::{BlockId, Ppn};

/// The blocks that hold numbered pages.
#[derive(Clone, Debug)]
pub struct NumberedArea {
    kind: PageKind,
    /// Full blocks and, last, the one being written.
    blocks: Vec<BlockId>,
    /// Next offset of the last block; the block's end when it takes no more.
    next: u32,
    limit: u32,
    pages_per_block: u32,
}

impl NumberedArea {
    /// No block yet; for pages of one kind, numbers `0 .. numbers`.
    pub fn new(geometry: &Geometry, kind: PageKind, numbers: u32) -> Self {
        Self::of_size(geometry, kind, Self::blocks(geometry, numbers))
    }

    /// No block yet; for pages of one kind in `limit` blocks.
    pub fn of_size(geometry: &Geometry, kind: PageKind, limit: u32) -> Self {
        NumberedArea {
            kind,
            // One more while a block is emptied; recovery may find another.
            blocks: Vec::with_capacity(limit as usize + 8),
            next: geometry.pages_per_block,
            limit,
            pages_per_block: geometry.pages_per_block,
        }
    }

    /// Most blocks in use between two writes.
    pub fn blocks(geometry: &Geometry, numbers: u32) -> u32 {
        2 * numbers.div_ceil(geometry.pages_per_block) + 1
    }

    /// RAM: 4 bytes per block.
    pub fn ram_bytes(geometry: &Geometry, numbers: u32) -> u64 {
        u64::from(Self::blocks(geometry, numbers)) * 4
    }

    /// Blocks in use.
    pub fn blocks_in_use(&self) -> u32 {
        self.blocks.len() as u32
    }

    /// Live pages.
    pub fn valid_pages(&self, nand: &Nand) -> u32 {
        self.blocks.iter().map(|&block| nand.valid_pages(block)).sum()
    }

    /// Empties the block with fewest live pages when every block of the area is full, and blocks
    /// beyond the limit whenever there are any. Tells (number, new place) of every page that moves.
    pub fn make_room(
        &mut self,
        board: &mut Board,
        supply: &mut BlockSupply,
        cause: Cause,
        mut moved: impl FnMut(u32, Ppn),
        after: When,
    ) -> Result<When, Fault> {
        let mut when = after;
        loop {
            let full = self.next == self.pages_per_block;
            let excess = self.blocks_in_use() > self.limit;
            let complete = full && self.blocks_in_use() == self.limit;
            if !(excess || complete) {
                return Ok(when);
            }
            // The block being written is the last one, and is not emptied into itself.
            let candidates = self.blocks.len() - usize::from(!full);
            let valid = |&place: &usize| board.nand().valid_pages(self.blocks[place]);
            let place = (0..candidates).min_by_key(valid).expect("the area has blocks");
            let victim = self.blocks[place];
            let mut offset = 0;
            while let Some(old) = board.nand().state().next_valid(victim, offset) {
                offset = board.geometry().offset_of(old) + 1;
                let OobRead::Written(oob) = board.nand().state().oob(old) else {
                    unreachable!("a valid page is readable");
                };
                let kind = self.kind;
                // The copy leaves the old page invalid.
                let (new, done) = self.program(board, supply, when, |board, ppn, ready| {
                    board.copy(old, ppn, kind, cause, ready)
                })?;
                moved(oob.logical, new);
                when = done;
            }
            when = supply.release(board, victim, BlockRole::Map, cause, when)?;
            self.blocks.remove(place);
        }
    }

    /// Takes the block that the next page goes to, if the last one is full: what a merge does
    /// before it begins, so that it cannot run out of blocks at its end.
    pub fn open(
        &mut self,
        board: &mut Board,
        supply: &mut BlockSupply,
        after: When,
    ) -> Result<When, Fault> {
        if self.next < self.pages_per_block {
            return Ok(after);
        }
        let plane = supply.next_plane();
        let (block, ready) = supply.take(board, plane, Need::Merge, after)?;
        self.blocks.push(block);
        self.next = 0;
        Ok(ready)
    }

    /// Programs the next page of the area; a failed program closes the block.
    pub fn program(
        &mut self,
        board: &mut Board,
        supply: &mut BlockSupply,
        after: When,
        mut program: impl FnMut(&mut Board, Ppn, When) -> Result<When, Fault>,
    ) -> Result<(Ppn, When), Fault> {
        let mut after = after;
        loop {
            let ready = self.open(board, supply, after)?;
            let block = *self.blocks.last().expect("opened above");
            let ppn = board.geometry().page(block, self.next);
            match program(board, ppn, ready) {
                Ok(done) => {
                    self.next += 1;
                    return Ok((ppn, done));
                }
                Err(Fault::ProgramFailed { known, .. }) => {
                    after = known;
                    board.event(Event::ProgramFailures, 1);
                    self.next = self.pages_per_block;
                }
                Err(fault) => return Err(fault),
            }
        }
    }

    /// Takes over a block with live pages found after a power cut; the emptiest of them goes on
    /// being written.
    pub fn resume(&mut self, nand: &Nand, block: BlockId) {
        let known = nand.state().block(block);
        let next = if known.read_only { self.pages_per_block } else { known.top };
        if next < self.next {
            self.blocks.push(block);
            self.next = next;
        } else {
            self.blocks.insert(0, block);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SharedSettings;
    use ftlab_flash::board::nand::Payload;
    use ftlab_flash::settings::Groups as _;

    /// Eight blocks of four pages.
    fn device() -> (Board, BlockSupply) {
        let mut config = SharedSettings::default();
        for (key, value) in [("device.pages_per_block", "4"), ("device.blocks_per_plane", "8")] {
            config.set(key, value).expect("legal");
        }
        let board = Board::new(&config, 1, 32);
        let supply = BlockSupply::new(&board, &config);
        (board, supply)
    }

    fn area(board: &Board, limit: u32) -> NumberedArea {
        NumberedArea::of_size(board.geometry(), PageKind::Map, limit)
    }

    /// Writes the page of a number: where.
    fn write(
        area: &mut NumberedArea,
        (board, supply): &mut (Board, BlockSupply),
        number: u32,
    ) -> Ppn {
        let words = [number];
        let written = area.program(board, supply, When::START, |board, ppn, ready| {
            let what = (PageKind::Map, number);
            board.program_payload(ppn, what, Payload::Words(&words), Cause::Merge, ready)
        });
        written.expect("nothing fails").0
    }

    /// What moves when room is made: numbers, and where they are now.
    fn moves(
        area: &mut NumberedArea,
        (board, supply): &mut (Board, BlockSupply),
    ) -> Vec<(u32, u32)> {
        let mut moved = Vec::new();
        let note = |number, ppn: Ppn| moved.push((number, ppn.0));
        let done = area.make_room(board, supply, Cause::Merge, note, When::START);
        assert!(done.is_ok(), "there is room");
        moved
    }

    /// Twice the blocks that the pages of all numbers fill, and one.
    #[test]
    fn an_area_is_twice_its_pages_and_a_block() {
        let (board, _) = device();
        let blocks = [1, 4, 5, 12].map(|numbers| NumberedArea::blocks(board.geometry(), numbers));
        assert_eq!(blocks, [3, 3, 5, 7]);
        assert_eq!(NumberedArea::ram_bytes(board.geometry(), 5), 20);
    }

    /// Blocks 0 and 1 are full; of the first, numbers 0 and 3 are alive, of the second all.
    #[test]
    fn a_full_area_empties_the_block_with_fewest_live_pages_into_the_next() {
        let mut device = device();
        let mut area = area(&device.0, 2);
        for number in 0..8 {
            assert_eq!(moves(&mut area, &mut device), []);
            assert_eq!(write(&mut area, &mut device, number), Ppn(number));
        }
        for ppn in [1, 2] {
            device.0.nand_mut().discard(Ppn(ppn));
        }
        assert_eq!(area.valid_pages(device.0.nand()), 6);
        assert_eq!(moves(&mut area, &mut device), [(0, 8), (3, 9)]);
        assert_eq!((area.blocks_in_use(), area.valid_pages(device.0.nand())), (2, 6));
        assert_eq!(device.1.free_blocks(), 6, "block 0 is erased");
        // The block being written takes two more before anything has to move.
        assert_eq!(moves(&mut area, &mut device), []);
        assert_eq!(write(&mut area, &mut device, 1), Ppn(10));
    }

    /// Behind a power cut: block 0 with three pages, 1 with two, 2 with two, 3 full, found in this
    /// order. The first of the emptiest goes on being written, and is not emptied, though fewest of
    /// its pages are alive.
    #[test]
    fn after_a_power_cut_the_emptiest_block_is_written_on_and_what_is_too_many_is_emptied() {
        let mut device = device();
        let page = |block: u32, offset: u32| Ppn(4 * block + offset);
        for (block, pages) in [(0, 3), (1, 2), (2, 2), (3, 4)] {
            for offset in 0..pages {
                let (number, words) = (10 * block + offset, [0]);
                let what = (PageKind::Map, number);
                let payload = Payload::Words(&words);
                let ppn = page(block, offset);
                let done = device.0.program_payload(ppn, what, payload, Cause::Merge, When::START);
                assert!(done.is_ok());
            }
        }
        for _ in 0..4 {
            let plane = device.1.next_plane();
            assert!(device.1.take(&device.0, plane, Need::Merge, When::START).is_ok());
        }
        device.0.nand_mut().discard(page(1, 0));
        let mut area = area(&device.0, 3);
        (0..4).for_each(|block| area.resume(device.0.nand(), BlockId(block)));
        assert_eq!((area.blocks_in_use(), area.valid_pages(device.0.nand())), (4, 10));
        // Of the other three block 2 has fewest live pages, which go behind those of block 1. That
        // is full now, and of three full blocks block 0 has as few live pages as any.
        let moved = moves(&mut area, &mut device);
        let at = |block, offset| page(block, offset).0;
        let expected =
            [(20, at(1, 2)), (21, at(1, 3)), (0, at(4, 0)), (1, at(4, 1)), (2, at(4, 2))];
        assert_eq!((moved, area.blocks_in_use()), (expected.to_vec(), 3));
        assert_eq!(write(&mut area, &mut device, 20), page(4, 3));
    }
}
