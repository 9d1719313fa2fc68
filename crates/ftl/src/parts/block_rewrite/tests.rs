//! Rewrites on a small device: what they copy, what goes, and what a failed program costs.

use super::*;
use crate::parts::log_bench_tests::{Bench, is_not_before, take_all_but};
use ftlab_flash::units::{Lpn, Tag};

/// Logical block 1: pages 4 to 7 of a host that wrote all of them once.
fn bench(pairs: &[(&str, &str)]) -> (Bench, BlockRewrite) {
    let mut bench = Bench::new(pairs);
    bench.in_place(4..8);
    (bench, BlockRewrite::default())
}

/// The host writes this page of a request of pages 5 and 6.
fn page(bench: &mut Bench, lpn: u32) -> PageIo {
    let io = bench.host.write(lpn);
    let request = RequestShape { first_lpn: Lpn(5), pages: 2, index: lpn - 5, ..io.request };
    PageIo { request, ..io }
}

fn begin(bench: &mut Bench, rewrite: &mut BlockRewrite, io: &PageIo) -> Result<When, Fault> {
    rewrite.begin(&mut bench.board, &mut bench.engine, io, 1..3, When::START)
}

fn write(bench: &mut Bench, rewrite: &mut BlockRewrite, io: &PageIo) -> Result<When, Fault> {
    rewrite.write(&mut bench.board, &mut bench.engine, io, When::START)
}

fn leave_free(bench: &mut Bench, free: u32) -> Vec<BlockId> {
    take_all_but(free, &mut bench.engine.supply, &bench.board)
}

fn give_back(bench: &mut Bench, block: BlockId) {
    let (role, cause) = (BlockRole::Log, Cause::Merge);
    let given = bench.engine.supply.release(&mut bench.board, block, role, cause, When::START);
    assert!(given.is_ok());
}

/// Pages 5 and 6 come: page 4 is copied before them, page 7 behind them, and every page can be read
/// in between.
#[test]
fn what_the_host_leaves_out_is_copied_and_the_old_block_goes_with_the_last_page() {
    let (mut bench, mut rewrite) = bench(&[]);
    let old = bench.data_block(1);
    let io = page(&mut bench, 5);
    let first = begin(&mut bench, &mut rewrite, &io).expect("nothing fails");
    let merges = |bench: &Bench| bench.board.meter().programs(Cause::Merge);
    assert_eq!((rewrite.blocks(), merges(&bench), bench.data_block(1)), (1, 1, old));
    bench.check(rewrite.blocks());
    let io = page(&mut bench, 6);
    let last = rewrite.write(&mut bench.board, &mut bench.engine, &io, first);
    assert!(is_not_before(last.expect("nothing fails"), first));
    assert_eq!((rewrite.blocks(), merges(&bench)), (0, 2));
    assert_eq!(bench.board.meter().total_erases(), 1);
    let new = bench.data_block(1);
    assert_ne!(new, old);
    assert_eq!(new.map(|block| bench.valid_pages(block)), Some(4));
    bench.check(0);
}

/// A request of pages 5 to 10, of which 5 to 7 are of logical block 1. Page 10 has the place in
/// logical block 2 that page 6 has in it.
#[test]
fn a_rewrite_goes_on_with_the_next_page_of_its_request_alone() {
    let (mut bench, mut rewrite) = bench(&[]);
    let shape = |lpn: u32, first: u32, pages: u32| {
        let first_lpn = Lpn(first);
        let request = RequestShape { first_lpn, pages, index: lpn - first, sectors: 4, hint: None };
        let (cause, data) = (Cause::Host, Tag(1));
        PageIo { lpn: Lpn(lpn), sectors: u64::MAX, cause, data, request }
    };
    let goes_on = |rewrite: &BlockRewrite, bench: &Bench, io: &PageIo| {
        rewrite.continues_with(&bench.board, io)
    };
    assert!(!goes_on(&rewrite, &bench, &shape(6, 5, 6)), "none is under way");
    let Bench { board, engine, .. } = &mut bench;
    assert!(rewrite.begin(board, engine, &shape(5, 5, 6), 1..4, When::START).is_ok());
    assert!(goes_on(&rewrite, &bench, &shape(6, 5, 6)));
    assert!(!goes_on(&rewrite, &bench, &shape(7, 5, 6)), "not the next one");
    assert!(!goes_on(&rewrite, &bench, &shape(10, 5, 6)), "of logical block 2");
    assert!(!goes_on(&rewrite, &bench, &shape(6, 6, 6)), "of another request");
    assert!(!goes_on(&rewrite, &bench, &shape(6, 5, 7)), "of a longer one");
}

