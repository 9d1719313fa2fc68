//! The page of a reproduction: claims at the top, then every experiment with its pictures.

use serde::Serialize;

use super::markdown::{outcome, support_words};
use super::statements::PaperTally;
use super::worlds::PaperWorlds;
use super::{Claim, Experiment, Figure, KINDS, Reproduction, Run, shown};
use crate::format::{NOT_APPLICABLE, Quantity, count};
use crate::writers::page::{self, Kind};

const PAGE: Kind = Kind {
    template: include_str!("../../assets/reproduction.html"),
    extends: None,
    charts: &[include_str!("../../assets/reproduction.js")],
    after: &[include_str!("../../assets/claims.js")],
};

/// Writes the page.
///
/// # Panics
/// Never: a reproduction has string keys only.
#[must_use]
pub fn write(of: &Reproduction) -> Vec<u8> {
    let json = serde_json::to_vec(of).expect("a reproduction has string keys only");
    let title = match of.quick {
        true => "The papers, reproduced (quick: shortened runs)",
        false => "The papers, reproduced",
    };
    let own = Own {
        version: &of.version,
        quick: of.quick,
        verdicts: ["holds", "fails", "not_judged"],
        kinds: KINDS.map(|kind| (kind, of.tally(kind))),
        tallies: of.papers(),
        both: of.claims.iter().any(|claim| claim.verdicts.both()),
        best: of.claims.iter().any(|claim| claim.verdicts.best.is_some()),
        literally: of.claims.iter().any(|claim| claim.verdicts.only_literal()),
        headlines: rows(of, of.claims.iter().filter(|claim| claim.headline)),
        papers: papers(of),
    };
    page::render(&PAGE, title, &json, &own)
}

#[derive(Serialize)]
struct Own<'a> {
    version: &'a str,
    quick: bool,
    verdicts: [&'static str; 3],
    kinds: [(&'static str, [usize; 3]); 3],
    tallies: Vec<PaperTally>,
    both: bool,
    best: bool,
    literally: bool,
    headlines: Vec<Row<'a>>,
    papers: Vec<Paper<'a>>,
}

#[derive(Serialize)]
struct Paper<'a> {
    title: &'a str,
    id: String,
    worlds: Option<&'a PaperWorlds>,
    /// Choice, and the candidate in each world.
    world_choices: Vec<(&'a str, Vec<&'a str>)>,
    experiments: Vec<Section<'a>>,
}

#[derive(Serialize)]
struct Section<'a> {
    #[serde(flatten)]
    experiment: &'a Experiment,
    claims: Vec<Row<'a>>,
    rows: Vec<RunRow<'a>>,
    tables: Vec<NumberTable<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    #[serde(flatten)]
    claim: &'a Claim,
    published_text: String,
    measured_text: String,
    ratio_text: String,
    words: &'static str,
    literal_words: &'static str,
    contradiction_here: bool,
    support: Vec<Support<'a>>,
}

/// A claim that supports an explanation; without a link where it is not on this page.
#[derive(Serialize)]
struct Support<'a> {
    name: &'a str,
    here: bool,
    text: String,
}

fn rows<'a>(of: &'a Reproduction, claims: impl Iterator<Item = &'a Claim>) -> Vec<Row<'a>> {
    let here = |name: &String| of.claims.iter().any(|claim| claim.name == *name);
    let support =
        |name: &'a String| Support { name, here: here(name), text: support_words(name, of) };
    let row = |claim: &'a Claim| Row {
        support: claim.supported_by.iter().map(support).collect(),
        published_text: shown(&claim.published, claim.unit.as_deref()),
        measured_text: shown(&claim.measured, claim.unit.as_deref()),
        ratio_text: claim.ratio.map_or_else(|| NOT_APPLICABLE.to_owned(), |r| format!("{r:.3}")),
        words: outcome(Some(claim.verdict), claim.near.best),
        contradiction_here: claim.contradicted_by.as_ref().is_some_and(here),
        literal_words: outcome(claim.verdicts.literal, claim.near.literal),
        claim,
    };
    claims.map(row).collect()
}

