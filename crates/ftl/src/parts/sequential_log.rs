//! A sequential log block: which writes belong to it, and how it is merged.
//!
//! It takes the pages of one logical block, its owner, in order from the offset at which it was
//! begun (0 in FAST). The rules are rows 2 to 7 of FAST's decision table (Lee et al. 2007;
//! `docs/papers/others.md#fast`); what a scheme does by each rule may differ, the rules and the
//! merges do not.

#[cfg(test)]
mod merge_tests;

use std::cmp::Ordering;

use crate::parts::block_supply::Need;
use crate::parts::block_survey::Survivor;
use crate::parts::data_blocks::{Lbn, accepts};
use crate::parts::merge_engine::{Absorb, MergeEngine, Sources};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::board::settings::ProgramOrder;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{Cause, Event};
use ftlab_flash::request::PageIo;
use ftlab_flash::units::BlockId;

/// What a write means to a sequential log block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequentialRule {
    /// Row 2: offset 0, and no block is open.
    Open,
    /// Rows 3 and 4: offset 0, but a block is open: merge it (full in order: switch; partly
    /// filled: partial), then open.
    MergeThenOpen,
    /// Row 5: the owner's next page.
    Append,
    /// Row 6: a page that the block holds already, or that lies before its first.
    Rewrite,
    /// Row 7: the owner's page, but beyond the next.
    Gap,
}

/// How a sequential log block can be merged, the cheapest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Merge {
    /// It holds every page: it becomes the data block.
    Switch,
    /// The missing pages are copied into it.
    Partial,
    /// Both blocks are copied into a third.
    Full,
}

/// An open sequential log block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenLog {
    /// The block.
    pub block: BlockId,
    /// Whose pages it takes.
    pub owner: Lbn,
    /// The offset at which it was begun.
    pub first: u32,
    /// The next offset.
    pub next: u32,
}

/// A place for one sequential log block.
#[derive(Clone, Debug, Default)]
pub struct SequentialLog {
    open: Option<OpenLog>,
}

impl Absorb for SequentialLog {
    fn absorb(
        &mut self,
        engine: &mut MergeEngine,
        board: &mut Board,
        lbn: Lbn,
        after: When,
    ) -> Result<(bool, When), Fault> {
        if self.open.is_none_or(|open| open.owner != lbn) {
            return Ok((false, after));
        }
        // Nothing valid in it: erased, and the data block is rebuilt from the rest.
        if let Some(done) = self.release_dead(board, engine, after)? {
            return Ok((false, done));
        }
        Ok((true, self.merge(board, engine, None, after)?))
    }
}

impl SequentialLog {
    /// RAM: block, owner and next offset.
    pub const RAM_BYTES: u64 = 12;

    /// Goes on with a block found after a power cut.
    pub fn resumed(open: Option<OpenLog>) -> Self {
        SequentialLog { open }
    }

    /// What a block found after a power cut was, if it held a run of pages of one logical block at
    /// their own places.
    pub fn found(log: &Survivor) -> Option<OpenLog> {
        let (owner, run) = log.home.zip(log.run.clone())?;
        Some(OpenLog { block: log.block, owner, first: run.start, next: run.end })
    }

    /// The open block.
    pub fn open_log(&self) -> Option<OpenLog> {
        self.open
    }

    /// What the write of (lbn, offset) means here; `None`: nothing. `may_open` is whether the
    /// scheme takes it for the beginning of a sequential stream if its offset is 0.
    #[inline]
    pub fn judge(&self, (lbn, offset): (Lbn, u32), may_open: bool) -> Option<SequentialRule> {
        let starts = offset == 0 && may_open;
        let Some(open) = self.open else {
            return starts.then_some(SequentialRule::Open);
        };
        if starts {
            return Some(SequentialRule::MergeThenOpen);
        }
        if open.owner != lbn {
            return None;
        }
        Some(match offset.cmp(&open.next) {
            Ordering::Equal => SequentialRule::Append,
            Ordering::Less => SequentialRule::Rewrite,
            Ordering::Greater => SequentialRule::Gap,
        })
    }

