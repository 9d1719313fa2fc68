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

/// A failed program closes a page-mapped block early, and the copy goes to a block beyond the limit.
/// That block must not stay one too many: the closed one is emptied into it at once. It once stayed,
/// so that each such failure took two blocks from the device: the bad one and the one in its place.
#[test]
fn a_failed_program_leaves_no_page_mapped_block_beyond_the_limit() {
    let pairs = [("waftl.buffer_blocks", "3"), ("waftl.pmb_blocks", "1")];
    for failing in 0..4 {
        let mut bench = Bench::of("waftl", 3, &pairs);
        bench.write(&[20, 4, 9, 12, 5, 13, 12, 13, 6, 20, 20, 20]);
        bench.device.start_measuring();
        // Block 1 is rewritten by four programs; then 9, 12, 13 and 20 become page-mapped.
        bench.device.board_mut().nand_mut().faults_mut().fail_program_after(4 + failing);
        bench.write(&[36]);
        assert_eq!(bench.events(Event::ProgramFailures), 1);
        assert_eq!(bench.meter().programs(Gc), failing, "what was in the closed block moves on");
        assert_eq!([9, 12, 13, 20].map(|lpn| bench.block(lpn)), [bench.block(9); 4]);
        assert_eq!(bench.device.board().nand().retired_blocks(), 1);
    }
}
