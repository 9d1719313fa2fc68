//! What is read although it is not quite as it should be, and what is named for what it is.

use std::io::Write as _;

use crate::common::{Files, error_of, format, inspect, read_all};
use ftlab_trace::{DropReason, Options, Parts, Workload};

const HEADER: &str = "time_us,op,offset_bytes,size_bytes\n";

fn skip_bad(lines: u64) -> Options {
    Options { skip_bad: lines, ..Options::default() }
}

/// Lines of our CSV, one a microsecond, from a number on.
fn csv(numbers: std::ops::Range<u64>) -> String {
    numbers.map(|n| format!("{n},write,{},4096\n", n * 8192)).collect()
}

#[test]
fn semicolons_separate_the_columns_of_any_format_with_commas() {
    let spc: String = (0..9).map(|n| format!("0,{},4096,w,{n}.5\n", n * 8)).collect();
    let msr = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n\
               128166372003061629,hm,1,Read,383496192,32768,413\n";
    for (name, text) in [("csv", HEADER.to_owned() + &csv(0..9)), ("spc", spc), ("msr", msr.into())]
    {
        let files = Files::new();
        let (commas, other) = (files.write("a", &text), files.write("b", text.replace(',', ";")));
        let expected = read_all(&commas, &Options::default()).unwrap();
        assert_eq!(read_all(&other, &Options::default()).unwrap(), expected, "{name}");
        assert_eq!(read_all(&other, &format(name)).unwrap(), expected, "{name}");
        let found = inspect(&other, &Options::default()).unwrap();
        assert_eq!(found.format, name);
        assert!(found.format_why.contains("semicolons"), "{}", found.format_why);
    }
}

/// A decimal comma must not become a column, and an error shows the line as it stands.
#[test]
fn commas_between_semicolons_are_no_separators() {
    let files = Files::new();
    let text = (HEADER.to_owned() + &csv(0..9)).replace(',', ";");
    for (line, value) in [
        ("9,5;write;0;512\n", "9,5"),
        ("9;write;0;512,1\n", "512,1"),
        ("9;write;0;512;1\n", "9;write;0;512;1"),
    ] {
        let error = error_of(&files.write("t", text.clone() + line), &Options::default());
        assert_eq!((error.line(), error.value()), (Some(11), Some(value)), "{error}");
    }
}

fn tar_of(text: &str) -> Vec<u8> {
    let mut block = vec![0; 512];
    block[..5].copy_from_slice(b"a.csv");
    block[257..262].copy_from_slice(b"ustar");
    block.extend(text.as_bytes());
    block
}

#[test]
fn archives_and_pointers_are_named_for_what_they_are() {
    let text = HEADER.to_owned() + &csv(0..9);
    let mut zipped = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    zipped.write_all(&tar_of(&text)).unwrap();
    let lfs = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
    for (content, what, legal) in [
        (tar_of(&text), "tar archive", "tar -x"),
        (zipped.finish().unwrap(), "tar archive", "tar -x"),
        (b"PK\x03\x04\x14\0\0\0".to_vec(), "zip archive", "unzip"),
        (b"PK\x05\x06\0\0".to_vec(), "empty zip archive", "unzip"),
        (lfs.into(), "pointer of git LFS", "git lfs pull"),
    ] {
        let files = Files::new();
        let path = files.write("b", &content);
        let stated = format("csv");
        for options in [Options::default(), stated] {
            let error = error_of(&path, &options);
            assert_eq!((error.file(), error.line()), (Some(&*path), Some(1)), "{error}");
            assert!(error.problem().contains(what), "{error}");
            assert!(error.legal().unwrap().contains(legal), "{error}");
        }
        // Among other files it is named too.
        files.write("a", &text);
        let error = error_of(&files.folder(), &Options::default());
        assert_eq!((error.file(), error.problem().contains(what)), (Some(&*path), true), "{error}");
    }
}

