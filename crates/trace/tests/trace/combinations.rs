//! Workloads one after another and side by side.

use ftlab_flash::request::Op;
use ftlab_trace::{AddressMap, AddressMode, How, Options, Record, Workload};

use crate::common::{Files, error_of, read_all};

fn records(text: &str) -> Vec<Record> {
    read_all(text, &Options::default()).unwrap()
}

const LOAD: &str = "write:bs=64k,span=1M,rate_iops=1000";
const WORK: &str = "randread:bs=4k,span=1M,count=50,rate_iops=500";

#[test]
fn phases_follow_one_another_on_the_same_addresses() {
    let (load, work) = (records(LOAD), records(WORK));
    let both = records(&format!("phases:load=({LOAD}),({WORK})"));
    assert_eq!(both[..load.len()], load);
    let begins = load.last().unwrap().time_ns;
    let shifted: Vec<Record> =
        work.iter().map(|one| Record { time_ns: one.time_ns + begins, ..*one }).collect();
    assert_eq!(both[load.len()..], shifted);
    let thrice = records(&format!("phases:({WORK}),({WORK}),({WORK})"));
    assert_eq!(thrice.last().unwrap().time_ns, 3 * work.last().unwrap().time_ns);
}

#[test]
fn a_mix_is_ordered_by_time_and_its_parts_never_share_an_address() {
    let text = format!("mix:({LOAD})+({WORK})");
    let workload = Workload::parse(&text, &Options::default(), 1 << 30).unwrap();
    let mut merged = workload.records().unwrap();
    let mut by_part: [Vec<Record>; 2] = Default::default();
    let mut before = 0;
    while let Some(record) = merged.next() {
        let record = record.unwrap();
        assert!(record.time_ns >= before);
        before = record.time_ns;
        by_part[merged.part()].push(Record { unit: 0, ..record });
    }
    assert_eq!(by_part, [records(LOAD), records(WORK)]);
    assert!(by_part[1][0].time_ns == 0 && by_part[0][1].time_ns < by_part[1][1].time_ns);

    let spans = workload.survey(1 << 18).unwrap().spans;
    assert_eq!(spans.len(), 2);
    assert!((1 << 20..=2 << 20).contains(&spans.capacity_bytes()));
    let map = AddressMap::new(AddressMode::Strict, 2 << 20, 1 << 18, Some(&spans)).unwrap();
    for request in workload.requests(map).unwrap() {
        let request = request.unwrap();
        assert_eq!(request.first_sector >= 2048, request.op == Op::Read, "{request:?}");
    }
}

#[test]
fn a_combination_of_files_and_specs_knows_its_parts_lines_and_length() {
    let files = Files::new();
    let one = files.write("one.spc", "0,0,4096,w,0.5\n1,8,4096,r,1.0\n");
    let two = files.write("two.spc", "7,0,512,w,3.0\n\n7,8,512,w,4.5\nnonsense\n");
    let text = format!("phases:{one},({WORK}),last=({two})");
    assert!(error_of(&text, &Options::default()).to_string().contains("two.spc"));
    let text = format!("phases:{one},again=({one})");
    let workload = Workload::parse(&text, &Options::default(), 0).unwrap();
    assert_eq!(workload.parts(), Some((How::Phases, vec![one.clone(), "again".into()])));
    assert_eq!(workload.requests_known(), None);
    let mut all = workload.records().unwrap();
    let times: Vec<u64> = all.by_ref().map(|record| record.unwrap().time_ns).collect();
    assert_eq!(times, [0, 500_000_000, 500_000_000, 1_000_000_000]);
    assert_eq!((all.summary().requests, all.summary().lines_read), (4, 4));
    assert!(!workload.describe().unwrap().synthetic);

    let nested = format!("phases:({WORK}),(mix:a=({WORK})+b=({LOAD}))");
    let options = Options { head: Some(60), ..Options::default() };
    let workload = Workload::parse(&nested, &options, 1 << 30).unwrap();
    assert_eq!(workload.requests_known(), Some(60));
    assert_eq!(workload.records().unwrap().count(), 60);
    assert!(workload.describe().unwrap().synthetic);
    let other = Workload::parse(&format!("mix:({WORK})+({LOAD})"), &options, 1 << 30).unwrap();
    assert_ne!(other.describe().unwrap().sha256, workload.describe().unwrap().sha256);
}

#[test]
fn parts_that_do_not_go_together_are_refused() {
    let refusal = |text: &str| error_of(text, &Options::default()).to_string();
    assert!(refusal(&format!("phases:({WORK}),(randread:span=1M)")).contains("iodepth"));
    assert!(refusal("mix:(randread:span=1M)+(randread:span=1M)").contains("rate_iops"));
    assert!(refusal("phases:-,-").contains("standard input"));
    assert!(refusal("phases:(mix:(phases:(mix:(phases:(randread:span=1M)))))").contains("nested"));
    // A spec whose commas are not in parentheses falls apart, and the message says how to write it.
    assert!(refusal("phases:randread:bs=4k,span=1M").contains("parentheses"));
}
