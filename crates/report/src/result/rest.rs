//! Whether a device had come to rest: before the measured part, and in it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether the device had settled when the measurement began, and how it went on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SteadyState {
    /// Null when nobody examined it.
    pub reached: Option<bool>,
    /// Rounds of preconditioning until then.
    pub rounds: u64,
    /// Whether garbage collection or a merge ran during the measured part.
    pub gc_ran: bool,
    /// The verdict in words.
    pub explanation: String,
    /// The rounds in numbers; the key is absent when nobody examined it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settling: Option<Settling>,
    /// Mean response time of all requests over the second half of the measured part, in
    /// nanoseconds; the key is absent where the run has too few windows to tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<Trend>,
    /// Pages programmed for anything but the host's own data per page written by the host, in the
    /// same way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra_programs: Option<Trend>,
}

/// How a value went over the second half of the measured part, in ten parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Trend {
    /// Where the best-fit line begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// What it rises (above 0) or falls (below), as a share of the average.
    pub change: f64,
    /// Whether that is more than chance: a tenth or more, and parts in order.
    pub trends: bool,
}

/// The last rounds of preconditioning by random writes, and all of them as they went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Settling {
    /// Pages that a round wrote.
    pub pages_per_round: u64,
    /// Mean of the last five rounds, in pages per simulated second.
    pub average: f64,
    /// Their greatest less their least value, as a share of `average`.
    pub range: f64,
    /// Slope of their best-fit line, as a share of `average` per round; below 0: the device slows
    /// down.
    pub slope: f64,
    /// What the line rises or falls over the five rounds, as a share of `average`, without sign.
    pub excursion: f64,
    /// Pages per simulated second of each round, from the first on.
    pub pages_per_second: Vec<f64>,
}
