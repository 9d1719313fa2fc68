//! ftlab's compact binary: convert once, replay often (`ftlab trace convert IN OUT.ftb`).
//!
//! All numbers little endian. A header: `FTLTRACE`, version (u32, 2), records in a full block
//! (u32), the time in the trace's own count that the records count from (ns, u64), CRC-32 of all
//! that (u32); version 1 ends after the second number, and counts from 0. Then blocks: records
//! (u32, not 0), CRC-32 of the records (u32), time of the first (u64), then 28 bytes a record: time
//! (ns, u64), offset (bytes, u64), size (bytes, 48 bits), operation (u16: 0 read, 1 write, 2 trim,
//! 3 flush), unit (u32). Then an end mark: 0 (u32), CRC-32 of the index (u32), bytes of the index
//! (u64), and the index: for each block its place in the file and its first time (u64 each), then
//! the number of records (u64). The last 16 bytes are the place of the end mark (u64) and
//! `FTLINDEX`.
//!
//! Records are in order of time, so nothing is sorted. Blocks are read one after the other, also
//! through a decompressor; `--filter from=` finds its block by the index in a file that is stored
//! plain. Several files are parts in order or of one time, as in every format.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use ftlab_engine::request::Op;

use super::fields::REQUEST_BYTES_MAX;
use super::{BinaryFormat, Certainty, Context, Encoding, FilesOf, Format, Open, Takes};
use crate::error::{Result, TraceError};
use crate::events::{Batches, Files, fill};
use crate::options::{Parts, SizeUnit, TimeUnit};
use crate::record::{Place, Record};

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
    }),
};

const MAGIC: &[u8; 8] = b"FTLTRACE";
const INDEX_MAGIC: &[u8; 8] = b"FTLINDEX";
const VERSION: u32 = 2;
const HEADER_BYTES: usize = 28;
/// The header of version 1, with which every later one begins.
const FIRST_BYTES: usize = 16;
const BLOCK_HEADER_BYTES: usize = 16;
const RECORD_BYTES: usize = 28;
/// Records in a full block as they are written: 448 KiB, which stays in a core's cache.
const BLOCK_RECORDS: u32 = 16 << 10;
/// Records in a block that are read: bounds the memory that a broken file can ask for.
const BLOCK_RECORDS_MAX: u32 = 1 << 20;

fn recognises(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

fn word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes[..4].try_into().expect("four bytes"))
}

fn long(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"))
}

fn encode(record: &Record) -> [u8; RECORD_BYTES] {
    let mut bytes = [0; RECORD_BYTES];
    bytes[..8].copy_from_slice(&record.time_ns.to_le_bytes());
    bytes[8..16].copy_from_slice(&record.offset_bytes.to_le_bytes());
    let size_and_op = record.size_bytes | (record.op as u64) << 48;
    bytes[16..24].copy_from_slice(&size_and_op.to_le_bytes());
    bytes[24..].copy_from_slice(&record.unit.to_le_bytes());
    bytes
}

/// What a record of 28 bytes says; none where it is illegal.
#[inline]
fn decode(bytes: &[u8]) -> Option<Record> {
    let size_and_op = long(&bytes[16..]);
    let op = match size_and_op >> 48 {
        0 => Op::Read,
        1 => Op::Write,
        2 => Op::Trim,
        3 => Op::Flush,
        _ => return None,
    };
    let record = Record {
        time_ns: long(bytes),
        op,
        offset_bytes: long(&bytes[8..]),
        size_bytes: size_and_op & ((1 << 48) - 1),
        unit: word(&bytes[24..]),
    };
    let fits = record.offset_bytes.checked_add(record.size_bytes).is_some();
    let sized = record.size_bytes > 0 || op == Op::Flush;
    (fits && sized && record.size_bytes <= REQUEST_BYTES_MAX).then_some(record)
}

