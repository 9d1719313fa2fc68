//! The erased blocks of one plane, and which of them is taken next.
//!
//! Blocks that were never used are not listed but counted, so that a large empty device costs
//! nothing. While more than half of the plane is untouched, erased blocks are taken before
//! untouched ones: a small footprint then stays small in memory, whatever the order says.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::parts::alloc::FreeOrder;
use crate::parts::slots::Slot;
use crate::parts::slots::indexed_heap::IndexedHeap;
use crate::parts::wear::FreeRule;
use ftlab_flash::board::nand::Nand;
use ftlab_flash::units::{BlockId, PlaneId};

/// The erased blocks of one plane.
#[derive(Clone, Debug)]
pub struct FreePool {
    order: FreeOrder,
    by_erases: BinaryHeap<Reverse<(u32, u32)>>,
    queue: VecDeque<u32>,
    /// The erased blocks where the most worn one can be asked for as well.
    both_ends: Option<BothEnds>,
    /// First block of the plane.
    first: u32,
    next_untouched: u32,
    end: u32,
    /// Blocks of the plane that were good from the start.
    blocks: u32,
    /// Bad ones among the untouched, the first one last.
    bad: Vec<u32>,
}

impl FreePool {
    /// All blocks of a plane, none used yet.
    pub fn untouched(nand: &Nand, plane: PlaneId, rule: FreeRule) -> Self {
        let blocks = nand.geometry().blocks_of(plane);
        let mut pool = FreePool::empty(nand, plane, rule);
        pool.untouched_from(nand, plane, blocks.start);
        pool
    }

    /// No block yet; recovery puts in what it finds.
    pub fn empty(nand: &Nand, plane: PlaneId, rule: FreeRule) -> Self {
        let bad = nand.factory_bad_in(plane).len() as u32;
        FreePool::of(nand.geometry().blocks_of(plane), bad, rule)
    }

    /// The same of any blocks that are numbered in a row, or of lines; so many of them are bad from
    /// the start.
    pub fn of(blocks: std::ops::Range<u32>, bad: u32, rule: FreeRule) -> Self {
        let count = blocks.len();
        let (heap, queue) = match rule.order {
            _ if rule.both_ends => (0, 0),
            FreeOrder::MinErase => (count, 0),
            FreeOrder::Fifo | FreeOrder::Lifo => (0, count),
        };
        FreePool {
            order: rule.order,
            both_ends: rule.both_ends.then(|| BothEnds::new(count as u32)),
            first: blocks.start,
            by_erases: BinaryHeap::with_capacity(heap),
            queue: VecDeque::with_capacity(queue),
            next_untouched: blocks.end,
            end: blocks.end,
            blocks: count as u32 - bad,
            bad: Vec::new(),
        }
    }

    /// Free blocks.
    #[inline]
    pub fn len(&self) -> u32 {
        let both = self.both_ends.as_ref().map_or(0, |ends| ends.least.count());
        (self.by_erases.len() + self.queue.len()) as u32 + both + self.untouched_left()
    }

