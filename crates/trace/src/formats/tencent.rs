//! Tencent cloud block storage: `time,offset,size,op,volume`.
//!
//! Time counts whole seconds since 1970, so that many requests share one; offset and size count
//! sectors of 512 bytes; op is 0 for a read and 1 for a write (the other way round than in SSDsim
//! and MQSim). A copy of these traces that circulates has its offsets in bytes: its lines look the
//! same, so it is a format of its own, `tencent_bytes`, which is never guessed.
//! Source: the readme of the traces (SNIA IOTTA) and of cacheMon/cache_dataset.

use ftlab_flash::request::Op;

use super::context::Context;
use super::fields::{self, Fields};
use super::format::{Certainty, Encoding, Format, Takes, TextFormat};
use super::line::{Line, Parsed, fault};
use crate::options::{SizeUnit, TimeUnit};
use crate::record::Record;

const SECTORS: &str = "time(s),offset(512 B),size(512 B),op(0 read, 1 write),volume";
const BYTES: &str = "time(s),offset(bytes),size(512 B),op(0 read, 1 write),volume";

/// The row of the traces as published.
pub const FORMAT: Format = Format {
    name: "tencent",
    columns: SECTORS,
    origin: "Tencent CBS (SNIA IOTTA)",
    time_unit: TimeUnit::Seconds,
    size_unit: SizeUnit::Sectors,
    certainty: Certainty::Documented,
    header: Some("Timestamp,Offset,Size,IOType,VolumeID"),
    takes: Takes::NOTHING,
    encoding: Encoding::Text(TextFormat {
        shape,
        parse: |line, context| parse(line, context, 512, SECTORS),
        time_column,
        units_given: false,
    }),
};

/// The row of the copy with offsets in bytes.
pub const IN_BYTES: Format = Format {
    name: "tencent_bytes",
    columns: BYTES,
    origin: "Tencent CBS, copies with offsets in bytes (only with --format)",
    time_unit: TimeUnit::Seconds,
    size_unit: SizeUnit::Sectors,
    certainty: Certainty::Documented,
    header: Some("Timestamp,Offset,Size,IOType,VolumeID"),
    takes: Takes::NOTHING,
    encoding: Encoding::Text(TextFormat {
        shape: |_| false,
        parse: |line, context| parse(line, context, 1, BYTES),
        time_column,
        units_given: false,
    }),
};

fn shape(line: &[u8]) -> bool {
    let is_op = |column: &[u8]| matches!(column, b"0" | b"1");
    FORMAT.is_header(line)
        || fields::count(line, b',') == 5 && fields::column(line, b',', 3).is_some_and(is_op)
}

fn time_column(line: &[u8]) -> Option<&[u8]> {
    fields::column(line, b',', 0)
}

fn parse(
    line: &[u8],
    context: &mut Context,
    offset_unit: u64,
    names: &'static str,
) -> Parsed<Line> {
    let mut columns = Fields::new(line, b',');
    let time_ns = fields::time(columns.next("time", names)?, context.scales.time_ns)?;
    let offset = columns.next("offset", names)?;
    let offset_bytes = fields::multiple("offset", offset, offset_unit, "an end below 16 EiB")?;
    let size = columns.next("size", names)?;
    let scale = context.scales.size_bytes;
    let size_bytes = fields::multiple("size", size, scale, "1 sector to 1 TiB")?;
    let op = match columns.next("op", names)? {
        b"0" => Op::Read,
        b"1" => Op::Write,
        value => {
            let legal = "0 (read) or 1 (write)";
            return Err(fault("unknown operation".into(), value, legal));
        }
    };
    let unit = fields::unit("volume", columns.next("volume", names)?)?;
    if columns.more() {
        return Err(fault("too many columns".into(), line, names));
    }
    fields::checked(
        Record { time_ns, op, offset_bytes, size_bytes, unit, stream: None, content: None },
        line,
    )
}
