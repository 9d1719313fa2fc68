//! What the line parsers share: splitting, checked numbers, and the rules every record obeys.

use ftlab_flash::request::Op;

use super::line::{Line, LineFault, Parsed, fault};
use crate::number::{self, NotANumber};
use crate::record::Record;

/// Largest request accepted, in bytes: 1 TiB, so that its sectors fit a request's 32 bits.
pub(crate) const REQUEST_BYTES_MAX: u64 = 1 << 40;

/// Columns between single separators, each without surrounding blanks.
pub(crate) struct Fields<'a> {
    line: &'a [u8],
    rest: Option<&'a [u8]>,
    separator: u8,
}

impl<'a> Fields<'a> {
    #[inline]
    pub(crate) fn new(line: &'a [u8], separator: u8) -> Self {
        Self { line, rest: Some(line), separator }
    }

    /// The next column, or a fault that names the one that is missing.
    #[inline]
    pub(crate) fn next(&mut self, column: &str, legal: &'static str) -> Parsed<&'a [u8]> {
        let Some(rest) = self.rest else {
            return Err(fault(format!("column {column} is missing"), self.line, legal));
        };
        match rest.iter().position(|&byte| byte == self.separator) {
            Some(end) => {
                self.rest = Some(&rest[end + 1..]);
                Ok(rest[..end].trim_ascii())
            }
            None => {
                self.rest = None;
                Ok(rest.trim_ascii())
            }
        }
    }

    /// Is a column left?
    pub(crate) fn more(&self) -> bool {
        self.rest.is_some()
    }
}

#[cold]
fn number_fault(
    column: &str,
    why: NotANumber,
    value: &[u8],
    legal: &'static str,
) -> Box<LineFault> {
    fault(format!("{column} {}", why.words()), value, legal)
}

/// An unsigned integer column.
#[inline]
pub(crate) fn integer(column: &str, value: &[u8], legal: &'static str) -> Parsed<u64> {
    number::integer(value).map_err(|why| number_fault(column, why, value, legal))
}

/// An unsigned integer column that counts in steps of `scale`.
#[inline]
pub(crate) fn multiple(column: &str, value: &[u8], scale: u64, legal: &'static str) -> Parsed<u64> {
    integer(column, value, legal)?
        .checked_mul(scale)
        .ok_or_else(|| number_fault(column, NotANumber::Overflow, value, legal))
}

/// A time column, in nanoseconds.
#[inline]
pub(crate) fn time(value: &[u8], scale: u64) -> Parsed<u64> {
    const LEGAL: &str = "a time from 0 to 584 years, without sign or exponent";
    number::scaled(value, scale).map_err(|why| number_fault("time", why, value, LEGAL))
}

/// A hexadecimal column.
#[inline]
pub(crate) fn hexadecimal(column: &str, value: &[u8], legal: &'static str) -> Parsed<u64> {
    number::hexadecimal(value).map_err(|why| number_fault(column, why, value, legal))
}

/// A unit column: ASU, volume, disk or device.
#[inline]
pub(crate) fn unit(column: &str, value: &[u8]) -> Parsed<u32> {
    const LEGAL: &str = "0 to 4294967295";
    let number = integer(column, value, LEGAL)?;
    u32::try_from(number).map_err(|_| number_fault(column, NotANumber::Overflow, value, LEGAL))
}

/// The rules of every format: a size that is neither 0 nor absurd, and an end within 64 bits.
#[inline]
pub(crate) fn checked(record: Record, line: &[u8]) -> Parsed<Line> {
    if record.size_bytes == 0 && record.op != Op::Flush {
        return Err(fault("size is 0".into(), line, "a read, write or trim of at least 1"));
    }
    if record.size_bytes > REQUEST_BYTES_MAX {
        return Err(fault("size is too large".into(), line, "at most 1 TiB per request"));
    }
    if record.offset_bytes.checked_add(record.size_bytes).is_none() {
        return Err(fault("address overflows 64 bits".into(), line, "an end below 16 EiB"));
    }
    Ok(Line::Request(record))
}

/// Column number `index` (from 0) between single separators, without surrounding blanks.
pub(crate) fn column(line: &[u8], separator: u8, index: usize) -> Option<&[u8]> {
    line.split(|&byte| byte == separator).nth(index).map(<[u8]>::trim_ascii)
}

/// How many columns a line has between single separators.
pub(crate) fn count(line: &[u8], separator: u8) -> usize {
    line.iter().filter(|&&byte| byte == separator).count() + 1
}

/// `r`, `R`, `read`, `Read`, `w` ... as in most formats.
#[inline]
pub(crate) fn read_or_write(value: &[u8]) -> Parsed<Op> {
    match value {
        [b'r' | b'R'] => Ok(Op::Read),
        [b'w' | b'W'] => Ok(Op::Write),
        _ if value.eq_ignore_ascii_case(b"read") => Ok(Op::Read),
        _ if value.eq_ignore_ascii_case(b"write") => Ok(Op::Write),
        _ => Err(fault("unknown operation".into(), value, "r, w, Read or Write")),
    }
}
