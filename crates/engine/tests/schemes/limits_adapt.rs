//! What ADAPT does at the limits of its settings, and what becomes of its predictions in the end.

use crate::adapt_bench::{bench, level, limits};
use crate::common::{LATENCIES, PROGRAM, pages, tiny};
use crate::fast_bench::Bench;
use ftlab_engine::board::nand::record::Operation::Erase;
use ftlab_engine::meter::Cause::Merge;
use ftlab_engine::meter::{Event, Level};
use ftlab_engine::request::Op;
use ftlab_engine::schemes;

/// A table of three entries that knows page 9 and not page 17, both at the head of the random area:
/// the ninth request of this bench and those before it (Fig. 3).
fn fig_3(more: &[(&str, &str)]) -> Bench {
    let pairs = [&[("adapt.log_blocks", "3"), ("adapt.history_bytes", "18")], more].concat();
    let mut bench = bench(4, &pairs);
    bench.write(&[17, 5, 6, 9, 5, 6, 5, 6]);
    bench
}

/// Verdicts so far: right and wrong ones.
fn proved(bench: &Bench) -> [u64; 2] {
    [Event::HistoryRight, Event::HistoryWrong].map(|event| bench.events(event))
}

#[test]
fn a_sequential_area_of_no_blocks_takes_no_stream() {
    let pairs = [("adapt.log_blocks", "3"), ("adapt.seq_min", "0"), ("adapt.seq_max", "0")];
    let mut bench = bench(4, &pairs);
    assert_eq!(limits(&bench), (0, 3));
    bench.submit(Op::Write, 4, 4);
    bench.submit(Op::Write, 8, 4);
    assert_eq!(bench.events(Event::SequentialRequests), 2, "large they are");
    assert_eq!(bench.events(Event::SequentialLogOpens), 0);
    assert_eq!(bench.events(Event::RandomLogWrites), 8);
}

#[test]
fn the_random_area_has_all_blocks_but_the_least_of_the_other() {
    let pairs = [("adapt.log_blocks", "6"), ("adapt.seq_min", "2"), ("adapt.seq_max", "3")];
    assert_eq!(limits(&bench(1, &pairs)), (2, 4));
}

/// Complete it is at once: the fourth page of a stream erases the data block behind itself, and the
/// request is over with its own programs.
#[test]
fn a_complete_stream_is_switched_at_once_if_asked_and_nobody_waits_for_the_erase() {
    let pairs = [&LATENCIES[..], &[("timing.profile", "parallel")]].concat();
    let took = |complete: &'static str| {
        let mut bench = bench(3, &[&pairs[..], &[("adapt.seq_complete", complete)]].concat());
        let data = bench.block(4);
        bench.device.board_mut().nand_mut().record_mut().start();
        let request = pages(&bench.config, Op::Write, 4, 4);
        let took = bench.device.submit(&request).expect("it works").device();
        let operations = bench.device.board_mut().nand_mut().record_mut().take();
        assert_eq!(operations.last() == Some(&Erase(data, Merge)), complete == "at_once");
        assert_eq!(bench.merges().0, u64::from(complete == "at_once"));
        took
    };
    let (wait, at_once) = (took("wait"), took("at_once"));
    assert_eq!(wait, at_once);
    assert!(wait >= 4 * PROGRAM, "{wait}");
}

/// A page that is not the next one of its stream, in a small request: only where small requests
/// count as large ones it is merged with the stream, in full behind the pages that were written,
/// partially beyond them.
#[test]
fn small_requests_break_streams_only_if_they_count_as_large() {
    for (small, rewrite, gap) in [
        ("as_large", (0, 0, 1), (0, 1, 0)),
        ("to_random", (0, 0, 0), (0, 0, 0)),
        ("append", (0, 0, 0), (0, 0, 0)),
    ] {
        let pairs = [("adapt.seq_miss", "with_request"), ("adapt.seq_small", small)];
        let mut back = bench(3, &pairs);
        back.submit(Op::Write, 4, 3);
        back.write(&[5]);
        assert_eq!(back.merges(), rewrite, "{small}");
        assert_eq!(back.events(Event::RandomLogWrites), u64::from(small != "as_large"), "{small}");

        // Pages 6 and 7 are of the block before: logical block 2 has a stream of one page.
        let mut ahead = bench(3, &pairs);
        ahead.submit(Op::Write, 6, 3);
        ahead.write(&[10]);
        assert_eq!(ahead.merges().1, gap.1, "{small}");
        assert_eq!(ahead.events(Event::RandomLogWrites), u64::from(small != "as_large"), "{small}");
    }
}

#[test]
fn a_large_request_beyond_the_next_page_of_a_stream_is_merged_with_it_if_asked() {
    for (miss, random) in [("with_request", 0), ("to_random", 2)] {
        let mut bench = bench(4, &[("adapt.seq_miss", miss)]);
        bench.submit(Op::Write, 6, 3);
        // Page 8 is there; 10 to 12 leave out page 9. Merged with page 10 inside, logical block 2
        // has no stream any more, and page 11 begins one.
        bench.submit(Op::Write, 10, 3);
        assert_eq!(bench.events(Event::RandomLogWrites), random, "{miss}");
    }
}

