//! Lists over the slots of a cache, in order of use. A slot is in at most one list.

use super::Slot;
use ftlab_flash::units::zeroed;
use zerocopy::FromZeros;

/// What a list keeps of a slot, in one place of memory. Links are slot numbers plus one, 0 for
/// "none".
#[derive(Clone, Copy, Debug, FromZeros)]
struct Node {
    next: u32,
    previous: u32,
    /// Its list plus one; 0 for a slot in no list.
    list: u32,
}

/// Several lists over one set of slots.
#[derive(Clone, Debug)]
pub struct SlotLists<const LISTS: usize> {
    /// Of each slot; the first one is nobody's.
    nodes: Vec<Node>,
    head: [u32; LISTS],
    tail: [u32; LISTS],
    length: [u32; LISTS],
}

impl<const LISTS: usize> SlotLists<LISTS> {
    /// Empty lists over `capacity` slots.
    pub fn new(capacity: u32) -> Self {
        SlotLists {
            nodes: zeroed(capacity as usize + 1),
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
            slot(self.nodes[last.index() + 1].next)
        })
    }

    /// The list that a slot is in.
    #[inline]
    pub fn list_of(&self, slot: Slot) -> Option<usize> {
        self.nodes[slot.index() + 1].list.checked_sub(1).map(|list| list as usize)
    }

    /// Puts a slot at the end of a list.
    #[inline]
    pub fn push(&mut self, list: usize, slot: Slot) {
        debug_assert!(self.list_of(slot).is_none());
        let (node, before) = (slot.0 + 1, self.tail[list]);
        self.nodes[node as usize] = Node { next: 0, previous: before, list: list as u32 + 1 };
        if before == 0 {
            self.head[list] = node;
        } else {
            self.nodes[before as usize].next = node;
        }
        self.tail[list] = node;
        self.length[list] += 1;
    }

    /// Puts a slot at the beginning of a list, as the one used longest ago.
    pub fn push_oldest(&mut self, list: usize, slot: Slot) {
        debug_assert!(self.list_of(slot).is_none());
        let (node, behind) = (slot.0 + 1, self.head[list]);
        self.nodes[node as usize] = Node { next: behind, previous: 0, list: list as u32 + 1 };
        if behind == 0 {
            self.tail[list] = node;
        } else {
            self.nodes[behind as usize].previous = node;
        }
        self.head[list] = node;
        self.length[list] += 1;
    }

    /// A slot is used: from the place that it has in its list to the end of it.
    #[inline]
    pub fn renew(&mut self, slot: Slot) {
        let list = self.list_of(slot).expect("the slot is in a list");
        if self.tail[list] != slot.0 + 1 {
            self.remove(slot);
            self.push(list, slot);
        }
    }

    /// Takes a slot out of its list.
    #[inline]
    pub fn remove(&mut self, slot: Slot) {
        let list = self.list_of(slot).expect("the slot is in a list");
        let node = &mut self.nodes[slot.index() + 1];
        let (before, behind) = (node.previous, node.next);
        node.list = 0;
        if before == 0 {
            self.head[list] = behind;
        } else {
            self.nodes[before as usize].next = behind;
        }
        if behind == 0 {
            self.tail[list] = before;
        } else {
            self.nodes[behind as usize].previous = before;
        }
        self.length[list] -= 1;
    }
}
