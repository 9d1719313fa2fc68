//! What became of groups: valid shares of victims, against what the model expects of them; write
//! amplification; victims in a row.

use super::Groups;
use ftlab_flash::meter::ClassGroup;
use ftlab_flash::request::CLASSES_MAX;

/// Valid pages of victims, and all of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Collected {
    valid: u64,
    pages: u64,
}

impl Collected {
    /// A victim.
    pub fn add(&mut self, valid: u32, pages: u32) {
        self.valid += u64::from(valid);
        self.pages += u64::from(pages);
    }

    /// The share, in parts per million; none without a victim.
    pub fn share(&self) -> Option<u64> {
        (self.valid * 1_000_000).checked_div(self.pages)
    }
}

/// An epoch that is over: its groups, and what they were beside what was expected of them. Of an
/// epoch in which one was given up, the groups since then.
#[derive(Clone, Debug)]
pub struct Ended {
    /// The groups.
    pub groups: Groups,
    /// Valid share of victims by group, as expected, in parts per million.
    pub expected: [Option<u64>; CLASSES_MAX],
    /// What it was.
    pub found: [Collected; CLASSES_MAX],
    /// Write amplification, as expected and as it was, in parts per million; none where a model's
    /// groups were not in force all through the epoch.
    pub waf: Option<(u64, u64)>,
}

impl Ended {
    /// What the group of a class was, where it was one, of a device of so many segments.
    pub fn class_group(&self, class: u8, segments: u32) -> Option<ClassGroup> {
        let groups = &self.groups;
        let group = usize::from(groups.group_of(class));
        let is_queued = class < groups.queued();
        let taken: u32 = (0..groups.queued()).map(|group| groups.size(group)).sum();
        (is_queued || class == groups.last()).then(|| ClassGroup {
            segments: match is_queued {
                true => groups.size(class),
                false => segments.saturating_sub(taken),
            },
            expected_valid_ppm: self.expected[group],
            valid_ppm: self.found[group].share(),
        })
    }
}

/// What the groups in force are expected to do.
#[derive(Clone, Debug, Default)]
pub struct Expected {
    /// Clock when the epoch began in which that is held against what is; none: nothing is, any
    /// more.
    pub since: Option<u64>,
    /// Valid share of victims by group, in parts per million; none: nobody knows.
    pub valid: [Option<u64>; CLASSES_MAX],
    /// Write amplification, in parts per million; none where one of the model's groups was given
    /// up, or there is none.
    pub waf: Option<u64>,
    /// What was, by group, while it is looked at.
    pub found: [Collected; CLASSES_MAX],
}

impl Expected {
    /// Whether so many pages of the epoch have been written, and groups are still to be judged.
    pub fn has_passed(&self, now: u64, pages: u64) -> bool {
        self.since.is_some_and(|since| now - since >= pages)
    }

    /// The first of so many groups that is off by more than this, in parts per million.
    pub fn first_off(&self, groups: u8, tolerance: u64) -> Option<u8> {
        let is_off = |group: &u8| {
            let group = usize::from(*group);
            let both = self.valid[group].zip(self.found[group].share());
            both.is_some_and(|(expected, found)| expected.abs_diff(found) > tolerance)
        };
        (0..groups).find(is_off)
    }

    /// An epoch begins, in which groups are to be judged or not.
    pub fn begins(&mut self, since: Option<u64>) {
        self.since = since;
        self.found = Default::default();
    }
}

/// Pages written by the host and by collection.
#[derive(Clone, Copy, Debug, Default)]
struct Pages {
    host: u64,
    copies: u64,
}

impl Pages {
    /// Write amplification, in parts per million; none where the host wrote nothing.
    fn waf(self) -> Option<u64> {
        ((self.host + self.copies) * 1_000_000).checked_div(self.host)
    }
}

/// Write amplification since the last logical capacity, and in the epoch.
#[derive(Clone, Copy, Debug, Default)]
pub struct Written {
    capacity: Pages,
    epoch: Pages,
    /// Of the capacity before, in parts per million.
    last: Option<u64>,
}

impl Written {
    /// The host wrote a page.
    pub fn host(&mut self, capacity: u64) {
        self.capacity.host += 1;
        self.epoch.host += 1;
        if self.capacity.host == capacity {
            self.last = std::mem::take(&mut self.capacity).waf();
        }
    }

    /// An epoch ends: of that, in parts per million.
    pub fn epoch_ends(&mut self) -> Option<u64> {
        std::mem::take(&mut self.epoch).waf()
    }

    /// A victim was copied.
    pub fn copied(&mut self, pages: u32) {
        self.capacity.copies += u64::from(pages);
        self.epoch.copies += u64::from(pages);
    }

    /// So much was written in the last capacity, in parts per million.
    #[cfg(test)]
    pub fn was(&mut self, waf: u64) {
        self.last = Some(waf);
    }

    /// Of the last capacity, in parts per million.
    pub fn last(&self) -> Option<u64> {
        self.last
    }
}

/// Victims of one group, the host waiting.
#[derive(Clone, Copy, Debug, Default)]
pub struct Row {
    group: u8,
    clock: u64,
    victims: u32,
}

impl Row {
    /// How many there are with this one.
    pub fn count(&mut self, group: u8, clock: u64) -> u32 {
        let goes_on = (self.group, self.clock) == (group, clock);
        let victims = if goes_on { self.victims + 1 } else { 1 };
        *self = Row { group, clock, victims };
        victims
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An epoch that began at 100; a share that is off by just the tolerance is not off.
    #[test]
    fn groups_are_judged_by_the_pages_of_their_epoch() {
        let mut expected = Expected::default();
        expected.begins(Some(100));
        assert_eq!([149, 150].map(|now| expected.has_passed(now, 50)), [false, true]);
        expected.valid[0] = Some(500_000);
        expected.found[0].add(6, 10);
        assert_eq!(
            (expected.first_off(1, 100_000), expected.first_off(1, 99_999)),
            (None, Some(0))
        );
        expected.begins(None);
        assert!(!expected.has_passed(150, 50));
        assert_eq!(expected.first_off(1, 0), None, "nothing was found in the new epoch");
    }
}
