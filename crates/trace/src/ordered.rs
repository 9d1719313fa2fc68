//! The pipeline of a trace whose files hold their requests in order of time: batches -> requests
//! that count -> rebased to 0. Nothing is sorted and nothing is held back.

use std::sync::Arc;

use ftlab_flash::request::Op;

use crate::error::Result;
use crate::events::{Batches, Event, Events};
use crate::merged::Merged;
use crate::options::{Options, UnitSelection};
use crate::order::Placed;
use crate::reader::{dropped, no_requests};
use crate::record::{Place, Record};
use crate::record_stream::RecordStream;
use crate::summary::{DropReason, Summary};

/// Records taken from the reader at once: 16 KiB, which stay in the cache nearest to a core.
const BATCH_RECORDS: usize = 512;

/// Records of a trace in order of time, the first at 0. Memory does not grow with its length.
pub(crate) struct OrderedRecords {
    names: Arc<[String]>,
    batches: Box<dyn Batches>,
    options: Options,
    /// Does every request count that has a size?
    takes_all: bool,
    batch: Box<[Record]>,
    /// Records in `batch`, and how many of them are done with.
    filled: usize,
    taken: usize,
    /// Place of the first record of the batch.
    first: Place,
    yielded: Place,
    /// Time of the first request, whether it counts or not.
    start_ns: Option<u64>,
    /// Requests that passed every other filter: every Nth of them counts.
    stepped: u64,
    /// Is there no more to read?
    ended: bool,
    /// Was the end or an error handed out?
    done: bool,
    summary: Summary,
}

impl OrderedRecords {
    pub(crate) fn new(names: Arc<[String]>, batches: Box<dyn Batches>, options: Options) -> Self {
        let takes_all = options.units == UnitSelection::All
            && options.head.is_none()
            && options.filter.keeps_every_time()
            && options.filter.ops == [true; 4];
        Self {
            names,
            start_ns: batches.start_ns(),
            batches,
            options,
            takes_all,
            batch: empty_batch(),
            filled: 0,
            taken: 0,
            first: Place::default(),
            yielded: Place::default(),
            stepped: 0,
            ended: false,
            done: false,
            summary: Summary::default(),
        }
    }

    /// Takes one record of the batch.
    #[inline]
    fn take(&mut self) -> Option<(Record, Place)> {
        let record = *self.batch[..self.filled].get(self.taken)?;
        let place = Place { line: self.first.line + self.taken as u64, ..self.first };
        self.taken += 1;
        self.summary.lines_read += 1;
        Some((record, place))
    }

    /// Rebases the time and counts.
    #[inline]
    fn release(&mut self, record: Record, place: Place) -> Record {
        let origin_ns = *self.summary.origin_ns.get_or_insert(record.time_ns);
        self.summary.requests += 1;
        self.summary.latest_ns = Some(record.time_ns - origin_ns);
        self.yielded = place;
        Record { time_ns: record.time_ns - origin_ns, ..record }
    }

    /// Is there a record that counts as it is? A flush without a size is for the checked way to
    /// judge, and so is the first of all, which the others count their time from.
    #[inline]
    pub(crate) fn is_at_hand(&self) -> bool {
        self.takes_all
            && self.taken < self.filled
            && self.batch[self.taken].size_bytes > 0
            && self.summary.origin_ns.is_some()
    }

    /// Gives up to `most` of the records at hand to `take`, until that has had enough.
    #[inline]
    pub(crate) fn each_of(&mut self, most: usize, mut take: impl FnMut(&Record) -> bool) {
        let origin_ns = self.summary.origin_ns.expect("records are at hand");
        let end = self.filled.min(self.taken + most);
        let mut passed = 0;
        for record in &self.batch[self.taken..end] {
            if record.size_bytes == 0 {
                break;
            }
            passed += 1;
            if !take(&Record { time_ns: record.time_ns - origin_ns, ..*record }) {
                break;
            }
        }
        self.taken += passed;
        self.summary.lines_read += passed as u64;
        self.summary.requests += passed as u64;
        if passed > 0 {
            self.yielded = Place { line: self.first.line + self.taken as u64 - 1, ..self.first };
            self.summary.latest_ns = Some(self.batch[self.taken - 1].time_ns - origin_ns);
        }
    }

