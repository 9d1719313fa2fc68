//! Several files of a trace: one after the other, or overlapping and merged by time.

use crate::common::{Files, error_of, format, inspect, read_all};
use ftlab_trace::{DropReason, Options, Parts, Record, Workload, convert};

fn by_time() -> Options {
    Options { parts: Some(Parts::ByTime), ..Options::default() }
}

/// Lines of MSR Cambridge: host, disk, seconds after some day; the offset tells requests apart.
fn msr(host: &str, disk: u32, seconds: &[u64]) -> String {
    let line = |&second: &u64| {
        let time = 128_166_372_000_000_000 + second * 10_000_000;
        format!("{time},{host},{disk},Write,{},4096,100\n", second * 4096)
    };
    seconds.iter().map(line).collect()
}

/// Second and unit of every record.
fn seconds_and_units(records: &[Record]) -> Vec<(u64, u32)> {
    let of = |record: &Record| (record.time_ns / 1_000_000_000, record.unit);
    records.iter().map(of).collect()
}

#[test]
fn disks_in_files_of_their_own_keep_their_distance_in_time() {
    let files = Files::new();
    files.write("hm_0.csv", msr("hm", 0, &[100, 101, 5_000, 80_000]));
    files.write("hm_1.csv", msr("hm", 1, &[0, 4_999, 5_001, 85_000, 160_000]));
    let records = read_all(&files.folder(), &by_time()).unwrap();
    let expected = [
        (0, 1),
        (100, 0),
        (101, 0),
        (4_999, 1),
        (5_000, 0),
        (5_001, 1),
        (80_000, 0),
        (85_000, 1),
        (160_000, 1),
    ];
    assert_eq!(seconds_and_units(&records), expected);
    assert!(records.iter().all(|one| one.offset_bytes / 4096 == one.time_ns / 1_000_000_000));
    // Filters and the head are of the whole.
    let options =
        Options { filter: "from=101s,to=1h,every=2".parse().unwrap(), head: Some(2), ..by_time() };
    let records = read_all(&files.folder(), &options).unwrap();
    assert_eq!(records.iter().map(|one| one.unit).collect::<Vec<_>>(), [0]);
    let found = inspect(&files.folder(), &by_time()).unwrap();
    assert_eq!((found.requests, found.units.len(), found.files.len()), (9, 2, 2));
}

#[test]
fn disks_of_several_hosts_stay_apart() {
    let files = Files::new();
    files.write("hm_0.csv", msr("hm", 0, &[1, 4]));
    files.write("hm_1.csv", msr("hm", 1, &[2]));
    files.write("usr_0.csv", msr("usr", 0, &[0, 3]));
    let records = read_all(&files.folder(), &by_time()).unwrap();
    assert_eq!(seconds_and_units(&records), [(0, 256), (1, 0), (2, 1), (3, 256), (4, 0)]);
    let wide = Files::new();
    wide.write("a", msr("hm", 0, &[1]));
    wide.write("b", msr("usr", 256, &[2]));
    let error = error_of(&wide.folder(), &by_time());
    assert!(error.problem().contains("disk among those of several hosts"), "{error}");
    assert_eq!((error.value(), error.line()), (Some("256"), Some(1)), "{error}");
    // The other way round the first host's disk 256 and the second's disk 0 were one.
    let wide = Files::new();
    let path = wide.write("a", msr("hm", 256, &[1]) + &msr("usr", 0, &[2]));
    let error = error_of(&path, &Options::default());
    assert!(error.problem().contains("too many hosts"), "{error}");
    assert!(error.legal().unwrap().contains("all their disks are 0 to 255"), "{error}");
    assert_eq!((error.value(), error.line()), (Some("usr"), Some(2)), "{error}");
    let alone = wide.write("b", msr("hm", 256, &[1]));
    assert_eq!(read_all(&alone, &Options::default()).unwrap()[0].unit, 256);
    // A host without a name is a host.
    let unnamed = wide.write("c", msr("", 0, &[1]) + &msr("usr", 0, &[2]));
    let records = read_all(&unnamed, &Options::default()).unwrap();
    assert_eq!(records.iter().map(|one| one.unit).collect::<Vec<_>>(), [0, 256]);
}

