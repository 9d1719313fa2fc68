//! The map of page-mapped blocks where it is on flash (`waftl.pmb_cache_bytes`): what look-ups
//! read, and what changes of it cost. Nothing where all of it is in memory.
//!
//! An entry says where in a page-mapped block the newest copy of a page is, or that it is not
//! there. A bit in the block table's entry of a logical block says whether any of its pages are
//! page-mapped; if none are, there is nothing to look up and nothing to change.

use super::Waftl;
use super::areas::{Area, Areas};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{Cause, Event};
use ftlab_flash::units::{BlockId, Lpn, Ppn, pack};
use ftlab_ftl::parts::data_blocks::Lbn;
use ftlab_ftl::parts::flash_map::{FlashMap, Stay};
use ftlab_ftl::parts::log_index::LogIndex;
use ftlab_ftl::parts::map_area::Backing;
use ftlab_ftl::parts::merge_engine::lpn_of_page;

/// The words of the map: physical page of a logical page that is page-mapped, packed.
pub(super) fn words(areas: &Areas, logs: &LogIndex) -> impl Fn(u32) -> u32 {
    |lpn| pack(areas.by_page(logs, Lpn(lpn)).map(|ppn| ppn.0))
}

impl Waftl {
    fn map_and_backing(&mut self) -> Option<(&mut FlashMap, Backing<'_, impl Fn(u32) -> u32>)> {
        let engine = &mut self.base.engine;
        let table = words(&self.areas, &engine.logs);
        Some((self.map.as_mut()?, Backing { supply: &mut engine.supply, table }))
    }

    /// Finds out where a page is: nothing to look up if it is outside page-mapped blocks by what
    /// memory knows.
    #[inline]
    pub(super) fn look_up(
        &mut self,
        board: &mut Board,
        lpn: Lpn,
        after: When,
    ) -> Result<When, Fault> {
        if self.map.is_none() {
            return Ok(after);
        }
        self.look_up_on_flash(board, lpn, after)
    }

    fn look_up_on_flash(
        &mut self,
        board: &mut Board,
        lpn: Lpn,
        after: When,
    ) -> Result<When, Fault> {
        let copy = self.base.engine.logs.get(lpn);
        let elsewhere = copy.is_some_and(|ppn| self.areas.of_copy(ppn) != Some(Area::ByPage));
        let (lbn, _) = Lbn::of(board.geometry(), lpn);
        if elsewhere || !self.has_page_mapped(board, lbn) {
            return Ok(after);
        }
        let Some((map, mut backing)) = self.map_and_backing() else { return Ok(after) };
        map.look_up(board, &mut backing, lpn.0, after)
    }

    /// What the block table's bit says.
    fn has_page_mapped(&self, board: &Board, lbn: Lbn) -> bool {
        let logs = &self.base.engine.logs;
        let lpn = |offset| lbn.page(board.geometry(), offset);
        (0..board.geometry().pages_per_block)
            .any(|offset| self.areas.by_page(logs, lpn(offset)).is_some())
    }

    /// The map entry of a page is about to change: its map page is brought into memory, and written
    /// when it leaves. Until the change nothing else is brought.
    #[inline]
    pub(super) fn change_map(
        &mut self,
        board: &mut Board,
        lpn: Lpn,
        stay: Stay,
        after: When,
    ) -> Result<When, Fault> {
        let Some((map, mut backing)) = self.map_and_backing() else { return Ok(after) };
        let part = map.part_of(lpn.0);
        let how = (stay, Cause::GcMapUpdate);
        let done = map.bring(board, &mut backing, part, how, after)?;
        map.change(part);
        Ok(done)
    }

    /// The same for every page of a logical block that is page-mapped.
    pub(super) fn change_map_of(
        &mut self,
        board: &mut Board,
        lbn: Lbn,
        after: When,
    ) -> Result<When, Fault> {
        let mut done = after;
        if self.map.is_none() {
            return Ok(done);
        }
        for offset in 0..board.geometry().pages_per_block {
            let lpn = lbn.page(board.geometry(), offset);
            if self.areas.by_page(&self.base.engine.logs, lpn).is_some() {
                done = self.change_map(board, lpn, Stay::Newest, done)?;
            }
        }
        Ok(done)
    }

    /// Moves the valid pages of a page-mapped block to the frontier, in their order. Where the map
    /// is on flash, entries in memory change there (lazy copying). Any other map page is read once
    /// for all pages of the block that it maps, and stays until the next one comes, so that
    /// collection does not push out what requests use.
    pub(super) fn move_on(
        &mut self,
        board: &mut Board,
        victim: BlockId,
        after: When,
    ) -> Result<When, Fault> {
        let mut done = after;
        while let Some(page) = board.nand().state().next_valid(victim, 0) {
            let lpn = lpn_of_page(board, page);
            let Some(map) = &self.map else {
                done = done.join(self.move_page(board, page, after)?);
                continue;
            };
            let part = map.part_of(lpn.0);
            let lazy = map.holds(part);
            let known = self.change_map(board, lpn, Stay::Oldest, after)?;
            done = done.join(known).join(self.move_page(board, page, after)?);
            if lazy {
                board.event(Event::LazyUpdates, 1);
                continue;
            }
            let mut from = 0;
            while let Some(page) = board.nand().state().next_valid(victim, from) {
                from = board.geometry().offset_of(page) + 1;
                if self.part_of(lpn_of_page(board, page)) == Some(part) {
                    done = done.join(self.move_page(board, page, after)?);
                }
            }
        }
        Ok(done)
    }

    fn part_of(&self, lpn: Lpn) -> Option<u32> {
        self.map.as_ref().map(|map| map.part_of(lpn.0))
    }

    fn move_page(&mut self, board: &mut Board, page: Ppn, after: When) -> Result<When, Fault> {
        let lpn = lpn_of_page(board, page);
        let engine = &mut self.base.engine;
        let copied = self.by_page.append_copy(board, engine, (lpn, page), Cause::Gc, after)?;
        self.areas.joins_by_page(self.block_of_copy(board, lpn));
        self.made_room += 1;
        Ok(copied)
    }

    /// Strays were merged behind the map's back.
    pub(super) fn catch_up_map(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let Some((map, mut backing)) = self.map_and_backing() else { return Ok(after) };
        map.catch_up(board, &mut backing, Cause::GcMapUpdate, after)
    }
}
