//! Adaptive partitioning rule by rule: what enters and leaves the two partitions, what the ghost
//! lists see, and where the next step of RAM goes.

use crate::common::{mixed, pages, record, submit, tiny};
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::config::Config;
use ftlab_engine::meter::{Cause, Event, Level};
use ftlab_engine::request::{Op, Request};
use ftlab_engine::schemes::aps::Aps;
use ftlab_engine::schemes::open as open_as;
use ftlab_engine::schemes::{self, Location};
use ftlab_engine::ssd::{Device, Ssd};
use ftlab_engine::units::Lpn;

/// Two pages of 512 bytes and 16 entries of 64: halves of 2048 bytes, and ghost lists of eight
/// entries and one page (36 bytes).
const HALVES: [(&str, &str); 2] = [("device.ram_bytes", "2084"), ("aps.entry_bytes", "64")];
const FLUSH: Request = Request {
    arrival: 0,
    op: Op::Flush,
    first_sector: 0,
    sectors: 0,
    unit: 0,
    stream: None,
    content: None,
};

fn device(pairs: &[(&str, &str)]) -> (Ssd<Aps>, Config) {
    let config = tiny("aps", 60, &[&HALVES[..], pairs].concat());
    let mut device = open_as::<Aps>(&config, 1).expect("legal settings");
    device.verify_reads();
    (device, config)
}

fn events<const N: usize>(device: &dyn Device, events: [Event; N]) -> [u64; N] {
    events.map(|event| device.board().meter().events(event))
}

fn bytes(device: &Ssd<Aps>) -> (u64, u64) {
    let partitions = device.scheme().partitions();
    (partitions.map_bytes(), partitions.data_bytes())
}

/// Programs of a record, by cause.
fn programs(operations: &[Operation]) -> Vec<Cause> {
    let program = |operation: &Operation| match *operation {
        Operation::Program(_, cause) => Some(cause),
        _ => None,
    };
    operations.iter().filter_map(program).collect()
}

/// Writes 0 and 1 stay in memory; 2 needs the place of 0, which was used longest ago. Reading 1
/// makes it younger than 2, so that reading 0 from flash, which enters the buffer, makes 2 leave.
#[test]
fn pages_enter_by_writes_and_reads_and_leave_by_age() {
    let (mut device, config) = device(&[("aps.lookup", "on_demand")]);
    let device = &mut device;
    let nothing = record(device, |device| {
        submit(device, &config, Op::Write, 0);
        submit(device, &config, Op::Write, 1);
    });
    assert_eq!(nothing, []);
    let third = record(device, |device| submit(device, &config, Op::Write, 2));
    assert_eq!(programs(&third), [Cause::Host]);
    let Location::Flash(place) = device.locate(Lpn(0)) else { panic!("page 0 left") };
    assert_eq!(record(device, |device| submit(device, &config, Op::Read, 1)), []);
    let read = record(device, |device| submit(device, &config, Op::Read, 0));
    assert_eq!(read.first(), Some(&Operation::Read(place, Cause::Host)));
    assert_eq!(programs(&read), [Cause::Host]);
    assert!(matches!(device.locate(Lpn(2)), Location::Flash(_)));
    assert!(matches!(device.locate(Lpn(1)), Location::Ram(_)));
    // Page 0 is here and on flash: it needs no second program when it leaves.
    assert_eq!(record(device, |device| submit(device, &config, Op::Read, 0)), []);
    submit(device, &config, Op::Write, 1);
    let clean = record(device, |device| submit(device, &config, Op::Write, 3));
    assert_eq!(programs(&clean), []);
    assert_eq!(events(device, [Event::BufferCleanDrops, Event::BufferFlushes]), [1, 2]);
}

/// With `aps.cache_reads = false` a page that was read is read again.
#[test]
fn reads_stay_outside_where_they_are_not_cached() {
    let (mut device, config) = device(&[("aps.cache_reads", "false")]);
    (0..3).for_each(|page| submit(&mut device, &config, Op::Write, page));
    let Location::Flash(place) = device.locate(Lpn(0)) else { panic!("page 0 left") };
    for _ in 0..2 {
        let read = record(&mut device, |device| submit(device, &config, Op::Read, 0));
        assert_eq!(read, [Operation::Read(place, Cause::Host)]);
    }
    // It stays a ghost: a larger buffer would have kept it.
    assert_eq!(events(&device, [Event::GhostReadHits, Event::GhostWriteHits]), [2, 0]);
}

