//! What is folded, when, and what becomes of it.

use super::super::Stream;
use super::super::lines::bench_tests::{Bench, Pairs, rng};
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{Cause, Event, Level};
use ftlab_flash::units::{BlockId, PlaneId};

const PLANE: PlaneId = PlaneId(0);
const FIRST: (&str, &str) = ("slc.full", "fold_first");
const BRIM: (&str, &str) = ("slc.fold_high", "1");
const GAPS: [(&str, &str); 2] = [("gc.mode", "both"), ("slc.fold_low", "0")];

/// Twenty blocks of twelve pages, four in SLC mode, of which so many are set aside.
pub fn bench(aside: &str, more: Pairs<'_>) -> Bench {
    let part = [
        ("device.channels", "1"),
        ("device.bits_per_cell", "3"),
        ("device.pages_per_block", "12"),
        ("device.blocks_per_plane", "20"),
        ("slc.static_blocks", aside),
    ];
    Bench::new(&[&part, more].concat())
}

fn forget(bench: &mut Bench, pages: impl IntoIterator<Item = u32>) {
    pages.into_iter().for_each(|page| bench.forget(page));
    bench.audit();
}

/// Folds, blocks that were erased as they were, pages of either that were dead.
fn counts(bench: &Bench) -> (u64, u64, u64) {
    let all = [Event::SlcFolds, Event::SlcDeadBlocks, Event::SlcDeadPages];
    let [folds, blocks, pages] = all.map(|event| bench.count(event));
    (folds, blocks, pages)
}

#[test]
fn a_write_waits_for_the_fold_of_the_block_that_was_filled_first() {
    let mut bench = bench("2", &[FIRST, BRIM]);
    bench.write_all(0..8);
    assert_eq!((bench.programs(Cause::Fold), counts(&bench)), (0, (0, 0, 0)));
    bench.write_all(8..9);
    assert_eq!((bench.map.moved.as_slice(), bench.map.asked), (&[0, 1, 2, 3][..], 1));
    assert_eq!((bench.programs(Cause::Fold), counts(&bench)), (4, (1, 0, 0)));
    assert_eq!(bench.board.meter().erases_by_cause(Cause::Fold), 1);
    let levels = [Level::SlcSizePages, Level::SlcUsedPages].map(|level| bench.level(level));
    assert_eq!(levels, [Some(8), Some(8)]);
    // Two of the next one are dead by then.
    forget(&mut bench, [5, 6]);
    bench.write_all(9..13);
    assert_eq!((bench.programs(Cause::Fold), counts(&bench)), (6, (2, 0, 2)));
    bench.audit();
    bench.read_all();
}

/// Half of two blocks is one: the second is opened when the first one is folded.
#[test]
fn folds_begin_where_their_mark_says() {
    for (high, size, folded) in [("0.5", 5, 4), ("0.1", 5, 4), ("0.9", 5, 4), ("1", 8, 0)] {
        let mut bench = bench("2", &[FIRST, ("slc.fold_high", high)]);
        bench.write_all(0..size);
        assert_eq!(bench.programs(Cause::Fold), folded, "{high}");
    }
    let mut bench = bench("4", &[FIRST, ("slc.fold_high", "0.5")]);
    bench.write_all(0..8);
    assert_eq!(bench.programs(Cause::Fold), 0, "one block of two was in use");
    bench.write_all(8..9);
    assert_eq!(bench.programs(Cause::Fold), 4);
}

