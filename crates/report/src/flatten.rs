//! A result as dotted paths: `latency_ns.all.system.mean` and its value.
//!
//! Arrays are left out, as INTERFACE.md asks of CSV. Tables, pages and the browser test name
//! numbers by these paths, so that every number shown can be found in the JSON.

use crate::result::RunResult;
use serde_json::{Map, Value};

/// Dotted path to scalar value, in the order of the JSON.
pub type Flat = Map<String, Value>;

/// Flattens one result.
///
/// # Panics
/// Never: a result consists of string-keyed maps, numbers, strings and arrays only.
#[must_use]
pub fn flatten(run: &RunResult) -> Flat {
    flatten_value(serde_json::to_value(run).expect("a result has string keys only"))
}

/// Flattens what a file of a result holds.
#[must_use]
pub fn flatten_value(value: Value) -> Flat {
    let mut flat = Flat::new();
    descend(&mut flat, String::new(), value);
    flat
}

/// Flattens one configuration, keeping short arrays as text so that differences in them show.
#[must_use]
pub fn flatten_config(config: &Map<String, Value>) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    descend_config(&mut rows, "", config);
    rows
}

/// The value at a path as a number; `None` when absent or null.
#[must_use]
pub fn number(flat: &Flat, path: &str) -> Option<f64> {
    flat.get(path).and_then(Value::as_f64)
}

/// A value as it stands in a cell: text without its quotes; nothing where it is absent or null.
#[must_use]
pub fn text(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

fn descend(flat: &mut Flat, path: String, value: Value) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                let inner = if path.is_empty() { key } else { format!("{path}.{key}") };
                descend(flat, inner, member);
            }
        }
        Value::Array(_) => {}
        scalar => {
            flat.insert(path, scalar);
        }
    }
}

fn descend_config(rows: &mut Vec<(String, String)>, path: &str, members: &Map<String, Value>) {
    for (key, member) in members {
        let inner = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match member {
            Value::Object(members) => descend_config(rows, &inner, members),
            Value::String(text) => rows.push((inner, text.clone())),
            other => rows.push((inner, other.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_are_joined_by_dots_and_arrays_left_out() {
        let mut run = RunResult { warnings: vec!["one".to_owned()], ..RunResult::default() };
        run.latency_ns.all.system.percentile.p99 = 7;
        let flat = flatten(&run);
        assert_eq!(number(&flat, "latency_ns.all.system.percentile.99.000000"), Some(7.0));
        assert_eq!(flat.get("waf"), Some(&Value::Null));
        assert!(flat.keys().all(|key| !key.starts_with("warnings")));
    }

    #[test]
    fn configuration_keeps_arrays_as_text() {
        let config = json!({"gc": {"victim": "greedy"}, "alloc": {"order": ["die", "plane"]}});
        let rows = flatten_config(config.as_object().unwrap());
        let expected = [("gc.victim", "greedy"), ("alloc.order", "[\"die\",\"plane\"]")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()));
        assert_eq!(rows, expected);
    }
}
