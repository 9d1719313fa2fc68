//! Where the next page of a group goes when its line is full, and what is collected for it.

use super::super::GroupRules;
use super::tests::{
    RULES, bench, close, current, erases, forget, leave_free, two_lines_of_a_group,
};
use super::*;
use crate::parts::page_space::lines::bench_tests::Bench;

fn make_room(bench: &mut Bench, stream: Stream, first: bool) -> Result<When, Fault> {
    let Bench { board, space, map, .. } = bench;
    space.make_group_room(board, map, (stream, first), When::START)
}

/// A power cut that left lines free is none that anybody has to hurry for.
#[test]
fn after_a_cut_the_first_page_collects_where_no_line_is_free() {
    for (free, erased) in [(12, 0), (1, 0), (0, 4)] {
        let mut bench = two_lines_of_a_group(RULES);
        bench.map.most = 0;
        leave_free(&mut bench, free);
        let _ = make_room(&mut bench, Stream::Data, true).expect("there is room");
        assert_eq!((erases(&bench), current(&bench)), (erased, 0), "{free} lines are free");
    }
    // Nor where it is not the first, nor for the sake of free lines, as long as its group has room.
    for (borrow, free) in [(true, 0), (false, 1)] {
        let mut bench = two_lines_of_a_group(GroupRules { borrow, ..RULES });
        leave_free(&mut bench, free);
        let _ = make_room(&mut bench, Stream::Data, false).expect("there is room");
        assert_eq!(erases(&bench), 0);
    }
}

/// Few lines are free: a group without room borrows before anything is collected; where groups do
/// not share, or the map asks, lines are collected.
#[test]
fn groups_borrow_where_lines_are_short() {
    let short = |borrow: bool, free: u32, stream: Stream| {
        let mut bench = bench(GroupRules { borrow, ..RULES }, &[]);
        for group in [1, 2] {
            bench.write_all(16 * group..16 * group + 16);
            forget(&mut bench, 16 * group..16 * group + 12);
            bench.write_all([16 * group]);
        }
        bench.space.write_for(Lpn(0));
        leave_free(&mut bench, free);
        let _ = make_room(&mut bench, stream, false).expect("there is room");
        (erases(&bench), current(&bench))
    };
    assert_eq!(short(true, 2, Stream::Data), (0, 1), "the first of those with most room");
    assert_eq!(short(true, 3, Stream::Data), (0, 0), "a line of its own");
    assert_eq!(short(false, 2, Stream::Data), (4, 0));
    assert_eq!(short(true, 2, Stream::Map), (4, 0), "until three lines are free");
    assert_eq!(short(true, 1, Stream::Map), (8, 0));
}

/// Nothing is free, and nothing can be collected.
#[test]
fn without_a_line_there_is_no_room() {
    for stream in [Stream::Data, Stream::Map] {
        let mut bench = bench(GroupRules { borrow: false, ..RULES }, &[]);
        bench.write_all(16..20);
        bench.space.write_for(Lpn(0));
        leave_free(&mut bench, 0);
        assert!(make_room(&mut bench, stream, false).is_err(), "{stream:?}");
        let mut bench = self::bench(RULES, &[]);
        leave_free(&mut bench, 1);
        assert!(make_room(&mut bench, stream, false).is_ok(), "one is free");
    }
}

/// Group 2 has a closed line and an open one, groups 1 and 3 have closed ones of four and six valid
/// pages, and one line is free. The first gives it back, group 1's moves to a line of its own: the
/// page of group 1 has room then, a map page still has not.
#[test]
fn a_group_stops_where_it_has_room_though_lines_are_short() {
    for (stream, erased) in [(Stream::Data, 8), (Stream::Map, 12)] {
        let mut bench = bench(GroupRules { borrow: false, ..RULES }, &[]);
        bench.write_all(32..48);
        forget(&mut bench, 32..44);
        bench.write_all([32]);
        for (group, valid) in [(1, 4), (3, 6)] {
            bench.write_all(16 * group..16 * group + 16);
            close(&mut bench, Stream::Data);
            forget(&mut bench, 16 * group + valid..16 * group + 16);
        }
        bench.space.write_for(Lpn(16));
        leave_free(&mut bench, 1);
        let _ = make_room(&mut bench, stream, false).expect("there is room");
        assert_eq!((erases(&bench), current(&bench)), (erased, 1), "{stream:?}");
    }
}

/// Nobody has room until the only closed line has moved to a line of its own group: a page of
/// another group borrows of that, where groups share.
#[test]
fn a_group_borrows_what_a_collection_has_made() {
    for (borrow, stream, selected) in
        [(true, Stream::Data, 1), (true, Stream::Map, 0), (false, Stream::Data, 0)]
    {
        let mut bench = bench(GroupRules { borrow, ..RULES }, &[]);
        bench.write_all(16..32);
        close(&mut bench, Stream::Data);
        forget(&mut bench, 16..28);
        bench.space.write_for(Lpn(0));
        leave_free(&mut bench, 1);
        let _ = make_room(&mut bench, stream, false).expect("there is room");
        assert_eq!((erases(&bench), current(&bench)), (4, selected), "{borrow}, {stream:?}");
    }
}
