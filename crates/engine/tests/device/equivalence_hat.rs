//! HAT beside the page FTL, whose flash operations it shares, and beside DFTL, whose misses it
//! shares; each test writes down the settings on both sides that make it true.

use crate::common::driving::{Load, arriving, drive};
use crate::common::{mixed, open, pages, tiny};
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::config::Config;
use ftlab_engine::meter::{Cause, Event};
use ftlab_engine::request::{Completion, Op, Request};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes::Location;
use ftlab_engine::ssd::Device;
use ftlab_engine::units::{Lpn, Nanos};

type Pairs<'a> = &'a [(&'a str, &'a str)];

const BLOCKS: u64 = 24;

/// Devices under which HAT is compared with the page FTL. Where pages go must not depend on time
/// (`alloc.order = dynamic` asks which plane is free), since only times differ.
const DEVICES: &[Pairs<'_>] = &[
    &[],
    &[("device.planes", "2"), ("device.channels", "2"), ("timing.profile", "parallel")],
    &[("nand.enforce_order", "strict"), ("io.partial_write", "rmw")],
    &[("wear.policy", "static"), ("wear.spread", "2"), ("gc.separate_frontiers", "true")],
    &[("nand.program_failure_rate", "0.003"), ("device.over_provisioning", "4x")],
    &[("gc.victim", "fifo"), ("wear.policy", "dynamic")],
];

/// HAT's settings, each of which may differ: none is seen by the flash.
const HATS: &[Pairs<'_>] = &[
    &[],
    &[("hat.qmt_entries", "1")],
    &[("hat.qmt_entries", "8"), ("hat.alg1_literal", "true")],
    &[("hat.qmt_entries", "8"), ("hat.gc_smt_update", "foreground"), ("hat.pcm_queue", "3")],
    &[("hat.qmt_entries", "8"), ("hat.write_miss_smt_read", "false")],
];

/// What the flash saw, and where every page is at the end.
fn flash(scheme: &str, pairs: Pairs<'_>) -> (Vec<Operation>, Vec<Location>, u64) {
    let config = tiny(scheme, BLOCKS, pairs);
    let mut device = open(scheme, &config);
    device.verify_reads();
    device.board_mut().nand_mut().record_mut().start();
    for request in mixed(&config, 3000, 3) {
        device.submit(&request).expect("the device works");
    }
    device.audit().expect("the device is sound");
    let places = (0..config.device.logical_pages() as u32).map(|page| device.locate(Lpn(page)));
    let places = places.collect();
    let erases = device.board().meter().total_erases();
    (device.board_mut().nand_mut().record_mut().take(), places, erases)
}

/// HAT 2010, IV.B: "the same erase number as the page-mapping FTL"; and every other operation.
/// ideal_page: `ideal_page.gc_low = 4` (default), which is what HAT collects at. HAT: anything.
#[test]
fn hat_does_to_the_flash_what_the_page_ftl_does() {
    for device in DEVICES {
        let page = flash("ideal_page", device);
        assert!(page.2 > 100, "{device:?}: {} erases", page.2);
        for hat in HATS {
            let hat_too = [*device, *hat].concat();
            assert!(flash("hat", &hat_too) == page, "{hat_too:?}");
        }
    }
}

/// Look-ups, misses, and tails by what became of them.
fn lookups(device: &dyn Device) -> [u64; 4] {
    let meter = device.board().meter();
    let count = |event| meter.events(event);
    let misses = count(Event::MapLookups) - count(Event::MapHits);
    // Taken back before it was written: out and in again, as a clean one.
    let clean = count(Event::EvictClean) + count(Event::ReturnedEvictions);
    [count(Event::MapLookups), misses, clean, count(Event::EvictDirty)]
}

