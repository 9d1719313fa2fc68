//! A block map on flash whose changes stay in memory until they leave: single entries over whole
//! map pages in two caches, one by recency and one by frequency (`docs/papers/others.md#dac`).
//!
//! Level 1: entries of {logical block, data block}, the one used last stays longest. Level 2: map
//! pages. A page that was read enters the *spatial* cache (the page used longest ago leaves); after
//! `promote_hits` hits there it moves to the *frequency* cache (the page used least often leaves).
//! A level without room is left out: pages enter the next one, or none.
//!
//! Every change is made in level 1. A changed entry that leaves is absorbed by its map page, if
//! level 2 holds it, else written: the map page is read and programmed. A changed page that leaves
//! is programmed without a read, with what level 1 knows better, and those entries are clean then.
//! A look-up that level 1 does not answer always ends with the entry there.
//!
//! Where no block is left for what would have to be written, a look-up is answered all the same,
//! and nothing enters the caches; a change fails before anything was changed. Map pages that are
//! kept for that reason ([`MapArea::keep`]) answer like a cached one.
//!
//! What this is not: the table. Its owner has it ([`Backing`]), and a cached entry says what it
//! says.

use crate::parts::cmt::{CachePolicyKind, Cmt};
use crate::parts::map_area::{Backing, FoundMapPages, MapArea};
use crate::parts::slots::Slot;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::when::When;
use ftlab_flash::board::{Board, Search};
use ftlab_flash::meter::{Cause, Event};
use ftlab_flash::units::{Lpn, Ppn, unpack, zeroed};

/// How much memory holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheSizes {
    /// Entries of level 1; one at least.
    pub entries: u32,
    /// Map pages of the cache by recency.
    pub spatial: u32,
    /// Map pages of the cache by frequency.
    pub frequent: u32,
}

/// How entries and pages move.
#[derive(Clone, Copy, Debug)]
pub struct CacheRules {
    /// Hits in the spatial cache that move a page to the frequency cache.
    pub promote_hits: u32,
    /// Whether a changed entry that is written takes the other changed ones of its map page along.
    pub batch: bool,
}

/// Directory and area of the map pages, and what memory holds of them.
#[derive(Clone, Debug)]
pub struct BlockMapCache {
    area: MapArea,
    /// Level 1, by number of the entry.
    entries: Cmt,
    /// Level 2, by number of the map page; dirty: it says something else than flash.
    spatial: Cmt,
    frequent: Cmt,
    /// Hits of each map page since it entered the spatial cache.
    hits: Vec<u32>,
    sizes: CacheSizes,
    rules: CacheRules,
}

/// The caches are indexed by number, of an entry or of a map page; [`Cmt`] calls it a page.
fn key(number: u32) -> Lpn {
    Lpn(number)
}

impl BlockMapCache {
    /// Nothing of so many entries mapped, nothing cached.
    pub fn new(geometry: &Geometry, entries: u32, sizes: CacheSizes, rules: CacheRules) -> Self {
        Self::over(MapArea::new(geometry, entries), entries, sizes, rules)
    }

    /// Nothing cached.
    fn over(area: MapArea, entries: u32, sizes: CacheSizes, rules: CacheRules) -> Self {
        assert!(sizes.entries > 0, "level 1 holds one entry at least");
        let pages = area.parts().end;
        let cache = |kind, numbers, capacity| Cmt::new(kind, numbers, capacity, 0.0);
        BlockMapCache {
            entries: cache(CachePolicyKind::Lru, entries, sizes.entries),
            spatial: cache(CachePolicyKind::Lru, pages, sizes.spatial),
            frequent: cache(CachePolicyKind::Lfu, pages, sizes.frequent),
            hits: zeroed(pages as usize),
            area,
            sizes,
            rules,
        }
    }

    /// What a request asks of the map: answered even if nothing can leave to make room for it.
    pub fn look_up(
        &mut self,
        board: &mut Board,
        backing: &mut Backing<'_, impl Fn(u32) -> u32>,
        entry: u32,
        after: When,
    ) -> Result<When, Fault> {
        board.event(Event::MapLookups, 1);
        let part = self.area.part_of(entry);
        let (single, paged) = (self.entries.find(key(entry)).is_some(), self.holds(part));
        let whole = paged || self.area.is_kept(part);
        let unwritten = !single && !whole && self.area.location(part).is_none();
        board.event(Event::MapHits, u64::from(single || whole || unwritten));
        board.event(Event::DirectoryHits, u64::from(unwritten));
        if !single && whole {
            board.event(Event::SecondLevelHits, 1);
            let frequent = self.frequent.find(key(part)).is_some();
            board.event(Event::FrequencyHits, u64::from(frequent));
        }
        match self.bring(board, backing, entry, Cause::Translate, after) {
            Err(fault) => {
                fault.unless_worn_out::<When>()?;
                self.pass(board, part, after)
            }
            brought => brought,
        }
    }

