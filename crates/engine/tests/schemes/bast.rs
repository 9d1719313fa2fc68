//! BAST's rules and merges (`docs/papers/others.md#bast`), the slide's cases among them, as flash
//! operations in order. Blocks have 4 pages: logical block 1 is pages 4 to 7, as on the slide.

use crate::common::{open, pages, tiny};
use crate::fast_bench::{Bench, copy};
use ftlab_engine::board::nand::record::Operation::{self, Erase, Program};
use ftlab_engine::meter::Cause::{Host, Merge, Pad};
use ftlab_engine::meter::Event;
use ftlab_engine::request::Op;
use ftlab_engine::schemes;
use ftlab_engine::units::Ppn;

/// Two log blocks.
const TWO: (&str, &str) = ("bast.log_blocks", "2");

fn bench(filled: u64, pairs: &[(&str, &str)]) -> Bench {
    Bench::of("bast", filled, &[&[TWO], pairs].concat())
}

/// The copies of a full merge, page by page.
fn copies<const N: usize>(from: [Ppn; N], to: [Ppn; N]) -> Vec<Operation> {
    from.into_iter().zip(to).flat_map(|(from, to)| copy(from, to)).collect()
}

#[test]
fn first_writes_go_to_their_places_in_the_data_block() {
    let mut bench = bench(0, &[]);
    let operations = bench.write(&[5, 4, 7]);
    assert_eq!(operations, bench.all_at([5, 4, 7]).map(|ppn| Program(ppn, Host)));
    let block = bench.block(5);
    assert_eq!(
        (bench.place(4), bench.place(5), bench.place(7)),
        ((block, 0), (block, 1), (block, 3))
    );
    assert_eq!((bench.events(Event::InPlaceWrites), bench.events(Event::RandomLogWrites)), (3, 0));
}

#[test]
fn the_slide_4_5_4_4_fills_the_log_block_of_logical_block_1_out_of_order() {
    let mut bench = bench(2, &[]);
    let data = bench.block(4);
    let old = bench.all_at([4, 5]);
    let operations = bench.write(&[4, 5, 4, 4]);
    let log = bench.block(4);
    assert_ne!(log, data);
    let slots = [0, 1, 2, 3].map(|offset| bench.device.board().geometry().page(log, offset));
    assert_eq!(operations, slots.map(|ppn| Program(ppn, Host)), "appended in order of arrival");
    assert_eq!((bench.place(4), bench.place(5)), ((log, 3), (log, 1)), "the newest copies");
    assert!(old.iter().all(|&ppn| !bench.device.board().nand().state().is_valid(ppn)));
    let sources = bench.all_at([4, 5, 6, 7]);
    let operations = bench.write(&[6]);
    let (moved, six) = (bench.all_at([4, 5, 7]), bench.at(6));
    let rebuilt = bench.block(4);
    let six_then = bench.device.board().geometry().page(rebuilt, 2);
    let mut expected = copies(sources, [moved[0], moved[1], six_then, moved[2]]);
    expected.extend([Erase(data, Merge), Erase(log, Merge), Program(six, Host)]);
    assert_eq!(operations, expected, "full: a page twice is not in order, though all lie in it");
    assert_eq!((bench.merges(), bench.erases()), ((0, 0, 1), (1, 1, 0)));
    assert_eq!(bench.place(6).1, 0, "the first page of a new log block");
}

#[test]
fn the_slide_8_9_10_11_is_switched_one_erase_and_no_copy() {
    let mut bench = bench(2, &[]);
    let data = bench.block(8);
    bench.submit(Op::Write, 8, 4);
    let log = bench.block(8);
    assert_ne!(log, data);
    let operations = bench.write(&[8]);
    assert_eq!(operations, [Erase(data, Merge), Program(bench.at(8), Host)]);
    assert_eq!(bench.block(9), log, "the log block is the data block now");
    assert_eq!((bench.merges(), bench.erases()), ((1, 0, 0), (1, 0, 0)));
    assert_eq!(bench.meter().programs(Merge), 0);
    assert_eq!(bench.events(Event::LogPagesAtMerge), 4);
}

#[test]
fn a_log_block_with_the_first_pages_in_order_is_completed() {
    let mut bench = bench(3, &[]);
    let data = bench.block(4);
    bench.write(&[4, 5, 8]);
    let from = bench.all_at([6, 7]);
    let log = bench.block(4);
    let operations = bench.write(&[12]);
    let mut expected = copies(from, bench.all_at([6, 7]));
    expected.extend([Erase(data, Merge), Program(bench.at(12), Host)]);
    assert_eq!(operations, expected, "P-j copies and one erase");
    assert_eq!((bench.block(4), bench.place(7)), (log, (log, 3)));
    assert_eq!((bench.merges(), bench.erases()), ((0, 1, 0), (1, 0, 0)));
    assert_eq!(bench.events(Event::LogPagesAtMerge), 2);
}

