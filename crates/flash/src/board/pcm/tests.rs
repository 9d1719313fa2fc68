use std::collections::VecDeque;

use super::*;
use crate::board::nand::clock::PathSplit;
use crate::board::settings::BoardSettings;
use crate::meter::Cause;
use crate::rng::{Purpose, Rng};
use crate::settings::Groups as _;
use crate::units::PlaneId;

const WRITE: Nanos = 90_000;
const READ: Nanos = 115;

fn board(profile: &str, queue: u32) -> Board {
    let mut config = BoardSettings::default();
    config.set("timing.profile", profile).expect("a legal setting");
    let mut board = Board::new(&config, 1, 0);
    board.attach_pcm(queue);
    board
}

fn admit(board: &mut Board, time: Nanos) -> When {
    board.nand_mut().clock_mut().admit(time)
}

fn flash_read(board: &mut Board, after: When) -> When {
    let read = board.nand.read_nothing(&mut board.meter, PlaneId(0), Cause::Host, after);
    read.expect("power is on")
}

/// HAT 2010, Figs 6 and 7: the entry that leaves the cache is written back beside the flash. A
/// flash read of 130.9 us hides the 90 us in both profiles, and the next eviction finds an idle
/// port.
#[test]
fn a_posted_write_runs_beside_the_flash() {
    for profile in ["serial", "parallel"] {
        let mut board = board(profile, 1);
        let start = admit(&mut board, 1_000);
        let posted = board.pcm_write(start);
        assert_eq!(board.pcm_idle_from(), 91_000, "{profile}");
        let done = flash_read(&mut board, posted);
        let clock = board.nand().clock();
        assert_eq!(clock.completion(done), 131_900, "{profile}: nothing but the flash");
        assert_eq!(clock.split(1_000, done), PathSplit { flash: 130_900, ..Default::default() });
        assert_eq!(clock.service_time().pcm_wait, 0, "{profile}");
        let next = admit(&mut board, 131_900);
        let posted = board.pcm_write(next);
        assert_eq!(board.nand().clock().completion(posted), 131_900, "{profile}");
        assert_eq!(board.meter().events(Event::PcmWrites), 2);
    }
}

/// The miss of a read: the entry comes first, then the page.
#[test]
fn a_read_is_waited_for_and_counts_as_map() {
    for profile in ["serial", "parallel"] {
        let mut board = board(profile, 1);
        let start = admit(&mut board, 0);
        let mapped = board.pcm_read(start);
        let done = flash_read(&mut board, mapped);
        let split = board.nand().clock().split(0, done);
        let expected = PathSplit { map: READ, flash: 130_900, ..Default::default() };
        assert_eq!(split, expected, "{profile}");
        let time = board.nand().clock().service_time();
        assert_eq!((time.pcm_read, time.pcm_wait), (READ, 0), "{profile}");
    }
}

/// A queue of one: the second write waits until the first is done, the third until the second.
#[test]
fn a_write_that_finds_the_queue_full_waits_for_the_oldest() {
    for profile in ["serial", "parallel"] {
        let mut board = board(profile, 1);
        let start = admit(&mut board, 0);
        let accepted: Vec<Nanos> = (0..3)
            .map(|_| {
                let posted = board.pcm_write(start);
                board.nand().clock().earliest(posted)
            })
            .collect();
        assert_eq!(accepted, [0, WRITE, 2 * WRITE], "{profile}");
        let clock = board.nand().clock();
        // Posted from one moment, the third waited for both; one server waits for one at a time.
        let waited = if profile == "serial" { 2 * WRITE } else { 3 * WRITE };
        assert_eq!(clock.service_time().pcm_wait, waited, "{profile}");
        assert_eq!(board.pcm_idle_from(), 3 * WRITE, "{profile}");
    }
}

/// A stall is part of the request's path: in the parallel profile and on the one server.
#[test]
fn a_stall_counts_as_map() {
    for profile in ["serial", "parallel"] {
        let mut board = board(profile, 1);
        let first = admit(&mut board, 0);
        let _ = board.pcm_write(first);
        let second = admit(&mut board, 40_000);
        let posted = board.pcm_write(second);
        let split = board.nand().clock().split(40_000, posted);
        assert_eq!(split, PathSplit { map: 50_000, ..Default::default() }, "{profile}");
    }
}

