//! What every buffer does, as flash operations in order: hits, misses, partial pages, trims,
//! flushes, gaps, cuts; LRU and CFLRU. Blocks have 4 pages, buffers 4 unless said otherwise.

use crate::common::{
    CONTROLLER, LATENCIES, PROGRAM, TRANSFER, fill, flush, mixed, open, pages, record, tiny,
};
use crate::fast_bench::Bench;
use ftlab_engine::board::nand::record::Operation::{self, Program, Read};
use ftlab_engine::config::{Config, SettingError};
use ftlab_engine::meter::Cause::{Host, ReadModifyWrite};
use ftlab_engine::meter::{Event, Level};
use ftlab_engine::request::{Op, Request, Stages};
use ftlab_engine::schemes::{self, Location};
use ftlab_engine::ssd::Device;
use ftlab_engine::units::Lpn;

const NOTHING: [Operation; 0] = [];
const FRAMES_4: (&str, &str) = ("buffer.bytes", "2048");
const LRU: &[(&str, &str)] = &[("buffer.name", "lru"), FRAMES_4];
/// Half of four pages are in the clean-first region.
const CFLRU: &[(&str, &str)] = &[("buffer.name", "cflru"), FRAMES_4, ("cflru.window", "0.5")];

/// A page map with a buffer; `filled` blocks are on flash, and the buffer is flushed.
fn behind(pairs: &[(&str, &str)], filled: u64) -> Bench {
    let mut bench = Bench::of("ideal_page", filled, pairs);
    bench.submit(Op::Flush, 0, 0);
    bench.device.start_measuring();
    bench
}

fn lookups_hits_flushes(bench: &Bench) -> (u64, u64, u64) {
    let [lookups, hits, flushes] =
        [Event::BufferLookups, Event::BufferHits, Event::BufferFlushes].map(|e| bench.events(e));
    (lookups, hits, flushes)
}

#[test]
fn the_page_used_longest_ago_leaves_by_itself_and_hits_cost_no_flash() {
    let mut bench = behind(LRU, 0);
    assert_eq!(bench.write(&[0, 1, 2, 3]), NOTHING, "there is room");
    assert_eq!(bench.submit(Op::Read, 1, 1), NOTHING, "a read hit");
    assert_eq!(bench.write(&[0]), NOTHING, "a write hit");
    let operations = bench.write(&[4]);
    assert_eq!(operations, [Program(bench.at(2), Host)], "0 and 1 were used again");
    let operations = bench.write(&[5]);
    assert_eq!(operations, [Program(bench.at(3), Host)]);
    let operations = bench.submit(Op::Read, 2, 1);
    assert_eq!(operations, [Read(bench.at(2), Host)], "a miss; reads are not kept");
    assert_eq!(lookups_hits_flushes(&bench), (9, 2, 2));
    assert_eq!(bench.events(Event::BufferRuns), 2);
    assert_eq!(bench.meter().level_now(Level::BufferedPages), Some(4));
}

#[test]
fn a_rewritten_page_reaches_flash_once_in_its_last_version() {
    let mut bench = behind(LRU, 1);
    let old = bench.at(4);
    for _ in 0..10 {
        assert_eq!(bench.write(&[4]), NOTHING);
    }
    let last = bench.device.last_version();
    assert_eq!(bench.device.locate(Lpn(4)), Location::Ram(last));
    let audit = bench.device.audit().expect("sound");
    assert_eq!((audit.ram_pages, audit.stale_pages), (1, 1), "the old version is valid still");
    let operations = bench.submit(Op::Flush, 0, 0);
    assert_eq!(operations, [Program(bench.at(4), Host)]);
    assert_ne!(bench.at(4), old);
    assert_eq!(bench.device.board().nand().state().tag(bench.at(4)), last);
    let audit = bench.device.audit().expect("sound");
    assert_eq!((audit.ram_pages, audit.stale_pages), (0, 0));
}

/// A larger buffer holds what a smaller one holds (stack property), so it never has fewer hits.
#[test]
fn a_larger_lru_buffer_never_has_fewer_hits() {
    for (reads, seed) in [("false", 1), ("true", 2), ("false", 3), ("true", 4)] {
        let mut before = 0;
        for frames in [4u64, 5, 6, 8, 12, 16, 24, 32, 40] {
            let bytes = (frames * 512).to_string();
            let pairs = [("buffer.name", "lru"), ("buffer.cache_reads", reads)];
            let config =
                tiny("ideal_page", 10, &[&pairs[..], &[("buffer.bytes", &bytes)]].concat());
            let mut device = open("ideal_page", &config);
            for request in mixed(&config, 3000, seed) {
                device.submit(&request).expect("the device works");
                let buffered = device.board().meter().level_now(Level::BufferedPages);
                assert!(buffered.is_none_or(|pages| pages <= frames), "never more than frames");
            }
            let hits = device.board().meter().events(Event::BufferHits);
            assert!(hits >= before, "{frames} pages, reads {reads}: {hits} hits, {before} before");
            before = hits;
        }
        assert!(before > 3000, "hits happen at all: {before}");
    }
}

