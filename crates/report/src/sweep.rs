//! The page of a sweep: what was varied against what came of it, as lines, maps and a front, with
//! filters, table, pins and commands of the page of `ftlab explore`, which it stands on.
//!
//! It is made from plain data: axes with a value for each run, and the runs. What an axis explains
//! of a metric is told to it.

use crate::explore::columns::{Column, Words, columns, worded};
use crate::explore::{AFTER, CHARTS, Embedded, TEMPLATE, counted, misleading, same, some};
use crate::format::Quantity;
use crate::gathered::Gathered;
use crate::writers::page::{self, Charts, Kind};
use serde::Serialize;
use std::collections::HashMap;

const PAGE: Kind = Kind {
    template: include_str!("../assets/sweep.html"),
    extends: Some(("explore.html", TEMPLATE)),
    charts: Charts::Within(&[
        CHARTS[0],
        CHARTS[1],
        include_str!("../assets/sweep_axes.js"),
        include_str!("../assets/sweep_lines.js"),
        include_str!("../assets/sweep_map.js"),
        include_str!("../assets/sweep_front.js"),
        include_str!("../assets/sweep_effects.js"),
    ]),
    after: &AFTER,
};

/// What was varied.
#[derive(Clone, Debug)]
pub struct Axis {
    /// As it was written.
    pub name: String,
    /// Of each run the value as it was written; none where the axis is not for its scheme.
    pub values: Vec<Option<String>>,
    /// The same as numbers in one unit, where all are such.
    pub numbers: Option<(Vec<Option<f64>>, Quantity)>,
}

/// How much of a metric's variance the axes explain, as shares of it.
#[derive(Clone, Debug, Serialize)]
pub struct Sensitivity {
    /// Words for the metric.
    pub metric: &'static str,
    /// Of its logarithm.
    pub logarithmic: bool,
    /// Whether the axes are independent, so that shares add up to at most 1.
    pub complete: bool,
    /// Place of an axis, and what it explains alone.
    pub alone: Vec<(usize, f64)>,
    /// Places of two axes, and what they explain together beyond that.
    pub pairs: Vec<(usize, usize, f64)>,
}

/// A sweep and what came of it.
#[derive(Clone, Copy, Debug)]
pub struct Swept<'a> {
    /// The axes.
    pub axes: &'a [Axis],
    /// Which of these repeats a run with other seeds.
    pub seed: Option<usize>,
    /// The points with a result.
    pub runs: &'a [Gathered],
    /// All points.
    pub points: usize,
    /// How many of those with a result are not among `runs`.
    pub left_out: usize,
    /// Points that were tried and failed, and why.
    pub failed: &'a [(String, String)],
    /// Points that cannot be run, and why.
    pub refused: &'a [(String, String)],
    /// Points that were not tried yet.
    pub missing: usize,
    /// What explains each metric that varies.
    pub sensitivity: &'a [Sensitivity],
}

/// Writes the page.
///
/// # Panics
/// Never: words and numbers have a JSON form.
#[must_use]
pub fn write(swept: &Swept<'_>) -> Vec<u8> {
    let own: Vec<Column> = swept.axes.iter().map(column).collect();
    let all = own.into_iter().chain(columns(swept.runs)).collect();
    let paths: Vec<String> = swept.axes.iter().map(|axis| path(&axis.name)).collect();
    let whole = Whole {
        shared: Embedded::of("ftlab-sweep/1", swept.runs, all),
        sweep: Own { seed: swept.seed, axes: paths, sensitivity: swept.sensitivity },
    };
    let json = serde_json::to_vec(&whole).expect("words and numbers");
    let named = Named {
        axes: swept.axes.iter().map(|axis| (axis.name.clone(), told(axis))).collect(),
        facts: same(swept.runs),
        warnings: warnings(swept),
    };
    page::render(&PAGE, &title(swept), &json, &named)
}

fn title(swept: &Swept<'_>) -> String {
    let names: Vec<&str> = swept.axes.iter().map(|axis| axis.name.as_str()).collect();
    let names = match names.split_last() {
        None => String::new(),
        Some((only, [])) => format!(" over {only}"),
        Some((last, others)) => format!(" over {} and {last}", others.join(", ")),
    };
    format!("A sweep{names}: {}", counted(swept.points, "point"))
}

fn path(name: &str) -> String {
    format!("axis.{name}")
}

/// The values of an axis in order: of numbers, or as they first appear.
fn words(axis: &Axis) -> Words {
    let numbers = axis.numbers.as_ref().map(|(numbers, _)| numbers);
    let known: HashMap<&str, f64> = axis
        .values
        .iter()
        .zip(numbers.into_iter().flatten())
        .filter_map(|(value, number)| Some((value.as_deref()?, (*number)?)))
        .collect();
    let words = Words::of(axis.values.iter().map(|value| value.clone().unwrap_or_default()));
    words.sorted_by_key(|word| (word.is_empty(), known.get(word).copied().unwrap_or(0.0)))
}

fn column(axis: &Axis) -> Column {
    let words = words(axis);
    let numbers = axis.numbers.as_ref().map(|(numbers, quantity)| {
        let of = |word: &String| {
            let at = axis.values.iter().position(|value| value.as_ref() == Some(word));
            at.and_then(|at| numbers[at])
        };
        (words.told().iter().map(of).collect(), *quantity)
    });
    worded(&path(&axis.name), &axis.name, "Axes", words, numbers)
}

fn told(axis: &Axis) -> String {
    let words = words(axis);
    words
        .told()
        .iter()
        .map(|word| if word.is_empty() { "none" } else { word })
        .collect::<Vec<_>>()
        .join(", ")
}

/// Points by what was said of them, in the order in which reasons first appear.
#[must_use]
pub fn by_reason(points: &[(String, String)]) -> Vec<(&str, Vec<&str>)> {
    let mut all: Vec<(&str, Vec<&str>)> = Vec::new();
    for (point, reason) in points {
        match all.iter_mut().find(|(known, _)| known == reason) {
            Some((_, known)) => known.push(point),
            None => all.push((reason, vec![point])),
        }
    }
    all
}

/// What has no result and why, and what a reader must know of the others.
fn warnings(swept: &Swept<'_>) -> Vec<String> {
    let mut all = Vec::new();
    for (what, points) in [("failed", swept.failed), ("cannot be run", swept.refused)] {
        for (reason, points) in by_reason(points) {
            let count = counted(points.len(), "point");
            all.push(format!("{count} {what}: {reason} ({})", some(points.iter().copied())));
        }
    }
    if swept.missing > 0 {
        let verb = if swept.missing == 1 { "was" } else { "were" };
        all.push(format!("{} {verb} not run yet.", counted(swept.missing, "point")));
    }
    if swept.left_out > 0 {
        all.push(format!(
            "This page holds the first {} with a result alone; results.csv holds all.",
            counted(swept.runs.len(), "point")
        ));
    }
    all.extend(misleading(swept.runs));
    all
}

/// What the scripts read.
#[derive(Serialize)]
struct Whole<'a> {
    #[serde(flatten)]
    shared: Embedded,
    sweep: Own<'a>,
}

#[derive(Serialize)]
struct Own<'a> {
    /// Paths of columns.
    axes: Vec<String>,
    /// A place in `axes`.
    seed: Option<usize>,
    sensitivity: &'a [Sensitivity],
}

/// What the template names.
#[derive(Serialize)]
struct Named {
    axes: Vec<(String, String)>,
    facts: Vec<(String, String)>,
    warnings: Vec<String>,
}

#[cfg(test)]
mod tests;
