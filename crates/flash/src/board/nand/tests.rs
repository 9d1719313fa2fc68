//! Programs and erases: what is on flash afterwards, what it took and what was counted, where
//! something can fail. Times are those of the serial profile.

use super::fault::CutOutcome;
use super::record::Change;
use super::state::{Oob, PageKind};
use super::*;
use crate::board::Board;
use crate::board::for_tests::{board, erase, read, refused, write, write_words};
use crate::meter::{BlockRole, Event};
use crate::units::Tag;

pub(super) const READ: Nanos = 130_900;
pub(super) const PROGRAM: Nanos = 405_900;
pub(super) const ERASE: Nanos = 1_500_000;

/// Two dies of eight blocks of four pages: block 8 is the first of the second die.
pub(super) const SMALL: [(&str, &str); 3] =
    [("device.dies", "2"), ("device.blocks_per_plane", "8"), ("device.pages_per_block", "4")];

pub(super) fn small(pairs: &[(&str, &str)]) -> Board {
    board(&[&SMALL, pairs].concat())
}

/// The second die fails, which nobody knows yet.
pub(super) fn with_a_dead_die(pairs: &[(&str, &str)]) -> Board {
    let mut board = small(&[&[("nand.failing_die", "1")], pairs].concat());
    for page in [0, 32] {
        assert!(write(&mut board, page, page + 1).is_ok());
    }
    assert!(write_words(&mut board, 33, &[7]).is_ok());
    board.nand_mut().count_until_die_fails();
    board
}

pub(super) fn now(board: &Board) -> Nanos {
    board.nand().clock().idle_from()
}

pub(super) fn changes(board: &mut Board) -> Vec<Change> {
    let (mut operations, mut changes) = (Vec::new(), Vec::new());
    board.nand_mut().record_mut().drain(&mut operations, &mut changes);
    changes
}

fn cut(board: &mut Board, outcome: CutOutcome) {
    board.nand_mut().faults_mut().cut_power_after(0, outcome);
}

pub(super) fn words(board: &Board, page: u32) -> Option<u32> {
    let nand = board.nand();
    nand.has_payload(Ppn(page)).then(|| nand.payload(Ppn(page))[0])
}

#[test]
fn a_program_that_the_power_goes_in_leaves_nothing_all_or_a_page_that_cannot_be_read() {
    let oob = Oob { logical: 5, kind: PageKind::Data, sequence: 3 };
    for (outcome, found, sequence) in [
        (CutOutcome::Undone, OobRead::Free, 2),
        (CutOutcome::Done, OobRead::Written(oob), 3),
        (CutOutcome::Torn, OobRead::Torn, 2),
    ] {
        let mut board = small(&[]);
        assert!(write(&mut board, 0, 1).is_ok() && write(&mut board, 1, 2).is_ok());
        cut(&mut board, outcome);
        assert_eq!(write(&mut board, 2, 3), Err(Fault::PowerCut));
        assert!(!board.nand().has_power());
        let nand = board.nand();
        assert_eq!((nand.state().oob(Ppn(2)), nand.sequence()), (found, sequence), "{outcome:?}");
        assert_eq!((nand.programs_on_flash(), board.meter().total_programs()), (2, 2));
        assert_eq!(now(&board), 2 * PROGRAM);
        assert_eq!(write(&mut board, 3, 4), Err(Fault::PowerCut));
        assert_eq!(board.nand().state().oob(Ppn(3)), OobRead::Free);
    }
}

#[test]
fn a_program_that_fails_is_counted_and_makes_its_block_read_only() {
    let mut board = small(&[]);
    board.nand_mut().record_mut().start_with_changes();
    assert!(write(&mut board, 4, 1).is_ok());
    board.nand_mut().faults_mut().fail_program_after(0);
    let known = When::at(2 * PROGRAM);
    assert_eq!(write(&mut board, 5, 2), Err(Fault::ProgramFailed { block: BlockId(1), known }));
    let nand = board.nand();
    assert_eq!((nand.state().oob(Ppn(5)), nand.sequence()), (OobRead::Torn, 1));
    assert!(nand.state().block(BlockId(1)).read_only);
    assert_eq!((nand.programs_on_flash(), board.meter().programs(Cause::Host)), (2, 2));
    assert_eq!(changes(&mut board), [Change::Failure(BlockId(1))]);
    assert_eq!(read(&mut board, 4), Ok((2 * PROGRAM + READ, Tag(1))));
    board.start_measuring();
    assert_eq!(board.nand().programs_on_flash(), 0);
}

