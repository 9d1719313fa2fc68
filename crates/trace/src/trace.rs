//! A trace as it is stored: one or more files, or standard input, and how they are read.

use std::sync::{Arc, Mutex, PoisonError};

use crate::decoded::Decoded;
use crate::detect::{self, Detection};
use crate::digest::{self, SharedDigest};
use crate::error::{Result, TraceError};
use crate::events::Files;
use crate::formats::compact;
use crate::options::Options;
use crate::records::Records;
use crate::source::{Source, Text};
use crate::synthetic::Synthetic;

/// A trace whose format is known.
pub(crate) struct Trace {
    source: Arc<Source>,
    names: Arc<[String]>,
    options: Options,
    detection: Detection,
    compression: &'static str,
    /// The first part as it was opened for detection; standard input has no second opening.
    opened: Mutex<Option<Text>>,
    /// Fed while standard input is read, because it cannot be read again for its digest.
    digest: SharedDigest,
    /// Its records, where they were read before.
    decoded: Option<Arc<Decoded>>,
}

impl Trace {
    /// Opens the first of its files and finds its format out.
    ///
    /// # Errors
    /// Missing or unreadable files, unknown formats, units in doubt.
    pub fn open(text: &str, options: &Options) -> Result<Self> {
        let source = Source::find(text).map_err(|error| Synthetic::hint(text, error))?;
        let names: Arc<[String]> = source.names().into();
        let digest = SharedDigest::default();
        let stored = source.open_stored(0)?;
        let stored = if source == Source::StandardInput { digest.tee(stored) } else { stored };
        let first = Text::open(&names[0], stored)?;
        let detection = detect::of_file(&names[0], &first, options)?;
        let format = detection.format;
        format
            .takes
            .check(format.name, &options.filter.events)
            .and_then(|()| format.check_parts(options.parts, names.len()))
            .and_then(|()| format.check_skip_bad(options.skip_bad))
            .map_err(|error| error.at(names[0].clone(), None))?;
        Ok(Trace {
            source: source.into(),
            names,
            options: options.clone(),
            detection,
            compression: first.compression.name(),
            opened: Mutex::new(Some(first)),
            digest,
            decoded: None,
        })
    }

    /// Only standard input cannot.
    pub fn can_be_read_again(&self) -> bool {
        *self.source != Source::StandardInput
    }

    /// What was found out about it.
    pub fn detection(&self) -> &Detection {
        &self.detection
    }

    /// Name of its format.
    pub fn format_name(&self) -> &'static str {
        self.detection.format.name
    }

    /// How its first file is compressed.
    pub fn compression(&self) -> &'static str {
        self.compression
    }

    /// Only this many requests are read.
    pub fn head(&self) -> Option<u64> {
        self.options.head
    }

    /// From now on its records are these.
    pub fn hold(&mut self, decoded: Arc<Decoded>) {
        self.decoded = Some(decoded);
    }

    /// Its records, from the start.
    ///
    /// # Errors
    /// Files that cannot be opened any more; standard input for a second time.
    pub fn records(&self) -> Result<Records> {
        if let Some(decoded) = &self.decoded {
            return Ok(Records::replayed(Arc::clone(decoded)));
        }
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner).take();
        let first = match opened {
            Some(text) => text,
            None if !self.can_be_read_again() => return Err(needs_second_pass()),
            None => Text::open(&self.names[0], self.source.open_stored(0)?)?,
        };
        let (source, names) = (Arc::clone(&self.source), Arc::clone(&self.names));
        let files = Files { source, parts: 0..names.len(), names, first: Some(first) };
        Records::of_trace(files, &self.detection, self.options.clone())
    }

    /// Were its units numbered by file or by name?
    ///
    /// # Errors
    /// Files that cannot be opened any more.
    pub fn units_are_given(&self) -> Result<bool> {
        let format = self.detection.format;
        if format.name != compact::FORMAT.name {
            return Ok(format.units_are_given());
        }
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if opened.as_ref().is_some_and(|first| compact::units_are_given(first.head())) {
            return Ok(true);
        }
        for (part, name) in self.names.iter().enumerate() {
            if self.can_be_read_again() {
                let text = Text::open(name, self.source.open_stored(part)?)?;
                if compact::units_are_given(text.head()) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Digest of the raw bytes of all parts as stored; `noted` is told of them and may end the
    /// pass.
    ///
    /// # Errors
    /// Files that cannot be read, and those of `noted`.
    pub fn sha256<E: From<TraceError>>(
        &self,
        noted: &mut impl FnMut(u64) -> std::result::Result<(), E>,
    ) -> std::result::Result<String, E> {
        if self.can_be_read_again() {
            return digest::of_source(&self.source, noted);
        }
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        if !opened {
            // The reader may have stopped early (`--head`, trailing bytes): the rest counts too.
            let mut rest = self.digest.tee(self.source.open_stored(0)?);
            digest::drain(&mut rest, "-", noted)?;
        }
        Ok(self.digest.finish())
    }
}

/// What a second pass over standard input meets.
pub(crate) fn needs_second_pass() -> TraceError {
    TraceError::new("standard input can be read only once, and a second pass is needed")
        .with_legal("a file, or --address strict or modulo with one unit and a stated capacity")
        .at("-", None)
}
