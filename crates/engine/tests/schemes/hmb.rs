//! The map in the host's memory: what a read costs when the hint holds, is missing or is stale, and
//! that no stale hint is ever believed.

use crate::common::{CONTROLLER, READ, TRANSFER};
use crate::common::{
    LATENCIES, config, fill, flush, mixed, open, pages, place, record, submit, tiny,
};
use ftlab_engine::board::nand::clock::timeline::{Span, Work};
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::board::nand::state::OobRead;
use ftlab_engine::config::{Config, SettingError};
use ftlab_engine::meter::{Cause, Event};
use ftlab_engine::request::Op;
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes::{self, Memory};
use ftlab_engine::ssd::Device;
use ftlab_engine::units::Nanos;

const BLOCKS: u64 = 40;

fn events(device: &dyn Device, event: Event) -> u64 {
    device.board().meter().events(event)
}

/// Hints by what they were worth: held, stale, missing.
fn hints(device: &dyn Device) -> [u64; 3] {
    [Event::HintHits, Event::StaleHints, Event::MissingHints].map(|event| events(device, event))
}

/// A full device with a cache of two entries; the host knows every page unless `pairs` say
/// otherwise.
fn full(pairs: &[(&str, &str)]) -> (Config, Box<dyn Device>) {
    let with = [&[("hmb.cache_entries", "2")], &LATENCIES[..], pairs].concat();
    let config = tiny("hmb", BLOCKS, &with);
    let mut device = open("hmb", &config);
    device.verify_reads();
    fill(device.as_mut(), &config);
    (config, device)
}

/// What a read of one page does to the flash, and how long it takes.
fn read(device: &mut dyn Device, config: &Config, page: u64) -> (Vec<Operation>, Nanos) {
    let mut time = 0;
    let operations = record(device, |device| {
        let done = device.submit(&pages(config, Op::Read, page, 1)).expect("the device works");
        time = done.device();
    });
    (operations, time)
}

const PAGE_READ: Nanos = READ + TRANSFER;

/// The paper's point: one access to flash, whatever the device's cache holds.
#[test]
fn a_read_whose_hint_holds_is_one_access() {
    let (config, mut device) = full(&[]);
    let device = device.as_mut();
    let before = hints(device);
    for page in 0..config.device.logical_pages() - 2 {
        let ppn = place(device, page as u32);
        let (operations, time) = read(device, &config, page);
        assert_eq!(operations, [Operation::Read(ppn, Cause::Host)]);
        assert_eq!(time, 1000 + CONTROLLER + PAGE_READ, "the hint's latency, and the page");
    }
    let held = hints(device)[0] - before[0];
    assert_eq!(held, config.device.logical_pages() - 2);
}

/// Nothing in the host's memory: as DFTL, a translation page first. That page's chunk goes to the
/// host: the neighbours are one access, other chunks are not.
#[test]
fn a_missing_hint_costs_a_map_read_and_brings_its_chunk() {
    // Chunks of 16 entries; one fits.
    let (config, mut device) = full(&[("hmb.chunk_entries", "16"), ("hmb.bytes", "64B")]);
    let device = device.as_mut();
    // Two misses, each in a chunk that the host does not hold: entries that leave the cache are not
    // changed from here on.
    [100, 64].into_iter().for_each(|page| submit(device, &config, Op::Read, page));
    let uploads = events(device, Event::UploadedChunks);
    let ppn = place(device, 32);
    let (operations, time) = read(device, &config, 32);
    let [Operation::Read(_, Cause::Translate), Operation::Read(data, Cause::Host)] = operations[..]
    else {
        panic!("not a miss: {operations:?}");
    };
    assert_eq!((data, time), (ppn, 1000 + CONTROLLER + 2 * PAGE_READ));
    assert_eq!(events(device, Event::UploadedChunks) - uploads, 1);
    for page in 33..48 {
        assert_eq!(read(device, &config, page).0.len(), 1, "a neighbour: {page}");
    }
    assert_eq!(read(device, &config, 48).0.len(), 2, "another chunk");
    assert_eq!(read(device, &config, 34).0.len(), 2, "it took the place of this one");
}

