//! # Idea
//! Extents of addresses that are written alike share one count, so that few counts do for all.
//!
//! # Source
//! ETI: Shafaei, Desnoyers, Fitzpatrick, "Write amplification reduction in flash-based SSDs through
//! extent-based temperature identification", HotStorage 2016, as in the simulator of SepBIT
//! (FAST 2022).
//!
//! # Rule
//! Up to 1024 extents cover all pages, each with a count of 4 bits. A write request splits extents
//! at its borders, while there is room for more, and adds one to those that it covers. Every 4096
//! requests counts are halved, and neighbours are joined whose counts are equal or both below 4.
//! Host write: class 0 (hot) if its extent counts 4 or more, else 1. Moved page: class 2.
//!
//! # Deviations
//! Without room for a split an extent that a request covers in part counts as covered. A request's
//! class is that of each page's extent after it was counted.
//!
//! # Memory
//! 8 bytes an extent: 8 KiB.

use super::settings::PlacementSettings;
use super::{Classes, Goes, HostWrite, MovedPage, PlacementContext, PlacementPolicy, Victim};

const EXTENTS: usize = 1024;
const COUNT_MAX: u8 = 15;
const HOT: u8 = 4;
/// Requests between two halvings.
const PERIOD: u32 = 4096;

/// From its first page to the next one's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extent {
    first: u32,
    count: u8,
}

/// The extents, in order of address.
#[derive(Clone, Debug)]
pub struct Eti {
    extents: Vec<Extent>,
    requests: u32,
    logical_pages: u32,
}

impl PlacementPolicy for Eti {
    fn classes(_: &PlacementSettings) -> Classes {
        Classes::Fixed(3)
    }

    fn ram_bytes(_: &PlacementContext<'_>) -> u64 {
        8 * EXTENTS as u64
    }

    fn new(context: &PlacementContext<'_>) -> Self {
        let mut extents = Vec::with_capacity(EXTENTS);
        extents.push(Extent { first: 0, count: 0 });
        Eti { extents, requests: 0, logical_pages: context.logical_pages }
    }

    fn host(&mut self, write: &HostWrite) -> u8 {
        if write.request.index == 0 {
            self.count(write.lpn.0, write.request.pages);
        }
        u8::from(self.extents[self.holding(write.lpn.0)].count < HOT)
    }

    fn victim(&mut self, _: &Victim) -> Goes {
        Goes::Whole(2)
    }

    fn moved(&mut self, _: &MovedPage) -> u8 {
        2
    }
}

impl Eti {
    /// The place of the extent that holds a page.
    fn holding(&self, page: u32) -> usize {
        self.extents.partition_point(|extent| extent.first <= page) - 1
    }

    /// Makes a page the first of its extent, if there is room for one more.
    fn split(&mut self, page: u32) {
        let at = self.holding(page);
        let Extent { first, count } = self.extents[at];
        if first < page && self.extents.len() < EXTENTS {
            self.extents.insert(at + 1, Extent { first: page, count });
        }
    }

    /// A request of so many pages.
    fn count(&mut self, first: u32, pages: u32) {
        self.split(first);
        if first + pages < self.logical_pages {
            self.split(first + pages);
        }
        let (from, to) = (self.holding(first), self.holding(first + pages - 1));
        for extent in &mut self.extents[from..=to] {
            extent.count = (extent.count + 1).min(COUNT_MAX);
        }
        self.requests += 1;
        if self.requests == PERIOD {
            self.requests = 0;
            self.extents.iter_mut().for_each(|extent| extent.count /= 2);
            self.extents.dedup_by(|next, before| {
                next.count == before.count || next.count.max(before.count) < HOT
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Bench, victim};
    use super::super::{Goes, Placement};
    use super::{EXTENTS, Extent};

    fn extents(bench: &Bench) -> Vec<(u32, u8)> {
        let Placement::Eti(eti) = &bench.policy else { unreachable!("made as such") };
        eti.extents.iter().map(|&Extent { first, count }| (first, count)).collect()
    }

    /// Page 5 written four times is hot, its neighbours are not.
    #[test]
    fn an_extent_is_hot_that_was_written_four_times() {
        let mut eti = Bench::new("eti", 64, &[]);
        assert_eq!([(); 4].map(|()| eti.write(5)), [1, 1, 1, 0]);
        assert_eq!((eti.write(4), eti.write(6)), (1, 1));
        assert_eq!(extents(&eti), [(0, 0), (4, 1), (5, 4), (6, 1), (7, 0)]);
        assert_eq!(eti.policy.victim(&victim(0, 0, 9)), Goes::Whole(2));
    }

    /// 4091 further requests of page 20 fill its count of 4 bits; the halving leaves 7, page 5 with
    /// 2, and cold neighbours in one extent.
    #[test]
    fn counts_are_halved_and_cold_neighbours_joined() {
        let mut eti = Bench::new("eti", 64, &[]);
        for page in [5; 5].into_iter().chain([20; 4091]) {
            let _ = eti.write(page);
        }
        assert_eq!(extents(&eti), [(0, 0), (20, 7), (21, 0)]);
    }

    #[test]
    fn there_are_never_more_extents_than_there_is_room_for() {
        let mut eti = Bench::new("eti", 8192, &[]);
        for write in 0..4000 {
            let _ = eti.write(write * 2);
        }
        assert_eq!(extents(&eti).len(), EXTENTS);
    }

    /// A request that ends with the device begins no extent behind it; one of four pages that ends
    /// before it begins one there.
    #[test]
    fn a_request_splits_at_both_of_its_borders() {
        let mut eti = Bench::new("eti", 64, &[]);
        let _ = (eti.write(63), eti.write_all(20, 4));
        assert_eq!(extents(&eti), [(0, 0), (20, 1), (24, 0), (63, 1)]);
    }

    /// Page 5 counts 8 and page 6 counts 6 when counts are halved: 4 is hot and stays apart, 3 is
    /// joined with what is cold behind it.
    #[test]
    fn what_is_hot_after_the_halving_stays_apart() {
        let mut eti = Bench::new("eti", 64, &[]);
        for page in [5; 8].into_iter().chain([6; 6]).chain([20; 4082]) {
            let _ = eti.write(page);
        }
        assert_eq!(extents(&eti), [(0, 0), (5, 4), (6, 3), (20, 7), (21, 0)]);
    }
}
