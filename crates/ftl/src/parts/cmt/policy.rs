//! What a replacement policy of a map cache is.

use crate::parts::slots::Slot;

/// Which entry leaves next. Told of every insertion, hit and removal.
pub trait CachePolicy {
    /// For `slots` slots; of `capacity` of them `protected` (a share) belong to the better segment.
    fn new(slots: u32, capacity: u32, protected: f64) -> Self;
    /// A slot was filled.
    fn inserted(&mut self, slot: Slot);
    /// A slot was used again.
    fn hit(&mut self, slot: Slot);
    /// A slot was emptied.
    fn removed(&mut self, slot: Slot);
    /// The slot that leaves next; the cache is not empty.
    fn victim(&self) -> Slot;
}
