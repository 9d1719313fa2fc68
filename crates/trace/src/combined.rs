//! The records of a combination: parts one after another, or merged by arrival.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::combination::How;
use crate::error::{Result, TraceError};
use crate::record::{Place, Record};
use crate::records::Records;
use crate::summary::Summary;
use crate::workload::Workload;

/// One part of a combination, opened.
pub(crate) struct Part {
    /// Its name in results.
    pub(crate) name: String,
    /// What it is.
    pub(crate) workload: Workload,
}

/// Records of every part, in order of time. Memory grows with the number of units only.
pub(crate) struct CombinedRecords {
    how: How,
    parts: Arc<[Part]>,
    open: Vec<Option<Source>>,
    /// Of a mix: (part, unit) as one number, in order of first appearance.
    units: BTreeMap<(usize, u32), u32>,
    /// Where the phase began.
    base_ns: u64,
    latest_ns: u64,
    current: usize,
    place: Place,
    names: Vec<String>,
    /// Where the files of each part begin in `names`.
    first_name: Vec<u32>,
    left: u64,
    summary: Summary,
}

struct Source {
    records: Records,
    /// The next record, with its place, or the error behind the last; of a mix only.
    next: Option<Result<(Record, Place)>>,
    /// Its time; an error comes with the record before it.
    next_ns: Option<u64>,
}

impl CombinedRecords {
    pub(crate) fn new(how: How, parts: &Arc<[Part]>, head: Option<u64>) -> Result<Self> {
        let mut all = Self {
            how,
            parts: Arc::clone(parts),
            open: Vec::new(),
            units: BTreeMap::new(),
            base_ns: 0,
            latest_ns: 0,
            current: 0,
            place: Place::default(),
            names: Vec::new(),
            first_name: Vec::new(),
            left: head.unwrap_or(u64::MAX),
            summary: Summary::default(),
        };
        for part in parts.iter() {
            let mut source =
                Source { records: part.workload.records()?, next: None, next_ns: None };
            all.first_name.push(all.names.len() as u32);
            all.names.extend(source.records.names().iter().cloned());
            if how == How::Mix {
                source.fill();
            }
            all.open.push(Some(source));
        }
        Ok(all)
    }

    /// Index of the part that the record yielded last is from.
    pub(crate) fn part(&self) -> usize {
        self.current
    }

    pub(crate) fn place(&self) -> Place {
        self.place
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    pub(crate) fn summary(&self) -> &Summary {
        &self.summary
    }

    /// A place of one part as one of the whole.
    fn whole(&self, part: usize, place: Place) -> Place {
        Place { part: place.part + self.first_name[part], ..place }
    }

    /// Done with a part: what its reader dropped and sorted counts for the whole.
    fn close(&mut self, part: usize) {
        if let Some(source) = self.open[part].take() {
            self.summary.absorb(source.records.summary(), self.first_name[part]);
        }
    }

    fn next_of_phases(&mut self) -> Option<Result<Record>> {
        while self.current < self.parts.len() {
            let part = self.current;
            if let Some(source) = &mut self.open[part]
                && let Some(record) = source.records.next()
            {
                let place = source.records.place();
                self.place = self.whole(part, place);
                return Some(record.map(|mut record| {
                    record.time_ns = record.time_ns.saturating_add(self.base_ns);
                    self.latest_ns = record.time_ns;
                    record
                }));
            }
            self.close(part);
            self.base_ns = self.latest_ns;
            if part + 1 == self.parts.len() {
                return None;
            }
            self.current += 1;
        }
        None
    }

    fn next_of_mix(&mut self) -> Option<Result<Record>> {
        let arrivals = self
            .open
            .iter()
            .enumerate()
            .filter_map(|(part, source)| Some((source.as_ref()?.next_ns?, part)));
        let (_, part) = arrivals.min()?;
        let source = self.open[part].as_mut()?;
        let (mut record, place) = match source.next.take()? {
            Ok(next) => next,
            Err(error) => return Some(Err(error)),
        };
        source.fill();
        let exhausted = source.next.is_none();
        let fresh = self.units.len() as u32;
        record.unit = *self.units.entry((part, record.unit)).or_insert(fresh);
        self.current = part;
        self.place = self.whole(part, place);
        if exhausted {
            self.close(part);
        }
        Some(Ok(record))
    }
}

impl Source {
    /// Reads the next record. An error names its place itself.
    fn fill(&mut self) {
        let next = self.records.next();
        self.next_ns = match &next {
            None => None,
            Some(Ok(record)) => Some(record.time_ns),
            Some(Err(_)) => Some(self.next_ns.unwrap_or(0)),
        };
        let place = self.records.place();
        self.next = next.map(|record| record.map(|record| (record, place)));
    }
}

impl Iterator for CombinedRecords {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        let Some(left) = self.left.checked_sub(1) else {
            (0..self.parts.len()).for_each(|part| self.close(part));
            return None;
        };
        let record = match self.how {
            How::Phases => self.next_of_phases()?,
            How::Mix => self.next_of_mix()?,
        };
        self.left = left;
        if record.is_err() {
            self.left = 0;
        } else {
            self.summary.requests += 1;
            self.summary.origin_ns = Some(0);
        }
        Some(record)
    }
}

/// Requests in flight of the whole; `None` where its parts have arrivals.
///
/// # Errors
/// Closed loops beside arrivals, closed loops of different depths, closed loops in a mix.
pub(crate) fn depth_of(how: How, parts: &[Part]) -> Result<Option<u32>> {
    let first = parts.first().and_then(|part| part.workload.closed_loop_depth());
    for part in parts {
        let depth = part.workload.closed_loop_depth();
        if depth != first {
            return Err(TraceError::new(
                "parts differ in how requests come: as the device takes them (iodepth) or by \
                 arrivals",
            )
            .with_value(part.name.as_bytes())
            .with_legal("the same iodepth in all parts, or rate_iops or gaps where one has none"));
        }
        if depth.is_some() && how == How::Mix {
            return Err(TraceError::new("a part of a mix has no arrivals to be ordered by")
                .with_value(part.name.as_bytes())
                .with_legal("rate_iops=N or gaps=MEAN in every part"));
        }
    }
    Ok(first)
}
