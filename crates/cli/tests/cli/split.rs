//! Requests whose parts are not adjacent on the device count as the host sent them; their pieces
//! stand beside.

use serde_json::Value;

use crate::common::Bench;

const DEVICE: &str = "--device dftl2014 --capacity 1MiB --address modulo";

/// 40 requests of 4 KiB, every fourth across the end of the device.
fn trace(bench: &Bench) {
    let row = |n: u64| {
        let offset = if n % 4 == 3 { (1 << 20) - 2048 } else { n * 4096 };
        format!("{},{},{offset},4096\n", n * 50, if n.is_multiple_of(2) { "R" } else { "W" })
    };
    let rows: String = (0..40).map(row).collect();
    bench.file("t.csv", format!("time_us,op,offset_bytes,size_bytes\n{rows}"));
}

fn number(run: &Value, path: &str) -> f64 {
    run.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path}: {run:#}"))
}

#[test]
fn a_split_request_counts_once_and_lasts_until_its_last_piece() {
    let bench = Bench::new();
    trace(&bench);
    for (number_of, (timing, parallel)) in [
        ("", ""),
        ("--timing asap", ""),
        ("", "--set timing.profile=parallel"),
        ("--timing closed:4", "--set timing.profile=parallel"),
        ("", "--set timing.profile=parallel --set host.scheduler=read_first"),
        ("--timing closed:8", "--set host.queue_depth=2 --set host.scheduler=elevator"),
        ("", "--set host.streams=2 --set timing.profile=parallel"),
    ]
    .into_iter()
    .enumerate()
    {
        let line = format!("--scheme ideal_page {DEVICE} --workload t.csv {timing} {parallel}");
        let run = bench.run(&format!("{line} --requests-out rows{number_of}.csv"));
        let chunked = bench.run(&line);
        assert_eq!(run["host"], chunked["host"], "{line}");
        assert_eq!(run["latency_ns"], chunked["latency_ns"], "{line}");
        assert_eq!(run["workload"]["requests"], 40);
        assert_eq!(run["host"]["split"], serde_json::json!({"requests": 10, "pieces": 20}));
        assert_eq!(
            (&run["host"]["read_requests"], &run["host"]["write_requests"]),
            (&20.into(), &20.into())
        );
        for (kind, count) in [("all", 40.0), ("read", 20.0), ("write", 20.0)] {
            let parts = ["system", "device", "queue"];
            let of =
                |part: &str, what: &str| number(&run, &format!("/latency_ns/{kind}/{part}/{what}"));
            assert!(parts.iter().all(|&part| of(part, "N") == count), "{line}: {kind}");
            let sum = of("device", "mean") + of("queue", "mean");
            assert!((of("system", "mean") - sum).abs() < 1e-3, "{line}: {kind}");
        }
        let stages: f64 =
            run["stages_ns"].as_object().unwrap().values().filter_map(Value::as_f64).sum();
        assert!((stages - number(&run, "/latency_ns/all/system/mean")).abs() < 1e-3, "{line}");
        let windows: u64 = run["series"]
            .as_array()
            .unwrap()
            .iter()
            .map(|window| window["requests"].as_u64().unwrap())
            .sum();
        assert_eq!(windows, 40, "{line}");
        let streams = run["streams"].as_array().unwrap();
        let of_streams: u64 =
            streams.iter().map(|stream| stream["requests"].as_u64().unwrap()).sum();
        assert!(streams.is_empty() || of_streams == 40, "{line}");
        // A row per piece: what the device did.
        let rows = std::fs::read_to_string(bench.path(&format!("rows{number_of}.csv"))).unwrap();
        assert_eq!(rows.lines().count(), 1 + 50, "{line}");
    }
}