/// Half of a page that is on flash is written: the page is loaded at once, or when it leaves.
#[test]
fn a_partial_write_loads_its_page_now_or_later() {
    for (rmw, early, late) in [("true", 1, 0), ("false", 0, 1)] {
        let pairs = [
            ("aps.rmw", rmw),
            ("io.partial_write", "rmw"),
            ("device.page_bytes", "1024"),
            ("device.ram_bytes", "4200"),
        ];
        let (mut device, config) = device(&pairs);
        let device = &mut device;
        submit(device, &config, Op::Write, 0);
        device.submit(&FLUSH).expect("it works");
        (1..3).for_each(|page| submit(device, &config, Op::Write, page));
        let half = Request { sectors: 1, ..pages(&config, Op::Write, 0, 1) };
        let loads = |operations: &[Operation]| {
            let load = |operation: &&Operation| {
                matches!(operation, Operation::Read(_, Cause::ReadModifyWrite))
            };
            operations.iter().filter(load).count()
        };
        let written = record(device, |device| {
            device.submit(&half).expect("it works");
        });
        assert_eq!(loads(&written), early, "rmw = {rmw}");
        let flushed = record(device, |device| {
            device.submit(&FLUSH).expect("it works");
        });
        assert_eq!(loads(&flushed), late, "rmw = {rmw}");
        submit(device, &config, Op::Read, 0);
        device.audit().expect("sound");
    }
}

/// With the map first a buffer hit is a look-up too; on demand only flash needs one.
#[test]
fn the_map_is_looked_up_for_every_page_or_where_flash_is_touched() {
    for (lookup, expected) in [("first", 3), ("on_demand", 0)] {
        let (mut device, config) = device(&[("aps.lookup", lookup)]);
        submit(&mut device, &config, Op::Write, 0);
        submit(&mut device, &config, Op::Write, 0);
        submit(&mut device, &config, Op::Read, 0);
        let [lookups, asked, hits] =
            events(&device, [Event::MapLookups, Event::BufferLookups, Event::BufferHits]);
        assert_eq!((lookups, asked, hits), (expected, 3, 2), "{lookup}");
    }
}

/// Three pages rewritten in turn in a buffer of two: each was the last to leave. After an interval
/// the buffer has a page more and keeps them all; the map gave up half of its entries.
#[test]
fn ghost_hits_of_data_make_the_buffer_grow() {
    let (mut device, config) = device(&[("aps.interval", "10")]);
    let device = &mut device;
    assert_eq!(bytes(device), (1024, 1024));
    for turn in 0..9 {
        submit(device, &config, Op::Write, turn % 3);
    }
    let [reads, writes, map] =
        events(device, [Event::GhostReadHits, Event::GhostWriteHits, Event::GhostMapHits]);
    assert_eq!((reads, writes, map), (0, 6, 0), "all but the first three");
    submit(device, &config, Op::Write, 0);
    assert_eq!(bytes(device), (512, 1536));
    assert_eq!(device.board().meter().level_now(Level::DataPartitionBytes), Some(1536));
    let kept = record(device, |device| {
        (10..19).for_each(|turn| submit(device, &config, Op::Write, turn % 3));
    });
    assert_eq!(programs(&kept), [], "three pages in three frames");
    assert_eq!(events(device, [Event::Repartitions]), [1]);
}

/// Pages that were never written are looked up and not buffered: 20 of them in turn miss a map of
/// 16 entries, and find it among the eight that left last.
#[test]
fn ghost_hits_of_the_map_make_it_grow_and_pages_leave_at_once() {
    let pairs = [("aps.interval", "60"), ("device.ram_bytes", "6180"), ("aps.min_share", "0")];
    let (mut device, config) = device(&pairs);
    let device = &mut device;
    let (map, data) = bytes(device);
    assert_eq!((map, data), (3072, 3072));
    (100..106).for_each(|page| submit(device, &config, Op::Write, page));
    for turn in 0..53 {
        submit(device, &config, Op::Read, turn % 53);
    }
    // 48 entries hold the last 48 of 59; the first that are read again left among the last eight.
    let last = record(device, |device| submit(device, &config, Op::Read, 3));
    assert_eq!(bytes(device), (map, data), "no ghost was hit in this interval");
    assert!(programs(&last).is_empty());
    for turn in 4..63 {
        submit(device, &config, Op::Read, turn % 53);
    }
    let [hits] = events(device, [Event::GhostMapHits]);
    assert!(hits > 40, "{hits} misses of entries that had just left");
    let (before, buffered) = (bytes(device), device.audit().expect("sound").ram_pages);
    let last = record(device, |device| submit(device, &config, Op::Read, 10));
    assert_eq!(bytes(device), (before.0 + 512, before.1 - 512));
    assert_eq!(device.audit().expect("sound").ram_pages, buffered - 1);
    assert_eq!(programs(&last).iter().filter(|&&cause| cause == Cause::Host).count(), 1);
}

