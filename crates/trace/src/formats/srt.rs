//! HP SRT (short record trace): requests at the disks of HP-UX machines, binary, big endian.
//! Cello99 and OpenMail ship so.
//!
//! A file may begin with a header of text, `name = value;` a line, that ends with a form feed
//! (0x0C); its `tracedate = "Www Mmm dd hh:mm:ss yyyy"` is the time that the records count from,
//! taken as UTC. Its first line may hold one NUL, as hplajw's does: `$$TR_IOREC-1.3 (IOAdaptor
//! Upgrade Version) \0`. Files that were put together later have none and begin with a record at
//! once.
//!
//! Words of 32 bits: 0 bytes of this record, 1 version (upper half, 1 to 4) and kind (lower half),
//! 2 and 3 seconds and microseconds at which the request entered the queue, 4 and 5 start and end
//! of its service, 6 bytes, 7 sector, 8 device, 9 driver, 10 cylinder, 11 flags (0x1: read), 12
//! more. Version 4 has a word more (length of the queue), a suspicious request (kind 4) another.
//! SHORTIO, kind 1, is a request. All other kinds (0 unknown, 2 LONGIO, 3 TEXTIO, 4 SUSPECTIO, 5
//! and above: the file system's) are passed over by their size and counted.
//!
//! Sectors count what the header calls `sectorsize`: hplajw's are of 256 bytes, and only so do its
//! sections lie side by side on its disks. Where no header says it, they count 512 bytes, as
//! DiskSim reads them; parts of HP-UX counted blocks of 1024, and no public text says that SRT
//! never does. A request has a sector to 1 GiB. The unit is the device number without its lowest 8
//! bits, which name a section of a disk and not the disk: DiskSim's disk is `unit % 256`, and disks
//! of two controllers stay apart. Requests that failed (flag 0x4) were asked for and count. Several
//! files are read as one trace in order of time, by their dates; where none has a date, only
//! `--parts by_time` says that their clocks are one. Source: DiskSim, input formats hpl and hpl2.

use ftlab_flash::request::Op;

use super::context::Context;
use super::format::{BinaryFormat, Certainty, Encoding, FilesOf, Format, Open, Takes};
use crate::error::{Result, TraceError};
use crate::events::{Event, Events, Files, fill, fill_record};
use crate::number;
use crate::options::{Parts, SizeUnit, TimeUnit};
use crate::order::Placed;
use crate::record::{Place, Record};
use crate::source::Text;
use crate::summary::DropReason;

const COLUMNS: &str = "big-endian records of 52 to 60 bytes: size, version and kind, time(s, us), \
                       start, stop, size(bytes), sector(512 B, or the header's sectorsize), device, ..., flags";

/// The row.
pub const FORMAT: Format = Format {
    name: "srt",
    columns: COLUMNS,
    origin: "HP SRT (Cello99, OpenMail), binary",
    time_unit: TimeUnit::Microseconds,
    size_unit: SizeUnit::Bytes,
    certainty: Certainty::Stated,
    header: None,
    takes: Takes::NOTHING,
    encoding: Encoding::Binary(BinaryFormat {
        recognises,
        open: Open::Events(open),
        files: FilesOf::OneTime,
        units_given: false,
    }),
};

/// Bytes of a SHORTIO record before version 4.
const RECORD_BYTES: usize = 52;
/// Longest record of any kind: bounds what a broken size can ask for.
const RECORD_BYTES_MAX: usize = 4096;
/// Size and kind, which every record has.
const HEAD_BYTES: usize = 8;
/// Longest header.
const HEADER_BYTES_MAX: usize = 64 << 10;
const FORM_FEED: u8 = 0x0c;
const READ: u32 = 0x1;
const SHORT_IO: u32 = 1;
/// Kinds from here on are the file system's.
const FILE_SYSTEM: u32 = 5;
/// Records looked at for the first request of a file.
const RECORDS_TO_FIRST: usize = 64;
/// Longest request.
const REQUEST_BYTES_MAX: u32 = 1 << 30;
/// Bytes of a sector where no header says it.
const SECTOR_BYTES: u32 = 512;
const SECTOR_SIZE: &str =
    "sectorsize of 256, 512, 1024, 2048 or 4096 bytes, the same for all disks";
const DATE: &str = "tracedate = \"Www Mmm dd hh:mm:ss yyyy\", from 1970 to 2200";

