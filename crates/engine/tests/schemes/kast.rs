//! KAST's choice of update blocks, step by step (`docs/papers/others.md#kast`), as flash
//! operations in order. Blocks have 4 pages unless a test says 20: logical block 1 is pages 4 to 7.

use crate::fast_bench::{Bench, copy};
use ftlab_engine::board::nand::record::Operation::{self, Erase, Program, Read};
use ftlab_engine::meter::Cause::{Host, Merge, Pad};
use ftlab_engine::meter::Event;
use ftlab_engine::request::Op;
use ftlab_engine::units::BlockId;

type Pairs<'a> = &'a [(&'a str, &'a str)];

/// Nine logical blocks are filled; `blocks` update blocks, `sub_pct` of them SUBs, K = 2.
fn bench(blocks: &'static str, sub_pct: &'static str, more: Pairs<'_>) -> Bench {
    let pairs = [&[("kast.log_blocks", blocks), ("kast.sub_max_pct", sub_pct)], more].concat();
    Bench::of("kast", 9, &pairs)
}

/// The rebuild of one logical block: its pages from `sources` to `target`, then its old block
/// erased.
fn rebuilt(
    bench: &Bench,
    lbn: u32,
    sources: &[ftlab_engine::units::Ppn],
    old: BlockId,
) -> Vec<Operation> {
    let pages = lbn * 4..lbn * 4 + 4;
    let copies = sources.iter().zip(pages).flat_map(|(&from, lpn)| copy(from, bench.at(lpn)));
    copies.chain([Erase(old, Merge)]).collect()
}

#[test]
fn a_logical_block_overwritten_in_order_costs_one_erase_and_no_copy() {
    let mut bench = bench("4", "30", &[]);
    let data = bench.block(4);
    let operations = bench.submit(Op::Write, 4, 4);
    let log = bench.block(4);
    assert_eq!(operations, bench.all_at([4, 5, 6, 7]).map(|ppn| Program(ppn, Host)));
    assert_eq!(bench.events(Event::SequentialLogOpens), 1);
    // (A): the next one that needs an update block has the full SUB merged, though others are free.
    let operations = bench.write(&[9]);
    assert_eq!(operations, [Erase(data, Merge), Program(bench.at(9), Host)]);
    assert_eq!((bench.merges(), bench.erases()), ((1, 0, 0), (1, 0, 0)));
    assert_eq!((bench.block(4), bench.meter().programs(Merge)), (log, 0));
}

#[test]
fn random_writes_take_empty_places_then_the_rub_with_fewest_owners_and_most_room() {
    let mut bench = bench("3", "0", &[]);
    bench.write(&[5, 9, 13]);
    let [one, two, three] = [5, 9, 13].map(|lpn| bench.block(lpn));
    assert!(one != two && two != three && one != three, "empty places first");
    bench.write(&[9]);
    assert_eq!(bench.block(9), two, "a logical block that has a RUB stays there");
    bench.write(&[17, 21, 25]);
    assert_eq!(bench.block(17), one, "one owner and most room, written longest ago");
    assert_eq!(bench.block(21), three, "one owner and more room than the second");
    assert_eq!(bench.block(25), two, "the last with one owner");
    assert_eq!(bench.merges(), (0, 0, 0));
}

#[test]
fn with_k_owners_everywhere_the_fullest_rub_is_merged_owner_by_owner() {
    let mut bench = bench("3", "0", &[]);
    bench.write(&[5, 9, 13, 9, 9, 17, 21, 25]);
    let (log, data_two, data_six) = (bench.block(9), bench.block(8), bench.block(24));
    let sources_two = bench.all_at([8, 9, 10, 11]);
    let sources_six = bench.all_at([24, 25, 26, 27]);
    let operations = bench.write(&[29]);
    let mut expected = rebuilt(&bench, 2, &sources_two, data_two);
    expected.extend(rebuilt(&bench, 6, &sources_six, data_six));
    expected.extend([Erase(log, Merge), Program(bench.at(29), Host)]);
    assert_eq!(operations, expected, "K P copies and K + 1 erases: the worst there is");
    assert_eq!((bench.merges(), bench.erases()), ((0, 0, 1), (2, 1, 0)));
    assert_eq!(bench.meter().merges().associativity[2], 1);
    assert_eq!(bench.events(Event::LogPagesAtMerge), 4);
}

