//! Bricks that schemes are built from, by composition. No part asks which scheme uses it.

pub mod free_pool;
pub mod oob_scan;
pub mod page_space;
pub mod trim_records;
pub mod victim;
