//! What a configuration of groups would write (the paper's Markov chain of groups), from the
//! histogram of update intervals.
//!
//! A page enters group i at the rate at which pages are moved there, and stays as long as the
//! group's segments last at that rate: `size / rate` segments of the host, half a segment less on
//! average. What is updated meanwhile dies there; the valid share of victims is the rest. In the
//! last group, whose segments are collected in any order, updates of two temperatures are told
//! apart, those up to 0.7 of the mean interval and the others, and the share follows from the
//! closed form of a log of two temperatures (`docs/papers/placement.md`). Write amplification is 1
//! and all copies.
//!
//! Fractions live here only while a configuration is judged; what is kept of it has none. They are
//! added, subtracted, multiplied, divided and compared: the same on every platform.

use super::intervals::Sums;
use super::settings::{GROUPS_MAX, HotData};

/// What the model knows of the device and of its load.
#[derive(Clone, Copy, Debug)]
pub struct Model<'a> {
    /// The histogram.
    pub sums: &'a [Sums],
    /// Units of a segment that it counts in.
    pub units_per_segment: f64,
    /// Pages of a segment.
    pub segment_pages: f64,
    /// Segments that hold data.
    pub segments: u32,
    /// Segments that the last group keeps, and by which groups are younger than an epoch.
    pub margin: u32,
    /// Logical pages that are written.
    pub living: f64,
    /// Pages among them that lie in full segments of the last group and are never written: neither
    /// they nor their room count there.
    pub cold: f64,
    /// Part of the mean interval up to which updates of the last group are hot.
    pub last_hot: f64,
    /// Data of a hot group of the model's own.
    pub hot_data: HotData,
}

/// The hot group in a configuration.
#[derive(Clone, Copy, Debug)]
pub struct Hot {
    /// Segments.
    pub size: u32,
    /// Share of the host's writes that goes there.
    pub traffic: f64,
    /// Valid share of its victims.
    pub valid: f64,
    /// Intervals that end there, in units.
    units: usize,
    /// How old its pages become, in segments of the host.
    age: f64,
    /// Valid pages in it.
    living: f64,
}

/// Sizes of the groups between the hot one and the last, in segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    sizes: [u32; GROUPS_MAX],
    count: usize,
}

impl Sizes {
    /// The sizes.
    pub fn get(&self) -> &[u32] {
        &self.sizes[..self.count]
    }

    /// The same with one of them, or one more, of this size.
    #[must_use]
    pub fn with(mut self, group: usize, size: u32) -> Self {
        self.sizes[group] = size;
        self.count = self.count.max(group + 1);
        self
    }

    /// Segments of all of them.
    pub fn sum(&self) -> u32 {
        self.get().iter().sum()
    }
}

/// What a configuration would do.
#[derive(Clone, Copy, Debug)]
pub struct Prediction {
    /// Write amplification.
    pub waf: f64,
    /// Valid share of victims, by group between the hot one and the last.
    pub valid: [f64; GROUPS_MAX],
    /// Of the last group.
    pub valid_last: f64,
}

