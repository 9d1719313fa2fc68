//! Requests by unit, and how many of them begin where the one before of their unit ended.

use std::collections::BTreeMap;

use crate::record::Record;

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
    requests: u64,
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
            self.find(record.unit);
        }
        let unit = &mut self.units[self.latest];
        unit.requests += 1;
        self.sequential += u64::from(unit.previous_end == Some(record.offset_bytes));
        unit.previous_end = Some(record.end_bytes());
    }

    fn find(&mut self, unit: u32) {
        let new = self.units.len();
        self.latest = *self.numbers.entry(unit).or_insert(new);
        if self.latest == new {
            self.units.push(Unit { unit, requests: 0, previous_end: None });
        }
    }

    /// Requests of a unit that was seen.
    pub fn requests(&self, unit: u32) -> u64 {
        self.units[self.numbers[&unit]].requests
    }

    /// Requests that begin where the one before of their unit ended.
    pub fn sequential(&self) -> u64 {
        self.sequential
    }
}
