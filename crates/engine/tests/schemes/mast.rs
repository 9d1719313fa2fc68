//! MAST's adaptive merge, its gain guard and its stripes (`docs/papers/others.md#mast`), as flash
//! operations in order. Blocks have 4 pages; logical block 1 is pages 4 to 7.

use crate::common::{mixed, open, pages, tiny};
use crate::fast_bench::{Bench, copy};
use ftlab_engine::board::nand::record::Operation::{self, Erase, Program, Read};
use ftlab_engine::meter::Cause::{Host, Merge, Migrate};
use ftlab_engine::meter::{Event, Level};
use ftlab_engine::request::Op;
use ftlab_engine::schemes;
use ftlab_engine::units::Ppn;

const LOGS: (&str, &str) = ("mast.log_blocks", "2");

fn merged(from: &[Ppn], to: &[Ppn]) -> Vec<Operation> {
    from.iter().zip(to).flat_map(|(&from, &to)| copy(from, to)).collect()
}

fn moved(from: &[Ppn], to: &[Ppn]) -> Vec<Operation> {
    let pairs = from.iter().zip(to);
    pairs.flat_map(|(&from, &to)| [Read(from, Migrate), Program(to, Migrate)]).collect()
}

#[test]
fn first_writes_go_to_the_data_block_and_others_to_the_log_offset_0_too() {
    let mut bench = Bench::of("mast", 0, &[LOGS]);
    bench.write(&[4, 5]);
    assert_eq!(bench.events(Event::InPlaceWrites), 2);
    let data = bench.block(4);
    let operations = bench.write(&[4, 5]);
    assert_eq!(operations, [Program(bench.at(4), Host), Program(bench.at(5), Host)]);
    assert_ne!(bench.block(4), data);
    assert_eq!(bench.events(Event::RandomLogWrites), 2);
    assert_eq!(bench.events(Event::SequentialLogOpens), 0, "there is no sequential block");
}

/// Of the victim's logical blocks 1 has three live log pages, 2 has one; both are cold.
#[test]
fn pages_of_cold_blocks_with_many_log_pages_are_merged_and_the_others_move_on() {
    let pairs = [LOGS, ("mast.merge_min_pages", "2"), ("mast.cold_window", "4")];
    let mut bench = Bench::of("mast", 8, &pairs);
    bench.write(&[5, 6, 7, 9]);
    let (victim, data) = (bench.block(9), bench.block(4));
    bench.write(&[13, 14, 13, 14]);
    let sources = bench.all_at([4, 5, 6, 7]);
    let nine = bench.at(9);
    let operations = bench.write(&[17]);
    let mut expected = merged(&sources, &bench.all_at([4, 5, 6, 7]));
    expected.push(Erase(data, Merge));
    expected.extend(moved(&[nine], &[bench.at(9)]));
    expected.extend([Erase(victim, Merge), Program(bench.at(17), Host)]);
    assert_eq!(operations, expected);
    assert_eq!((bench.place(9).1, bench.place(17).1), (0, 1), "the host writes on behind it");
    assert_eq!(bench.events(Event::MigratedPages), 1);
    assert_eq!(bench.events(Event::MergedLogPages), 3, "5, 6 and 7; 4 was in the data block");
    assert_eq!((bench.merges(), bench.erases()), ((0, 0, 1), (1, 1, 0)));
    assert_eq!(bench.meter().merges().associativity[1], 1);
    assert_eq!(bench.meter().level_now(Level::RandomLogBlocks), Some(2));
}

/// What the criterion asks for: more pages than the minimum, counted over the whole log, and no
/// write during the window. Gain is no matter here: the victim always has a dead page.
#[test]
fn a_block_is_merged_only_if_it_is_cold_and_has_more_live_log_pages_than_the_minimum() {
    // (minimum, window, a page of block 1 written to the second log block, merges)
    let cases = [
        ("1", "5", 21, 1),
        ("2", "5", 21, 0),
        ("2", "0", 7, 1),
        ("3", "0", 7, 0),
        ("1", "6", 21, 1),
        ("1", "7", 21, 0),
        ("0", "100", 21, 0),
    ];
    for (minimum, window, page, merges) in cases {
        let pairs = [LOGS, ("mast.merge_min_pages", minimum), ("mast.cold_window", window)];
        let mut bench = Bench::of("mast", 8, &pairs);
        // The last write of block 1 is 6 page writes old in the end, if `page` is not its.
        bench.write(&[13, 5, 6, 13]);
        bench.write(&[page, 25, 25, 25]);
        bench.write(&[17]);
        let case = (minimum, window, page);
        assert_eq!(bench.meter().merges().full, merges, "{case:?}");
        assert_eq!(bench.events(Event::MigratedPages), 3 - 2 * merges, "{case:?}");
    }
}

