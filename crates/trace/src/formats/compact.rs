//! ftlab's compact binary: convert once, replay often (`ftlab trace convert IN OUT.ftb`).
//!
//! All numbers little endian. A header: `FTLTRACE`, version (u32, 2), records in a full block
//! (u32), the time in the trace's own count that the records count from (ns, u64), flags (u32; 1:
//! units were given by file or by name), CRC-32 of all that (u32). Then blocks: records (u32, not
//! 0), CRC-32 of the rest of the block and of that number (u32), time of the first (u64), then 28
//! bytes a record: time (ns, u64), offset (bytes, u64), size (bytes, 48 bits), operation (4 bits: 0
//! read, 1 write, 2 trim, 3 flush), placement hint plus one (12 bits; 0: none; what does not know
//! hints finds an illegal operation there), unit (u32). Where the records of a block say what they
//! write (its number of records has the highest bit set, so that what does not know contents finds
//! it too large), each has 8 bytes more: the number of the content (u64; 0: none). Then an end
//! mark: 0 (u32), CRC-32 of the index (u32), bytes of the index (u64), and the index: for each
//! block its place in the file and its first time (u64 each), then the number of records (u64). The
//! last 16 bytes are the place of the end mark (u64) and `FTLINDEX`. Whoever reads a file to its
//! end holds all of this against what was read. Version 1 has a header of 16 bytes and counts from
//! 0; its checksums are of the records alone, and where its units come from it does not say: they
//! are taken as given.
//!
//! Units given by file or by name (our CSV, MSR's hosts, fio's files, a synthetic workload) begin
//! at 0 in every file. Files of one time (`--parts by_time`) with such units get units of their
//! own, numbered in order of appearance; units that a trace stated itself are kept.
//!
//! Records are in order of time, so nothing is sorted. Blocks are read one after the other, also
//! through a decompressor; `--filter from=` finds its block by the index in a file that is stored
//! plain. Several files are parts in order or of one time, as in every format.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use super::context::{Context, Names};
use super::format::{BinaryFormat, Certainty, Encoding, FilesOf, Format, Open, Takes};
use crate::error::{Result, TraceError};
use crate::events::{Batches, Files, fill, fill_as_far};
use crate::options::{Parts, SizeUnit, TimeUnit};
use crate::record::{Place, Record};

mod index;
mod layout;
mod writer;

use index::Seen;
use layout::{
    BLOCK_HEADER_BYTES, BLOCK_RECORDS, CONTENT_BYTES, FIRST_BYTES, HEADER_BYTES, MAGIC,
    UNITS_GIVEN, VERSION, WITH_CONTENTS, block_checksum, decode, long, word,
};

pub(crate) use layout::RECORD_BYTES;
pub(crate) use writer::Writer;

const COLUMNS: &str = "blocks of time(ns), offset(bytes), size(bytes), op, unit, with an index";

/// The row.
pub const FORMAT: Format = Format {
    name: "compact",
    columns: COLUMNS,
    origin: "ftlab trace convert IN OUT.ftb",
    time_unit: TimeUnit::Nanoseconds,
    size_unit: SizeUnit::Bytes,
    certainty: Certainty::Stated,
    header: None,
    takes: Takes::NOTHING,
    encoding: Encoding::Binary(BinaryFormat {
        recognises,
        open: Open::Batches(open),
        files: FilesOf::Parts,
        units_given: false,
    }),
};

/// Records in a block that are read: bounds the memory that a broken file can ask for.
const BLOCK_RECORDS_MAX: u32 = 1 << 20;

fn recognises(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// Were the units of a file with this beginning given by file or by name?
pub(crate) fn units_are_given(head: &[u8]) -> bool {
    recognises(head)
        && head.len() >= HEADER_BYTES
        && (word(&head[8..]) == 1 || word(&head[24..]) & UNITS_GIVEN != 0)
}

/// The bytes of one file: decompressed, or stored plain and entered in the middle.
enum Bytes {
    Stream(crate::source::Text),
    Plain(io::BufReader<File>),
}

impl Read for Bytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Stream(text) => text.read(buffer),
            Self::Plain(file) => file.read(buffer),
        }
    }
}

