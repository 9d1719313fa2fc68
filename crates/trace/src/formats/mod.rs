//! THE table of trace formats: one row per format, one file per row.
//!
//! A new format is one new file with its `FORMAT` and one line in [`FORMATS`]. A text format brings
//! a function that reads one line; a binary one brings a function that opens a stream of events.

pub mod alibaba;
pub mod blkparse;
pub mod blktrace;
pub mod compact;
pub mod csv;
pub mod disksim;
pub(crate) mod fields;
pub mod fiu;
pub(crate) mod five_columns;
pub mod iolog;
pub mod mqsim;
pub mod msr;
pub mod spc;
pub mod srt;
pub mod ssdsim;
pub mod systor;
pub mod tencent;
pub mod vscsi;

use std::cell::RefCell;
use std::rc::Rc;

use crate::error::{Result, TraceError, unknown_name};
use crate::events::{OpenBatches, OpenEvents};
use crate::filter::EventFilter;
use crate::options::{Parts, SizeUnit, TimeUnit};
use crate::record::Record;
use crate::summary::DropReason;
use fields::Parsed;
use rustc_hash::FxHashMap;

/// Every format there is. Detection tries them in this order.
pub static FORMATS: &[Format] = &[
    spc::FORMAT,
    msr::FORMAT,
    disksim::FORMAT,
    ssdsim::FORMAT,
    mqsim::FORMAT,
    blkparse::FORMAT,
    blktrace::FORMAT,
    iolog::VERSION_2,
    iolog::VERSION_3,
    alibaba::FORMAT,
    tencent::FORMAT,
    tencent::IN_BYTES,
    systor::FORMAT,
    fiu::FORMAT,
    compact::FORMAT,
    srt::FORMAT,
    vscsi::FORMAT,
    csv::FORMAT,
];

/// How sure a format's units are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// The file itself names them: a flag that says otherwise is an error.
    Stated,
    /// The format's document names them; a flag overrides.
    Documented,
    /// Other formats have the same columns in other units: the data must decide, or a flag.
    Shared,
}

/// One row of the table.
#[derive(Debug)]
pub struct Format {
    /// Name on the command line and in reports.
    pub name: &'static str,
    /// The columns of a line.
    pub columns: &'static str,
    /// Who writes this format.
    pub origin: &'static str,
    /// Unit of the time column.
    pub time_unit: TimeUnit,
    /// Unit of the size column.
    pub size_unit: SizeUnit,
    /// How sure the two units are.
    pub certainty: Certainty,
    /// The first line of a file, where the format has one (matched without regard to case).
    pub header: Option<&'static str>,
    /// Which filters its columns allow beyond those of every format.
    pub(crate) takes: Takes,
    /// How its bytes are read.
    pub(crate) encoding: Encoding,
}

/// Filters that only some formats can answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Takes {
    pub(crate) action: bool,
    pub(crate) process: bool,
}

impl Takes {
    pub(crate) const NOTHING: Self = Self { action: false, process: false };
    pub(crate) const PROCESS: Self = Self { action: false, process: true };
    pub(crate) const ACTION_AND_PROCESS: Self = Self { action: true, process: true };

    /// Refuses a filter that the format cannot answer.
    pub(crate) fn check(self, format: &str, events: &EventFilter) -> Result<()> {
        let wrong = |filter: &str, legal: &str| {
            Err(TraceError::new(format!("format {format} has no column for the filter {filter}"))
                .with_legal(legal))
        };
        if events.action.is_some() && !self.action {
            return wrong("action", "action= with blkparse and blktrace");
        }
        if !events.processes.is_empty() && !self.process {
            return wrong("process", "process= with blkparse, blktrace and fiu");
        }
        Ok(())
    }
}

/// How the bytes of a format are read.
#[derive(Debug)]
pub(crate) enum Encoding {
    /// A line of text at a time.
    Text(TextFormat),
    /// Records of its own.
    Binary(BinaryFormat),
}

