//! # Idea
//! How often a page was moved tells how long it will live: a page that survives its group goes to
//! the next, older one.
//!
//! # Source
//! MiDA: Oh et al., APSys 2021; the mode that MiDAS (FAST 2024) falls back to, as its code has it.
//!
//! # Rule
//! Host write: class 0. Moved page: the class of its block and one, at most the last.
//!
//! # Deviations
//! The code reads "class of the segment"; so do we: what waits in another class's block for want of
//! free ones goes on from there.
//!
//! # Memory
//! None: the class of each block, which every policy has.

use super::settings::PlacementSettings;
use super::{Classes, Goes, HostWrite, MovedPage, PlacementContext, PlacementPolicy, Victim};

/// A chain of groups.
#[derive(Clone, Debug)]
pub struct Mida {
    last: u8,
}

impl PlacementPolicy for Mida {
    fn classes(_: &PlacementSettings) -> Classes {
        Classes::Set(5)
    }

    fn new(context: &PlacementContext<'_>) -> Self {
        Mida { last: context.classes - 1 }
    }

    fn host(&mut self, _: &HostWrite) -> u8 {
        0
    }

    fn victim(&mut self, victim: &Victim) -> Goes {
        Goes::Whole((victim.class + 1).min(self.last))
    }

    fn moved(&mut self, page: &MovedPage) -> u8 {
        (page.from + 1).min(self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Bench, victim};
    use super::*;

    /// Three groups: a page goes 0, 1, 2, 2.
    #[test]
    fn a_page_goes_one_group_further_with_every_move() {
        let mut mida = Bench::new("mida", 64, &[("placement.classes", "3")]);
        assert_eq!(mida.write(7), 0);
        for (from, to) in [(0, 1), (1, 2), (2, 2)] {
            assert_eq!(mida.policy.victim(&victim(from, 0, 0)), Goes::Whole(to));
        }
    }
}
