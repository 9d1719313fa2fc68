//! The parallel board against times derived by hand: planes, dies, channels, copyback,
//! interleaving, multi-plane commands, page types.
//!
//! In every formula R is a page read, P a program, E an erase, T a transfer, all in ns.

use crate::common::clock_bench::{
    Bench, COST, E, P, Pairs, R, SUSPEND, T, TWO_DIES, TWO_PLANES, parallel,
};
use crate::common::{open, pages, size};
use ftlab_engine::board::energy::flash_energy;
use ftlab_engine::board::nand::clock::CellOperations;
use ftlab_engine::board::nand::clock::timeline::{Span, Unit, Work};
use ftlab_engine::config::Config;
use ftlab_engine::meter::{Cause, Event};
use ftlab_engine::request::{Op, Request};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::units::{Nanos, PlaneId};

#[test]
fn two_planes_of_one_die_take_turns_unless_they_are_independent() {
    assert_eq!(Bench::new(&[TWO_PLANES]).two_programs(1), [T + P, T + 2 * P]);
    assert_eq!(Bench::new(&[TWO_PLANES]).two_reads(1), [R + T, 2 * R + T]);
    assert_eq!(Bench::new(&[TWO_PLANES]).two_erases(1), [E, 2 * E]);
    let independent = [TWO_PLANES, ("timing.plane_parallel", "true")];
    assert_eq!(Bench::new(&independent).two_programs(1), [T + P, 2 * T + P]);
    assert_eq!(Bench::new(&independent).two_reads(1), [R + T, R + 2 * T]);
    assert_eq!(Bench::new(&independent).two_erases(1), [E, E]);
}

#[test]
fn two_dies_on_one_channel_share_only_the_channel() {
    assert_eq!(Bench::new(&[TWO_DIES]).two_programs(1), [T + P, 2 * T + P]);
    assert_eq!(Bench::new(&[TWO_DIES]).two_reads(1), [R + T, R + 2 * T]);
    assert_eq!(Bench::new(&[TWO_DIES]).two_erases(1), [E, E]);
}

#[test]
fn two_channels_share_nothing() {
    let pairs = [("device.channels", "2")];
    assert_eq!(Bench::new(&pairs).two_programs(1), [T + P, T + P]);
    assert_eq!(Bench::new(&pairs).two_reads(1), [R + T, R + T]);
    assert_eq!(Bench::new(&pairs).two_erases(1), [E, E]);
}

/// Without the interleave command transfers still overlap with cells, cells not with each other.
#[test]
fn without_interleaving_the_cells_behind_a_channel_take_turns() {
    let pairs = [TWO_DIES, ("timing.die_interleave", "false")];
    assert_eq!(Bench::new(&pairs).two_programs(1), [T + P, T + 2 * P]);
    assert_eq!(Bench::new(&pairs).two_reads(1), [R + T, 2 * R + T]);
    assert_eq!(Bench::new(&pairs).two_erases(1), [E, 2 * E]);
    let two_channels = [("device.channels", "2"), ("timing.die_interleave", "false")];
    assert_eq!(Bench::new(&two_channels).two_programs(1), [T + P, T + P]);
}

#[test]
fn each_multi_plane_command_joins_its_own_kind_of_operation_and_no_other() {
    let off = [[R + T, 2 * R + T], [T + P, T + 2 * P], [E, 2 * E]];
    let on = [[R + T, R + 2 * T], [2 * T + P; 2], [E; 2]];
    let keys =
        ["timing.multi_plane_read", "timing.multi_plane_program", "timing.multi_plane_erase"];
    for (kind, key) in keys.into_iter().enumerate() {
        let bench = || {
            let mut bench = Bench::new(&[TWO_PLANES, (key, "true")]);
            bench.clock.announce(PlaneId(0), 1, Cause::Host);
            bench
        };
        let found = [bench().two_reads(1), bench().two_programs(1), bench().two_erases(1)];
        for other in 0..3 {
            let expected = if other == kind { on[other] } else { off[other] };
            assert_eq!(found[other], expected, "{key}, operation {other}");
        }
    }
}

const ALL_PLANES: [(&str, &str); 4] = [
    TWO_PLANES,
    ("timing.multi_plane_read", "true"),
    ("timing.multi_plane_program", "true"),
    ("timing.multi_plane_erase", "true"),
];

/// Without an announcement a program joins only what has not begun when its own data is there.
#[test]
fn a_program_joins_one_that_waits_for_the_die() {
    let mut bench = Bench::new(&ALL_PLANES);
    assert_eq!(bench.two_programs(1), [T + P, T + 2 * P], "the first began before the second");
    // Both of these wait for the die until T + 2P: the second of them joins.
    let start = bench.at(2 * T);
    let first = bench.program((0, 1, 1), start);
    let second = bench.program((1, 1, 1), start);
    assert_eq!([bench.end(first), bench.end(second)], [T + 3 * P; 2]);
    // The same plane, or another place in its block, cannot join.
    let again = bench.program((1, 2, 1), start);
    let elsewhere = bench.program((0, 2, 2), start);
    assert_eq!([bench.end(again), bench.end(elsewhere)], [T + 4 * P, T + 5 * P]);
}