/// Under `on_miss` a rewrite leaves the host with the old page, which is not marked valid any more:
/// seen without a look at the flash. Under `on_write` the host hears of it.
#[test]
fn a_rewritten_page_has_a_stale_hint_until_it_is_read() {
    for (upload, stale) in [("on_miss", 1), ("on_write", 0)] {
        let (config, mut device) = full(&[("hmb.upload", upload)]);
        let device = device.as_mut();
        let _ = read(device, &config, 5);
        submit(device, &config, Op::Write, 5);
        // Out of the device's cache.
        (100..102).for_each(|page| submit(device, &config, Op::Write, page));
        let before = hints(device);
        let ppn = place(device, 5);
        let (operations, _) = read(device, &config, 5);
        assert_eq!(hints(device)[1] - before[1], stale, "{upload}");
        let expected = match stale {
            1 => operations.len() > 1,
            _ => operations.len() == 1,
        };
        assert!(expected, "{upload}: {operations:?}");
        assert_eq!(operations.last(), Some(&Operation::Read(ppn, Cause::Host)));
    }
}

fn random_writes(device: &mut dyn Device, config: &Config, count: u32, seed: u64) {
    let mut rng = Rng::new(seed, Purpose::Workload);
    for _ in 0..count {
        let page = rng.below(config.device.logical_pages() as u32);
        submit(device, config, Op::Write, u64::from(page));
    }
}

/// A page that collection moved, its old place holding another logical page by now: the read in
/// vain shows it, then the map is read, then the page.
#[test]
fn a_hint_to_a_page_that_lives_elsewhere_costs_a_read_in_vain() {
    let (config, mut device) = full(&[]);
    let device = device.as_mut();
    let mut found = 0;
    for round in 0..60 {
        random_writes(device, &config, 60, round);
        for page in 0..config.device.logical_pages() {
            let ppn = place(device, page as u32);
            let before = hints(device);
            let (operations, _) = read(device, &config, page);
            let stale = hints(device)[1] - before[1] == 1;
            let is_data = |ppn| match device.board().nand().state().oob(ppn) {
                OobRead::Written(oob) => oob.kind.is_host_data() && u64::from(oob.logical) != page,
                OobRead::Free | OobRead::Torn => false,
            };
            assert_eq!(operations.last(), Some(&Operation::Read(ppn, Cause::Host)));
            if let [Operation::Read(vain, Cause::Translate), .., _] = operations[..]
                && is_data(vain)
            {
                assert!(stale && operations.len() >= 3, "{operations:?}");
                found += 1;
            }
        }
    }
    assert!(found > 5, "{found} reads in vain");
    device.audit().expect("map, flash and host agree");
}

/// Budilovsky et al. 2011: accesses per read at most 1 + epsilon while the host's memory holds the
/// map and nothing is written; collection's stale hints are corrected once each.
#[test]
fn reads_take_one_access_and_a_little_where_the_host_holds_the_map() {
    for mode in ["hint", "dma"] {
        let (config, mut device) = full(&[("hmb.mode", mode)]);
        let device = device.as_mut();
        random_writes(device, &config, 3000, 3);
        device.start_measuring();
        let mut rng = Rng::new(8, Purpose::Workload);
        let reads = 20_000;
        for _ in 0..reads {
            let page = rng.below(config.device.logical_pages() as u32);
            submit(device, &config, Op::Read, u64::from(page));
        }
        let meter = device.board().meter();
        let all: u64 = Cause::ALL.iter().map(|&cause| meter.reads(cause)).sum();
        let stale = meter.events(Event::StaleHints);
        assert!(all <= reads + 3 * stale + 2, "{mode}: {all} accesses, {stale} stale hints");
        assert!(all * 100 <= reads * 102, "{mode}: epsilon is below 0.02: {all}");
        assert!(stale > 0 && stale <= config.device.logical_pages(), "{mode}: {stale}");
    }
}

