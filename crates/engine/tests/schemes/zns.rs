//! Zones, and the host's log on them: where pages go, what a collection does and sends, which zones
//! are open, what is left of a zone, and whose memory is whose.

use crate::common::{fill, flush, mixed, open, pages, place, record, submit, tiny};
use crate::zns_cuts::{Cut, cut_everywhere};
use ftlab_engine::board::nand::fault::CutOutcome;
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::config::Config;
use ftlab_engine::meter::{BlockRole, Cause, Event};
use ftlab_engine::request::{Op, Request};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes;
use ftlab_engine::schemes::Memory;
use ftlab_engine::ssd::Device;
use ftlab_engine::units::BlockId;

type Pairs<'a> = &'a [(&'a str, &'a str)];

const TWO: (&str, &str) = ("device.channels", "2");
const NARROW: (&str, &str) = ("zns.width", "1");

fn opened(blocks: u64, pairs: Pairs<'_>) -> (Config, Box<dyn Device>) {
    let config = tiny("zns", blocks, pairs);
    let mut device = open("zns", &config);
    device.verify_reads();
    (config, device)
}

fn events(device: &dyn Device, event: Event) -> u64 {
    device.board().meter().events(event)
}

/// Channel and block of its channel, of single-plane channels.
fn block_of(device: &dyn Device, page: u32) -> (u32, u32) {
    let geometry = device.board().geometry();
    let block = geometry.block_of(place(device, page));
    let plane = geometry.plane_of_block(block);
    (plane.0, block.0 - geometry.blocks_of(plane).start)
}

/// Zones of two channels take a page of either in turn; narrow ones fill a block of one channel,
/// then one of the other.
#[test]
fn a_narrow_zone_is_on_its_channels_alone() {
    let (config, mut device) = opened(24, &[TWO]);
    fill(device.as_mut(), &config);
    let wide: Vec<_> = (0..10).map(|page| block_of(device.as_ref(), page)).collect();
    assert_eq!(
        wide,
        [[(0, 0), (1, 0)]; 4].concat().into_iter().chain([(0, 1), (1, 1)]).collect::<Vec<_>>()
    );
    let (config, mut device) = opened(24, &[TWO, NARROW]);
    fill(device.as_mut(), &config);
    let narrow: Vec<_> = (0..9).map(|page| block_of(device.as_ref(), page)).collect();
    let expected = [[(0, 0); 4], [(1, 0); 4]].concat();
    assert_eq!(narrow, [expected, vec![(0, 1)]].concat());
}

/// Of a zone of one channel only that channel's block is erased, whatever FEMU charges.
#[test]
fn the_reset_of_a_narrow_zone_erases_its_blocks_alone() {
    for (width, blocks) in [("1", 1), ("2", 2), ("4", 4)] {
        let (config, mut device) = opened(48, &[("device.channels", "4"), ("zns.width", width)]);
        let operations = record(device.as_mut(), |device| {
            mixed(&config, 3000, 5).iter().for_each(|request| {
                device.submit(request).expect("the device works");
            });
        });
        device.audit().expect("sound");
        let erased = operations.iter().filter(|one| matches!(one, Operation::Erase(..))).count();
        let resets = events(device.as_ref(), Event::ZoneResets);
        assert!(resets > 50, "width {width}: {resets} resets");
        assert_eq!(erased as u64, blocks * resets, "width {width}");
    }
}

/// One page of a zone is left: the host reads it, appends it, and resets the zone.
#[test]
fn a_collection_reads_appends_and_resets() {
    let (config, mut device) = opened(10, &[("gc.victim", "fifo")]);
    let device = device.as_mut();
    fill(device, &config);
    // All but page 0 of the first zone die; it is the first victim, being the first that was full.
    let (mut turn, old) = (0, place(device, 0));
    let operations = loop {
        turn += 1;
        assert!(turn < 200, "the first zone is collected some time");
        let operations = record(device, |device| submit(device, &config, Op::Write, 1 + turn % 6));
        if place(device, 0) != old {
            break operations;
        }
    };
    let new = place(device, 0);
    let block = device.board().geometry().block_of(old);
    let first = [
        Operation::Read(old, Cause::Gc),
        Operation::Program(new, Cause::Gc),
        Operation::Erase(block, Cause::Gc),
    ];
    assert_eq!(operations[..3], first);
    // What gains nothing has another zone collected, until the reserve is there; then the host's
    // page.
    let copies = operations.iter().filter(|one| matches!(one, Operation::Program(_, Cause::Gc)));
    let copies = copies.count() as u64;
    assert!(matches!(operations.last(), Some(Operation::Program(_, Cause::Host))));
    assert_eq!(operations.len() as u64, 3 * copies + 1, "{operations:?}");
    assert_eq!(events(device, Event::HostCopies), copies);
    assert_eq!(events(device, Event::LogLinkBytes), 2 * 512 * copies);
}

