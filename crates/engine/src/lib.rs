//! The ftlab engine: a flash device, the translation schemes that run on it, and what they cost.
//!
//! No I/O, no printing, no wall clock, no threads and no unseeded randomness: the same requests
//! under the same settings give the same numbers on every machine.

pub mod audit;
pub mod board;
pub mod buffer;
pub mod config;
pub mod device;
#[doc(hidden)]
pub mod fuzzing;
pub mod host;
mod ledger;
pub mod meter;
pub mod occupancy;
mod page_split;
pub mod parts;
pub mod request;
pub mod rng;
pub mod schemes;
pub mod ssd;
pub mod units;
