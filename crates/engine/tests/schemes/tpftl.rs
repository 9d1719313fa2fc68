//! TPFTL's techniques one by one, as sequences: what is loaded with a missed entry, what leaves,
//! and what is written with it. Translation pages hold 512 entries; an entry takes 6 bytes, a node
//! 8.

use crate::common::{config, mixed, open, pages, place, record, submit, tiny};
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::config::Config;
use ftlab_engine::meter::{Cause, Event};
use ftlab_engine::request::Op;
use ftlab_engine::schemes;
use ftlab_engine::ssd::Device;

/// A device with so many bytes of cache.
fn device(scheme: &str, bytes: &str, pairs: &[(&str, &str)]) -> (Config, Box<dyn Device>) {
    let config = config(&[&[("tpftl.cache_bytes", bytes)], pairs].concat());
    let device = open(scheme, &config);
    (config, device)
}

fn event(device: &dyn Device, event: Event) -> u64 {
    device.board().meter().events(event)
}

fn read(device: &mut dyn Device, config: &Config, pages: &[u64]) {
    pages.iter().for_each(|&page| submit(device, config, Op::Read, page));
}

/// Misses of reading these pages in order.
fn misses(device: &mut dyn Device, config: &Config, pages: &[u64]) -> u64 {
    let before = device.board().meter().reads(Cause::Translate);
    read(device, config, pages);
    device.board().meter().reads(Cause::Translate) - before
}

/// 70 bytes are ten entries of one node, or five of five nodes.
#[test]
fn nodes_take_room_from_entries() {
    let ten_of_one: Vec<u64> = (1..=10).collect();
    let eleven_of_one: Vec<u64> = (1..=11).collect();
    let five_of_five = [1, 600, 1200, 1700, 2100];
    let six_of_six = [1, 600, 1200, 1700, 2100, 2600];
    for (pages, again) in
        [(&ten_of_one[..], 0), (&eleven_of_one, 11), (&five_of_five, 0), (&six_of_six, 6)]
    {
        let (config, mut device) = device("tpftl:none", "70B", &[]);
        let device = device.as_mut();
        assert_eq!(misses(device, &config, pages), pages.len() as u64);
        assert_eq!(misses(device, &config, pages), again, "{pages:?}");
        device.audit().expect("the bytes hold");
    }
}

/// Page 3 is missed in a node that was used before the other one: the look-up makes it the hotter.
#[test]
fn a_node_that_is_looked_up_in_vain_is_in_use() {
    let (config, mut device) = device("tpftl:none", "34B", &[]);
    let device = device.as_mut();
    read(device, &config, &[1, 2, 600, 3]);
    assert_eq!(misses(device, &config, &[1, 2, 3]), 0);
    assert_eq!(misses(device, &config, &[600]), 1);
}

/// r: a request of four pages over the border of two translation pages misses once in each.
#[test]
fn request_prefetch_loads_the_rest_of_the_request_up_to_the_border() {
    for (scheme, missed, prefetched) in [("tpftl:none", 4, 0), ("tpftl:r", 2, 2)] {
        let (config, mut device) = device(scheme, "1KiB", &[]);
        device.submit(&pages(&config, Op::Read, 510, 4)).expect("works");
        assert_eq!(device.board().meter().reads(Cause::Translate), missed, "{scheme}");
        assert_eq!(event(device.as_ref(), Event::PrefetchedEntries), prefetched);
        assert_eq!(event(device.as_ref(), Event::PrefetchedUsed), prefetched);
        // Nothing beyond the request.
        assert_eq!(misses(device.as_mut(), &config, &[514]), 1);
    }
}

/// 42 bytes: two other nodes of one entry, or five entries of one node. Page 1 has room; of its
/// five successors in the request the first two take the place of one other node, and the next
/// would need the second one. That one goes when page 4 is missed, and page 5 with it has room.
#[test]
fn one_other_node_gives_way_to_prefetching() {
    let (config, mut device) = device("tpftl:r", "42B", &[]);
    let device = device.as_mut();
    read(device, &config, &[600, 1200]);
    let before = device.board().meter().reads(Cause::Translate);
    device.submit(&pages(&config, Op::Read, 1, 6)).expect("works");
    assert_eq!(device.board().meter().reads(Cause::Translate) - before, 3, "pages 1, 4 and 6");
    assert_eq!(event(device, Event::PrefetchedEntries), 3, "pages 2, 3 and 5");
    device.audit().expect("the bytes hold");
}

