//! FAST's full merges as flash operations in order (DFTL 2014, Figs 5c and 6), its victims, and
//! what its counts must add up to. Blocks have 4 pages.

use crate::common::{open, pages, tiny};
use crate::fast_bench::model::{Counts, Model};
use crate::fast_bench::{Bench, copy};
use ftlab_engine::board::nand::record::Operation::{self, Erase, Program};
use ftlab_engine::meter::Cause::{Host, Merge, Trim};
use ftlab_engine::meter::{BlockRole, Event, Meter};
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
fn a_sequential_block_that_was_trimmed_is_erased_without_a_merge() {
    let mut bench = Bench::new(2, &[]);
    bench.write(&[4, 5]);
    let dead = bench.block(4);
    bench.submit(Op::Trim, 4, 2);
    let operations = bench.write(&[8]);
    assert_eq!(operations, [Erase(dead, Merge), Program(bench.at(8), Host)]);
    assert_eq!(bench.events(Event::DeadLogBlocks), 1);
    assert_eq!((bench.merges(), bench.erases()), ((0, 0, 0), (0, 1, 0)));
}

#[test]
fn a_sequential_block_that_a_switched_random_block_superseded_is_erased_without_a_merge() {
    let pairs = [
        ("fast.log_blocks", "2"),
        ("fast.detector", "request_size"),
        ("fast.sw_rewrite", "to_rw"),
        ("fast.rw_switch_check", "true"),
    ];
    let mut bench = Bench::new(3, &pairs);
    bench.submit(Op::Write, 4, 4);
    let dead = bench.block(4);
    bench.write(&[4, 5, 6, 7]);
    bench.write(&[9]);
    assert_eq!(bench.merges(), (1, 0, 0), "the random block is the data block now");
    let operations = bench.submit(Op::Write, 8, 2);
    let written = bench.all_at([8, 9]).map(|ppn| Program(ppn, Host));
    assert_eq!(operations, [Erase(dead, Merge), written[0], written[1]]);
    assert_eq!((bench.merges(), bench.erases()), ((1, 0, 0), (1, 1, 0)));
}

#[test]
fn a_victim_of_the_owner_of_a_dead_sequential_block_is_merged_without_it() {
    let mut bench = Bench::new(2, &[("fast.log_blocks", "2")]);
    let data = bench.block(4);
    bench.write(&[7, 7, 7, 7]);
    let victim = bench.block(7);
    bench.write(&[4]);
    let dead = bench.block(4);
    bench.submit(Op::Trim, 4, 1);
    let sources = bench.all_at([5, 6, 7]);
    let operations = bench.write(&[9]);
    let targets = bench.all_at([5, 6, 7]);
    let copies = sources.into_iter().zip(targets).flat_map(|(from, to)| copy(from, to));
    let mut expected = vec![Erase(dead, Merge)];
    expected.extend(copies);
    expected.extend([Erase(data, Merge), Erase(victim, Merge), Program(bench.at(9), Host)]);
    assert_eq!(operations, expected);
    let merges = bench.meter().merges();
    assert_eq!((bench.merges(), merges.full_data_blocks), ((0, 0, 1), 1));
}

