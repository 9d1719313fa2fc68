//! Seeded streams of random numbers, one per purpose, so that no purpose disturbs another.

use ftlab_flash::rng::mix;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;

/// What a stream is for. The numbers are part of the meaning of a seed: never change them.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    Address = 1,
    Operation = 2,
    Size = 3,
    Arrival = 4,
    Scatter = 5,
    Stack = 6,
    Choice = 7,
    Content = 8,
}

/// PCG-64 (XSL-RR 128/64).
pub(crate) struct Stream(Pcg64);

impl Stream {
    pub(crate) fn new(seed: u64, purpose: Purpose) -> Self {
        let low = mix(seed ^ mix(purpose as u64));
        let state = u128::from(mix(low)) << 64 | u128::from(low);
        Self(Pcg64::new(state, purpose as u128))
    }

    /// 64 uniform bits.
    #[inline]
    pub(crate) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in `0 .. bound`, by the high half of a product (bias below bound / 2^64).
    #[inline]
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// Uniform in `[0, 1)`, 53 bits.
    #[inline]
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }
}
