//! The block-mapped FTL (`docs/papers/others.md#block-map`) as flash operations in order: writes in
//! place, rewrites by one page and by several pages of a request, and what a rewrite that is
//! interrupted leaves. Blocks have 4 pages: logical block 1 is pages 4 to 7.

use crate::common::{config, mixed, open, pages, size, tiny};
use crate::fast_bench::{Bench, copy};
use ftlab_engine::board::Board;
use ftlab_engine::board::nand::fault::Fault;
use ftlab_engine::board::nand::record::Operation::{self, Erase, Program};
use ftlab_engine::board::when::When;
use ftlab_engine::config::Config;
use ftlab_engine::meter::Cause::{Host, Merge, Pad, Wear};
use ftlab_engine::meter::Event;
use ftlab_engine::request::{Op, PageIo, RequestShape};
use ftlab_engine::schemes::block::Block;
use ftlab_engine::schemes::seen;
use ftlab_engine::schemes::{self, Scheme};
use ftlab_engine::ssd::DeviceError;
use ftlab_engine::units::{Lpn, Ppn, Tag};

fn bench(filled: u64, pairs: &[(&str, &str)]) -> Bench {
    Bench::of("block", filled, pairs)
}

#[test]
fn free_offsets_take_pages_in_place_in_any_order() {
    let mut bench = bench(0, &[]);
    let operations = bench.write(&[5, 7, 4]);
    assert_eq!(operations, bench.all_at([5, 7, 4]).map(|ppn| Program(ppn, Host)));
    let block = bench.block(5);
    assert_eq!((bench.place(7), bench.place(4)), ((block, 3), (block, 0)));
    assert_eq!((bench.events(Event::InPlaceWrites), bench.events(Event::BlockRewrites)), (3, 0));
}

#[test]
fn one_page_of_a_full_block_costs_copies_of_all_others_and_an_erase() {
    let mut bench = bench(2, &[]);
    let old = bench.block(4);
    let [four, six, seven] = bench.all_at([4, 6, 7]);
    let operations = bench.write(&[5]);
    let [new_four, new_five, new_six, new_seven] = bench.all_at([4, 5, 6, 7]);
    let mut expected = copy(four, new_four).to_vec();
    expected.push(Program(new_five, Host));
    expected.extend(copy(six, new_six));
    expected.extend(copy(seven, new_seven));
    expected.push(Erase(old, Merge));
    assert_eq!(operations, expected);
    let meter = bench.meter();
    assert_eq!((meter.reads(Merge), meter.programs(Merge), meter.programs(Host)), (3, 3, 1));
    assert_eq!((bench.erases(), bench.events(Event::BlockRewrites)), ((1, 0, 0), 1));
}

#[test]
fn a_request_for_a_whole_block_costs_one_erase_and_no_copy() {
    let mut bench = bench(2, &[]);
    let old = bench.block(4);
    let operations = bench.submit(Op::Write, 4, 4);
    let mut expected = bench.all_at([4, 5, 6, 7]).map(|ppn| Program(ppn, Host)).to_vec();
    expected.push(Erase(old, Merge));
    assert_eq!(operations, expected);
    assert_eq!(bench.events(Event::BlockRewrites), 1);
}

#[test]
fn pages_of_a_request_in_one_block_are_one_rewrite() {
    let mut bench = bench(2, &[]);
    let old = bench.block(4);
    let [four, seven] = bench.all_at([4, 7]);
    let operations = bench.submit(Op::Write, 5, 2);
    let [new_four, new_five, new_six, new_seven] = bench.all_at([4, 5, 6, 7]);
    let mut expected = copy(four, new_four).to_vec();
    expected.extend([Program(new_five, Host), Program(new_six, Host)]);
    expected.extend(copy(seven, new_seven));
    expected.push(Erase(old, Merge));
    assert_eq!(operations, expected);
    assert_eq!(bench.events(Event::BlockRewrites), 1);
}

#[test]
fn page_by_page_a_request_rewrites_the_block_for_each_page() {
    let mut bench = Bench::of("block:page_by_page", 2, &[("block.coalesce_request", "false")]);
    bench.submit(Op::Write, 4, 4);
    assert_eq!(bench.events(Event::BlockRewrites), 4);
    assert_eq!((bench.meter().programs(Merge), bench.erases()), (12, (4, 0, 0)));
}

