//! Placement hints: the column `stream` of our CSV, the key `hint` of a generated workload.

use crate::common::{Files, error_of, inspect, read_all};
use ftlab_trace::{Options, Record, Workload};

fn streams(records: &[Record]) -> Vec<Option<u8>> {
    records.iter().map(|record| record.stream).collect()
}

/// The header names the column, so that the format is found from it; a field may be empty, and the
/// column is no part of the address.
#[test]
fn the_column_stream_of_a_csv_is_a_hint() {
    let files = Files::new();
    let header = "time_us,op,offset_bytes,size_bytes";
    let lines = "0,write,0,4096,3\n1,write,4096,4096,\n2,read,0,512,255\n";
    let path = files.write("hints", format!("{header},stream\n{lines}"));
    let options = Options::default();
    assert_eq!(inspect(&path, &options).unwrap().format, "csv");
    let records = read_all(&path, &options).unwrap();
    assert_eq!(streams(&records), [Some(3), None, Some(255)]);
    assert_eq!((records[1].offset_bytes, records[1].unit), (4096, 0));
    // Lines of four columns have none, under a header of four.
    let path = files.write("plain", format!("{header}\n0,write,0,4096\n"));
    assert_eq!(streams(&read_all(&path, &options).unwrap()), [None]);
    let path = files.write("mixed", format!("{header},stream\n0,write,0,4096,\n1,write,0,512\n"));
    let error = error_of(&path, &options).to_string();
    assert!(error.contains("mixed:3") && error.contains("column stream is missing"), "{error}");
}

/// Hints outlive a conversion to either form; a CSV has their column where there are any, and only
/// there.
#[test]
fn a_conversion_keeps_hints() {
    let files = Files::new();
    let header = "time_us,op,offset_bytes,size_bytes";
    let lines = "0,write,0,4096,\n1,write,4096,4096,0\n2,read,0,512,255\n3,flush,,1,7\n";
    let path = files.write("hints", format!("{header},stream\n{lines}"));
    let options = Options::default();
    let before = read_all(&path, &options).unwrap();
    assert_eq!(streams(&before), [None, Some(0), Some(255), Some(7)]);
    let convert = |from: &str, name: &str| {
        let out = files.path(name);
        let workload = Workload::parse(from, &options, 1 << 30).unwrap();
        ftlab_trace::convert(&workload, &out).unwrap();
        out.display().to_string()
    };
    for name in ["out.csv", "out.ftb", "out.ftb.zst"] {
        assert_eq!(read_all(&convert(&path, name), &options).unwrap(), before, "{name}");
    }
    let generated = convert("randwrite:bs=4k,span=1M,count=3,hint=9", "generated.csv");
    assert_eq!(streams(&read_all(&generated, &options).unwrap()), [Some(9); 3]);
    let plain = convert("randwrite:bs=4k,span=1M,count=3", "plain.csv");
    assert!(std::fs::read_to_string(plain).unwrap().starts_with(&format!("{header}\n")));
}

#[test]
fn a_hint_that_is_none_is_an_error() {
    let files = Files::new();
    let header = "time_us,op,offset_bytes,size_bytes,stream\n0,write,0,4096,0\n";
    for (line, value) in [("1,write,0,4096,256", "256"), ("1,write,0,4096,a", "a")] {
        let path = files.write("wrong", format!("{header}{line}\n"));
        let error = error_of(&path, &Options::default()).to_string();
        let names = [value, "0 to 255", "wrong:3"];
        assert!(names.iter().all(|name| error.contains(name)), "{error}");
    }
    for hint in ["256", "-1", "x", ""] {
        let spec = format!("randwrite:span=1M,count=3,hint={hint}");
        let error = error_of(&spec, &Options::default()).to_string();
        assert!(error.contains("hint is illegal") && error.contains("0 to 255"), "{error}");
    }
}

/// Every request of a part carries its hint, also in a mix of parts, and nothing else changes.
#[test]
fn a_generated_workload_carries_its_hint() {
    let options = Options::default();
    let plain = read_all("randwrite:span=1M,count=5", &options).unwrap();
    let hinted = read_all("randwrite:span=1M,count=5,hint=9", &options).unwrap();
    assert_eq!(streams(&hinted), [Some(9); 5]);
    let without: Vec<Record> =
        hinted.iter().map(|record| Record { stream: None, ..*record }).collect();
    assert_eq!(without, plain);
    let blend = "blend:50/(randwrite:span=1M,hint=1)+50/(write:span=1M,hint=2),count=40";
    let both = streams(&read_all(blend, &options).unwrap());
    assert!(both.contains(&Some(1)) && both.contains(&Some(2)) && !both.contains(&None));
}
