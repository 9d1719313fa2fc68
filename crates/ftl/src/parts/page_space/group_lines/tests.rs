//! Which line a page of a group goes to, what open lines still take, and what is found of both after
//! a power cut.

use super::super::tests::{FIRST, Rig};
use super::*;

const RULES: GroupRules = GroupRules { pages: 8, most_lines: 4, free_lines: 3, borrow: true };
const PAIRS: [(&str, &str); 2] = [("alloc.unit", "line"), ("gc.separate_frontiers", "false")];

/// Ten lines of eight pages, two blocks each; three groups of eight of the 24 logical pages.
fn rig() -> Rig {
    let mut rig = Rig::new(&PAIRS, 10, 2);
    rig.space.divide_in_groups(&rig.board, RULES);
    rig
}

/// The host writes these pages; the line that has the last one.
fn write(rig: &mut Rig, pages: impl IntoIterator<Item = u32>) -> BlockId {
    let mut last = None;
    for page in pages {
        rig.space.write_for(Lpn(page));
        last = Some(rig.write((FIRST, Stream::Data), page));
    }
    rig.space.zone_of(rig.board.nand(), last.expect("pages"))
}

fn rooms(rig: &Rig) -> [u32; 3] {
    [0, 1, 2].map(|group| rig.space.room_of(group))
}

#[test]
fn every_group_writes_to_a_line_of_its_own() {
    let mut rig = rig();
    let lines = [write(&mut rig, [0, 1]), write(&mut rig, [8]), write(&mut rig, [16, 17, 23])];
    assert_eq!(lines, [0, 1, 2].map(BlockId));
    assert_eq!(write(&mut rig, [7]), lines[0], "it goes on with its own");
    assert_eq!(rooms(&rig), [5, 7, 5]);
    let room = crate::answers::Room { free_blocks: 7, threshold: 3 };
    assert_eq!(rig.space.group_room(), Some(room));
}

#[test]
fn a_page_in_the_line_of_another_group_is_a_guest() {
    let mut rig = rig();
    let _ = (write(&mut rig, [0]), write(&mut rig, [8]));
    let line = |rig: &Rig, number| rig.board.geometry().page(BlockId(number), 0);
    let (own, other) = (line(&rig, 0), line(&rig, 1));
    let is_guest = |page: u32, at| rig.space.is_guest(&rig.board, Lpn(page), at);
    assert_eq!((is_guest(0, own), is_guest(7, own), is_guest(8, other)), (false, false, false));
    assert_eq!((is_guest(8, own), is_guest(0, other)), (true, true));
}

/// Of equals it is the first group, whichever was written first; a full line takes nothing.
#[test]
fn the_group_with_most_room_lends_its_line() {
    let mut rig = rig();
    assert_eq!((rig.space.roomiest_group(), rig.space.room_of_all()), (None, 0));
    let _ = (write(&mut rig, 16..18), write(&mut rig, 8..10), write(&mut rig, 0..5));
    assert_eq!((rig.space.roomiest_group(), rig.space.room_of_all()), (Some(1), 6 + 6 + 3));
    let _ = (write(&mut rig, 8..14), write(&mut rig, 16..22));
    assert_eq!((rig.space.roomiest_group(), rig.space.room_of_all()), (Some(0), 3));
    let _ = write(&mut rig, 5..8);
    assert_eq!((rig.space.roomiest_group(), rig.space.room_of_all()), (None, 0));
}

#[test]
fn a_line_is_parked_while_its_group_is_not_the_present_one() {
    let mut rig = rig();
    // The second line of group 0 is opened when the first is full.
    let (closed, open) = (write(&mut rig, 0..8), write(&mut rig, [0]));
    let parked = |rig: &Rig| {
        let groups = rig.space.groups.as_ref().expect("divided");
        [closed, open, BlockId(2), BlockId(3)].map(|line| groups.is_parked(line))
    };
    assert_eq!(parked(&rig), [false; 4]);
    assert_eq!(write(&mut rig, [8]), BlockId(2));
    assert_eq!(parked(&rig), [false, true, false, false]);
    rig.space.write_for(Lpn(0));
    assert_eq!(parked(&rig), [false, false, true, false]);
}

/// Group 0 has two lines that could be written on, with so many pages; group 1 one with four, and
/// group 2 a full one. What groups and lines are then found on flash: the room of each group, and
/// the lines that are closed.
fn found(first: u32, second: u32) -> ([u32; 3], Vec<u32>) {
    let mut rig = rig();
    let _ = (write(&mut rig, 16..24), write(&mut rig, 0..first));
    rig.space.close(rig.board.nand(), ALL, Stream::Data);
    let _ = (write(&mut rig, 8..12), write(&mut rig, (0..8).cycle().take(second as usize)));
    rig.recover(2);
    rig.space.divide_in_groups(&rig.board, RULES);
    rig.space.check_groups(rig.board.nand()).expect("lines are of groups");
    let mut closed = rig.space.groups.as_ref().expect("divided").closed.clone();
    closed.sort_unstable();
    (rooms(&rig), closed)
}

/// Line 0 is full, lines 1 and 3 are of group 0. Of equals the one that was written first goes on.
#[test]
fn after_a_power_cut_a_group_goes_on_with_its_emptiest_line() {
    assert_eq!(found(5, 2), ([6, 4, 0], vec![0, 1]));
    assert_eq!(found(2, 5), ([6, 4, 0], vec![0, 3]));
    assert_eq!(found(3, 3), ([5, 4, 0], vec![0, 3]));
    assert_eq!(
        found(7, 6),
        ([2, 4, 0], vec![0, 1]),
        "the line that space goes on with is group 1's"
    );
}

/// 12 bytes a line, 36 a group (100 pages are 13 groups of eight), 4 a page that is sorted, which
/// memory holds.
#[test]
fn memory_has_lines_groups_and_the_pages_of_one() {
    let bytes = ram_use(&RULES, (100, 10), 4096).into_iter().map(|one| (one.structure, one.bytes));
    let entries =
        [("group_lines", 12 * 10 + 36 * 13), ("sorted_places", 4 * 8), ("sorted_pages", 8 * 4096)];
    assert!(bytes.eq(entries));
}
