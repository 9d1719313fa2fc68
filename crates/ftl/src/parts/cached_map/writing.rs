//! Entries that memory has changed are written to their translation pages.

use super::CachedMap;
use crate::parts::map_cache::MapCache;
use crate::parts::page_space::{PageSpace, Stream};
use crate::parts::translation::MapWrite;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::replace_words;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{Cause, Event};
use ftlab_flash::units::{Lpn, Ppn, pack, unpack};

impl<C: MapCache> CachedMap<C> {
    /// Where a write without look-up made an entry, its translation page, which has been read, says
    /// which version that superseded; it becomes invalid now.
    #[cold]
    fn resolve(&mut self, space: &mut PageSpace, board: &mut Board, lpn: Lpn) {
        self.cache.resolve(lpn);
        if let Some(old) = self.translation.entry(board, lpn) {
            space.invalidate(board, old);
            board.event(Event::DeferredInvalidations, 1);
        }
    }

    /// Adds a cached entry to the edits of its translation page, which has been read.
    #[inline(always)]
    pub(super) fn edit_from_cache(&mut self, space: &mut PageSpace, board: &mut Board, lpn: Lpn) {
        if self.cache.is_unresolved(lpn) {
            self.resolve(space, board, lpn);
        }
        let place = self.translation.part_of(lpn).1;
        let entry = self.cached(board, lpn).expect("the entry is cached");
        self.edits.push((place, pack(entry.map(|ppn| ppn.0))));
    }

    /// Writes the collected edits to a translation page that has been read; nothing when there are
    /// none.
    #[inline]
    pub(super) fn write_edits(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        part: u32,
        how: MapWrite,
        after: When,
    ) -> Result<When, Fault> {
        if self.edits.is_empty() {
            return Ok(after);
        }
        let done = self.translation.write(space, board, part, &self.edits, how, after)?;
        // Clean only now: a power cut before this point leaves the entries changed, and a battery
        // keeps exactly those.
        self.clean_edited(part);
        Ok(done)
    }

    /// The edits of a translation page are written.
    #[inline(always)]
    fn clean_edited(&mut self, part: u32) {
        let first = Lpn(self.translation.lpns_of(part).start);
        self.cache.clean_places(first, self.edits.iter().map(|&(place, _)| place));
    }

    /// Writes one entry to its translation page.
    #[inline]
    pub fn write_back(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        lpn: Lpn,
        how: MapWrite,
        after: When,
    ) -> Result<When, Fault> {
        let (part, _) = self.translation.part_of(lpn);
        // Collection may move the entry's page: the entry is taken afterwards.
        let ready = space.make_room(board, self, (how.plane, Stream::Map), after)?;
        if let Some((new, _)) = space.map_run(board)
            && let Some(old) = self.translation.location(part)
            && !self.translation.has_astray()
        {
            self.edits.clear();
            self.edit_from_cache(space, board, lpn);
            self.write_in_run(space, board, part, (old, new));
            return Ok(board.book_updates(how.cause, 1));
        }
        let read = self.translation.read(board, part, how.cause, ready)?;
        self.edits.clear();
        self.edit_from_cache(space, board, lpn);
        self.write_edits(space, board, part, how, read)
    }

    /// Writes the collected edits to a translation page, read and written in a run
    /// ([`PageSpace::map_run`]) that is counted and booked as a whole.
    #[inline(always)]
    pub(super) fn write_in_run(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        part: u32,
        (old, new): (Ppn, Ppn),
    ) {
        space.update_map_in_run(board, (old, new), part, replace_words(&self.edits));
        self.translation.moved(part, new);
        self.clean_edited(part);
    }

    /// Writes every changed entry of one translation page; returns how many there were.
    pub fn write_back_part(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        part: u32,
        how: MapWrite,
        after: When,
    ) -> Result<(When, u32), Fault> {
        let ready = space.make_room(board, self, (how.plane, Stream::Map), after)?;
        // A collection that made the room may have written this very page.
        let lpns = self.translation.lpns_of(part);
        if C::ADOPTS && self.cache.first_dirty(lpns).is_none() {
            return Ok((ready, 0));
        }
        let read = self.translation.read(board, part, how.cause, ready)?;
        let count = self.collect_changed(space, board, part);
        Ok((self.write_edits(space, board, part, how, read)?, count))
    }

