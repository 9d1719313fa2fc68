//! FAST's decision table row by row and its corner cases (`docs/papers/others.md#fast`), the slide
//! cases among them, as flash operations in order. Blocks have 4 pages: logical block 1 is pages 4
//! to 7, as on the slides.

use crate::common::{open, pages, tiny};
use crate::fast_bench::{Bench, copy};
use ftlab_engine::board::nand::record::Operation::{self, Erase, Program};
use ftlab_engine::meter::Cause::{Host, Merge, Pad};
use ftlab_engine::meter::Event;
use ftlab_engine::request::Op;
use ftlab_engine::schemes;
use ftlab_engine::units::Ppn;

#[test]
fn row_0_an_unmapped_block_gets_a_data_block_and_row_1_fills_it_in_place() {
    let mut bench = Bench::new(0, &[]);
    let operations = bench.write(&[5]);
    assert_eq!(operations, [Program(bench.at(5), Host)], "row 0");
    let (block, offset) = bench.place(5);
    assert_eq!(offset, 1, "at its own place");
    let operations = bench.write(&[4, 7]);
    assert_eq!(operations, [Program(bench.at(4), Host), Program(bench.at(7), Host)], "row 1");
    assert_eq!((bench.place(4), bench.place(7)), ((block, 0), (block, 3)), "also at offset 0");
    assert_eq!(bench.events(Event::InPlaceWrites), 3);
    assert_eq!(bench.events(Event::SequentialLogOpens), 0);
}

#[test]
fn row_2_offset_0_opens_the_sequential_block_slide_case_1() {
    let mut bench = Bench::new(2, &[]);
    let data = bench.block(4);
    let operations = bench.write(&[4]);
    assert_eq!(operations, [Program(bench.at(4), Host)]);
    let (log, offset) = bench.place(4);
    assert!(log != data && offset == 0, "page 4 is the first of a log block");
    assert_eq!(bench.events(Event::SequentialLogOpens), 1);
    assert_eq!(bench.events(Event::SequentialLogWrites), 1);
}

#[test]
fn row_3_a_full_sequential_block_becomes_the_data_block_by_a_switch_fig_5a() {
    let mut bench = Bench::new(2, &[]);
    let data = bench.block(4);
    let operations = bench.submit(Op::Write, 4, 4);
    let log = bench.block(4);
    let appended = bench.all_at([4, 5, 6, 7]).map(|ppn| Program(ppn, Host));
    assert_eq!(operations, appended, "four appends and nothing else");
    assert_eq!(bench.merges(), (0, 0, 0), "the switch waits for the next stream");
    let operations = bench.write(&[8]);
    assert_eq!(operations, [Erase(data, Merge), Program(bench.at(8), Host)]);
    assert_eq!(bench.merges(), (1, 0, 0));
    assert_eq!(bench.erases(), (1, 0, 0), "what was erased was a data block");
    assert_eq!(bench.block(7), log, "the log block is the data block now");
    bench.write(&[5]);
    assert_ne!(bench.block(5), log, "as a data block it takes no more updates");
}

#[test]
fn row_3_closes_a_block_when_a_request_runs_over_its_end() {
    let mut bench = Bench::new(2, &[]);
    let (first, second) = (bench.block(4), bench.block(8));
    let operations = bench.submit(Op::Write, 4, 8);
    let mut expected: Vec<Operation> =
        bench.all_at([4, 5, 6, 7]).map(|ppn| Program(ppn, Host)).to_vec();
    expected.push(Erase(first, Merge));
    expected.extend(bench.all_at([8, 9, 10, 11]).map(|ppn| Program(ppn, Host)));
    assert_eq!(operations, expected);
    assert_ne!(bench.block(8), second, "the second block's pages are in the new log block");
    assert_eq!(bench.merges(), (1, 0, 0));
}

