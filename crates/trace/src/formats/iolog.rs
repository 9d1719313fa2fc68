//! fio's I/O logs. Version 2: a line `fio version 2 iolog`, then `file action [offset length]`,
//! with `wait` lines between them; version 3: `fio version 3 iolog`, then `time file action
//! [offset length]` without waits.
//!
//! Offsets, lengths: bytes. Waits and the times of version 3: microseconds. A wait counts from the
//! wait before it, so the waits of a file add up. fio forgets waits below 100 us when it replays a
//! log; here every wait counts, because dropping them would move requests together. Files are
//! units, numbered from 0 in order of appearance. `add`, `open` and `close` are no requests, `sync`
//! and `datasync` are flushes. Source: fio, HOWTO, "Trace file format".

use ftlab_flash::request::Op;

use super::context::Context;
use super::fields;
use super::five_columns::split;
use super::format::{Certainty, Encoding, Format, Takes, TextFormat};
use super::line::{Line, Parsed, fault};
use crate::options::{SizeUnit, TimeUnit};
use crate::record::Record;
use crate::summary::DropReason;

const COLUMNS_2: &str = "file action [offset(bytes) length(bytes)], or file wait microseconds";
const COLUMNS_3: &str = "time(us) file action [offset(bytes) length(bytes)]";
const ACTIONS: &str = "add, open, close, read, write, sync, datasync, trim (version 2 also: wait)";

/// The row of version 2.
pub const VERSION_2: Format = Format {
    name: "iolog2",
    columns: COLUMNS_2,
    origin: "fio write_iolog, version 2",
    time_unit: TimeUnit::Microseconds,
    size_unit: SizeUnit::Bytes,
    certainty: Certainty::Documented,
    header: Some("fio version 2 iolog"),
    takes: Takes::NOTHING,
    encoding: Encoding::Text(TextFormat {
        shape: |line| shape(line, 1),
        parse: parse_2,
        time_column: |_| None,
        units_given: true,
    }),
};

/// The row of version 3.
pub const VERSION_3: Format = Format {
    name: "iolog3",
    columns: COLUMNS_3,
    origin: "fio write_iolog, version 3",
    time_unit: TimeUnit::Microseconds,
    size_unit: SizeUnit::Bytes,
    certainty: Certainty::Documented,
    header: Some("fio version 3 iolog"),
    takes: Takes::NOTHING,
    encoding: Encoding::Text(TextFormat {
        shape: |line| shape(line, 2),
        parse: parse_3,
        time_column: |line| split(line).next(),
        units_given: true,
    }),
};

/// What a word asks for.
enum Action {
    /// A read, write, trim or flush.
    Request(Op),
    /// Something done to a file.
    File,
    /// A pause.
    Wait,
}

fn action(word: &[u8]) -> Option<Action> {
    Some(match word {
        b"read" => Action::Request(Op::Read),
        b"write" => Action::Request(Op::Write),
        b"trim" => Action::Request(Op::Trim),
        b"sync" | b"datasync" => Action::Request(Op::Flush),
        b"add" | b"open" | b"close" => Action::File,
        b"wait" => Action::Wait,
        _ => return None,
    })
}

fn shape(line: &[u8], index: usize) -> bool {
    (VERSION_2.is_header(line) && index == 1)
        || (VERSION_3.is_header(line) && index == 2)
        || split(line).nth(index).is_some_and(|word| action(word).is_some())
}

fn parse_2(line: &[u8], context: &mut Context) -> Parsed<Line> {
    parse(line, COLUMNS_2, None, split(line), context)
}

fn parse_3(line: &[u8], context: &mut Context) -> Parsed<Line> {
    let mut columns = split(line);
    let time_ns = fields::time(columns.next().unwrap_or_default(), context.scales.time_ns)?;
    parse(line, COLUMNS_3, Some(time_ns), columns, context)
}

