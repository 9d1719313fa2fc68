//! What the tests share: tiny devices, requests, and random workloads.
#![allow(dead_code, reason = "each test binary uses a part of it")]

pub mod buffers;
pub mod clock_bench;
pub mod conform;
pub mod cuts;
pub mod driving;
pub mod faults;
pub mod long_cuts;
pub mod outcome;
pub mod variants;

use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::config::Config;
use ftlab_engine::request::{Content, Op, Request};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes::{self, Location};
use ftlab_engine::ssd::Device;
use ftlab_engine::units::{Lpn, Nanos, Ppn, Tag};

/// A configuration from `key=value` pairs; a pair that is refused fails the test.
pub fn config(pairs: &[(&str, &str)]) -> Config {
    let mut config = Config::default();
    for (key, value) in pairs {
        config.set(key, value).unwrap_or_else(|error| panic!("{error}"));
    }
    config
}

/// Whether a scheme (`name` or `name:preset`) is to be tested: all are, unless the environment
/// names one in `FTLAB_ONLY`, for whoever works on it. Says so.
#[allow(clippy::print_stderr, reason = "a test that is left out says so")]
pub fn chosen(scheme: &str) -> bool {
    let Ok(only) = std::env::var("FTLAB_ONLY") else { return true };
    assert!(
        schemes::find(&only).is_ok(),
        "FTLAB_ONLY={only} is no scheme: nothing would be tested"
    );
    let base = scheme.split(':').next().unwrap_or(scheme);
    if base != only {
        eprintln!("{scheme} is left out: FTLAB_ONLY={only}");
    }
    base == only
}

/// A tiny device: 4-page blocks of 512-byte pages, `logical_blocks` exported, sized for `scheme`. A
/// scheme that holds data in RAM gets little of it, so that it meets flash as the others do.
pub fn tiny(scheme: &str, logical_blocks: u64, pairs: &[(&str, &str)]) -> Config {
    let mut config = config(&[
        ("device.pages_per_block", "4"),
        ("device.page_bytes", "512"),
        ("device.over_provisioning", "0.3"),
    ]);
    if schemes::find(scheme).expect("a scheme of the table").0.buffers_data {
        config.set("device.ram_bytes", "6KiB").expect("legal");
    }
    for (key, value) in pairs {
        config.set(key, value).unwrap_or_else(|error| panic!("{error}"));
    }
    size(scheme, &mut config, logical_blocks);
    config
}

/// Sets the capacity and as many physical blocks as over-provisioning and the scheme ask for, bad
/// ones not counted.
pub fn size(scheme: &str, config: &mut Config, logical_blocks: u64) {
    let (row, preset) = schemes::find(scheme).expect("a scheme of the table");
    for (key, value) in preset {
        config.set(key, value).expect("presets are legal");
    }
    let bytes =
        logical_blocks * u64::from(config.device.units_per_block()) * config.device.unit_bytes();
    config.device.set_capacity(bytes, 0);
    let minimum = (row.minimum_blocks)(config);
    let mut blocks = minimum;
    config.device.set_capacity(bytes, blocks);
    while config.usable_blocks() < minimum {
        blocks += 1;
        config.device.set_capacity(bytes, blocks);
    }
}

/// A formatted device of a scheme of the table, `name` or `name:preset`.
pub fn open(scheme: &str, config: &Config) -> Box<dyn Device> {
    let (row, preset) = schemes::find(scheme).expect("a scheme of the table");
    let mut config = config.clone();
    for (key, value) in preset {
        config.set(key, value).expect("presets are legal");
    }
    (row.open)(&config, 1).unwrap_or_else(|error| panic!("{scheme}: {error}"))
}

/// A request of whole pages.
pub fn pages(config: &Config, op: Op, first_page: u64, pages: u64) -> Request {
    let sectors_per_page = config.device.unit_bytes() / 512;
    Request {
        arrival: 0,
        op,
        first_sector: first_page * sectors_per_page,
        sectors: (pages * sectors_per_page) as u32,
        unit: 0,
        stream: None,
        content: None,
    }
}

