//! S-FTL: what compressed translation pages take, how they grow, what leaves for them, and the
//! dirty-entry buffer, as sequences of flash operations.

use crate::common::{config, fill, mixed, open, place, record, submit, tiny};
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::config::Config;
use ftlab_engine::meter::{Cause, Event, Level};
use ftlab_engine::request::Op;
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes;
use ftlab_engine::ssd::Device;

/// Without a buffer every write goes to a cached page.
const NO_BUFFER: (&str, &str) = ("sftl.dirty_buf_share", "0");

/// Pages of 512 bytes: 128 entries, 16 bytes of bitmap.
const ENTRIES: u64 = 128;

fn level(device: &dyn Device, level: Level) -> u64 {
    device.board().meter().level_now(level).expect("told")
}

fn event(device: &dyn Device, event: Event) -> u64 {
    device.board().meter().events(event)
}

/// The kinds of operations that a request took, with their causes.
fn steps(device: &mut dyn Device, config: &Config, op: Op, page: u64) -> Vec<(char, Cause)> {
    let kind = |operation: &Operation| match *operation {
        Operation::Read(_, cause) => ('r', cause),
        Operation::Program(_, cause) => ('p', cause),
        Operation::Erase(_, cause) => ('e', cause),
    };
    record(device, |device| submit(device, config, op, page)).iter().map(kind).collect()
}

/// `docs/papers/others.md#s-ftl`: written in sequence a page of 2048 bytes takes 68 (or 132, as
/// wiscsee counts); written at random no less than it takes on flash.
#[test]
fn what_a_page_takes_in_sequence_and_at_random() {
    for (formula, in_sequence) in [("abstract", 68), ("wiscsee", 132), ("raw", 2048)] {
        let config = config(&[NO_BUFFER, ("sftl.size_formula", formula)]);
        let mut device = open("sftl", &config);
        let device = device.as_mut();
        (0..512).for_each(|page| submit(device, &config, Op::Write, page));
        assert_eq!(level(device, Level::MapPageBytes), in_sequence, "{formula}");
        assert_eq!(level(device, Level::MapCompressionPermille), 1000 * in_sequence / 2048);
        // Another order, in which no neighbours follow one another.
        (0..512).for_each(|number| submit(device, &config, Op::Write, number * 5 % 512));
        assert_eq!(level(device, Level::MapPageBytes), 2048, "{formula}: capped");
    }
}

/// A write into a run splits it in three; one beside it may join the new run; rewritten in sequence
/// the page is one run again.
#[test]
fn a_write_into_a_run_splits_it() {
    let config = config(&[NO_BUFFER]);
    let mut device = open("sftl", &config);
    let device = device.as_mut();
    let mut write = |page: u64| {
        submit(device, &config, Op::Write, page);
        level(device, Level::MapPageBytes)
    };
    assert_eq!(write(0), 64 + 4 * 2, "one page, and 511 without a place");
    assert_eq!((1..512).map(&mut write).last(), Some(68));
    assert_eq!(write(100), 64 + 4 * 3);
    assert_eq!(write(101), 64 + 4 * 3, "it goes on with the run of page 100");
    assert_eq!(write(99), 64 + 4 * 4, "it does not: physical pages ascend");
    assert_eq!(write(511), 64 + 4 * 5, "the last one has nothing behind it");
    assert_eq!((0..512).map(&mut write).last(), Some(68));
    submit(device, &config, Op::Trim, 7);
    assert_eq!(level(device, Level::MapPageBytes), 64 + 4 * 3, "a page without a place splits too");
}

/// Two pages fit, one of them compressed, until a fourth write into the other's run: then the one
/// used longest ago leaves, written as a whole without a read.
#[test]
fn a_page_that_grows_pushes_another_out() {
    // 512 bytes of the random page, 16 + 4 of the other, and 28 to grow.
    let config = tiny("sftl", 170, &[NO_BUFFER, ("sftl.cache_bytes", "560B")]);
    let mut device = open("sftl", &config);
    let device = device.as_mut();
    (0..ENTRIES).for_each(|number| submit(device, &config, Op::Write, number * 5 % ENTRIES));
    (ENTRIES..2 * ENTRIES).for_each(|page| submit(device, &config, Op::Write, page));
    assert_eq!(event(device, Event::EvictDirty), 0);
    let host = ('p', Cause::Host);
    for page in [10, 20, 30] {
        assert_eq!(steps(device, &config, Op::Write, ENTRIES + page), [host]);
    }
    assert_eq!(level(device, Level::MapPageBytes), (512 + 16 + 4 * 7) / 2);
    let grown = steps(device, &config, Op::Write, ENTRIES + 40);
    assert_eq!(grown, [host, ('p', Cause::Translate)], "after the write, and without a read");
    assert_eq!(event(device, Event::EvictDirty), 1);
    assert_eq!(event(device, Event::BatchedEvictions), ENTRIES - 1, "every entry in one program");
    assert_eq!(level(device, Level::MapPageBytes), 16 + 4 * 9);
    // The page that left is read again; the other one leaves for it, changed as it is.
    let back = [('r', Cause::Translate), ('p', Cause::Translate), ('r', Cause::Host)];
    assert_eq!(steps(device, &config, Op::Read, 3), back);
}

