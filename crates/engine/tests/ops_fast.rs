//! FAST's decision table row by row, its merges and the worked examples of the papers, as flash
//! operations in order. Blocks have 4 pages: logical block 1 is pages 4 to 7, as on the slides.

mod common;

use common::{open, pages, tiny};
use ftlab_engine::board::nand::record::Operation::{self, Erase, Program, Read};
use ftlab_engine::config::Config;
use ftlab_engine::meter::Cause::{Host, Merge, Pad, Trim};
use ftlab_engine::meter::{BlockRole, Event, Meter};
use ftlab_engine::request::Op;
use ftlab_engine::schemes::{self, Location};
use ftlab_engine::ssd::Device;
use ftlab_engine::units::{BlockId, Lpn, Ppn};

/// A small device whose operations are recorded.
struct Bench {
    config: Config,
    device: Box<dyn Device>,
}

impl Bench {
    /// Ten logical blocks, `filled` of them (from block 1 on) written once, in place.
    fn new(filled: u64, pairs: &[(&str, &str)]) -> Bench {
        let config = tiny("fast", 10, pairs);
        let device = open("fast", &config);
        let mut bench = Bench { config, device };
        for block in 1..=filled {
            bench.submit(Op::Write, 4 * block, 4);
        }
        bench.device.start_measuring();
        bench
    }

    fn submit(&mut self, op: Op, first: u64, count: u64) -> Vec<Operation> {
        self.device.board_mut().nand_mut().record_mut().start();
        let request = pages(&self.config, op, first, count);
        self.device.submit(&request).expect("nothing fails here");
        self.device.audit().expect("the device is sound");
        self.device.board_mut().nand_mut().record_mut().take()
    }

    /// Writes single pages, one request each; the operations of all of them.
    fn write(&mut self, lpns: &[u64]) -> Vec<Operation> {
        lpns.iter().flat_map(|&lpn| self.submit(Op::Write, lpn, 1)).collect()
    }

    /// Where a page is.
    fn at(&self, lpn: u32) -> Ppn {
        match self.device.locate(Lpn(lpn)) {
            Location::Flash(ppn) => ppn,
            other => panic!("page {lpn} is not on flash: {other:?}"),
        }
    }

    /// Where pages are.
    fn all_at<const N: usize>(&self, lpns: [u32; N]) -> [Ppn; N] {
        lpns.map(|lpn| self.at(lpn))
    }

    /// The block that a page is in, and its place there.
    fn place(&self, lpn: u32) -> (BlockId, u32) {
        let geometry = self.device.board().geometry();
        (geometry.block_of(self.at(lpn)), geometry.offset_of(self.at(lpn)))
    }

    fn block(&self, lpn: u32) -> BlockId {
        self.place(lpn).0
    }

    fn meter(&self) -> &Meter {
        self.device.board().meter()
    }

    fn events(&self, event: Event) -> u64 {
        self.meter().events(event)
    }

    /// Switch, partial and full merges so far.
    fn merges(&self) -> (u64, u64, u64) {
        let merges = self.meter().merges();
        (merges.switch, merges.partial, merges.full)
    }

    /// Erases of data, log and map blocks so far.
    fn erases(&self) -> (u64, u64, u64) {
        let role = |role| self.meter().erases(role);
        (role(BlockRole::Data), role(BlockRole::Log), role(BlockRole::Map))
    }
}

/// The copy of one page in a merge.
fn copy(from: Ppn, to: Ppn) -> [Operation; 2] {
    [Read(from, Merge), Program(to, Merge)]
}

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
    for request in common::mixed(&config, 4000, 9) {
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
