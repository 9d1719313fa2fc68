//! The real binary, run as its users run it.

mod common;

mod buffers;
mod calibrate;
mod classification;
mod commands;
mod explore;
mod golden;
mod host;
mod inspect;
mod leaving_nothing;
mod library;
mod options;
mod preparing;
mod probe;
mod reading;
mod real_traces;
mod reclaiming;
mod refusals;
mod repeating;
mod reproduce;
mod requests;
mod resuming;
mod saved_flash;
mod schema;
mod split;
mod sweep;
mod tail;
mod twins;
mod units;
mod workloads;
mod worn_out;
