//! The ftlab engine: a flash device, the translation schemes that run on it, and what they cost.
//!
//! No I/O, no printing, no wall clock, no threads and no unseeded randomness: the same requests
//! under the same settings give the same numbers on every machine.
//!
//! This is the top floor of a house whose floors are crates. Below: `ftlab-flash` (units, settings,
//! meter, board), `ftlab-ftl` (parts, and what a scheme is), and side by side `ftlab-schemes` and
//! `ftlab-ssd`, which do not know each other. Here they come together, in the table of schemes and
//! the whole configuration.

pub use ftlab_flash::{board, meter, request, rng, units};
pub use ftlab_ftl::{future, own, parts};
pub use ftlab_ssd::{audit, buffer, device, host, ssd};

pub mod config;
#[doc(hidden)]
pub mod fuzzing;
pub mod occupancy;
mod roster;
pub mod schemes;
