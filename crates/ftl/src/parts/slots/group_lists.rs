//! Lists over the slots of a cache, one for each of many groups, in order of use. A slot is in at
//! most one list, that of the group which its owner knows.

use super::Slot;
use ftlab_flash::units::zeroed;

/// One list per group over one set of slots. Links are slot numbers plus one, 0 for "none".
#[derive(Clone, Debug)]
pub struct GroupLists {
    newer: Vec<u32>,
    older: Vec<u32>,
    oldest: Vec<u32>,
    newest: Vec<u32>,
    length: Vec<u32>,
}

impl GroupLists {
    /// Empty lists of `groups` groups over `capacity` slots.
    pub fn new(capacity: u32, groups: u32) -> Self {
        let (slots, groups) = (capacity as usize + 1, groups as usize);
        GroupLists {
            newer: zeroed(slots),
            older: zeroed(slots),
            oldest: zeroed(groups),
            newest: zeroed(groups),
            length: zeroed(groups),
        }
    }

    /// Length of a group's list.
    #[inline]
    pub fn len(&self, group: u32) -> u32 {
        self.length[group as usize]
    }

    /// The slots of a group, the one used longest ago first.
    pub fn from_oldest(&self, group: u32) -> impl Iterator<Item = Slot> + '_ {
        let slot = |node: u32| node.checked_sub(1).map(Slot);
        let first = slot(self.oldest[group as usize]);
        std::iter::successors(first, move |last| slot(self.newer[last.index() + 1]))
    }

    /// Puts a slot where the one used last is.
    #[inline]
    pub fn push_newest(&mut self, group: u32, slot: Slot) {
        let (node, before) = (slot.0 + 1, self.newest[group as usize]);
        self.link(group, before, node);
        self.link(group, node, 0);
        self.length[group as usize] += 1;
    }

    /// Puts a slot where the one used longest ago is.
    pub fn push_oldest(&mut self, group: u32, slot: Slot) {
        let (node, behind) = (slot.0 + 1, self.oldest[group as usize]);
        self.link(group, node, behind);
        self.link(group, 0, node);
        self.length[group as usize] += 1;
    }

    /// Takes a slot out of its group's list.
    #[inline]
    pub fn remove(&mut self, group: u32, slot: Slot) {
        let node = slot.index() + 1;
        self.link(group, self.older[node], self.newer[node]);
        self.length[group as usize] -= 1;
    }

    /// Makes two nodes neighbours; 0 stands for the end of the list.
    fn link(&mut self, group: u32, older: u32, newer: u32) {
        match older {
            0 => self.oldest[group as usize] = newer,
            _ => self.newer[older as usize] = newer,
        }
        match newer {
            0 => self.newest[group as usize] = older,
            _ => self.older[newer as usize] = older,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_flash::rng::{Purpose, Rng};

    /// Against plain vectors.
    #[test]
    fn every_group_keeps_its_slots_in_order() {
        let mut lists = GroupLists::new(40, 3);
        let mut model: [Vec<u32>; 3] = Default::default();
        let mut rng = Rng::new(5, Purpose::Workload);
        for _ in 0..20_000 {
            let slot = rng.below(40);
            match model.iter().position(|group| group.contains(&slot)) {
                Some(group) => {
                    model[group].retain(|&other| other != slot);
                    lists.remove(group as u32, Slot(slot));
                }
                None => {
                    let group = rng.below(3);
                    if rng.below(2) == 0 {
                        model[group as usize].push(slot);
                        lists.push_newest(group, Slot(slot));
                    } else {
                        model[group as usize].insert(0, slot);
                        lists.push_oldest(group, Slot(slot));
                    }
                }
            }
            for (group, slots) in model.iter().enumerate() {
                let listed: Vec<u32> = lists.from_oldest(group as u32).map(|s| s.0).collect();
                assert_eq!(&listed, slots);
                assert_eq!(lists.len(group as u32) as usize, slots.len());
            }
        }
    }
}
