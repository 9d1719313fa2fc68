//! Phase-change memory with a port of its own: HAT's slow mapping table.
//!
//! Entries are read and written in place, one at a time, or the neighbours of one program unit
//! together: an entry joins a write of its unit that has not begun. Writes are *posted*: whoever
//! writes goes on as soon as the queue has taken the entry, and the port works beside the flash, in
//! the serial profile too. Nothing is hidden by assumption: a write that finds the queue full waits
//! for the oldest, and a read waits for the write under way. Reads go before writes that have not
//! begun.
//!
//! What this is not: the table. Its owner keeps the entries, sees a posted value at once (the queue
//! hands it on), and leaves them in its `Survivor`: phase-change memory keeps them without power,
//! and what the queue has taken is as good as written (a few entries that a capacitor saves).
//!
//! Limit: operations are booked in call order. A write that is booked later for an earlier moment
//! may find the queue fuller than its length by those that were accepted for later moments: their
//! acceptance was handed out and stays. The port itself never does two things at once. Operations
//! of the future are known up to a number beyond the queue's: of more, the oldest are fixed where
//! they are, so that no read goes before them any more.

mod port;
#[cfg(test)]
mod tests;

use super::Board;
use super::nand::clock::timeline::{Span, Unit, Work};
use super::when::{Moment, When};
use crate::meter::{Cause, Event};
use crate::units::Nanos;
pub(super) use port::Pcm;

impl Board {
    /// Puts phase-change memory on the board whose queue holds `queue` writes that are not done,
    /// the one under way among them; called by the scheme that has its table there, when it is
    /// formatted or recovers.
    pub fn attach_pcm(&mut self, queue: u32) {
        self.pcm.attach(queue);
    }

    /// Reads one entry: waits for the port, which finishes the write under way but begins no other.
    /// An entry that is still queued need not be read: its owner knows it.
    pub fn pcm_read(&mut self, after: When) -> When {
        let (from, start) = self.book_pcm_read(after);
        let end = start + self.pcm.read;
        self.nand.clock_mut().waits_for_port(start - from, end, after)
    }

    /// The same beside everything else: nobody waits for what is read.
    #[inline]
    pub fn pcm_read_beside(&mut self, after: When) {
        let _ = self.book_pcm_read(after);
    }

    /// Books a read; when it could begin, and when it does.
    #[inline]
    fn book_pcm_read(&mut self, after: When) -> (Nanos, Nanos) {
        assert!(self.pcm.queue > 0, "no phase-change memory is attached to this board");
        self.meter.event(Event::PcmReads, 1);
        let clock = self.nand.clock_mut();
        let (from, now) = (clock.earliest(after), clock.now());
        if !self.pcm.reads_alone(now) || clock.timeline_mut().is_on() {
            return (from, self.book_pcm_read_among_others(from));
        }
        let start = self.pcm.book_read_alone(from);
        clock.pcm_is_read(self.pcm.read);
        (from, start)
    }

    #[inline(never)]
    fn book_pcm_read_among_others(&mut self, from: Nanos) -> Nanos {
        let clock = self.nand.clock_mut();
        self.pcm.forget(clock.now());
        let start = self.pcm.book_read(from, clock.timeline_mut());
        let (length, end) = (self.pcm.read, start + self.pcm.read);
        if length > 0 && clock.timeline_mut().is_on() {
            let (unit, work, cause) = (Unit::Pcm, Work::Read, Cause::Translate);
            clock.timeline_mut().add(Span { unit, start, end, work, cause, planes: 1 });
        }
        clock.pcm_is_read(length);
        start
    }

    /// Posts a write of one entry; returns when it is accepted: at once where the queue has room,
    /// else when the oldest write is done. The port is busy with it afterwards.
    pub fn pcm_write(&mut self, after: When) -> When {
        self.pcm_write_in(None, after)
    }

    /// The same for an entry of a program unit: it joins a write of that unit that the queue holds
    /// and that has not begun, or begins at this moment, and then costs nothing of its own.
    #[inline]
    pub fn pcm_write_in(&mut self, unit: Option<u32>, after: When) -> When {
        self.pcm_write_or_wait(unit, after).unwrap_or(after)
    }

