//! S-FTL's cache: compressed translation pages, and beside them a small buffer of changed entries
//! whose page is not cached. No entry is in both.

use super::compressed::CompressedPages;
use super::sizes::Sizes;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::when::When;
use ftlab_flash::units::{Lpn, Ppn};
use ftlab_ftl::parts::cmt::{CachePolicyKind, Cmt};
use ftlab_ftl::parts::map_cache::MapCache;
use ftlab_ftl::parts::slots::Slot;
use ftlab_ftl::parts::slots::indexed_heap::IndexedHeap;
use ftlab_ftl::parts::translation::Translation;

/// Pages and buffer.
#[derive(Clone, Debug)]
pub struct Cache {
    /// Translation pages.
    pub pages: CompressedPages,
    /// Changed entries of other translation pages.
    pub buffer: DirtyBuffer,
}

impl Cache {
    /// Empty.
    pub(super) fn new(geometry: &Geometry, sizes: &Sizes) -> Self {
        Cache {
            pages: CompressedPages::new(geometry, sizes.page, sizes.frames),
            buffer: DirtyBuffer::new(geometry, sizes.buffered),
        }
    }
}

/// Changed entries whose translation page is not cached.
#[derive(Clone, Debug)]
pub struct DirtyBuffer {
    entries: Cmt,
    /// Translation pages with entries here, the one with most of them on top, among equals the one
    /// with the lowest number.
    fullest: IndexedHeap,
    parts: u32,
    entries_per_page: u32,
}

impl DirtyBuffer {
    fn new(geometry: &Geometry, capacity: u32) -> Self {
        DirtyBuffer {
            entries: Cmt::new(CachePolicyKind::Lru, geometry.logical_pages, capacity, 0.0),
            fullest: IndexedHeap::new(Translation::pages(geometry)),
            parts: Translation::pages(geometry),
            entries_per_page: geometry.entries_per_page(),
        }
    }

    /// Whether the next entry needs room to be made.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.entries.is_full()
    }

    /// Entries in the buffer.
    pub fn len(&self) -> u32 {
        self.entries.len()
    }

    /// The translation page with most entries here.
    pub fn fullest_part(&self) -> u32 {
        self.fullest.min().expect("the buffer is not empty").0
    }

    /// Entries of a translation page.
    #[inline]
    pub fn count(&self, part: u32) -> u32 {
        let slot = Slot(part);
        if !self.fullest.contains(slot) {
            return 0;
        }
        self.entries_per_page - self.fullest.key(slot).0 as u32
    }

    fn set_count(&mut self, part: u32, count: u32) {
        let slot = Slot(part);
        let key = (u64::from(self.entries_per_page - count), u64::from(part));
        match (self.fullest.contains(slot), count) {
            (true, 0) => self.fullest.remove(slot),
            (true, _) => self.fullest.change(slot, key),
            (false, _) => self.fullest.push(slot, key),
        }
    }

    /// Takes in the entry of a page that is about to be written; what it supersedes is not known.
    pub fn insert_unresolved(&mut self, lpn: Lpn, ready: When) {
        let slot = self.insert(lpn, None, ready);
        self.entries.set_unresolved(slot, true);
    }

    fn insert(&mut self, lpn: Lpn, ppn: Option<Ppn>, ready: When) -> Slot {
        let part = lpn.0 / self.entries_per_page;
        self.set_count(part, self.count(part) + 1);
        self.entries.insert(lpn, ppn, ready)
    }

    /// Gives an entry away, and whether what it supersedes is not known.
    pub fn take(&mut self, lpn: Lpn) -> Option<(Option<Ppn>, bool)> {
        let slot = self.entries.find(lpn)?;
        let taken = (self.entries.ppn(slot), self.entries.is_unresolved(slot));
        self.remove(lpn, slot);
        Some(taken)
    }

    fn remove(&mut self, lpn: Lpn, slot: Slot) {
        let part = lpn.0 / self.entries_per_page;
        self.entries.remove(slot);
        self.set_count(part, self.count(part) - 1);
    }

    /// Takes in entries that differ from flash, after a power cut; there must be room.
    pub fn fill(&mut self, changed: &[(Lpn, Option<Ppn>)]) {
        for &(lpn, ppn) in changed {
            let slot = self.insert(lpn, ppn, When::START);
            self.entries.change(slot, ppn);
        }
    }

    /// A write got no place: the entry that was taken in for it says nothing, and flash is right.
    pub fn drop_unwritten(&mut self, lpn: Lpn) {
        if let Some(slot) = self.entries.find(lpn)
            && !self.entries.is_dirty(slot)
        {
            self.remove(lpn, slot);
        }
    }

    /// The power goes, memory stays: nothing on flash counts as valid but what the map says.
    pub fn outlive_power(&mut self) {
        let slots: Vec<Slot> = self.entries.slots().collect();
        slots.into_iter().for_each(|slot| self.entries.set_unresolved(slot, false));
    }

    fn self_check(&self) -> Result<(), String> {
        let counted: u32 = (0..self.parts).map(|part| self.count(part)).sum();
        if counted != self.entries.len() {
            return Err(format!("{counted} buffered entries counted, {} there", self.len()));
        }
        match self.entries.slots().find(|&slot| !self.entries.is_dirty(slot)) {
            Some(slot) => Err(format!("page {} is buffered unchanged", self.entries.lpn(slot))),
            None => Ok(()),
        }
    }
}

impl MapCache for Cache {
    #[inline]
    fn entry(&self, lpn: Lpn) -> Option<Option<Ppn>> {
        self.pages.entry(lpn).or_else(|| self.buffer.entries.entry(lpn))
    }

    #[inline]
    fn is_dirty(&self, lpn: Lpn) -> bool {
        self.pages.is_dirty(lpn) || MapCache::is_dirty(&self.buffer.entries, lpn)
    }

    #[inline]
    fn change(&mut self, lpn: Lpn, ppn: Option<Ppn>) {
        if self.pages.entry(lpn).is_some() {
            self.pages.change(lpn, ppn);
        } else {
            MapCache::change(&mut self.buffer.entries, lpn, ppn);
        }
    }

    /// An entry that flash knows leaves the buffer.
    #[inline]
    fn clean(&mut self, lpn: Lpn) {
        self.pages.clean(lpn);
        let _ = self.buffer.take(lpn);
    }

    fn changed(&self) -> impl Iterator<Item = (Lpn, Option<Ppn>)> + '_ {
        self.pages.changed().chain(self.buffer.entries.changed())
    }

    #[inline]
    fn unresolved(&self) -> u32 {
        self.buffer.entries.unresolved()
    }

    #[inline]
    fn is_unresolved(&self, lpn: Lpn) -> bool {
        MapCache::is_unresolved(&self.buffer.entries, lpn)
    }

    fn resolve(&mut self, lpn: Lpn) {
        self.buffer.entries.resolve(lpn);
    }

    fn fill(&mut self, changed: &[(Lpn, Option<Ppn>)]) {
        self.buffer.fill(changed);
    }

    fn self_check(&self) -> Result<(), String> {
        self.pages.self_check()?;
        self.buffer.self_check()?;
        let both = self.buffer.entries.slots().map(|slot| self.buffer.entries.lpn(slot));
        match both.into_iter().find(|&lpn| self.pages.entry(lpn).is_some()) {
            Some(lpn) => Err(format!("page {lpn} is in the buffer, its translation page cached")),
            None => Ok(()),
        }
    }
}
