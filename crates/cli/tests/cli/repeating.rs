//! `--loop N`: the workload again and again, and where that ends.

use crate::common::{Bench, without_wall};
use serde_json::Value;

const DEVICE: &str = "--device dftl2014 --capacity 1MiB --set device.over_provisioning=0.5";
const TRACE: &str = "time_us,op,offset_bytes,size_bytes\n100,W,0,2048\n5100,R,0,2048\n\
                     9100,W,10240,4096\n";

/// Three requests of 9 ms between the first and the last arrival. A pass begins when the one before
/// is done: the last write of a pass arrives at 9 ms and takes two programs of 405.9 us.
#[test]
fn each_pass_follows_on_the_last() {
    let bench = Bench::new();
    bench.file("t.csv", TRACE);
    let line = format!("--scheme ideal_page {DEVICE} --workload t.csv");
    let passes = |count: u64| bench.run(&format!("{line} --loop {count}"));
    let three = passes(3);
    assert_eq!(
        (&three["workload"]["passes"], &three["workload"]["requests"]),
        (&3.into(), &9.into())
    );
    assert_eq!(three["host"]["write_pages"], 9);
    assert_eq!(three["wear"]["until_worn_out"], Value::Null);
    let simulated = three["simulated_s"].as_f64().unwrap();
    assert!((simulated - 3.0 * 0.009_811_8).abs() < 1e-9, "{simulated}");
    // One pass is the run without the option, but for the key that says how many there were.
    let (mut one, without) = (without_wall(passes(1)), without_wall(bench.run(&line)));
    assert_eq!(one["workload"].as_object_mut().unwrap().remove("passes"), Some(1.into()));
    assert_eq!(one, without);
    let table = bench.ftlab(&format!("run {line} --loop 3")).ok();
    assert!(table.contains("9 in 3 complete passes over the workload"), "{table}");
}

/// Blocks that die after ten erases do not last for a thousand passes: the run ends in good order
/// and says where.
#[test]
fn a_device_that_wears_out_ends_the_run_with_pass_and_bytes() {
    let bench = Bench::new();
    let line = format!(
        "--scheme ideal_page {DEVICE} --set device.endurance_cycles=10 --set wear.blocks_die=true \
         --workload randwrite:bs=2k,span=100%,count=300,seed=4 --loop 1000"
    );
    let run = bench.run(&line);
    let end = &run["wear"]["until_worn_out"];
    let (loops, bytes) = (end["loops"].as_u64().unwrap(), end["bytes_to_end"].as_u64().unwrap());
    assert_eq!(run["workload"]["passes"], loops);
    assert!((1..1000).contains(&loops) && bytes / 2048 / 300 == loops, "{end}");
    let table = bench.ftlab(&format!("run {line}")).ok();
    assert!(table.contains(&format!("worn out in pass {} of 1000", loops + 1)), "{table}");
}

#[test]
fn what_cannot_be_repeated_is_refused() {
    let bench = Bench::new();
    bench.file("t.csv", TRACE);
    let run = format!("run --scheme ideal_page {DEVICE}");
    bench
        .ftlab_reading("t.csv", &format!("{run} --workload - --loop 2"))
        .refused(2, &["--loop", "read only once"]);
    let prefix = format!("{run} --workload t.csv --precondition prefix:1 --loop 2");
    bench.ftlab(&prefix).refused(2, &["--loop", "prefix:N"]);
    bench.ftlab(&format!("{run} --workload t.csv --loop 0")).refused(2, &["--loop"]);
    let both = format!("{run} --workload t.csv --loop 2 --until worn-out");
    bench.ftlab(&both).refused(2, &["--loop", "--until"]);
}

/// A trace of one second, a thousand million times as slow: 31.7 years a pass.
#[test]
fn passes_that_outlast_the_clock_are_refused() {
    let bench = Bench::new();
    bench.file("t.csv", "time_us,op,offset_bytes,size_bytes\n0,W,0,2048\n1000000,W,0,2048\n");
    let line = format!("--scheme ideal_page {DEVICE} --workload t.csv --timing trace:1000000000");
    assert_eq!(bench.run(&format!("{line} --loop 9"))["workload"]["passes"], 9);
    for passes in [10, 30] {
        let line = format!("run {line} --loop {passes}");
        bench.ftlab(&line).refused(2, &["--loop", "292 years", "fewer passes"]);
    }
}

/// Extents 5, 3 and 4 come in this order and are laid out in it, so that what goes from 4 on into 5
/// is split, in each pass.
#[test]
fn what_is_said_about_addresses_is_said_of_every_pass() {
    let bench = Bench::new();
    let extent = 131_072;
    let rows = [(5 * extent, 2048), (3 * extent, 2048), (5 * extent - 2048, 4096)];
    let rows: String = rows.iter().map(|(offset, size)| format!("0,W,{offset},{size}\n")).collect();
    bench.file("t.csv", format!("time_us,op,offset_bytes,size_bytes\n{rows}"));
    let line = format!("--scheme ideal_page {DEVICE} --workload t.csv --address dense");
    for (passes, words) in [("", "1 requests were split"), ("--loop 3", "1 requests of every pass")]
    {
        let warnings = bench.run(&format!("{line} {passes}"))["warnings"].to_string();
        assert!(warnings.contains(words), "{warnings}");
        assert!(warnings.contains("they reached it in 2 pieces"), "{warnings}");
    }
}
