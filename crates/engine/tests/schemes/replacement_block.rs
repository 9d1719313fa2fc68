//! The replacement-block FTL (`docs/papers/others.md#replacement-blocks`) as flash operations in
//! order: where updates go, folds in place and into a fresh block, the bounds of chains, and what a
//! search costs. Blocks have 4 pages: logical block 1 is pages 4 to 7. 10 logical blocks: 30 %
//! spare are 3 blocks, one of them reserved.

use crate::common::{mixed, open, pages, tiny};
use crate::fast_bench::{Bench, copy};
use ftlab_engine::board::nand::fault::Fault;
use ftlab_engine::board::nand::record::Operation::{self, Erase, Program};
use ftlab_engine::meter::Cause::{Host, Merge, Pad};
use ftlab_engine::meter::{Event, Level};
use ftlab_engine::request::Op;
use ftlab_engine::schemes;
use ftlab_engine::ssd::DeviceError;
use ftlab_engine::units::Ppn;

type Pairs<'a> = &'a [(&'a str, &'a str)];

fn bench(filled: u64, spare_pct: &str, pairs: Pairs<'_>) -> Bench {
    let spare = [("replacement_block.spare_pct", spare_pct)];
    Bench::of("replacement_block", filled, &[&spare, pairs].concat())
}

fn appending(filled: u64, spare_pct: &str, pairs: Pairs<'_>) -> Bench {
    bench(filled, spare_pct, &[&[("replacement_block.mode", "append")], pairs].concat())
}

/// Folds in place, folds out of place, replacement blocks folded.
fn folds(bench: &Bench) -> (u64, u64, u64) {
    (
        bench.events(Event::FoldsInPlace),
        bench.events(Event::FoldsOutOfPlace),
        bench.events(Event::FoldedReplacements),
    )
}

fn longest(bench: &Bench) -> Option<u64> {
    bench.meter().level_now(Level::LongestChain)
}

#[test]
fn an_update_goes_to_the_first_unit_whose_place_is_free() {
    let mut bench = bench(2, "30", &[]);
    let head = bench.block(4);
    let operations = bench.write(&[5]);
    let first = bench.block(5);
    assert_eq!(operations, [Program(bench.at(5), Host)]);
    assert!(first != head && bench.place(5).1 == 1, "at its own offset of a replacement block");
    bench.write(&[6]);
    assert_eq!(bench.place(6), (first, 2), "the first replacement block has room for 6");
    assert_eq!(longest(&bench), Some(1));
    bench.write(&[5]);
    let second = bench.block(5);
    assert!(second != head && second != first && bench.place(5).1 == 1);
    bench.write(&[7, 6]);
    assert_eq!((bench.place(7), bench.place(6)), ((first, 3), (second, 2)));
    assert_eq!((longest(&bench), folds(&bench)), (Some(2), (0, 0, 0)));
    assert_eq!(bench.device.board().nand().oob_writes(), 0, "the chain's order is the mark");
}

#[test]
fn first_writes_go_to_the_head() {
    let mut bench = bench(0, "30", &[]);
    bench.write(&[6, 4]);
    assert_eq!((bench.place(6), bench.place(4)), ((bench.block(4), 2), (bench.block(4), 0)));
    assert_eq!((bench.events(Event::InPlaceWrites), longest(&bench)), (2, None));
}

/// Two replacement blocks are all there are: 5 was written to both. Page 9 needs one more.
#[test]
fn a_fold_in_place_completes_the_last_unit_and_erases_the_others() {
    let mut bench = bench(2, "30", &[]);
    let head = bench.block(4);
    bench.write(&[5]);
    let first = bench.block(5);
    bench.write(&[5]);
    let last = bench.block(5);
    let [four, six, seven] = bench.all_at([4, 6, 7]);
    let operations = bench.write(&[9]);
    let [new_four, new_six, new_seven] = bench.all_at([4, 6, 7]);
    let mut expected = [copy(four, new_four), copy(six, new_six), copy(seven, new_seven)].concat();
    expected.extend([Erase(head, Merge), Erase(first, Merge), Program(bench.at(9), Host)]);
    assert_eq!(operations, expected);
    assert_eq!([4, 5, 6, 7].map(|lpn| bench.place(lpn)), [0, 1, 2, 3].map(|at| (last, at)));
    assert_eq!((folds(&bench), bench.merges()), ((1, 0, 2), (0, 1, 0)));
    assert_eq!((bench.erases(), longest(&bench)), ((1, 1, 0), Some(1)), "K erases");
}

