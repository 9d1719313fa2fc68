//! What a tree over a map of blocks needs: blocks, map pages, memory, and settings that go
//! together.

use crate::replacement_block::{ReplacementBlock, spare_blocks};
use crate::treeftl::settings::{Config, chains};
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::settings::SettingError;
use ftlab_ftl::parts::block_mapped::BlockMapped;
use ftlab_ftl::parts::map_area::MapArea;
use ftlab_ftl::scheme::Scheme;

/// Map pages of the block map.
pub(super) fn map_pages(geometry: &Geometry) -> u64 {
    u64::from(MapArea::pages(geometry, geometry.logical_blocks()))
}

/// Bytes of the directory of map pages.
pub(super) fn directory_bytes<O>(config: &Config<O>) -> u64 {
    let geometry = Geometry::new(&config.device);
    MapArea::directory_bytes(&geometry, geometry.logical_blocks())
}

/// Physical blocks: the base's, and those with map pages.
pub(super) fn minimum_blocks<O>(config: &Config<O>) -> u64 {
    let geometry = Geometry::new(&config.device);
    let map = MapArea::blocks(&geometry, geometry.logical_blocks());
    BlockMapped::minimum_blocks(config, spare_blocks(&chains(config)) + u64::from(map))
}

/// Records and map pages that are alive at once.
pub(super) fn payload_pages<O>(config: &Config<O>) -> u64 {
    let geometry = Geometry::new(&config.device);
    BlockMapped::payload_pages(config)
        + MapArea::payload_pages(&geometry, geometry.logical_blocks())
}

/// Bytes by structure: the tree's `own`, the directory, and what the base has beside its block
/// table.
pub(super) fn ram_use<O>(config: &Config<O>, own: &[RamUse]) -> Vec<RamUse> {
    let mut structures = own.to_vec();
    let bytes = directory_bytes(config);
    structures.push(RamUse { structure: "map_directory", bytes, memory: Memory::Sram });
    let base = ReplacementBlock::ram_use(&chains(config));
    structures.extend(base.into_iter().filter(|known| known.structure != "block_table"));
    structures
}

/// What does not go together with a map of blocks.
pub(super) fn check<O>(config: &Config<O>) -> Result<(), SettingError> {
    if config.own.treeftl.gc_cached {
        return Err(SettingError::Conflict(
            "treeftl.gc_cached (treeftl:gc) chooses and moves what DFTL's collection collects: under \
             treeftl.map = block there is none, chains of blocks are folded instead; leave one of \
             them at its default"
                .to_string(),
        ));
    }
    if config.device.units_per_page() > 1 {
        return Err(SettingError::Conflict(
            "treeftl.map = block puts pages at fixed offsets of data blocks, so mapping units cannot \
             gather to flash pages: leave device.mapping_unit at auto"
                .to_string(),
        ));
    }
    ReplacementBlock::check(&chains(config))
}
