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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SharedSettings;
    use ftlab_flash::settings::Groups as _;
    use ftlab_flash::units::Lpn;

    /// 10,000 pages of 512 bytes, whose trims three records of 4,032 bits tell; blocks of four.
    fn device() -> (Board, BlockSupply, SharedSettings) {
        let mut config = SharedSettings::default();
        let pairs = [("device.page_bytes", "512"), ("device.pages_per_block", "4")];
        pairs.iter().for_each(|(key, value)| config.set(key, value).expect("legal"));
        config.device.set_capacity(10_000 * 512, 0);
        config.device.blocks_per_plane = 2600;
        let board = Board::new(&config, 1, 16);
        let supply = BlockSupply::new(&board, &config);
        (board, supply, config)
    }

    /// A block for three records, one for those that replace them, and one more.
    #[test]
    fn the_area_has_room_for_two_records_a_segment_and_a_block() {
        let (board, ..) = device();
        assert_eq!(RecordArea::blocks(board.geometry()), 3);
        assert_eq!(RecordArea::ram_bytes(board.geometry()), 12);
    }

    /// Trims of two segments are flushed, then one of the first again: three pages. Behind a power
    /// cut the block with the live ones is gone on with.
    #[test]
    fn records_are_appended_before_and_behind_a_power_cut() {
        let (mut board, mut supply, config) = device();
        let mut area = RecordArea::new(board.geometry());
        let mut trims = TrimRecords::new(board.geometry());
        for lpns in [&[3, 5000][..], &[4]] {
            lpns.iter().for_each(|&lpn| trims.trim(Lpn(lpn)));
            let flushed = area.flush(&mut board, &mut supply, &mut trims, When::START);
            assert!(flushed.is_ok_and(|done| done != When::START));
        }
        assert_eq!((area.blocks_in_use(), board.meter().programs(Cause::Trim)), (1, 3));
        let records = [0, 1].map(|segment| trims.location(segment).expect("it was flushed"));
        let block = board.geometry().block_of(records[0]);
        assert_eq!(board.nand().valid_pages(block), 2, "the first record was replaced");
        board.nand_mut().cut_power();
        board.power_on();
        let live = [(0, records[0]), (1, records[1])];
        let found = TrimRecords::recover(&mut board, &live, When::START);
        let (mut trims, ..) = found.expect("nothing fails");
        let role = |_: &Board, block: BlockId| unreachable!("block {block} is not erased");
        let found = BlockSupply::recover(&mut board, &config, role, When::START);
        let (mut supply, _) = found.expect("nothing fails");
        let mut area = RecordArea::new(board.geometry());
        area.resume(board.nand(), block);
        assert_eq!(area.blocks_in_use(), 1);
        trims.trim(Lpn(9999));
        let flushed = area.flush(&mut board, &mut supply, &mut trims, When::START);
        assert!(flushed.is_ok());
        let third = trims.location(2).expect("it was flushed");
        assert_eq!((third.0, area.blocks_in_use()), (records[0].0 + 1, 1), "the next page");
    }
}
