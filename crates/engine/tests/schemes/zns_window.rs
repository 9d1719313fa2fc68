//! Windows of zones that the workload writes: what memory takes, what moves a write pointer, what
//! is refused, and what a power cut leaves.

use crate::common::{flush, open, pages, place, record, submit, tiny};
use crate::zns_cuts::{Cut, cut_everywhere};
use ftlab_engine::board::nand::fault::CutOutcome;
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::config::Config;
use ftlab_engine::meter::{Cause, Event, Level};
use ftlab_engine::request::{Op, Request};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes;
use ftlab_engine::schemes::Location;
use ftlab_engine::ssd::Device;
use ftlab_engine::units::{Lpn, Ppn};

type Pairs<'a> = &'a [(&'a str, &'a str)];

/// Zones of two blocks of four pages, with windows of four, of which two pass at once.
const WINDOWS: Pairs<'_> = &[
    ("device.channels", "2"),
    ("zns.mode", "raw"),
    ("zns.max_active", "3"),
    ("zns.max_open", "3"),
    ("zns.zrwa", "4"),
    ("zns.zrwa_granule", "2"),
    ("device.ram_nonvolatile", "true"),
];

/// Windows as long as a zone, granules that no zone is a multiple of, a part of a zone, narrow
/// zones.
const SHAPES: [Pairs<'_>; 5] = [
    &[],
    &[("zns.zrwa", "8"), ("zns.zrwa_granule", "8")],
    &[("zns.zrwa", "6"), ("zns.zrwa_granule", "3")],
    &[("zns.zrwa", "3"), ("zns.zrwa_granule", "1"), ("zns.zone_capacity", "75%")],
    &[("zns.width", "1"), ("zns.zrwa", "2"), ("zns.zrwa_granule", "1")],
];

fn opened(pairs: Pairs<'_>) -> (Config, Box<dyn Device>) {
    let config = tiny("zns", 24, &[WINDOWS, pairs].concat());
    let mut device = open("zns", &config);
    device.verify_reads();
    (config, device)
}

/// Logical pages that these operations program, in their order.
fn programs(device: &dyn Device, operations: &[Operation], logical: u32) -> Vec<u32> {
    operations
        .iter()
        .map(|operation| {
            let Operation::Program(new, Cause::Host) = *operation else {
                panic!("{operation:?} is no program of the host's")
            };
            let is_there = |&page: &u32| on_flash(device, page) == Some(new);
            (0..logical).find(is_there).expect("a logical page is there")
        })
        .collect()
}

fn on_flash(device: &dyn Device, page: u32) -> Option<Ppn> {
    match device.locate(Lpn(page)) {
        Location::Flash(ppn) => Some(ppn),
        _ => None,
    }
}

/// In any order and again: memory alone. A page behind the window moves the pointer by granules.
#[test]
fn a_window_takes_pages_in_any_order_until_the_pointer_passes_them() {
    let (config, mut device) = opened(&[]);
    let device = device.as_mut();
    let writes = |device: &mut dyn Device, all: &[u64]| {
        let operations = record(device, |device| {
            all.iter().for_each(|&page| submit(device, &config, Op::Write, page));
        });
        programs(device, &operations, 8)
    };
    assert_eq!(writes(device, &[0, 3, 1, 2, 3, 0]), [] as [u32; 0], "the window holds them");
    assert_eq!(device.board().meter().events(Event::BufferHits), 2, "two were written again");
    // The window ends behind page 3; with two pages passed it holds pages 2 to 5.
    assert_eq!(writes(device, &[4]), [0, 1]);
    assert_eq!(writes(device, &[5, 2]), [] as [u32; 0]);
    assert_eq!(writes(device, &[7]), [2, 3]);
    let flushed = |device: &mut dyn Device| {
        let operations = record(device, flush);
        programs(device, &operations, 8)
    };
    // A granule of which a page lacks stays, the last part of a zone as well; what is whole goes.
    assert_eq!(flushed(device), [4, 5]);
    assert_eq!(flushed(device), [] as [u32; 0], "page 6 was not written");
    submit(device, &config, Op::Write, 6);
    assert_eq!(flushed(device), [6, 7]);
    (0..8).for_each(|page| submit(device, &config, Op::Read, page));
    device.audit().expect("sound");
    assert_eq!(device.board().meter().total_programs(), 8, "each page once");
    // Pages of the zone lie as if it had been written in order.
    let ascending: Vec<_> = (0..8).step_by(2).map(|page| place(device, page)).collect();
    assert!(ascending.is_sorted(), "{ascending:?}");
}

