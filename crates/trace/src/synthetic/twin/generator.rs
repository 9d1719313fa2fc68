//! The requests of a twin: each gets a class by the one before, then a place, then a size.

use ftlab_flash::request::Op;

use super::class::{Class, Within, octave, onto};
use super::history::{EXTENT_SECTORS, History, RECENT};
use super::model::{Drawn, Keyed, Model, RECENT_EXTENTS_MAX};
use super::wanted::{Candidate, Lately, Nearest, Wanted, beyond, clamped, drawn_of, weighted};
use crate::record::Record;
use crate::synthetic::make::Make;
use crate::synthetic::random::{Purpose, Stream};

/// Extents that are looked at for a place at the distances that were drawn.
const EXTENTS_TRIED: usize = 16;
/// Begins of an extent that are looked at.
const BEGINS_TRIED: usize = 32;
/// Candidates that are tried for a request that must not lie on what is known.
const ENDS_TRIED: usize = 4;
/// Sizes that are drawn for one that fits.
const SIZES_TRIED: usize = 8;
/// Places that are drawn for a request to no known one, before any will do.
const PLACES_TRIED: usize = 64;

/// Iterator over the records of a twin. Memory is the history's.
pub struct TwinGenerator {
    history: History,
    follow: Keyed,
    again: Keyed,
    beside: Keyed,
    fresh: Drawn,
    offsets: Keyed,
    /// How often they began at each sector of eight.
    phases: [u64; 8],
    /// How often requests beside others began at each sector of an extent, by where that was.
    weights: [[u64; EXTENT_SECTORS as usize]; 3],
    kept: Keyed,
    sizes: Keyed,
    classes: Keyed,
    any_class: Keyed,
    /// Requests at which each part of the trace ends, in shares of the whole count.
    part_ends: Vec<u64>,
    gaps: Keyed,
    paces: Keyed,
    span_sectors: u64,
    lately: Lately,
    /// The latest size of each octave, in sectors.
    sizes_seen: [u64; 64],
    state: (u64, u64),
    /// Class and operation of the request behind the next one.
    upcoming: (Class, bool),
    pace: u64,
    now_ns: u64,
    issued: u64,
    count: u64,
    choice: Stream,
    places: Stream,
    lengths: Stream,
    arrivals: Stream,
}

impl TwinGenerator {
    pub(super) fn new(model: &Model, count: u64, seed: u64) -> Self {
        let all = |table: &str| model.keyed(table, 0).remove(&[][..]).unwrap_or_default();
        let first = model.tables.rows("classes")[0].clone();
        let pace = model.tables.rows("paces").first().map_or(0, |row| row[0]);
        Self {
            history: History::new(),
            follow: model.keyed("follow", 2),
            again: model.keyed("again", 1),
            beside: model.keyed("beside", 2),
            fresh: all("fresh"),
            offsets: model.keyed("offsets", 2),
            phases: model.phases(),
            weights: model.weights(),
            kept: model.keyed("sizes_kept", 4),
            sizes: model.keyed("sizes", 3),
            classes: model.keyed("classes", 3),
            any_class: model.keyed("classes", 1),
            part_ends: model.part_ends(count),
            gaps: model.keyed("gaps", 1),
            paces: model.keyed("paces", 1),
            span_sectors: model.span_bytes / 512,
            lately: Lately::default(),
            sizes_seen: std::array::from_fn(|octave| 1 << octave),
            state: (first[1], first[2]),
            upcoming: (Class::ALL[first[1] as usize], first[2] == 1),
            pace,
            now_ns: 0,
            issued: 0,
            count,
            choice: Stream::new(seed, Purpose::Choice),
            places: Stream::new(seed, Purpose::Address),
            lengths: Stream::new(seed, Purpose::Size),
            arrivals: Stream::new(seed, Purpose::Arrival),
        }
    }

