//! CDFTL's two levels as sequences of flash operations: what is absorbed, what is written and what
//! is found where; and identities on random runs.

use crate::common::{config, fill, mixed, open, place, record, submit, tiny};
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::config::Config;
use ftlab_engine::meter::{Cause, Event};
use ftlab_engine::request::{Op, Request};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes::{self, Location};
use ftlab_engine::ssd::Device;
use ftlab_engine::units::{Lpn, Ppn};

fn events<const N: usize>(device: &dyn Device, events: [Event; N]) -> [u64; N] {
    events.map(|event| device.board().meter().events(event))
}

/// What the map page at `ppn` says of a page.
fn written(device: &dyn Device, ppn: Ppn, lpn: u32) -> Location {
    match device.board().nand().payload(ppn)[lpn as usize % 512] {
        0 => Location::Nowhere,
        word => Location::Flash(Ppn(word - 1)),
    }
}

/// Two entries over one translation page of 512. Pages 1, 2, 3 belong to translation page 0, pages
/// 600 and 700 to translation page 1.
#[test]
fn changed_entries_are_absorbed_and_leave_with_their_page() {
    let config = config(&[("cdftl.cmt_entries", "2"), ("cdftl.ctp_pages", "1")]);
    let mut device = open("cdftl", &config);
    let device = device.as_mut();
    device.verify_reads();
    let write = |device: &mut dyn Device, page: u64| {
        record(device, |device| submit(device, &config, Op::Write, page))
    };
    // The first miss reads translation page 0 into the second level (it is implicit, so that the
    // record has no place for it); the others find their entries there.
    for page in [1, 2, 3] {
        let operations = write(device, page);
        let data = place(device, page as u32);
        assert_eq!(operations, [Operation::Program(data, Cause::Host)], "page {page}");
    }
    // The third entry needed the first one's place: absorbed, without flash access.
    let counts = [Event::SecondLevelHits, Event::AbsorbedEvictions, Event::EvictDirty];
    assert_eq!(events(device, counts), [2, 1, 0]);

    // Page 600: the entry of page 2 is absorbed, and translation page 0 makes room for 1. It was
    // changed: what it absorbed and what the first level knows better (page 3) are written
    // together, and nothing is read.
    let operations = write(device, 600);
    let [Operation::Program(map_0, Cause::Translate), Operation::Program(_, Cause::Host)] =
        operations[..]
    else {
        panic!("{operations:?}");
    };
    for page in [1, 2, 3] {
        assert_eq!(written(device, map_0, page), device.locate(Lpn(page)));
    }
    assert_eq!(events(device, counts), [2, 2, 1]);
    assert_eq!(events(device, [Event::BatchedEvictions, Event::SecondLevelEvictions]), [2, 1]);

    // Page 700: its entry is in the second level; the entry of page 600, whose page is there,
    // leaves for it although that of page 3 was used earlier.
    let operations = write(device, 700);
    assert_eq!(operations, [Operation::Program(place(device, 700), Cause::Host)]);
    assert_eq!(events(device, counts), [3, 3, 1]);
    let read = |device: &mut dyn Device, page: u64| {
        record(device, |device| submit(device, &config, Op::Read, page))
    };
    let three = place(device, 3);
    assert_eq!(read(device, 3), [Operation::Read(three, Cause::Host)], "in the first level");

    // Page 1: in neither level. The entry of page 700 is absorbed, translation page 1 written,
    // translation page 0 read.
    let one = place(device, 1);
    let operations = read(device, 1);
    let [Operation::Program(map_1, Cause::Translate), rest @ ..] = &operations[..] else {
        panic!("{operations:?}");
    };
    let reads = [Operation::Read(map_0, Cause::Translate), Operation::Read(one, Cause::Host)];
    assert_eq!(rest, reads);
    assert_eq!(written(device, *map_1, 600), device.locate(Lpn(600)));
    assert_eq!(written(device, *map_1, 700), device.locate(Lpn(700)));
    device.audit().expect("the levels agree");
}

