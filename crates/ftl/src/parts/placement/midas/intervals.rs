//! How long pages live: a histogram of the intervals between updates of some pages, over an epoch
//! (the paper's update interval distribution).
//!
//! Intervals are counted in units of a part of a segment, of the pages whose number is a multiple
//! of the sampling rate. The shortest ones are too few for that: in some units of the epoch, evenly
//! spread, every page that is written twice in the unit counts. In the end a count of interval i is
//! raised by ((W mod i) 2 + i) / 2W, for intervals that reach beyond the epoch of W units, and a
//! page that was written once counts as of the longest interval.

use super::settings::MidasSettings;
use ftlab_flash::units::{Lpn, zeroed};

/// Of a sampled page: when it was written last in this epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stamp {
    /// Not yet.
    Unseen,
    /// It was trimmed since.
    Gone,
    /// Pages after the epoch's begin, and whether that was its first.
    At(u64, bool),
}

impl Stamp {
    fn of(stored: u64) -> Self {
        match (stored >> 1, stored & 1 == 1) {
            (0, false) => Stamp::Unseen,
            (0, true) => Stamp::Gone,
            (time, first) => Stamp::At(time - 1, first),
        }
    }

    fn stored(self) -> u64 {
        match self {
            Stamp::Unseen => 0,
            Stamp::Gone => 1,
            Stamp::At(time, first) => (time + 1) << 1 | u64::from(first),
        }
    }
}

/// Sums over the intervals below one.
#[derive(Clone, Copy, Debug, Default, zerocopy::FromZeros)]
pub struct Sums {
    /// Updates.
    pub count: u64,
    /// `count` behind every interval, summed up.
    pub counts: u64,
    /// Updates times their interval.
    pub times: u64,
}

/// The histogram of an epoch.
#[derive(Clone, Debug)]
pub struct Intervals {
    /// Pages of a unit.
    unit: u64,
    /// W.
    units: u32,
    sampling: u32,
    counts: Vec<u32>,
    stamps: Vec<u64>,
    /// Clock at the begin of the epoch; none: it has not begun.
    begun: Option<u64>,
    first_units: u32,
    /// Updates within a unit in which every page was watched.
    first: u64,
    /// Pages written in the present one, a list and a bit for each.
    watched: Vec<u32>,
    seen: Vec<u64>,
    /// By interval, and one behind the longest.
    sums: Vec<Sums>,
}

/// Units of an epoch, and pages of a unit.
fn units(settings: &MidasSettings, logical_pages: u32, segment_pages: u32) -> (u32, u64) {
    let unit = u64::from(segment_pages / settings.interval_units).max(1);
    let epoch = u64::from(settings.epoch) * u64::from(logical_pages);
    (u32::try_from(epoch / unit).unwrap_or(u32::MAX).max(1), unit)
}

/// Units of an epoch in which every page is watched. Where all are sampled, or no unit is whole,
/// the shortest intervals need nothing of their own.
fn first_units(settings: &MidasSettings, units: u32) -> u32 {
    let is_few = settings.sampling > 1 && settings.first_units < units;
    if is_few { settings.first_units } else { 0 }
}

impl Intervals {
    /// Of an epoch that has not begun.
    pub fn new(settings: &MidasSettings, logical_pages: u32, segment_pages: u32) -> Self {
        let (units, unit) = units(settings, logical_pages, segment_pages);
        let first_units = first_units(settings, units);
        let watches = first_units > 0;
        Intervals {
            unit,
            units,
            sampling: settings.sampling,
            counts: zeroed(units as usize),
            stamps: zeroed(logical_pages.div_ceil(settings.sampling) as usize),
            begun: None,
            first_units,
            first: 0,
            watched: Vec::with_capacity(if watches { unit as usize } else { 0 }),
            seen: zeroed(if watches { logical_pages.div_ceil(64) as usize } else { 0 }),
            sums: zeroed(units as usize + 1),
        }
    }

    /// Bytes of the histogram, the stamps, and the list and the bits of pages that are watched.
    /// Sums are how we are quick.
    pub fn ram_bytes(settings: &MidasSettings, logical_pages: u32, segment_pages: u32) -> u64 {
        let (units, unit) = units(settings, logical_pages, segment_pages);
        let stamps = u64::from(logical_pages.div_ceil(settings.sampling));
        let watched = match first_units(settings, units) {
            0 => 0,
            _ => 4 * unit + u64::from(logical_pages.div_ceil(8)),
        };
        4 * u64::from(units) + 8 * stamps + watched
    }

    /// Whether an epoch is going on.
    pub fn has_begun(&self) -> bool {
        self.begun.is_some()
    }

