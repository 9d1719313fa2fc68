//! `--probe` shows the requests that it was asked for, as their rows do, and everything that the
//! device did meanwhile.

use std::collections::BTreeMap;

use crate::common::{Bench, schemes, without_wall};
use serde_json::Value;

const SMALL: &str = "--device dftl2014 --capacity 8MiB --set device.over_provisioning=0.2 \
                     --precondition fill";
const MIXED: &str = "--workload randrw:rwmixread=40,bssplit=2k/60:8k/40,span=100%,count=4000,\
                     rate_iops=150,rate_process=poisson";

fn numbers(list: &Value) -> Vec<u64> {
    list.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
}

/// A column of `--requests-out`.
fn column(bench: &Bench, name: &str) -> Vec<u64> {
    let mut reader = csv::Reader::from_path(bench.path("rows.csv")).unwrap();
    let place = reader.headers().unwrap().iter().position(|heading| heading == name).unwrap();
    reader.records().map(|record| record.unwrap()[place].parse().unwrap()).collect()
}

#[test]
fn the_probe_sees_what_the_rows_say() {
    for scheme in schemes() {
        let bench = Bench::new();
        let line = format!("--scheme {scheme} {SMALL} {MIXED} --requests-out rows.csv");
        let probe = bench.run(&format!("{line} --probe 1500:200"))["probe"].clone();
        let seen = &probe["requests"];
        assert_eq!(numbers(&seen["index"]), (1500..1700).collect::<Vec<u64>>(), "{scheme}");
        let window = |name: &str| column(&bench, name)[1500..1700].to_vec();
        for name in ["arrival_ns", "first_sector", "sectors", "system_ns", "device_ns", "erases"] {
            assert_eq!(numbers(&seen[name]), window(name), "{scheme}: {name}");
        }
        let (arrivals, times) = (column(&bench, "arrival_ns"), column(&bench, "system_ns"));
        let waiting = |place: usize| {
            let earlier = arrivals[..place].iter().zip(&times);
            earlier.filter(|&(arrival, time)| arrival + time > arrivals[place]).count() as u64
        };
        let expected: Vec<u64> = (1500..1700).map(waiting).collect();
        assert_eq!(numbers(&seen["queue_depth"]), expected, "{scheme}: queue depth");
        assert!(expected.iter().any(|&depth| depth > 0), "{scheme}: something must wait");
        let copies: u64 = numbers(&seen["gc_page_copies"]).iter().sum();
        assert!(copies > 0, "{scheme}: something must be copied");
        assert_timeline_is_complete(&probe, scheme);
    }
}

/// As many pieces of work as the requests had operations, in order, one at a time on each unit.
fn assert_timeline_is_complete(probe: &Value, scheme: &str) {
    let timeline = &probe["timeline"];
    assert_eq!(timeline["left_out"], 0, "{scheme}");
    let count = |work: &str| {
        timeline["work"].as_array().unwrap().iter().filter(|name| *name == work).count() as u64
    };
    let requests = &probe["requests"];
    for (work, column) in
        [("read", "flash_reads"), ("program", "flash_programs"), ("erase", "erases")]
    {
        let operations: u64 = numbers(&requests[column]).iter().sum();
        assert_eq!(count(work), operations, "{scheme}: {work}");
    }
    let (starts, ends) = (numbers(&timeline["start_ns"]), numbers(&timeline["end_ns"]));
    let mut free = BTreeMap::new();
    for (place, unit) in timeline["unit"].as_array().unwrap().iter().enumerate() {
        let before = free.insert(unit.as_str().unwrap(), ends[place]).unwrap_or(0);
        assert!(starts[place] >= before, "{scheme}: {unit} does two things at once");
        assert!(ends[place] >= starts[place], "{scheme}");
    }
    let arrivals = numbers(&requests["arrival_ns"]);
    let last = arrivals.iter().zip(numbers(&requests["system_ns"])).map(|(a, s)| a + s).max();
    let end = ends.iter().copied().max();
    // A page leaves LeaFTL's buffer behind one of the host's, which does not wait for it, as it
    // does not for CAFTL's SHA-1 of 2 KiB, half of 47 us.
    let is_behind = match scheme {
        "leaftl" => end > last,
        "caftl" => end == last.map(|last| last + 23_500),
        _ => false,
    };
    assert!(end == last || is_behind, "{scheme}: on the clock of arrivals: {end:?}, not {last:?}");
}

