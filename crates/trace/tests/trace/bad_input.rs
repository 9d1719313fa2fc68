//! Every kind of bad input gives an error that names file, line and value, or a counted drop.

use std::io::Write as _;

use crate::common::{Files, error_of, format, inspect, read_all};
use ftlab_trace::{DropReason, Options, Workload};

const SPC: &str = "0,100,4096,w,0.5\n";

/// The error of an SPC file whose second line is `line`: always names that line.
fn second_line(line: &str) -> String {
    let files = Files::new();
    let path = files.write("trace", format!("{SPC}{line}\n{SPC}"));
    let error = error_of(&path, &Options::default());
    assert_eq!(error.file(), Some(&*path), "{error}");
    assert_eq!(error.line(), Some(2), "{error}");
    assert!(error.legal().is_some(), "{error}");
    error.to_string()
}

#[test]
fn negative_overflowing_and_malformed_numbers_are_named() {
    assert!(second_line("-1,100,4096,w,0.5").contains("ASU is negative: '-1'"));
    assert!(second_line("0,-5,4096,w,0.5").contains("LBA is negative: '-5'"));
    assert!(second_line("0,100,-1,w,0.5").contains("size is negative: '-1'"));
    assert!(second_line("0,100,4096,w,-0.5").contains("time is negative: '-0.5'"));
    assert!(second_line("4294967296,1,4096,w,0.5").contains("ASU overflows"));
    assert!(second_line("0,99999999999999999999,1,w,0.5").contains("LBA overflows"));
    assert!(second_line("0,36028797018963968,512,w,0.5").contains("LBA overflows"));
    assert!(second_line("0,100,4096,w,99999999999.0").contains("time overflows"));
    assert!(second_line("0,x,4096,w,0.5").contains("LBA is not a number: 'x'"));
    assert!(second_line("0,,4096,w,0.5").contains("LBA is empty"));
    assert!(second_line("0,1,4096,w,1e3").contains("time is not a number: '1e3'"));
}

#[test]
fn size_zero_size_absurd_and_address_overflow_are_named() {
    assert!(second_line("0,100,0,w,0.5").contains("size is 0"));
    assert!(second_line("0,100,0,r,0.5").contains("size is 0"));
    assert!(second_line("0,100,1099511627777,w,0.5").contains("at most 1 TiB"));
    assert!(second_line("0,36028797018963967,4096,w,0.5").contains("address overflows 64 bits"));
}

#[test]
fn missing_columns_unknown_operations_and_nul_bytes_are_named() {
    assert!(second_line("0,100,4096,w").contains("column time is missing"));
    assert!(second_line("0").contains("column LBA is missing"));
    assert!(second_line("0,100,4096,x,0.5").contains("unknown operation: 'x'"));
    assert!(second_line("0,100,40\u{0}96,w,0.5").contains("NUL byte"));
}

#[test]
fn every_format_names_size_zero_and_missing_columns() {
    for (name, zero, short) in [
        ("msr", "10,h,0,Read,0,0,1", "10,h,0,Read,0,512"),
        ("disksim", "1.5 0 8 0 1", "1.5 0 8 8"),
        ("ssdsim", "1000 0 8 0 1", "1000 0 8 8"),
        ("mqsim", "1000 0 8 0 1", "1000 0 8 8"),
        ("csv", "1,write,0,0", "1,write,0"),
        ("csv", "1,trim,0,0", "1,trim"),
    ] {
        let files = Files::new();
        let (zero, short) = (files.write("zero", zero), files.write("short", short));
        let error = error_of(&zero, &format(name));
        assert!(error.problem().contains("size is 0"), "{name}: {error}");
        assert_eq!(error.line(), Some(1), "{name}: {error}");
        let error = error_of(&short, &format(name));
        assert!(error.problem().contains("is missing"), "{name}: {error}");
        assert_eq!(error.line(), Some(1), "{name}: {error}");
    }
}

#[test]
fn empty_files_folders_and_missing_files_are_named() {
    let files = Files::new();
    for (name, content) in [("empty", ""), ("blank", "\n\n"), ("comments", "# nothing\n")] {
        let path = files.write(name, content);
        let error = error_of(&path, &Options::default());
        assert!(error.problem().contains("holds no request"), "{error}");
        assert_eq!((error.file(), error.line()), (Some(&*path), Some(1)));
    }
    let missing = files.path("missing").display().to_string();
    let error = error_of(&missing, &Options::default());
    assert_eq!(error.file(), Some(&*missing));
    assert!(error.problem().contains("cannot be opened"), "{error}");
    let folder = Files::new().folder();
    let error = error_of(&folder, &Options::default());
    assert_eq!(error.file(), Some(&*folder), "{error}");
    let empty = Files::new();
    let error = error_of(&empty.folder(), &Options::default());
    assert!(error.problem().contains("directory without a single file"), "{error}");
    let error = error_of(&format!("{}/*.csv", empty.folder()), &Options::default());
    assert!(error.problem().contains("cannot be opened"), "{error}");
}

