//! The page of a calibration: measured against simulated, curve by curve.
//!
//! It embeds the JSON, and names every number by its path there.

use serde::Serialize;

use super::Calibration;
use super::tables::{PARAMETERS, PROBES, TOPOLOGIES};
use crate::writers::page::{self, Charts, Kind};

const PAGE: Kind = Kind {
    template: include_str!("../../assets/calibration.html"),
    extends: None,
    charts: Charts::Within(&[include_str!("../../assets/calibration.js")]),
    after: &[],
};

/// What the template names.
#[derive(Serialize)]
struct Own<'a> {
    facts: Vec<(&'static str, String)>,
    warnings: &'a [String],
    verdict: String,
    parameter_heads: [&'static str; 4],
    parameters: Vec<Vec<Cell>>,
    unknown: Vec<String>,
    topology_heads: [&'static str; 4],
    topologies: Vec<Vec<Cell>>,
    beyond: usize,
    fitted: String,
    probe_heads: [&'static str; 8],
    probes: Vec<Vec<Cell>>,
    left_out: &'a [(String, String)],
}

/// A cell of a table, and where its number is in the JSON.
#[derive(Serialize)]
struct Cell {
    path: String,
    text: String,
}

/// Writes the page.
///
/// # Panics
/// Never: words and numbers have a JSON form.
#[must_use]
pub fn write(found: &Calibration) -> Vec<u8> {
    let json = serde_json::to_vec(found).expect("words and numbers");
    let own = Own {
        facts: facts(found),
        warnings: &found.words,
        verdict: found.topology_verdict(),
        parameter_heads: PARAMETERS,
        parameters: cells(found.parameter_rows(), |row, column| match column {
            1 if found.parameters[row].base > 0.0 => format!("parameters.{row}.base"),
            2 if found.parameters[row].value > 0.0 => format!("parameters.{row}.value"),
            _ => String::new(),
        }),
        unknown: found.unknown(),
        topology_heads: TOPOLOGIES,
        topologies: cells(found.topology_rows(), |_, _| String::new()),
        beyond: found.topologies_beyond(),
        fitted: fitted(found),
        probe_heads: PROBES,
        probes: cells(found.probe_rows(), |row, column| match column {
            1 => format!("probes.{row}.measured.mean_ns"),
            2 => format!("probes.{row}.simulated.mean_ns"),
            3 => format!("probes.{row}.measured.iops"),
            4 => format!("probes.{row}.simulated.iops"),
            _ => String::new(),
        }),
        left_out: &found.left_out,
    };
    page::render(&PAGE, &format!("A drive calibrated from {}", found.base), &json, &own)
}

fn cells(rows: Vec<Vec<String>>, path: impl Fn(usize, usize) -> String) -> Vec<Vec<Cell>> {
    let row = |(row, texts): (usize, Vec<String>)| {
        let cell = |(column, text)| Cell { path: path(row, column), text };
        texts.into_iter().enumerate().map(cell).collect()
    };
    rows.into_iter().enumerate().map(row).collect()
}

fn facts(found: &Calibration) -> Vec<(&'static str, String)> {
    let files = found.files.iter().map(|(file, version)| format!("{file} ({version})"));
    let mut facts = vec![
        ("Measured", files.collect::<Vec<_>>().join(", ")),
        ("Base", found.base.clone()),
        ("Topology", found.ways()),
        ("Simulations", found.simulations.to_string()),
        ("Command", found.command.clone()),
        ("Made by", format!("ftlab {}", found.version)),
    ];
    if !found.set.is_empty() {
        facts.insert(2, ("Settings", found.set.join(", ")));
    }
    facts
}

/// Which probes were fitted.
fn fitted(found: &Calibration) -> String {
    let mut others: Vec<String> =
        found.probes.iter().filter(|probe| !probe.fitted).map(super::Probe::curve).collect();
    others.sort();
    others.dedup();
    match others.is_empty() {
        true => "All of them were fitted.".to_owned(),
        false => format!("Fitted were all but those that lie too far off: {}.", others.join(", ")),
    }
}
