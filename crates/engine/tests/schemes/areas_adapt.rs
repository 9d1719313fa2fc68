//! ADAPT's Algorithm 1 branch by branch, its sequential area, the table that sizes itself, and what
//! must never happen. Blocks have 4 pages, so tau is 4 of 4 and phi's limit 2 by default.

use crate::adapt_bench::{bench, level, limits, rebuilt};
use crate::common::{config, open, pages, tiny};
use crate::fast_bench::Bench;
use ftlab_engine::board::nand::record::Operation::{Erase, Program};
use ftlab_engine::meter::Cause::{Host, Merge};
use ftlab_engine::meter::{Event, Level};
use ftlab_engine::request::Op;
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes;

/// Intervals of eight requests, an area of one to three sequential blocks among six log blocks.
const SOON: [(&str, &str); 4] = [
    ("adapt.log_blocks", "6"),
    ("adapt.seq_max", "3"),
    ("adapt.interval", "8"),
    ("adapt.history_bytes", "0"),
];

/// Requests of page 36, logical block 9 being unmapped: written in place once, to the random area
/// afterwards; what does not count for delta or phi.
fn pass_time(bench: &mut Bench, requests: usize) {
    (0..requests).for_each(|_| drop(bench.write(&[36])));
}

#[test]
fn algorithm_1_a_high_delta_moves_a_block_to_the_sequential_area_up_to_its_bound() {
    let mut bench = bench(4, &SOON);
    assert_eq!(limits(&bench), (1, 5));
    let mut grown = Vec::new();
    for round in 0..40 {
        // Every stream opens a block and switches the one before.
        bench.submit(Op::Write, 4 + 4 * (round % 4), 4);
        grown.push(limits(&bench));
    }
    grown.dedup();
    assert_eq!(grown, [(1, 5), (2, 4), (3, 3)], "one block an interval, never four");
    assert_eq!(bench.events(Event::AreaTransfers), 2);
    assert_eq!(bench.events(Event::ThresholdFlips), 0);
    assert!(level(&bench, Level::DeltaPermille) > Some(400));
}

#[test]
fn lines_9_to_12_merge_the_head_of_a_full_random_area_without_a_prediction() {
    let pairs = [("adapt.log_blocks", "3"), ("adapt.seq_max", "2"), ("adapt.interval", "12")];
    let mut bench = bench(5, &pairs);
    bench.write(&[5, 6, 7, 5, 9, 10, 11, 9]);
    let (l0, data) = (Erase(bench.block(5), Merge), Erase(bench.block(4), Merge));
    bench.submit(Op::Write, 12, 4);
    bench.submit(Op::Write, 16, 4);
    assert_eq!(limits(&bench), (1, 2));
    let sources = bench.all_at([4, 5, 6, 7]);
    // The twelfth request: two allocations, one switch.
    let operations = bench.submit(Op::Write, 12, 4);
    let mut expected = rebuilt(&sources, &bench.all_at([4, 5, 6, 7]), data);
    expected.push(l0);
    expected.extend(bench.all_at([12, 13, 14, 15]).map(|ppn| Program(ppn, Host)));
    assert_eq!(operations, expected);
    assert_eq!((limits(&bench), bench.events(Event::AreaTransfers)), ((2, 1), 1));
    assert_eq!(level(&bench, Level::DeltaPermille), Some(500));
    assert_eq!(bench.events(Event::HistoryQueries), 0, "HAT knows every page of it");
}

#[test]
fn delta_must_exceed_its_limit() {
    // An area of three blocks: five allocations, two switches.
    for (high, moved) in [("0.4", false), ("0.399", true)] {
        let pairs = [
            ("adapt.log_blocks", "8"),
            ("adapt.seq_max", "4"),
            ("adapt.seq_init", "3"),
            ("adapt.interval", "7"),
            ("adapt.delta_high", high),
        ];
        let mut bench = bench(9, &pairs);
        for block in 1..=5 {
            bench.submit(Op::Write, 4 * block, 4);
        }
        assert_eq!(bench.merges(), (2, 0, 0));
        bench.write(&[33]);
        assert_eq!(level(&bench, Level::DeltaPermille), Some(400));
        assert_eq!(limits(&bench).0, if moved { 4 } else { 3 }, "{high}");
    }
}

