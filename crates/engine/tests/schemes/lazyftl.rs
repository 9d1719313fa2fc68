//! LazyFTL's rules as sequences of flash operations: writes that need no map, the flag that is
//! inherited, conversion without a copy, collection of pages that the UMT has.

use crate::common::{fill, open, pages, place, record, submit, tiny};
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::board::nand::state::{OobRead, PageKind};
use ftlab_engine::config::Config;
use ftlab_engine::meter::{Cause, Event, Level};
use ftlab_engine::request::{Op, Request};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes::{self, Location};
use ftlab_engine::ssd::Device;
use ftlab_engine::units::{Lpn, Ppn};

/// Seven GMT pages of 128 entries over 200 blocks of four pages.
fn bench(pairs: &[(&str, &str)]) -> (Config, Box<dyn Device>) {
    let config = tiny("lazyftl", 200, pairs);
    let mut device = open("lazyftl", &config);
    device.verify_reads();
    (config, device)
}

fn write_all(device: &mut dyn Device, config: &Config, lpns: &[u64]) {
    lpns.iter().for_each(|&lpn| submit(device, config, Op::Write, lpn));
}

/// The operations of one write.
fn write(device: &mut dyn Device, config: &Config, lpn: u64) -> Vec<Operation> {
    record(device, |device| submit(device, config, Op::Write, lpn))
}

fn events(device: &dyn Device, event: Event) -> u64 {
    device.board().meter().events(event)
}

fn stale(device: &mut dyn Device) -> u64 {
    device.audit().expect("map, flash and host agree").stale_pages
}

/// What the newest GMT page says of a page, found by its out-of-band area.
fn on_flash(device: &dyn Device, lpn: u64) -> Option<Ppn> {
    let state = device.board().nand().state();
    let gmt = (0..device.board().geometry().pages()).map(Ppn).find(|&ppn| {
        state.is_valid(ppn)
            && matches!(state.oob(ppn), OobRead::Written(oob)
                if oob.kind == PageKind::Map && u64::from(oob.logical) == lpn / 128)
    });
    let word = device.board().nand().payload(gmt?)[lpn as usize % 128];
    word.checked_sub(1).map(Ppn)
}

/// Four blocks of UBA and CBA take sixteen pages, each one program; the seventeenth converts the
/// block that was closed first: all 16 entries belong to one GMT page, so it is read and written
/// once for all of them, and the next three blocks need nothing.
#[test]
fn writes_are_one_program_each_until_the_area_is_full() {
    let (config, mut device) = bench(&[("lazyftl.uba_cba_blocks", "4")]);
    let device = device.as_mut();
    for lpn in 0..16 {
        let operations = write(device, &config, lpn);
        assert!(
            matches!(operations[..], [Operation::Program(_, Cause::Host)]),
            "{lpn}: {operations:?}"
        );
    }
    let full = write(device, &config, 16);
    // The GMT page was never written: its read has no place.
    assert!(
        matches!(
            full[..],
            [Operation::Program(_, Cause::Translate), Operation::Program(_, Cause::Host)]
        ),
        "{full:?}"
    );
    assert_eq!(device.board().meter().reads(Cause::Translate), 1);
    assert_eq!(
        (events(device, Event::Conversions), events(device, Event::ConvertedMapPages)),
        (1, 1)
    );
    assert_eq!(device.board().meter().level_now(Level::UpdateAreaBlocks), Some(4), "with the CUB");
    for lpn in 0..16 {
        assert_eq!(on_flash(device, lpn), Some(place(device, lpn as u32)), "the GMT knows {lpn}");
    }
    assert_eq!(on_flash(device, 16), None, "and nothing of what came after");
    for lpn in 17..32 {
        let operations = write(device, &config, lpn);
        assert!(matches!(operations[..], [Operation::Program(_, Cause::Host)]), "{operations:?}");
    }
    assert_eq!(events(device, Event::Conversions), 4, "blocks without entries cost nothing");
    assert_eq!(events(device, Event::ConvertedMapPages), 1);
}

