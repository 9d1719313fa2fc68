//! The two levels of CDFTL's cache, as one: single entries (CMT) over whole translation pages
//! (CTP).
//!
//! An entry may be in both: what the CMT says is newer. While the CMT holds an entry, changes go to
//! the CMT alone; the copy in the CTP follows when the entry leaves or is written to flash. Both
//! levels are kept in order of use. What leaves the CMT first is a matter of ranks: an entry whose
//! page is in the CTP, an unchanged one, a changed one; among equals the least recently used.

use super::settings::EvictOrder;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::when::{Moment, When};
use ftlab_flash::units::{Lpn, Ppn, zeroed};
use ftlab_ftl::parts::cmt::{CachePolicyKind, Cmt};
use ftlab_ftl::parts::map_cache::MapCache;
use ftlab_ftl::parts::recent_map_pages::RecentMapPages;
use ftlab_ftl::parts::slots::Slot;
use ftlab_ftl::parts::slots::indexed_heap::IndexedHeap;
use ftlab_ftl::parts::translation::Translation;

/// Single entries over whole translation pages.
#[derive(Clone, Debug)]
pub struct Levels {
    cmt: Cmt,
    ctp: RecentMapPages,
    evict_order: EvictOrder,
    /// Entries of the CMT by rank, then by last use.
    leaving: IndexedHeap,
    uses: u64,
    /// Entries of each translation page that the CMT holds.
    entries_of: Vec<u32>,
    entries_per_page: u32,
}

impl Levels {
    /// Empty, for so many entries and pages.
    pub fn new(geometry: &Geometry, entries: u32, pages: u32, evict_order: EvictOrder) -> Self {
        Levels {
            cmt: Cmt::new(CachePolicyKind::Lru, geometry.logical_pages, entries, 0.0),
            ctp: RecentMapPages::new(geometry, pages),
            evict_order,
            leaving: IndexedHeap::new(entries),
            uses: 0,
            entries_of: zeroed(Translation::pages(geometry) as usize),
            entries_per_page: geometry.entries_per_page(),
        }
    }

    /// The first level, for looking.
    pub fn cmt(&self) -> &Cmt {
        &self.cmt
    }

    /// The second level, for looking.
    pub fn ctp(&self) -> &RecentMapPages {
        &self.ctp
    }

    fn part(&self, lpn: Lpn) -> u32 {
        lpn.0 / self.entries_per_page
    }

    /// Entries of a translation page that the CMT holds.
    pub fn entries_of(&self, part: u32) -> u32 {
        self.entries_of[part as usize]
    }

    /// The CMT's entry of a page is used: when it was there.
    #[inline]
    pub fn use_entry(&mut self, lpn: Lpn) -> Option<Moment> {
        let slot = self.cmt.find(lpn)?;
        self.uses += 1;
        self.leaving.change(slot, (self.rank(slot), self.uses));
        Some(self.cmt.ready(slot))
    }

    /// The CTP's page with an entry is used: when it was there.
    pub fn use_page(&mut self, lpn: Lpn) -> Option<When> {
        self.ctp.use_page(self.part(lpn))
    }

    /// When memory had the entry of a page, in either level; of one that it has not, at any time.
    pub fn ready(&self, lpn: Lpn) -> Moment {
        let below = || self.ctp.find(self.part(lpn)).map(|slot| self.ctp.ready(slot).into());
        let entry = self.cmt.find(lpn).map(|slot| self.cmt.ready(slot));
        entry.or_else(below).unwrap_or(Moment::START)
    }

    /// Puts an entry into the CMT; there must be room.
    pub fn insert(&mut self, lpn: Lpn, ppn: Option<Ppn>, ready: When) -> Slot {
        let slot = self.cmt.insert(lpn, ppn, ready);
        let part = self.part(lpn);
        self.entries_of[part as usize] += 1;
        self.uses += 1;
        self.leaving.push(slot, (self.rank(slot), self.uses));
        slot
    }

    /// The entry that leaves the CMT next.
    pub fn leaving_entry(&self) -> Slot {
        self.leaving.min().expect("the first level is not empty")
    }

    /// Drops an entry from the CMT; if it is changed, flash or the CTP must know it by now.
    pub fn remove(&mut self, slot: Slot) {
        let part = self.part(self.cmt.lpn(slot));
        self.entries_of[part as usize] -= 1;
        self.leaving.remove(slot);
        self.cmt.remove(slot);
    }

    /// The CTP takes over a changed entry and the CMT drops it; false where the CTP does not hold
    /// its page.
    pub fn absorb(&mut self, slot: Slot) -> bool {
        let lpn = self.cmt.lpn(slot);
        if self.ctp.find(self.part(lpn)).is_none() {
            return false;
        }
        self.ctp.change(lpn, self.cmt.ppn(slot));
        self.remove(slot);
        true
    }

    /// Puts a translation page that was just read into the CTP; there must be room.
    pub fn insert_page(
        &mut self,
        board: &Board,
        translation: &Translation,
        part: u32,
        ready: When,
    ) {
        let _ = self.ctp.insert(board, translation, part, ready);
        self.rank_entries_of(part);
    }