/// Writes whose page is not cached cost no map access until the buffer is full; then the page with
/// most entries there is read, changed and written once, whichever was written first.
#[test]
fn a_full_buffer_writes_back_the_page_with_most_entries() {
    // 21 bytes of 700 are two entries of eight bytes and more; four with four.
    let pairs =
        [("sftl.cache_bytes", "700B"), ("sftl.dirty_buf_share", "0.03"), ("sftl.entry_bytes", "4")];
    let config = tiny("sftl", 170, &pairs);
    let mut device = open("sftl", &config);
    let device = device.as_mut();
    device.verify_reads();
    let host = ('p', Cause::Host);
    let mut write = |page| steps(device, &config, Op::Write, page);
    for page in [300, 7, 9, 400, 301] {
        assert_eq!(write(page), [host]);
    }
    // Room for five: two of translation page 2, two of 0, one of 3. The lowest number among equals.
    let (read, program) = (('r', Cause::Translate), ('p', Cause::Translate));
    assert_eq!(write(8), [program, host], "translation page 0 is read, and was nowhere");
    assert_eq!(write(302), [host]);
    assert_eq!(write(303), [program, host], "three of translation page 2");
    assert_eq!((write(10), write(11)), (vec![host], vec![host]));
    assert_eq!(write(8), [host], "an entry that is there changes");
    assert_eq!(write(12), [read, program, host], "8, 10 and 11");
    assert_eq!(event(device, Event::MapBufferFlushes), 3);
    assert_eq!(event(device, Event::BatchedEvictions), 1 + 2 + 2);
    assert_eq!(event(device, Event::MapBufferedEntries), 11);
    assert_eq!(event(device, Event::MapHits), 1);
    // A read takes the rest of its translation page along, without a write.
    let from_buffer = [('r', Cause::Host)];
    assert_eq!(steps(device, &config, Op::Read, 12), from_buffer, "the buffer knows");
    assert_eq!(steps(device, &config, Op::Read, 7), [read, ('r', Cause::Host)]);
    device.audit().expect("pages and buffer agree with flash");
}

/// A buffered write reads no map, so the page that it supersedes goes on counting as valid; it is
/// found when the translation page is read.
#[test]
fn a_buffered_write_finds_later_what_it_superseded() {
    let config = tiny("sftl", 170, &[("sftl.cache_bytes", "700B")]);
    let mut device = open("sftl", &config);
    let device = device.as_mut();
    fill(device, &config);
    // Two other pages are cached: reads bring them there.
    [300, 500].iter().for_each(|&page| submit(device, &config, Op::Read, page));
    let old = place(device, 5);
    submit(device, &config, Op::Write, 5);
    let between = place(device, 5);
    submit(device, &config, Op::Write, 5);
    let valid = |device: &dyn Device, page| device.board().nand().state().is_valid(page);
    assert!(valid(device, old), "nobody has looked");
    assert!(!valid(device, between), "the buffer knew this one");
    device.audit().expect("the page that is left behind is reported");
    submit(device, &config, Op::Read, 6);
    assert!(!valid(device, old));
    // A trim must look before it forgets. Translation page 1 was not cached so far.
    let old = place(device, ENTRIES as u32 + 9);
    submit(device, &config, Op::Write, ENTRIES + 9);
    let trim = steps(device, &config, Op::Trim, ENTRIES + 9);
    assert_eq!(trim.first(), Some(&('r', Cause::Translate)), "{trim:?}");
    assert!(!valid(device, old));
    device.audit().expect("nothing is left behind");
}

/// Every map access has its event, and every event its map access, whatever the cache.
#[test]
fn counters_add_up() {
    for pairs in [
        &[("sftl.cache_bytes", "600B")][..],
        &[("sftl.cache_bytes", "600B"), NO_BUFFER],
        &[("sftl.cache_bytes", "1500B"), ("sftl.dirty_buf_share", "0.02")],
    ] {
        let config = tiny("sftl", 170, pairs);
        let mut device = open("sftl", &config);
        for request in mixed(&config, 4000, 3) {
            device.submit(&request).expect("works");
        }
        let device = device.as_ref();
        let event = |known| event(device, known);
        let loads =
            event(Event::MapLookups) - event(Event::MapHits) - event(Event::MapBufferedEntries);
        let (dirty, flushes) = (event(Event::EvictDirty), event(Event::MapBufferFlushes));
        let meter = device.board().meter();
        assert_eq!(meter.reads(Cause::Translate), loads + flushes, "{pairs:?}");
        assert_eq!(meter.programs(Cause::Translate), dirty + flushes, "{pairs:?}");
        let left = dirty + event(Event::EvictClean);
        assert!((loads.saturating_sub(6)..loads).contains(&left), "{loads} loaded, {left} left");
        assert!(event(Event::Recompressions) >= loads, "{pairs:?}");
        assert_eq!(flushes > 0, !pairs.contains(&NO_BUFFER), "{pairs:?}");
        assert!(dirty > 50 && event(Event::LazyUpdates) > 50, "{pairs:?}");
    }
}

