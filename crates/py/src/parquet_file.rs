//! Files of Parquet that ftlab wrote (rows of requests, sweeps), column by column, so that a file
//! of millions of rows costs the memory of the columns that are asked for.

use std::fs::File;
use std::path::Path;

use ftlab_lab::{Error, Result};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader as _, SerializedFileReader};

use crate::tables::Cells;

fn cannot(path: &Path, error: &dyn std::fmt::Display) -> Error {
    Error::Run(format!("{} cannot be read ({error})", path.display()))
}

fn open(path: &Path) -> Result<SerializedFileReader<File>> {
    let file = File::open(path).map_err(|error| cannot(path, &error))?;
    SerializedFileReader::new(file).map_err(|error| cannot(path, &error))
}

/// Names of the columns, and the number of rows.
///
/// # Errors
/// [`Error::Run`]: a file that cannot be read.
pub fn shape(path: &Path) -> Result<(Vec<String>, usize)> {
    let file = open(path)?;
    let data = file.metadata().file_metadata();
    let names = data.schema_descr().columns().iter().map(|column| column.name().to_owned());
    Ok((names.collect(), usize::try_from(data.num_rows()).unwrap_or(0)))
}

/// One column; whole numbers of which some are absent become real ones.
///
/// # Errors
/// [`Error::Run`]: a file that cannot be read; [`Error::Usage`]: no column of that name.
pub fn column(path: &Path, name: &str) -> Result<Cells> {
    let file = open(path)?;
    let schema = file.metadata().file_metadata().schema_descr();
    let Some(at) = schema.columns().iter().position(|column| column.name() == name) else {
        let names: Vec<&str> = schema.columns().iter().map(|column| column.name()).collect();
        return Err(Error::unknown("column", name, &names));
    };
    read(&file, at).map_err(|error| cannot(path, &error))
}

/// What the column has of each type, of which it has but one.
#[derive(Default)]
struct Found {
    flags: Vec<Option<bool>>,
    whole: Vec<Option<i64>>,
    real: Vec<Option<f64>>,
    words: Vec<Option<String>>,
}

fn read(file: &SerializedFileReader<File>, at: usize) -> std::result::Result<Cells, ParquetError> {
    let mut found = Found::default();
    for group in 0..file.num_row_groups() {
        let group = file.get_row_group(group)?;
        let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        match group.get_column_reader(at)? {
            ColumnReader::BoolColumnReader(own) => take(own, rows, &mut found.flags, |one| one)?,
            ColumnReader::Int64ColumnReader(own) => take(own, rows, &mut found.whole, |one| one)?,
            ColumnReader::DoubleColumnReader(own) => take(own, rows, &mut found.real, |one| one)?,
            ColumnReader::ByteArrayColumnReader(own) => {
                let word = |one: parquet::data_type::ByteArray| {
                    String::from_utf8_lossy(one.data()).into_owned()
                };
                take(own, rows, &mut found.words, word)?;
            }
            _ => return Err(ParquetError::General("a type that ftlab does not write".to_owned())),
        }
    }
    Ok(found.cells())
}

/// Takes the rows of a group.
fn take<T: DataType, U>(
    mut column: ColumnReaderImpl<T>,
    rows: usize,
    to: &mut Vec<Option<U>>,
    made: impl Fn(T::T) -> U,
) -> std::result::Result<(), ParquetError> {
    let (mut levels, mut values) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
    let mut read = 0;
    while read < rows {
        let (records, _, _) =
            column.read_records(rows - read, Some(&mut levels), None, &mut values)?;
        if records == 0 {
            return Err(ParquetError::EOF("fewer rows than it says".to_owned()));
        }
        read += records;
    }
    let mut values = values.into_iter();
    if levels.is_empty() {
        to.extend(values.map(|value| Some(made(value))));
    } else {
        let cell = |level: i16| if level > 0 { values.next().map(&made) } else { None };
        to.extend(levels.into_iter().map(cell));
    }
    Ok(())
}

impl Found {
    fn cells(self) -> Cells {
        if !self.words.is_empty() {
            return Cells::Word(self.words);
        }
        if !self.real.is_empty() {
            return Cells::Real(self.real.into_iter().map(|one| one.unwrap_or(f64::NAN)).collect());
        }
        if !self.flags.is_empty() {
            let words = || self.flags.iter().map(|one| one.map(|yes| yes.to_string())).collect();
            let flags: Option<Vec<u8>> = self.flags.iter().map(|one| one.map(u8::from)).collect();
            return flags.map_or_else(|| Cells::Word(words()), Cells::Flag);
        }
        let whole: Option<Vec<i64>> = self.whole.iter().copied().collect();
        let real = || self.whole.iter().map(|one| one.map_or(f64::NAN, |one| one as f64)).collect();
        whole.map_or_else(|| Cells::Real(real()), Cells::Whole)
    }
}
