//! The compact binary: every record comes back, broken files are named, the index finds its block.

use crate::common::{Files, error_of, inspect, read_all, real_trace};
use ftlab_flash::request::Op;
use ftlab_trace::{Options, Parts, Record, Workload, convert, keep_records};

/// Converts a workload and returns the path of the result.
fn converted(files: &Files, input: &str, name: &str) -> String {
    let workload = Workload::parse(input, &Options::default(), 1 << 30).unwrap();
    let out = files.path(name);
    convert(&workload, &out).unwrap();
    out.display().to_string()
}

/// A CSV of `count` requests, two units and every operation, a microsecond apart.
fn csv(count: u64) -> String {
    let ops = ["read", "write", "trim"];
    let line =
        |n: u64| format!("{n},{},{},{}\n", ops[(n % 3) as usize], n * 4096, 512 * (1 + n % 8));
    let lines: String = (0..count).map(line).collect();
    format!("time_us,op,offset_bytes,size_bytes\n{lines}")
}

#[test]
fn records_that_a_program_made_are_kept_as_a_conversion_keeps_them() {
    let files = Files::new();
    let input = files.write("in.csv", csv(40_000));
    let records = read_all(&input, &Options::default()).unwrap();
    let later = records.iter().map(|record| Record { time_ns: record.time_ns + 700, ..*record });
    let out = files.path("kept.ftb");
    assert_eq!(keep_records(later, &out).unwrap(), 40_000);
    assert_eq!(read_all(&out.display().to_string(), &Options::default()).unwrap(), records);
    let told = keep_records(records, &out).unwrap_err().to_string();
    assert!(told.contains("kept.ftb") && told.contains("exists already"), "{told}");
}

#[test]
fn every_record_comes_back_plain_and_compressed() {
    let files = Files::new();
    // More than two blocks of 16 Ki records.
    let input = files.write("in.csv", csv(40_000));
    let before = read_all(&input, &Options::default()).unwrap();
    for name in ["out.ftb", "out.ftb.gz", "out.ftb.zst"] {
        let path = converted(&files, &input, name);
        let workload = Workload::parse(&path, &Options::default(), 0).unwrap();
        assert_eq!(workload.detection().unwrap().format.name, "compact");
        assert_eq!(read_all(&path, &Options::default()).unwrap(), before, "{name}");
        let late = Options { filter: "from=30ms".parse().unwrap(), ..Options::default() };
        let records = read_all(&path, &late).unwrap();
        assert_eq!(records.len(), 10_000, "{name}");
        let first = Record { time_ns: 0, ..before[30_000] };
        assert_eq!(records[0], first, "{name}");
    }
}

#[test]
fn units_and_all_operations_survive() {
    let Some(input) = real_trace("financial1-first-1000.spc") else { return };
    let files = Files::new();
    let path = converted(&files, &input, "f.ftb");
    let (before, after) = (
        read_all(&input, &Options::default()).unwrap(),
        read_all(&path, &Options::default()).unwrap(),
    );
    assert_eq!(before, after);
    assert!(after.iter().any(|record| record.unit > 0) && after[0].op == Op::Write);
}

#[test]
fn a_window_far_inside_reads_only_its_blocks() {
    let files = Files::new();
    let input = files.write("in.csv", csv(100_000));
    let path = converted(&files, &input, "out.ftb");
    let options = Options { filter: "from=95ms,to=95010us".parse().unwrap(), ..Options::default() };
    let workload = Workload::parse(&path, &options, 0).unwrap();
    let mut records = workload.records().unwrap();
    let found: Vec<Record> = records.by_ref().map(Result::unwrap).collect();
    assert_eq!((found.len(), found[0].offset_bytes), (10, 95_000 * 4096));
    let read = records.summary().lines_read;
    assert!(read <= 16_384, "{read} records were read for 10");
}

#[test]
fn broken_files_are_refused_and_none_is_read_as_data() {
    let files = Files::new();
    let input = files.write("in.csv", csv(20_000));
    let path = converted(&files, &input, "whole.ftb");
    let whole = std::fs::read(&path).unwrap();
    for (at, problem) in [
        (8, "unknown version"),
        (16, "damaged"),
        (24, "damaged"),
        (32, "damaged"),
        (42, "damaged"),
        (50, "damaged"),
        (whole.len() / 2, "damaged"),
    ] {
        let mut broken = whole.clone();
        broken[at] ^= 1;
        let error = error_of(&files.write("broken.ftb", broken), &Options::default());
        assert!(error.problem().contains(problem), "{at}: {error}");
        assert!(error.line().is_some() && error.legal().is_some(), "{at}: {error}");
    }
    for length in [33, 47, 100, whole.len() / 2] {
        let error = error_of(&files.write("cut.ftb", &whole[..length]), &Options::default());
        assert!(error.problem().contains("ends within a block"), "{length}: {error}");
    }
    let error = error_of(&files.write("cut.ftb", &whole[..20]), &Options::default());
    assert!(error.problem().contains("ends within its header"), "{error}");
    // The index is held against the blocks, and needed to enter in the middle.
    let mut broken = whole.clone();
    let last = broken.len() - 20;
    broken[last] ^= 1;
    let path = files.write("index.ftb", broken);
    assert!(error_of(&path, &Options::default()).problem().contains("index is damaged"));
    let late = Options { filter: "from=10ms".parse().unwrap(), ..Options::default() };
    assert!(error_of(&path, &late).problem().contains("index is broken"));
}

