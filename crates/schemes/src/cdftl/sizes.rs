//! How large CDFTL's two levels are, known before any run.

use crate::cdftl::settings::Config;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::settings::SettingError;
use ftlab_ftl::parts::demand_mapped::{CACHE_BYTES, cache_budget};
use ftlab_ftl::parts::translation::Translation;

/// Entries of the first level, pages of the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) entries: u32,
    pub(super) pages: u32,
}

/// Bytes of a translation page in memory.
fn page_bytes(config: &Config) -> u64 {
    4 * u64::from(Geometry::new(&config.device).entries_per_page())
}

/// Bytes that the budget leaves for both levels.
fn budget(config: &Config) -> Option<u64> {
    cache_budget(config, config.own.gtd_in_budget, 0)
}

/// Sizes as set. A level without a size takes what a level with one leaves of the budget; where
/// neither has one, or there is no budget, each takes its share. Never more than the whole map.
pub(super) fn sizes(config: &Config) -> Sizes {
    let cdftl = &config.own;
    let (entry, page) = (u64::from(cdftl.entry_bytes), page_bytes(config));
    let map_pages = u64::from(Translation::pages(&Geometry::new(&config.device)));
    let budget = budget(config);
    let bytes = budget.unwrap_or(CACHE_BYTES);
    let first = (bytes as f64 * cdftl.cmt_share) as u64;
    let left = |taken: u64, share: u64| budget.map_or(share, |bytes| bytes.saturating_sub(taken));
    let most = config.device.logical_pages().max(2);
    let given_entries = cdftl.cmt_entries.0.map(|entries| u64::from(entries).min(most));
    let given_pages = cdftl.ctp_pages.0.map(|pages| u64::from(pages).min(map_pages));
    let (entries, pages) = match (given_entries, given_pages) {
        (Some(entries), Some(pages)) => (entries, pages),
        (Some(entries), None) => (entries, left(entries * entry, bytes - first) / page),
        (None, Some(pages)) => (left(pages * page, first) / entry, pages),
        (None, None) => {
            let pages = if bytes < 2 * page { 0 } else { (bytes - first) / page };
            ((bytes - pages.min(map_pages) * page) / entry, pages)
        }
    };
    Sizes { entries: entries.clamp(2, most) as u32, pages: pages.min(map_pages) as u32 }
}

/// Both levels, in bytes.
pub(super) fn ram_use(config: &Config) -> [RamUse; 2] {
    let Sizes { entries, pages } = sizes(config);
    let used = |structure, bytes| RamUse { structure, bytes, memory: Memory::Sram };
    [
        used("cmt", u64::from(entries) * u64::from(config.own.entry_bytes)),
        used("ctp", u64::from(pages) * page_bytes(config)),
    ]
}

/// Whether sizes that were given fit the budget.
pub(super) fn check(config: &Config) -> Result<(), SettingError> {
    let cdftl = &config.own;
    let given = cdftl.cmt_entries.0.is_some() || cdftl.ctp_pages.0.is_some();
    let wanted: u64 = ram_use(config).iter().map(|used| used.bytes).sum();
    match budget(config) {
        Some(budget) if given && wanted > budget => {
            let Sizes { entries, pages } = sizes(config);
            Err(SettingError::Conflict(format!(
                "cdftl.cmt_entries = {entries} and cdftl.ctp_pages = {pages} take {wanted} bytes, \
                 device.ram_bytes leaves {budget}"
            )))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_flash::settings::Groups as _;
    use ftlab_ftl::parts::demand_mapped::gtd_bytes;

    fn of(pairs: &[(&str, &str)]) -> (u32, u32) {
        let mut config = Config::default();
        for (key, value) in pairs {
            config.set(key, value).expect("legal settings");
        }
        let Sizes { entries, pages } = sizes(&config);
        (entries, pages)
    }

    /// Pages of 2048 bytes, 1024 blocks of 64 of them: a directory of 124 or 125 pages.
    #[test]
    fn the_memory_is_split_by_bytes() {
        let (ram, all) = ("device.ram_bytes", ("cdftl.gtd_in_budget", "false"));
        assert_eq!(of(&[]), (2048, 8), "half of 32 KiB each");
        assert_eq!(of(&[(ram, "64KiB"), all]), (4096, 16));
        assert_eq!(of(&[(ram, "64KiB"), all, ("cdftl.cmt_share", "0.25")]), (2048, 24));
        assert_eq!(of(&[(ram, "64KiB"), all, ("cdftl.ctp_pages", "3")]), (7424, 3), "the rest");
        assert_eq!(of(&[(ram, "64KiB"), all, ("cdftl.cmt_entries", "256")]), (256, 31));
        assert_eq!(of(&[(ram, "4095B"), all]), (511, 0), "less than two pages: DFTL");
        assert_eq!(of(&[(ram, "4096B"), all]), (256, 1), "two pages");
        assert_eq!(of(&[("cdftl.cmt_entries", "10"), ("cdftl.cmt_share", "0.25")]), (10, 12));
        assert_eq!(of(&[("cdftl.ctp_pages", "0")]), (2048, 0));
        let (entries, pages) = of(&[(ram, "64KiB")]);
        let gtd = gtd_bytes(&Config::default());
        assert!(8 * u64::from(entries) + 2048 * u64::from(pages) + gtd <= 64 << 10);
        assert!(gtd > 400 && pages == 15, "{gtd} bytes of directory, {pages} pages");
    }
}
