//! Slots in the order of their keys, as linked lists over one set of slots. A slot is in at most
//! one list, and finds its place by walking: from either end when it comes, from where it was when
//! its key grows. That is a step or two where new keys are among the highest and keys grow by
//! little; where they do not, [`IndexedHeap`](super::indexed_heap::IndexedHeap) is the better part.

use super::Slot;
use ftlab_flash::units::zeroed;
use zerocopy::FromZeros;

/// All that a list keeps of a slot, in one place of memory: half a line of the cache.
#[derive(Clone, Copy, Debug, Default, FromZeros)]
struct Node {
    key: (u64, u64),
    lower: u32,
    higher: u32,
    /// Its list plus one; 0 for a slot in no list.
    list: u32,
}

/// Several lists of slots by key. Links are numbers of nodes: the first nodes stand below the
/// lowest and above the highest of each list, so that no link is special, and the slots follow.
#[derive(Clone, Debug)]
pub struct SortedLists<const LISTS: usize> {
    nodes: Vec<Node>,
    length: [u32; LISTS],
}

impl<const LISTS: usize> SortedLists<LISTS> {
    /// Empty, over `capacity` slots.
    pub fn new(capacity: u32) -> Self {
        let mut nodes: Vec<Node> = zeroed(capacity as usize + LISTS);
        for (end, node) in (0..).zip(&mut nodes[..LISTS]) {
            (node.lower, node.higher) = (end, end);
        }
        SortedLists { nodes, length: [0; LISTS] }
    }

    /// Length of a list.
    #[inline]
    pub fn len(&self, list: usize) -> u32 {
        self.length[list]
    }

    /// The list that a slot is in.
    #[inline]
    pub fn list_of(&self, slot: Slot) -> Option<usize> {
        let list = self.nodes[Self::node(slot) as usize].list;
        list.checked_sub(1).map(|list| list as usize)
    }

    /// The slot of a list with the smallest key.
    #[inline]
    pub fn min(&self, list: usize) -> Option<Slot> {
        self.nodes[list].higher.checked_sub(LISTS as u32).map(Slot)
    }