/// Of a page that is written in part the host reads the rest, and sends it back with the new part.
#[test]
fn the_host_keeps_the_rest_of_a_page() {
    let pairs = [("device.page_bytes", "2048"), ("io.partial_write", "rmw")];
    let (config, mut device) = opened(10, &pairs);
    let device = device.as_mut();
    submit(device, &config, Op::Write, 0);
    let old = place(device, 0);
    let part = Request { sectors: 1, ..pages(&config, Op::Write, 0, 1) };
    let operations = record(device, |device| _ = device.submit(&part).expect("it works"));
    let new = place(device, 0);
    let expected =
        [Operation::Read(old, Cause::ReadModifyWrite), Operation::Program(new, Cause::Host)];
    assert_eq!(operations, expected);
    assert_eq!(events(device, Event::LogLinkBytes), 2048 + 3 * 512);
    submit(device, &config, Op::Read, 0);
    device.audit().expect("sound");
}

/// The drive has one zone open at a time: every change between two classes closes one.
#[test]
fn the_drive_closes_a_zone_to_open_another() {
    let hints = [
        ("gc.placement", "hint"),
        ("host.hints", "column"),
        ("placement.handles", "2"),
        ("device.over_provisioning", "1x"),
    ];
    for (most, closes) in [("1", 11), ("2", 0)] {
        let (config, mut device) = opened(24, &[&hints[..], &[("zns.max_open", most)]].concat());
        for page in 0..12u64 {
            let request = pages(&config, Op::Write, page, 1);
            let request = Request { stream: Some((page % 2) as u8), ..request };
            device.submit(&request).expect("the device works");
        }
        // With one open zone the twelve pages go to one and the other in turn, but that a zone is
        // full after its fourth page, and open no more.
        let expected = if closes > 0 { closes - 2 } else { 0 };
        assert_eq!(events(device.as_ref(), Event::ZoneCloses), expected, "max_open = {most}");
    }
}

/// A block whose program failed is out of use once its zone was collected, and the zone is shorter.
#[test]
fn a_block_that_failed_retires_with_its_zone() {
    let faults = [("nand.program_failure_rate", "0.005"), ("device.over_provisioning", "6x")];
    let (config, mut device) = opened(24, &[&[TWO, ("gc.victim", "fifo")], &faults[..]].concat());
    mixed(&config, 3000, 5).iter().for_each(|request| {
        device.submit(request).expect("the device works");
    });
    device.audit().expect("sound");
    assert!(events(device.as_ref(), Event::ProgramFailures) > 5);
    assert!(device.board().nand().retired_since() > 2);
}

/// Half of every zone is never written.
#[test]
fn what_is_beyond_the_capacity_of_a_zone_stays_erased() {
    let (config, mut device) = opened(24, &[TWO, ("zns.zone_capacity", "50%")]);
    mixed(&config, 2000, 3).iter().for_each(|request| {
        device.submit(request).expect("the device works");
    });
    device.audit().expect("sound");
    let nand = device.board().nand();
    assert!(events(device.as_ref(), Event::ZoneResets) > 20);
    let tops: Vec<u32> =
        (0..nand.geometry().blocks()).map(|block| nand.state().block(BlockId(block)).top).collect();
    assert_eq!(tops.iter().max(), Some(&2), "of four pages of a block");
    let whole = tiny("zns", 24, &[TWO]);
    let (row, _) = schemes::find("zns").expect("in the table");
    assert!((row.minimum_blocks)(&config) > (row.minimum_blocks)(&whole) * 3 / 2);
}

/// A share that is a whole number of pages is not one page less, which the product of 29 % and 100
/// would be.
#[test]
fn a_whole_number_of_pages_is_all_of_them() {
    let pairs = [("device.pages_per_block", "100"), ("zns.zone_capacity", "29%")];
    let (config, mut device) = opened(4, &pairs);
    fill(device.as_mut(), &config);
    let nand = device.board().nand();
    let top = |block| nand.state().block(BlockId(block)).top;
    assert_eq!((0..nand.geometry().blocks()).map(top).max(), Some(29));
}

