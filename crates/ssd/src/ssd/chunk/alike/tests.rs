//! Which requests go like others: what comes of it is the same whether they are or not, so that only
//! this tells.

use super::*;
use crate::device::Device;
use crate::for_tests::{Toy, config, request};
use crate::ssd::Ssd;
use ftlab_flash::request::Completion;

const PROGRAM: Nanos = 405_900;
/// Measuring began at 10 ms of the device's clock; windows are of 1 ms.
const EPOCH: Nanos = 10_000_000;

fn plain() -> Ssd<Toy<0>> {
    Ssd::new(&config(&[]), (), 1).unwrap_or_else(|error| panic!("{error}"))
}

/// A page that came, was admitted, was in the register 40 ns later, and was programmed.
fn taken(arrival: Nanos, admitted: Nanos, completed: Nanos) -> Taken {
    let noted = PathSplit::of_program(admitted, (admitted + 40, completed));
    let (begun, ready) = (admitted, completed);
    Taken { arrival, admitted, begun, ready, completed, noted }
}

/// The same of one that was admitted when it came.
fn took(from: Nanos, length: Nanos) -> Taken {
    taken(EPOCH + from, EPOCH + from, EPOCH + from + length)
}

/// Requests that may be like this one.
fn like(op: Op, first: Taken) -> Alike {
    let mut alike = Alike::default();
    begin(&mut alike, op, &first);
    alike
}

fn begin(alike: &mut Alike, op: Op, first: &Taken) {
    alike.begin(op, (first, true), &Meter::new(8), EPOCH);
}

/// What is left to be counted: of each kind how many, and when the last of them is said to be done.
fn left(alike: &mut Alike) -> Vec<(Op, u32, Nanos)> {
    let kinds = (0..Alike::KINDS).filter_map(|place| alike.take(place));
    let mut left: Vec<_> =
        kinds.map(|(op, taken, requests, _)| (op, requests, taken.completed)).collect();
    left.sort_by_key(|&(op, requests, _)| (op as usize, requests));
    left
}

/// From 1 us to 101 us of the first window.
fn first() -> Taken {
    took(1_000, 100_000)
}

#[test]
fn a_request_as_long_that_waits_as_long_in_the_same_window_is_like_the_first() {
    let board = plain().board;
    let takes = |op, request: Taken| like(Op::Write, first()).takes(op, &request, &board);
    let at = |from: Nanos| took(from, 100_000);
    assert!(takes(Op::Write, at(101_000)) && takes(Op::Write, at(899_999)));
    assert!(!takes(Op::Write, at(900_000)), "it is done in the next window");
    assert!(!takes(Op::Read, at(101_000)));
    let from = EPOCH + 200_000;
    assert!(!takes(Op::Write, taken(from - 1, from, from + 100_000)), "it waited");
    assert!(!takes(Op::Write, taken(from, from, from + 100_001)), "it is longer");
    let other = Taken { noted: PathSplit::default(), ..at(200_000) };
    assert!(!takes(Op::Write, other), "by other stages");
    let waited = taken(EPOCH + 500, EPOCH + 1_000, EPOCH + 101_000);
    let later = taken(from - 500, from, from + 100_000);
    assert!(like(Op::Write, waited).takes(Op::Write, &later, &board), "it waited as long");
}

#[test]
fn what_is_like_the_first_is_counted_with_it() {
    let board = plain().board;
    let mut alike = like(Op::Write, first());
    assert_eq!(alike.window, EPOCH..EPOCH + 1_000_000);
    assert!(!alike.is_empty() && Alike::default().is_empty());
    alike.left = 5;
    assert!(alike.takes(Op::Write, &took(300_000, 100_000), &board));
    assert_eq!(alike.left, 4);
    alike.takes_row(3, EPOCH + 700_000, &board);
    assert_eq!(left(&mut alike), [(Op::Write, 4, EPOCH + 700_000)]);
    assert_eq!(left(&mut alike), [], "they are counted once");
}

