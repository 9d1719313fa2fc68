//! The gate's short way (nothing can fail, nobody writes operations down; victims move in runs) and
//! requests in chunks leave what the long way and single requests leave: every count, every page
//! and block of the flash, every time.

use crate::common::outcome::Pairs;
use crate::common::{chosen, mixed, open, pages, tiny};
use ftlab_engine::board::nand::clock::{CellOperations, ServiceTime};
use ftlab_engine::board::nand::state::BlockState;
use ftlab_engine::config::Config;
use ftlab_engine::host::Driver;
use ftlab_engine::meter::{BlockRole, Cause, Event, LatencyStatistics, Window};
use ftlab_engine::request::{Op, Request};
use ftlab_engine::schemes::TABLE;
use ftlab_engine::ssd::Device;
use ftlab_engine::units::{BlockId, Nanos, Ppn};

const DEVICES: &[Pairs<'_>] = &[
    &[],
    &[("timing.page_transfer", "7us"), ("timing.controller_page", "2us")],
    &[("device.pages_per_block", "48"), ("device.page_bytes", "512")],
    &[("timing.profile", "parallel"), ("timing.page_transfer", "10us"), ("device.channels", "2")],
    &[("timing.read_pages", "20us,60us"), ("timing.oob_write", "3us")],
    &[("timing.oob_write", "3us"), ("device.pages_per_block", "16")],
    &[
        ("timing.profile", "parallel"),
        ("timing.page_transfer", "10us"),
        ("timing.oob_write", "3us"),
    ],
    &[("timing.copyback", "true"), ("device.planes", "2"), ("timing.profile", "parallel")],
    &[("io.partial_write", "rmw"), ("nand.enforce_order", "ascending_gaps_ok")],
    &[("gc.mode", "both"), ("wear.policy", "static"), ("wear.spread", "2")],
    &[("timing.dram_access", "90ns"), ("timing.controller_page", "2us"), ("device.planes", "2")],
];

/// Where writes in rows are booked one by one, without a token: beside the fourth of [`DEVICES`].
const PARALLEL: &[Pairs<'_>] = &[
    &[("timing.profile", "parallel"), ("timing.page_transfer", "3us"), ("host.queue_depth", "1")],
    &[
        ("timing.profile", "parallel"),
        ("timing.page_transfer", "150us"),
        ("device.dies", "2"),
        ("device.planes", "2"),
        ("alloc.order", "dynamic"),
        ("host.queue_depth", "5"),
    ],
];

/// How many, their sum and that of their squares, and all of them.
type Times = (u64, u128, u128, Vec<(Nanos, u64)>);

/// A window, and of the response times in it the buckets: shortest, longest, how many.
type Windowed = (Window, Vec<(Nanos, Nanos, u64)>);

/// All that a run leaves to compare.
#[derive(Debug, PartialEq)]
pub struct Left {
    counts: Vec<u64>,
    pages: Vec<String>,
    blocks: Vec<BlockState>,
    service: ServiceTime,
    cells: CellOperations,
    stages: [u128; 7],
    times: Vec<Times>,
    windows: Vec<Windowed>,
    ends: Nanos,
}

pub fn left(device: &dyn Device) -> Left {
    device.audit().expect("the device is sound");
    let (meter, nand) = (device.board().meter(), device.board().nand());
    let causes = || Cause::ALL.iter().copied();
    let mut counts: Vec<u64> = causes().map(|cause| meter.reads(cause)).collect();
    counts.extend(causes().map(|cause| meter.programs(cause)));
    counts.extend(causes().map(|cause| meter.erases_by_cause(cause)));
    counts.extend(BlockRole::ALL.iter().map(|&role| meter.erases(role)));
    counts.extend(Event::ALL.iter().map(|&event| meter.events(event)));
    counts.extend([nand.oob_writes(), nand.sequence(), meter.merges().partial]);
    let page =
        |ppn| format!("{:?} {}", nand.stored_page(Ppn(ppn)), nand.state().is_valid(Ppn(ppn)));
    let block = |block| *nand.state().block(BlockId(block));
    let latency = meter.latency();
    let times = latency.read().iter().chain(latency.write());
    let all =
        |one: &LatencyStatistics| (one.count(), one.sum(), one.sum_of_squares(), one.cumulative());
    let responses = (0..meter.windows().all().len()).map(|window| {
        let of = |op| meter.windows().responses(op, window);
        of(Op::Read).chain(of(Op::Write)).collect()
    });
    Left {
        counts,
        pages: (0..nand.geometry().pages()).map(page).collect(),
        blocks: (0..nand.geometry().blocks()).map(block).collect(),
        service: nand.clock().service_time(),
        cells: nand.clock().cell_operations(),
        stages: latency.stages(),
        times: times.map(all).collect(),
        windows: meter.windows().all().iter().copied().zip(responses).collect(),
        ends: device.idle_from(),
    }
}

