//! SPC, the format of the UMass Trace Repository: `ASU,LBA,size,op,seconds[,optional...]`.
//!
//! LBA counts 512-byte blocks, size counts bytes, time counts seconds from the start of the trace.
//! Source: SPC I/O trace file format specification, revision 1.0.1, section 3.

use super::context::Context;
use super::fields::{self, Fields};
use super::format::{Certainty, Encoding, Format, Takes, TextFormat};
use super::line::{Line, Parsed};
use crate::options::{SizeUnit, TimeUnit};
use crate::record::Record;

const COLUMNS: &str = "ASU,LBA(512 B),size(bytes),op(r|w),time(s)";

/// The row.
pub const FORMAT: Format = Format {
    name: "spc",
    columns: COLUMNS,
    origin: "UMass Trace Repository: Financial1-2, WebSearch1-3",
    time_unit: TimeUnit::Seconds,
    size_unit: SizeUnit::Bytes,
    certainty: Certainty::Documented,
    header: None,
    takes: Takes::NOTHING,
    encoding: Encoding::Text(TextFormat { shape, parse, time_column, units_given: false }),
};

fn shape(line: &[u8]) -> bool {
    let mut columns = line.split(|&byte| byte == b',').skip(3);
    let is_op = columns.next().is_some_and(|op| fields::read_or_write(op.trim_ascii()).is_ok());
    is_op && columns.next().is_some()
}

fn time_column(line: &[u8]) -> Option<&[u8]> {
    fields::column(line, b',', 4)
}

fn parse(line: &[u8], context: &mut Context) -> Parsed<Line> {
    let mut columns = Fields::new(line, b',');
    let unit = fields::unit("ASU", columns.next("ASU", COLUMNS)?)?;
    let address = columns.next("LBA", COLUMNS)?;
    let offset_bytes = fields::multiple("LBA", address, 512, "0 to 2^55 - 1 blocks of 512 B")?;
    let size = columns.next("size", COLUMNS)?;
    let size_bytes = fields::multiple("size", size, context.scales.size_bytes, "1 byte to 1 TiB")?;
    let op = fields::read_or_write(columns.next("op", COLUMNS)?)?;
    let time_ns = fields::time(columns.next("time", COLUMNS)?, context.scales.time_ns)?;
    fields::checked(
        Record { time_ns, op, offset_bytes, size_bytes, unit, stream: None, content: None },
        line,
    )
}
