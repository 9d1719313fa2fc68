//! Dies and pages that fail, and how what they held comes elsewhere.

use super::bench_tests::{Bench, rng};
use super::{ALL, Stream};
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{Cause, Event, Level};
use ftlab_flash::units::{BlockId, PlaneId, Ppn};

const STRIPE: (&str, &str) = ("rain.stripe", "4");
const LAST: (&str, &str) = ("rain.rotate", "false");

/// Sixteen lines of four dies, with twelve pages of data each.
fn bench(more: &[(&str, &str)]) -> Bench {
    Bench::of_lines(&[&[STRIPE, LAST, ("device.blocks_per_plane", "16")], more].concat())
}

/// A die fails, and is asked for a page.
fn fail_die(bench: &mut Bench, die: u32) {
    bench.board.nand_mut().faults_mut().fail_die_after(die, 0);
}

fn on_die(bench: &Bench, die: u32) -> usize {
    let die_of = |page: &Ppn| bench.board.geometry().die_of(bench.board.geometry().plane_of(*page));
    bench.map.pages.iter().flatten().filter(|page| die_of(page) == die).count()
}

/// All of it moves, so many pages before each that is written; behind that nothing is left to do.
#[test]
fn a_die_that_failed_is_rebuilt_a_few_pages_a_write() {
    let mut bench = bench(&[("rain.rebuild_pages", "3")]);
    bench.write_all(0..36);
    assert_eq!(on_die(&bench, 0), 12);
    fail_die(&mut bench, 0);
    // It is found out by the program that fails there.
    bench.write_all(36..37);
    assert_eq!(bench.board.nand().known_failed_die(), Some(0));
    bench.audit();
    bench.write_all(37..38);
    bench.read_all();
    assert_eq!((on_die(&bench, 0), bench.programs(Cause::Rebuild)), (9, 3));
    assert_eq!(bench.level(Level::LinesToRebuild), Some(16), "none is done");
    bench.audit();
    bench.write_all(38..39);
    assert_eq!(on_die(&bench, 0), 6);
    assert_eq!(bench.level(Level::LinesToRebuild), Some(15), "four were of the first one");
    for page in 39..48 {
        bench.write_all([page]);
        bench.audit();
    }
    assert_eq!((on_die(&bench, 0), bench.programs(Cause::Rebuild)), (0, 12));
    assert_eq!(bench.level(Level::LinesToRebuild), Some(0));
    bench.read_all();
    // Three blocks of a line work, of which one takes parity.
    let room = |line| bench.space.lines.as_ref().expect("lines").book.room(BlockId(line));
    assert!((0..16).all(|line| room(line) == 8), "two pages of four rows");
}

/// In gaps too, until there is nothing to do.
#[test]
fn gaps_rebuild_as_many() {
    let mut bench = bench(&[("rain.rebuild_pages", "5")]);
    bench.write_all(0..24);
    fail_die(&mut bench, 1);
    bench.write_all(24..26);
    let before = on_die(&bench, 1);
    assert_eq!(before, 8 - bench.programs(Cause::Rebuild) as usize);
    let mut steps = 0;
    while bench.idle() {
        bench.audit();
        steps += 1;
        assert!(steps < 10, "there is an end");
    }
    assert_eq!((on_die(&bench, 1), steps), (0, before.div_ceil(5)));
    bench.read_all();
}

/// A page that fails is moved before the next one is written, alone.
#[test]
fn a_page_that_failed_moves_alone() {
    let mut bench = bench(&[]);
    bench.write_all(0..12);
    let old = bench.map.pages[4].expect("it was written");
    bench.board.nand_mut().faults_mut().fail_read_after(0);
    let _ = bench.board.read(old, Cause::Host, When::START).expect("its stripe says it");
    assert!(bench.board.nand().has_failing());
    bench.write_all(12..13);
    assert_eq!(bench.programs(Cause::Rebuild), 1);
    assert_ne!(bench.map.pages[4], Some(old));
    assert_eq!((bench.map.moved.as_slice(), bench.map.asked), (&[4][..], 1), "the map is told");
    bench.audit();
    bench.read_all();
    assert_eq!(bench.count(Event::LostPages), 0);
}

