//! The group `slc`: dense blocks that are used with one bit a cell as a fast area for writes.

use ftlab_flash::{choices, settings};

choices! {
    /// Which writes of the host the cache takes.
    pub enum SlcPath {
        /// All.
        All = "all",
        /// Those of requests of at most slc.small_pages pages.
        Small = "small",
    }
}

choices! {
    /// What happens to a write when the cache is full.
    pub enum SlcFull {
        /// It goes to a dense block.
        Direct = "direct",
        /// It waits until a block of the cache is folded.
        FoldFirst = "fold_first",
    }
}

choices! {
    /// Which block of the cache is folded.
    pub enum SlcVictim {
        /// The one that was filled first.
        Fifo = "fifo",
        /// The one with fewest valid pages.
        Greedy = "greedy",
        /// The one with most benefit for its cost: age * (1 - u) / u, u its valid share.
        CostBenefit = "cost_benefit",
    }
}

settings! {
    /// A cache of blocks that are used with one bit a cell, under page-mapped schemes that write
    /// blocks from front to back.
    pub struct SlcSettings in "slc" {
        /// Blocks per plane that are always used with one bit a cell. They hold nothing else: what
        /// the device exports must fit without them.
        static_blocks: u32 = 0, legal("0..=1000000", |v| *v <= 1_000_000),
            source("docs/papers/slc_cache.md");
        /// Share of the free blocks of a plane, those that the cache has taken counted as free,
        /// less the threshold of collection and one, that the cache may take: it shrinks as the
        /// device fills.
        dynamic_share: f64 = 0.0, legal("0 to 1, for example 0.5 or 50%",
            |v| (0.0..=1.0).contains(v)),
            source("docs/papers/slc_cache.md");
        /// Which writes it takes.
        path: SlcPath = SlcPath::All, legal("", |_| true), source("docs/papers/slc_cache.md");
        /// Pages of a request that counts as small (slc.path = small).
        small_pages: u32 = 32, legal("1..=65536", |v| (1..=65536).contains(v)),
            source("docs/papers/slc_cache.md: 128 KiB of 4 KiB pages; ours");
        /// What happens to a write when it is full.
        full: SlcFull = SlcFull::Direct, legal("", |_| true),
            source("docs/papers/slc_cache.md");
        /// Which block is folded.
        victim: SlcVictim = SlcVictim::Fifo, legal("", |_| true),
            source("docs/papers/slc_cache.md");
        /// Share of its size above which it is folded in idle gaps (gc.mode = idle or both).
        fold_low: f64 = 0.1, legal("0 to 1, for example 0.1 or 10%",
            |v| (0.0..=1.0).contains(v)),
            source("docs/papers/slc_cache.md");
        /// Share of its size above which a write waits for a fold (slc.full = fold_first).
        fold_high: f64 = 0.9, legal("above 0 and up to 1, for example 0.9 or 90%",
            |v| *v > 0.0 && *v <= 1.0),
            source("docs/papers/slc_cache.md");
    }
}

impl SlcSettings {
    /// Whether there is a cache.
    pub fn is_on(&self) -> bool {
        self.static_blocks > 0 || self.dynamic_share > 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_kind_of_block_makes_a_cache() {
        let cache = |static_blocks, dynamic_share| {
            SlcSettings { static_blocks, dynamic_share, ..SlcSettings::default() }.is_on()
        };
        assert!(!cache(0, 0.0));
        assert!(cache(1, 0.0) && cache(0, 0.01) && cache(2, 1.0));
    }
}
