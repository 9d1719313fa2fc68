//! What a replacement policy of a map cache is.

use crate::own::{Maker, OwnCache};
use crate::parts::slots::Slot;
use ftlab_flash::units::Lpn;

/// What a policy is built from.
#[derive(Clone, Copy)]
pub struct CacheContext<'a> {
    /// Places for entries, those that wait to be written among them.
    pub slots: u32,
    /// Entries that the policy keeps, at most.
    pub capacity: u32,
    /// The share of them that belongs to the better segment.
    pub protected: f64,
    /// Whom `own` asks.
    pub own: Option<&'a Maker<dyn OwnCache>>,
}

/// Which entry leaves next. Told of every insertion, hit and removal.
pub trait CachePolicy {
    /// Nothing is cached.
    fn new(context: &CacheContext<'_>) -> Self;
    /// A slot was filled with the entry of a page.
    fn inserted(&mut self, slot: Slot, lpn: Lpn);
    /// A slot was used again.
    fn hit(&mut self, slot: Slot);
    /// A slot was emptied.
    fn removed(&mut self, slot: Slot);
    /// Tells of so many slots that are about to leave, the next one first, as far as the order says
    /// it before a victim is asked for.
    fn each_next(&self, _most: usize, _each: impl FnMut(Slot)) {}
    /// The slot that leaves next; the cache is not empty. Tells whether an entry differs from
    /// flash.
    fn victim(&self, is_changed: impl Fn(Slot) -> bool) -> Slot;
}
