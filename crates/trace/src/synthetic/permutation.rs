//! A bijection of `0 .. n` that scatters neighbours: a Feistel network with cycle walking
//! (Black and Rogaway 2002). Hot ranks become pages that do not lie beside each other.

use super::random::{Purpose, Stream};
use ftlab_flash::rng::mix;

const ROUNDS: usize = 4;

/// One bijection of `0 .. n`.
#[derive(Clone, Debug)]
pub(crate) struct Permutation {
    size: u64,
    half_bits: u32,
    keys: [u64; ROUNDS],
}

impl Permutation {
    pub(crate) fn new(size: u64, seed: u64) -> Self {
        let mut stream = Stream::new(seed, Purpose::Scatter);
        let bits = u64::BITS - size.saturating_sub(1).leading_zeros();
        Self {
            size,
            half_bits: bits.div_ceil(2).max(1),
            keys: [(); ROUNDS].map(|()| stream.bits()),
        }
    }

    /// Where `index` goes; `index < n`. Fewer than four rounds of walking on average.
    pub(crate) fn apply(&self, index: u64) -> u64 {
        debug_assert!(index < self.size);
        let mask = (1u64 << self.half_bits) - 1;
        let mut value = index;
        loop {
            let (mut left, mut right) = (value >> self.half_bits, value & mask);
            for key in self.keys {
                (left, right) = (right, left ^ (mix(right ^ key) & mask));
            }
            value = left << self.half_bits | right;
            if value < self.size {
                return value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_gives_a_bijection() {
        for size in [1, 2, 3, 5, 16, 17, 1000, 4096, 5000] {
            let permutation = Permutation::new(size, 7);
            let mut seen = vec![false; size as usize];
            for index in 0..size {
                let place = permutation.apply(index) as usize;
                assert!(!seen[place], "size {size}: two indices go to {place}");
                seen[place] = true;
            }
        }
    }

    #[test]
    fn neighbours_are_scattered() {
        let permutation = Permutation::new(1 << 20, 1);
        let near = (0..1000u64)
            .filter(|&index| permutation.apply(index).abs_diff(permutation.apply(index + 1)) < 64)
            .count();
        assert!(near < 5, "{near} of 1000 neighbours stay near");
    }
}
