use super::*;
use crate::result::{LatencySummary, Made, RunResult};
use serde_json::{Value, json};

fn run(scheme: &str, workload: &str, threshold: u64) -> RunResult {
    let mut run = RunResult {
        version: "0.1.0".to_owned(),
        made: Made { commit: "aaa".to_owned(), ..Made::default() },
        scheme: scheme.to_owned(),
        waf: Some(2.0),
        ..RunResult::default()
    };
    (run.workload.name, run.workload.sha256) = (workload.to_owned(), workload.to_owned());
    run.config =
        serde_json::from_value(json!({"gc": {"threshold": threshold, "victim": "greedy"}}))
            .unwrap();
    run
}

fn gathered(runs: Vec<RunResult>) -> Vec<Gathered> {
    runs.into_iter().map(|run| Gathered::of("results.json", run)).collect()
}

fn found(a: Vec<RunResult>, b: Vec<RunResult>, all: bool) -> (Diff, String) {
    let (a, b) = (gathered(a), gathered(b));
    let found = diff(Side { name: "a", runs: &a }, Side { name: "b", runs: &b }, all);
    let text = text(&found, all);
    (found, text)
}

fn pairs(a: Vec<RunResult>, b: Vec<RunResult>) -> Matched {
    matched(&gathered(a), &gathered(b))
}

#[test]
fn equal_results_say_that_nothing_moved() {
    let mut later = run("dftl", "fin1", 3);
    later.made.started = "2031-01-01T00:00:00Z".to_owned();
    later.wall.seconds = 9.0;
    later.made.commit = String::new();
    let (found, told) = found(vec![run("dftl", "fin1", 3)], vec![later], false);
    assert!(told.contains("The configuration is the same."), "{told}");
    assert!(told.contains("No metric moved: every number is the same."), "{told}");
    assert!(found.pairs[0].equal && found.pairs[0].metrics.is_empty());
    assert!(!told.contains("Different"), "{told}");
}

#[test]
fn a_moved_metric_is_told_with_its_section_and_its_change() {
    let (mut a, mut b) = (run("dftl", "fin1", 3), run("dftl", "fin1", 5));
    a.latency_ns.all.system.count = 10;
    a.latency_ns.all.system.mean = 2_000_000.0;
    b.latency_ns.all.system = LatencySummary { mean: 2_080_000.0, ..a.latency_ns.all.system };
    b.waf = Some(1.5);
    b.flash.cell_reads = 4;
    let (found, told) = found(vec![a], vec![b], false);
    let lines: Vec<Vec<&str>> =
        told.lines().map(|line| line.split_whitespace().collect()).collect();
    for wanted in [
        &["gc.threshold", "3", "5"][..],
        &["Response", "time"],
        &["mean", "2.000", "ms", "2.080", "ms", "+4.000", "%", "worse"],
        &["Write", "amplification"],
        &["WAF", "2.000", "1.500", "-25.00", "%", "better"],
    ] {
        assert!(lines.iter().any(|line| line == wanted), "{wanted:?} is not in\n{told}");
    }
    assert!(told.contains("Besides, in the results: flash.cell_reads"), "{told}");
    assert_eq!(found.pairs[0].metrics.len(), 2);
    let value = serde_json::to_value(&found).unwrap();
    let waf = &value["pairs"][0]["metrics"][1];
    assert_eq!((&waf["path"], &waf["change"]), (&json!("waf"), &json!(-0.25)));
    assert_eq!(
        value["pairs"][0]["configuration"],
        json!([{"key": "gc.threshold", "a": 3, "b": 5}])
    );
}

#[test]
fn all_shows_what_did_not_move_as_well() {
    let same = || vec![run("dftl", "fin1", 3)];
    let (found, told) = found(same(), same(), true);
    assert!(found.pairs[0].metrics.iter().all(|metric| metric.a == metric.b));
    assert!(told.lines().any(|line| line.split_whitespace().eq(["WAF", "2.000", "2.000", "="])));
    assert!(told.contains("No metric moved"), "{told}");
}

#[test]
fn numbers_of_nothing_and_from_nothing_have_no_change() {
    let (mut a, mut b) = (run("dftl", "fin1", 3), run("dftl", "fin1", 3));
    a.waf = None;
    b.wear.retired_blocks = 2;
    let (found, _) = found(vec![a], vec![b], false);
    let told: Vec<_> = found.pairs[0]
        .metrics
        .iter()
        .map(|metric| (metric.path, metric.a, metric.b, metric.change, metric.verdict))
        .collect();
    let expected = [
        ("waf", None, Some(2.0), None, None),
        ("wear.retired_blocks", Some(0.0), Some(2.0), None, Some("worse")),
    ];
    assert_eq!(told, expected);
}

