//! Where pages of lines go, and what lines have room for.

use super::bench_tests::{Bench, rng, settings};
use super::{Lines, Open, Stream};
use crate::parts::zone_rules::ZoneRules;
use ftlab_flash::board::when::When;
use ftlab_flash::units::BlockId;

/// Two units of a flash page stay together; then the next plane, then the next flash page.
#[test]
fn units_fill_flash_pages_planes_and_rows() {
    let mut bench = Bench::of_lines(&[("device.mapping_unit", "1024")]);
    for page in 0..40 {
        let at = bench.write(page);
        let slot = page % 32;
        let expected = (page / 32, slot / 2 % 4, slot / 8, slot % 2);
        assert_eq!(bench.slot_of(at), expected, "page {page}");
    }
    bench.audit();
}

/// Zones over two of four channels, of three of four flash pages a block: line 2 n + s is of set s.
#[test]
fn a_line_of_a_set_lies_in_the_planes_of_that_set() {
    let mut config = settings(&[("alloc.unit", "line")]);
    let (max_open, raw) = (14, false);
    let rules = ZoneRules {
        channels: 2,
        rows: 3,
        max_open,
        copy_in_device: false,
        raw,
        finish_after_cut: false,
    };
    config.zones = Some(rules);
    let bench = Bench::of(config);
    let lines = bench.space.lines.as_ref().expect("lines");
    assert_eq!((lines.book.lines(), lines.book.full()), (24, 6));
    let nand = bench.board.nand();
    let plane = |line, column| {
        let block = lines.block(BlockId(line), column);
        (nand.geometry().plane_of_block(block).0, block.0 % 12)
    };
    assert_eq!([plane(4, 0), plane(4, 1)], [(0, 2), (1, 2)], "line 2 of set 0");
    assert_eq!([plane(5, 0), plane(5, 1)], [(2, 2), (3, 2)], "line 2 of set 1");
    let mut from = 0;
    assert_eq!(lines.next_valid(nand, BlockId(0), &mut from), None);
    assert_eq!(from, 6, "three flash pages of two blocks");
}

/// Eight dies in stripes of four, with a bad block in the fifth column.
fn eight(pairs: &[(&str, &str)]) -> Bench {
    let usual = [("device.dies", "2"), ("rain.stripe", "4"), ("nand.factory_bad_blocks", "13")];
    // Channel 0 has planes 0 and 1: its second die is the fifth column.
    let bench = Bench::of_lines(&[&usual, pairs].concat());
    let lines = bench.space.lines.as_ref().expect("lines");
    let works: Vec<bool> =
        (0..8).map(|column| lines.works(bench.board.nand(), BlockId(1), column)).collect();
    assert_eq!(works, [true, true, true, true, false, true, true, true]);
    bench
}

fn open_at(row: u32, first: u32, column: u32, unit: u32, parity: Option<u32>) -> Open {
    Open { row, first, column, unit, parity, loose: 0, ready: When::START }
}

/// Three pages of data a row in the first stripe, two in the second one, in four rows.
#[test]
fn what_an_open_line_has_left_is_counted_by_rows_stripes_and_columns() {
    let bench = eight(&[]);
    let (lines, nand) = (bench.space.lines.as_ref().expect("lines"), bench.board.nand());
    let room = |line| lines.book.room(BlockId(line));
    assert_eq!((room(0), room(1)), (4 * 6, 4 * 5));
    let left = |open: Open| lines.left(nand, BlockId(1), &open);
    assert_eq!(left(open_at(0, 0, 0, 0, Some(3))), 20);
    assert_eq!(left(open_at(0, 0, 2, 0, Some(3))), 1 + 2 + 15);
    assert_eq!(left(open_at(1, 0, 3, 0, Some(2))), 1 + 2 + 10);
    assert_eq!(left(open_at(1, 4, 4, 0, Some(6))), 2 + 10, "two of the three that work");
    assert_eq!(left(open_at(3, 4, 6, 0, Some(7))), 1);
    assert_eq!(left(open_at(4, 0, 0, 0, None)), 0);
}

#[test]
fn units_that_are_written_are_not_left() {
    let bench = eight(&[("device.mapping_unit", "1024")]);
    let (lines, nand) = (bench.space.lines.as_ref().expect("lines"), bench.board.nand());
    assert_eq!(lines.book.room(BlockId(1)), 40);
    let left = |open: Open| lines.left(nand, BlockId(1), &open);
    assert_eq!(left(open_at(1, 0, 1, 1, Some(2))), 3 + 4 + 20);
    assert_eq!(left(open_at(3, 4, 6, 1, Some(7))), 1);
}

/// Parity goes to the last block that works in the first row, to the one before in the next.
#[test]
fn parity_takes_turns_among_the_blocks_that_work() {
    let columns = |rotate: &str| {
        let bench = eight(&[("rain.rotate", rotate)]);
        let (lines, nand) = (bench.space.lines.as_ref().expect("lines"), bench.board.nand());
        let of = |row, first| lines.parity_column(nand, BlockId(1), (row, first));
        let all = |first| (0..4).map(|row| of(row, first).expect("parity")).collect::<Vec<_>>();
        (all(0), all(4))
    };
    assert_eq!(columns("true"), (vec![3, 2, 1, 0], vec![7, 6, 5, 7]));
    assert_eq!(columns("false"), (vec![3; 4], vec![7; 4]));
}

