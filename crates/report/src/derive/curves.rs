//! How response times are spread: the cumulative curve, and the same seen from its slow end.

use ftlab_engine::meter::{LatencyStatistics, Meter};

use crate::result::{ByDirection, CCDF_POINTS_PER_DECADE, CDF_POINTS_MAX, CdfPoint};

/// A curve of the system response times of all, of reads, of writes.
pub(super) fn of_system_times(
    meter: &Meter,
    curve: fn(&LatencyStatistics) -> Vec<CdfPoint>,
) -> ByDirection<Vec<CdfPoint>> {
    let times = meter.latency();
    ByDirection {
        all: curve(&times.all()[0]),
        read: curve(&times.read()[0]),
        write: curve(&times.write()[0]),
    }
}

/// The cumulative curve, thinned to points that are evenly spread over its fractions; the first
/// and the last point always stay.
pub(super) fn cumulative(times: &LatencyStatistics) -> Vec<CdfPoint> {
    let count = times.count();
    let all = times.cumulative();
    let step = 1.0 / (CDF_POINTS_MAX - 1) as f64;
    let mut points: Vec<CdfPoint> = Vec::with_capacity(CDF_POINTS_MAX);
    for (index, (nanos, seen)) in all.iter().enumerate() {
        let fraction = *seen as f64 / count as f64;
        let far = points.last().is_none_or(|(_, before)| fraction - before >= step);
        if far || index + 1 == all.len() {
            points.push((*nanos, fraction));
        }
    }
    if points.len() > CDF_POINTS_MAX {
        points.remove(points.len() - 2);
    }
    points
}

/// The share of requests that were slower than a time, thinned to points that are evenly spread
/// over its decades. The first point, and the last two, always stay: nobody was slower than the
/// last.
pub(super) fn slower(times: &LatencyStatistics) -> Vec<CdfPoint> {
    let count = times.count();
    let all = times.cumulative();
    let step = 0.1_f64.powf(1.0 / CCDF_POINTS_PER_DECADE as f64);
    let mut points: Vec<CdfPoint> = Vec::new();
    for (index, (nanos, seen)) in all.iter().enumerate() {
        let fraction = (count - seen) as f64 / count as f64;
        let far = points.last().is_none_or(|(_, before)| fraction <= before * step);
        if far || index + 2 >= all.len() {
            points.push((*nanos, fraction));
        }
    }
    points
}
