//! The pages written last, and whether a page is among them: a first-in-first-out list with a count
//! per logical page, so that a look-up is one array access.
//!
//! What this is not: a judge of what to do with a page that is rewritten soon.

use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::units::{Lpn, pack, unpack, zeroed};

/// The last so many page writes.
#[derive(Clone, Debug)]
pub struct RecentPages {
    /// The list as a ring of logical pages, each plus one.
    ring: Vec<u32>,
    oldest: usize,
    /// How often each logical page is in the list.
    count: Vec<u16>,
}

impl RecentPages {
    /// Remembers `window` page writes, at most 65,535.
    pub fn new(geometry: &Geometry, window: u32) -> Self {
        assert!(window <= u32::from(u16::MAX), "a window of {window} page writes does not count");
        RecentPages {
            ring: zeroed(window as usize),
            oldest: 0,
            count: zeroed(geometry.logical_pages as usize),
        }
    }

    /// RAM of the list: 4 bytes per entry.
    pub fn ram_bytes(window: u32) -> u64 {
        u64::from(window) * 4
    }

    /// Whether the page was among the writes remembered.
    #[inline]
    pub fn contains(&self, lpn: Lpn) -> bool {
        self.count[lpn.index()] > 0
    }

    /// The page was written: the oldest write is forgotten.
    #[inline]
    pub fn insert(&mut self, lpn: Lpn) {
        let Some(place) = self.ring.get_mut(self.oldest) else { return };
        if let Some(forgotten) = unpack(*place) {
            self.count[forgotten as usize] -= 1;
        }
        *place = pack(Some(lpn.0));
        self.count[lpn.index()] += 1;
        self.oldest = if self.oldest + 1 == self.ring.len() { 0 } else { self.oldest + 1 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SharedSettings;
    use ftlab_flash::rng::{Purpose, Rng};
    use std::collections::VecDeque;

    #[test]
    fn a_page_is_remembered_exactly_while_it_is_in_a_plain_list_of_the_last_writes() {
        let geometry = Geometry::new(&SharedSettings::default().device);
        for window in [0, 1, 3, 20] {
            let mut pages = RecentPages::new(&geometry, window);
            let mut list = VecDeque::new();
            let mut rng = Rng::new(5, Purpose::Workload);
            for _ in 0..500 {
                let lpn = Lpn(rng.below(12));
                assert_eq!(pages.contains(lpn), list.contains(&lpn), "window {window}");
                pages.insert(lpn);
                list.push_back(lpn);
                if list.len() > window as usize {
                    list.pop_front();
                }
            }
        }
    }

    #[test]
    fn memory_is_four_bytes_for_a_write() {
        assert_eq!(RecentPages::ram_bytes(3), 12);
    }
}
