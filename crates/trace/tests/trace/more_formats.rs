//! The formats beyond SPC, MSR and the DiskSim family: detection, units, filters, bad input.

use crate::common::{Files, error_of, format, inspect, read_all, real_trace};
use ftlab_flash::request::{Content, Op};
use ftlab_trace::{DropReason, Options, Record, Workload};

fn filtered(filter: &str) -> Options {
    Options { filter: filter.parse().unwrap(), ..Options::default() }
}

/// One file per text format as its users have it, with what its first request is.
fn examples() -> [(&'static str, &'static str, Record); 9] {
    let record = |op, offset_bytes, size_bytes, unit| Record {
        time_ns: 0,
        op,
        offset_bytes,
        size_bytes,
        unit,
        stream: None,
        content: None,
    };
    [
        (
            "blkparse",
            "8,0 3 1 0.5 77 Q W 2048 + 8 [java]\n8,0 3 2 0.6 77 D W 2048 + 8 [java]\n\
             8,0 3 3 0.7 0 C W 2048 + 8 [0]\n8,0 3 4 0.8 77 D R 16 + 8 [java]\nCPU3 (8,0):\n",
            record(Op::Write, 2048 * 512, 4096, 8 << 20),
        ),
        (
            "iolog2",
            "fio version 2 iolog\n/dev/x add\n/dev/x open\n/dev/x write 4096 512\n\
             /dev/x wait 250\n/dev/x read 0 512\n/dev/x close\n",
            record(Op::Write, 4096, 512, 0),
        ),
        (
            "iolog3",
            "fio version 3 iolog\n10 /dev/x add\n20 /dev/x open\n500 /dev/x trim 4096 512\n\
             900 /dev/x read 0 512\n950 /dev/x close\n",
            record(Op::Trim, 4096, 512, 0),
        ),
        (
            "alibaba",
            "419,W,8792731648,16384,1577808000000626\n725,R,359956480,4096,1577808000001337\n",
            record(Op::Write, 8_792_731_648, 16384, 419),
        ),
        (
            "tencent",
            "1538323200,4247200,128,1,1058\n1538323200,16,8,0,1063\n",
            record(Op::Write, 4_247_200 * 512, 65536, 1058),
        ),
        (
            "systor",
            "Timestamp,Response,IOType,LUN,Offset,Size\n\
             1456063200.003,0.0007,W,2,1024,4096\n1456063200.004,,,2,0,512\n\
             1456063200.005,0.1,R,3,0,512\n",
            record(Op::Write, 1024, 4096, 2),
        ),
        (
            "fiu",
            "89966104003343 4253 nfsd 508455080 8 W 6 0 a2d8\n\
             89966104003999 4253 nfsd 508455088 8 R 6 0 0000\n",
            Record {
                content: Some(Content::new(0xa2d8)),
                ..record(Op::Write, 508_455_080 * 512, 4096, 6 << 20)
            },
        ),
        (
            "msr",
            "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n\
             128166372003061629,hm,1,Read,383496192,32768,413\n\
             128166372016382155,hm,1,Write,310983680,16384,1104\n",
            record(Op::Read, 383_496_192, 32768, 1),
        ),
        (
            "libcachesim",
            "version,time,op,size,lbn\n1,33898,2a,6656,40409911\n1,33899,28,4096,6160447\n",
            record(Op::Write, 40_409_911 * 512, 6656, 0),
        ),
    ]
}

#[test]
fn every_text_format_is_recognised_by_its_lines() {
    for (name, text, first) in examples() {
        let files = Files::new();
        let path = files.write("no-telling-name", text);
        let workload = Workload::parse(&path, &Options::default(), 0).unwrap();
        assert_eq!(workload.detection().unwrap().format.name, name);
        let records: Vec<Record> = workload.records().unwrap().map(Result::unwrap).collect();
        assert_eq!(records.len(), 2, "{name}");
        assert_eq!(records[0], first, "{name}");
    }
}

#[test]
fn times_are_in_the_documented_unit() {
    let second_ns = [
        ("blkparse", 200_000_000),
        ("iolog2", 250_000),
        ("iolog3", 400_000),
        ("alibaba", 711_000),
        ("tencent", 0),
        ("systor", 2_000_000),
        ("fiu", 656),
        ("msr", 1_332_052_600),
        ("libcachesim", 1_000_000_000),
    ];
    for ((name, text, _), (expected_name, time_ns)) in examples().into_iter().zip(second_ns) {
        assert_eq!(name, expected_name);
        let files = Files::new();
        let records = read_all(&files.write("trace", text), &Options::default()).unwrap();
        assert_eq!(records[1].time_ns, time_ns, "{name}");
    }
}

