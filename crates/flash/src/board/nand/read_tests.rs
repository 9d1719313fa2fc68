//! Copies, reads and marks: what is on flash afterwards, what it took and what was counted, where
//! something can fail. Times are those of the serial profile.

use super::record::Change;
use super::state::{Oob, PageKind};
use super::tests::{PROGRAM, READ, SMALL, changes, now, small, with_a_dead_die, words};
use super::*;
use crate::board::Board;
use crate::board::for_tests::{board, erase, io, read, refused, settings, write, write_words};
use crate::meter::Event;
use crate::units::Tag;

/// Somebody asks something of it.
fn find_out(board: &mut Board) {
    assert_eq!(board.nand().known_failed_die(), None);
    let _ = read(board, 33);
    assert_eq!(board.nand().known_failed_die(), Some(1));
}

/// Every read needs one retry.
fn with_retries(pairs: &[(&str, &str)]) -> Board {
    let mut config = settings(&[&SMALL, pairs].concat());
    (config.nand.read_retry_rate, config.nand.read_retries) = (1.0, 1);
    Board::new(&config, 1, 0)
}

#[test]
fn words_move_to_a_copy_and_no_mark_is_left() {
    for watched in [false, true] {
        let mut board = small(&[]);
        assert!(write(&mut board, 0, 1).is_ok() && write_words(&mut board, 4, &[6]).is_ok());
        if watched {
            let _ = board.nand_mut().faults_mut();
        }
        assert!(board.copy(Ppn(4), Ppn(9), PageKind::Map, Cause::Gc, When::START).is_ok());
        let oob = Oob { logical: 3, kind: PageKind::Map, sequence: 3 };
        assert_eq!(board.nand().state().oob(Ppn(9)), OobRead::Written(oob));
        assert_eq!((words(&board, 4), words(&board, 9)), (None, Some(6)));
        assert!(!board.nand().state().is_valid(Ppn(4)));
        assert_eq!((board.nand().payload_pages(), board.nand().oob_writes()), (1, 0));
        let renamed = refused(|| {
            let name = (PageKind::Data, 1);
            board.copy_renamed((Ppn(9), Ppn(10)), name, Cause::Gc, When::START)
        });
        assert_eq!(renamed, "page 9 holds words, which have their number");
        board.nand_mut().faults_mut().fail_program_after(0);
        let failed = board.copy(Ppn(9), Ppn(10), PageKind::Map, Cause::Gc, When::START);
        assert!(matches!(failed, Err(Fault::ProgramFailed { block: BlockId(2), .. })));
        assert_eq!((words(&board, 9), words(&board, 10)), (Some(6), None));
    }
}

/// What crosses the channel takes 10 us each way.
#[test]
fn a_copy_within_a_plane_does_not_cross_the_channel_where_the_part_copies_back() {
    let transfer = 10_000;
    let pairs = [("timing.copyback", "true"), ("timing.page_transfer", "10us")];
    let mut board = small(&pairs);
    assert!(!board.nand().moves_runs() && board.nand().is_plain());
    let mut at = write(&mut board, 0, 7).expect("power is on");
    assert_eq!(at, transfer + PROGRAM);
    let copy_as = |board: &mut Board, kind, from, to| {
        let done = board.copy(Ppn(from), Ppn(to), kind, Cause::Gc, When::START);
        done.map(|done| board.nand().clock().completion(done))
    };
    let copy = |board: &mut Board, from, to| copy_as(board, PageKind::Log, from, to);
    at += READ + PROGRAM;
    assert_eq!(copy(&mut board, 0, 4), Ok(at));
    assert_eq!(board.meter().events(Event::Copybacks), 1);
    let oob = Oob { logical: 5, kind: PageKind::Log, sequence: 2 };
    let state = board.nand().state();
    assert_eq!((state.oob(Ppn(4)), state.tag(Ppn(4))), (OobRead::Written(oob), Tag(7)));
    at += READ + PROGRAM + 2 * transfer;
    assert_eq!(copy(&mut board, 4, 32), Ok(at), "to another die");
    at += transfer + PROGRAM;
    assert_eq!(write(&mut board, 1, 8), Ok(at), "whatever follows crosses it as ever");
    // A read that fails is corrected, or not, in the controller.
    board.nand_mut().faults_mut().fail_read_after(0);
    board.nand_mut().record_mut().start();
    at += READ + 4 * (READ + transfer) + transfer + PROGRAM;
    assert_eq!(copy(&mut board, 0, 8), Ok(at));
    assert!(board.nand().state().is_unreadable(Ppn(8)), "and so is its copy");
    let reads = vec![Operation::Read(Ppn(0), Cause::Gc); 5];
    assert_eq!(board.nand_mut().record_mut().take()[..5], reads);
    assert_eq!(board.meter().events(Event::Copybacks), 1);
    // Whose program fails is no copyback; what follows is one again, of words too.
    board.nand_mut().faults_mut().fail_program_after(0);
    assert!(copy(&mut board, 1, 12).is_err());
    assert_eq!(board.meter().events(Event::Copybacks), 1);
    assert!(write_words(&mut board, 16, &[3]).is_ok());
    let before = now(&board);
    assert_eq!(copy_as(&mut board, PageKind::Map, 16, 20), Ok(before + READ + PROGRAM));
    assert_eq!((words(&board, 16), words(&board, 20)), (None, Some(3)));
    assert_eq!(board.meter().events(Event::Copybacks), 2);
    board.nand_mut().cut_power();
    assert_eq!(copy(&mut board, 1, 13), Err(Fault::PowerCut));
}

