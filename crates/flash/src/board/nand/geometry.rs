//! Channel, package, die, plane, block and page arithmetic; nowhere else.
//!
//! Blocks are numbered plane by plane and pages block by block, so that a plane owns one run of
//! blocks and a block one run of pages.

use crate::board::settings::DeviceSettings;
use crate::choices;
use crate::units::{BlockId, Divisor, Lpn, PlaneId, Ppn};

choices! {
    /// In which order the planes take turns for host writes. The static orders place a logical
    /// page by its number: the first word varies fastest.
    pub enum PlacementOrder {
        /// Channel, then die, then plane.
        ChannelDiePlane = "channel_die_plane",
        /// Channel, then plane, then die.
        ChannelPlaneDie = "channel_plane_die",
        /// Die, then channel, then plane.
        DieChannelPlane = "die_channel_plane",
        /// Die, then plane, then channel.
        DiePlaneChannel = "die_plane_channel",
        /// Plane, then channel, then die.
        PlaneChannelDie = "plane_channel_die",
        /// Plane, then die, then channel.
        PlaneDieChannel = "plane_die_channel",
        /// The plane that is free first, among those with room.
        Dynamic = "dynamic",
    }
}

/// Sizes of the device, fixed when it is built. A page is a mapping unit: what one map entry points
/// to. It is the flash page, unless `device.mapping_unit` is smaller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Channels.
    pub channels: u32,
    /// Dies behind one channel, over all its packages.
    pub dies_per_channel: u32,
    /// Planes per die.
    pub planes_per_die: u32,
    /// Blocks per plane.
    pub blocks_per_plane: u32,
    /// Pages per block (P).
    pub pages_per_block: u32,
    /// Bytes per page (S).
    pub page_bytes: u32,
    /// Pages that share a flash page.
    pub units_per_flash_page: u32,
    /// Bits of a cell.
    pub bits_per_cell: u32,
    /// Exported pages.
    pub logical_pages: u32,
    planes: u32,
    blocks: u32,
    pages: u32,
    by_block: Divisor,
    by_plane: Divisor,
}

impl Geometry {
    /// The geometry that checked settings describe.
    pub fn new(device: &DeviceSettings) -> Self {
        let dies_per_channel = device.packages * device.dies;
        let planes = device.channels * dies_per_channel * device.planes;
        let blocks = planes * device.blocks_per_plane;
        Geometry {
            channels: device.channels,
            dies_per_channel,
            planes_per_die: device.planes,
            blocks_per_plane: device.blocks_per_plane,
            pages_per_block: device.units_per_block(),
            page_bytes: device.unit_bytes() as u32,
            units_per_flash_page: device.units_per_page(),
            bits_per_cell: device.bits_per_cell,
            logical_pages: device.logical_pages() as u32,
            planes,
            blocks,
            pages: blocks * device.units_per_block(),
            by_block: Divisor::new(device.units_per_block()),
            by_plane: Divisor::new(device.blocks_per_plane),
        }
    }

    /// Dies of the device.
    pub fn dies(&self) -> u32 {
        self.channels * self.dies_per_channel
    }

    /// Planes of the device.
    #[inline]
    pub fn planes(&self) -> u32 {
        self.planes
    }

    /// Blocks of the device.
    #[inline]
    pub fn blocks(&self) -> u32 {
        self.blocks
    }

    /// Physical pages of the device.
    #[inline]
    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// Pages of a block that is used with one bit a cell: a page per word line.
    pub fn slc_pages(&self) -> u32 {
        let flash_pages = self.pages_per_block / self.units_per_flash_page;
        flash_pages / self.bits_per_cell * self.units_per_flash_page
    }

    /// Logical blocks: the exported pages in units of an erase block, rounded up.
    pub fn logical_blocks(&self) -> u32 {
        self.logical_pages.div_ceil(self.pages_per_block)
    }

    /// Four-byte map entries that fit one page (E).
    pub fn entries_per_page(&self) -> u32 {
        self.page_bytes / 4
    }

    /// Sectors of 512 bytes per page (Q).
    pub fn sectors_per_page(&self) -> u32 {
        self.page_bytes / 512
    }

