//! The result of one run, exactly as result files carry it (INTERFACE.md, section Result).
//!
//! Field order is key order. Sections of parts that a run does not have (a write buffer, PCM) are
//! zero rather than absent, so that keys are stable; a ratio whose divisor is zero is null, never
//! a made-up number. What the report needs beyond the interface comes last: curves and series.

mod by_cause;
mod detail;
mod latency;
mod probe;
mod rest;
mod tail;

pub use by_cause::{ByCause, CAUSE_NAMES, CAUSES};
pub use detail::{
    Buffer, DataClass, DataGroup, DramEnergy, Energy, Erases, ErasesByMode, Flash, FlashEnergy,
    FlashTime, Host, Inherited, Made, MapCache, Merges, OwnPolicy, PcmEnergy, Phase, Precondition,
    RamStructure, RamUse, ServiceTime, Split, Stages, Stream, WEAR_BUCKETS_MAX, Wall, Wear,
    WearBucket, Window, Workload, WornOut,
};
pub use latency::{
    ByDirection, CCDF_POINTS_PER_DECADE, CDF_POINTS_MAX, Ccdf, Cdf, CdfPoint, Latency,
    LatencyParts, LatencySummary, Percentiles, SeriesLatency, WindowLatency, WindowPercentiles,
};
pub use probe::{Probe, ProbeRequests, ProbeTimeline};
pub use rest::{Settling, SteadyState, Trend};
pub use tail::{Ahead, Slowest, Tail, WORST_MAX, Worst};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Name and version of the format of result files.
pub const SCHEMA: &str = "ftlab/1";

/// Most windows that `series` should hold.
pub const WINDOWS_MAX: usize = 500;

/// The result of one run of one scheme.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RunResult {
    /// Always `ftlab/1`.
    pub schema: String,
    /// Version of ftlab that made the run.
    pub version: String,
    /// By what the run was made.
    pub made: Made,
    /// Name of the scheme.
    pub scheme: String,
    /// Name of the device.
    pub device: String,
    /// What was run.
    pub workload: Workload,
    /// The effective configuration, nested as in configuration files.
    pub config: Map<String, Value>,
    /// Seed of every random stream.
    pub seed: u64,
    /// How the device was prepared.
    pub precondition: Precondition,
    /// Whether it had settled.
    pub steady_state: SteadyState,
    /// Full sentences that a reader must see beside the numbers.
    pub warnings: Vec<String>,
    /// What the host asked for.
    pub host: Host,
    /// Flash operations.
    pub flash: Flash,
    /// Pages programmed per logical page written by the host; null without host writes.
    pub waf: Option<f64>,
    /// The share of each cause in `waf`; null without host writes.
    pub waf_by_cause: ByCause<Option<f64>>,
    /// Merges by kind.
    pub merges: Merges,
    /// The cached part of the map.
    pub map_cache: MapCache,
    /// The host write buffer.
    pub buffer: Buffer,
    /// Latencies, in nanoseconds.
    pub latency_ns: Latency,
    /// Where the device's time went, in nanoseconds.
    pub service_time_ns: ServiceTime,
    /// Mean time per request by stage, in nanoseconds.
    pub stages_ns: Stages,
    /// What each stream of the host got; empty where the host has a single one.
    pub streams: Vec<Stream>,
    /// Requests completed per simulated second.
    pub iops: f64,
    /// Host bytes moved per simulated second.
    pub bandwidth_bytes_per_s: f64,
    /// Simulated seconds from the first arrival to the last completion.
    pub simulated_s: f64,
    /// Energy, in microjoules.
    pub energy_uj: Energy,
    /// Memory, in bytes.
    pub ram_bytes: RamUse,
    /// Wear of the flash.
    pub wear: Wear,
    /// What schemes reported by name.
    pub events: BTreeMap<String, u64>,
    /// `passed`, or what the audit found; empty of a drive that is still served.
    pub audit: String,
    /// Reads whose data was compared with what had been written.
    pub verified_reads: u64,
    /// Cost of the simulation itself.
    pub wall: Wall,
    /// Cumulative curves of the system response time, in points that ascend.
    pub cdf: Cdf,
    /// The same times seen from the slow end, where `cdf` has few points.
    pub ccdf: Ccdf,
    /// How it went over simulated time, in windows of equal length.
    pub series: Vec<Window>,
    /// System response times of reads and writes in these windows.
    pub series_latency_ns: SeriesLatency,
    /// Response by part of a combined workload (`phases:`, `mix:`), in the order of its parts; the
    /// key is absent for any other workload.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
    /// Policies that the calling program decided itself; the key is absent where a policy of ours
    /// decided everything.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub own_policies: Vec<OwnPolicy>,
    /// Classes of data, where a placement policy divides it (`gc.placement`); the key is absent
    /// otherwise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<DataClass>,
    /// The slowest requests, where `--tail` asked for them; the key is absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tail: Option<Tail>,
    /// Single requests, where `--probe` asked for them; the key is absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe: Option<Probe>,
}

