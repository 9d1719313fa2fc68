//! Pages of the map in memory: what they know, and what of it flash does not.

use super::*;
use crate::settings::SharedSettings;
use ftlab_flash::meter::Cause;
use ftlab_flash::rng::{Purpose, Rng};
use ftlab_flash::settings::Groups as _;

#[test]
fn a_page_in_memory_knows_its_entries_and_which_of_them_flash_does_not() {
    let mut config = SharedSettings::default();
    config.device.blocks_per_plane = 64;
    let board = Board::new(&config, 1, 8);
    let geometry = board.geometry();
    let translation = Translation::new(geometry);
    let mut pages = MapPages::new(geometry, 2);
    let entries = geometry.entries_per_page();
    let lpn = Lpn(entries + 65);
    assert_eq!(pages.entry(lpn), None, "only flash knows");
    let slot = pages.insert(&board, &translation, 1, When::START);
    assert_eq!(pages.entry(lpn), Some(None), "known, and nowhere");
    assert_eq!(pages.entry(Lpn(65)), None, "another page");
    pages.change(lpn, Some(Ppn(7)));
    pages.change(lpn, Some(Ppn(8)));
    assert_eq!(pages.changed().collect::<Vec<_>>(), [(lpn, Some(Ppn(8)))]);
    assert_eq!((pages.dirty_entries(slot), pages.words(slot)[65]), (1, 9));
    let known = [64, 65].map(|place| pages.look_at(slot, place));
    assert_eq!(known, [None, Some(Ppn(8))].map(Known::Entry));
    let first = |from, end| pages.first_dirty(from..end);
    assert_eq!([first(0, lpn.0), first(0, lpn.0 + 1)], [None, Some(lpn)]);
    assert_eq!([first(lpn.0, 3 * entries), first(lpn.0 + 1, 3 * entries)], [Some(lpn), None]);
    assert_eq!(pages.dirty_pages(), 1);
    pages.clean(lpn);
    assert_eq!((pages.dirty_entries(slot), pages.is_dirty(lpn)), (0, false));
    assert_eq!(pages.dirty_pages(), 0);
    assert_eq!(pages.entry(lpn), Some(Some(Ppn(8))), "clean, yet known");
    pages.remove(slot);
    assert_eq!((pages.entry(lpn), pages.len()), (None, 0));
}

/// Pages of 128 entries in memory: of translation page 0, then of page 2, then of page 1.
fn three_pages() -> (Board, Translation, MapPages, [Slot; 3]) {
    let mut config = SharedSettings::default();
    config.set("device.page_bytes", "512").expect("legal");
    config.device.blocks_per_plane = 64;
    let mut board = Board::new(&config, 1, 8);
    let mut translation = Translation::new(board.geometry());
    translation.went_astray(&mut board, Lpn(2 * 128 + 3), Ppn(77));
    let mut pages = MapPages::new(board.geometry(), 4);
    assert!(pages.is_empty());
    let slots = [0, 2, 1].map(|part| pages.insert(&board, &translation, part, When::START));
    assert!(!pages.is_empty());
    assert_eq!(slots, [0, 1, 2].map(Slot));
    (board, translation, pages, slots)
}

/// Flash does not say where page 259 is, the fourth of translation page 2: memory does, and of
/// no other page.
#[test]
fn a_page_takes_in_what_its_translation_page_does_not_say() {
    let (mut board, translation, mut pages, slots) = three_pages();
    let known = |pages: &MapPages, slot| -> Vec<(usize, u32)> {
        let words = pages.words(slot).iter().copied().enumerate();
        words.filter(|&(_, word)| word != 0).collect()
    };
    // Physical page plus one.
    let all = slots.map(|slot| known(&pages, slot));
    assert_eq!(all, [vec![], vec![(3, 78)], vec![]]);
    let loaded = board.read_implicit(3, Cause::Translate, When::START).expect("nothing fails");
    assert_ne!(loaded, When::START, "a read takes its time");
    let slot = pages.insert(&board, &translation, 3, loaded);
    assert_eq!((pages.ready(slot), pages.ready(slots[0])), (loaded, When::START));
}

/// Entries 0, 70 and 127 of translation page 1 and entry 64 of page 0 have changed.
#[test]
fn changed_entries_are_found_wherever_a_search_begins() {
    let (_, _, mut pages, _) = three_pages();
    let changed = [64, 128, 198, 255].map(|lpn| (Lpn(lpn), Some(Ppn(1000 + lpn))));
    changed.iter().for_each(|&(lpn, ppn)| pages.change(lpn, ppn));
    // Slot by slot, in order within each.
    assert_eq!(pages.changed().collect::<Vec<_>>(), changed);
    for from in 0..384 {
        let next = changed.iter().map(|&(lpn, _)| lpn).find(|lpn| lpn.0 >= from);
        assert_eq!(pages.first_dirty(from..384), next, "from {from}");
    }
    let mut told = Vec::new();
    pages.each_dirty(128..256, |lpn, ppn, _| told.push((lpn, ppn)));
    assert_eq!(told, changed[1..]);
}