    /// Every sector of a page.
    pub fn all_sectors(&self) -> u64 {
        u64::MAX >> (64 - self.sectors_per_page())
    }

    /// The block that holds a page.
    #[inline]
    pub fn block_of(&self, ppn: Ppn) -> BlockId {
        BlockId(self.by_block.quotient(ppn.0))
    }

    /// A page's place in its block.
    #[inline]
    pub fn offset_of(&self, ppn: Ppn) -> u32 {
        self.by_block.both(ppn.0).1
    }

    /// The page at `offset` of a block.
    #[inline]
    pub fn page(&self, block: BlockId, offset: u32) -> Ppn {
        debug_assert!(offset < self.pages_per_block);
        Ppn(block.0 * self.pages_per_block + offset)
    }

    /// The plane that holds a block.
    #[inline]
    pub fn plane_of_block(&self, block: BlockId) -> PlaneId {
        PlaneId(self.by_plane.quotient(block.0))
    }

    /// The plane that holds a page.
    #[inline]
    pub fn plane_of(&self, ppn: Ppn) -> PlaneId {
        self.plane_of_block(self.block_of(ppn))
    }

    /// The blocks of a plane.
    pub fn blocks_of(&self, plane: PlaneId) -> std::ops::Range<u32> {
        let first = plane.0 * self.blocks_per_plane;
        first..first + self.blocks_per_plane
    }

    /// The channel of a plane.
    #[inline]
    pub fn channel_of(&self, plane: PlaneId) -> u32 {
        plane.0 / (self.planes_per_die * self.dies_per_channel)
    }

    /// The die of a plane, over the whole device.
    #[inline]
    pub fn die_of(&self, plane: PlaneId) -> u32 {
        plane.0 / self.planes_per_die
    }

    /// The other planes of a plane's die.
    pub fn siblings(&self, plane: PlaneId) -> impl Iterator<Item = PlaneId> + use<> {
        let first = plane.0 - plane.0 % self.planes_per_die;
        (first..first + self.planes_per_die).map(PlaneId).filter(move |&other| other != plane)
    }

    /// The plane at these places.
    fn plane_at(&self, channel: u32, die: u32, plane: u32) -> PlaneId {
        PlaneId((channel * self.dies_per_channel + die) * self.planes_per_die + plane)
    }

    /// The plane of the `turn`-th page under a static order; `Dynamic` has none and falls back to
    /// the first order, which is what reads of unwritten pages are charged to.
    #[inline]
    pub fn static_plane(&self, order: PlacementOrder, turn: u32) -> PlaneId {
        if self.planes() == 1 {
            return PlaneId(0);
        }
        // Units of one flash page stay together.
        let turn = turn >> self.units_per_flash_page.trailing_zeros();
        let (channels, dies, planes) = (self.channels, self.dies_per_channel, self.planes_per_die);
        let split = |first: u32, second: u32, third: u32| {
            (turn % first, turn / first % second, turn / first / second % third)
        };
        match order {
            PlacementOrder::ChannelDiePlane | PlacementOrder::Dynamic => {
                let (c, d, p) = split(channels, dies, planes);
                self.plane_at(c, d, p)
            }
            PlacementOrder::ChannelPlaneDie => {
                let (c, p, d) = split(channels, planes, dies);
                self.plane_at(c, d, p)
            }
            PlacementOrder::DieChannelPlane => {
                let (d, c, p) = split(dies, channels, planes);
                self.plane_at(c, d, p)
            }
            PlacementOrder::DiePlaneChannel => {
                let (d, p, c) = split(dies, planes, channels);
                self.plane_at(c, d, p)
            }
            PlacementOrder::PlaneChannelDie => {
                let (p, c, d) = split(planes, channels, dies);
                self.plane_at(c, d, p)
            }
            PlacementOrder::PlaneDieChannel => {
                let (p, d, c) = split(planes, dies, channels);
                self.plane_at(c, d, p)
            }
        }
    }