/// The same chain, but 5 is written once more: its own chain is folded, with the page on the way.
/// Its place in the last unit is taken.
#[test]
fn a_fold_out_of_place_fills_a_fresh_unit_and_erases_the_whole_chain() {
    let mut bench = bench(2, "30", &[]);
    let head = bench.block(4);
    bench.write(&[5]);
    let first = bench.block(5);
    bench.write(&[5]);
    let last = bench.block(5);
    let [four, six, seven] = bench.all_at([4, 6, 7]);
    let operations = bench.write(&[5]);
    let [new_four, new_five, new_six, new_seven] = bench.all_at([4, 5, 6, 7]);
    let mut expected = copy(four, new_four).to_vec();
    expected.push(Program(new_five, Host));
    expected.extend([copy(six, new_six), copy(seven, new_seven)].concat());
    expected.extend([head, first, last].map(|block| Erase(block, Merge)));
    assert_eq!(operations, expected);
    assert_eq!((folds(&bench), bench.merges()), ((0, 1, 2), (0, 0, 1)));
    assert_eq!((bench.erases(), longest(&bench)), ((1, 2, 0), Some(0)), "K + 1 erases");
}

/// Which copy is the newest follows from the chain, and its units are erased by the fold: nothing
/// is marked in an out-of-band area, except what is trimmed.
#[test]
fn superseded_pages_are_not_marked() {
    for scheme in [bench, appending] {
        let mut bench = scheme(3, "30", &[]);
        bench.write(&[5, 6, 9, 5, 9, 13, 13, 4, 5]);
        let (in_place, out_of_place, _) = folds(&bench);
        assert!(in_place + out_of_place > 1);
        assert_eq!(bench.device.board().nand().oob_writes(), 0);
        bench.submit(Op::Trim, 5, 1);
        assert_eq!(bench.device.board().nand().oob_writes(), 1);
    }
}

#[test]
fn retry_folds_the_own_chain_in_place_and_tries_again() {
    let mut bench = bench(2, "30", &[("replacement_block.own_fold", "retry")]);
    let head = bench.block(4);
    bench.write(&[5]);
    let first = bench.block(5);
    bench.write(&[5]);
    let last = bench.block(5);
    let operations = bench.write(&[5]);
    let behind = [Erase(head, Merge), Erase(first, Merge), Program(bench.at(5), Host)];
    assert_eq!(operations[6..], behind, "after three copies");
    assert_eq!((bench.block(4), folds(&bench)), (last, (1, 0, 2)));
    assert_ne!(bench.block(5), last, "a new replacement block");
}

#[test]
fn a_sequential_overwrite_folds_in_place_without_a_copy() {
    let mut bench = bench(3, "30", &[]);
    let head = bench.block(4);
    bench.submit(Op::Write, 4, 4);
    let last = bench.block(4);
    bench.submit(Op::Write, 8, 4);
    let operations = bench.write(&[13]);
    assert_eq!(operations, [Erase(head, Merge), Program(bench.at(13), Host)]);
    assert_eq!((bench.merges(), folds(&bench)), ((1, 0, 0), (1, 0, 1)));
    assert_eq!((bench.block(4), bench.meter().programs(Merge)), (last, 0));
}

