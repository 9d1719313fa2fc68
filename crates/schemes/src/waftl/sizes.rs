//! What WAFTL needs, known before any run: blocks of its areas, where the map of page-mapped blocks
//! is, and memory.

use super::settings::{Criterion, WaftlSettings};
use crate::waftl::settings::Config;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::settings::SettingError;
use ftlab_ftl::parts::block_mapped::{self, BlockMapped};
use ftlab_ftl::parts::flash_map::FlashMap;
use ftlab_ftl::parts::log_index::LogIndex;
use ftlab_ftl::parts::map_area::MapArea;

/// Bytes of a block in the list of its area.
const LISTED: u64 = 4;

/// Nz.
pub(super) fn zone_blocks(config: &Config) -> u64 {
    let WaftlSettings { buffer_pct, buffer_blocks, .. } = &config.own;
    block_mapped::log_blocks(&config.device, *buffer_pct, buffer_blocks.0, 1)
}

/// Np.
pub(super) fn page_mapped_blocks(config: &Config) -> u64 {
    page_mapped(config, map_cache(config).is_some())
}

/// Np, with the map on flash or not: as set, else by share of the capacity; of that, as many as the
/// device has room for, one at least.
fn page_mapped(config: &Config, on_flash: bool) -> u64 {
    let WaftlSettings { pmb_pct, pmb_blocks, .. } = &config.own;
    let wanted = block_mapped::log_blocks(&config.device, *pmb_pct, pmb_blocks.0, 1);
    if pmb_blocks.0.is_some() {
        return wanted;
    }
    wanted.min(room(config, on_flash).unwrap_or(0)).max(1)
}

/// Blocks that a device has beyond everything else, unless it lacks some. Where the exported
/// capacity was chosen, the blocks follow from what is needed, and this is no bound.
fn room(config: &Config, on_flash: bool) -> Option<u64> {
    if config.device.logical_bytes.0.is_some() {
        return Some(u64::MAX);
    }
    let planes = config.device.plane_count();
    let beyond = config.usable_blocks().checked_sub(blocks(config, 0, on_flash))?;
    Some(beyond / planes * planes)
}

/// Blocks of a device with so many page-mapped ones.
fn blocks(config: &Config, by_page: u64, on_flash: bool) -> u64 {
    let geometry = Geometry::new(&config.device);
    let map = if on_flash { MapArea::blocks(&geometry, geometry.logical_pages) } else { 0 };
    BlockMapped::minimum_blocks(config, zone_blocks(config) + by_page + 1 + u64::from(map))
}

/// Blocks of a device.
pub(super) fn minimum_blocks(config: &Config) -> u64 {
    let on_flash = map_cache(config).is_some();
    blocks(config, page_mapped(config, on_flash), on_flash)
}

/// Records and map pages that are alive at once.
pub(super) fn payload_pages(config: &Config) -> u64 {
    let geometry = Geometry::new(&config.device);
    let map = |_| MapArea::payload_pages(&geometry, geometry.logical_pages);
    BlockMapped::payload_pages(config) + map_cache(config).map_or(0, map)
}

/// Map pages that memory holds, where the map of page-mapped blocks is on flash. As set; else all
/// of the map is in memory, if the budget has room for it beside the other structures
/// (`docs/papers/others.md#waftl`), if there is no budget, or if the device has no blocks for map
/// pages; else map pages get that room. Never less than what the entries of a logical block need:
/// where that takes more memory than all of a small map, the map is in memory.
pub(super) fn map_cache(config: &Config) -> Option<u32> {
    let geometry = Geometry::new(&config.device);
    let all = MapArea::pages(&geometry, geometry.logical_pages);
    let pages = |bytes: u64| (bytes / map_page_bytes(&geometry)).clamp(1, u64::from(all)) as u32;
    if let Some(bytes) = config.own.pmb_cache_bytes.0 {
        return Some(pages(bytes.0));
    }
    let budget = config.map_budget()?;
    let left = |on_flash| budget.saturating_sub(sram_beside(config, on_flash));
    let least = least_cached(&geometry);
    let directory = MapArea::directory_bytes(&geometry, geometry.logical_pages);
    let smallest = directory + u64::from(least) * map_page_bytes(&geometry);
    let whole = LogIndex::ram_bytes(&geometry, page_mapped(config, false));
    let fits = config.device.logical_bytes.0.is_some()
        || blocks(config, page_mapped(config, true), true) <= config.usable_blocks();
    if whole <= left(false).max(smallest) || !fits {
        return None;
    }
    Some(pages(left(true).saturating_sub(directory)).max(least))
}

/// Map pages over which the entries of a logical block can spread: they change together.
fn least_cached(geometry: &Geometry) -> u32 {
    let (pages, entries) = (geometry.pages_per_block, geometry.entries_per_page());
    let all = MapArea::pages(geometry, geometry.logical_pages);
    let spread = match (entries % pages, pages % entries) {
        (0, _) => 1,
        (_, 0) => pages / entries,
        _ => (pages - 1).div_ceil(entries) + 1,
    };
    spread.min(all)
}

fn map_page_bytes(geometry: &Geometry) -> u64 {
    u64::from(geometry.entries_per_page()) * 4
}

