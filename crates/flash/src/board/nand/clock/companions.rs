//! Pages of one request that follow on other planes of the same die: their transfers are booked
//! together with the first page's, so that one command programs them all.
//!
//! An announcement is a promise that may be broken (a companion's plane had to collect garbage
//! first): then a transfer was booked for nothing. It costs time, never correctness.

use crate::meter::Cause;
use crate::units::Nanos;

/// Companions that one page can have: the other planes of the largest die.
pub(super) const COMPANIONS: usize = 15;

/// Announced companions of one die, and the transfers that wait for them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Companions {
    /// How many follow the next page of this cause.
    announced: Option<(usize, Cause)>,
    /// Whose transfers are booked.
    cause: Option<Cause>,
    starts: [Nanos; COMPANIONS],
    booked: usize,
    used: usize,
}

impl Companions {
    /// The next page that is programmed for `cause` is followed by so many.
    pub fn announce(&mut self, count: u32, cause: Cause) {
        let count = (count as usize).min(COMPANIONS);
        let announced = (count > 0).then_some((count, cause));
        *self = Companions { announced, ..Companions::default() };
    }

    /// How many transfers to book now, with that of a first page of `cause`; told once.
    pub fn take(&mut self, cause: Cause) -> usize {
        match self.announced {
            Some((count, wanted)) if wanted == cause => {
                (self.announced, self.cause) = (None, Some(cause));
                count
            }
            _ => 0,
        }
    }

    /// A companion's transfer begins at `start`.
    pub fn book(&mut self, start: Nanos) {
        self.starts[self.booked] = start;
        self.booked += 1;
    }

    /// The booked transfer of a page of `cause` that is ready at `from`; those that begin earlier
    /// are lost.
    pub fn transfer(&mut self, cause: Cause, from: Nanos) -> Option<Nanos> {
        while self.cause == Some(cause) && self.used < self.booked {
            let start = self.starts[self.used];
            self.used += 1;
            if start >= from {
                return Some(start);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_announcement_is_for_one_cause_and_told_once() {
        let mut companions = Companions::default();
        companions.announce(2, Cause::Host);
        assert_eq!(companions.take(Cause::Gc), 0, "a page of somebody else comes between");
        assert_eq!(companions.take(Cause::Host), 2);
        assert_eq!(companions.take(Cause::Host), 0, "it was told");
    }

    #[test]
    fn each_transfer_is_one_companions_and_those_that_begin_too_early_are_lost() {
        let mut companions = Companions::default();
        companions.announce(3, Cause::Host);
        assert_eq!(companions.take(Cause::Host), 3);
        for start in [40, 70, 100] {
            companions.book(start);
        }
        assert_eq!(companions.transfer(Cause::Gc, 0), None, "they are not for collections");
        assert_eq!(companions.transfer(Cause::Host, 70), Some(70), "40 is too early");
        assert_eq!(companions.transfer(Cause::Host, 0), Some(100));
        assert_eq!(companions.transfer(Cause::Host, 0), None, "no more were booked");
    }
}
