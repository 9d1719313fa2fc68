//! Turns to the nanosecond: what happens at one moment, who joins whom, and how often somebody is
//! suspended.

use super::super::Clock;
use super::super::timeline::Work;
use super::serve::JOIN_WINDOW;
use super::simulator::COST;
use super::tests::{ERASE, PROGRAM, Pairs, READ, TRANSFER, clock, collect, enter, program, read};
use crate::board::nand::clock::Place;
use crate::board::nand::geometry::Geometry;
use crate::board::when::When;
use crate::meter::Cause;
use crate::units::{BlockId, Nanos, PlaneId};

type Asks = fn(&mut Clock, &Geometry, When) -> When;

/// When requests are done that come at these times and ask for this.
fn ends<const N: usize>(pairs: Pairs<'_>, requests: [(Nanos, Asks); N]) -> [Nanos; N] {
    let (mut clock, geometry) = clock(pairs);
    for (request, (at, asks)) in requests.into_iter().enumerate() {
        let start = enter(&mut clock, request, at);
        let done = asks(&mut clock, &geometry, start);
        clock.receive_later(request as u32, (0, true), done);
    }
    clock.run_to_rest();
    let mut ends = [0; N];
    collect(&mut clock, &mut ends);
    ends
}

/// Erases the first block.
fn erases(clock: &mut Clock, _: &Geometry, start: When) -> When {
    clock.erase_block(PlaneId(0), BlockId(0), Cause::Gc, start)
}

/// Programs a page of the third block.
fn programs(clock: &mut Clock, geometry: &Geometry, start: When) -> When {
    program(clock, geometry, (2, 0), start)
}

/// Reads a page of the second block.
fn reads(clock: &mut Clock, geometry: &Geometry, start: When) -> When {
    read(clock, geometry, (1, 0), start)
}

const ERASES: [(&str, &str); 2] = [("timing.suspend", "erase"), ("timing.suspend_limit", "1")];

/// An erase is suspended for a read, not for a program; once and not twice; and not where it would
/// be over before it is suspended.
#[test]
fn an_erase_is_suspended_for_a_read_once_where_that_helps() {
    let done = ends(&ERASES, [(0, erases), (100_000, programs)]);
    assert_eq!(done, [ERASE, ERASE + PROGRAM]);
    let erased = ERASE + COST + READ;
    let done = ends(&ERASES, [(0, erases), (100_000, reads), (1_000_000, reads)]);
    assert_eq!(done, [erased, 100_000 + COST + READ + TRANSFER, erased + READ + TRANSFER]);
    for before in [COST, COST - 1] {
        let done = ends(&ERASES, [(0, erases), (ERASE - before, reads)]);
        assert_eq!(done, [ERASE, ERASE + READ + TRANSFER], "{before} ns before it is over");
    }
    let done = ends(&ERASES, [(0, erases), (ERASE - COST - 1, reads)]);
    assert_eq!(done, [ERASE + COST + READ, ERASE - 1 + READ + TRANSFER]);
}

/// A program is at work while an erase and two reads come. Both reads pass the erase, which has
/// been suspended before it began: it is not suspended any more. With read priority they pass
/// anyway, and it is.
#[test]
fn an_erase_that_was_passed_was_suspended_unless_reads_go_first_anyway() {
    let asked: [(Nanos, Asks); 5] =
        [(0, programs), (20_000, erases), (30_000, reads), (330_000, reads), (1_000_000, reads)];
    let first = TRANSFER + PROGRAM;
    let both = [first, first + READ + TRANSFER, first + 2 * READ + TRANSFER];
    let erased = first + 2 * READ + ERASE;
    assert_eq!(ends(&ERASES, asked), [both[0], erased, both[1], both[2], erased + READ + TRANSFER]);
    let pairs = [ERASES[0], ERASES[1], ("timing.read_priority", "true")];
    let last = 1_000_000 + COST + READ + TRANSFER;
    assert_eq!(ends(&pairs, asked), [both[0], erased + COST + READ, both[1], both[2], last]);
}