/// A random mix: mostly writes of few pages, some sequential runs, reads, trims and flushes.
pub fn mixed(config: &Config, count: usize, seed: u64) -> Vec<Request> {
    let logical = config.device.logical_pages();
    let mut rng = Rng::new(seed, Purpose::Workload);
    let mut cursor = 0;
    (0..count)
        .map(|_| {
            let run = 1 + u64::from(rng.below(6));
            let page = match rng.below(4) {
                0 => cursor,
                1 => u64::from(rng.below((logical / 4).max(1) as u32)),
                _ => u64::from(rng.below(logical as u32)),
            };
            let run = run.min(logical - page);
            cursor = (page + run) % logical;
            match rng.below(20) {
                0..12 => pages(config, Op::Write, page, run),
                12..17 => pages(config, Op::Read, page, run),
                17..19 => pages(config, Op::Trim, page, run),
                _ => Request {
                    arrival: 0,
                    op: Op::Flush,
                    first_sector: 0,
                    sectors: 0,
                    unit: 0,
                    stream: None,
                    content: None,
                },
            }
        })
        .collect()
}

/// The same with what some of the writes put there: one of five contents. The others write what
/// nobody wrote before.
pub fn mixed_contents(config: &Config, count: usize, seed: u64) -> Vec<Request> {
    let mut requests = mixed(config, count, seed);
    for request in requests.iter_mut().filter(|request| request.op == Op::Write) {
        let Request { first_sector, sectors, .. } = *request;
        let sum = first_sector + u64::from(sectors);
        let content = Content::new(1 + (7 * first_sector + u64::from(sectors)) % 5);
        request.content = sum.is_multiple_of(4).then_some(content);
    }
    requests
}

/// One page of a request.
pub fn submit(device: &mut dyn Device, config: &Config, op: Op, page: u64) {
    device.submit(&pages(config, op, page, 1)).expect("the device works");
}

/// The flash operations that `act` causes, in order.
pub fn record(device: &mut dyn Device, act: impl FnOnce(&mut dyn Device)) -> Vec<Operation> {
    device.board_mut().nand_mut().record_mut().start();
    act(device);
    device.board_mut().nand_mut().record_mut().take()
}

/// Where a page is on flash.
pub fn place(device: &dyn Device, page: u32) -> Ppn {
    match device.locate(Lpn(page)) {
        Location::Flash(ppn) => ppn,
        other => panic!("page {page} is {other:?}"),
    }
}

/// Latencies without a common measure, so that no count can stand in for another.
pub const READ: Nanos = 101;
pub const PROGRAM: Nanos = 503;
pub const ERASE: Nanos = 100_003;
pub const TRANSFER: Nanos = 17;
pub const CONTROLLER: Nanos = 7;

pub const LATENCIES: [(&str, &str); 5] = [
    ("timing.read", "101ns"),
    ("timing.program", "503ns"),
    ("timing.erase", "100003ns"),
    ("timing.page_transfer", "17ns"),
    ("timing.controller_page", "7ns"),
];

/// Version of a page that the host would read, 0 for none.
pub fn version(device: &dyn Device, page: u32) -> Tag {
    match device.locate(Lpn(page)) {
        Location::Flash(ppn) => device.board().nand().state().tag(ppn),
        Location::Ram(tag) => tag,
        Location::Nowhere => Tag(0),
    }
}

/// The host asks for everything to be on flash.
pub fn flush(device: &mut dyn Device) {
    let request = Request {
        arrival: 0,
        op: Op::Flush,
        first_sector: 0,
        sectors: 0,
        unit: 0,
        stream: None,
        content: None,
    };
    device.submit(&request).expect("the device works");
}

/// Pages that a scheme holds in RAM make way for others, from page 48 on, and are on flash alone.
pub fn push_out(scheme: &str, device: &mut dyn Device, config: &Config) {
    if schemes::find(scheme).expect("a scheme of the table").0.buffers_data {
        (48..72).for_each(|page| submit(device, config, Op::Write, page));
        flush(device);
    }
}

/// Writes every page once, in order.
pub fn fill(device: &mut dyn Device, config: &Config) {
    (0..config.device.logical_pages()).for_each(|page| submit(device, config, Op::Write, page));
}
