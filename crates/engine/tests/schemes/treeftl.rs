//! TreeFTL's worked examples (Figs 2 and 3) as sequences of flash operations, what sequential
//! requests do to the tree, and every open point of the paper as a setting that changes what it
//! says.

use crate::common::{
    CONTROLLER, LATENCIES, PROGRAM, READ, TRANSFER, config, flush, open, pages, place, record,
    submit, version,
};
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::board::nand::state::OobRead;
use ftlab_engine::config::Config;
use ftlab_engine::meter::{Cause, Event, Level};
use ftlab_engine::request::{Op, Request, Stages};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes::Location;
use ftlab_engine::ssd::Device;
use ftlab_engine::units::{Lpn, Ppn, Tag};

/// Entries of a translation page: page numbers of group g begin at g * E.
const E: u64 = 512;

fn settings(frames: u64, pairs: &[(&str, &str)]) -> Config {
    let mut config = config(pairs);
    config.set("device.ram_bytes", &format!("{}", frames * 2048)).expect("a legal size");
    config
}

fn logical(device: &dyn Device, ppn: Ppn) -> u32 {
    match device.board().nand().state().oob(ppn) {
        OobRead::Written(oob) => oob.logical,
        other => panic!("page {ppn} holds {other:?}"),
    }
}

/// What a request programs: logical number and cause.
fn programs(device: &mut dyn Device, request: &Request) -> Vec<(u32, Cause)> {
    let operations = record(device, |device| {
        device.submit(request).expect("the device works");
    });
    let programmed = operations.iter().filter_map(|operation| match operation {
        Operation::Program(ppn, cause) => Some((logical(device, *ppn), *cause)),
        _ => None,
    });
    programmed.collect()
}

/// What each of these one-page writes makes leave, one after the other.
fn leaving(device: &mut dyn Device, config: &Config, writes: &[u64]) -> Vec<(u32, Cause)> {
    let of = |&page: &u64| programs(device, &pages(config, Op::Write, page, 1));
    writes.iter().flat_map(of).collect()
}

fn event(device: &dyn Device, event: Event) -> u64 {
    device.board().meter().events(event)
}

/// Fig. 2. A: both pages are cached, nothing happens on flash. B: only the translation page is, the
/// data page is read (B-3). C: neither is, both are read (C-2, C-4), the translation page first.
#[test]
fn figure_2_the_three_cases_of_a_random_write() {
    for scheme in ["treeftl", "treeftl_page_lru"] {
        let config = settings(64, &[("treeftl.bypass_map", "flash")]);
        let mut device = open(scheme, &config);
        let device = device.as_mut();
        device.verify_reads();
        // Group 1's translation page is cached; sequential requests fill groups 1 and 3 on flash.
        submit(device, &config, Op::Read, E);
        for first in [E + 8, 3 * E] {
            device.submit(&pages(&config, Op::Write, first, 40)).expect("the device works");
        }
        let old = place(device, E as u32 + 20);
        let case_b = record(device, |device| submit(device, &config, Op::Write, E + 20));
        assert_eq!(case_b, [Operation::Read(old, Cause::ReadModifyWrite)], "{scheme}");
        let case_a = record(device, |device| submit(device, &config, Op::Write, E + 20));
        assert_eq!(case_a, [], "{scheme}");
        assert!(matches!(device.locate(Lpn(E as u32 + 20)), Location::Ram(_)));
        assert!(device.board().nand().state().is_valid(old), "flash keeps the older version");
        let old = place(device, 3 * E as u32 + 7);
        let case_c = record(device, |device| submit(device, &config, Op::Write, 3 * E + 7));
        let [Operation::Read(map, Cause::Translate), Operation::Read(data, Cause::ReadModifyWrite)] =
            case_c[..]
        else {
            panic!("{scheme}: not the sequence of case C: {case_c:?}");
        };
        assert_eq!((logical(device, map), data), (3, old), "{scheme}");
        let case_a = record(device, |device| submit(device, &config, Op::Write, 3 * E + 7));
        assert_eq!(case_a, [], "{scheme}");
        // Map: the first read missed, B and A hit, C missed, A hit. Data: B and C missed. A page
        // was put into RAM twice for the requests before, then twice (B), once (A), three times
        // (C), once.
        let meter = device.board().meter();
        let counted = [Event::MapLookups, Event::MapHits, Event::BufferLookups, Event::BufferHits];
        assert_eq!(counted.map(|event| meter.events(event)), [5, 3, 5, 2], "{scheme}");
        assert_eq!(meter.events(Event::RamOps), 2 + 2 + 1 + 3 + 1, "{scheme}");
        device.audit().expect("tree and flash agree");
    }
}

