//! Streams, journals, extents and blends: what they mean, seen from outside.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::read_all;
use ftlab_flash::request::Op;
use ftlab_trace::{Options, Record, Synthetic, Workload};
use proptest::prelude::*;

const CAPACITY: u64 = 1 << 30;

fn records(text: &str) -> Vec<Record> {
    read_all(text, &Options::default()).unwrap()
}

fn share(all: &[Record], of: impl Fn(&Record) -> bool) -> f64 {
    all.iter().filter(|record| of(record)).count() as f64 / all.len() as f64
}

#[test]
fn streams_are_sequential_each_by_itself_and_interleaved() {
    let all = records("write:bs=4k,span=64M,streams=4,count=8000");
    let mut ends = BTreeMap::new();
    let mut apart = 0;
    for record in &all {
        let end = ends.entry(record.offset_bytes / (16 << 20)).or_insert(record.offset_bytes);
        apart += usize::from(*end != record.offset_bytes && record.offset_bytes % (16 << 20) > 0);
        *end = record.end_bytes();
    }
    assert_eq!((ends.len(), apart), (4, 0));
    let pairs = all.windows(2).filter(|pair| pair[1].offset_bytes == pair[0].end_bytes()).count();
    let follows = pairs as f64 / all.len() as f64;
    assert!((follows - 0.25).abs() < 0.02, "a stream is drawn for every request: {follows}");
}

#[test]
fn a_journal_runs_over_its_bytes_so_often_and_then_over_the_next() {
    let all = records("write:bs=4k,span=64k,wrap=16k,passes=3,count=27");
    let blocks: Vec<u64> = all.iter().map(|record| record.offset_bytes / 4096).collect();
    let expected: Vec<u64> = (0..27).map(|n| n / 12 * 4 + n % 4).collect();
    assert_eq!(blocks, expected);
}

/// The part of a stack that is counted in blocks is what an LRU cache of as many blocks would hit.
#[test]
fn a_stack_of_blocks_and_one_of_requests_differ_where_requests_are_large() {
    let within = |unit: &str| {
        let text = "randwrite:bs=16k,blockalign=4k,span=512M,count=60000,stack=400/90";
        let mut seen: Vec<u64> = Vec::new();
        let mut found = 0;
        for record in records(&format!("{text},stack_unit={unit}")) {
            let blocks: Vec<u64> =
                (record.offset_bytes / 4096..record.end_bytes() / 4096).collect();
            found += usize::from(seen.contains(&blocks[0]));
            seen.retain(|block| !blocks.contains(block));
            seen.extend(blocks);
            let surplus = seen.len().saturating_sub(400);
            seen.drain(..surplus);
        }
        found as f64 / 60_000.0
    };
    let (blocks, requests) = (within("blocks"), within("requests"));
    assert!((blocks - 0.9).abs() < 0.01, "{blocks}");
    assert!(requests < 0.5, "400 requests are more than 400 blocks: {requests}");
}

#[test]
fn a_blend_draws_each_request_from_a_part_by_its_share() {
    let text = "blend:70/(randwrite:bs=4k,span=64M)+30/(randread:bs=64k,offset=64M,span=8M,seed=7),\
                count=50000,gaps=2ms,seed=3";
    let all = records(text);
    assert_eq!(all.len(), 50_000);
    assert!((share(&all, |record| record.op == Op::Write) - 0.7).abs() < 0.01);
    for record in &all {
        let small = record.size_bytes == 4096;
        assert_eq!(small, record.op == Op::Write);
        assert_eq!(small, record.end_bytes() <= 64 << 20, "each keeps to its addresses");
    }
    assert!(all.windows(2).all(|pair| pair[0].time_ns <= pair[1].time_ns));
    let mean = all.last().unwrap().time_ns as f64 / 49_999.0;
    assert!((mean / 2e6 - 1.0).abs() < 0.02, "one process of arrivals: {mean} ns");
    assert_eq!(records(text), all, "a seed gives the same requests");
    assert_ne!(records(&text.replace("seed=3", "seed=4")), all);
    let head = Options { head: Some(100), ..Options::default() };
    assert_eq!(read_all(text, &head).unwrap(), all[..100]);
}

#[test]
fn parts_take_turns_and_keep_their_shares() {
    let text = "blend:80/(randwrite:bs=4k,span=64M)+20/(write:bs=64k,offset=64M,span=8M),\
                count=400000,seed=3";
    let mean_turn = |text: &str| {
        let all = records(text);
        let large = share(&all, |record| record.size_bytes > 4096);
        assert!((large - 0.2).abs() < 0.02, "{text}: {large}");
        let turns = all.windows(2).filter(|two| two[0].size_bytes < two[1].size_bytes).count();
        large * all.len() as f64 / turns as f64
    };
    // A part goes on until one in N requests draws one of the others, whose share is 0.8.
    for (turns, mean) in [(1, 1.25), (10, 12.5), (100, 125.0)] {
        let found = mean_turn(&format!("{text},turns={turns}"));
        assert!((found / mean - 1.0).abs() < 0.07, "{turns}: {found} requests in a turn");
    }
    assert_eq!(records(&format!("{text},turns=1")), records(text));
}

