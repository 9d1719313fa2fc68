//! Pages of one request that follow on other planes of the same die: their transfers are booked
//! together with the first page's, so that one command programs them all.
//!
//! An announcement is a promise that may be broken (a companion's plane had to collect garbage
//! first): then a transfer was booked for nothing. It costs time, never correctness.

use crate::units::Nanos;

/// Companions that one page can have: the other planes of the largest die.
pub(super) const COMPANIONS: usize = 15;

/// Announced companions of one die, and the transfers that wait for them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Companions {
    /// How many follow the next page.
    announced: usize,
    starts: [Nanos; COMPANIONS],
    booked: usize,
    used: usize,
}

impl Companions {
    /// The next page is followed by so many.
    pub fn announce(&mut self, count: u32) {
        *self = Companions { announced: (count as usize).min(COMPANIONS), ..Default::default() };
    }

    /// How many transfers to book now, with the first page's; told once.
    pub fn take(&mut self) -> usize {
        std::mem::take(&mut self.announced)
    }

    /// A companion's transfer begins at `start`.
    pub fn book(&mut self, start: Nanos) {
        self.starts[self.booked] = start;
        self.booked += 1;
    }

    /// The booked transfer of a page that is ready at `from`; those that begin earlier are lost.
    pub fn transfer(&mut self, from: Nanos) -> Option<Nanos> {
        while self.used < self.booked {
            let start = self.starts[self.used];
            self.used += 1;
            if start >= from {
                return Some(start);
            }
        }
        None
    }
}