/// The programs are: page 4 copied, pages 5 and 6, page 7 copied. Whichever fails costs its block,
/// which is retired, and nothing else: what it held is copied once more. The failed one counts as a
/// program, too; of 4 and 7 alone there are two.
#[test]
fn a_program_that_fails_costs_a_block_and_no_page() {
    for (failing, merge_programs) in [(0, 2 + 1), (1, 2 + 1), (2, 2 + 2), (3, 2 + 4)] {
        let (mut bench, mut rewrite) = bench(&[]);
        bench.fail_program_after(failing);
        let io = page(&mut bench, 5);
        let first = begin(&mut bench, &mut rewrite, &io).expect("others are free");
        assert!(first != When::START);
        bench.check(rewrite.blocks());
        let io = page(&mut bench, 6);
        assert!(write(&mut bench, &mut rewrite, &io).is_ok());
        assert_eq!(rewrite.blocks(), 0);
        bench.check(0);
        assert_eq!(bench.board.nand().retired_blocks(), 1, "{failing}");
        let meter = bench.board.meter();
        assert_eq!(meter.events(Event::ProgramFailures), 1, "{failing}");
        assert_eq!(meter.programs(Cause::Merge), merge_programs, "{failing}");
    }
}

/// Pages 5 and 6 are written; the copy of page 7 fails and no other block is free. The rewrite
/// stays as it is, and every page can be read, until a block is given back.
#[test]
fn a_rewrite_that_finds_no_block_for_the_rest_waits_for_one() {
    let (mut bench, mut rewrite) = bench(&[]);
    let mut others = leave_free(&mut bench, 1);
    bench.fail_program_after(3);
    for lpn in [5, 6] {
        let io = page(&mut bench, lpn);
        let done = match lpn {
            5 => begin(&mut bench, &mut rewrite, &io),
            _ => write(&mut bench, &mut rewrite, &io),
        };
        assert!(done.is_ok(), "the page itself is written");
    }
    assert_eq!(rewrite.blocks(), 1);
    bench.check(1 + others.len() as u32);
    let refused = rewrite.finish(&mut bench.board, &mut bench.engine, When::START);
    assert!(matches!(refused, Err(Fault::DeviceFull { .. })), "{refused:?}");
    give_back(&mut bench, others.pop().expect("some were taken"));
    let done = rewrite.finish(&mut bench.board, &mut bench.engine, When::START);
    assert!(done.is_ok_and(|done| done != When::START));
    assert_eq!((rewrite.blocks(), bench.board.nand().retired_blocks()), (0, 1));
    bench.check(others.len() as u32);
    let nothing = rewrite.finish(&mut bench.board, &mut bench.engine, When::START);
    assert_eq!(nothing, Ok(When::START), "none is under way");
}

/// The program of page 6 itself fails, and no other block is free: the host hears of it. It writes
/// the page again when there is one.
#[test]
fn a_page_that_finds_no_block_is_not_written_and_may_come_again() {
    let (mut bench, mut rewrite) = bench(&[]);
    let mut others = leave_free(&mut bench, 1);
    let io = page(&mut bench, 5);
    assert!(begin(&mut bench, &mut rewrite, &io).is_ok());
    bench.fail_program_after(0);
    let io = page(&mut bench, 6);
    let refused = write(&mut bench, &mut rewrite, &io);
    assert!(matches!(refused, Err(Fault::DeviceFull { .. })), "{refused:?}");
    assert!(rewrite.continues_with(&bench.board, &io));
    give_back(&mut bench, others.pop().expect("some were taken"));
    assert!(write(&mut bench, &mut rewrite, &io).is_ok());
    assert_eq!((rewrite.blocks(), bench.board.nand().retired_blocks()), (0, 1));
    bench.check(others.len() as u32);
}

/// Page 4 was trimmed: its place stays empty, or is padded where the flash wants every page in
/// order.
#[test]
fn a_place_that_holds_nothing_is_padded_only_where_it_must_be() {
    for (order, pads) in [("off", 0), ("strict", 1)] {
        let (mut bench, mut rewrite) = bench(&[("nand.enforce_order", order)]);
        bench.trim(4);
        for lpn in [5, 6] {
            let io = page(&mut bench, lpn);
            let done = match lpn {
                5 => begin(&mut bench, &mut rewrite, &io),
                _ => write(&mut bench, &mut rewrite, &io),
            };
            assert!(done.is_ok());
            bench.check(rewrite.blocks());
        }
        let programs = [Cause::Pad, Cause::Merge].map(|cause| bench.board.meter().programs(cause));
        assert_eq!(programs, [pads, 1], "{order}: page 7 is copied");
        assert_eq!(rewrite.blocks(), 0);
    }
}
