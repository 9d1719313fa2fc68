//! What ADAPT takes for the size of a request, from when on it observes, and with how many
//! sequential log blocks it begins.

use crate::adapt_bench::{bench, level, limits, rebuilt};
use crate::common::pages;
use crate::fast_bench::copy;
use ftlab_engine::board::nand::record::Operation::{Erase, Program};
use ftlab_engine::meter::Cause::{Host, Merge};
use ftlab_engine::meter::{Event, Level};
use ftlab_engine::request::Op;

/// As many bytes as two pages have, from the second sector of page 5 on: three pages are touched,
/// more than theta. The paper's threshold is a size, 4 KB.
#[test]
fn a_request_across_page_borders_is_a_stream_by_its_pages_and_none_by_its_bytes() {
    for (unit, opened, random) in [("touched_pages", 1, 0), ("bytes", 0, 3)] {
        let mut bench = bench(3, &[("adapt.size_unit", unit), ("device.page_bytes", "2048")]);
        let mut request = pages(&bench.config, Op::Write, 5, 2);
        request.first_sector += 1;
        bench.device.board_mut().nand_mut().record_mut().start();
        bench.device.submit(&request).expect("nothing fails here");
        let operations = bench.device.board_mut().nand_mut().record_mut().take();
        assert_eq!(operations, bench.all_at([5, 6, 7]).map(|ppn| Program(ppn, Host)), "{unit}");
        assert_eq!(bench.events(Event::SequentialLogOpens), opened, "{unit}");
        assert_eq!(bench.events(Event::RandomLogWrites), random, "{unit}");
        // At its own place in a block of its own, or at the beginning of a shared one.
        assert_eq!(bench.place(5).1, if opened == 1 { 1 } else { 0 }, "{unit}");
    }
}

/// Six requests, the one that filled the device among them, then measuring begins. The interval of
/// eight ends two requests later, or eight.
#[test]
fn the_interval_begins_when_measuring_begins_if_that_is_asked_for() {
    for (from, last) in [("format", 2), ("measuring", 8)] {
        let pairs = [
            ("adapt.log_blocks", "6"),
            ("adapt.seq_max", "3"),
            ("adapt.interval", "8"),
            ("adapt.observe_from", from),
        ];
        let mut bench = bench(4, &pairs);
        // The bench began to measure behind the request that filled it, which is forgotten.
        let before = if from == "format" { 5 } else { 6 };
        let stream = |bench: &mut crate::fast_bench::Bench, number: u64| {
            bench.submit(Op::Write, 4 + 4 * (number % 4), 4);
        };
        (0..before).for_each(|number| stream(&mut bench, number));
        bench.device.start_measuring();
        for number in 1..=last {
            assert_eq!(limits(&bench), (1, 5), "{from}, before request {number}");
            stream(&mut bench, before + number - 1);
        }
        assert_eq!(limits(&bench), (2, 4), "{from}: delta was high");
    }
}

/// Every interval of two requests without an allocation flips theta. One flip before measuring
/// begins is undone there, if that is asked for.
#[test]
fn theta_begins_when_measuring_begins_if_that_is_asked_for() {
    for (from, theta) in [("format", 32), ("measuring", 2)] {
        let pairs = [
            ("adapt.interval", "2"),
            ("adapt.delta_if_no_alloc", "zero"),
            ("adapt.observe_from", from),
        ];
        let mut bench = bench(0, &pairs);
        bench.write(&[4, 8]);
        assert_eq!(bench.events(Event::ThresholdFlips), 1);
        bench.device.start_measuring();
        assert_eq!(level(&bench, Level::ThetaPages), Some(theta), "{from}");
        // Three pages are a stream for a theta of 2 alone.
        bench.submit(Op::Write, 4, 3);
        assert_eq!(bench.events(Event::SequentialRequests), u64::from(theta == 2), "{from}");
    }
}

/// Fig. 3 with measuring beginning in between: page 9, written before, is known and stays in the
/// log, or is forgotten and merged like page 17.
#[test]
fn the_history_begins_when_measuring_begins_if_that_is_asked_for() {
    for from in ["format", "measuring"] {
        let pairs = [
            ("adapt.log_blocks", "3"),
            ("adapt.history_bytes", "18"),
            ("adapt.observe_from", from),
        ];
        let mut bench = bench(4, &pairs);
        bench.write(&[17, 5, 6, 9, 5, 6, 5, 6]);
        bench.device.start_measuring();
        let [log, of_17, of_9] =
            [bench.block(17), bench.block(16), bench.block(8)].map(|block| Erase(block, Merge));
        let (nine, first) = (bench.at(9), bench.all_at([16, 17, 18, 19]));
        let second = bench.all_at([8, 9, 10, 11]);
        let operations = bench.write(&[5]);
        let mut expected = rebuilt(&first, &bench.all_at([16, 17, 18, 19]), of_17);
        match from {
            "format" => expected.extend(copy(nine, bench.at(9))),
            _ => expected.extend(rebuilt(&second, &bench.all_at([8, 9, 10, 11]), of_9)),
        }
        expected.extend([log, Program(bench.at(5), Host)]);
        assert_eq!(operations, expected, "{from}");
        assert_eq!(bench.events(Event::HistoryQueries), 2);
    }
}

#[test]
fn the_sequential_area_begins_with_its_least_or_with_its_most_blocks() {
    let area = |pairs: &[(&str, &str)]| {
        let shared = [("adapt.log_blocks", "8"), ("adapt.seq_max_share", "0.5")];
        limits(&bench(1, &[&shared[..], pairs].concat()))
    };
    assert_eq!(area(&[]), (1, 7));
    assert_eq!(area(&[("adapt.seq_init_auto", "most")]), (4, 4));
    assert_eq!(area(&[("adapt.seq_init_auto", "most"), ("adapt.seq_init", "2")]), (2, 6));
}
