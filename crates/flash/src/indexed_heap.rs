//! A binary heap over numbered places of a table whose keys can change: the smallest key is on top.
//! Nothing is allocated once it is made.

use crate::units::zeroed;

/// A place in a table, such as that of an entry in a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(pub u32);

impl Slot {
    /// The number as an array index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Slots by key; equal keys in order of the second number.
#[derive(Clone, Debug)]
pub struct IndexedHeap {
    heap: Vec<u32>,
    /// Place in the heap plus one, 0 for "not in it".
    place: Vec<u32>,
    keys: Vec<(u64, u64)>,
}

impl IndexedHeap {
    /// Empty, over `capacity` slots.
    pub fn new(capacity: u32) -> Self {
        IndexedHeap {
            heap: Vec::with_capacity(capacity as usize),
            place: zeroed(capacity as usize),
            keys: vec![(0, 0); capacity as usize],
        }
    }

    /// Slots in the heap.
    #[inline]
    pub fn count(&self) -> u32 {
        self.heap.len() as u32
    }

    /// Whether a slot is in the heap.
    #[inline]
    pub fn contains(&self, slot: Slot) -> bool {
        self.place[slot.0 as usize] != 0
    }

    /// The slot with the smallest key.
    #[inline]
    pub fn min(&self) -> Option<Slot> {
        self.heap.first().map(|&slot| Slot(slot))
    }

    /// Key of a slot; it stays readable after the slot left.
    #[inline]
    pub fn key(&self, slot: Slot) -> (u64, u64) {
        self.keys[slot.0 as usize]
    }

    /// Puts a slot in.
    pub fn push(&mut self, slot: Slot, key: (u64, u64)) {
        debug_assert!(!self.contains(slot));
        self.keys[slot.0 as usize] = key;
        self.heap.push(slot.0);
        self.settle(self.heap.len() - 1);
    }

    /// Gives a slot another key.
    pub fn change(&mut self, slot: Slot, key: (u64, u64)) {
        self.keys[slot.0 as usize] = key;
        self.settle(self.place[slot.0 as usize] as usize - 1);
    }

    /// Takes a slot out.
    pub fn remove(&mut self, slot: Slot) {
        let place = self.place[slot.0 as usize] as usize - 1;
        self.place[slot.0 as usize] = 0;
        self.heap.swap_remove(place);
        if place < self.heap.len() {
            self.settle(place);
        }
    }

    fn less(&self, a: u32, b: u32) -> bool {
        self.keys[a as usize] < self.keys[b as usize]
    }

    /// Moves the slot at `place` up or down to where it belongs.
    fn settle(&mut self, mut place: usize) {
        let slot = self.heap[place];
        while place > 0 && self.less(slot, self.heap[(place - 1) / 2]) {
            self.set(place, self.heap[(place - 1) / 2]);
            place = (place - 1) / 2;
        }
        loop {
            let left = 2 * place + 1;
            if left >= self.heap.len() {
                break;
            }
            let right = left + 1;
            let right_wins =
                right < self.heap.len() && self.less(self.heap[right], self.heap[left]);
            let child = if right_wins { right } else { left };
            if !self.less(self.heap[child], slot) {
                break;
            }
            self.set(place, self.heap[child]);
            place = child;
        }
        self.set(place, slot);
    }

    fn set(&mut self, place: usize, slot: u32) {
        self.heap[place] = slot;
        self.place[slot as usize] = place as u32 + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Rng};
    use std::collections::BTreeMap;

    const SLOTS: u32 = 13;

    /// What a heap holds, and what an ordered map of the same says.
    struct Bench {
        heap: IndexedHeap,
        known: BTreeMap<u32, (u64, u64)>,
        rng: Rng,
    }

    impl Bench {
        fn step(&mut self) {
            let slot = self.rng.below(SLOTS);
            let key = (u64::from(self.rng.below(8)), u64::from(slot));
            if !self.known.contains_key(&slot) {
                self.heap.push(Slot(slot), key);
                self.known.insert(slot, key);
            } else if self.rng.below(2) == 0 {
                self.heap.change(Slot(slot), key);
                self.known.insert(slot, key);
            } else {
                self.heap.remove(Slot(slot));
                self.known.remove(&slot);
            }
        }

        fn compare(&self) {
            assert_eq!(self.heap.count() as usize, self.known.len());
            let least = self.known.iter().min_by_key(|(_, key)| **key);
            assert_eq!(self.heap.min(), least.map(|(&slot, _)| Slot(slot)));
            for slot in 0..SLOTS {
                let known = self.known.get(&slot);
                assert_eq!(self.heap.contains(Slot(slot)), known.is_some());
                if let Some(&key) = known {
                    assert_eq!(self.heap.key(Slot(slot)), key);
                }
            }
        }
    }

    #[test]
    fn a_heap_finds_what_an_ordered_map_finds_while_keys_change() {
        let heap = IndexedHeap::new(SLOTS);
        let rng = Rng::new(3, Purpose::Workload);
        let mut bench = Bench { heap, known: BTreeMap::new(), rng };
        for _ in 0..5_000 {
            bench.step();
            bench.compare();
        }
    }

    /// Whatever a heap does with equal keys, it must always do.
    #[test]
    fn of_slots_with_one_key_the_last_takes_the_place_of_one_that_leaves() {
        let mut heap = IndexedHeap::new(3);
        [0, 1, 2].into_iter().for_each(|slot| heap.push(Slot(slot), (5, 0)));
        assert_eq!(heap.min(), Some(Slot(0)));
        heap.remove(Slot(0));
        assert_eq!(heap.min(), Some(Slot(2)));
    }

    #[test]
    fn a_slot_is_an_index() {
        assert_eq!(Slot(7).index(), 7);
    }

    #[test]
    fn the_key_of_a_slot_that_left_can_be_read() {
        let mut heap = IndexedHeap::new(1);
        heap.push(Slot(0), (5, 7));
        heap.remove(Slot(0));
        assert_eq!((heap.min(), heap.key(Slot(0))), (None, (5, 7)));
    }
}
