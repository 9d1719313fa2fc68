//! The block map: one physical block per logical block, page offset fixed, and the rule for
//! writing a page straight to its place.
//!
//! A page of a data block holds the newest version exactly while it is marked valid; every newer
//! copy elsewhere invalidates it.

use crate::settings::SharedSettings;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::Nand;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::nand::state::OobRead;
use ftlab_flash::board::settings::ProgramOrder;
use ftlab_flash::units::{BlockId, Lpn, PlaneId, Ppn, pack, unpack, zeroed};

/// Logical block number, `0 .. logical blocks`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lbn(pub u32);

impl Lbn {
    /// The number as an array index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The page at `offset` of this block.
    #[inline]
    pub fn page(self, geometry: &Geometry, offset: u32) -> Lpn {
        Lpn(self.0 * geometry.pages_per_block + offset)
    }

    /// The pages of this block; those of the last one may be cut short.
    #[inline]
    pub fn pages(self, geometry: &Geometry) -> std::ops::Range<u32> {
        let first = self.0 * geometry.pages_per_block;
        first..(first + geometry.pages_per_block).min(geometry.logical_pages)
    }

    /// The block of a page, and the page's offset in it.
    #[inline]
    pub fn of(geometry: &Geometry, lpn: Lpn) -> (Lbn, u32) {
        let pages = geometry.pages_per_block;
        (Lbn(lpn.0 / pages), lpn.0 % pages)
    }

    /// The plane that holds its data block: logical block i lives in plane i mod planes.
    #[inline]
    pub fn plane(self, geometry: &Geometry) -> PlaneId {
        PlaneId(self.0 % geometry.planes())
    }
}

/// Whether the flash would accept a program of `ppn` now: what the gate's law demands, asked
/// beforehand so that a write can go elsewhere.
#[inline]
pub fn accepts(nand: &Nand, order: ProgramOrder, ppn: Ppn) -> bool {
    let block = nand.state().block(nand.geometry().block_of(ppn));
    nand.state().is_free(ppn)
        && !(block.read_only || block.retired || block.undefined)
        && in_order(order, nand.geometry().offset_of(ppn), block.top)
}

/// Whether `offset` may be programmed in a block that is written up to `top`.
#[inline]
pub fn in_order(order: ProgramOrder, offset: u32, top: u32) -> bool {
    match order {
        ProgramOrder::Off => true,
        ProgramOrder::AscendingGapsOk => offset >= top,
        ProgramOrder::Strict => offset == top,
    }
}

/// The order that is left to keep where gaps are filled with pads.
#[inline]
pub fn padded(order: ProgramOrder) -> ProgramOrder {
    match order {
        ProgramOrder::Strict => ProgramOrder::AscendingGapsOk,
        other => other,
    }
}

/// The page at an offset of a data block, if there is one and it holds the newest version.
#[inline]
pub fn newest_in(nand: &Nand, block: Option<BlockId>, offset: u32) -> Option<Ppn> {
    let block = block?;
    nand.state().is_valid_at(block, offset).then(|| nand.geometry().page(block, offset))
}

/// The block in which every page of a logical block lies that is anywhere by `entry`, each at its
/// offset.
pub fn home_of(
    geometry: &Geometry,
    lbn: Lbn,
    entry: impl Fn(Lpn) -> Option<Ppn>,
) -> Option<BlockId> {
    let mut home = None;
    for lpn in lbn.pages(geometry).map(Lpn) {
        let Some(ppn) = entry(lpn) else { continue };
        let (here, (_, offset)) = (geometry.block_of(ppn), Lbn::of(geometry, lpn));
        if geometry.offset_of(ppn) != offset || *home.get_or_insert(here) != here {
            return None;
        }
    }
    home
}

/// The logical block of a page of host data.
pub fn lbn_of_page(board: &Board, ppn: Ppn) -> Lbn {
    Lbn::of(board.geometry(), lpn_of_page(board, ppn)).0
}

/// The logical page that a page of host data holds.
pub fn lpn_of_page(board: &Board, ppn: Ppn) -> Lpn {
    match board.nand().state().oob(ppn) {
        OobRead::Written(oob) => Lpn(oob.logical),
        other => unreachable!("page {ppn} is valid but holds {other:?}"),
    }
}

/// The block map.
#[derive(Clone, Debug)]
pub struct DataBlocks {
    /// Physical block of each logical block, plus one.
    table: Vec<u32>,
    order: ProgramOrder,
}

impl DataBlocks {
    /// Nothing mapped.
    pub fn new(geometry: &Geometry, config: &SharedSettings) -> Self {
        DataBlocks {
            table: zeroed(geometry.logical_blocks() as usize),
            order: config.nand.enforce_order,
        }
    }

    /// RAM of the table: 4 bytes per logical block.
    pub fn ram_bytes(geometry: &Geometry) -> u64 {
        u64::from(geometry.logical_blocks()) * 4
    }

    /// In what order pages of a block may be programmed.
    #[inline]
    pub fn order(&self) -> ProgramOrder {
        self.order
    }

    /// Logical blocks that have a data block.
    pub fn len(&self) -> u32 {
        self.table.iter().filter(|&&entry| entry != 0).count() as u32
    }

    /// Whether none has.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The data block of a logical block.
    #[inline]
    pub fn block(&self, lbn: Lbn) -> Option<BlockId> {
        unpack(self.table[lbn.index()]).map(BlockId)
    }

    /// Maps a logical block; returns the data block that it had. Schemes with a merge engine call
    /// `MergeEngine::map_block`, so that levelling knows.
    pub fn replace(&mut self, lbn: Lbn, block: BlockId) -> Option<BlockId> {
        let old = self.block(lbn);
        self.table[lbn.index()] = pack(Some(block.0));
        old
    }

    /// The data page of a logical page, whatever it holds.
    #[inline]
    pub fn page(&self, geometry: &Geometry, lpn: Lpn) -> Option<Ppn> {
        let (lbn, offset) = Lbn::of(geometry, lpn);
        self.block(lbn).map(|block| geometry.page(block, offset))
    }

    /// The data page of a logical page, if it holds the newest version.
    #[inline]
    pub fn newest(&self, nand: &Nand, lpn: Lpn) -> Option<Ppn> {
        let (lbn, offset) = Lbn::of(nand.geometry(), lpn);
        newest_in(nand, self.block(lbn), offset)
    }

    /// Whether a page can be written straight to its place: the data page is erased, or there is
    /// no data block yet, and the device's program order allows it.
    #[inline]
    pub fn takes_in_place(&self, nand: &Nand, lpn: Lpn) -> bool {
        let (lbn, offset) = Lbn::of(nand.geometry(), lpn);
        match self.block(lbn) {
            None => in_order(self.order, offset, 0),
            Some(block) => accepts(nand, self.order, nand.geometry().page(block, offset)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_holds_every_page_there_is_at_its_offset() {
        let mut config = SharedSettings::default();
        config.device.pages_per_block = 4;
        config.device.blocks_per_plane = 80;
        let geometry = Geometry::new(&config.device);
        let home = |pages: [Option<u32>; 4]| {
            let entry = |lpn: Lpn| pages[lpn.index() - 8].map(Ppn);
            home_of(&geometry, Lbn(2), entry)
        };
        assert_eq!(home([None; 4]), None, "nowhere");
        assert_eq!(home([Some(20), None, None, Some(23)]), Some(BlockId(5)));
        assert_eq!(home([Some(20), None, None, Some(22)]), None, "not at its offset");
        assert_eq!(home([Some(20), Some(25), None, None]), None, "two blocks");
    }
}
