//! Pages on flash of which the GMT must be told, and per block the distinct GMT pages that they
//! belong to, which is what a conversion of the block costs.
//!
//! A block with such pages has a small table of GMT pages with a count each, so that to note a page
//! or to forget it looks at one place, whatever the block holds. What this is not: the entries.

use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::units::{BlockId, Ppn, pack, unpack, zeroed};
use std::ops::Range;
use zerocopy::FromZeros;

/// Pages of a block that belong to one GMT page.
#[derive(Clone, Copy, Debug, Default, FromZeros)]
struct Count {
    /// The GMT page plus one; 0 in a place that nobody has taken.
    part: u32,
    pages: u32,
}

/// What is known of a block, in one place of memory.
#[derive(Clone, Copy, Debug, FromZeros)]
struct Block {
    /// Different GMT pages that must be told of its pages.
    distinct: u32,
    /// Its table plus one, if there are such GMT pages.
    table: u32,
}

/// What the GMT does not know yet, by place on flash.
#[derive(Clone, Debug)]
pub struct Untold {
    /// Per physical page: the GMT page, plus one, that must be told of it; 0 for none.
    part_at: Vec<u32>,
    blocks: Vec<Block>,
    /// The tables, one after another. A GMT page stays in its block's table when its count is 0
    /// again, and the table is cleared with its last page: no more than the pages of a block come
    /// in until then, which is half of its places.
    tables: Vec<Count>,
    /// Tables that had a block and are free again.
    free: Vec<u32>,
    /// Tables that ever had one.
    used: u32,
    /// Logarithm of a table's places.
    places_log: u32,
    pages_per_block: u32,
}

impl Untold {
    /// None, of no more than so many pages at a time.
    pub fn new(geometry: &Geometry, pages: u32) -> Self {
        let places = (2 * geometry.pages_per_block).next_power_of_two();
        let tables = pages.min(geometry.blocks()) as usize;
        Untold {
            part_at: zeroed(geometry.pages() as usize),
            blocks: zeroed(geometry.blocks() as usize),
            tables: zeroed(tables * places as usize),
            free: Vec::with_capacity(tables),
            used: 0,
            places_log: places.trailing_zeros(),
            pages_per_block: geometry.pages_per_block,
        }
    }

    #[inline]
    fn block_of(&self, ppn: Ppn) -> BlockId {
        BlockId(ppn.0 / self.pages_per_block)
    }

    fn pages_of(&self, block: BlockId) -> Range<usize> {
        let first = block.index() * self.pages_per_block as usize;
        first..first + self.pages_per_block as usize
    }

    fn table(&self, number: u32) -> Range<usize> {
        let first = (number as usize) << self.places_log;
        first..first + (1 << self.places_log)
    }

    /// The count of a GMT page in a block's table: its place, or the one that it takes.
    #[inline]
    fn count(&mut self, table: u32, part: u32) -> &mut Count {
        let range = self.table(table);
        let counts = &mut self.tables[range];
        let mask = counts.len() - 1;
        // Fibonacci hashing: neighbours are far apart.
        let mut place = (part.wrapping_mul(0x9E37_79B1) >> (32 - self.places_log)) as usize;
        while counts[place].part != part && counts[place].part != 0 {
            place = (place + 1) & mask;
        }
        &mut counts[place]
    }

    /// The GMT page must be told of a page.
    #[inline]
    pub fn note(&mut self, ppn: Ppn, part: u32) {
        let block = self.block_of(ppn);
        let table = match unpack(self.blocks[block.index()].table) {
            Some(table) => table,
            None => self.take_table(block),
        };
        let count = self.count(table, part + 1);
        let is_new = count.pages == 0;
        *count = Count { part: part + 1, pages: count.pages + 1 };
        self.blocks[block.index()].distinct += u32::from(is_new);
        self.part_at[ppn.index()] = part + 1;
    }

