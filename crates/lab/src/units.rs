//! `--unit each`: every unit (ASU, volume, disk) of a trace as a comparison of its own, on devices
//! of its own. What is run is what `--unit N` runs, unit by unit.

use std::collections::BTreeSet;

use ftlab_report::format::count;
use ftlab_trace::{Description, UnitSelection};

use crate::compare::Comparison;
use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::kept::KeptRuns;
use crate::observer::{Counts, Observer, Steps, Work, going_on};
use crate::options::reading::{Reading, Units};
use crate::plan::asked::Asked;
use crate::run::beside::path_for_unit;
use crate::workload::choice::WorkloadChoice;

/// Most units that one experiment runs apart.
pub const UNITS_MAX: usize = 256;

/// Most runs, of all units together: every result is held until all are written.
pub const RUNS_MAX: usize = 2048;

const NEEDS: &str = "--unit each runs every unit of a trace apart, but";

/// Comparisons that can begin: one for every unit of a trace.
pub struct UnitComparisons {
    /// The schemes, in the order asked for; some may be left out for some units.
    pub schemes: Vec<String>,
    /// Number and comparison of each unit, in order of their numbers.
    pub units: Vec<(u32, Comparison)>,
}

impl Experiment {
    /// Finds the units of the trace that have a request, and plans a comparison for each of them,
    /// whatever `unit` says; otherwise as [`Experiment::compare_with`].
    ///
    /// # Errors
    /// [`Error::Usage`] where any unit cannot be run, with its name; workloads that have no units;
    /// more than [`UNITS_MAX`] units or [`RUNS_MAX`] runs. [`Error::Cancelled`].
    pub fn compare_units(
        &self,
        kept: Option<&KeptRuns>,
        observer: &dyn Observer,
    ) -> Result<UnitComparisons> {
        // What no unit can have should not take a pass over the trace to be said.
        let asked = Asked::of(self)?;
        let schemes: Vec<String> = asked.schemes().map(str::to_owned).collect();
        let units = units(self, &asked.changes, observer)?;
        refuse_too_many_runs(units.len(), schemes.len())?;
        let units = self.plan_units(&units, kept, observer)?;
        Ok(UnitComparisons { schemes, units })
    }

    /// Refuses what can be refused of any unit before the first one runs.
    fn plan_units(
        &self,
        units: &[u32],
        kept: Option<&KeptRuns>,
        observer: &dyn Observer,
    ) -> Result<Vec<(u32, Comparison)>> {
        let length = units.len() as u64;
        let counts = Counts::Parts { to_make: length };
        let work = Work { label: "planning the units", length: Some(length), counts };
        let whole = observer.begins(&work);
        // The same files for all.
        let mut described: Option<Description> = None;
        let plan = |&unit: &u32| {
            let mut own = self.clone();
            own.unit = Units::Together(UnitSelection::Only(vec![unit]));
            own.requests_out = self.requests_out.as_ref().map(|path| path_for_unit(path, unit));
            own.trace_out = self.trace_out.as_ref().map(|path| path_for_unit(path, unit));
            let planned = Comparison::plan_of(&own, described.as_ref(), kept, observer);
            let mut comparison = planned.map_err(|error| error.within(&unit_name(unit)))?;
            described = described.take().or_else(|| comparison.plan().description().cloned());
            comparison.close();
            going_on(whole.advance(1))?;
            Ok((unit, comparison))
        };
        units.iter().map(plan).collect()
    }
}

/// What a unit is called in errors and reports.
#[must_use]
pub fn unit_name(unit: u32) -> String {
    format!("unit {unit}")
}

fn refuse(why: &str) -> Error {
    Error::usage(format!("{NEEDS} {why}"))
}

fn refuse_too_many_runs(units: usize, schemes: usize) -> Result<()> {
    if units * schemes <= RUNS_MAX {
        return Ok(());
    }
    Err(refuse(&format!(
        "{units} units under {schemes} schemes are {} runs; legal: up to {} (fewer schemes, or \
         --unit N for each of some units)",
        count((units * schemes) as u64),
        count(RUNS_MAX as u64)
    )))
}

/// The units of which `--unit N` would find a request, ascending; one pass over the trace.
fn units(
    experiment: &Experiment,
    changes: &[(String, String)],
    observer: &dyn Observer,
) -> Result<Vec<u32>> {
    if experiment.find_subset {
        return Err(refuse(
            "--find-subset chooses some to be run together; legal: one of the two options",
        ));
    }
    let reading = Reading { unit: Units::default(), ..experiment.reading() };
    let mut choice = WorkloadChoice::new(&experiment.workload, &reading, changes, Some(observer))?;
    if choice.is_standard_input() {
        return Err(refuse(
            "--workload - (standard input) can be read only once, and every unit reads it from \
             its start; legal: a file",
        ));
    }
    // Both count the requests of a unit, not those of the trace.
    choice.options.head = None;
    choice.options.filter.every = 1;
    let workload = choice.open(0)?;
    if workload.detection().is_none() {
        let what = match workload.parts() {
            Some(_) => "is a combination, whose parts number their units each for itself",
            None => "is generated and has none",
        };
        // Among them why --trace-dir found no trace to put in its place.
        let notes: String = choice.notes.iter().map(|note| format!(". {note}")).collect();
        return Err(refuse(&format!("'{}' {what}; legal: a trace{notes}", choice.name)));
    }
    // Units may follow one another, each by a clock of its own.
    choice.options.any_order =
        choice.options.filter.from_ns == 0 && choice.options.filter.to_ns == u64::MAX;
    let workload = choice.open(0)?;
    let steps = Steps::requests(observer, "finding the units", None);
    let mut units = BTreeSet::new();
    let mut latest = None;
    for record in workload.records()? {
        let unit = record?.unit;
        if latest.replace(unit) != Some(unit) {
            units.insert(unit);
        }
        steps.advance()?;
    }
    if units.len() > UNITS_MAX {
        return Err(refuse(&format!(
            "'{}' has {} units; legal: up to {UNITS_MAX} (a list, --unit N,N, runs those together \
             on one device)",
            choice.name,
            count(units.len() as u64)
        )));
    }
    Ok(units.into_iter().collect())
}
