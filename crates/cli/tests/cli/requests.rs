//! Rows of `--requests-out` add up to the result, say the same in both formats, and never stand
//! for a run that did not end.

use std::collections::BTreeMap;
use std::path::Path;

use crate::common::{Bench, ROWS, conforms, schemes};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::{Map, Value};

const SMALL: &str = "--device dftl2014 --capacity 8MiB --set device.over_provisioning=0.2 \
                     --precondition fill";
const MIXED: &str = "--workload randrw:rwmixread=40,bssplit=2k/60:8k/40,span=100%,count=4000,\
                     rate_iops=150,rate_process=poisson";

/// As many of these requests.
fn fewer(count: u32) -> String {
    MIXED.replace("count=4000", &format!("count={count}"))
}

/// Whether both formats are compared on both clocks, and every row is held against its schema
/// (`make test-long`).
fn is_all() -> bool {
    std::env::var_os("FTLAB_ALL_CUTS").is_some()
}

/// A column by name: its values as text.
type Table = BTreeMap<String, Vec<String>>;

fn csv_table(path: &Path) -> Table {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let names: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let mut table: Table = names.iter().map(|name| (name.clone(), Vec::new())).collect();
    for record in reader.records() {
        for (name, cell) in names.iter().zip(record.unwrap().iter()) {
            table.get_mut(name).unwrap().push(cell.to_owned());
        }
    }
    table
}

fn parquet_table(path: &Path) -> Table {
    let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
    let mut table = Table::new();
    for (number, row) in reader.get_row_iter(None).unwrap().enumerate() {
        let mut typed = Map::new();
        for (name, field) in row.unwrap().get_column_iter() {
            let (text, value) = match field {
                Field::Long(number) => (number.to_string(), (*number).into()),
                Field::Double(number) => (number.to_string(), (*number).into()),
                Field::Str(word) => (word.clone(), word.as_str().into()),
                other => panic!("{name} holds {other:?}"),
            };
            typed.insert(name.clone(), value);
            table.entry(name.clone()).or_default().push(text);
        }
        // A row is looked at by its schema for longer than it is made and read.
        if is_all() || number.is_multiple_of(16) {
            conforms(&ROWS, &Value::Object(typed), "a row");
        }
    }
    table
}

fn integers(table: &Table, name: &str) -> Vec<u64> {
    let column = table.get(name).unwrap_or_else(|| panic!("no column {name}"));
    column.iter().map(|cell| cell.parse().unwrap()).collect()
}

fn sum(table: &Table, name: &str) -> u64 {
    integers(table, name).iter().sum()
}

/// Mean of a column over reads and writes, which is what latencies are measured of.
fn mean(table: &Table, name: &str) -> f64 {
    let accesses: Vec<u64> = integers(table, name)
        .into_iter()
        .zip(&table["op"])
        .filter(|(_, op)| *op == "read" || *op == "write")
        .map(|(value, _)| value)
        .collect();
    accesses.iter().sum::<u64>() as f64 / accesses.len() as f64
}

fn close(found: f64, expected: &Value, what: &str) {
    let expected = expected.as_f64().unwrap();
    let slack = 1e-9 * expected.abs().max(1.0);
    assert!((found - expected).abs() <= slack, "{what}: {found} in the rows, {expected} in all");
}

fn assert_rows_are_the_result(table: &Table, run: &Value, scheme: &str) {
    for operation in ["reads", "programs"] {
        for (cause, total) in run["flash"][operation].as_object().unwrap() {
            let name = format!("{operation}_{cause}");
            assert_eq!(sum(table, &name), total.as_u64().unwrap(), "{scheme}: {name}");
        }
    }
    assert_eq!(sum(table, "erases"), run["flash"]["total_erases"], "{scheme}");
    assert_eq!(sum(table, "map_misses"), run["map_cache"]["misses"], "{scheme}");
    assert_eq!(sum(table, "full_merges"), run["merges"]["full"], "{scheme}");
    assert_eq!(sum(table, "merged_data_blocks"), run["merges"]["full_data_blocks"], "{scheme}");
    let histogram = run["merges"]["associativity_histogram"].as_array().unwrap();
    let largest = integers(table, "merge_associativity_max").into_iter().max().unwrap();
    assert_eq!(largest, histogram.len().saturating_sub(1) as u64, "{scheme}");
    let latency = &run["latency_ns"]["all"];
    for (column, part) in
        [("system_ns", "system"), ("device_ns", "device"), ("driver_queue_ns", "queue")]
    {
        close(mean(table, column), &latency[part]["mean"], &format!("{scheme}: {column}"));
    }
    let mut stages = vec![0; table["index"].len()];
    for (stage, expected) in run["stages_ns"].as_object().unwrap() {
        close(mean(table, &format!("{stage}_ns")), expected, &format!("{scheme}: {stage}"));
        for (sum, time) in stages.iter_mut().zip(integers(table, &format!("{stage}_ns"))) {
            *sum += time;
        }
    }
    assert_eq!(stages, integers(table, "system_ns"), "{scheme}: stages sum to the response");
    let energy: f64 = table["energy_uj"].iter().map(|cell| cell.parse::<f64>().unwrap()).sum();
    close(energy, &run["energy_uj"]["total"], &format!("{scheme}: energy"));
    let rows = integers(table, "index");
    assert_eq!(rows, (0..rows.len() as u64).collect::<Vec<_>>(), "{scheme}");
    let host = &run["host"];
    let requests =
        host["read_requests"].as_u64().unwrap() + host["write_requests"].as_u64().unwrap();
    assert_eq!(rows.len() as u64, requests + host["trim_requests"].as_u64().unwrap(), "{scheme}");
}