/// A block without a valid page is erased before any is folded, whoever is next.
#[test]
fn a_dead_block_is_erased_as_it_is() {
    for full in ["fold_first", "direct"] {
        let mut bench = bench("2", &[("slc.full", full), BRIM]);
        bench.write_all(0..8);
        // The second block dies, which is not closed yet.
        forget(&mut bench, 4..8);
        bench.write_all(8..9);
        assert_eq!((bench.programs(Cause::Fold), counts(&bench)), (0, (0, 1, 4)), "{full}");
        assert_eq!((bench.count(Event::SlcPages), bench.map.asked), (9, 0), "{full}");
        // Closed blocks are told when they die.
        forget(&mut bench, 0..4);
        bench.write_all(9..13);
        assert_eq!((bench.programs(Cause::Fold), counts(&bench)), (0, (0, 2, 8)), "{full}");
        bench.audit();
        bench.read_all();
    }
    // As long as another one may be opened nothing is erased.
    let mut bench = bench("3", &[]);
    bench.write_all(0..8);
    forget(&mut bench, 0..4);
    bench.write_all(8..9);
    assert_eq!(counts(&bench), (0, 0, 0));
    // Nothing is dead: the write goes past the cache.
    bench.write_all(9..12);
    bench.write_all(12..16);
    assert_eq!((counts(&bench), bench.count(Event::SlcFullPages)), ((0, 1, 4), 0));
    bench.write_all(16..17);
    assert_eq!((counts(&bench), bench.count(Event::SlcFullPages)), ((0, 1, 4), 1));
}

/// Three blocks of four pages, of which these are forgotten: what the next write folds.
fn folded_first(victim: &str, forgotten: &[u32]) -> Vec<u32> {
    let mut bench = bench("3", &[FIRST, BRIM, ("slc.victim", victim)]);
    bench.write_all(0..12);
    forget(&mut bench, forgotten.iter().copied());
    bench.write_all(12..13);
    bench.audit();
    bench.map.moved
}

#[test]
fn a_policy_says_which_block_is_folded() {
    assert_eq!(folded_first("fifo", &[4, 5]), [0, 1, 2, 3]);
    assert_eq!(folded_first("greedy", &[0, 4, 5]), [6, 7]);
    assert_eq!(folded_first("greedy", &[]), [0, 1, 2, 3], "the first of equals");
    assert_eq!(folded_first("cost_benefit", &[]), [0, 1, 2, 3], "the first of equals");
    // Twice as old at least, a third of the benefit by pages: the last page is just written.
    assert_eq!(folded_first("cost_benefit", &[0, 10, 11]), [1, 2, 3]);
    // As much of each, and one is half as old.
    assert_eq!(folded_first("cost_benefit", &[0, 4]), [1, 2, 3]);
    // 1 / 3 of an age of eight or nine, against one of four or five.
    assert_eq!(folded_first("cost_benefit", &[0, 4, 5]), [6, 7]);
}

/// A block that was begun goes on, though another one has less to move; what died of it since is
/// not folded.
#[test]
fn gaps_fold_a_block_piece_by_piece() {
    let pieces = ("gc.idle_pages", "2");
    let mut bench = bench("4", &[GAPS[0], GAPS[1], pieces, ("slc.victim", "greedy")]);
    bench.write_all(0..12);
    assert!(bench.idle());
    assert_eq!((bench.map.moved.as_slice(), counts(&bench)), (&[0, 1][..], (0, 0, 0)));
    bench.audit();
    forget(&mut bench, [2, 4, 5, 6]);
    assert!(bench.idle());
    assert_eq!((bench.map.moved.as_slice(), counts(&bench)), (&[0, 1, 3][..], (1, 0, 1)));
    bench.audit();
    assert!(bench.idle());
    assert_eq!((bench.map.moved.as_slice(), counts(&bench)), (&[0, 1, 3, 7][..], (2, 0, 4)));
    bench.audit();
    bench.read_all();
}

/// What is left of a block that was begun dies: it is erased, and was folded; one of which nothing
/// moved is dead. Both go before what lives.
#[test]
fn a_begun_block_that_dies_was_folded() {
    let pieces = ("gc.idle_pages", "2");
    let mut bench = bench("4", &[GAPS[0], GAPS[1], pieces]);
    bench.write_all(0..13);
    assert!(bench.idle());
    forget(&mut bench, 4..8);
    assert!(bench.idle());
    assert_eq!(counts(&bench), (0, 1, 4), "the one without a valid page");
    bench.audit();
    forget(&mut bench, [2, 3]);
    assert!(bench.idle());
    assert_eq!((bench.map.moved.as_slice(), counts(&bench)), (&[0, 1][..], (1, 1, 6)));
    bench.audit();
    assert!(bench.idle());
    assert_eq!(bench.map.moved, [0, 1, 8, 9], "another one is begun");
    bench.audit();
}

