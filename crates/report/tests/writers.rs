//! Every writer on the same made-up results: snapshots, and truths that hold for any of them.

mod fixture;

use fixture::{many_schemes, three_schemes};
use ftlab_report::flatten::flatten;
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
