//! What memory knows of a map that lies on flash as a whole: the face that every map cache shows to
//! collection, write-back and recovery.
//!
//! Whether a cache holds single entries ([`crate::parts::cmt`]), whole translation pages
//! ([`crate::parts::map_pages`]) or something else, and what leaves it when, is its scheme's
//! business.

use crate::parts::page_space::{Newer, PageSpace};
use ftlab_flash::board::Board;
use ftlab_flash::board::when::When;
use ftlab_flash::units::{BlockId, Lpn, PlaneId, Ppn, pack};

/// What memory says of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Nothing: only flash knows.
    No,
    /// That it is known, and not repeated here because flash says it.
    AsOnFlash,
    /// The entry: physical page or nowhere.
    Entry(Option<Ppn>),
}

/// Map entries in memory.
pub trait MapCache {
    /// The entry of a page as memory has it, physical page or nowhere; none if only flash knows.
    fn entry(&self, lpn: Lpn) -> Option<Option<Ppn>>;
    /// The same, where memory may hold a translation page without a copy of what flash says.
    #[inline]
    fn look(&self, lpn: Lpn) -> Known {
        self.entry(lpn).map_or(Known::No, Known::Entry)
    }
    /// Looks where the entry of a page of the host is listed, so that it is at hand. What is seen
    /// means nothing.
    #[inline]
    fn glance_at(&self, _lpn: Lpn) -> u32 {
        0
    }
    /// Whether memory holds an entry that its translation page on flash does not say yet.
    fn is_dirty(&self, lpn: Lpn) -> bool;
    /// The first of some consecutive pages of whose entries that is so.
    fn first_dirty(&self, mut lpns: std::ops::Range<u32>) -> Option<Lpn> {
        lpns.find(|&lpn| self.is_dirty(Lpn(lpn))).map(Lpn)
    }
    /// Every one of the pages of a translation page of whose entries that is so, in order, with the
    /// entry, and whether what it supersedes is not known ([`MapCache::is_unresolved`]).
    fn each_dirty(
        &self,
        mut lpns: std::ops::Range<u32>,
        mut each: impl FnMut(Lpn, Option<Ppn>, bool),
    ) {
        while let Some(lpn) = self.first_dirty(lpns.clone()) {
            let entry = self.entry(lpn).expect("a changed entry is in memory");
            each(lpn, entry, self.is_unresolved(lpn));
            lpns.start = lpn.0 + 1;
        }
    }
    /// The same of a translation page that is being written, straight to its words (packed physical
    /// pages): none of them has changed any more then. What they superseded is known: whoever asks
    /// has looked at [`MapCache::unresolved`]. How many there were.
    fn take_dirty(&mut self, lpns: std::ops::Range<u32>, words: &mut [u32]) -> u32 {
        let mut taken = 0;
        while let Some(lpn) = self.first_dirty(lpns.clone()) {
            let entry = self.entry(lpn).expect("a changed entry is in memory");
            words[(lpn.0 - lpns.start) as usize] = pack(entry.map(|ppn| ppn.0));
            self.clean(lpn);
            taken += 1;
        }
        taken
    }
    /// Changes an entry that memory holds; it differs from flash from now on.
    fn change(&mut self, lpn: Lpn, ppn: Option<Ppn>);
    /// The same; what memory said of it before.
    #[inline]
    fn exchange(&mut self, lpn: Lpn, ppn: Option<Ppn>) -> Known {
        let before = self.look(lpn);
        self.change(lpn, ppn);
        before
    }
    /// The translation page on flash says what memory says, if memory holds the entry.
    fn clean(&mut self, lpn: Lpn);
    /// The same of several pages of a translation page, by their places behind its first one.
    fn clean_places(&mut self, first: Lpn, places: impl Iterator<Item = u32>) {
        places.for_each(|place| self.clean(Lpn(first.0 + place)));
    }
    /// Every entry that differs from flash.
    fn changed(&self) -> impl Iterator<Item = (Lpn, Option<Ppn>)> + '_;

    /// Takes in entries that differ from flash, after a power cut; there must be room. Caches of
    /// which an entry enters before it changes have their own way.
    fn fill(&mut self, changed: &[(Lpn, Option<Ppn>)]) {
        changed.iter().for_each(|&(lpn, ppn)| self.change(lpn, ppn));
    }
    /// What must hold within the cache, every number counted anew.
    ///
    /// # Errors
    /// Says what does not, with its numbers.
    fn self_check(&self) -> Result<(), String> {
        Ok(())
    }

    /// Whether collection is to write versions of host pages that memory holds
    /// ([`MapCache::newer`]).
    fn hands_over(&self) -> bool {
        false
    }
    /// The version of a host page that memory holds, newer than the one on flash and whole: what
    /// collection writes instead of copying the older one, where the owner wants that.
    fn newer(&self, _: Lpn) -> Option<Newer> {
        None
    }
    /// Whether collection should prefer pages whose entries are in memory.
    fn prefers_cached(&self) -> bool {
        false
    }
    /// Collection wrote the newer version of a page.
    fn wrote_newer(&mut self, lpn: Lpn) {
        unreachable!("memory holds no newer version of page {lpn}");
    }

