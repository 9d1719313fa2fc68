//! The settings of `leaftl`.

use ftlab_flash::settings::{Bytes, Duration, Optional};
use ftlab_flash::{choices, settings};
use ftlab_ftl::scheme::SchemeConfig;

choices! {
    /// What a group's segments are counted with.
    pub enum SegmentBytes {
        /// 8 bytes each; the conflict buffer with a byte per page and one per segment.
        Paper = "paper",
        /// A lone page 5 bytes, an accurate segment 8, an approximate one 8 and one for each end of
        /// a run among its pages.
        Code = "code",
    }
}

choices! {
    /// Which pages of a full buffer leave.
    pub enum Leaving {
        /// All.
        All = "all",
        /// Those of the groups that have most there, up to `leaftl.flush_share` of it.
        Fullest = "fullest",
    }
}

choices! {
    /// When the pages of a full buffer are written.
    pub enum Drain {
        /// One behind each page that the host writes, before its next one, and in gaps between
        /// requests where these are used (`gc.mode`).
        Background = "background",
        /// All of them before the host's next page.
        AtOnce = "at_once",
        /// One before each page that the host writes into a full buffer, which waits for it, as it
        /// does for a buffer in front of another scheme.
        Foreground = "foreground",
    }
}

choices! {
    /// How the place of a superseded page is found that an approximate segment tells.
    pub enum Superseded {
        /// The page that it says is read for its out-of-band area.
        Read = "read",
        /// It is known for nothing.
        Free = "free",
    }
}

/// What this scheme sees of the settings.
pub(crate) type Config = SchemeConfig<LeaftlSettings>;

settings! {
    /// Settings of `leaftl`.
    pub struct LeaftlSettings in "leaftl" {
        /// Pages that a segment may be off (gamma); 0: segments are exact. The out-of-band area
        /// must hold the logical numbers of a page and of gamma on either side, 4 bytes each
        /// (`device.oob_bytes`).
        gamma: u32 = 0, legal("0..=16", |v| *v <= 16), source("LeaFTL 2023: 0, 1, 4, 16");
        /// Pages of a group; fewer where a map page could not hold one.
        group_pages: u32 = 256, legal("16, 32, 64, 128 or 256",
            |v| v.is_power_of_two() && (16..=256).contains(v)), source("LeaFTL 2023");
        /// Whether groups that memory has no room for lie on flash; otherwise memory holds all,
        /// whatever it takes. Where memory has room for any map it holds all in either case.
        map_on_flash: bool = true, legal("", |_| true),
            source("LeaFTL 2023; docs/papers/leaftl2023.md#open-points");
        /// Bytes of segments in memory; auto: what device.ram_bytes leaves beside the buffer, else
        /// 32 KiB. The group used last always has room.
        map_bytes: Optional<Bytes> = Optional(None), legal("auto, or 1 and more",
            |v| v.0.is_none_or(|bytes| bytes.0 > 0)), source("DFTL 2014, 5.3: 32 KB");
        /// What segments are counted with.
        bytes: SegmentBytes = SegmentBytes::Paper, legal("", |_| true),
            source("open: docs/papers/leaftl2023.md#open-points");
        /// Bytes of the write buffer, a page at least; auto: 8 MiB, no more than half of
        /// device.ram_bytes and 1/512 of the capacity, no less than a block.
        buffer_bytes: Optional<Bytes> = Optional(None), legal("auto, or 1 and more",
            |v| v.0.is_none_or(|bytes| bytes.0 > 0)), source("LeaFTL 2023: 8 MB");
        /// Which pages of a full buffer leave.
        flush: Leaving = Leaving::All, legal("", |_| true),
            source("open: docs/papers/leaftl2023.md#open-points");
        /// Most pages that leave under `leaftl.flush = fullest`, as a share of the buffer.
        flush_share: f64 = 0.875, legal("0.125..=1", |v| (0.125..=1.0).contains(v)),
            source("docs/papers/leaftl2023.md#open-points: public code");
        /// When the pages of a full buffer are written, in one order and learned together in either
        /// case: one by one, so that the host's reads and writes go on meanwhile, or as one piece.
        drain: Drain = Drain::Background, legal("", |_| true),
            source("open: docs/papers/leaftl2023.md#open-points");
        /// Whether the valid pages of a victim are written in the order of their numbers; otherwise
        /// in the order in which they lie.
        gc_sorts: bool = true, legal("", |_| true), source("LeaFTL 2023");
        /// Pages that leave the buffer from one compaction of all groups in memory to the next,
        /// from the first page that the device ever took on, its preparation among them; 0: a group
        /// is compacted only when it has no place for another segment.
        compact_every: u64 = 1_000_000, legal("0..=1000000000000", |v| *v <= 1_000_000_000_000),
            source("LeaFTL 2023: 1 M writes");
        /// How the place of a superseded page is found that an approximate segment tells.
        superseded: Superseded = Superseded::Read, legal("", |_| true),
            source("open: docs/papers/leaftl2023.md#open-points");
        /// Whether each level of a look-up takes `leaftl.level_time`; otherwise it takes none.
        charge_lookup: bool = false, legal("", |_| true),
            source("open: docs/papers/leaftl2023.md#open-points");
        /// What a level of a look-up takes where it takes time.
        level_time: Duration = Duration(50), legal("up to 1 ms", |v| v.0 <= 1_000_000),
            source("docs/papers/leaftl2023.md#open-points: public code, which uses it nowhere");
    }
}
