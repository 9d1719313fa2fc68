//! What is in a trace, said before any run.
//!
//! One pass over the records, whatever their number; memory follows the pages touched. Sizes,
//! arrivals and addresses are counted request by request, reuse page by page.

mod arrivals;
mod curve;
mod extents;
mod growth;
mod load;
mod lru_stack;
mod page_table;
mod places;
mod ratio;
mod result;
mod sizes;
pub(crate) mod slot_order;
mod text;
mod units;
mod updates;
mod windows;

use ftlab_flash::request::Op;
use ftlab_flash::units::WideDivisor;

use crate::combination::How;
use crate::detect::Detection;
use crate::error::{Result, TraceError};
use crate::options::Options;
use crate::record::{Place, Record};
use crate::records::Records;
use crate::size::human_bytes;
use crate::survey::Survey;
use crate::workload::{Description, Workload};

use arrivals::Arrivals;
use extents::Extents;
use growth::Growth;
use load::Load;
use lru_stack::LruStack;
use page_table::Chunk;
use places::Places;
use ratio::ratio;
use result::FIGURE_2_POSITION;
use sizes::SizesSeen;
use slot_order::TAKEN_MAX;
use units::Units;
use windows::{MARKS, Windows};

pub use arrivals::{GapBin, Interarrival};
pub use curve::{MissCurve, SizeForHits};
pub use growth::FootprintPoint;
pub use load::LoadOverTime;
pub use places::AddressesOverTime;
pub use result::{INSPECTION_SCHEMA, Inspection, LruStackReport, MapCacheReport, SEQUENTIAL};
pub use sizes::{CommonSize, SizeBin, SizeClass, Sizes};
pub use units::UnitReport;
pub use updates::{HottestPages, UpdateBin, UpdateFrequency};
pub use windows::{WindowsByAccesses, WindowsByTime, WorkingSet};

/// What an inspection counts in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InspectionOptions {
    /// Page in which the footprint and all reuse are counted, in bytes; at least 1.
    pub page_bytes: u64,
    /// Extent of dense addressing, in bytes: one erase block.
    pub extent_bytes: u64,
    /// Entries of a translation page; at least 1.
    pub map_entries: u64,
    /// Sizes of a cache of entries that the curve must list.
    pub cache_entries: Vec<u64>,
    /// Sizes of a cache of translation pages that the curve must list.
    pub cache_pages: Vec<u64>,
}

impl Default for InspectionOptions {
    fn default() -> Self {
        Self::of_pages(4096, 256 << 10)
    }
}

impl InspectionOptions {
    /// Pages and extents of those sizes, and a translation page that is as large as a page and has
    /// entries of 4 bytes.
    pub fn of_pages(page_bytes: u64, extent_bytes: u64) -> Self {
        Self {
            page_bytes,
            extent_bytes,
            map_entries: (page_bytes / MAP_ENTRY_BYTES).max(1),
            cache_entries: Vec::new(),
            cache_pages: Vec::new(),
        }
    }
}

/// Bytes of an entry of a translation page, as DFTL 2014 counts them.
const MAP_ENTRY_BYTES: u64 = 4;
/// Requests whose pages are looked for together: a large table of pages is no part of any cache,
/// and waiting for one page at a time took most of the time.
const BATCH_RECORDS: usize = 128;

/// Reads the whole workload once and says what is in it.
///
/// # Errors
/// Those of [`Workload::parse`] and of the records; a footprint of 2^31 pages or more.
pub fn inspect(
    text: &str,
    options: &Options,
    logical_bytes: u64,
    settings: &InspectionOptions,
) -> Result<Inspection> {
    let workload = Workload::parse(text, options, logical_bytes)?;
    inspect_workload(&workload, settings, |_| Ok(()), Workload::describe)
}

/// The same for a workload that is open; `watch` is told every now and then that so many requests
/// more were read, and may end it. How it is described is asked once all of it was read.
///
/// # Errors
/// Those of the records; a footprint of 2^31 pages or more; what `watch` and `describe` give.
pub fn inspect_workload<E: From<TraceError>>(
    workload: &Workload,
    settings: &InspectionOptions,
    mut watch: impl FnMut(u64) -> std::result::Result<(), E>,
    describe: impl FnOnce(&Workload) -> std::result::Result<Description, E>,
) -> std::result::Result<Inspection, E> {
    let mut records = workload.records()?;
    let mut counted = Counted::new(settings);
    let mut batch = Vec::with_capacity(BATCH_RECORDS);
    loop {
        batch.clear();
        // The records before one that is wrong are counted first: one of them may be wrong too.
        let mut wrong = None;
        while batch.len() < BATCH_RECORDS
            && wrong.is_none()
            && let Some(record) = records.next()
        {
            match record {
                Ok(record) => batch.push(Near::new(record, records.place())),
                Err(error) => wrong = Some(error),
            }
        }
        if batch.is_empty() && wrong.is_none() {
            break;
        }
        // In loops of their own, so that the waits overlap.
        batch.iter_mut().for_each(|near| counted.find_region(near));
        batch.iter_mut().for_each(|near| counted.find_chunk(near));
        batch.iter_mut().for_each(|near| counted.find_latest(near));
        batch.iter().filter_map(|near| near.latest).for_each(|slot| counted.pages.bring_near(slot));
        for near in &batch {
            if let Err(error) = counted.note(near) {
                let name = records.names()[near.place.part as usize].clone();
                return Err(error.at(name, Some(near.place.line)).into());
            }
        }
        if let Some(error) = wrong {
            return Err(error.into());
        }
        watch(batch.len() as u64)?;
    }
    let description = describe(workload)?;
    Ok(counted.report(workload, &records, description)?)
}