/// Every miss of the cache asks for one hint, and every hint is of one kind.
#[test]
fn every_miss_is_a_hint_that_held_was_stale_or_was_missing() {
    for upload in ["on_write", "on_miss"] {
        for bytes in ["0", "128B", "auto"] {
            let pairs = [("hmb.upload", upload), ("hmb.bytes", bytes), ("hmb.chunk_entries", "8")];
            let (config, mut device) = full(&pairs);
            for request in mixed(&config, 3000, 4) {
                device.submit(&request).expect("the device works");
            }
            let count = |event| events(device.as_ref(), event);
            let misses = count(Event::MapLookups) - count(Event::MapHits);
            let [held, stale, missing] = hints(device.as_ref());
            assert_eq!(held + stale + missing, misses, "{upload} {bytes}");
            assert_eq!(bytes == "0", held == 0, "{upload}: {held}");
            assert_eq!(bytes == "0", stale == 0, "{upload}: {stale}");
            device.audit().expect("map, flash and host agree");
        }
    }
}

/// The driver's hint comes with each command; a device that reads the host's memory itself does so
/// for each page that it lacks.
#[test]
fn a_hint_is_paid_by_command_and_a_look_by_page() {
    for (mode, four_pages, cached) in [("hint", 1, 1), ("dma", 4, 0)] {
        let (config, mut device) = full(&[("hmb.mode", mode), ("hmb.hint_us", "700ns")]);
        let device = device.as_mut();
        let before = events(device, Event::HostMemoryReads);
        let done = device.submit(&pages(&config, Op::Read, 8, 4)).expect("the device works");
        assert_eq!(events(device, Event::HostMemoryReads) - before, four_pages, "{mode}");
        assert_eq!(done.device(), 700 * four_pages + 4 * (CONTROLLER + PAGE_READ), "{mode}");
        submit(device, &config, Op::Write, 3);
        let before = events(device, Event::HostMemoryReads);
        assert_eq!(read(device, &config, 3).1, 700 * cached + CONTROLLER + PAGE_READ, "{mode}");
        assert_eq!(events(device, Event::HostMemoryReads) - before, cached, "{mode}");
        let spent = device.board().nand().clock().service_time().host_memory;
        assert_eq!(spent, 700 * events(device, Event::HostMemoryReads), "{mode}: by itself");
    }
}

/// Every page of a command waits for the hint that came with it, on whatever die it is.
#[test]
fn no_page_of_a_command_is_looked_for_before_its_hint_is_here() {
    const HINT: Nanos = 50_000;
    let pairs = [
        ("hmb.hint_us", "50us"),
        ("timing.profile", "parallel"),
        ("device.channels", "4"),
        ("alloc.order", "channel_die_plane"),
    ];
    let (config, mut device) = full(&pairs);
    let device = device.as_mut();
    let planes: Vec<u32> =
        (8..12).map(|page| device.board().geometry().plane_of(place(device, page)).0).collect();
    assert!(planes.iter().any(|&plane| plane != planes[0]), "on several dies: {planes:?}");
    for op in [Op::Read, Op::Write] {
        let mut request = pages(&config, op, 8, 4);
        request.arrival = device.idle_from() + 1_000_000;
        device.board_mut().nand_mut().timeline_mut().start(1000);
        device.submit(&request).expect("the device works");
        let (spans, left_out) = device.board_mut().nand_mut().timeline_mut().take();
        let cells = |span: &&Span| matches!(span.work, Work::Read | Work::Program);
        let first = spans.iter().filter(cells).map(|span| span.start).min();
        let hint = request.arrival + device.measured_from() + HINT;
        assert_eq!(left_out, 0);
        assert!(first.expect("the cells work") >= hint, "{op:?}: {first:?} before {hint}");
    }
}

