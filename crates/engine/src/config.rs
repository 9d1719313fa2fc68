//! Everything that decides a run, apart from its workload: the settings of all floors under one
//! roof. The command line turns TOML and `--set` into the pairs that [`Config::set`] takes.

use std::ops::{Deref, DerefMut};

pub use ftlab_flash::board::settings::{
    ClockKind, DeviceSettings, EnergyModel, EnergySettings, IoSettings, NandSettings, PartialWrite,
    ProgramOrder, SearchModel, SearchSettings, Suspend, TimingProfile, TimingSettings,
    UnwrittenRead, WearSettings,
};
pub use ftlab_flash::settings::{
    Bytes, Described, Duration, Durations, Energy, Group, Groups, Optional, SettingError, Share,
    Shown, Value, nearest,
};
pub use ftlab_ftl::parts::alloc::AllocSettings;
pub use ftlab_ftl::parts::page_space::settings::{
    GcMode, GcSettings, GcTrigger, GcUnit, ThresholdBase, ThresholdMode,
};
pub use ftlab_ftl::parts::page_space::slc::settings::{SlcFull, SlcPath, SlcSettings, SlcVictim};
pub use ftlab_ftl::parts::placement::midas::settings::MidasSettings;
pub use ftlab_ftl::parts::placement::settings::{Isolation, PlacementSettings};
pub use ftlab_ftl::parts::placement::{Classes, PlacementKind, Times};
pub use ftlab_ssd::host::settings::HostSettings;
pub use ftlab_ssd::settings::SsdSettings;

use crate::roster::SchemeSettings;

/// Everything that decides a run, apart from its workload. The groups of the device are read as if
/// they were here: `config.device`, `config.gc`, `config.host`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// What decides the device, but for its scheme.
    pub ssd: SsdSettings,
    /// Settings of each scheme in the scheme table.
    pub scheme: SchemeSettings,
}

impl Deref for Config {
    type Target = SsdSettings;

    fn deref(&self) -> &SsdSettings {
        &self.ssd
    }
}

impl DerefMut for Config {
    fn deref_mut(&mut self) -> &mut SsdSettings {
        &mut self.ssd
    }
}

impl Groups for Config {
    fn groups(&self) -> Vec<&dyn Group> {
        let mut groups: Vec<&dyn Group> = vec![
            &self.device,
            &self.timing,
            &self.energy,
            &self.host,
            &self.gc,
            &self.placement,
            &self.midas,
            &self.slc,
            &self.search,
            &self.alloc,
            &self.wear,
            &self.io,
            &self.nand,
            &self.rain,
            &self.refresh,
            &self.buffer,
        ];
        groups.extend(self.buffers.groups());
        groups.extend(self.scheme.groups());
        groups
    }

    fn groups_mut(&mut self) -> Vec<&mut dyn Group> {
        let mut groups = self.ssd.groups_mut();
        groups.extend(self.scheme.groups_mut());
        groups
    }
}

// Whoever has a configuration need not know the trait.
impl Config {
    /// Every setting with value, default, legal range and source.
    pub fn describe(&self) -> Vec<Described> {
        Groups::describe(self)
    }

    /// Sets `group.key` from text.
    ///
    /// # Errors
    /// An unknown key names the nearest known one, a value that does not fit what is legal.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), SettingError> {
        Groups::set(self, key, text)
    }

    /// The known key most like `key`, if any is alike.
    pub fn nearest_key(&self, key: &str) -> Option<String> {
        Groups::nearest_key(self, key)
    }
}
