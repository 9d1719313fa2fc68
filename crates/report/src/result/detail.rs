//! The smaller sections of a result: workload, counters, energy, memory, wear and windows.

mod energy;
mod making;

pub use energy::{DramEnergy, Energy, FlashEnergy, PcmEnergy};
pub use making::{Inherited, Made, Precondition};

use super::ByCause;
use super::latency::{ByDirection, LatencySummary};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What was run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Workload {
    /// Name of the trace or the inline specification.
    pub name: String,
    /// SHA-256 of the requests, in hexadecimal.
    pub sha256: String,
    /// Requests measured, of every pass where there were several.
    pub requests: u64,
    /// Complete passes over the workload, where it was repeated; the key is absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passes: Option<u64>,
    /// Share of reads among the requests, 0 to 1.
    pub read_ratio: f64,
    /// Distinct logical pages touched.
    pub footprint_pages: u64,
    /// Generated rather than recorded.
    pub synthetic: bool,
    /// For a synthetic stand-in, what it was fitted to; the key is absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stand_in: Option<String>,
    /// Number of requests when only the beginning of a longer trace was run, else null.
    pub prefix: Option<u64>,
    /// The units (ASU, volume, disk) that `--unit` chose, ascending with commas between them, as in
    /// `0,2`; the key is absent where all were run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub units: Option<String>,
    /// The unit of the trace's time column where neither the file nor its format nor the user said
    /// it, so that the data alone decided: `ms`, `ns`, ...; the key is absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_unit: Option<String>,
    /// Why that unit, in words; absent with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_unit_why: Option<String>,
    /// The same of the size column: `sectors`, `pages4k`, ...
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_unit: Option<String>,
    /// Why that unit, in words; absent with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_unit_why: Option<String>,
    /// How trace addresses became device addresses: `strict`, `modulo` or `dense`.
    pub address: String,
}

/// One part of a combined workload.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Phase {
    /// As the user named it.
    pub name: String,
    /// Requests of it that completed, trims and flushes included.
    pub requests: u64,
    /// System response time of its reads and writes, in nanoseconds.
    pub latency_ns: ByDirection<LatencySummary>,
}

/// A policy of the calling program, in the place of one of ours.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OwnPolicy {
    /// What it decides: `victim`, `placement` or `cache`.
    pub place: String,
    /// Its name, as the program gave it.
    pub name: String,
    /// How often it was asked, preparing the device included.
    pub asked: u64,
}

/// A class of data of a placement policy, as measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DataClass {
    /// Pages that the host wrote to it.
    pub host_pages: u64,
    /// Pages that collection moved to it.
    pub moved_pages: u64,
    /// `host_pages` times the bytes of a page (`device.mapping_unit`), whatever the requests
    /// covered of them.
    pub host_bytes: u64,
    /// The same of `host_pages` and `moved_pages`.
    pub media_bytes: u64,
    /// Blocks of it that were collected.
    pub victims: u64,
    /// Mean share of their pages that was valid; null without victims.
    pub victim_valid_share: Option<f64>,
    /// Mean of the host pages written from opening a block to collecting it; null without one.
    pub lifespan_pages_mean: Option<f64>,
    /// What it stood at in the end, where it was a group that the policy gives a size (`midas`), or
    /// the last one, which has the rest; the key is absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<DataGroup>,
}

/// A group that a placement policy gives a size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DataGroup {
    /// Segments, a block of every plane each, or lines, that it may have.
    pub segments: u32,
    /// Valid share of its victims that the model expects; null without a model.
    pub expected_valid_share: Option<f64>,
    /// What it was in the last epoch; null without a victim.
    pub valid_share: Option<f64>,
}

/// What the host asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Host {
    /// Read requests.
    pub read_requests: u64,
    /// Write requests.
    pub write_requests: u64,
    /// Trim requests.
    pub trim_requests: u64,
    /// Logical pages read.
    pub read_pages: u64,
    /// Logical pages written.
    pub write_pages: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Read requests that completed with an error: a page could not be read.
    pub failed_requests: u64,
    /// Logical pages that could not be read, each time they were asked for.
    pub unreadable_pages: u64,
    /// Most requests that had arrived and waited for the device at once; from 4,096 on too high by
    /// one in two thousand at most.
    pub longest_queue: u64,
    /// Requests that reached the device in pieces; the key is absent where none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<Split>,
}

/// Requests whose parts are not adjacent on the device. Each counts as one everywhere else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Split {
    /// Requests as the host sent them.
    pub requests: u64,
    /// Pieces in which they reached the device.
    pub pieces: u64,
}

/// Blocks erased, by the block's role when it was erased.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Erases {
    /// Data blocks.
    pub data: u64,
    /// Map blocks.
    pub map: u64,
    /// Log blocks.
    pub log: u64,
}

