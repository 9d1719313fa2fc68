//! Every readable trace of the shared folder: its beginning under every scheme, all of it under some.

use crate::common::{Bench, schemes, traces};

/// So many requests of a trace are run under every scheme; with `FTLAB_ALL_CUTS` (`make test-long`)
/// all.
fn most() -> u64 {
    if std::env::var_os("FTLAB_ALL_CUTS").is_some() { 1_000_000 } else { 20_000 }
}

#[test]
fn every_scheme_runs_the_beginning_of_every_real_trace_and_passes_its_audit() {
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
        let most = most();
        all_pass(&bench, &format!("{line} --head {most}"), &schemes(), most.min(requests));
        if requests > most {
            let of_each_way_to_map = ["ideal_page", "fast", "dftl", "treeftl"];
            all_pass(&bench, &line, &of_each_way_to_map, requests);
        }
    }
}

fn all_pass(bench: &Bench, line: &str, schemes: &[&str], requests: u64) {
    let out = format!("runs-{}", bench.entries().len());
    let device = "--device dftl2014 --address dense --capacity auto --verify";
    let names = schemes.join(",");
    bench.ftlab(&format!("compare --schemes {names} {device} {line} --out {out}")).ok();
    let results = bench.json(&format!("{out}/results.json"));
    let runs = results.as_array().unwrap();
    assert_eq!(runs.len(), schemes.len(), "{line}");
    for run in runs {
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
