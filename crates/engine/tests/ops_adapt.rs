//! ADAPT's examples (Figs 2 to 5), both algorithms branch by branch, and what must never happen, as
//! flash operations in order. Blocks have 4 pages, so tau is 4 of 4 and phi's limit 2 by default.

mod common;
mod fast_bench;

use common::{config, open, pages, tiny};
use fast_bench::{Bench, copy};
use ftlab_engine::board::nand::record::Operation::{self, Erase, Program};
use ftlab_engine::meter::Cause::{Host, Merge};
use ftlab_engine::meter::{Event, Level};
use ftlab_engine::request::Op;
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes;
use ftlab_engine::units::Ppn;

/// Ten logical blocks, `filled` of them (from block 1 on) written once, in place.
fn bench(filled: u64, pairs: &[(&str, &str)]) -> Bench {
    let config = tiny("adapt", 10, pairs);
    let device = open("adapt", &config);
    let mut bench = Bench { config, device };
    // One request, so that intervals are easily counted.
    if filled > 0 {
        bench.submit(Op::Write, 4, 4 * filled);
    }
    bench.device.start_measuring();
    bench
}

/// Two random log blocks and one sequential one; nothing adapts.
const THREE: [(&str, &str); 1] = [("adapt.log_blocks", "3")];

fn level(bench: &Bench, level: Level) -> Option<u64> {
    bench.meter().level_now(level)
}

/// Limits of the sequential and the random area.
fn limits(bench: &Bench) -> (u64, u64) {
    let of = |known| level(bench, known).expect("told at the start");
    (of(Level::SequentialLogLimit), of(Level::RandomLogLimit))
}

/// Every page of these logical blocks is copied, block by block, each erased behind its copies.
fn rebuilt(sources: &[Ppn], targets: &[Ppn], data: Operation) -> Vec<Operation> {
    let pairs = sources.iter().zip(targets);
    let mut operations: Vec<Operation> = pairs.flat_map(|(&from, &to)| copy(from, to)).collect();
    operations.push(data);
    operations
}

#[test]
fn fig_2a_a_full_sequential_overwrite_costs_one_erase_and_no_copy() {
    for complete in ["wait", "at_once"] {
        let mut bench = bench(3, &[("adapt.seq_complete", complete)]);
        let data = bench.block(4);
        let mut operations = bench.submit(Op::Write, 4, 4);
        let log = bench.block(4);
        let appended = bench.all_at([4, 5, 6, 7]).map(|ppn| Program(ppn, Host));
        assert_eq!(operations[..4], appended);
        operations.extend(bench.submit(Op::Write, 8, 3));
        let more = bench.all_at([8, 9, 10]).map(|ppn| Program(ppn, Host));
        assert_eq!(operations[4], Erase(data, Merge), "{complete}");
        assert_eq!(operations[5..], more);
        assert_eq!((bench.merges(), bench.erases()), ((1, 0, 0), (1, 0, 0)));
        assert_eq!(bench.block(5), log, "the log block is the data block now");
        assert_eq!(bench.events(Event::SequentialRequests), 2);
    }
}

#[test]
fn fig_2b_a_sequential_block_with_the_first_pages_is_completed_by_a_partial_merge() {
    let mut bench = bench(3, &[]);
    let data = bench.block(4);
    bench.submit(Op::Write, 4, 3);
    let seven = bench.at(7);
    let operations = bench.submit(Op::Write, 8, 3);
    let mut expected = copy(seven, bench.at(7)).to_vec();
    expected.push(Erase(data, Merge));
    expected.extend(bench.all_at([8, 9, 10]).map(|ppn| Program(ppn, Host)));
    assert_eq!(operations, expected);
    assert_eq!((bench.merges(), bench.erases()), ((0, 1, 0), (1, 0, 0)));
}

#[test]
fn a_sequential_block_that_lacks_pages_before_its_first_is_merged_in_full_or_as_set() {
    let mut prefix = bench(3, &[]);
    let data = prefix.block(4);
    prefix.submit(Op::Write, 5, 3);
    let (log, sources) = (prefix.block(5), prefix.all_at([4, 5, 6, 7]));
    let operations = prefix.submit(Op::Write, 8, 4);
    let mut expected = rebuilt(&sources, &prefix.all_at([4, 5, 6, 7]), Erase(data, Merge));
    expected.push(Erase(log, Merge));
    assert_eq!(operations[..expected.len()], expected);
    assert_eq!(prefix.merges(), (0, 0, 1));

    let mut begun = bench(3, &[("adapt.seq_partial", "any")]);
    let data = begun.block(4);
    begun.submit(Op::Write, 5, 3);
    assert_eq!(begun.place(5).1, 1, "at its own place");
    let four = begun.at(4);
    let operations = begun.submit(Op::Write, 8, 4);
    assert_eq!(operations[..2], copy(four, begun.at(4)));
    assert_eq!(operations[2], Erase(data, Merge));
    assert_eq!(begun.merges(), (0, 1, 0));

    let mut refused = bench(3, &[("adapt.seq_begin", "offset_zero")]);
    refused.submit(Op::Write, 5, 3);
    assert_eq!(refused.events(Event::SequentialLogOpens), 0);
    assert_eq!(refused.events(Event::RandomLogWrites), 3);
}

