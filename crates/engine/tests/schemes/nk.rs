//! N-K mapping's rules and merges (`docs/papers/others.md#n-k-mapping`) as flash operations in
//! order, and how K changes at run time. Blocks have 4 pages; with N = 2, group 1 is logical blocks
//! 2 and 3, pages 8 to 15.

use std::collections::BTreeSet;

use crate::common::{mixed, open, pages, tiny};
use crate::fast_bench::{Bench, copy};
use ftlab_engine::board::nand::record::Operation::{self, Erase, Program};
use ftlab_engine::meter::Cause::{Host, Merge};
use ftlab_engine::meter::{Event, Level};
use ftlab_engine::request::Op;
use ftlab_engine::schemes::{self, Location};
use ftlab_engine::units::{Lpn, Ppn};

/// Groups of two, five logical blocks of ten written, three log blocks.
fn bench(k: &str, pairs: &[(&str, &str)]) -> Bench {
    let common = [("nk.N", "2"), ("nk.K", k), ("nk.log_blocks", "3")];
    Bench::of("nk", 5, &[&common, pairs].concat())
}

fn copies(from: &[Ppn], to: &[Ppn]) -> Vec<Operation> {
    from.iter().zip(to).flat_map(|(&from, &to)| copy(from, to)).collect()
}

#[test]
fn logical_blocks_of_a_group_share_a_log_block_and_other_groups_have_their_own() {
    let mut bench = bench("1", &[]);
    let operations = bench.write(&[9, 13, 5]);
    assert_eq!(operations, bench.all_at([9, 13, 5]).map(|ppn| Program(ppn, Host)));
    let log = bench.block(9);
    assert_eq!((bench.place(9), bench.place(13)), ((log, 0), (log, 1)));
    assert_eq!(bench.place(5).1, 0);
    assert_ne!(bench.block(5), log, "page 5 is of group 0");
    assert_eq!(bench.events(Event::RandomLogWrites), 3);
}

#[test]
fn a_group_with_its_k_merges_its_log_block_with_both_data_blocks() {
    let mut bench = bench("1", &[]);
    let data = [bench.block(8), bench.block(12)];
    bench.write(&[9, 13, 9, 13]);
    let log = bench.block(9);
    let from = bench.all_at([8, 9, 10, 11, 12, 13, 14, 15]);
    let operations = bench.write(&[10]);
    let mut to = bench.all_at([8, 9, 10, 11, 12, 13, 14, 15]);
    // Page 10 has moved on to a new log block.
    to[2] = Ppn(to[1].0 + 1);
    let mut expected = copies(&from[..4], &to[..4]);
    expected.push(Erase(data[0], Merge));
    expected.extend(copies(&from[4..], &to[4..]));
    expected.extend([Erase(data[1], Merge), Erase(log, Merge), Program(bench.at(10), Host)]);
    assert_eq!(operations, expected);
    assert_eq!((bench.merges(), bench.erases()), ((0, 0, 1), (2, 1, 0)));
    assert_eq!(bench.meter().merges().associativity[2], 1);
    assert_eq!(bench.events(Event::LogPagesAtMerge), 4);
}

#[test]
fn with_k_2_a_second_log_block_is_opened_before_anything_is_merged() {
    let mut bench = bench("2", &[]);
    bench.write(&[9, 13, 10, 14]);
    let first = bench.block(9);
    let operations = bench.write(&[9]);
    assert_eq!(operations, [Program(bench.at(9), Host)]);
    assert_ne!(bench.block(9), first);
    assert_eq!(bench.block(13), first, "the first block's other pages stay");
    assert_eq!(bench.merges(), (0, 0, 0));
}

#[test]
fn a_log_block_without_a_valid_page_goes_first() {
    let mut bench = bench("2", &[]);
    bench.write(&[9, 13, 9, 13]);
    let dead = bench.block(9);
    bench.write(&[9, 13, 10, 14]);
    let operations = bench.write(&[11]);
    assert_eq!(operations, [Erase(dead, Merge), Program(bench.at(11), Host)]);
    assert_eq!((bench.merges(), bench.events(Event::DeadLogBlocks)), ((0, 0, 0), 1));
}

