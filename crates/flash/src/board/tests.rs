//! What the board asks of the flash, and what its own questions answer.

use super::for_tests::{erase, read, write, write_words};
use super::nand::replace_words;
use super::nand::state::Oob;
use super::*;
use crate::request::RequestShape;
use crate::settings::Groups as _;
use crate::units::PlaneId;

fn board(pairs: &[(&str, &str)]) -> Board {
    let mut config = BoardSettings::default();
    config.set("device.page_bytes", "2KiB").expect("legal");
    for (key, value) in pairs {
        config.set(key, value).unwrap_or_else(|error| panic!("{error}"));
    }
    Board::new(&config, 1, 4)
}

/// A write of some of the four sectors of a page.
fn io(sectors: u64, data: Tag) -> PageIo {
    let request = RequestShape { first_lpn: Lpn(0), pages: 1, index: 0, sectors: 4, hint: None };
    PageIo { lpn: Lpn(0), sectors, cause: Cause::Host, data, request }
}

const RMW: (&str, &str) = ("io.partial_write", "rmw");
const WHOLE: (&str, &str) = ("io.partial_write", "whole_page");

#[test]
fn a_search_costs_a_step_for_each_candidate() {
    let mut board = board(&[("search.model", "scan"), ("search.step_time", "100ns")]);
    let start = board.nand_mut().clock_mut().admit(0);
    let searched = board.search(Search::Block, 5, start);
    assert_eq!(board.nand().clock().completion(searched), 500);
    let searched = board.search_at(Search::Cached, 5, 7, searched);
    assert_eq!(board.nand().clock().completion(searched), 535);
    let searched = board.search_at(Search::Cached, 2, 0, searched);
    assert_eq!(board.nand().clock().completion(searched), 735, "it has no price of its own");
    let counted = [Event::VictimSearchSteps, Event::CacheSearchSteps];
    assert_eq!(counted.map(|event| board.meter().events(event)), [5, 7]);
}

#[test]
fn short_hashes_take_the_controller_their_time() {
    let mut board = board(&[]);
    let start = board.nand_mut().clock_mut().admit(1_000);
    let done = board.prehash(300, start);
    assert_eq!(board.nand().clock().completion(done), 1_300);
    assert_eq!(board.meter().events(Event::PrehashedPages), 1);
}

/// The serial profile, where pages take equal times; in the other they lie in different dies.
#[test]
fn short_ways_are_those_of_devices_on_which_nothing_fails_and_nothing_is_kept() {
    let serial = ("timing.profile", "serial");
    let alike = |pairs: &[(&str, &str)]| board(pairs).writes_alike();
    assert!(alike(&[serial, WHOLE]));
    assert!(!alike(&[serial, RMW]));
    assert!(!alike(&[("timing.profile", "parallel"), WHOLE]));
    assert!(!alike(&[serial, WHOLE, ("nand.read_retry_rate", "0.1")]));
    let keeps = |pair, sectors| board(&[pair]).keeps_sectors(&io(sectors, Tag(1)));
    assert_eq!([keeps(RMW, 1), keeps(RMW, 15), keeps(WHOLE, 1)], [true, false, false]);
    let plainly = |pairs: &[(&str, &str)]| board(pairs).writes_plainly();
    assert_eq!([plainly(&[serial, WHOLE]), plainly(&[serial, RMW])], [true, false]);
    let mut board = board(&[serial, WHOLE]);
    board.program_untimed(Ppn(0), &io(15, Tag(9)), PageKind::Data);
    assert_eq!((board.nand().state().tag(Ppn(0)), board.nand().sequence()), (Tag(9), 1));
}

/// In the parallel profile, where cells and channel alone take time: not what a program keeps, what
/// marks, the controller or the DRAM take, nor reads that need retries.
#[test]
fn a_write_is_told_without_a_token_where_cells_and_channel_alone_take_time() {
    let parallel = [("timing.profile", "parallel"), ("timing.page_transfer", "10us"), WHOLE];
    let by_cells = |pair: &[(&str, &str)]| board(&[&parallel, pair].concat()).writes_by_cells();
    assert!(by_cells(&[]));
    for pair in [
        RMW,
        ("timing.profile", "serial"),
        ("timing.oob_write", "30us"),
        ("timing.controller_page", "1us"),
        ("timing.dram_access", "100ns"),
        ("nand.read_retry_rate", "0.1"),
    ] {
        assert!(!by_cells(&[pair]), "{pair:?}");
    }
}

