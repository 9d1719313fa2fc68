//! Items that come and go, each in a place that it keeps: a table of bounded size that allocates
//! nothing once it is made.

use std::ops::{Index, IndexMut};

use super::Slot;

/// Items by place. A place that was given back is taken again before a new one is begun.
#[derive(Clone, Debug)]
pub struct Slab<T> {
    items: Vec<T>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    /// Empty, with room for `capacity` items.
    pub fn new(capacity: u32) -> Self {
        Slab {
            items: Vec::with_capacity(capacity as usize),
            free: Vec::with_capacity(capacity as usize),
        }
    }

    /// Items that are there.
    #[inline]
    pub fn len(&self) -> u32 {
        (self.items.len() - self.free.len()) as u32
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Items for which nothing is allocated any more.
    #[cfg(test)]
    pub fn room(&self) -> usize {
        self.items.capacity()
    }

    /// Every place that was ever taken, in use or not.
    pub fn places(&self) -> impl Iterator<Item = Slot> + use<T> {
        (0..self.items.len() as u32).map(Slot)
    }

    /// What is, or was last, in each of them.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// Takes in an item: its place.
    #[inline]
    pub fn add(&mut self, item: T) -> Slot {
        match self.free.pop() {
            Some(slot) => {
                self.items[slot as usize] = item;
                Slot(slot)
            }
            None => {
                self.items.push(item);
                Slot(self.items.len() as u32 - 1)
            }
        }
    }

    /// Gives a place back; until it is taken again, what was there can still be read.
    #[inline]
    pub fn remove(&mut self, slot: Slot) {
        self.free.push(slot.0);
    }
}

impl<T> Index<Slot> for Slab<T> {
    type Output = T;

    #[inline]
    fn index(&self, slot: Slot) -> &T {
        &self.items[slot.index()]
    }
}

impl<T> IndexMut<Slot> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, slot: Slot) -> &mut T {
        &mut self.items[slot.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_was_given_back_is_taken_before_a_new_one() {
        let mut slab = Slab::new(3);
        assert!(slab.is_empty());
        let [first, second] = ["a", "b"].map(|item| slab.add(item));
        slab.remove(first);
        assert_eq!((slab.len(), slab[first], slab[second]), (1, "a", "b"), "still to be read");
        assert!(!slab.is_empty());
        assert_eq!(slab.items(), ["a", "b"]);
        assert_eq!(slab.add("c"), first);
        slab[second] = "d";
        assert_eq!((slab.add("e"), slab.len()), (Slot(2), 3));
        let all: Vec<_> = slab.places().map(|slot| slab[slot]).collect();
        assert_eq!(all, ["c", "d", "e"]);
    }
}
