//! The end of the line: records laid out on a device, errors with their place.

use ftlab_flash::request::Request;

use crate::error::{Result, TraceError};
use crate::layout::AddressMap;
use crate::record::Record;
use crate::records::Records;

/// Requests at the end of a row that together are one record: its parts are not adjacent on the
/// device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InPieces {
    /// How many of the row.
    pub last: usize,
    /// How many the record has in all, the first of which may have come before the row; 0 where the
    /// row has none.
    pub pieces: usize,
}

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
    /// Of the chunk that was handed out last.
    in_pieces: InPieces,
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
            in_pieces: InPieces::default(),
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

    /// How many pieces the record has of which the request yielded last is one; none where it is
    /// all of its record.
    #[inline]
    pub fn pieces(&self) -> Option<usize> {
        (self.next > self.single).then(|| self.pending.len() - self.single)
    }

    /// Which requests of the chunk that was handed out last are pieces of one record.
    pub fn in_pieces(&self) -> InPieces {
        self.in_pieces
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
        if self.pending.is_empty() {
            // Those that come are made where those before were: memory that is at hand.
            std::mem::swap(chunk, &mut self.pending);
        }
        if let Err(end) = self.look_ahead(Records::CHUNK) {
            return end.map(Err);
        }
        let pieces = self.pending.len() - self.single;
        let last = pieces.min(self.pending.len() - self.next);
        self.in_pieces = InPieces { last, pieces };
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
        let (map, out) = (&mut self.map, &mut self.pending);
        let mut laid = Laid { map, out, with_care: 0, pieces: 0, failed: None };
        let read = self.records.each_of(most, |record| laid.add(record));
        let Laid { with_care, pieces, failed, .. } = laid;
        self.map.count_plain(self.pending.len() - with_care);
        self.single = self.pending.len() - pieces;
        match (failed, read) {
            (Some(error), _) => self.end_at_record(error),
            (None, Some(Err(error))) => self.end(Some(error)),
            (None, None) => self.end(None),
            (None, Some(Ok(()))) => {}
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

/// Records as they are laid out.
struct Laid<'a> {
    map: &'a mut AddressMap,
    out: &'a mut Vec<Request>,
    /// Requests that the map has counted; the others are a record each.
    with_care: usize,
    /// Requests at the end that together are one record.
    pieces: usize,
    failed: Option<TraceError>,
}

impl Laid<'_> {
    /// Adds the requests of a record; no other may follow one that is no single request.
    #[inline]
    fn add(&mut self, record: &Record) -> bool {
        if let Some(request) = self.map.plain(record) {
            self.out.push(request);
            return true;
        }
        // A copy: if the record's own address left this function, plain ones would have to be in
        // memory too.
        let record = *record;
        self.add_with_care(&record)
    }

    #[inline(never)]
    fn add_with_care(&mut self, record: &Record) -> bool {
        let before = self.out.len();
        if let Err(error) = self.map.map_with_care(record, self.out) {
            self.out.truncate(before);
            self.failed = Some(error);
            return false;
        }
        let added = self.out.len() - before;
        self.with_care += added;
        self.pieces = if added == 1 { 0 } else { added };
        added == 1
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

    fn requests(text: &str, mode: AddressMode, capacity: u64) -> Requests {
        let workload = Workload::parse(text, &Options::default(), 64 << 10).unwrap();
        let survey = workload.needs_survey().then(|| workload.survey(4096).unwrap());
        let spans = survey.as_ref().map(|survey| &survey.spans);
        workload.requests(AddressMap::new(mode, capacity, 4096, spans).unwrap()).unwrap()
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
        let later = "randrw:bs=4k,span=64k,count=300,rwmixread=40,rate_iops=70,seed=6";
        let mixed = format!("mix:({plain})+({later})");
        let folder = tempfile::tempdir().unwrap();
        let [compact, of_units, text] = ["a.ftb", "b.ftb", "c.csv"].map(|name| {
            let from = if name == "b.ftb" { &mixed } else { split };
            let from = Workload::parse(from, &Options::default(), 64 << 10).unwrap();
            let path = folder.path().join(name);
            crate::convert(&from, &path).unwrap();
            path.display().to_string()
        });
        for (spec, mode, capacity) in [
            (plain, AddressMode::Strict, 64 << 10),
            (split, AddressMode::Modulo, 40 << 10),
            (split, AddressMode::Dense, 64 << 10),
            (&mixed, AddressMode::Strict, 2 << 20),
            (&compact, AddressMode::Strict, 64 << 10),
            (&compact, AddressMode::Modulo, 40 << 10),
            (&compact, AddressMode::Dense, 64 << 10),
            (&of_units, AddressMode::Strict, 2 << 20),
            (&text, AddressMode::Strict, 64 << 10),
            // Some are beyond the device.
            (plain, AddressMode::Strict, 60 << 10),
            (&compact, AddressMode::Strict, 60 << 10),
            (&of_units, AddressMode::Strict, (1 << 20) + (60 << 10)),
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
