//! What each operation is under an event-driven clock: when it is over, and what it waits for.

use super::event::Other;
use super::suspend_tests::clock as small_clock;
use super::*;
use crate::meter::Cause;

const READ: Nanos = 50_000;
const PROGRAM: Nanos = 300_000;
const ERASE: Nanos = 2_000_000;
const TRANSFER: Nanos = 10_000;

fn clock(pairs: &[(&str, &str)]) -> (Clock, Geometry) {
    small_clock(&[&[("timing.clock", "event")], pairs].concat())
}

/// When all is over that a token names.
fn end(clock: &mut Clock, token: When) -> Nanos {
    let done = clock.settle(token);
    clock.completion(done)
}

fn read(clock: &mut Clock, geometry: &Geometry, (block, offset): (u32, u32), after: When) -> When {
    let at = Place::of(geometry, geometry.page(BlockId(block), offset));
    clock.read_page(at, Cause::Host, after)
}

fn program(
    clock: &mut Clock,
    geometry: &Geometry,
    (block, offset): (u32, u32),
    load: Load,
    after: When,
) -> When {
    let block = BlockId(block);
    let at = (geometry.plane_of_block(block), block, geometry.page(block, offset));
    clock.program_page(at, load, Cause::Host, after)
}

/// Stations 0 to 3 are the cells of four dies, 4 and 5 two channels.
#[test]
fn the_other_stations_are_behind_those_of_cells_and_channels() {
    let (clock, _) = clock(&[("device.channels", "2"), ("device.dies", "2")]);
    let others = [Other::Controller, Other::Ram, Other::Dram, Other::ToDevice, Other::ToHost];
    assert_eq!(others.map(|other| clock.other(other)), [6, 7, 8, 9, 10]);
}

/// Pages of data, pages of the map, an access to the DRAM, one after another, and a second move in
/// the RAM that waits for the first.
#[test]
fn memories_take_their_time_and_tell_for_what() {
    let (mut clock, _) = clock(&[]);
    let start = clock.enter(0);
    let data = clock.move_in_ram(RamWork::Data, 5_000, start);
    let waits = clock.move_in_ram(RamWork::Data, 1_000, start);
    let map = clock.move_in_ram(RamWork::Map, 3_000, data);
    let all = clock.access_dram(700, map);
    // The second move came before that of the map.
    assert_eq!(end(&mut clock, data), 5_000);
    assert_eq!(end(&mut clock, waits), 6_000);
    let done = clock.settle(all);
    assert_eq!(clock.completion(done), 9_700);
    let expected = PathSplit { buffer: 5_000, map: 4_700, ..PathSplit::default() };
    assert_eq!(clock.split(0, done), expected, "waiting for the RAM counts to the map's move");
}

/// A mapping unit crosses the channel in a quarter of a page's 10 us, when its flash page is there.
#[test]
fn a_mapping_unit_leaves_the_register_when_its_page_is_sensed() {
    let (mut clock, geometry) = clock(&[("device.mapping_unit", "512")]);
    let start = clock.enter(0);
    let at = Place::of(&geometry, geometry.page(BlockId(1), 0));
    let _ = clock.read_cells(at, Cause::Host, start);
    let unit = clock.transfer_unit(at, Cause::Host, start);
    assert_eq!(end(&mut clock, unit), READ + 2_500);
}

/// Two operations come at once, a program first: one that takes no time on the channel does not
/// lose its turn there.
#[test]
fn a_program_that_is_loaded_in_no_time_keeps_its_turn() {
    let (mut clock, geometry) = clock(&[("timing.page_transfer", "0us")]);
    let start = clock.enter(0);
    let programmed = program(&mut clock, &geometry, (0, 0), Load::Channel, start);
    let read = read(&mut clock, &geometry, (1, 0), start);
    assert_eq!(end(&mut clock, programmed), PROGRAM);
    assert_eq!(end(&mut clock, read), PROGRAM + READ);
}

/// Even where the read that filled the register was of no page.
#[test]
fn what_is_in_the_register_does_not_cross_the_channel() {
    let (mut clock, geometry) = clock(&[("timing.copyback", "true")]);
    let start = clock.enter(0);
    let sensed = clock.read_cells(Place::plane(PlaneId(0)), Cause::Host, start);
    let programmed = program(&mut clock, &geometry, (1, 0), Load::Register, sensed);
    assert_eq!(end(&mut clock, programmed), READ + PROGRAM);
}

/// One companion is announced, and two pages follow: the third is no companion, and nobody waits
/// for it.
#[test]
fn as_many_are_waited_for_as_were_announced() {
    let pairs = [("device.planes", "2"), ("timing.multi_plane_program", "true")];
    let (mut clock, geometry) = clock(&pairs);
    let other = geometry.blocks_of(PlaneId(1)).start;
    let start = clock.enter(0);
    clock.announce(PlaneId(0), 1, Cause::Host);
    let pages = [(0, 0), (other, 0), (0, 1)];
    let ends = pages
        .map(|page| program(&mut clock, &geometry, page, Load::Channel, start))
        .map(|token| end(&mut clock, token));
    let together = 2 * TRANSFER + PROGRAM;
    assert_eq!(ends, [together, together, together + PROGRAM]);
}

/// A page is programmed, its block's page is marked for 30 us, and the block is erased.
#[test]
fn an_erase_waits_for_the_marks_of_its_block() {
    let (mut clock, geometry) = clock(&[("timing.oob_write", "30us")]);
    let start = clock.enter(0);
    let _ = program(&mut clock, &geometry, (0, 0), Load::Channel, start);
    clock.write_oob(PlaneId(0), BlockId(0));
    let erased = clock.erase_block(PlaneId(0), BlockId(0), Cause::Gc, start);
    assert_eq!(end(&mut clock, erased), TRANSFER + PROGRAM + 30_000 + ERASE);
}