#[test]
fn files_that_overlap_are_refused_in_order_and_the_error_names_the_flag() {
    let files = Files::new();
    files.write("hm_0.csv", msr("hm", 0, &[100, 200]));
    files.write("hm_1.csv", msr("hm", 1, &[0, 300]));
    for parts in [None, Some(Parts::InOrder)] {
        let error = error_of(&files.folder(), &Options { parts, ..Options::default() });
        assert!(error.problem().contains("time steps back by 200.00 s"), "{error}");
        assert!(error.legal().unwrap().contains("--parts by_time"), "{error}");
        assert!(error.file().unwrap().ends_with("hm_1.csv"), "{error}");
    }
    // A step back within a file is no matter of parts.
    let one = Files::new();
    let path = one.write("hm_0.csv", msr("hm", 0, &[100, 200, 50]));
    assert!(!error_of(&path, &Options::default()).legal().unwrap().contains("--parts"));
    assert!(!error_of(&path, &by_time()).legal().unwrap().contains("--parts"));
}

/// Far more files than may be open at once, each of an hour that overlaps the next a little.
#[test]
fn files_are_opened_when_their_time_comes() {
    let files = Files::new();
    for hour in 0..700u64 {
        let lun = hour % 3;
        let at =
            |second: u64| format!("{}.5,0.1,R,{lun},{},512\n", hour * 3600 + second, 512 * hour);
        files.write(&format!("{hour}-LUN{lun}.csv"), [at(0), at(1800), at(3700)].concat());
    }
    let records = read_all(&files.folder(), &by_time()).unwrap();
    assert_eq!(records.len(), 2100);
    assert!(records.is_sorted_by_key(|record| record.time_ns));
    let mut units: Vec<u32> = records.iter().map(|record| record.unit).collect();
    units.sort_unstable();
    units.dedup();
    assert_eq!(units, [0, 1, 2], "the same LUN in several files is one unit");
    let all = Files::new();
    for number in 0..520 {
        all.write(&format!("{number}.csv"), msr("hm", 0, &[0, 10]));
    }
    let error = error_of(&all.folder(), &by_time());
    assert!(error.problem().contains("too many files overlap"), "{error}");
    assert!(error.legal().unwrap().contains("512"), "{error}");
}

/// A file with a thousand lines before its first request was taken to begin at time 0, so that
/// more than 512 of them were refused although no two overlapped.
#[test]
fn files_that_begin_with_what_does_not_count_do_not_overlap_for_it() {
    const LINES: u64 = 1_100;
    let comments = "#\n".repeat(LINES as usize);
    let files = Files::new();
    for hour in 0..520u64 {
        files.write(&format!("{hour:03}.csv"), comments.clone() + &msr("hm", 0, &[hour * 3600]));
        files.write(&format!("nothing-{hour:03}.csv"), "#\n");
    }
    let options = Options { parts: Some(Parts::ByTime), ..format("msr") };
    let records = read_all(&files.folder(), &options).unwrap();
    let expected: Vec<(u64, u32)> = (0..520).map(|hour| (hour * 3600, 0)).collect();
    assert_eq!(seconds_and_units(&records), expected);
    let found = inspect(&files.folder(), &options).unwrap();
    let dropped: Vec<_> = found.dropped.iter().map(|drop| (drop.reason, drop.lines)).collect();
    assert_eq!(dropped, [(DropReason::Comment, 520 * (LINES + 1))], "every line counts once");
    // Those that do overlap are refused as ever.
    let all = Files::new();
    for number in 0..520 {
        all.write(&format!("{number}.csv"), comments.clone() + &msr("hm", 0, &[0, 10]));
    }
    let error = error_of(&all.folder(), &options);
    assert!(error.problem().contains("too many files overlap"), "{error}");
}

/// The same where a filter leaves nothing of the beginning: only one process counts, and it comes
/// late in both files.
#[test]
fn what_a_filter_leaves_of_files_comes_in_order_of_time() {
    let line = |second: u64, process: &str| {
        format!("8,0 1 {second} {second}.000000000 7 D R {} + 8 [{process}]\n", second * 8)
    };
    let files = Files::new();
    let other = |from: u64| (from..from + 1_500).map(|second| line(second, "other"));
    for (name, from) in [("a", 5_000), ("b", 1_000)] {
        let lines: String = other(from).chain([line(from + 1_500, "mine")]).collect();
        files.write(name, lines);
    }
    let filter = "process=mine".parse().unwrap();
    let options = Options { filter, parts: Some(Parts::ByTime), ..format("blkparse") };
    let records = read_all(&files.folder(), &options).unwrap();
    let found: Vec<u64> = records.iter().map(|one| one.offset_bytes / 4096).collect();
    assert_eq!(found, [2_500, 6_500]);
    // In order, the second file steps back, whatever is left of it.
    let error = error_of(&files.folder(), &Options { parts: None, ..options });
    assert!(error.problem().contains("time steps back by 4000.00 s"), "{error}");
    assert!(error.legal().unwrap().contains("--parts by_time"), "{error}");
}

