//! Single entries that enter and leave the cache of a scheme that caches entries one by one.

use super::DemandMapped;
use crate::parts::cmt::Cmt;
use crate::parts::map_cache::MapCache as _;
use crate::parts::slots::Slot;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{Cause, Event};
use ftlab_flash::units::{Lpn, Ppn};

/// Entries that are about to leave and are looked at together, at most.
const NEXT: usize = 8;

/// What is written with a changed entry that leaves, in one read and one program.
#[derive(Clone, Copy, Debug)]
pub enum Along<'a> {
    /// Every changed entry of its translation page.
    Part,
    /// The changed ones of these, entries of its translation page; itself in any case.
    These(&'a [Lpn]),
}

impl DemandMapped<Cmt> {
    /// The entry of a page is looked up, which is a use of it: when it is known, if it is cached.
    #[inline]
    pub fn look_up(&mut self, board: &mut Board, lpn: Lpn, after: When) -> Option<When> {
        board.event(Event::MapLookups, 1);
        let cache = &mut self.map.cache;
        let slot = cache.find(lpn)?;
        board.event(Event::MapHits, 1);
        cache.touch(slot);
        Some(after.waits_for_map(cache.ready(slot)))
    }

    /// Reads the translation page of an entry and caches the entry: when it is known. There must be
    /// room.
    pub fn fetch(&mut self, board: &mut Board, lpn: Lpn, after: When) -> Result<When, Fault> {
        let (part, _) = self.map.translation.part_of(lpn);
        let loaded = self.load(board, part, after)?;
        let ppn = self.map.translation.entry(board, lpn);
        self.map.cache.insert(lpn, ppn, loaded);
        Ok(loaded)
    }

    /// Looks at what is read and changed when the entries leave that are about to, so many at most,
    /// so that it is at hand then: where they are listed and the blocks of their translation pages,
    /// then the places in these. What is seen means nothing.
    #[inline(always)]
    pub fn glance_at_next(&self, board: &Board, most: usize) -> u32 {
        let (cache, translation, nand) = (&self.map.cache, &self.map.translation, board.nand());
        let (mut places, mut known) = ([(Ppn(0), 0); NEXT], 0);
        let mut seen = 0;
        cache.each_next(most.min(NEXT), |lpn| {
            let (part, place) = translation.part_of(lpn);
            seen ^= cache.glance_at(lpn);
            if let Some(page) = translation.location(part) {
                seen ^= self.space.glance_at(nand, page);
                places[known] = (page, place);
                known += 1;
            }
        });
        for &(page, place) in &places[..known] {
            seen ^= nand.glance_at_word(page, place);
        }
        seen
    }

    /// An entry leaves the cache. If it has changed, it is written to its translation page first;
    /// with `batch` the other changed entries of that page are written with it.
    #[inline]
    pub fn evict(
        &mut self,
        board: &mut Board,
        victim: Slot,
        batch: bool,
        after: When,
    ) -> Result<When, Fault> {
        self.evict_along(board, victim, if batch { Along::Part } else { Along::These(&[]) }, after)
    }

    /// An entry leaves the cache. If it has changed, it is written to its translation page first,
    /// with others of that page.
    #[inline(always)]
    pub fn evict_along(
        &mut self,
        board: &mut Board,
        victim: Slot,
        along: Along<'_>,
        after: When,
    ) -> Result<When, Fault> {
        if !self.map.cache.is_dirty(victim) {
            board.event(Event::EvictClean, 1);
            self.map.cache.remove(victim);
            return Ok(after);
        }
        let lpn = self.map.cache.lpn(victim);
        let (part, _) = self.map.translation.part_of(lpn);
        let (done, written) = match along {
            Along::Part => self.write_back_part(board, part, Cause::Translate, after)?,
            Along::These(lpns) if lpns.len() > 1 => {
                debug_assert!(lpns.contains(&lpn), "page {lpn} leaves with the others");
                self.write_back_these(board, (part, lpns), Cause::Translate, after)?
            }
            Along::These(_) => (self.write_back(board, lpn, Cause::Translate, after)?, 1),
        };
        board.event(Event::EvictDirty, 1);
        board.event(Event::BatchedEvictions, u64::from(written.saturating_sub(1)));
        self.map.cache.remove(victim);
        Ok(done)
    }
}
