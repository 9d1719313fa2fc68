//! Models of where pages lie: eight lines for each translation page, learned by least squares of
//! whole numbers, and a bit for each page whose place they say exactly.
//!
//! A place is its number in the order in which lines are filled (VPPN): neighbours there lie on
//! different dies. What is predicted is never compared with the map: a bit is set when a page was
//! found to be where the model says, and cleared by whatever moves or changes it.

use ftlab_flash::board::nand::geometry::{Geometry, PlacementOrder};
use ftlab_flash::units::{BlockId, Lpn, PlaneId, Ppn, zeroed};
use ftlab_ftl::parts::translation::Translation;

/// Pieces of a model.
pub const PIECES: usize = 8;
/// Bits behind the point of slopes and intercepts.
const POINT: u32 = 15;
const ONE: i64 = 1 << POINT;
/// Bytes of a piece: last place and slope, 2 each, intercept in 48 bits.
const PIECE_BYTES: u64 = 10;

/// The order in which lines are filled.
#[derive(Clone, Debug)]
pub struct VirtualOrder {
    geometry: Geometry,
    /// Planes in the order in which they take flash pages, and the place of each.
    columns: Vec<PlaneId>,
    place_of: Vec<u32>,
    slots: u32,
}

impl VirtualOrder {
    /// That of a device whose planes take turns like this.
    pub fn new(geometry: &Geometry, order: PlacementOrder) -> Self {
        let (planes, units) = (geometry.planes(), geometry.units_per_flash_page);
        let columns: Vec<PlaneId> =
            (0..planes).map(|turn| geometry.static_plane(order, turn * units)).collect();
        let mut place_of = vec![0; planes as usize];
        for (place, plane) in columns.iter().enumerate() {
            place_of[plane.index()] = place as u32;
        }
        let slots = planes * geometry.pages_per_block;
        VirtualOrder { geometry: geometry.clone(), columns, place_of, slots }
    }

    /// The number of a page.
    pub fn number(&self, page: Ppn) -> u32 {
        let geometry = &self.geometry;
        let (block, units) = (geometry.block_of(page), geometry.units_per_flash_page);
        let plane = geometry.plane_of_block(block);
        let line = block.0 - geometry.blocks_of(plane).start;
        let offset = geometry.offset_of(page);
        let row = offset / units * self.columns.len() as u32 + self.place_of[plane.index()];
        line * self.slots + row * units + offset % units
    }

    /// The page of a number; none beyond the device.
    pub fn page(&self, number: i64) -> Option<Ppn> {
        let geometry = &self.geometry;
        let units = geometry.units_per_flash_page;
        let number = u32::try_from(number).ok()?;
        let (line, slot) = (number / self.slots, number % self.slots);
        let (flash_page, columns) = (slot / units, self.columns.len() as u32);
        let plane = self.columns[(flash_page % columns) as usize];
        let blocks = geometry.blocks_of(plane);
        let block = Some(blocks.start + line).filter(|block| blocks.contains(block))?;
        Some(geometry.page(BlockId(block), flash_page / columns * units + slot % units))
    }
}

/// A line through places, up to the last one that it is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, zerocopy::FromZeros)]
pub struct Piece {
    /// The last place in the translation page.
    last: u16,
    /// Numbers a place, below 2.
    slope: u16,
    /// The number of place 0.
    intercept: i64,
}

impl Piece {
    /// Least squares of places and numbers, of which there is one at least; on every machine the
    /// same.
    fn through(points: &[(u32, u32)]) -> Self {
        let count = points.len() as i128;
        let sum = |of: fn(i128, i128) -> i128| -> i128 {
            points.iter().map(|&(x, y)| of(i128::from(x), i128::from(y))).sum()
        };
        let (x, y, xx, xy) = (sum(|x, _| x), sum(|_, y| y), sum(|x, _| x * x), sum(|x, y| x * y));
        let below = count * xx - x * x;
        let above = (count * xy - x * y) << POINT;
        let slope = if below == 0 { 0 } else { nearest(above, below) };
        let slope = slope.clamp(0, i128::from(u16::MAX));
        let intercept = nearest((y << POINT) - slope * x, count);
        let last = points.last().map_or(0, |point| point.0) as u16;
        Piece { last, slope: slope as u16, intercept: intercept as i64 }
    }

    /// The number of a place.
    fn predict(&self, place: u32) -> i64 {
        (i64::from(self.slope) * i64::from(place) + self.intercept + ONE / 2) >> POINT
    }
}

/// A quotient, rounded to the nearest whole number, halves up.
fn nearest(above: i128, below: i128) -> i128 {
    (2 * above + below).div_euclid(2 * below)
}

