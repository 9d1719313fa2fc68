//! `--tail` says of the slowest requests what their rows say; `--trace-out` is a file that the
//! readers of trace events take.

use std::collections::BTreeMap;

use crate::common::{Bench, schemes, without_wall};
use serde_json::Value;

const SMALL: &str = "--device dftl2014 --capacity 8MiB --set device.over_provisioning=0.2 \
                     --precondition fill";
const MIXED: &str = "--workload randrw:rwmixread=40,bssplit=2k/60:8k/40,span=100%,count=4000,\
                     rate_iops=150,rate_process=poisson";
const PARALLEL: &str = "--set timing.profile=parallel --set timing.page_transfer=20us";
const STAGES: [&str; 7] =
    ["driver_queue", "host_link", "controller", "buffer", "map", "flash", "channel"];

/// The rows of a file: by column the number that stands there.
fn rows(bench: &Bench, name: &str) -> Vec<BTreeMap<String, u64>> {
    let mut reader = csv::Reader::from_path(bench.path(name)).unwrap();
    let names: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let row = |record: csv::StringRecord| {
        let cells = names.iter().cloned().zip(record.iter());
        cells.filter_map(|(name, cell)| Some((name, cell.parse().ok()?))).collect()
    };
    reader.records().map(|record| row(record.unwrap())).collect()
}

fn sum(object: &Value) -> u64 {
    object.as_object().unwrap().values().map(|value| value.as_u64().unwrap()).sum()
}

fn mean(values: impl ExactSizeIterator<Item = u64>) -> f64 {
    let count = values.len() as f64;
    values.map(u128::from).sum::<u128>() as f64 / count
}

/// Clocks of the scheme at a place of the table: one for each, in turns, and both for the first
/// three; `make test-long` has both for all.
fn clocks(at: usize) -> Vec<&'static str> {
    let both = at < 3 || std::env::var_os("FTLAB_ALL_CUTS").is_some();
    let is_meant = |number: usize| both || at % 2 == number;
    let clocks = ["", PARALLEL].into_iter().enumerate();
    clocks.filter_map(|(number, clock)| is_meant(number).then_some(clock)).collect()
}

/// Every scheme: what is told of the slowest is what a sorted table of all rows
/// says.
#[test]
fn the_slowest_are_those_of_the_rows() {
    for (at, scheme) in schemes().into_iter().enumerate() {
        for clock in clocks(at) {
            let bench = Bench::new();
            let mixed = MIXED.replace("count=4000", "count=2000");
            let line = format!("--scheme {scheme} {SMALL} {clock} {mixed} --tail");
            let run = bench.run(&format!("{line} --requests-out rows.csv"));
            let rows = rows(&bench, "rows.csv");
            let what = format!("{scheme} {clock}");
            assert_worst(&run["tail"]["worst"], &rows, &what);
            for (key, share) in [("slowest_1_percent", 100), ("slowest_0_1_percent", 1000)] {
                assert_slowest(&run["tail"][key], &rows, share, &what);
            }
        }
    }
}

fn assert_worst(worst: &Value, rows: &[BTreeMap<String, u64>], what: &str) {
    let worst = worst.as_array().unwrap();
    assert_eq!(worst.len(), 10, "{what}");
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&place| std::cmp::Reverse(rows[place]["system_ns"]));
    for (one, place) in worst.iter().zip(order) {
        let row = &rows[place];
        assert_eq!(one["index"], place, "{what}");
        for name in ["arrival_ns", "first_sector", "sectors", "system_ns", "full_merges"] {
            assert_eq!(one[name], row[name], "{what}: {name}");
        }
        for stage in STAGES {
            assert_eq!(one["stages_ns"][stage], row[&format!("{stage}_ns")], "{what}: {stage}");
        }
        assert_eq!(sum(&one["stages_ns"]), row["system_ns"], "{what}: stages sum to the response");
        for operation in ["reads", "programs"] {
            for (cause, count) in one[operation].as_object().unwrap() {
                assert_eq!(*count, row[&format!("{operation}_{cause}")], "{what}: {cause}");
            }
        }
        assert_eq!(sum(&one["erases"]), row["erases"], "{what}");
        let not_done =
            |row: &&BTreeMap<String, u64>, arrival| row["arrival_ns"] + row["system_ns"] > arrival;
        let earlier =
            rows[..place].iter().filter(|row| not_done(row, one["arrival_ns"].as_u64().unwrap()));
        // What goes on behind a completion keeps a request in front.
        assert!(one["ahead"]["requests"].as_u64().unwrap() >= earlier.count() as u64, "{what}");
    }
}

