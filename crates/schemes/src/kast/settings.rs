//! The settings of `kast`.

use ftlab_flash::settings::Optional;
use ftlab_flash::{choices, settings};
use ftlab_ftl::parts::owned_logs::SequenceCheck;
use ftlab_ftl::scheme::SchemeConfig;

choices! {
    /// Which random update block is merged when none is to be had otherwise.
    pub enum MergePriority {
        /// A full one; else the one for which pages used plus write requests since its last write,
        /// divided by the number of update blocks, is most. The one written longest ago among
        /// equals.
        FullThenIdle = "full_then_idle",
        /// The one written longest ago.
        Lru = "lru",
    }
}

/// What this scheme sees of the settings.
pub(crate) type Config = SchemeConfig<KastSettings>;

settings! {
    /// Settings of `kast`.
    #[expect(non_snake_case, reason = "K is the paper's name")]
    pub struct KastSettings in "kast" {
        /// Logical blocks that may share a random update block. As every one that shares it has a
        /// page in it, P is the most that has an effect.
        K: u32 = 2, legal("1..=16777216", |v| (1..=1 << 24).contains(v)),
            source("KAST 2009; the default of uC/FS");
        /// Update blocks (SUB and RUB together) in percent of the logical capacity, rounded up to
        /// at least 1; a plain number, 3 for 3 %.
        log_pct: f64 = 3.0, legal("1..=100", |v| (1.0..=100.0).contains(v)),
            source("DFTL 2014, 2; ADAPT 2012, II");
        /// Update blocks as a number; auto: by kast.log_pct.
        log_blocks: Optional<u32> = Optional(None),
            legal("auto, or 1..=16777216", |v| v.0.is_none_or(|n| (1..=1 << 24).contains(&n))),
            source("ftlab");
        /// Most SUBs in percent of the update blocks, rounded up; 0: none, every update is random.
        sub_max_pct: u32 = 30, legal("0..=100", |v| *v <= 100),
            source("docs/papers/others.md#kast: uC/FS");
        /// A write of offset 0 whose logical block has a RUB begins a SUB if at least so many
        /// percent of a block are left of its request, and a SUB can be had without another merge:
        /// the logical block is merged out of its RUB for that. 101 and more: longer than a block.
        merge_rub_start_sub_pct: u32 = 20, legal("0..=10000", |v| *v <= 10_000),
            source("docs/papers/others.md#kast: uC/FS");
        /// A SUB in which more than so many percent are free becomes a RUB when its stream breaks,
        /// or when it is idle and a RUB is wanted; one with less is merged, or its gap filled.
        convert_sub_pct: u32 = 10, legal("0..=100", |v| *v <= 100),
            source("docs/papers/others.md#kast: uC/FS");
        /// A gap of at most so many percent of a block in a SUB's stream is filled with copies.
        pad_sub_pct: u32 = 5, legal("0..=99", |v| *v <= 99),
            source("docs/papers/others.md#kast: uC/FS");
        /// A SUB in which at most so many percent are free is merged before any RUB is.
        merge_sub_pct: u32 = 10, legal("0..=100", |v| *v <= 100),
            source("docs/papers/others.md#kast: uC/FS");
        /// Write requests of the device since the last one that wrote to a SUB, for it to be idle.
        sub_min_idle: u32 = 5, legal("", |_| true), source("docs/papers/others.md#kast: uC/FS");
        /// Which RUB is merged.
        victim: MergePriority = MergePriority::FullThenIdle, legal("", |_| true),
            source("docs/papers/others.md#kast: uC/FS");
        /// When a RUB of one logical block is in order, so that it can be switched or completed.
        seq_check: SequenceCheck = SequenceCheck::AllPages, legal("", |_| true),
            source("docs/papers/others.md#bast, as BAST's");
        /// Blocks that the device must have beyond data, update blocks and records, besides those
        /// that every scheme here asks for: what can go bad before a place is missing.
        reserve: u32 = 3, legal("0..=65536", |v| *v <= 65_536),
            source("docs/papers/others.md#kast: uC/FS");
    }
}