    /// It knows, or nobody needs to know any more.
    #[inline]
    pub fn forget(&mut self, ppn: Ppn) {
        let part = std::mem::take(&mut self.part_at[ppn.index()]);
        if part == 0 {
            return;
        }
        let block = self.block_of(ppn);
        let table = self.blocks[block.index()].table - 1;
        let count = self.count(table, part);
        count.pages -= 1;
        if count.pages == 0 {
            let known = &mut self.blocks[block.index()];
            known.distinct -= 1;
            if known.distinct == 0 {
                self.give_back_table(block);
            }
        }
    }

    #[cold]
    fn take_table(&mut self, block: BlockId) -> u32 {
        let table = self.free.pop().unwrap_or(self.used);
        self.used = self.used.max(table + 1);
        self.blocks[block.index()].table = pack(Some(table));
        table
    }

    #[cold]
    fn give_back_table(&mut self, block: BlockId) {
        let table = std::mem::take(&mut self.blocks[block.index()].table) - 1;
        let range = self.table(table);
        self.tables[range].fill(Count::default());
        self.free.push(table);
    }

    /// The GMT page that must be told of a page.
    pub fn part_at(&self, ppn: Ppn) -> Option<u32> {
        unpack(self.part_at[ppn.index()])
    }

    /// The GMT page that must be told of the first such page of a block.
    pub fn part_in(&self, block: BlockId) -> Option<u32> {
        self.parts_in(block).next()
    }

    /// The GMT pages that must be told of pages of a block, once for each of these.
    pub fn parts_in(&self, block: BlockId) -> impl Iterator<Item = u32> + '_ {
        self.part_at[self.pages_of(block)].iter().filter_map(|&part| unpack(part))
    }

    /// How many different ones those are.
    #[inline]
    pub fn distinct(&self, block: BlockId) -> u32 {
        self.blocks[block.index()].distinct
    }

    /// Blocks with such pages, in order.
    pub fn blocks(&self) -> impl Iterator<Item = BlockId> + '_ {
        let blocks = (0..self.blocks.len() as u32).map(BlockId);
        blocks.filter(|&block| self.distinct(block) > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_flash::board::settings::BoardSettings;
    use ftlab_flash::rng::{Purpose, Rng};
    use std::collections::{BTreeMap, BTreeSet};

    /// Against a plain map of noted pages; blocks lose their last page and begin again.
    #[test]
    fn a_block_counts_each_gmt_page_once() {
        let mut config = BoardSettings::default();
        config.device.pages_per_block = 16;
        config.device.blocks_per_plane = 80;
        let geometry = Geometry::new(&config.device);
        let mut untold = Untold::new(&geometry, 48);
        let mut model: BTreeMap<u32, u32> = BTreeMap::new();
        let mut rng = Rng::new(3, Purpose::Workload);
        // A page belongs to one GMT page until its block is erased.
        let mut belongs: BTreeMap<u32, u32> = BTreeMap::new();
        for _ in 0..20_000 {
            let page = rng.below(3 * 16);
            let block = page / 16;
            if model.remove(&page).is_some() {
                untold.forget(Ppn(page));
                if !model.keys().any(|other| other / 16 == block) {
                    belongs.retain(|other, _| other / 16 != block);
                }
            } else {
                untold.forget(Ppn(page));
                let part = *belongs.entry(page).or_insert_with(|| rng.below(9) * 1000);
                untold.note(Ppn(page), part);
                model.insert(page, part);
            }
            let of = |block: u32| model.range(block * 16..(block + 1) * 16).map(|(_, &part)| part);
            let blocks: Vec<u32> = (0..3).filter(|&block| of(block).next().is_some()).collect();
            assert_eq!(untold.blocks().map(|block| block.0).collect::<Vec<_>>(), blocks);
            let parts: BTreeSet<u32> = of(block).collect();
            assert_eq!(untold.distinct(BlockId(block)), parts.len() as u32);
            assert_eq!(untold.part_in(BlockId(block)), of(block).next());
            assert!(untold.parts_in(BlockId(block)).eq(of(block)));
            assert_eq!(untold.part_at(Ppn(page)), model.get(&page).copied());
        }
    }
}
