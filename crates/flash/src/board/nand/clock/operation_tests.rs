//! What each operation takes and counts, where planes are, and what is drawn of the one server.

use super::suspend_tests::clock;
use super::*;
use crate::board::settings::BoardSettings;
use crate::meter::Cause;
use crate::settings::Groups as _;

const READ: Nanos = 50_000;
const PROGRAM: Nanos = 300_000;
const ERASE: Nanos = 2_000_000;
const TRANSFER: Nanos = 10_000;
const SERIAL: (&str, &str) = ("timing.profile", "serial");
const PARALLEL: (&str, &str) = ("timing.profile", "parallel");

fn page(geometry: &Geometry, block: u32, offset: u32) -> Place {
    Place::of(geometry, geometry.page(BlockId(block), offset))
}

/// Two channels of two dies of two planes.
#[test]
fn planes_are_cells_alone_or_with_those_of_their_die_or_channel() {
    let shape = [("device.channels", "2"), ("device.dies", "2"), ("device.planes", "2")];
    let (_, geometry) = clock(&shape);
    for (key, value, cells, count) in [
        ("timing.plane_parallel", "true", [0, 1, 2, 3, 4, 5, 6, 7], 8),
        ("timing.plane_parallel", "false", [0, 0, 1, 1, 2, 2, 3, 3], 4),
        ("timing.die_interleave", "false", [0, 0, 0, 0, 1, 1, 1, 1], 2),
    ] {
        let mut config = BoardSettings::default();
        config.set(key, value).expect("legal settings");
        let (sites, known) = sites(&config.timing, &geometry);
        let of = |what: fn(&Site) -> u32| sites.iter().map(what).collect::<Vec<_>>();
        assert_eq!((of(|site| site.cells), known), (cells.to_vec(), count), "{key} = {value}");
        assert_eq!(of(|site| site.die), [0, 0, 1, 1, 2, 2, 3, 3]);
        assert_eq!(of(|site| site.plane), [0, 1, 0, 1, 0, 1, 0, 1], "in its die");
        assert_eq!(of(|site| site.channel), [0, 0, 0, 0, 1, 1, 1, 1]);
    }
}

/// For eight pages a block, and never more than 1024.
#[test]
fn what_is_remembered_grows_with_the_pages_of_a_block() {
    let (_, geometry) = clock(&[]);
    assert_eq!((channel_gaps(&geometry), commands_kept(&geometry)), (4 * 8, 4 * 8 + 64));
    let (_, geometry) = clock(&[("device.pages_per_block", "512")]);
    assert_eq!((channel_gaps(&geometry), commands_kept(&geometry)), (1024, 1024));
}

