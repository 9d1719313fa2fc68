//! CFTL at its limits: planes that conversions fill, memory from which nothing can leave, sizes
//! that do not go into each other, and what conversions do when there is no room or collection
//! moves their pages.

use crate::common::{config, fill, mixed, open, pages, place, submit, tiny, version};
use ftlab_engine::board::nand::fault::{CutOutcome, Fault};
use ftlab_engine::config::Config;
use ftlab_engine::meter::{Cause, Event, Level};
use ftlab_engine::request::Op;
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes;
use ftlab_engine::ssd::{Device, DeviceError};

const GAPS: (&str, &str) = ("gc.mode", "both");
const EAGER: (&str, &str) = ("cftl.read_thr", "1");
const TABLES: (&str, &str) = ("cftl.cache_bytes", "64B");

fn event(device: &dyn Device, event: Event) -> u64 {
    device.board().meter().events(event)
}

fn by_block(device: &dyn Device) -> Option<u64> {
    device.board().meter().level_now(Level::BlockMappedPages)
}

/// A gap of so many nanoseconds, and the read of a page behind it.
fn gap(device: &mut dyn Device, config: &Config, length: u64, page: u64) {
    let mut request = pages(config, Op::Read, page, 1);
    request.arrival = device.idle_from() + length;
    device.submit(&request).expect("it works");
}

fn write(device: &mut dyn Device, config: &Config, page: u64) -> Result<(), DeviceError> {
    device.submit(&pages(config, Op::Write, page, 1)).map(|_| ())
}

/// Every second logical block is converted, all of them in one plane. Half of what is written
/// afterwards belongs there too, and goes where there is room.
#[test]
fn conversions_leave_no_plane_without_room() {
    let pairs = [GAPS, ("device.planes", "2"), ("device.over_provisioning", "0.01")];
    let config = tiny("cftl", 100, &pairs);
    let mut device = open("cftl", &config);
    let device = device.as_mut();
    device.verify_reads();
    let even = || (0..400_u64).filter(|page| page / 4 % 2 == 0);
    even().for_each(|page| submit(device, &config, Op::Write, page));
    for _ in 0..4 {
        even().for_each(|page| submit(device, &config, Op::Read, page));
    }
    gap(device, &config, 10_000_000_000, 0);
    assert_eq!(event(device, Event::Conversions), 50);
    for page in (0..400).filter(|page| page / 4 % 2 == 1) {
        submit(device, &config, Op::Write, page);
    }
    let mut rng = Rng::new(4, Purpose::Workload);
    (0..2000).for_each(|_| submit(device, &config, Op::Write, u64::from(rng.below(400))));
    device.audit().expect("sound");
}

/// Memory that survives a cut may hold more entries than there is place for. Recovery leaves them:
/// were it cut behind a write, what memory says of flash would be wrong.
#[test]
fn recovery_with_memory_that_survived_writes_nothing() {
    let config = tiny("cftl", 170, &[TABLES, EAGER, GAPS, ("device.ram_nonvolatile", "true")]);
    for cut in 0..40 {
        let mut device = open("cftl", &config);
        let device = device.as_mut();
        device.verify_reads();
        let requests = mixed(&config, 800, 5);
        let (early, late) = requests.split_at(400);
        for request in early {
            device.submit(request).expect("it works");
        }
        device.board_mut().nand_mut().faults_mut().cut_power_after(cut, CutOutcome::Undone);
        let cut_at = late.iter().position(|request| match device.submit(request) {
            Ok(_) => false,
            Err(DeviceError::Fault(Fault::PowerCut)) => true,
            Err(error) => panic!("cut {cut}: {error}"),
        });
        let cut_at = cut_at.expect("the power is cut");
        let before = device.board().meter().total_programs();
        device.power_cycle().expect("recovery works");
        assert_eq!(device.board().meter().total_programs(), before, "cut {cut}");
        device.audit().expect("sound");
        for request in &late[cut_at + 1..] {
            device.submit(request).unwrap_or_else(|error| panic!("cut {cut}: {error}"));
        }
        device.audit().expect("sound");
    }
}

/// A device whose erases fail more and more, written until it is worn out.
fn worn_out(config: &Config, seed: u64) -> Box<dyn Device> {
    let mut device = open("cftl", config);
    let mut rng = Rng::new(seed, Purpose::Workload);
    let pages = config.device.logical_pages() as u32;
    for _ in 0..200_000 {
        if write(device.as_mut(), config, u64::from(rng.below(pages))).is_err() {
            return device;
        }
    }
    panic!("it does not wear out");
}

