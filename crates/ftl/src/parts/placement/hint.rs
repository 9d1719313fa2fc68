//! # Idea
//! The host says what belongs together: each write carries a number, and each number has a place of
//! its own.
//!
//! # Source
//! Streams of NVMe, and Flexible Data Placement (NVMe Technical Proposal 4146): reclaim unit
//! handles, initially or persistently isolated, as in FEMU.
//!
//! # Rule
//! There are `placement.handles` reclaim unit handles. Host write: the handle of its hint
//! (`host.hints`); without a hint handle 0, with one beyond the last handle that one, and either is
//! counted. Moved page, by `placement.isolation`: `persistently`, it stays with its handle;
//! `initially`, what was moved lies together whatever handle it came from, by
//! `placement.collection` in one further class or with the last handle.
//!
//! # Deviations
//! A reclaim unit is an erase block of each plane, and there is one reclaim group. The
//! specification has the controller put a write with an unknown handle wherever it likes.
//!
//! # Memory
//! None: the class of each block, which every policy has.

use super::settings::{Collection, Isolation, PlacementSettings};
use super::{Classes, Goes, HostWrite, MovedPage, PlacementContext, PlacementPolicy, Victim};

/// Reclaim unit handles.
#[derive(Clone, Debug)]
pub struct Hint {
    handles: u8,
    /// Where everything goes that is moved; none: it stays with its handle.
    collection: Option<u8>,
}

impl PlacementPolicy for Hint {
    fn classes(settings: &PlacementSettings) -> Classes {
        let PlacementSettings { handles, isolation, collection, .. } = *settings;
        let further = isolation == Isolation::Initially && collection == Collection::Own;
        Classes::Fixed((handles + u32::from(further)) as u8)
    }

    /// Hints do not outlive a power cut: what is found belongs to the first handle.
    fn found_class() -> u8 {
        0
    }

    fn new(context: &PlacementContext<'_>) -> Self {
        let PlacementSettings { handles, isolation, collection, .. } = *context.settings;
        let handles = handles as u8;
        let collection = match (isolation, collection) {
            (Isolation::Persistently, _) => None,
            (Isolation::Initially, Collection::Own) => Some(handles),
            (Isolation::Initially, Collection::LastHandle) => Some(handles - 1),
        };
        Hint { handles, collection }
    }

    fn host(&mut self, write: &HostWrite) -> u8 {
        write.request.hint.unwrap_or(0).min(self.handles - 1)
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
        self.collection.unwrap_or(class)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Bench, victim};
    use super::*;
    use ftlab_flash::settings::Value as _;

    /// Three handles: hints 0 to 3 go to handles 0, 1, 2, 2, no hint to 0; moved pages to a class
    /// of their own, to the last handle, or they stay.
    #[test]
    fn a_hint_is_a_handle_and_isolation_says_where_moved_pages_go() {
        for (isolation, collection, moved) in [
            ("initially", "own", [3, 3, 3]),
            ("initially", "last_handle", [2, 2, 2]),
            ("persistently", "own", [0, 1, 2]),
        ] {
            let pairs = [
                ("placement.handles", "3"),
                ("placement.isolation", isolation),
                ("placement.collection", collection),
            ];
            let mut settings = PlacementSettings { handles: 3, ..PlacementSettings::default() };
            settings.isolation = Isolation::parse(isolation).expect("a name");
            settings.collection = Collection::parse(collection).expect("a name");
            let classes = 3 + u8::from(moved[0] == 3);
            assert_eq!(
                Hint::classes(&settings),
                Classes::Fixed(classes),
                "{isolation} {collection}"
            );
            let mut hint = Bench::new("hint", 64, &pairs);
            let hints = [None, Some(0), Some(1), Some(2), Some(3), Some(255)];
            assert_eq!(hints.map(|number| hint.write_with(7, number)), [0, 0, 1, 2, 2, 2]);
            for (from, to) in (0..3).zip(moved) {
                assert_eq!(hint.policy.victim(&victim(from, 0, 9)), Goes::Whole(to));
                assert_eq!(hint.moved(7, from), to);
            }
        }
    }
}
