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
use crate::parts::slots::sorted_lists::SortedLists;
use ftlab_flash::units::Lpn;

/// The segments' lists.
const REAL: usize = 0;
const GHOST: usize = 1;

/// Both segments, ordered by age, then by arrival.
#[derive(Clone, Debug)]
pub struct PsuRealGhost {
    segments: SortedLists<2>,
    real_capacity: u32,
    highest_age: u64,
    arrivals: u64,
}

impl PsuRealGhost {
    #[inline]
    fn drop_to_ghost(&mut self) {
        self.segments.move_min(REAL, GHOST);
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.segments.len(REAL) == self.real_capacity
    }
}

impl CachePolicy for PsuRealGhost {
    fn new(context: &CacheContext<'_>) -> Self {
        let &CacheContext { slots, capacity, protected, .. } = context;
        let real = (f64::from(capacity) * protected).ceil() as u32;
        PsuRealGhost {
            segments: SortedLists::new(slots),
            real_capacity: real.clamp(1, capacity),
            highest_age: 0,
            arrivals: 0,
        }
    }

    #[inline]
    fn inserted(&mut self, slot: Slot, _: Lpn) {
        if self.is_full() {
            self.drop_to_ghost();
        }
        self.highest_age += 1;
        self.arrivals += 1;
        self.segments.push(REAL, slot, (self.highest_age, self.arrivals));
    }

    fn hit(&mut self, slot: Slot) {
        let (age, arrival) = self.segments.key(slot);
        let key = (age + 1, arrival);
        self.highest_age = self.highest_age.max(age + 1);
        let full = self.is_full();
        let falls_short = |lowest| key.0 < self.segments.key(lowest).0;
        let stays = self.segments.list_of(slot) == Some(REAL)
            || full && self.segments.min(REAL).is_some_and(falls_short);
        if stays {
            self.segments.raise(slot, key);
            return;
        }
        self.segments.remove(slot);
        if full {
            self.drop_to_ghost();
        }
        // Its age is about that of the lowest of REAL.
        self.segments.push_low(REAL, slot, key);
    }

    #[inline]
    fn removed(&mut self, slot: Slot) {
        self.segments.remove(slot);
    }

    #[inline]
    fn each_next(&self, most: usize, mut each: impl FnMut(Slot)) {
        for slot in self.segments.ascending(GHOST).take(most) {
            each(slot);
        }
    }

    fn victim(&self, _: impl Fn(Slot) -> bool) -> Slot {
        let lowest = self.segments.min(GHOST).or_else(|| self.segments.min(REAL));
        lowest.expect("the cache is not empty")
    }
}
