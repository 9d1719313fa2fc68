//! Slots in the order of their keys, as a linked list. A slot finds its place by walking: from
//! either end when it comes, from where it was when its key grows. That is a step or two where new
//! keys are among the highest and keys grow by little; where they do not,
//! [`IndexedHeap`](super::indexed_heap::IndexedHeap) is the better part.

use super::Slot;
use ftlab_flash::units::zeroed;
use zerocopy::FromZeros;

#[derive(Clone, Copy, Debug, Default, FromZeros)]
struct Node {
    key: (u64, u64),
    lower: u32,
    higher: u32,
}

/// Slots by key. Links are slot numbers plus one; node 0 stands below the lowest and above the
/// highest, so that no link is special.
#[derive(Clone, Debug)]
pub struct SortedSlots {
    nodes: Vec<Node>,
    /// 1 for a slot that is in the list.
    member: Vec<u8>,
    count: u32,
}

impl SortedSlots {
    /// Empty, over `capacity` slots.
    pub fn new(capacity: u32) -> Self {
        let slots = capacity as usize + 1;
        SortedSlots { nodes: zeroed(slots), member: zeroed(slots), count: 0 }
    }

    /// Slots in the list.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Whether a slot is in the list.
    #[inline]
    pub fn contains(&self, slot: Slot) -> bool {
        self.member[slot.index() + 1] == 1
    }

    /// The slot with the smallest key.
    #[inline]
    pub fn min(&self) -> Option<Slot> {
        self.nodes[0].higher.checked_sub(1).map(Slot)
    }

    /// Key of a slot; it stays readable after the slot left.
    #[inline]
    pub fn key(&self, slot: Slot) -> (u64, u64) {
        self.nodes[slot.index() + 1].key
    }

    /// Puts a slot in; no other one has this key.
    pub fn push(&mut self, slot: Slot, key: (u64, u64)) {
        debug_assert!(!self.contains(slot));
        let mut lower = self.nodes[0].lower;
        while lower != 0 && self.nodes[lower as usize].key > key {
            lower = self.nodes[lower as usize].lower;
        }
        self.insert(slot.0 + 1, key, lower);
        self.member[slot.index() + 1] = 1;
        self.count += 1;
    }

    /// The same of a key that is among the lowest: the walk begins there.
    pub fn push_low(&mut self, slot: Slot, key: (u64, u64)) {
        debug_assert!(!self.contains(slot));
        let mut higher = self.nodes[0].higher;
        while higher != 0 && self.nodes[higher as usize].key < key {
            higher = self.nodes[higher as usize].higher;
        }
        self.insert(slot.0 + 1, key, self.nodes[higher as usize].lower);
        self.member[slot.index() + 1] = 1;
        self.count += 1;
    }

    /// Gives a slot a higher key, which no other one has.
    pub fn raise(&mut self, slot: Slot, key: (u64, u64)) {
        let node = slot.0 + 1;
        assert!(self.contains(slot), "slot {} is not in the list", slot.0);
        debug_assert!(self.nodes[node as usize].key < key);
        let mut higher = self.nodes[node as usize].higher;
        if higher == 0 || self.nodes[higher as usize].key > key {
            self.nodes[node as usize].key = key;
            return;
        }
        self.unlink(node);
        while higher != 0 && self.nodes[higher as usize].key < key {
            higher = self.nodes[higher as usize].higher;
        }
        self.insert(node, key, self.nodes[higher as usize].lower);
    }

    /// Takes a slot out.
    pub fn remove(&mut self, slot: Slot) {
        assert!(self.contains(slot), "slot {} is not in the list", slot.0);
        self.unlink(slot.0 + 1);
        self.member[slot.index() + 1] = 0;
        self.count -= 1;
    }

    #[inline]
    fn insert(&mut self, node: u32, key: (u64, u64), lower: u32) {
        let higher = self.nodes[lower as usize].higher;
        self.nodes[node as usize] = Node { key, lower, higher };
        self.nodes[lower as usize].higher = node;
        self.nodes[higher as usize].lower = node;
    }

    #[inline]
    fn unlink(&mut self, node: u32) {
        let Node { lower, higher, .. } = self.nodes[node as usize];
        self.nodes[lower as usize].higher = higher;
        self.nodes[higher as usize].lower = lower;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::slots::indexed_heap::IndexedHeap;
    use ftlab_flash::rng::{Purpose, Rng};

    /// The lowest is that of the heap, whatever comes, rises and leaves.
    #[test]
    fn the_list_and_the_heap_agree() {
        let (mut list, mut heap) = (SortedSlots::new(30), IndexedHeap::new(30));
        let mut rng = Rng::new(3, Purpose::Workload);
        for step in 0..50_000 {
            let slot = Slot(rng.below(30));
            match (list.contains(slot), rng.below(3)) {
                (false, _) => {
                    let key = (u64::from(rng.below(40)), step);
                    match rng.below(2) {
                        0 => list.push(slot, key),
                        _ => list.push_low(slot, key),
                    }
                    heap.push(slot, key);
                }
                (true, 0) => {
                    list.remove(slot);
                    heap.remove(slot);
                }
                (true, _) => {
                    let (first, second) = list.key(slot);
                    let key = (first + u64::from(rng.below(3)) + 1, second);
                    list.raise(slot, key);
                    heap.change(slot, key);
                }
            }
            assert_eq!((list.min(), list.count()), (heap.min(), heap.count()));
            assert_eq!(
                (list.contains(slot), list.key(slot)),
                (heap.contains(slot), heap.key(slot))
            );
        }
    }
}
