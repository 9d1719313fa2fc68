//! FAST's full merges as flash operations in order (DFTL 2014, Figs 5c and 6), its victims, and what
//! its counts must add up to. Blocks have 4 pages.

mod common;
mod fast_bench;

use common::{open, pages, tiny};
use fast_bench::{Bench, copy};
use ftlab_engine::board::nand::record::Operation::{self, Erase, Program};
use ftlab_engine::meter::Cause::{Host, Merge, Trim};
use ftlab_engine::meter::{BlockRole, Event};
use ftlab_engine::request::Op;
use ftlab_engine::schemes::Location;
use ftlab_engine::units::{Lpn, Ppn};

#[test]
fn a_full_merge_of_one_data_block_copies_the_newest_pages_and_erases_both_fig_5c() {
    let mut bench = Bench::new(2, &[("fast.log_blocks", "2")]);
    let data = bench.block(4);
    bench.write(&[5, 6, 7, 5]);
    let log = bench.block(5);
    let sources = bench.all_at([4, 5, 6, 7]);
    let operations = bench.write(&[9]);
    let targets = bench.all_at([4, 5, 6, 7]);
    let copies = sources.into_iter().zip(targets).flat_map(|(from, to)| copy(from, to));
    let mut expected: Vec<Operation> = copies.collect();
    expected.extend([Erase(data, Merge), Erase(log, Merge), Program(bench.at(9), Host)]);
    assert_eq!(operations, expected);
    assert_eq!((bench.merges(), bench.erases()), ((0, 0, 1), (1, 1, 0)));
    assert_eq!(bench.meter().merges().associativity[1], 1);
}

#[test]
fn the_expensive_full_merge_rebuilds_d1_d2_d3_and_erases_l1_last_fig_6() {
    let mut bench = Bench::new(4, &[("fast.log_blocks", "4")]);
    let data = [4, 8, 12].map(|lpn| bench.block(lpn));
    // L1 holds the newest 5, 9 and 13; its copy of 6 is superseded by the one in L3.
    bench.write(&[5, 9, 13, 6]);
    let l1 = bench.block(5);
    bench.write(&[10, 14, 7, 11]);
    let l2 = bench.block(10);
    bench.write(&[6, 15, 18, 19]);
    let l3 = bench.block(6);
    let sources: [Ppn; 12] = std::array::from_fn(|index| bench.at(4 + index as u32));
    let from = sources.map(|ppn| bench.device.board().geometry().block_of(ppn));
    let [d1, d2, d3] = data;
    assert_eq!(from, [d1, l1, l3, l2, d2, l1, l2, l2, d3, l1, l2, l3], "the figure's situation");

    let operations = bench.write(&[17]);

    let mut expected = Vec::new();
    for (number, &block) in data.iter().enumerate() {
        for offset in 0..4 {
            let index = 4 * number + offset;
            expected.extend(copy(sources[index], bench.at(4 + index as u32)));
        }
        expected.push(Erase(block, Merge));
    }
    expected.extend([Erase(l1, Merge), Program(bench.at(17), Host)]);
    assert_eq!(operations, expected);
    let merges = bench.meter().merges();
    assert_eq!((merges.full, merges.full_data_blocks), (1, 3), "one victim, three data blocks");
    assert_eq!(merges.associativity[3], 1);
    assert_eq!(bench.erases(), (3, 1, 0), "k + 1 erases");
}

#[test]
fn a_victim_of_the_sequential_owner_is_absorbed_by_merging_the_sequential_block() {
    let mut bench = Bench::new(2, &[("fast.log_blocks", "2")]);
    let data = bench.block(4);
    bench.write(&[7, 7, 7, 7]);
    let victim = bench.block(7);
    bench.write(&[4]);
    let sources = bench.all_at([5, 6, 7]);
    let operations = bench.write(&[9]);
    let targets = bench.all_at([5, 6, 7]);
    let copies = sources.into_iter().zip(targets).flat_map(|(from, to)| copy(from, to));
    let mut expected: Vec<Operation> = copies.collect();
    expected.extend([Erase(data, Merge), Erase(victim, Merge), Program(bench.at(9), Host)]);
    assert_eq!(operations, expected);
    let merges = bench.meter().merges();
    assert_eq!((merges.partial, merges.full, merges.full_data_blocks), (1, 1, 0));
}

#[test]
fn a_log_block_with_nothing_valid_is_erased_without_a_merge() {
    let mut bench = Bench::new(2, &[("fast.log_blocks", "2")]);
    bench.write(&[5, 5, 5, 5]);
    let dead = bench.block(5);
    bench.write(&[4, 5]);
    let operations = bench.write(&[9]);
    assert_eq!(operations, [Erase(dead, Merge), Program(bench.at(9), Host)]);
    assert_eq!(bench.events(Event::DeadLogBlocks), 1);
    assert_eq!((bench.merges(), bench.erases()), ((0, 0, 0), (0, 1, 0)));
}

