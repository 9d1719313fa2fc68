//! CA-SSD beside the page FTL: where all contents differ it does the same to the flash, and takes
//! as much longer as hashing does.

use crate::common::{mixed, open, pages, tiny};
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::request::Op;
use ftlab_engine::schemes::Location;
use ftlab_engine::units::{Lpn, Nanos};

type Pairs<'a> = &'a [(&'a str, &'a str)];

const BLOCKS: u64 = 24;

const DEVICES: &[Pairs<'_>] = &[
    &[],
    &[("device.planes", "2"), ("device.channels", "2"), ("timing.profile", "parallel")],
    &[("nand.enforce_order", "strict"), ("io.partial_write", "rmw")],
    &[("wear.policy", "static"), ("wear.spread", "2"), ("gc.separate_frontiers", "true")],
    &[("nand.program_failure_rate", "0.003"), ("device.over_provisioning", "4x")],
    &[("gc.victim", "fifo"), ("wear.policy", "dynamic"), ("alloc.unit", "line")],
];

/// What the flash saw but for records of trims, where every page is at the end, and how long the
/// requests took.
fn run(scheme: &str, pairs: Pairs<'_>) -> (Vec<Operation>, Vec<Location>, Nanos) {
    let config = tiny(scheme, BLOCKS, pairs);
    let mut device = open(scheme, &config);
    device.verify_reads();
    device.board_mut().nand_mut().record_mut().start();
    let mut time = 0;
    for request in mixed(&config, 3000, 3) {
        // Records of trims are the page FTL's alone.
        if request.op != Op::Flush {
            time += device.submit(&request).expect("the device works").device();
        }
    }
    device.audit().expect("the device is sound");
    let places = (0..config.device.logical_pages() as u32).map(|page| device.locate(Lpn(page)));
    let places = places.collect();
    (device.board_mut().nand_mut().record_mut().take(), places, time)
}

#[test]
fn without_equal_contents_the_flash_sees_the_page_ftl() {
    for device in DEVICES {
        let page = run("ideal_page", device);
        assert!(page.0.iter().filter(|one| matches!(one, Operation::Erase(..))).count() > 100);
        assert!(run("ca_ssd", device) == page, "{device:?}");
        let small = [*device, &[("ca_ssd.values", "1")]].concat();
        assert!(run("ca_ssd", &small) == page, "{device:?}, a table of one value");
    }
}

/// In the serial profile hashing hides behind nothing: pages written times the time of a hash.
#[test]
fn hashing_takes_its_time_for_every_page_written() {
    let written: u64 = mixed(&tiny("ca_ssd", BLOCKS, &[]), 3000, 3)
        .iter()
        .filter(|request| request.op == Op::Write)
        .map(|request| u64::from(request.sectors))
        .sum();
    let page = pages(&tiny("ca_ssd", BLOCKS, &[]), Op::Write, 0, 1);
    assert_eq!(page.sectors, 1);
    let free = run("ca_ssd", &[]).2;
    assert_eq!(run("ca_ssd", &[("ca_ssd.hash_us", "47us")]).2, free + written * 47_000);
}
