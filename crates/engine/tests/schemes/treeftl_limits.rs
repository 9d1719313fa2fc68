//! What TreeFTL and Tree-PL hold at most, and how they end on a device that ends.

use crate::common::{config, flush, open, pages, record, submit, tiny, version};
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::board::nand::state::{OobRead, PageKind};
use ftlab_engine::config::Config;
use ftlab_engine::meter::{Cause, Event};
use ftlab_engine::request::{Op, Request};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes::{self, RamUse};
use ftlab_engine::ssd::Device;
use ftlab_engine::units::Tag;

/// Entries of a translation page.
const E: u64 = 512;

/// A device that cannot write any more, in the middle of a sequential request: its working page
/// stays as a translation page like any other, the audit passes, and what is on flash can be read.
#[test]
fn a_sequential_request_that_a_fault_ends_leaves_no_working_page() {
    for seed in 0..40 {
        let pairs = [
            ("wear.blocks_die", "true"),
            ("device.endurance_cycles", "8"),
            ("device.ram_bytes", "1KiB"),
            ("treeftl.seq_pages", "3"),
            ("treeftl.bypass_map", "flash"),
        ];
        let config = tiny("treeftl", 80, &pairs);
        let mut device = open("treeftl", &config);
        let device = device.as_mut();
        device.verify_reads();
        let mut rng = Rng::new(seed, Purpose::Workload);
        let write = |device: &mut dyn Device, first: u32| {
            device.submit(&pages(&config, Op::Write, u64::from(first), 8)).err()
        };
        while write(device, rng.below(312)).is_none() {}
        device.audit().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        for page in 0..320 {
            // A read that must make room may end like a write.
            let _ = device.submit(&pages(&config, Op::Read, page, 1));
        }
        for first in (0..320).step_by(8) {
            let _ = device.submit(&pages(&config, Op::Read, first, 8));
        }
        device.audit().unwrap_or_else(|error| panic!("seed {seed}, read: {error}"));
    }
}

/// Frames: what `--ram` says, never more than there are pages; else 64 MiB of 32 GiB, that share of
/// a smaller device, 32 KiB at least. LATTE takes 6 bytes per group beside them, or out of them.
#[test]
fn frames_share_the_memory() {
    let bytes = |pairs: &[(&str, &str)], structure: &str| {
        let config = config(pairs);
        let (row, _) = schemes::find("treeftl").expect("it is in the table");
        let structures = (row.ram_use)(&config);
        structures.iter().find(|known| known.structure == structure).map(|known| known.bytes)
    };
    let large = [("device.blocks_per_plane", "270336"), ("device.logical_bytes", "32GiB")];
    let with = |more: &[(&'static str, &'static str)]| [&large[..], more].concat();
    assert_eq!(bytes(&large, "frames"), Some(32_768 * 2048));
    assert_eq!(bytes(&large, "latte"), Some(6 * 32_768));
    assert_eq!(bytes(&large, "gtd"), Some(4 * 32_768));
    let small = with(&[("device.ram_bytes", "8MiB")]);
    assert_eq!(bytes(&small, "frames"), Some(8 << 20));
    assert_eq!(bytes(&small, "latte"), Some(6 * 4096));
    // 128 KiB of directory and 24 KiB of LATTE: 76 frames.
    let inside = with(&[("device.ram_bytes", "8MiB"), ("treeftl.gtd_in_budget", "true")]);
    assert_eq!(bytes(&inside, "frames"), Some((8 << 20) - 76 * 2048));
    // The time stamps of Tree-PL: 4 bytes a frame.
    let stamped = config(&inside);
    let (row, _) = schemes::find("treeftl_page_lru").expect("it is in the table");
    let structures = (row.ram_use)(&stamped);
    let own = |known: &&RamUse| ["frames", "time_stamps", "gtd"].contains(&known.structure);
    let all: u64 = structures.iter().filter(own).map(|known| known.bytes).sum();
    assert!((8 << 20) - 2052 < all && all <= 8 << 20, "{all} bytes of 8 MiB");
    assert_eq!(bytes(&[("device.logical_bytes", "256MiB")], "frames"), Some(512 << 10));
    assert_eq!(bytes(&[("device.logical_bytes", "8MiB")], "frames"), Some(32 << 10));
    let few = [("device.blocks_per_plane", "256"), ("device.ram_bytes", "1GiB")];
    let all = config(&few).device.logical_pages();
    assert_eq!(bytes(&few, "frames"), Some((all + all.div_ceil(E)) * 2048));
}

