//! LeaFTL whose segments are exact and all in memory is a page-mapped scheme: every flash operation
//! and the place of every page are those of `ideal_page`. What must be set for that: a buffer of one
//! page and none written twice in a row, so that nothing is sorted or left out; victims
//! moved as they lie; the same threshold; one plane, as planes are chosen otherwise.

use crate::common::outcome::{BLOCKS, Outcome, Pairs, random, sequential};
use crate::common::{flush, open, pages, tiny};
use ftlab_engine::config::Config;
use ftlab_engine::meter::Event;
use ftlab_engine::request::{Op, Request};

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
