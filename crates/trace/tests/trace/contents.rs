//! What requests write: FIU's hashes, the column `content` of our CSV, generated values.

use crate::common::{Files, error_of, read_all};
use ftlab_flash::request::{Content, Op};
use ftlab_trace::{AddressMap, AddressMode, Options, Record, Workload};

fn contents(records: &[Record]) -> Vec<Option<u64>> {
    records.iter().map(|record| record.content.map(Content::number)).collect()
}

/// Both halves of the hash count, zeros in front need not be written, and what is no hash says
/// nothing.
#[test]
fn a_hash_of_fiu_tells_what_is_written() {
    let files = Files::new();
    let lines = "1000000 2 nfsd 8 8 W 6 0 0000000000000001000000000000000f\n\
                 2000000 2 nfsd 16 8 W 6 0 1000000000000000f\n\
                 3000000 2 nfsd 24 8 R 6 0 0000000000000000000000000000000E\n\
                 4000000 2 nfsd 32 8 W 6 0 none\n";
    let path = files.write("fiu", lines);
    let records = read_all(&path, &Options::default()).unwrap();
    assert_eq!(contents(&records), [Some(14), Some(14), Some(14), None]);
}

/// The header names the column, alone or behind that of hints; a field may be empty.
#[test]
fn the_column_content_of_a_csv_tells_it_too() {
    let files = Files::new();
    let header = "time_us,op,offset_bytes,size_bytes";
    let alone = files.write("alone", format!("{header},content\n0,write,0,4096,fF\n1,read,0,1,\n"));
    let options = Options::default();
    assert_eq!(contents(&read_all(&alone, &options).unwrap()), [Some(255), None]);
    let both = format!("{header},stream,content\n0,write,0,4096,3,a\n1,write,0,4096,,b\n");
    let records = read_all(&files.write("both", both), &options).unwrap();
    assert_eq!(contents(&records), [Some(10), Some(11)]);
    assert_eq!((records[0].stream, records[1].stream), (Some(3), None));
    let small = files.write("small", format!("{header},content\n0,write,0,1,0\n1,write,0,1,1\n"));
    let small = read_all(&small, &options).unwrap();
    assert_ne!(small[0].content, small[1].content, "0 is a content of its own");
    for wrong in ["x", "+1", "11112222333344445"] {
        let text = format!("{header},content\n0,write,0,4096,{wrong}\n");
        let error = error_of(&files.write("wrong", text), &options).to_string();
        let names = [wrong, "16 hexadecimal digits", "wrong:2"];
        assert!(names.iter().all(|name| error.contains(name)), "{error}");
    }
    let text = format!("{header},content\n0,write,0,4096\n");
    let error = error_of(&files.write("short", text), &options).to_string();
    assert!(error.contains("column content is missing"), "{error}");
}

/// To either form, also where the first requests of a file say nothing and where a block of the
/// compact form begins without.
#[test]
fn a_conversion_keeps_contents() {
    let files = Files::new();
    let header = "time_us,op,offset_bytes,size_bytes,stream,content";
    let mut text = format!("{header}\n");
    for number in 0..40_000u32 {
        let content = if number < 20_000 || number % 3 == 0 { "" } else { "fedcba9876543210" };
        text += &format!("{number},write,{},4096,,{content}\n", number % 64 * 4096);
    }
    let path = files.write("contents", text);
    let options = Options::default();
    let before = read_all(&path, &options).unwrap();
    let said = before.iter().filter(|record| record.content.is_some()).count();
    assert_eq!(said, 13_333);
    for name in ["out.csv", "out.ftb", "out.ftb.zst"] {
        let out = files.path(name);
        ftlab_trace::convert(&Workload::parse(&path, &options, 1 << 30).unwrap(), &out).unwrap();
        assert!(read_all(&out.display().to_string(), &options).unwrap() == before, "{name}");
    }
}