/// A sector is kept of the page before, which may be unreadable, and one is written, which may be.
#[test]
fn a_page_that_keeps_sectors_has_those_of_both() {
    let mut board = board(&[RMW]);
    let mut write = |new, old: Option<u32>, sectors, data| {
        let (page, old) = (io(sectors, data), old.map(Ppn));
        let done = board.program_update(Ppn(new), old, &page, PageKind::Data, When::START);
        assert!(done.is_ok());
        let state = board.nand().state();
        (state.mask(Ppn(new)), state.is_unreadable(Ppn(new)))
    };
    assert_eq!(write(0, None, 0b0011, Tag(1)), (0b0011, false));
    assert_eq!(write(1, Some(0), 0b0110, Tag(2)), (0b0111, false));
    assert_eq!(write(2, Some(1), 0b1000, Tag::UNREADABLE), (0b1111, true));
    assert_eq!(write(3, Some(2), 0b0001, Tag(3)), (0b1111, true));
}

#[test]
fn what_was_never_written_is_fetched_where_reads_of_it_cost() {
    for (how, time, reads) in [("zero_free", 0, 0), ("charge_read", 130_900, 1)] {
        let mut board = board(&[("io.unwritten_read", how)]);
        let start = board.nand_mut().clock_mut().admit(0);
        let done = board.fetch_unwritten(Lpn(0), start).expect("power is on");
        assert_eq!(board.nand().clock().completion(done), time, "{how}");
        assert_eq!(board.meter().reads(Cause::ReadModifyWrite), reads);
    }
}

#[test]
fn a_part_of_a_map_in_a_spare_area_takes_its_length_or_that_of_a_page() {
    for (length, time) in [(Some(7_000), 7_000), (None, 130_900)] {
        let mut board = board(&[]);
        board.program_untimed(Ppn(0), &io(15, Tag(1)), PageKind::Data);
        let start = board.nand_mut().clock_mut().admit(0);
        let done = board.read_spare(Ppn(0), length, start).expect("power is on");
        assert_eq!(board.nand().clock().completion(done), time);
        assert_eq!(board.meter().reads(Cause::Translate), 1);
        board.nand_mut().cut_power();
        assert!(!board.nand().has_power());
        assert_eq!(board.read_spare(Ppn(0), length, start), Err(Fault::PowerCut));
        board.power_on();
        assert!(board.nand().has_power());
    }
}

#[test]
fn words_are_changed_the_short_way_until_somebody_may_plan_a_failure() {
    let mut board = board(&[WHOLE]);
    let (what, cause) = ((PageKind::TrimRecord, 7), Cause::Trim);
    let words = Payload::Words(&[4, 5]);
    assert!(board.program_payload(Ppn(0), what, words, cause, When::START).is_ok());
    let update = |board: &mut Board, old, new| {
        let plainly = board.programs_plainly();
        plainly.then(|| {
            board.update_untimed((Ppn(old), Ppn(new)), what, replace_words(&[(1, 9)]), cause)
        })
    };
    assert_eq!(update(&mut board, 0, 1), Some((BlockId(0), 1)));
    assert_eq!(board.nand().payload(Ppn(1))[..2], [4, 9]);
    let _ = board.nand_mut().faults_mut();
    assert_eq!(update(&mut board, 1, 2), None);
    assert!(board.nand().state().is_free(Ppn(2)));
}

