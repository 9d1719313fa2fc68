//! What a row of the table of formats is, and how the bytes of a format are read.

use super::context::Context;
use super::line::{Line, Parsed};
use crate::error::{Result, TraceError};
use crate::events::{Batches, Events, Files};
use crate::filter::EventFilter;
use crate::options::{Parts, SizeUnit, TimeUnit};

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
    /// The first line of a file, where the format has one (matched without regard to case); `|`
    /// stands between two that it may have.
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

/// Opens the files of a binary trace whose records come one by one.
pub(crate) type OpenEvents = fn(Files, Context, &'static Format) -> Result<Box<dyn Events>>;

/// Opens the files of a binary trace whose records come in order of time, many at once.
pub(crate) type OpenBatches = fn(Files, Context) -> Result<Box<dyn Batches>>;

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

    /// Refuses to skip malformed lines of what has none.
    pub(crate) fn check_skip_bad(&self, skip_bad: u64) -> Result<()> {
        if skip_bad > 0 && self.binary().is_some() {
            let problem = format!("--skip-bad counts lines of text, but {} is binary", self.name);
            return Err(TraceError::new(problem)
                .with_value(skip_bad.to_string().as_bytes())
                .with_legal(
                    "no --skip-bad with a binary format: behind a broken record nothing \
                             says where the next one begins",
                ));
        }
        Ok(())
    }

    /// Is this line the header of the format?
    pub(crate) fn is_header(&self, line: &[u8]) -> bool {
        let columns = |text: &[u8]| text.trim_ascii().to_ascii_lowercase();
        let named = |header: &str| {
            line.split(|&byte| byte == b',')
                .map(columns)
                .eq(header.as_bytes().split(|&byte| byte == b',').map(columns))
        };
        let headers = self.header.into_iter().flat_map(|headers| headers.split('|'));
        line.len() < 256 && headers.into_iter().any(named)
    }
}
