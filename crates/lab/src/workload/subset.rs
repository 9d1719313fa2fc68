//! The units of a trace that a paper's numbers fit (`--find-subset`, `ftlab trace find-subset`).

use ftlab_trace::{Options, SubsetSearch, SubsetTarget, UnitStatistics, Workload, find_subset};

use crate::error::{Error, Result};
use crate::observer::{Counts, Observer, Steps};
use crate::workload::files::{WORKLOADS, bundled_file, own_file};

/// A search that is done.
pub struct Found {
    /// The nearest subsets.
    pub search: SubsetSearch,
    /// What the source of the stand-in prints.
    pub target: SubsetTarget,
    /// What every unit of the trace has.
    pub units: UnitStatistics,
}

/// Searches the units of a trace for those that together have the statistics of a stand-in.
///
/// # Errors
/// Unknown stand-ins, stand-ins without the statistics, traces that cannot be read; cancelled.
pub fn search(workload: &Workload, like: &str, observer: &dyn Observer) -> Result<Found> {
    let file = match WORKLOADS.iter().find(|workload| workload.name == like) {
        Some(bundled) => bundled_file(bundled)?,
        None if like.ends_with(".toml") => own_file(like)?,
        None => {
            let names: Vec<&str> = WORKLOADS.iter().map(|workload| workload.name).collect();
            return Err(Error::unknown("stand-in", like, &names));
        }
    };
    let stand_in = Workload::parse(&file.spec, &Options::default(), 0)?;
    let requests = stand_in.requests_known().unwrap_or_default();
    let target = SubsetTarget::of(like, &file, requests)?;
    let steps = Steps::requests(observer, "counting by unit", workload.requests_known());
    let units = UnitStatistics::of(workload.records()?, || steps.advance())?;
    drop(steps);
    let steps = Steps::of(observer, Counts::Subsets, "searching subsets of units", None);
    let search = find_subset(&units, &target, || steps.advance())?;
    match search.nearest.is_empty() {
        true => Err(Error::usage(format!("{}: holds no unit with a request", workload.name()))),
        false => Ok(Found { search, target, units }),
    }
}

impl Found {
    /// The nearest subset as `--unit` takes it.
    #[must_use]
    pub fn unit_list(&self) -> String {
        list(&self.search.nearest[0].units)
    }

    /// That the number of requests has no part in the distance, and why.
    #[must_use]
    pub fn not_counted(&self) -> Option<&'static str> {
        let words =
            "The number of requests is not compared: the source of the stand-in prints none.";
        self.target.requests.is_none().then_some(words)
    }
}

/// Units as `--unit` takes them.
#[must_use]
pub fn list(units: &[u32]) -> String {
    units.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}
