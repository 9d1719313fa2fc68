//! What tokens name and come to: operations that stand for others, and what paths were spent on.

use super::super::{Clock, PathSplit};
use super::graph::Node;
use super::tests::{ERASE, READ, TRANSFER, clock, read, read_for};
use crate::board::when::When;
use crate::meter::Cause;
use crate::units::{BlockId, Nanos, PlaneId};

/// Erases of these blocks of the first plane, all of them.
fn erases(clock: &mut Clock, blocks: std::ops::Range<u32>, start: When) -> When {
    blocks.fold(start, |all, block| {
        all.join(clock.erase_block(PlaneId(0), BlockId(block), Cause::Gc, start))
    })
}

fn end(clock: &mut Clock, token: When) -> Nanos {
    let done = clock.settle(token);
    clock.completion(done)
}

/// Eight erases are named one by one. Of nine one operation is made that stands for all, which
/// whoever names the same follows as well; of ten another one. A read is two operations.
#[test]
fn one_operation_stands_for_more_than_eight_as_long_as_they_are_the_same() {
    let behind = |blocks: u32| {
        let (mut clock, geometry) = clock(&[("device.dies", "2")]);
        let other = (geometry.blocks_of(PlaneId(1)).start, 0);
        let start = clock.enter(0);
        let all = erases(&mut clock, 0..blocks, start);
        let first = read(&mut clock, &geometry, other, all);
        let second = read(&mut clock, &geometry, other, all);
        let taken = clock.operations_and_inexact().0;
        let more = all.join(erases(&mut clock, blocks..blocks + 1, start));
        let third = read(&mut clock, &geometry, other, more);
        let ends = [first, second, third].map(|token| end(&mut clock, token));
        (taken, ends)
    };
    let ends = |blocks: Nanos| {
        let first = blocks * ERASE + READ + TRANSFER;
        [first, first + READ, first + ERASE]
    };
    assert_eq!(behind(8), (8 + 2 * 2, ends(8)));
    assert_eq!(behind(9), (9 + 1 + 2 * 2, ends(9)));
}

/// Cells and channel of a page of data each count as what they are, of the map both as map, and of
/// somebody else's page the wait as flash.
#[test]
fn what_a_path_was_spent_on() {
    let split = |cause: Cause, foreign: bool| {
        let (mut clock, geometry) = clock(&[]);
        let start = clock.enter(0);
        let page = read_for(&mut clock, &geometry, (1, 0), cause, start);
        let done = clock.settle(if foreign { start.waits_for(page) } else { page });
        clock.split(0, done)
    };
    let (none, whole) = (PathSplit::default(), READ + TRANSFER);
    let own = PathSplit { flash: READ, channel: TRANSFER, ..none };
    assert_eq!(split(Cause::Host, false), own);
    assert_eq!(split(Cause::Translate, false), PathSplit { map: whole, ..none });
    assert_eq!(split(Cause::Host, true), PathSplit { flash: whole, ..none });
}

/// An operation of which nobody said that it waits for nothing more.
#[test]
#[should_panic(expected = "1 operations wait for each other")]
fn a_device_that_does_not_come_to_rest_says_so() {
    let (mut clock, _) = clock(&[]);
    let event = clock.event.as_mut().expect("an event-driven clock");
    event.graph.add(Node::join());
    clock.run_to_rest();
}
