//! Every readable trace of the shared folder: its beginning under every scheme, all of it under some.

use crate::common::{Bench, traces};

/// So much of a trace is run under every scheme.
const MANY: u64 = 20_000;

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
        let line = format!("--workload {} {reading}", path.display());
        runs_and_passes(&bench, &format!("{line} --schemes all --head {MANY}"), MANY.min(requests));
        if requests > MANY {
            let of_each_way_to_map = "--schemes ideal_page,fast,dftl,treeftl";
            runs_and_passes(&bench, &format!("{line} {of_each_way_to_map}"), requests);
        }
    }
}

fn runs_and_passes(bench: &Bench, line: &str, requests: u64) {
    let out = format!("runs-{}", bench.entries().len());
    bench
        .ftlab(&format!(
            "compare --device dftl2014 --address dense --capacity auto --verify {line} --out {out}"
        ))
        .ok();
    for run in bench.json(&format!("{out}/results.json")).as_array().unwrap() {
        let what = format!("{line}: {}", run["scheme"]);
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
