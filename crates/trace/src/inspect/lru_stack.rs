//! Positions of accesses in the LRU stack: what a cache of every size would hit, from one pass.
//!
//! The position of an access is the number of distinct pages used since that page was used last,
//! itself included: 1 for the page of the access before. A cache of k entries that evicts the least
//! recently used hits exactly the accesses at positions up to k (Mattson, Gecsei, Slutz, Traiger:
//! Evaluation techniques for storage hierarchies, IBM Systems Journal 9(2), 1970).

use super::page_table::{Chunk, PageState, PageTable};
use super::slot_order::SlotOrder;

/// Positions that are counted together.
const FOUND_MAX: usize = 64;

/// Accesses by position. The counts of a large stack lie far apart: some are noted first, and then
/// waited for together.
struct Positions {
    /// Accesses at each position, from 1, but for those in `found`.
    counts: Vec<u64>,
    /// Positions not yet counted, and how many there are.
    found: [u32; FOUND_MAX],
    waiting: usize,
}

impl Positions {
    #[inline]
    fn note(&mut self, position: u32) {
        self.found[self.waiting] = position;
        self.waiting += 1;
        if self.waiting == FOUND_MAX {
            self.count_found();
        }
    }

    #[inline(never)]
    fn count_found(&mut self) {
        let found = &self.found[..std::mem::take(&mut self.waiting)];
        let deepest = found.iter().copied().max().unwrap_or(0) as usize;
        if deepest > self.counts.len() {
            self.counts.resize(deepest, 0);
        }
        for &position in found {
            self.counts[position as usize - 1] += 1;
        }
    }
}

/// The stack and what was counted on it. Memory follows the distinct pages.
pub(super) struct LruStack {
    pages: PageTable,
    order: SlotOrder,
    positions: Positions,
    accesses: u64,
    written: u64,
    /// Moments that are asked about later: the slot that was next then.
    marks: Vec<u32>,
    newest_mark: u32,
}

impl LruStack {
    /// Nothing was used. `marks` moments are remembered at a time; all are now.
    pub fn new(marks: usize) -> Self {
        Self {
            pages: PageTable::new(),
            order: SlotOrder::new(),
            positions: Positions { counts: Vec::new(), found: [0; FOUND_MAX], waiting: 0 },
            accesses: 0,
            written: 0,
            marks: vec![0; marks],
            newest_mark: 0,
        }
    }

    /// Where a page is, roughly, if one near it was used.
    #[inline]
    pub fn region(&self, unit: u32, page: u64) -> Option<u32> {
        self.pages.region(unit, page)
    }

    /// Where a page of that region is, if it was used or one beside it.
    #[inline]
    pub fn chunk(&self, region: u32, page: u64) -> Option<Chunk> {
        self.pages.chunk_of(region, page)
    }

    /// The latest use of a page in a chunk that was found; none where it was never used.
    #[inline]
    pub fn latest(&self, chunk: Chunk, page: u64) -> Option<u32> {
        self.pages.latest(chunk, page).checked_sub(1)
    }

    /// Brings near what [`Self::access`] will need of a page with that latest use.
    #[inline]
    pub fn bring_near(&self, latest: u32) {
        self.order.bring_near(latest);
    }

    /// The next page to be used is in a chunk that was found.
    #[inline]
    pub fn expect(&mut self, unit: u32, page: u64, chunk: Chunk) {
        self.pages.expect(unit, page, chunk);
    }

    /// Uses a page of a unit.
    #[inline]
    pub fn access(&mut self, unit: u32, page: u64, writes: bool) {
        if self.order.is_full() {
            self.compact();
        }
        self.accesses += 1;
        let state = self.pages.state(unit, page);
        if writes {
            self.written += u64::from(state.writes == 0);
            state.writes = state.writes.saturating_add(1);
        }
        if let Some(latest) = state.latest.checked_sub(1) {
            // The latest page of all stays where it is, unless a mark tells its two uses apart.
            if latest + 1 == self.order.next() && latest >= self.newest_mark {
                self.positions.note(1);
                return;
            }
            self.positions.note(self.order.give_back(latest));
        }
        state.latest = self.order.take() + 1;
    }

    #[cold]
    fn compact(&mut self) {
        let moved = self.order.compact();
        self.pages.touched_mut().for_each(|state| state.latest = moved.to(state.latest - 1) + 1);
        for mark in &mut self.marks {
            *mark = moved.to(*mark);
        }
        self.newest_mark = moved.to(self.newest_mark);
    }

    /// Makes `mark` stand for this moment.
    pub fn set_mark(&mut self, mark: usize) {
        self.marks[mark] = self.order.next();
        self.newest_mark = self.order.next();
    }

    /// Distinct pages used since the moment of `mark`.
    pub fn distinct_since(&self, mark: usize) -> u64 {
        u64::from(self.order.taken_from(self.marks[mark]))
    }

    /// Accesses so far.
    pub fn accesses(&self) -> u64 {
        self.accesses
    }

    /// Distinct pages so far; also the accesses that no cache could have hit.
    pub fn distinct(&self) -> u64 {
        u64::from(self.order.taken())
    }

    /// Distinct pages written so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Accesses at each position, from position 1 on.
    pub fn at_position(&mut self) -> &[u64] {
        self.positions.count_found();
        &self.positions.counts
    }