#[test]
fn algorithm_1_phi_from_its_limit_on_moves_a_block_to_the_random_area() {
    for (pages, limit, transfers) in [
        ([5, 9, 13, 17], "4", 1),
        ([5, 9, 13, 17], "5", 0),
        ([5, 5, 9, 9], "auto", 1),
        ([5, 5, 9, 9], "3", 0),
        ([5, 5, 5, 9], "auto", 1),
        ([5, 9, 9, 9], "2", 1),
    ] {
        let pairs = [
            ("adapt.log_blocks", "3"),
            ("adapt.seq_max", "2"),
            ("adapt.seq_init", "2"),
            ("adapt.interval", "7"),
            ("adapt.history_bytes", "0"),
            ("adapt.phi_limit", limit),
        ];
        let mut bench = bench(6, &pairs);
        bench.write(&pages);
        let valid = pages.iter().collect::<std::collections::BTreeSet<_>>().len() as u64;
        // The sixth request merges the victim, the seventh adjusts.
        bench.write(&[21]);
        assert_eq!((bench.merges().2, limits(&bench)), (1, (2, 1)));
        bench.write(&[22]);
        assert_eq!(level(&bench, Level::PhiPages), Some(valid));
        assert_eq!(bench.events(Event::AreaTransfers), transfers, "{pages:?} limit {limit}");
        assert_eq!(limits(&bench), (2 - transfers, 1 + transfers));
    }
}

#[test]
fn the_sequential_area_keeps_its_least_blocks_whatever_phi() {
    let pairs = [&SOON[..], &[("adapt.seq_init", "3"), ("adapt.phi_limit", "0")]].concat();
    let mut bench = bench(6, &pairs);
    for round in 0..120 {
        bench.write(&[4 + 5 * round % 24]);
    }
    assert_eq!((limits(&bench), bench.events(Event::AreaTransfers)), ((1, 5), 2));
}

#[test]
fn delta_comes_before_phi() {
    let pairs = [
        ("adapt.log_blocks", "4"),
        ("adapt.seq_max", "3"),
        ("adapt.seq_init", "2"),
        ("adapt.interval", "16"),
        ("adapt.history_bytes", "0"),
    ];
    let mut bench = bench(9, &pairs);
    bench.write(&[5, 9, 13, 17, 21, 25, 29, 33, 34]);
    // Five streams of one logical block: five allocations, four switches.
    (0..5).for_each(|_| drop(bench.submit(Op::Write, 36, 4)));
    assert_eq!(limits(&bench), (2, 2));
    bench.write(&[30]);
    let measured = (level(&bench, Level::DeltaPermille), level(&bench, Level::PhiPages));
    assert_eq!(measured, (Some(800), Some(4)), "both are high");
    assert_eq!(limits(&bench), (3, 1));
}

#[test]
fn the_random_area_prefers_the_sequential_block_that_a_switch_would_not_do_for() {
    let pairs = [&SOON[..], &[("adapt.seq_init", "2"), ("adapt.phi_limit", "0")]].concat();
    let mut bench = bench(9, &pairs);
    let partly = bench.block(8);
    // The complete block of logical block 1 is the one written longest ago; 2 has three pages.
    bench.submit(Op::Write, 4, 4);
    bench.submit(Op::Write, 8, 3);
    let complete = bench.block(4);
    let mut operations = Vec::new();
    let mut page = 0;
    while bench.events(Event::AreaTransfers) == 0 {
        page = (page + 5) % 24;
        operations = bench.write(&[12 + page]);
        // Requests without a stream: delta is undefined in the interval that decides.
    }
    assert!(operations.contains(&Erase(partly, Merge)), "the partial merge: {operations:?}");
    assert_eq!((bench.merges().0, bench.merges().1), (0, 1));
    assert_eq!(bench.block(4), complete, "the complete one still waits");
}

