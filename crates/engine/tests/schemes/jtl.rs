//! Joint management by levels of 2^n, rule by rule: who sinks, which page leaves with it, and what
//! sequential requests leave alone.

use crate::common::{mixed, pages, record, submit, tiny};
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::config::Config;
use ftlab_engine::meter::{Cause, Event};
use ftlab_engine::request::{Op, Request};
use ftlab_engine::schemes::jtl::Jtl;
use ftlab_engine::schemes::open as open_as;
use ftlab_engine::schemes::{self, Location};
use ftlab_engine::ssd::{Device, Ssd};
use ftlab_engine::units::Lpn;

/// Seven entries of 64 bytes and three pages of 512: levels 0 and 1 are group 0, level 2 holds four
/// entries of pages on flash.
const SEVEN: [(&str, &str); 3] =
    [("device.ram_bytes", "1984"), ("jtl.map_share", "0.226"), ("jtl.entry_bytes", "64")];

fn device(pairs: &[(&str, &str)]) -> (Ssd<Jtl>, Config) {
    let config = tiny("jtl", 60, &[&SEVEN[..], pairs].concat());
    let mut device = open_as::<Jtl>(&config, 1).expect("legal settings");
    device.verify_reads();
    (device, config)
}

fn levels<const N: usize>(device: &Ssd<Jtl>, lpns: [u32; N]) -> [Option<u32>; N] {
    lpns.map(|lpn| device.scheme().level_of(Lpn(lpn)))
}

fn event(device: &dyn Device, event: Event) -> u64 {
    device.board().meter().events(event)
}

fn count(operations: &[Operation], cause: Cause) -> (usize, usize) {
    let reads = operations.iter().filter(|o| matches!(o, Operation::Read(_, c) if *c == cause));
    let programs =
        operations.iter().filter(|o| matches!(o, Operation::Program(_, c) if *c == cause));
    (reads.count(), programs.count())
}

fn in_ram(device: &dyn Device, lpn: u32) -> bool {
    matches!(device.locate(Lpn(lpn)), Location::Ram(_))
}

/// Writes 0, 1, 2 fill group 0. The next one pushes 2 to level 1, and one of 0 and 1, by chance, to
/// level 2: its page is written to flash.
#[test]
fn an_entry_that_leaves_group_0_takes_its_page_to_flash() {
    let (mut device, config) = device(&[]);
    assert_eq!((device.scheme().levels().count(), device.scheme().levels().below()), (3, 2));
    for page in 0..3 {
        let written = record(&mut device, |device| submit(device, &config, Op::Write, page));
        assert_eq!(count(&written, Cause::Host), (0, 0));
    }
    assert_eq!(levels(&device, [0, 1, 2]), [Some(1), Some(1), Some(0)]);
    let before = event(&device, Event::CascadeSteps);
    let written = record(&mut device, |device| submit(device, &config, Op::Write, 3));
    assert_eq!(count(&written, Cause::Host), (0, 1));
    assert_eq!(event(&device, Event::CascadeSteps), before + 2);
    assert_eq!(levels(&device, [3, 2]), [Some(0), Some(1)]);
    let sunk = if in_ram(&device, 0) { 1 } else { 0 };
    assert_eq!(levels(&device, [sunk, 1 - sunk]), [Some(2), Some(1)]);
    assert!(!in_ram(&device, sunk) && [1 - sunk, 2, 3].iter().all(|&page| in_ram(&device, page)));
    device.audit().expect("sound");
}

/// Every page of a level is demoted now and then, so that chance decides and nothing else.
#[test]
fn who_sinks_is_decided_by_chance() {
    let mut sunk = [0u32; 2];
    for seed in 0..40 {
        let config = tiny("jtl", 60, &SEVEN);
        let mut device = open_as::<Jtl>(&config, seed).expect("legal settings");
        (0..4).for_each(|page| submit(&mut device, &config, Op::Write, page));
        sunk[usize::from(in_ram(&device, 0))] += 1;
    }
    assert!(sunk.iter().all(|&times| times > 8), "{sunk:?}");
}

