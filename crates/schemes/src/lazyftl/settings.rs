//! The settings of `lazyftl`, and the sizes that follow from them and from the memory.

use ftlab_flash::settings::{Optional, SettingError};
use ftlab_flash::{choices, settings};
use ftlab_ftl::parts::demand_mapped::Needs;
use ftlab_ftl::scheme::SchemeConfig;

choices! {
    /// When a block of the update and cold area is converted.
    pub enum Convert {
        /// When the next block finds the area full; the write waits.
        Foreground = "foreground",
        /// In idle gaps too, a translation page at a time, while more than half of the area is
        /// used.
        Background = "background",
    }
}

/// What this scheme sees of the settings.
pub(crate) type Config = SchemeConfig<LazyFtlSettings>;

settings! {
    /// Settings of `lazyftl`.
    pub struct LazyFtlSettings in "lazyftl" {
        /// Blocks of UBA and CBA together, shared out evenly over the planes, 2 in each where that
        /// is more; auto: 3 % of the logical blocks, but no more than half of the spare ones, nor
        /// than half of device.ram_bytes holds and the reserve leaves.
        uba_cba_blocks: Optional<u32> = Optional(None),
            legal("auto, or 2..=16777216", |v| v.0.is_none_or(|n| (2..=1 << 24).contains(&n))),
            source("open: docs/papers/others.md#lazyftl; as many as log blocks");
        /// Percent of them for the CBA; auto: the two share them as they come.
        cba_percent: Optional<u32> = Optional(None),
            legal("auto, or 1..=99", |v| v.0.is_none_or(|n| (1..=99).contains(&n))),
            source("open: docs/papers/others.md#lazyftl; dynamic");
        /// GMT pages in memory; auto: what the UMT leaves of device.ram_bytes, else 16.
        gmt_cache_pages: Optional<u32> = Optional(None),
            legal("auto, or 1..=16777216", |v| v.0.is_none_or(|n| (1..=1 << 24).contains(&n))),
            source("open: docs/papers/others.md#lazyftl; 32 KiB, DFTL's");
        /// When blocks are converted.
        convert: Convert = Convert::Foreground, legal("", |_| true),
            source("open: docs/papers/others.md#lazyftl");
    }
}

/// Bytes of an UMT entry: logical and physical page, the flags in spare bits.
const ENTRY_BYTES: u64 = 8;
/// The area is this part of the logical blocks, if nobody says else: 3 %.
const AREA_PERCENT: u64 = 3;
/// Cached GMT pages without a budget: 32 KiB of 2 KiB pages.
const GMT_PAGES: u64 = 16;
/// Blocks that a plane needs: one that is being written, and one that can be converted.
const LEAST_PER_PLANE: u64 = 2;
/// Blocks that may be written while a conversion is due: by a collection, by levelling, by a failed
/// program.
const SLACK_PER_PLANE: u64 = 3;

/// Sizes of the areas and of what memory holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Blocks of UBA and CBA in each plane.
    pub area: u32,
    /// Of these the CBA's, where the ratio is fixed.
    pub cold: Option<u32>,
    /// Entries of the UMT.
    pub entries: u32,
    /// Trimmed pages among them, which lie in no block.
    pub trimmed: u32,
    /// GMT pages in memory.
    pub gmt_pages: u32,
}

fn umt_bytes(config: &Config, blocks: u64) -> u64 {
    blocks * u64::from(config.device.units_per_block()) * ENTRY_BYTES
}

