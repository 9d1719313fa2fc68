//! Who has its turn when: privileges of reads, commands of several planes, and what a die has to
//! do.

use super::super::Clock;
use super::super::suspend_tests::clock as clock_of;
use super::CROWD;
use super::serve::PASSES_MAX;
use super::simulator::COST;
use super::tests::{
    ERASE, PROGRAM, Pairs, READ, TRANSFER, clock, collect, enter, program, read, read_for,
};
use crate::board::nand::geometry::Geometry;
use crate::board::when::When;
use crate::meter::Cause;
use crate::units::{BlockId, Nanos, PlaneId};

/// A request whose erase is suspended waits for the reads, and for suspending; one whose program is
/// passed waits for the read.
#[test]
fn who_is_suspended_or_passed_waits_longer() {
    let both = |pairs: Pairs<'_>, writes: fn(&mut Clock, &Geometry, When) -> When, at: Nanos| {
        let (mut clock, geometry) = clock(pairs);
        let mut ends = [0; 2];
        let start = enter(&mut clock, 0, 0);
        let done = writes(&mut clock, &geometry, start);
        clock.receive_later(0, (0, true), done);
        let start = enter(&mut clock, 1, at);
        let done = read(&mut clock, &geometry, (1, 0), start);
        clock.receive_later(1, (0, true), done);
        clock.run_to_rest();
        collect(&mut clock, &mut ends);
        ends
    };
    let erases = |clock: &mut Clock, _: &Geometry, start| {
        clock.erase_block(PlaneId(0), BlockId(0), Cause::Gc, start)
    };
    let plain = both(&[], erases, 100_000);
    assert_eq!(plain, [ERASE, ERASE + READ + TRANSFER]);
    let suspended = both(&[("timing.suspend", "erase")], erases, 100_000);
    let expected = [ERASE + COST + READ, 100_000 + COST + READ + TRANSFER];
    assert_eq!(suspended, expected);
    // Two programs of one block; the read comes while the first of them is at work and the second
    // waits.
    let programs = |clock: &mut Clock, geometry: &Geometry, start| {
        let first = program(clock, geometry, (0, 0), start);
        program(clock, geometry, (0, 1), start).join(first)
    };
    let first_ends = TRANSFER + PROGRAM;
    assert_eq!(both(&[], programs, 100_000)[0], first_ends + PROGRAM);
    let passed = both(&[("timing.read_priority", "true")], programs, 100_000);
    assert_eq!(passed, [first_ends + READ + PROGRAM, first_ends + READ + TRANSFER]);
}

/// Pages of several planes are loaded one after another and programmed by one command; reads that
/// wait for a die join, and what is at another place of its block does not.
#[test]
fn planes_join() {
    let all = [
        ("device.planes", "2"),
        ("timing.multi_plane_read", "true"),
        ("timing.multi_plane_program", "true"),
    ];
    let (mut clock, geometry) = clock(&all);
    let other = geometry.blocks_of(PlaneId(1)).start;
    let start = enter(&mut clock, 0, 0);
    clock.announce(PlaneId(0), 1, Cause::Host);
    let pages = [(0, 0), (other, 0)].map(|page| program(&mut clock, &geometry, page, start));
    let ends = pages.map(|token| {
        let done = clock.settle(token);
        clock.completion(done)
    });
    assert_eq!(ends, [2 * TRANSFER + PROGRAM; 2]);
    let reads = |clock: &mut Clock, pages: [(u32, u32); 2]| {
        let (at, start) = (clock.now(), enter(clock, 1, clock.now()));
        let tokens = pages.map(|page| read(clock, &geometry, page, start));
        tokens.map(|token| {
            let done = clock.settle(token);
            clock.completion(done) - at
        })
    };
    assert_eq!(reads(&mut clock, [(0, 0), (other, 0)]), [READ + TRANSFER, READ + 2 * TRANSFER]);
    assert_eq!(reads(&mut clock, [(0, 0), (other, 1)]), [READ + TRANSFER, 2 * READ + TRANSFER]);
}