#[test]
fn two_sequential_overwrites_are_two_erases_and_no_copy() {
    for scheme in [bench, appending] {
        let mut bench = scheme(3, "30", &[]);
        let head = bench.block(4);
        bench.submit(Op::Write, 4, 4);
        let first = bench.block(4);
        bench.submit(Op::Write, 4, 4);
        let operations = bench.write(&[13]);
        let erased = [Erase(head, Merge), Erase(first, Merge), Program(bench.at(13), Host)];
        assert_eq!(operations, erased);
        assert_eq!((bench.merges(), folds(&bench)), ((1, 0, 0), (1, 0, 2)));
    }
}

#[test]
fn the_victim_is_the_longest_chain_or_the_one_written_longest_ago() {
    for (victim, replacements) in [("longest", 2), ("lru", 1)] {
        let mut bench = bench(3, "40", &[("replacement_block.victim", victim)]);
        bench.write(&[5, 9, 9]);
        assert_eq!(folds(&bench), (0, 0, 0), "three replacement blocks");
        bench.write(&[13]);
        assert_eq!(folds(&bench), (1, 0, replacements), "{victim}");
    }
    // Among equals, and by age: a write to a chain makes it young.
    for victim in ["longest", "lru"] {
        let mut bench = bench(3, "30", &[("replacement_block.victim", victim)]);
        bench.write(&[5, 9, 6]);
        let young = bench.block(5);
        bench.write(&[13]);
        assert_eq!(bench.block(5), young);
        assert_ne!(bench.block(4), young, "{victim}: chain 1 is as it was");
        assert_eq!(bench.block(8), bench.block(9), "{victim}: chain 2 was folded");
    }
}

#[test]
fn max_chain_bounds_every_chain_and_folds_the_one_that_would_grow() {
    let mut unlimited = bench(9, "100", &[]);
    for _ in 0..5 {
        unlimited.write(&[5]);
    }
    assert_eq!((longest(&unlimited), folds(&unlimited)), (Some(5), (0, 0, 0)));
    for most in 1..=3 {
        let value = most.to_string();
        let mut bench = bench(9, "100", &[("replacement_block.max_chain", &value)]);
        for lpn in [5, 5, 5, 5, 9, 6, 5, 9, 9, 9, 5, 5, 13, 13, 5, 4, 4, 5] {
            bench.write(&[lpn]);
            assert!(longest(&bench) <= Some(most), "{most}: {:?}", longest(&bench));
        }
        let (in_place, out_of_place, replacements) = folds(&bench);
        assert!(in_place + out_of_place > 1);
        assert_eq!(replacements, most * (in_place + out_of_place), "only full chains are folded");
    }
}

/// Of the longest chain every chain must be looked at, of the oldest one only; none of a chain that
/// has reached its own bound.
#[test]
fn a_search_takes_a_step_per_chain_that_is_looked_at() {
    let steps = |pairs: Pairs<'_>, writes: &[u64]| {
        let mut bench = bench(4, "40", pairs);
        bench.write(writes);
        let (in_place, out_of_place, _) = folds(&bench);
        assert_eq!(in_place + out_of_place, 1);
        bench.events(Event::VictimSearchSteps)
    };
    // Three replacement blocks; a fourth is asked for.
    assert_eq!(steps(&[], &[5, 9, 13, 17]), 3);
    assert_eq!(steps(&[("replacement_block.victim", "lru")], &[5, 9, 13, 17]), 1);
    assert_eq!(steps(&[("replacement_block.max_chain", "1")], &[5, 9, 5]), 0);
    // A list takes one step to its head, however many there are; nobody asks it for one's own chain.
    let list = ("search.model", "list");
    assert_eq!(steps(&[list], &[5, 9, 13, 17]), 1);
    assert_eq!(steps(&[list, ("replacement_block.max_chain", "1")], &[5, 9, 5]), 0);
}

/// Chains of 1, 2, 4, 8 and 9 replacement blocks, each folded when it reaches its bound.
#[test]
fn folded_chains_are_counted_by_length() {
    let bars = [
        Event::FoldedChainsOf1,
        Event::FoldedChainsOf2,
        Event::FoldedChainsOf3To4,
        Event::FoldedChainsOf5To8,
        Event::FoldedChainsOver8,
    ];
    for (most, bar) in [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (8, 3), (9, 4)] {
        let value = most.to_string();
        let mut bench = bench(9, "100", &[("replacement_block.max_chain", &value)]);
        (0..=most).for_each(|_| drop(bench.write(&[5])));
        let mut expected = [0; 5];
        expected[bar] = 1;
        assert_eq!(bars.map(|bar| bench.events(bar)), expected, "{most}");
        assert_eq!(bench.events(Event::FoldedReplacements), most);
    }
}

