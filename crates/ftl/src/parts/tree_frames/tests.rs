//! Which data pages hang below which translation page, and what of them flash does not have.

use super::*;
use crate::parts::translation::Translation;
use crate::settings::SharedSettings;
use ftlab_flash::board::Board;
use ftlab_flash::settings::Groups as _;

/// Pages of 1 KiB: 256 entries a translation page, two sectors a page.
fn board() -> Board {
    let mut config = SharedSettings::default();
    config.set("device.page_bytes", "1024").expect("legal");
    config.device.pages_per_block = 8;
    config.device.blocks_per_plane = 512;
    Board::new(&config, 1, 8)
}

/// Translation pages 1 and 0, and data pages below them: 259 and 326, and 9.
fn three() -> (Frames, [Slot; 2], [Slot; 3]) {
    let board = board();
    let geometry = board.geometry();
    let translation = Translation::new(geometry);
    let mut frames = Frames::new(geometry, 2, 4, true);
    let maps = [1, 0].map(|part| frames.maps.insert(&board, &translation, part, When::START));
    let [one, zero] = maps;
    let pages = [(256 + 3, one), (256 + 70, one), (9, zero)];
    let data = pages.map(|(lpn, map)| frames.enter(Lpn(lpn), map).0);
    frames.self_check().expect("sound");
    (frames, maps, data)
}

#[test]
fn data_pages_hang_on_the_translation_page_with_their_entry() {
    let (mut frames, [one, zero], [first, second, other]) = three();
    assert_eq!((frames.pages(), frames.data_pages(), frames.dirty_data()), (5, 3, 0));
    assert_eq!([one, zero].map(|map| frames.children(map)), [2, 1]);
    let found = [3, 256 + 3, 256 + 70, 9].map(|lpn| frames.find(Lpn(lpn)));
    assert_eq!(found, [None, Some(first), Some(second), Some(other)]);
    assert_eq!((frames.parent(second), frames.get(second).lpn), ((one, 70), Lpn(326)));
    assert_eq!((frames.lpn(one, 70), frames.lpn(zero, 9)), (Lpn(326), Lpn(9)));
    assert_eq!([255, 256, 326].map(|lpn| frames.part_of(Lpn(lpn))), [0, 1, 1]);
    assert_eq!([255, 256, 326].map(|lpn| frames.offset(Lpn(lpn))), [255, 0, 70]);
    let last = frames.part_of(Lpn(frames.logical_pages - 1));
    let ends = [0, 1, last].map(|part| frames.end_of(part));
    assert_eq!(ends, [256, 512, frames.logical_pages], "the last group is cut short");
    // The first by place, and one of them only where there is no other.
    assert_eq!(frames.first_child(one, None), Some(3));
    let behind = [3, 5, 70].map(|last| frames.first_child(one, Some(last)));
    assert_eq!(behind, [Some(70), Some(3), Some(3)], "at 5 nothing hangs");
    let of_one = [None, Some(9), Some(5)].map(|last| frames.first_child(zero, last));
    assert_eq!(of_one, [Some(9); 3], "the only one is the last as well");
    let near = frames.enter(Lpn(256 + 5), one).0;
    assert_eq!(frames.first_child(one, Some(3)), Some(5));
    for (data, left, next) in [(first, 2, Some(5)), (near, 1, Some(70)), (second, 0, None)] {
        frames.leave(data, When::START);
        frames.self_check().expect("sound");
        assert_eq!((frames.children(one), frames.first_child(one, None)), (left, next));
    }
    assert_eq!((frames.find(Lpn(326)), frames.children(zero)), (None, 1));
}

#[test]
fn what_was_written_is_newer_than_flash_until_it_is_written_out() {
    let (mut frames, [one, zero], [first, second, _]) = three();
    frames.write(second, Tag(5), 0b01, When::START);
    frames.write(first, Tag(6), 0b11, When::START);
    assert_eq!((frames.dirty_data(), frames.oldest_dirty()), (2, Some(second)));
    let next = [0, 3, 4, 70, 71].map(|from| frames.next_dirty(one, from));
    assert_eq!(next, [Some(3), Some(3), Some(70), Some(70), None]);
    assert_eq!(frames.next_dirty(zero, 0), None);
    frames.write(second, Tag(7), 0b01, When::START);
    frames.self_check().expect("sound");
    assert_eq!((frames.dirty_data(), frames.oldest_dirty()), (2, Some(first)));
    assert_eq!(frames.dirty().map(|held| held.tag).collect::<Vec<_>>(), [Tag(6), Tag(7)]);
    frames.written_out(first);
    frames.self_check().expect("sound");
    assert_eq!((frames.next_dirty(one, 0), frames.dirty_data()), (Some(70), 1));
    frames.leave(second, When::START);
    frames.self_check().expect("sound");
    assert_eq!((frames.next_dirty(one, 0), frames.dirty_data()), (None, 0));
}