    /// Writes the changed ones of some entries of one translation page; returns how many there
    /// were.
    pub fn write_back_these(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        (part, lpns): (u32, &[Lpn]),
        how: MapWrite,
        after: When,
    ) -> Result<(When, u32), Fault> {
        // Collection may move the entries' pages: the entries are taken afterwards.
        let ready = space.make_room(board, self, (how.plane, Stream::Map), after)?;
        let read = self.translation.read(board, part, how.cause, ready)?;
        self.edits.clear();
        for &lpn in lpns {
            if self.cache.is_dirty(lpn) {
                self.edit_from_cache(space, board, lpn);
            }
        }
        let count = self.edits.len() as u32;
        Ok((self.write_edits(space, board, part, how, read)?, count))
    }

    /// Writes a translation page of which memory holds every entry, without reading it; nothing
    /// when none has changed. Returns how many entries had.
    pub fn write_whole_part(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        part: u32,
        how: MapWrite,
        after: When,
    ) -> Result<(When, u32), Fault> {
        let ready = space.make_room(board, self, (how.plane, Stream::Map), after)?;
        let count = self.collect_changed(space, board, part);
        Ok((self.write_edits(space, board, part, how, ready)?, count))
    }

    /// The same, even when none has changed: what memory holds is programmed as it is.
    #[inline(always)]
    pub fn rewrite_whole_part(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        part: u32,
        how: MapWrite,
        after: When,
    ) -> Result<When, Fault> {
        let ready = space.make_room(board, self, (how.plane, Stream::Map), after)?;
        if let Some((new, _)) = space.map_run(board)
            && let Some(old) = self.translation.location(part)
            && !self.translation.has_astray()
            && self.cache.unresolved() == 0
            && let Some(done) = board.program_on_server(how.cause)
        {
            let (lpns, cache) = (self.translation.lpns_of(part), &mut self.cache);
            let edit = |words: &mut [u32]| cache.take_dirty(lpns, words) > 0;
            space.update_map_untimed(board, how.plane, (old, new), (part, how.cause), edit);
            self.translation.moved(part, new);
            return Ok(done.token());
        }
        if self.collect_changed(space, board, part) > 0 {
            return self.write_edits(space, board, part, how, ready);
        }
        self.translation.write(space, board, part, &[], how, ready)
    }

    /// Makes the changed entries of a translation page the edits; returns how many there are.
    #[inline]
    pub(super) fn collect_changed(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        part: u32,
    ) -> u32 {
        let lpns = self.translation.lpns_of(part);
        let first = lpns.start;
        self.edits.clear();
        self.cache.each_dirty(lpns, |lpn, ppn, is_unresolved| {
            self.edits.push((lpn.0 - first, pack(ppn.map(|ppn| ppn.0))));
            if is_unresolved {
                self.superseded.push(lpn.0 - first);
            }
        });
        if !self.superseded.is_empty() {
            self.resolve_part(space, board, part);
        }
        self.edits.len() as u32
    }

    /// [`CachedMap::resolve`] of several entries of one translation page, by their places.
    fn resolve_part(&mut self, space: &mut PageSpace, board: &mut Board, part: u32) {
        let first = self.translation.lpns_of(part).start;
        let page = self.translation.location(part);
        // A page that was never written says of none of them where it is.
        let words = page.map(|page| board.nand().payload(page));
        let has_astray = self.translation.has_astray();
        for place in &mut self.superseded {
            let lpn = Lpn(first + *place);
            self.cache.resolve(lpn);
            *place = match has_astray {
                true => pack(self.translation.entry(board, lpn).map(|ppn| ppn.0)),
                false => words.map_or(0, |words| words[*place as usize]),
            };
        }
        let old = self.superseded.drain(..).filter_map(unpack).map(Ppn);
        let mut count = 0;
        for old in old {
            space.invalidate(board, old);
            count += 1;
        }
        board.event(Event::DeferredInvalidations, count);
    }

    /// Writes every changed entry, a translation page at a time; none is changed afterwards.
    pub fn write_back_all(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        // Without lazy copying, or collection would change entries behind the loop.
        let lazy_copying = std::mem::replace(&mut self.lazy_copying, false);
        let written = self.write_back_parts(space, board, cause, after);
        self.lazy_copying = lazy_copying;
        written
    }

    fn write_back_parts(
        &mut self,
        space: &mut PageSpace,
        board: &mut Board,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let mut when = after;
        for part in 0..self.translation.gtd().len() as u32 {
            let lpns = self.translation.lpns_of(part);
            if self.cache.first_dirty(lpns).is_some() {
                let how = MapWrite { plane: space.home(board.nand(), part), cause };
                (when, _) = self.write_back_part(space, board, part, how, when)?;
            }
        }
        Ok(when)
    }
}
