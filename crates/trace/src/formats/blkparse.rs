//! blkparse text, as blkparse prints it by default: `major,minor cpu sequence seconds pid action
//! rwbs sector + sectors [process]`. YCSB on RocksDB (SNIA) ships in parts of this.
//!
//! One action counts (D, issued to the device, unless `--filter action=` says otherwise), so that
//! a request that was queued, issued and completed is read once. Messages, plugs and the summary at
//! the end are no requests. The unit is `major * 2^20 + minor`, as the kernel counts devices.
//! In `rwbs` a D is a discard, W a write, R a read, a lone F a flush, N neither.
//! Source: blktrace, `blkparse_fmt.c`.

use ftlab_flash::request::Op;

use super::context::Context;
use super::fields;
use super::five_columns::split;
use super::format::{Certainty, Encoding, Format, Takes, TextFormat};
use super::line::{Line, Parsed, fault};
use crate::options::{SizeUnit, TimeUnit};
use crate::record::{Record, unit_of_device};
use crate::summary::DropReason;

const COLUMNS: &str =
    "major,minor cpu sequence time(s) pid action rwbs sector(512 B) + sectors [process]";

/// The action that counts unless another is asked for: issued to the device.
pub(crate) const ACTION: u8 = b'D';

/// The row.
pub const FORMAT: Format = Format {
    name: "blkparse",
    columns: COLUMNS,
    origin: "blkparse (blktrace); YCSB on RocksDB (SNIA IOTTA)",
    time_unit: TimeUnit::Seconds,
    size_unit: SizeUnit::Sectors,
    certainty: Certainty::Documented,
    header: None,
    takes: Takes::ACTION_AND_PROCESS,
    encoding: Encoding::Text(TextFormat { shape, parse, time_column, units_given: false }),
};

fn shape(line: &[u8]) -> bool {
    let mut columns = split(line);
    columns.next().is_some_and(|device| device_of(device).is_some())
        && columns.nth(4).is_some_and(|action| action.len() <= 2)
}

fn time_column(line: &[u8]) -> Option<&[u8]> {
    split(line).nth(3)
}

fn parse(line: &[u8], context: &mut Context) -> Parsed<Line> {
    let mut columns = split(line);
    let first = columns.next().unwrap_or_default();
    let Some(unit) = device_of(first) else {
        if is_summary(first) {
            return Ok(Line::Other(DropReason::NotARequest));
        }
        return Err(fault("not an event of blkparse".into(), line, COLUMNS));
    };
    let mut next = |column: &str| {
        columns.next().ok_or_else(|| fault(format!("column {column} is missing"), line, COLUMNS))
    };
    next("cpu")?;
    next("sequence")?;
    let time_ns = fields::time(next("time")?, context.scales.time_ns)?;
    let pid = next("pid")?;
    let action = next("action")?;
    if action != [context.events.action.unwrap_or(ACTION)] {
        return Ok(Line::Other(DropReason::ActionNotSelected));
    }
    if !context.events.takes_process(pid, process(line)) {
        return Ok(Line::Other(DropReason::ProcessNotSelected));
    }
    let Some(op) = operation(next("rwbs")?) else {
        return Ok(Line::Other(DropReason::NoOperation));
    };
    let (sector, plus, sectors) = (columns.next(), columns.next(), columns.next());
    let (Some(sector), Some(b"+"), Some(sectors)) = (sector, plus, sectors) else {
        return Ok(match op {
            Op::Flush => Line::Request(flush(time_ns, unit)),
            // A command of its own (SCSI pass-through) has a byte count and no address.
            _ => Line::Other(DropReason::NoOperation),
        });
    };
    let offset_bytes = fields::multiple("sector", sector, 512, "0 to 2^55 - 1 sectors of 512 B")?;
    let size = fields::multiple("sectors", sectors, context.scales.size_bytes, "up to 1 TiB")?;
    match op {
        Op::Flush => Ok(Line::Request(flush(time_ns, unit))),
        _ if size == 0 => Ok(Line::Other(DropReason::NoOperation)),
        _ => fields::checked(
            Record {
                time_ns,
                op,
                offset_bytes,
                size_bytes: size,
                unit,
                stream: None,
                content: None,
            },
            line,
        ),
    }
}

fn flush(time_ns: u64, unit: u32) -> Record {
    Record {
        time_ns,
        op: Op::Flush,
        offset_bytes: 0,
        size_bytes: 0,
        unit,
        stream: None,
        content: None,
    }
}