/// Of four blocks two may be full; one that is dead is erased all the same.
#[test]
fn gaps_fold_down_to_their_mark() {
    let mut bench = bench("4", &[GAPS[0], ("slc.fold_low", "0.5")]);
    bench.write_all(0..8);
    assert!(!bench.idle());
    bench.write_all(8..9);
    assert!(bench.idle());
    assert_eq!(bench.map.moved, [0, 1, 2, 3]);
    assert!(!bench.idle());
    forget(&mut bench, 4..8);
    assert!(bench.idle());
    assert_eq!((bench.map.moved.len(), counts(&bench)), (4, (1, 1, 4)));
    assert!(!bench.idle());
    bench.audit();
}

/// Where two planes have something to fold they take turns.
#[test]
fn planes_fold_in_turns() {
    let more = [GAPS[0], GAPS[1], ("gc.idle_pages", "4"), ("device.channels", "2")];
    let mut bench = bench("3", &more);
    // Pages take turns as well: even ones are of plane 0.
    bench.write_all(0..24);
    let even = |bench: &Bench| bench.map.moved.last().map(|page| page % 2);
    let mut turns = Vec::new();
    for _ in 0..4 {
        assert!(bench.idle());
        bench.audit();
        turns.push(even(&bench).expect("pages moved"));
    }
    assert_eq!(turns, [0, 1, 0, 1]);
    assert!(!bench.idle() && bench.map.moved.len() == 16, "the open blocks stay");
    // Plane 1 alone has something: it comes next though it was the last.
    bench.write_all([25, 27, 29, 31, 33]);
    assert!(bench.idle());
    assert_eq!(even(&bench), Some(1));
}

/// Nineteen dense blocks are free, and an empty frontier takes one: eighteen for the map.
#[test]
fn a_fold_fits_where_free_blocks_hold_its_pages_and_the_maps() {
    let mut bench = bench("1", &[]);
    bench.write_all(0..4);
    let fits = |bench: &mut Bench, most: u32, counted: u32| {
        let Bench { board, space, map, .. } = bench;
        (map.most, map.counted) = (most, counted);
        space.fold_fits(board, map, BlockId(0))
    };
    assert!(fits(&mut bench, 216, 217) && fits(&mut bench, 217, 216));
    assert!(!fits(&mut bench, 217, 217) && fits(&mut bench, 0, 999));
    // Without a valid page it moves nothing, and writes nothing unless its owner says so.
    forget(&mut bench, 0..4);
    assert!(fits(&mut bench, 999, 999));
    bench.map.waits = true;
    assert!(!fits(&mut bench, 229, 229) && fits(&mut bench, 228, 229));
}

/// The dense frontier has two pages left, and what else is free the map needs.
#[test]
fn where_the_next_block_does_not_fit_the_emptiest_may() {
    let mut bench = bench("3", &[]);
    bench.write_all(0..12);
    // Ten pages past the cache.
    bench.write_all(12..22);
    bench.space.close_cache(bench.board.nand(), PLANE);
    forget(&mut bench, [4, 5, 8, 9, 10]);
    let free = bench.free(0);
    assert_eq!(free, 16);
    let next = |bench: &mut Bench, most: u32, dynamic: bool| {
        let Bench { board, space, map, .. } = bench;
        (map.most, map.counted) = (most, most);
        space.fitting_victim(board, map, (PLANE, dynamic))
    };
    assert_eq!(next(&mut bench, 15 * 12, false), Some(BlockId(0)));
    assert_eq!(next(&mut bench, 16 * 12, false), Some(BlockId(2)), "one valid page");
    assert_eq!(next(&mut bench, 16 * 12 + 1, false), None);
    assert_eq!(next(&mut bench, 0, true), None, "none came from the free blocks");
    let victim = bench.space.cache_victim(bench.board.nand(), PLANE, false);
    assert_eq!(victim, Some(BlockId(0)), "by policy");
}