/// Requests of three kinds, of which those of one come between those of another.
#[test]
fn kinds_are_counted_apart() {
    let board = plain().board;
    let mut alike = like(Op::Write, first());
    alike.left = 5;
    begin(&mut alike, Op::Read, &took(101_000, 20_000));
    assert_eq!(alike.left, 0, "what a write booked is not what the request before booked");
    alike.left = 7;
    for (op, from, length) in
        [(Op::Write, 121_000, 100_000), (Op::Read, 221_000, 20_000), (Op::Write, 241_000, 100_000)]
    {
        assert!(alike.takes(op, &took(from, length), &board));
        assert_eq!(alike.left, 0, "the one before was of another kind");
    }
    assert!(!alike.takes(Op::Write, &took(341_000, 20_000), &board), "as long as a read");
    let all = [(Op::Read, 1, EPOCH + 241_000), (Op::Write, 2, EPOCH + 341_000)];
    assert_eq!(left(&mut alike), all);
    // They begin where their window does.
    let next = took(1_000_000, 100_000);
    assert!(!alike.takes(Op::Write, &next, &board));
    assert_eq!(alike.give_way(Op::Write, &next), 0..Alike::KINDS);
    let mut meter = Meter::new(8);
    let (completed, stages) = (1_100_000, Default::default());
    let (arrival, admitted) = (1_000_000, 1_000_000);
    let completion = Completion { arrival, admitted, completed, stages, unreadable: None };
    assert!(meter.complete(Op::Write, &completion));
    alike.begin(Op::Write, (&next, true), &meter, EPOCH);
    assert_eq!(alike.window, EPOCH + 1_000_000..EPOCH + 2_000_000);
    assert!(!alike.takes(Op::Read, &took(1_100_000, 20_000), &board), "of the window before");
    assert!(alike.takes(Op::Write, &took(1_100_000, 100_000), &board));
}

/// Two writes side by side, and a read that is done at once: measuring began with both.
#[test]
fn a_request_that_takes_longer_than_the_last_one_was_done_for_is_counted_where_it_was_done() {
    let board = plain().board;
    let mut alike = like(Op::Write, took(0, 405_900));
    begin(&mut alike, Op::Read, &took(0, 50));
    assert!(alike.takes(Op::Write, &took(0, 405_900), &board));
    assert!(alike.takes(Op::Read, &took(0, 50), &board));
    assert_eq!(left(&mut alike), [(Op::Read, 1, EPOCH + 50), (Op::Write, 1, EPOCH + 405_900)]);
}

/// A window may be so long that they could not be numbered.
#[test]
fn so_many_of_a_kind_are_left_to_be_counted_and_no_more() {
    let board = plain().board;
    let mut alike = like(Op::Write, took(0, 405_900));
    let most = Alike::MOST;
    (1..most).for_each(|_| assert!(alike.takes(Op::Write, &took(0, 405_900), &board)));
    alike.compares_writes();
    let (admitted, loaded) = (EPOCH, EPOCH + 40);
    assert!(alike.takes_write(admitted, (loaded, EPOCH + 405_900)));
    alike.repeats(&took(0, 405_900), booked());
    assert_eq!(alike.left, 1);
    alike.takes_row(1, EPOCH + 405_900, &board);
    assert!(!alike.takes(Op::Write, &took(0, 405_900), &board));
    assert!(!alike.takes_write(admitted, (loaded, EPOCH + 405_900)));
    alike.repeats(&took(0, 405_900), booked());
    assert_eq!(alike.left, 0);
    // They give way to those of their own kind that come.
    let request = took(0, 405_900);
    let places = alike.give_way(Op::Write, &request);
    let counted: Vec<_> = places.filter_map(|place| alike.take(place)).map(|all| all.2).collect();
    assert_eq!(counted, [most]);
    begin(&mut alike, Op::Write, &request);
    assert!(alike.takes(Op::Write, &request, &board));
    assert_eq!(left(&mut alike), [(Op::Write, 1, EPOCH + 405_900)]);
}

