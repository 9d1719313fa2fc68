//! The port alone: what each short way asks, and what it books.

use super::*;
use crate::settings::Groups as _;

const WRITE: Nanos = 90_000;
const READ: Nanos = 115;

/// A port with a queue of two, and other times where a test says so.
fn port(pairs: &[(&str, &str)]) -> Pcm {
    let mut config = BoardSettings::default();
    for (key, value) in pairs {
        config.set(key, value).expect("legal");
    }
    let mut pcm = Pcm::new(&config);
    pcm.attach(2);
    pcm
}

fn timeline() -> Timeline {
    let board = Board::new(&BoardSettings::default(), 1, 0);
    board.nand.clone().timeline_mut().clone()
}

#[test]
fn what_is_known_has_its_room_from_the_start() {
    let pcm = port(&[]);
    assert_eq!(pcm.reads.capacity(), KNOWN + 1);
    assert_eq!(pcm.writes.capacity(), KNOWN + 2 + 1);
}

#[test]
fn a_write_is_taken_at_once_where_all_is_over_and_it_takes_time() {
    let mut pcm = port(&[]);
    assert!(pcm.takes_at_once(0, 0) && pcm.is_idle());
    assert_eq!(pcm.book_read(10, &mut timeline()), 10);
    assert!(!pcm.is_idle());
    let end = 10 + READ;
    let at = [(end - 1, end), (end, end - 1), (end, end)];
    assert_eq!(at.map(|(from, now)| pcm.takes_at_once(from, now)), [false, false, true]);
    pcm.queue = 0;
    assert!(!pcm.takes_at_once(end, end));
    assert!(!port(&[("timing.pcm_write", "0")]).takes_at_once(0, 0));
}

#[test]
fn reads_that_take_no_time_leave_the_port_idle() {
    let mut pcm = port(&[("timing.pcm_read", "0")]);
    assert_eq!(pcm.book_read(10, &mut timeline()), 10);
    assert!(pcm.is_idle());
}

#[test]
fn a_read_is_alone_where_all_is_over_and_it_takes_time() {
    let mut pcm = port(&[]);
    pcm.book_write_alone(10, None);
    let end = 10 + WRITE;
    assert_eq!([end - 1, end].map(|now| pcm.reads_alone(now)), [false, true]);
    assert!(!port(&[("timing.pcm_read", "0")]).reads_alone(0), "it takes no time");
    for start in [end, end + 500] {
        assert_eq!(pcm.book_read_alone(start), start);
        assert_eq!((pcm.writes.len(), pcm.until), (0, start + READ));
        assert!(pcm.reads.iter().eq([&(start, start + READ)]), "of others nothing is known");
    }
    assert_eq!(pcm.floor, end + READ, "when all before the last one was over");
    assert_eq!(pcm.book_read_alone(0), end + 500 + READ, "not before what was booked is over");
}

#[test]
fn what_is_over_is_forgotten() {
    let mut pcm = port(&[]);
    let _ = pcm.book_read(10, &mut timeline());
    pcm.forget(10 + READ - 1);
    assert!(!pcm.is_idle());
    pcm.forget(10 + READ);
    assert_eq!((pcm.is_idle(), pcm.floor), (true, 10 + READ));
}

#[test]
fn a_write_at_an_idle_port_begins_behind_what_was_forgotten() {
    let mut pcm = port(&[]);
    pcm.floor = 500;
    assert_eq!(pcm.book_write_when_idle(20, None), 500);
    assert_eq!((pcm.writes[0].end, pcm.writes.len()), (500 + WRITE, 1));
    let mut free = port(&[("timing.pcm_write", "0")]);
    assert_eq!((free.book_write_when_idle(20, None), free.is_idle()), (20, true));
}

/// Before the read where it is done by then, else behind it; one that begins when the read is over
/// is alone.
#[test]
fn a_write_goes_before_or_behind_a_read_that_is_to_come() {
    let booked = |read: Nanos, from: Nanos| {
        let mut pcm = port(&[]);
        let _ = pcm.book_read(read, &mut timeline());
        pcm.book_write_behind_read((from, from), None).then(|| pcm.writes[0].start)
    };
    assert_eq!(booked(1_000, 10), Some(1_000 + READ));
    assert_eq!(booked(10 + WRITE, 10), Some(10));
    assert_eq!(booked(9 + WRITE, 10), Some(9 + WRITE + READ));
    assert_eq!([booked(1_000, 1_000 + READ), booked(1_000, 2_000)], [None; 2]);
    let mut pcm = port(&[]);
    let _ = pcm.book_read(1_000, &mut timeline());
    (pcm.floor, pcm.full) = (20, (5, 30));
    let taken = [19, 25, 30, 31].map(|from| pcm.clone().book_write_behind_read((from, 0), None));
    assert_eq!(taken, [false, false, false, true]);
    pcm.full = (0, 0);
    let taken = [19, 20].map(|from| pcm.clone().book_write_behind_read((from, 0), None));
    assert_eq!(taken, [false, true], "behind what was forgotten");
}

#[test]
fn reads_beside_everything_else_are_counted() {
    let mut board = Board::new(&BoardSettings::default(), 1, 0);
    board.attach_pcm(1);
    board.pcm_read_beside(When::START);
    assert_eq!((board.meter().events(Event::PcmReads), board.pcm_idle_from()), (1, READ));
}

/// The first of two reads is over; of writes of the future the oldest leave when there are more
/// than are known beside a full queue.
#[test]
fn of_what_is_not_over_the_oldest_of_too_many_are_forgotten() {
    let mut pcm = port(&[]);
    for from in [10, 1_000] {
        let _ = pcm.book_read(from, &mut timeline());
    }
    pcm.forget(10 + READ - 1);
    assert_eq!((pcm.reads.len(), pcm.floor), (2, 0));
    pcm.forget(10 + READ);
    assert_eq!((pcm.reads.len(), pcm.floor), (1, 10 + READ));
    let mut pcm = port(&[]);
    let write = |number: u64| {
        let (start, end) = (number * WRITE, (number + 1) * WRITE);
        Write { accepted: start, start, end, span: 0, unit: None }
    };
    let most = KNOWN as u64 + 2;
    pcm.writes.extend((1..=most).map(write));
    pcm.until = (most + 1) * WRITE;
    pcm.forget(0);
    assert_eq!((pcm.writes.len() as u64, pcm.floor), (most, 0));
    pcm.writes.push_back(write(most + 1));
    pcm.until += WRITE;
    pcm.forget(0);
    assert_eq!((pcm.writes.len() as u64, pcm.floor), (most, 2 * WRITE));
}

#[test]
fn only_a_read_that_takes_time_is_drawn() {
    for (time, drawn) in [("0", 0), ("115ns", 1)] {
        let mut config = BoardSettings::default();
        config.set("timing.pcm_read", time).expect("legal");
        let mut board = Board::new(&config, 1, 0);
        board.attach_pcm(1);
        board.nand_mut().timeline_mut().start(10);
        let _ = board.pcm_read(When::START);
        assert_eq!(board.nand_mut().timeline_mut().take().0.len(), drawn);
    }
}
