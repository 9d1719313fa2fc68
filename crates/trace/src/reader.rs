//! The pipeline of a trace that need not be in order of time: events -> strays dropped, whatever
//! unit they are of -> requests that count -> sorted -> rebased to 0.

use std::sync::Arc;

use ftlab_flash::request::Op;

use crate::bad_lines::BadLines;
use crate::error::{Result, TraceError};
use crate::events::{Event, Events};
use crate::evidence::seconds_words;
use crate::formats::format::FilesOf;
use crate::options::{Options, Parts};
use crate::order::{Filtered, Placed, Reorder, StrayFilter, TooLate};
use crate::record::{Place, Record};
use crate::record_stream::RecordStream;
use crate::size::human_bytes;
use crate::summary::{DropReason, Summary};
use crate::text::TextEvents;

/// Records of a trace in order of time, the first at 0. Memory does not grow with its length.
pub(crate) struct TraceRecords {
    names: Arc<[String]>,
    events: Opened,
    format_files: FilesOf,
    options: Options,
    yielded: Place,
    /// The part that the request sorted last is from.
    sorted_part: u32,
    stray: StrayFilter,
    reorder: Reorder,
    /// Time of the first request, whether it counts or not.
    start_ns: Option<u64>,
    /// Requests that passed every other filter: every Nth of them counts.
    stepped: u64,
    input_ended: bool,
    done: bool,
    bad_lines: BadLines,
    summary: Summary,
}

/// Text is by far the most common and is read without a call through a table.
pub(crate) enum Opened {
    Text(Box<TextEvents>),
    Binary(Box<dyn Events>),
}

impl Opened {
    #[inline]
    fn next_event(&mut self) -> Result<Option<Event>> {
        match self {
            Self::Text(events) => events.next_event(),
            Self::Binary(events) => events.next_event(),
        }
    }

    fn place(&self) -> Place {
        match self {
            Self::Text(events) => events.place(),
            Self::Binary(events) => events.place(),
        }
    }
}

impl TraceRecords {
    pub(crate) fn new(
        names: Arc<[String]>,
        events: Opened,
        format_files: FilesOf,
        bad_lines: BadLines,
        options: Options,
    ) -> Self {
        Self {
            names,
            start_ns: None,
            events,
            format_files,
            reorder: Reorder::new(options.reorder_window_ns),
            options,
            yielded: Place::default(),
            sorted_part: 0,
            stray: StrayFilter::default(),
            stepped: 0,
            input_ended: false,
            done: false,
            bad_lines,
            summary: Summary::default(),
        }
    }

    fn next_record(&mut self) -> Result<Option<Record>> {
        if self.options.head.is_some_and(|head| self.summary.requests >= head) {
            // What was read ahead for sorting is left, and counted nowhere.
            self.summary.read_to_end = false;
            return Ok(None);
        }
        loop {
            let ready =
                if self.input_ended { self.reorder.pop() } else { self.reorder.pop_ready() };
            if let Some(placed) = ready {
                if let Some(record) = self.release(placed) {
                    return Ok(Some(record));
                }
                continue;
            }
            if self.input_ended {
                return if self.summary.requests == 0 { Err(self.no_requests()) } else { Ok(None) };
            }
            let decided = match self.next_request()? {
                Some(event) => self.stray.push(event),
                None => {
                    self.input_ended = true;
                    self.stray.finish()
                }
            };
            match decided {
                Filtered::Nothing => {}
                Filtered::Kept(event) => match dropped(&event.record, &self.options) {
                    Some(reason) => self.summary.drop_line(reason, event.place),
                    None if self.options.any_order => {
                        if let Some(record) = self.release(event) {
                            return Ok(Some(record));
                        }
                    }
                    None => self.sort_in(event)?,
                },
                Filtered::Stray(event) => {
                    self.summary.drop_line(DropReason::StrayTime, event.place);
                }
            }
        }
    }

    /// Rebases the time and counts, unless the time is not asked for.
    #[inline]
    fn release(&mut self, placed: Placed) -> Option<Record> {
        let time_ns = placed.record.time_ns;
        let start_ns = self.start_ns.unwrap_or(time_ns);
        if !self.options.filter.keeps_every_time()
            && let Some(reason) = self.refused_by_time(time_ns.saturating_sub(start_ns))
        {
            self.summary.drop_line(reason, placed.place);
            return None;
        }
        let origin_ns = *self.summary.origin_ns.get_or_insert(time_ns);
        self.summary.requests += 1;
        self.yielded = placed.place;
        // Before the first only where any order will do.
        let since_ns = time_ns.saturating_sub(origin_ns);
        self.summary.latest_ns = Some(since_ns.max(self.summary.latest_ns.unwrap_or(0)));
        Some(Record { time_ns: since_ns, ..placed.record })
    }

