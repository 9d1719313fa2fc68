use super::*;
use serde_json::json;

fn evaluator() -> Evaluator {
    let mut results = Results::default();
    for (name, erases) in [("a/x", 30), ("b/x", 10), ("a/y", 15)] {
        let mut run = RunResult::default();
        run.flash.total_erases = erases;
        run.latency_ns.all.system.mean = 2e6 * erases as f64;
        run.latency_ns.all.system.percentile.p99 = 5_000_000;
        run.cdf.all = vec![(erases, 0.5), (100, 1.0)];
        results.runs.insert(name.to_owned(), Found::Done(Arc::new(run)));
    }
    results.runs.insert("c/x".to_owned(), Found::Missing("it needs t.spc".to_owned()));
    results.runs.insert("d/x".to_owned(), Found::Failed("device full".to_owned()));
    let found = json!({"read_ratio": 0.25});
    results.inspections.insert("a".to_owned(), Found::Done(Arc::new(found)));
    Evaluator::new(results, &[("published", json!({"a": {"n": 40}})), ("all", json!(["a", "b"]))])
}

fn number(text: &str) -> f64 {
    evaluator().number(text, &[]).unwrap()
}

#[test]
fn functions_read_results_in_the_units_of_papers() {
    assert_eq!(number("erases('a/x') / erases('b/x')"), 3.0);
    assert_eq!(number("mean('a/x') - mean('b/x')"), 40.0);
    assert_eq!(number("p('a/x', 99)"), 5.0);
    assert_eq!(number("run('a/x').flash.total_erases - published.a.n"), -10.0);
    assert_eq!(number("inspection('a')['read_ratio'] * 4"), 1.0);
    assert_eq!(number("setting('dftl2014', 'timing.read') * 2"), 261_800.0);
    assert_eq!(number("setting('ssdsim2010', 'timing.read')"), 20_000.0);
    assert_eq!(number("setting('ssdsim2010', 'device.ram_bytes') / 1024"), 128.0);
    assert_eq!(number("setting('dftl2014', 'energy.erase')"), 527.68);
    assert_eq!(number("setting('dftl2014', 'device.page_bytes')"), 2048.0);
    assert!(evaluator().truth("erases('a/y') < erases('a/x') and not false").unwrap());
}

#[test]
fn the_runs_of_an_expression_are_known() {
    let evaluator = evaluator();
    evaluator.number("total(each(all, \"erases(w ~ '/x')\"))", &[]).unwrap();
    assert_eq!(evaluator.used().into_iter().collect::<Vec<_>>(), ["a/x", "b/x"]);
    assert!(evaluator.used().is_empty());
}

#[test]
fn lists_bind_their_items_and_keep_what_is_bound() {
    assert_eq!(number("total(each(all, \"erases(w ~ '/x')\"))"), 40.0);
    assert_eq!(number("mean_of(each(all, \"erases(w ~ '/x')\"))"), 20.0);
    // Within 20 %, or within twice the square root of fewer than 25.
    assert_eq!(number("met([80, 79.9, 120, 6, 13, 15.1], [100, 100, 100, 0, 9, 9], 1)"), 3.0);
    assert_eq!(number("met([40, 60], [100, 100], 2)"), 2.0);
    assert_eq!(number("each(all, \"erases(w ~ '/x')\") | max"), 30.0);
    let evaluator = evaluator();
    assert!(evaluator.truth("every(all, \"erases(w ~ '/x') > 9\")").unwrap());
    assert!(evaluator.truth("argmin(all, \"erases(w ~ '/x')\") == 'b'").unwrap());
    let s = [("s", Value::from("x"))];
    assert_eq!(evaluator.number("each(all, \"erases(w ~ '/' ~ s)\") | min", &s).unwrap(), 10.0);
}

#[test]
fn what_is_lacking_is_told_apart() {
    let lack = |text: &str| evaluator().number(text, &[]).unwrap_err();
    assert_eq!(lack("erases('c/x')"), Lack::Missing("it needs t.spc".to_owned()));
    assert_eq!(lack("erases('d/x')"), Lack::Failed("d/x: device full".to_owned()));
    let Lack::Invalid(text) = lack("total(each(all, \"erases(w ~ '/z')\"))") else { panic!() };
    assert!(text.contains("'a/z' is no run of this experiment; nearest: a/"), "{text}");
    for text in ["p('a/x', 98)", "'text'", "every(all, '1') and 1"] {
        assert!(matches!(lack(text), Lack::Wrong(_)), "{text}");
    }
    assert!(matches!(lack("1 +"), Lack::Invalid(_)));
    let Lack::Invalid(text) = lack("publisched.a.n + 1") else { panic!() };
    assert!(text.contains("no name 'publisched' here; nearest: published"), "{text}");
    assert!(matches!(lack("publisched"), Lack::Invalid(_)));
    let Lack::Wrong(text) = lack("total(each(all, \"erasse(w ~ '/x')\"))") else { panic!() };
    assert!(text.contains("in 'erasse(w ~ '/x')', there is no name 'erasse'"), "{text}");
    // A run without writes has no write amplification, which is less than none.
    for text in [
        "1 / 0",
        "run('a/x').no_such_key + 1",
        "run('a/x').waf",
        "run('a/x').waf < 1",
        "100 * crossing('a/x', 'a/x')",
    ] {
        assert!(matches!(lack(text), Lack::Nothing(_)), "{text}: {:?}", lack(text));
    }
    assert!(evaluator().truth("1").is_err());
}

#[test]
fn curves_cross_where_the_slower_tail_begins() {
    let long_tail = [(1, 0.9), (50, 1.0)];
    let short_tail = [(2, 0.5), (10, 1.0)];
    assert_eq!(crossing(&long_tail, &short_tail), Some(0.9));
    assert_eq!(crossing(&short_tail, &long_tail), None, "it is not slower at the end");
    let slower = [(20, 1.0)];
    assert_eq!(crossing(&slower, &short_tail), None, "it is slower everywhere");
    assert_eq!(share_within(&long_tail, 49.0), 0.9);
    assert_eq!(share_within(&long_tail, 0.5), 0.0);
    assert_eq!(quantile(&long_tail, 0.95), 50);
}