/// No changed entry can leave the memory of a worn-out device. Everything can be read all the same,
/// and what is written or trimmed is either done or refused.
#[test]
fn a_worn_out_device_is_read_without_room_for_entries() {
    for (seed, bits) in [(1, "0"), (2, "6"), (3, "1"), (4, "0")] {
        let pairs =
            [TABLES, EAGER, ("nand.erase_failure_rate", "0.2"), ("cftl.run_len_bits", bits)];
        let config = tiny("cftl", 170, &pairs);
        let mut device = worn_out(&config, seed);
        let device = device.as_mut();
        let mut rng = Rng::new(9, Purpose::Workload);
        for round in 0..3000 {
            let page = u64::from(rng.below(680));
            let op = if round < 1000 || rng.below(3) > 0 { Op::Read } else { Op::Trim };
            let result = device.submit(&pages(&config, op, page, 1));
            assert!(result.is_ok() || op == Op::Trim, "seed {seed}: {result:?}");
        }
        device.audit().expect("sound");
    }
}

/// A write that a worn-out device reports as failed has not happened.
#[test]
fn a_write_that_is_reported_as_failed_has_changed_nothing() {
    let mut failed = 0;
    for seed in 0..12 {
        let tables = [("cftl.cache_bytes", "64B"), ("cftl.cache_bytes", "2KiB")][seed as usize % 2];
        let config = tiny("cftl", 60, &[tables, EAGER, ("nand.erase_failure_rate", "0.2")]);
        let mut device = worn_out(&config, seed);
        let device = device.as_mut();
        let mut rng = Rng::new(100 + seed, Purpose::Workload);
        for _ in 0..600 {
            let page = rng.below(240);
            let before = version(device, page);
            match rng.below(3) {
                0 if write(device, &config, u64::from(page)).is_err() => {
                    failed += 1;
                    assert_eq!(version(device, page), before, "seed {seed}, page {page}");
                }
                0 => {}
                _ => submit(device, &config, Op::Read, u64::from(page)),
            }
        }
        device.audit().expect("sound");
    }
    assert!(failed > 500, "{failed} writes failed");
}

/// Thirty-eight pages in blocks of four: the last logical block has two, and counts as two.
#[test]
fn a_short_last_logical_block_counts_the_pages_that_it_has() {
    let config = config(&[
        ("device.pages_per_block", "4"),
        ("device.page_bytes", "512"),
        ("device.logical_bytes", "19KiB"),
        ("device.blocks_per_plane", "60"),
        GAPS,
    ]);
    let mut device = open("cftl", &config);
    let device = device.as_mut();
    device.verify_reads();
    (0..38).for_each(|page| submit(device, &config, Op::Write, page));
    for page in (0..160).map(|turn| turn % 40).filter(|page| *page < 38) {
        (0..4).for_each(|_| submit(device, &config, Op::Read, page));
    }
    gap(device, &config, 10_000_000_000, 0);
    assert_eq!((event(device, Event::Conversions), by_block(device)), (10, Some(38)));
    assert_eq!(device.board().meter().level_now(Level::PageMappedPages), Some(0));
    submit(device, &config, Op::Write, 37);
    assert_eq!(by_block(device), Some(36), "the last one has two");
    device.audit().expect("sound");
}

/// One filter weighs 2 at most, two weigh 3, and so on: a page cannot reach more. 16 means never.
#[test]
fn a_threshold_that_no_page_can_reach_is_refused() {
    let (row, _) = schemes::find("cftl").expect("it is in the table");
    let check = |filters: &str, threshold: &str| {
        (row.check)(&config(&[("cftl.hot_bf", filters), ("cftl.hot_thr", threshold)]))
    };
    for (filters, threshold) in [("1", "4"), ("2", "4"), ("4", "5.1"), ("1", "2.5")] {
        let refused = check(filters, threshold).expect_err("refused").to_string();
        assert!(refused.contains("cftl.hot_bf") && refused.contains("cftl.hot_thr"), "{refused}");
    }
    for (filters, threshold) in [("1", "2"), ("2", "3"), ("3", "4"), ("4", "5"), ("1", "16")] {
        check(filters, threshold).unwrap_or_else(|error| panic!("{filters}, {threshold}: {error}"));
    }
}

