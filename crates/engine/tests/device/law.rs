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
        request: RequestShape { first_lpn: Lpn(page), pages: 1, index: 0, sectors: 4, hint: 0 },
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

/// Pages 0 to 2 of block 0 in a list of those that move.
fn movers(board: &mut Board) -> Vec<Mover> {
    (0..3).for_each(|page| program(board, page));
    let mut movers = Vec::new();
    assert!(board.nand().list_movers(BlockId(0), u32::MAX, &mut movers));
    movers
}

fn move_run(board: &mut Board, movers: &mut [Mover], to: u32) {
    board.move_run((BlockId(0), movers), Ppn(to), Cause::Gc, When::START);
}

#[test]
fn pages_that_move_together_obey_every_law_of_single_ones() {
    let refused = |act: &dyn Fn(&mut Board, &mut Vec<Mover>), rule: &str| {
        let mut board = board(&[]);
        let mut movers = movers(&mut board);
        let text = refusal(&mut board, |board| act(board, &mut movers));
        assert!(text.contains(rule), "{text}");
    };
    refused(&|board, list| move_run(board, list, 6), "6 to 8: they are not of one block");
    refused(
        &|board, list| {
            program(board, 9);
            move_run(board, list, 8);
        },
        "page 9 (block 2, offset 1): it is not erased",
    );
    refused(
        &|board, list| {
            let _ = board.nand_mut().discard(Ppn(1));
            move_run(board, list, 8);
        },
        "page 1 (block 0, offset 1): it is not valid",
    );
    refused(
        &|board, list| {
            list[1].old = Ppn(3);
            move_run(board, list, 8);
        },
        "page 3 (block 0, offset 3): nothing readable there",
    );
    refused(
        &|board, list| {
            list[1].old = Ppn(5);
            move_run(board, list, 8);
        },
        "page 5 moves with others",
    );
    refused(
        &|board, list| {
            let _ = board.nand_mut().faults_mut();
            move_run(board, list, 8);
        },
        "only where nothing can happen",
    );
    let mut board = board(&[]);
    let mut movers = movers(&mut board);
    move_run(&mut board, &mut movers, 8);
    let valid = (0..12).filter(|&page| board.nand().state().is_valid(Ppn(page)));
    assert_eq!(valid.collect::<Vec<_>>(), [8, 9, 10]);
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
