//! Events of a trace in the order of its files: what a reader of text and one of binary records
//! have in common.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

use crate::compression::Compression;
use crate::error::{Result, TraceError};
use crate::order::Placed;
use crate::record::{Place, Record};
use crate::source::{Source, Text};
use crate::summary::DropReason;

/// What was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A request, its time not yet rebased.
    Request(Placed),
    /// A line or record that is no request.
    Dropped(DropReason, Place),
    /// A line that names the columns.
    Header,
}

/// A stream of events. `Place::line` counts lines of text or records, from 1, in each file.
pub(crate) trait Events {
    /// The next event, or `None` at the end of the last file.
    ///
    /// # Errors
    /// Bad input, with file and place.
    fn next_event(&mut self) -> Result<Option<Event>>;

    /// Where reading has come to.
    fn place(&self) -> Place;
}

/// Records in order of time, many at a time: one call through a table for hundreds of them.
pub(crate) trait Batches {
    /// Fills `batch` from its start with the records that follow; returns how many, 0 only at the
    /// end, and the place of the first; the others stand on the lines behind it.
    ///
    /// # Errors
    /// Bad input, with file and place, once every record before it was handed out.
    fn next_batch(&mut self, batch: &mut [Record]) -> Result<(usize, Place)>;

    /// When the first request of all happened, where reading begins behind it.
    fn start_ns(&self) -> Option<u64> {
        None
    }

    /// Where reading has come to.
    fn place(&self) -> Place;
}

/// The files of a trace as a binary reader gets them: the first is open, because detection has
/// looked at it. A reader may take them one after the other or all at the same time.
pub(crate) struct Files {
    pub(crate) source: Arc<Source>,
    /// Of all files, also of those that are not to be read.
    pub(crate) names: Arc<[String]>,
    /// The numbers of those to be read.
    pub(crate) parts: Range<usize>,
    /// The first of those, where it is open already.
    pub(crate) first: Option<Text>,
}

impl Files {
    /// Only the file of that number.
    pub(crate) fn only(&self, part: usize) -> Self {
        let (source, names) = (Arc::clone(&self.source), Arc::clone(&self.names));
        Self { source, names, parts: part..part + 1, first: None }
    }

    /// The file of that number, from its start.
    ///
    /// # Errors
    /// It cannot be opened or is compressed in a way that cannot be read.
    pub(crate) fn open(&mut self, part: usize) -> Result<Text> {
        let start = self.parts.start;
        match self.first.take_if(|_| part == start) {
            Some(text) => Ok(text),
            None => Text::open(&self.names[part], self.source.open_stored(part)?),
        }
    }

    /// The file of that number once more, if it is stored plain and can be entered anywhere.
    pub(crate) fn plain(&self, part: usize) -> Option<File> {
        let Source::Parts(parts) = &*self.source else {
            return None;
        };
        let mut file = File::open(&parts[part]).ok()?;
        let mut head = [0; 8];
        let is_file = file.metadata().is_ok_and(|metadata| metadata.is_file());
        file.read_exact(&mut head).ok()?;
        (is_file && Compression::of(&head) == Compression::None).then_some(file)
    }
}

/// Reads until the buffer is full or the file ends.
pub(crate) fn fill(bytes: &mut impl Read, buffer: &mut [u8]) -> Result<usize> {
    let (filled, outcome) = fill_as_far(bytes, buffer);
    outcome.map(|()| filled)
}

/// The same, with what was read before a fault.
pub(crate) fn fill_as_far(bytes: &mut impl Read, buffer: &mut [u8]) -> (usize, Result<()>) {
    let mut filled = 0;
    while filled < buffer.len() {
        match bytes.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                let problem = format!("reading stopped here ({error}): truncated or corrupt file");
                return (filled, Err(TraceError::new(problem).with_legal("a complete file")));
            }
        }
    }
    (filled, Ok(()))
}

/// Reads a record of fixed size; `false` at the end of the file.
///
/// # Errors
/// A file that ends within it.
pub(crate) fn fill_record(bytes: &mut impl Read, record: &mut [u8]) -> Result<bool> {
    let read = fill(bytes, record)?;
    if read > 0 && read < record.len() {
        let problem = format!("file ends within a record ({read} of {} bytes)", record.len());
        return Err(TraceError::new(problem).with_legal("a complete file"));
    }
    Ok(read > 0)
}
