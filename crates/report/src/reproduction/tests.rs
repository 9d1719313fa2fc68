use std::collections::BTreeMap;

use super::*;
use serde_json::json;

fn claim(name: &str, verdict: Verdict, headline: bool) -> Claim {
    Claim {
        name: format!("dftl2014-table5.{name}"),
        paper: "dftl2014".to_owned(),
        paper_title: "DFTL".to_owned(),
        printed: name != "three",
        contradicted_by: None,
        source: "DFTL, Table 5".to_owned(),
        kind: "magnitude",
        published: json!(42.0),
        measured: json!(37.25),
        ratio: Some(37.25 / 42.0),
        verdict,
        verdicts: Both { literal: None, best: Some(verdict) },
        near: Both { literal: None, best: Some(verdict == Verdict::Holds) },
        worlds: None,
        target: false,
        explanation: "a | b <b>".to_owned(),
        experiment: "dftl2014-table5".to_owned(),
        text: "DFTL erases 42 % more.".to_owned(),
        unit: Some("%".to_owned()),
        tolerance: Some("±10 %".to_owned()),
        headline,
        supported_by: vec!["other.claim".to_owned()],
        measures: Measures {
            numbers: vec![Measured {
                value: "37.25 %".to_owned(),
                words: "erased blocks of dftl on <financial>".to_owned(),
            }],
            rule: None,
            parts: vec![PartOf {
                metric: "erased blocks".to_owned(),
                workload: "financial".to_owned(),
                scheme: "dftl".to_owned(),
                run: "financial/dftl".to_owned(),
                value: "149".to_owned(),
                unit: "",
            }],
            left_out: 0,
            expressions: vec![("measured".to_owned(), "erases('financial/dftl')".to_owned())],
        },
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
            readings: vec![Chosen { question: "How full?".to_owned(), ..Chosen::default() }],
            runs: Vec::new(),
            figures: vec![
                figure("a", "bars", json!(1.25)),
                figure("b", "table", json!("words <i>")),
            ],
        }],
        worlds: Vec::new(),
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
fn markdown_counts_printed_statements_and_keeps_cells_apart() {
    let text = claims_markdown(&reproduction());
    assert!(text.contains("magnitudes: 1 hold, 1 fail, 1 not judged"), "{text}");
    let row = text.lines().find(|line| line.starts_with("| dftl2014 | magnitude")).unwrap();
    let numbers: Vec<&str> = row.split('|').map(str::trim).collect();
    let head = text.lines().find(|line| line.starts_with("| paper")).unwrap();
    assert_eq!(head.split('|').count(), numbers.len(), "a heading per column");
    assert_eq!(numbers[1..11], ["dftl2014", "magnitude", "2", "0", "0", "–", "1", "–", "–", "0"]);
    assert!(text.contains("## Headline claims"));
    assert!(
        text.contains("[DFTL](claims/dftl2014.md): 2 printed statements, 1 claims of ours"),
        "{text}"
    );
    let pages = paper_markdown(&reproduction());
    let [(paper, page)] = &pages[..] else { panic!("one paper") };
    assert_eq!(paper, "dftl2014");
    let [printed, ours, behind] = ["## What the paper prints", "## Ours", "## Explanations"]
        .map(|heading| page.find(heading).unwrap());
    assert!(printed < ours && ours < behind);
    assert!(page.find("dftl2014-table5.two").unwrap() < ours);
    assert!(page.find("dftl2014-table5.three").unwrap() > ours);
    assert!(page.contains("[other.claim: not part of this reproduction]"), "{page}");
    assert!(page.contains("| 42 % (±10 %) | 37.25 % | 0.887 | holds |"), "{page}");
    assert!(page.contains("far, not judged"), "{page}");
}

/// Under two readings and in three worlds; what is ours is in no count.
#[test]
fn statements_are_counted_by_reading_and_world() {
    let mut all = reproduction();
    let outcome = |verdict, near| Outcome { verdict, near: Some(near) };
    let literal = BTreeMap::from([
        ("dftl2014-table5.one".to_owned(), outcome(Verdict::Fails, false)),
        ("dftl2014-table5.two".to_owned(), outcome(Verdict::Holds, true)),
    ]);
    let best = BTreeMap::from([
        ("dftl2014-table5.one".to_owned(), outcome(Verdict::Fails, false)),
        ("dftl2014-table5.two".to_owned(), outcome(Verdict::NotJudged, true)),
        ("dftl2014-table5.three".to_owned(), outcome(Verdict::Holds, true)),
    ]);
    all.set_verdicts(Some(&best), Some(&literal));
    let row = |name: &str, outcomes: [Option<bool>; 3]| Statement {
        claim: format!("dftl2014-table5.{name}"),
        text: String::new(),
        outcomes: outcomes.to_vec(),
        decided_by: "the start".to_owned(),
    };
    let statements = vec![
        row("one", [Some(false), Some(false), None]),
        row("two", [Some(true), Some(false), Some(true)]),
    ];
    all.set_worlds(vec![PaperWorlds {
        paper: "dftl2014".to_owned(),
        worlds: Vec::new(),
        statements,
    }]);
    let [paper] = &all.papers()[..] else { panic!("one paper") };
    let numbers = Tally {
        printed: 2,
        contradicted: 0,
        targets: 0,
        literal: Some(1),
        best: Some(1),
        some: Some(1),
        none: Some(1),
    };
    assert_eq!(paper.kinds, [("magnitude", numbers)]);
    let worlds = all.claims[1].worlds.as_ref().unwrap();
    assert_eq!((worlds.hold, worlds.of), (2, 3));
    assert_eq!(all.claims[1].verdicts.best, Some(Verdict::NotJudged));
    // What a fit was set to meet is in no count.
    all.claims[1].target = true;
    let fitted = Tally { targets: 1, literal: Some(0), best: Some(0), some: Some(0), ..numbers };
    assert_eq!(all.papers()[0].kinds, [("magnitude", fitted)]);
}

