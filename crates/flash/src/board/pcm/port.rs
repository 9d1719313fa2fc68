//! The port of a phase-change memory: what is booked on it, and where another read or write fits in.

use std::collections::VecDeque;

use crate::board::nand::clock::timeline::{Span, Timeline, Unit, Work};
use crate::board::settings::BoardSettings;
use crate::meter::Cause;
use crate::units::Nanos;

/// Operations of each kind that are known at most, beside a full queue; the oldest are forgotten,
/// and nothing is booked before the end of what was forgotten.
const KNOWN: usize = 4096;

/// Of so many operations each is looked at, without a search for the first that matters.
const FEW: usize = 4;

/// A posted write.
#[derive(Clone, Copy, Debug)]
struct Write {
    /// When the queue took it.
    accepted: Nanos,
    start: Nanos,
    end: Nanos,
    /// Name in the timeline.
    span: u64,
    /// Whose neighbours it takes along; none of them where there is no unit.
    unit: Option<u32>,
}

/// The port, and what is booked on it.
#[derive(Clone, Debug)]
pub(in crate::board) struct Pcm {
    pub(super) read: Nanos,
    pub(super) write: Nanos,
    /// Writes that are accepted and not done, at most; 0: no such memory.
    pub(super) queue: usize,
    /// Whether there is such a memory, whose reads and writes take time.
    takes_time: bool,
    /// What is forgotten ended here at the latest: never behind `until`.
    floor: Nanos,
    /// All that was ever booked ends here at the latest.
    until: Nanos,
    /// Start and end, in order of time, never moved.
    reads: VecDeque<(Nanos, Nanos)>,
    /// In order of time, which is that of acceptance.
    writes: VecDeque<Write>,
    /// From the first moment to the second the queue is known to be full: whatever is booked later
    /// only fills it more.
    full: (Nanos, Nanos),
}

impl Pcm {
    /// A board without such a memory.
    pub(in crate::board) fn new(config: &BoardSettings) -> Self {
        Pcm {
            read: config.timing.pcm_read.0,
            write: config.timing.pcm_write.0,
            queue: 0,
            takes_time: false,
            floor: 0,
            until: 0,
            reads: VecDeque::new(),
            writes: VecDeque::new(),
            full: (0, 0),
        }
    }

    pub(super) fn attach(&mut self, queue: u32) {
        assert!(queue > 0, "a queue of phase-change memory holds one write at least");
        self.queue = queue as usize;
        self.takes_time = self.read > 0 && self.write > 0;
        // What the queue held when the power went is written: the port begins idle.
        (self.floor, self.until) = (0, 0);
        self.full = (0, 0);
        self.reads.clear();
        self.writes.clear();
        self.reads.reserve_exact(KNOWN + 1);
        self.writes.reserve_exact(KNOWN + self.queue + 1);
    }

    /// When everything is done.
    pub(super) fn idle_from(&self) -> Nanos {
        self.until
    }

