//! Two runs against each other.

use super::pairs::workload;
use crate::asked::{About, about, is_setting, keys, label};
use crate::flatten::{Flat, text};
use crate::format::{Quantity, count};
use crate::gathered::Gathered;
use crate::metrics::{Better, Metric, SECTIONS};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;

const DIGEST: &str = "workload.sha256";

/// What differs between two runs.
#[derive(Debug, Serialize)]
pub struct Pair {
    /// Scheme, or both.
    pub scheme: Both,
    /// Workload, or both.
    pub workload: Both,
    /// Where the runs stand.
    pub files: [String; 2],
    /// What may mislead whoever compares them.
    pub warnings: Vec<String>,
    /// What they were asked to do otherwise.
    pub configuration: Vec<Asked>,
    /// Settings that one of two schemes does not read, and that are not told for that.
    pub left_out: usize,
    /// The numbers of the tables that moved, or all of them.
    pub metrics: Vec<Moved>,
    /// Other numbers of the results that moved.
    pub others: Vec<Asked>,
    /// Whether all that came out is the same, curves and windows among it.
    pub equal: bool,
}

/// A name, or two where they differ.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Both {
    /// Of both runs.
    Same(String),
    /// Of each.
    Each([String; 2]),
}

impl Both {
    fn of(a: String, b: String) -> Self {
        if a == b { Both::Same(a) } else { Both::Each([a, b]) }
    }

    /// For people.
    pub fn told(&self) -> String {
        match self {
            Both::Same(name) => name.clone(),
            Both::Each([a, b]) => format!("{a} / {b}"),
        }
    }
}

/// Something with a value on either side; null where a side has none.
#[derive(Debug, Serialize)]
pub struct Asked {
    /// Its path in a result, but for that of a setting, which is called as on the command line.
    pub key: String,
    /// Of the first run.
    pub a: Value,
    /// Of the second.
    pub b: Value,
}

/// A number of both.
#[derive(Debug, Serialize)]
pub struct Moved {
    /// Heading under which tables have it.
    pub section: &'static str,
    /// Its name there.
    pub label: &'static str,
    /// Its path in a result.
    pub path: &'static str,
    /// How it is written.
    #[serde(skip)]
    pub quantity: Quantity,
    /// Of the first run; null where it has none.
    pub a: Option<f64>,
    /// Of the second.
    pub b: Option<f64>,
    /// What it moved, as a share of the first; null where that is none, or zero.
    pub change: Option<f64>,
    /// Whether the second is `better` or `worse`; null where neither direction is.
    pub verdict: Option<&'static str>,
}

/// Compares them.
pub fn compared(a: &Gathered, b: &Gathered, all: bool) -> Pair {
    let schemes = [a, b].map(|run| run.word("scheme").to_owned());
    let (configuration, left_out) = configuration(&a.flat, &b.flat, schemes[0] != schemes[1]);
    let [scheme_a, scheme_b] = schemes;
    Pair {
        warnings: warnings(a, b),
        scheme: Both::of(scheme_a, scheme_b),
        workload: Both::of(workload(a), workload(b)),
        files: [a.place.clone(), b.place.clone()],
        configuration,
        left_out,
        metrics: metrics(&a.flat, &b.flat, all),
        others: others(&a.flat, &b.flat),
        equal: a.outcome == b.outcome,
    }
}

