//! The end of the line: records laid out on a device, errors with their place.

use ftlab_flash::request::Request;

use crate::error::{Result, TraceError};
use crate::layout::AddressMap;
use crate::record::Record;
use crate::records::Records;

/// The requests of a workload on a device, in order of time. Nothing follows an error.
pub struct Requests {
    records: Records,
    map: AddressMap,
    pending: Vec<Request>,
    next: usize,
    /// Records before those of the pending requests.
    records_before: u64,
    /// Pending requests that are a record each; the others are of one record more.
    single: usize,
    failed: Option<TraceError>,
    ended: bool,
}

impl Requests {
    pub(crate) fn new(records: Records, map: AddressMap) -> Self {
        Self {
            records,
            map,
            pending: Vec::new(),
            next: 0,
            records_before: 0,
            single: 0,
            failed: None,
            ended: false,
        }
    }

    /// The records behind the requests: what was read, dropped and sorted so far, of a generated
    /// workload up to [`Records::CHUNK`] ahead of the requests.
    pub fn records(&self) -> &Records {
        &self.records
    }

    /// Records of which a request was yielded.
    pub fn records_yielded(&self) -> u64 {
        let single = self.next.min(self.single) as u64;
        self.records_before + single + u64::from(self.next > self.single)
    }

    /// Which part of a combination the request yielded last is from; 0 for any other workload.
    pub fn part(&self) -> usize {
        self.records.part()
    }

    /// The map, with its counts so far.
    pub fn map_used(&self) -> &AddressMap {
        &self.map
    }

    /// Puts the next requests, as many as are at hand, in place of others; nothing at the end.
    ///
    /// # Errors
    /// As of the single requests, behind the last that can be had.
    pub fn next_chunk(&mut self, chunk: &mut Vec<Request>) -> Option<Result<()>> {
        chunk.clear();
        if let Err(end) = self.look_ahead() {
            return end.map(Err);
        }
        if self.next == 0 {
            // All are yielded, and the count of records says so.
            (self.records_before, self.single) = (self.map.counts().records, 0);
            std::mem::swap(chunk, &mut self.pending);
        } else {
            chunk.extend_from_slice(&self.pending[self.next..]);
            self.next = self.pending.len();
        }
        Some(Ok(()))
    }

    /// Makes sure that a request is pending; else the error, or nothing at the end.
    #[inline]
    fn look_ahead(&mut self) -> std::result::Result<(), Option<TraceError>> {
        while self.next == self.pending.len() {
            if self.ended {
                return Err(self.failed.take());
            }
            self.fill();
        }
        Ok(())
    }

    fn fill(&mut self) {
        self.pending.clear();
        (self.next, self.single) = (0, 0);
        self.records_before = self.map.counts().records;
        if let Some(generated) = self.records.generated_mut() {
            // A chunk of them, but none behind one that is no single request.
            for _ in 0..Records::CHUNK {
                let Some(record) = generated.next_record() else { return self.end(None) };
                match lay_out(&mut self.map, &record, &mut self.pending) {
                    Ok(true) => self.single += 1,
                    Ok(false) => return,
                    Err(error) => return self.end_at_record(error),
                }
            }
            return;
        }
        let record = match self.records.next() {
            Some(Ok(record)) => record,
            Some(Err(error)) => return self.end(Some(error)),
            None => return self.end(None),
        };
        match lay_out(&mut self.map, &record, &mut self.pending) {
            Ok(single) => self.single = usize::from(single),
            Err(error) => self.end_at_record(error),
        }
    }

    #[cold]
    fn end_at_record(&mut self, error: TraceError) {
        let located = self.records.locate(error);
        self.end(Some(located));
    }

    fn end(&mut self, error: Option<TraceError>) {
        self.ended = true;
        self.failed = error;
    }
}

/// Adds the requests of a record; whether that is a single one.
#[inline]
fn lay_out(map: &mut AddressMap, record: &Record, out: &mut Vec<Request>) -> Result<bool> {
    let before = out.len();
    match map.map(record, out) {
        Ok(()) => Ok(out.len() == before + 1),
        Err(error) => {
            out.truncate(before);
            Err(error)
        }
    }
}

impl Iterator for Requests {
    type Item = Result<Request>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if let Err(end) = self.look_ahead() {
            return end.map(Err);
        }
        let request = self.pending[self.next];
        self.next += 1;
        Some(Ok(request))
    }
}