/// What the host may not do ends the run.
#[test]
fn what_a_window_does_not_take_is_refused() {
    let (config, device) = opened(&[]);
    let asked = |before: &[(Op, u64, u64)], (op, first, count): (Op, u64, u64)| {
        let mut device = device.duplicate();
        for &(op, first, count) in before {
            device.submit(&pages(&config, op, first, count)).expect("as it should be");
        }
        let error = device.submit(&pages(&config, op, first, count)).expect_err("refused");
        error.to_string()
    };
    let cases: [(&[_], _, &str); 7] = [
        (
            &[(Op::Write, 0, 8), (Op::Flush, 0, 0)],
            (Op::Write, 1, 1),
            "zone 0 is full, and is written again after a trim",
        ),
        (&[(Op::Write, 0, 5)], (Op::Write, 1, 1), "zone 0 takes pages from 2 to 7 now"),
        (&[(Op::Write, 0, 1)], (Op::Write, 5, 1), "zone 0 would pass page 1"),
        (&[], (Op::Write, 7, 1), "the write pointer of zone 0 would pass page 0"),
        (
            &[(Op::Write, 1, 1), (Op::Write, 8, 1), (Op::Write, 18, 1)],
            (Op::Write, 24, 1),
            "it would begin zone 3, and 3 zones are half written already (zns.max_active)",
        ),
        (&[(Op::Write, 3, 1)], (Op::Trim, 0, 3), "the request covers a part"),
        (&[(Op::Write, 0, 6)], (Op::Trim, 0, 5), "the request covers a part"),
    ];
    for (before, request, words) in cases {
        let error = asked(before, request);
        assert!(error.contains(words), "{error}");
    }
}

/// A zone of which nothing is on flash is reset too; it is active as any other, and a flush and the
/// reset of another one make room.
#[test]
fn a_zone_in_memory_alone_is_active_and_can_be_reset() {
    let (config, mut device) = opened(&[]);
    let device = device.as_mut();
    [2, 9, 17].into_iter().for_each(|page| submit(device, &config, Op::Write, page));
    let active = |device: &dyn Device| device.board().meter().level_now(Level::ActiveZones);
    assert_eq!(active(device), Some(3), "also those in memory alone");
    let trim = pages(&config, Op::Trim, 8, 8);
    device.submit(&trim).expect("a whole zone is reset");
    assert_eq!(device.board().meter().events(Event::ZoneResets), 1);
    submit(device, &config, Op::Write, 24);
    submit(device, &config, Op::Read, 9);
    device.audit().expect("sound");
    assert_eq!(device.board().meter().total_programs(), 0);
}

/// Pages of a zone.
fn zone_pages(config: &Config) -> u64 {
    let hundredths = (100.0 * config.scheme.zns.zone_capacity).round() as u64;
    let blocks = config.scheme.zns.width.0.map_or(2, u64::from);
    blocks * (hundredths * u64::from(config.device.units_per_block()) / 100)
}

/// Zones in turn, the last one too, which may be shorter: of two zones side by side pages of a
/// window in any order and some of them twice, and a flush when both are written.
fn shuffled(config: &Config) -> Vec<Request> {
    let mut rng = Rng::new(7, Purpose::Workload);
    let (zone, logical) = (zone_pages(config), config.device.logical_pages());
    let window = u64::from(config.scheme.zns.zrwa);
    let mut all = Vec::new();
    for turn in 0..3 {
        for pair in (0..logical).step_by(2 * zone as usize) {
            let firsts = [pair, pair + zone].into_iter().filter(|&first| first < logical);
            let zones: Vec<_> = firsts.map(|first| first..(first + zone).min(logical)).collect();
            for zone in zones.iter().filter(|_| turn > 0) {
                all.push(pages(config, Op::Trim, zone.start, zone.end - zone.start));
            }
            for from in (0..zone).step_by(window as usize) {
                for zone in &zones {
                    let until = (zone.start + from + window).min(zone.end);
                    let mut order: Vec<u64> = (zone.start + from..until).collect();
                    (1..order.len()).rev().for_each(|at| {
                        order.swap(at, rng.below(at as u32 + 1) as usize);
                    });
                    for page in order {
                        let times = 1 + usize::from(rng.below(3) == 0);
                        all.extend(std::iter::repeat_n(pages(config, Op::Write, page, 1), times));
                    }
                }
            }
            all.push(Request { sectors: 0, ..pages(config, Op::Flush, 0, 1) });
        }
    }
    all
}

