//! Which lines of groups are collected, and where their pages go.

use super::super::super::lines::bench_tests::{Bench, Pairs, rng};
use super::super::GroupRules;
use super::*;

/// Groups of sixteen pages, as many as a line holds.
pub(super) const RULES: GroupRules =
    GroupRules { pages: 16, most_lines: 4, free_lines: 3, borrow: true };

pub(super) fn bench(rules: GroupRules, more: Pairs<'_>) -> Bench {
    Bench::of_lines(more).divide(rules)
}

/// The group of each line, plus one.
fn groups(bench: &Bench) -> Vec<u32> {
    bench.space.groups.as_ref().expect("groups").group_of.clone()
}

/// Any writes, cuts and map pages, under all rules: lines are counted right, and nothing is lost.
#[test]
fn whatever_the_rules_are_lines_hold_what_was_written() {
    for borrow in [true, false] {
        for (pages, most_lines) in [(16, 4), (16, 1), (32, 2), (8, 3)] {
            let rules = GroupRules { pages, most_lines, free_lines: 3, borrow };
            let blocks = if borrow { "14" } else { "34" };
            let mut bench = bench(rules, &[("device.blocks_per_plane", blocks)]);
            let mut rng = rng();
            for round in 0..12 {
                if round % 2 == 1 {
                    let after = u64::from(rng.below(60));
                    bench.board.nand_mut().faults_mut().fail_program_after(after);
                }
                bench.write_any(40, 96, &mut rng);
                for _ in 0..rng.below(12) {
                    let _ = bench.write_map(rng.below(8));
                    bench.audit();
                }
                if round % 4 == 3 {
                    bench.cut();
                    bench.audit();
                }
            }
            bench.read_all();
        }
    }
}

/// A group that holds many lines is collected as a whole, in the order of its pages, and leaves
/// lines of its own alone.
#[test]
fn a_group_with_many_lines_is_collected_in_the_order_of_its_pages() {
    let rules = GroupRules { most_lines: 2, ..RULES };
    let mut bench = bench(rules, &[]);
    // Two lines of group 1, of which sixteen pages are valid; the third one would be one too many.
    bench.write_all((16..32).rev().chain((16..32).rev()));
    assert_eq!((groups(&bench)[..3].to_vec(), bench.free(0)), (vec![2, 2, 0], 10));
    bench.write_all(20..21);
    assert_eq!(bench.count(Event::GroupsCollected), 1);
    assert_eq!(bench.map.moved, (16..32).collect::<Vec<_>>());
    assert_eq!((bench.map.parts_moved, bench.map.asked), (1, 0));
    assert_eq!(bench.programs(Cause::Gc), 16);
    assert_eq!(bench.board.meter().total_erases(), 8, "two lines of four blocks");
    assert_eq!(bench.space.reclaimed_blocks(), 2);
    bench.audit();
    bench.read_all();
}

/// Not while all of its pages are valid: nothing would be gained.
#[test]
fn a_group_is_not_collected_for_nothing() {
    let rules = GroupRules { pages: 32, most_lines: 1, ..RULES };
    let mut bench = bench(rules, &[]);
    bench.write_all(0..32);
    assert_eq!(bench.count(Event::GroupsCollected), 0);
    assert_eq!(groups(&bench)[..2], [1, 1]);
    let place = bench.map.pages[31].expect("it was written");
    assert!(!bench.space.is_guest(&bench.board, Lpn(31), place));
    assert!(bench.space.is_guest(&bench.board, Lpn(32), place));
    assert_eq!(bench.open_of(Stream::Data), Some(BlockId(1)));
}

/// So many lines are left free.
pub(super) fn leave_free(bench: &mut Bench, count: u32) {
    while bench.free(0) > count {
        let _ = bench.space.planes[0].free.take();
    }
}

pub(super) fn forget(bench: &mut Bench, pages: impl IntoIterator<Item = u32>) {
    pages.into_iter().for_each(|page| bench.forget(page));
}

pub(super) fn close(bench: &mut Bench, stream: Stream) {
    bench.space.close(bench.board.nand(), ALL, stream);
}

pub(super) fn current(bench: &Bench) -> u32 {
    bench.space.groups.as_ref().expect("groups").current
}

pub(super) fn erases(bench: &Bench) -> u64 {
    bench.board.meter().total_erases()
}

#[test]
fn lines_are_short_below_their_mark() {
    let mut bench = bench(RULES, &[]);
    assert!(!bench.space.is_short());
    leave_free(&mut bench, 3);
    assert!(!bench.space.is_short());
    leave_free(&mut bench, 2);
    assert!(bench.space.is_short());
}

