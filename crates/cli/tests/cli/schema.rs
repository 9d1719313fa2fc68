//! What `ftlab schema` prints: results are held to it wherever a test reads one
//! (`common::Bench::json`), so here is what it must not let through.

use crate::common::{Bench, RESULTS, ROWS};
use serde_json::{Value, json};

#[test]
fn a_key_too_many_or_too_few_is_not_of_the_schema() {
    let bench = Bench::new();
    let run = bench.run(
        "--scheme dftl --device dftl2014 --capacity 8MiB --set device.over_provisioning=0.25 \
         --workload randwrite:bs=2k,span=100%,count=1x",
    );
    assert!(RESULTS.holds(&run) && RESULTS.holds(&json!([run, run])));
    let wrong = |change: fn(&mut Value)| {
        let mut changed = run.clone();
        change(&mut changed);
        assert!(!RESULTS.holds(&changed) && !RESULTS.holds(&json!([run, changed])));
    };
    wrong(|run| run["surprise"] = 1.into());
    wrong(|run| run["flash"]["programs"]["surprise"] = 1.into());
    wrong(|run| run["config"]["gc"]["viktim"] = "greedy".into());
    wrong(|run| run["schema"] = "ftlab/2".into());
    wrong(|run| run["waf"] = "1.5".into());
    wrong(|run| drop(run.as_object_mut().unwrap().remove("waf")));
    assert!(!ROWS.holds(&json!({ "index": 0 })), "a row has every column");
}

#[test]
fn what_the_command_prints_is_what_tests_hold_results_to() {
    let bench = Bench::new();
    for (what, schema) in
        [("results", ftlab_report::schema::results()), ("rows", ftlab_report::schema::rows())]
    {
        let printed = bench.ftlab(&format!("schema {what}")).ok();
        assert_eq!(serde_json::from_str::<Value>(&printed).unwrap(), schema, "{what}");
    }
    bench.ftlab("schema everything").refused(2, &["results", "rows"]);
}