#[test]
fn fig_2c_a_random_block_of_several_logical_blocks_is_merged_in_full() {
    let mut bench = bench(4, &[("adapt.log_blocks", "2"), ("adapt.history_bytes", "0")]);
    let data = [bench.block(4), bench.block(8)].map(|block| Erase(block, Merge));
    bench.write(&[5, 9, 10, 5]);
    let log = bench.block(9);
    let sources: [Ppn; 8] = std::array::from_fn(|index| bench.at(4 + index as u32));
    let operations = bench.write(&[13]);
    let targets: [Ppn; 8] = std::array::from_fn(|index| bench.at(4 + index as u32));
    let mut expected = rebuilt(&sources[4..], &targets[4..], data[1]);
    expected.extend(rebuilt(&sources[..4], &targets[..4], data[0]));
    expected.extend([Erase(log, Merge), Program(bench.at(13), Host)]);
    assert_eq!(operations, expected, "in the order of the victim's pages");
    assert_eq!((bench.merges(), bench.erases()), ((0, 0, 1), (2, 1, 0)));
    assert_eq!(bench.meter().merges().associativity[2], 1);
}

/// The situation of Fig. 3: L0 holds page 17 (first) and page 9 (last), and HAT, of three entries,
/// remembers 9 but not 17. Returns the bench, L0, and the data block of 17.
fn fig_3(more: &[(&str, &str)]) -> (Bench, Operation, Operation) {
    let pairs = [&THREE[..], &[("adapt.history_bytes", "18")], more].concat();
    let mut bench = bench(4, &pairs);
    let data = Erase(bench.block(17), Merge);
    bench.write(&[17, 5, 6, 9, 5, 6, 5, 6]);
    let l0 = bench.block(17);
    assert_eq!((bench.place(17).1, bench.place(9)), (0, (l0, 3)));
    assert_eq!(bench.device.board().nand().valid_pages(l0), 2);
    (bench, Erase(l0, Merge), data)
}

#[test]
fn fig_3_the_page_that_was_written_recently_stays_and_the_other_is_merged() {
    let (mut bench, l0, data) = fig_3(&[]);
    let sources = bench.all_at([16, 17, 18, 19]);
    let nine = bench.at(9);
    let operations = bench.write(&[5]);
    let mut expected = rebuilt(&sources, &bench.all_at([16, 17, 18, 19]), data);
    expected.extend(copy(nine, bench.at(9)));
    expected.extend([l0, Program(bench.at(5), Host)]);
    assert_eq!(operations, expected);
    let ln = bench.block(9);
    assert_eq!((bench.place(9).1, bench.place(5)), (0, (ln, 1)), "both in the new rear block");
    assert_eq!((bench.merges(), bench.erases()), ((0, 0, 1), (1, 1, 0)));
    assert_eq!((bench.events(Event::HistoryQueries), bench.events(Event::HistoryHits)), (2, 1));
    assert_eq!(bench.events(Event::SecondChanceCopies), 1);
}

#[test]
fn without_predictive_transfer_both_pages_of_fig_3_are_merged_and_nothing_is_asked() {
    for (more, queries) in [(("adapt.predictive_transfer", "false"), 0), (THREE[0], 2)] {
        let (mut bench, _, _) = fig_3(&[more, ("adapt.history_bytes", "0")]);
        bench.write(&[5]);
        assert_eq!(bench.events(Event::SecondChanceCopies), 0);
        assert_eq!(bench.meter().merges().full_data_blocks, 2);
        assert_eq!(bench.events(Event::HistoryQueries), queries);
    }
}

