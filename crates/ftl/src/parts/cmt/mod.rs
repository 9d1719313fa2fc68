//! The cached mapping table: map entries in memory, and which of them leaves next.
//!
//! One file per replacement policy, one row in the table below. The cache knows nothing of flash:
//! its owner loads and writes back.

mod lfu;
mod lru;
mod own;
mod policy;
mod psu_real_ghost;
mod slru;

pub use policy::{CacheContext, CachePolicy};

use std::collections::VecDeque;

use crate::parts::map_cache::{Known, MapCache};
use crate::parts::slots::Slot;
use crate::parts::slots::slab::Slab;
use ftlab_flash::board::when::Moment;
use ftlab_flash::units::{Lpn, Ppn, pack, unpack, zeroed};

/// One cached map entry.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    lpn: u32,
    /// Physical page plus one; 0 for "unmapped".
    ppn: u32,
    dirty: bool,
    /// Written without loading the entry that it supersedes: a page on flash may still count as
    /// valid although it is old.
    unresolved: bool,
    /// It has left, and waits to be written.
    leaving: bool,
    /// When the entry was there.
    ready: Moment,
}

/// What an entry says that leaves the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// Whose it was.
    pub lpn: Lpn,
    /// Where that page was.
    pub ppn: Option<Ppn>,
    /// Whether it differed from the map on flash.
    pub dirty: bool,
}

