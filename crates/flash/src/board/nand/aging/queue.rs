//! Blocks that wait until their data is moved, in the order in which they came to be due, and those
//! of them that are due twice over: whatever is asked of them takes no look at the others.

use crate::indexed_heap::{IndexedHeap, Slot};
use crate::units::{BlockId, Nanos};

/// The blocks, each once.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    /// By their turns.
    waiting: IndexedHeap,
    /// By their turns: those of them that are due twice over.
    twice: IndexedHeap,
    /// By that moment: those of them that will be so for their age.
    ripening: IndexedHeap,
    /// Turns given out.
    turns: u64,
}

fn slot(block: BlockId) -> Slot {
    Slot(block.0)
}

fn first(heap: &IndexedHeap) -> Option<BlockId> {
    heap.min().map(|slot| BlockId(slot.0))
}

impl Queue {
    /// Nobody waits; room for all blocks.
    pub(super) fn new(blocks: u32) -> Self {
        let heap = || IndexedHeap::new(blocks);
        Queue { waiting: heap(), twice: heap(), ripening: heap(), turns: 0 }
    }

    pub(super) fn has(&self, block: BlockId) -> bool {
        self.waiting.contains(slot(block))
    }

    /// Blocks that wait.
    pub(super) fn len(&self) -> usize {
        self.waiting.count() as usize
    }

    /// Those of them that are due twice over.
    pub(super) fn twice(&self) -> usize {
        self.twice.count() as usize
    }

    /// The one that waits longest.
    pub(super) fn first(&self) -> Option<BlockId> {
        first(&self.waiting)
    }

    /// The one that waits longest of those that are due twice over.
    pub(super) fn first_twice(&self) -> Option<BlockId> {
        first(&self.twice)
    }

    pub(super) fn is_twice(&self, block: BlockId) -> bool {
        self.twice.contains(slot(block))
    }

    /// Puts a block behind the others, which is not among them. For its age it is due twice over at
    /// `old_at`; never is `Nanos::MAX`.
    pub(super) fn push(&mut self, block: BlockId, old_at: Nanos) {
        let turn = self.next_turn();
        self.waiting.push(slot(block), turn);
        if old_at < Nanos::MAX {
            self.ripening.push(slot(block), (old_at, 0));
        }
    }

    fn next_turn(&mut self) -> (u64, u64) {
        self.turns += 1;
        (self.turns, 0)
    }

    /// A block that waits is due twice over.
    pub(super) fn hurry(&mut self, block: BlockId) {
        let slot = slot(block);
        if self.ripening.contains(slot) {
            self.ripening.remove(slot);
        }
        if !self.twice.contains(slot) {
            self.twice.push(slot, self.waiting.key(slot));
        }
    }

    /// It is now: those that are twice too old are due twice over.
    #[inline]
    pub(super) fn ripen(&mut self, now: Nanos) {
        while let Some(next) = self.ripening.min()
            && self.ripening.key(next).0 <= now
        {
            self.hurry(BlockId(next.0));
        }
    }

    /// A block goes behind all others, if it waits.
    pub(super) fn put_off(&mut self, block: BlockId) {
        if !self.has(block) {
            return;
        }
        let turn = self.next_turn();
        self.waiting.change(slot(block), turn);
        if self.is_twice(block) {
            self.twice.change(slot(block), turn);
        }
    }

    /// A block waits no more, if it did.
    pub(super) fn remove(&mut self, block: BlockId) {
        for heap in [&mut self.waiting, &mut self.twice, &mut self.ripening] {
            if heap.contains(slot(block)) {
                heap.remove(slot(block));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Rng};

    /// As a list that is looked through.
    #[derive(Default)]
    struct Naive(Vec<(BlockId, Nanos, bool)>);

    impl Naive {
        fn place(&self, block: BlockId) -> Option<usize> {
            self.0.iter().position(|&(other, ..)| other == block)
        }

        fn first(&self, twice: bool) -> Option<BlockId> {
            self.0.iter().find(|&&(.., is_twice)| is_twice || !twice).map(|&(block, ..)| block)
        }
    }

    #[test]
    fn a_queue_is_the_list_that_it_stands_for() {
        let mut rng = Rng::new(3, Purpose::Workload);
        let (mut queue, mut naive) = (Queue::new(16), Naive::default());
        for now in 0..20_000_u64 {
            let block = BlockId(rng.below(16));
            let place = naive.place(block);
            match (rng.below(4), place) {
                (0, None) => {
                    let age = Nanos::from(rng.below(60));
                    let old_at = if age == 0 { Nanos::MAX } else { now + age };
                    queue.push(block, old_at);
                    naive.0.push((block, old_at, false));
                }
                (1, Some(place)) => {
                    queue.hurry(block);
                    naive.0[place].2 = true;
                }
                (2, Some(place)) => {
                    queue.put_off(block);
                    let last = naive.0.remove(place);
                    naive.0.push(last);
                }
                (3, place) => {
                    queue.remove(block);
                    place.map(|place| naive.0.remove(place));
                }
                _ => {}
            }
            queue.ripen(now);
            naive.0.iter_mut().for_each(|(_, old_at, twice)| *twice |= *old_at <= now);
            assert_eq!(queue.len(), naive.0.len());
            assert_eq!(queue.twice(), naive.0.iter().filter(|one| one.2).count());
            assert_eq!(
                (queue.first(), queue.first_twice()),
                (naive.first(false), naive.first(true))
            );
        }
    }
}