#[test]
fn a_low_delta_flips_theta_and_back() {
    let mut bench = bench(6, &SOON);
    // One stream of three pages is begun and never merged: delta is 0 of 1.
    bench.submit(Op::Write, 4, 3);
    pass_time(&mut bench, 7);
    assert_eq!(level(&bench, Level::ThetaPages), Some(32));
    assert_eq!(bench.events(Event::ThresholdFlips), 1);
    let sequential = bench.events(Event::SequentialRequests);
    bench.submit(Op::Write, 8, 4);
    assert_eq!(bench.events(Event::SequentialRequests), sequential, "four pages are few now");
    assert_eq!(bench.events(Event::SequentialLogOpens), 1);
}

#[test]
fn large_requests_that_begin_amid_a_block_are_no_streams_so_theta_moves() {
    for (partial, theta) in [("prefix", 32), ("any", 2)] {
        let pairs = [&SOON[..], &[("adapt.seq_partial", partial)]].concat();
        let mut bench = bench(6, &pairs);
        // Eight blocks are begun at their second page; seven of them are merged.
        (0..8).for_each(|round| drop(bench.submit(Op::Write, 5 + 4 * (round % 4), 3)));
        assert_eq!(level(&bench, Level::ThetaPages), Some(theta), "{partial}");
        assert_eq!(bench.events(Event::AreaTransfers), u64::from(partial == "any"));
    }
}

#[test]
fn delta_without_allocations_is_a_setting() {
    for (empty, theta) in [("undefined", 2), ("zero", 32), ("last", 2)] {
        let pairs = [&SOON[..], &[("adapt.delta_if_no_alloc", empty)]].concat();
        let mut bench = bench(6, &pairs);
        pass_time(&mut bench, 7);
        assert_eq!(level(&bench, Level::ThetaPages), Some(theta), "{empty}");
    }
    // Six streams make a delta of 5/6; there is none in the interval behind theirs.
    for (empty, transfers) in [("undefined", 1), ("last", 2)] {
        let pairs = [&SOON[..], &[("adapt.delta_if_no_alloc", empty)]].concat();
        let mut bench = bench(6, &pairs);
        (0..6).for_each(|stream| drop(bench.submit(Op::Write, 4 + 4 * (stream % 4), 4)));
        pass_time(&mut bench, 9);
        assert_eq!(bench.events(Event::AreaTransfers), transfers, "{empty}");
    }
}

#[test]
fn small_requests_leave_a_stream_alone_or_go_on_with_it() {
    for (small, appended) in [("to_random", 0), ("append", 1), ("as_large", 1)] {
        let mut bench = bench(3, &[("adapt.seq_small", small)]);
        bench.submit(Op::Write, 4, 3);
        bench.write(&[7]);
        assert_eq!(bench.events(Event::SequentialLogWrites), 3 + appended, "{small}");
        assert_eq!(bench.events(Event::RandomLogWrites), 1 - appended, "{small}");
    }
}

#[test]
fn a_large_request_that_misses_the_next_page_begins_anew_or_does_as_set() {
    for (miss, merges, random) in
        [("begin_anew", (0, 1, 0), 0), ("with_request", (0, 0, 1), 1), ("to_random", (0, 0, 0), 3)]
    {
        let mut bench = bench(3, &[("adapt.seq_miss", miss)]);
        bench.submit(Op::Write, 4, 3);
        bench.submit(Op::Write, 5, 3);
        let random = match miss {
            // After the merge with page 5 inside, 6 and 7 find no block and begin one.
            "with_request" => 0,
            _ => random,
        };
        let appended = if miss == "to_random" { (2, 1) } else { (random, 0) };
        let found = bench.events(Event::RandomLogWrites);
        assert_eq!(bench.merges(), merges, "{miss}");
        assert_eq!(found, appended.0, "{miss}");
        assert_eq!(
            bench.events(Event::SequentialLogWrites) - 3,
            match miss {
                "begin_anew" => 3,
                "with_request" => 2,
                _ => appended.1,
            }
        );
    }
}

