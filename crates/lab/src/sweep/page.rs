//! The page of a sweep: its points as plain data, which the floor below draws.

use std::fs;

use ftlab_report::format::Quantity;
use ftlab_report::gathered::{GATHERED_MAX, Gathered, Settings};
use ftlab_report::read_json;
use ftlab_report::sweep::{Axis, Sensitivity, Swept, write};

use crate::error::{Error, Result};
use crate::sweep::column::AxisColumn;
use crate::sweep::effects::Effects;
use crate::sweep::folder::{Contents, Folder};
use crate::sweep::plan::{Kept, Manifest};

/// What became of the points.
pub struct Outcome<'a> {
    /// Points with a result.
    pub done: usize,
    /// Those that failed, and why.
    pub failed: &'a [(String, String)],
    /// Those that cannot be run, and why.
    pub refused: &'a [(String, String)],
    /// Those that were not tried yet.
    pub missing: usize,
    /// What explains each metric.
    pub effects: &'a [(&'static str, Effects)],
}

/// The results of a folder, as far as the page needs them.
pub struct Results<'a> {
    /// Where they lie.
    pub folder: &'a Folder,
    /// Which are there.
    pub there: &'a Contents,
    /// The settings of all of them.
    pub settings: &'a Settings,
}

/// Makes the page from the results that the folder holds, of the first [`GATHERED_MAX`] at most.
pub fn page(
    results: &Results<'_>,
    manifest: &Manifest,
    columns: &[AxisColumn],
    outcome: &Outcome<'_>,
) -> Result<Vec<u8>> {
    let done = manifest.points.iter().filter(|point| results.there.has(&point.key));
    let points: Vec<&Kept> = done.take(GATHERED_MAX).collect();
    let runs: Vec<Gathered> =
        points.iter().map(|point| results.gathered(point)).collect::<Result<_>>()?;
    let axis = |(at, column): (usize, &AxisColumn)| {
        let values = || points.iter().map(|point| point.values[at].as_deref());
        let quantity = column.unit.map(|unit| match unit {
            "_bytes" => Quantity::Bytes,
            "_ns" => Quantity::Nanoseconds,
            "_fraction" => Quantity::Fraction,
            _ => Quantity::Ratio,
        });
        Axis {
            name: manifest.names[at].clone(),
            values: values().map(|value| value.map(str::to_owned)).collect(),
            numbers: quantity
                .map(|quantity| (values().map(|value| column.number(value)).collect(), quantity)),
        }
    };
    let axes: Vec<Axis> = columns.iter().enumerate().map(axis).collect();
    let sensitivity: Vec<Sensitivity> = outcome
        .effects
        .iter()
        .map(|(metric, effects)| Sensitivity {
            metric,
            logarithmic: effects.logarithmic,
            complete: effects.complete,
            alone: effects.alone.clone(),
            pairs: effects.pairs.clone(),
        })
        .collect();
    Ok(write(&Swept {
        axes: &axes,
        seed: manifest.seed,
        runs: &runs,
        points: manifest.points.len(),
        left_out: outcome.done.saturating_sub(runs.len()),
        failed: outcome.failed,
        refused: outcome.refused,
        missing: outcome.missing,
        sensitivity: &sensitivity,
    }))
}

impl Results<'_> {
    fn gathered(&self, point: &Kept) -> Result<Gathered> {
        let file = self.folder.result(&point.key);
        let cannot = |why: String| Error::Run(format!("{} cannot be read ({why})", file.display()));
        let bytes = fs::read(&file).map_err(|error| cannot(error.to_string()))?;
        let runs = read_json(&bytes).map_err(|error| cannot(error.to_string()))?;
        let run = runs.into_iter().next().ok_or_else(|| cannot("it holds no result".to_owned()))?;
        Ok(Gathered::of(&format!("runs/{}.json", point.key), run).for_page(self.settings))
    }
}
