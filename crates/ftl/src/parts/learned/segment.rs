//! One segment: eight bytes that say where some pages of a group are.
//!
//! S and L: offsets of the first page and from it to the last, a byte each. K: the slope, physical
//! pages per logical page, in half precision; its last bit tells an approximate segment from an
//! accurate one. I: the intercept, 4 bytes. The place of offset x is round(K x + I). A group's
//! offsets end at 255, so that the rounding of K moves a page by an eighth at most where K <= 1.
//! An intercept needs the bits of the device's pages; those that are left say fractions of a page.

use super::members::Members;
use zerocopy::FromZeros;

/// Bits behind the point in which slopes are reckoned.
const SLOPE_BITS: u32 = 25;

/// Bits of a half-precision number's fraction.
const HALF_FRACTION: u32 = 10;

/// How intercepts are stored on a device of so many pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// Bits of an intercept behind the point.
    fraction: u32,
}

impl Scale {
    /// Bits that an intercept has for whole pages.
    const WHOLE_BITS: u32 = 30;

    /// Most pages of a device whose places segments can tell.
    pub const PAGES_MAX: u64 = 1 << Self::WHOLE_BITS;

    /// For a device of `pages` pages, at most [`Scale::PAGES_MAX`].
    pub fn new(pages: u64) -> Self {
        assert!(pages <= Self::PAGES_MAX, "{pages} pages are more than an intercept can tell");
        let bits = u64::BITS - pages.leading_zeros();
        Scale { fraction: Self::WHOLE_BITS.saturating_sub(bits).min(8) }
    }

    /// An intercept of so many 2^25ths of a page, as it is stored.
    fn intercept(self, exact: i64) -> i32 {
        let dropped = SLOPE_BITS - self.fraction;
        ((exact + (1 << (dropped - 1))) >> dropped) as i32
    }
}

/// A learned segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromZeros)]
pub struct Segment {
    /// Offset of its first page in the group (S).
    pub start: u8,
    /// From there to its last (L).
    pub length: u8,
    /// Half-precision slope (K), the last bit being the kind.
    slope: u16,
    /// Intercept (I), as [`Scale`] says.
    intercept: i32,
}

/// Which kind of segment: every page exactly where it says, or within a tolerance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Accurate,
    Approximate,
}

/// The half-precision number nearest to numerator / denominator, between 2^-14 and 2, whose last
/// bit says the kind.
fn half(numerator: i64, denominator: i64, kind: Kind) -> u16 {
    let exact = (numerator << SLOPE_BITS) / denominator;
    assert!(exact >= 1 << HALF_FRACTION, "a slope of {numerator}/{denominator} is too small");
    let exponent = exact.ilog2() - HALF_FRACTION;
    let odd = i64::from(kind == Kind::Approximate);
    let below = exact >> exponent;
    let nearest = (below - 1..=below + 2)
        .filter(|candidate| candidate & 1 == odd)
        .min_by_key(|candidate| ((candidate << exponent) - exact).abs())
        .expect("every other number has the bit");
    // One below 1024 would lie in the next range, where it has another last bit.
    let nearest = nearest.max((1 << HALF_FRACTION) + odd);
    let (exponent, nearest) = if nearest >> (HALF_FRACTION + 1) == 0 {
        (exponent, nearest)
    } else {
        (exponent + 1, 1024)
    };
    ((exponent << HALF_FRACTION) as u16) | (nearest as u16 & ((1 << HALF_FRACTION) - 1))
}

impl Segment {
    /// A page by itself, at physical page `ppn`.
    pub fn lone(offset: u8, ppn: u32, scale: Scale) -> Self {
        let intercept = scale.intercept(i64::from(ppn) << SLOPE_BITS);
        Segment { start: offset, length: 0, slope: 0, intercept }
    }

    /// A line of slope `rise / run` through the point (x, y), both in halves.
    pub(super) fn through(
        (start, last): (u8, u8),
        (rise, run): (i64, i64),
        (x, y): (i64, i64),
        (kind, scale): (Kind, Scale),
    ) -> Self {
        let slope = half(rise, run, kind);
        let mut segment = Segment { start, length: last - start, slope, intercept: 0 };
        let exact = (y << SLOPE_BITS) - segment.slope_bits() * x;
        segment.intercept = scale.intercept(exact >> 1);
        segment
    }

    /// Its eight bytes.
    pub(super) fn to_bytes(self) -> [u8; 8] {
        let ([k0, k1], [i0, i1, i2, i3]) = (self.slope.to_le_bytes(), self.intercept.to_le_bytes());
        [self.start, self.length, k0, k1, i0, i1, i2, i3]
    }

    /// The same backwards.
    #[inline]
    pub(super) fn of_words([start, length, k0, k1]: [u8; 4], intercept: [u8; 4]) -> Self {
        let slope = u16::from_le_bytes([k0, k1]);
        Segment { start, length, slope, intercept: i32::from_le_bytes(intercept) }
    }

    /// Physical pages per logical page, in 2^25ths.
    fn slope_bits(self) -> i64 {
        if self.slope == 0 {
            return 0;
        }
        let (exponent, fraction) = (self.slope >> HALF_FRACTION, self.slope & 1023);
        (1024 + i64::from(fraction)) << exponent
    }

