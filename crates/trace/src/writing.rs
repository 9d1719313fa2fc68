//! Records into the compact binary, one by one, as whoever receives them from elsewhere wants it.

use std::io::{self, Write};

use crate::formats::compact;
use crate::record::Record;

/// A trace under way, in the compact binary (`.ftb`).
pub struct TraceWriter<W: Write> {
    inner: compact::Writer<W>,
}

impl<W: Write> TraceWriter<W> {
    /// Begins; times count from 0.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn new(out: W) -> io::Result<Self> {
        Ok(TraceWriter { inner: compact::Writer::new(out, 0, false)? })
    }

    /// One record more, in order of time.
    ///
    /// # Errors
    /// Those of what is written to.
    pub fn write(&mut self, record: &Record) -> io::Result<()> {
        self.inner.write(record)
    }

    /// Ends it: without that no reader takes it.
    ///
    /// # Errors
    /// Those of what is written to.
    pub fn finish(self) -> io::Result<W> {
        self.inner.finish()
    }
}