/// The links: 4 bytes a frame, and a bit for each entry of the translation pages that the frames
/// can hold, beside the frames whatever is in the budget. Over blocks 8 bytes a frame, and a bit
/// for each page of the logical blocks that a map page names.
#[test]
fn links_of_the_tree_are_listed() {
    let links = |scheme: &str, pairs: &[(&str, &str)]| {
        let small = [("device.logical_bytes", "64MiB"), ("device.ram_bytes", "64KiB")];
        let config = config(&[&small, pairs].concat());
        let (row, _) = schemes::find(scheme).expect("it is in the table");
        let structures = (row.ram_use)(&config);
        let links = structures.iter().find(|known| known.structure == "tree_links");
        links.map(|known| known.bytes)
    };
    // 32 frames; 64 translation pages, of which 32 can be cached.
    for scheme in ["treeftl", "treeftl_page_lru"] {
        assert_eq!(links(scheme, &[]), Some(32 * 4 + 32 * E / 8), "{scheme}");
    }
    // One map page for 512 logical blocks of 64 pages.
    assert_eq!(links("treeftl", &[("treeftl.map", "block")]), Some(32 * 8 + 64 * E / 8));
}

#[test]
fn a_buffer_in_front_is_refused() {
    for scheme in ["treeftl", "treeftl_page_lru"] {
        let config = config(&[("buffer.name", "lru")]);
        let (row, _) = schemes::find(scheme).expect("it is in the table");
        let refused = (row.check)(&config).expect_err("twice the same pages").to_string();
        assert!(refused.contains(scheme) && refused.contains("buffer.name = lru"), "{refused}");
    }
}

/// A device that cannot write any more, with two frames that both changed: every page can be read,
/// by random and by sequential requests, whatever would have to leave for its translation page. It
/// is read past the frames then.
#[test]
fn a_worn_out_device_with_two_frames_can_be_read() {
    let mut uncached = 0;
    for (scheme, map, blocks) in
        [("treeftl", "page", 80), ("treeftl_page_lru", "page", 80), ("treeftl", "block", 300)]
    {
        for (seed, bypass_map) in [(0, "cached"), (1, "flash"), (2, "cached"), (3, "flash")] {
            let pairs = [
                ("wear.blocks_die", "true"),
                ("device.endurance_cycles", "8"),
                ("device.ram_bytes", "1KiB"),
                ("treeftl.seq_pages", "3"),
                ("treeftl.bypass_map", bypass_map),
                ("treeftl.map", map),
            ];
            let config = tiny(scheme, blocks, &pairs);
            let mut device = open(scheme, &config);
            let device = device.as_mut();
            device.verify_reads();
            let mut rng = Rng::new(seed, Purpose::Workload);
            let all = 4 * blocks as u32;
            let mut write = |device: &mut dyn Device| {
                let page = u64::from(rng.below(all));
                device.submit(&pages(&config, Op::Write, page, 1)).err()
            };
            // A write that fails may leave what it made room for, and those behind it may not.
            let mut failed = 0;
            while failed < 20 {
                failed += u32::from(write(device).is_some());
            }
            let case = format!("{scheme}, {map}, seed {seed}");
            device.audit().unwrap_or_else(|error| panic!("{case}: {error}"));
            let reads = (0..u64::from(all)).map(|page| pages(&config, Op::Read, page, 1));
            let runs = (0..u64::from(all)).step_by(8).map(|page| pages(&config, Op::Read, page, 8));
            for request in reads.chain(runs) {
                device.submit(&request).unwrap_or_else(|fault| panic!("{case}: {fault}"));
            }
            device.audit().unwrap_or_else(|error| panic!("{case}, read: {error}"));
            uncached += u32::from(write(device).is_some());
        }
    }
    assert!(uncached > 6, "{uncached} devices could still write nothing");
}