/// Two dies are done with an erase at the same moment, and the first of them has another to do. The
/// read that waits for the second die's passes that: what ends comes before what begins.
#[test]
fn all_that_ends_at_a_moment_ends_before_anything_begins() {
    let (mut clock, geometry) = clock(&[("device.dies", "2"), ("timing.read_priority", "true")]);
    let start = enter(&mut clock, 0, 0);
    let erase = |clock: &mut Clock, plane: u32, block| {
        clock.erase_block(PlaneId(plane), BlockId(block), Cause::Gc, start)
    };
    let _ = erase(&mut clock, 0, 0);
    let waits = erase(&mut clock, 0, 3);
    let other = erase(&mut clock, 1, geometry.blocks_of(PlaneId(1)).start);
    let done = read(&mut clock, &geometry, (1, 0), other);
    clock.receive_later(0, (0, true), done);
    clock.run_until(ERASE + READ + TRANSFER);
    let mut ends = [0];
    collect(&mut clock, &mut ends);
    assert_eq!(ends, [ERASE + READ + TRANSFER], "what ends at the last moment has ended");
    let waits = clock.settle(waits);
    assert_eq!(clock.completion(waits), 2 * ERASE + READ);
}

/// Pages of one die, of which the first is at work when the others come: when each is over.
fn joined<const N: usize>(
    pairs: Pairs<'_>,
    asks: impl Fn(&mut Clock, u32) -> [When; N],
) -> [Nanos; N] {
    let (mut clock, geometry) = clock(&[&[("device.planes", "2")], pairs].concat());
    let _ = clock.enter(0);
    let tokens = asks(&mut clock, geometry.blocks_of(PlaneId(1)).start);
    tokens.map(|token| {
        let done = clock.settle(token);
        clock.completion(done)
    })
}

/// Of each plane one read joins, whichever begins; those of one plane never do.
#[test]
fn a_command_has_one_page_of_each_plane() {
    let reads = |clock: &mut Clock, pages: [(u32, u32); 3]| {
        let (_, geometry) = super::tests::clock(&[("device.planes", "2")]);
        pages.map(|page| read(clock, &geometry, page, When::START))
    };
    let all = [("timing.multi_plane_read", "true")];
    let (one, two) = (READ + TRANSFER, 2 * READ + TRANSFER);
    let done = joined(&all, |clock, other| reads(clock, [(0, 0), (other, 0), (other, 0)]));
    assert_eq!(done, [one, one + TRANSFER, two]);
    let done = joined(&all, |clock, other| {
        let [first, second, third] = reads(clock, [(other, 0), (other, 0), (0, 0)]);
        [first, third, second]
    });
    assert_eq!(done, [one, one + TRANSFER, two], "the third joins the first");
    let any = [all[0], ("timing.multi_plane_same_offset", "false")];
    let done = joined(&any, |clock, other| reads(clock, [(0, 0), (other, 1), (0, 0)]));
    assert_eq!(done, [one, one + TRANSFER, two], "at another place of its block");
}

/// Only what is switched on, and only the same work of pages that are known.
#[test]
fn what_does_not_fit_has_a_command_of_its_own() {
    let erases = |clock: &mut Clock, other: u32| {
        [(0, 0), (1, other)].map(|(plane, block)| {
            clock.erase_block(PlaneId(plane), BlockId(block), Cause::Gc, When::START)
        })
    };
    let reads = [("timing.multi_plane_read", "true")];
    assert_eq!(joined(&reads, erases), [ERASE, 2 * ERASE]);
    let own = [("timing.multi_plane_erase", "true")];
    assert_eq!(joined(&own, erases), [ERASE; 2]);
    let (_, geometry) = clock(&[("device.planes", "2")]);
    let unknown = joined(&reads, |clock, other| {
        let first = read(clock, &geometry, (other, 0), When::START);
        [first, clock.read_cells(Place::plane(PlaneId(0)), Cause::Host, When::START)]
    });
    assert_eq!(unknown, [READ + TRANSFER, 2 * READ], "the cells of a plane, whatever page");
    // Both have their data at the same moment, and the program comes first.
    let both = [reads[0], ("timing.multi_plane_program", "true"), ("timing.page_transfer", "0us")];
    let mixed = joined(&both, |clock, other| {
        let programmed = program(clock, &geometry, (0, 0), When::START);
        [programmed, read(clock, &geometry, (other, 0), When::START)]
    });
    assert_eq!(mixed, [PROGRAM, PROGRAM + READ]);
}