/// Twelve free lines of sixteen pages, of which the map has none open.
#[test]
fn free_lines_hold_data_and_map_pages_side_by_side() {
    let bench = bench(RULES, &[]);
    let fit = |data, map_pages| bench.space.lines_fit(data, map_pages);
    assert!(fit(12, 0) && fit(11, 16) && fit(10, 32));
    assert!(!fit(13, 0) && !fit(12, 1) && !fit(11, 17) && !fit(10, 33));
}

/// One translation page, once for a group and once a line for guests: seventeen are two lines.
#[test]
fn map_pages_are_told_by_the_lines_that_are_collected() {
    let mut bench = bench(RULES, &[]);
    bench.map.most = 99;
    let fit = |bench: &mut Bench, count: u32, data: u32| {
        let Bench { board, space, map, .. } = bench;
        space.map_fits(board, map, (BlockId(0), 99, count), data)
    };
    assert!(fit(&mut bench, 15, 11) && !fit(&mut bench, 16, 11) && fit(&mut bench, 16, 10));
    bench.map.most = 16;
    assert!(fit(&mut bench, 16, 11), "no more than the owner writes");
}

/// What is counted decides where it is asked for, and nowhere else.
#[test]
fn a_line_fits_by_the_most_or_by_what_is_counted() {
    let mut bench = bench(RULES, &[]);
    bench.write_all(0..1);
    assert_eq!(bench.free(0), 11);
    let fit = |bench: &mut Bench, map_pages: MapPages, data: u32| {
        let Bench { board, space, map, .. } = bench;
        space.line_fits(board, map, (BlockId(0), map_pages), data)
    };
    (bench.map.most, bench.map.counted) = (5, 0);
    assert!(fit(&mut bench, MapPages::AtMost, 10) && !fit(&mut bench, MapPages::AtMost, 11));
    assert!(fit(&mut bench, MapPages::Counted, 11) && !fit(&mut bench, MapPages::Counted, 12));
    bench.map.counted = 99;
    assert!(fit(&mut bench, MapPages::Counted, 10) && !fit(&mut bench, MapPages::Counted, 11));
}

/// Two lines of sixteen valid pages become one, of seventeen they stay two.
#[test]
fn a_group_fits_where_a_line_is_gained_and_free_lines_hold_it() {
    let mut bench = bench(GroupRules { pages: 32, ..RULES }, &[]);
    bench.write_all(0..32);
    let fits = |bench: &mut Bench| {
        let Bench { board, space, map, .. } = bench;
        space.group_fits(board, map, 0)
    };
    forget(&mut bench, 0..15);
    assert!(!fits(&mut bench));
    forget(&mut bench, 15..16);
    assert!(fits(&mut bench));
    leave_free(&mut bench, 0);
    assert!(!fits(&mut bench));
}

#[test]
fn a_line_is_worth_it_when_it_is_closed_and_holds_garbage() {
    let mut bench = bench(GroupRules { pages: 32, ..RULES }, &[]);
    bench.write_all(0..17);
    let worth = |bench: &Bench, line| bench.space.is_worth_it(BlockId(line));
    assert!(!worth(&bench, 0), "all of it is valid");
    forget(&mut bench, [3, 16]);
    assert!(worth(&bench, 0) && !worth(&bench, 1) && !worth(&bench, 2), "closed, open, free");
    assert_eq!(bench.space.group_of(BlockId(0)), 0);
    bench.write_all(64..65);
    assert_eq!(bench.space.group_of(BlockId(2)), 2);
}

/// Three lines of the map hold four valid pages, which need one.
#[test]
fn the_maps_lines_are_collected_where_they_are_many() {
    let mut bench = bench(RULES, &[]);
    for turn in 0..48 {
        let _ = bench.write_map(turn % 4);
    }
    let collect = |bench: &mut Bench, most_lines: u32| {
        let Bench { board, space, map, .. } = bench;
        space.groups.as_mut().expect("groups").has_map_grown = true;
        let done = space.collect_map_if_many(board, map, most_lines, When::START);
        let _ = done.expect("there is room");
        erases(bench)
    };
    assert_eq!(collect(&mut bench, 4), 0);
    // The last one is full and closed by then: its four pages move to another.
    assert_eq!(collect(&mut bench, 3), 12);
    assert_eq!((bench.programs(Cause::GcMapBlock), bench.free(0)), (4, 11));
    bench.audit();
}

