//! DiskSim ascii: `time(ms) device LBA(512 B) size flags(hex, bit 0 = read)`.
//!
//! By its document the size counts blocks of 512 bytes, but files in circulation count 4 KiB pages
//! there: `--size-unit` settles it where the data do not. Source: DiskSim 4.0, `disksim_iotrace.c`.

use ftlab_flash::request::Op;

use super::context::Context;
use super::fields;
use super::five_columns;
use super::format::{Certainty, Encoding, Format, Takes, TextFormat};
use super::line::{Line, Parsed};
use crate::options::{SizeUnit, TimeUnit};

const COLUMNS: &str = "time(ms) device LBA(512 B) size flags(hex, bit 0 = read)";

/// The row.
pub const FORMAT: Format = Format {
    name: "disksim",
    columns: COLUMNS,
    origin: "DiskSim and FlashSim ascii traces",
    time_unit: TimeUnit::Milliseconds,
    size_unit: SizeUnit::Sectors,
    certainty: Certainty::Shared,
    header: None,
    takes: Takes::NOTHING,
    encoding: Encoding::Text(TextFormat {
        shape: five_columns::shape,
        parse,
        time_column: five_columns::time,
        units_given: false,
    }),
};

fn parse(line: &[u8], context: &mut Context) -> Parsed<Line> {
    five_columns::parse(line, context.scales, COLUMNS, |value| {
        let flags = fields::hexadecimal("flags", value, "hexadecimal, bit 0 = read")?;
        Ok(if flags & 1 == 1 { Op::Read } else { Op::Write })
    })
}
