//! The copies of a merge: into which block, from where, and what fills the gaps.

use std::ops::Range;

use super::{MergeEngine, Sources};
use crate::parts::data_blocks::{Lbn, newest_in};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::Payload;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::state::{OobRead, PageKind};
use ftlab_flash::board::settings::ProgramOrder;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::Cause;
use ftlab_flash::request::PageIo;
use ftlab_flash::units::{BlockId, Lpn, Ppn};

impl MergeEngine {
    /// Copies into `target`, upwards, all but the pages that it holds; sources stay valid.
    pub(in crate::parts) fn gather(
        &mut self,
        board: &mut Board,
        (lbn, target, held): (Lbn, BlockId, &Range<u32>),
        insert: Option<&PageIo>,
        (sources, cause): (Sources, Cause),
        after: When,
    ) -> Result<When, Fault> {
        // What follows a pad waits for it, which no page of a run does for another.
        let most = if self.data.order() == ProgramOrder::Strict { 1 } else { usize::MAX };
        let (mut done, mut first) = (after, 0);
        let data = self.data.block(lbn);
        self.run.clear();
        for offset in missing(board, held) {
            let lpn = lbn.page(board.geometry(), offset);
            let slot = board.geometry().page(target, offset);
            let insert = insert.filter(|io| io.lpn == lpn);
            let in_data = || newest_in(board.nand(), data, offset);
            let source = match sources {
                _ if insert.is_some() => None,
                Sources::Newest | Sources::NewestWithWaste => self.logs.get(lpn).or_else(in_data),
                Sources::DataBlock => in_data(),
            };
            if let Some(source) = source.filter(|&source| source != slot) {
                if first + self.run.len() as u32 != offset || self.run.len() == most {
                    done = done.join(self.copy_run(board, (target, first), cause, after)?);
                    first = offset;
                }
                self.run.push(source);
                continue;
            }
            if insert.is_none() && sources != Sources::NewestWithWaste {
                continue;
            }
            done = done.join(self.copy_run(board, (target, first), cause, after)?);
            let written = match insert {
                Some(io) => {
                    let old = self.newest(board.nand(), lpn);
                    let start = self.pad_to(board, target, offset, after)?;
                    board.program_update(slot, old, io, PageKind::Data, start)?
                }
                None => self.copy_nothing(board, lpn, slot, after)?,
            };
            done = done.join(written);
        }
        Ok(done.join(self.copy_run(board, (target, first), cause, after)?))
    }

    /// Copies the pages of the run to their places from `first` on.
    fn copy_run(
        &mut self,
        board: &mut Board,
        (target, first): (BlockId, u32),
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        if self.run.is_empty() {
            return Ok(after);
        }
        let start = self.pad_to(board, target, first, after)?;
        let to = board.geometry().page(target, first);
        let done = board.copy_run((&self.run, to), PageKind::Data, cause, start)?;
        self.run.clear();
        Ok(done)
    }

    /// Programs the place of an invalid data page with what nobody will read, as the public code
    /// does by mistake (`docs/papers/others.md#fast`, corner case d); nothing if the data page was
    /// never programmed.
    #[cold]
    fn copy_nothing(
        &self,
        board: &mut Board,
        lpn: Lpn,
        slot: Ppn,
        after: When,
    ) -> Result<When, Fault> {
        let Some(dead) = self.data.page(board.geometry(), lpn) else { return Ok(after) };
        let OobRead::Written(oob) = board.nand().state().oob(dead) else { return Ok(after) };
        let block = board.geometry().block_of(slot);
        let offset = board.geometry().offset_of(slot);
        let mut from = self.pad_to(board, block, offset, after)?;
        if oob.kind == PageKind::Pad {
            // Wasted before, and taken for a valid page ever since: it is copied.
            (from, _) = board.read(dead, Cause::Merge, from)?;
        }
        let what = (PageKind::Pad, 0);
        let done = board.program_payload(slot, what, Payload::Words(&[]), Cause::Merge, from)?;
        board.nand_mut().discard(slot);
        Ok(done)
    }

    /// Fills the block up to `offset` where the flash demands it.
    pub fn pad_to(
        &self,
        board: &mut Board,
        block: BlockId,
        offset: u32,
        after: When,
    ) -> Result<When, Fault> {
        let mut done = after;
        if self.data.order() != ProgramOrder::Strict {
            return Ok(done);
        }
        for hole in board.nand().state().block(block).top..offset {
            let ppn = board.geometry().page(block, hole);
            let what = (PageKind::Pad, 0);
            done = board.program_payload(ppn, what, Payload::Words(&[]), Cause::Pad, done)?;
            board.nand_mut().discard(ppn);
        }
        Ok(done)
    }
}

/// Offsets of a block outside `held`, upwards.
fn missing(board: &Board, held: &Range<u32>) -> impl Iterator<Item = u32> + use<> {
    let held = held.clone();
    (0..board.geometry().pages_per_block).filter(move |offset| !held.contains(offset))
}
