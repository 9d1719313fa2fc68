//! Which pages are hot: a count of two bits a page, and the age that tells young from old.
//!
//! A page that is overwritten in the hot group, or in the first one before it is older than w,
//! counts one up; in an older segment of the first group one down. One that is copied out of the
//! first group counts one down, out of the hot group two. w is the mean age of the hot segments
//! that were collected and of the w before, at most half as much again, and found anew whenever w
//! pages were overwritten. What the hot group was in such a window, its share of the writes, the
//! valid share of its victims and its size, is kept of the last few for the model.

use super::settings::{MidasSettings, ppm};
use ftlab_flash::units::{Lpn, zeroed};

/// Where the version was that is overwritten or moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Was {
    /// In the hot group.
    Hot,
    /// In the first group, in a segment that was opened so many pages ago.
    First(u64),
    /// Elsewhere, or nobody knows.
    Elsewhere,
}

/// The hot group in a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HotWindow {
    /// Its share of the host's writes, in parts per million.
    pub traffic: u64,
    /// Valid share of its victims, in parts per million.
    pub valid: u64,
    /// Its closed blocks in the end.
    pub blocks: u32,
}

/// The hot group in the last windows: means, in parts per million, and in blocks times a million.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HotMeans {
    /// Share of the host's writes.
    pub traffic: u64,
    /// Valid share of victims.
    pub valid: u64,
    /// Closed blocks.
    pub blocks: u64,
}

/// Counts and ages.
#[derive(Clone, Debug)]
pub struct Filter {
    /// Four pages a byte.
    counts: Vec<u8>,
    /// Count at which a page is hot.
    hot: u8,
    /// Clock before which nothing counts.
    waits_until: u64,
    /// w.
    young: u64,
    /// Pages to be overwritten until w is found anew.
    left: u64,
    /// Ages of collected hot segments, and how many.
    ages: (u64, u64),
    /// The host's writes to the hot group, and all.
    traffic: (u64, u64),
    /// Valid pages of collected hot blocks, and all.
    valid: (u64, u64),
    windows: Vec<HotWindow>,
    most_windows: usize,
    next_window: usize,
}

impl Filter {
    /// Of a device that has seen nothing.
    pub fn new(settings: &MidasSettings, logical_pages: u32) -> Self {
        let capacity = u64::from(logical_pages);
        Filter {
            counts: zeroed((logical_pages as usize).div_ceil(4)),
            hot: settings.hot_count as u8,
            waits_until: capacity * u64::from(settings.hot_wait),
            young: capacity,
            left: capacity,
            ages: (0, 0),
            traffic: (0, 0),
            valid: (0, 0),
            windows: Vec::with_capacity(settings.hot_windows as usize),
            most_windows: settings.hot_windows as usize,
            next_window: 0,
        }
    }

    /// Bytes of the counts.
    pub fn ram_bytes(logical_pages: u32) -> u64 {
        u64::from(logical_pages).div_ceil(4)
    }

    /// What a page counts.
    pub fn count(&self, lpn: Lpn) -> u8 {
        self.counts[lpn.index() / 4] >> (lpn.index() % 4 * 2) & 3
    }

    fn set(&mut self, lpn: Lpn, count: u8) {
        let (byte, shift) = (&mut self.counts[lpn.index() / 4], lpn.index() % 4 * 2);
        *byte = *byte & !(3 << shift) | count << shift;
    }

    fn add(&mut self, lpn: Lpn, change: i8) {
        let count = self.count(lpn).saturating_add_signed(change).min(3);
        self.set(lpn, count);
    }

    /// w.
    #[cfg(test)]
    pub fn young(&self) -> u64 {
        self.young
    }

    /// The hot group was like this in the last windows.
    #[cfg(test)]
    pub fn had(&mut self, windows: &[HotWindow]) {
        self.windows = windows.to_vec();
    }

