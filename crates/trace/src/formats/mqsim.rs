//! MQSim ascii: `time(ns) device LBA(512 B) size(sectors) op(1 = read, 0 = write)`.
//!
//! The same columns and units as SSDsim; DiskSim's columns in another unit of time.

use super::context::Context;
use super::five_columns;
use super::format::{Certainty, Encoding, Format, Takes, TextFormat};
use super::line::{Line, Parsed};
use crate::options::{SizeUnit, TimeUnit};

const COLUMNS: &str = "time(ns) device LBA(512 B) size(sectors) op(1 read, 0 write)";

/// The row.
pub const FORMAT: Format = Format {
    name: "mqsim",
    columns: COLUMNS,
    origin: "MQSim ascii traces",
    time_unit: TimeUnit::Nanoseconds,
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
    five_columns::parse(line, context.scales, COLUMNS, five_columns::one_is_read)
}