    /// Answers a look-up that level 1 does not from level 2 or from flash, and keeps nothing.
    #[cold]
    fn pass(&mut self, board: &mut Board, part: u32, after: When) -> Result<When, Fault> {
        if let Some((cache, slot)) = self.page(part) {
            return Ok(after.waits_for_map(cache.ready(slot)));
        }
        match self.area.location(part) {
            Some(page) if !self.area.is_kept(part) => {
                Ok(board.read(page, Cause::Translate, after)?.0)
            }
            _ => Ok(after),
        }
    }

    /// Map pages that were kept are written, if there is room by now.
    pub fn write_kept(
        &mut self,
        board: &mut Board,
        backing: &mut Backing<'_, impl Fn(u32) -> u32>,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        self.area.write_kept(board, backing, cause, after)
    }

    /// Sees to it that level 1 holds an entry; when it is known.
    pub fn bring(
        &mut self,
        board: &mut Board,
        backing: &mut Backing<'_, impl Fn(u32) -> u32>,
        entry: u32,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        // Level 1.
        if let Some(slot) = self.entries.find(key(entry)) {
            self.entries.touch(slot);
            return Ok(after.waits_for_map(self.entries.ready(slot)));
        }
        let part = self.area.part_of(entry);
        // No entry of a map page that was never written is mapped, but for those in level 1; what
        // leaves now may be the first.
        let unwritten = self.area.location(part).is_none();
        let mut known = self.make_entry_room(board, backing, cause, after)?;
        if let Some(slot) = self.spatial.find(key(part)) {
            // Level 2, spatial: the page is the one used last, or has been used often enough.
            let ready = self.spatial.ready(slot);
            self.spatial.touch(slot);
            self.hits[part as usize] += 1;
            known = known.waits_for_map(ready);
            if self.sizes.frequent > 0 && self.hits[part as usize] >= self.rules.promote_hits {
                known = self.promote(board, backing, slot, cause, known)?;
            }
        } else if let Some(slot) = self.frequent.find(key(part)) {
            // Level 2, frequency.
            self.frequent.touch(slot);
            known = known.waits_for_map(self.frequent.ready(slot));
        } else if !unwritten && !self.area.is_kept(part) {
            // Neither: the map page is read.
            known = self.load(board, backing, part, cause, known)?;
        }
        let word = (backing.table)(entry);
        self.entries.insert(key(entry), unpack(word).map(Ppn), known);
        Ok(known)
    }

    /// The table has another word for an entry that [`BlockMapCache::bring`] was asked for last.
    pub fn change(&mut self, backing: &Backing<'_, impl Fn(u32) -> u32>, entry: u32) {
        let slot = self.entries.find(key(entry)).expect("a changed entry is in level 1");
        self.entries.change(slot, unpack((backing.table)(entry)).map(Ppn));
    }

    /// Whether level 2 holds a map page.
    fn holds(&self, part: u32) -> bool {
        self.spatial.find(key(part)).is_some() || self.frequent.find(key(part)).is_some()
    }

    /// Reads a map page into level 2.
    fn load(
        &mut self,
        board: &mut Board,
        backing: &mut Backing<'_, impl Fn(u32) -> u32>,
        part: u32,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let to_frequent = self.sizes.spatial == 0;
        let room = self.make_page_room(board, backing, to_frequent, cause, after)?;
        let page = self.area.location(part).expect("the map page was written");
        let (done, _) = board.read(page, cause, room)?;
        self.hits[part as usize] = 0;
        let cache = if to_frequent { &mut self.frequent } else { &mut self.spatial };
        if !cache.is_full() {
            cache.insert(key(part), None, done);
        }
        Ok(done)
    }

    /// Moves a page from the spatial to the frequency cache.
    fn promote(
        &mut self,
        board: &mut Board,
        backing: &mut Backing<'_, impl Fn(u32) -> u32>,
        slot: Slot,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let done = self.make_page_room(board, backing, true, cause, after)?;
        let (part, ready) = (self.spatial.lpn(slot), self.spatial.ready(slot));
        let changed = self.spatial.is_dirty(slot);
        self.spatial.remove(slot);
        let slot = self.frequent.insert(part, None, ready);
        if changed {
            self.frequent.change(slot, None);
        }
        board.event(Event::PromotedMapPages, 1);
        Ok(done)
    }

