//! # Idea
//! Regions from cold to hot: a page climbs with every update and sinks with every move, so that it
//! comes to rest where pages are rewritten as often as they are moved.
//!
//! # Source
//! Dynamic dAta Clustering: Chiang, Lee, Chang, Software: Practice and Experience 29(3), 1999; rule
//! and first region as in the simulator of SepBIT (FAST 2022). Not the scheme `dac`, a map cache.
//!
//! # Rule
//! A page's first write: region 0. Update: one higher, at most the last, unless its last write is
//! longer ago than `placement.dac_max_update_age` where that is set. Moved page: one lower, at
//! least 0, unless its last write is not longer ago than `placement.dac_min_move_age`.
//!
//! # Deviations
//! The paper has a time per region that an update must not exceed and a move must: the simulator
//! has none, and one time for all updates and one for all moves is what can be set here.
//!
//! # Memory
//! 3 bits a logical page, 4 where there are more than 8 classes; with
//! `placement.dac_max_update_age` a table of times, with `placement.dac_min_move_age` the time that
//! lies with the page. Here a byte a page.

use super::settings::PlacementSettings;
use super::{Classes, HostWrite, MovedPage, PlacementContext, PlacementPolicy, Times};
use ftlab_flash::units::{Lpn, zeroed};

/// The region of every page.
#[derive(Clone, Debug)]
pub struct Dac {
    last: u8,
    max_age: u64,
    min_move_age: u64,
    region: Vec<u8>,
}

impl PlacementPolicy for Dac {
    fn classes(_: &PlacementSettings) -> Classes {
        Classes::Set(6)
    }

    fn times(settings: &PlacementSettings) -> Times {
        match (settings.dac_max_update_age, settings.dac_min_move_age) {
            (0, 0) => Times::Never,
            (0, _) => Times::WhenMoved,
            _ => Times::WhenWritten,
        }
    }

    fn ram_bytes(context: &PlacementContext<'_>) -> u64 {
        let bits = if context.classes > 8 { 4 } else { 3 };
        (u64::from(context.logical_pages) * bits).div_ceil(8)
    }

    fn new(context: &PlacementContext<'_>) -> Self {
        Dac {
            last: context.classes - 1,
            max_age: context.settings.dac_max_update_age,
            min_move_age: context.settings.dac_min_move_age,
            region: zeroed(context.logical_pages as usize),
        }
    }

    fn host(&mut self, write: &HostWrite) -> u8 {
        let region = &mut self.region[write.lpn.index()];
        let is_old = self.max_age > 0 && write.age.is_none_or(|age| age > self.max_age);
        if write.is_update && !is_old {
            *region = (*region + 1).min(self.last);
        }
        *region
    }

    fn moved(&mut self, page: &MovedPage) -> u8 {
        let region = &mut self.region[page.lpn.index()];
        // A page of which nobody knows when it was written is old.
        if page.age.is_none_or(|age| age > self.min_move_age || self.min_move_age == 0) {
            *region = region.saturating_sub(1);
        }
        *region
    }

    fn trimmed(&mut self, lpn: Lpn) {
        self.region[lpn.index()] = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Bench;

    /// Three regions: W W W W, a move, W on one page.
    #[test]
    fn a_page_climbs_with_updates_and_sinks_with_moves() {
        let mut dac = Bench::new("dac", 64, &[("placement.classes", "3")]);
        assert_eq!([(); 4].map(|()| dac.write(5)), [0, 1, 2, 2]);
        assert_eq!(dac.moved(5, 2), 1);
        assert_eq!(dac.write(5), 2);
        assert_eq!((dac.moved(5, 2), dac.moved(5, 1), dac.moved(5, 0)), (1, 0, 0));
        dac.write(5);
        dac.trim(5);
        assert_eq!(dac.write(5), 0, "a trim ends a page's history");
    }

    /// Updates within two pages of the last write climb, later ones do not.
    #[test]
    fn an_update_that_comes_late_makes_nothing_hotter() {
        let mut dac = Bench::new("dac", 64, &[("placement.dac_max_update_age", "2")]);
        assert_eq!([1, 2, 1, 2, 3, 1].map(|page| dac.write(page)), [0, 0, 1, 1, 0, 1]);
    }

    /// A page that was written three pages ago or less keeps its region when it is moved.
    #[test]
    fn a_page_that_was_just_written_does_not_sink() {
        let mut dac = Bench::new("dac", 64, &[("placement.dac_min_move_age", "3")]);
        assert_eq!([(); 3].map(|()| dac.write(5)), [0, 1, 2]);
        dac.pass(2);
        assert_eq!(dac.moved(5, 2), 2, "3 old");
        dac.pass(1);
        assert_eq!((dac.moved(5, 2), dac.moved(5, 1)), (1, 0), "4 old");
    }
}
