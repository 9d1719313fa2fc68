//! The write buffer block: a logical block that is written anew, page by page in order, what the
//! host leaves out being copied. A defusion is the same with nothing written by the host.

use super::{Janus, Target};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::board::settings::ProgramOrder;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{Cause, Event};
use ftlab_flash::request::PageIo;
use ftlab_flash::units::{BlockId, Ppn};
use ftlab_ftl::parts::data_blocks::Lbn;
use ftlab_ftl::parts::page_mapped::{PageMapped, PageTable};

impl Janus {
    /// A fresh block for a logical block, in its plane, or in the one with most room; none if no
    /// plane has a block to spare.
    pub(super) fn take_block(
        &mut self,
        board: &mut Board,
        lbn: Lbn,
        after: When,
    ) -> Result<(Option<BlockId>, When), Fault> {
        let home = lbn.plane(board.geometry());
        let Some(plane) = self.base.space.plane_with_block(home) else { return Ok((None, after)) };
        let (block, ready) = {
            let PageMapped { space, map, .. } = &mut self.base;
            space.take_withheld(board, map, plane, after)?
        };
        // What levelling took away must not come back by the number of its block.
        self.owner_of[block.index()] = 0;
        if self.block_of(lbn).is_none() {
            self.block_table[lbn.index()] = 0;
        }
        self.owner_of[block.index()] = lbn.0 + 1;
        Ok((Some(block), ready))
    }

    /// A write that is not the next of the write buffer block ends its order: under `all_block` the
    /// rest is copied, else what there is becomes page-mapped.
    #[inline]
    pub(super) fn break_order(
        &mut self,
        board: &mut Board,
        lbn: Lbn,
        offset: u32,
        after: When,
    ) -> Result<When, Fault> {
        let Some((open, block)) = self.open else { return Ok(after) };
        // Levelling may have taken the block away.
        let is_there = self.is_held_for(open, block);
        if is_there && open == lbn && offset >= board.nand().state().block(block).top {
            return Ok(after);
        }
        self.open = None;
        if is_there && self.target == Target::AllBlock {
            return self.finish(board, (open, block), after);
        }
        self.abandon(board, open, block);
        Ok(after)
    }

    /// Fusion of both blocks: the one that was being written, and the one that it was to replace.
    fn abandon(&mut self, board: &mut Board, lbn: Lbn, block: BlockId) {
        if self.is_held_for(lbn, block) {
            self.base.space.release_candidate(board.nand(), block);
        }
        self.fuse(board, lbn);
        self.tell(board);
    }

    /// The first page of a logical block, in its new block.
    pub(super) fn write_first(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        block: BlockId,
        after: When,
    ) -> Result<Result<When, When>, Fault> {
        let (lbn, offset) = Lbn::of(board.geometry(), io.lpn);
        let padded = self.pad_to(board, block, offset, after);
        match padded {
            Ok(ready) => {
                let place = board.geometry().page(block, offset);
                self.write_at(board, io, place, ready)
            }
            Err(Fault::ProgramFailed { known, .. }) => {
                self.unmap(board, lbn);
                Ok(Err(known))
            }
            Err(fault) => Err(fault),
        }
    }

    /// The host's page at its place in a block-mapped block.
    pub(super) fn write_at(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        place: Ppn,
        after: When,
    ) -> Result<Result<When, When>, Fault> {
        let old = self.entry(io.lpn);
        let result = self.base.space.program_withheld(board, place, |board| {
            board.program_update(place, old, io, PageKind::Data, after)
        });
        match result {
            Ok(done) => {
                self.live += u64::from(old.is_none());
                self.base.written(board, io.lpn, place);
                Ok(Ok(done))
            }
            // The block takes no more: it is fused, and the page goes elsewhere.
            Err(Fault::ProgramFailed { known, .. }) => Ok(Err(known)),
            Err(fault) => Err(fault),
        }
    }

    /// The host's page in the write buffer block, behind copies of what it left out.
    pub(super) fn write_open(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        after: When,
    ) -> Result<Result<When, When>, Fault> {
        let (lbn, block) = self.open.expect("a rewrite is open");
        let (_, offset) = Lbn::of(board.geometry(), io.lpn);
        let written = match self.copy_up_to(board, (lbn, block), offset, after) {
            Ok(ready) => {
                let place = board.geometry().page(block, offset);
                self.write_at(board, io, place, ready)?
            }
            Err(Fault::ProgramFailed { known, .. }) => Err(known),
            Err(fault) => return Err(fault),
        };
        match written {
            Ok(done) if offset + 1 == board.geometry().pages_per_block => {
                self.open = None;
                self.finish(board, (lbn, block), done).map(Ok)
            }
            Ok(done) => Ok(Ok(done)),
            Err(known) => {
                self.open = None;
                self.abandon(board, lbn, block);
                Ok(Err(known))
            }
        }
    }

    /// Copies the pages that are missing before `offset` into a logical block's new block. A page
    /// that was copied is there from then on, whatever becomes of the others.
    fn copy_up_to(
        &mut self,
        board: &mut Board,
        (lbn, block): (Lbn, BlockId),
        offset: u32,
        after: When,
    ) -> Result<When, Fault> {
        let mut done = after;
        for missing in board.nand().state().block(block).top..offset {
            let lpn = lbn.page(board.geometry(), missing);
            // The last logical block may be cut short.
            if lpn.0 >= board.geometry().logical_pages {
                break;
            }
            let Some(old) = self.entry(lpn) else { continue };
            let ready = self.pad_to(board, block, missing, after)?;
            let new = board.geometry().page(block, missing);
            let space = &mut self.base.space;
            let copied = space.copy_withheld(board, (old, new), Cause::Convert, ready)?;
            self.base.map.table.change(lpn, Some(new));
            self.boundary.copied(1);
            done = done.join(copied);
        }
        self.pad_to(board, block, offset, done)
    }

    /// Where blocks must be written without gaps, fills those up to `offset` with pads.
    fn pad_to(
        &self,
        board: &mut Board,
        block: BlockId,
        offset: u32,
        after: When,
    ) -> Result<When, Fault> {
        let is_last = offset == board.geometry().pages_per_block;
        if self.order != ProgramOrder::Strict || is_last {
            return Ok(after);
        }
        self.base.space.pad_withheld(board, block, offset, after)
    }

    /// Copies the rest of the logical block: the write buffer block is its block from now on, and
    /// the one that it had is erased.
    pub(super) fn finish(
        &mut self,
        board: &mut Board,
        (lbn, block): (Lbn, BlockId),
        after: When,
    ) -> Result<When, Fault> {
        let pages = board.geometry().pages_per_block;
        let done = match self.copy_up_to(board, (lbn, block), pages, after) {
            // Every page was trimmed: nobody's.
            Ok(done) if board.nand().valid_pages(block) == 0 => {
                self.base.space.release_candidate(board.nand(), block);
                self.unmap(board, lbn);
                self.tell(board);
                return Ok(done);
            }
            Ok(done) => done,
            Err(Fault::ProgramFailed { known, .. }) => {
                self.abandon(board, lbn, block);
                return Ok(known);
            }
            Err(fault) => return Err(fault),
        };
        let old = self.block_of(lbn);
        let event = if old.is_some() { Event::BlockRewrites } else { Event::Defusions };
        board.event(event, 1);
        self.map_block(lbn, block);
        let erased = match old {
            Some(old) => self.base.space.erase_withheld(board, old, Cause::Convert, done)?,
            None => done,
        };
        self.tell(board);
        Ok(erased)
    }
}
