//! A trace that was read once and is held in memory, for runs that share it.
//!
//! It yields what its reader yielded, record by record, with the place of each. What was read,
//! dropped and sorted is told as of the end of the trace, from the first record on.

use std::sync::Arc;

use crate::error::Result;
use crate::record::{Place, Record};
use crate::record_stream::RecordStream;
use crate::summary::Summary;

/// The records of a trace, all of them, in order of time.
#[derive(Debug)]
pub struct Decoded {
    names: Vec<String>,
    records: Vec<Record>,
    /// Where they were read: the number of a record and its place; those that follow up to the next
    /// of these are each a line further.
    places: Vec<(usize, Place)>,
    summary: Summary,
}

impl Decoded {
    /// Of records that were not begun; none where they take more than so many bytes, or end in an
    /// error. `noted` is called behind each record, and may end the pass.
    pub(crate) fn read<E>(
        mut from: impl RecordStream,
        bytes_max: u64,
        mut noted: impl FnMut() -> std::result::Result<(), E>,
    ) -> std::result::Result<Option<Self>, E> {
        let (mut records, mut places) = (Vec::new(), Vec::new());
        let mut expected = None;
        while let Some(record) = from.next() {
            let Ok(record) = record else { return Ok(None) };
            let place = from.place();
            if expected != Some(place) {
                places.push((records.len(), place));
            }
            expected = Some(Place { line: place.line + 1, ..place });
            records.push(record);
            if bytes(&records, &places) > bytes_max {
                return Ok(None);
            }
            noted()?;
        }
        records.shrink_to_fit();
        places.shrink_to_fit();
        let (names, summary) = (from.names().to_vec(), from.summary().clone());
        Ok(Some(Decoded { names, records, places, summary }))
    }

    /// Memory that it takes.
    pub fn bytes(&self) -> u64 {
        bytes(&self.records, &self.places)
    }

    /// Where a record was read.
    fn place(&self, number: usize) -> Place {
        let behind = self.places.partition_point(|(first, _)| *first <= number);
        let (first, place) = self.places[behind - 1];
        Place { line: place.line + (number - first) as u64, ..place }
    }
}

fn bytes(records: &[Record], places: &[(usize, Place)]) -> u64 {
    (size_of_val(records) + size_of_val(places)) as u64
}

/// The same records, from the start.
pub(crate) struct Replayed {
    decoded: Arc<Decoded>,
    next: usize,
}

impl Replayed {
    pub(crate) fn new(decoded: Arc<Decoded>) -> Self {
        Replayed { decoded, next: 0 }
    }

    /// As `Records::each_of`; false at the end.
    #[inline]
    pub(crate) fn each_of(&mut self, most: usize, mut take: impl FnMut(&Record) -> bool) -> bool {
        let rest = &self.decoded.records[self.next..];
        let some = &rest[..rest.len().min(most)];
        let refused = some.iter().position(|record| !take(record));
        self.next += refused.map_or(some.len(), |at| at + 1);
        !some.is_empty()
    }
}

impl Iterator for Replayed {
    type Item = Result<Record>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let record = *self.decoded.records.get(self.next)?;
        self.next += 1;
        Some(Ok(record))
    }
}

impl RecordStream for Replayed {
    fn place(&self) -> Place {
        match self.next.checked_sub(1) {
            Some(last) => self.decoded.place(last),
            None => Place::default(),
        }
    }

    fn names(&self) -> &[String] {
        &self.decoded.names
    }

    fn summary(&self) -> &Summary {
        &self.decoded.summary
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::sync::Arc;

    use crate::{AddressMap, AddressMode, Filter, Options, Record, Workload};

    /// Lines that are dropped, sorted and blank, so that places are no mere count.
    fn untidy(lines: u64) -> tempfile::NamedTempFile {
        let file = tempfile::Builder::new().suffix(".spc").tempfile().unwrap();
        let mut text = String::new();
        for line in 0..lines {
            let time = if line % 50 == 7 { line - 2 } else { line };
            let op = if line % 3 == 0 { 'r' } else { 'w' };
            writeln!(text, "{},{},4096,{op},{time}.5", line % 2, line % 90 * 8).unwrap();
            if line % 40 == 0 {
                text.push('\n');
            }
        }
        std::fs::write(file.path(), text).unwrap();
        file
    }

    fn open(file: &tempfile::NamedTempFile, options: &Options) -> Workload {
        Workload::parse(&file.path().display().to_string(), options, 0).unwrap()
    }

    fn decoded(workload: &Workload, bytes_max: u64) -> Option<super::Decoded> {
        workload.decoded_while(bytes_max, || Ok::<_, crate::TraceError>(())).unwrap()
    }

    /// Every record with its place, and what was read in the end.
    fn all(workload: &Workload) -> (Vec<(Record, crate::Place)>, crate::Summary) {
        let mut records = workload.records().unwrap();
        let mut all = Vec::new();
        while let Some(record) = records.next() {
            all.push((record.unwrap(), records.place()));
        }
        (all, records.summary().clone())
    }

    #[test]
    fn what_was_decoded_is_what_is_read() {
        let file = untidy(1000);
        let reads = Filter { ops: [true, false, false, false], ..Filter::default() };
        let head = Options { head: Some(100), ..Options::default() };
        let filtered = Options { filter: reads, ..Options::default() };
        for options in [Options::default(), head, filtered] {
            let own = open(&file, &options);
            let expected = all(&own);
            let held = Arc::new(decoded(&own, 1 << 20).expect("it fits"));
            let shared = open(&file, &options).held(held);
            assert_eq!(all(&shared), expected);
            let survey = |workload: &Workload| {
                let survey = workload.survey(4096).unwrap();
                (survey.requests, survey.requests_read, survey.strict_bytes(), survey.dense_bytes())
            };
            assert_eq!(survey(&shared), survey(&own));
        }
    }

    #[test]
    fn an_error_names_the_same_line() {
        let file = untidy(200);
        let own = open(&file, &Options { units: "0".parse().unwrap(), ..Options::default() });
        let held = Arc::new(decoded(&own, 1 << 20).unwrap());
        let told = |workload: &Workload| {
            let spans = workload.survey(4096).unwrap().spans;
            let map = AddressMap::new(AddressMode::Strict, 16 << 10, 4096, Some(&spans)).unwrap();
            let mut chunk = Vec::new();
            let mut requests = workload.requests(map).unwrap();
            while let Some(next) = requests.next_chunk(&mut chunk) {
                if let Err(error) = next {
                    return error.to_string();
                }
            }
            panic!("no request was beyond the device");
        };
        let expected = told(&own);
        assert_eq!(told(&own.held(held)), expected);
    }

    #[test]
    fn what_is_too_large_broken_or_no_trace_is_not_held() {
        let file = untidy(100);
        let own = open(&file, &Options::default());
        let bytes = decoded(&own, 1 << 20).unwrap().bytes();
        assert!(bytes >= 100 * size_of::<Record>() as u64);
        assert!(decoded(&own, bytes).is_some() && decoded(&own, bytes - 1).is_none());
        let generated = Workload::parse("randwrite:bs=4k,span=1M,count=5", &Options::default(), 0);
        assert!(decoded(&generated.unwrap(), 1 << 20).is_none());
        let mut text = std::fs::read_to_string(file.path()).unwrap();
        text.push_str("0,0,4096,w,no time\n");
        std::fs::write(file.path(), text).unwrap();
        assert!(decoded(&open(&file, &Options::default()), 1 << 20).is_none());
    }
}