    /// A version is overwritten; so many closed blocks are hot.
    pub fn overwritten(&mut self, lpn: Lpn, was: Was, now: u64, hot_blocks: u32) {
        if now < self.waits_until {
            return;
        }
        if self.left == 0 && self.ages.1 > 0 {
            self.find_anew(hot_blocks);
        }
        self.left = self.left.saturating_sub(1);
        match was {
            Was::Hot => self.add(lpn, 1),
            Was::First(age) if age < self.young => self.add(lpn, 1),
            Was::First(_) => self.add(lpn, -1),
            Was::Elsewhere => {}
        }
    }

    /// A valid page was copied out of a victim.
    pub fn copied(&mut self, lpn: Lpn, was: Was, now: u64) {
        match was {
            _ if now < self.waits_until => {}
            Was::Hot => self.add(lpn, -2),
            Was::First(_) => self.add(lpn, -1),
            Was::Elsewhere => {}
        }
    }

    /// Whether the page that the host writes now is hot.
    pub fn is_hot(&mut self, lpn: Lpn, now: u64) -> bool {
        let is_hot = self.count(lpn) >= self.hot;
        if now >= self.waits_until {
            self.traffic.0 += u64::from(is_hot);
            self.traffic.1 += 1;
        }
        is_hot
    }

    /// A page's history ends.
    pub fn forget(&mut self, lpn: Lpn) {
        self.set(lpn, 0);
    }

    /// A hot segment was collected, so many pages after it was opened.
    pub fn collected(&mut self, age: u64, valid: u32, pages: u32, now: u64) {
        if now >= self.waits_until {
            self.ages = (self.ages.0 + age, self.ages.1 + 1);
            self.valid = (self.valid.0 + u64::from(valid), self.valid.1 + u64::from(pages));
        }
    }

    /// A window is over: w, and what the hot group was in it.
    fn find_anew(&mut self, blocks: u32) {
        let share = |(part, whole): (u64, u64)| (part * 1_000_000).checked_div(whole).unwrap_or(0);
        let (traffic, valid) = (share(self.traffic), share(self.valid));
        if traffic > 0 {
            let window = HotWindow { traffic, valid, blocks };
            match self.windows.len() < self.most_windows {
                true => self.windows.push(window),
                false => self.windows[self.next_window] = window,
            }
            self.next_window = (self.next_window + 1) % self.most_windows;
        }
        let mean = self.ages.0 / self.ages.1;
        self.young = mean.midpoint(self.young).min(self.young * 3 / 2).max(1);
        self.left = self.young;
        (self.ages, self.traffic, self.valid) = ((0, 0), (0, 0), (0, 0));
    }