/// Only what had changed counts as cleaned, and a page only with its last entry.
#[test]
fn a_page_is_clean_when_its_last_changed_entry_is() {
    let (_, _, mut pages, slots) = three_pages();
    for lpn in [5, 128 + 3, 128 + 70] {
        pages.change(Lpn(lpn), None);
    }
    let counts =
        |pages: &MapPages| (pages.dirty_pages(), slots.map(|slot| pages.dirty_entries(slot)));
    assert_eq!(counts(&pages), (2, [1, 0, 2]));
    pages.clean_places(Lpn(2 * 128), [3, 70].into_iter());
    assert_eq!(counts(&pages), (2, [1, 0, 2]), "nothing of page 2 had changed");
    pages.clean_places(Lpn(128), [3, 4, 69].into_iter());
    assert_eq!(counts(&pages), (2, [1, 0, 1]));
    pages.clean_places(Lpn(128), [70].into_iter());
    assert_eq!(counts(&pages), (1, [1, 0, 0]));
    assert_eq!(pages.changed().collect::<Vec<_>>(), [(Lpn(5), None)]);
}

/// Against pages with copies: of what has changed both say the same, of the rest the deferring
/// ones say that flash knows; and all that has changed is told and cleaned page by page.
#[test]
fn pages_that_defer_to_flash_know_what_has_changed() {
    let mut config = SharedSettings::default();
    config.device.blocks_per_plane = 64;
    let board = Board::new(&config, 1, 8);
    let geometry = board.geometry();
    let translation = Translation::new(geometry);
    let entries = geometry.entries_per_page();
    let mut copies = MapPages::new(geometry, 2);
    let mut pages = MapPages::new(geometry, 2).deferring();
    for part in [0, 2] {
        let _ = copies.insert(&board, &translation, part, When::START);
        let _ = pages.insert(&board, &translation, part, When::START);
    }
    let mut rng = Rng::new(5, Purpose::Workload);
    for _ in 0..2_000 {
        let lpn = Lpn(rng.below(3 * entries));
        if copies.entry(lpn).is_none() {
            assert_eq!((pages.entry(lpn), pages.look(lpn)), (None, Known::No), "not in memory");
            continue;
        }
        match rng.below(3) {
            0 => [&mut copies, &mut pages].map(|pages| pages.change(lpn, Some(Ppn(lpn.0)))),
            1 => [&mut copies, &mut pages].map(|pages| pages.clean(lpn)),
            _ => [(); 2],
        };
        let known = copies.entry(lpn).filter(|_| copies.is_dirty(lpn));
        let look = known.map_or(Known::AsOnFlash, Known::Entry);
        assert_eq!((pages.entry(lpn), pages.look(lpn)), (known, look));
        let slot = pages.find(lpn.0 / entries).expect("the page is in memory");
        assert_eq!(pages.look_at(slot, lpn.0 % entries), look);
        let first = lpn.0 / entries * entries;
        let mut told = Vec::new();
        pages.each_dirty(first..first + entries, |lpn, ppn, _| told.push((lpn, ppn)));
        let lpns = (first..first + entries).map(Lpn).filter(|&lpn| copies.is_dirty(lpn));
        let changed: Vec<_> = lpns.map(|lpn| (lpn, copies.entry(lpn).flatten())).collect();
        assert_eq!(told, changed);
        if told.len() > 40 {
            for pages in [&mut copies, &mut pages] {
                pages.clean_places(Lpn(first), told.iter().map(|(lpn, _)| lpn.0 - first));
            }
        }
        assert_eq!(pages.dirty_pages(), copies.dirty_pages());
    }
}

