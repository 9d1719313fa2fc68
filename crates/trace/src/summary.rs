//! What a reader did besides yielding requests: lines read, dropped and sorted.

use std::fmt;

use serde::Serialize;

use crate::bad_lines::SHOWN_MAX;
use crate::record::Place;

/// Why a line carries no request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DropReason {
    /// Nothing but blanks.
    Blank,
    /// Begins with `#`.
    Comment,
    /// A flush without a size.
    ZeroSizeFlush,
    /// Its time lies more than a day from both its neighbours.
    StrayTime,
    /// Its unit was not asked for.
    UnitNotSelected,
    /// Its operation was not asked for.
    OpNotSelected,
    /// It lies outside the times asked for.
    TimeNotSelected,
    /// It lies between two requests asked for (every Nth).
    BetweenSteps,
    /// Its action (block layer: queued, issued, completed ...) was not asked for.
    ActionNotSelected,
    /// Its process was not asked for.
    ProcessNotSelected,
    /// A read or write without a size, or one whose operation the trace leaves open.
    NoOperation,
    /// A message, a count or a file event: nothing that a device is asked for.
    NotARequest,
    /// A record of another kind than those that are requests (SRT).
    OtherKind,
    /// It cannot be read, and the caller allows some such lines (`--skip-bad`).
    Malformed,
}

impl DropReason {
    const ALL: [Self; 14] = [
        Self::Blank,
        Self::Comment,
        Self::ZeroSizeFlush,
        Self::StrayTime,
        Self::UnitNotSelected,
        Self::OpNotSelected,
        Self::TimeNotSelected,
        Self::BetweenSteps,
        Self::ActionNotSelected,
        Self::ProcessNotSelected,
        Self::NoOperation,
        Self::NotARequest,
        Self::OtherKind,
        Self::Malformed,
    ];
}

impl fmt::Display for DropReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Blank => "blank line",
            Self::Comment => "comment line",
            Self::ZeroSizeFlush => "flush of size 0",
            Self::StrayTime => "time more than a day from both neighbours",
            Self::UnitNotSelected => "unit not selected",
            Self::OpNotSelected => "operation not selected",
            Self::TimeNotSelected => "time not selected",
            Self::BetweenSteps => "between two steps of every=N",
            Self::ActionNotSelected => "action not selected",
            Self::ProcessNotSelected => "process not selected",
            Self::NoOperation => "no operation or no size",
            Self::NotARequest => "message, count or file event",
            Self::OtherKind => "record of another kind than a request",
            Self::Malformed => "malformed line, skipped",
        })
    }
}

/// Lines dropped for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Drop {
    /// The reason.
    pub reason: DropReason,
    /// How many lines.
    pub lines: u64,
    /// File of the first of them.
    pub first_file: String,
    /// Line of the first of them.
    pub first_line: u64,
}

/// What a reader did so far. Lines read = requests + headers + dropped lines, once it has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Lines read, of every kind.
    pub lines_read: u64,
    /// Header lines among them.
    pub header_lines: u64,
    /// Requests yielded.
    pub requests: u64,
    /// Lines whose time was before that of an earlier line, and that were sorted.
    pub out_of_order_lines: u64,
    /// Where the first of them stands.
    pub first_out_of_order: Option<Place>,
    /// Largest backward step of time, in nanoseconds.
    pub backward_step_ns_max: u64,
    /// Time of the first request in the trace's own count, in nanoseconds (of the first one that
    /// counts, where a filter leaves earlier ones out).
    pub origin_ns: Option<u64>,
    /// What is wrong with the first malformed lines that were skipped, each with its place.
    pub malformed: Vec<String>,
    /// Time of the latest request, counted from the first, in nanoseconds; none before the first,
    /// and for what is generated.
    pub(crate) latest_ns: Option<u64>,
    /// Requests of the largest part whose requests all have one time.
    at_one_time: u64,
    /// Was everything read that the files hold?
    pub(crate) read_to_end: bool,
    dropped: [(u64, Place); DropReason::ALL.len()],
}