/// The inherit rule: the page that the GMT names stays valid through two rewrites, the one between
/// them becomes invalid at once, and the GMT page's next write invalidates the first.
#[test]
fn a_rewritten_page_inherits_the_invalidate_flag() {
    let (config, mut device) = bench(&[("lazyftl.uba_cba_blocks", "2")]);
    let device = device.as_mut();
    // Page 0 gets to a DBA block.
    write_all(device, &config, &[0, 1, 2, 3, 4, 5, 6, 7, 8]);
    let first = place(device, 0);
    assert_eq!(on_flash(device, 0), Some(first));
    let is_valid = |device: &dyn Device, ppn| device.board().nand().state().is_valid(ppn);
    assert!(matches!(write(device, &config, 0)[..], [Operation::Program(_, Cause::Host)]));
    let second = place(device, 0);
    assert!(is_valid(device, first) && is_valid(device, second));
    assert_eq!(stale(device), 1);
    assert!(matches!(write(device, &config, 0)[..], [Operation::Program(_, Cause::Host)]));
    let third = place(device, 0);
    assert!(is_valid(device, first) && !is_valid(device, second) && is_valid(device, third));
    assert_eq!(stale(device), 1, "the flag went from the second to the third");
    // Fills this block; the block before it has no entries left and goes for nothing.
    write_all(device, &config, &[9, 10, 11, 12, 13]);
    assert_eq!((stale(device), events(device, Event::DeferredInvalidations)), (1, 0));
    // Now the block with page 0 is converted.
    write_all(device, &config, &[14]);
    assert!(!is_valid(device, first) && is_valid(device, third));
    assert_eq!((stale(device), events(device, Event::DeferredInvalidations)), (0, 1));
    assert_eq!(on_flash(device, 0), Some(third));
    // A page that was converted and is rewritten gets a flag of its own.
    write_all(device, &config, &[0]);
    assert_eq!(stale(device), 1);
}

/// Three blocks whose entries touch four, two and two GMT pages: of the cheap ones the first closed
/// is converted. Entries of the same GMT pages in other blocks go along, so that the dear block has
/// become the cheapest. No page is copied.
#[test]
fn the_block_with_fewest_gmt_pages_is_converted_and_takes_entries_along() {
    let (config, mut device) = bench(&[("lazyftl.uba_cba_blocks", "3")]);
    let device = device.as_mut();
    write_all(device, &config, &[0, 128, 256, 384]);
    write_all(device, &config, &[1, 2, 129, 3]);
    write_all(device, &config, &[512, 513, 640, 641]);
    let at = [place(device, 0), place(device, 1), place(device, 129)];
    let operations = write(device, &config, 642);
    assert!(
        matches!(
            operations[..],
            [
                Operation::Program(_, Cause::Translate),
                Operation::Program(_, Cause::Translate),
                Operation::Program(_, Cause::Host)
            ]
        ),
        "GMT pages 0 and 1: {operations:?}"
    );
    assert_eq!(
        (events(device, Event::Conversions), events(device, Event::ConvertedMapPages)),
        (1, 2)
    );
    for lpn in [0, 1, 2, 3, 128, 129] {
        assert_eq!(on_flash(device, lpn), Some(place(device, lpn as u32)), "page {lpn} went along");
    }
    for lpn in [256, 384, 512, 640] {
        assert_eq!(on_flash(device, lpn), None, "page {lpn} waits");
    }
    assert_eq!(at, [place(device, 0), place(device, 1), place(device, 129)], "nothing moved");
    // Pages 0 and 128 of the first block are settled: two GMT pages are left, as in the third.
    write_all(device, &config, &[643, 644, 645]);
    write_all(device, &config, &[646]);
    // The fourth block has one GMT page, 5, and takes pages 640 and 641 along.
    assert_eq!(
        (events(device, Event::Conversions), events(device, Event::ConvertedMapPages)),
        (2, 3)
    );
    assert_eq!(on_flash(device, 640), Some(place(device, 640)));
    assert_eq!(on_flash(device, 256), None);
    assert_eq!(device.board().meter().total_reads(), 3, "one read for each GMT page, nothing else");
}