/// Several that failed: as many a write as `rain.rebuild_pages` says.
#[test]
fn pages_that_failed_move_a_few_a_write() {
    let mut bench = bench(&[("rain.rebuild_pages", "2")]);
    bench.write_all(0..12);
    // Of three stripes.
    for page in [0, 4, 8] {
        bench.board.nand_mut().faults_mut().fail_read_after(0);
        let place = bench.map.pages[page].expect("it was written");
        let _ = bench.board.read(place, Cause::Host, When::START).expect("its stripe says it");
    }
    bench.write_all(12..13);
    assert_eq!(bench.programs(Cause::Rebuild), 2);
    bench.write_all(13..14);
    assert_eq!(bench.programs(Cause::Rebuild), 3);
    assert!(!bench.idle());
    bench.audit();
    bench.read_all();
}

/// Map pages too, and nobody is asked for the map's sake.
#[test]
fn map_pages_of_a_failed_die_move_to_the_maps_line() {
    let mut bench = bench(&[]);
    (0..12).for_each(|part| {
        let _ = bench.write_map(part);
    });
    bench.write_all(0..12);
    fail_die(&mut bench, 2);
    bench.write_all(12..20);
    bench.audit();
    let geometry = bench.board.geometry();
    let die = |page: &Ppn| geometry.die_of(geometry.plane_of(*page));
    assert!(bench.map.parts.iter().flatten().all(|page| die(page) != 2));
    bench.read_all();
}

/// A stripe that stands open when a die fails goes on in the blocks that are left, and free lines
/// that have no room any more are none.
#[test]
fn an_open_line_goes_on_without_the_die() {
    for die in 0..4 {
        let mut bench = bench(&[]);
        bench.write_all(0..14);
        fail_die(&mut bench, die);
        bench.write_all(14..60);
        bench.audit();
        bench.read_all();
        assert_eq!(bench.board.nand().known_failed_die(), Some(die));
        assert_eq!(on_die(&bench, die), 0, "die {die}");
    }
}

/// Stripes of two dies, one of which failed, take no data: no line that is free is one any more.
#[test]
fn lines_without_room_are_out_of_use() {
    let pairs = [STRIPE, ("device.channels", "2"), ("device.logical_bytes", "48KiB")];
    let mut bench = Bench::of_lines(&[&pairs[..], &[("rain.stripe", "2")]].concat());
    bench.write_all(0..1);
    // The data of the second row is on the other die, its parity finds the failure out.
    fail_die(&mut bench, 0);
    bench.write_all(1..2);
    assert_eq!((bench.free(0), bench.board.nand().known_failed_die()), (11, Some(0)));
    assert!(bench.try_write(2).is_err(), "no line takes a page");
    assert_eq!(bench.free(0), 0);
    assert_eq!(bench.space.planes[ALL.index()].retired, 11, "all but the one in use");
}

/// Free lines that are measured anew are taken in the order in which they would have been.
#[test]
fn the_order_of_free_lines_outlives_a_die() {
    for order in ["fifo", "lifo", "min_erase"] {
        let mut bench = bench(&[("alloc.policy", order)]);
        bench.write_all((0..12).cycle().take(6 * 12));
        for line in [4, 1, 3] {
            let Bench { board, space, map, .. } = &mut bench;
            let _ = space.collect(board, map, BlockId(line), When::START).expect("it is dead");
        }
        let next = |bench: &Bench| {
            let mut pool = bench.space.planes[0].free.clone();
            std::iter::from_fn(|| pool.take()).collect::<Vec<_>>()
        };
        let before = next(&bench);
        assert_eq!(before.len(), 13, "{order}");
        bench.space.measure_free_lines(bench.board.nand());
        // The least worn first: the ten that were never erased.
        let turned = if order == "min_erase" { 3 } else { 0 };
        let expected = [&before[turned..], &before[..turned]].concat();
        assert_eq!(next(&bench), expected, "{order}");
    }
}