/// A device that cannot write any more, with so many bytes of memory and changed pages there.
fn worn_out(scheme: &str, blocks: u64, pairs: &[(&str, &str)]) -> (Box<dyn Device>, Config) {
    let mortal = [("wear.blocks_die", "true"), ("device.endurance_cycles", "8")];
    let config = tiny(scheme, blocks, &[&mortal, pairs].concat());
    let mut device = open(scheme, &config);
    device.verify_reads();
    let mut rng = Rng::new(5, Purpose::Workload);
    let mut failed = 0;
    while failed < 20 {
        let page = u64::from(rng.below(4 * blocks as u32));
        let written = device.submit(&pages(&config, Op::Write, page, 1));
        failed += u32::from(written.is_err());
    }
    (device, config)
}

/// What finds no room in an idle gap is left undone: the reads behind the gaps are served.
#[test]
fn a_worn_out_device_with_work_in_gaps_can_be_read() {
    for (scheme, map, blocks) in
        [("treeftl", "page", 80), ("treeftl_page_lru", "page", 80), ("treeftl", "block", 300)]
    {
        let pairs = [
            ("treeftl.map", map),
            ("treeftl.idle_flush", "true"),
            ("gc.mode", if map == "page" { "both" } else { "foreground" }),
            ("device.ram_bytes", "4KiB"),
        ];
        let (mut device, config) = worn_out(scheme, blocks, &pairs);
        let case = format!("{scheme}, {map}");
        let held = device.audit().unwrap_or_else(|error| panic!("{case}: {error}")).ram_pages;
        assert!(held > 0, "{case}: nothing is left to write");
        for page in 0..4 * blocks {
            // A gap of 1000 s before each.
            let arrival = (page + 1) * 1_000_000_000_000;
            let read = Request { arrival, ..pages(&config, Op::Read, page, 1) };
            device.submit(&read).unwrap_or_else(|fault| panic!("{case}, {page}: {fault}"));
        }
        device.audit().unwrap_or_else(|error| panic!("{case}, read: {error}"));
    }
}

/// A translation page that cannot be written does not leave, and is not counted as one that left.
#[test]
fn what_stays_for_want_of_room_is_not_counted() {
    let counted = [Event::EvictDirty, Event::EvictClean, Event::MapPageFlushes];
    let mut refused = 0;
    for scheme in ["treeftl", "treeftl_page_lru"] {
        let (mut device, config) = worn_out(scheme, 80, &[("device.ram_bytes", "1KiB")]);
        for page in 0..320 {
            // What a write that fails made room for has left when it is repeated.
            let mut write = || {
                let failed = device.submit(&pages(&config, Op::Write, page, 1)).is_err();
                (failed, counted.map(|event| device.board().meter().events(event)))
            };
            let (_, before) = write();
            let (failed, after) = write();
            if failed {
                assert_eq!(before, after, "{scheme}, page {page}");
                refused += 1;
            }
        }
    }
    assert!(refused > 300, "{refused} writes were refused");
}

