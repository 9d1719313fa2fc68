//! The slowest requests one by one.

use ftlab_engine::request::Request;
use ftlab_engine::units::Nanos;

use super::sums::Seen;
use crate::result::WORST_MAX;

/// One request, and all that is known of it.
#[derive(Debug)]
pub(crate) struct One {
    /// Place among the measured requests, from 0, in order of arrival.
    pub index: u64,
    /// What was asked.
    pub request: Request,
    /// Name of its operation in results.
    pub op: &'static str,
    /// What became of it.
    pub seen: Seen,
}

/// The slowest requests so far, at most [`WORST_MAX`], the slowest first; of two that took as long,
/// the one that was served first.
#[derive(Debug)]
pub(crate) struct WorstOnes(Vec<One>);

impl WorstOnes {
    /// None so far.
    pub fn new() -> Self {
        WorstOnes(Vec::with_capacity(WORST_MAX + 1))
    }

    /// Takes a request where it is slow enough.
    pub fn take(&mut self, one: One) {
        let place = self.0.partition_point(|other| other.seen.response >= one.seen.response);
        if place < WORST_MAX {
            self.0.insert(place, one);
            self.0.truncate(WORST_MAX);
        }
    }

    /// Whether a request that took so long would be one of them.
    pub fn wants(&self, response: Nanos) -> bool {
        self.0.len() < WORST_MAX || self.0.last().is_some_and(|last| last.seen.response < response)
    }

    /// They, the slowest first.
    pub fn all(&self) -> &[One] {
        &self.0
    }
}