/// The load at which the port becomes the bottleneck: writes closer than 90 us apart stall ever
/// longer whatever the queue, writes farther apart never.
#[test]
fn the_port_saturates_at_one_write_per_write_time() {
    for queue in [1, 4] {
        let stall = |apart: Nanos| {
            let mut board = board("parallel", queue);
            for number in 0..1_000 {
                let start = admit(&mut board, number * apart);
                let _ = board.pcm_write(start);
            }
            board.nand().clock().service_time().pcm_wait
        };
        assert_eq!((stall(WRITE), stall(WRITE + 1)), (0, 0), "queue of {queue}");
        // With 80 us between them the n-th write is 10 us * n late, less what the queue holds.
        let held = u64::from(queue - 1) * WRITE;
        let expected: Nanos = (0..1_000).map(|n: Nanos| (10_000 * n).saturating_sub(held)).sum();
        assert_eq!(stall(80_000), expected, "queue of {queue}");
    }
}

/// Three writes are queued; a read waits for the one under way only, and those behind it move.
#[test]
fn reads_go_before_writes_that_have_not_begun() {
    let mut board = board("parallel", 3);
    let start = admit(&mut board, 0);
    for _ in 0..3 {
        assert_eq!(board.pcm_write(start), start, "there is room for three");
    }
    let late = admit(&mut board, 10_000);
    let read = board.pcm_read(late);
    assert_eq!(read.time(), WRITE + READ);
    assert_eq!(board.nand().clock().service_time().pcm_wait, WRITE - 10_000);
    assert_eq!(board.pcm_idle_from(), 3 * WRITE + READ, "the other two moved by one read");
    let again = board.pcm_read(late);
    assert_eq!(again.time(), WRITE + 2 * READ, "reads queue among themselves");
}

/// However many writes a long queue holds, a read waits for the one under way. Of more than 4096
/// the oldest were fixed although none of them had begun.
#[test]
fn a_long_queue_is_overtaken_like_a_short_one() {
    let mut board = board("parallel", 4096);
    let start = admit(&mut board, 0);
    // 204 are done before the last one is taken, in the future: nothing has begun but the first.
    let _ = (0..4300).fold(start, |when, _| board.pcm_write(when));
    let late = admit(&mut board, 10_000);
    assert_eq!(board.pcm_read(late).time(), WRITE + READ);
}

/// Posts entries of program units from one moment; when the queue took each.
fn post(board: &mut Board, start: When, units: &[u32]) -> Vec<Nanos> {
    let post = |&unit| {
        let posted = board.pcm_write_in(Some(unit), start);
        board.nand().clock().earliest(posted)
    };
    units.iter().map(post).collect()
}

/// Neighbours that are posted at one moment are one write, and a queue of one takes the next unit
/// when that is done: also for the entries that join it there.
#[test]
fn entries_of_one_unit_that_are_queued_together_are_one_write() {
    for (queue, second) in [(2, 0), (1, WRITE)] {
        let mut board = board("parallel", queue);
        let start = admit(&mut board, 0);
        assert_eq!(post(&mut board, start, &[7, 7, 7, 8, 8]), [0, 0, 0, second, second]);
        assert_eq!(board.meter().events(Event::PcmWrites), 2, "queue of {queue}");
        assert_eq!(board.pcm_idle_from(), 2 * WRITE);
        assert_eq!(board.nand().clock().service_time().pcm_write, 2 * WRITE);
    }
}

/// A write under way takes nothing any more; the next of its unit does until it begins.
#[test]
fn an_entry_joins_no_write_that_has_begun() {
    let mut board = board("parallel", 16);
    for (time, writes, idle) in [(0, 1, WRITE), (1, 2, 2 * WRITE), (WRITE, 2, 2 * WRITE)] {
        let start = admit(&mut board, time);
        assert_eq!(post(&mut board, start, &[7]), [time]);
        assert_eq!(board.meter().events(Event::PcmWrites), writes, "at {time}");
        assert_eq!(board.pcm_idle_from(), idle);
    }
    let late = admit(&mut board, WRITE + 1);
    assert_eq!(post(&mut board, late, &[7]), [WRITE + 1]);
    assert_eq!(board.meter().events(Event::PcmWrites), 3, "the second has begun too");
}

/// What is booked for later is not in the queue yet: an earlier entry of the unit does not wait for
/// it. Entries without a unit join nothing.
#[test]
fn an_entry_joins_no_write_of_the_future() {
    let mut board = board("parallel", 4);
    let start = admit(&mut board, 0);
    let copied = flash_read(&mut board, start);
    assert_eq!(post(&mut board, copied, &[7]), [130_900]);
    assert_eq!(post(&mut board, start, &[7]), [0]);
    let _ = board.pcm_write(start);
    assert_eq!(board.meter().events(Event::PcmWrites), 3);
}

/// Power comes back: the queue is written, the port idle.
#[test]
fn an_attached_port_is_idle() {
    let mut board = board("parallel", 2);
    let start = admit(&mut board, 0);
    let _ = (0..2).fold(start, |when, _| board.pcm_write(when));
    board.attach_pcm(2);
    assert_eq!(board.pcm_idle_from(), 0);
    let later = admit(&mut board, 10_000);
    assert_eq!(board.pcm_read(later).time(), 10_000 + READ);
}

