//! What is known of each line: its blocks, the pages of data that it has room for, and how many it
//! holds that are valid.
//!
//! Line i is block i of every plane. A block that is out of use, or may not be written any more,
//! makes its line shorter; a line without room is none.

use ftlab_flash::board::nand::Nand;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::units::{BlockId, Divisor, PlaneId, Ppn, zeroed};

/// The lines of a device, 12 bytes each.
#[derive(Clone, Debug)]
pub struct LineBook {
    planes: u32,
    lines: u32,
    by_plane: Divisor,
    /// Pages of data that a line of good blocks holds.
    full: u32,
    valid: Vec<u32>,
    room: Vec<u32>,
    /// Room of every line that has some and is shorter, in ascending order.
    short: Vec<u32>,
}

impl LineBook {
    /// Lines whose room nobody has told yet; a line of good blocks has room for `full` pages.
    pub fn new(nand: &Nand, full: u32) -> Self {
        let geometry = nand.geometry();
        let lines = geometry.blocks_per_plane;
        LineBook {
            planes: geometry.planes(),
            lines,
            by_plane: Divisor::new(lines),
            full,
            valid: zeroed(lines as usize),
            room: vec![full; lines as usize],
            short: Vec::with_capacity(lines as usize),
        }
    }

    /// How many there are.
    pub fn lines(&self) -> u32 {
        self.lines
    }

    /// Pages of data that a line of good blocks holds.
    #[inline]
    pub fn full(&self) -> u32 {
        self.full
    }

    /// Valid pages of a line.
    #[inline]
    pub fn valid(&self, line: BlockId) -> u32 {
        self.valid[line.index()]
    }

    /// Pages of data that a line holds, or would if it were written anew.
    #[inline]
    pub fn room(&self, line: BlockId) -> u32 {
        self.room[line.index()]
    }

    /// Pages of a full line that collecting this one does not gain: valid ones, and those that it
    /// has no room for.
    #[inline]
    pub fn taken(&self, line: BlockId) -> u32 {
        (self.full - self.room(line) + self.valid(line)).min(self.full)
    }

    /// The line of a block.
    #[inline]
    pub fn line_of(&self, block: BlockId) -> BlockId {
        BlockId(self.by_plane.both(block.0).1)
    }

    /// The block of a line in a plane.
    #[inline]
    pub fn block(&self, line: BlockId, plane: PlaneId) -> BlockId {
        BlockId(plane.0 * self.lines + line.0)
    }

    /// The blocks of a line, plane by plane.
    pub fn blocks(&self, line: BlockId) -> impl Iterator<Item = BlockId> + use<> {
        let lines = self.lines;
        (0..self.planes).map(move |plane| BlockId(plane * lines + line.0))
    }

    /// Every valid page of a line, block by block.
    pub fn valid_pages<'a>(
        &self,
        nand: &'a Nand,
        line: BlockId,
    ) -> impl Iterator<Item = Ppn> + use<'a> {
        self.blocks(line).flat_map(move |block| valid_in(nand, block))
    }

    /// A page of a line is valid from now on.
    #[inline]
    pub fn gains(&mut self, line: BlockId) {
        self.valid[line.index()] += 1;
    }

    /// A page of a line is not valid any more; what is taken of the line then.
    #[inline]
    pub fn loses(&mut self, line: BlockId) -> u32 {
        self.valid[line.index()] -= 1;
        self.taken(line)
    }

    /// So many valid pages were found in a line.
    pub fn found(&mut self, line: BlockId, valid: u32) {
        self.valid[line.index()] = valid;
    }

    /// A line has room for so many pages.
    pub fn set_room(&mut self, line: BlockId, room: u32) {
        let before = std::mem::replace(&mut self.room[line.index()], room);
        if before == room {
            return;
        }
        let is_short = |room: u32| 0 < room && room < self.full;
        if is_short(before) {
            // The last of equals: when a die fails, all lines shrink alike, and none moves the others.
            let place = self.short.partition_point(|&other| other <= before) - 1;
            self.short.remove(place);
        }
        if is_short(room) {
            let place = self.short.partition_point(|&other| other <= room);
            self.short.insert(place, room);
        }
    }

    /// Lines that so many pages take at most, whichever they are.
    pub fn lines_for(&self, pages: u32) -> u32 {
        let (mut lines, mut left) = (0, pages);
        for &room in &self.short {
            if left == 0 {
                return lines;
            }
            (lines, left) = (lines + 1, left.saturating_sub(room));
        }
        lines + left.div_ceil(self.full)
    }
}

/// Pages of data that a line of good blocks holds, where one page of so many dies is parity (0: none
/// is).
pub fn full_line(geometry: &Geometry, stripe: u32) -> u32 {
    let planes = geometry.planes();
    let columns = planes - planes.checked_div(stripe).unwrap_or(0);
    columns * geometry.pages_per_block
}

/// Every valid page of a block.
pub fn valid_in(nand: &Nand, block: BlockId) -> impl Iterator<Item = Ppn> {
    let after = move |page: Ppn| {
        let next = nand.geometry().offset_of(page) + 1;
        nand.state().next_valid(block, next)
    };
    std::iter::successors(nand.state().next_valid(block, 0), move |&page| after(page))
}