fn open(files: Files, context: Context) -> Result<Box<dyn Batches>> {
    let part = files.parts.start;
    let mut blocks = Blocks {
        files,
        bytes: None,
        part,
        version: VERSION,
        block_records: BLOCK_RECORDS,
        origin_ns: 0,
        units_given: false,
        own_units: None,
        start_ns: None,
        ahead: None,
        block: Vec::new(),
        next: 0,
        record_bytes: RECORD_BYTES,
        record: 0,
        seen: Seen::default(),
        latest_ns: 0,
    };
    blocks.start(part)?;
    if context.of_one_time {
        blocks.compare_units_with_first()?;
        blocks.own_units = blocks.units_given.then_some(context.names);
    }
    if context.from_ns > 0 {
        blocks.skip_to(context.from_ns)?;
    }
    Ok(Box::new(blocks))
}

/// The blocks of all files, one after the other.
struct Blocks {
    files: Files,
    bytes: Option<Bytes>,
    part: usize,
    version: u32,
    /// Records in every block of this file but the last.
    block_records: u32,
    /// What the times of this file count from.
    origin_ns: u64,
    /// Were the units of this file given by file or by name?
    units_given: bool,
    /// Numbers of (file, unit) over all files of one time, where units were given.
    own_units: Option<Names>,
    /// When the first request happened, if reading began behind it.
    start_ns: Option<u64>,
    ahead: Option<Ahead>,
    block: Vec<u8>,
    /// Where the next record begins in `block`.
    next: usize,
    /// Bytes of each record in `block`.
    record_bytes: usize,
    record: u64,
    /// What was read of this file in whole blocks.
    seen: Seen,
    latest_ns: u64,
}

impl Blocks {
    /// Opens a file and checks its header.
    fn start(&mut self, part: usize) -> Result<()> {
        self.part = part;
        self.record = 0;
        let mut text = self.files.open(part)?;
        let header = Header::read(&mut text).map_err(|error| self.locate(error))?;
        self.version = header.version;
        self.block_records = header.block_records;
        self.origin_ns = header.origin_ns;
        self.units_given = header.units_given;
        self.seen = Seen { place: header.bytes, ..Seen::default() };
        self.bytes = Some(Bytes::Stream(text));
        self.ahead = None;
        Ok(())
    }

    /// Refuses units that were given beside units that a trace stated: what they share is unknown.
    fn compare_units_with_first(&mut self) -> Result<()> {
        if self.part == 0 {
            return Ok(());
        }
        let mut first = self.files.only(0).open(0)?;
        let located = |error: TraceError| error.at(self.files.names[0].clone(), Some(1));
        let given = Header::read(&mut first).map_err(located)?.units_given;
        if given == self.units_given {
            return Ok(());
        }
        let (this, first) = match given {
            true => ("stated by its trace", "given by file or by name"),
            false => ("given by file or by name", "stated by its trace"),
        };
        let problem = format!("units were {this}, those of {} {first}", self.files.names[0]);
        let legal = "files of one time whose units are all of one kind, or mix:A,B";
        Err(TraceError::new(problem)
            .with_legal(legal)
            .at(self.files.names[self.part].clone(), None))
    }

    /// Enters the first file at the last block that begins before `from_ns`, by its index; where it
    /// has none that can be reached (compressed, standard input), everything is read.
    fn skip_to(&mut self, from_ns: u64) -> Result<()> {
        let Some(mut file) = self.files.plain(self.part) else {
            return Ok(());
        };
        let failed = |error: io::Error| {
            TraceError::new(format!("index cannot be read ({error})")).with_legal("a complete file")
        };
        let index =
            index::read_index(&mut file).map_err(failed).map_err(|error| self.locate(error))?;
        let Some(index) = index else {
            let broken = TraceError::new("index is broken").with_legal("a complete file");
            return Err(self.locate(broken));
        };
        // The first request of all is needed as well: times count from it, and it is at the origin.
        let at = index.partition_point(|(_, first_ns)| *first_ns < from_ns);
        let Some((place, _)) = at.checked_sub(1).and_then(|before| index.get(before)) else {
            return Ok(());
        };
        file.seek(SeekFrom::Start(*place)).map_err(failed).map_err(|error| self.locate(error))?;
        self.start_ns = Some(self.origin_ns);
        let blocks = at as u64 - 1;
        self.record = blocks * u64::from(self.block_records);
        self.seen = Seen { place: *place, blocks, records: self.record };
        self.bytes = Some(Bytes::Plain(io::BufReader::with_capacity(1 << 20, file)));
        Ok(())
    }