fn word(bytes: &[u8], index: usize) -> u32 {
    u32::from_be_bytes(bytes[4 * index..4 * index + 4].try_into().expect("four bytes"))
}

/// Version and kind of a record.
fn kind(head: &[u8]) -> (u32, u32) {
    (word(head, 1) >> 16, word(head, 1) & 0xffff)
}

/// Bytes of a request's record of this version.
fn bytes_of_request(version: u32) -> usize {
    if version == 4 { RECORD_BYTES + 4 } else { RECORD_BYTES }
}

/// Does a file begin with a request, or with records of other kinds and then a request?
fn begins_with_record(mut bytes: &[u8]) -> bool {
    for _ in 0..RECORDS_TO_FIRST {
        if bytes.len() < HEAD_BYTES {
            return false;
        }
        let (version, kind) = kind(bytes);
        let size = word(bytes, 0) as usize;
        if !(1..=4).contains(&version) || kind >= FILE_SYSTEM {
            return false;
        }
        if kind == SHORT_IO {
            return size == bytes_of_request(version);
        }
        if !(HEAD_BYTES..=RECORD_BYTES_MAX).contains(&size) || size > bytes.len() {
            return false;
        }
        bytes = &bytes[size..];
    }
    false
}

/// The header without its form feed; none where the first bytes are no such text.
fn header(head: &[u8]) -> Option<&[u8]> {
    let head = &head[..head.len().min(HEADER_BYTES_MAX)];
    let text = &head[..memchr::memchr(FORM_FEED, head)?];
    let is_text = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    let (first, others) = text.split_at(memchr::memchr(b'\n', text).unwrap_or(text.len()));
    let others_in_first = first.iter().filter(|byte| !is_text(byte));
    let is_header = others_in_first.clone().count() <= 1
        && others_in_first.copied().all(|byte| byte == 0)
        && others.iter().all(is_text);
    (text.contains(&b'=') && is_header).then_some(text)
}

fn recognises(head: &[u8]) -> bool {
    match header(head) {
        Some(text) => {
            let dated = memchr::memmem::find(text, b"tracedate").is_some();
            dated || begins_with_record(&head[text.len() + 1..])
        }
        None => begins_with_record(head),
    }
}

/// Nanoseconds since 1970 of a header's date; none where it has no date.
fn date_ns(header: &[u8]) -> Result<Option<u64>> {
    let setting = |line: &&[u8]| line.trim_ascii().starts_with(b"tracedate");
    let Some(line) = header.split(|&byte| byte == b'\n').find(setting) else {
        return Ok(None);
    };
    let date = std::str::from_utf8(line).ok().and_then(|line| {
        let value = line.split_once('=')?.1.trim().strip_suffix(';')?.trim();
        seconds_of(value.strip_prefix('"')?.strip_suffix('"')?)
    });
    let wrong =
        || TraceError::new("tracedate is no date").with_value(line.trim_ascii()).with_legal(DATE);
    date.map(|seconds| Some(seconds * 1_000_000_000)).ok_or_else(wrong)
}

/// Bytes of a sector by a header, which names them for every disk.
fn sector_bytes(header: &[u8]) -> Result<u32> {
    const KEY: &[u8] = b"sectorsize";
    let mut found = None;
    for at in memchr::memmem::find_iter(header, KEY) {
        let value = header[at + KEY.len()..].trim_ascii_start();
        let value = value.strip_prefix(b"=").unwrap_or(value).trim_ascii_start();
        let end = value.iter().position(|byte| !byte.is_ascii_alphanumeric());
        let value = &value[..end.unwrap_or(value.len())];
        let bytes = number::integer(value).ok().and_then(|bytes| u32::try_from(bytes).ok());
        let legal = bytes.filter(|bytes| bytes.is_power_of_two() && (256..=4096).contains(bytes));
        let wrong =
            |problem: &str| TraceError::new(problem).with_value(value).with_legal(SECTOR_SIZE);
        let bytes = legal.ok_or_else(|| wrong("sectorsize is illegal"))?;
        if *found.get_or_insert(bytes) != bytes {
            return Err(wrong("disks differ in their sectorsize, and records do not name theirs"));
        }
    }
    Ok(found.unwrap_or(SECTOR_BYTES))
}

