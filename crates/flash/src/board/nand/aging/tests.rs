//! Limits and retries of blocks alone, and what a board does about data that is old or was read.

use super::*;
use crate::board::Board;
use crate::board::nand::cell_mode::CellMode;
use crate::board::nand::state::PageKind;
use crate::meter::Cause;
use crate::request::{PageIo, RequestShape};
use crate::settings::Groups as _;
use crate::units::{Lpn, Tag};

fn aging(pairs: &[(&str, &str)]) -> Box<Aging> {
    let mut config = BoardSettings::default();
    for (key, value) in pairs {
        config.set(key, value).unwrap_or_else(|error| panic!("{error}"));
    }
    Aging::new(&config, 4).expect("something counts")
}

#[test]
fn wear_lowers_the_limit_in_proportion() {
    let aging = aging(&[("refresh.reads", "1000"), ("refresh.wear_slope", "0.6")]);
    let limits = [0, WHOLE / 2, WHOLE].map(|worn| aging.limit(worn));
    assert_eq!(limits, [1000, 700, 400]);
}

/// p0 (1 + cycles / endurance) (1 + age / days) (1 + reads / limit).
#[test]
fn reads_age_and_wear_multiply_the_share_of_reads_with_retries() {
    let set = [("refresh.reads", "10"), ("refresh.days", "1"), ("refresh.p0", "0.001")];
    let mut aging = aging(&set);
    let block = BlockId(1);
    let share = |aging: &Aging, worn: u64, now: Nanos| {
        let bound = aging.retry_bound((block, worn), now);
        (bound as f64 / u64::MAX as f64 * 1e4).round() / 1e4
    };
    assert_eq!(share(&aging, 0, 0), 0.001);
    aging.programmed(block, 5);
    (0..20).for_each(|_| aging.sensed((block, 0), true));
    assert_eq!(share(&aging, 0, 5), 0.003);
    assert_eq!(share(&aging, WHOLE, 5 + days(3.0)), 0.001 * 2.0 * 4.0 * 3.0);
    assert_eq!((aging.due.len(), aging.due.first_twice()), (1, Some(block)));
    aging.erased(block);
    assert_eq!(share(&aging, 0, days(9.0)), 0.001);
    assert_eq!(aging.due.len(), 0);
}

/// Two reads make a block due; a recovery looks for those that are not due.
#[test]
fn a_recovery_looks_for_no_block_that_waits() {
    let mut aging = aging(&[("refresh.reads", "2"), ("refresh.days", "1")]);
    let block = BlockId(1);
    aging.programmed(block, 0);
    assert!(aging.ages.next_find() < Nanos::MAX);
    (0..2).for_each(|_| aging.sensed((block, 0), true));
    assert_eq!((aging.due.len(), aging.ages.next_find()), (1, Nanos::MAX));
    aging.recovered(5, 4);
    assert_eq!(aging.ages.next_find(), Nanos::MAX);
}

/// A device that was off for three days: what was written before is as much older, what is written
/// afterwards is not.
#[test]
fn data_ages_while_the_device_is_off_from_when_it_was_written_on() {
    let mut aging = aging(&[("refresh.days", "2"), ("refresh.off_days", "3")]);
    let (before, behind) = (BlockId(1), BlockId(2));
    aging.programmed(before, 5);
    aging.was_off(10, |_| true);
    aging.programmed(behind, 10);
    let now = aging.ages.time(10 + days(0.5));
    assert_eq!(now, 10 + days(3.5));
    let ages = [before, behind].map(|block| aging.ages.of(block, now));
    assert_eq!(ages, [days(3.5) + 5, days(0.5)]);
    let found = aging.ages.next_find();
    assert!((10..days(0.1)).contains(&found), "it is too old at once, and found at {found}");
}

/// The patrol comes to block 0 of four at 10, 50 and so on. What it passed at 10 it finds at 50.
#[test]
fn a_patrol_does_not_come_by_twice_at_one_moment() {
    let (mut ages, mut due) = (Ages::new(5, Patrol::new(10, 4), 4), Queue::new(4));
    ages.programmed(BlockId(0), 0, false);
    ages.programmed(BlockId(0), 1, false);
    assert_eq!(ages.next_find(), 10);
    ages.look(10, &mut due, |_| false);
    assert_eq!((due.len(), ages.next_find()), (0, Nanos::MAX), "it held nothing");
    ages.look_for(BlockId(0), 10);
    assert_eq!(ages.next_find(), 50);
}