impl Default for RunResult {
    /// An empty result of this schema: nothing ran, nothing is claimed.
    fn default() -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            version: String::new(),
            made: Made::default(),
            scheme: String::new(),
            device: String::new(),
            workload: Workload::default(),
            config: Map::new(),
            seed: 0,
            precondition: Precondition::default(),
            steady_state: SteadyState::default(),
            warnings: Vec::new(),
            host: Host::default(),
            flash: Flash::default(),
            waf: None,
            waf_by_cause: ByCause::default(),
            merges: Merges::default(),
            map_cache: MapCache::default(),
            buffer: Buffer::default(),
            latency_ns: Latency::default(),
            service_time_ns: ServiceTime::default(),
            stages_ns: Stages::default(),
            streams: Vec::new(),
            iops: 0.0,
            bandwidth_bytes_per_s: 0.0,
            simulated_s: 0.0,
            energy_uj: Energy::default(),
            ram_bytes: RamUse::default(),
            wear: Wear::default(),
            events: BTreeMap::new(),
            audit: String::new(),
            verified_reads: 0,
            wall: Wall::default(),
            cdf: Cdf::default(),
            ccdf: Ccdf::default(),
            series: Vec::new(),
            series_latency_ns: SeriesLatency::default(),
            phases: Vec::new(),
            own_policies: Vec::new(),
            classes: Vec::new(),
            tail: None,
            probe: None,
        }
    }
}

/// Why a result file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Not JSON, or not of this shape.
    #[error("not a result file: {0}")]
    Shape(#[from] serde_json::Error),
    /// A result of another format.
    #[error("result {index} has schema {found:?}; this version reads {SCHEMA:?}")]
    Schema {
        /// Which result, counted from 0.
        index: usize,
        /// What it calls itself.
        found: String,
    },
}

/// Reads a result file: one object (a run) or an array of them (a comparison).
///
/// # Errors
/// When the bytes are not JSON of this shape, or carry another schema.
pub fn read_json(bytes: &[u8]) -> Result<Vec<RunResult>, ReadError> {
    let value: Value = serde_json::from_slice(bytes)?;
    let objects = match value {
        Value::Array(objects) => objects,
        object => vec![object],
    };
    let mut runs = Vec::with_capacity(objects.len());
    for (index, object) in objects.into_iter().enumerate() {
        // Absent keys are filled in, so the schema is asked for before anything is.
        let found = object.get("schema").and_then(Value::as_str).unwrap_or("").to_owned();
        if found != SCHEMA {
            return Err(ReadError::Schema { index, found });
        }
        runs.push(serde_json::from_value(object)?);
    }
    Ok(runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_schema_is_refused_by_name() {
        let error = read_json(br#"[{"schema": "ftlab/9"}]"#).unwrap_err();
        assert_eq!(
            error.to_string(),
            "result 0 has schema \"ftlab/9\"; this version reads \"ftlab/1\""
        );
        assert!(matches!(read_json(b"{}"), Err(ReadError::Schema { .. })));
        assert!(matches!(read_json(b"nothing"), Err(ReadError::Shape(_))));
    }

    #[test]
    fn one_object_and_an_array_are_both_read() {
        let run = RunResult::default();
        let one = serde_json::to_vec(&run).unwrap();
        let two = serde_json::to_vec(&[&run, &run]).unwrap();
        assert_eq!(read_json(&one).unwrap(), vec![run.clone()]);
        assert_eq!(read_json(&two).unwrap(), vec![run.clone(), run]);
    }
}
