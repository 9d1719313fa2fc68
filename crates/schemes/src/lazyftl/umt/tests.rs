use super::*;
use crate::lazyftl::LazyFtl;
use crate::lazyftl::settings::Config;
use ftlab_flash::meter::Cause;
use ftlab_flash::request::{PageIo, RequestShape};
use ftlab_flash::settings::Groups as _;
use ftlab_flash::units::Tag;
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

/// Flag by flag: what the GMT is told of is followed by the GMT page in memory, and found no more
/// by those who look for what it must be told. A page that lies nowhere needs no entry then, but for
/// the one that is being written.
#[test]
fn what_the_gmt_is_told_of_its_page_in_memory_follows() {
    let geometry = Geometry::new(&config(&[]).device);
    let sizes = Sizes { area: 2, cold: None, entries: 64, trimmed: 16, gmt_pages: 2 };
    let board = Board::new(&config(&[]), 1, 0);
    let mut map = LazyMap::new(&geometry, sizes);
    map.load_gmt(&board, &Translation::new(&geometry), 1, When::START);
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

/// Pages of three words of marks: those that the GMT is told of are found no more, the others are.
#[test]
fn of_pages_that_the_gmt_is_told_of_together_the_others_stay_to_be_told() {
    let sizes = Sizes { area: 2, cold: None, entries: 64, trimmed: 16, gmt_pages: 2 };
    let geometry = Geometry::new(&config(&[]).device);
    let board = Board::new(&config(&[]), 1, 0);
    let mut map = LazyMap::new(&geometry, sizes);
    assert_eq!([0, 1].map(|part| map.held(part)), [None; 2]);
    map.load_gmt(&board, &Translation::new(&geometry), 1, When::START);
    assert_eq!([0, 1].map(|part| map.held(part)), [None, Some(When::START)]);
    let pages = [100, 128, 131, 133, 190, 198, 199, 256];
    pages.iter().for_each(|&lpn| map.change(Lpn(lpn), Some(Ppn(lpn))));
    map.clean_places(Lpn(128), [0, 3, 62, 70].into_iter());
    let mut left = Vec::new();
    map.each_dirty(0..400, |lpn, ppn, _| left.push((lpn.0, ppn)));
    assert_eq!(left, [100, 133, 199, 256].map(|lpn| (lpn, Some(Ppn(lpn)))));
    assert_eq!(map.gmt.entry(Lpn(198)), Some(Some(Ppn(198))));
}

/// One for each page that was written without anybody having looked where its old version is.
#[test]
fn blind_entries_are_counted() {
    let sizes = Sizes { area: 2, cold: None, entries: 64, trimmed: 16, gmt_pages: 2 };
    let mut map = LazyMap::new(&Geometry::new(&config(&[]).device), sizes);
    for blind in 0..3 {
        assert_eq!(map.unresolved(), blind);
        map.enter_blindly(Lpn(blind));
    }
}

/// A page was written since it was trimmed, and the GMT was told of another that is written next.
#[test]
fn of_trimmed_pages_the_gmt_is_told_of_those_that_are_nowhere_and_that_it_does_not_know() {
    let sizes = Sizes { area: 2, cold: None, entries: 64, trimmed: 3, gmt_pages: 2 };
    let mut map = LazyMap::new(&Geometry::new(&config(&[]).device), sizes);
    let [trimmed, written, told] = [130, 131, 132].map(Lpn);
    for (lpn, full) in [(trimmed, false), (written, false), (told, true)] {
        map.change(lpn, None);
        assert_eq!(map.trims_are_full(), full);
    }
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
        let lpn = Lpn(turn % 3 * 128 + turn / 3);
        let request = RequestShape { first_lpn: lpn, pages: 1, index: 0, sectors: 1, hint: None };
        let io = PageIo { lpn, sectors: 1, cause: Cause::Host, data: Tag(1), request };
        let _ = lazy.write(&mut board, &io, When::START).expect("nothing fails");
        if turn % 4 == 3 {
            overdue.push(lazy.base.map.cache.most_overdue(&lazy.base.space, BlockId(0)));
        }
    }
    assert_eq!(overdue, [0, 0, 0, 3], "of 1, 2, 3 and 4 blocks");
}