    /// Slope and intercept, for those who look at them.
    pub fn line(self, scale: Scale) -> (f64, f64) {
        let intercept = f64::from(self.intercept) / f64::from(1u32 << scale.fraction);
        (self.slope_bits() as f64 / f64::from(1u32 << SLOPE_BITS), intercept)
    }

    /// Offset of its last page.
    #[inline]
    pub fn last(self) -> u8 {
        self.start + self.length
    }

    /// Whether it says of every page exactly where it is.
    #[inline]
    pub fn is_accurate(self) -> bool {
        self.slope & 1 == 0
    }

    /// Whether it is of one page that it tells exactly.
    #[inline]
    pub fn is_lone(self) -> bool {
        self.length == 0 && self.is_accurate()
    }

    /// Of an accurate one: from a page to the next, round(1 / K).
    #[inline]
    pub fn stride(self) -> u32 {
        let slope = self.slope_bits();
        if slope == 0 {
            return 1;
        }
        (((1 << SLOPE_BITS) + slope / 2) / slope) as u32
    }

    /// Where it says that a page is.
    #[inline]
    pub fn predict(self, offset: u8, scale: Scale) -> i64 {
        let intercept = i64::from(self.intercept) << (SLOPE_BITS - scale.fraction);
        let exact = self.slope_bits() * i64::from(offset) + intercept;
        (exact + (1 << (SLOPE_BITS - 1))) >> SLOPE_BITS
    }

    /// Whether the pages between its ends are apart from those of another one's.
    #[inline]
    pub(super) fn is_apart(self, other: Segment) -> bool {
        self.last() < other.start || other.last() < self.start
    }

    /// Pages of an accurate one.
    pub(super) fn strided(self) -> Members {
        Members::every(self.start, self.last(), self.stride())
    }

    /// The same line between other ends.
    #[must_use]
    pub(super) fn between(self, start: u8, last: u8) -> Self {
        Segment { start, length: last - start, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Strides of accurate segments come back out of their slopes, and every page is where it was.
    #[test]
    fn every_stride_survives_half_precision() {
        for scale in [Scale::new(1 << 12), Scale::new(1 << 26)] {
            for stride in 1..=255u32 {
                let count = 255 / stride;
                let ends = (0, (count * stride) as u8);
                let line = ((1, i64::from(stride)), (0, 2 * 5000));
                let segment = Segment::through(ends, line.0, line.1, (Kind::Accurate, scale));
                assert!(segment.is_accurate());
                assert_eq!(segment.stride(), stride);
                for (page, offset) in segment.strided().iter().enumerate() {
                    assert_eq!(segment.predict(offset, scale), 5000 + page as i64);
                }
                let [start, length, k0, k1, i0, i1, i2, i3] = segment.to_bytes();
                let words = ([start, length, k0, k1], [i0, i1, i2, i3]);
                assert_eq!(Segment::of_words(words.0, words.1), segment);
            }
        }
    }

    #[test]
    fn the_last_bit_of_the_slope_is_the_kind() {
        for (rise, run) in [(1, 1), (1, 2), (2, 3), (1, 255), (5, 11), (255, 256), (511, 512)] {
            let exact = rise as f64 / run as f64;
            for kind in [Kind::Accurate, Kind::Approximate] {
                let scale = Scale::new(1000);
                let segment = Segment::through((0, 9), (rise, run), (0, 0), (kind, scale));
                assert_eq!(segment.is_accurate(), kind == Kind::Accurate);
                let error = (segment.line(scale).0 / exact - 1.0).abs();
                assert!(error <= 1.0 / 1024.0, "{rise}/{run}: {error}");
            }
        }
    }

    #[test]
    fn intercepts_leave_their_spare_bits_to_fractions() {
        assert_eq!(Scale::new(1000).fraction, 8);
        assert_eq!(Scale::new((1 << 26) - 1).fraction, 4);
        assert_eq!(Scale::new((1 << 30) - 1).fraction, 0);
        for pages in [1u32 << 10, 1 << 29] {
            let lone = Segment::lone(77, pages - 1, Scale::new(u64::from(pages)));
            assert_eq!(lone.predict(77, Scale::new(u64::from(pages))), i64::from(pages - 1));
        }
    }

    /// Of two numbers that are as near the lower one; just below a power of two it is that power.
    #[test]
    fn a_slope_is_the_nearest_one_of_its_kind() {
        let slope = |rise, run, kind| {
            let scale = Scale::new(1000);
            Segment::through((0, 9), (rise, run), (0, 0), (kind, scale)).line(scale).0
        };
        assert_eq!(slope(3, 4, Kind::Accurate), 0.75);
        assert_eq!(slope(3, 4, Kind::Approximate), 1535.0 / 2048.0);
        assert_eq!(slope(4095, 4096, Kind::Approximate), 2047.0 / 2048.0);
        assert_eq!(slope(4095, 4096, Kind::Accurate), 1.0);
    }

    /// Of a device of 1000 pages, 256ths of a page.
    #[test]
    fn intercepts_are_rounded() {
        let scale = Scale::new(1000);
        let of = |halves: i64| scale.intercept(halves << (SLOPE_BITS - 9));
        assert_eq!([-2, -1, 0, 1, 2, 3].map(of), [-1, 0, 0, 1, 1, 2]);
        assert_eq!(scale.intercept((1 << (SLOPE_BITS - 9)) - 1), 0);
    }
}