/// A serial device serves one piece after the other: the request lasts as long as both.
#[test]
fn pieces_that_follow_each_other_are_one_response() {
    let bench = Bench::new();
    let rows = format!("0,W,{},4096\n", (1 << 20) - 2048);
    bench.file("one.csv", format!("time_us,op,offset_bytes,size_bytes\n{rows}"));
    bench.file("whole.csv", "time_us,op,offset_bytes,size_bytes\n0,W,0,4096\n");
    let run = |file: &str| bench.run(&format!("--scheme ideal_page {DEVICE} --workload {file}"));
    let (split, whole) = (run("one.csv"), run("whole.csv"));
    assert_eq!(split["latency_ns"], whole["latency_ns"], "two pages either way");
    assert_eq!(split["stages_ns"], whole["stages_ns"]);
    assert!(whole["host"].get("split").is_none(), "absent where nothing is split");
    let warnings = split["warnings"].to_string();
    assert!(warnings.contains("1 requests were split") && warnings.contains("in 2 pieces"));
}

#[test]
fn tables_show_pieces_only_where_there_are_some() {
    let bench = Bench::new();
    trace(&bench);
    let run = |options: &str| {
        bench.ftlab(&format!("run --scheme ideal_page {options} --workload t.csv")).ok()
    };
    let split = run(DEVICE);
    assert!(split.contains("requests split") && split.contains("their pieces"), "{split}");
    let plain = run("--device dftl2014 --capacity 2MiB");
    assert!(!plain.contains("requests split") && !plain.contains("pieces"), "{plain}");
    // Phases count as the host does.
    let combined =
        bench.run(&format!("--scheme ideal_page {DEVICE} --workload phases:A=(t.csv),B=(t.csv)"));
    let phases = combined["phases"].as_array().unwrap();
    assert!(phases.iter().all(|phase| phase["requests"] == 40), "{phases:#?}");
    assert_eq!(combined["latency_ns"]["all"]["system"]["N"], 80);
}

/// A prefix ends between two requests, never between two pieces; passes count their own.
#[test]
fn pieces_stay_together_behind_a_prefix_and_in_every_pass() {
    let bench = Bench::new();
    trace(&bench);
    for (options, requests, split) in [
        ("--precondition prefix:3", 37, 10),
        ("--precondition prefix:4", 36, 9),
        ("--precondition prefix:5", 35, 9),
        ("--loop 3", 120, 30),
        ("--precondition warmup:7", 40, 10),
    ] {
        let line = format!("--scheme dftl {DEVICE} --workload t.csv {options}");
        let chunked = bench.run(&line);
        let rows = format!("--requests-out rows-{requests}-{split}.csv");
        let singly = bench.run(&format!("{line} {rows}"));
        for run in [&chunked, &singly] {
            let counts = serde_json::json!({"requests": split, "pieces": 2 * split});
            assert_eq!(run["host"]["split"], counts, "{options}");
            assert_eq!(run["workload"]["requests"], requests, "{options}");
            assert_eq!(run["latency_ns"]["all"]["system"]["N"], requests, "{options}");
        }
        assert_eq!(chunked["latency_ns"], singly["latency_ns"], "{options}");
    }
}

/// Pieces that still wait when the device ends never come: their requests are interrupted, once.
#[test]
fn a_device_that_ends_between_two_pieces_passes_its_audit() {
    let bench = Bench::new();
    let row = |n: u64| format!("{},W,{},8192\n", n * 5, (1 << 20) - 2048 * (1 + n % 3));
    let rows: String = (0..300).map(row).collect();
    bench.file("t.csv", format!("time_us,op,offset_bytes,size_bytes\n{rows}"));
    for host in ["", "--set host.scheduler=read_first --set host.queue_depth=1"] {
        let line = format!(
            "--scheme ideal_page {DEVICE} --workload t.csv --until worn-out {host} \
             --set device.endurance_cycles=5"
        );
        let run = bench.run(&line);
        assert_eq!(run["audit"], "passed");
        assert!(number(&run, "/wear/until_worn_out/dead_blocks") > 0.0, "{run:#}");
        let [requests, pieces] =
            ["requests", "pieces"].map(|part| number(&run, &format!("/host/split/{part}")));
        assert!(requests > 300.0 && pieces > 2.0 * requests - 3.0, "{requests} in {pieces}");
    }
}
