//! What a line of text is, or what is wrong with it.

use crate::record::Record;
use crate::summary::DropReason;

/// What a line of text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A request, its time not yet rebased.
    Request(Record),
    /// No request, for a reason that belongs to the format.
    Other(DropReason),
}

/// What is wrong with a line; file and line number are added by the reader.
#[derive(Debug)]
pub(crate) struct LineFault {
    pub(crate) problem: String,
    pub(crate) value: Vec<u8>,
    pub(crate) legal: &'static str,
}

/// What was read of a line, or what is wrong with it.
pub(crate) type Parsed<T> = Result<T, Box<LineFault>>;

/// Boxed, because almost every line is right.
#[cold]
pub(crate) fn fault(problem: String, value: &[u8], legal: &'static str) -> Box<LineFault> {
    Box::new(LineFault { problem, value: value.to_vec(), legal })
}
