//! ADAPT's historical access table: the last write requests, each by first page and size, in a
//! queue. A request that is in it already moves to the rear; any other takes the place of the
//! oldest.
//!
//! What this is not: a prediction. It answers whether a page was written lately, by one of three
//! readings of what it means for a page to be in the table.
//!
//! Every answer is one array access and every request costs as many as it has pages at most: the
//! entries that speak for a page (or a logical block) are counted as they come and go. The
//! controller of the paper has a hashed queue of 6 bytes an entry instead; that is what a scheme
//! reports as RAM.

use crate::parts::slots::Slot;
use crate::parts::slots::slot_list::SlotLists;
use ftlab_flash::choices;
use ftlab_flash::units::{Lpn, pack, unpack, zeroed};

choices! {
    /// Which pages an entry of the historical access table speaks for.
    pub enum HistoryLookup {
        /// Every page that the request wrote.
        CoversRange = "covers_range",
        /// The first page of the request alone: the key that is hashed.
        ExactBase = "exact_base",
        /// Every page of the logical block in which the request begins.
        SameLogicalBlock = "same_logical_block",
    }
}

/// Requests in the table, in order of their last occurrence, and places without one.
const USED: usize = 0;
const FREE: usize = 1;

/// The last write requests.
#[derive(Clone, Debug)]
pub struct HistoryTable {
    entries: Vec<Entry>,
    lists: SlotLists<2>,
    /// First entry of those that begin at a page, plus one.
    first_at: Vec<u32>,
    /// Entries that speak for a page, or for a logical block.
    speaking: Vec<u32>,
    lookup: HistoryLookup,
    pages_per_block: u32,
    limit: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    base: u32,
    pages: u16,
    /// Next entry that begins at the same page, plus one.
    next_here: u32,
}

impl HistoryTable {
    /// Bytes of an entry: 4 for the page, 2 for the size (ADAPT 2012, Fig. 3).
    pub const ENTRY_BYTES: u64 = 6;

    /// Most entries of a table, so that its bytes fit every counter.
    pub const ENTRIES_MAX: u64 = 1 << 22;

    /// How many requests `bytes` hold.
    pub fn entries(bytes: u64) -> u32 {
        (bytes / Self::ENTRY_BYTES).min(Self::ENTRIES_MAX) as u32
    }

    /// Empty, for `limit` requests now and never more than `most`.
    pub fn new(
        (logical_pages, pages_per_block): (usize, u32),
        lookup: HistoryLookup,
        limit: u32,
        most: u32,
    ) -> Self {
        assert!(limit <= most, "a table for {most} requests cannot hold {limit}");
        let mut lists = SlotLists::new(most);
        (0..most).for_each(|place| lists.push(FREE, Slot(place)));
        HistoryTable {
            entries: vec![Entry::default(); most as usize],
            lists,
            first_at: zeroed(logical_pages),
            speaking: zeroed(logical_pages),
            lookup,
            pages_per_block,
            limit,
        }
    }

