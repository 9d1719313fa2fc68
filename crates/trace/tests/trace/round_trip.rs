//! What is converted to our CSV reads back as it was.

use crate::common::{Files, read_all};
use ftlab_flash::request::{Content, Op};
use ftlab_trace::formats::csv::{self, MoreColumns};
use ftlab_trace::{Options, Record, Workload, convert};
use proptest::prelude::*;

fn any_record() -> impl Strategy<Value = Record> {
    let stream = proptest::option::of(any::<u8>());
    let content = proptest::option::of((1u64..).prop_map(Content::new));
    let op = prop_oneof![Just(Op::Read), Just(Op::Write), Just(Op::Trim), Just(Op::Flush)];
    (0u64..1 << 50, op, 0u64..1 << 60, 1u64..1 << 40, stream, content).prop_map(
        |(time_ns, op, offset_bytes, size_bytes, stream, content)| Record {
            time_ns,
            op,
            offset_bytes,
            size_bytes,
            unit: 0,
            stream,
            content,
        },
    )
}

proptest! {
    #[test]
    fn records_written_as_csv_read_back_the_same(
        mut records in proptest::collection::vec(any_record(), 1..60),
    ) {
        records.sort_by_key(|record| record.time_ns);
        // The first request is the origin of time, and a gap of a day would be stray.
        let origin = records[0].time_ns;
        for record in &mut records {
            record.time_ns = (record.time_ns - origin) % 80_000_000_000_000;
        }
        records.sort_by_key(|record| record.time_ns);
        let mut text = Vec::new();
        let with = MoreColumns { hints: true, contents: true };
        csv::write_header(&mut text, with).unwrap();
        for record in &records {
            csv::write_record(&mut text, record, with).unwrap();
        }
        let files = Files::new();
        let path = files.write("trace", text);
        prop_assert_eq!(read_all(&path, &Options::default()).unwrap(), records);
    }
}

#[test]
fn a_converted_trace_reads_back_the_same_plain_and_compressed() {
    let files = Files::new();
    let spc = "0,5,4096,w,10.000001\n0,9,512,r,10.5\n0,8,1024,W,11\n";
    let path = files.write("trace", spc);
    let workload = Workload::parse(&path, &Options::default(), 0).unwrap();
    let original = read_all(&path, &Options::default()).unwrap();
    for (name, compression) in [("a.csv", "none"), ("a.csv.gz", "gzip"), ("a.csv.zst", "zstd")] {
        let out = files.path(name);
        let conversion = convert(&workload, &out).unwrap();
        assert_eq!((conversion.requests, conversion.units), (3, 1));
        let out = out.display().to_string();
        assert_eq!(read_all(&out, &Options::default()).unwrap(), original, "{name}");
        assert_eq!(
            crate::common::inspect(&out, &Options::default()).unwrap().compression,
            compression
        );
    }
}

#[test]
fn several_units_are_laid_side_by_side_and_a_head_is_kept() {
    let files = Files::new();
    let path = files.write("trace", "7,0,512,w,0\n2,1,512,w,1\n7,2,512,w,2\n");
    let options = Options { head: Some(2), ..Options::default() };
    let workload = Workload::parse(&path, &options, 0).unwrap();
    let out = files.path("out.csv");
    let conversion = convert(&workload, &out).unwrap();
    assert_eq!((conversion.requests, conversion.units), (2, 2));
    let text = std::fs::read_to_string(&out).unwrap();
    let expected =
        "time_us,op,offset_bytes,size_bytes\n0,write,1048576,512\n1000000,write,512,512\n";
    assert_eq!(text, expected);
}

#[test]
fn nothing_is_overwritten_and_a_failed_conversion_leaves_nothing() {
    let files = Files::new();
    let path = files.write("trace", "0,5,4096,w,1\n");
    let workload = Workload::parse(&path, &Options::default(), 0).unwrap();
    let taken = files.write("taken.csv", "precious");
    let error = convert(&workload, taken.as_ref()).unwrap_err();
    assert!(error.problem().contains("exists already"), "{error}");
    assert_eq!(std::fs::read_to_string(&taken).unwrap(), "precious");
    let broken = files.write("broken", "0,5,4096,w,1\n0,5,0,w,1\n");
    let workload = Workload::parse(&broken, &Options::default(), 0).unwrap();
    let out = files.path("out.csv");
    assert!(convert(&workload, &out).is_err());
    assert!(!out.exists());
}
