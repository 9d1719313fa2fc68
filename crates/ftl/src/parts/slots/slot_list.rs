//! Lists over the slots of a cache, in order of use. A slot is in at most one list.

use super::Slot;
use ftlab_flash::units::zeroed;

/// Several lists over one set of slots. Links are slot numbers plus one, 0 for "none".
#[derive(Clone, Debug)]
pub struct SlotLists<const LISTS: usize> {
    next: Vec<u32>,
    previous: Vec<u32>,
    /// List of each slot plus one.
    list_of: Vec<u8>,
    head: [u32; LISTS],
    tail: [u32; LISTS],
    length: [u32; LISTS],
}

impl<const LISTS: usize> SlotLists<LISTS> {
    /// Empty lists over `capacity` slots.
    pub fn new(capacity: u32) -> Self {
        SlotLists {
            next: zeroed(capacity as usize + 1),
            previous: zeroed(capacity as usize + 1),
            list_of: zeroed(capacity as usize + 1),
            head: [0; LISTS],
            tail: [0; LISTS],
            length: [0; LISTS],
        }
    }

    /// Length of a list.
    #[inline]
    pub fn len(&self, list: usize) -> u32 {
        self.length[list]
    }

    /// The slot used longest ago.
    #[inline]
    pub fn oldest(&self, list: usize) -> Option<Slot> {
        self.head[list].checked_sub(1).map(Slot)
    }

    /// The slots of a list, the one used longest ago first.
    pub fn from_oldest(&self, list: usize) -> impl Iterator<Item = Slot> + '_ {
        let slot = |node: u32| node.checked_sub(1).map(Slot);
        std::iter::successors(slot(self.head[list]), move |last| {
            slot(self.next[last.0 as usize + 1])
        })
    }

    /// The list that a slot is in.
    #[inline]
    pub fn list_of(&self, slot: Slot) -> Option<usize> {
        self.list_of[slot.0 as usize + 1].checked_sub(1).map(usize::from)
    }

    /// Puts a slot at the end of a list.
    #[inline]
    pub fn push(&mut self, list: usize, slot: Slot) {
        let node = slot.0 + 1;
        debug_assert!(self.list_of(slot).is_none());
        self.next[node as usize] = 0;
        self.previous[node as usize] = self.tail[list];
        if self.tail[list] == 0 {
            self.head[list] = node;
        } else {
            self.next[self.tail[list] as usize] = node;
        }
        self.tail[list] = node;
        self.list_of[node as usize] = list as u8 + 1;
        self.length[list] += 1;
    }

    /// Puts a slot at the beginning of a list, as the one used longest ago.
    pub fn push_oldest(&mut self, list: usize, slot: Slot) {
        let node = slot.0 + 1;
        debug_assert!(self.list_of(slot).is_none());
        self.previous[node as usize] = 0;
        self.next[node as usize] = self.head[list];
        if self.head[list] == 0 {
            self.tail[list] = node;
        } else {
            self.previous[self.head[list] as usize] = node;
        }
        self.head[list] = node;
        self.list_of[node as usize] = list as u8 + 1;
        self.length[list] += 1;
    }

    /// A slot is used: from the place that it has in its list to the end of it.
    #[inline]
    pub fn renew(&mut self, slot: Slot) {
        let list = self.list_of(slot).expect("the slot is in a list");
        self.remove(slot);
        self.push(list, slot);
    }

    /// Takes a slot out of its list.
    #[inline]
    pub fn remove(&mut self, slot: Slot) {
        let node = slot.0 + 1;
        let list = self.list_of(slot).expect("the slot is in a list");
        let (before, behind) = (self.previous[node as usize], self.next[node as usize]);
        if before == 0 {
            self.head[list] = behind;
        } else {
            self.next[before as usize] = behind;
        }
        if behind == 0 {
            self.tail[list] = before;
        } else {
            self.previous[behind as usize] = before;
        }
        self.list_of[node as usize] = 0;
        self.length[list] -= 1;
    }
}