#[test]
fn nothing_is_copied_back_on_a_die_that_is_known_to_have_failed() {
    let mut board = with_a_dead_die(&[("timing.copyback", "true")]);
    find_out(&mut board);
    let (reads, before) = (board.meter().total_reads(), now(&board));
    let copied = board.copy(Ppn(32), Ppn(34), PageKind::Data, Cause::Gc, When::START);
    assert!(matches!(copied, Err(Fault::ProgramFailed { .. })));
    assert_eq!((board.meter().total_reads(), now(&board)), (reads, before + PROGRAM));
    assert_eq!(board.meter().events(Event::LostPages), 1);
}

#[test]
fn host_data_that_no_retry_brings_back_is_lost_and_words_are_read_in_the_end() {
    let mut board = small(&[]);
    assert!(write(&mut board, 0, 7).is_ok() && write_words(&mut board, 1, &[6]).is_ok());
    let start = 2 * PROGRAM;
    board.nand_mut().record_mut().start_with_changes();
    board.nand_mut().faults_mut().fail_read_after(0);
    assert_eq!(read(&mut board, 1), Ok((start + 5 * READ, Tag(1))), "the first slot");
    board.nand_mut().faults_mut().fail_read_after(0);
    assert_eq!(read(&mut board, 0), Ok((start + 10 * READ, Tag::UNREADABLE)));
    assert_eq!(changes(&mut board), [Change::Lost(Ppn(0))]);
    assert_eq!(read(&mut board, 0), Ok((start + 15 * READ, Tag::UNREADABLE)));
    assert_eq!(changes(&mut board), [], "it was lost before");
    assert_eq!(board.meter().reads(Cause::Host), 15);
    let events = [Event::ReadRetries, Event::LostPages].map(|event| board.meter().events(event));
    assert_eq!(events, [12, 1]);
    assert_eq!(read(&mut board, 1), Ok((start + 16 * READ, Tag(1))));
}

#[test]
fn a_retry_costs_and_counts_as_a_read() {
    let mut board = with_retries(&[("timing.oob_read", "5us")]);
    assert!(write(&mut board, 0, 7).is_ok() && write_words(&mut board, 1, &[6]).is_ok());
    let mut at = 2 * PROGRAM + 2 * READ;
    assert_eq!(read(&mut board, 0), Ok((at, Tag(7))));
    let done = |board: &Board, done: Result<When, Fault>| {
        board.nand().clock().completion(done.expect("power is on"))
    };
    let entry = board.read_entry(Some(Ppn(1)), 3, Cause::Translate, When::START);
    at += 2 * READ;
    assert_eq!(done(&board, entry), at);
    let entry = board.read_entry(None, 3, Cause::Translate, When::START);
    at += READ;
    assert_eq!(done(&board, entry), at, "it is nowhere: no cells fail");
    board.nand_mut().record_mut().start();
    for (length, time) in [(Some(7_000), 7_000), (None, READ)] {
        let spare = board.read_spare(Ppn(1), length, When::START);
        at += 2 * time;
        assert_eq!(done(&board, spare), at);
    }
    let taken = board.nand_mut().record_mut().take();
    assert_eq!(taken, vec![Operation::Read(Ppn(1), Cause::Translate); 4]);
    let (read, _) = board.read_oob(Ppn(1), When::START).expect("power is on");
    assert_eq!(done(&board, Ok(read)), at + 5_000);
    assert_eq!(board.meter().events(Event::ReadRetries), 4);
    assert_eq!((board.meter().reads(Cause::Host), board.meter().reads(Cause::Translate)), (2, 7));
    assert_eq!(board.meter().oob_reads(), 5);
}