    /// Whether no block is free.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn untouched_left(&self) -> u32 {
        self.end - self.next_untouched - self.bad.len() as u32
    }

    /// Declares every block from `first` on untouched; recovery calls it once.
    pub fn untouched_from(&mut self, nand: &Nand, plane: PlaneId, first: u32) {
        self.untouched_but(nand.factory_bad_in(plane).iter().map(|block| block.0), first);
    }

    /// The same, where these are bad, in ascending order.
    pub fn untouched_but(&mut self, bad: impl DoubleEndedIterator<Item = u32>, first: u32) {
        self.next_untouched = first;
        self.bad = bad.filter(|&block| block >= first).rev().collect();
    }

    /// Takes the next block.
    pub fn take(&mut self) -> Option<BlockId> {
        if self.both_ends.is_some() {
            return self.take_untouched().or_else(|| self.take_end(|ends| &ends.least));
        }
        let untouched = self.untouched_left();
        if untouched > 0 && untouched <= self.blocks / 2 {
            return self.take_untouched();
        }
        let erased = match self.order {
            FreeOrder::MinErase => self.by_erases.pop().map(|Reverse((_, block))| block),
            FreeOrder::Fifo => self.queue.pop_front(),
            FreeOrder::Lifo => self.queue.pop_back(),
        };
        erased.map(BlockId).or_else(|| self.take_untouched())
    }

    /// Takes the most worn block, the lowest number among equals; the next one where the rule does
    /// not tell them apart.
    pub fn take_worn(&mut self) -> Option<BlockId> {
        match self.both_ends {
            None => self.take(),
            Some(_) => self.take_end(|ends| &ends.most).or_else(|| self.take_untouched()),
        }
    }

    /// Erases of the block that [`FreePool::take_worn`] would take.
    pub fn most_worn(&self) -> Option<u32> {
        let ends = self.both_ends.as_ref()?;
        let erases = ends.most.min().map(|slot| ends.least.key(slot).0 as u32);
        erases.or_else(|| (self.untouched_left() > 0).then_some(0))
    }

    fn take_end(&mut self, end: impl Fn(&BothEnds) -> &IndexedHeap) -> Option<BlockId> {
        let ends = self.both_ends.as_mut()?;
        let slot = end(ends).min()?;
        ends.least.remove(slot);
        ends.most.remove(slot);
        Some(BlockId(self.first + slot.0))
    }

    fn take_untouched(&mut self) -> Option<BlockId> {
        while self.bad.pop_if(|bad| *bad == self.next_untouched).is_some() {
            self.next_untouched += 1;
        }
        (self.next_untouched < self.end).then(|| {
            self.next_untouched += 1;
            BlockId(self.next_untouched - 1)
        })
    }

    /// Gives an erased block back.
    pub fn put(&mut self, nand: &Nand, block: BlockId) {
        assert!(
            nand.state().block(block).programmed == 0,
            "block {block} goes to the free pool with programmed pages"
        );
        self.put_worn(block, nand.state().block(block).erases);
    }

    /// Whether the block that was put in last is taken first.
    pub fn takes_last_first(&self) -> bool {
        self.order == FreeOrder::Lifo
    }

    /// The same of a block, or a line, with so many erases.
    pub fn put_worn(&mut self, block: BlockId, erases: u32) {
        if let Some(ends) = &mut self.both_ends {
            return ends.put(block.0 - self.first, erases);
        }
        match self.order {
            FreeOrder::MinErase => self.by_erases.push(Reverse((erases, block.0))),
            FreeOrder::Fifo | FreeOrder::Lifo => self.queue.push_back(block.0),
        }
    }
}

/// Erased blocks by erases, from either end.
#[derive(Clone, Debug)]
struct BothEnds {
    least: IndexedHeap,
    most: IndexedHeap,
}

impl BothEnds {
    fn new(blocks: u32) -> Self {
        BothEnds { least: IndexedHeap::new(blocks), most: IndexedHeap::new(blocks) }
    }

