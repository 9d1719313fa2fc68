//! The page of `ftlab explore`: any number of runs, to be filtered, drawn over two axes, pinned
//! side by side and made again.
//!
//! It embeds scalars alone: the metrics of the tables, and the keys in which runs differ. What is
//! the same in all runs is said once.

pub(crate) mod columns;

use crate::asked::{is_setting, keys, label};
use crate::flatten::text;
use crate::format::{count, cut};
use crate::gathered::{COMMAND, Collection, Gathered};
use crate::writers::page::{self, Charts, Kind};
use columns::{Column, Words, columns};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What the page of a sweep stands on as well.
pub(crate) const TEMPLATE: &str = include_str!("../assets/explore.html");
pub(crate) const CHARTS: [&str; 2] =
    [include_str!("../assets/explore_runs.js"), include_str!("../assets/explore_plane.js")];
pub(crate) const AFTER: [&str; 4] = [
    include_str!("../assets/explore_filters.js"),
    include_str!("../assets/explore_table.js"),
    include_str!("../assets/explore_pins.js"),
    include_str!("../assets/explore_view.js"),
];

const PAGE: Kind =
    Kind { template: TEMPLATE, extends: None, charts: Charts::Within(&CHARTS), after: &AFTER };

const WORKLOAD: &str = "workload.name";
const DIGEST: &str = "workload.sha256";
const PROGRAM: [&str; 3] = ["version", "made.commit", "made.build"];
/// Names that a sentence tells, of however many.
const TOLD_MAX: usize = 5;
/// Characters of a name that are told.
const NAME_MAX: usize = 60;

/// What is explored.
#[derive(Clone, Copy, Debug)]
pub struct Explored<'a> {
    /// The folders and files that were asked for, as they were typed.
    pub asked: &'a [String],
    /// Their runs.
    pub runs: &'a Collection,
    /// Files that hold results.
    pub files: usize,
    /// JSON files that are something else.
    pub passed_over: usize,
    /// Files that could not be read, and why.
    pub unreadable: &'a [String],
}

/// Writes the page.
#[must_use]
pub fn write(explored: &Explored<'_>) -> Vec<u8> {
    let runs = explored.runs.runs();
    let embedded = Embedded::of("ftlab-explore/1", runs, columns(runs));
    let json = serde_json::to_vec(&embedded).expect("words and numbers");
    let own = Own { facts: facts(explored), warnings: warnings(explored) };
    page::render(&PAGE, &title(explored), &json, &own)
}

/// The heading, which the command prints too.
#[must_use]
pub fn title(explored: &Explored<'_>) -> String {
    let runs = counted(explored.runs.runs().len(), "run");
    format!("{runs} in {}", some(explored.asked.iter().map(String::as_str)))
}

/// What the template names.
#[derive(Serialize)]
struct Own {
    facts: Vec<(String, String)>,
    warnings: Vec<String>,
}

/// What the scripts read.
#[derive(Serialize)]
pub(crate) struct Embedded {
    schema: &'static str,
    runs: usize,
    columns: Vec<Column>,
    commands: Words,
    warnings: Warnings,
}

impl Embedded {
    pub(crate) fn of(schema: &'static str, runs: &[Gathered], columns: Vec<Column>) -> Self {
        Embedded {
            schema,
            runs: runs.len(),
            columns,
            commands: Words::of(runs.iter().map(|run| run.word(COMMAND).to_owned())),
            warnings: Warnings::of(runs),
        }
    }
}

/// Sentences of runs, each once.
#[derive(Serialize)]
struct Warnings {
    words: Vec<String>,
    /// Places in `words`, of each run.
    runs: Vec<Vec<usize>>,
}

impl Warnings {
    fn of(runs: &[Gathered]) -> Self {
        let mut all = Warnings { words: Vec::new(), runs: Vec::with_capacity(runs.len()) };
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        for run in runs {
            let place = |warning| {
                *known.entry(warning).or_insert_with(|| {
                    all.words.push(warning.to_owned());
                    all.words.len() - 1
                })
            };
            all.runs.push(run.warnings.iter().map(String::as_str).map(place).collect());
        }
        all
    }
}

