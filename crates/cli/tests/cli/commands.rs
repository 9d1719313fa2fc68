//! Every command does what it says, on tiny workloads.

use crate::common::{Bench, schemes, without_wall};
use serde_json::Value;

const SMALL: &str = "--device dftl2014 --capacity 8MiB --set device.over_provisioning=0.25";
const CHURN: &str = "--workload randwrite:bs=2k,span=100%,count=3x";

#[test]
fn every_list_is_there_in_three_forms() {
    let bench = Bench::new();
    let lists =
        "schemes families victims placements buffers schedulers devices workloads formats keys";
    for what in lists.split(' ') {
        let short = bench.ftlab(&format!("list {what}")).ok();
        let table = bench.ftlab(&format!("list {what} --table")).ok();
        let json = bench.ftlab(&format!("list {what} --json")).ok();
        let rows: Vec<Value> = serde_json::from_str(&json).unwrap();
        if what != "keys" {
            assert_eq!(short.lines().count(), rows.len() + 1, "{what}: a heading and the rows");
        }
        for row in &rows {
            let name = row.get("name").or(row.get("key")).unwrap().as_str().unwrap();
            assert!(short.lines().any(|line| line.starts_with(name)), "{what}: {name}");
            let whole = |line: &str| line.trim().starts_with(name);
            assert!(table.lines().any(whole), "{what}: {name} is in the table, unbroken");
        }
        for line in table.lines() {
            assert!(line.chars().count() <= 100, "{what}: wider than a terminal: {line}");
        }
        let name = rows[0].get("name").or(rows[0].get("key")).unwrap().as_str().unwrap();
        let few = bench.ftlab(&format!("list {what} {name} --json")).ok();
        let few: Vec<Value> = serde_json::from_str(&few).unwrap();
        assert!(few.contains(&rows[0]) && few.len() <= rows.len(), "{what} {name}");
    }
    bench.ftlab("list keys gc.viktim").refused(2, &["no key contains 'gc.viktim'"]);
    let listed = bench.ftlab("list schemes").ok();
    let names: Vec<&str> =
        listed.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, schemes());
}

