//! Stripes and what they bring back, on twelve planes: two channels of three dies of two planes,
//! blocks of two pages, stripes of three dies. The die of rank r is the (r / 2)-th of channel r % 2.

use super::*;
use crate::board::Board;
use crate::board::for_tests::{board, erase, io, read, write, write_words};
use crate::units::{BlockId, Lpn};

const READ: u64 = 130_900;

const DEVICE: [(&str, &str); 7] = [
    ("device.channels", "2"),
    ("device.dies", "3"),
    ("device.planes", "2"),
    ("device.blocks_per_plane", "4"),
    ("device.pages_per_block", "2"),
    ("rain.stripe", "3"),
    ("timing.profile", "parallel"),
];
/// The pages of a stripe, which lie in the dies 0, 3 and 1.
const FIRST: u32 = 13;
const SECOND: u32 = 61;
const THIRD: u32 = 29;

fn striped(pairs: &[(&str, &str)]) -> Board {
    board(&[&DEVICE, pairs].concat())
}

fn rain(board: &mut Board) -> &mut Rain {
    board.nand.rain.as_mut().expect("there are stripes")
}

/// The cells of a page are gone from now on.
fn lose(board: &mut Board, page: u32) {
    // Somebody looks whether reads fail.
    board.nand_mut().faults_mut().fail_read_after(1 << 40);
    rain(board).gone.set(Ppn(page));
}

fn parity(board: &mut Board, page: u32) {
    assert!(board.program_parity(Ppn(page), When::START).is_ok());
}

/// Two pages and the parity of both.
fn full(pairs: &[(&str, &str)]) -> Board {
    let mut board = open(pairs);
    parity(&mut board, THIRD);
    board.nand_mut().hold_parity(0, None);
    board
}

/// Two pages of a stripe that is being filled.
fn open(pairs: &[(&str, &str)]) -> Board {
    let mut board = striped(pairs);
    board.nand_mut().hold_parity(0, Some(Ppn(SECOND)));
    assert!(write(&mut board, FIRST, 1).is_ok() && write(&mut board, SECOND, 2).is_ok());
    board
}

/// The version that a page holds, and the pages that were read for it.
fn found(board: &mut Board, page: u32) -> (Tag, Vec<u32>) {
    board.nand_mut().record_mut().start();
    let (_, version) = read(board, page).expect("power is on");
    let read = board.nand_mut().record_mut().take().into_iter().map(|operation| match operation {
        Operation::Read(page, _) => page.0,
        other => panic!("a read does {other:?}"),
    });
    (version, read.collect())
}

fn events<const N: usize>(board: &Board, of: [Event; N]) -> [u64; N] {
    of.map(|event| board.meter().events(event))
}

#[test]
fn a_stripe_takes_dies_in_the_order_in_which_channels_take_turns() {
    let board = striped(&[]);
    let nand = board.nand();
    let stripe = |page| -> Vec<u32> {
        nand.rain().members(nand.geometry(), Ppn(page)).map(|page| page.0).collect()
    };
    for page in [FIRST, SECOND, THIRD] {
        assert_eq!(stripe(page), [FIRST, SECOND, THIRD]);
    }
    // Dies 4, 2 and 5: planes 8, 4 and 10 of eight pages each.
    assert_eq!([64, 32, 80].map(stripe), [(); 3].map(|()| vec![64, 32, 80]));
    assert_eq!(stripe(95), [79, 47, 95], "the last page of each");
}

/// 2 * 0x9E3779B97F4A7C15 = 0x3C6EF372FE94F82A without its carry; with 0x3F00 and 2 for a map it
/// ends in FE94C728; both halves together are C2FA345A.
#[test]
fn a_page_is_told_apart_by_sequence_number_number_and_kind() {
    assert_eq!(name(&Oob { logical: 0x3F, kind: PageKind::Map, sequence: 2 }), 0xC2FA_345A);
}

