//! Which pages are written often and lately: several Bloom filters in turn.
//!
//! A written page is noted in the next filter in turn that does not know it yet, so that the number
//! of filters that know it tells how often it was written. Every so many writes the filter that was
//! emptied longest ago is emptied and becomes the newest; filters weigh by age, so that the sum of
//! their weights tells how lately too. Source: Park, Du: Hot Data Identification for Flash-based
//! Storage Systems Using Multiple Bloom Filters, MSST 2011 (`docs/papers/others.md#cftl`).

use ftlab_flash::units::{Lpn, zeroed};

/// The filters.
#[derive(Clone, Debug)]
pub struct HotFilter {
    /// Bits of all filters, one filter after the other.
    words: Vec<u64>,
    filters: u32,
    bits: u32,
    hashes: u32,
    /// Where the next page is looked for first.
    turn: u32,
    /// Emptied last.
    newest: u32,
    decay: u32,
    writes: u32,
    /// Weights that make a page hot, a filter of age a weighing `filters - a`.
    threshold: u32,
}

impl HotFilter {
    /// So many empty filters of so many bits; a page sets `hashes` of them. Emptied in turn, one
    /// every `decay` writes. The newest weighs 2 against `threshold`, the oldest 2 / `filters`.
    pub fn new((filters, bits, hashes): (u32, u32, u32), decay: u32, threshold: f64) -> Self {
        assert!(filters > 0 && bits > 0 && hashes > 0 && decay > 0);
        HotFilter {
            words: zeroed(filters as usize * (bits as usize).div_ceil(64)),
            filters,
            bits,
            hashes,
            turn: 0,
            newest: 0,
            decay,
            writes: 0,
            threshold: (threshold * f64::from(filters) / 2.0).ceil() as u32,
        }
    }

    /// What a page weighs that all filters know.
    pub fn most_weight(filters: u32) -> f64 {
        f64::from(filters) + 1.0
    }

    /// Bytes of the filters.
    pub fn ram_bytes(filters: u32, bits: u32) -> u64 {
        u64::from(filters) * u64::from(bits).div_ceil(8)
    }