#[test]
fn one_page_overwritten_and_evicted_costs_p_copies_and_two_erases() {
    let mut bench = bench(3, &[]);
    let data = bench.block(4);
    bench.write(&[5, 8]);
    let (log, from) = (bench.block(5), bench.all_at([4, 5, 6, 7]));
    let operations = bench.write(&[12]);
    let mut expected = copies(from, bench.all_at([4, 5, 6, 7]));
    expected.extend([Erase(data, Merge), Erase(log, Merge), Program(bench.at(12), Host)]);
    assert_eq!(operations, expected);
    assert_eq!(bench.meter().programs(Merge), 4);
    assert_eq!((bench.merges(), bench.erases()), ((0, 0, 1), (1, 1, 0)));
    assert_eq!(bench.events(Event::LogPagesAtMerge), 1, "three pages of it were never used");
}

#[test]
fn a_run_that_does_not_begin_at_offset_0_is_merged_in_full() {
    let mut bench = bench(3, &[]);
    bench.write(&[5, 6, 7, 8, 12]);
    assert_eq!((bench.merges(), bench.meter().programs(Merge)), ((0, 0, 1), 4));
}

#[test]
fn without_partial_merges_the_beginning_of_a_block_is_merged_in_full() {
    let mut bench = bench(3, &[("bast.partial", "off")]);
    bench.write(&[4, 5, 8, 12]);
    assert_eq!((bench.merges(), bench.erases()), ((0, 0, 1), (1, 1, 0)));
    bench.write(&[13, 14, 15, 12]);
    assert_eq!(bench.merges(), (1, 0, 1), "a whole block in order is switched all the same");
}

#[test]
fn without_the_check_even_a_full_block_in_order_is_merged_in_full() {
    let mut bench = bench(2, &[("bast.seq_check", "none")]);
    bench.submit(Op::Write, 8, 4);
    bench.write(&[8]);
    assert_eq!((bench.merges(), bench.meter().programs(Merge)), ((0, 0, 1), 4));
}

#[test]
fn a_trimmed_page_keeps_a_block_in_order_unless_pages_must_be_valid() {
    for (check, merges) in [("all_pages", (1, 0, 0)), ("valid_pages", (0, 0, 1))] {
        let mut bench = bench(2, &[("bast.seq_check", check)]);
        bench.submit(Op::Write, 8, 4);
        bench.submit(Op::Trim, 10, 1);
        bench.write(&[9]);
        assert_eq!(bench.merges(), merges, "{check}");
    }
}

#[test]
fn a_log_block_without_a_valid_page_is_erased_and_that_is_no_merge() {
    let mut bench = bench(3, &[]);
    bench.write(&[5, 5, 8]);
    let log = bench.block(5);
    bench.submit(Op::Trim, 5, 1);
    let operations = bench.write(&[12]);
    assert_eq!(operations, [Erase(log, Merge), Program(bench.at(12), Host)]);
    assert_eq!((bench.merges(), bench.events(Event::DeadLogBlocks)), ((0, 0, 0), 1));
    assert_eq!(bench.events(Event::LogPagesAtMerge), 0);
}

#[test]
fn victims_are_chosen_as_the_setting_says() {
    // Log blocks of logical blocks 1, 2 and 3, opened in this order; 1 is written last. Blocks 2
    // and 3 hold a page out of order, 1 two pages in order.
    let evicted = |victim: &str| {
        let mut bench = bench(5, &[("bast.victim", victim), ("bast.log_blocks", "3")]);
        bench.write(&[4, 9, 13, 5]);
        let logs = [4, 9, 13].map(|page| (page / 4, bench.place(page)));
        let steps = bench.events(Event::VictimSearchSteps);
        bench.write(&[16]);
        let gone = logs.into_iter().filter(|&(lbn, place)| {
            let offset = if lbn == 1 { 4 } else { 4 * lbn + 1 };
            bench.place(offset) != place || (lbn == 1 && bench.merges() == (0, 1, 0))
        });
        let gone: Vec<u32> = gone.map(|(lbn, _)| lbn).collect();
        (gone, bench.events(Event::VictimSearchSteps) - steps)
    };
    assert_eq!(evicted("lru"), (vec![2], 3), "block 1 was written again");
    assert_eq!(evicted("fifo"), (vec![1], 1));
    assert_eq!(evicted("round_robin"), (vec![1], 1));
    assert_eq!(evicted("cheapest"), (vec![1], 3), "a partial merge before full ones");
    assert_eq!(evicted("random").0.len(), 1);
}

