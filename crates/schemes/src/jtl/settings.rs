//! The settings of `jtl`, and the sizes that follow from them.

use ftlab_flash::settings;
use ftlab_flash::settings::SettingError;
use ftlab_ftl::parts::ram_data;
use ftlab_ftl::scheme::SchemeConfig;

/// What this scheme sees of the settings.
pub(crate) type Config = SchemeConfig<JtlSettings>;

settings! {
    /// Settings of `jtl`.
    pub struct JtlSettings in "jtl" {
        /// Bytes that a cached map entry is counted with: LPN and PPN.
        entry_bytes: u32 = 8, legal("1..=64", |v| (1..=64).contains(v)),
            source("docs/papers/others.md#jtl: 4 M entries of 8 B in 32 MB");
        /// Share of the RAM that holds map entries; the rest holds data pages.
        map_share: f64 = 0.5, legal("above 0, below 1", |v| *v > 0.0 && *v < 1.0),
            source("TreeFTL 2013, II.B: two halves");
        /// Whether the hole that an accessed entry leaves ends the cascade that its move begins;
        /// otherwise the cascade goes on below it, and a later one fills the hole, unless the level
        /// has no other place.
        hole_stops_cascade: bool = true, legal("", |_| true),
            source("ftlab; open: docs/papers/others.md#jtl");
        /// Whether a page that was read is kept, and its entry goes to the top; otherwise its entry
        /// goes to the top of those without a page in RAM.
        cache_reads: bool = false, legal("", |_| true),
            source("open: docs/papers/others.md#jtl; as TreeFTL 2013");
        /// Requests of more pages are sequential and go past the RAM.
        seq_pages: u32 = 32, legal("1 or more", |v| *v >= 1),
            source("TreeFTL 2013, III: half a block of 64 pages");
    }
}

/// How much memory there is for what.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Bytes of the map's part.
    pub map_bytes: u64,
    /// Bytes of the data's part.
    pub data_bytes: u64,
    /// Map entries: no more than there are pages.
    pub entries: u32,
    /// Data pages: at least one entry stays for a page that is not in RAM.
    pub frames: u32,
}

impl Sizes {
    /// What the settings ask for.
    pub fn new(config: &Config) -> Self {
        let jtl = &config.own;
        let ram = ram_data::budget(config);
        let map_bytes = (ram as f64 * jtl.map_share) as u64;
        let data_bytes = ram - map_bytes;
        let logical = config.device.logical_pages();
        let entries = (map_bytes / u64::from(jtl.entry_bytes)).min(logical);
        let frames = (data_bytes / config.device.unit_bytes()).min(entries.saturating_sub(1));
        Sizes { map_bytes, data_bytes, entries: entries as u32, frames: frames as u32 }
    }

    /// Whether there is room for a page, and for an entry without one.
    pub fn check(&self) -> Result<(), SettingError> {
        if self.frames >= 1 {
            return Ok(());
        }
        Err(SettingError::Conflict(format!(
            "jtl holds {} map entries in {} bytes and no data page in {}: it needs two entries and \
             a page at least; raise device.ram_bytes or change jtl.map_share",
            self.entries, self.map_bytes, self.data_bytes
        )))
    }
}
