//! Events of a text trace: lines of one part after the other.

use std::sync::Arc;

use crate::detect::is_skipped;
use crate::error::{Result, TraceError};
use crate::events::{Event, Events, Files};
use crate::formats::context::Context;
use crate::formats::format::{Format, TextFormat};
use crate::formats::line::Line;
use crate::lines::{LINE_BYTES_MAX, LineError, Lines};
use crate::mixed::Same;
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
        let lines = begin(&mut files, first, &context, format)?;
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
        self.lines = begin(&mut self.files, part, &self.context, self.format)?;
        self.reading = Place { part: part as u32, line: 0 };
        self.data_seen = false;
        Ok(true)
    }

    fn file(&self) -> &str {
        &self.names[self.reading.part as usize]
    }

    /// A line that cannot be read is skipped, if so many are allowed.
    #[cold]
    fn skip(&self, error: TraceError) -> Result<Option<Event>> {
        self.context.bad_lines.skip(error, self.reading)?;
        Ok(Some(Event::Dropped(DropReason::Malformed, self.reading)))
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

/// Opens a file; of the others than the first it is seen to that they are of its format.
fn begin(
    files: &mut Files,
    part: usize,
    context: &Context,
    format: &'static Format,
) -> Result<Lines<Text>> {
    let text = files.open(part)?;
    if part > 0 {
        let whole = text.head_is_whole();
        let same = Same { format, context, first: &files.names[0] };
        same.check(&files.names[part], text.head(), whole)?;
    }
    Ok(Lines::with_separators(text, context.semicolons))
}

impl Events for TextEvents {
    #[inline]
    fn next_event(&mut self) -> Result<Option<Event>> {
        let line = loop {
            match self.lines.next() {
                Ok(Some(line)) => break line,
                Ok(None) => {}
                Err(LineError::Nul) => {
                    self.reading.line += 1;
                    return self.skip(self.line_error(&LineError::Nul));
                }
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
        self.skip(
            TraceError::new(fault.problem)
                .with_value(&self.context.as_written(fault.value))
                .with_legal(fault.legal)
                .at(self.file(), Some(self.reading.line)),
        )
    }

    fn place(&self) -> Place {
        self.reading
    }
}
