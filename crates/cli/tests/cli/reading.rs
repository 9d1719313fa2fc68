//! What a result says about how its trace was read: guessed units, skipped lines, clocks.

use serde_json::Value;

use crate::common::Bench;

const DEVICE: &str = "--device dftl2014 --capacity 8MiB";
const HEADER: &str = "time_us,op,offset_bytes,size_bytes\n";

fn results(bench: &Bench, folder: &str) -> Value {
    let text = std::fs::read_to_string(bench.path(&format!("{folder}/results.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// A unit that the data alone decided was in no result.
#[test]
fn guessed_units_stand_in_the_table_the_report_and_the_results() {
    let bench = Bench::new();
    let line = |n: u64| format!("{} 0 {} 16 1\n", n * 2_400_000, n % 500 * 16);
    bench.file("t.trace", (0..600).map(line).collect::<String>());
    let compare = format!("compare --schemes dftl,fast {DEVICE} --workload t.trace --out");
    let table = bench.ftlab(&format!("{compare} guessed")).ok();
    let page = std::fs::read_to_string(bench.path("guessed/report.html")).unwrap();
    for text in [&table, &page] {
        assert!(text.contains("Guessed units") && text.contains("sizes in sectors"), "{table}");
        assert!(text.contains("if sizes are sectors, 0 if pages"), "{table}");
    }
    let found = results(&bench, "guessed");
    for run in found.as_array().unwrap() {
        let workload = &run["workload"];
        assert_eq!(
            (&workload["time_unit"], &workload["size_unit"]),
            (&"ns".into(), &"sectors".into())
        );
        assert!(workload["time_unit_why"].as_str().unwrap().contains("integers"), "{workload}");
        assert!(workload["size_unit_why"].as_str().unwrap().contains("sectors, 0"), "{workload}");
    }
    let table = bench.ftlab(&format!("{compare} stated --time-unit ns --size-unit sectors")).ok();
    assert!(!table.contains("Guessed units"), "{table}");
    let keys: Vec<String> =
        results(&bench, "stated")[0]["workload"].as_object().unwrap().keys().cloned().collect();
    assert!(keys.iter().all(|key| !key.contains("_unit")), "{keys:?}");
}

#[test]
fn skipped_lines_and_clocks_that_stand_still_are_warnings_of_the_result() {
    let bench = Bench::new();
    let line = |n: u64| format!("0,write,{},2048\n", n * 2048);
    let text = HEADER.to_owned() + "x\n" + &(0..200).map(line).collect::<String>();
    bench.file("t.csv", text);
    let run = format!("run --scheme dftl {DEVICE} --workload t.csv");
    bench.ftlab(&run).refused(2, &["t.csv:2: ", "'x'"]);
    let told = bench.ftlab(&format!("{run} --skip-bad 1")).ok();
    assert!(told.contains("1 malformed lines of the trace were skipped"), "{told}");
    assert!(told.contains("t.csv:2: time is not a number: 'x'"), "{told}");
    assert!(told.contains("All 200 requests of the trace have the same time"), "{told}");
    let told = bench.ftlab(&format!("{run} --skip-bad 1 --timing asap")).ok();
    assert!(!told.contains("the same time"), "times do not count: {told}");
    let page = "trace inspect t.csv --skip-bad 1 --html t.html";
    assert!(bench.ftlab(page).ok().contains("malformed line, skipped"));
    let page = std::fs::read_to_string(bench.path("t.html")).unwrap();
    assert!(page.contains("1 malformed lines") && page.contains("clock stands still"));
    let told = bench.ftlab("trace convert t.csv u.csv --skip-bad 1").ok();
    assert!(told.contains("200 requests written") && told.contains("t.csv:2: "), "{told}");
    bench.ftlab(&format!("{run} --skip-bad -1")).refused(2, &["--skip-bad", "-1"]);
}

/// It was found when the run came to it; with `--capacity auto` there was no memory for the device.
#[test]
fn a_request_larger_than_the_device_is_refused_before_the_run() {
    let bench = Bench::new();
    let text = "0,write,0,512\n1,write,0,9000000\n";
    bench.file("t.csv", HEADER.to_owned() + text);
    bench.file("read.csv", HEADER.to_owned() + "0,write,0,512\n1,read,0,1090000000000\n");
    for address in ["strict", "modulo", "dense"] {
        let line = format!("run --scheme dftl {DEVICE} --address {address} --workload");
        let words = ["t.csv:3: ", "larger than the device", "--capacity"];
        bench.ftlab(&format!("{line} t.csv")).refused(2, &words);
        bench.ftlab(&format!("{line} read.csv")).refused(2, &["read.csv:3: ", "larger than the"]);
    }
    // Elsewhere nobody says how much memory there is.
    if cfg!(target_os = "linux") {
        let auto = "run --scheme dftl --device dftl2014 --capacity auto --address dense";
        bench.ftlab(&format!("{auto} --workload read.csv")).refused(2, &["read.csv:3: ", "memory"]);
        bench.ftlab("trace inspect read.csv").refused(2, &["read.csv:3: ", "memory"]);
    }
}

/// `trace fit` and `trace compare` skipped lines without a word.
#[test]
fn skipped_lines_are_told_by_fit_and_compare_too() {
    let bench = Bench::new();
    let line = |n: u64| format!("{},write,{},2048\n", n * 10, n % 50 * 2048);
    let text = HEADER.to_owned() + "x\n" + &(0..200).map(line).collect::<String>();
    bench.file("t.csv", text);
    let spec = "randwrite:bs=2k,span=1M,count=100";
    let told = "1 malformed lines of the trace were skipped (--skip-bad): t.csv:2:";
    let fit = bench.ftlab("trace fit t.csv -o twin.toml --skip-bad 1").ok();
    assert!(fit.contains(&format!("Warning: {told}")), "{fit}");
    let compared = bench.ftlab(&format!("trace compare {spec} t.csv --skip-bad 1")).ok();
    assert!(compared.contains(&format!("Warning (B): {told}")), "{compared}");
    assert!(!compared.contains("Warning (A)"), "{compared}");
    let json = bench.ftlab(&format!("trace compare t.csv {spec} --skip-bad 1 --json")).ok();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert!(json["a"]["warnings"][0].as_str().unwrap().contains("t.csv:2:"), "{json:#}");
    assert_eq!(json["b"]["warnings"], serde_json::json!([]));
}

/// The first 50 of what: of the trace, or of what was left of it?
#[test]
fn a_prefix_of_what_a_filter_leaves_is_told_as_such() {
    let bench = Bench::new();
    let op = |n: u64| if n.is_multiple_of(4) { "write" } else { "read" };
    let line = |n: u64| format!("{},{},{},2048\n", n * 10, op(n), n % 50 * 2048);
    bench.file("t.csv", HEADER.to_owned() + &(0..800).map(line).collect::<String>());
    let options = "--workload t.csv --filter op=write --head 50";
    let compare = format!("compare --schemes dftl {DEVICE} {options} --out out");
    let table = bench.ftlab(&compare).ok();
    let page = std::fs::read_to_string(bench.path("out/report.html")).unwrap();
    let first = "a recorded trace, but only its first 50 requests that --filter op=write lets";
    assert!(table.contains(first) && page.contains(first), "{table}");
    let run = &results(&bench, "out")[0];
    let (workload, made) = (&run["workload"], &run["made"]);
    assert_eq!((&workload["prefix"], &workload["requests"]), (&50.into(), &50.into()));
    assert_eq!((&made["filter"], &run["host"]["write_requests"]), (&"op=write".into(), &50.into()));
    let told = "Only the first 50 requests of the workload, of those that --filter op=write lets";
    assert!(run["warnings"].to_string().contains(told), "{}", run["warnings"]);
    let inspect = "trace inspect t.csv --filter op=write --head 50";
    let text = bench.ftlab(&format!("{inspect} --html t.html")).ok();
    let of = "50 (a prefix: --head, of those that --filter op=write lets through)";
    assert!(text.contains(of), "{text}");
    let page = std::fs::read_to_string(bench.path("t.html")).unwrap();
    assert!(page.contains("the first 50 requests that --filter op=write lets through were read"));
    let all = bench.ftlab("trace inspect t.csv --filter op=write --json").ok();
    let all: Value = serde_json::from_str(&all).unwrap();
    assert_eq!((&all["filter"], &all["prefix"]), (&"op=write".into(), &false.into()));
}