impl Sizes {
    /// As set, else by the budget, else by default.
    pub fn of(config: &Config) -> Self {
        let lazy = &config.own;
        let (device, planes) = (&config.device, config.device.plane_count());
        let pages = u64::from(device.units_per_block());
        let least = LEAST_PER_PLANE * planes;
        let logical = device.logical_pages().div_ceil(pages);
        let share = (logical * AREA_PERCENT).div_ceil(100);
        let budget = config.map_budget();
        // What lies in no block of the area comes first, and one GMT page.
        let beside = umt_bytes(config, SLACK_PER_PLANE * planes) + (pages + 1) * ENTRY_BYTES;
        let rest = |bytes: u64| bytes.saturating_sub(beside + device.unit_bytes());
        let affordable =
            budget.map_or(u64::MAX, |bytes| rest(bytes).min(bytes / 2) / umt_bytes(config, 1));
        let auto = share.min(affordable).min(planes * Self::spared(config));
        let wanted = lazy.uba_cba_blocks.0.map_or(auto, u64::from);
        let area = (wanted.max(least) / planes) as u32;
        let all = device.logical_pages().div_ceil(device.unit_bytes() / 4).max(1);
        let cold = |percent: u32| (area * percent).div_ceil(100).clamp(1, area - 1);
        let entries = (u64::from(area) + SLACK_PER_PLANE) * planes * pages;
        let most = device.logical_pages() + planes * pages;
        let mut sizes = Sizes {
            area,
            cold: lazy.cba_percent.0.map(cold),
            entries: (entries.min(most) + pages + 1) as u32,
            trimmed: pages as u32,
            gmt_pages: 0,
        };
        let umt = sizes.umt_bytes(config) + sizes.reserve_bytes(config);
        let left = budget.map(|bytes| bytes.saturating_sub(umt) / device.unit_bytes());
        let gmt_pages = lazy.gmt_cache_pages.0.map_or(left.unwrap_or(GMT_PAGES), u64::from);
        sizes.gmt_pages = gmt_pages.clamp(1, all) as u32;
        sizes
    }

    /// Blocks of each plane that the area may take where nobody says how many: half of those that
    /// the rest leaves, as collection needs spare blocks too, and not the last.
    fn spared(config: &Config) -> u64 {
        let others = Needs::plain(config).minimum_blocks(config);
        let spare = config.usable_blocks().saturating_sub(others) / config.device.plane_count();
        (spare / 2).min(spare.saturating_sub(2 * SLACK_PER_PLANE))
    }

    /// Bytes of the UMT: an entry per page of the area.
    pub fn umt_bytes(&self, config: &Config) -> u64 {
        umt_bytes(config, u64::from(self.area) * config.device.plane_count())
    }

    /// Bytes of the places beside: for trimmed pages, which lie in no block, for the page that is
    /// being written, and for blocks that are written while a conversion is due.
    pub fn reserve_bytes(&self, config: &Config) -> u64 {
        let pages = config.device.plane_count() * u64::from(config.device.units_per_block());
        u64::from(self.entries).saturating_sub(u64::from(self.area) * pages) * ENTRY_BYTES
    }

    /// Blocks, thresholds and records; every page of the area may leave a superseded one behind.
    pub fn needs(config: &Config) -> Needs {
        Needs { stale_pages: u64::from(Sizes::of(config).entries), ..Needs::plain(config) }
    }

    /// Entries that are taken over after a power cut. There can be more, if trims were never
    /// flushed: then all are written to the GMT at once.
    pub fn recovered(&self, config: &Config) -> u32 {
        // What the next collection of each plane may add has place besides.
        let pages = u64::from(config.device.units_per_block()) * config.device.plane_count();
        self.entries - pages as u32
    }

