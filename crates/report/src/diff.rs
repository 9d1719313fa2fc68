//! Two sets of runs against each other, for `ftlab diff`: which run belongs to which, what each was
//! asked to do otherwise, and which of its numbers moved.

mod compared;
mod pairs;
mod text;

use crate::gathered::Gathered;
use compared::{Pair, compared};
use pairs::{Matched, matched};
use serde::Serialize;

pub use text::text;

/// One of the two.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// The file or folder, as it was typed.
    pub name: &'a str,
    /// Its runs.
    pub runs: &'a [Gathered],
}

/// What differs. Members are those of `ftlab diff --json`.
#[derive(Debug, Serialize)]
pub struct Diff {
    schema: &'static str,
    a: Told,
    b: Told,
    pairs: Vec<Pair>,
    /// Runs that have no partner on the other side.
    only_a: Vec<Alone>,
    only_b: Vec<Alone>,
}

#[derive(Debug, Serialize)]
struct Told {
    name: String,
    runs: usize,
}

/// A run by what tells it apart.
#[derive(Debug, Serialize)]
struct Alone {
    scheme: String,
    workload: String,
    file: String,
}

impl Alone {
    fn of(run: &Gathered) -> Self {
        Alone {
            scheme: run.word("scheme").to_owned(),
            workload: pairs::workload(run),
            file: run.place.clone(),
        }
    }
}

/// Finds partners and compares them; with `all`, numbers that did not move are kept as well.
#[must_use]
pub fn diff(a: Side<'_>, b: Side<'_>, all: bool) -> Diff {
    let Matched { pairs, only_a, only_b } = matched(a.runs, b.runs);
    let told = |side: Side<'_>| Told { name: side.name.to_owned(), runs: side.runs.len() };
    let alone = |side: Side<'_>, runs: &[usize]| {
        runs.iter().map(|index| Alone::of(&side.runs[*index])).collect()
    };
    Diff {
        schema: "ftlab-diff/1",
        a: told(a),
        b: told(b),
        pairs: pairs.iter().map(|[x, y]| compared(&a.runs[*x], &b.runs[*y], all)).collect(),
        only_a: alone(a, &only_a),
        only_b: alone(b, &only_b),
    }
}

#[cfg(test)]
mod tests;
