//! What can be asked of a scheme of the table without knowing its type.

pub use ftlab_flash::memory::{Memory, RamUse};
pub use ftlab_ftl::answers::{Location, Room, Unsettled};
pub use ftlab_ftl::scheme::{Classification, Family, Pairs, Paper, Preset, Scheme, SchemeConfig};
pub use ftlab_schemes::*;

use ftlab_flash::settings::{SettingError, nearest};
use ftlab_ssd::fit;
use ftlab_ssd::ssd::{Device, Ssd};

use crate::config::Config;
pub use crate::roster::SchemeSettings;
use crate::roster::roster;

/// The settings that concern the scheme `S`.
pub trait Sees<S: Scheme> {
    /// Its own, and those of what it stands on.
    fn own(&self) -> S::Settings;
}

/// Builds a formatted device from settings and a seed.
pub type OpenDevice = fn(&Config, u64) -> Result<Box<dyn Device>, SettingError>;

/// One scheme of the table, behind functions.
#[derive(Clone, Copy)]
pub struct Row {
    /// Where it comes from.
    pub paper: Paper,
    /// Named sets of settings.
    pub presets: &'static [Preset],
    /// The scheme that it stands on as a whole.
    pub stands_on: fn(&Config) -> Option<&'static str>,
    /// Legality of the settings.
    pub check: fn(&Config) -> Result<(), SettingError>,
    /// Physical blocks that it needs.
    pub minimum_blocks: fn(&Config) -> u64,
    /// Bytes by structure.
    pub ram_use: fn(&Config) -> Vec<RamUse>,
    /// Whether it buffers the host's data itself.
    pub buffers_data: bool,
    /// Whether what completed outlives the power although it was not flushed.
    pub keeps_writes: bool,
    /// Whether the host has its map, so that the drive cannot put pages off.
    pub maps_in_host: bool,
    /// Whether it looks at what pages hold.
    pub reads_content: bool,
    /// Why its map cache cannot be cleaned, where it cannot.
    pub uncleanable: fn(&Config) -> Option<&'static str>,
    /// Builds a formatted device.
    pub open: OpenDevice,
}

impl Row {
    /// Whether the settings of the scheme `group` have an effect here: its own, or those of what it
    /// stands on, which may stand on another one.
    pub fn reads(&self, config: &Config, group: &str) -> bool {
        let below = (self.stands_on)(config).and_then(|name| find(name).ok());
        self.paper.name == group || below.is_some_and(|(row, _)| row.reads(config, group))
    }
}

/// What a scheme sees of the whole configuration.
pub fn seen<S: Scheme>(config: &Config) -> SchemeConfig<S::Settings>
where
    Config: Sees<S>,
{
    fit::seen::<S>(config, Sees::<S>::own(config))
}

/// A formatted device under a scheme whose type is known.
///
/// # Errors
/// Says which settings do not fit together, and what is legal.
pub fn open<S: Scheme>(config: &Config, seed: u64) -> Result<Ssd<S>, SettingError>
where
    Config: Sees<S>,
{
    Ssd::new(config, Sees::<S>::own(config), seed)
}

const fn row<S: Scheme>() -> Row
where
    Config: Sees<S>,
{
    Row {
        paper: S::PAPER,
        presets: S::PRESETS,
        stands_on: |config| S::stands_on(&seen::<S>(config)),
        check: |config| fit::check::<S>(config, &seen::<S>(config)),
        minimum_blocks: |config| S::minimum_blocks(&seen::<S>(config)),
        ram_use: |config| fit::ram_use::<S>(config, &seen::<S>(config)),
        buffers_data: S::BUFFERS_DATA,
        keeps_writes: S::KEEPS_WRITES,
        maps_in_host: S::MAPS_IN_HOST,
        reads_content: S::READS_CONTENT,
        uncleanable: |config| S::uncleanable(&seen::<S>(config)),
        open: |config, seed| Ok(Box::new(open::<S>(config, seed)?)),
    }
}

macro_rules! table_of_schemes {
    ($( $name:ident => $scheme:path, $settings:path $(, $all:ident => $own:expr)?; )*) => {
        $(
            impl Sees<$scheme> for Config {
                fn own(&self) -> <$scheme as Scheme>::Settings {
                    table_of_schemes!(@own self.scheme, $name $(, $all => $own)?)
                }
            }
        )*

        // A static, no constant: a constant compiles all schemes again in each crate that names it.
        /// Every scheme, in the order of the table.
        pub static TABLE: &[Row] = &[ $( row::<$scheme>(), )* ];
    };
    (@own $settings:expr, $name:ident) => { $settings.$name.clone() };
    (@own $settings:expr, $name:ident, $all:ident => $own:expr) => {{
        let $all = &$settings;
        $own
    }};
}

roster!(table_of_schemes);

/// The row of a scheme, and the settings of its preset, from `name` or `name:preset`.
pub fn find(name: &str) -> Result<(&'static Row, Pairs), SettingError> {
    let (base, preset) = name.split_once(':').map_or((name, None), |(b, p)| (b, Some(p)));
    let unknown = |legal: Vec<&str>, word: &str| SettingError::BadValue {
        key: "scheme".to_string(),
        value: name.to_string(),
        legal: match nearest(word, legal.iter().copied()) {
            Some(near) => format!("{} (nearest: {near})", legal.join(", ")),
            None => legal.join(", "),
        },
    };
    let names = || TABLE.iter().map(|row| row.paper.name).collect::<Vec<_>>();
    let row =
        TABLE.iter().find(|row| row.paper.name == base).ok_or_else(|| unknown(names(), base))?;
    let Some(preset) = preset else {
        return Ok((row, &[]));
    };
    let known = row.presets.iter().find(|(name, _)| *name == preset);
    known.map(|(_, settings)| (row, *settings)).ok_or_else(|| {
        let presets: Vec<&str> = row.presets.iter().map(|(name, _)| *name).collect();
        unknown(presets, preset)
    })
}
