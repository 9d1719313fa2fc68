//! What is written of the map, and what a write says of what it supersedes.

use super::*;
use ftlab_flash::board::nand::fault::{CutOutcome, Fault};

/// A translation page, a record of trims and a page of a checkpoint.
#[test]
fn pages_of_the_map_are_where_collection_moved_them() {
    let mut bench = Bench::<false>::new();
    let nand = bench.board.nand_mut();
    assert_eq!(bench.map.checkpoints.begin(nand, [].into_iter(), [[7]].into_iter()), 1);
    bench.map.checkpoints.written(0, Ppn(40));
    assert_eq!(bench.map.checkpoints.next_superseded(), None, "it is complete");
    let first = bench.map.checkpoints.logical(0);
    let kinds = [(PageKind::Map, 1), (PageKind::TrimRecord, 0), (PageKind::Checkpoint, first)];
    for (new, (kind, logical)) in (50..).map(Ppn).zip(kinds) {
        let (old, done) = (Ppn(40), Moment::START);
        bench.map.moved(&mut bench.board, Moved { logical, kind, old, new, done, newer: false });
    }
    assert_eq!(bench.map.translation.location(1), Some(Ppn(50)));
    assert_eq!(bench.map.trims.location(0), Some(Ppn(51)));
    assert_eq!(bench.map.checkpoints.newest_pages(), [Ppn(52)]);
}

#[test]
fn an_entry_that_is_exchanged_tells_what_it_was() {
    let mut bench = Bench::<false>::new();
    bench.map.cache.entries.insert(3, None);
    let exchanged = [30, 31].map(|ppn| bench.map.exchange(&bench.board, Lpn(3), Some(Ppn(ppn))));
    assert_eq!(exchanged, [None, Some(Ppn(30))]);
    assert_eq!(bench.map.cached(&bench.board, Lpn(3)), Some(Some(Ppn(31))));
}

/// Page 130 was on flash, in the map too, and was written again without a look-up.
#[test]
fn an_entry_that_is_written_back_alone_invalidates_what_it_supersedes() {
    let mut bench = Bench::<false>::new();
    let versions = [0, 1].map(|count| {
        let ppn = bench.write(130);
        bench.map.cache.change(Lpn(130), Some(ppn));
        if count == 1 {
            bench.map.cache.unresolved.insert(130);
        }
        let Bench { board, space, map } = &mut bench;
        let _ = map.write_back(space, board, Lpn(130), HOW, When::START).expect("has room");
        ppn
    });
    let is_valid = |ppn| bench.board.nand().state().is_valid(ppn);
    assert_eq!(versions.map(is_valid), [false, true]);
    assert_eq!(bench.on_flash(130), Some(versions[1]));
    assert_eq!(bench.map.cache.unresolved(), 0);
    assert_eq!(bench.board.meter().events(Event::DeferredInvalidations), 1);
}

/// Pages 3 and 4 of translation page 0, and 520 of page 4.
#[test]
fn every_changed_entry_is_written_back_a_translation_page_at_a_time() {
    let mut bench = Bench::<false>::new();
    [3, 4, 520].into_iter().for_each(|lpn| bench.map.cache.change(Lpn(lpn), Some(Ppn(lpn + 7))));
    let Bench { board, space, map } = &mut bench;
    let written = map.write_back_all(space, board, Cause::Recover, When::START);
    assert_ne!(written.expect("there is room"), When::START);
    assert_eq!(bench.operations(Cause::Recover), (2, 2));
    let found = [3, 4, 520].map(|lpn| bench.on_flash(lpn).map(|ppn| ppn.0));
    assert_eq!(found, [Some(10), Some(11), Some(527)]);
    assert!(bench.map.cache.changed.is_empty());
}

/// Of the eight blocks of plane 0 four are full when translation page 2 is written there: pages 6
/// and 7 are moved out of the first one, and memory holds their entries. Changed in memory alone
/// they would be left behind: translation page 0 has had its turn. Lazy copying is as before
/// afterwards.
#[test]
fn what_is_moved_while_all_is_written_back_is_written_too() {
    for lazy_copying in [false, true] {
        let mut bench = Bench::<false>::of_blocks(8);
        bench.map.lazy_copying = lazy_copying;
        for lpn in (0..8).chain(0..6).chain(8..26) {
            let new = bench.write(lpn);
            if let Some(Some(old)) = bench.map.cache.entries.insert(lpn, Some(new)) {
                bench.space.invalidate(&mut bench.board, old);
            }
        }
        let places = |bench: &Bench<false>| [6, 7].map(|lpn| bench.map.cache.entries[&lpn]);
        let old = places(&bench);
        bench.map.cache.change(Lpn(260), Some(Ppn(7)));
        let Bench { board, space, map } = &mut bench;
        assert!(map.write_back_all(space, board, Cause::Recover, When::START).is_ok());
        let new = places(&bench);
        assert!(new.iter().zip(old).all(|(&new, old)| new != old), "they were moved");
        assert!(bench.map.cache.changed.is_empty());
        assert_eq!([6, 7].map(|lpn| bench.on_flash(lpn)), new);
        assert_eq!(bench.map.lazy_copying, lazy_copying);
    }
}

