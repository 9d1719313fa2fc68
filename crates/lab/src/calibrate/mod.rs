//! A device from measurements of a real drive (`ftlab calibrate`): probes that fio measured, a
//! device to begin with, and the search for topology and times under which the same probes,
//! simulated, come out alike. Probes are planned and run as any experiment, so that what is fitted
//! is what `run` shows.
//!
//! Only times and the topology are fitted: what is stated stays. What the probes do not tell is
//! said, and stays free while the rest is judged: held at the base's value it would bend the
//! others, and their intervals with them.

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
