//! # Idea
//! What was moved once has outlived its neighbours and will live on: it lies apart from what the
//! host writes.
//!
//! # Source
//! Van Houdt, Performance Evaluation 70 (2013), "double writes"; SepGC of SepBIT (FAST 2022).
//!
//! # Rule
//! Host write: class 0. Moved page: class 1. The same as `gc.separate_frontiers`.
//!
//! # Memory
//! None.

use super::settings::PlacementSettings;
use super::{Classes, Goes, HostWrite, MovedPage, PlacementContext, PlacementPolicy, Victim};

/// Two frontiers.
#[derive(Clone, Debug)]
pub struct SepGc;

impl PlacementPolicy for SepGc {
    fn classes(_: &PlacementSettings) -> Classes {
        Classes::Fixed(2)
    }

    fn new(_: &PlacementContext<'_>) -> Self {
        SepGc
    }

    fn host(&mut self, _: &HostWrite) -> u8 {
        0
    }

    fn victim(&mut self, _: &Victim) -> Goes {
        Goes::Whole(1)
    }

    fn moved(&mut self, _: &MovedPage) -> u8 {
        1
    }
}
