//! A model as it stands in a workload file: `[twin]` with the span, and a table of rows per
//! measure.

use toml_edit::{Document, Item, Table, Value};

use super::model::Model;
use super::tables::Tables;
use crate::error::{Result, TraceError, unknown_name};

/// Reads the model of a workload file.
///
/// # Errors
/// A file that cannot be read, is not TOML or has no `[twin]`; what the tables may not say.
pub(super) fn read(path: &str) -> Result<Model> {
    let wrong = |problem: String| TraceError::new(problem).at(path, None);
    let text = std::fs::read_to_string(path)
        .map_err(|error| wrong(format!("cannot be read ({error})")))?;
    let document = Document::parse(text.as_str()).map_err(|error| wrong(error.message().into()))?;
    let table = document.as_table().get("twin").and_then(Item::as_table);
    let table =
        table.ok_or_else(|| wrong("has no [twin]: it is no workload file of a twin".into()))?;
    from_table(table).map_err(|error| wrong(error.to_string()))
}

/// The model of a `[twin]` section.
///
/// # Errors
/// Unknown tables, other columns, rows that are illegal.
pub(crate) fn from_table(section: &Table) -> Result<Model> {
    let (mut span_bytes, mut tables) = (0, Tables::default());
    for (name, item) in section {
        if name == "span_bytes" {
            span_bytes = item.as_integer().and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
            continue;
        }
        let illegal = |problem: &str| {
            TraceError::new(format!("[twin.{name}] {problem}"))
                .with_legal("columns = \"...\" and rows = [[...], ...] of whole numbers")
        };
        let table = item.as_table().ok_or_else(|| illegal("is no table"))?;
        for (key, _) in table {
            if !["columns", "rows"].contains(&key) {
                return Err(unknown_name("key of a table of a twin", key, &["columns", "rows"]));
            }
        }
        let columns = table.get("columns").and_then(Item::as_str);
        let rows = table.get("rows").and_then(Item::as_array);
        let rows = rows.ok_or_else(|| illegal("has no rows"))?.iter().map(row);
        let rows = rows.collect::<Option<Vec<_>>>().ok_or_else(|| illegal("has a wrong row"))?;
        tables.take(name, columns.ok_or_else(|| illegal("has no columns"))?, rows)?;
    }
    Model::new(span_bytes, tables)
}

fn row(value: &Value) -> Option<Vec<u64>> {
    let number = |one: &Value| one.as_integer().and_then(|number| u64::try_from(number).ok());
    value.as_array()?.iter().map(number).collect()
}

impl Model {
    /// `[twin]` as it stands in a workload file.
    pub fn written(&self) -> String {
        format!("[twin]\nspan_bytes = {}\n{}", self.span_bytes, self.tables.written())
    }
}