#[test]
fn a_request_over_two_blocks_rewrites_each_once() {
    let mut bench = bench(2, &[]);
    let (first, second) = (bench.block(4), bench.block(8));
    let [four, five, ten, eleven] = bench.all_at([4, 5, 10, 11]);
    let operations = bench.submit(Op::Write, 6, 4);
    let mut expected = [copy(four, bench.at(4)), copy(five, bench.at(5))].concat();
    expected.extend(bench.all_at([6, 7]).map(|ppn| Program(ppn, Host)));
    expected.push(Erase(first, Merge));
    expected.extend(bench.all_at([8, 9]).map(|ppn| Program(ppn, Host)));
    expected.extend([copy(ten, bench.at(10)), copy(eleven, bench.at(11))].concat());
    expected.push(Erase(second, Merge));
    assert_eq!(operations, expected);
}

#[test]
fn a_request_that_needs_a_rewrite_later_does_not_begin_in_place() {
    let mut bench = bench(0, &[]);
    bench.write(&[6]);
    let old = bench.block(6);
    let operations = bench.submit(Op::Write, 4, 3);
    let mut expected = bench.all_at([4, 5, 6]).map(|ppn| Program(ppn, Host)).to_vec();
    expected.push(Erase(old, Merge));
    assert_eq!(operations, expected, "4 and 5 are written once");
}

#[test]
fn trimmed_pages_are_not_copied_and_their_places_are_free_afterwards() {
    let mut bench = bench(2, &[]);
    bench.submit(Op::Trim, 6, 1);
    bench.write(&[5]);
    assert_eq!(bench.meter().programs(Merge), 2, "4 and 7");
    bench.write(&[6]);
    assert_eq!((bench.place(6), bench.events(Event::InPlaceWrites)), ((bench.block(5), 2), 1));
}

#[test]
fn ascending_order_rewrites_for_pages_below_the_highest_programmed() {
    for (pairs, rewrites) in [
        (("block.order", "offset_free"), 0),
        (("block.order", "ascending"), 1),
        (("nand.enforce_order", "ascending_gaps_ok"), 1),
    ] {
        let mut bench = bench(0, &[pairs]);
        bench.write(&[4, 6, 5]);
        assert_eq!(bench.events(Event::BlockRewrites), rewrites, "{pairs:?}");
        assert_eq!(bench.meter().programs(Pad), 0);
    }
}

#[test]
fn strict_order_pads_the_gap_before_a_page() {
    let mut bench = bench(0, &[("nand.enforce_order", "strict")]);
    let operations = bench.write(&[6]);
    let six = bench.at(6);
    let pads = [2, 1].map(|below| Program(Ppn(six.0 - below), Pad));
    assert_eq!(operations, [&pads[..], &[Program(six, Host)]].concat());
    bench.write(&[4]);
    assert_eq!(bench.events(Event::BlockRewrites), 1, "the padded place is taken");
    assert_eq!((bench.meter().programs(Merge), bench.meter().programs(Pad)), (1, 3));
}

#[test]
fn old_blocks_that_are_only_marked_are_erased_in_idle_gaps() {
    let pairs =
        [("block.erase_now", "false"), ("gc.mode", "idle"), ("device.over_provisioning", "2x")];
    let mut bench = bench(2, &pairs);
    let old = bench.block(4);
    let operations = bench.write(&[5]);
    assert!(!operations.iter().any(|operation| matches!(operation, Erase(..))), "{operations:?}");
    bench.device.board_mut().nand_mut().record_mut().start();
    let mut later = pages(&bench.config, Op::Read, 5, 1);
    later.arrival = bench.device.idle_from() + 1_000_000_000;
    bench.device.submit(&later).expect("it works");
    let operations = bench.device.board_mut().nand_mut().record_mut().take();
    assert_eq!(operations, [Erase(old, Merge), Operation::Read(bench.at(5), Host)]);
}

