//! `compare --unit each`: every unit of a trace on devices of its own, as if it were the whole.

use crate::common::{Bench, traces, without_wall};
use serde_json::Value;

const COMPARE: &str = "compare --schemes ideal_page,dftl --device dftl2014";

/// Units 0, 3 and 7 in turn: 40, 20 and 10 requests, of which the odd ones of unit 3 write, those
/// of unit 7 all read and those of unit 0 all write. They reach 1.25, 2.5 and 5 MiB.
fn three_units(bench: &Bench) {
    let mut lines = String::new();
    for turn in 0..40u64 {
        lines += &format!("0,{},4096,w,{turn}.1\n", turn * 64);
        if turn % 2 == 0 {
            let op = if turn % 4 == 0 { 'r' } else { 'w' };
            lines += &format!("3,{},8192,{op},{turn}.2\n", turn * 128);
        }
        if turn % 4 == 0 {
            lines += &format!("7,{},2048,r,{turn}.3\n", turn * 256);
        }
    }
    bench.file("t.spc", lines);
}

fn runs(bench: &Bench, folder: &str) -> Vec<Value> {
    let results = without_wall(bench.json(&format!("{folder}/results.json")));
    results.as_array().unwrap().clone()
}

#[test]
fn every_unit_runs_as_it_does_alone_and_one_file_holds_all() {
    let bench = Bench::new();
    three_units(&bench);
    let line = format!("{COMPARE} --workload t.spc --capacity auto --head 30 --probe 3:5");
    let text = bench.ftlab(&format!("{line} --unit each --requests-out rows.csv --out all")).ok();
    let mut one_by_one = Vec::new();
    for (unit, requests) in [(0, 30), (3, 20), (7, 10)] {
        let rows = format!("--requests-out alone-{unit}.csv");
        bench.ftlab(&format!("{line} --unit {unit} {rows} --out alone-{unit}")).ok();
        let alone = runs(&bench, &format!("alone-{unit}"));
        assert_eq!(runs(&bench, &format!("all/unit-{unit}")), alone);
        for run in &alone {
            assert_eq!(run["workload"]["units"], unit.to_string());
            // The head of 30 was reached in unit 0 only.
            let prefix = (unit == 0).then_some(30);
            assert_eq!(run["workload"]["prefix"].as_u64(), prefix, "unit {unit}");
            assert_eq!(run["workload"]["requests"], requests);
            let scheme = run["scheme"].as_str().unwrap();
            let rows = |name: String| std::fs::read(bench.path(&name)).unwrap();
            let own = rows(format!("rows-unit-{unit}-{scheme}.csv"));
            assert_eq!(own, rows(format!("alone-{unit}-{scheme}.csv")));
        }
        one_by_one.extend(alone);
        let page = std::fs::read_to_string(bench.path(&format!("all/unit-{unit}/report.html")));
        let says = match unit {
            0 => "(a recorded trace, but only the first 30 requests of unit 0)".to_owned(),
            _ => format!("(a recorded trace; unit {unit} of the trace)"),
        };
        assert!(page.unwrap().contains(&says), "unit {unit}");
        assert!(bench.path(&format!("all/unit-{unit}/results.csv")).is_file());
    }
    assert_eq!(runs(&bench, "all"), one_by_one, "in order of the units, then of the schemes");
    let devices = |run: &Value| run["config"]["device"]["logical_pages"].as_u64().unwrap();
    let sizes: Vec<u64> = one_by_one.iter().step_by(2).map(devices).collect();
    assert!(sizes[0] < sizes[1] && sizes[1] < sizes[2], "each its own --capacity auto: {sizes:?}");
    let mut table = csv::Reader::from_path(bench.path("all/results.csv")).unwrap();
    let column = |name: &str, table: &mut csv::Reader<_>| {
        let headers: &csv::StringRecord = table.headers().unwrap();
        headers.iter().position(|header| header == name).unwrap()
    };
    let (units, schemes) = (column("workload.units", &mut table), column("scheme", &mut table));
    let rows: Vec<csv::StringRecord> = table.records().map(Result::unwrap).collect();
    let found: Vec<(&str, &str)> = rows.iter().map(|row| (&row[units], &row[schemes])).collect();
    let expected = ["0", "3", "7"].map(|unit| [(unit, "ideal_page"), (unit, "dftl")]);
    assert_eq!(found, expected.concat());
    assert_table(&text);
}