/// Of one plane. Translation pages 0, 1 and 4 were written before, and 2 never was; the map's open
/// block has five pages left for six writes. Whether they go in a run or one by one nobody can tell.
#[test]
fn translation_pages_in_a_run_are_written_as_one_by_one() {
    let update = |one_by_one: bool| {
        let mut bench = Bench::<false>::of_planes("1", 100);
        for lpn in [3, 130, 520] {
            bench.map.cache.change(Lpn(lpn), Some(Ppn(lpn)));
            let Bench { board, space, map } = &mut bench;
            let _ = map.write_back(space, board, Lpn(lpn), HOW, When::START).expect("has room");
            map.cache.entries.clear();
        }
        if one_by_one {
            bench.board.nand_mut().record_mut().start();
        }
        assert_eq!(bench.board.nand().updates_runs(), !one_by_one);
        let Bench { board, space, map } = &mut bench;
        let room = space.map_run(board).map(|(_, room)| room);
        assert_eq!(room, if one_by_one { None } else { Some(5) });
        let moved = |lpns: &[u32]| lpns.iter().map(|&lpn| Pair::new(lpn, 700 + lpn)).collect();
        // One has an entry in memory, which changed with it.
        map.cache.entries.insert(131, Some(Ppn(831)));
        map.cache.changed.insert(131);
        let mut done = When::START;
        for lpns in [&[520, 4, 131, 3][..], &[260, 5, 521]] {
            map.moved = moved(lpns);
            done = map.update_moved(space, board, done).expect("there is room");
            assert!(map.moved.is_empty());
        }
        let places = map.translation.gtd().to_vec();
        let changed = map.cache.changed.len();
        let found = [3, 4, 5, 130, 131, 260, 520, 521].map(|lpn| bench.on_flash(lpn));
        let clock = bench.board.nand().clock();
        let operations = bench.operations(Cause::GcMapUpdate);
        let marks = bench.board.nand().oob_writes();
        (done, places, found, changed, clock.booked(), operations, marks)
    };
    let run = update(false);
    assert_eq!(
        run.2.map(|ppn| ppn.map_or(0, |ppn| ppn.0)),
        [703, 704, 705, 130, 831, 960, 1_220, 1_221]
    );
    // Nine writes of four pages: all but the first of each supersede a version.
    assert_eq!((run.3, run.5, run.6), (0, (6, 6), 5));
    assert_eq!(run, update(true));
}

/// Nobody reads and writes map pages in runs where there are several planes, or where time is not
/// one server's.
#[test]
fn map_pages_are_written_in_runs_on_one_plane() {
    let mut bench = Bench::<false>::of_planes("1", 100);
    assert_eq!(bench.space.map_run(&bench.board), None, "no block is open");
    for bench in [&mut bench, &mut Bench::new()] {
        bench.map.cache.change(Lpn(3), Some(Ppn(3)));
        let Bench { board, space, map } = bench;
        let _ = map.write_back(space, board, Lpn(3), HOW, When::START).expect("there is room");
        let page = map.translation.location(0).expect("it was written");
        let planes = board.geometry().planes();
        let next = (planes == 1).then_some((Ppn(page.0 + 1), 7));
        assert_eq!(space.map_run(board), next, "{planes} planes");
    }
    for lpn in 4..11 {
        bench.map.cache.change(Lpn(lpn), Some(Ppn(lpn)));
        let Bench { board, space, map } = &mut bench;
        let _ = map.write_back(space, board, Lpn(lpn), HOW, When::START).expect("there is room");
    }
    assert_eq!(bench.space.map_run(&bench.board), None, "it is full");
}

