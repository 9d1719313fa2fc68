//! Writes of the merge engine straight to data blocks, without a log block.

use super::{MergeEngine, Sources};
use crate::parts::block_supply::Need;
use crate::parts::data_blocks::Lbn;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{BlockRole, Cause, Event};
use ftlab_flash::request::PageIo;

impl MergeEngine {
    /// Writes a host page straight to its place, in a new data block if there is none yet (the
    /// caller asked [`DataBlocks::takes_in_place`]). If the program fails, the data block moves; a
    /// new one is mapped when the page is in it, and given back otherwise.
    pub fn write_in_place(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        after: When,
    ) -> Result<When, Fault> {
        let (lbn, offset) = Lbn::of(board.geometry(), io.lpn);
        let known = self.data.block(lbn);
        let (block, ready) = match known {
            Some(block) => (block, after),
            None => {
                let room = self.before_map_update(board, lbn, after)?;
                let plane = lbn.plane(board.geometry());
                self.supply.take(board, plane, Need::Growth, room)?
            }
        };
        let slot = board.geometry().page(block, offset);
        let old = self.newest(board.nand(), io.lpn);
        let padded = self.pad_to(board, block, offset, ready);
        let written =
            padded.and_then(|start| board.program_update(slot, old, io, PageKind::Data, start));
        match written {
            Ok(done) => {
                // The slot was erased, so an older copy can only be in a log block.
                if self.logs.get(io.lpn).is_some() {
                    self.forget(board, io.lpn);
                }
                if known.is_none() {
                    self.map_block(board.nand(), lbn, block);
                    return self.update_map(board, lbn, Cause::Translate, done);
                }
                Ok(done)
            }
            Err(Fault::ProgramFailed { known: failed, .. }) => {
                board.event(Event::ProgramFailures, 1);
                let rebuilt = self.rebuild(board, lbn, Some(io), Sources::DataBlock, failed);
                if known.is_some() || rebuilt == Err(Fault::PowerCut) {
                    return rebuilt;
                }
                let (what, from) = ((BlockRole::Data, Cause::Merge), rebuilt.unwrap_or(failed));
                let given = self.supply.give_back(board, block, what, from)?;
                rebuilt.map(|_| given)
            }
            Err(fault) => Err(fault),
        }
    }
}
