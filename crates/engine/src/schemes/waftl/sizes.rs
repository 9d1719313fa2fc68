//! What WAFTL needs, known before any run: blocks of its areas, and memory.

use super::settings::{Criterion, WaftlSettings};
use crate::board::nand::geometry::Geometry;
use crate::config::Config;
use crate::parts::block_mapped::{self, BlockMapped};
use crate::parts::log_index::LogIndex;
use crate::schemes::{Memory, RamUse};

/// Bytes of a block in the list of its area.
const LISTED: u64 = 4;

/// Nz.
pub(super) fn zone_blocks(config: &Config) -> u64 {
    let WaftlSettings { buffer_pct, buffer_blocks, .. } = &config.scheme.waftl;
    block_mapped::log_blocks(&config.device, *buffer_pct, buffer_blocks.0, 1)
}

/// Np: as set, else by share of the capacity; of that, as many as the device has room for and the
/// memory budget can map, one at least.
pub(super) fn page_mapped_blocks(config: &Config) -> u64 {
    let WaftlSettings { pmb_pct, pmb_blocks, .. } = &config.scheme.waftl;
    let wanted = block_mapped::log_blocks(&config.device, *pmb_pct, pmb_blocks.0, 1);
    if pmb_blocks.0.is_some() {
        return wanted;
    }
    wanted.min(room(config)).min(mappable(config)).max(1)
}

/// Blocks that a device has beyond everything else. Where the exported capacity was chosen, the
/// blocks follow from what is needed, and this is no bound.
fn room(config: &Config) -> u64 {
    if config.device.logical_bytes.0.is_some() {
        return u64::MAX;
    }
    let planes = config.device.plane_count();
    config.usable_blocks().saturating_sub(blocks(config, 0)) / planes * planes
}

/// Blocks that the memory budget can map beside the block table, the zone and the counts (spec 3.7).
fn mappable(config: &Config) -> u64 {
    let Some(budget) = config.device.ram_bytes.0 else { return u64::MAX };
    let each = LogIndex::ram_bytes(&Geometry::new(&config.device), 1) + LISTED;
    budget.0.saturating_sub(sram_beside(config)) / each
}

/// Blocks of a device with so many page-mapped ones.
fn blocks(config: &Config, by_page: u64) -> u64 {
    BlockMapped::minimum_blocks(config, zone_blocks(config) + by_page + 1)
}

/// Blocks of a device.
pub(super) fn minimum_blocks(config: &Config) -> u64 {
    blocks(config, page_mapped_blocks(config))
}

/// SRAM of everything but the page-mapped blocks.
fn sram_beside(config: &Config) -> u64 {
    let structures = with_page_mapped(config, 0);
    structures.iter().filter(|used| used.memory == Memory::Sram).map(|used| used.bytes).sum()
}

/// Bytes by structure.
pub(super) fn ram_use(config: &Config) -> Vec<RamUse> {
    with_page_mapped(config, page_mapped_blocks(config))
}

fn with_page_mapped(config: &Config, by_page: u64) -> Vec<RamUse> {
    let geometry = Geometry::new(&config.device);
    let zone = zone_blocks(config);
    let counts = match config.scheme.waftl.thr_kind {
        Criterion::PagesInBuffer => 0,
        Criterion::AccessCount | Criterion::Both => u64::from(geometry.logical_blocks()),
    };
    let own = [
        ("buffer_zone_map", LogIndex::ram_bytes(&geometry, zone)),
        ("page_mapped_map", LogIndex::ram_bytes(&geometry, by_page)),
        ("block_lists", (zone + by_page) * LISTED),
        ("access_counts", counts),
    ];
    BlockMapped::ram_use(config, &own)
}
