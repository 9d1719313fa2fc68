//! Buckets of times as those of hdrhistogram: each octave has equally many, below the first one a
//! time is a bucket of its own.

use crate::units::Nanos;

/// The bucket of a time: its leading bit says how far the others are shifted. An octave has
/// 2^`bits` buckets.
#[inline]
pub(super) fn bucket(bits: u32, time: Nanos) -> usize {
    let shift = (time | 1 << bits).ilog2() - bits;
    ((shift as usize) << bits) + (time >> shift) as usize
}

/// Shortest and longest time of a bucket, ns.
pub(super) fn bounds(bits: u32, bucket: usize) -> (Nanos, Nanos) {
    let shift = (bucket >> bits).saturating_sub(1);
    let shortest = ((bucket - (shift << bits)) as Nanos) << shift;
    (shortest, shortest + (1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_follow_each_other_and_hold_their_times() {
        for bits in [4, 10] {
            let mut next = 0;
            for index in 0..41 << bits {
                let (shortest, longest) = bounds(bits, index);
                assert_eq!(shortest, next, "bucket {index} begins where the one before ended");
                assert_eq!((bucket(bits, shortest), bucket(bits, longest)), (index, index));
                assert!(longest - shortest <= shortest >> bits, "{shortest}..={longest}");
                next = longest + 1;
            }
            assert_eq!(next, 1 << (bits + 40));
        }
    }
}
