//! Learns the parameters of a twin from requests, in one pass. Memory: the history's, and a bounded
//! number of counts.

use std::collections::BTreeMap;

use ftlab_flash::request::Op;
use rustc_hash::FxHashMap;

use super::class::{Class, Within, octave, onto, range};
use super::history::{EXTENT_SECTORS, History, RECENT};
use super::model::{Model, RECENT_EXTENTS_MAX};
use super::tables::Tables;
use crate::error::Result;
use crate::record::Record;

/// Parts of the trace with class shares of their own: between half as many and as many.
const PARTS_MAX: usize = 32;
/// Paces of arrivals, each of as many gaps as the others.
const PACES: u64 = 8;
/// Ranges of an octave, as powers of two: stack distances in requests, in extents, gaps.
const DEPTH_PARTS: u32 = 2;
const EXTENT_PARTS: u32 = 1;
const GAP_PARTS: u32 = 2;
/// Most different sizes of a class that are kept by themselves; a further one counts as the largest
/// kept one below it, or as the smallest.
const SIZES_MAX: usize = 64;
/// Sectors that a unit is given; more than any has.
const UNIT_SECTORS: u64 = 1 << 40;

type Counts = BTreeMap<Vec<u64>, u64>;

/// What is counted while requests go by.
pub struct TwinFit {
    history: History,
    /// The number of each unit, and where it ends.
    units: FxHashMap<u32, (u64, u64)>,
    counts: FxHashMap<&'static str, Counts>,
    parts: Vec<Counts>,
    part_requests: u64,
    state: Option<(Class, bool)>,
    requests: u64,
    left_out: u64,
    latest_ns: u64,
    gap_ranges: BTreeMap<u64, (u64, u64)>,
    /// Gaps in order, as ranges, run by run: which follows which.
    gap_pairs: BTreeMap<(u64, u64), u64>,
    latest_gap: Option<u64>,
}

impl Default for TwinFit {
    fn default() -> Self {
        Self::new()
    }
}

impl TwinFit {
    /// Before the first request.
    pub fn new() -> Self {
        Self {
            history: History::new(),
            units: FxHashMap::default(),
            counts: FxHashMap::default(),
            parts: vec![Counts::new()],
            part_requests: 1,
            state: None,
            requests: 0,
            left_out: 0,
            latest_ns: 0,
            gap_ranges: BTreeMap::new(),
            gap_pairs: BTreeMap::new(),
            latest_gap: None,
        }
    }

