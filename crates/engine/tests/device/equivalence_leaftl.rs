//! LeaFTL whose segments are exact and all in memory is a page-mapped scheme: every flash operation
//! and the place of every page are those of `ideal_page`. What must be set for that: a buffer of
//! one page and none written twice in a row, so that nothing is sorted or left out; victims moved
//! as they lie; the same threshold; one plane, as planes are chosen otherwise. What is sorted
//! within its block is the same by counts, and a map on flash that memory holds as a whole costs a
//! read a group.

use crate::common::outcome::{BLOCKS, Outcome, Pairs, random, sequential};
use crate::common::{flush, open, pages, tiny};
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::config::Config;
use ftlab_engine::meter::{Cause, Event};
use ftlab_engine::request::{Op, Request};
use ftlab_engine::rng::{Purpose, Rng};

/// Exact, in memory, and nothing sorted.
const PLAIN: [(&str, &str); 4] = [
    ("leaftl.gamma", "0"),
    ("leaftl.map_on_flash", "false"),
    ("leaftl.gc_sorts", "false"),
    ("gc.threshold", "4"),
];

fn run(
    (scheme, pairs): (&str, Pairs<'_>),
    like: &Config,
    requests: impl Fn(&Config) -> Vec<Request>,
) -> Outcome {
    let mut config = tiny(scheme, BLOCKS, pairs);
    config.device = like.device.clone();
    let mut device = open(scheme, &config);
    device.board_mut().nand_mut().record_mut().start();
    for request in requests(&config) {
        device.submit(&request).expect("the device works");
    }
    flush(device.as_mut());
    device.audit().expect("the device is sound");
    crate::common::outcome::outcome(device.as_mut(), &config, Vec::new())
}

/// Page by page, and none twice in a row: the second write would find the first in the buffer.
fn without_rewrites(config: &Config, requests: &[Request]) -> Vec<Request> {
    let sectors = config.device.unit_bytes() / 512;
    let pages_of = |request: &Request| {
        let first = request.first_sector / sectors;
        first..first + u64::from(request.sectors) / sectors
    };
    let mut written: Vec<u64> = requests.iter().flat_map(pages_of).collect();
    written.dedup();
    written.into_iter().map(|page| pages(config, Op::Write, page, 1)).collect()
}

fn at_random(config: &Config) -> Vec<Request> {
    without_rewrites(config, &random(config))
}

fn in_order(config: &Config) -> Vec<Request> {
    without_rewrites(config, &sequential(config))
}

#[test]
fn leaftl_without_tolerance_in_memory_is_ideal_page() {
    let devices: [Pairs<'_>; 5] = [
        &[],
        &[("nand.enforce_order", "strict")],
        &[("gc.victim", "fifo"), ("gc.separate_frontiers", "true")],
        &[("wear.policy", "static"), ("wear.spread", "2")],
        &[("nand.program_failure_rate", "0.003"), ("device.over_provisioning", "4x")],
    ];
    for own in devices {
        for requests in [at_random as fn(&Config) -> Vec<Request>, in_order] {
            let left = [&PLAIN[..], &[("leaftl.buffer_bytes", "1B")], own].concat();
            let right = [&[("gc.threshold", "4")], own].concat();
            let like = tiny("leaftl", BLOCKS, &left);
            let (leaftl, ideal) = (
                run(("leaftl", &left), &like, requests),
                run(("ideal_page", &right), &like, requests),
            );
            assert!(leaftl.operations.len() > 1500, "{own:?}: it did something");
            let mut both = leaftl.operations.iter().zip(&ideal.operations);
            let apart = both.position(|(one, other)| one != other);
            assert_eq!((apart, leaftl.operations.len()), (None, ideal.operations.len()), "{own:?}");
            assert_eq!(leaftl.places, ideal.places, "{own:?}");
            assert_eq!((leaftl.programs, leaftl.reads), (ideal.programs, ideal.reads), "{own:?}");
            assert_eq!(leaftl.erases_by_cause, ideal.erases_by_cause, "{own:?}");
            let mispredictions = leaftl.events[Event::Mispredictions as usize];
            assert_eq!(mispredictions, 0, "{own:?}: what is exact is read once");
        }
    }
}

/// Each of what had to be set matters.
#[test]
fn what_leaftl_adds_makes_it_another_scheme_than_ideal_page() {
    let with = |different: Pairs<'_>| {
        let pairs = [&PLAIN[..], &[("leaftl.buffer_bytes", "1B")], different].concat();
        run(("leaftl", &pairs), &tiny("leaftl", BLOCKS, &pairs), at_random).operations
    };
    let plain = with(&[]);
    for different in [
        &[("leaftl.buffer_bytes", "2KiB")][..],
        &[("leaftl.gc_sorts", "true")],
        &[
            ("leaftl.map_on_flash", "true"),
            ("leaftl.map_bytes", "1B"),
            ("leaftl.group_pages", "16"),
        ],
    ] {
        assert!(with(different) != plain, "{different:?}");
    }
    // Segments that may be off change what is read, not what is written.
    assert!(with(&[("leaftl.gamma", "4"), ("leaftl.superseded", "free")]) == plain);
}

