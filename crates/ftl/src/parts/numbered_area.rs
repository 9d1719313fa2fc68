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
    pub fn len(&self) -> u32 {
        self.blocks.len() as u32
    }

    /// Whether no block is in use.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
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
            let excess = self.len() > self.limit;
            let complete = full && self.len() == self.limit;
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
        if next < self.next || self.blocks.is_empty() {
            self.blocks.push(block);
            self.next = next;
        } else {
            self.blocks.insert(0, block);
        }
    }
}
