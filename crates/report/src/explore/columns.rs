//! What the page knows of every run: a column per metric that some run uses, and per key in which
//! runs differ.

use crate::asked::{about, is_setting, keys, label, number};
use crate::flatten::{Flat, text};
use crate::format::Quantity;
use crate::gathered::{Gathered, OUTCOMES};
use crate::metrics::{Better, Metric, SECTIONS};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};

/// Told apart by its digest where its name is not all of it.
const DIGEST: &str = "workload.sha256";
const WORKLOAD: &str = "workload.name";

/// One column.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Column {
    /// Words, of which some may be numbers.
    Key {
        path: String,
        label: String,
        section: &'static str,
        #[serde(flatten)]
        words: Words,
        /// The number that each word is, if one; none where no word is one.
        #[serde(skip_serializing_if = "Option::is_none")]
        numbers: Option<Vec<Option<f64>>>,
        /// How these are read.
        quantity: Quantity,
    },
    /// Numbers.
    Metric {
        path: &'static str,
        label: &'static str,
        section: &'static str,
        quantity: Quantity,
        better: Better,
        /// Of each run; null where it has none.
        values: Vec<Option<f64>>,
    },
}

/// A word of each run, the same words told once.
#[derive(Serialize)]
pub struct Words {
    words: Vec<String>,
    /// A place in `words` for each run.
    codes: Vec<usize>,
}

impl Words {
    /// The words, each once.
    pub fn told(&self) -> &[String] {
        &self.words
    }

    /// In order of first appearance.
    pub fn of(all: impl Iterator<Item = String>) -> Self {
        let mut words = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        let codes = all
            .map(|word| {
                *known.entry(word).or_insert_with_key(|word| {
                    words.push(word.clone());
                    words.len() - 1
                })
            })
            .collect();
        Words { words, codes }
    }

    /// The same, each word behind those that come before it.
    pub fn sorted_by_key<K: PartialOrd>(self, key: impl Fn(&str) -> K) -> Self {
        let mut order: Vec<usize> = (0..self.words.len()).collect();
        order.sort_by(|a, b| {
            let keys = (key(&self.words[*a]), key(&self.words[*b]));
            keys.0.partial_cmp(&keys.1).unwrap_or(std::cmp::Ordering::Equal)
        });
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, old)| place[*old] = new);
        Words {
            words: order.iter().map(|old| self.words[*old].clone()).collect(),
            codes: self.codes.iter().map(|old| place[*old]).collect(),
        }
    }
}

/// All columns, keys first.
pub fn columns(runs: &[Gathered]) -> Vec<Column> {
    let mut columns: Vec<Column> =
        paths(runs).into_iter().filter_map(|path| key(path, runs)).collect();
    let place = Words::of(runs.iter().map(|run| run.place.clone()));
    if place.words.len() > 1 {
        columns.push(worded("file", "file", "Result", place, None));
    }
    for (path, label) in OUTCOMES {
        let words = Words::of(runs.iter().map(|run| text(run.flat.get(*path))));
        if words.words.len() > 1 {
            columns.push(worded(path, label, "Result", words, None));
        }
    }
    let warned = runs.iter().map(|run| Some(run.warnings.len() as f64)).collect();
    columns.push(Column::Metric {
        path: "warnings",
        label: "warnings",
        section: "Result",
        quantity: Quantity::Count,
        better: Better::Neither,
        values: warned,
    });
    for section in SECTIONS {
        let used = |metric: &&Metric| metric.is_used(runs.iter().map(|run| &run.flat));
        columns.extend(section.metrics.iter().filter(used).map(|metric| Column::Metric {
            path: metric.path,
            label: metric.label,
            section: section.title,
            quantity: metric.quantity,
            better: metric.better,
            values: runs.iter().map(|run| metric.value(&run.flat)).collect(),
        }));
    }
    columns
}

/// Every key of every run: those outside of the configuration in the order of their table, then
/// settings as they first appear.
fn paths(runs: &[Gathered]) -> Vec<&str> {
    let (mut all, mut seen): (Vec<&str>, BTreeSet<&str>) = Default::default();
    for settings in [false, true] {
        for path in runs.iter().flat_map(|run| keys(&run.flat)).map(|(path, _)| path) {
            if is_setting(path) == settings && seen.insert(path) {
                all.push(path);
            }
        }
    }
    all
}

/// The column of a key in which runs differ. A setting that some runs lack, as no other scheme
/// reads it, and that is the same in the others, tells nothing.
fn key(path: &str, runs: &[Gathered]) -> Option<Column> {
    let given = |run: &Gathered| run.flat.get(path).filter(|value| !value.is_null()).cloned();
    let values: Vec<Option<Value>> = runs.iter().map(given).collect();
    let words = Words::of(values.iter().map(|value| text(value.as_ref())));
    let told = match is_setting(path) {
        true => words.words.iter().filter(|word| !word.is_empty()).count(),
        false => words.words.len(),
    };
    if told < 2 || (path == DIGEST && !tells_more_than_names(runs)) {
        return None;
    }
    // A word may stand for a number (`7x`, `25us`) or be one; the same word is the same number.
    let mut known: HashMap<String, (f64, Quantity)> = HashMap::new();
    for value in values.iter().flatten() {
        known.extend(number(path, value).map(|found| (text(Some(value)), found)));
    }
    let words = words.sorted_by_key(|word| {
        let number = known.get(word).map(|(number, _)| *number);
        (word.is_empty(), number.unwrap_or(f64::INFINITY), word.to_owned())
    });
    let quantity = known
        .values()
        .map(|(_, quantity)| *quantity)
        .reduce(|one, two| if one == two { one } else { Quantity::Ratio });
    let numbers = quantity.map(|_| {
        words.words.iter().map(|word| known.get(word).map(|(number, _)| *number)).collect()
    });
    let section = match (is_setting(path), about(path)) {
        (true, _) => "Settings",
        (_, about) => about.map_or("", |about| about.title()),
    };
    let quantity = quantity.unwrap_or(Quantity::Ratio);
    Some(worded(path, label(path), section, words, numbers.map(|numbers| (numbers, quantity))))
}

/// A column of words, with the numbers that these are.
pub fn worded(
    path: &str,
    label: &str,
    section: &'static str,
    words: Words,
    numbers: Option<(Vec<Option<f64>>, Quantity)>,
) -> Column {
    let (numbers, quantity) = numbers.unzip();
    let (path, label) = (path.to_owned(), label.to_owned());
    let quantity = quantity.unwrap_or(Quantity::Ratio);
    Column::Key { path, label, section, words, numbers, quantity }
}

/// Whether one name stands for several workloads.
fn tells_more_than_names(runs: &[Gathered]) -> bool {
    let word = |flat: &Flat, path: &str| text(flat.get(path));
    let mut names: HashMap<String, String> = HashMap::new();
    runs.iter().any(|run| {
        let digest = word(&run.flat, DIGEST);
        *names.entry(word(&run.flat, WORKLOAD)).or_insert_with(|| digest.clone()) != digest
    })
}
