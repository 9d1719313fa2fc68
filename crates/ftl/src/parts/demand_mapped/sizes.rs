//! What a scheme with its map on flash needs, known before any run: blocks, payloads, memory,
//! thresholds.

use crate::parts::checkpoint::Checkpoints;
use crate::parts::page_space::{Threshold, lines_ram, placement_ram, refresh_ram, slc_ram};
use crate::parts::translation::Translation;
use crate::parts::trim_records::TrimRecords;
use crate::settings::SharedSettings;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::settings::SettingError;

/// What one scheme needs beyond its logical pages and their map.
#[derive(Clone, Copy, Debug)]
pub struct Needs {
    /// Free blocks per plane below which collection starts, as resolved by [`threshold`].
    pub threshold: u32,
    /// Words that a checkpoint saves at most; 0 where none is taken. Room for two of them that say
    /// which blocks are open is counted even then: a page each, more on devices of many planes.
    pub checkpoint_words: u64,
    /// Superseded pages that may count as valid at once (writes without look-up).
    pub stale_pages: u64,
}

/// Least threshold of a device with one plane.
const FLOOR: u32 = 3;

/// Least threshold: a data target, a map target for the updates of that victim, a map copy target;
/// where there are several planes, two blocks more for the map pages that other planes' collections
/// send home.
pub fn floor(config: &SharedSettings) -> u32 {
    if config.device.plane_count() > 1 { FLOOR + 2 } else { FLOOR }
}

/// Free blocks per plane below which collection starts: `gc.threshold`, else the scheme's `own`.
pub fn threshold(config: &SharedSettings, own: u32) -> u32 {
    Threshold::resolve(config, own, floor(config))
}

/// Whether `gc.threshold` leaves enough.
pub fn check(config: &SharedSettings) -> Result<(), SettingError> {
    Threshold::check(config, floor(config))
}

/// Bytes of a map cache where neither a size nor a budget is given (DFTL 2014, 5.3: 32 KB).
pub const CACHE_BYTES: u64 = 32 << 10;

/// Bytes that the budget leaves for a map cache: the directory lies in it too if `counts_gtd` says
/// so, and `beside` bytes of other structures do.
pub fn cache_budget(config: &SharedSettings, counts_gtd: bool, beside: u64) -> Option<u64> {
    let gtd = if counts_gtd { gtd_bytes(config) } else { 0 };
    config.map_budget().map(|budget| budget.saturating_sub(gtd + beside))
}

/// Whether the bytes that a cache was given by `key` fit what the budget leaves for it.
///
/// # Errors
/// Names the key, and what is left.
pub fn check_cache(key: &str, given: Option<u64>, budget: Option<u64>) -> Result<(), SettingError> {
    match (given, budget) {
        (Some(given), Some(budget)) if given > budget => Err(SettingError::Conflict(format!(
            "{key} = {given} is more than device.ram_bytes leaves: {budget}"
        ))),
        _ => Ok(()),
    }
}

/// Bytes of the directory of translation pages.
pub fn gtd_bytes(config: &SharedSettings) -> u64 {
    4 * u64::from(Translation::pages(&Geometry::new(&config.device)))
}

impl Needs {
    /// A scheme that looks up before it writes, and recovers from the flash without checkpoints.
    /// Collection starts where FlashSim's DFTL starts it
    /// (`docs/papers/dftl2014.md#collection`), or by `gc.threshold`.
    pub fn plain(config: &SharedSettings) -> Self {
        Needs { threshold: threshold(config, FLOOR), checkpoint_words: 0, stale_pages: 0 }
    }

    /// Pages that two checkpoints take at most.
    fn checkpoint_pages(&self, config: &SharedSettings) -> u64 {
        let open = u64::from(config.frontiers()) * config.device.plane_count();
        let entries = Geometry::new(&config.device).entries_per_page();
        Checkpoints::most_pages(entries, self.checkpoint_words, open)
    }

    /// Physical blocks: data, map, checkpoints, records, and a reserve per plane.
    pub fn minimum_blocks(&self, config: &SharedSettings) -> u64 {
        let device = &config.device;
        let geometry = Geometry::new(device);
        let planes = device.plane_count();
        let data = config.blocks_for(device.logical_pages() + self.stale_pages);
        let map = u64::from(Translation::pages(&geometry))
            + u64::from(TrimRecords::segments(&geometry))
            + self.checkpoint_pages(config);
        let reserve = config.blocks_beside_data(self.threshold);
        planes * (data + config.blocks_for(map) + 1 + reserve)
    }

    /// Map, checkpoint and record pages that are alive at once.
    pub fn payload_pages(&self, config: &SharedSettings) -> u64 {
        let geometry = Geometry::new(&config.device);
        // Map pages and records, and those that replace them while both are alive.
        let map = Translation::pages(&geometry) + TrimRecords::segments(&geometry);
        u64::from(map)
            + u64::from(map / 8)
            + u64::from(geometry.pages_per_block)
            + self.checkpoint_pages(config)
    }

