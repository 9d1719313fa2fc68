//! What zones are where lines are zones of a host: which part of a line each is, how many can be
//! written at once, and who copies. Known to everybody who reckons with lines; a scheme sets it.

use ftlab_flash::board::nand::geometry::Geometry;

/// Lines as zones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneRules {
    /// Channels that a zone is spread over, a divisor of the device's.
    pub channels: u32,
    /// Flash pages of each of its blocks that are written; at least 1.
    pub rows: u32,
    /// Zones that can be open at once; at least 1.
    pub max_open: u32,
    /// The drive copies what the host's collection moves, and nothing of it crosses the link.
    pub copy_in_device: bool,
    /// Whether the host says by itself which zone a page goes to: any class may write on what was
    /// found after a power cut.
    pub raw: bool,
    /// Whether zones that a power cut left half written are finished instead of written on.
    pub finish_after_cut: bool,
}

impl ZoneRules {
    /// Sets of planes, each with zones of its own, on a device of so many channels.
    pub fn sets(&self, channels: u32) -> u32 {
        channels / self.channels
    }

    /// Flash pages of each block of a zone that are written, of so many.
    pub fn rows(&self, all: u32) -> u32 {
        self.rows.min(all)
    }

    /// Pages of a zone of good blocks.
    pub fn pages(&self, geometry: &Geometry) -> u32 {
        let units = geometry.units_per_flash_page;
        let planes = geometry.planes() / self.sets(geometry.channels);
        planes * self.rows(geometry.pages_per_block / units) * units
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SharedSettings;
    use ftlab_flash::settings::Groups as _;

    /// Eight planes on four channels, blocks of six flash pages of two mapping units: a zone on
    /// half of them has four blocks, and of each as many flash pages as are asked for and there.
    #[test]
    fn a_zone_has_so_many_flash_pages_of_its_share_of_the_planes() {
        let mut config = SharedSettings::default();
        let pairs = [
            ("device.channels", "4"),
            ("device.dies", "2"),
            ("device.planes", "1"),
            ("device.pages_per_block", "6"),
            ("device.page_bytes", "8KiB"),
            ("device.mapping_unit", "4KiB"),
        ];
        pairs.iter().for_each(|(key, value)| config.set(key, value).expect("legal"));
        let geometry = Geometry::new(&config.device);
        let pages = |rows| {
            let (copy_in_device, raw, finish_after_cut) = (false, false, false);
            ZoneRules { channels: 2, rows, max_open: 4, copy_in_device, raw, finish_after_cut }
                .pages(&geometry)
        };
        assert_eq!([4, 6, 9].map(pages), [4 * 4 * 2, 4 * 6 * 2, 4 * 6 * 2]);
    }
}
