//! Traces as their users write them: read, detected, laid out, refused.

mod common;

mod bad_input;
mod blends;
mod blktrace;
mod combinations;
mod compact;
mod contents;
mod detection;
mod hints;
mod inspection;
mod layout;
mod more_formats;
mod parts;
mod real_traces;
mod repairs;
mod round_trip;
mod srt;
mod synthetic;
mod twins;
mod vscsi;
