//! The link between host and device. Commands and the data of writes cross before the device
//! begins, the data of reads when its last page is there. A half-duplex link does one transfer at a
//! time, a full-duplex one does one in each direction.
//!
//! Transfers are booked in the order in which requests are served, like all work of the device, the
//! data of reads a whole queue ahead. The link therefore remembers every gap between what the
//! requests in the device have booked; a command takes the first that fits. On a saturated
//! half-duplex link, where no gap is left, that costs up to 2 % of the bandwidth.

use crate::host::settings::{Duplex, HostSettings};
use ftlab_flash::board::nand::clock::resource::Resource;
use ftlab_flash::units::{Nanos, SECTOR_BYTES};

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
    /// Idle; the device holds up to `depth` requests at once.
    pub fn new(settings: &HostSettings, depth: usize) -> Self {
        // Each request leaves a gap before its command and one before its data at most.
        let direction = || Resource::with_gaps(1, 2 * depth + 2);
        Link {
            to_device: direction(),
            to_host: (settings.link_duplex == Duplex::Full).then(direction),
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
        // Commands come in order of time: what is over serves nobody.
        self.to_device.forget(after);
        if let Some(to_host) = &mut self.to_host {
            to_host.forget(after);
        }
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