#[test]
fn a_reclaim_that_would_gain_too_little_merges_the_block_with_most_log_pages_though_hot() {
    for (gain, merges, migrated) in [("1", 1, 2), ("2", 1, 2), ("3", 2, 1), ("4", 3, 0)] {
        let pairs = [LOGS, ("mast.min_gain", gain), ("mast.cold_window", "1000000")];
        let mut bench = Bench::of("mast", 8, &pairs);
        // All four valid; block 3 has two pages in the victim and one behind it, the others one.
        bench.write(&[5, 13, 9, 14]);
        bench.write(&[15, 21, 21, 21]);
        let sources = bench.all_at([12, 13, 14, 15]);
        let operations = bench.write(&[17]);
        let first = merged(&sources, &bench.all_at([12, 13, 14, 15]));
        assert_eq!(operations[..8], first, "block 3 first, min_gain = {gain}");
        let found = (bench.meter().merges().full_data_blocks, bench.events(Event::MigratedPages));
        assert_eq!(found, (merges, migrated), "min_gain = {gain}");
        // Block 3 has three, one of them outside the victim; the others have one each.
        assert_eq!(bench.events(Event::MergedLogPages), merges + 2, "min_gain = {gain}");
    }
}

#[test]
fn a_dead_victim_is_erased() {
    let mut bench = Bench::of("mast", 8, &[LOGS]);
    bench.write(&[5, 5, 5, 5]);
    let victim = bench.block(5);
    bench.write(&[5, 9, 9, 9]);
    let operations = bench.write(&[13]);
    assert_eq!(operations, [Erase(victim, Merge), Program(bench.at(13), Host)]);
    assert_eq!(bench.events(Event::DeadLogBlocks), 1);
    assert_eq!(bench.merges(), (0, 0, 0));
}

const FOUR_DIES: [(&str, &str); 3] =
    [("device.channels", "2"), ("device.dies", "2"), ("timing.profile", "parallel")];

/// The dies of pages that were just written one after another.
fn dies(bench: &Bench, lpns: &[u32]) -> Vec<u32> {
    let geometry = bench.device.board().geometry();
    lpns.iter().map(|&lpn| geometry.die_of(geometry.plane_of(bench.at(lpn)))).collect()
}

#[test]
fn successive_log_pages_meet_successive_channels_and_dies() {
    let logs = ("mast.log_blocks", "8");
    let pairs = [&FOUR_DIES[..], &[logs]].concat();
    let mut bench = Bench::of("mast", 8, &pairs);
    bench.write(&[5, 9, 13, 17, 21, 25, 29, 33]);
    // Dies 0 and 1 are of channel 0.
    assert_eq!(dies(&bench, &[5, 9, 13, 17, 21, 25, 29, 33]), [0, 2, 1, 3, 0, 2, 1, 3]);
    assert_eq!(bench.meter().level_now(Level::RandomLogBlocks), Some(4), "one block per die");
    // 32 pages fill the log; pages stay in their stripe when they move.
    for turn in 0..40 {
        bench.write(&[6 + turn % 8 * 4, 7 + turn % 8 * 4]);
    }
    assert!(bench.events(Event::MigratedPages) + bench.meter().merges().full > 0);
    let told = bench.meter().level_now(Level::RandomLogBlocks);
    assert_eq!(told, Some(8), "never more than the log has");
}

/// However long pages have moved and blocks been merged: as long as every plane has a free block,
/// a log page is never on the die of the one before it, and any four in a row are on four dies.
#[test]
fn stripes_stay_apart_when_the_log_has_been_reclaimed_many_times() {
    let pairs = [&FOUR_DIES[..], &[("mast.log_blocks", "8"), ("device.planes", "2")]].concat();
    let mut bench = Bench::of("mast", 8, &pairs);
    let mut met = Vec::new();
    for turn in 0..2000 {
        let operations = bench.write(&[4 + turn * 7 % 32]);
        let geometry = bench.device.board().geometry();
        met.extend(operations.iter().filter_map(|operation| match *operation {
            Program(ppn, Host) => Some(geometry.die_of(geometry.plane_of(ppn))),
            _ => None,
        }));
    }
    assert_eq!(met.len(), 2000);
    assert!(bench.events(Event::MigratedPages) > 500 && bench.meter().merges().full > 50);
    for four in met.windows(4) {
        let mut sorted = four.to_vec();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 1, 2, 3], "{four:?}");
    }
}

#[test]
fn stripes_are_as_many_as_dies_on_a_parallel_device_one_on_a_serial_one_or_as_asked() {
    let open_blocks = |pairs: &[(&str, &str)]| {
        let pairs = [pairs, &[("mast.log_blocks", "8"), ("device.channels", "4")]].concat();
        let mut bench = Bench::of("mast", 8, &pairs);
        bench.write(&[5, 9, 13, 17]);
        bench.meter().level_now(Level::RandomLogBlocks).expect("told")
    };
    assert_eq!(open_blocks(&[]), 1);
    assert_eq!(open_blocks(&[("timing.profile", "parallel")]), 4);
    assert_eq!(open_blocks(&[("mast.stripe", "3")]), 3);
    assert_eq!(open_blocks(&[("mast.stripe", "2"), ("timing.profile", "parallel")]), 2);
}

