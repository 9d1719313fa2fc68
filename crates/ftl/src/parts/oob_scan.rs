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
