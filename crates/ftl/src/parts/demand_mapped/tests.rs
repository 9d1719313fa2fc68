//! What leaves a map cache, what a power cut leaves of it, and what settings make of a device.

mod requests;

use super::*;
use crate::parts::cmt::CachePolicyKind;
use ftlab_flash::request::RequestShape;
use ftlab_flash::settings::Groups as _;

const NEEDS: Needs = Needs { threshold: 5, checkpoint_words: 0, stale_pages: 0 };

/// 600 logical pages of blocks of eight: five translation pages of 128 entries.
fn settings(pairs: &[(&str, &str)]) -> SharedSettings {
    let mut config = SharedSettings::default();
    let common = [("device.pages_per_block", "8"), ("device.page_bytes", "512")];
    for (key, value) in common.iter().chain(pairs) {
        config.set(key, value).expect("legal");
    }
    let bytes = 600 * config.device.page_bytes.0;
    config.device.set_capacity(bytes, 0);
    config.device.blocks_per_plane = 200;
    config
}

fn cache() -> Cmt {
    Cmt::new(CachePolicyKind::Lru, 600, 8, 0.5)
}

fn device(config: &SharedSettings) -> (Board, DemandMapped<Cmt>) {
    let board = Board::new(config, 1, 256);
    let base = DemandMapped::new(&board, config, &NEEDS, cache(), 1);
    (board, base)
}

fn io(lpn: u32, sectors: u64) -> PageIo {
    let request = RequestShape { first_lpn: Lpn(lpn), pages: 1, index: 0, sectors: 1, hint: None };
    PageIo { lpn: Lpn(lpn), sectors, cause: Cause::Host, data: Tag(1), request }
}

/// Changes entries as if their pages had been written, each 500 behind its number.
fn change(base: &mut DemandMapped<Cmt>, lpns: &[u32]) {
    for &lpn in lpns {
        base.map.cache.insert(Lpn(lpn), None, When::START);
        MapCache::change(&mut base.map.cache, Lpn(lpn), Some(Ppn(500 + lpn)));
    }
}

fn on_flash<const N: usize>(base: &DemandMapped<Cmt>, board: &Board, lpns: [u32; N]) -> [u32; N] {
    lpns.map(|lpn| base.map.translation.entry(board, Lpn(lpn)).map_or(0, |ppn| ppn.0))
}

/// Clean and changed ones that left, and those that were written with another.
fn left(board: &Board) -> [u64; 3] {
    [Event::EvictClean, Event::EvictDirty, Event::BatchedEvictions]
        .map(|event| board.meter().events(event))
}

#[test]
fn settings_say_what_a_write_must_know_and_whether_trims_are_recorded() {
    for (partial, keeps) in [("rmw", true), ("whole_page", false)] {
        let config = settings(&[("device.page_bytes", "1024"), ("io.partial_write", partial)]);
        let (_, base) = device(&config);
        assert_eq!(base.needs_old(&io(3, 0b01)), keeps, "{partial}: one sector of two");
        assert!(!base.needs_old(&io(3, 0b11)), "{partial}: all of them");
    }
    for (nonvolatile, records) in [("true", false), ("false", true)] {
        let (_, base) = device(&settings(&[("device.ram_nonvolatile", nonvolatile)]));
        assert_eq!(base.records_trims, records, "what memory keeps need not be on flash");
    }
}

#[test]
fn a_changed_entry_leaves_with_those_that_go_along() {
    let (mut board, mut base) = device(&settings(&[]));
    change(&mut base, &[130, 131, 132, 133]);
    let evict = |base: &mut DemandMapped<Cmt>, board: &mut Board, lpn, along| {
        let slot = base.map.cache.find(Lpn(lpn)).expect("it is cached");
        let _ = base.evict_along(board, slot, along, When::START).expect("there is room");
        assert_eq!(base.map.cache.find(Lpn(lpn)), None);
    };
    let these = [130, 131].map(Lpn);
    evict(&mut base, &mut board, 130, Along::These(&these));
    assert_eq!(on_flash(&base, &board, [130, 131, 132, 133]), [630, 631, 0, 0]);
    assert_eq!(left(&board), [0, 1, 1]);
    evict(&mut base, &mut board, 131, Along::These(&[]));
    assert_eq!(left(&board), [1, 1, 1], "flash says it");
    evict(&mut base, &mut board, 132, Along::These(&[Lpn(132)]));
    assert_eq!(on_flash(&base, &board, [130, 131, 132, 133]), [630, 631, 632, 0]);
    assert_eq!(left(&board), [1, 2, 1], "by itself");
}

