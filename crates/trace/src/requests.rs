//! The end of the line: records laid out on a device, errors with their place.

use ftlab_flash::request::Request;

use crate::error::{Result, TraceError};
use crate::layout::AddressMap;
use crate::records::Records;

/// The requests of a workload on a device, in order of time. Nothing follows an error.
pub struct Requests {
    records: Records,
    map: AddressMap,
    pending: Vec<Request>,
    next: usize,
    failed: bool,
}

impl Requests {
    pub(crate) fn new(records: Records, map: AddressMap) -> Self {
        Self { records, map, pending: Vec::new(), next: 0, failed: false }
    }

    /// The records behind the requests: what was read, dropped and sorted so far.
    pub fn records(&self) -> &Records {
        &self.records
    }

    /// Which part of a combination the request yielded last is from; 0 for any other workload.
    pub fn part(&self) -> usize {
        self.records.part()
    }

    /// The map, with its counts so far.
    pub fn map_used(&self) -> &AddressMap {
        &self.map
    }

    fn fail(&mut self, error: TraceError) -> Option<Result<Request>> {
        self.failed = true;
        Some(Err(error))
    }
}

impl Iterator for Requests {
    type Item = Result<Request>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        while self.next == self.pending.len() {
            if self.failed {
                return None;
            }
            self.pending.clear();
            self.next = 0;
            let record = match self.records.next()? {
                Ok(record) => record,
                Err(error) => return self.fail(error),
            };
            if let Err(error) = self.map.map(&record, &mut self.pending) {
                self.pending.clear();
                let located = self.records.locate(error);
                return self.fail(located);
            }
        }
        let request = self.pending[self.next];
        self.next += 1;
        Some(Ok(request))
    }
}
