//! Traces as their users write them: read, detected, laid out, refused.

mod common;

mod bad_input;
mod combinations;
mod detection;
mod layout;
mod real_traces;
mod round_trip;
mod stand_ins;
mod synthetic;
