//! Page accesses per second of a whole inspection, by how the accesses reuse their pages, with a
//! checksum; what is left when the time of making the requests is taken off stands beside it.
//!
//! `cargo bench -p ftlab-trace --bench inspect` measures; without `--bench` (as under
//! `cargo test --benches`) a few thousand requests are counted, so that it stays tested.
#![allow(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::time::Instant;

use ftlab_trace::{InspectionOptions, Options, Workload, inspect};

const MEASURED: u64 = 10_000_000;
const TESTED: u64 = 5_000;

fn main() {
    let measured = std::env::args().any(|argument| argument == "--bench");
    let count = if measured { MEASURED } else { TESTED };
    println!("{:<34}{:>14}{:>14}{:>14}  checksum", "workload", "footprint", "accesses/s", "alone");
    for (name, spec) in [
        ("one page", "randwrite:bs=4k,span=4k"),
        ("uniform, 64 Ki pages", "randwrite:bs=4k,span=256M"),
        ("uniform, 1 Mi pages", "randwrite:bs=4k,span=4G"),
        ("uniform, 8 Mi pages", "randwrite:bs=4k,span=32G"),
        (
            "zipf 0.99, 8 Mi pages",
            "randwrite:bs=4k,span=32G,random_distribution=zipf:0.99,scatter=1",
        ),
        ("sequential loop, 1 Mi pages", "write:bs=64k,span=4G"),
    ] {
        let requests = if name.starts_with("sequential") { count / 16 } else { count };
        report(name, &format!("{spec},count={requests},rate_iops=1000000"));
    }
}

fn report(name: &str, spec: &str) {
    let start = Instant::now();
    let workload = Workload::parse(spec, &Options::default(), 0).expect("the spec is legal");
    let records = workload.records().expect("it can be generated");
    let bytes: u64 = records.map(|record| record.expect("no error").size_bytes).sum();
    let making = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let settings = InspectionOptions::default();
    let found = inspect(spec, &Options::default(), 0, &settings).expect("the spec is legal");
    let whole = start.elapsed().as_secs_f64();
    let accesses = found.lru_stack.page_accesses;
    assert_eq!(accesses * settings.page_bytes, bytes, "{name}: every page is one access");
    let misses = &found.map_cache.entries.misses;
    let checksum = misses.iter().fold(0u64, |sum, count| sum.rotate_left(7).wrapping_add(*count));
    let (rate, alone) = (accesses as f64 / whole, accesses as f64 / (whole - making).max(1e-9));
    println!("{name:<34}{:>14}{rate:>14.0}{alone:>14.0}  {checksum:016x}", found.footprint_pages);
}
