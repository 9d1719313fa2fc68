//! Logical blocks whose pages lie in one block each, every page at its offset, beside a map of
//! pages on flash: which they are, a bit each, and a cache of where they are and which of their
//! pages are there, in order of use. Entries never differ from what the page map on flash says.
//!
//! What this is not: the map. Whether a logical block lies like that is its owner's to find out.

use crate::parts::data_blocks::Lbn;
use crate::parts::slots::Slot;
use crate::parts::slots::slab::Slab;
use crate::parts::slots::slot_list::SlotLists;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::when::When;
use ftlab_flash::units::{BlockId, Lpn, Ppn, pack, unpack, zeroed};

#[derive(Clone, Copy, Debug)]
struct Entry {
    lbn: u32,
    block: BlockId,
    ready: When,
}

/// Block-mapped logical blocks.
#[derive(Clone, Debug)]
pub struct MappedBlocks {
    /// A bit per logical block that is block-mapped.
    mapped: Vec<u64>,
    count: u32,
    /// Slot of each logical block in the cache, plus one.
    slot_of: Vec<u32>,
    entries: Slab<Entry>,
    /// A bit per page of each slot's block that is there.
    there: Vec<u64>,
    order: SlotLists<1>,
    capacity: u32,
    pages_per_block: u32,
    logical_pages: u32,
}

impl MappedBlocks {
    /// None block-mapped; the cache takes `capacity` entries.
    pub fn new(geometry: &Geometry, capacity: u32) -> Self {
        let blocks = geometry.logical_blocks() as usize;
        let words = (geometry.pages_per_block as usize).div_ceil(64);
        MappedBlocks {
            mapped: zeroed(blocks.div_ceil(64)),
            count: 0,
            slot_of: zeroed(blocks),
            entries: Slab::new(capacity),
            there: zeroed(words * capacity as usize),
            order: SlotLists::new(capacity),
            capacity,
            pages_per_block: geometry.pages_per_block,
            logical_pages: geometry.logical_pages,
        }
    }

    /// Logical pages that are block-mapped. The last logical block may be cut short.
    pub fn pages(&self) -> u64 {
        let all = u64::from(self.count) * u64::from(self.pages_per_block);
        let (last, rest) =
            (self.logical_pages / self.pages_per_block, self.logical_pages % self.pages_per_block);
        let is_short = rest > 0 && self.is_mapped(Lbn(last));
        all - u64::from(is_short) * u64::from(self.pages_per_block - rest)
    }

    /// Whether one is.
    #[inline]
    pub fn is_mapped(&self, lbn: Lbn) -> bool {
        self.mapped[lbn.index() / 64] & (1 << (lbn.0 % 64)) != 0
    }

    /// It is from now on.
    pub fn map(&mut self, lbn: Lbn) {
        assert!(!self.is_mapped(lbn));
        self.mapped[lbn.index() / 64] |= 1 << (lbn.0 % 64);
        self.count += 1;
    }

    /// It is no more; the cache must not hold it.
    pub fn unmap(&mut self, lbn: Lbn) {
        assert!(self.is_mapped(lbn) && self.find(lbn).is_none());
        self.mapped[lbn.index() / 64] &= !(1 << (lbn.0 % 64));
        self.count -= 1;
    }

    fn find(&self, lbn: Lbn) -> Option<Slot> {
        unpack(self.slot_of[lbn.index()]).map(Slot)
    }

    /// Whether the cache holds a logical block.
    #[inline]
    pub fn holds(&self, lbn: Lbn) -> bool {
        self.slot_of[lbn.index()] != 0
    }

    /// A cached entry is used: when it was there.
    pub fn use_block(&mut self, lbn: Lbn) -> Option<When> {
        let slot = self.find(lbn)?;
        self.order.renew(slot);
        Some(self.entries[slot].ready)
    }

    fn place(&self, slot: Slot, offset: u32) -> (usize, u64) {
        let words = (self.pages_per_block as usize).div_ceil(64);
        (slot.index() * words + offset as usize / 64, 1 << (offset % 64))
    }

    /// Caches where a block-mapped logical block is; `pages` tells which of its pages are there.
    /// The entry used longest ago leaves for it.
    pub fn insert(
        &mut self,
        (lbn, block): (Lbn, BlockId),
        pages: impl Iterator<Item = bool>,
        ready: When,
    ) {
        assert!(self.is_mapped(lbn) && !self.holds(lbn));
        if self.order.len(0) == self.capacity {
            let oldest = self.order.oldest(0).expect("there is room for one");
            self.drop_entry(oldest);
        }
        let slot = self.entries.add(Entry { lbn: lbn.0, block, ready });
        for (offset, is_there) in pages.enumerate() {
            let (word, bit) = self.place(slot, offset as u32);
            self.there[word] =
                if is_there { self.there[word] | bit } else { self.there[word] & !bit };
        }
        self.slot_of[lbn.index()] = pack(Some(slot.0));
        self.order.push(0, slot);
    }

    fn drop_entry(&mut self, slot: Slot) {
        self.slot_of[self.entries[slot].lbn as usize] = 0;
        self.order.remove(slot);
        self.entries.remove(slot);
    }

    /// Takes an entry out of the cache: when it was there.
    pub fn take(&mut self, lbn: Lbn) -> Option<When> {
        let slot = self.find(lbn)?;
        self.drop_entry(slot);
        Some(self.entries[slot].ready)
    }