#[test]
fn a_filtered_file_gives_what_its_source_gives_filtered() {
    let files = Files::new();
    let input = files.write("in.csv", csv(20_000));
    let path = converted(&files, &input, "out.ftb");
    let filtered = |filter: &str, head: Option<u64>| Options {
        filter: filter.parse().unwrap(),
        head,
        ..Options::default()
    };
    // Heads just around the end of a batch and of a block.
    for (options, expected) in [
        (filtered("op=read", None), 6_667),
        (filtered("op=write+trim,every=3", None), 4_445),
        (filtered("from=1ms,to=2ms", None), 1_000),
        (filtered("to=10ms", Some(513)), 513),
        (Options { head: Some(512), ..Options::default() }, 512),
        (Options { head: Some(16_385), ..Options::default() }, 16_385),
        (Options { head: Some(30_000), ..Options::default() }, 20_000),
    ] {
        let found = read_all(&path, &options).unwrap();
        assert_eq!(found.len(), expected, "{options:?}");
        assert_eq!(found, read_all(&input, &options).unwrap(), "{options:?}");
    }
    let none = error_of(&path, &filtered("op=flush", None));
    assert!(none.problem().contains("holds no request (20000 lines dropped)"), "{none}");
}

#[test]
fn the_records_before_a_broken_one_come_first_and_the_error_names_its_number() {
    let files = Files::new();
    let input = files.write("in.csv", csv(2_000));
    let path = converted(&files, &input, "whole.ftb");
    let (before, whole) =
        (read_all(&input, &Options::default()).unwrap(), std::fs::read(&path).unwrap());
    // The file's header, the block's, then 28 bytes a record: time, offset, size and operation.
    let (records, bytes) = (48, 28);
    for (number, at, problem) in [
        (0, 22, "record is illegal"),
        (700, 22, "record is illegal"),
        (511, 6, "time steps back"),
        (512, 6, "time steps back"),
        (1_999, 22, "record is illegal"),
    ] {
        let mut broken = whole.clone();
        // Times that step back behind this one; or an operation that there is none of.
        broken[records + number * bytes + at] = 9;
        let end = records + 2_000 * bytes;
        let covered = [&broken[32..36], &broken[40..end]].concat();
        broken[36..40].copy_from_slice(&crc32fast::hash(&covered).to_le_bytes());
        let path = files.write("broken.ftb", broken);
        let workload = Workload::parse(&path, &Options::default(), 0).unwrap();
        let mut found = Vec::new();
        let mut error = None;
        for record in workload.records().unwrap() {
            match record {
                Ok(record) => found.push(record),
                Err(wrong) => assert!(error.replace(wrong).is_none(), "two errors"),
            }
        }
        let error = error.unwrap();
        let good = number + usize::from(at == 6);
        assert_eq!((error.problem(), error.line()), (problem, Some(good as u64 + 1)));
        assert_eq!(found.len(), good);
        assert_eq!(found[..number], before[..number]);
    }
}

/// A count of records that turned into 0 was believed to be the end of the file.
#[test]
fn an_end_mark_that_fits_nothing_before_it_is_refused() {
    let files = Files::new();
    let input = files.write("in.csv", csv(40_000));
    let path = converted(&files, &input, "whole.ftb");
    let mut broken = std::fs::read(&path).unwrap();
    // The upper byte of the second block's 16,384 records.
    let second = 32 + 16 + 16_384 * 28;
    assert_eq!(broken[second..second + 4], 16_384u32.to_le_bytes());
    broken[second + 1] ^= 0x40;
    let error = error_of(&files.write("broken.ftb", broken), &Options::default());
    assert!(error.problem().contains("does not fit the 1 blocks"), "{error}");
    assert_eq!(error.line(), Some(16_385));
}

