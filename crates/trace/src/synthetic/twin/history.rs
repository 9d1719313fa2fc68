//! What was requested so far, as both the fit and the twin see it: begins of requests in order of
//! their latest use, extents of 128 KiB in order of theirs, and the ends of the latest requests.
//!
//! A limit on everything: 2^20 begins and 2^20 extents, the oldest forgotten first, 64 ends. That
//! is at most about 350 MiB, and for most traces far less.

use std::collections::{BTreeMap, VecDeque};

use rustc_hash::FxHashMap;

use super::recency::Recency;

/// Sectors of 512 bytes in an extent.
pub(super) const EXTENT_SECTORS: u64 = 256;
/// Ends of requests that one may follow.
const ENDS_MAX: usize = 64;
/// Begins and extents that are remembered, each.
const HELD_MAX: u64 = 1 << 20;
/// Extents used last that a new one may be near.
pub(super) const RECENT: u64 = 8;

/// A place at which requests began.
#[derive(Clone, Copy)]
pub(crate) struct Begin {
    pub sector: u64,
    /// Size and operation of the latest request.
    pub sectors: u64,
    pub writes: bool,
    /// What was requested behind it the last time, with its first sector to know it by.
    next: Option<(u32, u64)>,
}

struct Extent {
    number: u64,
    /// One bit per sector that was touched.
    touched: [u64; 4],
    /// 0 never written, 1 read last, 2 written last.
    state: u64,
    begins: Vec<u32>,
}

/// Where a request ended.
#[derive(Clone, Copy)]
pub(crate) struct End {
    pub sector: u64,
    pub sectors: u64,
    pub writes: bool,
}

/// The history.
pub(crate) struct History {
    begins: Vec<Begin>,
    by_sector: FxHashMap<u64, u32>,
    pub(super) requests: Recency,
    free_begins: Vec<u32>,
    extents: Vec<Extent>,
    by_number: BTreeMap<u64, u32>,
    pub(super) recent: Recency,
    free_extents: Vec<u32>,
    /// The latest at the front.
    ends: VecDeque<End>,
    latest: Option<u32>,
    expected: Option<(u32, u64)>,
    held_max: u64,
}

impl History {
    /// Nothing was requested.
    pub fn new() -> Self {
        Self::of(HELD_MAX)
    }

    fn of(held_max: u64) -> Self {
        Self {
            begins: Vec::new(),
            by_sector: FxHashMap::default(),
            requests: Recency::new(),
            free_begins: Vec::new(),
            extents: Vec::new(),
            by_number: BTreeMap::new(),
            recent: Recency::new(),
            free_extents: Vec::new(),
            ends: VecDeque::with_capacity(ENDS_MAX + 1),
            latest: None,
            expected: None,
            held_max,
        }
    }

    /// The begin at a sector, if one is known.
    pub fn begin_at(&self, sector: u64) -> Option<u32> {
        self.by_sector.get(&sector).copied()
    }

    pub fn begin(&self, id: u32) -> &Begin {
        &self.begins[id as usize]
    }

    /// The extent of that number, if one is known.
    pub fn extent_at(&self, number: u64) -> Option<u32> {
        self.by_number.get(&number).copied()
    }

    pub fn number(&self, extent: u32) -> u64 {
        self.extents[extent as usize].number
    }

    /// Of an extent: 0 it was never written, 1 read last, 2 written last.
    pub fn state(&self, extent: u32) -> u64 {
        self.extents[extent as usize].state
    }

    /// Begins within an extent.
    pub fn begins_of(&self, extent: u32) -> &[u32] {
        &self.extents[extent as usize].begins
    }

    /// Which sectors of an extent were touched, one bit each.
    pub fn touched_of(&self, number: u64) -> [u64; 4] {
        self.extent_at(number).map_or([0; 4], |extent| self.extents[extent as usize].touched)
    }