/// Whatever was changed and cleaned before: pages of 8, of 128 and of 96 words of marks, in groups of
/// one and of two.
#[test]
fn changed_entries_go_to_the_words_of_their_page_and_are_clean() {
    for page_bytes in ["2048", "32768", "24576"] {
        let mut config = SharedSettings::default();
        config.set("device.page_bytes", page_bytes).expect("legal");
        let bytes = 20_000 * config.device.page_bytes.0;
        config.device.set_capacity(bytes, 64);
        let board = Board::new(&config, 1, 8);
        let translation = Translation::new(board.geometry());
        let entries = board.geometry().entries_per_page();
        let mut pages = MapPages::new(board.geometry(), 2).deferring();
        for part in [0, 1] {
            let _ = pages.insert(&board, &translation, part, When::START);
        }
        let (mut rng, mut flash) = (Rng::new(7, Purpose::Workload), vec![0; entries as usize]);
        let mut expected = flash.clone();
        for round in 0..200 {
            for _ in 0..rng.below(6) {
                let (place, ppn) = (rng.below(entries), rng.below(1000));
                pages.change(Lpn(entries + place), Some(Ppn(ppn)));
                expected[place as usize] = ppn + 1;
                if rng.below(4) == 0 {
                    // Written alone, as a single entry is.
                    flash[place as usize] = ppn + 1;
                    pages.clean(Lpn(entries + place));
                }
            }
            pages.change(Lpn(round), None);
            let slot = pages.find(1).expect("the page is in memory");
            let changed = pages.dirty_entries(slot);
            assert_eq!(pages.take_dirty(entries..2 * entries, &mut flash), changed, "{round}");
            assert!(flash == expected, "{page_bytes}, round {round}");
            assert_eq!((pages.dirty_entries(slot), pages.dirty_pages()), (0, 1), "page 0 is not");
            assert_eq!(pages.take_dirty(entries..2 * entries, &mut flash), 0);
        }
        assert_eq!(pages.changed().count(), 200);
    }
}

#[test]
#[should_panic(expected = "a page has no entry 128")]
fn a_place_behind_the_last_one_of_a_page_cannot_change() {
    let (_, _, mut pages, [slot, ..]) = three_pages();
    let before = pages.exchange_at((slot, 127), Some(Ppn(5)));
    assert_eq!((before, pages.entry(Lpn(127))), (Known::Entry(None), Some(Some(Ppn(5)))));
    let _ = pages.exchange_at((slot, 128), Some(Ppn(6)));
}

/// Entry 3 of a page in memory changes twice, and beside it entry 4 has changed. What memory said
/// before is told; where that is left to flash, that flash knows.
#[test]
fn an_entry_that_changes_tells_what_it_was() {
    for defers in [false, true] {
        let (board, translation, pages, _) = three_pages();
        let mut pages = if defers {
            let mut empty = MapPages::new(board.geometry(), 4).deferring();
            let _ = empty.insert(&board, &translation, 0, When::START);
            empty
        } else {
            pages
        };
        let first = pages.exchange(Lpn(4), Some(Ppn(40)));
        let before = [30, 31].map(|ppn| pages.exchange(Lpn(3), Some(Ppn(ppn))));
        let nowhere = if defers { Known::AsOnFlash } else { Known::Entry(None) };
        assert_eq!((first, before), (nowhere, [nowhere, Known::Entry(Some(Ppn(30)))]), "{defers}");
        assert_eq!(pages.look(Lpn(3)), Known::Entry(Some(Ppn(31))));
    }
}

/// Flash says that all pages of translation page 0 are at 9, of page 1 where the first and the last
/// are, and nothing of page 2, which takes the place of page 0.
#[test]
fn a_page_is_taken_in_as_flash_has_it_until_there_is_no_place() {
    let (board, _, _, _) = three_pages();
    let mut pages = MapPages::new(board.geometry(), 2);
    let mut words = [0; 128];
    (words[0], words[127]) = (500 + 1, 600 + 1);
    let zero = pages.insert_words(0, Some(&[9 + 1; 128]), When::START);
    assert!(!pages.is_full(), "a place is left");
    let one = pages.insert_words(1, Some(&words), When::START);
    assert!(pages.is_full() && pages.len() == 2);
    let known = |pages: &MapPages, lpns: [u32; 4]| lpns.map(|lpn| pages.entry(Lpn(lpn)));
    let nine = Some(Some(Ppn(9)));
    let of_one = [Some(Some(Ppn(500))), Some(None), Some(None), Some(Some(Ppn(600)))];
    assert_eq!(known(&pages, [0, 1, 126, 127]), [nine; 4]);
    assert_eq!(known(&pages, [128, 129, 254, 255]), of_one);
    pages.remove(zero);
    assert!(!pages.is_full());
    assert_eq!(pages.insert_words(2, None, When::START), zero);
    assert_eq!(known(&pages, [256, 257, 382, 383]), [Some(None); 4], "it was never written");
    assert_eq!(known(&pages, [128, 129, 254, 255]), of_one);
    assert_eq!((pages.find(0), pages.find(1)), (None, Some(one)));
}
