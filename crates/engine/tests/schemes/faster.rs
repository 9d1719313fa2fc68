//! FASTer's rules 1 to 4, its isolation area and bounds (`docs/papers/others.md#faster`), as flash
//! operations in order. Blocks have 4 pages; `log_blocks = 3` are SW and two random blocks.

use crate::common::{mixed, open, pages, tiny};
use crate::fast_bench::{Bench, copy};
use ftlab_engine::board::nand::record::Operation::{self, Erase, Program};
use ftlab_engine::meter::Cause::{Host, Merge};
use ftlab_engine::meter::{Event, Level};
use ftlab_engine::request::Op;
use ftlab_engine::schemes;
use ftlab_engine::units::Ppn;

const LOGS: (&str, &str) = ("faster.log_blocks", "3");
const FULL: (&str, &str) = ("faster.mode", "full");
/// An isolation area of three blocks that is never merged progressively.
const ISOLATION: [(&str, &str); 3] = [
    ("faster.isolation_min", "3"),
    ("faster.isolation_reserve", "1"),
    ("faster.progressive_interval", "1000000"),
];

/// What the moves did: second-chance copies, rewritten, blocks put back, isolation moves.
fn moves(bench: &Bench) -> [u64; 4] {
    [
        Event::SecondChanceCopies,
        Event::SecondChancesRewritten,
        Event::AggregatedMoves,
        Event::IsolationMoves,
    ]
    .map(|event| bench.events(event))
}

fn copies(from: &[Ppn], to: &[Ppn]) -> Vec<Operation> {
    from.iter().zip(to).flat_map(|(&from, &to)| copy(from, to)).collect()
}

#[test]
fn a_valid_page_of_the_victim_goes_to_the_end_of_the_log_and_the_victim_is_erased() {
    let mut bench = Bench::of("faster", 8, &[LOGS]);
    bench.write(&[5, 6, 5, 5]);
    bench.write(&[9, 10, 9, 9]);
    let victim = bench.block(6);
    let sources = bench.all_at([6, 5]);
    let operations = bench.write(&[13]);
    let mut expected = copies(&sources, &bench.all_at([6, 5]));
    expected.extend([Erase(victim, Merge), Program(bench.at(13), Host)]);
    assert_eq!(operations, expected, "in page order, and the host's page behind the copies");
    assert_eq!((bench.place(5).1, bench.place(13).1), (1, 2));
    assert_eq!(bench.block(13), bench.block(5), "one block");
    assert_eq!(moves(&bench), [2, 0, 0, 0]);
    assert_eq!((bench.merges(), bench.erases()), ((0, 0, 0), (0, 1, 0)), "that is no merge");
}

#[test]
fn the_second_time_the_pages_data_block_is_merged_as_in_fast() {
    let mut bench = Bench::of("faster", 8, &[LOGS]);
    bench.write(&[5, 6, 6, 6]);
    bench.write(&[9, 9, 9, 9]);
    // 5 and 6 are copied; 13 and 17 fill their block. 9 is copied, 5 dies, 6 keeps its bit.
    bench.write(&[13, 17]);
    bench.write(&[5, 10, 10]);
    assert_eq!(moves(&bench), [3, 1, 0, 0], "5 was rewritten before it was merged");
    let (data, victim) = (bench.block(7), bench.block(6));
    let kept = bench.all_at([13, 17]);
    let sources = bench.all_at([4, 5, 6, 7]);
    let operations = bench.write(&[21]);
    let mut expected = copies(&sources, &bench.all_at([4, 5, 6, 7]));
    expected.push(Erase(data, Merge));
    expected.extend(copies(&kept, &bench.all_at([13, 17])));
    expected.extend([Erase(victim, Merge), Program(bench.at(21), Host)]);
    assert_eq!(operations, expected, "6 is merged, with 5 from the other block; 13 and 17 stay");
    assert_eq!(moves(&bench), [5, 1, 0, 0]);
    assert_eq!((bench.merges(), bench.meter().merges().associativity[1]), ((0, 0, 1), 1));
}