/// One of each, each after the one before: no two take the same time, but the reads and programs.
#[test]
fn every_operation_takes_its_time_and_counts_as_what_it_is() {
    let own = [
        ("timing.copyback", "true"),
        ("timing.oob_read", "7us"),
        ("timing.oob_write", "9us"),
        ("timing.controller_page", "4us"),
    ];
    for profile in [SERIAL, PARALLEL] {
        let (mut clock, geometry) = clock(&[&own[..], &[profile]].concat());
        let (plane, block, at) = (PlaneId(0), BlockId(1), page(&geometry, 0, 0));
        let [first, second] = [0, 1].map(|offset| geometry.page(block, offset));
        let target = |ppn| (plane, block, ppn);
        let mut time = 0;
        let mut passes = |clock: &Clock, after: When, length: Nanos, what: &str| {
            time += length;
            assert_eq!(clock.completion(after), time, "{what}, {}", profile.1);
            after
        };
        let when = clock.admit(0);
        let when = clock.read_page(at, Cause::Host, when);
        let when = passes(&clock, when, READ + TRANSFER, "a page");
        let when = clock.read_cells(at, Cause::Host, when);
        let when = passes(&clock, when, READ, "to the register");
        let when = clock.read_oob(at, Cause::Host, when);
        let when = passes(&clock, when, 7_000, "out-of-band");
        let when = clock.read_spare(at, Cause::Host, 11_000, when);
        let when = passes(&clock, when, 11_000, "a part of the map");
        let when = clock.read_for_program(at, (first, block), Cause::Gc, when);
        let when = passes(&clock, when, READ, "a copyback's read");
        let when = clock.program_page(target(first), Load::Register, Cause::Gc, when);
        let when = passes(&clock, when, PROGRAM, "a copyback's program");
        let when = clock.program_page(target(second), Load::Channel, Cause::Host, when);
        let when = passes(&clock, when, TRANSFER + PROGRAM, "a program");
        clock.write_oob(plane, block);
        let when = clock.erase_block(plane, block, Cause::Gc, when);
        let when = passes(&clock, when, 9_000 + ERASE, "a mark and an erase");
        let when = clock.host_page(when);
        let when = passes(&clock, when, 4_000, "a page of the host");
        let when = clock.search(3_000, when);
        let when = passes(&clock, when, 3_000, "a search");
        let when = clock.move_in_ram(RamWork::Data, 5_000, when);
        let when = passes(&clock, when, 5_000, "a move in RAM");
        let when = clock.access_dram(6_000, when);
        let _ = passes(&clock, when, 6_000, "an access to the DRAM");
        // Whoever waits for it has it on a path of its own.
        clock.host_memory_is_read(8_000);
        let busy = ServiceTime {
            read: 3 * READ + 7_000 + 11_000,
            program: 2 * PROGRAM + 9_000,
            erase: ERASE,
            transfer: 2 * TRANSFER,
            transfer_in: TRANSFER,
            controller: 4_000,
            search: 3_000,
            ram: 5_000 + 6_000,
            host_memory: 8_000,
            ..ServiceTime::default()
        };
        assert_eq!(clock.service_time(), busy, "{}", profile.1);
        let operations = CellOperations { reads: 3, programs: 2, erases: 1 };
        assert_eq!(clock.cell_operations(), operations, "{}", profile.1);
        let idle = clock.idle_from();
        clock.start_measuring();
        assert_eq!(clock.service_time(), ServiceTime::default());
        assert_eq!(clock.cell_operations(), CellOperations::default());
        assert_eq!(clock.idle_from(), idle, "what is booked stays booked");
    }
}

/// Three mapping units of a flash page of four.
#[test]
fn a_page_is_sensed_once_for_all_of_its_mapping_units() {
    for profile in [SERIAL, PARALLEL] {
        let (mut clock, geometry) = clock(&[("device.mapping_unit", "512"), profile]);
        let at = page(&geometry, 1, 0);
        let start = clock.admit(0);
        let _ = clock.read_cells(at, Cause::Host, start);
        let units = [(); 3].map(|()| clock.transfer_unit(at, Cause::Host, start));
        assert_eq!(clock.completion(units[2]), READ + 3 * TRANSFER / 4, "{}", profile.1);
        let busy = clock.service_time();
        assert_eq!((busy.read, busy.transfer), (READ, 3 * TRANSFER / 4), "{}", profile.1);
        assert_eq!(clock.cell_operations().reads, 1, "{}", profile.1);
    }
}

#[test]
fn spare_areas_that_are_read_in_no_time_are_free() {
    for profile in [SERIAL, PARALLEL] {
        let (mut clock, geometry) = clock(&[profile]);
        let at = page(&geometry, 1, 0);
        let start = clock.admit(100);
        assert_eq!(clock.read_oob(at, Cause::Host, start), start);
        assert_eq!(clock.service_time(), ServiceTime::default());
        assert!(!clock.marks_take_time(), "nor do marks");
    }
    assert!(clock(&[("timing.oob_write", "9us")]).0.marks_take_time());
}

/// Lower pages take 50 us and upper ones 90 us, four mapping units each; a block's pages are its
/// own.
#[test]
fn a_mapping_unit_takes_the_time_of_its_flash_page() {
    let pairs = [("timing.read_pages", "50us,90us"), ("device.mapping_unit", "512"), SERIAL];
    for (offset, expected) in [(0, 50_000), (3, 50_000), (4, 90_000), (7, 90_000), (8, 50_000)] {
        let (mut clock, geometry) = clock(&pairs);
        let start = clock.admit(0);
        let read = clock.read_cells(page(&geometry, 3, offset), Cause::Host, start);
        assert_eq!(clock.completion(read), expected, "unit {offset}");
    }
}

