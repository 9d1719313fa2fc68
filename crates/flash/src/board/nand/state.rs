//! What the flash holds: pages, blocks and out-of-band data as flat arrays.
//!
//! All-zero bytes mean "never touched" everywhere, so the arrays are allocated zeroed and a large
//! device becomes resident only where it is used. What this is not: a judge (see `law`).

mod moving;
mod walk;

use zerocopy::FromZeros;

use super::geometry::Geometry;
pub use super::oob::{Oob, OobRead, PageKind};
use crate::units::{BlockId, Divisor, Ppn, Tag, zeroed};

/// 16 bytes a page: number (plus one), tag or payload slot, sequence and kind.
#[derive(Clone, Copy, Debug, Default, FromZeros)]
struct PageRecord {
    logical_plus_one: u32,
    tag: u32,
    stamp: u64,
}

impl PageRecord {
    /// What a written page is.
    #[inline]
    fn kind(&self) -> PageKind {
        PageKind::of(self.stamp % (1 << KIND_BITS))
    }

    /// Whether the page can be read.
    #[inline]
    fn is_written(&self) -> bool {
        // Neither 0 nor `TORN`.
        self.logical_plus_one.wrapping_sub(1) < TORN - 1
    }
}

/// The bits of a word of 64 pages that stand for pages from `first` on and before `end`; the word
/// holds one of them at least.
#[inline]
fn mask_within(word: u32, first: u32, end: u32) -> u64 {
    let from = first.saturating_sub(word * 64);
    let behind = 64u32.saturating_sub(end - word * 64);
    u64::MAX << from & u64::MAX >> behind
}

const KIND_BITS: u32 = 3;
/// Bit of the stamp behind the kind: the page cannot be read.
const UNREADABLE: u64 = 1 << KIND_BITS;
const STAMP_BITS: u32 = KIND_BITS + 1;
const TORN: u32 = u32::MAX;

/// What is known of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromZeros)]
pub struct BlockState {
    /// Valid pages.
    pub valid: u32,
    /// Programmed pages, torn ones included.
    pub programmed: u32,
    /// One above the highest programmed offset; 0 when erased.
    pub top: u32,
    /// Erases since the device was built.
    pub erases: u32,
    /// Erases before measuring began, so that wear can be told for the measured part alone.
    pub erases_before: u32,
    /// Sequence of the last program in the block, in low 32 bits of the count (for ages only).
    pub last_program: u32,
    /// Pages that hold a payload (map, checkpoint, trim record) not given back yet.
    pub payloads: u32,
    /// Whether the block was ever programmed or erased.
    pub touched: bool,
    /// Whether a failed program made it read-only.
    pub read_only: bool,
    /// Whether it was retired.
    pub retired: bool,
    /// Whether an interrupted erase left it undefined: it must be erased before use.
    pub undefined: bool,
}

impl BlockState {
    /// Programs on the device since the block's last one, below 2^32; `now` is the count of all.
    #[inline]
    pub fn age(&self, now: u64) -> u32 {
        (now as u32).wrapping_sub(self.last_program)
    }
}

/// Pages and blocks of the device.
#[derive(Clone, Debug)]
pub struct State {
    pages: Vec<PageRecord>,
    valid: Vec<u64>,
    blocks: Vec<BlockState>,
    /// Sector masks, only kept where partial writes read first.
    masks: Vec<u64>,
    pages_per_block: u32,
    divide: Divisor,
}

impl State {
    /// An erased device.
    pub fn new(geometry: &Geometry, keep_masks: bool) -> Self {
        let pages = geometry.pages() as usize;
        State {
            pages: zeroed(pages),
            valid: zeroed(pages.div_ceil(64)),
            blocks: zeroed(geometry.blocks() as usize),
            masks: if keep_masks { zeroed(pages) } else { Vec::new() },
            pages_per_block: geometry.pages_per_block,
            divide: Divisor::new(geometry.pages_per_block),
        }
    }

    /// State of a block.
    #[inline]
    pub fn block(&self, block: BlockId) -> &BlockState {
        &self.blocks[block.index()]
    }

    /// State of a page's block.
    #[inline]
    pub fn block_of(&self, ppn: Ppn) -> &BlockState {
        self.block(self.place(ppn).0)
    }

    #[inline]
    pub(super) fn block_mut(&mut self, block: BlockId) -> &mut BlockState {
        &mut self.blocks[block.index()]
    }

    /// Whether a page holds the newest version of something.
    #[inline]
    pub fn is_valid(&self, ppn: Ppn) -> bool {
        self.valid[ppn.index() / 64] >> (ppn.0 % 64) & 1 == 1
    }

    /// Whether a page is erased.
    #[inline]
    pub fn is_free(&self, ppn: Ppn) -> bool {
        self.pages[ppn.index()].logical_plus_one == 0
    }

    /// Whether the device has such a page, and it can be read.
    #[inline]
    pub(super) fn is_written(&self, ppn: Ppn) -> bool {
        self.pages.get(ppn.index()).is_some_and(PageRecord::is_written)
    }

