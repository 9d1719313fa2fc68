//! Seeded random numbers, one stream per purpose, the same on every platform and in every version.
//!
//! The generator is SplitMix64 (Steele, Lea, Flood 2014): one addition and three mixing steps,
//! more than enough for choosing victims and faults. Adding a purpose never moves another stream.

/// What random numbers are drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Victim choice of garbage collection.
    Victim = 1,
    /// Program and erase failures.
    Fault = 2,
    /// Generated requests in tests and benchmarks.
    Workload = 3,
    /// Reads that need retries, or fail for good.
    ReadFault = 4,
    /// Blocks that are bad from the start.
    FactoryBad = 5,
    /// Entries that sink in a cache.
    Demotion = 6,
    /// Where pages lie that were put onto the flash at once.
    Occupancy = 7,
    /// Pages that a placement policy draws for.
    Placement = 8,
}

/// One stream of random numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rng {
    state: u64,
}

const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// One step of SplitMix64: a bijection of 64 bits.
#[inline]
pub fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(STEP);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Rng {
    /// The stream of `purpose` under `seed`.
    pub fn new(seed: u64, purpose: Purpose) -> Self {
        let mut rng = Rng { state: seed ^ (purpose as u64).wrapping_mul(0xD1B5_4A32_D192_ED03) };
        rng.state = rng.next_u64();
        rng
    }

    /// Uniform over all 64-bit numbers.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let drawn = mix(self.state);
        self.state = self.state.wrapping_add(STEP);
        drawn
    }

    /// Uniform in `0 .. bound` by multiplication; the bias is below 2^-32 for 32-bit bounds.
    #[inline]
    pub fn below(&mut self, bound: u32) -> u32 {
        debug_assert!(bound > 0);
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn streams_differ_by_purpose_and_repeat_by_seed() {
        let draw = |seed, purpose| Rng::new(seed, purpose).next_u64();
        assert_eq!(draw(7, Purpose::Victim), draw(7, Purpose::Victim));
        assert_ne!(draw(7, Purpose::Victim), draw(7, Purpose::Fault));
        assert_ne!(draw(7, Purpose::Victim), draw(8, Purpose::Victim));
    }

    /// Numbers that implementations of SplitMix64 are compared by, of the states 0 and 1234567.
    #[test]
    fn numbers_are_those_of_split_mix_64() {
        let drawn = |state| {
            let mut rng = Rng { state };
            [0; 3].map(|_| rng.next_u64())
        };
        let of_0 = [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4, 0x06C4_5D18_8009_454F];
        assert_eq!(drawn(0), of_0);
        let of_1234567 =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(drawn(1_234_567), of_1234567);
    }

    #[test]
    fn every_bit_of_a_seed_makes_another_stream() {
        for purpose in [Purpose::Victim, Purpose::Fault, Purpose::Placement] {
            let streams: BTreeSet<u64> =
                (0..64).map(|bit| Rng::new(1 << bit, purpose).state).collect();
            assert_eq!(streams.len(), 64);
            assert!(!streams.contains(&Rng::new(0, purpose).state));
        }
    }

    #[test]
    fn below_is_uniform_enough() {
        let mut rng = Rng::new(1, Purpose::Workload);
        let mut counts = [0u32; 10];
        for _ in 0..100_000 {
            counts[rng.below(10) as usize] += 1;
        }
        assert!(counts.iter().all(|c| (9_500..10_500).contains(c)), "{counts:?}");
    }
}
