//! The link between host and device. Commands and the data of writes cross before the device
//! begins, the data of reads when its last page is there. A half-duplex link does one transfer at a
//! time, a full-duplex one does one in each direction.
//!
//! Transfers are booked in the order in which requests are served, like all work of the device: on
//! a saturated half-duplex link, where a command finds no gap among the data booked before it, that
//! costs up to 2 % of the bandwidth.

use crate::board::nand::clock::resource::Resource;
use crate::config::HostSettings;
use crate::units::{Nanos, SECTOR_BYTES};

crate::choices! {
    /// Whether both directions of a link work at once.
    pub enum Duplex {
        /// One transfer at a time, as SATA does.
        Half = "half",
        /// One in each direction, as PCIe and SAS do.
        Full = "full",
    }
}

/// The link of a device.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    to_device: Resource,
    /// None where the directions share the link.
    to_host: Option<Resource>,
    /// Bytes per second; 0: data take no time.
    bandwidth: u64,
    command: Nanos,
}

impl Link {
    /// Idle.
    pub fn new(settings: &HostSettings) -> Self {
        Link {
            to_device: Resource::new(1),
            to_host: (settings.link_duplex == Duplex::Full).then(|| Resource::new(1)),
            bandwidth: settings.link_bandwidth.0,
            command: settings.command_overhead.0,
        }
    }

    /// Whether nothing takes time on it.
    #[inline]
    pub fn is_free(&self) -> bool {
        self.bandwidth == 0 && self.command == 0
    }

    /// When a command with the data of `sectors` sectors is across.
    pub fn send(&mut self, after: Nanos, sectors: u32) -> Nanos {
        let length = self.command + self.data(sectors);
        cross(&mut self.to_device, after, length)
    }

    /// When the data of `sectors` sectors are across.
    pub fn receive(&mut self, after: Nanos, sectors: u32) -> Nanos {
        let length = self.data(sectors);
        cross(self.to_host.as_mut().unwrap_or(&mut self.to_device), after, length)
    }

    /// Time of the data alone, rounded up to a nanosecond.
    fn data(&self, sectors: u32) -> Nanos {
        if self.bandwidth == 0 {
            return 0;
        }
        let bytes = u128::from(sectors) * u128::from(SECTOR_BYTES);
        (bytes * 1_000_000_000).div_ceil(u128::from(self.bandwidth)) as Nanos
    }
}

fn cross(direction: &mut Resource, after: Nanos, length: Nanos) -> Nanos {
    if length == 0 { after } else { direction.book(after, length) + length }
}