    /// The out-of-band area of a page, without charge; schemes use the gate's `read_oob`.
    #[inline]
    pub fn oob(&self, ppn: Ppn) -> OobRead {
        let record = &self.pages[ppn.index()];
        match record.logical_plus_one {
            0 => OobRead::Free,
            TORN => OobRead::Torn,
            number => OobRead::Written(Oob {
                logical: number - 1,
                kind: record.kind(),
                sequence: record.stamp >> STAMP_BITS,
            }),
        }
    }

    /// Whether a written page holds host data.
    #[inline]
    pub(super) fn holds_host_data(&self, ppn: Ppn) -> bool {
        self.pages[ppn.index()].kind().is_host_data()
    }

    /// The tag of a page (host data) or the payload slot plus one (everything else).
    #[inline]
    pub fn tag(&self, ppn: Ppn) -> Tag {
        Tag(self.pages[ppn.index()].tag)
    }

    /// Whether the data of a page is lost: reads failed in spite of all retries, or it is the copy
    /// of such a page. Tag and out-of-band area still tell which version that was.
    #[inline]
    pub fn is_unreadable(&self, ppn: Ppn) -> bool {
        self.pages[ppn.index()].stamp & UNREADABLE != 0
    }

    #[cold]
    pub(super) fn set_unreadable(&mut self, ppn: Ppn) {
        self.pages[ppn.index()].stamp |= UNREADABLE;
    }

    /// A payload page loses its payload.
    #[inline]
    pub(super) fn drop_payload(&mut self, ppn: Ppn) {
        self.pages[ppn.index()].tag = 0;
        self.blocks[self.divide.quotient(ppn.0) as usize].payloads -= 1;
    }

    /// A page that was just stored holds a payload.
    #[inline]
    pub(super) fn note_payload(&mut self, ppn: Ppn) {
        self.blocks[self.divide.quotient(ppn.0) as usize].payloads += 1;
    }

    /// Sectors of a page that hold data.
    #[inline]
    pub fn mask(&self, ppn: Ppn) -> u64 {
        self.masks.get(ppn.index()).copied().unwrap_or(u64::MAX)
    }

    #[inline]
    pub(super) fn set_mask(&mut self, ppn: Ppn, mask: u64) {
        if let Some(slot) = self.masks.get_mut(ppn.index()) {
            *slot = mask;
        }
    }

    /// The block that holds a page, and the page's place in it.
    #[inline]
    pub(super) fn place(&self, ppn: Ppn) -> (BlockId, u32) {
        let (block, offset) = self.divide.both(ppn.0);
        (BlockId(block), offset)
    }

    #[inline]
    pub(super) fn store(&mut self, ppn: Ppn, oob: Oob, tag: u32) {
        let place = self.place(ppn);
        self.store_at(place, ppn, oob, tag);
    }

    /// The same, at a place that is known.
    #[inline]
    pub(super) fn store_at(&mut self, at: (BlockId, u32), ppn: Ppn, oob: Oob, tag: u32) {
        let stamp = oob.sequence << STAMP_BITS | oob.kind as u64;
        self.put(at, ppn, PageRecord { logical_plus_one: oob.logical + 1, tag, stamp });
    }

    /// A copy of a written page under a number and a kind of its own; what is lost stays lost.
    #[inline]
    pub(super) fn store_copy(
        &mut self,
        at: (BlockId, u32),
        (from, to): (Ppn, Ppn),
        kind: PageKind,
        sequence: u64,
    ) {
        self.copy_record((from, to), kind, sequence);
        self.count_programs(at, 1, sequence);
    }

    /// The same without what [`State::count_programs`] does for all pages of a run.
    #[inline]
    pub(super) fn copy_record(&mut self, (from, to): (Ppn, Ppn), kind: PageKind, sequence: u64) {
        let record = self.pages[from.index()];
        let stamp = sequence << STAMP_BITS | record.stamp & UNREADABLE | kind as u64;
        self.pages[to.index()] = PageRecord { stamp, ..record };
        if !self.masks.is_empty() {
            self.masks[to.index()] = self.masks[from.index()];
        }
    }

    /// So many pages of a block are programmed, from this offset on, and valid; the last of them has
    /// this sequence number.
    #[inline]
    pub(super) fn count_programs(
        &mut self,
        (block, offset): (BlockId, u32),
        count: u32,
        sequence: u64,
    ) {
        let first = block.0 * self.pages_per_block + offset;
        for index in first / 64..(first + count).div_ceil(64) {
            self.valid[index as usize] |= mask_within(index, first, first + count);
        }
        let state = &mut self.blocks[block.index()];
        state.valid += count;
        state.programmed += count;
        state.top = state.top.max(offset + count);
        state.last_program = sequence as u32;
        state.touched = true;
    }

