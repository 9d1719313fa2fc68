use super::super::fit::{Point, Tolerance, learn};
use super::super::groups::Groups;
use super::super::members::Members;
use super::super::packed;
use super::*;
use ftlab_flash::rng::{Purpose, Rng};

const PAGES: u64 = 1 << 16;

pub(super) fn scale() -> Scale {
    Scale::new(PAGES)
}

/// Writes pages, in ascending order, to consecutive physical pages.
pub(super) fn write(group: &mut Group, offsets: &[u8], first: u32, gamma: u32) {
    let points: Vec<Point> =
        (first..).zip(offsets).map(|(ppn, &offset)| Point { offset, ppn }).collect();
    let tolerance = Tolerance { gamma, first, last: first + points.len() as u32 - 1 };
    learn(&points, tolerance, scale(), |segment, members| {
        group.insert(segment, members);
    });
}

fn level(group: &Group, wanted: u16) -> Vec<(u8, u8)> {
    let here = group.segments().filter(|(level, _)| *level == wanted);
    here.map(|(_, segment)| (segment.start, segment.last())).collect()
}

pub(super) fn said(group: &Group, offset: u8) -> Option<i64> {
    group.find(offset).map(|found| found.segment.predict(offset, scale()))
}

/// `docs/papers/leaftl2023.md#worked-examples`: levels, and what compaction makes of them.
#[test]
fn new_segments_push_old_ones_down_and_compaction_lifts_them() {
    let mut group = Group::new(256);
    write(&mut group, &[0, 1, 2, 3, 4, 5, 6, 7], 100, 0);
    write(&mut group, &[2, 3], 200, 0);
    assert_eq!((level(&group, 0), level(&group, 1)), (vec![(2, 3)], vec![(0, 7)]));
    assert_eq!(group.find(5).map(|found| found.levels), Some(2));
    assert_eq!((said(&group, 2), said(&group, 5)), (Some(200), Some(105)));
    write(&mut group, &[0, 1, 2, 3], 300, 0);
    assert_eq!((level(&group, 0), level(&group, 1)), (vec![(0, 3)], vec![(0, 7)]));
    group.compact();
    assert_eq!((level(&group, 0), level(&group, 1)), (vec![(0, 3), (4, 7)], vec![]));
    assert_eq!((said(&group, 3), said(&group, 4)), (Some(303), Some(104)));
    let sizes = group.sizes();
    assert_eq!((sizes.accurate, sizes.levels, sizes.segments() * 8), (2, 1, 16));
}

/// A mark of a trimmed page goes with the last segment that has it: from an end compaction takes
/// the page, from the middle of a segment with a stride it cannot.
#[test]
fn a_mark_stays_while_a_segment_has_the_page() {
    let mut group = Group::new(256);
    write(&mut group, &[0, 1, 2, 3, 4, 5, 6, 7], 100, 0);
    [4, 7].into_iter().for_each(|page| group.trim(page));
    group.drop_needless_trims();
    assert_eq!(group.trimmed().len(), 2, "the segment still says both");
    group.compact();
    group.drop_needless_trims();
    assert_eq!((group.trimmed().len(), group.trimmed().has(4)), (1, true));
    assert_eq!((said(&group, 3), said(&group, 4), said(&group, 7)), (Some(103), None, None));
}

/// The same: what sticks out is cut, what is covered goes, what surrounds goes down.
#[test]
fn a_new_segment_cuts_drops_or_pushes_down() {
    let mut group = Group::new(256);
    write(&mut group, &[10, 11, 12, 13], 100, 0);
    write(&mut group, &[12, 13, 14, 15], 200, 0);
    assert_eq!((level(&group, 0), level(&group, 1)), (vec![(10, 11), (12, 15)], vec![]));
    write(&mut group, &[9, 10, 11, 12, 13, 14, 15, 16], 300, 0);
    assert_eq!((level(&group, 0), level(&group, 1)), (vec![(9, 16)], vec![]));
    write(&mut group, &[12], 400, 0);
    assert_eq!((level(&group, 0), level(&group, 1)), (vec![(12, 12)], vec![(9, 16)]));
    // What goes down and overlaps there gets a level of its own.
    write(&mut group, &[11, 12, 13], 500, 0);
    write(&mut group, &[12], 600, 0);
    let levels = (level(&group, 0), level(&group, 1), level(&group, 2));
    assert_eq!(levels, (vec![(12, 12)], vec![(11, 13)], vec![(9, 16)]));
}

