use super::*;
use crate::parts::log_bench_tests::Bench;

/// An open block of logical block 0 that holds the pages `first..next`.
fn opened(it: &mut Bench, first: u32, next: u32) -> SequentialLog {
    let mut log = SequentialLog::default();
    let io = it.host.write(first);
    let done = log.open(&mut it.board, &mut it.engine, &io, When::START);
    assert!(done.is_ok());
    for lpn in first + 1..next {
        let io = it.host.write(lpn);
        let done = log.append(&mut it.board, &mut it.engine, &io, When::START);
        assert!(done.is_ok());
    }
    log
}

/// What its merge is, done and seen to lose nothing.
fn merged(it: &mut Bench, mut log: SequentialLog, insert: Option<u32>) -> Merge {
    let open = log.open_log().expect("open");
    let io = insert.map(|lpn| it.host.write(lpn));
    let kind = SequentialLog::kind(&it.board, &it.engine, open, io.as_ref());
    if io.is_none() {
        assert_eq!(log.outlook(&it.board, &it.engine), Some(kind));
    }
    let done = log.merge(&mut it.board, &mut it.engine, io.as_ref(), When::START);
    assert!(done.is_ok());
    assert_eq!(log.open_log(), None);
    it.check(0);
    kind
}

/// A block of pages 1 and 2: page 3 can follow, page 0 only where the order of programs is free.
/// Of the pages that it lacks only those count that there are, or that are put in on the way.
#[test]
fn a_partial_merge_is_one_that_the_flash_takes() {
    use Merge::{Full, Partial};
    for (order, insert, present, kind) in [
        ("off", None, &[0, 3][..], Partial),
        ("ascending_gaps_ok", None, &[0, 3], Full),
        ("ascending_gaps_ok", None, &[3], Partial),
        ("ascending_gaps_ok", Some(3), &[], Partial),
        ("ascending_gaps_ok", Some(0), &[3], Full),
    ] {
        let mut it = Bench::new(&[("nand.enforce_order", order)]);
        it.in_place(present.iter().copied());
        let log = opened(&mut it, 1, 3);
        assert_eq!(merged(&mut it, log, insert), kind, "{order}, {insert:?} into {present:?}");
    }
    let mut it = Bench::new(&[]);
    it.engine.completes_upwards = true;
    it.in_place([0]);
    let log = opened(&mut it, 1, 3);
    assert_eq!(merged(&mut it, log, None), Full, "a scheme that completes upwards only");
}

/// The place behind the last page is the next one to be programmed.
#[test]
fn a_block_that_ends_where_its_missing_pages_begin_is_completed_upwards() {
    let mut it = Bench::new(&[("nand.enforce_order", "ascending_gaps_ok")]);
    it.in_place(0..4);
    let log = opened(&mut it, 0, 1);
    assert_eq!(merged(&mut it, log, None), Merge::Partial);
}

/// A program of page 2 failed: the block is read-only, and lacks pages, or it lacks none that there
/// are.
#[test]
fn a_block_that_takes_no_page_is_merged_in_full_if_one_is_missing() {
    for (present, kind) in [(&[3][..], Merge::Full), (&[], Merge::Partial)] {
        let mut it = Bench::new(&[]);
        it.in_place(present.iter().copied());
        let log = opened(&mut it, 0, 2);
        let block = log.open_log().expect("open").block;
        let slot = it.board.geometry().page(block, 2);
        it.fail_program_after(0);
        let io = it.host.write(8);
        let failed = it.board.program_update(slot, None, &io, PageKind::Log, When::START);
        assert!(failed.is_err());
        it.in_place([8]);
        assert_eq!(merged(&mut it, log, None), kind, "{present:?} missing");
    }
}

/// Runs decide (FASTer's board): a long one opens a block wherever it is; of the owner's pages only
/// the next one belongs to a block that is not full.
#[test]
fn a_run_goes_on_in_its_block_until_that_is_full() {
    use SequentialRule::{Append, MergeThenOpen, Open};
    let closed = SequentialLog::default();
    assert_eq!(closed.judge_run((Lbn(1), 2), true, 4), Some(Open));
    assert_eq!(closed.judge_run((Lbn(1), 2), false, 4), None);
    let open = |next| OpenLog { block: BlockId(9), owner: Lbn(1), first: 0, next };
    let log = SequentialLog::resumed(Some(open(2)));
    for long in [true, false] {
        let judged = [1, 2, 3].map(|offset| log.judge_run((Lbn(1), offset), long, 4));
        assert_eq!(judged, [None, Some(Append), None], "the owner's");
        let other = log.judge_run((Lbn(2), 2), long, 4);
        assert_eq!(other, long.then_some(MergeThenOpen), "a stranger's");
        let full = SequentialLog::resumed(Some(open(4))).judge_run((Lbn(1), 1), long, 4);
        assert_eq!(full, long.then_some(MergeThenOpen), "the owner's, behind a full block");
    }
}

/// Pages 0 and 2 are there, 1 was never written.
#[test]
fn a_block_that_begins_at_a_later_page_is_filled_with_those_before_it() {
    for order in ["off", "strict"] {
        let mut it = Bench::new(&[("nand.enforce_order", order)]);
        let data = it.log_block(&[0, 2]);
        let mut log = SequentialLog::default();
        let io = it.host.write(3);
        assert!(log.open_filled(&mut it.board, &mut it.engine, &io, When::START).is_ok());
        let open = log.open_log().expect("open");
        assert_eq!((open.first, open.next, it.valid_pages(open.block)), (0, 4, 3), "{order}");
        assert_eq!(it.valid_pages(data), 0, "all of it was copied");
        it.check(2);
        let mut first = SequentialLog::default();
        let io = it.host.write(4);
        assert!(first.open_filled(&mut it.board, &mut it.engine, &io, When::START).is_ok());
        assert_eq!(first.open_log().map(|open| (open.owner, open.next)), Some((Lbn(1), 1)));
        it.check(3);
    }
}

/// Page 1 is there and is copied, 2 was never written; 3 is written behind them.
#[test]
fn a_gap_is_filled_with_copies_and_the_stream_goes_on_behind_it() {
    for order in ["off", "strict"] {
        let mut it = Bench::new(&[("nand.enforce_order", order)]);
        let data = it.log_block(&[1]);
        let mut log = opened(&mut it, 0, 1);
        let io = it.host.write(3);
        assert!(log.append_padded(&mut it.board, &mut it.engine, &io, When::START).is_ok());
        let open = log.open_log().expect("open");
        assert_eq!((open.next, it.valid_pages(open.block), it.valid_pages(data)), (4, 3, 0));
        it.check(2);
        assert_eq!(log.give_up(), Some(open));
        assert_eq!(log.open_log(), None);
    }
}

#[test]
fn a_block_with_a_run_of_one_logical_block_goes_on_as_it_was() {
    let survivor = |home, run| Survivor {
        block: BlockId(6),
        home,
        owner: home,
        run,
        newest_data: 0,
        newest: 3,
        oldest: 2,
    };
    let open = OpenLog { block: BlockId(6), owner: Lbn(2), first: 1, next: 3 };
    assert_eq!(SequentialLog::found(&survivor(Some(Lbn(2)), Some(1..3))), Some(open));
    assert_eq!(SequentialLog::found(&survivor(Some(Lbn(2)), None)), None, "with a gap");
    assert_eq!(SequentialLog::found(&survivor(None, Some(1..3))), None, "not at home");
}
