//! How large TPFTL's cache is, known before any run.

use super::settings::{Levels, TpftlSettings};
use crate::tpftl::settings::Config;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::settings::SettingError;
use ftlab_ftl::parts::demand_mapped::{CACHE_BYTES, cache_budget, check_cache};
use ftlab_ftl::parts::translation::Translation;

/// Bytes of so many entries of one node.
fn node_of(settings: &TpftlSettings, entries: u64) -> u64 {
    let header = if settings.levels == Levels::Two { settings.node_bytes } else { 0 };
    u64::from(header) + entries * u64::from(settings.entry_bytes)
}

/// Bytes that the budget leaves for the cache.
fn budget(config: &Config) -> Option<u64> {
    cache_budget(config, config.own.gtd_in_budget, 0)
}

/// Bytes of entries and nodes: as set, else what the budget leaves, else DFTL's; enough for two
/// entries of a node, and never more than the whole map takes.
pub(crate) fn cache_bytes(config: &Config) -> u64 {
    let settings = &config.own;
    let given = settings.cache_bytes.0.map(|bytes| bytes.0);
    let wanted = given.or_else(|| budget(config)).unwrap_or(CACHE_BYTES);
    let geometry = Geometry::new(&config.device);
    let headers = u64::from(Translation::pages(&geometry)) * node_of(settings, 0);
    let all = headers + config.device.logical_pages() * u64::from(settings.entry_bytes);
    let least = node_of(settings, 2);
    wanted.clamp(least, all.max(least))
}

/// Entries that fit whatever nodes they are in.
pub(crate) fn entries_that_fit(config: &Config) -> u32 {
    let entries = cache_bytes(config) / node_of(&config.own, 1);
    entries.min(config.device.logical_pages()) as u32
}

/// Whether the settings go together.
pub(crate) fn check(config: &Config) -> Result<(), SettingError> {
    let settings = &config.own;
    let needs_nodes = [
        ("request_prefetch", settings.request_prefetch),
        ("selective_prefetch", settings.selective_prefetch),
        ("clean_first", settings.clean_first),
    ];
    if let (Levels::One, Some((name, _))) =
        (settings.levels, needs_nodes.iter().find(|(_, on)| *on))
    {
        return Err(SettingError::Conflict(format!(
            "tpftl.{name} works on nodes, tpftl.levels = one has none; legal: false"
        )));
    }
    let (given, least) = (settings.cache_bytes.0.map(|bytes| bytes.0), node_of(settings, 2));
    if let Some(bytes) = given.filter(|&bytes| bytes < least) {
        return Err(SettingError::Conflict(format!(
            "tpftl.cache_bytes = {bytes} does not hold two entries of a node; legal: {least} and \
             more"
        )));
    }
    check_cache("tpftl.cache_bytes", given, budget(config))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_flash::settings::Groups as _;

    /// Two entries of a node fit.
    #[test]
    fn a_cache_holds_two_entries_at_least() {
        let least = node_of(&Config::default().own, 2);
        let checked = |bytes: u64| {
            let mut config = Config::default();
            config.set("tpftl.cache_bytes", &format!("{bytes}B")).expect("legal");
            check(&config)
        };
        assert_eq!(checked(least), Ok(()));
        assert!(checked(least - 1).is_err());
    }
}
