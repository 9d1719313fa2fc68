//! A few blocks of their own for trim records, in schemes whose other blocks are data and log
//! blocks.
//!
//! Records are appended; at most one per segment is alive. When all blocks of the area are full,
//! the one with fewest live records is emptied into the next. The area is twice as large as its
//! live records, and one block, so that block is at most half alive. Blocks are taken when the
//! first record is written, never before.

use crate::board::Board;
use crate::board::nand::fault::Fault;
use crate::board::nand::geometry::Geometry;
use crate::board::nand::state::{OobRead, PageKind};
use crate::board::nand::{Nand, Payload};
use crate::board::when::When;
use crate::meter::{BlockRole, Cause, Event};
use crate::parts::block_supply::{BlockSupply, Need};
use crate::parts::trim_records::TrimRecords;
use crate::units::{BlockId, Ppn, zeroed};

/// The blocks that hold trim records.
#[derive(Clone, Debug)]
pub struct RecordArea {
    /// Full blocks and, last, the one being written.
    blocks: Vec<BlockId>,
    /// Next offset of the last block; the block's end when it takes no more.
    next: u32,
    limit: u32,
    pages_per_block: u32,
    words: Vec<u32>,
}

impl RecordArea {
    /// Blocks in use.
    pub fn len(&self) -> u32 {
        self.blocks.len() as u32
    }

    /// Whether no block is in use.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// No block yet.
    pub fn new(geometry: &Geometry) -> Self {
        let limit = Self::blocks(geometry);
        RecordArea {
            // One more while a block is emptied; recovery may find another.
            blocks: Vec::with_capacity(limit as usize + 8),
            next: geometry.pages_per_block,
            limit,
            pages_per_block: geometry.pages_per_block,
            words: zeroed(geometry.entries_per_page() as usize),
        }
    }

    /// Most blocks in use between two flushes.
    pub fn blocks(geometry: &Geometry) -> u32 {
        2 * TrimRecords::segments(geometry).div_ceil(geometry.pages_per_block) + 1
    }

    /// RAM: 4 bytes per block.
    pub fn ram_bytes(geometry: &Geometry) -> u64 {
        u64::from(Self::blocks(geometry)) * 4
    }

    /// Writes a record for every segment that changed since the last flush.
    pub fn flush(
        &mut self,
        board: &mut Board,
        supply: &mut BlockSupply,
        trims: &mut TrimRecords,
        after: When,
    ) -> Result<When, Fault> {
        let mut when = after;
        while let Some((segment, _)) = trims.next_pending() {
            when = self.make_room(board, supply, trims, when)?;
            trims.fill(segment, board.nand().sequence(), &mut self.words);
            let words = std::mem::take(&mut self.words);
            let what = (PageKind::TrimRecord, segment);
            let written = self.program(board, supply, when, |board, ppn, ready| {
                board.program_payload(ppn, what, Payload::Words(&words), Cause::Trim, ready)
            });
            self.words = words;
            let (ppn, done) = written?;
            if let Some(old) = trims.location(segment) {
                board.nand_mut().invalidate(old);
            }
            trims.recorded(segment, ppn);
            when = done;
        }
        Ok(when)
    }

    /// Empties the block with fewest live records when every block of the area is full.
    fn make_room(
        &mut self,
        board: &mut Board,
        supply: &mut BlockSupply,
        trims: &mut TrimRecords,
        after: When,
    ) -> Result<When, Fault> {
        let mut when = after;
        while self.next == self.pages_per_block && self.blocks.len() as u32 >= self.limit {
            let valid = |&place: &usize| board.nand().valid_pages(self.blocks[place]);
            let place = (0..self.blocks.len()).min_by_key(valid).expect("the area has blocks");
            let victim = self.blocks[place];
            let mut offset = 0;
            while let Some(old) = board.nand().state().next_valid(victim, offset) {
                offset = board.geometry().offset_of(old) + 1;
                let OobRead::Written(oob) = board.nand().state().oob(old) else {
                    unreachable!("a valid page is readable");
                };
                // The copy leaves the old record invalid.
                let (new, done) = self.program(board, supply, when, |board, ppn, ready| {
                    board.copy(old, ppn, PageKind::TrimRecord, Cause::Trim, ready)
                })?;
                trims.moved(oob.logical, new);
                when = done;
            }
            when = supply.release(board, victim, BlockRole::Map, Cause::Trim, when)?;
            self.blocks.remove(place);
        }
        Ok(when)
    }

    /// Programs the next page of the area; a failed program closes the block.
    fn program(
        &mut self,
        board: &mut Board,
        supply: &mut BlockSupply,
        after: When,
        mut program: impl FnMut(&mut Board, Ppn, When) -> Result<When, Fault>,
    ) -> Result<(Ppn, When), Fault> {
        let mut after = after;
        loop {
            let mut ready = after;
            if self.next == self.pages_per_block {
                let plane = supply.next_plane();
                let (block, erased) = supply.take(board, plane, Need::Merge, after)?;
                self.blocks.push(block);
                self.next = 0;
                ready = erased;
            }
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

    /// Takes over a block with live records found after a power cut; the emptiest of them goes on
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
