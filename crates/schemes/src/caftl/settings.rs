//! Settings of `caftl`.

use ftlab_flash::choices;
use ftlab_flash::settings;
use ftlab_flash::settings::{Bytes, Duration};
use ftlab_ftl::parts::sharing_journal::TOGETHER;
use ftlab_ftl::scheme::SchemeConfig;

/// What this scheme sees of the settings.
pub(crate) type Config = SchemeConfig<CaftlSettings>;

choices! {
    /// When a page whose CRC-32 is new gets its SHA-1.
    pub enum NewValues {
        /// Behind its program: the host does not wait, but what is hashed next does.
        Behind = "behind",
        /// In idle time, as pages that were not hashed at all.
        Idle = "idle",
    }
}

settings! {
    /// Settings of `caftl`.
    pub struct CaftlSettings in "caftl" {
        /// Bytes of memory for fingerprints: 40 each.
        store_bytes: Bytes = Bytes(1 << 20), legal("0 to 64GiB", |v| v.0 <= 1 << 36),
            source("open: docs/papers/content.md#caftl");
        /// Share of them kept for values that were written again; 0: all leave in the same order.
        store_hot: f64 = 0.75, legal("0 to 1", |v| (0.0..=1.0).contains(v)),
            source("open: docs/papers/content.md#caftl");
        /// Pages of a request of which one is hashed first; 1 hashes every page.
        unit: u32 = 8, legal("1..=65536", |v| (1..=65_536).contains(v)),
            source("open: docs/papers/content.md#caftl");
        /// Whether a CRC-32 is looked for before a SHA-1 is computed.
        prehash: bool = true, legal("", |_| true),
            source("docs/papers/content.md#caftl");
        /// What a CRC-32 of 4 KiB takes the controller.
        crc_us: Duration = Duration(4_000), legal("0 to 10ms", |v| v.0 <= 10_000_000),
            source("open: docs/papers/content.md#caftl");
        /// What a SHA-1 of 4 KiB takes the controller.
        sha1_us: Duration = Duration(47_000), legal("0 to 10ms", |v| v.0 <= 10_000_000),
            source("open: docs/papers/content.md#caftl");
        /// When a page whose CRC-32 is new gets its SHA-1.
        new_values: NewValues = NewValues::Behind, legal("", |_| true),
            source("open: docs/papers/content.md#caftl");
        /// Whether idle time hashes what was not, and joins what is equal.
        out_of_line: bool = true, legal("", |_| true),
            source("docs/papers/content.md#caftl");
        /// Pages of flash that can be shared at a time: virtual numbers, no more than logical
        /// pages.
        shared_pages: u32 = 65_536, legal("1..=268435456", |v| (1..=1 << 28).contains(v)),
            source("open: docs/papers/content.md#caftl");
        /// Most references of a page that are counted; a page that has them is never invalid.
        references: u32 = 255, legal("2..=255", |v| (2..=255).contains(v)),
            source("docs/papers/content.md#caftl");
        /// Pages that are so and that nobody has any more, above which references are counted anew.
        unreclaimed: u32 = 64, legal("0..=1048576", |v| *v <= 1 << 20),
            source("ftlab: docs/papers/content.md#caftl");
        /// Changes of who shares what after which they are written to flash; 0, and any number
        /// above what half a page holds: so many.
        flush: u32 = 0, legal("0, or 3..=1048576", |v| *v == 0 || (TOGETHER..=1 << 20).contains(v)),
            source("open: docs/papers/content.md#caftl");
    }
}
