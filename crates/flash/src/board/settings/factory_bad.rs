//! How many blocks are bad from the start: it follows from the settings alone, for the device and
//! for each of its planes.

use std::collections::BTreeSet;

use super::device::DeviceSettings;
use super::nand::NandSettings;

/// Bad blocks that are drawn in `plane` of `planes`: the rate's number for the device, spread
/// evenly.
pub(in crate::board) fn drawn_in(device: &DeviceSettings, nand: &NandSettings, plane: u64) -> u64 {
    let (planes, blocks) = (device.plane_count(), device.physical_blocks());
    let all = (nand.factory_bad_rate * blocks as f64).round() as u64;
    all * (plane + 1) / planes - all * plane / planes
}

/// The blocks that are named.
pub(in crate::board) fn named(nand: &NandSettings) -> BTreeSet<u32> {
    let named = NandSettings::named_bad_blocks(&nand.factory_bad_blocks);
    named.expect("checked when it was set")
}

/// Factory-bad blocks of the device, and of the plane that has most.
pub(super) fn count(device: &DeviceSettings, nand: &NandSettings) -> (u64, u64) {
    let named = named(nand);
    let per_plane = u64::from(device.blocks_per_plane);
    let in_plane = |plane: u64| {
        let range = (plane * per_plane) as u32..((plane + 1) * per_plane) as u32;
        named.range(range).count() as u64 + drawn_in(device, nand, plane)
    };
    let planes = (0..device.plane_count()).map(in_plane);
    planes.fold((0, 0), |(all, most), count| (all + count, most.max(count)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four planes of sixteen blocks, of which 9.4 % are 6.016.
    fn settings() -> (DeviceSettings, NandSettings) {
        let device =
            DeviceSettings { planes: 4, blocks_per_plane: 16, ..DeviceSettings::default() };
        (device, NandSettings { factory_bad_rate: 0.094, ..NandSettings::default() })
    }

    #[test]
    fn drawn_blocks_are_spread_evenly_over_the_planes() {
        let (device, mut nand) = settings();
        let drawn = |nand: &NandSettings| [0, 1, 2, 3].map(|plane| drawn_in(&device, nand, plane));
        assert_eq!(drawn(&nand), [1, 2, 1, 2]);
        nand.factory_bad_rate = 0.1;
        assert_eq!(drawn(&nand), [1, 2, 1, 2], "6.4 are 6");
        nand.factory_bad_rate = 0.103;
        assert_eq!(drawn(&nand), [1, 2, 2, 2], "6.6 are 7");
    }

    #[test]
    fn named_blocks_come_on_top_in_their_plane() {
        let (device, mut nand) = settings();
        nand.factory_bad_blocks = "0,15,16,47".to_owned();
        assert_eq!(named(&nand).into_iter().collect::<Vec<_>>(), [0, 15, 16, 47]);
        // 1 + 2, 2 + 1, 1 + 1, 2.
        assert_eq!(count(&device, &nand), (10, 3));
        nand.factory_bad_blocks = "17,31,16,18,48,63".to_owned();
        assert_eq!(count(&device, &nand), (12, 6));
    }
}