    /// Reads and writes so far.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// Trims and flushes, which a twin has none of.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    fn count(&mut self, table: &'static str, row: &[u64]) {
        let counts = self.counts.entry(table).or_default();
        match counts.get_mut(row) {
            Some(count) => *count += 1,
            None => {
                counts.insert(row.to_vec(), 1);
            }
        }
    }

    /// Learns from a request; those of a workload come in order of time.
    pub fn note(&mut self, record: &Record) {
        if !matches!(record.op, Op::Read | Op::Write) {
            self.left_out += 1;
            return;
        }
        let fresh = self.units.len() as u64;
        let (unit, end) = self.units.entry(record.unit).or_insert((fresh, 0));
        *end = record.end_bytes().max(*end);
        let sector = *unit * UNIT_SECTORS + record.offset_bytes / 512;
        let sectors = (record.end_bytes().div_ceil(512) - record.offset_bytes / 512).max(1);
        let writes = record.op == Op::Write;
        self.note_gap(record.time_ns);
        let (class, rank) = Class::of(&self.history, sector);
        self.note_class(class, writes);
        let onto = onto(&self.history, sector, sectors);
        let before = match class {
            Class::FollowAgain | Class::FollowNew => {
                self.note_follow(class, rank, onto, sector, writes)
            }
            Class::Replay => self.kept_at(sector),
            Class::Again => self.note_again(sector, writes),
            Class::Beside => self.note_beside(sector, sectors, onto, writes),
            Class::Fresh => self.note_fresh(sector, onto),
        };
        let (known, wrote) = before.unwrap_or((1, writes));
        let (same, kept) = (wrote == writes, known == sectors && before.is_some());
        let (class, writes_number, size) = (class as u64, u64::from(writes), octave(known));
        self.count("sizes_kept", &[class, writes_number, same.into(), size, kept.into()]);
        if !kept {
            self.count("sizes", &[class, writes_number, size, sectors * 512, onto]);
        }
        self.history.note(sector, sectors, writes);
        self.requests += 1;
    }

    fn kept_at(&self, sector: u64) -> Option<(u64, bool)> {
        let begin = self.history.begin(self.history.begin_at(sector)?);
        Some((begin.sectors, begin.writes))
    }

    fn kept_before(&self) -> Option<(u64, bool)> {
        self.history.ends().front().map(|end| (end.sectors, end.writes))
    }

    fn note_follow(
        &mut self,
        class: Class,
        rank: usize,
        onto: u64,
        sector: u64,
        writes: bool,
    ) -> Option<(u64, bool)> {
        let end = self.history.ends()[rank];
        let there = self.kept_at(sector);
        let before = there.is_some_and(|(_, wrote)| wrote == writes);
        let same = 2 * u64::from(end.writes == writes) + u64::from(before);
        let size = octave(there.map_or(end.sectors, |(sectors, _)| sectors));
        let depth = self.history.request_depth(sector).unwrap_or(0);
        let (low, high) = range(depth, 0);
        let row = [class as u64, writes.into(), same, onto, size, low, high, rank as u64];
        self.count("follow", &row);
        match class {
            Class::FollowAgain => self.kept_at(sector),
            _ => Some((end.sectors, end.writes)),
        }
    }

    fn note_again(&mut self, sector: u64, writes: bool) -> Option<(u64, bool)> {
        let begin = self.history.begin_at(sector)?;
        let before = self.history.begin(begin);
        let (wrote, size) = (before.writes, octave(before.sectors));
        let extent = self.history.extent_at(sector / EXTENT_SECTORS)?;
        let (near, far) = range(self.history.recent.depth(extent), EXTENT_PARTS);
        let (low, high) = range(self.history.requests.depth(begin), DEPTH_PARTS);
        self.count("again", &[writes.into(), wrote.into(), size, near, far, low, high]);
        self.kept_at(sector)
    }

    fn note_beside(
        &mut self,
        sector: u64,
        sectors: u64,
        onto: u64,
        writes: bool,
    ) -> Option<(u64, bool)> {
        let extent = self.history.extent_at(sector / EXTENT_SECTORS)?;
        let within = Within::of(&self.history, sector);
        let state = self.history.state(extent);
        let (near, far) = range(self.history.recent.depth(extent), EXTENT_PARTS);
        self.count(
            "beside",
            &[writes.into(), octave(sectors), within as u64, onto, state, near, far],
        );
        self.count("offsets", &[Class::Beside as u64, within as u64, sector % EXTENT_SECTORS]);
        self.kept_before()
    }

    fn note_fresh(&mut self, sector: u64, onto: u64) -> Option<(u64, bool)> {
        let number = sector / EXTENT_SECTORS;
        let recent = &self.history.recent;
        let latest = (1..=RECENT.min(recent.len())).map(|depth| recent.at(depth));
        let nearest = latest
            .map(|extent| self.history.number(extent))
            .min_by_key(|known| known.abs_diff(number))
            .filter(|known| known.abs_diff(number) <= RECENT_EXTENTS_MAX);
        let known = nearest.or_else(|| self.history.nearest(number));
        if let Some(known) = known {
            let (from, to) = range(known.abs_diff(number).min(UNIT_SECTORS), 0);
            let all = u64::from(nearest.is_none());
            self.count("fresh", &[all, u64::from(number < known), onto, from, to]);
        }
        self.count(
            "offsets",
            &[Class::Fresh as u64, Within::Apart as u64, sector % EXTENT_SECTORS],
        );
        self.kept_before()
    }

    fn note_class(&mut self, class: Class, writes: bool) {
        let part = (self.requests / self.part_requests) as usize;
        if part == PARTS_MAX {
            let halves = std::mem::take(&mut self.parts);
            self.part_requests *= 2;
            for pair in halves.chunks(2) {
                let mut both = pair[0].clone();
                for (row, count) in pair.iter().skip(1).flatten() {
                    *both.entry(row.clone()).or_default() += count;
                }
                self.parts.push(both);
            }
        }
        let part = (self.requests / self.part_requests) as usize;
        if self.parts.len() <= part {
            self.parts.resize(part + 1, Counts::new());
        }
        let (before, wrote) = self.state.replace((class, writes)).unwrap_or((class, writes));
        let row = vec![before as u64, wrote.into(), class as u64, writes.into()];
        *self.parts[part].entry(row).or_default() += 1;
    }

    fn note_gap(&mut self, time_ns: u64) {
        let gap = time_ns.saturating_sub(std::mem::replace(&mut self.latest_ns, time_ns));
        if self.requests == 0 {
            return;
        }
        let (from, to) = range(gap, GAP_PARTS);
        let (sum, count) = self.gap_ranges.entry(from).or_insert((to, 0));
        debug_assert_eq!(*sum, to);
        *count += 1;
        if let Some(before) = self.latest_gap.replace(from) {
            *self.gap_pairs.entry((before, from)).or_default() += 1;
        }
    }

    /// The parameters. The twin's addresses lie within as many bytes as the units take side by
    /// side.
    ///
    /// # Errors
    /// No request to learn from; more than 2^60 bytes.
    pub fn model(self) -> Result<Model> {
        let ends = self.units.values().map(|(_, end)| *end);
        let span_bytes = ends.fold(0, u64::saturating_add).min(1 << 61);
        let mut tables = Tables::default();
        let mut classes = Vec::new();
        for (part, counts) in self.parts.iter().enumerate() {
            for (row, count) in counts {
                classes.push([&[part as u64], &row[..], &[*count]].concat());
            }
        }
        tables.set("classes", classes);
        for name in ["follow", "again", "beside", "fresh", "offsets", "sizes_kept"] {
            let counts = self.counts.get(name).into_iter().flatten();
            let rows = counts.map(|(row, count)| [&row[..], &[*count]].concat());
            tables.set(name, rows.collect());
        }
        tables.set("sizes", few_sizes(self.counts.get("sizes")));
        let paces = paces(&self.gap_ranges);
        let gaps = self.gap_ranges.iter();
        let row = |(from, (to, count)): (&u64, &(u64, u64))| vec![paces[from], *from, *to, *count];
        tables.set("gaps", gaps.map(row).collect());
        let mut pairs = Counts::new();
        for ((before, after), count) in &self.gap_pairs {
            *pairs.entry(vec![paces[before], paces[after]]).or_default() += count;
        }
        let pair = |(row, count): (&Vec<u64>, &u64)| [&row[..], &[*count]].concat();
        tables.set("paces", pairs.iter().map(pair).collect());
        Model::new(span_bytes.next_multiple_of(EXTENT_SECTORS * 512), tables)
    }
}