    /// Pages in a row, with their unit and the number of the first; at least one of them was used.
    pub fn chunks(&self) -> impl Iterator<Item = (u32, u64, &[PageState])> {
        self.pages.chunks()
    }

    /// Every page that was used, in no order that matters.
    pub fn pages(&self) -> impl Iterator<Item = &PageState> {
        self.pages.touched()
    }

    /// Bytes held, at least.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        self.pages.bytes() + self.order.bytes() + 8 * self.positions.counts.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A stack as a plain list, the latest page first.
    #[derive(Default)]
    struct NaiveStack {
        pages: Vec<(u32, u64)>,
        at_position: Vec<u64>,
    }

    impl NaiveStack {
        fn access(&mut self, unit: u32, page: u64) {
            if let Some(index) = self.pages.iter().position(|known| *known == (unit, page)) {
                self.at_position.resize(self.at_position.len().max(index + 1), 0);
                self.at_position[index] += 1;
                self.pages.remove(index);
            }
            self.pages.insert(0, (unit, page));
        }
    }

    /// Feeds both, and compares at every thousandth access and at the end.
    fn compare(accesses: impl IntoIterator<Item = (u32, u64)>) {
        let (mut stack, mut naive) = (LruStack::new(0), NaiveStack::default());
        let check = |stack: &mut LruStack, naive: &NaiveStack| {
            assert_eq!(stack.at_position(), &naive.at_position[..]);
            assert_eq!(stack.distinct(), naive.pages.len() as u64);
            let again: u64 = stack.at_position().iter().sum();
            assert_eq!(again + stack.distinct(), stack.accesses());
        };
        for (number, (unit, page)) in accesses.into_iter().enumerate() {
            stack.access(unit, page, false);
            naive.access(unit, page);
            if number % 1000 == 0 {
                check(&mut stack, &naive);
            }
        }
        check(&mut stack, &naive);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn positions_are_those_of_a_plain_list(
            pages in proptest::collection::vec((0u32..2, 0u64..900), 0..12_000),
        ) {
            compare(pages);
        }
    }

    /// What makes a wrong tree, a wrong compaction or a wrong short cut show itself.
    #[test]
    fn adversarial_orders_are_those_of_a_plain_list() {
        let round = |pages: u64, accesses: u64| (0..accesses).map(move |n| (0, n % pages));
        // Always the page that was used longest ago, just around a block of the order, its first
        // line and a node above sixteen blocks.
        for edge in [2, 448, 1792, 3584, 7168] {
            for pages in edge - 1..=edge + 1 {
                compare(round(pages, 3 * pages + 9000));
            }
        }
        // There and back again: each page at every position.
        compare(
            (0..12_000u64).map(|n| (0, if n / 600 % 2 == 0 { n % 600 } else { 599 - n % 600 })),
        );
        // The same page between pages that are never used again.
        compare((0..9000u64).map(|n| (1, if n % 2 == 0 { 0 } else { n * 1_000_003 })));
        // A footprint that grows while it is used, in two units of the same numbers.
        compare((0..12_000u64).map(|n| ((n % 2) as u32, (n * n / 7) % (n / 5 + 1))));
        // Far-away pages, up to the last there is.
        compare((0..5000u64).map(|n| (u32::MAX, u64::MAX - n % 37 * 16)));
    }

    #[test]
    fn a_mark_tells_two_uses_of_the_same_page_apart() {
        let mut stack = LruStack::new(2);
        stack.access(0, 7, false);
        stack.set_mark(0);
        assert_eq!((stack.distinct_since(0), stack.distinct_since(1)), (0, 1));
        stack.access(0, 7, false);
        stack.access(0, 7, false);
        stack.access(0, 8, false);
        assert_eq!((stack.distinct_since(0), stack.distinct_since(1)), (2, 2));
        assert_eq!(stack.at_position(), [2]);
        // Marks move with the line.
        for page in 0..100_000 {
            stack.access(0, page % 5, false);
        }
        stack.set_mark(1);
        stack.access(0, 3, false);
        assert_eq!((stack.distinct_since(0), stack.distinct_since(1)), (7, 1));
    }

    #[test]
    fn writes_are_counted_by_page() {
        let mut stack = LruStack::new(0);
        for (page, writes) in [(1, true), (1, true), (2, false), (2, true), (3, false)] {
            stack.access(0, page, writes);
        }
        assert_eq!((stack.distinct(), stack.written()), (3, 2));
        let mut counts: Vec<u32> = stack.pages().map(|page| page.writes).collect();
        counts.sort_unstable();
        assert_eq!(counts, [0, 1, 2]);
    }

    /// Ten times the accesses to the same pages take the same bytes, and few of them per page.
    #[test]
    fn memory_follows_the_pages_and_not_the_accesses() {
        let bytes_after = |accesses: u64| {
            let mut stack = LruStack::new(0);
            for number in 0..accesses {
                stack.access(0, number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48, false);
            }
            assert_eq!(stack.distinct(), 1 << 16);
            stack.bytes()
        };
        let once = bytes_after(1_000_000);
        assert_eq!(once, bytes_after(10_000_000));
        assert!(once < 32 << 16, "{once} bytes for {} pages", 1 << 16);
    }
}
