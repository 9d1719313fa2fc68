//! FIU (the traces of I/O Deduplication): `time pid process block blocks op major minor md5`.
//!
//! Nine columns between blanks. Time counts nanoseconds, address and size blocks of 512 bytes. The
//! unit is `major * 2^20 + minor`, as the kernel counts devices. The hash tells what a request
//! writes or reads: the two halves of its 32 hexadecimal digits, one over the other (exclusive or).
//! A column that is no number of up to 32 hexadecimal digits tells nothing. Source: SNIA IOTTA 411,
//! readme.

use ftlab_flash::request::Content;

use super::context::Context;
use super::fields;
use super::five_columns::split;
use super::format::{Certainty, Encoding, Format, Takes, TextFormat};
use super::line::{Line, Parsed, fault};
use crate::options::{SizeUnit, TimeUnit};
use crate::record::{Record, unit_of_device};
use crate::summary::DropReason;

const COLUMNS: &str = "time(ns) pid process block(512 B) blocks op(R|W) major minor md5";

/// The row.
pub const FORMAT: Format = Format {
    name: "fiu",
    columns: COLUMNS,
    origin: "FIU: homes, mail, web-vm ... (SNIA IOTTA 391, 411)",
    time_unit: TimeUnit::Nanoseconds,
    size_unit: SizeUnit::Sectors,
    certainty: Certainty::Documented,
    header: None,
    takes: Takes::PROCESS,
    encoding: Encoding::Text(TextFormat { shape, parse, time_column, units_given: false }),
};

/// What a hash stands for.
fn content(md5: &[u8]) -> Option<Content> {
    let text = std::str::from_utf8(md5).ok().filter(|text| !text.starts_with('+'))?;
    let hash = u128::from_str_radix(text, 16).ok()?;
    Some(Content::new((hash >> 64) as u64 ^ hash as u64))
}

fn shape(line: &[u8]) -> bool {
    let mut columns = split(line);
    columns.nth(5).is_some_and(|op| matches!(op, b"R" | b"W" | b"r" | b"w")) && columns.count() == 3
}

fn time_column(line: &[u8]) -> Option<&[u8]> {
    split(line).next()
}

fn parse(line: &[u8], context: &mut Context) -> Parsed<Line> {
    let mut columns = split(line);
    let mut next = |column: &str| {
        columns.next().ok_or_else(|| fault(format!("column {column} is missing"), line, COLUMNS))
    };
    let time_ns = fields::time(next("time")?, context.scales.time_ns)?;
    let (pid, process) = (next("pid")?, next("process")?);
    if !context.events.takes_process(pid, process) {
        return Ok(Line::Other(DropReason::ProcessNotSelected));
    }
    let offset_bytes = fields::multiple("block", next("block")?, 512, "0 to 2^55 - 1 blocks")?;
    let scale = context.scales.size_bytes;
    let size_bytes = fields::multiple("blocks", next("blocks")?, scale, "up to 1 TiB")?;
    let op = fields::read_or_write(next("op")?)?;
    let major = fields::integer("major", next("major")?, "0 to 4095")?;
    let minor = fields::integer("minor", next("minor")?, "0 to 1048575")?;
    let unit = unit_of_device(major, minor).ok_or_else(|| {
        fault("no device number".into(), line, "major 0 to 4095, minor 0 to 1048575")
    })?;
    let content = content(next("md5")?);
    if columns.next().is_some() {
        return Err(fault("too many columns".into(), line, COLUMNS));
    }
    fields::checked(
        Record { time_ns, op, offset_bytes, size_bytes, unit, stream: None, content },
        line,
    )
}
