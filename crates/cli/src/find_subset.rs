//! `ftlab trace find-subset`: the units of a trace that a paper's numbers fit, as text and JSON.

use std::fmt::Write as _;

use ftlab_lab::Result;
use ftlab_lab::workloads::{Found, find_subset, list};
use ftlab_trace::{Statistic, Statistics};
use serde_json::json;

use crate::arguments::FindSubsetArguments;
use crate::conversion;
use crate::print;
use crate::progress::Progress;
use crate::watch::Watch;

/// Searches and prints.
pub fn print_subset(typed: &FindSubsetArguments, watch: &Watch) -> Result<()> {
    watch.begin()?;
    let reading = conversion::reading(&typed.reading)?;
    let progress = Progress::new(false, watch);
    let found = find_subset(&typed.file, &reading, &typed.like, &progress)?;
    match typed.json {
        true => print::json(&json(&found, &typed.file, &typed.like)),
        false => print::text(&text(&found, &typed.file, &typed.like)),
    }
}

fn text(found: &Found, name: &str, like: &str) -> String {
    let mut text = format!(
        "{name}: {} units; subsets nearest to {like} ({}{:.0} bytes, {} % reads, \
         {} % sequential)\n\n",
        found.units.len(),
        found.target.requests.map_or_else(String::new, |count| format!("{count:.0} requests, ")),
        found.target.mean_bytes,
        found.target.read_percent,
        found.target.sequential_percent,
    );
    writeln!(
        text,
        "{:>9}  {:>9}  {:>10}  {:>7}  {:>10}  units",
        "distance", "requests", "mean bytes", "reads %", "sequential %"
    )
    .expect("a string takes every character");
    for subset in &found.search.nearest {
        let own = found.units.together(&subset.units);
        writeln!(
            text,
            "{:>9.4}  {:>9}  {:>10.1}  {:>7.2}  {:>12.2}  {}",
            subset.distance,
            own.requests,
            value(&own, Statistic::MeanBytes),
            value(&own, Statistic::ReadPercent),
            value(&own, Statistic::SequentialPercent),
            list(&subset.units)
        )
        .expect("a string takes every character");
    }
    let how = match found.search.exact {
        true => "every subset was considered",
        false => "the search was stopped: nearer subsets may exist",
    };
    write!(
        text,
        "\nDistance: root of the sum of the squares of the {}, each relative to its target.\n{}\
         {how} ({} branches). To use the nearest: --unit {}",
        match found.target.requests {
            Some(_) => "four deviations",
            None => "deviations of size, reads and sequence",
        },
        found.not_counted().map_or_else(String::new, |words| format!("{words}\n")),
        found.search.branches,
        found.unit_list()
    )
    .expect("a string takes every character");
    text
}

fn json(found: &Found, name: &str, like: &str) -> serde_json::Value {
    let subset = |subset: &ftlab_trace::Subset| {
        let own = found.units.together(&subset.units);
        json!({
            "units": subset.units,
            "distance": subset.distance,
            "requests": own.requests,
            "mean_bytes": own.value(Statistic::MeanBytes),
            "read_percent": own.value(Statistic::ReadPercent),
            "sequential_percent": own.value(Statistic::SequentialPercent),
        })
    };
    json!({
        "trace": name,
        "like": like,
        "target": {
            "requests": found.target.requests,
            "mean_bytes": found.target.mean_bytes,
            "read_percent": found.target.read_percent,
            "sequential_percent": found.target.sequential_percent,
        },
        "exact": found.search.exact,
        "branches": found.search.branches,
        "nearest": found.search.nearest.iter().map(subset).collect::<Vec<_>>(),
    })
}

fn value(of: &Statistics, statistic: Statistic) -> f64 {
    of.value(statistic).unwrap_or(f64::NAN)
}
