//! HTML: one self-contained page that opens offline, with charts drawn by plotly.
//!
//! Tables are made here, charts by the page's scripts from the JSON that the page embeds; both
//! show only what the results hold. Style, scripts and template are files in `assets`.

use super::Document;
use super::page::{self, Charts, Kind};
use crate::data_classes;
use crate::describe::{Fact, facts, labels, warnings};
use crate::flatten::{Flat, flatten_config};
use crate::format::{Quantity, count};
use crate::metrics::{Better, Metric, SECTIONS, flatten_all};
use crate::result::{RunResult, Stages, WORST_MAX};
use crate::slowest;
use serde::Serialize;
use std::collections::BTreeMap;

const PAGE: Kind = Kind {
    template: include_str!("../../assets/report.html"),
    extends: None,
    charts: Charts::Within(&[
        include_str!("../../assets/runs.js"),
        include_str!("../../assets/bars.js"),
        include_str!("../../assets/charts.js"),
        include_str!("../../assets/series.js"),
        include_str!("../../assets/levels.js"),
        include_str!("../../assets/tail.js"),
        include_str!("../../assets/probe.js"),
        include_str!("../../assets/table.js"),
        include_str!("../../assets/runbar.js"),
    ]),
    after: &[include_str!("../../assets/page.js")],
};

/// Writes the page.
///
/// # Panics
/// Never: a result consists of string-keyed maps, numbers, strings and arrays only.
pub fn write(document: &Document<'_>) -> Vec<u8> {
    let runs = document.runs;
    let flats = flatten_all(runs);
    let page = Page {
        labels: labels(runs),
        facts: facts(runs),
        warnings: warnings(runs),
        has_stages: runs.iter().any(|run| run.stages_ns != Stages::default()),
        has_levels: runs.iter().flat_map(|run| &run.series).any(|one| !one.levels.is_empty()),
        has_phases: runs.iter().any(|run| !run.phases.is_empty()),
        classes: data_classes::table(runs),
        slowest: slowest::tables(runs, WORST_MAX),
        probe: probe(runs),
        sections: sections(runs, &flats),
        events: events(runs),
        memory: memory(runs),
        config: config(runs),
    };
    // Without the blanks that make a result file readable, which are half of it.
    let json = serde_json::to_vec(runs).expect("a result has string keys only");
    page::render(&PAGE, document.title, &json, &page)
}

/// What the template names.
#[derive(Serialize)]
struct Page {
    labels: Vec<String>,
    facts: Vec<Fact>,
    warnings: Vec<(String, String)>,
    /// Whether any run has time by stage; results of versions before that have none.
    has_stages: bool,
    /// Whether any run's scheme told where its areas or thresholds stood.
    has_levels: bool,
    /// Whether the workload is a combination, whose parts are shown one by one.
    has_phases: bool,
    /// Classes of data; none where no placement policy divides it.
    classes: Option<slowest::Table>,
    /// Tables about the slowest requests; none where `--tail` was not used.
    slowest: Vec<slowest::Table>,
    /// The requests that were probed, in words; none where `--probe` was not used.
    probe: Option<String>,
    sections: Vec<SummarySection>,
    events: Vec<EventRow>,
    memory: Vec<MemoryRow>,
    config: Vec<ConfigRow>,
}

/// Which requests were probed: the same ones under every scheme.
fn probe(runs: &[RunResult]) -> Option<String> {
    let probe = runs.iter().find_map(|run| run.probe.as_ref())?;
    let (Some(first), Some(last)) = (probe.requests.index.first(), probe.requests.index.last())
    else {
        return Some(format!("No request was measured from number {} on.", probe.from));
    };
    Some(format!("Requests {} to {}, counted from 0.", count(*first), count(*last)))
}

#[derive(Serialize)]
struct SummarySection {
    title: &'static str,
    note: &'static str,
    absent: &'static str,
    rows: Vec<SummaryRow>,
}

#[derive(Serialize)]
struct SummaryRow {
    label: &'static str,
    path: &'static str,
    /// `lower`, `higher` or `neither`.
    better: &'static str,
    cells: Vec<SummaryCell>,
}

#[derive(Serialize)]
struct SummaryCell {
    run: usize,
    scheme: String,
    text: String,
    value: Option<f64>,
    best: bool,
}

fn sections(runs: &[RunResult], flats: &[Flat]) -> Vec<SummarySection> {
    SECTIONS
        .iter()
        .map(|section| SummarySection {
            title: section.title,
            note: section.note,
            absent: section.absent,
            rows: section.shown(flats).into_iter().map(|metric| row(metric, runs, flats)).collect(),
        })
        .collect()
}

fn row(metric: &Metric, runs: &[RunResult], flats: &[Flat]) -> SummaryRow {
    let values: Vec<Option<f64>> = flats.iter().map(|flat| metric.value(flat)).collect();
    let best = best(metric.better, &values);
    let cells = runs
        .iter()
        .zip(flats)
        .enumerate()
        .map(|(index, (run, flat))| SummaryCell {
            run: index,
            scheme: run.scheme.clone(),
            text: metric.text(flat),
            value: values[index],
            best: best.is_some() && values[index] == best,
        })
        .collect();
    let better = match metric.better {
        Better::Lower => "lower",
        Better::Higher => "higher",
        Better::Neither => "neither",
    };
    SummaryRow { label: metric.label, path: metric.path, better, cells }
}

