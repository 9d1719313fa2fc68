//! ADAPT's examples (Figs 2 to 5) and Algorithm 2 branch by branch, as flash operations in order.
//! Blocks have 4 pages, so tau is 4 of 4 and phi's limit 2 by default.

use crate::adapt_bench::{bench, level, rebuilt};
use crate::fast_bench::{Bench, copy};
use ftlab_engine::board::nand::record::Operation::{self, Erase, Program};
use ftlab_engine::meter::Cause::{Host, Merge};
use ftlab_engine::meter::{Event, Level};
use ftlab_engine::request::Op;
use ftlab_engine::units::Ppn;

/// Two random log blocks and one sequential one; nothing adapts.
const THREE: [(&str, &str); 1] = [("adapt.log_blocks", "3")];

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