    /// An epoch begins with the next page written.
    pub fn begin(&mut self, now: u64) {
        self.begun = Some(now);
        self.counts.fill(0);
        self.stamps.fill(Stamp::Unseen.stored());
        self.first = 0;
        self.unwatch();
    }

    /// Whether the epoch is over.
    pub fn is_over(&self, now: u64) -> bool {
        self.begun.is_some_and(|begun| now - begun >= u64::from(self.units) * self.unit)
    }

    fn unwatch(&mut self) {
        for page in self.watched.drain(..) {
            self.seen[page as usize / 64] &= !(1 << (page % 64));
        }
    }

    /// Whether every page counts in a unit of the epoch.
    fn is_watched(&self, unit: u64) -> bool {
        let step = u64::from(self.units / (self.first_units + 1)).max(1);
        unit > 0 && unit.is_multiple_of(step) && unit / step <= u64::from(self.first_units)
    }

    /// A page is written.
    pub fn written(&mut self, lpn: Lpn, now: u64) {
        let Some(begun) = self.begun else { return };
        let time = now - begun;
        if self.first_units > 0 && self.is_watched(time / self.unit) {
            self.watch(lpn, time.is_multiple_of(self.unit));
        }
        if !lpn.0.is_multiple_of(self.sampling) {
            return;
        }
        let place = (lpn.0 / self.sampling) as usize;
        let stamp = Stamp::of(self.stamps[place]);
        if let Stamp::At(before, _) = stamp {
            self.count(time - before);
        }
        self.stamps[place] = Stamp::At(time, stamp == Stamp::Unseen).stored();
    }

    fn count(&mut self, interval: u64) {
        let last = self.counts.len() as u64 - 1;
        let count = &mut self.counts[(interval / self.unit).min(last) as usize];
        *count = count.saturating_add(1);
    }

    /// A page is written in a unit that is watched.
    fn watch(&mut self, lpn: Lpn, unit_begins: bool) {
        if unit_begins {
            self.unwatch();
        }
        let (word, bit) = (&mut self.seen[lpn.index() / 64], 1 << (lpn.0 % 64));
        if *word & bit != 0 {
            self.first += 1;
        } else {
            *word |= bit;
            self.watched.push(lpn.0);
        }
    }

    /// A page is trimmed: its version lived so long, and the next one is not its first.
    pub fn trimmed(&mut self, lpn: Lpn, now: u64) {
        let Some(begun) = self.begun.filter(|_| lpn.0.is_multiple_of(self.sampling)) else {
            return;
        };
        let place = (lpn.0 / self.sampling) as usize;
        if let Stamp::At(before, _) = Stamp::of(self.stamps[place]) {
            self.count(now - begun - before);
            self.stamps[place] = Stamp::Gone.stored();
        }
    }

