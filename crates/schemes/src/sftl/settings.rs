//! The settings of `sftl`.

use ftlab_flash::settings;
use ftlab_flash::settings::{Bytes, Optional};
use ftlab_ftl::parts::compressed_pages::SizeFormula;
use ftlab_ftl::scheme::SchemeConfig;

/// What this scheme sees of the settings.
pub(crate) type Config = SchemeConfig<SftlSettings>;

settings! {
    /// Settings of `sftl`.
    pub struct SftlSettings in "sftl" {
        /// Bytes of the cache, translation pages and dirty-entry buffer; auto: what
        /// device.ram_bytes leaves, else 32 KiB, no more than the whole map. The pages get one
        /// uncompressed page at least.
        cache_bytes: Optional<Bytes> = Optional(None), legal("auto, or 1 and more",
            |v| v.0.is_none_or(|bytes| bytes.0 > 0)), source("DFTL 2014, 5.3: 32 KB");
        /// What a compressed translation page takes.
        size_formula: SizeFormula = SizeFormula::Abstract, legal("", |_| true),
            source("open: docs/papers/others.md#s-ftl; the abstract, or public simulator wiscsee");
        /// Share of the cache that the dirty-entry buffer takes; 0: no buffer, and a write whose
        /// page is not cached loads it.
        dirty_buf_share: f64 = 0.1, legal("0 to 0.9", |v| (0.0..=0.9).contains(v)),
            source("open: docs/papers/others.md#s-ftl");
        /// Bytes that an entry of the dirty-entry buffer is counted with: logical and physical
        /// page.
        entry_bytes: u32 = 8, legal("1..=64", |v| (1..=64).contains(v)), source("ftlab");
        /// Whether the directory takes room from the cache under device.ram_bytes.
        gtd_in_budget: bool = false, legal("", |_| true), source("ftlab: as dftl.gtd_in_budget");
    }
}
