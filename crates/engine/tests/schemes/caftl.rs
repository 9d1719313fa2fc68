//! Contents that are stored once without a battery: what is hashed and when, who gets a number,
//! what idle time joins, and what flash says of all that.

use crate::common::{
    CONTROLLER, LATENCIES, PROGRAM, TRANSFER, flush, open, pages, place, record, submit, tiny,
};
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::board::nand::state::{OobRead, PageKind};
use ftlab_engine::config::Config;
use ftlab_engine::meter::{Cause, Event, Level};
use ftlab_engine::request::{Content, Op, Request};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes::{self, Location};
use ftlab_engine::ssd::Device;
use ftlab_engine::units::{Lpn, Nanos};

const BLOCKS: u64 = 10;
/// What 512 bytes take, an eighth of 4 KiB.
const CRC: Nanos = 500;
const SHA1: Nanos = 5_875;

fn opened(pairs: &[(&str, &str)]) -> (Config, Box<dyn Device>) {
    let with = [&LATENCIES[..], pairs].concat();
    let config = tiny("caftl", BLOCKS, &with);
    let mut device = open("caftl", &config);
    device.verify_reads();
    (config, device)
}

fn of(config: &Config, page: u64, count: u64, content: u64) -> Request {
    Request { content: Some(Content::new(content)), ..pages(config, Op::Write, page, count) }
}

fn submitted(device: &mut dyn Device, request: &Request) -> (Vec<Operation>, Nanos) {
    let mut time = 0;
    let operations =
        record(device, |device| time = device.submit(request).expect("the device works").device());
    device.audit().expect("sound");
    (operations, time)
}

/// What a write of a content does to the flash, and how long it takes.
fn write(
    device: &mut dyn Device,
    config: &Config,
    page: u64,
    content: u64,
) -> (Vec<Operation>, Nanos) {
    submitted(device, &of(config, page, 1, content))
}

fn events(device: &dyn Device, event: Event) -> u64 {
    device.board().meter().events(event)
}

/// Of the host's pages.
fn programs(operations: &[Operation]) -> usize {
    operations.iter().filter(|one| matches!(one, Operation::Program(_, Cause::Host))).count()
}

/// A request after a long gap.
fn idle(device: &mut dyn Device, config: &Config) -> Vec<Operation> {
    let arrival = device.idle_from() + 1_000_000_000;
    let request = Request { arrival, ..pages(config, Op::Read, 0, 1) };
    submitted(device, &request).0
}

/// What the out-of-band area of a logical page's place says.
fn name(device: &dyn Device, page: u32) -> (PageKind, u32) {
    let OobRead::Written(oob) = device.board().nand().state().oob(place(device, page)) else {
        panic!("page {page} can be read");
    };
    (oob.kind, oob.logical)
}

/// A new value costs a CRC-32, and its SHA-1 behind the program; a known one costs both, and
/// nothing of the flash.
#[test]
fn a_content_is_programmed_once() {
    let (config, mut device) = opened(&[]);
    let device = device.as_mut();
    let (first, time) = write(device, &config, 3, 77);
    assert_eq!((programs(&first), time), (1, CONTROLLER + CRC + TRANSFER + PROGRAM));
    let (second, time) = write(device, &config, 8, 77);
    assert_eq!((second, time), (vec![], CONTROLLER + CRC + SHA1));
    let page = place(device, 3);
    assert_eq!(place(device, 8), page);
    let counts = [Event::PrehashedPages, Event::HashedPages, Event::ValueHits];
    assert_eq!(counts.map(|event| events(device, event)), [2, 2, 1]);
    // What is there already is written again for nothing.
    assert_eq!(write(device, &config, 8, 77).0, []);
    assert_eq!((place(device, 8), device.audit().expect("sound").shared_pages), (page, 1));
}