/// What must be known before numbers are compared.
fn warnings(a: &Gathered, b: &Gathered) -> Vec<String> {
    let mut told = Vec::new();
    if a.word("scheme") != b.word("scheme") {
        told.push(format!(
            "Different schemes: A ran {}, B {}.",
            a.word("scheme"),
            b.word("scheme")
        ));
    }
    if a.word(DIGEST) != b.word(DIGEST) {
        let of = |run: &Gathered| {
            let requests = run.flat.get("workload.requests").and_then(Value::as_u64);
            format!("{} ({} requests)", workload(run), count(requests.unwrap_or_default()))
        };
        let (one, two) = (of(a), of(b));
        told.push(match one == two {
            true => format!("Different workloads: both ran {one}, but not the same requests."),
            false => format!("Different workloads: A ran {one}, B {two}."),
        });
    }
    let program = |run: &Gathered| {
        let word = |path| run.word(path);
        let parts = [word("made.commit"), word("made.build")];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        match parts.as_slice() {
            [] => format!("ftlab {}", word("version")),
            parts => format!("ftlab {} ({})", word("version"), parts.join(", ")),
        }
    };
    // Whoever uses the library may not tell a commit: not known is not different.
    let differs = |path| {
        let (one, two) = (a.word(path), b.word(path));
        one != two && !one.is_empty() && !two.is_empty()
    };
    if ["version", "made.commit", "made.build"].into_iter().any(differs) {
        let (one, two) = (program(a), program(b));
        told.push(format!("Different programs: A was made by {one}, B by {two}."));
    }
    for (side, run) in [("A", a), ("B", b)] {
        if !matches!(run.word("audit"), "" | "passed") {
            told.push(format!("The audit of {side} did not pass: {}", run.word("audit")));
        }
    }
    told
}

/// The keys that differ. Of two schemes each reads settings that the other does not know: these are
/// counted, not told.
fn configuration(a: &Flat, b: &Flat, two_schemes: bool) -> (Vec<Asked>, usize) {
    let is_told = |path: &str| path != DIGEST && about(path) != Some(About::Program);
    let (mut rows, mut left_out, mut seen) = (Vec::new(), 0, BTreeSet::new());
    for (path, _) in keys(a).chain(keys(b)).filter(|(path, _)| is_told(path)) {
        let values = [a.get(path), b.get(path)];
        let same = text(values[0]) == text(values[1]);
        if same || !seen.insert(path) {
            continue;
        }
        if two_schemes && is_setting(path) && values.contains(&None) {
            left_out += 1;
            continue;
        }
        let [a, b] = values.map(|value| value.cloned().unwrap_or(Value::Null));
        rows.push(Asked { key: label(path).to_owned(), a, b });
    }
    // Names before settings, whichever of the runs has them.
    rows.sort_by_key(|row| row.key.contains('.'));
    (rows, left_out)
}

/// The numbers of the tables, by section.
fn metrics(a: &Flat, b: &Flat, all: bool) -> Vec<Moved> {
    let mut rows = Vec::new();
    for section in SECTIONS {
        for metric in section.metrics {
            let values = [metric.value(a), metric.value(b)];
            let unmoved = all && metric.is_used([a, b].into_iter());
            if values[0] != values[1] || unmoved {
                rows.push(moved(section.title, metric, values));
            }
        }
    }
    rows
}

fn moved(section: &'static str, metric: &Metric, [a, b]: [Option<f64>; 2]) -> Moved {
    let both = a.zip(b);
    let change = both.filter(|(a, _)| *a != 0.0).map(|(a, b)| (b - a) / a);
    let better = |lower: bool| if lower { "better" } else { "worse" };
    let verdict = both.filter(|(a, b)| a != b).and_then(|(a, b)| match metric.better {
        Better::Lower => Some(better(b < a)),
        Better::Higher => Some(better(b > a)),
        Better::Neither => None,
    });
    let &Metric { path, label, quantity, .. } = metric;
    Moved { section, label, path, quantity, a, b, change, verdict }
}

/// What moved besides: neither asked for, nor in a table, nor the cost of the simulation itself.
fn others(a: &Flat, b: &Flat) -> Vec<Asked> {
    let is_metric = |path: &str| {
        SECTIONS.iter().flat_map(|section| section.metrics).any(|metric| metric.path == path)
    };
    let is_other = |path: &str| {
        about(path).is_none()
            && !path.starts_with("made.")
            && !path.starts_with("wall.")
            && !path.starts_with("workload.")
            && !is_metric(path)
    };
    let mut seen = BTreeSet::new();
    let paths = a.keys().chain(b.keys()).filter(|path| is_other(path));
    paths
        .filter(|path| text(a.get(*path)) != text(b.get(*path)) && seen.insert(*path))
        .map(|path| {
            let [a, b] = [a, b].map(|flat| flat.get(path).cloned().unwrap_or(Value::Null));
            Asked { key: path.clone(), a, b }
        })
        .collect()
}
