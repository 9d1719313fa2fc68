//! Host write buffers from the command line: `--buffer`, their keys, and what the result says.

use crate::common::Bench;
use serde_json::Value;

const DEVICE: &str = "--device dftl2014 --capacity 8MiB --set device.over_provisioning=0.25";
const WORK: &str = "--workload randwrite:bs=2k,span=100%,count=2x --precondition fill";

#[test]
fn every_listed_buffer_runs_and_reports_hits_and_write_outs() {
    let bench = Bench::new();
    let listed: Value = serde_json::from_str(&bench.ftlab("list buffers --json").ok()).unwrap();
    let names: Vec<&str> =
        listed.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["lru", "bplru", "l_buffer", "cflru", "fab", "map_aware"]);
    for name in names {
        let line = format!("--scheme fast {DEVICE} {WORK} --buffer {name} --verify");
        let run = bench.run(&format!("{line} --set buffer.bytes=1MiB"));
        let buffer = &run["buffer"];
        let [lookups, hits, flushes] =
            ["lookups", "hits", "flushes"].map(|key| buffer[key].as_u64().unwrap());
        assert_eq!(lookups, run["host"]["write_pages"].as_u64().unwrap(), "{name}");
        // An eighth of the pages is here.
        assert!(hits > lookups / 20 && hits < lookups / 3, "{name}: {buffer}");
        assert!(flushes <= lookups - hits + 512, "{name}: {buffer}");
        assert!(
            (buffer["hit_ratio"].as_f64().unwrap() - hits as f64 / lookups as f64).abs() < 1e-9
        );
        assert_eq!(run["config"]["buffer"]["name"], name);
        let structures = &run["ram_bytes"]["structures"];
        assert_eq!(structures["write_buffer"]["bytes"], 1 << 20, "{name}");
        assert_eq!(structures["write_buffer"]["memory"], "sram");
        let warnings = run["warnings"].to_string();
        assert!(warnings.contains("still in the write buffer"), "{name}: {warnings}");
        assert_eq!(run["audit"], "passed");
    }
    let plain = bench.run(&format!("--scheme fast {DEVICE} {WORK}"));
    assert_eq!(
        (&plain["buffer"]["lookups"], &plain["buffer"]["hit_ratio"]),
        (&0.into(), &Value::Null)
    );
    assert!(plain["ram_bytes"]["structures"].get("write_buffer").is_none());
}

#[test]
fn buffers_are_compared_and_shown_in_the_table_and_in_ram() {
    let bench = Bench::new();
    let set = "--buffer bplru --set buffer.bytes=512KiB --set bplru.pad=if_half";
    let line = format!("compare --schemes bast,dftl {DEVICE} {WORK} {set} --out out");
    let text = bench.ftlab(&line).ok();
    assert!(text.contains("buffer hit ratio") && text.contains("pages the buffer wrote out"));
    let ram = bench.ftlab(&format!("ram --schemes dftl {DEVICE} {set} --json")).ok();
    let ram: Value = serde_json::from_str(&ram).unwrap();
    assert_eq!(ram[0]["ram_bytes"]["structures"]["write_buffer"]["bytes"], 512 << 10);
}

#[test]
fn one_budget_holds_map_and_buffer() {
    let bench = Bench::new();
    let line = format!("--scheme dftl {DEVICE} {WORK} --ram 256KiB --buffer lru");
    let run = bench.run(&format!("{line} --set buffer.bytes=248KiB"));
    assert_eq!(run["ram_bytes"]["structures"]["cmt"]["bytes"], 8 << 10);
    bench.ftlab(&format!("run {line}")).refused(2, &["buffer.bytes = 16777216", "262144"]);
}

#[test]
fn settings_of_a_buffer_that_is_not_there_are_refused() {
    let bench = Bench::new();
    let run = |options: &str| bench.ftlab(&format!("run --scheme fast {DEVICE} {WORK} {options}"));
    run("--set buffer.bytes=1MiB").refused(2, &["buffer.bytes has no effect", "--buffer NAME"]);
    run("--buffer lru --set bplru.pad=always").refused(2, &["bplru.pad", "the buffer is lru"]);
    run("--buffer lru --set buffer.name=fab").refused(2, &["exclude each other"]);
    run("--buffer fab --set buffer.cache_reads=on").refused(2, &["written pages only"]);
}
