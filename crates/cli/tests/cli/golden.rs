//! Numbers of two miniature workloads per scheme. A number that moves is explained in the
//! changelog; `cargo insta review` accepts it.

use crate::common::{Bench, schemes, without_wall};
use serde_json::{Map, Value};

/// Floating-point numbers to nine digits: enough to see any change, too few to see a platform.
fn rounded(value: Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => {
            let text = format!("{:.8e}", number.as_f64().unwrap());
            text.parse::<f64>().unwrap().into()
        }
        Value::Array(items) => items.into_iter().map(rounded).collect(),
        Value::Object(pairs) => {
            let pairs = pairs.into_iter().map(|(key, value)| (key, rounded(value)));
            Value::Object(pairs.collect::<Map<String, Value>>())
        }
        other => other,
    }
}

/// What is measured, without settings, curves and sentences.
fn metrics(mut run: Value) -> Value {
    // First, and keeping the order: what is removed below changes places with what is last, and
    // snapshots are in the order that this left when these two were not there.
    let later = ["ccdf", "series_latency_ns"];
    run.as_object_mut().unwrap().retain(|key, _| !later.contains(&key.as_str()));
    let mut run = without_wall(run);
    let object = run.as_object_mut().unwrap();
    for key in ["config", "version", "warnings", "cdf", "series"] {
        object.remove(key).unwrap();
    }
    rounded(run)
}

#[test]
fn metrics_of_miniature_workloads_stay_as_they_are() {
    let bench = Bench::new();
    let small = "--device dftl2014 --capacity 8MiB --set device.over_provisioning=0.2";
    let skewed = "randrw:rwmixread=30,bssplit=2k/60:8k/40,span=100%,count=6000,\
                  random_distribution=zipf:1.1,scatter=0,rate_iops=200,rate_process=poisson";
    for scheme in schemes() {
        let own = match scheme {
            "dftl" => "--set dftl.cmt_entries=256",
            "cdftl" => "--set cdftl.cmt_entries=128 --set cdftl.ctp_pages=2",
            "treeftl" | "treeftl_page_lru" => "--ram 256KiB",
            "dac" => "--set dac.l1_entries=8 --set dac.spatial_pages=0 --set dac.freq_pages=0",
            "tpftl" => "--set tpftl.cache_bytes=1KiB",
            "aps" => "--ram 128KiB --set aps.interval=500",
            "jtl" => "--ram 128KiB",
            "hat" => "--set hat.qmt_entries=256",
            "hmb" => "--set hmb.cache_entries=256 --set hmb.bytes=8KiB",
            "cftl" => "--set cftl.cache_bytes=1KiB",
            "sftl" => "--set sftl.cache_bytes=4KiB",
            "learnedftl" => "--set tpftl.cache_bytes=1KiB",
            "leaftl" => "--set leaftl.map_bytes=4KiB --set leaftl.gamma=4",
            _ => "",
        };
        for (name, workload) in
            [("random", "randwrite:bs=2k,span=100%,count=2x"), ("skewed", skewed)]
        {
            let contents = match scheme {
                "ca_ssd" | "caftl" => ",dedupe_percentage=40,dedupe_values=64",
                _ => "",
            };
            let run = bench.run(&format!(
                "--scheme {scheme} {small} {own} --precondition fill --workload {workload}{contents}"
            ));
            insta::assert_json_snapshot!(format!("{scheme}_{name}"), metrics(run));
        }
    }
}
