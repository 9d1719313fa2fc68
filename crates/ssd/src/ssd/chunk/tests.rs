//! Which requests go like the one before, and which ways are taken for them: what comes of it is
//! the same whether they are or not, so that only this tells.

use super::*;
use crate::for_tests::{CONTENT, Toy, config, request};
use crate::host::LongestQueue;
use ftlab_flash::request::Stages;
use ftlab_flash::request::Unreadable;

const PROGRAM: Nanos = 405_900;
/// Measuring began at 10 ms of the device's clock; windows are of 1 ms.
const EPOCH: Nanos = 10_000_000;

fn ssd<const TRAITS: u32>(pairs: &[(&str, &str)]) -> Ssd<Toy<TRAITS>> {
    Ssd::new(&config(pairs), (), 1).unwrap_or_else(|error| panic!("{error}"))
}

fn plain(pairs: &[(&str, &str)]) -> Ssd<Toy<0>> {
    ssd::<0>(pairs)
}

fn served(closed: Option<Nanos>) -> Served {
    Served { closed, longest: LongestQueue::new(), completed: 0 }
}

fn write(lpn: u64) -> Request {
    request(Op::Write, 4 * lpn, 4)
}

/// A page that came, was admitted, was in the register 40 ns later, and was programmed.
fn taken(arrival: Nanos, admitted: Nanos, completed: Nanos) -> Taken {
    let split = PathSplit::of_program(admitted, (admitted + 40, completed));
    let (begun, ready) = (admitted, completed);
    Taken { arrival, admitted, begun, ready, completed, split }
}

fn counted(taken: &Taken, unreadable: Option<Unreadable>) -> Completion {
    let [arrival, admitted, completed] =
        [taken.arrival, taken.admitted, taken.completed].map(|at| at - EPOCH);
    Completion { arrival, admitted, completed, stages: Stages::default(), unreadable }
}

/// Requests that may be like this one.
fn like(op: Op, first: Taken) -> Alike {
    let mut alike = Alike::default();
    let completion = counted(&first, None);
    alike.begin(op, (first, completion), &Meter::new(8));
    alike
}

/// From 1 us to 101 us of the first window.
fn first() -> Taken {
    taken(EPOCH + 1_000, EPOCH + 1_000, EPOCH + 101_000)
}

#[test]
fn a_request_as_long_that_waits_as_long_in_the_same_window_is_like_the_first() {
    let board = plain(&[]).board;
    let takes = |op, request: Taken| like(Op::Write, first()).takes(op, &request, &board);
    let at = |from: Nanos| taken(EPOCH + from, EPOCH + from, EPOCH + from + 100_000);
    assert!(takes(Op::Write, at(101_000)) && takes(Op::Write, at(899_999)));
    assert!(!takes(Op::Write, at(900_000)), "it is done in the next window");
    assert!(!takes(Op::Read, at(101_000)));
    let from = EPOCH + 200_000;
    assert!(!takes(Op::Write, taken(from - 1, from, from + 100_000)), "it waited");
    assert!(!takes(Op::Write, taken(from, from, from + 100_001)), "it is longer");
    let other = Taken { split: PathSplit::default(), ..at(200_000) };
    assert!(!takes(Op::Write, other), "by other stages");
    let waited = taken(EPOCH + 500, EPOCH + 1_000, EPOCH + 101_000);
    let later = taken(from - 500, from, from + 100_000);
    assert!(like(Op::Write, waited).takes(Op::Write, &later, &board), "it waited as long");
}

#[test]
fn what_is_like_the_first_is_counted_with_it() {
    let board = plain(&[]).board;
    let mut alike = like(Op::Write, first());
    assert_eq!(alike.window, EPOCH..EPOCH + 1_000_000);
    let last = taken(EPOCH + 300_000, EPOCH + 300_000, EPOCH + 400_000);
    alike.left = 5;
    assert!(alike.takes(Op::Write, &last, &board));
    assert_eq!((alike.requests, alike.last, alike.left), (1, EPOCH + 400_000, 4));
    alike.takes_row(3, EPOCH + 700_000, &board);
    assert_eq!((alike.requests, alike.last), (4, EPOCH + 700_000));
}

#[test]
fn nothing_is_like_a_request_that_could_not_be_read() {
    let board = plain(&[]).board;
    let mut alike = Alike::default();
    let lost = Some(Unreadable { first: Lpn(0), pages: 1 });
    alike.begin(Op::Read, (first(), counted(&first(), lost)), &Meter::new(8));
    assert!(!alike.takes(Op::Read, &first(), &board));
}

/// The last nanosecond of a window is 593,099 ns behind the end of a page that begins 1 us after the
/// window does: one more is over by then.
#[test]
fn so_many_more_are_booked_as_the_window_has_room_for() {
    let booked = {
        let mut device = plain(&[]);
        let before = device.board.nand().clock().booked();
        device.submit_one(&write(0), 0).expect("it works");
        device.board.nand().clock().booked_since(&before)
    };
    assert_eq!(booked.length(), PROGRAM);
    let left = |arrival: Nanos, length: Nanos| {
        let admitted = EPOCH + 1_000;
        let mut alike = like(Op::Write, taken(EPOCH + arrival, admitted, admitted + length));
        alike.repeats(booked);
        alike.left
    };
    assert_eq!(left(1_000, PROGRAM), 1);
    assert_eq!(left(999, PROGRAM), 0, "it waited");
    assert_eq!(left(1_000, PROGRAM + 1), 0, "it was not the server's alone");
    let mut alike = like(Op::Write, taken(EPOCH, EPOCH, EPOCH + PROGRAM - 1_000));
    alike.repeats(Booked::default());
    assert_eq!(alike.left, 0);
}

