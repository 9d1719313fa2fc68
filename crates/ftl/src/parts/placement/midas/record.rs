//! What became of groups: valid shares of victims, against what the model expects of them; write
//! amplification; victims in a row.

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

/// What the groups in force are expected to do.
#[derive(Clone, Debug, Default)]
pub struct Expected {
    /// Clock when the epoch began in which that is held against what is; none: nothing is, any more.
    pub since: Option<u64>,
    /// Valid share of victims by group, in parts per million; none: nobody knows.
    pub valid: [Option<u64>; CLASSES_MAX],
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

/// Write amplification since the last logical capacity.
#[derive(Clone, Copy, Debug, Default)]
pub struct Written {
    host: u64,
    copies: u64,
    /// Of the capacity before, in parts per million.
    last: Option<u64>,
}

impl Written {
    /// The host wrote a page.
    pub fn host(&mut self, capacity: u64) {
        self.host += 1;
        if self.host == capacity {
            let last = Some((self.host + self.copies) * 1_000_000 / self.host);
            *self = Written { last, ..Written::default() };
        }
    }

    /// A victim was copied.
    pub fn copied(&mut self, pages: u32) {
        self.copies += u64::from(pages);
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