/// The write that needs the room can be of a page that the reclaim deals with: what counts is where
/// the page was when it was rewritten. Taken from before, it would be the other way round.
#[test]
fn a_page_that_the_reclaim_for_its_own_rewrite_kept_or_merged_counts_as_what_it_then_was() {
    let mut bench = Bench::of("faster", 8, &[LOGS]);
    bench.write(&[5, 6, 5, 5]);
    bench.write(&[9, 10, 9, 9]);
    bench.write(&[5]);
    assert_eq!(moves(&bench), [2, 1, 0, 0], "5 was copied for nothing");

    let mut bench = Bench::of("faster", 8, &[LOGS]);
    bench.write(&[5, 6, 6, 6]);
    bench.write(&[9, 9, 9, 9]);
    bench.write(&[13, 17]);
    bench.write(&[5, 10, 10]);
    assert_eq!(moves(&bench), [3, 1, 0, 0]);
    bench.write(&[6]);
    assert_eq!(bench.merges(), (0, 0, 1));
    assert_eq!(moves(&bench), [5, 1, 0, 0], "6 was merged before it was rewritten");
}

#[test]
fn rule_2_a_dead_victim_is_erased() {
    let mut bench = Bench::of("faster", 8, &[LOGS]);
    bench.write(&[5, 5, 5, 5]);
    let victim = bench.block(5);
    bench.write(&[5, 9, 9, 9]);
    let operations = bench.write(&[13]);
    assert_eq!(operations, [Erase(victim, Merge), Program(bench.at(13), Host)]);
    assert_eq!(bench.events(Event::DeadLogBlocks), 1);
    assert_eq!(moves(&bench), [0; 4]);
}

/// SW and three random blocks: with one kept free the log is full after two.
#[test]
fn a_free_reserve_makes_the_log_smaller_but_not_the_device() {
    let logs = ("faster.log_blocks", "4");
    let sizes = ["0", "1"].map(|reserve| {
        let mut bench = Bench::of("faster", 8, &[logs, ("faster.free_reserve", reserve)]);
        bench.write(&[5, 5, 5, 5, 9, 9, 9, 9]);
        assert_eq!(bench.erases().1, 0, "two random blocks were free");
        bench.write(&[13]);
        let reclaimed = u64::from(reserve == "1");
        assert_eq!(bench.erases().1, reclaimed, "{reserve} in reserve");
        bench.device.board().geometry().blocks()
    });
    assert_eq!(sizes[0], sizes[1]);

    let (row, _) = schemes::find("faster").expect("in the table");
    let reserve =
        |blocks| (row.check)(&crate::common::config(&[logs, ("faster.free_reserve", blocks)]));
    assert!(reserve("2").is_ok());
    let error = reserve("3").expect_err("no random log block").to_string();
    assert!(error.contains("faster.free_reserve = 3"), "{error}");
}

#[test]
fn rule_1_a_victim_full_of_valid_pages_goes_back_untouched_and_the_next_is_looked_at() {
    let mut bench = Bench::of("faster:isolation", 8, &[LOGS, ISOLATION[0], ISOLATION[2]]);
    bench.write(&[5, 9, 13, 17]);
    bench.write(&[6, 10, 10, 10]);
    let (full, next) = (bench.block(5), bench.block(6));
    let [six, ten] = bench.all_at([6, 10]);
    let operations = bench.write(&[21]);
    let mut expected = copies(&[six, ten], &bench.all_at([6, 10]));
    expected.extend([Erase(next, Merge), Program(bench.at(21), Host)]);
    assert_eq!(operations, expected, "nothing of the full block was copied");
    assert_eq!(bench.block(5), full);
    assert_eq!(moves(&bench), [2, 0, 1, 0]);
}