/// Nine frames: groups a (offsets 0, 1 and 3, the last access at 1), b (0 and 2, at 2) and c.
fn figure_3(pairs: &[(&str, &str)]) -> (Config, Box<dyn Device>) {
    let config = settings(9, pairs);
    let mut device = open("treeftl", &config);
    for page in [0, 3, 1, E, E + 2, 2 * E] {
        submit(device.as_mut(), &config, Op::Write, page);
    }
    assert_eq!(device.board().meter().total_programs(), 0, "everything has its frame");
    (config, device)
}

/// Fig. 3: in the group used longest ago data pages leave by offset, the one accessed last at the
/// end, then the translation page; then the next group.
#[test]
fn figure_3_the_order_in_which_a_group_is_pruned() {
    let (config, mut device) = figure_3(&[]);
    let group_c: Vec<u64> = (1..8).map(|offset| 2 * E + offset).collect();
    let left = leaving(device.as_mut(), &config, &group_c);
    let (host, map) = (Cause::Host, Cause::Translate);
    let b = |offset: u32| E as u32 + offset;
    let expected =
        [(0, host), (3, host), (1, host), (0, map), (b(0), host), (b(2), host), (1, map)];
    assert_eq!(left, expected);
    let device = device.as_mut();
    assert_eq!(event(device, Event::BufferFlushes), 5);
    assert_eq!((event(device, Event::EvictDirty), event(device, Event::MapPageFlushes)), (2, 2));
    // Three groups were compared for each of four victims, two for each of the other three.
    assert_eq!(event(device, Event::CacheSearchSteps), 4 * 3 + 3 * 2);
    let level = |level| device.board().meter().level_now(level);
    assert_eq!((level(Level::MapFrames), level(Level::DataFrames)), (Some(1), Some(8)));
}

/// Fig. 3, the other end: a page that joins the group before its translation page had to leave
/// gives it a new time, and the next group's pages leave.
#[test]
fn a_page_that_joins_a_bare_group_saves_it() {
    let (config, mut device) = figure_3(&[]);
    let left = leaving(device.as_mut(), &config, &[2 * E + 1, 2 * E + 2, 2 * E + 3, 7, 2 * E + 4]);
    let host = Cause::Host;
    let b = |offset: u32| (E as u32 + offset, host);
    assert_eq!(left, [(0, host), (3, host), (1, host), b(0), b(2)]);
}

/// A read of a page that is not cached uses its group (`treeftl.touch_on_ctp_only`), or it does
/// not.
#[test]
fn a_use_of_the_translation_page_alone_counts_or_not() {
    for (touches, first) in [("true", E as u32), ("false", 0)] {
        let (config, mut device) = figure_3(&[("treeftl.touch_on_ctp_only", touches)]);
        submit(device.as_mut(), &config, Op::Read, 100);
        let left = leaving(device.as_mut(), &config, &[2 * E + 1]);
        assert_eq!(left, [(first, Cause::Host)], "{touches}");
    }
}