    /// Reads the next block of this file or of the next; `false` at the end of the last.
    fn next_block(&mut self) -> Result<bool> {
        loop {
            let Some(bytes) = &mut self.bytes else {
                if self.part + 1 >= self.files.parts.end {
                    return Ok(false);
                }
                self.start(self.part + 1)?;
                continue;
            };
            let read =
                read_block(bytes, &mut self.ahead, &mut self.block, self.version, &mut self.seen);
            match read {
                Ok(Some(record_bytes)) => {
                    (self.next, self.record_bytes) = (0, record_bytes);
                    return Ok(true);
                }
                Ok(None) => self.bytes = None,
                Err(error) => return Err(self.locate(error)),
            }
        }
    }

    #[cold]
    fn illegal(&self, problem: &str) -> TraceError {
        let legal = "records in order of time, of 1 byte to 1 TiB, within 16 EiB";
        self.locate(TraceError::new(problem.to_owned()).with_legal(legal))
    }

    #[cold]
    fn steps_back(&self) -> TraceError {
        if self.record > 0 || self.part == self.files.parts.start {
            return self.illegal("time steps back");
        }
        let before = &self.files.names[self.part - 1];
        let problem = format!("begins before {before} ends");
        self.locate(TraceError::new(problem).with_legal(Parts::OVERLAP))
    }

    #[cold]
    fn locate(&self, error: TraceError) -> TraceError {
        error.at(self.files.names[self.part].clone(), Some(self.record + 1))
    }
}

impl Batches for Blocks {
    fn next_batch(&mut self, batch: &mut [Record]) -> Result<(usize, Place)> {
        let first = |blocks: &Self| Place { part: blocks.part as u32, line: blocks.record + 1 };
        if self.next == self.block.len() && !self.next_block()? {
            return Ok((0, first(self)));
        }
        let first = first(self);
        let mut latest_ns = self.latest_ns;
        let mut count = 0;
        let mut wrong: fn(&Self) -> TraceError = Self::steps_back;
        for (slot, bytes) in
            batch.iter_mut().zip(self.block[self.next..].chunks_exact(self.record_bytes))
        {
            let Some(mut record) = decode(bytes) else {
                wrong = |blocks| blocks.illegal("record is illegal");
                break;
            };
            let Some(time_ns) = record.time_ns.checked_add(self.origin_ns) else {
                wrong = |blocks| blocks.illegal("time overflows 64 bits");
                break;
            };
            record.time_ns = time_ns;
            if record.time_ns < latest_ns {
                break;
            }
            latest_ns = record.time_ns;
            *slot = record;
            count += 1;
        }
        if count == 0 {
            return Err(wrong(self));
        }
        if let Some(names) = &self.own_units {
            number_units(names, self.part as u32, &mut batch[..count])
                .ok_or_else(|| self.illegal("more than 4294967295 units"))?;
        }
        self.latest_ns = latest_ns;
        self.next += count * self.record_bytes;
        self.record += count as u64;
        Ok((count, first))
    }

    fn start_ns(&self) -> Option<u64> {
        self.start_ns
    }

    fn place(&self) -> Place {
        Place { part: self.part as u32, line: self.record.max(1) }
    }
}

/// Gives the units of a file numbers beside those of the others; none where there are too many.
fn number_units(names: &Names, part: u32, records: &mut [Record]) -> Option<()> {
    let mut latest = None;
    for record in records {
        let number = match latest {
            Some((unit, number)) if unit == record.unit => number,
            _ => {
                let name = (u64::from(part) << 32 | u64::from(record.unit)).to_le_bytes();
                names.number(&name, u32::MAX as usize)?
            }
        };
        latest = Some((record.unit, number));
        record.unit = number;
    }
    Some(())
}

/// What a file says of itself.
struct Header {
    version: u32,
    block_records: u32,
    origin_ns: u64,
    units_given: bool,
    /// Length of the header.
    bytes: u64,
}