#[test]
fn the_area_merges_the_block_written_longest_ago_or_the_cheapest() {
    for (victim, merges) in [("lru", (0, 1, 0)), ("cheapest", (1, 0, 0))] {
        let pairs = [&SOON[..], &[("adapt.seq_init", "2"), ("adapt.seq_victim", victim)]].concat();
        let mut bench = bench(4, &pairs);
        bench.submit(Op::Write, 4, 3);
        bench.submit(Op::Write, 8, 4);
        bench.submit(Op::Write, 12, 3);
        assert_eq!(bench.merges(), merges, "{victim}");
    }
}

#[test]
fn progress_when_every_log_page_is_valid_and_expected() {
    // HAT remembers everything; with 5 for tau no block is moved as a whole.
    for (logs, tau, gain) in
        [("2", "5", 1), ("2", "4", 1), ("4", "5", 1), ("4", "4", 3), ("4", "0", 4)]
    {
        let gained = gain.to_string();
        let pairs = [
            ("adapt.log_blocks", logs),
            ("adapt.tau", tau),
            ("adapt.agmov_merge", "per_page"),
            ("adapt.min_gain_pages", gained.as_str()),
            ("adapt.history_bytes", "6000"),
        ];
        let mut bench = bench(9, &pairs);
        let mut rng = Rng::new(11, Purpose::Workload);
        for round in 0..600u64 {
            // In turn, so that every page in the log is the newest of its own.
            let page =
                if round < 300 { 4 + (7 * round) % 36 } else { u64::from(4 + rng.below(36)) };
            bench.write(&[page]);
        }
        let copies = bench.events(Event::SecondChanceCopies);
        let writes = bench.events(Event::RandomLogWrites);
        assert!(copies > 0 || gain == 4, "{logs} {tau} {gain}");
        assert!(copies <= (4 - gain) * writes / gain, "{logs} {tau}: {copies} of {writes}");
        let frees = bench.events(Event::DeadLogBlocks) + bench.erases().1;
        assert!(frees > 0);
    }
}

#[test]
fn a_victim_full_of_expected_pages_gives_as_many_as_it_must_to_a_merge() {
    for (gain, copies) in [("1", 3), ("2", 2), ("4", 0)] {
        let pairs = [("adapt.log_blocks", "2"), ("adapt.min_gain_pages", gain)];
        let mut bench = bench(9, &pairs);
        bench.write(&[5, 9, 13, 17]);
        bench.write(&[21]);
        assert_eq!(bench.events(Event::SecondChanceCopies), copies, "{gain}");
        assert_eq!(bench.meter().merges().full_data_blocks, 4 - copies);
        assert_eq!(bench.events(Event::HistoryHits), 4);
    }
}

#[test]
fn a_table_that_sizes_itself_grows_for_a_cycle_it_does_not_cover_within_its_bounds() {
    let run = |rule: &str, cycle: u64| {
        let pairs = [
            ("adapt.log_blocks", "8"),
            ("adapt.interval", "40"),
            ("adapt.history_rule", rule),
            ("adapt.history_bytes", "12"),
            ("adapt.history_min", "12"),
            ("adapt.history_max", "240"),
            ("adapt.history_verdicts", "4"),
        ];
        let config = tiny("adapt", 10, &pairs);
        let mut device = open("adapt:auto", &config);
        let mut sizes = Vec::new();
        for round in 0..4000u64 {
            let request = pages(&config, Op::Write, (7 * (round % cycle)) % 40, 1);
            device.submit(&request).expect("the device works");
            sizes.extend(device.board().meter().level_now(Level::HistoryBytes));
        }
        sizes.dedup();
        sizes
    };
    for rule in ["balance", "hill_climb"] {
        let sizes = run(rule, 35);
        assert!(sizes.iter().all(|size| (12..=240).contains(size)), "{rule}: {sizes:?}");
        assert!(sizes.len() > 3, "{rule}: it moves: {sizes:?}");
        assert!(*sizes.iter().max().expect("told") > 100, "{rule}: {sizes:?}");
    }
}