/// In chunks of so many to a device that nobody watches.
fn shortly(scheme: &str, config: &Config, requests: &[Request], chunk: usize) -> Left {
    let mut device = open(scheme, config);
    let mut driver = Driver::new(config, Some(config.queue_depth()));
    assert!(driver.is_direct());
    for chunk in requests.chunks(chunk) {
        driver.submit_all(device.as_mut(), &mut chunk.to_vec()).expect("the device works");
    }
    driver.complete_all(device.as_mut());
    let copyback = config.timing.copyback;
    assert_eq!(device.board().nand().moves_runs(), !copyback, "it is the short way");
    left(device.as_ref())
}

/// One by one, every operation written down.
fn at_length(scheme: &str, config: &Config, requests: &[Request]) -> Left {
    let mut device = open(scheme, config);
    device.board_mut().nand_mut().record_mut().start();
    let mut arrival = 0;
    for request in requests {
        arrival = device.next_slot().max(arrival);
        device.submit(&Request { arrival, ..*request }).expect("the device works");
    }
    let operations = device.board_mut().nand_mut().record_mut().take();
    assert!(operations.len() > requests.len() / 2, "{scheme}: it was written down");
    left(device.as_ref())
}

#[test]
#[allow(clippy::print_stderr, reason = "a device that is left out is named")]
fn the_short_way_leaves_what_the_long_way_leaves() {
    let mut compared = 0;
    for row in TABLE.iter().filter(|row| chosen(row.paper.name)) {
        for pairs in DEVICES {
            let mut config = Config::default();
            let fits = pairs.iter().all(|(key, value)| config.set(key, value).is_ok());
            assert!(fits, "{pairs:?}");
            let name = row.paper.name;
            let config = tiny(name, 24, pairs);
            if let Err(error) = (row.open)(&config, 1) {
                // Not every scheme takes every device; each takes the first four.
                let first = DEVICES[..4].iter().any(|first| first == pairs);
                assert!(!first, "{name} {pairs:?}: {error}");
                eprintln!("{name} is not compared on {pairs:?}: {error}");
                continue;
            }
            let requests = mixed(&config, 2500, 11);
            let (short, long) =
                (shortly(name, &config, &requests, 7), at_length(name, &config, &requests));
            assert!(short.counts.iter().sum::<u64>() > 2500, "{name}: it did something");
            assert!(short == long, "{name} {pairs:?}: {}", first_difference(&short, &long));
            compared += 1;
        }
    }
    assert!(compared > 0);
}

/// Writes of single pages, few of which differ from the one before: long rows of them, cut by
/// collections, by windows, by requests of two pages and by reads.
#[test]
fn writes_in_rows_leave_what_single_ones_leave() {
    for pairs in DEVICES.iter().chain(PARALLEL) {
        assert_rows_are_single_ones("ideal_page", pairs, 61);
    }
}

