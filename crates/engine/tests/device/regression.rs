//! Failures that were seen once, each told before its fix.

use crate::common::{config, pages};
use ftlab_engine::request::Op;
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes;

/// DFTL on 64 planes ran full although every plane had room for its share. Map pages that
/// collection updates went to the victim's plane while their old copies died in others, so a busy
/// plane gathered hundreds of them, had to collect more, and gathered more still. They go to their
/// home plane now.
#[test]
fn map_pages_do_not_gather_in_one_plane() {
    let mut config = config(&[
        ("device.channels", "4"),
        ("device.dies", "4"),
        ("device.planes", "4"),
        ("device.over_provisioning", "0.1"),
        ("gc.threshold", "20%"),
        ("gc.threshold_base", "spare"),
        ("timing.profile", "parallel"),
    ]);
    config.device.set_capacity(1 << 30, 0);
    let (row, _) = schemes::find("dftl").expect("a scheme of the table");
    assert!((row.minimum_blocks)(&config) <= config.device.physical_blocks());
    let mut device = (row.open)(&config, 1).expect("legal settings");
    let logical = config.device.logical_pages() as u32;
    let mut rng = Rng::new(1, Purpose::Workload);
    for page in (0..logical).chain((0..logical).map(|_| rng.below(logical))) {
        let mut request = pages(&config, Op::Write, u64::from(page), 1);
        request.arrival = device.next_slot();
        device.submit(&request).expect("the device never runs full");
    }
    device.audit().expect("the audit passes");
}

/// At its minimum of blocks DFTL on two planes ran full: a collection on one plane used up the
/// other's last free blocks with map pages, and a full block that nobody had closed hid its
/// garbage.
#[test]
fn two_planes_at_the_minimum_of_blocks_never_run_full() {
    let variants: [&[(&str, &str)]; 5] = [
        &[],
        &[("gc.victim", "fifo")],
        &[("gc.separate_frontiers", "true")],
        &[("gc.victim", "random"), ("dftl.lazy_copying", "false")],
        &[("dftl.write_miss_fetch", "false"), ("gc.mode", "idle")],
    ];
    for pairs in variants {
        for (pages_per_block, logical_blocks) in [("4", 1000), ("16", 200), ("16", 600)] {
            let mut all = vec![
                ("device.planes", "2"),
                ("device.page_bytes", "512"),
                ("device.pages_per_block", pages_per_block),
                ("device.over_provisioning", "0.001"),
                ("dftl.cmt_entries", "32"),
                ("dftl.checkpoint_interval", "256"),
            ];
            all.extend_from_slice(pairs);
            let mut config = config(&all);
            crate::common::size("dftl", &mut config, logical_blocks);
            let mut device = crate::common::open("dftl", &config);
            device.verify_reads();
            let logical = config.device.logical_pages() as u32;
            let mut rng = Rng::new(3, Purpose::Workload);
            for page in (0..logical).chain((0..40_000).map(|_| rng.below(logical))) {
                let request = pages(&config, Op::Write, u64::from(page), 1);
                if let Err(error) = device.submit(&request) {
                    panic!("{pairs:?}, {logical_blocks} blocks of {pages_per_block}: {error}");
                }
            }
            device.audit().expect("the audit passes");
        }
    }
}

/// After a second start of measuring, or a power cycle, completions jumped by the time measured
/// before: the device's clock was added to itself.
#[test]
fn a_power_cycle_while_measuring_adds_no_queueing() {
    let config = crate::common::tiny("ideal_page", 24, &[]);
    let mut device = crate::common::open("ideal_page", &config);
    for page in 0..90 {
        device.submit(&pages(&config, Op::Write, page, 1)).expect("works");
    }
    device.start_measuring();
    device.submit(&pages(&config, Op::Write, 1, 1)).expect("works");
    device.power_cycle().expect("recovers");
    let mut request = pages(&config, Op::Write, 2, 1);
    request.arrival = device.idle_from() + 1000;
    let completion = device.submit(&request).expect("works");
    assert_eq!((completion.queue(), completion.device()), (0, config.timing.program.0));
}

/// A checkpoint of a large cache with small pages overran the store of payloads, with a panic.
#[test]
fn checkpoints_of_a_large_cache_fit() {
    let mut config = config(&[
        ("device.page_bytes", "512"),
        ("dftl.cmt_entries", "262144"),
        ("dftl.checkpoint_interval", "200000"),
    ]);
    crate::common::size("dftl", &mut config, 4096);
    let mut device = crate::common::open("dftl", &config);
    let logical = config.device.logical_pages();
    for page in (0..logical).chain(0..logical) {
        device.submit(&pages(&config, Op::Write, page, 1)).expect("works");
    }
    assert!(device.board().meter().events(ftlab_engine::meter::Event::Checkpoints) > 0);
    device.audit().expect("the audit passes");
}