/// The second of two files that were put into one was lost without a word.
#[test]
fn bytes_behind_the_end_and_ends_too_early_are_refused() {
    let files = Files::new();
    let input = files.write("in.csv", csv(300));
    let whole = std::fs::read(converted(&files, &input, "whole.ftb")).unwrap();
    let late = Options { filter: "from=1us".parse().unwrap(), ..Options::default() };
    for more in [&whole[..], &[0]] {
        let path = files.write("two.ftb", [&whole[..], more].concat());
        let error = error_of(&path, &Options::default());
        assert!(error.problem().contains("bytes follow the end of the trace"), "{error}");
        assert!(error.legal().unwrap().contains("as parts"), "{error}");
    }
    // Behind the block: end mark, one entry, the number of records, the last bytes.
    let blocks = 32 + 16 + 300 * 28;
    assert_eq!(whole.len(), blocks + 16 + 16 + 8 + 16);
    for length in blocks..whole.len() {
        let path = files.write("cut.ftb", &whole[..length]);
        let error = error_of(&path, &Options::default());
        let problem = if length < blocks + 16 { "within a block" } else { "within its index" };
        assert!(error.problem().contains(problem), "{length}: {error}");
        assert!(error_of(&path, &late).problem().contains("index is broken"), "{length}");
    }
}

#[test]
fn no_flipped_bit_goes_unseen() {
    let files = Files::new();
    let input = files.write("in.csv", csv(20));
    let whole = std::fs::read(converted(&files, &input, "whole.ftb")).unwrap();
    for bit in 0..8 * whole.len() {
        let mut broken = whole.clone();
        broken[bit / 8] ^= 1 << (bit % 8);
        let path = files.write("broken.ftb", broken);
        assert!(read_all(&path, &Options::default()).is_err(), "bit {bit} of {}", whole.len() * 8);
    }
}

#[test]
fn version_1_is_read_and_its_end_is_checked_too() {
    let files = Files::new();
    let line = |n: u64| format!("{},hm,3,Write,{},512,1\n", 128_166_372_000_000_000 + n, n * 512);
    let input = files.write("in.csv", (0..500).map(line).collect::<String>());
    let path = converted(&files, &input, "whole.ftb");
    let new = std::fs::read(&path).unwrap();
    let records = &new[48..48 + 500 * 28];
    let mut old = [b"FTLTRACE", &1u32.to_le_bytes()[..], &16_384u32.to_le_bytes()].concat();
    old.extend([500u32.to_le_bytes(), crc32fast::hash(records).to_le_bytes()].concat());
    old.extend([&new[40..48], records].concat());
    let index = [16u64, 0, 500].map(u64::to_le_bytes).concat();
    let mark = old.len() as u64;
    old.extend([0u32.to_le_bytes(), crc32fast::hash(&index).to_le_bytes()].concat());
    old.extend([&24u64.to_le_bytes()[..], &index, &mark.to_le_bytes(), b"FTLINDEX"].concat());
    let path = files.write("old.ftb", &old);
    assert_eq!(
        read_all(&path, &Options::default()).unwrap(),
        read_all(&input, &Options::default()).unwrap()
    );
    assert_eq!(inspect(&path, &Options::default()).unwrap().origin_ns, 0);
    old.push(0);
    let error = error_of(&files.write("more.ftb", old), &Options::default());
    assert!(error.problem().contains("bytes follow"), "{error}");
}

/// The record before an error of one of several files was dropped with it.
#[test]
fn the_last_record_before_an_error_comes_where_files_are_merged_and_mixed() {
    let all = |text: &str, options: &Options| {
        let workload = Workload::parse(text, options, 0).unwrap();
        let mut found = Vec::new();
        let mut error = None;
        for record in workload.records().unwrap() {
            match record {
                Ok(record) => found.push((record.time_ns, record.unit)),
                Err(wrong) => error = Some(wrong),
            }
        }
        (found, error.unwrap())
    };
    let files = Files::new();
    let header = "time_us,op,offset_bytes,size_bytes\n";
    let one = files.write("one.csv", format!("{header}0,r,0,512\n20,r,0,512\n40,r,0,512\n"));
    let two = files.write("two.csv", format!("{header}5,r,0,512\n20,r,0,512\n30,r,0,512\n"));
    let (one, two) = (converted(&files, &one, "1.ftb"), converted(&files, &two, "2.ftb"));
    // The third record of the first file has an operation that there is none of.
    let mut broken = std::fs::read(&one).unwrap();
    let end = 48 + 3 * 28;
    broken[48 + 2 * 28 + 22] = 9;
    let covered = [&broken[32..36], &broken[40..end]].concat();
    broken[36..40].copy_from_slice(&crc32fast::hash(&covered).to_le_bytes());
    std::fs::write(&one, broken).unwrap();
    let by_time = Options { parts: Some(Parts::ByTime), ..Options::default() };
    let pattern = files.path("*.ftb").display().to_string();
    let (found, error) = all(&pattern, &by_time);
    assert_eq!(found, [(0, 0), (5_000, 1), (20_000, 0)]);
    assert_eq!((error.problem(), error.line()), ("record is illegal", Some(3)));
    let (found, error) = all(&format!("mix:{one}+{two}"), &Options::default());
    assert_eq!(found, [(0, 0), (0, 1), (15_000, 1), (20_000, 0)]);
    assert_eq!((error.problem(), error.line()), ("record is illegal", Some(3)));
}
