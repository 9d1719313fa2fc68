//! Every scheme of the table on tiny devices: after every request the whole device is audited, and
//! every read returns the version written last.

mod common;

use common::conform::conform;
use common::variants::VARIANTS;
use common::{mixed, open, tiny};
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

/// Faults: none, programs that fail, erases that fail. Failing devices have blocks to spare.
const FAULTS: &[Pairs<'_>] = &[
    &[],
    &[("nand.program_failure_rate", "0.002"), ("device.over_provisioning", "6")],
    &[("nand.erase_failure_rate", "0.01"), ("device.over_provisioning", "6")],
];

/// Logical blocks of the devices; the larger one has several translation pages (512-byte pages hold
/// 128 entries).
const SMALL: u64 = 24;
const LARGE: u64 = 170;

fn run(scheme: &str, blocks: u64, pairs: &[(&str, &str)], seed: u64) -> u64 {
    let config = tiny(scheme, blocks, pairs);
    let mut device = open(scheme, &config);
    let mut requests = mixed(&config, 900, seed);
    for (number, request) in requests.iter_mut().enumerate() {
        // A gap of thirty milliseconds now and then, so that idle work happens.
        request.arrival = number as u64 / 8 * 30_000_000;
    }
    if let Err(error) = conform(device.as_mut(), &requests) {
        panic!("{scheme} {pairs:?} seed {seed}, {error}");
    }
    assert!(device.verified_reads() > 100, "reads were really compared");
    let meter = device.board().meter();
    let erased = meter.total_erases() > 0 || blocks == LARGE;
    assert!(erased, "{scheme} {pairs:?}: nothing was ever erased");
    u64::from(device.board().nand().retired_blocks())
}

#[test]
fn every_scheme_keeps_every_promise_on_every_geometry_and_under_faults() {
    for row in schemes::TABLE {
        let mut retired = 0;
        for geometry in GEOMETRIES {
            for faults in FAULTS {
                let pairs = [*geometry, *faults].concat();
                for seed in 1..=3 {
                    retired += run(row.paper.name, SMALL, &pairs, seed);
                }
            }
        }
        assert!(retired > 0, "{}: no fault was ever injected", row.paper.name);
    }
}

#[test]
fn every_variant_keeps_every_promise() {
    for variant in VARIANTS {
        for geometry in GEOMETRIES {
            for faults in FAULTS {
                let pairs = [*geometry, variant.pairs, *faults].concat();
                run(variant.scheme, SMALL, &pairs, 7);
                run(variant.scheme, LARGE, &pairs, 8);
            }
        }
    }
}