/// The map and all that the log knows is the host's; the drive has 8 bytes a zone.
#[test]
fn the_drive_has_no_map() {
    let (row, _) = schemes::find("zns").expect("in the table");
    for (pairs, zones) in [(&[TWO][..], 1), (&[TWO, NARROW], 2)] {
        let config = tiny("zns", 24, pairs);
        let all = (row.ram_use)(&config);
        let of = |memory| -> u64 {
            all.iter().filter(|one| one.memory == memory).map(|one| one.bytes).sum()
        };
        let blocks = u64::from(config.device.blocks_per_plane);
        assert_eq!((of(Memory::Sram), of(Memory::Dram)), (8 * zones * blocks, 0));
        assert!(of(Memory::Host) > 4 * config.device.logical_pages());
        let raw = tiny("zns", 24, &[pairs, &[("zns.mode", "raw")]].concat());
        let all = (row.ram_use)(&raw);
        assert!(all.iter().all(|one| one.memory == Memory::Sram), "{all:?}");
    }
}

/// A zone that is half written when the power goes is written on, or finished: the pages that it
/// lacks are programmed with nothing, and the next page goes to another zone.
#[test]
fn a_half_written_zone_is_written_on_or_finished() {
    for (after, pads) in [("go_on", 0), ("finish", 3)] {
        let (config, mut device) = opened(24, &[TWO, ("zns.after_cut", after)]);
        let device = device.as_mut();
        (0..13).for_each(|page| submit(device, &config, Op::Write, page));
        assert_eq!(block_of(device, 12), (0, 1));
        device.power_cycle().expect("it recovers");
        device.audit().expect("sound");
        let meter = device.board().meter();
        assert_eq!(meter.programs(Cause::Pad), pads);
        assert_eq!(events(device, Event::ZoneFinishes), u64::from(pads > 0));
        submit(device, &config, Op::Write, 13);
        let expected = if pads > 0 { (0, 2) } else { (1, 1) };
        assert_eq!(block_of(device, 13), expected, "{after}");
        (0..14).for_each(|page| submit(device, &config, Op::Read, page));
    }
}

/// Whatever a power cut left half written, and however often the power goes: the host finds zones
/// to collect with. The target of a collection that was cut is not finished where no other is
/// empty.
#[test]
fn two_zones_in_reserve_outlast_every_power_cut() {
    let mut cuts = 0;
    for after in ["go_on", "finish"] {
        let (config, mut device) = opened(24, &[("zns.reserve", "2"), ("zns.after_cut", after)]);
        let run = |device: &mut dyn Device, count, seed| {
            mixed(&config, count, seed).iter().try_for_each(|request| {
                device.submit(request).map(|_| ()).map_err(|error| error.to_string())
            })
        };
        run(device.as_mut(), 400, 1).expect("the device works");
        assert!(events(device.as_ref(), Event::ZoneResets) > 50);
        for (turn, outcome) in (0..40).zip(CutOutcome::ALL.into_iter().cycle()) {
            let mut device = device.duplicate();
            for round in 0..6 {
                let faults = device.board_mut().nand_mut().faults_mut();
                faults.cut_power_after(turn + 5 * round, outcome);
                let error = run(device.as_mut(), 200, 2 + round).expect_err("the power goes");
                assert!(error.contains("power"), "{after}, {turn}, {round}: {error}");
                device.power_cycle().expect("it recovers");
                device.audit().unwrap_or_else(|error| panic!("{after}, {turn}, {round}: {error}"));
                cuts += 1;
            }
            let ended = run(device.as_mut(), 200, 9);
            assert_eq!(ended, Ok(()), "{after}, {turn}");
            device.audit().expect("sound");
        }
    }
    assert_eq!(cuts, 2 * 40 * 6);
}

/// A trim is the host's: the drive hears nothing of it. Its record is a page of the log.
#[test]
fn a_trim_is_the_hosts() {
    let (config, mut device) = opened(24, &[]);
    let device = device.as_mut();
    fill(device, &config);
    let trimmed = record(device, |device| submit(device, &config, Op::Trim, 7));
    assert_eq!(trimmed, []);
    let flushed = record(device, flush);
    assert!(matches!(flushed[..], [Operation::Program(_, Cause::Trim)]), "{flushed:?}");
    device.power_cycle().expect("it recovers");
    submit(device, &config, Op::Read, 7);
    device.audit().expect("sound");
}

fn raw(blocks: u64, pairs: Pairs<'_>) -> (Config, Box<dyn Device>) {
    opened(blocks, &[&[("zns.mode", "raw")], pairs].concat())
}

