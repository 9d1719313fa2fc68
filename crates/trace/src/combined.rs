//! The records of a combination: parts one after another, or merged by arrival.

use std::collections::BTreeMap;

use crate::combination::How;
use crate::error::{Result, TraceError};
use crate::record::{Place, Record};
use crate::record_stream::RecordStream;
use crate::summary::Summary;

/// Records of every part, in order of time. Memory grows with the number of units only.
pub(crate) struct CombinedRecords<R> {
    how: How,
    /// Every part, until it is read to its end.
    open: Vec<Option<Source<R>>>,
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

struct Source<R> {
    records: R,
    /// The next record, with its place, or the error behind the last; of a mix only.
    next: Option<Result<(Record, Place)>>,
    /// Its time; an error comes with the record before it.
    next_ns: Option<u64>,
}

impl<R: RecordStream> CombinedRecords<R> {
    /// Those of `parts`, `head` of them at most.
    ///
    /// # Errors
    /// The first part that cannot be opened.
    pub(crate) fn new(
        how: How,
        parts: impl Iterator<Item = Result<R>>,
        head: Option<u64>,
    ) -> Result<Self> {
        let mut all = Self {
            how,
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
        for records in parts {
            let mut source = Source { records: records?, next: None, next_ns: None };
            all.first_name.push(all.names.len() as u32);
            all.names.extend(source.records.names().iter().cloned());
            if how == How::Mix {
                source.fill();
            }
            all.open.push(Some(source));
        }
        Ok(all)
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
        while self.current < self.open.len() {
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
            if part + 1 == self.open.len() {
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

impl<R: RecordStream> Source<R> {
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

impl<R: RecordStream> Iterator for CombinedRecords<R> {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        let Some(left) = self.left.checked_sub(1) else {
            (0..self.open.len()).for_each(|part| self.close(part));
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

impl<R: RecordStream> RecordStream for CombinedRecords<R> {
    fn place(&self) -> Place {
        self.place
    }

    fn part(&self) -> usize {
        self.current
    }

    fn names(&self) -> &[String] {
        &self.names
    }

    fn summary(&self) -> &Summary {
        &self.summary
    }
}

/// Requests in flight of the whole, by the name of each part and its own requests in flight;
/// `None` where its parts have arrivals.
///
/// # Errors
/// Closed loops beside arrivals, closed loops of different depths, closed loops in a mix.
pub(crate) fn depth_of<'a>(
    how: How,
    parts: impl Iterator<Item = (&'a str, Option<u32>)> + Clone,
) -> Result<Option<u32>> {
    let first = parts.clone().next().and_then(|(_, depth)| depth);
    for (name, depth) in parts {
        if depth != first {
            return Err(TraceError::new(
                "parts differ in how requests come: as the device takes them (iodepth) or by \
                 arrivals",
            )
            .with_value(name.as_bytes())
            .with_legal("the same iodepth in all parts, or rate_iops or gaps where one has none"));
        }
        if depth.is_some() && how == How::Mix {
            return Err(TraceError::new("a part of a mix has no arrivals to be ordered by")
                .with_value(name.as_bytes())
                .with_legal("rate_iops=N or gaps=MEAN in every part"));
        }
    }
    Ok(first)
}
