//! The replacement of the DFTL authors' public code, as observed
//! (`docs/papers/dftl2014.md#cache-policy`).
//!
//! Two segments, REAL (the larger) and GHOST, every entry with an age. A miss enters REAL with the
//! highest age so far plus one; when REAL is full its lowest age drops to GHOST; the lowest age in
//! GHOST leaves. A hit adds one to the age; a hit in GHOST changes places with the lowest of REAL
//! if its age is at least as high. It behaves like order of arrival plus one credit per hit, which
//! is neither LRU nor the textbook's segmented LRU (that one enters on probation).
//!
//! New ages are the highest, and hits raise them by one: a slot is a few steps from its place.

use super::{CacheContext, CachePolicy};
use crate::parts::slots::Slot;
use crate::parts::slots::sorted_slots::SortedSlots;
use ftlab_flash::units::Lpn;

/// Both segments, ordered by age, then by arrival.
#[derive(Clone, Debug)]
pub struct PsuRealGhost {
    real: SortedSlots,
    ghost: SortedSlots,
    real_capacity: u32,
    highest_age: u64,
    arrivals: u64,
}

impl PsuRealGhost {
    fn drop_to_ghost(&mut self) {
        let lowest = self.real.min().expect("REAL is not empty");
        let key = self.real.key(lowest);
        self.real.remove(lowest);
        self.ghost.push(lowest, key);
    }
}

impl CachePolicy for PsuRealGhost {
    fn new(context: &CacheContext<'_>) -> Self {
        let &CacheContext { slots, capacity, protected, .. } = context;
        let real = (f64::from(capacity) * protected).ceil() as u32;
        PsuRealGhost {
            real: SortedSlots::new(slots),
            ghost: SortedSlots::new(slots),
            real_capacity: real.clamp(1, capacity),
            highest_age: 0,
            arrivals: 0,
        }
    }

    fn inserted(&mut self, slot: Slot, _: Lpn) {
        if self.real.count() == self.real_capacity {
            self.drop_to_ghost();
        }
        self.highest_age += 1;
        self.arrivals += 1;
        self.real.push(slot, (self.highest_age, self.arrivals));
    }

    fn hit(&mut self, slot: Slot) {
        if self.real.contains(slot) {
            let (age, arrival) = self.real.key(slot);
            self.real.raise(slot, (age + 1, arrival));
            self.highest_age = self.highest_age.max(age + 1);
            return;
        }
        let (age, arrival) = self.ghost.key(slot);
        let key = (age + 1, arrival);
        self.highest_age = self.highest_age.max(age + 1);
        let full = self.real.count() == self.real_capacity;
        let reaches = self.real.min().is_none_or(|lowest| key.0 >= self.real.key(lowest).0);
        if full && !reaches {
            self.ghost.raise(slot, key);
            return;
        }
        self.ghost.remove(slot);
        if full {
            self.drop_to_ghost();
        }
        // Its age is about that of the lowest of REAL.
        self.real.push_low(slot, key);
    }

    fn removed(&mut self, slot: Slot) {
        if self.real.contains(slot) {
            self.real.remove(slot);
        } else {
            self.ghost.remove(slot);
        }
    }

    fn victim(&self, _: impl Fn(Slot) -> bool) -> Slot {
        let lowest = self.ghost.min().or_else(|| self.real.min());
        lowest.expect("the cache is not empty")
    }
}