#[test]
fn hashing_takes_what_the_settings_say() {
    let all = [("caftl.prehash", "false")];
    let (config, mut device) = opened(&all);
    let device = device.as_mut();
    assert_eq!(write(device, &config, 0, 1).1, CONTROLLER + SHA1 + TRANSFER + PROGRAM);
    assert_eq!(write(device, &config, 1, 1).1, CONTROLLER + SHA1);
    assert_eq!(events(device, Event::PrehashedPages), 0);
    // In idle time: the second write of a value is programmed as well, and joined later.
    let (config, mut device) = opened(&[("caftl.new_values", "idle")]);
    let device = device.as_mut();
    for page in [1, 2] {
        let (written, time) = write(device, &config, page, 1);
        assert_eq!((programs(&written), time), (1, CONTROLLER + CRC + TRANSFER + PROGRAM));
    }
    assert_eq!(events(device, Event::HashedPages), 0);
    idle(device, &config);
    assert_eq!([Event::HashedPages, Event::JoinedPages].map(|one| events(device, one)), [2, 1]);
    assert_eq!(place(device, 1), place(device, 2));
}

/// Of four pages the first speaks for the others: where it is new they are not hashed, where it is
/// known they are.
#[test]
fn the_first_page_of_a_unit_speaks_for_the_others() {
    let (config, mut device) = opened(&[("caftl.unit", "4"), ("caftl.out_of_line", "false")]);
    let device = device.as_mut();
    let counts = |device: &dyn Device| {
        [Event::HashedPages, Event::SampledOut, Event::ValueHits].map(|one| events(device, one))
    };
    // Eight pages are two units.
    assert_eq!(programs(&submitted(device, &of(&config, 0, 8, 5)).0), 8);
    assert_eq!(counts(device), [2, 6, 0]);
    assert_eq!(programs(&submitted(device, &of(&config, 8, 8, 5)).0), 6, "two are known");
    assert_eq!(counts(device), [10, 6, 2]);
    assert_eq!(programs(&submitted(device, &of(&config, 16, 8, 5)).0), 0);
    assert_eq!(counts(device), [18, 6, 10]);
    assert_eq!(device.board().meter().level_now(Level::UnhashedPages), Some(6));
}

/// Idle time reads and hashes what was not, and who lies on the second page of its kind goes to the
/// first.
#[test]
fn idle_time_joins_what_is_equal() {
    let (config, mut device) = opened(&[("caftl.unit", "4")]);
    let device = device.as_mut();
    for first in [0, 4] {
        submitted(device, &of(&config, first, 4, 5));
    }
    assert_eq!(place(device, 0), place(device, 4), "the sample is shared at once");
    let twins: Vec<_> = (0..8).map(|page| place(device, page)).collect();
    let done = idle(device, &config);
    let read = |page: usize| Operation::Read(twins[page], Cause::Dedup);
    assert_eq!(&done[..3], [read(1), read(2), read(3)], "those of the second were hashed");
    assert_eq!(events(device, Event::JoinedPages), 3);
    for page in 1..4 {
        let [here, there] = [page, page + 4].map(|page| place(device, page as u32));
        assert_eq!((here, there), (twins[page + 4], twins[page + 4]));
        assert!(!device.board().nand().state().is_valid(twins[page]));
    }
    let again = idle(device, &config);
    assert!(again.iter().all(|one| matches!(one, Operation::Read(_, Cause::Host))), "{again:?}");
    assert_eq!(device.audit().expect("sound").shared_pages, 4);
}

/// Nor does it where it is told not to, nor where no fingerprint would be kept.
#[test]
fn idle_time_hashes_nothing_for_nothing() {
    for pair in [("caftl.out_of_line", "false"), ("caftl.store_bytes", "0B")] {
        let (config, mut device) = opened(&[pair, ("caftl.unit", "4"), ("gc.mode", "both")]);
        let device = device.as_mut();
        submitted(device, &of(&config, 0, 4, 5));
        let hashed = events(device, Event::HashedPages);
        let operations = idle(device, &config);
        assert!(
            matches!(operations[..], [Operation::Read(_, Cause::Host)]),
            "{pair:?}: {operations:?}"
        );
        assert_eq!(events(device, Event::HashedPages), hashed, "{pair:?}");
    }
}

