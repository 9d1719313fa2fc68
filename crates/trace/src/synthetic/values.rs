//! What requests write: a share of them a value out of few; the rest say nothing, which is what
//! nobody wrote before, in whatever part or pass.
//!
//! In fio's words a share of writes is of identical buffers (`dedupe_percentage`); how many
//! different ones those are, and how often each comes, is ours.

use ftlab_flash::request::Content;

use super::distribution::{Distribution, Sampler};
use super::random::{Purpose, Stream};
use ftlab_flash::rng::mix;

/// How much of what is written is the same.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueShares {
    /// Share of writes whose value is one of a few, in millionths.
    pub repeated_millionths: u64,
    /// How many those are.
    pub values: u64,
    /// How often each of them is written.
    pub distribution: Distribution,
}

/// The values, one after another.
pub(super) struct Values {
    shares: ValueShares,
    sampler: Sampler,
    draws: Stream,
    seed: u64,
}

impl Values {
    pub(super) fn new(shares: ValueShares, seed: u64) -> Self {
        let sampler = Sampler::new(shares.distribution, shares.values);
        let draws = Stream::new(seed, Purpose::Content);
        Values { shares, sampler, draws, seed: mix(seed) }
    }

    /// What the next request writes, if that is one of the few.
    pub(super) fn draw(&mut self) -> Option<Content> {
        let is_repeated = self.draws.below(1_000_000) < self.shares.repeated_millionths;
        let value = is_repeated.then(|| self.sampler.rank(&mut self.draws))?;
        Some(Content::new(mix(value ^ self.seed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// A share of the draws is of that many values, evenly.
    #[test]
    fn a_share_of_draws_is_of_few_values() {
        let shares = ValueShares {
            repeated_millionths: 300_000,
            values: 50,
            distribution: Distribution::Uniform,
        };
        let mut values = Values::new(shares, 9);
        let mut counts = HashMap::new();
        for value in (0..100_000).filter_map(|_| values.draw()) {
            *counts.entry(value).or_insert(0u32) += 1;
        }
        let total: u32 = counts.values().sum();
        assert_eq!(counts.len(), 50);
        assert!((29_000..31_000).contains(&total), "{total} of 100,000 draws");
        assert!(counts.values().all(|count| (450..750).contains(count)), "{counts:?}");
    }
}