#[test]
fn whatever_the_order_within_windows_a_page_is_programmed_once() {
    for shape in SHAPES {
        let (config, mut device) = opened(shape);
        let requests = shuffled(&config);
        let written = requests.iter().filter(|request| request.op == Op::Write).count() as u64;
        for request in &requests {
            device.submit(request).unwrap_or_else(|error| panic!("{shape:?}: {error}"));
        }
        device.audit().expect("sound");
        let meter = device.board().meter();
        let logical = config.device.logical_pages();
        assert_eq!(meter.total_programs(), 3 * logical, "{shape:?}");
        let again = meter.events(Event::BufferHits);
        assert_eq!(written - again, 3 * logical, "{again} were written again in memory");
        assert!(again > 40, "{again}");
        assert_eq!(meter.level_now(Level::ActiveZones), Some(0), "{shape:?}");
    }
}

/// The power goes at every operation, and again in the recovery: what was written is there, on
/// flash or in its window, in the version that was written last, and zones go on where they stood.
#[test]
fn windows_are_there_again_after_a_power_cut() {
    let mut cuts = 0;
    for shape in SHAPES {
        let (config, device) = opened(shape);
        cuts += cut_everywhere(device.as_ref(), &config, &shuffled(&config), goes_on);
    }
    assert!(cuts > 1000, "{cuts} cuts");
}

/// What the cut interrupted is asked for again, and all that came behind it, unless it left a hole,
/// for which a zone is a page short; every zone can be begun anew.
fn goes_on(Cut { mut device, config, rest, outcome, case }: Cut<'_>) {
    let rest = if outcome == CutOutcome::Torn { &[] } else { rest };
    for request in rest {
        device.submit(request).unwrap_or_else(|error| panic!("{case}: {error}"));
    }
    let (zone, logical) = (zone_pages(config), config.device.logical_pages());
    for first in (0..logical).step_by(zone as usize) {
        let size = zone.min(logical - first);
        device.submit(&pages(config, Op::Trim, first, size)).expect("it is reset");
        device.submit(&pages(config, Op::Write, first, size)).expect("it is written");
        flush(device.as_mut());
        device.submit(&pages(config, Op::Read, first, size)).expect("it is read");
    }
    device.audit().unwrap_or_else(|error| panic!("{case}: {error}"));
}

/// The first page of a zone waits for nobody while another zone's window is full, and the page
/// behind a full window waits for the program of the page whose frame it takes.
#[test]
fn a_page_waits_for_the_frame_of_its_own_window() {
    let (config, mut device) = opened(&[
        ("timing.profile", "parallel"),
        ("host.queue_depth", "1"),
        ("zns.zrwa_granule", "1"),
    ]);
    let takes = |device: &mut dyn Device, page: u64| {
        let write = pages(&config, Op::Write, page, 1);
        device.submit(&write).expect("as it should be").device()
    };
    let alone = takes(device.as_mut(), 0);
    (1..4).for_each(|page| submit(device.as_mut(), &config, Op::Write, page));
    let behind = takes(device.as_mut(), 4);
    let elsewhere = takes(device.as_mut(), 8);
    assert!(behind > alone, "{behind} ns behind a full window, {alone} ns before");
    assert_eq!(elsewhere, alone, "another zone's window has room");
}

#[test]
fn settings_of_windows_are_held_against_zones() {
    let (row, _) = schemes::find("zns").expect("in the table");
    let cases: [(Pairs<'_>, &str); 5] = [
        (
            &[("device.ram_nonvolatile", "false")],
            "zns.zrwa = 4 is of memory that outlives the power",
        ),
        (
            &[("zns.mode", "host_log")],
            "zns.zrwa = 4, zns.zrwa_granule = 2 under zns.mode = host_log",
        ),
        (&[("zns.zrwa", "10")], "zns.zrwa = 10 is more than a zone, which has 8 pages"),
        (&[("zns.zrwa_granule", "3")], "zns.zrwa_granule = 3 does not divide zns.zrwa = 4"),
        (&[("zns.zrwa", "0")], "zns.zrwa_granule = 2 does not divide zns.zrwa = 0"),
    ];
    for (pairs, words) in cases {
        let mut config = tiny("zns", 24, &[]);
        for (key, value) in WINDOWS.iter().chain(pairs) {
            config.set(key, value).expect("legal alone");
        }
        let error = (row.check)(&config).expect_err(words).to_string();
        assert!(error.contains(words), "{error}");
    }
    let (config, _) = opened(&[]);
    let windows = (row.ram_use)(&config).into_iter().find(|one| one.structure == "zone_windows");
    assert_eq!(windows.expect("they take memory").bytes, 3 * 4 * config.device.unit_bytes());
}