/// The copy of a shared page bears its number: one entry changes, whoever shares it. One that is
/// nobody else's keeps its name.
#[test]
fn a_shared_page_moves_under_its_number() {
    let (config, mut device) = opened(&[("gc.victim", "fifo"), ("wear.policy", "none")]);
    let device = device.as_mut();
    let shared = [5, 7, 30];
    shared.into_iter().for_each(|lpn| _ = write(device, &config, lpn, 77));
    assert_eq!(name(device, 5), (PageKind::Data, 5));
    let page = place(device, 5);
    let others: Vec<u64> =
        (0..config.device.logical_pages()).filter(|lpn| !shared.contains(lpn)).collect();
    let (mut rng, mut number) = (Rng::new(1, Purpose::Workload), 1000);
    while place(device, 5) == page {
        number += 1;
        assert!(number < 3000, "every page is moved some time");
        write(device, &config, others[rng.below(others.len() as u32) as usize], number);
    }
    let new = place(device, 5);
    assert_eq!(shared.map(|lpn| place(device, lpn as u32)), [new; 3]);
    assert_eq!(name(device, 5), (PageKind::Log, 0), "number 0");
    assert_eq!(write(device, &config, others[0], 77).0, []);
    let own = others.iter().map(|&lpn| (lpn as u32, device.locate(Lpn(lpn as u32))));
    for (lpn, location) in own.filter(|(_, at)| !matches!(at, Location::Nowhere)) {
        if location != Location::Flash(new) {
            assert_eq!(name(device, lpn), (PageKind::Data, lpn));
        }
    }
    // Found again without a flush of what moved: the copy says who it is.
    device.power_cycle().expect("it recovers");
    device.audit().expect("sound");
    assert_eq!(shared.map(|lpn| place(device, lpn as u32)), [new; 3]);
}

/// Sharing that was flushed outlives the power, and so do trims; what was not is as it was before.
#[test]
fn what_was_flushed_is_shared_after_a_cut() {
    let (config, mut device) = opened(&[("caftl.out_of_line", "false")]);
    let device = device.as_mut();
    for (page, content) in [(3, 77), (8, 77), (4, 1), (9, 2)] {
        write(device, &config, page, content);
    }
    submit(device, &config, Op::Trim, 3);
    let flushed = record(device, flush);
    assert!(matches!(flushed[..], [Operation::Program(_, Cause::Dedup)]), "{flushed:?}");
    let [shared, old] = [8, 9].map(|page| place(device, page));
    write(device, &config, 9, 1);
    write(device, &config, 5, 77);
    assert_eq!((place(device, 9), place(device, 5)), (place(device, 4), shared));
    device.power_cycle().expect("it recovers");
    device.audit().expect("sound");
    assert_eq!((place(device, 8), place(device, 9)), (shared, old));
    assert_eq!(device.locate(Lpn(3)), Location::Nowhere, "although the page is there");
    assert_eq!(device.locate(Lpn(5)), Location::Nowhere);
    assert_eq!(record(device, flush), [], "there is nothing to say");
    // Fingerprints are lost.
    assert_eq!(programs(&write(device, &config, 5, 77).0), 1);
}

