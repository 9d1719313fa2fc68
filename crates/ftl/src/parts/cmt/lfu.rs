//! The entry with the fewest uses leaves; among equals the one whose last use is oldest.

use super::{CacheContext, CachePolicy};
use crate::parts::slots::Slot;
use crate::parts::slots::indexed_heap::IndexedHeap;
use ftlab_flash::units::Lpn;

/// Slots by uses, then by time of last use.
#[derive(Clone, Debug)]
pub struct Lfu {
    heap: IndexedHeap,
    uses: u64,
}

impl CachePolicy for Lfu {
    fn new(context: &CacheContext<'_>) -> Self {
        Lfu { heap: IndexedHeap::new(context.slots), uses: 0 }
    }

    fn inserted(&mut self, slot: Slot, _: Lpn) {
        self.uses += 1;
        self.heap.push(slot, (1, self.uses));
    }

    fn hit(&mut self, slot: Slot) {
        self.uses += 1;
        let (count, _) = self.heap.key(slot);
        self.heap.change(slot, (count + 1, self.uses));
    }

    fn removed(&mut self, slot: Slot) {
        self.heap.remove(slot);
    }

    fn victim(&self, _: impl Fn(Slot) -> bool) -> Slot {
        self.heap.min().expect("the cache is not empty")
    }
}