#[test]
fn without_idle_gaps_marked_blocks_are_erased_when_free_ones_are_needed() {
    let erases = |erase_now: &str| {
        let pairs = [("block.erase_now", erase_now), ("device.over_provisioning", "2x")];
        let mut bench = bench(0, &pairs);
        for lpn in (0..40).chain(0..40) {
            bench.write(&[lpn]);
            assert!(bench.device.room().free_blocks >= 3, "a rewrite takes one of four");
        }
        (bench.meter().total_erases(), bench.events(Event::BlockRewrites))
    };
    assert_eq!(erases("true"), (40, 40));
    let (erased, rewrites) = erases("false");
    // 30 blocks: 10 data blocks, 4 free ones; the others are marked.
    assert_eq!(rewrites, 40);
    assert!((20..=30).contains(&erased), "{erased} erased");
}

/// One page is written over and over: data that is never written moves to worn blocks. The blocks
/// that it leaves are only marked, and erased later, but still because of levelling.
#[test]
fn marked_blocks_are_erased_for_what_they_were_left_for() {
    let erased = |erase_now: &str| {
        let pairs = [
            ("block.erase_now", erase_now),
            ("wear.policy", "static"),
            ("wear.spread", "2"),
            ("device.over_provisioning", "2x"),
        ];
        let mut bench = bench(9, &pairs);
        bench.write(&[5; 400]);
        let levelled = bench.events(Event::LevelledBlocks);
        assert!(levelled > 10, "{levelled} blocks were levelled");
        let [wear, merge] = [Wear, Merge].map(|cause| bench.meter().erases_by_cause(cause));
        (levelled - wear, bench.events(Event::BlockRewrites) - merge)
    };
    assert_eq!(erased("true"), (0, 0));
    let (levelled, rewritten) = erased("false");
    // 30 blocks, of which 9 hold data and 3 are free at least: the others wait.
    assert!(levelled + rewritten <= 18 && levelled <= 5, "{levelled} and {rewritten} wait");
}

