//! The settings of `janus`.

use ftlab_flash::settings::Optional;
use ftlab_flash::{choices, settings};
use ftlab_ftl::scheme::SchemeConfig;

choices! {
    /// How large the page-mapped area shall be.
    pub enum Target {
        /// As large as the cost model says, anew every `janus.eval_every` page writes.
        CostModel = "cost_model",
        /// `janus.fixed_pct` of the logical blocks.
        Fixed = "fixed",
        /// Everything is page-mapped.
        AllPage = "all_page",
        /// Everything is block-mapped.
        AllBlock = "all_block",
    }
}

choices! {
    /// Which logical block is defused.
    pub enum DefuseRule {
        /// One that was rewritten from its first page to its last; the oldest first.
        Sequential = "sequential",
        /// One that is not among the most written, in turn; any where all are.
        Coldest = "coldest",
        /// The first, and if there is none the second.
        Both = "both",
    }
}

/// What this scheme sees of the settings.
pub(crate) type Config = SchemeConfig<JanusSettings>;

settings! {
    /// Settings of `janus`.
    pub struct JanusSettings in "janus" {
        /// How large the page-mapped area shall be.
        target: Target = Target::CostModel, legal("", |_| true),
            source("open: docs/papers/others.md#janus");
        /// Size of the page-mapped area under janus.target = fixed, percent of the logical blocks.
        fixed_pct: u32 = 25, legal("0..=100", |v| *v <= 100), source("ftlab");
        /// Page writes between two rankings of the logical blocks, and evaluations of the cost
        /// model.
        eval_every: u64 = 4000, legal("1..=1000000000", |v| (1..=1_000_000_000).contains(v)),
            source("open: docs/papers/others.md#janus");
        /// Which logical block is defused when the page-mapped area is larger than it shall be.
        defuse_rule: DefuseRule = DefuseRule::Both, legal("", |_| true),
            source("open: docs/papers/others.md#janus; sequentially rewritten; coldest");
        /// Copies that a write into the block-mapped area costs, thousandths; auto: as measured.
        block_cost: Optional<u32> = Optional(None),
            legal("auto, or 0..=1000000", |v| v.0.is_none_or(|n| n <= 1_000_000)),
            source("open: docs/papers/others.md#janus; measured");
        /// Free blocks per plane below which collection starts, and at which it stops.
        gc_low: u32 = 4, legal("2..=1000000", |v| (2..=1_000_000).contains(v)),
            source("docs/papers/others.md#ideal-page: FlashSim");
    }
}