/// Fewer misses than places: nothing is ever evicted, no ghost is hit, no byte moves.
#[test]
fn without_ghost_hits_nothing_moves() {
    let (mut device, config) = device(&[("aps.interval", "5")]);
    for turn in 0..200 {
        submit(&mut device, &config, Op::Write, turn % 2);
    }
    assert_eq!(bytes(&device), (1024, 1024));
    assert_eq!(events(&device, [Event::Repartitions]), [0]);
}

/// A ghost list of two steps remembers two pages that left, one of one step only the last.
#[test]
fn ghost_lists_are_as_long_as_so_many_steps() {
    for (steps, expected) in [("1", 0), ("2", 1)] {
        let (mut device, config) = device(&[("aps.ghost", steps), ("device.ram_bytes", "2120")]);
        // Pages 0 and 1 leave, in this order.
        (0..4).for_each(|page| submit(&mut device, &config, Op::Write, page));
        submit(&mut device, &config, Op::Write, 0);
        assert_eq!(events(&device, [Event::GhostWriteHits]), [expected], "{steps} steps");
    }
}

/// A flush programs every dirty page once; the pages stay and are read from memory.
#[test]
fn a_flush_writes_and_keeps() {
    let (mut device, config) = device(&[]);
    let device = &mut device;
    (0..2).for_each(|page| submit(device, &config, Op::Write, page));
    let flush = |device: &mut dyn Device| {
        record(device, |device| {
            device.submit(&FLUSH).expect("it works");
        })
    };
    assert_eq!(programs(&flush(device)), [Cause::Host, Cause::Host]);
    assert_eq!(flush(device), []);
    assert_eq!(record(device, |device| submit(device, &config, Op::Read, 1)), []);
}

/// The dirty entries of a translation page leave with the first of them, or one by one.
#[test]
fn batched_evictions_save_map_writes() {
    let map_writes = |batch| {
        let (mut device, config) = device(&[("aps.batch_evict", batch)]);
        for turn in 0..300 {
            submit(&mut device, &config, Op::Write, turn * 7 % 120);
        }
        let [along] = events(&device, [Event::BatchedEvictions]);
        (device.board().meter().programs(Cause::Translate), along)
    };
    let (alone, none) = map_writes("false");
    let (batched, along) = map_writes("true");
    assert!(none == 0 && along > 50 && batched * 2 < alone, "{batched} of {alone}, {along} along");
}

/// Eight changed entries lose their place at once. Those of one map page are written with one read
/// and one program; the entries that stay are not, and leave one by one later.
#[test]
fn an_adjustment_writes_each_map_page_once() {
    // Map pages hold 128 entries: pages 3 to 15, or every second one in the next map page.
    for map_pages in [1, 2] {
        let (mut device, config) = device(&[("aps.interval", "26")]);
        let device = &mut device;
        for number in 0..13 {
            submit(device, &config, Op::Write, 3 + number + 128 * (number % map_pages));
        }
        for turn in 0..12 {
            submit(device, &config, Op::Write, turn % 3);
        }
        assert_eq!(device.board().meter().programs(Cause::Translate), 0, "16 entries fit");
        submit(device, &config, Op::Write, 0);
        assert_eq!(bytes(device), (512, 1536), "eight entries fewer");
        assert_eq!(device.board().meter().programs(Cause::Translate), map_pages);
        let evictions = [Event::EvictDirty, Event::EvictClean, Event::BatchedEvictions];
        assert_eq!(events(device, evictions), [map_pages, 8 - map_pages, 8 - map_pages]);
        let next = record(device, |device| submit(device, &config, Op::Read, 100));
        assert_eq!(programs(&next), [Cause::Translate], "the oldest of those that stayed");
        device.audit().expect("sound");
    }
}

