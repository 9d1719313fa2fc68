//! The rewrite of a data block by several host pages: what lies before them is copied to a fresh
//! block, they follow as they come, and what lies behind them is copied when the last is there.
//!
//! From the first copy to the last the logical block has two blocks. Every page has its newest copy
//! in one of them, so that reads in between are right and a power cut loses nothing; the old block
//! goes when the new one is complete. What this is not: a judge of which pages belong together.

use std::ops::Range;

use crate::parts::block_supply::Need;
use crate::parts::data_blocks::Lbn;
use crate::parts::merge_engine::{MergeEngine, Sources};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{BlockRole, Cause, Event};
use ftlab_flash::request::{PageIo, RequestShape};
use ftlab_flash::units::BlockId;

/// A rewrite under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Open {
    lbn: Lbn,
    /// The new block: it holds the newest copies below `next`.
    target: BlockId,
    /// The offset that is written next.
    next: u32,
    /// The offset behind the last one that the host writes.
    end: u32,
    /// First page and pages of the request.
    request: (u32, u32),
}

/// A place for one rewrite.
#[derive(Clone, Debug, Default)]
pub struct BlockRewrite {
    open: Option<Open>,
}

fn identity(request: &RequestShape) -> (u32, u32) {
    (request.first_lpn.0, request.pages)
}

impl BlockRewrite {
    /// RAM: logical block, new block, next offset and end.
    pub const RAM_BYTES: u64 = 16;

    /// Blocks in use beside the data blocks.
    pub fn blocks(&self) -> u32 {
        u32::from(self.open.is_some())
    }

    /// Whether this page is the next one of the rewrite under way.
    #[inline]
    pub fn continues_with(&self, board: &Board, io: &PageIo) -> bool {
        self.open.is_some_and(|open| {
            Lbn::of(board.geometry(), io.lpn) == (open.lbn, open.next)
                && identity(&io.request) == open.request
        })
    }

    /// Begins a rewrite by the host pages at `offsets`, the first of which is `io`.
    pub fn begin(
        &mut self,
        board: &mut Board,
        engine: &mut MergeEngine,
        io: &PageIo,
        offsets: Range<u32>,
        after: When,
    ) -> Result<When, Fault> {
        assert!(self.open.is_none(), "a rewrite is under way");
        let (lbn, offset) = Lbn::of(board.geometry(), io.lpn);
        assert_eq!(offset, offsets.start, "the first page comes first");
        assert!(engine.data.block(lbn).is_some(), "logical block {} has no block", lbn.0);
        let (target, ready) = take_prefix(board, engine, lbn, offset, after)?;
        let request = identity(&io.request);
        self.open = Some(Open { lbn, target, next: offset, end: offsets.end, request });
        self.write(board, engine, io, ready)
    }

    /// Writes the next host page; the last one completes the rewrite.
    pub fn write(
        &mut self,
        board: &mut Board,
        engine: &mut MergeEngine,
        io: &PageIo,
        after: When,
    ) -> Result<When, Fault> {
        let mut when = after;
        let done = loop {
            when = self.leave_broken(board, engine, when)?;
            let Open { target, next, .. } = self.under_way();
            let slot = board.geometry().page(target, next);
            let old = engine.newest(board.nand(), io.lpn);
            let padded = engine.pad_to(board, target, next, when);
            let written =
                padded.and_then(|start| board.program_update(slot, old, io, PageKind::Data, start));
            match written {
                Ok(done) => {
                    supersede(board, engine, Lbn::of(board.geometry(), io.lpn), target);
                    break done;
                }
                Err(Fault::ProgramFailed { known, .. }) => {
                    board.event(Event::ProgramFailures, 1);
                    when = known;
                }
                Err(fault) => return Err(fault),
            }
        };
        let open = self.open.as_mut().expect("written above");
        open.next += 1;
        if open.next < open.end {
            return Ok(done);
        }
        match self.finish(board, engine, done) {
            // The page is written. Who writes next hears that there is no block for the rest.
            Err(Fault::DeviceFull { .. } | Fault::WornOut { .. }) => Ok(done),
            other => other,
        }
    }

    /// Completes the rewrite with what lies behind the pages that came; the old block goes.
    pub fn finish(
        &mut self,
        board: &mut Board,
        engine: &mut MergeEngine,
        after: When,
    ) -> Result<When, Fault> {
        let mut when = after;
        while self.open.is_some() {
            when = self.leave_broken(board, engine, when)?;
            let Open { lbn, target, next, .. } = self.under_way();
            match engine.complete(board, (lbn, target, 0..next), None, when) {
                Ok(done) => {
                    self.open = None;
                    when = done;
                }
                Err(Fault::ProgramFailed { known, .. }) => when = known,
                Err(fault) => return Err(fault),
            }
        }
        Ok(when)
    }

    /// If a program of the new block failed, now or when there was no other block, it takes no more
    /// pages: they go to another.
    #[inline]
    fn leave_broken(
        &mut self,
        board: &mut Board,
        engine: &mut MergeEngine,
        after: When,
    ) -> Result<When, Fault> {
        if board.nand().state().block(self.under_way().target).read_only {
            return self.change_target(board, engine, after);
        }
        Ok(after)
    }

    /// What the broken block holds moves to another; it is erased, which retires it.
    #[cold]
    fn change_target(
        &mut self,
        board: &mut Board,
        engine: &mut MergeEngine,
        after: When,
    ) -> Result<When, Fault> {
        let Open { lbn, target: broken, next, .. } = self.under_way();
        let (target, done) = take_prefix(board, engine, lbn, next, after)?;
        self.open.as_mut().expect("under way").target = target;
        engine.supply.release(board, broken, BlockRole::Data, Cause::Merge, done)
    }

    fn under_way(&self) -> Open {
        self.open.expect("a rewrite is under way")
    }
}

/// Takes a fresh block and moves there what lies below `next`. Sources stay valid until all of it
/// is there, so that a failed program costs a block and nothing else.
fn take_prefix(
    board: &mut Board,
    engine: &mut MergeEngine,
    lbn: Lbn,
    next: u32,
    after: When,
) -> Result<(BlockId, When), Fault> {
    let behind = next..board.geometry().pages_per_block;
    let how = (Sources::Newest, Cause::Merge);
    let mut when = after;
    loop {
        let plane = lbn.plane(board.geometry());
        let (target, ready) = engine.supply.take(board, plane, Need::Merge, when)?;
        match engine.gather(board, (lbn, target, &behind), None, how, ready) {
            Ok(done) => {
                for offset in 0..next {
                    supersede(board, engine, (lbn, offset), target);
                }
                return Ok((target, done));
            }
            Err(Fault::ProgramFailed { known, .. }) => {
                board.event(Event::ProgramFailures, 1);
                engine.undo(board, lbn, target);
                when =
                    engine.supply.release(board, target, BlockRole::Data, Cause::Merge, known)?;
            }
            Err(fault) => return Err(fault),
        }
    }
}

/// If `target` holds a copy of a page, that is the newest from now on. The other one's block is
/// erased when the rewrite ends: no mark.
fn supersede(
    board: &mut Board,
    engine: &mut MergeEngine,
    (lbn, offset): (Lbn, u32),
    target: BlockId,
) {
    let slot = board.geometry().page(target, offset);
    if !board.nand().state().is_valid(slot) {
        return;
    }
    let lpn = lbn.page(board.geometry(), offset);
    if let Some(old) = engine.newest(board.nand(), lpn) {
        board.nand_mut().discard(old);
    }
    engine.logs.set(lpn, slot);
}

#[cfg(test)]
mod tests;