/// LATTE: made with its group, changed with every access of a cached data page, removed with the
/// translation page.
#[test]
fn the_table_of_last_accesses_is_counted() {
    let (config, mut device) = figure_3(&[]);
    let device = device.as_mut();
    assert_eq!(event(device, Event::LatteOps), 3 + 6);
    submit(device, &config, Op::Read, 3);
    submit(device, &config, Op::Write, 3);
    assert_eq!(event(device, Event::LatteOps), 9 + 2);
    // Group b is the oldest now: two data pages, then its translation page.
    leaving(device, &config, &[2 * E + 1, 2 * E + 2, 2 * E + 3]);
    assert_eq!(event(device, Event::LatteOps), 11 + 3 + 1);
}

/// Reads come from flash every time and cache nothing; a page that a write cached comes from RAM.
#[test]
fn reads_are_not_cached() {
    let config = settings(16, &[]);
    let mut device = open("treeftl", &config);
    let device = device.as_mut();
    device.verify_reads();
    device.submit(&pages(&config, Op::Write, 0, 40)).expect("the device works");
    for _ in 0..2 {
        let at = place(device, 5);
        let read = record(device, |device| submit(device, &config, Op::Read, 5));
        assert_eq!(read, [Operation::Read(at, Cause::Host)]);
    }
    submit(device, &config, Op::Write, 5);
    assert_eq!(record(device, |device| submit(device, &config, Op::Read, 5)), []);
    assert_eq!((event(device, Event::BufferLookups), event(device, Event::BufferHits)), (4, 1));
}

/// 32 pages are random, 33 sequential: those go to flash past the RAM, and a translation page that
/// is not cached is read, then changed in RAM (`cached`) or on flash at the end (`flash`).
#[test]
fn sequential_requests_bypass_the_memory() {
    for bypass_map in ["cached", "flash"] {
        let config = settings(256, &[("treeftl.bypass_map", bypass_map)]);
        let mut device = open("treeftl", &config);
        let device = device.as_mut();
        device.verify_reads();
        let request = |op, count| pages(&config, op, E - 20, count);
        assert_eq!(programs(device, &request(Op::Write, 32)), [], "a random request");
        assert_eq!(event(device, Event::BypassedPages), 0);
        let mut device = open("treeftl", &config);
        let device = device.as_mut();
        device.verify_reads();
        for round in 0..2 {
            let operations = record(device, |device| {
                device.submit(&request(Op::Write, 33)).expect("the device works");
            });
            // The request lies in two translation pages: 20 pages in the first, 13 in the second.
            let shape = operations.iter().map(|operation| match operation {
                Operation::Program(_, Cause::Host) => 'p',
                Operation::Program(_, Cause::Translate) => 'M',
                Operation::Read(_, Cause::Translate) => 'm',
                other => panic!("{other:?}"),
            });
            let of_map = |read| match (bypass_map, read, round) {
                ("flash", true, 1) => "m",
                ("flash", false, _) => "M",
                _ => "",
            };
            let part = |count| [of_map(true), &"p".repeat(count), of_map(false)].concat();
            let expected = [part(20), part(13)].concat();
            assert_eq!(shape.collect::<String>(), expected, "{bypass_map}, round {round}");
        }
        let frames = device.board().meter().level_now(Level::MapFrames).unwrap_or(0);
        assert_eq!(frames, if bypass_map == "cached" { 2 } else { 0 });
        assert_eq!(event(device, Event::BypassedPages), 66);
        device.submit(&request(Op::Read, 33)).expect("the device works");
        assert_eq!(event(device, Event::BypassedPages), 99);
        assert_eq!(event(device, Event::MapLookups), 0, "hit ratios are of random requests");
        device.audit().expect("tree and flash agree");
    }
}