#[test]
fn a_write_larger_than_the_buffer_pushes_its_own_first_pages_out() {
    let mut bench = behind(LRU, 0);
    let operations = bench.submit(Op::Write, 0, 10);
    let first = bench.all_at([0, 1, 2, 3, 4, 5]).map(|ppn| Program(ppn, Host));
    assert_eq!(operations, first);
    let operations = bench.submit(Op::Flush, 0, 0);
    let rest = bench.all_at([6, 7, 8, 9]).map(|ppn| Program(ppn, Host));
    assert_eq!(operations, rest);
    assert_eq!(bench.events(Event::BufferRuns), 7, "a flush writes what follows as one request");
}

#[test]
fn a_trimmed_page_need_not_be_written() {
    let mut bench = behind(LRU, 1);
    bench.write(&[4, 9]);
    bench.submit(Op::Trim, 4, 1);
    assert_eq!(bench.device.locate(Lpn(4)), Location::Nowhere, "below as well");
    let operations = bench.submit(Op::Flush, 0, 0);
    assert_eq!(operations[0], Program(bench.at(9), Host));
    assert_eq!(bench.events(Event::BufferFlushes), 1);
}

/// Sectors of a page, of pages of 2 KiB.
pub(crate) fn sectors(op: Op, page: u64, from: u64, count: u32) -> Request {
    Request {
        arrival: 0,
        op,
        first_sector: 4 * page + from,
        sectors: count,
        unit: 0,
        stream: None,
        content: None,
    }
}

#[test]
fn a_page_written_in_part_answers_for_that_part_and_is_merged_when_it_leaves() {
    let pairs = [
        ("device.page_bytes", "2048"),
        ("io.partial_write", "rmw"),
        ("buffer.name", "lru"),
        ("buffer.bytes", "8192"),
    ];
    let mut bench = behind(&pairs, 1);
    let old = bench.at(5);
    let mut submit = |request: Request| {
        let act = |device: &mut dyn ftlab_engine::ssd::Device| {
            device.submit(&request).expect("the device works");
        };
        record(bench.device.as_mut(), act)
    };
    assert_eq!(submit(sectors(Op::Write, 5, 1, 2)), NOTHING);
    assert_eq!(submit(sectors(Op::Read, 5, 1, 2)), NOTHING, "both sectors are here");
    assert_eq!(submit(sectors(Op::Read, 5, 2, 2)), [Read(old, Host)], "the last one is not");
    assert_eq!(submit(sectors(Op::Write, 5, 3, 1)), NOTHING);
    assert_eq!(submit(sectors(Op::Read, 5, 2, 2)), NOTHING, "now it is");
    assert_eq!(lookups_hits_flushes(&bench), (5, 3, 0));
    let operations = bench.submit(Op::Flush, 0, 0);
    assert_eq!(operations, [Read(old, ReadModifyWrite), Program(bench.at(5), Host)]);
    // Written as a whole, nothing of the old page is needed.
    let act = |device: &mut dyn ftlab_engine::ssd::Device| {
        device.submit(&sectors(Op::Write, 5, 0, 2)).expect("the device works");
        device.submit(&sectors(Op::Write, 5, 2, 2)).expect("the device works");
    };
    assert_eq!(record(bench.device.as_mut(), act), NOTHING);
    let operations = bench.submit(Op::Flush, 0, 0);
    assert_eq!(operations, [Program(bench.at(5), Host)]);
}

#[test]
fn dirty_pages_leave_in_gaps_if_asked_to() {
    for (idle, expected) in [("true", 3), ("false", 0)] {
        let mut bench = behind(&[LRU, &[("buffer.idle_flush", idle)]].concat(), 1);
        bench.write(&[20, 21, 30]);
        let later = Request { arrival: 1_000_000_000, ..sectors(Op::Read, 1, 0, 1) };
        bench.device.submit(&later).expect("the device works");
        assert_eq!(bench.events(Event::BufferFlushes), expected, "idle_flush = {idle}");
        assert_eq!(bench.device.audit().expect("sound").ram_pages, 3 - expected);
    }
}