/// Before a block of data is erased flash says who has left its pages for others.
#[test]
fn no_block_is_erased_before_the_journal_is_written() {
    let (config, mut device) = opened(&[("caftl.out_of_line", "false")]);
    let device = device.as_mut();
    let mut rng = Rng::new(4, Purpose::Workload);
    let (mut unsaid, mut erases, mut written) = (false, 0, 0);
    for number in 0..3000u64 {
        let page = u64::from(rng.below(config.device.logical_pages() as u32));
        let is_new = rng.below(4) > 0;
        let before = device.locate(Lpn(page as u32));
        let hits = events(device, Event::ValueHits);
        let content = if is_new { 1000 + number } else { 1 + u64::from(rng.below(3)) };
        for operation in write(device, &config, page, content).0 {
            match operation {
                Operation::Program(_, Cause::Dedup) => (unsaid, written) = (false, written + 1),
                Operation::Erase(_, Cause::Gc) => {
                    assert!(!unsaid, "write {number}");
                    erases += 1;
                }
                _ => {}
            }
        }
        let is_elsewhere = device.locate(Lpn(page as u32)) != before;
        unsaid |= is_elsewhere && events(device, Event::ValueHits) > hits;
    }
    assert!(erases > 100 && written > 50, "{erases} erases, {written} pages of the journal");
}

/// Two references are counted: a page that has them lives on although nobody has it, and takes in
/// whoever writes its value again. Once two might be so, because four have left such pages,
/// references are counted.
#[test]
fn a_page_with_more_references_than_are_counted_lives_on() {
    let pairs = [("caftl.references", "2"), ("caftl.unreclaimed", "1")];
    let (config, mut device) = opened(&pairs);
    let device = device.as_mut();
    let counts = |device: &dyn Device| {
        let unreclaimed = device.board().meter().level_now(Level::UnreclaimedPages).unwrap_or(0);
        (unreclaimed, events(device, Event::ReferenceRecounts))
    };
    let share = |device: &mut dyn Device, content: u64| {
        [0, 1].into_iter().for_each(|page| _ = write(device, &config, page, content));
        place(device, 0)
    };
    let is_valid = |device: &dyn Device, page| device.board().nand().state().is_valid(page);
    let first = share(device, 77);
    let second = share(device, 78);
    assert!(is_valid(device, first), "two left it, and it stays");
    assert_eq!(counts(device), (1, 0));
    assert_eq!(write(device, &config, 2, 77).0, []);
    assert_eq!((place(device, 2), counts(device)), (first, (0, 0)));
    write(device, &config, 2, 1);
    assert_eq!(counts(device), (1, 0), "three have left");
    write(device, &config, 0, 2);
    assert_eq!(counts(device), (0, 1));
    assert!(!is_valid(device, first) && is_valid(device, second), "page 1 has that");
    assert_eq!(programs(&write(device, &config, 3, 77).0), 1, "it is forgotten");
    // Its references are known again: the last of them frees it.
    write(device, &config, 1, 3);
    assert!(!is_valid(device, second));
}

/// With a single number one page of flash is shared at a time.
#[test]
fn without_a_number_nobody_shares() {
    let (config, mut device) = opened(&[("caftl.shared_pages", "1")]);
    let device = device.as_mut();
    let mut of = |page, content| programs(&write(device, &config, page, content).0);
    assert_eq!([of(0, 1), of(1, 1), of(2, 2), of(3, 2)], [1, 0, 1, 1]);
    assert_eq!([of(4, 1), of(0, 3), of(1, 4), of(4, 5)], [0, 1, 1, 1], "the first is free");
    // The number is given again once flash knows who has left it.
    let again = write(device, &config, 5, 2).0;
    assert!(matches!(again[..], [Operation::Program(_, Cause::Dedup)]), "{again:?}");
    assert_eq!(place(device, 5), place(device, 3));
    assert_eq!(events(device, Event::SharingRefused), 1);
}

/// 40 bytes are one fingerprint.
#[test]
fn a_value_that_left_memory_is_programmed_anew() {
    let (config, mut device) = opened(&[("caftl.store_bytes", "40B")]);
    let device = device.as_mut();
    let mut of = |page, content| programs(&write(device, &config, page, content).0);
    assert_eq!([of(0, 1), of(1, 1), of(2, 2), of(3, 1)], [1, 0, 1, 1]);
    assert_eq!(events(device, Event::ValueEvictions), 2);
}