#[test]
fn row_4_a_partly_filled_sequential_block_is_completed_by_a_partial_merge_fig_5b() {
    let mut bench = Bench::new(2, &[]);
    let data = bench.block(4);
    bench.write(&[4, 5]);
    let [six, seven] = bench.all_at([6, 7]);
    let operations = bench.write(&[8]);
    let [new_six, new_seven] = bench.all_at([6, 7]);
    let mut expected = [copy(six, new_six), copy(seven, new_seven)].concat();
    expected.extend([Erase(data, Merge), Program(bench.at(8), Host)]);
    assert_eq!(operations, expected);
    assert_eq!((bench.place(6), bench.place(7)), ((bench.block(4), 2), (bench.block(4), 3)));
    assert_eq!((bench.merges(), bench.erases()), ((0, 1, 0), (1, 0, 0)));
    assert_eq!(bench.meter().programs(Merge), 2);
    assert_eq!(bench.meter().programs(Host), 3);
}

#[test]
fn row_5_the_owners_next_page_is_appended_slide_case_2() {
    let mut bench = Bench::new(2, &[]);
    let old = bench.at(5);
    bench.write(&[4]);
    let operations = bench.write(&[5]);
    assert_eq!(operations, [Program(bench.at(5), Host)]);
    assert_eq!(bench.place(5), (bench.block(4), 1));
    assert!(!bench.device.board().nand().state().is_valid(old), "the data page is superseded");
    assert_eq!(bench.events(Event::SequentialLogWrites), 2);
}

#[test]
fn row_5_supersedes_a_copy_in_the_random_log_too() {
    let mut bench = Bench::new(2, &[]);
    bench.write(&[5]);
    let random = bench.at(5);
    bench.write(&[4, 5]);
    assert_eq!(bench.place(5), (bench.block(4), 1));
    assert!(!bench.device.board().nand().state().is_valid(random));
}

#[test]
fn row_6_a_rewrite_merges_sequential_and_data_block_into_a_new_one_slide_case_4() {
    let mut bench = Bench::new(2, &[]);
    let data = bench.block(4);
    bench.write(&[4, 5]);
    let log = bench.block(4);
    let [four, six, seven] = bench.all_at([4, 6, 7]);
    let operations = bench.write(&[5]);
    let [new_four, new_five, new_six, new_seven] = bench.all_at([4, 5, 6, 7]);
    let mut expected = copy(four, new_four).to_vec();
    expected.push(Program(new_five, Host));
    expected.extend(copy(six, new_six));
    expected.extend(copy(seven, new_seven));
    expected.extend([Erase(data, Merge), Erase(log, Merge)]);
    assert_eq!(operations, expected);
    assert_eq!((bench.merges(), bench.erases()), ((0, 0, 1), (1, 1, 0)));
    assert_eq!(bench.meter().merges().full_data_blocks, 1);
    bench.write(&[4]);
    assert_eq!(bench.events(Event::SequentialLogOpens), 2, "the sequential block was empty again");
}

#[test]
fn row_6_to_rw_sends_the_page_to_the_random_log_and_makes_the_later_merge_full() {
    let mut bench = Bench::new(2, &[("fast.sw_rewrite", "to_rw")]);
    let data = bench.block(4);
    bench.write(&[4, 5]);
    let log = bench.block(4);
    let operations = bench.write(&[5]);
    assert_eq!(operations, [Program(bench.at(5), Host)]);
    let random = bench.block(5);
    assert!(random != log && random != data);
    let sources = bench.all_at([4, 5, 6, 7]);
    let operations = bench.write(&[8]);
    let targets = bench.all_at([4, 5, 6, 7]);
    let copies = sources.into_iter().zip(targets).flat_map(|(from, to)| copy(from, to));
    let mut expected: Vec<Operation> = copies.collect();
    expected.extend([Erase(data, Merge), Erase(log, Merge), Program(bench.at(8), Host)]);
    assert_eq!(operations, expected);
    assert_eq!(bench.merges(), (0, 0, 1));
}