    /// Whether nothing is booked that is not over: what is booked next begins when it can.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.reads.is_empty() && self.writes.is_empty()
    }

    /// Whether all that was ever booked is over at `now`, of a memory that takes time. The queue may
    /// have been full until then, and is empty.
    #[inline]
    pub(super) fn rests(&self, now: Nanos) -> bool {
        self.is_over(now) && self.takes_time
    }

    /// Whether all that was ever booked is over at `now`.
    #[inline]
    fn is_over(&self, now: Nanos) -> bool {
        debug_assert!(
            self.floor.max(self.full.1) <= self.until,
            "nothing ends behind the last that was booked: {self:?}"
        );
        self.until <= now
    }

    /// Whether writes that come one each `step`, the first a step from `now`, are each over when the
    /// next one comes.
    #[inline]
    pub(super) fn keeps_pace(&self, now: Nanos, step: Nanos) -> bool {
        self.is_over(now + step) && self.queue > 0 && (1..=step).contains(&self.write)
    }

    /// Forgets what is over at `now`, and the oldest of too many.
    #[inline]
    pub(super) fn forget(&mut self, now: Nanos) {
        if self.is_idle() {
            return;
        }
        if !self.is_over(now) {
            return self.forget_some(now);
        }
        self.floor = self.until;
        self.reads.clear();
        self.writes.clear();
    }

    fn forget_some(&mut self, now: Nanos) {
        let over = |end: Nanos, known: usize, most: usize| end <= now || known > most;
        while let Some(&(_, end)) =
            self.reads.front().filter(|read| over(read.1, self.reads.len(), KNOWN))
        {
            self.reads.pop_front();
            self.floor = self.floor.max(end);
        }
        while let Some(&Write { end, .. }) =
            self.writes.front().filter(|w| over(w.end, self.writes.len(), KNOWN + self.queue))
        {
            self.writes.pop_front();
            self.floor = self.floor.max(end);
        }
    }

    /// The first moment from `start` on at which no read is in the way for `length`.
    #[inline]
    fn between_reads(&self, start: Nanos, length: Nanos) -> Nanos {
        if self.reads.back().is_none_or(|last| last.1 <= start) {
            return start;
        }
        self.between_reads_from(start, length)
    }

    fn between_reads_from(&self, start: Nanos, length: Nanos) -> Nanos {
        // A search pays only among many.
        let mut next = match self.reads.len() {
            0..=FEW => 0,
            _ => self.reads.partition_point(|read| read.1 <= start),
        };
        self.between_reads_behind(&mut next, start, length)
    }

    /// The same for somebody who knows that reads before `next` are over by `start`; it moves on.
    #[inline]
    fn between_reads_behind(&self, next: &mut usize, mut start: Nanos, length: Nanos) -> Nanos {
        while let Some(&(begins, ends)) = self.reads.get(*next) {
            if ends > start {
                if start + length <= begins {
                    break;
                }
                start = ends;
            }
            *next += 1;
        }
        start
    }

    /// Whether a read finds nothing booked that is not over at `now`.
    #[inline]
    pub(super) fn reads_alone(&self, now: Nanos) -> bool {
        self.is_over(now) && self.read > 0
    }

    /// Books a read from `from` on, where all that was ever booked is over; returns its start.
    #[inline]
    pub(super) fn book_read_alone(&mut self, from: Nanos) -> Nanos {
        self.floor = self.until;
        let start = from.max(self.floor);
        self.until = start + self.read;
        self.writes.clear();
        let read = (start, self.until);
        keep_alone(&mut self.reads, read);
        start
    }

    /// Books a read and a write behind it, both from `now` on, at a port that rests.
    #[inline(always)]
    pub(super) fn book_read_and_write(&mut self, now: Nanos, unit: Option<u32>) {
        let start = now + self.read;
        let end = start + self.write;
        (self.floor, self.until) = (self.until, end);
        keep_alone(&mut self.reads, (now, start));
        keep_alone(&mut self.writes, Write { accepted: now, start, end, span: 0, unit });
    }

    /// Books a read from `from` on; returns its start.
    pub(super) fn book_read(&mut self, from: Nanos, timeline: &mut Timeline) -> Nanos {
        let mut start = from.max(self.floor);
        while !self.is_idle() {
            let next = self.writes.partition_point(|write| write.end <= start);
            // A write that begins at this very moment lets the read go first.
            let under_way = self.writes.get(next).filter(|write| write.start < start);
            let free = under_way.map_or(start, |write| write.end);
            let free = self.between_reads(free, self.read);
            if free == start {
                break;
            }
            start = free;
        }
        if self.read > 0 {
            let end = start + self.read;
            let place = self.reads.partition_point(|read| read.0 < start);
            self.reads.insert(place, (start, end));
            let moved = self.writes.partition_point(|write| write.start < start);
            self.move_from(moved, end, timeline);
            let written = self.writes.back().map_or(0, |write| write.end);
            self.until = self.until.max(end).max(written);
        }
        start
    }

    /// Moves writes from `index` on, the first of them not before `from`, as far as they must.
    fn move_from(&mut self, index: usize, mut from: Nanos, timeline: &mut Timeline) {
        let Some(first) = self.writes.get(index) else {
            return;
        };
        let first = first.start.max(from);
        let mut next = self.reads.partition_point(|read| read.1 <= first);
        for index in index..self.writes.len() {
            let write = self.writes[index];
            let start = self.between_reads_behind(&mut next, write.start.max(from), self.write);
            if start == write.start && start >= from {
                break;
            }
            from = start + self.write;
            self.writes[index] = Write { start, end: from, ..write };
            if let Some(span) = timeline.find(write.span) {
                (span.start, span.end) = (start, from);
            }
        }
    }

    /// When a write that is ready at `from` is taken by the queue.
    #[inline]
    fn accepted(&mut self, from: Nanos) -> Nanos {
        let at = from.max(self.floor);
        // No write is known, or none at this moment: the queue is empty, and not full any more.
        if self.writes.back().is_none_or(|last| last.end <= at) {
            return at;
        }
        self.accepted_among_others(from)
    }

    fn accepted_among_others(&mut self, from: Nanos) -> Nanos {
        let mut at = from.max(self.floor);
        let joins = (self.full.0..=self.full.1).contains(&at);
        let begins = if joins { self.full.0 } else { at };
        if joins {
            at = self.full.1;
        }
        if self.writes.is_empty() {
            return at;
        }
        let mut first = self.writes.partition_point(|write| write.end <= at);
        // Full where the write that many places behind the first one under way is there already.
        let last = self.queue - 1;
        while self.writes.get(first + last).is_some_and(|write| write.accepted <= at) {
            at = self.writes[first].end;
            first += 1;
        }
        if joins || at > begins {
            self.full = (begins, at);
        }
        at
    }

    /// Where a write of this unit can be joined, no later than `accepted`: at `from`, or when the
    /// queue takes it, and before it begins.
    fn joined(&self, unit: u32, from: Nanos, accepted: Nanos) -> Option<Nanos> {
        let first = self.writes.partition_point(|write| write.start < from);
        let known = self.writes.range(first..);
        let mut taken = known.take_while(|write| write.accepted <= accepted);
        let at = |write: &Write| from.max(write.accepted);
        taken.find(|write| write.unit == Some(unit) && at(write) <= write.start).map(at)
    }

    /// Whether a write that could begin at `from` is taken then, because all that was ever booked
    /// is over, by then and `now`.
    #[inline]
    pub(super) fn takes_at_once(&self, from: Nanos, now: Nanos) -> bool {
        self.is_over(from.min(now)) && self.queue > 0 && self.write > 0
    }

    /// Books a write at an idle port; returns when it is accepted, which is when it begins.
    pub(super) fn book_write_when_idle(&mut self, from: Nanos, unit: Option<u32>) -> Nanos {
        if self.write == 0 {
            return from;
        }
        let start = from.max(self.floor);
        self.book_write_alone(start, unit);
        start
    }

    /// Books a write that is taken at `from`, where nothing is booked but one read that ends later:
    /// the write goes before it if there is time, else behind it. Whether it is so.
    #[inline]
    pub(super) fn book_write_behind_read(
        &mut self,
        (from, now): (Nanos, Nanos),
        unit: Option<u32>,
    ) -> bool {
        let (1, Some(&(begins, ends))) = (self.reads.len(), self.reads.front()) else {
            return false;
        };
        let alone = self.writes.is_empty() && ends > from.max(now) && self.floor <= from;
        if !alone || from <= self.full.1 || self.write == 0 {
            return false;
        }
        let start = if from + self.write <= begins { from } else { ends };
        let end = start + self.write;
        self.until = self.until.max(end);
        self.writes.push_front(Write { accepted: from, start, end, span: 0, unit });
        true
    }

    /// Books a write that is taken at once and begins at `from`; others of its `unit` may join it.
    #[inline(always)]
    pub(super) fn book_write_alone(&mut self, from: Nanos, unit: Option<u32>) {
        self.floor = self.until;
        self.until = from + self.write;
        let write = Write { accepted: from, start: from, end: self.until, span: 0, unit };
        self.reads.clear();
        keep_alone(&mut self.writes, write);
    }

    /// Books the last of several writes, each of which was over when the next one came.
    pub(super) fn book_last_alone(&mut self, from: Nanos, unit: Option<u32>) {
        self.until = from;
        self.book_write_alone(from, unit);
    }

    /// Books a write from `from` on, which others of its `unit` may join; returns when it is
    /// accepted, and whether it joined one.
    pub(super) fn book_write(
        &mut self,
        from: Nanos,
        unit: Option<u32>,
        timeline: &mut Timeline,
    ) -> (Nanos, bool) {
        if self.write == 0 {
            return (from, false);
        }
        let accepted = self.accepted(from);
        if let Some(unit) = unit
            && let Some(joined) = self.joined(unit, from, accepted)
        {
            return (joined, true);
        }
        let (index, start) = self.behind(accepted);
        let end = start + self.write;
        let (port, work, cause) = (Unit::Pcm, Work::Write, Cause::Translate);
        let span = match timeline.is_on() {
            true => timeline.add(Span { unit: port, start, end, work, cause, planes: 1 }),
            false => 0,
        };
        let write = Write { accepted, start, end, span, unit };
        self.until = self.until.max(end);
        if index == self.writes.len() {
            self.writes.push_back(write);
        } else {
            self.insert(index, write, timeline);
        }
        (accepted, false)
    }

    /// A write takes a place before others, which move.
    fn insert(&mut self, index: usize, write: Write, timeline: &mut Timeline) {
        self.writes.insert(index, write);
        self.move_from(index + 1, write.end, timeline);
        self.until = self.until.max(self.writes[self.writes.len() - 1].end);
    }

    /// The place of a write that the queue takes at `accepted`, and when it begins.
    #[inline]
    fn behind(&self, accepted: Nanos) -> (usize, Nanos) {
        let index = match self.writes.back() {
            Some(last) if last.accepted > accepted => {
                self.writes.partition_point(|write| write.accepted <= accepted)
            }
            _ => self.writes.len(),
        };
        let before = index.checked_sub(1).map_or(0, |before| self.writes[before].end);
        (index, self.between_reads(accepted.max(before), self.write))
    }
}

/// Nothing else is known any more; in the same place of memory, if it was one before.
#[inline(always)]
fn keep_alone<T>(known: &mut VecDeque<T>, one: T) {
    match known.len() {
        1 => known[0] = one,
        _ => begin_anew(known, one),
    }
}

#[inline(never)]
fn begin_anew<T>(known: &mut VecDeque<T>, one: T) {
    known.clear();
    known.push_front(one);
}

#[cfg(test)]
mod tests;