/// A read is two operations: the cells', and the channel's.
#[test]
fn operations_are_counted_where_there_are_any() {
    for (kind, expected) in [("event", 4), ("call_order", 0)] {
        let (mut clock, geometry) = clock(&[("timing.clock", kind)]);
        let start = clock.enter(0);
        for offset in [0, 1] {
            let _ = read(&mut clock, &geometry, (1, offset), start);
        }
        assert_eq!(clock.operations_and_inexact(), (expected, 0), "{kind}");
    }
}

/// Behind all that its plane has to do, and behind nothing that another one has.
#[test]
fn what_comes_behind_a_plane_waits_for_all_that_it_was_given() {
    for kind in ["event", "call_order"] {
        let (mut clock, _) = clock(&[("timing.clock", kind), ("device.dies", "2")]);
        let start = clock.enter(100);
        for block in [0, 1].map(BlockId) {
            let _ = clock.erase_block(PlaneId(0), block, Cause::Gc, start);
        }
        let [idle, busy] = [1, 0].map(|plane| clock.behind(PlaneId(plane), start));
        assert_eq!(end(&mut clock, idle), 100, "{kind}");
        assert_eq!(end(&mut clock, busy), 100 + 2 * ERASE, "{kind}");
    }
}

/// Two requests come at once, each 7 us on its way to the device and 3 us back: the first in the
/// other direction, the second over a link of one.
#[test]
fn requests_cross_the_link_one_after_another() {
    let (mut clock, _) = clock(&[]);
    let start = clock.enter(0);
    let [first, second] = [0, 1].map(|slot| clock.send_later(slot, 7_000, start));
    clock.receive_later(0, (3_000, false), first);
    clock.receive_later(1, (3_000, true), second);
    clock.run_to_rest();
    let told = std::iter::from_fn(|| clock.next_ended());
    let times: Vec<_> = told.map(|ended| (ended.slot, ended.begun, ended.completed)).collect();
    assert_eq!(times, [(0, 7_000, 10_000), (1, 14_000, 17_000)]);
}

/// Two dies of one channel have read at once: one page waits while the other crosses.
#[test]
fn waiting_for_a_channel_is_counted_until_it_is_counted_anew() {
    let (mut clock, geometry) = clock(&[("device.dies", "2")]);
    let other = geometry.blocks_of(PlaneId(1)).start;
    let start = clock.enter(0);
    let reads = [0, other].map(|block| read(&mut clock, &geometry, (block, 0), start));
    assert_eq!(end(&mut clock, reads[0].join(reads[1])), READ + 2 * TRANSFER);
    let expected = ServiceTime {
        read: 2 * READ,
        transfer: 2 * TRANSFER,
        bus_wait: TRANSFER,
        ..ServiceTime::default()
    };
    assert_eq!(clock.service_time(), expected);
    assert_eq!(clock.cell_operations().reads, 2);
    clock.start_measuring();
    assert_eq!(clock.service_time(), ServiceTime::default());
    assert_eq!(clock.cell_operations(), CellOperations::default());
    assert_eq!(clock.now(), READ + 2 * TRANSFER, "time does not begin anew");
}

/// Dies 2 and 3 are behind the second channel; one erases while the other's page crosses.
#[test]
fn a_page_crosses_its_own_channel() {
    let (mut clock, geometry) = clock(&[("device.channels", "2"), ("device.dies", "2")]);
    let [second, third] = [2, 3].map(|die| geometry.blocks_of(PlaneId(die)).start);
    let start = clock.enter(0);
    let erased = clock.erase_block(PlaneId(3), BlockId(third), Cause::Gc, start);
    let read = read(&mut clock, &geometry, (second, 0), start);
    assert_eq!(end(&mut clock, read), READ + TRANSFER);
    assert_eq!(end(&mut clock, erased), ERASE);
}

/// Its read ends with its program; where commands may join as well.
#[test]
fn a_copyback_is_one_command() {
    for pairs in [&[][..], &[("device.planes", "2"), ("timing.multi_plane_read", "true")]] {
        let (mut clock, geometry) = clock(&[&[("timing.copyback", "true")], pairs].concat());
        let start = clock.enter(0);
        let at = Place::of(&geometry, geometry.page(BlockId(0), 0));
        let target = (geometry.page(BlockId(1), 0), BlockId(1));
        let read = clock.read_for_program(at, target, Cause::Host, start);
        let programmed = program(&mut clock, &geometry, (1, 0), Load::Register, read);
        let next = program(&mut clock, &geometry, (1, 1), Load::Channel, start);
        assert_eq!(end(&mut clock, read), READ + PROGRAM, "{pairs:?}");
        assert_eq!(end(&mut clock, programmed), READ + PROGRAM, "{pairs:?}");
        assert_eq!(end(&mut clock, next), READ + 2 * PROGRAM, "{pairs:?}");
    }
}

#[test]
fn one_operation_stands_for_all_that_a_token_names() {
    let (mut clock, geometry) = clock(&[("device.dies", "2")]);
    let start = clock.enter(100);
    assert_eq!(clock.narrow(start), start, "a moment stays one");
    let read = read(&mut clock, &geometry, (1, 0), start);
    let erased = clock.erase_block(PlaneId(1), BlockId(16), Cause::Gc, start);
    assert_eq!(clock.narrow(erased), erased, "so does one operation");
    let both = clock.narrow(read.join(erased));
    assert_eq!(both.operations().map(|span| span.last - span.first).collect::<Vec<_>>(), [0]);
    assert_eq!(end(&mut clock, both), 100 + ERASE);
}