/// Checkpoints, of one page and of several.
#[test]
fn checkpoints_on_the_short_way_are_those_of_the_long_way() {
    for (entries, at_least) in [("24", 1), ("160", 2)] {
        let pairs = [("dftl.cmt_entries", entries), ("dftl.checkpoint_interval", "64")];
        let config = tiny("dftl", 100, &pairs);
        let requests = mixed(&config, 2500, 11);
        let (short, long) =
            (shortly("dftl", &config, &requests, 7), at_length("dftl", &config, &requests));
        assert!(short == long, "{entries}: {}", first_difference(&short, &long));
        let is_part = |page: &&String| page.contains("Checkpoint") && page.ends_with("true");
        let parts = long.pages.iter().filter(is_part).count();
        assert!(parts >= at_least, "{parts} pages of a checkpoint of {entries} entries");
    }
}

/// What HAT's phase-change memory does beside such rows, and beside copies of a victim: entries that
/// are read and written at once, behind each other, slower than pages of flash (406 us) or copies of
/// them (537 us), and what nobody waits for only at times.
const HATS: &[Pairs<'_>] = &[
    &[],
    &[("hat.qmt_entries", "400")],
    &[("hat.write_miss_smt_read", "false")],
    &[("hat.pcm_entries_per_write", "4")],
    &[("hat.alg1_literal", "true")],
    &[("hat.gc_smt_update", "foreground")],
    &[("timing.pcm_write", "300us"), ("hat.pcm_queue", "1")],
    &[("timing.pcm_write", "500us"), ("hat.pcm_entries_per_write", "4")],
    &[("timing.pcm_write", "500us"), ("timing.controller_page", "2us")],
    &[("timing.pcm_write", "540us")],
    &[("timing.pcm_write", "2ms"), ("hat.pcm_entries_per_write", "8")],
    &[("timing.pcm_read", "300us")],
    &[("timing.pcm_read", "600us"), ("hat.pcm_entries_per_write", "8"), ("hat.pcm_queue", "8")],
    &[("timing.pcm_read", "0"), ("timing.pcm_write", "0")],
    &[("search.model", "scan"), ("search.step_time", "1us")],
    &[("gc.separate_frontiers", "true"), ("timing.page_transfer", "7us")],
    &[
        ("timing.profile", "parallel"),
        ("timing.page_transfer", "3us"),
        ("host.queue_depth", "1"),
        ("timing.pcm_write", "500us"),
    ],
    &[("device.ram_nonvolatile", "true"), ("timing.dram_access", "90ns")],
];

#[test]
fn rows_beside_phase_change_memory_leave_what_single_writes_leave() {
    for pairs in HATS {
        for reads in [61, 4] {
            let few = [&[("hat.qmt_entries", "40")], *pairs].concat();
            assert_rows_are_single_ones("hat", &few, reads);
        }
    }
}

/// One of so many requests reads.
fn assert_rows_are_single_ones(scheme: &str, pairs: Pairs<'_>, reads: u64) {
    let config = tiny(scheme, 24, pairs);
    let logical = config.device.logical_pages();
    let request = |number: u64| {
        let page = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (logical - 1);
        match (number % 61, number % reads) {
            (40, _) => pages(&config, Op::Write, page, 2),
            (_, which) if which == 17 % reads => pages(&config, Op::Read, page, 1),
            _ => pages(&config, Op::Write, page, 1),
        }
    };
    let requests: Vec<Request> = (0..6000).map(request).collect();
    let long = at_length(scheme, &config, &requests);
    for chunk in [32, 9] {
        let short = shortly(scheme, &config, &requests, chunk);
        assert!(short.windows.len() > 1, "{pairs:?}: windows end within rows");
        assert!(short == long, "{pairs:?} {chunk}: {}", first_difference(&short, &long));
    }
}

fn first_difference(short: &Left, long: &Left) -> String {
    if short.counts != long.counts {
        return format!("counts {:?} and {:?}", short.counts, long.counts);
    }
    if short.blocks != long.blocks {
        return format!("blocks {:?} and {:?}", short.blocks, long.blocks);
    }
    match short.pages.iter().zip(&long.pages).position(|(one, two)| one != two) {
        Some(page) => format!("page {page}: {} and {}", short.pages[page], long.pages[page]),
        None => format!(
            "times {:?} {:?} {:?} and {:?} {:?} {:?}",
            short.service, short.stages, short.windows, long.service, long.stages, long.windows
        ),
    }
}
