//! The real binary, run as its users run it.

mod common;

mod buffers;
mod commands;
mod golden;
mod host;
mod inspect;
mod memory;
mod options;
mod probe;
mod real_traces;
mod refusals;
mod requests;
mod worn_out;
