//! The results of a sweep as one table, a row per point and a column per axis and per scalar, and
//! as a page.

use std::fs;
use std::io;

use ftlab_report::flatten::{Flat, flatten_value, number};
use ftlab_report::gathered::Settings;
use ftlab_report::table::{Columns, write_csv, write_parquet};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::sweep::column::{AxisColumn, axis_columns};
use crate::sweep::effects::{Effects, METRICS, Sample, effects};
use crate::sweep::folder::{Contents, Folder};
use crate::sweep::page::{Outcome, Results, page};
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

impl Status {
    fn word(&self) -> &'static str {
        match self {
            Status::Done => "done",
            Status::Failed(_) => "failed",
            Status::Refused(_) => "refused",
            Status::Missing => "missing",
        }
    }

    fn reason(&self) -> Option<&str> {
        match self {
            Status::Failed(why) | Status::Refused(why) => Some(why),
            Status::Done | Status::Missing => None,
        }
    }
}

impl Folder {
    /// Writes `results.csv`, `results.parquet` and `report.html`, in the place of those that were
    /// there. Rows are read once for their columns and again as they are written, so that they need
    /// not fit the memory.
    ///
    /// # Errors
    /// A result that cannot be read, or a file that cannot be written.
    pub fn merge(&self, manifest: &Manifest) -> Result<Merged> {
        let there = self.contents()?;
        let axes = axis_columns(manifest);
        let mut merged = Merged {
            done: 0,
            failed: Vec::new(),
            refused: Vec::new(),
            missing: 0,
            effects: Vec::new(),
            names: manifest.names.clone(),
        };
        let (mut columns, mut settings) = (Columns::default(), Settings::default());
        let mut metrics: Vec<[Option<f64>; METRICS.len()]> = Vec::new();
        for point in &manifest.points {
            let (status, row) = self.row(point, &axes, &there)?;
            columns.add(&row);
            settings.add(&row);
            metrics.push(METRICS.map(|(path, _)| number(&row, path)));
            let named = || point.told(&manifest.names);
            match status {
                Status::Done => merged.done += 1,
                Status::Failed(why) => merged.failed.push((named(), why)),
                Status::Refused(why) => merged.refused.push((named(), why)),
                Status::Missing => merged.missing += 1,
            }
        }
        let row = |point| self.row(point, &axes, &there).map(|(_, row)| row);
        let rows = || manifest.points.iter().map(|point| row(point).map_err(io::Error::other));
        self.write_with("results.csv", |file| write_csv(file, &columns, rows()))?;
        self.write_with("results.parquet", |file| write_parquet(file, &columns, rows()))?;
        for (number, (_, words)) in METRICS.iter().enumerate() {
            let points = manifest.points.iter().zip(&metrics);
            let samples: Vec<Sample<'_>> = points
                .filter_map(|(point, own)| Some(Sample { at: &point.values, value: own[number]? }))
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
        let results = Results { folder: self, there: &there, settings: &settings };
        self.write("report.html", &page(&results, manifest, &axes, &outcome)?)?;
        Ok(merged)
    }

    fn status(&self, point: &Kept, there: &Contents) -> Status {
        if !point.refused.is_empty() {
            return Status::Refused(point.refused.clone());
        }
        if there.has(&point.key) {
            return Status::Done;
        }
        let failure = there.has_failed(&point.key).then(|| self.failure(&point.key)).flatten();
        failure.map_or(Status::Missing, |failure| Status::Failed(failure.reason))
    }

    /// What became of a point, and its row: its values, that, and the scalars of its result.
    fn row(&self, point: &Kept, axes: &[AxisColumn], there: &Contents) -> Result<(Status, Flat)> {
        let status = self.status(point, there);
        let mut row = Flat::new();
        for (axis, value) in axes.iter().zip(&point.values) {
            row.insert(axis.heading.clone(), axis.cell(value.as_deref()));
        }
        row.insert("run".to_owned(), point.key.clone().into());
        row.insert("status".to_owned(), status.word().into());
        row.insert("reason".to_owned(), status.reason().into());
        if matches!(status, Status::Done) {
            let file = self.result(&point.key);
            let read = || -> io::Result<Value> { Ok(serde_json::from_slice(&fs::read(&file)?)?) };
            let value = read().map_err(|error| {
                Error::Run(format!("{} cannot be read ({error})", file.display()))
            })?;
            row.extend(flatten_value(value));
        }
        Ok((status, row))
    }
}