/// The columns behind the time; without one the waits so far are the time.
fn parse<'a>(
    line: &[u8],
    legal: &'static str,
    time_ns: Option<u64>,
    mut columns: impl Iterator<Item = &'a [u8]>,
    context: &mut Context,
) -> Parsed<Line> {
    let missing = |column: &str| fault(format!("column {column} is missing"), line, legal);
    let name = columns.next().ok_or_else(|| missing("file"))?;
    let word = columns.next().ok_or_else(|| missing("action"))?;
    let known = action(word).filter(|known| time_ns.is_none() || !matches!(known, Action::Wait));
    let known = known.ok_or_else(|| fault("unknown action".into(), word, ACTIONS))?;
    let (offset, length) = (columns.next(), columns.next());
    if columns.next().is_some() {
        return Err(fault("too many columns".into(), line, legal));
    }
    let op = match known {
        Action::File => return Ok(Line::Other(DropReason::NotARequest)),
        Action::Wait => {
            let wait = offset.ok_or_else(|| missing("microseconds"))?;
            let wait_ns = fields::time(wait, context.scales.time_ns)?;
            let waited_ns = context.waited_ns.checked_add(wait_ns);
            context.waited_ns =
                waited_ns.ok_or_else(|| fault("waits overflow 64 bits".into(), wait, legal))?;
            return Ok(Line::Other(DropReason::NotARequest));
        }
        Action::Request(op) => op,
    };
    let time_ns = time_ns.unwrap_or(context.waited_ns);
    let unit = unit(name, line, context)?;
    if op == Op::Flush {
        return Ok(Line::Request(Record {
            time_ns,
            op,
            offset_bytes: 0,
            size_bytes: 0,
            unit,
            stream: None,
            content: None,
        }));
    }
    let offset = offset.ok_or_else(|| missing("offset"))?;
    let length = length.ok_or_else(|| missing("length"))?;
    let offset_bytes = fields::integer("offset", offset, "0 to 2^64 - 1 bytes")?;
    let size = fields::multiple("length", length, context.scales.size_bytes, "up to 1 TiB")?;
    fields::checked(
        Record { time_ns, op, offset_bytes, size_bytes: size, unit, stream: None, content: None },
        line,
    )
}

/// Files that one log may name.
const FILES_MAX: usize = 1 << 16;

/// The number of a file, in order of appearance.
fn unit(name: &[u8], line: &[u8], context: &mut Context) -> Parsed<u32> {
    let legal = "up to 65536 files in a log";
    let number = context.names.number(name, FILES_MAX);
    number.ok_or_else(|| fault("too many files".into(), line, legal))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::EventFilter;
    use crate::formats::context::Scales;

    fn context() -> Context {
        Context::new(Scales::new(TimeUnit::Microseconds, SizeUnit::Bytes), EventFilter::default())
    }

    #[test]
    fn waits_of_version_2_add_up_and_files_are_units() {
        let mut context = context();
        let mut read = |line: &str| parse_2(line.as_bytes(), &mut context).unwrap();
        let nothing = Line::Other(DropReason::NotARequest);
        assert_eq!(read("/dev/a add"), nothing);
        let request = |time_ns, op, offset_bytes, size_bytes, unit| {
            Line::Request(Record {
                time_ns,
                op,
                offset_bytes,
                size_bytes,
                unit,
                stream: None,
                content: None,
            })
        };
        assert_eq!(read("/dev/a write 4096 8192"), request(0, Op::Write, 4096, 8192, 0));
        assert_eq!(read("/dev/a wait 150"), nothing);
        assert_eq!(read("/dev/b read 0 512"), request(150_000, Op::Read, 0, 512, 1));
        assert_eq!(read("/dev/b wait 50 0"), nothing);
        assert_eq!(read("/dev/a trim 0 4096"), request(200_000, Op::Trim, 0, 4096, 0));
        assert_eq!(read("/dev/a datasync"), request(200_000, Op::Flush, 0, 0, 0));
    }

    #[test]
    fn version_3_brings_times_and_knows_no_wait() {
        let mut context = context();
        let line = parse_3(b"1500 /dev/a read 512 1024", &mut context).unwrap();
        let expected = Record {
            time_ns: 1_500_000,
            op: Op::Read,
            offset_bytes: 512,
            size_bytes: 1024,
            unit: 0,
            stream: None,
            content: None,
        };
        assert_eq!(line, Line::Request(expected));
        for (line, problem) in [
            (&b"1500 /dev/a wait 10"[..], "unknown action"),
            (b"1500 /dev/a read 512", "length is missing"),
            (b"1500 /dev/a read 512 0", "size is 0"),
            (b"1500 /dev/a read 5 5 5", "too many columns"),
            (b"x /dev/a read 5 5", "time is not a number"),
            (b"1500 /dev/a", "action is missing"),
        ] {
            let fault = parse_3(line, &mut context).unwrap_err();
            assert!(fault.problem.contains(problem), "{}: {}", line.escape_ascii(), fault.problem);
        }
    }
}
