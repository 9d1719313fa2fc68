//! The footprint over time, in a bounded number of points whatever the length of the trace.

use serde::Serialize;

/// Points kept; when there are as many, every other one goes and the distance doubles.
const POINTS_MAX: usize = 512;

/// What had been touched by then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FootprintPoint {
    /// Arrival of the last request counted, in nanoseconds since the first.
    pub time_ns: u64,
    /// Requests so far, of every kind.
    pub requests: u64,
    /// Distinct pages read or written so far.
    pub footprint_pages: u64,
    /// Distinct pages written so far.
    pub written_footprint_pages: u64,
}

/// Points at equal distances in requests.
pub(super) struct Growth {
    points: Vec<FootprintPoint>,
    /// A power of two.
    distance: u64,
}

impl Growth {
    /// Before the first request.
    pub fn new() -> Self {
        Self { points: Vec::with_capacity(POINTS_MAX), distance: 1 }
    }

    /// Is the point after so many requests kept?
    #[inline]
    pub fn wants(&self, requests: u64) -> bool {
        // A power of two, which saves a division per request.
        requests & (self.distance - 1) == 0
    }

    /// Keeps a point that [`Self::wants`] asked for.
    pub fn keep(&mut self, point: FootprintPoint) {
        self.points.push(point);
        if self.points.len() == POINTS_MAX {
            self.distance *= 2;
            let distance = self.distance;
            self.points.retain(|point| point.requests.is_multiple_of(distance));
        }
    }

    /// All points and the last one.
    pub fn report(&self, last: FootprintPoint) -> Vec<FootprintPoint> {
        let mut points = self.points.clone();
        if last.requests > 0 && points.last() != Some(&last) {
            points.push(last);
        }
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_stay_few_even_and_in_order() {
        for requests in [0u64, 1, 511, 512, 513, 100_000] {
            let mut growth = Growth::new();
            let point = |requests| FootprintPoint { requests, ..FootprintPoint::default() };
            for number in 1..=requests {
                if growth.wants(number) {
                    growth.keep(point(number));
                }
            }
            let points = growth.report(point(requests));
            assert!(points.len() <= POINTS_MAX);
            assert_eq!(points.last().map_or(0, |point| point.requests), requests);
            let distances: Vec<u64> =
                points.windows(2).map(|pair| pair[1].requests - pair[0].requests).collect();
            let inner = distances.len().saturating_sub(1);
            assert!(distances[..inner].windows(2).all(|pair| pair[0] == pair[1]));
            assert!(points.len() >= 256 || points.len() as u64 == requests);
        }
    }
}