/// Seed 1's short form: every valid page of the head goes to the rear block, if it is all of them.
#[test]
fn in_the_simple_mode_a_full_victim_is_copied_unless_asked_otherwise() {
    // The copies of a full victim fill their block, so that the next one is reclaimed too.
    for (skip, expected) in [("auto", [5, 0, 0, 0]), ("true", [1, 0, 1, 0])] {
        let mut bench = Bench::of("faster", 8, &[LOGS, ("faster.skip_full", skip)]);
        bench.write(&[5, 9, 13, 17]);
        bench.write(&[6, 6, 6, 6]);
        bench.write(&[21]);
        assert_eq!(moves(&bench), expected, "skip_full = {skip}");
    }
}

#[test]
fn rule_3_few_valid_pages_stay_whatever_their_bits_and_rule_4_isolates_those_with_a_bit() {
    for (below, isolated) in [("3", 0), ("2", 1)] {
        let pairs = [LOGS, FULL, ISOLATION[0], ISOLATION[2], ("faster.copy_all_below", below)];
        let mut bench = Bench::of("faster", 8, &pairs);
        bench.write(&[5, 6, 6, 6]);
        bench.write(&[9, 9, 9, 9]);
        // 5 and 6 get their bits; 6 dies, so that 5 and 13 are valid in their block.
        bench.write(&[13, 13]);
        bench.write(&[6, 9, 6]);
        let [five, thirteen] = bench.all_at([5, 13]);
        let victim = bench.block(5);
        let operations = bench.write(&[17]);
        let mut expected = copies(&[five, thirteen], &bench.all_at([5, 13]));
        expected.extend([Erase(victim, Merge), Program(bench.at(17), Host)]);
        assert_eq!(operations, expected, "copied below {below} pages");
        assert_eq!(bench.events(Event::IsolationMoves), isolated, "copied below {below} pages");
        assert_eq!(bench.block(5) != bench.block(17), isolated == 1, "an isolation block");
        assert_eq!(bench.block(13), bench.block(17), "the end of the log");
        assert_eq!(bench.merges(), (0, 0, 0), "isolation puts the merge off");
    }
}

#[test]
fn a_progressive_merge_takes_the_data_block_of_the_oldest_isolated_page_every_few_log_writes() {
    let pairs = [
        LOGS,
        FULL,
        ("faster.isolation_min", "3"),
        ("faster.copy_all_below", "0"),
        ("faster.progressive_interval", "14"),
    ];
    let mut bench = Bench::of("faster", 8, &pairs);
    bench.write(&[5, 6, 6, 6]);
    bench.write(&[9, 9, 9, 9]);
    bench.write(&[13, 13]);
    bench.write(&[6, 9, 6]);
    bench.write(&[17]);
    assert_eq!(bench.events(Event::IsolationMoves), 1, "page 5 is isolated by the 14th log write");
    let data = bench.block(7);
    let sources = bench.all_at([4, 5, 6, 7]);
    let operations = bench.write(&[18]);
    let mut expected = copies(&sources, &bench.all_at([4, 5, 6, 7]));
    expected.extend([Erase(data, Merge), Program(bench.at(18), Host)]);
    assert_eq!(operations, expected, "page 6 comes from the log; the block that takes pages stays");
    assert_eq!(bench.events(Event::ProgressiveMerges), 1);
    bench.write(&[17]);
    assert_eq!(bench.events(Event::ProgressiveMerges), 1, "not with every write");
}