#[test]
fn a_translation_page_leaves_as_one_with_all_but_the_first_beside_it() {
    let (mut board, mut base) = device(&settings(&[]));
    let _ = base.leave_whole_part(&mut board, (1, false), When::START).expect("there is room");
    assert_eq!(left(&board), [1, 0, 0], "nothing of it has changed");
    assert_eq!(board.meter().programs(Cause::Translate), 0);
    change(&mut base, &[130, 131, 132]);
    let _ = base.leave_whole_part(&mut board, (1, true), When::START).expect("there is room");
    assert_eq!(left(&board), [1, 1, 2]);
    assert_eq!(on_flash(&base, &board, [130, 131, 132]), [630, 631, 632]);
    assert_eq!(board.meter().programs(Cause::Translate), 1);
}

#[test]
fn a_map_that_is_written_to_begin_with_has_every_translation_page() {
    let (mut board, mut base) = device(&settings(&[]));
    base.write_initial_map(&mut board).expect("there is room");
    let found = [0, 1, 2, 3, 4].map(|part| base.map.translation.location(part).is_some());
    assert_eq!((found, base.map.translation.gtd().len()), ([true; 5], 5));
    assert_eq!(board.meter().programs(Cause::Translate), 5);
}

/// Page 130 was written, and flash says so by the page alone; of page 131 memory knows that it is
/// nowhere. Memory that keeps everything keeps both entries, else the first is found again.
#[test]
fn a_cache_outlives_a_power_cut_where_memory_does() {
    for (nonvolatile, kept) in [("true", Some(None)), ("false", None)] {
        let config = settings(&[("device.ram_nonvolatile", nonvolatile)]);
        let (mut board, mut base) = device(&config);
        for lpn in [130, 131] {
            base.map.cache.insert(Lpn(lpn), None, When::START);
        }
        let _ = base.write(&mut board, &io(130, 1), When::START).expect("there is room");
        let Location::Flash(page) = base.locate(&board, Lpn(130)) else { panic!("written") };
        let kept_map = base.keep();
        board.nand_mut().cut_power();
        board.power_on();
        let recovered =
            kept_map.recover(&mut board, &config, (&NEEDS, 1), (8, cache()), When::START);
        let (base, _) = recovered.expect("nothing fails");
        let cache = &base.map.cache;
        assert_eq!(MapCache::entry(cache, Lpn(130)), Some(Some(page)), "{nonvolatile}");
        assert_eq!(MapCache::entry(cache, Lpn(131)), kept, "{nonvolatile}");
    }
}

/// A checkpoint names every open block: with 64 planes, one for data and one for the map in each,
/// those 128 take a second page of 124 words.
#[test]
fn a_checkpoint_has_room_for_the_open_blocks_of_every_plane() {
    let config = settings(&[("device.channels", "8"), ("device.dies", "8")]);
    let (mut board, mut base) = device(&config);
    assert_eq!(board.geometry().planes(), 64);
    for plane in (0..64).map(PlaneId) {
        let place = (plane, Stream::Data);
        let what = (&io(plane.0, 1), PageKind::Data, None);
        let _ = base.space.write(&mut board, place, what, When::START).expect("there is room");
        let how = MapWrite { plane, cause: Cause::Translate };
        let DemandMapped { space, map, .. } = &mut base;
        let written = map.translation.write(space, &mut board, plane.0 % 5, &[], how, When::START);
        let _ = written.expect("there is room");
    }
    let DemandMapped { space, map, .. } = &mut base;
    let _ = map.save_changed_entries(space, &mut board, When::START).expect("there is room");
    assert_eq!(map.checkpoints.newest_pages().len(), 2);
}
