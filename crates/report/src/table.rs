//! A table of many rows with a column per scalar, as CSV and as Parquet. Columns are found in a
//! first pass over the rows and written in a second, so that the rows need not fit the memory.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriterImpl;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};
use serde_json::Value;

use crate::flatten::Flat;

/// Rows of a row group, which are held in memory before they are written.
const GROUP_ROWS: usize = 1024;

/// What the cells of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Nothing but absent ones so far.
    Empty,
    Flag,
    Integer,
    Real,
    Word,
}

impl Kind {
    fn of(value: &Value) -> Self {
        match value {
            Value::Null => Kind::Empty,
            Value::Bool(_) => Kind::Flag,
            Value::Number(number) if number.as_i64().is_some() => Kind::Integer,
            Value::Number(_) => Kind::Real,
            Value::String(_) | Value::Array(_) | Value::Object(_) => Kind::Word,
        }
    }

    /// What holds both.
    fn with(self, other: Kind) -> Self {
        match (self, other) {
            (Kind::Empty, kind) | (kind, Kind::Empty) => kind,
            (one, two) if one == two => one,
            (Kind::Integer, Kind::Real) | (Kind::Real, Kind::Integer) => Kind::Real,
            _ => Kind::Word,
        }
    }
}

/// The columns of a table.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    names: Vec<String>,
    kinds: HashMap<String, Kind>,
}

impl Columns {
    /// Takes in the columns of a row; those that are new come behind their neighbours.
    pub fn add(&mut self, row: &Flat) {
        let mut before: Option<&String> = None;
        for (name, value) in row {
            let kind = Kind::of(value);
            match self.kinds.get_mut(name) {
                Some(known) => *known = known.with(kind),
                None => {
                    let known = |name| self.names.iter().position(|other| other == name);
                    let at = before.and_then(known).map_or(0, |at| at + 1);
                    self.names.insert(at, name.clone());
                    self.kinds.insert(name.clone(), kind);
                }
            }
            before = Some(name);
        }
    }

    /// Names, in the order of the table.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    fn kind(&self, name: &str) -> Kind {
        self.kinds.get(name).copied().unwrap_or(Kind::Empty)
    }
}

/// Writes rows of the columns as CSV: a cell that a row does not have is empty.
///
/// # Errors
/// The file cannot be written, or a row cannot be had.
pub fn write_csv(
    file: &mut File,
    columns: &Columns,
    rows: impl Iterator<Item = io::Result<Flat>>,
) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(file);
    table.write_record(&columns.names)?;
    for row in rows {
        let row = row?;
        table.write_record(columns.names.iter().map(|name| word(row.get(name))))?;
    }
    table.flush()
}

/// Writes rows of the columns as Parquet: integers of 64 bits, doubles, booleans and strings; a
/// cell that a row does not have is null.
///
/// # Errors
/// The file cannot be written, or a row cannot be had.
pub fn write_parquet(
    file: &mut File,
    columns: &Columns,
    rows: impl Iterator<Item = io::Result<Flat>>,
) -> io::Result<()> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .build();
    let mut writer = SerializedFileWriter::new(file, schema(columns)?, Arc::new(properties))?;
    // By column: rows would hold every name again.
    let mut group: Vec<Vec<Value>> = vec![Vec::new(); columns.names.len()];
    let mut held = 0;
    for row in rows {
        let mut row = row?;
        for (name, cells) in columns.names.iter().zip(&mut group) {
            cells.push(row.get_mut(name).map(Value::take).unwrap_or_default());
        }
        held += 1;
        if held == GROUP_ROWS {
            write_group(&mut writer, columns, &mut group)?;
            held = 0;
        }
    }
    if held > 0 {
        write_group(&mut writer, columns, &mut group)?;
    }
    writer.close()?;
    Ok(())
}

fn schema(columns: &Columns) -> Result<TypePtr, ParquetError> {
    let field = |name: &String| {
        let (physical, logical) = match columns.kind(name) {
            Kind::Flag => (Physical::BOOLEAN, None),
            Kind::Integer => (Physical::INT64, None),
            Kind::Real => (Physical::DOUBLE, None),
            Kind::Word | Kind::Empty => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let built = Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical)
            .build()?;
        Ok(Arc::new(built))
    };
    let fields: Result<Vec<TypePtr>, ParquetError> = columns.names.iter().map(field).collect();
    Ok(Arc::new(Type::group_type_builder("runs").with_fields(fields?).build()?))
}