#[test]
fn a_broken_line_in_any_format_names_file_line_and_what_is_legal() {
    let broken: [(&str, &[&str]); 9] = [
        ("blkparse", &["8,0 3 4", "8,0 3 4 x 77 D R 16 + 8 [j]", "8,0 3 4 0.8 77 D R 1x + 8 [j]"]),
        ("iolog2", &["/dev/x read 0", "/dev/x reed 0 512", "/dev/x wait -5", "/dev/x read z 512"]),
        ("iolog3", &["900 /dev/x read 0", "/dev/x read 0 512", "900 /dev/x wait 5"]),
        ("alibaba", &["725,R,359956480,4096", "725,R,1,4k,1577808000001337", "x,R,1,1,1"]),
        ("tencent", &["1538323200,16,8,0", "1538323200,16,8,2,1", "1538323200,-16,8,0,1"]),
        ("systor", &["1456063200.005,0.1,R,3,0", "1456063200.005,0.1,R,3,0,5l2"]),
        ("fiu", &["1 2 nfsd 8 8 R 6 0", "1 2 nfsd lba 8 R 6 0 ff", "1 2 nfsd 8 8 R 4096 0 ff"]),
        ("msr", &["Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime", "1,hm,0,Read,1"]),
        ("libcachesim", &["3,33899,2a,512,1", "1,33899,w,512,1", "1,33899,2a,5k,1", "1,1,2a,512"]),
    ];
    for ((name, text, _), (expected_name, lines)) in examples().into_iter().zip(broken) {
        assert_eq!(name, expected_name);
        for line in lines {
            let files = Files::new();
            let path = files.write("trace", format!("{text}{line}\n"));
            let error = error_of(&path, &format(name));
            let number = text.lines().count() as u64 + 1;
            assert_eq!((error.file(), error.line()), (Some(&*path), Some(number)), "{error}");
            assert!(error.legal().is_some() && error.value().is_some(), "{name}: {error}");
        }
    }
}

#[test]
fn blkparse_takes_one_action_and_names_what_it_drops() {
    let (_, text, _) = examples()[0];
    let files = Files::new();
    let path = files.write("trace", text);
    for (filter, requests, first_ns) in [
        ("action=D", 2, 600_000_000),
        ("action=Q", 1, 500_000_000),
        ("action=C", 1, 700_000_000),
        ("op=read", 1, 800_000_000),
        ("process=java", 2, 600_000_000),
        ("process=77", 2, 600_000_000),
    ] {
        let found = inspect(&path, &filtered(filter)).unwrap();
        assert_eq!((found.requests, found.origin_ns), (requests, first_ns), "{filter}");
        let dropped: u64 = found.dropped.iter().map(|drop| drop.lines).sum();
        assert_eq!(found.lines, requests + dropped, "{filter}");
    }
    let error = error_of(&path, &filtered("process=perl"));
    assert!(error.problem().contains("holds no request"), "{error}");
    assert!(error.legal().unwrap().contains("--filter"), "{error}");
}

#[test]
fn time_windows_and_steps_count_from_the_first_request() {
    let files = Files::new();
    let lines: String = (0..100).map(|n| format!("0,{},4096,w,{}.0\n", n * 8, 7 + n)).collect();
    let path = files.write("trace", lines);
    let sectors = |options: &Options| -> Vec<(u64, u64)> {
        let records = read_all(&path, options).unwrap();
        records.iter().map(|record| (record.time_ns / 1_000_000_000, record.offset_bytes)).collect()
    };
    let at = |number: u64| number * 4096;
    assert_eq!(sectors(&filtered("from=10s,to=13s")), [(0, at(10)), (1, at(11)), (2, at(12))]);
    assert_eq!(sectors(&filtered("from=90s,every=4")), [(0, at(90)), (4, at(94)), (8, at(98))]);
    let head = Options { head: Some(2), ..filtered("every=50") };
    assert_eq!(sectors(&head), [(0, at(0)), (50, at(50))]);
    let summary = |options: &Options| {
        let workload = Workload::parse(&path, options, 0).unwrap();
        let mut records = workload.records().unwrap();
        while records.next().is_some() {}
        records.summary().clone()
    };
    let seen = summary(&filtered("from=10s,to=13s"));
    // Nothing behind the window is read but what lies within the reorder window.
    assert!(seen.lines_read < 20, "{}", seen.lines_read);
    assert_eq!(seen.requests + seen.dropped_lines(), seen.lines_read);
    assert_eq!(summary(&filtered("every=4")).dropped(DropReason::BetweenSteps).0, 75);
}