/// HAT 2010, IV.B: "the same number of misses as DFTL".
/// DFTL as the paper describes it, `dftl:hat`: `cmt_policy = lru`, `write_miss_fetch = false`,
/// `writeback = after_completion`, `map_read_xfer = entry`, `checkpoint_interval = 0`; HAT as it is
/// by default; as many entries on both sides.
#[test]
fn hat_and_dftl_miss_equally_often() {
    for entries in ["2", "5", "16", "60"] {
        for requests in [mixed, few_pages] {
            let run = |scheme, key| {
                let config = tiny(scheme, BLOCKS, &[(key, entries)]);
                let mut device = open(scheme, &config);
                for request in requests(&config, 3000, 3) {
                    device.submit(&request).expect("the device works");
                }
                lookups(device.as_ref())
            };
            let hat = run("hat", "hat.qmt_entries");
            let dftl = run("dftl:hat", "dftl.cmt_entries");
            assert_eq!(hat[..2], dftl[..2], "{entries} entries");
            assert!(hat[1] > 60 && hat[1] < hat[0], "both hits and misses: {hat:?}");
            // U says the same on both sides, but for pages that collection moved: HAT tells the SMT
            // at once, DFTL may have written the entry's translation page meanwhile.
            assert_eq!(hat[2] + hat[3], dftl[2] + dftl[3], "as many tails leave");
        }
    }
}

/// Reads and writes of single pages, half of them of a few.
fn few_pages(config: &Config, count: usize, seed: u64) -> Vec<Request> {
    let logical = config.device.logical_pages() as u32;
    let mut rng = Rng::new(seed, Purpose::Workload);
    let one = |_| {
        let op = if rng.below(3) == 0 { Op::Read } else { Op::Write };
        let range = if rng.below(2) == 0 { 12 } else { logical };
        pages(config, op, u64::from(rng.below(range)), 1)
    };
    (0..count).map(one).collect()
}

/// Latencies of HAT 2010, Table 4.
const TABLE_4: [(&str, &str); 5] = [
    ("timing.profile", "parallel"),
    ("timing.read", "20us"),
    ("timing.program", "200us"),
    ("timing.erase", "1.5ms"),
    ("timing.page_transfer", "52800ns"),
];

fn timed(scheme: &str, pairs: Pairs<'_>, requests: &[Request]) -> Vec<(Request, Completion)> {
    let config = tiny(scheme, 200, &[&TABLE_4[..], pairs].concat());
    let mut device = open(scheme, &config);
    drive(device.as_mut(), requests, Load::Open)
}

/// HAT 2010, Fig. 12: what DFTL does behind a request (the tail's write-back to flash) is not in
/// that request's own time, and later requests wait for it in the queue. Settings as above, on one
/// die that takes one request at a time (`host.queue_depth = 1`).
#[test]
fn figure_12_some_request_is_served_as_fast_under_dftl_and_waits_longer() {
    let depth = ("host.queue_depth", "1");
    let config = tiny("dftl:hat", 200, &[]);
    let requests = arriving(&config, 1500, 2_000_000, 7);
    let hat = timed("hat", &[depth, ("hat.qmt_entries", "16")], &requests);
    let dftl = timed("dftl:hat", &[depth, ("dftl.cmt_entries", "16")], &requests);
    let ideal = timed("ideal_page", &[depth], &requests);
    let mean = |runs: &[(Request, Completion)]| {
        let answers = runs.iter().map(|(_, done)| done.completed - done.arrival);
        answers.sum::<Nanos>() / runs.len() as u64
    };
    assert!(mean(&ideal) <= mean(&hat) && mean(&hat) < mean(&dftl), "in order of mean response");
    let pairs = hat.iter().zip(&dftl);
    let like_figure_12 = pairs.filter(|((one, hat), (other, dftl))| {
        assert_eq!(one, other, "in the same order");
        hat.device() == dftl.device() && hat.device() > 0 && hat.queue() < dftl.queue()
    });
    let found = like_figure_12.count();
    assert!(found > 20, "{found} requests like Fig. 12");
}

