//! A sweep as it is stated: what all runs share, and the axes.

use toml_edit::{DocumentMut, Item, Table, Value};

use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::options::schemes::Schemes;
use crate::selection::expand;
use crate::sweep::axis::{Axis, axes};

const LEGAL: &str = "a value, a list of values, a range such as '16KiB..16MiB*2', or { values = \
                     ..., only = 'SCHEMES' } with either";

/// What is swept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// What all runs share.
    pub base: Experiment,
    /// What is varied; the first axis slowest.
    pub axes: Vec<Axis>,
}

impl Definition {
    /// A base with the axes of a grid: `scheme=dftl,tpftl cache=16KiB..16MiB*2`.
    ///
    /// # Errors
    /// What is no axis, and what is legal.
    pub fn new(base: Experiment, grid: &str) -> Result<Self> {
        Definition { base, axes: axes(grid)? }.checked()
    }

    /// From TOML: the options of an experiment; `[axes]` with a list, a range or
    /// `{ values = ..., only = "SCHEMES" }` for each name; and `[[together]]`, whose names are
    /// varied together, each with as many values.
    ///
    /// # Errors
    /// An unknown name or a value that is not legal, and what is legal.
    pub fn from_toml(text: &str) -> Result<Self> {
        let line = |span: Option<std::ops::Range<usize>>| {
            let at = span.map_or(0, |span| span.start.min(text.len()));
            text[..at].matches('\n').count() + 1
        };
        let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
            let told = error.message().trim().replace('\n', "; ");
            Error::usage(format!("line {}: {told}", line(error.span())))
        })?;
        let (own, together) = (document.remove("axes"), document.remove("together"));
        let base = toml_edit::de::from_document(document).map_err(|error| {
            let told = error.message().trim().replace('\n', "; ");
            // What was taken out stands behind the options, so lines hold where they are known.
            match error.span() {
                Some(span) => Error::usage(format!("line {}: {told}", line(Some(span)))),
                None => Error::usage(told),
            }
        })?;
        let mut axes = Vec::new();
        if let Some(own) = own {
            let own = own.as_table_like().ok_or_else(|| {
                Error::usage("'axes' is no table; legal: [axes] with NAME = VALUES")
            })?;
            for (name, stated) in own.iter() {
                axes.push(axis(name, stated)?);
            }
        }
        if let Some(together) = together {
            let tables = together.as_array_of_tables().ok_or_else(|| {
                Error::usage("'together' is no list of tables; legal: [[together]]")
            })?;
            for table in tables {
                axes.push(zipped(table)?);
            }
        }
        Definition { base, axes }.checked()
    }

    /// Several schemes of the base are an axis, and no two axes vary the same.
    fn checked(mut self) -> Result<Self> {
        let has_scheme =
            |axes: &[Axis]| axes.iter().flat_map(|axis| &axis.names).any(|name| name.is_scheme());
        if !has_scheme(&self.axes) && self.base.schemes != Schemes::default() {
            let names: Vec<Vec<&str>> = self.base.schemes.names().map(|name| vec![name]).collect();
            self.axes.insert(0, Axis::of(&["scheme"], &names, None)?);
        }
        if !has_scheme(&self.axes) {
            return Err(Error::usage(
                "no scheme is named; legal: an axis scheme=NAME,NAME, or --schemes",
            ));
        }
        self.axes.iter_mut().try_for_each(expand_schemes)?;
        for (at, axis) in self.axes.iter().enumerate() {
            if let Some(name) = self.axes[..at].iter().find_map(|other| axis.shares(other)) {
                return Err(Error::usage(format!("'{name}' is in two axes")));
            }
        }
        Ok(self)
    }
}

/// `all` and `family:NAME` as the schemes that they stand for.
fn expand_schemes(axis: &mut Axis) -> Result<()> {
    let Some(at) = axis.names.iter().position(|name| name.is_scheme()) else { return Ok(()) };
    if axis.only.is_some() {
        return Err(Error::usage("axis scheme: it cannot be for some schemes only"));
    }
    let mut values: Vec<Vec<String>> = Vec::new();
    for value in &axis.values {
        for scheme in expand(&value[at])? {
            ftlab_engine::schemes::find(&scheme)?;
            let mut own = value.clone();
            own[at] = scheme;
            if values.contains(&own) {
                return Err(Error::usage(format!("axis scheme: '{}' is there twice", own[at])));
            }
            values.push(own);
        }
    }
    axis.values = values;
    Ok(())
}

/// An axis of a file.
fn axis(name: &str, stated: &Item) -> Result<Axis> {
    let wrong = || Error::usage(format!("[axes] {name}: legal: {LEGAL}"));
    let (values, only) = match stated.as_table_like() {
        None => (stated, None),
        Some(table) => {
            if let Some((unknown, _)) =
                table.iter().find(|(key, _)| !["values", "only"].contains(key))
            {
                return Err(Error::unknown("member", unknown, &["values", "only"]));
            }
            let only = table.get("only").map(|only| only.as_str().ok_or_else(wrong)).transpose()?;
            (table.get("values").ok_or_else(wrong)?, only)
        }
    };
    let values = list(values).ok_or_else(wrong)?;
    let each: Vec<Vec<&str>> = values.iter().map(|value| vec![value.as_str()]).collect();
    Axis::of(&[name], &each, only)
}

