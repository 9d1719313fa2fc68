//! The group `device`: geometry, capacity and memory.

use crate::settings;
use crate::settings::{Bytes, Optional, Share};

settings! {
    /// Geometry, capacity and memory of the device.
    pub struct DeviceSettings in "device" {
        /// Name of the device profile.
        name: String = "unnamed".to_string(), legal("", |_| true), source("ftlab");
        /// Channels of the device.
        channels: u32 = 1, legal("1..=256", |v| (1..=256).contains(v)),
            source("datasheet of the part; 1 is FlashSim's one server");
        /// Packages per channel.
        packages: u32 = 1, legal("1..=64", |v| (1..=64).contains(v)),
            source("datasheet of the part; 1 is FlashSim's one server");
        /// Dies per package.
        dies: u32 = 1, legal("1..=64", |v| (1..=64).contains(v)),
            source("datasheet of the part; 1 is FlashSim's one server");
        /// Planes per die.
        planes: u32 = 1, legal("1..=16", |v| (1..=16).contains(v)),
            source("datasheet of the part; 1 is FlashSim's one server");
        /// Erase blocks per plane; `--capacity` changes it.
        blocks_per_plane: u32 = 1024,
            legal("2..=4294967295", |v| *v >= 2),
            source("datasheet of the part; the default is ours");
        /// Pages per erase block (P).
        pages_per_block: u32 = 64, legal("2..=4096", |v| (2..=4096).contains(v)),
            source("datasheet of the part; default: DFTL 2014, Table 2");
        /// Bytes of a page (S).
        page_bytes: Bytes = Bytes(2048),
            legal("512 B to 32 KiB", |v| (512..=32768).contains(&v.0)),
            source("datasheet of the part; default: DFTL 2014, Table 2");
        /// Bytes that one map entry points to, a page's bytes over a power of two; auto: a page.
        /// Smaller units gather in the controller until a flash page is full.
        mapping_unit: Optional<Bytes> = Optional(None), legal("", |_| true),
            source("drives with 4 KiB maps over 16 KiB pages");
        /// Bits of a cell (b): 1 (SLC) to 5. Blocks of a part with more than one can be used with
        /// one, and have a b-th of their pages then (`slc`).
        bits_per_cell: u32 = 1, legal("1..=5", |v| (1..=5).contains(v)),
            source("datasheet of the part; default: DFTL 2014, Table 2 is of an SLC part");
        /// Bytes of a page's out-of-band area (O).
        oob_bytes: Bytes = Bytes(64), legal("", |_| true),
            source("datasheet of the part; default: DFTL 2014, Table 2");
        /// Physical over logical capacity, less one.
        over_provisioning: Share = Share(0.03125),
            legal("above 0, up to 100x", |v| v.0 > 0.0 && v.0 <= 100.0), source("DFTL 2014, 4");
        /// Exported bytes; auto: physical capacity / (1 + over_provisioning), in whole blocks.
        logical_bytes: Optional<Bytes> = Optional(None), legal("", |_| true), source("ftlab");
        /// Bytes of the exported ones that are in use, of which logs take their share where
        /// SCHEME.log_base says so; auto: a run counts the pages that its workload touches, where
        /// that is asked for.
        active_region: Optional<Bytes> = Optional(None),
            legal("auto, or 1 or more", |v| v.0.is_none_or(|bytes| bytes.0 > 0)),
            source("DFTL 2014, 4");
        /// SRAM of the controller, for maps and buffers; auto: the scheme's own default.
        ram_bytes: Optional<Bytes> = Optional(None), legal("", |_| true), source("ftlab");
        /// Whether controller RAM survives a power cut (battery or supercapacitor, as the papers of
        /// RAM-managing schemes assume). Schemes and buffers that hold data or changed map entries
        /// in RAM lose nothing then; otherwise what was not flushed is lost.
        ram_nonvolatile: bool = false, legal("", |_| true),
            source("TreeFTL 2013, III; DRAM and SRAM lose their content");
        /// Program/erase cycles that a block endures (SLC about 100 k, MLC about 10 k).
        endurance_cycles: u64 = 100_000, legal("1 or more", |v| *v >= 1),
            source("datasheet of the part, which a device file must state");
        /// The same of a block that is used with one bit a cell (SLC mode); an erase takes the
        /// share of a block's life that its mode takes.
        slc_endurance_cycles: u64 = 30_000, legal("1 or more", |v| *v >= 1),
            source("docs/papers/slc_cache.md#wear: parts differ");
    }
}

impl DeviceSettings {
    /// Planes of the whole device.
    pub fn plane_count(&self) -> u64 {
        u64::from(self.channels)
            * u64::from(self.packages)
            * u64::from(self.dies)
            * u64::from(self.planes)
    }

    /// Erase blocks of the whole device.
    pub fn physical_blocks(&self) -> u64 {
        self.plane_count() * u64::from(self.blocks_per_plane)
    }

    /// Bytes of a mapping unit: what the engine calls a page.
    pub fn unit_bytes(&self) -> u64 {
        self.mapping_unit.0.unwrap_or(self.page_bytes).0
    }

    /// Mapping units of a flash page.
    pub fn units_per_page(&self) -> u32 {
        (self.page_bytes.0 / self.unit_bytes()) as u32
    }