/// A cached copy of a page that a sequential request writes leaves without being written (`drop`)
/// or takes the new version (`update`); a sequential read takes what is newer in RAM.
#[test]
fn cached_copies_stay_true_under_sequential_requests() {
    for (rule, reads) in [("drop", 1), ("update", 0)] {
        let config = settings(64, &[("treeftl.bypass_invalidate", rule)]);
        let mut device = open("treeftl", &config);
        let device = device.as_mut();
        device.verify_reads();
        submit(device, &config, Op::Write, 5);
        let written = programs(device, &pages(&config, Op::Write, 0, 40));
        let expected: Vec<(u32, Cause)> = (0..40).map(|page| (page, Cause::Host)).collect();
        assert_eq!(written, expected, "{rule}: the older version of page 5 is not written");
        assert!(matches!(device.locate(Lpn(5)), Location::Flash(_)), "{rule}");
        let read = record(device, |device| submit(device, &config, Op::Read, 5));
        assert_eq!(read.len(), reads, "{rule}");
        submit(device, &config, Op::Write, 7);
        let read = record(device, |device| {
            device.submit(&pages(&config, Op::Read, 0, 40)).expect("the newest versions");
        });
        assert_eq!(
            read.len(),
            39 - usize::from(rule == "update"),
            "{rule}: those in RAM are not read"
        );
        device.audit().expect("tree and flash agree");
    }
}

/// A partial page at the end of a sequential request keeps what only RAM had of the page.
#[test]
fn a_sequential_request_keeps_sectors_that_only_memory_held() {
    for rule in ["drop", "update"] {
        let pairs = [("treeftl.bypass_invalidate", rule), ("io.partial_write", "rmw")];
        let config = settings(64, &pairs);
        let mut device = open("treeftl", &config);
        let device = device.as_mut();
        // Sectors 2 and 3 of page 40 are in RAM alone; the request ends with its sectors 0 and 1.
        let part = |first_sector, sectors| Request {
            arrival: 0,
            op: Op::Write,
            first_sector,
            sectors,
            unit: 0,
            stream: None,
            content: None,
        };
        device.submit(&part(162, 2)).expect("the device works");
        device.submit(&part(0, 162)).expect("the device works");
        let mask = device.board().nand().state().mask(place(device, 40));
        assert_eq!(mask, 0b1111, "{rule}");
    }
}

/// Before evictions a random write of one page reads its translation page, its data page, both or
/// neither; evictions program whole pages and read nothing.
#[test]
fn a_random_write_reads_at_most_two_pages() {
    for scheme in ["treeftl", "treeftl_page_lru", "treeftl:gc"] {
        let mut config = settings(40, &[]);
        config.device.set_capacity(16 << 20, 0);
        config.device.blocks_per_plane += 16;
        let mut device = open(scheme, &config);
        let device = device.as_mut();
        let mut rng = Rng::new(3, Purpose::Workload);
        let mut seen = [0u32; 3];
        let reads = |device: &dyn Device| {
            let meter = device.board().meter();
            meter.reads(Cause::Translate) + meter.reads(Cause::ReadModifyWrite)
        };
        for _ in 0..20_000 {
            let far = rng.below(4) == 0;
            let page = u64::from(rng.below(if far { 8192 } else { 48 }));
            let before = reads(device);
            submit(device, &config, Op::Write, page);
            seen[(reads(device) - before) as usize] += 1;
        }
        assert!(seen.iter().all(|&count| count > 100), "{scheme}: {seen:?}");
        assert!(device.board().meter().total_erases() > 0, "{scheme}: nothing was collected");
        device.audit().expect("tree and flash agree");
    }
}

/// Reads under `ReadModifyWrite` of a write to a page on flash and of one that was never written.
fn loads(pairs: &[(&str, &str)]) -> (u64, u64) {
    let config = settings(64, pairs);
    let mut device = open("treeftl", &config);
    let device = device.as_mut();
    device.submit(&pages(&config, Op::Write, 0, 40)).expect("the device works");
    let count = |device: &mut dyn Device, page| {
        let before = device.board().meter().reads(Cause::ReadModifyWrite);
        submit(device, &config, Op::Write, page);
        device.board().meter().reads(Cause::ReadModifyWrite) - before
    };
    (count(device, 5), count(device, 50))
}

