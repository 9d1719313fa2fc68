//! The flash translation layers, one published scheme a file.
//!
//! A new scheme is one file here, its `mod` line, and its row in the table of the engine, from
//! which the command line, results and tests take its name. A scheme may stand on another one; it
//! knows nothing of the table, of the device around it, or of the host.

pub mod adapt;
pub mod aps;
pub mod bast;
pub mod block;
pub mod ca_ssd;
pub mod caftl;
pub mod cdftl;
pub mod cftl;
pub mod dac;
pub mod dftl;
pub mod fast;
pub mod faster;
#[cfg(test)]
mod for_tests;
pub mod hat;
pub mod hmb;
pub mod ideal_page;
pub mod janus;
pub mod jtl;
pub mod kast;
pub mod last;
pub mod lazyftl;
pub mod leaftl;
pub mod learnedftl;
pub mod mast;
pub mod nk;
pub mod replacement_block;
pub mod sftl;
pub mod superblock;
pub mod tpftl;
pub mod treeftl;
pub mod treeftl_page_lru;
pub mod waftl;
pub mod zns;
