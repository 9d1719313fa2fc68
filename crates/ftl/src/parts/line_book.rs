//! What is known of each line: its blocks, the pages of data that it has room for, and how many it
//! holds that are valid.
//!
//! Line i is block i of every plane; where sets of planes have lines of their own, the lines of a
//! number of blocks follow one another: line i of set s of n is number i n + s. A block that is out
//! of use, or may not be written any more, makes its line shorter; a line without room is none.

use ftlab_flash::board::nand::Nand;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::units::{BlockId, Divisor, PlaneId, Ppn, zeroed};

/// The lines of a device, 12 bytes each.
#[derive(Clone, Debug)]
pub struct LineBook {
    /// Of a line.
    planes: u32,
    sets: u32,
    blocks_per_plane: u32,
    by_plane: Divisor,
    /// Pages of data that a line of good blocks holds.
    full: u32,
    valid: Vec<u32>,
    room: Vec<u32>,
    /// Room of every line that has some and is shorter, in ascending order.
    short: Vec<u32>,
}

impl LineBook {
    /// Lines of so many sets of planes, whose room nobody has told yet; a line of good blocks has
    /// room for `full` pages.
    pub fn new(nand: &Nand, full: u32, sets: u32) -> Self {
        let geometry = nand.geometry();
        let blocks_per_plane = geometry.blocks_per_plane;
        let lines = blocks_per_plane * sets;
        LineBook {
            planes: geometry.planes() / sets,
            sets,
            blocks_per_plane,
            by_plane: Divisor::new(blocks_per_plane),
            full,
            valid: zeroed(lines as usize),
            room: vec![full; lines as usize],
            short: Vec::with_capacity(lines as usize),
        }
    }

    /// How many there are.
    pub fn lines(&self) -> u32 {
        self.blocks_per_plane * self.sets
    }

    /// The set of planes that has a line.
    #[inline]
    pub fn set(&self, line: BlockId) -> u32 {
        if self.sets == 1 { 0 } else { line.0 % self.sets }
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
        let (plane, number) = self.by_plane.both(block.0);
        match self.sets {
            1 => BlockId(number),
            sets => BlockId(number * sets + plane / self.planes),
        }
    }

    /// The block of a line in a plane of its set.
    #[inline]
    pub fn block(&self, line: BlockId, plane: PlaneId) -> BlockId {
        let number = if self.sets == 1 { line.0 } else { line.0 / self.sets };
        BlockId(plane.0 * self.blocks_per_plane + number)
    }

    /// The blocks of a line, plane by plane.
    pub fn blocks(&self, line: BlockId) -> impl Iterator<Item = BlockId> + use<> {
        let first = self.set(line) * self.planes;
        let (step, number) = (self.blocks_per_plane, line.0 / self.sets);
        (first..first + self.planes).map(move |plane| BlockId(plane * step + number))
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
            // The last of equals: when a die fails, all lines shrink alike, and none moves the
            // others.
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

/// Pages of data that a line of good blocks holds, where one page of so many dies is parity (0:
/// none is).
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SharedSettings;
    use ftlab_flash::board::Board;
    use ftlab_flash::settings::Groups as _;

    /// Four planes of eight blocks, and lines of so many pages.
    fn book(full: u32, sets: u32) -> LineBook {
        let mut config = SharedSettings::default();
        config.set("device.planes", "4").expect("legal");
        let bytes = config.device.page_bytes.0;
        config.device.set_capacity(16 * bytes, 0);
        config.device.blocks_per_plane = 8;
        LineBook::new(Board::new(&config, 1, 0).nand(), full, sets)
    }

    /// Line i of set s of two is number 2 i + s, and consists of block i of the set's two planes.
    #[test]
    fn lines_of_sets_of_planes_take_turns() {
        let book = book(100, 2);
        assert_eq!(book.lines(), 16);
        for (plane, number, line) in [(0, 0, 0), (1, 0, 0), (2, 0, 1), (1, 5, 10), (3, 5, 11)] {
            let (block, line) = (BlockId(plane * 8 + number), BlockId(line));
            assert_eq!((book.line_of(block), book.set(line)), (line, plane / 2));
            assert_eq!(book.block(line, PlaneId(plane)), block);
        }
        let blocks = |line| book.blocks(BlockId(line)).map(|block| block.0).collect::<Vec<u32>>();
        assert_eq!((blocks(10), blocks(11)), (vec![5, 13], vec![21, 29]));
        let one = self::book(100, 1);
        assert_eq!(
            one.blocks(BlockId(5)).map(|block| block.0).collect::<Vec<_>>(),
            [5, 13, 21, 29]
        );
    }

    /// Lines of 16 pages, of which one has room for 10, one for 4 and one for none: pages may come
    /// to the shortest first.
    #[test]
    fn pages_take_as_many_lines_as_if_the_short_ones_came_first() {
        let mut book = book(16, 1);
        for (line, room) in [(0, 10), (1, 4), (2, 0)] {
            book.set_room(BlockId(line), room);
        }
        let lines = [0, 4, 5, 14, 15, 30, 31].map(|pages| book.lines_for(pages));
        assert_eq!(lines, [0, 1, 2, 2, 3, 3, 4]);
        book.set_room(BlockId(1), 16);
        assert_eq!([4, 10, 11, 26, 27].map(|pages| book.lines_for(pages)), [1, 1, 2, 2, 3]);
    }
}
