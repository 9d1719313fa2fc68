//! LeaFTL: what is learned of a flush, what a look-up costs, what a tolerance costs, how groups go
//! to flash and come back, as sequences of flash operations.

use crate::common::{fill, flush, mixed, open, place, record, submit, tiny};
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::board::nand::state::{OobRead, PageKind};
use ftlab_engine::config::Config;
use ftlab_engine::meter::{Cause, Event, Level};
use ftlab_engine::request::Op;
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes;
use ftlab_engine::ssd::Device;
use ftlab_engine::units::Ppn;

/// Blocks of 16 pages; the buffer takes one, the map as much memory as it needs.
const PAGES: (&str, &str) = ("device.pages_per_block", "16");
const BUFFER: (&str, &str) = ("leaftl.buffer_bytes", "8KiB");
const RAM: (&str, &str) = ("device.ram_bytes", "32KiB");

fn level(device: &dyn Device, level: Level) -> u64 {
    device.board().meter().level_now(level).expect("told")
}

fn event(device: &dyn Device, event: Event) -> u64 {
    device.board().meter().events(event)
}

/// The kinds of operations that a request took, with their causes.
fn steps(device: &mut dyn Device, config: &Config, op: Op, page: u64) -> Vec<(char, Cause)> {
    kinds(&record(device, |device| submit(device, config, op, page)))
}

fn kinds(operations: &[Operation]) -> Vec<(char, Cause)> {
    let kind = |operation: &Operation| match *operation {
        Operation::Read(_, cause) => ('r', cause),
        Operation::Program(_, cause) => ('p', cause),
        Operation::Erase(_, cause) => ('e', cause),
    };
    operations.iter().map(kind).collect()
}

/// Writes pages and has them flushed together.
fn write(device: &mut dyn Device, config: &Config, pages: impl IntoIterator<Item = u64>) {
    pages.into_iter().for_each(|page| submit(device, config, Op::Write, page));
    flush(device);
}

fn device(pairs: &[(&str, &str)]) -> (Config, Box<dyn Device>) {
    let config = tiny("leaftl", 24, &[&[PAGES, BUFFER, RAM][..], pairs].concat());
    let mut device = open("leaftl", &config);
    device.verify_reads();
    (config, device)
}

const HOST: (char, Cause) = ('r', Cause::Host);
const MAP: (char, Cause) = ('r', Cause::Translate);

/// `docs/papers/leaftl2023.md#worked-examples`: the host's order does not matter, that of the
/// numbers does; what was written together lies side by side.
#[test]
fn a_flush_is_written_upwards_and_learned_as_one_segment() {
    let (config, mut device) = device(&[]);
    let device = device.as_mut();
    let written = record(device, |device| write(device, &config, [6, 2, 7, 3, 0, 5, 1, 4]));
    assert_eq!(kinds(&written), vec![('p', Cause::Host); 8]);
    for page in 0..8 {
        assert_eq!(place(device, page), Ppn(place(device, 0).0 + page));
    }
    assert_eq!(
        (level(device, Level::LearnedSegments), event(device, Event::LearnedAccurate)),
        (1, 1)
    );
    // Eight bytes, a level, and the group.
    assert_eq!(level(device, Level::LearnedMapBytes), 8 + 1 + 4);
    assert_eq!(steps(device, &config, Op::Read, 5), [HOST]);
    // A page by itself is a segment as well; what is in the buffer is read there.
    submit(device, &config, Op::Write, 20);
    assert_eq!(steps(device, &config, Op::Read, 20), []);
    flush(device);
    assert_eq!((level(device, Level::LearnedSegments), event(device, Event::LearnedLone)), (2, 1));
}

/// The same: a look-up goes through the levels, and compaction leaves one.
#[test]
fn a_look_up_goes_down_the_levels_until_compaction_lifts_them() {
    let (config, mut device) = device(&[("leaftl.compact_every", "14")]);
    let device = device.as_mut();
    let levels = |device: &mut dyn Device, page| {
        let before = event(device, Event::SegmentLevels);
        assert_eq!(steps(device, &config, Op::Read, page), [HOST]);
        event(device, Event::SegmentLevels) - before
    };
    write(device, &config, 0..8);
    write(device, &config, 2..4);
    assert_eq!((levels(device, 2), levels(device, 5)), (1, 2));
    write(device, &config, 0..2);
    assert_eq!((levels(device, 0), levels(device, 3), levels(device, 7)), (1, 1, 2));
    // Fourteen pages are written: {0,1}, {2,3} and what is left of the first segment, {4..7}.
    write(device, &config, 0..2);
    assert_eq!(event(device, Event::GroupCompactions), 1);
    assert_eq!((levels(device, 1), levels(device, 3), levels(device, 7)), (1, 1, 1));
    assert_eq!(level(device, Level::LearnedSegments), 3);
    device.audit().expect("the device is sound");
}

