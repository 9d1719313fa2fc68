//! Which lines of groups are collected, and where their pages go.

use super::super::lines::bench_tests::{Bench, Pairs, rng};
use super::GroupRules;
use ftlab_flash::meter::{Cause, Event};
use ftlab_flash::units::{BlockId, Lpn};

/// Groups of sixteen pages, as many as a line holds.
const RULES: GroupRules = GroupRules { pages: 16, most_lines: 4, free_lines: 3, borrow: true };

fn bench(rules: GroupRules, more: Pairs<'_>) -> Bench {
    Bench::of_lines(more).divide(rules)
}

/// The group of each line, plus one.
fn groups(bench: &Bench) -> Vec<u32> {
    bench.space.groups.as_ref().expect("groups").group_of.clone()
}

/// Any writes, cuts and map pages, under all rules: lines are counted right, and nothing is lost.
#[test]
fn whatever_the_rules_are_lines_hold_what_was_written() {
    for borrow in [true, false] {
        for (pages, most_lines) in [(16, 4), (16, 1), (32, 2), (8, 3)] {
            let rules = GroupRules { pages, most_lines, free_lines: 3, borrow };
            let blocks = if borrow { "14" } else { "34" };
            let mut bench = bench(rules, &[("device.blocks_per_plane", blocks)]);
            let mut rng = rng();
            for round in 0..12 {
                if round % 2 == 1 {
                    let after = u64::from(rng.below(60));
                    bench.board.nand_mut().faults_mut().fail_program_after(after);
                }
                bench.write_any(40, 96, &mut rng);
                for _ in 0..rng.below(12) {
                    let _ = bench.write_map(rng.below(8));
                    bench.audit();
                }
                if round % 4 == 3 {
                    bench.cut();
                    bench.audit();
                }
            }
            bench.read_all();
        }
    }
}

/// A group that holds many lines is collected as a whole, in the order of its pages, and leaves
/// lines of its own alone.
#[test]
fn a_group_with_many_lines_is_collected_in_the_order_of_its_pages() {
    let rules = GroupRules { most_lines: 2, ..RULES };
    let mut bench = bench(rules, &[]);
    // Two lines of group 1, of which sixteen pages are valid; the third one would be one too many.
    bench.write_all((16..32).rev().chain((16..32).rev()));
    assert_eq!((groups(&bench)[..3].to_vec(), bench.free(0)), (vec![2, 2, 0], 10));
    bench.write_all(20..21);
    assert_eq!(bench.count(Event::GroupsCollected), 1);
    assert_eq!(bench.map.moved, (16..32).collect::<Vec<_>>());
    assert_eq!((bench.map.parts_moved, bench.map.asked), (1, 0));
    assert_eq!(bench.programs(Cause::Gc), 16);
    assert_eq!(bench.board.meter().total_erases(), 8, "two lines of four blocks");
    assert_eq!(bench.space.reclaimed_blocks(), 2);
    bench.audit();
    bench.read_all();
}

/// Not while all of its pages are valid: nothing would be gained.
#[test]
fn a_group_is_not_collected_for_nothing() {
    let rules = GroupRules { pages: 32, most_lines: 1, ..RULES };
    let mut bench = bench(rules, &[]);
    bench.write_all(0..32);
    assert_eq!(bench.count(Event::GroupsCollected), 0);
    assert_eq!(groups(&bench)[..2], [1, 1]);
    let place = bench.map.pages[31].expect("it was written");
    assert!(!bench.space.is_guest(&bench.board, Lpn(31), place));
    assert!(bench.space.is_guest(&bench.board, Lpn(32), place));
    assert_eq!(bench.open_of(super::Stream::Data), Some(BlockId(1)));
}