#[test]
fn pages_at_different_places_join_where_the_part_allows_it() {
    let ends = |same: &str| {
        let mut bench = Bench::new(
            &[ALL_PLANES.as_slice(), &[("timing.multi_plane_same_offset", same)]].concat(),
        );
        let start = bench.at(0);
        let [first, second] = [(0, 0, 0), (1, 0, 5)].map(|page| bench.read(page, start));
        [bench.end(first), bench.end(second)]
    };
    assert_eq!(ends("true"), [R + T, 2 * R + T]);
    assert_eq!(ends("false"), [R + T, R + 2 * T]);
}

/// The companion never comes, or comes late: its transfer is lost, nothing else.
#[test]
fn a_broken_announcement_costs_a_transfer() {
    let mut bench = Bench::new(&ALL_PLANES);
    bench.clock.announce(PlaneId(0), 1, Cause::Host);
    let start = bench.at(0);
    let alone = bench.program((0, 0, 0), start);
    assert_eq!(bench.end(alone), 2 * T + P, "it waited for a page that did not come");
    let late = bench.at(2 * T);
    let late = bench.program((1, 0, 0), late);
    assert_eq!(bench.end(late), 2 * T + 2 * P, "a transfer of its own, and no joining");
}

/// A write of both planes of a die is one command; a longer one is a pipeline of commands.
#[test]
fn a_host_write_over_two_planes_is_one_program() {
    let run = |count: u64, pairs: Pairs<'_>| {
        let order = [("alloc.order", "plane_channel_die")];
        let all: Vec<_> = order.iter().chain(pairs).copied().collect();
        let mut config = parallel(&all);
        size("ideal_page", &mut config, 8);
        let mut device = open("ideal_page", &config);
        let done = device.submit(&pages(&config, Op::Write, 0, count)).expect("it works");
        done.completed - done.admitted
    };
    assert_eq!(run(2, &[TWO_PLANES]), T + 2 * P);
    assert_eq!(run(2, &ALL_PLANES), 2 * T + P);
    assert_eq!(run(1, &ALL_PLANES), T + P);
    assert_eq!(run(6, &ALL_PLANES), 2 * T + 3 * P, "later transfers hide behind the programs");
    assert_eq!(run(6, &[TWO_PLANES]), T + 6 * P);
    // The controller hands pages over every 4 us, less than a transfer.
    let with_controller = [ALL_PLANES.as_slice(), &[("timing.controller_page", "4us")]].concat();
    assert_eq!(run(2, &with_controller), 4_000 + 2 * T + P);
    let slow_controller = [ALL_PLANES.as_slice(), &[("timing.controller_page", "30us")]].concat();
    assert_eq!(run(2, &slow_controller), 60_000 + T + P);
}

/// Pages of one mode of cells join, in an SLC cache and past it; where one plane's cache is full
/// and the other's is not, they do not.
#[test]
fn commands_over_two_planes_are_of_one_mode_of_cells() {
    let cache = [
        ("device.bits_per_cell", "2"),
        ("device.pages_per_block", "8"),
        ("slc.static_blocks", "1"),
        ("timing.slc_program", "50us"),
        ("alloc.order", "plane_channel_die"),
    ];
    let mut config = parallel(&[&ALL_PLANES[..], &cache].concat());
    size("ideal_page", &mut config, 8);
    let mut device = open("ideal_page", &config);
    let mut arrival = 0;
    let mut write = |first: u64, count: u64| {
        // Nothing waits for what was written before.
        arrival += 10_000_000;
        let request = Request { arrival, ..pages(&config, Op::Write, first, count) };
        let done = device.submit(&request).expect("it works");
        done.completed - done.admitted
    };
    let in_cache = 50_000;
    assert_eq!([write(0, 2), write(2, 2), write(4, 2)], [2 * T + in_cache; 3]);
    // The last page of the cache in one plane: the next two pages go to cells of two modes.
    assert_eq!(write(6, 1), T + in_cache);
    assert_eq!(write(8, 2), T + in_cache + P, "one after the other");
    assert_eq!([write(11, 1), write(12, 2)], [T + P, 2 * T + P], "past it");
}

