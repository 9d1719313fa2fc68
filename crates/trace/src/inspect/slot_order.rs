//! A line of slots, handed out one after the other, of which some were given back: how many from a
//! slot on are still taken, in logarithmic time.
//!
//! Each page of a trace holds the slot of its latest access, so the slots taken from a page's own
//! one on are the pages used since: its position in the LRU stack (Bennett and Kruskal: LRU stack
//! processing, IBM J. Res. Dev. 19(4), 1975). Only what was given back is written down, so handing
//! out a slot writes nothing: a bit per slot in blocks of one cache line, each with counts of its
//! own words (Vigna: Broadword implementation of rank/select queries, WEA 2008), and above them a
//! tree in which every node has sixteen children, a cache line too. Counts are of what lies before
//! a word or a child: a query reads one number per level, and to give a slot back adds to those
//! behind it, neither with a branch that depends on the slot, where a binary tree mispredicts one
//! per level. When the line is used up the taken slots move together, keeping their order, so that
//! memory follows the slots taken and not the slots ever handed out: at most 4 bits a page.

use std::hint::black_box;

/// Words of slots in a block; the eighth word of its cache line counts.
const BLOCK_WORDS: usize = 7;
/// Slots of a block.
const BLOCK_SLOTS: u32 = 64 * BLOCK_WORDS as u32;
/// Bits of a count in a block: at most six words of 64 slots lie before the last.
const COUNT_BITS: u32 = 9;
/// The same number in the counts of all words.
const EVERY_COUNT: u64 = {
    let mut ones = 0;
    let mut word = 0;
    while word < BLOCK_WORDS as u32 {
        ones |= 1 << (COUNT_BITS * word);
        word += 1;
    }
    ones
};
/// Children of a node of the tree.
const FAN: usize = 16;
/// Levels of the tree over the longest line: fewer than 2^24 blocks are the leaves of six.
const LEVELS_MAX: usize = 6;
/// Slots of the first line.
const SLOTS_MIN: u32 = 8 * BLOCK_SLOTS;

/// Most slots that may be taken at once; the longest line is twice as long, and slots are 32-bit
/// numbers.
pub(super) const TAKEN_MAX: u64 = (1 << 31) - 2048;
/// Slots of the longest line, before it is rounded up to whole blocks.
const SLOTS_MAX: u32 = 2 * TAKEN_MAX as u32;

/// Some slots in a row.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Block {
    /// One bit per slot: was it given back?
    gone: [u64; BLOCK_WORDS],
    /// Slots given back in the words before each word, 9 bits a word.
    before: u64,
}

impl Block {
    /// Slots given back before that one.
    #[inline]
    fn gone_before(&self, slot: u32) -> u32 {
        let word = slot / 64;
        let inside = self.gone[word as usize] & ((1 << (slot % 64)) - 1);
        let before = (self.before >> (COUNT_BITS * word)) as u32 & ((1 << COUNT_BITS) - 1);
        before + inside.count_ones()
    }

    #[inline]
    fn give_back(&mut self, slot: u32) {
        let word = slot / 64;
        self.gone[word as usize] |= 1 << (slot % 64);
        // What leaves at the top would be the count of words there are not.
        self.before = self.before.wrapping_add(EVERY_COUNT << COUNT_BITS << (COUNT_BITS * word));
    }

    /// Slots given back.
    fn gone(&self) -> u32 {
        self.gone.iter().map(|word| word.count_ones()).sum()
    }
}

/// Slots given back in the children of a node before each child.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Node([u32; FAN]);

/// For each child of a node, 1 for those behind it: adding a row takes fewer instructions than
/// comparing sixteen numbers.
static BEHIND: [[u32; FAN]; FAN] = {
    let mut rows = [[0; FAN]; FAN];
    let mut child = 0;
    while child < FAN {
        let mut behind = child + 1;
        while behind < FAN {
            rows[child][behind] = 1;
            behind += 1;
        }
        child += 1;
    }
    rows
};

/// The line.
pub(crate) struct SlotOrder {
    blocks: Vec<Block>,
    /// The tree over the blocks, level by level.
    nodes: Vec<Node>,
    /// Where each level begins in `nodes`, and how many there are.
    levels: [usize; LEVELS_MAX],
    depth: usize,
    /// Slots of the line.
    slots: u32,
    next: u32,
    /// Slots given back.
    gone: u32,
}

impl SlotOrder {
    /// No slot is taken.
    pub fn new() -> Self {
        Self::with_taken(0)
    }

    /// A line of about three times as many slots as are taken, at least twice, the first `taken` of
    /// them.
    fn with_taken(taken: u32) -> Self {
        let slots = (3 * u64::from(taken)).clamp(SLOTS_MIN.into(), SLOTS_MAX.into());
        let slots = (slots as u32).next_multiple_of(BLOCK_SLOTS);
        // A block more, so that the end of the line can be asked about.
        let mut children = (slots / BLOCK_SLOTS) as usize + 1;
        let blocks = vec![Block::default(); children];
        let (mut levels, mut depth, mut nodes) = ([0; LEVELS_MAX], 0, 0);
        while depth == 0 || children > 1 {
            assert!(depth < LEVELS_MAX, "{} blocks are more than the tree counts", blocks.len());
            levels[depth] = nodes;
            depth += 1;
            children = children.div_ceil(FAN);
            nodes += children;
        }
        let nodes = vec![Node::default(); nodes];
        Self { blocks, nodes, levels, depth, slots, next: taken, gone: 0 }
    }

