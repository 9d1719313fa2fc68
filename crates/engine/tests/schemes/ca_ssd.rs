//! Contents that are stored once: what a write does to the flash when its content is known, who
//! owns a page, and when a value is forgotten.

use crate::common::{
    CONTROLLER, LATENCIES, PROGRAM, TRANSFER, flush, open, pages, place, record, submit, tiny,
};
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::config::Config;
use ftlab_engine::meter::{Cause, Event};
use ftlab_engine::request::{Content, Op, Request};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes::{self, Location};
use ftlab_engine::ssd::Device;
use ftlab_engine::units::{Lpn, Nanos};

const BLOCKS: u64 = 10;

fn opened(pairs: &[(&str, &str)]) -> (Config, Box<dyn Device>) {
    let with = [&LATENCIES[..], pairs].concat();
    let config = tiny("ca_ssd", BLOCKS, &with);
    let mut device = open("ca_ssd", &config);
    device.verify_reads();
    (config, device)
}

fn of(config: &Config, page: u64, content: u64) -> Request {
    Request { content: Some(Content::new(content)), ..pages(config, Op::Write, page, 1) }
}

/// What a write of a content does to the flash, and how long it takes.
fn write(
    device: &mut dyn Device,
    config: &Config,
    page: u64,
    content: u64,
) -> (Vec<Operation>, Nanos) {
    let mut time = 0;
    let operations = record(device, |device| {
        let done = device.submit(&of(config, page, content)).expect("the device works");
        time = done.device();
    });
    device.audit().expect("sound");
    (operations, time)
}

fn events(device: &dyn Device, event: Event) -> u64 {
    device.board().meter().events(event)
}

fn programs(operations: &[Operation]) -> usize {
    operations.iter().filter(|one| matches!(one, Operation::Program(..))).count()
}

/// What the phase-change memory holds is a page of flash, plus one, for every logical page: a
/// device whose flash is saved is there again with these words.
#[test]
fn the_map_is_what_the_phase_change_memory_holds() {
    let (config, mut device) = opened(&[]);
    let device = device.as_mut();
    [3, 8].into_iter().for_each(|page| _ = write(device, &config, page, 77));
    let shared = place(device, 3).0 + 1;
    let words: Vec<u32> = (0..config.device.logical_pages())
        .map(|page| if page == 3 || page == 8 { shared } else { 0 })
        .collect();
    assert_eq!(device.pcm(), words);
    device.pcm_mut()[8] = 0;
    assert_eq!(device.locate(Lpn(8)), Location::Nowhere);
}

/// The second write of a content is a change of the map: both pages are read from one place.
#[test]
fn a_content_is_programmed_once() {
    let (config, mut device) = opened(&[]);
    let device = device.as_mut();
    let (first, time) = write(device, &config, 3, 77);
    assert_eq!((programs(&first), time), (1, CONTROLLER + TRANSFER + PROGRAM));
    let (second, time) = write(device, &config, 8, 77);
    assert_eq!((second, time), (vec![], CONTROLLER), "nothing goes to flash");
    let page = place(device, 3);
    assert_eq!(place(device, 8), page);
    for lpn in [3, 8] {
        let read = record(device, |device| submit(device, &config, Op::Read, lpn));
        assert_eq!(read, [Operation::Read(page, Cause::Host)]);
    }
    assert_eq!(device.audit().expect("sound").shared_pages, 1);
    let counts = [Event::HashedPages, Event::ValueHits].map(|event| events(device, event));
    assert_eq!(counts, [2, 1]);
}

/// Joining comes before leaving, so that the page's last owner does not lose it.
#[test]
fn what_is_there_already_is_written_again_for_nothing() {
    let (config, mut device) = opened(&[]);
    let device = device.as_mut();
    write(device, &config, 3, 77);
    let page = place(device, 3);
    assert_eq!(write(device, &config, 3, 77).0, []);
    assert_eq!(place(device, 3), page);
    assert!(device.board().nand().state().is_valid(page));
}

/// A page dies with the last of its owners, by a write or a trim, and its value with it: a later
/// write of the content is programmed.
#[test]
fn a_page_lives_as_long_as_an_owner_and_so_does_its_value() {
    let (config, mut device) = opened(&[]);
    let device = device.as_mut();
    [3, 8, 9].into_iter().for_each(|lpn| _ = write(device, &config, lpn, 77));
    let page = place(device, 3);
    let is_valid = |device: &dyn Device| device.board().nand().state().is_valid(page);
    // The one that it was written for leaves first.
    write(device, &config, 3, 1);
    assert!(is_valid(device));
    submit(device, &config, Op::Trim, 9);
    assert!(is_valid(device));
    assert_eq!((place(device, 8), device.audit().expect("sound").shared_pages), (page, 0));
    assert_eq!(device.locate(Lpn(9)), Location::Nowhere);
    write(device, &config, 8, 2);
    assert!(!is_valid(device));
    assert_eq!(programs(&write(device, &config, 9, 77).0), 1);
}

