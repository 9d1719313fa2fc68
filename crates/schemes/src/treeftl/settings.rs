//! The settings of `treeftl`; those of the tree hold for `treeftl_page_lru` too.

use ftlab_ftl::scheme::SchemeConfig;

use crate::replacement_block::{self, ReplacementBlockSettings};
use ftlab_flash::{choices, settings};

choices! {
    /// What happens to the cached copy of a page that a sequential request writes.
    pub enum BypassCopy {
        /// It leaves the memory, its older version unwritten.
        Drop = "drop",
        /// It takes the new version too, and is as new as flash.
        Update = "update",
    }
}

choices! {
    /// Where the map entries of sequential requests are looked up and changed.
    pub enum BypassMap {
        /// In translation pages that take a frame, as for random requests.
        Cached = "cached",
        /// In cached translation pages where there are any, else on flash: the controller reads
        /// each translation page once per request into a working page of its own and writes it
        /// back, if it changed, when the request is done with it.
        Flash = "flash",
    }
}

choices! {
    /// What an entry of the map on flash names.
    pub enum TreeMap {
        /// A page.
        Page = "page",
        /// A logical block, whose updates go to replacement blocks (`replacement_block.*`).
        Block = "block",
    }
}

choices! {
    /// Which page accesses the hit ratios are about.
    pub enum HitScope {
        /// Those of random requests.
        Random = "random",
        /// For the map those of random requests, for data those of random writes.
        RandomWrites = "random_writes",
        /// Those of all requests.
        All = "all",
    }
}

/// What a tree sees of the settings; `O`: those of the order in which pages leave it.
pub(crate) type Config<O> = SchemeConfig<TreeOwn<O>>;

/// What the chains below a tree over blocks see.
pub(crate) fn chains<O>(config: &Config<O>) -> replacement_block::Config {
    config.part(|own| &own.replacement_block)
}

/// Settings of a tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TreeOwn<O> {
    /// Those of the tree itself.
    pub treeftl: TreeftlSettings,
    /// Those of the chains below it where the map is one of blocks.
    pub replacement_block: ReplacementBlockSettings,
    /// Those of the order in which pages leave.
    pub order: O,
}

settings! {
    /// Settings of `treeftl`, and of the tree of `treeftl_page_lru`.
    pub struct TreeftlSettings in "treeftl" {
        /// What an entry of the map names: a page, or a logical block. A translation page is then a
        /// map page of the block map, and its group every page of the logical blocks that it names.
        map: TreeMap = TreeMap::Page, legal("", |_| true),
            source("TreeFTL 2013, III: \"can be easily adopted to a block-level mapping scheme\"");
        /// A request of more pages than this is sequential and bypasses the memory.
        seq_pages: u32 = 32, legal("", |_| true),
            source("TreeFTL 2013, III.A: half a block, 64 KB");
        /// Whether the old version of a page is loaded before all of the page is overwritten; where
        /// a write keeps some of its sectors, it always is.
        load_on_full_write: bool = true, legal("", |_| true),
            source("TreeFTL 2013, III.A, Fig. 2: an oddity");
        /// Whether a page that was never written is loaded too (io.unwritten_read charges it).
        load_unwritten: bool = false, legal("", |_| true),
            source("docs/papers/treeftl2013.md#requests");
        /// What happens to cached copies of pages that a sequential request writes.
        bypass_invalidate: BypassCopy = BypassCopy::Drop, legal("", |_| true),
            source("open: docs/papers/treeftl2013.md#left-open");
        /// Where map entries of sequential requests are looked up and changed.
        bypass_map: BypassMap = BypassMap::Cached, legal("", |_| true),
            source("open: docs/papers/treeftl2013.md#left-open");
        /// Whether a translation page that leaves unchanged is written all the same.
        flush_clean_ctp: bool = false, legal("", |_| true),
            source("TreeFTL 2013, III.A says flushed of any victim; open");
        /// Whether an access that uses the translation page alone (a read of a page that is not
        /// cached, a sequential request) counts as use of its group.
        touch_on_ctp_only: bool = true, legal("", |_| true),
            source("open: docs/papers/treeftl2013.md#left-open");
        /// Microseconds that the controller takes for each time stamp that the search for a victim
        /// compares; 0: as search.model and search.step_time say.
        lru_cost_us: f64 = 0.0, legal("0 to 1000", |v| (0.0..=1000.0).contains(v)),
            source("TreeFTL 2013, Fig. 6 does not print it");
        /// Whether directory and LATTE (of treeftl_page_lru: its time stamps) take room from the
        /// frames. The links of the tree never do.
        gtd_in_budget: bool = false, legal("", |_| true),
            source("open: docs/papers/treeftl2013.md#left-open");
        /// Which page accesses the hit ratios are about.
        hit_scope: HitScope = HitScope::Random, legal("", |_| true),
            source("open: docs/papers/treeftl2013.md#left-open");
        /// Whether collection writes the newer version of a page that memory holds instead of
        /// copying the older one, and prefers, among the victim of gc.victim and up to 32 blocks
        /// that this policy finds as good, the one that needs fewest translation pages which are
        /// not cached: under greedy, cost_benefit and windowed_greedy those with as few valid
        /// pages; the other policies rank every block, or draw, and are obeyed. In idle gaps too.
        gc_cached: bool = false, legal("", |_| true),
            source("TreeFTL 2013, V: future work; the rules are ours");
        /// Whether changed pages are written in idle gaps, data first, translation pages behind;
        /// they stay in memory.
        idle_flush: bool = false, legal("", |_| true), source("TreeFTL 2013, III.D");
    }
}
