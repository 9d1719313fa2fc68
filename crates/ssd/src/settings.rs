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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::config;

    /// What is said of these settings together; empty where nothing is.
    fn said(pairs: &[(&str, &str)]) -> String {
        config(pairs).check().map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn the_groups_that_are_read_are_those_that_are_set() {
        let mut settings = SsdSettings::default();
        let read: Vec<&str> = settings.groups().iter().map(|group| group.name()).collect();
        let set: Vec<&str> = settings.groups_mut().iter().map(|group| group.name()).collect();
        assert_eq!(read, set);
        assert_eq!(read[13..16], ["alloc", "host", "buffer"]);
        assert!(read.len() > 16, "and one of each buffer that has settings");
        settings.device.planes = 3;
        assert_eq!((settings.shared.device.planes, settings.device.planes), (3, 3));
    }

    #[test]
    fn a_queue_is_as_deep_as_it_is_set_or_as_the_profile_says() {
        let depth = |pairs| config(pairs).queue_depth();
        assert_eq!(depth(&[]), 1);
        assert_eq!(depth(&[("timing.profile", "parallel")]), 32);
        assert_eq!(depth(&[("host.queue_depth", "7")]), 7);
    }

    #[test]
    fn what_others_refuse_is_refused() {
        assert!(said(&[("timing.suspend", "erase")]).contains("needs timing.profile = parallel"));
        assert!(!said(&[("host.weights", "1,2,3")]).is_empty(), "three weights for one stream");
    }

    #[test]
    fn hints_are_given_and_reach_the_scheme() {
        let placed = ("gc.placement", "hint");
        let given = ("host.hints", "unit");
        let buffer = ("buffer.name", "lru");
        assert_eq!([said(&[placed, given]), said(&[given]), said(&[given, buffer])], [""; 3]);
        assert!(
            said(&[placed]).starts_with("gc.placement = hint goes by what requests say, and under")
        );
        let words = said(&[placed, given, buffer]);
        assert!(words.starts_with("gc.placement = hint and buffer.name = lru (--buffer) exclude"));
        assert_eq!(said(&[("gc.placement", "sep_gc"), buffer]), "");
    }

    #[test]
    fn a_buffer_holds_some_pages_and_no_more_than_there_is_memory() {
        let least = PAGES_MIN * 2048;
        let of = |bytes: u64, more: &[(&str, &str)]| {
            let bytes = bytes.to_string();
            said(&[&[("buffer.name", "lru"), ("buffer.bytes", bytes.as_str())], more].concat())
        };
        assert_eq!(of(least, &[]), "");
        let words = of(least - 1, &[]);
        assert!(
            words.contains(&format!("must hold at least {PAGES_MIN} pages of 2048")),
            "{words}"
        );
        assert_eq!(said(&[("buffer.bytes", "1")]), "", "there is no buffer");
        let (memory, less) = (least.to_string(), (least - 1).to_string());
        assert_eq!(of(least, &[("device.ram_bytes", memory.as_str())]), "");
        let words = of(least, &[("device.ram_bytes", less.as_str())]);
        assert!(words.contains(&format!("exceeds device.ram_bytes = {less} (--ram)")), "{words}");
    }

    #[test]
    fn maps_have_what_a_buffer_leaves() {
        let budget = |pairs: &[_]| config(pairs).map_budget();
        let memory = ("device.ram_bytes", "20000");
        assert_eq!([budget(&[]), budget(&[memory])], [None, Some(20_000)]);
        let buffer = [memory, ("buffer.name", "lru"), ("buffer.bytes", "8192")];
        assert_eq!(budget(&buffer), Some(20_000 - 8192));
    }

    #[test]
    fn reads_are_kept_by_buffers_that_can_keep_them() {
        let reads = |name, kept| said(&[("buffer.name", name), ("buffer.cache_reads", kept)]);
        assert_eq!([reads("lru", "true"), reads("fab", "false"), reads("fab", "auto")], [""; 3]);
        let words = reads("fab", "true");
        let begin =
            "buffer.cache_reads = true has no meaning for fab, which holds written pages only";
        assert!(words.starts_with(begin), "{words}");
        let (_, able) = words.split_once("legal with ").expect("who can");
        let able: Vec<&str> = able.split(", ").collect();
        assert!(able.contains(&"lru") && able.contains(&"cflru") && !able.contains(&"fab"));
    }
}
