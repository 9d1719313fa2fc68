//! How large S-FTL's cache is, known before any run.

use crate::sftl::settings::Config;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::settings::SettingError;
use ftlab_ftl::parts::compressed_pages::PageSize;
use ftlab_ftl::parts::demand_mapped::{CACHE_BYTES, Needs, cache_budget, check_cache};
use ftlab_ftl::parts::translation::Translation;

fn page(config: &Config) -> PageSize {
    let entries = Geometry::new(&config.device).entries_per_page();
    PageSize { formula: config.own.size_formula, entries }
}

/// How the cache is divided.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub(super) page: PageSize,
    /// Bytes that compressed pages may take together.
    pub(super) page_bytes: u64,
    /// Pages in memory at most while there is a choice: those that fit if each is one run, and the
    /// one that has just been read.
    pub(super) frames: u32,
    /// Entries of the dirty-entry buffer.
    pub(super) buffered: u32,
}

/// Bytes that the budget leaves for the cache.
fn budget(config: &Config) -> Option<u64> {
    cache_budget(config, config.own.gtd_in_budget, 0)
}

/// Bytes of the cache as given, else what the budget leaves; no more than the whole map would take
/// beside the buffer's share.
fn cache_bytes(config: &Config, map_bytes: u64) -> u64 {
    let sftl = &config.own;
    let whole = (map_bytes as f64 / (1.0 - sftl.dirty_buf_share)).ceil() as u64;
    let given = sftl.cache_bytes.0.map(|bytes| bytes.0);
    given.unwrap_or_else(|| budget(config).unwrap_or(CACHE_BYTES).min(whole))
}

/// Sizes as set: the buffer takes its share in whole entries, the pages the rest.
pub(super) fn sizes(config: &Config) -> Sizes {
    let sftl = &config.own;
    let page = page(config);
    let map_pages = u64::from(Translation::pages(&Geometry::new(&config.device)));
    let bytes = cache_bytes(config, map_pages * page.raw());
    let entry = u64::from(sftl.entry_bytes);
    let share = (bytes as f64 * sftl.dirty_buf_share) as u64 / entry;
    let buffered = share.min(config.device.logical_pages());
    let page_bytes = (bytes - buffered * entry).clamp(page.raw(), map_pages * page.raw());
    let frames = map_pages.min(page_bytes / page.bytes(1) + 1);
    Sizes { page, page_bytes, frames: frames as u32, buffered: buffered as u32 }
}

/// Pages and buffer, in bytes.
pub(super) fn ram_use(config: &Config) -> [RamUse; 2] {
    let Sizes { page_bytes, buffered, .. } = sizes(config);
    let used = |structure, bytes| RamUse { structure, bytes, memory: Memory::Sram };
    let entries = u64::from(buffered) * u64::from(config.own.entry_bytes);
    [used("map_pages", page_bytes), used("dirty_entries", entries)]
}

/// Entries in the buffer were written without a look-up: each may leave a superseded page behind.
pub(super) fn needs(config: &Config) -> Needs {
    Needs { stale_pages: u64::from(sizes(config).buffered), ..Needs::plain(config) }
}

/// Whether a size that was given fits the budget and holds a page.
pub(super) fn check(config: &Config) -> Result<(), SettingError> {
    let Some(given) = config.own.cache_bytes.0 else { return Ok(()) };
    check_cache("sftl.cache_bytes", Some(given.0), budget(config))?;
    let used: u64 = ram_use(config).iter().map(|used| used.bytes).sum();
    if used > given.0 {
        return Err(SettingError::Conflict(format!(
            "sftl.cache_bytes = {} leaves no room for an uncompressed page of {} bytes beside the \
             dirty-entry buffer (sftl.dirty_buf_share)",
            given.0,
            page(config).raw()
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_flash::settings::Groups as _;

    fn of(pairs: &[(&str, &str)]) -> Sizes {
        let mut config = Config::default();
        for (key, value) in pairs {
            config.set(key, value).expect("legal settings");
        }
        sizes(&config)
    }

    #[test]
    fn the_cache_is_divided_by_bytes() {
        let known = |sizes: Sizes| (sizes.page_bytes, sizes.frames, sizes.buffered);
        // 32 KiB: 409 entries of 8 bytes; of 29,496 bytes 433 pages of 68, but the map has 125.
        let sizes = of(&[]);
        assert_eq!((sizes.page_bytes, sizes.buffered), (32768 - 409 * 8, 409));
        let none = ("sftl.dirty_buf_share", "0");
        let (ram, raw) = ("device.ram_bytes", ("sftl.size_formula", "raw"));
        assert_eq!(
            known(of(&[(ram, "4096B"), none])),
            (4096, 61, 0),
            "60 of one run, and one more"
        );
        assert_eq!(known(of(&[(ram, "4096B"), none, raw])), (4096, 3, 0));
        assert_eq!(known(of(&[(ram, "100B"), none])), (2048, 31, 0), "one page at least");
        assert_eq!(known(of(&[(ram, "4096B")])), (4096 - 51 * 8, 55, 51));
        let everything = of(&[(ram, "64MiB"), none]);
        assert_eq!(everything.page_bytes, 2048 * u64::from(everything.frames), "the whole map");
    }
}
