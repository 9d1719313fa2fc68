//! The booking clock against an event-driven device.

use super::*;
use crate::board::nand::mover::Mover;
use crate::board::nand::state::PageKind;
use crate::board::when::Moment;
use crate::meter::Cause;
use crate::rng::{Purpose, Rng};
use crate::settings::Groups as _;
use crate::units::{BlockId, Ppn};

/// A closed loop of random two-step requests (map read, then data read), one number per read:
/// the plane.
fn two_steps(count: usize, planes: u32) -> Vec<[u32; 2]> {
    let mut rng = crate::rng::Rng::new(17, crate::rng::Purpose::Workload);
    (0..count).map(|_| [rng.below(planes), rng.below(planes)]).collect()
}

fn device() -> (Clock, Geometry) {
    let mut config = crate::board::settings::BoardSettings::default();
    let pairs = [
        ("device.channels", "4"),
        ("device.dies", "4"),
        ("timing.profile", "parallel"),
        ("timing.read", "50us"),
        ("timing.page_transfer", "10us"),
    ];
    for (key, value) in pairs {
        config.set(key, value).expect("legal settings");
    }
    let geometry = Geometry::new(&config.device);
    (Clock::new(&config.timing, &geometry), geometry)
}

/// A clock that draws what it books takes the long way. Of any operations it must say the same.
#[test]
fn the_short_way_books_what_the_long_way_books() {
    let parallel = ("timing.profile", "parallel");
    for (pairs, way) in [
        (&[("timing.profile", "serial")][..], Way::OneServer),
        (&[parallel], Way::CellsAndChannel),
        (&[parallel, ("timing.plane_parallel", "true")], Way::CellsAndChannel),
        (&[parallel, ("timing.die_interleave", "false")], Way::CellsAndChannel),
        (&[parallel, ("timing.page_transfer", "0us")], Way::Long),
        (&[parallel, ("timing.program_pages", "200us,900us")], Way::Long),
        (&[parallel, ("device.mapping_unit", "512")], Way::Long),
    ] {
        let mut config = crate::board::settings::BoardSettings::default();
        let device = [("device.channels", "2"), ("device.dies", "2"), ("device.planes", "2")];
        let timing = [("timing.page_transfer", "10us"), ("timing.oob_write", "30us")];
        for (key, value) in device.iter().chain(&timing).chain(pairs) {
            config.set(key, value).expect("legal settings");
        }
        let geometry = Geometry::new(&config.device);
        let mut short = Clock::new(&config.timing, &geometry);
        assert_eq!(short.way(), way, "{pairs:?}");
        let mut long = short.clone();
        long.timeline_mut().start(0);
        assert_eq!(long.way(), Way::Long);
        if way != Way::Long {
            book_alike(&geometry, [&mut short, &mut long], &format!("{pairs:?}"));
        }
    }
}

/// What pages of the host take that are booked without a token is what their tokens say, longer
/// waits for the channel than a token tells apart among them.
#[test]
fn programs_without_tokens_take_what_their_tokens_say() {
    for transfer in ["10us", "1s"] {
        let mut config = crate::board::settings::BoardSettings::default();
        for (key, value) in [("timing.profile", "parallel"), ("timing.page_transfer", transfer)] {
            config.set(key, value).expect("legal settings");
        }
        let geometry = Geometry::new(&config.device);
        let mut bare = Clock::new(&config.timing, &geometry);
        assert!(bare.programs_in_parallel());
        let mut telling = bare.clone();
        for offset in 0..8 {
            let at = (PlaneId(0), BlockId(0), geometry.page(BlockId(0), offset));
            let from = 1_000 * Nanos::from(offset);
            let [start, _] = [&mut telling, &mut bare].map(|clock| clock.admit(from));
            let done = telling.program_page(at, Load::Channel, Cause::Host, start);
            let times = bare.program_from(at, from);
            assert_eq!(times.1, telling.completion(done), "{transfer}: page {offset}");
            assert_eq!(PathSplit::of_program(from, times), telling.split(from, done));
        }
        assert_eq!(bare.service_time(), telling.service_time());
        assert_eq!(bare.cell_operations(), telling.cell_operations());
    }
}

