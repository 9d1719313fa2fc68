//! A device from measurements of a real drive (`ftlab calibrate`): probes that fio measured, a
//! device to begin with, and the search for topology and times under which the same probes,
//! simulated, come out alike.

mod coarse;
#[cfg(test)]
mod coverage;
mod device_file;
mod figures;
mod fio;
mod identified;
mod intervals;
mod jobs;
mod observations;
mod options;
mod parameters;
mod probe;
mod problems;
mod request;
mod scale;
mod search;
mod simulate;
mod squares;
mod times;
mod valleys;
mod words;
mod yardstick;

pub use request::{Calibrated, Request};

/// The job file that measures what a calibration asks for.
pub const JOB_FILE: &str = include_str!("../../config/fio/calibrate.fio");