/// An entry may be in both levels: the first one is newer, and what flash says is older than both.
#[test]
fn what_the_first_level_says_is_newer() {
    let config = config(&[("cdftl.cmt_entries", "2"), ("cdftl.ctp_pages", "1")]);
    let mut device = open("cdftl", &config);
    let device = device.as_mut();
    device.verify_reads();
    // Changed in the first level and unknown to the second; absorbed; changed again above it.
    for page in [1, 2, 3, 1, 1] {
        submit(device, &config, Op::Write, page);
        let place = place(device, page as u32);
        let read = record(device, |device| submit(device, &config, Op::Read, page));
        assert_eq!(read, [Operation::Read(place, Cause::Host)]);
        device.audit().expect("the levels agree");
    }
    // Translation page 0 leaves with the newest, wherever it is.
    let newest = device.locate(Lpn(1));
    let operations = record(device, |device| submit(device, &config, Op::Read, 600));
    let Some(Operation::Program(map_0, Cause::Translate)) = operations.first() else {
        panic!("{operations:?}");
    };
    assert_eq!(written(device, *map_0, 1), newest);
    // Trimmed in the first level, still mapped below and on flash.
    submit(device, &config, Op::Write, 2);
    submit(device, &config, Op::Trim, 2);
    assert_eq!(device.locate(Lpn(2)), Location::Nowhere);
    device.audit().expect("the levels agree");
}

/// Whether the first level still holds a page's entry.
fn held(device: &mut dyn Device, config: &Config, page: u64) -> bool {
    let counts = [Event::MapHits, Event::SecondLevelHits];
    let [hits, below] = events(device, counts);
    submit(device, config, Op::Read, page);
    let [hits_now, below_now] = events(device, counts);
    (hits_now - hits) - (below_now - below) == 1
}

/// Three entries: page 1, changed, used longest ago; page 600, unchanged; page 1200, unchanged,
/// used last. Which one leaves for page 1700?
#[test]
fn the_order_in_which_entries_leave_the_first_level() {
    let leaver = |order: &str, pages: &str| {
        let left = [1, 600, 1200].map(|probe| {
            let config = config(&[
                ("cdftl.cmt_entries", "3"),
                ("cdftl.ctp_pages", pages),
                ("cdftl.cmt_evict_order", order),
            ]);
            let mut device = open("cdftl", &config);
            let device = device.as_mut();
            submit(device, &config, Op::Write, 1);
            submit(device, &config, Op::Read, 600);
            submit(device, &config, Op::Read, 1200);
            submit(device, &config, Op::Read, 1700);
            let dirty = device.board().meter().events(Event::EvictDirty);
            (!held(device, &config, probe)).then_some((probe, dirty))
        });
        left.into_iter().flatten().collect::<Vec<_>>()
    };
    // Without a second level, none is in it.
    assert_eq!(leaver("ctp_resident_clean_dirty", "0"), [(600, 0)]);
    assert_eq!(leaver("ctp_resident_dirty_clean", "0"), [(1, 1)]);
    assert_eq!(leaver("ctp_resident_lru", "0"), [(1, 1)]);
    assert_eq!(leaver("lru", "0"), [(1, 1)]);
    // The translation page of 1200 is in the second level, being the last that was read.
    assert_eq!(leaver("ctp_resident_clean_dirty", "1"), [(1200, 0)]);
    assert_eq!(leaver("ctp_resident_dirty_clean", "1"), [(1200, 0)]);
    assert_eq!(leaver("ctp_resident_lru", "1"), [(1200, 0)]);
    assert_eq!(leaver("lru", "1"), [(1, 1)]);
    // With room for all of them every one is resident: the one used longest ago is absorbed.
    assert_eq!(leaver("ctp_resident_clean_dirty", "4"), [(1, 0)]);
}

