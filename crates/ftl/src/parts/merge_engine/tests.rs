use super::block_map::BlockMapKind;
use super::*;
use crate::parts::framed_map::FrameSizes;
use crate::parts::log_bench_tests::{Bench, is_not_before};
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::units::unpack;

/// Pages 2 and 3 are to be copied behind 0 and 1; the copy of 3 fails.
#[test]
fn a_failed_partial_merge_leaves_both_blocks_as_they_were() {
    let mut it = Bench::new(&[]);
    it.in_place(0..4);
    let log = it.log_block(&[0, 1]);
    it.fail_program_after(1);
    let failed = it.engine.complete(&mut it.board, (Lbn(0), log, 0..2), None, When::START);
    assert!(matches!(failed, Err(Fault::ProgramFailed { .. })), "{failed:?}");
    assert_eq!((it.valid_pages(log), it.valid_pages(BlockId(0))), (2, 2), "the copy of 2 is none");
    it.check(1);
}

#[test]
fn a_failed_full_merge_costs_a_fresh_block_and_no_page() {
    let mut it = Bench::new(&[]);
    it.in_place(0..4);
    let log = it.log_block(&[1, 3]);
    it.fail_program_after(2);
    let (lbn, newest) = (Lbn(0), Sources::Newest);
    let rebuilt = it.engine.rebuild(&mut it.board, lbn, None, newest, When::START);
    assert!(rebuilt.is_ok());
    assert_eq!((it.valid_pages(log), it.board.nand().retired_blocks()), (0, 1));
    it.check(1);
}

/// Marks of valid pages are looked at 64 at a time.
#[test]
fn a_merge_supersedes_log_pages_anywhere_in_a_large_block() {
    let mut it = Bench::new(&[("device.pages_per_block", "256")]);
    it.in_place(0..256);
    let log = it.log_block(&[3, 70, 130, 255]);
    let merged = it.engine.reclaim(&mut it.board, log, &mut (), When::START);
    assert!(merged.is_ok());
    it.check(0);
}

#[test]
fn a_log_block_with_every_page_in_order_becomes_the_data_block_and_no_other_does() {
    let mut it = Bench::new(&[]);
    it.in_place(0..4);
    let log = it.log_block(&[0, 1, 2, 3]);
    let switched = it.engine.try_switch(&mut it.board, log, When::START).expect("nothing fails");
    assert!(switched.is_some());
    assert_eq!((it.data_block(0), it.board.meter().merges().switch), (Some(log), 1));
    it.check(0);
    let swapped = it.log_block(&[4, 5, 7, 6]);
    let short = it.log_block(&[8, 9, 10]);
    let trimmed = it.log_block(&[12, 13, 14, 15]);
    it.trim(13);
    let torn = it.log_block(&[]);
    it.fail_program_after(0);
    let (io, slot) = (it.host.write(16), it.board.geometry().page(torn, 0));
    let failed = it.board.program_update(slot, None, &io, PageKind::Log, When::START);
    assert!(failed.is_err());
    it.in_place([io.lpn.0]);
    for block in [swapped, short, trimmed, torn] {
        let switched = it.engine.try_switch(&mut it.board, block, When::START);
        assert_eq!(switched, Ok(None), "block {block}");
    }
    it.check(4);
}

/// Three logical blocks have pages in the victim, which a merge that goes on behind something else
/// rebuilds.
#[test]
fn a_full_merge_counts_its_data_blocks_and_begins_when_it_may() {
    let mut it = Bench::new(&[("timing.profile", "parallel")]);
    let log = it.log_block(&[0, 5, 9, 10]);
    let later = it.later(PlaneId(0));
    let done = it.engine.reclaim(&mut it.board, log, &mut (), later).expect("nothing fails");
    assert!(done != later && is_not_before(done, later));
    let merges = it.board.meter().merges();
    assert_eq!((merges.full, merges.full_data_blocks), (1, 3));
    it.check(0);
}

/// Page 1 was trimmed and has no newer copy (`docs/papers/others.md#fast`, corner case d): its
/// place is programmed nonetheless, and the next merge takes that for a page and reads it.
#[test]
fn a_merge_that_copies_invalid_pages_programs_their_places_and_reads_what_it_programmed() {
    let mut it = Bench::new(&[]);
    it.engine.copies_invalid = true;
    it.in_place(0..4);
    it.trim(1);
    for (lpn, programs, reads) in [(2, 4, 3), (3, 8, 7)] {
        let log = it.log_block(&[lpn]);
        assert!(it.engine.reclaim(&mut it.board, log, &mut (), When::START).is_ok());
        let meter = it.board.meter();
        assert_eq!((meter.programs(Cause::Merge), meter.reads(Cause::Merge)), (programs, reads));
        it.check(0);
    }
}