#[test]
fn the_reserve_is_not_for_chains() {
    for (reserve, folded) in [("1", 0), ("2", 1)] {
        let mut bench = bench(2, "30", &[("replacement_block.reserve", reserve)]);
        bench.write(&[5, 9]);
        assert_eq!(folds(&bench).0, folded, "reserve {reserve}");
    }
    // Room for one chain at least, whatever the reserve.
    let mut bench = bench(2, "0.1", &[("replacement_block.reserve", "3")]);
    bench.write(&[5]);
    assert_eq!(folds(&bench), (0, 0, 0));
}

#[test]
fn trimmed_pages_are_neither_copied_nor_brought_back_by_a_fold() {
    let mut bench = bench(2, "20", &[]);
    bench.write(&[5]);
    bench.submit(Op::Trim, 5, 2);
    bench.write(&[9]);
    assert_eq!(bench.meter().programs(Merge), 2, "4 and 7");
    bench.write(&[6]);
    assert_eq!((bench.place(6), bench.events(Event::InPlaceWrites)), ((bench.block(4), 2), 1));
}

#[test]
fn appended_replacement_pages_lie_one_after_the_other() {
    let mut bench = appending(2, "30", &[]);
    bench.write(&[6, 5, 6]);
    let unit = bench.block(6);
    assert_eq!((bench.place(5), bench.place(6)), ((unit, 1), (unit, 2)));
    assert_eq!(longest(&bench), Some(1));
}

/// NFTL-N's fold: the last unit's pages do not lie at their places, so that a fresh one is needed.
#[test]
fn an_appended_chain_is_folded_out_of_place() {
    let mut bench = appending(2, "20", &[]);
    let head = bench.block(4);
    bench.write(&[6, 5, 6]);
    let unit = bench.block(6);
    let sources = bench.all_at([4, 5, 6, 7]);
    let operations = bench.write(&[9]);
    let targets = bench.all_at([4, 5, 6, 7]);
    let mut expected: Vec<Operation> =
        sources.into_iter().zip(targets).flat_map(|(from, to)| copy(from, to)).collect();
    expected.extend([Erase(head, Merge), Erase(unit, Merge), Program(bench.at(9), Host)]);
    assert_eq!(operations, expected);
    assert_eq!((folds(&bench), bench.merges()), ((0, 1, 1), (0, 0, 1)));
}

/// Offset fixed: one area per unit up to the first free place behind the newest copy. Appending:
/// one per replacement page from the end, then the head's. Time and count follow `timing.oob_read`.
#[test]
fn searches_read_one_out_of_band_area_per_unit_or_per_page() {
    let cost = |mode: &str, writes: &[u64], op: Op, lpn: u64| {
        let run = |oob_read: &str| {
            let pairs = [("replacement_block.mode", mode), ("timing.oob_read", oob_read)];
            let mut bench = bench(2, "40", &pairs);
            bench.write(writes);
            let before = bench.meter().oob_reads();
            let mut request = pages(&bench.config, op, lpn, 1);
            request.arrival = bench.device.idle_from();
            let time = bench.device.submit(&request).expect("it works").device();
            (bench.meter().oob_reads() - before, time)
        };
        let ((reads, free), (same, charged)) = (run("0us"), run("10us"));
        assert_eq!((reads, charged - free), (same, same * 10_000));
        reads
    };
    // Head, R1 and R2; 5 is in all of them.
    let fixed = |op, lpn| cost("offset_fixed", &[5, 5, 6], op, lpn);
    assert_eq!(fixed(Op::Read, 5), 3, "the last of three units");
    assert_eq!(fixed(Op::Read, 6), 3, "R2's place is free");
    assert_eq!(fixed(Op::Read, 7), 2, "R1's place is free");
    assert_eq!(fixed(Op::Read, 9), 1, "no chain: the head alone");
    assert_eq!(fixed(Op::Read, 30), 0, "no unit");
    assert_eq!(fixed(Op::Write, 7), 2);
    assert_eq!(fixed(Op::Write, 5), 3, "no place is free");
    let append = |op, lpn| cost("append", &[5, 5, 6], op, lpn);
    assert_eq!(append(Op::Read, 6), 1, "the last page");
    assert_eq!(append(Op::Read, 5), 2);
    assert_eq!(append(Op::Read, 7), 4, "three replacement pages and the head's");
    assert_eq!(append(Op::Write, 7), 1, "the head's place; the next page is known");
}

