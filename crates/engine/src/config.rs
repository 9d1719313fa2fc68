//! All settings of a run, as plain structs filled from `key = value` pairs.
//!
//! One table per group (the `settings!` macro) is the only place where a key exists: from it come
//! the struct, the defaults, the checks, the listing in results and the documentation. Unknown keys
//! are refused with the nearest known one. What this is not: a file reader; the command line turns
//! TOML and `--set` into the pairs that [`Config::set`] takes.

use std::fmt;

use crate::board::nand::factory;
use crate::buffer::{BufferSettings, PolicySettings};
use crate::parts::free_pool::FreeOrder;
use crate::parts::wear::WearPolicy;
use crate::schemes;

mod groups;
mod timing;
mod value;

pub use groups::{
    AllocSettings, DeviceSettings, EnergyModel, EnergySettings, GcMode, GcSettings, GcUnit,
    HostSettings, IoSettings, NandSettings, PartialWrite, ProgramOrder, SearchModel,
    SearchSettings, ThresholdBase, ThresholdMode, UnwrittenRead, WearSettings,
};
pub use timing::{Suspend, TimingProfile, TimingSettings};
pub use value::{Bytes, Duration, Durations, Energy, Optional, Shown, Value};

/// Why a setting was refused. `Display` says what is legal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingError {
    /// No such key; the nearest known one, if any is near.
    UnknownKey {
        /// The key as given.
        key: String,
        /// The nearest legal key.
        nearest: Option<String>,
    },
    /// The key exists, the value does not fit.
    BadValue {
        /// The key.
        key: String,
        /// The value as given.
        value: String,
        /// What would have been legal.
        legal: String,
    },
    /// Settings that are legal one by one but not together.
    Conflict(String),
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingError::UnknownKey { key, nearest: Some(near) } => {
                write!(f, "unknown key `{key}`; the nearest known key is `{near}`")
            }
            SettingError::UnknownKey { key, nearest: None } => {
                write!(f, "unknown key `{key}`; keys are written group.key, for example gc.victim")
            }
            SettingError::BadValue { key, value, legal } => {
                write!(f, "`{key} = {value}` is not legal; legal: {legal}")
            }
            SettingError::Conflict(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for SettingError {}

/// One setting as documentation and results show it.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// Full key, `group.key`.
    pub key: String,
    /// Present value.
    pub value: Shown,
    /// Default value.
    pub default: Shown,
    /// What it means, with its unit.
    pub doc: &'static str,
    /// What is legal.
    pub legal: String,
    /// Where meaning and default come from.
    pub source: &'static str,
}

/// A group of settings under one prefix.
pub trait Group {
    /// Every setting of the group with its present value, in the order of its table.
    fn describe(&self) -> Vec<Described>;
    /// Sets `key` (without prefix) from text.
    fn set(&mut self, key: &str, text: &str) -> Result<(), SettingError>;
}

/// Declares one group: the struct, its defaults and its table of keys.
///
/// A row reads `key: Type = default, legal(TEXT, check), source(TEXT);`, after its doc comment.
#[macro_export]
macro_rules! settings {
    (
        $(#[$outer:meta])*
        pub struct $name:ident in $group:literal {
            $(
                $(#[doc = $doc:literal])*
                $key:ident: $type:ty = $default:expr,
                legal($legal:literal, $check:expr), source($source:literal);
            )*
        }
    ) => {
        $(#[$outer])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $( $(#[doc = $doc])* pub $key: $type, )*
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $( $key: $default, )* }
            }
        }

        impl $crate::config::Group for $name {
            fn describe(&self) -> Vec<$crate::config::Described> {
                #[allow(unused_variables)]
                let default = $name::default();
                vec![ $( $crate::config::Described {
                    key: concat!($group, ".", stringify!($key)).to_string(),
                    value: $crate::config::Value::show(&self.$key),
                    default: $crate::config::Value::show(&default.$key),
                    doc: concat!($($doc,)*).trim(),
                    legal: if $legal.is_empty() {
                        <$type as $crate::config::Value>::legal()
                    } else {
                        $legal.to_string()
                    },
                    source: $source,
                }, )* ]
            }

            #[allow(unused_variables, clippy::redundant_closure_call)]
            fn set(&mut self, key: &str, text: &str) -> Result<(), $crate::config::SettingError> {
                match key {
                    $( stringify!($key) => {
                        let refuse = || $crate::config::SettingError::BadValue {
                            key: concat!($group, ".", stringify!($key)).to_string(),
                            value: text.to_string(),
                            legal: if $legal.is_empty() {
                                <$type as $crate::config::Value>::legal()
                            } else {
                                $legal.to_string()
                            },
                        };
                        let value: $type =
                            $crate::config::Value::parse(text).ok_or_else(refuse)?;
                        let check: fn(&$type) -> bool = $check;
                        if !check(&value) {
                            return Err(refuse());
                        }
                        self.$key = value;
                        Ok(())
                    } )*
                    _ => Err($crate::config::SettingError::UnknownKey {
                        key: format!("{}.{key}", $group),
                        nearest: None,
                    }),
                }
            }
        }
    };
}