/// Blocks erased, by how many bits their cells held until then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ErasesByMode {
    /// As many as the part has.
    pub dense: u64,
    /// One (SLC mode).
    pub slc: u64,
}

/// Flash operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Flash {
    /// Pages read, by cause.
    pub reads: ByCause<u64>,
    /// Pages programmed, by cause.
    pub programs: ByCause<u64>,
    /// Blocks erased, by role.
    pub erases: Erases,
    /// The same by mode of the cells; the key is absent where a cell holds one bit anyway.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub erases_by_mode: Option<ErasesByMode>,
    /// Out-of-band areas read.
    pub oob_reads: u64,
    /// Pages marked as superseded (in the out-of-band area, where the device keeps marks there).
    pub oob_writes: u64,
    /// Flash pages sensed: fewer than `total_reads` where mapping units share flash pages.
    pub cell_reads: u64,
    /// Flash pages programmed.
    pub cell_programs: u64,
    /// Sum of `reads`.
    pub total_reads: u64,
    /// Sum of `programs`.
    pub total_programs: u64,
    /// Sum of `erases`.
    pub total_erases: u64,
}

/// Merges of log blocks with data blocks, or collected victims by pages copied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Merges {
    /// Victims that needed no copy.
    pub switch: u64,
    /// Victims that needed some copies.
    pub partial: u64,
    /// Victims merged in full.
    pub full: u64,
    /// Data blocks rebuilt by the full merges.
    pub full_data_blocks: u64,
    /// At index i: victims whose merge rebuilt i data blocks.
    pub associativity_histogram: Vec<u64>,
}

/// The cached part of the map; all zero for a scheme without one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MapCache {
    /// Translations asked for.
    pub lookups: u64,
    /// Found in the cache.
    pub hits: u64,
    /// Not found.
    pub misses: u64,
    /// `hits / lookups`; null without lookups.
    pub hit_ratio: Option<f64>,
    /// Entries dropped without a write.
    pub evict_clean: u64,
    /// Entries written back first.
    pub evict_dirty: u64,
}

/// The host write buffer; all zero without one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Buffer {
    /// Pages that reads and writes of the host looked for.
    pub lookups: u64,
    /// Pages found, with all sectors that a read asked for.
    pub hits: u64,
    /// `hits / lookups`; null without lookups.
    pub hit_ratio: Option<f64>,
    /// Pages written out.
    pub flushes: u64,
}

/// Flash cell time by operation, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FlashTime {
    /// Page reads.
    pub read: u64,
    /// Page programs.
    pub program: u64,
    /// Block erases.
    pub erase: u64,
}

/// Where the device's time went, in nanoseconds: `total` is the sum of all parts but `bus_wait` and
/// `pcm_wait`, which depend on arrivals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ServiceTime {
    /// All of it.
    pub total: u64,
    /// In the flash cells.
    pub flash: FlashTime,
    /// On the channels.
    pub transfer: u64,
    /// Waiting for a channel.
    pub bus_wait: u64,
    /// In the controller's RAM, and accesses to the DRAM.
    pub ram: u64,
    /// Waiting for the PCM port: reads for the write under way, writes for room in its queue.
    pub pcm_wait: u64,
    /// Searching tables.
    pub search: u64,
    /// In the controller, per page of host data; absent where that is free.
    #[serde(skip_serializing_if = "is_zero")]
    pub controller: u64,
    /// Reading PCM; absent where there is none.
    #[serde(skip_serializing_if = "is_zero")]
    pub pcm_read: u64,
    /// Writing PCM; absent where there is none. These writes are posted and lie beside everything
    /// else: what they delay is `pcm_wait`.
    #[serde(skip_serializing_if = "is_zero")]
    pub pcm_write: u64,
    /// Looking into the host's memory over the link; absent where nobody does.
    #[serde(skip_serializing_if = "is_zero")]
    pub host_memory: u64,
}

fn is_zero(time: &u64) -> bool {
    *time == 0
}

/// Time in each stage, in nanoseconds: means per read or write, which sum to the mean system
/// response, or whole numbers of one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "Stages_of_{T}")]
pub struct Stages<T: Default = f64> {
    /// In the driver's queue.
    pub driver_queue: T,
    /// On the link to the host.
    pub host_link: T,
    /// In the controller.
    pub controller: T,
    /// In the write buffer.
    pub buffer: T,
    /// In the map.
    pub map: T,
    /// In the flash cells.
    pub flash: T,
    /// On the channels.
    pub channel: T,
}

