//! `--precondition`: the state in which a device is measured, and what the result says about it.

use crate::common::Bench;
use serde_json::Value;

const SMALL: &str = "--device dftl2014 --capacity 8MiB --set device.over_provisioning=0.25";
const WRITES: &str = "--workload randwrite:bs=2k,span=100%,count=1x,seed=9";

fn number(run: &Value, pointer: &str) -> f64 {
    run.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("{pointer}: {run:#}"))
}

/// 8 MiB are 64 requests of 128 KiB, twice; of 33 blocks of 96 KiB the last request gets the rest.
#[test]
fn wipc_writes_the_capacity_twice_in_requests_of_128_kib() {
    let bench = Bench::new();
    for scheme in ["ideal_page", "dftl", "fast"] {
        let run = bench.run(&format!("--scheme {scheme} {SMALL} {WRITES} --precondition wipc"));
        assert_eq!(run["precondition"]["mode"], "wipc");
        assert_eq!(run["precondition"]["requests"], 128, "{scheme}");
        assert_eq!(run["precondition"]["pages_written"], 2 * 4096, "{scheme}");
        assert_eq!(run["steady_state"]["reached"], Value::Null);
        assert_eq!(run["steady_state"]["gc_ran"], true, "{scheme}");
    }
    let odd = SMALL.replace("8MiB", "3168KiB --set device.pages_per_block=48");
    let run = bench.run(&format!("--scheme ideal_page {odd} {WRITES} --precondition wipc"));
    assert_eq!(run["precondition"]["requests"], 2 * 25);
    assert_eq!(run["precondition"]["pages_written"], 2 * 1584);
}

/// Rounds of the capacity settle as soon as five of them lie behind the first, cheap ones; the
/// measured part then costs what the last round cost.
#[test]
fn steady_goes_on_until_five_rounds_agree_and_says_by_how_much() {
    let bench = Bench::new();
    let line = format!("--scheme ideal_page {SMALL} {WRITES} --timing asap --precondition steady");
    let run = bench.run(&line);
    let state = &run["steady_state"];
    assert_eq!((&state["reached"], &run["precondition"]["mode"]), (&true.into(), &"steady".into()));
    let rounds = state["rounds"].as_u64().unwrap();
    assert!((5..=25).contains(&rounds), "{run:#}");
    let values = state["settling"]["pages_per_second"].as_array().unwrap();
    assert_eq!(values.len() as u64, rounds);
    assert_eq!(run["precondition"]["pages_written"], (2 + rounds) * 4096);
    assert_eq!(state["settling"]["pages_per_round"], 4096);
    let last = values.last().and_then(Value::as_f64).unwrap();
    let measured = number(&run, "/iops") / last;
    assert!((0.9..1.1).contains(&measured), "measured {measured} of the last round: {run:#}");
    assert!(number(&run, "/steady_state/settling/range") <= 0.2);
    assert!(number(&run, "/steady_state/settling/excursion") <= 0.1);
    let table = bench.ftlab(&format!("run {line}")).ok();
    for words in [format!("reached after {rounds} rounds"), "20.0 % are allowed".to_owned()] {
        assert!(table.contains(&words), "{table}");
    }
}

/// Rounds of a few pages differ by what a single collection takes: they never settle, which is said
/// at the top and below, and the run goes on.
#[test]
fn a_device_that_does_not_settle_in_25_rounds_is_measured_and_marked() {
    let bench = Bench::new();
    let line = format!("--scheme fast {SMALL} {WRITES} --precondition steady:0.02x");
    let run = bench.run(&line);
    assert_eq!(run["steady_state"]["reached"], false, "{run:#}");
    assert_eq!(run["steady_state"]["rounds"], 25);
    assert_eq!(run["precondition"]["mode"], "steady:0.02x");
    assert_eq!(run["host"]["write_pages"], 4096);
    let table = bench.ftlab(&format!("run {line}")).ok();
    for words in ["not reached in 25 rounds", "did not settle in 25 rounds"] {
        assert!(table.contains(words), "{table}");
    }
}

/// The model's device costs at once what rounds of random writes lead to; schemes and policies that
/// it does not know are refused before anything runs.
#[test]
fn model_starts_where_steady_ends() {
    let bench = Bench::new();
    let line =
        |mode| format!("--scheme ideal_page {SMALL} {WRITES} --verify --precondition {mode}");
    let (model, steady) = (bench.run(&line("model")), bench.run(&line("steady")));
    assert_eq!(model["precondition"]["mode"], "model");
    assert_eq!(model["precondition"]["pages_written"], 0);
    let ratio = number(&model, "/waf") / number(&steady, "/waf");
    assert!((0.9..1.1).contains(&ratio), "{ratio}");
    let table = bench.ftlab(&format!("run {}", line("model"))).ok();
    assert!(table.contains("the scheme found its map by recovery"), "{table}");
    let refused = |options: &str, words: &[&str]| {
        let line = format!("run {SMALL} {WRITES} --precondition model {options}");
        bench.ftlab(&line).refused(2, words);
    };
    refused("--scheme dftl", &["no model", "ideal_page, hat", "model,dftl=steady"]);
    refused("--scheme fast", &["no model", "fast"]);
    refused("--scheme hat --set gc.victim=random", &["gc.victim = random", "greedy and fifo"]);
}