#[test]
fn parity_says_how_many_pages_it_covers_and_what_tells_them_apart() {
    let mut board = striped(&[]);
    board.nand_mut().hold_parity(3, Some(Ppn(SECOND)));
    assert!(write(&mut board, FIRST, 0xFF_FFFF).is_ok());
    assert!(write_words(&mut board, SECOND, &[5]).is_ok());
    parity(&mut board, THIRD);
    let kinds = [(5, PageKind::Data, 1), (3, PageKind::Map, 2)];
    let names = kinds.map(|(logical, kind, sequence)| name(&Oob { logical, kind, sequence }));
    let state = board.nand().state();
    let expected = Oob { logical: 2, kind: PageKind::Parity, sequence: 3 };
    assert_eq!(state.oob(Ppn(THIRD)), OobRead::Written(expected));
    assert_eq!(
        state.tag(Ppn(THIRD)),
        Tag(names[0] ^ 0xFF_FFFF ^ names[1]),
        "words have no version"
    );
    assert!(!state.is_valid(Ppn(THIRD)) && state.block(BlockId(14)).valid == 0);
    assert_eq!(
        (board.nand().check_parity(Ppn(THIRD)), board.meter().programs(Cause::Parity)),
        (Ok(()), 1)
    );
}

#[test]
fn parity_that_says_something_else_is_a_fault() {
    let mut board = full(&[]);
    let oob = Oob { logical: 5, kind: PageKind::Data, sequence: 2 };
    board.nand.state.store(Ppn(SECOND), oob, 99);
    let said = board.nand().check_parity(Ppn(THIRD)).expect_err("it has another version");
    assert!(said.ends_with("it covers 2 pages, of which 2 are there"), "{said}");
    let mut none = self::board(&DEVICE[..5]);
    let stored = Oob { kind: PageKind::Parity, ..oob };
    none.nand.state.store(Ppn(0), stored, 0);
    assert!(none.nand().check_parity(Ppn(0)).is_err(), "there are no stripes");
}

#[test]
#[should_panic(expected = "page 29 is not the parity of its stripe")]
fn nothing_is_read_from_parity_that_says_something_else() {
    let mut board = full(&[]);
    let oob = Oob { logical: 5, kind: PageKind::Data, sequence: 2 };
    board.nand.state.store(Ppn(SECOND), oob, 99);
    lose(&mut board, FIRST);
    let _ = read(&mut board, FIRST);
}

#[test]
#[should_panic(expected = "memory has not its parity")]
fn parity_is_programmed_of_stripes_that_memory_has_it_of() {
    let mut board = open(&[]);
    board.nand_mut().hold_parity(0, Some(Ppn(0)));
    let _ = board.program_parity(Ppn(THIRD), When::START);
}

/// Five reads of the page are in vain; the others of its stripe are read side by side.
#[test]
fn a_page_that_no_retry_brings_back_is_read_from_the_rest_of_its_stripe() {
    let mut board = full(&[]);
    let written = read(&mut board, FIRST).expect("power is on").0 - READ;
    board.nand_mut().faults_mut().fail_read_after(0);
    let start = board.nand_mut().clock_mut().admit(2 * written);
    let (done, version) = board.read(Ppn(FIRST), Cause::Host, start).expect("power is on");
    assert_eq!(board.nand().clock().completion(done) - 2 * written, 6 * READ);
    assert_eq!(version, Tag(1));
    assert_eq!(board.meter().reads(Cause::Rebuild), 2);
    let counted = [Event::ReadRetries, Event::RebuiltPages, Event::LostPages];
    assert_eq!(events(&board, counted), [4, 1, 0]);
    assert!(board.nand().has_failing());
    assert_eq!(found(&mut board, FIRST), (Tag(1), vec![SECOND, THIRD]), "nobody asks it again");
    // It is to be moved, until it is somewhere else.
    assert_eq!(board.nand_mut().next_failing(), Some(Ppn(FIRST)));
    assert_eq!(board.nand_mut().next_failing(), Some(Ppn(FIRST)));
    board.nand_mut().invalidate(Ppn(FIRST));
    assert_eq!(board.nand_mut().next_failing(), None);
    assert!(!board.nand().has_failing());
}

