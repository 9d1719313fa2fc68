//! Every scheme of the table on tiny devices: after every request the whole device is audited, and
//! every read returns the version written last.

mod common;

use common::{mixed, open, tiny};
use ftlab_engine::schemes;

/// Geometries: one plane, several planes of one die, several channels.
const GEOMETRIES: &[&[(&str, &str)]] = &[
    &[],
    &[("device.planes", "2"), ("timing.profile", "parallel")],
    &[
        ("device.channels", "2"),
        ("device.dies", "2"),
        ("timing.profile", "parallel"),
    ],
    &[
        ("device.pages_per_block", "8"),
        ("device.page_bytes", "1024"),
    ],
];

fn run(scheme: &str, pairs: &[(&str, &str)], seed: u64) {
    let config = tiny(scheme, 24, pairs);
    let mut device = open(scheme, &config);
    device.verify_reads();
    for (number, request) in mixed(&config, 1500, seed).iter().enumerate() {
        let context = || format!("{scheme} {pairs:?} seed {seed}, request {number}: {request:?}");
        if let Err(error) = device.submit(request) {
            panic!("{}: {error}", context());
        }
        if let Err(error) = device.audit() {
            panic!("{}: {error}", context());
        }
    }
    assert!(device.verified_reads() > 100, "reads were really compared");
    assert!(
        device.board().meter().total_erases() > 0,
        "{scheme}: nothing was ever erased"
    );
}

#[test]
fn every_scheme_keeps_every_promise_on_every_geometry() {
    for row in schemes::TABLE {
        for geometry in GEOMETRIES {
            for seed in 1..=3 {
                run(row.paper.name, geometry, seed);
            }
        }
    }
}
