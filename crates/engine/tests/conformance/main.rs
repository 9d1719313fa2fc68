//! What every scheme and every buffer promises: in every geometry and variant, under faults and
//! power cuts.

#[path = "../common/mod.rs"]
mod common;

mod buffers;
mod caches;
mod crash;
mod crash_buffers;
mod crash_long;
mod crash_preparing;
mod every_promise;