impl<T: Default> From<[T; 7]> for Stages<T> {
    /// Values in the order in which a request goes through the stages.
    fn from(values: [T; 7]) -> Self {
        let [driver_queue, host_link, controller, buffer, map, flash, channel] = values;
        Stages { driver_queue, host_link, controller, buffer, map, flash, channel }
    }
}

impl<T: Default + Copy> Stages<T> {
    /// The values in the same order.
    #[must_use]
    pub fn values(&self) -> [T; 7] {
        let Stages { driver_queue, host_link, controller, buffer, map, flash, channel } = *self;
        [driver_queue, host_link, controller, buffer, map, flash, channel]
    }
}

/// Reads and writes of one stream of a multi-queue host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Stream {
    /// Requests completed.
    pub requests: u64,
    /// Reads among them.
    pub read_requests: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Mean system response time, in nanoseconds; null without requests.
    pub response_ns_mean: Option<f64>,
    /// Mean time in the driver's queue, in nanoseconds; null without requests.
    pub driver_queue_ns_mean: Option<f64>,
}

/// One structure in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RamStructure {
    /// Size in bytes.
    pub bytes: u64,
    /// `sram`, `dram`, `pcm` or `host`.
    pub memory: String,
}

/// Memory of the scheme, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RamUse {
    /// By structure.
    pub structures: BTreeMap<String, RamStructure>,
    /// In the controller's SRAM.
    pub sram: u64,
    /// In DRAM.
    pub dram: u64,
    /// In phase-change memory.
    pub pcm: u64,
    /// In the host's memory.
    pub host: u64,
    /// All of it.
    pub total: u64,
    /// Bytes above the budget; 0 when within it.
    pub over_budget: u64,
}

/// Blocks whose erase count lies in one range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WearBucket {
    /// Lowest erase count, inclusive.
    pub erases_from: u64,
    /// Highest erase count, inclusive.
    pub erases_to: u64,
    /// Blocks in the range.
    pub blocks: u64,
}

/// Most buckets that a wear histogram should hold.
pub const WEAR_BUCKETS_MAX: usize = 64;

/// The end of a device whose workload was repeated until it was worn out. Bytes are those of host
/// writes that completed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WornOut {
    /// Bytes written when the first block died, those of the request that killed it among them;
    /// null if none did.
    pub bytes_to_first_death: Option<u64>,
    /// Bytes written when no block could be spared any more.
    pub bytes_to_end: u64,
    /// Complete passes over the workload.
    pub loops: u64,
    /// Blocks that were retired on the way, the last that could be spared and those that could not.
    pub dead_blocks: u64,
}

/// Wear of the flash.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Wear {
    /// Fewest erases of a block.
    pub erase_min: u64,
    /// Most erases of a block.
    pub erase_max: u64,
    /// Mean erases of a block.
    pub erase_mean: f64,
    /// Standard deviation of the erases of a block.
    pub erase_stddev: f64,
    /// Blocks out of use at the end, those that were bad from the start among them.
    pub retired_blocks: u64,
    /// Blocks that were bad from the start.
    pub factory_bad_blocks: u64,
    /// Host bytes that could be written before the first block wears out, if the host goes on as in
    /// the measured part and the block worn most in it goes on being worn most; null without erases
    /// and where the device was driven to its end.
    pub projected_bytes_written: Option<u64>,
    /// How the device ended, where it was driven to its end; null elsewhere.
    pub until_worn_out: Option<WornOut>,
    /// Blocks by erase count, ascending and without overlap.
    pub histogram: Vec<WearBucket>,
}

/// Cost of the simulation itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Wall {
    /// Seconds on the clock on the wall.
    pub seconds: f64,
    /// Simulated host pages per second of it.
    pub host_pages_per_second: f64,
    /// Simulated flash operations per second of it.
    pub flash_operations_per_second: f64,
    /// Largest resident memory of the process, in bytes.
    pub peak_rss_bytes: u64,
}

/// What happened in one window of simulated time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Window {
    /// Beginning, in simulated seconds.
    pub t_start_s: f64,
    /// End, in simulated seconds.
    pub t_end_s: f64,
    /// Requests completed.
    pub requests: u64,
    /// Mean system response time, in nanoseconds; 0 without requests.
    pub response_ns_mean: f64,
    /// Longest system response time, in nanoseconds.
    pub response_ns_max: u64,
    /// Logical pages written by the host.
    pub host_pages_written: u64,
    /// Pages programmed for anything but the host's own data: copied by garbage collection and
    /// merges, and of the map.
    pub gc_page_copies: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Fewest free blocks seen (log schemes: free log blocks); none in a window without requests.
    pub free_blocks_min: Option<u64>,
    /// Where the scheme's areas and thresholds stood at the end of the window, by name; absent
    /// where a scheme has none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub levels: BTreeMap<String, u64>,
}