#[test]
fn a_full_merge_gathers_from_all_log_blocks_of_the_group_and_erases_what_it_empties() {
    for (erase_emptied, erased) in [("on", 2), ("off", 1)] {
        let mut bench = bench("2", &[("nk.erase_emptied", erase_emptied)]);
        let data = [bench.block(8), bench.block(12)];
        bench.write(&[9, 13, 10, 14]);
        let first = bench.block(9);
        bench.write(&[11, 15, 8, 15]);
        let second = bench.block(11);
        let from = bench.all_at([8, 9, 10, 11, 12, 13, 14, 15]);
        let operations = bench.submit(Op::Write, 9, 1);
        let mut to = bench.all_at([8, 9, 10, 11, 12, 13, 14, 15]);
        to[1] = Ppn(to[0].0 + 1);
        let mut expected = copies(&from[..4], &to[..4]);
        expected.push(Erase(data[0], Merge));
        expected.extend(copies(&from[4..], &to[4..]));
        expected.extend([Erase(data[1], Merge), Erase(first, Merge)]);
        expected.extend((erased == 2).then_some(Erase(second, Merge)));
        expected.push(Program(bench.at(9), Host));
        assert_eq!(operations, expected, "nk.erase_emptied = {erase_emptied}");
        assert_eq!((bench.merges(), bench.erases()), ((0, 0, 1), (2, erased, 0)));
    }
}

#[test]
fn a_whole_logical_block_in_order_is_switched_one_erase_and_no_copy() {
    let mut bench = bench("1", &[]);
    let data = bench.block(8);
    bench.submit(Op::Write, 8, 4);
    let log = bench.block(8);
    let operations = bench.write(&[13]);
    assert_eq!(operations, [Erase(data, Merge), Program(bench.at(13), Host)]);
    assert_eq!((bench.merges(), bench.block(9)), ((1, 0, 0), log));
}

#[test]
fn two_logical_blocks_in_one_log_block_are_not_in_order() {
    let mut bench = bench("1", &[]);
    bench.write(&[8, 9, 14, 15, 8]);
    assert_eq!(bench.merges(), (0, 0, 1), "each page lies at its offset, but of two blocks");
}

#[test]
fn the_beginning_of_a_logical_block_is_completed_when_another_group_needs_the_log_block() {
    let mut bench = bench("1", &[("nk.log_blocks", "1")]);
    let data = bench.block(8);
    bench.write(&[8, 9]);
    let from = bench.all_at([10, 11]);
    let operations = bench.write(&[5]);
    let mut expected = copies(&from, &bench.all_at([10, 11]));
    expected.extend([Erase(data, Merge), Program(bench.at(5), Host)]);
    assert_eq!(operations, expected);
    assert_eq!(bench.merges(), (0, 1, 0));
    let mut bench =
        Bench::of("nk", 5, &[("nk.N", "2"), ("nk.log_blocks", "1"), ("nk.partial", "off")]);
    bench.write(&[8, 9, 5]);
    assert_eq!(bench.merges(), (0, 0, 1));
}

#[test]
fn the_cheapest_log_block_is_merged_first() {
    // Groups 0, 1 and 2: pages out of order, the beginning of a block, a whole block.
    let evict = |first: &[u64]| {
        let pairs = [("nk.N", "2"), ("nk.log_blocks", "3")];
        let mut bench = Bench::of("nk", 7, &pairs);
        bench.write(first);
        bench.write(&[25]);
        bench.merges()
    };
    assert_eq!(evict(&[5, 8, 9, 16, 17, 18, 19]), (1, 0, 0), "a switch");
    assert_eq!(evict(&[5, 8, 9, 17]), (0, 1, 0), "else a partial merge");
    assert_eq!(evict(&[5, 9, 17]), (0, 0, 1), "else a full one");
}

#[test]
fn no_more_than_256_log_blocks_are_compared_for_a_merge() {
    // However large the log is: the oldest 256 are, and of these the cheapest is taken.
    let config = tiny("nk", 400, &[("nk.N", "1"), ("nk.log_blocks", "300")]);
    let mut device = open("nk", &config);
    crate::common::fill(device.as_mut(), &config);
    let mut write = |page: u64| {
        device.submit(&pages(&config, Op::Write, page, 1)).expect("the device works");
        let meter = device.board().meter();
        (meter.merges().partial, meter.events(Event::VictimSearchSteps))
    };
    // The beginning of a logical block in the 256th log block, and in the last one.
    for lbn in 0..300 {
        write(4 * lbn + u64::from(lbn != 255 && lbn != 299));
    }
    let merged = [300, 301].map(|lbn| write(4 * lbn + 1));
    assert_eq!(merged, [(1, 256), (1, 512)], "the 256th is completed, then the oldest merged");
}