/// A victim's page that the UMT has is superseded: only its flag clears, it is never copied. A page
/// that the UMT has not goes to the CCB without a map operation. Looked at before every write of a
/// random run.
#[test]
fn collection_drops_what_the_umt_has_and_copies_the_rest_without_the_map() {
    let config = tiny("lazyftl", 60, &[("lazyftl.uba_cba_blocks", "12")]);
    let mut device = open("lazyftl", &config);
    let device = device.as_mut();
    device.verify_reads();
    fill(device, &config);
    let mut rng = Rng::new(8, Purpose::Workload);
    let (mut dropped, mut copied, mut own, mut quiet) = (0, 0, 0, 0);
    for step in 0..4000u32 {
        let page = u64::from(rng.below(config.device.logical_pages() as u32));
        let stale: Vec<Ppn> = stale_pages(device);
        let old = place(device, page as u32);
        let map_writes = device.board().meter().programs(Cause::GcMapUpdate);
        let operations = write(device, &config, page);
        let erased: Vec<u32> = operations
            .iter()
            .filter_map(|operation| match operation {
                Operation::Erase(block, Cause::Gc) => Some(block.0),
                _ => None,
            })
            .collect();
        let moved: Vec<Ppn> = operations
            .iter()
            .filter_map(|operation| match operation {
                Operation::Read(ppn, Cause::Gc) => Some(*ppn),
                _ => None,
            })
            .collect();
        assert!(moved.iter().all(|ppn| !stale.contains(ppn)), "a superseded page was copied");
        dropped += stale.iter().filter(|ppn| erased.contains(&(ppn.0 / 4))).count();
        copied += moved.len();
        // The page that is just being written has its entry already, and moves once more.
        own += usize::from(moved.contains(&old));
        let told = device.board().meter().programs(Cause::GcMapUpdate) > map_writes;
        quiet += usize::from(!moved.is_empty() && !told);
        if step % 100 == 0 {
            device.audit().expect("map, flash and host agree");
        }
    }
    assert!(dropped > 100 && copied > 1000, "{dropped} dropped, {copied} copied");
    assert!(quiet > 500, "{quiet} collections that moved pages and told the GMT nothing");
    let updates = events(device, Event::LazyUpdates);
    assert_eq!(updates, (copied - own) as u64, "every other entry changed in the UMT alone");
    let area = device.board().meter().level_now(Level::UpdateAreaBlocks).expect("told");
    assert!((11..=12).contains(&area), "{area} blocks after as many writes");
}

/// Valid host pages that the map does not point to.
fn stale_pages(device: &dyn Device) -> Vec<Ppn> {
    let state = device.board().nand().state();
    let held = (0..device.board().geometry().pages()).map(Ppn);
    held.filter(|&ppn| match state.oob(ppn) {
        OobRead::Written(oob) if oob.kind.is_host_data() && state.is_valid(ppn) => {
            device.locate(Lpn(oob.logical)) != Location::Flash(ppn)
        }
        _ => false,
    })
    .collect()
}

/// GMT pages are cached by use: three in turn miss every time in two places and never in three,
/// once each was loaded; and what is still in the UMT is found without them.
#[test]
fn reads_look_in_the_umt_then_in_the_gmt_pages_in_memory() {
    for (cached, misses) in [("2", 30), ("3", 3)] {
        let (config, mut device) = bench(&[("lazyftl.gmt_cache_pages", cached)]);
        let device = device.as_mut();
        fill(device, &config);
        let before = device.board().meter().reads(Cause::Translate);
        for _ in 0..10 {
            for lpn in [0, 128, 256] {
                submit(device, &config, Op::Read, lpn);
            }
        }
        let reads = device.board().meter().reads(Cause::Translate) - before;
        assert_eq!(reads, misses, "{cached} GMT pages");
        let last = config.device.logical_pages() - 1;
        let operations = record(device, |device| submit(device, &config, Op::Read, last));
        assert!(matches!(operations[..], [Operation::Read(_, Cause::Host)]), "{operations:?}");
    }
}

