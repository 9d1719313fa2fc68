//! Results of runs in, bytes out: text, JSON, CSV and one-file HTML; a row per request, as CSV or
//! Parquet; and the page of a workload that was looked into.
//!
//! This crate shows numbers; it neither measures nor estimates any. What a number is called in a
//! table, on the page and in the CSV is its path in the JSON.

pub mod derive;
pub mod describe;
pub mod flatten;
pub mod format;
pub mod inspection;
pub mod metrics;
pub mod phases;
pub mod probe;
pub mod records;
pub mod reproduction;
pub mod result;
pub mod schema;
pub mod writers;

pub use result::{ReadError, RunResult, read_json};
pub use writers::{Document, WRITERS, Writer, writer};