/// A companion's page goes through the controller, so that operations are asked for between the
/// first page and it: one command programs both all the same, by either clock.
#[test]
fn planes_join_behind_a_controller_that_takes_time() {
    for kind in ["event", "call_order"] {
        let pairs = [
            ("device.planes", "2"),
            ("timing.multi_plane_program", "true"),
            ("timing.controller_page", "2us"),
            ("timing.clock", kind),
        ];
        let (mut clock, geometry) = clock_of(&pairs);
        let other = geometry.blocks_of(PlaneId(1)).start;
        let start = clock.enter(0);
        clock.announce(PlaneId(0), 1, Cause::Host);
        let pages = [(0, 0), (other, 0)].map(|page| {
            let handed = clock.host_page(start);
            program(&mut clock, &geometry, page, handed)
        });
        let ends = pages.map(|token| {
            let done = clock.settle(token);
            clock.completion(done)
        });
        assert_eq!(ends, [2_000 + 2 * TRANSFER + PROGRAM; 2], "{kind}");
    }
}

/// A companion that itself waits for the first page's program cannot be waited for by it.
#[test]
fn a_companion_behind_the_first_page_is_not_waited_for() {
    let pairs = [("device.planes", "2"), ("timing.multi_plane_program", "true")];
    let (mut clock, geometry) = clock(&pairs);
    let other = geometry.blocks_of(PlaneId(1)).start;
    let start = clock.enter(0);
    clock.announce(PlaneId(0), 1, Cause::Host);
    let first = program(&mut clock, &geometry, (0, 0), start);
    let copied = read(&mut clock, &geometry, (0, 0), first);
    let second = program(&mut clock, &geometry, (other, 0), copied);
    let done = clock.settle(second);
    assert_eq!(clock.completion(done), 3 * TRANSFER + 2 * PROGRAM + READ);
}

/// A program is at work; another one, a collection's read and a request's read wait, in this order.
/// With read priority the last goes first, and the collection's keeps its turn behind the program.
#[test]
fn a_collections_read_does_not_hold_up_a_requests() {
    let ends = |pairs: Pairs<'_>| {
        let (mut clock, geometry) = clock(pairs);
        let start = enter(&mut clock, 0, 0);
        let programs = [0, 1].map(|page| program(&mut clock, &geometry, (0, page), start));
        let both = programs[0].join(programs[1]);
        clock.receive_later(0, (0, true), both);
        for (request, cause) in [(1, Cause::Gc), (2, Cause::Host)] {
            let start = enter(&mut clock, request, 100_000 * request as Nanos);
            let done = read_for(&mut clock, &geometry, (1, 0), cause, start);
            clock.receive_later(request as u32, (0, true), done);
        }
        clock.run_to_rest();
        let mut ends = [0; 3];
        collect(&mut clock, &mut ends);
        ends
    };
    let first = TRANSFER + PROGRAM;
    let (second, copied) = (first + PROGRAM, first + PROGRAM + READ + TRANSFER);
    assert_eq!(ends(&[]), [second, copied, copied + READ]);
    let (second, copied) = (second + READ, copied + READ);
    let passed = [second, copied, first + READ + TRANSFER];
    assert_eq!(ends(&[("timing.read_priority", "true")]), passed);
}