/// Seconds since 1970 of `Www Mmm dd hh:mm:ss yyyy`, as UTC.
fn seconds_of(date: &str) -> Option<u64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let words: Vec<&str> = date.split_ascii_whitespace().collect();
    let [_, month, day, time, year] = words[..] else {
        return None;
    };
    let month = MONTHS.iter().position(|name| name.eq_ignore_ascii_case(month))? as u64;
    let number = |text: &str, most: u64| text.parse::<u64>().ok().filter(|&number| number <= most);
    let (day, year) = (number(day, 31)?.checked_sub(1)?, number(year, 2200)?);
    let clock: Vec<&str> = time.split(':').collect();
    let [hours, minutes, seconds] = clock[..] else {
        return None;
    };
    // A leap second counts as the first of the next minute.
    let clock = number(hours, 23)? * 3600 + number(minutes, 59)? * 60 + number(seconds, 60)?;
    let leaps = |year: u64| year / 4 - year / 100 + year / 400;
    let is_leap = leaps(year) > leaps(year.checked_sub(1)?);
    let february = if is_leap { 29 } else { 28 };
    let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    if day >= lengths[month as usize] {
        return None;
    }
    let years = year.checked_sub(1970)?;
    let days = years * 365 + leaps(year - 1) - leaps(1969);
    let days = days + lengths[..month as usize].iter().sum::<u64>() + day;
    Some(days * 86_400 + clock)
}

fn open(mut files: Files, context: Context, _: &'static Format) -> Result<Box<dyn Events>> {
    let part = files.parts.start;
    let (mut text, Start { base, sector_bytes }) = begin(&mut files, part)?;
    let name = files.names[part].clone();
    // Dates of some files and none of others leave the distance between their clocks open.
    if part > 0 && begin(&mut files, 0)?.1.base.is_some() != base.is_some() {
        let (with, without) = if base.is_some() { (part, 0) } else { (0, part) };
        let problem = format!("has no tracedate, but {} has one", files.names[with]);
        return Err(TraceError::new(problem)
            .with_legal("files that all have a header with tracedate, or none")
            .at(files.names[without].clone(), None));
    }
    if part > 0 && base.is_none() && context.parts != Some(Parts::ByTime) {
        let problem = format!("has no tracedate, and neither has {}", files.names[0]);
        return Err(TraceError::new(problem)
            .with_legal(
                "--parts by_time where the clocks of all files are one; phases:A,B where each \
                 begins at a time 0 of its own",
            )
            .at(name, None));
    }
    let mut at = 0;
    if let Some(header) = header(text.head()).map(<[u8]>::len) {
        at = header as u64 + 1;
        fill(&mut text, &mut vec![0; header + 1])?;
    }
    let base_ns = base.unwrap_or(0);
    let buffer = vec![0; RECORD_BYTES_MAX];
    let part = part as u32;
    Ok(Box::new(Records { part, name, text, base_ns, sector_bytes, at, records: 0, buffer }))
}

/// What a file says before its first record.
struct Start {
    /// The time that it counts from, in nanoseconds since 1970, where it has a date.
    base: Option<u64>,
    sector_bytes: u32,
}

/// One file at its start.
fn begin(files: &mut Files, part: usize) -> Result<(Text, Start)> {
    let text = files.open(part)?;
    let locate = |error: TraceError| error.at(files.names[part].clone(), Some(1));
    let header = header(text.head()).unwrap_or_default();
    let base = date_ns(header).map_err(locate)?;
    let sector_bytes = sector_bytes(header).map_err(locate)?;
    Ok((text, Start { base, sector_bytes }))
}

/// The records of one file.
struct Records {
    part: u32,
    name: String,
    text: Text,
    base_ns: u64,
    sector_bytes: u32,
    /// Byte of the (decompressed) file at which the next record begins.
    at: u64,
    records: u64,
    /// The record that is read; empty once reading has ended.
    buffer: Vec<u8>,
}

