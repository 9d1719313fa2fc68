//! Device size is limited by memory for what is used, not for what there is.

use crate::common::{Bench, schemes};

#[test]
fn a_tebibyte_with_a_small_footprint_stays_below_a_quarter_of_a_gibibyte_of_memory() {
    if !cfg!(target_os = "linux") {
        eprintln!("skipped: resident memory is read from Linux's /proc");
        return;
    }
    let bench = Bench::new();
    for scheme in schemes() {
        let run = bench.run(&format!(
            "--scheme {scheme} --device dftl2014 --capacity 1TiB \
             --workload randwrite:bs=2k,span=1GiB,count=20000"
        ));
        assert_eq!(run["config"]["device"]["logical_pages"], 1u64 << 29, "{scheme}");
        let peak = run["wall"]["peak_rss_bytes"].as_u64().unwrap();
        assert!(peak > 1 << 20 && peak < 1 << 28, "{scheme}: {peak} bytes resident");
    }
}
