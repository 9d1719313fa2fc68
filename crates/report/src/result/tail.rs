//! The slowest requests (`--tail`): what their time went into, what the device did for them, and
//! what was in front of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ByCause, Stages};

/// Most requests that are told one by one.
pub const WORST_MAX: usize = 10;

/// The slowest reads and writes of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Tail {
    /// At least one in a hundred.
    pub slowest_1_percent: Slowest,
    /// At least one in a thousand.
    pub slowest_0_1_percent: Slowest,
    /// The slowest of all, at most [`WORST_MAX`]; of two that took as long, the one served first.
    pub worst: Vec<Worst>,
}

/// The requests that took longest, and all that took as long as the fastest of them to three
/// digits. All but the first two are means per request of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Slowest {
    /// How many.
    pub requests: u64,
    /// The shortest system response time among them, in nanoseconds.
    pub from_ns: u64,
    /// System response time, in nanoseconds.
    pub response_ns_mean: f64,
    /// Time in each stage; sums to `response_ns_mean`.
    pub stages_ns: Stages,
    /// Time that dies (or planes) and channels worked for the request itself, and in the idle gap
    /// before it, in nanoseconds.
    pub work_ns: ByCause<f64>,
    /// Pages read likewise.
    pub reads: ByCause<f64>,
    /// Pages programmed likewise.
    pub programs: ByCause<f64>,
    /// Blocks erased likewise.
    pub erases: ByCause<f64>,
    /// Look-ups of the cached map that missed, likewise.
    pub map_misses: f64,
    /// Full merges likewise.
    pub full_merges: f64,
    /// Data blocks that they rebuilt.
    pub merged_data_blocks: f64,
    /// What was in front of the request.
    pub ahead: Ahead<f64>,
}

/// Requests that the device took before another one and was not done with when that one arrived,
/// the work that they caused and that went on behind them included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "Ahead_of_{T}")]
pub struct Ahead<T: Default> {
    /// How many.
    pub requests: T,
    /// Time that dies (or planes) and channels worked for them, in nanoseconds; all of it, what
    /// was done by then included.
    pub work_ns: ByCause<T>,
}

/// One slow request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Worst {
    /// Place among the measured requests, from 0, in order of arrival, as in `--probe`.
    pub index: u64,
    /// Arrival, in nanoseconds.
    pub arrival_ns: u64,
    /// `read` or `write`.
    pub op: String,
    /// First sector.
    pub first_sector: u64,
    /// Sectors.
    pub sectors: u64,
    /// System response time.
    pub system_ns: u64,
    /// Time in each stage; sums to `system_ns`.
    pub stages_ns: Stages<u64>,
    /// Time that dies (or planes) and channels worked for it and in the idle gap before it, in
    /// nanoseconds.
    pub work_ns: ByCause<u64>,
    /// Pages read likewise.
    pub reads: ByCause<u64>,
    /// Pages programmed likewise.
    pub programs: ByCause<u64>,
    /// Blocks erased likewise.
    pub erases: ByCause<u64>,
    /// Look-ups of the cached map that missed, likewise.
    pub map_misses: u64,
    /// Full merges likewise.
    pub full_merges: u64,
    /// Data blocks that they rebuilt.
    pub merged_data_blocks: u64,
    /// What was in front of it.
    pub ahead: Ahead<u64>,
}
