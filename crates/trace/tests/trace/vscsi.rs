//! CloudPhysics' records, both versions, and broken ones.

use crate::common::{Files, error_of, inspect, read_all};
use ftlab_flash::request::Op;
use ftlab_trace::{DropReason, Options};

/// One record: command, length in bytes, block, time in microseconds.
fn record(version: u16, command: u16, length: u32, block: u64, time_us: u64) -> Vec<u8> {
    let mut out = Vec::new();
    let words = |out: &mut Vec<u8>, words: &[u32]| {
        words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
    };
    let halves = |out: &mut Vec<u8>| {
        out.extend_from_slice(&command.to_le_bytes());
        out.extend_from_slice(&(version << 8).to_le_bytes());
    };
    if version == 1 {
        words(&mut out, &[7, length, 1]);
        halves(&mut out);
    } else {
        halves(&mut out);
        words(&mut out, &[7, length, 1]);
    }
    let response = (version == 2).then_some(99u64);
    for long in [block, time_us].into_iter().chain(response) {
        out.extend_from_slice(&long.to_le_bytes());
    }
    out
}

fn file(version: u16) -> Vec<u8> {
    [
        record(version, 0x28, 4096, 24, 1000),
        record(version, 0x00, 0, 0, 1001),
        record(version, 0x2a, 512, 40, 1002),
        record(version, 0x42, 24, 0, 1003),
        record(version, 0x28, 0, 40, 1004),
    ]
    .concat()
}

#[test]
fn both_versions_are_recognised_and_read() {
    for version in [1, 2] {
        let files = Files::new();
        let path = files.write("disk", file(version));
        let found = inspect(&path, &Options::default()).unwrap();
        assert_eq!((found.format.as_str(), found.requests), ("vscsi", 2), "version {version}");
        let reasons: Vec<_> =
            found.dropped.iter().map(|drop| (drop.reason, drop.first_line)).collect();
        assert_eq!(reasons, [(DropReason::NoOperation, 5), (DropReason::NotARequest, 2)]);
        let records = read_all(&path, &Options::default()).unwrap();
        let seen: Vec<_> = records
            .iter()
            .map(|record| (record.time_ns, record.op, record.offset_bytes, record.size_bytes))
            .collect();
        let expected = [(0, Op::Read, 24 * 512, 4096), (2_000, Op::Write, 40 * 512, 512)];
        assert_eq!(seen, expected, "version {version}");
    }
}

#[test]
fn broken_files_name_the_record() {
    for version in [1, 2] {
        let files = Files::new();
        let mut whole = file(version);
        let size = whole.len() / 5;
        let cut = files.write("cut", &whole[..4 * size + 7]);
        let error = error_of(&cut, &Options::default());
        assert!(error.problem().contains("ends within a record (7 of"), "{error}");
        assert_eq!(error.line(), Some(5));
        // So far behind the start that only reading comes to it.
        let long = whole.repeat(40);
        whole = long;
        let at = 100 * size + if version == 1 { 15 } else { 3 };
        whole[at] = 9;
        let error = error_of(&files.write("foreign", whole), &Options::default());
        assert!(error.problem().contains("not a record of CloudPhysics"), "{error}");
        assert_eq!(error.line(), Some(101));
    }
}

#[test]
fn the_files_of_several_disks_are_one_trace_in_order_of_time() {
    let files = Files::new();
    let at = |times: [u64; 3]| times.map(|time| record(2, 0x28, 512, time, time)).concat();
    // Far beyond the window in which steps back are sorted.
    files.write("a.vscsi", at([10, 9_000_000, 20_000_000]));
    files.write("b.vscsi", at([5, 40, 15_000_000]));
    let records = read_all(&files.folder(), &Options::default()).unwrap();
    let units: Vec<u32> = records.iter().map(|record| record.unit).collect();
    assert_eq!(units, [1, 0, 1, 0, 1, 0]);
    assert!(records.is_sorted_by_key(|record| record.time_ns));
}
