//! Each scheme against its paper: worked examples as sequences of operations, and its limits.

mod adapt_bench;
#[path = "../common/mod.rs"]
mod common;
mod fast_bench;

mod adapt;
mod aps;
mod areas_adapt;
mod bast;
mod bast_map;
mod block;
mod block_buffers;
mod bounds_kast;
mod bounds_last;
mod buffers;
mod cdftl;
mod cftl;
mod dac;
mod dac_limits;
mod dftl;
mod fast;
mod faster;
mod faults_fast;
mod hat;
mod hmb;
mod janus;
mod jtl;
mod kast;
mod last;
mod lazyftl;
mod lazyftl_limits;
mod mast;
mod merges_fast;
mod nk;
mod ram_limits;
mod replacement_block;
mod sftl;
mod superblock;
mod tpftl;
mod treeftl;
mod treeftl_blocks;
mod treeftl_limits;
mod treeftl_page_lru;
mod victims_waftl;
mod waftl;
mod waftl_map;