#[test]
fn a_kept_page_that_is_rewritten_proves_the_prediction_right_and_one_that_is_not_wrong() {
    let verdicts = |bench: &Bench| {
        [Event::SecondChancesRewritten, Event::HistoryRight, Event::HistoryWrong]
            .map(|event| bench.events(event))
    };
    let (mut rewritten, ..) = fig_3(&[]);
    rewritten.write(&[5]);
    assert_eq!(verdicts(&rewritten), [0, 0, 0], "nothing is proved yet");
    rewritten.write(&[9]);
    assert_eq!(verdicts(&rewritten), [1, 1, 0]);
    rewritten.write(&[9]);
    assert_eq!(verdicts(&rewritten), [1, 1, 0], "once");

    let (mut forgotten, ..) = fig_3(&[]);
    forgotten.write(&[5]);
    // The other block of the log is merged first; then 9, which nobody rewrote.
    forgotten.write(&[6, 13, 5, 6, 5, 6, 5, 6]);
    assert_ne!(forgotten.block(9), forgotten.block(13));
    assert_eq!(verdicts(&forgotten), [0, 0, 1]);
}

#[test]
fn a_page_that_was_merged_is_watched_for_an_interval() {
    for (written_after, right, wrong) in [(6, 0, 1), (7, 1, 0)] {
        let (mut bench, ..) = fig_3(&[("adapt.interval", "6"), ("adapt.theta_adaptive", "false")]);
        // Page 17 is merged by this request; first writes of other pages pass by.
        bench.write(&[5]);
        (1..written_after).for_each(|other| drop(bench.write(&[20 + other])));
        bench.write(&[17]);
        let proved = (bench.events(Event::HistoryRight), bench.events(Event::HistoryWrong));
        assert_eq!(proved, (right, wrong), "{written_after} requests later");
    }
}

#[test]
fn what_an_entry_speaks_for_is_a_setting() {
    // Pages 9 to 10 are one request; page 10 is at the end of the log.
    for (lookup, hits) in [("covers_range", 1), ("exact_base", 0), ("same_logical_block", 1)] {
        let pairs = [&THREE[..], &[("adapt.hat_lookup", lookup)]].concat();
        let mut bench = bench(4, &pairs);
        bench.submit(Op::Write, 9, 2);
        bench.write(&[9, 9, 9, 9, 9, 9]);
        bench.write(&[13]);
        assert_eq!(bench.events(Event::HistoryQueries), 1, "page 10 alone was valid");
        assert_eq!(bench.events(Event::HistoryHits), hits, "{lookup}");
    }
}

/// Three random log blocks; HAT is empty.
const FOUR: [(&str, &str); 2] = [("adapt.log_blocks", "4"), ("adapt.history_bytes", "0")];

#[test]
fn fig_4_a_valid_head_goes_to_the_rear_untouched_and_the_block_behind_it_is_merged() {
    let mut bench = bench(5, &FOUR);
    bench.write(&[5, 6, 9, 10]);
    let l0 = bench.block(5);
    bench.write(&[13, 13, 13, 14]);
    let (l1, data) = (bench.block(13), Erase(bench.block(12), Merge));
    bench.write(&[17, 18, 17, 18]);
    let l2 = bench.block(17);
    let sources = bench.all_at([12, 13, 14, 15]);
    let before = bench.all_at([5, 6, 9, 10]);

    let operations = bench.write(&[21]);

    let mut expected = rebuilt(&sources, &bench.all_at([12, 13, 14, 15]), data);
    expected.extend([Erase(l1, Merge), Program(bench.at(21), Host)]);
    assert_eq!(operations, expected, "L0 costs nothing");
    assert_eq!(bench.all_at([5, 6, 9, 10]), before);
    assert_eq!(bench.events(Event::AggregatedMoves), 1);
    assert_eq!(bench.events(Event::HistoryQueries), 0, "block_all asks nothing");

    // L0 is now behind L2, just ahead of the block that was opened for page 21.
    bench.write(&[21, 21, 21]);
    let operations = bench.write(&[22]);
    assert!(operations.contains(&Erase(l2, Merge)), "L2 is the next head");
    bench.write(&[22, 22, 22]);
    let behind = bench.block(21);
    let operations = bench.write(&[23]);
    assert_eq!(bench.events(Event::AggregatedMoves), 2, "then L0, which is still full: again");
    assert!(operations.contains(&Erase(behind, Merge)), "the block of page 21 was behind it");
    assert_eq!(bench.all_at([5, 6, 9, 10]), before);
    assert_eq!(bench.block(5), l0);
}

#[test]
fn the_block_behind_a_moved_one_may_be_asked_page_by_page() {
    let pairs = [&FOUR[..1], &[("adapt.agmov_merge", "per_page")]].concat();
    let mut bench = bench(5, &pairs);
    bench.write(&[5, 6, 9, 10, 13, 13, 13, 14, 17, 18, 17, 18]);
    bench.write(&[21]);
    assert_eq!(bench.events(Event::AggregatedMoves), 1);
    assert_eq!((bench.events(Event::HistoryQueries), bench.merges()), (2, (0, 0, 0)));
    assert_eq!(bench.events(Event::SecondChanceCopies), 2, "13 and 14 were written recently");
}