#[test]
fn a_table_that_sizes_itself_follows_a_workload_that_turns_up_down_and_up() {
    // Three random log blocks of four pages.
    let pairs = [
        ("adapt.log_blocks", "4"),
        ("adapt.interval", "20"),
        ("adapt.history_bytes", "96"),
        ("adapt.history_min", "12"),
        ("adapt.history_max", "240"),
        ("adapt.history_verdicts", "4"),
    ];
    let config = tiny("adapt", 10, &pairs);
    let mut device = open("adapt:auto", &config);
    // The most and the least bytes of the second half of each phase. In a cycle of 20 pages what is
    // merged is rewritten within the interval: it should have stayed. In a cycle of 39 it is not,
    // and a page that is kept comes to the end of the log once more: it should have gone.
    let bounds = [20, 39, 20].map(|cycle| {
        let mut sizes = Vec::new();
        for round in 0..3000u64 {
            let request = pages(&config, Op::Write, (7 * (round % cycle)) % 40, 1);
            device.submit(&request).expect("the device works");
            let now = device.board().meter().level_now(Level::HistoryBytes);
            sizes.extend(now.filter(|_| round >= 1500));
        }
        (sizes.iter().copied().min().expect("told"), sizes.into_iter().max().expect("told"))
    });
    println!("{bounds:?}");
    let [first, second, third] = bounds;
    assert!(second.1 < first.0 && second.1 < third.0, "{bounds:?}");
}

#[test]
fn ram_follows_the_papers_formulas() {
    let mut config = config(&[("device.page_bytes", "2048"), ("device.pages_per_block", "64")]);
    let bytes = |config: &ftlab_engine::config::Config, structure: &str| {
        let (row, _) = schemes::find("adapt").expect("in the table");
        let known = (row.ram_use)(config);
        known.iter().find(|of| of.structure == structure).expect("a structure").bytes
    };
    for gibibytes in [16, 64] {
        config.device.set_capacity(gibibytes << 30, 0);
        assert_eq!(bytes(&config, "block_table"), gibibytes * 32 * 1024, "64 GB: 2 MB");
        let counts = bytes(&config, "valid_page_counts");
        assert!(counts.abs_diff(gibibytes * 24 * 1024 / 100) <= gibibytes * 6, "0.24 KB a GB");
        assert!(counts < 16 * 1024);
        assert_eq!(bytes(&config, "historical_access_table"), 170 * 6);
    }
}

#[test]
fn presets_are_legal_and_settings_against_each_other_are_refused() {
    let (row, _) = schemes::find("adapt").expect("in the table");
    for (name, _) in row.presets {
        drop(open(&format!("adapt:{name}"), &tiny("adapt", 10, &[])));
    }
    for pairs in [
        &[("adapt.delta_low", "0.5")][..],
        &[("adapt.theta_low", "40")],
        &[("adapt.seq_max", "9"), ("adapt.log_blocks", "9")],
        &[("adapt.seq_min", "9"), ("adapt.log_blocks", "9")],
        &[("adapt.log_blocks", "9"), ("adapt.seq_max", "2"), ("adapt.seq_init", "3")],
        &[("adapt.history_auto", "true"), ("adapt.history_min", "128KiB")],
    ] {
        let refused = (row.check)(&config(pairs)).expect_err("against each other");
        assert!(refused.to_string().contains("adapt."), "{refused}");
    }
}