#[test]
fn spare_areas_are_read_as_pages_while_a_scheme_recovers() {
    let mut board = small(&[]);
    assert!(write(&mut board, 0, 7).is_ok());
    let oob = Oob { logical: 5, kind: PageKind::Data, sequence: 1 };
    let look = |board: &mut Board, page| {
        let before = now(board);
        let (_, there) = board.read_oob(Ppn(page), When::START).expect("power is on");
        (there, now(board) - before, board.meter().reads(Cause::Recover))
    };
    assert_eq!(look(&mut board, 0), (OobRead::Written(oob), 0, 0));
    board.nand_mut().cut_power();
    board.power_on();
    assert_eq!(look(&mut board, 0), (OobRead::Written(oob), READ, 1));
    assert_eq!(look(&mut board, 1), (OobRead::Free, READ, 2));
    board.end_recovery();
    assert_eq!(look(&mut board, 0), (OobRead::Written(oob), 0, 2));
    assert_eq!(board.meter().oob_reads(), 4);
}

#[test]
fn nothing_is_read_without_power() {
    let mut board = small(&[]);
    assert!(write(&mut board, 0, 7).is_ok());
    board.nand_mut().cut_power();
    let no_power = Err(Fault::PowerCut);
    assert_eq!(read(&mut board, 0), Err(Fault::PowerCut));
    assert_eq!(board.read_entry(Some(Ppn(0)), 0, Cause::Translate, When::START), no_power);
    assert_eq!(board.read_implicit(0, Cause::Translate, When::START), no_power);
    assert_eq!(board.read_spare(Ppn(0), None, When::START), no_power);
    assert!(board.read_oob(Ppn(0), When::START).is_err());
    assert_eq!((board.meter().total_reads(), board.meter().oob_reads()), (0, 0));
}

/// Without parity words have a second copy, and data are lost; nobody asks the die twice.
#[test]
fn of_a_die_that_failed_words_are_read_from_a_second_copy() {
    let mut board = with_a_dead_die(&[]);
    let looked = |board: &mut Board| {
        let before = (now(board), board.meter().total_reads(), board.meter().oob_reads());
        let entry = board.read_entry(Some(Ppn(33)), 3, Cause::Translate, When::START);
        assert!(entry.is_ok());
        assert!(board.read_spare(Ppn(33), None, When::START).is_ok());
        let after = (now(board), board.meter().total_reads(), board.meter().oob_reads());
        (after.0 - before.0, after.1 - before.1, after.2 - before.2)
    };
    assert_eq!(looked(&mut board), (2 * READ, 2, 1), "their copy costs what they did");
    assert_eq!(board.nand().known_failed_die(), Some(1));
    assert_eq!(looked(&mut board), (2 * READ, 2, 1));
    let before = now(&board);
    assert_eq!(read(&mut board, 33), Ok((before + READ, Tag(1))));
    assert_eq!(read(&mut board, 32), Ok((before + READ, Tag::UNREADABLE)), "that is no time");
    assert_eq!(read(&mut board, 0), Ok((before + 2 * READ, Tag(1))));
    assert_eq!(board.meter().events(Event::ReadRetries), 0);
}

/// Pages 0 and 32 are a stripe: the words of the second come from the first.
#[test]
fn of_a_die_that_failed_words_are_read_from_their_stripe_where_they_have_one() {
    let mut board = small(&[("nand.failing_die", "1"), ("rain.stripe", "2")]);
    board.nand_mut().hold_parity(0, Some(Ppn(0)));
    assert!(write_words(&mut board, 32, &[6]).is_ok());
    assert!(board.program_parity(Ppn(0), When::START).is_ok());
    board.nand_mut().count_until_die_fails();
    let before = now(&board);
    assert_eq!(read(&mut board, 32), Ok((before + 2 * READ, Tag(1))));
    assert_eq!(read(&mut board, 32), Ok((before + 3 * READ, Tag(1))), "nobody asks it twice");
    assert_eq!(board.meter().events(Event::RebuiltPages), 2);
    let entry = board.read_entry(Some(Ppn(32)), 3, Cause::Translate, When::START);
    assert!(entry.is_ok() && board.read_spare(Ppn(32), None, When::START).is_ok());
    assert_eq!((now(&board), board.meter().reads(Cause::Rebuild)), (before + 5 * READ, 4));
}