/// Data that a gap has begun to write is not durable before it is programmed: a flush was done when
/// it came. A translation page says what a scan would find as well: nobody waits for it.
#[test]
fn a_flush_waits_for_data_that_a_gap_has_begun_to_write() {
    for scheme in ["treeftl", "treeftl_page_lru"] {
        // The second comes when the data page is there and its translation page is being
        // programmed.
        for (flushed_at, programs) in [(50_000, 1), (350_000, 2)] {
            let pairs = [
                ("timing.profile", "parallel"),
                ("timing.program", "200us"),
                ("treeftl.idle_flush", "true"),
            ];
            let config = tiny(scheme, 80, &pairs);
            let mut device = open(scheme, &config);
            let device = device.as_mut();
            device.submit(&pages(&config, Op::Write, 3, 1)).expect("the device works");
            let flush = Request { arrival: flushed_at, ..pages(&config, Op::Flush, 0, 0) };
            let done = device.submit(&flush).expect("the device works").completed;
            let meter = device.board().meter();
            let begun = meter.programs(Cause::Host) + meter.programs(Cause::Translate);
            assert_eq!(begun, programs, "{scheme}: what gaps have begun");
            assert!(done >= 200_000, "{scheme}: durable at {done} ns");
            assert!(done < 400_000, "{scheme}: it waits for its map until {done} ns");
        }
    }
}

/// Nor does it wait for a translation page that leaves memory: that was so where one was evicted,
/// and otherwise where a gap wrote it.
#[test]
fn a_flush_waits_for_no_translation_page_that_leaves() {
    for scheme in ["treeftl", "treeftl_page_lru"] {
        let pairs = [
            ("timing.profile", "parallel"),
            ("timing.program", "200us"),
            ("device.ram_bytes", "1KiB"),
        ];
        let config = tiny(scheme, 80, &pairs);
        let mut device = open(scheme, &config);
        let device = device.as_mut();
        submit(device, &config, Op::Write, 3);
        flush(device);
        let written = |device: &dyn Device| device.board().meter().programs(Cause::Translate);
        let mut evicted_at = 0;
        for page in [200, 290, 130, 270] {
            if written(device) == 0 {
                evicted_at = device.idle_from();
                let read = Request { arrival: evicted_at, ..pages(&config, Op::Read, page, 1) };
                device.submit(&read).expect("the device works");
            }
        }
        assert_eq!(written(device), 1, "{scheme}: the changed translation page left");
        assert!(device.idle_from() >= evicted_at + 200_000, "{scheme}: it is being programmed");
        let request = Request { arrival: evicted_at + 1, ..pages(&config, Op::Flush, 0, 0) };
        let done = device.submit(&request).expect("the device works").completed;
        assert!(done < evicted_at + 200_000, "{scheme}: durable at {done} ns");
    }
}

/// The working page of a sequential request has no frame and takes none: what fills both frames
/// stays, and is met there.
#[test]
fn a_working_page_makes_nobody_leave() {
    let config = config(&[("treeftl.bypass_map", "flash"), ("device.ram_bytes", "4KiB")]);
    let mut device = open("treeftl", &config);
    let device = device.as_mut();
    submit(device, &config, Op::Write, 0);
    device.submit(&pages(&config, Op::Write, E, 33)).expect("the device works");
    let events = |device: &dyn Device, events: [Event; 4]| {
        events.map(|event| device.board().meter().events(event))
    };
    let left =
        [Event::BufferFlushes, Event::BufferCleanDrops, Event::EvictDirty, Event::EvictClean];
    assert_eq!(events(device, left), [0; 4]);
    submit(device, &config, Op::Write, 0);
    let met = [Event::MapLookups, Event::MapHits, Event::BufferLookups, Event::BufferHits];
    assert_eq!(events(device, met), [2, 1, 2, 1], "the second of two, of either kind");
}

/// What a gap programs that has time for one page; page 0 is read behind it.
fn gap(device: &mut dyn Device, config: &Config) -> Vec<(bool, u32)> {
    let read = Request { arrival: device.idle_from() + 1, ..pages(config, Op::Read, 0, 1) };
    let operations = record(device, |device| {
        device.submit(&read).expect("the device works");
    });
    let state = device.board().nand().state();
    let programmed = operations.iter().filter_map(|operation| match operation {
        Operation::Program(ppn, _) => match state.oob(*ppn) {
            OobRead::Written(oob) => Some((oob.kind == PageKind::Map, oob.logical)),
            other => panic!("page {ppn} holds {other:?}"),
        },
        _ => None,
    });
    programmed.collect()
}

