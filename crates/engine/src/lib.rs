//! The ftlab engine: a flash device, the translation schemes that run on it, and what they cost.
//!
//! No I/O, no printing, no wall clock, no threads and no unseeded randomness: the same requests
//! under the same settings give the same numbers on every machine.

pub mod request;
pub mod units;
