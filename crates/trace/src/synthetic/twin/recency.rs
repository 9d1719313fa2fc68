//! Things in order of their latest use: how deep each lies, and which lies how deep, in logarithmic
//! time.

use crate::inspect::slot_order::SlotOrder;

/// An LRU stack of numbered things. Memory follows the largest number and those held.
pub(super) struct Recency {
    order: SlotOrder,
    /// What holds each slot of the line; stale where the slot was given back.
    held: Vec<u32>,
    /// The slot of each thing, plus 1; 0 where it is not held.
    slots: Vec<u32>,
}

impl Recency {
    /// Nothing is held.
    pub fn new() -> Self {
        Self { order: SlotOrder::new(), held: Vec::new(), slots: Vec::new() }
    }

    /// Things held.
    pub fn len(&self) -> u64 {
        u64::from(self.order.taken())
    }

    /// `id` is used: it is the latest now.
    pub fn touch(&mut self, id: u32) {
        if self.slots.len() <= id as usize {
            self.slots.resize(id as usize + 1, 0);
        }
        self.remove(id);
        if self.order.is_full() {
            self.compact();
        }
        let slot = self.order.take();
        self.held.resize((slot as usize + 1).max(self.held.len()), 0);
        self.held[slot as usize] = id;
        self.slots[id as usize] = slot + 1;
    }

    /// `id` is no longer held, if it was.
    pub fn remove(&mut self, id: u32) {
        if let Some(slot) = std::mem::take(&mut self.slots[id as usize]).checked_sub(1) {
            self.order.give_back(slot);
        }
    }

    fn compact(&mut self) {
        let moved = self.order.compact();
        let mut held = vec![0; self.order.next() as usize];
        for (id, slot) in self.slots.iter_mut().enumerate() {
            if let Some(old) = slot.checked_sub(1) {
                let new = moved.to(old);
                held[new as usize] = id as u32;
                *slot = new + 1;
            }
        }
        self.held = held;
    }

    /// How deep a thing that is held lies: 1 for the latest.
    pub fn depth(&self, id: u32) -> u64 {
        u64::from(self.order.taken_from(self.slots[id as usize] - 1))
    }

    /// What lies that deep, from 1 to [`Self::len`].
    pub fn at(&self, depth: u64) -> u32 {
        debug_assert!((1..=self.len()).contains(&depth));
        // The last slot from which on so many are taken is taken itself.
        let (mut low, mut high) = (0, self.order.next());
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            match u64::from(self.order.taken_from(middle)) >= depth {
                true => low = middle,
                false => high = middle,
            }
        }
        self.held[low as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_a_plain_list(
            steps in proptest::collection::vec((0u8..8, 0u32..60), 1..9000),
        ) {
            let (mut stack, mut naive) = (Recency::new(), Vec::<u32>::new());
            for (number, (what, id)) in steps.into_iter().enumerate() {
                let known = naive.iter().position(|one| *one == id);
                match (what, known) {
                    (0, Some(index)) => {
                        stack.remove(naive.remove(index));
                    }
                    (_, known) => {
                        known.map(|index| naive.remove(index));
                        naive.insert(0, id);
                        stack.touch(id);
                    }
                }
                prop_assert_eq!(stack.len() as usize, naive.len());
                if number % 97 == 0 {
                    for (index, id) in naive.iter().enumerate() {
                        prop_assert_eq!(stack.depth(*id), index as u64 + 1);
                        prop_assert_eq!(stack.at(index as u64 + 1), *id);
                    }
                }
            }
        }
    }
}