    /// Refuses sizes above the budget, the least ones too.
    pub fn check(config: &Config) -> Result<(), SettingError> {
        let sizes = Sizes::of(config);
        let Some(budget) = config.map_budget() else { return Ok(()) };
        let gmt = u64::from(sizes.gmt_pages) * config.device.unit_bytes();
        let wanted = sizes.umt_bytes(config) + sizes.reserve_bytes(config) + gmt;
        if wanted > budget {
            return Err(SettingError::Conflict(format!(
                "the UMT of {} blocks in each plane with its reserve and {} GMT pages take {wanted} \
                 bytes, device.ram_bytes leaves {budget}",
                sizes.area, sizes.gmt_pages
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_flash::settings::Groups as _;

    /// Two planes, 10,000 logical blocks of 64 pages of 2 KiB, and so many blocks.
    fn config(blocks: u64, pairs: &[(&str, &str)]) -> Config {
        let mut config = Config::default();
        config.set("device.channels", "2").expect("legal");
        pairs.iter().for_each(|(key, value)| config.set(key, value).expect("legal"));
        config.device.set_capacity(10_000 * 64 * 2048, blocks);
        config
    }

    fn sizes(pairs: &[(&str, &str)]) -> Sizes {
        Sizes::of(&config(12_000, pairs))
    }

    /// 3 % are 300 blocks. Beside their pages the UMT has places for three blocks a plane, for a
    /// block's trimmed pages, and for the page that is being written.
    #[test]
    fn the_area_is_a_share_of_the_logical_blocks() {
        let config = config(12_000, &[("lazyftl.cba_percent", "34")]);
        let sizes = Sizes::of(&config);
        let entries = (150 + 3) * 2 * 64 + 64 + 1;
        let expected =
            Sizes { area: 150, cold: Some(51), entries, trimmed: 64, gmt_pages: GMT_PAGES as u32 };
        assert_eq!(sizes, expected);
        assert_eq!(sizes.umt_bytes(&config), 150 * 2 * 64 * 8);
        assert_eq!(sizes.reserve_bytes(&config), (3 * 2 * 64 + 65) * 8);
        assert_eq!(sizes.recovered(&config), entries - 2 * 64);
    }

    /// More places than there are pages are of no use.
    #[test]
    fn an_area_of_everything_has_a_place_for_every_page() {
        let Sizes { area, entries, gmt_pages, .. } =
            sizes(&[("lazyftl.uba_cba_blocks", "100000"), ("lazyftl.gmt_cache_pages", "2000")]);
        assert_eq!((area, entries, gmt_pages), (50_000, 640_000 + 2 * 64 + 65, 1250));
    }

    /// A block of the area takes 512 bytes, the places beside it 3592, a GMT page 2048. Of 100,000
    /// bytes half are the area's, 97 blocks; of 9000 bytes what the places and a GMT page leave, 6
    /// blocks.
    #[test]
    fn memory_bounds_the_area_and_the_pages_of_the_map_get_the_rest() {
        for (bytes, area, gmt_pages) in [("100000B", 48, 23), ("9000B", 3, 1), ("1000B", 2, 1)] {
            let found = sizes(&[("device.ram_bytes", bytes)]);
            assert_eq!((found.area, found.gmt_pages), (area, gmt_pages), "{bytes}");
        }
    }

    /// Of two blocks in each plane one is the CBA's, though 99 % are two.
    #[test]
    fn either_area_has_a_block() {
        let found = sizes(&[("lazyftl.uba_cba_blocks", "4"), ("lazyftl.cba_percent", "99")]);
        assert_eq!((found.area, found.cold), (2, Some(1)));
    }

    /// Of so many blocks a plane beyond those that a device must have, half may be the area's; six
    /// are not, of a few.
    #[test]
    fn an_area_takes_half_of_the_spare_blocks_and_not_the_last() {
        for (spare, area) in [(6, 0), (7, 1), (11, 5), (12, 6), (20, 10)] {
            let mut config = config(12_000, &[]);
            let others = Needs::plain(&config).minimum_blocks(&config);
            let blocks = (others / 2 + spare).to_string();
            config.set("device.blocks_per_plane", &blocks).expect("legal");
            assert_eq!(Sizes::spared(&config), area, "{spare} beyond {others}");
        }
    }

    /// 6 blocks, the places beside them, and two GMT pages: 3072 + 3592 + 4096 bytes.
    #[test]
    fn what_memory_does_not_hold_is_refused() {
        let checked = |bytes| {
            let pairs = [
                ("lazyftl.uba_cba_blocks", "6"),
                ("lazyftl.gmt_cache_pages", "2"),
                ("device.ram_bytes", bytes),
            ];
            Sizes::check(&config(12_000, &pairs)).map_err(|why| why.to_string())
        };
        assert_eq!(checked("10760B"), Ok(()));
        let why = checked("10759B").expect_err("a byte is missing");
        assert!(why.contains("take 10760 bytes, device.ram_bytes leaves 10759"), "{why}");
    }
}
