//! `--until worn-out`: the end of a device as a result, with exact accounts.

use crate::common::{Bench, schemes};
use serde_json::Value;

const CYCLES: u64 = 12;
const PAGE: u64 = 2048;
const DEVICE: &str = "--device dftl2014 --capacity 1MiB --set device.over_provisioning=0.5 \
                      --set device.endurance_cycles=12";
const WORKLOAD: &str = "--workload randwrite:bs=2k,span=100%,count=300,seed=4 --until worn-out";

/// Writes of a pass: 300, or 20 for the schemes whose merges wear the device out within a few
/// passes of 300.
fn writes(scheme: &str) -> u64 {
    match scheme {
        "block" | "replacement_block" | "bast" | "kast" | "nk" | "adapt" | "dac" | "janus" => 20,
        _ => 300,
    }
}

fn number(run: &Value, pointer: &str) -> u64 {
    run.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("{pointer}: {run:#}"))
}

/// Writes of a page each, the same ones again and again. Every erase is accounted for: the dead
/// blocks had all their cycles, the living fewer; every byte too: the request that found no block
/// is not counted.
#[test]
fn the_end_of_a_device_is_a_result_with_exact_accounts() {
    let bench = Bench::new();
    for scheme in schemes() {
        let workload = WORKLOAD.replace("count=300", &format!("count={}", writes(scheme)));
        let run = bench.run(&format!("--scheme {scheme} {DEVICE} {workload}"));
        let end = |key: &str| number(&run, &format!("/wear/until_worn_out/{key}"));
        let requests = number(&run, "/workload/requests");
        assert_eq!(end("bytes_to_end"), (requests - 1) * PAGE, "{scheme}");
        assert_eq!(number(&run, "/host/bytes_written"), requests * PAGE, "{scheme}");
        assert_eq!(end("loops"), (requests - 1) / writes(scheme), "{scheme}");
        assert!(end("loops") >= 5, "{scheme}: {} loops", end("loops"));
        let first = end("bytes_to_first_death");
        assert!(first % PAGE == 0 && first <= end("bytes_to_end"), "{scheme}: {first}");
        let dead = end("dead_blocks");
        assert_eq!(dead, number(&run, "/wear/retired_blocks"), "{scheme}");
        assert_eq!(dead, number(&run, "/events/worn_out_blocks"), "{scheme}");
        let living = number(&run, "/config/device/physical_blocks") - dead;
        let mean = run["wear"]["erase_mean"].as_f64().unwrap();
        let of_living = (mean * living as f64).round() as u64;
        assert_eq!(dead * CYCLES + of_living, number(&run, "/flash/total_erases"), "{scheme}");
        assert!(number(&run, "/wear/erase_max") < CYCLES, "{scheme}");
        assert_eq!(run["audit"], "passed", "{scheme}");
        assert_eq!(run["wear"]["projected_bytes_written"], Value::Null, "{scheme}");
        let again = bench.run(&format!("--scheme {scheme} {DEVICE} {workload}"));
        assert_eq!(
            crate::common::without_wall(again),
            crate::common::without_wall(run),
            "{scheme}"
        );
    }
}

#[test]
fn the_table_tells_the_end_and_nothing_dies_unless_asked() {
    let bench = Bench::new();
    let line = format!("run --scheme ideal_page {DEVICE} {WORKLOAD}");
    let table = bench.ftlab(&line).ok();
    for words in ["host bytes to first death", "host bytes to the end", "passes over workload"] {
        assert!(table.contains(words), "{table}");
    }
    let once = WORKLOAD.replace(" --until worn-out", "").replace("count=300", "count=20000");
    let run = bench.run(&format!("--scheme ideal_page {DEVICE} {once}"));
    assert!(number(&run, "/wear/erase_max") > CYCLES, "older than its cycles: {run:#}");
    assert_eq!(number(&run, "/wear/retired_blocks"), 0);
    assert_eq!(run["wear"]["until_worn_out"], Value::Null);
}

#[test]
fn what_cannot_be_repeated_or_wears_nothing_out_is_refused() {
    let bench = Bench::new();
    bench.file("t.csv", "time_us,op,offset_bytes,size_bytes\n0,R,10240,2048\n10,R,10240,512\n");
    let run = format!("run --scheme ideal_page {DEVICE} --until worn-out");
    bench.ftlab(&format!("{run} --workload t.csv")).refused(2, &["writes nothing"]);
    let prefix = "--workload t.csv --precondition prefix:1";
    bench.ftlab(&format!("{run} {prefix}")).refused(2, &["prefix:N"]);
    bench.ftlab_reading("t.csv", &format!("{run} --workload -")).refused(2, &["read only once"]);
}