/// What an adjustment pushes out is no eviction of the interval behind it: eight dirty entries
/// leave so, then only clean ones. A miss of the map then costs a read, as one of data does.
#[test]
fn what_an_adjustment_pushes_out_decides_nothing() {
    // Nine map pages of 128 entries.
    let pairs = [("aps.interval", "50"), ("timing.read", "1us"), ("timing.program", "1ms")];
    let config = tiny("aps", 300, &[&HALVES[..], &pairs].concat());
    let mut device = open_as::<Aps>(&config, 1).expect("legal settings");
    device.verify_reads();
    let device = &mut device;
    // Pages 0 to 2 are on flash, and their entries and those of eight others have left memory.
    (0..3).for_each(|page| submit(device, &config, Op::Write, page));
    device.submit(&FLUSH).expect("it works");
    (10..34).for_each(|page| submit(device, &config, Op::Read, page));
    // Eight entries of eight map pages change, as 0, 1 and 2 in turn take the two places.
    (1..9).for_each(|part| submit(device, &config, Op::Write, 128 * part));
    (0..9).for_each(|turn| submit(device, &config, Op::Read, turn % 3));
    (40..45).for_each(|page| submit(device, &config, Op::Read, page));
    let before = events(device, [Event::EvictDirty, Event::EvictClean]);
    submit(device, &config, Op::Read, 0);
    assert_eq!(bytes(device), (512, 1536), "data was the better half");
    let after = events(device, [Event::EvictDirty, Event::EvictClean]);
    assert_eq!(after, [before[0] + 8, before[1]], "dirty entries of eight map pages");
    // One of the eight is looked up again; four pages in turn miss in three places.
    let hits = [Event::GhostMapHits, Event::GhostReadHits];
    let first = events(device, hits);
    submit(device, &config, Op::Read, 8 * 128);
    let turns = [0, 1, 2, 8 * 128];
    (0..9).for_each(|turn| submit(device, &config, Op::Read, turns[turn % 4]));
    (0..40).for_each(|_| submit(device, &config, Op::Read, 0));
    let [map, data] = events(device, hits);
    let saved = (map - first[0], data - first[1]);
    assert!(saved.0 > 0 && saved.1 > saved.0, "hits of map and data: {saved:?}");
    assert_eq!(events(device, [Event::EvictDirty]), [after[0]], "only clean entries left");
    assert_eq!(bytes(device).0.max(512), 512, "the map gets nothing back");
}

/// Whatever happens, both partitions and the ghost lists are the RAM that there is, a move is a
/// step or what is left to the least share, and that is kept.
#[test]
fn partitions_move_by_steps_and_ghost_lists_are_paid_for() {
    let mut moves = 0;
    // 409 bytes are less than a page, which is the least step; 2457 bytes: 38 entries and 4 pages.
    for (share, step, ghosts) in [("0.05", 512, 4 * (8 + 1)), ("0.3", 2457, 4 * (38 + 4))] {
        let pairs = [("aps.interval", "7"), ("aps.step", share), ("device.ram_bytes", "8KiB")];
        let (mut device, config) = device(&pairs);
        let mut before = bytes(&device);
        for (number, request) in mixed(&config, 3000, 5).iter().enumerate() {
            device.submit(request).expect("it works");
            let (map, data) = bytes(&device);
            assert_eq!(map + data + ghosts, 8192, "request {number}");
            assert!(map >= 128 && data >= 1024, "request {number}: {map} and {data}");
            let moved = map.abs_diff(before.0);
            let ends = map == 128 || data == 1024;
            assert!(moved == 0 || moved == step || (moved < step && ends), "{number}: {moved}");
            before = (map, data);
            if number % 50 == 0 {
                device.audit().expect("entries and pages fit");
            }
        }
        moves += events(&device, [Event::Repartitions])[0];
    }
    assert!(moves > 20, "{moves} moves");
}

#[test]
fn what_does_not_fit_is_refused() {
    let (row, _) = schemes::find("aps").expect("in the table");
    let refused = |pairs: &[(&str, &str)]| {
        let config = tiny("aps", 24, pairs);
        (row.check)(&config).expect_err("not legal").to_string()
    };
    let text = refused(&[("device.ram_bytes", "1500")]);
    assert!(text.contains("aps.min_share"), "{text}");
    let text = refused(&[("buffer.name", "lru"), ("buffer.bytes", "4096")]);
    assert!(text.contains("buffer.name = lru"), "{text}");
}

/// The same three pages in turn, all three in a request: an interval counts requests.
#[test]
fn a_request_of_several_pages_counts_once() {
    let (mut device, config) = device(&[("aps.interval", "10")]);
    let device = &mut device;
    let write = pages(&config, Op::Write, 0, 3);
    for _ in 0..9 {
        device.submit(&write).expect("it works");
    }
    assert_eq!((bytes(device), events(device, [Event::Repartitions])), ((1024, 1024), [0]));
    device.submit(&write).expect("it works");
    assert_eq!((bytes(device), events(device, [Event::Repartitions])), ((512, 1536), [1]));
}