/// A format of one line per event.
#[derive(Debug)]
pub(crate) struct TextFormat {
    /// Does a line have the outer form of this format (separators and number of columns)?
    pub(crate) shape: fn(&[u8]) -> bool,
    /// One line; times are not yet rebased.
    pub(crate) parse: fn(&[u8], &mut Context) -> Parsed<Line>,
    /// The time column as it is written, for formats whose times stand in a column.
    pub(crate) time_column: fn(&[u8]) -> Option<&[u8]>,
    /// Are units numbered by file or by name, so that those of two files cannot be compared?
    pub(crate) units_given: bool,
}

/// A format that is no text.
#[derive(Debug)]
pub(crate) struct BinaryFormat {
    /// Do the first (decompressed) bytes of a file belong to this format?
    pub(crate) recognises: fn(&[u8]) -> bool,
    /// Opens the files of a trace.
    pub(crate) open: Open,
    /// What several files of this format are to each other.
    pub(crate) files: FilesOf,
    /// As that of [`TextFormat`]; the compact form says it in each file.
    pub(crate) units_given: bool,
}

/// What several files of a format are to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FilesOf {
    /// Parts, one after the other unless the caller states that they are of one time.
    Parts,
    /// Always of one time: they are merged by it.
    OneTime,
    /// A whole that the format's own reader puts together.
    Whole,
}

/// How the records of a binary format come.
#[derive(Debug)]
pub(crate) enum Open {
    /// One by one, in the order of the files.
    Events(OpenEvents),
    /// Many at once, always in order of time, so that nothing must be held back for sorting.
    Batches(OpenBatches),
}

/// What a line of text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A request, its time not yet rebased.
    Request(Record),
    /// No request, for a reason that belongs to the format.
    Other(DropReason),
}

/// What a line parser knows besides its line: units, what was asked for, and what earlier lines
/// of the same file said.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    /// Units as factors.
    pub(crate) scales: Scales,
    /// Actions and processes asked for.
    pub(crate) events: EventFilter,
    /// Units whose names are text, numbered in order of appearance.
    pub(crate) names: Names,
    /// Requests before this time after the first one are not asked for: a format with an index may
    /// begin reading near it.
    pub(crate) from_ns: u64,
    /// Time that earlier lines waited, for formats without times of their own.
    pub(crate) waited_ns: u64,
    /// The unit of formats that name none: 0, or the number of the file where files of one time
    /// stand beside each other.
    pub(crate) unit_of_file: u32,
    /// The name that the line before had, and its number.
    pub(crate) latest_name: Option<(Vec<u8>, u32)>,
    /// What the caller says that several files are to each other.
    pub(crate) parts: Option<Parts>,
    /// Is this one of several files that are read at the same time?
    pub(crate) of_one_time: bool,
}

impl Context {
    pub(crate) fn new(scales: Scales, events: EventFilter) -> Self {
        Self {
            scales,
            events,
            names: Names::default(),
            from_ns: 0,
            waited_ns: 0,
            unit_of_file: 0,
            latest_name: None,
            parts: None,
            of_one_time: false,
        }
    }

    /// For one of several files that are read at the same time: names are shared.
    pub(crate) fn for_file(&self, part: u32) -> Self {
        Self { unit_of_file: part, of_one_time: true, ..self.clone() }
    }
}

/// Names numbered in order of appearance, the same for all files that are read at the same time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names(Rc<RefCell<Numbered>>);

#[derive(Debug, Default)]
struct Numbered {
    numbers: FxHashMap<Vec<u8>, u32>,
    /// Only one name can stand.
    only_one: bool,
}

impl Names {
    /// How many names there are.
    pub(crate) fn len(&self) -> usize {
        self.0.borrow().numbers.len()
    }

    /// From here on only one name can stand; false where there are more already.
    pub(crate) fn keep_to_one(&self) -> bool {
        self.0.borrow_mut().only_one = true;
        self.len() <= 1
    }