/// A page of level 1 is written again: its entry takes level 0, whose entry takes the hole. Where
/// the hole ends no cascade, the other entry of level 1 sinks too, with its page; the hole is
/// filled by the next cascade, which ends there.
#[test]
fn the_hole_of_an_entry_that_moves_up_ends_the_cascade_or_waits() {
    for (stops, flushed) in [("true", 0), ("false", 1)] {
        let (mut device, config) = device(&[("jtl.hole_stops_cascade", stops)]);
        (0..3).for_each(|page| submit(&mut device, &config, Op::Write, page));
        let written = record(&mut device, |device| submit(device, &config, Op::Write, 0));
        assert_eq!(count(&written, Cause::Host), (0, flushed), "stops: {stops}");
        assert_eq!(levels(&device, [0, 2]), [Some(0), Some(1)]);
        let sunk = levels(&device, [1]) == [Some(2)];
        assert_eq!(sunk, flushed == 1);
        device.audit().expect("sound");
        // Group 0 has a place free where the hole waits: the next page needs no other's.
        let next = record(&mut device, |device| submit(device, &config, Op::Write, 5));
        assert_eq!(count(&next, Cause::Host), (0, 1 - flushed), "stops: {stops}");
    }
}

/// A read of a page on flash: its entry goes to the top of group 1; with `jtl.cache_reads` to level
/// 0, and the page into RAM.
#[test]
fn reads_move_entries_as_far_up_as_pages_are_kept() {
    for (caches, level) in [("false", 2), ("true", 0)] {
        let (mut device, config) = device(&[("jtl.cache_reads", caches)]);
        (0..6).for_each(|page| submit(&mut device, &config, Op::Write, page));
        let page = (0..6).find(|&page| !in_ram(&device, page)).expect("three are on flash");
        let Location::Flash(place) = device.locate(Lpn(page)) else { panic!("it is on flash") };
        let read = record(&mut device, |device| submit(device, &config, Op::Read, u64::from(page)));
        assert!(read.contains(&Operation::Read(place, Cause::Host)));
        assert_eq!(levels(&device, [page]), [Some(level)]);
        let again =
            record(&mut device, |device| submit(device, &config, Op::Read, u64::from(page)));
        assert_eq!(count(&again, Cause::Host).0, usize::from(caches == "false"));
        // A page in RAM goes to level 0 when it is read.
        let held = (0..6).find(|&page| in_ram(&device, page)).expect("some are in RAM");
        submit(&mut device, &config, Op::Read, u64::from(held));
        assert_eq!(levels(&device, [held]), [Some(0)]);
        device.audit().expect("sound");
    }
}

/// The eighth entry makes one leave the last level: if it has changed, with a map read and a map
/// write of its own.
#[test]
fn entries_that_leave_the_last_level_are_written_if_they_have_changed() {
    let (mut device, config) = device(&[]);
    (0..7).for_each(|page| submit(&mut device, &config, Op::Write, page));
    assert_eq!((event(&device, Event::EvictClean), event(&device, Event::EvictDirty)), (0, 0));
    let written = record(&mut device, |device| submit(device, &config, Op::Write, 7));
    // Four pages are on flash, and the entry of one of them goes there too.
    assert_eq!((event(&device, Event::EvictClean), event(&device, Event::EvictDirty)), (0, 1));
    assert_eq!(count(&written, Cause::Translate).1, 1);
    assert_eq!((0..8).filter(|&page| levels(&device, [page]) == [None]).count(), 1);
    device.audit().expect("sound");
}

/// A request above the threshold is programmed at once, with one map read for its translation page;
/// what RAM held of its pages is superseded.
#[test]
fn sequential_writes_go_past_the_ram() {
    let (mut device, config) = device(&[("jtl.seq_pages", "3")]);
    let device = &mut device;
    (0..2).for_each(|page| submit(device, &config, Op::Write, page));
    let lookups = event(device, Event::MapLookups);
    let written = record(device, |device| {
        device.submit(&pages(&config, Op::Write, 0, 4)).expect("it works");
    });
    assert_eq!(count(&written, Cause::Host), (0, 4));
    // Entries 2 and 3 were not in memory. That their translation page was never written is no
    // matter.
    assert_eq!(device.board().meter().reads(Cause::Translate), 2 + 1);
    assert!((0..4).all(|page| !in_ram(device, page)), "no page is in RAM");
    assert_eq!(levels(device, [0, 1, 2, 3]), [Some(2); 4]);
    assert_eq!(event(device, Event::BypassedPages), 4);
    assert_eq!(event(device, Event::MapLookups), lookups, "ratios are of random requests");
    device.audit().expect("sound");
    // Three pages are not above the threshold.
    let random = record(device, |device| {
        device.submit(&pages(&config, Op::Write, 100, 3)).expect("it works");
    });
    assert_eq!(count(&random, Cause::Host), (0, 0));
}

