//! The choice of a program that uses ftlab as a library, among the entries used longest ago.

use std::sync::atomic::{AtomicU32, Ordering};

use super::{CacheContext, CachePolicy};
use crate::own::{Asked, CacheCandidates, OwnCache};
use crate::parts::slots::Slot;
use crate::parts::slots::slot_list::SlotLists;
use ftlab_flash::units::{Lpn, pack, unpack, zeroed};

/// A slot, or none. A device may be looked at from any thread.
#[derive(Debug, Default)]
struct Answer(AtomicU32);

impl Answer {
    fn get(&self) -> Option<Slot> {
        unpack(self.0.load(Ordering::Relaxed)).map(Slot)
    }

    fn set(&self, slot: Option<Slot>) {
        self.0.store(pack(slot.map(|slot| slot.0)), Ordering::Relaxed);
    }
}

impl Clone for Answer {
    fn clone(&self) -> Self {
        Answer(AtomicU32::new(self.0.load(Ordering::Relaxed)))
    }
}

/// Entries in order of use, and whom to ask.
#[derive(Clone, Debug)]
pub struct Own {
    list: SlotLists<1>,
    /// Page and uses of each slot.
    page: Vec<u32>,
    uses: Vec<u32>,
    policy: Asked<dyn OwnCache>,
    /// The answer, until something changes: who asks twice is told the same.
    chosen: Answer,
}

impl CachePolicy for Own {
    fn new(context: &CacheContext<'_>) -> Self {
        let maker = context.own.expect("`dftl.cmt_policy = own` was checked to come with a policy");
        let slots = context.slots as usize;
        Own {
            list: SlotLists::new(context.slots),
            page: zeroed(slots),
            uses: zeroed(slots),
            policy: maker.made(),
            chosen: Answer::default(),
        }
    }

    fn inserted(&mut self, slot: Slot, lpn: Lpn) {
        self.chosen.set(None);
        self.page[slot.0 as usize] = lpn.0;
        self.uses[slot.0 as usize] = 0;
        match self.policy.ask().admit(lpn.0) {
            true => self.list.push(0, slot),
            false => self.list.push_oldest(0, slot),
        }
    }

    fn hit(&mut self, slot: Slot) {
        self.chosen.set(None);
        let uses = &mut self.uses[slot.0 as usize];
        *uses = uses.saturating_add(1);
        self.list.renew(slot);
    }

    fn removed(&mut self, slot: Slot) {
        self.chosen.set(None);
        self.list.remove(slot);
    }

    fn victim(&self, is_changed: impl Fn(Slot) -> bool) -> Slot {
        if let Some(slot) = self.chosen.get() {
            return slot;
        }
        let window = self.policy.policy().window().max(1) as usize;
        let slots: Vec<Slot> = self.list.from_oldest(0).take(window).collect();
        let entries = CacheCandidates {
            pages: slots.iter().map(|slot| self.page[slot.0 as usize]).collect(),
            changed: slots.iter().map(|&slot| is_changed(slot)).collect(),
            uses: slots.iter().map(|slot| self.uses[slot.0 as usize]).collect(),
        };
        let place = self.policy.ask().evict(&entries);
        let slot = *slots
            .get(place)
            .unwrap_or_else(|| panic!("an own policy evicted entry {place} of {}", slots.len()));
        self.chosen.set(Some(slot));
        slot
    }
}