/// So many wait that the last one of the other plane is looked at just so, or just not.
#[test]
fn only_so_many_that_wait_are_looked_at() {
    let (_, geometry) = clock(&[("device.planes", "2")]);
    for (others, expected) in [(JOIN_WINDOW - 1, READ), (JOIN_WINDOW, 2 * READ)] {
        let [done] = joined(&[("timing.multi_plane_read", "true")], |clock, other| {
            for _ in 0..=others {
                let _ = read(clock, &geometry, (0, 0), When::START);
            }
            [read(clock, &geometry, (other, 0), When::START)]
        });
        assert_eq!(done, expected + 2 * TRANSFER, "behind {others} others");
    }
}

/// A program that has begun waits for no companion that comes late.
#[test]
fn who_has_begun_waits_for_nobody() {
    let (mut clock, geometry) =
        clock(&[("device.planes", "2"), ("timing.multi_plane_program", "true")]);
    let other = geometry.blocks_of(PlaneId(1)).start;
    let start = enter(&mut clock, 0, 0);
    clock.announce(PlaneId(0), 1, Cause::Host);
    let first = program(&mut clock, &geometry, (0, 0), start);
    clock.run_until(TRANSFER + 1);
    let second = program(&mut clock, &geometry, (other, 0), start);
    let ends = [first, second].map(|token| {
        let done = clock.settle(token);
        clock.completion(done)
    });
    assert_eq!(ends, [TRANSFER + PROGRAM, TRANSFER + 2 * PROGRAM]);
}

/// A program of the first die waits for what the second does, and a read behind it is done. An
/// erase of the program's block waits for it, though it could begin at once.
#[test]
fn an_erase_waits_for_what_was_asked_for_before_though_other_work_is_over() {
    let (mut clock, geometry) = clock(&[("device.dies", "2")]);
    let start = enter(&mut clock, 0, 0);
    let other = geometry.blocks_of(PlaneId(1)).start;
    let far = clock.erase_block(PlaneId(1), BlockId(other), Cause::Gc, start);
    let _ = program(&mut clock, &geometry, (0, 0), far);
    let _ = read(&mut clock, &geometry, (1, 0), start);
    clock.run_until(2 * READ);
    let start = enter(&mut clock, 1, 2 * READ);
    let erased = erases(&mut clock, &geometry, start);
    let erased = clock.settle(erased);
    assert_eq!(clock.completion(erased), ERASE + TRANSFER + PROGRAM + ERASE);
}

/// The link is drawn by nobody, and what was suspended at the moment it began has done nothing.
#[test]
fn nothing_is_drawn_of_the_link_and_of_no_time() {
    let (mut clock, geometry) = clock(&[("timing.suspend", "erase")]);
    clock.timeline_mut().start(100);
    let start = clock.enter(0);
    let start = clock.send_later(0, 500, start);
    let erased = erases(&mut clock, &geometry, start);
    clock.run_until(500);
    let start = clock.enter(500);
    let done = reads(&mut clock, &geometry, start);
    clock.receive_later(0, (700, true), erased.join(done));
    clock.run_to_rest();
    let (spans, _) = clock.timeline_mut().take();
    let mut drawn: Vec<_> = spans.iter().map(|span| (span.start, span.end, span.work)).collect();
    drawn.sort_by_key(|&(start, end, _)| (start, end));
    let read = 500 + COST + READ;
    let expected = [
        (500, 500 + COST, Work::Suspend),
        (500 + COST, read, Work::Read),
        (read, read + TRANSFER, Work::Transfer),
        (read, read + ERASE, Work::Erase),
    ];
    assert_eq!(drawn, expected);
}
