//! The erased blocks of one plane, and which of them is taken next.
//!
//! Blocks that were never used are not listed but counted, so that a large empty device costs
//! nothing. While more than half of the plane is untouched, erased blocks are taken before
//! untouched ones: a small footprint then stays small in memory, whatever the order says.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::board::nand::Nand;
use crate::choices;
use crate::units::{BlockId, PlaneId};

choices! {
    /// Which free block is taken next.
    pub enum FreeOrder {
        /// The one with the fewest erases, the lowest number among equals: what spec 1.2 calls
        /// FlashSim's implicit wear levelling.
        MinErase = "min_erase",
        /// The one that was freed first.
        Fifo = "fifo",
        /// The one that was freed last.
        Lifo = "lifo",
    }
}

/// The erased blocks of one plane.
#[derive(Clone, Debug)]
pub struct FreePool {
    order: FreeOrder,
    by_erases: BinaryHeap<Reverse<(u32, u32)>>,
    queue: VecDeque<u32>,
    next_untouched: u32,
    end: u32,
    blocks: u32,
}

impl FreePool {
    /// All blocks of a plane, none used yet.
    pub fn untouched(nand: &Nand, plane: PlaneId, order: FreeOrder) -> Self {
        let blocks = nand.geometry().blocks_of(plane);
        let mut pool = FreePool::empty(nand, plane, order);
        pool.next_untouched = blocks.start;
        pool
    }

    /// No block yet; recovery puts in what it finds.
    pub fn empty(nand: &Nand, plane: PlaneId, order: FreeOrder) -> Self {
        let blocks = nand.geometry().blocks_of(plane);
        let count = blocks.len();
        let (heap, queue) = match order {
            FreeOrder::MinErase => (count, 0),
            FreeOrder::Fifo | FreeOrder::Lifo => (0, count),
        };
        FreePool {
            order,
            by_erases: BinaryHeap::with_capacity(heap),
            queue: VecDeque::with_capacity(queue),
            next_untouched: blocks.end,
            end: blocks.end,
            blocks: count as u32,
        }
    }

    /// Free blocks.
    #[inline]
    pub fn len(&self) -> u32 {
        (self.by_erases.len() + self.queue.len()) as u32 + self.untouched_left()
    }

    /// Whether no block is free.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn untouched_left(&self) -> u32 {
        self.end - self.next_untouched
    }

    /// Declares every block from `first` on untouched; recovery calls it once.
    pub fn untouched_from(&mut self, first: u32) {
        self.next_untouched = first;
    }

    /// Takes the next block.
    pub fn take(&mut self) -> Option<BlockId> {
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

    fn take_untouched(&mut self) -> Option<BlockId> {
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
        match self.order {
            FreeOrder::MinErase => {
                self.by_erases.push(Reverse((nand.state().block(block).erases, block.0)));
            }
            FreeOrder::Fifo | FreeOrder::Lifo => self.queue.push_back(block.0),
        }
    }
}
