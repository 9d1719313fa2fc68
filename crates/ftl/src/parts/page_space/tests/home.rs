//! Which plane takes a page, when a plane has its share, and what is left of a plane without blocks.

use super::*;

/// Where the map page goes whose home is the first plane.
fn home(rig: &Rig) -> PlaneId {
    assert_eq!(rig.space.home(rig.board.nand(), 0), FIRST);
    rig.space.home_or_roomiest(rig.board.nand(), 0)
}

#[test]
fn a_map_page_leaves_its_home_when_that_has_no_page_of_the_map_and_its_last_block() {
    let mut rig = Rig::new(&[], 8, 2);
    rig.keep_free(FIRST, 2);
    assert_eq!(home(&rig), FIRST, "not the last block");
    rig.keep_free(FIRST, 1);
    assert_eq!(home(&rig), SECOND, "the last block, and eight elsewhere");
    let map = &mut rig.space.planes[0].frontiers[Stream::Map.index()];
    *map = Frontier { block: Some(BlockId(7)), next: 3 };
    assert_eq!(home(&rig), FIRST, "a page is left in its open block");
    rig.space.planes[0].frontiers[Stream::Map.index()].next = 4;
    assert_eq!(home(&rig), SECOND, "that block is full");
}

/// Of eight blocks five are the reserve of a threshold of two with two streams and one to spare; of
/// the other three one is out of use, and one is the cache's.
#[test]
fn a_plane_has_its_share_when_the_blocks_beside_reserve_and_cache_are_valid() {
    assert_eq!(PageSpace::reserve(2, 2), 5);
    let mut rig = Rig::new(&[("slc.static_blocks", "1")], 8, 2);
    for (retired, most) in [(0, 8), (1, 4)] {
        rig.space.planes[0].retired = retired;
        rig.space.planes[0].valid = most - 1;
        assert!(!rig.space.is_full(FIRST), "{retired} retired");
        rig.space.planes[0].valid = most;
        assert!(rig.space.is_full(FIRST), "{retired} retired");
    }
}

/// Where they are free at the same time, the plane that has its share comes last, and of the others
/// the one with fewer valid pages first.
#[test]
fn a_page_that_may_go_anywhere_goes_where_the_share_is_not_reached() {
    let mut rig = Rig::new(&[], 8, 2);
    let nand = rig.board.nand();
    rig.space.planes[0].valid = 11;
    rig.space.planes[1].valid = 12;
    assert_eq!(rig.space.place_anywhere(nand), FIRST);
    rig.space.planes[1].valid = 3;
    assert_eq!(rig.space.place_anywhere(nand), SECOND);
    // The share of a plane without a block for data is none.
    rig.space.planes[1].retired = 3;
    assert_eq!(rig.space.place_anywhere(nand), FIRST);
}

#[test]
fn a_plane_without_blocks_says_what_it_has_closed_unless_blocks_failed() {
    let mut rig = Rig::new(&[], 8, 2);
    let _ = rig.block((FIRST, Stream::Data), 1);
    let _ = rig.write((FIRST, Stream::Map), 0);
    rig.space.planes[0].retired = 1;
    let fault = rig.space.out_of_blocks(&rig.board, FIRST);
    // What is neither free nor open nor out of use counts as closed.
    rig.keep_free(FIRST, 2);
    let later = rig.space.out_of_blocks(&rig.board, FIRST);
    let of = |fault| match fault {
        Fault::DeviceFull { free_blocks, candidates, .. } => (free_blocks, candidates),
        other => panic!("{other}"),
    };
    assert_eq!((of(fault), of(later)), ((6, 0), (2, 4)));
}

/// Three blocks, and two more where a program may cost the rest of its block.
#[test]
fn in_the_idle_mode_a_write_collects_when_the_last_blocks_are_near() {
    for (rate, limit) in [("0", 3), ("0.001", 5)] {
        let pairs = [("gc.mode", "idle"), ("nand.program_failure_rate", rate)];
        let rig = Rig::new(&pairs, 16, 9);
        assert_eq!(rig.space.collection_limit(FIRST), limit, "{rate}");
    }
    let rig = Rig::new(&[("gc.mode", "idle")], 16, 2);
    assert_eq!(rig.space.collection_limit(FIRST), 2, "never above the threshold");
}

#[test]
fn planes_collect_together_where_a_die_has_others() {
    for (planes, together) in [("1", false), ("2", true)] {
        let rig = Rig::new(&[("device.planes", planes), ("gc.unit", "die")], 8, 2);
        assert_eq!(rig.space.by_die, together, "{planes} a die");
    }
}

#[test]
fn a_static_block_of_the_cache_that_fails_is_one_less_of_them() {
    let mut rig = Rig::new(&[("slc.static_blocks", "2")], 8, 2);
    rig.space.note_retired(BlockId(7), FIRST);
    assert_eq!((rig.space.static_blocks(FIRST), rig.space.planes[0].retired), (2, 1));
    rig.space.note_retired(BlockId(1), FIRST);
    assert_eq!((rig.space.static_blocks(FIRST), rig.space.planes[0].retired), (1, 2));
}

/// A quarter of ten blocks, or of the seven that 24 pages in two planes leave; rounded up, and never
/// below what the scheme needs.
#[test]
fn a_threshold_in_percent_is_a_share_of_the_plane_or_of_what_is_spare() {
    let of = |base: &str, floor| {
        let pairs = [("gc.threshold", "25%"), ("gc.threshold_base", base)];
        let rig = Rig::new(&pairs, 10, 2);
        Threshold::resolve(&rig.config, 9, floor)
    };
    assert_eq!([of("plane", 1), of("spare", 1), of("spare", 4)], [3, 2, 4]);
}
