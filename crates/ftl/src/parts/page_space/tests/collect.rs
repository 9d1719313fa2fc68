//! Which victim is taken, whether it fits, and when enough was collected.

use super::*;

const DATA: Place = (FIRST, Stream::Data);
const MAP: Place = (FIRST, Stream::Map);

fn collect_until(rig: &mut Rig, limit: u32) -> Result<When, Fault> {
    let Rig { board, space, owner, .. } = rig;
    space.collect_until(board, owner, FIRST, limit, When::START)
}

fn fits_in_pieces(rig: &mut Rig, victim: BlockId) -> bool {
    rig.space.fits_in_pieces(&rig.board, &mut rig.owner, victim)
}

/// The lightest among equals, how many were looked at, and whether that took time.
fn lightest(rig: &mut Rig, victim: BlockId) -> (BlockId, u64, bool) {
    let before = rig.board.meter().events(Event::VictimSearchSteps);
    let Rig { board, space, owner, .. } = rig;
    let (best, found) = space.choose_lightest(board, owner, victim, When::START);
    let looked_at = rig.board.meter().events(Event::VictimSearchSteps) - before;
    (best, looked_at, found != When::START)
}

#[test]
fn of_data_blocks_as_good_as_the_victim_the_owner_gets_the_first_lightest_that_fits() {
    let mut rig = Rig::new(&[("search.model", "scan")], 12, 2);
    let blocks = [5, 3, 1, 3].map(|weight| {
        let block = rig.block(DATA, 2);
        rig.owner.weights.insert(block, weight);
        block
    });
    let map = rig.block(MAP, 2);
    rig.owner.weights.insert(map, 0);
    // The lightest one has more to write of the map than there is room for.
    rig.owner.most = Some(100);
    rig.owner.map_writes.insert(blocks[2], 100);
    assert_eq!(lightest(&mut rig, blocks[0]), (blocks[1], 3, true));
    // What is light already is taken without a look, and so is a block of the map, however heavy.
    rig.owner.weights.insert(blocks[0], 0);
    assert_eq!(lightest(&mut rig, blocks[0]), (blocks[0], 0, false));
    rig.owner.weights.insert(map, 9);
    assert_eq!(lightest(&mut rig, map), (map, 0, false));
    // Who has no preference is not asked.
    rig.owner.weights.clear();
    assert_eq!(lightest(&mut rig, blocks[0]), (blocks[0], 0, false));
}

/// The emptiest block has much to write of the map. Of those that fit with as few valid pages a
/// block of the map has nothing to write of it.
#[test]
fn where_the_victim_does_not_fit_a_block_of_the_map_comes_before_one_of_data() {
    let mut rig = Rig::new(&[], 8, 2);
    let emptiest = rig.block(DATA, 1);
    rig.owner.most = Some(100);
    rig.owner.map_writes.insert(emptiest, 100);
    let (data, map) = (rig.block(DATA, 2), rig.block(MAP, 2));
    let fuller = rig.block(MAP, 3);
    // What moves goes to open blocks.
    let _ = (rig.write(MAP, 0), rig.write((FIRST, Stream::MovedData), 0));
    rig.keep_free(FIRST, 2);
    let left = |rig: &Rig| [emptiest, data, fuller, map].map(|block| rig.holds(block));
    let _ = collect_until(&mut rig, 3).expect("one fits");
    assert_eq!((left(&rig), rig.space.reclaimed_blocks()), ([true, true, true, false], 1));
    let _ = collect_until(&mut rig, 4).expect("and another one");
    assert_eq!((left(&rig), rig.space.reclaimed_blocks()), ([true, false, true, false], 2));
}

/// What a block writes of the map takes a look at each of its pages: only blocks that would be
/// better than the best so far are worth it.
#[test]
fn where_the_victim_does_not_fit_others_are_counted_only_if_they_are_emptier_than_what_fits() {
    let mut rig = Rig::new(&[], 10, 2);
    rig.owner.most = Some(100);
    let blocks = [1, 3, 2, 2, 3, 1].map(|valid| rig.block(DATA, valid));
    for victim in [blocks[0], blocks[5]] {
        rig.owner.map_writes.insert(victim, 100);
    }
    let _ = (rig.write(MAP, 0), rig.write((FIRST, Stream::MovedData), 0));
    rig.keep_free(FIRST, 2);
    rig.owner.counted.clear();
    let _ = collect_until(&mut rig, 3).expect("one fits");
    assert!(!rig.holds(blocks[2]), "the first of those with two pages");
    // The victim, and then the others from the first block on.
    let counted = [0, 1, 2, 5].map(|number| blocks[number]);
    assert_eq!(rig.owner.counted, counted);
}