#[test]
fn where_age_has_no_limit_the_first_block_has_no_age_either() {
    let mut aging = aging(&[("refresh.reads", "2")]);
    aging.programmed(BlockId(0), 5);
    (0..2).for_each(|_| aging.sensed((BlockId(0), 0), true));
    assert_eq!((aging.due.len(), aging.ages.of(BlockId(0), 9)), (1, 0));
    aging.erased(BlockId(0));
    assert_eq!(aging.due.len(), 0);
}

/// Blocks 1 and 2 hold a page each, block 3 one that is not valid.
fn board(pairs: &[(&str, &str)]) -> Board {
    let mut config = BoardSettings::default();
    for (key, value) in pairs {
        config.set(key, value).unwrap_or_else(|error| panic!("{error}"));
    }
    let mut board = Board::new(&config, 1, 0);
    let request = RequestShape { first_lpn: Lpn(0), pages: 1, index: 0, sectors: 4, hint: None };
    for block in 1..4 {
        let (cause, data) = (Cause::Host, Tag(1));
        let io = PageIo { lpn: Lpn(block), sectors: u64::MAX, cause, data, request };
        let ppn = board.geometry().page(BlockId(block), 0);
        let done = board.program_update(ppn, None, &io, PageKind::Data, When::START);
        assert!(done.is_ok());
    }
    let ppn = board.geometry().page(BlockId(3), 0);
    board.nand_mut().invalidate(ppn);
    board
}

fn read(board: &mut Board, block: u32, times: u32) {
    let ppn = board.geometry().page(BlockId(block), 0);
    for _ in 0..times {
        assert!(board.read(ppn, Cause::Host, When::START).is_ok());
    }
}

#[test]
fn blocks_are_due_for_their_reads_one_behind_the_other() {
    let mut board = board(&[("refresh.reads", "4")]);
    let [one, two, three] = [1, 2, 3].map(BlockId);
    assert!(board.nand().refreshes() && board.nand().finds_old_data_at().is_none());
    (1..4).for_each(|block| read(&mut board, block, 4));
    let nand = board.nand_mut();
    assert_eq!(nand.blocks_to_refresh(When::START), 2, "one of the three holds nothing");
    assert!(!nand.must_refresh(When::START));
    assert_eq!(
        [one, two, three].map(|block| nand.is_due_for(block)),
        [Some(DueFor::Reads), Some(DueFor::Reads), None]
    );
    assert_eq!(nand.next_to_refresh(false), Some(one));
    nand.put_refresh_off(one);
    assert_eq!(nand.next_to_refresh(false), Some(two));
    read(&mut board, 2, 4);
    let nand = board.nand_mut();
    assert!(nand.must_refresh(When::START));
    assert_eq!([one, two].map(|block| nand.must_refresh_this(block)), [false, true]);
    nand.needs_no_refresh(two);
    assert_eq!((nand.next_to_refresh(false), nand.is_due_for(two)), (Some(one), None));
}

/// While the device is off data ages: what holds something is found, the rest is not.
#[test]
fn what_is_old_is_found_where_it_holds_something() {
    let pairs = [("refresh.days", "1"), ("refresh.off_days", "3"), ("refresh.patrol", "1us")];
    let mut board = board(&pairs);
    let found = board.nand().finds_old_data_at().expect("there is data");
    assert!((days(1.0)..days(1.1)).contains(&found));
    let late = board.nand_mut().clock_mut().admit(days(1.5));
    let ppn = board.geometry().page(BlockId(1), 0);
    assert!(board.read(ppn, Cause::Host, late).is_ok());
    let nand = board.nand_mut();
    nand.was_off();
    assert_eq!(nand.finds_old_data_at(), None);
    assert_eq!(nand.blocks_to_refresh(late), 2);
    let why = [1, 2, 3].map(|block| nand.is_due_for(BlockId(block)));
    assert_eq!(why, [Some(DueFor::Age), Some(DueFor::Age), None]);
}