#[test]
fn a_full_isolation_area_forces_merges_of_its_oldest_block_which_is_then_erased() {
    let logs = ("faster.log_blocks", "4");
    let below = ("faster.copy_all_below", "0");
    let mut pairs = vec![logs, FULL, below];
    pairs.extend(ISOLATION);
    pairs[3] = ("faster.isolation_min", "2");
    let mut bench = Bench::of("faster", 8, &pairs);
    // Two pages of each of eight blocks in turn: all outlive their chance.
    let mut forced = Vec::new();
    for round in 0..200u64 {
        let page = 5 + round % 8 * 4 + round / 8 % 2;
        let operations = bench.write(&[page]);
        if bench.events(Event::ForcedMerges) > 0 && forced.is_empty() {
            forced = operations;
        }
        let isolated = bench.meter().level_now(Level::IsolationBlocks);
        assert!(isolated.is_some_and(|blocks| blocks <= 2), "{isolated:?} isolation blocks");
    }
    let erases = forced.iter().filter(|op| matches!(op, Erase(..))).count();
    assert!(erases >= 3, "data blocks, an isolation block and a victim: {forced:?}");
    let merges = bench.meter().merges();
    assert_eq!(bench.events(Event::ProgressiveMerges), 0);
    assert!(merges.full > 0, "isolation blocks that were merged count as full merges");
    // What was merged for a block that is not erased yet is not in the sum.
    let (forced, rebuilt) = (bench.events(Event::ForcedMerges), merges.full_data_blocks);
    assert!(rebuilt <= forced && forced < rebuilt + 4, "{rebuilt} counted of {forced}");
}

/// A cut takes the bits: pages that had theirs are copied once more instead of being merged.
#[test]
fn recovery_begins_with_all_second_chance_bits_at_zero() {
    let mut copied = Vec::new();
    for cut in [false, true] {
        let mut bench = Bench::of("faster", 8, &[LOGS]);
        bench.write(&[5, 6, 6, 6]);
        bench.write(&[9, 9, 9, 9]);
        bench.write(&[13, 17]);
        bench.write(&[9, 10, 10]);
        if cut {
            bench.device.power_cycle().expect("recovers");
            bench.device.audit().expect("sound");
        }
        let before = bench.events(Event::SecondChanceCopies);
        bench.write(&[21]);
        copied.push(bench.events(Event::SecondChanceCopies) - before);
    }
    assert_eq!(
        copied,
        [2, 6],
        "13 and 17; without bits 5 and 6 too, which fill a block, and 9, 10"
    );
}

#[test]
fn a_full_sequential_overwrite_of_a_block_costs_one_erase_and_no_copy() {
    for preset in ["faster:simple", "faster:isolation"] {
        let mut bench = Bench::of(preset, 8, &[LOGS]);
        let data = bench.block(4);
        bench.submit(Op::Write, 4, 4);
        let operations = bench.submit(Op::Write, 8, 1);
        assert_eq!(operations, [Erase(data, Merge), Program(bench.at(8), Host)], "{preset}");
        assert_eq!((bench.merges(), bench.erases()), ((1, 0, 0), (1, 0, 0)), "{preset}");
        assert_eq!(bench.meter().programs(Merge), 0, "{preset}");
    }
}

#[test]
fn corref4_opens_the_sequential_block_in_the_middle_of_a_long_run_behind_copies() {
    let pairs = [LOGS, ("faster.seq", "corref4"), ("faster.seq_threshold", "2")];
    let mut bench = Bench::of("faster", 8, &pairs);
    bench.write(&[4, 8]);
    assert_eq!(bench.events(Event::SequentialLogOpens), 0, "offset 0 alone is no run");
    bench.write(&[9]);
    let sources = bench.all_at([8, 9]);
    let operations = bench.write(&[10]);
    let mut expected = copies(&sources, &bench.all_at([8, 9]));
    expected.push(Program(bench.at(10), Host));
    assert_eq!(operations, expected, "the third page of the run");
    assert_eq!((bench.place(8).1, bench.place(10).1), (0, 2));
    // The owner's other pages go to the random log, the next one is appended.
    let sequential = bench.block(10);
    bench.write(&[9, 20, 11]);
    assert_ne!(bench.block(9), sequential);
    assert_eq!(bench.place(11), (sequential, 3));
    // The run goes on into the next block: SW is merged, in full as 9 is newer elsewhere.
    bench.write(&[12]);
    assert_eq!(bench.merges(), (0, 0, 0), "11 was not part of a long run");
    bench.write(&[13]);
    assert_eq!((bench.merges(), bench.block(13) == bench.block(12)), ((0, 0, 1), true));
}

