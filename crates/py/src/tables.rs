//! Tables of results as columns: numbers as the bytes of an array, so that whoever takes them needs
//! no copy, text as a list; and the same as a file of Parquet in memory. Numpy takes the bytes as
//! they are: no arrow crate.

use std::io::{Read as _, Seek as _};

use ftlab_lab::{Error, Result};
use ftlab_report::flatten::{Flat, flatten_value, text};
use ftlab_report::table::{Columns, write_parquet};
use serde_json::{Map, Value};

/// The tables that a result has.
pub const TABLES: [&str; 5] = ["scalars", "series", "cdf", "ccdf", "wear"];

/// The cells of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// None is absent.
    Whole(Vec<i64>),
    /// NaN: absent.
    Real(Vec<f64>),
    /// 0 or 1, none absent.
    Flag(Vec<u8>),
    /// Anything else.
    Word(Vec<Option<String>>),
}

/// A name and its cells.
pub type Column = (String, Cells);

/// A table of one or several results; of several each row begins with its scheme.
///
/// # Errors
/// [`Error::Usage`]: a table that there is not, and which there are.
pub fn rows(of: &str, texts: &[String]) -> Result<Vec<Flat>> {
    let mut all = Vec::new();
    for text in texts {
        let run: Value = serde_json::from_str(text)
            .map_err(|error| Error::usage(format!("no result: {error}")))?;
        let scheme = run["scheme"].clone();
        for row in of_run(of, run)? {
            let is_told = texts.len() > 1 && of != "scalars";
            all.push(if is_told { with("scheme", scheme.clone(), row) } else { row });
        }
    }
    Ok(all)
}

fn of_run(of: &str, run: Value) -> Result<Vec<Flat>> {
    match of {
        "scalars" => Ok(vec![flatten_value(run)]),
        "series" => Ok(series(&run)),
        "cdf" => Ok(curve(&run["cdf"], "share")),
        "ccdf" => Ok(curve(&run["ccdf"], "share_slower")),
        "wear" => Ok(list(&run["wear"]["histogram"]).cloned().map(flatten_value).collect()),
        _ => Err(Error::unknown("table", of, &TABLES)),
    }
}

fn with(name: &str, value: Value, row: Flat) -> Flat {
    let mut own = Map::new();
    own.insert(name.to_owned(), value);
    own.extend(row);
    own
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The windows, and in each the latencies of the lists that are as long.
fn series(run: &Value) -> Vec<Flat> {
    let row = |(at, window): (usize, &Value)| {
        let mut row = flatten_value(window.clone());
        latencies(&run["series_latency_ns"], "latency_ns", at, &mut row);
        row
    };
    list(&run["series"]).enumerate().map(row).collect()
}

fn latencies(value: &Value, path: &str, at: usize, row: &mut Flat) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                latencies(member, &format!("{path}.{name}"), at, row);
            }
        }
        Value::Array(all) => {
            row.insert(path.to_owned(), all.get(at).cloned().unwrap_or(Value::Null));
        }
        _ => {}
    }
}

/// The points of all directions, one below the other.
fn curve(curves: &Value, share: &str) -> Vec<Flat> {
    let mut rows = Vec::new();
    for (direction, points) in curves.as_object().into_iter().flatten() {
        for point in list(points) {
            let mut row = Flat::new();
            row.insert("direction".to_owned(), direction.as_str().into());
            row.insert("latency_ns".to_owned(), point[0].clone());
            row.insert(share.to_owned(), point[1].clone());
            rows.push(row);
        }
    }
    rows
}

/// The rows as columns.
#[must_use]
pub fn columns(rows: &[Flat]) -> Vec<Column> {
    let mut all = Columns::default();
    rows.iter().for_each(|row| all.add(row));
    let column = |name: &String| {
        let cells: Vec<Option<&Value>> =
            rows.iter().map(|row| row.get(name).filter(|value| !value.is_null())).collect();
        (name.clone(), cells_of(&cells))
    };
    all.names().iter().map(column).collect()
}

fn cells_of(cells: &[Option<&Value>]) -> Cells {
    let present = || cells.iter().flatten();
    if let Some(whole) = cells.iter().map(|cell| cell.and_then(Value::as_i64)).collect() {
        return Cells::Whole(whole);
    }
    if let Some(flags) =
        cells.iter().map(|cell| cell.and_then(Value::as_bool).map(u8::from)).collect()
    {
        return Cells::Flag(flags);
    }
    if present().all(|value| value.is_number()) {
        let real = |cell: &Option<&Value>| cell.and_then(Value::as_f64).unwrap_or(f64::NAN);
        return Cells::Real(cells.iter().map(real).collect());
    }
    Cells::Word(cells.iter().map(|cell| cell.map(|value| text(Some(value)))).collect())
}

/// The rows as a file of Parquet.
///
/// # Errors
/// [`Error::Run`]: no temporary file can be written.
pub fn parquet(rows: &[Flat]) -> Result<Vec<u8>> {
    let mut all = Columns::default();
    rows.iter().for_each(|row| all.add(row));
    let write = || {
        let mut file = tempfile::tempfile()?;
        write_parquet(&mut file, &all, rows.iter().cloned().map(Ok))?;
        file.rewind()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    write().map_err(|error: std::io::Error| {
        Error::Run(format!("a temporary file cannot be written ({error})"))
    })
}