impl Summary {
    pub(crate) fn drop_line(&mut self, reason: DropReason, place: Place) {
        let (lines, first) = &mut self.dropped[reason as usize];
        if *lines == 0 {
            *first = place;
        }
        *lines += 1;
    }

    /// Adds what the reader of a part did; its files begin at `first_file` of the whole. Requests
    /// and their origin are the whole's own.
    pub(crate) fn absorb(&mut self, part: &Self, first_file: u32) {
        let whole = |place: Place| Place { part: place.part + first_file, ..place };
        self.lines_read += part.lines_read;
        self.header_lines += part.header_lines;
        self.out_of_order_lines += part.out_of_order_lines;
        self.backward_step_ns_max = self.backward_step_ns_max.max(part.backward_step_ns_max);
        let first = part.first_out_of_order.map(whole);
        self.first_out_of_order = self.first_out_of_order.or(first);
        self.at_one_time = self.at_one_time.max(part.at_one_time());
        let room = SHOWN_MAX.saturating_sub(self.malformed.len());
        self.malformed.extend(part.malformed.iter().take(room).cloned());
        for ((lines, first), (more, place)) in self.dropped.iter_mut().zip(part.dropped) {
            if *lines == 0 {
                *first = whole(place);
            }
            *lines += more;
        }
    }

    fn at_one_time(&self) -> u64 {
        let own = if self.latest_ns == Some(0) { self.requests } else { 0 };
        own.max(self.at_one_time)
    }

    /// What a trace's clock says that stands still: all of its many requests have the same time. Of
    /// a combination its largest such trace counts.
    pub fn clock_stands(&self) -> Option<String> {
        const REQUESTS_MIN: u64 = 100;
        let requests = self.at_one_time();
        (requests >= REQUESTS_MIN).then(|| {
            format!(
                "All {requests} requests of the trace have the same time: its clock stands still, \
                 or its times are lost. They arrive at once, and response times are those of one \
                 burst unless --timing closed:QD or asap says how they come."
            )
        })
    }

    /// What is wrong with the malformed lines that were skipped, if any were.
    pub fn skipped(&self) -> Option<String> {
        let (lines, _) = self.dropped(DropReason::Malformed);
        (lines > 0).then(|| {
            let first = self.malformed.join("; ");
            format!("{lines} malformed lines of the trace were skipped (--skip-bad): {first}.")
        })
    }

    /// Lines dropped for that reason, and where the first of them stands.
    pub fn dropped(&self, reason: DropReason) -> (u64, Place) {
        self.dropped[reason as usize]
    }

    /// Requests that the files hold, with those that were not asked for and stray ones; none where
    /// reading ended before the files did, and for what is no single trace.
    pub fn requests_read(&self) -> Option<u64> {
        const REQUESTS: [DropReason; 5] = [
            DropReason::StrayTime,
            DropReason::UnitNotSelected,
            DropReason::OpNotSelected,
            DropReason::TimeNotSelected,
            DropReason::BetweenSteps,
        ];
        let dropped: u64 = REQUESTS.into_iter().map(|reason| self.dropped(reason).0).sum();
        self.read_to_end.then_some(self.requests + dropped)
    }

    /// Lines dropped for any reason.
    pub fn dropped_lines(&self) -> u64 {
        self.dropped.iter().map(|(lines, _)| lines).sum()
    }

    /// Every reason that occurred; `files` are the names of the parts.
    pub fn drops(&self, files: &[String]) -> Vec<Drop> {
        DropReason::ALL
            .into_iter()
            .map(|reason| (reason, self.dropped(reason)))
            .filter(|(_, (lines, _))| *lines > 0)
            .map(|(reason, (lines, first))| Drop {
                reason,
                lines,
                first_file: files.get(first.part as usize).cloned().unwrap_or_default(),
                first_line: first.line,
            })
            .collect()
    }
}