    fn refused_by_time(&mut self, after_start_ns: u64) -> Option<DropReason> {
        let filter = &self.options.filter;
        if after_start_ns < filter.from_ns {
            return Some(DropReason::TimeNotSelected);
        }
        if after_start_ns >= filter.to_ns {
            // Sorted by time: nothing later counts, and no more is read.
            self.input_ended = true;
            self.summary.read_to_end = false;
            if let Filtered::Kept(last) | Filtered::Stray(last) = self.stray.finish() {
                let why = dropped(&last.record, &self.options);
                self.summary.drop_line(why.unwrap_or(DropReason::TimeNotSelected), last.place);
            }
            while let Some(held) = self.reorder.pop() {
                self.summary.drop_line(DropReason::TimeNotSelected, held.place);
            }
            return Some(DropReason::TimeNotSelected);
        }
        let step = self.stepped % filter.every;
        self.stepped += 1;
        (step != 0).then_some(DropReason::BetweenSteps)
    }

    #[inline]
    fn sort_in(&mut self, event: Placed) -> Result<()> {
        match self.reorder.push(event) {
            Ok(None) => {
                self.sorted_part = event.place.part;
                Ok(())
            }
            Ok(Some(back_ns)) => {
                self.summary.out_of_order_lines += 1;
                self.summary.first_out_of_order.get_or_insert(event.place);
                self.summary.backward_step_ns_max = self.summary.backward_step_ns_max.max(back_ns);
                Ok(())
            }
            Err(late) => Err(self.too_late(event, &late)),
        }
    }

    /// The next request, whether it counts or not, in file order, of any part.
    #[inline]
    fn next_request(&mut self) -> Result<Option<Placed>> {
        loop {
            let Some(event) = self.events.next_event()? else {
                self.summary.read_to_end = true;
                return Ok(None);
            };
            self.summary.lines_read += 1;
            match event {
                Event::Request(placed) => {
                    if is_larger_than(&placed.record, self.options.request_bytes_max) {
                        let name = self.names[placed.place.part as usize].clone();
                        let error = too_large(&placed.record, &self.options);
                        return Err(error.at(name, Some(placed.place.line)));
                    }
                    if self.yielded.line == 0 {
                        let time_ns = placed.record.time_ns;
                        let known_ns = self.start_ns.unwrap_or(time_ns);
                        self.start_ns = Some(known_ns.min(time_ns));
                    }
                    return Ok(Some(placed));
                }
                Event::Dropped(reason, place) => {
                    self.summary.drop_line(reason, place);
                    if reason == DropReason::Malformed {
                        self.summary.malformed.extend(self.bad_lines.wrong_with(place));
                    }
                }
                Event::Header => self.summary.header_lines += 1,
            }
        }
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
        let next_part = self.options.parts != Some(Parts::ByTime)
            && self.format_files == FilesOf::Parts
            && event.place.part != self.sorted_part;
        let legal = if next_part { format!("{legal}; {}", Parts::OVERLAP) } else { legal };
        let name = &self.names[event.place.part as usize];
        TraceError::new(format!("time steps back by {}", seconds_words(back_ns as f64 / 1e9)))
            .with_legal(legal)
            .at(name, Some(event.place.line))
    }

    #[cold]
    fn no_requests(&self) -> TraceError {
        no_requests(&self.names, self.events.place(), &self.summary)
    }
}

/// The error at the end of a trace that yielded nothing.
#[cold]
pub(crate) fn no_requests(names: &[String], place: Place, summary: &Summary) -> TraceError {
    let skipped = summary.dropped_lines();
    TraceError::new(format!("holds no request ({skipped} lines dropped)"))
        .with_legal("at least one request that --unit and --filter leave")
        .at(names[place.part as usize].clone(), Some(place.line.max(1)))
}

/// Does a request move more than that? A trim moves nothing.
#[inline]
pub(crate) fn is_larger_than(record: &Record, bytes_max: u64) -> bool {
    record.size_bytes > bytes_max && matches!(record.op, Op::Read | Op::Write)
}

/// The error for a request that [`Options::request_bytes_max`] does not allow.
#[cold]
pub(crate) fn too_large(record: &Record, options: &Options) -> TraceError {
    let most = options.request_bytes_max;
    TraceError::new("read or write is larger than the memory of this machine")
        .with_value(format!("{} bytes", record.size_bytes).as_bytes())
        .with_legal(format!("up to {most} bytes ({}); is --size-unit right?", human_bytes(most)))
}

/// Why a record does not count whatever its time, if it does not.
#[inline]
pub(crate) fn dropped(record: &Record, options: &Options) -> Option<DropReason> {
    if record.op == Op::Flush && record.size_bytes == 0 && !options.keep_zero_size_flushes {
        return Some(DropReason::ZeroSizeFlush);
    }
    if !options.units.contains(record.unit) {
        return Some(DropReason::UnitNotSelected);
    }
    options.filter.refuses(record)
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

impl RecordStream for TraceRecords {
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
