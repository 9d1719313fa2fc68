//! The host path from the command line: schedulers, streams, and results that do not depend on how
//! many threads made them.

use crate::common::{Bench, without_wall};
use serde_json::Value;

const DEVICE: &str = "--device dftl2014 --capacity 8MiB --set device.over_provisioning=0.2 \
                      --set timing.profile=parallel --set device.channels=2";

/// 400 one-page requests of three units, all at the start: unit 0 far up, 1 and 2 below.
fn trace() -> String {
    let line = |number: u64| {
        let (unit, op) = (number % 3, ["r", "w"][usize::from(number.is_multiple_of(4))]);
        format!("{unit},{},2048,{op},0.000001\n", number * 37 % 600 * 4)
    };
    (0..400).map(line).collect()
}

#[test]
fn results_are_the_same_for_any_number_of_jobs() {
    let bench = Bench::new();
    let results = |jobs: u32| {
        bench
            .ftlab(&format!(
                "compare --schemes all {DEVICE} --precondition fill --timing closed:16 \
                 --set host.queue_depth=4 --set host.scheduler=out_of_order \
                 --workload randrw:bs=2k,rwmixread=50,span=100%,count=3000 \
                 --jobs {jobs} --out jobs{jobs}"
            ))
            .ok();
        without_wall(bench.json(&format!("jobs{jobs}/results.json")))
    };
    let one = results(1);
    assert!(one.as_array().unwrap().len() >= 3, "every scheme");
    assert_eq!(one, results(2));
    assert_eq!(one, results(3));
}

#[test]
fn every_scheduler_serves_every_loop_and_says_where_time_went() {
    let bench = Bench::new();
    bench.file("all.spc", trace());
    let list = bench.ftlab("list schedulers --json").ok();
    let schedulers: Vec<Value> = serde_json::from_str(&list).unwrap();
    assert_eq!(schedulers.len(), 4);
    for scheduler in schedulers.iter().map(|row| row["name"].as_str().unwrap()) {
        for timing in ["trace", "asap", "closed:2", "closed:24"] {
            let depth = if timing == "asap" { "" } else { "--set host.queue_depth=4" };
            let run = bench.run(&format!(
                "--scheme dftl {DEVICE} {depth} --set host.scheduler={scheduler} \
                 --set host.streams=2 --set host.arbitration=weighted --set host.weights=3,1 \
                 --set host.link_bandwidth=100MB --set host.command_overhead=2us \
                 --timing {timing} --workload all.spc"
            ));
            let at = format!("{scheduler} {timing}");
            let streams = run["streams"].as_array().unwrap();
            // Units 0 and 2 are stream 0, unit 1 is stream 1.
            let requests: Vec<u64> =
                streams.iter().map(|stream| stream["requests"].as_u64().unwrap()).collect();
            assert_eq!(requests, [267, 133], "{at}");
            let response = run["latency_ns"]["all"]["system"]["mean"].as_f64().unwrap();
            let stages = run["stages_ns"].as_object().unwrap();
            let sum: f64 = stages.values().map(|stage| stage.as_f64().unwrap()).sum();
            assert!((sum / response - 1.0).abs() < 1e-9, "{at}: {sum} of {response}");
            assert!(stages["host_link"].as_f64().unwrap() > 2_000.0, "{at}");
            let warned = run["warnings"].to_string().contains("nothing to choose from");
            assert_eq!(warned, matches!(timing, "asap" | "closed:2"), "{at}");
            let mean = |stream: &Value| stream["response_ns_mean"].as_f64().unwrap();
            let weighted = (mean(&streams[0]) * 267.0 + mean(&streams[1]) * 133.0) / 400.0;
            assert!((weighted / response - 1.0).abs() < 1e-9, "{at}");
            if timing == "trace" {
                // Three of four turns for two of three requests.
                assert!(mean(&streams[0]) < mean(&streams[1]), "{at}");
            }
        }
    }
}

#[test]
fn weights_must_fit_the_streams() {
    let bench = Bench::new();
    let run = |settings: &str| {
        bench.ftlab(&format!(
            "run --scheme dftl {DEVICE} {settings} --workload randwrite:bs=2k,span=50%,count=10"
        ))
    };
    run("--set host.weights=3,1").refused(2, &["host.weights = 3,1", "weighted"]);
    run("--set host.streams=17").refused(2, &["1..=16"]);
    run("--set host.link_bandwidth=5").refused(2, &["1KB to 1TB"]);
    run("--set host.scheduler=elevater").refused(2, &["fcfs | read_first | elevator"]);
}