    /// The same where runs of consecutive pages decide: a long run opens a block wherever it is,
    /// and of the owner's other pages only the next one belongs here, until the block is full.
    #[inline]
    pub fn judge_run(
        &self,
        (lbn, offset): (Lbn, u32),
        long: bool,
        pages_per_block: u32,
    ) -> Option<SequentialRule> {
        let Some(open) = self.open else {
            return long.then_some(SequentialRule::Open);
        };
        if open.owner == lbn && open.next < pages_per_block {
            return (offset == open.next).then_some(SequentialRule::Append);
        }
        long.then_some(SequentialRule::MergeThenOpen)
    }

    /// Opens a block for the logical block of `io`, beginning with that page.
    pub fn open(
        &mut self,
        board: &mut Board,
        engine: &mut MergeEngine,
        io: &PageIo,
        after: When,
    ) -> Result<When, Fault> {
        assert!(self.open.is_none(), "a sequential log block is open already");
        let (owner, first) = Lbn::of(board.geometry(), io.lpn);
        let plane = owner.plane(board.geometry());
        let (block, ready) = engine.supply.take(board, plane, Need::Growth, after)?;
        self.open = Some(OpenLog { block, owner, first, next: first });
        board.event(Event::SequentialLogOpens, 1);
        self.append(board, engine, io, ready)
    }

    /// Opens a block for the logical block of `io` at offset 0: copies of the pages before that
    /// page, then the page. A place of which there is no page stays erased, or is padded where it
    /// must be.
    pub fn open_filled(
        &mut self,
        board: &mut Board,
        engine: &mut MergeEngine,
        io: &PageIo,
        after: When,
    ) -> Result<When, Fault> {
        let (owner, first) = Lbn::of(board.geometry(), io.lpn);
        if first == 0 {
            return self.open(board, engine, io, after);
        }
        assert!(self.open.is_none(), "a sequential log block is open already");
        let plane = owner.plane(board.geometry());
        let (block, ready) = engine.supply.take(board, plane, Need::Growth, after)?;
        self.open = Some(OpenLog { block, owner, first: 0, next: 0 });
        board.event(Event::SequentialLogOpens, 1);
        match self.fill(board, engine, first, ready) {
            Ok(filled) => self.append(board, engine, io, filled),
            Err(Fault::ProgramFailed { known, .. }) => {
                board.event(Event::ProgramFailures, 1);
                self.merge_in_full(board, engine, Some(io), known)
            }
            Err(fault) => Err(fault),
        }
    }

    /// Copies the owner's pages from the next offset up to `end`; each is the newest copy at once.
    fn fill(
        &mut self,
        board: &mut Board,
        engine: &mut MergeEngine,
        end: u32,
        after: When,
    ) -> Result<When, Fault> {
        let open = self.open.as_mut().expect("opened by the caller");
        let mut done = after;
        for offset in open.next..end {
            let lpn = open.owner.page(board.geometry(), offset);
            if let Some(from) = engine.newest(board.nand(), lpn) {
                let slot = board.geometry().page(open.block, offset);
                let start = engine.pad_to(board, open.block, offset, after)?;
                done = done.join(board.copy(from, slot, PageKind::Log, Cause::Merge, start)?);
                engine.logged(board, lpn, slot);
            }
            open.next = offset + 1;
        }
        Ok(done.join(engine.pad_to(board, open.block, end, after)?))
    }

    /// Writes the owner's next page. If that page of the block cannot be programmed, the block is
    /// merged in full with the page inside.
    pub fn append(
        &mut self,
        board: &mut Board,
        engine: &mut MergeEngine,
        io: &PageIo,
        after: When,
    ) -> Result<When, Fault> {
        let open = self.open.as_mut().expect("judged against an open block");
        let slot = board.geometry().page(open.block, open.next);
        if !accepts(board.nand(), engine.data.order(), slot) {
            return self.merge_in_full(board, engine, Some(io), after);
        }
        let old = engine.newest(board.nand(), io.lpn);
        match board.program_update(slot, old, io, PageKind::Log, after) {
            Ok(done) => {
                engine.logged(board, io.lpn, slot);
                open.next += 1;
                board.event(Event::SequentialLogWrites, 1);
                Ok(done)
            }
            Err(Fault::ProgramFailed { known, .. }) => {
                board.event(Event::ProgramFailures, 1);
                self.merge_in_full(board, engine, Some(io), known)
            }
            Err(fault) => Err(fault),
        }
    }