/// Blocks of six pages, translation pages of 128 entries: logical block 21 lies in two of them.
/// Both are read to find it, and both learn where it is.
#[test]
fn a_logical_block_in_two_translation_pages_is_converted() {
    let config = tiny("cftl", 40, &[GAPS, TABLES, ("device.pages_per_block", "6")]);
    let mut device = open("cftl", &config);
    let device = device.as_mut();
    device.verify_reads();
    for page in 126..132 {
        submit(device, &config, Op::Write, page);
        submit(device, &config, Op::Write, page - 100);
    }
    (0..24).for_each(|_| submit(device, &config, Op::Read, 127));
    let (reads, programs) = {
        let meter = device.board().meter();
        (meter.reads(Cause::Convert), meter.programs(Cause::Convert))
    };
    gap(device, &config, 10_000_000_000, 20);
    assert_eq!((event(device, Event::Conversions), by_block(device)), (1, Some(6)));
    let geometry = device.board().geometry().clone();
    let block = geometry.block_of(place(device, 126));
    for offset in 0..6 {
        assert_eq!(place(device, 126 + offset), geometry.page(block, offset));
    }
    let meter = device.board().meter();
    // Two translation pages looked at, six pages copied, two translation pages told at most.
    assert!((8..=10).contains(&(meter.reads(Cause::Convert) - reads)));
    assert!((6..=8).contains(&(meter.programs(Cause::Convert) - programs)));
    // Another block takes its place in the block table; to find it again both pages are read.
    for page in 60..66 {
        submit(device, &config, Op::Write, page);
        submit(device, &config, Op::Write, page + 100);
    }
    (0..24).for_each(|_| submit(device, &config, Op::Read, 60));
    gap(device, &config, 10_000_000_000, 60);
    assert_eq!((event(device, Event::Conversions), by_block(device)), (2, Some(12)));
    let before = device.board().meter().reads(Cause::Translate);
    submit(device, &config, Op::Read, 131);
    assert_eq!(device.board().meter().reads(Cause::Translate) - before, 2);
    (126..132).for_each(|page| submit(device, &config, Op::Read, page));
    assert_eq!(device.board().meter().reads(Cause::Translate) - before, 2);
    device.audit().expect("sound");
}

/// A device that is full and has lost so many blocks that none is left for a conversion.
fn without_room() -> (Config, Box<dyn Device>) {
    let config = tiny("cftl", 40, &[GAPS, ("device.over_provisioning", "0.01")]);
    let mut opened = open("cftl", &config);
    let device = opened.as_mut();
    device.verify_reads();
    (0..160).for_each(|page| submit(device, &config, Op::Write, page));
    for _ in 0..5 {
        device.board_mut().nand_mut().faults_mut().fail_erase_after(0);
        let retired = device.board().nand().retired_blocks();
        let mut rng = Rng::new(4, Purpose::Workload);
        while device.board().nand().retired_blocks() == retired {
            let page = 40 + u64::from(rng.below(120));
            if write(device, &config, page).is_err() {
                break;
            }
        }
    }
    (config, opened)
}

/// Where no plane has room for a block, nothing is paid for a conversion, and what was worth one is
/// converted when there is room.
#[test]
fn a_candidate_waits_for_room() {
    let (config, mut device) = without_room();
    let device = device.as_mut();
    // Apart, and read often.
    for page in 8..12 {
        submit(device, &config, Op::Write, page);
        submit(device, &config, Op::Write, 100 + page);
    }
    (0..64).for_each(|_| submit(device, &config, Op::Read, 8));
    gap(device, &config, 10_000_000_000, 20);
    assert_eq!(device.board().meter().reads(Cause::Convert), 0);
    (40..72).for_each(|page| submit(device, &config, Op::Trim, page));
    gap(device, &config, 10_000_000_000, 20);
    assert_eq!(event(device, Event::Conversions), 1, "it was not forgotten");
    device.audit().expect("sound");
}

/// What lies in place already needs no block: it is block-mapped where no plane has one to spare.
#[test]
fn a_candidate_in_place_waits_for_no_room() {
    let (config, mut device) = without_room();
    let device = device.as_mut();
    (0..64).for_each(|_| submit(device, &config, Op::Read, 8));
    let before = device.board().meter().programs(Cause::Convert);
    gap(device, &config, 10_000_000_000, 20);
    assert_eq!((event(device, Event::Conversions), by_block(device)), (1, Some(4)));
    let written = device.board().meter().programs(Cause::Convert) - before;
    assert_eq!(written, 1, "the page map learns of it, nothing is copied");
    device.audit().expect("sound");
}