/// Selective: a translation page enters the second level when the first one holds entries of it.
#[test]
fn a_second_miss_nearby_brings_the_page() {
    let read = |needed: &str, pages: &[u64]| {
        let config = config(&[
            ("cdftl.cmt_entries", "8"),
            ("cdftl.ctp_pages", "1"),
            ("cdftl.load_policy", "selective"),
            ("cdftl.selective_entries", needed),
        ]);
        let mut device = open("cdftl", &config);
        let device = device.as_mut();
        pages.iter().for_each(|&page| submit(device, &config, Op::Read, page));
        let loads = device.board().meter().reads(Cause::Translate);
        (loads, device.board().meter().events(Event::SecondLevelHits))
    };
    assert_eq!(read("1", &[1, 2, 3, 4]), (2, 2), "the second miss brings it");
    assert_eq!(read("2", &[1, 2, 3, 4]), (3, 1), "the third");
    assert_eq!(read("1", &[1, 600, 1200, 1700]), (4, 0), "none is brought");
    assert_eq!(
        read("1", &[1, 600, 2, 601, 3]),
        (5, 0),
        "the second one takes the first one's place"
    );
}

/// Two pages in the second level: the one whose entry was found there later stays.
#[test]
fn a_page_that_is_hit_in_the_second_level_stays_there() {
    let loads = |pages: &[u64]| {
        let config = config(&[("cdftl.cmt_entries", "8"), ("cdftl.ctp_pages", "2")]);
        let mut device = open("cdftl", &config);
        pages.iter().for_each(|&page| submit(device.as_mut(), &config, Op::Read, page));
        device.board().meter().reads(Cause::Translate)
    };
    let (first, second, third) = (1, 600, 1200);
    assert_eq!(loads(&[first, second, third]), 3);
    // Without the hit of page 2 the third page takes the place of the first.
    assert_eq!(loads(&[first, second, third, 3]), 4);
    assert_eq!(loads(&[first, second, 2, third, 3]), 3);
    assert_eq!(loads(&[first, second, 2, third, 601]), 4);
    // A hit in the first level is none in the second.
    assert_eq!(loads(&[first, second, first, third, 3]), 4);
}

/// Lazy copying reaches both levels: with every translation page in the second level, collection
/// never writes a map page.
#[test]
fn collection_changes_entries_of_the_second_level_in_memory() {
    let pairs = [("cdftl.cmt_entries", "2"), ("cdftl.ctp_pages", "2")];
    let config = tiny("cdftl", 60, &pairs);
    let mut device = open("cdftl", &config);
    let device = device.as_mut();
    device.verify_reads();
    fill(device, &config);
    device.start_measuring();
    let mut rng = Rng::new(4, Purpose::Workload);
    for _ in 0..4000 {
        submit(device, &config, Op::Write, u64::from(rng.below(240)));
    }
    device.audit().expect("the levels agree");
    let meter = device.board().meter();
    assert!(meter.programs(Cause::Gc) > 1000);
    assert_eq!(meter.events(Event::LazyUpdates), meter.programs(Cause::Gc));
    assert_eq!((meter.programs(Cause::GcMapUpdate), meter.programs(Cause::Translate)), (0, 0));
    assert_eq!(meter.reads(Cause::Translate), 0, "every look-up is answered from memory");
}

/// Map reads are misses and read-modify-writes; map writes are changed entries and pages that left;
/// what leaves the first level was copied there.
#[test]
fn counters_add_up() {
    for order in ["ctp_resident_clean_dirty", "lru"] {
        let pairs = [
            ("cdftl.cmt_entries", "6"),
            ("cdftl.ctp_pages", "2"),
            ("cdftl.cmt_evict_order", order),
        ];
        let config = tiny("cdftl", 170, &pairs);
        let mut device = open("cdftl", &config);
        for request in mixed(&config, 4000, 3) {
            device.submit(&request).expect("works");
        }
        let meter = device.board().meter();
        let event = |event| meter.events(event);
        let misses = event(Event::MapLookups) - event(Event::MapHits);
        let pages = event(Event::SecondLevelEvictions);
        let left = event(Event::EvictClean) + event(Event::EvictDirty) - pages;
        let copied = misses + event(Event::SecondLevelHits);
        assert_eq!(left + event(Event::AbsorbedEvictions), copied - 6, "the CMT holds six");
        assert_eq!(pages, misses - 2, "every miss brings a page, and the CTP holds two");
        let (reads, writes) = (meter.reads(Cause::Translate), meter.programs(Cause::Translate));
        assert_eq!(writes, event(Event::EvictDirty), "(7) = changed entries and pages evicted");
        let rewritten = reads - misses;
        assert!(rewritten < writes, "pages are written without a read");
        assert!(event(Event::AbsorbedEvictions) > 100 && event(Event::SecondLevelHits) > 100);
        assert!(
            order != "lru" || rewritten > 0,
            "an entry whose page is not there is written alone"
        );
    }
}