#[test]
fn a_cut_takes_what_was_not_flushed_unless_memory_keeps_it() {
    for (keeps, lost) in [("false", 2), ("true", 0)] {
        let mut bench = behind(&[LRU, &[("device.ram_nonvolatile", keeps)]].concat(), 1);
        let flushed = bench.at(4);
        bench.write(&[4, 20]);
        let last = bench.device.last_version();
        bench.device.power_cycle().expect("it recovers");
        bench.device.audit().expect("sound");
        assert_eq!(bench.events(Event::LostBufferedPages), lost);
        let expected = match keeps {
            "true" => [Location::Ram(last), Location::Ram(ftlab_engine::units::Tag(last.0 - 1))],
            _ => [Location::Nowhere, Location::Flash(flushed)],
        };
        assert_eq!([20, 4].map(|page| bench.device.locate(Lpn(page))), expected);
    }
}

/// What a frame costs is RAM's time, in the stage of the buffer; a write that needs a frame waits
/// for the program that frees it.
#[test]
fn memory_takes_its_time_and_a_full_buffer_makes_the_write_wait() {
    for profile in ["serial", "parallel"] {
        let time = [("timing.ram_page", "8us"), ("timing.profile", profile)];
        let mut bench = behind(&[LRU, &time, &LATENCIES].concat(), 1);
        let mut stages = |op: Op, page: u64| {
            let arrival = 1_000_000 * page;
            let request = Request { arrival, ..pages(&bench.config, op, page, 1) };
            bench.device.submit(&request).expect("the device works").stages
        };
        // 8 us are for 2 KiB; pages have a quarter of that.
        let buffer = Stages { controller: CONTROLLER, buffer: 2000, ..Stages::default() };
        assert_eq!(stages(Op::Write, 10), buffer, "{profile}");
        assert_eq!(stages(Op::Write, 11), buffer, "{profile}");
        assert_eq!(stages(Op::Write, 12), buffer, "{profile}");
        assert_eq!(stages(Op::Write, 13), buffer, "{profile}");
        assert_eq!(stages(Op::Write, 14), Stages { flash: PROGRAM, channel: TRANSFER, ..buffer });
        let hit = Request { arrival: 20_000_000, ..pages(&bench.config, Op::Read, 11, 1) };
        assert_eq!(bench.device.submit(&hit).expect("the device works").stages, buffer);
        assert_eq!(bench.device.board().nand().clock().service_time().ram, 6 * 2000);
    }
}

#[test]
fn in_the_clean_first_region_the_oldest_clean_page_just_goes() {
    let mut bench = behind(CFLRU, 3);
    bench.submit(Op::Read, 4, 1);
    bench.write(&[5, 6]);
    bench.submit(Op::Read, 7, 1);
    assert_eq!(bench.submit(Op::Read, 4, 1), NOTHING, "reads are kept");
    // From the oldest: 5 and 6 dirty, 7 and 4 clean. The region is {5, 6}.
    let operations = bench.write(&[16]);
    assert_eq!(operations, [Program(bench.at(5), Host)], "no clean page in the region");
    // 6 dirty, 7 and 4 clean, 16 dirty.
    assert_eq!(bench.write(&[17]), NOTHING, "7 goes");
    assert_eq!(bench.write(&[18]), NOTHING, "4 goes");
    let operations = bench.write(&[19]);
    assert_eq!(operations, [Program(bench.at(6), Host)], "all are dirty");
    let operations = bench.submit(Op::Read, 7, 1);
    assert_eq!(operations[0], Read(bench.at(7), Host), "it went");
    assert_eq!(operations[1..], [Program(bench.at(16), Host)], "and comes back for a dirty one");
}

#[test]
fn what_was_flushed_stays_as_clean_where_reads_are_kept() {
    let mut bench = behind(CFLRU, 0);
    bench.write(&[4, 5]);
    let operations = bench.submit(Op::Flush, 0, 0);
    assert_eq!(operations, bench.all_at([4, 5]).map(|ppn| Program(ppn, Host)));
    assert_eq!(bench.submit(Op::Read, 4, 2), NOTHING);
    assert_eq!(bench.submit(Op::Flush, 0, 0), NOTHING, "nothing is dirty");
}

/// The same operations of two buffers over random requests.
fn equal(one: &[(&str, &str)], other: &[(&str, &str)]) {
    for seed in 1..=3 {
        let operations = [one, other].map(|pairs| {
            let pairs = [pairs, &[("buffer.bytes", "4096")]].concat();
            let config = tiny("ideal_page", 10, &pairs);
            let mut device = open("ideal_page", &config);
            record(device.as_mut(), |device| {
                for request in mixed(&config, 1500, seed) {
                    device.submit(&request).expect("the device works");
                }
            })
        });
        assert!(operations[0].len() > 500, "something happened");
        assert_eq!(operations[0], operations[1], "{one:?} and {other:?}, seed {seed}");
    }
}