/// Two pages that replace others: read and programmed one by one, and in a run.
#[test]
fn pages_of_a_run_that_are_updated_are_counted_and_booked_as_one_by_one() {
    let (what, cause) = ((PageKind::Map, 7), Cause::GcMapUpdate);
    let updated = |in_run: bool| {
        let mut board = board(&[WHOLE]);
        for ppn in [0, 1] {
            let words = Payload::Words(&[4, 5]);
            assert!(board.program_payload(Ppn(ppn), what, words, cause, When::START).is_ok());
        }
        let pages = [(0, 2), (1, 3)].map(|(old, new)| (Ppn(old), Ppn(new)));
        let mut done = When::START;
        let kept = pages.map(|(old, new)| match in_run {
            true => board.update_uncounted((old, new), what, replace_words(&[(1, 9)])),
            false => {
                let read = board.read_words(old, cause, done).expect("power is on");
                done = board.time_page(new, cause, read);
                board.update_untimed((old, new), what, replace_words(&[(1, 9)]), cause)
            }
        });
        if in_run {
            done = board.book_updates(cause, 2);
        }
        assert_eq!(kept, [2, 2].map(|valid| (BlockId(0), valid)));
        assert_eq!(board.nand().payload(Ppn(3))[..2], [4, 9]);
        let counted = [board.meter().reads(cause), board.meter().programs(cause)];
        (done, counted, board.meter().totals(), board.nand().clock().booked())
    };
    let run = updated(true);
    assert_eq!((run.0.time(), run.1), (4 * PROGRAM + 2 * READ, [2, 4]));
    assert_eq!(run, updated(false));
}

#[test]
fn pages_are_updated_in_runs_where_nothing_can_fail_and_one_server_works() {
    let mut plain = board(&[WHOLE]);
    assert!(plain.nand().updates_runs());
    let _ = plain.nand_mut().faults_mut();
    assert!(!plain.nand().updates_runs(), "a failure may be planned");
    assert!(!board(&[WHOLE, ("timing.profile", "parallel")]).nand().updates_runs());
    assert!(!board(&[WHOLE, ("timing.program_pages", "1us,2us")]).nand().updates_runs());
}

#[test]
fn victims_are_counted_by_what_was_moved() {
    let mut board = board(&[]);
    let pages = board.geometry().pages_per_block;
    [0, 1, pages - 1, pages].iter().for_each(|&copied| board.victim(copied));
    let merges = board.meter().merges();
    assert_eq!((merges.switch, merges.partial, merges.full), (1, 2, 1));
}

const READ: Nanos = 130_900;
const PROGRAM: Nanos = 405_900;

#[test]
fn hashes_take_the_controller_their_time() {
    let mut board = board(&[]);
    let start = board.nand_mut().clock_mut().admit(1_000);
    let done = board.hash(300, start);
    assert_eq!(board.nand().clock().completion(done), 1_300);
    assert_eq!(board.meter().events(Event::HashedPages), 1);
}

/// Words, the initial map and single entries: each is a read of its cause.
#[test]
fn reads_that_nobody_checks_take_the_time_of_a_read_and_are_counted() {
    let mut board = board(&[]);
    assert_eq!(write_words(&mut board, 0, &[1]), Ok(PROGRAM));
    let mut done = board.read_words(Ppn(0), Cause::Translate, When::START).expect("power is on");
    assert_eq!(board.nand().clock().completion(done), PROGRAM + READ);
    done = board.read_implicit(5, Cause::Recover, done).expect("power is on");
    assert_eq!(board.nand().clock().completion(done), PROGRAM + 2 * READ);
    for page in [Some(Ppn(0)), None] {
        done = board.read_entry(page, 5, Cause::Translate, done).expect("power is on");
    }
    assert_eq!(board.nand().clock().completion(done), PROGRAM + 4 * READ);
    let reads = [Cause::Translate, Cause::Recover].map(|cause| board.meter().reads(cause));
    assert_eq!(reads, [3, 1]);
}

/// A write of all sectors that the old page holds keeps nothing of it, and reads nothing.
#[test]
fn a_page_is_read_first_where_it_holds_sectors_that_the_write_has_not() {
    for (held, written, reads) in [(0b0011, 0b0011, 0), (0b0011, 0b0111, 0), (0b0011, 0b0001, 1)] {
        let mut board = board(&[RMW]);
        for (new, old, sectors) in [(0, None, held), (1, Some(Ppn(0)), written)] {
            let page = io(sectors, Tag(1));
            let done = board.program_update(Ppn(new), old, &page, PageKind::Data, When::START);
            assert!(done.is_ok());
        }
        assert_eq!(board.meter().reads(Cause::ReadModifyWrite), reads, "{held} {written}");
    }
}