/// Random operations on two clocks, the first of which takes a short way.
fn book_alike(geometry: &Geometry, [short, long]: [&mut Clock; 2], case: &str) {
    let mut rng = Rng::new(5, Purpose::Workload);
    let causes = [Cause::Host, Cause::Translate, Cause::Gc];
    let (mut now, mut last) = (0, When::START);
    let (mut ways, mut rows) = ([0; 5], 0);
    for turn in 0..20_000 {
        if turn % 3 == 0 {
            now += u64::from(rng.below(300_000));
            last = short.admit(now);
            assert_eq!(last, long.admit(now));
        }
        // A few blocks of each plane, so that operations wait for one another; a copy's target may
        // lie in another plane.
        let mut block = || {
            let plane = PlaneId(rng.below(geometry.planes()));
            BlockId(geometry.blocks_of(plane).start + rng.below(3))
        };
        let (block, other) = (block(), block());
        let ppn = geometry.page(block, rng.below(geometry.pages_per_block - 7));
        let plane = geometry.plane_of(ppn);
        let cause = causes[rng.below(3) as usize];
        let way = rng.below(5) as usize;
        let pages = 1 + rng.below(7);
        // Many copies stay in their plane, as collections do, and could begin when the last request
        // entered: cells are at work then.
        let home = BlockId(geometry.blocks_of(plane).start + other.0 % 3);
        let other = if way == 4 && pages > 2 { home } else { other };
        let latest = if way == 4 && pages.is_multiple_of(2) { When::at(now) } else { last };
        ways[way] += 1;
        if way == 4 && plane == geometry.plane_of_block(other) && !short.serial {
            let site = short.sites[plane.index()];
            rows += u32::from(short.copies_in_row(site, block, latest.time()));
        }
        let [mut one, two] = [&mut *short, &mut *long].map(|clock| match way {
            0 => vec![clock.read_page(Place::of(geometry, ppn), cause, latest)],
            1 => vec![clock.program_page((plane, block, ppn), Load::Channel, cause, latest)],
            2 => vec![clock.erase_block(plane, block, cause, latest)],
            3 => {
                clock.write_oob(plane, block);
                vec![latest]
            }
            _ => copied(geometry, clock, (ppn, block, pages), other, cause, latest),
        });
        assert_eq!(one, two, "{case}, turn {turn}: {way} on page {ppn}");
        last = one.pop().expect("each operation is done once");
        assert_eq!(short.split(now, last), long.split(now, last));
    }
    assert_eq!(short.service_time(), long.service_time());
    assert_eq!(short.cell_operations(), long.cell_operations());
    assert_eq!(short.idle_from(), long.idle_from());
    assert!(ways.iter().all(|&count| count > 3000), "{ways:?}");
    assert!(
        short.serial || rows > 20,
        "{case}: {rows} runs of copies were booked as a row from the first"
    );
}

/// So many pages from `first` on copied to the first ones of a block: when each is done, then when
/// all are.
fn copied(
    geometry: &Geometry,
    clock: &mut Clock,
    (first, block, pages): (Ppn, BlockId, u32),
    other: BlockId,
    cause: Cause,
    after: When,
) -> Vec<When> {
    let mover =
        |old| Mover { old: Ppn(old), logical: 0, kind: PageKind::Data, done: Moment::START };
    let mut movers: Vec<Mover> = (first.0..first.0 + pages).map(mover).collect();
    let (source, to) = (geometry.plane_of(first), geometry.page(other, 0));
    let target = (geometry.plane_of(to), other, to);
    let booked = clock.copy_run(((source, block), target), cause, &mut movers, after);
    assert_eq!(booked.is_some(), clock.way() != Way::Long);
    let all = booked.unwrap_or_else(|| {
        let mut all = after;
        for (place, mover) in (to.0..).zip(&mut movers) {
            let from = Place { plane: source, page: Some((mover.old, block)) };
            let read = clock.read_page(from, cause, after);
            let program = (target.0, other, Ppn(place));
            let done = clock.program_page(program, Load::Channel, cause, read);
            mover.done = done.into();
            all = all.join(done);
        }
        all
    });
    movers.iter().map(|mover| mover.done.token()).chain([all]).collect()
}

