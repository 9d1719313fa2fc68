//! What is looked for when a place is drawn, and how near what is found comes to it.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::class::octave;
use super::history::History;
use crate::synthetic::random::Stream;

/// A place at which a request may begin, and size and operation of what its size may be that of.
#[derive(Clone, Copy)]
pub(super) struct Candidate {
    pub off: u64,
    pub sector: u64,
    pub other: (u64, bool),
}

/// What was drawn of a place at which a request began.
pub(super) struct Wanted {
    pub wrote: bool,
    pub octave: u64,
    pub extents: (u64, u64),
    pub depth: (u64, u64),
    /// What was done behind it the last time, where that is to be replayed.
    pub leads_to: Option<bool>,
}

impl Wanted {
    pub fn of(row: &[u64]) -> Self {
        Self {
            wrote: row[0] == 1,
            octave: row[1],
            extents: (row[2], row[3]),
            depth: (row[4], row[5]),
            leads_to: None,
        }
    }

    /// That of a row of what is followed where a request began before, in any extent.
    pub fn followed(row: &[u64], writes: bool) -> Self {
        Self {
            wrote: writes == (row[0] % 2 == 1),
            octave: row[2],
            extents: (1, u64::MAX),
            depth: (row[3], row[4]),
            leads_to: None,
        }
    }

    /// How far a begin is from it: octaves of the distances, of the size eight times.
    fn off(&self, begin: u32, history: &History) -> u64 {
        let known = history.begin(begin);
        let extent = history.extent_depth(known.sector).unwrap_or(1);
        beyond(self.depth, history.requests.depth(begin))
            + beyond(self.extents, extent)
            + 16 * u64::from(known.writes != self.wrote)
            + 8 * octave(known.sectors).abs_diff(self.octave)
            + 6 * u64::from(self.leads_to.is_some_and(|writes| {
                let next = history.led_to(begin).map(|next| history.begin(next).writes);
                next != Some(writes)
            }))
    }
}

/// The begin nearest to what was wanted so far.
pub(super) struct Nearest {
    pub off: u64,
    pub begin: Option<u32>,
}

impl Default for Nearest {
    fn default() -> Self {
        Self { off: u64::MAX, begin: None }
    }
}

impl Nearest {
    pub fn take(&mut self, begin: u32, wanted: &Wanted, history: &History) {
        if self.off > 0 {
            let off = wanted.off(begin, history);
            if off < self.off {
                (self.off, self.begin) = (off, Some(begin));
            }
        }
    }
}

/// Begins of each octave and operation that are kept at hand.
const LATELY_MAX: usize = 64;

/// Where requests of each octave of size and operation began lately.
#[derive(Default)]
pub(super) struct Lately(FxHashMap<(u64, bool), VecDeque<u64>>);

impl Lately {
    /// Notes a request.
    pub fn note(&mut self, sector: u64, sectors: u64, writes: bool) {
        let kind = self.0.entry((octave(sectors), writes)).or_default();
        if !kind.contains(&sector) {
            kind.push_front(sector);
            kind.truncate(LATELY_MAX);
        }
    }

    /// Those of the kind that is wanted.
    pub fn of<'a>(
        &'a self,
        wanted: &Wanted,
        history: &'a History,
    ) -> impl Iterator<Item = u32> + use<'a> {
        let kind = self.0.get(&(wanted.octave, wanted.wrote));
        kind.into_iter().flatten().filter_map(|sector| history.begin_at(*sector))
    }
}

/// Octaves by which a number is outside of a range; 0 within it.
pub(super) fn beyond(range: (u64, u64), number: u64) -> u64 {
    let octaves = |less: u64, more: u64| 1 + u64::from((more / less.max(1)).max(1).ilog2());
    match () {
        () if number < range.0 => octaves(number, range.0),
        () if number > range.1 => octaves(range.1, number),
        () => 0,
    }
}

pub(super) fn clamped(range: (u64, u64), most: u64) -> (u64, u64) {
    let from = range.0.clamp(1, most);
    (from, range.1.clamp(from, most))
}

pub(super) fn drawn_of(range: (u64, u64), stream: &mut Stream) -> u64 {
    range.0 + stream.below(range.1 - range.0 + 1)
}

/// One of some numbers by their weights, which add up to `all`.
pub(super) fn weighted(weights: &[(u64, u64)], all: u64, stream: &mut Stream) -> u64 {
    let mut left = stream.below(all);
    let chosen = weights.iter().find(|(_, weight)| {
        let here = left < *weight;
        left = left.saturating_sub(*weight);
        here
    });
    chosen.expect("the weights add up").0
}