#[test]
fn a_page_of_data_beside_words_becomes_invalid_alone() {
    let mut board = small(&[]);
    assert!(write(&mut board, 4, 1).is_ok() && write_words(&mut board, 5, &[6]).is_ok());
    assert_eq!(board.nand().hold_words(BlockId(1)), None, "one does, one does not");
    assert_eq!(board.nand_mut().discard(Ppn(4)), 1);
    assert_eq!(board.nand().hold_words(BlockId(1)), Some(true));
    assert_eq!(board.nand().hold_words(BlockId(2)), Some(false));
    assert_eq!((words(&board, 5), board.nand().oob_writes()), (Some(6), 0));
    assert_eq!(board.nand_mut().supersede(Ppn(5)), (BlockId(1), 0));
    assert_eq!((words(&board, 5), board.nand().oob_writes()), (None, 1));
    assert_eq!(board.nand().payload_pages(), 0);
    let mut board = small(&[]);
    for page in 4..7 {
        assert!(write(&mut board, page, 1).is_ok());
    }
    assert_eq!([4, 5].map(|page| board.nand_mut().discard(Ppn(page))), [2, 1]);
    assert_eq!(board.nand_mut().invalidate(Ppn(6)), 0);
    assert_eq!(board.nand().oob_writes(), 1);
}

#[test]
fn a_plane_is_waited_for_until_all_is_done_that_it_was_given() {
    let mut board = small(&[("timing.profile", "parallel")]);
    assert_eq!(write(&mut board, 0, 1), Ok(PROGRAM));
    let nand = board.nand_mut();
    let behind = [0, 1].map(|plane| nand.behind_plane(PlaneId(plane), When::at(7)).time());
    assert_eq!(behind, [PROGRAM, 7]);
    assert_eq!([0, 1].map(|plane| nand.plane_free_from(PlaneId(plane))), [PROGRAM, 0]);
}

/// Both pages are loaded before one command programs them; a transfer takes 10 us.
#[test]
fn pages_that_were_announced_are_programmed_together() {
    let mut board = board(&[
        ("device.planes", "2"),
        ("timing.profile", "parallel"),
        ("timing.page_transfer", "10us"),
        ("timing.multi_plane_program", "true"),
    ]);
    board.nand_mut().announce(PlaneId(0), 1, Cause::Host);
    let second = board.geometry().page(BlockId(board.geometry().blocks_per_plane), 0);
    let done = [Ppn(0), second].map(|page| write(&mut board, page.0, 1));
    assert_eq!(done, [Ok(20_000 + PROGRAM); 2]);
}

#[test]
fn a_record_holds_what_was_done_since_it_began() {
    let mut board = small(&[]);
    board.nand_mut().record_mut().start();
    assert!(write(&mut board, 4, 1).is_ok() && read(&mut board, 4).is_ok());
    board.nand_mut().discard(Ppn(4));
    assert!(erase(&mut board, 1).is_ok());
    let host = Cause::Host;
    let done = [
        Operation::Program(Ppn(4), host),
        Operation::Read(Ppn(4), host),
        Operation::Erase(BlockId(1), Cause::Gc),
    ];
    assert_eq!(board.nand_mut().record_mut().take(), done);
    assert!(write(&mut board, 4, 1).is_ok());
    assert_eq!(board.nand_mut().record_mut().take(), [], "it has ended");
    let page = io(1, Tag(3));
    board.nand_mut().record_mut().start_with_changes();
    assert!(board.program_update(Ppn(5), None, &page, PageKind::Data, When::START).is_ok());
    let (mut operations, mut changes) = (done.to_vec(), vec![Change::Lost(Ppn(9))]);
    board.nand_mut().record_mut().drain(&mut operations, &mut changes);
    assert_eq!((&operations[..], &changes[..]), (&[Operation::Program(Ppn(5), host)][..], &[][..]));
}