#[test]
fn of_a_stripe_that_is_being_filled_memory_has_the_parity() {
    let mut board = open(&[]);
    lose(&mut board, FIRST);
    assert_eq!(
        found(&mut board, FIRST),
        (Tag(1), vec![FIRST; 5].into_iter().chain([SECOND]).collect())
    );
    board.nand_mut().hold_parity(0, None);
    assert_eq!(found(&mut board, FIRST), (Tag::UNREADABLE, vec![]), "nothing covers it");
    assert_eq!(events(&board, [Event::RebuiltPages, Event::LostPages]), [1, 1]);
}

/// Parity of one page, then a page, then parity of both: the first that covers a page is taken.
#[test]
fn parity_covers_what_was_programmed_before_it() {
    let mut board = striped(&[]);
    board.nand_mut().hold_parity(0, Some(Ppn(FIRST)));
    assert!(write(&mut board, FIRST, 1).is_ok());
    parity(&mut board, THIRD);
    assert_eq!(board.nand().uncovered(Ppn(FIRST)), 0);
    assert!(write(&mut board, SECOND, 2).is_ok());
    assert_eq!(board.nand().uncovered(Ppn(FIRST)), 1);
    board.nand_mut().hold_parity(0, None);
    for page in [FIRST, SECOND] {
        lose(&mut board, page);
    }
    assert_eq!(found(&mut board, SECOND), (Tag::UNREADABLE, vec![SECOND; 5]));
    let (version, asked) = found(&mut board, FIRST);
    assert_eq!((version, &asked[5..]), (Tag(1), &[THIRD][..]), "the second is not in it");
}

#[test]
fn where_a_parity_page_is_gone_the_next_one_covers() {
    let mut board = striped(&[("rain.flush", "partial")]);
    board.nand_mut().hold_parity(0, Some(Ppn(FIRST)));
    assert!(write(&mut board, FIRST, 1).is_ok());
    [SECOND, THIRD].iter().for_each(|&page| parity(&mut board, page));
    board.nand_mut().hold_parity(0, None);
    lose(&mut board, FIRST);
    assert_eq!(found(&mut board, FIRST).1[5..], [SECOND]);
    lose(&mut board, SECOND);
    assert_eq!(found(&mut board, FIRST), (Tag(1), vec![THIRD]));
    lose(&mut board, THIRD);
    assert_eq!(found(&mut board, FIRST), (Tag::UNREADABLE, vec![]));
}

/// The second read that fails is that of the other page: its code is that of data, or of words.
#[test]
fn what_cannot_be_read_either_brings_nothing_back_unless_it_is_words() {
    for (words, expected) in [(false, Tag::UNREADABLE), (true, Tag(1))] {
        let mut board = striped(&[]);
        board.nand_mut().hold_parity(0, Some(Ppn(FIRST)));
        assert!(write(&mut board, FIRST, 1).is_ok());
        match words {
            true => assert!(write_words(&mut board, SECOND, &[5]).is_ok()),
            false => assert!(write(&mut board, SECOND, 2).is_ok()),
        }
        lose(&mut board, FIRST);
        board.nand_mut().faults_mut().fail_read_after(1);
        let (version, asked) = found(&mut board, FIRST);
        assert_eq!((version, &asked[5..]), (expected, &[SECOND; 5][..]));
        assert_eq!(rain(&mut board).gone.has(Ppn(SECOND)), !words);
        assert_eq!(events(&board, [Event::ReadRetries, Event::LostPages]), [8, u64::from(!words)]);
        assert_eq!(board.meter().reads(Cause::Rebuild), 5);
    }
}

