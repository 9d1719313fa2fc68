//! The port alone: what each short way asks, and what it books.

use super::*;
use crate::board::Board;
use crate::board::when::When;
use crate::meter::Event;
use crate::rng::{Purpose, Rng};
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
fn a_port_rests_where_all_is_over_and_both_kinds_take_time() {
    let mut pcm = port(&[]);
    assert!(pcm.rests(0), "nothing was booked");
    pcm.book_write_alone(10, None);
    assert_eq!([9 + WRITE, 10 + WRITE].map(|now| pcm.rests(now)), [false, true]);
    for free in ["timing.pcm_read", "timing.pcm_write"] {
        assert!(!port(&[(free, "0")]).rests(1), "{free} takes no time");
    }
    assert!(!Pcm::new(&BoardSettings::default()).rests(51 + WRITE), "there is no such memory");
}

#[test]
fn a_write_that_finds_all_over_is_the_only_one_that_is_known() {
    let mut pcm = port(&[]);
    for from in [10, 20 + WRITE] {
        pcm.book_write_alone(from, None);
    }
    assert_eq!((pcm.floor, pcm.writes.len(), pcm.until), (10 + WRITE, 1, 20 + 2 * WRITE));
}

/// A queue of one that is full until the last write is over, because another joined that: a read
/// and a write that come then are booked at once as one by one.
#[test]
fn a_port_whose_queue_was_full_until_now_rests() {
    let mut pcm = port(&[]);
    pcm.attach(1);
    let end = 10 + WRITE;
    for joins in [false, true] {
        assert_eq!(pcm.book_write(10, Some(3), &mut timeline()), (10, joins));
    }
    assert_eq!(
        (pcm.full, pcm.until, pcm.rests(end - 1), pcm.rests(end)),
        ((10, end), end, false, true)
    );
    for unit in [None, Some(3)] {
        let (mut at_once, mut singly) = (pcm.clone(), pcm.clone());
        at_once.book_read_and_write(end, unit);
        assert_eq!(singly.book_read_alone(end), end);
        assert_eq!(singly.book_write(end, unit, &mut timeline()), (end, false));
        for pcm in [&mut at_once, &mut singly] {
            assert!(pcm.reads.iter().eq([&(end, end + READ)]));
            let written = pcm.writes.iter().map(|one| (one.accepted, one.start, one.end, one.unit));
            let begins = end + READ;
            assert!(written.eq([(end, begins, begins + WRITE, unit)]));
            assert_eq!((pcm.floor, pcm.until), (end, begins + WRITE));
            assert_eq!(pcm.accepted(end), begins + WRITE, "the next one waits");
        }
    }
}

#[test]
fn a_port_keeps_pace_with_copies_that_take_as_long_as_a_write() {
    let mut pcm = port(&[]);
    assert_eq!([WRITE - 1, WRITE].map(|step| pcm.keeps_pace(0, step)), [false, true]);
    pcm.book_write_alone(10, None);
    assert_eq!([9, 10].map(|now| pcm.keeps_pace(now, WRITE)), [false, true]);
    assert!(!port(&[("timing.pcm_write", "0")]).keeps_pace(0, WRITE));
    pcm.queue = 0;
    assert!(!pcm.keeps_pace(10, WRITE));
}

#[test]
fn a_read_and_a_write_behind_it_are_all_that_is_known_then() {
    let mut pcm = port(&[]);
    for now in [10, 10 + READ + WRITE] {
        pcm.book_read_and_write(now, Some(3));
        assert!(pcm.reads.iter().eq([&(now, now + READ)]));
        let begun = now + READ;
        let write = |write: &Write| (write.accepted, write.start, write.end, write.unit);
        assert!(pcm.writes.iter().map(write).eq([(now, begun, begun + WRITE, Some(3))]));
        assert_eq!(pcm.until, begun + WRITE);
    }
    assert_eq!(pcm.floor, 10 + READ + WRITE, "when all before was over");
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
    (pcm.floor, pcm.until) = (500, 500);
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

/// Counted write by write: the first moment from `from` on with fewer than the queue's length taken
/// and not done.
fn accepted_by_counting(pcm: &Pcm, from: Nanos) -> Nanos {
    let mut at = from.max(pcm.floor);
    loop {
        let there = |write: &&Write| write.end > at && write.accepted <= at;
        if pcm.writes.iter().filter(there).count() < pcm.queue {
            return at;
        }
        let ends = pcm.writes.iter().map(|write| write.end).filter(|&end| end > at);
        at = ends.min().expect("the queue is full of something");
    }
}

/// Bursts that the port cannot follow, pauses in which it recovers, moments out of order, reads in
/// between: what the queue remembers of being full changes no moment of acceptance. The longest
/// burst is of more writes than the port knows of at once.
#[test]
fn acceptance_is_what_counting_every_write_gives() {
    let mut rng = Rng::new(3, Purpose::Workload);
    for queue in [1, 2, 16] {
        let mut config = BoardSettings::default();
        config.set("timing.profile", "parallel").expect("legal");
        let mut board = Board::new(&config, 1, 0);
        board.attach_pcm(queue);
        let (mut now, mut waited, mut forgotten) = (0, 0, false);
        for step in 0..14_000 {
            let pause = match step {
                0..4_000 if step / 500 % 2 == 0 => 60_000,
                0..4_000 => 240_000,
                _ => 1_000,
            };
            now += Nanos::from(rng.below(pause));
            let clock = board.nand.clock_mut();
            let _ = clock.admit(now);
            board.pcm.forget(now);
            forgotten |= board.pcm.floor > now;
            let from = now + Nanos::from(rng.below(400_000));
            if rng.below(3) == 0 {
                board.pcm.book_read(from, board.nand.clock_mut().timeline_mut());
                continue;
            }
            // Counting thousands of writes takes its time.
            let counted = step < 4_000 || step % 500 == 0;
            let expected = counted.then(|| accepted_by_counting(&board.pcm, from));
            let timeline = board.nand.clock_mut().timeline_mut();
            let (found, _) = board.pcm.book_write(from, None, timeline);
            assert!(expected.is_none_or(|at| at == found), "{found}, queue {queue}, step {step}");
            waited += u32::from(found > from);
        }
        assert!(forgotten, "queue {queue}: no write that is to come was ever forgotten");
        assert!((6_000..9_300).contains(&waited), "queue {queue}: {waited} of some 9,300 waited");
    }
}