    /// Mapping units of an erase block.
    pub fn units_per_block(&self) -> u32 {
        self.pages_per_block * self.units_per_page()
    }

    /// Mapping units that the device exports.
    pub fn logical_pages(&self) -> u64 {
        match self.logical_bytes.0 {
            Some(bytes) => bytes.0 / self.unit_bytes(),
            None => {
                let share = 1.0 + self.over_provisioning.0;
                // The epsilon keeps 8448 / 1.03125 at 8192 whatever the rounding.
                let blocks = (self.physical_blocks() as f64 / share + 1e-6) as u64;
                blocks * u64::from(self.units_per_block())
            }
        }
    }

    /// Mapping units of the active region; none where it is not known.
    pub fn active_pages(&self) -> Option<u64> {
        let bytes = self.active_region.0?.0;
        Some(bytes.div_ceil(self.unit_bytes()).min(self.logical_pages()))
    }

    /// Exports at least `bytes` and sizes the flash for it: over-provisioning as set, yet never
    /// fewer than `minimum_blocks` (the scheme's own minimum).
    pub fn set_capacity(&mut self, bytes: u64, minimum_blocks: u64) {
        let block_bytes = self.page_bytes.0 * u64::from(self.pages_per_block);
        let logical_blocks = bytes.div_ceil(block_bytes).max(1);
        self.logical_bytes = Optional(Some(Bytes(logical_blocks * block_bytes)));
        let wanted = (logical_blocks as f64 * (1.0 + self.over_provisioning.0)).ceil() as u64;
        let blocks = wanted.max(minimum_blocks);
        self.blocks_per_plane = blocks.div_ceil(self.plane_count()).max(2) as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two channels of three packages of five dies of seven planes, each of four blocks of eight
    /// pages of 4 KiB in two units.
    fn device() -> DeviceSettings {
        DeviceSettings {
            channels: 2,
            packages: 3,
            dies: 5,
            planes: 7,
            blocks_per_plane: 4,
            pages_per_block: 8,
            page_bytes: Bytes(4096),
            mapping_unit: Optional(Some(Bytes(2048))),
            over_provisioning: Share(0.25),
            ..DeviceSettings::default()
        }
    }

    #[test]
    fn a_device_has_so_many_planes_blocks_and_units() {
        let device = device();
        assert_eq!((device.plane_count(), device.physical_blocks()), (210, 840));
        assert_eq!((device.unit_bytes(), device.units_per_page()), (2048, 2));
        assert_eq!(device.units_per_block(), 16);
        let usual = DeviceSettings::default();
        assert_eq!(
            (usual.unit_bytes(), usual.units_per_page(), usual.units_per_block()),
            (2048, 1, 64)
        );
    }

    #[test]
    fn what_is_exported_is_what_is_asked_for_or_in_whole_blocks_what_is_not_spare() {
        let mut device = device();
        assert_eq!(device.logical_pages(), 672 * 16, "840 blocks are 672 and a quarter");
        device.over_provisioning = Share(0.3);
        assert_eq!(device.logical_pages(), 646 * 16, "840 / 1.3 = 646.15");
        device.logical_bytes = Optional(Some(Bytes(5 * 2048 + 2047)));
        assert_eq!(device.logical_pages(), 5);
    }

    /// 8448 / 1.03125 is 8192, 1100 / 1.1 is 1000 and 1107 / 1.07 is 1034.6.
    #[test]
    fn rounding_takes_no_block_away() {
        let blocks = |all, share| {
            let device = DeviceSettings {
                blocks_per_plane: all,
                over_provisioning: Share(share),
                ..DeviceSettings::default()
            };
            device.logical_pages() / 64
        };
        assert_eq!(
            [blocks(8448, 0.03125), blocks(1100, 0.1), blocks(1107, 0.07)],
            [8192, 1000, 1034]
        );
    }

    #[test]
    fn an_active_region_is_in_whole_units_and_no_more_than_the_device() {
        let active = |bytes| {
            let active_region = Optional(Some(Bytes(bytes)));
            DeviceSettings { active_region, ..device() }.active_pages()
        };
        assert_eq!([active(1), active(4096), active(4097)], [1, 2, 3].map(Some));
        assert_eq!(active(1 << 40), Some(672 * 16));
        assert_eq!(device().active_pages(), None);
    }

    /// Blocks of 32 KiB; a quarter more than is exported, over 210 planes.
    #[test]
    fn a_capacity_is_in_whole_blocks_and_spread_over_all_planes() {
        let sized = |bytes, minimum| {
            let mut device = device();
            device.set_capacity(bytes, minimum);
            let exported = device.logical_bytes.0.expect("set").0;
            (exported / 32_768, exported % 32_768, device.blocks_per_plane)
        };
        assert_eq!(sized(1000 * 32_768, 0), (1000, 0, 6), "1250 blocks");
        assert_eq!(sized(1008 * 32_768, 0), (1008, 0, 6), "1260 blocks fill six of each plane");
        assert_eq!(sized(1008 * 32_768 + 1, 0), (1009, 0, 7), "1262 blocks");
        assert_eq!(sized(1008 * 32_768, 1471), (1008, 0, 8), "the scheme needs 1471");
        assert_eq!(sized(0, 0), (1, 0, 2), "never less than a block, and two of a plane");
    }
}