/// Names that are varied together.
fn zipped(table: &Table) -> Result<Axis> {
    let mut columns: Vec<(&str, Vec<String>)> = Vec::new();
    for (name, stated) in table {
        let values = list(stated)
            .ok_or_else(|| Error::usage(format!("[[together]] {name}: legal: a list of values")))?;
        columns.push((name, values));
    }
    let Some((first, values)) = columns.first() else {
        return Err(Error::usage(
            "[[together]] is empty; legal: NAME = [VALUE, ...] twice or more",
        ));
    };
    if let Some((name, other)) = columns.iter().find(|(_, other)| other.len() != values.len()) {
        return Err(Error::usage(format!(
            "[[together]]: {name} has {} values and {first} {}; legal: as many of each",
            other.len(),
            values.len()
        )));
    }
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let row = |at: usize| columns.iter().map(|(_, values)| values[at].as_str()).collect();
    let rows: Vec<Vec<&str>> = (0..values.len()).map(row).collect();
    Axis::of(&names, &rows, None)
}

/// A value, or the values of a list, as text.
fn list(stated: &Item) -> Option<Vec<String>> {
    let value = stated.as_value()?;
    match value.as_array() {
        Some(several) => several.iter().map(text).collect(),
        None => Some(vec![text(value)?]),
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.value().clone()),
        Value::Integer(number) => Some(number.value().to_string()),
        Value::Float(number) => Some(number.value().to_string()),
        Value::Boolean(yes) => Some(yes.value().to_string()),
        Value::Datetime(_) | Value::Array(_) | Value::InlineTable(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "device = 'slc_small'\nworkload = 'oltp_demo'\nhead = 1000\n\
        [axes]\nscheme = ['family:cached_map', 'fast']\nseed = '1..3'\n\
        'gc.threshold' = [3, 5]\ncache = { values = '16KiB..64KiB*2', only = 'dftl,tpftl' }\n\
        [[together]]\ncapacity = ['64MiB', '128MiB']\nop = ['7%', '14%']\n";

    fn of_grid(schemes: &str, grid: &str) -> Result<Definition> {
        Definition::new(Experiment { schemes: schemes.into(), ..Experiment::default() }, grid)
    }

    #[test]
    fn a_file_says_what_a_grid_says() {
        let file = Definition::from_toml(FILE).unwrap();
        assert_eq!((file.base.head, &*file.base.device), (Some(1000), "slc_small"));
        let names = |of: &Definition| -> Vec<String> {
            let name = |axis: &Axis| {
                axis.names.iter().map(|name| name.text.clone()).collect::<Vec<_>>().join("&")
            };
            of.axes.iter().map(name).collect()
        };
        assert_eq!(names(&file), ["scheme", "seed", "gc.threshold", "cache", "capacity&op"]);
        assert!(file.axes[0].values.contains(&vec!["tpftl".to_owned()]), "families are expanded");
        let grid = "scheme=family:cached_map,fast seed=1..3 gc.threshold=3,5 \
                    cache[dftl,tpftl]=16KiB..64KiB*2 capacity&op=64MiB&7%,128MiB&14%";
        assert_eq!(Definition::new(file.base.clone(), grid).unwrap(), file);
    }

    #[test]
    fn schemes_of_the_base_are_the_first_axis() {
        let swept = of_grid("dftl,fast", "op=7%,14%").unwrap();
        assert_eq!(swept.axes[0].values, [["dftl"], ["fast"]]);
        assert!(of_grid("", "op=7%").unwrap_err().to_string().contains("scheme"));
    }

    #[test]
    fn what_is_wrong_in_a_file_is_told_with_its_place() {
        for (text, why) in [
            ("devise = 'a'\n[axes]\nscheme='dftl'", "devise"),
            ("[axes]\nscheme = { value = 'dftl' }", "'value'"),
            ("[axes]\nscheme = 'dftl'\nop = 1979-05-27", "[axes] op: legal"),
            (
                "[axes]\nscheme = 'dftl'\n[[together]]\nop = ['1%']\nram = ['1KiB', '2KiB']",
                "as many",
            ),
            (
                "[axes]\nscheme = 'dftl'\nop = ['1%']\n'device.over_provisioning' = ['2%']",
                "two axes",
            ),
            ("[axes]\nscheme = ['dftl', 'family:cached_map']", "there twice"),
            ("[axes]\nscheme = 'dftlx'", "dftl"),
            ("axes = 3", "no table"),
            ("a = = 3", "line 1"),
        ] {
            let told = Definition::from_toml(text).unwrap_err().to_string();
            assert!(told.contains(why), "{text}: {told}");
        }
    }
}
