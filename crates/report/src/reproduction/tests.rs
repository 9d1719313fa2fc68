use super::*;
use serde_json::json;

fn claim(name: &str, verdict: Verdict, headline: bool) -> Claim {
    Claim {
        name: format!("dftl2014-table5.{name}"),
        source: "DFTL, Table 5".to_owned(),
        kind: "magnitude",
        published: json!(42.0),
        measured: json!(37.25),
        ratio: Some(37.25 / 42.0),
        verdict,
        explanation: "a | b <b>".to_owned(),
        experiment: "dftl2014-table5".to_owned(),
        text: "DFTL erases 42 % more.".to_owned(),
        unit: Some("%".to_owned()),
        tolerance: Some("±10 %".to_owned()),
        headline,
        supported_by: vec!["other.claim".to_owned()],
    }
}

fn reproduction() -> Reproduction {
    let figure = |id: &str, form, values| Figure {
        id: id.to_owned(),
        title: format!("Picture {id}"),
        form,
        groups: vec![json!("financial")],
        series: vec!["dftl".to_owned()],
        parts: Vec::new(),
        values: vec![vec![values]],
        published: vec![vec![Some(1.5)]],
        x: "trace".to_owned(),
        y: "erases".to_owned(),
        log_x: false,
        log_y: false,
        note: None,
    };
    Reproduction {
        schema: SCHEMA,
        version: "0.0.0".to_owned(),
        quick: true,
        trace_dir: false,
        claims: vec![
            claim("one", Verdict::Holds, true),
            claim("two", Verdict::Fails, false),
            claim("three", Verdict::NotJudged, false),
        ],
        experiments: vec![Experiment {
            name: "dftl2014-table5".to_owned(),
            title: "Merges".to_owned(),
            paper: "DFTL".to_owned(),
            item: "Table 5".to_owned(),
            about: "What it is.".to_owned(),
            unknown: vec!["The start.".to_owned()],
            runs: Vec::new(),
            figures: vec![
                figure("a", "bars", json!(1.25)),
                figure("b", "table", json!("words <i>")),
            ],
        }],
    }
}

#[test]
fn values_are_shown_with_their_unit_and_four_digits() {
    let text = |value: Value| shown(&value, Some("%"));
    assert_eq!(text(json!(42.0)), "42 %");
    assert_eq!(text(json!(37.254_9)), "37.25 %");
    assert_eq!(text(json!(-0.012_346)), "-0.01235 %");
    assert_eq!(text(json!(1_508_490)), "1,508,490 %");
    assert_eq!(text(json!([1.5, 2])), "1.500, 2 %");
    assert_eq!(shown(&json!("page < DFTL"), Some("%")), "page < DFTL");
    assert_eq!(shown(&Value::Null, None), "–");
    assert_eq!(shown(&json!(1.5e-7), None), "1.500e-7");
}

#[test]
fn markdown_lists_headlines_first_and_keeps_cells_apart() {
    let text = claims_markdown(&reproduction());
    assert!(text.contains("magnitudes: 1 hold, 1 fail, 1 not judged"), "{text}");
    assert!(text.contains("[other.claim: not part of this reproduction]"), "{text}");
    let headline = text.find("## Headline claims").unwrap();
    let experiment = text.find("## DFTL: Table 5 - Merges").unwrap();
    assert!(headline < experiment);
    assert!(text.contains(r"a \| b <b>"));
    assert!(text.contains("| 42 % (±10 %) | 37.25 % | 0.887 | holds |"), "{text}");
}

#[test]
fn text_names_the_headlines_and_counts_all() {
    let text = claims_text(&reproduction());
    assert!(text.contains("dftl2014-table5.one"), "{text}");
    assert!(!text.contains("dftl2014-table5.two"), "{text}");
    let outcomes = "identities: 0 hold, 0 fail, 0 not judged; relations: 0 hold, 0 fail, 0 not \
                    judged; magnitudes: 1 hold, 1 fail, 1 not judged.";
    assert!(text.ends_with(&format!("3 claims of 1 experiments; {outcomes}")), "{text}");
}

#[test]
fn the_page_escapes_and_embeds_what_it_shows() {
    let page = String::from_utf8(write(&reproduction())).unwrap();
    assert!(!page.contains("<b> "));
    assert!(page.contains("words &lt;i&gt;"));
    assert!(page.contains("data-chart=\"fig-a\""));
    assert!(!page.contains("data-chart=\"fig-b\""), "a table is no picture");
    assert!(page.contains("id=\"dftl2014-table5.two\""));
    assert!(page.contains("published 1.500"));
}
