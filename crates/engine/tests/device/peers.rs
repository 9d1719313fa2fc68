//! Faults that widely used simulators have (writes lost that collide with collection, collection
//! reads counted as none, a "page FTL" without a map, map pages that cost no flash): each is a test
//! that this simulator does not have it.

use crate::common::{config, open, pages, place, submit, tiny};
use ftlab_engine::meter::{Cause, Event};
use ftlab_engine::request::Op;
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes;

/// A page is overwritten in the very request whose collection moves its old version, over and over:
/// the new version must win.
#[test]
fn writes_that_collide_with_collection_are_not_lost() {
    for row in schemes::TABLE {
        let config = tiny(row.paper.name, 24, &[("dftl.cmt_entries", "4")]);
        let mut device = open(row.paper.name, &config);
        let device = device.as_mut();
        device.verify_reads();
        let mut rng = Rng::new(1, Purpose::Workload);
        let mut collided = 0;
        for _ in 0..6000 {
            let page = u64::from(rng.below(96));
            let before = device.board().meter().total_erases();
            submit(device, &config, Op::Write, page);
            if device.board().meter().total_erases() > before {
                collided += 1;
                submit(device, &config, Op::Read, page);
            }
        }
        assert!(collided > 500, "{}: {collided} writes collided", row.paper.name);
        device.audit().expect("every version written last is there");
    }
}

/// Moving a page is a read and a program, both counted and both paid for.
#[test]
fn collection_reads_are_counted_and_take_time() {
    for (scheme, cause) in [("ideal_page", Cause::Gc), ("dftl", Cause::Gc), ("fast", Cause::Merge)]
    {
        let config = tiny(scheme, 24, &[("timing.program", "0us"), ("timing.erase", "0us")]);
        let mut device = open(scheme, &config);
        let device = device.as_mut();
        let mut rng = Rng::new(1, Purpose::Workload);
        for _ in 0..2000 {
            submit(device, &config, Op::Write, u64::from(rng.below(96)));
        }
        let meter = device.board().meter();
        assert!(meter.reads(cause) > 100, "{scheme}: {} reads", meter.reads(cause));
        assert_eq!(meter.reads(cause), meter.programs(cause), "{scheme}");
        // Only reads take time here, and only collection and translation read.
        let total: u128 = meter.latency().write()[1].sum();
        let reads = u128::from(meter.total_reads()) * u128::from(config.timing.read.0);
        assert_eq!(total, reads, "{scheme}");
    }
}

/// A page FTL maps: an overwritten page lies elsewhere, and the table that knows it takes memory.
#[test]
fn the_page_map_has_a_map() {
    let config = tiny("ideal_page", 24, &[]);
    let mut device = open("ideal_page", &config);
    let device = device.as_mut();
    submit(device, &config, Op::Write, 7);
    let first = place(device, 7);
    submit(device, &config, Op::Write, 7);
    assert_ne!(place(device, 7), first);
    let (row, _) = schemes::find("ideal_page").expect("a scheme of the table");
    let table = (row.ram_use)(&config).into_iter().find(|use_| use_.structure == "page_table");
    assert_eq!(table.expect("the table is counted").bytes, 4 * config.device.logical_pages());
}

/// A read whose entry is not cached costs a map read first; a changed entry that makes room costs a
/// map read and a map program more.
#[test]
fn map_pages_cost_flash() {
    let config = config(&[
        ("dftl.cmt_entries", "2"),
        ("dftl.cmt_policy", "lru"),
        ("dftl.checkpoint_interval", "0"),
    ]);
    let (read, program) = (config.timing.read.0, config.timing.program.0);
    let mut device = open("dftl", &config);
    let mut time = |op, page| {
        let mut request = pages(&config, op, page, 1);
        request.arrival = device.idle_from();
        device.submit(&request).expect("works").device()
    };
    assert_eq!(time(Op::Write, 1), read + program, "load the entry, write the page");
    assert_eq!(time(Op::Write, 2), read + program);
    assert_eq!(time(Op::Read, 2), read, "a hit");
    assert_eq!(time(Op::Read, 3), read + program + read + read, "evict 1, load 3, read");
    assert_eq!(device.board().meter().events(Event::EvictDirty), 1);
}
