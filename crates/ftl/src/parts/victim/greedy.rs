//! Most invalid pages first; among equals the one that has waited longest with that count.
//!
//! Source: what FlashSim really does where DFTL 2014, 3.3 says cost-benefit
//! (`docs/papers/others.md#victim-policies`). One list per number of valid pages keeps every step
//! constant.

use super::{Census, Choice, Equals, VictimContext, VictimPolicy};
use ftlab_flash::rng::Rng;
use ftlab_flash::units::{BlockId, zeroed};
use zerocopy::FromZeros;

/// A block in a list, or in none; or the two ends of a list, which is a ring. All that changes when
/// a block loses a page lies side by side.
#[derive(Clone, Copy, Debug, Default, FromZeros)]
#[repr(align(16))]
struct Node {
    next: u32,
    previous: u32,
    /// The list of a candidate plus one; 0 for others.
    list: u32,
}

/// Lists of blocks by valid pages: the node of so many pages' number is that list's ends, and the
/// blocks' nodes follow. As rings lists have no first and last that would be cases of their own.
#[derive(Clone, Debug)]
pub struct Greedy {
    first_block: u32,
    pages_per_block: u32,
    nodes: Vec<Node>,
    /// No block has fewer valid pages than this.
    fewest: u32,
    /// Candidates: what a scan would compare.
    count: u32,
}

impl Greedy {
    /// Puts a node at the end of a list.
    #[inline]
    fn link(&mut self, node: u32, list: u32) {
        let nodes = &mut self.nodes[..];
        let previous = std::mem::replace(&mut nodes[list as usize].previous, node);
        nodes[previous as usize].next = node;
        nodes[node as usize] = Node { next: list, previous, list: list + 1 };
        self.fewest = self.fewest.min(list);
    }

    /// Takes a node out of its list.
    #[inline]
    fn unlink(&mut self, node: u32) {
        let nodes = &mut self.nodes[..];
        let Node { next, previous, .. } = nodes[node as usize];
        nodes[previous as usize].next = next;
        nodes[next as usize].previous = previous;
        nodes[node as usize].list = 0;
    }

    /// Moves `fewest` up to the first list with a block.
    fn settle(&mut self) {
        while self.fewest < self.pages_per_block && self.first(self.fewest).is_none() {
            self.fewest += 1;
        }
    }

    #[inline]
    fn node(&self, block: BlockId) -> u32 {
        block.0 - self.first_block + self.pages_per_block + 1
    }

    /// The block of a node, unless that is the ends of a list.
    fn block(&self, node: u32) -> Option<BlockId> {
        let number = node.checked_sub(self.pages_per_block + 1)?;
        Some(BlockId(number + self.first_block))
    }

    /// The block that has been in a list for longest.
    fn first(&self, list: u32) -> Option<BlockId> {
        self.block(self.nodes[list as usize].next)
    }
}

impl VictimPolicy for Greedy {
    fn new(context: &VictimContext<'_>) -> Self {
        let geometry = context.nand.geometry();
        let blocks = geometry.blocks_of(context.plane);
        let lists = context.pages + 1;
        let mut nodes: Vec<Node> = zeroed(lists as usize + blocks.len());
        for (number, ends) in (0..lists).zip(&mut nodes) {
            *ends = Node { next: number, previous: number, list: 0 };
        }
        Greedy {
            first_block: blocks.start,
            pages_per_block: context.pages,
            nodes,
            fewest: context.pages,
            count: 0,
        }
    }

    fn closed(&mut self, known: &Census<'_>, block: BlockId) {
        self.link(self.node(block), known.valid_pages(block));
        self.count += 1;
    }

    #[inline(always)]
    fn invalidated(&mut self, block: BlockId, valid: u32) {
        let node = self.node(block);
        if self.nodes[node as usize].list != 0 {
            // One fewer valid page: `fewest` cannot rise.
            self.unlink(node);
            self.link(node, valid);
        }
    }

    fn removed(&mut self, block: BlockId) {
        let node = self.node(block);
        assert!(self.nodes[node as usize].list != 0, "block {block} is no candidate");
        self.unlink(node);
        self.count -= 1;
        self.settle();
    }

    fn choose(&self, _: &Census<'_>, _: &mut Rng) -> Choice {
        // A block of which every page is valid is no victim.
        let some = self.fewest < self.pages_per_block;
        let victim = if some { self.first(self.fewest) } else { None };
        Choice { victim, steps: self.count }
    }

    /// Those with as few valid pages, in the order in which they would be chosen.
    fn equals(&self, known: &Census<'_>, victim: BlockId) -> Equals {
        let mut node = known.valid_pages(victim);
        let list = std::iter::from_fn(|| {
            node = self.nodes[node as usize].next;
            self.block(node)
        });
        Equals::of(victim, list)
    }
}
