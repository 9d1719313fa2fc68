//! Addresses of a trace on a device: nothing is lost, and what was adjacent inside an extent stays.

use crate::common::Files;
use ftlab_flash::request::{Op, Request};
use ftlab_trace::{AddressMap, AddressMode, Options, Record, UnitSpans, Workload};
use proptest::prelude::*;

const EXTENT: u64 = 128 << 10;

fn record(op: Op, offset_bytes: u64, size_bytes: u64, unit: u32) -> Record {
    Record { time_ns: 7, op, offset_bytes, size_bytes, unit, stream: None, content: None }
}

fn spans(records: &[Record]) -> UnitSpans {
    let mut spans = UnitSpans::default();
    records.iter().for_each(|record| spans.note(record));
    spans
}

fn map(mode: AddressMode, capacity: u64, records: &[Record]) -> (Vec<Request>, AddressMap) {
    let spans = spans(records);
    let mut map = AddressMap::new(mode, capacity, EXTENT, Some(&spans)).unwrap();
    let mut requests = Vec::new();
    for record in records {
        map.map(record, &mut requests).unwrap();
    }
    (requests, map)
}

fn places(requests: &[Request]) -> Vec<(u64, u32)> {
    requests.iter().map(|request| (request.first_sector, request.sectors)).collect()
}

#[test]
fn strict_keeps_addresses_and_widens_to_sectors() {
    let records = [record(Op::Write, 4096, 4096, 3), record(Op::Read, 100, 500, 3)];
    let (requests, map) = map(AddressMode::Strict, 8192, &records);
    assert_eq!(places(&requests), [(8, 8), (0, 2)]);
    assert_eq!(map.counts().widened, 1);
    assert_eq!((map.counts().records, map.counts().requests, map.counts().split), (2, 2, 0));
}

#[test]
fn strict_names_the_line_and_the_capacity_needed() {
    let files = Files::new();
    let path = files.write("trace", "0,0,512,w,0.0\n0,16,4096,w,1.0\n0,100,4096,w,2.0\n");
    let workload = Workload::parse(&path, &Options::default(), 0).unwrap();
    let survey = workload.survey(EXTENT).unwrap();
    let mut map = AddressMap::new(AddressMode::Strict, 8192, EXTENT, Some(&survey.spans)).unwrap();
    let mut records = workload.records().unwrap();
    let mut requests = Vec::new();
    let error = loop {
        let record = records.next().expect("an error comes first").unwrap();
        if let Err(error) = map.map(&record, &mut requests) {
            break records.locate(error);
        }
    };
    assert_eq!((error.file(), error.line()), (Some(&*path), Some(2)));
    let needed = 100 * 512 + 4096;
    assert_eq!(survey.strict_bytes(), needed);
    assert!(error.to_string().contains(&format!("needs {needed} bytes")), "{error}");
    let mut enough =
        AddressMap::new(AddressMode::Strict, needed, EXTENT, Some(&survey.spans)).unwrap();
    for record in workload.records().unwrap() {
        enough.map(&record.unwrap(), &mut requests).unwrap();
    }
}

#[test]
fn requests_of_a_workload_come_in_order_and_an_error_ends_them() {
    let files = Files::new();
    let path = files.write("trace", "0,0,512,w,0.0\n0,767,1024,w,1.0\n0,9000,512,w,2.0\n");
    let workload = Workload::parse(&path, &Options::default(), 0).unwrap();
    let dense = AddressMap::new(AddressMode::Dense, 4 * EXTENT, EXTENT, None).unwrap();
    let mut requests = workload.requests(dense).unwrap();
    let all: Vec<Request> = requests.by_ref().map(Result::unwrap).collect();
    assert_eq!(places(&all), [(0, 1), (511, 2), (3 * 256 + 9000 % 256, 1)]);
    assert_eq!(requests.map_used().counts().records, 3);
    let strict = AddressMap::new(AddressMode::Strict, 1 << 20, EXTENT, None).unwrap();
    let mut requests = workload.requests(strict).unwrap();
    assert!(requests.by_ref().take(2).all(|request| request.is_ok()));
    let error = requests.next().unwrap().unwrap_err();
    assert_eq!((error.file(), error.line()), (Some(&*path), Some(3)));
    assert!(requests.next().is_none());
}

#[test]
fn several_units_lie_side_by_side_in_order_of_number() {
    let records = [record(Op::Write, 0, 512, 9), record(Op::Write, 512, 512, 2)];
    let (requests, _) = map(AddressMode::Strict, 4 << 20, &records);
    assert_eq!(places(&requests), [(2048, 1), (1, 1)], "unit 2 first, its span rounded to 1 MiB");
    let mut unknown = AddressMap::new(AddressMode::Strict, 4 << 20, EXTENT, None).unwrap();
    let mut requests = Vec::new();
    unknown.map(&records[0], &mut requests).unwrap();
    let error = unknown.map(&records[1], &mut requests).unwrap_err().to_string();
    assert!(error.contains("first pass"), "{error}");
}

