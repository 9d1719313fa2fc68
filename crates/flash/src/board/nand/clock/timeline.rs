//! What each die, channel and the controller did when: a record for Gantt charts. Off unless asked
//! for, and then bounded.

use crate::meter::Cause;
use crate::units::Nanos;

/// What was at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    /// The cells of a die, over the whole device.
    Die(u32),
    /// The cells of a plane, over the whole device, where planes work independently.
    Plane(u32),
    /// A channel.
    Channel(u32),
    /// The controller.
    Controller,
    /// The controller's RAM.
    Ram,
    /// The port of the phase-change memory.
    Pcm,
}

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Cells were read.
    Read,
    /// Cells were programmed.
    Program,
    /// A block was erased.
    Erase,
    /// Pages were marked as superseded in their out-of-band areas.
    Mark,
    /// A program or erase was suspended and resumed (`timing.suspend_cost`).
    Suspend,
    /// A page crossed the channel.
    Transfer,
    /// The controller worked on a page of host data or on a search.
    Control,
    /// Pages were moved in the controller's RAM.
    Move,
    /// A map entry was written in place.
    Write,
}

/// One piece of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// What was at work.
    pub unit: Unit,
    /// When it began, ns on the device's own clock.
    pub start: Nanos,
    /// When it ended.
    pub end: Nanos,
    /// What was done.
    pub work: Work,
    /// Why; of a multi-plane command, why its first plane works.
    pub cause: Cause,
    /// Planes that took part: more than one in a multi-plane command.
    pub planes: u32,
}

/// The record. Spans are in the order of booking, which is not the order of time.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    spans: Option<Vec<Span>>,
    limit: usize,
    left_out: u64,
    /// Spans of earlier records, so that a span's name is never used twice.
    before: u64,
}

impl Timeline {
    /// Starts a new record of at most `limit` spans.
    pub fn start(&mut self, limit: usize) {
        self.before += self.spans.as_ref().map_or(0, |spans| spans.len() as u64);
        self.spans = Some(Vec::with_capacity(limit));
        (self.limit, self.left_out) = (limit, 0);
    }

    /// Ends the record and returns its spans and how many did not fit.
    pub fn take(&mut self) -> (Vec<Span>, u64) {
        let spans = self.spans.take().unwrap_or_default();
        self.before += spans.len() as u64;
        (spans, self.left_out)
    }

    #[inline]
    pub(in crate::board) fn is_on(&self) -> bool {
        self.spans.is_some()
    }

    /// Adds a span; returns its name, 0 where it is not recorded.
    #[cold]
    pub(in crate::board) fn add(&mut self, span: Span) -> u64 {
        let Some(spans) = &mut self.spans else { return 0 };
        if spans.len() == self.limit {
            self.left_out += 1;
            return 0;
        }
        spans.push(span);
        self.before + spans.len() as u64
    }

    /// The span of that name, if this record holds it.
    pub(in crate::board) fn find(&mut self, name: u64) -> Option<&mut Span> {
        let index = name.checked_sub(self.before + 1)?;
        self.spans.as_mut()?.get_mut(index as usize)
    }
}