#[test]
fn lines_out_of_order_and_strays_stay_what_they_are() {
    let files = Files::new();
    let century = 3_000_000_000;
    files.write("a.csv", msr("hm", 0, &[0, 10, century, 20, 30]));
    files.write("b.csv", msr("hm", 1, &[5, 15, 25]));
    let found = inspect(&files.folder(), &by_time()).unwrap();
    let dropped: Vec<_> = found.dropped.iter().map(|drop| (drop.reason, drop.lines)).collect();
    assert_eq!((found.requests, dropped), (7, vec![(DropReason::StrayTime, 1)]));
    // A millisecond back, in one file, while the other goes on.
    let at = |ms: u64, disk: u32| {
        format!("{},hm,{disk},Read,0,512,1\n", 128_166_372_000_000_000 + ms * 10_000)
    };
    let late = Files::new();
    late.write("a", [at(10, 0), at(9, 0), at(30, 0)].concat());
    late.write("b", [at(8, 1), at(20, 1)].concat());
    let records = read_all(&late.folder(), &by_time()).unwrap();
    let times: Vec<_> = records.iter().map(|one| one.time_ns / 1_000_000).collect();
    assert_eq!(times, [0, 1, 2, 12, 22]);
    assert_eq!(inspect(&late.folder(), &by_time()).unwrap().out_of_order_lines, 1);
}

#[test]
fn formats_without_units_take_a_unit_per_file_and_names_are_shared() {
    let files = Files::new();
    files.write("a.csv", "time_us,op,offset_bytes,size_bytes\n0,r,0,512\n20,r,0,512\n");
    files.write("b.csv", "time_us,op,offset_bytes,size_bytes\n10,w,0,512\n");
    let units = |folder: &str| {
        let records = read_all(folder, &by_time()).unwrap();
        records.iter().map(|one| one.unit).collect::<Vec<_>>()
    };
    assert_eq!(units(&files.folder()), [0, 1, 0]);
    let logs = Files::new();
    let log = |lines: &str| format!("fio version 3 iolog\n{lines}");
    logs.write("a.log", log("0 /dev/x open\n1 /dev/x read 0 512\n30 /dev/y read 0 512\n"));
    logs.write("b.log", log("0 /dev/y open\n20 /dev/y read 0 512\n40 /dev/x read 0 512\n"));
    let found = units(&logs.folder());
    assert!(found[0] == found[3] && found[1] == found[2] && found[0] != found[1], "{found:?}");
}

#[test]
fn files_that_are_of_one_time_anyway_are_not_read_in_order() {
    let files = Files::new();
    let record = |block: u64| {
        let words = [0x0200_0028u32, 7, 512, 1].map(u32::to_le_bytes).concat();
        [words, [block, 5, 9].map(u64::to_le_bytes).concat()].concat()
    };
    files.write("a", record(1));
    files.write("b", record(2));
    assert_eq!(read_all(&files.folder(), &by_time()).unwrap().len(), 2);
    let in_order = Options { parts: Some(Parts::InOrder), ..format("vscsi") };
    let error = error_of(&files.folder(), &in_order);
    assert!(error.problem().contains("of one time"), "{error}");
    assert_eq!(error.legal(), Some("by_time"));
    let error = error_of("randread:bs=4k,span=1M", &by_time());
    assert!(error.problem().contains("--parts"), "{error}");
}

/// Converts a text trace to the compact binary.
fn compact(files: &Files, input: &str, name: &str) -> String {
    let out = files.path(name);
    convert(&Workload::parse(input, &Options::default(), 0).unwrap(), &out).unwrap();
    out.display().to_string()
}