    /// Writes a page beyond the owner's next one: the newest copies of the pages in between are
    /// copied into the block first, so that its stream goes on. A page that was never written, or
    /// was trimmed, leaves a hole.
    pub fn append_padded(
        &mut self,
        board: &mut Board,
        engine: &mut MergeEngine,
        io: &PageIo,
        after: When,
    ) -> Result<When, Fault> {
        let open = self.open.expect("judged against an open block");
        let (_, offset) = Lbn::of(board.geometry(), io.lpn);
        assert!(offset > open.next, "page {offset} leaves no gap behind {}", open.next);
        if board.nand().state().block(open.block).read_only {
            return self.merge_in_full(board, engine, Some(io), after);
        }
        match Self::pad(board, engine, open, offset, after) {
            Ok(padded) => {
                self.open = Some(OpenLog { next: offset, ..open });
                self.append(board, engine, io, padded)
            }
            Err(Fault::ProgramFailed { known, .. }) => {
                board.event(Event::ProgramFailures, 1);
                self.merge_in_full(board, engine, Some(io), known)
            }
            Err(fault) => Err(fault),
        }
    }

    fn pad(
        board: &mut Board,
        engine: &mut MergeEngine,
        open: OpenLog,
        end: u32,
        after: When,
    ) -> Result<When, Fault> {
        let mut done = after;
        for offset in open.next..end {
            let lpn = open.owner.page(board.geometry(), offset);
            let Some(source) = engine.newest(board.nand(), lpn) else { continue };
            let slot = board.geometry().page(open.block, offset);
            if !board.nand().state().is_free(slot) {
                // Torn by a cut: the page stays where it is, and the later merge is a full one.
                continue;
            }
            let start = engine.pad_to(board, open.block, offset, done)?;
            done = board.copy(source, slot, PageKind::Log, Cause::Pad, start)?;
            engine.logged(board, lpn, slot);
        }
        engine.pad_to(board, open.block, end, done)
    }

    /// Hands the open block over to somebody who goes on writing it.
    pub fn give_up(&mut self) -> Option<OpenLog> {
        self.open.take()
    }

    /// Merges the open block by the cheapest merge that is right, with the host page `insert` put
    /// at its own place on the way. A block that holds nothing valid is erased; that is no merge.
    pub fn merge(
        &mut self,
        board: &mut Board,
        engine: &mut MergeEngine,
        insert: Option<&PageIo>,
        after: When,
    ) -> Result<When, Fault> {
        let Some(open) = self.open else {
            return Ok(after);
        };
        if insert.is_none()
            && let Some(done) = self.release_dead(board, engine, after)?
        {
            return Ok(done);
        }
        match Self::kind(board, engine, open, insert) {
            Merge::Switch => {
                let done = engine.adopt(board, open.owner, open.block, after)?;
                board.merge_switch();
                self.open = None;
                Ok(done)
            }
            Merge::Partial => {
                let target = (open.owner, open.block, open.first..open.next);
                match engine.complete(board, target, insert, after) {
                    Ok(done) => {
                        board.merge_partial();
                        self.open = None;
                        Ok(done)
                    }
                    Err(Fault::ProgramFailed { known, .. }) => {
                        self.merge_in_full(board, engine, insert, known)
                    }
                    Err(fault) => Err(fault),
                }
            }
            Merge::Full => self.merge_in_full(board, engine, insert, after),
        }
    }

