//! Device size is limited by memory for what is used, not for what there is.
//!
//! `make tests` names the release program in `FTLAB_RELEASE`: what counts here is what users have
//! resident, and passing millions of blocks takes a program without optimisation a minute and a half.

use crate::common::{Bench, schemes};

fn peak_of_a_tebibyte(scheme: &str, pages_per_block: u32, writes: u32) -> u64 {
    let run = Bench::released().run(&format!(
        "--scheme {scheme} --device dftl2014 --capacity 1TiB --set device.oob_bytes=128 \
         --set device.pages_per_block={pages_per_block} \
         --workload randwrite:bs=2k,span=1GiB,count={writes}"
    ));
    assert_eq!(run["config"]["device"]["logical_pages"], 1u64 << 29, "{scheme}");
    run["wall"]["peak_rss_bytes"].as_u64().unwrap()
}

/// Blocks as long as today's: what every block takes counts for little, and what every page takes
/// shows.
#[test]
fn a_tebibyte_with_a_small_footprint_stays_below_64_mebibytes_of_memory() {
    if !cfg!(target_os = "linux") {
        eprintln!("skipped: resident memory is read from Linux's /proc");
        return;
    }
    for scheme in schemes() {
        let peak = peak_of_a_tebibyte(scheme, 512, 20_000);
        assert!(peak > 1 << 20 && peak < 1 << 26, "{scheme}: {peak} bytes resident");
    }
}

/// Eight million blocks.
#[test]
fn a_tebibyte_with_a_small_footprint_stays_below_a_quarter_of_a_gibibyte_of_memory() {
    if !cfg!(target_os = "linux") {
        eprintln!("skipped: resident memory is read from Linux's /proc");
        return;
    }
    for scheme in schemes() {
        let peak = peak_of_a_tebibyte(scheme, 64, 60_000);
        assert!(peak > 1 << 20 && peak < 1 << 28, "{scheme}: {peak} bytes resident");
    }
}
