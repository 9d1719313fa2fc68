//! The merge engine of log-block schemes: where the newest copy of a page is, writes straight to
//! data blocks, and the three merges (DFTL 2014, Fig. 5), with any number of data blocks to one
//! log block (Fig. 6).
//!
//! Copies of a merge leave their sources valid until the new data block is complete; only then do
//! the sources become invalid and the old block is erased. A program that fails in between
//! therefore costs a fresh block and nothing else, and a power cut finds every page twice or once,
//! never not at all. Holes of a rebuilt block stay erased; where the flash demands every page in
//! order (`nand.enforce_order = strict`) a hole below a page that must be copied is filled with a
//! pad, counted under `Cause::Pad`, and later writes of that page go to the log.
//!
//! What this is not: a judge of when to merge what. That is the scheme's.

mod absorb;
pub mod block_map;
mod gather;
mod in_place;
#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::parts::block_supply::{BlockSupply, Need};
use crate::parts::data_blocks::{DataBlocks, Lbn};
pub use crate::parts::data_blocks::{lbn_of_page, lpn_of_page};
use crate::parts::log_index::LogIndex;
use crate::parts::merge_engine::block_map::BlockMap;
use crate::parts::merge_journal::MergeJournal;
use crate::settings::SharedSettings;
pub use absorb::Absorb;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::Nand;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{BlockRole, Cause, Event};
use ftlab_flash::request::PageIo;
use ftlab_flash::units::{BlockId, Lpn, PlaneId, Ppn};

/// The pages that a fresh block holds.
const NOTHING: Range<u32> = 0..0;

/// Which copies go into a rebuilt data block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sources {
    /// The newest of every page, from log blocks and the data block: a full merge.
    Newest,
    /// The same, and a program for every invalid data page of which there is no newer copy.
    NewestWithWaste,
    /// What the data block itself holds: it moves because a program in it failed.
    DataBlock,
}

/// Maps and blocks of a log-block scheme.
#[derive(Clone, Debug)]
pub struct MergeEngine {
    /// The block map.
    pub data: DataBlocks,
    /// The block map's map pages, where it is on flash.
    pub block_map: Option<BlockMap>,
    /// Newest copies in log blocks.
    pub logs: LogIndex,
    /// Erased blocks.
    pub supply: BlockSupply,
    /// Whether merges of shared log blocks also program invalid data pages without a newer copy.
    pub copies_invalid: bool,
    /// Whether partial merges of sequential log blocks only go upwards, as they must where the
    /// flash demands ascending programs: a block that lacks pages before its first is merged in
    /// full.
    pub completes_upwards: bool,
    /// Whether log pages that a merge copies are marked as superseded. Not where their blocks are
    /// erased by the same merge.
    pub marks_merged: bool,
    /// What happened, for schemes that asked.
    pub journal: MergeJournal,
    /// Pages that are about to be copied to consecutive places.
    run: Vec<Ppn>,
}

impl MergeEngine {
    /// Nothing mapped, every block erased.
    pub fn new(board: &Board, config: &SharedSettings) -> Self {
        MergeEngine {
            data: DataBlocks::new(board.geometry(), config),
            block_map: None,
            logs: LogIndex::new(board.geometry()),
            supply: BlockSupply::new(board, config),
            copies_invalid: false,
            completes_upwards: false,
            marks_merged: true,
            journal: MergeJournal::default(),
            run: Vec::with_capacity(board.geometry().pages_per_block as usize),
        }
    }

    /// Maps a logical block; returns the data block that it had.
    pub fn map_block(&mut self, nand: &Nand, lbn: Lbn, block: BlockId) -> Option<BlockId> {
        if let Some(levelling) = &mut self.supply.levelling {
            let planes = nand.geometry().planes();
            let erases = nand.state().block(block).erases;
            levelling.placed(lbn.plane(nand.geometry()), lbn.0 / planes, erases);
        }
        self.data.replace(lbn, block)
    }

    /// Where the newest copy of a page is: in a log block, or else in the data block.
    #[inline]
    pub fn newest(&self, nand: &Nand, lpn: Lpn) -> Option<Ppn> {
        self.logs.get(lpn).or_else(|| self.data.newest(nand, lpn))
    }

    /// Invalidates the newest copy of a page, wherever it is; false if there is none.
    #[inline]
    pub fn forget(&mut self, board: &mut Board, lpn: Lpn) -> bool {
        let Some(old) = self.newest(board.nand(), lpn) else {
            return false;
        };
        board.nand_mut().invalidate(old);
        if self.logs.take(lpn).is_some() {
            self.journal.superseded(board.nand(), old);
        }
        true
    }

    /// A log page now holds the newest copy.
    #[inline]
    pub fn logged(&mut self, board: &mut Board, lpn: Lpn, ppn: Ppn) {
        self.forget(board, lpn);
        self.logs.set(lpn, ppn);
    }

