//! Records: a row per request, written while the run goes on (`--requests-out`).
//!
//! Rows are the differences between pictures of the engine's counts, so that the sums over all
//! rows are the totals of the result. Memory does not grow with the number of rows: CSV is written
//! row by row, Parquet in row groups.

mod csv;
mod parquet;
mod row;
mod writer;

pub use row::{COLUMNS, Cell, Column, Kind, Recorder, Row, op_name};
pub use writer::RecordWriter;

use std::fs::File;
use std::io;

/// One format of records.
#[derive(Clone, Copy, Debug)]
pub struct RecordFormat {
    /// The extension of its files, without the dot.
    pub extension: &'static str,
    /// Starts a file.
    pub start: fn(File) -> io::Result<Box<dyn RecordWriter>>,
}

/// Every format of records.
pub const RECORD_FORMATS: &[RecordFormat] = &[
    RecordFormat { extension: "csv", start: csv::start },
    RecordFormat { extension: "parquet", start: parquet::start },
];

/// The format of files with that extension, in any case of letters.
#[must_use]
pub fn record_format(extension: &str) -> Option<&'static RecordFormat> {
    RECORD_FORMATS.iter().find(|format| format.extension.eq_ignore_ascii_case(extension))
}
