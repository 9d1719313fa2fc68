//! The entry that was not used for longest leaves.

use super::{CacheContext, CachePolicy};
use crate::parts::slots::Slot;
use crate::parts::slots::slot_list::SlotLists;
use ftlab_flash::units::Lpn;

/// One list in order of use.
#[derive(Clone, Debug)]
pub struct Lru {
    list: SlotLists<1>,
}

impl Lru {
    /// Every slot, the one used longest ago first.
    pub fn oldest_first(&self) -> impl Iterator<Item = Slot> + '_ {
        self.list.from_oldest(0)
    }

    /// The victim leaves and another entry is inserted in its place: as if it were removed first.
    #[inline(always)]
    pub fn replace_victim(&mut self) -> Slot {
        self.list.renew_oldest(0).expect("the cache is not empty")
    }
}

impl CachePolicy for Lru {
    fn new(context: &CacheContext<'_>) -> Self {
        Lru { list: SlotLists::new(context.slots) }
    }

    fn inserted(&mut self, slot: Slot, _: Lpn) {
        self.list.push(0, slot);
    }

    fn hit(&mut self, slot: Slot) {
        self.list.renew(slot);
    }

    fn removed(&mut self, slot: Slot) {
        self.list.remove(slot);
    }

    #[inline]
    fn each_next(&self, most: usize, mut each: impl FnMut(Slot)) {
        for slot in self.list.from_oldest(0).take(most) {
            each(slot);
        }
    }

    fn victim(&self, _: impl Fn(Slot) -> bool) -> Slot {
        self.list.oldest(0).expect("the cache is not empty")
    }
}