#[test]
fn the_victim_under_lru_is_the_rub_written_longest_ago() {
    let mut bench = bench("3", "0", &[("kast.victim", "lru")]);
    bench.write(&[5, 9, 13, 9, 9, 17, 21, 25]);
    let log = bench.block(17);
    let operations = bench.write(&[29]);
    assert!(operations.contains(&Erase(log, Merge)), "of 5 and 17, not of 9 and 25");
}

#[test]
fn an_idle_rub_is_merged_before_a_fuller_one_that_is_in_use() {
    // Pages used + requests since / 2: 1 + (5 + n) / 2 for one RUB, 4 for the other.
    for (elsewhere, first_goes) in [(0, false), (2, true)] {
        let mut bench = bench("2", "0", &[("kast.K", "1"), ("device.pages_per_block", "20")]);
        bench.write(&[25]);
        let first = bench.block(25);
        (0..elsewhere).for_each(|page| drop(bench.write(&[page])));
        bench.write(&[45; 4]);
        let operations = bench.write(&[65]);
        assert_eq!(operations.contains(&Erase(first, Merge)), first_goes, "{elsewhere} in place");
    }
}

#[test]
fn the_full_rub_of_a_page_is_merged_for_it_and_the_place_taken_again() {
    let mut bench = bench("2", "0", &[]);
    let data = bench.block(4);
    bench.write(&[5, 5, 6, 5]);
    let log = bench.block(5);
    let sources = bench.all_at([4, 5, 6, 7]);
    let operations = bench.write(&[5]);
    let targets = [4, 6, 7].map(|lpn| bench.at(lpn));
    assert!(
        targets.iter().all(|&ppn| bench.device.board().geometry().block_of(ppn) == bench.block(4))
    );
    assert_eq!(operations.len(), 11, "four copies, two erases, the page");
    assert_eq!(operations[0], Read(sources[0], Merge));
    assert_eq!(
        operations[8..],
        [Erase(data, Merge), Erase(log, Merge), Program(bench.at(5), Host)]
    );
    assert_eq!(bench.merges(), (0, 0, 1));
}

#[test]
fn a_small_gap_in_a_subs_stream_is_filled_with_copies() {
    let mut bench = bench("2", "50", &[("device.pages_per_block", "20")]);
    bench.write(&[20]);
    let old = bench.at(21);
    let operations = bench.write(&[22]);
    let (padded, written) = (bench.at(21), bench.at(22));
    assert_eq!(operations, [Read(old, Pad), Program(padded, Pad), Program(written, Host)]);
    let sub = bench.block(20);
    assert_eq!((bench.place(21), bench.place(22)), ((sub, 1), (sub, 2)));
    bench.write(&[23]);
    assert_eq!(bench.place(23), (sub, 3), "the stream goes on");
    assert_eq!(bench.events(Event::Conversions), 0);
}

#[test]
fn a_large_gap_makes_a_roomy_sub_a_rub_and_a_nearly_full_one_is_padded() {
    let pairs = [("device.pages_per_block", "20"), ("kast.pad_sub_pct", "0")];
    let mut roomy = bench("2", "50", &pairs);
    roomy.write(&[20]);
    let sub = roomy.block(20);
    let operations = roomy.write(&[22]);
    assert_eq!(operations, [Program(roomy.at(22), Host)]);
    assert_eq!((roomy.place(22), roomy.events(Event::Conversions)), ((sub, 1), 1));

    let mut nearly = bench("2", "50", &pairs);
    nearly.submit(Op::Write, 20, 18);
    let sub = nearly.block(20);
    let operations = nearly.write(&[39]);
    assert_eq!((operations.len(), nearly.meter().programs(Pad)), (3, 1), "page 38 is copied");
    assert_eq!((nearly.place(39), nearly.events(Event::Conversions)), ((sub, 19), 0));
}