/// Blocks of the plane: sixteen may be the cache's, each dense block that is opened makes one less;
/// where three are free no more, two are given back, whose pages share a dense block.
#[test]
fn a_plane_that_is_short_of_blocks_gets_them_back() {
    let mut bench = bench("0", &[("slc.dynamic_share", "1")]);
    bench.write_all(0..88);
    assert_eq!((bench.count(Event::SlcPages), bench.programs(Cause::Fold)), (64, 0));
    assert_eq!(bench.free(0), 2, "twenty less sixteen less two");
    bench.write_all(88..89);
    assert_eq!(bench.map.moved, (0..8).collect::<Vec<_>>());
    assert_eq!((counts(&bench), bench.space.lent_to_cache(PLANE)), ((2, 0, 0), 14));
    bench.audit();
    bench.read_all();
}

fn shrink(bench: &mut Bench, limit: u32) {
    let Bench { board, space, map, .. } = bench;
    let _ = space.shrink_cache(board, map, (PLANE, limit), When::START).expect("it works");
    bench.audit();
}

/// The open block of the cache is given back last, and what is set aside never.
#[test]
fn an_open_block_is_given_back_last() {
    let mut bench = bench("1", &[("slc.dynamic_share", "0.15")]);
    // Of 19 free blocks, less four, 15 %: two.
    bench.write_all(0..10);
    assert_eq!((bench.space.lent_to_cache(PLANE), bench.free(0)), (2, 17));
    shrink(&mut bench, 17);
    assert_eq!(bench.map.moved, [], "enough is free");
    shrink(&mut bench, 18);
    // One is given back, but a dense one was opened; the next goes, the open one.
    assert_eq!(bench.map.moved, [4, 5, 6, 7, 8, 9]);
    assert_eq!((bench.space.lent_to_cache(PLANE), bench.free(0)), (0, 18));
    assert_eq!(bench.open_of(Stream::Slc), None);
    shrink(&mut bench, 20);
    assert_eq!(bench.map.moved.len(), 6, "what is left was set aside");
    // So is an open block that was set aside, and one that does not fit.
    let mut bench = self::bench("1", &[("slc.dynamic_share", "0.15")]);
    bench.write_all(0..2);
    shrink(&mut bench, 20);
    assert_eq!(bench.map.moved, []);
    bench.write_all(2..5);
    (bench.map.most, bench.map.counted) = (999, 999);
    shrink(&mut bench, 20);
    assert_eq!(
        (bench.map.moved.as_slice(), bench.open_of(Stream::Slc)),
        (&[][..], Some(BlockId(1)))
    );
}

/// A refusal behind the copies leaves a block that is dead now, or was before.
#[test]
fn a_fold_that_is_refused_leaves_a_dead_block() {
    for was_dead in [false, true] {
        let mut bench = bench("2", &[FIRST, BRIM]);
        bench.write_all(0..8);
        if was_dead {
            forget(&mut bench, 0..4);
        }
        bench.map.waits = true;
        let fault = Fault::DeviceFull { free_blocks: 0, candidates: 0, known: 0 };
        bench.map.refuses = Some(fault);
        assert!(bench.try_write(8).is_err());
        bench.audit();
        assert_eq!(
            (bench.map.moved.len(), counts(&bench)),
            (if was_dead { 0 } else { 4 }, (0, 0, 0))
        );
        bench.map.refuses = None;
        bench.write_all(8..9);
        assert_eq!((bench.map.moved.len(), counts(&bench).1), (if was_dead { 0 } else { 4 }, 1));
        bench.audit();
        bench.read_all();
    }
}