#[test]
fn sums_over_rows_are_the_totals_and_both_formats_agree() {
    let bench = Bench::new();
    let parallel =
        "--set timing.profile=parallel --set search.model=scan --set energy.model=current";
    for (devices, more) in [("serial", ""), ("parallel", parallel)] {
        for scheme in schemes() {
            let line = format!("--scheme {scheme} {SMALL} {} {more}", fewer(1200));
            let stem = format!("{devices}-{scheme}");
            let run = bench.run(&format!("{line} --requests-out {stem}.csv"));
            let csv = csv_table(&bench.path(&format!("{stem}.csv")));
            assert_rows_are_the_result(&csv, &run, scheme);
            assert!(sum(&csv, "erases") > 0, "{scheme} must reclaim to show anything");
            if is_all() || devices == "parallel" {
                bench.run(&format!("{line} --requests-out {stem}.parquet"));
                let parquet = parquet_table(&bench.path(&format!("{stem}.parquet")));
                assert_eq!(parquet, csv, "{scheme}");
            }
        }
    }
}

#[test]
fn recording_changes_no_number() {
    let bench = Bench::new();
    let line = format!("--scheme dftl {SMALL} {MIXED}");
    let without = crate::common::without_wall(bench.run(&line));
    let with = crate::common::without_wall(bench.run(&format!("{line} --requests-out rows.csv")));
    assert_eq!(with, without);
}

#[test]
fn rows_begin_where_measuring_begins() {
    let bench = Bench::new();
    let prefix = MIXED.replace("--workload", "--precondition prefix:1000 --workload");
    let small = SMALL.replace("--precondition fill", "");
    let line = format!("--scheme fast {small} {prefix} --requests-out rows.csv");
    let run = bench.run(&line);
    let table = csv_table(&bench.path("rows.csv"));
    assert_eq!(table["index"].len(), 3000);
    assert_eq!(table["arrival_ns"][0], "0");
    assert_rows_are_the_result(&table, &run, "fast");
}

#[test]
fn requests_that_failed_say_so() {
    let bench = Bench::new();
    let failing = "--set nand.read_error_rate=0.01";
    let line = format!("--scheme ideal_page {SMALL} {MIXED} {failing} --requests-out rows.csv");
    let run = bench.run(&line);
    let table = csv_table(&bench.path("rows.csv"));
    assert_rows_are_the_result(&table, &run, "ideal_page");
    assert!(sum(&table, "unreadable_pages") > 0, "some page must fail to show anything");
}

#[test]
fn rows_tell_the_units_of_a_trace_apart() {
    let bench = Bench::new();
    bench.file(
        "t.spc",
        (0..30).map(|n| format!("{},{},4096,w,{n}.5\n", n % 3, n * 8)).collect::<String>(),
    );
    bench.run(&format!(
        "--scheme dftl {SMALL} --address dense --workload t.spc --requests-out rows.csv"
    ));
    let table = csv_table(&bench.path("rows.csv"));
    assert_eq!(integers(&table, "stream"), (0..30).map(|n| n % 3).collect::<Vec<u64>>());
}

#[test]
fn a_comparison_writes_a_file_per_scheme() {
    let bench = Bench::new();
    let line = format!("compare --schemes dftl,fast {SMALL} {MIXED} --requests-out rows.csv");
    let text = bench.ftlab(&format!("{line} --out out --jobs 2")).ok();
    assert!(text.contains("rows-dftl.csv, rows-fast.csv"), "{text}");
    let runs = bench.json("out/results.json");
    for (scheme, run) in ["dftl", "fast"].iter().zip(runs.as_array().unwrap()) {
        let table = csv_table(&bench.path(&format!("rows-{scheme}.csv")));
        assert_rows_are_the_result(&table, run, scheme);
    }
    bench.ftlab(&format!("{line} --out again")).refused(2, &["rows-dftl.csv", "exists"]);
    assert_eq!(bench.entries(), ["out", "rows-dftl.csv", "rows-fast.csv"]);
}

#[test]
fn only_new_files_of_a_known_format_are_written() {
    let bench = Bench::new();
    let line = format!("run --scheme dftl {SMALL} {MIXED} --requests-out");
    for name in ["rows", "rows.txt", "rows.json"] {
        bench.ftlab(&format!("{line} {name}")).refused(2, &[name, ".csv", ".parquet"]);
    }
    bench.file("rows.csv", "mine");
    bench.ftlab(&format!("{line} rows.csv")).refused(2, &["rows.csv", "exists"]);
    bench.ftlab(&format!("{line} no/such/rows.csv")).refused(2, &["no/such/rows.csv"]);
    assert_eq!(std::fs::read(bench.path("rows.csv")).unwrap(), b"mine");
    assert_eq!(bench.entries(), ["rows.csv"]);
}

#[test]
fn a_run_that_fails_leaves_no_rows() {
    let bench = Bench::new();
    for format in ["csv", "parquet"] {
        bench
            .ftlab(&format!(
                "run --scheme ideal_page {SMALL} {MIXED} --set nand.erase_failure_rate=0.5 \
                 --requests-out rows.{format} --json run.json"
            ))
            .refused(1, &["ideal_page"]);
        assert_eq!(bench.entries(), [] as [String; 0]);
    }
}
