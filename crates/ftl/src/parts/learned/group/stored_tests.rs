//! A group as it lies on flash, and in memory among others.

use super::super::groups::Groups;
use super::super::members::Members;
use super::super::packed;
use super::tests::{said, scale, write};
use super::*;

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
    assert_eq!(packed::bytes(&group) as usize, expected.len());
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
    // Of pages 0 to 15 the trimmed ones are 4 and 11.
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
        let mut members = Members::NONE;
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

/// Nine segments, four of them accurate, two approximate and three of one page: bytes by kind.
#[test]
fn bytes_are_counted_by_kind() {
    let mut group = Group::new(256);
    for first in [0, 20, 40, 60] {
        write(&mut group, &[first, first + 1], 100, 0);
    }
    [80, 90, 100].into_iter().for_each(|page| write(&mut group, &[page], 200, 0));
    write(&mut group, &[110, 111, 113, 116], 300, 1);
    write(&mut group, &[120, 121, 123, 126], 300, 1);
    let sizes = group.sizes();
    assert_eq!((sizes.accurate, sizes.approximate, sizes.lone, sizes.listed), (4, 2, 3, 8));
    // Nine segments have three bytes of kinds; 8 a segment and 5 a lone one; 8 listed pages.
    assert_eq!(packed::bytes(&group), 3 + 3 + 8 * 4 + 8 * 2 + 5 * 3 + 8);
    (0..33).for_each(|page| group.trim(130 + page));
    assert_eq!(packed::bytes(&group), 3 + 32 + 3 + 8 * 4 + 8 * 2 + 5 * 3 + 8);
}

/// An approximate segment that is cut to some of its pages.
fn cut(first: u8, last: u8) -> Placed {
    let mut learned = Group::new(4);
    write(&mut learned, &[0, 1, 3], 100, 1);
    let approximate = learned.segments().next().expect("one").1;
    assert!(!approximate.is_accurate());
    Placed { level: 0, segment: approximate.between(first, last) }
}

fn append(group: &mut Group, placed: Placed) {
    let Segment { start, .. } = placed.segment;
    group.append(placed, Members::every(start, placed.segment.last(), 1));
}

/// Four pages have 25 bytes. One approximate segment of two pages, which takes ten, and two of one
/// page: 3 + 1 + 10 + 9 + 9; with the page of each it is 24. Three of one page and a page by
/// itself: 3 + 1 + 27 + 5; nobody asks for that page.
#[test]
fn only_approximate_segments_of_one_page_are_made_exact() {
    let place = |segment: Segment| 500 + u32::from(segment.start);
    let mut group = Group::new(4);
    [cut(0, 1), cut(2, 2), cut(3, 3)].into_iter().for_each(|placed| append(&mut group, placed));
    assert_eq!(packed::bytes(&group), 32);
    assert_eq!(packed::fit(&mut group, (4, scale()), place), 2);
    assert_eq!(
        (group.sizes().approximate, group.sizes().listed, packed::bytes(&group)),
        (1, 2, 24)
    );
    let mut group = Group::new(4);
    (0..3).for_each(|page| append(&mut group, cut(page, page)));
    append(&mut group, Placed { level: 0, segment: Segment::lone(3, 900, scale()) });
    assert_eq!(packed::bytes(&group), 36);
    assert_eq!(packed::fit(&mut group, (4, scale()), place), 3);
    assert_eq!((said(&group, 2), said(&group, 3)), (Some(502), Some(900)));
}

/// Eight pages have 46 bytes: four approximate segments of one page and one page by itself take 3 +
/// 2 + 36 + 5. With an older place of that page it is 51, until it is compacted.
#[test]
fn a_group_that_just_fits_when_it_is_compacted_asks_for_no_page() {
    let mut group = Group::new(8);
    (0..4).for_each(|page| append(&mut group, cut(page, page)));
    for (level, place) in [(0, 900), (1, 800)] {
        append(&mut group, Placed { level, segment: Segment::lone(4, place, scale()) });
    }
    assert_eq!((packed::bytes(&group), packed::most_bytes(8)), (51, 46));
    assert_eq!(packed::fit(&mut group, (8, scale()), |_| panic!("nobody asks")), 0);
    assert_eq!((packed::bytes(&group), said(&group, 4)), (46, Some(900)));
}

/// Of two groups, each with an approximate segment of its own pages.
#[test]
fn every_group_has_its_own_pages_in_memory() {
    let mut groups = Groups::new(2, 64);
    let mut each = [[0, 1, 3, 6], [0, 1, 4, 6]].map(|pages| {
        let mut group = Group::new(64);
        write(&mut group, &pages, 100, 1);
        write(&mut group, &[pages[0] + 20, 21, 23, 26], 200, 1);
        group
    });
    write(&mut each[1], &[1, 2, 4, 7], 300, 1);
    (0..).zip(&each).for_each(|(number, group)| groups.store(number, group));
    for (number, group) in (0..).zip(&each) {
        assert!(group.sizes().listed > 4);
        for page in 0..64 {
            assert_eq!(groups.find(number, page), group.find(page), "group {number}, page {page}");
        }
    }
}

/// A group of four pages, and as many nodes more as one may have while it is stored: ten segments.
fn store_segments(count: u8) -> Groups {
    let mut group = Group::new(256);
    (0..count).for_each(|page| write(&mut group, &[2 * page], 100 * u32::from(page), 0));
    assert_eq!(group.len(), usize::from(count));
    let mut groups = Groups::new(1, 4);
    groups.store(0, &group);
    groups
}

#[test]
fn a_group_may_have_as_many_segments_more_while_it_is_stored() {
    let mut loaded = Group::new(256);
    store_segments(10).load(0, &mut loaded);
    let starts: Vec<u8> = loaded.segments().map(|(_, segment)| segment.start).collect();
    assert_eq!(starts, (0..10).map(|page| 2 * page).collect::<Vec<u8>>());
}

#[test]
#[should_panic(expected = "a group has too many segments")]
fn a_group_has_no_more_segments_than_there_are_nodes() {
    store_segments(11);
}

/// Three groups of so many segments each are stored, forgotten and stored over, in places of four
/// pages, which have five nodes each: none touches what another one has, and none is lost.
#[test]
fn nodes_that_are_free_are_used_again_and_others_are_left_alone() {
    let of = |count: u8, place: u32| {
        let mut group = Group::new(256);
        (0..count).for_each(|page| write(&mut group, &[2 * page], place + u32::from(page) * 10, 0));
        group
    };
    let mut groups = Groups::new(3, 4);
    let mut known = [of(3, 100), of(4, 200), of(0, 0)];
    (0..).zip(&known).for_each(|(number, group)| groups.store(number, group));
    for turn in 0..200 {
        let number = turn % 3;
        let (place, count) = (300 + 50 * turn, 1 + (turn / 3 % 5) as u8);
        match turn % 7 {
            0 => {
                groups.forget(number);
                known[number as usize] = of(0, 0);
            }
            _ => {
                known[number as usize] = of(count, place);
                groups.store(number, &known[number as usize]);
            }
        }
        for (number, group) in (0..).zip(&known) {
            let mut loaded = Group::new(256);
            groups.load(number, &mut loaded);
            assert!(loaded.segments().eq(group.segments()), "turn {turn}, group {number}");
        }
    }
}