/// Pages of one request that were written in a row.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    lpn: u32,
    number: u32,
    pages: u32,
}

impl Row {
    fn has(&self, lpn: u32) -> bool {
        (self.lpn..self.lpn + self.pages).contains(&lpn)
    }
}

/// What training or a row of pages has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Learned {
    /// Models, or pieces of one.
    pub models: u32,
    /// Pages that they say the place of.
    pub exact: u32,
}

/// The models of all translation pages.
#[derive(Clone, Debug)]
pub struct Models {
    order: VirtualOrder,
    entries: u32,
    logical_pages: u32,
    train_min: u32,
    pieces: Vec<[Piece; PIECES]>,
    /// A bit for each logical page.
    exact: Vec<u64>,
    count: u64,
    /// Pages of each translation page that are written and not trimmed.
    pub mapped: Vec<u32>,
    /// Pages that a collection has moved, and their numbers; no more than a translation page has.
    moved: Vec<(u32, u32)>,
    row: Row,
}

impl Models {
    /// Nothing is known.
    pub fn new(geometry: &Geometry, order: PlacementOrder, train_min: u32) -> Self {
        let parts = Translation::pages(geometry) as usize;
        let entries = geometry.entries_per_page();
        Models {
            order: VirtualOrder::new(geometry, order),
            entries,
            logical_pages: geometry.logical_pages,
            train_min,
            pieces: zeroed(parts),
            exact: zeroed(geometry.logical_pages.div_ceil(u64::BITS) as usize),
            count: 0,
            mapped: zeroed(parts),
            moved: Vec::with_capacity(entries as usize),
            row: Row::default(),
        }
    }

    /// Bytes of memory: of each translation page its pieces, a count, and a bit for each entry.
    pub fn bytes(geometry: &Geometry) -> u64 {
        let entries = u64::from(geometry.entries_per_page());
        let one = entries.div_ceil(8) + PIECES as u64 * PIECE_BYTES + 4;
        u64::from(Translation::pages(geometry)) * one
    }

    /// Pages whose place is known.
    pub fn count(&self) -> u64 {
        self.count
    }

    fn is_exact(&self, lpn: u32) -> bool {
        self.exact[(lpn / u64::BITS) as usize] >> (lpn % u64::BITS) & 1 == 1
    }

    fn set(&mut self, lpn: u32) {
        self.count += u64::from(!self.is_exact(lpn));
        self.exact[(lpn / u64::BITS) as usize] |= 1 << (lpn % u64::BITS);
    }

    /// Nobody knows any more where a page is, nor is a row that it was written in of any use: what
    /// is to be written of its request may come late, or never.
    #[inline]
    pub fn clear(&mut self, lpn: Lpn) {
        if self.row.has(lpn.0) {
            self.row = Row::default();
        }
        self.count -= u64::from(self.is_exact(lpn.0));
        self.exact[(lpn.0 / u64::BITS) as usize] &= !(1 << (lpn.0 % u64::BITS));
    }

    /// All bits are cleared.
    pub fn forget(&mut self) {
        self.exact.fill(0);
        (self.count, self.row) = (0, Row::default());
        self.moved.clear();
    }

    fn number_of(&self, lpn: u32) -> i64 {
        let (part, place) = (lpn / self.entries, lpn % self.entries);
        let pieces = &self.pieces[part as usize];
        let piece = pieces.iter().find(|piece| place <= u32::from(piece.last));
        piece.unwrap_or(&pieces[PIECES - 1]).predict(place)
    }

    /// Where a page is, if its model says.
    #[inline]
    pub fn predict(&self, lpn: Lpn) -> Option<Ppn> {
        if !self.is_exact(lpn.0) {
            return None;
        }
        let page = self.order.page(self.number_of(lpn.0));
        Some(page.expect("a bit is set for what was found in its place"))
    }

    /// A collection moved a page.
    pub fn page_moved(&mut self, lpn: Lpn, new: Ppn) {
        self.clear(lpn);
        self.row = Row::default();
        if self.moved.len() < self.entries as usize {
            self.moved.push((lpn.0, self.order.number(new)));
        }
    }

    /// Pages that moved in no order are no model.
    pub fn drop_moved(&mut self) {
        self.moved.clear();
    }

    /// The pages of a translation page have moved in their order: enough of them make its model.
    pub fn train(&mut self) -> Learned {
        let mut moved = std::mem::take(&mut self.moved);
        let learned = match moved.len() as u64 > u64::from(self.train_min) {
            true => self.train_with(&mut moved),
            false => Learned::default(),
        };
        moved.clear();
        self.moved = moved;
        learned
    }

