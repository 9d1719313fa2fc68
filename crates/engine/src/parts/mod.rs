//! Bricks that schemes are built from, by composition. No part asks which scheme uses it.

pub mod cached_map;
pub mod checkpoint;
pub mod cmt;
pub mod free_pool;
pub mod map_recovery;
pub mod oob_scan;
pub mod page_space;
pub mod translation;
pub mod trim_records;
pub mod victim;