impl Header {
    /// Reads and checks it.
    fn read(bytes: &mut impl Read) -> Result<Self> {
        let mut header = [0; HEADER_BYTES];
        let (first, more) = header.split_at_mut(FIRST_BYTES);
        let read = fill(bytes, first)?;
        let legal = "a file of ftlab trace convert (FTLTRACE, version 1 or 2)";
        if read < FIRST_BYTES || !recognises(first) {
            return Err(TraceError::new("not ftlab's compact format").with_legal(legal));
        }
        let (version, block_records) = (word(&first[8..]), word(&first[12..]));
        if !(1..=VERSION).contains(&version) {
            return Err(TraceError::new("unknown version of ftlab's compact format")
                .with_value(version.to_string().as_bytes())
                .with_legal(legal));
        }
        if version == 1 {
            let (origin_ns, bytes) = (0, FIRST_BYTES as u64);
            return Ok(Self { version, block_records, origin_ns, units_given: true, bytes });
        }
        let damaged =
            |problem: &str| Err(TraceError::new(problem.to_owned()).with_legal("a complete file"));
        if fill(bytes, more)? < more.len() {
            return damaged("file ends within its header");
        }
        if crc32fast::hash(&header[..28]) != word(&header[28..]) {
            return damaged("header is damaged (its checksum differs)");
        }
        let flags = word(&header[24..]);
        if flags & !UNITS_GIVEN != 0 {
            return Err(TraceError::new("unknown flags in the header")
                .with_value(flags.to_string().as_bytes())
                .with_legal("0, or 1 where units were given by file or by name"));
        }
        let (origin_ns, units_given) = (long(&header[16..]), flags & UNITS_GIVEN != 0);
        Ok(Self { version, block_records, origin_ns, units_given, bytes: HEADER_BYTES as u64 })
    }
}

/// What follows a block, read together with it: a reader that is asked for more than its buffer
/// holds hands the bytes on without a copy of its own.
struct Ahead {
    header: [u8; BLOCK_HEADER_BYTES],
    /// Bytes of it that there are, and why not all.
    read: usize,
    outcome: Result<()>,
}

impl Ahead {
    fn read(bytes: &mut Bytes) -> Self {
        let mut header = [0; BLOCK_HEADER_BYTES];
        let (read, outcome) = fill_as_far(bytes, &mut header);
        Self { header, read, outcome }
    }
}

/// Reads a block: how many bytes each record has. None at the end mark, once all that follows was
/// held against what was seen.
fn read_block(
    bytes: &mut Bytes,
    ahead: &mut Option<Ahead>,
    block: &mut Vec<u8>,
    version: u32,
    seen: &mut Seen,
) -> Result<Option<usize>> {
    let cut = || TraceError::new("file ends within a block").with_legal("a complete file");
    let Ahead { header, read, outcome } = ahead.take().unwrap_or_else(|| Ahead::read(bytes));
    outcome?;
    if read < header.len() {
        return Err(cut());
    }
    let stated = word(&header);
    if stated == 0 {
        index::check_end(bytes, &header, *seen)?;
        return Ok(None);
    }
    let records = stated & !WITH_CONTENTS;
    if records == 0 || records > BLOCK_RECORDS_MAX {
        return Err(TraceError::new("block is of an illegal size")
            .with_value(records.to_string().as_bytes())
            .with_legal(format!("1 to {BLOCK_RECORDS_MAX} records")));
    }
    let contents = if stated == records { 0 } else { CONTENT_BYTES };
    let record_bytes = RECORD_BYTES + contents;
    let length = records as usize * record_bytes;
    block.resize(length + BLOCK_HEADER_BYTES, 0);
    let (read, outcome) = fill_as_far(bytes, block);
    let Some(read) = read.checked_sub(length) else {
        return outcome.and(Err(cut()));
    };
    let mut next = [0; BLOCK_HEADER_BYTES];
    next.copy_from_slice(&block[length..]);
    *ahead = Some(Ahead { header: next, read, outcome });
    block.truncate(length);
    if block_checksum(version, &header, block) != word(&header[4..]) {
        return Err(TraceError::new("block is damaged (its checksum differs)")
            .with_legal("a complete file, as ftlab trace convert wrote it"));
    }
    seen.place += (header.len() + block.len()) as u64;
    seen.blocks += 1;
    seen.records += u64::from(records);
    Ok(Some(record_bytes))
}