/// Pages of a run without an entry in memory are noted; an entry that memory has follows.
#[test]
fn of_a_run_pages_are_noted_whose_entries_memory_has_not() {
    let mut bench = Bench::<false>::new();
    bench.map.cache.entries.insert(4, Some(Ppn(41)));
    let kind = PageKind::Data;
    let mover = |logical: u32| Mover { old: Ppn(37 + logical), logical, kind, done: Moment::START };
    bench.map.run_moved(&mut bench.board, Ppn(80), &[3, 4, 5].map(mover));
    assert_eq!(bench.map.cache.entries[&4], Some(Ppn(81)));
    assert_eq!(bench.after_move(3), (None, vec![(3, 80), (5, 82)], 1));
    // What went astray is looked for there.
    bench.map.translation.went_astray(&mut bench.board, Lpn(5), Ppn(42));
    bench.map.run_moved(&mut bench.board, Ppn(90), &[5].map(mover));
    assert!(!bench.map.translation.has_astray());
    assert_eq!(bench.after_move(5).1, [(5, 90)]);
}

/// Of one plane, where the page was written before: at one time, or with every operation written
/// down. Page 131 was written without a look-up, and what that superseded is still valid.
#[test]
fn a_translation_page_that_is_written_anew_at_once_is_as_one_written_with_care() {
    for (unresolved, one_by_one) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut bench = Bench::<false>::of_planes("1", 100);
        let old = bench.write(131);
        for (lpn, ppn) in [(130, Ppn(7)), (131, old)] {
            bench.map.cache.change(Lpn(lpn), Some(ppn));
            let Bench { board, space, map } = &mut bench;
            let _ = map.write_back(space, board, Lpn(lpn), HOW, When::START).expect("has room");
        }
        if one_by_one {
            bench.board.nand_mut().record_mut().start();
        }
        let place = bench.map.translation.location(1).expect("it was written");
        for (lpn, ppn) in [(130, 8), (131, 9), (255, 10)] {
            bench.map.cache.change(Lpn(lpn), Some(Ppn(ppn)));
        }
        if unresolved {
            bench.map.cache.unresolved.insert(131);
        }
        let Bench { board, space, map } = &mut bench;
        let done = map.rewrite_whole_part(space, board, 1, HOW, When::START).expect("has room");
        let found = [130, 131, 132, 255].map(|lpn| bench.on_flash(lpn).map(|ppn| ppn.0));
        assert_eq!(found, [Some(8), Some(9), None, Some(10)]);
        assert!(bench.map.cache.changed.is_empty());
        assert_eq!(bench.map.translation.location(1), Some(Ppn(place.0 + 1)));
        assert!(!bench.board.nand().state().is_valid(place));
        assert_eq!(bench.board.nand().state().is_valid(old), !unresolved);
        // A read and a program each, then a program alone; the first page is read as never written.
        assert_eq!(bench.operations(Cause::Translate), (2, 3));
        assert_eq!(bench.board.nand().clock().completion(done), { 4 * 405_900 + 2 * 130_900 });
    }
}

/// A page whose write was not looked up was superseded on flash: in a run it dies when its
/// translation page is written. Without lazy copying all entries go to flash, too.
#[test]
fn in_a_run_what_was_superseded_dies_and_entries_that_memory_has_are_written() {
    let written = |one_by_one: bool| {
        let mut bench = Bench::<false>::of_planes("1", 100);
        let old = bench.write(131);
        bench.map.cache.change(Lpn(131), Some(old));
        let Bench { board, space, map } = &mut bench;
        let _ = map.write_back(space, board, Lpn(131), HOW, When::START).expect("has room");
        if one_by_one {
            bench.board.nand_mut().record_mut().start();
        }
        bench.map.lazy_copying = false;
        bench.map.cache.change(Lpn(131), Some(Ppn(90)));
        bench.map.cache.unresolved.insert(131);
        bench.map.moved = vec![Pair::new(131, 90), Pair::new(132, 91)];
        let Bench { board, space, map } = &mut bench;
        let done = map.update_moved(space, board, When::START).expect("there is room");
        assert!(!bench.board.nand().state().is_valid(old));
        assert_eq!([131, 132].map(|lpn| bench.on_flash(lpn)), [Some(Ppn(90)), Some(Ppn(91))]);
        assert_eq!(bench.map.cache.unresolved(), 0);
        (done, bench.operations(Cause::GcMapUpdate), bench.board.nand().sequence())
    };
    assert_eq!(written(false), written(true));
    assert_eq!(written(false).1, (1, 1));
}