    /// Bytes by structure: the scheme's `own`, then the directory and what every page-mapped scheme
    /// has.
    pub fn ram_use(&self, config: &SharedSettings, own: &[RamUse]) -> Vec<RamUse> {
        let geometry = Geometry::new(&config.device);
        let entry = |structure, bytes, memory| RamUse { structure, bytes, memory };
        let mut structures = own.to_vec();
        structures.push(entry("gtd", gtd_bytes(config), Memory::Sram));
        if self.checkpoint_words > 0 {
            structures.push(entry("checkpoint_buffer", 4 * self.checkpoint_words, Memory::Dram));
        }
        let bitmap = u64::from(geometry.pages()).div_ceil(8);
        structures.push(entry("valid_counts", u64::from(geometry.blocks()) * 2, Memory::Dram));
        structures.push(entry("valid_bitmap", bitmap, Memory::Dram));
        let trims = TrimRecords::ram_bytes(&geometry);
        structures.push(entry("trim_records", trims, Memory::Dram));
        structures.extend(placement_ram(config));
        structures.extend(slc_ram(config));
        structures.extend(lines_ram(config));
        structures.extend(refresh_ram(config));
        structures
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_flash::settings::Groups as _;

    /// Two planes, blocks of 16 pages of 512 bytes, and 10,000 logical pages: 79 translation pages
    /// of 128 entries, three records of 4,032 pages.
    fn config(pairs: &[(&str, &str)]) -> SharedSettings {
        let mut config = SharedSettings::default();
        let device = [
            ("device.page_bytes", "512"),
            ("device.pages_per_block", "16"),
            ("device.planes", "2"),
            ("device.logical_bytes", "5120000"),
        ];
        device.iter().chain(pairs).for_each(|(key, value)| config.set(key, value).expect("legal"));
        config
    }

    const PLAIN: Needs = Needs { threshold: 3, checkpoint_words: 0, stale_pages: 0 };
    /// A checkpoint has a thousand words, one for how many blocks are open, and those: two
    /// frontiers of data and one of maps in each plane. Nine pages of 124 words beside their
    /// headers; one, where it saves nothing but which blocks are open.
    const SAVED: Needs = Needs { threshold: 3, checkpoint_words: 1000, stale_pages: 40 };

    #[test]
    fn pages_alive_are_the_map_an_eighth_a_block_and_two_checkpoints() {
        let config = config(&[]);
        assert_eq!(PLAIN.payload_pages(&config), 82 + 10 + 16 + 2);
        assert_eq!(SAVED.payload_pages(&config), 82 + 10 + 16 + 18);
    }

    /// A checkpoint says which blocks are open, three in each of 64 planes, and how many: two pages
    /// of 124 words, which are counted where none is taken, too. With a thousand words more it is
    /// ten pages.
    #[test]
    fn a_checkpoint_has_room_for_the_open_blocks_of_every_plane() {
        let planes = [("device.planes", "1"), ("device.channels", "8"), ("device.dies", "8")];
        let pages = [PLAIN, SAVED].map(|needs| needs.payload_pages(&config(&planes)));
        assert_eq!(pages, [82 + 10 + 16 + 2 * 2, 82 + 10 + 16 + 2 * 10]);
    }

    /// 800 blocks of 32 pages: two bytes for each block, a bit for each page; a bit for each of
    /// 10,000 pages that can be trimmed and 5 bytes for each of three records. A scheme without
    /// checkpoints needs no buffer for one.
    #[test]
    fn memory_holds_what_every_scheme_has_behind_what_is_its_own() {
        let blocks = [("device.blocks_per_plane", "400"), ("device.pages_per_block", "32")];
        let config = config(&blocks);
        let own = RamUse { structure: "own", bytes: 5, memory: Memory::Sram };
        let of = |needs: &Needs| -> Vec<(&str, u64)> {
            let found = needs.ram_use(&config, std::slice::from_ref(&own));
            found.iter().map(|one| (one.structure, one.bytes)).collect()
        };
        let ours = [("own", 5), ("gtd", 316)];
        let shared = [("valid_counts", 1600), ("valid_bitmap", 3200), ("trim_records", 1250 + 15)];
        assert_eq!(of(&PLAIN), [&ours[..], &shared].concat());
        assert_eq!(of(&SAVED), [&ours[..], &[("checkpoint_buffer", 4000)], &shared].concat());
    }

    /// Of each plane: 313 blocks of data (314 with those superseded), 3 of the map (4 with
    /// checkpoints), one more, and what collection needs: its threshold of three, three frontiers
    /// and a spare.
    #[test]
    fn blocks_are_those_of_data_of_the_map_and_a_reserve() {
        let config = config(&[]);
        let reserve = 3 + 3 + 1;
        assert_eq!(PLAIN.minimum_blocks(&config), 2 * (313 + 3 + 1 + reserve));
        assert_eq!(SAVED.minimum_blocks(&config), 2 * (314 + 4 + 1 + reserve));
    }

    #[test]
    fn the_budget_leaves_a_cache_what_the_directory_and_others_do_not_take() {
        let none = config(&[]);
        assert_eq!(gtd_bytes(&none), 4 * 79);
        assert_eq!(cache_budget(&none, true, 100), None);
        let some = config(&[("device.ram_bytes", "1000")]);
        assert_eq!(cache_budget(&some, false, 100), Some(900));
        assert_eq!(cache_budget(&some, true, 100), Some(1000 - 316 - 100));
        assert_eq!(cache_budget(&some, true, 700), Some(0));
    }

    #[test]
    fn a_cache_is_no_larger_than_what_is_left() {
        for (given, budget) in [(Some(5), Some(5)), (Some(6), None), (None, Some(5))] {
            assert!(check_cache("dftl.cache_bytes", given, budget).is_ok());
        }
        let refused = check_cache("dftl.cache_bytes", Some(6), Some(5)).expect_err("too large");
        let said = "dftl.cache_bytes = 6 is more than device.ram_bytes leaves: 5";
        assert_eq!(refused.to_string(), said);
    }

    #[test]
    fn several_planes_need_two_blocks_more_before_collection_starts() {
        assert_eq!(floor(&config(&[])), 5);
        assert_eq!(floor(&config(&[("device.planes", "1")])), 3);
        let refused = |threshold| check(&config(&[("gc.threshold", threshold)])).is_err();
        assert_eq!((refused("4"), refused("5")), (true, false));
        assert_eq!(threshold(&config(&[]), 4), 5);
        assert_eq!(threshold(&config(&[]), 7), 7);
    }
}