/// Of a moved page only its place and its sequence number are new.
#[test]
fn a_copy_is_a_read_and_a_program_of_the_same_page() {
    let mut board = board(&[WHOLE]);
    assert_eq!(write(&mut board, 0, 7), Ok(PROGRAM));
    let done = board.copy(Ppn(0), Ppn(70), PageKind::Log, Cause::Gc, When::START);
    let done = done.expect("power is on");
    assert_eq!(board.nand().clock().completion(done), PROGRAM + READ + PROGRAM);
    let oob = |board: &Board, page| match board.nand().state().oob(Ppn(page)) {
        OobRead::Written(oob) => (oob.logical, oob.kind, oob.sequence),
        other => panic!("{other:?}"),
    };
    assert_eq!(oob(&board, 70), (5, PageKind::Log, 2));
    assert_eq!(board.nand().state().tag(Ppn(70)), Tag(7));
    let name = (PageKind::Data, 9);
    assert!(board.copy_renamed((Ppn(70), Ppn(71)), name, Cause::Gc, When::START).is_ok());
    assert_eq!(oob(&board, 71), (9, PageKind::Data, 3));
    assert_eq!(board.nand().state().tag(Ppn(71)), Tag(7));
    let valid = [0, 70, 71].map(|page| board.nand().state().is_valid(Ppn(page)));
    assert_eq!(valid, [true; 3], "whoever asks marks the old ones");
    assert_eq!((board.meter().reads(Cause::Gc), board.meter().programs(Cause::Gc)), (2, 2));
}

/// In runs where nothing can happen, one by one else: the same pages, times and counts.
#[test]
fn a_run_of_copies_does_what_its_copies_do() {
    for (profile, done) in [("serial", 2), ("parallel", 1)] {
        let boards = [false, true].map(|watched| {
            let mut board = board(&[WHOLE, ("timing.profile", profile), ("device.dies", "4")]);
            // Two dies, so that two copies can run side by side but for their target.
            let sources = [Ppn(0), Ppn(1024 * 64)];
            for source in sources {
                assert!(write(&mut board, source.0, 7 + source.0).is_ok());
            }
            if watched {
                let _ = board.nand_mut().faults_mut();
            }
            assert_eq!(board.nand().moves_runs(), !watched);
            let start = board.nand_mut().clock_mut().admit(10_000_000);
            let to = Ppn(2048 * 64 + 5);
            let copied = board.copy_run((&sources, to), PageKind::Log, Cause::Merge, start);
            let copied = copied.expect("power is on").time();
            let expected = 10_000_000 + done * READ + 2 * PROGRAM;
            assert_eq!(copied, expected, "{profile}, watched: {watched}");
            let state = board.nand().state();
            let there = [to, Ppn(to.0 + 1)].map(|page| (state.oob(page), state.tag(page)));
            let counted = (board.meter().reads(Cause::Merge), board.meter().programs(Cause::Merge));
            assert_eq!(counted, (2, 2));
            (there, state.block_of(to).valid, state.block_of(to).top, board.nand().sequence())
        });
        assert_eq!(boards[0], boards[1]);
        assert_eq!(boards[0].0[1].1, Tag(7 + 1024 * 64));
        assert_eq!((boards[0].1, boards[0].2, boards[0].3), (2, 7, 4));
    }
}

