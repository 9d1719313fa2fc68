//! What the host may do with a page, single entries that enter and leave the cache, and what is
//! written of the map.

use super::*;
use crate::parts::log_bench_tests::is_not_before;

/// Page 130 is cached, as nowhere.
fn cached(pairs: &[(&str, &str)]) -> (Board, DemandMapped<Cmt>) {
    let (board, mut base) = device(&settings(pairs));
    base.map.cache.insert(Lpn(130), None, When::START);
    (board, base)
}

/// The host writes a page that is cached: where it is then.
fn write(base: &mut DemandMapped<Cmt>, board: &mut Board, lpn: u32) -> Ppn {
    write_version(base, board, lpn, 1)
}

/// The same with these data.
fn write_version(base: &mut DemandMapped<Cmt>, board: &mut Board, lpn: u32, data: u32) -> Ppn {
    let io = PageIo { data: Tag(data), ..io(lpn, 1) };
    assert!(base.write(board, &io, When::START).is_ok());
    match base.locate(board, Lpn(lpn)) {
        Location::Flash(ppn) => ppn,
        other => panic!("{other:?}"),
    }
}

fn pending(base: &DemandMapped<Cmt>) -> bool {
    base.map.trims.next_pending().is_some()
}

/// Reads and programs for the map's sake.
fn translations(board: &Board) -> (u64, u64) {
    (board.meter().reads(Cause::Translate), board.meter().programs(Cause::Translate))
}

#[test]
fn a_page_reads_as_it_was_written_and_supersedes_what_it_was() {
    let (mut board, mut base) = cached(&[]);
    let (_, data) = base.read(&mut board, &io(130, 1), When::START).expect("nothing fails");
    assert_eq!(data, Tag(0), "it was never written");
    let versions = [8, 9].map(|data| write_version(&mut base, &mut board, 130, data));
    let is_valid = |ppn| board.nand().state().is_valid(ppn);
    assert_eq!(versions.map(is_valid), [false, true]);
    let (done, data) = base.read(&mut board, &io(130, 1), When::START).expect("nothing fails");
    assert_eq!(data, Tag(9));
    assert_ne!(done, When::START, "a read takes its time");
}

/// A page that was written behind its trim must not be called trimmed by the record of that.
#[test]
fn a_trimmed_page_is_nowhere_until_it_is_written_again() {
    let (mut board, mut base) = cached(&[]);
    let old = write(&mut base, &mut board, 130);
    assert_eq!(base.trim(&mut board, Lpn(130), When::START), Ok(When::START));
    assert!(matches!(base.locate(&board, Lpn(130)), Location::Nowhere));
    assert!(!board.nand().state().is_valid(old));
    assert_eq!(base.map.trims.unrecorded().collect::<Vec<_>>(), [Lpn(130)]);
    let _ = write(&mut base, &mut board, 130);
    assert_eq!(base.map.trims.unrecorded().count(), 0);
}

/// The version on flash, which the write did not look up, is found for the trim's sake.
#[test]
fn what_a_write_without_look_up_superseded_dies_with_the_trim() {
    let (mut board, mut base) = cached(&[]);
    let old = write(&mut base, &mut board, 130);
    let _ = base.clean_map(&mut board, When::START).expect("there is room");
    let slot = base.map.cache.find(Lpn(130)).expect("it is cached");
    base.map.cache.remove(slot);
    let slot = base.map.cache.insert(Lpn(130), None, When::START);
    base.map.cache.set_unresolved(slot, true);
    let new = write(&mut base, &mut board, 130);
    let is_valid = |board: &Board, ppn| board.nand().state().is_valid(ppn);
    assert_eq!([old, new].map(|ppn| is_valid(&board, ppn)), [true, true]);
    let done = base.trim(&mut board, Lpn(130), When::START).expect("there is room");
    assert_ne!(done, When::START);
    assert_eq!([old, new].map(|ppn| is_valid(&board, ppn)), [false, false]);
}

