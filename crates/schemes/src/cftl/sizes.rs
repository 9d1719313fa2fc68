//! How large CFTL's tables are, known before any run.

use super::settings::NEVER_HOT;
use crate::cftl::settings::Config;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::settings::SettingError;
use ftlab_ftl::parts::demand_mapped::{CACHE_BYTES, Needs, cache_budget, check_cache};
use ftlab_ftl::parts::hot_filter::HotFilter;

/// Bytes of an entry of the page table: logical page with the length of the run, physical page.
const PAGE_ENTRY: u64 = 8;

/// Entries of both tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) pages: u32,
    pub(super) blocks: u32,
}

/// Bytes of an entry of the block table: logical and physical block, a bit per page that is there.
fn block_entry(config: &Config) -> u64 {
    8 + u64::from(config.device.units_per_block()).div_ceil(8)
}

/// Bytes that the budget leaves for the tables: the filters lie beside them.
fn budget(config: &Config) -> Option<u64> {
    let cftl = &config.own;
    let filters = HotFilter::ram_bytes(cftl.hot_bf, cftl.bf_bits);
    cache_budget(config, cftl.gtd_in_budget, filters)
}

/// Sizes as set: by bytes, two entries of the page table and one of the block table at least.
pub(super) fn sizes(config: &Config) -> Sizes {
    let cftl = &config.own;
    let given = cftl.cache_bytes.0.map(|bytes| bytes.0);
    let bytes = given.or_else(|| budget(config)).unwrap_or(CACHE_BYTES);
    let for_pages = (bytes as f64 * cftl.cache_split) as u64;
    let geometry = Geometry::new(&config.device);
    let (pages, blocks) = (for_pages / PAGE_ENTRY, (bytes - for_pages) / block_entry(config));
    Sizes {
        pages: pages.clamp(2, u64::from(geometry.logical_pages).max(2)) as u32,
        blocks: blocks.clamp(1, u64::from(geometry.logical_blocks())) as u32,
    }
}

/// Whether a size that was given fits the budget, and a page can get hot.
pub(super) fn check(config: &Config) -> Result<(), SettingError> {
    let given = config.own.cache_bytes.0.map(|bytes| bytes.0);
    let (filters, threshold) = (config.own.hot_bf, config.own.hot_thr);
    if threshold < NEVER_HOT && threshold > HotFilter::most_weight(filters) {
        return Err(SettingError::Conflict(format!(
            "cftl.hot_thr = {threshold} cannot be reached with cftl.hot_bf = {filters}, whose weights \
             sum to {} at most; {NEVER_HOT} says that no page is ever hot",
            HotFilter::most_weight(filters)
        )));
    }
    check_cache("cftl.cache_bytes", given, budget(config))
}

/// A block per plane that a conversion fills.
pub(super) fn minimum_blocks(config: &Config) -> u64 {
    Needs::plain(config).minimum_blocks(config) + config.device.plane_count()
}

/// Tables, detector and counters, in bytes.
pub(super) fn ram_use(config: &Config) -> [RamUse; 5] {
    let (cftl, geometry) = (&config.own, Geometry::new(&config.device));
    let used = |structure, bytes, memory| RamUse { structure, bytes, memory };
    let Sizes { pages, blocks } = sizes(config);
    let logical = u64::from(geometry.logical_blocks());
    [
        used("cached_page_table", u64::from(pages) * PAGE_ENTRY, Memory::Sram),
        used("cached_block_table", u64::from(blocks) * block_entry(config), Memory::Sram),
        used("hot_filters", HotFilter::ram_bytes(cftl.hot_bf, cftl.bf_bits), Memory::Sram),
        used("block_flags", logical.div_ceil(8), Memory::Dram),
        used("read_write_counts", logical * 4, Memory::Dram),
    ]
}