/// A map page with one word changed, which replaces page 4.
fn replace(board: &mut Board, edits: &[(u32, u32)]) -> Result<When, Fault> {
    let payload = Payload::Update { old: Some(Ppn(4)), edits };
    let what = (PageKind::Map, 3);
    board.program_payload(Ppn(9), what, payload, Cause::Translate, When::START)
}

/// The words change hands when the new page is there; where the power goes then, both pages hold
/// them, and where the program fails or is torn the older page alone.
#[test]
fn words_are_on_flash_at_every_moment() {
    for (outcome, found) in [
        (None, [None, Some(8)]),
        (Some(CutOutcome::Done), [Some(6), Some(8)]),
        (Some(CutOutcome::Undone), [Some(6), None]),
        (Some(CutOutcome::Torn), [Some(6), None]),
    ] {
        let mut board = small(&[]);
        // The first slot is somebody else's.
        assert!(write_words(&mut board, 0, &[5]).is_ok());
        assert!(write_words(&mut board, 4, &[6, 7]).is_ok());
        board.nand_mut().record_mut().start_with_changes();
        if let Some(outcome) = outcome {
            cut(&mut board, outcome);
        }
        assert_eq!(replace(&mut board, &[(0, 8)]).is_ok(), outcome.is_none());
        assert_eq!([4, 9].map(|page| words(&board, page)), found, "{outcome:?}");
        assert_eq!(words(&board, 0), Some(5));
        if found[1].is_some() {
            assert_eq!(board.nand().payload(Ppn(9))[..3], [8, 7, 0], "the rest is as it was");
        }
        let kept = found.iter().flatten().count() as u32;
        assert_eq!(board.nand().payload_pages(), 1 + kept);
        let superseded = if outcome.is_none() { vec![Change::Superseded(Ppn(4))] } else { vec![] };
        assert_eq!(changes(&mut board), superseded);
        let valid = [4, 9].map(|page| board.nand().state().is_valid(Ppn(page)));
        let expected = [outcome.is_some(), found[1].is_some()];
        assert_eq!((valid, board.nand().oob_writes()), (expected, u64::from(outcome.is_none())));
    }
    let mut board = small(&[]);
    assert!(write_words(&mut board, 4, &[6]).is_ok());
    board.nand_mut().faults_mut().fail_program_after(0);
    assert!(replace(&mut board, &[(0, 8)]).is_err());
    assert_eq!([4, 9].map(|page| words(&board, page)), [Some(6), None]);
}

/// The short way and the long one: with changed words the older page is marked, when they only move
/// it is not.
#[test]
fn a_page_that_was_replaced_is_marked_where_its_block_is_not_erased_next() {
    for watched in [false, true] {
        for (edits, marks) in [(&[(1, 8)][..], 1), (&[][..], 0)] {
            let mut board = small(&[]);
            for page in [4, 5, 6] {
                assert!(write_words(&mut board, page, &[6, 7]).is_ok());
            }
            if watched {
                let _ = board.nand_mut().faults_mut();
            }
            assert!(replace(&mut board, edits).is_ok());
            assert_eq!((board.nand().oob_writes(), board.nand().payload_pages()), (marks, 3));
            assert_eq!((words(&board, 4), words(&board, 9)), (None, Some(6)));
            assert_eq!(board.nand().valid_pages(BlockId(1)), 2);
        }
    }
    let mut board = small(&[]);
    for page in [4, 5, 6] {
        assert!(write_words(&mut board, page, &[6, 7]).is_ok());
    }
    let (what, cause) = ((PageKind::Map, 3), Cause::Translate);
    let kept = board.update_untimed((Ppn(5), Ppn(9)), what, replace_words(&[(0, 1)]), cause);
    assert_eq!(kept, (BlockId(1), 2));
}

#[test]
fn parity_that_capacitors_save_is_not_left_half_done() {
    for (flush, kind, found) in [
        ("capacitor", PageKind::Parity, true),
        ("capacitor", PageKind::Data, false),
        ("partial", PageKind::Parity, false),
    ] {
        let mut board = small(&[("rain.stripe", "2"), ("rain.flush", flush)]);
        board.nand_mut().hold_parity(0, Some(Ppn(0)));
        assert!(write(&mut board, 0, 1).is_ok());
        cut(&mut board, CutOutcome::Torn);
        let done = match kind {
            PageKind::Parity => board.program_parity(Ppn(32), When::START).map(|_| ()),
            _ => write(&mut board, 32, 2).map(|_| ()),
        };
        assert_eq!(done, Err(Fault::PowerCut));
        let there = board.nand().state().oob(Ppn(32));
        assert_eq!(there != OobRead::Torn, found, "{flush}, {kind:?}");
    }
}

