//! What each die, channel and the controller did when: a record for Gantt charts, and how long the
//! flash worked for which cause. Both are off unless asked for; the record is bounded.

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

/// How long the flash worked, and until when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Time that dies (planes, where they work independently) and channels worked, by cause. Planes
    /// that join a command work in its time; what suspending costs is left out.
    pub work: [Nanos; Cause::COUNT],
    /// When the last of it ends, as it was booked, ns on the device's own clock; 0: nothing was
    /// booked.
    pub until: Nanos,
}

impl Tally {
    fn add(&mut self, span: &Span) {
        if matches!(span.unit, Unit::Die(_) | Unit::Plane(_) | Unit::Channel(_)) {
            self.work[span.cause as usize] += span.end - span.start;
            self.until = self.until.max(span.end);
        }
    }
}

/// The record. Spans are in the order of booking, which is not the order of time.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// Whether anybody wants to know of spans.
    on: bool,
    tally: Option<Tally>,
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
        self.on = true;
    }

    /// Ends the record and returns its spans and how many did not fit.
    pub fn take(&mut self) -> (Vec<Span>, u64) {
        let spans = self.spans.take().unwrap_or_default();
        self.on = self.tally.is_some();
        self.before += spans.len() as u64;
        (spans, self.left_out)
    }

    /// Starts a new tally.
    pub fn start_tally(&mut self) {
        (self.on, self.tally) = (true, Some(Tally::default()));
    }

    /// What the tally came to since it was asked last.
    pub fn take_tally(&mut self) -> Tally {
        self.tally.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Ends the tally.
    pub fn stop_tally(&mut self) {
        (self.on, self.tally) = (self.spans.is_some(), None);
    }

    #[inline]
    pub(in crate::board) fn is_on(&self) -> bool {
        self.on
    }

    /// Adds work that was booked; returns its name, 0 where it is not recorded.
    #[cold]
    pub(in crate::board) fn add(&mut self, span: Span) -> u64 {
        if let Some(tally) = &mut self.tally {
            tally.add(&span);
        }
        self.record(span)
    }

    /// Adds a span of work that was told before, or of none; returns its name.
    pub(in crate::board) fn record(&mut self, span: Span) -> u64 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_is_of_the_flash_and_begins_anew_whenever_it_is_taken() {
        let span =
            |unit, start, end, cause| Span { unit, start, end, work: Work::Read, cause, planes: 1 };
        let mut timeline = Timeline::default();
        assert_eq!(timeline.add(span(Unit::Die(0), 0, 9, Cause::Gc)), 0);
        assert_eq!(timeline.take_tally(), Tally::default(), "nobody asked for one");
        timeline.start_tally();
        assert!(timeline.is_on());
        timeline.add(span(Unit::Die(0), 10, 25, Cause::Gc));
        timeline.add(span(Unit::Channel(1), 25, 27, Cause::Gc));
        timeline.add(span(Unit::Plane(3), 5, 12, Cause::Host));
        timeline.add(span(Unit::Controller, 40, 90, Cause::Host));
        timeline.record(span(Unit::Die(0), 30, 60, Cause::Gc));
        let tally = timeline.take_tally();
        assert_eq!(tally.work[Cause::Gc as usize], 15 + 2);
        assert_eq!((tally.work.iter().sum::<Nanos>(), tally.until), (15 + 2 + 7, 27));
        assert_eq!(timeline.take_tally(), Tally::default());
        timeline.start(1);
        timeline.stop_tally();
        assert!(timeline.is_on(), "the record goes on without the tally");
        assert_eq!(timeline.take(), (Vec::new(), 0));
        assert!(!timeline.is_on());
    }

    /// Two spans, of a record that another one ends or that is taken, and two of the next.
    #[test]
    fn the_name_of_a_span_is_used_once_however_many_records_there_are() {
        let span = |start| {
            let (unit, work, cause) = (Unit::Die(0), Work::Read, Cause::Host);
            Span { unit, start, end: start + 5, work, cause, planes: 1 }
        };
        for is_taken in [false, true] {
            let mut timeline = Timeline::default();
            for record in 0..3 {
                timeline.start(2);
                let begun = 10 * record;
                let names = [begun, begun + 5, begun + 9].map(|start| timeline.add(span(start)));
                // The third has no room.
                assert_eq!(names, [2 * record + 1, 2 * record + 2, 0], "taken {is_taken}");
                assert_eq!(timeline.find(names[1]).map(|span| span.start), Some(begun + 5));
                assert!(timeline.find(2 * record).is_none(), "of the record before, or of none");
                if is_taken {
                    let taken = (vec![span(begun), span(begun + 5)], 1);
                    assert_eq!(timeline.take(), taken);
                }
            }
        }
    }
}