/// A record, and what was found out about its first page before it is counted.
struct Near {
    record: Record,
    place: Place,
    region: Option<u32>,
    chunk: Option<Chunk>,
    latest: Option<u32>,
}

impl Near {
    fn new(record: Record, place: Place) -> Self {
        Self { record, place, region: None, chunk: None, latest: None }
    }
}

/// What is counted while records go by.
struct Counted<'a> {
    settings: &'a InspectionOptions,
    page_bytes: WideDivisor,
    map_entries: WideDivisor,
    survey: Survey,
    extents: Extents,
    by_op: [u64; 4],
    bytes: [u64; 4],
    sizes: SizesSeen,
    load: Load,
    places: Places,
    units: Units,
    arrivals: Arrivals,
    pages: LruStack,
    map_pages: LruStack,
    windows: Windows,
    growth: Growth,
}

impl<'a> Counted<'a> {
    fn new(settings: &'a InspectionOptions) -> Self {
        Self {
            settings,
            page_bytes: WideDivisor::new(settings.page_bytes.max(1)),
            map_entries: WideDivisor::new(settings.map_entries.max(1)),
            survey: Survey::new(None),
            extents: Extents::new(settings.extent_bytes.max(1), settings.page_bytes.max(1)),
            by_op: [0; 4],
            bytes: [0; 4],
            sizes: SizesSeen::new(),
            load: Load::new(),
            places: Places::new(),
            units: Units::new(),
            arrivals: Arrivals::new(),
            pages: LruStack::new(MARKS),
            map_pages: LruStack::new(0),
            windows: Windows::new(),
            growth: Growth::new(),
        }
    }

    fn note(&mut self, Near { record, chunk, .. }: &Near) -> Result<()> {
        self.survey.note(record);
        self.extents.note(record);
        self.arrivals.note(record.time_ns);
        self.windows.at_time(record.time_ns, &mut self.pages);
        self.load.note(record);
        self.places.note(record);
        self.by_op[record.op as usize] += 1;
        if record.op != Op::Flush {
            let bytes = &mut self.bytes[record.op as usize];
            *bytes = bytes.saturating_add(record.size_bytes);
            self.sizes.note(record);
            self.units.note(record);
        }
        if matches!(record.op, Op::Read | Op::Write) {
            self.note_pages(record, *chunk)?;
        }
        if self.growth.wants(self.survey.requests) {
            self.growth.keep(self.now());
        }
        Ok(())
    }

    /// The pages of a request lie in one chunk of the table or in two, unless it is long.
    #[inline]
    fn find_region(&self, near: &mut Near) {
        if let Record { op: Op::Read | Op::Write, unit, offset_bytes, .. } = near.record {
            near.region = self.pages.region(unit, self.page_bytes.quotient(offset_bytes));
        }
    }

    #[inline]
    fn find_chunk(&self, near: &mut Near) {
        let page = self.page_bytes.quotient(near.record.offset_bytes);
        near.chunk = near.region.and_then(|region| self.pages.chunk(region, page));
    }

    /// Its own loop has little to do but to wait for memory, for many pages at the same time.
    #[inline]
    fn find_latest(&self, near: &mut Near) {
        let page = self.page_bytes.quotient(near.record.offset_bytes);
        near.latest = near.chunk.and_then(|chunk| self.pages.latest(chunk, page));
    }