    /// Sectors from `from` up to before `to` that were touched.
    pub fn touched_among(&self, from: u64, to: u64) -> u64 {
        let mut count = 0;
        for number in from / EXTENT_SECTORS..to.div_ceil(EXTENT_SECTORS) {
            let Some(extent) = self.extent_at(number) else { continue };
            let masks = masks(number, from, to);
            let touched = self.extents[extent as usize].touched.iter().zip(masks);
            count += touched.map(|(word, mask)| u64::from((word & mask).count_ones())).sum::<u64>();
        }
        count
    }

    /// Was a sector touched?
    pub fn is_touched(&self, sector: u64) -> bool {
        let inside = sector % EXTENT_SECTORS;
        self.extent_at(sector / EXTENT_SECTORS).is_some_and(|extent| {
            self.extents[extent as usize].touched[inside as usize / 64] >> (inside % 64) & 1 == 1
        })
    }

    /// How deep the begin at a sector lies among all, if one is known.
    pub fn request_depth(&self, sector: u64) -> Option<u64> {
        self.begin_at(sector).map(|begin| self.requests.depth(begin))
    }

    /// How deep the extent of a sector lies among all, if it is known.
    pub fn extent_depth(&self, sector: u64) -> Option<u64> {
        self.extent_at(sector / EXTENT_SECTORS).map(|extent| self.recent.depth(extent))
    }

    /// Ends of the latest requests, the latest first.
    pub fn ends(&self) -> &VecDeque<End> {
        &self.ends
    }

    /// The begin that followed on the one requested last when that was requested the time before.
    pub fn expected(&self) -> Option<u32> {
        let (id, sector) = self.expected?;
        (self.by_sector.get(&sector) == Some(&id)).then_some(id)
    }

    /// The begin that followed on another the time it was requested last.
    pub fn led_to(&self, begin: u32) -> Option<u32> {
        let (id, sector) = self.begins[begin as usize].next?;
        (self.by_sector.get(&sector) == Some(&id)).then_some(id)
    }

    /// The known extent nearest to a number.
    pub fn nearest(&self, number: u64) -> Option<u64> {
        let below = self.by_number.range(..=number).next_back().map(|(known, _)| *known);
        let above = self.by_number.range(number..).next().map(|(known, _)| *known);
        [below, above].into_iter().flatten().min_by_key(|known| known.abs_diff(number))
    }

    /// Notes a request.
    pub fn note(&mut self, sector: u64, sectors: u64, writes: bool) {
        let last = (sector + sectors.max(1) - 1) / EXTENT_SECTORS;
        for number in sector / EXTENT_SECTORS..=last {
            self.touch_extent(number, sector, sector + sectors, writes);
        }
        let id = match self.begin_at(sector) {
            Some(id) => id,
            None => self.add_begin(sector),
        };
        let known = &mut self.begins[id as usize];
        (known.sectors, known.writes) = (sectors, writes);
        self.expected = known.next;
        self.requests.touch(id);
        if let Some(latest) = self.latest.replace(id) {
            self.begins[latest as usize].next = Some((id, sector));
        }
        self.ends.retain(|end| end.sector != sector);
        self.ends.push_front(End { sector: sector + sectors, sectors, writes });
        self.ends.truncate(ENDS_MAX);
        if self.requests.len() > self.held_max {
            self.forget_begin(self.requests.at(self.requests.len()));
        }
    }

    fn add_begin(&mut self, sector: u64) -> u32 {
        let begin = Begin { sector, sectors: 0, writes: false, next: None };
        let id = match self.free_begins.pop() {
            Some(id) => {
                self.begins[id as usize] = begin;
                id
            }
            None => {
                self.begins.push(begin);
                self.begins.len() as u32 - 1
            }
        };
        self.by_sector.insert(sector, id);
        let extent = self.by_number[&(sector / EXTENT_SECTORS)];
        self.extents[extent as usize].begins.push(id);
        id
    }

