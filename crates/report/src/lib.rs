//! Results of runs in, bytes out: text, JSON, CSV and one-file HTML; a row per request, as CSV or
//! Parquet; the page of a workload that was looked into; any number of results on one page, and
//! what moved between two.
//!
//! This crate shows numbers; it neither measures nor estimates any. What a number is called in a
//! table, on the page and in the CSV is its path in the JSON.

pub mod asked;
pub mod calibration;
mod data_classes;
pub mod derive;
pub mod describe;
pub mod diff;
pub mod explore;
pub mod flatten;
pub mod format;
pub mod gathered;
pub mod inspection;
pub mod live;
pub mod metrics;
pub mod phases;
pub mod probe;
pub mod records;
pub mod reproduction;
pub mod result;
pub mod schema;
pub mod slowest;
pub mod sweep;
pub mod table;
pub mod tail;
pub mod trace_events;
pub mod writers;

pub use result::{ReadError, RunResult, read_json};
pub use writers::{Document, WRITERS, Writer, writer};
