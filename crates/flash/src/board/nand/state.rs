//! What the flash holds: pages, blocks and out-of-band data as flat arrays.
//!
//! All-zero bytes mean "never touched" everywhere, so the arrays are allocated zeroed and a large
//! device becomes resident only where it is used. What this is not: a judge (see `law`).

mod blocks;
mod moving;
#[cfg(test)]
mod tests;
mod walk;

use zerocopy::FromZeros;

use super::geometry::Geometry;
pub use super::oob::{Oob, OobRead, PageKind};
use crate::units::{BlockId, Divisor, Ppn, Tag, zeroed};
pub use blocks::BlockState;
use blocks::Blocks;

/// 16 bytes a page: number (plus one), tag or payload slot, sequence and kind.
#[derive(Clone, Copy, Debug, Default, FromZeros)]
struct PageRecord {
    logical_plus_one: u32,
    tag: u32,
    stamp: u64,
}

impl PageRecord {
    /// What a written page is that can be valid, which no parity ever is: it is left out here, so
    /// that pages that move pay nothing for it.
    #[inline]
    fn kind(&self) -> PageKind {
        PageKind::of(self.stamp % (1 << KIND_BITS))
    }

    /// What a written page is.
    #[inline]
    fn any_kind(&self) -> PageKind {
        match self.stamp % (1 << KIND_BITS) {
            PARITY => PageKind::Parity,
            _ => self.kind(),
        }
    }

    /// Whether it holds words of the scheme.
    #[inline]
    fn holds_words(&self) -> bool {
        PageKind::number_holds_words(self.stamp % (1 << KIND_BITS))
    }

    /// Whether the page can be read.
    #[inline]
    fn is_written(&self) -> bool {
        // Neither 0 nor `TORN`.
        self.logical_plus_one.wrapping_sub(1) < TORN - 1
    }
}

const KIND_BITS: u32 = 3;
const PARITY: u64 = PageKind::Parity as u64;
/// Bit of the stamp behind the kind: the page cannot be read.
const UNREADABLE: u64 = 1 << KIND_BITS;
const STAMP_BITS: u32 = KIND_BITS + 1;
const TORN: u32 = u32::MAX;