#[test]
fn a_copyback_saves_both_transfers_of_a_copy() {
    let mut bench = Bench::new(&[]);
    let start = bench.at(0);
    let read = bench.read((0, 0, 0), start);
    let copied = bench.program((0, 1, 0), read);
    assert_eq!(bench.end(copied), R + 2 * T + P);
    let mut bench = Bench::new(&[]);
    let start = bench.at(0);
    let copied = bench.copy_back(0, (0, 0), (1, 0), start);
    assert_eq!(bench.end(copied), R + P);
    assert_eq!(bench.clock.service_time().transfer, 0);
}

/// Copybacks on two planes of a die that start together are one read and one program.
#[test]
fn copybacks_of_two_planes_join() {
    let mut bench = Bench::new(&ALL_PLANES);
    let start = bench.at(0);
    let ends = [0, 1].map(|plane| {
        let copied = bench.copy_back(plane, (0, 3), (1, 3), start);
        bench.end(copied)
    });
    assert_eq!(ends, [R + P; 2]);
}

/// Overwrites until collection has run; what the collection put on the channel.
#[test]
fn collection_copies_back_within_its_plane() {
    let run = |pairs: Pairs<'_>| {
        let mut config = parallel(pairs);
        size("ideal_page", &mut config, 8);
        let mut device = open("ideal_page", &config);
        let mut rng = Rng::new(9, Purpose::Workload);
        for page in (0..64).chain((0..400).map(|_| u64::from(rng.below(64)))) {
            crate::common::submit(device.as_mut(), &config, Op::Write, page);
        }
        device.audit().expect("sound");
        let meter = device.board().meter();
        let (copies, back) = (meter.programs(Cause::Gc), meter.events(Event::Copybacks));
        let transfers = device.board().nand().clock().service_time().transfer / T;
        let all = [copies, back, transfers - meter.programs(Cause::Host)];
        (all, meter.events(Event::SkippedPages))
    };
    let ([copies, back, transfers], _) = run(&[]);
    assert!(copies > 50, "{copies} copies are too few to judge");
    assert_eq!((back, transfers), (0, 2 * copies));
    let back_at_all = ("timing.copyback", "true");
    assert_eq!(run(&[back_at_all]), ([copies, copies, 0], 0));
    let same_parity = ("timing.copyback_same_parity", "true");
    let ([same, back, transfers], skipped) = run(&[back_at_all, same_parity]);
    assert_eq!((same, skipped), (copies, 0));
    assert!(back > 0 && back < copies, "{back} of {copies} keep their parity");
    assert_eq!(transfers, 2 * (copies - back));
    // Pages that are passed over are room lost: more is copied, and more of it in its plane.
    let ([more, stay, transfers], skipped) =
        run(&[back_at_all, same_parity, ("gc.skip_for_parity", "true")]);
    assert!(more > copies && skipped > 0, "{more} copies, {skipped} pages passed over");
    assert!(stay * copies > back * more, "{stay} of {more} stay, without it {back} of {copies}");
    assert_eq!(transfers, 2 * (more - stay));
}

/// Before, the channel remembered so few idle gaps that a read of the other die waited for the last
/// of the collection's transfers.
#[test]
fn a_collection_leaves_the_channel_to_other_dies_between_its_transfers() {
    let mut bench = Bench::new(&[TWO_DIES, ("device.pages_per_block", "64")]);
    let start = bench.at(0);
    for page in 0..64 {
        let read = bench.read((0, 0, page), start);
        let _ = bench.program((0, 1, page), read);
    }
    // The first copy's two transfers are in the way, the other 126 are not.
    let read = bench.read((1, 0, 0), start);
    assert_eq!(bench.end(read), R + 3 * T);
}

#[test]
fn pages_of_one_block_take_the_time_of_their_type() {
    let types = [
        ("timing.read_pages", "40us,60us,80us"),
        ("timing.program_pages", "200us, 500us, 900us"),
        ("energy.model", "current"),
    ];
    for profile in ["serial", "parallel"] {
        let all = [types.as_slice(), &[("timing.profile", profile)]].concat();
        let mut bench = Bench::new(&all);
        let mut after = bench.at(0);
        let mut expected = 0;
        for (page, [read, program]) in
            [[40_000, 200_000], [60_000, 500_000], [80_000, 900_000], [40_000, 200_000]]
                .into_iter()
                .enumerate()
        {
            after = bench.program((0, 0, page as u32), after);
            after = bench.read((0, 0, page as u32), after);
            expected += program + read + 2 * T;
            assert_eq!(bench.end(after), expected, "{profile}, page {page}");
        }
        let busy = bench.clock.service_time();
        assert_eq!((busy.read, busy.program), (220_000, 1_800_000), "{profile}");
        // 3.3 V and 25 mA over 1.8 ms of programming and four transfers in: 82.5 nJ per us.
        let energy = flash_energy(
            &parallel(&all).energy,
            CellOperations { reads: 4, programs: 4, erases: 0 },
            &busy,
        );
        assert_eq!(energy.program, 82_500 * (1_800 + 40), "{profile}");
        assert_eq!(energy.read, 82_500 * (220 + 40), "{profile}");
    }
}