/// The last entry of either translation page.
#[test]
fn there_is_a_mark_for_every_entry_of_every_translation_page() {
    let (mut frames, [one, zero], [first, ..]) = three();
    frames.leave(first, When::START);
    for (lpn, map) in [(511, one), (255, zero)] {
        let data = frames.enter(Lpn(lpn), map).0;
        frames.write(data, Tag(5), 0b11, When::START);
        frames.self_check().expect("sound");
        assert_eq!(frames.next_dirty(map, 0), Some(255));
    }
}

/// Errors have the size of a page: what is written to a part of a page that cannot be read is lost
/// with it, and a page that is written as a whole is not.
#[test]
fn a_part_of_a_lost_page_is_lost() {
    let (mut frames, _, [first, second, third]) = three();
    [first, second].into_iter().for_each(|data| frames.fill(data, Tag::UNREADABLE, When::START));
    frames.write(first, Tag(5), 0b01, When::START);
    frames.write(second, Tag(6), 0b11, When::START);
    frames.fill(third, Tag(4), When::START);
    frames.write(third, Tag(7), 0b10, When::START);
    let tags = [first, second, third].map(|data| frames.get(data).tag);
    assert_eq!(tags, [Tag::UNREADABLE, Tag(6), Tag(7)]);
}

/// Page 261, the sixth of its group, of which one sector is written, or both. With what flash has of
/// it all of it is here; a part of a lost page is lost.
#[test]
fn a_page_that_is_written_takes_a_frame_with_what_flash_has_of_it() {
    let (mut frames, [one, _], [_, second, _]) = three();
    frames.write(second, Tag(3), 0b01, When::START);
    let (here, lost) = (u64::MAX, Tag::UNREADABLE);
    for (old, new, known) in [
        (None, (Tag(5), 0b01), (Tag(5), 0b01)),
        (Some(Tag(4)), (Tag(6), 0b10), (Tag(6), here)),
        (Some(lost), (Tag(7), 0b01), (lost, here)),
        (Some(lost), (Tag(8), 0b11), (Tag(8), here)),
    ] {
        assert_eq!(frames.free_from(), Moment::START);
        let offset = frames.offset_below(Lpn(261), one);
        let data = frames.enter_written(Lpn(261), (one, offset), old, new, When::START);
        let held = *frames.get(data);
        assert_eq!((held.lpn, (held.tag, held.sectors), held.dirty), (Lpn(261), known, true));
        assert_eq!((frames.parent(data), frames.children(one)), ((one, 5), 3));
        assert_eq!((frames.next_dirty(one, 0), frames.oldest_dirty()), (Some(5), Some(second)));
        frames.self_check().expect("sound");
        assert_eq!(frames.leave(data, When::START), one);
        frames.self_check().expect("sound");
    }
}

#[test]
#[should_panic(expected = "page 512 hangs on another translation page")]
fn a_page_has_no_place_below_another_translation_page() {
    let (frames, [one, _], _) = three();
    let _ = frames.offset_below(Lpn(512), one);
}

/// Collection is handed what is newer here, with the sectors that are here.
#[test]
fn collection_takes_what_is_newer_here() {
    let (mut frames, _, [first, ..]) = three();
    assert!(frames.hands_over() && frames.prefers_cached());
    assert!(frames.newer(Lpn(259)).is_none() && frames.newer(Lpn(8)).is_none());
    frames.write(first, Tag(5), 0b01, When::START);
    let newer = frames.newer(Lpn(259)).expect("it was written");
    assert_eq!((newer.tag, newer.sectors), (Tag(5), 0b01));
    frames.fill(first, Tag(4), When::START);
    let newer = frames.newer(Lpn(259)).expect("what was written stays");
    assert_eq!((newer.tag, newer.sectors), (Tag(5), 0b11));
    frames.wrote_newer(Lpn(259));
    assert!(frames.newer(Lpn(259)).is_none() && frames.dirty_data() == 0);
}

#[test]
fn entries_are_those_of_the_translation_pages() {
    let (mut frames, ..) = three();
    let (lpn, ppn) = (Lpn(259), Some(Ppn(7)));
    frames.change(lpn, ppn);
    assert_eq!((frames.entry(lpn), frames.is_dirty(lpn)), (Some(ppn), true));
    assert!(!frames.is_dirty(Lpn(258)));
    assert_eq!(frames.first_dirty(256..512), Some(lpn));
    let mut told = Vec::new();
    frames.each_dirty(256..512, |lpn, ppn, unresolved| told.push((lpn, ppn, unresolved)));
    assert_eq!(told, [(lpn, ppn, false)]);
    frames.clean(lpn);
    assert_eq!((frames.is_dirty(lpn), frames.first_dirty(256..512)), (false, None));
    frames.change(lpn, None);
    frames.clean_places(Lpn(256), [3].into_iter());
    assert!(!frames.is_dirty(lpn));
}

/// Of 256 entries for blocks of 8 pages: 2,048 pages a group. Collection has no part in it.
#[test]
fn where_entries_are_of_blocks_a_group_has_all_their_pages() {
    let board = board();
    let frames = Frames::of_blocks(board.geometry(), 2, 4);
    assert_eq!([2047, 2048].map(|lpn| frames.part_of(Lpn(lpn))), [0, 1]);
    assert_eq!(frames.end_of(0), 2048);
    assert!(!frames.hands_over() && !frames.prefers_cached());
}