#[test]
fn strict_order_pads_up_to_a_fixed_offset_but_not_where_pages_are_appended() {
    let strict = ("nand.enforce_order", "strict");
    let mut fixed = bench(2, "30", &[strict]);
    let operations = fixed.write(&[6]);
    let six = fixed.at(6);
    let pads = [2, 1].map(|below| Program(Ppn(six.0 - below), Pad));
    assert_eq!(operations, [&pads[..], &[Program(six, Host)]].concat());
    fixed.write(&[5]);
    assert_ne!(fixed.block(5), fixed.block(6), "its place is padded");
    let mut append = appending(2, "30", &[strict]);
    append.write(&[6, 5]);
    assert_eq!((append.place(5), append.meter().programs(Pad)), ((append.block(6), 1), 0));
}

#[test]
fn chains_go_on_in_their_order_after_a_power_cut() {
    let mut bench = bench(2, "40", &[]);
    bench.write(&[5, 6]);
    let first = bench.block(6);
    bench.write(&[5]);
    let second = bench.block(5);
    bench.device.board_mut().nand_mut().cut_power();
    bench.device.power_cycle().expect("it recovers");
    bench.device.audit().expect("sound");
    assert_eq!((bench.block(5), longest(&bench)), (second, Some(2)));
    bench.write(&[6, 7]);
    assert_eq!((bench.place(6), bench.place(7)), ((second, 2), (first, 3)));
    assert_eq!(bench.events(Event::FoldsInPlace), 0);
}

/// The head moves because a program in it failed: the place of 5 is free there again, but units
/// behind it hold newer copies than units before. The next copy goes behind the newest all the
/// same.
#[test]
fn a_free_place_before_the_newest_copy_is_passed_over() {
    let mut bench = bench(0, "30", &[("device.over_provisioning", "1")]);
    bench.write(&[4, 5, 5]);
    let unit = bench.block(5);
    bench.device.board_mut().nand_mut().faults_mut().fail_program_after(0);
    bench.write(&[7]);
    let head = bench.block(4);
    assert_eq!((bench.events(Event::ProgramFailures), bench.place(7)), (1, (head, 3)));
    bench.write(&[5]);
    assert!(bench.block(5) != head && bench.block(5) != unit, "a second replacement block");
    assert_eq!(longest(&bench), Some(2));
}

/// Every page is valid and nothing can be folded without copies: each write still comes through, on
/// the smallest legal device, with a single replacement block.
#[test]
fn every_write_makes_progress_when_everything_is_valid() {
    for pairs in [
        &[][..],
        &[("replacement_block.mode", "append")],
        &[("replacement_block.own_fold", "retry")],
        &[("replacement_block.mode", "append"), ("replacement_block.own_fold", "retry")],
        &[("nand.enforce_order", "strict")],
        &[("nand.enforce_order", "ascending_gaps_ok"), ("replacement_block.own_fold", "retry")],
    ] {
        let all = [pairs, &[("device.over_provisioning", "0.01")]].concat();
        let config = tiny("replacement_block", 10, &all);
        let (row, _) = schemes::find("replacement_block").expect("in the table");
        assert_eq!(
            config.device.physical_blocks(),
            (row.minimum_blocks)(&config),
            "no spare block"
        );
        let mut device = open("replacement_block", &config);
        device.verify_reads();
        let logical = config.device.logical_pages();
        device.submit(&pages(&config, Op::Write, 0, logical)).expect("room for every page");
        for number in 0..2000u64 {
            let before = device.board().meter().total_erases();
            let page = number * 7 % logical;
            device.submit(&pages(&config, Op::Write, page, 1)).expect("room for every update");
            let erases = device.board().meter().total_erases() - before;
            assert!(erases <= 2, "{pairs:?}: one fold of one replacement block is enough");
            device.audit().expect("sound");
        }
    }
}