#[test]
fn merging_begins_and_stops_at_shares_of_the_log_blocks() {
    let open_five = |start: &str, stop: &str| {
        let pairs = [
            ("nk.N", "1"),
            ("nk.log_blocks", "4"),
            ("nk.victim", "fifo"),
            ("nk.start_pct", start),
            ("nk.stop_pct", stop),
        ];
        let mut bench = Bench::of("nk", 7, &pairs);
        let merged = [5, 9, 13, 17, 21].map(|page| {
            bench.write(&[page]);
            bench.merges().2
        });
        (merged, bench.device.room().free_blocks)
    };
    assert_eq!(open_five("100", "100"), ([0, 0, 0, 0, 1], 0), "only when none is left");
    assert_eq!(open_five("75", "75"), ([0, 0, 0, 1, 2], 1), "three of four in use at most");
    assert_eq!(open_five("100", "50"), ([0, 0, 0, 0, 3], 2), "down to two, the new one included");
    assert_eq!(open_five("1", "1"), ([0, 1, 2, 3, 4], 3), "never less than one");
}

#[test]
fn the_last_group_may_be_smaller() {
    let mut bench = Bench::of("nk", 9, &[("nk.N", "4"), ("nk.log_blocks", "3")]);
    bench.write(&[33, 37, 29]);
    assert_eq!(bench.block(33), bench.block(37), "logical blocks 8 and 9 are the third group");
    assert_ne!(bench.block(33), bench.block(29), "7 is of the second");
}

#[test]
fn shared_log_blocks_take_the_planes_in_turn() {
    let pairs = [("device.planes", "2"), ("timing.profile", "parallel"), ("nk.log_blocks", "4")];
    let mut bench = Bench::of("nk", 9, &[&[("nk.N", "2")], &pairs[..]].concat());
    bench.write(&[5, 9, 17, 25]);
    let planes =
        bench.all_at([5, 9, 17, 25]).map(|ppn| bench.device.board().geometry().plane_of(ppn).0);
    assert_eq!(planes, [0, 1, 0, 1]);
}

#[test]
fn a_group_never_lies_in_more_than_n_and_k_blocks() {
    for (n, k) in [(1, 1), (2, 1), (2, 3), (4, 2), (3, 5)] {
        let (n_text, k_text) = (n.to_string(), k.to_string());
        let pairs = [("nk.N", &*n_text), ("nk.K", &*k_text), ("nk.log_blocks", "6")];
        let config = tiny("nk", 10, &pairs);
        let mut device = open("nk", &config);
        let mut most = 0;
        for request in mixed(&config, 3000, 4) {
            device.submit(&request).expect("the device works");
            for group in 0..10u32.div_ceil(n) {
                let pages = group * n * 4..((group + 1) * n * 4).min(40);
                let blocks: BTreeSet<u32> = pages
                    .filter_map(|page| match device.locate(Lpn(page)) {
                        Location::Flash(ppn) => Some(ppn.0 / 4),
                        _ => None,
                    })
                    .collect();
                most = most.max(blocks.len() as u32);
                assert!(blocks.len() as u32 <= n + k, "N = {n}, K = {k}, group {group}");
            }
        }
        assert!(most > n, "N = {n}: log blocks were in use");
    }
}

#[test]
fn the_smallest_legal_device_never_runs_dry() {
    for pairs in [
        [("nk.N", "4"), ("nk.K", "1"), ("nk.log_blocks", "1")],
        [("nk.N", "64"), ("nk.K", "2"), ("nk.log_blocks", "2")],
    ] {
        let config = tiny("nk", 10, &pairs);
        let (row, _) = schemes::find("nk").expect("in the table");
        assert_eq!(config.device.physical_blocks(), (row.minimum_blocks)(&config), "none to spare");
        let mut device = open("nk", &config);
        device.verify_reads();
        for page in 0..config.device.logical_pages() {
            device.submit(&pages(&config, Op::Write, page, 1)).expect("room for every page");
        }
        // Every page of a log block valid, over and over: all differ.
        for page in (0..40 * 30).map(|turn| turn * 7 % 40) {
            device.submit(&pages(&config, Op::Write, page, 1)).expect("merges make progress");
        }
        for request in mixed(&config, 3000, 9) {
            device.submit(&request).expect("room for every update");
            device.audit().expect("sound");
        }
    }
}

