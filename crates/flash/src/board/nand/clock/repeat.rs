//! Requests that book what the one before them booked: on one server, where every page takes the
//! same time, the bookings of the first are taken as often as there are others.

use super::spent::{CellOperations, ServiceTime};
use super::{Clock, Way};
use crate::units::Nanos;

/// What was booked by some moment, or between two of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Booked {
    server: Nanos,
    busy: ServiceTime,
    done: CellOperations,
    shortly: CellOperations,
}

impl Booked {
    /// How long the server worked.
    #[inline]
    pub fn length(&self) -> Nanos {
        self.server
    }
}

impl Clock {
    /// Whether every page takes the same time wherever it lies, marks take none, and nobody draws:
    /// requests that do the same take as long as each other.
    #[inline]
    pub fn takes_equal_times(&self) -> bool {
        self.way() == Way::OneServer && !self.marks_take_time()
    }

    /// What is booked by now.
    #[inline]
    pub fn booked(&self) -> Booked {
        let Clock { server, busy, done, shortly, .. } = *self;
        Booked { server, busy, done, shortly }
    }

    /// What was booked since then.
    pub fn booked_since(&self, then: &Booked) -> Booked {
        Booked {
            server: self.server - then.server,
            busy: self.busy.combined(&then.busy, |now, then| now - then),
            done: self.done.combined(&then.done, |now, then| now - then),
            shortly: self.shortly.combined(&then.shortly, |now, then| now - then),
        }
    }

    /// Books the same so many times more, one after another, for requests that each begin when the
    /// one before is done.
    ///
    /// # Panics
    /// Where pages do not take equal times.
    pub fn book_again(&mut self, booked: &Booked, times: u64) {
        assert!(self.takes_equal_times(), "bookings repeat only where pages take equal times");
        self.server += times * booked.server;
        self.busy = self.busy.combined(&booked.busy, |now, one| now + times * one);
        self.done = self.done.combined(&booked.done, |now, one| now + times * one);
        self.shortly = self.shortly.combined(&booked.shortly, |now, one| now + times * one);
    }
}
