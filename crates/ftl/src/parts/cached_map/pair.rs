//! What a collection notes of a page in one number.

use ftlab_flash::units::{Lpn, Ppn};

/// Two numbers as one, the first above the second: pairs are put into order with one comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pair(u64);

impl Pair {
    #[inline]
    pub(super) fn new(first: u32, second: u32) -> Self {
        Pair(u64::from(first) << 32 | u64::from(second))
    }

    #[inline]
    pub(super) fn first(self) -> u32 {
        (self.0 >> 32) as u32
    }

    #[inline]
    pub(super) fn second(self) -> u32 {
        self.0 as u32
    }

    /// As a page that was moved: its logical number, and where it is.
    #[inline]
    pub(super) fn page(self) -> (Lpn, Ppn) {
        (Lpn(self.first()), Ppn(self.second()))
    }
}
