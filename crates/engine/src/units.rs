//! Quantities as distinct types: a page number cannot be added to a block number, nor time to either.
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