    /// Requests in the table.
    pub fn len(&self) -> u32 {
        self.lists.len(USED)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Requests that it may hold.
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// Sets how many requests it may hold; the oldest go.
    pub fn set_limit(&mut self, limit: u32) {
        let most = self.entries.len();
        assert!(limit as usize <= most, "a table for {most} requests cannot hold {limit}");
        self.limit = limit;
        while self.len() > limit {
            self.drop_oldest();
        }
    }

    /// Forgets every request.
    pub fn forget(&mut self) {
        while !self.is_empty() {
            self.drop_oldest();
        }
    }

    /// A request wrote `pages` pages from `base` on.
    pub fn note(&mut self, base: Lpn, pages: u32) {
        if self.limit == 0 {
            return;
        }
        let within = self.first_at.len() as u32 - base.0;
        let pages = pages.min(within).min(u32::from(u16::MAX)) as u16;
        if let Some(known) = self.find(base, pages) {
            self.lists.remove(known);
            self.lists.push(USED, known);
            return;
        }
        if self.len() == self.limit {
            self.drop_oldest();
        }
        let place = self.lists.oldest(FREE).expect("the limit leaves a place");
        self.lists.remove(place);
        self.lists.push(USED, place);
        let next_here = self.first_at[base.index()];
        self.first_at[base.index()] = pack(Some(place.0));
        self.entries[place.index()] = Entry { base: base.0, pages, next_here };
        self.speak(place, |count| *count += 1);
    }

    /// Whether an entry speaks for a page.
    #[inline]
    pub fn knows(&self, lpn: Lpn) -> bool {
        let key = match self.lookup {
            HistoryLookup::CoversRange | HistoryLookup::ExactBase => lpn.0,
            HistoryLookup::SameLogicalBlock => lpn.0 / self.pages_per_block,
        };
        self.speaking[key as usize] > 0
    }

    fn find(&self, base: Lpn, pages: u16) -> Option<Slot> {
        let mut here = self.first_at[base.index()];
        while let Some(place) = unpack(here) {
            let entry = &self.entries[place as usize];
            if entry.pages == pages {
                return Some(Slot(place));
            }
            here = entry.next_here;
        }
        None
    }

    fn drop_oldest(&mut self) {
        let place = self.lists.oldest(USED).expect("the table is not empty");
        self.lists.remove(place);
        self.lists.push(FREE, place);
        self.speak(place, |count| *count -= 1);
        let Entry { base, next_here, .. } = self.entries[place.index()];
        let stored = pack(Some(place.0));
        if self.first_at[base as usize] == stored {
            self.first_at[base as usize] = next_here;
            return;
        }
        let mut before = unpack(self.first_at[base as usize]).expect("it is in its chain");
        while self.entries[before as usize].next_here != stored {
            before = unpack(self.entries[before as usize].next_here).expect("it is in its chain");
        }
        self.entries[before as usize].next_here = next_here;
    }

    /// Changes the count of everything that an entry speaks for.
    fn speak(&mut self, place: Slot, change: impl FnMut(&mut u32)) {
        let Entry { base, pages, .. } = self.entries[place.index()];
        let range = match self.lookup {
            HistoryLookup::CoversRange => base..base + u32::from(pages),
            HistoryLookup::ExactBase => base..base + 1,
            HistoryLookup::SameLogicalBlock => {
                let block = base / self.pages_per_block;
                block..block + 1
            }
        };
        self.speaking[range.start as usize..range.end as usize].iter_mut().for_each(change);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use ftlab_flash::rng::{Purpose, Rng};

    const LOGICAL: u32 = 64;
    const PAGES: u32 = 8;

    fn table(lookup: HistoryLookup, limit: u32, most: u32) -> HistoryTable {
        HistoryTable::new((LOGICAL as usize, PAGES), lookup, limit, most)
    }

    #[test]
    fn one_kibibyte_holds_170_requests() {
        assert_eq!(HistoryTable::entries(1024), 170);
        assert_eq!((HistoryTable::entries(5), HistoryTable::entries(6)), (0, 1));
    }

    #[test]
    fn an_exact_repeat_moves_to_the_rear_and_another_size_is_another_entry() {
        let mut history = table(HistoryLookup::CoversRange, 2, 2);
        history.note(Lpn(3), 2);
        history.note(Lpn(20), 1);
        history.note(Lpn(3), 2);
        assert_eq!(history.len(), 2);
        history.note(Lpn(30), 1);
        assert!(history.knows(Lpn(3)) && history.knows(Lpn(4)), "it was moved to the rear");
        assert!(!history.knows(Lpn(20)) && history.knows(Lpn(30)));
        history.note(Lpn(3), 4);
        assert!(history.knows(Lpn(6)) && history.knows(Lpn(30)), "the entry of size 2 was oldest");
        history.note(Lpn(40), 1);
        history.note(Lpn(41), 1);
        assert!(!history.knows(Lpn(3)), "both entries that began there are gone");
    }

    #[test]
    fn a_table_without_room_knows_nothing() {
        let mut history = table(HistoryLookup::CoversRange, 0, 4);
        history.note(Lpn(1), 4);
        assert!(history.is_empty() && !history.knows(Lpn(1)));
    }

    /// The table against a queue that is searched from end to end, for every way to look up, while
    /// it is resized.
    #[test]
    fn it_answers_as_a_plain_queue_does() {
        for &(lookup, _) in HistoryLookup::ALL {
            let mut history = table(lookup, 5, 12);
            let mut plain: VecDeque<(u32, u32)> = VecDeque::new();
            let mut rng = Rng::new(3, Purpose::Workload);
            for step in 0..4000 {
                if step % 97 == 96 {
                    history.set_limit(rng.below(13));
                }
                while plain.len() > history.limit() as usize {
                    plain.pop_front();
                }
                let base = rng.below(LOGICAL);
                let pages = (1 + rng.below(12)).min(LOGICAL - base);
                history.note(Lpn(base), pages);
                let known = plain.len();
                plain.retain(|&entry| entry != (base, pages));
                if known == plain.len() && known == history.limit() as usize {
                    plain.pop_front();
                }
                if history.limit() > 0 {
                    plain.push_back((base, pages));
                }
                assert_eq!(history.len() as usize, plain.len());
                for lpn in 0..LOGICAL {
                    let expected = plain.iter().any(|&(base, pages)| match lookup {
                        HistoryLookup::CoversRange => (base..base + pages).contains(&lpn),
                        HistoryLookup::ExactBase => base == lpn,
                        HistoryLookup::SameLogicalBlock => base / PAGES == lpn / PAGES,
                    });
                    assert_eq!(history.knows(Lpn(lpn)), expected, "{lookup:?} page {lpn}");
                }
            }
        }
    }

    #[test]
    fn a_smaller_limit_drops_the_oldest_and_all_can_be_forgotten() {
        let mut history = table(HistoryLookup::CoversRange, 3, 3);
        [3, 20, 40].into_iter().for_each(|base| history.note(Lpn(base), 1));
        history.set_limit(2);
        let known = |history: &HistoryTable| [3, 20, 40].map(|lpn| history.knows(Lpn(lpn)));
        assert_eq!((history.len(), known(&history)), (2, [false, true, true]));
        assert!(!history.is_empty());
        history.forget();
        assert_eq!((history.len(), known(&history)), (0, [false; 3]));
        assert!(history.is_empty());
    }

    #[test]
    fn a_request_beyond_the_last_page_is_one_of_the_pages_that_there_are() {
        let mut history = table(HistoryLookup::CoversRange, 3, 3);
        history.note(Lpn(LOGICAL - 2), 8);
        history.note(Lpn(LOGICAL - 2), 2);
        assert_eq!(history.len(), 1);
    }
}
