//! WAFTL with its map on flash (`waftl.pmb_cache_bytes`): a map page that is under way is none yet.

use crate::common::{open, pages, place, tiny};
use ftlab_engine::meter::Event;
use ftlab_engine::request::{Op, Request};
use ftlab_engine::units::Nanos;

/// Long after everything: no cell is busy.
const LATER: Nanos = 1_000_000_000_000;
const READ: Nanos = 20_000;

/// Memory holds one map page, and not that of pages 8 and 12, which are page-mapped in two dies.
/// Both are read at the same moment. The first request waits for the map page; to the second it is
/// a hit, but what it hits is there only when it was read.
#[test]
fn a_hit_waits_for_the_map_page_that_another_request_reads() {
    let own = [
        ("timing.profile", "parallel"),
        ("timing.read", "20us"),
        ("timing.program", "200us"),
        ("timing.page_transfer", "0"),
        ("device.channels", "4"),
        ("waftl.pmb_blocks", "8"),
        ("waftl.pmb_convert_pct", "100"),
        ("waftl.pmb_cache_bytes", "512"),
        ("waftl.buffer_blocks", "4"),
    ];
    let config = tiny("waftl", 160, &own);
    let mut device = open("waftl", &config);
    let device = device.as_mut();
    device.verify_reads();
    for page in (0..6).flat_map(|step| [4, 132, 260, 300].map(|page| page + 4 * step)) {
        device.submit(&pages(&config, Op::Write, page, 1)).expect("the device works");
    }
    let mut read = |page, arrival| {
        let request = Request { arrival, ..pages(&config, Op::Read, page, 1) };
        let took = device.submit(&request).expect("the device works").device();
        let meter = device.board().meter();
        (took, meter.events(Event::MapLookups) - meter.events(Event::MapHits))
    };
    // Map page 0 comes into memory and leaves it unchanged, so that nothing is written below.
    read(4, LATER);
    let (_, misses) = read(260, 2 * LATER);
    assert_eq!(read(8, 3 * LATER), (2 * READ, misses + 1), "its map page, then itself");
    assert_eq!(read(12, 3 * LATER), (2 * READ, misses + 1), "a hit, not before that was read");
    assert_eq!(read(12, 4 * LATER), (READ, misses + 1), "later it is there");
    let die = |page| device.board().geometry().plane_of(place(device, page));
    assert_ne!(die(8), die(12), "nothing else makes the second wait");
}