#[test]
fn the_log_blocks_of_a_group_go_on_after_a_power_cut() {
    let mut bench = bench("2", &[]);
    bench.write(&[9, 13, 9, 14, 10]);
    let (full, newest) = (bench.block(9), bench.block(10));
    bench.device.power_cycle().expect("no fault");
    assert_eq!(bench.write(&[15]), [Program(bench.at(15), Host)]);
    assert_eq!(bench.place(15), (newest, 1), "the group's newest log block goes on");
    bench.write(&[8, 8]);
    assert_eq!((bench.block(9), bench.merges()), (full, (0, 0, 0)), "and the older one is kept");
    bench.write(&[8]);
    assert_eq!(bench.merges(), (0, 0, 1), "both count: the group has its two");
}

/// Where the mean K stands, in thousandths, after random writes to some pages of one group.
fn k_after(written: &[u64], pairs: &[(&str, &str)]) -> (u64, u64) {
    let common = [("nk.N", "4"), ("nk.log_blocks", "6"), ("nk.window", "2")];
    let config = tiny("nk", 4, &[&common, pairs].concat());
    let mut device = open("nk:adaptive", &config);
    for page in 0..config.device.logical_pages() {
        device.submit(&pages(&config, Op::Write, page, 1)).expect("room");
    }
    for turn in 0..600 {
        let page = written[turn * 7 % written.len()];
        device.submit(&pages(&config, Op::Write, page, 1)).expect("the device works");
    }
    let meter = device.board().meter();
    let level = meter.level_now(Level::GroupLogsPermille).expect("told");
    (level, meter.events(Event::Conversions))
}

#[test]
fn k_of_a_group_with_scattered_updates_grows_and_of_one_with_few_hot_pages_shrinks() {
    let scattered: Vec<u64> = (0..16).collect();
    let (level, changes) = k_after(&scattered, &[("nk.k_max", "4")]);
    assert!(level > 1000 && changes > 0, "grew to {level} thousandths by {changes} changes");
    let (level, changes) = k_after(&[5], &[("nk.K", "3"), ("nk.k_max", "4")]);
    assert_eq!((level, changes), (1000, 2), "one hot page: down to k_min");
    let (level, _) = k_after(&scattered, &[("nk.k_max", "4"), ("nk.grow_below_pct", "0")]);
    assert_eq!(level, 1000, "nothing is below 0");
}

#[test]
fn a_k_that_shrank_is_kept_from_the_next_log_block_on() {
    // Switches rebuild nothing, so K shrinks from 2 to 1 after a window of one merge.
    let pairs = [("nk.dynamic", "on"), ("nk.window", "1"), ("nk.k_max", "2")];
    let mut bench = bench("2", &pairs);
    bench.submit(Op::Write, 8, 4);
    bench.submit(Op::Write, 12, 4);
    assert_eq!(bench.merges(), (0, 0, 0), "two log blocks");
    bench.write(&[9]);
    assert_eq!(bench.events(Event::Conversions), 1, "the first switch");
    assert_eq!(bench.merges(), (2, 0, 0), "K is 1 now: the second log block makes room too");
}

#[test]
fn settings_that_contradict_each_other_are_refused() {
    for (pairs, text) in [
        ([("nk.start_pct", "70"), ("nk.stop_pct", "80")], "nk.stop_pct = 80"),
        ([("nk.k_min", "3"), ("nk.k_max", "2")], "nk.k_min = 3"),
        ([("nk.grow_below_pct", "90"), ("nk.shrink_from_pct", "80")], "nk.grow_below_pct = 90"),
    ] {
        let (row, _) = schemes::find("nk").expect("in the table");
        let refused = (row.check)(&crate::common::config(&pairs)).expect_err("refused").to_string();
        assert!(refused.contains(text), "{refused}");
    }
}

#[test]
fn memory_is_block_table_log_page_table_and_what_k_needs() {
    let bytes = |pairs: &[(&str, &str)], name: &str| {
        let config = tiny("nk", 100, &[&[("nk.log_blocks", "5")], pairs].concat());
        let (row, _) = schemes::find("nk").expect("in the table");
        let structures = (row.ram_use)(&config);
        structures.into_iter().find(|use_| use_.structure == name).expect("counted").bytes
    };
    assert_eq!(bytes(&[], "block_table"), 400);
    assert_eq!(bytes(&[], "log_page_table"), 5 * 4 * 4 + 3, "4 bytes and a bit per log page");
    assert_eq!(bytes(&[], "group_table"), 25 * 4);
    assert_eq!(bytes(&[("nk.dynamic", "on")], "group_table"), 25 * 20);
}