    fn train_with(&mut self, moved: &mut [(u32, u32)]) -> Learned {
        let part = moved[0].0 / self.entries;
        let first = part * self.entries;
        for lpn in first..(first + self.entries).min(self.logical_pages) {
            self.clear(Lpn(lpn));
        }
        moved.iter_mut().for_each(|(lpn, _)| *lpn -= first);
        let count = moved.len();
        let runs = if count <= PIECES { 1 } else { PIECES };
        let mut pieces = [Piece::default(); PIECES];
        for run in 0..PIECES {
            pieces[run] = match run < runs {
                // Sizes of runs differ by one at most.
                true => Piece::through(&moved[run * count / runs..(run + 1) * count / runs]),
                false => pieces[run - 1],
            };
        }
        pieces[PIECES - 1].last = (self.entries - 1) as u16;
        pieces[runs - 1].last = (self.entries - 1) as u16;
        self.pieces[part as usize] = pieces;
        let mut exact = 0;
        for &(place, number) in moved.iter() {
            if self.number_of(first + place) == i64::from(number) {
                self.set(first + place);
                exact += 1;
            }
        }
        Learned { models: 1, exact }
    }

    /// The host wrote a page, of a request's the `index`-th of so many, to a line of its own group;
    /// `None`: to another one.
    pub fn page_written(
        &mut self,
        lpn: Lpn,
        at: Option<Ppn>,
        (index, pages): (u32, u32),
    ) -> Learned {
        let mut learned = Learned::default();
        let number = at.map(|page| self.order.number(page));
        let row = self.row;
        let goes_on = index > 0
            && row.pages > 0
            && lpn.0 == row.lpn + row.pages
            && number == Some(row.number + row.pages)
            && lpn.0 / self.entries == row.lpn / self.entries;
        if goes_on {
            self.row.pages += 1;
        } else {
            learned = self.end_row();
            self.row = number.map_or(Row::default(), |number| Row { lpn: lpn.0, number, pages: 1 });
        }
        if index + 1 == pages {
            let last = self.end_row();
            learned.models += last.models;
            learned.exact += last.exact;
        }
        learned
    }

    /// A row has ended: where it has more pages than a piece knows, it replaces that piece.
    fn end_row(&mut self) -> Learned {
        let Row { lpn, number, pages } = std::mem::take(&mut self.row);
        let mut learned = Learned::default();
        if pages < 2 {
            return learned;
        }
        let (part, first) = (lpn / self.entries, lpn - lpn % self.entries);
        let is_new = |pieces: &[Piece; PIECES]| pieces[PIECES - 1].last == 0;
        if is_new(&self.pieces[part as usize]) {
            for (turn, piece) in self.pieces[part as usize].iter_mut().enumerate() {
                let end = (turn as u32 + 1) * self.entries / PIECES as u32;
                piece.last = end.saturating_sub(1) as u16;
            }
        }
        let mut begin = first;
        for turn in 0..PIECES {
            let end = first + u32::from(self.pieces[part as usize][turn].last) + 1;
            let end = end.min(self.logical_pages);
            let (from, to) = (lpn.max(begin), (lpn + pages).min(end));
            let known = (begin..end).filter(|&lpn| self.is_exact(lpn)).count() as u32;
            if from < to && to - from > known {
                (begin..end).for_each(|lpn| self.clear(Lpn(lpn)));
                let offset = i64::from(number) - i64::from(lpn - first);
                let piece = &mut self.pieces[part as usize][turn];
                (piece.slope, piece.intercept) = (ONE as u16, offset << POINT);
                (from..to).for_each(|lpn| self.set(lpn));
                learned.models += 1;
                learned.exact += to - from;
            }
            begin = begin.max(end);
        }
        learned
    }

    /// Whether every bit is true, by what the map says, and they are counted right.
    ///
    /// # Errors
    /// Says which is not.
    pub fn check(&self, place: impl Fn(Lpn) -> Option<Ppn>) -> Result<(), String> {
        let mut count = 0;
        for lpn in (0..self.logical_pages).filter(|&lpn| self.is_exact(lpn)) {
            count += 1;
            let (said, is) = (self.order.page(self.number_of(lpn)), place(Lpn(lpn)));
            if said != is {
                return Err(format!("page {lpn} is at {is:?}, its model says {said:?}"));
            }
        }
        if count != self.count {
            return Err(format!("{} pages count as modelled, {count} are", self.count));
        }
        for (part, &mapped) in self.mapped.iter().enumerate() {
            let first = part as u32 * self.entries;
            let lpns = first..(first + self.entries).min(self.logical_pages);
            let found = lpns.filter(|&lpn| place(Lpn(lpn)).is_some()).count() as u32;
            if mapped != found {
                return Err(format!("translation page {part} counts {mapped} pages, has {found}"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