#[test]
fn stripes_write_the_pages_of_a_request_at_the_same_time() {
    let time = |stripe: &str| {
        let pairs = [&FOUR_DIES[..], &[("mast.log_blocks", "8"), ("mast.stripe", stripe)]].concat();
        let mut bench = Bench::of("mast", 8, &pairs);
        let idle = bench.device.idle_from();
        bench.submit(Op::Write, 4, 4);
        bench.device.idle_from() - idle
    };
    let (one, four) = (time("1"), time("4"));
    assert!(four * 3 < one, "{four} ns over four dies, {one} ns in one log block");
}

#[test]
fn a_log_full_of_valid_pages_never_loops_for_ever() {
    let settings: [&[(&str, &str)]; 4] = [
        &[("mast.cold_window", "4294967295")],
        &[("mast.cold_window", "0"), ("mast.merge_min_pages", "4")],
        &[("mast.stripe", "2"), ("mast.cold_window", "4294967295"), ("mast.min_gain", "1")],
        &[("mast.victim", "greedy")],
    ];
    for pairs in settings {
        for logs in ["1", "3", "6"] {
            let all = [pairs, &[("mast.log_blocks", logs)]].concat();
            let config = tiny("mast", 40, &all);
            let mut device = open("mast", &config);
            crate::common::fill(device.as_mut(), &config);
            // No page twice in any 160 writes: nothing in the log dies.
            for turn in 0..1000u64 {
                let page = turn * 4 % 160 + turn / 40 % 4;
                device.submit(&pages(&config, Op::Write, page, 1)).expect("room is made");
            }
            device.audit().expect("sound");
            assert!(device.board().meter().merges().full > 0, "{all:?}: nothing was ever merged");
        }
    }
}

#[test]
fn the_smallest_legal_device_never_runs_dry() {
    for stripe in ["1", "3"] {
        let pairs = [("device.over_provisioning", "0.01"), ("mast.stripe", stripe)];
        let config = tiny("mast", 10, &pairs);
        let (row, _) = schemes::find("mast").expect("in the table");
        assert_eq!(config.device.physical_blocks(), (row.minimum_blocks)(&config), "no spare");
        let mut device = open("mast", &config);
        device.verify_reads();
        crate::common::fill(device.as_mut(), &config);
        for request in mixed(&config, 4000, 9) {
            device.submit(&request).expect("room for every update");
            device.audit().expect("sound");
        }
    }
}

/// After a cut live log pages are counted anew, and every block counts as just written.
#[test]
fn recovery_counts_live_log_pages_anew_and_takes_every_block_for_warm() {
    let mut full = Vec::new();
    for cut in [false, true] {
        let pairs = [LOGS, ("mast.merge_min_pages", "1"), ("mast.cold_window", "5")];
        let mut bench = Bench::of("mast", 8, &pairs);
        bench.write(&[13, 5, 6, 13]);
        bench.write(&[21, 25, 25, 25]);
        if cut {
            bench.device.power_cycle().expect("recovers");
        }
        bench.write(&[17]);
        full.push(bench.meter().merges().full);
        // Enough writes later it is cold again, wherever its pages are now.
        bench.write(&[17, 17, 17, 17, 17, 17, 17, 17]);
        full.push(bench.meter().merges().full);
    }
    assert_eq!(full, [1, 1, 0, 1]);
}

/// Blocks have 16 pages: more than an eighth of one pays, two live log pages do not.
#[test]
fn without_a_minimum_a_block_is_merged_for_more_than_an_eighth_of_its_pages() {
    let pairs = [LOGS, ("device.pages_per_block", "16"), ("mast.cold_window", "4")];
    let mut bench = Bench::of("mast", 8, &pairs);
    // Logical block 1 has three pages in the victim, 2 has two, 5 has one behind ten dead ones.
    bench.write(&[16, 17, 18, 32, 33]);
    bench.write(&[80; 11]);
    bench.write(&[96; 16]);
    bench.write(&[112]);
    assert_eq!((bench.meter().merges().full, bench.meter().merges().full_data_blocks), (1, 1));
    assert_eq!((bench.events(Event::MergedLogPages), bench.events(Event::MigratedPages)), (3, 3));
    assert_eq!(bench.block(16), bench.block(31), "all of it is in a data block");
}

/// All four valid and hot, one page of each: of equals the first goes.
#[test]
fn of_logical_blocks_with_as_many_log_pages_the_first_of_the_victim_is_merged() {
    let pairs = [LOGS, ("mast.min_gain", "1"), ("mast.cold_window", "1000000")];
    let mut bench = Bench::of("mast", 8, &pairs);
    bench.write(&[9, 5, 17, 13]);
    bench.write(&[21, 21, 21, 21]);
    bench.write(&[25]);
    assert_eq!((bench.merges().2, bench.events(Event::MigratedPages)), (1, 3));
    assert_eq!(bench.block(9), bench.block(8), "in its data block");
    assert_ne!(bench.block(5), bench.block(4));
}