/// The pace of each range of gaps, so that all have about as many gaps.
fn paces(ranges: &BTreeMap<u64, (u64, u64)>) -> BTreeMap<u64, u64> {
    let all: u64 = ranges.values().map(|(_, count)| count).sum();
    let mut below = 0;
    let pace = |(from, (_, count)): (&u64, &(u64, u64))| {
        let middle = below + count / 2;
        below += count;
        (*from, (middle * PACES / all.max(1)).min(PACES - 1))
    };
    ranges.iter().map(pace).collect()
}

/// Of every class, operation and size before only the most common sizes.
fn few_sizes(counts: Option<&Counts>) -> Vec<Vec<u64>> {
    let mut keys: BTreeMap<&[u64], Vec<(u64, [u64; 2])>> = BTreeMap::new();
    for (row, count) in counts.into_iter().flatten() {
        keys.entry(&row[..3]).or_default().push((*count, [row[3], row[4]]));
    }
    let mut rows = Vec::new();
    for (key, mut sizes) in keys {
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let rest = sizes.split_off(sizes.len().min(SIZES_MAX));
        let mut kept: BTreeMap<[u64; 2], u64> =
            sizes.into_iter().map(|(count, size)| (size, count)).collect();
        for (count, size) in rest {
            let below = kept.range(..=size).next_back().map(|(size, _)| *size);
            let place = below.or_else(|| kept.keys().next().copied()).unwrap_or(size);
            *kept.entry(place).or_default() += count;
        }
        rows.extend(kept.into_iter().map(|(size, count)| [key, &size, &[count]].concat()));
    }
    rows
}