/// Five entries of a node fill 42 bytes. Page 6 takes the place of one of them; pages 7 and 8 would
/// take others of the node that they would enter.
#[test]
fn a_node_does_not_give_way_to_its_own_prefetching() {
    let (config, mut device) = device("tpftl:r", "42B", &[]);
    let device = device.as_mut();
    device.submit(&pages(&config, Op::Read, 1, 8)).expect("works");
    assert_eq!(device.board().meter().reads(Cause::Translate), 4, "pages 1, 6, 7 and 8");
    assert_eq!(event(device, Event::PrefetchedEntries), 4, "pages 2 to 5");
}

/// Five nodes of one entry in 70 bytes; then pages 1, 2, ... of one translation page take their
/// place: nodes lost since the last decision are 0, 1, 1, 2 after pages 2, 4, 5, 6.
fn neighbours(pairs: &[(&str, &str)]) -> (Config, Box<dyn Device>) {
    let (config, mut device) = device("tpftl:s", "70B", &[&[("tpftl.thr", "2")], pairs].concat());
    read(device.as_mut(), &config, &[600, 1200, 1700, 2100, 2600]);
    assert_eq!(misses(device.as_mut(), &config, &[1, 2, 3, 4, 5, 6]), 6);
    assert_eq!(event(device.as_ref(), Event::PrefetchedEntries), 0, "not on before");
    (config, device)
}

/// s: page 7 has six cached predecessors in a row. Page 8 has room, 9 and 10 take the place of the
/// last other node, 11 to 13 would need another one.
#[test]
fn selective_prefetch_loads_as_many_successors_as_one_node_gives_way_to() {
    let (config, mut device) = neighbours(&[]);
    let device = device.as_mut();
    assert_eq!(misses(device, &config, &[7]), 1);
    assert_eq!(event(device, Event::PrefetchedEntries), 3);
    assert_eq!(misses(device, &config, &[8, 9, 10, 8]), 0);
    assert_eq!(event(device, Event::PrefetchedUsed), 3, "each counts once");
    device.audit().expect("the bytes hold");
    // Without predecessors there is nothing to prefetch.
    assert_eq!(misses(device, &config, &[20, 21]), 2);
    let (config, mut never) = neighbours(&[("tpftl.thr", "9")]);
    assert_eq!(misses(never.as_mut(), &config, &[7, 8]), 2, "nine nodes were not lost");
}

/// Memory that survives a power cut knows that the number of nodes fell; else nothing is known.
#[test]
fn selective_prefetch_outlives_the_power_with_the_memory() {
    for (nonvolatile, prefetched) in [("true", 3), ("false", 0)] {
        let (config, mut device) = neighbours(&[("device.ram_nonvolatile", nonvolatile)]);
        let device = device.as_mut();
        device.power_cycle().expect("recovery works");
        read(device, &config, &[7]);
        assert_eq!(event(device, Event::PrefetchedEntries), prefetched, "{nonvolatile}");
        device.audit().expect("the bytes hold");
    }
}

/// Page 20 takes the place of an entry of its own node: of the farthest prefetched one, or of the
/// one used longest ago.
#[test]
fn prefetched_entries_go_to_the_cold_end_or_to_the_hot_end() {
    for (place, gone, kept) in [("cold_end", 10, 1), ("hot_end", 1, 10)] {
        let probe = |page: u64| {
            let (config, mut device) = neighbours(&[("tpftl.prefetch_place", place)]);
            let device = device.as_mut();
            read(device, &config, &[7, 20]);
            misses(device, &config, &[page])
        };
        assert_eq!((probe(gone), probe(kept)), (1, 0), "{place}");
        assert_eq!((probe(8), probe(7)), (0, 0), "{place}");
    }
}

/// b: 34 bytes hold two nodes and three entries. Pages 1 and 2 are changed; page 601 needs a place
/// in the other node.
#[test]
fn batch_writes_the_changed_entries_of_a_node_together() {
    for scheme in ["tpftl:b", "tpftl:none"] {
        let (config, mut device) = device(scheme, "34B", &[]);
        let device = device.as_mut();
        device.verify_reads();
        [1, 2, 600].iter().for_each(|&page| submit(device, &config, Op::Write, page));
        let write = |device: &mut dyn Device, page| {
            record(device, |device| submit(device, &config, Op::Write, page))
        };
        let operations = write(device, 601);
        let [Operation::Program(map_0, Cause::Translate), Operation::Program(_, Cause::Host)] =
            operations[..]
        else {
            panic!("{operations:?}");
        };
        let words = device.board().nand().payload(map_0);
        assert_eq!(words[1], place(device, 1).0 + 1);
        let along = words[2] == place(device, 2).0 + 1;
        assert_eq!(along, scheme == "tpftl:b");
        assert_eq!(event(device, Event::BatchedEvictions), u64::from(along));
        // Page 2 is unchanged now, or is written by itself.
        let operations = write(device, 602);
        let host = *operations.last().expect("the page is programmed");
        assert_eq!(host, Operation::Program(place(device, 602), Cause::Host));
        let written = operations[..operations.len() - 1].to_vec();
        if along {
            assert_eq!(written, []);
        } else {
            let [Operation::Read(old, Cause::Translate), Operation::Program(new, _)] = written[..]
            else {
                panic!("{written:?}");
            };
            assert_eq!(old, map_0);
            assert_eq!(device.board().nand().payload(new)[2], place(device, 2).0 + 1);
        }
        read(device, &config, &[1, 2, 600, 601, 602]);
        device.audit().expect("the map is right");
    }
}

