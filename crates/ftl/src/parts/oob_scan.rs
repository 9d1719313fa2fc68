//! Reading the out-of-band areas of the device after a power cut, every read charged.
//!
//! Reads of one scan start from the same moment: dies work side by side where the device can.

use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::state::{Oob, OobRead};
use ftlab_flash::board::when::When;
use ftlab_flash::units::{BlockId, Ppn};

/// What became of the pages of one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The block is written upwards: the first erased page ends it.
    Ascending,
    /// Pages may have been left out: every page is read.
    AnyOffset,
}

/// Reads the first page's out-of-band area of a block; enough to know its age and kind.
pub fn first_page(
    board: &mut Board,
    block: BlockId,
    after: When,
) -> Result<(When, OobRead), Fault> {
    let ppn = board.geometry().page(block, 0);
    board.read_oob(ppn, after)
}

/// Reads the out-of-band areas of a block and hands every readable page to `found`.
pub fn block(
    board: &mut Board,
    block: BlockId,
    extent: Extent,
    after: When,
    mut found: impl FnMut(Ppn, Oob),
) -> Result<When, Fault> {
    if board.nand().state().block(block).retired {
        return Ok(after);
    }
    let mut done = after;
    for offset in 0..board.geometry().pages_per_block {
        let ppn = board.geometry().page(block, offset);
        let (read, oob) = board.read_oob(ppn, after)?;
        done = done.join(read);
        match oob {
            OobRead::Written(oob) => found(ppn, oob),
            OobRead::Torn => {}
            OobRead::Free if extent == Extent::Ascending => break,
            OobRead::Free => {}
        }
    }
    Ok(done)
}

/// The same for every block of the device.
pub fn device(
    board: &mut Board,
    extent: Extent,
    after: When,
    mut found: impl FnMut(Ppn, Oob),
) -> Result<When, Fault> {
    let mut done = after;
    for number in 0..board.geometry().blocks() {
        done = done.join(block(board, BlockId(number), extent, after, &mut found)?);
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SharedSettings;
    use ftlab_flash::board::nand::Payload;
    use ftlab_flash::board::nand::state::PageKind;
    use ftlab_flash::meter::Cause;
    use ftlab_flash::settings::Groups as _;

    /// Of a block of eight pages the first two and the fifth are written: those that are found, and
    /// how many are read for it.
    fn scanned(extent: Extent) -> (Vec<u32>, u64) {
        let mut config = SharedSettings::default();
        for (key, value) in [("device.pages_per_block", "8"), ("device.blocks_per_plane", "4")] {
            config.set(key, value).expect("legal");
        }
        let mut board = Board::new(&config, 1, 64);
        for offset in [0, 1, 4] {
            let ppn = board.geometry().page(BlockId(2), offset);
            let what = (PageKind::Map, offset);
            let payload = Payload::Words(&[7]);
            let done = board.program_payload(ppn, what, payload, Cause::Translate, When::START);
            assert!(done.is_ok());
        }
        let mut found = Vec::new();
        let done = block(&mut board, BlockId(2), extent, When::START, |_, oob| {
            found.push(oob.logical);
        });
        assert!(done.is_ok());
        (found, board.meter().oob_reads())
    }

    #[test]
    fn the_first_erased_page_ends_a_block_that_is_written_upwards() {
        assert_eq!(scanned(Extent::Ascending), (vec![0, 1], 3));
    }

    #[test]
    fn behind_a_page_that_was_left_out_the_others_are_found() {
        assert_eq!(scanned(Extent::AnyOffset), (vec![0, 1, 4], 8));
    }
}