#[test]
fn corref4_switches_a_block_that_a_run_filled_from_its_beginning() {
    let pairs = [LOGS, ("faster.seq", "corref4"), ("faster.seq_threshold", "2")];
    let mut bench = Bench::of("faster", 8, &pairs);
    bench.submit(Op::Write, 6, 2);
    let data = bench.block(9);
    let operations = bench.submit(Op::Write, 8, 4);
    let appended = bench.all_at([8, 9, 10, 11]).map(|ppn| Program(ppn, Host));
    assert_eq!(operations, appended, "a run of six pages: no copy");
    let operations = bench.submit(Op::Write, 12, 1);
    assert_eq!(operations, [Erase(data, Merge), Program(bench.at(12), Host)]);
    assert_eq!(bench.merges(), (1, 0, 0));
}

/// Bits go with the block: pages written where pages with bits lay before begin without one.
#[test]
fn second_chance_bits_do_not_outlive_the_erase_of_their_block() {
    for preset in ["faster:simple", "faster:isolation"] {
        let mut bench = Bench::of(preset, 8, &[LOGS, ("faster.isolation_min", "3")]);
        // Every page outlives its chance, until all blocks of the device have been log blocks.
        for turn in 0..400u64 {
            bench.write(&[5 + turn % 8 * 4 + turn / 8 % 3]);
        }
        let before = bench.events(Event::SecondChancesRewritten);
        (0..200).for_each(|_| drop(bench.write(&[5])));
        let rewritten = bench.events(Event::SecondChancesRewritten) - before;
        // Only where a reclaim copied page 5 in between.
        let reclaims = bench.erases().1;
        assert!(rewritten <= 50 && reclaims > 50, "{preset}: {rewritten} of 200 had a bit");
    }
}

/// Every page of the log valid, whatever may be kept and how often: each write still ends.
#[test]
fn a_log_full_of_valid_pages_never_loops_for_ever() {
    let settings: [&[(&str, &str)]; 6] = [
        &[],
        &[("faster.max_chances", "15")],
        &[("faster.skip_full", "true"), ("faster.max_chances", "15")],
        &[("faster.copy_all_below", "65536")],
        &[FULL],
        &[FULL, ("faster.copy_all_below", "65536"), ("faster.max_chances", "15")],
    ];
    for pairs in settings {
        for logs in ["2", "3", "7"] {
            let all = [pairs, &[("faster.log_blocks", logs)]].concat();
            let config = tiny("faster", 40, &all);
            let mut device = open("faster", &config);
            crate::common::fill(device.as_mut(), &config);
            // No page twice in any 117 writes, and never offset 0: nothing in the log dies.
            for turn in 0..1000u64 {
                let page = turn * 4 % 156 + 1 + turn / 39 % 3;
                device.submit(&pages(&config, Op::Write, page, 1)).expect("room is made");
            }
            device.audit().expect("sound");
            let meter = device.board().meter();
            assert!(meter.merges().full > 0, "{all:?}: nothing was ever merged");
        }
    }
}

#[test]
fn the_smallest_legal_device_never_runs_dry() {
    for preset in ["faster:simple", "faster:isolation"] {
        let pairs = [("device.over_provisioning", "0.01"), LOGS];
        let config = tiny(preset, 10, &pairs);
        let (row, _) = schemes::find(preset).expect("in the table");
        assert_eq!(config.device.physical_blocks(), (row.minimum_blocks)(&config), "no spare");
        let mut device = open(preset, &config);
        device.verify_reads();
        crate::common::fill(device.as_mut(), &config);
        for request in mixed(&config, 4000, 9) {
            device.submit(&request).expect("room for every update");
            device.audit().expect("sound");
        }
        let isolated = device.board().meter().level_now(Level::IsolationBlocks);
        assert_eq!(isolated.is_some(), preset == "faster:isolation");
    }
}

