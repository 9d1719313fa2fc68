//! A difference as text: what may mislead first, then what was asked, then what moved.

use super::compared::{Asked, Moved, Pair};
use super::{Alone, Diff};
use crate::flatten;
use crate::format::{NOT_APPLICABLE, Quantity, count, cut};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde_json::Value;

/// Names of other numbers that are told, of however many.
const OTHERS_MAX: usize = 6;
/// Characters of the name of a workload; the whole of a specification is in the JSON.
const NAME_MAX: usize = 80;

/// The whole of it; with `all`, other numbers that moved have a table.
#[must_use]
pub fn text(diff: &Diff, all: bool) -> String {
    let mut lines = Vec::new();
    for (side, told) in [("A", &diff.a), ("B", &diff.b)] {
        lines.push(format!("{side}: {} ({})", told.name, counted(told.runs, "run")));
    }
    for (side, alone) in [("A", &diff.only_a), ("B", &diff.only_b)] {
        if !alone.is_empty() {
            lines.push(format!("\nOnly in {side}: {}", list(alone)));
        }
    }
    let shared = shared(&diff.pairs);
    if !shared.is_empty() {
        lines.push(String::new());
        lines.extend(shared.iter().map(|sentence| (*sentence).clone()));
    }
    if diff.pairs.is_empty() {
        lines.push("\nNo run of A has a partner in B: no scheme ran in both.".to_owned());
    }
    // Of many pairs, those in which nothing differs share a line.
    let is_still =
        |pair: &&Pair| diff.pairs.len() > 1 && !all && pair.equal && pair.configuration.is_empty();
    let still: Vec<String> = diff.pairs.iter().filter(is_still).map(name).collect();
    if !still.is_empty() {
        lines.push(format!("\nNo metric moved, nothing differs: {}", still.join("; ")));
    }
    for pair in diff.pairs.iter().filter(|pair| !is_still(pair)) {
        lines.push(format!("\n{}", name(pair)));
        let own = pair.warnings.iter().filter(|sentence| !shared.contains(sentence));
        lines.extend(own.cloned());
        configuration(&mut lines, pair);
        metrics(&mut lines, pair, all);
    }
    lines.join("\n") + "\n"
}

fn name(pair: &Pair) -> String {
    format!("{} on {}", pair.scheme.told(), cut(&pair.workload.told(), NAME_MAX))
}

fn list(alone: &[Alone]) -> String {
    let name = |run: &Alone| format!("{} on {}", run.scheme, cut(&run.workload, NAME_MAX));
    alone.iter().map(name).collect::<Vec<_>>().join("; ")
}

fn counted(number: usize, word: &str) -> String {
    format!("{} {word}{}", count(number as u64), if number == 1 { "" } else { "s" })
}

/// Sentences that hold for every pair.
fn shared(pairs: &[Pair]) -> Vec<&String> {
    let Some((first, rest)) = pairs.split_first() else {
        return Vec::new();
    };
    let everywhere = |sentence: &&String| rest.iter().all(|pair| pair.warnings.contains(sentence));
    first.warnings.iter().filter(everywhere).collect()
}

fn configuration(lines: &mut Vec<String>, pair: &Pair) {
    if pair.configuration.is_empty() {
        lines.push(match pair.left_out {
            0 => "  The configuration is the same.".to_owned(),
            _ => "  The settings that both read are the same.".to_owned(),
        });
    } else {
        lines.push("  What was asked".to_owned());
        table(lines, &["", "A", "B"], pair.configuration.iter().map(asked));
    }
    if pair.left_out > 0 {
        let settings = counted(pair.left_out, "setting");
        lines.push(format!("  {settings} that only one of the two schemes reads are left out."));
    }
}

fn asked(row: &Asked) -> Vec<String> {
    let cell = |value: &Value| match flatten::text(Some(value)) {
        text if text.is_empty() => "-".to_owned(),
        text => text,
    };
    vec![row.key.clone(), cell(&row.a), cell(&row.b)]
}

fn metrics(lines: &mut Vec<String>, pair: &Pair, all: bool) {
    let still = pair.metrics.iter().all(|metric| metric.a == metric.b);
    match (still, pair.equal, pair.others.len()) {
        (true, true, _) => lines.push("  No metric moved: every number is the same.".to_owned()),
        (true, false, 0) => {
            lines.push("  No metric moved; curves, windows or warnings differ.".to_owned());
        }
        (true, ..) => lines.push("  No metric moved.".to_owned()),
        (false, ..) => lines.push("  Metrics that moved".to_owned()),
    }
    let mut section = "";
    let mut rows: Vec<Vec<String>> = Vec::new();
    for metric in &pair.metrics {
        if metric.section != section {
            section = metric.section;
            rows.push(vec![section.to_owned()]);
        }
        rows.push(moved(metric));
    }
    if !rows.is_empty() {
        table(lines, &["", "A", "B", "change", ""], rows.into_iter());
    }
    let others = &pair.others;
    if all && !others.is_empty() {
        lines.push("  Other numbers of the results that moved".to_owned());
        table(lines, &["", "A", "B"], others.iter().map(asked));
    } else if !others.is_empty() {
        let names: Vec<&str> = others.iter().take(OTHERS_MAX).map(|row| row.key.as_str()).collect();
        let more = match others.len().saturating_sub(OTHERS_MAX) {
            0 => String::new(),
            more => format!(" and {more} more (--all lists them)"),
        };
        lines.push(format!("  Besides, in the results: {}{more}", names.join(", ")));
    }
}

fn moved(metric: &Moved) -> Vec<String> {
    let number = |value: Option<f64>| {
        value.map_or_else(|| NOT_APPLICABLE.to_owned(), |value| metric.quantity.format(value))
    };
    let change = match metric.change {
        _ if metric.a == metric.b => "=".to_owned(),
        None => "-".to_owned(),
        Some(change) => {
            let sign = if change > 0.0 { "+" } else { "" };
            format!("{sign}{}", Quantity::Fraction.format(change))
        }
    };
    let verdict = metric.verdict.unwrap_or_default().to_owned();
    vec![format!("  {}", metric.label), number(metric.a), number(metric.b), change, verdict]
}

fn table(lines: &mut Vec<String>, heading: &[&str], rows: impl Iterator<Item = Vec<String>>) {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(heading.iter().copied());
    for mut row in rows {
        row.resize(heading.len(), String::new());
        table.add_row(row);
    }
    for column in table.column_iter_mut().skip(1).take(3) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    lines.extend(table.lines().map(|line| format!("   {}", line.trim_end())));
}
