//! HP's SRT: records assembled by hand, with and without header, several files, and broken ones.

use crate::common::{Files, error_of, format, inspect, read_all};
use ftlab_flash::request::Op;
use ftlab_trace::{DropReason, Options, Parts};

/// Version, kind, seconds, microseconds, bytes, sector, device, flags.
type Fields = [u32; 8];

/// One record as it stands in a file.
fn record(fields: Fields) -> Vec<u8> {
    let [version, kind, seconds, microseconds, bytes, sector, device, flags] = fields;
    let mut words = vec![0, version << 16 | kind, seconds, microseconds, 7, 11, bytes, sector];
    words.extend([device, 5, 77, flags, 0]);
    words.extend((version == 4).then_some(3));
    words.extend((kind == 4).then_some(9));
    words[0] = 4 * words.len() as u32;
    words.iter().flat_map(|word: &u32| word.to_be_bytes()).collect()
}

/// A request of 1024 bytes of disk 2 at that time, its sector the time in microseconds.
fn at(seconds: u32, microseconds: u32) -> Vec<u8> {
    record([1, 1, seconds, microseconds, 1024, microseconds, 0x1f00_0200, 2])
}

fn header(date: &str) -> Vec<u8> {
    format!("hostname\t= \"cello\";\ntracedate\t= \"{date}\";\nflags = 3;\n\x0c").into_bytes()
}

/// Five records of every version, two of which are requests.
fn plain() -> Vec<u8> {
    [
        record([1, 1, 0, 500_000, 8192, 1000, 0x1f00_0203, 0x0100_0003]),
        record([4, 4, 0, 600_000, 512, 1, 0x1f00_0203, 1]),
        record([2, 2, 0, 700_000, 512, 1, 0x1f00_0203, 1]),
        record([4, 1, 1, 1, 512, 4_000_000_000, 0x1f04_0500, 0x0100_0002]),
        record([3, 1, 1, 2, 0, 0, 0x1f04_0500, 0]),
    ]
    .concat()
}

#[test]
fn records_of_every_version_are_read_and_others_counted() {
    for header in [Vec::new(), header("Sat Jan  9 08:07:06 1999")] {
        let files = Files::new();
        let path = files.write("t.srt", [header.clone(), plain()].concat());
        let found = inspect(&path, &Options::default()).unwrap();
        assert_eq!((found.format.as_str(), found.requests), ("srt", 2));
        let reasons: Vec<_> =
            found.dropped.iter().map(|drop| (drop.reason, drop.lines, drop.first_line)).collect();
        assert_eq!(reasons, [(DropReason::NoOperation, 1, 5), (DropReason::OtherKind, 2, 2)]);
        let records = read_all(&path, &Options::default()).unwrap();
        let seen: Vec<_> = records
            .iter()
            .map(|one| (one.time_ns, one.op, one.offset_bytes, one.size_bytes, one.unit))
            .collect();
        let expected = [
            (0, Op::Read, 512_000, 8192, 0x1f_0002),
            (500_001_000, Op::Write, 2_048_000_000_000, 512, 0x1f_0405),
        ];
        assert_eq!(seen, expected);
        // The day of the header is the origin of the times.
        let origin = if header.is_empty() { 0 } else { 915_869_226_000_000_000 };
        assert_eq!(found.origin_ns, origin + 500_000_000);
    }
}

/// The header as it really ships has a NUL in its first line and was taken for a broken text; its
/// sectors are of 256 bytes.
#[test]
fn the_first_line_of_a_header_may_hold_one_nul() {
    let files = Files::new();
    let of = |first: &[u8], sizes: &str| {
        let date = "tracedate = \"Sat May 30 00:03:06 1992\";\n";
        let text = format!("\n{date}disks = {{ 0 -> {{ {sizes} }} }};\n\x0c");
        [first, text.as_bytes(), &at(0, 3)].concat()
    };
    let first = b"$$TR_IOREC-1.3 (IOAdaptor Upgrade Version) \0";
    let offset = |name, sizes| {
        let path = files.write(name, of(first, sizes));
        read_all(&path, &Options::default()).unwrap()[0].offset_bytes
    };
    assert_eq!(offset("256", "sectorsize  = 256, } 1 -> { sectorsize = 256,"), 3 * 256);
    assert_eq!(offset("none", "rpm = 4002,"), 3 * 512);
    for (sizes, value) in [
        ("sectorsize = 256, } 1 -> { sectorsize = 512,", "512"),
        ("sectorsize = 300,", "300"),
        ("sectorsize = many,", "many"),
    ] {
        let error = error_of(&files.write("wrong", of(first, sizes)), &Options::default());
        assert_eq!((error.line(), error.value()), (Some(1), Some(value)), "{error}");
        assert!(error.legal().unwrap().contains("256, 512"), "{error}");
    }
    for twice in [&b"a \0\0"[..], b"a \x01", b"a\nb \0"] {
        let error = error_of(&files.write("other", of(twice, "")), &Options::default());
        assert_eq!(error.line(), Some(1), "{error}");
    }
}

