use super::*;
use crate::gathered::Gathered;
use crate::result::RunResult;
use serde_json::{Value, json};

fn run(scheme: &str, config: Value) -> RunResult {
    let mut run = RunResult {
        scheme: scheme.to_owned(),
        device: "small".to_owned(),
        config: serde_json::from_value(config).unwrap(),
        audit: "passed".to_owned(),
        ..RunResult::default()
    };
    run.workload.name = "fin1".to_owned();
    run
}

fn collection(runs: Vec<RunResult>) -> Collection {
    let mut all = Collection::default();
    for run in runs {
        all.add(Gathered::of("out/results.json", run)).unwrap();
    }
    all
}

fn explored(runs: &Collection) -> Explored<'_> {
    Explored { asked: &[], runs, files: 1, passed_over: 0, unreadable: &[] }
}

/// What the page embeds.
fn embedded(runs: Vec<RunResult>) -> Value {
    let page = String::from_utf8(write(&explored(&collection(runs)))).unwrap();
    let start = "<script type=\"application/json\" id=\"results\">";
    let (_, rest) = page.split_once(start).unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

fn column<'a>(embedded: &'a Value, path: &str) -> Option<&'a Value> {
    embedded["columns"].as_array().unwrap().iter().find(|column| column["path"] == path)
}

#[test]
fn keys_that_differ_are_columns_and_the_others_are_not() {
    let page = embedded(vec![
        run("dftl", json!({"gc": {"threshold": 5, "victim": "greedy"}, "dftl": {"entries": 64}})),
        run("fast", json!({"gc": {"threshold": 10, "victim": "greedy"}})),
        run("fast", json!({"gc": {"threshold": 9, "victim": "greedy"}})),
    ]);
    let threshold = column(&page, "config.gc.threshold").unwrap();
    assert_eq!((&threshold["kind"], &threshold["label"]), (&json!("key"), &json!("gc.threshold")));
    // In the order of numbers, which is not that of letters.
    assert_eq!(threshold["words"], json!(["5", "9", "10"]));
    assert_eq!(threshold["numbers"], json!([5.0, 9.0, 10.0]));
    assert_eq!(threshold["codes"], json!([0, 2, 1]));
    assert_eq!(column(&page, "scheme").unwrap()["codes"], json!([0, 1, 1]));
    for same in ["config.gc.victim", "config.dftl.entries", "workload.name", "device", "file"] {
        assert!(column(&page, same).is_none(), "{same} tells no run from another");
    }
}

#[test]
fn settings_with_units_can_be_axes() {
    let at = |time: &str| run("dftl", json!({"timing": {"page_read": time}}));
    let page = embedded(vec![at("25us"), at("130.9us"), at("1s"), at("auto")]);
    let read = column(&page, "config.timing.page_read").unwrap();
    assert_eq!(read["words"], json!(["25us", "130.9us", "1s", "auto"]));
    assert_eq!(read["numbers"], json!([25_000.0, 130_900.0, 1e9, null]));
    assert_eq!(read["quantity"], "nanoseconds");
}

#[test]
fn metrics_are_the_numbers_of_the_results() {
    let mut runs = vec![run("dftl", json!({})), run("fast", json!({}))];
    runs[0].waf = Some(1.25);
    runs[0].wear.erase_max = 7;
    runs[1].warnings = vec!["One.".to_owned(), "Two.".to_owned()];
    let page = embedded(runs);
    assert_eq!(column(&page, "waf").unwrap()["values"], json!([1.25, null]));
    assert_eq!(column(&page, "wear.erase_max").unwrap()["values"], json!([7.0, 0.0]));
    assert_eq!(column(&page, "warnings").unwrap()["values"], json!([0.0, 2.0]));
    assert_eq!(page["warnings"], json!({"words": ["One.", "Two."], "runs": [[], [0, 1]]}));
    assert!(column(&page, "map_cache.hit_ratio").is_none(), "no run has a map cache");
}

#[test]
fn what_is_the_same_everywhere_is_said_once_and_what_misleads_first() {
    let mut runs = vec![run("dftl", json!({})), run("fast", json!({})), run("nk", json!({}))];
    let all = collection(runs.clone());
    let told = facts(&explored(&all));
    assert!(told.contains(&("Workload".to_owned(), "fin1".to_owned())), "{told:?}");
    assert!(told.iter().all(|(word, _)| word != "Scheme"), "{told:?}");
    assert_eq!(warnings(&explored(&all)), [""; 0]);
    // The third one's is not known.
    (runs[0].made.commit, runs[1].made.commit) = ("abc".to_owned(), "def".to_owned());
    runs[1].workload.sha256 = "0f".to_owned();
    runs[2].audit = "a page is lost".to_owned();
    let all = collection(runs);
    let unreadable = ["x.json cannot be read: it is cut".to_owned()];
    let told = warnings(&Explored { unreadable: &unreadable, ..explored(&all) });
    for (sentence, begins) in told.iter().zip([
        "x.json cannot be read",
        "The audit of 1 run did not pass",
        "Not one program made all runs (commit differs)",
        "A workload's name is not all of it",
    ]) {
        assert!(sentence.starts_with(begins), "{sentence}");
    }
    assert_eq!(told.len(), 4);
    assert!(told[3].ends_with(" of 'fin1'."), "{}", told[3]);
    let unreadable: Vec<String> = (0..7).map(|file| format!("{file}.json is cut")).collect();
    let told = warnings(&Explored { unreadable: &unreadable, ..explored(&all) });
    assert_eq!(told[4..6], ["4.json is cut", "2 more files cannot be read."]);
}

#[test]
fn a_digest_is_a_key_only_where_names_do_not_tell_workloads_apart() {
    let with = |name: &str, digest: &str| {
        let mut run = run("dftl", json!({}));
        (run.workload.name, run.workload.sha256) = (name.to_owned(), digest.to_owned());
        run
    };
    let page = embedded(vec![with("fin1", "a"), with("web1", "b")]);
    assert!(column(&page, "workload.sha256").is_none());
    let page = embedded(vec![with("fin1", "a"), with("web1", "b"), with("fin1", "c")]);
    assert_eq!(column(&page, "workload.sha256").unwrap()["words"], json!(["a", "b", "c"]));
}

#[test]
fn text_from_outside_cannot_become_markup() {
    let mut bad = run("</script><script>alert(1)</script>", json!({}));
    bad.made.command = "<blink>".to_owned();
    let all = collection(vec![bad]);
    let asked = ["<marquee>".to_owned()];
    let page = write(&Explored { asked: &asked, ..explored(&all) });
    let page = String::from_utf8(page).unwrap();
    for markup in ["alert(1)</script>", "<blink>", "<marquee>"] {
        assert!(!page.contains(markup), "{markup}");
    }
    assert!(page.contains("1 run in &lt;marquee&gt;"));
}

#[test]
fn numbers_of_things_are_said_in_words() {
    assert_eq!(counted(1, "file of results"), "1 file of results");
    assert_eq!(counted(1200, "file of results"), "1,200 files of results");
    assert_eq!(some(["a", "b"].into_iter()), "a, b");
    assert_eq!(some(["a", "b", "c", "d", "e", "f", "g"].into_iter()), "a, b, c, d, e and 2 more");
}
