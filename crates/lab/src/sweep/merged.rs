//! The results of a sweep as one table, a row per point and a column per axis and per scalar, and as
//! a page.

use std::fs;
use std::io;

use ftlab_report::flatten::{Flat, flatten_value};
use ftlab_report::table::{Columns, write_csv, write_parquet};
use serde_json::Value;

use crate::error::Result;
use crate::sweep::column::{AxisColumn, axis_columns};
use crate::sweep::effects::{Effects, METRICS, Sample, effects};
use crate::sweep::folder::Folder;
use crate::sweep::page::{Outcome, page};
use crate::sweep::plan::{Kept, Manifest};

/// What was merged.
#[derive(Clone, Debug)]
pub struct Merged {
    /// Points with a result.
    pub done: usize,
    /// Those that were tried and have none, and why.
    pub failed: Vec<(String, String)>,
    /// Those that cannot be run, and why.
    pub refused: Vec<(String, String)>,
    /// Those that were not tried yet.
    pub missing: usize,
    /// What explains each metric that varies, with its words.
    pub effects: Vec<(&'static str, Effects)>,
    /// What heads the values of points, axis by axis.
    pub names: Vec<String>,
}

/// What became of a point.
enum Status {
    Done,
    Failed(String),
    Refused(String),
    Missing,
}

impl Folder {
    /// Writes `results.csv`, `results.parquet` and `report.html`, in the place of those that were there.
    ///
    /// # Errors
    /// A result that cannot be read, or a file that cannot be written.
    pub fn merge(&self, manifest: &Manifest) -> Result<Merged> {
        let axes = axis_columns(manifest);
        let row = |point: &Kept| self.row(point, &axes);
        let mut columns = Columns::default();
        let mut merged = Merged {
            done: 0,
            failed: Vec::new(),
            refused: Vec::new(),
            missing: 0,
            effects: Vec::new(),
            names: manifest.names.clone(),
        };
        let mut metrics: Vec<Vec<Option<f64>>> = Vec::new();
        for point in &manifest.points {
            let own = row(point).map_err(|error| self.cannot(point, &error))?;
            columns.add(&own);
            metrics.push(METRICS.map(|(path, _)| own.get(path).and_then(Value::as_f64)).to_vec());
            let named = || point.told(&manifest.names);
            match self.status(point) {
                Status::Done => merged.done += 1,
                Status::Failed(why) => merged.failed.push((named(), why)),
                Status::Refused(why) => merged.refused.push((named(), why)),
                Status::Missing => merged.missing += 1,
            }
        }
        let rows = || manifest.points.iter().map(row);
        self.write_with("results.csv", |file| write_csv(file, &columns, rows()))?;
        self.write_with("results.parquet", |file| write_parquet(file, &columns, rows()))?;
        for (number, (_, words)) in METRICS.iter().enumerate() {
            let points = manifest.points.iter().zip(&metrics);
            let found: Vec<(f64, &Kept)> =
                points.filter_map(|(point, own)| Some((own[number]?, point))).collect();
            let samples: Vec<Sample<'_>> = found
                .iter()
                .map(|(value, point)| Sample { at: &point.values, value: *value })
                .collect();
            let names = manifest.names.len();
            merged.effects.extend(effects(&samples, names).map(|effects| (*words, effects)));
        }
        let outcome = Outcome {
            done: merged.done,
            failed: &merged.failed,
            refused: &merged.refused,
            missing: merged.missing,
            effects: &merged.effects,
        };
        self.write("report.html", &page(self, manifest, &axes, &outcome)?)?;
        Ok(merged)
    }

    fn status(&self, point: &Kept) -> Status {
        if !point.refused.is_empty() {
            return Status::Refused(point.refused.clone());
        }
        match (self.has(&point.key), self.failure(&point.key)) {
            (true, _) => Status::Done,
            (false, Some(failure)) => Status::Failed(failure.reason),
            (false, None) => Status::Missing,
        }
    }

    /// The row of a point: its values, what became of it, and the scalars of its result.
    fn row(&self, point: &Kept, axes: &[AxisColumn]) -> io::Result<Flat> {
        let mut row = Flat::new();
        for (axis, value) in axes.iter().zip(&point.values) {
            row.insert(axis.heading.clone(), axis.cell(value.as_deref()));
        }
        let (status, reason) = match self.status(point) {
            Status::Done => ("done", None),
            Status::Failed(why) => ("failed", Some(why)),
            Status::Refused(why) => ("refused", Some(why)),
            Status::Missing => ("missing", None),
        };
        let is_done = reason.is_none() && status == "done";
        row.insert("run".to_owned(), point.key.clone().into());
        row.insert("status".to_owned(), status.into());
        row.insert("reason".to_owned(), reason.into());
        if is_done {
            let bytes = fs::read(self.result(&point.key))?;
            let value: Value = serde_json::from_slice(&bytes)?;
            row.extend(flatten_value(value));
        }
        Ok(row)
    }

    fn cannot(&self, point: &Kept, error: &io::Error) -> crate::error::Error {
        let file = self.result(&point.key);
        crate::error::Error::Run(format!("{} cannot be read ({error})", file.display()))
    }
}
