//! Systor '17 (Lee, Kumano, Matsuki and others): a header, then `time,response,op,LUN,offset,size`.
//!
//! Time counts seconds since 1970 with a fraction, offset and size bytes. The operation is R, W or
//! empty; an empty one is unknown and dropped. The response is what the original server took: it is
//! not read. Source: SNIA IOTTA, readme.

use super::context::Context;
use super::fields::{self, Fields};
use super::format::{Certainty, Encoding, Format, Takes, TextFormat};
use super::line::{Line, Parsed, fault};
use crate::options::{SizeUnit, TimeUnit};
use crate::record::Record;
use crate::summary::DropReason;

const COLUMNS: &str = "time(s),response(s),op(R|W),LUN,offset(bytes),size(bytes)";

/// The row.
pub const FORMAT: Format = Format {
    name: "systor",
    columns: COLUMNS,
    origin: "Systor '17, virtual desktops (SNIA IOTTA)",
    time_unit: TimeUnit::Seconds,
    size_unit: SizeUnit::Bytes,
    certainty: Certainty::Documented,
    header: Some("Timestamp,Response,IOType,LUN,Offset,Size"),
    takes: Takes::NOTHING,
    encoding: Encoding::Text(TextFormat { shape, parse, time_column, units_given: false }),
};

fn shape(line: &[u8]) -> bool {
    let is_op = |column: &[u8]| matches!(column, b"R" | b"W" | b"");
    FORMAT.is_header(line)
        || fields::count(line, b',') == 6 && fields::column(line, b',', 2).is_some_and(is_op)
}

fn time_column(line: &[u8]) -> Option<&[u8]> {
    fields::column(line, b',', 0)
}

fn parse(line: &[u8], context: &mut Context) -> Parsed<Line> {
    let mut columns = Fields::new(line, b',');
    let time_ns = fields::time(columns.next("time", COLUMNS)?, context.scales.time_ns)?;
    columns.next("response", COLUMNS)?;
    let op = columns.next("op", COLUMNS)?;
    if op.is_empty() {
        return Ok(Line::Other(DropReason::NoOperation));
    }
    let op = fields::read_or_write(op)?;
    let unit = fields::unit("LUN", columns.next("LUN", COLUMNS)?)?;
    let offset = columns.next("offset", COLUMNS)?;
    let offset_bytes = fields::integer("offset", offset, "0 to 2^64 - 1 bytes")?;
    let size = columns.next("size", COLUMNS)?;
    let scale = context.scales.size_bytes;
    let size_bytes = fields::multiple("size", size, scale, "1 byte to 1 TiB")?;
    if columns.more() {
        return Err(fault("too many columns".into(), line, COLUMNS));
    }
    fields::checked(
        Record { time_ns, op, offset_bytes, size_bytes, unit, stream: None, content: None },
        line,
    )
}