#[test]
fn parts_have_addresses_of_their_own_where_that_is_said() {
    let text = "blend:50/(randwrite:bs=4k,span=1M)+50/(randread:bs=4k,span=1M),count=4000";
    let ends = |text: &str| {
        let all = records(text);
        [Op::Write, Op::Read].map(|op| {
            let own = all.iter().filter(|record| record.op == op);
            own.map(|record| record.offset_bytes >> 20).collect::<BTreeSet<u64>>()
        })
    };
    assert_eq!(ends(text), [BTreeSet::from([0]), BTreeSet::from([0])]);
    let own = format!("{text},addresses=own");
    assert_eq!(ends(&own), [BTreeSet::from([0]), BTreeSet::from([1])]);
    let blocks = |op| -> Vec<u64> {
        let all = records(&own);
        all.iter().filter(|r| r.op == op).map(|r| r.offset_bytes % (1 << 20)).take(500).collect()
    };
    assert_ne!(blocks(Op::Read), blocks(Op::Write), "parts of one seed draw differently");
}

#[test]
fn blends_that_cannot_be_say_what_is_legal() {
    for (text, part) in [
        ("blend:", "has no share"),
        ("blend:100/", "part of the blend is empty"),
        ("blend:50/(read:span=1M)+40/(read:span=1M)", "do not add up"),
        ("blend:100/(read:span=1M", "parentheses do not match"),
        ("blend:100/(read:span=1M)x", "text after ')'"),
        ("blend:0/(read:span=1M)+100/(read:span=1M)", "share of the blend is illegal"),
        ("blend:100/(read:span=1M,count=5)", "behind the parts of the blend"),
        ("blend:100/(read:span=1M,gaps=1ms)", "behind the parts of the blend"),
        ("blend:100/(read:span=1M),bs=4k", "unknown key"),
        ("blend:100/(read:span=1M),addresses=mine", "legal: same, own"),
        ("blend:100/(read:span=1M),turns=0", "an integer of at least 1"),
        ("blend:100/(phases:read,write)", "no inline spec"),
        ("blend:50/(read:span=80%)+50/(write:span=80%),addresses=own", "beyond the device"),
        ("blend:100/(read:spann=1M)", "did you mean 'span'"),
    ] {
        let message = match Synthetic::parse(text, CAPACITY) {
            Ok(blend) => panic!("{text} is taken as {blend}"),
            Err(error) => error.to_string(),
        };
        assert!(message.contains(part), "{text}: {message}");
    }
}

#[test]
fn a_blend_can_be_part_of_a_combination_and_says_its_depth() {
    let blend = "blend:50/(read:span=1M)+50/(randwrite:span=1M),count=10,iodepth=8";
    let one = Workload::parse(blend, &Options::default(), CAPACITY).unwrap();
    assert_eq!((one.closed_loop_depth(), one.requests_known()), (Some(8), Some(10)));
    let both = format!("phases:({blend}),(randread:span=1M,count=5,iodepth=8)");
    assert_eq!(records(&both).len(), 15);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// Every request of every part stays within that part's span, whatever the settings.
    #[test]
    fn requests_stay_in_their_span(
        mode in prop_oneof![Just("write"), Just("rw"), Just("read")],
        streams in 1u64..6, wrap in 1u64..5, passes in 1u64..4, extent in 1u64..9,
        unit in prop_oneof![Just("requests"), Just("blocks")], turns in 1u64..50, seed in 0u64..1000,
    ) {
        let wrap = wrap * 64;
        let text = format!(
            "blend:40/({mode}:bssplit=4k/50:24k/50,span=3M,offset=1M,streams={streams},\
             wrap={wrap}k,passes={passes})+60/(randrw:bssplit=4k/50:24k/50,offset=8M,span=5M,\
             random_distribution=zipf:1,scatter={}k,stack=20/40,stack_unit={unit}),\
             turns={turns},count=3000,seed={seed}",
            4 * extent
        );
        let spec = Synthetic::parse(&text, CAPACITY).unwrap();
        prop_assert_eq!(&Synthetic::parse(&spec.to_string(), CAPACITY).unwrap(), &spec);
        for record in records(&text) {
            let (from, to) = (record.offset_bytes, record.end_bytes());
            let first = from >= 1 << 20 && to <= 4 << 20;
            prop_assert!(first || from >= 8 << 20 && to <= 13 << 20, "{from} to {to}");
        }
    }
}
