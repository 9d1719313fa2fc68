//! The streaming pipeline: lines -> records -> strays dropped -> sorted -> rebased to 0.

use std::sync::Arc;

use ftlab_engine::request::Op;

use crate::detect::{Detection, is_skipped};
use crate::error::{Result, TraceError};
use crate::evidence::seconds_words;
use crate::formats::Scales;
use crate::lines::{LINE_BYTES_MAX, LineError, Lines};
use crate::options::Options;
use crate::order::{Filtered, Placed, Reorder, StrayFilter, TooLate};
use crate::record::{Place, Record};
use crate::source::{Source, Text};
use crate::summary::{DropReason, Summary};

/// Records of a trace in order of time, the first at 0. Memory does not grow with its length.
pub struct TraceRecords {
    source: Source,
    names: Arc<[String]>,
    lines: Lines<Text>,
    detection: Detection,
    scales: Scales,
    options: Options,
    reading: Place,
    yielded: Place,
    data_seen: bool,
    stray: StrayFilter,
    reorder: Reorder,
    input_ended: bool,
    done: bool,
    summary: Summary,
}

impl TraceRecords {
    pub(crate) fn new(
        source: Source,
        names: Arc<[String]>,
        first: Text,
        detection: Detection,
        options: Options,
    ) -> Self {
        Self {
            source,
            names,
            lines: Lines::new(first),
            scales: detection.scales(),
            detection,
            reorder: Reorder::new(options.reorder_window_ns),
            options,
            reading: Place::default(),
            yielded: Place::default(),
            data_seen: false,
            stray: StrayFilter::default(),
            input_ended: false,
            done: false,
            summary: Summary::default(),
        }
    }

    /// Where the record yielded last was read.
    pub fn place(&self) -> Place {
        self.yielded
    }