#[test]
fn trims_are_recorded_where_memory_does_not_keep_them() {
    for (nonvolatile, records) in [("false", 1), ("true", 0)] {
        let (mut board, mut base) = cached(&[("device.ram_nonvolatile", nonvolatile)]);
        let _ = write(&mut base, &mut board, 130);
        assert_eq!(base.flush(&mut board, When::START), Ok(When::START), "nothing was trimmed");
        assert!(base.trim(&mut board, Lpn(130), When::START).is_ok());
        let done = base.flush(&mut board, When::START).expect("there is room");
        assert_eq!(done != When::START, records == 1);
        assert_eq!(board.meter().programs(Cause::Trim), records, "{nonvolatile}");
        assert_eq!(pending(&base), records == 0);
    }
}

/// Pages 130 and 131 of translation page 1 and 300 of page 2.
#[test]
fn a_map_is_clean_when_every_changed_entry_is_on_flash() {
    let (mut board, mut base) = device(&settings(&[]));
    change(&mut base, &[130, 131, 300]);
    assert_eq!(base.changed_entries(), 3);
    let done = base.clean_map(&mut board, When::START).expect("there is room");
    assert_ne!(done, When::START);
    assert_eq!((base.changed_entries(), translations(&board)), (0, (2, 2)));
    assert_eq!(on_flash(&base, &board, [130, 131, 300]), [630, 631, 800]);
}

#[test]
fn a_translation_page_is_loaded_by_a_read() {
    let (mut board, base) = device(&settings(&[]));
    let done = base.load(&mut board, 1, When::START).expect("nothing fails");
    assert_ne!(done, When::START);
    assert_eq!(translations(&board), (1, 0));
}

#[test]
fn the_changed_entries_of_a_translation_page_are_written_at_once() {
    let (mut board, mut base) = device(&settings(&[]));
    change(&mut base, &[130, 131, 300]);
    let cause = Cause::Translate;
    let (done, count) =
        base.write_back_part(&mut board, 1, cause, When::START).expect("there is room");
    assert_ne!(done, When::START);
    assert_eq!((count, base.changed_entries(), translations(&board)), (2, 1, (1, 1)));
    assert_eq!(on_flash(&base, &board, [130, 131, 300]), [630, 631, 0]);
}

#[test]
fn a_changed_entry_leaves_with_all_of_its_translation_page() {
    let (mut board, mut base) = device(&settings(&[]));
    change(&mut base, &[130, 131, 132]);
    let done = base.leave_with_part(&mut board, Lpn(131), When::START).expect("there is room");
    assert_ne!(done, When::START);
    assert_eq!((left(&board), base.changed_entries()), ([0, 1, 2], 0));
    assert_eq!(on_flash(&base, &board, [130, 131, 132]), [630, 631, 632]);
}

#[test]
fn a_translation_page_is_written_as_a_whole_whether_it_has_changed_or_not() {
    let (mut board, mut base) = device(&settings(&[]));
    for programs in [1, 2] {
        let cause = Cause::Translate;
        let done = base.rewrite_whole_part(&mut board, 1, cause, When::START);
        assert_ne!(done.expect("there is room"), When::START);
        assert_eq!(translations(&board), (0, programs));
        change(&mut base, &[128 + programs as u32]);
    }
    assert_eq!(on_flash(&base, &board, [129, 130]), [629, 0], "the second came behind both");
}

/// Flash says where pages 130 and 132 are. They were written again, and page 131 for the first
/// time, 130 and 131 without a look-up: of these the version on flash counts as valid still.
#[test]
fn superseded_pages_count_as_valid_where_a_write_did_not_look_them_up() {
    let (mut board, mut base) = device(&settings(&[]));
    change(&mut base, &[130, 132]);
    let _ = base.clean_map(&mut board, When::START).expect("there is room");
    change(&mut base, &[131]);
    for lpn in [130, 132] {
        MapCache::change(&mut base.map.cache, Lpn(lpn), Some(Ppn(900 + lpn)));
    }
    assert_eq!(base.unsettled(&board), Unsettled::default(), "all were looked up");
    for lpn in [130, 131] {
        let slot = base.map.cache.find(Lpn(lpn)).expect("it is cached");
        base.map.cache.set_unresolved(slot, true);
    }
    assert_eq!(base.unsettled(&board), Unsettled { stale_pages: 1, ..Unsettled::default() });
}