    /// The number of a name; none where there would be more than `most`, or more than one where
    /// only one can stand.
    pub(crate) fn number(&self, name: &[u8], most: usize) -> Option<u32> {
        let mut names = self.0.borrow_mut();
        if let Some(number) = names.numbers.get(name) {
            return Some(*number);
        }
        let number = names.numbers.len();
        if number >= if names.only_one { 1 } else { most } {
            return None;
        }
        names.numbers.insert(name.to_vec(), number as u32);
        Some(number as u32)
    }
}

/// Units as factors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scales {
    /// Nanoseconds in one unit of time.
    pub(crate) time_ns: u64,
    /// Bytes in one unit of size.
    pub(crate) size_bytes: u64,
}

impl Scales {
    pub(crate) fn new(time_unit: TimeUnit, size_unit: SizeUnit) -> Self {
        Self { time_ns: time_unit.nanoseconds(), size_bytes: size_unit.bytes() }
    }
}

impl Format {
    /// How its lines are read; none for a binary format.
    pub(crate) fn text(&self) -> Option<&TextFormat> {
        match &self.encoding {
            Encoding::Text(text) => Some(text),
            Encoding::Binary(_) => None,
        }
    }

    /// How its records are read; none for a text format.
    pub(crate) fn binary(&self) -> Option<&BinaryFormat> {
        match &self.encoding {
            Encoding::Text(_) => None,
            Encoding::Binary(binary) => Some(binary),
        }
    }

    /// Are its units numbered by file or by name?
    pub(crate) fn units_are_given(&self) -> bool {
        match &self.encoding {
            Encoding::Text(text) => text.units_given,
            Encoding::Binary(binary) => binary.units_given,
        }
    }

    /// What several files of it are to each other.
    pub(crate) fn files(&self) -> FilesOf {
        self.binary().map_or(FilesOf::Parts, |binary| binary.files)
    }

    /// Refuses parts in order for files that are of one time.
    pub(crate) fn check_parts(&self, parts: Option<Parts>, files: usize) -> Result<()> {
        if parts == Some(Parts::InOrder) && files > 1 && self.files() != FilesOf::Parts {
            let problem = format!("the {files} files of format {} are of one time", self.name);
            return Err(TraceError::new(problem).with_value(b"in_order").with_legal("by_time"));
        }
        Ok(())
    }

    /// Is this line the header of the format?
    pub(crate) fn is_header(&self, line: &[u8]) -> bool {
        self.header.is_some_and(|header| {
            let columns = |text: &[u8]| text.trim_ascii().to_ascii_lowercase();
            line.len() < 256
                && line
                    .split(|&byte| byte == b',')
                    .map(columns)
                    .eq(header.as_bytes().split(|&byte| byte == b',').map(columns))
        })
    }
}

/// Every text format, with how its lines are read.
pub(crate) fn texts() -> impl Iterator<Item = (&'static Format, &'static TextFormat)> {
    FORMATS.iter().filter_map(|format| format.text().map(|text| (format, text)))
}

/// The binary format that the first bytes of a file belong to.
pub(crate) fn binary_of(head: &[u8]) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.binary().is_some_and(|binary| (binary.recognises)(head)))
}

/// The row of that name.
///
/// # Errors
/// An unknown name, with the nearest legal one.
pub fn find(name: &str) -> Result<&'static Format> {
    FORMATS.iter().find(|format| format.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
        let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        unknown_name("trace format", name, &names)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_a_misspelt_one_names_the_nearest() {
        for (index, format) in FORMATS.iter().enumerate() {
            assert!(FORMATS[..index].iter().all(|other| other.name != format.name));
            assert_eq!(find(format.name).unwrap().name, format.name);
        }
        let error = find("disksin").unwrap_err().to_string();
        assert!(error.contains("did you mean 'disksim'"), "{error}");
    }
}