#[test]
fn what_was_erased_is_of_no_stripe_any_more() {
    let mut board = full(&[]);
    board.nand_mut().invalidate(Ppn(SECOND));
    lose(&mut board, SECOND);
    rain(&mut board).failing.extend([FIRST, SECOND].map(Ppn));
    assert!(erase(&mut board, SECOND / 2).is_ok());
    let rain = rain(&mut board);
    assert_eq!((&rain.failing[..], rain.gone.has(Ppn(SECOND))), (&[Ppn(FIRST)][..], false));
    rain.failing.clear();
    // The parity was programmed before the erase: it covers what is gone, and brings nothing back.
    assert_eq!(board.nand().check_parity(Ppn(THIRD)), Ok(()));
    lose(&mut board, FIRST);
    assert_eq!(found(&mut board, FIRST).0, Tag::UNREADABLE);
}

#[test]
fn a_die_that_failed_is_asked_once_and_its_pages_come_from_their_stripes() {
    let mut board = full(&[("nand.failing_die", "3")]);
    let is_out = |board: &Board| [FIRST, SECOND].map(|page| board.nand().is_out(Ppn(page)));
    assert_eq!((is_out(&board), board.nand().failed_die()), ([false; 2], None));
    board.nand_mut().count_until_die_fails();
    assert_eq!((is_out(&board), board.nand().failed_die()), ([false, true], Some(3)));
    assert_eq!(board.nand().known_failed_die(), None);
    // Planes 6 and 7 are of die 3.
    let failed = [5, 6, 7, 8].map(|plane| board.nand().has_failed(PlaneId(plane)));
    assert_eq!(failed, [false, true, true, false]);
    assert_eq!(found(&mut board, SECOND), (Tag(2), vec![SECOND, FIRST, THIRD]));
    assert_eq!(board.nand().known_failed_die(), Some(3));
    assert_eq!(found(&mut board, SECOND), (Tag(2), vec![FIRST, THIRD]));
    assert!(!board.nand().has_failing(), "its die says so of all its pages");
    assert!(!rain(&mut board).gone.has(Ppn(SECOND)));
    assert_eq!(events(&board, [Event::FailedDies, Event::ReadRetries]), [1, 0]);
    lose(&mut board, FIRST);
    let (version, asked) = found(&mut board, FIRST);
    assert_eq!((version, asked), (Tag::UNREADABLE, vec![FIRST; 5]), "no other is read in vain");
}

#[test]
fn a_die_can_be_found_out_by_a_read_for_a_page_of_its_stripe() {
    let mut board = full(&[("nand.failing_die", "3")]);
    board.nand_mut().count_until_die_fails();
    lose(&mut board, FIRST);
    let (version, asked) = found(&mut board, FIRST);
    assert_eq!((version, &asked[5..]), (Tag::UNREADABLE, &[SECOND][..]));
    assert!(!rain(&mut board).gone.has(Ppn(SECOND)));
    assert_eq!(events(&board, [Event::FailedDies, Event::LostPages]), [1, 1]);
    assert_eq!(board.nand().known_failed_die(), Some(3));
}

/// The spare area of a page of such a die is that of its stripe; recovery reads all of it anyway.
#[test]
fn a_spare_area_of_a_failed_die_costs_the_reads_of_its_stripe() {
    let mut board = full(&[("nand.failing_die", "3")]);
    board.nand_mut().count_until_die_fails();
    let oob = Oob { logical: 5, kind: PageKind::Data, sequence: 2 };
    let look = |board: &mut Board, page| {
        let reads = board.meter().reads(Cause::Rebuild);
        let (_, there) = board.read_oob(Ppn(page), When::START).expect("power is on");
        (there, board.meter().reads(Cause::Rebuild) - reads, board.meter().oob_reads())
    };
    assert_eq!(look(&mut board, SECOND), (OobRead::Written(oob), 2, 0));
    assert_eq!(look(&mut board, SECOND + 1), (OobRead::Free, 0, 1), "an erased page is read");
    board.nand_mut().cut_power();
    board.power_on();
    assert_eq!(look(&mut board, SECOND), (OobRead::Written(oob), 0, 1));
}

