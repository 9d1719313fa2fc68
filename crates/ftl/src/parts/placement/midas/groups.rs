//! Groups in force: which classes they are, how many segments each may have, and where pages go.

use ftlab_flash::request::CLASSES_MAX;

/// The groups of a device. Classes from 0 on are groups with a queue and a size, class 0 the hot
/// one; all other classes together are the last group, whose victims are chosen among all its
/// blocks: its pages are written to the last class, or go through a chain of classes to that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Groups {
    /// Classes that there are.
    classes: u8,
    /// Groups with a queue.
    queued: u8,
    /// Most classes of the chain.
    most_chain: u8,
    /// Whether the last group is a chain.
    is_chain: bool,
    /// Segments by queued group, the open one among them.
    sizes: [u32; CLASSES_MAX],
}

/// What a class is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A group with a queue.
    Queued,
    /// Of the last group.
    Last,
    /// Nothing is written to it.
    Unused,
}

impl Groups {
    /// One group, in which pages go along a chain.
    pub fn one(classes: u8, chain: u32) -> Self {
        let most_chain = chain.min(u32::from(classes)) as u8;
        let sizes = [0; CLASSES_MAX];
        Groups { classes, queued: 0, most_chain, is_chain: true, sizes }
    }

    /// Groups with queues of these sizes, the hot one first, and a last one.
    #[must_use]
    pub fn sized(&self, sizes: impl Iterator<Item = u32>) -> Self {
        let mut groups = Groups { queued: 0, is_chain: false, sizes: [0; CLASSES_MAX], ..*self };
        for size in sizes {
            groups.sizes[groups.queued as usize] = size;
            groups.queued += 1;
        }
        assert!(groups.queued < self.classes, "the last group needs a class");
        groups
    }

    /// A group was given up: the last one is a chain, and it takes the group and all behind that.
    /// With nothing but the hot group before it, that as well.
    #[must_use]
    pub fn without(&self, group: u8) -> Self {
        let queued = if group <= 1 { 0 } else { group.min(self.queued) };
        Groups { queued, is_chain: true, ..*self }
    }

    /// Groups with a queue.
    pub fn queued(&self) -> u8 {
        self.queued
    }

    /// Whether the last group is a chain.
    pub fn is_chain(&self) -> bool {
        self.is_chain
    }

    /// All groups: those with a queue, and the last.
    pub fn count(&self) -> u8 {
        self.queued + 1
    }

    /// Segments that a group with a queue may have, the open one among them.
    pub fn size(&self, group: u8) -> u32 {
        self.sizes[group as usize]
    }

    /// Whether there is a hot group.
    pub fn has_hot(&self) -> bool {
        self.classes > 1
    }

    /// The class that the last group's pages end in.
    pub fn last(&self) -> u8 {
        self.classes - 1
    }

    /// The class that pages come to which enter the last group.
    pub fn first_of_last(&self) -> u8 {
        if !self.is_chain {
            return self.last();
        }
        let chain = self.classes.saturating_sub(self.most_chain);
        chain.max(self.queued).max(u8::from(self.has_hot()))
    }

    /// The class of what the host writes that is not hot: the first group.
    pub fn first(&self) -> u8 {
        if self.queued > 1 { 1 } else { self.first_of_last() }
    }

    /// The group of a class: itself, or the last one's number.
    pub fn group_of(&self, class: u8) -> u8 {
        class.min(self.queued)
    }

    /// Where valid pages of a class go.
    pub fn next(&self, class: u8) -> u8 {
        match class {
            // The hot group has no queue of its own where there is one group.
            0 if self.queued == 0 => self.first_of_last(),
            _ if class + 1 < self.queued => class + 1,
            _ if class < self.queued => self.first_of_last(),
            _ => (class.max(self.first_of_last()) + 1).min(self.last()),
        }
    }

    /// What a class is.
    pub fn role(&self, class: u8) -> Role {
        let is_hot = class == 0 && self.has_hot();
        match class {
            _ if class < self.queued => Role::Queued,
            _ if is_hot || class >= self.first_of_last() => Role::Last,
            _ => Role::Unused,
        }
    }

    /// The class that a block without a queue counts as.
    pub fn class_in_last(&self, class: u8) -> u8 {
        match class {
            0 if self.queued == 0 => 0,
            _ => class.max(self.first_of_last()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(groups: &Groups, class: u8) -> Vec<u8> {
        let mut way = vec![class];
        while way.len() < 12 && groups.next(way[way.len() - 1]) != way[way.len() - 1] {
            way.push(groups.next(way[way.len() - 1]));
        }
        way
    }

    /// Ten classes, a chain of five: pages go from the hot group or from the host through classes 5
    /// to
    /// 9. With three queues behind the hot one: 0 1 2 3 and the last class.
    #[test]
    fn pages_go_from_group_to_group() {
        let one = Groups::one(10, 5);
        assert_eq!((one.count(), one.first()), (1, 5));
        assert_eq!(way(&one, 0), [0, 5, 6, 7, 8, 9]);
        let five = one.sized([4, 9, 20, 30].into_iter());
        assert_eq!((five.count(), five.first(), five.size(3)), (5, 1, 30));
        assert_eq!(way(&five, 0), [0, 1, 2, 3, 9]);
        assert_eq!(
            (five.role(3), five.role(4), five.role(9)),
            (Role::Queued, Role::Unused, Role::Last)
        );
        // Group 2 is given up: it and all behind it are one, a chain.
        let given_up = five.without(2);
        assert_eq!(way(&given_up, 0), [0, 1, 5, 6, 7, 8, 9]);
        assert_eq!((given_up.count(), given_up.role(2)), (3, Role::Unused));
        assert_eq!(five.without(4).queued(), 4, "the last one, which becomes a chain");
        for group in [0, 1] {
            let none = five.without(group);
            assert_eq!((none.count(), none.role(0)), (1, Role::Last));
        }
    }

    /// Nine queues leave the chain a class.
    #[test]
    fn a_chain_is_as_long_as_classes_are_left() {
        let nine = Groups::one(10, 5).sized([1; 9].into_iter());
        assert_eq!(way(&nine, 7), [7, 8, 9]);
        assert_eq!(way(&nine.without(7), 6), [6, 7, 8, 9]);
        assert_eq!(way(&Groups::one(1, 5), 0), [0]);
        assert_eq!(way(&Groups::one(2, 5), 0), [0, 1]);
        assert_eq!(way(&Groups::one(3, 5), 0), [0, 1, 2]);
    }

    /// With one queue, the hot group's, the first group is the last. A block without a queue is of
    /// the last group's classes; only the hot ones stay that while there is one group.
    #[test]
    fn a_block_without_a_queue_counts_as_of_the_last_group() {
        let one = Groups::one(10, 5);
        let hot = one.sized([4].into_iter());
        assert_eq!((hot.first(), hot.sized([4, 4].into_iter()).first()), (9, 1));
        assert_eq!([0, 3, 7].map(|class| one.class_in_last(class)), [0, 5, 7]);
        assert_eq!([0, 3, 9].map(|class| hot.class_in_last(class)), [9; 3]);
    }
}