/// Whether the cache that was set holds something and fits the budget.
pub(super) fn check_cache(config: &Config) -> Result<(), SettingError> {
    let Some(bytes) = config.own.pmb_cache_bytes.0 else { return Ok(()) };
    let geometry = Geometry::new(&config.device);
    let (least, page) = (u64::from(least_cached(&geometry)), map_page_bytes(&geometry));
    if bytes.0 < least * page {
        return Err(SettingError::Conflict(format!(
            "waftl.pmb_cache_bytes = {} is too small: the entries of a logical block lie in up to \
             {least} map pages of {page} bytes, so at least {} are needed",
            bytes.0,
            least * page
        )));
    }
    match config.map_budget() {
        Some(budget) if bytes.0 > budget => Err(SettingError::Conflict(format!(
            "waftl.pmb_cache_bytes = {} is more than device.ram_bytes leaves for maps, {budget}",
            bytes.0
        ))),
        _ => Ok(()),
    }
}

/// SRAM of everything but the map of page-mapped blocks.
fn sram_beside(config: &Config, on_flash: bool) -> u64 {
    let structures = beside(config, page_mapped(config, on_flash), &[]);
    structures.iter().filter(|used| used.memory == Memory::Sram).map(|used| used.bytes).sum()
}

/// Bytes by structure.
pub(super) fn ram_use(config: &Config) -> Vec<RamUse> {
    let geometry = Geometry::new(&config.device);
    let by_page = page_mapped_blocks(config);
    match map_cache(config) {
        None => {
            let map = ("page_mapped_map", LogIndex::ram_bytes(&geometry, by_page));
            beside(config, by_page, &[map])
        }
        Some(most) => {
            beside(config, by_page, &FlashMap::ram_use(&geometry, geometry.logical_pages, most))
        }
    }
}

fn beside(config: &Config, by_page: u64, map: &[(&'static str, u64)]) -> Vec<RamUse> {
    let geometry = Geometry::new(&config.device);
    let zone = zone_blocks(config);
    let counts = match config.own.thr_kind {
        Criterion::PagesInBuffer => 0,
        Criterion::AccessCount | Criterion::Both => u64::from(geometry.logical_blocks()),
    };
    let zone_map = [("buffer_zone_map", LogIndex::ram_bytes(&geometry, zone))];
    let own = [("block_lists", (zone + by_page) * LISTED), ("access_counts", counts)];
    BlockMapped::ram_use(config, &[&zone_map, map, &own].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_flash::settings::Groups as _;
    use ftlab_ftl::parts::record_area::RecordArea;

    /// Pages of 512 bytes, 128 entries of the map each; so many in a block.
    fn config(pages_per_block: &str, pairs: &[(&str, &str)]) -> Config {
        let mut config = Config::default();
        config.set("device.page_bytes", "512").expect("legal");
        config.set("device.pages_per_block", pages_per_block).expect("legal");
        pairs.iter().for_each(|(key, value)| config.set(key, value).expect("legal"));
        config
    }

    /// Where blocks and map pages do not end together, one block more begins within a page.
    #[test]
    fn the_entries_of_a_logical_block_spread_over_as_many_map_pages() {
        for (pages, least) in [("4", 1), ("128", 1), ("256", 2), ("96", 2), ("129", 2), ("192", 3)]
        {
            let config = config(pages, &[]);
            assert_eq!(least_cached(&Geometry::new(&config.device)), least, "{pages}");
        }
    }

    /// Of 200 blocks in two planes 100 are exported. Three of a hundred buffer; with these and the
    /// one that a cleaning needs 104 are taken, and beside them those of records and four more. What
    /// is left of the others is as many in either plane.
    #[test]
    fn room_for_page_mapped_blocks_is_alike_in_all_planes() {
        let pairs = [
            ("device.planes", "2"),
            ("device.blocks_per_plane", "100"),
            ("device.over_provisioning", "1"),
        ];
        let config = config("256", &pairs);
        assert_eq!((config.device.logical_pages(), zone_blocks(&config)), (100 * 256, 3));
        let records = u64::from(RecordArea::blocks(&Geometry::new(&config.device)));
        assert_eq!(room(&config, false), Some((200 - 104 - 4 - records) / 2 * 2));
    }

    /// A logical block of 256 pages needs two map pages, 1024 bytes beside the directory. One
    /// page-mapped block takes 4 bytes and a bit for each of 256 pages, 1056 in all. Of four logical
    /// blocks there are eight map pages, which lie in two blocks: a directory of 40 bytes. So the
    /// whole map takes less than the smallest cache: it is in memory, however little of that there
    /// is. Of two page-mapped blocks it takes more.
    #[test]
    fn a_map_smaller_than_the_smallest_cache_is_in_memory() {
        for (blocks, cached) in [("1", None), ("2", Some(2))] {
            let pairs = [("waftl.pmb_blocks", blocks), ("device.ram_bytes", "1B")];
            let mut config = config("256", &pairs);
            config.device.set_capacity(4 * 256 * 512, 0);
            assert_eq!(map_cache(&config), cached, "{blocks}");
        }
    }

    /// Two map pages at least, and no more than memory leaves.
    #[test]
    fn a_cache_that_is_set_holds_a_logical_block_and_fits() {
        let checked = |cache, ram| {
            let pairs = [("waftl.pmb_cache_bytes", cache), ("device.ram_bytes", ram)];
            check_cache(&config("256", &pairs)).map_err(|why| why.to_string())
        };
        assert_eq!(checked("1024B", "2000B"), Ok(()));
        let why = checked("1023B", "2000B").expect_err("less than two pages");
        assert!(why.contains("up to 2 map pages of 512 bytes, so at least 1024"), "{why}");
        assert_eq!(checked("2000B", "2000B"), Ok(()));
        let why = checked("2001B", "2000B").expect_err("more than there is");
        assert!(why.contains("more than device.ram_bytes leaves for maps, 2000"), "{why}");
    }
}
