//! Blocks beside the marks of their valid pages, so that a page that dies changes one line of the
//! cache, in blocks of up to 64 pages wherever that begins.

use zerocopy::FromZeros;

use crate::units::{BlockId, zeroed};

/// What is known of a block; first what is looked at when a page dies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromZeros)]
#[repr(C)]
pub struct BlockState {
    /// Valid pages.
    pub valid: u32,
    /// Pages that hold a payload (map, checkpoint, trim record) not given back yet.
    pub payloads: u32,
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

/// The bits of a word of 64 pages that stand for pages from `first` on and before `end`; the word
/// holds one of them at least.
#[inline]
fn mask_within(word: u32, first: u32, end: u32) -> u64 {
    let from = first.saturating_sub(word * 64);
    let behind = 64u32.saturating_sub(end - word * 64);
    u64::MAX << from & u64::MAX >> behind
}

/// Words of marks that lie beside their block: of 256 pages.
const NEAR: usize = 4;

/// A block and the marks of its first pages, of the size of a line of the cache. Memory that is
/// asked for as zeroes is aligned to 16 bytes at most; more would be written, and so be resident.
/// The first 16 bytes hold what changes when one of 64 pages dies.
#[derive(Clone, Copy, Debug, Default, FromZeros)]
#[repr(C, align(16))]
struct Line {
    marks: u64,
    state: BlockState,
    more_marks: [u64; NEAR - 1],
}

impl Line {
    /// The word of this number, where it lies beside the block.
    #[inline(always)]
    fn marks(&self, word: usize) -> Option<&u64> {
        if word == 0 { Some(&self.marks) } else { self.more_marks.get(word - 1) }
    }
}

/// All blocks. Marks are words of 64 pages of one block, by offset.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    lines: Vec<Line>,
    /// The words of larger blocks that do not lie beside them, block after block.
    far: Vec<u64>,
    far_words: usize,
    words: usize,
}

impl Blocks {
    /// Blocks of so many pages each, none of which is valid.
    pub fn new(blocks: u32, pages: u32) -> Self {
        let words = pages.div_ceil(64) as usize;
        let far_words = words.saturating_sub(NEAR);
        let far = zeroed(blocks as usize * far_words);
        Blocks { lines: zeroed(blocks as usize), far, far_words, words }
    }

    /// How many there are.
    pub fn len(&self) -> u32 {
        self.lines.len() as u32
    }

    /// Words of marks that a block has.
    #[inline]
    pub fn words(&self) -> usize {
        self.words
    }

    #[inline]
    pub fn state(&self, block: BlockId) -> &BlockState {
        &self.lines[block.index()].state
    }

    #[inline]
    pub fn state_mut(&mut self, block: BlockId) -> &mut BlockState {
        &mut self.lines[block.index()].state
    }

    /// All states, of blocks in order.
    pub fn states_mut(&mut self) -> impl Iterator<Item = &mut BlockState> {
        self.lines.iter_mut().map(|line| &mut line.state)
    }

    /// One word of a block's marks.
    #[inline]
    pub fn marks(&self, block: BlockId, word: usize) -> u64 {
        match self.lines[block.index()].marks(word) {
            Some(&marks) => marks,
            None => self.far[block.index() * self.far_words + word - NEAR],
        }
    }

    #[inline(always)]
    pub fn marks_mut(&mut self, block: BlockId, word: usize) -> &mut u64 {
        self.both_mut(block, word).1
    }

    /// A block with one word of its marks, in one look at its line.
    #[inline(always)]
    fn both_mut(&mut self, block: BlockId, word: usize) -> (&mut BlockState, &mut u64) {
        let Line { marks, state, more_marks } = &mut self.lines[block.index()];
        let marks = match word {
            0 => marks,
            1..NEAR => &mut more_marks[word - 1],
            _ => &mut self.far[block.index() * self.far_words + word - NEAR],
        };
        (state, marks)
    }

    /// Whether the page at this place is valid.
    #[inline]
    pub fn is_marked(&self, (block, offset): (BlockId, u32)) -> bool {
        self.marks(block, (offset / 64) as usize) >> (offset % 64) & 1 == 1
    }

    /// Marks so many pages from this place on.
    #[inline]
    pub fn mark(&mut self, (block, offset): (BlockId, u32), count: u32) {
        for word in offset / 64..(offset + count).div_ceil(64) {
            *self.marks_mut(block, word as usize) |= mask_within(word, offset, offset + count);
        }
    }

    /// The page at this place is valid from now on: its block, which counts it.
    #[inline]
    pub fn mark_one(&mut self, (block, offset): (BlockId, u32)) -> &mut BlockState {
        let (state, marks) = self.both_mut(block, (offset / 64) as usize);
        *marks |= 1 << (offset % 64);
        state.valid += 1;
        state
    }

    /// The page at this place is not valid any more: its block, which does not count it any more;
    /// none, with nothing done, where it was not.
    #[inline]
    pub fn clear(&mut self, (block, offset): (BlockId, u32)) -> Option<&mut BlockState> {
        let (state, marks) = self.both_mut(block, (offset / 64) as usize);
        let mark = 1 << (offset % 64);
        if *marks & mark == 0 {
            return None;
        }
        *marks &= !mark;
        state.valid -= 1;
        Some(state)
    }

    /// Takes all marks of blocks that were ever used away, and their counts of valid pages.
    pub fn clear_all(&mut self) {
        for (index, line) in
            self.lines.iter_mut().enumerate().filter(|(_, line)| line.state.touched)
        {
            line.state.valid = 0;
            (line.marks, line.more_marks) = (0, [0; NEAR - 1]);
            self.far[index * self.far_words..(index + 1) * self.far_words].fill(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of fewer pages than a word has, of as many as lie beside the block, and of more: each
    /// mark is one page's, and no other page hears of it.
    #[test]
    fn every_page_has_a_mark_of_its_own() {
        for pages in [4, 64, 100, 256, 257, 1000] {
            let mut blocks = Blocks::new(3, pages);
            let all =
                || (0..3).flat_map(|block| (0..pages).map(move |page| (BlockId(block), page)));
            for place in all() {
                assert!(!blocks.is_marked(place), "{place:?} of {pages}");
                let _ = blocks.mark_one(place);
                assert!(blocks.is_marked(place), "{place:?} of {pages}");
            }
            assert!((0..3).all(|block| blocks.state(BlockId(block)).valid == pages), "{pages}");
            for (BlockId(block), page) in all() {
                let place = (BlockId(block), page);
                blocks.state_mut(place.0).valid = 7;
                let kept = |state: Option<&mut BlockState>| state.map(|state| state.valid);
                assert_eq!(kept(blocks.clear(place)), Some(6), "{place:?} of {pages}");
                assert!(!blocks.is_marked(place), "{place:?} of {pages}");
                assert_eq!(kept(blocks.clear(place)), None, "{place:?} of {pages} twice");
            }
            blocks.mark((BlockId(1), 3), pages - 3);
            let marked = all().filter(|&place| blocks.is_marked(place));
            assert!(marked.eq((3..pages).map(|page| (BlockId(1), page))), "{pages}");
            blocks.state_mut(BlockId(1)).touched = true;
            blocks.clear_all();
            assert!(all().all(|place| !blocks.is_marked(place)), "{pages}");
            assert_eq!(size_of::<Line>(), 64, "one line of the cache");
        }
    }

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