/// Truncated at several places, and with a byte flipped in the middle.
fn damaged(stored: &[u8]) -> Vec<Vec<u8>> {
    let mut cases: Vec<Vec<u8>> = [9, stored.len() / 2, stored.len() - 1]
        .into_iter()
        .map(|length| stored[..length].to_vec())
        .collect();
    let mut flipped = stored.to_vec();
    flipped[stored.len() / 2] ^= 0x40;
    cases.push(flipped);
    cases
}

fn compressed(text: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text).unwrap();
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
    bzip2.write_all(text).unwrap();
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 6);
    xz.write_all(text).unwrap();
    let mut zstandard = zstd::Encoder::new(Vec::new(), 3).unwrap();
    zstandard.include_checksum(true).unwrap();
    zstandard.write_all(text).unwrap();
    vec![
        ("gzip", gzip.finish().unwrap()),
        ("bzip2", bzip2.finish().unwrap()),
        ("xz", xz.finish().unwrap()),
        ("zstd", zstandard.finish().unwrap()),
    ]
}

fn long_text(lines: u64) -> String {
    use std::fmt::Write as _;
    (0..lines).fold(String::new(), |mut text, line| {
        let noise = line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 30;
        writeln!(text, "0,{noise},4096,w,{}.{:03}", line / 100, noise % 1000).unwrap();
        text
    })
}

#[test]
fn damaged_compressed_files_name_file_and_line_reached() {
    // Times jump about within a second, hence the wider window.
    let options = Options { reorder_window_ns: 2_000_000_000, ..Options::default() };
    let text = long_text(50_000);
    let files = Files::new();
    for (name, stored) in compressed(text.as_bytes()) {
        let whole = files.write("whole", &stored);
        assert_eq!(read_all(&whole, &options).unwrap().len(), 50_000, "{name}");
        for (case, damage) in damaged(&stored).into_iter().enumerate() {
            let path = files.write("damaged", damage);
            let error = error_of(&path, &options);
            assert_eq!(error.file(), Some(&*path), "{name} {case}: {error}");
            assert!(error.line().is_some_and(|line| line >= 1), "{name} {case}: {error}");
        }
    }
}

#[test]
fn members_that_follow_each_other_are_all_read() {
    let files = Files::new();
    let options = Options::default();
    for (name, stored) in compressed(SPC.repeat(10).as_bytes()) {
        let path = files.write("members", [&stored[..], &stored[..], &stored[..]].concat());
        assert_eq!(inspect(&path, &options).unwrap().compression, name);
        assert_eq!(read_all(&path, &options).unwrap().len(), 30, "{name}");
    }
}

#[test]
fn blank_lines_comments_and_empty_flushes_are_dropped_and_counted() {
    let files = Files::new();
    let path = files.write(
        "trace",
        "# made by hand\ntime_us,op,offset_bytes,size_bytes\r\n\r\n1,Write,0,4096\r\n\
         2,flush,0,0\n3,F,,\n\n4,t,0,512\n5,FLUSH,0,1\n6,r,8,512",
    );
    let workload = Workload::parse(&path, &Options::default(), 0).unwrap();
    let mut records = workload.records().unwrap();
    let read: Vec<_> = records.by_ref().map(Result::unwrap).collect();
    assert_eq!(read.len(), 4);
    let summary = records.summary();
    assert_eq!((summary.lines_read, summary.header_lines), (10, 1));
    assert_eq!(summary.dropped(DropReason::Comment).0, 1);
    let (blank, first) = summary.dropped(DropReason::Blank);
    assert_eq!((blank, first.line), (2, 3));
    let (flushes, first) = summary.dropped(DropReason::ZeroSizeFlush);
    assert_eq!((flushes, first.line), (2, 5));
    let keep = Options { keep_zero_size_flushes: true, ..Options::default() };
    assert_eq!(read_all(&path, &keep).unwrap().len(), 6);
}

#[test]
fn a_stray_time_is_dropped_and_reported_with_its_line() {
    let files = Files::new();
    let path = files.write(
        "trace",
        "0,1,512,w,1000000.0\n0,2,512,w,1000001.0\n0,3,512,w,0.0\n0,4,512,w,1000002.0\n\
         0,5,512,w,9000000.0\n0,6,512,w,1000003.0\n",
    );
    let found = inspect(&path, &Options::default()).unwrap();
    assert_eq!(found.requests, 4);
    assert_eq!(found.span_ns, 3_000_000_000);
    assert_eq!(found.dropped.len(), 1);
    assert_eq!((found.dropped[0].lines, found.dropped[0].first_line), (2, 3));
}