/// The best value, if one direction is better and the values differ.
fn best(better: Better, values: &[Option<f64>]) -> Option<f64> {
    let present = || values.iter().flatten().copied();
    let lowest = present().reduce(f64::min)?;
    let highest = present().reduce(f64::max)?;
    match better {
        Better::Lower if lowest < highest => Some(lowest),
        Better::Higher if lowest < highest => Some(highest),
        _ => None,
    }
}

#[derive(Serialize)]
struct EventRow {
    run: usize,
    label: String,
    scheme: String,
    name: String,
    count: String,
}

fn events(runs: &[RunResult]) -> Vec<EventRow> {
    let mut rows = Vec::new();
    for (index, (run, label)) in runs.iter().zip(labels(runs)).enumerate() {
        for (name, number) in &run.events {
            rows.push(EventRow {
                run: index,
                label: label.clone(),
                scheme: run.scheme.clone(),
                name: name.clone(),
                count: count(*number),
            });
        }
    }
    rows
}

#[derive(Serialize)]
struct MemoryRow {
    run: usize,
    label: String,
    scheme: String,
    structure: String,
    memory: String,
    bytes: String,
}

fn memory(runs: &[RunResult]) -> Vec<MemoryRow> {
    let mut rows = Vec::new();
    for (index, (run, label)) in runs.iter().zip(labels(runs)).enumerate() {
        for (name, structure) in &run.ram_bytes.structures {
            rows.push(MemoryRow {
                run: index,
                label: label.clone(),
                scheme: run.scheme.clone(),
                structure: name.clone(),
                memory: structure.memory.clone(),
                bytes: Quantity::Bytes.format(structure.bytes as f64),
            });
        }
    }
    rows
}

#[derive(Serialize)]
struct ConfigRow {
    key: String,
    /// One value per run; a single one when all runs agree.
    values: Vec<String>,
    differs: bool,
}

/// Every key of every run's configuration, in order of first appearance.
fn config(runs: &[RunResult]) -> Vec<ConfigRow> {
    let flats: Vec<Vec<(String, String)>> =
        runs.iter().map(|run| flatten_config(&run.config)).collect();
    let maps: Vec<BTreeMap<&str, &str>> = flats
        .iter()
        .map(|rows| rows.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect())
        .collect();
    let mut keys: Vec<&str> = Vec::new();
    for (key, _) in flats.iter().flatten() {
        if !keys.contains(&key.as_str()) {
            keys.push(key);
        }
    }
    keys.into_iter()
        .map(|key| {
            let of_run = |map: &BTreeMap<&str, &str>| map.get(key).unwrap_or(&"").to_string();
            let mut values: Vec<String> = maps.iter().map(of_run).collect();
            let differs = values.iter().any(|value| *value != values[0]);
            if !differs {
                values.truncate(1);
            }
            ConfigRow { key: key.to_owned(), values, differs }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(runs: &[RunResult], title: &str) -> String {
        String::from_utf8(write(&Document { title, runs, comparison: true })).unwrap()
    }

    #[test]
    fn text_from_outside_cannot_become_markup() {
        let mut run = RunResult { scheme: "dftl".to_owned(), ..RunResult::default() };
        run.workload.name = "</script><script>alert(1)</script>".to_owned();
        run.warnings = vec!["<b>bold</b> & <!-- more".to_owned()];
        let page = page(&[run], "<title>");
        assert!(!page.contains("alert(1)</script>"));
        assert!(!page.contains("<b>bold"));
        assert!(!page.contains("<!-- more"));
        assert!(page.contains("<title>&lt;title&gt;</title>"));
    }

    #[test]
    fn the_embedded_json_is_the_result() {
        let runs = [RunResult { scheme: "a<b".to_owned(), ..RunResult::default() }];
        let page = page(&runs, "Test");
        let start = "<script type=\"application/json\" id=\"results\">";
        let (_, rest) = page.split_once(start).unwrap();
        let (json, _) = rest.split_once("</script>").unwrap();
        assert_eq!(crate::read_json(json.as_bytes()).unwrap(), runs);
    }

    #[test]
    fn the_best_value_is_marked_only_where_values_differ() {
        assert_eq!(best(Better::Lower, &[Some(2.0), None, Some(1.0)]), Some(1.0));
        assert_eq!(best(Better::Higher, &[Some(2.0), Some(1.0)]), Some(2.0));
        assert_eq!(best(Better::Lower, &[Some(1.0), Some(1.0)]), None);
        assert_eq!(best(Better::Neither, &[Some(1.0), Some(2.0)]), None);
        assert_eq!(best(Better::Lower, &[None]), None);
    }

    #[test]
    fn configurations_are_joined_key_by_key() {
        let run = |text: &str| RunResult {
            config: serde_json::from_str(text).unwrap(),
            ..RunResult::default()
        };
        let runs = [
            run(r#"{"device": {"pages": 64}, "dftl": {"entries": 8}}"#),
            run(r#"{"device": {"pages": 64}}"#),
        ];
        let rows: Vec<(String, Vec<String>, bool)> =
            config(&runs).into_iter().map(|row| (row.key, row.values, row.differs)).collect();
        let text = str::to_owned;
        assert_eq!(
            rows,
            [
                (text("device.pages"), vec![text("64")], false),
                (text("dftl.entries"), vec![text("8"), String::new()], true),
            ]
        );
    }
}