#[test]
fn what_is_loaded_before_a_whole_page_is_overwritten() {
    assert_eq!(loads(&[]), (1, 0), "the paper: the old version, where there is one");
    assert_eq!(loads(&[("treeftl.load_on_full_write", "false")]), (0, 0));
    assert_eq!(loads(&[("treeftl.load_unwritten", "true")]), (1, 1));
    let free = [("treeftl.load_unwritten", "true"), ("io.unwritten_read", "zero_free")];
    assert_eq!(loads(&free), (1, 0));
    let neither = [("treeftl.load_unwritten", "true"), ("treeftl.load_on_full_write", "false")];
    assert_eq!(loads(&neither), (0, 1), "what was never written, and no older version");
}

/// Without loading whole pages, a write of some sectors still loads the others.
#[test]
fn a_partial_write_loads_what_it_keeps() {
    let pairs = [("treeftl.load_on_full_write", "false"), ("io.partial_write", "rmw")];
    let config = settings(64, &pairs);
    let mut device = open("treeftl", &config);
    let device = device.as_mut();
    device.submit(&pages(&config, Op::Write, 0, 40)).expect("the device works");
    let old = place(device, 5);
    let request = Request {
        arrival: 0,
        op: Op::Write,
        first_sector: 20,
        sectors: 1,
        unit: 0,
        stream: None,
        content: None,
    };
    let operations = record(device, |device| {
        device.submit(&request).expect("the device works");
    });
    assert_eq!(operations, [Operation::Read(old, Cause::ReadModifyWrite)]);
}

/// "Flushed back" of a translation page that did not change: left out, or done.
#[test]
fn an_unchanged_translation_page_is_dropped_or_written() {
    for (always, expected) in [("false", 0), ("true", 1)] {
        let config = settings(2, &[("treeftl.flush_clean_ctp", always)]);
        let mut device = open("treeftl", &config);
        let device = device.as_mut();
        for group in 0..3 {
            submit(device, &config, Op::Read, group * E);
        }
        assert_eq!(device.board().meter().programs(Cause::Translate), expected, "{always}");
        assert_eq!(event(device, Event::EvictClean), 1);
        assert_eq!(event(device, Event::MapPageFlushes), expected);
    }
}

/// Which accesses the hit ratios are about: (map look-ups, data look-ups) of a random write, a
/// random read, and a sequential read of 33 pages.
#[test]
fn hit_ratios_are_of_what_the_scope_says() {
    for (scope, expected) in
        [("random", (2, 2)), ("random_writes", (2, 1)), ("all", (2 + 33, 2 + 33))]
    {
        let config = settings(64, &[("treeftl.hit_scope", scope)]);
        let mut device = open("treeftl", &config);
        let device = device.as_mut();
        submit(device, &config, Op::Write, 0);
        submit(device, &config, Op::Read, 50);
        device.submit(&pages(&config, Op::Read, 0, 33)).expect("the device works");
        let counted = (event(device, Event::MapLookups), event(device, Event::BufferLookups));
        assert_eq!(counted, expected, "{scope}");
    }
}

/// Each time stamp compared takes as long as the scheme says, else as `search` says.
#[test]
fn the_search_for_a_victim_takes_time() {
    for (pairs, per_step) in [
        (&[][..], 0),
        (&[("treeftl.lru_cost_us", "0.5")], 500),
        (&[("search.model", "scan"), ("search.step_time", "20ns")], 20),
    ] {
        let (config, mut device) = figure_3(pairs);
        leaving(device.as_mut(), &config, &[2 * E + 1]);
        let steps = event(device.as_ref(), Event::CacheSearchSteps);
        assert_eq!(steps, 3, "one per group");
        let search = device.board().nand().clock().service_time().search;
        assert_eq!(search, steps * per_step, "{pairs:?}");
    }
}