/// Requests per second of the booking clock.
fn booked(requests: &[[u32; 2]], depth: usize) -> f64 {
    let (mut clock, _) = device();
    let mut outstanding = std::collections::BinaryHeap::new();
    let mut last = 0;
    for request in requests {
        let mut now = 0;
        if outstanding.len() == depth {
            let std::cmp::Reverse(done) = outstanding.pop().expect("a full queue");
            now = done;
        }
        // What is over is forgotten here, as in a run.
        let start = clock.admit(now);
        let map = clock.read_page(Place::plane(PlaneId(request[0])), Cause::Translate, start);
        let data = clock.read_page(Place::plane(PlaneId(request[1])), Cause::Host, map);
        outstanding.push(std::cmp::Reverse(data.time()));
        last = last.max(data.time());
    }
    requests.len() as f64 / last as f64 * 1e9
}

/// The same, event by event: every resource serves its queue in the order of arrival.
fn event_driven(requests: &[[u32; 2]], depth: usize) -> f64 {
    use std::cmp::Reverse;
    let (_, geometry) = device();
    let dies = geometry.dies() as usize;
    let mut free_from = vec![0u64; dies + geometry.channels as usize];
    // Time, order, request, stage: 0 and 2 want a die, 1 and 3 a channel, 4 is the end.
    let mut events = std::collections::BinaryHeap::new();
    let mut order = 0u64;
    let mut next = depth.min(requests.len());
    for request in 0..next {
        events.push(Reverse((0u64, order, request, 0usize)));
        order += 1;
    }
    let mut last = 0;
    while let Some(Reverse((time, _, request, stage))) = events.pop() {
        order += 1;
        if stage == 4 {
            last = last.max(time);
            if next < requests.len() {
                events.push(Reverse((time, order, next, 0)));
                next += 1;
            }
            continue;
        }
        let die = requests[request][stage / 2] as usize;
        let (resource, length) = match stage % 2 {
            0 => (die, 50_000),
            _ => (dies + geometry.channel_of(PlaneId(die as u32)) as usize, 10_000),
        };
        let start = free_from[resource].max(time);
        free_from[resource] = start + length;
        events.push(Reverse((start + length, order, request, stage + 1)));
    }
    requests.len() as f64 / last as f64 * 1e9
}

#[test]
fn booking_in_call_order_stays_within_seven_percent_of_an_event_driven_device() {
    let requests = two_steps(40_000, 16);
    for depth in [1, 16, 64] {
        let (ours, reference) = (booked(&requests, depth), event_driven(&requests, depth));
        let error = ours / reference - 1.0;
        println!("depth {depth}: {ours:.0} against {reference:.0} a second ({error:+.3})");
        assert!(error.abs() < 0.07, "depth {depth}: {ours} against {reference} a second");
    }
}

/// A tiny device under any of the two profiles, reads 50 us, transfers 10 us.
fn clock(pairs: &[(&str, &str)]) -> Clock {
    let mut config = crate::board::settings::BoardSettings::default();
    let common = [
        ("timing.read", "50us"),
        ("timing.program", "300us"),
        ("timing.page_transfer", "10us"),
        ("timing.controller_page", "4us"),
    ];
    for (key, value) in common.iter().chain(pairs) {
        config.set(key, value).expect("legal settings");
    }
    Clock::new(&config.timing, &Geometry::new(&config.device))
}

/// A map read, then a write whose program waits for the die: every part of the path has its length
/// and the parts sum to the whole, in both profiles.
#[test]
fn the_path_of_a_request_is_split_exactly() {
    for profile in ["serial", "parallel"] {
        let mut clock = clock(&[("timing.profile", profile)]);
        let start = clock.admit(1_000);
        let ready = clock.host_page(start);
        let map = clock.read_page(Place::plane(PlaneId(0)), Cause::Translate, ready);
        let done =
            clock.program_page((PlaneId(0), BlockId(0), Ppn(0)), Load::Channel, Cause::Host, map);
        let split = clock.split(1_000, done);
        let expected = PathSplit {
            controller: 4_000,
            map: 60_000,
            buffer: 0,
            channel: 10_000,
            flash: 300_000,
        };
        assert_eq!(split, expected, "{profile}");
        assert_eq!(clock.completion(done), 375_000, "{profile}");
    }
}

