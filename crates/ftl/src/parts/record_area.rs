//! Where trim records go in schemes whose other blocks are data and log blocks: an area of numbered
//! pages, one live record per segment.

use crate::parts::block_supply::BlockSupply;
use crate::parts::numbered_area::NumberedArea;
use crate::parts::trim_records::TrimRecords;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::board::nand::{Nand, Payload};
use ftlab_flash::board::when::When;
use ftlab_flash::meter::Cause;
use ftlab_flash::units::{BlockId, zeroed};

/// The blocks that hold trim records.
#[derive(Clone, Debug)]
pub struct RecordArea {
    area: NumberedArea,
    words: Vec<u32>,
}

impl RecordArea {
    /// Blocks in use.
    pub fn blocks_in_use(&self) -> u32 {
        self.area.blocks_in_use()
    }

    /// No block yet.
    pub fn new(geometry: &Geometry) -> Self {
        let segments = TrimRecords::segments(geometry);
        RecordArea {
            area: NumberedArea::new(geometry, PageKind::TrimRecord, segments),
            words: zeroed(geometry.entries_per_page() as usize),
        }
    }

    /// Most blocks in use between two flushes.
    pub fn blocks(geometry: &Geometry) -> u32 {
        NumberedArea::blocks(geometry, TrimRecords::segments(geometry))
    }

    /// RAM: 4 bytes per block.
    pub fn ram_bytes(geometry: &Geometry) -> u64 {
        NumberedArea::ram_bytes(geometry, TrimRecords::segments(geometry))
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
            let moved = |segment, ppn| trims.moved(segment, ppn);
            when = self.area.make_room(board, supply, Cause::Trim, moved, when)?;
            trims.fill(segment, board.nand().sequence(), &mut self.words);
            let words = &self.words;
            let what = (PageKind::TrimRecord, segment);
            let (ppn, done) = self.area.program(board, supply, when, |board, ppn, ready| {
                board.program_payload(ppn, what, Payload::Words(words), Cause::Trim, ready)
            })?;
            if let Some(old) = trims.location(segment) {
                board.nand_mut().invalidate(old);
            }
            trims.recorded(segment, ppn);
            when = done;
        }
        Ok(when)
    }

    /// Takes over a block with live records found after a power cut.
    pub fn resume(&mut self, nand: &Nand, block: BlockId) {
        self.area.resume(nand, block);
    }
}
