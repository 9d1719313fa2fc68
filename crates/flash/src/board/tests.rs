//! What the board asks of the flash, and what its own questions answer.

use super::*;
use crate::request::RequestShape;
use crate::settings::Groups as _;

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
    let plainly = |pairs: &[(&str, &str)]| {
        let (page, kind) = (io(15, Tag(1)), PageKind::Data);
        board(pairs).program_plainly(Ppn(0), &page, kind, When::START).is_some()
    };
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
        board.update_plainly((Ppn(old), Ppn(new)), what, &[(1, 9)], cause, When::START)
    };
    let updated = update(&mut board, 0, 1).map(|(_, kept)| kept);
    assert_eq!(updated, Some((BlockId(0), 1)));
    assert_eq!(board.nand().payload(Ppn(1))[..2], [4, 9]);
    let _ = board.nand_mut().faults_mut();
    assert_eq!(update(&mut board, 1, 2), None);
    assert!(board.nand().state().is_free(Ppn(2)));
}

#[test]
fn victims_are_counted_by_what_was_moved() {
    let mut board = board(&[]);
    let pages = board.geometry().pages_per_block;
    [0, 1, pages - 1, pages].iter().for_each(|&copied| board.victim(copied));
    let merges = board.meter().merges();
    assert_eq!((merges.switch, merges.partial, merges.full), (1, 2, 1));
}