/// More kinds than are told apart: one gives way to another in one of its two places, and what it
/// has is counted before.
#[test]
fn a_kind_gives_way_to_another() {
    let board = plain().board;
    let mut alike = like(Op::Write, first());
    let mut counted = 0;
    for kind in 0..200 {
        let request = took(1_000, 10_000 + kind);
        assert!(!alike.takes(Op::Write, &request, &board));
        let places = alike.give_way(Op::Write, &request);
        assert_eq!(places.len(), 1);
        counted += places.filter_map(|place| alike.take(place)).map(|all| all.2).sum::<u32>();
        begin(&mut alike, Op::Write, &request);
        assert!((0..2).all(|_| alike.takes(Op::Write, &request, &board)));
    }
    let rest = left(&mut alike);
    assert!(rest.iter().all(|&(_, requests, _)| requests == 2));
    assert_eq!(counted + 2 * rest.len() as u32, 400);
    assert!(rest.len() > Alike::KINDS / 2, "they are spread: {}", rest.len());
}

/// The one of which there are more stays.
#[test]
fn of_two_kinds_that_with_fewer_requests_gives_way() {
    let board = plain().board;
    let place = Way::of(Op::Write, &first()).place();
    let shares =
        |&length: &Nanos| Way::of(Op::Write, &took(1_000, length)).place() / 2 == place / 2;
    let others: Vec<Nanos> = (200_000..).filter(shares).take(2).collect();
    let mut alike = like(Op::Write, first());
    let takes = |alike: &mut Alike, length| alike.takes(Op::Write, &took(1_000, length), &board);
    assert!((0..3).all(|_| takes(&mut alike, 100_000)));
    begin(&mut alike, Op::Write, &took(1_000, others[0]));
    assert!(takes(&mut alike, others[0]) && takes(&mut alike, 100_000), "there is room for two");
    begin(&mut alike, Op::Write, &took(1_000, others[1]));
    assert!(takes(&mut alike, others[1]) && takes(&mut alike, 100_000));
    assert!(!takes(&mut alike, others[0]), "it gave way");
}

#[test]
fn nothing_is_like_a_request_that_could_not_be_read() {
    let board = plain().board;
    let mut alike = Alike::default();
    alike.begin(Op::Read, (&first(), false), &Meter::new(8), EPOCH);
    assert!(!alike.takes(Op::Read, &first(), &board));
    let mut lost = Alike::default();
    lost.begin(Op::Write, (&first(), false), &Meter::new(8), EPOCH);
    lost.compares_writes();
    assert_eq!(lost.bare_write, None);
    lost.repeats(&took(1_000, PROGRAM), booked());
    assert_eq!(lost.left, 0);
}

/// What a write of a page books.
fn booked() -> Booked {
    let mut device = plain();
    let before = device.board.nand().clock().booked();
    device.submit(&request(Op::Write, 0, 4)).expect("it works");
    device.board.nand().clock().booked_since(&before)
}

/// The last nanosecond of a window is 593,099 ns behind the end of a page that begins 1 us after the
/// window does: one more is over by then.
#[test]
fn so_many_more_are_booked_as_the_window_has_room_for() {
    let booked = booked();
    assert_eq!(booked.length(), PROGRAM);
    let left = |arrival: Nanos, length: Nanos| {
        let admitted = EPOCH + 1_000;
        let first = taken(EPOCH + arrival, admitted, admitted + length);
        let mut alike = like(Op::Write, first);
        alike.repeats(&first, booked);
        alike.left
    };
    assert_eq!(left(1_000, PROGRAM), 1);
    assert_eq!(left(999, PROGRAM), 0, "it waited");
    assert_eq!(left(1_000, PROGRAM + 1), 0, "it was not the server's alone");
    let early = took(0, PROGRAM - 1_000);
    let mut alike = like(Op::Write, early);
    alike.repeats(&early, Booked::default());
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
    others.noted.map = 1;
    assert_eq!(bare(Op::Write, others).bare_write, None);
    // It is the request before that counts.
    let mut alike = bare(Op::Write, waited);
    begin(&mut alike, Op::Write, &first());
    alike.compares_writes();
    assert!(alike.bare_write.is_some());
    assert!(alike.takes(Op::Write, &waited, &plain().board));
    alike.compares_writes();
    assert_eq!(alike.bare_write, None);
}
