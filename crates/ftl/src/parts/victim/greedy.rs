//! Most invalid pages first; among equals the one that has waited longest with that count.
//!
//! Source: what FlashSim really does where DFTL 2014, 3.3 says cost-benefit
//! (`docs/papers/others.md#victim-policies`). One list per number of valid pages keeps every step
//! constant.

use super::{Choice, Equals, VictimContext, VictimPolicy};
use ftlab_flash::board::nand::Nand;
use ftlab_flash::rng::Rng;
use ftlab_flash::units::{BlockId, zeroed};
use zerocopy::FromZeros;

/// A block in a list, or in none: all that changes when it loses a page lies side by side.
#[derive(Clone, Copy, Debug, Default, FromZeros)]
#[repr(align(16))]
struct Node {
    next: u32,
    previous: u32,
    /// Valid pages plus one of a candidate; 0 for others.
    bucket: u32,
}

/// First and last of a list.
#[derive(Clone, Copy, Debug, Default, FromZeros)]
struct Ends {
    head: u32,
    tail: u32,
}

/// Lists of blocks by valid pages. Links are block numbers within the plane plus one.
#[derive(Clone, Debug)]
pub struct Greedy {
    first_block: u32,
    pages_per_block: u32,
    nodes: Vec<Node>,
    lists: Vec<Ends>,
    /// No block has fewer valid pages than this.
    fewest: u32,
    /// Candidates: what a scan would compare.
    count: u32,
}

impl Greedy {
    #[inline]
    fn link(&mut self, node: u32, valid: u32) {
        let ends = &mut self.lists[valid as usize];
        let previous = std::mem::replace(&mut ends.tail, node);
        match previous {
            0 => ends.head = node,
            tail => self.nodes[tail as usize].next = node,
        }
        self.nodes[node as usize] = Node { next: 0, previous, bucket: valid + 1 };
        self.fewest = self.fewest.min(valid);
    }

    #[inline]
    fn unlink(&mut self, node: u32) {
        let Node { next, previous, bucket } = self.nodes[node as usize];
        let ends = &mut self.lists[bucket as usize - 1];
        match previous {
            0 => ends.head = next,
            before => self.nodes[before as usize].next = next,
        }
        match next {
            0 => ends.tail = previous,
            behind => self.nodes[behind as usize].previous = previous,
        }
        self.nodes[node as usize].bucket = 0;
    }

    /// Moves `fewest` up to the first list with a block.
    fn settle(&mut self) {
        while self.fewest < self.pages_per_block && self.lists[self.fewest as usize].head == 0 {
            self.fewest += 1;
        }
    }

    #[inline]
    fn node(&self, block: BlockId) -> u32 {
        block.0 - self.first_block + 1
    }
}

impl VictimPolicy for Greedy {
    fn new(context: &VictimContext<'_>) -> Self {
        let geometry = context.nand.geometry();
        let blocks = geometry.blocks_of(context.plane);
        let lists = geometry.pages_per_block as usize + 1;
        Greedy {
            first_block: blocks.start,
            pages_per_block: geometry.pages_per_block,
            nodes: zeroed(blocks.len() + 1),
            lists: zeroed(lists),
            fewest: geometry.pages_per_block,
            count: 0,
        }
    }

    fn closed(&mut self, nand: &Nand, block: BlockId) {
        self.link(self.node(block), nand.valid_pages(block));
        self.count += 1;
    }

    #[inline]
    fn invalidated(&mut self, block: BlockId, valid: u32) {
        let node = self.node(block);
        if self.nodes[node as usize].bucket != 0 {
            // One fewer valid page: `fewest` cannot rise.
            self.unlink(node);
            self.link(node, valid);
        }
    }

    fn removed(&mut self, block: BlockId) {
        let node = self.node(block);
        assert!(self.nodes[node as usize].bucket != 0, "block {block} is no candidate");
        self.unlink(node);
        self.count -= 1;
        self.settle();
    }

    fn choose(&self, _: &Nand, _: &mut Rng) -> Choice {
        if self.fewest >= self.pages_per_block {
            return Choice { victim: None, steps: self.count };
        }
        let node = self.lists[self.fewest as usize].head;
        let victim = (node != 0).then(|| BlockId(node - 1 + self.first_block));
        Choice { victim, steps: self.count }
    }

    /// Those with as few valid pages, in the order in which they would be chosen.
    fn equals(&self, nand: &Nand, victim: BlockId) -> Equals {
        let mut node = self.lists[nand.valid_pages(victim) as usize].head;
        let list = std::iter::from_fn(|| {
            let block = (node != 0).then(|| BlockId(node - 1 + self.first_block));
            node = self.nodes[node as usize].next;
            block
        });
        Equals::of(victim, list)
    }
}