    /// What was read, dropped and sorted so far.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Names of the parts; [`Place::part`] is an index into them.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    fn next_record(&mut self) -> Result<Option<Record>> {
        if self.options.head.is_some_and(|head| self.summary.requests >= head) {
            return Ok(None);
        }
        loop {
            let ready =
                if self.input_ended { self.reorder.pop() } else { self.reorder.pop_ready() };
            if let Some(placed) = ready {
                return Ok(Some(self.release(placed)));
            }
            if self.input_ended {
                return if self.summary.requests == 0 { Err(self.no_requests()) } else { Ok(None) };
            }
            let decided = match self.next_event()? {
                Some(event) => self.stray.push(event),
                None => {
                    self.input_ended = true;
                    self.stray.finish().map_or(Filtered::Nothing, Filtered::Kept)
                }
            };
            match decided {
                Filtered::Nothing => {}
                Filtered::Kept(event) => self.sort_in(event)?,
                Filtered::Stray(event) => {
                    self.summary.drop_line(DropReason::StrayTime, event.place);
                }
            }
        }
    }

    /// Rebases the time and counts.
    #[inline]
    fn release(&mut self, placed: Placed) -> Record {
        let origin_ns = *self.summary.origin_ns.get_or_insert(placed.record.time_ns);
        self.summary.requests += 1;
        self.yielded = placed.place;
        Record { time_ns: placed.record.time_ns - origin_ns, ..placed.record }
    }

    #[inline]
    fn sort_in(&mut self, event: Placed) -> Result<()> {
        match self.reorder.push(event) {
            Ok(None) => Ok(()),
            Ok(Some(back_ns)) => {
                self.summary.out_of_order_lines += 1;
                self.summary.first_out_of_order.get_or_insert(event.place);
                self.summary.backward_step_ns_max = self.summary.backward_step_ns_max.max(back_ns);
                Ok(())
            }
            Err(late) => Err(self.too_late(event, &late)),
        }
    }

    /// The next event in file order, of any part.
    #[inline]
    fn next_event(&mut self) -> Result<Option<Placed>> {
        loop {
            let line = match self.lines.next() {
                Ok(Some(line)) => line,
                Ok(None) => {
                    if self.next_part()? {
                        continue;
                    }
                    return Ok(None);
                }
                Err(error) => return Err(self.line_error(&error)),
            };
            self.reading.line += 1;
            self.summary.lines_read += 1;
            match (self.detection.format.parse)(line, self.scales) {
                Ok(record) => {
                    self.data_seen = true;
                    if let Some(reason) = dropped(&record, &self.options) {
                        self.summary.drop_line(reason, self.reading);
                        continue;
                    }
                    return Ok(Some(Placed { record, place: self.reading }));
                }
                Err(fault) => {
                    if is_skipped(line) {
                        let blank = line.trim_ascii().is_empty();
                        let reason = if blank { DropReason::Blank } else { DropReason::Comment };
                        self.summary.drop_line(reason, self.reading);
                    } else if !self.data_seen && self.detection.format.is_header(line) {
                        self.data_seen = true;
                        self.summary.header_lines += 1;
                    } else {
                        return Err(TraceError::new(fault.problem)
                            .with_value(&fault.value)
                            .with_legal(fault.legal)
                            .at(self.file(), Some(self.reading.line)));
                    }
                }
            }
        }
    }

    /// Opens the next part, if there is one.
    fn next_part(&mut self) -> Result<bool> {
        let part = self.reading.part as usize + 1;
        if part >= self.names.len() {
            return Ok(false);
        }
        let text = Text::open(&self.names[part], self.source.open_stored(part)?)?;
        self.lines = Lines::new(text);
        self.reading = Place { part: part as u32, line: 0 };
        self.data_seen = false;
        Ok(true)
    }

    fn file(&self) -> &str {
        &self.names[self.reading.part as usize]
    }

    #[cold]
    fn line_error(&self, error: &LineError) -> TraceError {
        let (problem, legal) = match error {
            LineError::Io(error) => (
                format!("reading stopped here ({error}): truncated or corrupt file"),
                "a complete file, plain or compressed with gzip, bzip2, zstd or xz".to_owned(),
            ),
            LineError::TooLong => {
                ("line without an end".into(), format!("lines of at most {LINE_BYTES_MAX} bytes"))
            }
            LineError::Nul => ("NUL byte in line".into(), "text".into()),
        };
        TraceError::new(problem).with_legal(legal).at(self.file(), Some(self.lines.number()))
    }

    #[cold]
    fn too_late(&self, event: Placed, late: &TooLate) -> TraceError {
        let window = seconds_words(self.options.reorder_window_ns as f64 / 1e9);
        let (back_ns, legal) = match late {
            TooLate::BeyondWindow { back_ns } => (
                *back_ns,
                format!("steps back of at most the reorder window, {window} (--reorder-window)"),
            ),
            TooLate::WindowFull { back_ns } => (
                *back_ns,
                format!("at most {} requests within the reorder window", crate::order::HELD_MAX),
            ),
        };
        let name = &self.names[event.place.part as usize];
        TraceError::new(format!("time steps back by {}", seconds_words(back_ns as f64 / 1e9)))
            .with_legal(legal)
            .at(name, Some(event.place.line))
    }

    #[cold]
    fn no_requests(&self) -> TraceError {
        let skipped = self.summary.dropped_lines();
        TraceError::new(format!("holds no request ({skipped} lines dropped)"))
            .with_legal("at least one line with a request of a selected unit")
            .at(self.file(), Some(self.reading.line.max(1)))
    }
}

#[inline]
fn dropped(record: &Record, options: &Options) -> Option<DropReason> {
    if record.op == Op::Flush && record.size_bytes == 0 && !options.keep_zero_size_flushes {
        return Some(DropReason::ZeroSizeFlush);
    }
    (!options.units.contains(record.unit)).then_some(DropReason::UnitNotSelected)
}

impl Iterator for TraceRecords {
    type Item = Result<Record>;

    /// The next record; nothing after the first error.
    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let next = self.next_record().transpose();
        self.done = !matches!(next, Some(Ok(_)));
        next
    }
}