#[test]
fn text_names_statements_and_headlines_and_counts_all() {
    let text = claims_text(&reproduction());
    assert!(text.starts_with("Statements that papers print"), "{text}");
    assert!(text.contains("dftl2014-table5.one"), "{text}");
    assert!(!text.contains("dftl2014-table5.two"), "{text}");
    let outcomes = "identities: 0 hold, 0 fail, 0 not judged; relations: 0 hold, 0 fail, 0 not \
                    judged; magnitudes: 1 hold, 1 fail, 1 not judged.";
    assert!(text.ends_with(&format!("3 claims of 1 experiments; {outcomes}")), "{text}");
}

/// The pages by the names of their files.
fn written(of: &Reproduction) -> BTreeMap<String, String> {
    // Templates write the slashes of addresses as references.
    let text = |bytes| String::from_utf8(bytes).unwrap().replace("&#x2f;", "/");
    pages(of).map(|(name, bytes)| (name, text(bytes))).collect()
}

#[test]
fn the_page_escapes_and_embeds_what_it_shows() {
    let pages = written(&reproduction());
    let page = &pages["dftl2014-table5/report.html"];
    assert!(!page.contains("<b> "));
    assert!(page.contains("words &lt;i&gt;"));
    assert!(page.contains("data-chart=\"fig-a\""));
    assert!(!page.contains("data-chart=\"fig-b\""), "a table is no picture");
    assert!(page.contains("id=\"dftl2014-table5.two\""));
    assert!(page.contains("<td>words &lt;i&gt;</td><td class=\"printed\">1.500</td>"));
    assert!(page.contains("How full?"));
}

/// What a number is stands in words; what the file computes is behind a disclosure.
#[test]
fn a_claim_says_what_its_number_is() {
    let pages = written(&reproduction());
    let page = &pages["dftl2014-table5/report.html"];
    assert!(page.contains("Measured: erased blocks of dftl on &lt;financial&gt; (%)"), "{page}");
    let (before, _) = page.split_once("erases(&#x27;financial").unwrap();
    assert!(before.rfind("<details").unwrap() > before.rfind("</details>").unwrap_or(0));
    assert!(page.contains("href=\"#run:financial/dftl\""));
}

/// A second experiment, of the same paper, with worlds.
fn two() -> Reproduction {
    let mut all = reproduction();
    let mut other = all.experiments[0].clone();
    other.name = "dftl2014-table6".to_owned();
    all.experiments.push(other);
    let mut claim = claim("far", Verdict::Holds, true);
    claim.name = "dftl2014-table6.far".to_owned();
    claim.experiment = "dftl2014-table6".to_owned();
    claim.supported_by = vec!["dftl2014-table5.one".to_owned()];
    all.claims.push(claim);
    let statement = Statement {
        claim: "dftl2014-table6.far".to_owned(),
        text: "Far.".to_owned(),
        outcomes: vec![Some(true), None],
        decided_by: "the seed".to_owned(),
    };
    let world = |number| World { number, choices: Vec::new(), seed: 1 };
    all.set_worlds(vec![PaperWorlds {
        paper: "dftl2014".to_owned(),
        worlds: vec![world(1), world(2)],
        statements: vec![statement],
    }]);
    all
}

#[test]
fn there_is_an_index_a_page_per_experiment_and_one_of_worlds() {
    let pages = written(&two());
    let names: Vec<&str> = pages.keys().map(String::as_str).collect();
    let expected = [
        "dftl2014-table5/report.html",
        "dftl2014-table6/report.html",
        "plotly.js",
        "report.html",
        "worlds/dftl2014.html",
    ];
    assert_eq!(names, expected);
    let index = &pages["report.html"];
    assert!(index.contains("href=\"dftl2014-table6/report.html\""));
    assert!(index.contains("href=\"dftl2014-table6/report.html#dftl2014-table6.far\""));
    assert!(index.contains("1 holds, 1 fails, 1 not judged"));
    assert!(index.contains("1 of 1 hold in every one"));
    assert!(index.contains("href=\"worlds/dftl2014.html\""));
}

/// Also where there is no script: every address is that of a page, and of a place in it.
#[test]
fn every_link_from_page_to_page_leads_somewhere() {
    let pages = written(&two());
    let mut followed = 0;
    for (name, page) in &pages {
        let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
        for href in page.split(" href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
            let (file, place) = href.split_once('#').unwrap_or((href, ""));
            if !file.ends_with(".html") {
                continue;
            }
            let target = match file.strip_prefix("../") {
                Some(above) => above.to_owned(),
                None if folder.is_empty() => file.to_owned(),
                None => format!("{folder}/{file}"),
            };
            let target = pages.get(&target).unwrap_or_else(|| panic!("{name} links to {href}"));
            assert!(place.is_empty() || target.contains(&format!("id=\"{place}\"")), "{href}");
            followed += 1;
        }
    }
    assert!(followed > 10, "{followed}");
}

/// What draws charts is most of what a page weighs.
#[test]
fn pages_of_a_folder_share_what_draws_their_charts() {
    let pages = written(&two());
    let shared = pages["plotly.js"].len();
    let all: usize = pages.values().map(String::len).sum();
    assert!(shared > 500_000 && all - shared < shared, "{shared} of {all}");
    assert!(pages["dftl2014-table6/report.html"].contains("<script src=\"../plotly.js\">"));
    assert!(!pages["report.html"].contains("plotly"));
}