#[test]
fn other_workloads_schemes_and_programs_are_told_in_words() {
    let (mut a, mut b) = (run("dftl", "fin1", 3), run("fast", "web1", 3));
    (a.workload.requests, b.workload.requests) = (5000, 70);
    a.config.insert("dftl".to_owned(), json!({"entries": 64, "policy": "lru"}));
    b.made.commit = "abc".to_owned();
    let (_, told) = found(vec![a.clone()], vec![b], false);
    for sentence in [
        "Different schemes: A ran dftl, B fast.",
        "Different workloads: A ran fin1 (5,000 requests), B web1 (70 requests).",
        "Different programs: A was made by ftlab 0.1.0 (aaa), B by ftlab 0.1.0 (abc).",
        "2 settings that only one of the two schemes reads are left out.",
    ] {
        assert!(told.contains(sentence), "'{sentence}' is not in\n{told}");
    }
    assert!(told.find("Different workloads") < told.find("What was asked"), "first\n{told}");
    let mut other = a.clone();
    other.workload.sha256 = "other".to_owned();
    let (_, told) = found(vec![a], vec![other], false);
    let sentence = "both ran fin1 (5,000 requests), but not the same requests";
    assert!(told.contains(sentence), "{told}");
}

#[test]
fn runs_are_matched_by_scheme_and_workload() {
    let a = vec![run("dftl", "fin1", 3), run("fast", "fin1", 3), run("dftl", "web1", 3)];
    let b = vec![run("dftl", "web1", 5), run("last", "fin1", 3), run("dftl", "fin1", 5)];
    let expected = Matched { pairs: vec![[0, 2], [2, 0]], only_a: vec![1], only_b: vec![1] };
    assert_eq!(pairs(a.clone(), b.clone()), expected);
    let (_, told) = found(a, b, false);
    assert!(told.contains("Only in A: fast on fin1"), "{told}");
    assert!(told.contains("Only in B: last on fin1"), "{told}");
}

#[test]
fn of_several_runs_of_a_scheme_the_nearest_settings_belong_together() {
    let sweep = |thresholds: [u64; 3]| thresholds.map(|t| run("dftl", "fin1", t)).to_vec();
    let found = pairs(sweep([3, 5, 7]), sweep([7, 3, 9]));
    assert_eq!(found.pairs, [[0, 1], [1, 2], [2, 0]], "5 and 9 are what is left");
    let found = pairs(sweep([3, 3, 3]), sweep([3, 3, 3]));
    assert_eq!(found.pairs, [[0, 0], [1, 1], [2, 2]], "in their order where nothing differs");
}

#[test]
fn a_scheme_that_is_left_once_on_each_side_is_compared_across_workloads() {
    let a = vec![run("dftl", "fin1", 3), run("fast", "fin1", 3)];
    let b = vec![run("fast", "web1", 3), run("dftl", "web1", 3)];
    assert_eq!(pairs(a, b).pairs, [[0, 1], [1, 0]]);
}

#[test]
fn pairs_without_any_difference_share_a_line_and_shared_warnings_are_said_once() {
    let mut a = vec![run("dftl", "fin1", 3), run("fast", "fin1", 3)];
    let mut b = a.clone();
    a.iter_mut().for_each(|run| run.made.commit = "abc".to_owned());
    let (_, told) = found(a.clone(), b.clone(), false);
    let line = "No metric moved, nothing differs: dftl on fin1; fast on fin1";
    assert!(told.contains(line), "{told}");
    assert_eq!(told.matches("Different programs").count(), 1, "{told}");
    b[1].waf = Some(3.0);
    let (_, told) = found(a, b, false);
    assert!(told.contains("nothing differs: dftl on fin1\n"), "{told}");
    assert!(told.contains("\nfast on fin1\n"), "{told}");
    assert_eq!(told.matches("Different programs").count(), 1, "{told}");
}

#[test]
fn a_curve_that_moved_alone_is_not_passed_over() {
    let (a, mut b) = (run("dftl", "fin1", 3), run("dftl", "fin1", 3));
    b.cdf.all = vec![(5, 1.0)];
    let (_, told) = found(vec![a], vec![b], false);
    assert!(told.contains("No metric moved; curves, windows or warnings differ."), "{told}");
}

/// Null is no JSON number: a reader of the JSON relies on the members.
#[test]
fn the_json_has_the_members_of_the_interface() {
    let (found, _) = found(vec![run("dftl", "fin1", 3)], vec![run("fast", "fin1", 5)], true);
    let value = serde_json::to_value(&found).unwrap();
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&value), ["schema", "a", "b", "pairs", "only_a", "only_b"]);
    let pair = &value["pairs"][0];
    let expected = [
        "scheme",
        "workload",
        "files",
        "warnings",
        "configuration",
        "left_out",
        "metrics",
        "others",
        "equal",
    ];
    assert_eq!(names(pair), expected);
    assert_eq!((&pair["scheme"], &pair["workload"]), (&json!(["dftl", "fast"]), &json!("fin1")));
    let expected = ["section", "label", "path", "a", "b", "change", "verdict"];
    assert_eq!(names(&pair["metrics"][0]), expected);
}
