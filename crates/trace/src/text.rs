//! Events of a text trace: lines of one part after the other.

use std::sync::Arc;

use crate::detect::is_skipped;
use crate::error::{Result, TraceError};
use crate::events::{Event, Events, Files};
use crate::formats::context::Context;
use crate::formats::format::{Format, TextFormat};
use crate::formats::line::Line;
use crate::lines::{LINE_BYTES_MAX, LineError, Lines};
use crate::order::Placed;
use crate::record::Place;
use crate::source::Text;
use crate::summary::DropReason;

/// A reader of lines.
pub(crate) struct TextEvents {
    files: Files,
    names: Arc<[String]>,
    lines: Lines<Text>,
    format: &'static Format,
    text: &'static TextFormat,
    context: Context,
    reading: Place,
    /// Was a line of data or a header seen in this part?
    data_seen: bool,
}

impl TextEvents {
    /// Reads from the start of the first file.
    pub(crate) fn new(
        mut files: Files,
        context: Context,
        format: &'static Format,
        text: &'static TextFormat,
    ) -> Result<Self> {
        let first = files.parts.start;
        let lines = Lines::new(files.open(first)?);
        let names = Arc::clone(&files.names);
        let (reading, data_seen) = (Place { part: first as u32, line: 0 }, false);
        Ok(Self { files, names, lines, format, text, context, reading, data_seen })
    }

    /// Opens the next part, if there is one. Names and waits go on from the part before.
    fn next_part(&mut self) -> Result<bool> {
        let part = self.reading.part as usize + 1;
        if part >= self.files.parts.end {
            return Ok(false);
        }
        self.lines = Lines::new(self.files.open(part)?);
        self.reading = Place { part: part as u32, line: 0 };
        self.data_seen = false;
        Ok(true)
    }

    fn file(&self) -> &str {
        &self.names[self.reading.part as usize]
    }

    #[cold]
    fn line_error(&self, error: &LineError) -> TraceError {
        let (problem, legal) = match error {
            LineError::Io(error) => (
                format!("reading stopped here ({error}): truncated or corrupt file"),
                "a complete file, plain or compressed with gzip, bzip2, zstd or xz".to_owned(),
            ),
            LineError::TooLong => {
                ("line without an end".into(), format!("lines of at most {LINE_BYTES_MAX} bytes"))
            }
            LineError::Nul => ("NUL byte in line".into(), "text".into()),
        };
        TraceError::new(problem).with_legal(legal).at(self.file(), Some(self.lines.number()))
    }
}

impl Events for TextEvents {
    #[inline]
    fn next_event(&mut self) -> Result<Option<Event>> {
        let line = loop {
            match self.lines.next() {
                Ok(Some(line)) => break line,
                Ok(None) => {}
                Err(error) => return Err(self.line_error(&error)),
            }
            if !self.next_part()? {
                return Ok(None);
            }
        };
        self.reading.line += 1;
        let fault = match (self.text.parse)(line, &mut self.context) {
            Ok(Line::Request(record)) => {
                self.data_seen = true;
                return Ok(Some(Event::Request(Placed { record, place: self.reading })));
            }
            Ok(Line::Other(reason)) => {
                self.data_seen = true;
                return Ok(Some(Event::Dropped(reason, self.reading)));
            }
            Err(fault) => fault,
        };
        if is_skipped(line) {
            let blank = line.trim_ascii().is_empty();
            let reason = if blank { DropReason::Blank } else { DropReason::Comment };
            return Ok(Some(Event::Dropped(reason, self.reading)));
        }
        if !self.data_seen && self.format.is_header(line) {
            self.data_seen = true;
            return Ok(Some(Event::Header));
        }
        Err(TraceError::new(fault.problem)
            .with_value(&fault.value)
            .with_legal(fault.legal)
            .at(self.file(), Some(self.reading.line)))
    }

    fn place(&self) -> Place {
        self.reading
    }
}
