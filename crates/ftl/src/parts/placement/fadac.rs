//! # Idea
//! A count of writes, that moves bring down again, tells how hot a page is; what counts as hot goes
//! by the mean request.
//!
//! # Source
//! FADaC: Kremer and Brinkmann, SYSTOR 2019, as in the simulator of SepBIT (FAST 2022).
//!
//! # Rule
//! Host write: the page's count grows by one; moved page: it falls by one, at least to 0. The level
//! is the smallest l with count <= phi * 10^l, at most the last; level 0 is the coldest. With every
//! request phi comes nearer to its pages by 1 / living pages of the difference.
//!
//! # Deviations
//! Where phi begins is open: at one page. It is held in 2^-32 pages, since the state of the engine
//! has no fractions.
//!
//! # Memory
//! 4 bytes a logical page.

use super::settings::PlacementSettings;
use super::{Classes, HostWrite, MovedPage, PlacementContext, PlacementPolicy};
use ftlab_flash::units::{Lpn, zeroed};

/// A page in the unit of phi.
const PAGE: i64 = 1 << 32;

/// Counts of writes.
#[derive(Clone, Debug)]
pub struct Fadac {
    last: u8,
    phi: i64,
    counts: Vec<u32>,
}

impl PlacementPolicy for Fadac {
    fn classes(_: &PlacementSettings) -> Classes {
        Classes::Set(6)
    }

    fn ram_bytes(context: &PlacementContext<'_>) -> u64 {
        4 * u64::from(context.logical_pages)
    }

    fn new(context: &PlacementContext<'_>) -> Self {
        Fadac {
            last: context.classes - 1,
            phi: PAGE,
            counts: zeroed(context.logical_pages as usize),
        }
    }

    fn host(&mut self, write: &HostWrite) -> u8 {
        if write.request.index == 0 {
            let pages = i64::from(write.request.pages).min(i64::from(u16::MAX)) * PAGE;
            self.phi += (pages - self.phi) / write.living.max(1) as i64;
        }
        let count = &mut self.counts[write.lpn.index()];
        *count = count.saturating_add(1);
        self.level(write.lpn)
    }

    fn moved(&mut self, page: &MovedPage) -> u8 {
        let count = &mut self.counts[page.lpn.index()];
        *count = count.saturating_sub(1);
        self.level(page.lpn)
    }

    fn trimmed(&mut self, lpn: Lpn) {
        self.counts[lpn.index()] = 0;
    }
}

impl Fadac {
    fn level(&self, lpn: Lpn) -> u8 {
        let count = i128::from(self.counts[lpn.index()]) * i128::from(PAGE);
        let bound = |level: u8| i128::from(self.phi) * 10i128.pow(u32::from(level));
        (0..self.last).find(|&level| count <= bound(level)).unwrap_or(self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Bench;

    /// Requests of one page, so that phi stays 1: up to one write level 0, up to ten level 1, up to
    /// a hundred level 2; a move takes one write back.
    #[test]
    fn ten_times_as_many_writes_are_a_level() {
        let mut fadac = Bench::new("fadac", 64, &[]);
        let levels: Vec<u8> = (0..101).map(|_| fadac.write(3)).collect();
        assert_eq!((levels[0], levels[1], levels[9], levels[10]), (0, 1, 1, 2));
        assert_eq!((levels[99], levels[100]), (2, 3));
        assert_eq!(fadac.moved(3, 3), 2, "a hundred again");
        assert_eq!(fadac.write(4), 0);
        assert_eq!((fadac.moved(4, 0), fadac.moved(4, 0)), (0, 0));
        fadac.trim(3);
        assert_eq!(fadac.write(3), 0);
    }

    /// phi is 1. A request of five pages where none is living brings it to 5; one of a page, among
    /// five living ones, a fifth of the way from 5 to 1. Pages of a request do that once.
    #[test]
    fn phi_comes_nearer_to_the_pages_of_each_request() {
        let mut fadac = Bench::new("fadac", 64, &[]);
        let phi = |bench: &Bench| {
            let super::super::Placement::Fadac(inner) = &bench.policy else { unreachable!("made") };
            inner.phi
        };
        let _ = fadac.write_all(0, 5);
        assert_eq!(phi(&fadac), 5 * super::PAGE);
        assert_eq!(fadac.write(9), 0);
        assert!((phi(&fadac) - super::PAGE * 42 / 10).abs() <= 1);
        assert_eq!([(); 4].map(|()| fadac.write(0)), [0, 0, 1, 1], "phi is 3.7, 3.2, 2.9, 2.5");
    }
}
