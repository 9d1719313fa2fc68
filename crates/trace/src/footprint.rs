//! Sets of page numbers that cost memory by what was touched: bitmaps of 512 pages in a hash map.

use rustc_hash::FxHashMap;

const CHUNK_PAGES: u64 = 512;
const WORD_BITS: u64 = 64;

/// Distinct pages of any number of units. At worst about 90 bytes per page (scattered), at best
/// 0.2 (dense).
#[derive(Default)]
pub struct PageSet {
    chunks: FxHashMap<(u32, u64), [u64; (CHUNK_PAGES / WORD_BITS) as usize]>,
    pages: u64,
}

impl PageSet {
    /// An empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds pages `first ..= last` of a unit.
    pub fn insert(&mut self, unit: u32, first: u64, last: u64) {
        let mut page = first;
        loop {
            let chunk = self.chunks.entry((unit, page / CHUNK_PAGES)).or_default();
            let chunk_last = page | (CHUNK_PAGES - 1);
            let end = last.min(chunk_last);
            while page <= end {
                let word = &mut chunk[(page % CHUNK_PAGES / WORD_BITS) as usize];
                let word_last = (page | (WORD_BITS - 1)).min(end);
                let count = word_last - page + 1;
                let mask = (u64::MAX >> (WORD_BITS - count)) << (page % WORD_BITS);
                self.pages += u64::from((mask & !*word).count_ones());
                *word |= mask;
                if word_last == u64::MAX {
                    return;
                }
                page = word_last + 1;
            }
            if end == last {
                return;
            }
        }
    }

    /// Distinct pages added so far.
    pub fn len(&self) -> u64 {
        self.pages
    }

    /// Was nothing added?
    pub fn is_empty(&self) -> bool {
        self.pages == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn it_counts_as_a_plain_set_does(
            ranges in proptest::collection::vec((0u32..3, 0u64..3000, 0u64..1500), 0..40),
        ) {
            let (mut set, mut naive) = (PageSet::new(), BTreeSet::new());
            for (unit, first, more) in ranges {
                set.insert(unit, first, first + more);
                naive.extend((first..=first + more).map(|page| (unit, page)));
                prop_assert_eq!(set.len(), naive.len() as u64);
            }
        }
    }

    #[test]
    fn the_last_page_of_all_does_not_overflow() {
        let mut set = PageSet::new();
        set.insert(0, u64::MAX - 1000, u64::MAX);
        assert_eq!(set.len(), 1001);
        assert!(!set.is_empty());
    }
}
