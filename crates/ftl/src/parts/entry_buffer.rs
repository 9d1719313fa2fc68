//! A small buffer of changed map entries whose translation page is not cached, most of them written
//! without a look-up of what they supersede. They leave a translation page at a time: the page with
//! most entries here is the one that is worth writing.

use crate::parts::cmt::Cmt;
use crate::parts::map_cache::MapCache;
use crate::parts::slots::Slot;
use crate::parts::slots::indexed_heap::IndexedHeap;
use crate::parts::translation::Translation;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::when::When;
use ftlab_flash::units::{Lpn, Ppn};

/// Changed entries whose translation page is not cached.
#[derive(Clone, Debug)]
pub struct EntryBuffer {
    entries: Cmt,
    /// Translation pages with entries here, the one with most of them on top, among equals the one
    /// with the lowest number.
    fullest: IndexedHeap,
    parts: u32,
    entries_per_page: u32,
}

impl EntryBuffer {
    /// Empty, for so many entries.
    pub fn new(geometry: &Geometry, capacity: u32) -> Self {
        EntryBuffer {
            entries: Cmt::unordered(geometry.logical_pages, capacity),
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

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The pages whose entries are here.
    pub fn lpns(&self) -> impl Iterator<Item = Lpn> + '_ {
        self.entries.slots().map(|slot| self.entries.lpn(slot))
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
}

impl MapCache for EntryBuffer {
    #[inline]
    fn entry(&self, lpn: Lpn) -> Option<Option<Ppn>> {
        self.entries.entry(lpn)
    }

    #[inline]
    fn is_dirty(&self, lpn: Lpn) -> bool {
        MapCache::is_dirty(&self.entries, lpn)
    }

    #[inline]
    fn change(&mut self, lpn: Lpn, ppn: Option<Ppn>) {
        MapCache::change(&mut self.entries, lpn, ppn);
    }

    /// An entry that flash knows leaves the buffer.
    #[inline]
    fn clean(&mut self, lpn: Lpn) {
        let _ = self.take(lpn);
    }

    fn changed(&self) -> impl Iterator<Item = (Lpn, Option<Ppn>)> + '_ {
        self.entries.changed()
    }

    #[inline]
    fn unresolved(&self) -> u32 {
        self.entries.unresolved()
    }

    #[inline]
    fn is_unresolved(&self, lpn: Lpn) -> bool {
        MapCache::is_unresolved(&self.entries, lpn)
    }

    fn resolve(&mut self, lpn: Lpn) {
        self.entries.resolve(lpn);
    }

    fn fill(&mut self, changed: &[(Lpn, Option<Ppn>)]) {
        for &(lpn, ppn) in changed {
            let slot = self.insert(lpn, ppn, When::START);
            self.entries.change(slot, ppn);
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SharedSettings;
    use ftlab_flash::rng::{Purpose, Rng};
    use std::collections::BTreeMap;

    /// Against a plain map: entries come in unresolved, change, and leave by page or one by one.
    #[test]
    fn the_fullest_page_is_the_one_with_most_entries() {
        let mut config = SharedSettings::default();
        config.device.blocks_per_plane = 64;
        let geometry = Geometry::new(&config.device);
        let per_page = geometry.entries_per_page();
        let mut buffer = EntryBuffer::new(&geometry, 40);
        let mut model: BTreeMap<u32, Option<Ppn>> = BTreeMap::new();
        let mut rng = Rng::new(7, Purpose::Workload);
        let count = |model: &BTreeMap<u32, _>, part: u32| {
            model.range(part * per_page..(part + 1) * per_page).count() as u32
        };
        for _ in 0..5_000 {
            let lpn = rng.below(3) * per_page + rng.below(30);
            if buffer.is_full() {
                let part = buffer.fullest_part();
                let most = (0..3).map(|part| count(&model, part)).max();
                assert_eq!(Some(buffer.count(part)), most);
                let first = part * per_page;
                (first..first + 30).for_each(|lpn| buffer.clean(Lpn(lpn)));
                model.retain(|&lpn, _| lpn / per_page != part);
            } else if rng.below(4) == 0 {
                let taken = buffer.take(Lpn(lpn)).map(|(ppn, unresolved)| {
                    assert!(unresolved, "nothing was looked up");
                    ppn
                });
                assert_eq!(taken, model.remove(&lpn));
            } else {
                let ppn = Some(Ppn(rng.below(1000)));
                if !model.contains_key(&lpn) {
                    buffer.insert_unresolved(Lpn(lpn), When::START);
                }
                buffer.change(Lpn(lpn), ppn);
                model.insert(lpn, ppn);
            }
            buffer.self_check().expect("sound");
            assert_eq!(buffer.entry(Lpn(lpn)), model.get(&lpn).copied());
            assert_eq!((buffer.len(), buffer.unresolved()), (model.len() as u32, buffer.len()));
        }
        buffer.insert_unresolved(Lpn(99), When::START);
        buffer.drop_unwritten(Lpn(99));
        assert_eq!(buffer.entry(Lpn(99)), None, "the write got no place");
    }

    /// Two entries from before a power cut, which flash does not know, and one that is being
    /// written. Where memory outlives the power, what they supersede counts as valid no more.
    #[test]
    fn entries_outlive_the_power_and_what_they_supersede_does_not() {
        let mut config = SharedSettings::default();
        config.device.blocks_per_plane = 64;
        let mut buffer = EntryBuffer::new(&Geometry::new(&config.device), 4);
        assert!(buffer.is_empty());
        buffer.fill(&[(Lpn(3), Some(Ppn(30))), (Lpn(4), None)]);
        buffer.insert_unresolved(Lpn(5), When::START);
        assert!(!buffer.is_empty());
        let of = |buffer: &EntryBuffer| {
            [3, 4, 5].map(Lpn).map(|lpn| (buffer.is_dirty(lpn), buffer.is_unresolved(lpn)))
        };
        assert_eq!(of(&buffer), [(true, false), (true, false), (false, true)]);
        buffer.change(Lpn(5), Some(Ppn(50)));
        buffer.insert_unresolved(Lpn(6), When::START);
        buffer.resolve(Lpn(6));
        assert_eq!((buffer.unresolved(), buffer.is_unresolved(Lpn(6))), (1, false));
        buffer.outlive_power();
        assert_eq!((buffer.unresolved(), of(&buffer)), (0, [(true, false); 3]));
        let found = [3, 4, 5].map(|lpn| buffer.entry(Lpn(lpn)));
        assert_eq!(found, [Some(Some(Ppn(30))), Some(None), Some(Some(Ppn(50)))]);
    }
}