#[test]
fn as_many_malformed_lines_are_skipped_as_are_allowed() {
    let files = Files::new();
    let text = HEADER.to_owned() + "x\n" + &csv(0..5) + "5,write,0\n6,w,\0,1\n" + &csv(7..9);
    let path = files.write("t.csv", &text);
    // None: the first one is the error.
    for (allowed, line, problem) in
        [(0, 2, "time is not a number"), (1, 8, "column size_bytes is missing"), (2, 9, "NUL byte")]
    {
        let error = error_of(&path, &skip_bad(allowed));
        assert_eq!(error.line(), Some(line), "{error}");
        assert!(error.problem().contains(problem), "{error}");
    }
    for allowed in [3, 100] {
        let found = inspect(&path, &skip_bad(allowed)).unwrap();
        assert_eq!((found.requests, found.lines), (7, 11));
        let dropped = &found.dropped[0];
        assert_eq!((dropped.reason, dropped.lines), (DropReason::Malformed, 3));
        assert_eq!((&*dropped.first_file, dropped.first_line), (&*path, 2));
        let first = format!("{path}:2: time is not a number: 'x'");
        assert_eq!((found.malformed.len(), &found.malformed[0]), (3, &first));
        let warning = &found.warnings[0];
        assert!(warning.starts_with("3 malformed lines") && warning.contains(&first), "{warning}");
        let told = found.to_string();
        assert!(told.contains(&first) && told.contains("malformed line, skipped"), "{told}");
    }
}

/// The first ones are shown, whatever their number; all files of a trace count together.
#[test]
fn malformed_lines_of_all_files_count_together() {
    let files = Files::new();
    let bad = "x\n".repeat(4);
    files.write("a", HEADER.to_owned() + &bad + &csv(0..20));
    files.write("b", HEADER.to_owned() + &bad + &csv(20..40));
    for parts in [None, Some(Parts::ByTime)] {
        let with = |lines| Options { parts, ..skip_bad(lines) };
        let found = inspect(&files.folder(), &with(8)).unwrap();
        assert_eq!((found.requests, found.dropped[0].lines), (40, 8), "{parts:?}");
        assert_eq!(found.malformed.len(), 5, "{parts:?}");
        let error = error_of(&files.folder(), &with(7));
        assert_eq!(
            (error.file().unwrap().ends_with('b'), error.line()),
            (true, Some(5)),
            "{error}"
        );
    }
}

#[test]
fn malformed_lines_are_skipped_in_text_only() {
    let files = Files::new();
    let path = files.write("t.csv", HEADER.to_owned() + &csv(0..5));
    let workload = Workload::parse(&path, &Options::default(), 0).unwrap();
    let compact = files.path("t.ftb");
    ftlab_trace::convert(&workload, &compact).unwrap();
    let error = error_of(&compact.display().to_string(), &skip_bad(1));
    assert!(error.problem().contains("--skip-bad") && error.value() == Some("1"), "{error}");
    let error = error_of("randread:bs=4k,count=5,span=1M", &skip_bad(1));
    assert!(error.problem().contains("--skip-bad"), "{error}");
}

#[test]
fn the_odd_file_among_parts_is_named() {
    let msr = "128166372003061629,hm,1,Read,383496192,32768,413\n";
    for (content, what) in [
        (msr.to_owned(), "is of the format msr"),
        ("these are notes\n".to_owned(), "is of no known format"),
        (csv(9..20).replace(',', ";"), "has another separator"),
    ] {
        let files = Files::new();
        let first = files.write("a.csv", HEADER.to_owned() + &csv(0..9));
        let odd = files.write("b.csv", content);
        for parts in [None, Some(Parts::ByTime)] {
            let error = error_of(&files.folder(), &Options { parts, ..Options::default() });
            assert_eq!(error.file(), Some(&*odd), "{error}");
            assert!(error.problem().starts_with(what), "{error}");
            let of = format!("but {first}, the first file of the trace, is of the format csv");
            assert!(error.problem().contains(&of), "{error}");
        }
    }
}

/// Lines that are wrong make no file odd, however many come first.
#[test]
fn a_file_that_begins_with_many_malformed_lines_is_not_odd() {
    for separator in [",", ";"] {
        let files = Files::new();
        let bad = "x\n".repeat(40);
        files.write("a", (HEADER.to_owned() + &csv(0..9)).replace(',', separator));
        let second = files.write("b", (bad.clone() + &csv(9..99)).replace(',', separator));
        assert_eq!(read_all(&files.folder(), &skip_bad(40)).unwrap().len(), 99);
        let error = error_of(&files.folder(), &Options::default());
        assert_eq!((error.file(), error.value()), (Some(&*second), Some("x")), "{error}");
    }
}

