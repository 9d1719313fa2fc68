//! Workloads: their files, what a text after `--workload` means, and opening it.

pub mod choice;
pub mod files;
pub mod opening;
pub mod resolve;
pub mod stand_in;
pub mod subset;
pub mod trace_dir;
pub mod traces;