/// Declares an enum that is set by name.
#[macro_export]
macro_rules! choices {
    (
        $(#[$outer:meta])*
        pub enum $name:ident { $( $(#[$doc:meta])* $variant:ident = $text:literal, )* }
    ) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $( $(#[$doc])* $variant, )* }

        impl $name {
            /// Every choice with the name that sets it.
            pub const ALL: &'static [($name, &'static str)] =
                &[$( ($name::$variant, $text), )*];

            /// The name that sets it.
            pub fn name(self) -> &'static str {
                match self { $( $name::$variant => $text, )* }
            }
        }

        impl $crate::config::Value for $name {
            fn parse(text: &str) -> Option<Self> {
                match text { $( $text => Some($name::$variant), )* _ => None }
            }
            fn show(&self) -> $crate::config::Shown {
                $crate::config::Shown::Text(self.name().to_string())
            }
            fn legal() -> String {
                [$( $text, )*].join(" | ")
            }
        }
    };
}

/// Everything that decides a run, apart from its workload.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// Geometry and capacity.
    pub device: DeviceSettings,
    /// Times of operations.
    pub timing: TimingSettings,
    /// Energy of operations.
    pub energy: EnergySettings,
    /// Host queue.
    pub host: HostSettings,
    /// Garbage collection of page-mapped blocks.
    pub gc: GcSettings,
    /// What searches cost.
    pub search: SearchSettings,
    /// Where pages and blocks are taken from.
    pub alloc: AllocSettings,
    /// How evenly blocks wear, and whether they die.
    pub wear: WearSettings,
    /// What the device does with odd requests.
    pub io: IoSettings,
    /// Laws and faults of the flash.
    pub nand: NandSettings,
    /// The host write buffer.
    pub buffer: BufferSettings,
    /// Settings of each buffer in the buffer table.
    pub buffers: PolicySettings,
    /// Settings of each scheme in the scheme table.
    pub scheme: schemes::SchemeSettings,
}

impl Config {
    fn groups(&self) -> Vec<(&'static str, &dyn Group)> {
        let mut groups: Vec<(&'static str, &dyn Group)> = vec![
            ("device", &self.device),
            ("timing", &self.timing),
            ("energy", &self.energy),
            ("host", &self.host),
            ("gc", &self.gc),
            ("search", &self.search),
            ("alloc", &self.alloc),
            ("wear", &self.wear),
            ("io", &self.io),
            ("nand", &self.nand),
            ("buffer", &self.buffer),
        ];
        groups.extend(self.buffers.groups());
        groups.extend(self.scheme.groups());
        groups
    }

    fn group_mut(&mut self, name: &str) -> Option<&mut dyn Group> {
        Some(match name {
            "device" => &mut self.device,
            "timing" => &mut self.timing,
            "energy" => &mut self.energy,
            "host" => &mut self.host,
            "gc" => &mut self.gc,
            "search" => &mut self.search,
            "alloc" => &mut self.alloc,
            "wear" => &mut self.wear,
            "io" => &mut self.io,
            "nand" => &mut self.nand,
            "buffer" => &mut self.buffer,
            _ => {
                let buffer = self.buffers.group_mut(name);
                return buffer.or_else(|| self.scheme.group_mut(name));
            }
        })
    }

    /// Requests that the device holds at once.
    pub fn queue_depth(&self) -> u32 {
        let serial = self.timing.profile == TimingProfile::Serial;
        self.host.queue_depth.0.unwrap_or(if serial { 1 } else { 32 })
    }

    /// Every setting with value, default, legal range and source.
    pub fn describe(&self) -> Vec<Described> {
        self.groups().iter().flat_map(|(_, group)| group.describe()).collect()
    }

    /// Sets `group.key` from text; an unknown key names the nearest known one.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), SettingError> {
        let unknown = |config: &Config| SettingError::UnknownKey {
            key: key.to_string(),
            nearest: config.nearest_key(key),
        };
        let Some((group, rest)) = key.split_once('.') else {
            return Err(unknown(self));
        };
        let result = match self.group_mut(group) {
            Some(found) => found.set(rest, text),
            None => return Err(unknown(self)),
        };
        match result {
            Err(SettingError::UnknownKey { .. }) => Err(unknown(self)),
            other => other,
        }
    }

    /// The known key most like `key`, if any is alike.
    pub fn nearest_key(&self, key: &str) -> Option<String> {
        let keys: Vec<String> = self.describe().into_iter().map(|d| d.key).collect();
        nearest(key, keys.iter().map(String::as_str)).map(str::to_string)
    }

    /// Legality of the settings together, and the limits that arrays depend on.
    pub fn check(&self) -> Result<(), SettingError> {
        self.host.check()?;
        let device = &self.device;
        if !device.page_bytes.0.is_multiple_of(512) || device.page_bytes.0 / 512 > 64 {
            return Err(SettingError::Conflict(format!(
                "device.page_bytes = {} must be a multiple of 512 and at most 32 KiB",
                device.page_bytes.0
            )));
        }
        let unit = device.unit_bytes();
        let units = device.page_bytes.0.checked_div(unit).unwrap_or(0);
        if !unit.is_multiple_of(512)
            || units * unit != device.page_bytes.0
            || !units.is_power_of_two()
            || units > 16
        {
            return Err(SettingError::Conflict(format!(
                "device.mapping_unit = {unit} must be a multiple of 512 and device.page_bytes = {} \
                 divided by 1, 2, 4, 8 or 16",
                device.page_bytes.0
            )));
        }
        let pages = device.physical_blocks() * u64::from(device.units_per_block());
        if pages >= u64::from(u32::MAX) - 1 {
            return Err(SettingError::Conflict(format!(
                "the device has {pages} physical pages; page numbers are 32 bits wide, so at \
                 most {} are possible: use larger pages",
                u32::MAX - 2
            )));
        }
        self.check_factory_bad()?;
        self.check_free_order()?;
        if self.gc.idle_pages > 0 && self.gc.mode == GcMode::Foreground {
            return Err(SettingError::Conflict(format!(
                "gc.idle_pages = {} needs gc.mode = idle or both; in the foreground nothing is \
                 collected in gaps",
                self.gc.idle_pages
            )));
        }
        if device.logical_pages() == 0 {
            return Err(SettingError::Conflict(
                "the device exports no page: it has too few blocks".to_string(),
            ));
        }
        if device.logical_pages() >= pages {
            return Err(SettingError::Conflict(format!(
                "device.logical_bytes asks for {} pages of {pages} physical ones; some must be \
                 left over",
                device.logical_pages()
            )));
        }
        self.check_buffer()?;
        self.timing.check()
    }
}