#[test]
fn a_program_fails_on_a_die_that_failed() {
    let mut board = with_a_dead_die(&[]);
    let known = When::at(now(&board) + PROGRAM);
    let block = BlockId(9);
    assert_eq!(write(&mut board, 36, 2), Err(Fault::ProgramFailed { block, known }));
    assert_eq!(board.meter().events(Event::FailedDies), 1);
    assert!(write(&mut board, 1, 2).is_ok(), "the other one works");
}

#[test]
fn a_page_that_is_passed_over_is_taken_and_tells_nothing() {
    let mut board = small(&[]);
    board.nand_mut().record_mut().start_with_changes();
    board.nand_mut().pass_over(Ppn(5));
    let state = board.nand().state();
    assert_eq!((state.oob(Ppn(5)), state.block(BlockId(1)).top), (OobRead::Torn, 2));
    assert_eq!(changes(&mut board), [Change::PassedOver(Ppn(5))]);
    assert_eq!(refused(|| board.nand_mut().pass_over(Ppn(5))), "page 5 is not free");
}

/// Block 1 with a page of words that is not valid any more, and holds them still.
fn superseded(pairs: &[(&str, &str)]) -> Board {
    let mut board = small(pairs);
    assert!(write(&mut board, 4, 1).is_ok() && write_words(&mut board, 6, &[7]).is_ok());
    board.nand_mut().cut_power();
    board.power_on();
    assert_eq!(board.nand().payload_pages(), 1);
    board
}

#[test]
fn an_erase_that_the_power_goes_in_leaves_all_nothing_or_an_undefined_block() {
    for (outcome, found, payloads) in [
        (CutOutcome::Undone, (2, 0, false), 1),
        (CutOutcome::Done, (0, 1, false), 0),
        (CutOutcome::Torn, (4, 0, true), 0),
    ] {
        let mut board = superseded(&[]);
        cut(&mut board, outcome);
        assert_eq!(erase(&mut board, 1), Err(Fault::PowerCut));
        let block = *board.nand().state().block(BlockId(1));
        let there = (block.programmed, block.erases, block.undefined);
        assert_eq!((there, board.nand().payload_pages()), (found, payloads), "{outcome:?}");
        assert_eq!((board.meter().total_erases(), block.retired), (0, false));
    }
}

#[test]
fn an_erase_that_fails_retires_its_block() {
    let mut board = superseded(&[]);
    board.nand_mut().record_mut().start_with_changes();
    board.nand_mut().faults_mut().fail_erase_after(0);
    let (block, known) = (BlockId(1), When::at(now(&board) + ERASE));
    assert_eq!(erase(&mut board, 1), Err(Fault::EraseFailed { block, known }));
    let state = board.nand().state().block(block);
    assert_eq!((state.retired, state.erases, state.programmed), (true, 1, 0));
    assert_eq!((board.nand().retired_blocks(), board.nand().payload_pages()), (1, 0));
    assert_eq!(board.meter().erases(BlockRole::Data), 1);
    assert_eq!(changes(&mut board), [Change::Superseded(Ppn(6)), Change::Failure(block)]);
    assert!(erase(&mut board, 2).is_ok());
    board.nand_mut().faults_mut().fail_erase_after(0);
    assert!(erase(&mut board, 3).is_err());
    assert_eq!(board.nand().retired_blocks(), 2);
}

#[test]
fn the_erase_of_a_block_whose_program_failed_retires_it() {
    let mut board = small(&[]);
    board.nand_mut().faults_mut().fail_program_after(0);
    assert!(write(&mut board, 4, 1).is_err());
    let (block, known) = (BlockId(1), When::at(PROGRAM + ERASE));
    assert_eq!(erase(&mut board, 1), Err(Fault::EraseFailed { block, known }));
    assert!(board.nand().state().block(block).retired);
}

/// Blocks endure two erases; the third is never asked for.
#[test]
fn the_last_erase_that_a_block_endures_retires_it() {
    let mut board = small(&[("wear.blocks_die", "true"), ("device.endurance_cycles", "2")]);
    assert_eq!(erase(&mut board, 1), Ok(ERASE));
    let (block, known) = (BlockId(1), When::at(2 * ERASE));
    assert_eq!(erase(&mut board, 1), Err(Fault::EraseFailed { block, known }));
    assert_eq!(board.meter().events(Event::WornOutBlocks), 1);
    assert_eq!((board.nand().retired_blocks(), board.nand().state().block(block).erases), (1, 2));
}