/// Without capacitors the parity of an open stripe goes with the power: what cannot be read then is
/// lost, unless a parity page covers it.
#[test]
fn parity_of_an_open_stripe_outlives_a_cut_where_capacitors_save_it() {
    for (flush, covered, expected) in [
        ("capacitor", false, Tag(2)),
        ("partial", false, Tag::UNREADABLE),
        ("partial", true, Tag(2)),
    ] {
        let mut board = open(&[("rain.flush", flush)]);
        if covered {
            parity(&mut board, THIRD);
        }
        lose(&mut board, SECOND);
        rain(&mut board).failing.push(Ppn(SECOND));
        board.nand_mut().cut_power();
        board.power_on();
        assert!(!board.nand().has_failing(), "memory's list");
        assert_eq!(board.nand().held_parity(0), None);
        let forgotten =
            [FIRST, SECOND, THIRD].map(|page| rain(&mut board).forgotten.has(Ppn(page)));
        assert_eq!(forgotten, [false, expected == Tag::UNREADABLE, false]);
        board.nand_mut().hold_parity(0, Some(Ppn(FIRST)));
        board.nand_mut().revalidate(Ppn(SECOND));
        assert_eq!(found(&mut board, SECOND).0, expected, "{flush}, covered: {covered}");
        // Parity that is programmed now has the pages that can be read.
        if !covered {
            parity(&mut board, THIRD);
            let count = match board.nand().state().oob(Ppn(THIRD)) {
                OobRead::Written(oob) => oob.logical,
                other => panic!("{other:?}"),
            };
            assert_eq!(count, if expected == Tag(2) { 2 } else { 1 }, "{flush}");
            board.nand_mut().revalidate(Ppn(FIRST));
            lose(&mut board, FIRST);
            let (version, asked) = found(&mut board, FIRST);
            let rest = if expected == Tag(2) { &[SECOND, THIRD][..] } else { &[THIRD][..] };
            assert_eq!(version, if expected == Tag(2) { Tag::UNREADABLE } else { Tag(1) });
            assert!(asked[5..].iter().all(|page| rest.contains(page)), "{flush}: {asked:?}");
        }
    }
}

#[test]
fn what_capacitors_saved_is_known_until_recovery_is_over() {
    let mut board = open(&[]);
    board.nand_mut().hold_parity(7, Some(Ppn(THIRD)));
    board.nand_mut().cut_power();
    board.power_on();
    assert_eq!(rain(&mut board).held.saved, [Ppn(FIRST)], "once, though two frontiers had it");
    let holds = |board: &Board| {
        let nand = board.nand();
        [THIRD, 0].map(|page| nand.holds_parity_of(nand.rain(), Ppn(page)))
    };
    assert_eq!(holds(&board), [true, false]);
    board.end_recovery();
    assert_eq!(holds(&board), [false, false]);
    board.nand_mut().hold_parity(7, Some(Ppn(SECOND)));
    assert_eq!((board.nand().held_parity(7), holds(&board)), (Some(Ppn(FIRST)), [true, false]));
}

/// What is out when the power comes back, page by page: parity itself is never forgotten.
#[test]
fn a_die_that_failed_takes_with_a_cut_what_no_parity_page_covers() {
    let mut board = open(&[("rain.flush", "pad"), ("nand.failing_die", "3")]);
    assert!(write(&mut board, FIRST - 1, 7).is_ok());
    board.nand_mut().hold_parity(1, Some(Ppn(FIRST - 1)));
    parity(&mut board, SECOND - 1);
    board.nand_mut().count_until_die_fails();
    board.nand_mut().cut_power();
    board.power_on();
    let forgotten: Vec<u32> =
        (0..96).filter(|&page| rain(&mut board).forgotten.has(Ppn(page))).collect();
    assert_eq!(forgotten, [SECOND]);
}

#[test]
fn a_page_is_to_be_moved_once_while_it_is_valid_and_there_is_room_for_it() {
    let mut board = full(&[]);
    let noted = |board: &mut Board, page| {
        board.nand.note_failing(Ppn(page));
        rain(board).failing.clone()
    };
    assert_eq!(noted(&mut board, THIRD), [], "it is not valid");
    assert_eq!(noted(&mut board, FIRST), [Ppn(FIRST)]);
    assert_eq!(noted(&mut board, FIRST), [Ppn(FIRST)]);
    rain(&mut board).failing.resize(FAILING_MAX - 1, Ppn(95));
    assert_eq!(noted(&mut board, SECOND).len(), FAILING_MAX);
    rain(&mut board).failing[0] = Ppn(95);
    assert_eq!(noted(&mut board, FIRST).len(), FAILING_MAX, "that is all");
}