fn assert_slowest(told: &Value, rows: &[BTreeMap<String, u64>], share: usize, what: &str) {
    let from = told["from_ns"].as_u64().unwrap();
    let slow: Vec<_> = rows.iter().filter(|row| row["system_ns"] >= from).collect();
    assert_eq!(told["requests"], slow.len(), "{what}: all from the shortest on");
    let wanted = rows.len().div_ceil(share);
    assert!(slow.len() >= wanted, "{what}");
    // Without those that took as long as the shortest, to three digits, there are too few.
    let slower = slow.iter().filter(|row| row["system_ns"] > from + from / 512).count();
    assert!(slower < wanted, "{what}: {slower} would do for {wanted}");
    let response = mean(slow.iter().map(|row| row["system_ns"]));
    assert_eq!(told["response_ns_mean"], response, "{what}");
    let mut sum = 0.0;
    for stage in STAGES {
        let expected = mean(slow.iter().map(|row| row[&format!("{stage}_ns")]));
        assert_eq!(told["stages_ns"][stage], expected, "{what}: {stage}");
        sum += expected;
    }
    assert!((sum - response).abs() <= 1e-12 * response, "{what}: {sum} of {response}");
    for (cause, count) in told["programs"].as_object().unwrap() {
        let expected = mean(slow.iter().map(|row| row[&format!("programs_{cause}")]));
        assert_eq!(*count, expected, "{what}: programs for {cause}");
    }
}

/// On one server that does nothing but flash work, work is time in the device: that of a request,
/// and together that of all that were in front of it.
#[test]
fn on_one_server_work_is_time_in_the_device() {
    for scheme in ["ideal_page", "dftl", "fast", "superblock"] {
        let bench = Bench::new();
        let line = format!("--scheme {scheme} {SMALL} {MIXED} --tail --requests-out rows.csv");
        let run = bench.run(&line);
        let rows = rows(&bench, "rows.csv");
        let mut waited = 0;
        for one in run["tail"]["worst"].as_array().unwrap() {
            let place = one["index"].as_u64().unwrap() as usize;
            assert_eq!(sum(&one["work_ns"]), rows[place]["device_ns"], "{scheme}");
            let arrival = rows[place]["arrival_ns"];
            let in_front = || {
                let done = |row: &BTreeMap<String, u64>| row["arrival_ns"] + row["system_ns"];
                rows[..place].iter().filter(move |row| done(row) > arrival)
            };
            assert_eq!(one["ahead"]["requests"], in_front().count(), "{scheme}");
            let work: u64 = in_front().map(|row| row["device_ns"]).sum();
            assert_eq!(sum(&one["ahead"]["work_ns"]), work, "{scheme}");
            assert!(work >= rows[place]["driver_queue_ns"], "{scheme}: and it explains the wait");
            waited += rows[place]["driver_queue_ns"];
        }
        assert!(waited > 0, "{scheme}: something must wait");
    }
}

#[test]
fn looking_into_the_slowest_changes_no_number() {
    let bench = Bench::new();
    for more in [PARALLEL, "--set host.scheduler=read_first", "--set gc.mode=idle"] {
        let line = format!("--scheme ideal_page {SMALL} {MIXED} {more}");
        let without = without_wall(bench.run(&line));
        assert!(without.get("tail").is_none());
        let mut with = without_wall(bench.run(&format!("{line} --tail")));
        let tail = with.as_object_mut().unwrap().remove("tail").unwrap();
        assert_eq!(with, without, "{more}");
        assert_eq!(tail["worst"].as_array().unwrap().len(), 10);
    }
}

#[test]
fn a_driver_that_reorders_keeps_the_numbers_of_arrival() {
    let bench = Bench::new();
    let busy = MIXED.replace("rate_iops=150", "rate_iops=2000");
    let line = format!("--scheme ideal_page {SMALL} {busy} --set host.scheduler=read_first --tail");
    let run = bench.run(&format!("{line} --probe 2000:2000"));
    let probe = &run["probe"]["requests"];
    let mut met = 0;
    for one in run["tail"]["worst"].as_array().unwrap() {
        let index = one["index"].as_u64().unwrap() as usize;
        assert_eq!(sum(&one["stages_ns"]), one["system_ns"].as_u64().unwrap());
        assert!(one["ahead"]["requests"].as_u64().unwrap() > 0);
        let Some(place) = index.checked_sub(2000) else { continue };
        met += 1;
        for name in ["arrival_ns", "first_sector", "system_ns"] {
            assert_eq!(one[name], probe[name][place], "request {index}: {name}");
        }
    }
    assert!(met > 0, "one of the slowest must be among those probed");
}

#[test]
fn text_and_page_tell_why_the_slowest_are_slow() {
    let bench = Bench::new();
    let line = format!("compare --schemes dftl,fast {SMALL} {MIXED}");
    let text = bench.ftlab(&format!("{line} --tail --out with")).ok();
    for words in ["Why the slowest are slow", "slowest 0.1 %", "dftl, request ", "fast, request "] {
        assert!(text.contains(words), "'{words}' is not in: {text}");
    }
    let page = |name: &str| std::fs::read_to_string(bench.path(name)).unwrap();
    assert!(page("with/report.html").contains("data-chart=\"tail\""));
    let csv = page("with/results.csv");
    assert!(csv.contains("tail.slowest_1_percent.stages_ns.driver_queue"));
    let text = bench.ftlab(&format!("{line} --out without")).ok();
    assert!(!text.contains("slowest"));
    assert!(!page("without/report.html").contains("data-chart=\"tail\""));
}

