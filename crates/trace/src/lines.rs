//! Lines of a byte stream, handed out as slices of one reused buffer: no allocation per line.

use std::io::{self, Read};

/// Longest line of a trace, in bytes; anything longer is no text trace.
pub(crate) const LINE_BYTES_MAX: usize = 64 << 10;

const BUFFER_BYTES: usize = 4 * LINE_BYTES_MAX;

/// Why a line could not be had.
#[derive(Debug)]
pub(crate) enum LineError {
    /// Reading or decompressing failed.
    Io(io::Error),
    /// No line end within [`LINE_BYTES_MAX`].
    TooLong,
    /// A NUL byte: binary data, or a torn write.
    Nul,
}

/// Splits a stream into lines, counting them from 1.
pub(crate) struct Lines<R> {
    stream: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    number: u64,
    ended: bool,
    failed: Option<io::Error>,
    nul_seen: bool,
    /// Are commas and semicolons exchanged?
    exchanged: bool,
}

/// Exchanges commas and semicolons: a file with semicolons between its columns reads like one with
/// commas, and a decimal comma is no separator then.
pub(crate) fn exchange_separators(bytes: &mut [u8]) {
    for byte in bytes {
        *byte = match *byte {
            b',' => b';',
            b';' => b',',
            other => other,
        };
    }
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(stream: R) -> Self {
        Self::with_separators(stream, false)
    }

    /// The same with commas and semicolons exchanged, if so asked.
    pub(crate) fn with_separators(stream: R, exchanged: bool) -> Self {
        Self {
            stream,
            buffer: vec![0; BUFFER_BYTES],
            start: 0,
            end: 0,
            number: 0,
            ended: false,
            failed: None,
            nul_seen: false,
            exchanged,
        }
    }

    /// Number of the line handed out last, from 1; 0 before the first.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The next line without its end (`\n` or `\r\n`), or `None` at the end of the stream.
    /// After a failed read the complete lines before it still come first.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, LineError> {
        let mut searched = 0;
        let (from, to, after) = loop {
            let pending = &self.buffer[self.start..self.end];
            if let Some(length) = memchr::memchr(b'\n', &pending[searched..]) {
                let length = searched + length;
                break (self.start, self.start + length, self.start + length + 1);
            }
            searched = pending.len();
            if searched > LINE_BYTES_MAX {
                self.number += 1;
                return Err(LineError::TooLong);
            }
            if self.ended {
                if let Some(error) = self.failed.take() {
                    self.number += 1;
                    self.start = self.end;
                    return Err(LineError::Io(error));
                }
                if searched == 0 {
                    return Ok(None);
                }
                break (self.start, self.end, self.end);
            }
            self.fill();
        };
        self.start = after;
        self.number += 1;
        let mut line = &self.buffer[from..to];
        if self.nul_seen && memchr::memchr(0, line).is_some() {
            return Err(LineError::Nul);
        }
        if let [rest @ .., b'\r'] = line {
            line = rest;
        }
        if self.number == 1 {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        Ok(Some(line))
    }

    /// Moves what is pending to the front and reads once more.
    #[cold]
    fn fill(&mut self) {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        loop {
            match self.stream.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(count) => {
                    let fresh = &mut self.buffer[self.end..self.end + count];
                    if self.exchanged {
                        exchange_separators(fresh);
                    }
                    self.nul_seen |= memchr::memchr(0, fresh).is_some();
                    self.end += count;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.failed = Some(error);
                    self.ended = true;
                }
            }
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8]) -> Vec<Vec<u8>> {
        let mut lines = Lines::new(text);
        let mut found = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            found.push(line.to_vec());
        }
        assert_eq!(lines.number(), found.len() as u64);
        found
    }

    #[test]
    fn line_ends_of_both_kinds_and_a_missing_last_one_are_accepted() {
        assert_eq!(all(b"a\r\nb\n\nc"), [b"a".to_vec(), b"b".to_vec(), vec![], b"c".to_vec()]);
        assert_eq!(all(b""), Vec::<Vec<u8>>::new());
        assert_eq!(all(b"\xef\xbb\xbfa\n"), [b"a".to_vec()]);
    }

    #[test]
    fn lines_longer_than_the_buffer_are_refused_and_long_streams_are_not() {
        let text = "0123456789\n".repeat(200_000);
        assert_eq!(all(text.as_bytes()).len(), 200_000);
        let endless = vec![b'x'; 2 * BUFFER_BYTES];
        assert!(matches!(Lines::new(&endless[..]).next(), Err(LineError::TooLong)));
    }

    #[test]
    fn a_nul_byte_is_an_error_on_its_own_line_only() {
        let mut lines = Lines::new(&b"good\nb\0d\n"[..]);
        assert!(lines.next().unwrap().is_some());
        assert!(matches!(lines.next(), Err(LineError::Nul)));
        assert_eq!(lines.number(), 2);
    }
}
