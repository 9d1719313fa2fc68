//! Runs of copies that cannot be booked as a row, and programs whose moment is one number.

use super::suspend_tests::clock;
use super::*;
use crate::board::nand::mover::Mover;
use crate::board::nand::state::PageKind;
use crate::board::when::Moment;
use crate::meter::Cause;
use crate::units::Ppn;

/// Reads take 50 us and programs 300 us. While a page crosses the channel twice its cells are idle:
/// for 20 us, which nobody could use, or for 60 us, in which the next page is read.
#[test]
fn the_next_page_is_read_while_the_one_before_crosses_the_channel_if_that_is_long_enough() {
    for (transfer, expected) in [
        // Read to 50, there at 60 and back at 70, programmed to 370; the next from there on.
        ("10us", [370_000, 740_000]),
        // Read to 50, over the channel to 110, programmed to 410; the next is read from 50 to 100,
        // waits for the channel until 110, is back at 170, and waits for the cells until 410.
        ("30us", [410_000, 710_000]),
    ] {
        let (mut clock, geometry) = clock(&[("timing.page_transfer", transfer)]);
        let start = clock.admit(0);
        let mover =
            |old| Mover { old: Ppn(old), logical: 0, kind: PageKind::Data, done: Moment::START };
        let mut movers = [0, 1].map(mover);
        let target = (PlaneId(0), BlockId(1), geometry.page(BlockId(1), 0));
        let source = (PlaneId(0), BlockId(0));
        let all = clock.copy_run((source, target), Cause::Gc, &mut movers, start);
        let ends = movers.map(|mover| mover.done.token().time());
        assert_eq!(ends, expected, "{transfer}");
        assert_eq!(all.map(|all| clock.completion(all)), Some(expected[1]), "{transfer}");
        let waited = if transfer == "30us" { 10_000 } else { 0 };
        assert_eq!(clock.service_time().bus_wait, waited, "{transfer}");
    }
}

/// On one server; elsewhere a page takes the time of the cells that it is on.
#[test]
fn a_read_on_the_server_books_what_a_page_does() {
    for cause in [Cause::Translate, Cause::Host] {
        let [(mut one, geometry), (mut page, _)] =
            [(); 2].map(|()| clock(&[("timing.profile", "serial")]));
        for clock in [&mut one, &mut page] {
            let _ = clock.admit(7_000);
        }
        let place = Place::of(&geometry, geometry.page(BlockId(1), 0));
        let done = page.read_page(place, cause, When::START);
        let served = one.read_on_server(cause).expect("there is one server");
        assert_eq!(served.token(), done, "{cause:?}");
        assert_eq!((one.booked(), one.cell_operations().reads), (page.booked(), 1), "{cause:?}");
        assert_eq!(one.split(7_000, done), page.split(7_000, done), "{cause:?}");
    }
    let (mut parallel, _) = clock(&[]);
    assert_eq!(parallel.read_on_server(Cause::Translate), None);
    assert_eq!(parallel.cell_operations().reads, 0, "nothing is booked");
}

/// On one server; elsewhere a page takes the time of the cells that it is on.
#[test]
fn a_program_on_the_server_books_what_a_page_does() {
    for cause in [Cause::Translate, Cause::Trim] {
        let [(mut one, geometry), (mut page, _)] =
            [(); 2].map(|()| clock(&[("timing.profile", "serial")]));
        for clock in [&mut one, &mut page] {
            let _ = clock.admit(7_000);
        }
        let target = (PlaneId(0), BlockId(1), geometry.page(BlockId(1), 0));
        let done = page.program_page(target, Load::Channel, cause, When::START);
        let served = one.program_on_server(cause).expect("there is one server");
        assert_eq!((served.token(), done.time()), (done, 317_000), "{cause:?}");
        assert_eq!(one.booked(), page.booked(), "{cause:?}");
        assert_eq!(one.split(7_000, done), page.split(7_000, done), "{cause:?}");
    }
    let (mut parallel, _) = clock(&[]);
    assert_eq!(parallel.program_on_server(Cause::Translate), None);
    assert_eq!(parallel.cell_operations().programs, 0, "nothing is booked");
}