#[test]
fn a_trimmed_page_in_a_gap_leaves_a_hole_and_is_not_copied() {
    let mut bench = bench("2", "50", &[("device.pages_per_block", "20")]);
    bench.write(&[20]);
    bench.submit(Op::Trim, 21, 1);
    assert_eq!(bench.write(&[22]), [Program(bench.at(22), Host)]);
    assert_eq!(bench.place(22), (bench.block(20), 2));
    // The hole does not keep the block from becoming the data block.
    bench.submit(Op::Write, 23, 17);
    let data = bench.block(20);
    bench.write(&[45]);
    assert_eq!((bench.merges(), bench.block(20)), ((1, 0, 0), data));
}

#[test]
fn a_rewrite_makes_a_roomy_sub_a_rub_and_merges_a_nearly_full_one() {
    let pairs = [("device.pages_per_block", "20")];
    let mut roomy = bench("2", "50", &pairs);
    roomy.submit(Op::Write, 20, 5);
    let sub = roomy.block(20);
    assert_eq!(roomy.write(&[21]), [Program(roomy.at(21), Host)]);
    assert_eq!((roomy.place(21), roomy.events(Event::Conversions)), ((sub, 5), 1));

    let mut nearly = bench("2", "50", &pairs);
    let data = nearly.block(20);
    nearly.submit(Op::Write, 20, 18);
    let sub = nearly.block(20);
    let sources = nearly.all_at([38, 39]);
    let operations = nearly.write(&[21]);
    let mut expected = copy(sources[0], nearly.at(38)).to_vec();
    expected.extend(copy(sources[1], nearly.at(39)));
    expected.extend([Erase(data, Merge), Program(nearly.at(21), Host)]);
    assert_eq!(operations, expected, "a partial merge, then a RUB in its place");
    assert_eq!((nearly.merges(), nearly.block(20)), ((0, 1, 0), sub));
    // Offset 0 begins the stream anew instead.
    let mut anew = bench("2", "50", &pairs);
    anew.submit(Op::Write, 20, 18);
    anew.write(&[20]);
    assert_eq!((anew.merges(), anew.events(Event::SequentialLogOpens)), ((0, 1, 0), 2));
}

#[test]
fn an_idle_roomy_sub_becomes_a_rub_when_no_place_and_no_owner_is_left() {
    for (least, converted) in [("4", false), ("3", true)] {
        let mut bench = bench("2", "50", &[("kast.sub_min_idle", least)]);
        bench.write(&[4, 9, 13]);
        assert_eq!(bench.block(9), bench.block(13), "one SUB, one RUB of two");
        let sub = bench.block(4);
        let operations = bench.write(&[17]);
        assert_eq!(bench.events(Event::Conversions), u64::from(converted));
        assert_eq!(bench.block(17) == sub, converted);
        assert_eq!(operations.len() == 1, converted, "else the RUB is merged");
    }
}

/// Where a RUB has one owner alone nobody could join what the SUB becomes.
#[test]
fn an_idle_roomy_sub_stays_where_rubs_are_not_shared() {
    let mut bench = bench("2", "50", &[("kast.K", "1"), ("kast.sub_min_idle", "3")]);
    bench.write(&[4, 9, 9, 9]);
    let sub = bench.block(4);
    bench.write(&[13]);
    assert_eq!((bench.events(Event::Conversions), bench.block(4)), (0, sub));
    assert_eq!(bench.merges(), (0, 0, 1), "the RUB's");
}

#[test]
fn a_nearly_full_sub_is_merged_before_a_rub() {
    for (percent, merges) in [("24", (0, 0, 1)), ("25", (0, 1, 0))] {
        let mut bench = bench("2", "50", &[("kast.merge_sub_pct", percent)]);
        bench.submit(Op::Write, 4, 3);
        bench.write(&[9, 13, 17]);
        assert_eq!(bench.merges(), merges, "a quarter of the SUB is free, limit {percent} %");
    }
}