macro_rules! policy_table {
    ($( $(#[$doc:meta])* $variant:ident = $name:literal => $type:ty, )*) => {
        ftlab_flash::choices! {
            /// The replacement policies of map caches.
            pub enum CachePolicyKind { $( $(#[$doc])* $variant = $name, )* }
        }

        #[derive(Clone, Debug)]
        enum Policy {
            $( $variant($type), )*
            /// Nobody asks which entry leaves.
            Unordered,
        }

        impl Policy {
            fn new(kind: CachePolicyKind, context: &CacheContext<'_>) -> Self {
                match kind {
                    $( CachePolicyKind::$variant => {
                        Policy::$variant(<$type as CachePolicy>::new(context))
                    } )*
                }
            }
            // Caches without an order do not call: what they do is inlined, and this would be too.
            #[inline(never)]
            fn inserted(&mut self, slot: Slot, lpn: Lpn) {
                match self { $( Policy::$variant(policy) => policy.inserted(slot, lpn), )*
                    Policy::Unordered => {}
                }
            }
            #[inline]
            fn hit(&mut self, slot: Slot) {
                match self { $( Policy::$variant(policy) => policy.hit(slot), )*
                    Policy::Unordered => {}
                }
            }
            #[inline(never)]
            fn removed(&mut self, slot: Slot) {
                match self { $( Policy::$variant(policy) => policy.removed(slot), )*
                    Policy::Unordered => {}
                }
            }
            #[inline]
            fn each_next(&self, most: usize, each: impl FnMut(Slot)) {
                match self { $( Policy::$variant(policy) => policy.each_next(most, each), )*
                    Policy::Unordered => {}
                }
            }
            #[inline]
            fn is_ordered(&self) -> bool {
                !matches!(self, Policy::Unordered)
            }
            #[inline]
            fn victim(&self, is_changed: impl Fn(Slot) -> bool) -> Slot {
                match self { $( Policy::$variant(policy) => policy.victim(is_changed), )*
                    Policy::Unordered => unreachable!("a cache without an order has no victim"),
                }
            }
        }
    };
}

policy_table! {
    /// What the DFTL authors' public code does: two segments ordered by an age that a hit raises by
    /// one, and new entries enter the protected one.
    PsuRealGhost = "psu_real_ghost" => psu_real_ghost::PsuRealGhost,
    /// Textbook segmented LRU: enter on probation, promoted by a hit.
    Slru = "slru" => slru::Slru,
    /// Least recently used.
    Lru = "lru" => lru::Lru,
    /// Least frequently used, the older use first among equals.
    Lfu = "lfu" => lfu::Lfu,
    /// As a program says that uses ftlab as a library.
    Own = "own" => own::Own,
}

/// The cached mapping table.
#[derive(Clone, Debug)]
pub struct Cmt {
    /// Slot of each logical page plus one, 0 for "not cached".
    slot_of: Vec<u32>,
    entries: Slab<Entry>,
    /// Entries that the policy keeps, at most.
    capacity: u32,
    /// Entries that have left and wait to be written, in the order in which they left; their number
    /// is bounded by the places that there are for them.
    leaving: VecDeque<u32>,
    guests: u32,
    unresolved: u32,
    policy: Policy,
}

impl Cmt {
    /// An empty cache of `capacity` entries for a map of `logical_pages`.
    pub fn new(kind: CachePolicyKind, logical_pages: u32, capacity: u32, protected: f64) -> Self {
        let context = CacheContext { slots: capacity, capacity, protected, own: None };
        Self::with_policy(kind, logical_pages, &context)
    }

    /// The same without an order: which entry leaves is its owner's to know.
    pub fn unordered(logical_pages: u32, capacity: u32) -> Self {
        Self::of(Policy::Unordered, logical_pages, (capacity, 0))
    }

    /// An empty cache with `slots - capacity` places for entries that have left ([`Cmt::leave`]),
    /// beyond the policy's `capacity`.
    pub fn with_policy(
        kind: CachePolicyKind,
        logical_pages: u32,
        context: &CacheContext<'_>,
    ) -> Self {
        let CacheContext { slots, capacity, .. } = *context;
        Self::of(Policy::new(kind, context), logical_pages, (capacity, slots - capacity))
    }

    fn of(policy: Policy, logical_pages: u32, (capacity, guests): (u32, u32)) -> Self {
        Cmt {
            slot_of: zeroed(logical_pages as usize),
            entries: Slab::new(capacity + guests),
            capacity,
            leaving: VecDeque::with_capacity(guests as usize),
            guests,
            unresolved: 0,
            policy,
        }
    }

    /// Entries in the cache, without those that have left and wait to be written.
    pub fn len(&self) -> u32 {
        self.entries.len() - self.leaving.len() as u32
    }

    /// Whether nothing is cached.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the next insertion needs an eviction first.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.len() == self.capacity
    }

    /// Where a page's entry is, without counting as a use.
    #[inline]
    pub fn find(&self, lpn: Lpn) -> Option<Slot> {
        unpack(self.slot_of[lpn.index()]).map(Slot)
    }

    /// An entry is used again.
    #[inline]
    pub fn touch(&mut self, slot: Slot) {
        self.policy.hit(slot);
    }

    /// Caches an entry; there must be room.
    #[inline]
    pub fn insert(&mut self, lpn: Lpn, ppn: Option<Ppn>, ready: impl Into<Moment>) -> Slot {
        assert!(!self.is_full(), "the cached map holds all of its {} entries", self.capacity);
        debug_assert!(self.find(lpn).is_none());
        let (ppn, ready) = (pack(ppn.map(|ppn| ppn.0)), ready.into());
        let entry = Entry { lpn: lpn.0, ppn, ready, ..Entry::default() };
        let slot = self.entries.add(entry);
        self.slot_of[lpn.index()] = pack(Some(slot.0));
        if self.policy.is_ordered() {
            self.policy.inserted(slot, lpn);
        }
        slot
    }

    /// The entry that leaves next.
    #[inline]
    pub fn victim(&self) -> Slot {
        self.policy.victim(|slot| self.entries[slot].dirty)
    }

    /// Tells whose entries are about to leave a full cache, so many at most, the next one first, as
    /// far as the policy can say it.
    #[inline]
    pub fn each_next(&self, most: usize, mut each: impl FnMut(Lpn)) {
        if self.is_full() {
            self.policy.each_next(most, |slot| each(self.lpn(slot)));
        }
    }

    /// The entries in the order in which they would leave; under `lru` alone, which has one.
    pub fn oldest_first(&self) -> impl Iterator<Item = Slot> + '_ {
        let Policy::Lru(lru) = &self.policy else {
            panic!("only `lru` keeps entries in one order")
        };
        lru.oldest_first()
    }

    /// Drops an entry.
    #[inline]
    pub fn remove(&mut self, slot: Slot) {
        let entry = &mut self.entries[slot];
        self.unresolved -= u32::from(entry.unresolved);
        entry.unresolved = false;
        entry.dirty = false;
        self.slot_of[entry.lpn as usize] = 0;
        if std::mem::take(&mut entry.leaving) {
            self.waits_no_more(slot);
        } else if self.policy.is_ordered() {
            self.policy.removed(slot);
        }
        self.entries.remove(slot);
    }

    /// Drops the entry that leaves next and caches another in its place, `dirty` or not and there
    /// from `ready` on: the same as [`Cmt::victim`], [`Cmt::remove`] and [`Cmt::insert`] one after
    /// another. The cache is not empty. Returns the place, and what was there.
    #[inline(always)]
    pub fn replace_victim(
        &mut self,
        (lpn, ppn): (Lpn, Option<Ppn>),
        dirty: bool,
        ready: Moment,
    ) -> (Slot, Left) {
        debug_assert!(self.find(lpn).is_none());
        let slot = match &mut self.policy {
            Policy::Lru(lru) => lru.replace_victim(),
            _ => {
                let slot = self.victim();
                self.policy.removed(slot);
                self.policy.inserted(slot, lpn);
                slot
            }
        };
        let ppn = pack(ppn.map(|ppn| ppn.0));
        let entry = Entry { lpn: lpn.0, ppn, dirty, ready, ..Entry::default() };
        let Entry { lpn: known, ppn, dirty, unresolved, leaving, .. } =
            std::mem::replace(&mut self.entries[slot], entry);
        assert!(!leaving, "page {known} waits to be written, and is nobody's victim");
        self.unresolved -= u32::from(unresolved);
        self.slot_of[known as usize] = 0;
        self.slot_of[lpn.index()] = pack(Some(slot.0));
        (slot, Left { lpn: Lpn(known), ppn: unpack(ppn).map(Ppn), dirty })
    }

    /// An entry leaves the cache and waits to be written; there must be a place for it
    /// ([`Cmt::is_crowded`]). Until it is removed it is the map's newest word on its page.
    pub fn leave(&mut self, slot: Slot) {
        assert!(!self.is_crowded(), "all {} places of leaving entries are taken", self.guests);
        let entry = &mut self.entries[slot];
        assert!(!entry.leaving, "the entry of page {} left twice", entry.lpn);
        entry.leaving = true;
        self.policy.removed(slot);
        self.leaving.push_back(slot.0);
    }

    /// An entry that waits to be written is wanted before it is: it enters the cache as a new one
    /// does, and a `victim` waits in its place; there must be room.
    pub fn take_back(&mut self, slot: Slot, victim: Option<Slot>) {
        let entry = &mut self.entries[slot];
        assert!(entry.leaving, "the entry of page {} has not left", entry.lpn);
        entry.leaving = false;
        self.waits_no_more(slot);
        if let Some(victim) = victim {
            self.leave(victim);
        }
        assert!(self.len() <= self.capacity, "the cached map holds {} entries", self.capacity);
        let lpn = self.lpn(slot);
        self.policy.inserted(slot, lpn);
    }

    /// Nearly always the one that has waited for longest.
    #[inline(never)]
    fn waits_no_more(&mut self, slot: Slot) {
        if self.leaving.front() == Some(&slot.0) {
            self.leaving.pop_front();
        } else {
            self.leaving.retain(|&waits| waits != slot.0);
        }
    }

    /// Whether an entry has left and waits to be written.
    #[inline]
    pub fn is_leaving(&self, slot: Slot) -> bool {
        self.entries[slot].leaving
    }

    /// The entry that has waited to be written for longest.
    #[inline]
    pub fn first_leaving(&self) -> Option<Slot> {
        self.leaving.front().copied().map(Slot)
    }

    /// Whether no more entries can wait to be written.
    #[inline]
    pub fn is_crowded(&self) -> bool {
        self.leaving.len() as u32 == self.guests
    }

    /// Logical page of an entry.
    #[inline]
    pub fn lpn(&self, slot: Slot) -> Lpn {
        Lpn(self.entries[slot].lpn)
    }

    /// Physical page of an entry.
    #[inline]
    pub fn ppn(&self, slot: Slot) -> Option<Ppn> {
        unpack(self.entries[slot].ppn).map(Ppn)
    }

    /// When an entry was loaded.
    #[inline]
    pub fn ready(&self, slot: Slot) -> Moment {
        self.entries[slot].ready
    }

    /// An entry is there from `ready` on.
    #[inline]
    pub fn set_ready(&mut self, slot: Slot, ready: impl Into<Moment>) {
        self.entries[slot].ready = ready.into();
    }

    /// Whether an entry differs from the map on flash.
    #[inline]
    pub fn is_dirty(&self, slot: Slot) -> bool {
        self.entries[slot].dirty
    }

    /// Changes an entry; it differs from flash from now on.
    #[inline]
    pub fn change(&mut self, slot: Slot, ppn: Option<Ppn>) {
        let entry = &mut self.entries[slot];
        entry.ppn = pack(ppn.map(|p| p.0));
        entry.dirty = true;
    }

    /// The map on flash says what the entry says.
    #[inline]
    pub fn clean(&mut self, slot: Slot) {
        self.entries[slot].dirty = false;
    }

    /// Whether the page that an entry supersedes was never looked up.
    #[inline]
    pub fn is_unresolved(&self, slot: Slot) -> bool {
        self.entries[slot].unresolved
    }

    /// Removes the entry of a write that did not happen, if that made it and nobody knows it yet.
    pub fn drop_unresolved(&mut self, lpn: Lpn) {
        if let Some(slot) = self.find(lpn)
            && !self.is_dirty(slot)
            && MapCache::is_unresolved(self, lpn)
        {
            self.remove(slot);
        }
    }

    /// Notes whether the page that an entry supersedes is unknown.
    pub fn set_unresolved(&mut self, slot: Slot, unresolved: bool) {
        let entry = &mut self.entries[slot];
        self.unresolved += u32::from(unresolved);
        self.unresolved -= u32::from(entry.unresolved);
        entry.unresolved = unresolved;
    }

    /// Every cached entry.
    pub fn slots(&self) -> impl Iterator<Item = Slot> + '_ {
        self.entries.places().filter(|&slot| self.find(self.lpn(slot)) == Some(slot))
    }
}

impl MapCache for Cmt {
    #[inline]
    fn glance_at(&self, lpn: Lpn) -> u32 {
        self.slot_of[lpn.index()]
    }

    #[inline]
    fn entry(&self, lpn: Lpn) -> Option<Option<Ppn>> {
        self.find(lpn).map(|slot| self.ppn(slot))
    }

    #[inline]
    fn is_dirty(&self, lpn: Lpn) -> bool {
        self.find(lpn).is_some_and(|slot| Cmt::is_dirty(self, slot))
    }

    #[inline]
    fn change(&mut self, lpn: Lpn, ppn: Option<Ppn>) {
        let slot = self.find(lpn).expect("the entry is cached");
        Cmt::change(self, slot, ppn);
    }

    #[inline]
    fn exchange(&mut self, lpn: Lpn, ppn: Option<Ppn>) -> Known {
        let slot = self.find(lpn).expect("the entry is cached");
        let before = self.ppn(slot);
        Cmt::change(self, slot, ppn);
        Known::Entry(before)
    }

    #[inline]
    fn clean(&mut self, lpn: Lpn) {
        if let Some(slot) = self.find(lpn) {
            Cmt::clean(self, slot);
        }
    }

    fn changed(&self) -> impl Iterator<Item = (Lpn, Option<Ppn>)> + '_ {
        // A place that was given back is not dirty.
        let dirty = self.entries.items().iter().filter(|entry| entry.dirty);
        dirty.map(|entry| (Lpn(entry.lpn), unpack(entry.ppn).map(Ppn)))
    }

    fn fill(&mut self, changed: &[(Lpn, Option<Ppn>)]) {
        for &(lpn, ppn) in changed {
            let slot = self.insert(lpn, ppn, Moment::START);
            self.change(slot, ppn);
        }
    }

    #[inline]
    fn unresolved(&self) -> u32 {
        self.unresolved
    }

    #[inline]
    fn is_unresolved(&self, lpn: Lpn) -> bool {
        self.unresolved > 0 && self.find(lpn).is_some_and(|slot| Cmt::is_unresolved(self, slot))
    }

    fn resolve(&mut self, lpn: Lpn) {
        let slot = self.find(lpn).expect("the entry is cached");
        self.set_unresolved(slot, false);
    }
}

#[cfg(test)]
mod tests;