    /// The next record where a batch has ended or something is filtered.
    #[inline(never)]
    fn next_checked(&mut self) -> Result<Option<Record>> {
        while !self.ended {
            if self.options.head.is_some_and(|head| self.summary.requests >= head) {
                return Ok(None);
            }
            let Some((record, place)) = self.take() else {
                (self.filled, self.first) = self.batches.next_batch(&mut self.batch)?;
                self.taken = 0;
                if self.filled == 0 {
                    self.ended = true;
                    // The trace may have been entered in the middle.
                    self.summary.read_to_end = self.options.filter.from_ns == 0;
                }
                continue;
            };
            let start_ns = *self.start_ns.get_or_insert(record.time_ns);
            let refused = dropped(&record, &self.options);
            match refused.or_else(|| self.refused_by_time(record.time_ns - start_ns)) {
                None => return Ok(Some(self.release(record, place))),
                Some(reason) => self.summary.drop_line(reason, place),
            }
        }
        match self.summary.requests {
            0 => Err(no_requests(&self.names, self.batches.place(), &self.summary)),
            _ => Ok(None),
        }
    }

    fn refused_by_time(&mut self, after_start_ns: u64) -> Option<DropReason> {
        let filter = &self.options.filter;
        if after_start_ns < filter.from_ns {
            return Some(DropReason::TimeNotSelected);
        }
        if after_start_ns >= filter.to_ns {
            // In order: nothing later counts, and no more is read.
            self.ended = true;
            return Some(DropReason::TimeNotSelected);
        }
        let step = self.stepped % filter.every;
        self.stepped += 1;
        (step != 0).then_some(DropReason::BetweenSteps)
    }
}

impl Iterator for OrderedRecords {
    type Item = Result<Record>;

    /// The next record; nothing after the first error.
    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        // A flush without a size is for the checked way to judge.
        if self.takes_all
            && self.taken < self.filled
            && self.batch[self.taken].size_bytes > 0
            && let Some((record, place)) = self.take()
        {
            return Some(Ok(self.release(record, place)));
        }
        if self.done {
            return None;
        }
        let next = self.next_checked().transpose();
        self.done = !matches!(next, Some(Ok(_)));
        next
    }
}

impl RecordStream for OrderedRecords {
    fn place(&self) -> Place {
        self.yielded
    }

    fn names(&self) -> &[String] {
        &self.names
    }

    fn summary(&self) -> &Summary {
        &self.summary
    }
}

fn empty_batch() -> Box<[Record]> {
    let empty = Record {
        time_ns: 0,
        op: Op::Read,
        offset_bytes: 0,
        size_bytes: 0,
        unit: 0,
        stream: None,
        content: None,
    };
    vec![empty; BATCH_RECORDS].into()
}

/// Batches one record at a time, so that files of one time can be merged.
pub(crate) struct OneByOne {
    batches: Box<dyn Batches>,
    batch: Box<[Record]>,
    filled: usize,
    taken: usize,
    /// Place of the first record of the batch.
    first: Place,
}

impl OneByOne {
    pub(crate) fn new(batches: Box<dyn Batches>) -> Self {
        let first = Place::default();
        Self { batches, batch: empty_batch(), filled: 0, taken: 0, first }
    }
}

impl Events for OneByOne {
    fn next_event(&mut self) -> Result<Option<Event>> {
        if self.taken == self.filled {
            (self.filled, self.first) = self.batches.next_batch(&mut self.batch)?;
            self.taken = 0;
        }
        let Some(&record) = self.batch[..self.filled].get(self.taken) else {
            return Ok(None);
        };
        let place = Place { line: self.first.line + self.taken as u64, ..self.first };
        self.taken += 1;
        Ok(Some(Event::Request(Placed { record, place })))
    }

    fn place(&self) -> Place {
        match self.taken as u64 {
            0 => self.batches.place(),
            taken => Place { line: self.first.line + taken - 1, ..self.first },
        }
    }
}

/// Merged files of a format that is in order of time: batches of one record.
pub(crate) struct MergedInOrder(pub(crate) Merged);

impl Batches for MergedInOrder {
    fn next_batch(&mut self, batch: &mut [Record]) -> Result<(usize, Place)> {
        loop {
            match self.0.next_event()? {
                Some(Event::Request(placed)) => {
                    batch[0] = placed.record;
                    return Ok((1, placed.place));
                }
                // A format in order of time has records of requests only.
                Some(Event::Dropped(..) | Event::Header) => {}
                None => return Ok((0, self.0.place())),
            }
        }
    }

    fn place(&self) -> Place {
        self.0.place()
    }
}