#[test]
fn row_7_a_gap_completes_the_sequential_block_with_the_page_inside_slide_case_3() {
    let mut bench = Bench::new(2, &[]);
    let data = bench.block(4);
    bench.write(&[4]);
    let [five, seven] = bench.all_at([5, 7]);
    let operations = bench.write(&[6]);
    let [new_five, new_six, new_seven] = bench.all_at([5, 6, 7]);
    let mut expected = copy(five, new_five).to_vec();
    expected.push(Program(new_six, Host));
    expected.extend(copy(seven, new_seven));
    expected.push(Erase(data, Merge));
    assert_eq!(operations, expected);
    assert_eq!(bench.place(6), (bench.block(4), 2), "at its own place in the former log block");
    assert_eq!((bench.merges(), bench.erases()), ((0, 1, 0), (1, 0, 0)));
    assert_eq!((bench.meter().programs(Host), bench.meter().programs(Merge)), (2, 2));
    bench.write(&[8]);
    assert_eq!(bench.merges(), (0, 1, 0), "the sequential block was empty again");
}

#[test]
fn row_7_full_merge_rebuilds_into_a_new_block() {
    let mut bench = Bench::new(2, &[("fast.sw_gap", "full_merge")]);
    let data = bench.block(4);
    bench.write(&[4]);
    let log = bench.block(4);
    let [four, five, seven] = bench.all_at([4, 5, 7]);
    let operations = bench.write(&[6]);
    let [new_four, new_five, new_six, new_seven] = bench.all_at([4, 5, 6, 7]);
    let mut expected = [copy(four, new_four), copy(five, new_five)].concat();
    expected.push(Program(new_six, Host));
    expected.extend(copy(seven, new_seven));
    expected.extend([Erase(data, Merge), Erase(log, Merge)]);
    assert_eq!(operations, expected);
    assert_eq!(bench.merges(), (0, 0, 1));
}

#[test]
fn row_7_to_rw_leaves_the_sequential_block_open() {
    let mut bench = Bench::new(2, &[("fast.sw_gap", "to_rw")]);
    bench.write(&[4]);
    let operations = bench.write(&[6]);
    assert_eq!(operations, [Program(bench.at(6), Host)]);
    assert_ne!(bench.block(6), bench.block(4));
    bench.write(&[5]);
    assert_eq!(bench.place(5), (bench.block(4), 1), "row 5 goes on");
    assert_eq!(bench.merges(), (0, 0, 0));
}

#[test]
fn row_8_anything_else_is_appended_to_the_random_log() {
    let mut bench = Bench::new(3, &[]);
    let old = bench.at(6);
    bench.write(&[8]);
    let operations = bench.write(&[6, 13, 6]);
    let log = bench.block(6);
    assert_eq!(operations.len(), 3);
    assert_eq!(operations[2], Program(bench.at(6), Host));
    assert_eq!((bench.place(13), bench.place(6)), ((log, 1), (log, 2)));
    assert!(!bench.device.board().nand().state().is_valid(old));
    assert_eq!(bench.device.board().nand().valid_pages(log), 2, "6 was superseded in the log");
    assert_eq!(bench.events(Event::RandomLogWrites), 3);
}

#[test]
fn the_size_detector_opens_the_sequential_block_for_large_requests_only() {
    let mut bench = Bench::new(2, &[("fast.detector", "request_size")]);
    bench.write(&[4, 5]);
    assert_eq!(bench.events(Event::SequentialLogOpens), 0);
    assert_eq!(bench.events(Event::RandomLogWrites), 2);
    bench.submit(Op::Write, 4, 2);
    assert_eq!(bench.events(Event::SequentialLogOpens), 1);
    assert_eq!(bench.events(Event::SequentialLogWrites), 2);
}

#[test]
fn first_writes_go_to_the_log_if_asked_and_become_data_by_merges() {
    let mut bench = Bench::new(0, &[("fast.first_write", "log")]);
    bench.submit(Op::Write, 4, 4);
    bench.write(&[9]);
    assert_eq!(bench.events(Event::InPlaceWrites), 0);
    assert_eq!(bench.events(Event::RandomLogWrites), 1);
    let log = bench.block(4);
    let operations = bench.write(&[12]);
    assert_eq!(operations, [Program(bench.at(12), Host)], "a switch with nothing to erase");
    assert_eq!((bench.merges(), bench.block(4)), ((1, 0, 0), log));
}