    /// The epoch is over: its histogram, as sums.
    pub fn finish(&mut self) -> &[Sums] {
        let units = u64::from(self.units);
        if self.first_units > 0 {
            let part = u64::from(self.first_units) * u64::from(self.sampling);
            self.counts[0] = u32::try_from(self.first * units / part).unwrap_or(u32::MAX);
        }
        let once = |&stored: &u64| matches!(Stamp::of(stored), Stamp::At(_, true));
        let once = self.stamps.iter().filter(|stored| once(stored)).count() as u32;
        let longest = self.counts.last_mut().expect("an epoch has a unit");
        *longest = longest.saturating_add(once);
        let mut sum = Sums::default();
        for (interval, count) in self.counts.iter().enumerate() {
            let (interval, count) = (interval as u64, u64::from(*count));
            let beyond = (units.checked_rem(interval)).map_or(0, |rest| rest * 2 + interval);
            let count = count + count * beyond / (2 * units);
            self.sums[interval as usize] = sum;
            sum.count += count;
            sum.counts += sum.count;
            sum.times += count * interval;
        }
        *self.sums.last_mut().expect("an epoch has a unit") = sum;
        &self.sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments of eight pages, units of two, epochs of 16 pages: eight units.
    fn intervals(sampling: u32, first_units: u32) -> Intervals {
        let settings =
            MidasSettings { epoch: 2, sampling, first_units, ..MidasSettings::default() };
        let mut intervals = Intervals::new(&settings, 8, 8);
        intervals.begin(100);
        intervals
    }

    fn counts(intervals: &mut Intervals) -> Vec<u64> {
        let sums = intervals.finish();
        sums.windows(2).map(|pair| pair[1].count - pair[0].count).collect()
    }

    /// Page 0 at 0, 1, 7 and 13: intervals of 0, 3 and 3 units. Page 1 at 2, page 2 at 3: once.
    /// Page 3 at 4, trimmed at 8: 2 units, and written again: not its first. For interval 3: 2 + 2
    /// * (2 * 2 + 3) / 16 = 2; for 7: 2 + 2 * (1 * 2 + 7) / 16 = 3; for 2: 1 + 1 * 2 / 16 = 1.
    #[test]
    fn intervals_are_counted_in_units() {
        let mut intervals = intervals(1, 10);
        for (time, page) in [(0, 0), (1, 0), (2, 1), (3, 2), (4, 3), (7, 0)] {
            intervals.written(Lpn(page), 100 + time);
        }
        intervals.trimmed(Lpn(3), 108);
        intervals.written(Lpn(3), 112);
        intervals.written(Lpn(0), 113);
        assert!(!intervals.is_over(115) && intervals.is_over(116));
        assert_eq!(counts(&mut intervals), [1, 0, 1, 2, 0, 0, 0, 3]);
        let sums = intervals.sums[4];
        assert_eq!((sums.count, sums.counts, sums.times), (4, 1 + 1 + 2 + 4, 2 + 6));
        intervals.begin(200);
        assert_eq!(counts(&mut intervals), [0; 8], "nothing is left of the last epoch");
    }

    /// Four pages, each written twice more, two units apart: 8 + 8 * ((8 mod 2) * 2 + 2) / 16 = 9.
    #[test]
    fn an_interval_that_divides_the_epoch_counts_a_little_more() {
        let mut intervals = intervals(1, 10);
        (0..12).for_each(|time| intervals.written(Lpn(time % 4), 100 + u64::from(time)));
        assert_eq!(counts(&mut intervals), [0, 0, 9, 0, 0, 0, 0, 0]);
    }

    /// Every second page, and two units of eight, 2 and 4, in which each counts: page 1 twice in
    /// unit 2, page 3 twice in unit 4 and page 5 in unit 3, which is not watched. 2 * 8 / 2 / 2 =
    /// 4.
    #[test]
    fn the_shortest_intervals_are_measured_of_all_pages_in_a_few_units() {
        let mut intervals = intervals(2, 2);
        for (time, page) in [(4, 1), (5, 1), (6, 5), (7, 5), (8, 3), (9, 3), (10, 3)] {
            intervals.written(Lpn(page), 100 + time);
        }
        assert_eq!(counts(&mut intervals), [4, 0, 0, 0, 0, 0, 0, 0]);
    }

    /// In the same words as the rule: sampled, and fewer than there are units.
    #[test]
    fn shortest_intervals_have_units_of_their_own_where_pages_are_sampled() {
        let of = |sampling, first, units| {
            let settings =
                MidasSettings { sampling, first_units: first, ..MidasSettings::default() };
            first_units(&settings, units)
        };
        assert_eq!((of(1, 2, 8), of(2, 2, 8), of(2, 2, 2)), (0, 2, 0));
    }

    /// Of 16 units two are watched: the fifth and the tenth behind the first.
    #[test]
    fn watched_units_are_evenly_spread() {
        let settings =
            MidasSettings { epoch: 4, sampling: 2, first_units: 2, ..MidasSettings::default() };
        let intervals = Intervals::new(&settings, 8, 8);
        let watched: Vec<u64> = (0..16).filter(|&unit| intervals.is_watched(unit)).collect();
        assert_eq!(watched, [5, 10]);
    }

    /// Page 1 once in each of two units that are watched is nothing within a unit; twice in each is
    /// 2 of 8 / 2 units, a third of the pages being sampled: 2 * 8 / (2 * 3) = 2.
    #[test]
    fn a_unit_knows_nothing_of_the_pages_of_another() {
        for (times, short) in [(&[4, 8][..], 0), (&[4, 5, 8, 9], 2)] {
            let mut intervals = intervals(3, 2);
            times.iter().for_each(|time| intervals.written(Lpn(1), 100 + time));
            assert_eq!(counts(&mut intervals)[0], short, "{times:?}");
        }
    }

    /// Of every second page: page 4 at 0 and 6, three units apart, and page 6 at 1, trimmed at 7.
    /// Pages 0 and 2 are written once: 2 + 2 * (1 * 2 + 7) / 16 = 3.
    #[test]
    fn sampled_pages_have_a_stamp_each() {
        let mut intervals = intervals(2, 0);
        for (time, page) in [(0, 4), (1, 6), (2, 0), (3, 2), (4, 1), (6, 4)] {
            intervals.written(Lpn(page), 100 + time);
        }
        intervals.trimmed(Lpn(6), 107);
        // For interval 3: 2 + 2 * (2 * 2 + 3) / 16.
        assert_eq!(counts(&mut intervals), [0, 0, 0, 2, 0, 0, 0, 3]);
    }
}