    fn put(&mut self, number: u32, erases: u32) {
        let slot = Slot(number);
        self.least.push(slot, (u64::from(erases), u64::from(number)));
        self.most.push(slot, (u64::from(u32::MAX - erases), u64::from(number)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SharedSettings;
    use ftlab_flash::board::Board;
    use ftlab_flash::board::when::When;
    use ftlab_flash::meter::{BlockRole, Cause};
    use ftlab_flash::settings::Groups as _;

    fn board() -> Board {
        let mut config = SharedSettings::default();
        config.set("device.blocks_per_plane", "8").expect("legal");
        Board::new(&config, 1, 0)
    }

    fn rule(order: FreeOrder) -> FreeRule {
        FreeRule { order, both_ends: false }
    }

    fn drain(mut pool: FreePool) -> Vec<u32> {
        std::iter::from_fn(|| pool.take().map(|block| block.0)).collect()
    }

    /// Blocks 3, 1, 0, 2 are freed in this order after 3, 1, 2 and 1 erases.
    #[test]
    fn each_order_takes_its_own_block_next() {
        let orders = [
            (FreeOrder::MinErase, [1, 2, 0, 3]),
            (FreeOrder::Fifo, [3, 1, 0, 2]),
            (FreeOrder::Lifo, [2, 0, 1, 3]),
        ];
        for (order, expected) in orders {
            let mut board = board();
            let mut pool = FreePool::empty(board.nand(), PlaneId(0), rule(order));
            assert!(pool.is_empty());
            for (block, erases) in [(3, 3), (1, 1), (0, 2), (2, 1)] {
                for _ in 0..erases {
                    let (role, cause) = (BlockRole::Data, Cause::Gc);
                    let erased = board.erase(BlockId(block), role, cause, When::START);
                    assert!(erased.is_ok());
                }
                pool.put(board.nand(), BlockId(block));
            }
            assert_eq!(pool.len(), 4);
            assert_eq!(drain(pool), expected, "{order:?}");
        }
    }

    /// Blocks of one erase each are taken out and put back, the last one first where the pool says
    /// that it takes that one first: they come in the same order again.
    #[test]
    fn what_is_put_back_as_the_pool_takes_it_keeps_its_order() {
        for order in [FreeOrder::Fifo, FreeOrder::Lifo] {
            let mut pool = FreePool::of(0..8, 0, rule(order));
            [3, 1, 0, 2].iter().for_each(|&block| pool.put_worn(BlockId(block), 1));
            let mut taken: Vec<BlockId> = std::iter::from_fn(|| pool.take()).collect();
            let before: Vec<u32> = taken.iter().map(|block| block.0).collect();
            if pool.takes_last_first() {
                taken.reverse();
            }
            taken.into_iter().for_each(|block| pool.put_worn(block, 1));
            assert_eq!(drain(pool), before, "{order:?}");
        }
    }

    /// Blocks that were never used count as blocks without an erase, for as long as there are any.
    #[test]
    fn the_most_worn_of_untouched_blocks_has_no_erase_and_of_no_block_there_is_none() {
        let board = board();
        let rule = FreeRule { order: FreeOrder::MinErase, both_ends: true };
        let mut pool = FreePool::untouched(board.nand(), PlaneId(0), rule);
        for _ in 0..8 {
            assert_eq!(pool.most_worn(), Some(0));
            assert!(pool.take_worn().is_some());
        }
        assert_eq!((pool.most_worn(), pool.take_worn()), (None, None));
    }

    /// Eight blocks: with more than four untouched an erased one is taken first, with four or fewer
    /// the untouched ones are.
    #[test]
    fn untouched_blocks_wait_while_they_are_more_than_half() {
        for order in [FreeOrder::MinErase, FreeOrder::Fifo, FreeOrder::Lifo] {
            let board = board();
            let mut pool = FreePool::untouched(board.nand(), PlaneId(0), rule(order));
            let take = |pool: &mut FreePool| pool.take().map(|block| block.0);
            assert_eq!([take(&mut pool), take(&mut pool)], [Some(0), Some(1)]);
            pool.put(board.nand(), BlockId(0));
            assert_eq!(take(&mut pool), Some(0), "six are untouched");
            assert_eq!([take(&mut pool), take(&mut pool)], [Some(2), Some(3)]);
            pool.put(board.nand(), BlockId(1));
            assert_eq!(pool.len(), 5);
            assert_eq!(drain(pool), [4, 5, 6, 7, 1], "four are untouched");
        }
    }

    /// Blocks 3, 1, 0, 2 with 3, 1, 2 and 1 erases; 4 to 7 were never used.
    #[test]
    fn both_ends_of_the_pool_can_be_asked_for() {
        let mut board = board();
        let rule = FreeRule { order: FreeOrder::MinErase, both_ends: true };
        let mut pool = FreePool::empty(board.nand(), PlaneId(0), rule);
        for (block, erases) in [(3, 3), (1, 1), (0, 2), (2, 1)] {
            for _ in 0..erases {
                let erased = board.erase(BlockId(block), BlockRole::Data, Cause::Gc, When::START);
                assert!(erased.is_ok());
            }
            pool.put(board.nand(), BlockId(block));
        }
        pool.untouched_from(board.nand(), PlaneId(0), 6);
        assert_eq!((pool.len(), pool.most_worn()), (6, Some(3)));
        let taken = [pool.take_worn(), pool.take(), pool.take_worn(), pool.take()];
        assert_eq!(taken.map(|block| block.map(|b| b.0)), [Some(3), Some(6), Some(0), Some(7)]);
        assert_eq!(drain(pool), [1, 2]);
    }
}