/// With half of four blocks for the CBA the third update block converts; when the ratio is dynamic
/// the fifth does.
#[test]
fn a_fixed_ratio_keeps_room_for_what_collection_moves() {
    for (percent, first) in [("50", 9), ("25", 13), ("auto", 17)] {
        let (config, mut device) =
            bench(&[("lazyftl.uba_cba_blocks", "4"), ("lazyftl.cba_percent", percent)]);
        let device = device.as_mut();
        let converting = (1..).find(|&lpn| {
            submit(device, &config, Op::Write, lpn - 1);
            events(device, Event::Conversions) > 0
        });
        assert_eq!(converting, Some(first), "{percent}");
    }
}

/// In the background a gap converts until half of the area is free, so that a burst that fits there
/// waits for no conversion.
#[test]
fn idle_gaps_convert_what_the_next_writes_would_wait_for() {
    let burst = |preset: &str| {
        let pairs = [("lazyftl.uba_cba_blocks", "8")];
        let config = tiny("lazyftl", 200, &pairs);
        let mut device = open(preset, &config);
        let device = device.as_mut();
        write_all(device, &config, &(0..32).map(|n| n * 128 % 799).collect::<Vec<_>>());
        assert_eq!(events(device, Event::Conversions), 0);
        let arrival = device.idle_from() + 1_000_000_000;
        let end = Request { arrival, ..pages(&config, Op::Read, 0, 1) };
        device.submit(&end).expect("the device works");
        let in_gap = events(device, Event::Conversions);
        let operations = record(device, |device| {
            write_all(device, &config, &(400..416).collect::<Vec<_>>());
        });
        (in_gap, operations.len())
    };
    assert_eq!(burst("lazyftl:background"), (4, 16), "half of eight blocks; sixteen programs");
    let (in_gap, operations) = burst("lazyftl");
    assert!(in_gap == 0 && operations > 16, "{operations}");
    let mut config = tiny("lazyftl", 24, &[]);
    config.set("lazyftl.convert", "background").expect("legal by itself");
    let (row, _) = schemes::find("lazyftl").expect("in the table");
    let refused = (row.check)(&config).expect_err("nobody works in gaps").to_string();
    assert!(refused.contains("gc.mode"), "{refused}");
}

/// Trimmed pages wait in the UMT, a block's worth of them; then the GMT is told of all at once, a
/// program for each GMT page.
#[test]
fn trims_are_told_to_the_gmt_together() {
    let (config, mut device) = bench(&[("lazyftl.uba_cba_blocks", "2")]);
    let device = device.as_mut();
    fill(device, &config);
    let before = device.board().meter().programs(Cause::Translate);
    let told = |device: &dyn Device| device.board().meter().programs(Cause::Translate) - before;
    for lpn in [0, 1, 128] {
        submit(device, &config, Op::Trim, lpn);
        assert_eq!(told(device), 0);
        assert!(on_flash(device, lpn).is_some(), "the GMT still names {lpn}");
    }
    submit(device, &config, Op::Trim, 129);
    assert_eq!(told(device), 2, "GMT pages 0 and 1");
    assert!([0, 1, 128, 129].iter().all(|&lpn| on_flash(device, lpn).is_none()));
    device.audit().expect("map, flash and host agree");
}