    /// The class of the next request, and does it write?
    fn class(&mut self) -> (Class, bool) {
        let part = self.part_ends.partition_point(|end| *end <= self.issued) as u64;
        let part = part.min(self.part_ends.len() as u64 - 1);
        let (class, writes) = self.state;
        let next = match self.classes.get(&[part, class, writes][..]) {
            Some(rows) => rows.draw(&mut self.choice).map(|row| (row[0], row[1])),
            // No request of this class was seen in this part.
            None => self
                .any_class
                .get(&[part][..])
                .and_then(|rows| rows.draw(&mut self.choice).map(|row| (row[2], row[3]))),
        };
        self.state = next.unwrap_or(self.state);
        (Class::ALL[self.state.0 as usize], self.state.1 == 1)
    }

    /// Where a request of a class begins, and its size in sectors.
    fn placed(&mut self, class: Class, writes: bool) -> Option<(u64, u64)> {
        let found = match class {
            Class::FollowAgain => {
                let row = self.follow_row(class, writes)?;
                let end = self.followed(class, writes, &row).first().copied();
                // Where none is left of such a stream, another begins.
                end.or_else(|| self.known_at(&Wanted::followed(&row, writes)))
            }
            Class::FollowNew => return self.followed_new(writes),
            Class::Replay => self.replayed(writes),
            Class::Again => self.again(writes),
            // What is new must fit between what is known.
            Class::Beside | Class::Fresh => {
                let sectors = self.sectors_at(None, class, writes, self.before());
                let sector = match class {
                    Class::Beside => self.beside(writes, sectors, None),
                    _ => Some(self.fresh(sectors)),
                };
                return Some((sector?, sectors));
            }
        };
        let Candidate { sector, other, .. } = found?;
        Some((sector, self.sectors_at(Some(sector), class, writes, other)))
    }

    /// The nearest end of the right kind from which a request lies on what such requests did; where
    /// there is none, a place beside others for a request of the same size.
    fn followed_new(&mut self, writes: bool) -> Option<(u64, u64)> {
        let row = self.follow_row(Class::FollowNew, writes)?;
        let ends = self.followed(Class::FollowNew, writes, &row);
        // Where none is left of a stream of that size, another begins.
        let begins = (self.sizes_seen[row[2] as usize], writes == (row[0] / 2 == 1));
        let other = ends.first().map_or(begins, |end| end.other);
        let (sectors, lies) = self.drawn_size(None, Class::FollowNew, writes, other);
        let wanted = lies.unwrap_or(row[1]);
        let fits = |end: &&Candidate| onto(&self.history, end.sector, sectors) == wanted;
        let sector = match ends.iter().find(fits) {
            Some(end) => Some(end.sector),
            None => self.beside(writes, sectors, Some(wanted)),
        };
        Some((sector.unwrap_or_else(|| self.fresh(sectors)), sectors))
    }

    fn follow_row(&mut self, class: Class, writes: bool) -> Option<Vec<u64>> {
        let rows = self.follow.get(&[class as u64, writes.into()][..])?;
        rows.draw(&mut self.places).map(<[u64]>::to_vec)
    }

    /// What is expected, if what was done there before is what such requests followed.
    fn replayed(&self, writes: bool) -> Option<Candidate> {
        let begin = self.history.expected()?;
        let known = self.known(begin);
        let same = u64::from(known.other.1 == writes);
        let key = [Class::Replay as u64, writes.into(), same, octave(known.other.0)];
        self.kept.contains_key(&key[..]).then_some(known)
    }

    fn known(&self, begin: u32) -> Candidate {
        let begin = self.history.begin(begin);
        let other = (begin.sectors, begin.writes);
        Candidate { off: 0, sector: begin.sector, other }
    }

    fn before(&self) -> (u64, bool) {
        self.history.ends().front().map_or((8, false), |end| (end.sectors, end.writes))
    }