/// A device that looks into the host's memory remembers what it found there: the next read of the
/// page does not look. It looked every time.
#[test]
fn what_a_look_found_is_cached() {
    let (config, mut device) = full(&[("hmb.mode", "dma"), ("hmb.hint_us", "700ns")]);
    let device = device.as_mut();
    let looks = |device: &dyn Device| events(device, Event::HostMemoryReads);
    let before = looks(device);
    // Both entries are changed: the first two reads push them out behind themselves.
    for (page, looked) in [(8, 1), (8, 0), (9, 1), (8, 0), (10, 1), (9, 1), (10, 0)] {
        let seen = looks(device);
        let (operations, time) = read(device, &config, page);
        assert_eq!(looks(device) - seen, looked, "page {page}");
        assert_eq!(time, 700 * looked + CONTROLLER + PAGE_READ, "page {page}");
        assert_eq!(
            operations.iter().filter(|op| matches!(op, Operation::Read(_, Cause::Host))).count(),
            1
        );
    }
    assert_eq!(looks(device) - before, 4);
    let (lookups, hits) = (events(device, Event::MapLookups), events(device, Event::MapHits));
    assert!(lookups > hits);
    device.audit().expect("map, flash and host agree");
}

/// A chunk that the host holds stays when one entry of another is written: the entry alone took the
/// whole chunk's place.
#[test]
fn a_written_entry_makes_no_chunk_leave() {
    let (config, mut device) = full(&[("hmb.chunk_entries", "16"), ("hmb.bytes", "64B")]);
    let device = device.as_mut();
    // The second write finds its entry cached: it reads no translation page and sends the entry
    // alone.
    for (op, page) in [(Op::Write, 100), (Op::Read, 32), (Op::Write, 100)] {
        submit(device, &config, op, page);
    }
    for page in 33..48 {
        assert_eq!(read(device, &config, page).0.len(), 1, "the chunk is there: {page}");
    }
}

/// Host memory that outlives the device's power cut may say anything: it is verified as always.
#[test]
fn hints_from_before_a_power_cut_are_lost_or_verified() {
    for (kept, upload) in [("lost", "on_write"), ("kept", "on_write"), ("kept", "on_miss")] {
        let (config, mut device) = full(&[("hmb.host_memory", kept), ("hmb.upload", upload)]);
        let device = device.as_mut();
        random_writes(device, &config, 500, 4);
        device.power_cycle().expect("it recovers");
        device.audit().expect("map, flash and host agree");
        let before = hints(device);
        (0..config.device.logical_pages()).for_each(|page| submit(device, &config, Op::Read, page));
        let [held, _, missing] = [0, 1, 2].map(|kind| hints(device)[kind] - before[kind]);
        // With nothing kept, the first read of each chunk finds nothing: two translation pages.
        assert_eq!(missing, if kept == "lost" { 2 } else { 0 }, "{kept} {upload}");
        assert!(held > 100, "{kept} {upload}");
    }
}

/// Without host memory and its latency it is DFTL: `dftl.cmt_policy = lru`, `checkpoint_interval =
/// 0`, as many entries; `hmb.bytes = 0`, `hmb.hint_us = 0`.
#[test]
fn without_host_memory_it_is_dftl_with_an_lru_cache() {
    let run = |scheme: &str, pairs: &[(&str, &str)]| {
        let config = tiny(scheme, BLOCKS, &[&LATENCIES[..], pairs].concat());
        let mut device = open(scheme, &config);
        device.board_mut().nand_mut().record_mut().start();
        let submit = |request| device.submit(&request).expect("the device works").device();
        let times: Vec<Nanos> = mixed(&config, 3000, 3).into_iter().map(submit).collect();
        let operations = device.board_mut().nand_mut().record_mut().take();
        let lookups = [Event::MapLookups, Event::MapHits, Event::EvictClean, Event::EvictDirty];
        (operations, times, lookups.map(|event| events(device.as_ref(), event)))
    };
    let none = [("hmb.bytes", "0"), ("hmb.hint_us", "0us"), ("hmb.cache_entries", "8")];
    let lru = [("dftl.cmt_policy", "lru"), ("dftl.checkpoint_interval", "0")];
    let dftl = run("dftl", &[&lru[..], &[("dftl.cmt_entries", "8")]].concat());
    assert!(run("hmb", &none) == dftl);
    let with_host = [("hmb.hint_us", "0us"), ("hmb.cache_entries", "8")];
    assert!(run("hmb", &with_host).0.len() < dftl.0.len(), "hints save map reads");
}