/// What blkparse prints at its end may stand in a file of its own: it is dropped and counted.
#[test]
fn a_file_without_a_request_of_the_same_format_is_not_odd() {
    let files = Files::new();
    files.write("a", "8,0 3 1 0.5 77 D W 2048 + 8 [java]\n8,0 3 2 0.6 77 D R 16 + 8 [java]\n");
    files.write("b", "CPU0 (8,0):\n Reads Queued:           0,        0KiB\n");
    let found = inspect(&files.folder(), &Options::default()).unwrap();
    assert_eq!((found.requests, found.dropped[0].lines), (2, 2));
}

/// The same columns in other units were read in those of the first file.
#[test]
fn the_odd_file_is_told_by_its_units_where_the_data_alone_decided_them() {
    let lines = |time: fn(u64) -> String| -> String {
        (0..200).map(|n| format!("{} 0 {} 8 1\n", time(n), n * 8)).collect()
    };
    let files = Files::new();
    files.write("a", lines(|n| format!("{}.125000", n * 7)));
    let odd = files.write("b", lines(|n| (3_000_000_000 + n * 2_400_000).to_string()));
    let error = error_of(&files.folder(), &Options::default());
    assert_eq!(error.file(), Some(&*odd), "{error}");
    assert!(error.problem().starts_with("has times in ns by its data"), "{error}");
    assert!(error.problem().contains("of the format disksim, times in ms"), "{error}");
}

#[test]
fn a_clock_that_stands_still_is_warned_of() {
    let files = Files::new();
    let lines = |requests: u64, time: u64| -> String {
        (0..requests).map(|n| format!("{time},write,{},4096\n", n * 8192)).collect()
    };
    for (text, stands) in [
        (lines(100, 0), true),
        (lines(500, 77), true),
        (lines(99, 0), false),
        (lines(500, 0) + "1,write,0,512\n", false),
    ] {
        let path = files.write("t.csv", HEADER.to_owned() + &text);
        let found = inspect(&path, &Options::default()).unwrap();
        let warned = found.warnings.iter().any(|warning| warning.contains("clock stands still"));
        assert_eq!(warned, stands, "{:?}", found.warnings);
        assert_eq!(found.to_string().contains("clock stands still"), stands);
        // Nor does the compact form hide it.
        let workload = Workload::parse(&path, &Options::default(), 0).unwrap();
        let compact = files.path("t.ftb");
        ftlab_trace::convert(&workload, &compact).unwrap();
        let found = inspect(&compact.display().to_string(), &Options::default()).unwrap();
        assert_eq!(!found.warnings.is_empty(), stands, "{:?}", found.warnings);
        std::fs::remove_file(compact).unwrap();
    }
    let found = inspect("randread:bs=4k,span=1M,count=500", &Options::default()).unwrap();
    assert_eq!(found.warnings, Vec::<String>::new(), "what is generated has no clock");
}

#[test]
fn a_request_larger_than_memory_or_device_is_named_with_its_line() {
    let files = Files::new();
    let text = HEADER.to_owned() + &csv(0..5) + "5,read,0,1048577\n6,trim,0,4194304\n";
    let path = files.write("t.csv", text);
    let options = Options { request_bytes_max: 1 << 20, ..Options::default() };
    let error = error_of(&path, &options);
    assert_eq!((error.line(), error.value()), (Some(7), Some("1048577 bytes")), "{error}");
    assert!(error.problem().contains("larger than the memory"), "{error}");
    assert!(error.legal().unwrap().contains("1048576 bytes (1.00 MiB)"), "{error}");
    let larger = Options { request_bytes_max: 1_048_577, ..Options::default() };
    assert_eq!(read_all(&path, &larger).unwrap().len(), 7, "a trim moves nothing");
    let survey = Workload::parse(&path, &larger, 0).unwrap().survey(4096).unwrap();
    let largest = survey.largest.unwrap();
    assert_eq!((largest.size_bytes, &*largest.file, largest.line), (4 << 20, &*path, 8));
    assert!(largest.check(4 << 20).is_ok());
    let error = largest.check((4 << 20) - 1).unwrap_err();
    assert_eq!((error.line(), error.value()), (Some(8), Some("4194304 bytes")), "{error}");
}