/// What flash does, in which block and for whom.
fn by_block(config: &Config, outcome: &Outcome) -> Vec<(char, u32, Cause)> {
    let pages = config.device.units_per_block();
    let of = |operation: &Operation| match *operation {
        Operation::Read(page, cause) => ('r', page.0 / pages, cause),
        Operation::Program(page, cause) => ('p', page.0 / pages, cause),
        Operation::Erase(block, cause) => ('e', block.0, cause),
    };
    outcome.operations.iter().map(of).collect()
}

/// Blocks of 8 pages.
const EIGHT: (&str, &str) = ("device.pages_per_block", "8");

/// Whole blocks, the pages of each in random order.
fn whole_blocks(config: &Config) -> Vec<Request> {
    shuffled(config, 8, 400)
}

/// Two half blocks at a time, the lower one first, the pages of each in random order: half of a
/// victim is valid.
fn half_blocks(config: &Config) -> Vec<Request> {
    shuffled(config, 4, 800)
}

/// All pieces of so many pages once, then two different ones at a time, upwards, at random.
fn shuffled(config: &Config, piece: u64, pairs: u32) -> Vec<Request> {
    let mut rng = Rng::new(12, Purpose::Workload);
    let pieces = config.device.logical_pages() / piece;
    let mut order: Vec<u64> = (0..pieces).collect();
    for _ in 0..pairs {
        let two = [0, 1].map(|_| u64::from(rng.below(pieces as u32)));
        // None that the buffer still holds.
        let is_new = two.iter().all(|piece| !order[order.len() - 2..].contains(piece));
        if two[0] != two[1] && is_new {
            order.extend([two[0].min(two[1]), two[0].max(two[1])]);
        }
    }
    let mut requests = Vec::new();
    for first in order {
        let mut pages_of: Vec<u64> = (first * piece..(first + 1) * piece).collect();
        for left in (1..pages_of.len()).rev() {
            pages_of.swap(left, rng.below(left as u32 + 1) as usize);
        }
        requests.extend(pages_of.into_iter().map(|page| pages(config, Op::Write, page, 1)));
    }
    requests
}

/// A buffer of a block, sorted, and victims sorted as well: pages lie elsewhere within their
/// blocks, and every block sees what it sees under `ideal_page`, operation by operation.
#[test]
fn what_is_sorted_within_a_block_is_the_same_by_counts() {
    let sorted = [
        ("leaftl.gamma", "0"),
        ("leaftl.map_on_flash", "false"),
        ("leaftl.gc_sorts", "true"),
        ("leaftl.buffer_bytes", "4KiB"),
        ("gc.threshold", "4"),
        EIGHT,
    ];
    for own in [&[][..], &[("nand.enforce_order", "strict")], &[("gc.victim", "fifo")]] {
        for (requests, copies) in
            [(whole_blocks as fn(&Config) -> Vec<Request>, false), (half_blocks, true)]
        {
            let left = [&sorted[..], own].concat();
            let right = [&[("gc.threshold", "4"), EIGHT], own].concat();
            let like = tiny("leaftl", BLOCKS, &left);
            let (leaftl, ideal) = (
                run(("leaftl", &left), &like, requests),
                run(("ideal_page", &right), &like, requests),
            );
            assert!(leaftl.operations.len() > 3000, "{own:?}: it did something");
            assert_eq!(leaftl.programs[Cause::Gc as usize] > 0, copies, "{own:?}");
            let (one, other) = (by_block(&like, &leaftl), by_block(&like, &ideal));
            let apart = one.iter().zip(&other).position(|(one, other)| one != other);
            assert_eq!((apart, one.len()), (None, other.len()), "{own:?}");
            assert!(leaftl.places != ideal.places, "{own:?}: something was sorted");
            assert_eq!((leaftl.programs, leaftl.reads), (ideal.programs, ideal.reads), "{own:?}");
            assert_eq!(leaftl.erases, ideal.erases, "{own:?}");
        }
    }
}

/// A map on flash of which memory holds every group that was asked for is read once a group, and
/// never written; all else is as if it lay in memory.
#[test]
fn a_map_that_is_cached_as_a_whole_costs_a_read_a_group() {
    let cached = [
        ("leaftl.gamma", "0"),
        ("leaftl.map_on_flash", "true"),
        // A byte less than what six groups can take.
        ("leaftl.group_pages", "16"),
        ("device.ram_bytes", "64KiB"),
        ("leaftl.map_bytes", "1271B"),
        ("leaftl.gc_sorts", "false"),
        ("leaftl.buffer_bytes", "1B"),
        ("leaftl.compact_every", "50"),
        ("gc.threshold", "4"),
    ];
    let like = tiny("leaftl", BLOCKS, &cached);
    let leaftl = run(("leaftl", &cached), &like, at_random);
    let ideal = run(("ideal_page", &[("gc.threshold", "4")]), &like, at_random);
    let of_host =
        |operation: &&Operation| !matches!(operation, Operation::Read(_, Cause::Translate));
    let kept: Vec<&Operation> = leaftl.operations.iter().filter(of_host).collect();
    assert!(kept.into_iter().eq(&ideal.operations), "what is no read of the map");
    assert_eq!(leaftl.places, ideal.places);
    let groups = like.device.logical_pages() / 16;
    assert_eq!(leaftl.reads[Cause::Translate as usize], groups, "a read a group");
    assert_eq!(leaftl.events[Event::EvictDirty as usize], 0);
}