    /// The ends of the right kind that are nearest to what was drawn, the nearest first.
    fn followed(&self, class: Class, writes: bool, row: &[u64]) -> Vec<Candidate> {
        let (same, onto_before, size, rank) = (row[0], row[1], row[2], row[5]);
        let again = class == Class::FollowAgain;
        let fits = |(place, end): (u64, &super::history::End)| {
            let begin = self.history.begin_at(end.sector);
            if begin.is_some() != again || end.sector >= self.span_sectors {
                return None;
            }
            let of_end = (end.sectors, end.writes);
            let other = begin.map_or(of_end, |id| self.known(id).other);
            // A stream of another size or operation is another stream.
            if octave(other.0) != size
                || u64::from(end.writes == writes) != same / 2
                || again && u64::from(other.1 == writes) != same % 2
            {
                return None;
            }
            let lies = onto(&self.history, end.sector, other.0);
            let off = place.abs_diff(rank)
                + 60 * u64::from((place + 1).ilog2().abs_diff((rank + 1).ilog2()))
                + 200 * u64::from(lies != onto_before)
                + 100
                    * begin
                        .map_or(0, |id| beyond((row[3], row[4]), self.history.requests.depth(id)));
            Some(Candidate { off, sector: end.sector, other })
        };
        let mut found: Vec<Candidate> = (0..).zip(self.history.ends()).filter_map(fits).collect();
        found.sort_by_key(|end| end.off);
        found.truncate(ENDS_TRIED);
        found
    }

    /// A begin that fits what was drawn of it, or the nearest that is found: among those of extents
    /// at the distance that was drawn, and among those at the distance in begins.
    fn again(&mut self, writes: bool) -> Option<Candidate> {
        let (held, extents) = (self.history.requests.len(), self.history.recent.len());
        if held == 0 {
            return None;
        }
        let rows = self.again.get(&[u64::from(writes)][..])?;
        let mut wanted = Wanted::of(rows.draw(&mut self.places)?);
        for _ in 0..PLACES_TRIED {
            if wanted.depth.0 <= held && wanted.extents.0 <= extents {
                break;
            }
            wanted = Wanted::of(rows.draw(&mut self.places)?);
        }
        wanted.leads_to = (self.upcoming.0 == Class::Replay).then_some(self.upcoming.1);
        wanted.depth = clamped(wanted.depth, held);
        wanted.extents = clamped(wanted.extents, extents);
        let mut best = Nearest::default();
        for _ in 0..EXTENTS_TRIED {
            let extent = self.history.recent.at(drawn_of(wanted.extents, &mut self.places));
            let begins = self.history.begins_of(extent);
            if begins.is_empty() {
                continue;
            }
            let first = self.places.below(begins.len() as u64) as usize;
            for index in 0..begins.len().min(BEGINS_TRIED) {
                best.take(begins[(first + index) % begins.len()], &wanted, &self.history);
            }
            if best.off == 0 {
                break;
            }
        }
        self.look_at(&wanted, &mut best);
        best.begin.map(|begin| self.known(begin))
    }

    /// Looks at begins at the distance that is wanted until one fits.
    fn look_at(&mut self, wanted: &Wanted, best: &mut Nearest) {
        for _ in 0..EXTENTS_TRIED {
            if best.off == 0 {
                break;
            }
            let begin = self.history.requests.at(drawn_of(wanted.depth, &mut self.places));
            best.take(begin, wanted, &self.history);
        }
        // Those of that kind may be few.
        for begin in self.lately.of(wanted, &self.history) {
            best.take(begin, wanted, &self.history);
        }
    }

    /// The begin at the distance that is wanted that fits best.
    fn known_at(&mut self, wanted: &Wanted) -> Option<Candidate> {
        let held = self.history.requests.len();
        if held == 0 {
            return None;
        }
        let wanted = Wanted { depth: clamped(wanted.depth, held), ..*wanted };
        let mut best = Nearest::default();
        self.look_at(&wanted, &mut best);
        best.begin.map(|begin| self.known(begin))
    }