/// The rules of the format: a list of events, every one with its keys; pieces of work of a thread
/// follow each other, and what begins for a request ends.
fn assert_trace_events(events: &Value, what: &str) -> usize {
    let text = |event: &Value, key: &str| event[key].as_str().unwrap().to_owned();
    let (mut threads, mut open) = (BTreeMap::new(), BTreeMap::new());
    let mut named = BTreeMap::new();
    let mut work = 0;
    for event in events.as_array().unwrap() {
        let at = event["ts"].as_f64().unwrap();
        let place = (event["pid"].as_u64().unwrap(), event["tid"].as_u64().unwrap());
        match text(event, "ph").as_str() {
            "M" => {
                named.insert((place, text(event, "name")), event["args"].clone());
            }
            "X" => {
                work += 1;
                let free = threads.entry(place).or_insert(0.0);
                assert!(at >= *free - 1e-6, "{what}: {event} begins before {free}");
                *free = at + event["dur"].as_f64().unwrap();
                let name = &named[&(place, "thread_name".to_owned())]["name"];
                assert!(name.as_str().unwrap().contains(char::is_alphabetic), "{what}: {event}");
                assert!(event["args"]["cause"] == event["cat"], "{what}: {event}");
            }
            begins_or_ends @ ("b" | "e") => {
                let stack: &mut Vec<(String, f64)> = open.entry(text(event, "id")).or_default();
                if begins_or_ends == "b" {
                    assert!(stack.last().is_none_or(|outer| outer.1 <= at), "{what}: {event}");
                    stack.push((text(event, "name"), at));
                } else {
                    let (name, since) = stack.pop().expect("what ends has begun");
                    assert_eq!((name, at >= since), (text(event, "name"), true), "{what}");
                }
            }
            other => panic!("{what}: {other} is no kind of event that is written"),
        }
    }
    assert!(open.values().all(Vec::is_empty), "{what}: a request does not end");
    assert!(!open.is_empty() && work > 0, "{what}: nothing happened");
    work
}

#[test]
fn trace_events_are_those_of_the_probe() {
    for (at, scheme) in schemes().into_iter().enumerate() {
        for clock in clocks(at) {
            let bench = Bench::new();
            let mixed = MIXED.replace("count=4000", "count=1700");
            let line = format!("--scheme {scheme} {SMALL} {clock} {mixed} --probe 1500:200");
            let run = bench.run(&format!("{line} --trace-out trace.json"));
            let work = assert_trace_events(&bench.json("trace.json"), scheme);
            assert_eq!(work, run["probe"]["timeline"]["unit"].as_array().unwrap().len());
        }
    }
}

#[test]
fn without_a_probe_the_first_requests_are_traced_and_a_cut_is_said() {
    let bench = Bench::new();
    let line = format!("--scheme fast {SMALL} {MIXED} --set fast.log_blocks=4");
    let run = bench.run(&format!("{line} --trace-out trace.json"));
    assert!(run.get("probe").is_none(), "nobody asked for it");
    assert_eq!(assert_trace_events(&bench.json("trace.json"), "fast"), 30_000);
    let warnings = run["warnings"].to_string();
    assert!(warnings.contains("--trace-out holds the first 30000 operations"), "{warnings}");
    let line = format!("compare --schemes dftl,fast {SMALL} {MIXED} --probe 0:20 --out out");
    let text = bench.ftlab(&format!("{line} --trace-out t.json")).ok();
    assert!(text.contains("t-dftl.json, t-fast.json"), "{text}");
    for scheme in ["dftl", "fast"] {
        assert_trace_events(&bench.json(&format!("t-{scheme}.json")), scheme);
    }
    assert!(!bench.json("out/results.json").to_string().contains("no room"));
}

#[test]
fn a_trace_overwrites_nothing_and_ends_in_json() {
    let bench = Bench::new();
    bench.file("there.json", "mine");
    let run = format!("run --scheme dftl {SMALL} {MIXED}");
    bench.ftlab(&format!("{run} --trace-out there.json")).refused(2, &["there.json exists"]);
    bench.ftlab(&format!("{run} --trace-out t.txt")).refused(2, &["--trace-out t.txt", ".json"]);
    bench.ftlab(&format!("{run} --trace-out none/t.json")).refused(2, &["none is no folder"]);
    bench
        .ftlab(&format!("{run} --json t.json --trace-out t.json"))
        .refused(2, &["--json and --trace-out are both t.json"]);
    let compare = format!("compare --schemes dftl,fast {SMALL} {MIXED} --out out");
    bench
        .ftlab(&format!("{compare} --trace-out out/t.json"))
        .refused(2, &["--trace-out out/t.json lies in --out out"]);
    bench.file("t-fast.json", "mine");
    bench.ftlab(&format!("{compare} --trace-out t.json")).refused(2, &["t-fast.json exists"]);
    assert_eq!(bench.entries(), ["t-fast.json", "there.json"]);
    assert_eq!(std::fs::read_to_string(bench.path("there.json")).unwrap(), "mine");
}
