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

    /// Without the work of phase-change memory, which goes on beside the server and is booked as it
    /// comes.
    pub fn of_the_server(mut self) -> Self {
        (self.busy.pcm_read, self.busy.pcm_write) = (0, 0);
        self
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

    /// The server does the same once more, for a request that begins when the one before is done.
    /// What else that booked follows for many together ([`Clock::book_again`]).
    #[inline(always)]
    pub fn serve_again(&mut self, booked: &Booked) {
        self.server += booked.server;
    }

    /// Books the same so many times more, for requests that the server is done with.
    ///
    /// # Panics
    /// Where pages do not take equal times.
    pub fn book_again(&mut self, booked: &Booked, times: u64) {
        assert!(self.takes_equal_times(), "bookings repeat only where pages take equal times");
        self.busy = self.busy.combined(&booked.busy, |now, one| now + times * one);
        self.done = self.done.combined(&booked.done, |now, one| now + times * one);
        self.shortly = self.shortly.combined(&booked.shortly, |now, one| now + times * one);
    }
}

#[cfg(test)]
mod tests {
    use super::super::suspend_tests::clock;
    use super::super::{Load, Place};
    use super::*;
    use crate::meter::Cause;
    use crate::units::{BlockId, PlaneId, Ppn};

    const SERIAL: (&str, &str) = ("timing.profile", "serial");

    /// Every number that is booked another one: the n-th, from 1 on, is `first` and n times `step`.
    fn numbered(first: u64, step: u64) -> Booked {
        let nth = |n: u64| first + n * step;
        let operations =
            |n| CellOperations { reads: nth(n), programs: nth(n + 1), erases: nth(n + 2) };
        let busy = ServiceTime {
            read: nth(2),
            program: nth(3),
            erase: nth(4),
            transfer: nth(5),
            transfer_in: nth(6),
            bus_wait: nth(7),
            controller: nth(8),
            search: nth(9),
            ram: nth(10),
            pcm_read: nth(11),
            pcm_write: nth(12),
            host_memory: nth(13),
            pcm_wait: nth(14),
        };
        Booked { server: nth(1), busy, done: operations(15), shortly: operations(18) }
    }

    /// A serial clock that has booked just this.
    fn clock_that_booked(booked: Booked) -> Clock {
        let (mut clock, _) = clock(&[SERIAL]);
        (clock.server, clock.busy) = (booked.server, booked.busy);
        (clock.done, clock.shortly) = (booked.done, booked.shortly);
        clock
    }

    #[test]
    fn what_was_booked_since_is_told_number_by_number() {
        let then = numbered(1_000, 4);
        assert_eq!(clock_that_booked(then).booked(), then);
        assert_eq!(then.length(), 1_004, "the server's time");
        // 7 n - 4 n, and the thousands are gone.
        let now = clock_that_booked(numbered(1_000, 7));
        assert_eq!(now.booked_since(&then), numbered(0, 3));
    }

    #[test]
    fn every_number_is_booked_again_as_often_as_is_asked() {
        let mut clock = clock_that_booked(numbered(1_000, 7));
        // 1000 + 7 n + 5 (20 + 3 n).
        (0..5).for_each(|_| clock.serve_again(&numbered(20, 3)));
        assert_eq!(clock.booked(), Booked { server: 1_122, ..numbered(1_000, 7) });
        clock.book_again(&numbered(20, 3), 5);
        assert_eq!(clock.booked(), numbered(1_100, 22));
    }

    #[test]
    fn what_is_done_beside_the_server_is_not_booked_with_it() {
        let all = numbered(1_000, 4);
        let mut rest = all.of_the_server();
        assert_eq!((rest.busy.pcm_read, rest.busy.pcm_write), (0, 0));
        (rest.busy.pcm_read, rest.busy.pcm_write) = (all.busy.pcm_read, all.busy.pcm_write);
        assert_eq!(rest, all);
    }

    /// Three requests more, booked again or asked for.
    #[test]
    fn what_is_booked_again_is_what_the_same_requests_would_book() {
        let request = |clock: &mut Clock, time| {
            let start = clock.admit(time);
            let read = clock.read_page(Place::plane(PlaneId(0)), Cause::Host, start);
            let target = (PlaneId(0), BlockId(1), Ppn(8));
            let done = clock.program_page(target, Load::Channel, Cause::Host, read);
            let done = clock.erase_block(PlaneId(0), BlockId(0), Cause::Gc, done);
            clock.completion(done)
        };
        let (mut again, _) = clock(&[SERIAL]);
        let before = again.booked();
        let first = request(&mut again, 0);
        // A read of 50 us and a program of 300 us, 10 us each over the channel, and an erase of 2 ms.
        assert_eq!(first, 2_370_000);
        let mut asked = again.clone();
        let booked = again.booked_since(&before);
        assert_eq!(booked.length(), first);
        (0..3).for_each(|_| again.serve_again(&booked));
        again.book_again(&booked, 3);
        let last = (1..=3).map(|number| request(&mut asked, number * first)).last();
        assert_eq!((last, again.idle_from()), (Some(4 * first), 4 * first));
        assert_eq!(again.service_time(), asked.service_time());
        assert_eq!(again.cell_operations(), asked.cell_operations());
    }

    #[test]
    fn times_are_equal_on_one_server_without_marks_that_nobody_draws() {
        let equal = |pairs: &[(&str, &str)]| clock(pairs).0.takes_equal_times();
        assert!(equal(&[SERIAL]));
        assert!(!equal(&[SERIAL, ("timing.oob_write", "9us")]), "marks");
        assert!(!equal(&[SERIAL, ("timing.read_pages", "50us,90us")]), "pages of two types");
        assert!(!equal(&[("timing.profile", "parallel")]), "more than one server");
        let (mut drawn, _) = clock(&[SERIAL]);
        drawn.timeline_mut().start(1);
        assert!(!drawn.takes_equal_times(), "somebody draws");
    }
}