    /// A place in a known extent at which no request began, for one of so many sectors: where such
    /// requests begin, and on what they did or on as much as `lies` says; if there is none,
    /// elsewhere, and then farther off.
    fn beside(&mut self, writes: bool, sectors: u64, lies: Option<u64>) -> Option<u64> {
        let extents = self.history.recent.len();
        // The next smaller octave with rows, or the next larger one.
        let own = octave(sectors);
        let octaves = (0..=own).rev().chain(own + 1..64);
        let keys = octaves.map(|octave| [u64::from(writes), octave]);
        let rows = keys.into_iter().find_map(|key| self.beside.get(&key[..]))?;
        let row = rows.draw(&mut self.places)?;
        let (mut within, onto_before, state) = (row[0] as usize, lies.unwrap_or(row[1]), row[2]);
        if onto_before == 0 && within == Within::Touched as usize {
            within = Within::Apart as usize;
        }
        let mut range = (row[3], row[4]);
        if extents == 0 {
            return None;
        }
        let mut second = None;
        for turn in 0..EXTENTS_TRIED {
            let mut extent = 0;
            for _ in 0..EXTENTS_TRIED {
                let depth = drawn_of(clamped(range, extents), &mut self.places);
                extent = self.history.recent.at(depth);
                if self.history.state(extent) == state {
                    break;
                }
            }
            let mut weights = self.free_sectors(extent, within, onto_before, sectors);
            let all: u64 = weights.iter().map(|(_, weight)| weight).sum();
            if all == 0 && second.is_none() && !weights.is_empty() {
                let phases = self.phases;
                weights.iter_mut().for_each(|(at, weight)| *weight = phases[(*at % 8) as usize]);
                let any = weights.iter().map(|(_, weight)| weight).sum();
                second = (any > 0).then(|| weighted(&weights, any, &mut self.places));
            }
            if all > 0 {
                return Some(weighted(&weights, all, &mut self.places));
            }
            if turn % 4 == 3 {
                range = (range.0 / 2, range.1.saturating_mul(2));
            }
        }
        second
    }

    /// Sectors of an extent at which no request began, on what was drawn, each with how often such
    /// requests began there.
    fn free_sectors(&self, extent: u32, within: usize, on: u64, sectors: u64) -> Vec<(u64, u64)> {
        let number = self.history.number(extent);
        let first = number * EXTENT_SECTORS;
        let here = self.history.touched_of(number);
        let is_touched = |inside: u64| here[inside as usize / 64] >> (inside % 64) & 1 == 1;
        let weights = &self.weights[within];
        let mut found = Vec::new();
        for inside in 0..EXTENT_SECTORS {
            let touched = is_touched(inside);
            let behind = inside > 0 && is_touched(inside - 1);
            let fits = match Within::ALL[within] {
                Within::Touched => touched,
                Within::Behind => !touched && behind,
                Within::Apart => !touched && !behind,
            };
            let sector = first + inside;
            if fits
                && sector + sectors <= self.span_sectors
                && onto(&self.history, sector, sectors) == on
                && self.history.begin_at(sector).is_none()
            {
                found.push((sector, weights[inside as usize]));
            }
        }
        found
    }

    /// A place in an extent that was not touched, for a request of so many sectors.
    fn fresh(&mut self, sectors: u64) -> u64 {
        let extents = self.span_sectors / EXTENT_SECTORS;
        let offsets = self.offsets.get(&[Class::Fresh as u64, Within::Apart as u64][..]);
        let inside = offsets.and_then(|rows| rows.draw(&mut self.places)).map_or(0, |row| row[0]);
        let mut number = self.places.below(extents);
        let held = self.history.recent.len();
        let mut onto_before = 0;
        if held > 0
            && let Some(row) = self.fresh.draw(&mut self.places)
        {
            let (all, below, from, to) = (row[0] == 1, row[1] == 1, row[3], row[4]);
            onto_before = row[2];
            for _ in 0..PLACES_TRIED {
                number = match all && from > RECENT_EXTENTS_MAX {
                    true => self.places.below(extents),
                    false => {
                        let among = if all { held } else { RECENT.min(held) };
                        let depth = 1 + self.places.below(among);
                        let near = self.history.number(self.history.recent.at(depth));
                        let distance = from + self.places.below(to - from + 1);
                        let there =
                            if below { near.checked_sub(distance) } else { Some(near + distance) };
                        there.unwrap_or(extents)
                    }
                };
                let nearest = self.history.nearest(number).unwrap_or(u64::MAX);
                let latest = (1..=RECENT.min(held)).map(|depth| self.history.recent.at(depth));
                let near_latest = latest
                    .map(|extent| self.history.number(extent))
                    .any(|known| known.abs_diff(number) <= RECENT_EXTENTS_MAX);
                let least = if all { from.min(RECENT_EXTENTS_MAX) } else { 1 };
                if number < extents
                    && nearest.abs_diff(number) >= least
                    && near_latest != all
                    && onto(&self.history, number * EXTENT_SECTORS + inside, sectors) == onto_before
                {
                    break;
                }
            }
        }
        for _ in 0..PLACES_TRIED {
            let lies = onto(&self.history, number * EXTENT_SECTORS + inside, sectors);
            if number < extents && self.history.extent_at(number).is_none() && lies == onto_before {
                break;
            }
            number = self.places.below(extents);
        }
        number.min(extents - 1) * EXTENT_SECTORS + inside
    }

