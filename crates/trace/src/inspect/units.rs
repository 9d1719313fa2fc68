//! Requests by unit (ASU, volume, disk), and how many of them begin where the one before of their
//! unit ended.

use std::collections::BTreeMap;

use ftlab_flash::request::Op;
use serde::Serialize;

use super::lru_stack::LruStack;
use super::ratio::ratio;
use crate::record::Record;
use crate::survey::Survey;

/// One unit (ASU, volume, disk).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct UnitReport {
    /// Its number.
    pub unit: u32,
    /// Requests to it.
    pub requests: u64,
    /// First byte after its last request.
    pub end_bytes: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Reads divided by reads and writes; 0 without either.
    pub read_ratio: f64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Distinct pages read or written.
    pub footprint_pages: u64,
    /// Distinct pages written.
    pub written_footprint_pages: u64,
    /// Arrival of its first request, in nanoseconds since the first of all.
    pub first_ns: u64,
    /// Arrival of its last request.
    pub last_ns: u64,
    /// Its requests per second, over the time span of all; none without a span.
    pub iops: Option<f64>,
}

/// What is counted while requests with an address go by.
pub(super) struct Units {
    numbers: BTreeMap<u32, usize>,
    units: Vec<Unit>,
    /// The unit of the request before: most are of the same.
    latest: usize,
    sequential: u64,
}

struct Unit {
    unit: u32,
    by_op: [u64; 4],
    bytes: [u64; 4],
    first_ns: u64,
    last_ns: u64,
    previous_end: Option<u64>,
}

impl Units {
    /// Before the first request.
    pub fn new() -> Self {
        Self { numbers: BTreeMap::new(), units: Vec::new(), latest: 0, sequential: 0 }
    }

    /// A request that is no flush.
    #[inline]
    pub fn note(&mut self, record: &Record) {
        if self.units.get(self.latest).is_none_or(|unit| unit.unit != record.unit) {
            self.find(record);
        }
        let unit = &mut self.units[self.latest];
        unit.by_op[record.op as usize] += 1;
        let bytes = &mut unit.bytes[record.op as usize];
        *bytes = bytes.saturating_add(record.size_bytes);
        unit.last_ns = record.time_ns;
        self.sequential += u64::from(unit.previous_end == Some(record.offset_bytes));
        unit.previous_end = Some(record.end_bytes());
    }

    fn find(&mut self, record: &Record) {
        let (unit, first_ns) = (record.unit, record.time_ns);
        let new = self.units.len();
        self.latest = *self.numbers.entry(unit).or_insert(new);
        if self.latest == new {
            let none = [0; 4];
            self.units.push(Unit {
                unit,
                by_op: none,
                bytes: none,
                first_ns,
                last_ns: first_ns,
                previous_end: None,
            });
        }
    }

    /// Requests that begin where the one before of their unit ended.
    pub fn sequential(&self) -> u64 {
        self.sequential
    }

    /// Every unit in order of its number; `pages` are those of all reads and writes.
    pub fn report(&self, survey: &Survey, pages: &LruStack) -> Vec<UnitReport> {
        let mut footprints: BTreeMap<u32, [u64; 2]> = BTreeMap::new();
        for (unit, _, states) in pages.chunks() {
            let footprint = footprints.entry(unit).or_default();
            for state in states.iter().filter(|state| state.latest != 0) {
                footprint[0] += 1;
                footprint[1] += u64::from(state.writes > 0);
            }
        }
        let span_ns = survey.last_time_ns;
        let of = |(unit, end_bytes): (u32, u64)| {
            let seen = &self.units[self.numbers[&unit]];
            let [reads, writes, trims, _] = seen.by_op;
            let requests = reads + writes + trims;
            let [footprint_pages, written_footprint_pages] =
                footprints.get(&unit).copied().unwrap_or_default();
            UnitReport {
                unit,
                requests,
                end_bytes,
                reads,
                writes,
                read_ratio: ratio(reads, reads + writes),
                bytes_read: seen.bytes[Op::Read as usize],
                bytes_written: seen.bytes[Op::Write as usize],
                footprint_pages,
                written_footprint_pages,
                first_ns: seen.first_ns,
                last_ns: seen.last_ns,
                iops: (span_ns > 0).then(|| requests as f64 * 1e9 / span_ns as f64),
            }
        };
        survey.spans.ends().map(of).collect()
    }
}
