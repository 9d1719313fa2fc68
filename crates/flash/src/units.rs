//! Quantities as distinct types: a page number cannot be added to a block number, nor time to
//! either.
//!
//! What this is not: geometry. Which plane a page lies in is `board::nand::geometry`'s business.

use std::fmt;

/// Simulated time or duration in nanoseconds.
pub type Nanos = u64;

/// Bytes of one sector, the unit of every host address.
pub const SECTOR_BYTES: u64 = 512;

macro_rules! number {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The number as an array index.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0)
            }
        }
    };
}

number!(
    /// Logical page number, `0 .. logical pages`.
    Lpn
);
number!(
    /// Physical page number, `0 .. physical pages`; pages of one block are consecutive.
    Ppn
);
number!(
    /// Physical erase block, `0 .. blocks`; blocks of one plane are consecutive.
    BlockId
);
number!(
    /// Plane across the whole device, `0 .. planes`.
    PlaneId
);
number!(
    /// What a page holds, for checking only: the number of the host write that produced it.
    /// 0 means "never written". Compared for equality alone, so it may wrap.
    Tag
);

impl Tag {
    /// What a read hands over instead of a version when the page cannot be read. No host write gets
    /// this number.
    pub const UNREADABLE: Tag = Tag(u32::MAX);
}

/// Zero means "empty" in every large array, so that untouched parts of a big device never become
/// resident: numbers are stored plus one.
#[inline]
pub fn pack(number: Option<u32>) -> u32 {
    number.map_or(0, |n| n + 1)
}

/// Inverse of [`pack`].
#[inline]
pub fn unpack(stored: u32) -> Option<u32> {
    stored.checked_sub(1)
}

/// A vector of zeroes that stays non-resident until it is written.
pub fn zeroed<T: zerocopy::FromZeros>(count: usize) -> Vec<T> {
    T::new_vec_zeroed(count).expect("the address space holds every array of the device")
}

/// Division by a number that is fixed when the device is built: a multiplication instead of a
/// division, exact for every 32-bit dividend. Powers of two have no way of their own: these are three
/// instructions, and so would be a shift and the branch to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divisor {
    divisor: u32,
    /// (2^64 - 1) / divisor, rounded down.
    reciprocal: u64,
}

impl Divisor {
    /// For division by `divisor`, which is not 0.
    pub fn new(divisor: u32) -> Self {
        assert!(divisor > 0, "division by zero");
        Divisor { divisor, reciprocal: u64::MAX / u64::from(divisor) }
    }

    /// The whole quotient.
    #[inline]
    pub fn quotient(self, dividend: u32) -> u32 {
        // Too small by 2^-32 at most, which is less than 1 / divisor: between the quotient, which
        // (dividend + 1) / divisor exceeds by that much at least, and the next whole number.
        let next = u128::from(u64::from(dividend) + 1);
        ((u128::from(self.reciprocal) * next) >> 64) as u32
    }

    /// Quotient and remainder.
    #[inline]
    pub fn both(self, dividend: u32) -> (u32, u32) {
        let quotient = self.quotient(dividend);
        (quotient, dividend - quotient * self.divisor)
    }
}

/// Division of 64-bit numbers by one that is nearly always a power of two, for which a shift does.
#[derive(Clone, Copy, Debug)]
pub struct WideDivisor {
    divisor: u64,
    /// Its logarithm, if it is a power of two.
    shift: Option<u32>,
}

impl WideDivisor {
    /// For division by `divisor`, which is not 0.
    pub fn new(divisor: u64) -> Self {
        assert!(divisor > 0, "division by zero");
        let shift = divisor.is_power_of_two().then_some(divisor.trailing_zeros());
        WideDivisor { divisor, shift }
    }

    /// The number itself.
    #[inline]
    pub fn get(self) -> u64 {
        self.divisor
    }

    /// The whole quotient.
    #[inline]
    pub fn quotient(self, dividend: u64) -> u64 {
        match self.shift {
            Some(shift) => dividend >> shift,
            None => dividend / self.divisor,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_nothing_and_a_number_is_stored_plus_one() {
        assert_eq!([None, Some(0), Some(41)].map(pack), [0, 1, 42]);
        assert_eq!([0, 1, 42].map(unpack), [None, Some(0), Some(41)]);
        assert_eq!(zeroed::<u32>(3), [0, 0, 0]);
    }

    #[test]
    fn wide_division_equals_division() {
        for divisor in [1, 2, 3, 512, 1000, 4096, 6000, 1 << 63, u64::MAX] {
            for dividend in [0, 1, 511, 512, 513, 4096, 1 << 62, u64::MAX] {
                let fixed = WideDivisor::new(divisor);
                let quotient = fixed.quotient(dividend);
                assert_eq!(fixed.get(), divisor);
                assert_eq!(quotient, dividend / divisor, "{dividend} / {divisor}");
            }
        }
    }

    #[test]
    fn fixed_division_equals_division() {
        for divisor in [1, 2, 3, 4, 5, 7, 63, 64, 65, 100, 128, 2112, 65_535, u32::MAX] {
            let fixed = Divisor::new(divisor);
            let edges = (0..50).chain((0..50).map(|i| u32::MAX - i));
            let multiples = (0..20).flat_map(|i| {
                let product = divisor.wrapping_mul(i * 12_345);
                [product.wrapping_sub(1), product, product.wrapping_add(1)]
            });
            for dividend in edges.chain(multiples) {
                let expected = (dividend / divisor, dividend % divisor);
                assert_eq!(fixed.both(dividend), expected, "{dividend} / {divisor}");
            }
        }
    }
}