/// The same: with gamma = 4 two runs are one segment, and a page that it says wrongly is two reads;
/// to write over it, the page that it says is read as well. Without tolerance nothing is read
/// twice.
#[test]
fn a_wrong_prediction_is_a_second_read() {
    let runs = [0, 1, 2, 3, 8, 9, 10, 11];
    let (config, mut near) = device(&[("leaftl.gamma", "4")]);
    let near = near.as_mut();
    write(near, &config, runs);
    assert_eq!(
        (event(near, Event::LearnedApproximate), level(near, Level::LearnedSegments)),
        (1, 1)
    );
    // Eight pages listed, and their end.
    assert_eq!(level(near, Level::ConflictBufferBytes), 9);
    for (page, reads) in runs.into_iter().zip([1, 1, 2, 2, 2, 2, 1, 1]) {
        assert_eq!(steps(near, &config, Op::Read, page), vec![HOST; reads], "page {page}");
    }
    let counted = (event(near, Event::ApproximateReads), event(near, Event::Mispredictions));
    assert_eq!(counted, (8, 4));
    assert!(steps(near, &config, Op::Read, 5).len() <= 1, "not one of its pages");
    submit(near, &config, Op::Write, 10);
    assert_eq!(kinds(&record(near, flush)), [('p', Cause::Host)]);
    // A read of cells alone, which the record leaves out.
    assert_eq!(event(near, Event::PredictionChecks), 1);
    assert_eq!(near.board().meter().reads(Cause::Translate), 1);
    assert_eq!(steps(near, &config, Op::Read, 10), [HOST], "a page by itself is exact");

    let (config, mut exact) = device(&[("leaftl.gamma", "0")]);
    let exact = exact.as_mut();
    write(exact, &config, runs);
    assert_eq!(level(exact, Level::LearnedSegments), 2);
    assert!(runs.into_iter().all(|page| steps(exact, &config, Op::Read, page) == [HOST]));
    submit(exact, &config, Op::Write, 10);
    assert_eq!(kinds(&record(exact, flush)), [('p', Cause::Host)]);
}

/// Written in sequence, a block's worth at a time, a group is one segment.
#[test]
fn a_sequential_fill_takes_eight_bytes_a_group() {
    let pairs = [
        ("device.pages_per_block", "64"),
        ("device.page_bytes", "512"),
        ("device.ram_bytes", "1MiB"),
        ("leaftl.buffer_bytes", "32KiB"),
    ];
    let config = tiny("leaftl", 8, &pairs);
    let mut device = open("leaftl", &config);
    fill(device.as_mut(), &config);
    flush(device.as_mut());
    let device = device.as_mut();
    assert_eq!(level(device, Level::LearnedSegments), 8, "groups of 64 pages");
    assert_eq!(level(device, Level::LearnedMapBytes), 8 * (8 + 1 + 4));
}

/// Groups of 16 pages, of which memory holds one with many segments, or some with few.
const SMALL: [(&str, &str); 2] = [("leaftl.group_pages", "16"), ("leaftl.map_bytes", "1B")];

/// `docs/papers/leaftl2023.md#caching`: a group that is not in memory is read with its map page;
/// one that leaves and has changed is written, with what else changed of its map page.
#[test]
fn groups_come_from_flash_and_go_there() {
    let (config, mut device) = device(&SMALL);
    let device = device.as_mut();
    // 384 pages are 24 groups, of which 212 bytes hold sixteen of one segment (13 bytes each).
    fill(device, &config);
    flush(device);
    assert!(level(device, Level::LearnedMapBytes) <= 212);
    let evictions = event(device, Event::EvictDirty) + event(device, Event::EvictClean);
    assert_eq!(evictions, 24 - 16);
    assert_eq!(steps(device, &config, Op::Read, 383), [HOST], "its group was used last");
    let absent = steps(device, &config, Op::Read, 3);
    assert_eq!(absent[..2], [MAP, HOST], "the first group had left");
    assert_eq!(steps(device, &config, Op::Read, 4), [HOST], "and is there again");
    // Random writes: groups have many segments, and few of them are in memory.
    let mut rng = Rng::new(8, Purpose::Workload);
    for _ in 0..3000 {
        submit(device, &config, Op::Write, u64::from(rng.below(384)));
    }
    device.audit().expect("the device is sound");
    let meter = device.board().meter();
    assert!(meter.programs(Cause::Translate) > 100 && meter.erases_by_cause(Cause::GcMapBlock) > 0);
    (0..384).for_each(|page| submit(device, &config, Op::Read, page));
    assert_eq!(event(device, Event::Mispredictions), 0);
}