    /// Entries written without a look-up of what they supersede; older pages of theirs may still
    /// count as valid on flash. Caches that always look up have none.
    fn unresolved(&self) -> u32 {
        0
    }
    /// Whether an entry is one of them.
    fn is_unresolved(&self, _: Lpn) -> bool {
        false
    }
    /// What the entry superseded has been found.
    fn resolve(&mut self, lpn: Lpn) {
        unreachable!("page {lpn} was looked up before it was written");
    }

    /// Collection moved a page of data; called before its entry changes.
    #[inline]
    fn page_moved(&mut self, _lpn: Lpn, _new: Ppn) {}
    /// All pages of a translation page that collection moves were moved, in the order of their
    /// numbers (`in_order`), or pages were moved in no order.
    #[inline]
    fn pages_moved(&mut self, _board: &mut Board, _in_order: bool) {}
    /// Whether memory knows every entry of a translation page, of which so many that are not cached
    /// have just been moved: it is then written without a read, with all that is changed of it.
    #[inline]
    fn knows_rest(&self, _part: u32, _moved: u32) -> bool {
        false
    }

    /// Whether memory takes the entries of all pages that collection moves, so that no translation
    /// page is written for their sake. What that is too much for is [`MapCache::overdue`].
    const ADOPTS: bool = false;

    /// A translation page whose changed entries have to be written before the host opens so many
    /// data blocks in a plane; in the middle of a collection there (`None`) one of those that
    /// [`MapCache::most_overdue`] counted, no more. And when that was known.
    fn overdue(
        &mut self,
        _space: &mut PageSpace,
        _board: &mut Board,
        (_plane, _opening): (PlaneId, Option<u32>),
        after: When,
    ) -> (Option<u32>, When) {
        (None, after)
    }
    /// Translation pages that are overdue at most once `victim` has been emptied.
    fn most_overdue(&self, _space: &PageSpace, _victim: BlockId) -> u32 {
        0
    }
    /// When a whole translation page that memory holds was loaded; writing it needs no read.
    fn held(&self, _part: u32) -> Option<When> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SharedSettings;
    use ftlab_flash::meter::{BlockRole, Cause};

    /// A cache of all entries, which does what it must and nothing else.
    struct Plain([(Option<Ppn>, bool); 8]);

    impl MapCache for Plain {
        fn entry(&self, lpn: Lpn) -> Option<Option<Ppn>> {
            Some(self.0[lpn.index()].0)
        }
        fn is_dirty(&self, lpn: Lpn) -> bool {
            self.0[lpn.index()].1
        }
        fn change(&mut self, lpn: Lpn, ppn: Option<Ppn>) {
            self.0[lpn.index()] = (ppn, true);
        }
        fn clean(&mut self, lpn: Lpn) {
            self.0[lpn.index()].1 = false;
        }
        fn changed(&self) -> impl Iterator<Item = (Lpn, Option<Ppn>)> + '_ {
            let all = (0..).map(Lpn).zip(&self.0);
            all.filter(|(_, entry)| entry.1).map(|(lpn, entry)| (lpn, entry.0))
        }
    }

    /// It looks up what it supersedes, holds no data and no translation page, and is asked nothing
    /// about collection.
    #[test]
    fn a_cache_that_only_caches_promises_nothing_else() {
        let mut cache = Plain([(None, false); 8]);
        cache.fill(&[(Lpn(3), Some(Ppn(30))), (Lpn(5), None)]);
        assert_eq!(cache.changed().collect::<Vec<_>>(), [(Lpn(3), Some(Ppn(30))), (Lpn(5), None)]);
        assert_eq!((cache.unresolved(), cache.is_unresolved(Lpn(3))), (0, false));
        assert!(!cache.hands_over() && !cache.prefers_cached() && cache.newer(Lpn(3)).is_none());
        assert!(!cache.knows_rest(0, 8) && cache.held(0).is_none());
    }

    #[test]
    #[should_panic(expected = "page 3 was looked up before it was written")]
    fn what_was_looked_up_is_not_resolved() {
        Plain([(None, false); 8]).resolve(Lpn(3));
    }

    #[test]
    #[should_panic(expected = "memory holds no newer version of page 3")]
    fn what_memory_does_not_hold_is_not_written() {
        Plain([(None, false); 8]).wrote_newer(Lpn(3));
    }

    /// Memory that takes no entries of moved pages has none that are too much for it, and waits for
    /// nothing.
    #[test]
    fn nothing_is_overdue_in_a_cache_that_adopts_nothing() {
        let mut config = SharedSettings::default();
        config.device.blocks_per_plane = 64;
        let mut board = Board::new(&config, 1, 8);
        let mut space = PageSpace::new(&board, &config, 1, 1);
        let erased = board.erase(BlockId(0), BlockRole::Map, Cause::Wear, When::START);
        let later = erased.expect("nothing fails here");
        assert_ne!(later, When::START);
        let mut cache = Plain([(None, false); 8]);
        assert_eq!(cache.most_overdue(&space, BlockId(1)), 0);
        for opening in [Some(1), None] {
            let found = cache.overdue(&mut space, &mut board, (PlaneId(0), opening), later);
            assert_eq!(found, (None, later));
        }
    }
}