#[test]
fn holes_of_a_rebuilt_block_are_padded_only_where_the_flash_demands_every_page() {
    for (order, pads) in [("off", 0), ("ascending_gaps_ok", 0), ("strict", 2)] {
        let mut it = Bench::new(&[("nand.enforce_order", order)]);
        let log = it.log_block(&[0, 3]);
        assert!(it.engine.reclaim(&mut it.board, log, &mut (), When::START).is_ok());
        assert_eq!(it.board.meter().programs(Cause::Pad), pads, "{order}");
        it.check(0);
    }
}

#[test]
fn a_page_whose_place_fails_goes_to_another_data_block_and_the_first_one_is_given_back() {
    let mut it = Bench::new(&[]);
    it.fail_program_after(0);
    it.in_place([0]);
    it.check(0);
    it.in_place([1]);
    it.fail_program_after(0);
    it.in_place([2]);
    assert_eq!(it.board.nand().retired_blocks(), 2);
    it.check(0);
}

/// Two planes: logical block 7 is number 3 of plane 1. It lies still while one block of that plane
/// is erased again and again.
#[test]
fn what_lies_still_moves_to_the_most_worn_block_of_its_plane() {
    let pairs = [("device.planes", "2"), ("wear.policy", "static"), ("wear.spread", "2")];
    let mut it = Bench::new(&pairs);
    it.in_place(28..32);
    let mut worn = None;
    for _ in 0..30 {
        let taken = it.engine.supply.take(&it.board, PlaneId(1), Need::Wear, When::START);
        let (block, _) = taken.expect("blocks are free");
        let released = it.engine.release_log(&mut it.board, block, When::START);
        assert!(released.is_ok());
        if it.board.meter().events(Event::LevelledBlocks) == 1 {
            worn = Some(block);
            break;
        }
    }
    assert!(worn.is_some(), "nothing moved");
    assert_eq!(it.data_block(7), worn);
    it.check(0);
}

/// A map on flash: what a look-up waits for, and that merges write it.
#[test]
fn a_block_map_on_flash_is_looked_up_for_what_is_not_in_a_log_and_written_by_merges() {
    let mut it = Bench::new(&[("timing.profile", "parallel")]);
    it.engine.block_map = Some(BlockMap::new(&it.board, BlockMapKind::Written(1)));
    let area = |it: &Bench| it.engine.block_map.as_ref().map_or(0, BlockMap::area_blocks);
    assert_eq!(area(&it), 0, "nothing is written yet");
    let log = it.log_block(&[0, 5]);
    let later = it.later(PlaneId(0));
    let known = it.engine.look_up_page(&mut it.board, Lpn(0), later);
    assert_eq!(known, Ok(later), "in a log");
    let lookups = |it: &Bench| it.board.meter().events(Event::MapLookups);
    assert_eq!(lookups(&it), 0, "the map is not asked");
    let found = it.engine.look_up_page(&mut it.board, Lpn(1), later).expect("nothing fails");
    assert!(is_not_before(found, later));
    assert_eq!(lookups(&it), 1);
    assert!(it.engine.reclaim(&mut it.board, log, &mut (), When::START).is_ok());
    assert_eq!(it.board.meter().programs(Cause::GcMapUpdate), 2, "of two merges");
    let map = it.engine.block_map.as_ref().expect("made above");
    assert_eq!(map.self_check(&it.board, &it.engine.data), Ok(()));
    assert_eq!(area(&it), 1);
    // The one map page is valid as well.
    it.engine.self_check(&it.board, 1).expect("no block is lost");
}

/// The map page is not in memory when logical block 1 gets its data block: it is written at once.
#[test]
fn the_owner_of_frames_is_given_the_map_and_the_block_table() {
    let mut it = Bench::new(&[]);
    let sizes = FrameSizes { maps: 1, data: 1 };
    it.engine.block_map = Some(BlockMap::new(&it.board, BlockMapKind::Framed(sizes)));
    assert_eq!(it.engine.framed().area_blocks(), 0);
    it.in_place([4]);
    assert_eq!(it.engine.framed().area_blocks(), 1);
    let block = it.data_block(1).expect("written above");
    assert_eq!(it.board.meter().programs(Cause::Translate), 1, "a map page");
    let (map, backing) = it.engine.framed_mut();
    assert_eq!([0, 1].map(|lbn| unpack((backing.table)(lbn))), [None, Some(block.0)]);
    map.admit(&it.board, &backing, 0, When::START);
    assert_eq!(map.self_check(&it.board, &backing.table), Ok(()));
}

/// Logical block 0 and its log block lie in the first die, where nothing is under way.
#[test]
fn the_merge_of_a_page_begins_when_it_may() {
    let mut it = Bench::new(&[("timing.profile", "parallel"), ("device.dies", "2")]);
    let _ = it.log_block(&[0]);
    let later = it.later(PlaneId(1));
    let page = it.engine.newest(it.board.nand(), Lpn(0)).expect("written above");
    let merged = it.engine.merge_page(&mut it.board, page, &mut (), later);
    let (blocks, done) = merged.expect("nothing fails");
    assert!(blocks == 1 && done != later && is_not_before(done, later));
}
