//! Levels of 1, 2, 4, 8 ... entries: the longer an entry was not used, the deeper it lies.
//!
//! Group 0 are the upper levels, as many entries as pages fit into RAM; its last level may be cut
//! short by that, and so may the last of all. Every operation takes a step per level.

use crate::parts::slots::Slot;
use ftlab_flash::rng::Rng;
use ftlab_flash::units::{unpack, zeroed};

/// More levels than 32-bit numbers of entries can fill.
const LEVELS_MAX: usize = 33;

/// Entries in levels. Places of level n are 2^n - 1 and the following.
#[derive(Clone, Debug)]
pub struct Levels {
    /// Slot at each place plus one; a level is filled from its first place on.
    slots: Vec<u32>,
    /// Place of each slot plus one; 0 for "in no level".
    place_of: Vec<u32>,
    lengths: [u32; LEVELS_MAX],
    capacities: [u32; LEVELS_MAX],
    count: u32,
    /// First level below group 0 (m + 1).
    below: u32,
}

/// Who goes where when an entry moves up: at most one per level.
#[derive(Clone, Debug)]
pub struct Cascade {
    /// Entries and the levels that they go to, downwards. The first is the entry that moves up.
    moves: [(Slot, u32); LEVELS_MAX + 1],
    length: usize,
}

impl Cascade {
    /// The entries that go down a level or out, and where to.
    pub fn demoted(&self) -> &[(Slot, u32)] {
        &self.moves[1.min(self.length)..self.length]
    }
}

impl Levels {
    /// Empty levels for `entries`, of which `frames` form group 0.
    pub fn new(entries: u32, frames: u32) -> Self {
        assert!(0 < frames && frames < entries, "{frames} pages, {entries} entries");
        let mut capacities = [0; LEVELS_MAX];
        let (mut level, mut below) = (0usize, 0);
        for group in [frames, entries - frames] {
            let mut left = group;
            below = if level == 0 { 0 } else { level as u32 };
            while left > 0 {
                capacities[level] = left.min(1 << level);
                left -= capacities[level];
                level += 1;
            }
        }
        Levels {
            slots: zeroed((1usize << level) - 1),
            place_of: zeroed(entries as usize),
            lengths: [0; LEVELS_MAX],
            capacities,
            count: level as u32,
            below,
        }
    }

    /// Levels.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The first level below group 0 (m + 1).
    pub fn below(&self) -> u32 {
        self.below
    }

    /// Entries of a level, and how many it has room for.
    pub fn filled(&self, level: u32) -> (u32, u32) {
        (self.lengths[level as usize], self.capacities[level as usize])
    }

    /// The level of an entry.
    #[inline]
    pub fn level_of(&self, slot: Slot) -> Option<u32> {
        unpack(self.place_of[slot.index()]).map(|place| (place + 1).ilog2())
    }

    /// Whether an entry's page is to be in RAM.
    #[inline]
    pub fn is_upper(&self, slot: Slot) -> bool {
        self.level_of(slot).is_some_and(|level| level < self.below)
    }