/// A unit whose requests are days apart, among others that fill the days: whole or by units, the
/// same requests count.
#[test]
fn the_requests_of_a_quiet_unit_are_no_strays() {
    let files = Files::new();
    let line = |unit: u64, hour: u64| format!("{unit},1,512,w,{}.0\n", hour * 3600);
    let busy = (0..80).map(|step| line(0, step * 6));
    let text: String = busy.chain([line(7, 480)]).collect();
    let text = text.replace(&line(0, 120), &(line(0, 120) + &line(7, 120)));
    let text = text.replace(&line(0, 300), &(line(0, 300) + &line(7, 300)));
    let path = files.write("trace", text);
    let count = |units: &str| {
        let options = Options { units: units.parse().unwrap(), ..Options::default() };
        inspect(&path, &options).unwrap().requests
    };
    assert_eq!((count("all"), count("0"), count("7")), (83, 80, 3));
}

/// Units one after another in a file, each with a clock of its own: in any order they can be looked
/// at together, in order of time only apart.
#[test]
fn in_any_order_steps_back_are_no_errors() {
    let files = Files::new();
    let path = files.write("trace", "0,1,512,w,10.0\n0,2,512,w,90.0\n1,1,512,w,10.0\n");
    assert!(error_of(&path, &Options::default()).to_string().contains("steps back"));
    let options = Options { any_order: true, ..Options::default() };
    let units: Vec<u32> =
        read_all(&path, &options).unwrap().iter().map(|record| record.unit).collect();
    assert_eq!(units, [0, 0, 1]);
    let one = Options { units: "1".parse().unwrap(), ..Options::default() };
    assert_eq!(inspect(&path, &one).unwrap().requests, 1);
}

#[test]
fn small_backward_steps_are_sorted_and_counted_and_large_ones_refused() {
    let files = Files::new();
    let text = "0,1,512,w,10.0\n0,2,512,w,10.9\n0,3,512,w,10.2\n0,4,512,w,9.9\n0,5,512,w,12.0\n";
    let path = files.write("trace", text);
    let found = inspect(&path, &Options::default()).unwrap();
    assert_eq!((found.out_of_order_lines, found.first_out_of_order_line), (2, Some(3)));
    assert_eq!(found.backward_step_ns_max, 1_000_000_000);
    assert_eq!(found.origin_ns, 9_900_000_000);
    let times: Vec<u64> = read_all(&path, &Options::default())
        .unwrap()
        .iter()
        .map(|record| record.time_ns / 100_000_000)
        .collect();
    assert_eq!(times, [0, 1, 3, 10, 21]);
    let narrow = Options { reorder_window_ns: 999_999_999, ..Options::default() };
    let error = error_of(&path, &narrow);
    assert_eq!(error.line(), Some(4), "{error}");
    assert!(error.to_string().contains("--reorder-window"), "{error}");
}

#[test]
fn nothing_follows_an_error() {
    let files = Files::new();
    let path = files.write("trace", format!("{SPC}{SPC}0,1,0,w,0.5\n{SPC}"));
    let workload = Workload::parse(&path, &Options::default(), 0).unwrap();
    let mut records = workload.records().unwrap();
    assert!(records.by_ref().any(|record| record.is_err()));
    assert!(records.next().is_none());
}

#[test]
fn parts_of_a_folder_and_of_a_glob_are_read_in_order() {
    let files = Files::new();
    files.write("part.10.csv", "time_us,op,offset_bytes,size_bytes\n30,w,0,512\n");
    files.write("part.9.csv", "time_us,op,offset_bytes,size_bytes\n20,w,0,512\n");
    files.write("part.1.csv", "time_us,op,offset_bytes,size_bytes\n10,w,0,512\n");
    for text in [files.folder(), format!("{}/part.*.csv", files.folder())] {
        let times: Vec<u64> = read_all(&text, &Options::default())
            .unwrap()
            .iter()
            .map(|record| record.time_ns)
            .collect();
        assert_eq!(times, [0, 10_000, 20_000], "{text}");
    }
    let bad = files.write("part.11.csv", "time_us,op,offset_bytes,size_bytes\n40,w,0,0\n");
    let error = error_of(&files.folder(), &Options::default());
    assert_eq!((error.file(), error.line()), (Some(&*bad), Some(2)), "{error}");
}

#[test]
fn a_selection_without_requests_is_an_error() {
    let files = Files::new();
    let path = files.write("trace", SPC);
    let options = Options { units: "7".parse().unwrap(), ..Options::default() };
    let error = error_of(&path, &options);
    assert!(error.problem().contains("holds no request"), "{error}");
}