/// What a die has to do is counted from now on: of what is at work the rest, of a joined command
/// the time that it takes once, of what is suspended what is left.
#[test]
fn a_die_is_free_when_what_it_has_to_do_is_over() {
    let pairs = [("timing.suspend", "erase")];
    let (mut clock, geometry) = clock(&pairs);
    let start = enter(&mut clock, 0, 0);
    let erased = clock.erase_block(PlaneId(0), BlockId(0), Cause::Gc, start);
    clock.receive_later(0, (0, true), erased);
    assert_eq!(clock.free_from(PlaneId(0)), ERASE, "nothing has begun");
    clock.run_until(500_000);
    assert_eq!(clock.free_from(PlaneId(0)), ERASE, "a quarter is done");
    let start = enter(&mut clock, 1, 600_000);
    let done = read(&mut clock, &geometry, (1, 0), start);
    clock.receive_later(1, (0, true), done);
    for time in [610_000, 640_000, 1_000_000] {
        clock.run_until(time);
        assert_eq!(clock.free_from(PlaneId(0)), ERASE + COST + READ, "at {time}");
    }
    let own = [("device.planes", "2"), ("timing.multi_plane_erase", "true")];
    let (mut clock, geometry) = clock_of(&[&[("timing.clock", "event")], &own[..]].concat());
    let start = enter(&mut clock, 0, 0);
    for block in [0, geometry.blocks_of(PlaneId(1)).start].map(BlockId) {
        let plane = geometry.plane_of_block(block);
        let _ = clock.erase_block(plane, block, Cause::Gc, start);
    }
    clock.run_until(500_000);
    assert_eq!([0, 1].map(|plane| clock.free_from(PlaneId(plane))), [ERASE; 2]);
}

/// However many reads come, a program has its turn, whether it was passed or suspended.
#[test]
fn a_program_that_reads_pass_has_its_turn_at_last() {
    let most = Nanos::from(PASSES_MAX) * READ;
    // Passed while it waits: the second program. Suspended at the first read, 69 us from the start:
    // the first, of whose 300 us from the tenth on 59 are over; then the second is passed.
    let passed = TRANSFER + PROGRAM + most + PROGRAM;
    let suspended = 69_000 + COST + most + (PROGRAM - 59_000) + most + PROGRAM;
    let cases = [("timing.read_priority", "true"), ("timing.suspend", "program_erase")];
    for (pairs, expected) in cases.map(|pair| [pair]).into_iter().zip([passed, suspended]) {
        let (mut clock, geometry) = clock(&pairs);
        let start = enter(&mut clock, 0, 0);
        let programs = [0, 1].map(|page| program(&mut clock, &geometry, (0, page), start));
        let both = programs[0].join(programs[1]);
        clock.receive_later(0, (0, true), both);
        // One read comes for each that could be served meanwhile, and more than pass two programs.
        let reads = 10_000;
        for request in 1..=reads {
            let start = enter(&mut clock, request, 20_000 + 49_000 * request as Nanos);
            let done = read(&mut clock, &geometry, (1, 0), start);
            clock.receive_later(request as u32, (0, true), done);
        }
        clock.run_to_rest();
        let mut ends = vec![0; reads + 1];
        collect(&mut clock, &mut ends);
        assert_eq!(ends[0], expected, "{pairs:?}");
        assert!(ends[0] < ends[reads], "{pairs:?}: it was never served while reads came");
    }
}

/// A request that asks for more than is kept at a time takes as long as its die is at work, and
/// leaves less behind than that.
#[test]
fn a_request_that_asks_for_very_much_is_served_meanwhile() {
    let (mut clock, geometry) = clock(&[]);
    let start = enter(&mut clock, 0, 0);
    let reads = CROWD;
    let mut done = start;
    for asked in 1..=reads {
        done = done.join(read(&mut clock, &geometry, (1, 0), start));
        let length = clock.event.as_ref().expect("an event-driven clock").length();
        assert!(length <= CROWD + 8);
        // Each read is two operations, and the request one.
        let is_crowd = 2 * asked >= CROWD;
        assert!(is_crowd || clock.now() == 0, "time passes with {asked} reads");
        assert!(!is_crowd || length > CROWD / 2, "only half of them come first, not {length}");
    }
    assert!(clock.now() > reads / 4 * READ, "time has passed");
    let done = clock.settle(done);
    assert_eq!(clock.completion(done), reads * READ + TRANSFER);
}

/// Who waits for a request where none is under way is told so.
#[test]
#[should_panic(expected = "no request ends")]
fn nobody_waits_for_ever() {
    clock(&[]).0.run_to_end_of_any();
}