/// Pages and blocks of the device.
#[derive(Clone, Debug)]
pub struct State {
    pages: Vec<PageRecord>,
    blocks: Blocks,
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
            blocks: Blocks::new(geometry.blocks(), geometry.pages_per_block),
            masks: if keep_masks { zeroed(pages) } else { Vec::new() },
            pages_per_block: geometry.pages_per_block,
            divide: Divisor::new(geometry.pages_per_block),
        }
    }

    /// State of a block.
    #[inline]
    pub fn block(&self, block: BlockId) -> &BlockState {
        self.blocks.state(block)
    }

    /// State of a page's block.
    #[inline]
    pub fn block_of(&self, ppn: Ppn) -> &BlockState {
        self.block(self.place(ppn).0)
    }

    #[inline]
    pub(super) fn block_mut(&mut self, block: BlockId) -> &mut BlockState {
        self.blocks.state_mut(block)
    }

    /// Whether a page holds the newest version of something.
    #[inline]
    pub fn is_valid(&self, ppn: Ppn) -> bool {
        self.blocks.is_marked(self.place(ppn))
    }

    /// The same of the page at this place of a block.
    #[inline]
    pub fn is_valid_at(&self, block: BlockId, offset: u32) -> bool {
        self.blocks.is_marked((block, offset))
    }

    /// Which of 64 pages of a block are valid, from the offset `64 * word` on: bit 0 is the first.
    #[inline]
    pub fn valid_marks(&self, block: BlockId, word: u32) -> u64 {
        self.blocks.marks(block, word as usize)
    }

    /// Looks at a page's block, which changes when the page dies, so that it is at hand: its count,
    /// beside which the marks of 256 pages lie. Which block that is, and what was seen, which means
    /// nothing.
    #[inline]
    pub fn glance_at(&self, ppn: Ppn) -> (BlockId, u32) {
        let (block, _) = self.place(ppn);
        (block, self.block(block).valid)
    }

    /// Whether the device has such a page, and it is erased.
    #[inline]
    pub fn is_free(&self, ppn: Ppn) -> bool {
        self.pages.get(ppn.index()).is_some_and(|page| page.logical_plus_one == 0)
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
                kind: record.any_kind(),
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

    /// The version that a page of host data holds, or that it is lost.
    #[inline]
    pub fn version(&self, ppn: Ppn) -> Tag {
        let record = &self.pages[ppn.index()];
        if record.stamp & UNREADABLE == 0 { Tag(record.tag) } else { Tag::UNREADABLE }
    }

    #[cold]
    pub(super) fn set_unreadable(&mut self, ppn: Ppn) {
        self.pages[ppn.index()].stamp |= UNREADABLE;
    }

    /// The payload slot plus one of a page that holds one; 0 of a page of host data, and of one whose
    /// payload was dropped.
    #[inline]
    pub(super) fn payload(&self, ppn: Ppn) -> u32 {
        let record = &self.pages[ppn.index()];
        // A page that holds nothing, or nothing that can be read, counts as one of host data.
        let kind = record.stamp % (1 << KIND_BITS);
        if PageKind::number_keeps_payload(kind) { record.tag } else { 0 }
    }

    /// A payload page of this block loses its payload.
    #[inline]
    pub(super) fn drop_payload(&mut self, block: BlockId, ppn: Ppn) {
        self.pages[ppn.index()].tag = 0;
        self.block_mut(block).payloads -= 1;
    }

    /// The payload of a page goes to another one, and the page is not valid any more: its slot plus
    /// one as [`State::payload`] says it, the block, and how many valid pages that keeps; none
    /// where the page was not valid.
    #[inline(always)]
    pub(super) fn hand_over(&mut self, ppn: Ppn) -> (u32, (BlockId, Option<u32>)) {
        let slot = self.payload(ppn);
        if slot > 0 {
            self.pages[ppn.index()].tag = 0;
        }
        let place = self.place(ppn);
        let block = self.blocks.clear(place);
        let kept = block.map(|block| {
            block.payloads -= u32::from(slot > 0);
            block.valid
        });
        (slot, (place.0, kept))
    }

    /// A page that was just stored in this block holds a payload.
    #[inline]
    pub(super) fn note_payload(&mut self, block: BlockId) {
        self.block_mut(block).payloads += 1;
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

    /// The place of a page in its block.
    #[inline]
    fn offset_in(&self, block: BlockId, ppn: Ppn) -> u32 {
        ppn.0 - block.0 * self.pages_per_block
    }

    #[inline]
    pub(super) fn store(&mut self, ppn: Ppn, oob: Oob, tag: u32) {
        let place = self.place(ppn);
        self.store_at(place, ppn, oob, tag);
    }

    /// The same, at a place that is known.
    #[inline]
    pub(super) fn store_at(&mut self, at: (BlockId, u32), ppn: Ppn, oob: Oob, tag: u32) {
        let _ = self.put(at, ppn, oob, tag);
    }

    /// The same of a page that holds the payload in this slot.
    #[inline]
    pub(super) fn store_words(&mut self, at: (BlockId, u32), ppn: Ppn, oob: Oob, slot: u32) {
        self.put(at, ppn, oob, slot + 1).payloads += 1;
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

    /// So many pages of a block are programmed, from this offset on, and valid; the last of them
    /// has this sequence number.
    #[inline]
    pub(super) fn count_programs(
        &mut self,
        (block, offset): (BlockId, u32),
        count: u32,
        sequence: u64,
    ) {
        self.blocks.mark((block, offset), count);
        let state = self.blocks.state_mut(block);
        state.valid += count;
        state.programmed += count;
        state.top = state.top.max(offset + count);
        state.last_program = sequence as u32;
        state.touched = true;
    }

    #[inline(always)]
    fn put(&mut self, at: (BlockId, u32), ppn: Ppn, oob: Oob, tag: u32) -> &mut BlockState {
        let stamp = oob.sequence << STAMP_BITS | oob.kind as u64;
        self.pages[ppn.index()] = PageRecord { logical_plus_one: oob.logical + 1, tag, stamp };
        let state = self.blocks.mark_one(at);
        state.programmed += 1;
        state.top = state.top.max(at.1 + 1);
        state.last_program = oob.sequence as u32;
        state.touched = true;
        state
    }

    pub(super) fn store_torn(&mut self, ppn: Ppn) {
        self.pages[ppn.index()] = PageRecord { logical_plus_one: TORN, tag: 0, stamp: 0 };
        let (block, offset) = self.place(ppn);
        let state = self.blocks.state_mut(block);
        state.programmed += 1;
        state.top = state.top.max(offset + 1);
        state.touched = true;
    }

    /// Clears the mark of a page of this block and returns how many valid pages the block keeps;
    /// none, with nothing done, where the page is not valid.
    #[inline]
    pub(super) fn clear_valid(&mut self, block: BlockId, ppn: Ppn) -> Option<u32> {
        let offset = self.offset_in(block, ppn);
        self.blocks.clear((block, offset)).map(|block| block.valid)
    }

    pub(super) fn set_valid(&mut self, ppn: Ppn) {
        let place = self.place(ppn);
        let _ = self.blocks.mark_one(place);
    }

    #[inline]
    pub(super) fn wipe(&mut self, block: BlockId) {
        let first = (block.0 * self.pages_per_block) as usize;
        let end = first + self.pages_per_block as usize;
        self.pages[first..end].fill(PageRecord::default());
        if !self.masks.is_empty() {
            self.masks[first..end].fill(0);
        }
        let state = self.blocks.state_mut(block);
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
        let state = self.blocks.state_mut(block);
        state.programmed = self.pages_per_block;
        state.top = self.pages_per_block;
        state.undefined = true;
    }

    /// A power cut: what only RAM knew is gone.
    pub(super) fn forget_validity(&mut self) {
        self.blocks.clear_all();
    }

    /// Flash pages that were begun are programmed as they are: the places of units that never came
    /// hold nothing.
    pub(super) fn fill_flash_pages(&mut self, units: u32) {
        if units == 1 {
            return;
        }
        for block in 0..self.blocks.len() {
            let top = self.block(BlockId(block)).top;
            for offset in top..top.next_multiple_of(units) {
                self.store_torn(Ppn(block * self.pages_per_block + offset));
            }
        }
    }

    pub(super) fn mark_measured_from_here(&mut self) {
        for block in self.blocks.states_mut().filter(|b| b.touched) {
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
        let mut skipped = u64::MAX << (from % 64);
        for word in (from / 64) as usize..self.blocks.words() {
            let marks = self.blocks.marks(block, word) & skipped;
            if marks != 0 {
                let offset = word as u32 * 64 + marks.trailing_zeros();
                return Some(Ppn(block.0 * self.pages_per_block + offset));
            }
            skipped = u64::MAX;
        }
        None
    }
}
