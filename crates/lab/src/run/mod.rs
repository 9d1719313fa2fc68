//! A plan's runs: devices are prepared, driven, audited, and become results.

pub mod beside;
pub mod driving;
pub mod execute;
pub mod filling;
pub mod finished;
pub mod overload;
pub mod preparing;
pub mod reclaiming;
pub mod recording;
pub mod requests_file;
pub mod rest;
pub mod steady;
pub mod stream;
pub mod trace_file;
pub mod warnings;