/// Writes records in order of time.
pub(crate) struct Writer<W> {
    out: W,
    block: Vec<u8>,
    first_ns: u64,
    /// Bytes written so far.
    place: u64,
    index: Vec<(u64, u64)>,
    records: u64,
}

impl<W: Write> Writer<W> {
    /// Writes the header; the times of the records count from `origin_ns`.
    pub(crate) fn new(mut out: W, origin_ns: u64) -> io::Result<Self> {
        let mut header = MAGIC.to_vec();
        header.extend_from_slice(&VERSION.to_le_bytes());
        header.extend_from_slice(&BLOCK_RECORDS.to_le_bytes());
        header.extend_from_slice(&origin_ns.to_le_bytes());
        header.extend_from_slice(&crc32fast::hash(&header).to_le_bytes());
        out.write_all(&header)?;
        let block = Vec::with_capacity(BLOCK_RECORDS as usize * RECORD_BYTES);
        let place = HEADER_BYTES as u64;
        Ok(Self { out, block, first_ns: 0, place, index: Vec::new(), records: 0 })
    }

    /// One record more.
    pub(crate) fn write(&mut self, record: &Record) -> io::Result<()> {
        if self.block.is_empty() {
            self.first_ns = record.time_ns;
        }
        self.block.extend_from_slice(&encode(record));
        self.records += 1;
        if self.block.len() == BLOCK_RECORDS as usize * RECORD_BYTES {
            self.end_block()
        } else {
            Ok(())
        }
    }

    fn end_block(&mut self) -> io::Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        self.out.write_all(&((self.block.len() / RECORD_BYTES) as u32).to_le_bytes())?;
        self.out.write_all(&crc32fast::hash(&self.block).to_le_bytes())?;
        self.out.write_all(&self.first_ns.to_le_bytes())?;
        self.out.write_all(&self.block)?;
        self.index.push((self.place, self.first_ns));
        self.place += (BLOCK_HEADER_BYTES + self.block.len()) as u64;
        self.block.clear();
        Ok(())
    }

    /// Writes the last block and the index.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.end_block()?;
        let mut index = Vec::with_capacity(self.index.len() * 16 + 8);
        for (place, first_ns) in &self.index {
            index.extend_from_slice(&place.to_le_bytes());
            index.extend_from_slice(&first_ns.to_le_bytes());
        }
        index.extend_from_slice(&self.records.to_le_bytes());
        self.out.write_all(&0u32.to_le_bytes())?;
        self.out.write_all(&crc32fast::hash(&index).to_le_bytes())?;
        self.out.write_all(&(index.len() as u64).to_le_bytes())?;
        self.out.write_all(&index)?;
        self.out.write_all(&self.place.to_le_bytes())?;
        self.out.write_all(INDEX_MAGIC)?;
        Ok(self.out)
    }
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
        origin_ns: 0,
        start_ns: None,
        block: Vec::new(),
        next: 0,
        record: 0,
        latest_ns: 0,
    };
    blocks.start(part)?;
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
    /// What the times of this file count from.
    origin_ns: u64,
    /// When the first request happened, if reading began behind it.
    start_ns: Option<u64>,
    block: Vec<u8>,
    /// Where the next record begins in `block`.
    next: usize,
    record: u64,
    latest_ns: u64,
}

