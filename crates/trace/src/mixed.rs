//! Files of one trace that are no trace of one kind: the odd one is named before it is read.

use crate::container;
use crate::detect::{self, Sample, is_skipped};
use crate::error::{Result, TraceError};
use crate::evidence::{self, Row};
use crate::filter::EventFilter;
use crate::formats;
use crate::formats::context::Context;
use crate::formats::format::{Format, TextFormat};
use crate::lines::exchange_separators;
use crate::options::{SizeUnit, TimeUnit};

/// Data lines that are looked at first: one of them has the form of the format but for odd files.
const LINES_LOOKED_AT: usize = 16;

/// What the first file of a trace was found to be, which all its files must be.
pub(crate) struct Same<'a> {
    pub(crate) format: &'static Format,
    pub(crate) context: &'a Context,
    /// Name of the first file.
    pub(crate) first: &'a str,
}

impl Same<'_> {
    /// Looks at the first bytes of another file; `whole` if these are all.
    ///
    /// # Errors
    /// An archive, another format, or other units where the data decided the first file's.
    pub(crate) fn check(&self, file: &str, head: &[u8], whole: bool) -> Result<()> {
        container::refuse(file, head)?;
        if let Some(other) = formats::binary_of(head).filter(|other| other.name != self.format.name)
        {
            return Err(self.odd(file, format!("is of the format {}", other.name)));
        }
        let Some(text) = self.format.text() else {
            return self.check_binary(file, head, whole);
        };
        let guessed = self.context.guessed;
        if !guessed.time && !guessed.size && self.fits(text, first_lines(head)) {
            return Ok(());
        }
        let sample = Sample::new(head, whole);
        if sample.is_empty() {
            return Ok(());
        }
        if self.fits(text, sample.lines()) {
            return self.check_units(file, &evidence::rows(text, sample.lines()), sample.whole);
        }
        Err(match detect::format_of(&sample) {
            // The same columns behind another separator.
            Some(other) if other.name == self.format.name => {
                self.odd(file, "has another separator between its columns".into())
            }
            Some(other) => self.odd(file, format!("is of the format {}", other.name)),
            None => self.odd(file, "is of no known format".into()),
        })
    }

    /// Of what is neither binary nor text of a known format the reader knows best what is wrong.
    fn check_binary(&self, file: &str, head: &[u8], whole: bool) -> Result<()> {
        if self.format.binary().is_some_and(|binary| (binary.recognises)(head)) {
            return Ok(());
        }
        match detect::format_of(&Sample::new(head, whole)) {
            Some(other) => Err(self.odd(file, format!("is of the format {}", other.name))),
            None => Ok(()),
        }
    }

    /// Has one of these lines the form of the format, or can it be read in it? A summary at the end
    /// of a capture is no request and may stand in a file of its own.
    fn fits<'l>(&self, text: &TextFormat, mut lines: impl Iterator<Item = &'l [u8]>) -> bool {
        let mut context = Context::new(self.context.scales, EventFilter::default());
        let mut fits = |line: &[u8]| (text.shape)(line) || (text.parse)(line, &mut context).is_ok();
        lines.any(|line| {
            if !self.context.semicolons {
                return fits(line);
            }
            let mut line = line.to_vec();
            exchange_separators(&mut line);
            fits(&line)
        })
    }

    /// Refuses a file whose data say other units than those of the first; data that say nothing do
    /// not contradict it.
    fn check_units(&self, file: &str, rows: &[Row], whole: bool) -> Result<()> {
        let (guessed, scales) = (self.context.guessed, self.context.scales);
        let time = TimeUnit::ALL.iter().find(|(_, unit)| unit.nanoseconds() == scales.time_ns);
        let (_, time) = time.expect("a unit of the table");
        if guessed.time
            && !evidence::times_are_one(rows)
            && let Ok((unit, _)) = evidence::time_unit(rows, whole)
            && unit != *time
        {
            return Err(self.odd(file, format!("has times in {} by its data", unit.name())));
        }
        if guessed.size
            && let Ok((unit, _)) = evidence::size_unit(rows, *time, false)
            && unit.bytes() != scales.size_bytes
        {
            return Err(self.odd(file, format!("has sizes in {} by its data", unit.name())));
        }
        Ok(())
    }

    #[cold]
    fn odd(&self, file: &str, what: String) -> TraceError {
        let Self { format, context: Context { scales, guessed, .. }, first } = self;
        let time = TimeUnit::ALL.iter().find(|(_, unit)| unit.nanoseconds() == scales.time_ns);
        let size = SizeUnit::ALL.iter().find(|(_, unit)| unit.bytes() == scales.size_bytes);
        let mut like = format!("of the format {}", format.name);
        if let Some((name, _)) = time.filter(|_| guessed.time) {
            like += &format!(", times in {name}");
        }
        if let Some((name, _)) = size.filter(|_| guessed.size) {
            like += &format!(", sizes in {name}");
        }
        let units = guessed.time || guessed.size;
        let stated =
            if units { ", or --time-unit and --size-unit where all are alike" } else { "" };
        TraceError::new(format!("{what}, but {first}, the first file of the trace, is {like}"))
            .with_legal(format!("files of one kind, the others apart{stated}"))
            .at(file, Some(1))
    }
}

/// The first data lines of a file.
fn first_lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let lines = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
    lines.filter(|line| !is_skipped(line)).take(LINES_LOOKED_AT)
}
