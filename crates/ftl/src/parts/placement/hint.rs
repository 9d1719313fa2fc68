//! # Idea
//! The host says what belongs together: each write carries a number, and each number has a place of
//! its own.
//!
//! # Source
//! Streams of NVMe, and Flexible Data Placement (NVMe Technical Proposal 4146): reclaim unit handles,
//! initially or persistently isolated, as in FEMU.
//!
//! # Rule
//! There are `placement.handles` reclaim unit handles. Host write: the handle of its hint
//! (`host.hints`), modulo their number; without a hint handle 0. Moved page, by
//! `placement.isolation`: `initially`, what was moved lies together in one further class, whatever
//! handle it came from; `persistently`, it stays with its handle.
//!
//! # Deviations
//! A reclaim unit is an erase block of each plane. The specification has the controller put a write
//! with an unknown handle wherever it likes; here handles are counted round.
//!
//! # Memory
//! None: the class of each block, which every policy has.

use super::settings::{Isolation, PlacementSettings};
use super::{Classes, Goes, HostWrite, MovedPage, PlacementContext, PlacementPolicy, Victim};

/// Reclaim unit handles.
#[derive(Clone, Debug)]
pub struct Hint {
    handles: u8,
    isolation: Isolation,
}

impl PlacementPolicy for Hint {
    fn classes(settings: &PlacementSettings) -> Classes {
        let further = u32::from(settings.isolation == Isolation::Initially);
        Classes::Fixed((settings.handles + further) as u8)
    }

    fn new(context: &PlacementContext<'_>) -> Self {
        let PlacementSettings { handles, isolation, .. } = *context.settings;
        Hint { handles: handles as u8, isolation }
    }

    fn host(&mut self, write: &HostWrite) -> u8 {
        write.request.hint % self.handles
    }

    fn victim(&mut self, victim: &Victim) -> Goes {
        Goes::Whole(self.goes(victim.class))
    }

    fn moved(&mut self, page: &MovedPage) -> u8 {
        self.goes(page.from)
    }
}

impl Hint {
    /// Where the pages of a class go when they are moved.
    fn goes(&self, class: u8) -> u8 {
        match self.isolation {
            Isolation::Initially => self.handles,
            Isolation::Persistently => class,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Bench, victim};
    use super::*;

    /// Three handles: hints 0 to 3 go to handles 0, 1, 2, 0; moved pages to a class of their own, or
    /// they stay.
    #[test]
    fn a_hint_is_a_handle_and_isolation_says_where_moved_pages_go() {
        for (isolation, moved) in [("initially", [3, 3, 3]), ("persistently", [0, 1, 2])] {
            let pairs = [("placement.handles", "3"), ("placement.isolation", isolation)];
            let mut hint = Bench::new("hint", 64, &pairs);
            assert_eq!([0, 1, 2, 3].map(|number| hint.write_with(7, number)), [0, 1, 2, 0]);
            for (from, to) in (0..3).zip(moved) {
                assert_eq!(hint.policy.victim(&victim(from, 0, 9)), Goes::Whole(to));
                assert_eq!(hint.moved(7, from), to);
            }
        }
    }
}
