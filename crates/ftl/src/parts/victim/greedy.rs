//! Most invalid pages first; among equals the one that has waited longest with that count.
//!
//! Source: what FlashSim really does where DFTL 2014, 3.3 says cost-benefit
//! (`docs/papers/others.md#victim-policies`). One list per number of valid pages keeps every step
//! constant. Only the emptiest candidates are in their lists, up to a horizon: a block far from
//! being chosen only notes how many pages it has and since when, which touches one line of memory.
//! When the lists run empty, the horizon rises, and those that it passes join in the order of their
//! notes.

use super::{Census, Choice, Equals, VictimContext, VictimPolicy};
use ftlab_flash::rng::Rng;
use ftlab_flash::units::{BlockId, zeroed};
use zerocopy::FromZeros;

#[cfg(test)]
mod tests;

/// A block in a list, in none yet, or no candidate; or the two ends of a list, which is a ring. All
/// that changes when a block loses a page lies side by side.
#[derive(Clone, Copy, Debug, Default, FromZeros)]
#[repr(align(16))]
struct Node {
    next: u32,
    previous: u32,
    /// The list of a candidate plus one, whether it is in it or not; 0 for others.
    list: u32,
    /// Which of all notes was its last.
    since: u32,
}

/// At least so many candidates are in lists, where there are as many.
const LISTED: u32 = 16;
/// Or one in so many of all candidates.
const LISTED_SHARE: u32 = 16;
/// Or one in so many of all blocks, which are looked at when the horizon moves.
const LISTED_OF_BLOCKS: u32 = 64;

/// Lists of blocks by valid pages: the node of so many pages' number is that list's ends, and the
/// blocks' nodes follow. As rings lists have no first and last that would be cases of their own.
#[derive(Clone, Debug)]
pub struct Greedy {
    first_block: u32,
    pages_per_block: u32,
    nodes: Vec<Node>,
    /// Candidates with more valid pages than this are in no list.
    horizon: u32,
    /// No block in a list has fewer valid pages than this.
    fewest: u32,
    /// Candidates that are in lists, and how many may be before the horizon comes down.
    listed: u32,
    most_listed: u32,
    /// Candidates: what a scan would compare.
    count: u32,
    /// Notes so far.
    notes: u32,
    /// Nodes to be put into order, with their notes; empty between calls.
    joining: Vec<(u32, u32)>,
    /// Candidates by valid pages, when they were counted last.
    sizes: Vec<u32>,
}

impl Greedy {
    /// Puts a node at the end of a list.
    #[inline(always)]
    fn link(&mut self, node: u32, list: u32) {
        let nodes = &mut self.nodes[..];
        let previous = std::mem::replace(&mut nodes[list as usize].previous, node);
        nodes[previous as usize].next = node;
        let known = &mut nodes[node as usize];
        (known.next, known.previous) = (list, previous);
        self.fewest = self.fewest.min(list);
        self.listed += 1;
    }

    /// Takes a node out of its list.
    #[inline(always)]
    fn unlink(&mut self, node: u32) {
        let nodes = &mut self.nodes[..];
        let Node { next, previous, .. } = nodes[node as usize];
        nodes[previous as usize].next = next;
        nodes[next as usize].previous = previous;
        self.listed -= 1;
    }

    /// A candidate that is in no list has so many valid pages from now on.
    #[inline]
    fn note(&mut self, node: u32, valid: u32) {
        if self.notes == u32::MAX {
            self.number_notes_anew();
        }
        self.notes += 1;
        let known = &mut self.nodes[node as usize];
        (known.list, known.since) = (valid + 1, self.notes);
        if valid <= self.horizon {
            self.link(node, valid);
        }
    }

    /// Takes a candidate out of the list of so many pages, if it is in it.
    #[inline]
    fn forget(&mut self, node: u32, valid: u32) {
        if valid <= self.horizon {
            self.unlink(node);
        }
    }

    /// A candidate in a list, or about to be, lost a page.
    #[inline(never)]
    fn sink(&mut self, node: u32, valid: u32) {
        self.forget(node, self.nodes[node as usize].list - 1);
        self.note(node, valid);
    }

    /// Moves `fewest` up to the first list with a block.
    fn settle(&mut self) {
        while self.fewest < self.pages_per_block && self.first(self.fewest).is_none() {
            self.fewest += 1;
        }
    }

    /// How many candidates are to be in lists at least.
    fn enough(&self) -> u32 {
        let blocks = self.nodes.len() as u32;
        LISTED.max(self.count / LISTED_SHARE).max(blocks / LISTED_OF_BLOCKS)
    }

    /// The horizon moved: it comes down again when there are many more, because those of one list
    /// stay together however many they are.
    fn bound_listed(&mut self) {
        debug_assert_eq!(
            self.sizes[..=self.horizon as usize].iter().sum::<u32>(),
            self.listed,
            "candidates up to the horizon are in lists, and no others"
        );
        self.most_listed = (4 * self.enough()).max(2 * self.listed);
    }

