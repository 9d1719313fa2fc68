//! What DiskSim ascii, SSDsim and MQSim share: five columns between blanks, `time unit LBA size
//! flags`. They differ in the unit of time, in what the last column means, and, in files that
//! circulate, in whether the size counts sectors or pages.

use ftlab_flash::request::Op;

use super::context::Scales;
use super::fields;
use super::line::{Line, Parsed, fault};
use crate::record::Record;

/// Exactly five columns, the first of which looks like a number.
pub(crate) fn shape(line: &[u8]) -> bool {
    let mut columns = split(line);
    let first = columns.next();
    first.is_some_and(|time| time.iter().all(|byte| byte.is_ascii_digit() || b".-".contains(byte)))
        && columns.count() == 4
}

/// Columns between blanks and tabs.
#[inline]
pub(crate) fn split(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| matches!(byte, b' ' | b'\t')).filter(|column| !column.is_empty())
}

/// The column of the time.
pub(crate) fn time(line: &[u8]) -> Option<&[u8]> {
    split(line).next()
}

/// One line; `op` reads the last column.
#[inline]
pub(crate) fn parse(
    line: &[u8],
    scales: Scales,
    names: &'static str,
    op: impl Fn(&[u8]) -> Parsed<Op>,
) -> Parsed<Line> {
    let mut columns = split(line);
    let mut next = |column: &str| {
        columns.next().ok_or_else(|| fault(format!("column {column} is missing"), line, names))
    };
    let time_ns = fields::time(next("time")?, scales.time_ns)?;
    let unit = fields::unit("device", next("device")?)?;
    let offset_bytes = fields::multiple("LBA", next("LBA")?, 512, "0 to 2^55 - 1 sectors")?;
    let size_bytes = fields::multiple("size", next("size")?, scales.size_bytes, "up to 1 TiB")?;
    let op = op(next("flags")?)?;
    if columns.next().is_some() {
        return Err(fault("too many columns".into(), line, names));
    }
    fields::checked(
        Record { time_ns, op, offset_bytes, size_bytes, unit, stream: None, content: None },
        line,
    )
}

/// SSDsim's and MQSim's last column: 1 = read, 0 = write.
pub(crate) fn one_is_read(value: &[u8]) -> Parsed<Op> {
    match value {
        b"1" => Ok(Op::Read),
        b"0" => Ok(Op::Write),
        _ => Err(fault("unknown operation".into(), value, "1 (read) or 0 (write)")),
    }
}
