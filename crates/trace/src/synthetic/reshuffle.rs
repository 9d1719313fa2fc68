//! What is hot changes: every so many bytes of requests the hottest ranks trade places among
//! themselves.
//!
//! As in the synthetic workloads of SepBIT (FAST 2022), whose simulator shuffles the hottest fifth
//! of the ranks whenever as much as a segment was written.

use super::permutation::Permutation;
use ftlab_flash::rng::mix;

/// How often what is hot changes, and how much of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reshuffling {
    /// Bytes of requests from one change to the next.
    pub every_bytes: u64,
    /// Share of the ranks that trade places, the hottest, in millionths.
    pub share_millionths: u64,
}

impl Reshuffling {
    /// Share of the ranks where none is stated.
    pub const SHARE_MILLIONTHS: u64 = 200_000;
}

/// The places of the hottest ranks, for now.
pub(super) struct Reshuffle {
    how: Reshuffling,
    /// Ranks that trade places.
    hottest: u64,
    seed: u64,
    turn: u64,
    bytes: u64,
    places: Permutation,
}

impl Reshuffle {
    /// Of so many blocks. Ranks lie where they are until the first change.
    pub(super) fn new(how: Reshuffling, blocks: u64, seed: u64) -> Self {
        let hottest = (u128::from(blocks) * u128::from(how.share_millionths) / 1_000_000) as u64;
        let places = Permutation::new(hottest.max(1), seed);
        Self { how, hottest, seed, turn: 0, bytes: 0, places }
    }

    /// Where a rank lies.
    pub(super) fn apply(&self, rank: u64) -> u64 {
        if self.turn == 0 || rank >= self.hottest { rank } else { self.places.apply(rank) }
    }

    /// A request of so many bytes was made.
    pub(super) fn requested(&mut self, bytes: u64) {
        self.bytes += bytes;
        while self.bytes >= self.how.every_bytes {
            self.bytes -= self.how.every_bytes;
            self.turn += 1;
            self.places = Permutation::new(self.hottest.max(1), mix(self.seed ^ mix(self.turn)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::spec::SyntheticSpec;
    use std::collections::BTreeSet;

    /// 1000 blocks of which 200 trade places after every 4 MiB, which are 1024 requests: nine
    /// tenths of the accesses go to 100 blocks at a time, which are others each time and always
    /// among the 200.
    #[test]
    fn the_hottest_blocks_are_others_after_each_change_and_of_the_same_fifth() {
        let spec = "randwrite:bs=4k,span=4000k,count=8192,random_distribution=hotcold:10/90,\
                    reshuffle=4M";
        let spec = SyntheticSpec::parse(spec, 0).expect("legal");
        let blocks: Vec<u64> = spec.records().map(|record| record.offset_bytes / 4096).collect();
        let hot = |turn: usize| -> BTreeSet<u64> {
            let requests = &blocks[turn * 1024..][..1024];
            let times = |block: &u64| requests.iter().filter(|other| *other == block).count();
            requests.iter().copied().filter(|block| times(block) > 3).collect()
        };
        let sets: Vec<BTreeSet<u64>> = (0..8).map(hot).collect();
        assert!(sets[0].iter().all(|&block| block < 100), "before the first change: {sets:?}");
        for pair in sets.windows(2) {
            assert!(pair[1].iter().all(|&block| block < 200), "of the hottest fifth: {pair:?}");
            let kept = pair[0].intersection(&pair[1]).count();
            assert!((25..75).contains(&kept), "half of them on average, not {kept}");
        }
    }

    #[test]
    fn a_change_of_what_is_not_hotter_than_the_rest_is_refused() {
        for (spec, word) in [
            ("randwrite:span=1M,reshuffle=64k", "random_distribution"),
            ("randwrite:span=1M,random_distribution=zipf:1,reshuffle=0", "reshuffle"),
            ("randwrite:span=1M,random_distribution=zipf:1,reshuffle=64k/0", "reshuffle"),
            ("randwrite:span=1M,random_distribution=zipf:1,stack=4/10,reshuffle=64k", "stack"),
        ] {
            let refused = SyntheticSpec::parse(spec, 0).expect_err("refused").to_string();
            assert!(refused.contains("reshuffle") && refused.contains(word), "{spec}: {refused}");
        }
        let spec = "randwrite:span=1M,random_distribution=zipf:1,reshuffle=64k/12.5%";
        let spec = SyntheticSpec::parse(spec, 0).expect("legal");
        let again = SyntheticSpec::parse(&spec.to_string(), 0).expect("what is written is read");
        assert_eq!(spec, again);
    }
}
