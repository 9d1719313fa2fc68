//! What bounds the chains of the replacement-block FTL: the reserve, on a device whose bad blocks
//! leave nothing else, and `max_chain`, after a fold that was cut. Blocks have 4 pages: logical
//! block 1 is pages 4 to 7.

use crate::common::pages;
use crate::fast_bench::Bench;
use ftlab_engine::board::nand::fault::{CutOutcome, Fault};
use ftlab_engine::board::nand::record::Operation::Program;
use ftlab_engine::meter::Cause::Host;
use ftlab_engine::meter::{Event, Level};
use ftlab_engine::request::Op;
use ftlab_engine::ssd::DeviceError;

/// Logical blocks 1 to 9 are written, and page 0 if `first`. One replacement block is in use, one
/// block is free, which is the reserve, and every other one went bad.
fn with_the_reserve_alone(first: bool) -> Bench {
    let pairs = [("replacement_block.spare_pct", "20"), ("replacement_block.reserve", "1")];
    let mut bench = Bench::of("replacement_block", 9, &pairs);
    if first {
        bench.write(&[0]);
    }
    let blocks = bench.config.device.physical_blocks() as u32;
    let heads = 9 + u32::from(first);
    // Chains share one block, so that each of these folds the other's in place and takes a block.
    let mut updates = [5, 9].into_iter().cycle();
    while bench.device.board().nand().retired_blocks() < blocks - heads - 2 {
        bench.device.board_mut().nand_mut().faults_mut().fail_erase_after(0);
        bench.write(&[updates.next().expect("they go round")]);
    }
    bench.device.start_measuring();
    bench
}

/// It takes no block, so that nothing needs to be folded for it.
#[test]
fn a_free_place_of_a_head_is_written_beside_a_reserve_that_is_all_there_is() {
    let mut bench = with_the_reserve_alone(true);
    let operations = bench.write(&[1]);
    assert_eq!(operations, [Program(bench.at(1), Host)]);
    assert_eq!(bench.place(1), (bench.block(0), 1));
}

/// A head is no replacement block, but must not take the reserve either.
#[test]
fn a_new_head_takes_the_block_of_a_chain_and_leaves_the_reserve() {
    let mut bench = with_the_reserve_alone(false);
    bench.write(&[0]);
    assert_eq!(bench.events(Event::FoldsInPlace), 1, "the one chain gave a block back");
    assert_eq!(bench.meter().level_now(Level::LongestChain), Some(0));
}

/// Three blocks spare, of which chains share two, of one block each. Logical block 1 has a head
/// that was a replacement block with pages 6 and 7, then one with 6. Page 4 is new, but program
/// order forbids its place in both: a fold writes it to a third block, and is cut there. Neither of
/// the older ones holds a page 4 that the third succeeds, so that both are log blocks: one is the
/// chain, the other is not.
#[test]
fn a_chain_is_not_longer_after_a_cut_than_it_may_grow() {
    let pairs = [
        ("replacement_block.spare_pct", "30"),
        ("replacement_block.max_chain", "1"),
        ("replacement_block.victim", "lru"),
        ("nand.enforce_order", "ascending_gaps_ok"),
    ];
    let mut bench = Bench::of("replacement_block", 0, &pairs);
    bench.write(&[6, 7, 6, 7]);
    let unit = bench.block(6);
    bench.write(&[9, 9, 13, 13]);
    assert_eq!((bench.events(Event::FoldsInPlace), bench.block(6)), (1, unit), "the oldest chain");
    bench.write(&[9, 13, 6]);
    assert_eq!(bench.events(Event::FoldsOutOfPlace), 2, "there is no chain but that of block 1");
    bench.device.board_mut().nand_mut().faults_mut().cut_power_after(1, CutOutcome::Torn);
    let request = pages(&bench.config, Op::Write, 4, 1);
    let cut = bench.device.submit(&request).expect_err("behind page 4, before page 6");
    assert!(matches!(cut, DeviceError::Fault(Fault::PowerCut)), "{cut:?}");
    bench.device.power_cycle().expect("it recovers");
    bench.device.audit().expect("sound");
    assert_eq!(bench.meter().level_now(Level::LongestChain), Some(1));
    assert_eq!(bench.block(7), unit);
}