/// Each was shown without its meaning and its source, which stood in the JSON alone.
#[test]
fn a_key_is_listed_with_default_meaning_range_and_source() {
    let bench = Bench::new();
    let text = bench.ftlab("list keys gc.victim").ok();
    let rows: Vec<Value> =
        serde_json::from_str(&bench.ftlab("list keys gc.victim --json").ok()).unwrap();
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for row in &rows {
        let of = |name: &str| row[name].as_str().unwrap().to_owned();
        for part in [
            format!("{} = ", of("key")),
            of("meaning"),
            format!("Legal: {}", of("legal")),
            format!("Source: {}", of("source")),
        ] {
            assert!(joined.contains(&part), "'{part}' is not in {text}");
        }
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn shells_and_man_know_every_command_and_scheme() {
    let bench = Bench::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = bench.ftlab(&format!("completions {shell}")).ok();
        for word in ["reproduce", "find-subset", "--precondition"] {
            let word = if shell == "fish" { word.trim_start_matches('-') } else { word };
            assert!(script.contains(word), "{shell}: {word}");
        }
        // PowerShell's completes commands and options only.
        let names = if matches!(shell, "bash" | "zsh" | "fish") { schemes() } else { Vec::new() };
        for name in names {
            assert!(script.contains(name), "{shell}: {name}");
        }
    }
    bench.ftlab("man --out pages").ok();
    for (page, words) in [
        ("ftlab.1", ["Exit codes", "reproduce"]),
        ("ftlab-run.1", ["precondition", "TiB"]),
        ("ftlab-trace-inspect.1", ["page\\-size", "LRU stack"]),
    ] {
        let text = std::fs::read_to_string(bench.path("pages").join(page)).unwrap();
        for word in words {
            assert!(text.contains(word), "{page}: {word}");
        }
    }
    bench.ftlab("man --out pages").refused(2, &["not empty"]);
}

#[test]
fn a_trace_is_inspected_and_converted_without_loss() {
    let bench = Bench::new();
    let lines: String =
        (0..50).map(|n| format!("0,{},4096,{},{}.5\n", n * 8, ["R", "w"][n % 2], n)).collect();
    bench.file("t.spc", lines);
    let text = bench.ftlab("trace inspect t.spc").ok();
    assert!(text.contains("spc") && text.contains("50"), "{text}");
    let before: Value =
        serde_json::from_str(&bench.ftlab("trace inspect t.spc --json").ok()).unwrap();
    assert_eq!((before["format"].as_str(), before["requests"].as_u64()), (Some("spc"), Some(50)));
    bench.ftlab("trace convert t.spc t.csv.gz").ok();
    let after: Value =
        serde_json::from_str(&bench.ftlab("trace inspect t.csv.gz --json").ok()).unwrap();
    for key in ["requests", "reads", "bytes_read", "bytes_written", "footprint_pages", "span_ns"] {
        assert_eq!(before[key], after[key], "{key}");
    }
    assert_eq!(after["compression"], "gzip");
    bench.ftlab("trace convert t.spc head.csv --head 7").ok();
    let head: Value =
        serde_json::from_str(&bench.ftlab("trace inspect head.csv --json").ok()).unwrap();
    assert_eq!(head["requests"], 7);
    let device: Value =
        serde_json::from_str(&bench.ftlab("trace inspect t.spc --json --device dftl2014").ok())
            .unwrap();
    assert_eq!((&device["page_bytes"], &device["extent_bytes"]), (&2048.into(), &131_072.into()));
    bench.ftlab("trace convert t.spc t.csv.gz").refused(2, &["t.csv.gz", "exists"]);
}

#[test]
fn run_prints_a_table_and_writes_one_object() {
    let bench = Bench::new();
    for scheme in schemes() {
        let line = format!("run --scheme {scheme} {SMALL} {CHURN} --verify --json {scheme}.json");
        let text = bench.ftlab(&line).ok();
        for heading in ["Response time", "Write amplification", "Wear", "Audit"] {
            assert!(text.contains(heading), "{scheme}: {heading} is not in {text}");
        }
        let run = bench.json(&format!("{scheme}.json"));
        assert_eq!(run["schema"], "ftlab/1");
        assert_eq!((&run["scheme"], &run["audit"]), (&scheme.into(), &"passed".into()));
        assert_eq!(run["host"]["write_pages"], 3 * 4096);
        assert_eq!(run["workload"]["requests"], 3 * 4096);
        assert_eq!(run["workload"]["synthetic"], true);
        assert!(run["waf"].as_f64().unwrap() >= 1.0);
        assert_eq!(run["config"]["device"]["logical_pages"], 4096);
        assert!(run["flash"]["total_erases"].as_u64().unwrap() > 0, "{scheme} must reclaim");
        let others = schemes();
        let groups = run["config"].as_object().unwrap();
        let bases: &[&str] = match scheme {
            "dac" => &["bast", "replacement_block"],
            "treeftl_page_lru" => &["treeftl"],
            "learnedftl" => &["tpftl"],
            _ => &[],
        };
        let its = |name: &str| name == scheme || bases.contains(&name);
        let foreign = others.iter().find(|name| !its(name) && groups.contains_key(**name));
        assert_eq!(foreign, None, "{scheme} has settings of another scheme");
    }
}

#[test]
fn compare_writes_three_files_and_no_more_whatever_the_number_of_jobs() {
    let bench = Bench::new();
    let line = format!("compare --schemes all {SMALL} {CHURN} --precondition fill");
    let text = bench.ftlab(&format!("{line} --out one --jobs 1")).ok();
    bench.ftlab(&format!("{line} --out deep/two --jobs 2")).ok();
    assert!(schemes().iter().all(|name| text.contains(name)), "{text}");
    let one = without_wall(bench.json("one/results.json"));
    assert_eq!(one, without_wall(bench.json("deep/two/results.json")));
    let names: Vec<&str> =
        one.as_array().unwrap().iter().map(|run| run["scheme"].as_str().unwrap()).collect();
    assert_eq!(names, schemes());
    let device = |run: &Value| run["config"]["device"]["physical_pages"].clone();
    let runs = one.as_array().unwrap();
    assert!(runs.iter().all(|run| device(run) == device(&runs[0])), "one size for all");
    let mut files: Vec<String> = std::fs::read_dir(bench.path("one"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_str().unwrap().to_owned())
        .collect();
    files.sort();
    assert_eq!(files, ["report.html", "results.csv", "results.json"]);
    assert_eq!(bench.entries(), ["deep", "one"], "no temporary folder stays");
    let csv = std::fs::read_to_string(bench.path("one/results.csv")).unwrap();
    assert_eq!(csv.lines().count(), runs.len() + 1);
}

#[test]
fn a_result_says_how_to_make_it_again_and_equal_runs_are_equal_bytes() {
    let bench = Bench::new();
    let request =
        |n: usize| format!("{},{},{},4096\n", 900 * n, ["W", "R"][n % 2], n * 7 % 99 * 4096);
    let lines: String = (0..400).map(request).collect();
    bench.file("t.csv", format!("time_us,op,offset_bytes,size_bytes\n{lines}"));
    let line =
        format!("--scheme dftl {SMALL} --workload t.csv --filter op=write --set wear.spread=9");
    let first = bench.run(&line);
    let made = &first["made"];
    assert_eq!((&made["timing"], &made["filter"]), (&"trace".into(), &"op=write".into()));
    assert!(made["started"].as_str().unwrap().ends_with('Z'), "{made}");
    assert!(made["host"].as_str().unwrap().contains("cores") && made["commit"] != "", "{made}");
    let command = made["command"].as_str().unwrap().strip_prefix("ftlab ").unwrap();
    bench.ftlab(&format!("{command} --reproducible --json a.json")).ok();
    bench.ftlab(&format!("run {line} --reproducible --json b.json")).ok();
    let bytes = |name: &str| std::fs::read(bench.path(name)).unwrap();
    assert_eq!(bytes("a.json"), bytes("b.json"));
    assert_eq!(without_wall(bench.json("a.json")), without_wall(first.clone()));
    assert_eq!(bench.json("a.json")["made"]["command"], first["made"]["command"]);
}

/// One scheme that a device does not suit took the table of all others with it.
#[test]
fn memory_of_all_schemes_leaves_out_those_that_cannot_be_planned() {
    let bench = Bench::new();
    let all = bench.ftlab("ram --schemes all --device ssdsim2010");
    assert_eq!(all.code, 0, "{}", all.err);
    assert!(all.out.contains("dftl"), "{}", all.out);
    let told: Vec<&str> = all.err.lines().collect();
    assert!(told.iter().any(|line| line.starts_with("left out: lazyftl (")), "{}", all.err);
    let json = bench.ftlab("ram --schemes all --device ssdsim2010 --json");
    let json: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    let listed = json.as_array().unwrap();
    assert_eq!(listed.len() + told.len(), crate::common::schemes().len());
    assert!(listed.iter().all(|one| one["scheme"] != "lazyftl"));
    bench.ftlab("ram --schemes dftl,lazyftl --device ssdsim2010").refused(2, &["lazyftl", "UMT"]);
}

#[test]
fn ram_is_known_without_a_run() {
    let bench = Bench::new();
    let text = bench.ftlab("ram --device dftl2014").ok();
    assert!(schemes().iter().all(|name| text.contains(name)), "{text}");
    let json = bench.ftlab("ram --device dftl2014 --capacity 1TiB --schemes dftl --json").ok();
    let rows: Vec<Value> = serde_json::from_str(&json).unwrap();
    // 2^29 pages, 512 entries of a translation page, 4 bytes for each of them in the directory.
    assert_eq!(rows[0]["ram_bytes"]["structures"]["gtd"]["bytes"], 4 << 20);
    assert_eq!(rows[0]["ram_bytes"]["structures"]["cmt"]["bytes"], 32768);
}

#[test]
fn the_bundled_demo_reclaims_everywhere_and_only_the_log_scheme_queues() {
    let bench = Bench::new();
    bench
        .ftlab(
            // DAC's map pages take four blocks, one more than this device has beside 3 % spare
            // blocks.
            "compare --schemes all --device dftl2014 --workload oltp_demo --head 100000 \
             --precondition fill --set replacement_block.spare_pct=2.9 --out demo",
        )
        .ok();
    let mut mean = std::collections::BTreeMap::new();
    for run in bench.json("demo/results.json").as_array().unwrap() {
        let scheme = run["scheme"].as_str().unwrap().to_owned();
        assert_eq!(run["steady_state"]["gc_ran"], true, "{scheme}");
        assert_eq!(run["workload"]["name"], "oltp_demo");
        mean.insert(scheme, run["latency_ns"]["all"]["system"]["mean"].as_f64().unwrap());
    }
    assert!(mean["ideal_page"] < 10e6, "not saturated: {mean:?}");
    assert!(mean["ideal_page"] < mean["dftl"] && mean["dftl"] < mean["fast"], "{mean:?}");
    assert!(mean["fast"] > 5.0 * mean["ideal_page"], "{mean:?}");
}
