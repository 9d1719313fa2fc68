//! Every writer on the same made-up results: snapshots, and truths that hold for any of them.

mod fixture;

use fixture::{many_schemes, three_schemes};
use ftlab_report::explore::{self, Explored};
use ftlab_report::flatten::flatten;
use ftlab_report::gathered::{Collection, Gathered};
use ftlab_report::{Document, RunResult, WRITERS, read_json, writer};
use std::path::Path;

fn written(name: &str, runs: &[RunResult]) -> String {
    let document = Document { title: "Test data of three schemes", runs, comparison: true };
    String::from_utf8((writer(name).unwrap().write)(&document)).unwrap()
}

#[test]
fn text_table() {
    insta::assert_snapshot!(written("text", &three_schemes()));
}

#[test]
fn csv_columns_and_rows() {
    insta::assert_snapshot!(written("csv", &three_schemes()));
}

/// Every path of the JSON and the type of its value: what other programs rely on.
#[test]
fn json_shape() {
    let runs = three_schemes();
    let json: serde_json::Value = serde_json::from_str(&written("json", &runs)).unwrap();
    let mut shape = String::new();
    for (key, value) in json[1].as_object().unwrap() {
        describe(&mut shape, key, value);
    }
    insta::assert_snapshot!(shape);
}

fn describe(shape: &mut String, path: &str, value: &serde_json::Value) {
    use serde_json::Value;
    let kind = match value {
        Value::Object(members) => {
            for (key, member) in members {
                describe(shape, &format!("{path}.{key}"), member);
            }
            return;
        }
        Value::Array(items) => match items.first() {
            Some(item @ Value::Object(_)) => return describe(shape, &format!("{path}[]"), item),
            Some(Value::Array(_)) => "array of arrays",
            _ => "array",
        },
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
    };
    shape.push_str(&format!("{path}: {kind}\n"));
}

#[test]
fn json_is_read_back_unchanged() {
    let runs = three_schemes();
    assert_eq!(read_json(written("json", &runs).as_bytes()).unwrap(), runs);
}

#[test]
fn csv_holds_what_the_json_holds() {
    let runs = three_schemes();
    let text = written("csv", &runs);
    let mut table = csv::Reader::from_reader(text.as_bytes());
    let header = table.headers().unwrap().clone();
    let mut rows = 0;
    for (record, run) in table.records().zip(&runs) {
        let record = record.unwrap();
        for (path, value) in flatten(run) {
            let column = header.iter().position(|name| name == path).unwrap();
            let expected = match value {
                serde_json::Value::Null => String::new(),
                serde_json::Value::String(text) => text,
                other => other.to_string(),
            };
            assert_eq!(&record[column], expected, "{path}");
        }
        rows += 1;
    }
    assert_eq!(rows, runs.len());
}

#[test]
fn every_writer_works_for_nothing_one_and_many() {
    for runs in [vec![RunResult::default()], three_schemes(), many_schemes(25)] {
        for writer in WRITERS {
            let document = Document { title: "Test", runs: &runs, comparison: true };
            let bytes = (writer.write)(&document);
            let text = String::from_utf8(bytes).unwrap();
            for run in &runs {
                assert!(text.contains(&run.scheme), "{} lacks {}", writer.name, run.scheme);
            }
        }
    }
}

/// The browser test opens these pages; they are made here so that it needs no simulation.
#[test]
fn page_is_self_contained() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let sets = [
        ("three", three_schemes()),
        ("one", three_schemes().split_off(2)),
        ("empty", vec![RunResult { scheme: "nothing".to_owned(), ..RunResult::default() }]),
        ("many", many_schemes(25)),
    ];
    for (name, runs) in sets {
        let page = written("html", &runs);
        let own = page.split_once("<script>").unwrap().0;
        for marker in ["src=", "@import", "url(", "href=\"http", "//cdn"] {
            assert!(!own.contains(marker), "{name}: {marker} asks for something outside");
        }
        std::fs::write(folder.join(format!("{name}.html")), page).unwrap();
        std::fs::write(folder.join(format!("{name}.json")), written("json", &runs)).unwrap();
    }
}

/// The page of many runs, of three and of one; nothing of it is fetched from elsewhere.
#[test]
fn page_of_many_runs_is_self_contained_and_holds_no_series() {
    for runs in [three_schemes(), three_schemes().split_off(2), many_schemes(25)] {
        let mut all = Collection::default();
        for run in &runs {
            all.add(Gathered::of("out/results.json", run.clone())).unwrap();
        }
        let asked = ["out".to_owned()];
        let explored =
            Explored { asked: &asked, runs: &all, files: 1, passed_over: 0, unreadable: &[] };
        let page = String::from_utf8(explore::write(&explored)).unwrap();
        let own = page.split_once("<script>").unwrap().0;
        for marker in ["src=", "@import", "url(", "href=\"http", "//cdn"] {
            assert!(!own.contains(marker), "{marker} asks for something outside");
        }
        let json = own.split_once("id=\"results\">").unwrap().1.split_once("</script>").unwrap().0;
        let embedded: serde_json::Value = serde_json::from_str(json).unwrap();
        assert_eq!(embedded["runs"], runs.len());
        for column in embedded["columns"].as_array().unwrap() {
            let values = column.get("values").or(column.get("codes")).unwrap();
            assert_eq!(values.as_array().unwrap().len(), runs.len(), "{}", column["path"]);
        }
        for array in ["\"series\"", "\"cdf\"", "\"histogram\"", "\"timeline\""] {
            assert!(!json.contains(array), "{array} is no scalar");
        }
    }
}

/// The page of an inspection, of a full one and of next to nothing; the browser test opens them.
#[test]
fn page_of_an_inspection_is_self_contained_and_shows_every_row() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mixed = "randrw:rwmixread=40,bssplit=2k/30:4k/40:8k/20:32k/10,span=8M,count=4000,\
                 random_distribution=zipf:1.1,scatter=1,rate_iops=800,rate_process=poisson,seed=3";
    for (name, spec) in [
        ("inspection", mixed),
        ("inspection-one", "randread:bs=4k,span=4k,count=1"),
        ("inspection-reads", "read:bs=64k,span=16M,count=600"),
        ("inspection-same", "randwrite:bs=4k,span=4k,count=5000,rate_iops=5"),
    ] {
        let settings = ftlab_trace::InspectionOptions::default();
        let found = ftlab_trace::inspect(spec, &ftlab_trace::Options::default(), 0, &settings);
        let json = serde_json::to_value(found.unwrap()).unwrap();
        let bytes = ftlab_report::inspection::write("Test data", &json);
        let page = String::from_utf8(bytes).unwrap();
        let own = page.split_once("<script>").unwrap().0;
        for marker in ["src=", "@import", "url(", "href=\"http", "//cdn"] {
            assert!(!own.contains(marker), "{name}: {marker} asks for something outside");
        }
        let rows = page.matches("<td data-metric=").count();
        if name == "inspection" {
            assert_eq!(rows, 41 + 4 * 4 + 5 * 6, "a row of the summary is not in the inspection");
        }
        std::fs::write(folder.join(format!("{name}.html")), page).unwrap();
        std::fs::write(folder.join(format!("{name}.json")), json.to_string()).unwrap();
    }
}
