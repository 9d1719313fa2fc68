//! Trims and the blocks that hold their records, in schemes that use whole blocks.

use crate::parts::block_supply::BlockSupply;
use crate::parts::record_area::RecordArea;
use crate::parts::trim_records::TrimRecords;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::Nand;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::when::When;
use ftlab_flash::units::{BlockId, Lpn};

/// What is trimmed, and where that is recorded.
#[derive(Clone, Debug)]
pub struct BlockTrims {
    trims: TrimRecords,
    records: RecordArea,
}

impl BlockTrims {
    /// Nothing trimmed.
    pub fn new(geometry: &Geometry) -> Self {
        BlockTrims { trims: TrimRecords::new(geometry), records: RecordArea::new(geometry) }
    }

    /// RAM of bits, locations and the list of blocks.
    pub fn ram_bytes(geometry: &Geometry) -> u64 {
        TrimRecords::ram_bytes(geometry) + RecordArea::ram_bytes(geometry)
    }

    /// A page was written: trims before it no longer hold.
    #[inline]
    pub fn written(&mut self, lpn: Lpn) {
        self.trims.written(lpn);
    }

    /// A page that held something was trimmed.
    pub fn trim(&mut self, lpn: Lpn) {
        self.trims.trim(lpn);
    }

    /// Trimmed pages whose records a flush must write.
    pub fn unrecorded(&self) -> impl Iterator<Item = Lpn> + '_ {
        self.trims.unrecorded()
    }

    /// Records trims.
    pub fn flush(
        &mut self,
        board: &mut Board,
        supply: &mut BlockSupply,
        after: When,
    ) -> Result<When, Fault> {
        self.records.flush(board, supply, &mut self.trims, after)
    }

    /// Blocks that hold records.
    pub fn blocks(&self) -> u32 {
        self.records.blocks_in_use()
    }

    /// After a power cut: trims as they were recorded, and the blocks with the records.
    pub fn recovered(nand: &Nand, trims: TrimRecords, blocks: &[BlockId]) -> Self {
        let mut records = RecordArea::new(nand.geometry());
        blocks.iter().for_each(|&block| records.resume(nand, block));
        BlockTrims { trims, records }
    }
}