/// Candidates keep the order in which they were filled.
#[test]
fn candidates_outlive_a_die_in_their_order() {
    let mut bench = bench(&[("gc.victim", "fifo")]);
    bench.write_all(0..60);
    fail_die(&mut bench, 3);
    bench.write_all(60..72);
    bench.audit();
    // A line has room for eight pages now: one that holds as many gains nothing.
    (0..5).chain(12..17).chain(24..29).for_each(|page| bench.forget(page));
    let (victim, _) = bench.space.choose(&mut bench.board, ALL, When::START);
    assert_eq!(victim, Some(BlockId(0)));
}

/// Random writes, gaps and cuts around a die that fails.
#[test]
fn a_die_that_fails_loses_nothing_whatever_follows() {
    for flush in ["capacitor", "partial", "pad"] {
        for victim in ["greedy", "cost_benefit"] {
            let more = [
                ("rain.flush", flush),
                ("gc.victim", victim),
                ("rain.rebuild_pages", "2"),
                ("device.blocks_per_plane", "20"),
                ("gc.mode", "both"),
            ];
            let mut bench = Bench::of_lines(&[&[STRIPE], &more[..]].concat());
            let mut rng = rng();
            bench.write_any(150, 60, &mut rng);
            let _ = bench.flush();
            fail_die(&mut bench, 2);
            for _ in 0..10 {
                bench.write_any(8, 60, &mut rng);
                let _ = bench.write_map(rng.below(8));
                let _ = bench.flush();
                let _ = bench.idle();
                bench.audit();
                bench.read_all();
            }
            bench.cut();
            bench.audit();
            bench.read_all();
            bench.write_any(100, 60, &mut rng);
            bench.read_all();
            assert_eq!(on_die(&bench, 2), 0);
            assert!(bench.open_of(Stream::Data).is_some());
            assert!(bench.board.nand().has_failed(PlaneId(2)));
        }
    }
}

/// The owner is asked for nothing where pages of the map alone have moved.
#[test]
fn map_pages_move_without_a_word() {
    let mut bench = bench(&[]);
    (0..6).for_each(|part| {
        let _ = bench.write_map(part);
    });
    fail_die(&mut bench, 0);
    (6..9).for_each(|part| {
        let _ = bench.write_map(part);
    });
    while bench.idle() {}
    assert!(bench.programs(Cause::Rebuild) > 0);
    assert_eq!((bench.map.asked, bench.map.moved.len()), (0, 0));
    bench.audit();
}

/// What moving a page writes of the map has to fit in the free lines.
#[test]
fn nothing_is_repaired_that_does_not_fit() {
    let mut bench = bench(&[]);
    bench.write_all(0..13);
    let old = bench.map.pages[4].expect("it was written");
    bench.board.nand_mut().faults_mut().fail_read_after(0);
    let _ = bench.board.read(old, Cause::Host, When::START).expect("its stripe says it");
    assert_eq!(bench.free(0), 14);
    // One line takes twelve pages, and the page itself goes to the open one.
    bench.map.most = 14 * 12 + 1;
    assert!(!bench.idle());
    assert_eq!(bench.programs(Cause::Rebuild), 0);
    bench.map.most = 14 * 12;
    assert!(bench.idle());
    assert_eq!(bench.programs(Cause::Rebuild), 1);
}

/// A page that failed and was superseded without a mark dies where it is: a copy would be younger
/// than what counts.
#[test]
fn a_superseded_page_that_failed_is_not_moved() {
    let mut bench = bench(&[]);
    bench.write_all(0..12);
    // Written anew without a look at the map.
    let old = bench.map.pages[4].take().expect("it was written");
    bench.write_all(4..5);
    let new = bench.map.pages[4];
    bench.map.superseded = vec![4];
    bench.board.nand_mut().faults_mut().fail_read_after(0);
    let _ = bench.board.read(old, Cause::Host, When::START).expect("its stripe says it");
    bench.write_all(12..13);
    assert_eq!((bench.map.pages[4], bench.programs(Cause::Rebuild)), (new, 0));
    assert_eq!((bench.map.moved.len(), bench.map.asked), (0, 0));
    assert!(!bench.board.nand().state().is_valid(old));
    bench.audit();
    bench.read_all();
}