#[test]
fn the_victim_is_the_oldest_log_block_or_the_emptiest_if_asked() {
    for (victim, oldest) in [("fifo", true), ("greedy", false)] {
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

/// What the meter says in the words of the model.
fn counted(meter: &Meter) -> Counts {
    let merges = meter.merges();
    let sequential_full = meter.events(Event::SequentialFullMerges);
    Counts {
        switch: merges.switch,
        partial: merges.partial,
        victims: merges.full - sequential_full,
        sequential_full,
        rebuilt: merges.full_data_blocks,
        dead: meter.events(Event::DeadLogBlocks),
        copies: meter.programs(Merge),
        host: meter.programs(Host),
        data_erases: meter.erases(BlockRole::Data),
        log_erases: meter.erases(BlockRole::Log),
        random_writes: meter.events(Event::RandomLogWrites),
    }
}

#[test]
fn every_count_is_that_of_a_naive_model_after_every_request() {
    for (pages_per_block, log_blocks) in [(4, 5), (8, 3), (16, 9), (4, 2)] {
        for seed in 1..=6 {
            let (pages_text, logs_text) = (pages_per_block.to_string(), log_blocks.to_string());
            let pairs = [
                ("device.pages_per_block", pages_text.as_str()),
                ("fast.log_blocks", logs_text.as_str()),
                ("io.trim", "false"),
            ];
            let config = tiny("fast", 24, &pairs);
            let mut device = open("fast", &config);
            let mut model = Model::new(24, pages_per_block, log_blocks);
            for (number, request) in crate::common::mixed(&config, 4000, seed).iter().enumerate() {
                device.submit(request).expect("nothing fails here");
                if request.op == Op::Write {
                    let end = request.first_sector + u64::from(request.sectors);
                    (request.first_sector..end).for_each(|page| model.write(page as usize));
                }
                let found = counted(device.board().meter());
                assert_eq!(found, model.counts, "{pairs:?} seed {seed} request {number}");
            }
            // Every victim and every block in use but the last was filled by random writes.
            let blocks = model.counts.victims + model.counts.dead + model.random_blocks();
            let filled = pages_per_block as u64 * blocks;
            let room = model.counts.random_writes + pages_per_block as u64;
            assert!(filled < room, "{filled} pages of blocks for {:?}", model.counts);
            assert!(model.counts.victims > 10 && model.counts.sequential_full > 0);
            // Runs of at most six pages seldom fill sixteen.
            assert!(model.counts.switch > 0 || pages_per_block > 8, "{:?}", model.counts);
        }
    }
}

/// Erases = switch + partial + full victims + data blocks rebuilt + dead log blocks
/// (`docs/papers/others.md#fast`): holds where every logical block has a data block, so in the
/// default settings.
#[test]
fn erases_add_up_to_merges() {
    for seed in 1..=4 {
        let config = tiny("fast", 24, &[("fast.log_blocks", "5"), ("io.trim", "false")]);
        let mut device = open("fast", &config);
        for request in crate::common::mixed(&config, 4000, seed) {
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
fn log_blocks_take_the_planes_in_turn_and_data_blocks_stay_in_the_plane_of_their_number() {
    let pairs = [("device.planes", "4"), ("fast.log_blocks", "5")];
    let mut bench = Bench::new(8, &pairs);
    let plane =
        |bench: &Bench, lpn| bench.device.board().geometry().plane_of_block(bench.block(lpn)).0;
    for lbn in 1..=8 {
        assert_eq!(plane(&bench, 4 * lbn), lbn % 4, "data block {lbn}");
    }
    // Four pages of offset 1 fill a random block; its first page tells the plane.
    let mut random = Vec::new();
    for first in [5, 6, 21, 22] {
        bench.write(&[first, first + 4, first + 8, first + 12]);
        random.push(plane(&bench, first as u32));
    }
    assert_eq!(random, [0, 1, 2, 3], "random log blocks");
    let mut sequential = Vec::new();
    for lbn in 1..=4 {
        bench.write(&[4 * lbn]);
        sequential.push(plane(&bench, 4 * lbn as u32));
    }
    assert_eq!(sequential, [1, 2, 3, 0], "a sequential block may become its owner's data block");
    bench.write(&[13]);
    assert_eq!(bench.merges(), (0, 4, 1), "three left for the next owner, one for the victim");
    for lbn in 1..=8 {
        assert_eq!(plane(&bench, 4 * lbn + 3), lbn % 4, "data block {lbn} after the merges");
    }
}

#[test]
fn the_log_is_a_percentage_rounded_up_but_at_least_two_blocks() {
    let random_blocks = |logical_blocks, percent| {
        let config = tiny("fast", logical_blocks, &[("fast.log_pct", percent)]);
        open("fast", &config).room().free_blocks
    };
    assert_eq!(random_blocks(10, "3"), 1, "two at least, one of them sequential");
    assert_eq!(random_blocks(66, "3"), 1, "1.98 of 66");
    assert_eq!(random_blocks(67, "3"), 2, "2.01 of 67");
    assert_eq!(random_blocks(100, "3"), 2, "exactly 3");
    assert_eq!(random_blocks(101, "3"), 3, "3.03 of 101");
    assert_eq!(random_blocks(10, "100"), 9, "as many as there are logical blocks");
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