fn write_group(
    writer: &mut SerializedFileWriter<&mut File>,
    columns: &Columns,
    rows: &mut [Vec<Value>],
) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    for (name, held) in columns.names.iter().zip(rows) {
        let mut column = group.next_column()?.expect("the schema has a field per column");
        let cells = held.iter().map(|value| Some(value).filter(|value| !value.is_null()));
        match columns.kind(name) {
            Kind::Flag => put(column.typed::<BoolType>(), cells, Value::as_bool)?,
            Kind::Integer => put(column.typed::<Int64Type>(), cells, Value::as_i64)?,
            Kind::Real => put(column.typed::<DoubleType>(), cells, Value::as_f64)?,
            Kind::Word | Kind::Empty => {
                let text = |value: &Value| Some(ByteArray::from(word(Some(value)).as_str()));
                put(column.typed::<ByteArrayType>(), cells, text)?;
            }
        }
        column.close()?;
        held.clear();
    }
    group.close()?;
    Ok(())
}

/// Present values, and for each cell whether it is one.
fn put<'a, T: DataType>(
    column: &mut ColumnWriterImpl<'_, T>,
    cells: impl Iterator<Item = Option<&'a Value>>,
    read: impl Fn(&Value) -> Option<T::T>,
) -> Result<(), ParquetError> {
    let (mut values, mut present) = (Vec::new(), Vec::new());
    for cell in cells {
        let value = cell.and_then(&read);
        present.push(i16::from(value.is_some()));
        values.extend(value);
    }
    column.write_batch(&values, Some(&present), None)?;
    Ok(())
}

fn word(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    use parquet::record::Field;
    use serde_json::json;
    use std::io::{Read as _, Seek as _};

    fn rows() -> Vec<Flat> {
        let rows = json!([
            {"scheme": "dftl", "waf": 2, "steady": true, "reason": null},
            {"scheme": "fast", "gc": 7, "waf": 2.5, "steady": null, "reason": null},
            {"scheme": "last", "waf": null, "mixed": 1},
            {"scheme": "last", "mixed": "x"},
        ]);
        rows.as_array().unwrap().iter().map(|row| row.as_object().unwrap().clone()).collect()
    }

    fn columns() -> Columns {
        let mut columns = Columns::default();
        rows().iter().for_each(|row| columns.add(row));
        columns
    }

    #[test]
    fn new_columns_stand_beside_their_neighbours() {
        assert_eq!(columns().names(), ["scheme", "gc", "waf", "mixed", "steady", "reason"]);
    }

    #[test]
    fn csv_has_empty_cells_where_nothing_is() {
        let mut file = tempfile();
        write_csv(&mut file, &columns(), rows().into_iter().map(Ok)).unwrap();
        let mut text = String::new();
        file.rewind().unwrap();
        file.read_to_string(&mut text).unwrap();
        let expected = "scheme,gc,waf,mixed,steady,reason\ndftl,,2,,true,\nfast,7,2.5,,,\n\
                        last,,,1,,\nlast,,,x,,\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn parquet_has_the_kind_that_holds_all_cells() {
        let mut file = tempfile();
        write_parquet(&mut file, &columns(), rows().into_iter().map(Ok)).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let read: Vec<Vec<Field>> = reader
            .get_row_iter(None)
            .unwrap()
            .map(|row| row.unwrap().get_column_iter().map(|(_, field)| field.clone()).collect())
            .collect();
        let text = |text: &str| Field::Str(text.to_owned());
        assert_eq!(
            read[0],
            [
                text("dftl"),
                Field::Null,
                Field::Double(2.0),
                Field::Null,
                Field::Bool(true),
                Field::Null
            ]
        );
        assert_eq!(read[1][1..3], [Field::Long(7), Field::Double(2.5)]);
        assert_eq!((&read[2][3], &read[3][3]), (&text("1"), &text("x")));
    }

    fn tempfile() -> File {
        tempfile::tempfile().unwrap()
    }
}
