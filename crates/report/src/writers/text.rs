//! Text: aligned tables for a terminal, a row per scheme, units in every cell.

use super::Document;
use crate::data_classes;
use crate::describe::{facts, labels, warnings};
use crate::format::{Quantity, count};
use crate::metrics::{SECTIONS, flatten_all};
use crate::result::{LatencySummary, RunResult, WORST_MAX};
use crate::slowest;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use std::fmt::Write as _;

/// Writes what ran, one table per section, and the warnings.
pub fn write(document: &Document<'_>) -> Vec<u8> {
    let mut text = format!("{}\n\n", document.title);
    let width = facts(document.runs).iter().map(|fact| fact.0.len()).max().unwrap_or(0);
    for (word, sentence) in facts(document.runs) {
        line(&mut text, &format!("{word:<width$}  {sentence}"));
    }
    let labels = labels(document.runs);
    let flats = flatten_all(document.runs);
    for section in SECTIONS {
        let metrics = section.shown(&flats);
        line(&mut text, "");
        if metrics.is_empty() {
            line(&mut text, &format!("{}: {}", section.title, section.absent));
            continue;
        }
        line(&mut text, section.title);
        let header = std::iter::once("").chain(metrics.iter().map(|metric| metric.label));
        let mut table = aligned(header);
        for (label, flat) in labels.iter().zip(&flats) {
            let cells = metrics.iter().map(|metric| metric.text(flat));
            table.add_row(std::iter::once(label.clone()).chain(cells));
        }
        right_align(&mut table);
        for row in table.lines() {
            line(&mut text, &row);
        }
    }
    phases(&mut text, document.runs, &labels);
    if let Some(told) = data_classes::table(document.runs) {
        titled(&mut text, &told);
        line(&mut text, told.note);
    }
    // Of several runs a terminal has room for a few each.
    let one_by_one = if document.runs.len() > 1 { 3 } else { WORST_MAX };
    for told in slowest::tables(document.runs, one_by_one) {
        titled(&mut text, &told);
    }
    for (run, label) in document.runs.iter().zip(&labels) {
        if !run.events.is_empty() {
            let named = |(name, number): (&String, &u64)| format!("{name} {}", count(*number));
            let events: Vec<String> = run.events.iter().map(named).collect();
            line(&mut text, "");
            line(&mut text, &format!("Events of {label}: {}", events.join(", ")));
        }
    }
    for (schemes, warning) in warnings(document.runs) {
        line(&mut text, "");
        line(&mut text, &format!("Warning ({schemes}): {warning}"));
    }
    text.into_bytes()
}

/// A row per scheme and part of a combined workload.
fn phases(text: &mut String, runs: &[RunResult], labels: &[String]) {
    if runs.iter().all(|run| run.phases.is_empty()) {
        return;
    }
    line(text, "");
    line(text, "Response by part of the workload");
    let header = ["", "part", "requests", "mean", "p50", "p99", "p99.9", "read mean", "write mean"];
    let mut table = aligned(header.into_iter());
    for (run, label) in runs.iter().zip(labels) {
        for (number, phase) in run.phases.iter().enumerate() {
            let time = |nanos: f64| Quantity::Nanoseconds.format(nanos);
            let of = &phase.latency_ns;
            let mean = |summary: &LatencySummary| match summary.count {
                0 => "-".to_owned(),
                _ => time(summary.mean),
            };
            let at = |nanos: u64| if of.all.count == 0 { "-".into() } else { time(nanos as f64) };
            let tail = of.all.percentile;
            table.add_row([
                label.clone(),
                format!("{}: {}", number + 1, phase.name),
                count(phase.requests),
                mean(&of.all),
                at(tail.p50),
                at(tail.p99),
                at(tail.p99_9),
                mean(&of.read),
                mean(&of.write),
            ]);
        }
    }
    right_align(&mut table);
    for row in table.lines() {
        line(text, &row);
    }
}

/// A table with a title, such as those about the slowest requests; sentences stand below it, a line
/// each.
fn titled(text: &mut String, told: &slowest::Table) {
    let sentences = told.columns.last().is_some_and(|column| column.0 == slowest::STORY);
    let shown = told.columns.len() - usize::from(sentences);
    line(text, "");
    line(text, told.title);
    let mut table = aligned(told.columns[..shown].iter().map(|column| column.0));
    for row in &told.rows {
        table.add_row(&row[..shown]);
    }
    right_align(&mut table);
    for (column, _) in told.columns[..shown].iter().enumerate().filter(|(_, column)| column.1) {
        let column = table.column_mut(column).expect("a column for each heading");
        column.set_cell_alignment(CellAlignment::Left);
    }
    for row in table.lines() {
        line(text, &row);
    }
    for row in told.rows.iter().filter(|_| sentences) {
        line(text, &format!("{}, request {}: {}", row[0], row[1], row[shown]));
    }
}

fn aligned<'a>(header: impl Iterator<Item = &'a str>) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header.collect::<Vec<_>>());
    table
}

/// Names to the left, numbers to the right.
fn right_align(table: &mut Table) {
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}

/// Appends one line without blanks at its end, which diffs and terminals both dislike.
fn line(text: &mut String, content: &str) {
    writeln!(text, "{}", content.trim_end()).expect("a string takes every character");
}