/// Changed pages are written in a gap, data first, then translation pages; they stay, and leave
/// later without a program.
#[test]
fn idle_gaps_take_changed_pages_to_flash() {
    for (flushes, data, map) in [("false", 0, 0), ("true", 6, 3)] {
        let (config, mut device) = figure_3(&[("treeftl.idle_flush", flushes)]);
        let device = device.as_mut();
        let later = Request { arrival: 10_000_000_000, ..pages(&config, Op::Read, 0, 1) };
        device.submit(&later).expect("the device works");
        let meter = device.board().meter();
        let written = (meter.programs(Cause::Host), meter.programs(Cause::Translate));
        assert_eq!(written, (data, map), "{flushes}");
        // Group b is the oldest.
        let left = leaving(device, &config, &[2 * E + 1]);
        assert_eq!(left.len(), usize::from(flushes == "false"));
        assert_eq!(event(device, Event::BufferCleanDrops), u64::from(flushes == "true"));
        device.audit().expect("tree and flash agree");
    }
}

/// `treeftl:gc`: where memory holds a newer version, collection programs that one and reads
/// nothing; and where few translation pages are cached, victims that need few others are preferred.
#[test]
fn collection_moves_what_memory_holds() {
    let run = |scheme, frames| {
        let mut config = settings(frames, &[]);
        config.device.set_capacity(16 << 20, 0);
        config.device.blocks_per_plane += 16;
        let mut device = open(scheme, &config);
        let device = device.as_mut();
        device.verify_reads();
        for first in (0..8192).step_by(64) {
            device.submit(&pages(&config, Op::Write, first, 64)).expect("the device works");
        }
        let mut rng = Rng::new(9, Purpose::Workload);
        for _ in 0..40_000 {
            submit(device, &config, Op::Write, u64::from(rng.below(8192)));
        }
        device.audit().expect("tree and flash agree");
        let meter = device.board().meter();
        (meter.reads(Cause::Gc), meter.programs(Cause::Gc), meter.programs(Cause::GcMapUpdate))
    };
    let (reads, moved, _) = run("treeftl", 2000);
    assert_eq!(reads, moved, "the paper: every page is copied");
    let (reads, moved, _) = run("treeftl:gc", 2000);
    assert!(reads * 10 < moved * 9, "{reads} reads for {moved} pages moved");
    let (.., updates) = run("treeftl", 10);
    let (.., updates_gc) = run("treeftl:gc", 10);
    assert!(updates > 1000 && updates_gc < updates, "{updates} and {updates_gc} map updates");
}

/// Two frames hold group 0's translation page and a page of it, which was written. Both leave for
/// group 1's, one after the other: the host's program is no work on the map, all else is.
#[test]
fn what_leaves_for_a_translation_page_is_no_part_of_its_load() {
    for profile in ["serial", "parallel"] {
        let own = [("timing.profile", profile), ("treeftl.load_unwritten", "false")];
        let config = settings(2, &[&LATENCIES[..], &own].concat());
        let mut device = open("treeftl", &config);
        submit(device.as_mut(), &config, Op::Write, 0);
        let later = Request { arrival: 1_000_000, ..pages(&config, Op::Write, E, 1) };
        let stages = device.submit(&later).expect("the device works").stages;
        let (flash, channel) = (PROGRAM, TRANSFER);
        let map = READ + TRANSFER + TRANSFER + PROGRAM;
        let expected = Stages { controller: CONTROLLER, flash, channel, map, ..Stages::default() };
        assert_eq!(stages, expected, "{profile}");
    }
}

/// Volatile RAM loses what was not flushed, down to the version on flash; kept RAM nothing.
#[test]
fn a_power_cut_takes_what_was_not_flushed() {
    for (kept, expected) in [("false", Tag(41)), ("true", Tag(42))] {
        let config = settings(64, &[("device.ram_nonvolatile", kept)]);
        let mut device = open("treeftl", &config);
        let device = device.as_mut();
        device.submit(&pages(&config, Op::Write, 0, 40)).expect("the device works");
        submit(device, &config, Op::Write, 5);
        flush(device);
        submit(device, &config, Op::Write, 5);
        device.power_cycle().expect("it recovers");
        device.audit().expect("tree and flash agree");
        assert_eq!(version(device, 5), expected, "kept: {kept}");
        assert_eq!(event(device, Event::LostBufferedPages), u64::from(kept == "false"));
    }
}