/// Uncompressed and without a buffer, S-FTL is a plain cache of whole translation pages: its misses
/// are those of a list in order of use. (`sftl:raw` with room for three pages.)
#[test]
fn without_compression_it_is_a_cache_of_pages_in_order_of_use() {
    let config = tiny("sftl:raw", 170, &[("sftl.cache_bytes", "1536B")]);
    let mut device = open("sftl:raw", &config);
    let device = device.as_mut();
    let mut list: Vec<u64> = Vec::new();
    let mut misses = 0;
    let mut rng = Rng::new(9, Purpose::Workload);
    for _ in 0..5000 {
        let page = u64::from(rng.below(680));
        let op = [Op::Read, Op::Write, Op::Trim][rng.below(3) as usize];
        submit(device, &config, op, page);
        let part = page / ENTRIES;
        misses += u64::from(!list.contains(&part));
        list.retain(|&other| other != part);
        list.push(part);
        list.drain(..list.len().saturating_sub(3));
        let missed = event(device, Event::MapLookups) - event(device, Event::MapHits);
        assert_eq!(missed, misses);
    }
    assert!(misses > 1000, "{misses} misses");
}

/// The paper's point: on data written in sequence, in the bytes of two pages lies the map of many.
#[test]
fn compression_keeps_the_map_of_sequential_data_in_memory() {
    let misses = |formula: &str| {
        let mut settings =
            config(&[NO_BUFFER, ("sftl.size_formula", formula), ("sftl.cache_bytes", "4KiB")]);
        settings.device.set_capacity(32 << 20, 0);
        settings.device.blocks_per_plane += 16;
        let mut device = open("sftl", &settings);
        let device = device.as_mut();
        fill(device, &settings);
        let mut read = |times: u32, rng: &mut Rng| {
            for _ in 0..times {
                submit(device, &settings, Op::Read, u64::from(rng.below(16384)));
            }
            event(device, Event::MapLookups) - event(device, Event::MapHits)
        };
        let mut rng = Rng::new(5, Purpose::Workload);
        let warm = read(1000, &mut rng);
        read(5000, &mut rng) - warm
    };
    assert_eq!(misses("abstract"), 0, "32 translation pages of about 70 bytes");
    assert!(misses("raw") > 4500, "two of 32");
}

/// Under `device.ram_nonvolatile` a power cut empties neither pages nor buffer; else flash alone
/// tells, and the next look-up reads it.
#[test]
fn what_is_cached_after_a_power_cut() {
    for (nonvolatile, cached) in [("true", true), ("false", false)] {
        let pairs = [("sftl.cache_bytes", "700B"), ("device.ram_nonvolatile", nonvolatile)];
        let config = tiny("sftl", 170, &pairs);
        let mut device = open("sftl", &config);
        let device = device.as_mut();
        device.verify_reads();
        fill(device, &config);
        submit(device, &config, Op::Read, 6);
        submit(device, &config, Op::Write, 600);
        device.power_cycle().expect("recovery works");
        device.audit().expect("the map is right");
        let host = ('r', Cause::Host);
        let known = steps(device, &config, Op::Read, 5);
        assert_eq!(known == [host], cached, "{known:?}");
        submit(device, &config, Op::Read, 600);
        mixed(&config, 500, 4).iter().for_each(|request| {
            device.submit(request).expect("it goes on");
        });
        device.audit().expect("and stays right");
    }
}

/// A cache that is larger than the budget, or has no room for a page, is refused.
#[test]
fn sizes_that_do_not_fit_are_refused() {
    let (row, _) = schemes::find("sftl").expect("it is in the table");
    let refused = |pairs: &[(&str, &str)]| (row.check)(&config(pairs)).map_err(|e| e.to_string());
    let over = refused(&[("sftl.cache_bytes", "8KiB"), ("device.ram_bytes", "4KiB")]);
    assert!(over.expect_err("refused").contains("device.ram_bytes leaves: 4096"));
    let small = refused(&[("sftl.cache_bytes", "2KiB")]);
    assert!(small.expect_err("refused").contains("2048 bytes beside the dirty-entry buffer"));
    assert_eq!(refused(&[("sftl.cache_bytes", "2KiB"), NO_BUFFER]), Ok(()));
    assert_eq!(refused(&[("device.ram_bytes", "1KiB")]), Ok(()), "one page at least, and marked");
}