#[test]
fn a_page_of_nothing_completes_a_stripe_and_is_not_valid() {
    let mut board = striped(&[]);
    assert!(board.program_nothing(Ppn(FIRST), When::START).is_ok());
    let state = board.nand().state();
    let oob = Oob { logical: 0, kind: PageKind::Pad, sequence: 1 };
    assert_eq!((state.oob(Ppn(FIRST)), state.is_valid(Ppn(FIRST))), (OobRead::Written(oob), false));
    assert_eq!((board.nand().valid_pages(BlockId(6)), board.meter().programs(Cause::Pad)), (0, 1));
}

#[test]
fn data_is_part_of_the_parity_when_it_has_reached_the_controller() {
    let mut board = striped(&[]);
    let (page, kind) = (io(0, Tag(1)), PageKind::Data);
    let start = board.nand_mut().clock_mut().admit(700);
    assert!(board.program_update(Ppn(0), None, &page, kind, start).is_ok());
    assert_eq!(board.nand().data_ready(), start);
    let none = self::board(&[]);
    assert_eq!(none.nand().data_ready(), When::START);
}

/// Units of half a flash page on two dies of blocks of four: pages 0 and 1 and 16 and 17 are one
/// stripe.
#[test]
fn units_of_one_flash_page_are_of_one_stripe() {
    let mut board = board(&[
        ("device.dies", "2"),
        ("device.blocks_per_plane", "4"),
        ("device.pages_per_block", "2"),
        ("device.mapping_unit", "1024"),
        ("rain.stripe", "2"),
    ]);
    board.nand_mut().hold_parity(0, Some(Ppn(17)));
    assert_eq!(board.nand().held_parity(0), Some(Ppn(0)));
    board.nand_mut().hold_parity(1, Some(Ppn(19)));
    assert_eq!(board.nand().held_parity(1), Some(Ppn(2)));
    for (unit, uncovered) in [(0, 1), (1, 2), (16, 3), (17, 4), (2, 4)] {
        assert!(write(&mut board, unit, unit).is_ok());
        assert_eq!(board.nand().uncovered(Ppn(17)), uncovered);
    }
    assert!(board.nand_mut().is_bare_from_now_on(Ppn(1)), "it is told");
    assert!([0, 1, 16, 17].iter().all(|&unit| rain(&mut board).bare.has(Ppn(unit))));
    assert!(!board.nand_mut().is_bare_from_now_on(Ppn(16)), "it was told");
    assert!(!rain(&mut board).bare.has(Ppn(2)));
    assert!(board.nand_mut().is_bare_from_now_on(Ppn(3)));
    for unit in 0..3 {
        board.nand_mut().discard(Ppn(unit));
    }
    assert!(erase(&mut board, 0).is_ok());
    assert!(!board.nand_mut().is_bare_from_now_on(Ppn(1)), "the other half is as it was");
    assert_eq!(board.nand().uncovered(Ppn(1)), 2);
}

#[test]
fn a_device_without_stripes_knows_of_none() {
    let mut board = board(&[]);
    assert!(write(&mut board, 0, 1).is_ok());
    let nand = board.nand_mut();
    nand.hold_parity(0, Some(Ppn(0)));
    assert_eq!((nand.held_parity(0), nand.uncovered(Ppn(0))), (None, 0));
    assert!(!nand.is_bare_from_now_on(Ppn(0)) && !nand.has_failing() && !nand.is_out(Ppn(0)));
    assert!(!nand.saves_parity() && nand.next_failing().is_none());
    assert_eq!(nand.geometry().home_plane(Lpn(0)), PlaneId(0));
}
