//! The statistics by which two workloads are compared: one list of names and numbers, from one look
//! at the pages and one at the requests.

use ftlab_flash::request::Op;
use serde::Serialize;

use crate::error::{Result, TraceError};
use crate::inspect::{Inspection, InspectionOptions, inspect_workload};
use crate::record::Record;
use crate::synthetic::History;
use crate::workload::{Description, Workload};

/// What a number of a profile is a number of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// A share: two are compared by their difference, in points.
    Percent,
    /// A number of something, bytes or time: two are compared by their ratio.
    Number,
}

/// One number of a profile.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measure {
    /// Its name, the unit last.
    pub name: String,
    /// How two of them are compared.
    pub unit: Unit,
    /// None where there is nothing to take it of.
    pub value: Option<f64>,
}

/// The statistics of a workload.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Profile {
    /// As the user wrote it.
    pub name: String,
    /// SHA-256 as in results.
    pub sha256: String,
    /// The numbers, in the same order for every workload.
    pub measures: Vec<Measure>,
    /// Sentences that a reader must see beside them: which lines were skipped.
    pub warnings: Vec<String>,
}

/// Sizes of an LRU cache of pages.
const CACHE_PAGES: [u64; 6] = [64, 256, 1024, 4096, 16_384, 65_536];
/// Depths in the LRU stack of places where requests began.
const REQUEST_DEPTHS: [u64; 6] = [1, 16, 256, 1024, 4096, 16_384];
/// Depths in the LRU stack of extents.
const EXTENT_DEPTHS: [u64; 4] = [1, 8, 64, 512];
/// Bytes of an extent: an erase block of small devices.
const EXTENT_BYTES: u64 = 128 << 10;
/// Sectors of a unit's own in the second look.
const UNIT_SECTORS: u64 = 1 << 40;

impl Profile {
    /// Reads the whole workload twice; pages are of `page_bytes`, extents of 128 KiB. `watch` is
    /// told that so many requests more were read, and may end it. Memory follows the pages, and is
    /// at most 350 MiB above that.
    ///
    /// # Errors
    /// Those of the records, standard input, a footprint of 2^31 pages; what `watch` gives.
    pub fn of<E: From<TraceError>>(
        workload: &Workload,
        page_bytes: u64,
        mut watch: impl FnMut(u64) -> std::result::Result<(), E>,
        describe: impl FnOnce(&Workload) -> std::result::Result<Description, E>,
    ) -> std::result::Result<Self, E> {
        if !workload.can_be_read_again() {
            return Err(TraceError::new("standard input can be read only once")
                .with_legal("a file")
                .at("-", None)
                .into());
        }
        let mut settings = InspectionOptions::of_pages(page_bytes, EXTENT_BYTES);
        settings.cache_entries = CACHE_PAGES.to_vec();
        let inspection = inspect_workload(workload, &settings, &mut watch, describe)?;
        let mut behind = Behind::new();
        for record in workload.records()? {
            behind.note(&record?);
            watch(1)?;
        }
        let mut measures = Measures(Vec::new());
        measures.of_inspection(&inspection);
        measures.of_requests(&behind);
        let Inspection { name, sha256, warnings, .. } = inspection;
        Ok(Self { name, sha256, measures: measures.0, warnings })
    }
}

/// What the second look counts.
struct Behind {
    history: History,
    units: rustc_hash::FxHashMap<u32, u64>,
    requests: u64,
    bytes: [u64; 2],
    by_op: [u64; 2],
    follows: u64,
    ranks: u64,
    request_depths: [u64; REQUEST_DEPTHS.len()],
    extent_depths: [u64; EXTENT_DEPTHS.len()],
}

impl Behind {
    fn new() -> Self {
        Self {
            history: History::new(),
            units: rustc_hash::FxHashMap::default(),
            requests: 0,
            bytes: [0; 2],
            by_op: [0; 2],
            follows: 0,
            ranks: 0,
            request_depths: [0; REQUEST_DEPTHS.len()],
            extent_depths: [0; EXTENT_DEPTHS.len()],
        }
    }

    fn note(&mut self, record: &Record) {
        if !matches!(record.op, Op::Read | Op::Write) {
            return;
        }
        let fresh = self.units.len() as u64;
        let unit = *self.units.entry(record.unit).or_insert(fresh);
        let sector = unit * UNIT_SECTORS + record.offset_bytes / 512;
        let sectors = (record.end_bytes().div_ceil(512) - record.offset_bytes / 512).max(1);
        let writes = record.op == Op::Write;
        self.requests += 1;
        self.by_op[usize::from(writes)] += 1;
        self.bytes[usize::from(writes)] += record.size_bytes;
        if let Some(rank) = self.history.ends().iter().position(|end| end.sector == sector) {
            self.follows += 1;
            self.ranks += rank as u64;
        }
        let depth = self.history.request_depth(sector).unwrap_or(u64::MAX);
        for (within, count) in REQUEST_DEPTHS.iter().zip(&mut self.request_depths) {
            *count += u64::from(depth <= *within);
        }
        let depth = self.history.extent_depth(sector).unwrap_or(u64::MAX);
        for (within, count) in EXTENT_DEPTHS.iter().zip(&mut self.extent_depths) {
            *count += u64::from(depth <= *within);
        }
        self.history.note(sector, sectors, writes);
    }
}