    /// The size of a request of a class, where it may be that of another; at a place that is known
    /// one that lies on what such requests did, if it is found.
    fn sectors_at(
        &mut self,
        place: Option<u64>,
        class: Class,
        writes: bool,
        other: (u64, bool),
    ) -> u64 {
        self.drawn_size(place, class, writes, other).0
    }

    /// The same, and what such requests lie on where the size is not that of the other.
    fn drawn_size(
        &mut self,
        place: Option<u64>,
        class: Class,
        writes: bool,
        other: (u64, bool),
    ) -> (u64, Option<u64>) {
        let same = u64::from(other.1 == writes);
        let key = [class as u64, writes.into(), same, octave(other.0)];
        let kept = self.kept.get(&key[..]).and_then(|rows| rows.draw(&mut self.lengths));
        if kept.is_some_and(|row| row[0] == 1) {
            return (other.0, None);
        }
        let key = [class as u64, writes.into(), octave(other.0)];
        let mut drawn = (other.0, None);
        for _ in 0..SIZES_TRIED {
            // Without rows, no request of this class had such a one before it.
            let own = self.sizes.get(&key[..]).and_then(|rows| rows.draw(&mut self.lengths));
            let Some(row) = own else { break };
            drawn = (row[0] / 512, Some(row[1]));
            if place.is_none_or(|sector| onto(&self.history, sector, drawn.0) == row[1]) {
                break;
            }
        }
        drawn
    }

    fn arrival(&mut self) -> u64 {
        let now = self.now_ns;
        if let Some(row) = self.gaps.get(&[self.pace][..]).and_then(|r| r.draw(&mut self.arrivals))
        {
            let gap = row[0] + self.arrivals.below(row[1] - row[0] + 1);
            self.now_ns = now.saturating_add(gap);
        }
        let next = self.paces.get(&[self.pace][..]).and_then(|r| r.draw(&mut self.arrivals));
        self.pace = next.map_or(self.pace, |row| row[0]);
        now
    }
}

impl Make for TwinGenerator {
    fn issued(&self) -> u64 {
        self.issued
    }

    fn left(&self) -> u64 {
        self.count - self.issued
    }

    fn make(&mut self) -> Record {
        assert!(self.issued < self.count, "no request is left");
        let next = self.class();
        let (class, writes) = std::mem::replace(&mut self.upcoming, next);
        // What is new stays new where nothing of its class is found.
        let order: &[Class] = match class {
            Class::FollowNew => &[Class::FollowNew, Class::Beside, Class::Fresh],
            Class::Beside | Class::Fresh => &[class, Class::Fresh],
            _ => &[class, Class::Again, Class::Beside, Class::Fresh],
        };
        let found = order.iter().find_map(|class| self.placed(*class, writes));
        let (sector, sectors) = found.expect("a new extent can always be had");
        let sectors = sectors.min(self.span_sectors);
        let sector = sector.min(self.span_sectors - sectors);
        self.sizes_seen[octave(sectors) as usize] = sectors;
        self.history.note(sector, sectors, writes);
        self.lately.note(sector, sectors, writes);
        self.issued += 1;
        Record {
            time_ns: self.arrival(),
            op: if writes { Op::Write } else { Op::Read },
            offset_bytes: sector * 512,
            size_bytes: sectors * 512,
            unit: 0,
            stream: None,
            content: None,
        }
    }
}
