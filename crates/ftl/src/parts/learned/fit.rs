//! Greedy piecewise linear regression: segments through the pages of a run, in one pass.
//!
//! The first two points, each with a tolerance up and down, give an apex (halfway between them) and
//! a cone of slopes. Each further point must lie within the cone, and narrows it by its own
//! tolerance; one outside begins the next segment. The slope is the middle of the cone, the
//! intercept goes through the apex. With tolerance 0 the cone is a line. Every point is tried
//! against the segment as it is stored, rounded: what fails is left to the next one.

use super::members::Members;
use super::segment::{Kind, Scale, Segment};

/// A page of a group and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// Its offset in the group.
    pub offset: u8,
    /// Its physical page.
    pub ppn: u32,
}

/// How far a segment may be off, and where: what it says lies among the pages of the run that was
/// written with it (`first` to `last`), so that the out-of-band area of the page it says can name
/// the right one.
#[derive(Clone, Copy, Debug)]
pub struct Tolerance {
    /// Pages (gamma).
    pub gamma: u32,
    /// First physical page of the run.
    pub first: u32,
    /// Its last.
    pub last: u32,
}

/// Learns the segments of some pages: upwards by offset, in consecutive physical pages. `found`
/// gets each segment with the pages that it was learned of.
pub fn learn(
    points: &[Point],
    tolerance: Tolerance,
    scale: Scale,
    mut found: impl FnMut(Segment, Members),
) {
    let mut left = points;
    while !left.is_empty() {
        let (segment, count) = first_segment(left, tolerance, scale);
        let (here, behind) = left.split_at(count);
        let mut members = Members::NONE;
        here.iter().for_each(|point| members.insert(point.offset));
        found(segment, members);
        left = behind;
    }
}

/// The segment of as many of the first points as one takes, and how many those are.
fn first_segment(points: &[Point], tolerance: Tolerance, scale: Scale) -> (Segment, usize) {
    let mut count = Cone::reach(points, tolerance.gamma);
    while count > 1 {
        let here = &points[..count];
        let mut best = 1;
        for kind in [Kind::Accurate, Kind::Approximate] {
            let Some(segment) = fit(here, tolerance.gamma, (kind, scale)) else { continue };
            let right = here
                .iter()
                .take_while(|point| is_right(segment, point, (kind, tolerance), scale))
                .count();
            if right == count {
                return (segment, count);
            }
            best = best.max(right);
        }
        count = best;
    }
    (Segment::lone(points[0].offset, points[0].ppn, scale), 1)
}

/// The line through some points, as a segment of this kind is stored; none if they are no pages of
/// one stride and it is to be accurate, or nothing may be off and it is not.
fn fit(points: &[Point], gamma: u32, (kind, scale): (Kind, Scale)) -> Option<Segment> {
    let (first, last) = (points[0], points[points.len() - 1]);
    let stride = points[1].offset - first.offset;
    let even = points.windows(2).all(|pair| pair[1].offset - pair[0].offset == stride);
    let ends = (first.offset, last.offset);
    let apex = Cone::apex(points);
    match kind {
        Kind::Accurate if even => {
            Some(Segment::through(ends, (1, i64::from(stride)), apex, (kind, scale)))
        }
        Kind::Approximate if gamma > 0 => {
            let middle = Cone::around(points, gamma).middle();
            Some(Segment::through(ends, middle, apex, (kind, scale)))
        }
        Kind::Accurate | Kind::Approximate => None,
    }
}

fn is_right(
    segment: Segment,
    point: &Point,
    (kind, tolerance): (Kind, Tolerance),
    scale: Scale,
) -> bool {
    let said = segment.predict(point.offset, scale);
    let allowed = if kind == Kind::Accurate { 0 } else { i64::from(tolerance.gamma) };
    let is_member = kind == Kind::Approximate || segment.strided().has(point.offset);
    is_member
        && (said - i64::from(point.ppn)).abs() <= allowed
        && (i64::from(tolerance.first)..=i64::from(tolerance.last)).contains(&said)
}

/// Slopes that keep within the tolerance of all points so far, as fractions with positive
/// denominators.
#[derive(Clone, Copy, Debug)]
struct Cone {
    low: (i64, i64),
    high: (i64, i64),
}

fn is_less(a: (i64, i64), b: (i64, i64)) -> bool {
    a.0 * b.1 < b.0 * a.1
}

impl Cone {
    /// Halfway between the first two points, in halves.
    fn apex(points: &[Point]) -> (i64, i64) {
        let sum = |of: fn(&Point) -> i64| of(&points[0]) + of(&points[1]);
        (sum(|point| i64::from(point.offset)), sum(|point| i64::from(point.ppn)))
    }

    /// What a point leaves of the slopes through the apex.
    fn of(point: &Point, (x, y): (i64, i64), gamma: u32) -> Self {
        let run = 2 * i64::from(point.offset) - x;
        let (rise, slack) = (2 * i64::from(point.ppn) - y, 2 * i64::from(gamma));
        Cone { low: (rise - slack, run), high: (rise + slack, run) }
    }

    fn narrowed(self, by: Cone) -> Self {
        Cone {
            low: if is_less(self.low, by.low) { by.low } else { self.low },
            high: if is_less(by.high, self.high) { by.high } else { self.high },
        }
    }

    /// Whether a point lies within, whatever its own tolerance.
    fn has(self, point: &Point, apex: (i64, i64)) -> bool {
        let seen = Cone::of(point, apex, 0).low;
        !is_less(seen, self.low) && !is_less(self.high, seen)
    }

    /// The cone that the first two points open. Its slopes go from one point's upper end to the
    /// other's lower one and the other way round: those of the second point seen from the apex.
    fn opened(points: &[Point], gamma: u32) -> Self {
        Cone::of(&points[1], Self::apex(points), gamma)
    }

    /// How many of the first points are within one cone.
    fn reach(points: &[Point], gamma: u32) -> usize {
        if points.len() < 2 {
            return points.len();
        }
        let (apex, mut cone) = (Self::apex(points), Self::opened(points, gamma));
        for (index, point) in points.iter().enumerate().skip(2) {
            if !cone.has(point, apex) {
                return index;
            }
            cone = cone.narrowed(Cone::of(point, apex, gamma));
        }
        points.len()
    }

    /// The cone of points that are within one.
    fn around(points: &[Point], gamma: u32) -> Self {
        let (apex, opened) = (Self::apex(points), Self::opened(points, gamma));
        points[2..].iter().fold(opened, |cone, point| cone.narrowed(Cone::of(point, apex, gamma)))
    }

    /// Halfway between its slopes, which is above 0: physical pages rise with logical ones, so that
    /// each point's upper slope is further from 0 than any lower one below it.
    fn middle(self) -> (i64, i64) {
        let (low, high) = (self.low, self.high);
        (low.0 * high.1 + high.0 * low.1, 2 * low.1 * high.1)
    }
}

#[cfg(test)]
mod tests;
