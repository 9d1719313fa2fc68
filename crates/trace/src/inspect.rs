//! What is in a trace, said before any run.

use std::collections::{BTreeMap, HashMap};

use ftlab_engine::request::Op;
use serde::Serialize;

use crate::error::Result;
use crate::footprint::PageSet;
use crate::options::Options;
use crate::record::Record;
use crate::summary::Drop;
use crate::survey::Survey;
use crate::workload::{Records, Workload};

/// What an inspection counts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InspectionOptions {
    /// Page in which the footprint is counted, in bytes.
    pub page_bytes: u64,
    /// Extent of dense addressing, in bytes: one erase block.
    pub extent_bytes: u64,
}

impl Default for InspectionOptions {
    fn default() -> Self {
        Self { page_bytes: 4096, extent_bytes: 256 << 10 }
    }
}

/// Most distinct request sizes that are counted one by one.
const SIZES_MAX: usize = 1 << 16;
/// Common sizes that are reported.
const SIZES_SHOWN: usize = 10;

/// Sizes of requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sizes {
    /// Smallest read, write or trim, in bytes.
    pub min_bytes: u64,
    /// Mean, in bytes.
    pub mean_bytes: f64,
    /// Largest, in bytes.
    pub max_bytes: u64,
    /// The most common sizes: bytes and requests, most requests first.
    pub common: Vec<CommonSize>,
}

/// One size and how often it occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CommonSize {
    /// Size in bytes.
    pub bytes: u64,
    /// Requests of that size.
    pub requests: u64,
}

/// One unit (ASU, volume, disk).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct UnitReport {
    /// Its number.
    pub unit: u32,
    /// Requests to it.
    pub requests: u64,
    /// First byte after its last request.
    pub end_bytes: u64,
}

/// All that [`inspect`] finds. Requests counts are of what a run would see.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inspection {
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
    /// Time of the first request in the trace's own count, in nanoseconds.
    pub origin_ns: u64,
    /// From the first to the last request, in nanoseconds.
    pub span_ns: u64,
    /// Mean distance of two requests, in nanoseconds.
    pub interarrival_mean_ns: f64,
    /// Page in which footprints are counted, in bytes.
    pub page_bytes: u64,
    /// Distinct pages read or written.
    pub footprint_pages: u64,
    /// Distinct pages written.
    pub written_footprint_pages: u64,
    /// Share of requests that start where the one before of the same unit ended.
    pub sequentiality: f64,
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

/// Reads the whole workload once and says what is in it.
///
/// # Errors
/// Those of [`Workload::parse`] and of the records.
pub fn inspect(
    text: &str,
    options: &Options,
    logical_bytes: u64,
    settings: &InspectionOptions,
) -> Result<Inspection> {
    let workload = Workload::parse(text, options, logical_bytes)?;
    let mut records = workload.records()?;
    let mut counted = Counted::new(settings);
    for record in &mut records {
        counted.note(&record?);
    }
    counted.report(&workload, &records)
}

/// What is counted while records go by.
struct Counted {
    page_bytes: u64,
    survey: Survey,
    extent_bytes: u64,
    by_op: [u64; 4],
    bytes: [u64; 4],
    size_min: u64,
    size_max: u64,
    sizes: HashMap<u64, u64, rustc_hash::FxBuildHasher>,
    touched: PageSet,
    written: PageSet,
    units: BTreeMap<u32, (u64, Option<u64>)>,
    sequential: u64,
}

impl Counted {
    fn new(settings: &InspectionOptions) -> Self {
        Self {
            page_bytes: settings.page_bytes.max(1),
            survey: Survey::new(settings.extent_bytes),
            extent_bytes: settings.extent_bytes,
            by_op: [0; 4],
            bytes: [0; 4],
            size_min: u64::MAX,
            size_max: 0,
            sizes: HashMap::default(),
            touched: PageSet::new(),
            written: PageSet::new(),
            units: BTreeMap::new(),
            sequential: 0,
        }
    }

