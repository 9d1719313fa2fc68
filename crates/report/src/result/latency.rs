//! Latency figures of one run: summaries with percentiles, and points of the cumulative curve.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One value for all requests, one for reads, one for writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "ByDirection_of_{T}")]
pub struct ByDirection<T: Default> {
    /// Reads and writes together.
    pub all: T,
    /// Reads alone.
    pub read: T,
    /// Writes alone.
    pub write: T,
}

/// The three latencies of a request: system = queue + device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LatencyParts {
    /// From arrival to completion.
    pub system: LatencySummary,
    /// From admission by the device to completion.
    pub device: LatencySummary,
    /// From arrival to admission.
    pub queue: LatencySummary,
}

/// Summary of one latency, in nanoseconds; all zero when no request was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LatencySummary {
    /// Requests measured.
    #[serde(rename = "N")]
    pub count: u64,
    /// Shortest, in nanoseconds.
    pub min: u64,
    /// Longest, in nanoseconds.
    pub max: u64,
    /// Arithmetic mean, in nanoseconds.
    pub mean: f64,
    /// Standard deviation, in nanoseconds.
    pub stddev: f64,
    /// Percentiles, in nanoseconds.
    pub percentile: Percentiles,
}

/// Percentiles of one latency, in nanoseconds; the keys are fio's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Percentiles {
    /// The median.
    #[serde(rename = "50.000000")]
    pub p50: u64,
    /// Nine requests of ten were not slower.
    #[serde(rename = "90.000000")]
    pub p90: u64,
    /// 95 of 100.
    #[serde(rename = "95.000000")]
    pub p95: u64,
    /// 99 of 100.
    #[serde(rename = "99.000000")]
    pub p99: u64,
    /// 999 of 1,000.
    #[serde(rename = "99.900000")]
    pub p99_9: u64,
    /// 9,999 of 10,000.
    #[serde(rename = "99.990000")]
    pub p99_99: u64,
}

/// One point of a cumulative curve: `[latency in nanoseconds, fraction of requests not slower]`.
pub type CdfPoint = (u64, f64);

/// Most points that one cumulative curve should hold: enough for a smooth curve on a wide screen.
pub const CDF_POINTS_MAX: usize = 200;

/// Cumulative curves of the system response time; points ascend in both coordinates.
pub type Cdf = ByDirection<Vec<CdfPoint>>;

/// Latency summaries of one run.
pub type Latency = ByDirection<LatencyParts>;

/// Curves of what is slow: points `[latency in nanoseconds, fraction of requests slower]`, at most
/// [`CCDF_POINTS_PER_DECADE`] for every tenfold fall of the fraction; the last one has none slower.
pub type Ccdf = ByDirection<Vec<CdfPoint>>;

/// Most points of a curve of what is slow between a fraction and a tenth of it.
pub const CCDF_POINTS_PER_DECADE: usize = 20;

/// Response times of every window of the series, as columns: lists as long as the series.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WindowLatency {
    /// Requests completed.
    #[serde(rename = "N")]
    pub count: Vec<u64>,
    /// Arithmetic mean, in nanoseconds; null without requests.
    pub mean: Vec<Option<f64>>,
    /// Longest, in nanoseconds; null without requests.
    pub max: Vec<Option<u64>>,
    /// Percentiles, in nanoseconds, to within 3 %: the middle of a bucket a sixteenth of an octave
    /// wide; null without requests.
    pub percentile: WindowPercentiles,
}

/// Percentiles of every window; the keys are fio's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WindowPercentiles {
    /// The median.
    #[serde(rename = "50.000000")]
    pub p50: Vec<Option<u64>>,
    /// 99 of 100.
    #[serde(rename = "99.000000")]
    pub p99: Vec<Option<u64>>,
    /// 999 of 1,000.
    #[serde(rename = "99.900000")]
    pub p99_9: Vec<Option<u64>>,
}

/// Response times over simulated time; empty lists in results of versions before.
pub type SeriesLatency = ByDirection<WindowLatency>;
