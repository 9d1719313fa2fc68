//! What requests write: a share of them a value out of few, the rest what nobody wrote before.
//!
//! In fio's words a share of writes is of identical buffers (`dedupe_percentage`); how many different
//! ones those are, and how often each comes, is ours.

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
    /// Values that were written once.
    single: u64,
    seed: u64,
}

impl Values {
    pub(super) fn new(shares: ValueShares, seed: u64) -> Self {
        let sampler = Sampler::new(shares.distribution, shares.values);
        let draws = Stream::new(seed, Purpose::Content);
        Values { shares, sampler, draws, single: 0, seed: mix(seed) }
    }

    /// What the next request writes. A mixed number is that of one value alone: those of a few come
    /// first, those that are written once behind them.
    pub(super) fn draw(&mut self) -> Content {
        let is_repeated = self.draws.below(1_000_000) < self.shares.repeated_millionths;
        let value = match is_repeated {
            true => self.sampler.rank(&mut self.draws),
            false => {
                self.single += 1;
                self.shares.values + self.single
            }
        };
        Content::new(mix(value ^ self.seed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// A share of the draws is of that many values, evenly; every other one is new.
    #[test]
    fn a_share_of_values_comes_again_and_the_rest_never() {
        let shares = ValueShares {
            repeated_millionths: 300_000,
            values: 50,
            distribution: Distribution::Uniform,
        };
        let mut values = Values::new(shares, 9);
        let mut counts = HashMap::new();
        for _ in 0..100_000 {
            *counts.entry(values.draw()).or_insert(0u32) += 1;
        }
        let repeated: Vec<u32> = counts.values().copied().filter(|&count| count > 1).collect();
        assert_eq!(repeated.len(), 50);
        let total: u32 = repeated.iter().sum();
        assert!((29_000..31_000).contains(&total), "{total} of 100,000 draws");
        assert!(repeated.iter().all(|&count| (450..750).contains(&count)), "{repeated:?}");
        assert_eq!(counts.len() as u32, 50 + 100_000 - total);
    }
}