/// A collection notes where pages went as newer levels: from the first page that it moves to the
/// erase of its victim no map page is read or written.
#[test]
fn collection_reads_no_map() {
    let (config, mut device) = device(&SMALL);
    let device = device.as_mut();
    fill(device, &config);
    let mut rng = Rng::new(9, Purpose::Workload);
    let (mut collections, mut map) = (0, 0);
    for _ in 0..2000 {
        let page = u64::from(rng.below(384));
        let done = steps(device, &config, Op::Write, page);
        let is_map =
            |step: &&(char, Cause)| [Cause::Translate, Cause::GcMapUpdate].contains(&step.1);
        map += done.iter().filter(is_map).count();
        let mut victims =
            done.split_inclusive(|step| *step == ('e', Cause::Gc)).collect::<Vec<_>>();
        victims.retain(|part| part.ends_with(&[('e', Cause::Gc)]));
        for part in victims {
            let first = part.iter().position(|step| *step == ('r', Cause::Gc));
            let Some(first) = first else { continue };
            collections += 1;
            assert_eq!(part[first..].iter().find(is_map), None, "{part:?}");
        }
    }
    assert!(collections > 100 && map > 100, "{collections} with {map} operations of the map");
    device.audit().expect("the device is sound");
}

/// Map pages that only collection has changed are written for its sake: where the host writes to
/// the groups of one map page alone, no other is booked as translation.
#[test]
fn what_collection_alone_changed_is_its_map_update() {
    let (config, mut device) = device(&[&SMALL[..], &[("gc.victim", "fifo")]].concat());
    let device = device.as_mut();
    // Every flush has pages of the five groups of the first map page, and others.
    let mixed = (0..80).flat_map(|page| [page, 80 + 3 * page, 81 + 3 * page, 82 + 3 * page]);
    write(device, &config, mixed.chain(320..384));
    device.clean_caches().expect("the device works");
    let (mut updates, mut translations) = (0, 0);
    let mut rng = Rng::new(9, Purpose::Workload);
    for _ in 0..2000 {
        let page = u64::from(rng.below(80));
        let done = record(device, |device| submit(device, &config, Op::Write, page));
        for operation in done {
            let Operation::Program(page, cause) = operation else { continue };
            let OobRead::Written(oob) = device.board().nand().state().oob(page) else { continue };
            if oob.kind != PageKind::Map || cause == Cause::GcMapBlock {
                continue;
            }
            let is_host = cause == Cause::Translate;
            assert!(!is_host || oob.logical == 0, "map page {}: {cause:?}", oob.logical);
            updates += u32::from(oob.logical > 0);
            translations += u32::from(is_host);
        }
    }
    assert!(updates > 50 && translations > 50, "{updates} updates, {translations} translations");
    device.audit().expect("the device is sound");
}

/// Of a block that holds two flushes, the later one of lower pages, a collection makes one run
/// where it sorts, and leaves two where it does not.
#[test]
fn a_victim_is_written_in_the_order_of_its_numbers() {
    for (sorts, runs) in [("true", 1), ("false", 2)] {
        let (config, mut device) = device(&[
            ("leaftl.buffer_bytes", "4KiB"),
            ("leaftl.gc_sorts", sorts),
            ("gc.victim", "fifo"),
            ("gc.separate_frontiers", "true"),
        ]);
        let device = device.as_mut();
        (8..16)
            .chain(0..8)
            .chain(16..384)
            .for_each(|page| submit(device, &config, Op::Write, page));
        write(device, &config, [15]);
        let before = place(device, 0);
        let mut hot = (300..380).cycle();
        for _ in 0..2000 {
            if place(device, 0) != before {
                break;
            }
            write(device, &config, [hot.next().expect("a cycle")]);
        }
        let moved: Vec<u32> = (0..15).map(|page| place(device, page).0).collect();
        let breaks = moved.windows(2).filter(|pair| pair[0] + 1 != pair[1]).count();
        assert_eq!(1 + breaks, runs, "sorted: {sorts}: {moved:?}");
        device.audit().expect("the device is sound");
    }
}

/// A trimmed page is nowhere, whatever segments say of it, until it is written again; trims go to
/// flash with their group.
#[test]
fn a_trimmed_page_is_a_hole() {
    for pairs in [&[("leaftl.gamma", "4")][..], &SMALL] {
        let (config, mut device) = device(pairs);
        let device = device.as_mut();
        write(device, &config, 0..16);
        submit(device, &config, Op::Trim, 7);
        assert!(!steps(device, &config, Op::Read, 7).contains(&HOST));
        assert_eq!(event(device, Event::UnwrittenReads), 1);
        write(device, &config, (16..384).rev());
        assert_eq!(event(device, Event::UnwrittenReads), 1);
        assert!(!steps(device, &config, Op::Read, 7).contains(&HOST));
        device.power_cycle().expect("it recovers");
        assert!(!steps(device, &config, Op::Read, 7).contains(&HOST));
        write(device, &config, [7]);
        assert!(steps(device, &config, Op::Read, 7).contains(&HOST));
        device.audit().expect("the device is sound");
    }
}