#[test]
fn cflru_without_reads_or_without_a_region_is_lru() {
    let lru = ("buffer.name", "lru");
    let cflru = ("buffer.name", "cflru");
    equal(&[lru], &[cflru, ("buffer.cache_reads", "false")]);
    equal(&[lru, ("buffer.cache_reads", "true")], &[cflru, ("cflru.window", "0.01")]);
}

#[test]
fn settings_that_do_not_fit_are_refused_with_what_does() {
    let refusal = |pairs: &[(&str, &str)]| {
        let mut config = Config::default();
        for (key, value) in pairs {
            config.set(key, value).expect("legal by itself");
        }
        config.check().expect_err("refused").to_string()
    };
    let lru = ("buffer.name", "lru");
    assert!(refusal(&[lru, ("buffer.bytes", "8191")]).contains("at least 4 pages of 2048"));
    assert!(refusal(&[lru, ("device.ram_bytes", "1MiB")]).contains("buffer.bytes = 16777216"));
    let fab = refusal(&[("buffer.name", "fab"), ("buffer.cache_reads", "true")]);
    assert!(fab.contains("legal with lru, cflru"), "{fab}");
    let unknown = Config::default().set("bplru.pads", "always").expect_err("no such key");
    assert!(
        matches!(&unknown, SettingError::UnknownKey { nearest: Some(near), .. } if near == "bplru.pad"),
        "{unknown:?}"
    );
}

/// One budget: what the buffer takes, the cached map does not have.
#[test]
fn buffer_and_cached_map_share_the_budget() {
    let row = schemes::find("dftl").expect("a scheme").0;
    let sram = |pairs: &[(&str, &str)]| {
        let mut config = Config::default();
        for (key, value) in pairs {
            config.set(key, value).expect("legal");
        }
        (row.check)(&config).expect("legal together");
        let structures = (row.ram_use)(&config);
        ["cmt", "write_buffer"].map(|name| {
            structures.iter().find(|used| used.structure == name).map_or(0, |used| used.bytes)
        })
    };
    let budget = ("device.ram_bytes", "96KiB");
    assert_eq!(sram(&[budget]), [96 << 10, 0]);
    let buffer = [budget, ("buffer.name", "fab"), ("buffer.bytes", "64KiB")];
    assert_eq!(sram(&buffer), [32 << 10, 64 << 10]);
}

/// What idle time writes out may overrun a flush, which is done when that is on flash.
#[test]
fn a_flush_waits_for_what_idle_time_has_begun_to_write() {
    let parallel = [("timing.profile", "parallel"), ("timing.program", "200us")];
    let pairs = [LRU, &parallel, &[("buffer.idle_flush", "true")]].concat();
    let config = tiny("ideal_page", 24, &pairs);
    let mut device = open("ideal_page", &config);
    device.submit(&pages(&config, Op::Write, 3, 1)).expect("the device works");
    let flush = pages(&config, Op::Flush, 0, 0);
    let flush = Request { arrival: 50_000, ..flush };
    let done = device.submit(&flush).expect("the device works").completed;
    assert_eq!(device.board().meter().events(Event::BufferFlushes), 1);
    assert!(done >= 200_000, "durable at {done} ns, programmed 200,000 ns after it was written");
}

/// And for what had to make room for a read, which does not wait for it itself.
#[test]
fn a_flush_waits_for_what_made_room_for_a_read() {
    let parallel = [("timing.profile", "parallel"), ("timing.program", "200us")];
    let pairs = [LRU, &parallel, &[("buffer.cache_reads", "true")]].concat();
    let config = tiny("ideal_page", 24, &pairs);
    let mut device = open("ideal_page", &config);
    let device = device.as_mut();
    fill(device, &config);
    flush(device);
    let begin = device.idle_from() + 1_000_000;
    let before = device.board().meter().events(Event::BufferFlushes);
    let mut at = begin;
    let mut submit = |device: &mut dyn Device, (op, page, count): (Op, u64, u64)| {
        at += 1_000_000;
        let request = Request { arrival: at, ..pages(&config, op, page, count) };
        (at, device.submit(&request).expect("the device works").completed)
    };
    submit(device, (Op::Write, 3, 1));
    [10, 11, 12].into_iter().for_each(|page| _ = submit(device, (Op::Read, page, 1)));
    assert_eq!(device.board().meter().events(Event::BufferFlushes), before);
    let (read_at, read) = submit(device, (Op::Read, 13, 1));
    assert_eq!(device.board().meter().events(Event::BufferFlushes), before + 1);
    assert!(read < read_at + 200_000, "the read does not wait for the program");
    let request = Request { arrival: read_at + 1000, ..pages(&config, Op::Flush, 0, 0) };
    let done = device.submit(&request).expect("the device works").completed;
    assert!(done >= read_at + 200_000, "durable at {done} ns, programmed from {read_at} ns on");
}
