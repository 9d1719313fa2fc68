//! What DAC needs, known before any run: blocks of its base and of the map pages, and memory.

use super::settings::{DacBase, DacSettings};
use crate::bast::{self, Bast};
use crate::dac::settings::{Config, chains, logs};
use crate::replacement_block::{self, ReplacementBlock};
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::settings::SettingError;
use ftlab_ftl::parts::block_map_cache::CacheSizes;
use ftlab_ftl::parts::block_mapped::BlockMapped;
use ftlab_ftl::parts::map_area::MapArea;
use ftlab_ftl::scheme::Scheme;

/// Bytes of both levels where no budget is given: DFTL's 32 KiB.
const BYTES: u64 = 32 << 10;

/// Physical blocks: the base's, and those with map pages.
pub(super) fn minimum_blocks(config: &Config) -> u64 {
    let geometry = Geometry::new(&config.device);
    let own = match config.own.dac.base {
        DacBase::BlockWithReplacement => replacement_block::spare_blocks(&chains(config)),
        DacBase::Bast => bast::log_blocks(&logs(config)),
    };
    let map = MapArea::blocks(&geometry, geometry.logical_blocks());
    BlockMapped::minimum_blocks(config, own + u64::from(map))
}

/// Records and map pages that are alive at once.
pub(super) fn payload_pages(config: &Config) -> u64 {
    let geometry = Geometry::new(&config.device);
    BlockMapped::payload_pages(config)
        + MapArea::payload_pages(&geometry, geometry.logical_blocks())
}

/// Bytes of a map page in memory.
fn page_bytes(geometry: &Geometry) -> u64 {
    u64::from(geometry.entries_per_page()) * 4
}

/// What the base keeps in memory beside the block table, and the directory of the map pages.
fn beside(config: &Config) -> Vec<RamUse> {
    let geometry = Geometry::new(&config.device);
    let mut structures = match config.own.dac.base {
        DacBase::BlockWithReplacement => ReplacementBlock::ram_use(&chains(config)),
        DacBase::Bast => Bast::ram_use(&logs(config)),
    };
    structures.retain(|known| known.structure != "block_table");
    let bytes = MapArea::directory_bytes(&geometry, geometry.logical_blocks());
    let directory = RamUse { structure: "map_directory", bytes, memory: Memory::Sram };
    structures.insert(0, directory);
    structures
}

/// Bytes that the budget leaves for both levels.
fn budget(config: &Config) -> Option<u64> {
    let budget = config.map_budget()?;
    let beside = beside(config);
    let taken = beside.iter().filter(|used| used.memory == Memory::Sram).map(|used| used.bytes);
    Some(budget.saturating_sub(taken.sum()))
}

/// Sizes as set. A page cache without a size takes its share of the memory, a level 1 without one
/// what the page caches leave. Never more than the whole map, and one entry at least: a page cache
/// whose size nobody gave does without a page for it.
pub(super) fn sizes(config: &Config) -> CacheSizes {
    let geometry = Geometry::new(&config.device);
    let DacSettings { spatial_pages, freq_pages, spatial_share, freq_share, .. } = config.own.dac;
    let (l1_entries, entry_bytes) = (config.own.dac.l1_entries, config.own.dac.entry_bytes);
    let bytes = budget(config).unwrap_or(BYTES);
    let all = u64::from(MapArea::pages(&geometry, geometry.logical_blocks()));
    let page = page_bytes(&geometry);
    let pages = |given: Option<u32>, share: f64| {
        given.map_or((bytes as f64 * share) as u64 / page, u64::from).min(all)
    };
    let mut spatial = pages(spatial_pages.0, spatial_share);
    let mut frequent = pages(freq_pages.0, freq_share);
    let least = l1_entries.0.map_or(1, u64::from) * u64::from(entry_bytes);
    let is_over = |pages: u64| pages * page + least > bytes;
    while freq_pages.0.is_none() && frequent > 0 && is_over(spatial + frequent) {
        frequent -= 1;
    }
    while spatial_pages.0.is_none() && spatial > 0 && is_over(spatial + frequent) {
        spatial -= 1;
    }
    let left = bytes.saturating_sub((spatial + frequent) * page) / u64::from(entry_bytes);
    let entries = l1_entries.0.map_or(left, u64::from);
    CacheSizes {
        entries: entries.clamp(1, u64::from(geometry.logical_blocks())) as u32,
        spatial: spatial as u32,
        frequent: frequent as u32,
    }
}

/// Bytes of level 1, and of both caches of level 2.
fn levels(config: &Config) -> [RamUse; 3] {
    let CacheSizes { entries, spatial, frequent } = sizes(config);
    let page = page_bytes(&Geometry::new(&config.device));
    let used = |structure, bytes| RamUse { structure, bytes, memory: Memory::Sram };
    [
        used("cached_entries", u64::from(entries) * u64::from(config.own.dac.entry_bytes)),
        used("spatial_pages", u64::from(spatial) * page),
        used("frequent_pages", u64::from(frequent) * page),
    ]
}

/// Bytes by structure.
pub(super) fn ram_use(config: &Config) -> Vec<RamUse> {
    let mut structures = levels(config).to_vec();
    structures.extend(beside(config));
    structures
}

/// Whether sizes that were given fit the budget, and no other cache of the map is asked for.
pub(super) fn check(config: &Config) -> Result<(), SettingError> {
    let dac = &config.own.dac;
    if dac.base == DacBase::Bast && config.own.bast.map_on_flash {
        return Err(SettingError::Conflict(
            "dac has its map on flash with a cache of its own: bast.map_on_flash must be off \
             under dac.base = bast"
                .to_string(),
        ));
    }
    let (spatial, frequent) = (dac.spatial_share, dac.freq_share);
    if spatial + frequent > 1.0 {
        return Err(SettingError::Conflict(format!(
            "dac.spatial_share = {spatial} and dac.freq_share = {frequent} are more than the memory"
        )));
    }
    let given =
        [dac.l1_entries, dac.spatial_pages, dac.freq_pages].iter().any(|size| size.0.is_some());
    let wanted: u64 = levels(config).iter().map(|used| used.bytes).sum();
    match budget(config) {
        Some(budget) if given && wanted > budget => {
            let CacheSizes { entries, spatial, frequent } = sizes(config);
            Err(SettingError::Conflict(format!(
                "dac.l1_entries = {entries}, dac.spatial_pages = {spatial} and dac.freq_pages = \
                 {frequent} take {wanted} bytes, device.ram_bytes leaves {budget}"
            )))
        }
        _ => Ok(()),
    }
}
