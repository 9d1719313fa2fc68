//! Counts in groups of equal length that come into being when something is first counted in them.
//!
//! A meter has room for times from nanoseconds to days and uses a few octaves of it. All room is
//! there from the start, so that counting never allocates; but a group is written to, and copied
//! with a duplicate, only once it is used, so that opening a device of any size costs nothing.

/// `GROUPS` groups of `LENGTH` counts.
#[derive(Debug)]
pub(super) struct Groups<const LENGTH: usize, const GROUPS: usize> {
    /// Where a group lies among the used ones; [`UNUSED`]: nothing was counted in it.
    places: [u8; GROUPS],
    /// Those that are used, in the order of their first use. Its capacity is that of all.
    counts: Vec<[u64; LENGTH]>,
}

const UNUSED: u8 = u8::MAX;

impl<const LENGTH: usize, const GROUPS: usize> Groups<LENGTH, GROUPS> {
    /// All counts zero.
    pub(super) fn new() -> Self {
        const { assert!(GROUPS <= UNUSED as usize, "a place is a byte") };
        Groups { places: [UNUSED; GROUPS], counts: Vec::with_capacity(GROUPS) }
    }

    /// The counts of a group, to be changed.
    #[inline]
    pub(super) fn group_mut(&mut self, group: usize) -> &mut [u64; LENGTH] {
        if self.places[group] == UNUSED {
            self.begin(group);
        }
        &mut self.counts[usize::from(self.places[group])]
    }

    #[cold]
    fn begin(&mut self, group: usize) {
        self.places[group] = self.counts.len() as u8;
        self.counts.push([0; LENGTH]);
    }

    /// The used groups in ascending order, each with its counts.
    pub(super) fn used(&self) -> impl Iterator<Item = (usize, &[u64; LENGTH])> {
        let used = self.places.iter().enumerate().filter(|&(_, &place)| place != UNUSED);
        used.map(|(group, &place)| (group, &self.counts[usize::from(place)]))
    }

    /// All counts are zero again.
    pub(super) fn clear(&mut self) {
        self.places = [UNUSED; GROUPS];
        self.counts.clear();
    }
}

impl<const LENGTH: usize, const GROUPS: usize> Clone for Groups<LENGTH, GROUPS> {
    /// With room for all groups, as counting in the copy must not allocate either.
    fn clone(&self) -> Self {
        let mut own = Groups { places: self.places, ..Groups::new() };
        own.counts.extend_from_slice(&self.counts);
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_used_in_any_order_and_told_in_ascending_order() {
        let mut groups = Groups::<3, 5>::new();
        assert_eq!(groups.used().count(), 0);
        let room = groups.counts.capacity();
        for (group, at, count) in [(4, 2, 7), (0, 0, 1), (4, 0, 5), (2, 1, 9)] {
            groups.group_mut(group)[at] += count;
        }
        let expected: [(usize, &[u64; 3]); 3] = [(0, &[1, 0, 0]), (2, &[0, 9, 0]), (4, &[5, 0, 7])];
        assert!(groups.used().eq(expected));
        for group in 0..5 {
            groups.group_mut(group)[0] += 1;
        }
        assert_eq!(groups.counts.capacity(), room, "nothing was allocated");
        groups.clear();
        assert_eq!(groups.used().count(), 0);
        assert_eq!(groups.group_mut(4), &[0, 0, 0], "what was counted before is forgotten");
    }

    #[test]
    fn a_duplicate_counts_for_itself_and_has_room_for_all() {
        let mut groups = Groups::<2, 4>::new();
        groups.group_mut(3)[1] = 6;
        let mut duplicate = groups.clone();
        assert!(duplicate.used().eq(groups.used()));
        let room = duplicate.counts.capacity();
        assert!(room >= 4);
        duplicate.group_mut(1)[0] = 2;
        duplicate.group_mut(0)[0] = 2;
        duplicate.group_mut(2)[0] = 2;
        assert_eq!(duplicate.counts.capacity(), room);
        assert!(groups.used().eq([(3, &[0, 6])]));
    }
}
