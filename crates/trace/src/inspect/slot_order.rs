//! A line of slots, handed out one after the other, of which some were given back: how many from a
//! slot on are still taken, in logarithmic time.
//!
//! Each page of a trace holds the slot of its latest access, so the slots taken from a page's own
//! one on are the pages used since: its position in the LRU stack (Bennett and Kruskal: LRU stack
//! processing, IBM J. Res. Dev. 19(4), 1975). A bit per slot, and a tree of counts over blocks of
//! 512 slots in which every node has sixteen children, a cache line: a query adds up one line per
//! level without a branch that depends on the slot, where a binary tree mispredicts one per level.
//! When the line is used up the taken slots move together, keeping their order, so that memory
//! follows the slots taken and not the slots ever handed out: at most 4 bits and a little per page.

/// Words of a block.
const BLOCK_WORDS: usize = 8;
/// Slots of a block.
const BLOCK_SLOTS: u32 = 64 * BLOCK_WORDS as u32;
/// Children of a node of the tree.
const FAN: usize = 16;
/// Levels of the tree over the longest line: 2^23 blocks are the leaves of six.
const LEVELS_MAX: usize = 6;
/// Slots of the first line.
const SLOTS_MIN: u32 = 8 * BLOCK_SLOTS;

/// Most slots that may be taken at once; the line is twice as long, and slots are 32-bit numbers.
pub(super) const TAKEN_MAX: u64 = (1 << 31) - 4 * BLOCK_SLOTS as u64;

/// The line.
pub(super) struct SlotOrder {
    /// One bit per slot: is it taken?
    words: Vec<u64>,
    /// Taken slots by block, then by sixteen blocks, and so on; each level in whole nodes.
    counts: Vec<u32>,
    /// Where each level begins in `counts`, and how many there are.
    levels: [usize; LEVELS_MAX],
    depth: usize,
    next: u32,
    taken: u32,
}

impl SlotOrder {
    /// No slot is taken.
    pub fn new() -> Self {
        Self::with_taken(0)
    }

    /// A line of at least twice as many slots as are taken, the first `taken` of them.
    fn with_taken(taken: u32) -> Self {
        let slots = (2 * taken).max(SLOTS_MIN).next_multiple_of(BLOCK_SLOTS);
        let blocks = (slots / BLOCK_SLOTS) as usize;
        let mut words = vec![0; blocks * BLOCK_WORDS];
        let (whole, rest) = ((taken / 64) as usize, taken % 64);
        words[..whole].fill(u64::MAX);
        words[whole] = (1 << rest) - 1;
        let mut order = Self {
            words,
            counts: Vec::new(),
            levels: [0; LEVELS_MAX],
            depth: 0,
            next: taken,
            taken,
        };
        // A leaf more, so that the end of the line can be asked about.
        let (mut nodes, mut slots) = (blocks + 1, u64::from(BLOCK_SLOTS));
        loop {
            assert!(order.depth < LEVELS_MAX, "{blocks} blocks are more than the tree counts");
            let start = order.counts.len();
            order.levels[order.depth] = start;
            order.depth += 1;
            order.counts.resize(start + nodes.next_multiple_of(FAN), 0);
            for (count, first) in order.counts[start..].iter_mut().zip(0u64..) {
                *count = u64::from(taken).saturating_sub(first * slots).min(slots) as u32;
            }
            if nodes <= FAN {
                return order;
            }
            (nodes, slots) = (nodes.div_ceil(FAN), slots * FAN as u64);
        }
    }

    /// Slots that are taken.
    pub fn taken(&self) -> u32 {
        self.taken
    }

    /// The slot that is handed out next.
    #[inline]
    pub fn next(&self) -> u32 {
        self.next
    }

    /// Is the line used up? Then [`Self::compact`] must come before [`Self::take`].
    #[inline]
    pub fn is_full(&self) -> bool {
        self.next as usize == 64 * self.words.len()
    }

    /// Slots taken from `slot` on, itself included.
    #[inline]
    pub fn taken_from(&self, slot: u32) -> u32 {
        let word = (slot / 64) as usize;
        let mut index = word / BLOCK_WORDS;
        let mut before = self.taken_in_block(index, word % BLOCK_WORDS, slot % 64);
        for level in &self.levels[..self.depth] {
            let first = level + index / FAN * FAN;
            let child = (index % FAN) as u32;
            for (count, number) in self.counts[first..first + FAN].iter().zip(0u32..) {
                before += count & u32::from(number < child).wrapping_neg();
            }
            index /= FAN;
        }
        self.taken - before
    }

    /// Taken slots of a block before the given bit of its given word.
    #[inline]
    fn taken_in_block(&self, block: usize, word: usize, bit: u32) -> u32 {
        // The end of the line is a slot behind the last block.
        let Some(words) = self.words.get(block * BLOCK_WORDS..(block + 1) * BLOCK_WORDS) else {
            return 0;
        };
        let mut before = 0;
        for (number, bits) in words.iter().enumerate() {
            let whole = u64::from(number < word).wrapping_neg();
            let part = u64::from(number == word).wrapping_neg() & ((1 << bit) - 1);
            before += (bits & (whole | part)).count_ones();
        }
        before
    }

    /// Hands out the next slot.
    #[inline]
    pub fn take(&mut self) -> u32 {
        let slot = self.next;
        self.words[(slot / 64) as usize] |= 1 << (slot % 64);
        self.add(slot, 1);
        self.next += 1;
        self.taken += 1;
        slot
    }

    /// Gives a taken slot back.
    #[inline]
    pub fn give_back(&mut self, slot: u32) {
        self.words[(slot / 64) as usize] &= !(1 << (slot % 64));
        self.add(slot, u32::MAX);
        self.taken -= 1;
    }

    #[inline]
    fn add(&mut self, slot: u32, what: u32) {
        let mut index = (slot / BLOCK_SLOTS) as usize;
        for level in &self.levels[..self.depth] {
            let count = &mut self.counts[level + index];
            *count = count.wrapping_add(what);
            index /= FAN;
        }
    }

    /// Moves the taken slots to the front of a line of twice their number; where each went.
    pub fn compact(&mut self) -> Moved {
        let moved = Moved::new(std::mem::take(&mut self.words));
        *self = Self::with_taken(self.taken);
        moved
    }

    /// Bytes held.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        8 * self.words.capacity() + 4 * self.counts.capacity()
    }
}

/// Where slots went when the line was compacted.
pub(super) struct Moved {
    words: Vec<u64>,
    /// Slots taken before each word, and before the end.
    before: Vec<u32>,
}

impl Moved {
    fn new(words: Vec<u64>) -> Self {
        let mut before = Vec::with_capacity(words.len() + 1);
        let mut sum = 0;
        for word in &words {
            before.push(sum);
            sum += word.count_ones();
        }
        before.push(sum);
        Self { words, before }
    }

    /// The new number of a slot, or of the first taken one after it; for the end of the line, the
    /// number of taken slots.
    #[inline]
    pub fn to(&self, slot: u32) -> u32 {
        let word = (slot / 64) as usize;
        let inside = self.words.get(word).map_or(0, |word| word & ((1 << (slot % 64)) - 1));
        self.before[word] + inside.count_ones()
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
                        order.give_back(naive.remove(choice as usize % naive.len()));
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
