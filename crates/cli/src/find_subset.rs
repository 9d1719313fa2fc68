//! `ftlab trace find-subset` and `--find-subset`: the units of a trace that a paper's numbers fit.

use std::fmt::Write as _;

use ftlab_trace::{
    Options, Statistic, Statistics, SubsetSearch, SubsetTarget, UnitStatistics, Workload,
    find_subset,
};
use serde_json::json;

use crate::arguments::FindSubsetArguments;
use crate::failure::{Failure, Outcome};
use crate::print;
use crate::workloads::{WORKLOADS, WorkloadChoice, bundled_file, options, own_file};

/// A search that is done.
pub struct Found {
    /// The nearest subsets.
    pub search: SubsetSearch,
    target: SubsetTarget,
    units: UnitStatistics,
}

/// Searches the units of a trace for those that together have the statistics of a stand-in.
///
/// # Errors
/// Unknown stand-ins, stand-ins without the statistics, traces that cannot be read.
pub fn search(workload: &Workload, like: &str) -> Outcome<Found> {
    let file = match WORKLOADS.iter().find(|workload| workload.name == like) {
        Some(bundled) => bundled_file(bundled)?,
        None if like.ends_with(".toml") => own_file(like)?,
        None => {
            let names: Vec<&str> = WORKLOADS.iter().map(|workload| workload.name).collect();
            return Err(Failure::unknown("stand-in", like, &names));
        }
    };
    let stand_in = Workload::parse(&file.spec, &Options::default(), 0)?;
    let requests = stand_in.requests_known().unwrap_or_default();
    let target = SubsetTarget::of(like, &file, requests)?;
    let units = UnitStatistics::of(workload.records()?)?;
    let search = find_subset(&units, &target);
    match search.nearest.is_empty() {
        true => Err(Failure::usage(format!("{}: holds no unit with a request", workload.name()))),
        false => Ok(Found { search, target, units }),
    }
}

impl Found {
    /// The nearest subset as `--unit` takes it.
    pub fn unit_list(&self) -> String {
        list(&self.search.nearest[0].units)
    }

    /// That the number of requests has no part in the distance, and why.
    pub fn not_counted(&self) -> Option<&'static str> {
        let words =
            "The number of requests is not compared: the source of the stand-in prints none.";
        self.target.requests.is_none().then_some(words)
    }

    fn text(&self, name: &str, like: &str) -> String {
        let mut text = format!(
            "{name}: {} units; subsets nearest to {like} ({}{:.0} bytes, {} % reads, \
             {} % sequential)\n\n",
            self.units.len(),
            self.target.requests.map_or_else(String::new, |count| format!("{count:.0} requests, ")),
            self.target.mean_bytes,
            self.target.read_percent,
            self.target.sequential_percent,
        );
        writeln!(
            text,
            "{:>9}  {:>9}  {:>10}  {:>7}  {:>10}  units",
            "distance", "requests", "mean bytes", "reads %", "sequential %"
        )
        .expect("a string takes every character");
        for subset in &self.search.nearest {
            let own = self.units.together(&subset.units);
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
        let how = match self.search.exact {
            true => "every subset was considered",
            false => "the search was stopped: nearer subsets may exist",
        };
        write!(
            text,
            "\nDistance: root of the sum of the squares of the {}, each relative to its target.\n{}\
             {how} ({} branches). To use the nearest: --unit {}",
            match self.target.requests {
                Some(_) => "four deviations",
                None => "deviations of size, reads and sequence",
            },
            self.not_counted().map_or_else(String::new, |words| format!("{words}\n")),
            self.search.branches,
            self.unit_list()
        )
        .expect("a string takes every character");
        text
    }

    fn json(&self, name: &str, like: &str) -> serde_json::Value {
        let subset = |subset: &ftlab_trace::Subset| {
            let own = self.units.together(&subset.units);
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
                "requests": self.target.requests,
                "mean_bytes": self.target.mean_bytes,
                "read_percent": self.target.read_percent,
                "sequential_percent": self.target.sequential_percent,
            },
            "exact": self.search.exact,
            "branches": self.search.branches,
            "nearest": self.search.nearest.iter().map(subset).collect::<Vec<_>>(),
        })
    }
}

fn value(of: &Statistics, statistic: Statistic) -> f64 {
    of.value(statistic).unwrap_or(f64::NAN)
}

fn list(units: &[u32]) -> String {
    units.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// `ftlab trace find-subset`.
pub fn print_subset(typed: &FindSubsetArguments) -> Outcome<()> {
    let choice = WorkloadChoice::new(&typed.file, &typed.reading, &[])?;
    let workload = Workload::parse(&choice.text, &options(&typed.reading)?, 0)?;
    let found = search(&workload, &typed.like)?;
    match typed.json {
        true => print::json(&found.json(&choice.name, &typed.like)),
        false => print::text(&found.text(&choice.name, &typed.like)),
    }
}
