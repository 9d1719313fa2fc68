//! Searches for victims: the steps that are counted, and what they cost the controller.

use super::Board;
use super::settings::SearchModel;
use super::when::When;
use crate::meter::Event;
use crate::units::Nanos;

/// What is searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// A block to collect or to merge.
    Block,
    /// An entry or page that leaves a cache.
    Cached,
}

impl Search {
    fn event(self) -> Event {
        match self {
            Search::Block => Event::VictimSearchSteps,
            Search::Cached => Event::CacheSearchSteps,
        }
    }
}

impl Board {
    /// A victim was searched among `candidates` that a scan would compare: counts the steps, and
    /// charges the controller for them where `search.model` says so. What follows from the choice
    /// starts from the returned moment.
    #[inline]
    pub fn search(&mut self, what: Search, candidates: u32, after: When) -> When {
        let steps = match self.search.model {
            SearchModel::None => {
                self.meter.event(what.event(), u64::from(candidates));
                return after;
            }
            SearchModel::Scan => u64::from(candidates),
            SearchModel::List => 1,
        };
        self.meter.event(what.event(), steps);
        self.nand.clock_mut().search(steps * self.search.step_time.0, after)
    }

    /// Whether searches take no time.
    #[inline]
    pub fn searches_are_free(&self) -> bool {
        matches!(self.search.model, SearchModel::None)
    }

    /// As [`Board::search`], where a scheme has a price of its own for comparing two candidates; at
    /// 0 it has none.
    #[inline]
    pub fn search_at(
        &mut self,
        what: Search,
        candidates: u32,
        step_time: Nanos,
        after: When,
    ) -> When {
        if step_time == 0 {
            return self.search(what, candidates, after);
        }
        let steps = u64::from(candidates);
        self.meter.event(what.event(), steps);
        self.nand.clock_mut().search(steps * step_time, after)
    }
}
