//! Lists over the slots of a cache, in order of use. A slot is in at most one list.

use super::Slot;
use ftlab_flash::units::zeroed;
use zerocopy::FromZeros;

/// What a list keeps of a slot, in one place of memory.
#[derive(Clone, Copy, Debug, FromZeros)]
struct Node {
    next: u32,
    previous: u32,
    /// Its list plus one; 0 for a slot in no list.
    list: u32,
}

/// Several lists over one set of slots. Links are numbers of nodes: the first nodes are the ends of
/// each list, which is a ring, so that no link is special, and the slots follow.
#[derive(Clone, Debug)]
pub struct SlotLists<const LISTS: usize> {
    nodes: Vec<Node>,
    length: [u32; LISTS],
}

impl<const LISTS: usize> SlotLists<LISTS> {
    /// Empty lists over `capacity` slots.
    pub fn new(capacity: u32) -> Self {
        let mut nodes: Vec<Node> = zeroed(capacity as usize + LISTS);
        for (end, node) in (0..).zip(&mut nodes[..LISTS]) {
            (node.next, node.previous) = (end, end);
        }
        SlotLists { nodes, length: [0; LISTS] }
    }

    /// Length of a list.
    #[inline]
    pub fn len(&self, list: usize) -> u32 {
        self.length[list]
    }

    /// The slot used longest ago.
    #[inline]
    pub fn oldest(&self, list: usize) -> Option<Slot> {
        debug_assert!(list < LISTS, "there are {LISTS} lists, and none {list}");
        Self::slot(self.nodes[list].next)
    }

    /// The slot that was used next after this one, of its list.
    #[inline]
    pub fn used_after(&self, slot: Slot) -> Option<Slot> {
        Self::slot(self.nodes[Self::node(slot) as usize].next)
    }

    /// The slots of a list, the one used longest ago first.
    pub fn from_oldest(&self, list: usize) -> impl Iterator<Item = Slot> + '_ {
        std::iter::successors(self.oldest(list), |&last| self.used_after(last))
    }

    /// The list that a slot is in.
    #[inline]
    pub fn list_of(&self, slot: Slot) -> Option<usize> {
        Self::index(self.nodes[Self::node(slot) as usize].list)
    }

    /// Puts a slot at the end of a list.
    #[inline]
    pub fn push(&mut self, list: usize, slot: Slot) {
        debug_assert!(self.list_of(slot).is_none());
        let before = self.nodes[list].previous;
        self.link(Self::node(slot), list, (before, list as u32));
    }

    /// Puts a slot at the beginning of a list, as the one used longest ago.
    pub fn push_oldest(&mut self, list: usize, slot: Slot) {
        debug_assert!(self.list_of(slot).is_none());
        let behind = self.nodes[list].next;
        self.link(Self::node(slot), list, (list as u32, behind));
    }

    /// A slot is used: from the place that it has in its list to the end of it.
    #[inline(always)]
    pub fn renew(&mut self, slot: Slot) {
        let node = Self::node(slot);
        let nodes = &mut self.nodes[..];
        let Node { next, previous, list } = nodes[node as usize];
        let end = Self::index(list).expect("the slot is in a list");
        if next == end as u32 {
            return;
        }
        nodes[previous as usize].next = next;
        nodes[next as usize].previous = previous;
        let last = std::mem::replace(&mut nodes[end].previous, node);
        nodes[last as usize].next = node;
        let known = &mut nodes[node as usize];
        (known.next, known.previous) = (end as u32, last);
    }

    /// The slot of a list that was used longest ago is used; none of an empty one.
    #[inline(always)]
    pub fn renew_oldest(&mut self, list: usize) -> Option<Slot> {
        debug_assert!(list < LISTS, "there are {LISTS} lists, and none {list}");
        let nodes = &mut self.nodes[..];
        let Node { next: node, previous: last, .. } = nodes[list];
        let slot = Self::slot(node)?;
        if node != last {
            let second = std::mem::replace(&mut nodes[node as usize].next, list as u32);
            nodes[node as usize].previous = last;
            nodes[last as usize].next = node;
            nodes[second as usize].previous = list as u32;
            (nodes[list].next, nodes[list].previous) = (second, node);
        }
        Some(slot)
    }

    /// Takes a slot out of its list.
    #[inline]
    pub fn remove(&mut self, slot: Slot) {
        let nodes = &mut self.nodes[..];
        let known = &mut nodes[Self::node(slot) as usize];
        let Node { next, previous, list } = *known;
        let list = Self::index(list).expect("the slot is in a list");
        known.list = 0;
        nodes[previous as usize].next = next;
        nodes[next as usize].previous = previous;
        self.length[list] -= 1;
    }

    #[inline(always)]
    fn link(&mut self, node: u32, list: usize, (previous, next): (u32, u32)) {
        self.length[list] += 1;
        let nodes = &mut self.nodes[..];
        nodes[previous as usize].next = node;
        nodes[next as usize].previous = node;
        nodes[node as usize] = Node { next, previous, list: list as u32 + 1 };
    }

    /// The list whose number plus one a node has; one alone needs no number.
    #[inline(always)]
    fn index(list: u32) -> Option<usize> {
        let list = list.checked_sub(1)?;
        Some(if LISTS == 1 { 0 } else { list as usize })
    }

    #[inline(always)]
    fn node(slot: Slot) -> u32 {
        slot.0 + LISTS as u32
    }

    /// The slot of a node, unless that is the ends of a list.
    #[inline(always)]
    fn slot(node: u32) -> Option<Slot> {
        node.checked_sub(LISTS as u32).map(Slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_flash::rng::{Purpose, Rng};
    use std::collections::VecDeque;

    /// Lists say what queues of slots say, whatever comes, is used and leaves.
    #[test]
    fn lists_and_queues_agree() {
        let (mut lists, mut queues) = (SlotLists::<2>::new(9), [VecDeque::new(), VecDeque::new()]);
        let mut rng = Rng::new(5, Purpose::Workload);
        for _ in 0..20_000 {
            let slot = Slot(rng.below(9));
            let held = queues.iter().position(|queue| queue.contains(&slot));
            assert_eq!(lists.list_of(slot), held);
            match (held, rng.below(3)) {
                _ if rng.below(4) == 0 => {
                    let list = rng.below(2) as usize;
                    assert_eq!(lists.renew_oldest(list), queues[list].front().copied());
                    if let Some(oldest) = queues[list].pop_front() {
                        queues[list].push_back(oldest);
                    }
                }
                (None, 0) => {
                    lists.push_oldest(0, slot);
                    queues[0].push_front(slot);
                }
                (None, list) => {
                    lists.push(list as usize - 1, slot);
                    queues[list as usize - 1].push_back(slot);
                }
                (Some(list), 0) => {
                    lists.remove(slot);
                    queues[list].retain(|&other| other != slot);
                }
                (Some(list), _) => {
                    lists.renew(slot);
                    queues[list].retain(|&other| other != slot);
                    queues[list].push_back(slot);
                }
            }
            for (list, queue) in queues.iter().enumerate() {
                assert_eq!(
                    (lists.oldest(list), lists.len(list)),
                    (queue.front().copied(), queue.len() as u32)
                );
                assert!(lists.from_oldest(list).eq(queue.iter().copied()));
            }
        }
    }

    #[test]
    #[should_panic(expected = "the slot is in a list")]
    fn who_is_in_no_list_cannot_leave() {
        let mut lists = SlotLists::<1>::new(2);
        lists.push(0, Slot(1));
        lists.remove(Slot(1));
        assert_eq!(lists.list_of(Slot(1)), None);
        lists.remove(Slot(1));
    }
}