/// A request evicts an entry and reads another at one moment: the read does not wait for its own
/// eviction, in whatever order the scheme asks.
#[test]
fn a_read_beside_an_eviction_goes_first() {
    for write_first in [true, false] {
        let mut board = board("parallel", 1);
        let start = admit(&mut board, 0);
        let early = write_first.then(|| board.pcm_write(start));
        let read = board.pcm_read(start);
        let posted = early.unwrap_or_else(|| board.pcm_write(start));
        assert_eq!((read.time(), posted), (READ, start), "written first: {write_first}");
        assert_eq!(board.pcm_idle_from(), READ + WRITE);
    }
}

/// A collection books writes far ahead; a request in between finds the port idle.
#[test]
fn writes_booked_ahead_do_not_reserve_the_port() {
    let mut board = board("parallel", 1);
    let start = admit(&mut board, 0);
    let copied = flash_read(&mut board, start);
    let _ = board.pcm_write(copied);
    let _ = board.pcm_write(start);
    assert_eq!(board.nand().clock().service_time().pcm_wait, 0);
    let late = admit(&mut board, 95_000);
    let read = board.pcm_read(late);
    assert_eq!(read.time(), 95_000 + READ);
    assert_eq!(board.pcm_idle_from(), 130_900 + WRITE);
}

/// Whatever the order of calls, the port does one thing at a time, and nothing begins before it
/// may.
#[test]
fn the_port_never_does_two_things_at_once() {
    let mut rng = crate::rng::Rng::new(7, crate::rng::Purpose::Workload);
    for queue in [1, 2, 5] {
        let mut board = board("parallel", queue);
        board.nand_mut().timeline_mut().start(100_000);
        let mut now = 0;
        for _ in 0..5_000 {
            now += u64::from(rng.below(60_000));
            let start = admit(&mut board, now);
            let ahead = start.until(now + u64::from(rng.below(4)) * u64::from(rng.below(100_000)));
            let done = match rng.below(3) {
                0 => board.pcm_write(ahead),
                _ => board.pcm_read(ahead),
            };
            assert!(done.time() >= ahead.time());
        }
        let (mut spans, left_out) = board.nand_mut().timeline_mut().take();
        assert_eq!((spans.len(), left_out), (5_000, 0));
        spans.sort_unstable_by_key(|span| span.start);
        for pair in spans.windows(2) {
            assert!(pair[0].end <= pair[1].start, "queue of {queue}: {pair:?}");
        }
        assert!(spans.iter().all(|span| {
            let length = if span.work == Work::Read { READ } else { WRITE };
            span.end - span.start == length && span.unit == Unit::Pcm
        }));
    }
}

/// In the serial profile the writes of one request after another are accepted at most a queue ahead
/// of the port: the whole run is as long as a naive queue says.
#[test]
fn the_serial_profile_agrees_with_a_naive_queue() {
    let mut rng = crate::rng::Rng::new(9, crate::rng::Purpose::Workload);
    for queue in [1usize, 3] {
        let mut board = board("serial", queue as u32);
        let (mut server, mut ends, mut now) = (0, VecDeque::<Nanos>::new(), 0);
        for _ in 0..3_000 {
            now += u64::from(rng.below(200_000));
            let start = admit(&mut board, now);
            server = server.max(now);
            let mut token = start;
            for _ in 0..rng.below(5) {
                token = board.pcm_write(token);
                while ends.front().is_some_and(|&end| end <= server) {
                    ends.pop_front();
                }
                if ends.len() == queue {
                    server = ends.pop_front().expect("it is full");
                }
                ends.push_back(ends.back().copied().unwrap_or(0).max(server) + WRITE);
                assert_eq!(board.nand().clock().completion(token), server, "queue of {queue}");
            }
            let _ = flash_read(&mut board, token);
            server += 130_900;
        }
        let waited = board.nand().clock().service_time().pcm_wait;
        assert!(waited > 0, "some requests post more than a queue of {queue} holds");
    }
}

#[test]
#[should_panic(expected = "no phase-change memory is attached")]
fn a_board_without_such_a_memory_has_none_to_read() {
    let mut board = Board::new(&BoardSettings::default(), 1, 0);
    let _ = board.pcm_read(When::START);
}

/// What the queue held is written when the power comes back: nothing waits for it.
#[test]
fn an_attached_port_takes_a_write_at_once_however_full_it_was() {
    let mut board = board("parallel", 1);
    let start = admit(&mut board, 0);
    let accepted = |board: &mut Board| {
        let posted = board.pcm_write(start);
        board.nand().clock().earliest(posted)
    };
    assert_eq!([0; 3].map(|_| accepted(&mut board)), [0, WRITE, 2 * WRITE]);
    board.attach_pcm(1);
    assert_eq!(accepted(&mut board), 0);
}

