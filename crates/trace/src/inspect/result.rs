//! What an inspection found: the JSON of `ftlab trace inspect --json`, field by field.

use serde::Serialize;

use crate::summary::Drop;

use super::arrivals::Interarrival;
use super::curve::MissCurve;
use super::growth::FootprintPoint;
use super::load::LoadOverTime;
use super::places::AddressesOverTime;
use super::sizes::{SizeBin, SizeClass, Sizes};
use super::units::UnitReport;
use super::updates::UpdateFrequency;
use super::windows::WorkingSet;

/// What [`Inspection::schema`] says.
pub const INSPECTION_SCHEMA: &str = "ftlab-inspection/1";

/// What [`Inspection::sequentiality`] counts, in words.
pub const SEQUENTIAL: &str =
    "reads, writes and trims that start at the byte where the one before of the same unit ended";

/// The position by which DFTL 2014, Fig. 2 sums up a trace; the curve always lists it.
pub(super) const FIGURE_2_POSITION: u64 = 5000;

/// The distribution of positions in the LRU stack of pages, position 1 being the page of the access
/// before. Reads and writes count, page by page.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LruStackReport {
    /// Page accesses in all.
    pub page_accesses: u64,
    /// Accesses to pages that were never used before, which have no position.
    pub first_touches: u64,
    /// Positions.
    pub positions: Vec<u64>,
    /// Share of all page accesses that are at that position or before it.
    pub shares_of_accesses: Vec<f64>,
}

/// What an LRU cache of the map would miss: every page that is read or written is looked up, in
/// order of address within a request. Trims, prefetching and the scheme's own look-ups are left
/// out.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MapCacheReport {
    /// A cache of single entries, as DFTL has.
    pub entries: MissCurve,
    /// Entries of a translation page.
    pub entries_per_page: u64,
    /// Bytes of an entry on a translation page, which is as large as a page.
    pub entry_bytes: f64,
    /// A cache of whole translation pages; each unit begins with one of its own.
    pub translation_pages: MissCurve,
}

/// All that [`inspect`] finds. Requests counts are of what a run would see.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inspection {
    /// Name and version of this form: `ftlab-inspection/1`.
    pub schema: String,
    /// As the user wrote it.
    pub name: String,
    /// The parts, in the order in which they are read.
    pub files: Vec<String>,
    /// SHA-256 of the raw bytes as stored (or of the canonical spec).
    pub sha256: String,
    /// Name of the format, or `synthetic`.
    pub format: String,
    /// Why this format.
    pub format_why: String,
    /// For a stand-in, what it was fitted to. Filled in by who knows stand-ins by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stand_in: Option<String>,
    /// none, gzip, bzip2, zstd or xz.
    pub compression: String,
    /// Unit of the time column.
    pub time_unit: String,
    /// Why this unit.
    pub time_unit_why: String,
    /// Unit of the size column.
    pub size_unit: String,
    /// Why this unit.
    pub size_unit_why: String,
    /// Was only a prefix read (`--head`)?
    pub prefix: bool,
    /// Which requests of the trace count, as `--filter` takes it; the key is absent where all do.
    /// Filled in by who knows how it was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// What is wrong with the first malformed lines that were skipped (`--skip-bad`).
    pub malformed: Vec<String>,
    /// Sentences that a reader must see beside the numbers.
    pub warnings: Vec<String>,
    /// Lines read, of every kind.
    pub lines: u64,
    /// Header lines among them.
    pub header_lines: u64,
    /// Requests of every kind.
    pub requests: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Trims.
    pub trims: u64,
    /// Flushes.
    pub flushes: u64,
    /// Reads divided by reads and writes; 0 without either.
    pub read_ratio: f64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Sizes of reads, writes and trims.
    pub sizes: Sizes,
    /// Reads and writes by class of size: small, medium, large.
    pub size_classes: Vec<SizeClass>,
    /// Reads and writes by size, in bins that widen by a power of two; those that are not empty.
    pub size_bins: Vec<SizeBin>,
    /// Time of the first request in the trace's own count, in nanoseconds.
    pub origin_ns: u64,
    /// From the first to the last request, in nanoseconds.
    pub span_ns: u64,
    /// Mean distance of two requests, in nanoseconds.
    pub interarrival_mean_ns: f64,
    /// The distribution behind that mean.
    pub interarrival: Interarrival,
    /// Requests and bytes by windows of time.
    pub load_over_time: LoadOverTime,
    /// Where requests begin, and when.
    pub addresses_over_time: AddressesOverTime,
    /// Page in which footprints are counted, in bytes.
    pub page_bytes: u64,
    /// Distinct pages read or written.
    pub footprint_pages: u64,
    /// Distinct pages written.
    pub written_footprint_pages: u64,
    /// Share of requests that start where the one before of the same unit ended.
    pub sequentiality: f64,
    /// What that counts, in words.
    pub sequentiality_definition: String,
    /// How the footprint grew: at most 512 points.
    pub footprint_over_time: Vec<FootprintPoint>,
    /// How often pages are rewritten.
    pub update_frequency: UpdateFrequency,
    /// Distinct pages by length of a window.
    pub working_set: WorkingSet,
    /// Where accesses find their page in the LRU stack of pages.
    pub lru_stack: LruStackReport,
    /// What a cache of the map would miss, by its size.
    pub map_cache: MapCacheReport,
    /// Lines whose time was before that of an earlier line, and that were sorted.
    pub out_of_order_lines: u64,
    /// The first of them.
    pub first_out_of_order_line: Option<u64>,
    /// Largest backward step, in nanoseconds.
    pub backward_step_ns_max: u64,
    /// Lines dropped, by reason.
    pub dropped: Vec<Drop>,
    /// Units present, in order of their numbers.
    pub units: Vec<UnitReport>,
    /// Capacity that `--address strict` needs, in bytes.
    pub strict_capacity_bytes: u64,
    /// Extent of dense addressing, in bytes.
    pub extent_bytes: u64,
    /// Capacity that `--address dense` needs, in bytes.
    pub dense_capacity_bytes: u64,
}

impl LruStackReport {
    /// The same numbers seen as positions: a cache of k entries hits positions up to k.
    pub(super) fn of(entries: &MissCurve) -> Self {
        let hits = |misses: &u64| entries.lookups - misses;
        let share = |hits: u64| hits as f64 / entries.lookups.max(1) as f64;
        Self {
            page_accesses: entries.lookups,
            first_touches: entries.compulsory_misses,
            positions: entries.sizes.clone(),
            shares_of_accesses: entries.misses.iter().map(hits).map(share).collect(),
        }
    }

    /// Share of all page accesses at listed positions up to `position`.
    pub fn share_within(&self, position: u64) -> f64 {
        let listed = self.positions.partition_point(|known| *known <= position);
        listed.checked_sub(1).map_or(0.0, |index| self.shares_of_accesses[index])
    }
}