    /// Erases the open block if every page of it was superseded or trimmed; `None` if it was not.
    pub fn release_dead(
        &mut self,
        board: &mut Board,
        engine: &mut MergeEngine,
        after: When,
    ) -> Result<Option<When>, Fault> {
        let Some(open) = self.open.filter(|open| board.nand().valid_pages(open.block) == 0) else {
            return Ok(None);
        };
        board.event(Event::DeadLogBlocks, 1);
        self.open = None;
        engine.release_log(board, open.block, after).map(Some)
    }

    /// Merges the open block and its data block into a fresh one, with the host page `insert` put
    /// at its own place, and erases both.
    pub fn merge_in_full(
        &mut self,
        board: &mut Board,
        engine: &mut MergeEngine,
        insert: Option<&PageIo>,
        after: When,
    ) -> Result<When, Fault> {
        let Some(open) = self.open else {
            return Ok(after);
        };
        let rebuilt = engine.rebuild(board, open.owner, insert, Sources::Newest, after)?;
        self.open = None;
        board.merge_full(1);
        board.event(Event::SequentialFullMerges, 1);
        engine.release_log(board, open.block, rebuilt)
    }

    /// What [`SequentialLog::merge`] would do with the open block, short of a failed program.
    pub fn outlook(&self, board: &Board, engine: &MergeEngine) -> Option<Merge> {
        self.open.map(|open| Self::kind(board, engine, open, None))
    }

    /// A switch needs every page; a partial merge needs a block that takes the missing ones; either
    /// needs the pages that were written to have no newer copy elsewhere.
    pub fn kind(
        board: &Board,
        engine: &MergeEngine,
        open: OpenLog,
        insert: Option<&PageIo>,
    ) -> Merge {
        let geometry = board.geometry();
        let held = open.first..open.next;
        let newer_elsewhere = held.clone().any(|offset| {
            let newest = engine.newest(board.nand(), open.owner.page(geometry, offset));
            newest.is_some_and(|ppn| geometry.block_of(ppn) != open.block)
        });
        if newer_elsewhere {
            return Merge::Full;
        }
        if held.len() == geometry.pages_per_block as usize {
            return Merge::Switch;
        }
        let known = board.nand().state().block(open.block);
        let upwards = engine.completes_upwards || engine.data.order() != ProgramOrder::Off;
        let mut missing = (0..geometry.pages_per_block).filter(|offset| !held.contains(offset));
        let blocked = missing.any(|offset| {
            let lpn = open.owner.page(geometry, offset);
            let wanted = insert.is_some_and(|io| io.lpn == lpn)
                || engine.newest(board.nand(), lpn).is_some();
            // A page that a cut left torn can lie here after recovery.
            let free = board.nand().state().is_free(geometry.page(open.block, offset));
            let passed = upwards && offset < known.top;
            wanted && (known.read_only || !free || passed)
        });
        if blocked { Merge::Full } else { Merge::Partial }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_2_to_7_for_every_offset_owner_and_fill() {
        let empty = SequentialLog::default();
        assert_eq!(empty.judge((Lbn(1), 0), true), Some(SequentialRule::Open));
        assert_eq!(empty.judge((Lbn(1), 0), false), None, "no stream begins here");
        assert_eq!(empty.judge((Lbn(1), 2), true), None);
        for next in 1..=4 {
            let open = OpenLog { block: BlockId(9), owner: Lbn(1), first: 0, next };
            let log = SequentialLog::resumed(Some(open));
            for lbn in [Lbn(1), Lbn(2)] {
                let start = log.judge((lbn, 0), true);
                assert_eq!(start, Some(SequentialRule::MergeThenOpen), "rows 3 and 4, any owner");
            }
            for offset in 1..4 {
                let expected = match offset.cmp(&next) {
                    Ordering::Equal => SequentialRule::Append,
                    Ordering::Less => SequentialRule::Rewrite,
                    Ordering::Greater => SequentialRule::Gap,
                };
                assert_eq!(log.judge((Lbn(1), offset), true), Some(expected));
                assert_eq!(log.judge((Lbn(2), offset), true), None, "not the owner");
            }
            assert_eq!(log.judge((Lbn(1), 0), false), Some(SequentialRule::Rewrite));
        }
    }
}