/// What only the two levels knew is found again after a power cut: by a scan of the flash, or
/// because memory survives; then hardly anything is read.
#[test]
fn nothing_is_lost_with_the_power() {
    let [scanned, survived] = ["false", "true"].map(|nonvolatile| {
        let pairs = [
            ("cdftl.cmt_entries", "40"),
            ("cdftl.ctp_pages", "2"),
            ("device.ram_nonvolatile", nonvolatile),
        ];
        let config = tiny("cdftl", 170, &pairs);
        let mut device = open("cdftl", &config);
        for request in mixed(&config, 3000, 5) {
            device.submit(&request).expect("works");
        }
        device.submit(&flush()).expect("works");
        let pages = 0..config.device.logical_pages() as u32;
        let before: Vec<Location> = pages.clone().map(|page| device.locate(Lpn(page))).collect();
        device.start_measuring();
        device.power_cycle().expect("recovery works");
        device.audit().expect("the levels agree");
        let tag = |location| match location {
            Location::Flash(ppn) => device.board().nand().state().tag(ppn).0,
            _ => 0,
        };
        let after = pages.map(|page| device.locate(Lpn(page)));
        assert!(after.zip(before).all(|(now, then)| tag(now) == tag(then)));
        device.board().meter().oob_reads()
    });
    assert!(survived < scanned / 4, "{survived} out-of-band areas read, {scanned} by a scan");
}

fn flush() -> Request {
    Request {
        arrival: 0,
        op: Op::Flush,
        first_sector: 0,
        sectors: 0,
        unit: 0,
        stream: None,
        content: None,
    }
}

#[test]
fn sizes_above_the_budget_are_refused() {
    let (row, _) = schemes::find("cdftl").expect("a scheme of the table");
    let check = |pairs: &[(&str, &str)]| (row.check)(&config(pairs)).map_err(|e| e.to_string());
    let ram = ("device.ram_bytes", "16KiB");
    assert_eq!(check(&[ram]), Ok(()));
    assert_eq!(check(&[ram, ("cdftl.ctp_pages", "7")]), Ok(()));
    for pairs in [[ram, ("cdftl.ctp_pages", "9")], [ram, ("cdftl.cmt_entries", "2049")]] {
        let refusal = check(&pairs).expect_err("too large");
        assert!(refusal.contains("device.ram_bytes leaves"), "{refusal}");
    }
}

/// Pages and entries beyond the map's take no room from the other level.
#[test]
fn a_level_larger_than_the_map_leaves_the_rest_to_the_other() {
    let (row, _) = schemes::find("cdftl").expect("a scheme of the table");
    let bytes = |pair: (&str, &str)| {
        let ram = [("device.ram_bytes", "512KiB"), ("cdftl.gtd_in_budget", "false"), pair];
        let used = (row.ram_use)(&config(&ram));
        let of = |name| used.iter().find(|used| used.structure == name).expect("a level").bytes;
        (of("cmt"), of("ctp"))
    };
    let map = 4 * config(&[]).device.logical_pages();
    let (cmt, ctp) = bytes(("cdftl.ctp_pages", "4000"));
    assert_eq!((cmt, ctp), (512 * 1024 - ctp, map.next_multiple_of(2048)));
    let (cmt, ctp) = bytes(("cdftl.cmt_entries", "100000"));
    assert_eq!((cmt, ctp), (2 * map, (512 * 1024 - 2 * map) / 2048 * 2048));
}
