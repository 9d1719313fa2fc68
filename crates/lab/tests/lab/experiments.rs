//! Experiments as text: every option under its name, in TOML and JSON.

use ftlab_lab::{Error, Experiment, Mode, Reading};
use serde_json::{Map, Value, json};

/// Every option with a value that is not its default, as files hold it.
fn all_options() -> Map<String, Value> {
    let values = json!({
        "schemes": "dftl:gtd,fast",
        "device": "ssdsim2010",
        "capacity": "8388608",
        "buffer": "lru",
        "set": ["gc.victim=fifo", "workload.seed=3"],
        "workload": "financial",
        "trace-dir": "traces",
        "find-subset": true,
        "format": "spc",
        "time-unit": "ms",
        "size-unit": "sectors",
        "parts": "by_time",
        "unit": "0,2",
        "filter": "op=write,every=3",
        "head": 1000,
        "reorder-window": "5000000ns",
        "skip-bad": 7,
        "address": "dense",
        "precondition": "steady:0.5x,dftl=touch,fast=snapshot:a.snap",
        "timing": "trace:0.25",
        "ram": "like:dftl.cmt",
        "ram-strict": true,
        "verify": true,
        "until": "worn-out",
        "loop": 7,
        "seed": 9,
        "probe": "5:20",
        "tail": true,
        "requests-out": "rows.parquet",
        "trace-out": "trace.json",
        "save-snapshot": "after.snap",
    });
    values.as_object().unwrap().clone()
}

fn read(options: &Map<String, Value>) -> Experiment {
    serde_json::from_value(Value::Object(options.clone())).unwrap()
}

#[test]
fn every_option_is_told_as_it_is_read_in_json_and_in_toml() {
    let options = all_options();
    let mut names: Vec<&str> = options.keys().map(String::as_str).collect();
    names.sort_unstable();
    let mut known = Experiment::OPTIONS.to_vec();
    known.sort_unstable();
    assert_eq!(names, known, "the names that the library lists");
    let all = read(&options);
    let reading = serde_json::to_value(Reading::default()).unwrap();
    assert_eq!(serde_json::from_value::<Reading>(reading).unwrap(), Reading::default());
    assert_eq!(serde_json::to_value(&all).unwrap(), Value::Object(options.clone()));
    assert_eq!(Experiment::from_toml(&all.to_toml().unwrap()).unwrap(), all);
    for (name, value) in options {
        let one = Map::from_iter([(name.clone(), value)]);
        let experiment = read(&one);
        assert_ne!(experiment, Experiment::default(), "{name}");
        assert_eq!(serde_json::to_value(&experiment).unwrap(), Value::Object(one), "{name}");
        let toml = experiment.to_toml().unwrap();
        assert!(toml.starts_with(&name), "{toml}");
        assert_eq!(Experiment::from_toml(&toml).unwrap(), experiment, "{name}");
    }
}

#[test]
fn what_has_its_default_is_left_out() {
    assert_eq!(Experiment::default().to_toml().unwrap(), "");
    assert_eq!(serde_json::to_value(Experiment::default()).unwrap(), json!({}));
    assert_eq!(Experiment::from_toml("").unwrap(), Experiment::default());
    let stated = "address = 'strict'\nunit = 'all'\nseed = 1\nprecondition = 'none'\n\
                  reorder-window = '1s'\nverify = false\n";
    assert_eq!(Experiment::from_toml(stated).unwrap(), Experiment::default());
    // A seed beyond what TOML counts to is text.
    let large = Experiment { seed: u64::MAX, ..Experiment::default() };
    assert_eq!(large.to_toml().unwrap(), "seed = \"18446744073709551615\"\n");
    assert_eq!(Experiment::from_toml(&large.to_toml().unwrap()).unwrap(), large);
}

#[test]
fn lists_tables_and_numbers_say_the_same_as_text() {
    let text = Experiment::from_toml(
        "schemes = 'dftl, fast'\ncapacity = '1MiB'\nunit = '3'\nhead = '5'\n\
         set = ['gc.victim=fifo', 'wear.spread=5']\n",
    );
    let plain = Experiment::from_toml(
        "schemes = ['dftl', 'fast']\ncapacity = 1048576\nunit = 3\nhead = 5\n\
         [set]\ngc.victim = 'fifo'\nwear.spread = 5\n",
    );
    assert_eq!(text.unwrap(), plain.unwrap());
    let one = Experiment::from_toml("scheme = 'dftl:gtd'").unwrap();
    assert_eq!(one.schemes, "dftl:gtd".into());
}

#[test]
fn what_is_not_legal_is_refused_by_line_name_and_what_is_legal() {
    let refusal = |text: &str| match Experiment::from_toml(text) {
        Err(Error::Usage(text)) => text,
        other => panic!("{text}: {other:?}"),
    };
    let unknown = refusal("device = 'dftl2014'\nprecondtion = 'fill'\n");
    for word in ["line 2: ", "`precondtion`", "`precondition`", "`trace-dir`"] {
        assert!(unknown.contains(word), "{unknown}");
    }
    let in_json = serde_json::from_str::<Experiment>("{\"deviec\": \"x\"}").unwrap_err();
    assert!(in_json.to_string().contains("unknown field `deviec`"), "{in_json}");
    for (text, words) in [
        ("capacity = 0", ["--capacity '0'", "above 0"]),
        ("timing = 'later'", ["--timing 'later'", "closed:DEPTH"]),
        ("precondition = 'prefix:0'", ["prefix:0", "random:Nx"]),
        ("ram = 0", ["--ram '0'", "above 0"]),
        ("until = 'steady'", ["--until 'steady'", "worn-out"]),
        ("probe = '5'", ["--probe '5'", "FROM:COUNT"]),
        ("address = 'dens'", ["dens", "'dense'"]),
        ("unit = 'x'", ["x", "all"]),
        ("reorder-window = 5", ["--reorder-window '5'", "ms"]),
        ("time-unit = 'nss'", ["nss", "'ns'"]),
        ("head = 'some'", ["'some'", "digit"]),
        ("verify = 'yes'", ["line 1", "boolean"]),
        ("set = 5", ["line 1", "KEY=VALUE"]),
    ] {
        let refusal = refusal(text);
        for word in words {
            assert!(refusal.contains(word), "{text}: {refusal}");
        }
    }
}

#[test]
fn the_ways_to_read_a_trace_can_be_taken_and_given_back() {
    let all = read(&all_options());
    let reading = all.reading();
    assert_ne!(reading, Reading::default());
    let without = all.clone().with_reading(Reading::default());
    assert_eq!((without.head, &without.workload), (None, &all.workload));
    assert_eq!(without.with_reading(reading), all);
    let names = |value: Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(serde_json::to_value(Reading::default()).unwrap()), Reading::OPTIONS);
    assert_eq!(all.precondition.of("fast"), Mode::Snapshot("a.snap".into()));
}
