//! Counts in groups of equal length that come into being when something is first counted in them.
//!
//! A meter has room for times from nanoseconds to days and uses a few octaves of it. All room is
//! there from the start, so that counting never allocates; but a group is written to, and copied
//! with a duplicate, only once it is used, so that opening a device of any size costs nothing.

/// Most groups: a group's place is one byte, and zero says that it has none.
const MOST: usize = u8::MAX as usize;

/// `GROUPS` groups of counts.
#[derive(Debug)]
pub(super) struct Groups<T, const GROUPS: usize> {
    /// Number of counts in a group.
    length: usize,
    /// Where a group lies among the used ones, from one on; 0: nothing was counted in it.
    places: [u8; GROUPS],
    /// Those that are used, in the order of their first use. Its capacity is that of all.
    counts: Vec<T>,
}

impl<T: Copy + Default, const GROUPS: usize> Groups<T, GROUPS> {
    /// Groups of so many counts, all zero.
    pub(super) fn new(length: usize) -> Self {
        const { assert!(GROUPS <= MOST, "a place is a byte") };
        Groups { length, places: [0; GROUPS], counts: Vec::with_capacity(GROUPS * length) }
    }

    /// The counts of a group, to be changed.
    #[inline]
    pub(super) fn group_mut(&mut self, group: usize) -> &mut [T] {
        if self.places[group] == 0 {
            self.begin(group);
        }
        let start = (usize::from(self.places[group]) - 1) * self.length;
        &mut self.counts[start..start + self.length]
    }

    #[cold]
    fn begin(&mut self, group: usize) {
        self.counts.resize(self.counts.len() + self.length, T::default());
        self.places[group] = (self.counts.len() / self.length) as u8;
    }

    /// The used groups in ascending order, each with its counts.
    pub(super) fn used(&self) -> impl Iterator<Item = (usize, &[T])> {
        let all = self.places.iter().enumerate().filter(|&(_, &place)| place > 0);
        all.map(|(group, &place)| {
            let start = (usize::from(place) - 1) * self.length;
            (group, &self.counts[start..start + self.length])
        })
    }

    /// The used groups in the order of their first use, to be changed.
    pub(super) fn used_mut(&mut self) -> impl Iterator<Item = &mut [T]> {
        self.counts.chunks_exact_mut(self.length)
    }

    /// All counts are zero again.
    pub(super) fn clear(&mut self) {
        self.places = [0; GROUPS];
        self.counts.clear();
    }
}

impl<T: Copy + Default, const GROUPS: usize> Clone for Groups<T, GROUPS> {
    /// With room for all groups, as counting in the copy must not allocate either.
    fn clone(&self) -> Self {
        let mut own = Groups { places: self.places, ..Groups::new(self.length) };
        own.counts.extend_from_slice(&self.counts);
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_used_in_any_order_and_told_in_ascending_order() {
        let mut groups = Groups::<u32, 5>::new(3);
        assert_eq!(groups.used().count(), 0);
        let room = groups.counts.capacity();
        for (group, at, count) in [(4, 2, 7), (0, 0, 1), (4, 0, 5), (2, 1, 9)] {
            groups.group_mut(group)[at] += count;
        }
        let expected: [(usize, &[u32]); 3] = [(0, &[1, 0, 0]), (2, &[0, 9, 0]), (4, &[5, 0, 7])];
        assert!(groups.used().eq(expected));
        for group in 0..5 {
            groups.group_mut(group)[0] += 1;
        }
        assert_eq!(groups.counts.capacity(), room, "nothing was allocated");
        groups.clear();
        assert_eq!(groups.used().count(), 0);
        assert_eq!(groups.group_mut(4), [0, 0, 0], "what was counted before is forgotten");
    }

    #[test]
    fn a_duplicate_counts_for_itself_and_has_room_for_all() {
        let mut groups = Groups::<u64, 4>::new(2);
        groups.group_mut(3)[1] = 6;
        let mut duplicate = groups.clone();
        assert!(duplicate.used().eq(groups.used()));
        let room = duplicate.counts.capacity();
        assert!(room >= 8);
        duplicate.group_mut(1)[0] = 2;
        duplicate.group_mut(0)[0] = 2;
        duplicate.group_mut(2)[0] = 2;
        assert_eq!(duplicate.counts.capacity(), room);
        assert!(groups.used().eq([(3, &[0, 6][..])]));
    }
}
