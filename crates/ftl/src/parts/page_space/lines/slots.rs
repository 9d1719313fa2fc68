//! Slots of lines: in which order the pages of a line are filled, what a stripe takes, and where an
//! open line stands.

use super::{Lines, Open};
use ftlab_flash::board::nand::Nand;
use ftlab_flash::board::when::When;
use ftlab_flash::units::{BlockId, PlaneId, Ppn};

impl Lines {
    pub(super) fn block(&self, line: BlockId, column: u32) -> BlockId {
        self.book.block(line, self.plane(line, column))
    }

    /// The plane of a line's column.
    fn plane(&self, line: BlockId, column: u32) -> PlaneId {
        self.columns[(self.book.set(line) * self.per_line + column) as usize]
    }

    pub(super) fn page(
        &self,
        nand: &Nand,
        line: BlockId,
        (row, column, unit): (u32, u32, u32),
    ) -> Ppn {
        nand.geometry().page(self.block(line, column), row * self.units + unit)
    }

    /// Whether the block of a line in a column takes pages.
    pub(super) fn works(&self, nand: &Nand, line: BlockId, column: u32) -> bool {
        let known = nand.state().block(self.block(line, column));
        let die = nand.geometry().die_of(self.plane(line, column));
        !known.retired && !known.read_only && self.failed != Some(die)
    }

    /// Columns of the stripe that begins with one.
    pub(super) fn stripe(&self, first: u32) -> std::ops::Range<u32> {
        first..first + self.width
    }

    /// Pages of data that a stripe takes in which so many blocks work.
    pub(super) fn data_of(&self, working: u32) -> u32 {
        let flash_pages = if self.has_parity { working.saturating_sub(1) } else { working };
        flash_pages * self.units
    }

    /// Pages of data that a row of a line takes.
    pub(super) fn row_room(&self, nand: &Nand, line: BlockId) -> u32 {
        let firsts = (0..self.per_line).step_by(self.width as usize);
        firsts.map(|first| self.stripe_room(nand, line, first)).sum()
    }

    pub(super) fn stripe_room(&self, nand: &Nand, line: BlockId, first: u32) -> u32 {
        let works = self.stripe(first).filter(|&column| self.works(nand, line, column));
        self.data_of(works.count() as u32)
    }

    /// Finds out what a line has room for.
    pub(super) fn measure(&mut self, nand: &Nand, line: BlockId) {
        let room = self.rows * self.row_room(nand, line);
        self.book.set_room(line, room);
    }

    /// Begins the stripe of the column that is stood at, or the next one that takes data.
    pub(super) fn enter_stripe(&self, nand: &Nand, line: BlockId, open: &mut Open) {
        (open.loose, open.ready) = (0, When::START);
        loop {
            if open.column >= self.per_line {
                (open.row, open.column) = (open.row + 1, 0);
            }
            if open.row >= self.rows {
                return;
            }
            if self.stripe_room(nand, line, open.column) > 0 {
                open.first = open.column;
                open.parity = self.parity_column(nand, line, (open.row, open.column));
                self.settle(nand, line, open);
                return;
            }
            open.column += self.width;
        }
    }

    /// At the first unit of a flash page: moves on to the next column of the stripe that takes data,
    /// if need be; behind the stripe when there is none.
    pub(super) fn settle(&self, nand: &Nand, line: BlockId, open: &mut Open) {
        let end = (open.column / self.width + 1) * self.width;
        while open.column < end
            && (open.parity == Some(open.column) || !self.works(nand, line, open.column))
        {
            open.column += 1;
        }
    }

    /// The slot that is stood at was programmed, or its program failed; whether its stripe is full.
    pub(super) fn pass_slot(&self, nand: &Nand, line: BlockId, open: &mut Open) -> bool {
        open.unit += 1;
        let end = (open.column / self.width + 1) * self.width;
        if open.unit >= self.units || !self.works(nand, line, open.column) {
            (open.unit, open.column) = (0, open.column + 1);
            if open.column < end {
                self.settle(nand, line, open);
            }
        }
        open.column >= end
    }

    /// Pages of data that an open line still takes; it does not stand behind a stripe.
    pub(in super::super) fn left(&self, nand: &Nand, line: BlockId, open: &Open) -> u32 {
        if open.row >= self.rows {
            return 0;
        }
        let first = open.column - open.column % self.width;
        let here = self.stripe(first).filter(|&column| {
            column >= open.column && open.parity != Some(column) && self.works(nand, line, column)
        });
        let here = here.count() as u32 * self.units - open.unit;
        let behind = (first + self.width..self.per_line).step_by(self.width as usize);
        let behind: u32 = behind.map(|first| self.stripe_room(nand, line, first)).sum();
        here + behind + (self.rows - open.row - 1) * self.row_room(nand, line)
    }

    /// The slot that a number of a line's slots stands for, in the order in which they are filled.
    pub(super) fn slot(&self, nand: &Nand, line: BlockId, number: u32) -> Ppn {
        let (flash_page, unit) = (number / self.units, number % self.units);
        let columns = self.per_line;
        self.page(nand, line, (flash_page / columns, flash_page % columns, unit))
    }

    /// The next valid page of a line, from a slot on; that is moved behind the page.
    pub(in super::super) fn next_valid(
        &self,
        nand: &Nand,
        line: BlockId,
        from: &mut u32,
    ) -> Option<Ppn> {
        let slots = self.rows * self.units * self.per_line;
        while *from < slots {
            let page = self.slot(nand, line, *from);
            *from += 1;
            if nand.state().is_valid(page) {
                return Some(page);
            }
        }
        None
    }
}