/// A program that fails anywhere, folds included, costs a block and no data.
#[test]
fn failing_programs_cost_one_block_and_no_data_wherever_they_happen() {
    for pairs in [
        &[("replacement_block.spare_pct", "30")][..],
        &[("replacement_block.spare_pct", "30"), ("replacement_block.mode", "append")],
        &[("replacement_block.max_chain", "1"), ("replacement_block.own_fold", "retry")],
        &[("replacement_block.spare_pct", "30"), ("nand.enforce_order", "strict")],
    ] {
        let mut failures = 0;
        for failing in 0..300 {
            let all = [pairs, &[("device.over_provisioning", "1")]].concat();
            let config = tiny("replacement_block", 10, &all);
            let mut device = open("replacement_block", &config);
            device.verify_reads();
            device.board_mut().nand_mut().faults_mut().fail_program_after(failing);
            for request in mixed(&config, 80, 5) {
                device.submit(&request).expect("there is a spare block");
                device.audit().unwrap_or_else(|error| panic!("{pairs:?}, {failing}: {error}"));
            }
            failures += device.board().meter().events(Event::ProgramFailures);
            assert!(device.board().nand().retired_blocks() <= 1);
        }
        assert!(failures > 200, "{pairs:?}: {failures} programs failed");
    }
}

/// 5 replacement blocks, the reserve, and 4 more that every device has: chains give way to blocks
/// that went bad, so that the device ends when hardly one of them is left.
#[test]
fn chains_become_fewer_before_lost_blocks_end_the_device() {
    let pairs = [("replacement_block.spare_pct", "30"), ("nand.erase_failure_rate", "0.1")];
    let config = tiny("replacement_block", 20, &pairs);
    let mut device = open("replacement_block", &config);
    device.verify_reads();
    let logical = config.device.logical_pages();
    let end = (0..20_000u64).find_map(|number| {
        let page = number * 7 % logical;
        device.submit(&pages(&config, Op::Write, page, 1)).err()
    });
    let Some(DeviceError::Fault(Fault::WornOut { retired_blocks, .. })) = end else {
        panic!("every tenth erase failed, but the device ended with {end:?}");
    };
    // 8, if chains held their blocks to the end.
    assert!(retired_blocks >= 11, "{retired_blocks} blocks were lost");
    for page in 0..logical {
        device.submit(&pages(&config, Op::Read, page, 1)).expect("what was written is there");
    }
}

#[test]
fn memory_is_a_block_table_and_a_link_per_physical_block() {
    let config = tiny("replacement_block", 100, &[]);
    let (row, _) = schemes::find("replacement_block").expect("in the table");
    let structures = (row.ram_use)(&config);
    let bytes = |name| structures.iter().find(|use_| use_.structure == name).map(|use_| use_.bytes);
    assert_eq!(bytes("block_table"), Some(400));
    assert_eq!(bytes("replacement_links"), Some(4 * config.device.physical_blocks()));
    assert_eq!(bytes("write_positions"), Some(0), "pages have their places");
    // 3 spare blocks, of which one is reserved.
    let config = tiny("replacement_block", 100, &[("replacement_block.mode", "append")]);
    let structures = (row.ram_use)(&config);
    let positions = structures.iter().find(|use_| use_.structure == "write_positions");
    assert_eq!(positions.map(|use_| use_.bytes), Some(2 * 2));
}