    /// Makes room in level 1: a changed entry is absorbed by its map page, or written.
    fn make_entry_room(
        &mut self,
        board: &mut Board,
        backing: &mut Backing<'_, impl Fn(u32) -> u32>,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        if !self.entries.is_full() {
            return Ok(after);
        }
        let victim = self.entries.victim();
        let mut when = board.search(Search::Cached, self.entries.len(), after);
        let entry = self.entries.lpn(victim).0;
        let part = self.area.part_of(entry);
        if !self.entries.is_dirty(victim) {
            board.event(Event::EvictClean, 1);
        } else if let Some((cache, slot)) = self.page(part) {
            cache.change(slot, None);
            board.event(Event::AbsorbedEvictions, 1);
        } else if self.area.is_kept(part) {
            board.event(Event::AbsorbedEvictions, 1);
        } else {
            when = self.area.make_room(board, backing.supply, Cause::GcMapBlock, when)?;
            if let Some(page) = self.area.location(part) {
                (when, _) = board.read(page, cause, when)?;
            }
            let batch = self.rules.batch;
            let leaves = |other| other == entry || batch;
            when = self.area.write(board, backing, (part, leaves), cause, when)?;
            board.event(Event::EvictDirty, 1);
            self.entries.clean(victim);
            if batch {
                self.clean_entries(board, part);
            }
        }
        self.entries.remove(victim);
        Ok(when)
    }

    /// Makes room for a page of level 2, in the frequency cache or in the spatial one: a changed
    /// page is written as a whole.
    fn make_page_room(
        &mut self,
        board: &mut Board,
        backing: &mut Backing<'_, impl Fn(u32) -> u32>,
        frequent: bool,
        cause: Cause,
        after: When,
    ) -> Result<When, Fault> {
        let cache = if frequent { &self.frequent } else { &self.spatial };
        if !cache.is_full() || cache.is_empty() {
            return Ok(after);
        }
        let victim = cache.victim();
        let (part, changed) = (cache.lpn(victim).0, cache.is_dirty(victim));
        let ready = cache.ready(victim);
        let mut when = board.search(Search::Cached, cache.len(), after);
        if changed {
            when = when.waits_for_map(ready);
            when = self.area.make_room(board, backing.supply, Cause::GcMapBlock, when)?;
            when = self.area.write(board, backing, (part, |_| true), cause, when)?;
            board.event(Event::EvictDirty, 1);
            self.clean_entries(board, part);
        } else {
            board.event(Event::EvictClean, 1);
        }
        board.event(Event::SecondLevelEvictions, 1);
        let cache = if frequent { &mut self.frequent } else { &mut self.spatial };
        cache.remove(victim);
        Ok(when)
    }

    /// Where level 2 holds a map page.
    fn page(&mut self, part: u32) -> Option<(&mut Cmt, Slot)> {
        if let Some(slot) = self.spatial.find(key(part)) {
            return Some((&mut self.spatial, slot));
        }
        let slot = self.frequent.find(key(part))?;
        Some((&mut self.frequent, slot))
    }

    /// A map page was written with all that level 1 knew.
    fn clean_entries(&mut self, board: &mut Board, part: u32) {
        for entry in self.area.entries_of(part) {
            let changed = self.entries.find(key(entry)).filter(|&it| self.entries.is_dirty(it));
            if let Some(slot) = changed {
                self.entries.clean(slot);
                board.event(Event::BatchedEvictions, 1);
            }
        }
    }

    /// Blocks of the area.
    pub fn area_blocks(&self) -> u32 {
        self.area.blocks_in_use()
    }

    /// Cached entries say what the table says, and so do map pages but for what was changed in
    /// memory; no page is cached twice.
    pub fn self_check(&self, board: &Board, table: impl Fn(u32) -> u32) -> Result<(), String> {
        for slot in self.entries.slots() {
            let (entry, cached) = (self.entries.lpn(slot).0, self.entries.ppn(slot));
            if cached != unpack(table(entry)).map(Ppn) {
                return Err(format!("level 1 says {cached:?} of entry {entry}"));
            }
        }
        for part in self.area.parts().map(key) {
            if self.spatial.find(part).is_some() && self.frequent.find(part).is_some() {
                return Err(format!("map page {part} is in both caches of level 2"));
            }
        }
        let changed =
            |cache: &Cmt, number| cache.find(key(number)).is_some_and(|slot| cache.is_dirty(slot));
        let may_differ = |entry| {
            let part = self.area.part_of(entry);
            changed(&self.entries, entry)
                || changed(&self.spatial, part)
                || changed(&self.frequent, part)
        };
        self.area.self_check(board, &table, may_differ)
    }

    /// After a power cut, the table being known: reads every map page that was found and writes
    /// those anew that say something else than the table, or keeps them. Nothing is cached.
    pub fn recover(
        board: &mut Board,
        backing: &mut Backing<'_, impl Fn(u32) -> u32>,
        (found, entries): (&FoundMapPages, u32),
        (sizes, rules): (CacheSizes, CacheRules),
        after: When,
    ) -> Result<(Self, When), Fault> {
        let (area, when) = MapArea::recover(board, backing, found, entries, after)?;
        Ok((Self::over(area, entries, sizes, rules), when))
    }
}

#[cfg(test)]
mod tests;