impl Model<'_> {
    fn units(&self) -> usize {
        self.sums.len() - 1
    }

    fn updates(&self) -> f64 {
        self.sums[self.units()].count as f64
    }

    /// The first unit that begins at an age or later.
    fn unit_at(&self, age: f64) -> usize {
        ((age * self.units_per_segment).ceil() as usize).min(self.units())
    }

    /// Pages that are written in a unit.
    fn unit_pages(&self) -> f64 {
        self.segment_pages / self.units_per_segment
    }

    /// A hot group of this size or the next that is possible, in which all that is hot dies.
    pub fn hot(&self, size: u32) -> Option<Hot> {
        let all = self.updates();
        (1..=self.units()).find_map(|units| {
            let traffic = self.sums[units].count as f64 / all;
            let age = units as f64 / self.units_per_segment;
            let found = (age * traffic + 0.5).floor() as u32;
            let living = self.hot_data(units, traffic);
            let hot = Hot { size: found, traffic, valid: 0.0, units, age, living };
            (found >= size).then_some(hot)
        })
    }

    /// Valid pages of a hot group of the model's own, as old as so many units.
    fn hot_data(&self, units: usize, traffic: f64) -> f64 {
        let share = match self.hot_data {
            HotData::None => return 0.0,
            HotData::Written => traffic,
            HotData::All => 1.0,
        };
        self.living(0..units, self.updates()) * share * self.unit_pages()
    }

    /// The hot group as it was measured.
    pub fn hot_as_measured(&self, size: u32, traffic: f64, valid: f64) -> Hot {
        let age = (f64::from(size) - 0.5) / traffic;
        let units = self.unit_at(age);
        let living = self.living(0..units, self.updates()) * traffic * self.unit_pages();
        Hot { size, traffic, valid, units, age, living }
    }

    /// Shares of what entered a group that are still valid, summed up over these units.
    fn living(&self, units: std::ops::Range<usize>, entered: f64) -> f64 {
        let (from, to) = (self.sums[units.start], self.sums[units.end]);
        let dead = (to.counts - from.counts) as f64 - units.len() as f64 * from.count as f64;
        units.len() as f64 - dead / entered
    }

    /// What groups of these sizes behind a hot one would do; none where a group would be older than
    /// the epoch, or keep nothing valid, or where the rest does not hold the data.
    pub fn predict(&self, hot: &Hot, sizes: &Sizes) -> Option<Prediction> {
        let last = self.segments.checked_sub(hot.size + sizes.sum())?;
        if last <= self.margin {
            return None;
        }
        let oldest = self.units() as f64 / self.units_per_segment - f64::from(self.margin);
        let all = self.updates();
        let mut inflow = 1.0 - hot.traffic + hot.traffic * hot.valid;
        let (mut age, mut unit) = (hot.age, hot.units);
        let mut copies = hot.traffic * hot.valid;
        let mut living = hot.living;
        let mut valid = [0.0; GROUPS_MAX];
        for (share, &size) in valid.iter_mut().zip(sizes.get()) {
            age += (f64::from(size) - 0.5) / inflow;
            if age >= oldest {
                return None;
            }
            let end = self.unit_at(age).max(unit);
            let entered = all - self.sums[unit].count as f64;
            let died = (self.sums[end].count - self.sums[unit].count) as f64;
            *share = 1.0 - died / entered;
            if entered <= 0.0 || *share <= 0.0 {
                return None;
            }
            living += inflow * self.unit_pages() * self.living(unit..end, entered);
            inflow *= *share;
            copies += inflow;
            unit = end;
        }
        let valid_last = self.last_valid(unit, last, self.living - living - self.cold)?;
        copies += inflow * valid_last / (1.0 - valid_last);
        Some(Prediction { waf: 1.0 + copies, valid, valid_last })
    }

    /// Valid share of the victims of the last group, whose updates have these intervals and more.
    fn last_valid(&self, unit: usize, segments: u32, living: f64) -> Option<f64> {
        if living <= 0.0 {
            return None;
        }
        let (from, all) = (self.sums[unit], self.sums[self.units()]);
        let (count, times) = ((all.count - from.count) as f64, (all.times - from.times) as f64);
        let mean = if count > 0.0 { times / count } else { 0.0 };
        let until = self.sums[((self.last_hot * mean) as usize + 1).clamp(unit, self.units())];
        let share = |part: u64, whole: f64| if whole > 0.0 { part as f64 / whole } else { 0.0 };
        let writes = share(until.count - from.count, count);
        // A page that is updated every i units has one update in i.
        let pages = share(until.times - from.times, times);
        // Greedy does a little better than the queue of the closed form.
        let greedy = 1.0 + 1.0 / (2.0 * self.segment_pages);
        let room = f64::from(segments) * self.segment_pages - self.cold;
        let space = room / living * greedy;
        let amplification = two_temperatures(space, pages, writes)? / greedy;
        let valid = 1.0 - 1.0 / amplification;
        (valid > 0.0).then_some(valid)
    }
}

/// e to the power of -x, for x of 0 and more.
fn exp_minus(x: f64) -> f64 {
    const HALVINGS: i32 = 10;
    if x > 700.0 {
        return 0.0;
    }
    let small = x / 1024.0;
    // The series up to the twelfth power: of 700 / 1024 what is left out is below 1e-12 of it, and of
    // its 1024th power below 1e-9.
    let series = (1..=12).rev().fold(1.0, |sum, term| 1.0 + small / f64::from(term) * sum);
    let mut power = 1.0 / series;
    for _ in 0..HALVINGS {
        power *= power;
    }
    power
}

/// Write amplification of a log that is collected in the order of writing, with `space` as much
/// room as data, of whose writes the share r goes uniformly to the share f of the data, and the
/// others to the rest; none where there is no more room than data, or so little that it is more
/// than half a million.
pub fn two_temperatures(space: f64, f: f64, r: f64) -> Option<f64> {
    if space <= 1.0 {
        return None;
    }
    // Where there is only one temperature, the writes are uniform.
    let parts = [(f, r), (1.0 - f, 1.0 - r)];
    let is_mixed = parts.iter().all(|&(data, writes)| data > 0.0 && writes > 0.0);
    let needed = |amplification: f64| match is_mixed {
        true => parts.iter().map(|&(data, writes)| part(space, data, writes, amplification)).sum(),
        false => part(space, 1.0, 1.0, amplification),
    };
    let mut high = 2.0;
    while needed(high) > high {
        high *= 2.0;
        if high > 1e6 {
            return None;
        }
    }
    let mut low = 1.0;
    for _ in 0..48 {
        let middle = low * 0.5 + high * 0.5;
        match needed(middle) > middle {
            true => low = middle,
            false => high = middle,
        }
    }
    Some(high)
}

/// Programs for a share of the writes that goes to a share of the data.
fn part(space: f64, data: f64, writes: f64, amplification: f64) -> f64 {
    writes / (1.0 - exp_minus(writes * space / (data * amplification)))
}

#[cfg(test)]
mod tests;