#[test]
fn round_robin_goes_on_behind_its_last_victim() {
    let mut bench = bench(6, &[("bast.victim", "round_robin")]);
    bench.write(&[5, 9]);
    let mut kept = Vec::new();
    for page in [13, 17, 21] {
        bench.write(&[page]);
        kept.push([5, 9, 13, 17].map(|logged| bench.place(logged).1 == 0));
    }
    // A logged page lies at offset 0 of its log block, a merged one at its own, offset 1.
    assert_eq!(kept[0], [false, true, true, false], "block 1 made room for block 3");
    assert_eq!(kept[1], [false, false, true, true], "block 2 for block 4");
    assert_eq!(
        kept[2],
        [false, false, false, true],
        "and block 3, at the first place, for block 5"
    );
}

#[test]
fn random_victims_are_spread_and_repeat_by_seed() {
    let run = || {
        let mut bench = bench(9, &[("bast.victim", "random"), ("bast.log_blocks", "4")]);
        (0..40u64).map(|turn| bench.write(&[5 + 4 * (turn % 9)])).collect::<Vec<_>>()
    };
    assert_eq!(run(), run());
    let mut fifo = bench(9, &[("bast.victim", "fifo"), ("bast.log_blocks", "4")]);
    let in_turn: Vec<_> = (0..40u64).map(|turn| fifo.write(&[5 + 4 * (turn % 9)])).collect();
    assert_ne!(run(), in_turn);
}

#[test]
fn random_writes_over_more_blocks_than_logs_thrash() {
    let mut bench = bench(3, &[]);
    bench.write(&[5, 9, 13, 5, 9, 13, 5, 9, 13]);
    assert_eq!(bench.merges(), (0, 0, 7), "every write but the first two evicts a log block");
    assert_eq!(bench.events(Event::LogPagesAtMerge), 7, "of which one page was used");
}

#[test]
fn a_log_block_lies_in_the_plane_of_its_logical_block() {
    let pairs = [("device.planes", "2"), ("timing.profile", "parallel"), ("bast.log_blocks", "4")];
    let mut bench = bench(4, &pairs);
    bench.write(&[5, 13, 9, 17]);
    for page in [5, 13, 9, 17] {
        let plane = bench.device.board().geometry().plane_of(bench.at(page));
        assert_eq!(plane.0, page / 4 % 2, "page {page}");
    }
}

#[test]
fn strict_order_sends_backward_writes_to_the_log_and_pads_holes() {
    let mut bench = bench(0, &[("nand.enforce_order", "strict")]);
    bench.write(&[5]);
    assert_eq!(bench.events(Event::RandomLogWrites), 1, "offset 1 cannot come first");
    let (five, log) = (bench.at(5), bench.block(5));
    bench.write(&[9]);
    let operations = bench.write(&[13]);
    let rebuilt = bench.at(5);
    let mut expected = vec![Program(Ppn(rebuilt.0 - 1), Pad)];
    expected.extend(copy(five, rebuilt));
    expected.extend([Erase(log, Merge), Program(bench.at(13), Host)]);
    assert_eq!(operations, expected);
}

#[test]
fn the_smallest_legal_device_with_one_log_block_never_runs_dry() {
    let pairs = [("device.over_provisioning", "0.01"), ("bast.log_blocks", "1")];
    let config = tiny("bast", 10, &pairs);
    let (row, _) = schemes::find("bast").expect("in the table");
    assert_eq!(config.device.physical_blocks(), (row.minimum_blocks)(&config), "no spare block");
    let mut device = open("bast", &config);
    device.verify_reads();
    for page in 0..config.device.logical_pages() {
        device.submit(&pages(&config, Op::Write, page, 1)).expect("room for every page");
    }
    for request in crate::common::mixed(&config, 4000, 9) {
        device.submit(&request).expect("room for every update");
        device.audit().expect("sound");
    }
}

#[test]
fn log_blocks_go_on_after_a_power_cut() {
    let mut bench = bench(2, &[]);
    bench.write(&[5, 4, 9]);
    let (log, other) = (bench.block(5), bench.block(9));
    bench.device.power_cycle().expect("no fault");
    assert_eq!(bench.write(&[5]), [Program(bench.at(5), Host)]);
    assert_eq!(bench.place(5), (log, 2), "the next page of the same log block");
    bench.write(&[9]);
    assert_eq!(bench.place(9), (other, 1));
}

#[test]
fn memory_is_the_block_table_and_a_byte_per_log_page() {
    let config = tiny("bast", 100, &[("bast.log_blocks", "5")]);
    let (row, _) = schemes::find("bast").expect("in the table");
    let bytes = |name: &str| {
        let structures = (row.ram_use)(&config);
        structures.into_iter().find(|use_| use_.structure == name).expect("counted").bytes
    };
    assert_eq!(bytes("block_table"), 400);
    assert_eq!((bytes("log_page_lists"), bytes("log_blocks")), (5 * 4, 5 * 8));
}