#[test]
fn modulo_folds_and_splits_at_the_end_of_the_device() {
    let records = [record(Op::Write, 12 << 10, 8 << 10, 0)];
    let (requests, map) = map(AddressMode::Modulo, 16 << 10, &records);
    assert_eq!(places(&requests), [(24, 8), (0, 8)]);
    assert_eq!(map.counts().split, 1);
    let mut tiny = AddressMap::new(AddressMode::Modulo, 512, EXTENT, None).unwrap();
    assert!(tiny.map(&records[0], &mut Vec::new()).is_err());
}

#[test]
fn dense_gives_slots_in_order_of_first_touch_and_keeps_adjacency_inside_an_extent() {
    let far = 100 * EXTENT;
    let records = [
        record(Op::Write, far + 4096, 4096, 0),
        record(Op::Write, far + 8192, 4096, 0),
        record(Op::Read, 0, 512, 0),
        record(Op::Read, 0, 512, 1),
    ];
    let (requests, _) = map(AddressMode::Dense, 3 * EXTENT, &records);
    let extent = EXTENT / 512;
    assert_eq!(places(&requests), [(8, 8), (16, 8), (extent, 1), (2 * extent, 1)]);
}

#[test]
fn dense_splits_a_request_whose_extents_are_not_adjacent_any_more() {
    let extent = EXTENT / 512;
    let records = [
        record(Op::Write, 5 * EXTENT, 512, 0),
        record(Op::Write, 4 * EXTENT + EXTENT / 2, EXTENT, 0),
        record(Op::Write, 8 * EXTENT, 2 * EXTENT, 0),
    ];
    let (requests, map) = map(AddressMode::Dense, 4 * EXTENT, &records);
    let half = extent / 2;
    let expected =
        [(0, 1), (extent + half, half as u32), (0, half as u32), (2 * extent, 2 * extent as u32)];
    assert_eq!(places(&requests), expected, "adjacent slots stay one request");
    assert_eq!((map.counts().split, map.counts().requests), (1, 4));
    assert!(requests.iter().all(|request| request.arrival == 7));
}

#[test]
fn dense_says_when_the_footprint_is_larger_than_the_device() {
    let mut map = AddressMap::new(AddressMode::Dense, EXTENT, EXTENT, None).unwrap();
    let mut requests = Vec::new();
    map.map(&record(Op::Write, EXTENT, 512, 0), &mut requests).unwrap();
    let error = map.map(&record(Op::Write, 0, 512, 0), &mut requests).unwrap_err().to_string();
    assert!(error.contains("2 extents of 128.00 KiB"), "{error}");
}

#[test]
fn a_flush_has_no_address_and_illegal_settings_are_refused() {
    let records = [record(Op::Flush, u64::MAX - 1, 1, 0)];
    let (requests, _) = map(AddressMode::Strict, 512, &records);
    assert_eq!(places(&requests), [(0, 0)]);
    assert!(AddressMap::new(AddressMode::Strict, 511, EXTENT, None).is_err());
    assert!(AddressMap::new(AddressMode::Dense, 512, 1000, None).is_err());
    assert!("folded".parse::<AddressMode>().is_err());
}

fn any_record() -> impl Strategy<Value = Record> {
    let op = prop_oneof![Just(Op::Read), Just(Op::Write), Just(Op::Trim)];
    (op, 0u64..(64 << 20), 1u64..(1 << 20), 0u32..3)
        .prop_map(|(op, offset, size, unit)| record(op, offset, size, unit))
}

proptest! {
    /// Every sector of every record goes to one sector of the device, the same each time, and no
    /// two sectors to the same one.
    #[test]
    fn dense_is_a_bijection_of_touched_sectors(
        records in proptest::collection::vec(any_record(), 1..40),
    ) {
        let mut forward = std::collections::BTreeMap::new();
        let mut backward = std::collections::BTreeMap::new();
        let mut map = AddressMap::new(AddressMode::Dense, 1 << 40, EXTENT, None).unwrap();
        for record in &records {
            let mut requests = Vec::new();
            map.map(record, &mut requests).unwrap();
            let mapped = requests
                .iter()
                .flat_map(|r| r.first_sector..r.first_sector + u64::from(r.sectors));
            let touched = record.offset_bytes / 512..record.end_bytes().div_ceil(512);
            prop_assert_eq!(mapped.clone().count(), touched.clone().count());
            for (from, to) in touched.zip(mapped) {
                let from = (record.unit, from);
                prop_assert_eq!(*forward.entry(from).or_insert(to), to);
                prop_assert_eq!(*backward.entry(to).or_insert(from), from);
            }
        }
    }
}
