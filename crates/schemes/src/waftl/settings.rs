//! The settings of `waftl`.

use ftlab_flash::settings::{Bytes, Optional};
use ftlab_flash::{choices, settings};
use ftlab_ftl::scheme::SchemeConfig;

choices! {
    /// What sends the buffered pages of a logical block to page-mapped blocks.
    pub enum Criterion {
        /// They are few: random writes. The abstract's criterion.
        PagesInBuffer = "pages_in_buffer",
        /// They were rewritten while they were buffered. The criterion as ADAPT describes it.
        AccessCount = "access_count",
        /// Either of the two.
        Both = "both",
    }
}

choices! {
    /// How many buffered pages are few.
    pub enum Threshold {
        /// Fewer than `waftl.bmb_min_pages`, for ever.
        Static = "static",
        /// As many as cost less in page-mapped blocks than a rewrite would, by what making room
        /// there cost in the migration before; begins with `waftl.bmb_min_pages`.
        Dynamic = "dynamic",
    }
}

choices! {
    /// When the buffer zone is emptied.
    pub enum Migrate {
        /// All of it, by the write that finds it full.
        Foreground = "foreground",
        /// A logical block at a time in idle gaps (`gc.mode = idle` or `both`), once
        /// `waftl.idle_start_pct` of it is full; all of it by a write that finds it full.
        Background = "background",
    }
}

/// What this scheme sees of the settings.
pub(crate) type Config = SchemeConfig<WaftlSettings>;

settings! {
    /// Settings of `waftl`.
    pub struct WaftlSettings in "waftl" {
        /// Blocks of the buffer zone in percent of the logical capacity, rounded up; a plain
        /// number, 3 for 3 %.
        buffer_pct: f64 = 3.0, legal("0.01..=100", |v| (0.01..=100.0).contains(v)),
            source("ADAPT 2012, IV.A");
        /// Blocks of the buffer zone as a number; auto: by waftl.buffer_pct.
        buffer_blocks: Optional<u32> = Optional(None),
            legal("auto, or 1..=16777216", |v| v.0.is_none_or(|n| (1..=1 << 24).contains(&n))),
            source("ftlab");
        /// Most page-mapped blocks in percent of the logical capacity, rounded up; a plain number.
        /// Fewer, yet one at least, where a device with device.logical_bytes = auto has no room for
        /// them.
        pmb_pct: f64 = 3.0, legal("0.01..=100", |v| (0.01..=100.0).contains(v)),
            source("open; ftlab: as many as the zone has");
        /// Most page-mapped blocks as a number, whatever the device can hold; auto: by
        /// waftl.pmb_pct.
        pmb_blocks: Optional<u32> = Optional(None),
            legal("auto, or 1..=16777216", |v| v.0.is_none_or(|n| (1..=1 << 24).contains(&n))),
            source("ftlab");
        /// Memory for map pages of page-mapped blocks, their map being on flash; a multiple of the
        /// page size, the rest is unused. auto: what device.ram_bytes leaves beside the other
        /// structures in SRAM; all of the map is in memory, and nothing on flash, where that holds
        /// it, where there is no budget, or where a device with device.logical_bytes = auto has no
        /// blocks for it.
        pmb_cache_bytes: Optional<Bytes> = Optional(None),
            legal("auto, or a map page and more", |v| v.0.is_none_or(|bytes| bytes.0 > 0)),
            source("ADAPT 2012, IV.A gives WAFTL the memory of FASTer's tables");
        /// What makes a logical block page-mapped.
        thr_kind: Criterion = Criterion::Both, legal("", |_| true),
            source("ADAPT 2012, II.B; abstract of WAFTL 2011");
        /// Buffered pages from which a logical block is rewritten as a whole; auto: half a block,
        /// rounded up. Not for waftl.thr_kind = access_count.
        bmb_min_pages: Optional<u32> = Optional(None),
            legal("auto, or 1..=4096", |v| v.0.is_none_or(|n| (1..=4096).contains(&n))),
            source("open: docs/papers/others.md#waftl; P/2");
        /// Writes to buffered pages of a logical block from which it is highly accessed. Not for
        /// waftl.thr_kind = pages_in_buffer.
        hot_updates: u32 = 2, legal("1..=255", |v| (1..=255).contains(v)),
            source("open: docs/papers/others.md#waftl");
        /// Whether the number of pages that are few follows the workload. Not for waftl.thr_kind =
        /// access_count.
        threshold: Threshold = Threshold::Static, legal("", |_| true),
            source("abstract of WAFTL 2011: static or dynamic; the rule is ours");
        /// Whether the rewrite of a block-mapped block takes in the pages that are page-mapped.
        pull_pmb: bool = true, legal("", |_| true), source("open: docs/papers/others.md#waftl");
        /// Valid pages of the emptiest page-mapped block, in percent of a block, from which its
        /// logical blocks become block-mapped instead of its pages being moved on. 100: only if
        /// there is nothing to gain otherwise, so that a full area copies nearly whole blocks to
        /// gain a page each; 0: always.
        pmb_convert_pct: u32 = 50, legal("0..=100", |v| *v <= 100),
            source("open; ftlab: writes least of 50 to 100 on our OLTP workload and on MSR web_1");
        /// When the zone is emptied.
        migrate: Migrate = Migrate::Foreground, legal("", |_| true),
            source("ADAPT 2012, II.B");
        /// Share of the zone that is full when background migration begins, percent.
        idle_start_pct: u32 = 50, legal("1..=100", |v| (1..=100).contains(v)), source("ftlab");
    }
}