/// A trimmed page is written again, and room is made for it by a collection that converts a block:
/// the GMT learns of the trim in the middle of the write, which goes on all the same.
#[test]
fn a_trim_may_be_told_in_the_middle_of_the_next_write() {
    let pairs = [("lazyftl.uba_cba_blocks", "2"), ("lazyftl.gmt_cache_pages", "1")];
    let config = tiny("lazyftl", 60, &pairs);
    let mut device = open("lazyftl", &config);
    let device = device.as_mut();
    device.verify_reads();
    fill(device, &config);
    let mut rng = Rng::new(4, Purpose::Workload);
    let logical = config.device.logical_pages() as u32;
    let mut middle = 0;
    for _ in 0..3000 {
        let page = rng.below(logical);
        submit(device, &config, Op::Trim, u64::from(page));
        // Another GMT page takes the one place in memory.
        submit(device, &config, Op::Read, u64::from((page + logical / 2) % logical));
        let waits = on_flash(device, u64::from(page)).is_some();
        let before = device.board().meter().programs(Cause::GcMapUpdate);
        submit(device, &config, Op::Write, u64::from(page));
        let told = device.board().meter().programs(Cause::GcMapUpdate) > before;
        middle += u32::from(waits && told && on_flash(device, u64::from(page)).is_none());
    }
    assert!(middle > 0, "{middle} trims were told while their page was written");
    device.audit().expect("map, flash and host agree");
}

/// Random writes with equal controller memory: LazyFTL writes a GMT page for many entries, DFTL a
/// translation page for one.
#[test]
fn random_writes_cost_fewer_map_writes_than_under_dftl() {
    let map_writes = |scheme: &str| {
        let pairs = [("device.ram_bytes", "2048"), ("gc.threshold", "4")];
        let mut config = tiny(scheme, 400, &pairs);
        if scheme == "dftl" {
            config.set("dftl.checkpoint_interval", "0").expect("legal");
        }
        let row = schemes::find(scheme).expect("in the table").0;
        let sram: u64 = (row.ram_use)(&config)
            .iter()
            .filter(|entry| entry.memory == schemes::Memory::Sram && entry.structure != "gtd")
            .map(|entry| entry.bytes)
            .sum();
        assert!(sram <= 2048, "{scheme} takes {sram} bytes");
        let mut device = open(scheme, &config);
        let device = device.as_mut();
        fill(device, &config);
        let meter = |device: &dyn Device| {
            let meter = device.board().meter();
            meter.programs(Cause::Translate) + meter.programs(Cause::GcMapUpdate)
        };
        let before = meter(device);
        let mut rng = Rng::new(2, Purpose::Workload);
        let logical = config.device.logical_pages() as u32;
        (0..4000).for_each(|_| {
            submit(device, &config, Op::Write, u64::from(rng.below(logical)));
        });
        meter(device) - before
    };
    let (lazy, dftl) = (map_writes("lazyftl"), map_writes("dftl"));
    assert!(lazy * 3 < dftl * 2, "LazyFTL {lazy}, DFTL {dftl}");
}

/// How large the area is by itself: 3 % of the logical blocks; no more than half of the blocks that
/// nobody else needs, so that a device with few of them keeps some for collection; no more than the
/// memory holds entries for.
#[test]
fn the_area_takes_three_percent_but_leaves_blocks_and_memory_to_others() {
    let (row, _) = schemes::find("lazyftl").expect("in the table");
    let sized = |blocks: u32, pairs: &[(&str, &str)]| {
        let mut config = tiny("lazyftl", 1000, pairs);
        config.device.blocks_per_plane = blocks;
        let used = (row.ram_use)(&config);
        let umt = used.iter().find(|entry| entry.structure == "umt").expect("named");
        (umt.bytes / 32, (row.minimum_blocks)(&config) as u32)
    };
    let least = sized(1300, &[("lazyftl.uba_cba_blocks", "2")]).1;
    let mut sizes = Vec::new();
    for blocks in least..least + 80 {
        let (area, needed) = sized(blocks, &[]);
        assert!(needed <= blocks, "{area} blocks need {needed} of {blocks}");
        sizes.push(area);
    }
    assert!(sizes.is_sorted());
    assert_eq!((sizes[0], sizes[40], sizes[79]), (2, 23, 30), "{sizes:?}");
    assert_eq!(
        sized(1300, &[("device.ram_bytes", "1024")]).0,
        11,
        "what 17 entries and a page leave"
    );
    assert_eq!(sized(1300, &[("lazyftl.uba_cba_blocks", "40")]).0, 40);
}
