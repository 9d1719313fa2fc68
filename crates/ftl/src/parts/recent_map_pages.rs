//! Cached translation pages in order of use: whole pages of the map in memory, of which the one
//! used longest ago leaves.
//!
//! What counts as a use is the owner's business, as is what a page that leaves must tell flash
//! first.

use std::ops::Deref;

use crate::parts::map_cache::MapCache;
use crate::parts::map_pages::MapPages;
use crate::parts::slots::Slot;
use crate::parts::slots::slot_list::SlotLists;
use crate::parts::translation::Translation;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::when::When;
use ftlab_flash::units::{Lpn, Ppn};

/// Translation pages in memory, by last use; read as the pages that they are.
#[derive(Clone, Debug)]
pub struct RecentMapPages {
    pages: MapPages,
    order: SlotLists<1>,
}

impl Deref for RecentMapPages {
    type Target = MapPages;

    #[inline]
    fn deref(&self) -> &MapPages {
        &self.pages
    }
}

impl RecentMapPages {
    /// Room for `capacity` pages of the map of pages.
    pub fn new(geometry: &Geometry, capacity: u32) -> Self {
        RecentMapPages { pages: MapPages::new(geometry, capacity), order: SlotLists::new(capacity) }
    }

    /// A translation page is used: when it was there; none if it is not.
    #[inline]
    pub fn use_page(&mut self, part: u32) -> Option<When> {
        let slot = self.pages.find(part)?;
        self.order.renew(slot);
        Some(self.pages.ready(slot))
    }

    /// The page used longest ago; one is in memory.
    pub fn oldest(&self) -> Slot {
        self.order.oldest(0).expect("a translation page is in memory")
    }

    /// Takes over a page that was just read from flash, which is a use; there must be room.
    pub fn insert(
        &mut self,
        board: &Board,
        translation: &Translation,
        part: u32,
        ready: When,
    ) -> Slot {
        let slot = self.pages.insert(board, translation, part, ready);
        self.order.push(0, slot);
        slot
    }

    /// Drops a page; what it alone knew must be on flash by now.
    pub fn remove(&mut self, slot: Slot) {
        self.order.remove(slot);
        self.pages.remove(slot);
    }

    /// The translation page on flash says this of a page now; memory follows if it holds it.
    pub fn follow(&mut self, lpn: Lpn, ppn: Option<Ppn>) {
        self.pages.follow(lpn, ppn);
    }
}

impl MapCache for RecentMapPages {
    #[inline]
    fn entry(&self, lpn: Lpn) -> Option<Option<Ppn>> {
        self.pages.entry(lpn)
    }

    #[inline]
    fn is_dirty(&self, lpn: Lpn) -> bool {
        self.pages.is_dirty(lpn)
    }

    fn first_dirty(&self, lpns: std::ops::Range<u32>) -> Option<Lpn> {
        self.pages.first_dirty(lpns)
    }

    #[inline]
    fn change(&mut self, lpn: Lpn, ppn: Option<Ppn>) {
        self.pages.change(lpn, ppn);
    }

    #[inline]
    fn clean(&mut self, lpn: Lpn) {
        self.pages.clean(lpn);
    }

    fn changed(&self) -> impl Iterator<Item = (Lpn, Option<Ppn>)> + '_ {
        self.pages.changed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SharedSettings;

    #[test]
    fn the_page_used_longest_ago_is_the_one_that_leaves() {
        let mut config = SharedSettings::default();
        config.device.blocks_per_plane = 64;
        let board = Board::new(&config, 1, 8);
        let translation = Translation::new(board.geometry());
        let mut pages = RecentMapPages::new(board.geometry(), 3);
        assert!(Translation::pages(board.geometry()) > 3, "more pages than places");
        for part in 0..3 {
            pages.insert(&board, &translation, part, When::START);
        }
        assert!(pages.is_full() && pages.use_page(3).is_none());
        assert_eq!(pages.use_page(0), Some(When::START));
        assert_eq!(pages.part(pages.oldest()), 1, "page 0 was used since");
        pages.remove(pages.oldest());
        pages.insert(&board, &translation, 3, When::START);
        assert_eq!((pages.find(1), pages.part(pages.oldest())), (None, 2));
    }

    /// What memory says of entries, which of them flash does not say, and what it says itself.
    #[test]
    fn entries_are_told_as_whole_pages_tell_them() {
        let mut config = SharedSettings::default();
        config.device.blocks_per_plane = 64;
        let board = Board::new(&config, 1, 8);
        let translation = Translation::new(board.geometry());
        let first = board.geometry().entries_per_page();
        let mut pages = RecentMapPages::new(board.geometry(), 3);
        pages.insert(&board, &translation, 1, When::START);
        assert_eq!((pages.entry(Lpn(first)), pages.entry(Lpn(0))), (Some(None), None));
        pages.change(Lpn(first + 70), Some(Ppn(9)));
        pages.change(Lpn(first + 71), Some(Ppn(8)));
        pages.follow(Lpn(first + 72), Some(Ppn(5)));
        pages.follow(Lpn(3), Some(Ppn(6)));
        let entries = [70, 71, 72].map(|place| MapCache::entry(&pages, Lpn(first + place)));
        assert_eq!(entries, [9, 8, 5].map(|ppn| Some(Some(Ppn(ppn)))));
        assert_eq!(MapCache::entry(&pages, Lpn(3)), None, "its page is not here");
        let dirty = |pages: &RecentMapPages| {
            [70, 71, 72].map(|place| MapCache::is_dirty(pages, Lpn(first + place)))
        };
        assert_eq!(dirty(&pages), [true, true, false]);
        let changed = |pages: &RecentMapPages| MapCache::changed(pages).collect::<Vec<_>>();
        assert_eq!(
            changed(&pages),
            [(Lpn(first + 70), Some(Ppn(9))), (Lpn(first + 71), Some(Ppn(8)))]
        );
        pages.clean(Lpn(first + 70));
        assert_eq!(dirty(&pages), [false, true, false]);
        assert_eq!(changed(&pages), [(Lpn(first + 71), Some(Ppn(8)))]);
        let all = first..2 * first;
        assert_eq!(MapCache::first_dirty(&pages, all.clone()), Some(Lpn(first + 71)));
        pages.clean(Lpn(first + 71));
        assert_eq!(MapCache::first_dirty(&pages, all), None);
    }
}
