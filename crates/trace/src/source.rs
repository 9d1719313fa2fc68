//! Where a trace's bytes come from: one file, the parts of a folder or glob, or standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::compression::{self, Compression};
use crate::error::{Result, TraceError};

/// Bytes of decompressed text looked at before a reader is chosen.
const HEAD_BYTES: usize = 128 << 10;

/// The files of a trace, in the order in which they are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// `-`: can be read once only.
    StandardInput,
    /// One or more parts, read one after the other.
    Parts(Vec<PathBuf>),
    /// Parts in memory, as the fuzz targets have them.
    Memory(Vec<Vec<u8>>),
}

impl Source {
    /// A path, a folder, a glob, the name that blktrace gave to the files of all CPUs, or `-`.
    /// Parts are ordered by name, numbers in names by value.
    pub(crate) fn find(text: &str) -> Result<Self> {
        if text == "-" {
            return Ok(Self::StandardInput);
        }
        let path = Path::new(text);
        match std::fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => folder(text, path),
            Ok(_) => Ok(Self::Parts(vec![path.to_owned()])),
            Err(error) if text.contains(['*', '?', '[']) => pattern(text, &error),
            // blktrace's own way to name the files of all CPUs.
            Err(error) if Path::new(&format!("{text}.blktrace.0")).exists() => {
                let name = glob::Pattern::escape(text);
                pattern(&format!("{name}.blktrace.*"), &error)
            }
            Err(error) => Err(cannot_open(text, &error)),
        }
    }

    /// Names of the parts as a user would write them.
    pub(crate) fn names(&self) -> Vec<String> {
        match self {
            Self::StandardInput => vec!["-".into()],
            Self::Parts(parts) => parts.iter().map(|part| part.display().to_string()).collect(),
            Self::Memory(parts) => (0..parts.len()).map(|part| part.to_string()).collect(),
        }
    }

    /// The stored bytes of one part.
    pub(crate) fn open_stored(&self, part: usize) -> Result<Box<dyn Read + Send>> {
        match self {
            Self::StandardInput => Ok(Box::new(io::stdin())),
            Self::Memory(parts) => Ok(Box::new(io::Cursor::new(parts[part].clone()))),
            Self::Parts(parts) => {
                let path = &parts[part];
                let name = path.display().to_string();
                let file = File::open(path).map_err(|error| cannot_open(&name, &error))?;
                let is_folder = file.metadata().is_ok_and(|metadata| metadata.is_dir());
                if is_folder {
                    return Err(TraceError::new("is a directory").at(name, None));
                }
                Ok(Box::new(file))
            }
        }
    }
}

fn cannot_open(name: &str, error: &io::Error) -> TraceError {
    TraceError::new(format!("cannot be opened ({error})"))
        .with_legal("a trace file, a folder or glob of parts, or - for standard input")
        .at(name, None)
}

fn folder(text: &str, path: &Path) -> Result<Source> {
    let unreadable = |error: io::Error| cannot_open(text, &error);
    let mut parts = Vec::new();
    for entry in std::fs::read_dir(path).map_err(unreadable)? {
        let part = entry.map_err(unreadable)?.path();
        let hidden = part.file_name().is_some_and(|name| name.as_encoded_bytes()[0] == b'.');
        if part.is_file() && !hidden {
            parts.push(part);
        }
    }
    in_order(parts).ok_or_else(|| {
        TraceError::new("is a directory without a single file")
            .with_legal("a trace file, or a folder that holds the parts of one trace")
            .at(text, None)
    })
}

fn pattern(text: &str, missing: &io::Error) -> Result<Source> {
    let paths = glob::glob(text).map_err(|error| {
        TraceError::new(format!("is no legal pattern ({error})")).at(text, None)
    })?;
    let parts = paths.filter_map(std::result::Result::ok).filter(|path| path.is_file()).collect();
    in_order(parts).ok_or_else(|| cannot_open(text, missing))
}

fn in_order(mut parts: Vec<PathBuf>) -> Option<Source> {
    parts.sort_by_cached_key(|part| natural_key(&part.display().to_string()));
    (!parts.is_empty()).then_some(Source::Parts(parts))
}

/// Text and numbers of a name in turn, so that part.10 follows part.9.
fn natural_key(name: &str) -> Vec<(String, u128, usize)> {
    let mut key = vec![(String::new(), 0u128, 0)];
    for character in name.chars() {
        let last = key.last_mut().expect("never empty");
        match character.to_digit(10) {
            Some(digit) => {
                last.1 = last.1.saturating_mul(10).saturating_add(u128::from(digit));
                last.2 += 1;
            }
            None if last.2 > 0 => key.push((character.to_string(), 0, 0)),
            None => last.0.push(character),
        }
    }
    key
}

/// One part, decompressed, its first bytes already at hand.
pub(crate) struct Text {
    pub(crate) compression: Compression,
    head: Vec<u8>,
    position: usize,
    rest: Box<dyn Read + Send>,
    failed: Option<io::Error>,
    ended: bool,
}

impl Text {
    /// Decompresses `stored` and reads its head. A read that fails is kept for the reader, which
    /// can name the line reached.
    pub(crate) fn open(name: &str, stored: Box<dyn Read + Send>) -> Result<Self> {
        let (compression, mut rest) = compression::open(stored).map_err(|error| {
            TraceError::new(format!("cannot be read ({error})")).at(name, Some(1))
        })?;
        let mut head = vec![0; HEAD_BYTES];
        let (mut filled, mut failed, mut ended) = (0, None, false);
        while filled < head.len() && !ended {
            match rest.read(&mut head[filled..]) {
                Ok(0) => ended = true,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    failed = Some(error);
                    ended = true;
                }
            }
        }
        head.truncate(filled);
        Ok(Self { compression, head, position: 0, rest, failed, ended })
    }

    /// The first bytes of the text.
    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    /// Is the head the whole text, read without a fault?
    pub(crate) fn head_is_whole(&self) -> bool {
        self.ended && self.failed.is_none()
    }

    /// Why reading stopped within the head, if it did.
    pub(crate) fn failure(&self) -> Option<&io::Error> {
        self.failed.as_ref()
    }
}

impl Read for Text {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let head = &self.head[self.position..];
        if !head.is_empty() {
            let count = head.len().min(buffer.len());
            buffer[..count].copy_from_slice(&head[..count]);
            self.position += count;
            if self.position == self.head.len() {
                self.head = Vec::new();
                self.position = 0;
            }
            return Ok(count);
        }
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if self.ended {
            return Ok(0);
        }
        self.rest.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_ordered_by_the_numbers_in_their_names() {
        let names = ["t.10.gz", "t.9.gz", "t.1.gz", "s.2.gz"].map(PathBuf::from);
        let Some(Source::Parts(parts)) = in_order(names.to_vec()) else { panic!("no parts") };
        let expected = ["s.2.gz", "t.1.gz", "t.9.gz", "t.10.gz"].map(PathBuf::from);
        assert_eq!(parts, expected);
    }
}