    /// Where a page is, if the cache holds its logical block.
    #[inline]
    pub fn entry(&self, lpn: Lpn) -> Option<Option<Ppn>> {
        let (lbn, offset) = (Lbn(lpn.0 / self.pages_per_block), lpn.0 % self.pages_per_block);
        let slot = self.find(lbn)?;
        let (word, bit) = self.place(slot, offset);
        let first = self.entries[slot].block.0 * self.pages_per_block;
        Some((self.there[word] & bit != 0).then_some(Ppn(first + offset)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SharedSettings;
    use ftlab_flash::settings::Groups as _;

    /// Two of the logical blocks, and a cache of one entry.
    #[test]
    fn the_cache_tells_where_pages_are_and_the_bits_outlive_it() {
        let mut config = SharedSettings::default();
        config.device.pages_per_block = 64;
        config.device.blocks_per_plane = 80;
        let geometry = Geometry::new(&config.device);
        let last = Lbn(geometry.logical_blocks() - 1);
        let short = geometry.logical_pages - last.0 * 64;
        let mut blocks = MappedBlocks::new(&geometry, 1);
        [Lbn(2), last].into_iter().for_each(|lbn| blocks.map(lbn));
        assert_eq!(blocks.pages(), 64 + u64::from(short));
        blocks.insert((Lbn(2), BlockId(7)), (0..64).map(|offset| offset != 5), When::START);
        let at = |blocks: &MappedBlocks, offset: u32| blocks.entry(Lpn(2 * 64 + offset));
        assert_eq!(at(&blocks, 4), Some(Some(Ppn(7 * 64 + 4))));
        assert_eq!(at(&blocks, 5), Some(None), "known to be nowhere");
        assert_eq!(blocks.use_block(last), None, "mapped, but not cached");
        blocks.insert((last, BlockId(9)), (0..short).map(|_| true), When::START);
        assert_eq!(at(&blocks, 4), None, "it made room");
        assert!(blocks.is_mapped(Lbn(2)) && !blocks.holds(Lbn(2)) && blocks.holds(last));
        assert_eq!(blocks.take(last), Some(When::START));
        blocks.unmap(last);
        assert_eq!(blocks.pages(), 64);
    }

    /// Four logical blocks of 128 pages, of the last of which five are there.
    fn four(capacity: u32) -> MappedBlocks {
        let mut config = SharedSettings::default();
        config.device.pages_per_block = 128;
        config.device.blocks_per_plane = 80;
        config.set("device.logical_bytes", &(2048 * (3 * 128 + 5)).to_string()).expect("legal");
        MappedBlocks::new(&Geometry::new(&config.device), capacity)
    }

    #[test]
    fn a_block_that_is_cut_short_counts_as_the_pages_that_it_has() {
        let mut blocks = four(1);
        let pages = [0, 3, 1].map(|lbn| {
            blocks.map(Lbn(lbn));
            blocks.pages()
        });
        assert_eq!(pages, [128, 128 + 5, 2 * 128 + 5]);
        blocks.unmap(Lbn(0));
        assert_eq!([0, 1, 2, 3].map(|lbn| blocks.is_mapped(Lbn(lbn))), [false, true, false, true]);
        blocks.unmap(Lbn(3));
        assert_eq!(blocks.pages(), 128);
    }

    /// Sixty-four of eight pages fill a word of bits, and none is cut short.
    #[test]
    fn blocks_that_are_all_whole_count_as_all_of_their_pages() {
        let mut config = SharedSettings::default();
        config.device.pages_per_block = 8;
        config.device.blocks_per_plane = 160;
        config.set("device.logical_bytes", &(2048 * 64 * 8).to_string()).expect("legal");
        let geometry = Geometry::new(&config.device);
        assert_eq!(geometry.logical_blocks(), 64);
        let mut blocks = MappedBlocks::new(&geometry, 1);
        [0, 63].into_iter().for_each(|lbn| blocks.map(Lbn(lbn)));
        assert_eq!(blocks.pages(), 16);
    }

    /// The pages of a block fill two words, of which each says something else: of block 0 every
    /// fifth page is there, of 1 one further on, of 2 every second one. A place that was taken over
    /// says nothing of who was there before, and who was used is not who leaves.
    #[test]
    fn an_entry_knows_its_own_pages_and_leaves_when_it_is_the_oldest() {
        let mut blocks = four(2);
        (0..3).for_each(|lbn| blocks.map(Lbn(lbn)));
        let is_there = |lbn: u32, offset: u32| match lbn {
            2 => offset.is_multiple_of(2),
            _ => offset % 5 == lbn,
        };
        let insert = |blocks: &mut MappedBlocks, lbn: u32| {
            let there = (0..128).map(|offset| is_there(lbn, offset));
            blocks.insert((Lbn(lbn), BlockId(10 + lbn)), there, When::START);
        };
        let agrees = |blocks: &MappedBlocks, lbn: u32| {
            for offset in 0..128 {
                let there = is_there(lbn, offset).then_some(Ppn((10 + lbn) * 128 + offset));
                assert_eq!(blocks.entry(Lpn(lbn * 128 + offset)), Some(there), "{lbn} {offset}");
            }
        };
        [0, 1].into_iter().for_each(|lbn| insert(&mut blocks, lbn));
        [0, 1].into_iter().for_each(|lbn| agrees(&blocks, lbn));
        assert_eq!(blocks.use_block(Lbn(0)), Some(When::START));
        insert(&mut blocks, 2);
        assert_eq!([0, 1, 2].map(|lbn| blocks.holds(Lbn(lbn))), [true, false, true]);
        [0, 2].into_iter().for_each(|lbn| agrees(&blocks, lbn));
    }
}