    /// The hot group in the last windows; none where there was none. They begin anew.
    pub fn means(&mut self) -> Option<HotMeans> {
        let count = self.windows.len() as u64;
        if count == 0 {
            return None;
        }
        let sum = |of: fn(&HotWindow) -> u64| self.windows.iter().map(of).sum::<u64>();
        let means = HotMeans {
            traffic: sum(|window| window.traffic) / count,
            valid: sum(|window| window.valid) / count,
            blocks: sum(|window| u64::from(window.blocks) * ppm(1.0)) / count,
        };
        self.windows.clear();
        self.next_window = 0;
        Some(means)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGES: u32 = 20;

    fn filter() -> Filter {
        Filter::new(&MidasSettings { hot_wait: 0, ..MidasSettings::default() }, PAGES)
    }

    /// Overwritten three times while young: hot. Copied out of the first group: one less; out of
    /// the hot group: two less; overwritten while old: one less, never below 0.
    #[test]
    fn a_page_is_hot_after_three_young_updates() {
        let (mut filter, page) = (filter(), Lpn(7));
        let young = Was::First(19);
        let counts: Vec<(u8, bool)> = (0..4)
            .map(|now| {
                filter.overwritten(page, young, now, 0);
                (filter.count(page), filter.is_hot(page, now))
            })
            .collect();
        assert_eq!(counts, [(1, false), (2, false), (3, true), (3, true)]);
        for (was, expected) in
            [(Was::First(0), 2), (Was::Elsewhere, 2), (Was::Hot, 0), (Was::First(0), 0)]
        {
            filter.copied(page, was, 9);
            assert_eq!(filter.count(page), expected, "{was:?}");
        }
        filter.overwritten(page, Was::Hot, 9, 0);
        filter.overwritten(page, Was::Elsewhere, 9, 0);
        assert_eq!(filter.count(page), 1);
        filter.overwritten(page, Was::First(20), 9, 0);
        filter.overwritten(page, Was::First(20), 9, 0);
        assert_eq!(filter.count(page), 0, "as old as w");
        assert_eq!(filter.count(Lpn(6)) + filter.count(Lpn(8)), 0, "neighbours in the same byte");
    }

    /// w is 20 at first. Hot segments of ages 4 and 8 bring it to (20 + 6) / 2 = 13 once 20 pages
    /// were overwritten; one of age 100 to no more than 13 * 3 / 2 = 19 after 13 more.
    #[test]
    fn the_window_follows_the_age_of_hot_segments() {
        let mut filter = filter();
        filter.collected(4, 1, 4, 0);
        filter.collected(8, 0, 4, 0);
        let write = |filter: &mut Filter, count: u32| {
            for _ in 0..count {
                filter.overwritten(Lpn(0), Was::Elsewhere, 5, 3);
            }
        };
        write(&mut filter, 20);
        assert_eq!(filter.young(), 20, "until the next page");
        write(&mut filter, 1);
        assert_eq!(filter.young(), 13);
        filter.collected(100, 0, 4, 0);
        write(&mut filter, 13);
        assert_eq!(filter.young(), 19);
        write(&mut filter, 40);
        assert_eq!(filter.young(), 19, "no hot segment was collected since");
        assert_eq!(filter.means(), None, "the host wrote nothing hot");
    }

    /// Of four writes one is hot; of its victims four pages of eight are valid; three blocks. The
    /// next window is all hot, with nothing valid and five blocks.
    #[test]
    fn what_the_hot_group_was_is_averaged_over_windows() {
        let mut filter = filter();
        for window in 0..2 {
            (0..3).for_each(|_| filter.overwritten(Lpn(1), Was::Hot, 0, 0));
            let others = if window == 0 { 3 } else { 0 };
            (0..others).for_each(|_| assert!(!filter.is_hot(Lpn(2), 0)));
            assert!(filter.is_hot(Lpn(1), 0));
            filter.collected(PAGES.into(), 4 - 4 * window, 8, 0);
            while filter.ages.1 > 0 {
                filter.overwritten(Lpn(3), Was::Elsewhere, 0, 3 + 2 * window);
            }
        }
        let means = HotMeans { traffic: 625_000, valid: 250_000, blocks: 4_000_000 };
        assert_eq!(filter.means(), Some(means));
        assert_eq!(filter.means(), None, "each is used once");
    }

    /// With a wait of one capacity the first twenty pages count for nothing.
    #[test]
    fn nothing_counts_before_the_capacity_was_written() {
        let mut filter = Filter::new(&MidasSettings::default(), PAGES);
        for now in [0, 19, 20] {
            filter.overwritten(Lpn(1), Was::First(0), now, 0);
        }
        assert_eq!(filter.count(Lpn(1)), 1);
    }

    /// Two windows are kept: of four, of 1, 2, 6 and 10 blocks, the last two count.
    #[test]
    fn the_oldest_window_makes_room_for_the_next() {
        let settings = MidasSettings { hot_windows: 2, ..MidasSettings::default() };
        let mut filter = Filter::new(&settings, PAGES);
        for blocks in [1, 2, 6, 10] {
            (filter.ages, filter.traffic) = ((20, 1), (1, 10));
            filter.find_anew(blocks);
        }
        assert_eq!(filter.means().map(|means| means.blocks), Some(8_000_000));
    }
}