/// Of two values the one that was written longest ago leaves a table of two; its page stays what it
/// is. A hit is a write: it makes a value the latest.
#[test]
fn a_value_that_left_the_table_is_programmed_anew() {
    let (config, mut device) = opened(&[("ca_ssd.values", "2")]);
    let device = device.as_mut();
    let mut of = |page, content| programs(&write(device, &config, page, content).0);
    assert_eq!([of(0, 1), of(1, 2), of(2, 1), of(3, 3)], [1, 1, 0, 1], "2 leaves");
    assert_eq!([of(4, 1), of(5, 2)], [0, 1], "3 leaves");
    assert_eq!([of(6, 1), of(7, 2), of(8, 3)], [0, 0, 1], "1 leaves");
    assert_eq!(of(9, 1), 1);
    assert_eq!(events(device, Event::ValueEvictions), 4);
    assert_ne!(place(device, 9), place(device, 0));
    let (config, mut device) = opened(&[("ca_ssd.values", "0")]);
    let device = device.as_mut();
    assert_eq!(programs(&write(device, &config, 0, 1).0), 1);
    assert_eq!(programs(&write(device, &config, 1, 1).0), 1, "a table without room");
}

/// Pages of one request hold the parts of its content; a request for half a page says nothing of
/// the other half.
#[test]
fn pages_of_a_request_are_its_parts_and_half_a_page_is_its_own() {
    let (config, mut device) =
        opened(&[("io.partial_write", "rmw"), ("device.page_bytes", "1024")]);
    let device = device.as_mut();
    let content = Some(Content::new(5));
    let two = |page| Request { content, ..pages(&config, Op::Write, page, 2) };
    device.submit(&two(0)).expect("the device works");
    assert_ne!(place(device, 0), place(device, 1), "two parts of a content are two contents");
    let again = record(device, |device| _ = device.submit(&two(6)).expect("the device works"));
    assert_eq!(again, []);
    assert_eq!([place(device, 6), place(device, 7)], [place(device, 0), place(device, 1)]);
    // From the middle of page 3 on: page 4 holds what comes behind half a page.
    let sectors = pages(&config, Op::Write, 3, 2);
    let odd = Request { first_sector: sectors.first_sector + 1, content, ..sectors };
    for _ in 0..2 {
        let halves = Request { sectors: 3, ..odd };
        let written = record(device, |device| _ = device.submit(&halves).expect("it works"));
        let is_first = device.board().meter().events(Event::ValueHits) == 2;
        assert_eq!(programs(&written), if is_first { 2 } else { 1 }, "{written:?}");
    }
    device.audit().expect("sound");
}

/// Hashing is the controller's work, before anything else.
#[test]
fn a_hash_takes_its_time_on_both_ways() {
    let (config, mut device) = opened(&[("ca_ssd.hash_us", "47us")]);
    let device = device.as_mut();
    assert_eq!(write(device, &config, 0, 1).1, CONTROLLER + 47_000 + TRANSFER + PROGRAM);
    assert_eq!(write(device, &config, 1, 1).1, CONTROLLER + 47_000);
}

/// Collection moves a page with all of its owners, and whoever comes later finds it where it went.
#[test]
fn a_page_moves_with_its_owners_and_its_value() {
    let (config, mut device) = opened(&[]);
    let device = device.as_mut();
    let shared = [0, 7, 30];
    shared.into_iter().for_each(|lpn| _ = write(device, &config, lpn, 77));
    let page = place(device, 0);
    let mut rng = Rng::new(1, Purpose::Workload);
    let others: Vec<u64> =
        (0..config.device.logical_pages()).filter(|lpn| !shared.contains(lpn)).collect();
    let mut number = 1000;
    while place(device, 0) == page {
        number += 1;
        assert!(number < 3000, "every page is moved some time");
        write(device, &config, others[rng.below(others.len() as u32) as usize], number);
    }
    let new = place(device, 0);
    assert_eq!(shared.map(|lpn| place(device, lpn as u32)), [new; 3]);
    assert_eq!(write(device, &config, others[0], 77).0, []);
    assert_eq!(place(device, others[0] as u32), new);
}

/// A share d of the host's writes whose content is live and in the table: programs of the host are
/// (1 - d) of its writes, exactly.
#[test]
fn programs_are_what_is_left_of_the_writes() {
    let (config, mut device) = opened(&[]);
    let device = device.as_mut();
    let last = config.device.logical_pages() - 1;
    // It stays where it is, and keeps its value alive.
    write(device, &config, last, 77);
    let mut rng = Rng::new(2, Purpose::Workload);
    let before = device.board().meter().programs(Cause::Host);
    let mut hits = 0;
    for number in 0..2000u64 {
        let is_hit = rng.below(10) < 3;
        hits += u64::from(is_hit);
        let content = if is_hit { 77 } else { 1000 + number };
        write(device, &config, u64::from(rng.below(last as u32)), content);
    }
    assert_eq!(device.board().meter().programs(Cause::Host) - before, 2000 - hits);
    assert_eq!(events(device, Event::ValueHits), hits);
    assert!(device.board().meter().programs(Cause::Gc) > 0, "pages were moved meanwhile");
}