/// What holds for all runs, and where they were found.
#[must_use]
pub fn facts(explored: &Explored<'_>) -> Vec<(String, String)> {
    let mut facts = same(explored.runs.runs());
    facts.push(("Files".to_owned(), files(explored)));
    facts
}

/// The keys that are the same in all runs.
pub(crate) fn same(runs: &[Gathered]) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    let first = runs.first().map(|run| &run.flat);
    for (path, value) in first.into_iter().flat_map(keys).filter(|(path, _)| !is_setting(path)) {
        let value = text(Some(value));
        let same = || runs.iter().all(|run| text(run.flat.get(path)) == value);
        // A digest says nothing beside the workload's name.
        if !value.is_empty() && path != DIGEST && same() {
            let name = label(path);
            let (initial, rest) = name.split_at(1);
            facts.push((format!("{}{rest}", initial.to_uppercase()), value));
        }
    }
    facts
}

fn files(explored: &Explored<'_>) -> String {
    let mut told = counted(explored.files, "file of results");
    let mut add = |number: usize, what: &str, words: [&str; 2]| {
        if number > 0 {
            let which = words[usize::from(number != 1)];
            told.push_str(&format!("; {} {which}", counted(number, what)));
        }
    };
    let others = ["is something else", "are something else"];
    add(explored.passed_over, "other JSON file", others);
    let copies = ["stands in a second file as well", "stand in a second file as well"];
    add(explored.runs.copies(), "run", copies);
    told
}

/// What a reader must know before numbers are compared.
#[must_use]
pub fn warnings(explored: &Explored<'_>) -> Vec<String> {
    let mut told: Vec<String> = explored.unreadable.iter().take(TOLD_MAX).cloned().collect();
    if let Some(more @ 1..) = explored.unreadable.len().checked_sub(TOLD_MAX) {
        told.push(format!("{} cannot be read.", counted(more, "more file")));
    }
    told.extend(misleading(explored.runs.runs()));
    told
}

/// What runs have among them that misleads who compares them.
pub(crate) fn misleading(runs: &[Gathered]) -> Vec<String> {
    let mut told = Vec::new();
    let failed = runs.iter().filter(|run| !matches!(run.word("audit"), "" | "passed")).count();
    if failed > 0 {
        told.push(format!(
            "The audit of {} did not pass: such numbers mean nothing.",
            counted(failed, "run")
        ));
    }
    let programs = PROGRAM.iter().filter(|path| {
        // Whoever uses the library may not tell a commit: not known is not different.
        let known = runs.iter().map(|run| run.word(path)).filter(|word| !word.is_empty());
        known.collect::<BTreeSet<_>>().len() > 1
    });
    let programs: Vec<&str> = programs.map(|path| label(path)).collect();
    if !programs.is_empty() {
        told.push(format!(
            "Not one program made all runs ({} differs): what differs between them may differ for \
             that.",
            programs.join(" and ")
        ));
    }
    let mut digests: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for run in runs {
        digests.entry(run.word(WORKLOAD)).or_default().insert(run.word(DIGEST));
    }
    let several = digests.iter().filter(|(_, digests)| digests.len() > 1);
    let several: Vec<String> =
        several.map(|(name, _)| format!("'{}'", cut(name, NAME_MAX))).collect();
    if !several.is_empty() {
        told.push(format!(
            "A workload's name is not all of it: other seeds, lengths, units or filters make other \
             requests of {}.",
            some(several.iter().map(String::as_str))
        ));
    }
    told
}

/// The first names, and how many more there are.
pub(crate) fn some<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    match names.len().saturating_sub(TOLD_MAX) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names[..TOLD_MAX].join(", ")),
    }
}

pub(crate) fn counted(number: usize, word: &str) -> String {
    let plural = match word.split_once(' ') {
        _ if number == 1 => word.to_owned(),
        Some((first, rest)) if rest.starts_with("of ") => format!("{first}s {rest}"),
        _ => format!("{word}s"),
    };
    format!("{} {plural}", count(number as u64))
}

#[cfg(test)]
mod tests;
