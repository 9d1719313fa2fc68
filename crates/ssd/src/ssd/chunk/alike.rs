//! Requests that go alike, counted together.

use std::ops::Range;

use crate::ssd::taken::Taken;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::clock::{Booked, PathSplit};
use ftlab_flash::meter::{Meter, Totals};
use ftlab_flash::request::Op;
use ftlab_flash::units::Nanos;

/// How a request went: one of a plain device ([`Ssd::is_plain`](super::Ssd::is_plain)) that could
/// be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Way {
    op: Op,
    /// Until it was admitted.
    waited: Nanos,
    /// From then on.
    took: Nanos,
    noted: PathSplit,
}

impl Way {
    #[inline(always)]
    fn of(op: Op, taken: &Taken) -> Self {
        let (waited, took) = (taken.admitted - taken.arrival, taken.completed - taken.admitted);
        Way { op, waited, took, noted: taken.noted }
    }

    /// Times of one that was done at `completed`.
    fn taken(&self, completed: Nanos) -> Taken {
        let admitted = completed - self.took;
        let (arrival, noted) = (admitted - self.waited, self.noted);
        Taken { arrival, admitted, begun: admitted, ready: completed, completed, noted }
    }

    /// One of the two places for requests that go so; the other is its neighbour.
    #[inline(always)]
    fn place(&self) -> usize {
        let mixed = self.took ^ self.noted.map.rotate_left(32);
        (mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - Alike::KINDS.ilog2())) as usize
    }
}

/// Requests that went the same way, after one that was counted.
#[derive(Clone, Copy, Debug, Default)]
struct Kind {
    way: Option<Way>,
    /// How many are not counted yet, and when the last of them was done.
    requests: u32,
    last: Nanos,
}

/// Requests that went like others before them, as most do between two collections, and were done
/// in the same window. They are counted together, kind by kind.
#[derive(Clone, Debug, Default)]
pub(in crate::ssd) struct Alike {
    kinds: [Kind; Alike::KINDS],
    /// The kind of the request before.
    present: usize,
    /// On the device's own clock.
    window: Range<Nanos>,
    /// What was counted when the last of them was done.
    totals: Totals,
    /// What the request before booked, and how many more may book the same before the window ends;
    /// none where it did more than others like it will do.
    pub(super) booked: Booked,
    pub(super) left: u64,
    /// Where the request before was a write that did not wait to be admitted, and whose time the
    /// channel and the cells took alone, how long each of them took.
    bare_write: Option<(Nanos, Nanos)>,
}

/// Requests of a kind that are to be counted: what they are, times of the last one, how many, and
/// what was counted by then.
pub(super) type ToCount = (Op, Taken, u32, Totals);