/// Two pages at once on one die: the second waits 10 us for the channel and 290 us for the die.
#[test]
fn waiting_counts_where_it_happens() {
    let mut clock = clock(&[("timing.profile", "parallel"), ("timing.controller_page", "0us")]);
    let start = clock.admit(0);
    let first =
        clock.program_page((PlaneId(0), BlockId(0), Ppn(0)), Load::Channel, Cause::Host, start);
    let second =
        clock.program_page((PlaneId(0), BlockId(1), Ppn(64)), Load::Channel, Cause::Host, start);
    let expected = PathSplit { controller: 0, map: 0, buffer: 0, channel: 20_000, flash: 590_000 };
    assert_eq!(clock.split(0, first.join(second)), expected);
}

/// A read that was booked ahead, at 100 us, would come between a copyback's read and its program
/// and overwrite the register.
#[test]
fn nothing_comes_between_the_read_and_the_program_of_a_copyback() {
    let mut clock = clock(&[("timing.profile", "parallel"), ("timing.copyback", "true")]);
    let start = clock.admit(0);
    clock.timeline_mut().start(10);
    let _ = clock.read_cells(Place::plane(PlaneId(0)), Cause::Host, When::at(100_000));
    let source = Place { plane: PlaneId(0), page: Some((Ppn(0), BlockId(0))) };
    let read = clock.read_for_program(source, (Ppn(64), BlockId(1)), Cause::Gc, start);
    assert_eq!(clock.completion(read), 200_000);
    let target = (PlaneId(0), BlockId(1), Ppn(64));
    let copied = clock.program_page(target, Load::Register, Cause::Gc, read);
    assert_eq!(clock.completion(copied), 500_000);
    // The next program of the block comes behind, the gap in front is free.
    let next = (PlaneId(0), BlockId(1), Ppn(65));
    let next = clock.program_page(next, Load::Channel, Cause::Host, start);
    assert_eq!(clock.completion(next), 800_000);
    let early = clock.read_cells(Place::plane(PlaneId(0)), Cause::Host, start);
    assert_eq!(clock.completion(early), 50_000);
    let (spans, _) = clock.timeline_mut().take();
    let cells = spans.iter().filter(|span| span.work != Work::Transfer);
    let mut cells: Vec<_> = cells.map(|span| (span.start, span.end, span.work)).collect();
    cells.sort_unstable_by_key(|span| span.0);
    let expected = [
        (0, 50_000, Work::Read),
        (100_000, 150_000, Work::Read),
        (150_000, 200_000, Work::Read),
        (200_000, 500_000, Work::Program),
        (500_000, 800_000, Work::Program),
    ];
    assert_eq!(cells, expected);
}

/// What was spent before the last admission is none of the present request's.
#[test]
fn the_serial_split_begins_at_the_admission() {
    let mut clock = clock(&[]);
    let start = clock.admit(0);
    let _ = clock.read_page(Place::plane(PlaneId(0)), Cause::Translate, start);
    let start = clock.admit(500);
    let before = clock.completion(start);
    let done = clock.read_page(Place::plane(PlaneId(0)), Cause::Host, start);
    let expected = PathSplit { controller: 0, map: 0, buffer: 0, channel: 10_000, flash: 50_000 };
    assert_eq!(clock.split(before, done), expected);
}

/// What the flash is asked to do, at random yet lawfully: the next page of a block programmed, a
/// programmed page read or superseded, a full block erased.
struct RandomWork {
    rng: Rng,
    geometry: Geometry,
    /// Pages programmed, by block.
    filled: Vec<u32>,
}

impl RandomWork {
    fn step(&mut self, clock: &mut Clock, after: When) -> When {
        let block = BlockId(self.rng.below(self.geometry.blocks()));
        let plane = self.geometry.plane_of_block(block);
        let filled = &mut self.filled[block.index()];
        let page = |offset| self.geometry.page(block, offset);
        match self.rng.below(10) {
            _ if *filled == 0 => {
                *filled = 1;
                clock.program_page((plane, block, page(0)), Load::Channel, Cause::Host, after)
            }
            0 => {
                clock.write_oob(plane, block);
                after
            }
            1..5 => {
                let at = Place { plane, page: Some((page(self.rng.below(*filled)), block)) };
                clock.read_page(at, Cause::Host, after)
            }
            _ if *filled == self.geometry.pages_per_block => {
                *filled = 0;
                clock.erase_block(plane, block, Cause::Gc, after)
            }
            other => {
                clock.announce(plane, u32::from(other == 9), Cause::Host);
                let load = if other == 8 { Load::Register } else { Load::Channel };
                *filled += 1;
                clock.program_page((plane, block, page(*filled - 1)), load, Cause::Host, after)
            }
        }
    }
}

