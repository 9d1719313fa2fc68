//! Memories beside the flash, as far as the clock knows them: the controller's RAM and the DRAM.
//! What is waited for at other ports (`board/pcm.rs`) is booked on the path of whoever waits.
//!
//! In the serial profile the one server moves the pages; in the parallel profile RAM and DRAM are
//! resources of their own, kept like the controller.

use super::Clock;
use super::event::{Effect, Other};
use super::timeline::{Span, Unit, Work};
use crate::board::when::When;
use crate::meter::Cause;
use crate::units::Nanos;

/// What is moved in the controller's RAM: decides the stage that the time counts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RamWork {
    /// Pages of data: stage `buffer`.
    Data,
    /// Pages of the map: stage `map`.
    Map,
}

impl Clock {
    /// The controller's RAM moves pages for `length`.
    pub fn move_in_ram(&mut self, what: RamWork, length: Nanos, after: When) -> When {
        self.busy.ram += length;
        if self.is_event_driven() {
            let how = match what {
                RamWork::Data => (Effect::Buffer, Cause::Host),
                RamWork::Map => (Effect::Map, Cause::Translate),
            };
            return self.move_later(Other::Ram, how, length, after);
        }
        let start = match self.serial {
            true => self.server,
            false => self.ram.book(after.time(), length),
        };
        if self.timeline.is_on() {
            let cause = match what {
                RamWork::Data => Cause::Host,
                RamWork::Map => Cause::Translate,
            };
            let (unit, end) = (Unit::Ram, start + length);
            self.timeline.add(Span { unit, start, end, work: Work::Move, cause, planes: 1 });
        }
        self.passed_by_memory(what, start + length, after)
    }

    /// The DRAM works for `length`.
    #[inline(always)]
    pub fn access_dram(&mut self, length: Nanos, after: When) -> When {
        self.busy.ram += length;
        if self.is_event_driven() {
            let how = (Effect::Map, Cause::Translate);
            return self.move_later(Other::Dram, how, length, after);
        }
        let start = match self.serial {
            true => self.server,
            false => self.dram.book(after.time(), length),
        };
        self.passed_by_memory(RamWork::Map, start + length, after)
    }

    /// A part of the map is there at `end` from a port that is nobody's server: whoever holds
    /// `after` waits for it, of which `wait` was spent before the work began.
    #[inline]
    pub fn waits_for_port(&mut self, wait: Nanos, end: Nanos, after: When) -> When {
        self.busy.pcm_wait += wait;
        if end <= self.earliest(after) {
            return after;
        }
        self.passed_by_memory(RamWork::Map, end, after)
    }

    /// The phase-change memory is read for `length`.
    #[inline]
    pub fn pcm_is_read(&mut self, length: Nanos) {
        self.busy.pcm_read += length;
    }

    /// The phase-change memory is written for `length`, whoever waits for that.
    #[inline]
    pub fn pcm_is_written(&mut self, length: Nanos) {
        self.busy.pcm_write += length;
    }

    /// The host's memory is looked at for `length`.
    pub fn host_memory_is_read(&mut self, length: Nanos) {
        self.busy.host_memory += length;
    }

    /// A page that collection sends over the link to the host, or a command for it, is across at
    /// `end`; counts as a transfer.
    pub fn crosses_link(&mut self, end: Nanos, after: When) -> When {
        if end <= self.earliest(after) {
            return after;
        }
        if self.serial {
            self.spent.channel += end - self.server;
            self.server = end;
            return When::at(end);
        }
        after.until_by_channel(end)
    }

    /// When what follows `after` can start.
    #[inline]
    pub fn earliest(&self, after: When) -> Nanos {
        if self.serial { self.server } else { after.time() }
    }

    /// No operation that is booked from now on starts before.
    #[inline]
    pub fn now(&self) -> Nanos {
        self.event.as_ref().map_or(self.server, |event| event.now())
    }

    #[inline(always)]
    fn passed_by_memory(&mut self, what: RamWork, end: Nanos, after: When) -> When {
        if self.serial {
            let spent = match what {
                RamWork::Data => &mut self.spent.buffer,
                RamWork::Map => &mut self.spent.map,
            };
            *spent += end - self.server;
            self.server = end;
            return When::at(end);
        }
        match what {
            RamWork::Data => after.until_by_buffer(end),
            RamWork::Map => after.until_by_map(end),
        }
    }
}