/// What has changed of a page that is written as a whole is written with it.
#[test]
fn a_translation_page_that_is_written_anyway_says_what_has_changed() {
    let mut bench = Bench::<false>::new();
    bench.map.cache.change(Lpn(130), Some(Ppn(7)));
    let Bench { board, space, map } = &mut bench;
    let _ = map.rewrite_whole_part(space, board, 1, HOW, When::START).expect("there is room");
    assert_eq!(bench.on_flash(130), Some(Ppn(7)));
    assert!(bench.map.cache.changed.is_empty());
    assert_eq!(bench.operations(Cause::Translate), (0, 1));
}

/// Translation page 1 alone was written.
#[test]
fn a_copy_of_the_directory_says_where_translation_pages_are() {
    let mut bench = Bench::<false>::new();
    bench.map.cache.change(Lpn(130), Some(Ppn(7)));
    let Bench { board, space, map } = &mut bench;
    let _ = map.write_whole_part(space, board, 1, HOW, When::START).expect("there is room");
    let at = map.translation.location(1).expect("it was written").0;
    let open: Vec<u32> = space.open_blocks().map(|block| block.0).collect();
    let saved = map.save_directory(space, board, When::START).expect("there is room");
    assert_ne!(saved, When::START);
    let [page] = bench.map.checkpoints.newest_pages()[..] else { panic!("one page is enough") };
    let words = bench.board.nand().payload(page);
    // Sequence (2), pages, length of the body: how many blocks are open and which, the directory.
    let header = [1, 2 + 5, 1, open[0]];
    assert_eq!((open.len(), &words[2..6]), (1, &header[..]));
    assert_eq!(words[6..11], [0, at + 1, 0, 0, 0]);
}

/// The power goes with its page, which is on flash or is not.
#[test]
fn of_a_copy_that_fails_no_words_are_kept_but_those_on_flash() {
    for (outcome, kept) in [(CutOutcome::Undone, 0), (CutOutcome::Done, 1)] {
        let mut bench = Bench::<false>::new();
        let Bench { board, space, map } = &mut bench;
        let before = board.nand().payload_pages();
        board.nand_mut().faults_mut().cut_power_after(0, outcome);
        let saved = map.save_directory(space, board, When::START);
        assert_eq!(saved, Err(Fault::PowerCut));
        assert_eq!(board.nand().payload_pages(), before + kept);
    }
}

/// Of the second copy a page was written before there was no room for the next one.
#[test]
fn a_copy_that_was_never_completed_goes_with_the_one_before_it() {
    let mut bench = Bench::<false>::new();
    let save = |bench: &mut Bench<false>| {
        let Bench { board, space, map } = bench;
        let _ = map.save_directory(space, board, When::START).expect("there is room");
        let [page] = map.checkpoints.newest_pages()[..] else { panic!("one page is enough") };
        page
    };
    let first = save(&mut bench);
    let unfinished = bench.write(3);
    let nand = bench.board.nand_mut();
    assert_eq!(bench.map.checkpoints.begin(nand, [].into_iter(), [[7; 200]].into_iter()), 2);
    bench.map.checkpoints.written(0, unfinished);
    bench.map.checkpoints.give_up(bench.board.nand_mut());
    assert_eq!(bench.map.checkpoints.newest_pages(), [first]);
    let last = save(&mut bench);
    let is_valid = |ppn| bench.board.nand().state().is_valid(ppn);
    assert_eq!([first, unfinished, last].map(is_valid), [false, false, true]);
    assert_eq!(bench.board.meter().events(Event::Checkpoints), 2);
}

#[test]
fn a_record_of_trims_replaces_the_one_before() {
    let mut bench = Bench::<false>::new();
    let records = [(3, 1 << 3), (4, 1 << 3 | 1 << 4)].map(|(lpn, bits)| {
        bench.map.trims.trim(Lpn(lpn));
        let before = bench.board.nand().sequence() as u32;
        let Bench { board, space, map } = &mut bench;
        let done = map.record_trims(space, board, When::START).expect("there is room");
        assert_ne!(done, When::START);
        assert_eq!(map.trims.next_pending(), None);
        let record = map.trims.location(0).expect("it was recorded");
        // As of the program before it, in two words; then the pages' bits.
        assert_eq!(bench.board.nand().payload(record)[..4], [before, 0, bits, 0]);
        record
    });
    let is_valid = |ppn| bench.board.nand().state().is_valid(ppn);
    assert_eq!(records.map(is_valid), [false, true]);
}