#[test]
fn an_isolation_area_no_larger_than_its_reserve_is_refused() {
    let (row, _) = schemes::find("faster").expect("in the table");
    let area = |min, reserve| {
        let pairs = [FULL, ("faster.isolation_min", min), ("faster.isolation_reserve", reserve)];
        (row.check)(&crate::common::config(&pairs))
    };
    assert!(area("2000", "1999").is_ok());
    let error = area("2000", "2000").expect_err("too small").to_string();
    assert!(error.contains("2000"), "{error}");
}

/// A log that was full before a cut is full after it: what was isolated is so again and is merged
/// later, none of it before the next write.
#[test]
fn after_a_cut_the_oldest_surplus_log_blocks_are_the_isolation_area() {
    let pairs = [LOGS, FULL, ("faster.copy_all_below", "0"), ISOLATION[1], ISOLATION[2]];
    let mut bench = Bench::of("faster", 8, &pairs);
    let isolated = |bench: &Bench| bench.meter().level_now(Level::IsolationBlocks).unwrap_or(0);
    let mut turn = 0u64;
    while isolated(&bench) < 3 && turn < 400 {
        bench.write(&[5 + turn % 8 * 4 + turn / 8 % 2]);
        turn += 1;
    }
    let before = isolated(&bench);
    assert_eq!(before, 3);
    bench.device.power_cycle().expect("recovers");
    bench.device.audit().expect("sound");
    let merged = bench.merges().2;
    bench.write(&[6]);
    assert_eq!(bench.merges().2, merged, "nothing was merged for the next write");
    assert!(isolated(&bench) >= before, "{} of {before} blocks", isolated(&bench));
}

/// Under rule 3 a page can stay for ever, and its victims are not dead: nor does its count
/// overflow.
#[test]
fn a_page_that_stays_whatever_its_chances_may_stay_ever_so_often() {
    let pairs = [LOGS, FULL, ISOLATION[0], ISOLATION[2], ("faster.copy_all_below", "3")];
    let mut bench = Bench::of("faster", 8, &pairs);
    bench.write(&[5]);
    let mut seen = 0;
    while bench.events(Event::SecondChanceCopies) < 600 {
        let request = pages(&bench.config, Op::Write, 6, 1);
        bench.device.submit(&request).expect("it works");
        seen += 1;
        assert!(seen < 6000, "{} copies", bench.events(Event::SecondChanceCopies));
    }
    bench.device.audit().expect("sound");
    assert_eq!(bench.events(Event::IsolationMoves), 0);
    assert_eq!(bench.merges(), (0, 0, 0));
}

#[test]
fn a_victim_of_which_pages_stayed_was_not_dead() {
    let mut bench = Bench::of("faster", 8, &[LOGS]);
    bench.write(&[5, 6, 5, 5, 9, 10, 9, 9, 13]);
    assert_eq!((bench.events(Event::SecondChanceCopies), bench.erases().1), (2, 1));
    assert_eq!(bench.events(Event::DeadLogBlocks), 0);
}

/// A page that stays because its victim has few was given a chance only if there are any: its
/// rewrite proves none right otherwise.
#[test]
fn where_there_are_no_chances_none_is_counted_as_rewritten() {
    for (chances, rewritten) in [("0", 0), ("1", 1)] {
        let few = ("faster.copy_all_below", "3");
        let pairs = [LOGS, FULL, ISOLATION[0], ISOLATION[2], few, ("faster.max_chances", chances)];
        let mut bench = Bench::of("faster", 8, &pairs);
        bench.write(&[5, 6, 6, 6, 9, 9, 9, 9, 13]);
        assert_eq!(moves(&bench), [2, 0, 0, 0], "5 and 6 stay");
        bench.write(&[5]);
        assert_eq!(moves(&bench)[1], rewritten, "{chances} chances");
    }
}