    /// The plane that a logical page's unwritten content is imagined in.
    pub fn home_plane(&self, lpn: Lpn) -> PlaneId {
        self.static_plane(PlacementOrder::ChannelDiePlane, lpn.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn geometry() -> Geometry {
        Geometry::new(&DeviceSettings {
            channels: 4,
            dies: 2,
            planes: 2,
            blocks_per_plane: 8,
            pages_per_block: 4,
            ..DeviceSettings::default()
        })
    }

    #[test]
    fn every_static_order_visits_every_plane_once_per_round() {
        let g = geometry();
        for (order, name) in PlacementOrder::ALL {
            let mut seen: Vec<u32> = (0..g.planes()).map(|t| g.static_plane(*order, t).0).collect();
            seen.sort_unstable();
            assert_eq!(seen, (0..g.planes()).collect::<Vec<_>>(), "{name}");
        }
    }

    #[test]
    fn channel_first_order_moves_to_the_next_channel_each_page() {
        let g = geometry();
        let channel = |turn| g.channel_of(g.static_plane(PlacementOrder::ChannelDiePlane, turn));
        assert_eq!([0, 1, 2, 3, 4].map(channel), [0, 1, 2, 3, 0]);
        let last = Ppn(g.pages() - 1);
        assert_eq!(g.plane_of(last), PlaneId(g.planes() - 1));
        assert_eq!(g.page(g.block_of(last), g.offset_of(last)), last);
    }

    /// Four channels of two dies of two planes: die 3 has the planes 6 and 7.
    #[test]
    fn a_plane_knows_its_die_and_its_siblings() {
        let g = geometry();
        assert_eq!((g.dies(), g.planes(), g.blocks(), g.pages()), (8, 16, 128, 512));
        assert_eq!([5, 6, 7, 8].map(|plane| g.die_of(PlaneId(plane))), [2, 3, 3, 4]);
        assert_eq!([3, 4].map(|plane| g.channel_of(PlaneId(plane))), [0, 1]);
        let siblings = |plane| g.siblings(PlaneId(plane)).collect::<Vec<_>>();
        assert_eq!((siblings(6), siblings(7)), (vec![PlaneId(7)], vec![PlaneId(6)]));
        let three = Geometry::new(&DeviceSettings { planes: 3, dies: 2, ..Default::default() });
        let siblings: Vec<PlaneId> = three.siblings(PlaneId(4)).collect();
        assert_eq!(siblings, [PlaneId(3), PlaneId(5)]);
    }

    /// Pages take turns over four channels, then two dies, then two planes.
    #[test]
    fn what_was_never_written_is_imagined_channel_by_channel() {
        let g = geometry();
        let homes = [0, 1, 5, 8, 17].map(|page| g.home_plane(Lpn(page)));
        assert_eq!(homes, [0, 4, 6, 1, 4].map(PlaneId));
    }

    fn set(pairs: &[(&str, &str)]) -> Geometry {
        Geometry::new(&crate::board::for_tests::settings(pairs).device)
    }

    /// Six flash pages of three bits a cell are on two word lines; each has two units.
    #[test]
    fn a_block_has_a_flash_page_of_units_for_each_word_line_in_slc_mode() {
        let pairs = [
            ("device.pages_per_block", "6"),
            ("device.bits_per_cell", "3"),
            ("device.mapping_unit", "1024"),
        ];
        assert_eq!((set(&pairs).pages_per_block, set(&pairs).slc_pages()), (12, 4));
        assert_eq!(set(&pairs[..2]).slc_pages(), 2);
    }

    #[test]
    fn units_of_one_flash_page_stay_together() {
        let g = set(&[("device.channels", "2"), ("device.mapping_unit", "512")]);
        let channels = [0, 3, 4, 7, 8]
            .map(|turn| g.channel_of(g.static_plane(PlacementOrder::PlaneDieChannel, turn)));
        assert_eq!(channels, [0, 0, 1, 1, 0]);
    }

    /// Pages of 2 KiB have 512 entries and four sectors; 100 of them are two blocks of 64.
    #[test]
    fn sizes_follow_from_the_page() {
        let g = set(&[("device.logical_bytes", "204800")]);
        assert_eq!((g.entries_per_page(), g.sectors_per_page(), g.all_sectors()), (512, 4, 15));
        assert_eq!((g.logical_pages, g.logical_blocks()), (100, 2));
        assert_eq!(set(&[("device.logical_bytes", "262144")]).logical_blocks(), 2);
    }
}
