//! Alibaba cloud block storage, 2020: `device,op,offset,length,time`.
//!
//! Offset and length count bytes, time microseconds since 1970; 1000 devices stand interleaved in
//! one file. Source: the readme of alibaba/block-traces.

use super::context::Context;
use super::fields::{self, Fields};
use super::format::{Certainty, Encoding, Format, Takes, TextFormat};
use super::line::{Line, Parsed, fault};
use crate::options::{SizeUnit, TimeUnit};
use crate::record::Record;

const COLUMNS: &str = "device,op(R|W),offset(bytes),length(bytes),time(us)";

/// The row.
pub const FORMAT: Format = Format {
    name: "alibaba",
    columns: COLUMNS,
    origin: "Alibaba block traces, 2020",
    time_unit: TimeUnit::Microseconds,
    size_unit: SizeUnit::Bytes,
    certainty: Certainty::Documented,
    header: Some("device_id,opcode,offset,length,timestamp"),
    takes: Takes::NOTHING,
    encoding: Encoding::Text(TextFormat { shape, parse, time_column, units_given: false }),
};

fn shape(line: &[u8]) -> bool {
    let is_op = |column: &[u8]| matches!(column, b"R" | b"W" | b"r" | b"w");
    FORMAT.is_header(line)
        || fields::count(line, b',') == 5 && fields::column(line, b',', 1).is_some_and(is_op)
}

fn time_column(line: &[u8]) -> Option<&[u8]> {
    fields::column(line, b',', 4)
}

fn parse(line: &[u8], context: &mut Context) -> Parsed<Line> {
    let mut columns = Fields::new(line, b',');
    let unit = fields::unit("device", columns.next("device", COLUMNS)?)?;
    let op = fields::read_or_write(columns.next("op", COLUMNS)?)?;
    let offset = columns.next("offset", COLUMNS)?;
    let offset_bytes = fields::integer("offset", offset, "0 to 2^64 - 1 bytes")?;
    let size = columns.next("length", COLUMNS)?;
    let scale = context.scales.size_bytes;
    let size_bytes = fields::multiple("length", size, scale, "1 byte to 1 TiB")?;
    let time_ns = fields::time(columns.next("time", COLUMNS)?, context.scales.time_ns)?;
    if columns.more() {
        return Err(fault("too many columns".into(), line, COLUMNS));
    }
    fields::checked(
        Record { time_ns, op, offset_bytes, size_bytes, unit, stream: None, content: None },
        line,
    )
}