#[test]
fn the_victim_is_the_oldest_log_block_or_the_emptiest_if_asked() {
    for (victim, oldest) in [("fifo", true), ("round_robin", true), ("greedy", false)] {
        let mut bench = Bench::new(3, &[("fast.log_blocks", "3"), ("fast.victim", victim)]);
        bench.write(&[5, 6, 9, 10]);
        let first = bench.block(5);
        bench.write(&[13, 13, 13, 13]);
        let second = bench.block(13);
        let operations = bench.write(&[14]);
        let erased = if oldest { first } else { second };
        assert!(operations.contains(&Erase(erased, Merge)), "{victim}: {operations:?}");
        assert_eq!(bench.events(Event::VictimSearchSteps), if oldest { 1 } else { 2 });
    }
}

#[test]
fn an_ordered_victim_is_switched_only_if_asked() {
    for (check, merges) in [("true", (1, 0, 0)), ("false", (0, 0, 1))] {
        let pairs = [
            ("fast.log_blocks", "2"),
            ("fast.detector", "request_size"),
            ("fast.rw_switch_check", check),
        ];
        let mut bench = Bench::new(2, &pairs);
        let data = bench.block(4);
        bench.write(&[4, 5, 6, 7]);
        let log = bench.block(4);
        let operations = bench.write(&[9]);
        assert_eq!(bench.merges(), merges);
        if check == "true" {
            assert_eq!(operations, [Erase(data, Merge), Program(bench.at(9), Host)]);
            assert_eq!(bench.block(6), log);
        }
    }
}

/// Erases = switch + partial + full victims + data blocks rebuilt + dead log blocks (spec 2.5):
/// holds where every logical block has a data block, so in the default settings.
#[test]
fn erases_add_up_to_merges() {
    for seed in 1..=4 {
        let config = tiny("fast", 24, &[("fast.log_blocks", "5"), ("io.trim", "false")]);
        let mut device = open("fast", &config);
        for request in common::mixed(&config, 4000, seed) {
            device.submit(&request).expect("nothing fails here");
        }
        let meter = device.board().meter();
        let merges = meter.merges();
        let dead = meter.events(Event::DeadLogBlocks);
        let sum = merges.switch + merges.partial + merges.full + merges.full_data_blocks + dead;
        assert_eq!(meter.total_erases(), sum, "{merges:?}, dead {dead}");
        assert!(merges.switch > 0 && merges.partial > 0 && merges.full > 0, "{merges:?}");
        let weighted = (0u64..).zip(&merges.associativity).map(|(k, n)| k * n).sum::<u64>();
        assert_eq!(weighted, merges.full_data_blocks, "the histogram holds every victim");
        assert_eq!(meter.reads(Merge), meter.programs(Merge), "a copy is a read and a program");
        let written = meter.host().pages[Op::Write as usize];
        assert_eq!(meter.programs(Host), written, "every host page is programmed once");
        let logged = meter.events(Event::InPlaceWrites)
            + meter.events(Event::SequentialLogWrites)
            + meter.events(Event::RandomLogWrites);
        assert!(logged < written, "rows 6 and 7 put pages into merges: {logged} of {written}");
    }
}

#[test]
fn flushed_trims_take_a_bounded_number_of_blocks() {
    // Three segments of 4032 pages: three records can be alive.
    let config = tiny("fast", 3000, &[("device.over_provisioning", "0.01")]);
    let logical = config.device.logical_pages();
    let mut device = open("fast", &config);
    for page in 0..logical {
        device.submit(&pages(&config, Op::Write, page, 1)).expect("written");
    }
    for round in 0..600 {
        let page = round * 4099 % logical;
        device.submit(&pages(&config, Op::Trim, page, 1)).expect("trimmed");
        device.submit(&pages(&config, Op::Flush, 0, 0)).expect("recorded");
        if round % 50 == 0 {
            let found = device.audit().expect("sound");
            assert!(found.valid_other_pages <= 3, "{} records", found.valid_other_pages);
        }
    }
    let meter = device.board().meter();
    assert_eq!(meter.programs(Trim) - meter.reads(Trim), 600, "a record a flush, and moved ones");
    assert!(meter.erases(BlockRole::Map) > 140, "record blocks are reclaimed");
    device.power_cycle().expect("recovers");
    device.audit().expect("sound");
    for page in 0..logical {
        let trimmed = (0..600).any(|round| round * 4099 % logical == page);
        let found = device.locate(Lpn(page as u32)) == Location::Nowhere;
        assert_eq!(found, trimmed, "page {page}");
    }
}

#[test]
fn the_data_blocks_of_one_full_merge_are_rebuilt_side_by_side_in_different_planes() {
    let time = |planes: &str| {
        let pairs = [
            ("device.planes", planes),
            ("timing.profile", "parallel"),
            ("timing.plane_parallel", "true"),
            ("fast.log_blocks", "2"),
        ];
        let mut bench = Bench::new(4, &pairs);
        bench.write(&[5, 9, 13, 17]);
        let idle = bench.device.idle_from();
        bench.write(&[6]);
        assert_eq!(bench.meter().merges().associativity[4], 1, "four logical blocks in one merge");
        bench.device.idle_from() - idle
    };
    let (one, two) = (time("1"), time("2"));
    assert!(two * 3 < one * 2, "a merge over two planes takes {two} ns, in one plane {one} ns");
}