/// A page is listed in the conflict buffer once: the newest approximate segment has it.
#[test]
fn the_conflict_buffer_lists_a_page_once() {
    let mut group = Group::new(256);
    write(&mut group, &[0, 1, 3, 6], 100, 1);
    assert_eq!((group.sizes().approximate, group.sizes().listed), (1, 4));
    write(&mut group, &[0, 1, 4, 6], 200, 1);
    assert_eq!((group.sizes().approximate, group.sizes().listed), (2, 5));
    group.self_check().expect("consistent");
    assert_eq!(level(&group, 0), [(0, 6)]);
    assert_eq!(level(&group, 1), [(3, 3)], "its start was taken over");
    assert_eq!(said(&group, 3), Some(102), "within one page of 102");
}

/// Random writes, trims, compactions, moves to flash and back: what a look-up says is within the
/// tolerance of where a plain table has the page, before and after.
#[test]
fn look_ups_agree_with_a_plain_table() {
    for (seed, gamma, pages) in [(1, 0, 256), (2, 1, 256), (3, 4, 256), (4, 16, 256), (5, 4, 64)] {
        let mut rng = Rng::new(seed, Purpose::Workload);
        let (mut group, mut table) = (Group::new(pages), vec![None; pages as usize]);
        let (mut groups, mut next) = (Groups::new(3, pages), 1000);
        for step in 0..4000 {
            match rng.below(12) {
                0 => {
                    group.compact();
                    group.drop_needless_trims();
                }
                1 => {
                    let page = rng.below(pages);
                    table[page as usize] = None;
                    group.trim(page as u8);
                }
                2 => {
                    let mut words = vec![0; packed::most_bytes(pages).div_ceil(4) as usize];
                    let exact =
                        |lone: Segment| table[usize::from(lone.start)].expect("it is there");
                    packed::fit(&mut group, (pages, scale()), exact);
                    packed::pack(&group, scale(), &mut words);
                    packed::unpack(&words, scale(), &mut group);
                    for offset in 0..pages {
                        let found = packed::find(&words, scale(), offset as u8);
                        assert_eq!(found, group.find(offset as u8), "step {step}, {offset}");
                    }
                }
                3 => {
                    groups.store(1, &group);
                    groups.load(1, &mut group);
                }
                4 => {
                    // The levels so far go below those that come.
                    let older = group.clone();
                    group.clear();
                    let first = rng.below(pages) as u8;
                    write(&mut group, &[first], next, gamma);
                    table[usize::from(first)] = Some(next);
                    next += 1;
                    group.put_above(&older);
                }
                _ => {
                    let (first, density) = (rng.below(pages), 1 + rng.below(4));
                    let end = pages.min(first + 1 + rng.below(40));
                    let offsets: Vec<u8> = (first..end)
                        .filter(|_| rng.below(4) < density)
                        .map(|at| at as u8)
                        .collect();
                    write(&mut group, &offsets, next, gamma);
                    for &offset in &offsets {
                        table[usize::from(offset)] = Some(next);
                        next += 1;
                    }
                }
            }
            group.self_check().unwrap_or_else(|error| panic!("step {step}: {error}"));
            groups.store(2, &group);
            for (offset, place) in table.iter().enumerate() {
                let found = group.find(offset as u8);
                assert_eq!(found, groups.find(2, offset as u8));
                match (found, place) {
                    (None, None) => {}
                    (Some(found), &Some(ppn)) => {
                        let off = found.segment.predict(offset as u8, scale()) - i64::from(ppn);
                        let allowed = if found.segment.is_accurate() { 0 } else { gamma };
                        assert!(off.unsigned_abs() <= u64::from(allowed), "{offset}: {off}");
                    }
                    (found, place) => panic!("step {step}, {offset}: {found:?}, {place:?}"),
                }
            }
            next %= 60000;
        }
        groups.forget(1);
        assert!(groups.is_empty(1) && groups.is_empty(0) && !groups.is_empty(2));
    }
}