/// Commands of one die follow one another, and each page's own operations are in a lawful order:
/// programmed once between erases and upwards, read only when programmed.
fn check_schedule(commands: &[schedule::Command], geometry: &Geometry) {
    let mut filled = vec![0; geometry.blocks() as usize];
    let mut before = 0;
    for command in commands {
        assert!(command.start >= before, "{command:?} begins before {before}");
        before = command.end;
        let numbers: Vec<u32> =
            command.numbers.iter().filter_map(|number| number.checked_sub(1)).collect();
        let planes = command.planes.count_ones() as usize;
        assert!(numbers.len() == planes || numbers.is_empty(), "{command:?}: two of one plane");
        for number in numbers {
            let page = || (geometry.block_of(Ppn(number)), geometry.offset_of(Ppn(number)));
            match command.work {
                Work::Read => {
                    let (block, offset) = page();
                    assert!(offset < filled[block.index()], "page {number} read too early");
                }
                Work::Program => {
                    let (block, offset) = page();
                    assert_eq!(offset, filled[block.index()], "page {number} out of order");
                    filled[block.index()] += 1;
                }
                Work::Erase => filled[number as usize] = 0,
                other => assert_eq!(other, Work::Mark),
            }
        }
    }
}

/// Advanced commands on and off, by the bits of `number`.
fn advanced(number: u32) -> crate::board::settings::BoardSettings {
    const OFF: &str = "false";
    let choices: [(&str, [&str; 2]); 6] = [
        ("timing.multi_plane_read", [OFF, "true"]),
        ("timing.multi_plane_program", [OFF, "true"]),
        ("timing.multi_plane_same_offset", ["true", OFF]),
        ("timing.suspend", ["none", "program_erase"]),
        ("timing.read_priority", [OFF, "true"]),
        ("timing.die_interleave", ["true", OFF]),
    ];
    let mut pairs = vec![
        ("timing.profile", "parallel"),
        ("timing.multi_plane_erase", "true"),
        ("timing.erase", "900us"),
        ("timing.program_pages", "200us,300us"),
        ("timing.page_transfer", "10us"),
        ("timing.oob_write", "5us"),
        ("device.planes", "4"),
        ("device.dies", "2"),
        ("device.blocks_per_plane", "2"),
        ("device.pages_per_block", "4"),
    ];
    let choose = |(bit, (key, values)): (usize, &(&'static str, [&'static str; 2]))| {
        (*key, values[(number >> bit & 1) as usize])
    };
    pairs.extend(choices.iter().enumerate().map(choose));
    let mut config = crate::board::settings::BoardSettings::default();
    for (key, value) in pairs {
        config.set(key, value).expect("legal settings");
    }
    config.check().expect("legal together");
    config
}

#[test]
fn whatever_is_joined_overtaken_or_suspended_no_die_works_twice_and_no_law_is_broken() {
    let mut seen = [0; 3];
    for number in 0..64 {
        let config = advanced(number);
        let geometry = Geometry::new(&config.device);
        let mut clock = Clock::new(&config.timing, &geometry);
        // Nothing is forgotten, so that all can be checked.
        clock.schedules.iter_mut().for_each(|schedule| schedule.limit = usize::MAX);
        let rng = Rng::new(u64::from(number), Purpose::Workload);
        let filled = vec![0; geometry.blocks() as usize];
        let mut work = RandomWork { rng, geometry, filled };
        let mut time = 0;
        for _ in 0..400 {
            time += u64::from(work.rng.below(150_000));
            // Some tokens lie far ahead, as those of second steps do.
            let ahead = u64::from(work.rng.below(4) / 3) * 2_000_000;
            let done = work.step(&mut clock, When::at(time + ahead));
            assert!(done.time() >= time);
        }
        for schedule in &clock.schedules {
            let commands: Vec<_> = schedule.commands.iter().copied().collect();
            check_schedule(&commands, &work.geometry);
            seen[0] += commands.iter().filter(|c| c.planes.count_ones() > 1).count();
            seen[1] += commands.iter().filter(|c| c.suspensions > 0).count();
            seen[2] += commands.len();
        }
    }
    assert!(seen[0] > 500 && seen[1] > 500, "joined, suspended, all: {seen:?}");
}
