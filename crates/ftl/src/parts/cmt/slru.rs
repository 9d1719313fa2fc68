//! Segmented LRU: entries start on probation; a hit moves them to the protected segment, whose
//! oldest falls back on probation when it is full. The oldest on probation leaves.
//!
//! Source: the policy that DFTL 2014, 3.2 names (its reference 20), in the textbook form.

use super::{CacheContext, CachePolicy};
use crate::parts::slots::Slot;
use crate::parts::slots::slot_list::SlotLists;
use ftlab_flash::units::Lpn;

const PROBATION: usize = 0;
const PROTECTED: usize = 1;

/// Two lists in order of use.
#[derive(Clone, Debug)]
pub struct Slru {
    lists: SlotLists<2>,
    protected_capacity: u32,
}

impl CachePolicy for Slru {
    fn new(context: &CacheContext<'_>) -> Self {
        let &CacheContext { slots, capacity, protected, .. } = context;
        Slru {
            lists: SlotLists::new(slots),
            protected_capacity: (f64::from(capacity) * protected) as u32,
        }
    }

    fn inserted(&mut self, slot: Slot, _: Lpn) {
        self.lists.push(PROBATION, slot);
    }

    fn hit(&mut self, slot: Slot) {
        self.lists.remove(slot);
        if self.protected_capacity == 0 {
            self.lists.push(PROBATION, slot);
            return;
        }
        if self.lists.len(PROTECTED) == self.protected_capacity {
            let falls = self.lists.oldest(PROTECTED).expect("the segment is full");
            self.lists.remove(falls);
            self.lists.push(PROBATION, falls);
        }
        self.lists.push(PROTECTED, slot);
    }

    fn removed(&mut self, slot: Slot) {
        self.lists.remove(slot);
    }

    fn victim(&self, _: impl Fn(Slot) -> bool) -> Slot {
        let oldest = self.lists.oldest(PROBATION).or_else(|| self.lists.oldest(PROTECTED));
        oldest.expect("the cache is not empty")
    }
}
