//! What is done between requests, and behind those that cannot wait.

use super::*;

/// The pages of blocks that hold garbage are moved together while nobody asks for anything.
#[test]
fn blocks_are_collected_in_gaps_where_that_is_set() {
    let collected = |pairs: &[(&str, &str)], gap: Nanos| {
        let mut device = plain(pairs);
        let mut rng = Rng::new(1, Purpose::Workload);
        let mut arrival = 0;
        for _ in 0..400 {
            let write = at(arrival, page(Op::Write, u64::from(rng.below(64))));
            arrival = done(&mut device, write).completed + gap;
        }
        device.audit().expect("it is sound");
        device.board().meter().events(Event::IdleVictims)
    };
    let idle = [("gc.mode", "both"), ("gc.least_invalid", "0.2")];
    assert_eq!(collected(&[], 50_000_000), 0);
    assert_eq!(collected(&idle, 0), 0, "there are no gaps");
    assert!(collected(&idle, 50_000_000) > 20);
}

/// A step that has begun is done, and a request that comes meanwhile waits for it.
#[test]
fn a_gap_ends_with_the_step_that_reaches_beyond_it() {
    let pairs = [("buffer.name", "lru"), ("buffer.bytes", "8192"), ("buffer.idle_flush", "true")];
    let mut device = plain(&pairs);
    write_each(&mut device, 0..3);
    let from = device.idle_from();
    let read = done(&mut device, at(from + PROGRAM + 1, page(Op::Read, 40)));
    assert_eq!(read.admitted, from + 2 * PROGRAM, "two pages were written out, not three");
    assert_eq!(device.board().meter().programs(Cause::Host), 2);
    let read = done(&mut device, at(read.completed + 10 * PROGRAM, page(Op::Read, 40)));
    assert_eq!((read.stages.driver_queue, device.board().meter().total_programs()), (0, 3));
}

fn buffered(more: &[(&str, &str)]) -> Ssd<Toy<0>> {
    let pairs = [("buffer.name", "lru"), ("buffer.bytes", "8192"), ("buffer.idle_flush", "true")];
    let mut device = plain(&[&pairs, more].concat());
    write_each(&mut device, 0..3);
    device
}

/// Pages that were written out in a gap of so many ns.
fn written_in(device: &mut dyn Device, gap: Nanos) -> u64 {
    let read = at(device.idle_from() + gap, page(Op::Read, 40));
    done(device, read);
    device.board().meter().total_programs()
}

#[test]
fn a_gap_is_over_when_it_is() {
    assert_eq!([1, PROGRAM, PROGRAM + 1].map(|gap| written_in(&mut buffered(&[]), gap)), [1, 1, 2]);
}

#[test]
fn a_buffer_is_written_out_before_blocks_are_collected() {
    let mut device = buffered(&[("gc.mode", "both")]);
    assert_eq!(written_in(&mut device, 100 * PROGRAM), 3, "there is nothing to collect");
}

#[test]
fn a_step_that_takes_no_time_is_taken_once_a_nanosecond() {
    let mut device = buffered(&[("timing.program", "0ns")]);
    assert_eq!(written_in(&mut device, 2), 2);
}

fn events(device: &dyn Device, event: Event) -> u64 {
    device.board().meter().events(event)
}

/// At 20 reads of a block that is to be moved at 10; each read is of two blocks.
#[test]
fn blocks_that_were_read_twice_as_often_as_they_should_are_moved_at_once() {
    let mut device = ssd::<DIVIDES>(&[("refresh.reads", "10")]);
    write_each(&mut device, 0..16);
    let moved = |device: &dyn Device| {
        let blocks = [7, 8].map(|lpn| device.board().geometry().block_of(place(device, lpn)));
        (blocks, events(device, Event::RefreshedAtOnce), events(device, Event::RefreshedForReads))
    };
    let (mut before, ..) = moved(&device);
    for round in 1..=3 {
        for _ in 0..19 {
            done(&mut device, request(Op::Read, 28, 8));
        }
        assert_eq!(moved(&device).1, 2 * (round - 1));
        done(&mut device, request(Op::Read, 28, 8));
        let (blocks, at_once, for_reads) = moved(&device);
        assert_eq!((at_once, for_reads), (2 * round, 2 * round));
        assert!(blocks[0] != before[0] && blocks[1] != before[1]);
        before = blocks;
    }
    device.audit().expect("it is sound");
}

