//! CloudPhysics as libCacheSim writes it in text: `version,time,op,size,lbn`, as in
//! `1,33898,2a,512,42932745`, behind a line with these names.
//!
//! The version is that of the binary record it was made of ([`super::vscsi`]), 1 or 2. Times count
//! whole seconds, so that many requests come together; sizes count bytes, blocks 512 bytes. The
//! operation is a SCSI operation code in two hexadecimal digits, read as the binary records are:
//! 28 reads, 2a writes, 35 flushes; what moves no data is no request. There is no unit column: the
//! unit is the number of the file where files of one time stand beside each other, else 0.
//! libCacheSim's plain text is no trace of this kind: it has block numbers only, without sizes and
//! operations. Source: libCacheSim, `data/trace.csv` and its questions and answers on units.

use super::context::Context;
use super::fields::{self, Fields};
use super::format::{Certainty, Encoding, Format, Takes, TextFormat};
use super::line::{Line, Parsed, fault};
use super::vscsi;
use crate::options::{SizeUnit, TimeUnit};
use crate::record::Record;

const COLUMNS: &str = "version(1|2),time(s),op(SCSI code, hex),size(bytes),lbn(512 B)";
const OPERATIONS: &str = "a SCSI operation code in two hexadecimal digits, 28 (read) or 2a (write)";

/// The row.
pub const FORMAT: Format = Format {
    name: "libcachesim",
    columns: COLUMNS,
    origin: "libCacheSim, CloudPhysics as text",
    time_unit: TimeUnit::Seconds,
    size_unit: SizeUnit::Bytes,
    certainty: Certainty::Documented,
    header: Some("version,time,op,size,lbn"),
    takes: Takes::NOTHING,
    encoding: Encoding::Text(TextFormat { shape, parse, time_column, units_given: true }),
};

fn shape(line: &[u8]) -> bool {
    let column = |index| fields::column(line, b',', index).unwrap_or_default();
    FORMAT.is_header(line)
        || fields::count(line, b',') == 5
            && matches!(column(0), b"1" | b"2")
            && code(column(2)).is_ok_and(|code| vscsi::operation(code).is_some())
}

fn code(value: &[u8]) -> Parsed<u8> {
    let wrong = || fault("operation is not legal".into(), value, OPERATIONS);
    let [_, _] = value else { return Err(wrong()) };
    fields::hexadecimal("op", value, OPERATIONS).map(|code| code as u8)
}

fn time_column(line: &[u8]) -> Option<&[u8]> {
    fields::column(line, b',', 1)
}

fn parse(line: &[u8], context: &mut Context) -> Parsed<Line> {
    let mut columns = Fields::new(line, b',');
    let version = columns.next("version", COLUMNS)?;
    if !matches!(version, b"1" | b"2") {
        return Err(fault("version is unknown".into(), version, "1 or 2"));
    }
    let time_ns = fields::time(columns.next("time", COLUMNS)?, context.scales.time_ns)?;
    let code = code(columns.next("op", COLUMNS)?)?;
    let size = columns.next("size", COLUMNS)?;
    let size_bytes = fields::multiple("size", size, context.scales.size_bytes, "1 byte to 1 TiB")?;
    let block = columns.next("lbn", COLUMNS)?;
    let offset_bytes = fields::multiple("lbn", block, 512, "0 to 2^55 - 1 blocks")?;
    if columns.more() {
        return Err(fault("too many columns".into(), line, COLUMNS));
    }
    let (op, size_bytes) = match vscsi::requested(code, size_bytes) {
        Ok(requested) => requested,
        Err(reason) => return Ok(Line::Other(reason)),
    };
    fields::checked(
        Record {
            time_ns,
            op,
            offset_bytes,
            size_bytes,
            unit: context.unit_of_file,
            stream: None,
            content: None,
        },
        line,
    )
}
