//! MSR Cambridge: `filetime,host,disk,Read|Write,offset,size,response`.
//!
//! Time and response count 100 ns (Windows file time, from the year 1601), offset and size bytes.
//! The response is what the original server took: it is not read. Source: SNIA IOTTA 388, readme.

use super::fields::{self, Fields, Parsed};
use super::{Certainty, Context, Encoding, Format, Line, Takes, TextFormat};
use crate::options::{SizeUnit, TimeUnit};
use crate::record::Record;

const COLUMNS: &str =
    "time(100 ns),host,disk,Read|Write,offset(bytes),size(bytes),response(100 ns)";

/// The row.
pub const FORMAT: Format = Format {
    name: "msr",
    columns: COLUMNS,
    origin: "MSR Cambridge (SNIA IOTTA 388)",
    time_unit: TimeUnit::Filetime,
    size_unit: SizeUnit::Bytes,
    certainty: Certainty::Documented,
    header: None,
    takes: Takes::NOTHING,
    encoding: Encoding::Text(TextFormat { shape, parse, time_column }),
};

fn shape(line: &[u8]) -> bool {
    let op = line.split(|&byte| byte == b',').nth(3);
    fields::count(line, b',') == 7
        && op.is_some_and(|op| fields::read_or_write(op.trim_ascii()).is_ok())
}

fn time_column(line: &[u8]) -> Option<&[u8]> {
    fields::column(line, b',', 0)
}

fn parse(line: &[u8], context: &mut Context) -> Parsed<Line> {
    let mut columns = Fields::new(line, b',');
    let time_ns = fields::time(columns.next("time", COLUMNS)?, context.scales.time_ns)?;
    columns.next("host", COLUMNS)?;
    let unit = fields::unit("disk", columns.next("disk", COLUMNS)?)?;
    let op = fields::read_or_write(columns.next("op", COLUMNS)?)?;
    let offset = columns.next("offset", COLUMNS)?;
    let offset_bytes = fields::integer("offset", offset, "0 to 2^64 - 1 bytes")?;
    let size = columns.next("size", COLUMNS)?;
    let size_bytes = fields::multiple("size", size, context.scales.size_bytes, "1 byte to 1 TiB")?;
    columns.next("response", COLUMNS)?;
    if columns.more() {
        return Err(fields::fault("too many columns".into(), line, COLUMNS));
    }
    fields::checked(Record { time_ns, op, offset_bytes, size_bytes, unit }, line)
}