/// A block that is due moves as a whole, the open one too, unless that does not fit.
#[test]
fn a_block_that_is_due_is_folded_as_a_whole() {
    let mut bench = bench("2", &[]);
    bench.write_all(0..6);
    let refresh = |bench: &mut Bench, block: u32| {
        let Bench { board, space, map, .. } = bench;
        let done = space.refresh_cached(board, map, BlockId(block), When::START);
        bench.audit();
        done.expect("it works").is_some()
    };
    (bench.map.most, bench.map.counted) = (999, 999);
    assert!(!refresh(&mut bench, 0));
    (bench.map.most, bench.map.counted) = (0, 0);
    assert!(refresh(&mut bench, 0));
    assert_eq!(
        (bench.map.moved.as_slice(), bench.open_of(Stream::Slc)),
        (&[0, 1, 2, 3][..], Some(BlockId(1)))
    );
    assert!(refresh(&mut bench, 1));
    assert_eq!(
        (bench.map.moved.as_slice(), bench.open_of(Stream::Slc)),
        (&[0, 1, 2, 3, 4, 5][..], None)
    );
    assert_eq!((bench.programs(Cause::Refresh), bench.programs(Cause::Fold)), (6, 0));
    bench.read_all();
}

/// Writes in any order, gaps, failures and power cuts, for every kind of cache.
#[test]
fn whatever_the_cache_is_it_holds_what_was_written() {
    let kinds: [Pairs<'_>; 4] = [
        &[("slc.dynamic_share", "0.5"), ("device.logical_bytes", "160KiB")],
        &[FIRST, ("slc.fold_high", "0.5"), ("slc.victim", "cost_benefit")],
        &[("slc.dynamic_share", "1"), ("slc.victim", "greedy"), ("gc.idle_pages", "3")],
        &[("device.channels", "2"), ("gc.idle_pages", "1"), ("slc.path", "small")],
    ];
    for (number, kind) in kinds.into_iter().enumerate() {
        let aside = if number == 0 { "0" } else { "2" };
        let mut bench = bench(aside, &[&GAPS, kind].concat());
        let mut rng = rng();
        for _ in 0..30 {
            bench.request = 1 + rng.below(60);
            bench.board.nand_mut().faults_mut().fail_program_after(u64::from(rng.below(90)));
            bench.write_any(20, 70, &mut rng);
            (0..rng.below(4)).for_each(|_| {
                let _ = bench.idle();
                bench.audit();
            });
            if rng.below(3) == 0 {
                bench.cut();
                bench.audit();
                bench.read_all();
            }
        }
        bench.read_all();
    }
}

/// Of the blocks that came from the free ones: the other one has one valid page.
#[test]
fn a_block_that_was_set_aside_is_not_given_back_for_want_of_others() {
    let mut bench = bench("1", &[("slc.dynamic_share", "0.15")]);
    bench.write_all(0..22);
    bench.space.close_cache(bench.board.nand(), PLANE);
    // Two pages are left in the dense frontier.
    assert_eq!((bench.count(Event::SlcFullPages), bench.free(0)), (10, 16));
    forget(&mut bench, [0, 1, 2, 8, 9]);
    (bench.map.most, bench.map.counted) = (16 * 12, 16 * 12);
    let Bench { board, space, map, .. } = &mut bench;
    assert_eq!(space.fitting_victim(board, map, (PLANE, true)), Some(BlockId(2)));
    assert_eq!(space.fitting_victim(board, map, (PLANE, false)), Some(BlockId(0)));
}

/// A dense block of garbage is there, and two blocks are free: it goes before a fold takes a page.
#[test]
fn a_fold_has_garbage_collected_first_where_blocks_are_short() {
    let collected = |free: u32| {
        let mut bench = bench("2", &[FIRST, BRIM]);
        bench.write_all(0..32);
        assert_eq!(bench.programs(Cause::Fold), 24, "two dense blocks are full");
        forget(&mut bench, 0..12);
        while bench.free(0) > free {
            let _ = bench.space.planes[0].free.take();
        }
        bench.write_all(32..33);
        bench.board.meter().erases_by_cause(Cause::Gc)
    };
    assert_eq!((collected(3), collected(2)), (0, 1));
}
