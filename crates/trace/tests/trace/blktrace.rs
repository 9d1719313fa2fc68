//! blktrace's binary files: one CPU, many CPUs, both byte orders, broken ones.

use crate::common::{Files, error_of, inspect, read_all, real_trace};
use ftlab_flash::request::Op;
use ftlab_trace::Options;

const ISSUE: u32 = 7;
const WRITE: u32 = 1 << 1 << 16;
const READ: u32 = 1 << 16;
const DISCARD: u32 = 1 << 13 << 16;
const FLUSH: u32 = 1 << 2 << 16;
const NOTICE: u32 = 1 << 10 << 16;

struct Event {
    time_ns: u64,
    sector: u64,
    bytes: u32,
    action: u32,
    pid: u32,
    data: &'static [u8],
}

fn event(time_ns: u64, sector: u64, bytes: u32, action: u32) -> Event {
    Event { time_ns, sector, bytes, action, pid: 77, data: b"" }
}

fn encode(events: &[Event], big_endian: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let mut put = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        if big_endian {
            bytes.reverse();
        }
        out.extend_from_slice(&bytes);
    };
    let mut data = Vec::new();
    for (number, event) in events.iter().enumerate() {
        put(&0x6561_7407u32.to_le_bytes());
        put(&(number as u32).to_le_bytes());
        put(&event.time_ns.to_le_bytes());
        put(&event.sector.to_le_bytes());
        for word in [event.bytes, event.action, event.pid, 8 << 20 | 16, 0] {
            put(&word.to_le_bytes());
        }
        put(&0u16.to_le_bytes());
        put(&(event.data.len() as u16).to_le_bytes());
        // Data has no byte order: reversed twice it stays as it is.
        data.clear();
        data.extend_from_slice(event.data);
        if big_endian {
            data.reverse();
        }
        put(&data);
    }
    out
}

fn filtered(filter: &str) -> Options {
    Options { filter: filter.parse().unwrap(), ..Options::default() }
}

#[test]
fn the_files_of_all_cpus_are_one_trace_in_order_of_time() {
    let files = Files::new();
    let first = [event(100, 8, 4096, ISSUE | WRITE), event(500, 16, 512, ISSUE | READ)];
    let second = [event(300, 24, 1024, ISSUE | DISCARD), event(700, 0, 0, ISSUE | FLUSH)];
    files.write("disk.blktrace.0", encode(&first, false));
    files.write("disk.blktrace.1", encode(&second, true));
    let name = files.path("disk").display().to_string();
    for text in [name.clone(), format!("{name}.blktrace.*"), files.folder()] {
        let options = Options { keep_zero_size_flushes: true, ..Options::default() };
        let records = read_all(&text, &options).unwrap();
        let seen: Vec<_> =
            records.iter().map(|record| (record.time_ns, record.op, record.size_bytes)).collect();
        let expected = [
            (0, Op::Write, 4096),
            (200, Op::Trim, 1024),
            (400, Op::Read, 512),
            (600, Op::Flush, 0),
        ];
        assert_eq!(seen, expected, "{text}");
        assert!(records.iter().all(|record| record.unit == 8 << 20 | 16));
    }
}

#[test]
fn actions_and_processes_are_chosen_by_number_and_by_name() {
    let notice = Event { data: b"java\0\0\0\0", ..event(1, 0, 0, NOTICE) };
    let other = Event { pid: 5, ..event(20, 8, 512, ISSUE | WRITE) };
    let queued = event(5, 8, 512, 1 | WRITE);
    let files = Files::new();
    let path =
        files.write("t", encode(&[notice, queued, event(10, 8, 512, ISSUE | READ), other], false));
    for (filter, requests) in [
        ("process=java", 1),
        ("process=77", 1),
        ("process=5", 1),
        ("process=5+java", 2),
        ("action=Q", 1),
    ] {
        let found = inspect(&path, &filtered(filter)).unwrap();
        assert_eq!(found.requests, requests, "{filter}");
        let dropped: u64 = found.dropped.iter().map(|drop| drop.lines).sum();
        assert_eq!(found.lines, requests + dropped, "{filter}");
    }
}

#[test]
fn truncated_and_foreign_bytes_are_named_by_event() {
    let whole = encode(&[event(1, 8, 512, ISSUE | READ), event(2, 8, 512, ISSUE | READ)], false);
    let files = Files::new();
    let path = files.write("cut", &whole[..60]);
    let error = error_of(&path, &Options::default());
    assert!(error.problem().contains("12 of 48 bytes"), "{error}");
    assert_eq!((error.file(), error.line()), (Some(&*path), Some(2)));
    let mut foreign = whole.clone();
    foreign[48] ^= 0xff;
    let error = error_of(&files.write("foreign", foreign), &Options::default());
    assert!(error.problem().contains("not an event of blktrace"), "{error}");
    assert_eq!(error.line(), Some(2));
    let far = encode(&[event(1, u64::MAX / 256, 512, ISSUE | READ)], false);
    let error = error_of(&files.write("far", far), &Options::default());
    assert!(error.problem().contains("overflows 64 bits"), "{error}");
    let text = files.write("text", "0,100,4096,w,0.5\n");
    let stated = Options { format: Some("blktrace".into()), ..Options::default() };
    let error = error_of(&text, &stated);
    assert!(error.problem().contains("not in the binary format blktrace"), "{error}");
}

#[test]
fn the_real_capture_is_counted_exactly() {
    let Some(path) = real_trace("sample.blktrace.0") else { return };
    let found = inspect(&path, &Options::default()).unwrap();
    assert_eq!((found.format.as_str(), found.requests, found.reads), ("blktrace", 963, 963));
    assert_eq!((found.bytes_read, found.span_ns), (3_944_448, 345_487_394));
    assert_eq!(found.units[0].unit, 271_581_184);
    let one_process = inspect(&path, &filtered("action=Q,process=21279")).unwrap();
    assert!(one_process.requests > 0 && one_process.requests <= 963);
}
