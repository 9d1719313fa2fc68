//! Single requests under the microscope (`--probe`), as columns: one list per quantity, all of
//! one length.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a probe saw.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Probe {
    /// The first request that was asked for, counted from 0 in order of arrival.
    pub from: u64,
    /// How many were asked for; fewer are there when the workload ended before.
    pub count: u64,
    /// The requests, in order of arrival.
    pub requests: ProbeRequests,
    /// What each part of the device did meanwhile.
    pub timeline: ProbeTimeline,
}

/// The probed requests, an entry per request in every list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ProbeRequests {
    /// Place among the measured requests, from 0, in order of arrival.
    pub index: Vec<u64>,
    /// Arrival, in nanoseconds.
    pub arrival_ns: Vec<u64>,
    /// `read`, `write`, `trim` or `flush`.
    pub op: Vec<String>,
    /// First sector.
    pub first_sector: Vec<u64>,
    /// Sectors.
    pub sectors: Vec<u64>,
    /// System response time.
    pub system_ns: Vec<u64>,
    /// Time in the device.
    pub device_ns: Vec<u64>,
    /// Earlier requests that were not done when it arrived, in driver and device.
    pub queue_depth: Vec<u64>,
    /// Pages read from flash for it and in the idle gap before it.
    pub flash_reads: Vec<u64>,
    /// Pages programmed likewise.
    pub flash_programs: Vec<u64>,
    /// Those of them that the host did not ask for.
    pub gc_page_copies: Vec<u64>,
    /// Blocks erased likewise.
    pub erases: Vec<u64>,
}

/// Pieces of work of the parts of the device, an entry per piece in every list, by time of start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ProbeTimeline {
    /// What was at work: `die 3`, `plane 3`, `channel 0`, `controller`, `ram`, `pcm`.
    pub unit: Vec<String>,
    /// When it began, in nanoseconds on the clock of arrivals.
    pub start_ns: Vec<u64>,
    /// When it ended.
    pub end_ns: Vec<u64>,
    /// `read`, `program`, `erase`, `mark`, `suspend`, `transfer`, `control`, `move` (in
    /// RAM) or `write` (phase-change memory).
    pub work: Vec<String>,
    /// Why, in the words of `flash.reads`.
    pub cause: Vec<String>,
    /// Planes that took part.
    pub planes: Vec<u64>,
    /// Pieces of work that found no room in these lists.
    pub left_out: u64,
}