    /// Word and bit of a page's hash in a filter.
    fn place(&self, filter: u32, lpn: Lpn, hash: u32) -> (usize, u64) {
        let mut z = (u64::from(hash) << 32 | u64::from(lpn.0)).wrapping_add(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        let bit = ((u128::from(z) * u128::from(self.bits)) >> 64) as usize;
        let first = filter as usize * (self.bits as usize).div_ceil(64);
        (first + bit / 64, 1 << (bit % 64))
    }

    fn knows(&self, filter: u32, lpn: Lpn) -> bool {
        (0..self.hashes).all(|hash| {
            let (word, bit) = self.place(filter, lpn, hash);
            self.words[word] & bit != 0
        })
    }

    /// A page is written.
    pub fn written(&mut self, lpn: Lpn) {
        for step in 0..self.filters {
            let filter = (self.turn + step) % self.filters;
            if !self.knows(filter, lpn) {
                for hash in 0..self.hashes {
                    let (word, bit) = self.place(filter, lpn, hash);
                    self.words[word] |= bit;
                }
                self.turn = (filter + 1) % self.filters;
                break;
            }
        }
        self.writes += 1;
        if self.writes == self.decay {
            self.writes = 0;
            self.newest = (self.newest + 1) % self.filters;
            let words = (self.bits as usize).div_ceil(64);
            let first = self.newest as usize * words;
            self.words[first..first + words].fill(0);
        }
    }

    /// Whether a page is written often and lately.
    pub fn is_hot(&self, lpn: Lpn) -> bool {
        let weight = |age: u32| {
            let filter = (self.newest + self.filters - age) % self.filters;
            if self.knows(filter, lpn) { self.filters - age } else { 0 }
        };
        (0..self.filters).map(weight).sum::<u32>() >= self.threshold.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(writes: &[(u32, u32)], decay: u32) -> HotFilter {
        let mut filter = HotFilter::new((4, 2048, 2), decay, 4.0);
        for &(page, times) in writes {
            (0..times).for_each(|_| filter.written(Lpn(page)));
        }
        filter
    }

    /// Weights 2, 1.5, 1, 0.5 and a threshold of 4: three writes make 2 + 1.5 + 0.5 or more only if
    /// all but the oldest two know the page.
    #[test]
    fn a_page_is_hot_once_enough_filters_know_it() {
        assert!(!after(&[(7, 1)], 512).is_hot(Lpn(7)));
        assert!(!after(&[(7, 2)], 512).is_hot(Lpn(7)));
        let all = after(&[(7, 4)], 512);
        assert!(all.is_hot(Lpn(7)) && !all.is_hot(Lpn(8)));
        assert!(after(&[(7, 1000)], 2000).is_hot(Lpn(7)), "known by all is known by all");
    }

    /// Ten cold writes at a time empty the filters one by one: hot no more after two of four.
    #[test]
    fn what_is_written_no_more_cools_down() {
        let cold: Vec<(u32, u32)> = (100..140).map(|page| (page, 1)).collect();
        let hot = |writes: usize| {
            let all = [&[(7, 4)], &cold[..writes]].concat();
            after(&all, 10).is_hot(Lpn(7))
        };
        assert!(hot(0));
        assert!(!hot(36), "every filter was emptied since");
        let cooled: Vec<bool> = (0..40).map(hot).collect();
        assert!(cooled.is_sorted_by(|earlier, later| earlier >= later), "and stays cold");
    }

    /// Weights 2, 1.5, 1 and 0.5; filters of whole bytes.
    #[test]
    fn all_filters_together_weigh_and_take_what_they_do_one_by_one() {
        assert_eq!(HotFilter::most_weight(4), 5.0);
        let bytes = [2048, 2049].map(|bits| HotFilter::ram_bytes(4, bits));
        assert_eq!(bytes, [4 * 256, 4 * 257]);
    }

    /// The second of three filters of 130 bits, which fill three words each: every bit is some
    /// page's, and none is of another filter. Two hashes of a page are seldom the same bit.
    #[test]
    fn hashes_are_spread_over_the_bits_of_their_filter() {
        let filter = HotFilter::new((3, 130, 2), 512, 4.0);
        let places = |hash| (0..5_000).map(move |lpn| (lpn, hash));
        let bit = |(lpn, hash)| {
            let (word, bit) = filter.place(1, Lpn(lpn), hash);
            assert_eq!(bit.count_ones(), 1);
            word as u32 * 64 + bit.trailing_zeros()
        };
        let mut found: Vec<u32> = places(0).map(bit).collect();
        let same = found.iter().zip(places(1).map(bit)).filter(|&(&one, other)| one == other);
        assert!(same.count() < 5_000 / 50, "one in 130 is to be expected");
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, (3 * 64..3 * 64 + 130).collect::<Vec<_>>());
    }

    /// What a page weighs, in weights of the oldest filter: four filters weigh 4, 3, 2 and 1 by
    /// age.
    fn weight(filter: &HotFilter, page: u32) -> usize {
        let is_enough = |threshold| HotFilter { threshold, ..filter.clone() }.is_hot(Lpn(page));
        (1..=10).filter(|&threshold| is_enough(threshold)).count()
    }

    fn known(filter: &HotFilter, page: u32) -> [bool; 4] {
        [0, 1, 2, 3].map(|one| filter.knows(one, Lpn(page)))
    }

    /// The next filter in turn that does not know the page: after 7 and 8 it is the turn of the
    /// third one; after three more writes of 7, which end in the second, of the third again.
    #[test]
    fn a_write_is_noted_in_the_next_filter_that_does_not_know_the_page() {
        let mut filter = after(&[(7, 1), (8, 1)], 512);
        assert_eq!(known(&filter, 7), [true, false, false, false]);
        assert_eq!(known(&filter, 8), [false, true, false, false]);
        filter.written(Lpn(7));
        assert_eq!(known(&filter, 7), [true, false, true, false]);
        filter.written(Lpn(7));
        assert_eq!(known(&filter, 7), [true, false, true, true]);
        filter.written(Lpn(7));
        assert_eq!(known(&filter, 7), [true; 4]);
        filter.written(Lpn(9));
        assert_eq!(known(&filter, 9), [false, false, true, false]);
    }

    /// With the fifth write, and with every fifth behind it, the filter that was emptied longest
    /// ago is emptied and becomes the newest: the second one, the third, the fourth, the first.
    /// Filled by four writes of 7 before, what knows it weighs 3 2 1, 2 1 and 1 then.
    #[test]
    fn the_filter_that_was_emptied_longest_ago_is_emptied_next() {
        let mut filter = after(&[(7, 4)], 5);
        assert_eq!((known(&filter, 7), weight(&filter, 7)), ([true; 4], 10));
        let mut seen = Vec::new();
        for page in 100..120 {
            filter.written(Lpn(page));
            if filter.writes == 0 {
                seen.push((page, known(&filter, 7), weight(&filter, 7)));
            }
        }
        assert_eq!(
            seen,
            [
                (100, [true, false, true, true], 3 + 2 + 1),
                (105, [true, false, false, true], 2 + 1),
                (110, [true, false, false, false], 1),
                (115, [false; 4], 0),
            ]
        );
    }

    /// The newest filter weighs 2 against the threshold. Of four the oldest weighs a half: 4.0 is 8
    /// of their 10 halves, 1.3 is 2.6, for which it takes 3. What nobody knows is never hot.
    #[test]
    fn the_threshold_counts_in_weights_of_the_newest_filter_as_two() {
        let of = |filters, threshold| HotFilter::new((filters, 64, 2), 512, threshold).threshold;
        assert_eq!([(4, 4.0), (4, 1.3), (5, 2.0)].map(|(filters, at)| of(filters, at)), [8, 3, 5]);
        let none = HotFilter::new((4, 64, 2), 512, 0.0);
        assert!(!none.is_hot(Lpn(7)));
    }

    /// A page's bit is told by splitmix64, of which the first number from 0 is known to be
    /// 0xE220A8397B1DCDAF, and that from 1234567 6457827717110365317. Of 2^32 - 1 bits it is the
    /// number's share of 2^64.
    #[test]
    fn hashes_are_those_of_splitmix64() {
        let filter = HotFilter { bits: u32::MAX, ..HotFilter::new((3, 64, 2), 512, 4.0) };
        let words = 1 << 26;
        for (page, place) in [(0, 3_793_791_032), (1_234_567, 1_503_580_183)] {
            let (word, bit) = (place / 64, 1 << (place % 64));
            assert_eq!(filter.place(0, Lpn(page), 0), (word, bit));
            assert_eq!(filter.place(2, Lpn(page), 0), (2 * words + word, bit));
        }
    }
}
