use super::*;
use crate::for_tests;
use crate::lazyftl::LazyFtl;
use crate::lazyftl::settings::Config;
use ftlab_flash::settings::Groups as _;
use ftlab_ftl::scheme::Scheme;

/// 100 logical blocks of four pages; a GMT page has 128 entries.
fn config(pairs: &[(&str, &str)]) -> Config {
    let mut config = Config::default();
    let shape = [("device.pages_per_block", "4"), ("device.page_bytes", "512")];
    for (key, value) in shape.iter().chain(pairs) {
        config.set(key, value).expect("legal");
    }
    config.device.set_capacity(100 * 4 * 512, 160);
    config
}

/// An empty map that takes so many trimmed pages.
fn empty(trimmed: u32) -> LazyMap {
    let sizes = Sizes { area: 2, cold: None, entries: 64, trimmed, gmt_pages: 2 };
    LazyMap::new(&Geometry::new(&config(&[]).device), sizes)
}

/// One with GMT page 1 in memory, which says that its pages are nowhere, from `ready` on.
fn with_gmt_page(board: &Board, ready: When) -> LazyMap {
    let mut map = empty(16);
    map.load_gmt(board, &Translation::new(board.geometry()), 1, ready);
    map
}

/// Flag by flag: what the GMT is told of is followed by the GMT page in memory, and found no more
/// by those who look for what it must be told. A page that lies nowhere needs no entry then, but
/// for the one that is being written.
#[test]
fn what_the_gmt_is_told_of_its_page_in_memory_follows() {
    let board = Board::new(&config(&[]), 1, 0);
    let mut map = with_gmt_page(&board, When::START);
    let [page, trimmed, pinned] = [130, 131, 132].map(Lpn);
    map.change(page, Some(Ppn(7)));
    map.change(trimmed, None);
    map.change(pinned, None);
    map.pin(pinned);
    assert_eq!(map.first_dirty(0..400), Some(page));
    for lpn in [page, trimmed, pinned] {
        assert!(map.is_dirty(lpn));
        map.clean(lpn);
        assert!(!map.is_dirty(lpn));
    }
    assert_eq!(map.first_dirty(0..400), None);
    assert_eq!(map.gmt.entry(page), Some(Some(Ppn(7))));
    assert_eq!([page, trimmed, pinned].map(|lpn| map.has(lpn)), [true, false, true]);
}

#[test]
fn a_gmt_page_in_memory_is_held_from_when_it_is_there() {
    let mut board = Board::new(&config(&[]), 1, 0);
    let read = board.read_unwritten(Lpn(0), When::START).expect("nothing fails").0;
    assert_ne!(read, When::START);
    let map = with_gmt_page(&board, read);
    assert_eq!([0, 1, 2].map(|part| map.held(part)), [None, Some(read), None]);
}

/// The GMT is told of all these places together.
fn told(map: &mut LazyMap, changed: &[u32], (first, places): (u32, &[u32])) -> Vec<u32> {
    changed.iter().for_each(|&lpn| map.change(Lpn(lpn), Some(Ppn(lpn))));
    map.clean_places(Lpn(first), places.iter().copied());
    let mut left = Vec::new();
    map.each_dirty(0..400, |lpn, ppn, _| {
        assert_eq!(ppn, Some(Ppn(lpn.0)));
        left.push(lpn.0);
    });
    left
}

/// Pages of four words of marks, 64 in each; those that are told of lie in two of these.
#[test]
fn pages_told_of_together_the_page_in_memory_follows_and_the_others_stay_to_be_told() {
    let board = Board::new(&config(&[]), 1, 0);
    let mut map = with_gmt_page(&board, When::START);
    let changed = [100, 128, 131, 133, 190, 198, 199, 256];
    let left = told(&mut map, &changed, (128, &[0, 3, 62, 70]));
    assert_eq!(left, [100, 133, 199, 256]);
    for lpn in [128, 131, 190, 198] {
        assert_eq!(map.gmt.entry(Lpn(lpn)), Some(Some(Ppn(lpn))));
    }
    assert_eq!([133, 199].map(|lpn| map.gmt.entry(Lpn(lpn))), [Some(None); 2]);
}

/// Pages of the first two words, of a GMT page that is not in memory.
#[test]
fn pages_of_the_first_gmt_page_told_of_together_are_found_no_more() {
    let left = told(&mut empty(16), &[2, 3, 69, 70], (0, &[3, 70]));
    assert_eq!(left, [2, 69]);
}

/// One for each page that was written without anybody having looked where its old version is.
#[test]
fn blind_entries_are_counted() {
    let mut map = empty(16);
    for blind in 0..3 {
        assert_eq!(map.unresolved(), blind);
        map.enter_blindly(Lpn(blind));
    }
}

#[test]
fn trims_are_full_when_as_many_pages_are_trimmed_as_there_is_room_for() {
    let mut map = empty(3);
    for (lpn, full) in [(130, false), (131, false), (132, true)] {
        map.change(Lpn(lpn), None);
        assert_eq!(map.trims_are_full(), full, "page {lpn}");
    }
}

/// A page was written since it was trimmed, and the GMT was told of another that is written next.
#[test]
fn of_trimmed_pages_the_gmt_is_told_of_those_that_are_nowhere_and_that_it_does_not_know() {
    let mut map = empty(3);
    let [trimmed, written, told] = [130, 131, 132].map(Lpn);
    [trimmed, written, told].into_iter().for_each(|lpn| map.change(lpn, None));
    map.change(written, Some(Ppn(7)));
    map.pin(told);
    map.clean(told);
    assert_eq!([map.next_trimmed(), map.next_trimmed()], [Some(trimmed), None]);
}

/// Pages of three GMT pages in turn: every block of four of them touches three. As soon as the area
/// is full, a collection that opens another block of it has one of these converted; while a block
/// of it is not yet open, none.
#[test]
fn a_collection_that_opens_a_block_writes_the_gmt_pages_of_another() {
    let config = config(&[("lazyftl.uba_cba_blocks", "4")]);
    let mut board = Board::new(&config, 1, LazyFtl::payload_pages(&config));
    let mut lazy = LazyFtl::format(&mut board, &config, 1).expect("it is large enough");
    let mut overdue = Vec::new();
    for turn in 0..16u32 {
        let io = for_tests::page(turn % 3 * 128 + turn / 3);
        let _ = lazy.write(&mut board, &io, When::START).expect("nothing fails");
        if turn % 4 == 3 {
            overdue.push(lazy.base.map.cache.most_overdue(&lazy.base.space, BlockId(0)));
        }
    }
    assert_eq!(overdue, [0, 0, 0, 3], "of 1, 2, 3 and 4 blocks");
}
