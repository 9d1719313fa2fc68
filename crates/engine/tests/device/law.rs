//! Every law of flash, broken on purpose, is caught; the message names block, page and rule.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::common::config;
use ftlab_engine::board::Board;
use ftlab_engine::board::nand::Payload;
use ftlab_engine::board::nand::run::Mover;
use ftlab_engine::board::nand::state::{OobRead, PageKind};
use ftlab_engine::board::when::When;
use ftlab_engine::config::Config;
use ftlab_engine::meter::{BlockRole, Cause};
use ftlab_engine::request::{PageIo, RequestShape};
use ftlab_engine::units::{BlockId, Lpn, Ppn, Tag};

fn board(pairs: &[(&str, &str)]) -> Board {
    let mut all = vec![("device.pages_per_block", "4"), ("device.blocks_per_plane", "8")];
    all.extend_from_slice(pairs);
    let config: Config = config(&all);
    Board::new(&config, 1, 0)
}

fn program(board: &mut Board, page: u32) {
    let io = PageIo {
        lpn: Lpn(page),
        sectors: 1,
        cause: Cause::Host,
        data: Tag(1),
        request: RequestShape { first_lpn: Lpn(page), pages: 1, index: 0, sectors: 4, hint: None },
    };
    let _ = board
        .program_update(Ppn(page), None, &io, PageKind::Data, When::START)
        .expect("no fault is planned");
}

fn erase(board: &mut Board, block: u32) {
    let _ = board
        .erase(BlockId(block), BlockRole::Data, Cause::Gc, When::START)
        .expect("no fault is planned");
}

/// Runs what must be refused and returns the refusal.
fn refusal(board: &mut Board, act: impl FnOnce(&mut Board)) -> String {
    let result = catch_unwind(AssertUnwindSafe(|| act(board)));
    let panic = result.expect_err("the law must refuse this");
    panic.downcast_ref::<String>().cloned().expect("a refusal says why")
}

#[test]
fn a_page_is_programmed_once_between_erases() {
    let mut board = board(&[]);
    program(&mut board, 5);
    let text = refusal(&mut board, |board| program(board, 5));
    assert!(text.contains("page 5 (block 1, offset 1): it is not erased"), "{text}");
}

#[test]
fn an_erased_page_cannot_be_read() {
    let mut board = board(&[]);
    let text = refusal(&mut board, |board| {
        let _ = board.read(Ppn(6), Cause::Host, When::START);
    });
    assert!(text.contains("page 6 (block 1, offset 2): nothing readable there"), "{text}");
}

#[test]
fn a_block_with_valid_pages_cannot_be_erased() {
    let mut board = board(&[]);
    program(&mut board, 4);
    let text = refusal(&mut board, |board| erase(board, 1));
    assert!(text.contains("erase of block 1: it still holds 1 valid pages"), "{text}");
    board.nand_mut().invalidate(Ppn(4));
    erase(&mut board, 1);
}

#[test]
fn a_page_becomes_invalid_once() {
    let mut board = board(&[]);
    program(&mut board, 4);
    board.nand_mut().invalidate(Ppn(4));
    let text = refusal(&mut board, |board| {
        board.nand_mut().invalidate(Ppn(4));
    });
    assert!(text.contains("page 4 (block 1, offset 0): it is not valid"), "{text}");
}

#[test]
fn order_within_a_block_is_enforced_as_the_device_demands() {
    let mut any = board(&[]);
    program(&mut any, 7);
    program(&mut any, 4);
    let mut upwards = board(&[("nand.enforce_order", "ascending_gaps_ok")]);
    program(&mut upwards, 6);
    let text = refusal(&mut upwards, |board| program(board, 5));
    assert!(text.contains("pages up to offset 3 are programmed"), "{text}");
    program(&mut upwards, 7);
    let mut strict = board(&[("nand.enforce_order", "strict")]);
    program(&mut strict, 4);
    let text = refusal(&mut strict, |board| program(board, 6));
    assert!(text.contains("nand.enforce_order = strict"), "{text}");
}

#[test]
fn addresses_beyond_the_device_are_refused() {
    let mut board = board(&[]);
    let text = refusal(&mut board, |board| program(board, 32));
    assert!(text.contains("program of page 32: beyond the 32 pages"), "{text}");
    let text = refusal(&mut board, |board| erase(board, 8));
    assert!(text.contains("erase of block 8: beyond the 8 blocks"), "{text}");
}

#[test]
fn a_retired_block_is_out_of_use() {
    let mut board = board(&[]);
    board.nand_mut().faults_mut().fail_erase_after(0);
    assert!(board.erase(BlockId(2), BlockRole::Data, Cause::Gc, When::START).is_err());
    let text = refusal(&mut board, |board| program(board, 8));
    assert!(text.contains("the block is retired, read-only or undefined"), "{text}");
    let text = refusal(&mut board, |board| erase(board, 2));
    assert!(text.contains("erase of block 2: it was retired"), "{text}");
}