#[test]
fn an_erase_ends_slc_mode_and_takes_its_time() {
    let (program, erase_slc) = (200_000, 2_000_000);
    let mut board = small(&[("device.bits_per_cell", "2")]);
    board.nand_mut().choose_slc(BlockId(1));
    assert_eq!(board.nand().modes().of(BlockId(1)), CellMode::Slc);
    assert_eq!(write(&mut board, 4, 1), Ok(program));
    board.nand_mut().discard(Ppn(4));
    assert_eq!(erase(&mut board, 1), Ok(program + erase_slc));
    assert_eq!(board.nand().modes().of(BlockId(1)), CellMode::Dense);
    assert_eq!(board.meter().events(Event::SlcErases), 1);
    let before = program + erase_slc;
    assert_eq!(write(&mut board, 4, 1), Ok(before + PROGRAM));
    board.nand_mut().discard(Ppn(4));
    assert_eq!(erase(&mut board, 1), Ok(before + PROGRAM + ERASE));
    assert_eq!(board.meter().events(Event::SlcErases), 1, "that was none");
    board.start_measuring();
    assert_eq!(board.nand().modes().slc_erases(BlockId(1)), (1, 1));
    // One that is done when the power goes ends it as well.
    board.nand_mut().choose_slc(BlockId(2));
    cut(&mut board, CutOutcome::Done);
    assert_eq!(erase(&mut board, 2), Err(Fault::PowerCut));
    board.power_on();
    let before = now(&board);
    assert_eq!(write(&mut board, 8, 1), Ok(before + PROGRAM));
}

#[test]
fn a_mode_that_was_chosen_is_forgotten_with_the_power_unless_a_page_was_programmed_in_it() {
    let mut board = small(&[("device.bits_per_cell", "2")]);
    for block in [1, 2] {
        board.nand_mut().choose_slc(BlockId(block));
    }
    assert!(write(&mut board, 4, 1).is_ok());
    board.nand_mut().cut_power();
    board.power_on();
    let modes = [1, 2].map(|block| board.nand().modes().of(BlockId(block)));
    assert_eq!(modes, [CellMode::Slc, CellMode::Dense]);
    let before = now(&board);
    assert_eq!(write(&mut board, 8, 1), Ok(before + PROGRAM));
}

#[test]
fn an_erase_of_a_die_that_failed_is_waited_for_once() {
    let mut board = with_a_dead_die(&[]);
    let (block, known) = (BlockId(12), When::at(now(&board) + ERASE));
    assert_eq!(erase(&mut board, 12), Err(Fault::EraseFailed { block, known }));
    assert_eq!(board.meter().events(Event::FailedDies), 1);
    let (block, known) = (BlockId(13), When::START);
    assert_eq!(erase(&mut board, 13), Err(Fault::EraseFailed { block, known }), "it is given up");
    let erases = [12, 13].map(|block| board.nand().state().block(BlockId(block)).erases);
    assert_eq!((erases, board.nand().retired_blocks()), ([1, 0], 2));
    // Of the other die an erase fails as ever.
    board.nand_mut().faults_mut().fail_erase_after(0);
    let (block, known) = (BlockId(3), When::at(now(&board) + ERASE));
    assert_eq!(erase(&mut board, 3), Err(Fault::EraseFailed { block, known }));
    assert!(erase(&mut board, 4).is_ok());
    assert_eq!(board.nand().state().block(BlockId(3)).erases, 1);
}

/// Three of four reads, an erase, and one more.
#[test]
fn reads_of_a_block_count_from_its_erase() {
    let mut board = small(&[("refresh.reads", "4")]);
    let mut read_so_often = |times, erased: bool| {
        assert!(write(&mut board, 4, 1).is_ok());
        (0..times).for_each(|_| assert!(read(&mut board, 4).is_ok()));
        let due = board.nand_mut().blocks_to_refresh(When::START);
        if erased {
            board.nand_mut().discard(Ppn(4));
            assert!(erase(&mut board, 1).is_ok());
        }
        due
    };
    assert_eq!(
        [(3, true), (1, true), (4, false)].map(|(n, erased)| read_so_often(n, erased)),
        [0, 0, 1]
    );
}
