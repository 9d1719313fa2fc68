//! CAFTL beside the page FTL, and beside CA-SSD: without equal contents the flash sees the former's
//! operations; where every page is hashed and every value known, as many pages are programmed as by
//! the latter.

use crate::common::{mixed, mixed_contents, open, tiny};
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::config::Config;
use ftlab_engine::meter::{Cause, Event};
use ftlab_engine::request::{Op, Request};
use ftlab_engine::schemes::Location;
use ftlab_engine::units::Lpn;

type Pairs<'a> = &'a [(&'a str, &'a str)];

const BLOCKS: u64 = 24;

const DEVICES: &[Pairs<'_>] = &[
    &[],
    &[("device.planes", "2"), ("device.channels", "2"), ("timing.profile", "parallel")],
    &[("wear.policy", "static"), ("wear.spread", "2"), ("gc.separate_frontiers", "true")],
    &[("gc.victim", "fifo"), ("wear.policy", "dynamic"), ("alloc.unit", "line")],
    &[("io.partial_write", "rmw")],
];

fn writes_and_reads(requests: Vec<Request>) -> Vec<Request> {
    requests.into_iter().filter(|request| matches!(request.op, Op::Write | Op::Read)).collect()
}

/// What the flash saw, and where every page is at the end.
fn run(scheme: &str, config: &Config, requests: &[Request]) -> (Vec<Operation>, Vec<Location>) {
    let mut device = open(scheme, config);
    device.verify_reads();
    device.board_mut().nand_mut().record_mut().start();
    for request in requests {
        device.submit(request).expect("the device works");
    }
    device.audit().expect("the device is sound");
    let places = (0..config.device.logical_pages() as u32).map(|page| device.locate(Lpn(page)));
    let places = places.collect();
    (device.board_mut().nand_mut().record_mut().take(), places)
}

#[test]
fn without_equal_contents_the_flash_sees_the_page_ftl() {
    let fails: Pairs<'_> =
        &[("nand.program_failure_rate", "0.003"), ("device.over_provisioning", "4x")];
    for device in DEVICES.iter().chain([&fails]) {
        for more in [&[][..], &[("caftl.unit", "1")], &[("caftl.store_bytes", "36B")]] {
            let config = tiny("caftl", BLOCKS, &[*device, more].concat());
            let requests = writes_and_reads(mixed(&config, 4000, 3));
            let page = run("ideal_page", &config, &requests);
            let erases = |one: &&Operation| matches!(one, Operation::Erase(..));
            assert!(page.0.iter().filter(erases).count() > 100, "{device:?}");
            assert!(run("caftl", &config, &requests) == page, "{device:?} {more:?}");
        }
    }
}

/// Programs of the host, hits and pages that lie on another one's: all three, after every request.
#[test]
fn where_every_page_is_hashed_it_programs_what_ca_ssd_does() {
    for device in DEVICES {
        let pairs = [*device, &[("caftl.unit", "1"), ("caftl.out_of_line", "false")]].concat();
        let config = tiny("caftl", BLOCKS, &pairs);
        let mut requests = mixed_contents(&config, 4000, 5);
        requests.retain(|request| request.op != Op::Flush);
        let [mut one, mut other] = ["caftl", "ca_ssd"].map(|scheme| open(scheme, &config));
        for (number, request) in requests.iter().enumerate() {
            let both = [&mut one, &mut other].map(|device| {
                device.submit(request).expect("the device works");
                let meter = device.board().meter();
                let hits = meter.events(Event::ValueHits);
                (meter.programs(Cause::Host), hits, device.audit().expect("sound").shared_pages)
            });
            assert_eq!(both[0], both[1], "{device:?}, request {number}");
        }
        assert!(one.board().meter().events(Event::ValueHits) > 400, "{device:?}");
        assert!(one.board().meter().programs(Cause::Dedup) > 50, "{device:?}");
    }
}