#[test]
fn writes_that_channel_and_cells_alone_took_time_for_may_be_compared() {
    let bare = |op, first| {
        let mut alike = like(op, first);
        alike.compares_writes();
        alike
    };
    let alike = bare(Op::Write, first());
    assert_eq!(alike.bare_write, Some((40, 99_960)));
    let from = EPOCH + 200_000;
    let takes = |loaded, completed| alike.takes_write(from, (from + loaded, from + completed));
    assert!(takes(40, 100_000));
    assert!(!takes(41, 100_001) && !takes(40, 100_001), "the channel, or the cells, took longer");
    let late = EPOCH + 900_000;
    assert!(!alike.takes_write(late, (late + 40, late + 100_000)), "in the next window");
    assert_eq!(bare(Op::Read, first()).bare_write, None);
    let waited = taken(EPOCH, EPOCH + 1_000, EPOCH + 101_000);
    assert_eq!(bare(Op::Write, waited).bare_write, None);
    let mut others = first();
    others.split.flash -= 1;
    assert_eq!(bare(Op::Write, others).bare_write, None);
}

#[test]
fn a_write_of_a_page_or_of_a_part_of_one_is_of_that_page() {
    let device = plain(&[]);
    let page = |op, first, sectors| device.only_page(&request(op, first, sectors));
    assert_eq!([page(Op::Write, 20, 4), page(Op::Write, 21, 2)], [Some(5); 2]);
    assert_eq!(page(Op::Write, 252, 4), Some(63), "the last one");
    assert_eq!(page(Op::Write, 256, 4), None, "beyond the device");
    assert_eq!([page(Op::Write, 22, 4), page(Op::Read, 20, 4)], [None; 2]);
    assert_eq!(page(Op::Write, 20, 0), None);
}

#[test]
fn writes_come_in_rows_as_long_as_the_scheme_and_the_window_have_room() {
    let mut device = plain(&[]);
    assert!(!device.would_write_alike(&write(5)), "no block is open");
    device.submit_one(&write(0), 0).expect("it works");
    assert!(device.would_write_alike(&write(5)) && !device.would_write_alike(&write(64)));
    let (alike, mut row) = (Alike { left: 2, ..Alike::default() }, Row::default());
    let in_row = [5, 6, 7].map(|lpn| device.write_in_row(&write(lpn), &alike, &mut row));
    assert_eq!((in_row, row.requests, row.sectors), ([true, true, false], 2, 8));
    assert!(matches!(device.write_untimed(&write(7)), Some(Ppn(3))));
    assert_eq!(device.next_tag, 4);
    assert!(device.write_untimed(&request(Op::Read, 0, 4)).is_none());
}

/// 40 us on the channel, then 100 us of the cells; one request at a time.
#[test]
fn writes_are_timed_without_a_token() {
    let mut device = plain(&[
        ("timing.profile", "parallel"),
        ("timing.page_transfer", "40us"),
        ("timing.program", "100us"),
        ("host.queue_depth", "1"),
    ]);
    let (mut how, mut alike, mut row) = (served(Some(0)), Alike::default(), Row::default());
    device.submit_one(&write(0), 0).expect("it works");
    assert!(device.write_timed(&mut write(5), &mut how, &mut alike, &mut row));
    assert_eq!((how.completed, row.requests), (280_000, 0), "others may be like it");
    assert_eq!(alike.bare_write, Some((40_000, 100_000)));
    assert!(device.write_timed(&mut write(6), &mut how, &mut alike, &mut row));
    assert_eq!((how.completed, row.last, row.requests), (420_000, 420_000, 1));
    assert!(!device.write_timed(&mut request(Op::Read, 0, 4), &mut how, &mut alike, &mut row));
}

/// Nobody counts how they were served but a clock on the wall; this is what decides it.
#[test]
fn rows_of_writes_are_booked_where_nothing_else_takes_time() {
    let kind = |pairs: &[_], closed: Option<Nanos>| plain(pairs).rows(&served(closed));
    let parallel = ("timing.profile", "parallel");
    assert_eq!(kind(&[], Some(0)), rows::BOOKED_AT_ONCE);
    assert_eq!(kind(&[], None), rows::NONE, "requests arrive by themselves");
    assert_eq!(kind(&[("host.queue_depth", "3")], Some(0)), rows::NONE);
    let transfer = ("timing.page_transfer", "40us");
    assert_eq!(kind(&[parallel, transfer], Some(0)), rows::BOOKED_SINGLY);
    assert_eq!(kind(&[parallel, transfer], None), rows::NONE);
    assert_eq!(kind(&[parallel, transfer, ("timing.controller_page", "3us")], Some(0)), rows::NONE);
    assert_eq!(ssd::<CONTENT>(&[]).rows(&served(Some(0))), rows::NONE);
    let is_plain = |pairs: &[_]| plain(pairs).is_plain();
    assert!(is_plain(&[]));
    let more = [
        &[("host.link_bandwidth", "10MB")][..],
        &[("host.streams", "3")],
        &[("gc.mode", "both")],
        &[("buffer.name", "lru"), ("buffer.bytes", "8192")],
    ];
    assert_eq!(more.map(is_plain), [false; 4]);
}