/// Collection may move pages of a logical block that is being gathered: what they hold is the same.
#[test]
fn collection_does_not_end_a_conversion() {
    let pairs = [
        GAPS,
        ("cftl.convert", "idle"),
        ("cftl.convert_pages", "1"),
        ("device.over_provisioning", "0.01"),
    ];
    let config = tiny("cftl", 60, &pairs);
    let mut device = open("cftl", &config);
    let device = device.as_mut();
    device.verify_reads();
    (12..240).for_each(|page| submit(device, &config, Op::Write, page));
    for page in 8..12 {
        submit(device, &config, Op::Write, page);
        submit(device, &config, Op::Write, 100 + page);
    }
    (0..16).for_each(|_| submit(device, &config, Op::Read, 8));
    gap(device, &config, 1, 200);
    assert_eq!(device.board().meter().programs(Cause::Convert), 1);
    let before = [place(device, 9), place(device, 10), place(device, 11)];
    let mut rng = Rng::new(8, Purpose::Workload);
    let moved =
        |device: &dyn Device| (0..3_u32).any(|at| place(device, 9 + at) != before[at as usize]);
    let mut writes = 0;
    while !moved(device) {
        submit(device, &config, Op::Write, 12 + u64::from(rng.below(228)));
        writes += 1;
        assert!(writes < 20_000, "collection leaves them where they are");
    }
    gap(device, &config, 10_000_000_000, 200);
    assert_eq!(event(device, Event::AbortedConversions), 0);
    assert_eq!((event(device, Event::Conversions), by_block(device)), (1, Some(4)));
    device.audit().expect("sound");
}

/// What leaves the page table may, while it is written, be joined by collection to the entry that
/// is in use: then neither leaves. Two entries, and collection all the time.
#[test]
fn the_entry_in_use_stays_when_collection_joins_it_to_the_one_that_leaves() {
    for seed in 0..60 {
        let over = ["0.01", "0.1", "0.3"][seed as usize % 3];
        let pairs = [
            ("cftl.cache_bytes", "16B"),
            ("cftl.convert", "off"),
            ("device.over_provisioning", over),
        ];
        let config = tiny("cftl", 8 + seed % 7, &pairs);
        let mut device = open("cftl", &config);
        let device = device.as_mut();
        device.verify_reads();
        for request in mixed(&config, 1500, seed) {
            device.submit(&request).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        }
        device.audit().expect("sound");
    }
}

/// Two entries of one page each: both are there after two reads, and no run answers.
#[test]
fn the_page_table_holds_as_many_entries_as_it_may() {
    let pairs = [("cftl.cache_bytes", "16B"), ("cftl.run_len_bits", "0"), ("cftl.convert", "off")];
    let config = tiny("cftl", 170, &pairs);
    let mut device = open("cftl", &config);
    let device = device.as_mut();
    fill(device, &config);
    let hits = |device: &mut dyn Device, page| {
        let before = event(device, Event::MapHits);
        submit(device, &config, Op::Read, page);
        event(device, Event::MapHits) - before
    };
    let found = [10, 20, 10, 20, 30, 20, 10].map(|page| hits(device, page));
    assert_eq!(found, [0, 0, 1, 1, 0, 1, 0], "30 pushed 10 out");
    assert_eq!(event(device, Event::RunHits), 0);
}

/// Blocks that conversions began to fill are collected like others when those were in vain: a
/// hundred of them, on a device with some fifty to spare.
#[test]
fn a_conversion_in_vain_leaves_its_block_to_collection() {
    let pairs = [
        GAPS,
        ("cftl.convert_pages", "1"),
        ("cftl.hot_thr", "16"),
        // Reads and writes of the turns before count no more.
        ("cftl.window_writes", "8"),
    ];
    let config = tiny("cftl", 170, &pairs);
    let mut device = open("cftl", &config);
    let device = device.as_mut();
    device.verify_reads();
    fill(device, &config);
    let spare = device.board().geometry().blocks() - 170;
    assert!(spare < 80, "{spare} blocks to spare");
    for turn in 0..100 {
        let first = 8 + 4 * (turn % 20);
        // They lie apart.
        for page in first..first + 4 {
            submit(device, &config, Op::Write, page);
            submit(device, &config, Op::Write, 300 + page);
        }
        // Time for collection; then time for one page of four, before the last one changes.
        gap(device, &config, 1_000_000_000, 400 + turn);
        (0..16).for_each(|_| submit(device, &config, Op::Read, first));
        gap(device, &config, 1, 400 + turn);
        submit(device, &config, Op::Write, first + 3);
        gap(device, &config, 1_000_000_000, 400 + turn);
    }
    let aborted = event(device, Event::AbortedConversions);
    assert!(aborted > 80, "{aborted} in vain");
    device.audit().expect("sound");
}