/// A line per unit, and a single table with a row per unit.
fn assert_table(text: &str) {
    let headings: Vec<&str> = text.lines().filter(|line| line.starts_with("unit ")).collect();
    assert_eq!(headings.len(), 4, "three units and the head of the table: {text}");
    let says = "unit 3: 20 requests, 50.00 % of them reads; 80 distinct pages touched; device of \
                2.5 MiB; 4 warnings in its report.html";
    assert_eq!(headings[1], says);
    let words: Vec<&str> = headings[3].split_whitespace().collect();
    let schemes = ["ideal_page", "mean", "ideal_page", "WAF", "dftl", "mean", "dftl", "WAF"];
    assert_eq!(words, [&["unit", "requests"][..], &schemes].concat());
    let row = |unit: &str| {
        let of_unit = |line: &&str| line.split_whitespace().next() == Some(unit);
        let row = text.lines().find(of_unit).unwrap_or_else(|| panic!("no row {unit}: {text}"));
        row.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row("0")[1], "30");
    assert_eq!(row("3")[1], "20");
    let reads_only = row("7");
    assert_eq!((reads_only[1].as_str(), reads_only[4].as_str()), ("10", "n/a"), "{text}");
}

/// A unit counts if `--unit N` would find a request of it: after filters of operation and time, but
/// with a count of its own for `every`.
#[test]
fn the_units_are_those_that_the_filters_leave() {
    let bench = Bench::new();
    three_units(&bench);
    let folders = |filter: &str, out: &str| {
        let line = format!("{COMPARE} --workload t.spc --filter {filter} --unit each --out {out}");
        bench.ftlab(&line).ok();
        let entries = std::fs::read_dir(bench.path(out)).unwrap();
        let name = |entry: std::fs::DirEntry| entry.file_name().to_str().unwrap().to_owned();
        let mut names: Vec<String> = entries.map(|entry| name(entry.unwrap())).collect();
        names.sort();
        names
    };
    assert_eq!(folders("op=write", "w"), ["results.csv", "results.json", "unit-0", "unit-3"]);
    let every = ["results.csv", "results.json", "unit-0", "unit-3", "unit-7"];
    assert_eq!(folders("every=1000", "e"), every);
    assert_eq!(runs(&bench, "e")[4]["workload"]["requests"], 1);
}

/// Unit 1 begins where unit 0 ended, at time 0 of its own: apart there is nothing to sort.
#[test]
fn units_may_follow_one_another_by_clocks_of_their_own() {
    let bench = Bench::new();
    bench.file("t.spc", "0,8,4096,w,10.0\n0,16,4096,w,90.0\n1,8,4096,w,10.0\n1,0,4096,r,11.0\n");
    let line = "--schemes ideal_page --device dftl2014 --capacity 1MiB --workload t.spc";
    bench.ftlab(&format!("compare {line} --out all")).refused(2, &["steps back"]);
    bench.ftlab(&format!("compare {line} --unit each --out out")).ok();
    let requests: Vec<(Value, Value)> = runs(&bench, "out")
        .iter()
        .map(|run| (run["workload"]["units"].clone(), run["workload"]["requests"].clone()))
        .collect();
    assert_eq!(requests, [("0".into(), 2.into()), ("1".into(), 2.into())]);
}

#[test]
fn what_has_no_units_to_run_apart_is_refused() {
    let bench = Bench::new();
    three_units(&bench);
    for (workload, words) in [
        ("-", ["standard input", "legal: a file"]),
        ("randwrite:bs=4k,span=1M,count=9", ["is generated", "legal: a trace"]),
        ("financial", ["'financial' is generated", "legal: a trace"]),
        ("phases:t.spc,t.spc", ["is a combination", "legal: a trace"]),
        ("t.spc --find-subset", ["--find-subset", "legal: one of the two"]),
        ("t.spc --head 0", ["--head 0", "1 or more"]),
        ("missing.spc", ["missing.spc", "legal"]),
    ] {
        let line = format!("{COMPARE} --workload {workload} --unit each --out out");
        bench.ftlab(&line).refused(2, &words);
    }
    let words = ["--unit each", "only `ftlab compare` runs units apart", "legal: all, or numbers"];
    for line in [
        "run --scheme dftl --device dftl2014 --workload t.spc",
        "trace inspect t.spc",
        "trace convert t.spc t.csv",
        "trace find-subset t.spc",
    ] {
        bench.ftlab(&format!("{line} --unit each")).refused(2, &words);
    }
    let many: String = (0..257).map(|unit| format!("{unit},8,4096,w,{unit}.5\n")).collect();
    bench.file("many.spc", many);
    let line = format!("{COMPARE} --workload many.spc --unit each --out out");
    bench.ftlab(&line).refused(2, &["'many.spc' has 257 units", "legal: up to 256", "--unit N,N"]);
    let some: String = (0..120).map(|unit| format!("{unit},8,4096,w,{unit}.5\n")).collect();
    bench.file("some.spc", some);
    let line = "compare --schemes all --device dftl2014 --workload some.spc --unit each --out out";
    let words = ["120 units under", "legal: up to 2,048", "fewer schemes"];
    bench.ftlab(line).refused(2, &words);
    std::fs::create_dir(bench.path("td")).unwrap();
    let line = format!("{COMPARE} --workload financial --trace-dir td --unit each --out out");
    bench.ftlab(&line).refused(2, &["is generated", "legal: a trace. The stand-in", "td holds no"]);
    let entries = ["many.spc", "some.spc", "t.spc", "td"];
    assert_eq!(bench.entries(), entries, "nothing is left behind");
}