impl Blocks {
    /// Opens a file and checks its header.
    fn start(&mut self, part: usize) -> Result<()> {
        self.part = part;
        self.record = 0;
        let mut text = self.files.open(part)?;
        let mut header = [0; HEADER_BYTES];
        let (first, more) = header.split_at_mut(FIRST_BYTES);
        let read = fill(&mut text, first).map_err(|error| self.locate(error))?;
        let legal = "a file of ftlab trace convert (FTLTRACE, version 1 or 2)";
        if read < FIRST_BYTES || !recognises(first) {
            return Err(
                self.locate(TraceError::new("not ftlab's compact format").with_legal(legal))
            );
        }
        let version = word(&first[8..]);
        if !(1..=VERSION).contains(&version) {
            let wrong = TraceError::new("unknown version of ftlab's compact format");
            let value = version.to_string();
            return Err(self.locate(wrong.with_value(value.as_bytes()).with_legal(legal)));
        }
        self.origin_ns = 0;
        if version > 1 {
            let read = fill(&mut text, more).map_err(|error| self.locate(error))?;
            let wrong = if read < more.len() {
                Some("file ends within its header")
            } else {
                let differs = crc32fast::hash(&header[..24]) != word(&header[24..]);
                differs.then_some("header is damaged (its checksum differs)")
            };
            if let Some(problem) = wrong {
                return Err(self.locate(TraceError::new(problem).with_legal("a complete file")));
            }
            self.origin_ns = long(&header[16..]);
        }
        self.bytes = Some(Bytes::Stream(text));
        Ok(())
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
        let index = read_index(&mut file).map_err(failed).map_err(|error| self.locate(error))?;
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
        self.record = (at as u64 - 1) * u64::from(BLOCK_RECORDS);
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
            match read_block(bytes, &mut self.block) {
                Ok(true) => {
                    self.next = 0;
                    return Ok(true);
                }
                Ok(false) => self.bytes = None,
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
            batch.iter_mut().zip(self.block[self.next..].chunks_exact(RECORD_BYTES))
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
        self.latest_ns = latest_ns;
        self.next += count * RECORD_BYTES;
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

/// Reads a block; `false` at the end mark.
fn read_block(bytes: &mut Bytes, block: &mut Vec<u8>) -> Result<bool> {
    let mut header = [0; BLOCK_HEADER_BYTES];
    let read = fill(bytes, &mut header)?;
    let cut = || TraceError::new("file ends within a block").with_legal("a complete file");
    if read < header.len() {
        return Err(cut());
    }
    let records = word(&header);
    if records == 0 {
        return Ok(false);
    }
    if records > BLOCK_RECORDS_MAX {
        return Err(TraceError::new("block is too large")
            .with_value(records.to_string().as_bytes())
            .with_legal(format!("up to {BLOCK_RECORDS_MAX} records")));
    }
    block.resize(records as usize * RECORD_BYTES, 0);
    if fill(bytes, block)? < block.len() {
        return Err(cut());
    }
    if crc32fast::hash(block) != word(&header[4..]) {
        return Err(TraceError::new("block is damaged (its checksum differs)")
            .with_legal("a complete file, as ftlab trace convert wrote it"));
    }
    Ok(true)
}

/// Place and first time of every block; none where the end of the file is not that of a trace.
fn read_index(file: &mut File) -> io::Result<Option<Vec<(u64, u64)>>> {
    let length = file.metadata()?.len();
    let mut tail = [0; 16];
    if length < (FIRST_BYTES + BLOCK_HEADER_BYTES + tail.len()) as u64 {
        return Ok(None);
    }
    file.seek(SeekFrom::End(-16))?;
    file.read_exact(&mut tail)?;
    let place = long(&tail);
    if &tail[8..] != INDEX_MAGIC || place > length - 32 {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(place))?;
    let mut mark = [0; BLOCK_HEADER_BYTES];
    file.read_exact(&mut mark)?;
    let bytes = long(&mark[8..]);
    if word(&mark) != 0 || bytes > length - place || bytes % 16 != 8 {
        return Ok(None);
    }
    let mut index = vec![0; bytes as usize];
    file.read_exact(&mut index)?;
    if crc32fast::hash(&index) != word(&mark[4..]) {
        return Ok(None);
    }
    let entries = index.chunks_exact(16).map(|entry| (long(entry), long(&entry[8..])));
    let entries: Vec<(u64, u64)> = entries.collect();
    Ok(entries.iter().all(|(block, _)| *block < place).then_some(entries))
}