#[test]
fn line_7_moves_only_a_full_head_before_a_block_that_is_not() {
    // (pages of L0, pages of L1, tau, moved)
    for (l0, l1, tau, moved) in [
        ([5, 6, 9, 10], [13, 13, 13, 14], "4", true),
        ([5, 6, 9, 9], [13, 13, 13, 14], "4", false),
        ([5, 6, 9, 9], [13, 13, 13, 14], "3", true),
        ([5, 6, 9, 10], [13, 14, 15, 17], "4", false),
        ([5, 6, 9, 10], [13, 14, 15, 13], "3", false),
        ([5, 6, 9, 10], [13, 13, 13, 14], "5", false),
        ([5, 6, 9, 10], [13, 13, 13, 14], "auto", true),
    ] {
        let pairs = [&THREE[..], &[("adapt.history_bytes", "0"), ("adapt.tau", tau)]].concat();
        let mut bench = bench(5, &pairs);
        bench.write(&l0);
        bench.write(&l1);
        bench.write(&[21]);
        let moves = bench.events(Event::AggregatedMoves);
        assert_eq!(moves, u64::from(moved), "{l0:?} {l1:?} tau {tau}");
        let head_is_merged = bench.place(5).0 == bench.block(4);
        assert_eq!(head_is_merged, !moved);
    }
}

#[test]
fn fig_5_an_empty_log_block_is_erased_at_once_and_delays_the_next_merge() {
    let mut bench = bench(5, &FOUR);
    bench.write(&[5, 9, 9, 5]);
    let l0 = bench.block(5);
    bench.write(&[13, 13, 13, 13]);
    let l1 = bench.block(13);
    let operations = bench.write(&[13]);
    assert_eq!(operations, [Program(bench.at(13), Host), Erase(l1, Merge)], "L1 is detached");
    assert_eq!((bench.events(Event::EarlyReuses), bench.events(Event::DeadLogBlocks)), (1, 1));
    assert_eq!(level(&bench, Level::RandomLogBlocks), Some(2));
    bench.write(&[17, 18, 19]);
    let operations = bench.write(&[14]);
    assert_eq!(operations, [Program(bench.at(14), Host)], "Lx gives space: L0 is not merged yet");
    assert_eq!(bench.merges(), (0, 0, 0));
    assert_eq!(bench.block(5), l0);
}

#[test]
fn without_early_reuse_an_empty_log_block_waits_for_its_turn() {
    let pairs = [&FOUR[..], &[("adapt.early_reuse", "false")]].concat();
    let mut bench = bench(5, &pairs);
    bench.write(&[13, 13, 13, 13]);
    let l0 = bench.block(13);
    assert_eq!(bench.write(&[13]).len(), 1);
    bench.write(&[17, 18, 19, 5, 6, 9, 10]);
    let operations = bench.write(&[14]);
    assert_eq!(operations, [Erase(l0, Merge), Program(bench.at(14), Host)]);
    assert_eq!((bench.events(Event::EarlyReuses), bench.events(Event::DeadLogBlocks)), (0, 1));
}

#[test]
fn a_block_that_a_merge_empties_is_reused_too() {
    // L0 holds 5 and 9, L1 holds 6 and 6 alone: rebuilding logical block 1 empties L1.
    let mut bench = bench(5, &[("adapt.log_blocks", "3"), ("adapt.history_bytes", "0")]);
    bench.write(&[9, 9, 9, 5, 6, 6, 6, 6]);
    let (l0, l1) = (bench.block(5), bench.block(6));
    let operations = bench.write(&[13]);
    let erased = |block| operations.iter().position(|&operation| operation == Erase(block, Merge));
    assert!(erased(l0).is_some() && erased(l0) < erased(l1), "{operations:?}");
    assert_eq!(bench.events(Event::EarlyReuses), 1);
}

#[test]
fn the_open_block_is_left_alone_unless_asked() {
    for (skip, reuses) in [("true", 0), ("false", 1)] {
        let pairs = [&FOUR[..], &[("adapt.erl_skip_open", skip)]].concat();
        let mut bench = bench(5, &pairs);
        bench.write(&[5, 6]);
        let open = bench.block(5);
        let operations = bench.submit(Op::Write, 4, 4);
        assert_eq!(bench.events(Event::EarlyReuses), reuses, "{skip}");
        assert_eq!(operations.contains(&Erase(open, Merge)), reuses == 1);
    }
}

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