    /// Gives a logical block a new data block with the newest copies (and the host page `insert`
    /// at its own place), then erases the old one. Log pages that were copied become invalid.
    pub fn rebuild(
        &mut self,
        board: &mut Board,
        lbn: Lbn,
        insert: Option<&PageIo>,
        sources: Sources,
        after: When,
    ) -> Result<When, Fault> {
        let purpose = (Need::Merge, Cause::Merge);
        let rebuilt = self.rebuild_for(board, lbn, insert, sources, purpose, after)?;
        self.level(board, lbn.plane(board.geometry()), rebuilt)
    }

    /// The same for any purpose, the copies and the erase counted under its cause; levels nothing.
    pub fn rebuild_for(
        &mut self,
        board: &mut Board,
        lbn: Lbn,
        insert: Option<&PageIo>,
        sources: Sources,
        (need, cause): (Need, Cause),
        after: When,
    ) -> Result<When, Fault> {
        let plane = lbn.plane(board.geometry());
        let mut when = self.before_map_update(board, lbn, after)?;
        loop {
            let (target, ready) = self.supply.take(board, plane, need, when)?;
            match self.gather(board, (lbn, target, &NOTHING), insert, (sources, cause), ready) {
                Ok(done) => return self.replace_by(board, lbn, target, cause, done),
                Err(Fault::ProgramFailed { known, .. }) => {
                    board.event(Event::ProgramFailures, 1);
                    self.undo(board, lbn, target);
                    let role = BlockRole::Data;
                    when = self.supply.release(board, target, role, cause, known)?;
                }
                Err(fault) => return Err(fault),
            }
        }
    }

    /// Completes a log block that holds the pages `held` of a logical block at their places with
    /// the newest copies of the rest (and the host page `insert`), makes it the data block and
    /// erases the old one: a partial merge. A failed program leaves the log block as it was, but
    /// read-only.
    pub fn complete(
        &mut self,
        board: &mut Board,
        (lbn, target, held): (Lbn, BlockId, Range<u32>),
        insert: Option<&PageIo>,
        after: When,
    ) -> Result<When, Fault> {
        let how = (Sources::Newest, Cause::Merge);
        let ready = self.before_map_update(board, lbn, after)?;
        match self.gather(board, (lbn, target, &held), insert, how, ready) {
            Ok(done) => self.adopt(board, lbn, target, done),
            Err(failed @ Fault::ProgramFailed { .. }) => {
                board.event(Event::ProgramFailures, 1);
                self.undo(board, lbn, target);
                Err(failed)
            }
            Err(fault) => Err(fault),
        }
    }

    /// Copies do not count: their sources are still valid.
    pub(super) fn undo(&mut self, board: &mut Board, lbn: Lbn, target: BlockId) {
        for offset in 0..board.geometry().pages_per_block {
            let slot = board.geometry().page(target, offset);
            let newest = self.newest(board.nand(), lbn.page(board.geometry(), offset));
            if board.nand().state().is_valid(slot) && newest != Some(slot) {
                board.nand_mut().discard(slot);
            }
        }
    }

    /// Makes a block, every valid page of which is at its own place, the data block: older copies
    /// of those pages become invalid and the old data block is erased. On its own, over a log block
    /// that holds all pages in order, this is the switch merge.
    pub fn adopt(
        &mut self,
        board: &mut Board,
        lbn: Lbn,
        target: BlockId,
        after: When,
    ) -> Result<When, Fault> {
        let ready = self.before_map_update(board, lbn, after)?;
        let done = self.replace_by(board, lbn, target, Cause::Merge, ready)?;
        self.level(board, lbn.plane(board.geometry()), done)
    }

    fn replace_by(
        &mut self,
        board: &mut Board,
        lbn: Lbn,
        target: BlockId,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let data = self.data.block(lbn);
        for word in 0..board.geometry().pages_per_block.div_ceil(64) {
            let state = board.nand().state();
            let mut slots = state.valid_marks(target, word);
            // No page of it is in a log: what dies on the way is none of these.
            let older = data.map_or(0, |data| state.valid_marks(data, word));
            while slots != 0 {
                let bit = slots.trailing_zeros();
                slots &= slots - 1;
                let offset = word * 64 + bit;
                let older = data.filter(|_| older >> bit & 1 == 1);
                self.supersede_by(board, (lbn, offset), (target, older));
            }
        }
        self.journal.rebuilt(lbn);
        let old = self.map_block(board.nand(), lbn, target);
        let mapped = self.update_map(board, lbn, Cause::GcMapUpdate, after)?;
        match old {
            Some(old) => self.supply.give_back(board, old, (BlockRole::Data, cause), mapped),
            None => Ok(mapped),
        }
    }

