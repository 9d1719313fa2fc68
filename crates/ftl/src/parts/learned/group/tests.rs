use super::super::fit::{Point, Tolerance, learn};
use super::super::groups::Groups;
use super::super::packed;
use super::*;
use ftlab_flash::rng::{Purpose, Rng};

const PAGES: u64 = 1 << 16;

fn scale() -> Scale {
    Scale::new(PAGES)
}

/// Writes pages, in ascending order, to consecutive physical pages.
fn write(group: &mut Group, offsets: &[u8], first: u32, gamma: u32) {
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

fn said(group: &Group, offset: u8) -> Option<i64> {
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

fn packed_bytes(group: &Group) -> Vec<u8> {
    let mut words = vec![0; packed::most_bytes(256).div_ceil(4) as usize];
    packed::pack(group, scale(), &mut words);
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// What memory and flash say of a group is what the group says, and it comes back as it was.
fn comes_back(group: &Group) {
    let mut words = vec![0; packed::most_bytes(256).div_ceil(4) as usize];
    packed::pack(group, scale(), &mut words);
    let (mut unpacked, mut loaded) = (Group::new(256), Group::new(256));
    // What was there before is forgotten.
    write(&mut unpacked, &[9, 10], 5000, 0);
    unpacked.trim(200);
    packed::unpack(&words, scale(), &mut unpacked);
    let mut groups = Groups::new(3, 256);
    groups.store(2, group);
    groups.store(1, group);
    groups.load(1, &mut loaded);
    for again in [&unpacked, &loaded] {
        assert!(again.segments().eq(group.segments()));
        assert_eq!((again.trimmed(), again.sizes()), (group.trimmed(), group.sizes()));
        again.self_check().expect("consistent");
    }
    for offset in 0..=255 {
        let found = group.find(offset);
        assert_eq!(unpacked.find(offset), found, "page {offset}");
        assert_eq!(packed::find(&words, scale(), offset), found, "page {offset} on flash");
        assert_eq!(groups.find(1, offset), found, "page {offset} in memory");
        assert_eq!(groups.is_trimmed(1, offset), group.trimmed().has(offset));
    }
    assert_eq!([0, 1, 2].map(|group| groups.is_empty(group)), [true, false, false]);
    groups.forget(1);
    assert_eq!([0, 1, 2].map(|group| groups.is_empty(group)), [true, true, false]);
}

/// Byte by byte, as the header of `packed.rs` says: three segments of one level, a page trimmed.
#[test]
fn a_group_on_flash_has_the_bytes_of_its_segments() {
    let mut group = Group::new(256);
    write(&mut group, &[0, 1, 2, 3], 1000, 0);
    write(&mut group, &[7], 0x01_02, 0);
    write(&mut group, &[20, 21, 23, 26], 100, 1);
    group.trim(2);
    let eight: Vec<[u8; 8]> = group.segments().map(|(_, segment)| segment.to_bytes()).collect();
    let mut expected = vec![3, 0, 1, 2];
    // Two bits each from the lowest on: lone, last of its level.
    expected.push(0b10_01_00);
    expected.extend(eight[0]);
    expected.extend([7, 2, 1, 0, 0]);
    expected.extend(eight[2]);
    expected.extend([3, 21, 23, 26]);
    let found = packed_bytes(&group);
    assert_eq!(found[..expected.len()], expected);
    assert!(found[expected.len()..].iter().all(|&byte| byte == 0));
    comes_back(&group);
    assert_eq!([4, 5, 256].map(packed::most_bytes), [25, 31, 4 + 64 + 1280]);
}

/// Eight segments in three levels, and first 32 trimmed pages, which are listed, then 33, in a
/// bitmap.
#[test]
fn levels_and_trims_come_back_from_flash_and_from_memory() {
    let mut group = Group::new(256);
    write(&mut group, &[0, 2, 4, 6, 8, 10, 12, 14], 300, 0);
    write(&mut group, &[5, 6, 8, 11], 400, 1);
    for (page, place) in [(100, 700), (102, 0xffff), (104, 800), (106, 900), (108, 901), (6, 902)] {
        write(&mut group, &[page], place, 0);
    }
    assert!(group.len() == 8 && group.sizes().levels == 3, "{:?}", group.sizes());
    comes_back(&group);
    (0..32).for_each(|page| group.trim(4 + 7 * page));
    assert_eq!(packed_bytes(&group)[2..5], [32, 4, 11]);
    comes_back(&group);
    group.trim(255);
    // Of pages 4 to 15 the trimmed ones are 4 and 11.
    assert_eq!(packed_bytes(&group)[2..5], [255, 1 << 4, 1 << 3]);
    comes_back(&group);
    let mut groups = Groups::new(1, 256);
    for _ in 0..200 {
        groups.store(0, &group);
        groups.forget(0);
    }
    assert!(groups.is_empty(0), "nodes are used again");
}

/// Four approximate segments of a page each take 9 bytes each, where four pages have 25 bytes: each
/// is asked for, and then takes 5.
#[test]
fn a_group_that_does_not_fit_is_made_exact() {
    let mut learned = Group::new(4);
    write(&mut learned, &[0, 1, 3], 100, 1);
    let approximate = learned.segments().next().expect("one").1;
    assert!(!approximate.is_accurate());
    let mut group = Group::new(4);
    for page in 0..4 {
        let mut members = super::super::members::Members::NONE;
        members.insert(page);
        group.append(Placed { level: 0, segment: approximate.between(page, page) }, members);
    }
    assert_eq!((group.len(), group.sizes().approximate, group.sizes().listed), (4, 4, 4));
    let place = |segment: Segment| 500 + u32::from(segment.start);
    assert_eq!(packed::fit(&mut group, (256, scale()), place), 0, "there is room");
    assert_eq!(group.sizes().approximate, 4);
    assert_eq!(packed::fit(&mut group, (4, scale()), place), 4);
    assert_eq!((group.sizes().lone, group.sizes().listed), (4, 0));
    assert_eq!([0, 1, 2, 3].map(|page| said(&group, page)), [500, 501, 502, 503].map(Some));
    group.self_check().expect("consistent");
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
    assert_eq!(group.trimmed().iter().collect::<Vec<u8>>(), [6]);
    assert_eq!(group.changes(), 4, "pages 1, 3 and 6 are three runs: two gaps have two ends each");
    group.clear();
    assert_eq!((group.is_empty(), group.len()), (true, 0));
    group.trim(1);
    assert!(!group.is_empty());
}

#[test]
fn sizes_are_added_and_taken_away_one_by_one() {
    let sizes = |accurate, approximate, lone, listed| Sizes {
        accurate,
        approximate,
        lone,
        listed,
        ..Sizes::default()
    };
    let mut sum = sizes(2, 3, 4, 5);
    sum += sizes(10, 20, 30, 40);
    assert_eq!((sum, sum.segments()), (sizes(12, 23, 34, 45), 69));
    sum -= sizes(2, 3, 4, 5);
    assert_eq!(sum, sizes(10, 20, 30, 40));
}