#[test]
fn a_block_takes_the_times_of_its_mode() {
    let pairs = [
        ("device.bits_per_cell", "3"),
        ("timing.slc_read", "20us"),
        ("timing.slc_program", "200us"),
        ("timing.slc_erase", "1ms"),
        SERIAL,
    ];
    let dense = [READ, TRANSFER + PROGRAM, ERASE];
    let (mut clock, geometry) = clock(&pairs);
    for (slc, expected) in
        [(false, dense), (true, [20_000, TRANSFER + 200_000, 1_000_000]), (false, dense)]
    {
        clock.set_slc(BlockId(1), slc);
        for (block, expected) in [(0, dense), (1, expected)] {
            let at = page(&geometry, block, 0);
            let (plane, ppn, block) = (at.plane, geometry.page(BlockId(block), 0), BlockId(block));
            let start = clock.admit(0);
            let mut before = clock.completion(start);
            let took = [
                clock.read_cells(at, Cause::Host, start),
                clock.program_page((plane, block, ppn), Load::Channel, Cause::Host, start),
                clock.erase_block(plane, block, Cause::Gc, start),
            ]
            .map(|done| {
                let from = std::mem::replace(&mut before, done.time());
                done.time() - from
            });
            assert_eq!(took, expected, "block {block} while SLC mode is {slc}");
        }
    }
}

/// Pages 0 to 2 of the first block, to the second block of the same plane or the first of another
/// one.
#[test]
fn a_copy_stays_in_its_plane_where_nothing_speaks_against_it() {
    let copies = |pairs: &[(&str, &str)], to: (u32, u32), offset: u32| {
        let (clock, geometry) = clock(&[&[("device.planes", "2")], pairs].concat());
        let from = geometry.page(BlockId(0), offset);
        clock.copies_back(&geometry, from, geometry.page(BlockId(to.0), to.1))
    };
    let on = ("timing.copyback", "true");
    let parity = [on, ("timing.copyback_same_parity", "true")];
    assert!(copies(&[on], (1, 0), 1));
    assert!(!copies(&[], (1, 0), 1), "the part cannot");
    assert!(!copies(&[on, ("device.mapping_unit", "512")], (1, 0), 1), "units share a flash page");
    assert!(!copies(&[on], (16, 0), 1), "another plane");
    // Each page of the source to each of the target.
    for (offset, expected) in [[true, false, true], [false, true, false]].into_iter().enumerate() {
        let ours = [0, 1, 2].map(|to| copies(&parity, (1, to), offset as u32));
        assert_eq!(ours, expected, "from page {offset}");
    }
}

/// The second of two channels with a die each, from 1 ms on: data come out behind a read and go in
/// before a program; an erase has none.
#[test]
fn one_server_is_drawn_where_it_works() {
    let pairs = [SERIAL, ("device.channels", "2"), ("timing.controller_page", "4us")];
    let (mut clock, geometry) = clock(&pairs);
    let start = clock.admit(1_000_000);
    clock.timeline_mut().start(20);
    let (plane, block) = (PlaneId(1), BlockId(16));
    let _ = clock.read_page(page(&geometry, 16, 0), Cause::Host, start);
    let target = (plane, block, geometry.page(block, 0));
    let _ = clock.program_page(target, Load::Channel, Cause::Host, start);
    let _ = clock.erase_block(plane, block, Cause::Host, start);
    let handed = clock.host_page(start);
    let moved = clock.move_in_ram(RamWork::Data, 5_000, start);
    assert_eq!([handed, moved].map(When::time), [3_374_000, 3_379_000]);
    let (spans, left_out) = clock.timeline_mut().take();
    let drawn: Vec<_> =
        spans.iter().map(|span| (span.unit, span.work, span.start, span.end)).collect();
    let (die, channel) = (Unit::Die(1), Unit::Channel(1));
    let expected = [
        (die, Work::Read, 1_000_000, 1_050_000),
        (channel, Work::Transfer, 1_050_000, 1_060_000),
        (die, Work::Program, 1_070_000, 1_370_000),
        (channel, Work::Transfer, 1_060_000, 1_070_000),
        (die, Work::Erase, 1_370_000, 3_370_000),
        (Unit::Controller, Work::Control, 3_370_000, 3_374_000),
        (Unit::Ram, Work::Move, 3_374_000, 3_379_000),
    ];
    assert_eq!((drawn, left_out), (expected.to_vec(), 0));
}