#[test]
fn the_map_is_in_the_hosts_memory_and_the_cache_in_the_budget() {
    let (row, _) = schemes::find("hmb").expect("a scheme of the table");
    let bytes = |pairs: &[(&str, &str)], name, memory| {
        let uses = (row.ram_use)(&config(pairs));
        let found = uses.iter().find(|one| one.structure == name).expect("there");
        assert_eq!(found.memory, memory);
        found.bytes
    };
    let map = config(&[]).device.logical_pages() * 4;
    assert_eq!(bytes(&[], "host_map", Memory::Host), map);
    assert_eq!(bytes(&[("hmb.bytes", "64KiB")], "host_map", Memory::Host), 64 << 10);
    assert_eq!(bytes(&[], "cmt", Memory::Sram), 32 << 10);
    assert_eq!(bytes(&[("device.ram_bytes", "8KiB")], "cmt", Memory::Sram), 8 << 10);
    let refused = |pairs| matches!((row.check)(&config(pairs)), Err(SettingError::Conflict(_)));
    assert!(refused(&[("device.ram_bytes", "1KiB"), ("hmb.cache_entries", "129")]));
    assert!(!refused(&[("device.ram_bytes", "1KiB"), ("hmb.cache_entries", "128")]));
    assert!(refused(&[("hmb.chunk_entries", "100")]), "512 entries to a translation page");
    assert!(!refused(&[("hmb.chunk_entries", "64")]));
    // A chunk of 64 entries takes 256 bytes; less is no chunk, and 0 is none on purpose.
    for (given, wrong) in [("0", false), ("1B", true), ("255B", true), ("256B", false)] {
        let pairs = [("hmb.chunk_entries", "64"), ("hmb.bytes", given)];
        let result = (row.check)(&config(&pairs));
        assert_eq!(result.is_err(), wrong, "hmb.bytes = {given}");
        let said = result.err().map(|refusal| refusal.to_string()).unwrap_or_default();
        assert_eq!(said.contains("takes 256 bytes"), wrong, "{said}");
    }
}

/// A write buffer serves the first page of a command, or writes out pages of an older one: the hint
/// is sent with each command whose pages come to the scheme, once.
#[test]
fn a_hint_is_sent_once_wherever_the_command_begins() {
    let buffer =
        [("buffer.name", "lru"), ("buffer.bytes", "4KiB"), ("buffer.cache_reads", "false")];
    let (config, mut device) = full(&buffer);
    let device = device.as_mut();
    flush(device);
    submit(device, &config, Op::Write, 40);
    let sent = |device: &dyn Device| events(device, Event::HostMemoryReads);
    let before = sent(device);
    let both = device.submit(&pages(&config, Op::Read, 40, 3)).expect("works");
    assert_eq!(sent(device) - before, 1, "the first page came from the buffer");
    let alone = device.submit(&pages(&config, Op::Read, 60, 3)).expect("works");
    assert_eq!(sent(device) - before, 2);
    assert!(both.device() > 1000 && alone.device() > both.device());
    let _ = device.submit(&pages(&config, Op::Read, 40, 1)).expect("works");
    assert_eq!(sent(device) - before, 2, "nothing of it came to the scheme");
}
