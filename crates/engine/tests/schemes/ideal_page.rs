//! The page FTL's table in DRAM: what collection changes in it takes time, and which thresholds it
//! refuses.

use crate::common::{ERASE, LATENCIES, PROGRAM, READ, TRANSFER, open, pages, record, tiny};
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::meter::{Cause, Event};
use ftlab_engine::request::Op;
use ftlab_engine::schemes;
use ftlab_engine::ssd::Device;
use ftlab_engine::units::Nanos;

/// An access to the table, unlike any other time.
const ACCESS: Nanos = 13;

/// A write that collects takes, beside the write itself, the copies, an access to the table for
/// each of them, and the erase.
#[test]
fn every_page_that_collection_moves_is_an_access_to_the_table() {
    let pairs = [&LATENCIES[..], &[("timing.dram_access", "13ns")]].concat();
    let config = tiny("ideal_page", 32, &pairs);
    let mut device = open("ideal_page", &config);
    let device = device.as_mut();
    let logical = config.device.logical_pages();
    let mut alone = None;
    let (mut with_copies, mut moved) = (0, 0);
    // Every third page is written anew, so that victims hold pages that move.
    for page in (0..logical).chain((0..20 * logical).map(|number| 3 * number % logical)) {
        let before = device.board().meter().events(Event::DramAccesses);
        let mut took = 0;
        let operations = record(device, |device: &mut dyn Device| {
            let request = pages(&config, Op::Write, page, 1);
            took = device.submit(&request).expect("the device works").device();
        });
        let accesses = device.board().meter().events(Event::DramAccesses) - before;
        let count =
            |is: fn(&Operation) -> bool| operations.iter().filter(|op| is(op)).count() as u64;
        let copies = count(|op| matches!(op, Operation::Program(_, Cause::Gc)));
        let erases = count(|op| matches!(op, Operation::Erase(..)));
        if erases == 0 {
            // A write alone: always the same.
            assert_eq!(*alone.get_or_insert((took, accesses)), (took, accesses), "page {page}");
            continue;
        }
        let (write, own) = alone.expect("the device was empty at first");
        let copy = READ + PROGRAM + 2 * TRANSFER + ACCESS;
        assert_eq!(took, write + copies * copy + erases * ERASE, "page {page}: {copies} copies");
        assert_eq!(accesses, own + copies, "page {page}");
        with_copies += u64::from(copies > 0);
        moved += copies;
    }
    assert!(with_copies > 10 && moved > with_copies, "{moved} pages in {with_copies} collections");
}

#[test]
fn a_threshold_below_what_a_collection_needs_is_refused() {
    let (row, _) = schemes::find("ideal_page").expect("in the table");
    let check = |blocks| (row.check)(&tiny("ideal_page", 32, &[("gc.threshold", blocks)]));
    assert!(check("2").is_ok());
    let refused = check("1").expect_err("one block is not enough").to_string();
    assert!(refused.contains("gc.threshold") && refused.contains("2 blocks or more"), "{refused}");
}