#[derive(Serialize)]
struct RunRow<'a> {
    #[serde(flatten)]
    run: &'a Run,
    cells: Vec<String>,
}

fn run_row(run: &Run) -> RunRow<'_> {
    let text = |value: Option<f64>, quantity: Quantity| {
        value.map_or_else(|| NOT_APPLICABLE.to_owned(), |value| quantity.format(value))
    };
    let whole = |value: Option<u64>| value.map_or_else(|| NOT_APPLICABLE.to_owned(), count);
    let cells = vec![
        whole(run.requests),
        text(run.response_ns_mean, Quantity::Nanoseconds),
        text(run.response_ns_p99.map(|time| time as f64), Quantity::Nanoseconds),
        text(run.service_ns.map(|time| time as f64), Quantity::Nanoseconds),
        text(run.waf, Quantity::Ratio),
        whole(run.erases),
        text(run.energy_uj, Quantity::Microjoules),
    ];
    RunRow { run, cells }
}

/// A figure without a picture.
#[derive(Serialize)]
struct NumberTable<'a> {
    title: &'a str,
    note: Option<&'a str>,
    series: &'a [String],
    rows: Vec<(String, Vec<String>)>,
}

fn number_table(figure: &Figure) -> NumberTable<'_> {
    let cell = |group: usize, series: usize| {
        let measured = shown(&figure.values[group][series], None);
        match figure.published[group][series] {
            Some(published) => {
                let published = shown(&serde_json::Value::from(published), None);
                format!("{measured} (published {published})")
            }
            None => measured,
        }
    };
    let row = |group: usize| {
        let cells = (0..figure.series.len()).map(|series| cell(group, series)).collect();
        (shown(&figure.groups[group], None), cells)
    };
    NumberTable {
        title: &figure.title,
        note: figure.note.as_deref(),
        series: &figure.series,
        rows: (0..figure.groups.len()).map(row).collect(),
    }
}

fn papers(of: &Reproduction) -> Vec<Paper<'_>> {
    let mut papers: Vec<Paper<'_>> = Vec::new();
    for experiment in &of.experiments {
        let own = of.claims.iter().filter(|claim| claim.experiment == experiment.name);
        let (tables, _): (Vec<&Figure>, Vec<&Figure>) =
            experiment.figures.iter().partition(|figure| figure.form == "table");
        let section = Section {
            claims: rows(of, own),
            rows: experiment.runs.iter().map(run_row).collect(),
            tables: tables.into_iter().map(number_table).collect(),
            experiment,
        };
        match papers.iter_mut().find(|paper| paper.title == experiment.paper) {
            Some(paper) => paper.experiments.push(section),
            None => {
                let worlds = worlds_of(of, &experiment.paper);
                papers.push(Paper {
                    title: &experiment.paper,
                    id: format!("paper-{}", papers.len() + 1),
                    worlds,
                    world_choices: worlds.map(choices).unwrap_or_default(),
                    experiments: vec![section],
                });
            }
        }
    }
    papers
}

fn worlds_of<'a>(of: &'a Reproduction, title: &str) -> Option<&'a PaperWorlds> {
    let claim = of.claims.iter().find(|claim| claim.paper_title == title)?;
    of.worlds.iter().find(|worlds| worlds.paper == claim.paper)
}

fn choices(of: &PaperWorlds) -> Vec<(&str, Vec<&str>)> {
    let of_world =
        |place: usize| of.worlds.iter().map(move |world| world.choices[place].1.as_str()).collect();
    let names = of.worlds.first().map_or(&[][..], |world| &world.choices);
    names.iter().enumerate().map(|(place, (name, _))| (name.as_str(), of_world(place))).collect()
}