/// Pages 0 to 2 of block 0 hold data.
fn three_pages() -> Board {
    let mut board = board(&[]);
    (0..3).for_each(|page| program(&mut board, page));
    assert_eq!(board.nand().hold_words(BlockId(0)), Some(false));
    board
}

/// Moves the first `count` valid pages of block 0: what is told of them.
fn move_valid(board: &mut Board, (to, count): (u32, u32), words: bool) -> Vec<Mover> {
    let mut moved = Vec::new();
    board.move_valid((BlockId(0), words), (Ppn(to), count), Cause::Gc, &mut moved);
    moved
}

#[test]
fn pages_that_move_together_obey_every_law_of_single_ones() {
    let refused = |act: &dyn Fn(&mut Board), rule: &str| {
        let mut board = three_pages();
        let text = refusal(&mut board, act);
        assert!(text.contains(rule), "{text}");
    };
    refused(&|board| drop(move_valid(board, (6, 3), false)), "6 to 8: they are not of one block");
    refused(
        &|board| {
            program(board, 9);
            move_valid(board, (8, 3), false);
        },
        "page 9 (block 2, offset 1): it is not erased",
    );
    refused(
        &|board| {
            let _ = board.nand_mut().discard(Ppn(1));
            move_valid(board, (8, 3), false);
        },
        "block 0 has 1 pages fewer than move to 8",
    );
    refused(&|board| drop(move_valid(board, (3, 1), false)), "which are its own");
    refused(&|board| drop(move_valid(board, (8, 3), true)), "page 0 moves with others");
    refused(
        &|board| {
            let _ = board.nand_mut().faults_mut();
            move_valid(board, (8, 3), false);
        },
        "only where nothing can happen",
    );
    let mut board = three_pages();
    let _ = board.nand_mut().discard(Ppn(0));
    let moved = move_valid(&mut board, (8, 1), false);
    assert_eq!(moved.iter().map(|mover| mover.old.0).collect::<Vec<_>>(), [1]);
    let valid = (0..12).filter(|&page| board.nand().state().is_valid(Ppn(page)));
    assert_eq!(valid.collect::<Vec<_>>(), [2, 8]);
    assert_eq!(board.nand().valid_pages(BlockId(0)), 1);
}

/// Words move with words and data with data.
#[test]
fn a_block_says_what_its_valid_pages_hold() {
    let mut board = three_pages();
    let what = (PageKind::Map, 0);
    let _ = board
        .program_payload(Ppn(3), what, Payload::Words(&[1]), Cause::Translate, When::START)
        .expect("no fault is planned");
    assert_eq!(board.nand().hold_words(BlockId(0)), None, "both");
    for page in 0..3 {
        let _ = board.nand_mut().discard(Ppn(page));
    }
    assert_eq!(board.nand().hold_words(BlockId(0)), Some(true));
    let moved = move_valid(&mut board, (8, 1), true);
    assert_eq!(moved[0].kind, PageKind::Map);
    assert_eq!(board.nand().payload(Ppn(8))[0], 1);
}

#[test]
fn pages_that_are_copied_together_obey_every_law_of_single_ones() {
    let copy = |board: &mut Board, from: [u32; 3], to: u32| {
        let done =
            board.copy_run((&from.map(Ppn), Ppn(to)), PageKind::Log, Cause::Merge, When::START);
        let _ = done.expect("no fault is planned");
    };
    let written = || {
        let mut board = board(&[]);
        (0..3).for_each(|page| program(&mut board, page));
        assert!(board.nand().moves_runs());
        board
    };
    let refused = |board: &mut Board, from: [u32; 3], to: u32, rule: &str| {
        let text = refusal(board, |board| copy(board, from, to));
        assert!(text.contains(rule), "{text}");
    };
    refused(&mut written(), [0, 1, 2], 6, "6 to 8: they are not of one block");
    let mut taken = written();
    program(&mut taken, 9);
    refused(&mut taken, [0, 1, 2], 8, "page 9 (block 2, offset 1): it is not erased");
    refused(&mut written(), [0, 3, 2], 8, "page 3 (block 0, offset 3): nothing readable there");
    let mut words = written();
    let what = (PageKind::Map, 0);
    let _ = words
        .program_payload(Ppn(3), what, Payload::Words(&[1]), Cause::Translate, When::START)
        .expect("no fault is planned");
    refused(&mut words, [0, 3, 2], 8, "page 3 holds words");
    let mut board = written();
    copy(&mut board, [0, 2, 1], 8);
    let state = board.nand().state();
    let valid = (0..12).filter(|&page| state.is_valid(Ppn(page)));
    assert_eq!(valid.collect::<Vec<_>>(), [0, 1, 2, 8, 9, 10], "the sources stay");
    let OobRead::Written(oob) = state.oob(Ppn(9)) else { panic!("page 9 was programmed") };
    assert_eq!((oob.logical, oob.kind, oob.sequence), (2, PageKind::Log, 5));
}