/// What the letters of `rwbs` ask for; none: nothing that moves data.
pub(crate) fn operation(rwbs: &[u8]) -> Option<Op> {
    // In this order: `FWFS` writes, `DS` discards, `RA` reads ahead, `FN` only flushes.
    [(b'D', Op::Trim), (b'W', Op::Write), (b'R', Op::Read), (b'F', Op::Flush)]
        .into_iter()
        .find(|(letter, _)| rwbs.contains(letter))
        .map(|(_, op)| op)
}

/// `major,minor` as one number.
fn device_of(column: &[u8]) -> Option<u32> {
    let comma = column.iter().position(|&byte| byte == b',')?;
    let number = |digits: &[u8]| crate::number::integer(digits).ok();
    unit_of_device(number(&column[..comma])?, number(&column[comma + 1..])?)
}

/// The name in brackets at the end, which may hold blanks.
fn process(line: &[u8]) -> &[u8] {
    let line = line.trim_ascii_end();
    match (memchr::memrchr(b'[', line), line.last()) {
        (Some(start), Some(b']')) => &line[start + 1..line.len() - 1],
        _ => b"",
    }
}

/// First words of the lines that blkparse prints before and behind the events.
fn is_summary(word: &[u8]) -> bool {
    const WORDS: [&[u8]; 10] = [
        b"Reads",
        b"Read",
        b"Writes",
        b"Write",
        b"IO",
        b"Total",
        b"Throughput",
        b"Events",
        b"Skips:",
        b"Input",
    ];
    WORDS.contains(&word)
        || word
            .strip_prefix(b"CPU")
            .is_some_and(|digits| !digits.is_empty() && digits.iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::{EventFilter, Filter};
    use crate::formats::context::Scales;

    fn read(line: &str, filter: &str) -> Parsed<Line> {
        let events = match filter {
            "" => EventFilter::default(),
            text => text.parse::<Filter>().unwrap().events,
        };
        let scales = Scales::new(TimeUnit::Seconds, SizeUnit::Sectors);
        parse(line.as_bytes(), &mut Context::new(scales, events))
    }

    #[test]
    fn one_action_counts_and_letters_say_what_is_asked_for() {
        let issued = "  8,16   3        5     0.000026421  3645  D   R 4938888 + 256 [my app]";
        let request = |op, size_bytes| {
            Line::Request(Record {
                time_ns: 26_421,
                op,
                offset_bytes: 4_938_888 * 512,
                size_bytes,
                unit: 8 << 20 | 16,
                stream: None,
                content: None,
            })
        };
        assert_eq!(read(issued, "").unwrap(), request(Op::Read, 256 * 512));
        let other = |reason| Line::Other(reason);
        assert_eq!(read(issued, "action=C").unwrap(), other(DropReason::ActionNotSelected));
        for (filter, kept) in [
            ("process=my app", true),
            ("process=3645", true),
            ("process=my", false),
            ("action=D,process=1+my app", true),
        ] {
            let expected = match kept {
                true => request(Op::Read, 256 * 512),
                false => other(DropReason::ProcessNotSelected),
            };
            assert_eq!(read(issued, filter).unwrap(), expected, "{filter}");
        }
        for (letters, op) in
            [("RA", Op::Read), ("WS", Op::Write), ("FWFS", Op::Write), ("DS", Op::Trim)]
        {
            let line = issued.replace("  R ", &format!(" {letters} "));
            assert_eq!(read(&line, "").unwrap(), request(op, 256 * 512), "{letters}");
        }
    }

    #[test]
    fn lines_that_ask_for_nothing_are_named() {
        for (line, reason) in [
            ("8,0 1 2 0.5 77 D N 0 + 0 [x]", DropReason::NoOperation),
            ("8,0 1 2 0.5 77 D R 36 (12 00 00 00 24 00 ..) [x]", DropReason::NoOperation),
            ("8,0 1 2 0.5 77 m N cfq77 insert_request", DropReason::ActionNotSelected),
            ("CPU0 (8,16):", DropReason::NotARequest),
            (" Reads Queued:           0,        0KiB", DropReason::NotARequest),
            ("Throughput (R/W): 0KiB/s / 0KiB/s", DropReason::NotARequest),
        ] {
            assert_eq!(read(line, "").unwrap(), Line::Other(reason), "{line}");
        }
        let flush = read("8,0 1 2 0.5 77 D FN [jbd2]", "").unwrap();
        assert!(matches!(flush, Line::Request(Record { op: Op::Flush, size_bytes: 0, .. })));
        for line in ["CPUx", "8,1048576 1 2 0.5 77 D R 1 + 1 [x]", "8,0 1 2 -1 77 D R 1 + 1 [x]"] {
            assert!(read(line, "").is_err(), "{line}");
        }
    }
}
