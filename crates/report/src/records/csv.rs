//! Records as CSV: a heading, then a line per request.

use std::fs::File;
use std::io;

use super::{COLUMNS, Cell, RecordWriter};

/// Held back before it is written.
const BUFFER_BYTES: usize = 1 << 16;

struct CsvRecords {
    table: csv::Writer<File>,
    /// Numbers become text in here, so that no row allocates.
    text: String,
}

/// Writes the heading.
pub(super) fn start(file: File) -> io::Result<Box<dyn RecordWriter>> {
    let mut table = csv::WriterBuilder::new().buffer_capacity(BUFFER_BYTES).from_writer(file);
    table.write_record(COLUMNS.iter().map(|column| &column.name))?;
    Ok(Box::new(CsvRecords { table, text: String::new() }))
}

impl RecordWriter for CsvRecords {
    fn write(&mut self, cells: &[Cell]) -> io::Result<()> {
        use std::fmt::Write as _;
        for cell in cells {
            self.text.clear();
            match cell {
                Cell::Integer(number) => write!(self.text, "{number}"),
                Cell::Real(number) => write!(self.text, "{number}"),
                Cell::Word(word) => self.text.write_str(word),
            }
            .expect("a string takes every text");
            self.table.write_field(&self.text)?;
        }
        self.table.write_record(None::<&[u8]>)?;
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.table.flush()
    }
}