#[test]
fn reads_alone_move_nothing_where_nothing_is_to_be_moved() {
    let still = [("refresh.reads", "10"), ("refresh.moves", "false"), ("refresh.p0", "0.01")];
    let mut device = ssd::<DIVIDES>(&still);
    write_each(&mut device, 0..8);
    let before = place(&device, 0);
    for _ in 0..60 {
        done(&mut device, page(Op::Read, 0));
    }
    assert_eq!((place(&device, 0), events(&device, Event::RefreshedAtOnce)), (before, 0));
}

/// 10^-5 days are 864 ms; a look is taken every millisecond.
const AGING: [(&str, &str); 2] = [("refresh.days", "0.00001"), ("refresh.patrol", "1ms")];

#[test]
fn data_that_gets_old_in_a_gap_is_moved_in_it_as_often_as_it_does() {
    let mut device = ssd::<DIVIDES>(&AGING);
    write_each(&mut device, 0..8);
    let start = device.idle_from();
    done(&mut device, at(start + 800_000_000, page(Op::Read, 40)));
    assert_eq!(events(&device, Event::RefreshedForAge), 0, "it is young");
    done(&mut device, at(start + 1_000_000_000, page(Op::Read, 40)));
    assert_eq!(events(&device, Event::RefreshedForAge), 1);
    done(&mut device, at(start + 6_000_000_000, page(Op::Read, 40)));
    // Each time it is 864 ms old, and the patrol comes by within 24 ms.
    assert_eq!(events(&device, Event::RefreshedForAge), 6, "in six seconds");
    assert_eq!(events(&device, Event::RefreshedAtOnce), 0);
}

#[test]
fn data_that_is_twice_as_old_as_it_should_is_moved_at_once() {
    let mut device = ssd::<DIVIDES>(&AGING);
    write_each(&mut device, 0..8);
    // No gap: each request comes when the one before is done.
    while device.idle_from() < 1_700_000_000 {
        let now = device.idle_from();
        done(&mut device, at(now, page(Op::Read, 40)));
    }
    assert_eq!(events(&device, Event::RefreshedForAge), 0);
    while device.idle_from() < 1_740_000_000 {
        let now = device.idle_from();
        done(&mut device, at(now, page(Op::Read, 40)));
    }
    assert_eq!(events(&device, Event::RefreshedForAge), 1);
    assert_eq!(events(&device, Event::RefreshedAtOnce), 1);
}

#[test]
fn a_gap_ends_where_data_is_old_and_the_scheme_moves_none() {
    let mut device = ssd::<{ DIVIDES | LAZY }>(&AGING);
    write_each(&mut device, 0..8);
    let start = device.idle_from();
    let read = done(&mut device, at(start + 6_000_000_000, page(Op::Read, 40)));
    assert_eq!(read.stages.driver_queue, 0);
    let moved =
        [Event::RefreshedForAge, Event::RefreshedAtOnce].map(|event| events(&device, event));
    assert_eq!(moved, [1, 1], "behind the request");
}

/// All eight blocks are due with the same read, the twentieth of their eight pages: one request
/// does not pay for the whole device.
#[test]
fn one_request_pays_for_four_blocks_at_most() {
    let mut device = ssd::<DIVIDES>(&[("refresh.reads", "80")]);
    write_each(&mut device, 0..64);
    for _ in 0..19 {
        done(&mut device, request(Op::Read, 0, 256));
    }
    assert_eq!(events(&device, Event::RefreshedAtOnce), 0);
    done(&mut device, request(Op::Read, 0, 256));
    assert_eq!(events(&device, Event::RefreshedAtOnce), 4);
    done(&mut device, page(Op::Read, 0));
    assert_eq!(events(&device, Event::RefreshedAtOnce), 8);
}

/// Each block may take a step that makes room and one that moves it. Of three blocks that are due
/// all may be moved, of eight four.
#[test]
fn behind_a_request_no_more_than_two_steps_are_taken_for_each_block_that_it_may_move() {
    for (blocks, steps) in [(3, 6), (8, 8)] {
        let mut device = ssd::<{ DIVIDES | CLEARS }>(&[("refresh.reads", "80")]);
        write_each(&mut device, 0..8 * u64::from(blocks));
        let all = request(Op::Read, 0, blocks * 8 * 4);
        for _ in 0..19 {
            done(&mut device, all);
        }
        assert_eq!(device.scheme().cleared, 0);
        done(&mut device, all);
        assert_eq!(device.scheme().cleared, steps, "{blocks} blocks");
        assert_eq!(events(&device, Event::RefreshedAtOnce), 0);
    }
}
