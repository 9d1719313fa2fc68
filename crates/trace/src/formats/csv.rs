//! Our own CSV: a header `time_us,op,offset_bytes,size_bytes`, then one request per line. Two more
//! columns may follow, which the header must name: `stream`, a placement hint (a number from 0 to
//! 255, or nothing), and `content`, what is written (up to 16 hexadecimal digits, or nothing: equal
//! numbers are equal bytes).
//!
//! `op` is read, write, trim or flush (or r, w, t, f) in any case. Times may have a fraction, down
//! to 1 ns. There is no unit column: several volumes are laid side by side before they are written.
//! A flush has no address; one whose size is 0 is dropped and counted like those of block-layer
//! captures unless the caller keeps them, so a flush that shall be carried out has size 1 or more.

use std::io::{self, Write};

use ftlab_flash::request::{Content, Op};

use super::context::Context;
use super::fields::{self, Fields};
use super::format::{Certainty, Encoding, Format, Takes, TextFormat};
use super::line::{Line, Parsed, fault};
use crate::options::{SizeUnit, TimeUnit};
use crate::record::Record;

const COLUMNS: &str = "time_us,op,offset_bytes,size_bytes[,stream][,content]";
const HEADERS: &str = "time_us,op,offset_bytes,size_bytes|time_us,op,offset_bytes,size_bytes,stream\
    |time_us,op,offset_bytes,size_bytes,content|time_us,op,offset_bytes,size_bytes,stream,content";
const STREAMS: &str = "0 to 255, or nothing";
const CONTENTS: &str = "up to 16 hexadecimal digits, or nothing";
const OPERATIONS: &str = "read, write, trim, flush or r, w, t, f";

/// The row.
pub const FORMAT: Format = Format {
    name: "csv",
    columns: COLUMNS,
    origin: "ftlab trace convert",
    time_unit: TimeUnit::Microseconds,
    size_unit: SizeUnit::Bytes,
    certainty: Certainty::Stated,
    header: Some(HEADERS),
    takes: Takes::NOTHING,
    encoding: Encoding::Text(TextFormat { shape, parse, time_column, units_given: true }),
};

fn shape(line: &[u8]) -> bool {
    let op = line.split(|&byte| byte == b',').nth(1);
    FORMAT.is_header(line)
        || fields::count(line, b',') == 4 && op.is_some_and(|op| operation(op.trim_ascii()).is_ok())
}

fn operation(value: &[u8]) -> Parsed<Op> {
    match value {
        [b't' | b'T'] => Ok(Op::Trim),
        [b'f' | b'F'] => Ok(Op::Flush),
        _ if value.eq_ignore_ascii_case(b"trim") => Ok(Op::Trim),
        _ if value.eq_ignore_ascii_case(b"flush") => Ok(Op::Flush),
        _ => fields::read_or_write(value)
            .map_err(|_| fault("unknown operation".into(), value, OPERATIONS)),
    }
}

fn time_column(line: &[u8]) -> Option<&[u8]> {
    fields::column(line, b',', 0)
}

fn parse(line: &[u8], context: &mut Context) -> Parsed<Line> {
    // The header is no request; what it names holds for the lines behind it.
    let is_number = line.first().is_some_and(u8::is_ascii_digit);
    if !is_number && FORMAT.is_header(line) {
        let more: Vec<&[u8]> = line.split(|&byte| byte == b',').skip(4).collect();
        let names = |name: &str| {
            more.iter().any(|one| one.trim_ascii().eq_ignore_ascii_case(name.as_bytes()))
        };
        (context.has_streams, context.has_contents) = (names("stream"), names("content"));
    }
    let mut columns = Fields::new(line, b',');
    let time_ns = fields::time(columns.next("time_us", COLUMNS)?, context.scales.time_ns)?;
    let op = operation(columns.next("op", COLUMNS)?)?;
    let mut number = |column: &'static str| -> Parsed<u64> {
        let value = columns.next(column, COLUMNS)?;
        if op == Op::Flush && value.is_empty() {
            return Ok(0);
        }
        fields::integer(column, value, "0 to 2^64 - 1 bytes")
    };
    let offset_bytes = number("offset_bytes")?;
    let size_bytes = number("size_bytes")?;
    // An empty cell says nothing; a line without the cell has lost something.
    let stream = match context.has_streams {
        true => stream(columns.next("stream", COLUMNS)?)?,
        false => None,
    };
    let content = match context.has_contents {
        true => content(columns.next("content", COLUMNS)?)?,
        false => None,
    };
    if columns.more() {
        return Err(fault("too many columns".into(), line, COLUMNS));
    }
    let unit = context.unit_of_file;
    fields::checked(Record { time_ns, op, offset_bytes, size_bytes, unit, stream, content }, line)
}

fn content(value: &[u8]) -> Parsed<Option<Content>> {
    if value.is_empty() {
        return Ok(None);
    }
    let text = std::str::from_utf8(value).ok().filter(|text| !text.starts_with('+'));
    let number = text.and_then(|text| u64::from_str_radix(text, 16).ok());
    let wrong = || fault("content is illegal".into(), value, CONTENTS);
    number.map(|number| Some(Content::new(number))).ok_or_else(wrong)
}

fn stream(value: &[u8]) -> Parsed<Option<u8>> {
    if value.is_empty() {
        return Ok(None);
    }
    let number = fields::integer("stream", value, STREAMS)?;
    u8::try_from(number).map(Some).map_err(|_| fault("stream is too large".into(), value, STREAMS))
}

/// The columns that not every file has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MoreColumns {
    /// Placement hints.
    pub hints: bool,
    /// What is written.
    pub contents: bool,
}

/// Writes the header line.
///
/// # Errors
/// Those of the writer.
pub fn write_header(out: &mut impl Write, with: MoreColumns) -> io::Result<()> {
    let stream = if with.hints { ",stream" } else { "" };
    let content = if with.contents { ",content" } else { "" };
    writeln!(out, "time_us,op,offset_bytes,size_bytes{stream}{content}")
}

/// Writes one record under the header that [`write_header`] wrote; reading it back gives the same
/// record, but for the unit, and for what has no column.
///
/// # Errors
/// Those of the writer.
pub fn write_record(out: &mut impl Write, record: &Record, with: MoreColumns) -> io::Result<()> {
    let (microseconds, rest) = (record.time_ns / 1000, record.time_ns % 1000);
    let op = match record.op {
        Op::Read => "read",
        Op::Write => "write",
        Op::Trim => "trim",
        Op::Flush => "flush",
    };
    if rest == 0 {
        write!(out, "{microseconds}")?;
    } else {
        write!(out, "{microseconds}.{rest:03}")?;
    }
    write!(out, ",{op},{},{}", record.offset_bytes, record.size_bytes)?;
    match record.stream {
        Some(stream) if with.hints => write!(out, ",{stream}")?,
        None if with.hints => write!(out, ",")?,
        _ => {}
    }
    match record.content {
        Some(content) if with.contents => write!(out, ",{:x}", content.number())?,
        None if with.contents => write!(out, ",")?,
        _ => {}
    }
    writeln!(out)
}