/// A ring over all zones, a zone trimmed before it is written: every page is programmed once, and
/// every reset erases a zone. Nothing is copied.
#[test]
fn a_ring_that_writes_zones_costs_what_it_writes() {
    let shapes: [Pairs<'_>; 4] = [
        &[],
        &[TWO],
        &[("device.channels", "4"), ("zns.width", "2"), ("device.dies", "2")],
        &[TWO, ("zns.zone_capacity", "75%")],
    ];
    for shape in shapes {
        let (config, mut device) = raw(24, shape);
        let device = device.as_mut();
        let zone = zone_pages(&config);
        let logical = config.device.logical_pages();
        for _ in 0..5 {
            for first in (0..logical).step_by(zone as usize) {
                let size = zone.min(logical - first);
                let trim = pages(&config, Op::Trim, first, size);
                device.submit(&trim).expect("a whole zone is reset");
                let at = |page| pages(&config, Op::Write, page, 1);
                (first..first + size).for_each(|page| {
                    device.submit(&at(page)).expect("the next page of its zone");
                });
            }
        }
        (0..logical).for_each(|page| submit(device, &config, Op::Read, page));
        device.audit().expect("sound");
        let meter = device.board().meter();
        assert_eq!(meter.programs(Cause::Host), 5 * logical, "{shape:?}");
        let all = |of: fn(&dyn Device, Cause) -> u64| -> u64 {
            Cause::ALL.iter().map(|&cause| of(device, cause)).sum()
        };
        assert_eq!(all(|device, cause| device.board().meter().programs(cause)), 5 * logical);
        assert_eq!(all(|device, cause| device.board().meter().reads(cause)), logical);
        let resets = 4 * logical.div_ceil(zone);
        assert_eq!(events(device, Event::ZoneResets), resets, "{shape:?}");
        let erases = meter.erases(BlockRole::Data);
        assert!(erases <= resets * zone_blocks(&config) && erases > resets / 2, "{shape:?}");
    }
}

fn zone_blocks(config: &Config) -> u64 {
    let width = config.scheme.zns.width.0.unwrap_or(config.device.channels);
    config.device.plane_count() / u64::from(config.device.channels / width)
}

fn zone_pages(config: &Config) -> u64 {
    let hundredths = (100.0 * config.scheme.zns.zone_capacity).round() as u64;
    zone_blocks(config) * (hundredths * u64::from(config.device.units_per_block()) / 100)
}

/// What the host may not do ends the run, with the page and what would have been right.
#[test]
fn what_is_not_written_in_order_is_refused() {
    let (config, device) = raw(24, &[TWO, ("zns.max_active", "3"), ("zns.max_open", "2")]);
    let asked = |before: &[(Op, u64, u64)], (op, first, count): (Op, u64, u64)| {
        let mut device = device.duplicate();
        for &(op, first, count) in before {
            device.submit(&pages(&config, op, first, count)).expect("as it should be");
        }
        let error = device.submit(&pages(&config, op, first, count)).expect_err("refused");
        error.to_string()
    };
    let cases: [(&[_], _, &str); 6] = [
        (&[], (Op::Write, 1, 1), "page 1 cannot be written: the next page of zone 0 is page 0"),
        (&[(Op::Write, 0, 3)], (Op::Write, 2, 1), "the next page of zone 0 is page 3"),
        (&[(Op::Write, 0, 8)], (Op::Write, 0, 1), "page 0 cannot be written"),
        (
            &[(Op::Write, 0, 8)],
            (Op::Trim, 1, 7),
            "page 1 cannot be trimmed: a zone is reset as a whole",
        ),
        (&[(Op::Write, 0, 5)], (Op::Trim, 0, 4), "the request covers a part"),
        (
            &[(Op::Write, 0, 5), (Op::Write, 8, 1), (Op::Write, 16, 1)],
            (Op::Write, 24, 1),
            "it would begin zone 3, and 3 zones are half written already (zns.max_active)",
        ),
    ];
    for (before, request, words) in cases {
        let error = asked(before, request);
        assert!(error.contains(words), "{error}");
    }
    // A full zone is not active, and a trim beyond the write pointer is a reset as well.
    let mut device = device.duplicate();
    for (op, first, count) in [
        (Op::Write, 0, 8),
        (Op::Write, 8, 1),
        (Op::Write, 16, 1),
        (Op::Write, 24, 1),
        (Op::Trim, 8, 8),
    ] {
        device.submit(&pages(&config, op, first, count)).expect("as it should be");
    }
    device.submit(&pages(&config, Op::Write, 32, 1)).expect("three are half written");
    device.audit().expect("sound");
}