#[test]
fn a_plane_without_a_victim_refuses_only_when_no_block_is_free() {
    let mut rig = Rig::new(&[], 8, 2);
    rig.keep_free(FIRST, 1);
    assert_eq!(collect_until(&mut rig, 2), Ok(When::START));
    rig.keep_free(FIRST, 0);
    assert!(matches!(collect_until(&mut rig, 2), Err(Fault::DeviceFull { free_blocks: 0, .. })));
}

/// A victim that idle time began holds nothing any more: to erase it is all that was missing.
#[test]
fn a_die_whose_begun_victim_gives_enough_collects_nothing_else() {
    let mut rig = Rig::new(&[("gc.unit", "die")], 8, 2);
    let (begun, other) = (rig.block(DATA, 0), rig.block(DATA, 1));
    let beside = rig.block((SECOND, Stream::Data), 1);
    rig.begin(begun, Cause::Gc);
    rig.keep_free(FIRST, 1);
    rig.keep_free(SECOND, 2);
    let _ = collect_until(&mut rig, 2).expect("nothing fails");
    assert_eq!([begun, other, beside].map(|block| rig.holds(block)), [false, true, true]);
}

/// What is a block away from its own collection goes along, what is two away does not.
#[test]
fn planes_of_a_die_go_along_that_have_no_more_blocks_than_the_limit() {
    for (free, collects) in [(2, true), (3, false)] {
        let mut rig = Rig::new(&[("gc.unit", "die")], 8, 2);
        let (own, beside) = (rig.block(DATA, 1), rig.block((SECOND, Stream::Data), 1));
        rig.keep_free(FIRST, 1);
        rig.keep_free(SECOND, free);
        let _ = collect_until(&mut rig, 2).expect("nothing fails");
        assert!(!rig.holds(own));
        assert_eq!(!rig.holds(beside), collects, "{free} free");
    }
}

/// Two pages at a time of three: the first piece goes to what is open, and behind that the rest
/// needs a block even if the host fills what is open up.
#[test]
fn a_piece_fits_when_the_rest_does_behind_full_frontiers() {
    for (stream, open) in [(Stream::Data, Stream::MovedData), (Stream::Map, Stream::Map)] {
        let mut rig = Rig::new(&[("gc.idle_pages", "2")], 8, 2);
        let victim = rig.block((FIRST, stream), 3);
        let _ = (rig.write((FIRST, open), 0), rig.write((FIRST, open), 1));
        rig.keep_free(FIRST, 1);
        assert!(fits_in_pieces(&mut rig, victim), "{stream:?}");
        let _ = rig.write((FIRST, open), 2);
        assert!(!fits_in_pieces(&mut rig, victim), "{stream:?}: the piece needs one, the rest too");
    }
}

/// Who writes nothing of the map for a victim writes nothing for its pieces; who does may do it
/// again with every piece: here a block for the pages of one piece and another for those of the
/// rest.
#[test]
fn pieces_may_write_the_map_as_often_as_there_are_pages() {
    let mut rig = Rig::new(&[("gc.idle_pages", "1")], 8, 2);
    let victim = rig.block(DATA, 2);
    let _ = rig.write((FIRST, Stream::MovedData), 0);
    rig.keep_free(FIRST, 1);
    assert!(fits_in_pieces(&mut rig, victim));
    rig.owner.map_writes.insert(victim, 1);
    assert!(!fits_in_pieces(&mut rig, victim));
    let mut rig = Rig::new(&[("gc.idle_pages", "1")], 8, 2);
    let victim = rig.block(DATA, 2);
    let _ = rig.write((FIRST, Stream::MovedData), 0);
    rig.owner.map_writes.insert(victim, 1);
    rig.keep_free(FIRST, 3);
    assert!(fits_in_pieces(&mut rig, victim), "one for the rest, two for the map");
    rig.keep_free(FIRST, 2);
    assert!(!fits_in_pieces(&mut rig, victim));
    // Three pages, two at a time: one of data is left, and one of the map.
    let mut rig = Rig::new(&[("gc.idle_pages", "2")], 8, 2);
    let victim = rig.block(DATA, 3);
    rig.owner.map_writes.insert(victim, 1);
    let _ = rig.write((FIRST, Stream::MovedData), 0);
    rig.keep_free(FIRST, 3);
    assert!(fits_in_pieces(&mut rig, victim));
}

/// A victim of eight pages that held two or fewer was mostly garbage, one with four or more mostly
/// valid.
#[test]
fn an_adaptive_threshold_follows_what_victims_cost() {
    let pairs = [
        ("gc.threshold_mode", "adaptive"),
        ("gc.threshold_max", "4"),
        ("device.pages_per_block", "8"),
    ];
    let mut rig = Rig::new(&pairs, 16, 2);
    let mut seen = Vec::new();
    for valid in [2, 3, 1, 2, 4, 4, 4] {
        let victim = rig.block(DATA, valid);
        let _ = rig.collect(victim).expect("nothing fails");
        seen.push(rig.space.planes[0].threshold);
    }
    assert_eq!(seen, [3, 3, 4, 4, 3, 2, 2]);
}