struct Measures(Vec<Measure>);

impl Measures {
    fn add(&mut self, name: impl Into<String>, unit: Unit, part: f64, whole: f64) {
        let scale = if unit == Unit::Percent { 100.0 } else { 1.0 };
        let value = (whole > 0.0).then(|| scale * part / whole);
        self.0.push(Measure { name: name.into(), unit, value });
    }

    fn percent(&mut self, name: impl Into<String>, part: u64, whole: u64) {
        self.add(name, Unit::Percent, part as f64, whole as f64);
    }

    fn number(&mut self, name: impl Into<String>, value: f64) {
        self.add(name, Unit::Number, value, 1.0);
    }

    fn of_inspection(&mut self, of: &Inspection) {
        let moved = of.reads + of.writes;
        self.number("requests", of.requests as f64);
        self.percent("read_percent", of.reads, moved);
        self.number("mean_bytes", of.sizes.mean_bytes);
        for class in &of.size_classes {
            let share = (class.reads + class.writes) as f64;
            self.add(format!("{}_percent", class.class), Unit::Percent, share, moved as f64);
        }
        self.add("sequential_percent", Unit::Percent, of.sequentiality, 1.0);
        self.number("gap_ms", of.interarrival_mean_ns / 1e6);
        self.number("gap_cv", of.interarrival.cv);
        self.percent("gaps_of_zero_percent", of.interarrival.zero_gaps, of.interarrival.gaps);
        self.number("footprint_pages", of.footprint_pages as f64);
        self.number("written_footprint_pages", of.written_footprint_pages as f64);
        let extents = of.dense_capacity_bytes as f64 / of.extent_bytes as f64;
        self.number("extents", extents);
        self.add("pages_per_extent", Unit::Number, of.footprint_pages as f64, extents);
        self.number("writes_per_written_page", of.update_frequency.writes_per_page_mean);
        for quarter in 1..4 {
            let until = of.requests * quarter / 4;
            let point = of.footprint_over_time.iter().rfind(|point| point.requests <= until);
            let pages = point.map_or(0, |point| point.footprint_pages);
            self.percent(
                format!("footprint_after_{}_percent", 25 * quarter),
                pages,
                of.footprint_pages,
            );
        }
        let curve = &of.map_cache.entries;
        for size in CACHE_PAGES {
            // Sizes are listed up to the one that misses only what no size hits.
            let misses = curve.misses_at(size).or(curve.misses.last().copied()).unwrap_or(0);
            self.percent(
                format!("hits_of_{size}_pages_percent"),
                curve.lookups - misses,
                curve.lookups,
            );
        }
    }

    fn of_requests(&mut self, of: &Behind) {
        let mean = |index: usize| (of.bytes[index] as f64, of.by_op[index] as f64);
        for (name, (bytes, requests)) in [("read", mean(0)), ("write", mean(1))] {
            self.add(format!("mean_{name}_bytes"), Unit::Number, bytes, requests);
        }
        self.percent("following_percent", of.follows, of.requests);
        self.add("following_rank", Unit::Number, of.ranks as f64, of.follows as f64);
        for (within, count) in REQUEST_DEPTHS.iter().zip(of.request_depths) {
            self.percent(format!("begins_within_{within}_percent"), count, of.requests);
        }
        for (within, count) in EXTENT_DEPTHS.iter().zip(of.extent_depths) {
            self.percent(format!("extents_within_{within}_percent"), count, of.requests);
        }
    }
}

/// Two numbers of the same name, and how they relate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// Its name, the unit last.
    pub name: String,
    /// That of the first.
    pub a: Option<f64>,
    /// That of the second.
    pub b: Option<f64>,
    /// The second by the first, of numbers that are no shares.
    pub ratio: Option<f64>,
    /// The second less the first.
    pub difference: Option<f64>,
}

/// Two profiles side by side.
///
/// # Errors
/// Profiles of other measures, which those of one version are not.
pub fn side_by_side(a: &Profile, b: &Profile) -> Result<Vec<Compared>> {
    let names = |of: &Profile| -> Vec<String> {
        of.measures.iter().map(|measure| measure.name.clone()).collect()
    };
    if names(a) != names(b) {
        return Err(TraceError::new("the two profiles have other measures"));
    }
    let pair = |(a, b): (&Measure, &Measure)| {
        let both = a.value.zip(b.value);
        let ratio = |(a, b): &(f64, f64)| b / a;
        let is_number = a.unit == Unit::Number;
        Compared {
            name: a.name.clone(),
            a: a.value,
            b: b.value,
            ratio: both.filter(|(a, _)| is_number && *a > 0.0).as_ref().map(ratio),
            difference: both.map(|(a, b)| b - a),
        }
    };
    Ok(a.measures.iter().zip(&b.measures).map(pair).collect())
}