#[test]
fn corner_a_and_b_random_writes_of_offset_0_thrash_the_sequential_block() {
    let mut bench = Bench::new(2, &[]);
    bench.write(&[4, 8, 4, 8, 4]);
    assert_eq!(bench.events(Event::SequentialLogOpens), 5);
    assert_eq!(bench.merges(), (0, 4, 0), "each opening merges the one before");
    assert_eq!(bench.meter().programs(Merge), 12, "three copies each");
}

#[test]
fn corner_c_merges_of_the_sequential_block_find_newer_copies_in_the_random_log() {
    let mut bench = Bench::new(2, &[]);
    bench.write(&[7]);
    let random = bench.at(7);
    bench.write(&[4, 5]);
    let six = bench.at(6);
    let operations = bench.write(&[8]);
    let mut expected = [copy(six, bench.at(6)), copy(random, bench.at(7))].concat();
    let data = operations[4];
    expected.extend([data, Program(bench.at(8), Host)]);
    assert_eq!(operations, expected);
    assert!(!bench.device.board().nand().state().is_valid(random), "absorbed");
}

#[test]
fn corner_d_a_trimmed_page_is_not_copied_and_its_place_is_free_afterwards() {
    let mut bench = Bench::new(2, &[("fast.log_blocks", "2")]);
    bench.submit(Op::Trim, 6, 1);
    bench.write(&[5, 5, 5, 5]);
    bench.write(&[9]);
    assert_eq!(bench.meter().programs(Merge), 3, "4, 5 and 7");
    bench.write(&[6]);
    assert_eq!(bench.place(6), (bench.block(4), 2), "row 1");
}

#[test]
fn corner_e_the_smallest_legal_device_never_runs_dry() {
    let config = tiny("fast", 10, &[("device.over_provisioning", "0.01")]);
    let (row, _) = schemes::find("fast").expect("in the table");
    assert_eq!(config.device.physical_blocks(), (row.minimum_blocks)(&config), "no spare block");
    let mut device = open("fast", &config);
    device.verify_reads();
    let logical = config.device.logical_pages();
    for page in 0..logical {
        device.submit(&pages(&config, Op::Write, page, 1)).expect("room for every page");
    }
    for request in crate::common::mixed(&config, 4000, 9) {
        device.submit(&request).expect("room for every update");
        device.audit().expect("sound");
    }
}

#[test]
fn corner_f_a_flush_without_trims_costs_nothing() {
    let mut bench = Bench::new(2, &[]);
    bench.write(&[4, 5, 9]);
    assert_eq!(bench.submit(Op::Flush, 0, 0), []);
}

#[test]
fn strict_order_sends_backward_writes_to_the_log_and_pads_holes() {
    let mut bench = Bench::new(0, &[("nand.enforce_order", "strict"), ("fast.log_blocks", "2")]);
    bench.write(&[5]);
    assert_eq!(bench.events(Event::RandomLogWrites), 1, "offset 1 cannot come first");
    bench.write(&[9, 5, 9]);
    let [five, nine] = bench.all_at([5, 9]);
    let log = bench.block(5);
    let operations = bench.write(&[6]);
    let first = |ppn: Ppn| Ppn(ppn.0 - 1);
    let (new_five, new_nine) = (bench.at(5), bench.at(9));
    let mut expected = vec![Program(first(new_five), Pad)];
    expected.extend(copy(five, new_five));
    expected.push(Program(first(new_nine), Pad));
    expected.extend(copy(nine, new_nine));
    expected.push(Erase(log, Merge));
    expected.push(Program(bench.at(6), Host));
    assert_eq!(operations, expected);
    assert_eq!(bench.place(6), (bench.block(5), 2), "in place: the next page of its data block");
    bench.write(&[4]);
    assert_ne!(bench.block(4), bench.block(5), "the padded place is taken");
}

#[test]
fn ascending_order_allows_gaps_but_no_way_back() {
    let mut bench = Bench::new(0, &[("nand.enforce_order", "ascending_gaps_ok")]);
    bench.write(&[5, 7]);
    assert_eq!(bench.events(Event::InPlaceWrites), 2);
    bench.write(&[6]);
    assert_eq!(bench.events(Event::RandomLogWrites), 1, "6 lies below 7");
    assert_eq!(bench.meter().programs(Pad), 0);
}