/// What cannot be read is nobody else's: a write of the same content is programmed.
#[test]
fn nobody_shares_what_is_lost() {
    let pairs = [("nand.read_error_rate", "0.5"), ("nand.read_retries", "1")];
    let (config, mut device) = opened(&pairs);
    let device = device.as_mut();
    write(device, &config, 0, 77);
    let read = |device: &mut dyn Device| {
        device.submit(&pages(&config, Op::Read, 0, 1)).expect("it completes").unreadable
    };
    assert!((0..100).any(|_| read(device).is_some()), "half of the reads fail");
    assert_eq!(programs(&write(device, &config, 1, 77).0), 1);
    assert_eq!(programs(&write(device, &config, 2, 77).0), 0, "the new page is whole");
}

/// A die that is known to have failed takes nobody in: what is written then is kept elsewhere.
#[test]
fn nobody_comes_to_a_die_that_failed() {
    let pairs = [
        ("device.channels", "4"),
        ("device.over_provisioning", "3x"),
        ("alloc.unit", "line"),
        ("alloc.order", "channel_die_plane"),
        ("nand.failing_die", "1"),
        ("nand.die_fails_after", "12"),
    ];
    let (config, mut device) = opened(&pairs);
    let device = device.as_mut();
    device.start_measuring();
    let die = |device: &dyn Device, page: u32| {
        let geometry = device.board().geometry();
        geometry.die_of(geometry.plane_of(place(device, page)))
    };
    (0..4).for_each(|page| _ = write(device, &config, page, 70 + page));
    let on_it = (0..4).find(|&page| die(device, page as u32) == 1).expect("a page of each die");
    let mut number = 1000;
    while device.board().nand().known_failed_die().is_none() {
        number += 1;
        write(device, &config, number % 8 + 8, number);
    }
    let again = write(device, &config, 5, 70 + on_it).0;
    assert_eq!(programs(&again), 1, "{again:?}");
    assert_ne!(die(device, 5), 1);
    let read = device.submit(&pages(&config, Op::Read, 5, 1)).expect("the device works");
    assert!(read.unreadable.is_none());
    assert_eq!(programs(&write(device, &config, 6, 70 + on_it).0), 0, "there it is shared");
}

/// Padding of a buffer that nobody wrote is no value.
#[test]
fn what_nobody_wrote_is_not_shared() {
    let pairs = [
        ("buffer.name", "bplru"),
        ("buffer.bytes", "4KiB"),
        ("buffer.pad_unwritten", "true"),
        ("device.page_bytes", "1024"),
    ];
    let (config, mut device) = opened(&pairs);
    let device = device.as_mut();
    (0..8).for_each(|block| submit(device, &config, Op::Write, 4 * block));
    flush(device);
    let pads = device.board().meter().programs(Cause::Pad);
    assert!(pads > 8, "{pads} pages were filled up");
    device.audit().expect("sound");
    assert_eq!(events(device, Event::ValueHits), 0);
}

/// The map and the values outlive the power.
#[test]
fn who_shares_a_page_shares_it_after_a_cut() {
    let (config, mut device) = opened(&[]);
    let device = device.as_mut();
    [3, 8].into_iter().for_each(|lpn| _ = write(device, &config, lpn, 77));
    submit(device, &config, Op::Trim, 3);
    write(device, &config, 5, 77);
    let page = place(device, 8);
    device.power_cycle().expect("it recovers");
    device.audit().expect("sound");
    assert_eq!([5, 8].map(|lpn| place(device, lpn)), [page; 2]);
    assert_eq!(device.locate(Lpn(3)), Location::Nowhere, "a trim needs no record");
    assert_eq!(write(device, &config, 3, 77).0, []);
}

/// 4 bytes of map, 12 of owners, 16 of a hash a page, 28 a value of the table, and its index.
#[test]
fn what_the_battery_keeps_is_reported() {
    let (config, device) = opened(&[("ca_ssd.values", "100")]);
    let (row, _) = schemes::find("ca_ssd").expect("a scheme of the table");
    let bytes = |name: &str| {
        let found = (row.ram_use)(&config).into_iter().find(|one| one.structure == name);
        found.unwrap_or_else(|| panic!("{name} is reported")).bytes
    };
    let logical = config.device.logical_pages();
    let physical = u64::from(device.board().geometry().pages());
    assert_eq!(bytes("page_table"), 4 * logical);
    assert_eq!(bytes("page_owners"), 4 * physical + 8 * logical);
    assert_eq!((bytes("page_hashes"), bytes("value_table")), (16 * physical, 2800));
    assert_eq!(bytes("value_index"), 4 * (100 + 128));
}