/// The same reads and writes on a port that somebody draws, which takes no short way, and on one
/// that nobody does: alone, one behind a read of the same moment, and close to each other.
#[test]
fn the_short_ways_book_what_the_long_one_does() {
    let mut rng = Rng::new(11, Purpose::Workload);
    for (profile, queue) in [("serial", 1), ("serial", 3), ("parallel", 1), ("parallel", 3)] {
        let mut boards = [board(profile, queue), board(profile, queue)];
        boards[1].nand_mut().timeline_mut().start(100_000);
        let mut now = 0;
        for step in 0..6_000 {
            now += u64::from(rng.below(if step % 1_000 < 500 { 400_000 } else { 60_000 }));
            let ahead = u64::from(rng.below(2)) * u64::from(rng.below(200_000));
            let unit = (rng.below(3) == 0).then(|| rng.below(2));
            let kind = rng.below(4);
            let [short, long] = boards.each_mut().map(|board| {
                let start = admit(board, now);
                let from = start.until(now + ahead);
                match kind {
                    0 => board.pcm_read(from),
                    1 => {
                        board.pcm_read_beside(start);
                        board.pcm_write_in(unit, start)
                    }
                    2 => board.pcm_write_or_wait(unit, from).unwrap_or(from),
                    _ => board.pcm_write_in(unit, from),
                }
            });
            assert_eq!(short, long, "{profile}, queue of {queue}, step {step}");
        }
        let [short, long] = boards.each_ref().map(|board| {
            let events =
                [Event::PcmReads, Event::PcmWrites].map(|event| board.meter().events(event));
            (events, board.pcm_idle_from(), board.nand().clock().service_time())
        });
        assert_eq!(short, long, "{profile}, queue of {queue}");
    }
}

/// On one server, at a port that rests: a read and a write behind it are booked as one by one, and
/// so are entries of copies that come one a step.
#[test]
fn what_is_booked_together_is_what_would_be_booked_one_by_one() {
    let mut rng = Rng::new(12, Purpose::Workload);
    let mut boards = [board("serial", 2), board("serial", 2)];
    let (mut now, mut together, mut busy) = (0, [0; 2], 0);
    for step in 0..3_000 {
        // Often at the very moment at which the last copy was done.
        now += u64::from(rng.below(2)) * u64::from(rng.below(400_000));
        let unit = (rng.below(3) > 0).then(|| rng.below(2));
        let start = boards.each_mut().map(|board| admit(board, now))[0];
        let copy = boards[0].nand().clock().copy_on_server().expect("there is one server");
        let count = 1 + rng.below(4);
        let [one, other] = &mut boards;
        let kind = rng.below(3);
        if kind == 0 && one.pcm_rests() {
            together[0] += 1;
            one.pcm_read_and_write_beside(unit);
            other.pcm_read_beside(start);
            assert_eq!(other.pcm_write_in(unit, start), start);
        } else if kind == 1 && one.copies_outlast_pcm() {
            together[1] += 1;
            let end = now + u64::from(count) * copy;
            one.nand_mut().clock_mut().copies_on_server(Cause::Gc, u64::from(count));
            one.pcm_writes_of_copies(count, (unit, Moment::at(end)));
            for _ in 0..count {
                let (begun, length) =
                    other.nand_mut().clock_mut().copies_on_server(Cause::Gc, 1).expect("the same");
                let done = When::at(begun + length);
                assert_eq!(other.pcm_write_or_wait(unit, done), None, "nobody waits");
            }
            now = end;
        } else {
            busy += 1;
            let posted = [one, other].map(|board| board.pcm_write_in(unit, start));
            assert_eq!(posted[0], posted[1], "step {step}");
            now = now.max(boards[0].nand().clock().now());
        }
        let [one, other] = boards.each_ref().map(|board| {
            let events =
                [Event::PcmReads, Event::PcmWrites].map(|event| board.meter().events(event));
            (events, board.pcm_idle_from(), board.nand().clock().service_time())
        });
        assert_eq!(one, other, "step {step}");
    }
    assert!(together.iter().all(|&times| times > 300) && busy > 300, "{together:?} {busy}");
}

#[test]
fn a_copy_posts_no_entry_that_would_wait() {
    let mut board = board("serial", 1);
    let start = admit(&mut board, 0);
    board.pcm_writes_of_copies(0, (None, Moment::START));
    assert_eq!(board.meter().events(Event::PcmWrites), 0, "none of them");
    let _ = board.pcm_write(start);
    let post = std::panic::AssertUnwindSafe(|| {
        board.pcm_writes_of_copies(1, (None, Moment::at(WRITE - 1)));
    });
    assert!(std::panic::catch_unwind(post).is_err(), "the first is under way");
}
