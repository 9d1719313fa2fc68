//! Migrations: how the zone is emptied, and how room is made in page-mapped blocks.

use super::Waftl;
use super::areas::{Area, Census};
use super::settings::{Criterion, Threshold};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{BlockRole, Cause, Event};
use ftlab_ftl::parts::block_supply::Need;
use ftlab_ftl::parts::data_blocks::Lbn;
use ftlab_ftl::parts::flash_map::Stay;
use ftlab_ftl::parts::merge_engine::{Sources, lbn_of_page};

impl Waftl {
    /// A migration of so many zone blocks.
    pub(super) fn begin_migration(&mut self, board: &mut Board, blocks: u32) {
        board.event(Event::ZoneMigrations, 1);
        self.left = blocks;
        (self.appended, self.made_room) = (0, 0);
    }

    /// Dynamic threshold: n pages of a logical block cost n programs in PMBs, and as many more per
    /// page as making room took in this migration; in the BMB they cost P. So P * appended /
    /// (appended + made room) pages cost the same. If nothing was appended, one page more counts as
    /// few next time, so that the threshold finds back.
    pub(super) fn end_migration(&mut self, board: &mut Board) {
        if self.settings.threshold == Threshold::Static {
            return;
        }
        let pages = board.geometry().pages_per_block;
        let even = match self.appended {
            0 => (self.bmb_min_pages + 1).min(pages),
            n => (u64::from(pages) * n).div_ceil(n + self.made_room) as u32,
        };
        if even != self.bmb_min_pages {
            board.event(Event::ThresholdFlips, 1);
            self.bmb_min_pages = even;
        }
    }

    /// Empties the zone.
    #[cold]
    pub(super) fn migrate(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        if self.left == 0 {
            self.begin_migration(board, self.zone.len());
        }
        let mut done = after;
        while !self.zone.is_empty() {
            done = self.step(board, after, done)?;
        }
        self.left = 0;
        self.end_migration(board);
        Ok(done)
    }

    /// Moves the logical block of the oldest buffered page, all its buffered pages together; or
    /// erases the oldest zone block, if nothing in it is valid. Moves may all begin at `after`;
    /// what came before is over by `done`.
    pub(super) fn step(
        &mut self,
        board: &mut Board,
        after: When,
        done: When,
    ) -> Result<When, Fault> {
        let oldest = self.zone.block(0);
        if let Some(page) = board.nand().state().next_valid(oldest, 0) {
            let lbn = lbn_of_page(board, page);
            return self.migrate_block(board, lbn, after, done);
        }
        let done = self.base.engine.release_log(board, oldest, done)?;
        self.zone.remove(0);
        self.left = self.left.saturating_sub(1);
        Ok(done)
    }

    fn migrate_block(
        &mut self,
        board: &mut Board,
        lbn: Lbn,
        after: When,
        done: When,
    ) -> Result<When, Fault> {
        let before = self.census(board, lbn);
        // Highly accessed or random: to page-mapped blocks. The rest: to its block-mapped block.
        if self.goes_by_page(lbn, before) {
            let has_block = self.base.engine.data.block(lbn).is_some();
            board.event(Event::Conversions, u64::from(has_block && before.by_page == 0));
            return self.append(board, lbn, after, done);
        }
        board.event(Event::BlockRewrites, 1);
        board.event(Event::MigratedPages, u64::from(before.buffered));
        let rewritten = self.rewrite(board, lbn, self.settings.pull_pmb, Cause::Merge, after)?;
        Ok(done.join(rewritten))
    }

    fn goes_by_page(&self, lbn: Lbn, census: Census) -> bool {
        let few = census.buffered < self.bmb_min_pages;
        let hot = u32::from(self.updates[lbn.index()]) >= self.settings.hot_updates;
        match self.settings.thr_kind {
            Criterion::PagesInBuffer => few,
            Criterion::AccessCount => hot,
            Criterion::Both => few || hot,
        }
    }