/// A text among them was said to have no date.
#[test]
fn a_file_of_another_format_among_others_is_named() {
    let files = Files::new();
    let date = header("Sat Jan  9 08:07:06 1999");
    files.write("a", [date, at(0, 1)].concat());
    let odd = files.write("b", "0,8,4096,w,0.1\n0,8,4096,w,0.2\n");
    let error = error_of(&files.folder(), &Options::default());
    assert_eq!(error.file(), Some(&*odd), "{error}");
    assert!(error.problem().starts_with("is of the format spc, but "), "{error}");
}

/// A text of 72 bytes refused the whole trace: only a request's record has a size of its own.
#[test]
fn records_of_other_kinds_are_passed_over_by_their_size() {
    let of_size = |kind: u32, bytes: usize| {
        let mut other = record([1, kind, 0, 1, 512, 9, 0, 0]);
        other.resize(bytes, b'x');
        other[..4].copy_from_slice(&(bytes as u32).to_be_bytes());
        other
    };
    let files = Files::new();
    let others = [of_size(3, 72), of_size(0, 8), of_size(2, 58), of_size(4, 200), of_size(9, 4096)];
    let path = files.write("t", [at(0, 1), others.concat(), at(0, 2)].concat());
    let found = inspect(&path, &Options::default()).unwrap();
    assert_eq!((found.format.as_str(), found.requests), ("srt", 2));
    let dropped: Vec<_> = found.dropped.iter().map(|drop| (drop.reason, drop.lines)).collect();
    assert_eq!(dropped, [(DropReason::OtherKind, 5)]);
    // A file that begins with them is recognised by the first request behind them.
    let path = files.write("first", [of_size(3, 72), of_size(2, 58), at(0, 1)].concat());
    assert_eq!(read_all(&path, &Options::default()).unwrap().len(), 1);
}

#[test]
fn sections_of_a_disk_are_one_unit_and_disks_of_two_controllers_are_two() {
    let files = Files::new();
    let of = |device| record([1, 1, 0, 1, 512, 0, device, 1]);
    let whole = [of(0x1f00_0200), of(0x1f00_0207), of(0x1f01_0200)].concat();
    let path = files.write("t", whole);
    let units: Vec<u32> =
        read_all(&path, &Options::default()).unwrap().iter().map(|r| r.unit).collect();
    assert_eq!(units, [0x1f_0002, 0x1f_0002, 0x1f_0102]);
    assert!(units.iter().all(|unit| unit % 256 == 2), "the disk that DiskSim takes");
}

#[test]
fn filters_and_units_work_as_in_every_format() {
    let files = Files::new();
    let path = files.write("t.srt", plain());
    let count = |options: &Options| read_all(&path, options).unwrap().len();
    assert_eq!(count(&Options { filter: "op=read".parse().unwrap(), ..Options::default() }), 1);
    assert_eq!(count(&Options { filter: "from=400ms".parse().unwrap(), ..Options::default() }), 1);
    let unit = 0x1f_0405.to_string();
    assert_eq!(count(&Options { units: unit.parse().unwrap(), ..Options::default() }), 1);
    let refused = Options { filter: "process=java".parse().unwrap(), ..Options::default() };
    assert!(error_of(&path, &refused).problem().contains("no column for the filter process"));
}