/// A program that fails anywhere in a rewrite costs a block and no data, whichever settings.
#[test]
fn failing_programs_cost_one_block_and_no_data_wherever_they_happen() {
    for pairs in [
        &[][..],
        &[("block.coalesce_request", "false")],
        &[("block.erase_now", "false")],
        &[("nand.enforce_order", "strict")],
    ] {
        let mut failures = 0;
        for failing in 0..300 {
            let config = tiny("block", 10, &[pairs, &[("device.over_provisioning", "1")]].concat());
            let mut device = open("block", &config);
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

fn page(lpn: u32, tag: u32, (first, count): (u32, u32)) -> PageIo {
    let request = RequestShape {
        first_lpn: Lpn(first),
        pages: count,
        index: lpn - first,
        sectors: 4 * count,
        hint: None,
    };
    PageIo { lpn: Lpn(lpn), sectors: u64::MAX, cause: Host, data: Tag(tag), request }
}

/// A scheme alone, with block 1 written once: page 4 in version 104 and so on.
fn alone() -> (Config, Board, Block) {
    let config = tiny("block", 10, &[]);
    let seen = seen::<Block>(&config);
    let mut board = Board::new(&config, 1, Block::payload_pages(&seen));
    let mut block = Block::format(&mut board, &seen, 1).expect("nothing fails here");
    for lpn in 4..8 {
        let io = page(lpn, 100 + lpn, (lpn, 1));
        assert!(block.write(&mut board, &io, When::START).is_ok());
    }
    (config, board, block)
}

fn versions(board: &mut Board, block: &mut Block) -> [u32; 4] {
    [4, 5, 6, 7].map(|lpn| {
        let read = block.read(board, &page(lpn, 0, (lpn, 1)), When::START);
        read.expect("nothing fails here").1.0
    })
}

#[test]
fn reads_between_the_pages_of_a_request_are_right() {
    let (_, mut board, mut block) = alone();
    assert!(block.write(&mut board, &page(5, 205, (5, 2)), When::START).is_ok());
    assert_eq!(versions(&mut board, &mut block), [104, 205, 106, 107]);
    assert_eq!(board.meter().total_erases(), 0, "the old block holds 6 and 7");
    assert!(block.self_check(&board).is_ok());
    assert!(block.write(&mut board, &page(6, 206, (5, 2)), When::START).is_ok());
    assert_eq!(versions(&mut board, &mut block), [104, 205, 206, 107]);
    assert_eq!(board.meter().total_erases(), 1);
}

/// What follows a request that ended early is not taken for the rest of it.
#[test]
fn a_request_that_ends_early_is_completed_with_the_old_pages() {
    type Next = fn(&mut Board, &mut Block);
    let nexts: [Next; 4] = [
        |board, block| assert!(block.write(board, &page(6, 306, (6, 1)), When::START).is_ok()),
        |board, block| assert!(block.write(board, &page(9, 309, (9, 1)), When::START).is_ok()),
        |board, block| assert!(block.flush(board, When::START).is_ok()),
        |board, block| assert!(block.trim(board, &page(7, 0, (7, 1)), When::START).is_ok()),
    ];
    let expected =
        [[104, 205, 306, 107], [104, 205, 106, 107], [104, 205, 106, 107], [104, 205, 106, 0]];
    for (next, expected) in nexts.iter().zip(expected) {
        let (_, mut board, mut block) = alone();
        assert!(block.write(&mut board, &page(5, 205, (5, 3)), When::START).is_ok());
        next(&mut board, &mut block);
        assert_eq!(versions(&mut board, &mut block), expected);
        assert!(block.self_check(&board).is_ok());
        assert!(board.meter().total_erases() >= 1, "the old block is gone");
    }
}

/// The power goes between two pages of a request: each page is there, the first in its new version.
#[test]
fn a_cut_between_the_pages_of_a_request_loses_nothing() {
    let (config, mut board, mut block) = alone();
    assert!(block.write(&mut board, &page(5, 205, (5, 3)), When::START).is_ok());
    board.nand_mut().cut_power();
    block.power_off();
    board.power_on();
    let (mut block, _) = Block::recover(&mut board, &seen::<Block>(&config), 1, (), When::START)
        .expect("nothing fails here");
    board.end_recovery();
    assert_eq!(versions(&mut board, &mut block), [104, 205, 106, 107]);
    assert!(block.self_check(&board).is_ok());
}

#[test]
fn the_smallest_legal_device_never_runs_dry() {
    for pairs in [&[][..], &[("block.erase_now", "false")], &[("nand.enforce_order", "strict")]] {
        let config = tiny("block", 10, &[pairs, &[("device.over_provisioning", "0.01")]].concat());
        let (row, _) = schemes::find("block").expect("in the table");
        assert_eq!(
            config.device.physical_blocks(),
            (row.minimum_blocks)(&config),
            "no spare block"
        );
        let mut device = open("block", &config);
        device.verify_reads();
        for request in mixed(&config, 3000, 9) {
            device.submit(&request).expect("room for every update");
            device.audit().expect("sound");
        }
    }
}

/// 32 GiB in blocks of 64 pages of 2 KiB: a table of 1 MiB (DFTL 2014, 2: the page table by 64).
#[test]
fn the_block_table_takes_4_bytes_per_logical_block() {
    let mut config = config(&[("device.pages_per_block", "64"), ("device.page_bytes", "2048")]);
    size("block", &mut config, (32 << 30) / (64 * 2048));
    let table = Block::ram_use(&seen::<Block>(&config))[0];
    assert_eq!((table.structure, table.bytes), ("block_table", 1 << 20));
}

/// Programs fail until no block is left for a rewrite that is under way. What was written is there,
/// and whoever writes on hears the same again.
#[test]
fn a_device_that_is_worn_out_in_a_rewrite_stays_sound() {
    let (mut ended, mut refused) = (0, 0);
    for (order, logical) in ["off", "ascending_gaps_ok", "strict"].into_iter().zip([9, 20, 30]) {
        for erase_now in ["true", "false"] {
            let config = tiny(
                "block",
                logical,
                &[
                    ("device.pages_per_block", "16"),
                    ("nand.program_failure_rate", "0.05"),
                    ("nand.enforce_order", order),
                    ("block.erase_now", erase_now),
                ],
            );
            for seed in 0..20 {
                let mut device = open("block", &config);
                device.verify_reads();
                let mut worn_out = false;
                for request in mixed(&config, 300, seed) {
                    match device.submit(&request) {
                        Ok(_) => {}
                        Err(DeviceError::Fault(Fault::WornOut { .. })) => {
                            refused += u32::from(worn_out);
                            worn_out = true;
                        }
                        Err(other) => panic!("{order}, {seed}: {other:?}"),
                    }
                    device.audit().unwrap_or_else(|error| panic!("{order}, {seed}: {error}"));
                }
                ended += u32::from(worn_out);
            }
        }
    }
    assert!(ended > 50 && refused > 1000, "{ended} devices ended, {refused} writes refused");
}