/// Newer levels on top, with a trim that only the older ones have: what they have not said the
/// older ones say, and an approximate one keeps the pages that are left to it.
#[test]
fn older_levels_say_what_newer_ones_do_not() {
    let (mut older, mut group) = (Group::new(256), Group::new(256));
    write(&mut older, &[0, 1, 3, 6], 100, 1);
    write(&mut older, &[10, 11, 12], 200, 0);
    [6, 11].into_iter().for_each(|page| older.trim(page));
    write(&mut group, &[0], 300, 0);
    write(&mut group, &[11], 301, 0);
    group.put_above(&older);
    group.self_check().expect("consistent");
    let pages = [0, 10, 11, 12, 6].map(|page| said(&group, page));
    assert_eq!(pages, [Some(300), Some(200), Some(301), Some(202), None]);
    assert_eq!(group.find(12).map(|found| found.levels), Some(2));
    assert_eq!((group.find(0).map(|found| found.levels), group.sizes().listed), (Some(1), 3));
    assert_eq!((group.trimmed().iter().collect::<Vec<u8>>(), group.sizes().trims), (vec![6], true));
    assert!(!Group::new(256).sizes().trims);
    assert_eq!(group.changes(), 4, "pages 1, 3 and 6 are three runs: two gaps have two ends each");
    group.clear();
    assert_eq!((group.is_empty(), group.len()), (true, 0));
    group.trim(1);
    assert!(!group.is_empty());
}

/// Accurate segments of older levels keep the pages that an approximate one supersedes: only those
/// of the conflict buffer are taken over.
#[test]
fn what_an_approximate_segment_supersedes_below_stays_where_it_lies() {
    let mut group = Group::new(256);
    write(&mut group, &[10, 11, 13, 16], 100, 1);
    write(&mut group, &[0, 1, 2, 3], 200, 0);
    write(&mut group, &[2, 12], 300, 0);
    assert_eq!((level(&group, 0), level(&group, 1)), (vec![(2, 12)], vec![(0, 3), (10, 16)]));
    let before = group.sizes().listed;
    write(&mut group, &[3, 4, 6, 9, 10], 400, 4);
    assert_eq!((before, group.sizes().listed), (4, 3 + 5), "page 10 is listed once");
    group.self_check().expect("consistent");
    let everywhere: Vec<_> = group.segments().map(|(_, of)| (of.start, of.last())).collect();
    assert!(everywhere.contains(&(0, 3)) && everywhere.contains(&(11, 16)), "{everywhere:?}");
}

/// A level that is put in between is for what goes down alone: others of the top level stay.
#[test]
fn who_is_apart_from_a_new_segment_stays_on_top() {
    let mut group = Group::new(256);
    write(&mut group, &[0, 1, 2, 3, 4, 5], 100, 0);
    write(&mut group, &[1, 2, 3, 4], 200, 0);
    write(&mut group, &[20, 21], 300, 0);
    write(&mut group, &[2], 400, 0);
    let levels = [0, 1, 2].map(|at| level(&group, at));
    assert_eq!(levels, [vec![(2, 2), (20, 21)], vec![(1, 4)], vec![(0, 5)]]);
}

/// Four pages, five segments: page 1, below it 0 and 3, and below these what 1, 2 and all four
/// were. The next one finds the group full: of the oldest nothing is left, nor of what page 1 was.
#[test]
fn a_full_group_is_compacted_before_another_segment_enters() {
    let mut group = Group::new(4);
    write(&mut group, &[0, 1, 2, 3], 100, 0);
    let insert = |group: &mut Group, page: u8, place: u32| {
        let members = Members::every(page, page, 1);
        (group.insert(Segment::lone(page, place, scale()), members), group.len())
    };
    assert_eq!(insert(&mut group, 1, 200), (false, 2));
    assert_eq!(insert(&mut group, 2, 201), (false, 3));
    write(&mut group, &[0, 3], 300, 0);
    assert_eq!(group.len(), 4);
    assert_eq!(insert(&mut group, 1, 400), (false, 5));
    assert_eq!(insert(&mut group, 1, 500), (true, 3));
    assert_eq!([0, 1, 2, 3].map(|page| said(&group, page)), [300, 500, 201, 301].map(Some));
}