/// Of four fingerprints three are for values that were written again: what comes once drives none
/// of them out. Where all are alike the value that was written longest ago leaves, and a hit is a
/// write.
#[test]
fn what_was_written_again_stays_known() {
    for (hot, programmed) in [("0.75", 0), ("0", 1)] {
        let pairs = [("caftl.store_bytes", "160B"), ("caftl.store_hot", hot)];
        let (config, mut device) = opened(&pairs);
        let device = device.as_mut();
        let mut of = |page, content| programs(&write(device, &config, page, content).0);
        assert_eq!([of(0, 1), of(1, 1), of(2, 2), of(3, 3), of(4, 4)], [1, 0, 1, 1, 1]);
        assert_eq!([of(5, 1), of(6, 5), of(7, 6), of(8, 7)], [0, 1, 1, 1], "1 is the latest");
        assert_eq!(of(9, 8), 1);
        assert_eq!(of(10, 1), programmed, "hot: {hot}");
    }
}

/// The journal goes round: pages that say nothing which is not said again die, however long it goes
/// on; what was flushed is found again at any moment of that, and goes on.
#[test]
fn the_journal_stays_short_and_says_it_all() {
    let with = [("caftl.flush", "3"), ("caftl.out_of_line", "false")];
    let config = tiny("caftl", 200, &[&LATENCIES[..], &with].concat());
    let mut device = open("caftl", &config);
    let device = device.as_mut();
    let pages = config.device.logical_pages() as u32;
    // 800 pages and as many numbers, of which a page copies 111 at least.
    let least = 2 * pages / 111;
    let mut rng = Rng::new(6, Purpose::Workload);
    let mut most = 0;
    for round in 0..40 {
        for _ in 0..50 + round {
            let page = u64::from(rng.below(pages));
            match rng.below(9) {
                0 => submit(device, &config, Op::Trim, page),
                1 | 2 => submit(device, &config, Op::Write, page),
                _ => _ = write(device, &config, page, 1 + u64::from(rng.below(150))),
            }
        }
        flush(device);
        let places: Vec<Location> = (0..pages).map(|page| device.locate(Lpn(page))).collect();
        most = most.max(device.audit().expect("sound").valid_other_pages);
        device.power_cycle().expect("it recovers");
        device.audit().expect("sound");
        let found: Vec<Location> = (0..pages).map(|page| device.locate(Lpn(page))).collect();
        assert!(found == places, "round {round}");
    }
    let meter = device.board().meter();
    let written = meter.programs(Cause::Dedup) + meter.programs(Cause::Trim);
    assert!(written > 10 * u64::from(least), "{written} pages are many rounds");
    assert!(
        (u64::from(least)..=2 * u64::from(least) + 3).contains(&most),
        "{most} pages are alive"
    );
}

/// A page that was programmed is there without a flush: only who joined another's page goes back.
#[test]
fn what_was_programmed_outlives_a_cut() {
    let (config, mut device) = opened(&[]);
    let device = device.as_mut();
    let mut rng = Rng::new(7, Purpose::Workload);
    for round in 0..60u64 {
        for number in 0..20 {
            let page = u64::from(rng.below(config.device.logical_pages() as u32));
            write(device, &config, page, 1000 + 100 * round + number);
        }
        let all = |device: &dyn Device| -> Vec<Location> {
            (0..config.device.logical_pages() as u32).map(|page| device.locate(Lpn(page))).collect()
        };
        let before = all(device);
        device.power_cycle().expect("it recovers");
        assert!(all(device) == before, "round {round}");
    }
    assert!(device.board().meter().total_erases() > 100);
}

/// Trims alone are trims: nothing was shared.
#[test]
fn a_trim_is_written_down_as_one() {
    let (config, mut device) = opened(&[]);
    let device = device.as_mut();
    (0..3).for_each(|page| _ = write(device, &config, page, 10 + page));
    submit(device, &config, Op::Trim, 1);
    let flushed = record(device, flush);
    assert!(matches!(flushed[..], [Operation::Program(_, Cause::Trim)]), "{flushed:?}");
    device.power_cycle().expect("it recovers");
    assert_eq!(device.locate(Lpn(1)), Location::Nowhere);
}