/// What a power cut takes away is what was not flushed; what is learned again is exact.
#[test]
fn after_a_power_cut_nothing_is_said_wrongly() {
    let far = [("leaftl.gamma", "16"), ("device.oob_bytes", "132")];
    let (config, mut device) = device(&far);
    let device = device.as_mut();
    for request in mixed(&config, 900, 4) {
        device.submit(&request).expect("the device works");
    }
    flush(device);
    assert!(event(device, Event::LearnedApproximate) > 0);
    device.power_cycle().expect("it recovers");
    let before = event(device, Event::Mispredictions);
    (0..384).for_each(|page| submit(device, &config, Op::Read, page));
    assert_eq!(event(device, Event::Mispredictions), before);
}

/// A full buffer whose fullest groups leave keeps the others.
#[test]
fn the_fullest_groups_leave_first() {
    let pairs =
        [("leaftl.group_pages", "16"), ("leaftl.flush", "fullest"), ("leaftl.drain", "at_once")];
    let (config, mut device) = device(&pairs);
    let device = device.as_mut();
    // Ten pages of the second group, four of the first, two of the third: 14 of 16 may leave.
    (20..30).chain(0..4).chain(40..42).for_each(|page| submit(device, &config, Op::Write, page));
    let done = steps(device, &config, Op::Write, 100);
    assert_eq!(done.iter().filter(|step| step.0 == 'p').count(), 14);
    for (page, programs) in [(41, 0), (3, 1), (29, 1)] {
        assert_eq!(steps(device, &config, Op::Read, page).len(), programs, "page {page}");
    }
    assert_eq!(level(device, Level::BufferedPages), 3);
}

/// A group with more pages than may leave gives as many as may, the lowest; nobody else's go
/// instead, and none stays for good.
#[test]
fn a_group_fuller_than_what_may_leave_is_cut() {
    // Share, pages of the fuller group and of the first, pages that leave, reads of some pages.
    type Case = (&'static str, [u64; 2], u64, [(u64, usize); 3]);
    let cases: [Case; 2] = [
        // 14 of the second group's 15; its last and the first group's only page stay.
        ("0.875", [15, 1], 14, [(29, 1), (30, 0), (0, 0)]),
        // 6 of the second group's 9, and not of the first group's 7, which have lower numbers.
        ("0.375", [9, 7], 6, [(21, 1), (22, 0), (0, 0)]),
    ];
    for (share, [many, few], leave, places) in cases {
        let pairs = [
            ("leaftl.group_pages", "16"),
            ("leaftl.flush", "fullest"),
            ("leaftl.flush_share", share),
            ("leaftl.drain", "at_once"),
        ];
        let (config, mut device) = device(&pairs);
        let device = device.as_mut();
        (0..few).chain(16..16 + many).for_each(|page| submit(device, &config, Op::Write, page));
        let done = steps(device, &config, Op::Write, 100);
        assert_eq!(done.iter().filter(|step| step.0 == 'p').count() as u64, leave, "{share}");
        for (page, reads) in places {
            assert_eq!(steps(device, &config, Op::Read, page).len(), reads, "page {page}");
        }
    }
}

/// Settings that exclude each other say so.
#[test]
fn what_does_not_fit_is_refused() {
    let refused = |pairs: &[(&str, &str)]| {
        let config = tiny("leaftl", 24, pairs);
        let (row, _) = schemes::find("leaftl").expect("in the table");
        (row.check)(&config).expect_err("refused").to_string()
    };
    // A page's own number and those of gamma pages on either side, 4 bytes each.
    let oob = refused(&[("leaftl.gamma", "16"), ("device.oob_bytes", "128")]);
    assert!(oob.contains("device.oob_bytes = 128") && oob.contains("132"), "{oob}");
    for (gamma, bytes) in [("16", "132"), ("15", "124"), ("4", "36"), ("0", "0")] {
        let room = ("device.oob_bytes", bytes);
        let config = tiny("leaftl", 24, &[("leaftl.gamma", gamma), room]);
        let (row, _) = schemes::find("leaftl").expect("in the table");
        (row.check)(&config).unwrap_or_else(|error| panic!("{gamma}: {error}"));
    }
    let ram = refused(&[("leaftl.map_bytes", "5KiB")]);
    assert!(ram.contains("device.ram_bytes"), "{ram}");
}