/// What the device works, by itself, is the same whether requests come at once or far apart.
#[test]
fn service_time_does_not_depend_on_arrivals() {
    let run = |gap: Nanos, pairs: Pairs<'_>| {
        let mut config = parallel(pairs);
        size("dftl", &mut config, 16);
        config.set("dftl.cmt_entries", "8").expect("legal");
        let mut device = open("dftl", &config);
        for (number, request) in crate::common::mixed(&config, 1_500, 5).into_iter().enumerate() {
            let arrival = number as Nanos * gap;
            device.submit(&Request { arrival, ..request }).expect("it works");
        }
        device.board().nand().clock().service_time()
    };
    let advanced = [
        ALL_PLANES.as_slice(),
        &SUSPEND,
        &[TWO_DIES, ("timing.read_priority", "true"), ("timing.copyback", "true")],
    ]
    .concat();
    for pairs in [&[TWO_PLANES, TWO_DIES], advanced.as_slice()] {
        let [mut at_once, mut apart] = [0, 50_000_000].map(|gap| run(gap, pairs));
        assert!(at_once.bus_wait > apart.bus_wait, "waiting is not work");
        (at_once.bus_wait, apart.bus_wait) = (0, 0);
        assert_eq!(at_once, apart);
    }
}

#[test]
fn the_timeline_shows_what_each_unit_did() {
    let mut bench = Bench::new(&SUSPEND);
    bench.clock.timeline_mut().start(100);
    let start = bench.at(0);
    let _ = bench.erase((0, 0), start);
    let start = bench.at(100_000);
    let _ = bench.read((0, 1, 0), start);
    let (spans, left_out) = bench.clock.timeline_mut().take();
    let gc = |start, end, work| {
        let (unit, cause) = (Unit::Die(0), Cause::Gc);
        Span { unit, start, end, work, cause, planes: 1 }
    };
    let host =
        |unit, start, end, work| Span { unit, start, end, work, cause: Cause::Host, planes: 1 };
    let sensed = 100_000 + COST + R;
    let expected = [
        gc(0, 100_000, Work::Erase),
        gc(100_000, 100_000 + COST, Work::Suspend),
        gc(sensed, E + COST + R, Work::Erase),
        host(Unit::Die(0), 100_000 + COST, sensed, Work::Read),
        host(Unit::Channel(0), sensed, sensed + T, Work::Transfer),
    ];
    assert_eq!((spans.as_slice(), left_out), (expected.as_slice(), 0));
    // Off again, and a record that is too short says so.
    let _ = bench.read((0, 1, 1), start);
    bench.clock.timeline_mut().start(1);
    let _ = bench.read((0, 1, 2), start);
    let (spans, left_out) = bench.clock.timeline_mut().take();
    assert_eq!((spans.len(), left_out), (1, 1));
}

#[test]
fn settings_that_contradict_each_other_are_refused_by_name() {
    let refusal = |pairs: Pairs<'_>| {
        let mut config = Config::default();
        for (key, value) in pairs {
            config.set(key, value).expect("legal by itself");
        }
        config.check().expect_err("illegal together").to_string()
    };
    let parallel = ("timing.profile", "parallel");
    for key in ["timing.multi_plane_read", "timing.read_priority"] {
        let text = refusal(&[(key, "true")]);
        assert!(text.contains(key) && text.contains("timing.profile"), "{text}");
    }
    for (key, value) in [("timing.suspend", "erase"), ("timing.die_interleave", "false")] {
        let text = refusal(&[(key, value)]);
        assert!(text.contains(key) && text.contains("timing.profile"), "{text}");
    }
    let independent = [parallel, TWO_PLANES, ("timing.plane_parallel", "true")];
    for pair in [("timing.multi_plane_erase", "true"), ("timing.die_interleave", "false")] {
        let text = refusal(&[independent.as_slice(), &[pair]].concat());
        assert!(text.contains(pair.0) && text.contains("timing.plane_parallel"), "{text}");
    }
    let text = refusal(&[("gc.skip_for_parity", "true")]);
    assert!(text.contains("timing.copyback_same_parity = true"), "{text}");
    let skips = [
        ("timing.copyback", "true"),
        ("timing.copyback_same_parity", "true"),
        ("gc.skip_for_parity", "true"),
    ];
    let text = refusal(&[&skips[..], &[("alloc.unit", "line")]].concat());
    assert!(text.contains("alloc.unit = plane"), "{text}");
    let text = refusal(&[("timing.copyback_same_parity", "true")]);
    assert!(text.contains("timing.copyback,"), "{text}");
}
