//! Records as Parquet: a column of 64-bit integers, doubles or strings for each heading. `parquet`
//! without `arrow` writes them.

use std::fs::File;
use std::io;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};

use super::{COLUMNS, Cell, Kind, RecordWriter};

/// Rows of a row group: what is held in memory (some 25 MB) before it is written. The footer keeps
/// a few kilobytes for each group that was written.
const GROUP_ROWS: usize = 1 << 16;

/// The rows of a group that are not written yet, by column.
enum Values {
    Integers(Vec<i64>),
    Reals(Vec<f64>),
    Words(Vec<ByteArray>),
}

struct ParquetRecords {
    file: SerializedFileWriter<File>,
    columns: Vec<Values>,
    rows: usize,
}

/// Writes the head of the file.
pub(super) fn start(file: File) -> io::Result<Box<dyn RecordWriter>> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .build();
    let file = SerializedFileWriter::new(file, schema()?, Arc::new(properties))?;
    let columns = COLUMNS
        .iter()
        .map(|column| match column.kind {
            Kind::Integer => Values::Integers(Vec::new()),
            Kind::Real => Values::Reals(Vec::new()),
            Kind::Word => Values::Words(Vec::new()),
        })
        .collect();
    Ok(Box::new(ParquetRecords { file, columns, rows: 0 }))
}

fn schema() -> Result<TypePtr, ParquetError> {
    let field = |(name, kind): (&str, Kind)| {
        let (physical, logical) = match kind {
            Kind::Integer => (Physical::INT64, None),
            Kind::Real => (Physical::DOUBLE, None),
            Kind::Word => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let built = Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::REQUIRED)
            .with_logical_type(logical)
            .build()?;
        Ok(Arc::new(built))
    };
    let fields: Result<Vec<TypePtr>, ParquetError> =
        COLUMNS.iter().map(|column| field((&column.name, column.kind))).collect();
    Ok(Arc::new(Type::group_type_builder("requests").with_fields(fields?).build()?))
}

impl ParquetRecords {
    fn write_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.file.next_row_group()?;
        for values in &mut self.columns {
            let mut column = group.next_column()?.expect("the schema has a column per value list");
            match values {
                Values::Integers(list) => {
                    column.typed::<Int64Type>().write_batch(list, None, None)?;
                    list.clear();
                }
                Values::Reals(list) => {
                    column.typed::<DoubleType>().write_batch(list, None, None)?;
                    list.clear();
                }
                Values::Words(list) => {
                    column.typed::<ByteArrayType>().write_batch(list, None, None)?;
                    list.clear();
                }
            }
            column.close()?;
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }
}

impl RecordWriter for ParquetRecords {
    fn write(&mut self, cells: &[Cell]) -> io::Result<()> {
        assert_eq!(cells.len(), self.columns.len(), "a cell per column");
        for (values, cell) in self.columns.iter_mut().zip(cells) {
            match (values, cell) {
                (Values::Integers(list), Cell::Integer(number)) => {
                    let number = i64::try_from(*number);
                    list.push(
                        number.map_err(|_| {
                            io::Error::other("a number of a request exceeds 2^63 - 1")
                        })?,
                    );
                }
                (Values::Reals(list), Cell::Real(number)) => list.push(*number),
                (Values::Words(list), Cell::Word(word)) => list.push(ByteArray::from(*word)),
                _ => panic!("the kinds of cells are those of the columns"),
            }
        }
        self.rows += 1;
        if self.rows == GROUP_ROWS {
            self.write_group()?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        if self.rows > 0 {
            self.write_group()?;
        }
        self.file.close()?;
        Ok(())
    }
}
