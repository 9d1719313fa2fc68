//! Windows over simulated time: what was counted in each, and the percentiles of its times.

use std::collections::BTreeMap;

use ftlab_engine::meter::{Level, Meter, Responses, Window as Counted};
use ftlab_engine::request::Op;
use ftlab_engine::units::Nanos;

use crate::result::{SeriesLatency, WINDOWS_MAX, Window, WindowLatency, WindowPercentiles};

fn levels(counted: &Counted) -> BTreeMap<String, u64> {
    let told = |&level: &Level| Some((level.name().to_owned(), counted.level(level)?));
    Level::ALL.iter().filter_map(told).collect()
}

pub(super) fn series(meter: &Meter) -> Vec<Window> {
    let windows = meter.windows();
    let width = windows.width();
    let window = |(index, counted): (usize, &Counted)| Window {
        t_start_s: (index as u64 * width) as f64 / 1e9,
        t_end_s: ((index as u64 + 1) * width) as f64 / 1e9,
        requests: counted.all().requests,
        response_ns_mean: mean(&counted.all()).unwrap_or(0.0),
        response_ns_max: counted.all().max,
        host_pages_written: counted.host_pages_written,
        gc_page_copies: counted.overhead_programs,
        erases: counted.erases,
        free_blocks_min: counted.free_blocks_min.map(u64::from),
        levels: levels(counted),
    };
    windows.all().iter().take(WINDOWS_MAX).enumerate().map(window).collect()
}

fn mean(responses: &Responses) -> Option<f64> {
    let Responses { requests, sum, .. } = *responses;
    (requests > 0).then(|| sum as f64 / requests as f64)
}

/// Reads and writes of every window, apart and together.
pub(super) fn latency(meter: &Meter) -> SeriesLatency {
    let windows = meter.windows();
    let mut series = SeriesLatency::default();
    for (index, counted) in windows.all().iter().take(WINDOWS_MAX).enumerate() {
        let (reads, writes) = (counted.reads(), counted.writes());
        let buckets = |op| windows.responses(op, index);
        let mut both: Vec<Bucket> = buckets(Op::Read).chain(buckets(Op::Write)).collect();
        both.sort_unstable();
        push(&mut series.all, &reads.plus(&writes), &both);
        push(&mut series.read, &reads, &buckets(Op::Read).collect::<Vec<_>>());
        push(&mut series.write, &writes, &buckets(Op::Write).collect::<Vec<_>>());
    }
    series
}

/// Shortest and longest time of a bucket, and how many fell into it.
type Bucket = (Nanos, Nanos, u64);

fn push(columns: &mut WindowLatency, responses: &Responses, buckets: &[Bucket]) {
    let WindowPercentiles { p50, p99, p99_9 } = &mut columns.percentile;
    for (column, percent) in [(p50, 50.0), (p99, 99.0), (p99_9, 99.9)] {
        column.push(percentile(responses, buckets, percent));
    }
    columns.count.push(responses.requests);
    columns.mean.push(mean(responses));
    columns.max.push((responses.requests > 0).then_some(responses.max));
}

/// The time that `percent` of all do not exceed: the middle of its bucket; the longest, which is
/// known exactly, where it is the last one.
fn percentile(responses: &Responses, buckets: &[Bucket], percent: f64) -> Option<Nanos> {
    let all = responses.requests;
    let rank = (percent / 100.0 * all as f64).ceil() as u64;
    if rank >= all {
        return (all > 0).then_some(responses.max);
    }
    let mut seen = 0;
    let (shortest, longest, _) = buckets.iter().find(|(_, _, count)| {
        seen += count;
        seen >= rank
    })?;
    Some(shortest.midpoint(*longest).min(responses.max))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1,000 requests: 900 of 16 ns, 95 of 100 to 103 ns, five of up to 5,000 ns.
    #[test]
    fn percentiles_of_a_window_are_those_of_its_times() {
        let responses = Responses { requests: 1_000, sum: 0, max: 5_000 };
        let buckets = [(16, 16, 900), (100, 103, 95), (4_864, 5_119, 5)];
        let at = |percent| percentile(&responses, &buckets, percent);
        assert_eq!(
            [at(50.0), at(90.0), at(90.1), at(99.5)].map(Option::unwrap),
            [16, 16, 101, 101]
        );
        assert_eq!(at(99.6), Some(4_991), "the middle of the bucket");
        assert_eq!(at(100.0), Some(5_000), "the longest exactly");
        assert_eq!(percentile(&Responses::default(), &[], 50.0), None);
    }

    #[test]
    fn the_middle_of_a_bucket_is_never_above_the_longest_time() {
        let responses = Responses { requests: 2, sum: 0, max: 4_900 };
        assert_eq!(percentile(&responses, &[(4_864, 5_119, 2)], 50.0), Some(4_900));
    }
}