/// One of two cached translation pages has changed: a gap writes that one, then nothing more,
/// whichever of them was cached first.
#[test]
fn a_gap_leaves_translation_pages_alone_that_have_not_changed() {
    for (first, second) in [(Op::Read, Op::Write), (Op::Write, Op::Read)] {
        let config = config(&[("treeftl.idle_flush", "true"), ("device.ram_bytes", "16KiB")]);
        let mut device = open("treeftl", &config);
        let device = device.as_mut();
        submit(device, &config, first, 0);
        submit(device, &config, second, E);
        let changed = if first == Op::Write { 0 } else { 1 };
        assert_eq!(gap(device, &config), [(false, changed * E as u32)]);
        assert_eq!(gap(device, &config), [(true, changed)]);
        assert_eq!(gap(device, &config), []);
    }
}

/// Gaps take changed translation pages in turn: one that changes again behind its turn waits for
/// the other.
#[test]
fn gaps_write_translation_pages_in_turn() {
    let config = config(&[("treeftl.idle_flush", "true"), ("device.ram_bytes", "16KiB")]);
    let mut device = open("treeftl", &config);
    let device = device.as_mut();
    [0, E].into_iter().for_each(|page| submit(device, &config, Op::Write, page));
    let data: Vec<_> = (0..2).flat_map(|_| gap(device, &config)).collect();
    assert_eq!(data, [(false, 0), (false, E as u32)]);
    let [(true, first)] = gap(device, &config)[..] else { panic!("a translation page") };
    submit(device, &config, Op::Write, u64::from(first) * E);
    assert_eq!(gap(device, &config), [(false, first * E as u32)], "data goes first");
    assert_eq!(gap(device, &config), [(true, 1 - first)]);
    assert_eq!(gap(device, &config), [(true, first)]);
}

/// Flash has lost page 40 or not, and memory holds it with two of its four sectors new. A sequential
/// request then writes so many sectors of it; whether the page is lost.
fn lost_behind_a_sequential_request(rule: &str, lost_before: bool, sectors: u32) -> bool {
    let pairs = [("treeftl.bypass_invalidate", rule), ("io.partial_write", "rmw")];
    let mut device = open("treeftl", &config(&pairs));
    let device = device.as_mut();
    let request = |op, first_sector, sectors| Request {
        arrival: 0,
        op,
        first_sector,
        sectors,
        unit: 0,
        stream: None,
        content: None,
    };
    let submit = |device: &mut dyn Device, op, first_sector, sectors| {
        device.submit(&request(op, first_sector, sectors)).expect("the device works").unreadable
    };
    let _ = submit(device, Op::Write, 0, 41 * 4);
    if lost_before {
        device.board_mut().nand_mut().faults_mut().fail_read_after(0);
        assert!(submit(device, Op::Read, 40 * 4, 4).is_some());
    }
    let _ = submit(device, Op::Write, 40 * 4 + 2, 2);
    let _ = submit(device, Op::Write, 0, 40 * 4 + sectors);
    let is_lost = version(device, 40) == Tag::UNREADABLE;
    assert_eq!(submit(device, Op::Read, 40 * 4, 4).is_some(), is_lost);
    is_lost
}

/// Errors have the size of a page: what a request leaves of one that is lost stays lost with all of
/// it, and with all of it written anew the page can be read.
#[test]
fn a_lost_page_is_lost_until_a_sequential_request_covers_it() {
    for rule in ["drop", "update"] {
        let lost = |before, sectors| lost_behind_a_sequential_request(rule, before, sectors);
        assert_eq!([lost(true, 2), lost(true, 4), lost(false, 2)], [true, false, false], "{rule}");
    }
}
