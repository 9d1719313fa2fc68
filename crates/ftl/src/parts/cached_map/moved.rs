//! What collection moved, and the translation pages that must say so.

use super::CachedMap;
use super::pair::Pair;
use crate::parts::map_cache::{Known, MapCache};
use crate::parts::page_space::PageSpace;
use crate::parts::translation::MapWrite;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{Cause, Event};
use ftlab_flash::units::{Lpn, Ppn, pack};

impl<C: MapCache> CachedMap<C> {
    /// Writes the translation pages of what has moved: each is read before, unless memory knows all
    /// of its entries. Where one cannot be written, memory keeps what it and those behind it should
    /// say.
    pub(super) fn update_moved(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        after: When,
    ) -> Result<When, Fault> {
        if C::ADOPTS {
            return self.write_overdue(space, board, after);
        }
        let mut updated = Ok(after);
        let mut moved = std::mem::take(&mut self.moved);
        moved.sort_unstable();
        let mut rest = &moved[..];
        while !rest.is_empty() {
            if updated.is_ok()
                && let Some(done) = self.update_run(space, board, &mut rest)
            {
                updated = Ok(done);
                continue;
            }
            let (part, group) = self.next_group(&mut rest);
            if let Ok(when) = updated {
                updated = self.update_part(space, board, (part, group), when);
            }
            if updated.is_err() {
                for (lpn, ppn) in group.iter().map(|page| page.page()) {
                    self.translation.went_astray(board, lpn, ppn);
                }
            }
        }
        moved.clear();
        self.moved = moved;
        updated
    }

    /// Of pages that have moved the first ones, which are of one translation page; the others are
    /// left.
    #[inline(always)]
    fn next_group<'a>(&self, rest: &mut &'a [Pair]) -> (u32, &'a [Pair]) {
        let (part, _) = self.translation.part_of(Lpn(rest[0].first()));
        let end = self.translation.lpns_of(part).end;
        let others = rest.iter().position(|page| page.first() >= end).unwrap_or(rest.len());
        let (group, behind) = rest.split_at(others);
        *rest = behind;
        (part, group)
    }

    /// Writes translation pages of which these have moved, one after another as
    /// [`CachedMap::update_part`] does, as many as the map's open block has room for, and leaves the
    /// others; when all are written. None where they cannot be read and written in a run.
    fn update_run(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        rest: &mut &[Pair],
    ) -> Option<When> {
        if self.translation.has_astray() {
            return None;
        }
        let (first, room) = space.map_run(board)?;
        let mut written = 0;
        while written < room && !rest.is_empty() {
            let before = *rest;
            let (part, group) = self.next_group(rest);
            let is_read = !(self.lazy_copying && self.cache.knows_rest(part, group.len() as u32));
            let Some(old) = self.translation.location(part).filter(|_| is_read) else {
                *rest = before;
                break;
            };
            let new = Ppn(first.0 + written);
            if group.iter().all(|page| matches!(self.cache.look(page.page().0), Known::No)) {
                // Memory has none of these entries: there is nothing to settle and to clean.
                let begin = self.translation.lpns_of(part).start;
                space.update_map_in_run(board, (old, new), part, |words| {
                    for page in group {
                        words[(page.first() - begin) as usize] = pack(Some(page.second()));
                    }
                    true
                });
                self.translation.moved(part, new);
            } else {
                self.edits.clear();
                for &page in group {
                    self.settle_moved(space, board, part, page);
                }
                self.write_in_run(space, board, part, (old, new));
            }
            written += 1;
        }
        (written > 0).then(|| board.book_updates(Cause::GcMapUpdate, written))
    }

    /// Writes a translation page, of which these pages have moved.
    fn update_part(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        (part, group): (u32, &[Pair]),
        after: When,
    ) -> Result<When, Fault> {
        let home = space.home(board.nand(), part);
        let mut when = space.make_map_room(board, self, home, after)?;
        self.edits.clear();
        if self.lazy_copying && self.cache.knows_rest(part, group.len() as u32) {
            // What is cached and changed goes along: what flash says of it was not read.
            let _ = self.collect_changed(space, board, part);
        } else {
            when = self.translation.read(board, part, Cause::GcMapUpdate, when)?;
        }
        for &page in group {
            self.settle_moved(space, board, part, page);
        }
        let plane = space.home_or_roomiest(board.nand(), part);
        let how = MapWrite { plane, cause: Cause::GcMapUpdate };
        self.write_edits(space, board, part, how, when)
    }

    /// Memory has taken the entries of a victim's pages: translation pages that are overdue for it
    /// are written before anything else moves.
    fn write_overdue(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        after: When,
    ) -> Result<When, Fault> {
        let victim = space.collecting().expect("called in the middle of a collection");
        let plane = board.geometry().plane_of_block(victim);
        let mut when = after;
        loop {
            let (part, found) = self.cache.overdue(space, board, (plane, None), when);
            let Some(part) = part else { return Ok(found) };
            let home = space.home(board.nand(), part);
            when = space.make_map_room(board, self, home, found)?;
            when = match self.cache.held(part) {
                Some(ready) => when.waits_for_map(ready),
                None => self.translation.read(board, part, Cause::GcMapUpdate, when)?,
            };
            self.collect_changed(space, board, part);
            let plane = space.home_or_roomiest(board.nand(), part);
            let how = MapWrite { plane, cause: Cause::GcMapUpdate };
            when = self.write_edits(space, board, part, how, when)?;
            board.event(Event::ConvertedMapPages, 1);
        }
    }

    /// Decides what a moved page means for its translation page, which has been read.
    #[inline(always)]
    fn settle_moved(&mut self, space: &mut PageSpace, board: &mut Board, part: u32, moved: Pair) {
        let (lpn, new) = moved.page();
        match self.cache.look(lpn) {
            Known::No => {
                let first = self.translation.lpns_of(part).start;
                self.edits.push((lpn.0 - first, pack(Some(new.0))));
            }
            Known::AsOnFlash | Known::Entry(_) => self.settle_cached(space, board, moved),
        }
    }

    #[inline(never)]
    fn settle_cached(&mut self, space: &mut PageSpace, board: &mut Board, moved: Pair) {
        let (lpn, new) = moved.page();
        assert!(
            self.cached(board, lpn) == Some(Some(new)),
            "page {lpn} was moved to {new}, but its cached entry points elsewhere"
        );
        self.edit_from_cache(space, board, lpn);
    }
}
