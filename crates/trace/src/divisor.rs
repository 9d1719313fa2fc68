//! A number that many others are divided by: nearly always a power of two, for which a shift does,
//! while a processor takes as long for a division as for a dozen other instructions.

/// What is divided by; not 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Divisor {
    by: u64,
    /// Its logarithm, if it is a power of two.
    log2: Option<u32>,
}

impl Divisor {
    /// Of a number that is not 0.
    pub(crate) fn new(by: u64) -> Self {
        assert!(by > 0, "nothing is divided by 0");
        Self { by, log2: by.is_power_of_two().then_some(by.trailing_zeros()) }
    }

    /// The number itself.
    pub(crate) fn get(self) -> u64 {
        self.by
    }

    /// `number` divided by it, rounded down.
    #[inline]
    pub(crate) fn divide(self, number: u64) -> u64 {
        match self.log2 {
            Some(shift) => number >> shift,
            None => number / self.by,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_divides_as_the_operator_does() {
        for by in [1, 2, 3, 512, 1000, 4096, 6000, 1 << 63, u64::MAX] {
            for number in [0, 1, 511, 512, 513, 4096, 1 << 62, u64::MAX] {
                assert_eq!(Divisor::new(by).divide(number), number / by, "{number} by {by}");
            }
        }
    }
}