    /// The page at an offset of its new data block is the newest: a copy in a log, or in the older
    /// data block where that has a valid one, is not any more.
    #[inline(always)]
    fn supersede_by(
        &mut self,
        board: &mut Board,
        (lbn, offset): (Lbn, u32),
        (target, older): (BlockId, Option<BlockId>),
    ) {
        let slot = board.geometry().page(target, offset);
        match self.logs.take(lbn.page(board.geometry(), offset)) {
            Some(logged) if logged == slot => {}
            Some(logged) => {
                if self.marks_merged {
                    board.nand_mut().invalidate(logged);
                } else {
                    board.nand_mut().discard(logged);
                }
                self.journal.superseded(board.nand(), logged);
            }
            None => {
                // The old data block is erased behind this: no mark.
                if let Some(older) = older {
                    let page = board.geometry().page(older, offset);
                    board.nand_mut().discard(page);
                }
            }
        }
    }

    /// Static levelling: the least worn data block that was left alone for long moves to the most
    /// worn free block of its plane (not the last), where erases are too far apart. Nobody waits
    /// for it.
    fn level(&mut self, board: &mut Board, plane: PlaneId, after: When) -> Result<When, Fault> {
        let Some(node) = self.supply.due(plane) else { return Ok(after) };
        let lbn = Lbn(node * board.geometry().planes() + plane.0);
        board.event(Event::LevelledBlocks, 1);
        let purpose = (Need::Wear, Cause::Wear);
        let levelled = self.rebuild_for(board, lbn, None, Sources::DataBlock, purpose, after);
        levelled.or_else(|fault| Ok(fault.unless_worn_out()?.unwrap_or(after)))
    }

    /// Reclaims a log block: every logical block with a valid page in it gets a new data block, one
    /// after the other, last the log block is erased (DFTL 2014, Fig. 6). Counts a full merge of so
    /// many data blocks, or a dead log block if nothing in it was valid.
    ///
    /// All rebuilds may begin at once, as far as planes and free blocks permit; the erase follows
    /// them all.
    pub fn reclaim(
        &mut self,
        board: &mut Board,
        victim: BlockId,
        absorb: &mut impl Absorb,
        after: When,
    ) -> Result<When, Fault> {
        if board.nand().valid_pages(victim) == 0 {
            board.event(Event::DeadLogBlocks, 1);
            return self.release_log(board, victim, after);
        }
        let mut done = after;
        let mut rebuilt = 0;
        let mut offset = 0;
        while let Some(page) = board.nand().state().next_valid(victim, offset) {
            offset = board.geometry().offset_of(page);
            let (blocks, merged) = self.merge_page(board, page, absorb, after)?;
            rebuilt += blocks;
            done = done.join(merged);
        }
        board.merge_full(rebuilt);
        self.release_log(board, victim, done)
    }

    /// Merges the logical block of one valid log page; returns how many data blocks were rebuilt:
    /// one, or none if its sequential log block took the page.
    pub fn merge_page(
        &mut self,
        board: &mut Board,
        page: Ppn,
        absorb: &mut impl Absorb,
        after: When,
    ) -> Result<(u32, When), Fault> {
        let lbn = lbn_of_page(board, page);
        let (absorbed, mut merged) = absorb.absorb(self, board, lbn, after)?;
        if !absorbed {
            let sources =
                if self.copies_invalid { Sources::NewestWithWaste } else { Sources::Newest };
            merged = self.rebuild(board, lbn, None, sources, merged)?;
        }
        assert!(
            !board.nand().state().is_valid(page),
            "page {page} is still valid after the merge of its logical block {}",
            lbn.0
        );
        Ok((u32::from(!absorbed), merged))
    }

    /// Erases a log block that holds nothing valid, and levels wear: log blocks take turns with
    /// free ones, so that data blocks stay behind however few merges there are.
    pub fn release_log(
        &mut self,
        board: &mut Board,
        block: BlockId,
        after: When,
    ) -> Result<When, Fault> {
        let plane = board.geometry().plane_of_block(block);
        let erased = self.supply.release(board, block, BlockRole::Log, Cause::Merge, after)?;
        self.level(board, plane, erased)
    }

    /// Every block is free, a data block, one of `others`, or retired.
    pub fn self_check(&self, board: &Board, others: u32) -> Result<(), String> {
        let data = self.data.len();
        let what = format!("{data} hold data, {others} logs and records");
        self.supply.self_check(board, data + others, &what)
    }

    /// Turns a log block that holds every page of one logical block, valid and in order, into its
    /// data block; `None` if it does not.
    pub fn try_switch(
        &mut self,
        board: &mut Board,
        block: BlockId,
        after: When,
    ) -> Result<Option<When>, Fault> {
        let pages = board.geometry().pages_per_block;
        if board.nand().valid_pages(block) < pages {
            return Ok(None);
        }
        let lbn = lbn_of_page(board, board.geometry().page(block, 0));
        let in_order = (0..pages).all(|offset| {
            let ppn = board.geometry().page(block, offset);
            self.logs.get(lbn.page(board.geometry(), offset)) == Some(ppn)
        });
        if !in_order {
            return Ok(None);
        }
        board.merge_switch();
        self.adopt(board, lbn, block, after).map(Some)
    }
}