/// Where no die failed a page that is repaired is no reason to program parity.
#[test]
fn a_repaired_page_flushes_nothing() {
    let mut bench = bench(&[("rain.flush", "partial")]);
    bench.write_all(0..13);
    let old = bench.map.pages[4].expect("it was written");
    bench.board.nand_mut().faults_mut().fail_read_after(0);
    let _ = bench.board.read(old, Cause::Host, When::START).expect("its stripe says it");
    bench.write_all(13..14);
    assert_eq!(bench.row(1, 0), "dddP");
    bench.audit();
}

/// Parity would have gone to the third block in turn; of three that are left the second would take
/// it, which holds data by now: the third one takes it, at once.
#[test]
fn an_open_stripe_takes_its_parity_in_a_block_that_is_left() {
    let mut bench = Bench::of_lines(&[STRIPE, ("device.blocks_per_plane", "16")]);
    bench.write_all(0..16);
    fail_die(&mut bench, 3);
    bench.write_all(16..17);
    assert_eq!(bench.row(1, 1), "dd..");
    let place = bench.map.pages[5].expect("it was written");
    assert_eq!(bench.slot_of(place), (0, 3, 1, 0));
    let _ = bench.board.read(place, Cause::Host, When::START).expect("its stripe says it");
    bench.write_all(17..18);
    assert_eq!((bench.row(1, 1).as_str(), bench.count(Event::ProgramFailures)), ("ddP.", 0));
    bench.audit();
    bench.read_all();
}

/// Half of a flash page is written when a die fails: the other half follows.
#[test]
fn units_go_on_where_they_gathered() {
    let unit = ("device.mapping_unit", "1024");
    let mut bench = bench(&[unit, ("rain.rebuild_pages", "1")]);
    bench.write_all(0..25);
    // A flash page of the map is programmed.
    let _ = bench.write_map(0);
    fail_die(&mut bench, 2);
    let _ = bench.write_map(1);
    let place = bench.map.pages[4].expect("it was written");
    assert_eq!(bench.slot_of(place), (0, 2, 0, 0));
    let _ = bench.board.read(place, Cause::Host, When::START).expect("its stripe says it");
    bench.write_all(25..26);
    // The page that was rebuilt before it took the other half.
    let next = bench.map.pages[25].expect("it was written");
    assert_eq!(bench.slot_of(next), (1, 1, 0, 0));
    let rebuilt = bench.map.pages[bench.map.moved[0] as usize].expect("it moved");
    assert_eq!(bench.slot_of(rebuilt), (1, 0, 0, 1));
    bench.audit();
    bench.read_all();
}

/// Line 1 has no block on the die that fails, and keeps its room; line 2 loses four pages of it.
#[test]
fn candidates_are_compared_by_the_room_that_is_left() {
    let mut bench = bench(&[("nand.factory_bad_blocks", "49")]);
    bench.write_all(0..33);
    // Line 1: five of eight; line 2: seven of twelve.
    (12..15).chain(20..25).for_each(|page| bench.forget(page));
    assert_eq!((bench.valid(1), bench.valid(2)), (5, 7));
    let chosen = |bench: &Bench| {
        let (mut space, mut board) = (bench.space.clone(), bench.board.clone());
        space.choose(&mut board, ALL, When::START).0
    };
    assert_eq!(chosen(&bench), Some(BlockId(2)), "seven, against five and four without room");
    fail_die(&mut bench, 3);
    bench.write_all(33..36);
    assert_eq!(bench.board.nand().known_failed_die(), Some(3));
    assert_eq!(chosen(&bench), Some(BlockId(1)), "nine, against seven and four");
    bench.audit();
}
