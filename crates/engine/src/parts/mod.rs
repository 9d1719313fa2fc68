//! Bricks that schemes are built from, by composition. No part asks which scheme uses it.

pub mod block_mapped;
pub mod block_supply;
pub mod block_survey;
pub mod cached_map;
pub mod checkpoint;
pub mod cmt;
pub mod data_blocks;
pub mod free_pool;
pub mod log_index;
pub mod log_recovery;
pub mod map_recovery;
pub mod merge_cost;
pub mod merge_engine;
pub mod oob_scan;
pub mod owned_logs;
pub mod page_space;
pub mod random_log;
pub mod recent_pages;
pub mod record_area;
pub mod request_size;
pub mod sequential_area;
pub mod sequential_log;
pub mod translation;
pub mod trim_records;
pub mod victim;
pub mod wear;