/// Writes alone carry values, the others say nothing, and nothing else of the workload changes; the
/// canonical form gives the same again. Parts of a mix write the same values where their seeds are.
#[test]
fn a_generated_workload_repeats_a_share_of_its_values() {
    let options = Options::default();
    let plain = "randrw:span=1M,count=4000,seed=3";
    let spec = format!("{plain},dedupe_percentage=40,dedupe_values=8,dedupe_distribution=zipf:1.1");
    let records = read_all(&spec, &options).unwrap();
    assert!(records.iter().all(|one| one.op == Op::Write || one.content.is_none()));
    let without: Vec<Record> =
        records.iter().map(|record| Record { content: None, ..*record }).collect();
    assert_eq!(without, read_all(plain, &options).unwrap());
    let mut known = std::collections::HashMap::new();
    for content in records.iter().filter_map(|record| record.content) {
        *known.entry(content).or_insert(0u32) += 1;
    }
    let mut repeated: Vec<u32> = known.into_values().collect();
    repeated.sort_unstable();
    let total: u32 = repeated.iter().sum();
    assert_eq!(repeated.len(), 8);
    assert!((700..900).contains(&total) && repeated[7] > 2 * repeated[0], "{repeated:?}");
    let workload = Workload::parse(&spec, &options, 1 << 30).unwrap();
    let canonical = workload.describe().unwrap().canonical_spec.expect("a generated workload");
    assert!(canonical.contains("dedupe_values=8"), "{canonical}");
    assert_eq!(read_all(&canonical, &options).unwrap(), records);
}

#[test]
fn shares_of_values_that_are_none_are_errors() {
    for (keys, problem) in [
        ("randwrite:span=1M,dedupe_percentage=101", "dedupe_percentage is illegal"),
        ("randwrite:span=1M,dedupe_percentage=5,dedupe_values=0", "dedupe_values is illegal"),
        ("randwrite:span=1M,dedupe_values=5", "dedupe_values has no effect here"),
        ("randread:span=1M,dedupe_percentage=5", "dedupe_percentage has no effect here"),
        ("randwrite:span=1M,dedupe_percentage=5,dedupe_distribution=gauss", "random_distribution"),
    ] {
        let error = error_of(keys, &Options::default()).to_string();
        assert!(error.contains(problem), "{keys}: {error}");
    }
}

/// Pieces of a record that are not adjacent any more write its parts; what is widened to whole
/// sectors writes nobody knows what.
#[test]
fn what_a_record_writes_is_divided_with_it() {
    let content = Content::new(77);
    let record = |offset_bytes, size_bytes| Record {
        time_ns: 0,
        op: Op::Write,
        offset_bytes,
        size_bytes,
        unit: 0,
        stream: None,
        content: Some(content),
    };
    let mut map = AddressMap::new(AddressMode::Modulo, 16 * 512, 4096, None).unwrap();
    let mut requests = Vec::new();
    map.map(&record(12 * 512, 8 * 512), &mut requests).unwrap();
    assert_eq!(
        [requests[0].content, requests[1].content],
        [Some(content), Some(content.from_sector(4))]
    );
    let mut map = AddressMap::new(AddressMode::Dense, 16 * 512, 4096, None).unwrap();
    requests.clear();
    map.map(&record(8 * 512, 512), &mut requests).unwrap();
    map.map(&record(6 * 512, 4 * 512), &mut requests).unwrap();
    let parts: Vec<(u64, Option<Content>)> =
        requests.iter().map(|request| (request.first_sector, request.content)).collect();
    let second = content.from_sector(2);
    assert_eq!(parts, [(0, Some(content)), (14, Some(content)), (0, Some(second))]);
    let mut map = AddressMap::new(AddressMode::Strict, 16 * 512, 4096, None).unwrap();
    requests.clear();
    map.map(&record(512, 512), &mut requests).unwrap();
    map.map(&record(100, 500), &mut requests).unwrap();
    assert_eq!((requests[0].content, requests[1].content), (Some(content), None));
}