/// A request that entered at 1 ms sends a page over the link until 1.5 ms, and then reads one.
#[test]
fn the_link_is_part_of_a_path_as_a_channel_is() {
    for profile in [SERIAL, PARALLEL] {
        let (mut clock, geometry) = clock(&[profile]);
        let start = clock.admit(1_000_000);
        assert_eq!(clock.crosses_link(900_000, start), start, "it was across before");
        let across = clock.crosses_link(1_500_000, start);
        assert_eq!(clock.completion(across), 1_500_000);
        let done = clock.read_page(page(&geometry, 0, 0), Cause::Host, across);
        let expected =
            PathSplit { channel: 500_000 + TRANSFER, flash: READ, ..PathSplit::default() };
        assert_eq!(clock.split(1_000_000, done), expected, "{}", profile.1);
    }
}

/// What has crossed the link at 500 ns: the one server waits for it, and others do not.
#[test]
fn a_request_begins_when_it_is_across() {
    for (profile, free) in [(SERIAL, 500), (PARALLEL, 0)] {
        let (mut clock, _) = clock(&[profile]);
        let _ = clock.admit(0);
        let begun = clock.begin(500);
        assert_eq!((clock.known(begun), clock.now()), (500, free), "{}", profile.1);
        assert_eq!(begun.time(), 500, "{}", profile.1);
    }
}

#[test]
fn what_is_free_or_possible_is_said() {
    let with = |pairs: &[(&str, &str)]| clock(pairs).0;
    assert!(with(&[]).host_pages_are_free());
    assert!(!with(&[("timing.controller_page", "4us")]).host_pages_are_free());
    assert!(with(&[("timing.copyback", "true")]).copies_back_at_all());
    assert!(!with(&[]).copies_back_at_all());
    let mark = ("timing.oob_write", "9us");
    assert!(with(&[PARALLEL]).programs_in_parallel());
    assert!(!with(&[PARALLEL, mark]).programs_in_parallel());
    assert!(!with(&[SERIAL]).programs_in_parallel());
    assert!(!with(&[SERIAL, mark]).programs_in_parallel());
}

/// Three copies of a page each, behind a request that entered at 700 ns.
#[test]
fn copies_follow_one_another_on_the_one_server_alone() {
    let each = READ + PROGRAM + 2 * TRANSFER;
    let (mut serial, _) = clock(&[SERIAL]);
    let _ = serial.admit(700);
    assert_eq!(serial.copies_on_server(Cause::Gc, 3), Some((700, each)));
    assert_eq!(serial.idle_from(), 700 + 3 * each);
    let (mut parallel, _) = clock(&[PARALLEL]);
    assert_eq!(parallel.copies_on_server(Cause::Gc, 3), None);
    assert_eq!(parallel.cell_operations(), CellOperations::default());
}

/// Where commands may join, a copyback's read and program are two of them.
#[test]
fn a_copyback_is_booked_one_by_one_where_commands_join() {
    let pairs =
        [("timing.copyback", "true"), ("device.planes", "2"), ("timing.multi_plane_read", "true")];
    let (mut clock, geometry) = clock(&pairs);
    let start = clock.admit(0);
    let target = (geometry.page(BlockId(1), 0), BlockId(1));
    let read = clock.read_for_program(page(&geometry, 0, 0), target, Cause::Gc, start);
    assert_eq!(clock.completion(read), READ);
    let copied =
        clock.program_page((PlaneId(0), target.1, target.0), Load::Register, Cause::Gc, read);
    assert_eq!(clock.completion(copied), READ + PROGRAM);
}

/// A page is read at 1 ms, and another of the die that shares the channel.
#[test]
fn transfers_are_drawn_when_the_channel_has_time_for_them() {
    let (mut clock, geometry) = clock(&[PARALLEL, ("device.dies", "2")]);
    let start = clock.admit(1_000_000);
    clock.timeline_mut().start(20);
    for block in [0, 16] {
        let _ = clock.read_page(page(&geometry, block, 0), Cause::Host, start);
    }
    let (spans, _) = clock.timeline_mut().take();
    let crossing = spans.iter().filter(|span| span.unit == Unit::Channel(0));
    let times: Vec<_> = crossing.map(|span| (span.work, span.start, span.end)).collect();
    let expected = [(Work::Transfer, 1_050_000, 1_060_000), (Work::Transfer, 1_060_000, 1_070_000)];
    assert_eq!(times, expected);
}