    fn note_pages(&mut self, record: &Record, chunk: Option<Chunk>) -> Result<()> {
        let first = self.page_bytes.quotient(record.offset_bytes);
        let last = self.page_bytes.quotient(record.end_bytes() - 1);
        if self.pages.distinct() + (last - first) >= TAKEN_MAX {
            let page = human_bytes(self.page_bytes.get());
            return Err(TraceError::new(format!(
                "the footprint exceeds {TAKEN_MAX} pages of {page}"
            ))
            .with_legal("a larger --page-size, or fewer units (--unit)"));
        }
        let writes = record.op == Op::Write;
        if let Some(chunk) = chunk {
            self.pages.expect(record.unit, first, chunk);
        }
        let mut map_page = self.map_entries.quotient(first);
        let mut next_map_page = (map_page + 1).saturating_mul(self.map_entries.get());
        for page in first..=last {
            self.pages.access(record.unit, page, writes);
            self.windows.after_access(&mut self.pages);
            if page == next_map_page {
                map_page += 1;
                next_map_page = next_map_page.saturating_add(self.map_entries.get());
            }
            self.map_pages.access(record.unit, map_page, writes);
        }
        Ok(())
    }

    fn now(&self) -> FootprintPoint {
        FootprintPoint {
            time_ns: self.survey.last_time_ns,
            requests: self.survey.requests,
            footprint_pages: self.pages.distinct(),
            written_footprint_pages: self.pages.written(),
        }
    }

    fn map_cache(&mut self) -> MapCacheReport {
        let (entries, pages) = (&self.settings.cache_entries, &self.settings.cache_pages);
        let page_bytes = self.page_bytes.get() as f64;
        let entry_bytes = page_bytes / self.map_entries.get() as f64;
        let of_entries = MissCurve::new(&mut self.pages, Some(FIGURE_2_POSITION), entries);
        let of_pages = MissCurve::new(&mut self.map_pages, None, pages);
        MapCacheReport {
            entries: of_entries.with_bytes(entry_bytes),
            entries_per_page: self.map_entries.get(),
            entry_bytes,
            translation_pages: of_pages.with_bytes(page_bytes),
        }
    }

    fn report(
        mut self,
        workload: &Workload,
        records: &Records,
        description: Description,
    ) -> Result<Inspection> {
        let detection = workload.detection();
        let summary = records.summary();
        let [reads, writes, trims, flushes] = self.by_op;
        let addressed = reads + writes + trims;
        let why = |of: fn(&Detection) -> &str, synthetic: &str| {
            detection.map_or(synthetic.to_owned(), |detection| of(detection).to_owned())
        };
        let (what, made) = match workload.parts() {
            None => ("an inline spec".to_owned(), "generated"),
            Some((how, names)) => {
                let order = if how == How::Mix { "side by side" } else { "one after another" };
                (format!("{order}: {}", names.join(" | ")), "of every part as it was read")
            }
        };
        let map_cache = self.map_cache();
        Ok(Inspection {
            schema: INSPECTION_SCHEMA.into(),
            name: description.name,
            files: records.names().to_vec(),
            sha256: description.sha256,
            format: description.format,
            stand_in: description.stand_in,
            format_why: why(|d| &d.why, &what),
            compression: workload.compression().into(),
            time_unit: why(|d| d.time_unit.name(), "ns"),
            time_unit_why: why(|d| &d.time_unit_why, made),
            size_unit: why(|d| d.size_unit.name(), "bytes"),
            size_unit_why: why(|d| &d.size_unit_why, made),
            prefix: description.head.is_some_and(|head| summary.requests >= head),
            filter: None,
            malformed: summary.malformed.clone(),
            warnings: summary.skipped().into_iter().chain(summary.clock_stands()).collect(),
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
            sizes: self.sizes.report(&self.by_op, &self.bytes),
            size_classes: self.sizes.classes(),
            size_bins: self.sizes.bins(),
            origin_ns: summary.origin_ns.unwrap_or(0),
            span_ns: self.survey.last_time_ns,
            interarrival_mean_ns: ratio(
                self.survey.last_time_ns,
                self.survey.requests.saturating_sub(1),
            ),
            interarrival: self.arrivals.report(),
            load_over_time: self.load.report(),
            addresses_over_time: self.places.report(),
            page_bytes: self.page_bytes.get(),
            footprint_pages: self.pages.distinct(),
            written_footprint_pages: self.pages.written(),
            sequentiality: ratio(self.units.sequential(), addressed),
            sequentiality_definition: SEQUENTIAL.into(),
            footprint_over_time: self.growth.report(self.now()),
            update_frequency: UpdateFrequency::new(&self.pages),
            working_set: self.windows.report(),
            lru_stack: LruStackReport::of(&map_cache.entries),
            map_cache,
            out_of_order_lines: summary.out_of_order_lines,
            first_out_of_order_line: summary.first_out_of_order.map(|place| place.line),
            backward_step_ns_max: summary.backward_step_ns_max,
            dropped: summary.drops(records.names()),
            units: self.units.report(&self.survey, &self.pages),
            strict_capacity_bytes: self.survey.strict_bytes(),
            extent_bytes: self.settings.extent_bytes,
            dense_capacity_bytes: self.extents.bytes(&self.pages),
        })
    }
}
