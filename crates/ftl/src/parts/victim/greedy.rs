//! Most invalid pages first; among equals the one that has waited longest with that count.
//!
//! Source: what FlashSim really does where DFTL 2014, 3.3 says cost-benefit (spec 1.9). One list
//! per number of valid pages keeps every step constant.

use super::{Choice, Equals, VictimContext, VictimPolicy};
use ftlab_flash::board::nand::Nand;
use ftlab_flash::rng::Rng;
use ftlab_flash::units::{BlockId, zeroed};

/// Lists of blocks by valid pages. Links are block numbers within the plane plus one.
#[derive(Clone, Debug)]
pub struct Greedy {
    first_block: u32,
    pages_per_block: u32,
    next: Vec<u32>,
    previous: Vec<u32>,
    /// Valid pages plus one of a candidate; 0 for others.
    bucket: Vec<u32>,
    head: Vec<u32>,
    tail: Vec<u32>,
    /// No block has fewer valid pages than this.
    fewest: u32,
    /// Candidates: what a scan would compare.
    count: u32,
}

impl Greedy {
    fn link(&mut self, node: u32, valid: u32) {
        let tail = self.tail[valid as usize];
        self.next[node as usize] = 0;
        self.previous[node as usize] = tail;
        if tail == 0 {
            self.head[valid as usize] = node;
        } else {
            self.next[tail as usize] = node;
        }
        self.tail[valid as usize] = node;
        self.bucket[node as usize] = valid + 1;
        self.fewest = self.fewest.min(valid);
    }

    fn unlink(&mut self, node: u32) {
        let valid = self.bucket[node as usize] - 1;
        let (before, behind) = (self.previous[node as usize], self.next[node as usize]);
        if before == 0 {
            self.head[valid as usize] = behind;
        } else {
            self.next[before as usize] = behind;
        }
        if behind == 0 {
            self.tail[valid as usize] = before;
        } else {
            self.previous[behind as usize] = before;
        }
        self.bucket[node as usize] = 0;
    }

    /// Moves `fewest` up to the first list with a block.
    fn settle(&mut self) {
        while self.fewest < self.pages_per_block && self.head[self.fewest as usize] == 0 {
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
            next: zeroed(blocks.len() + 1),
            previous: zeroed(blocks.len() + 1),
            bucket: zeroed(blocks.len() + 1),
            head: zeroed(lists),
            tail: zeroed(lists),
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
        if self.bucket[node as usize] != 0 {
            // One fewer valid page: `fewest` cannot rise.
            self.unlink(node);
            self.link(node, valid);
        }
    }

    fn removed(&mut self, block: BlockId) {
        let node = self.node(block);
        assert!(self.bucket[node as usize] != 0, "block {block} is no candidate");
        self.unlink(node);
        self.count -= 1;
        self.settle();
    }

    fn choose(&self, _: &Nand, _: &mut Rng) -> Choice {
        if self.fewest >= self.pages_per_block {
            return Choice { victim: None, steps: self.count };
        }
        let node = self.head[self.fewest as usize];
        let victim = (node != 0).then(|| BlockId(node - 1 + self.first_block));
        Choice { victim, steps: self.count }
    }

    /// Those with as few valid pages, in the order in which they would be chosen.
    fn equals(&self, nand: &Nand, victim: BlockId) -> Equals {
        let mut node = self.head[nand.valid_pages(victim) as usize];
        let list = std::iter::from_fn(|| {
            let block = (node != 0).then(|| BlockId(node - 1 + self.first_block));
            node = self.next[node as usize];
            block
        });
        Equals::of(victim, list)
    }
}
