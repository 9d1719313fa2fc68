//! Every readable trace of the shared folder, under every scheme.

use crate::common::{Bench, schemes, traces};

#[test]
fn every_scheme_runs_every_real_trace_and_passes_its_audit() {
    let Some(folder) = traces() else {
        eprintln!("skipped: the folder of real traces, ../shared/traces, is absent");
        return;
    };
    let bench = Bench::new();
    let doubtful = "--format disksim --size-unit pages4k";
    for (file, reading, requests) in [
        ("financial1-first-1000.spc", "", 949),
        ("financial1-first-10000.ssdsim", "", 10_000),
        ("financial1-first-50000.disksim", doubtful, 50_000),
        ("websearch1-first-50000.disksim", doubtful, 50_000),
        ("wsrch-small.mqsim", "", 24_783),
        ("tpcc-small.mqsim", "", 6_999),
        ("msr-web_1-first-100000.csv.gz", "", 100_000),
        ("msr-hm_0-1000.csv", "", 1_000),
    ] {
        let path = folder.join(file);
        if !path.exists() {
            eprintln!("skipped: {file} is absent");
            continue;
        }
        let line = format!(
            "compare --schemes all --device dftl2014 --address dense --capacity auto --verify \
             --workload {} {reading} --out {file}",
            path.display()
        );
        bench.ftlab(&line).ok();
        let results = bench.json(&format!("{file}/results.json"));
        let runs = results.as_array().unwrap();
        assert_eq!(runs.len(), schemes().len());
        for run in runs {
            let what = format!("{file} under {}", run["scheme"]);
            assert_eq!(run["audit"], "passed", "{what}");
            assert_eq!(run["workload"]["requests"], requests, "{what}");
            let host = &run["host"];
            let reads = host["read_pages"].as_u64().unwrap();
            assert_eq!(run["verified_reads"], reads, "{what}");
            let served =
                host["read_requests"].as_u64().unwrap() + host["write_requests"].as_u64().unwrap();
            assert_eq!(run["latency_ns"]["all"]["system"]["N"], served, "{what}");
        }
    }
}