#[test]
fn theta_flips_where_delta_is_below_its_lower_limit_and_not_at_it() {
    // An area of three blocks: five allocations, two switches.
    for (low, theta) in [("0.4", 2), ("0.401", 32)] {
        let pairs = [
            ("adapt.log_blocks", "8"),
            ("adapt.seq_max", "4"),
            ("adapt.seq_init", "3"),
            ("adapt.interval", "7"),
            ("adapt.delta_low", low),
            ("adapt.delta_high", "0.9"),
        ];
        let mut bench = bench(9, &pairs);
        (1..=5).for_each(|block| drop(bench.submit(Op::Write, 4 * block, 4)));
        bench.write(&[33]);
        assert_eq!(level(&bench, Level::DeltaPermille), Some(400));
        assert_eq!(level(&bench, Level::ThetaPages), Some(theta), "{low}");
    }
}

/// Of two pages at the head one stays: phi counts the other alone.
#[test]
fn phi_counts_what_a_full_merge_merged_and_not_what_stayed() {
    let mut bench = fig_3(&[("adapt.interval", "11"), ("adapt.theta_adaptive", "false")]);
    bench.write(&[5]);
    assert_eq!(bench.events(Event::SecondChanceCopies), 1);
    bench.write(&[6]);
    assert_eq!(level(&bench, Level::PhiPages), Some(1));
}

/// The hit rate of an interval, thousandths: of the table's answers, or of what was proved by its
/// end.
#[test]
fn the_hit_rate_is_of_answers_or_of_proofs_as_set() {
    let rate = |definition, interval, writes: &[u64]| {
        let pairs = [
            ("adapt.hit_rate_def", definition),
            ("adapt.interval", interval),
            ("adapt.theta_adaptive", "false"),
        ];
        let mut bench = fig_3(&pairs);
        bench.write(writes);
        assert_eq!(level(&bench, Level::HistoryHitPermille), None, "the interval is not over");
        bench.write(&[5]);
        level(&bench, Level::HistoryHitPermille)
    };
    // The tenth request asks for pages 17 and 9.
    assert_eq!(rate("table_hits", "11", &[5]), Some(500));
    // Page 9 stayed and is rewritten: right; 17 was merged and is rewritten: wrong.
    assert_eq!(rate("correct_predictions", "12", &[5, 9]), Some(1000));
    assert_eq!(rate("correct_predictions", "12", &[5, 17]), Some(0));
    assert_eq!(rate("correct_predictions", "13", &[5, 9, 17]), Some(500));
    assert_eq!(rate("correct_predictions", "11", &[5]), None, "nothing is proved yet");
}

/// All four pages of a victim are expected, and one of them may stay: that the others had to go was
/// no prediction, so their rewrite proves none wrong.
#[test]
fn an_expected_page_that_had_to_go_proves_nothing() {
    let pairs = [("adapt.log_blocks", "2"), ("adapt.min_gain_pages", "3")];
    let mut bench = bench(9, &pairs);
    bench.write(&[5, 9, 13, 17]);
    bench.write(&[21]);
    assert_eq!(bench.events(Event::SecondChanceCopies), 1);
    bench.write(&[17]);
    assert_eq!(proved(&bench), [0, 0]);
    bench.write(&[5]);
    assert_eq!(proved(&bench), [1, 0], "this one had stayed");
}

/// Nor does a block that is merged as a whole behind one that was moved: the table was not asked.
#[test]
fn a_page_that_was_merged_unasked_proves_nothing() {
    let mut bench = bench(5, &[("adapt.log_blocks", "4"), ("adapt.history_bytes", "0")]);
    bench.write(&[5, 6, 9, 10, 13, 13, 13, 14, 17, 18, 17, 18]);
    bench.write(&[21]);
    assert_eq!((bench.events(Event::AggregatedMoves), bench.merges().2), (1, 1));
    bench.write(&[13]);
    assert_eq!(proved(&bench), [0, 0]);
}

/// Page 9 stayed. A stream of its logical block is merged with it: it stayed in vain.
#[test]
fn a_page_that_stayed_and_is_merged_with_its_logical_block_stayed_in_vain() {
    let mut bench = fig_3(&[]);
    bench.write(&[5]);
    bench.submit(Op::Write, 10, 3);
    assert_eq!(bench.merges().2, 2, "the stream of page 10 gave way to that of page 12");
    assert_eq!(proved(&bench), [0, 1]);
    bench.write(&[9]);
    assert_eq!(proved(&bench), [0, 1], "once");
}

/// Whoever trims a page says nothing about its rewrite, whether it stayed or was merged.
#[test]
fn a_trimmed_page_proves_nothing() {
    let mut bench = fig_3(&[]);
    bench.write(&[5]);
    bench.submit(Op::Trim, 9, 1);
    bench.submit(Op::Trim, 17, 1);
    bench.write(&[9, 17]);
    assert_eq!(proved(&bench), [0, 0]);
}

/// Limits that may be equal, and lie in the wrong order otherwise.
#[test]
fn limits_of_a_pair_may_be_equal() {
    let (row, _) = schemes::find("adapt").expect("in the table");
    let cases = [
        (("adapt.delta_low", "0.4"), ("adapt.delta_high", "0.4"), ("adapt.delta_high", "0.3")),
        (("adapt.theta_low", "8"), ("adapt.theta_high", "8"), ("adapt.theta_high", "7")),
        (("adapt.history_min", "600"), ("adapt.history_max", "600"), ("adapt.history_max", "594")),
    ];
    for (low, equal, below) in cases {
        let auto = ("adapt.history_auto", "true");
        let checked = |high| (row.check)(&tiny("adapt", 10, &[low, high, auto]));
        assert!(checked(equal).is_ok(), "{low:?} {equal:?}");
        let error = checked(below).expect_err("in the wrong order").to_string();
        assert!(error.contains(&format!("lies above {}", below.0)), "{error}");
    }
}