/// Two equal pages leave a buffer as one request: the second waits for the SHA-1 of the first,
/// which was to be computed behind the request.
#[test]
fn what_is_compared_was_hashed() {
    let pairs = [
        ("caftl.unit", "1"),
        ("caftl.sha1_us", "8ms"),
        ("buffer.name", "lru"),
        ("buffer.bytes", "2KiB"),
    ];
    let (config, mut device) = opened(&pairs);
    let device = device.as_mut();
    let flushed = Request { sectors: 0, first_sector: 0, ..pages(&config, Op::Flush, 0, 1) };
    for (contents, hashes) in [([5, 5], 2), ([6, 7], 0)] {
        for (page, content) in (0..).zip(contents) {
            device.submit(&of(&config, page, 1, content)).expect("the device works");
        }
        let time = device.submit(&flushed).expect("the device works").device();
        // A millisecond for 512 bytes.
        assert_eq!(time / 1_000_000, hashes, "{contents:?}: {time} ns");
    }
}

/// Pages of one plane that stay alive for pages of another do not fill it up: what is written then
/// goes where there is room.
#[test]
fn a_plane_that_others_share_is_not_overfilled() {
    for scheme in ["caftl", "ca_ssd"] {
        let pairs = [
            ("device.channels", "2"),
            ("device.over_provisioning", "0.01"),
            ("caftl.unreclaimed", "0"),
            ("caftl.unit", "1"),
        ];
        let config = tiny(scheme, 200, &pairs);
        let mut device = open(scheme, &config);
        let device = device.as_mut();
        let half = config.device.logical_pages() / 2;
        for (first, content) in [(0, 1), (1, 1), (0, 10_000), (1, 20_000), (0, 30_000)] {
            for number in 0..half {
                let request = of(&config, first + 2 * number, 1, content + number);
                device.submit(&request).unwrap_or_else(|error| panic!("{scheme}: {error}"));
            }
            device.audit().unwrap_or_else(|error| panic!("{scheme}: {error}"));
        }
    }
}

#[test]
fn memory_is_reported() {
    let pairs = [("caftl.store_bytes", "4000B"), ("caftl.shared_pages", "10")];
    let (config, device) = opened(&pairs);
    let (row, _) = schemes::find("caftl").expect("a scheme of the table");
    let structures = (row.ram_use)(&config);
    let bytes = |name: &str| {
        let found = structures.iter().find(|one| one.structure == name);
        found.unwrap_or_else(|| panic!("{name} is reported")).bytes
    };
    let logical = config.device.logical_pages();
    let physical = u64::from(device.board().geometry().pages());
    assert_eq!((bytes("primary_map"), bytes("secondary_map")), (4 * logical, 90));
    assert_eq!((bytes("number_index"), bytes("unhashed_bitmap")), (80, physical.div_ceil(8)));
    assert_eq!((bytes("fingerprints"), bytes("fingerprint_index")), (4000, 4 * (100 + 128) + 800));
    // 128 words a page: 8 of a header, 60 of 20 changes, 60 places; 50 places are a page.
    assert_eq!(bytes("journal"), 4 * 3 + 12 * 20);
    assert!(structures.iter().all(|one| one.structure != "trim_records"), "the journal has them");
}

#[test]
fn hints_are_refused_because_a_shared_page_has_none() {
    let config = tiny("caftl", BLOCKS, &[]);
    let (row, _) = schemes::find("caftl").expect("a scheme of the table");
    let mut hinted = config.clone();
    hinted.set("gc.placement", "hint").expect("legal");
    let refused = (row.check)(&hinted).expect_err("a shared page has no hint").to_string();
    assert!(refused.contains("hint") && refused.contains("legal: none, sep_gc"), "{refused}");
}