impl Records {
    /// Reads the bytes of a record; none at the end.
    fn read<'b>(&mut self, buffer: &'b mut [u8]) -> Result<Option<&'b [u8]>> {
        if buffer.is_empty() {
            return Ok(None);
        }
        let (head, rest) = buffer.split_at_mut(HEAD_BYTES);
        if !fill_record(&mut self.text, head)? {
            return Ok(None);
        }
        let bytes = word(head, 0) as usize;
        let (version, kind) = kind(head);
        if !(1..=4).contains(&version) {
            return Err(TraceError::new("version of the record is unknown")
                .with_value(version.to_string().as_bytes())
                .with_legal("1 to 4"));
        }
        // Only a request's fields are read: of all other kinds the size is what their record says.
        let wanted = (kind == SHORT_IO).then(|| bytes_of_request(version));
        let possible = (HEAD_BYTES..=RECORD_BYTES_MAX).contains(&bytes);
        if wanted.is_some_and(|wanted| bytes != wanted) || !possible {
            let legal = match wanted {
                Some(wanted) => format!("{wanted}"),
                None => format!("{HEAD_BYTES} to {RECORD_BYTES_MAX}"),
            };
            let which = format!("size of a record of version {version} and kind {kind}");
            return Err(TraceError::new(format!("{which} is illegal"))
                .with_value(format!("{bytes} bytes").as_bytes())
                .with_legal(legal));
        }
        let read = fill(&mut self.text, &mut rest[..bytes - HEAD_BYTES])? + HEAD_BYTES;
        if read < bytes {
            let problem = format!("file ends within a record ({read} of {bytes} bytes)");
            return Err(TraceError::new(problem).with_legal("a complete file"));
        }
        Ok(Some(&buffer[..bytes]))
    }

    /// What a record asks for.
    fn decide(&self, bytes: &[u8]) -> Result<std::result::Result<Record, DropReason>> {
        if kind(bytes).1 != SHORT_IO {
            return Ok(Err(DropReason::OtherKind));
        }
        let (microseconds, size) = (word(bytes, 3), word(bytes, 6));
        let illegal = |what: &str, value: u32, legal: &str| {
            Err(TraceError::new(what).with_value(value.to_string().as_bytes()).with_legal(legal))
        };
        if microseconds > 999_999 {
            return illegal("microseconds of the time are illegal", microseconds, "0 to 999999");
        }
        if size == 0 {
            return Ok(Err(DropReason::NoOperation));
        }
        let whole = size.is_multiple_of(self.sector_bytes);
        if !whole || size > REQUEST_BYTES_MAX {
            let what = if whole { "size is too large" } else { "size is not in whole sectors" };
            let legal = format!("a multiple of {} bytes, to 1 GiB (1073741824)", self.sector_bytes);
            return illegal(what, size, &legal);
        }
        let after_ns = u64::from(word(bytes, 2)) * 1_000_000_000 + u64::from(microseconds) * 1000;
        Ok(Ok(Record {
            // Four billion seconds after the year 2200 at most: within 64 bits.
            time_ns: self.base_ns + after_ns,
            op: if word(bytes, 11) & READ != 0 { Op::Read } else { Op::Write },
            offset_bytes: u64::from(word(bytes, 7)) * u64::from(self.sector_bytes),
            size_bytes: u64::from(size),
            unit: word(bytes, 8) >> 8,
            stream: None,
            content: None,
        }))
    }

    fn next(&mut self) -> Result<Option<Event>> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let Some(bytes) = self.read(&mut buffer)? else {
            return Ok(None);
        };
        let decided = self.decide(bytes)?;
        self.at += bytes.len() as u64;
        self.records += 1;
        self.buffer = buffer;
        let place = Place { part: self.part, line: self.records };
        Ok(Some(match decided {
            Ok(record) => Event::Request(Placed { record, place }),
            Err(reason) => Event::Dropped(reason, place),
        }))
    }
}

impl Events for Records {
    fn next_event(&mut self) -> Result<Option<Event>> {
        self.next()
            .map_err(|error| error.at_byte(self.at).at(self.name.clone(), Some(self.records + 1)))
    }

    fn place(&self) -> Place {
        Place { part: self.part, line: self.records.max(1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_count_from_1970() {
        for (date, seconds) in [
            ("Thu Jan  1 00:00:00 1970", Some(0)),
            ("Sat Mar  1 00:00:00 1980", Some(320_716_800)),
            ("Fri Dec 31 23:59:59 1999", Some(946_684_799)),
            ("Tue Feb 29 12:00:00 2000", Some(951_825_600)),
            ("Mon Feb 29 12:00:00 2100", None),
            ("Wed Dec 31 00:00:00 1969", None),
            ("Fri Dec 0 23:59:59 1999", None),
            ("Fri Dez 31 23:59:59 1999", None),
            ("Fri Dec 31 23:59 1999", None),
            ("Fri Dec 31 24:00:00 1999", None),
        ] {
            assert_eq!(seconds_of(date), seconds, "{date}");
        }
    }
}