    /// Slots that are taken.
    #[inline]
    pub fn taken(&self) -> u32 {
        self.next - self.gone
    }

    /// The slot that is handed out next.
    #[inline]
    pub fn next(&self) -> u32 {
        self.next
    }

    /// Is the line used up? Then [`Self::compact`] must come before [`Self::take`].
    #[inline]
    pub fn is_full(&self) -> bool {
        self.next == self.slots
    }

    /// Slots taken from `slot` on, itself included.
    pub fn taken_from(&self, slot: u32) -> u32 {
        let mut index = (slot / BLOCK_SLOTS) as usize;
        let mut gone = self.blocks[index].gone_before(slot % BLOCK_SLOTS);
        for level in &self.levels[..self.depth] {
            gone += self.nodes[level + index / FAN].0[index % FAN];
            index /= FAN;
        }
        self.taken() - (slot - gone)
    }

    /// Brings near what [`Self::give_back`] will need of a slot that was handed out; nothing
    /// changes.
    #[inline]
    pub fn bring_near(&self, slot: u32) {
        black_box(self.blocks[(slot / BLOCK_SLOTS) as usize].before);
    }

    /// Hands out the next slot.
    #[inline]
    pub fn take(&mut self) -> u32 {
        let slot = self.next;
        self.next += 1;
        slot
    }

    /// Gives a taken slot back; how many were taken from it on, itself included.
    #[inline]
    pub fn give_back(&mut self, slot: u32) -> u32 {
        let mut index = (slot / BLOCK_SLOTS) as usize;
        let block = &mut self.blocks[index];
        let mut gone = block.gone_before(slot % BLOCK_SLOTS);
        block.give_back(slot % BLOCK_SLOTS);
        for level in &self.levels[..self.depth] {
            let Node(before) = &mut self.nodes[level + index / FAN];
            let child = index % FAN;
            gone += before[child];
            // All are read before one is written, so that they are added four at a time.
            *before = std::array::from_fn(|number| before[number] + BEHIND[child][number]);
            index /= FAN;
        }
        let from_here = self.taken() - (slot - gone);
        self.gone += 1;
        from_here
    }

    /// Moves the taken slots to the front of a new line; where each went.
    pub fn compact(&mut self) -> Moved {
        let moved = Moved::new(std::mem::take(&mut self.blocks));
        *self = Self::with_taken(self.taken());
        moved
    }

    /// Bytes held.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        size_of_val(&self.blocks[..]) + size_of_val(&self.nodes[..])
    }
}

/// Where slots went when the line was compacted.
pub(crate) struct Moved {
    blocks: Vec<Block>,
    /// Slots taken before each block.
    before: Vec<u32>,
}

impl Moved {
    fn new(blocks: Vec<Block>) -> Self {
        let mut before = Vec::with_capacity(blocks.len());
        let mut sum = 0;
        for block in &blocks {
            before.push(sum);
            sum += BLOCK_SLOTS - block.gone();
        }
        Self { blocks, before }
    }

    /// The new number of a slot, or of the first taken one after it; for the end of the line, the
    /// number of taken slots.
    #[inline]
    pub fn to(&self, slot: u32) -> u32 {
        let (block, inside) = ((slot / BLOCK_SLOTS) as usize, slot % BLOCK_SLOTS);
        self.before[block] + inside - self.blocks[block].gone_before(inside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a plain list of the slots that are taken, with compactions in between.
        #[test]
        fn it_counts_as_a_plain_list_does(
            steps in proptest::collection::vec((0u8..8, any::<u32>()), 1..400),
        ) {
            let mut order = SlotOrder::new();
            let mut naive: Vec<u32> = Vec::new();
            for (what, choice) in steps {
                match what {
                    0 => {
                        let moved = order.compact();
                        for (number, slot) in naive.iter_mut().enumerate() {
                            prop_assert_eq!(moved.to(*slot), number as u32);
                            *slot = number as u32;
                        }
                    }
                    1 | 2 if !naive.is_empty() => {
                        let index = choice as usize % naive.len();
                        let newer = naive.len() - index;
                        let found = order.give_back(naive.remove(index));
                        prop_assert_eq!(found as usize, newer);
                    }
                    _ => {
                        for _ in 0..choice % 700 {
                            if order.is_full() {
                                break;
                            }
                            naive.push(order.take());
                        }
                    }
                }
                prop_assert_eq!(order.taken() as usize, naive.len());
                let slot = choice % (order.next() + 1);
                let from = naive.iter().filter(|taken| **taken >= slot).count();
                prop_assert_eq!(order.taken_from(slot) as usize, from);
            }
        }
    }

    #[test]
    fn the_end_of_a_full_line_can_be_asked_for() {
        let mut order = SlotOrder::new();
        while !order.is_full() {
            order.take();
        }
        let end = order.next();
        assert_eq!((order.taken(), order.taken_from(end), order.taken_from(0)), (end, 0, end));
        assert_eq!(order.compact().to(end), end);
        assert!(!order.is_full());
    }
}
