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

    /// The records behind the requests: what was read, dropped and sorted so far. Behind a chunk
    /// that is all of it.
    pub fn records(&self) -> &Records {
        &self.records
    }

    /// Records before the one whose first request comes next.
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
        if let Err(end) = self.look_ahead(Records::CHUNK) {
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

    /// Makes sure that a request is pending, and takes up to `most` records for that; else the
    /// error, or nothing at the end.
    #[inline]
    fn look_ahead(&mut self, most: usize) -> std::result::Result<(), Option<TraceError>> {
        while self.next == self.pending.len() {
            if self.ended {
                return Err(self.failed.take());
            }
            self.fill(most);
        }
        Ok(())
    }

    fn fill(&mut self, most: usize) {
        self.pending.clear();
        (self.next, self.single) = (0, 0);
        self.records_before = self.map.counts().records;
        if let Some(generated) = self.records.generated_mut() {
            // A chunk of them, but none behind one that is no single request.
            for _ in 0..most {
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
        if let Err(end) = self.look_ahead(1) {
            return end.map(Err);
        }
        let request = self.pending[self.next];
        self.next += 1;
        Some(Ok(request))
    }
}

#[cfg(test)]
mod tests {
    use ftlab_flash::request::Request;

    use crate::{AddressMap, AddressMode, Options, Requests, Workload};

    fn requests(spec: &str, mode: AddressMode, capacity: u64) -> Requests {
        let workload = Workload::parse(spec, &Options::default(), 64 << 10).unwrap();
        workload.requests(AddressMap::new(mode, capacity, 4096, None).unwrap()).unwrap()
    }

    /// Single ones, and how many records each of them was known to have taken; then the error.
    fn singly(mut requests: Requests) -> (Vec<(Request, u64)>, Option<String>) {
        let mut all = Vec::new();
        loop {
            match requests.next() {
                Some(Ok(request)) => all.push((request, requests.records_yielded())),
                Some(Err(error)) => return (all, Some(error.to_string())),
                None => return (all, None),
            }
        }
    }

    #[test]
    fn chunks_hold_what_single_requests_are() {
        let split = "randwrite:bs=6k,blockalign=2k,span=64k,count=300,seed=4";
        let plain = "randrw:bs=4k,span=64k,count=300,rwmixread=40,rate_iops=100,seed=4";
        for (spec, mode, capacity) in [
            (plain, AddressMode::Strict, 64 << 10),
            (split, AddressMode::Modulo, 40 << 10),
            (split, AddressMode::Dense, 64 << 10),
            // Some are beyond the device.
            (plain, AddressMode::Strict, 60 << 10),
        ] {
            let (single, error) = singly(requests(spec, mode, capacity));
            for taken in [0, 1, 20] {
                let mut chunked = requests(spec, mode, capacity);
                let first = chunked.by_ref().take(taken).map(Result::unwrap);
                let mut all: Vec<Request> = first.collect();
                let mut chunk = Vec::new();
                let mut failed = None;
                while let Some(next) = chunked.next_chunk(&mut chunk) {
                    match next {
                        Ok(()) => all.extend_from_slice(&chunk),
                        Err(error) => failed = Some(error.to_string()),
                    }
                    let known = single.get(all.len() - 1).map(|(_, records)| *records);
                    assert_eq!(Some(chunked.records_yielded()), known, "{spec} {mode:?}");
                }
                let expected: Vec<Request> = single.iter().map(|(request, _)| *request).collect();
                assert_eq!((all, failed), (expected, error.clone()), "{spec} {mode:?} {taken}");
            }
        }
    }
}
