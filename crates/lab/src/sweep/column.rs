//! The values of an axis as a column: numbers in one unit where all are of one kind, else text.

use serde_json::Value;

use crate::sweep::plan::Manifest;
use crate::sweep::range::{Measured, measured};

/// One column.
pub struct AxisColumn {
    /// Its name in tables, which tells the unit.
    pub heading: String,
    /// `_bytes`, `_ns`, `_fraction` or nothing, where its values are numbers.
    pub unit: Option<&'static str>,
}

impl AxisColumn {
    /// A value as a number, where the column has such.
    pub fn number(&self, value: Option<&str>) -> Option<f64> {
        self.unit.and(value).and_then(measured).map(|measured| measured.value)
    }

    /// A value as tables hold it.
    pub fn cell(&self, value: Option<&str>) -> Value {
        match (value, self.unit) {
            (Some(text), None) => text.into(),
            // Whole numbers stay whole.
            _ => match self.number(value) {
                Some(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
                    (number as i64).into()
                }
                number => number.into(),
            },
        }
    }
}

/// The columns of all axes.
pub fn axis_columns(manifest: &Manifest) -> Vec<AxisColumn> {
    let column = |(at, name): (usize, &String)| {
        let values: Vec<Option<Measured>> = manifest
            .points
            .iter()
            .filter_map(|point| point.values[at].as_deref())
            .map(measured)
            .collect();
        let unit = values.first().copied().flatten().map(|first| first.unit);
        let unit = unit
            .filter(|unit| values.iter().all(|value| value.map(|value| value.unit) == Some(unit)));
        AxisColumn { heading: format!("axis.{name}{}", unit.unwrap_or_default()), unit }
    };
    manifest.names.iter().enumerate().map(column).collect()
}
