//! The settings of a device, but for those of its scheme: what every scheme sees, the host's side,
//! and a buffer in front of the scheme.

use std::ops::{Deref, DerefMut};

use ftlab_flash::board::settings::TimingProfile;
use ftlab_flash::settings::{Group, Groups, SettingError};
use ftlab_ftl::parts::placement::PlacementKind;
use ftlab_ftl::settings::SharedSettings;

use crate::buffer::{BufferKind, BufferSettings, PAGES_MIN, PolicySettings};
use crate::host::settings::{Hints, HostSettings};

/// What decides a device under any scheme. The groups that schemes share are read as if they were
/// here: `settings.gc`, `settings.device`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SsdSettings {
    /// What every scheme sees.
    pub shared: SharedSettings,
    /// Host queue.
    pub host: HostSettings,
    /// The host write buffer.
    pub buffer: BufferSettings,
    /// Settings of each buffer in the buffer table.
    pub buffers: PolicySettings,
}

impl Deref for SsdSettings {
    type Target = SharedSettings;

    fn deref(&self) -> &SharedSettings {
        &self.shared
    }
}

impl DerefMut for SsdSettings {
    fn deref_mut(&mut self) -> &mut SharedSettings {
        &mut self.shared
    }
}

impl Groups for SsdSettings {
    fn groups(&self) -> Vec<&dyn Group> {
        let mut groups = self.shared.groups();
        groups.extend([&self.host as &dyn Group, &self.buffer]);
        groups.extend(self.buffers.groups());
        groups
    }

    fn groups_mut(&mut self) -> Vec<&mut dyn Group> {
        let mut groups = self.shared.groups_mut();
        groups.extend([&mut self.host as &mut dyn Group, &mut self.buffer]);
        groups.extend(self.buffers.groups_mut());
        groups
    }
}

impl SsdSettings {
    /// What the scheme sees: the buffer's share of the memory budget is taken.
    pub fn seen_by_schemes(&self) -> SharedSettings {
        self.shared.with_ram_taken(self.buffer.taken_bytes())
    }

    /// Requests that the device holds at once.
    pub fn queue_depth(&self) -> u32 {
        let serial = self.timing.profile == TimingProfile::Serial;
        self.host.queue_depth.0.unwrap_or(if serial { 1 } else { 32 })
    }

    /// Legality of the settings together, and the limits that arrays depend on.
    ///
    /// # Errors
    /// Says which settings exclude each other, and what is legal.
    pub fn check(&self) -> Result<(), SettingError> {
        self.host.check()?;
        self.shared.check()?;
        if self.gc.placement == PlacementKind::Hint && self.host.hints == Hints::None {
            return Err(SettingError::Conflict(
                "gc.placement = hint goes by what requests say, and under host.hints = none they \
                 say nothing; legal: host.hints = unit or column"
                    .to_owned(),
            ));
        }
        if self.gc.placement == PlacementKind::Hint && self.buffer.name != BufferKind::None {
            return Err(SettingError::Conflict(format!(
                "gc.placement = hint and buffer.name = {} (--buffer) exclude each other: pages \
                 leave a buffer without the hint that they came with; legal: one of the two",
                self.buffer.name.name()
            )));
        }
        self.check_buffer()
    }

    /// What the memory budget leaves for maps; none where there is no budget.
    pub fn map_budget(&self) -> Option<u64> {
        self.seen_by_schemes().map_budget()
    }

    /// Legality of the buffer's settings together.
    fn check_buffer(&self) -> Result<(), SettingError> {
        let kind = self.buffer.name;
        if kind == BufferKind::None {
            return Ok(());
        }
        let (bytes, page) = (self.buffer.bytes.0, self.device.unit_bytes());
        if bytes < PAGES_MIN * page {
            return Err(SettingError::Conflict(format!(
                "buffer.bytes = {bytes} must hold at least {PAGES_MIN} pages of {page} bytes"
            )));
        }
        if let Some(budget) = self.device.ram_bytes.0
            && bytes > budget.0
        {
            return Err(SettingError::Conflict(format!(
                "buffer.bytes = {bytes} exceeds device.ram_bytes = {} (--ram), of which the buffer \
                 is a part",
                budget.0
            )));
        }
        if self.buffer.cache_reads.0 == Some(true) && kind.reads().is_none() {
            let able = BufferKind::ALL.iter().filter(|(kind, _)| kind.reads().is_some());
            return Err(SettingError::Conflict(format!(
                "buffer.cache_reads = true has no meaning for {}, which holds written pages only; \
                 legal with {}",
                kind.name(),
                able.map(|(_, name)| *name).collect::<Vec<_>>().join(", ")
            )));
        }
        Ok(())
    }
}