    /// Drops a page from the CTP; flash must know its changes by now.
    pub fn remove_page(&mut self, slot: Slot) {
        let part = self.ctp.part(slot);
        self.ctp.remove(slot);
        self.rank_entries_of(part);
    }

    /// How soon an entry leaves; the lowest first.
    fn rank(&self, slot: Slot) -> u64 {
        let dirty = self.cmt.is_dirty(slot);
        let resident = self.ctp.find(self.part(self.cmt.lpn(slot))).is_some();
        match self.evict_order {
            EvictOrder::Lru => 0,
            _ if resident => 0,
            EvictOrder::CtpResidentLru => 1,
            EvictOrder::CtpResidentCleanDirty => 1 + u64::from(dirty),
            EvictOrder::CtpResidentDirtyClean => 1 + u64::from(!dirty),
        }
    }

    fn rank_again(&mut self, slot: Slot) {
        let (rank, used) = self.leaving.key(slot);
        let now = self.rank(slot);
        if now != rank {
            self.leaving.change(slot, (now, used));
        }
    }

    /// The page of these entries entered or left the CTP.
    fn rank_entries_of(&mut self, part: u32) {
        let mut left = self.entries_of(part);
        let mut lpn = Lpn(part * self.entries_per_page);
        while left > 0 {
            if let Some(slot) = self.cmt.find(lpn) {
                self.rank_again(slot);
                left -= 1;
            }
            lpn.0 += 1;
        }
    }
}

impl MapCache for Levels {
    #[inline]
    fn entry(&self, lpn: Lpn) -> Option<Option<Ppn>> {
        self.cmt.entry(lpn).or_else(|| self.ctp.entry(lpn))
    }

    #[inline]
    fn is_dirty(&self, lpn: Lpn) -> bool {
        MapCache::is_dirty(&self.cmt, lpn) || self.ctp.is_dirty(lpn)
    }

    #[inline]
    fn change(&mut self, lpn: Lpn, ppn: Option<Ppn>) {
        match self.cmt.find(lpn) {
            Some(slot) => {
                self.cmt.change(slot, ppn);
                self.rank_again(slot);
            }
            None => self.ctp.change(lpn, ppn),
        }
    }

    #[inline]
    fn clean(&mut self, lpn: Lpn) {
        if let Some(slot) = self.cmt.find(lpn) {
            if self.cmt.is_dirty(slot) && self.ctp.find(self.part(lpn)).is_some() {
                self.ctp.change(lpn, self.cmt.ppn(slot));
            }
            self.cmt.clean(slot);
            self.rank_again(slot);
        }
        self.ctp.clean(lpn);
    }

    fn changed(&self) -> impl Iterator<Item = (Lpn, Option<Ppn>)> + '_ {
        let only_below = |(lpn, _): &(Lpn, _)| !MapCache::is_dirty(&self.cmt, *lpn);
        self.cmt.changed().chain(self.ctp.changed().filter(only_below))
    }

    fn fill(&mut self, changed: &[(Lpn, Option<Ppn>)]) {
        for &(lpn, ppn) in changed {
            self.insert(lpn, ppn, When::START);
            self.change(lpn, ppn);
        }
    }

    /// What must hold between the levels.
    fn self_check(&self) -> Result<(), String> {
        for slot in self.cmt.slots() {
            let (lpn, ppn) = (self.cmt.lpn(slot), self.cmt.ppn(slot));
            let below = self.ctp.entry(lpn);
            if !self.cmt.is_dirty(slot) && below.is_some_and(|below| below != ppn) {
                return Err(format!("page {lpn}: the levels say {ppn:?} and {below:?}, unchanged"));
            }
            if self.leaving.key(slot).0 != self.rank(slot) {
                return Err(format!("page {lpn} leaves the first level out of order"));
            }
        }
        let counted: u32 = self.entries_of.iter().sum();
        if counted != self.cmt.len() || self.leaving.count() != self.cmt.len() {
            return Err(format!("{counted} entries counted, the CMT holds {}", self.cmt.len()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cdftl::settings::Config;

    /// An entry of the first level was there when it came; any other of a page in the second level
    /// when that came.
    #[test]
    fn an_entry_is_there_since_its_level_has_it() {
        let config = Config::default();
        let mut board = Board::new(&config, 1, 0);
        let geometry = board.geometry().clone();
        let mut levels = Levels::new(&geometry, 4, 1, config.own.cmt_evict_order);
        let (first, _) = board.read_unwritten(Lpn(0), When::START).expect("nothing fails");
        let (second, _) = board.read_unwritten(Lpn(0), first).expect("nothing fails");
        assert_ne!(Moment::from(first), Moment::from(second));
        let _ = levels.ctp.insert(&board, &Translation::new(&geometry), 0, first);
        let _ = levels.insert(Lpn(3), None, second);
        let of = |lpn| levels.ready(Lpn(lpn));
        assert_eq!((of(3), of(4)), (second.into(), first.into()));
        assert_eq!(of(levels.entries_per_page), Moment::START, "of the next page");
    }
}
