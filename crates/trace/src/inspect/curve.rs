//! The curve of a stack: how many accesses a cache of each size misses.

use super::ratio::ratio;
use serde::Serialize;

use super::lru_stack::LruStack;

/// Sizes up to this are all listed; from there on, each is 1/32 larger than the one before.
const EVERY_SIZE_MAX: u64 = 256;
const STEP_SHARE: u64 = 32;
/// Shares of the hits that the largest cache has, for which the smallest size is named.
const SHARES: [f64; 5] = [0.5, 0.8, 0.9, 0.95, 0.99];

/// Misses of an LRU cache by its size: three columns of equal length, smallest size first.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MissCurve {
    /// Look-ups in all.
    pub lookups: u64,
    /// Look-ups of what was never looked up before, which every size misses.
    pub compulsory_misses: u64,
    /// Sizes: every one up to 256, then in steps of 1/32, the sizes that were asked for, and last
    /// the smallest with which nothing but the compulsory misses is left.
    pub sizes: Vec<u64>,
    /// Misses of a cache of that size.
    pub misses: Vec<u64>,
    /// Misses by look-ups; 0 without a look-up.
    pub miss_ratios: Vec<f64>,
    /// The sizes that were asked for, smallest first; they are listed above, too.
    pub sizes_asked: Vec<u64>,
    /// The smallest sizes that have certain shares of the hits that the largest size has; empty
    /// where no size hits.
    pub sizes_for_hits: Vec<SizeForHits>,
}

/// How large a cache must be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SizeForHits {
    /// Share of the hits that the largest cache has.
    pub share_of_possible_hits: f64,
    /// The smallest size that has them.
    pub size: u64,
    /// Its bytes, of a translation page or of an entry on one each, rounded up.
    pub size_bytes: u64,
    /// What it misses, by look-ups.
    pub miss_ratio: f64,
}

impl MissCurve {
    /// From the positions of all accesses; `also` and `asked` are sizes to be listed, 0 excepted.
    pub(super) fn new(stack: &mut LruStack, also: Option<u64>, asked: &[u64]) -> Self {
        let (lookups, compulsory_misses) = (stack.accesses(), stack.distinct());
        let at_position = stack.at_position();
        let largest = at_position.len().max(1) as u64;
        let mut sizes = listed(largest);
        let mut sizes_asked: Vec<u64> = asked.iter().copied().filter(|size| *size > 0).collect();
        sizes_asked.sort_unstable();
        sizes_asked.dedup();
        sizes.extend(also.iter().chain(&sizes_asked));
        sizes.sort_unstable();
        sizes.dedup();
        let mut curve = Self {
            lookups,
            compulsory_misses,
            misses: Vec::with_capacity(sizes.len()),
            miss_ratios: Vec::with_capacity(sizes.len()),
            sizes_for_hits: sizes_for_hits(at_position, lookups),
            sizes: Vec::new(),
            sizes_asked,
        };
        let (mut hits, mut counted) = (0, 0);
        for &size in &sizes {
            let end = size.min(at_position.len() as u64) as usize;
            hits += at_position[counted..end].iter().sum::<u64>();
            counted = end;
            curve.misses.push(lookups - hits);
            curve.miss_ratios.push(ratio(lookups - hits, lookups));
        }
        curve.sizes = sizes;
        curve
    }

    /// The same curve, of a cache each of whose places takes so many bytes.
    pub(super) fn with_bytes(mut self, bytes: f64) -> Self {
        for row in &mut self.sizes_for_hits {
            row.size_bytes = (row.size as f64 * bytes).ceil() as u64;
        }
        self
    }

    /// Misses of a cache of `size`, if that size is listed.
    pub fn misses_at(&self, size: u64) -> Option<u64> {
        self.sizes.binary_search(&size).ok().map(|index| self.misses[index])
    }
}

/// Sizes from 1 to `largest`, which is among them.
fn listed(largest: u64) -> Vec<u64> {
    let mut sizes = Vec::new();
    let mut size = 1;
    while size < largest {
        sizes.push(size);
        size += if size < EVERY_SIZE_MAX { 1 } else { size / STEP_SHARE };
    }
    sizes.push(largest);
    sizes
}

fn sizes_for_hits(at_position: &[u64], lookups: u64) -> Vec<SizeForHits> {
    let possible: u64 = at_position.iter().sum();
    let mut found = Vec::new();
    let mut hits = 0;
    for (index, count) in at_position.iter().enumerate() {
        hits += count;
        while let Some(&share) = SHARES.get(found.len())
            && possible > 0
            && hits as f64 >= share * possible as f64
        {
            found.push(SizeForHits {
                share_of_possible_hits: share,
                size: index as u64 + 1,
                size_bytes: 0,
                miss_ratio: ratio(lookups - hits, lookups),
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(pages: &[u64]) -> LruStack {
        let mut stack = LruStack::new(0);
        for page in pages {
            stack.access(0, *page, false);
        }
        stack
    }

    #[test]
    fn a_curve_by_hand() {
        // Positions: a b a(2) c b(3) b(1) a(3) d
        let curve = MissCurve::new(&mut stack(&[1, 2, 1, 3, 2, 2, 1, 4]), None, &[100, 2, 100, 0]);
        assert_eq!((curve.lookups, curve.compulsory_misses), (8, 4));
        assert_eq!(curve.sizes, [1, 2, 3, 100]);
        assert_eq!(curve.sizes_asked, [2, 100]);
        assert_eq!(curve.misses, [7, 6, 4, 4]);
        assert_eq!(curve.miss_ratios, [0.875, 0.75, 0.5, 0.5]);
        assert_eq!((curve.misses_at(100), curve.misses_at(50)), (Some(4), None));
        let for_hits: Vec<u64> = curve.sizes_for_hits.iter().map(|row| row.size).collect();
        assert_eq!(for_hits, [2, 3, 3, 3, 3]);
        assert_eq!(curve.sizes_for_hits[0].miss_ratio, 0.75);
    }

    #[test]
    fn nothing_and_nothing_again_have_a_curve_too() {
        let nothing = MissCurve::new(&mut stack(&[]), None, &[]);
        assert_eq!(
            (nothing.sizes, nothing.misses, nothing.miss_ratios),
            (vec![1], vec![0], vec![0.0])
        );
        let never_again = MissCurve::new(&mut stack(&[1, 2, 3]), Some(7), &[]);
        assert_eq!((&never_again.sizes[..], &never_again.misses[..]), (&[1, 7][..], &[3, 3][..]));
        assert!(never_again.sizes_for_hits.is_empty());
    }

    #[test]
    fn sizes_grow_by_a_thirty_second_and_end_with_the_last() {
        let sizes = listed(1_000_000);
        assert_eq!(sizes[..300.min(sizes.len())][255], 256);
        assert_eq!(sizes.last(), Some(&1_000_000));
        assert!(sizes.len() < 600);
        for pair in sizes.windows(2) {
            assert!(pair[1] > pair[0] && pair[1] - pair[0] <= (pair[0] / 32).max(1));
        }
    }
}