/// Of the first stripe one block works: it takes nothing, and is passed over.
#[test]
fn a_stripe_of_one_block_is_passed_over() {
    // Lines 1: planes 0, 2 and 4 are the first three columns.
    let bad = ("nand.factory_bad_blocks", "1,25,49");
    let mut bench = Bench::of_lines(&[("device.dies", "2"), ("rain.stripe", "4"), bad]);
    let lines = bench.space.lines.as_ref().expect("lines");
    let mut open = Open::default();
    lines.enter_stripe(bench.board.nand(), BlockId(1), &mut open);
    assert_eq!(open, open_at(0, 4, 4, 0, Some(7)));
    assert_eq!(lines.left(bench.board.nand(), BlockId(1), &open), 12);
    // 24 pages of line 0, then twelve of line 1, whose first stripe stays as it is.
    bench.write_all(0..37);
    let lines = bench.space.lines.as_ref().expect("lines");
    let (nand, geometry) = (bench.board.nand(), bench.board.geometry());
    let top = |line, column| nand.state().block(lines.block(BlockId(line), column)).top;
    assert_eq!((0..8).map(|column| top(1, column)).collect::<Vec<_>>(), [0, 0, 0, 0, 4, 4, 4, 4]);
    let last = bench.map.pages[36].expect("it was written");
    assert_eq!(geometry.block_of(last), lines.block(BlockId(2), 0));
    bench.audit();
    bench.read_all();
}

/// A block that fails is left out from there on; the page goes to the next one.
#[test]
fn an_open_line_goes_on_behind_a_block_that_fails() {
    for (units, unit) in [(1, "2048"), (2, "1024")] {
        let mut bench = Bench::of_lines(&[("device.mapping_unit", unit)]);
        bench.write_all(0..units);
        // Units gather: the program that fails is that of a whole flash page.
        bench.board.nand_mut().faults_mut().fail_program_after(0);
        bench.write_all(units..2 * units);
        bench.audit();
        let slots = |bench: &Bench, pages: std::ops::Range<u32>| -> Vec<_> {
            pages.map(|page| bench.map.pages[page as usize].expect("written")).collect()
        };
        for page in slots(&bench, units..2 * units) {
            let (line, column, row, _) = bench.slot_of(page);
            assert_eq!((line, row), (0, 0), "{units} units");
            assert!(column == 2 || units == 2, "column {column}");
        }
        // Three blocks of four flash pages, and what was tried in the fourth.
        let next = bench.write(2 * units);
        assert_eq!(bench.slot_of(next).0, 0);
        bench.audit();
        bench.read_all();
    }
}

/// Random writes over one another, with programs and erases that fail now and then, for every way
/// that lines are laid out: nothing is lost, and what is counted is what is there.
#[test]
fn whatever_lines_are_they_hold_what_was_written() {
    let layouts: [&[(&str, &str)]; 5] = [
        &[],
        &[("device.channels", "2"), ("device.planes", "2")],
        &[("device.mapping_unit", "1024")],
        &[("rain.stripe", "4"), ("device.mapping_unit", "1024")],
        &[("rain.stripe", "2"), ("gc.separate_frontiers", "true")],
    ];
    for pairs in layouts {
        let mut bench = Bench::of_lines(&[&[("device.blocks_per_plane", "16")], pairs].concat());
        let mut rng = rng();
        for round in 0..8 {
            bench.board.nand_mut().faults_mut().fail_program_after(u64::from(rng.below(20)));
            if round % 4 == 1 {
                bench.board.nand_mut().faults_mut().fail_erase_after(u64::from(rng.below(4)));
            }
            bench.write_any(40, 60, &mut rng);
        }
        bench.read_all();
        assert!(bench.open_of(Stream::Data).is_some());
    }
}

/// Two thirds of a line die; the rest moves in the order of the slots.
#[test]
fn pages_of_a_line_move_in_the_order_of_its_slots() {
    for (unit, pages) in [("2048", 16), ("1024", 32)] {
        let mut bench = Bench::of_lines(&[("device.mapping_unit", unit)]);
        bench.write_all(0..=pages);
        for page in (0..pages).filter(|page| page % 3 > 0) {
            bench.forget(page);
        }
        bench.space.close(bench.board.nand(), super::ALL, Stream::Data);
        let Bench { board, space, map, .. } = &mut bench;
        let _ = space.collect(board, map, BlockId(0), When::START).expect("there is room");
        assert_eq!(bench.map.moved, (0..pages).step_by(3).collect::<Vec<_>>());
        bench.audit();
        bench.read_all();
    }
}

#[test]
fn the_slots_of_a_line_are_numbered_as_they_are_filled() {
    let bench = Bench::of_lines(&[("device.mapping_unit", "1024")]);
    let lines: &Lines = bench.space.lines.as_ref().expect("lines");
    let slot = |number| bench.slot_of(lines.slot(bench.board.nand(), BlockId(2), number));
    assert_eq!([slot(0), slot(1), slot(2)], [(2, 0, 0, 0), (2, 0, 0, 1), (2, 1, 0, 0)]);
    assert_eq!([slot(7), slot(8), slot(31)], [(2, 3, 0, 1), (2, 0, 1, 0), (2, 3, 3, 1)]);
}