#[test]
fn the_ycsb_prefix_is_counted_exactly() {
    let Some(path) = real_trace("ycsb-ext4.blkparse.txt") else { return };
    let found = inspect(&path, &Options::default()).unwrap();
    assert_eq!(found.format, "blkparse");
    // The last event carries a time of 40 years after the others.
    let stray = found.dropped.iter().find(|drop| drop.reason == DropReason::StrayTime);
    assert_eq!((found.requests, stray.map(|drop| drop.lines)), (9_886, Some(1)));
    assert_eq!(found.span_ns, 810_379_690_811);
    assert_eq!(found.reads + found.writes, found.requests);
    assert_eq!(found.units.len(), 1);
    let queued = inspect(&path, &filtered("action=I")).unwrap();
    assert!(queued.requests == 9_887 || queued.requests == 9_888, "{}", queued.requests);
    let java = inspect(&path, &filtered("process=java")).unwrap();
    assert!(java.requests <= 9_544 && java.requests > 9_500, "{}", java.requests);
}

#[test]
fn the_tencent_sample_is_counted_exactly() {
    let Some(path) = real_trace("tencent-cbs-sample.csv.bz2") else { return };
    let found = inspect(&path, &Options::default()).unwrap();
    assert_eq!(found.format, "tencent");
    assert_eq!((found.requests, found.reads), (50_000, 24_521));
    assert_eq!(found.bytes_read + found.bytes_written, 1_518_392_320);
    assert_eq!((found.units.len(), found.out_of_order_lines), (2_038, 1_297));
    let in_bytes = Options { head: Some(1), ..format("tencent_bytes") };
    let plain = Options { head: Some(1), ..Options::default() };
    let (bytes, sectors) = (read_all(&path, &in_bytes).unwrap(), read_all(&path, &plain).unwrap());
    assert_eq!(bytes[0].offset_bytes * 512, sectors[0].offset_bytes);
}

#[test]
fn a_filter_or_flag_that_would_do_nothing_is_refused() {
    let files = Files::new();
    let spc = files.write("t.spc", "0,0,4096,w,0.5\n");
    for (filter, format) in [("process=java", "spc"), ("action=Q", "spc")] {
        let error = error_of(&spc, &filtered(filter));
        assert!(error.problem().contains(&format!("format {format} has no column")), "{error}");
        assert!(error.legal().is_some_and(|legal| legal.contains("blkparse")), "{error}");
    }
    let generated = "randwrite:bs=4k,span=1M,count=10";
    for options in [filtered("op=write"), format("spc"), filtered("from=1s")] {
        for text in [generated.to_owned(), format!("phases:({generated}),({generated})")] {
            let error = error_of(&text, &options);
            assert!(error.problem().contains("no effect"), "{text}: {error}");
        }
    }
    let head = Options { head: Some(3), ..Options::default() };
    assert_eq!(read_all(generated, &head).unwrap().len(), 3);
    // Where a part is a trace, its reading may be described.
    let mixed = format!("phases:{spc},(randwrite:bs=4k,span=1M,count=10,rate_iops=10)");
    assert_eq!(read_all(&mixed, &filtered("op=write")).unwrap().len(), 11);
}

#[test]
fn a_window_counts_from_the_first_request_of_the_trace_whatever_is_selected() {
    let files = Files::new();
    let path = files.write("t.spc", "0,0,512,r,0.0\n1,8,512,w,5.0\n1,16,512,w,11.0\n");
    let late = filtered("op=write,from=10s");
    let records = read_all(&path, &late).unwrap();
    assert_eq!((records.len(), records[0].offset_bytes), (1, 16 * 512));
    let unit = Options { units: "1".parse().unwrap(), ..filtered("from=10s") };
    assert_eq!(read_all(&path, &unit).unwrap(), records);
}

#[test]
fn offsets_that_are_all_multiples_of_512_are_asked_about() {
    let files = Files::new();
    let line = |n: u64, unit: u64| format!("15383232{:02},{},8,0,7\n", n / 10, n * 8 * unit);
    let bytes: String = (1..100).map(|n| line(n, 512)).collect();
    let sectors: String = (1..100).map(|n| line(n, 1)).collect();
    let (bytes, sectors) = (files.write("bytes", bytes), files.write("sectors", sectors));
    let error = error_of(&bytes, &Options::default());
    assert!(error.legal().is_some_and(|legal| legal.contains("tencent_bytes")), "{error}");
    let plain = read_all(&sectors, &Options::default()).unwrap();
    assert_eq!(read_all(&bytes, &format("tencent_bytes")).unwrap(), plain);
    assert_eq!(read_all(&bytes, &format("tencent")).unwrap().len(), 99);
}