    /// The entries of a level.
    pub fn members(&self, level: u32) -> impl Iterator<Item = Slot> + '_ {
        let first = (1usize << level) - 1;
        let places = first..first + self.lengths[level as usize] as usize;
        places.map(|place| Slot(self.slots[place] - 1))
    }

    /// Who moves when `accessed`, an entry of some level or of none yet, goes to level `target`:
    /// the entry that it displaces goes a level down, displaces one there at random, and so on,
    /// until a level has room or an entry leaves the last one. `hole_stops`: the place that
    /// `accessed` leaves counts as room; it always does where the level has no other. Nothing moves
    /// yet.
    pub fn plan(
        &self,
        (accessed, from): (Slot, Option<u32>),
        target: u32,
        hole_stops: bool,
        rng: &mut Rng,
    ) -> Cascade {
        let mut cascade = Cascade { moves: [(accessed, target); LEVELS_MAX + 1], length: 0 };
        if from == Some(target) {
            return cascade;
        }
        cascade.length = 1;
        for level in target..self.count {
            let (length, capacity) = self.filled(level);
            let own = from == Some(level);
            if length < capacity || (own && hole_stops) {
                return cascade;
            }
            let others = length - u32::from(own);
            if others == 0 {
                // A level of one place, which `accessed` leaves: nobody is there to be displaced.
                return cascade;
            }
            let mut place = (1 << level) - 1 + rng.below(others);
            if own && place >= self.place_of[accessed.index()] - 1 {
                place += 1;
            }
            let victim = Slot(self.slots[place as usize] - 1);
            cascade.moves[cascade.length] = (victim, level + 1);
            cascade.length += 1;
        }
        cascade
    }

    /// Does what was planned; `accessed` may have got its slot since. An entry that leaves the last
    /// level has been taken out.
    pub fn apply(&mut self, cascade: &Cascade, accessed: Slot) {
        if cascade.length == 0 {
            return;
        }
        self.take_out(accessed);
        self.sink(cascade);
        self.put(accessed, cascade.moves[0].1);
    }

    /// Moves what is displaced, so that the entry that comes has its place.
    pub fn sink(&mut self, cascade: &Cascade) {
        for &(slot, level) in cascade.demoted().iter().rev() {
            self.take_out(slot);
            if level < self.count {
                self.put(slot, level);
            }
        }
    }

    /// Puts an entry into a level with room.
    pub fn put(&mut self, slot: Slot, level: u32) {
        let (length, capacity) = self.filled(level);
        assert!(length < capacity, "level {level} holds all of its {capacity} entries");
        debug_assert!(self.place_of[slot.index()] == 0, "in one level only");
        let place = (1 << level) - 1 + length;
        self.slots[place as usize] = slot.0 + 1;
        self.place_of[slot.index()] = place + 1;
        self.lengths[level as usize] += 1;
    }

    /// Takes an entry out of its level, if it is in one; the last of the level takes its place.
    pub fn take_out(&mut self, slot: Slot) {
        let Some(place) = unpack(self.place_of[slot.index()]) else { return };
        let level = (place + 1).ilog2();
        let length = &mut self.lengths[level as usize];
        *length -= 1;
        let last = ((1 << level) - 1 + *length) as usize;
        let moved = self.slots[last];
        self.slots[place as usize] = moved;
        self.place_of[moved as usize - 1] = place + 1;
        self.slots[last] = 0;
        self.place_of[slot.index()] = 0;
    }

    /// The first level from `from` to before `end` with room.
    pub fn room(&self, from: u32, end: u32) -> Option<u32> {
        (from..end).find(|&level| self.filled(level).0 < self.filled(level).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_flash::rng::Purpose;

    fn capacities(entries: u32, frames: u32) -> (Vec<u32>, u32) {
        let levels = Levels::new(entries, frames);
        ((0..levels.count()).map(|level| levels.filled(level).1).collect(), levels.below())
    }

    /// 2^(m+1) - 1 = 7 pages fill three levels; 5 leave the third with two places; what is left of
    /// the entries follows.
    #[test]
    fn level_n_has_2_to_the_n_entries_and_the_last_of_each_group_what_is_left() {
        assert_eq!(capacities(15, 7), (vec![1, 2, 4, 8], 3));
        assert_eq!(capacities(20, 5), (vec![1, 2, 2, 8, 7], 3));
        assert_eq!(capacities(4, 1), (vec![1, 2, 1], 1));
        assert_eq!(capacities(2, 1), (vec![1, 1], 1));
        // 64 MiB in halves, entries of 8 bytes, pages of 2 KiB: 2^14 pages.
        let (all, below) = capacities(4 << 20, 16384);
        assert_eq!((below, all[13], all[14], all[15]), (15, 8192, 1, 32768));
        assert_eq!(all.iter().sum::<u32>(), 4 << 20);
    }

    /// Random accesses: every entry in one level, no level too full, and entries that are used come
    /// up while those that are not sink by one level at a time.
    #[test]
    fn entries_sink_one_level_at_a_time() {
        let sizes = [(20, 5), (12, 4), (7, 6), (2, 1)];
        for ((entries, frames), hole_stops) in
            sizes.into_iter().flat_map(|size| [(size, true), (size, false)])
        {
            let mut levels = Levels::new(entries, frames);
            let mut rng = Rng::new(4, Purpose::Workload);
            let mut here: Vec<Slot> = Vec::new();
            for _ in 0..20_000 {
                let slot = Slot(rng.below(entries));
                let from = levels.level_of(slot);
                let target = if rng.below(3) == 0 { levels.below() } else { 0 };
                let before: Vec<_> =
                    here.iter().map(|&slot| (slot, levels.level_of(slot))).collect();
                let plan = levels.plan((slot, from), target, hole_stops, &mut rng);
                levels.apply(&plan, slot);
                here.retain(|&other| levels.level_of(other).is_some());
                if from.is_none() {
                    here.push(slot);
                }
                assert_eq!(levels.level_of(slot), Some(target));
                let sum: u32 = (0..levels.count()).map(|level| levels.filled(level).0).sum();
                assert_eq!(sum as usize, here.len(), "each in one level");
                for level in 0..levels.count() {
                    let (length, capacity) = levels.filled(level);
                    assert!(length <= capacity && capacity <= 1 << level);
                    assert!(levels.members(level).all(|one| levels.level_of(one) == Some(level)));
                }
                for (other, was) in before.into_iter().filter(|&(other, _)| other != slot) {
                    let was = was.expect("it was in a level");
                    let is = levels.level_of(other).unwrap_or(levels.count());
                    assert!(is == was || is == was + 1, "from {was} to {is}");
                }
            }
        }
    }

    /// Level 2 has room for two.
    #[test]
    fn nobody_is_displaced_from_a_level_with_room() {
        let mut levels = Levels::new(20, 5);
        let mut rng = Rng::new(4, Purpose::Workload);
        for (slot, displaced) in [(0, 0), (1, 0), (2, 1)] {
            let plan = levels.plan((Slot(slot), None), 2, false, &mut rng);
            assert_eq!(plan.demoted().len(), displaced, "entry {slot}");
            levels.apply(&plan, Slot(slot));
        }
        assert_eq!([2, 3].map(|level| levels.filled(level).0), [2, 1]);
    }

    /// Levels of 1, 2 and 2 pages in RAM, and of 8 and 7 entries below.
    #[test]
    fn the_upper_levels_are_those_of_pages_and_room_is_looked_for_downwards() {
        let mut levels = Levels::new(20, 5);
        let rooms =
            |levels: &Levels| [(0, 3), (2, 3), (0, 5), (3, 3)].map(|(a, b)| levels.room(a, b));
        for (slot, level) in [(0, 0), (1, 2), (2, 3)] {
            levels.put(Slot(slot), level);
        }
        let upper = [0, 1, 2, 9].map(|slot| levels.is_upper(Slot(slot)));
        assert_eq!(upper, [true, true, false, false], "the last is in no level");
        assert_eq!(rooms(&levels), [Some(1), Some(2), Some(1), None]);
        for (slot, level) in [(3, 1), (4, 1), (5, 2)] {
            levels.put(Slot(slot), level);
        }
        assert_eq!(rooms(&levels), [None, None, Some(3), None]);
    }
}
