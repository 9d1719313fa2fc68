//! MSR Cambridge: `filetime,host,disk,Read|Write,offset,size,response`.
//!
//! The published files begin with a request at once; copies often have the names of their columns,
//! as the readme prints them, in a line before it.
//!
//! Time and response count 100 ns (Windows file time, from the year 1601), offset and size bytes.
//! The response is what the original server took: it is not read. The unit is the disk; where files
//! of several hosts are read together, disks of the second host count from 256, of the third from
//! 512, hosts in order of appearance; a disk of 256 or more is legal where there is one host.
//! Source: SNIA IOTTA 388, readme.

use super::context::Context;
use super::fields::{self, Fields};
use super::format::{Certainty, Encoding, Format, Takes, TextFormat};
use super::line::{Line, Parsed, fault};
use crate::options::{SizeUnit, TimeUnit};
use crate::record::Record;

const COLUMNS: &str =
    "time(100 ns),host,disk,Read|Write,offset(bytes),size(bytes),response(100 ns)";

/// The names of the columns in the readme of the traces.
const HEADER: &str = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime";

/// The row.
pub const FORMAT: Format = Format {
    name: "msr",
    columns: COLUMNS,
    origin: "MSR Cambridge (SNIA IOTTA 388)",
    time_unit: TimeUnit::Filetime,
    size_unit: SizeUnit::Bytes,
    certainty: Certainty::Documented,
    header: Some(HEADER),
    takes: Takes::NOTHING,
    encoding: Encoding::Text(TextFormat { shape, parse, time_column, units_given: true }),
};

fn shape(line: &[u8]) -> bool {
    let op = line.split(|&byte| byte == b',').nth(3);
    FORMAT.is_header(line)
        || fields::count(line, b',') == 7
            && op.is_some_and(|op| fields::read_or_write(op.trim_ascii()).is_ok())
}

fn time_column(line: &[u8]) -> Option<&[u8]> {
    fields::column(line, b',', 0)
}

/// Hosts that are told apart.
const HOSTS_MAX: usize = 1 << 16;
/// Disks of each, where there are several hosts.
const DISKS: u32 = 256;

/// The number of a disk beside the disks of other hosts.
#[inline]
fn unit(host: &[u8], disk: &[u8], context: &mut Context) -> Parsed<u32> {
    let number = fields::unit("disk", disk)?;
    let known = context.latest_name.as_ref().filter(|(name, _)| name == host);
    let of_host = if let Some((_, of_host)) = known {
        *of_host
    } else {
        let legal = "up to 65536 hosts, and several only where all their disks are 0 to 255";
        let of_host = context.names.number(host, HOSTS_MAX);
        let of_host = of_host.ok_or_else(|| fault("too many hosts".into(), host, legal))?;
        context.latest_name = Some((host.to_vec(), of_host));
        of_host
    };
    if number >= DISKS && !context.names.keep_to_one() {
        let problem = "disk among those of several hosts is too large".into();
        return Err(fault(problem, disk, "0 to 255 where there are several hosts"));
    }
    Ok(of_host * DISKS + number)
}

fn parse(line: &[u8], context: &mut Context) -> Parsed<Line> {
    let mut columns = Fields::new(line, b',');
    let time_ns = fields::time(columns.next("time", COLUMNS)?, context.scales.time_ns)?;
    let host = columns.next("host", COLUMNS)?;
    let disk = columns.next("disk", COLUMNS)?;
    let unit = unit(host, disk, context)?;
    let op = fields::read_or_write(columns.next("op", COLUMNS)?)?;
    let offset = columns.next("offset", COLUMNS)?;
    let offset_bytes = fields::integer("offset", offset, "0 to 2^64 - 1 bytes")?;
    let size = columns.next("size", COLUMNS)?;
    let size_bytes = fields::multiple("size", size, context.scales.size_bytes, "1 byte to 1 TiB")?;
    columns.next("response", COLUMNS)?;
    if columns.more() {
        return Err(fault("too many columns".into(), line, COLUMNS));
    }
    fields::checked(
        Record { time_ns, op, offset_bytes, size_bytes, unit, stream: None, content: None },
        line,
    )
}
