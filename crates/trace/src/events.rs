//! Events of a trace in the order of its files: what a reader of text and one of binary records
//! have in common.

use crate::error::Result;
use crate::formats::{Context, Format};
use crate::order::Placed;
use crate::record::Place;
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

/// The files of a trace as a binary reader gets them: the first is open, because detection has
/// looked at it. A reader may take them one after the other or all at the same time.
pub(crate) struct Files {
    pub(crate) source: Source,
    pub(crate) names: std::sync::Arc<[String]>,
    pub(crate) first: Option<Text>,
}

impl Files {
    /// The file of that number, from its start.
    ///
    /// # Errors
    /// It cannot be opened or is compressed in a way that cannot be read.
    pub(crate) fn open(&mut self, part: usize) -> Result<Text> {
        match self.first.take_if(|_| part == 0) {
            Some(text) => Ok(text),
            None => Text::open(&self.names[part], self.source.open_stored(part)?),
        }
    }
}

/// Opens the files of a binary trace.
pub(crate) type OpenBinary = fn(Files, Context, &'static Format) -> Result<Box<dyn Events>>;