/// A sequential read takes what RAM holds from there and the rest from flash, and moves nothing.
#[test]
fn sequential_reads_go_past_the_ram() {
    let (mut device, config) = device(&[("jtl.seq_pages", "3")]);
    let device = &mut device;
    (0..8).for_each(|page| submit(device, &config, Op::Write, page));
    let all = [0, 1, 2, 3, 4, 5, 6, 7];
    let before = levels(device, all);
    let read = record(device, |device| {
        device.submit(&pages(&config, Op::Read, 0, 8)).expect("every version is the newest");
    });
    assert_eq!(count(&read, Cause::Host), (5, 0), "three of eight pages are in RAM");
    assert_eq!(count(&read, Cause::Translate).0, 1, "one entry was not in memory");
    assert_eq!(levels(device, all), before);
}

/// The first page of a sequential write is written in part: what RAM held of it goes along.
#[test]
fn a_partial_page_of_a_sequential_write_keeps_what_ram_held() {
    let pairs = [
        ("jtl.seq_pages", "3"),
        ("io.partial_write", "rmw"),
        ("device.page_bytes", "1024"),
        ("device.ram_bytes", "3520"),
        ("jtl.map_share", "0.128"),
    ];
    let (mut device, config) = device(&pairs);
    let device = &mut device;
    submit(device, &config, Op::Write, 0);
    assert!(in_ram(device, 0));
    let unaligned = Request { first_sector: 1, sectors: 7, ..pages(&config, Op::Write, 0, 4) };
    let written = record(device, |device| {
        device.submit(&unaligned).expect("it works");
    });
    assert_eq!(count(&written, Cause::Host), (0, 4));
    let Location::Flash(place) = device.locate(Lpn(0)) else { panic!("written through") };
    assert_eq!(device.board().nand().state().mask(place), 0b11, "both sectors");
    device.audit().expect("sound");
}

/// No level holds more than 2^n entries, and group 0 is as many pages as there are frames, whatever
/// happens; the audit knows that each entry is in one level and has its page where it belongs.
#[test]
fn levels_hold_what_they_may() {
    for stops in ["true", "false"] {
        let pairs = [
            ("device.ram_bytes", "6000"),
            ("jtl.map_share", "0.5"),
            ("jtl.hole_stops_cascade", stops),
        ];
        let (mut device, config) = device(&pairs);
        let mut full = 0;
        for request in mixed(&config, 2000, 9) {
            device.submit(&request).expect("it works");
            let levels = device.scheme().levels();
            let filled: Vec<(u32, u32)> = (0..levels.count()).map(|n| levels.filled(n)).collect();
            for (level, &(length, capacity)) in filled.iter().enumerate() {
                assert!(length <= capacity && capacity <= 1 << level, "level {level}: {filled:?}");
            }
            let upper: u32 =
                filled[..levels.below() as usize].iter().map(|(length, _)| length).sum();
            assert!(upper <= 5, "3000 bytes are five pages");
            full += u32::from(upper == 5);
        }
        device.audit().expect("sound");
        assert!(full > 100, "group 0 was full {full} times");
        assert!(event(&device, Event::CascadeSteps) > event(&device, Event::Cascades));
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let (row, _) = schemes::find("jtl").expect("in the table");
    let refused = |pairs: &[(&str, &str)]| {
        let config = tiny("jtl", 24, pairs);
        (row.check)(&config).expect_err("not legal").to_string()
    };
    let text = refused(&[("device.ram_bytes", "900")]);
    assert!(text.contains("jtl.map_share"), "{text}");
    let text = refused(&[("buffer.name", "lru"), ("buffer.bytes", "4096")]);
    assert!(text.contains("buffer.name = lru"), "{text}");
}