    /// The lowest horizon up to which enough candidates are.
    fn lowest_horizon(&mut self) -> u32 {
        self.sizes.fill(0);
        let blocks = &self.nodes[self.pages_per_block as usize + 1..];
        for list in blocks.iter().filter_map(|node| node.list.checked_sub(1)) {
            self.sizes[list as usize] += 1;
        }
        let (enough, mut found) = (self.enough(), 0);
        let reaches = |&size: &u32| {
            found += size;
            found >= enough
        };
        let list = self.sizes.iter().position(reaches);
        list.map_or(self.pages_per_block, |list| list as u32)
    }

    /// Candidates up to a higher horizon join their lists, in the order of their notes.
    #[cold]
    fn raise_horizon(&mut self) {
        let horizon = self.lowest_horizon();
        let before = std::mem::replace(&mut self.horizon, horizon);
        for node in self.pages_per_block + 1..self.nodes.len() as u32 {
            let Node { list, since, .. } = self.nodes[node as usize];
            if (before + 1..=self.horizon).contains(&list.wrapping_sub(1)) {
                self.joining.push((since, node));
            }
        }
        let mut joining = std::mem::take(&mut self.joining);
        joining.sort_unstable();
        for (_, node) in joining.drain(..) {
            self.link(node, self.nodes[node as usize].list - 1);
        }
        self.joining = joining;
        self.bound_listed();
    }

    /// Lists far from being chosen from are given up; what was in them knows its place.
    #[cold]
    fn lower_horizon(&mut self) {
        // Never higher: who is beyond it joins in `raise_horizon` alone.
        let horizon = self.lowest_horizon().min(self.horizon);
        let before = std::mem::replace(&mut self.horizon, horizon);
        for list in self.horizon + 1..=before {
            self.listed -= self.sizes[list as usize];
            let ends = &mut self.nodes[list as usize];
            (ends.next, ends.previous) = (list, list);
        }
        self.bound_listed();
    }

    /// So that the order of notes can be told for ever.
    #[cold]
    fn number_notes_anew(&mut self) {
        let blocks = self.pages_per_block + 1..self.nodes.len() as u32;
        let nodes = &self.nodes;
        let candidates = blocks.filter(|&node| nodes[node as usize].list != 0);
        self.joining.extend(candidates.map(|node| (nodes[node as usize].since, node)));
        self.joining.sort_unstable();
        self.notes = self.joining.len() as u32;
        for (since, (_, node)) in (1..).zip(self.joining.drain(..)) {
            self.nodes[node as usize].since = since;
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
        let blocks = context.blocks.clone();
        let lists = context.pages + 1;
        let mut nodes: Vec<Node> = zeroed(lists as usize + blocks.len());
        for (number, ends) in (0..lists).zip(&mut nodes) {
            (ends.next, ends.previous) = (number, number);
        }
        Greedy {
            first_block: blocks.start,
            pages_per_block: context.pages,
            nodes,
            horizon: context.pages,
            fewest: context.pages,
            listed: 0,
            most_listed: 0,
            count: 0,
            notes: 0,
            joining: Vec::with_capacity(blocks.len()),
            sizes: vec![0; lists as usize],
        }
    }

    fn closed(&mut self, known: &Census<'_>, block: BlockId) {
        self.count += 1;
        self.note(self.node(block), known.valid_pages(block));
        if self.listed == 0 {
            self.raise_horizon();
        }
    }

    #[inline(always)]
    fn invalidated(&mut self, block: BlockId, valid: u32) {
        let node = self.node(block);
        let known = &mut self.nodes[node as usize];
        if known.list == 0 {
            return;
        }
        // One fewer valid page: `fewest` cannot rise, and who is in a list stays in one.
        if valid > self.horizon && self.notes < u32::MAX {
            self.notes += 1;
            (known.list, known.since) = (valid + 1, self.notes);
        } else {
            self.sink(node, valid);
        }
    }

    #[inline]
    fn glance_at(&self, block: BlockId) -> u32 {
        self.nodes[self.node(block) as usize].list
    }

    fn has(&self, block: BlockId) -> bool {
        self.nodes[self.node(block) as usize].list != 0
    }

    fn removed(&mut self, block: BlockId) {
        let node = self.node(block);
        let list = std::mem::take(&mut self.nodes[node as usize].list);
        assert!(list != 0, "block {block} is no candidate");
        self.forget(node, list - 1);
        self.count -= 1;
        if self.listed == 0 && self.count > 0 {
            self.raise_horizon();
        } else if self.listed > self.most_listed && self.horizon > self.fewest {
            self.lower_horizon();
        }
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
