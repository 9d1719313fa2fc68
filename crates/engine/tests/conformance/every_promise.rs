//! Every scheme of the table on tiny devices: after every request (of variants with faults after
//! every fifth) the whole device is audited, and every read returns the version written last.

use crate::common::conform::conform_audited;
use crate::common::faults::{self, Faults};
use crate::common::variants;
use crate::common::{chosen, mixed_contents, open, tiny};
use crate::crash::is_all;
use ftlab_engine::meter::Event;
use ftlab_engine::schemes;

type Pairs<'a> = &'a [(&'a str, &'a str)];

/// Geometries: one plane, several planes of one die, several channels, larger pages.
const GEOMETRIES: &[Pairs<'_>] = &[
    &[],
    &[("device.planes", "2"), ("timing.profile", "parallel")],
    &[("device.channels", "2"), ("device.dies", "2"), ("timing.profile", "parallel")],
    &[("device.channels", "2"), ("timing.profile", "parallel"), ("alloc.order", "dynamic")],
    &[("device.pages_per_block", "8"), ("device.page_bytes", "1024")],
];

/// Logical blocks of the devices; the larger one has several translation pages (512-byte pages hold
/// 128 entries).
const SMALL: u64 = 24;
const LARGE: u64 = 170;

/// What a run saw of faults.
#[derive(Default)]
struct Seen {
    failed_programs: u64,
    retired: u32,
    factory_bad: usize,
    retries: u64,
    unreadable: u64,
}

fn run(scheme: &str, blocks: u64, pairs: &[(&str, &str)], seed: u64) -> Seen {
    run_audited(scheme, blocks, pairs, seed, 1)
}

/// The same, audited after every `stride`-th request.
fn run_audited(
    scheme: &str,
    blocks: u64,
    pairs: &[(&str, &str)],
    seed: u64,
    stride: usize,
) -> Seen {
    let config = tiny(scheme, blocks, pairs);
    let mut device = open(scheme, &config);
    // Who programs equal contents once comes later to what is to be erased, and so does who leaves
    // a part of every zone empty.
    let row = schemes::find(scheme).expect("a scheme of the table").0;
    let is_late = row.reads_content || row.maps_in_host;
    let mut requests = mixed_contents(&config, if is_late { 1800 } else { 900 }, seed);
    for (number, request) in requests.iter_mut().enumerate() {
        // A gap of thirty milliseconds now and then, so that idle work happens.
        request.arrival = number as u64 / 8 * 30_000_000;
    }
    if let Err(error) = conform_audited(device.as_mut(), &requests, stride) {
        panic!("{scheme} {pairs:?} seed {seed}, {error}");
    }
    assert!(device.verified_reads() > 100, "reads were really compared");
    let meter = device.board().meter();
    let erased = meter.total_erases() > 0 || blocks == LARGE;
    assert!(erased, "{scheme} {pairs:?}: nothing was ever erased");
    let nand = device.board().nand();
    Seen {
        failed_programs: meter.events(Event::ProgramFailures),
        retired: nand.retired_since(),
        factory_bad: nand.factory_bad().len(),
        retries: meter.events(Event::ReadRetries),
        unreadable: meter.host().unreadable_pages,
    }
}

/// Whether the faults that were asked for happened, and no others.
fn check(scheme: &str, faults: Faults, seen: &Seen) {
    let asked = |key: &str| faults.iter().any(|(known, _)| known.contains(key));
    // A zone with a block whose program failed gains less than others: with room enough it is never
    // collected, and nothing retires (but by fifo: `schemes/zns.rs`). Erases that fail retire
    // blocks.
    let is_zoned = schemes::find(scheme).expect("a scheme").0.maps_in_host;
    let may_keep_all = is_zoned && asked("program_") && !asked("erase_");
    let happened = [
        ("factory_bad", seen.factory_bad > 0, asked("factory_bad")),
        ("failed program", seen.failed_programs > 0, asked("program_")),
        ("retirement", seen.retired > 0 || may_keep_all, asked("failure_rate") || may_keep_all),
        ("retry", seen.retries > 0, asked("read_")),
        ("unreadable page", seen.unreadable > 0, asked("read_")),
    ];
    for (fault, happened, asked) in happened {
        assert_eq!(happened, asked, "{scheme} {faults:?}: {fault}");
    }
}

#[test]
fn every_scheme_keeps_every_promise_on_every_geometry_and_under_faults() {
    for row in schemes::TABLE.iter().filter(|row| chosen(row.paper.name)) {
        for faults in faults::ALL {
            let mut seen = Seen::default();
            for geometry in GEOMETRIES {
                let pairs = [*geometry, *faults].concat();
                for seed in 1..=3 {
                    let run = run(row.paper.name, SMALL, &pairs, seed);
                    seen.failed_programs += run.failed_programs;
                    seen.retired += run.retired;
                    seen.factory_bad += run.factory_bad;
                    seen.retries += run.retries;
                    seen.unreadable += run.unreadable;
                }
            }
            check(row.paper.name, faults, &seen);
        }
    }
}

/// Every variant meets every geometry, and every kind of fault on some; devices with faults are
/// audited after every fifth request, larger ones after every fifteenth. With `FTLAB_ALL_CUTS`
/// (`make test-long`) every kind meets every variant on every geometry, audited after every
/// request.
#[test]
fn every_variant_keeps_every_promise() {
    let all = is_all();
    let variants = variants::all().enumerate().filter(|(_, variant)| chosen(variant.scheme));
    for (number, variant) in variants {
        for (turn, geometry) in GEOMETRIES.iter().enumerate() {
            for (kind, faults) in faults::ALL.iter().enumerate() {
                let is_its_turn = (number + turn + kind).is_multiple_of(3);
                if !all && !faults.is_empty() && !is_its_turn {
                    continue;
                }
                let pairs = [*geometry, variant.pairs, *faults].concat();
                let (often, seldom) = match (all, faults.is_empty()) {
                    (true, _) => (1, 1),
                    (false, true) => (1, 15),
                    (false, false) => (5, 15),
                };
                run_audited(variant.scheme, SMALL, &pairs, 7, often);
                run_audited(variant.scheme, LARGE, &pairs, 8, seldom);
            }
        }
    }
}
