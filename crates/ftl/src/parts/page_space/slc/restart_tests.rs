//! What of the cache is found again after a power cut.

use super::super::Stream;
use super::super::lines::bench_tests::Bench;
use super::fold_tests::bench;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{Cause, Event};
use ftlab_flash::units::{BlockId, PlaneId};

const PLANE: PlaneId = PlaneId(0);

fn closed(bench: &Bench) -> Vec<u32> {
    let slc = bench.space.slc.as_ref().expect("a cache");
    slc.planes[0].closed.iter().map(|block| block.0).collect()
}

fn static_free(bench: &Bench) -> Vec<u32> {
    let slc = bench.space.slc.as_ref().expect("a cache");
    slc.planes[0].static_free.iter().map(|block| block.0).collect()
}

/// What holds something is in the order in which it was filled, the block with room is open, what
/// is erased is free for the cache alone.
#[test]
fn the_cache_comes_back_as_it_was() {
    let mut bench = bench("4", &[("slc.dynamic_share", "0.25")]);
    // Four blocks that are set aside, three of the free ones: 25 % of 16 less 4.
    bench.write_all(0..26);
    for page in 0..8 {
        bench.forget(page);
    }
    // Two are erased as they are, and opened again.
    bench.write_all(26..33);
    let before = (closed(&bench), bench.open_of(Stream::Slc), static_free(&bench));
    assert_eq!(before.0.len(), 6);
    bench.cut();
    bench.audit();
    assert_eq!((closed(&bench), bench.open_of(Stream::Slc), static_free(&bench)), before);
    assert_eq!(bench.space.lent_to_cache(PLANE), 3);
    bench.read_all();
}

/// Erased blocks that are set aside are no others' after a cut.
#[test]
fn what_was_set_aside_is_free_for_the_cache_alone() {
    let mut bench = bench("4", &[]);
    bench.write_all(0..6);
    let free = bench.free(0);
    bench.cut();
    bench.audit();
    assert_eq!((static_free(&bench), bench.free(0)), (vec![2, 3], free));
    assert_eq!((bench.space.static_blocks(PLANE), bench.space.free_static_blocks(PLANE)), (4, 2));
    let next = bench.write(6);
    assert_eq!(bench.board.geometry().block_of(next), BlockId(1), "the open one is written on");
}

/// A block that was bad from the start was never counted, one whose erase failed is no more.
#[test]
fn blocks_out_of_use_are_set_aside_no_more() {
    // Of two bad ones the first is among those that are set aside.
    for (bad, good) in [("1", [0, 2, 3]), ("1,3", [0, 2, 4])] {
        let mut bench = bench("3", &[("nand.factory_bad_blocks", bad)]);
        assert_eq!(static_free(&bench), good);
        bench.write_all(0..12);
        (0..4).for_each(|page| bench.forget(page));
        bench.board.nand_mut().faults_mut().fail_erase_after(0);
        bench.write_all(12..13);
        assert_eq!((bench.count(Event::SlcDeadBlocks), bench.space.static_blocks(PLANE)), (1, 2));
        bench.audit();
        bench.cut();
        bench.audit();
        assert_eq!((bench.space.static_blocks(PLANE), static_free(&bench)), (2, vec![]));
        assert_eq!(closed(&bench), good[1..]);
        bench.read_all();
    }
}

/// Of two half-written blocks the one with most room is written on, whichever was found first; one
/// whose program failed is not.
#[test]
fn the_block_with_most_room_is_written_on() {
    for (tops, open) in [([1, 2, 3], 0), ([3, 2, 1], 2), ([2, 1, 2], 1), ([2, 2, 3], 1)] {
        let mut bench = bench("3", &[]);
        let mut number = 0;
        for (block, &top) in (0..).map(BlockId).zip(&tops) {
            bench.board.nand_mut().choose_slc(block);
            for offset in 0..top {
                let page = bench.board.geometry().page(block, offset);
                let io = bench.io(number, 0);
                let kind = ftlab_flash::board::nand::state::PageKind::Data;
                let _ =
                    bench.board.program_update(page, None, &io, kind, When::START).expect("works");
                number += 1;
            }
        }
        bench.cut();
        bench.audit();
        assert_eq!(bench.open_of(Stream::Slc), Some(BlockId(open)), "{tops:?}");
        let next = bench.write(90);
        let offset = bench.board.geometry().offset_of(next);
        assert_eq!(offset, tops[open as usize], "{tops:?}");
    }
    let mut bench = bench("3", &[]);
    bench.write_all(0..1);
    bench.board.nand_mut().faults_mut().fail_program_after(0);
    bench.write_all(1..2);
    bench.cut();
    bench.audit();
    assert_eq!((closed(&bench), bench.open_of(Stream::Slc)), (vec![0], Some(BlockId(1))));
}

/// Blocks are short: before the first page is taken, though the open block has some, the cache
/// gives its own back.
#[test]
fn a_drive_that_comes_back_short_of_blocks_folds_first() {
    for (first, folds) in [(false, 0), (true, 2)] {
        let mut bench = bench("1", &[("slc.dynamic_share", "1")]);
        bench.write_all(0..62);
        bench.cut();
        bench.audit();
        assert_eq!((bench.free(0), bench.programs(Cause::Fold)), (4, 0));
        bench.space.planes[0].collects_first = first;
        while bench.free(0) > 2 {
            let _ = bench.space.planes[0].free.take();
        }
        let io = bench.io(0, 1);
        let Bench { board, space, map, .. } = &mut bench;
        let place = (PLANE, space.host_stream(board, &io));
        let _ = space.make_room(board, map, place, When::START).expect("there is room");
        // Two blocks with pages that share a dense one.
        assert_eq!(bench.count(Event::SlcFolds), folds);
        assert!(!bench.space.planes[0].collects_first, "once");
    }
}