    fn note(&mut self, record: &Record) {
        self.survey.note(record);
        self.by_op[record.op as usize] += 1;
        if record.op == Op::Flush {
            return;
        }
        let size = record.size_bytes;
        self.bytes[record.op as usize] = self.bytes[record.op as usize].saturating_add(size);
        self.size_min = self.size_min.min(size);
        self.size_max = self.size_max.max(size);
        if self.sizes.len() < SIZES_MAX || self.sizes.contains_key(&size) {
            *self.sizes.entry(size).or_default() += 1;
        }
        let (requests, previous_end) = self.units.entry(record.unit).or_default();
        *requests += 1;
        self.sequential += u64::from(*previous_end == Some(record.offset_bytes));
        *previous_end = Some(record.end_bytes());
        let first = record.offset_bytes / self.page_bytes;
        let last = (record.end_bytes() - 1) / self.page_bytes;
        if record.op != Op::Trim {
            self.touched.insert(record.unit, first, last);
        }
        if record.op == Op::Write {
            self.written.insert(record.unit, first, last);
        }
    }

    fn sizes(&self) -> Sizes {
        let total: u64 = self.by_op[..3].iter().sum();
        if total == 0 {
            return Sizes::default();
        }
        let bytes: f64 = self.bytes[..3].iter().map(|&bytes| bytes as f64).sum();
        let mut common: Vec<CommonSize> = Vec::with_capacity(self.sizes.len());
        common.extend(self.sizes.iter().map(|(&bytes, &requests)| CommonSize { bytes, requests }));
        common.sort_unstable_by_key(|size| (std::cmp::Reverse(size.requests), size.bytes));
        common.truncate(SIZES_SHOWN);
        Sizes {
            min_bytes: self.size_min,
            mean_bytes: bytes / total as f64,
            max_bytes: self.size_max,
            common,
        }
    }

    fn report(&self, workload: &Workload, records: &Records) -> Result<Inspection> {
        let description = workload.describe()?;
        let detection = workload.detection();
        let summary = records.summary();
        let [reads, writes, trims, flushes] = self.by_op;
        let addressed = reads + writes + trims;
        let why = |of: fn(&crate::Detection) -> &str, synthetic: &str| {
            detection.map_or(synthetic.to_owned(), |detection| of(detection).to_owned())
        };
        Ok(Inspection {
            name: description.name,
            files: records.names().to_vec(),
            sha256: description.sha256,
            format: description.format,
            format_why: why(|d| &d.why, "an inline spec"),
            compression: workload.compression().into(),
            time_unit: why(|d| d.time_unit.name(), "ns"),
            time_unit_why: why(|d| &d.time_unit_why, "generated"),
            size_unit: why(|d| d.size_unit.name(), "bytes"),
            size_unit_why: why(|d| &d.size_unit_why, "generated"),
            prefix: description.head.is_some_and(|head| summary.requests >= head),
            lines: summary.lines_read,
            header_lines: summary.header_lines,
            requests: self.survey.requests,
            reads,
            writes,
            trims,
            flushes,
            read_ratio: ratio(reads, reads + writes),
            bytes_read: self.bytes[Op::Read as usize],
            bytes_written: self.bytes[Op::Write as usize],
            sizes: self.sizes(),
            origin_ns: summary.origin_ns.unwrap_or(0),
            span_ns: self.survey.last_time_ns,
            interarrival_mean_ns: ratio(
                self.survey.last_time_ns,
                self.survey.requests.saturating_sub(1),
            ),
            page_bytes: self.page_bytes,
            footprint_pages: self.touched.len(),
            written_footprint_pages: self.written.len(),
            sequentiality: ratio(self.sequential, addressed),
            out_of_order_lines: summary.out_of_order_lines,
            first_out_of_order_line: summary.first_out_of_order.map(|place| place.line),
            backward_step_ns_max: summary.backward_step_ns_max,
            dropped: summary.drops(records.names()),
            units: self.unit_reports(),
            strict_capacity_bytes: self.survey.strict_bytes(),
            extent_bytes: self.extent_bytes,
            dense_capacity_bytes: self.survey.dense_bytes(),
        })
    }

    fn unit_reports(&self) -> Vec<UnitReport> {
        let ends = self.survey.spans.ends();
        ends.map(|(unit, end_bytes)| UnitReport { unit, requests: self.units[&unit].0, end_bytes })
            .collect()
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