/// Five segments of four pages may stay; with six the group is compacted.
#[test]
fn levels_put_together_are_compacted_where_they_are_too_many() {
    for (newer, left) in [(1, 5), (2, 4)] {
        let (mut older, mut group) = (Group::new(4), Group::new(4));
        (0..4).for_each(|page| write(&mut older, &[page], 100 * u32::from(page + 1), 0));
        (0..newer).for_each(|page| write(&mut group, &[page], 600 + 100 * u32::from(page), 0));
        group.put_above(&older);
        assert_eq!(group.len(), left);
        assert_eq!((said(&group, 0), said(&group, 3)), (Some(600), Some(400)));
    }
}

/// Of an approximate segment a new one takes page 3: the conflict buffer lists three pages then.
#[test]
fn a_page_that_an_accurate_segment_takes_on_the_top_level_is_listed_no_more() {
    let mut group = Group::new(256);
    write(&mut group, &[0, 1, 3, 6], 100, 1);
    write(&mut group, &[3, 4], 200, 0);
    assert_eq!(group.sizes().listed, 3);
    group.self_check().expect("consistent");
    assert_eq!([1, 3, 4].map(|page| said(&group, page)), [101, 200, 201].map(Some));
}

/// An approximate segment of the lowest level has page 5, as an accurate one above has, which loses
/// its first page: the conflict buffer still says whose page 5 is.
#[test]
fn an_accurate_segment_that_is_cut_owns_no_listed_page() {
    let mut group = Group::new(256);
    write(&mut group, &[4, 5, 7, 10], 100, 1);
    write(&mut group, &[3, 11], 200, 0);
    write(&mut group, &[4, 5, 6], 300, 0);
    write(&mut group, &[4], 400, 0);
    let levels = [0, 1, 2].map(|at| level(&group, at));
    assert_eq!(levels, [vec![(4, 4), (5, 6)], vec![(3, 11)], vec![(4, 10)]]);
    let lowest = group.segments().last().expect("four").1;
    assert_eq!(group.members(lowest).iter().collect::<Vec<u8>>(), [4, 5, 7, 10]);
    group.self_check().expect("consistent");
}

/// Pages 1, 4, 7 and 10, and page 5 by itself above them, which it stays when they are compacted:
/// they overlap.
#[test]
fn segments_that_overlap_stay_in_levels_of_their_own() {
    let mut group = Group::new(256);
    write(&mut group, &[1, 4, 7, 10], 100, 0);
    write(&mut group, &[5], 200, 0);
    for _ in 0..2 {
        assert_eq!((level(&group, 0), level(&group, 1)), (vec![(5, 5)], vec![(1, 10)]));
        let pages = [1, 4, 5, 7, 8, 10].map(|page| said(&group, page));
        assert_eq!(pages, [Some(100), Some(101), Some(200), Some(102), None, Some(103)]);
        group.compact();
    }
}

/// The upper one of two older levels is all superseded: the lower one follows right below.
#[test]
fn no_level_is_empty() {
    let (mut older, mut group) = (Group::new(256), Group::new(256));
    write(&mut older, &[0, 1, 2, 3, 4, 5, 6, 7], 100, 0);
    write(&mut older, &[1, 2, 4, 7], 200, 1);
    assert_eq!((level(&older, 0), level(&older, 1)), (vec![(1, 7)], vec![(0, 6)]));
    write(&mut group, &[1, 2, 4, 7], 300, 1);
    group.put_above(&older);
    assert_eq!((level(&group, 0), level(&group, 1)), (vec![(1, 7)], vec![(0, 6)]));
    assert_eq!((said(&group, 3), group.find(3).map(|found| found.levels)), (Some(103), Some(2)));
}
