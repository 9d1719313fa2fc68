//! Two sets of blocks that policies keep: a list in order, and a dense set to draw from.

use std::ops::Range;

use super::census::Census;
use ftlab_flash::units::{BlockId, zeroed};

/// Blocks in the order in which they were appended; any can leave in constant time.
///
/// Links are block numbers within the plane plus one, 0 for "none".
#[derive(Clone, Debug)]
pub struct BlockList {
    first_block: u32,
    next: Vec<u32>,
    previous: Vec<u32>,
    member: Vec<u8>,
    head: u32,
    tail: u32,
    length: u32,
}

impl BlockList {
    /// Empty, for blocks with numbers in a row.
    pub fn new(blocks: Range<u32>) -> Self {
        BlockList {
            first_block: blocks.start,
            next: zeroed(blocks.len() + 1),
            previous: zeroed(blocks.len() + 1),
            member: zeroed(blocks.len() + 1),
            head: 0,
            tail: 0,
            length: 0,
        }
    }

    fn node(&self, block: BlockId) -> u32 {
        block.0 - self.first_block + 1
    }

    /// Blocks in the list.
    pub fn len(&self) -> usize {
        self.length as usize
    }

    /// Whether a block is in the list.
    #[inline]
    pub fn contains(&self, block: BlockId) -> bool {
        self.member[self.node(block) as usize] == 1
    }

    /// Appends a block at the end.
    pub fn push(&mut self, block: BlockId) {
        let node = self.node(block);
        debug_assert!(!self.contains(block));
        self.next[node as usize] = 0;
        self.previous[node as usize] = self.tail;
        if self.tail == 0 {
            self.head = node;
        } else {
            self.next[self.tail as usize] = node;
        }
        self.tail = node;
        self.member[node as usize] = 1;
        self.length += 1;
    }

    /// Takes a block out.
    pub fn remove(&mut self, block: BlockId) {
        let node = self.node(block);
        assert!(self.contains(block), "block {block} is no candidate");
        let (before, behind) = (self.previous[node as usize], self.next[node as usize]);
        if before == 0 {
            self.head = behind;
        } else {
            self.next[before as usize] = behind;
        }
        if behind == 0 {
            self.tail = before;
        } else {
            self.previous[behind as usize] = before;
        }
        self.member[node as usize] = 0;
        self.length -= 1;
    }

    /// The blocks from the oldest on.
    pub fn iter(&self) -> impl Iterator<Item = BlockId> + '_ {
        let mut node = self.head;
        std::iter::from_fn(move || {
            (node != 0).then(|| {
                let block = BlockId(node - 1 + self.first_block);
                node = self.next[node as usize];
                block
            })
        })
    }
}

/// Blocks in no order, to draw from.
#[derive(Clone, Debug)]
pub struct BlockSet {
    first_block: u32,
    members: Vec<BlockId>,
    /// Place in `members` plus one.
    place: Vec<u32>,
}

impl BlockSet {
    /// Empty, for blocks with numbers in a row.
    pub fn new(blocks: Range<u32>) -> Self {
        BlockSet {
            first_block: blocks.start,
            members: Vec::with_capacity(blocks.len()),
            place: zeroed(blocks.len()),
        }
    }

    fn index(&self, block: BlockId) -> usize {
        (block.0 - self.first_block) as usize
    }

    /// Adds a block.
    pub fn insert(&mut self, block: BlockId) {
        let index = self.index(block);
        debug_assert!(self.place[index] == 0);
        self.members.push(block);
        self.place[index] = self.members.len() as u32;
    }

    /// Takes a block out.
    pub fn remove(&mut self, block: BlockId) {
        let index = self.index(block);
        let place = self.place[index];
        assert!(place > 0, "block {block} is no candidate");
        self.place[index] = 0;
        self.members.swap_remove(place as usize - 1);
        if let Some(&moved) = self.members.get(place as usize - 1) {
            let moved = self.index(moved);
            self.place[moved] = place;
        }
    }

    /// Whether a block is a member.
    pub fn contains(&self, block: BlockId) -> bool {
        self.place[self.index(block)] > 0
    }

    /// The members.
    pub fn members(&self) -> &[BlockId] {
        &self.members
    }
}

/// The first block of an order that holds an invalid page, with the candidates looked at.
pub fn first_with_invalid(
    known: &Census<'_>,
    blocks: impl Iterator<Item = BlockId>,
) -> super::Choice {
    let pages = known.pages();
    let mut steps = 0;
    for block in blocks {
        steps += 1;
        if is_worth(known, block, pages) {
            return super::Choice { victim: Some(block), steps };
        }
    }
    super::Choice { victim: None, steps }
}

/// Whether collecting a block gains anything: a page is invalid, torn or was never programmed.
#[inline]
pub fn is_worth(known: &Census<'_>, block: BlockId, pages_per_block: u32) -> bool {
    known.valid_pages(block) < pages_per_block
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of a plane that is not the first.
    const BLOCKS: Range<u32> = 10..20;

    #[test]
    fn a_list_keeps_the_order_in_which_its_blocks_came() {
        let mut list = BlockList::new(BLOCKS);
        [10, 19, 14, 12].into_iter().for_each(|block| list.push(BlockId(block)));
        list.remove(BlockId(19));
        list.push(BlockId(19));
        assert_eq!(list.iter().map(|block| block.0).collect::<Vec<u32>>(), [10, 14, 12, 19]);
        let has = [10, 11, 19].map(|block| list.contains(BlockId(block)));
        assert_eq!((list.len(), has), (4, [true, false, true]));
    }

    #[test]
    fn a_set_knows_its_blocks_wherever_they_lie() {
        let mut set = BlockSet::new(BLOCKS);
        [10, 19, 14, 12].into_iter().for_each(|block| set.insert(BlockId(block)));
        set.remove(BlockId(19));
        assert_eq!(set.members(), [10, 12, 14].map(BlockId));
        set.remove(BlockId(12));
        let has = [10, 12, 14, 19].map(|block| set.contains(BlockId(block)));
        assert_eq!((set.members(), has), (&[10, 14].map(BlockId)[..], [true, false, true, false]));
    }
}