    /// Appends the buffered pages of a logical block to the PMB frontier; older copies in PMBs and
    /// in the BMB were superseded when these were written.
    fn append(
        &mut self,
        board: &mut Board,
        lbn: Lbn,
        after: When,
        done: When,
    ) -> Result<When, Fault> {
        let (mut start, mut done) = (after, done);
        for offset in 0..board.geometry().pages_per_block {
            let lpn = lbn.page(board.geometry(), offset);
            if self.areas.buffered(&self.base.engine, lpn).is_none() {
                continue;
            }
            while self.by_page.is_exhausted() {
                done = self.reclaim(board, done)?;
                start = done;
            }
            // A conversion may have taken the page in.
            if let Some(from) = self.areas.buffered(&self.base.engine, lpn) {
                let known = self.change_map(board, lpn, Stay::Newest, start)?;
                let engine = &mut self.base.engine;
                let copied =
                    self.by_page.append_copy(board, engine, (lpn, from), Cause::Migrate, start)?;
                self.areas.moved(Some(Area::Zone), Some(Area::ByPage));
                self.areas.joins_by_page(self.block_of_copy(board, lpn));
                board.event(Event::MigratedPages, 1);
                self.appended += 1;
                done = done.join(known).join(copied);
            }
            // A failed program closed a block early, and the next was opened beyond the limit.
            while self.by_page.is_over_limit() {
                done = self.reclaim(board, done)?;
                start = done;
            }
        }
        self.updates[lbn.index()] = 0;
        Ok(done)
    }

    /// Rewrites the BMB of a logical block with the newest copies, wherever they are; unless
    /// `pull`, those in PMBs stay there, and their places in the BMB stay empty.
    fn rewrite(
        &mut self,
        board: &mut Board,
        lbn: Lbn,
        pull: bool,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let before = self.census(board, lbn);
        self.kept.clear();
        for offset in 0..board.geometry().pages_per_block {
            let lpn = lbn.page(board.geometry(), offset);
            if !pull && self.areas.of(board, &self.base.engine, lpn) == Some(Area::ByPage) {
                self.kept.extend(self.base.engine.logs.take(lpn).map(|ppn| (lpn, ppn)));
            }
        }
        let known = if pull { self.change_map_of(board, lbn, after)? } else { after };
        let (engine, purpose) = (&mut self.base.engine, (Need::Merge, cause));
        let rewritten = engine.rebuild_for(board, lbn, None, Sources::Newest, purpose, known);
        for &(lpn, ppn) in &self.kept {
            self.base.engine.logs.set(lpn, ppn);
        }
        let now = self.census(board, lbn);
        self.areas.rebuilt(before, now);
        if now.buffered == 0 {
            self.updates[lbn.index()] = 0;
        }
        board.event(Event::Conversions, u64::from(before.by_page > 0 && now.by_page == 0));
        rewritten
    }

    /// Makes room in PMBs: collects the one with fewest valid pages, or, if that gains too little,
    /// makes its logical blocks block-mapped.
    #[cold]
    pub(super) fn reclaim(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let (place, after) = self.by_page.choose(board, after);
        let victim = self.by_page.block(place);
        let valid = board.nand().valid_pages(victim);
        let pages = board.geometry().pages_per_block;
        let converts = valid > 0 && valid * 100 >= self.settings.pmb_convert_pct * pages;
        let cause = if converts { Cause::Convert } else { Cause::Gc };
        let mut done = after;
        let mut rebuilt = 0;
        if !converts {
            done = self.move_on(board, victim, after)?;
        }
        while let Some(page) = board.nand().state().next_valid(victim, 0) {
            let lbn = lbn_of_page(board, page);
            rebuilt += 1;
            let rewritten = self.rewrite(board, lbn, true, cause, after)?;
            self.made_room += u64::from(self.census(board, lbn).by_block);
            done = done.join(rewritten);
        }
        match converts {
            true => board.merge_full(rebuilt),
            false => board.victim(valid),
        }
        let supply = &mut self.base.engine.supply;
        let erased = supply.release(board, victim, BlockRole::Data, cause, done)?;
        self.by_page.remove(place);
        Ok(erased)
    }
}
