//! DFTL's settings that its figures do not show: what is loaded beside a missed entry, what
//! collection leaves to the cache, and what a copy of the directory finds again.

use crate::common::{config, open, record, submit, tiny};
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::meter::{Cause, Event};
use ftlab_engine::request::Op;
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes;
use ftlab_engine::ssd::Device;

fn events(device: &dyn Device, event: Event) -> u64 {
    device.board().meter().events(event)
}

/// Pages 4 to 9 and the last two of translation page 0 (512 entries each) are on flash and in its
/// map, and no entry that is cached is changed or of it.
fn written(prefetch: &str, entries: &str) -> (ftlab_engine::config::Config, Box<dyn Device>) {
    let config = config(&[
        ("dftl.prefetch", prefetch),
        ("dftl.cmt_entries", entries),
        ("dftl.cmt_policy", "lru"),
        ("dftl.checkpoint_interval", "0"),
    ]);
    let mut device = open("dftl", &config);
    for page in (4..10).chain([510, 511]) {
        submit(device.as_mut(), &config, Op::Write, page);
    }
    // Entries of pages that were never written, of translation pages of their own: clean, and far
    // from what they are the first of.
    for part in 0..entries.parse().expect("a number") {
        submit(device.as_mut(), &config, Op::Read, 1024 * part + 1023);
    }
    (config, device)
}

/// How often the map is read for a request.
fn map_reads(device: &mut dyn Device, page: u64, config: &ftlab_engine::config::Config) -> usize {
    let operations = record(device, |device| submit(device, config, Op::Read, page));
    let is_map = |one: &&Operation| matches!(one, Operation::Read(_, Cause::Translate));
    operations.iter().filter(is_map).count()
}

#[test]
fn a_miss_brings_the_entries_behind_it() {
    let (config, mut device) = written("2", "6");
    let device = device.as_mut();
    let before = events(device, Event::PrefetchedEntries);
    let evicted = events(device, Event::EvictClean);
    assert_eq!(map_reads(device, 4, &config), 1);
    assert_eq!(events(device, Event::PrefetchedEntries) - before, 2);
    assert_eq!(events(device, Event::EvictClean) - evicted, 3, "a clean one gives way to each");
    assert_eq!((map_reads(device, 5, &config), map_reads(device, 6, &config)), (0, 0));
    assert_eq!(map_reads(device, 7, &config), 1, "the third behind it was not loaded");
}

#[test]
fn without_prefetching_every_miss_reads_the_map() {
    let (config, mut device) = written("0", "6");
    assert_eq!(map_reads(device.as_mut(), 4, &config), 1);
    assert_eq!(map_reads(device.as_mut(), 5, &config), 1);
    assert_eq!(events(device.as_ref(), Event::PrefetchedEntries), 0);
}

#[test]
fn prefetching_ends_with_the_translation_page() {
    let (config, mut device) = written("4", "6");
    let before = events(device.as_ref(), Event::PrefetchedEntries);
    assert_eq!(map_reads(device.as_mut(), 510, &config), 1);
    assert_eq!(events(device.as_ref(), Event::PrefetchedEntries) - before, 1);
}

#[test]
fn what_is_cached_is_not_loaded_again() {
    let (config, mut device) = written("2", "6");
    assert_eq!(map_reads(device.as_mut(), 5, &config), 1);
    let before = events(device.as_ref(), Event::PrefetchedEntries);
    // 5 and 6 are there: neither counts, and both stay.
    assert_eq!(map_reads(device.as_mut(), 4, &config), 1);
    assert_eq!(events(device.as_ref(), Event::PrefetchedEntries), before);
}

/// An entry for whose place the map would have to be written is not worth a guess, nor is the entry
/// that was asked for.
#[test]
fn prefetching_writes_no_map_and_keeps_what_was_asked_for() {
    let (config, mut device) = written("5", "2");
    let device = device.as_mut();
    // The two entries of the cache: 4, which is asked for, and one that is changed, the last of its
    // page.
    submit(device, &config, Op::Write, 1535);
    let written = events(device, Event::EvictDirty);
    assert_eq!(map_reads(device, 4, &config), 1);
    assert_eq!(events(device, Event::EvictDirty), written);
    assert_eq!(map_reads(device, 4, &config), 0, "it is cached");
}

/// A collection changes cached entries in memory alone where that is asked for, before a power cut
/// and behind it.
#[test]
fn lazy_copying_writes_fewer_map_pages_before_a_power_cut_and_behind_it() {
    let updates = |lazy| {
        let pairs = [("dftl.cmt_entries", "64"), ("dftl.lazy_copying", lazy)];
        let config = tiny("dftl", 24, &pairs);
        let mut device = open("dftl", &config);
        let mut rng = Rng::new(8, Purpose::Workload);
        let mut seen = Vec::new();
        for _ in 0..2 {
            let operations = record(device.as_mut(), |device| {
                (0..2000).for_each(|_| {
                    submit(device, &config, Op::Write, u64::from(rng.below(96)));
                });
            });
            let is_update =
                |one: &&Operation| matches!(one, Operation::Program(_, Cause::GcMapUpdate));
            seen.push(operations.iter().filter(is_update).count());
            device.power_cycle().expect("recovery works");
        }
        seen
    };
    let (lazy, at_once) = (updates("true"), updates("false"));
    assert!(lazy[0] < at_once[0] && lazy[1] < at_once[1], "{lazy:?} and {at_once:?}");
}

/// A copy of the directory on flash is found as it was saved last: what was written to the map
/// behind it is found too, without reading every page of the map as without a copy.
#[test]
fn a_copy_of_the_directory_is_found_again() {
    let recovered = |sync| {
        let pairs = [("dftl.cmt_entries", "20"), ("dftl.gtd_sync_every", sync)];
        let config = tiny("dftl:gtd", 60, &pairs);
        let mut device = open("dftl:gtd", &config);
        let mut rng = Rng::new(8, Purpose::Workload);
        (0..600).for_each(|_| {
            submit(device.as_mut(), &config, Op::Write, u64::from(rng.below(240)));
        });
        device.start_measuring();
        device.power_cycle().expect("recovery works");
        device.audit().expect("the device is sound");
        device.board().meter().total_reads()
    };
    assert!(recovered("64") > recovered("0"), "the copy is read");
}

/// What memory allows is divided by what an entry takes.
#[test]
fn memory_holds_as_many_entries_as_fit() {
    for (bytes, each, entries) in [("400B", "8", 50), ("407B", "8", 50), ("400B", "5", 80)] {
        let pairs = [("device.ram_bytes", bytes), ("dftl.entry_bytes", each)];
        let config = tiny("dftl", 60, &pairs);
        let (row, _) = schemes::find("dftl").expect("a scheme of the table");
        let cmt = (row.ram_use)(&config).into_iter().find(|one| one.structure == "cmt");
        let each: u64 = each.parse().expect("a number");
        assert_eq!(cmt.map(|one| one.bytes), Some(entries * each), "{bytes} of {each} each");
    }
}