/// Due at four reads, twice over at eight.
#[test]
fn a_block_is_due_with_its_last_read_and_twice_over_with_as_many_again() {
    let mut board = board(&[("refresh.reads", "4")]);
    let due = [3, 1, 3, 1].map(|reads| {
        read(&mut board, 1, reads);
        let nand = board.nand_mut();
        (nand.blocks_to_refresh(When::START), nand.blocks_to_refresh_at_once(When::START))
    });
    assert_eq!(due, [(0, 0), (1, 0), (1, 0), (1, 1)]);
}

/// A day and a half after it was written: the third block holds nothing.
#[test]
fn a_patrol_finds_old_data_while_the_device_is_on() {
    let pairs = [("refresh.days", "1"), ("refresh.patrol", "1us"), ("refresh.reads", "4")];
    let mut board = board(&pairs);
    read(&mut board, 2, 4);
    let late = board.nand_mut().clock_mut().admit(days(1.5));
    let nand = board.nand_mut();
    assert_eq!(nand.blocks_to_refresh(late), 2);
    let why = [1, 2, 3].map(|block| nand.is_due_for(BlockId(block)));
    assert_eq!(why, [Some(DueFor::Age), Some(DueFor::Reads), None]);
}

/// Trims that a cut undoes bring data back that the patrol has passed by.
#[test]
fn a_recovery_looks_for_what_held_nothing_when_the_patrol_came_by() {
    let pairs = [("refresh.days", "1"), ("refresh.patrol", "1us")];
    let mut board = board(&pairs);
    let late = board.nand_mut().clock_mut().admit(days(1.5));
    let ppn = board.geometry().page(BlockId(1), 0);
    board.nand_mut().discard(ppn);
    assert_eq!(board.nand_mut().blocks_to_refresh(late), 1);
    assert_eq!(board.nand().finds_old_data_at(), None);
    board.nand_mut().cut_power();
    board.power_on();
    board.nand_mut().revalidate(ppn);
    assert_eq!(board.nand().finds_old_data_at(), None);
    board.end_recovery();
    assert!(board.nand().finds_old_data_at().is_some());
    let later = board.nand_mut().clock_mut().admit(days(1.6));
    assert_eq!(board.nand_mut().blocks_to_refresh(later), 2);
}

/// Half of the reads of a new block need a retry; from the first read on, at a limit of one,
/// all of them.
#[test]
fn reads_of_cells_that_suffered_need_retries() {
    let pairs = [("refresh.reads", "1"), ("refresh.p0", "0.5"), ("nand.read_retries", "1")];
    let mut board = board(&pairs);
    read(&mut board, 1, 1);
    let before = (board.meter().reads(Cause::Host), board.nand().clock().idle_from());
    read(&mut board, 1, 50);
    let after = (board.meter().reads(Cause::Host), board.nand().clock().idle_from());
    assert_eq!((after.0 - before.0, after.1 - before.1), (100, 100 * 130_900));
}

/// One of four dense cycles and five of ten with a bit a cell: a quarter and a half.
#[test]
fn cycles_of_both_modes_use_up_a_life() {
    let mut board = board(&[
        ("refresh.reads", "4"),
        ("device.bits_per_cell", "2"),
        ("device.endurance_cycles", "4"),
        ("device.slc_endurance_cycles", "10"),
    ]);
    let (nand, block) = (board.nand_mut(), BlockId(5));
    nand.state.block_mut(block).erases = 6;
    nand.modes.restore(block, CellMode::Dense, 5);
    let aging = nand.aging.as_ref().expect("reads count");
    assert_eq!(nand.worn(aging, block), 750_000);
    nand.state.block_mut(block).erases = 5;
    nand.modes.restore(block, CellMode::Dense, 3);
    let aging = nand.aging.as_ref().expect("reads count");
    assert_eq!(nand.worn(aging, block), 800_000, "two of four and three of ten");
}

#[test]
fn a_device_that_only_suffers_moves_nothing() {
    let pairs = [("refresh.reads", "4"), ("refresh.moves", "false"), ("refresh.p0", "0.1")];
    let mut board = board(&pairs);
    read(&mut board, 1, 9);
    let nand = board.nand();
    assert_eq!((nand.refreshes(), nand.is_due_for(BlockId(1))), (false, None));
}