impl Alike {
    /// Whether no request was like another yet.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.window.is_empty()
    }

    /// Kinds that are told apart at a time, a power of two: most requests are of a few, and those
    /// of which there is only one, as of collections, should not take the place of others.
    pub(super) const KINDS: usize = 16;

    /// Requests of a kind that are left to be counted, about: a window may be of any length.
    const MOST: u32 = 1 << 16;

    /// The kinds of which some are to be counted before this request is: all of them when their
    /// window is over, otherwise that whose place it takes.
    pub(super) fn give_way(&self, op: Op, taken: &Taken) -> Range<usize> {
        if !self.window.contains(&taken.completed) {
            return 0..Self::KINDS;
        }
        let place = self.place_for(&Way::of(op, taken));
        place..place + 1
    }

    /// Of the two places for requests that go so, theirs, an empty one, or that with fewer requests.
    fn place_for(&self, way: &Way) -> usize {
        let one = way.place();
        if let Some(place) = self.find(way) {
            return place;
        }
        let [first, second] = [one, one ^ 1].map(|place| {
            let Kind { way, requests, .. } = self.kinds[place];
            way.map(|_| requests)
        });
        if first <= second { one } else { one ^ 1 }
    }

    /// Where requests are that went so.
    #[inline(always)]
    fn find(&self, way: &Way) -> Option<usize> {
        let one = way.place();
        [one, one ^ 1].into_iter().find(|&place| self.kinds[place].way == Some(*way))
    }

    /// What is to be counted of a kind, of which none is left then.
    #[inline]
    pub(super) fn take(&mut self, place: usize) -> Option<ToCount> {
        let kind = &mut self.kinds[place];
        let requests = std::mem::take(&mut kind.requests);
        let way = kind.way.filter(|_| requests > 0)?;
        Some((way.op, way.taken(kind.last), requests, self.totals))
    }

    /// This request was counted; others may be like it, if it could be read. `epoch` is when the
    /// windows begin, on the device's own clock.
    pub(super) fn begin(
        &mut self,
        op: Op,
        (taken, is_readable): (&Taken, bool),
        meter: &Meter,
        epoch: Nanos,
    ) {
        let way = Way::of(op, taken);
        let place = self.place_for(&way);
        let Range { start, end } = meter.present_window();
        let window = start + epoch..end + epoch;
        if self.window != window {
            self.kinds = Default::default();
            self.window = window;
        }
        self.kinds[place] = Kind { way: is_readable.then_some(way), ..Kind::default() };
        (self.present, self.left, self.bare_write) = (place, 0, None);
        self.totals = meter.totals();
    }

    /// Those to come that do the same as the request before book the same, if that neither waited
    /// nor found the server behind its time.
    pub(super) fn repeats(&mut self, before: &Taken, booked: Booked) {
        let is_bare = before.arrival == before.admitted
            && booked.length() == before.completed - before.admitted
            && booked.length() > 0;
        let Kind { way, requests, .. } = self.kinds[self.present];
        if way.is_some() && is_bare {
            let rest = self.window.end.saturating_sub(1).saturating_sub(before.completed);
            let left = (rest / booked.length()).min(Self::MOST.saturating_sub(requests).into());
            (self.booked, self.left) = (booked, left);
        }
    }

    /// Writes to come may be like the request before, if it was one and neither waited nor found
    /// anything else at work for it than the channel and the cells.
    #[inline]
    pub(super) fn compares_writes(&mut self) {
        self.bare_write = self.kinds[self.present].way.and_then(|way| {
            let Way { op, waited, took, noted } = way;
            let split = noted.within(took);
            let is_bare = op == Op::Write && waited == 0 && split.channel + split.flash == took;
            is_bare.then_some((split.channel, split.flash))
        });
    }

    /// Takes so many in that are like the request before, and of which the last was done at
    /// `completed`.
    #[inline(always)]
    pub(super) fn takes_row(&mut self, requests: u64, completed: Nanos, board: &Board) {
        self.totals = board.meter().totals();
        let kind = &mut self.kinds[self.present];
        kind.requests += requests as u32;
        kind.last = completed;
    }

    /// Whether a write that was admitted when it came is like the request before: how long the
    /// channel and then the cells took.
    #[inline(always)]
    pub(super) fn takes_write(&self, admitted: Nanos, (loaded, completed): (Nanos, Nanos)) -> bool {
        self.bare_write == Some((loaded - admitted, completed - loaded))
            && self.window.contains(&completed)
            && self.kinds[self.present].requests < Self::MOST
    }

    /// Takes a request in, if it is like others.
    #[inline(always)]
    pub(super) fn takes(&mut self, op: Op, taken: &Taken, board: &Board) -> bool {
        let has_room = |place: &usize| self.kinds[*place].requests < Self::MOST;
        let found = self.find(&Way::of(op, taken));
        let Some(place) = found.filter(has_room) else { return false };
        if !self.window.contains(&taken.completed) {
            return false;
        }
        self.left = if place == self.present { self.left.saturating_sub(1) } else { 0 };
        self.present = place;
        self.takes_row(1, taken.completed, board);
        true
    }
}

#[cfg(test)]
mod tests;