    fn touch_extent(&mut self, number: u64, from: u64, to: u64, writes: bool) {
        let id = match self.extent_at(number) {
            Some(id) => id,
            None => {
                let extent = Extent { number, touched: [0; 4], state: 0, begins: Vec::new() };
                let id = match self.free_extents.pop() {
                    Some(id) => {
                        self.extents[id as usize] = extent;
                        id
                    }
                    None => {
                        self.extents.push(extent);
                        self.extents.len() as u32 - 1
                    }
                };
                self.by_number.insert(number, id);
                id
            }
        };
        let extent = &mut self.extents[id as usize];
        extent.state = if writes { 2 } else { extent.state.min(1) };
        let touched = extent.touched.iter_mut();
        touched.zip(masks(number, from, to)).for_each(|(word, mask)| *word |= mask);
        self.recent.touch(id);
        if self.recent.len() > self.held_max {
            self.forget_extent(self.recent.at(self.recent.len()));
        }
    }

    fn forget_begin(&mut self, id: u32) {
        let sector = self.begins[id as usize].sector;
        self.by_sector.remove(&sector);
        self.requests.remove(id);
        if let Some(extent) = self.extent_at(sector / EXTENT_SECTORS) {
            self.extents[extent as usize].begins.retain(|known| *known != id);
        }
        if self.latest == Some(id) {
            self.latest = None;
        }
        self.free_begins.push(id);
    }

    fn forget_extent(&mut self, id: u32) {
        for begin in std::mem::take(&mut self.extents[id as usize].begins) {
            self.forget_begin(begin);
        }
        self.by_number.remove(&self.extents[id as usize].number);
        self.recent.remove(id);
        self.free_extents.push(id);
    }
}

/// The sectors from `from` up to before `to` that lie in an extent, one bit each.
fn masks(number: u64, from: u64, to: u64) -> [u64; 4] {
    std::array::from_fn(|word| {
        let first = number * EXTENT_SECTORS + 64 * word as u64;
        let (low, high) = (from.saturating_sub(first).min(64), to.saturating_sub(first).min(64));
        let below = |bit: u64| if bit == 64 { u64::MAX } else { (1 << bit) - 1 };
        below(high) & !below(low)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_followed_the_last_time_is_expected() {
        let mut history = History::new();
        for sector in [8, 1000, 16, 8] {
            history.note(sector, 8, true);
        }
        assert_eq!(history.expected(), history.begin_at(1000));
        history.note(1000, 8, false);
        assert_eq!(history.expected(), history.begin_at(16));
        assert_eq!(history.ends().front().unwrap().sector, 1008);
        assert!(history.is_touched(1007) && !history.is_touched(1008));
        assert_eq!(history.nearest(2), Some(3), "1000 is in the fourth extent");
        history.note(250, 600, true);
        let naive = |from: u64, to: u64| (from..to).filter(|at| history.is_touched(*at)).count();
        for (from, to) in [(0, 2000), (5, 9), (240, 251), (255, 257), (849, 1004), (64, 128)] {
            assert_eq!(history.touched_among(from, to), naive(from, to) as u64, "{from} to {to}");
        }
    }

    #[test]
    fn the_oldest_is_forgotten_and_its_numbers_are_used_again() {
        let mut history = History::of(50);
        for turn in 0..5000u64 {
            history.note(turn * 7 % 3001 * 100, 1 + turn % 300, turn % 3 == 0);
            assert!(history.requests.len() <= 50 && history.recent.len() <= 50);
            assert_eq!(history.by_sector.len() as u64, history.requests.len());
            assert_eq!(history.by_number.len() as u64, history.recent.len());
            if let Some(expected) = history.expected() {
                assert_eq!(history.begin_at(history.begin(expected).sector), Some(expected));
            }
        }
        assert!(history.begins.len() <= 52 && history.extents.len() <= 60);
    }
}
