//! What left a cache last: page numbers without what belonged to them.
//!
//! A ghost list tells what a larger cache would have held. A miss that finds its page here would
//! have been a hit if the cache had as many more places as the list has. Source: the ghost caches
//! of Shim et al., MSST 2010, by TreeFTL 2013, II.B.

use crate::parts::slots::Slot;
use crate::parts::slots::slot_list::SlotLists;
use ftlab_flash::units::{Lpn, pack, unpack, zeroed};

/// Page numbers in the order in which they left the cache.
#[derive(Clone, Debug)]
pub struct GhostList {
    /// Place of each page in the list plus one; 0 for "not in it".
    slot_of: Vec<u32>,
    lpns: Vec<u32>,
    free: Vec<u32>,
    order: SlotLists<1>,
}

impl GhostList {
    /// An empty list of up to `capacity` of `logical_pages`.
    pub fn new(capacity: u32, logical_pages: u32) -> Self {
        assert!(capacity > 0, "a ghost list must have a place");
        GhostList {
            slot_of: zeroed(logical_pages as usize),
            lpns: zeroed(capacity as usize),
            free: (0..capacity).rev().collect(),
            order: SlotLists::new(capacity),
        }
    }

    /// Pages in the list.
    pub fn len(&self) -> u32 {
        self.order.len(0)
    }

    /// Whether no page is in the list.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a page is in the list.
    pub fn contains(&self, lpn: Lpn) -> bool {
        self.slot_of[lpn.index()] != 0
    }

    /// A page left the cache; if the list is full, the page that left first is forgotten.
    pub fn add(&mut self, lpn: Lpn) {
        self.remove(lpn);
        let slot = match self.free.pop() {
            Some(slot) => Slot(slot),
            None => {
                let oldest = self.order.oldest(0).expect("no place is free");
                self.slot_of[self.lpns[oldest.index()] as usize] = 0;
                self.order.remove(oldest);
                oldest
            }
        };
        self.lpns[slot.index()] = lpn.0;
        self.slot_of[lpn.index()] = pack(Some(slot.0));
        self.order.push(0, slot);
    }

    /// Takes a page off the list; whether it was there.
    #[inline]
    pub fn remove(&mut self, lpn: Lpn) -> bool {
        let Some(slot) = unpack(self.slot_of[lpn.index()]).map(Slot) else { return false };
        self.slot_of[lpn.index()] = 0;
        self.order.remove(slot);
        self.free.push(slot.0);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_flash::rng::{Purpose, Rng};

    /// The list against a plain queue: it holds the last pages that left, in order, each once.
    #[test]
    fn the_list_holds_the_pages_that_left_last() {
        let mut ghosts = GhostList::new(5, 12);
        let mut model: Vec<u32> = Vec::new();
        assert!(ghosts.is_empty());
        let mut rng = Rng::new(3, Purpose::Workload);
        for _ in 0..5_000 {
            let lpn = rng.below(12);
            let known = model.iter().position(|&other| other == lpn);
            if rng.below(3) == 0 {
                assert_eq!(ghosts.remove(Lpn(lpn)), known.is_some());
                known.map(|place| model.remove(place));
            } else {
                ghosts.add(Lpn(lpn));
                known.map(|place| model.remove(place));
                model.push(lpn);
                if model.len() > 5 {
                    model.remove(0);
                }
            }
            assert_eq!(ghosts.len() as usize, model.len());
            assert_eq!(ghosts.is_empty(), model.is_empty());
            for page in 0..12 {
                assert_eq!(ghosts.contains(Lpn(page)), model.contains(&page), "page {page}");
            }
        }
    }
}