/// A page that is trimmed in part is not trimmed, at either end of a request.
#[test]
fn a_trim_of_a_part_of_a_page_covers_none_of_it() {
    let (config, device) = raw(24, &[("device.page_bytes", "2048")]);
    let mut device = device.duplicate();
    (0..8).for_each(|page| submit(device.as_mut(), &config, Op::Write, page));
    let trim =
        |first_sector, sectors| Request { first_sector, sectors, ..pages(&config, Op::Trim, 0, 1) };
    // All of a zone but its last sector, its first, or one at either end; the whole one before it
    // does not make up for that.
    for (first, sectors) in [(0, 15), (1, 15), (1, 14), (0, 31), (2, 29)] {
        let error = device.duplicate().submit(&trim(first, sectors)).expect_err("a part of a zone");
        assert!(error.to_string().contains("the request covers a part"), "{first}: {error}");
    }
    // A part of a page before the zone, or within one, is nothing.
    device.submit(&trim(5, 2)).expect("as drives do");
    assert_eq!(events(device.as_ref(), Event::ZoneResets), 0);
    device.submit(&trim(13, 19)).expect("the second zone is covered");
    assert_eq!(events(device.as_ref(), Event::ZoneResets), 1);
    (0..4).for_each(|page| submit(device.as_mut(), &config, Op::Read, page));
    submit(device.as_mut(), &config, Op::Write, 4);
    device.submit(&trim(0, 18)).expect("the first zone is covered, of the second no page");
    assert_eq!(events(device.as_ref(), Event::ZoneResets), 2);
    device.audit().expect("sound");
}

/// The power goes at every operation of a workload that writes three zones side by side, and again
/// in the recovery: what was written is there, and zones go on where they stood.
#[test]
fn zones_that_are_written_raw_are_found_again() {
    let (config, device) = raw(24, &[TWO, ("zns.max_active", "3"), ("zns.max_open", "2")]);
    let zones = config.device.logical_pages() / 8;
    let cuts = cut_everywhere(device.as_ref(), &config, &rings(&config), |cut| {
        let Cut { mut device, case, .. } = cut;
        for op in [Op::Trim, Op::Write, Op::Read] {
            for zone in 0..zones {
                let whole = pages(&config, op, 8 * zone, 8);
                device.submit(&whole).expect("every zone is begun anew");
            }
        }
        device.audit().unwrap_or_else(|error| panic!("{case}: {error}"));
    });
    assert!(cuts > 200, "{cuts} cuts");
}

/// Two rings of four zones each, and one page of another zone now and then; pages are sectors.
fn rings(config: &Config) -> Vec<Request> {
    let mut rng = Rng::new(3, Purpose::Workload);
    let mut next = [0u64; 3];
    let mut all = Vec::new();
    for _ in 0..60 {
        let ring = rng.below(3) as usize;
        let at = next[ring] % 32;
        let first = 32 * ring as u64 + at;
        if ring == 2 && next[2] == 32 {
            continue;
        }
        if next[ring] >= 32 && at.is_multiple_of(8) {
            all.push(pages(config, Op::Trim, first, 8));
        }
        let count = (1 + u64::from(rng.below(3))).min(8 - at % 8);
        all.push(pages(config, Op::Write, first, count));
        next[ring] += count;
    }
    all
}

/// What is said of a log has no meaning without one.
#[test]
fn a_workload_that_writes_zones_has_no_log() {
    let (row, _) = schemes::find("zns").expect("in the table");
    let cases: [(Pairs<'_>, &str); 11] = [
        (&[("zns.reserve", "5")], "zns.mode = raw has no log"),
        (&[("zns.after_cut", "finish")], "zns.mode = raw has no log"),
        (&[("gc.placement", "sep_gc")], "all of gc say how a log is collected"),
        (&[("zns.max_active", "16")], "legal: up to 15 there"),
        (&[("nand.program_failure_rate", "0.01")], "nand.program_failure_rate = 0.01"),
        (&[("nand.erase_failure_rate", "0.01")], "nand.erase_failure_rate = 0.01"),
        (&[("nand.factory_bad_rate", "0.01")], "nand.factory_bad_rate = 0.01"),
        (&[("nand.factory_bad_blocks", "3,5")], "nand.factory_bad_blocks = 3,5"),
        (&[("wear.policy", "dynamic")], "wear.policy = dynamic under zns.mode = raw"),
        (&[("placement.handles", "3")], "placement says how a log divides data"),
        (&[("io.partial_write", "rmw")], "io.partial_write = rmw under zns.mode = raw"),
    ];
    for (pairs, words) in cases {
        let mut config = tiny("zns", 24, &[]);
        for (key, value) in pairs.iter().chain(&[("zns.mode", "raw")]) {
            config.set(key, value).expect("legal alone");
        }
        let error = (row.check)(&config).expect_err(words).to_string();
        assert!(error.contains(words), "{error}");
    }
}