impl Config {
    /// Blocks of the whole device that can be counted on: as many in every plane as the plane with
    /// most factory-bad blocks has good ones.
    pub fn usable_blocks(&self) -> u64 {
        let (_, most) = factory::count(self);
        self.device.plane_count() * u64::from(self.device.blocks_per_plane).saturating_sub(most)
    }

    /// Factory-bad blocks of the device.
    pub fn factory_bad_blocks(&self) -> u64 {
        factory::count(self).0
    }

    /// Says that a scheme needs more blocks than can be counted on.
    #[cold]
    pub(crate) fn too_few_blocks(&self, scheme: &str, minimum: u64) -> SettingError {
        let blocks = self.device.physical_blocks();
        let bad = match self.factory_bad_blocks() {
            0 => String::new(),
            bad => format!(
                ", {bad} of them bad from the start (with as many in every plane as in the worst, \
                 {} can be used)",
                self.usable_blocks()
            ),
        };
        SettingError::Conflict(format!(
            "{scheme} needs at least {minimum} blocks for {} logical pages, the device has \
             {blocks}{bad}: raise device.over_provisioning or device.blocks_per_plane",
            self.device.logical_pages()
        ))
    }

    /// Free blocks by erases is what every policy of wear is about, and what `none` is not.
    fn check_free_order(&self) -> Result<(), SettingError> {
        let Some(order) = self.alloc.policy.0 else { return Ok(()) };
        let policy = self.wear.policy;
        if (order == FreeOrder::MinErase) != (policy == WearPolicy::None) {
            return Ok(());
        }
        Err(SettingError::Conflict(format!(
            "alloc.policy = {} and wear.policy = {} exclude each other; legal: alloc.policy = fifo \
             or lifo with wear.policy = none, min_erase with any other, auto with all",
            order.name(),
            policy.name()
        )))
    }

    fn check_factory_bad(&self) -> Result<(), SettingError> {
        let blocks = self.device.physical_blocks();
        let named = NandSettings::named_bad_blocks(&self.nand.factory_bad_blocks);
        if let Some(&beyond) = named.iter().flatten().find(|&&block| u64::from(block) >= blocks) {
            return Err(SettingError::Conflict(format!(
                "nand.factory_bad_blocks names block {beyond}, the device has blocks 0 to {}",
                blocks - 1
            )));
        }
        let (all, most) = factory::count(self);
        if most >= u64::from(self.device.blocks_per_plane) {
            return Err(SettingError::Conflict(format!(
                "{all} blocks are bad from the start (nand.factory_bad_rate, \
                 nand.factory_bad_blocks), {most} of them in a plane of {}: none is left there",
                self.device.blocks_per_plane
            )));
        }
        Ok(())
    }
}

/// The candidate most like `word`, when it is like it at all.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|(score, _)| *score > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}