/// Four valid pages of twelve that were written to the map's open line.
#[test]
fn the_maps_open_line_is_renewed_where_that_gains_room() {
    let renew = |writes: u32, free: u32| {
        let mut bench = bench(RULES, &[]);
        for turn in 0..writes {
            let _ = bench.write_map(turn % 4);
        }
        leave_free(&mut bench, free);
        let Bench { board, space, map, .. } = &mut bench;
        let done = space.renew_map_line(board, map, When::START).expect("it works");
        assert_eq!(done.is_some(), bench.programs(Cause::GcMapBlock) == 4, "{writes}, {free}");
        done.is_some()
    };
    assert!(renew(12, 11) && renew(12, 1) && !renew(12, 0));
    assert!(!renew(4, 11), "none is superseded");
}

/// Lines of eight pages; five translation pages, twice: two lines for the map at most.
#[test]
fn map_pages_are_counted_for_the_sake_of_the_last_line() {
    let collect = |free: u32| {
        let pairs = [
            ("device.page_bytes", "512"),
            ("device.pages_per_block", "2"),
            ("device.blocks_per_plane", "100"),
            ("device.logical_bytes", "320KiB"),
        ];
        let rules = GroupRules { pages: 16, most_lines: 9, free_lines: 3, borrow: false };
        let mut bench = bench(rules, &pairs);
        bench.write_all(0..16);
        forget(&mut bench, 0..4);
        leave_free(&mut bench, free);
        (bench.map.most, bench.map.counted) = (99, 0);
        let Bench { board, space, map, .. } = &mut bench;
        let done = space.collect_any(board, map, When::START).expect("it works");
        assert_eq!(done.is_some(), erases(&bench) > 0);
        assert!(erases(&bench) <= 4, "one line");
        done.is_some()
    };
    assert!(collect(3), "two for the map, one for data");
    assert!(!collect(2), "not yet");
    assert!(collect(1), "the pages of the line need one, and the map none");
    assert!(!collect(0));
}

/// One collection at a time, even where no more than one line is free behind it.
#[test]
fn what_was_collected_is_enough() {
    let mut bench = two_lines_of_a_group(RULES);
    leave_free(&mut bench, 0);
    let Bench { board, space, map, .. } = &mut bench;
    let done = space.collect_any(board, map, When::START).expect("it works");
    assert!(done.is_some());
    assert_eq!(erases(&bench), 4);
}

/// Group 1 has one line, without a valid page; group 0 a closed one with four and an open one with
/// room for twelve.
pub(super) fn two_lines_of_a_group(rules: GroupRules) -> Bench {
    let mut bench = bench(rules, &[]);
    bench.write_all(16..32);
    close(&mut bench, Stream::Data);
    forget(&mut bench, 16..32);
    bench.write_all(0..16);
    forget(&mut bench, 0..12);
    bench.write_all(0..4);
    bench.audit();
    bench
}

fn first_of_many(bench: &mut Bench, map_pages: MapPages) -> Option<What> {
    let Bench { board, space, map, .. } = bench;
    space.first_of_many(board, map, map_pages)
}

#[test]
fn the_first_line_of_a_group_with_more_than_one_is_collected_alone_if_its_pages_have_room() {
    let mut bench = two_lines_of_a_group(RULES);
    assert_eq!(first_of_many(&mut bench, MapPages::AtMost), Some(What::Line(BlockId(1))));
    // No line is free for the map pages.
    bench.map.most = 5;
    leave_free(&mut bench, 0);
    assert_eq!(first_of_many(&mut bench, MapPages::AtMost), None);
}

/// Two closed lines with five valid pages each, and an open one with room for four.
#[test]
fn lines_that_have_no_room_alone_are_collected_with_their_group() {
    let mut bench = bench(GroupRules { pages: 48, most_lines: 9, ..RULES }, &[]);
    bench.write_all(0..44);
    forget(&mut bench, (0..11).chain(16..27));
    assert_eq!(first_of_many(&mut bench, MapPages::AtMost), Some(What::Group(0)));
    assert_eq!(first_of_many(&mut bench, MapPages::AtMost), Some(What::Group(0)), "each time");
    bench.write_all([44, 45, 46]);
    leave_free(&mut bench, 1);
    assert_eq!(first_of_many(&mut bench, MapPages::AtMost), None, "25 pages of three lines");
}