/// Three of four pages are valid; two of them go to another die.
#[test]
fn valid_pages_of_a_victim_move_in_their_order() {
    for (profile, reads) in [("serial", 2), ("parallel", 1)] {
        for one_by_one in [false, true] {
            let mut board = board(&[WHOLE, ("timing.profile", profile), ("device.dies", "2")]);
            for page in 0..4 {
                assert!(write(&mut board, page, page + 1).is_ok());
            }
            board.nand_mut().discard(Ppn(1));
            let (victim, to) = ((BlockId(0), false), Ppn(1024 * 64 + 3));
            let mut moved = Vec::new();
            board.move_valid(victim, (to, 2), Cause::Gc, &mut moved);
            assert_eq!([moved[0].old, moved[1].old], [Ppn(0), Ppn(2)]);
            assert_eq!((moved[1].logical, moved[1].kind), (5, PageKind::Data));
            let state = board.nand().state();
            assert_eq!([to, Ppn(to.0 + 1)].map(|page| state.tag(page)), [Tag(1), Tag(3)]);
            let oob = Oob { logical: 5, kind: PageKind::Data, sequence: 6 };
            assert_eq!(state.oob(Ppn(to.0 + 1)), OobRead::Written(oob));
            assert_eq!((board.nand().valid_pages(BlockId(0)), state.block_of(to).valid), (1, 2));
            assert!(state.is_valid(Ppn(3)) && !state.is_valid(Ppn(0)) && !state.is_valid(Ppn(2)));
            assert_eq!(board.nand().sequence(), 6);
            assert_eq!(board.meter().programs(Cause::Gc), 2);
            let start = board.nand_mut().clock_mut().admit(10_000_000);
            let done = if one_by_one {
                let first = board.time_move((Ppn(0), to), Cause::Gc, start);
                let second = board.time_move((Ppn(2), Ppn(to.0 + 1)), Cause::Gc, start);
                first.join(second)
            } else {
                let done = board.time_moves((victim.0, &mut moved), to, Cause::Gc, start);
                assert_eq!(moved[1].done.token().time(), done.time(), "the last one ends it");
                done
            };
            // The second page is read while the first is programmed, where dies work side by side.
            let expected = 10_000_000 + reads * READ + 2 * PROGRAM;
            assert_eq!(done.time(), expected, "{profile} {one_by_one}");
        }
    }
}

/// The channel takes 10 us, behind which the cells begin.
#[test]
fn a_program_that_was_done_without_its_time_is_told_it_behind() {
    let mut board =
        board(&[WHOLE, ("timing.profile", "parallel"), ("timing.page_transfer", "10us")]);
    assert!(board.writes_by_cells());
    board.program_untimed(Ppn(0), &io(15, Tag(1)), PageKind::Data);
    assert_eq!(board.time_program(Ppn(0), 5_000), (15_000, 15_000 + PROGRAM));
    assert_eq!(board.nand().plane_free_from(PlaneId(0)), 15_000 + PROGRAM);
    assert_eq!(board.meter().programs(Cause::Host), 1);
}

#[test]
fn an_erase_takes_its_time_and_is_counted_by_role_and_cause() {
    let mut board = board(&[]);
    assert!(write(&mut board, 0, 1).is_ok());
    board.nand_mut().discard(Ppn(0));
    assert_eq!(erase(&mut board, 0), Ok(PROGRAM + 1_500_000));
    let state = board.nand().state();
    assert!(state.is_free(Ppn(0)));
    assert_eq!((state.block(BlockId(0)).erases, state.block(BlockId(0)).top), (1, 0));
    let meter = board.meter();
    assert_eq!((meter.erases(BlockRole::Data), meter.erases_by_cause(Cause::Gc)), (1, 1));
}

/// Two programs and a mark, then one of each.
#[test]
fn when_measuring_begins_counts_do_and_flash_stays_as_it_is() {
    let mut board = board(&[WHOLE]);
    for page in 0..2 {
        assert!(write(&mut board, page, 1).is_ok());
    }
    assert_eq!(board.nand_mut().invalidate(Ppn(0)), 1);
    let counted = |board: &Board| {
        let nand = board.nand();
        (nand.programs_on_flash(), nand.oob_writes(), board.meter().programs(Cause::Host))
    };
    assert_eq!(counted(&board), (2, 1, 2));
    board.start_measuring();
    assert_eq!((counted(&board), board.nand().sequence()), ((0, 0, 0), 2));
    assert!(write(&mut board, 2, 1).is_ok());
    assert_eq!(board.nand_mut().invalidate(Ppn(1)), 1);
    assert_eq!((counted(&board), board.nand().sequence()), ((1, 1, 1), 3));
    assert_eq!(read(&mut board, 2).map(|(_, version)| version), Ok(Tag(1)));
}