#[test]
fn files_are_merged_by_their_dates() {
    let files = Files::new();
    let late = [header("Sat Jan  9 10:00:00 1999"), at(0, 1), at(7_200, 2), at(7_205, 3)].concat();
    let early =
        [header("Sat Jan  9 09:00:00 1999"), at(0, 4), at(3_601, 5), at(90_000, 6)].concat();
    files.write("a.srt", late);
    files.write("b.srt", early);
    let records = read_all(&files.folder(), &Options::default()).unwrap();
    let order: Vec<u64> = records.iter().map(|one| one.offset_bytes / 512).collect();
    assert_eq!(order, [4, 1, 5, 2, 3, 6]);
    assert_eq!(records[1].time_ns, 3_600_000_000_000 - 3_000);
    // Without dates the caller must say that their clocks are one; a date in some of them only
    // leaves the distance open.
    let undated = Files::new();
    undated.write("a", [at(5, 1), at(20, 2)].concat());
    undated.write("b", [at(1, 3), at(10, 4)].concat());
    let error = error_of(&undated.folder(), &Options::default());
    assert!(error.problem().contains("has no tracedate, and neither has"), "{error}");
    assert!(error.file().unwrap().ends_with('b'), "{error}");
    let legal = error.legal().unwrap();
    assert!(legal.contains("--parts by_time") && legal.contains("phases:A,B"), "{legal}");
    let by_time = Options { parts: Some(Parts::ByTime), ..Options::default() };
    let records = read_all(&undated.folder(), &by_time).unwrap();
    let order: Vec<u64> = records.iter().map(|one| one.offset_bytes / 512).collect();
    assert_eq!(order, [3, 1, 4, 2]);
    files.write("c.srt", at(1, 1));
    let error = error_of(&files.folder(), &Options::default());
    assert!(error.problem().contains("has no tracedate, but"), "{error}");
    assert!(error.file().unwrap().ends_with("c.srt") && error.legal().is_some(), "{error}");
}

#[test]
fn broken_files_name_the_byte_the_value_and_what_is_legal() {
    let files = Files::new();
    let good = at(1, 2);
    let with = |index: usize, value: u32| {
        let mut bad = at(1, 3);
        bad[4 * index..4 * index + 4].copy_from_slice(&value.to_be_bytes());
        [good.clone(), bad].concat()
    };
    for (name, whole, problem, value, legal) in [
        ("size", with(0, 56), "size of a record of version 1 and kind 1", "56 bytes", "52"),
        ("version", with(1, 5 << 16 | 1), "version of the record is unknown", "5", "1 to 4"),
        ("kind", with(0, 6), "size of a record of version 1 and kind 1", "6 bytes", "52"),
        ("time", with(3, 1_000_000), "microseconds of the time", "1000000", "0 to 999999"),
        ("bytes", with(6, 1000), "size is not in whole sectors", "1000", "a multiple of 512"),
        ("long", with(6, (1 << 30) + 512), "size is too large", "1073742336", "to 1 GiB"),
    ] {
        let error = error_of(&files.write(name, whole), &Options::default());
        assert!(error.problem().contains(problem), "{name}: {error}");
        assert!(error.problem().contains("in the record at byte 52"), "{name}: {error}");
        assert_eq!((error.value(), error.line()), (Some(value), Some(2)), "{name}: {error}");
        assert!(error.legal().unwrap().contains(legal), "{name}: {error}");
    }
    let file_system = [at(1, 1), record([2, 9, 1, 1, 0, 0, 0, 0])].concat();
    let mut endless = file_system.clone();
    endless[52..56].copy_from_slice(&8192u32.to_be_bytes());
    let error = error_of(&files.write("endless", endless), &Options::default());
    assert!(error.legal().unwrap().contains("8 to 4096"), "{error}");
    for (length, cut) in [(52 + 6, "6 of 8"), (52 + 20, "20 of 52")] {
        let path = files.write("cut", &file_system[..length]);
        let error = error_of(&path, &Options::default());
        assert!(error.problem().contains(&format!("within a record ({cut} bytes)")), "{error}");
        assert_eq!(error.line(), Some(2));
    }
    let dated = [header("Sat Jan 32 08:07:06 1999"), at(1, 1)].concat();
    let error = error_of(&files.write("date", dated), &Options::default());
    assert!(error.problem().contains("tracedate is no date"), "{error}");
    assert!(error.value().unwrap().contains("Jan 32"), "{error}");
    // What was stated is tried even where the first record is not recognised.
    let error = error_of(&files.write("first", &with(0, 1)[52..]), &format("srt"));
    assert!(error.problem().contains("in the record at byte 0"), "{error}");
}