#[test]
fn an_entry_that_is_looked_up_is_used_and_known_when_it_was_loaded() {
    let (mut board, mut base) = device(&settings(&[]));
    change(&mut base, &[130]);
    let _ = base.clean_map(&mut board, When::START).expect("there is room");
    let slot = base.map.cache.find(Lpn(130)).expect("it is cached");
    base.map.cache.remove(slot);
    assert_eq!(base.look_up(&mut board, Lpn(130), When::START), None);
    let before = translations(&board).0;
    let loaded = base.fetch(&mut board, Lpn(130), When::START).expect("nothing fails");
    assert_ne!(loaded, When::START);
    assert_eq!(translations(&board).0, before + 1);
    assert_eq!(MapCache::entry(&base.map.cache, Lpn(130)), Some(Some(Ppn(630))));
    base.map.cache.insert(Lpn(131), None, When::START);
    let oldest = |base: &DemandMapped<Cmt>| base.map.cache.lpn(base.map.cache.victim());
    assert_eq!(oldest(&base), Lpn(130));
    let known = base.look_up(&mut board, Lpn(130), When::START).expect("it is cached");
    assert!(is_not_before(known, loaded), "not before it was loaded");
    assert_eq!(oldest(&base), Lpn(131), "a look-up is a use");
    let count = |event| board.meter().events(event);
    assert_eq!((count(Event::MapLookups), count(Event::MapHits)), (2, 1));
}

/// Entries 130 and 131 of one translation page have changed: 130 leaves, alone or with the other.
#[test]
fn an_entry_that_leaves_is_on_flash_with_or_without_the_others() {
    for (batch, other) in [(false, 0), (true, 631)] {
        let (mut board, mut base) = device(&settings(&[]));
        change(&mut base, &[130, 131]);
        let slot = base.map.cache.find(Lpn(130)).expect("it is cached");
        let done = base.evict(&mut board, slot, batch, When::START).expect("there is room");
        assert_ne!(done, When::START);
        assert_eq!(on_flash(&base, &board, [130, 131]), [630, other], "batch: {batch}");
        assert_eq!(base.map.cache.find(Lpn(130)), None);
        assert_eq!(left(&board), [0, 1, u64::from(batch)]);
    }
}

/// Idle time collects a block with nothing but garbage in it. Free blocks are short below a
/// thousand times the threshold, which are all 200; below twice the threshold those two are not.
#[test]
fn a_gap_collects_when_there_is_something_to_collect() {
    let (mut board, mut base) = cached(&[("gc.mode", "both"), ("gc.idle_factor", "1000")]);
    assert_eq!(base.idle(&mut board, When::START), Ok(None), "the device is empty");
    (0..9).for_each(|_| {
        let _ = write(&mut base, &mut board, 130);
    });
    let step = base.idle(&mut board, When::START).expect("nothing fails");
    assert!(step.is_some_and(|done| done != When::START));
    assert_eq!(board.meter().total_erases(), 1);
}

/// The page is in the second block; all that is in the first one is garbage, which collection would
/// take, and nobody reads it.
#[test]
fn a_block_that_was_read_twice_the_limit_of_two_is_moved_at_once() {
    let (mut board, mut base) = cached(&[("refresh.reads", "2"), ("gc.mode", "both")]);
    let pages = [0; 9].map(|_| write(&mut base, &mut board, 130));
    let [first, .., last] = pages.map(|ppn| board.geometry().block_of(ppn));
    assert_ne!(first, last);
    for reads in 0..4 {
        let step = base.refresh_at_once(&mut board, When::START);
        assert_eq!(step, Ok(None), "after {reads} reads");
        assert!(base.read(&mut board, &io(130, 1), When::START).is_ok());
    }
    let step = base.refresh_at_once(&mut board, When::START).expect("nothing fails");
    assert!(step.is_some_and(|done| done != When::START));
    let Location::Flash(moved) = base.locate(&board, Lpn(130)) else { panic!("it was written") };
    assert_ne!(board.geometry().block_of(moved), last);
    assert_eq!(board.meter().programs(Cause::Refresh), 1);
    let erases = [first, last].map(|block| board.nand().state().block(block).erases);
    assert_eq!(erases, [0, 1]);
}