    #[inline]
    fn put(&mut self, (block, offset): (BlockId, u32), ppn: Ppn, record: PageRecord) {
        self.pages[ppn.index()] = record;
        self.valid[ppn.index() / 64] |= 1 << (ppn.0 % 64);
        let state = &mut self.blocks[block.index()];
        state.valid += 1;
        state.programmed += 1;
        state.top = state.top.max(offset + 1);
        state.last_program = (record.stamp >> STAMP_BITS) as u32;
        state.touched = true;
    }

    pub(super) fn store_torn(&mut self, ppn: Ppn) {
        self.pages[ppn.index()] = PageRecord { logical_plus_one: TORN, tag: 0, stamp: 0 };
        let offset = ppn.0 % self.pages_per_block;
        let state = &mut self.blocks[(ppn.0 / self.pages_per_block) as usize];
        state.programmed += 1;
        state.top = state.top.max(offset + 1);
        state.touched = true;
    }

    /// Clears the mark of a page of this block and returns how many valid pages the block keeps.
    #[inline]
    pub(super) fn clear_valid(&mut self, block: BlockId, ppn: Ppn) -> u32 {
        self.valid[ppn.index() / 64] &= !(1 << (ppn.0 % 64));
        let state = &mut self.blocks[block.index()];
        state.valid -= 1;
        state.valid
    }

    pub(super) fn set_valid(&mut self, ppn: Ppn) {
        self.valid[ppn.index() / 64] |= 1 << (ppn.0 % 64);
        self.blocks[(ppn.0 / self.pages_per_block) as usize].valid += 1;
    }

    #[inline]
    pub(super) fn wipe(&mut self, block: BlockId) {
        let first = (block.0 * self.pages_per_block) as usize;
        let end = first + self.pages_per_block as usize;
        self.pages[first..end].fill(PageRecord::default());
        if !self.masks.is_empty() {
            self.masks[first..end].fill(0);
        }
        let state = &mut self.blocks[block.index()];
        state.programmed = 0;
        state.top = 0;
        state.touched = true;
        state.undefined = false;
    }

    /// An interrupted erase: nothing in the block can be read any more.
    pub(super) fn tear_block(&mut self, block: BlockId) {
        let first = (block.0 * self.pages_per_block) as usize;
        let torn = PageRecord { logical_plus_one: TORN, tag: 0, stamp: 0 };
        self.pages[first..first + self.pages_per_block as usize].fill(torn);
        let state = &mut self.blocks[block.index()];
        state.programmed = self.pages_per_block;
        state.top = self.pages_per_block;
        state.undefined = true;
    }

    /// A power cut: what only RAM knew is gone.
    pub(super) fn forget_validity(&mut self) {
        for (index, block) in self.blocks.iter_mut().enumerate() {
            if block.touched {
                block.valid = 0;
                let first = index * self.pages_per_block as usize;
                for page in first..first + self.pages_per_block as usize {
                    self.valid[page / 64] &= !(1 << (page % 64));
                }
            }
        }
    }

    /// Flash pages that were begun are programmed as they are: the places of units that never came
    /// hold nothing.
    pub(super) fn fill_flash_pages(&mut self, units: u32) {
        if units == 1 {
            return;
        }
        for block in 0..self.blocks.len() as u32 {
            let top = self.blocks[block as usize].top;
            for offset in top..top.next_multiple_of(units) {
                self.store_torn(Ppn(block * self.pages_per_block + offset));
            }
        }
    }

    pub(super) fn mark_measured_from_here(&mut self) {
        for block in self.blocks.iter_mut().filter(|b| b.touched) {
            block.erases_before = block.erases;
        }
    }

    /// Whether all of so many pages are erased.
    #[inline]
    pub(super) fn are_free(&self, first: Ppn, count: u32) -> bool {
        let pages = &self.pages[first.index()..first.index() + count as usize];
        pages.iter().all(|page| page.logical_plus_one == 0)
    }

    /// The next valid page of a block at or after `from`.
    #[inline]
    pub fn next_valid(&self, block: BlockId, from: u32) -> Option<Ppn> {
        let first = block.0 * self.pages_per_block;
        let end = first + self.pages_per_block;
        let mut page = first + from;
        while page < end {
            let word = self.valid[(page / 64) as usize] >> (page % 64);
            if word == 0 {
                page = (page / 64 + 1) * 64;
                continue;
            }
            page += word.trailing_zeros();
            return (page < end).then_some(Ppn(page));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the pages one by one, with blocks that begin and end anywhere in a word, the last
    /// word of all among them.
    #[test]
    fn a_mask_has_the_bits_of_a_range() {
        for (first, end) in
            [(0, 64), (0, 4), (48, 96), (100, 200), (60, 70), (4_294_967_232, 4_294_967_280)]
        {
            for word in first / 64..u32::div_ceil(end, 64) {
                let bits = (0..64u64).filter(|bit| {
                    let page = u64::from(word) * 64 + bit;
                    (u64::from(first)..u64::from(end)).contains(&page)
                });
                let expected = bits.fold(0u64, |mask, bit| mask | 1 << bit);
                assert_eq!(mask_within(word, first, end), expected, "{word}: {first} to {end}");
            }
        }
    }
}
