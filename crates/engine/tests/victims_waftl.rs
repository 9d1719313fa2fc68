//! Which page-mapped block WAFTL collects, and what counts as a conversion. Blocks have 4 pages.

mod common;
mod fast_bench;

use fast_bench::Bench;
use ftlab_engine::meter::Cause::{Convert, Gc};
use ftlab_engine::meter::Event;

/// Three migrations of single pages fill two page-mapped blocks. The younger one has a superseded
/// page (36): it is collected, not the older one, every page of which is valid. Block 2 becomes
/// page-mapped with page 9; page 10 follows without a conversion.
#[test]
fn the_emptiest_page_mapped_block_is_collected_and_a_block_is_converted_once() {
    let pairs = [("waftl.buffer_blocks", "3"), ("waftl.pmb_blocks", "2")];
    let mut bench = Bench::of("waftl", 3, &pairs);
    bench.write(&[20, 4, 9, 12, 5, 13, 12, 13, 6, 20, 20, 20]);
    bench.device.start_measuring();
    bench.write(&[36]);
    let oldest = bench.block(9);
    assert_eq!(bench.events(Event::Conversions), 2, "blocks 2 and 3");
    bench.write(&[10, 36, 36, 36, 36, 36, 36, 36, 36, 36, 36, 36]);
    assert_eq!(bench.events(Event::Conversions), 2, "block 2 was page-mapped");
    let younger = bench.block(10);
    assert_ne!(younger, oldest);
    bench.write(&[17, 21, 36, 36, 36, 36, 36, 36, 36, 36, 36, 36]);
    let meter = bench.meter();
    assert_eq!((meter.programs(Gc), meter.programs(Convert)), (3, 0), "10, 17 and 21");
    assert_eq!(bench.block(9), oldest);
    assert_ne!(bench.block(10), younger);
}