    /// The same; none, or `after` itself, where the queue takes the entry at once and nobody waits.
    #[inline(always)]
    pub fn pcm_write_or_wait(&mut self, unit: Option<u32>, after: When) -> Option<When> {
        let clock = self.nand.clock_mut();
        let (from, now) = (clock.earliest(after), clock.now());
        if clock.timeline_mut().is_on() {
            return Some(self.pcm_write_among_others(unit, after));
        }
        if self.pcm.takes_at_once(from, now) {
            self.pcm.book_write_alone(from, unit);
        } else if !self.pcm.book_write_behind_read((from, now), unit) {
            return Some(self.pcm_write_among_others(unit, after));
        }
        clock.pcm_is_written(self.pcm.write);
        self.meter.event(Event::PcmWrites, 1);
        None
    }

    /// Whether entries that are posted as copies are done one after another are taken at once, each
    /// when the one before is written: on one server, whose copies take longer than that.
    #[inline]
    pub fn copies_outlast_pcm(&self) -> bool {
        let clock = self.nand.clock();
        clock.copy_on_server().is_some_and(|step| self.pcm.keeps_pace(clock.now(), step))
    }

    /// Posts a write each for `count` entries whose copies were done one after another, the last of
    /// them at this moment, where [`Board::copies_outlast_pcm`] when the first began: nobody waits.
    pub fn pcm_writes_of_copies(&mut self, count: u32, (unit, last): (Option<u32>, Moment)) {
        if count == 0 {
            return;
        }
        let last = last.token().time();
        assert!(
            self.pcm.takes_at_once(last, last),
            "a write of an entry waits, others are behind it"
        );
        self.pcm.book_last_alone(last, unit);
        self.nand.clock_mut().pcm_is_written(u64::from(count) * self.pcm.write);
        self.meter.event(Event::PcmWrites, u64::from(count));
    }

    #[inline(never)]
    fn pcm_write_among_others(&mut self, unit: Option<u32>, after: When) -> When {
        assert!(self.pcm.queue > 0, "no phase-change memory is attached to this board");
        let clock = self.nand.clock_mut();
        let from = clock.earliest(after);
        let (accepted, joined) = self.book_pcm_write(from, unit);
        let clock = self.nand.clock_mut();
        if !joined {
            self.meter.event(Event::PcmWrites, 1);
            clock.pcm_is_written(self.pcm.write);
        }
        clock.waits_for_port(accepted - from, accepted, after)
    }

    /// Books a write that could begin at `from`; when it is accepted, and whether it joined
    /// another.
    fn book_pcm_write(&mut self, from: Nanos, unit: Option<u32>) -> (Nanos, bool) {
        let clock = self.nand.clock_mut();
        self.pcm.forget(clock.now());
        let timeline = clock.timeline_mut();
        match self.pcm.is_idle() && !timeline.is_on() {
            true => (self.pcm.book_write_when_idle(from, unit), false),
            false => self.pcm.book_write(from, unit, timeline),
        }
    }

    /// Reads an entry beside everything else, as [`Board::pcm_read_beside`] does, and posts a write
    /// behind it, as [`Board::pcm_write_in`] does, at a port that [rests](Board::pcm_rests); nobody
    /// waits. On one server alone, whose present it is.
    #[inline(always)]
    pub fn pcm_read_and_write_beside(&mut self, unit: Option<u32>) {
        debug_assert!(self.pcm_rests(), "nobody waits at a port that rests alone");
        let clock = self.nand.clock_mut();
        self.pcm.book_read_and_write(clock.now(), unit);
        clock.pcm_is_read(self.pcm.read);
        clock.pcm_is_written(self.pcm.write);
        self.meter.event(Event::PcmReads, 1);
        self.meter.event(Event::PcmWrites, 1);
    }

    /// Whether the port has done all that was ever asked of it, so that a read that comes now begins
    /// at once, a write behind that is taken at once, and nobody waits for either. Never said where
    /// one of them takes no time.
    #[inline]
    pub fn pcm_rests(&self) -> bool {
        self.pcm.rests(self.nand.clock().now())
    }

    /// When the port of the phase-change memory has done everything that is queued.
    pub fn pcm_idle_from(&self) -> Nanos {
        self.pcm.idle_from()
    }
}