#[test]
fn a_reordering_driver_changes_which_row_a_probed_request_is_but_not_what_it_is() {
    let bench = Bench::new();
    let busy = MIXED.replace("rate_iops=150", "rate_iops=2000");
    let line = format!("--scheme ideal_page {SMALL} {busy} --set host.scheduler=read_first");
    let run = bench.run(&format!("{line} --requests-out rows.csv --probe 1000:300"));
    let seen = &run["probe"]["requests"];
    assert_eq!(numbers(&seen["index"]), (1000..1300).collect::<Vec<u64>>());
    let arrivals = column(&bench, "arrival_ns");
    assert!(!arrivals.is_sorted(), "the driver must reorder to show anything");
    let mut sorted: Vec<(u64, u64, u64)> = arrivals
        .iter()
        .zip(column(&bench, "first_sector"))
        .zip(column(&bench, "system_ns"))
        .map(|((arrival, sector), time)| (*arrival, sector, time))
        .collect();
    sorted.sort_unstable();
    let depth = |arrival: u64| {
        let earlier = sorted.iter().filter(|one| one.0 < arrival);
        earlier.filter(|one| one.0 + one.2 > arrival).count() as u64
    };
    for (place, row) in sorted[1000..1300].iter().enumerate() {
        let found = ["arrival_ns", "first_sector", "system_ns"]
            .map(|name| seen[name][place].as_u64().unwrap());
        assert_eq!(found, [row.0, row.1, row.2]);
        assert_eq!(seen["queue_depth"][place], depth(row.0), "request {}", 1000 + place);
    }
}

#[test]
fn probing_changes_no_number() {
    let bench = Bench::new();
    let line = format!("--scheme dftl {SMALL} {MIXED} --set timing.profile=parallel");
    let without = without_wall(bench.run(&line));
    let mut with = without_wall(bench.run(&format!("{line} --probe 0:2000")));
    assert!(without.get("probe").is_none());
    with.as_object_mut().unwrap().remove("probe").unwrap();
    assert_eq!(with, without);
}

#[test]
fn a_comparison_probes_every_scheme_and_draws_it() {
    let bench = Bench::new();
    let line = format!("compare --schemes dftl,fast {SMALL} {MIXED}");
    bench.ftlab(&format!("{line} --out with --probe 3990:100")).ok();
    for run in bench.json("with/results.json").as_array().unwrap() {
        // The workload ends before the window does.
        assert_eq!(numbers(&run["probe"]["requests"]["index"]), (3990..4000).collect::<Vec<_>>());
    }
    let page = |name: &str| std::fs::read_to_string(bench.path(name)).unwrap();
    assert!(page("with/report.html").contains("data-chart=\"timeline\""));
    bench.ftlab(&format!("{line} --out without")).ok();
    assert!(!page("without/report.html").contains("data-chart=\"timeline\""));
}

#[test]
fn a_probe_that_could_show_nothing_is_refused() {
    let bench = Bench::new();
    let run = format!("run --scheme dftl {SMALL} {MIXED}");
    bench.ftlab(&format!("{run} --probe 1:10")).refused(2, &["--probe", "--json", "compare"]);
    for text in ["1", "1:0", "1:2001", "x:1"] {
        let line = format!("{run} --json run.json --probe {text}");
        bench.ftlab(&line).refused(2, &["--probe", text, "FROM:COUNT", "2000"]);
    }
    bench
        .ftlab(&format!("{run} --json run.json --probe 4000:1"))
        .refused(2, &["4000 requests", "0 to 3999"]);
    assert_eq!(bench.entries(), [] as [String; 0]);
}