    /// The slots of a list, that with the smallest key first.
    pub fn ascending(&self, list: usize) -> impl Iterator<Item = Slot> + '_ {
        let slot = |node: u32| node.checked_sub(LISTS as u32).map(Slot);
        std::iter::successors(self.min(list), move |&last| {
            slot(self.nodes[Self::node(last) as usize].higher)
        })
    }

    /// Key of a slot; it stays readable after the slot left.
    #[inline]
    pub fn key(&self, slot: Slot) -> (u64, u64) {
        self.nodes[Self::node(slot) as usize].key
    }

    /// Puts a slot into a list; no other one there has this key.
    #[inline(always)]
    pub fn push(&mut self, list: usize, slot: Slot, key: (u64, u64)) {
        self.enter(list, slot, key, self.below(list, key));
    }

    /// The same of a key that is among the lowest: the walk begins there.
    pub fn push_low(&mut self, list: usize, slot: Slot, key: (u64, u64)) {
        let mut higher = self.nodes[list].higher;
        while higher != list as u32 && self.nodes[higher as usize].key < key {
            higher = self.nodes[higher as usize].higher;
        }
        self.enter(list, slot, key, self.nodes[higher as usize].lower);
    }

    /// Gives a slot a higher key, which no other one of its list has.
    pub fn raise(&mut self, slot: Slot, key: (u64, u64)) {
        let node = Self::node(slot);
        let Node { key: before, list, mut higher, .. } = self.nodes[node as usize];
        assert!(list != 0, "slot {} is in no list", slot.0);
        debug_assert!(before < key);
        let end = list - 1;
        if higher == end || self.nodes[higher as usize].key > key {
            self.nodes[node as usize].key = key;
            return;
        }
        self.unlink(node);
        while higher != end && self.nodes[higher as usize].key < key {
            higher = self.nodes[higher as usize].higher;
        }
        self.link(node, (end, key), self.nodes[higher as usize].lower);
    }

    /// The slot of a list with the smallest key goes to another list, with that key, which no other
    /// one there has.
    #[inline(always)]
    pub fn move_min(&mut self, from: usize, to: usize) {
        let node = self.nodes[from].higher;
        assert!(node >= LISTS as u32, "list {from} is empty");
        self.unlink(node);
        let key = self.nodes[node as usize].key;
        self.link(node, (to as u32, key), self.below(to, key));
        self.length[from] -= 1;
        self.length[to] += 1;
    }

    /// Takes a slot out of its list.
    #[inline(always)]
    pub fn remove(&mut self, slot: Slot) {
        let list = self.list_of(slot);
        let list = list.unwrap_or_else(|| panic!("slot {} is in no list", slot.0));
        self.length[list] -= 1;
        self.unlink(Self::node(slot));
    }

    /// The node of a list above which a key has its place: the walk is from the highest down.
    #[inline(always)]
    fn below(&self, list: usize, key: (u64, u64)) -> u32 {
        let mut lower = self.nodes[list].lower;
        while lower != list as u32 && self.nodes[lower as usize].key > key {
            lower = self.nodes[lower as usize].lower;
        }
        lower
    }

    #[inline(always)]
    fn node(slot: Slot) -> u32 {
        slot.0 + LISTS as u32
    }

    /// Puts a slot above another one, or above the end of its list.
    #[inline(always)]
    fn enter(&mut self, list: usize, slot: Slot, key: (u64, u64), lower: u32) {
        debug_assert!(self.list_of(slot).is_none());
        self.link(Self::node(slot), (list as u32, key), lower);
        self.length[list] += 1;
    }

    #[inline(always)]
    fn link(&mut self, node: u32, (list, key): (u32, (u64, u64)), lower: u32) {
        let nodes = &mut self.nodes[..];
        let higher = std::mem::replace(&mut nodes[lower as usize].higher, node);
        nodes[higher as usize].lower = node;
        nodes[node as usize] = Node { key, lower, higher, list: list + 1 };
    }

    #[inline(always)]
    fn unlink(&mut self, node: u32) {
        let nodes = &mut self.nodes[..];
        let known = &mut nodes[node as usize];
        known.list = 0;
        let (lower, higher) = (known.lower, known.higher);
        nodes[lower as usize].higher = higher;
        nodes[higher as usize].lower = lower;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::slots::indexed_heap::IndexedHeap;
    use ftlab_flash::rng::{Purpose, Rng};

    /// The lowest of either list is that of a heap, whatever comes, rises and leaves.
    #[test]
    fn lists_and_heaps_agree() {
        let (mut lists, mut heaps) =
            (SortedLists::<2>::new(30), [(); 2].map(|()| IndexedHeap::new(30)));
        let mut rng = Rng::new(3, Purpose::Workload);
        for step in 0..50_000 {
            let slot = Slot(rng.below(30));
            if let (Some(lowest), 0) = (lists.min(0), rng.below(40)) {
                lists.move_min(0, 1);
                let key = heaps[0].key(lowest);
                heaps[0].remove(lowest);
                heaps[1].push(lowest, key);
            }
            match (lists.list_of(slot), rng.below(3)) {
                (None, _) => {
                    let (list, key) = (rng.below(2) as usize, (u64::from(rng.below(40)), step));
                    match rng.below(2) {
                        0 => lists.push(list, slot, key),
                        _ => lists.push_low(list, slot, key),
                    }
                    heaps[list].push(slot, key);
                }
                (Some(list), 0) => {
                    lists.remove(slot);
                    heaps[list].remove(slot);
                }
                (Some(list), _) => {
                    let (first, second) = lists.key(slot);
                    let key = (first + u64::from(rng.below(3)) + 1, second);
                    lists.raise(slot, key);
                    heaps[list].change(slot, key);
                }
            }
            for (list, heap) in heaps.iter().enumerate() {
                assert_eq!((lists.min(list), lists.len(list)), (heap.min(), heap.count()));
                assert_eq!(lists.list_of(slot) == Some(list), heap.contains(slot));
                let slots: Vec<Slot> = lists.ascending(list).collect();
                assert_eq!(slots.len() as u32, lists.len(list));
                assert!(slots.is_sorted_by_key(|&slot| lists.key(slot)));
                assert!(slots.iter().all(|&slot| lists.list_of(slot) == Some(list)));
                if heap.contains(slot) {
                    assert_eq!(lists.key(slot), heap.key(slot));
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "list 1 is empty")]
    fn of_an_empty_list_none_has_the_smallest_key() {
        SortedLists::<2>::new(4).move_min(1, 0);
    }

    #[test]
    #[should_panic(expected = "slot 3 is in no list")]
    fn who_is_in_no_list_cannot_leave() {
        let mut lists = SortedLists::<2>::new(4);
        lists.push(0, Slot(3), (1, 1));
        lists.remove(Slot(3));
        lists.remove(Slot(3));
    }
}