/// Random writes over a full device at a rate: mean response, and what waited for the port.
fn at_rate(scheme: &str, pairs: Pairs<'_>, gap: u32) -> (Nanos, Nanos) {
    // Enough spare that collection is not the bottleneck.
    let with = [
        ("device.channels", "4"),
        ("device.dies", "4"),
        ("device.pages_per_block", "16"),
        ("device.over_provisioning", "1"),
    ];
    let config = tiny(scheme, 150, &[&TABLE_4[..], &with[..], pairs].concat());
    let mut device = open(scheme, &config);
    let logical = config.device.logical_pages() as u32;
    let mut rng = Rng::new(2, Purpose::Workload);
    let mut arrival = 0;
    let mut write = |page, gap| {
        arrival += u64::from(gap);
        Request { arrival, ..pages(&config, Op::Write, u64::from(page), 1) }
    };
    let mut requests: Vec<Request> = (0..logical).map(|page| write(page, 1_000_000)).collect();
    requests.extend((0..3000).map(|_| write(rng.below(logical), 1 + rng.below(2 * gap))));
    let done = drive(device.as_mut(), &requests, Load::Open);
    let measured = &done[logical as usize..];
    let answers = measured.iter().map(|(_, done)| done.completed - done.arrival);
    let mean = answers.sum::<Nanos>() / measured.len() as u64;
    assert!(device.board().meter().reads(Cause::Translate) == 0, "no map on flash");
    (mean, device.board().nand().clock().service_time().pcm_wait)
}

/// Every write that misses sends a tail to the port, which takes 90 us for each: below 11,111 a
/// second nothing is seen of it; above, the page FTL goes on and HAT is as slow as its port.
#[test]
fn the_port_is_the_bottleneck_once_tails_leave_faster_than_it_writes() {
    let hat = |gap| at_rate("hat", &[("hat.qmt_entries", "16")], gap);
    let page = |gap| at_rate("ideal_page", &[], gap);
    let (light, heavy) = (2_000_000, 60_000);
    let (calm, calm_wait) = hat(light);
    assert!(calm < page(light).0 * 101 / 100, "{calm} against {}", page(light).0);
    let (busy, busy_wait) = hat(heavy);
    assert!(busy > 3 * page(heavy).0, "{busy} against {}", page(heavy).0);
    assert!(busy_wait > 100 * calm_wait.max(1), "{busy_wait} against {calm_wait}");
    // A queue makes bursts cheaper and the port no faster: with room for every tail nobody waits.
    let (queued, _) =
        at_rate("hat", &[("hat.qmt_entries", "16"), ("hat.pcm_queue", "4096")], heavy);
    assert!(queued < page(heavy).0 * 101 / 100, "{queued} against {}", page(heavy).0);
}

/// The same without collection and with writes that come at equal distances: 90.115 us is what a
/// tail takes with the look-up of the superseded page, so 11,096 a second are the last that nobody
/// notices.
#[test]
fn the_port_keeps_up_with_a_write_every_91_us_and_not_with_one_every_89() {
    let spare = ("device.over_provisioning", "3x");
    let run = |scheme, gap: u64| {
        let pairs = [("device.channels", "4"), ("device.dies", "4"), spare];
        let own: Pairs<'_> = if scheme == "hat" { &[("hat.qmt_entries", "16")] } else { &[] };
        let config = tiny(scheme, 600, &[&TABLE_4[..], &pairs, own].concat());
        let mut device = open(scheme, &config);
        let logical = config.device.logical_pages();
        let write = |number: u64| {
            let arrival = number * gap;
            Request { arrival, ..pages(&config, Op::Write, number * 7 % logical, 1) }
        };
        let requests: Vec<Request> = (0..2 * logical).map(write).collect();
        let done = drive(device.as_mut(), &requests, Load::Open);
        assert_eq!(device.board().meter().programs(Cause::Gc), 0, "nothing is collected");
        let waited = device.board().nand().clock().service_time().pcm_wait;
        let answers = done.iter().map(|(_, done)| done.completed - done.arrival);
        (answers.sum::<Nanos>() / done.len() as u64, waited)
    };
    let page = run("ideal_page", 91_000).0;
    assert_eq!(run("hat", 91_000), (page, 0), "to the nanosecond");
    let (mean, waited) = run("hat", 89_000);
    assert!(mean > 5 * page && waited > 0, "{mean} against {page}");
}
