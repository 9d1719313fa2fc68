//! CloudPhysics: SCSI commands of virtual disks, binary, versions 1 and 2.
//!
//! Records of fixed size, little endian, without a header. Version 1, 32 bytes: serial number,
//! length (bytes), scatter-gather entries (u32 each), command, version (u16 each), block, time (u64
//! each). Version 2, 40 bytes: command, version (u16 each), serial number, length, scatter-gather
//! entries (u32 each), block, time, response (u64 each). The version stands in the upper byte of
//! its field. Blocks count 512 bytes, times microseconds. Commands are SCSI operation codes: READ
//! and WRITE (6, 10, 12, 16) count, SYNCHRONIZE CACHE flushes, all else is no request: UNMAP too,
//! whose ranges stand in data that the records lack. A file holds one disk: the unit is the number
//! of the file, from 0, and the files of several disks are read as one trace in order of time.
//! Source: libCacheSim, `vscsi.h` and its issue 54.

use ftlab_flash::request::Op;

use super::context::Context;
use super::format::{BinaryFormat, Certainty, Encoding, FilesOf, Format, Open, Takes};
use crate::error::{Result, TraceError};
use crate::events::{Event, Events, Files, fill_record};
use crate::options::{SizeUnit, TimeUnit};
use crate::order::Placed;
use crate::record::{Place, Record};
use crate::source::Text;
use crate::summary::DropReason;

const COLUMNS: &str = "records of 32 or 40 bytes: command, version, serial number, length(bytes), \
                       block(512 B), time(us)";

/// The row.
pub const FORMAT: Format = Format {
    name: "vscsi",
    columns: COLUMNS,
    origin: "CloudPhysics, virtual disks (vscsi 1 and 2)",
    time_unit: TimeUnit::Microseconds,
    size_unit: SizeUnit::Bytes,
    certainty: Certainty::Stated,
    header: None,
    takes: Takes::NOTHING,
    encoding: Encoding::Binary(BinaryFormat {
        recognises,
        open: Open::Events(open),
        files: FilesOf::OneTime,
        units_given: true,
    }),
};

/// Records looked at to recognise a file.
const SAMPLE_RECORDS: usize = 64;

/// Where the fields of a record stand.
#[derive(Debug)]
struct Layout {
    version: u8,
    bytes: usize,
    version_at: usize,
    command_at: usize,
    length_at: usize,
    block_at: usize,
    time_at: usize,
}

const LAYOUTS: [Layout; 2] = [
    Layout {
        version: 1,
        bytes: 32,
        version_at: 14,
        command_at: 12,
        length_at: 4,
        block_at: 16,
        time_at: 24,
    },
    Layout {
        version: 2,
        bytes: 40,
        version_at: 2,
        command_at: 0,
        length_at: 8,
        block_at: 16,
        time_at: 24,
    },
];

impl Layout {
    /// Does a record carry this version, and a command that SCSI knows?
    fn fits(&self, record: &[u8]) -> bool {
        record[self.version_at + 1] == self.version && record[self.command_at + 1] == 0
    }

    /// The layout of a file, by its first records.
    fn of(head: &[u8]) -> Option<&'static Self> {
        LAYOUTS.iter().find(|layout| {
            let mut records = head.chunks_exact(layout.bytes).take(SAMPLE_RECORDS).peekable();
            records.peek().is_some() && records.all(|record| layout.fits(record))
        })
    }
}

fn recognises(head: &[u8]) -> bool {
    Layout::of(head).is_some()
}

/// What a command asks for: some request, or nothing that moves data.
pub(super) fn operation(command: u8) -> Option<Op> {
    match command {
        0x08 | 0x28 | 0xa8 | 0x88 => Some(Op::Read),
        0x0a | 0x2a | 0xaa | 0x8a => Some(Op::Write),
        0x35 | 0x91 => Some(Op::Flush),
        _ => None,
    }
}

/// The request that a command of this length is, with its size: a flush has none.
pub(super) fn requested(command: u8, length: u64) -> std::result::Result<(Op, u64), DropReason> {
    match operation(command) {
        None => Err(DropReason::NotARequest),
        Some(Op::Flush) => Ok((Op::Flush, 0)),
        Some(_) if length == 0 => Err(DropReason::NoOperation),
        Some(op) => Ok((op, length)),
    }
}

fn open(mut files: Files, _: Context, _: &'static Format) -> Result<Box<dyn Events>> {
    let part = files.parts.start;
    let text = files.open(part)?;
    let name = files.names[part].clone();
    let layout = Layout::of(text.head()).ok_or_else(|| {
        let wrong = TraceError::new("not records of CloudPhysics").with_legal(COLUMNS);
        wrong.at(name.clone(), Some(1))
    })?;
    Ok(Box::new(Disk { part: part as u32, name, text, layout, records: 0 }))
}

/// The file of one disk.
struct Disk {
    part: u32,
    name: String,
    text: Text,
    layout: &'static Layout,
    records: u64,
}

impl Disk {
    /// What a record asks for.
    fn decide(&self, bytes: &[u8]) -> Result<std::result::Result<Record, DropReason>> {
        let layout = self.layout;
        let long = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
        if !layout.fits(bytes) {
            let legal = format!("version {} in every record", layout.version);
            return Err(TraceError::new("not a record of CloudPhysics").with_legal(legal));
        }
        let length = &bytes[layout.length_at..layout.length_at + 4];
        let length = u64::from(u32::from_le_bytes(length.try_into().expect("4 bytes")));
        let (op, size_bytes) = match requested(bytes[layout.command_at], length) {
            Ok(requested) => requested,
            Err(reason) => return Ok(Err(reason)),
        };
        let far = || {
            TraceError::new("address or time overflows 64 bits")
                .with_legal("an end below 16 EiB, a time below 584 years")
        };
        let offset_bytes = long(layout.block_at).checked_mul(512).ok_or_else(far)?;
        offset_bytes.checked_add(size_bytes).ok_or_else(far)?;
        let time_ns = long(layout.time_at).checked_mul(1000).ok_or_else(far)?;
        Ok(Ok(Record {
            time_ns,
            op,
            offset_bytes,
            size_bytes,
            unit: self.part,
            stream: None,
            content: None,
        }))
    }
}

impl Events for Disk {
    fn next_event(&mut self) -> Result<Option<Event>> {
        let mut bytes = [0; 40];
        let bytes = &mut bytes[..self.layout.bytes];
        self.records += 1;
        let read = fill_record(&mut self.text, bytes);
        let decided = match read.and_then(|read| read.then(|| self.decide(bytes)).transpose()) {
            Ok(Some(decided)) => decided,
            Ok(None) => return Ok(None),
            Err(error) => return Err(error.at(self.name.clone(), Some(self.records))),
        };
        let place = Place { part: self.part, line: self.records };
        Ok(Some(match decided {
            Ok(record) => Event::Request(Placed { record, place }),
            Err(reason) => Event::Dropped(reason, place),
        }))
    }

    fn place(&self) -> Place {
        Place { part: self.part, line: self.records.max(1) }
    }
}