#[test]
fn errors_name_the_unit_and_leave_nothing_behind() {
    let bench = Bench::new();
    three_units(&bench);
    bench.file("rows-unit-3-dftl.csv", "mine");
    let line = format!("{COMPARE} --workload t.spc --unit each --out out");
    for (option, code, words) in [
        ("--precondition prefix:15", 2, ["unit 7: nothing is left", "all 10 requests"]),
        ("--capacity 3MiB", 2, ["unit 7: ", "--capacity auto"]),
        ("--probe 20:1", 2, ["unit 3: --probe 20:1", "0 to 19"]),
        ("--requests-out rows.csv", 2, ["unit 3: rows-unit-3-dftl.csv", "nothing is overwritten"]),
        ("--set gc.victm=fifo", 2, ["ftlab: unknown key", "gc.victim"]),
        ("--requests-out rows.txt", 2, ["ftlab: --requests-out rows.txt", ".parquet"]),
        ("--requests-out none/rows.csv", 2, ["ftlab: --requests-out none/rows.csv", "no folder"]),
        ("--requests-out out/rows.csv", 2, ["ftlab: --requests-out out/rows.csv", "lies in --out"]),
        ("--set workload.count=5", 2, ["ftlab: --set workload.count", "no effect"]),
        (
            "--capacity auto --until worn-out --set device.endurance_cycles=1",
            2,
            ["unit 7: ", "writes nothing"],
        ),
    ] {
        bench.ftlab(&format!("{line} {option}")).refused(code, &words);
        assert_eq!(bench.entries(), ["rows-unit-3-dftl.csv", "t.spc"], "{option}");
    }
    // Both schemes fail in unit 0, each on a line of its own.
    let line = format!("{line} --capacity auto --loop 1000 --set device.endurance_cycles=1");
    let line = format!("{line} --set wear.blocks_die=true --precondition random:20x");
    let words = ["ftlab: unit 0: ideal_page: ", "\nftlab: unit 0: dftl: "];
    bench.ftlab(&line).refused(1, &words);
}

/// They were in the order in which they first ran: a scheme left out for the first unit came last.
#[test]
fn a_scheme_that_some_units_lack_keeps_its_column() {
    let bench = Bench::new();
    // Unit 0 reaches 64 MiB, whose map of superblocks is beyond the budget; unit 1 reaches 2 MiB.
    let unit_1: String = (0..9).map(|turn| format!("1,4000,4096,w,{turn}.2\n")).collect();
    bench.file("t.spc", format!("0,131000,4096,w,0.1\n{unit_1}"));
    let line = "compare --schemes superblock,block --device dftl2014 --workload t.spc --unit each \
                --capacity auto --ram 4000 --ram-strict --out out";
    let text = bench.ftlab(line).ok();
    assert!(text.contains("superblock, block on dftl2014, 2 units apart"), "{text}");
    let heads = ["unit", "requests", "superblock", "mean", "superblock", "WAF", "block"];
    let table: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .skip_while(|words| !words.starts_with(&heads))
        .collect();
    let widths: Vec<usize> = table[1..].iter().map(Vec::len).take(2).collect();
    assert_eq!((table[1][0], table[2][0]), ("0", "1"), "{text}");
    assert!(widths[0] < widths[1], "unit 0 has empty cells: {text}");
    assert_eq!(runs(&bench, "out").len(), 3);
}

#[test]
fn a_result_says_which_units_were_chosen() {
    let bench = Bench::new();
    three_units(&bench);
    let line = "--scheme dftl --device dftl2014 --workload t.spc";
    let some = bench.run(&format!("{line} --unit 7,0,7"));
    assert_eq!(some["workload"]["units"], "0,7");
    let text = bench.ftlab(&format!("run {line} --unit 7,0,7")).ok();
    assert!(text.contains("t.spc (a recorded trace; units 0, 7 of the trace)"), "{text}");
    let all = bench.run(line);
    assert!(all["workload"].get("units").is_none());
}

#[test]
fn the_units_of_a_real_trace_run_apart() {
    let Some(folder) = traces() else {
        eprintln!("skipped: the folder of real traces, ../shared/traces, is absent");
        return;
    };
    let path = folder.join("financial1-first-10000.ssdsim");
    if !path.exists() {
        eprintln!("skipped: {} is absent", path.display());
        return;
    }
    let bench = Bench::new();
    let line = format!(
        "{COMPARE} --address dense --capacity auto --verify --workload {} --out out --unit each",
        path.display()
    );
    bench.ftlab(&line).ok();
    let all = runs(&bench, "out");
    let requests = |run: &Value| run["workload"]["requests"].as_u64().unwrap();
    assert_eq!(all.iter().step_by(2).map(requests).sum::<u64>(), 10_000);
    assert!(all.len() > 20, "{} runs", all.len());
    assert!(all.iter().all(|run| run["audit"] == "passed"));
}