/// c: page 1 is changed and was used before page 2, which is not changed.
#[test]
fn clean_first_spares_the_changed_entry() {
    for (scheme, written) in [("tpftl:none", 1), ("tpftl:c", 0)] {
        let probe = |page| {
            let (config, mut device) = device(scheme, "34B", &[]);
            let device = device.as_mut();
            submit(device, &config, Op::Write, 1);
            read(device, &config, &[2, 600, 601]);
            assert_eq!(event(device, Event::EvictDirty), written);
            misses(device, &config, &[page])
        };
        assert_eq!((probe(1), probe(2)), (written, 1 - written), "{scheme}");
    }
}

/// Pages 1, 2, 3 in one node, page 600 in another, then page 1 again: the first node was used last,
/// and on average before the other one.
#[test]
fn the_coldest_node_by_last_use_or_by_the_mean_of_its_entries() {
    for (order, kept) in [("lru", &[1, 2, 3][..]), ("mean_hotness", &[1])] {
        for page in [1, 2, 3, 600] {
            let (config, mut device) = device("tpftl:none", "40B", &[("tpftl.node_order", order)]);
            let device = device.as_mut();
            read(device, &config, &[1, 2, 3, 600, 1, 1200]);
            let missed = misses(device, &config, &[page]);
            assert_eq!(missed == 0, kept.contains(&page), "{order}, page {page}");
        }
    }
}

/// Every combination on a random run: bytes hold after every request; map reads are misses and
/// read-modify-writes, map writes are changed entries that left; what was loaded is there or left.
#[test]
fn counters_add_up_under_every_combination_of_techniques() {
    for bits in 0..16 {
        let on = |bit: u32| if bits >> bit & 1 == 1 { "true" } else { "false" };
        let pairs = [
            ("tpftl.cache_bytes", "100B"),
            ("tpftl.thr", "1"),
            ("tpftl.request_prefetch", on(0)),
            ("tpftl.selective_prefetch", on(1)),
            ("tpftl.batch", on(2)),
            ("tpftl.clean_first", on(3)),
        ];
        let config = tiny("tpftl", 170, &pairs);
        let mut device = open("tpftl", &config);
        for request in mixed(&config, 1500, 3) {
            device.submit(&request).expect("works");
            device.audit().expect("the bytes hold");
        }
        let meter = device.board().meter();
        let event = |event| meter.events(event);
        let misses = event(Event::MapLookups) - event(Event::MapHits);
        let (reads, writes) = (meter.reads(Cause::Translate), meter.programs(Cause::Translate));
        assert_eq!(misses, reads - writes, "misses = (3) - (7)");
        assert_eq!(writes, event(Event::EvictDirty), "(7) = changed entries evicted");
        let loaded = misses + event(Event::PrefetchedEntries);
        let left = event(Event::EvictClean) + event(Event::EvictDirty);
        assert!((6..=15).contains(&(loaded - left)), "{} entries in 100 bytes", loaded - left);
        assert_eq!(event(Event::PrefetchedEntries) > 0, bits & 3 != 0, "{pairs:?}");
        assert!(event(Event::PrefetchedUsed) <= event(Event::PrefetchedEntries));
        assert_eq!(event(Event::BatchedEvictions) > 0, bits >> 2 & 1 == 1, "{pairs:?}");
    }
}

#[test]
fn settings_that_do_not_go_together_are_refused() {
    let (row, _) = schemes::find("tpftl").expect("a scheme of the table");
    let refusal = |pairs: &[(&str, &str)]| match (row.check)(&config(pairs)) {
        Ok(()) => String::new(),
        Err(error) => error.to_string(),
    };
    assert_eq!(refusal(&[("device.ram_bytes", "1KiB"), ("tpftl.cache_bytes", "1KiB")]), "");
    let large = refusal(&[("device.ram_bytes", "1KiB"), ("tpftl.cache_bytes", "2KiB")]);
    assert!(large.contains("more than device.ram_bytes leaves: 1024"), "{large}");
    let small = refusal(&[("tpftl.cache_bytes", "19B")]);
    assert!(small.contains("legal: 20 and more"), "{small}");
    let one = refusal(&[("tpftl.levels", "one")]);
    assert!(one.contains("tpftl.request_prefetch works on nodes"), "{one}");
}
