use super::*;
use crate::result::RunResult;
use serde_json::{Value, json};

/// Two schemes, of which the second has no cache.
fn axes() -> Vec<Axis> {
    let texts = |values: [&str; 3]| {
        values.map(|value| (!value.is_empty()).then(|| value.to_owned())).to_vec()
    };
    vec![
        Axis { name: "scheme".to_owned(), values: texts(["nk", "dftl", "dftl"]), numbers: None },
        Axis {
            name: "cache".to_owned(),
            values: texts(["", "64KiB", "9KiB"]),
            numbers: Some((vec![None, Some(65536.0), Some(9216.0)], Quantity::Bytes)),
        },
    ]
}

fn runs() -> Vec<Gathered> {
    let run = |waf| RunResult { waf: Some(waf), ..RunResult::default() };
    [1.5, 2.5, 3.5].map(|waf| Gathered::of("runs/0.json", run(waf))).to_vec()
}

fn page(change: impl FnOnce(&mut Swept<'_>)) -> String {
    page_of(&runs(), change)
}

fn page_of(runs: &[Gathered], change: impl FnOnce(&mut Swept<'_>)) -> String {
    let axes = axes();
    let mut swept = Swept {
        axes: &axes,
        seed: None,
        runs,
        points: 3,
        left_out: 0,
        failed: &[],
        refused: &[],
        missing: 0,
        sensitivity: &[],
    };
    change(&mut swept);
    String::from_utf8(write(&swept)).unwrap()
}

fn embedded(page: &str) -> Value {
    let start = "<script type=\"application/json\" id=\"results\">";
    let (_, rest) = page.split_once(start).unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn axes_are_the_first_columns_and_their_numbers_are_in_order() {
    let page = page(|_| ());
    assert!(page.contains("<h1>A sweep over scheme and cache: 3 points</h1>"));
    let embedded = embedded(&page);
    assert_eq!(embedded["sweep"]["axes"], json!(["axis.scheme", "axis.cache"]));
    let [scheme, cache] = [0, 1].map(|at| &embedded["columns"][at]);
    // Names as they first appear; 9 KiB before 64 KiB, and no cache behind both.
    assert_eq!((&scheme["words"], &scheme["codes"]), (&json!(["nk", "dftl"]), &json!([0, 1, 1])));
    assert_eq!(cache["words"], json!(["9KiB", "64KiB", ""]));
    assert_eq!(cache["numbers"], json!([9216.0, 65536.0, null]));
    assert_eq!((&cache["codes"], &cache["quantity"]), (&json!([2, 1, 0]), &json!("bytes")));
    assert!(page.contains("9KiB, 64KiB, none"), "the values of an axis are told");
    let waf = |column: &&Value| column["path"] == "waf";
    let waf = embedded["columns"].as_array().unwrap().iter().find(waf).unwrap();
    assert_eq!(waf["values"], json!([1.5, 2.5, 3.5]));
}

#[test]
fn points_without_a_result_are_told_with_their_reasons() {
    let point = |name: &str, why: &str| (name.to_owned(), why.to_owned());
    let failed =
        vec![point("op=1", "it is full"), point("op=3", "no room"), point("op=2", "it is full")];
    let failed: &'static [(String, String)] = failed.leak();
    let refused: &'static [(String, String)] = vec![point("op=<7>", "a doubtful unit")].leak();
    let page = page(|swept| {
        (swept.failed, swept.refused) = (failed, refused);
        (swept.missing, swept.left_out) = (1, 2000);
    });
    for sentence in [
        "2 points failed: it is full (op=1, op=2)",
        "1 point failed: no room (op=3)",
        "1 point cannot be run: a doubtful unit (op=&lt;7&gt;)",
        "1 point was not run yet.",
        "This page holds the first 3 points with a result alone; results.csv holds all.",
    ] {
        assert!(page.contains(&format!("<p class=\"warning\">{sentence}</p>")), "{sentence}");
    }
    assert_eq!(by_reason(failed)[0], ("it is full", vec!["op=1", "op=2"]));
}

#[test]
fn what_axes_explain_is_told_as_it_was_given() {
    let own: &'static [Sensitivity] = vec![Sensitivity {
        metric: "erases",
        logarithmic: true,
        complete: false,
        alone: vec![(1, 0.75), (0, 0.125)],
        pairs: vec![(0, 1, 0.0625)],
    }]
    .leak();
    let page = page(|swept| swept.sensitivity = own);
    let told = &embedded(&page)["sweep"]["sensitivity"][0];
    assert_eq!(told["alone"], json!([[1, 0.75], [0, 0.125]]));
    assert_eq!((&told["pairs"], &told["complete"]), (&json!([[0, 1, 0.0625]]), &json!(false)));
}

/// What runs are shortened to for the page is all that it reads of them.
#[test]
fn the_page_of_shortened_runs_is_the_page_of_whole_ones() {
    let run = |waf: f64| {
        let mut run = RunResult { waf: Some(waf), ..RunResult::default() };
        run.scheme = format!("scheme {waf}");
        run.audit = if waf > 3.0 { "failed" } else { "passed" }.to_owned();
        run.made.command = format!("ftlab run {waf}");
        run.workload.name = "w".to_owned();
        run.workload.sha256 = format!("{waf}");
        run.energy_uj.total = waf;
        run.latency_ns.all.system.mean = waf;
        let config = json!({"op": waf, "gc": {"victim": "greedy"}, "energy": {"model": "none"}});
        run.config = config.as_object().unwrap().clone();
        Gathered::of("runs/0.json", run)
    };
    let whole = [1.5, 2.5, 3.5].map(run);
    let mut settings = crate::gathered::Settings::default();
    whole.iter().for_each(|run| settings.add(&run.flat));
    let short = whole.clone().map(|run| run.for_page(&settings));
    assert!(short[0].flat.len() < whole[0].flat.len());
    assert_eq!(page_of(&short, |_| ()), page_of(&whole, |_| ()));
}