/// Of lines with eight, four and four valid pages the first of the latter.
#[test]
fn the_emptiest_closed_line_is_collected() {
    let mut bench = bench(GroupRules { pages: 48, most_lines: 9, ..RULES }, &[]);
    bench.write_all(0..48);
    close(&mut bench, Stream::Data);
    forget(&mut bench, (0..8).chain(16..28).chain(32..44));
    let Bench { board, space, map, .. } = &mut bench;
    let done = space.collect_emptiest(board, map, MapPages::AtMost, When::START);
    assert!(done.expect("it works").is_some());
    assert_eq!((bench.map.moved.as_slice(), erases(&bench)), (&[28, 29, 30, 31][..], 4));
    bench.audit();
    bench.read_all();
}

/// Pages go to their group's open line; without one, where a line is collected alone and groups
/// share, to the open line with most room; else to a line of their own.
#[test]
fn pages_that_move_go_home_or_to_who_has_room() {
    for borrow in [true, false] {
        let mut bench = bench(GroupRules { borrow, ..RULES }, &[]);
        bench.write_all(16..17);
        bench.write_all(0..8);
        let line = What::Line(BlockId(5));
        assert!(bench.space.aim(0, line), "eight pages are left, though group 1 has fifteen");
        assert_eq!(current(&bench), 0);
        assert_eq!(bench.space.aim(2, line), !borrow);
        assert_eq!(current(&bench), if borrow { 1 } else { 2 });
        assert!(bench.space.aim(3, What::Group(3)));
        assert_eq!(current(&bench), 3);
    }
    let mut bench = bench(RULES, &[]);
    assert!(bench.space.aim(2, What::Line(BlockId(5))), "nobody has room");
    assert_eq!(current(&bench), 2);
}

/// A page that moves to a line of another group leaves the translation page to be told, not written
/// as one whose pages moved together.
#[test]
fn a_part_is_written_where_all_of_its_pages_came_home() {
    let mut bench = bench(RULES, &[]);
    bench.write_all(0..16);
    close(&mut bench, Stream::Data);
    bench.write_all(16..17);
    forget(&mut bench, 0..12);
    let Bench { board, space, map, .. } = &mut bench;
    let _ = space.collect_line(board, map, BlockId(0), When::START).expect("it works");
    assert_eq!((bench.map.moved.as_slice(), bench.map.parts_moved), (&[12, 13, 14, 15][..], 0));
    assert_eq!(bench.map.asked, 1);
    assert!(bench.space.is_guest(&bench.board, Lpn(12), bench.map.pages[12].expect("valid")));
    bench.audit();
}

/// Two translation pages of 128 entries: of the first nothing is valid.
#[test]
fn a_translation_page_without_a_page_is_not_written() {
    let pairs = [
        ("device.page_bytes", "512"),
        ("device.pages_per_block", "16"),
        ("device.logical_bytes", "128KiB"),
    ];
    let mut bench = bench(GroupRules { pages: 256, most_lines: 9, ..RULES }, &pairs);
    bench.write_all(128..192);
    close(&mut bench, Stream::Data);
    forget(&mut bench, 132..192);
    let Bench { board, space, map, .. } = &mut bench;
    let _ = space.collect_group(board, map, 0, When::START).expect("it works");
    assert_eq!((bench.map.moved.as_slice(), bench.map.parts_moved), (&[128, 129, 130, 131][..], 1));
}

/// Groups of two lines: three more make five, and no product.
#[test]
fn a_group_is_collected_at_so_many_lines_beside_those_that_it_needs() {
    let mut bench = bench(GroupRules { pages: 32, most_lines: 3, ..RULES }, &[]);
    bench.write_all((0..16).cycle().take(64));
    assert_eq!((bench.count(Event::GroupsCollected), erases(&bench)), (0, 0));
    bench.write_all(0..1);
    assert_eq!((bench.count(Event::GroupsCollected), erases(&bench)), (1, 16));
}

/// After a power cut every group goes on with its half-written line; a full one is closed, and so
/// is one that is torn.
#[test]
fn groups_go_on_where_they_were_written() {
    let closed = |bench: &Bench| bench.space.groups.as_ref().expect("groups").closed.clone();
    let mut bench = bench(RULES, &[]);
    bench.write_all(0..4);
    bench.write_all(16..18);
    bench.write_all(32..48);
    bench.cut();
    bench.audit();
    assert_eq!(closed(&bench), [2]);
    for (page, slot) in [(4, (0, 0, 1, 0)), (18, (1, 2, 0, 0)), (5, (0, 1, 1, 0))] {
        let next = bench.write(page);
        assert_eq!(bench.slot_of(next), slot, "page {page}");
    }
    bench.audit();
    bench.read_all();
    let mut bench = self::bench(RULES, &[]);
    bench.draw(0, &[".d.."]);
    bench.cut();
    bench.audit();
    assert_eq!(closed(&bench), [0]);
}
