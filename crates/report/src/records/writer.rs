//! What takes rows.

use std::io;

use super::row::Cell;

/// Takes rows and makes a file of them.
pub trait RecordWriter: Send {
    /// Takes one row: a cell per column, in the order of [`super::COLUMNS`].
    ///
    /// # Errors
    /// When the file cannot take it.
    fn write(&mut self, cells: &[Cell]) -> io::Result<()>;

    /// Writes what is still held back. Without this call the file is not complete.
    ///
    /// # Errors
    /// When the file cannot take it.
    fn finish(self: Box<Self>) -> io::Result<()>;
}