#[test]
fn a_sub_is_merged_whatever_is_free_if_there_is_no_rub() {
    let mut bench = bench("1", "100", &[]);
    bench.write(&[4, 9]);
    assert_eq!((bench.merges(), bench.events(Event::Conversions)), ((0, 1, 0), 0));
}

#[test]
fn a_long_write_of_offset_0_leaves_its_rub_for_a_sub() {
    let mut alone = bench("2", "50", &[("kast.merge_rub_start_sub_pct", "50")]);
    alone.write(&[5, 4]);
    assert_eq!((alone.block(4), alone.merges()), (alone.block(5), (0, 0, 0)), "one page is short");
    let (data, log) = (alone.block(6), alone.block(5));
    let operations = alone.submit(Op::Write, 4, 2);
    let erased = [Erase(data, Merge), Erase(log, Merge)];
    let written = alone.all_at([4, 5]).map(|ppn| Program(ppn, Host));
    assert_eq!(operations[8..], [erased, written].concat(), "nobody else had pages there");
    assert_eq!(alone.events(Event::SequentialLogOpens), 1);
}

#[test]
fn other_owners_stay_in_the_rub_that_one_leaves() {
    let mut bench = bench("2", "50", &[]);
    bench.write(&[5, 9, 13, 9, 9, 9]);
    assert_eq!(bench.block(5), bench.block(13));
    // The full RUB of 9 is merged without page 10, whose place is free then: no RUB is needed.
    bench.submit(Op::Trim, 10, 1);
    bench.write(&[10]);
    assert_eq!(bench.events(Event::InPlaceWrites), 1);
    let (data, shared) = (bench.block(4), bench.block(13));
    let sources = bench.all_at([4, 5, 6, 7]);
    let operations = bench.submit(Op::Write, 4, 1);
    assert_eq!(operations.len(), 10, "four copies, one erase, the page");
    assert_eq!(operations[0], Read(sources[0], Merge));
    assert_eq!(operations[8..], [Erase(data, Merge), Program(bench.at(4), Host)]);
    assert_eq!(bench.block(13), shared);
    assert_eq!(bench.events(Event::SequentialLogOpens), 1);
}

#[test]
fn there_are_never_more_subs_than_allowed() {
    let mut busy = bench("4", "25", &[]);
    busy.write(&[4, 8]);
    assert_eq!(busy.events(Event::SequentialLogOpens), 1, "page 8 counts as random");
    assert_eq!(busy.events(Event::RandomLogWrites), 1);
    let mut idle = bench("4", "25", &[("kast.sub_min_idle", "1")]);
    idle.write(&[4, 8]);
    assert_eq!(idle.events(Event::SequentialLogOpens), 2);
    assert_eq!(idle.events(Event::Conversions), 1, "the first made way");
    let mut tight = bench("4", "25", &[("kast.sub_min_idle", "1"), ("kast.convert_sub_pct", "80")]);
    tight.write(&[4, 8]);
    assert_eq!((tight.merges(), tight.events(Event::Conversions)), ((0, 1, 0), 0));
    let mut none = bench("4", "0", &[]);
    none.write(&[4, 8]);
    assert_eq!(none.events(Event::SequentialLogOpens), 0);
}

#[test]
fn in_order_counts_with_or_without_trimmed_pages() {
    for (check, merges) in [("all_pages", (1, 0, 0)), ("valid_pages", (0, 0, 1))] {
        let pairs = [("kast.K", "1"), ("kast.seq_check", check)];
        let mut bench = bench("1", "0", &pairs);
        bench.submit(Op::Write, 4, 4);
        bench.submit(Op::Trim, 6, 1);
        bench.write(&[9]);
        assert_eq!(bench.merges(), merges, "{check}");
    }
}