#[test]
fn several_compact_files_are_parts_like_any_other() {
    let (text, out) = (Files::new(), Files::new());
    let days = [
        ("1", msr("hm", 0, &[100, 200])),
        ("2", msr("hm", 1, &[200, 300])),
        ("3", msr("hm", 0, &[400, 401])),
    ];
    for (name, lines) in &days {
        let input = text.write(&format!("{name}.csv"), lines);
        compact(&out, &input, &format!("{name}.ftb"));
    }
    let before = read_all(&text.folder(), &Options::default()).unwrap();
    assert_eq!(read_all(&out.folder(), &Options::default()).unwrap(), before);
    assert_eq!(
        inspect(&out.folder(), &Options::default()).unwrap().origin_ns,
        12_816_637_300_000_000_000
    );
    let late = Options { filter: "from=150s".parse().unwrap(), ..Options::default() };
    let from = |folder: &str| seconds_and_units(&read_all(folder, &late).unwrap());
    assert_eq!(from(&out.folder()), from(&text.folder()));
    assert_eq!(from(&out.folder()), [(0, 1), (100, 0), (101, 0)]);
    // One more that overlaps: refused in order, merged by time.
    let input = text.write("4.csv", msr("hm", 7, &[50, 350]));
    compact(&out, &input, "4.ftb");
    let error = error_of(&out.folder(), &Options::default());
    assert!(error.problem().contains("begins before"), "{error}");
    assert!(error.legal().unwrap().contains("--parts by_time"), "{error}");
    assert!(error.file().unwrap().ends_with("4.ftb"), "{error}");
    // Which host a disk was of the compact form does not say: every file is a unit of its own.
    let merged = read_all(&out.folder(), &by_time()).unwrap();
    let units: Vec<u32> = merged.iter().map(|one| one.unit).collect();
    assert_eq!(units, [3, 0, 0, 1, 1, 3, 2, 2]);
    let times = |records: &[Record]| -> Vec<_> {
        records.iter().map(|one| (one.time_ns, one.offset_bytes)).collect()
    };
    assert_eq!(times(&merged), times(&read_all(&text.folder(), &by_time()).unwrap()));
    let late = Options { filter: "from=300s".parse().unwrap(), ..by_time() };
    let records = read_all(&out.folder(), &late).unwrap();
    assert_eq!(seconds_and_units(&records), [(0, 3), (50, 2), (51, 2)]);
}

/// Unit 0 of two files was one unit, and what they wrote was written to the same addresses.
#[test]
fn compact_files_whose_units_were_given_do_not_share_addresses() {
    let header = "time_us,op,offset_bytes,size_bytes\n";
    let (text, out, hosts) = (Files::new(), Files::new(), Files::new());
    for (name, lines) in [("a", "0,r,0,512\n20,r,0,512\n"), ("b", "10,w,0,512\n30,w,8,512\n")] {
        let input = text.write(&format!("{name}.csv"), format!("{header}{lines}"));
        compact(&out, &input, &format!("{name}.ftb"));
    }
    let merged = read_all(&out.folder(), &by_time()).unwrap();
    assert_eq!(merged, read_all(&text.folder(), &by_time()).unwrap());
    assert_eq!(merged.iter().map(|one| one.unit).collect::<Vec<_>>(), [0, 1, 0, 1]);
    // What is merged is given again, beside a third.
    let input = text.path("a.csv").display().to_string();
    let both = Files::new();
    convert(&Workload::parse(&out.folder(), &by_time(), 0).unwrap(), &both.path("ab.ftb")).unwrap();
    compact(&both, &input, "c.ftb.zst");
    let units: Vec<u32> =
        read_all(&both.folder(), &by_time()).unwrap().iter().map(|one| one.unit).collect();
    assert_eq!(units, [0, 2, 1, 0, 2, 1]);
    for (name, host) in [("hm_0", "hm"), ("usr_0", "usr")] {
        let input = text.write(&format!("{name}.csv"), msr(host, 0, &[1, 2]));
        compact(&hosts, &input, &format!("{name}.ftb"));
    }
    let records = read_all(&hosts.folder(), &by_time()).unwrap();
    assert_eq!(seconds_and_units(&records), [(0, 0), (0, 1), (1, 0), (1, 1)]);
    // Units that a trace stated itself are the same in all its files, and not beside given ones.
    let spc = |unit: u32, second: u32| format!("{unit},8,4096,w,{second}.5\n{unit},0,512,r,9.5\n");
    let stated = Files::new();
    for (name, lines) in [("a", spc(5, 1)), ("b", spc(5, 2))] {
        let input = text.write(name, lines);
        compact(&stated, &input, &format!("{name}.ftb"));
    }
    let records = read_all(&stated.folder(), &by_time()).unwrap();
    assert!(records.len() == 4 && records.iter().all(|one| one.unit == 5), "{records:?}");
    compact(&stated, &input, "c.ftb");
    let error = error_of(&stated.folder(), &by_time());
    assert!(error.problem().contains("units were given by file or by name"), "{error}");
    assert!(error.file().unwrap().ends_with("c.ftb"), "{error}");
    assert!(error.legal().unwrap().contains("mix:A,B"), "{error}");
}
